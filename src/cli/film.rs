//! `drystone film`.

use super::output::due;
use super::picture::Look;
use super::progress::Progress;
use super::source::{Changes, check_length, span, unbuilt};
use super::{DONE, Failure, NOT_FINITE, USAGE, tell};
use crate::io::picture::legend::digits;
use crate::io::picture::{Picture, bounds, strongest};
use crate::io::scene::camera::Camera;
use crate::io::snapshot::{BodyView, ContactView, Snapshot};
use crate::io::view::Window;
use crate::scenes::build;
use std::path::{Path, PathBuf};

/// Bodies in all frames together, beyond which memory would run short.
const MOST: usize = 20_000_000;

const EXAMPLES: &str = "\
Examples:
  drystone film bead_stack --every 0.02 --out film
  drystone film hopper --colour speed --every 0.04 --size 800x600 --out film
A program such as ffmpeg joins the frames: ffmpeg -framerate 25 -i film/frame_%05d.png film.mp4";

/// Arguments of `drystone film`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Name of a built-in scene, path of a scene file (with a separator or ending in .toml), or folder of a run, which is made again
    scene: String,
    #[command(flatten)]
    changes: Changes,
    /// Directory that receives frame_00000.png, frame_00001.png, …; those of a film before are removed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Time from one frame to the next in seconds
    #[arg(long, allow_hyphen_values = true, value_name = "T", default_value = "0.04", value_parser = span)]
    every: f64,
    /// End of the film in seconds instead of the scene's
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = span)]
    until: Option<f64>,
    #[command(flatten)]
    look: Look,
    /// Number of threads
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}

/// What a frame shows.
struct Frame {
    step: u64,
    time: f64,
    step_size: f64,
    bodies: Vec<BodyView>,
    contacts: Vec<ContactView>,
}

impl Frame {
    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { step: self.step, time: self.time, step_size: self.step_size, bodies: &self.bodies, contacts: &self.contacts }
    }
}

/// The frames of a run, every so often and at its start.
fn frames(arguments: &Arguments) -> Result<(Vec<Frame>, Camera), Failure> {
    let mut scene = arguments.changes.load_or_repeat(&arguments.scene)?;
    scene.time.end = arguments.until.unwrap_or(scene.time.end);
    check_length(&scene)?;
    let count = (scene.time.end / arguments.every) as usize + 1;
    if count.saturating_mul(scene.bodies.len()) > MOST {
        let message = format!("{count} frames of {} bodies; take a larger --every or an earlier --until", scene.bodies.len());
        return Err(Failure::new(USAGE, message));
    }
    let mut built = build(&scene).map_err(|error| unbuilt(Some(&arguments.scene), &error))?;
    let mut window = Window::new(built.entities);
    let mut take = |simulation: &crate::simulation::Simulation| {
        let Snapshot { step, time, step_size, bodies, contacts } = window.look(simulation);
        let contacts = if arguments.look.shows_contacts() { contacts.to_vec() } else { Vec::new() };
        Frame { step, time, step_size, bodies: bodies.to_vec(), contacts }
    };
    let mut found = vec![take(&built.simulation)];
    let mut progress = Progress::new((scene.time.end / scene.time.step).ceil() as u64, 0);
    while built.simulation.time() < scene.time.end - 1e-9 * scene.time.step {
        let report = built.simulation.step().map_err(|error| Failure::new(NOT_FINITE, error))?;
        progress.step(&report);
        if due(report.time, report.step_size, arguments.every) {
            found.push(take(&built.simulation));
        }
    }
    progress.finish();
    Ok((found, scene.camera))
}

/// Removes the frames of a film before, and no other files.
fn clear(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for file in std::fs::read_dir(directory)? {
        let path = file?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("frame_").and_then(|rest| rest.strip_suffix(".png"));
        if number.is_some_and(|n| n.len() >= 5 && n.bytes().all(|c| c.is_ascii_digit())) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// What so many frames until `end` (s) are, the largest value that their colours stand for among it.
fn told(count: usize, end: f64, every: f64, largest: Option<(&str, f64)>) -> String {
    let mean = end / (count.max(2) - 1) as f64;
    let (apart, why) = if mean > 1.5 * every { (mean, ", as steps are longer than --every") } else { (every, "") };
    let largest = largest.map_or(String::new(), |(name, top)| format!(", largest {name}: {}", digits(top)));
    match count {
        1 => format!("1 frame{largest}"),
        _ => format!("{count} frames, {} s apart{why}{largest}", digits(apart)),
    }
}

pub(super) fn film(arguments: &Arguments) -> Result<u8, Failure> {
    arguments.look.is_of_pixels("take stress or another colour, or draw one instant with `drystone picture --out FILE.svg`")?;
    let (frames, camera) = frames(arguments)?;
    // one box and one scale of colours for all; there may be nothing in a frame before an inlet opens, or once all has gone through an outlet
    let boxes = frames.iter().map(|f| bounds(&f.snapshot())).collect::<Vec<_>>();
    let frame = camera.frame.or(boxes.iter().flatten().copied().reduce(|[a, b], [low, high]| [a.min(low), b.max(high)]));
    if let (None, Some(Err(message))) = (frame, boxes.first()) {
        return Err(Failure::input(message.clone()));
    }
    let colours = arguments.look.colours();
    let top = frames.iter().map(|f| colours.largest(&f.snapshot())).fold(0.0, f64::max);
    // the film before is kept until there is another
    clear(&arguments.out).map_err(|e| Failure::input(format!("{}: cannot be prepared: {e}", arguments.out.display())))?;
    let strongest = Some(frames.iter().map(|f| strongest(&f.snapshot())).fold(0.0, f64::max)).filter(|f| *f > 0.0);
    let picture = Picture { frame, strongest, ..arguments.look.picture(top, &camera) };
    for (k, frame) in frames.iter().enumerate() {
        picture.write(&arguments.out.join(format!("frame_{k:05}.png")), &frame.snapshot()).map_err(Failure::input)?;
    }
    let end = frames.last().map_or(0.0, |frame| frame.time);
    let told = told(frames.len(), end, arguments.every, colours.scale().map(|(name, _)| (name, top)));
    tell(&format!("written: {told}, in {}", arguments.out.display()));
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn frames_are_as_far_apart_as_steps_allow_and_small_values_are_told() {
        assert_eq!(told(6, 0.21, 0.04, None), "6 frames, 0.04 s apart");
        assert_eq!(told(21, 20.0, 0.05, None), "21 frames, 1 s apart, as steps are longer than --every");
        assert_eq!(told(1, 0.01, 0.04, Some(("neighbours", 0.0))), "1 frame, largest neighbours: 0");
        assert_eq!(told(3, 4e-5, 2e-5, Some(("speed (m/s)", 2e-5))), "3 frames, 2.00e-5 s apart, largest speed (m/s): 2.00e-5");
    }
}
