//! Convex quadratic programmes.
//!
//! ```text
//! min ½ xᵀQx + cᵀx     a_l ≤ A x ≤ a_u,   x_l ≤ x ≤ x_u           equations where the two bounds are equal
//! optimal  ⇔  x = P_x(x − (Q x + c + Aᵀy)),   A x = P_a(A x + y)    rel = the two natural maps over max(|c|, |x|, |Qx|, |Ax|, |y|)
//! ```
//!
//! Projected gradients take bounds alone, splitting everything. For a handful of unknowns with one-sided constraints the optimality
//! conditions are an [`Mlcp`](super::mlcp::Mlcp), which the solver `lemke` solves exactly.

use super::complementarity::ratio;
use super::local::{finite, size};
use super::solvers::{Answer, Family, Settings, Solution};
use super::{ProblemError, Progress, Report, Status, Watch};
use crate::algebra::dense::{cholesky, cholesky_solve, norm};
use crate::algebra::factor::Lu;
use crate::algebra::matrix::Matrix;

/// `min ½ xᵀQx + cᵀx` with `a_l ≤ A x ≤ a_u`, `x_l ≤ x ≤ x_u` (Siconos: `ConvexQP`).
///
/// Solvers: `admm` (the default), and `projected_gradient` for bounds alone. The answer holds x in r, the multipliers of A x in v, and
/// the gradient `Q x + c + Aᵀ y` in u.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{qp::ConvexQp, solvers::Settings}};
/// // the point of x₀ + x₁ = 1, x ≥ 0 that is nearest to (2, 0)
/// let mut p = ConvexQp::bounded(Matrix::dense(2, 2, vec![1.0, 0.0, 0.0, 1.0]), vec![-2.0, 0.0], vec![0.0; 2], vec![f64::INFINITY; 2]);
/// (p.a, p.a_lower, p.a_upper) = (Matrix::dense(1, 2, vec![1.0, 1.0]), vec![1.0], vec![1.0]);
/// let answer = p.solve(&Settings::default())?;
/// let x = &answer.solution.r;
/// assert!(answer.converged() && (x[0] - 1.0).abs() < 1e-7 && x[1].abs() < 1e-7);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvexQp {
    /// Q, symmetric positive semidefinite.
    pub q: Matrix,
    /// c
    pub c: Vec<f64>,
    /// A, one row per linear constraint; no rows where there are bounds alone.
    pub a: Matrix,
    /// Lower bounds of A x, −∞ allowed.
    pub a_lower: Vec<f64>,
    /// Upper bounds of A x, +∞ allowed.
    pub a_upper: Vec<f64>,
    /// Lower bounds of x, −∞ allowed.
    pub x_lower: Vec<f64>,
    /// Upper bounds of x, +∞ allowed.
    pub x_upper: Vec<f64>,
}

impl ConvexQp {
    /// A programme with bounds alone.
    pub fn bounded(q: Matrix, c: Vec<f64>, x_lower: Vec<f64>, x_upper: Vec<f64>) -> Self {
        let a = Matrix::dense(0, c.len(), Vec::new());
        Self { q, c, a, x_lower, x_upper, ..Self::default() }
    }

