//! The door: `problem.solve(&settings)` for every kind of problem.

use super::catalogue::default_for;
use super::engines::start;
use super::statement::Stated;
use super::{Answer, Entry, Problem, Settings};
use crate::numerics::global::GlobalProblem;
use crate::numerics::lcp::Lcp;
use crate::numerics::local::LocalProblem;
use crate::numerics::mlcp::Mlcp;
use crate::numerics::relay::Relay;
use crate::numerics::{ProblemError, Report, Status, Watch};

impl Stated<'_> {
    /// Solves as the settings say.
    pub(in crate::numerics) fn solve(self, settings: &Settings, watch: &mut Watch) -> Result<Answer, ProblemError> {
        self.validate()?;
        settings.guess.as_ref().map_or(Ok(()), |guess| self.fits(guess))?;
        let entry = match &settings.solver {
            Some(solver) if !solver.entry().takes(self) => return Err(self.unclaimed(solver.name())),
            Some(solver) => solver.entry(),
            None => default_for(self).ok_or_else(|| self.unclaimed("any solver"))?,
        };
        let mut answer = settings.timed(watch, |watch| match settings.max_iterations {
            Some(0) => self.guessed(settings),
            _ => (entry.run)(self, settings, watch),
        })?;
        // numbers that leave the range of f64 on the way certify nothing
        let Report { rel, e_s, violation, misfit, .. } = answer.report;
        if answer.report.status == Status::Converged && ![rel, e_s, violation, misfit].iter().all(|x| x.is_finite()) {
            answer.report.status = Status::Stalled;
        }
        Ok(Answer { solver: entry.name, ..answer })
    }

    /// The guess as it is, which no solver has touched.
    fn guessed(self, settings: &Settings) -> Result<Answer, ProblemError> {
        let mut solution = start(self, settings);
        let errors = self.residual(&mut solution)?;
        let reached = settings.measure.of(&errors) <= settings.tolerance;
        let report = Report { status: if reached { Status::Converged } else { Status::BudgetSpent }, ..Report::default() }.with(&errors);
        Ok(Answer { solution, report, ..Answer::default() })
    }

    /// Why that solver is not asked.
    fn unclaimed(self, solver: &str) -> ProblemError {
        let (what, kind) = (format!("solver {solver}"), self.kind().name());
        let names: Vec<&str> = super::all().iter().filter(|e| e.takes(self)).map(|e: &Entry| e.name).collect();
        ProblemError::Setting { what, cause: format!("does not take this problem of kind {kind}; these do: {}", names.join(", ")) }
    }
}

/// `solve` and `solve_watched` of a type, given how it is borrowed.
macro_rules! door {
    ($($type:ty: $self:ident => $stated:expr),+ $(,)?) => {
        $(impl $type {
            /// Solves the problem as the settings say. Not converging is a status of the answer; an error says why the problem cannot
            /// be stated, or which setting makes no sense.
            pub fn solve(&self, settings: &Settings) -> Result<Answer, ProblemError> {
                self.solve_watched(settings, &mut |_| true)
            }

            /// The same under a watch, which sees every iteration and may say stop.
            pub fn solve_watched(&$self, settings: &Settings, watch: &mut Watch) -> Result<Answer, ProblemError> {
                $stated.solve(settings, watch)
            }
        })+
    };
}

door!(
    Problem: self => self.stated(),
    LocalProblem: self => Stated::Local(self),
    GlobalProblem: self => Stated::Global(self),
    Lcp: self => Stated::Lcp(self),
    Mlcp: self => Stated::Mlcp(self),
    Relay: self => Stated::Relay(self),
);

/// Any problem as the one type of files.
macro_rules! any {
    ($($type:ident => $variant:ident),+) => {
        $(impl From<$type> for Problem {
            fn from(p: $type) -> Self {
                Self::$variant(p)
            }
        })+
    };
}

any!(LocalProblem => Local, GlobalProblem => Global, Lcp => Lcp, Mlcp => Mlcp, Relay => Relay);
