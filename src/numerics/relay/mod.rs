//! Relays: an affine variational inequality on a box.

use crate::algebra::matrix::Matrix;

/// `−(M z + q) ∈ N_[lower, upper](z)` (Siconos: `RelayProblem`).
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::relay::Relay};
/// let p = Relay { m: Matrix::dense(1, 1, vec![1.0]), q: vec![0.5], lower: vec![-1.0], upper: vec![1.0] };
/// assert!(p.lower[0] < p.upper[0]);
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