    /// Checks sizes, bounds and that every number is finite; not that Q is positive semidefinite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let (n, m) = (self.c.len(), self.a.rows());
        size("Q's rows", self.q.rows(), n, "one per entry of c")?;
        size("Q's columns", self.q.columns(), n, "one per entry of c")?;
        size("A's columns", self.a.columns(), n, "one per entry of c")?;
        for (what, bounds, needed) in
            [("a_lower", &self.a_lower, m), ("a_upper", &self.a_upper, m), ("x_lower", &self.x_lower, n), ("x_upper", &self.x_upper, n)]
        {
            size(what, bounds.len(), needed, "one per bounded quantity")?;
        }
        finite("Q", self.q.values())?;
        finite("c", &self.c)?;
        finite("A", self.a.values())?;
        let pairs = self.a_lower.iter().zip(&self.a_upper).chain(self.x_lower.iter().zip(&self.x_upper));
        for (k, (&lower, &upper)) in pairs.enumerate() {
            if lower.is_nan() || upper.is_nan() || lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                let what = format!("lower bound {k} (constraints first, then unknowns; the upper one is {upper:e})");
                return Err(ProblemError::OutOfRange { what, found: lower, needed: "bounds with a number between them are needed" });
            }
        }
        Ok(())
    }

    /// Solves the problem as the settings say. Not converging is a status of the answer; an error says why the problem cannot be stated,
    /// or which setting makes no sense.
    pub fn solve(&self, settings: &Settings) -> Result<Answer, ProblemError> {
        self.solve_watched(settings, &mut |_| true)
    }

    /// The same under a watch, which sees every iteration and may say stop.
    pub fn solve_watched(&self, settings: &Settings, watch: &mut Watch) -> Result<Answer, ProblemError> {
        self.validate()?;
        let name = settings.taken(Family::Qp)?;
        let n = self.c.len();
        let mut x = settings.first_guess(n)?;
        let mut y = match &settings.guess {
            Some(guess) if !guess.v.is_empty() => guess.v.clone(),
            _ => vec![0.0; self.a.rows()],
        };
        size("v of the guess", y.len(), self.a.rows(), "one per row of A")?;
        finite("v of the guess", &y)?;
        settings.timed(watch, |watch| {
            let report = if name == "projected_gradient" {
                let plain = settings.tune(name, ProjectedGradient::default())?;
                let max_iterations = settings.max_iterations.unwrap_or(plain.max_iterations);
                ProjectedGradient { tolerance: settings.tolerance, max_iterations }.run(self, &mut x, watch)
            } else {
                settings.may_be_dense("Q and A as dense matrices", n, n + self.a.rows())?;
                let plain = settings.tune(name, Admm::default())?;
                let max_iterations = settings.max_iterations.unwrap_or(plain.max_iterations);
                Admm { tolerance: settings.tolerance, max_iterations, ..plain }.run(self, &mut x, &mut y, watch)
            };
            let mut buffers = Buffers::of(self);
            self.residual(&x, &y, &mut buffers);
            let u = (0..n).map(|i| buffers.qx[i] + self.c[i] + buffers.aty[i]).collect();
            Ok(Answer { solution: Solution { r: x, u, v: y }, report, solver: name, ..Answer::default() })
        })
    }

    /// `rel` and `rel_q` of `(x, y)`.
    fn residual(&self, x: &[f64], y: &[f64], buffers: &mut Buffers) -> (f64, f64) {
        let Buffers { qx, ax, aty, .. } = buffers;
        self.q.multiply(x, qx);
        self.a.multiply(x, ax);
        transposed(&self.a_dense(), self.c.len(), y, aty);
        let mut map = 0.0;
        for i in 0..x.len() {
            let step = x[i] - (qx[i] + self.c[i] + aty[i]);
            map += (x[i] - step.max(self.x_lower[i]).min(self.x_upper[i])).powi(2);
        }
        for k in 0..y.len() {
            map += (ax[k] - (ax[k] + y[k]).max(self.a_lower[k]).min(self.a_upper[k])).powi(2);
        }
        let map = f64::sqrt(map);
        (ratio(map, [&self.c, x, qx, ax, y].iter().fold(0.0, |m, v| norm(v).max(m))), ratio(map, norm(&self.c)))
    }

    fn a_dense(&self) -> std::borrow::Cow<'_, [f64]> {
        match &self.a {
            Matrix::Dense { values, .. } => values.into(),
            other => other.to_dense().into(),
        }
    }

    fn report(&self, tolerance: f64, x: &[f64], y: &[f64], iterations: usize, factorisations: usize, buffers: &mut Buffers) -> Report {
        let (rel, rel_q) = self.residual(x, y, buffers);
        let status = if rel <= tolerance { Status::Converged } else { Status::BudgetSpent };
        Report { status, iterations, factorisations, rel, rel_q, e_s: rel, ..Report::default() }
    }
}

