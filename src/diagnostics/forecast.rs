//! What a run will cost, in time and on disk.
//!
//! ```text
//! time of a step = a·bodies + b·pairs + c·contacts·sweeps        (s)
//! ```
//!
//! a, b, c are measured in the run itself, from the times of its phases: c in the solver, b in broad and narrow phase, a in all else. Where
//! bodies have not met yet, how many contacts will come, and what they cost, can only be assumed; a [`Forecast`] says what it assumes.

use serde::Serialize;

/// What one step has to deal with.
///
/// ```
/// let effort = drystone::diagnostics::forecast::Effort { contacts: 100.0, sweeps: 20.0, ..Default::default() };
/// assert_eq!(effort.visits(), 2000.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Effort {
    /// Bodies, immobile ones included.
    pub bodies: f64,
    /// Pairs of bodies whose boxes overlap.
    pub pairs: f64,
    /// Contact points that are rows of the problem.
    pub contacts: f64,
    /// Sweeps of the solver.
    pub sweeps: f64,
}

impl Effort {
    /// Contacts times sweeps. A step without a sweep still looks at every contact once.
    pub fn visits(&self) -> f64 {
        self.contacts * self.sweeps.max(1.0)
    }
}

/// The coefficients a, b, c of the cost of a step (s); none where nothing has been there to measure them by.
///
/// ```
/// use drystone::diagnostics::forecast::{Effort, StepCost};
/// let cost = StepCost { body_s: Some(1e-6), pair_s: Some(2e-7), contact_sweep_s: Some(3e-8) };
/// let effort = Effort { bodies: 1000.0, pairs: 5000.0, contacts: 2500.0, sweeps: 20.0 };
/// assert!((cost.of(&effort) - 3.5e-3).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepCost {
    /// a: per body.
    pub body_s: Option<f64>,
    /// b: per pair.
    pub pair_s: Option<f64>,
    /// c: per contact and sweep.
    pub contact_sweep_s: Option<f64>,
}

/// Assumed for what has not been measured: what balls cost (s), a few times the least that `drystone bench` finds.
const PAIR: f64 = 3e-7;
const CONTACT_SWEEP: f64 = 4e-8;

/// Pairs and contacts for each body from which they show what they cost. (Two pairs among 20 000 grains that fall into a hopper took all of
/// the time of looking for pairs: 10 ms each, four weeks for the run.)
const FEW: f64 = 0.05;

impl StepCost {
    /// The coefficients of steps that took `total` seconds on the average, `detection` of them in broad and narrow phase and `solve` in the solver.
    pub fn measured(mean: &Effort, total: f64, detection: f64, solve: f64) -> Self {
        let each = |time: f64, count: f64| (count > 0.0).then(|| time.max(0.0) / count);
        // what is spent on pairs or contacts that are not there, or that are too few to tell, is a fixed cost of the step
        let there = |count: f64| count > FEW * mean.bodies;
        let pairs = if there(mean.pairs) { detection } else { 0.0 };
        let contacts = if there(mean.contacts) { solve } else { 0.0 };
        Self {
            body_s: each(total - pairs - contacts, mean.bodies),
            pair_s: each(pairs, mean.pairs).filter(|_| there(mean.pairs)),
            contact_sweep_s: each(contacts, mean.visits()).filter(|_| there(mean.contacts)),
        }
    }

    /// The time of a step (s).
    pub fn of(&self, effort: &Effort) -> f64 {
        let [a, b, c] = [self.body_s.unwrap_or(0.0), self.pair_s.unwrap_or(PAIR), self.contact_sweep_s.unwrap_or(CONTACT_SWEEP)];
        a * effort.bodies + b * effort.pairs + c * effort.visits()
    }
}

/// A figure over several measurements.
///
/// ```
/// use drystone::diagnostics::forecast::Spread;
/// assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { low: 1.0, median: 2.0, high: 3.0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub low: f64,
    /// The one in the middle, of an even number the upper one.
    pub median: f64,
    /// The largest.
    pub high: f64,
}

impl Spread {
    /// Of some figures; none of none.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let median = *figures.get(figures.len() / 2)?;
        Some(Self { low: *figures.first()?, median, high: *figures.last()? })
    }
}

/// What is to be expected of bodies that have come to lie on each other.
///
/// ```
/// use drystone::diagnostics::forecast::Expected;
/// let (balls, mixed) = (Expected::of(1000, 0), Expected::of(1000, 10));
/// assert_eq!((balls.contacts, mixed.contacts), (3000.0, 3080.0));
/// assert!(balls.sweep_s < mixed.sweep_s);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Contacts that carry all of them.
    pub contacts: f64,
    /// Time of one more sweep, per contact (s).
    pub sweep_s: f64,
}

