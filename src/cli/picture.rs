//! `drystone picture`.

use super::progress::Progress;
use super::report::SCENE_OF_RUN;
use super::source::{Changes, check_length, instant, unbuilt};
use super::{DONE, Failure, NOT_FINITE, USAGE};
use crate::diagnostics::joints::{JointState, joints};
use crate::io::elevation::{Elevation, JointMark, JointView};
use crate::io::error::OutputError;
use crate::io::picture::{ColourBy, Picture};
use crate::io::scene::Scene;
use crate::io::scene::camera::Camera;
use crate::io::snapshot::{BodyView, Snapshot};
use crate::io::table::format_number;
use crate::io::view::Window;
use crate::scenes::{Built, build};
use glam::DVec3;
use std::path::{Path, PathBuf};

/// What colours tell.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Colour {
    /// The material of a body
    Material,
    /// Which body it is
    Body,
    /// How fast it moves
    Speed,
    /// Normal force of each joint, in an SVG
    Force,
    /// Mean stress of what presses on a body, the lightest for the fiftieth that bear most; in an SVG the largest stress at an edge of each joint
    Stress,
    /// How many bodies press on it
    Coordination,
}

impl Colour {
    /// Title of the colour bar of an elevation, and what a joint has of it.
    fn bar(self) -> Option<(&'static str, fn(&JointState) -> f64)> {
        match self {
            Self::Force => Some(("kN normal force", |state| 1e-3 * state.normal)),
            Self::Stress => Some(("MPa largest edge stress", |state| 1e-6 * state.edge_stress[1])),
            Self::Material | Self::Body | Self::Speed | Self::Coordination => None,
        }
    }
}

/// How bodies are looked at.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Look {
    /// Width and height in pixels, each from 16 to 16384, no more than 67 million pixels in all
    #[arg(long, allow_hyphen_values = true, value_name = "WIDTHxHEIGHT", default_value = "1280x800", value_parser = size)]
    size: [u32; 2],
    /// From the bodies to the eye, as x,y,z with z up, instead of what the scene's [camera] says
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true)]
    from: Option<DVec3>,
    /// What colours tell; a bar says which number each stands for
    #[arg(long, value_enum, default_value = "material")]
    colour: Colour,
    /// Draw the chains of force
    #[arg(long)]
    pub(super) forces: bool,
    /// Leave out the scale and the legend of forces of a PNG
    #[arg(long)]
    plain: bool,
}

impl Look {
    /// The usual view, with forces.
    #[cfg(feature = "lens")]
    pub(super) fn of_forces() -> Self {
        Self { size: Elevation::default().size, from: None, colour: Colour::Material, forces: true, plain: false }
    }

    /// What colours tell, with scales up to 1.
    pub(super) fn colours(&self) -> ColourBy {
        match self.colour {
            Colour::Material | Colour::Force => ColourBy::Material,
            Colour::Body => ColourBy::Body,
            Colour::Speed => ColourBy::Speed { top: 1.0 },
            Colour::Stress => ColourBy::Stress { top: 1.0 },
            Colour::Coordination => ColourBy::Coordination { top: 1.0 },
        }
    }

    /// Refuses what only elevations show.
    pub(super) fn is_of_pixels(&self, cure: &str) -> Result<(), Failure> {
        match self.colour {
            Colour::Force => Err(Failure::new(USAGE, format!("--colour: forces of joints are drawn in elevations; {cure}"))),
            _ => Ok(()),
        }
    }

    /// Whether contacts are needed.
    pub(super) fn shows_contacts(&self) -> bool {
        self.forces || matches!(self.colour, Colour::Stress | Colour::Coordination)
    }

    /// The picture in which the lightest colour has this value.
    pub(super) fn picture(&self, top: f64, camera: &Camera) -> Picture {
        let (default, colour) = (Picture::default(), self.colours().up_to(top.max(1e-9)));
        let direction = self.from.or(camera.from).unwrap_or(default.direction);
        Picture { size: self.size, direction, colour, forces: self.forces, frame: camera.frame, legend: !self.plain, ..default }
    }

