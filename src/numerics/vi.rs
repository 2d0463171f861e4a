//! Variational inequalities on any convex set that can be projected on.
//!
//! ```text
//! x ∈ X,   F(x)·(y − x) ≥ 0 for all y ∈ X        rel = |x − P_X(x − F(x))| / max(|x|, |F(x)|)
//!
//! fixed point     x ← P(x − ρ F(x))
//! extragradient   y = P(x − ρ F(x)),   x ← P(x − ρ F(y))
//! hyperplane      y as above, e = x − y, d = e − ρ (F(x) − F(y)),   x ← P(x − 1.8 ρ (e·d / |d|²) F(y))
//! ```
//!
//! ρ falls by 2/3 of `1/r` while `r = ρ |F(x) − F(y)| / |x − y|` exceeds 0.9 and grows by 3/2 when r < 0.3: no Lipschitz
//! constant is needed.
//!
//! F(y) is the normal of a hyperplane between x and the solutions. Projection on that plane itself takes steps that fall with the square
//! of the error wherever F does not vanish at the solution; the step above, of projection and contraction, does not.
//!
//! - Cost: one (fixed point) or two evaluations of F and projections an iteration, more while ρ is being found.
//! - Wins: cheap projections, F known as a program only, moderate accuracy. The extragradient and hyperplane methods converge for
//!   monotone F; the fixed point needs strong monotonicity or symmetry (it circles on a skew F).
//! - Fails: ill conditioning (linear rate, condition number squared for the worst).
//! - Source: Korpelevich 1976; Khobotov 1987; Solodov and Tseng 1996; He 1997; Solodov and Svaiter 1999.

use super::complementarity::{norm, ratio};
use super::solvers::{Answer, Family, Settings, Solution};
use super::{ProblemError, Progress, Report, Status, Watch};

/// `F(x)·(y − x) ≥ 0` for all y in X (Siconos: `VariationalInequality`); `f(x, F)` writes F, `project(x)` moves x into X.
///
/// Solvers: `vi_extragradient` (the default), `vi_fixed_point`, `hyperplane`. The answer holds x in r and F(x) in u; `rel_q` is the
/// natural map over |F| at the projected guess.
///
/// ```
/// use drystone::numerics::{solvers::Settings, vi::Vi};
/// // a rotation on the half plane x₀ ≥ 1
/// let f = |x: &[f64], f: &mut [f64]| { f[0] = x[1]; f[1] = -x[0] + 2.0 };
/// let p = Vi { order: 2, f, project: |x: &mut [f64]| x[0] = x[0].max(1.0) };
/// let answer = p.solve(&Settings::default())?;
/// let x = &answer.solution.r;
/// assert!(answer.converged() && (x[0] - 2.0).abs() < 1e-6 && x[1].abs() < 1e-6);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Vi<F: Fn(&[f64], &mut [f64]), P: Fn(&mut [f64])> {
    /// Number of unknowns.
    pub order: usize,
    /// F
    pub f: F,
    /// Projection on X.
    pub project: P,
}

impl<F: Fn(&[f64], &mut [f64]), P: Fn(&mut [f64])> Vi<F, P> {
    /// Solves the problem as the settings say. Not converging is a status of the answer; an error says which setting makes no sense.
    pub fn solve(&self, settings: &Settings) -> Result<Answer, ProblemError> {
        self.solve_watched(settings, &mut |_| true)
    }

    /// The same under a watch, which sees every iteration and may say stop.
    pub fn solve_watched(&self, settings: &Settings, watch: &mut Watch) -> Result<Answer, ProblemError> {
        let name = settings.taken(Family::Vi)?;
        let solver = Projection::asked(name, settings)?;
        let mut x = settings.first_guess(self.order)?;
        settings.timed(watch, |watch| {
            let report = solver.run(self, &mut x, watch);
            let mut u = vec![0.0; self.order];
            (self.f)(&x, &mut u);
            Ok(Answer { solution: Solution { r: x, u, v: Vec::new() }, report, solver: name, ..Answer::default() })
        })
    }
}

