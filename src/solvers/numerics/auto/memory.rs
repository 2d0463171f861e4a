//! What the default solver remembers from step to step: part of the state of a simulation.

use super::equilibria::Equilibria;

/// What is left of the effort for polishing, and how often Coulomb's law was out of reach.
///
/// ```
/// use drystone::numerics::auto::{Memory, Workspace};
/// assert_eq!(Workspace::default().memory, Memory::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Memory {
    /// Sweeps' worth of effort that polishing may spend. None before the first pile at rest.
    pub(super) credit: Option<f64>,
    /// Steps in a row that polished a pile at rest, the last one among them: what stopped its creeping is still in the reactions.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) stops: u8,
    /// Rows for which the cost of a factorisation was looked up last, and that cost, in sweeps.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) price: (usize, f64),
    /// Of polishing what creeps at rest.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) creeping: Setback,
    /// What holds loads between which those of later steps may lie.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) equilibria: Equilibria,
    /// For islands of 2ᵏ to 2ᵏ⁺¹ rows each.
    setbacks: Vec<Setback>,
    /// The same for the solution at rest of what seems to be at rest.
    rests: Vec<Setback>,
    /// Of long sweeps over what flows, and over thousands of balls that lie on each other.
    flow: Setback,
    /// What steps that do not reach the tolerance have left of late, see [`Memory::accuracy`].
    left: f64,
}

/// Failures since the last success, and how many islands still go without what failed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Setback {
    failures: u8,
    pause: u8,
}

impl Setback {
    /// Whether this one goes without.
    pub(super) fn goes_without(&mut self) -> bool {
        let pauses = self.pause > 0;
        self.pause = self.pause.saturating_sub(1);
        pauses
    }

    /// Failures since the last success.
    pub(super) fn failures(&self) -> u8 {
        self.failures
    }

    /// Takes in a success or a failure of what counts on rest.
    pub(super) fn judge(&mut self, did: bool) {
        if did {
            *self = Self::default();
        } else {
            self.fail(PATIENT_WITH_REST, LONGEST_OF_REST);
        }
    }

    /// After `patient` failures in a row 1, 3, 7 go without, until there are `longest`.
    pub(super) fn fail(&mut self, patient: u8, longest: u8) {
        self.failures = (self.failures + 1).min(longest);
        self.pause = (1 << self.failures.saturating_sub(patient)) - 1;
    }
}

/// The setback of islands of this many rows.
fn of_size(all: &mut Vec<Setback>, rows: usize) -> &mut Setback {
    let k = rows.max(1).ilog2() as usize;
    if all.len() <= k {
        all.resize(k + 1, Setback::default());
    }
    &mut all[k]
}

/// Share of such an error that stands a step later, the least that does, and the largest that counts.
const FADES: f64 = 0.9;
const FADED: f64 = 1e-12;
const WORST: f64 = 1e-3;
/// Failures in a row before the first pause: a step that was not solved makes the next one harder, one that was makes it easier.
const PATIENT: u8 = 6;
/// Failures from which pauses stay as long as they are: what a try costs in vain counts for little then, and a scene that has become
/// easier is soon noticed.
const LONGEST: u8 = PATIENT + 3;
/// The same for the solution at rest: a pile in which one ball goes on rolling has none for hundreds of steps.
const PATIENT_WITH_REST: u8 = 1;
const LONGEST_OF_REST: u8 = 6;
/// The same for long sweeps, which cost about what they save.
const PATIENT_WITH_SWEEPS: u8 = 1;
const LONGEST_OF_SWEEPS: u8 = 6;

impl Memory {
    /// The error to which steps are solved of late: the tolerance, where they reach it.
    pub fn accuracy(&self, tolerance: f64) -> f64 {
        tolerance.max(self.left)
    }

    /// Takes in the error of a step, 0 for one that was solved.
    pub fn take_in(&mut self, missed: f64) {
        let fades = FADES * self.left;
        self.left = missed.min(WORST).max(if fades < FADED { 0.0 } else { fades });
    }

