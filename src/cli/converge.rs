//! `drystone converge`.

use super::source::{Changes, check_length, span, unbuilt};
use super::{DONE, Failure, NOT_FINITE, USAGE, say};
use crate::algebra::spatial::Pose;
use crate::diagnostics::convergence::{Study, study};
use crate::diagnostics::summary::Meter;
use crate::geometry::systems::Collider;
use crate::io::chart::{Line, Panel, write_chart};
use crate::io::scene::Scene;
use crate::io::scene::error::suggestion;
use crate::model::newton_euler::{BodyPose, Velocity};
use crate::scenes::{Built, build};
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use serde_json::Value;
use std::path::PathBuf;

/// Arguments of `drystone converge`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    scene: String,
    #[command(flatten)]
    changes: Changes,
    /// The figure to watch: a number of the summary (height_mean_m, energy.kinetic_J), or at the end body.NAME.WHAT or what a record could
    /// have (hinge.coordinate); `help` lists all
    #[arg(long, value_name = "NAME")]
    measure: String,
    /// How often the time step is halved
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=20))]
    halvings: u32,
    /// End of the runs in seconds instead of the scene's
    #[arg(long, value_name = "T", value_parser = span)]
    until: Option<f64>,
    /// Number of threads; the result is the same on any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Draw the figure against the time step into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    out: Option<PathBuf>,
    /// Print the result as one line of JSON: steps, values, order, extrapolated, error, verdict
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
The scene runs with h, h/2, h/4 … to the same end; v is the measure, d its change from one run to
the next.
  order           log2 of the quotient of the last two d, where the last is smaller by √2 or more
  extrapolated    v at h → 0 by that order (Richardson); the last v where there is none or d
                  changes its sign
  error           of the last v: what the extrapolation adds, or the last d
A d counts as nothing where it is below 1e-9 of the largest |v|, for lengths also below 1e-7 of
the smallest body that moves, for angles below 1e-6 degrees.
  converging            no d but nothing; or the last two (the last one alone where there are but
                        two, or all d are below 1 % of the largest |v|) are nothing or smaller
                        by √2 than the d before, and the error is at most 10 % of the largest |v|
  not a function of h   not so, and the last d is at least half the largest one and more than
                        1 % of the largest |v|
  not yet               neither: halve the step further

Examples:
  drystone converge bouncing_ball --measure height_mean_m
  drystone converge arch --measure displacement_max_m --halvings 4 --out arch.svg
  drystone converge top.toml --measure body.top.tilt_deg --until 2 --json";

/// What can be asked of a body at the end of a run.
const OF_BODY: [(&str, &str); 13] = [
    ("x", "m, centre of mass"),
    ("y", "m"),
    ("z", "m"),
    ("vx", "m/s"),
    ("vy", "m/s"),
    ("vz", "m/s"),
    ("speed", "m/s"),
    ("wx", "rad/s, world axes"),
    ("wy", "rad/s"),
    ("wz", "rad/s"),
    ("spin", "rad/s, length of the angular velocity"),
    ("tilt_deg", "degrees between the z axis of its shape and that of the world"),
    ("turn_deg", "degrees by which it is turned from the axes of the world, 0 to 180"),
];

/// Numbers of the summary that depend on the machine or count steps.
const NOT_PHYSICS: [&str; 6] = ["wall_s", "cpu_s", "threads", "steps", "step_size", "tolerance"];

/// One run: its step, what was measured, and how many steps missed the tolerance.
struct Run {
    step: f64,
    value: f64,
    missed: u64,
}

