//! Progress on stderr, when somebody looks at it.

use super::tell;
use crate::simulation::StepReport;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between two looks at the figures.
const EVERY: Duration = Duration::from_millis(100);

/// A bar with time left, residual, contacts and penetration.
pub(super) struct Progress {
    bar: ProgressBar,
    last: Instant,
    worst: f64,
}

impl Progress {
    /// A bar over `steps` steps of which `done` are done.
    pub(super) fn new(steps: u64, done: u64) -> Self {
        let visible = std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar:.blue} {percent:>3} %  {eta} left  {msg}") {
            bar.set_style(style);
        }
        bar.set_position(done);
        bar.reset_eta();
        Self { bar, last: Instant::now(), worst: 0.0 }
    }

    /// A step has ended.
    pub(super) fn step(&mut self, report: &StepReport) {
        self.worst = self.worst.max(report.report.e_s);
        if self.bar.is_hidden() || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        self.bar.set_position(report.step);
        let (t, contacts, depth) = (report.time, report.contacts, report.penetration);
        self.bar.set_message(format!("t {t:.3} s  e_s {:.1e}  contacts {contacts}  penetration {depth:.1e} m", self.worst));
        self.worst = 0.0;
    }

    /// Says a line above the bar.
    pub(super) fn tell(&self, text: &str) {
        self.bar.suspend(|| tell(text));
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
