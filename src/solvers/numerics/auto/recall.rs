//! Steps of a structure at rest whose loads lie between those of equilibria that are kept.
//!
//! The combination is judged like any answer: its velocities and its error are recomputed, and where they miss, the step is solved as if nothing
//! were kept. So what is kept can cost time, but not correctness.

use super::equilibria::{self, Found};
use super::rest::left_and_taken;
use super::{Auto, CHEAP, ENOUGH, REST_PENALTY, Workspace};
use crate::numerics::mixed::{Answer, MixedProblem, Twist};
use crate::numerics::newton::{self, ProximalNewton};
use crate::numerics::residual::certify;
use crate::numerics::{Method, Report, Status};
use glam::DVec3;

/// Part of what reactions take away that bodies may keep in an equilibrium that is kept, as it holds them in a thousand steps.
const STILL: f64 = 1e-10;
/// The same in a step that is held by what is kept. Reactions do not follow their bodies, so what creeps grows tenfold in a dozen steps, and
/// the sooner it is stopped the less that takes: 2.1 factorisations a step at 1e-8, 0.7 at 1e-9, 0.6 at 1e-10 (1200 blocks, 400 steps, with
/// up to six in use).
const QUIET: f64 = 3e-10;
/// The same where nothing is gained by solving again.
const FINE: f64 = 3e-12;
/// Error to which equilibria are solved: where nothing moves, an interior point loses no digits.
const EXACT: f64 = 1e-14;
/// What a guess that is near may gain of its error, the least error that rounding lets be, and the factorisations it is worth.
const FINER: f64 = 1e-5;
const ROUNDING: f64 = 1e-15;
const NEAR: usize = 6;

/// What the equilibria that are kept do for a step.
pub(super) enum Recalled {
    /// They hold its loads.
    Solved(Report),
    /// It is still to be solved; what was spent in looking further.
    Open(Report),
}