/// Contacts that a body brings, half of those that it has: a ball, and anything with faces.
const CONTACTS_OF_BALL: f64 = 3.0;
const CONTACTS_OF_BLOCK: f64 = 8.0;

/// One more sweep of a contact that is none between balls (s).
const GENERAL_SWEEP: f64 = 1.5e-7;

impl Expected {
    /// Of so many balls and other bodies that move.
    pub fn of(balls: usize, others: usize) -> Self {
        let contacts = CONTACTS_OF_BALL * balls as f64 + CONTACTS_OF_BLOCK * others as f64;
        Self { contacts, sweep_s: if others == 0 { CONTACT_SWEEP } else { GENERAL_SWEEP } }
    }
}

/// Pairs of boxes for each contact of a dense packing.
const PAIRS_OF_BALL_CONTACT: f64 = 2.0;

/// Sweeps assumed where nothing has touched yet.
const SWEEPS: f64 = 20.0;

/// Share of the contacts to expect from which a scene counts as dense.
const DENSE: f64 = 0.5;

/// What is known of a run after its first steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Forecast {
    /// Steps that had been done.
    pub after_steps: u64,
    /// Steps that were left, if they stay as long as these.
    pub steps_left: u64,
    /// Time left at the pace of these steps (s).
    pub wall_at_pace_s: f64,
    /// Time left where bodies come to rest on each other (s): the same where they already do.
    pub wall_s: f64,
    /// What a step had to deal with, on the average of these steps.
    pub effort: Effort,
    /// What it is assumed to have to deal with from then on.
    pub effort_assumed: Effort,
    /// Coefficients of the cost of a step as measured.
    pub cost: StepCost,
    /// What comes onto the disk; absent without `--out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskForecast>,
}

impl Forecast {
    /// The forecast after `done` steps of `pace` seconds each, with `left` to come, of a scene in which so much is to be
    /// `expected` once bodies lie on each other. Contacts cost what those few cost that have been seen, and sweeps beyond theirs
    /// [`Expected::sweep_s`] each: the coefficient c of few sweeps holds what a contact costs before the first.
    ///
    /// ```
    /// use drystone::diagnostics::forecast::{Effort, Expected, Forecast, StepCost};
    /// // 1000 balls that still fall: the pace of their first steps is not that of the run
    /// let falling = Effort { bodies: 1000.0, ..Effort::default() };
    /// let forecast = Forecast::new(20, 980, 1e-3, falling, Expected::of(1000, 0), StepCost::measured(&falling, 1e-3, 0.0, 0.0));
    /// assert!(forecast.assumes() && forecast.effort_assumed.contacts == 3000.0);
    /// assert!((forecast.wall_at_pace_s - 0.98).abs() < 1e-12 && forecast.wall_s > 3.0);
    /// ```
    pub fn new(done: u64, left: u64, pace: f64, effort: Effort, expected: Expected, cost: StepCost) -> Self {
        let at_pace = pace * left as f64;
        let mut assumed = effort;
        let mut wall = at_pace;
        if effort.contacts < DENSE * expected.contacts {
            assumed.contacts = expected.contacts;
            assumed.pairs = effort.pairs.max(PAIRS_OF_BALL_CONTACT * expected.contacts);
            let seen = cost.of(&assumed);
            assumed.sweeps = effort.sweeps.max(SWEEPS);
            let further = (assumed.visits() - Effort { sweeps: effort.sweeps, ..assumed }.visits()) * expected.sweep_s;
            wall = ((seen + further) * left as f64).max(at_pace);
        }
        Self {
            after_steps: done,
            steps_left: left,
            wall_at_pace_s: at_pace,
            wall_s: wall,
            effort,
            effort_assumed: assumed,
            cost,
            disk: None,
        }
    }

    /// Whether more contacts are assumed than have been seen.
    pub fn assumes(&self) -> bool {
        self.effort_assumed != self.effort
    }
}

/// Bytes that a run has yet to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DiskForecast {
    /// Altogether.
    pub bytes: f64,
    /// Frames of films yet to come, the bytes of the last one, and of one with the contacts assumed.
    pub frames: u64,
    /// Of the last one that was written.
    pub frame_bytes: f64,
    /// Of one with the contacts that are assumed.
    pub frame_bytes_assumed: f64,
    /// Rows of tables.
    pub table_bytes: f64,
    /// What the disk has left; absent where the system does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