    /// True where tries on islands of this size have failed so often that this one is left out.
    pub(super) fn pauses(&mut self, rows: usize) -> bool {
        of_size(&mut self.setbacks, rows).goes_without()
    }

    /// Coulomb's law was reached, or proved to have no solution.
    pub(super) fn succeeded(&mut self, rows: usize) {
        *of_size(&mut self.setbacks, rows) = Setback::default();
    }

    /// Neither: after several times in a row, 1, 3, 7 go without.
    pub(super) fn failed(&mut self, rows: usize) {
        of_size(&mut self.setbacks, rows).fail(PATIENT, LONGEST);
    }

    /// True where islands of this size had no solution at rest so often that this one is not asked for it.
    pub(super) fn keeps_moving(&mut self, rows: usize) -> bool {
        of_size(&mut self.rests, rows).goes_without()
    }

    /// Whether an island that seemed to be at rest had a solution there.
    pub(super) fn rested(&mut self, rows: usize, did: bool) {
        of_size(&mut self.rests, rows).judge(did);
    }

    /// Whether long sweeps over what flows are worth a trial.
    pub(super) fn flows(&self) -> bool {
        self.flow.pause == 0
    }

    /// A step that flows was hard: did sweeps solve it?
    pub(super) fn swept(&mut self, solved: bool) {
        if !self.flows() {
            self.flow.pause -= 1;
        } else if solved {
            self.flow = Setback::default();
        } else {
            self.flow.fail(PATIENT_WITH_SWEEPS, LONGEST_OF_SWEEPS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_moving_is_asked_for_rest_less_and_less_often_until_it_rests() {
        let mut memory = Memory::default();
        let mut asked = Vec::new();
        for step in 0..140 {
            if !memory.keeps_moving(100) {
                asked.push(step);
                memory.rested(100, false);
            }
        }
        assert_eq!(asked, [0, 1, 3, 7, 15, 31, 63, 95, 127]);
        assert!(!memory.keeps_moving(1000), "islands of another size");
        memory.rested(100, true);
        assert!(!memory.keeps_moving(100) && !memory.keeps_moving(100));
    }

    #[test]
    fn pauses_grow_with_failures_up_to_a_bound_and_end_with_a_success() {
        let mut memory = Memory::default();
        let mut tries = Vec::new();
        for island in 0..60 {
            if !memory.pauses(100) {
                tries.push(island);
                memory.failed(100);
            }
        }
        assert_eq!(tries, [0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 28, 36, 44, 52]);
        assert!(!memory.pauses(1000), "islands of another size");
        memory.succeeded(100);
        assert!(!memory.pauses(100) && !memory.pauses(100));
    }

    #[test]
    fn long_sweeps_that_fail_are_left_out_for_a_while() {
        let mut memory = Memory::default();
        let mut tries = Vec::new();
        for step in 0..100 {
            if memory.flows() {
                tries.push(step);
            }
            memory.swept(false);
        }
        assert_eq!(tries, [0, 1, 3, 7, 15, 31, 63, 95]);
        while !memory.flows() {
            memory.swept(true);
        }
        memory.swept(true);
        assert_eq!(memory, Memory::default());
    }

    #[test]
    fn what_a_missed_step_has_left_stands_for_a_while_and_then_not_at_all() {
        let mut memory = Memory::default();
        memory.take_in(0.0);
        assert_eq!(memory, Memory::default(), "where steps are solved there is nothing to remember");
        memory.take_in(1e-5);
        assert_eq!((memory.accuracy(1e-8), memory.accuracy(1e-3)), (1e-5, 1e-3));
        memory.take_in(1e-7);
        assert!(memory.accuracy(1e-8) > 0.8e-5, "the worst of late");
        (0..200).for_each(|_| memory.take_in(0.0));
        assert_eq!(memory, Memory::default());
        memory.take_in(f64::INFINITY);
        assert_eq!(memory.accuracy(1e-8), WORST);
    }
}
