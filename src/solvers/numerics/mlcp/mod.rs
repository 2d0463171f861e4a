//! Mixed linear complementarity: some rows are equations, the others complementarities. Its solvers: [`super::solvers`].
//!
//! ```text
//! w = M z + q        w_i = 0 on rows of equality,  0 ≤ z_j(k) ⟂ w_i(k) ≥ 0 for the k-th bounded unknown and the k-th other row
//! ```
//!
//! With more (or fewer) equations than free unknowns the square problem that solvers see has the normal equations
//! `Aᵀ (A x + C v + a) = 0` in their place: least squares in the free unknowns. What they find is a solution only where the
//! residual of the statement itself says so; where it does not, the default strategy tries every active set by least squares
//! (up to 14 bounded unknowns) and returns the best, `Inconsistent` when that proves that there is no solution.

mod rectangular;

use super::complementarity::{Complementarity, Form, ratio, validate_values};
use super::local::{finite, size};
use super::{ProblemError, Status, residual::Residual};
use crate::algebra::dense::{norm, unit_of_squares};
use crate::algebra::matrix::Matrix;

/// `w = M z + q` with `w_i = 0` and free `z_j` on the rows of equality, `0 ≤ z_j ⟂ w_i ≥ 0` on the others
/// (Siconos: `MixedLinearComplementarityProblem`).
///
/// M may have more rows than columns: then the rows beyond are further equations and `equality` covers every row; unknown j
/// belongs to row j of the complementarities in their order.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{mlcp::Mlcp, solvers::Settings}};
/// let m = Matrix::dense(2, 2, vec![1.0, 1.0, -1.0, 1.0]);
/// let p = Mlcp { m, q: vec![0.0, -1.0], equality: vec![true, false], free: vec![true, false] };
/// assert_eq!(p.solve(&Settings::default())?.solution.r, [-0.5, 0.5]);
/// # Ok::<(), drystone::numerics::ProblemError>(())
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

impl Mlcp {
    /// The first `equations` rows are equations of as many free unknowns, the rest are complementarities; rows beyond the
    /// columns count as equations too, before the complementarities.
    pub fn new(m: Matrix, q: Vec<f64>, equations: usize) -> Result<Self, ProblemError> {
        let extra = m.rows().saturating_sub(m.columns());
        let equality = (0..m.rows()).map(|i| i < equations + extra).collect();
        let free = (0..m.columns()).map(|j| j < equations).collect();
        let p = Self { m, q, equality, free };
        p.validate().map(|()| p)
    }

    /// True where there are as many equations as free unknowns.
    pub fn is_square(&self) -> bool {
        self.m.rows() == self.m.columns()
    }

    /// Checks sizes and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        size("q", self.q.len(), self.m.rows(), "one per row of M")?;
        size("equality", self.equality.len(), self.m.rows(), "one per row of M")?;
        size("free", self.free.len(), self.m.columns(), "one per column of M")?;
        let bounded = where_is(&self.free, false).count();
        size("the list of rows without equality", where_is(&self.equality, false).count(), bounded, "one per bounded unknown")?;
        validate_values(&self.m)?;
        finite("q", &self.q)
    }
}

/// Indices at which a flag has a value.
fn where_is(flags: &[bool], value: bool) -> impl Iterator<Item = usize> {
    flags.iter().enumerate().filter(move |(_, f)| **f == value).map(|(i, _)| i)
}

impl Complementarity for Mlcp {
    fn unknowns(&self) -> usize {
        self.free.len()
    }

    fn rows(&self) -> usize {
        self.q.len()
    }

    fn rearranged(&self) -> bool {
        self.equality != self.free
    }

    fn load(&self, form: &mut Form) {
        let n = self.unknowns();
        form.set(&self.m, &self.q);
        form.lower.clear();
        form.lower.extend(self.free.iter().map(|free| if *free { f64::NEG_INFINITY } else { 0.0 }));
        form.upper.clear();
        form.upper.resize(n, f64::INFINITY);
        if self.equality == self.free {
            return;
        }
        let m = std::mem::take(&mut form.m);
        let row = |i: usize| &m[i * n..(i + 1) * n];
        form.m.resize(n * n, 0.0);
        form.q.clear();
        form.q.resize(n, 0.0);
        for (j, i) in where_is(&self.free, false).zip(where_is(&self.equality, false)) {
            form.m[j * n..(j + 1) * n].copy_from_slice(row(i));
            form.q[j] = self.q[i];
        }
        if self.is_square() {
            for (j, i) in where_is(&self.free, true).zip(where_is(&self.equality, true)) {
                form.m[j * n..(j + 1) * n].copy_from_slice(row(i));
                form.q[j] = self.q[i];
            }
            return;
        }
        for j in where_is(&self.free, true) {
            for i in where_is(&self.equality, true) {
                let factor = row(i)[j];
                form.m[j * n..(j + 1) * n].iter_mut().zip(row(i)).for_each(|(x, y)| *x += factor * y);
                form.q[j] += factor * self.q[i];
            }
        }
    }

    fn residual(&self, z: &[f64], w: &mut [f64]) -> Residual {
        self.m.multiply(z, w);
        w.iter_mut().zip(&self.q).for_each(|(w, q)| *w += q);
        let unit = unit_of_squares(&[&self.q, z, w]);
        let square = |x: f64| (unit * x) * (unit * x);
        let size = |x: &[f64]| if unit == 1.0 { norm(x) } else { x.iter().map(|x| square(*x)).sum::<f64>().sqrt() };
        let equations = where_is(&self.equality, true).map(|i| square(w[i])).sum::<f64>();
        let pairs = where_is(&self.free, false).zip(where_is(&self.equality, false));
        let map = (equations + pairs.map(|(j, i)| square(z[j] - (z[j] - w[i]).max(0.0))).sum::<f64>()).sqrt();
        let (rel, rel_q) = (ratio(map, size(&self.q).max(size(z)).max(size(w))), ratio(map, size(&self.q)));
        // equations and complementarities have no common diagonal: there is no better unit-free measure than the relative one
        Residual { rel, rel_q, e_s: rel, ..Residual::default() }
    }

    fn beyond_square(&self, tolerance: f64, z: &mut [f64], w: &mut [f64]) -> Option<Status> {
        if self.is_square() { None } else { rectangular::enumerate(self, tolerance, z, w) }
    }
}
