//! The default strategy for local problems: sweeps, then Newton, then splitting, in growing budgets, keeping the best point.
//!
//! ```text
//! 1  NSGS + Anderson(10)        until the next Newton step is cheaper than what the sweeps still need
//!    ADMM                       a few iterations from the guess, where Newton is dear
//!    Newton                     from the guess; then as one that wanders (`newton`), by four functions in turn, a loose tolerance after
//!                               De Saxcé's fixed point, which has no factors
//! 2  proximal Newton            from the best point, as long as it pays; first where a factorisation is cheap
//!    from the guess too        proximal Newton, interior point
//! 3  ADMM + Anderson(5)         from the best point; first where it is dear (redundant, stuck piles)
//! 4  proof that there is no solution, plane friction as a complementarity (`plane`), else Newton from further starts: faceted cones,
//!    curves of proximal problems, drawn points
//! 5  descents of the gap between motion and reactions, with Newton from their points (`alternation`)
//! 6  again (2 to 4), with doubled budgets, other α and ρ, until the operations of all are spent; then once more 5
//! ```
//!
//! A loose tolerance has a way of its own through the first of these. What it does not reach is tried once more by that of a tight one.
//!
//! All decisions count operations, none reads a clock: the same problem takes the same path everywhere. The cost of a factorisation is
//! counted on the elimination tree of the active blocks before any number is eliminated.

use super::admm::{Admm, Splitting};
use super::alternation::{self, Search};
use super::attempts::Attempts;
use super::equations::Function;
use super::fixed_point::{DE_SAXCE, FixedPoint};
use super::interior_point::InteriorPoint;
use super::newton::SemismoothNewton;
use super::nsgs::{Acceleration, Nsgs, Sweeper};
use super::proximal::{Newton, ProximalPoint};
use super::starts::{self, Starts};
use super::{LocalProblem, LocalSolver, plane};
use crate::numerics::acceptance::asked_again;
use crate::numerics::admissible::AdmissibleSet::{Coulomb, Free, NonNegative, SecondOrder};
use crate::numerics::{Measure, Progress, Report, Status, Watch};
use std::cell::Cell;

/// Settings of the default solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Auto {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of rounds; each round tries every method with twice the budget of the one before.
    pub max_rounds: usize,
    /// Numbers that the factors of a matrix may hold; beyond it only sweeps are left.
    pub max_factor: usize,
    /// Operations of the descents of the gap that come last.
    pub max_descents: f64,
    /// Splitting and Newton's method from the guess have failed in body space: they wait for their later turns.
    pub tried: bool,
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            measure: Measure::default(),
            max_rounds: 8,
            max_factor: 200_000_000,
            max_descents: DESCENTS.1,
            tried: false,
        }
    }
}

/// Sweeps before anything else is thought of.
const FIRST: usize = 60;
/// Further sweeps that the first may promise.
const FORESIGHT: usize = 2 * FIRST;
/// Error over the tolerance after the first sweeps from which they are worth as many again.
const CLOSE: f64 = 10.0;
/// Tolerances from here on count as loose: sweeps go on while they promise to get there soon, then splitting has its first try.
const LOOSE: f64 = 1e-6;
/// Part of that limit which stands for a tight one.
const TIGHT: f64 = 0.1;
/// Windows of the accelerated sweeps: a short one is cheaper and as good for a few digits.
const WINDOW: usize = 10;
const LOOSE_WINDOW: usize = 5;
const LOOSE_SPLITTING: usize = 150;
const LOOSE_RHO: f64 = 0.3;
/// Iterations of splitting before the many sweeps that go before a dear Newton method, and their ρ.
const FEW_SPLITTING: usize = 60;
const SPLITTING_RHO: f64 = 0.1;
/// Iterations of the first Newton method on all rows, and of those without progress; where it works it needs 8 to 20.
const FIRST_NEWTON: usize = 40;
const FIRST_PATIENCE: usize = 10;
/// First α of the proximal steps, in turn.
const ALPHAS: [f64; 3] = [1e-3, 1e-5, 1e-2];
/// Share of the error that a budget of proximal steps may leave for another to follow.
const GAIN: f64 = 0.2;
/// Proximal steps before Newton wanders: close to a solution they need no more.
const PROBE: usize = 12;
/// Factorisations of the proximal point from the guess.
const FROM_GUESS: usize = 200;
/// Outer steps of De Saxcé's fixed point before that where the tolerance is loose: for each sweep in the time of a factorisation, and their most.
const SHIFTS: (f64, f64) = (50.0, 2000.0);
/// Iterations of Newton where it wanders.
const WANDERING: usize = 3000;
/// How much more than what sweeps and splitting have found an answer may carry, and the friction from which that is asked: there contacts can press on
/// each other without any load, which hides every error that is measured in parts of the reactions.
const WEDGED: f64 = 100.0;
const ROUGH: f64 = 1.0;
/// Misfit, and so many tolerances, of answers that may carry anything: sweeps can stall far below a solution.
const RIGHT: f64 = 1e-5;
/// Part of a loose tolerance that Newton is asked for there where it wanders: it lands anywhere. At a solution an iteration or two more
/// come as close; where reactions are only large enough to hide the error they do not.
const CLOSER: f64 = 0.1;
/// Sweeps, in factorisations, that are tried before Newton.
const PATIENCE: f64 = 8.0;
/// Factorisations, in sweeps, from which on splitting goes before Newton.
const DEAR: f64 = 40.0;
/// Operations of all factorisations, over the steps of an attempt, that the first further starts may take.
const STARTS: f64 = 1e7;
/// Operations, in those of a sweep, after which a problem of up to `SMALL` rows is given up: a second or two. Larger ones have more, by
/// the square of their rows.
const EFFORT: f64 = 5e8;
const SMALL: f64 = 300.0;
/// Rows up to which it may end after the first round: steps of simulations try such problems again and again.
const PATIENT: usize = 150;
/// Operations of the descents of the gap, in the first round that has them and at the end: about a second, and ten.
pub(in crate::numerics) const DESCENTS: (f64, f64) = (4e9, 6e10);
/// Operations of a dense factorisation in the time of one of a sweep.
const DENSE_SPEED: f64 = 4.0;