pub(super) fn converge(arguments: &Arguments) -> Result<u8, Failure> {
    let mut scene = arguments.changes.load(&arguments.scene)?;
    scene.time.end = arguments.until.unwrap_or(scene.time.end);
    if scene.time.accuracy.is_some() {
        return Err(Failure::new(USAGE, "the scene chooses its time steps, so there is none to halve; add --step H to begin with"));
    }
    // every run ends at the same instant
    let steps = (scene.time.end / scene.time.step).round().max(1.0);
    if (steps * scene.time.step - scene.time.end).abs() > 1e-9 * scene.time.end {
        scene.time.step = scene.time.end / steps;
    }
    let first = scene.time.step;
    scene.time.step = first / f64::from(arguments.halvings).exp2();
    check_length(&scene)?;
    let mut runs = Vec::new();
    if arguments.measure == "help" {
        scene.time.step = first;
        return list(&scene, &arguments.scene);
    }
    for k in 0..=arguments.halvings {
        scene.time.step = first / f64::from(k).exp2();
        runs.push(run(&scene, arguments)?);
    }
    let values: Vec<f64> = runs.iter().map(|r| r.value).collect();
    let found = study(&values, floor(&scene, &arguments.measure));
    if let Some(path) = &arguments.out {
        let measured = Line::new("measured", runs.iter().map(|r| (r.step, r.value))).with_points();
        let limit = Line::new(&format!("h → 0: {found}", found = short(found.extrapolated)), [0.0, first].map(|h| (h, found.extrapolated)));
        let title = format!("{} of {}: {}", arguments.measure, scene.name, found.verdict);
        let panel = Panel::new("time step (s)", &arguments.measure, vec![measured, limit]);
        write_chart(path, &title, &[panel]).map_err(Failure::input)?;
    }
    if arguments.json {
        say(&json(&scene, &arguments.measure, &runs, &found).to_string());
    } else {
        say(&table(&scene, &arguments.measure, &runs, &found));
    }
    Ok(DONE)
}

/// One run to the end of the scene.
fn run(scene: &Scene, arguments: &Arguments) -> Result<Run, Failure> {
    let step = scene.time.step;
    let mut built = build(scene).map_err(|error| unbuilt(Some(&arguments.scene), &error))?;
    let mut meter = Meter::new(scene, &built.entities, &built.simulation);
    while built.simulation.time() < scene.time.end - 1e-9 * step {
        let report = built.simulation.step().map_err(|e| Failure::new(NOT_FINITE, format!("with a time step of {step} s: {e}")))?;
        meter.observe(&report, &built.simulation);
    }
    let value = match arguments.measure.strip_prefix("body.").and_then(|rest| rest.rsplit_once('.')) {
        Some((name, what)) => of_body(scene, &built.simulation, &built.entities, name, what)?,
        None => {
            let summary = meter.summary(&mut built.simulation);
            let json = serde_json::to_value(&summary).map_err(Failure::input)?;
            let numbers = numbers(&json);
            match numbers.iter().find(|(name, _)| *name == arguments.measure) {
                Some((_, value)) => *value,
                None => of_record(scene, &built, &arguments.measure, &numbers)?,
            }
        }
    };
    let missed = meter.summary(&mut built.simulation).unconverged_steps;
    Ok(Run { step, value, missed })
}

/// Numbers of a summary by their names, with a dot before those of a table.
fn numbers(json: &Value) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (name, value) in json.as_object().into_iter().flatten() {
        if let Some(x) = value.as_f64().filter(|_| !NOT_PHYSICS.contains(&name.as_str())) {
            found.push((name.clone(), x));
        }
        found.extend(numbers(value).into_iter().map(|(inner, x)| (format!("{name}.{inner}"), x)));
    }
    found
}

/// What a record could have, as its name there; `numbers` are those of the summary.
fn of_record(scene: &Scene, built: &Built, measure: &str, numbers: &[(String, f64)]) -> Result<f64, Failure> {
    let fail = |found: &str| Failure::new(USAGE, format!("--measure {measure}: {found}"));
    match &scene.recordables(measure)[..] {
        [] => {
            let known: Vec<&str> = numbers.iter().map(|(name, _)| name.as_str()).collect();
            let meant = suggestion(measure, &known).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
            Err(fail(&format!("no number of the summary, nor of a record, has that name; {meant}`--measure help` lists them all")))
        }
        [signal] => {
            let value = built.simulation.value(built.signal(signal)).map_err(|e| fail(&e.to_string()))?;
            if value.is_finite() { Ok(value) } else { Err(fail("there is no such number at the end of the run")) }
        }
        _ => Err(fail("two things have that name; give each a name of its own")),
    }
}

