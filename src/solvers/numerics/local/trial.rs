//! What every iteration over reactions has in common: errors, the best iterate, the certified end.

use super::{
    LocalProblem,
    nsgs::{beyond_measure, runaway},
};
use crate::numerics::acceptance::Scales;
use crate::numerics::{Measure, Progress, Report, Status, Watch, residual::Residual};

/// One run of a solver.
pub(super) struct Trial<'a> {
    pub(super) p: &'a LocalProblem,
    pub(super) weights: Vec<f64>,
    scales: Scales,
    tolerance: f64,
    measure: Measure,
    best: f64,
    best_r: Vec<f64>,
    /// the measure of the last look as it is defined, without the worst block: smooth, so what depends on an error takes this one
    pub(super) norm: f64,
    /// the error of the last look
    pub(super) latest: f64,
    /// iteration at which the present attempt began
    start: usize,
    /// least error of the present attempt
    least: f64,
    /// iteration and error from which on progress is counted
    mark: (usize, f64),
    /// iterations, and half of all, without a tenth less error after which a run stalls
    patience: usize,
}

impl<'a> Trial<'a> {
    /// Starts from `r`, which becomes 0 where it is not finite; sets `u`.
    pub(super) fn new(p: &'a LocalProblem, tolerance: f64, measure: Measure, patience: usize, r: &mut [f64], u: &mut [f64]) -> Self {
        if r.iter().any(|x| !x.is_finite()) {
            r.fill(0.0);
        }
        let scales = p.scales();
        let mut trial = Self {
            p,
            weights: scales.weights.clone(),
            scales,
            tolerance,
            measure,
            best: f64::INFINITY,
            best_r: r.to_vec(),
            norm: f64::INFINITY,
            latest: f64::INFINITY,
            start: 0,
            least: f64::INFINITY,
            mark: (0, f64::INFINITY),
            patience,
        };
        trial.velocity(r, u);
        trial.look(r, u);
        trial
    }

    /// `u = W r + q`
    pub(super) fn velocity(&self, r: &[f64], u: &mut [f64]) {
        self.p.velocity(r, u);
    }

    /// The error of `r`, whose velocity `u` is known; keeps the best.
    pub(super) fn look(&mut self, r: &[f64], u: &[f64]) -> f64 {
        let found = self.p.residual_at(r, u, &self.scales);
        let error = self.measure.of(&found);
        (self.norm, self.latest) = (self.measure.plain(&found), error);
        self.least = self.least.min(error);
        if error < self.best {
            self.best = error;
            self.best_r.copy_from_slice(r);
        }
        error
    }

    /// True at the tolerance.
    pub(super) fn done(&self) -> bool {
        self.best <= self.tolerance
    }

    /// Looks at iteration k; `Some` when the run is over.
    pub(super) fn over(&mut self, k: usize, r: &[f64], u: &[f64], watch: &mut Watch) -> Option<Status> {
        let error = self.look(r, u);
        if self.done() {
            return Some(Status::Converged);
        }
        if !watch(Progress { iteration: k, error }) {
            return Some(Status::BudgetSpent);
        }
        if !error.is_finite() {
            return Some(Status::Stalled);
        }
        if self.least < 0.9 * self.mark.1 {
            self.mark = (k, self.least);
        } else if k > self.mark.0 + self.patience.max((k - self.start) / 2) {
            return Some(Status::Stalled);
        }
        (k.is_multiple_of(100) && error > self.best && beyond_measure(self.p, r, &self.weights)).then(|| runaway(self.p))
    }

    /// From iteration k on, a new attempt with its own patience: progress is counted afresh, the best iterate is kept.
    pub(super) fn restart(&mut self, k: usize, patience: usize) {
        self.patience = patience;
        (self.start, self.least, self.mark) = (k, f64::INFINITY, (k, f64::INFINITY));
    }

    /// Puts the best iterate into `r` and certifies it.
    pub(super) fn finish(self, status: Status, iterations: usize, factorisations: usize, r: &mut [f64], u: &mut [f64]) -> Report {
        r.copy_from_slice(&self.best_r);
        self.velocity(r, u);
        let found: Residual = self.p.residual_at(r, u, &self.scales);
        let status = match status {
            _ if self.measure.of(&found) <= self.tolerance => Status::Converged,
            Status::Converged => Status::Stalled,
            other => other,
        };
        Report { status, iterations, factorisations, ..Report::default() }.with(&found)
    }
}
