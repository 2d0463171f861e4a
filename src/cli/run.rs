//! `drystone run`.

use crate::diagnostics::summary::{Meter, Summary};
use crate::io::scene::{Scene, SceneSource};
use crate::scenes;
use std::time::Instant;

/// Arguments of `drystone run`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct RunArguments {
    /// A built-in scene, or a scene file.
    scene: String,
    /// Change a parameter.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// End of the run in seconds.
    #[arg(long, value_name = "T")]
    until: Option<f64>,
    /// Time step in seconds.
    #[arg(long, value_name = "H")]
    step: Option<f64>,
    /// Tolerance on e_s.
    #[arg(long, value_name = "E_S")]
    tol: Option<f64>,
    /// Number of threads.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &RunArguments) -> u8 {
    let fail = |code: u8, message: String| {
        eprintln!("{message}");
        code
    };
    let start = Instant::now();
    let mut settings = Vec::new();
    for text in &arguments.set {
        match text.split_once('=') {
            Some((key, value)) => settings.push((key.trim().to_owned(), value.trim().to_owned())),
            None => return fail(2, format!("--set {text}: write key=value")),
        }
    }
    let mut scene = match Scene::load(&SceneSource::new(&arguments.scene), &settings) {
        Ok(scene) => scene,
        Err(error) => return fail(3, error.to_string()),
    };
    scene.time.end = arguments.until.unwrap_or(scene.time.end);
    scene.time.step = arguments.step.unwrap_or(scene.time.step);
    scene.solver.tolerance = arguments.tol.unwrap_or(scene.solver.tolerance);
    if let Some(threads) = arguments.threads {
        if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
            return fail(2, format!("--threads {threads}: {error}"));
        }
    }
    let mut built = match scenes::build(&scene) {
        Ok(built) => built,
        Err(error) => return fail(3, error.to_string()),
    };
    let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
    while built.simulation.time() < scene.time.end - 1e-9 * scene.time.step {
        match built.simulation.step() {
            Ok(report) => meter.observe(&report, &built.simulation),
            Err(error) => return fail(4, error.to_string()),
        }
    }
    let mut summary: Summary = meter.summary(&mut built.simulation);
    summary.wall_s = start.elapsed().as_secs_f64();
    summary.cpu_s = cpu_time::ProcessTime::now().as_duration().as_secs_f64();
    summary.threads = rayon::current_num_threads();
    match serde_json::to_string(&summary) {
        Ok(text) => println!("{text}"),
        Err(error) => return fail(1, error.to_string()),
    }
    0
}