/// A component of the state of a body.
fn of_body(scene: &Scene, simulation: &Simulation, entities: &[Entity], name: &str, what: &str) -> Result<f64, Failure> {
    let fail = |found: &str| Failure::new(USAGE, format!("--measure body.{name}.{what}: {found}; `--measure help` lists what there is"));
    let Some(&entity) = scene.body(name).and_then(|i| entities.get(i)) else {
        return Err(fail(&format!("the scene has no body {name:?}")));
    };
    let world = simulation.world();
    let (Some(pose), Some(v)) = (world.get::<BodyPose>(entity), world.get::<Velocity>(entity)) else {
        return Err(fail("the body is not there at the end of the run"));
    };
    let offset = world.get::<Collider>(entity).map_or(Pose::IDENTITY, |collider| collider.offset);
    let (pose, shape, w) = (pose.0, pose.0.compose(&offset), pose.0.vector(v.angular));
    Ok(match what {
        "x" => pose.position.x,
        "y" => pose.position.y,
        "z" => pose.position.z,
        "vx" => v.linear.x,
        "vy" => v.linear.y,
        "vz" => v.linear.z,
        "speed" => v.linear.length(),
        "wx" => w.x,
        "wy" => w.y,
        "wz" => w.z,
        "spin" => w.length(),
        "tilt_deg" => {
            let axis = shape.vector(DVec3::Z);
            axis.truncate().length().atan2(axis.z).to_degrees()
        }
        "turn_deg" => {
            let q = shape.rotation;
            2.0 * q.xyz().length().atan2(q.w.abs()).to_degrees()
        }
        _ => return Err(fail("that is nothing a body has")),
    })
}

/// Differences of the measure below this count as none: what the solver leaves in positions and angles.
fn floor(scene: &Scene, measure: &str) -> f64 {
    let smallest = scene.dynamic_bodies().filter_map(|(_, b)| b.shape.build().ok()).map(|s| s.smallest_length());
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    let last = measure.rsplit('.').next().unwrap_or_default();
    if last.ends_with("_deg") {
        1e-6
    } else if (last.ends_with("_m") || matches!(last, "x" | "y" | "z")) && smallest.is_finite() {
        1e-7 * smallest
    } else {
        0.0
    }
}

/// All measures of a scene, with their values after one step.
fn list(scene: &Scene, source: &str) -> Result<u8, Failure> {
    let mut built = build(scene).map_err(|error| unbuilt(Some(source), &error))?;
    let meter = Meter::new(scene, &built.entities, &built.simulation);
    let json = serde_json::to_value(meter.summary(&mut built.simulation)).map_err(Failure::input)?;
    let names: Vec<String> = numbers(&json).into_iter().map(|(name, _)| format!("  {name}")).collect();
    let parts: Vec<String> = OF_BODY.iter().map(|(what, unit)| format!("  body.NAME.{what:<10}{unit}")).collect();
    let records = "NAME.QUANTITY of a body, joint, transmission, interaction, outlet, inlet or surface, as in [[record]]: hinge.coordinate";
    let [names, parts] = [names.join("\n"), parts.join("\n")];
    say(&format!(
        "Numbers of the summary:\n{names}\nOf a body at the end of the run:\n{parts}\nOf all else at the end of the run:\n  {records}"
    ));
    Ok(DONE)
}

fn json(scene: &Scene, measure: &str, runs: &[Run], found: &Study) -> Value {
    serde_json::json!({
        "scene": scene.name,
        "measure": measure,
        "steps": runs.iter().map(|r| r.step).collect::<Vec<_>>(),
        "values": runs.iter().map(|r| r.value).collect::<Vec<_>>(),
        "unconverged_steps": runs.iter().map(|r| r.missed).collect::<Vec<_>>(),
        "order": found.order,
        "extrapolated": found.extrapolated,
        "error": found.error,
        "verdict": found.verdict.to_string(),
    })
}

fn table(scene: &Scene, measure: &str, runs: &[Run], found: &Study) -> String {
    let mut lines = vec![format!("{measure} of {}, to {} s", scene.name, scene.time.end)];
    lines.push(format!("  {:<14}{:>18}{:>14}  missed steps", "time step (s)", "value", "change"));
    for (k, run) in runs.iter().enumerate() {
        let change = if k == 0 { String::new() } else { format!("{:.3e}", run.value - runs[k - 1].value) };
        lines.push(format!("  {:<14}{:>18}{change:>14}  {}", short(run.step), short(run.value), run.missed));
    }
    lines.push(format!("  observed order  {}", found.order.map_or("none".to_owned(), |p| format!("{p:.2}"))));
    lines.push(format!("  at h → 0        {} ± {:.1e}", short(found.extrapolated), found.error));
    lines.push(format!("  verdict         {}", found.verdict));
    if runs.iter().any(|run| run.missed > 0) {
        lines.push("  steps that missed their tolerance err by more than h explains; tighten or mend the scene first".to_owned());
    }
    lines.join("\n")
}

/// Nine digits.
fn short(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) {
        format!("{x:.9}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.6e}")
    }
}
