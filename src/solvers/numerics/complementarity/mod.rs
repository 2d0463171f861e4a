//! Solvers of linear complementarity problems in all their dresses: [`Lcp`](super::lcp::Lcp),
//! [`Mlcp`](super::mlcp::Mlcp), [`Relay`](super::relay::Relay).
//!
//! ```text
//! w = M z + q        −w ∈ N_[l, u](z)      i.e.  z_i = l_i and w_i ≥ 0,  or  l_i ≤ z_i ≤ u_i and w_i = 0,  or  z_i = u_i and w_i ≤ 0
//! rel = |z − P(z − w)| / max(|q|, |z|, |w|)
//! ```
//!
//! The families differ in their bounds alone ([`Form`]), so each solver is written once. All of them end the same way:
//! w and the residuals are recomputed from z with the statement's own matrix, and a status `Converged` is given for these only.
//! A `rel` that is small because |z| has grown without bound is no convergence: every row has to be solved on its own, see
//! [`acceptance`](super::acceptance).
//!
//! | solver | idea | claims |
//! |-|-|-|
//! | [`Auto`] | last basis, principal pivoting, blocks in succession, Lemke, proof, Newton, interior point, enumeration | everything |
//! | [`Lemke`] | complementary path of `M z + q + t d` | P0, copositive-plus, most others |
//! | [`Murty`] | principal pivoting | P-matrices |
//! | [`Newton`] | semismooth, minimum or Fischer–Burmeister | regular solutions |
//! | [`InteriorPoint`] | predictor–corrector central path | positive semidefinite M |
//! | [`Pgs`], [`BlockGaussSeidel`] | projected relaxation | symmetric positive definite, H-matrices |
//! | [`Enumeration`] | every basis | small sizes, proofs |

mod auto;
mod basis;
mod block;
mod enumeration;
mod face;
mod feasibility;
mod form;
mod interior;
mod lemke;
mod murty;
mod newton;
mod succession;
mod sweep;
mod tableau;
mod verdict;
mod vertices;

pub use auto::Auto;
pub(crate) use basis::State;
pub(crate) use block::BlockGaussSeidel;
pub(crate) use enumeration::Enumeration;
pub use feasibility::Infeasibility;
pub(in crate::numerics) use feasibility::{Feasibility, Inequalities, Sign, feasibility};
pub(crate) use form::Form;
pub(in crate::numerics) use form::{ratio, residual};
pub(crate) use interior::InteriorPoint;
pub(crate) use lemke::Lemke;
pub(crate) use murty::Murty;
pub(crate) use newton::{Newton, NewtonFunction};
pub(crate) use sweep::Pgs;
pub(in crate::numerics) use verdict::judge;

use super::local::{finite, size};
use super::{ProblemError, Progress, Report, Status, Watch, residual::Residual};
use crate::algebra::matrix::Matrix;
use basis::Basis;
use form::Scaling;

/// Unknowns beyond which a dense M is not made: 10⁴ take 800 MB.
pub(in crate::numerics) const LARGEST_DENSE: usize = 10_000;

/// A statement that the solvers of this room can load.
pub trait Complementarity {
    /// Number of entries of z.
    fn unknowns(&self) -> usize;

    /// Number of entries of w.
    fn rows(&self) -> usize;

    /// Writes the problem, or the square problem that stands for it, into `form`.
    fn load(&self, form: &mut Form);

    /// True where rows stand elsewhere in the square form than in the statement, so that w is in another order there.
    fn rearranged(&self) -> bool {
        false
    }

    /// The errors of z; `w = M z + q` is recomputed and left in `w`.
    fn residual(&self, z: &[f64], w: &mut [f64]) -> Residual;

    /// A last search for statements whose square form says less than they do; improves z. `None` where there is nothing to add.
    fn beyond_square(&self, _tolerance: f64, _z: &mut [f64], _w: &mut [f64]) -> Option<Status> {
        None
    }
}

/// Checks that M is square, that q fits it, and that every number is finite.
pub(in crate::numerics) fn validate_square(m: &Matrix, q: &[f64]) -> Result<(), ProblemError> {
    size("M's columns", m.columns(), m.rows(), "M is square")?;
    size("q", q.len(), m.rows(), "one per row of M")?;
    validate_values(m)?;
    finite("q", q)
}

/// Checks that M holds as many numbers as its rows and columns ask for, all of them finite.
pub(in crate::numerics) fn validate_values(m: &Matrix) -> Result<(), ProblemError> {
    if let Matrix::Dense { rows, columns, values } = m {
        size("M", values.len(), rows * columns, "rows × columns")?;
    }
    finite("M", m.values())
}

/// What a solver found; the residuals come later and from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// How the method ended, in its own eyes.
    pub status: Status,
    /// Iterations of the method.
    pub iterations: usize,
    /// Matrix factorisations.
    pub factorisations: usize,
}

