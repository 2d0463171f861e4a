//! All solvers by name, for programs that choose one at run time.
//!
//! [`all`] is the register; a new solver is one [`Entry`] there and inherits the command line, the profiles and every test that
//! runs over solvers.

mod problem;

pub use problem::{Family, Kind, Problem, Solution};

use super::admissible::AdmissibleSet;
use super::complementarity::{Auto as Pivoting, InteriorPoint as CentralPath};
use super::complementarity::{
    BlockGaussSeidel, ComplementaritySolver, Enumeration, LARGEST_DENSE, Lemke, Murty, Newton, NewtonFunction, Pgs, Workspace,
};
use super::global::{GlobalSolver, Reduced, admm::BodyAdmm, auto::GlobalAuto, proximal::BodyNewton};
use super::local::LocalSolver;
use super::local::admm::Admm;
use super::local::auto::Auto;
use super::local::equations::Function;
use super::local::fixed_point::{AclmFixedPoint, DeSaxceFixedPoint, TrescaFixedPoint};
use super::local::interior_point::InteriorPoint;
use super::local::newton::SemismoothNewton;
use super::local::nsgs::Nsgs;
use super::local::projection::{ExtraGradient, FixedPoint, HyperplaneProjection};
use super::local::proximal::ProximalPoint;
use super::{Measure, ProblemError, Progress, Report, Status, Watch};

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