/// Which iteration [`Projection`] makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::numerics) enum Scheme {
    /// One projection.
    FixedPoint,
    /// Predictor and corrector.
    #[default]
    Extragradient,
    /// Across a separating hyperplane, then on the set.
    Hyperplane,
}

/// Projection methods (Siconos: `SICONOS_VI_FPP`, `SICONOS_VI_EG`, `SICONOS_VI_HP`).
#[derive(Clone, Debug, PartialEq)]
pub(in crate::numerics) struct Projection {
    /// Bound on `rel`.
    pub(in crate::numerics) tolerance: f64,
    /// Iterations.
    pub(in crate::numerics) max_iterations: usize,
    /// The iteration.
    pub(in crate::numerics) scheme: Scheme,
    /// First ρ; it adapts.
    pub(in crate::numerics) step: f64,
}

impl Default for Projection {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100_000, scheme: Scheme::Extragradient, step: 1.0 }
    }
}

impl Projection {
    /// The iteration of that name, as the settings want it.
    pub(in crate::numerics) fn asked(name: &str, settings: &Settings) -> Result<Self, ProblemError> {
        let scheme = match name {
            "vi_fixed_point" => Scheme::FixedPoint,
            "hyperplane" => Scheme::Hyperplane,
            _ => Scheme::Extragradient,
        };
        let plain = settings.tune(name, Self { scheme, ..Self::default() })?;
        let max_iterations = settings.max_iterations.unwrap_or(plain.max_iterations);
        Ok(Self { tolerance: settings.tolerance, max_iterations, ..plain })
    }

    /// Improves `x`, the first guess.
    pub(in crate::numerics) fn run<F: Fn(&[f64], &mut [f64]), P: Fn(&mut [f64])>(
        &self,
        p: &Vi<F, P>,
        x: &mut [f64],
        watch: &mut Watch,
    ) -> Report {
        let n = x.len();
        let [mut fx, mut y, mut fy, mut best_x] = std::array::from_fn(|_| vec![0.0; n]);
        x.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        (p.project)(x);
        (p.f)(x, &mut fx);
        let first = norm(&fx);
        best_x.copy_from_slice(x);
        let mut best = f64::INFINITY;
        let mut rho = if self.step > 0.0 { self.step } else { 1.0 };
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        loop {
            (p.f)(x, &mut fx);
            let rel = natural_map(p, x, &fx, &mut y) / norm(x).max(norm(&fx)).max(f64::MIN_POSITIVE);
            if rel < best {
                best = rel;
                best_x.copy_from_slice(x);
            }
            if best <= self.tolerance || !rel.is_finite() || report.iterations >= self.max_iterations {
                break;
            }
            report.iterations += 1;
            if !watch(Progress { iteration: report.iterations, error: rel }) {
                break;
            }
            // predictor with the step that F's local slope allows
            let mut slope;
            loop {
                step(p, x, &fx, rho, &mut y);
                (p.f)(&y, &mut fy);
                let moved = distance(x, &y);
                slope = if moved > 0.0 { rho * distance(&fx, &fy) / moved } else { 0.0 };
                if slope <= 0.9 || rho < 1e-150 || !slope.is_finite() {
                    break;
                }
                rho *= 2.0 / 3.0 * (1.0 / slope).min(1.0);
            }
            match self.scheme {
                Scheme::FixedPoint => x.copy_from_slice(&y),
                Scheme::Extragradient => {
                    for i in 0..n {
                        x[i] -= rho * fy[i];
                    }
                    (p.project)(x);
                }
                Scheme::Hyperplane => {
                    let (mut along, mut size) = (0.0, 0.0);
                    for i in 0..n {
                        let e = x[i] - y[i];
                        let d = e - rho * (fx[i] - fy[i]);
                        along += e * d;
                        size += d * d;
                    }
                    if size > 0.0 {
                        let length = 1.8 * rho * along / size;
                        (0..n).for_each(|i| x[i] -= length * fy[i]);
                        (p.project)(x);
                    } else {
                        x.copy_from_slice(&y);
                    }
                }
            }
            if slope < 0.3 {
                rho *= 1.5;
            }
        }
        x.copy_from_slice(&best_x);
        (p.f)(x, &mut fx);
        let map = natural_map(p, x, &fx, &mut y);
        report.rel = ratio(map, norm(x).max(norm(&fx)));
        report.rel_q = ratio(map, first);
        report.e_s = report.rel;
        if report.rel <= self.tolerance {
            report.status = Status::Converged;
        }
        report
    }
}

