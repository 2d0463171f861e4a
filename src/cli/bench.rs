//! `drystone bench`.
//!
//! Every measurement is a process of its own, so that memory is that of its scene and the pool has its threads.

use super::machine::{Machine, peak_memory, triad};
use super::source::{check_length, on_threads, span, unbuilt};
use super::{DONE, Failure, INPUT, say};
use crate::diagnostics::forecast::{Effort, Spread, StepCost};
use crate::diagnostics::summary::Meter;
use crate::geometry::systems::Proximity;
use crate::io::scene::{Scene, SceneSource};
use crate::numerics::mixed::{Contact, Twist};
use crate::scenes::build;
use glam::DVec3;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Arguments of `drystone bench`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Benchmark scenes, built-in scenes or scene files, separated by commas, instead of all benchmark scenes
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    scenes: Vec<String>,
    /// Numbers of threads, separated by commas: a line for each
    #[arg(long, allow_hyphen_values = true, value_name = "N,…", value_delimiter = ',', default_value = "1",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Vec<u16>,
    /// Run each so many times; the fastest counts
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// End of all runs in seconds instead of the short end of each
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = span, conflicts_with = "full")]
    until: Option<f64>,
    /// Run every scene to its own end
    #[arg(long)]
    full: bool,
    /// Print one line of JSON a scene
    #[arg(long)]
    json: bool,
    /// Measure here and now, and print what was found
    #[arg(long, hide = true)]
    alone: bool,
}

const EXAMPLES: &str = "\
Examples:
  drystone bench                                      all benchmark scenes, short, on one thread
  drystone bench --scenes pour8000,wall615 --threads 1,2 --repeat 3
  drystone bench --scenes my_wall.toml --until 0.5 --json

Benchmark scenes: pour1000, pour8000 (spheres poured into a box), wall105, wall615, arch, dome288
(blocks), lintel, pyramid10, mu5, dominoes, settled288 (structures and piles that are hard to
solve).

Columns: bodies; pairs of bodies whose boxes overlap, and contacts, the mean over the steps;
milliseconds of a step, and of its phases: broad and narrow phase, assembly (which contacts are
active, their rows), solve, apply (new velocities and places), rest (all else); sweeps of the
solver a step; nanoseconds of the solve per contact and sweep; largest residual e_s and overlap
(m); bytes of memory per body and contact (of a small scene mostly buffers that every run has);
share of the bandwidth of memory that the solve needs if nothing stays in caches (more than 1: it
does), that of a triad measured in the same process being 1; hash of the last state, the same as
that of `drystone run` to the same end.

After several scenes comes a model of what a step costs, time = a·bodies + b·pairs +
c·contacts·sweeps: c from the solver, b from broad and narrow phase, a from all else, the median
of the scenes and the smallest and largest, and how well the medians tell the time of each scene.
In --json a scene has its own a, b, c as `cost`, all phases by their names as `phases_ms`, and the
model is a last line (`cost_model`), one for each number of threads.

Steps that missed the tolerance are counted in --json (unconverged_steps): such a time is not
worth comparing. On a machine that others use too, compare two versions by runs in turn.";

/// A scene by its name here, where it comes from, what is changed in it, and where the short run ends (s).
struct Case {
    name: &'static str,
    scene: Origin,
    settings: &'static [(&'static str, &'static str)],
    end: f64,
}

