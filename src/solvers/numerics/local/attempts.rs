//! What several solves of one problem have in common: the best point, what they have cost, and the watch over them all.

use crate::numerics::{Measure, Progress, Report, Status, Watch};

/// Attempts so far.
pub(super) struct Attempts<'a, 'b> {
    /// On the best point, with the effort of all.
    pub(super) report: Report,
    /// Of the best point; ∞ before there is one.
    pub(super) error: f64,
    /// The watch has said stop.
    pub(super) stopped: bool,
    measure: Measure,
    best: [Vec<f64>; 2],
    watch: &'a mut Watch<'b>,
}

impl<'a, 'b> Attempts<'a, 'b> {
    pub(super) fn new(measure: Measure, watch: &'a mut Watch<'b>) -> Self {
        let report = Report { status: Status::BudgetSpent, ..Report::default() };
        Self { report, error: f64::INFINITY, stopped: false, measure, best: Default::default(), watch }
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
        let report = self.aside(|watch| solve(r, u, watch));
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