impl Request {
    /// The error of a report that the tolerance is for.
    fn error(&self, report: &Report) -> f64 {
        self.measure.of(&report.errors())
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
    /// Sets that it can treat, of a problem made of blocks.
    pub sets: fn(&AdmissibleSet) -> bool,
    /// Solves from the guess, or from zero; the watch sees every iteration and may stop it. An error says why the problem cannot
    /// be stated (a singular M, say), or that the solver does not claim it.
    pub run: fn(&Problem, &Request, Option<&Solution>, &mut Watch) -> Solved,
}

impl Entry {
    /// Whether it takes problems of this type with sets like these.
    pub fn claims(&self, problem: &Problem) -> bool {
        self.families.contains(&problem.family()) && problem.blocks().0.iter().all(self.sets)
    }
}

/// The settings that a request asks for: budget, tolerance and, where the solver knows several, the measure. Friction solvers are
/// left open to a stricter tolerance.
macro_rules! settings {
    (friction, $ask:ident, $solver:ident { $budget:ident $(, $field:ident: $value:expr)* }) => {
        |tolerance| {
            let plain = $solver::default();
            let $budget = $ask.max_iterations.unwrap_or(plain.$budget);
            $solver { tolerance, measure: $ask.measure, $budget, $($field: $value,)* ..plain }
        }
    };
    (complementarity, $ask:ident, $solver:ident { $budget:ident $(, $field:ident: $value:expr)* }) => {{
        let plain = $solver::default();
        $solver { tolerance: $ask.tolerance, $budget: $ask.max_iterations.unwrap_or(plain.$budget), $($field: $value,)* ..plain }
    }};
    (global, $ask:ident, $solver:ident { $budget:ident $(, $field:ident: $value:expr)* }) => {{
        let plain = $solver::default();
        let $budget = $ask.max_iterations.unwrap_or(plain.$budget);
        $solver { tolerance: $ask.tolerance, measure: $ask.measure, $budget, $($field: $value,)* ..plain }
    }};
}

/// An entry: name, use, and for some families each the room, the settings and the field of their budget.
macro_rules! entry {
    ($name:literal, $about:literal, $([$($family:ident),+] => $room:ident $solver:ident $settings:tt),+) => {
        Entry {
            name: $name,
            about: $about,
            families: &[$($(Family::$family),+),+],
            sets: |_| true,
            run: |p, ask, guess, watch| match p {
                $($(Problem::$family(_))|+ => $room(p, ask, guess, watch, settings!($room, ask, $solver $settings)),)+
                #[allow(unreachable_patterns, reason = "some solvers take every family")]
                _ => Err(unclaimed(p)),
            },
        }
    };
}

/// Every solver; the first that claims a problem is its default.
#[allow(clippy::needless_update, reason = "some solvers have no settings beyond those of the request")]
pub fn all() -> &'static [Entry] {
    &[
        entry!(
            "auto",
            "the default: chooses, escalates as far as each method makes progress, keeps the best answer and says why it ended",
            [Local] => friction Auto { max_rounds },
            [Global] => global GlobalAuto { max_rounds },
            [Lcp, Mlcp, Relay] => complementarity Pivoting { max_bases }
        ),
        entry!(
            "nsgs",
            "accelerated Gauss–Seidel, contact by contact: many contacts, moderate accuracy",
            [Local, Global] => friction Nsgs { max_sweeps }
        ),
        entry!(
            "proximal",
            "proximal point around semismooth Newton: high accuracy, stuck and hyperstatic piles",
            [Local, Global] => friction ProximalPoint { max_outer }
        ),
        entry!(
            "admm",
            "splitting with one factorisation, accelerated: hyperstatic problems that Newton cycles on",
            [Local, Global] => friction Admm { max_iterations }
        ),
        entry!(
            "body_admm",
            "splitting with the velocities as unknowns: redundant contacts cost little",
            [Global] => global BodyAdmm { max_iterations }
        ),
        entry!(
            "body_newton",
            "proximal Newton with the velocities as unknowns: stuck piles with more contacts than velocities",
            [Global] => global BodyNewton { max_iterations }
        ),
        entry!(
            "newton_fb",
            "semismooth Newton on Fischer and Burmeister's function: few contacts, complementarity with regular solutions",
            [Local, Global] => friction SemismoothNewton { max_iterations, function: Function::FischerBurmeister },
            [Lcp, Mlcp, Relay] => complementarity Newton { max_iterations, function: NewtonFunction::FischerBurmeister }
        ),
        entry!(
            "newton_ac",
            "semismooth Newton on Alart and Curnier's function: few contacts, high accuracy",
            [Local, Global] => friction SemismoothNewton { max_iterations, function: Function::AlartCurnier }
        ),
        entry!(
            "newton_min",
            "semismooth Newton on the minimum: finite near a regular solution",
            [Lcp, Mlcp, Relay] => complementarity Newton { max_iterations, function: NewtonFunction::Minimum }
        ),
        Entry {
            sets: |set| !matches!(set, AdmissibleSet::Interval { .. } | AdmissibleSet::Rolling { .. }),
            ..entry!(
                "interior_point",
                "predictor–corrector on the central path: few iterations of one factorisation each, M or W positive semidefinite",
                [Local, Global] => friction InteriorPoint { max_iterations },
                [Lcp, Mlcp, Relay] => complementarity CentralPath { max_iterations }
            )
        },
        entry!(
            "vi_fixed_point",
            "projection with adaptive steps: no factorisation, no contact solver",
            [Local, Global] => friction FixedPoint { max_iterations }
        ),
        entry!(
            "vi_extragradient",
            "two projections a step: monotone problems where one projection cycles",
            [Local, Global] => friction ExtraGradient { max_iterations }
        ),
        entry!(
            "hyperplane",
            "projection on separating hyperplanes: slow, for comparison",
            [Local, Global] => friction HyperplaneProjection { max_iterations }
        ),
        entry!("de_saxce", "fixed point on the De Saxcé shift", [Local, Global] => friction DeSaxceFixedPoint { max_outer }),
        entry!("tresca", "fixed point on the friction bound, a convex problem each", [Local, Global] => friction TrescaFixedPoint { max_outer }),
        entry!("aclm", "fixed point on the shift, a second-order cone problem each", [Local, Global] => friction AclmFixedPoint { max_outer }),
        entry!(
            "lemke",
            "complementary pivoting along a path: P0, copositive-plus and most other matrices",
            [Lcp, Mlcp, Relay] => complementarity Lemke { max_pivots }
        ),
        entry!(
            "murty",
            "principal pivoting: P-matrices, in a few factorisations",
            [Lcp, Mlcp, Relay] => complementarity Murty { max_iterations }
        ),
        entry!(
            "enumeration",
            "every basis: very small problems of any class, and proofs that there is no solution",
            [Lcp, Mlcp, Relay] => complementarity Enumeration { max_bases }
        ),
        entry!(
            "pgs",
            "projected Gauss–Seidel: symmetric positive definite and H-matrices, low accuracy",
            [Lcp, Relay] => complementarity Pgs { max_sweeps }
        ),
        entry!(
            "psor",
            "projected relaxation with ω = 1.3: symmetric positive definite matrices of high condition",
            [Lcp, Relay] => complementarity Pgs { max_sweeps, relaxation: 1.3 }
        ),
        entry!(
            "block",
            "Gauss–Seidel over blocks of four unknowns, each pivoted: diagonally dominant by blocks",
            [Lcp, Relay] => complementarity BlockGaussSeidel { max_sweeps }
        ),
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
        Some(s) => {
            let v = if s.v.len() == v { s.v.clone() } else { vec![0.0; v] };
            Solution { r: s.r.clone(), u: vec![0.0; u], v, ..Solution::default() }
        }
    }
}

/// Times a solver is asked again, more strictly, where the error of the reduced problem is met and the global one, over smaller
/// terms, is not.
const ASKED_AGAIN: usize = 3;

