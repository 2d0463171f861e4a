//! Variational inequalities on any convex set that can be projected on.
//!
//! ```text
//! x ∈ X,   F(x)·(y − x) ≥ 0 for all y ∈ X        rel = |x − P_X(x − F(x))| / max(|x|, |F(x)|)
//! ```

use super::complementarity::ratio;
use super::projection::{Field, Projection, distance};
use super::solvers::{Answer, Family, Settings, Solution};
use super::{ProblemError, Report, Watch};
use crate::algebra::dense::norm;

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
            let mut first = vec![0.0; self.order];
            x.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
            (self.project)(&mut x);
            (self.f)(&x, &mut first);
            let (status, iterations) = solver.run(&mut &*self, &mut x, watch);
            let mut u = vec![0.0; self.order];
            (self.f)(&x, &mut u);
            let map = self.natural_map(&x, &u);
            let rel = ratio(map, norm(&x).max(norm(&u)));
            let report = Report { status, iterations, rel, rel_q: ratio(map, norm(&first)), e_s: rel, ..Report::default() };
            Ok(Answer { solution: Solution { r: x, u, v: Vec::new() }, report, solver: name, ..Answer::default() })
        })
    }

    fn natural_map(&self, x: &[f64], f: &[f64]) -> f64 {
        let mut y: Vec<f64> = x.iter().zip(f).map(|(x, f)| x - f).collect();
        (self.project)(&mut y);
        distance(x, &y)
    }
}

impl<F: Fn(&[f64], &mut [f64]), P: Fn(&mut [f64])> Field for &Vi<F, P> {
    fn value(&mut self, x: &[f64], f: &mut [f64]) {
        (self.f)(x, f);
    }

    fn project(&mut self, x: &mut [f64]) {
        (self.project)(x);
    }

    fn error(&mut self, x: &[f64], f: &[f64]) -> f64 {
        self.natural_map(x, f) / norm(x).max(norm(f)).max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::{Status, projection::Scheme};

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
