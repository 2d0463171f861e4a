//! Progress on stderr, when somebody looks at it, and how long a long run will take.

use super::tell;
use crate::simulation::StepReport;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between two looks at the figures.
const EVERY: Duration = Duration::from_millis(100);

/// Steps after which a run says how long it will take, where that is longer than so many seconds.
const TRIED: u64 = 20;
const LONG: f64 = 10.0;

/// What there is to say about a run after some of its steps.
fn forecast(spent: Duration, done: u64, left: u64) -> Option<String> {
    let rest = spent.as_secs_f64() / done.max(1) as f64 * left as f64;
    let rest = Duration::try_from_secs_f64(rest).ok().filter(|_| rest > LONG)?;
    Some(format!("{left} steps to go: {} at the pace of the first {done} (steps with more contacts take longer)", HumanDuration(rest)))
}

/// A bar with time left, residual, contacts and penetration.
pub(super) struct Progress {
    bar: ProgressBar,
    last: Instant,
    start: Instant,
    done: u64,
    steps: u64,
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
        let now = Instant::now();
        Self { bar, last: now, start: now, done: 0, steps, worst: 0.0 }
    }

    /// A step has ended.
    pub(super) fn step(&mut self, report: &StepReport) {
        self.worst = self.worst.max(report.report.e_s);
        self.done += 1;
        if self.done == TRIED
            && let Some(text) = forecast(self.start.elapsed(), self.done, self.steps.saturating_sub(report.step))
        {
            self.bar.suspend(|| tell(&text));
        }
        if self.bar.is_hidden() || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        self.bar.set_position(report.step);
        let (t, contacts, depth) = (report.time, report.contacts, report.penetration);
        self.bar.set_message(format!("t {t:.3} s  e_s {:.1e}  contacts {contacts}  penetration {depth:.1e} m", self.worst));
        self.worst = 0.0;
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_runs_are_forecast() {
        assert_eq!(forecast(Duration::from_millis(20), 20, 9_000), None);
        let text = forecast(Duration::from_secs(2), 20, 72_000).expect("two hours");
        assert!(text.contains("72000 steps") && text.contains("2 hours"), "{text}");
        assert_eq!(forecast(Duration::from_secs(2), 20, 0), None);
    }
}
