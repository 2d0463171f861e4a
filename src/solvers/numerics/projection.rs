//! Projection methods: problems whose unknowns live in a set that can be projected on.
//!
//! ```text
//! y = P(x − ρ F(x))                                                          all
//! fixed point      x ← y
//! extragradient    x ← P(x − ρ F(y))
//! hyperplane       d = x − y − ρ (F(x) − F(y)),   x ← P(x − 1.8 ρ ((x − y)·d / |d|²) F(y))
//! step             a = ρ |F(x) − F(y)| / |x − y|:   a > 0.9 → ρ less, once more;   a < 0.3 → ρ ← 1.5 ρ
//! friction         x = D^½ r,   F(x) = D^-½ û(r),   û = u + g(u),   u = W r + q      D: mean diagonal of each block's own W
//! ```
//!
//! F(y) is the normal of a hyperplane between x and the solutions. Projection on that plane itself takes steps that fall with the square
//! of the error wherever F does not vanish at the solution; the step above, of projection and contraction, does not (Armijo's rule along
//! x − y, Solodov & Svaiter 1999, stalled at 1e-2 on one contact that slips). D: without it a badly scaled problem stalls at once.
//!
//! - Cost: one (fixed point) or two evaluations of F and projections an iteration, more while ρ is being found.
//! - Wins: cheap projections, F known as a program only, moderate accuracy. The extragradient and hyperplane methods converge for
//!   monotone F; the fixed point needs strong monotonicity or symmetry (it circles on a skew F). Where contacts slip F is not monotone, so
//!   that convergence is observed, not proved.
//! - Fails: ill conditioning (linear rate, condition number squared for the worst).
//! - Measured: a tower of 570 contacts takes 4600 iterations to 1e-8 by the fixed point and 5700 by the hyperplane, a heap of 225
//!   capsules 6100, 8600, and 16000 by the extragradient; a stack of 52 boxes stops at 4e-5 with all three, and a rolling sphere
//!   whose moments are 1e4 times stiffer than its forces above 0.4.
//! - Source: Korpelevich 1976; Khobotov 1987; Solodov and Tseng 1996; He 1997; Acary, Brémond, Huber, RR-9118, 2018, for friction.

use super::acceptance::Scales;
use super::admissible::AdmissibleSet;
use super::local::{LocalProblem, LocalSolver, natural_map};
use super::residual::Residual;
use super::solvers::Settings;
use super::{Measure, ProblemError, Progress, Report, Status, Watch};

/// Which iteration [`Projection`] makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scheme {
    /// One projection.
    FixedPoint,
    /// Predictor and corrector.
    #[default]
    Extragradient,
    /// Across a separating hyperplane, then on the set.
    Hyperplane,
}

/// Projection methods (Siconos: `SICONOS_VI_FPP`, `SICONOS_VI_EG`, `SICONOS_VI_HP`, `SICONOS_FRICTION_3D_VI_FPP`, …`VI_EG`, …`HP`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Projection {
    /// Stop when the error is at most this.
    pub(super) tolerance: f64,
    /// Which error.
    pub(super) measure: Measure,
    /// Budget of iterations.
    pub(super) max_iterations: usize,
    /// The iteration.
    pub(super) scheme: Scheme,
    /// First ρ; it adapts.
    pub(super) step: f64,
}

impl Default for Projection {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 100_000, scheme: Scheme::default(), step: 1.0 }
    }
}

/// Ratio a above which the step is too long, and below which it may grow.
const RATIO: (f64, f64) = (0.9, 0.3);
/// Factor by which a step shrinks or grows.
const SHRINK: f64 = 2.0 / 3.0;
/// Over-relaxation of the step to the hyperplane.
const RELAXATION: f64 = 1.8;
/// Iterations without a tenth less error after which a run stalls, or half of all.
const PATIENCE: usize = 3000;

/// F on a set.
pub(super) trait Field {
    /// Writes F(x).
    fn value(&mut self, x: &[f64], f: &mut [f64]);

    /// Moves x into the set.
    fn project(&mut self, x: &mut [f64]);

    /// The error of x, whose F was evaluated last.
    fn error(&mut self, x: &[f64], f: &[f64]) -> f64;
}

impl Projection {
    /// The iteration of that name, as the settings want it.
    pub(super) fn asked(name: &str, settings: &Settings) -> Result<Self, ProblemError> {
        let scheme = match name {
            "vi_fixed_point" => Scheme::FixedPoint,
            "hyperplane" => Scheme::Hyperplane,
            _ => Scheme::Extragradient,
        };
        let plain = settings.tune(name, Self { scheme, ..Self::default() })?;
        let max_iterations = settings.max_iterations.unwrap_or(plain.max_iterations);
        Ok(Self { tolerance: settings.tolerance, measure: settings.measure, max_iterations, ..plain })
    }

