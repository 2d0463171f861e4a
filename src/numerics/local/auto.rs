//! The default strategy for local problems: sweeps, then Newton, then splitting, in growing budgets, keeping the best point.
//!
//! ```text
//! 1  NSGS + Anderson(10)        until the next Newton step is cheaper than what the sweeps still need
//! 2  proximal Newton            from the best point; first where a factorisation is cheap
//! 3  ADMM + Anderson(5)         from the best point; first where it is dear (redundant, stuck piles)
//! 4  again, with doubled budgets, other α and ρ
//! ```
//!
//! All decisions count operations, none reads a clock: the same problem takes the same path everywhere. The cost of a factorisation is
//! counted on the elimination tree of the active blocks before any number is eliminated.

use super::admm::{Admm, Splitting};
use super::newton::SemismoothNewton;
use super::nsgs::{Acceleration, Nsgs, Sweeper, beyond_measure};
use super::proximal::{Newton, ProximalPoint};
use super::{LocalProblem, LocalSolver};
use crate::numerics::{Measure, Progress, Report, Status, Watch, residual::Residual};

/// Settings of the default solver.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::local::{LocalProblem, LocalSolver, auto::Auto};
/// let w = BlockRows::from_dense(&[0, 3], &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
/// let p = LocalProblem::friction(w, vec![-1.0, 3.0, 4.0], &[0.5])?;
/// let (mut r, mut u) = ([0.0; 3], [0.0; 3]);
/// let report = Auto { tolerance: 1e-12, ..Auto::default() }.solve(&p, &mut r, &mut u);
/// assert!(report.converged() && (r[0] - 1.0).abs() < 1e-12);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of rounds; each round tries every method with twice the budget of the one before.
    pub max_rounds: usize,
    /// Numbers that the factors of a matrix may hold; beyond it only sweeps are left.
    pub max_factor: usize,
}

impl Default for Auto {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_rounds: 8, max_factor: 200_000_000 }
    }
}

/// Error over |q| that is no answer to a tight tolerance, however large r makes its own measure.
const NO_ANSWER: f64 = 0.1;
/// Sweeps before anything else is thought of.
const FIRST: usize = 60;
/// Tolerances from here on count as loose: sweeps go on while they promise to get there soon, then splitting has its first try.
const LOOSE: f64 = 1e-6;
/// Windows of the accelerated sweeps: a short one is cheaper and as good for a few digits.
const WINDOW: usize = 10;
const LOOSE_WINDOW: usize = 5;
const LOOSE_SPLITTING: usize = 450;
const LOOSE_RHO: f64 = 0.3;
/// Iterations of the first Newton method on all rows; where it works it needs 8 to 20.
const FIRST_NEWTON: usize = 40;
/// Sweeps, in factorisations, that are tried before Newton.
const PATIENCE: f64 = 8.0;
/// Factorisations, in sweeps, from which on splitting goes before Newton.
const DEAR: f64 = 40.0;
/// Operations of a dense factorisation in the time of one of a sweep.
const DENSE_SPEED: f64 = 4.0;

