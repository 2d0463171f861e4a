//! The default strategy: sweeps over the whole problem, and island by island what they cannot do.
//!
//! ```text
//! sweeps                   cheapest while they converge
//! rest                     an island that was at rest before the step: the solution at rest, if there is one
//! polish                   once in a while, a pile at rest: the same convex problem, solved far beyond the tolerance
//! proximal Newton          where sweeps promise to stall
//! plain sweeps             where many contacts change between slip and stick
//! contradiction            no solution? then the least violation, proved and named
//! last resorts             the solvers of `global`; bodies that friction jams give way; the lagged law, a convex problem; all sweeps that the budget allows
//! ```

use super::feasibility::{contradiction, jam, runs_away};
use super::global::{GlobalSolver, auto::GlobalAuto};
use super::islands::islands;
use super::mixed::{Answer, IMMOBILE, MixedProblem, Reactions, Twist};
use super::residual::{Residual, certify, residual};
use super::{Measure, Report, Status, newton, newton::ProximalNewton, sweep, sweep::GaussSeidel};
use glam::DVec3;

/// Settings of the default solver.
///
/// Sweeps are cheapest while they converge; on a stuck, hyperstatic pile their rate tends to one, and then the whole
/// problem is solved at once in body space, from the best point of the sweeps.
///
/// ```
/// use drystone::numerics::{auto::Auto, mixed::*};
/// let report = Auto::default().solve(&MixedProblem::default(), &mut Answer::default());
/// assert!(report.converged());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// Stop when the error, [`Residual::error`](super::residual::Residual::error), is at most this.
    pub tolerance: f64,
    /// Budget of sweeps, also of the last resort after Newton.
    pub max_sweeps: usize,
    /// Budget of factorisations.
    pub max_newton: usize,
    /// Problems with more contacts and block rows than this never go to Newton (its fill grows faster than linearly).
    pub max_newton_rows: usize,
    /// Newton takes over when sweeps promise to need more than twice this many times the cost of a factorisation, and polishes
    /// an answer that took them more than this.
    pub patience: f64,
    /// Conjugate acceleration of the sweeps.
    pub accelerate: bool,
}

impl Default for Auto {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 100_000, max_newton: 100, max_newton_rows: 60_000, patience: 2.5, accelerate: true }
    }
}

/// Sweeps without acceleration before the last resort.
const PLAIN_SWEEPS: usize = 3000;
/// Times the lagged law is solved with shifts that shrink.
const LAGGED_ROUNDS: usize = 3;
/// How much more than the best answer it may miss Coulomb's law by: it is the solution of a law, the other a solver's leftover.
const LAGGED_PRICE: f64 = 10.0;
/// Misfit of the lagged law from which bodies may be jammed: those that are driven together miss by more.
const JAMMED: f64 = 1e-3;
/// Error of Coulomb's law that is admitted in any case, as at a loose tolerance.
const ADMITTED: f64 = 1e-3;
/// Misfit of Coulomb's law that moves nothing: a tenth of what is admitted at a tolerance of 1e-3.
const HARMLESS: f64 = 1e-4;
/// Iterations that a solver of [`super::global`] may take.
const LIBRARY_ITERATIONS: usize = 2000;
/// Largest number of rows that is handed to the solvers of [`super::global`].
const GLOBAL_ROWS: usize = 450;
/// Parts of the tolerance that those are asked for, one after the other.
const LIBRARY: [f64; 3] = [0.1, 1e-3, 1e-6];
/// Cost of a factorisation, in sweeps, up to which a pile at rest is polished at once, and not only where that has been saved up.
const CHEAP: f64 = 60.0;
/// Factorisations that may then be spent without success before they have to be saved up.
const BANK: f64 = 60.0;
/// Share of the effort of steps at rest that may go into polishing them.
const POLISH_SHARE: f64 = 0.1;
/// Cost of a step beside its sweeps, in sweeps.
const STEP_COST: f64 = 20.0;
/// Factorisations that polishing needs at least.
const POLISH_START: f64 = 3.0;
/// Factorisations of the method of multipliers for a pile at rest, before an interior point is tried.
const REST_ITERATIONS: usize = 40;
/// Error of a point at rest, in parts of the tolerance, from which Newton goes on.
const NEAR: f64 = 10.0;
/// Sweeps of a step that calm a pile at rest.
const CALM_SWEEPS: usize = 5;
/// Error within which a pile at rest is polished enough.
const ENOUGH: f64 = 1e-7;
/// Part of the tolerance that polishing aims at.
const POLISHED: f64 = 1e-6;
/// Error that is rounding: more effort would not make it smaller.
const ROUNDING: f64 = 1e-13;
/// What a relaxed constraint gives way beyond the least that it must, so that reactions stay bounded.
const MARGIN: f64 = 1.01;

