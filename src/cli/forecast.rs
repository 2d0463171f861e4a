//! What a run will take and write, said after its first steps.

use super::output::Output;
use crate::diagnostics::forecast::{DiskForecast, Effort, Expected, Forecast, StepCost, size};
use crate::geometry::systems::Proximity;
use crate::io::scene::model::{Scene, ShapeSpec};
use crate::simulation::{Simulation, StepReport};
use crate::topology::bodies::Bodies;
use indicatif::HumanDuration;
use std::time::{Duration, Instant};

/// Steps after which the forecast is made, and those of them that are not counted: the first ones fill buffers.
const TRIED: u64 = 20;
const WARM: u64 = 5;

/// What is worth saying: seconds left, bytes to come.
const LONG: f64 = 10.0;
const LARGE: f64 = 100e6;

/// A run that takes so many times what was foretold says so.
const WRONG: f64 = 2.0;

/// Looks at the steps of a run and tells what is left.
pub(super) struct Forecaster {
    end: f64,
    expected: Expected,
    more_to_come: bool,
    done: u64,
    since: Instant,
    writing: Duration,
    sum: Effort,
    lengths: f64,
    /// When the next look is due, the steps and the simulated time at the last one, and the end of the run as it was told.
    next: u64,
    last: (u64, f64),
    told: Option<Instant>,
    pub(super) forecast: Option<Forecast>,
}

impl Forecaster {
    pub(super) fn new(scene: &Scene) -> Self {
        let all = scene.dynamic_bodies().count();
        let balls = scene.dynamic_bodies().filter(|(_, body)| matches!(body.shape, ShapeSpec::Ball { .. })).count();
        Self {
            end: scene.time.end,
            expected: Expected::of(balls, all - balls),
            more_to_come: !scene.inlets.is_empty(),
            done: 0,
            since: Instant::now(),
            writing: Duration::ZERO,
            sum: Effort::default(),
            lengths: 0.0,
            next: 2 * TRIED,
            last: (0, 0.0),
            told: None,
            forecast: None,
        }
    }

    /// Time that went into files.
    pub(super) fn wrote(&mut self, spent: Duration) {
        self.writing += spent;
    }

    /// A step has ended, and what it writes is written: what there is to tell, if anything.
    pub(super) fn step(&mut self, report: &StepReport, simulation: &mut Simulation, output: Option<&Output>) -> Vec<String> {
        self.done += 1;
        match self.done {
            WARM => {
                simulation.time_phases(true);
                self.start(report);
            }
            done if done > WARM && done <= TRIED => {
                let world = simulation.world();
                self.sum.bodies += world.resource::<Bodies>().rows.iter().filter(|row| row.entity.is_some()).count() as f64;
                self.sum.pairs += world.resource::<Proximity>().pairs().len() as f64;
                self.sum.contacts += report.contacts as f64;
                self.sum.sweeps += (report.contacts * report.report.iterations) as f64;
                self.lengths += report.step_size;
                if done == TRIED {
                    let text = self.look(report, simulation, output);
                    simulation.time_phases(false);
                    self.start(report);
                    return text;
                }
            }
            done if done == self.next => {
                self.next *= 2;
                let text = self.again(report);
                self.start(report);
                return text.into_iter().collect();
            }
            _ => {}
        }
        Vec::new()
    }

    fn start(&mut self, report: &StepReport) {
        self.last = (self.done, report.time);
        (self.since, self.writing) = (Instant::now(), Duration::ZERO);
    }

    /// The forecast from the phases of the steps tried.
    fn look(&mut self, report: &StepReport, simulation: &Simulation, output: Option<&Output>) -> Vec<String> {
        let steps = (TRIED - WARM) as f64;
        let left = (self.end - report.time).max(0.0);
        let steps_left = (left / (self.lengths / steps)).round() as u64;
        // sweeps are those of a contact
        let sweeps = if self.sum.contacts > 0.0 { self.sum.sweeps / self.sum.contacts } else { 0.0 };
        let mean = Effort { bodies: self.sum.bodies / steps, pairs: self.sum.pairs / steps, contacts: self.sum.contacts / steps, sweeps };
        let phase = |names: &[&str]| {
            let spent: Duration = simulation.phase_times().iter().filter(|(name, _)| names.contains(name)).map(|(_, spent)| *spent).sum();
            spent.as_secs_f64() / steps
        };
        let pace = self.since.elapsed().saturating_sub(self.writing).as_secs_f64() / steps;
        let cost = StepCost::measured(&mean, pace, phase(&["BroadPhase", "NarrowPhase"]), phase(&["Solve"]));
        let mut forecast = Forecast::new(TRIED, steps_left, pace, mean, self.expected, cost);
        forecast.disk = output.map(|output| output.forecast(left, steps_left, report, &forecast));
        let mut text = Vec::new();
        if forecast.wall_s > LONG {
            text.push(time_text(&forecast, self.more_to_come));
        }
        if let (Some(disk), Some(output)) = (&forecast.disk, output) {
            if disk.bytes > LARGE || disk.lacks_room() {
                text.push(disk_text(disk));
            }
            text.extend(warning(disk, &output.directory().display().to_string()));
        }
        self.told = duration(forecast.wall_s).and_then(|left| Instant::now().checked_add(left));
        self.forecast = Some(forecast);
        text
    }

