//! Motion that nothing but the correction of overlaps keeps alive.
//!
//! ```text
//! W = Σ overlap work + min(Σ normal work, 0)      over the last part of a run: what it put in beyond what contacts took
//! shaken:  W > mean E_kin over that part          and E_kin is a visible part of the energy that moved
//! ```
//!
//! The errors that a tolerance allows leave overlaps in a pile, and their correction gives the bodies speed. Bodies that fly, slide or
//! rock lose energy in their contacts, so their W is negative; those that ought to rest have a W that renews all their energy again and again.

use crate::simulation::Balance;
use serde::{Deserialize, Serialize};

/// The later mark is followed by the next one when the run is longer by this factor: the part that is looked at is a fifth to a third of it.
const NEXT: f64 = 1.25;
/// Steps that say something.
const LEAST: u64 = 20;
/// Part of the energy that moved below which nobody sees the motion.
const VISIBLE: f64 = 1e-4;

/// Sums from the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    steps: u64,
    time: f64,
    /// Kinetic energy of each step (J).
    kinetic: f64,
    /// Work of the correction of overlaps and of normal reactions (J).
    overlap: f64,
    normal: f64,
}

/// The last part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LastPart {
    now: Sums,
    marks: [Sums; 2],
}

/// What keeps bodies moving in the last part of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shaken {
    /// Length of that part (s).
    pub(super) time: f64,
    /// Energy that the correction of overlaps put in (J).
    pub(super) put_in: f64,
    /// Mean kinetic energy (J).
    pub(super) kinetic: f64,
}

impl LastPart {
    /// Takes in the balance at the end of a step.
    pub(super) fn observe(&mut self, time: f64, balance: &Balance) {
        self.now = Sums {
            steps: self.now.steps + 1,
            time,
            kinetic: self.now.kinetic + balance.energy.kinetic,
            overlap: balance.work.overlap,
            normal: balance.work.normal,
        };
        if self.now.steps as f64 >= NEXT * self.marks[1].steps as f64 {
            self.marks = [self.marks[1], self.now];
        }
    }

    /// Whether bodies are shaken by the correction of overlaps; `moved` is the energy that moved in the whole run (J).
    pub(super) fn shaken(&self, moved: f64) -> Option<Shaken> {
        let (from, to) = (&self.marks[0], &self.now);
        let steps = to.steps - from.steps;
        let kinetic = (to.kinetic - from.kinetic) / steps.max(1) as f64;
        let put_in = to.overlap - from.overlap + (to.normal - from.normal).min(0.0);
        let found = steps >= LEAST && kinetic > VISIBLE * moved && put_in > kinetic;
        found.then_some(Shaken { time: to.time - from.time, put_in, kinetic })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After 100 steps of 1 s in which each of these is constant: kinetic energy, overlap work and normal work of a step.
    fn run(kinetic: f64, overlap: f64, normal: f64) -> Option<Shaken> {
        let mut part = LastPart::default();
        let mut balance = Balance::default();
        for step in 1..=100 {
            balance.energy.kinetic = kinetic;
            balance.work.overlap += overlap;
            balance.work.normal += normal;
            part.observe(f64::from(step), &balance);
        }
        part.shaken(1.0)
    }

    #[test]
    fn motion_that_overlaps_feed_is_told_from_motion_that_contacts_brake() {
        let shaken = run(0.01, 0.002, 0.0).expect("renewed every five steps");
        assert!((20.0..=36.0).contains(&shaken.time) && (shaken.put_in - 0.002 * shaken.time).abs() < 1e-12, "{shaken:?}");
        assert!((shaken.kinetic - 0.01).abs() < 1e-12);
        assert_eq!(run(0.01, 0.002, -0.003), None, "contacts take more");
        assert_eq!(run(0.01, 1e-5, 0.0), None, "bodies that fly");
        assert_eq!(run(1e-6, 0.002, 0.0), None, "nobody sees it");
        assert_eq!(run(f64::NAN, 0.002, 0.0), None);
    }
}