/// Rough cost of a factorisation in sweeps: assembly, and the fill of a three-dimensional pile of n bodies, 36 n² entries.
fn newton_cost(p: &MixedProblem) -> f64 {
    let bodies = (p.rigid.len() + p.general.len()) as f64;
    let rows = (p.contacts.len() + p.blocks.len()).max(1) as f64;
    5.0 + 0.7 * bodies * bodies / rows
}

/// Buffers of all solvers, and what is left of the effort for polishing.
///
/// ```
/// let workspace = drystone::numerics::auto::Workspace::default();
/// assert_eq!(workspace.credit, None);
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    /// Sweeps' worth of effort that polishing may spend; part of the state of a simulation. None before the first pile at rest.
    pub credit: Option<f64>,
    sweep: sweep::Workspace,
    newton: newton::Workspace,
    kept: Reactions,
    /// which bodies have rows
    rows: Vec<bool>,
}

impl Workspace {
    /// Takes the price of a solve from the credit.
    fn pay(&mut self, report: &Report, p: &MixedProblem) {
        if let Some(credit) = &mut self.credit {
            *credit -= report.factorisations as f64 * newton_cost(p);
        }
    }

    /// A pile that is solved well makes the next steps cheap: the next one that needs it is polished at once.
    fn refill(&mut self, p: &MixedProblem) {
        let cost = newton_cost(p);
        if let Some(credit) = self.credit.as_mut().filter(|_| cost <= CHEAP) {
            *credit = credit.max(BANK * cost);
        }
    }

    /// Sweeps so far that several threads shared ([`sweep::Workspace::parallel_sweeps`]).
    pub fn parallel_sweeps(&self) -> u64 {
        self.sweep.parallel_sweeps()
    }
}

/// Why an island is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Task {
    /// Sweeps missed the tolerance or took long.
    Solve,
    /// The answer is good enough, but leaves a pile at rest creeping.
    Polish,
    /// Bodies that were at rest begin to move.
    Rest,
    /// The answer leaves a pile at rest creeping, and polishing is too dear for now.
    Calm,
}

