//! Progress on stderr, when somebody looks at it.

use super::tell;
use crate::simulation::StepReport;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at the figures.
const EVERY: Duration = Duration::from_millis(100);
/// How long (s) a step goes on before it is told.
const LONG: u64 = 2;

/// A bar with time left, residual, contacts and penetration.
pub(super) struct Progress {
    bar: ProgressBar,
    last: Instant,
    worst: f64,
    /// When the step that runs began, in seconds since the bar was made.
    began: Arc<AtomicU64>,
    made: Instant,
}

impl Progress {
    /// A bar over `steps` steps of which `done` are done.
    pub(super) fn new(steps: u64, done: u64) -> Self {
        let visible = std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let (began, made) = (Arc::new(AtomicU64::new(0)), Instant::now());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar:.blue} {percent:>3} %  {left}  {msg}") {
            let since = Arc::clone(&began);
            bar.set_style(style.with_key("left", move |state: &ProgressState, text: &mut dyn Write| {
                let in_step = made.elapsed().as_secs().saturating_sub(since.load(Ordering::Relaxed));
                // a bar that cannot be written to has nobody to be told
                let _ = text.write_str(&left(state.pos() - done.min(state.pos()), state.pos(), state.eta(), in_step));
            }));
        }
        bar.set_position(done);
        bar.reset_eta();
        if visible {
            bar.enable_steady_tick(Duration::from_secs(1));
        }
        Self { bar, last: Instant::now(), worst: 0.0, began, made }
    }

    /// A step has ended.
    pub(super) fn step(&mut self, report: &StepReport) {
        self.worst = self.worst.max(report.report.e_s);
        self.began.store(self.made.elapsed().as_secs(), Ordering::Relaxed);
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

/// What stands beside the bar after `steps` steps of this run: the time left, and a step that goes on for long.
fn left(steps: u64, step: u64, eta: Duration, in_step: u64) -> String {
    match (steps, in_step) {
        (_, LONG..) => format!("step {} has taken {in_step} s", step + 1),
        (0, _) => "first step".to_owned(),
        _ => format!("{:#} left", HumanDuration(eta)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_goes_on_is_told_instead_of_a_time_that_nobody_knows() {
        assert_eq!(left(0, 0, Duration::ZERO, 1), "first step");
        assert_eq!(left(0, 400, Duration::ZERO, 31), "step 401 has taken 31 s");
        assert_eq!(left(5, 5, Duration::from_secs(80), 0), "80s left");
    }
}
