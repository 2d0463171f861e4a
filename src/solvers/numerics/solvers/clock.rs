//! Time limit and log of a solve: the one place of the numerics that reads a clock. What a solver finds never depends on it, only whether it
//! may go on. Nor does a solve go on where the error is the rounding of the numbers, and less is asked for.

use super::{Answer, LogLine, Settings};
use crate::numerics::{ProblemError, Progress, Status, Watch};
use std::time::Instant;

/// Error from which on it may be rounding, beside one …
#[doc(hidden)]
pub const ROUNDING: f64 = 1e-13;
/// … and is, where so many iterations have not lowered it by a tenth.
const PATIENCE: usize = 20_000;

/// The least error so far, and iterations since.
struct Least {
    error: f64,
    idle: usize,
}

impl Least {
    /// Whether there is nothing below it that numbers can say.
    fn is_rounding(&mut self, error: f64) -> bool {
        if error < 0.9 * self.error {
            (self.error, self.idle) = (error, 0);
        } else {
            self.idle += 1;
        }
        self.error <= ROUNDING && self.idle > PATIENCE
    }
}

impl Settings {
    /// `solve` gets a watch that keeps the log and says stop when the time is over, or where the error is rounding.
    pub(in crate::numerics) fn timed(
        &self,
        watch: &mut Watch,
        solve: impl FnOnce(&mut Watch) -> Result<Answer, ProblemError>,
    ) -> Result<Answer, ProblemError> {
        self.validate()?;
        let fine = self.tolerance < ROUNDING;
        let clocked = self.time_limit.is_some() || self.log;
        if !clocked && !fine {
            return solve(watch);
        }
        let (mut least, mut rounded) = (Least { error: f64::INFINITY, idle: 0 }, false);
        let start = Instant::now();
        let mut log = Vec::new();
        let mut late = false;
        let mut answer = solve(&mut |look: Progress| {
            rounded |= fine && least.is_rounding(look.error);
            let seconds = if clocked { start.elapsed().as_secs_f64() } else { 0.0 };
            if self.log && !late {
                log.push(LogLine { iteration: look.iteration, error: look.error, seconds });
            }
            late |= self.time_limit.is_some_and(|limit| seconds >= limit);
            !late && !rounded && watch(look)
        })?;
        if late && !rounded && answer.report.status == Status::Stalled {
            answer.report.status = Status::BudgetSpent;
        }
        if rounded && answer.report.status == Status::BudgetSpent {
            answer.report.status = Status::Stalled;
        }
        answer.log = log;
        Ok(answer)
    }
}
