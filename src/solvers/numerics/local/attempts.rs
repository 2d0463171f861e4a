//! What several solves of one problem have in common: the best point, what they have cost, and the watch over them all.

use super::LocalProblem;
use crate::numerics::{Measure, Progress, Report, Status, Watch, residual::Residual};

/// Attempts so far.
pub(super) struct Attempts<'a, 'b> {
    /// On the best point, with the effort of all.
    pub(super) report: Report,
    /// Of the best point; ∞ before there is one.
    pub(super) error: f64,
    /// The watch has said stop.
    pub(super) stopped: bool,
    measure: Measure,
    bound: Option<Bound<'a>>,
    best: [Vec<f64>; 2],
    watch: &'a mut Watch<'b>,
}

/// What reactions may carry.
struct Bound<'a> {
    p: &'a LocalProblem,
    weights: Vec<f64>,
    most: f64,
    /// misfit of answers that may carry anything
    right: f64,
}

impl Bound<'_> {
    /// `|D^½ r|`
    fn carried(&self, r: &[f64]) -> f64 {
        let own = |(i, d): (usize, &f64)| d * r[self.p.w.range(i)].iter().map(|r| r * r).sum::<f64>();
        self.weights.iter().enumerate().map(own).sum::<f64>().sqrt()
    }
}

impl<'a, 'b> Attempts<'a, 'b> {
    pub(super) fn new(measure: Measure, watch: &'a mut Watch<'b>) -> Self {
        let report = Report { status: Status::BudgetSpent, ..Report::default() };
        Self { report, error: f64::INFINITY, stopped: false, measure, bound: None, best: Default::default(), watch }
    }

    /// From now on what carries so many times as much as these reactions is refused, unless no block misses its law by more than `right`.
    pub(super) fn bound(&mut self, factor: f64, right: f64, p: &'a LocalProblem, r: &[f64]) {
        let mut bound = Bound { p, weights: p.weights(), most: f64::INFINITY, right };
        bound.most = factor * bound.carried(r);
        self.bound = Some(bound);
    }

    /// Solves from `start`, or from the best point in `r`, and leaves the better of both there; true when nothing is left to do.
    pub(super) fn solve(
        &mut self,
        start: Option<&[f64]>,
        r: &mut [f64],
        u: &mut [f64],
        solve: impl FnOnce(&mut [f64], &mut [f64], &mut Watch) -> Report,
    ) -> bool {
        let before = self.report;
        let mut best = std::mem::take(&mut self.best);
        for (best, x) in best.iter_mut().zip([&*r, &*u]) {
            best.clear();
            best.extend_from_slice(x);
        }
        if let Some(start) = start {
            r.copy_from_slice(start);
        }
        let mut report = self.aside(|watch| solve(r, u, watch));
        if self.bound.as_ref().is_some_and(|bound| bound.carried(r) > bound.most && report.misfit > bound.right) {
            // a proof that there is none stands, whatever the point carries
            let status = if report.status == Status::Inconsistent { report.status } else { Status::Stalled };
            report = Report { status, ..report.with(&Residual::NOTHING) };
        }
        let error = self.measure.of(&report.errors());
        if error <= self.error {
            self.error = error;
            self.report = report.after(&before);
        } else {
            r.copy_from_slice(&best[0]);
            u.copy_from_slice(&best[1]);
            self.report = Report { status: report.status, ..before.with_effort(&report.after(&before)) };
        }
        self.best = best;
        report.converged() || report.status == Status::Inconsistent || self.stopped
    }

    /// Does something under the watch that makes no point.
    pub(super) fn aside<T>(&mut self, act: impl FnOnce(&mut Watch) -> T) -> T {
        let (before, watch, stopped) = (self.report.iterations, &mut *self.watch, &mut self.stopped);
        act(&mut |look| {
            *stopped |= !watch(Progress { iteration: before + look.iteration, ..look });
            !*stopped
        })
    }

    /// Asks the watch between two attempts.
    pub(super) fn go_on(&mut self) -> bool {
        let error = self.error;
        self.aside(|watch| watch(Progress { iteration: 0, error }))
    }
}