impl Auto {
    /// Solves from the reactions in `answer`, with buffers of its own.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer) -> Report {
        self.solve_with(p, answer, &mut Workspace::default())
    }

    /// Solves from the reactions in `answer`.
    pub fn solve_with(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        answer.slack.clear();
        let report = self.sweeps(p, self.max_sweeps).solve(p, answer, &mut work.sweep);
        let Some(task) = self.task(p, answer, &report, work) else { return report };
        if task == Task::Calm {
            return self.calm(p, answer, report, work);
        }
        let parts = islands(p);
        if let [only] = &parts[..]
            && only.rigid.len() == p.rigid.len()
        {
            let own = self.island(task, p, answer, work);
            return Report { iterations: report.iterations + own.iterations, ..own };
        }
        let (mut iterations, mut factorisations, mut status) = (0.0, 0, Status::Converged);
        for part in &parts {
            if task == Task::Rest && !part.rigid.iter().all(|&i| p.resting.get(i as usize) == Some(&true)) {
                continue;
            }
            let Some((q, mut own)) = part.extract(p, answer) else {
                status = Status::Stalled;
                continue;
            };
            let r = self.island(task, &q, &mut own, work);
            // in sweeps over the whole
            iterations += r.iterations as f64 * (part.contacts.len() + part.blocks.len()) as f64;
            factorisations += r.factorisations;
            status = worse(status, r.status);
            part.insert(p, &own, answer);
        }
        let iterations = report.iterations + (iterations / (p.contacts.len() + p.blocks.len()).max(1) as f64).ceil() as usize;
        let found = certify(p, answer);
        let report = found.report(Report { status, iterations, factorisations, ..Report::default() });
        if status == Status::Converged && found.error() > self.tolerance {
            // each island within the tolerance leaves e_s of the whole within √2 of it
            return self.sweeps(p, self.max_sweeps).solve(p, answer, &mut work.sweep).after(&report);
        }
        report
    }

    fn sweeps(&self, p: &MixedProblem, max_sweeps: usize) -> GaussSeidel {
        let foresight = if self.goes_to_newton(p) { (2.0 * self.patience * newton_cost(p)) as usize } else { 0 };
        GaussSeidel { tolerance: self.tolerance, max_sweeps, accelerate: self.accelerate, foresight }
    }

    fn goes_to_newton(&self, p: &MixedProblem) -> bool {
        3 * p.contacts.len() + p.block_b.len() <= self.max_newton_rows && self.max_newton > 0
    }

    /// What is left to do after the sweeps.
    fn task(&self, p: &MixedProblem, answer: &Answer, report: &Report, work: &mut Workspace) -> Option<Task> {
        if !self.goes_to_newton(p) || p.contacts.is_empty() && p.blocks.is_empty() {
            return None;
        }
        let cost = newton_cost(p);
        if !report.converged() || report.iterations as f64 > self.patience * cost {
            return Some(Task::Solve);
        }
        let polish = report.error() > ENOUGH && at_rest(p, answer, &mut work.rows);
        if !(polish || begins_to_move(p, answer, &mut work.rows)) {
            return None;
        }
        let start = POLISH_START * cost;
        let credit = work.credit.get_or_insert(if cost <= CHEAP { BANK * cost } else { 0.0 });
        *credit = credit.max((*credit + POLISH_SHARE * (STEP_COST + report.iterations as f64)).min(start));
        if *credit >= start {
            return Some(if polish { Task::Polish } else { Task::Rest });
        }
        polish.then_some(Task::Calm)
    }

    /// Improves the answer of one island.
    fn island(&self, task: Task, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let found = residual(p, answer, &answer.velocities);
        let mut report = found.report(Report::default());
        if found.error() > self.tolerance {
            report.status = Status::Stalled;
        }
        let starts = p.resting.len() == p.rigid.len() && p.resting.iter().all(|&r| r) && begins_to_move(p, answer, &mut work.rows);
        if starts || task != Task::Solve && at_rest(p, answer, &mut work.rows) {
            let before = answer.clone();
            let rest = self.rest(p, answer, work);
            report.factorisations += rest.factorisations;
            let better = if starts { !begins_to_move(p, answer, &mut work.rows) } else { rest.error() < found.error() };
            if rest.converged() && better {
                report = rest;
                if rest.error() <= ENOUGH {
                    work.refill(p);
                    return report;
                }
                if starts {
                    return report;
                }
                // some of it slips: from here the shift is small
                let whole = self.newton().solve(p, answer, &mut work.newton);
                work.pay(&whole, p);
                if whole.error() <= ENOUGH {
                    work.refill(p);
                }
                return whole.after(&rest);
            }
            // a point at rest that is not yet good enough is a better start than one that moves
            if starts && better && rest.error() <= NEAR * self.tolerance && at_rest(p, answer, &mut work.rows) {
                report = Report { status: Status::Stalled, ..rest };
            } else {
                answer.clone_from(&before);
            }
        }
        if report.converged() && task != Task::Solve {
            return report;
        }
        report = self.newton().solve(p, answer, &mut work.newton).after(&report);
        if report.converged() {
            return report;
        }
        if report.error() <= ROUNDING {
            return report; // asked for more than numbers can hold
        }
        if !p.lagged.is_empty() {
            let mut own = answer.clone();
            if let Some(convex) = newton::convex(p, &mut own, &mut work.newton, self.tolerance).filter(Report::converged) {
                answer.clone_from(&own);
                return convex.after(&report);
            }
        }
        // where many contacts change between slip and stick Newton's shift stalls and acceleration can cycle
        let plain = GaussSeidel { accelerate: false, foresight: PLAIN_SWEEPS, ..self.sweeps(p, self.max_sweeps.min(PLAIN_SWEEPS)) };
        let before = answer.clone();
        let next = plain.solve(p, answer, &mut work.sweep).after(&report);
        if next.converged() {
            return next;
        }
        if next.error() < report.error() {
            report = next;
        } else {
            report = report.with_effort(&next);
            answer.clone_from(&before);
        }
        let lagged = self.lagged(p, answer, &mut report, work);
        let harmless = lagged.as_ref().is_some_and(|(_, found)| found.misfit <= HARMLESS);
        let solvable = harmless || self.has_a_solution(p, &mut report, work);
        if !solvable && let Some(slack) = contradiction(p, answer, self.tolerance, &mut work.newton) {
            return self.relaxed(p, answer, slack, None, work).after(&report);
        }
        if p.lagged.is_empty()
            && let Some(next) = self.by_library(p, answer, &mut report)
        {
            return next;
        }
        let jammed = !solvable && lagged.as_ref().is_none_or(|(_, found)| found.misfit > JAMMED);
        let mut soft = if !jammed { None } else { jam(p, self.tolerance, &mut work.newton) };
        if let Some((jam, slack)) = soft.as_mut().and_then(|jam| jam.slack.take().map(|slack| (jam, slack))) {
            return self.relaxed(p, answer, slack, Some(&jam.soft), work).after(&report);
        }
        if let Some((own, found)) = lagged {
            answer.clone_from(&own);
            let status = if found.error() <= self.tolerance { Status::Converged } else { Status::Lagged };
            return found.report(Report { status, ..report });
        }
        let before = answer.clone();
        let next = GaussSeidel { foresight: 0, ..self.sweeps(p, self.max_sweeps) }.solve(p, answer, &mut work.sweep).after(&report);
        if next.converged() {
            return next;
        }
        if next.error() < report.error() {
            report = next;
        } else {
            report = report.with_effort(&next);
            answer.clone_from(&before);
        }
        if let Some(jam) = soft.filter(|_| runs_away(p, answer)) {
            answer.reactions.clone_from(&jam.soft.reactions);
        }
        certify(p, answer).report(report)
    }

    /// The convex problem without De Saxcé's shift: by the method of multipliers from the answer at hand, and where that spends its budget by
    /// an interior point, which does not depend on a start.
    fn rest(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let solver = ProximalNewton { convex: true, max_iterations: REST_ITERATIONS, ..self.newton() };
        let first = solver.solve(p, answer, &mut work.newton);
        work.pay(&first, p);
        let unsettled = first.error() > ENOUGH && first.factorisations >= REST_ITERATIONS;
        // what moves even so was struck
        if !unsettled || !p.lagged.is_empty() || !at_rest(p, answer, &mut work.rows) {
            return first;
        }
        let mut q = p.clone();
        q.lagged = vec![0.0; p.contacts.len()];
        let mut own = answer.clone();
        let Some(convex) = newton::convex(&q, &mut own, &mut work.newton, ENOUGH) else { return first };
        work.pay(&convex, p);
        let found = certify(p, &mut own);
        if found.error() >= first.error() {
            return first.with_effort(&convex.after(&first));
        }
        answer.clone_from(&own);
        let status = if found.error() <= self.tolerance { Status::Converged } else { Status::Stalled };
        found.report(Report { status, ..convex.after(&first) })
    }

    /// True where some velocities let every contact part as fast as friction asks, `u_n ≥ μ‖u_t‖`: then Coulomb's law has a solution
    /// (Acary, Cadoux, Lemaréchal, Malick 2011). Those of the convex problem without any shift, where that has a solution.
    fn has_a_solution(&self, p: &MixedProblem, effort: &mut Report, work: &mut Workspace) -> bool {
        let mut q = p.clone();
        q.lagged = vec![0.0; p.contacts.len()];
        let Some(found) = newton::feasible(&q, &mut Answer::for_problem(&q), &mut work.newton, self.tolerance) else { return false };
        *effort = effort.with_effort(&found.after(effort));
        found.converged()
    }

    /// The lagged law with the slip at hand as the known shift: convex, so that its solution is found for sure. Where that lets bodies
    /// approach, as they slip less than was taken, it is solved again with less. `None` where Coulomb's law is missed by much more than
    /// in `answer`, whose report takes the effort.
    fn lagged(&self, p: &MixedProblem, answer: &Answer, best: &mut Report, work: &mut Workspace) -> Option<(Answer, Residual)> {
        if !p.lagged.is_empty() {
            return None;
        }
        let mut q = p.clone();
        q.lagged = p.contacts.iter().map(|c| c.shift(p.contact_velocity(c, &answer.velocities.rigid))).collect();
        let mut own = answer.clone();
        let mut found: Option<(Answer, Residual)> = None;
        for _ in 0..LAGGED_ROUNDS {
            let convex = newton::convex(&q, &mut own, &mut work.newton, self.tolerance)?;
            *best = best.with_effort(&convex.after(best));
            if !convex.converged() {
                break;
            }
            let missed = certify(p, &mut own);
            if found.as_ref().is_some_and(|(_, before)| missed.error() >= before.error()) {
                break;
            }
            let enough = missed.misfit <= HARMLESS.max(self.tolerance);
            found = Some((own.clone(), missed));
            if enough {
                break;
            }
            for (s, c) in q.lagged.iter_mut().zip(&p.contacts) {
                *s = s.min(c.shift(p.contact_velocity(c, &own.velocities.rigid)));
            }
        }
        found.filter(|(_, missed)| missed.error() <= (LAGGED_PRICE * best.error()).max(ADMITTED))
    }

    /// A few more sweeps: over the steps they bring a pile to rest that errors of the tolerance would keep moving.
    fn calm(&self, p: &MixedProblem, answer: &mut Answer, report: Report, work: &mut Workspace) -> Report {
        work.kept.clone_from(&answer.reactions);
        let more = GaussSeidel { tolerance: ENOUGH, foresight: 0, ..self.sweeps(p, CALM_SWEEPS) };
        let calmer = more.solve(p, answer, &mut work.sweep).after(&report);
        if calmer.error() <= report.error() {
            return Report { status: Status::Converged, ..calmer };
        }
        answer.reactions.clone_from(&work.kept);
        certify(p, answer).report(report.with_effort(&calmer))
    }

    fn newton(&self) -> ProximalNewton {
        let (tolerance, max_iterations) = (self.tolerance, self.max_newton);
        ProximalNewton { tolerance, max_iterations, overshoot: POLISHED, ..ProximalNewton::default() }
    }

    /// The answer of least violation: every constraint gives way by its slack and a little more, so that reactions stay bounded.
    /// Where that cannot be solved either, `soft`.
    fn relaxed(&self, p: &MixedProblem, answer: &mut Answer, slack: Vec<f64>, soft: Option<&Answer>, work: &mut Workspace) -> Report {
        let mut q = p.clone();
        q.contacts.iter_mut().zip(&slack).for_each(|(c, s)| c.b.x += MARGIN * s);
        let mut report = Report { status: Status::Inconsistent, ..Report::default() };
        let mut own = Answer::for_problem(&q);
        if q.prepare().is_ok() {
            let first = self.sweeps(&q, self.max_sweeps.min(PLAIN_SWEEPS)).solve(&q, &mut own, &mut work.sweep);
            report = Report { status: Status::Inconsistent, ..first };
            if !first.converged() {
                let second = self.newton().solve(&q, &mut own, &mut work.newton);
                report = Report { status: Status::Inconsistent, ..second.after(&report) };
                if let Some(soft) = soft.filter(|_| !second.converged()) {
                    own.reactions.clone_from(&soft.reactions);
                }
            }
        }
        answer.reactions.clone_from(&own.reactions);
        answer.slack = slack;
        certify(p, answer).report(report)
    }

    /// The strategy for problems from files, on problems that are small enough, from zero: the point at hand is where the others got
    /// stuck. A report where it gets there; else `best` takes the effort, and the answer where it is better.
    fn by_library(&self, p: &MixedProblem, answer: &mut Answer, best: &mut Report) -> Option<Report> {
        if 3 * p.contacts.len() + p.block_b.len() > GLOBAL_ROWS {
            return None;
        }
        let g = p.matrices().problem();
        let before = answer.clone();
        let mut r = vec![0.0; 3 * p.contacts.len() + p.block_b.len()];
        let (mut v, mut u) = (vec![0.0; g.f.len()], vec![0.0; g.w.len()]);
        let split = 3 * p.contacts.len();
        let mut report = *best;
        for share in LIBRARY {
            // its error does not know the scales of the contacts
            let solver = GlobalAuto { tolerance: share * self.tolerance, measure: Measure::Es, ..GlobalAuto::default() };
            let own = solver.solve_watched(&g, &mut r, &mut v, &mut u, &mut |look| look.iteration < LIBRARY_ITERATIONS).ok()?;
            answer.reactions.contacts.iter_mut().zip(r[..split].chunks_exact(3)).for_each(|(a, r)| *a = DVec3::from_slice(r));
            answer.reactions.blocks.copy_from_slice(&r[split..]);
            let found = certify(p, answer);
            report = found.report(own.after(&report));
            if found.error() <= self.tolerance {
                return Some(Report { status: Status::Converged, ..report });
            }
            if !own.converged() {
                break;
            }
        }
        if report.error() < best.error() {
            *best = Report { status: best.status, ..report };
        } else {
            *best = best.with_effort(&report);
            answer.clone_from(&before);
        }
        None
    }
}