impl DiskForecast {
    /// Whether the disk is too small.
    pub fn lacks_room(&self) -> bool {
        self.free_bytes.is_some_and(|free| self.bytes > free as f64)
    }
}

/// A size in bytes, for people.
///
/// ```
/// use drystone::diagnostics::forecast::size;
/// assert_eq!([size(20.0), size(31_500.0), size(2.46e9)], ["20 B", "32 kB", "2.5 GB"]);
/// ```
pub fn size(bytes: f64) -> String {
    let (unit, name) =
        [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")].into_iter().find(|(unit, _)| bytes >= *unit).unwrap_or((1.0, "B"));
    let x = bytes / unit;
    if x < 10.0 && unit > 1.0 { format!("{x:.1} {name}") } else { format!("{x:.0} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_give_the_coefficients_and_the_model_gives_the_time_back() {
        let effort = Effort { bodies: 8000.0, pairs: 30_000.0, contacts: 20_000.0, sweeps: 15.0 };
        let cost = StepCost::measured(&effort, 50e-3, 12e-3, 24e-3);
        assert!((cost.contact_sweep_s.unwrap() - 80e-9).abs() < 1e-20 && (cost.pair_s.unwrap() - 0.4e-6).abs() < 1e-18);
        assert!((cost.of(&effort) - 50e-3).abs() < 1e-15);
        // contacts that are looked at without a sweep
        let resting = Effort { sweeps: 0.0, ..effort };
        assert!((StepCost::measured(&resting, 50e-3, 12e-3, 24e-3).of(&resting) - 50e-3).abs() < 1e-15);
    }

    #[test]
    fn what_nothing_was_there_to_measure_is_part_of_the_fixed_cost_and_assumed_later() {
        let falling = Effort { bodies: 100.0, ..Effort::default() };
        let cost = StepCost::measured(&falling, 1e-3, 0.2e-3, 0.1e-3);
        assert_eq!((cost.pair_s, cost.contact_sweep_s), (None, None));
        assert!((cost.of(&falling) - 1e-3).abs() < 1e-15, "the cost of the steps themselves");
        assert!(cost.of(&Effort { contacts: 300.0, sweeps: 20.0, ..falling }) > 1.2e-3);
    }

    #[test]
    fn two_pairs_among_thousands_of_bodies_do_not_say_what_a_pair_costs() {
        let falling = Effort { bodies: 20_000.0, pairs: 2.0, contacts: 2.0, sweeps: 1.0 };
        let cost = StepCost::measured(&falling, 40e-3, 20e-3, 1e-3);
        assert_eq!((cost.pair_s, cost.contact_sweep_s), (None, None));
        let forecast = Forecast::new(20, 2000, 40e-3, falling, Expected::of(20_000, 0), cost);
        assert!((100.0..400.0).contains(&forecast.wall_s), "{forecast:?}");
    }

    #[test]
    fn bodies_that_lie_already_go_on_at_their_pace() {
        let wall = Effort { bodies: 106.0, pairs: 300.0, contacts: 1140.0, sweeps: 1.1 };
        let forecast = Forecast::new(20, 780, 1e-3, wall, Expected::of(0, 105), StepCost::measured(&wall, 1e-3, 0.4e-3, 0.3e-3));
        assert!(!forecast.assumes() && forecast.wall_s == forecast.wall_at_pace_s && (forecast.wall_s - 0.78).abs() < 1e-12);
    }

    #[test]
    fn what_contacts_cost_before_the_first_sweep_is_not_paid_for_every_sweep() {
        // the first steps of a pour of 1000 balls, of which a second took 3.2 s
        let falling = Effort { bodies: 1005.0, pairs: 5000.0, contacts: 200.0, sweeps: 1.5 };
        let cost = StepCost { body_s: Some(0.98e-6), pair_s: Some(0.265e-6), contact_sweep_s: Some(0.264e-6) };
        let forecast = Forecast::new(20, 480, cost.of(&falling), falling, Expected::of(1000, 0), cost);
        assert!((2.0..5.0).contains(&forecast.wall_s), "{forecast:?}");
    }

    #[test]
    fn the_disk_lacks_room_only_where_its_room_is_known() {
        let disk = DiskForecast { bytes: 2e9, free_bytes: Some(1_000_000_000), ..DiskForecast::default() };
        assert!(disk.lacks_room());
        assert!(!DiskForecast { free_bytes: None, ..disk }.lacks_room());
        assert!(!DiskForecast { bytes: 5e8, ..disk }.lacks_room());
    }
}