/// Anything that solves complementarity problems.
pub trait ComplementaritySolver {
    /// Bound on `rel` for `Converged`.
    fn tolerance(&self) -> f64;

    /// True for solvers that leave nothing untried: they look beyond the square form.
    fn exhaustive(&self) -> bool {
        false
    }

    /// Improves z, a finite first guess; `w` and `scratch` are to work with.
    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome;

    /// Improves `z`, the first guess, and sets `w = M z + q`, with the buffers (and where the solver uses them the last bases)
    /// of earlier solves; `watch` sees every iteration and may end the solve.
    fn solve_with(&self, p: &dyn Complementarity, z: &mut [f64], w: &mut [f64], workspace: &mut Workspace, watch: &mut Watch) -> Report {
        let Workspace { form, scratch } = workspace;
        if p.unknowns() > LARGEST_DENSE {
            let refused = Report { status: Status::Stalled, ..Report::default() };
            return refused.with(&p.residual(z, w));
        }
        p.load(form);
        let n = form.order();
        for (i, z) in z.iter_mut().enumerate() {
            *z = if z.is_finite() { *z } else { form.origin(i) };
        }
        let unit = form.normalise();
        z.iter_mut().for_each(|z| *z *= unit);
        let mut square = vec![0.0; if w.len() == n { 0 } else { n }];
        let mut run = |form: &Form, z: &mut [f64], w: &mut [f64]| {
            let w = if w.len() == n { w } else { &mut square };
            let outcome = self.run(form, z, w, scratch, watch);
            // the bounds stand to the last digit
            (0..n).for_each(|i| z[i] = form.project(i, z[i]));
            outcome
        };
        let mut outcome = run(form, z, w);
        z.iter_mut().for_each(|z| *z /= unit);
        if unit != 1.0 {
            p.load(form);
            // `rel` mixes units, so that one that is met in those of the solver may be missed here
            if outcome.status == Status::Converged && p.residual(z, w).rel > self.tolerance() {
                let again = run(form, z, w);
                outcome = Outcome {
                    status: again.status,
                    iterations: outcome.iterations + again.iterations,
                    factorisations: outcome.factorisations + again.factorisations,
                };
            }
        }
        let mut found = p.residual(z, w);
        let mut said = outcome.status;
        if self.exhaustive()
            && found.rel > self.tolerance()
            && let Some(status) = p.beyond_square(self.tolerance(), z, w)
        {
            said = status;
            found = p.residual(z, w);
        }
        let accepted = if w.len() != n {
            found.rel <= self.tolerance()
        } else if p.rearranged() {
            square.resize(n, 0.0);
            form.output(z, &mut square);
            verdict::accepts(form, z, &square, self.tolerance(), &mut found)
        } else {
            verdict::accepts(form, z, w, self.tolerance(), &mut found)
        };
        let status = match said {
            _ if accepted => Status::Converged,
            Status::Converged => Status::Stalled,
            other => other,
        };
        let Outcome { iterations, factorisations, .. } = outcome;
        Report { status, iterations, factorisations, ..Report::default() }.with(&found)
    }

    /// Improves `z`, the first guess, and sets `w = M z + q`.
    fn solve(&self, p: &dyn Complementarity, z: &mut [f64], w: &mut [f64]) -> Report {
        self.solve_with(p, z, w, &mut Workspace::default(), &mut |_| true)
    }
}

/// Buffers that live from solve to solve: the second solve of a size does not allocate, and [`Auto`] starts from the bases
/// that solved the problems before.
#[derive(Debug, Default)]
pub struct Workspace {
    form: Form,
    scratch: Scratch,
}

impl Workspace {
    /// Whether the last problem is feasible, where [`Auto`] had to ask.
    pub(in crate::numerics) fn decided(self) -> Option<Feasibility> {
        self.scratch.decided
    }
}

/// The buffers of the solvers themselves.
#[derive(Debug, Default)]
pub struct Scratch {
    cache: basis::Cache,
    basis: Basis,
    scaling: Scaling,
    scaled: Form,
    tableau: tableau::Tableau,
    central: interior::Central,
    /// what the last run of [`Auto`] has found out, where it asked
    decided: Option<Feasibility>,
    lu: crate::algebra::factor::Lu,
    vectors: [Vec<f64>; 8],
    states: Vec<State>,
}

/// True where z solves the problem to the tolerance, by the norm and row by row.
fn solved(form: &Form, z: &[f64], w: &[f64], tolerance: f64) -> bool {
    let mut found = Residual { rel: form.rel(z, w), ..Residual::default() };
    found.rel <= tolerance && verdict::accepts(form, z, w, tolerance, &mut found)
}

