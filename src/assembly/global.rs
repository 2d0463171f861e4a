//! The step as sparse matrices.

use super::problem::StepProblem;
pub use crate::numerics::matrices::Global;

impl StepProblem {
    /// (M, H, f, w, μ) of the step, velocities in world axes: six per mobile body, then the general systems.
    pub fn global(&self) -> Global {
        self.problem.matrices()
    }
}
