//! The step as sparse matrices.

use super::problem::StepProblem;
pub use crate::numerics::matrices::Global;
use crate::numerics::mixed::{MixedProblem, Reactions};
use std::borrow::Cow;

impl StepProblem {
    /// The problem as it was solved: bodies that locks keep in a plane are free in it ([`Planes`](crate::numerics::mixed::Planes)).
    pub fn stated(&self) -> Cow<'_, MixedProblem> {
        if !self.locked {
            return Cow::Borrowed(&self.problem);
        }
        let mut problem = self.problem.clone();
        self.planes.clone().unlock(&mut problem);
        Cow::Owned(problem)
    }

    /// (M, H, f, w, μ) of the step, velocities in world axes: six per mobile body, then the general systems. Moments of contacts are left out.
    pub fn global(&self) -> Global {
        self.problem.matrices()
    }

    /// The same as it was solved, bodies that locks keep in a plane free, with the rows of moments, and the reactions of all rows: contacts that resist rolling or twisting are blocks of five or
    /// six rows then.
    pub fn global_with_moments(&self) -> (Global, Vec<f64>) {
        let flat = |r: &Reactions| r.contacts.iter().flat_map(|r| r.to_array()).chain(r.blocks.iter().copied()).collect();
        let problem = self.stated();
        let blocks = if problem.spins.is_empty() { None } else { problem.with_spin_blocks(&self.answer) };
        match blocks {
            Some((problem, answer)) => (problem.matrices(), flat(&answer.reactions)),
            None => (problem.matrices(), flat(&self.answer.reactions)),
        }
    }
}
