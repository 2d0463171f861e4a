//! `drystone picture`.

use super::progress::Progress;
use super::source::{Changes, check_length, instant, use_threads};
use super::{DONE, Failure, NOT_FINITE, USAGE};
use crate::io::picture::{ColourBy, Picture};
use crate::io::snapshot::BodyView;
use crate::io::view::Window;
use crate::scenes::build;
use glam::DVec3;
use std::path::PathBuf;

/// What colours tell.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Colour {
    /// The material of a body
    Material,
    /// Which body it is
    Body,
    /// How fast it moves
    Speed,
}

/// How bodies are looked at.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Look {
    /// Width and height in pixels
    #[arg(long, allow_hyphen_values = true, value_name = "WIDTHxHEIGHT", default_value = "1280x800", value_parser = size)]
    size: [u32; 2],
    /// From the bodies to the eye, as x,y,z with z up
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true)]
    from: Option<DVec3>,
    /// What colours tell
    #[arg(long, value_enum, default_value = "material")]
    colour: Colour,
    /// Draw the chains of force
    #[arg(long)]
    pub(super) forces: bool,
}

impl Look {
    /// The picture of bodies the fastest of which has this speed (m/s).
    pub(super) fn picture(&self, fastest: f64) -> Picture {
        let colour = match self.colour {
            Colour::Material => ColourBy::Material,
            Colour::Body => ColourBy::Body,
            Colour::Speed => ColourBy::Speed { top: fastest.max(1e-9) },
        };
        let default = Picture::default();
        Picture { size: self.size, direction: self.from.unwrap_or(default.direction), colour, forces: self.forces, ..default }
    }
}

/// Largest speed of a dynamic body (m/s).
pub(super) fn fastest(bodies: &[BodyView]) -> f64 {
    bodies.iter().filter(|b| b.dynamic).map(|b| b.linear.length()).fold(0.0, f64::max)
}

/// Arguments of `drystone picture`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    scene: String,
    #[command(flatten)]
    changes: Changes,
    /// The PNG file to write
    #[arg(long, value_name = "FILE.png")]
    out: PathBuf,
    /// Instant in seconds; 0 is the start, without it the end of the scene
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = instant)]
    at: Option<f64>,
    #[command(flatten)]
    look: Look,
    /// Number of threads
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let parts = text.split_once('x').and_then(|(w, h)| Some([w.trim().parse().ok()?, h.trim().parse().ok()?]));
    parts.filter(|size| size.iter().all(|n| (16..=16384).contains(n))).ok_or_else(|| "write WIDTHxHEIGHT, such as 1280x800".to_owned())
}

pub(super) fn direction(text: &str) -> Result<DVec3, String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|x| x.trim().parse().ok()).collect();
    let found = <[f64; 3]>::try_from(numbers).map(DVec3::from_array).ok().filter(|d| d.is_finite() && *d != DVec3::ZERO);
    found.ok_or_else(|| "write three numbers, such as 1,-2,0.8".to_owned())
}

pub(super) fn picture(arguments: &Arguments) -> Result<u8, Failure> {
    if !arguments.out.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        let message = format!("--out {}: pictures are written as PNG; give a name that ends in .png", arguments.out.display());
        return Err(Failure::new(USAGE, message));
    }
    let mut scene = arguments.changes.load(&arguments.scene)?;
    scene.time.end = arguments.at.unwrap_or(scene.time.end);
    check_length(&scene)?;
    use_threads(arguments.threads.map(usize::from))?;
    let mut built = build(&scene).map_err(Failure::input)?;
    let steps = (scene.time.end / scene.time.step).ceil() as u64;
    let mut progress = Progress::new(steps, 0);
    while built.simulation.time() < scene.time.end - 1e-9 * scene.time.step {
        let report = built.simulation.step().map_err(|error| Failure::new(NOT_FINITE, error))?;
        progress.step(&report);
    }
    progress.finish();
    let mut window = Window::new(built.entities);
    let snapshot = window.look(&built.simulation);
    let picture = arguments.look.picture(fastest(snapshot.bodies));
    picture
        .write(&arguments.out, &snapshot)
        .map_err(|error| Failure::new(if arguments.out.is_dir() { USAGE } else { super::INPUT }, error))?;
    Ok(DONE)
}
