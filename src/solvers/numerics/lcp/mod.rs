//! Linear complementarity: `w = M z + q`, `0 ≤ z ⟂ w ≥ 0`. Its solvers: [`super::solvers`].

use super::complementarity::{Complementarity, Form};
use super::{ProblemError, residual::Residual};
use crate::algebra::matrix::Matrix;

/// `w = M z + q`, `0 ≤ z ⟂ w ≥ 0` (Siconos: `LinearComplementarityProblem`).
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{lcp::Lcp, solvers::Settings}};
/// let p = Lcp { m: Matrix::dense(1, 1, vec![2.0]), q: vec![-1.0] };
/// let answer = p.solve(&Settings::default())?;
/// // z and w
/// assert_eq!((answer.solution.r[0], answer.solution.u[0]), (0.5, 0.0));
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lcp {
    /// M, square.
    pub m: Matrix,
    /// q
    pub q: Vec<f64>,
}

impl Lcp {
    /// Checks sizes and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        super::complementarity::validate_square(&self.m, &self.q)
    }
}

impl Complementarity for Lcp {
    fn unknowns(&self) -> usize {
        self.q.len()
    }

    fn rows(&self) -> usize {
        self.q.len()
    }

    fn load(&self, form: &mut Form) {
        form.set(&self.m, &self.q);
        form.lower.clear();
        form.lower.resize(self.q.len(), 0.0);
        form.upper.clear();
        form.upper.resize(self.q.len(), f64::INFINITY);
    }

    fn residual(&self, z: &[f64], w: &mut [f64]) -> Residual {
        super::complementarity::residual(&self.m, &self.q, z, w, |_, x| x.max(0.0))
    }
}