impl LocalSolver for Auto {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let sweeper = Sweeper::new(p);
        let mut work = Work::new(self.tolerance, self.measure, r, watch);
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
        let first = if loose { sweeps(5 * FIRST / 2, FIRST) } else { sweeps(FIRST, 0) };
        if work.stage(Start::Best, r, u, |r, u, w| first.run(&sweeper, r, u, w)) {
            return work.report;
        }
        let mut newton = Newton::new(&sweeper);
        let cost = newton.cost(r) / (DENSE_SPEED * sweeper.cost());
        let affordable = newton.factor_len() <= self.max_factor;
        let mut splitting = None;
        let mut split = |max_iterations, rho, r: &mut [f64], u: &mut [f64], w: &mut Watch| {
            admm(max_iterations, rho).run(splitting.get_or_insert_with(|| Splitting::new(&sweeper)), r, u, w)
        };
        // splitting and Newton on all rows have their own way from the first guess, and are often worse off with the point of the sweeps
        if loose && affordable && work.stage(Start::Guess, r, u, |r, u, w| split(LOOSE_SPLITTING, LOOSE_RHO, r, u, w)) {
            return work.report;
        }
        let patience = (PATIENCE * cost) as usize;
        if patience > FIRST && work.stage(Start::Best, r, u, |r, u, w| sweeps(patience, 0).run(&sweeper, r, u, w)) {
            return work.report;
        }
        if affordable && cost < DEAR && work.stage(Start::Guess, r, u, |r, u, w| fischer(FIRST_NEWTON, 0).solve_watched(p, r, u, w)) {
            return work.report;
        }
        for round in 0..self.max_rounds {
            let scale = 1 << round;
            let (alpha, rho) = ([1e-3, 1e-5, 1e-2][round % 3], [0.1, 0.3, 0.03][round % 3]);
            for step in 0..if affordable { 3 } else { 0 } {
                let solved = match (step, cost > DEAR) {
                    (0, true) | (1, false) => work.stage(Start::Best, r, u, |r, u, w| split(250 * scale, rho, r, u, w)),
                    (0, false) | (1, true) => {
                        work.stage(Start::Best, r, u, |r, u, w| proximal(50 * scale, alpha).run(&mut newton, r, u, w))
                    }
                    _ => work.stage(Start::Guess, r, u, |r, u, w| fischer(1000 * scale, 4).solve_watched(p, r, u, w)),
                };
                if solved {
                    return work.report;
                }
            }
            let budget = (2 * patience).max(200) * scale;
            if work.stage(Start::Best, r, u, |r, u, w| sweeps(budget, 0).run(&sweeper, r, u, w)) {
                return work.report;
            }
        }
        work.report.status = if beyond_measure(p, r, &sweeper.weights) { Status::Inconsistent } else { Status::Stalled };
        work.report
    }
}

/// Where a stage starts.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// From the best point so far.
    Best,
    /// From the caller's first guess.
    Guess,
}

/// The sum of what was spent, the best errors, and the watch over it all.
struct Work<'a, 'b> {
    tolerance: f64,
    report: Report,
    measure: Measure,
    error: f64,
    stopped: bool,
    guess: Vec<f64>,
    best: [Vec<f64>; 2],
    watch: &'a mut Watch<'b>,
}

impl<'a, 'b> Work<'a, 'b> {
    fn new(tolerance: f64, measure: Measure, r: &[f64], watch: &'a mut Watch<'b>) -> Self {
        let best = [Vec::new(), Vec::new()];
        Self { tolerance, report: Report::default(), measure, error: f64::INFINITY, stopped: false, guess: r.to_vec(), best, watch }
    }

    /// Runs a stage and keeps the better of its point and the best before; true when nothing is left to do.
    fn stage(
        &mut self,
        start: Start,
        r: &mut [f64],
        u: &mut [f64],
        solve: impl FnOnce(&mut [f64], &mut [f64], &mut Watch) -> Report,
    ) -> bool {
        let (before, watch, stopped) = (self.report, &mut *self.watch, &mut self.stopped);
        let [best_r, best_u] = &mut self.best;
        best_r.clear();
        best_r.extend_from_slice(r);
        best_u.clear();
        best_u.extend_from_slice(u);
        if start == Start::Guess {
            r.copy_from_slice(&self.guess);
        }
        let report = solve(r, u, &mut |look| {
            let go_on = watch(Progress { iteration: before.iterations + look.iteration, ..look });
            *stopped |= !go_on;
            go_on
        });
        let report = if report.converged() && report.rel_q > NO_ANSWER && self.tolerance < LOOSE {
            // r grows while its error against q stays: small against r alone
            Report { status: Status::Inconsistent, ..report }
        } else {
            report
        };
        let error = self.measure.of(&Residual { rel: report.rel, rel_q: report.rel_q, e_s: report.e_s, ..Residual::default() });
        let (iterations, factorisations) = (before.iterations + report.iterations, before.factorisations + report.factorisations);
        if error <= self.error {
            self.error = error;
            self.report = Report { iterations, factorisations, ..report };
        } else {
            r.copy_from_slice(best_r);
            u.copy_from_slice(best_u);
            self.report = Report { iterations, factorisations, status: report.status, ..before };
        }
        report.converged() || report.status == Status::Inconsistent || self.stopped
    }
}
