//! All solvers by name, for programs that choose one at run time.
//!
//! [`all`] is the register; a new solver is one [`Entry`] there and inherits the command line, the profiles and every test that
//! runs over solvers.

mod problem;

pub use problem::{Family, Kind, Problem, Solution};

use super::local::LocalSolver;
use super::local::projection_sweep::ProjectionSweep;
use super::{Measure, Report, Status, Watch};

/// What a caller may ask of any solver.
///
/// ```
/// use drystone::numerics::solvers::Request;
/// let loose = Request { tolerance: 1e-4, ..Request::default() };
/// assert_eq!(loose.max_iterations, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Stop when the measure is at most this.
    pub tolerance: f64,
    /// Which error is measured.
    pub measure: Measure,
    /// Budget of iterations instead of the solver's own.
    pub max_iterations: Option<usize>,
}

impl Default for Request {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::Rel, max_iterations: None }
    }
}

/// A registered solver.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::local::LocalProblem;
/// use drystone::numerics::solvers::{Problem, Request, all};
/// let w = BlockRows::from_dense(&[0, 3], &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
/// let p = Problem::Local(LocalProblem::friction(w, vec![-1.0, 3.0, 4.0], &[0.5])?);
/// for solver in all().iter().filter(|solver| solver.claims(&p)) {
///     let (answer, report) = (solver.run)(&p, &Request::default(), None, &mut |_| true);
///     assert!(report.converged() && (answer.r[0] - 1.0).abs() < 1e-6, "{}", solver.name);
/// }
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is good for, in one line.
    pub about: &'static str,
    /// Types of problems that it takes.
    pub families: &'static [Family],
    /// Solves from the guess, or from zero; the watch sees every iteration and may stop it.
    pub run: fn(&Problem, &Request, Option<&Solution>, &mut Watch) -> (Solution, Report),
}

impl Entry {
    /// Whether it takes problems of this type.
    pub fn claims(&self, problem: &Problem) -> bool {
        self.families.contains(&problem.family())
    }
}

/// Every solver; the first that claims a problem is its default.
pub fn all() -> &'static [Entry] {
    &[Entry {
        name: "projection_sweep",
        about: "projected Gauss–Seidel on W: cheap sweeps, small and well-conditioned problems",
        families: &[Family::Local],
        run: |p, ask, guess, watch| {
            let plain = ProjectionSweep { tolerance: ask.tolerance, measure: ask.measure, ..ProjectionSweep::default() };
            local(p, guess, watch, &ProjectionSweep { max_iterations: ask.max_iterations.unwrap_or(plain.max_iterations), ..plain })
        },
    }]
}

/// The solver that is taken when none is named.
pub fn default_for(problem: &Problem) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.claims(problem))
}

/// The solver of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.name == name)
}

/// The guess, where it fits the problem, else zeros.
fn start(p: &Problem, guess: Option<&Solution>) -> Solution {
    let [r, u, v] = p.sizes();
    let fits = |s: &&Solution| s.r.len() == r && (s.v.len() == v || s.v.is_empty());
    match guess.filter(fits) {
        None => p.zero(),
        Some(s) => Solution { r: s.r.clone(), u: vec![0.0; u], v: if s.v.len() == v { s.v.clone() } else { vec![0.0; v] } },
    }
}

/// Asked for a problem of another family: the guess comes back.
fn unclaimed(p: &Problem, mut s: Solution) -> (Solution, Report) {
    let found = p.residual(&mut s);
    (s, Report { status: Status::Stalled, rel: found.rel, rel_q: found.rel_q, e_s: found.e_s, ..Report::default() })
}

fn local(p: &Problem, guess: Option<&Solution>, watch: &mut Watch, solver: &dyn LocalSolver) -> (Solution, Report) {
    let mut s = start(p, guess);
    match p {
        Problem::Local(p) => {
            let report = solver.solve_watched(p, &mut s.r, &mut s.u, watch);
            (s, report)
        }
        _ => unclaimed(p, s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for (k, entry) in all().iter().enumerate() {
            assert_eq!(all().iter().position(|other| other.name == entry.name), Some(k));
            assert!(find(entry.name).is_some() && !entry.about.is_empty() && !entry.families.is_empty());
        }
        assert!(find("no such solver").is_none());
    }
}
