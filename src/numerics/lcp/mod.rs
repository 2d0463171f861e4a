//! Linear complementarity: `w = M z + q`, `0 ≤ z ⟂ w ≥ 0`.

use crate::algebra::matrix::Matrix;

/// `w = M z + q`, `0 ≤ z ⟂ w ≥ 0` (Siconos: `LinearComplementarityProblem`).
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::lcp::Lcp};
/// let p = Lcp { m: Matrix::dense(1, 1, vec![2.0]), q: vec![-1.0] };
/// assert_eq!(p.m.rows(), p.q.len());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lcp {
    /// M, square.
    pub m: Matrix,
    /// q
    pub q: Vec<f64>,
}
