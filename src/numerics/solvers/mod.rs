//! All solvers by name, for programs that choose one at run time.
//!
//! [`all`] is the register; a new solver is one [`Entry`] there and inherits the command line, the profiles and every test that
//! runs over solvers.

mod problem;

pub use problem::{Family, Kind, Problem, Solution};

use super::global::{GlobalSolver, Reduced, admm::BodyAdmm, auto::GlobalAuto, proximal::BodyNewton};
use super::local::LocalSolver;
use super::local::admm::Admm;
use super::local::auto::Auto;
use super::local::fixed_point::{AclmFixedPoint, DeSaxceFixedPoint, TrescaFixedPoint};
use super::local::nsgs::Nsgs;
use super::local::projection::{ExtraGradient, FixedPoint, HyperplaneProjection};
use super::local::proximal::ProximalPoint;
use super::{Measure, ProblemError, Report, Watch};

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

/// Answer and report.
pub type Solved = Result<(Solution, Report), ProblemError>;

/// A registered solver.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::local::LocalProblem;
/// use drystone::numerics::solvers::{Problem, Request, all};
/// let w = BlockRows::from_dense(&[0, 3], &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
/// let p = Problem::Local(LocalProblem::friction(w, vec![-1.0, 3.0, 4.0], &[0.5])?);
/// for solver in all().iter().filter(|solver| solver.claims(&p)) {
///     let (answer, report) = (solver.run)(&p, &Request::default(), None, &mut |_| true)?;
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
    /// Solves from the guess, or from zero; the watch sees every iteration and may stop it. An error says why the problem cannot
    /// be stated (a singular M, say), or that the solver does not claim it.
    pub run: fn(&Problem, &Request, Option<&Solution>, &mut Watch) -> Solved,
}

impl Entry {
    /// Whether it takes problems of this type.
    pub fn claims(&self, problem: &Problem) -> bool {
        self.families.contains(&problem.family())
    }
}

/// An entry for a [`LocalSolver`], which solves global problems after reduction: name, settings, field of its budget, use.
macro_rules! friction {
    ($name:literal, $solver:ident, $budget:ident, $about:literal) => {
        Entry {
            name: $name,
            about: $about,
            families: &[Family::Local, Family::Global],
            run: |p, ask, guess, watch| {
                let plain = $solver::default();
                let $budget = ask.max_iterations.unwrap_or(plain.$budget);
                friction(p, guess, watch, $solver { tolerance: ask.tolerance, measure: ask.measure, $budget, ..plain })
            },
        }
    };
}

/// An entry for a [`GlobalSolver`]: name, settings, field of its budget, use.
macro_rules! body_space {
    ($name:literal, $solver:ident, $budget:ident, $about:literal) => {
        Entry {
            name: $name,
            about: $about,
            families: &[Family::Global],
            run: |p, ask, guess, watch| {
                let plain = $solver::default();
                let $budget = ask.max_iterations.unwrap_or(plain.$budget);
                global(p, guess, watch, $solver { tolerance: ask.tolerance, measure: ask.measure, $budget, ..plain })
            },
        }
    };
}

/// Every solver; the first that claims a problem is its default.
pub fn all() -> &'static [Entry] {
    &[
        body_space!(
            "global",
            GlobalAuto,
            max_rounds,
            "the default for problems with velocities: reduced and solved on W, or in body space where contacts are redundant"
        ),
        friction!("auto", Auto, max_rounds, "sweeps, proximal Newton and splitting in turn, as far as each makes progress: any problem"),
        friction!("nsgs", Nsgs, max_sweeps, "accelerated Gauss–Seidel, contact by contact: many contacts, moderate accuracy"),
        friction!(
            "proximal",
            ProximalPoint,
            max_outer,
            "proximal point around semismooth Newton: high accuracy, stuck and hyperstatic piles"
        ),
        friction!(
            "admm",
            Admm,
            max_iterations,
            "splitting with one factorisation, accelerated: hyperstatic problems that Newton cycles on"
        ),
        body_space!("body_admm", BodyAdmm, max_iterations, "splitting with the velocities as unknowns: redundant contacts cost little"),
        body_space!(
            "body_newton",
            BodyNewton,
            max_iterations,
            "proximal Newton with the velocities as unknowns: stuck piles with more contacts than velocities"
        ),
        friction!("vi_fixed_point", FixedPoint, max_iterations, "projection with adaptive steps: no factorisation, no contact solver"),
        friction!(
            "vi_extragradient",
            ExtraGradient,
            max_iterations,
            "two projections a step: monotone problems where one projection cycles"
        ),
        friction!("hyperplane", HyperplaneProjection, max_iterations, "projection on separating hyperplanes: slow, for comparison"),
        friction!("de_saxce", DeSaxceFixedPoint, max_outer, "fixed point on the De Saxcé shift"),
        friction!("tresca", TrescaFixedPoint, max_outer, "fixed point on the friction bound, a convex problem each"),
        friction!("aclm", AclmFixedPoint, max_outer, "fixed point on the shift, a second-order cone problem each"),
    ]
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

fn friction<S: LocalSolver>(p: &Problem, guess: Option<&Solution>, watch: &mut Watch, solver: S) -> Solved {
    let mut s = start(p, guess);
    let report = match p {
        Problem::Local(p) => solver.solve_watched(p, &mut s.r, &mut s.u, watch),
        Problem::Global(p) => Reduced(solver).solve_watched(p, &mut s.r, &mut s.v, &mut s.u, watch)?,
        _ => return Err(unclaimed(p)),
    };
    Ok((s, report))
}

fn global<S: GlobalSolver>(p: &Problem, guess: Option<&Solution>, watch: &mut Watch, solver: S) -> Solved {
    let mut s = start(p, guess);
    let Problem::Global(p) = p else { return Err(unclaimed(p)) };
    let report = solver.solve_watched(p, &mut s.r, &mut s.v, &mut s.u, watch)?;
    Ok((s, report))
}

fn unclaimed(p: &Problem) -> ProblemError {
    let what = format!("the problem of kind {}", p.kind().name());
    ProblemError::Size { what, found: 0, needed: 1, why: "solvers that claim it".into() }
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