/// `y = P(x − ρ F)`
fn step<F: Fn(&[f64], &mut [f64]), P: Fn(&mut [f64])>(p: &Vi<F, P>, x: &[f64], fx: &[f64], rho: f64, y: &mut [f64]) {
    y.iter_mut().zip(x.iter().zip(fx)).for_each(|(y, (x, f))| *y = x - rho * f);
    (p.project)(y);
}

fn natural_map<F: Fn(&[f64], &mut [f64]), P: Fn(&mut [f64])>(p: &Vi<F, P>, x: &[f64], fx: &[f64], y: &mut [f64]) -> f64 {
    step(p, x, fx, 1.0, y);
    distance(x, y)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Skew plus a little: monotone with modulus `mu` on the unit box scaled by 3.
    fn solve(scheme: Scheme, mu: f64) -> (Report, [f64; 4]) {
        let truth = [0.5, -3.0, 1.0, 2.0];
        let push = [0.0, 2.0, 0.0, 0.0];
        let p = Vi {
            order: 4,
            f: move |x: &[f64], f: &mut [f64]| {
                let d: [f64; 4] = std::array::from_fn(|i| x[i] - truth[i]);
                let skew = [d[1] + d[2], -d[0] + d[3], -d[0], -d[1]];
                (0..4).for_each(|i| f[i] = mu * d[i] + skew[i] + push[i]);
            },
            project: |x: &mut [f64]| x.iter_mut().for_each(|x| *x = x.clamp(-3.0, 3.0)),
        };
        let name = ["vi_fixed_point", "vi_extragradient", "hyperplane"][scheme as usize];
        let answer = p.solve(&Settings::with_solver(name).unwrap()).unwrap();
        let x = std::array::from_fn(|i| answer.solution.r[i]);
        (answer.report, x)
    }

    #[test]
    fn the_schemes_solve_what_they_claim() {
        for (scheme, mu) in [
            (Scheme::FixedPoint, 3.0),
            (Scheme::Extragradient, 3.0),
            (Scheme::Hyperplane, 3.0),
            (Scheme::Extragradient, 0.0),
            (Scheme::Hyperplane, 0.0),
        ] {
            let (report, x) = solve(scheme, mu);
            assert!(report.converged(), "{scheme:?} {mu}: {report:?}");
            // without modulus the last unknown appears in no equation of the others
            let determined = if mu > 0.0 { 4 } else { 3 };
            for (x, t) in x[..determined].iter().zip([0.5, -3.0, 1.0, 2.0]) {
                assert!((x - t).abs() < 1e-5, "{scheme:?} {mu}: {x} {t}");
            }
        }
    }

    #[test]
    fn a_watch_ends_the_solve() {
        let p = Vi { order: 1, f: |x: &[f64], f: &mut [f64]| f[0] = 0.1 * x[0] - 1.0, project: |_: &mut [f64]| {} };
        let report = p.solve_watched(&Settings::default(), &mut |seen| seen.iteration < 3).unwrap().report;
        assert_eq!((report.status, report.iterations), (Status::BudgetSpent, 3));
    }
}