/// The status of a whole from those of its parts.
fn worse(a: Status, b: Status) -> Status {
    let rank = |s: Status| match s {
        Status::Converged => 0,
        Status::Lagged => 1,
        Status::BudgetSpent => 2,
        Status::Stalled => 3,
        Status::Inconsistent => 4,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// Part of the velocity that reactions take away which bodies at rest may keep.
const REST: f64 = 1e-3;

/// `(|v|², |v − v_free|²)` in the norm of the mean inertia of each rigid body that has rows.
fn left_and_taken(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>, counts: impl Fn(usize) -> bool) -> (f64, f64) {
    rows.clear();
    rows.resize(p.rigid.len(), false);
    let ends = p.contacts.iter().flat_map(|c| [c.body1, c.body2]).filter(|&b| b != IMMOBILE);
    ends.for_each(|b| rows[b as usize] = true);
    let (mut left, mut taken) = (0.0, 0.0);
    for (i, m) in p.rigid.iter().enumerate().filter(|(i, _)| rows[*i] && counts(*i)) {
        let weight = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        let (mass, inertia) = (weight(m.inverse_mass.max_element()), weight(m.inverse_inertia[..3].iter().copied().fold(0.0, f64::max)));
        let norm = |t: Twist| mass * t.linear.length_squared() + inertia * t.angular.length_squared();
        let (v, free) = (answer.velocities.rigid[i], p.free.rigid[i]);
        left += norm(v);
        taken += norm(Twist { linear: v.linear - free.linear, angular: v.angular - free.angular });
    }
    (left, taken)
}

/// True where bodies that were at rest move now, though reactions take most of their weight.
fn begins_to_move(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> bool {
    let (left, taken) = left_and_taken(p, answer, rows, |i| p.resting.get(i).copied().unwrap_or(false));
    left > REST * REST * taken && left <= taken
}

/// Part of the velocity that reactions take away which the errors of a solver leave in a pile at rest.
const AT_REST: f64 = 0.2;

/// True where reactions take away what there is but for the errors of a solver: a pile under its loads, not a flow.
fn at_rest(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> bool {
    let (left, taken) = left_and_taken(p, answer, rows, |_| true);
    left <= AT_REST * AT_REST * taken
}