    fn elevation(&self) -> Elevation {
        let direction = self.from.unwrap_or(Elevation::default().direction);
        Elevation { size: self.size, direction, forces: self.forces, bar: self.colour.bar().map(|bar| bar.0) }
    }
}

const HELP: &str = "\
An SVG is an elevation: blocks seen along straight lines (from -y, or --from), each joint in the
colour of its state, a dot where its resultant acts (--forces: and its direction and size), hinges
numbered. A resultant that acts outside of its joint, as mortar pulls, is not drawn. With --colour
force or stress joints have the colours of a bar instead.

Examples:
  drystone picture bead_stack --at 0.5 --out stack.png
  drystone picture bead_pour --at 0.4 --colour stress --out stress.png
  drystone picture arch --set thickness_ratio=0.10 --at 0.3 --out hinges.svg
  drystone picture block_dam --from 0,-1,0 --forces --out dam.svg
  drystone picture tower --colour stress --out stresses.svg";

/// Arguments of `drystone picture`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Name of a built-in scene, path of a scene file (with a separator or ending in .toml), or folder of a run, which is made again
    scene: String,
    #[command(flatten)]
    changes: Changes,
    /// The file to write: a PNG as a camera sees it, or an SVG as a draughtsman draws it
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    out: PathBuf,
    /// Instant in seconds, until the end of the scene; 0 is the start, without it the end
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = instant)]
    at: Option<f64>,
    #[command(flatten)]
    look: Look,
    /// Number of threads
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}

/// Of a picture: drawing takes 72 bytes for each.
const PIXELS: u32 = 8192 * 8192;

fn size(text: &str) -> Result<[u32; 2], String> {
    let parts = text.split_once('x').and_then(|(w, h)| Some([w.trim().parse::<u32>().ok()?, h.trim().parse::<u32>().ok()?]));
    parts.filter(|[w, h]| [w, h].iter().all(|n| (16..=16384).contains(*n)) && w * h <= PIXELS).ok_or_else(|| {
        "write WIDTHxHEIGHT, each from 16 to 16384 pixels, no more than 67 million pixels in all, such as 1280x800".to_owned()
    })
}

pub(super) fn direction(text: &str) -> Result<DVec3, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|x| x.trim().parse().ok()).collect();
    let found = numbers.and_then(|n| <[f64; 3]>::try_from(n).ok()).map(DVec3::from_array).filter(|d| d.is_finite() && *d != DVec3::ZERO);
    found.ok_or_else(|| "write three numbers, not all zero, such as 1,-2,0.8".to_owned())
}

pub(super) fn picture(arguments: &Arguments) -> Result<u8, Failure> {
    named(&arguments.out)?;
    match (is_drawing(&arguments.out), arguments.look.colour) {
        (true, Colour::Body | Colour::Speed | Colour::Coordination) => {
            let cure = "take force or stress, leave it out, or write a PNG";
            return Err(Failure::new(USAGE, format!("--colour: the colours of an SVG are those of the states of joints; {cure}")));
        }
        (false, _) => arguments.look.is_of_pixels("give --out a name that ends in .svg")?,
        _ => {}
    }
    let mut scene = arguments.changes.load_or_repeat(&arguments.scene)?;
    if let Some(at) = arguments.at {
        scene.time.end = instant_of(&scene, &arguments.scene, at)?;
    }
    check_length(&scene)?;
    let built = build(&scene).map_err(|error| unbuilt(Some(&arguments.scene), &error))?;
    draw(&scene, built, &arguments.look, &arguments.out, &[]).map(|()| DONE)
}

/// An instant of a scene: what comes after its end is asked for by mistake.
fn instant_of(scene: &Scene, asked: &str, at: f64) -> Result<f64, Failure> {
    let end = scene.time.end;
    if at > end + 0.5 * scene.time.step {
        let (at, end) = (format_number(at), format_number(end));
        // a run that is made again ends where its command says
        let longer = match Path::new(asked) {
            folder if folder.is_dir() && crate::scenes::find(asked).is_err() => {
                format!("take {} with --set time.end={at}", folder.join(SCENE_OF_RUN).display())
            }
            _ => format!("let it last longer with --set time.end={at}"),
        };
        let cure = format!("name an instant until then, or {longer}");
        return Err(Failure::new(USAGE, format!("--at {at}: {} ends at {end} s\n  {cure}", scene.name)));
    }
    Ok(at)
}