    /// The pace of the steps since the last look, where the run takes longer than was told.
    fn again(&mut self, report: &StepReport) -> Option<String> {
        let steps = self.done - self.last.0;
        let length = (report.time - self.last.1) / steps as f64;
        let steps_left = ((self.end - report.time).max(0.0) / length).round();
        let left = self.since.elapsed().as_secs_f64() / steps as f64 * steps_left;
        let told = self.told?.saturating_duration_since(Instant::now()).as_secs_f64();
        // less than was told may still become what was told
        if left < LONG || left < WRONG * told {
            return None;
        }
        self.told = duration(left).and_then(|left| Instant::now().checked_add(left));
        Some(format!("{steps_left:.0} steps to go: {} at the pace of the last {steps}", HumanDuration(duration(left)?)))
    }
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

fn human(seconds: f64) -> String {
    duration(seconds).map_or_else(|| "ages".to_owned(), |time| HumanDuration(time).to_string())
}

fn time_text(forecast: &Forecast, more_to_come: bool) -> String {
    let Forecast { after_steps, steps_left, wall_s, wall_at_pace_s, effort, effort_assumed, .. } = forecast;
    let mut text = format!("{steps_left} steps to go: {} at the pace of the first {after_steps}", human(*wall_at_pace_s));
    if forecast.assumes() {
        text += &format!(
            ", {} once bodies lie on each other ({:.0} contacts, now {:.0}, and {:.0} sweeps a step assumed)",
            human(*wall_s),
            effort_assumed.contacts,
            effort.contacts,
            effort_assumed.sweeps
        );
    }
    if more_to_come {
        text += "; bodies that inlets bring are not counted";
    }
    text
}

fn disk_text(disk: &DiskForecast) -> String {
    let frame = disk.frame_bytes_assumed.max(disk.frame_bytes);
    let frames = if disk.frames == 1 { "frame" } else { "frames" };
    format!("{} to write: {} {frames} of {}, {} of tables", size(disk.bytes), disk.frames, size(frame), size(disk.table_bytes))
}

fn warning(disk: &DiskForecast, directory: &str) -> Option<String> {
    let free = disk.free_bytes.filter(|_| disk.lacks_room())?;
    Some(format!(
        "warning: {directory}: {} to write, but the disk has {} left; write less often ([[recorders]] every), or to another disk (--out)",
        size(disk.bytes),
        size(free as f64)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pour_says_what_it_assumes_and_a_wall_its_pace() {
        let falling = Effort { bodies: 8000.0, ..Effort::default() };
        let cost = StepCost::measured(&falling, 0.01, 0.0, 0.0);
        let text = time_text(&Forecast::new(20, 72_000, 0.1, falling, Expected::of(8000, 0), cost), true);
        for word in ["72000 steps", "2 hours at the pace of the first 20", "24000 contacts, now 0", "20 sweeps", "inlets"] {
            assert!(text.contains(word), "{text}");
        }
        let wall = Effort { contacts: 1140.0, sweeps: 1.0, ..falling };
        let text = time_text(&Forecast::new(20, 72_000, 0.1, wall, Expected::of(0, 105), cost), false);
        assert_eq!(text, "72000 steps to go: 2 hours at the pace of the first 20");
    }

    #[test]
    fn a_disk_that_is_too_small_is_named_with_a_cure() {
        let disk = DiskForecast { bytes: 2.5e9, frames: 50, frame_bytes: 5e7, free_bytes: Some(1_200_000_000), ..DiskForecast::default() };
        let text = warning(&disk, "out").expect("too small");
        assert!(["out: 2.5 GB", "1.2 GB left", "every", "--out"].iter().all(|word| text.contains(word)), "{text}");
        assert_eq!(warning(&DiskForecast { free_bytes: Some(3_000_000_000), ..disk }, "out"), None);
        assert!(disk_text(&disk).contains("50 frames of 50 MB"));
    }
}
