//! The default strategy: sweeps, and proximal Newton where sweeps stall.

use super::mixed::{Answer, MixedProblem};
use super::{Report, newton, newton::ProximalNewton, sweep, sweep::GaussSeidel};

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
    /// Stop when e_s is at most this.
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

/// Rough cost of a factorisation in sweeps: assembly, and the fill of a three-dimensional pile of n bodies, 36 n² entries.
fn newton_cost(p: &MixedProblem) -> f64 {
    let bodies = (p.rigid.len() + p.general.len()) as f64;
    let rows = (p.contacts.len() + p.blocks.len()).max(1) as f64;
    5.0 + 0.7 * bodies * bodies / rows
}

/// Buffers of both solvers.
///
/// ```
/// let workspace = drystone::numerics::auto::Workspace::default();
/// # let _ = workspace;
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    sweep: sweep::Workspace,
    newton: newton::Workspace,
}

impl Workspace {
    /// Sweeps so far that several threads shared ([`sweep::Workspace::parallel_sweeps`]).
    pub fn parallel_sweeps(&self) -> u64 {
        self.sweep.parallel_sweeps()
    }
}

impl Auto {
    /// Solves from the reactions in `answer`, with buffers of its own.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer) -> Report {
        self.solve_with(p, answer, &mut Workspace::default())
    }

    /// Solves from the reactions in `answer`.
    pub fn solve_with(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let rows = 3 * p.contacts.len() + p.block_b.len();
        let newton = rows <= self.max_newton_rows && self.max_newton > 0;
        let sweeps = |max_sweeps, foresight| GaussSeidel { tolerance: self.tolerance, max_sweeps, accelerate: self.accelerate, foresight };
        let worth = self.patience * newton_cost(p);
        let foresight = if newton { (2.0 * worth) as usize } else { 0 };
        let mut report = sweeps(self.max_sweeps, foresight).solve(p, answer, &mut work.sweep);
        if !newton || (report.converged() && report.iterations as f64 <= worth) {
            return report;
        }
        // after many sweeps too: a hard problem that is solved well leaves an easy one to the next step
        let solver =
            ProximalNewton { tolerance: self.tolerance, max_iterations: self.max_newton, overshoot: 1e-6, ..ProximalNewton::default() };
        let second = solver.solve(p, answer, &mut work.newton);
        report = Report { iterations: report.iterations, ..second };
        // where many contacts change between slip and stick Newton's shift stalls and acceleration can cycle: plain sweeps
        // first, then all that the budget allows
        for (accelerate, budget) in [(false, self.max_sweeps.min(PLAIN_SWEEPS)), (true, self.max_sweeps)] {
            if !report.converged() {
                let last = GaussSeidel { accelerate, ..sweeps(budget, 0) }.solve(p, answer, &mut work.sweep);
                report = Report { iterations: report.iterations + last.iterations, factorisations: report.factorisations, ..last };
            }
        }
        report
    }
}