impl LocalSolver for Auto {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let Some((unit_problem, unit)) = p.normalised() else { return self.either_way(p, r, u, watch) };
        let scales = p.scales();
        asked_again(self.tolerance, self.measure, |tolerance| {
            r.iter_mut().for_each(|r| *r *= unit);
            let report = Self { tolerance, ..*self }.either_way(&unit_problem, r, u, watch);
            r.iter_mut().for_each(|r| *r /= unit);
            p.velocity(r, u);
            report.with(&p.residual_at(r, u, &scales))
        })
    }
}

impl Auto {
    /// [`run`](Self::run), and where that stalls at a loose tolerance as at a tight one, which has searches that often pay.
    fn either_way(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let guess = r.to_vec();
        let report = self.run(p, r, u, watch);
        if report.status != Status::Stalled || self.tolerance < LOOSE {
            return report;
        }
        let (best, best_u) = (r.to_vec(), u.to_vec());
        r.copy_from_slice(&guess);
        let before = report.iterations;
        let again = &mut |look: Progress| watch(Progress { iteration: before + look.iteration, ..look });
        let second = Self { tolerance: TIGHT * LOOSE, ..*self }.run(p, r, u, again).after(&report);
        let [first_error, error] = [report, second].map(|report| self.measure.of(&report.errors()));
        if error <= self.tolerance {
            return Report { status: Status::Converged, ..second };
        }
        if second.status == Status::Inconsistent || error < first_error {
            return second;
        }
        r.copy_from_slice(&best);
        u.copy_from_slice(&best_u);
        Report { status: second.status, ..report.with_effort(&second) }
    }

