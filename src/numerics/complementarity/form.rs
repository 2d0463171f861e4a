//! The form that the three families share: an affine variational inequality on a box, dense.

use crate::algebra::matrix::Matrix;
use crate::numerics::residual::Residual;

/// `w = M z + q`, `−w ∈ N_[lower, upper](z)`, M dense and square: what every solver of this room works on.
///
/// An LCP has the bounds `[0, ∞)`, an equation of an MLCP `(−∞, ∞)`, a relay its own.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{complementarity::{Complementarity, Form}, lcp::Lcp}};
/// let mut form = Form::default();
/// Lcp { m: Matrix::dense(1, 1, vec![2.0]), q: vec![-1.0] }.load(&mut form);
/// assert_eq!((form.lower[0], form.upper[0]), (0.0, f64::INFINITY));
/// assert_eq!(form.residual(&[0.5], &[0.0]).rel, 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    /// M, row by row.
    pub m: Vec<f64>,
    /// q
    pub q: Vec<f64>,
    /// Lower bounds, −∞ allowed.
    pub lower: Vec<f64>,
    /// Upper bounds, +∞ allowed.
    pub upper: Vec<f64>,
}

impl Form {
    /// Number of unknowns.
    pub fn order(&self) -> usize {
        self.q.len()
    }

    /// Row i of M.
    pub fn row(&self, i: usize) -> &[f64] {
        let n = self.order();
        &self.m[i * n..(i + 1) * n]
    }

    /// Takes a new M and q without allocating where the order stands.
    pub(in crate::numerics) fn set(&mut self, m: &Matrix, q: &[f64]) {
        self.q.clear();
        self.q.extend_from_slice(q);
        self.m.clear();
        match m {
            Matrix::Dense { values, .. } => self.m.extend_from_slice(values),
            Matrix::Blocks(_) => self.m.extend_from_slice(&m.to_dense()),
            Matrix::Sparse(a) => {
                self.m.resize(a.rows() * a.cols(), 0.0);
                a.iter().for_each(|(x, (i, j))| self.m[i * a.cols() + j] += x);
            }
        }
    }

    /// `w = M z + q`
    pub fn output(&self, z: &[f64], w: &mut [f64]) {
        for (i, w) in w.iter_mut().enumerate() {
            *w = self.q[i] + dot(self.row(i), z);
        }
    }

    /// Nearest point of the interval of unknown i.
    pub fn project(&self, i: usize, x: f64) -> f64 {
        // not `clamp`: NaN goes to a bound, and bounds may cross by rounding after scaling
        x.max(self.lower[i]).min(self.upper[i])
    }

    /// The bound that is nearest to 0, or 0 itself: a legal first guess.
    pub fn origin(&self, i: usize) -> f64 {
        self.project(i, 0.0)
    }

    /// True where both bounds are infinite: an equation.
    pub fn is_free(&self, i: usize) -> bool {
        self.lower[i] == f64::NEG_INFINITY && self.upper[i] == f64::INFINITY
    }

    /// Euclidean norm of the natural map `z − P(z − w)`.
    pub fn natural_map(&self, z: &[f64], w: &[f64]) -> f64 {
        (0..self.order()).map(|i| (z[i] - self.project(i, z[i] - w[i])).powi(2)).sum::<f64>().sqrt()
    }

    /// The three errors at z and `w = M z + q`; the D of `e_s` is |M_ii|, or the mean of those where it is 0.
    pub fn residual(&self, z: &[f64], w: &[f64]) -> Residual {
        let n = self.order();
        errors(|i| self.m[i * n + i], &self.q, z, w, |i, x| self.project(i, x))
    }

    /// `rel` of [`residual`](Self::residual) alone.
    pub fn rel(&self, z: &[f64], w: &[f64]) -> f64 {
        ratio(self.natural_map(z, w), norm(&self.q).max(norm(z)).max(norm(w)))
    }
}

/// Recomputes `w = M z + q` and returns the errors of a square problem on its own matrix.
pub(in crate::numerics) fn residual(m: &Matrix, q: &[f64], z: &[f64], w: &mut [f64], project: impl Fn(usize, f64) -> f64) -> Residual {
    m.multiply(z, w);
    w.iter_mut().zip(q).for_each(|(w, q)| *w += q);
    errors(|i| m.diagonal(i), q, z, w, project)
}

/// The natural map in its three scalings.
fn errors(diagonal: impl Fn(usize) -> f64, q: &[f64], z: &[f64], w: &[f64], project: impl Fn(usize, f64) -> f64) -> Residual {
    let n = q.len();
    let typical = (0..n).map(|i| diagonal(i).abs()).sum::<f64>() / n.max(1) as f64;
    let fallback = if typical > 0.0 { typical } else { 1.0 };
    let (mut plain, mut scaled, mut z_scaled, mut q_scaled) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..n {
        let own = diagonal(i).abs();
        let d = if own > 0.0 { own } else { fallback };
        plain += (z[i] - project(i, z[i] - w[i])).powi(2);
        scaled += d * (z[i] - project(i, z[i] - w[i] / d)).powi(2);
        z_scaled += d * z[i] * z[i];
        q_scaled += q[i] * q[i] / d;
    }
    let plain = f64::sqrt(plain);
    Residual {
        rel: ratio(plain, norm(q).max(norm(z)).max(norm(w))),
        rel_q: ratio(plain, norm(q)),
        e_s: ratio(f64::sqrt(scaled), f64::sqrt(z_scaled).max(f64::sqrt(q_scaled))),
        ..Residual::default()
    }
}

/// Row and column scales that bring the entries of M near one: `M' = R M C`, `z = C z'`, `w = R⁻¹ w'`.
///
/// Positive diagonal scalings keep every complementarity; powers of two keep every digit.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaling {
    pub(super) rows: Vec<f64>,
    pub(super) columns: Vec<f64>,
}

impl Scaling {
    /// Four rounds of Ruiz' equilibration; `scaled` becomes the form in the new units.
    pub(super) fn balance(&mut self, form: &Form, scaled: &mut Form) {
        let n = form.order();
        scaled.clone_from(form);
        self.rows.clear();
        self.rows.resize(n, 1.0);
        self.columns.clear();
        self.columns.resize(n, 1.0);
        let power = |x: f64| if x > 0.0 { libm::exp2((-libm::log2(x) / 2.0).round()) } else { 1.0 };
        for _ in 0..4 {
            for i in 0..n {
                let s = power(scaled.row(i).iter().fold(0.0f64, |m, x| m.max(x.abs())));
                self.rows[i] *= s;
                scaled.m[i * n..(i + 1) * n].iter_mut().for_each(|x| *x *= s);
            }
            for j in 0..n {
                let s = power((0..n).fold(0.0f64, |m, i| m.max(scaled.m[i * n + j].abs())));
                self.columns[j] *= s;
                (0..n).for_each(|i| scaled.m[i * n + j] *= s);
            }
        }
        for i in 0..n {
            scaled.q[i] *= self.rows[i];
            scaled.lower[i] /= self.columns[i];
            scaled.upper[i] /= self.columns[i];
        }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(in crate::numerics) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// `a / b`, 0 where there is no error at all.
pub(in crate::numerics) fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b.max(f64::MIN_POSITIVE) }
}