/// `y = Aᵀ x` of a row-major matrix.
fn transposed(a: &[f64], columns: usize, x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    for (row, x) in a.chunks_exact(columns.max(1)).zip(x) {
        row.iter().zip(y.iter_mut()).for_each(|(a, y)| *y += a * x);
    }
}

struct Buffers {
    qx: Vec<f64>,
    ax: Vec<f64>,
    aty: Vec<f64>,
}

impl Buffers {
    fn of(p: &ConvexQp) -> Self {
        Self { qx: vec![0.0; p.c.len()], ax: vec![0.0; p.a.rows()], aty: vec![0.0; p.c.len()] }
    }
}

/// Spectral projected gradient, for bounds alone (Siconos: `SICONOS_CONVEXQP_PG`).
///
/// `x ← x + λ (P(x − α g) − x)` with the exact λ ≤ 1 along that direction and Barzilai–Borwein's α: one product with Q an iteration.
/// Wins: large well conditioned programmes. Fails: condition numbers above 10⁶; linear constraints (status `Stalled`, [`Admm`] takes them).
/// Source: Birgin, Martínez, Raydan 2000.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::numerics) struct ProjectedGradient {
    /// Bound on `rel`.
    pub(in crate::numerics) tolerance: f64,
    /// Iterations.
    pub(in crate::numerics) max_iterations: usize,
}

impl Default for ProjectedGradient {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 50_000 }
    }
}

impl ProjectedGradient {
    /// Improves x, the first guess.
    fn run(&self, p: &ConvexQp, x: &mut [f64], watch: &mut Watch) -> Report {
        let n = x.len();
        let mut buffers = Buffers::of(p);
        if p.a.rows() > 0 {
            let y = vec![0.0; p.a.rows()];
            return Report { status: Status::Stalled, ..p.report(0.0, x, &y, 0, 0, &mut buffers) };
        }
        let project = |i: usize, x: f64| x.max(p.x_lower[i]).min(p.x_upper[i]);
        (0..n).for_each(|i| x[i] = project(i, if x[i].is_finite() { x[i] } else { 0.0 }));
        let (mut qx, mut g, mut d, mut qd) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut alpha = 1.0;
        let mut iterations = 0;
        while iterations < self.max_iterations {
            // Q x again from scratch now and then: the update drifts
            if iterations % 50 == 0 {
                p.q.multiply(x, &mut qx);
            }
            (0..n).for_each(|i| g[i] = qx[i] + p.c[i]);
            let map = (0..n).map(|i| (x[i] - project(i, x[i] - g[i])).powi(2)).sum::<f64>().sqrt();
            let rel = ratio(map, norm(&p.c).max(norm(x)).max(norm(&qx)));
            iterations += 1;
            if rel <= 0.5 * self.tolerance || !rel.is_finite() || !watch(Progress { iteration: iterations, error: rel }) {
                break;
            }
            (0..n).for_each(|i| d[i] = project(i, x[i] - alpha * g[i]) - x[i]);
            p.q.multiply(&d, &mut qd);
            let slope: f64 = g.iter().zip(&d).map(|(g, d)| g * d).sum();
            let curvature: f64 = d.iter().zip(&qd).map(|(d, q)| d * q).sum();
            let lambda = if curvature > 0.0 { (-slope / curvature).clamp(0.0, 1.0) } else { 1.0 };
            for i in 0..n {
                x[i] = project(i, x[i] + lambda * d[i]);
                qx[i] += lambda * qd[i];
            }
            let length: f64 = d.iter().map(|d| d * d).sum();
            alpha = if curvature > 0.0 { (length / curvature).clamp(1e-10, 1e10) } else { alpha * 2.0 };
        }
        p.report(self.tolerance, x, &[], iterations, 0, &mut buffers)
    }
}

