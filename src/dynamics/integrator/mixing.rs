//! What the passes of a nonlinear step have found, mixed to where the next one starts.

use crate::numerics::acceleration::Anderson;
use bevy_ecs::prelude::*;

/// Passes of a round that the memory does not hold: most rows settle in these.
const KNOWN: usize = 2;
/// The first pass of a round from which the next one starts elsewhere.
const EAGER: usize = 3;
/// Differences of passes that are remembered. Longer memories hold what contacts did before they stuck, slid or parted.
const WINDOW: usize = 4;
/// A pass that changes so many times more than the best one since the memory began has left its piece of the map.
const WORSE: f64 = 5.0;

/// The map of velocities to velocities that a pass is, accelerated by [`Anderson`] where it does not settle by itself: arms that turn under large
/// impulses make it go to and fro, or run away, in as many directions as a mechanism has links.
///
/// ```
/// assert_eq!(drystone::integrator::mixing::Mixing::default().of_systems(), &[0.0; 0]);
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct Mixing {
    memory: Anderson,
    /// By how much the pass has found other velocities than it started from, each times the root of its mass.
    missed: Vec<f64>,
    /// What it has found; then where the next pass starts.
    found: Vec<f64>,
    /// How many of them belong to systems; those of bodies follow.
    systems: usize,
    /// Whether `found` is where the next pass starts.
    mixed: bool,
    /// Whether it was in this round.
    eager: bool,
    /// The least change of a pass since the memory began.
    least: f64,
}

impl Mixing {
    /// Starts a round of passes.
    pub fn start(&mut self) {
        self.eager = false;
        self.clear();
    }

    /// Starts a pass.
    pub fn clear(&mut self) {
        (self.mixed, self.systems) = (false, 0);
        self.missed.clear();
        self.found.clear();
    }

    /// Notes velocities that a pass has found, and by how much they are others than it started from.
    pub fn note(&mut self, missed: &[f64], found: &[f64]) {
        self.missed.extend_from_slice(missed);
        self.found.extend_from_slice(found);
    }

    /// What is noted from now on belongs to bodies.
    pub fn end_systems(&mut self) {
        self.systems = self.found.len();
    }

    /// Ends a pass that has changed the velocities so much (relative).
    pub fn end(&mut self, round: usize, change: f64) {
        if round < KNOWN {
            return;
        }
        if round == KNOWN || change > WORSE * self.least {
            self.memory.begin(WINDOW);
            self.least = f64::INFINITY;
        }
        self.least = self.least.min(change);
        let more = self.memory.mix(&self.missed, &mut self.found);
        self.mixed = more && round >= EAGER;
        self.eager |= self.mixed;
    }

    /// Whether passes of this round start from more than the last one.
    pub fn is_mixed(&self) -> bool {
        self.eager
    }

    /// Velocities of systems from which the next pass starts; none where it starts from what the last one has found.
    pub fn of_systems(&self) -> &[f64] {
        if self.mixed { &self.found[..self.systems] } else { &[] }
    }

    /// The same of bodies: linear and angular in body axes.
    pub fn of_bodies(&self) -> impl Iterator<Item = &[f64; 6]> {
        if self.mixed { self.found[self.systems..].as_chunks().0.iter() } else { [].iter() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes after which the map `v ← J v + (1 − J) v*` of a system and a body has settled, at most 40.
    fn passes(rates: [f64; 7]) -> usize {
        let (mut mixing, mut v) = (Mixing::default(), [0.0; 7]);
        for round in 0..40 {
            if let (&[s], Some(b)) = (mixing.of_systems(), mixing.of_bodies().next()) {
                v = std::array::from_fn(|i| if i == 0 { s } else { b[i - 1] });
            }
            let found: [f64; 7] = std::array::from_fn(|i| rates[i] * (v[i] - i as f64) + i as f64);
            let missed: [f64; 7] = std::array::from_fn(|i| found[i] - v[i]);
            let change = missed.iter().fold(0.0f64, |c, m| c.max(m.abs()));
            if change < 1e-12 {
                return round;
            }
            mixing.clear();
            mixing.note(&missed[..1], &found[..1]);
            mixing.end_systems();
            mixing.note(&missed[1..], &found[1..]);
            mixing.end(round, change);
            v = found;
        }
        40
    }

    #[test]
    fn passes_that_run_away_in_four_directions_settle() {
        assert!(passes([-3.0, 1.4, -1.0, 0.9, 0.0, 0.0, 0.0]) < 16);
        assert!(passes([0.9, 0.9, 0.9, -2.0, -2.0, 0.1, 0.1]) < 20);
        // two passes whose end no other one changes
        assert_eq!(passes([0.0; 7]), 1);
    }
}
