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
use super::nsgs::{Acceleration, Nsgs, Sweeper, beyond_measure};
use super::proximal::{Newton, ProximalPoint};
use super::{LocalProblem, LocalSolver};
use crate::numerics::{Measure, Progress, Report, Status, Watch};

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

/// Sweeps before anything else is thought of.
const FIRST: usize = 60;
/// Sweeps, in factorisations, that are tried before Newton.
const PATIENCE: f64 = 8.0;
/// Factorisations, in sweeps, from which on splitting goes before Newton.
const DEAR: f64 = 40.0;
/// Operations of a dense factorisation in the time of one of a sweep.
const DENSE_SPEED: f64 = 4.0;

impl LocalSolver for Auto {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let sweeper = Sweeper::new(p);
        let mut work = Work { report: Report::default(), stopped: false, watch };
        let sweeps = |max_sweeps| Nsgs {
            tolerance: self.tolerance,
            measure: self.measure,
            max_sweeps,
            acceleration: Acceleration::Anderson(10),
            ..Nsgs::default()
        };
        if work.add(|w| sweeps(FIRST).run(&sweeper, r, u, w)) {
            return work.report;
        }
        let mut newton = Newton::new(&sweeper);
        let cost = newton.cost(r) / (DENSE_SPEED * sweeper.cost());
        let affordable = newton.factor_len() <= self.max_factor;
        let patience = (PATIENCE * cost) as usize;
        if patience > FIRST && work.add(|w| sweeps(patience).run(&sweeper, r, u, w)) {
            return work.report;
        }
        let mut splitting = None;
        for round in 0..self.max_rounds {
            let (scale, alpha) = (1 << round, [1e-3, 1e-5, 1e-2][round % 3]);
            if affordable {
                for step in 0..2 {
                    let solved = if (cost > DEAR) == (step == 0) {
                        let split = splitting.get_or_insert_with(|| Splitting::new(&sweeper));
                        let admm = Admm {
                            tolerance: self.tolerance,
                            measure: self.measure,
                            max_iterations: 250 * scale,
                            rho: [0.1, 0.3, 0.03][round % 3],
                            ..Admm::default()
                        };
                        work.add(|w| admm.run(split, r, u, w))
                    } else {
                        let proximal = ProximalPoint {
                            tolerance: self.tolerance,
                            measure: self.measure,
                            max_factorisations: 50 * scale,
                            alpha,
                            ..ProximalPoint::default()
                        };
                        work.add(|w| proximal.run(&mut newton, r, u, w))
                    };
                    if solved {
                        return work.report;
                    }
                }
            }
            if work.add(|w| sweeps((2 * patience).max(200) * scale).run(&sweeper, r, u, w)) {
                return work.report;
            }
        }
        let error = self.measure.of(&sweeper.residual(r, u));
        work.report.status = if error <= self.tolerance {
            Status::Converged
        } else if beyond_measure(p, r, &sweeper.weights) {
            Status::Inconsistent
        } else {
            Status::Stalled
        };
        work.report
    }
}

/// The sum of what was spent, and the watch over it.
struct Work<'a, 'b> {
    report: Report,
    stopped: bool,
    watch: &'a mut Watch<'b>,
}

impl Work<'_, '_> {
    /// Runs a stage; true when nothing is left to do.
    fn add(&mut self, stage: impl FnOnce(&mut Watch) -> Report) -> bool {
        let (before, watch, stopped) = (self.report, &mut *self.watch, &mut self.stopped);
        let report = stage(&mut |look| {
            let go_on = watch(Progress { iteration: before.iterations + look.iteration, ..look });
            *stopped |= !go_on;
            go_on
        });
        self.report = Report {
            iterations: before.iterations + report.iterations,
            factorisations: before.factorisations + report.factorisations,
            ..report
        };
        report.converged() || report.status == Status::Inconsistent || self.stopped
    }
}
