//! Relays: an affine variational inequality on a box. Its solvers: [`super::solvers`].

use super::complementarity::{Complementarity, Form};
use super::local::size;
use super::{ProblemError, residual::Residual};
use crate::algebra::matrix::Matrix;

/// `−(M z + q) ∈ N_[lower, upper](z)` (Siconos: `RelayProblem`).
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{relay::Relay, solvers::Settings}};
/// let p = Relay { m: Matrix::dense(1, 1, vec![1.0]), q: vec![0.5], lower: vec![-1.0], upper: vec![1.0] };
/// assert_eq!(p.solve(&Settings::default())?.solution.r, [-0.5]);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relay {
    /// M, square.
    pub m: Matrix,
    /// q
    pub q: Vec<f64>,
    /// Lower bounds, −∞ allowed.
    pub lower: Vec<f64>,
    /// Upper bounds, +∞ allowed.
    pub upper: Vec<f64>,
}

impl Relay {
    /// Checks sizes, bounds and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        super::complementarity::validate_square(&self.m, &self.q)?;
        size("lower", self.lower.len(), self.m.rows(), "one per row of M")?;
        size("upper", self.upper.len(), self.m.rows(), "one per row of M")?;
        for (i, (&lower, &upper)) in self.lower.iter().zip(&self.upper).enumerate() {
            if lower.is_nan() || upper.is_nan() || lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                let what = format!("lower bound {i} (the upper one is {upper:e})");
                return Err(ProblemError::OutOfRange { what, found: lower, needed: "bounds with a number between them are needed" });
            }
        }
        Ok(())
    }
}

impl Complementarity for Relay {
    fn unknowns(&self) -> usize {
        self.q.len()
    }

    fn rows(&self) -> usize {
        self.q.len()
    }

    fn load(&self, form: &mut Form) {
        form.set(&self.m, &self.q);
        form.lower.clone_from(&self.lower);
        form.upper.clone_from(&self.upper);
    }

    fn residual(&self, z: &[f64], w: &mut [f64]) -> Residual {
        super::complementarity::residual(&self.m, &self.q, z, w, |i, x| x.max(self.lower[i]).min(self.upper[i]))
    }
}