/// A [`LocalSolver`], which solves global problems after reduction.
fn friction<S: LocalSolver>(
    problem: &Problem,
    ask: &Request,
    guess: Option<&Solution>,
    watch: &mut Watch,
    solver: impl Fn(f64) -> S,
) -> Solved {
    let mut s = start(problem, guess);
    let p = match problem {
        Problem::Local(p) => {
            let report = solver(ask.tolerance).solve_watched(p, &mut s.r, &mut s.u, watch);
            return Ok(proved(problem, s, report, watch));
        }
        Problem::Global(p) => p,
        _ => return Err(unclaimed(problem)),
    };
    let mut tolerance = ask.tolerance;
    let mut report = Report::default();
    for round in 0..=ASKED_AGAIN {
        let found = Reduced(solver(tolerance)).solve_watched(p, &mut s.r, &mut s.v, &mut s.u, watch)?;
        let (iterations, factorisations) = (report.iterations + found.iterations, report.factorisations + found.factorisations);
        report = Report { iterations, factorisations, ..found };
        let error = ask.error(&report);
        if !report.converged() || error <= ask.tolerance {
            break;
        }
        if round == ASKED_AGAIN {
            report.status = Status::Stalled;
        }
        tolerance *= 0.5 * ask.tolerance / error;
    }
    Ok(proved(problem, s, report, watch))
}

/// A [`GlobalSolver`].
fn global<S: GlobalSolver>(problem: &Problem, _: &Request, guess: Option<&Solution>, watch: &mut Watch, solver: S) -> Solved {
    let mut s = start(problem, guess);
    let Problem::Global(p) = problem else { return Err(unclaimed(problem)) };
    let report = solver.solve_watched(p, &mut s.r, &mut s.v, &mut s.u, watch)?;
    Ok(proved(problem, s, report, watch))
}

/// Unknowns up to which a sparse M is made dense at once, and those up to which that is tried where sparse methods fail.
const SMALL_DENSE: usize = 300;
const AFFORDABLE_DENSE: usize = 3000;

/// A [`ComplementaritySolver`]; it stops on `rel`, so another measure may be left unmet.
fn complementarity<S: ComplementaritySolver>(p: &Problem, ask: &Request, guess: Option<&Solution>, watch: &mut Watch, solver: S) -> Solved {
    let mut s = start(p, guess);
    let n = p.sizes()[0];
    // a sparse M stays so as far as that leads
    let blocks = if n > SMALL_DENSE && solver.exhaustive() { p.as_blocks() } else { None };
    if let (Some(local), true) = (&blocks, n <= LARGEST_DENSE) {
        let solver = Auto { tolerance: ask.tolerance, measure: ask.measure, max_rounds: 1, ..Auto::default() };
        let mut stopped = false;
        let report = solver.solve_watched(local, &mut s.r, &mut s.u, &mut |progress| {
            stopped |= !watch(progress);
            !stopped
        });
        if report.converged() || stopped || n > AFFORDABLE_DENSE {
            return Ok((s, report));
        }
        s = start(p, guess);
    }
    if n > LARGEST_DENSE {
        let local = blocks.ok_or_else(|| ProblemError::OutOfRange {
            what: "the number of unknowns".into(),
            found: n as f64,
            needed: "10000 at most, since this solver holds M densely (`auto` takes more where M is square and sparse)",
        })?;
        let solver = Auto { tolerance: ask.tolerance, measure: ask.measure, ..Auto::default() };
        let report = solver.solve_watched(&local, &mut s.r, &mut s.u, watch);
        return Ok((s, report));
    }
    let Some(statement) = p.complementarity() else { return Err(unclaimed(p)) };
    let mut report = solver.solve_with(statement, &mut s.r, &mut s.u, &mut Workspace::default(), &mut |progress| {
        watch(progress) && ask.max_iterations.is_none_or(|most| progress.iteration < most)
    });
    if report.converged() && ask.error(&report) > ask.tolerance {
        report.status = Status::Stalled;
    }
    Ok(proved(p, s, report, watch))
}

/// An answer that is none, with the proof that there is no other where one is found; `Inconsistent` without certificate: every
/// possibility was tried.
fn proved(p: &Problem, mut s: Solution, mut report: Report, watch: &mut Watch) -> (Solution, Report) {
    let mut go_on = |_: Progress| watch(Progress { iteration: report.iterations, error: report.rel });
    if matches!(report.status, Status::Stalled | Status::Inconsistent)
        && let Some(proof) = p.infeasibility_watched(&mut go_on)
    {
        report.status = Status::Inconsistent;
        s.certificate = proof.multipliers;
    }
    (s, report)
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