    /// The strategy, on a problem whose numbers are near one.
    fn run(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let sweeper = Sweeper::new(p);
        let (mut work, guess) = (Attempts::new(self.measure, watch), r.to_vec());
        let loose = self.tolerance >= LOOSE;
        let window = if loose { LOOSE_WINDOW } else { WINDOW };
        let sweeps = |max_sweeps, foresight| Nsgs {
            tolerance: self.tolerance,
            measure: self.measure,
            max_sweeps,
            acceleration: Acceleration::Anderson(window),
            foresight,
            ..Nsgs::default()
        };
        let admm = |max_iterations, rho| Admm { tolerance: self.tolerance, measure: self.measure, max_iterations, rho, ..Admm::default() };
        let fischer = |max_iterations, restarts| SemismoothNewton {
            tolerance: self.tolerance,
            measure: self.measure,
            max_iterations,
            restarts,
            ..SemismoothNewton::default()
        };
        let proximal = |max_factorisations, alpha| ProximalPoint {
            tolerance: self.tolerance,
            measure: self.measure,
            max_factorisations,
            alpha,
            ..ProximalPoint::default()
        };
        let first = if loose { sweeps(5 * FIRST, 5 * FIRST / 2) } else { sweeps(FIRST, FORESIGHT) };
        if work.solve(None, r, u, |r, u, w| first.run(&sweeper, r, u, w)) {
            return work.report;
        }
        if !loose && work.error <= CLOSE * self.tolerance && work.solve(None, r, u, |r, u, w| first.run(&sweeper, r, u, w)) {
            return work.report;
        }
        let mut newton = Newton::new(&sweeper);
        let (cost_of_newton, numbers) = newton.cost(r);
        let cost = cost_of_newton / (DENSE_SPEED * sweeper.cost());
        let affordable = numbers <= self.max_factor;
        if !work.go_on() {
            work.report.status = Status::BudgetSpent;
            return work.report;
        }
        let mut splitting = None;
        let mut split = |max_iterations, rho, r: &mut [f64], u: &mut [f64], w: &mut Watch| {
            admm(max_iterations, rho).run(splitting.get_or_insert_with(|| Splitting::new(&sweeper)), r, u, w)
        };
        // splitting and Newton on all rows have their own way from the first guess, and are often worse off with the point of the sweeps
        if loose && affordable && !self.tried && work.solve(Some(&guess), r, u, |r, u, w| split(LOOSE_SPLITTING, LOOSE_RHO, r, u, w)) {
            return work.report;
        }
        let interior = InteriorPoint { tolerance: self.tolerance, measure: self.measure, ..InteriorPoint::default() };
        // without shift the central path leads to a solution, and from nothing
        let convex = p.sets.iter().all(|set| matches!(set, Free | NonNegative | SecondOrder { .. }));
        if convex && affordable && work.solve(Some(&guess), r, u, |r, u, w| interior.solve_watched(p, r, u, w)) {
            return work.report;
        }
        let patience = (PATIENCE * cost) as usize;
        // one factorisation is worth a try where Newton's many are dear
        let few = if loose || patience <= FIRST || !affordable { 0 } else { FEW_SPLITTING };
        if few > 0 && work.solve(Some(&guess), r, u, |r, u, w| split(few, SPLITTING_RHO, r, u, w)) {
            return work.report;
        }
        if patience > FIRST && work.solve(None, r, u, |r, u, w| sweeps(patience, 0).run(&sweeper, r, u, w)) {
            return work.report;
        }
        let newton_first = SemismoothNewton { patience: FIRST_PATIENCE, ..fischer(FIRST_NEWTON, 0) };
        let newton_pays = affordable && cost < DEAR && !self.tried;
        if newton_pays && work.solve(Some(&guess), r, u, |r, u, w| newton_first.solve_watched(p, r, u, w)) {
            return work.report;
        }
        let rough = p.sets.iter().any(|set| matches!(set, Coulomb { mu } if *mu > ROUGH));
        if rough {
            work.bound(WEDGED, (WEDGED * self.tolerance).min(RIGHT), p, r);
        }
        if affordable {
            loop {
                let before = work.error;
                if work.solve(None, r, u, |r, u, w| proximal(PROBE, ALPHAS[0]).run(&mut newton, r, u, w)) {
                    return work.report;
                }
                if work.error > GAIN * before {
                    break;
                }
            }
        }
        // products with W alone, where Newton's method would wander: a few digits are often theirs
        let max_outer = (SHIFTS.0 * cost).min(SHIFTS.1) as usize;
        let shifts = FixedPoint { tolerance: self.tolerance, measure: self.measure, max_outer, ..DE_SAXCE };
        if loose && !convex && work.solve(Some(&guess), r, u, |r, u, w| shifts.solve_watched(p, r, u, w)) {
            return work.report;
        }
        let before = work.report;
        let share = if rough && loose { CLOSER } else { 1.0 };
        let closer = SemismoothNewton { tolerance: share * self.tolerance, ..fischer(WANDERING, 4) };
        let wandering = closer.wandering(Function::AlartCurnier);
        if affordable && work.solve(Some(&guess), r, u, |r, u, w| wandering.solve_watched(p, r, u, w)) {
            return work.report;
        }
        // what sweeps have found is a bad start where units differ
        if affordable
            && (work.solve(Some(&guess), r, u, |r, u, w| proximal(FROM_GUESS, ALPHAS[0]).run(&mut newton, r, u, w))
                || !convex && work.solve(Some(&guess), r, u, |r, u, w| interior.solve_watched(p, r, u, w)))
        {
            return work.report;
        }
        // what a step of each method costs, and what the later rounds may still spend; the first is bounded by its own budgets
        let (sweep, newton_step) = (sweeper.cost(), cost_of_newton / DENSE_SPEED + 2.0 * sweeper.cost());
        let effort = EFFORT * (p.order() as f64 / SMALL).powi(2).max(1.0);
        let (mut paths, mut search) = (0, None);
        // what wanders and what descends has budgets of its own
        let spent = |before: &Report, now: &Report| (now.iterations - before.iterations, now.factorisations - before.factorisations);
        let apart = Cell::new(spent(&before, &work.report));
        let left = |report: &Report, paths: usize| {
            let (iterations, factorisations) = (report.iterations - apart.get().0, report.factorisations - apart.get().1);
            let steps = iterations as f64 * sweep + factorisations as f64 * newton_step;
            effort - steps - paths as f64 * starts::PATH / DENSE_SPEED
        };
        // on a dense problem the first round alone may spend all of it, and descents, which solve what Newton wanders on, begin in the second
        let dense = PATIENT < p.order() && p.order() <= alternation::LARGEST;
        let certain = if dense && !loose { 2 } else { 1 };
        for round in 0..self.max_rounds {
            if round >= certain && left(&work.report, paths) <= 0.0 {
                break;
            }
            let error = work.error;
            if round == 1 && work.aside(|w| p.infeasibility_watched(&mut |_| w(Progress { iteration: 0, error }))).is_some() {
                work.report.status = Status::Inconsistent;
                return work.report;
            }
            if work.stopped {
                work.report.status = Status::BudgetSpent;
                return work.report;
            }
            if round == 1
                && plane::applies_to(p)
                && work.solve(Some(&guess), r, u, |r, u, w| plane::solve(p, (self.tolerance, self.measure), r, u, w))
            {
                return work.report;
            }
            let scale = 1 << round;
            let within = |report: &Report, paths: usize, steps: usize, cost: f64| {
                if round == 0 { steps } else { steps.min((left(report, paths) / cost).max(0.0) as usize) }
            };
            if round >= 1 && affordable {
                let points = ((round as f64 * STARTS / cost_of_newton) as usize).clamp(3, 20 * round);
                let facets = if round <= 3 { 2 * round } else { 0 };
                // a loose tolerance is often met by less
                let curves = if loose && round == 1 { 0 } else { 4 };
                let starts = Starts { tolerance: self.tolerance, measure: self.measure, points, seed: 1000 * (round - 1), facets, curves };
                paths += facets;
                if work.solve(None, r, u, |r, u, w| starts.run(p, r, u, w)) {
                    return work.report;
                }
            }
            if round == 1 && !loose && affordable {
                let error = work.error;
                search = work.aside(|w| Search::new(p, 0, &mut || w(Progress { iteration: 0, error })));
                let before = work.report;
                if let Some(search) = &mut search
                    && work.solve(None, r, u, |r, u, w| search.run(self.tolerance, self.measure, DESCENTS.0, r, u, w))
                {
                    return work.report;
                }
                let (wandered, descended) = (apart.get(), spent(&before, &work.report));
                apart.set((wandered.0 + descended.0, wandered.1 + descended.1));
            }
            let (alpha, rho) = (ALPHAS[round % 3], [0.1, 0.3, 0.03][round % 3]);
            for step in 0..if affordable { 3 } else { 0 } {
                let solved = match (step, cost > DEAR) {
                    (0, true) | (1, false) => {
                        let steps = within(&work.report, paths, 250 * scale, sweep);
                        work.solve(None, r, u, |r, u, w| split(steps, rho, r, u, w))
                    }
                    (0, false) | (1, true) => loop {
                        let before = work.error;
                        let steps = within(&work.report, paths, 50 * scale, newton_step);
                        let over = work.solve(None, r, u, |r, u, w| proximal(steps, alpha).run(&mut newton, r, u, w));
                        if over || work.error > GAIN * before {
                            break over;
                        }
                    },
                    _ => {
                        let steps = within(&work.report, paths, 1000 * scale, newton_step);
                        work.solve(Some(&guess), r, u, |r, u, w| fischer(steps, 4).solve_watched(p, r, u, w))
                    }
                };
                if solved {
                    return work.report;
                }
            }
            let budget = within(&work.report, paths, (2 * patience).max(200) * scale, sweep);
            if work.solve(None, r, u, |r, u, w| sweeps(budget, 0).run(&sweeper, r, u, w)) {
                return work.report;
            }
        }
        if let Some(search) = &mut search
            && work.solve(None, r, u, |r, u, w| search.run(self.tolerance, self.measure, self.max_descents, r, u, w))
        {
            return work.report;
        }
        work.report.status = Status::Stalled;
        work.report
    }
}
