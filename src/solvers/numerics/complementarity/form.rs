//! The form that the three families share: an affine variational inequality on a box, dense.

use crate::algebra::dense::{dot, norm, vanishes};
use crate::algebra::matrix::Matrix;
use crate::numerics::residual::Residual;

/// Sizes of M and q that are left as they are.
const NEAR: (f64, f64) = (1e-4, 1e4);
/// Rounds of equilibration, each of which halves the decades that are left.
const ROUNDS: usize = 12;

/// `w = M z + q`, `−w ∈ N_[lower, upper](z)`, M dense and square: what every solver of this room works on.
///
/// An LCP has the bounds `[0, ∞)`, an equation of an MLCP `(−∞, ∞)`, a relay its own.
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
    pub(crate) fn order(&self) -> usize {
        self.q.len()
    }

    /// Row i of M.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
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

    /// Brings M and q near one where they are far from it, by powers of two, so that no square leaves the range of numbers and no
    /// `rel` mixes units of different size: `M' = α M`, `q' = β q`, `z' = z β/α`, which is returned.
    pub(super) fn normalise(&mut self) -> f64 {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let power = |x: f64| {
            if x > 0.0 && !(NEAR.0..NEAR.1).contains(&x) { libm::exp2((-libm::log2(x)).round().clamp(-1000.0, 1000.0)) } else { 1.0 }
        };
        let alpha = power(largest(&self.m));
        let mut data = largest(&self.q);
        if data == 0.0 {
            data = self.lower.iter().chain(&self.upper).filter(|b| b.is_finite()).fold(0.0f64, |m, b| m.max(b.abs())) / alpha;
        }
        let beta = power(data);
        let unit = beta / alpha;
        if (alpha, beta) != (1.0, 1.0) && unit.is_normal() {
            self.m.iter_mut().for_each(|m| *m *= alpha);
            self.q.iter_mut().for_each(|q| *q *= beta);
            self.lower.iter_mut().chain(&mut self.upper).for_each(|b| *b *= unit);
            return unit;
        }
        1.0
    }

    /// `w = M z + q`
    pub(crate) fn output(&self, z: &[f64], w: &mut [f64]) {
        for (i, w) in w.iter_mut().enumerate() {
            *w = self.q[i] + dot(self.row(i), z);
        }
    }

    /// Nearest point of the interval of unknown i.
    pub(crate) fn project(&self, i: usize, x: f64) -> f64 {
        // not `clamp`: NaN goes to a bound, and bounds may cross by rounding after scaling
        x.max(self.lower[i]).min(self.upper[i])
    }

    /// The bound that is nearest to 0, or 0 itself: a legal first guess.
    pub(crate) fn origin(&self, i: usize) -> f64 {
        self.project(i, 0.0)
    }

    /// True where both bounds are infinite: an equation.
    pub(crate) fn is_free(&self, i: usize) -> bool {
        self.lower[i] == f64::NEG_INFINITY && self.upper[i] == f64::INFINITY
    }

    /// True where the bounds leave one value.
    pub(crate) fn is_fixed(&self, i: usize) -> bool {
        self.lower[i] >= self.upper[i]
    }

    /// Euclidean norm of the natural map `z − P(z − w)`.
    pub(crate) fn natural_map(&self, z: &[f64], w: &[f64]) -> f64 {
        (0..self.order()).map(|i| (z[i] - self.project(i, z[i] - w[i])).powi(2)).sum::<f64>().sqrt()
    }

    /// `|z − P(z − w)| / max(|q|, |z|, |w|)`
    pub(crate) fn rel(&self, z: &[f64], w: &[f64]) -> f64 {
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
    // plain, scaled, and the sizes of z, w, q, D^½ z, D^-½ q: squares in the unit given
    let sums = |unit: f64| {
        let mut sums = [0.0; 7];
        for i in 0..n {
            let own = diagonal(i).abs();
            let d = if own > 0.0 { own } else { fallback };
            let terms = [
                z[i] - project(i, z[i] - w[i]),
                d.sqrt() * (z[i] - project(i, z[i] - w[i] / d)),
                z[i],
                w[i],
                q[i],
                d.sqrt() * z[i],
                q[i] / d.sqrt(),
            ];
            sums.iter_mut().zip(terms).for_each(|(sum, x)| *sum += (unit * x) * (unit * x));
        }
        sums
    };
    let mut found = sums(1.0);
    let vanished = vanishes(found[2], z) || vanishes(found[3], w) || vanishes(found[4], q);
    if vanished || !found.iter().all(|x| *x == 0.0 || (1e-290..1e290).contains(x)) {
        let largest = [z, w, q].into_iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        if largest.is_finite() && largest > 0.0 {
            found = sums(libm::exp2((-libm::log2(largest)).floor().clamp(-1000.0, 1000.0)));
        }
    }
    let [plain, scaled, z, w, q, z_scaled, q_scaled] = found.map(f64::sqrt);
    Residual {
        rel: ratio(plain, q.max(z).max(w)),
        rel_q: ratio(plain, q),
        e_s: ratio(scaled, z_scaled.max(q_scaled)),
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
    /// Ruiz' equilibration until nothing changes, or `ROUNDS` times; `scaled` becomes the form in the new units.
    pub(super) fn balance(&mut self, form: &Form, scaled: &mut Form) {
        let n = form.order();
        scaled.clone_from(form);
        self.rows.clear();
        self.rows.resize(n, 1.0);
        self.columns.clear();
        self.columns.resize(n, 1.0);
        let power = |x: f64| if x == 0.0 || x > 0.5 && x < 2.0 { 1.0 } else { libm::exp2((-libm::log2(x) / 2.0).round()) };
        let mut largest = vec![0.0f64; n];
        for _ in 0..ROUNDS {
            let mut settled = true;
            for i in 0..n {
                let s = power(scaled.row(i).iter().fold(0.0f64, |m, x| m.max(x.abs())));
                settled &= s == 1.0;
                self.rows[i] *= s;
                scaled.m[i * n..(i + 1) * n].iter_mut().for_each(|x| *x *= s);
            }
            largest.fill(0.0);
            for row in scaled.m.chunks_exact(n.max(1)) {
                largest.iter_mut().zip(row).for_each(|(m, x)| *m = m.max(x.abs()));
            }
            for (s, column) in largest.iter_mut().zip(&mut self.columns) {
                *s = power(*s);
                settled &= *s == 1.0;
                *column *= *s;
            }
            for row in scaled.m.chunks_exact_mut(n.max(1)) {
                row.iter_mut().zip(&largest).for_each(|(x, s)| *x *= s);
            }
            if settled {
                break;
            }
        }
        for i in 0..n {
            scaled.q[i] *= self.rows[i];
            scaled.lower[i] /= self.columns[i];
            scaled.upper[i] /= self.columns[i];
        }
    }
}

/// `a / b`, 0 where there is no error at all.
pub(in crate::numerics) fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b.max(f64::MIN_POSITIVE) }
}
