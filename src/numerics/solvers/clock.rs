//! Time limit and log of a solve: the one place of the numerics that reads a clock. What a solver finds never depends on it, only whether it
//! may go on.

use super::{Answer, LogLine, Settings};
use crate::numerics::{ProblemError, Progress, Status, Watch};
use std::time::Instant;

impl Settings {
    /// `solve` gets a watch that keeps the log and says stop when the time is over.
    pub(in crate::numerics) fn timed(
        &self,
        watch: &mut Watch,
        solve: impl FnOnce(&mut Watch) -> Result<Answer, ProblemError>,
    ) -> Result<Answer, ProblemError> {
        self.validate()?;
        if self.time_limit.is_none() && !self.log {
            return solve(watch);
        }
        let start = Instant::now();
        let mut log = Vec::new();
        let mut late = false;
        let mut answer = solve(&mut |look: Progress| {
            let seconds = start.elapsed().as_secs_f64();
            if self.log && !late {
                log.push(LogLine { iteration: look.iteration, error: look.error, seconds });
            }
            late |= self.time_limit.is_some_and(|limit| seconds >= limit);
            !late && watch(look)
        })?;
        if late && answer.report.status == Status::Stalled {
            answer.report.status = Status::BudgetSpent;
        }
        answer.log = log;
        Ok(answer)
    }
}