    /// Improves `x`, the first guess; how it ended and after how many iterations.
    pub(super) fn run(&self, field: &mut impl Field, x: &mut [f64], watch: &mut Watch) -> (Status, usize) {
        let n = x.len();
        let [mut fx, mut y, mut fy, mut best_x] = std::array::from_fn(|_| vec![0.0; n]);
        x.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        field.project(x);
        field.value(x, &mut fx);
        let (mut best, mut mark) = (f64::INFINITY, (0, f64::INFINITY));
        let mut rho = if self.step > 0.0 { self.step } else { 1.0 };
        let mut k = 0;
        let status = loop {
            let error = field.error(x, &fx);
            if error < best {
                best = error;
                best_x.copy_from_slice(x);
            }
            if best <= self.tolerance {
                break Status::Converged;
            }
            if best < 0.9 * mark.1 {
                mark = (k, best);
            } else if !error.is_finite() || k > mark.0 + PATIENCE.max(k / 2) {
                break Status::Stalled;
            }
            k += 1;
            if k > self.max_iterations || !watch(Progress { iteration: k, error }) {
                break Status::BudgetSpent;
            }
            // predictor with the step that F's local slope allows
            let mut slope;
            loop {
                (0..n).for_each(|i| y[i] = x[i] - rho * fx[i]);
                field.project(&mut y);
                field.value(&y, &mut fy);
                let moved = distance(x, &y);
                slope = if moved > 0.0 { rho * distance(&fx, &fy) / moved } else { 0.0 };
                if slope <= RATIO.0 || rho < 1e-150 || !slope.is_finite() {
                    break;
                }
                rho *= SHRINK * (1.0 / slope).min(1.0);
            }
            let length = match self.scheme {
                Scheme::FixedPoint => 0.0,
                Scheme::Extragradient => rho,
                Scheme::Hyperplane => {
                    let (mut along, mut size) = (0.0, 0.0);
                    for i in 0..n {
                        let e = x[i] - y[i];
                        let d = e - rho * (fx[i] - fy[i]);
                        along += e * d;
                        size += d * d;
                    }
                    if size > 0.0 { (RELAXATION * rho * along / size).max(0.0) } else { rho }
                }
            };
            if self.scheme == Scheme::FixedPoint {
                x.copy_from_slice(&y);
                std::mem::swap(&mut fx, &mut fy);
            } else {
                (0..n).for_each(|i| x[i] -= length * fy[i]);
                field.project(x);
                field.value(x, &mut fx);
            }
            if slope < RATIO.1 {
                rho /= SHRINK;
            }
        };
        x.copy_from_slice(&best_x);
        (status, k.min(self.max_iterations))
    }
}

pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// `u = W r + q` and the law of each block, W given as a function, in `x = D^½ r`.
pub(super) struct Blocks<'a, F> {
    pub(super) apply: F,
    pub(super) q: &'a [f64],
    pub(super) offsets: &'a [usize],
    pub(super) sets: &'a [AdmissibleSet],
    pub(super) scales: &'a Scales,
}

/// [`Blocks`] with the last r and its u.
struct InRoots<'a, 'b, F> {
    p: &'b Blocks<'a, F>,
    measure: Measure,
    /// D^½ of each row
    root: Vec<f64>,
    r: &'b mut [f64],
    u: &'b mut [f64],
}

impl<F: Fn(&[f64], &mut [f64])> Blocks<'_, F> {
    /// `u = W r + q`, and the errors of r.
    fn residual(&self, r: &[f64], u: &mut [f64]) -> Residual {
        (self.apply)(r, u);
        u.iter_mut().zip(self.q).for_each(|(u, q)| *u += q);
        natural_map(self.sets, self.offsets, self.scales, r, u, self.q)
    }

    /// Improves `r`, the first guess, and sets u.
    pub(super) fn solve(&self, solver: &Projection, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut root = vec![0.0; r.len()];
        self.offsets.windows(2).zip(&self.scales.weights).for_each(|(o, d)| root[o[0]..o[1]].fill(d.sqrt()));
        let mut x: Vec<f64> = r.iter().zip(&root).map(|(r, d)| r * d).collect();
        let mut field = InRoots { p: self, measure: solver.measure, root, r, u };
        let (status, iterations) = solver.run(&mut field, &mut x, watch);
        let InRoots { root, r, u, .. } = field;
        r.iter_mut().zip(&x).zip(&root).for_each(|((r, x), d)| *r = x / d);
        let found = self.residual(r, u);
        let status = match status {
            _ if solver.measure.of(&found) <= solver.tolerance => Status::Converged,
            Status::Converged => Status::Stalled,
            other => other,
        };
        Report { status, iterations, ..Report::default() }.with(&found)
    }
}

impl<F: Fn(&[f64], &mut [f64])> Field for InRoots<'_, '_, F> {
    fn value(&mut self, x: &[f64], f: &mut [f64]) {
        self.r.iter_mut().zip(x).zip(&self.root).for_each(|((r, x), d)| *r = x / d);
        (self.p.apply)(self.r, self.u);
        self.u.iter_mut().zip(self.p.q).for_each(|(u, q)| *u += q);
        f.copy_from_slice(self.u);
        for (set, o) in self.p.sets.iter().zip(self.p.offsets.windows(2)).filter(|(_, o)| o[0] < o[1]) {
            f[o[0]] += set.shift(&f[o[0]..o[1]]);
        }
        f.iter_mut().zip(&self.root).for_each(|(f, d)| *f /= d);
    }

    fn project(&mut self, x: &mut [f64]) {
        for (set, o) in self.p.sets.iter().zip(self.p.offsets.windows(2)).filter(|(_, o)| o[0] < o[1]) {
            set.scaled(self.root[o[0]]).project(&mut x[o[0]..o[1]]);
        }
    }

    fn error(&mut self, _: &[f64], _: &[f64]) -> f64 {
        self.measure.of(&natural_map(self.p.sets, self.p.offsets, self.p.scales, self.r, self.u, self.p.q))
    }
}

impl LocalSolver for Projection {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let apply = |x: &[f64], y: &mut [f64]| p.w.multiply(x, y);
        Blocks { apply, q: &p.q, offsets: p.w.offsets(), sets: &p.sets, scales: &p.scales() }.solve(self, r, u, watch)
    }
}