/// What a solver stops on: `rel`, given as `rel`, or what the worst row makes of it where `rel` alone is within the tolerance. A `rel`
/// that is small only beside a large z is no end of a search.
fn stopping(form: &Form, z: &[f64], w: &[f64], tolerance: f64, rel: f64) -> f64 {
    if rel > tolerance || rel == 0.0 {
        return rel;
    }
    let mut found = Residual { rel, ..Residual::default() };
    verdict::judge(form, z, w, tolerance, &mut found);
    let error = super::acceptance::error(rel, &found);
    if error.is_nan() { f64::INFINITY } else { error }
}

/// The n first entries of each buffer, zeroed.
fn buffers<const K: usize>(vectors: &mut [Vec<f64>], n: usize) -> [&mut [f64]; K] {
    let mut vectors = vectors.iter_mut();
    std::array::from_fn(|_| match vectors.next() {
        Some(v) => {
            v.clear();
            v.resize(n, 0.0);
            &mut v[..]
        }
        None => &mut [],
    })
}

/// Calls the watch; false when it says stop.
fn proceed(watch: &mut Watch, iteration: usize, error: f64) -> bool {
    watch(Progress { iteration, error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::lcp::Lcp;

    #[test]
    fn a_matrix_of_too_few_numbers_is_refused() {
        let p = Lcp { m: Matrix::dense(2, 2, vec![1.0; 3]), q: vec![1.0; 2] };
        let error = p.solve(&crate::numerics::solvers::Settings::default()).unwrap_err().to_string();
        assert_eq!(error, "M holds 3 values, but 4 are needed (rows × columns)");
    }

    #[test]
    fn a_large_factorisation_is_given_up_when_the_watch_says_so() {
        let n = 700;
        // not symmetric, and every unknown is basic at first
        let entry = |i: usize, j: usize| if i == j { 40.0 } else { libm::sin((i * 31 + j * 17 + 3) as f64) };
        let m = (0..n * n).map(|e| entry(e / n, e % n)).collect();
        let p = Lcp { m: Matrix::dense(n, n, m), q: (0..n).map(|i| libm::cos(i as f64) - 1.5).collect() };
        let tolerance = 1e-10;
        let solvers: [&dyn ComplementaritySolver; 3] = [
            &Newton { tolerance, max_iterations: 1, starts: 1, ..Newton::default() },
            &InteriorPoint { tolerance, max_iterations: 1 },
            &Murty { tolerance, max_iterations: 1, ..Murty::default() },
        ];
        for (k, solver) in solvers.into_iter().enumerate() {
            let run = |most: usize| {
                let (mut asked, mut z, mut w) = (0, vec![0.0; n], vec![0.0; n]);
                solver.solve_with(&p, &mut z, &mut w, &mut Workspace::default(), &mut |_| {
                    asked += 1;
                    asked <= most
                });
                asked
            };
            // within a single iteration: several times a factorisation, and not again after a no but to end what encloses it
            assert!(run(usize::MAX) >= 4, "solver {k} asks {} times", run(usize::MAX));
            assert!(run(1) <= 4, "solver {k} asks {} times after a no", run(1) - 1);
        }
    }

    #[test]
    fn what_is_solved_in_the_units_of_the_solver_is_solved_in_its_own() {
        // an equation of zeros, and rows in units far apart
        let m = vec![0.0, 0.0, 0.0, 0.0, 0.0, 2e-5, -1e-6, -0.01, -1e6, -100.0, 10.0, -2e5, 0.0, -2e-4, 2e-5, 0.0];
        let equality = vec![true, true, true, false];
        let p = crate::numerics::mlcp::Mlcp { m: Matrix::dense(4, 4, m), q: vec![0.0, -2e-6, 0.0, 0.0], free: equality.clone(), equality };
        let report = p.solve(&crate::numerics::solvers::Settings::default()).expect("legal").report;
        assert!(report.converged(), "{report:?}");
    }

    #[test]
    fn a_problem_whose_basis_stands_costs_no_factorisation() {
        let n = 12;
        // positive definite
        let a = |i: usize, k: usize| libm::sin(((i * n + k).pow(2) + 3) as f64);
        let m = (0..n * n).map(|e| (0..n).map(|k| a(k, e / n) * a(k, e % n)).sum::<f64>() + f64::from(u8::from(e / n == e % n))).collect();
        let mut p = Lcp { m: Matrix::dense(n, n, m), q: (0..n).map(|i| libm::cos(i as f64)).collect() };
        let (mut workspace, mut z, mut w) = (Workspace::default(), vec![0.0; n], vec![0.0; n]);
        let mut factorisations = Vec::new();
        for k in 0..6 {
            p.q.iter_mut().for_each(|q| *q *= 1.0 + 1e-3 * f64::from(k));
            let report = Auto::default().solve_with(&p, &mut z, &mut w, &mut workspace, &mut |_| true);
            assert!(report.converged());
            factorisations.push(report.factorisations);
        }
        assert!(factorisations[0] > 0 && factorisations[1..].iter().all(|f| *f == 0), "{factorisations:?}");
    }
}