/// Operator splitting with one factorisation, as OSQP does (Siconos: `SICONOS_CONVEXQP_ADMM`).
///
/// ```text
/// (Q + σI + BᵀRB) x̃ = σx − c + Bᵀ(Rz − y)      B = [A; I],  R = diag ρ (10³ times larger on equations)
/// z ← P(αBx̃ + (1−α)z + R⁻¹y)                    y ← y + R(αBx̃ + (1−α)z_old − z)         α = 1.6
/// ```
///
/// Cost: one Cholesky factorisation of order n, then two triangular solves an iteration; ρ is balanced every 40 iterations
/// (a new factorisation). The active set is then polished by one LU: the last digits cost nothing. Wins: any convex programme
/// of some hundred unknowns. Fails: infeasible programmes (y grows, `BudgetSpent`). Source: Stellato et al. 2020.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::numerics) struct Admm {
    /// Bound on `rel`.
    pub(in crate::numerics) tolerance: f64,
    /// Iterations.
    pub(in crate::numerics) max_iterations: usize,
    /// First ρ; it is balanced.
    pub(in crate::numerics) rho: f64,
}

impl Default for Admm {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 20_000, rho: 0.1 }
    }
}

impl Admm {
    /// Improves `x`, the first guess, and `y`, the multipliers of `a_l ≤ A x ≤ a_u`.
    fn run(&self, p: &ConvexQp, x: &mut [f64], y: &mut [f64], watch: &mut Watch) -> Report {
        let (n, m) = (x.len(), y.len());
        let rows = m + n;
        let mut buffers = Buffers::of(p);
        let (q, a) = (p.q.to_dense(), p.a_dense());
        let lower = |k: usize| if k < m { p.a_lower[k] } else { p.x_lower[k - m] };
        let upper = |k: usize| if k < m { p.a_upper[k] } else { p.x_upper[k - m] };
        let (mut rho, sigma, alpha) = (self.rho.max(1e-6), 1e-6, 1.6);
        let weight = |k: usize, rho: f64| {
            if lower(k) == upper(k) {
                1e3 * rho
            } else if lower(k).is_infinite() && upper(k).is_infinite() {
                1e-6 * rho
            } else {
                rho
            }
        };
        let (mut z, mut dual, mut image, mut rhs) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; rows], vec![0.0; n]);
        let (mut best_x, mut best_y, mut best) = (x.to_vec(), y.to_vec(), f64::INFINITY);
        let mut polish = Polish::default();
        let mut factor = vec![0.0; n * n];
        x.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        p.a.multiply(x, &mut z[..m]);
        z[m..].copy_from_slice(x);
        (0..rows).for_each(|k| z[k] = z[k].max(lower(k)).min(upper(k)));
        dual[..m].iter_mut().zip(y.iter()).filter(|(_, y)| y.is_finite()).for_each(|(d, y)| *d = *y);
        let (mut iterations, mut factorisations) = (0, 0);
        let mut stale = true;
        while iterations < self.max_iterations && best > self.tolerance {
            if stale {
                factor.copy_from_slice(&q);
                for i in 0..n {
                    factor[i * n + i] += sigma + weight(m + i, rho);
                }
                for (k, row) in a.chunks_exact(n.max(1)).enumerate() {
                    for i in 0..n {
                        let s = weight(k, rho) * row[i];
                        (0..n).for_each(|j| factor[i * n + j] += s * row[j]);
                    }
                }
                factorisations += 1;
                if !cholesky(&mut factor, n) {
                    break;
                }
                stale = false;
            }
            iterations += 1;
            (0..rows).for_each(|k| image[k] = weight(k, rho) * z[k] - dual[k]);
            transposed(&a, n, &image[..m], &mut rhs);
            (0..n).for_each(|i| rhs[i] += sigma * x[i] - p.c[i] + image[m + i]);
            cholesky_solve(&factor, n, &mut rhs);
            p.a.multiply(&rhs, &mut image[..m]);
            image[m..].copy_from_slice(&rhs);
            (0..n).for_each(|i| x[i] = alpha * rhs[i] + (1.0 - alpha) * x[i]);
            for k in 0..rows {
                let relaxed = alpha * image[k] + (1.0 - alpha) * z[k];
                let w = weight(k, rho);
                z[k] = (relaxed + dual[k] / w).max(lower(k)).min(upper(k));
                dual[k] += w * (relaxed - z[k]);
            }
            if iterations % 10 == 0 {
                let (rel, _) = p.residual(&z[m..], &dual[..m], &mut buffers);
                if rel < best {
                    best = rel;
                    best_x.copy_from_slice(&z[m..]);
                    best_y.copy_from_slice(&dual[..m]);
                }
                if !watch(Progress { iteration: iterations, error: rel }) || !rel.is_finite() {
                    break;
                }
            }
            if iterations % 40 == 0 {
                if best > self.tolerance {
                    factorisations += 1;
                    if let Some((px, py)) = polish.point(p, &q, &a, &z, &dual) {
                        let (rel, _) = p.residual(px, py, &mut buffers);
                        if rel < best {
                            best = rel;
                            best_x.copy_from_slice(px);
                            best_y.copy_from_slice(py);
                        }
                    }
                }
                p.a.multiply(x, &mut image[..m]);
                image[m..].copy_from_slice(x);
                let primal = ratio((0..rows).map(|k| (image[k] - z[k]).powi(2)).sum::<f64>().sqrt(), norm(&image).max(norm(&z)));
                p.q.multiply(x, &mut buffers.qx);
                transposed(&a, n, &dual[..m], &mut buffers.aty);
                let gap = (0..n).map(|i| (buffers.qx[i] + p.c[i] + buffers.aty[i] + dual[m + i]).powi(2)).sum::<f64>().sqrt();
                let dual_rel = ratio(gap, norm(&buffers.qx).max(norm(&p.c)).max(norm(&dual)));
                let balance = (primal / dual_rel.max(1e-300)).sqrt();
                if !(0.2..=5.0).contains(&balance) && balance.is_finite() {
                    rho = (rho * balance.clamp(0.1, 10.0)).clamp(1e-6, 1e6);
                    stale = true;
                }
            }
        }
        x.copy_from_slice(&best_x);
        y.copy_from_slice(&best_y);
        p.report(self.tolerance, x, y, iterations, factorisations, &mut buffers)
    }
}

