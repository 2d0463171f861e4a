//! Mixed linear complementarity: some rows are equations, the others complementarities.

use crate::algebra::matrix::Matrix;

/// `w = M z + q` with `w_i = 0` and free `z_i` on the rows of equality, `0 ≤ z_i ⟂ w_i ≥ 0` on the others
/// (Siconos: `MixedLinearComplementarityProblem`).
///
/// M may have more rows than columns: then the rows beyond are further equations and `equality` covers every row; unknown j
/// belongs to row j of the complementarities in their order.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::mlcp::Mlcp};
/// let p = Mlcp { m: Matrix::dense(2, 2, vec![1.0, 1.0, -1.0, 1.0]), q: vec![0.0, -1.0], equality: vec![true, false], free: vec![true, false] };
/// assert_eq!(p.equality.len(), p.m.rows());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mlcp {
    /// M, one row per equation or complementarity, one column per unknown.
    pub m: Matrix,
    /// q, one per row.
    pub q: Vec<f64>,
    /// Per row: true where it is an equation.
    pub equality: Vec<bool>,
    /// Per column: true where the unknown is free; the k-th bounded unknown complements the k-th row without `equality`.
    pub free: Vec<bool>,
}
