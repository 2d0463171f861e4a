//! The step as sparse matrices.

use super::problem::StepProblem;
pub use crate::numerics::matrices::Global;
use crate::numerics::mixed::Reactions;

impl StepProblem {
    /// (M, H, f, w, μ) of the step, velocities in world axes: six per mobile body, then the general systems. Moments of contacts are left out.
    pub fn global(&self) -> Global {
        self.problem.matrices()
    }

    /// The same with the rows of moments, and the reactions of all rows: contacts that resist rolling or twisting are blocks of five or six
    /// rows then.
    pub fn global_with_moments(&self) -> (Global, Vec<f64>) {
        let flat = |r: &Reactions| r.contacts.iter().flat_map(|r| r.to_array()).chain(r.blocks.iter().copied()).collect();
        let blocks = if self.problem.spins.is_empty() { None } else { self.problem.with_spin_blocks(&self.answer) };
        match blocks {
            Some((problem, answer)) => (problem.matrices(), flat(&answer.reactions)),
            None => (self.global(), flat(&self.answer.reactions)),
        }
    }
}