impl Auto {
    /// Holds the loads of a step by equilibria that are kept, where they lie between theirs; where they lie beyond, after one further out.
    pub(super) fn recall(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Recalled {
        let mut effort = Report::default();
        if work.memory.equilibria.is_empty() || !equilibria::loads(p, &mut work.loads) {
            return Recalled::Open(effort);
        }
        let mut found = work.memory.equilibria.find(p, &work.loads);
        let goes = found == Found::Beyond && self.holds(p, work) && work.memory.equilibria.goes_further();
        if goes {
            effort = self.further(p, work);
            found = work.memory.equilibria.find(p, &work.loads);
            // it has to hold a step to come
            work.memory.equilibria.judge(false);
        }
        if found != Found::Between {
            return Recalled::Open(effort);
        }
        work.guess.clone_from(&answer.reactions);
        if work.memory.equilibria.recall(p, &mut answer.reactions) {
            let mut own = certify(p, answer);
            let mut ended_by = Method::Equilibria;
            let (left, taken) = left_and_taken(p, answer, &mut work.rows, |_| true);
            if left > QUIET * QUIET * taken {
                effort = self.end_creep(p, answer, work).after(&effort);
                own = certify(p, answer);
                ended_by = Method::Rest;
            }
            if own.error() <= ENOUGH.min(self.tolerance) && (ended_by == Method::Equilibria || is_still(p, answer, STILL, &mut work.rows)) {
                work.memory.stops = 0;
                if !goes {
                    work.memory.equilibria.judge(true);
                }
                return Recalled::Solved(own.report(Report { status: Status::Converged, ended_by, ..effort }));
            }
        }
        answer.reactions.clone_from(&work.guess);
        work.memory.equilibria.forget();
        work.memory.equilibria.judge(false);
        Recalled::Open(effort)
    }

    /// Ends creeping, as bodies have moved by less than a nanometre since: the equilibria that hold the step are solved again, and the step
    /// from there.
    fn end_creep(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let mut effort = Report::default();
        for i in 0..work.memory.equilibria.count() {
            let Some(q) = work.memory.equilibria.of_use(i).and_then(|loads| under(p, loads)) else { continue };
            let mut own = Answer::for_problem(&q);
            work.memory.equilibria.take(i, p, &mut own.reactions);
            let report = self.hold(&q, &mut own, work);
            effort = report.after(&effort);
            if report.error() <= ENOUGH && is_still(&q, &own, STILL, &mut work.rows) {
                work.memory.equilibria.put(i, &q, &own.reactions.contacts);
            }
        }
        work.memory.equilibria.recall(p, &mut answer.reactions);
        self.hold(p, answer, work).after(&effort)
    }

    /// Whether equilibria of this problem are worth what they cost.
    fn holds(&self, p: &MixedProblem, work: &Workspace) -> bool {
        self.goes_to_newton(p) && work.polish_cost(p) <= CHEAP
    }

    /// Solves for loads beyond those of the step, and keeps what holds them.
    fn further(&self, p: &MixedProblem, work: &mut Workspace) -> Report {
        let mut loads = work.loads.clone();
        work.memory.equilibria.further(p, &mut loads);
        self.keep(p, &loads, work)
    }

    /// Keeps what holds the loads of a step that was solved at rest, where nothing is kept so far and loads do not stay as they are.
    pub(super) fn begin(&self, p: &MixedProblem, report: &Report, work: &mut Workspace) -> Report {
        let polished = report.factorisations > 0 && report.converged() && report.error() <= ENOUGH;
        let begins = polished && work.memory.equilibria.is_empty() && self.holds(p, work) && equilibria::loads(p, &mut work.loads);
        let equilibria = &mut work.memory.equilibria;
        if !begins || !equilibria.are_other(p, &work.loads) || !equilibria.goes_further() {
            return Report::default();
        }
        let loads = work.loads.clone();
        let report = self.keep(p, &loads, work);
        if work.memory.equilibria.is_empty() {
            work.memory.equilibria.judge(false);
        }
        report
    }

    /// Solves for these loads from rest, and keeps what holds them.
    fn keep(&self, p: &MixedProblem, loads: &[[DVec3; 2]], work: &mut Workspace) -> Report {
        let Some(q) = under(p, loads) else { return Report::default() };
        let mut own = Answer::for_problem(&q);
        let report = self.hold(&q, &mut own, work);
        if report.error() <= ENOUGH && is_still(&q, &own, STILL, &mut work.rows) {
            work.memory.equilibria.keep(&q, loads, &own.reactions.contacts);
        }
        report
    }

    /// What holds bodies at rest, as well as rounding lets it: from a guess that is near in one or two factorisations, else in about ten.
    fn hold(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let mut q = p.clone();
        q.lagged = vec![0.0; q.contacts.len()];
        let mut near = Report::default();
        let error = certify(&q, answer).error();
        if is_still(&q, answer, FINE, &mut work.rows) {
            return near;
        }
        if error <= ENOUGH {
            let tolerance = self.tolerance.min(ENOUGH);
            let overshoot = (FINER * error).clamp(ROUNDING, EXACT) / tolerance;
            let solver = ProximalNewton { tolerance, overshoot, max_iterations: NEAR, largest: REST_PENALTY, ..self.newton() };
            near = solver.solve(&q, answer, &mut work.newton);
            if is_still(&q, answer, STILL, &mut work.rows) {
                return near;
            }
        }
        newton::interior_point(&q, answer, &mut work.newton, EXACT).unwrap_or_default().after(&near)
    }
}

/// A problem under these loads from rest.
fn under(p: &MixedProblem, loads: &[[DVec3; 2]]) -> Option<MixedProblem> {
    let mut q = p.clone();
    q.free.rigid.iter_mut().zip(loads).for_each(|(v, f)| *v = Twist { linear: f[0], angular: f[1] });
    q.prepare().ok().map(|()| q)
}

/// Whether bodies keep no more than this part of what reactions take away.
fn is_still(p: &MixedProblem, answer: &Answer, part: f64, rows: &mut Vec<bool>) -> bool {
    let (left, taken) = left_and_taken(p, answer, rows, |_| true);
    left <= part * part * taken
}
