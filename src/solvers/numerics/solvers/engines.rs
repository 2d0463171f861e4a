//! How the solvers of each family are started: first guess, reduction, storage, and the proof where there is no solution.

use super::statement::Stated;
use super::{Answer, Settings, Solution};
use crate::numerics::complementarity::{ComplementaritySolver, Feasibility, LARGEST_DENSE, Workspace};
use crate::numerics::global::{GlobalProblem, GlobalSolver, Reduced};
use crate::numerics::local::{LocalProblem, LocalSolver, auto::Auto};
use crate::numerics::route::{RoutedProblem, Router};
use crate::numerics::{ProblemError, Progress, Report, Status, Watch};

type Solved = Result<Answer, ProblemError>;

/// The guess, or zeros.
pub(super) fn start(p: Stated, ask: &Settings) -> Solution {
    let zero = p.zero();
    match &ask.guess {
        None => zero,
        Some(s) => Solution { r: s.r.clone(), v: if s.v.is_empty() { zero.v } else { s.v.clone() }, u: zero.u },
    }
}

fn answer(solution: Solution, report: Report) -> Answer {
    Answer { solution, report, ..Answer::default() }
}

/// A [`LocalSolver`], which solves global problems after reduction.
pub(super) fn friction<S: LocalSolver>(problem: Stated, ask: &Settings, watch: &mut Watch, solver: impl Fn(f64) -> S) -> Solved {
    if let Stated::Local(p) = problem {
        let mut s = start(problem, ask);
        let report = solver(ask.tolerance).solve_watched(p, &mut s.r, &mut s.u, watch);
        return Ok(proved(problem, s, report, watch));
    }
    if let Stated::Global(p) = problem {
        reduces(p, ask)?;
    }
    global(problem, ask, watch, Reduced { tolerance: ask.tolerance, measure: ask.measure, solver })
}

/// A [`GlobalSolver`].
pub(super) fn global(problem: Stated, ask: &Settings, watch: &mut Watch, solver: impl GlobalSolver) -> Solved {
    let mut s = start(problem, ask);
    let Stated::Global(p) = problem else { return Err(unclaimed(problem)) };
    let report = solver.solve_watched(p, [&mut s.r, &mut s.v, &mut s.u], watch)?;
    Ok(proved(problem, s, report, watch))
}

/// Unknowns up to which a sparse M is made dense at once, and those up to which that is tried where sparse methods fail.
const SMALL_DENSE: usize = 300;
const AFFORDABLE_DENSE: usize = 3000;

/// A [`ComplementaritySolver`]; it stops on `rel`, so another measure may be left unmet.
pub(super) fn complementarity<S: ComplementaritySolver>(p: Stated, ask: &Settings, watch: &mut Watch, solver: S) -> Solved {
    let mut s = start(p, ask);
    let n = p.sizes()[0];
    // a sparse M stays so as far as that leads
    let mut blocks = if n > SMALL_DENSE && solver.exhaustive() { p.as_blocks() } else { None };
    if let Some(local) = blocks.take() {
        let (local, found) = narrow(local, ask, &mut s, watch);
        if let Some(report) = found {
            return Ok(answer(s, report));
        }
        (s, blocks) = (start(p, ask), Some(local));
    }
    if let (Some(local), true) = (&blocks, n <= LARGEST_DENSE) {
        let solver = Auto { tolerance: ask.tolerance, measure: ask.measure, max_rounds: 1, ..Auto::default() };
        let mut stopped = false;
        let report = solver.solve_watched(local, &mut s.r, &mut s.u, &mut |progress| {
            stopped |= !watch(progress);
            !stopped
        });
        if report.converged() || stopped || n > AFFORDABLE_DENSE {
            return Ok(answer(s, report));
        }
        s = start(p, ask);
    }
    if let (Some(local), true) = (&blocks, n > LARGEST_DENSE) {
        let solver = Auto { tolerance: ask.tolerance, measure: ask.measure, ..Auto::default() };
        let report = solver.solve_watched(local, &mut s.r, &mut s.u, watch);
        return Ok(answer(s, report));
    }
    may_be_dense(n, ask)?;
    let Some(statement) = p.complementarity() else { return Err(unclaimed(p)) };
    let mut workspace = Workspace::default();
    let mut report = solver.solve_with(statement, &mut s.r, &mut s.u, &mut workspace, &mut |progress| {
        watch(progress) && ask.max_iterations.is_none_or(|most| progress.iteration < most)
    });
    if report.converged() && ask.measure.of(&report.errors()) > ask.tolerance {
        report.status = Status::Stalled;
    }
    // what stays undecided in the units of the solver may be proved in those of the problem
    match workspace.decided().filter(|decided| statement.unknowns() == statement.rows() && !matches!(decided, Feasibility::Unknown)) {
        Some(decided) => {
            let proof = decided.proof().filter(|_| report.status == Status::Inconsistent);
            Ok(Answer { certificate: proof.map(|proof| p.stated_in_rows(proof).multipliers).unwrap_or_default(), ..answer(s, report) })
        }
        None => Ok(proved(p, s, report, watch)),
    }
}

/// Active sets where W is narrow; the problem, and the report on an answer within the tolerance.
fn narrow(p: LocalProblem, ask: &Settings, s: &mut Solution, watch: &mut Watch) -> (LocalProblem, Option<Report>) {
    let routed = RoutedProblem::from(p);
    let found = Router::default().search(&routed, &mut s.r, &mut s.u, watch);
    let p = routed.problem;
    let Some((iterations, factorisations)) = found else { return (p, None) };
    let errors = p.residual(&s.r, &mut s.u);
    let report = Report { iterations, factorisations, ..Report::default() }.with(&errors);
    (p, (ask.measure.of(&errors) <= ask.tolerance).then_some(report))
}

/// An answer that is none, with the proof that there is no other where one is found; `Inconsistent` without certificate: every
/// possibility was tried.
fn proved(p: Stated, s: Solution, mut report: Report, watch: &mut Watch) -> Answer {
    let mut certificate = Vec::new();
    let mut go_on = |_: Progress| watch(Progress { iteration: report.iterations, error: report.rel });
    if matches!(report.status, Status::Stalled | Status::Inconsistent)
        && let Some(proof) = p.infeasibility_watched(&mut go_on)
    {
        report.status = Status::Inconsistent;
        certificate = proof.multipliers;
    }
    Answer { certificate, ..answer(s, report) }
}

pub(super) fn unclaimed(p: Stated) -> ProblemError {
    ProblemError::Setting { what: "the solver".into(), cause: format!("does not take a problem of kind {}", p.kind().name()) }
}

/// Whether M may be dense.
fn may_be_dense(n: usize, ask: &Settings) -> Result<(), ProblemError> {
    ask.may_be_dense("M as a dense matrix", n, n)?;
    if n > LARGEST_DENSE {
        let needed = "10000 at most for this solver (`auto` takes more where M is square and sparse)";
        return Err(ProblemError::OutOfRange { what: "the order of M".into(), found: n as f64, needed });
    }
    Ok(())
}

/// Whether W of a global problem may be formed.
fn reduces(p: &GlobalProblem, ask: &Settings) -> Result<(), ProblemError> {
    let bytes = p.least_numbers_of_w().saturating_mul(8);
    if bytes <= ask.memory_limit {
        return Ok(());
    }
    let what = format!("W of {} rows that share bodies", p.w.len());
    Err(ProblemError::Memory { what, gigabytes: bytes as f64 / 1e9, limit: ask.memory_limit as f64 / 1e9 })
}