enum Origin {
    BuiltIn(&'static str),
    Text(&'static str),
}

const CASES: [Case; 11] = [
    Case { name: "pour1000", scene: Origin::BuiltIn("bead_pour"), settings: &[("n", "10")], end: 0.4 },
    Case { name: "pour8000", scene: Origin::BuiltIn("bead_pour"), settings: &[("n", "20")], end: 0.25 },
    Case { name: "wall105", scene: Origin::BuiltIn("block_wall"), settings: &[], end: 1.0 },
    Case { name: "wall615", scene: Origin::BuiltIn("block_wall"), settings: &[("columns", "20"), ("rows", "30")], end: 0.5 },
    Case { name: "arch", scene: Origin::BuiltIn("arch"), settings: &[("thickness_ratio", "0.107")], end: 1.0 },
    Case {
        name: "dome288",
        scene: Origin::Text(include_str!("../../assets/corpus/dome.toml")),
        settings: &[("generate.dome.0.rings", "12"), ("generate.dome.0.voussoirs", "24")],
        end: 0.2,
    },
    Case { name: "lintel", scene: Origin::Text(include_str!("../../tests/probes/scenes/lintel.toml")), settings: &[], end: 0.5 },
    Case { name: "pyramid10", scene: Origin::Text(include_str!("../../tests/probes/scenes/pyramid10.toml")), settings: &[], end: 0.3 },
    Case { name: "mu5", scene: Origin::Text(include_str!("../../tests/probes/scenes/mu5.toml")), settings: &[], end: 0.1 },
    Case { name: "dominoes", scene: Origin::Text(include_str!("../../tests/probes/scenes/hinged_dominoes.toml")), settings: &[], end: 0.5 },
    Case { name: "settled288", scene: Origin::Text(include_str!("../../tests/probes/scenes/settled.toml")), settings: &[], end: 0.5 },
];

/// What a measurement found.
#[derive(Clone, Debug, Serialize)]
struct Row {
    scene: String,
    threads: usize,
    bodies: usize,
    /// Mean over the steps, as that of the contacts.
    pairs: f64,
    contacts: f64,
    steps: u64,
    time: f64,
    /// Wall time of the steps (s), and of one second of physics.
    wall_s: f64,
    wall_per_s: f64,
    /// Wall time of a step and of its phases (ms).
    step_ms: f64,
    broad_ms: f64,
    narrow_ms: f64,
    assemble_ms: f64,
    solve_ms: f64,
    apply_ms: f64,
    rest_ms: f64,
    /// The same of each phase by its name.
    phases_ms: BTreeMap<&'static str, f64>,
    sweeps_mean: f64,
    /// Coefficients of the time of a step.
    cost: StepCost,
    /// Nanoseconds of the solve per contact and sweep; absent without sweeps.
    sweep_ns: Option<f64>,
    residual_max: f64,
    tolerance: f64,
    unconverged_steps: u64,
    penetration_max_m: f64,
    displacement_max_m: f64,
    /// Memory that the scene took at most; absent where the system does not say.
    memory_bytes: Option<u64>,
    /// The same per body and contact.
    memory_each_bytes: Option<f64>,
    /// Bytes that a sweep moves for a contact if nothing stays in caches.
    traffic_bytes: usize,
    /// Of the triad on the same threads (bytes/s).
    bandwidth: f64,
    /// Share of it that the solve needs; absent without sweeps.
    bandwidth_share: Option<f64>,
    state_hash: String,
    machine: Machine,
}

/// Bytes that a sweep moves for a contact: its record, its reaction and the velocities of two bodies, both read and written.
const TRAFFIC: usize = size_of::<Contact>() + 2 * size_of::<DVec3>() + 4 * size_of::<Twist>();

fn load(name: &str, arguments: &Arguments) -> Result<Scene, Failure> {
    let case = CASES.iter().find(|case| case.name == name);
    let mut scene = match case {
        Some(case) => {
            let settings: Vec<_> = case.settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            match case.scene {
                Origin::BuiltIn(name) => Scene::load(&SceneSource::BuiltIn(name.to_owned()), &settings),
                Origin::Text(text) => Scene::from_toml_with(text, name, &settings),
            }
        }
        None => Scene::load(&SceneSource::new(name), &[]),
    }
    .map_err(|error| {
        let known: Vec<_> = CASES.iter().map(|case| case.name).collect();
        Failure::input(format!("{error}\n  benchmark scenes: {}", known.join(", ")))
    })?;
    match (arguments.until, case) {
        (Some(end), _) => scene.time.end = end,
        (None, Some(case)) if !arguments.full => scene.time.end = case.end,
        _ => {}
    }
    check_length(&scene)?;
    Ok(scene)
}

/// Runs the scene once.
fn measure(name: &str, scene: &Scene, bandwidth: f64) -> Result<Row, Failure> {
    let before = peak_memory();
    let mut built = build(scene).map_err(|error| unbuilt(Some(name), &error))?;
    let mut meter = Meter::new(scene, &built.entities, &built.simulation);
    let (end, h) = (scene.time.end, scene.time.step);
    let (mut wall, mut contacts, mut pairs, mut visits) = (Duration::ZERO, 0, 0, 0.0);
    built.simulation.time_phases(true);
    while built.simulation.time() < end - 1e-9 * h {
        let clock = Instant::now();
        let report = built.simulation.step().map_err(Failure::input)?;
        wall += clock.elapsed();
        contacts += report.contacts;
        pairs += built.simulation.world().resource::<Proximity>().pairs().len();
        visits += (report.contacts * report.report.iterations) as f64;
        meter.observe(&report, &built.simulation);
    }
    let phases = built.simulation.phase_times();
    let summary = meter.summary(&mut built.simulation);
    let steps = summary.steps.max(1) as f64;
    let milliseconds = |names: &[&str]| {
        let spent: Duration = phases.iter().filter(|(name, _)| names.contains(name)).map(|(_, spent)| *spent).sum();
        spent.as_secs_f64() * 1e3 / steps
    };
    let wall = wall.as_secs_f64();
    let (broad_ms, narrow_ms, solve_ms) = (milliseconds(&["BroadPhase"]), milliseconds(&["NarrowPhase"]), milliseconds(&["Solve"]));
    let (assemble_ms, apply_ms) = (milliseconds(&["Activate", "Assemble"]), milliseconds(&["Apply"]));
    let step_ms = wall * 1e3 / steps;
    let (contacts, pairs) = (contacts as f64 / steps, pairs as f64 / steps);
    let sweeps = if contacts > 0.0 { visits / steps / contacts } else { 0.0 };
    let effort = Effort { bodies: summary.bodies as f64, pairs, contacts, sweeps };
    let memory_bytes = peak_memory().zip(before).map(|(after, before)| after.saturating_sub(before));
    let swept = visits > 0.0;
    let solve_s = solve_ms * 1e-3 * steps;
    Ok(Row {
        scene: name.to_owned(),
        threads: rayon::current_num_threads(),
        bodies: summary.bodies,
        pairs,
        contacts,
        steps: summary.steps,
        time: summary.time,
        wall_s: wall,
        wall_per_s: wall / summary.time.max(f64::MIN_POSITIVE),
        step_ms,
        broad_ms,
        narrow_ms,
        assemble_ms,
        solve_ms,
        apply_ms,
        phases_ms: phases.iter().map(|(name, spent)| (*name, spent.as_secs_f64() * 1e3 / steps)).collect(),
        rest_ms: (step_ms - broad_ms - narrow_ms - assemble_ms - solve_ms - apply_ms).max(0.0),
        sweeps_mean: summary.iterations_mean,
        cost: StepCost::measured(&effort, step_ms * 1e-3, (broad_ms + narrow_ms) * 1e-3, solve_ms * 1e-3),
        sweep_ns: swept.then(|| solve_s * 1e9 / visits),
        residual_max: summary.residual_max,
        tolerance: summary.tolerance,
        unconverged_steps: summary.unconverged_steps,
        penetration_max_m: summary.penetration_run_max_m,
        displacement_max_m: summary.displacement_max_m,
        memory_bytes,
        memory_each_bytes: memory_bytes.map(|bytes| bytes as f64 / (summary.bodies as f64 + contacts).max(1.0)),
        traffic_bytes: TRAFFIC,
        bandwidth,
        bandwidth_share: swept.then(|| visits * TRAFFIC as f64 / solve_s.max(f64::MIN_POSITIVE) / bandwidth),
        state_hash: summary.state_hash,
        machine: Machine::read(),
    })
}

/// Measures here: the fastest of so many runs.
fn alone(name: &str, arguments: &Arguments) -> Result<(), Failure> {
    let scene = load(name, arguments)?;
    let mut best: Option<Row> = None;
    // after the first run the process keeps its memory, so that is the run whose memory counts
    let mut memory = None;
    // the triad comes last, since its arrays are memory too
    for _ in 0..arguments.repeat {
        let row = measure(name, &scene, 1.0)?;
        let first = *memory.get_or_insert((row.memory_bytes, row.memory_each_bytes));
        if best.as_ref().is_none_or(|best| row.wall_s < best.wall_s) {
            best = Some(Row { memory_bytes: first.0, memory_each_bytes: first.1, ..row });
        }
    }
    let Some(mut row) = best else { return Ok(()) };
    row.bandwidth = triad();
    row.bandwidth_share = row.bandwidth_share.map(|needed| needed / row.bandwidth);
    say(&serde_json::to_string(&row).map_err(Failure::input)?);
    Ok(())
}

/// The same in a process of its own.
fn apart(name: &str, threads: u16, arguments: &Arguments) -> Result<Value, Failure> {
    let trouble = |what: &str| Failure::new(INPUT, format!("{name}: {what}"));
    let program = std::env::current_exe().map_err(|error| trouble(&format!("the program cannot be found: {error}")))?;
    let mut command = Command::new(program);
    command.args(["bench", "--alone", "--scenes", name, "--threads", &threads.to_string(), "--repeat", &arguments.repeat.to_string()]);
    if let Some(end) = arguments.until {
        command.args(["--until", &end.to_string()]);
    }
    if arguments.full {
        command.arg("--full");
    }
    let output = command.stdin(Stdio::null()).output().map_err(|error| trouble(&format!("cannot be started: {error}")))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let message = told.trim().strip_prefix("error: ").unwrap_or(told.trim()).to_owned();
        let code = output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(INPUT);
        let ended = || format!("{name}: the measurement was ended by the system ({})", output.status);
        return Err(Failure::new(code, if message.is_empty() { ended() } else { message }));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| trouble(&format!("no figures: {error}")))
}

/// Columns of the table: head, key of the row, decimals (negative: powers of ten).
const COLUMNS: [(&str, &str, i32); 18] = [
    ("threads", "threads", 0),
    ("bodies", "bodies", 0),
    ("pairs", "pairs", 0),
    ("contacts", "contacts", 0),
    ("s per s", "wall_per_s", 3),
    ("step ms", "step_ms", 3),
    ("broad", "broad_ms", 3),
    ("narrow", "narrow_ms", 3),
    ("assemble", "assemble_ms", 3),
    ("solve", "solve_ms", 3),
    ("apply", "apply_ms", 3),
    ("rest", "rest_ms", 3),
    ("sweeps", "sweeps_mean", 1),
    ("ns/sweep", "sweep_ns", 1),
    ("residual", "residual_max", -1),
    ("overlap m", "penetration_max_m", -1),
    ("bytes", "memory_each_bytes", 0),
    ("band", "bandwidth_share", 2),
];

fn heading() -> String {
    let columns: String = COLUMNS.iter().map(|(head, ..)| format!("{head:>10}")).collect();
    format!("{:<14}{columns}  state_hash", "scene")
}

fn line(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let columns: String = COLUMNS
        .iter()
        .map(|&(_, key, decimals)| match row[key].as_f64() {
            None => format!("{:>10}", "–"),
            Some(x) if decimals < 0 => format!("{x:>10.1e}"),
            Some(x) => format!("{x:>10.*}", decimals.unsigned_abs() as usize),
        })
        .collect();
    let missed = row["unconverged_steps"].as_u64().unwrap_or(0);
    let remark = if missed > 0 { format!("  {missed} steps missed the tolerance") } else { String::new() };
    format!("{:<14}{columns}  {}{remark}", text("scene"), text("state_hash"))
}

/// The model of the time of a step over the scenes measured on so many threads.
fn model(rows: &[Value]) -> Option<Value> {
    let coefficient = |name: &str| Spread::of(rows.iter().filter_map(|row| row["cost"][name].as_f64()));
    let names = ["body_s", "pair_s", "contact_sweep_s"];
    let [a, b, c] = names.map(coefficient);
    let median = |spread: Option<Spread>| spread.map(|spread| spread.median);
    let medians = StepCost { body_s: median(a), pair_s: median(b), contact_sweep_s: median(c) };
    let ratio = |row: &Value| {
        let get = |key: &str| row[key].as_f64();
        let (bodies, pairs, contacts) = (get("bodies")?, get("pairs")?, get("contacts")?);
        // the mean of contacts times sweeps, which is what the coefficient was measured by
        let visits = row["cost"]["contact_sweep_s"].as_f64().map_or(Some(0.0), |c| Some(get("solve_ms")? * 1e-3 / c))?;
        let effort = Effort { bodies, pairs, contacts, sweeps: if contacts > 0.0 { visits / contacts } else { 0.0 } };
        Some(medians.of(&effort) / (get("step_ms")? * 1e-3))
    };
    let told = Spread::of(rows.iter().filter_map(ratio))?;
    Some(json!({
        "threads": rows.first()?["threads"], "scenes": rows.len(), "body_s": a, "pair_s": b, "contact_sweep_s": c,
        "predicted_over_measured": told,
    }))
}

fn model_text(model: &Value) -> String {
    let spread = |key: &str, unit: f64| {
        let get = |which: &str| model[key][which].as_f64().map_or_else(|| "–".to_owned(), |x| format!("{:.3}", x / unit));
        format!("{} ({} to {})", get("median"), get("low"), get("high"))
    };
    format!(
        "\nstep on {} threads = a·bodies + b·pairs + c·contacts·sweeps:  a {} µs  b {} µs  c {} ns\nmedian (smallest to largest) of {} scenes; the \
         medians tell {} of the time that a step takes",
        model["threads"],
        spread("body_s", 1e-6),
        spread("pair_s", 1e-6),
        spread("contact_sweep_s", 1e-9),
        model["scenes"],
        spread("predicted_over_measured", 1.0)
    )
}

pub(super) fn bench(arguments: &Arguments) -> Result<u8, Failure> {
    if let (true, [name]) = (arguments.alone, arguments.scenes.as_slice()) {
        return on_threads(arguments.threads.first().copied(), || alone(name, arguments)).map(|()| DONE);
    }
    let all: Vec<String> = CASES.iter().map(|case| case.name.to_owned()).collect();
    let names = if arguments.scenes.is_empty() { &all } else { &arguments.scenes };
    // faults before the first measurement
    for name in names {
        load(name, arguments)?;
    }
    let runs = names.len() * arguments.threads.len();
    let visible = std::io::stderr().is_terminal() && runs > 1;
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(runs as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar:.blue} {pos}/{len}  {eta} left  {msg}") {
        bar.set_style(style);
    }
    if !arguments.json {
        say(&Machine::read().to_string());
        say(&heading());
    }
    let mut rows = vec![Vec::new(); arguments.threads.len()];
    for name in names {
        for (&threads, rows) in arguments.threads.iter().zip(&mut rows) {
            bar.set_message(name.clone());
            let row = apart(name, threads, arguments)?;
            bar.suspend(|| say(&if arguments.json { row.to_string() } else { line(&row) }));
            bar.inc(1);
            rows.push(row);
        }
    }
    bar.finish_and_clear();
    for model in rows.iter().filter(|rows| rows.len() > 1).filter_map(|rows| model(rows)) {
        say(&if arguments.json { json!({ "cost_model": model }).to_string() } else { model_text(&model) });
    }
    Ok(DONE)
}