fn ends_in(out: &Path, end: &str) -> bool {
    out.extension().is_some_and(|e| e.eq_ignore_ascii_case(end))
}

fn is_drawing(out: &Path) -> bool {
    ends_in(out, "svg")
}

/// Refuses names of files that no picture has.
pub(super) fn named(out: &Path) -> Result<(), Failure> {
    if is_drawing(out) || ends_in(out, "png") {
        return Ok(());
    }
    let message = format!("{}: pictures are PNG or SVG; give a name that ends in .png or .svg", out.display());
    Err(Failure::new(USAGE, message))
}

/// Runs a scene to its end and writes the picture, or the elevation, of what is there then. Hinges of an elevation are numbered as these pairs
/// of bodies are, or, where there are none, in the order of the joints.
pub(super) fn draw(scene: &Scene, mut built: Built, look: &Look, out: &Path, numbers: &[[String; 2]]) -> Result<(), Failure> {
    let steps = (scene.time.end / scene.time.step).ceil() as u64;
    let mut progress = Progress::new(steps, 0);
    while built.simulation.time() < scene.time.end - 1e-9 * scene.time.step {
        let report = built.simulation.step().map_err(|error| Failure::new(NOT_FINITE, error))?;
        progress.step(&report);
    }
    progress.finish();
    let states = joints(&built.simulation, &built.entities, &built.starts);
    let mut window = Window::new(built.entities);
    let snapshot = window.look(&built.simulation);
    let written = if is_drawing(out) {
        let names: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
        let views = views(&states, &snapshot, &names, numbers, look.colour.bar().map(|bar| bar.1));
        look.elevation().write(out, &snapshot, &views)
    } else {
        look.picture(look.colours().largest(&snapshot), &scene.camera).write(out, &snapshot)
    };
    written.map_err(|error| at_fault(out, error))
}

/// Joints with what they do, the value of a colour bar, and the numbers of hinges.
pub(super) fn views(
    states: &[JointState],
    snapshot: &Snapshot<'_>,
    names: &[&str],
    numbers: &[[String; 2]],
    value: Option<fn(&JointState) -> f64>,
) -> Vec<JointView> {
    let mut views: Vec<JointView> = states.iter().map(|state| drawn(state, snapshot, value)).collect();
    let hinges = views.iter_mut().zip(states).filter(|(view, _)| view.mark == JointMark::Hinge);
    for (k, (view, state)) in hinges.enumerate() {
        let [a, b] = state.bodies.map(|k| names.get(k).copied().unwrap_or_default());
        let known = numbers.iter().position(|[one, two]| (one == a && two == b) || (one == b && two == a));
        view.number = if numbers.is_empty() { k + 1 } else { known.map_or(0, |k| k + 1) };
    }
    views
}

fn at_fault(out: &Path, error: OutputError) -> Failure {
    Failure::new(if out.is_dir() { USAGE } else { super::INPUT }, error)
}

/// A joint with what it does.
fn drawn(state: &JointState, snapshot: &Snapshot<'_>, value: Option<fn(&JointState) -> f64>) -> JointView {
    let size = state.bodies.iter().filter_map(|&k| snapshot.body(k as u32)).map(least_extent).fold(f64::INFINITY, f64::min);
    JointView {
        polygon: state.polygon.clone(),
        normal: state.normal_axis,
        point: state.acts_within.then_some(state.point),
        force: state.force,
        mark: state.mark(size),
        number: 0,
        value: value.map(|of| of(state)),
    }
}

/// Least extent of a body along the axes of its frame (m); infinite for a half-space.
fn least_extent(body: &BodyView) -> f64 {
    if body.shape == "half-space" {
        return f64::INFINITY;
    }
    let ends = body.surface.vertices.iter().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], x| [low.min(*x), high.max(*x)]);
    (ends[1] - ends[0]).min_element()
}