/// The equations of a guessed active set, solved directly.
#[derive(Default)]
struct Polish {
    lu: Lu,
    active: Vec<(usize, f64)>,
    solution: Vec<f64>,
    rhs: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Polish {
    /// `[Q + δ, B_actᵀ; B_act, −δ]` with two steps of refinement against δ = 0; `None` where it is singular.
    fn point(&mut self, p: &ConvexQp, q: &[f64], a: &[f64], z: &[f64], dual: &[f64]) -> Option<(&[f64], &[f64])> {
        let (n, m) = (p.c.len(), p.a.rows());
        self.active.clear();
        for k in 0..m + n {
            let (lower, upper) = if k < m { (p.a_lower[k], p.a_upper[k]) } else { (p.x_lower[k - m], p.x_upper[k - m]) };
            if lower == upper || z[k] - lower < -dual[k] {
                self.active.push((k, lower));
            } else if upper - z[k] < dual[k] {
                self.active.push((k, upper));
            }
        }
        let active = &self.active;
        let entry = |k: usize, j: usize| if k < m { a[k * n + j] } else { f64::from(u8::from(k - m == j)) };
        let order = n + active.len();
        let size = q.iter().fold(1e-300f64, |s, x| s.max(x.abs()));
        let delta = 1e-9 * size;
        let exact = |i: usize, row: &mut [f64]| {
            row.fill(0.0);
            if i < n {
                row[..n].copy_from_slice(&q[i * n..(i + 1) * n]);
                active.iter().enumerate().for_each(|(s, &(k, _))| row[n + s] = entry(k, i));
            } else {
                (0..n).for_each(|j| row[j] = entry(active[i - n].0, j));
            }
        };
        let regular = self.lu.factor(order, |i, row| {
            exact(i, row);
            row[i] += if i < n { delta } else { -delta };
        });
        if !regular {
            return None;
        }
        let mut row = vec![0.0; order];
        self.solution.clear();
        self.solution.resize(order, 0.0);
        for _ in 0..4 {
            self.rhs.clear();
            for i in 0..order {
                exact(i, &mut row);
                let target = if i < n { -p.c[i] } else { active[i - n].1 };
                self.rhs.push(target - row.iter().zip(&self.solution).map(|(a, x)| a * x).sum::<f64>());
            }
            self.lu.solve(&mut self.rhs);
            self.solution.iter_mut().zip(&self.rhs).for_each(|(x, d)| *x += d);
        }
        self.x.clear();
        self.x.extend((0..n).map(|i| self.solution[i].max(p.x_lower[i]).min(p.x_upper[i])));
        self.y.clear();
        self.y.resize(m, 0.0);
        for (s, &(k, _)) in self.active.iter().enumerate().filter(|(_, (k, _))| *k < m) {
            self.y[k] = self.solution[n + s];
        }
        Some((&self.x, &self.y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn admm_and_gradient_find_the_optimum_that_was_hidden(
            seed in prop::collection::vec(-1.0..1.0f64, 5 * 5 + 2 * 5), x in prop::collection::vec(-1.0..1.0f64, 5),
            y in prop::array::uniform2(-1.0..1.0f64), kind in prop::collection::vec(0..3u8, 5),
        ) {
            let n = 5;
            let mut q = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    q[i * n + j] = (0..n).map(|k| seed[k * n + i] * seed[k * n + j]).sum::<f64>() + if i == j { 0.3 } else { 0.0 };
                }
            }
            // unknowns at a lower bound, at an upper bound, or between; one equation and one inequality that binds
            let (mut lower, mut upper, mut force) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            for i in 0..n {
                (lower[i], upper[i], force[i]) = match kind[i] {
                    0 => (x[i], x[i] + 1.0, 0.5),
                    1 => (f64::NEG_INFINITY, x[i], -0.5),
                    _ => (x[i] - 1.0, f64::INFINITY, 0.0),
                };
            }
            // where the two rows say nearly the same of what is between its bounds, residuals of 1e-8 allow for 1e-4 of x
            let product = |k: usize, l: usize| -> f64 {
                (0..n).filter(|i| kind[*i] == 2).map(|i| seed[n * (n + k) + i] * seed[n * (n + l) + i]).sum()
            };
            let (between, squares) = (kind.iter().filter(|kind| **kind == 2).count(), product(0, 0) * product(1, 1));
            prop_assume!(between == 0 || product(0, 0).min(product(1, 1)) > 0.01);
            prop_assume!(between < 2 || squares - product(0, 1).powi(2) > 0.01 * squares);
            for constrained in [false, true] {
                let a = if constrained { seed[n * n..].to_vec() } else { Vec::new() };
                let m = a.len() / n;
                let multipliers = [y[0], -y[1].abs()];
                let ax: Vec<f64> = a.chunks_exact(n).map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
                let c = (0..n).map(|i| {
                    let qx: f64 = (0..n).map(|j| q[i * n + j] * x[j]).sum();
                    force[i] - qx - (0..m).map(|k| a[k * n + i] * multipliers[k]).sum::<f64>()
                }).collect();
                let a_upper = ax.iter().enumerate().map(|(k, ax)| if k == 0 { *ax } else { f64::INFINITY }).collect();
                let p = ConvexQp {
                    q: Matrix::dense(n, n, q.clone()), c, a: Matrix::dense(m, n, a), a_lower: ax, a_upper,
                    x_lower: lower.clone(), x_upper: upper.clone(),
                };
                p.validate().expect("legal");
                let answer = p.solve(&Settings::default()).expect("legal");
                prop_assert!(answer.converged(), "{:?}", answer.report);
                let found = answer.solution.r;
                prop_assert!(found.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {x:?}");
                let answer = p.solve(&Settings::with_solver("projected_gradient").expect("a solver")).expect("legal");
                prop_assert_eq!(answer.converged(), !constrained);
                let found = answer.solution.r;
                prop_assert!(constrained || found.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-6));
            }
        }
    }
}
