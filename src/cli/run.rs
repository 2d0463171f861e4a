//! `drystone run`.

use super::export;
use super::forecast::Forecaster;
use super::interrupt;
use super::output::{Output, due};
use super::postmortem::PostMortem;
use super::progress::Progress;
use super::source::{Changes, StepSize, check_length, span, unbuilt};
use super::{DONE, Failure, INPUT, INTERRUPTED, NOT_FINITE, USAGE, say, tell};
use crate::assembly::problem::StepProblem;
use crate::diagnostics::summary::Meter;
use crate::io::scene::{Scene, SceneFile};
use crate::model::scheme::Scheme;
use crate::scenes::checkpoint::Checkpoint;
use crate::scenes::{Built, build};
use crate::simulation::SimulationError;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Name of the checkpoint under `--out`.
const CHECKPOINT: &str = "run.checkpoint";

/// Arguments of `drystone run`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    #[arg(required_unless_present = "resume")]
    scene: Option<String>,
    #[command(flatten)]
    changes: Changes,
    /// End of the run in seconds or with its unit (500ms) instead of the scene's
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = span)]
    until: Option<f64>,
    /// Number of threads; the result is the same on any number
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Write tables (those of [[record]] and joints.csv among them), VTK files and a plot into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
    /// Save the run into --out every so many steps (every=100) or seconds of simulated time (every=0.5s)
    #[arg(long, value_name = "every=…", value_parser = interval)]
    checkpoint: Option<Interval>,
    /// Write the one-step problem into --out DIR/problems every so many steps (every=100) or seconds (every=0.5s): FCLIB HDF5, or
    /// JSON where joints have rows
    #[arg(long, value_name = "every=…", value_parser = interval)]
    export_problems: Option<Interval>,
    /// Go on with a run that was saved into this directory; outputs continue there, and it is saved again at its end. With --tol to another tolerance, with --step in other steps;
    /// with one of these or another --until also a run that a rule of [stop] has ended
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  drystone run bead_pour --set n=6
  drystone run block_wall --set columns=20 --set rows=30 --threads 2 --out wall
  drystone run my_arch.toml --set generate.arch.0.thickness_ratio=0.105 --json
  drystone run bead_pour --out pour --checkpoint every=0.1s
  drystone run block_wall --out wall --export-problems every=50
  drystone run --resume pour --until 2
  drystone run --resume pour --until 2.2 --tol 1e-4";

impl Arguments {
    /// Scene, changes and end.
    pub(super) fn asked(self) -> (Option<String>, Changes, Option<f64>) {
        (self.scene, self.changes, self.until)
    }
}

/// How often a run is saved.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Interval {
    Steps(u64),
    Time(f64),
}

fn interval(text: &str) -> Result<Interval, String> {
    let hint = || "write every=100 (steps) or every=0.5s (simulated time)".to_owned();
    let value = text.trim().strip_prefix("every=").ok_or_else(hint)?.trim();
    match value.parse() {
        Ok(n) => Some(n).filter(|&n| n > 0).map(Interval::Steps).ok_or_else(hint),
        Err(_) if value.ends_with(|last: char| last.is_alphabetic()) => span(value).map(Interval::Time).map_err(|_| hint()),
        Err(_) => Err(hint()),
    }
}

/// The run at its start, or where it was saved.
struct Start {
    scene: Scene,
    built: Built,
    meter: Meter,
    resumed: bool,
    /// What the scene names; nothing where a run goes on without it.
    files: Vec<SceneFile>,
    clock: Instant,
    /// Wall-clock and processor time of the parts before (s).
    before: [f64; 2],
}

impl Start {
    fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let clock = Instant::now();
        let (asked, files) = match &arguments.scene {
            Some(name) => arguments.changes.load_with_files(name).map(|(scene, files)| (Some(scene), files))?,
            None if arguments.changes.leave_the_scene() => (None, Vec::new()),
            None => {
                let message = "--set changes a scene, but a resumed run keeps its own; name the scene, or leave it out";
                return Err(Failure::new(USAGE, message));
            }
        };
        let (mut scene, saved) = match (&arguments.resume, asked) {
            (Some(directory), asked) => {
                let path = directory.join(CHECKPOINT);
                if !path.exists() {
                    let message = format!(
                        "{}: not found\n  --resume takes the folder of a run that was saved with --out DIR --checkpoint every=…",
                        path.display()
                    );
                    return Err(Failure::input(message));
                }
                let mut checkpoint = Checkpoint::read(&path).map_err(Failure::input)?;
                let before = (checkpoint.scene.solver.tolerance, checkpoint.scene.time.step);
                if let Some(tolerance) = arguments.changes.tolerance() {
                    checkpoint.scene.solver.tolerance = tolerance;
                }
                match (arguments.changes.step(), checkpoint.scene.time.accuracy) {
                    (None, _) | (Some(StepSize::Auto), Some(_)) => {}
                    (Some(StepSize::Fixed(h)), None) => checkpoint.scene.time.step = h,
                    (Some(_), _) => {
                        let message = "--step: a run whose steps are given goes on with given ones, one that chooses them with auto";
                        return Err(Failure::new(USAGE, message));
                    }
                }
                let same = |scene: &Scene| {
                    let mut scene = scene.clone();
                    scene.time.end = checkpoint.scene.time.end;
                    scene == checkpoint.scene
                };
                if asked.as_ref().is_some_and(|scene| !same(scene)) {
                    let name = &checkpoint.scene.name;
                    let message =
                        format!("{}: holds a run of {name} with other settings; leave the scene out to go on with it", path.display());
                    return Err(Failure::input(message));
                }
                let (until, at) = (arguments.until.unwrap_or(f64::INFINITY), checkpoint.state.time());
                // the last step may have gone beyond the end that was asked for
                if until < at - 1e-9 * checkpoint.scene.time.step && until != checkpoint.scene.time.end {
                    let (directory, cure) = (directory.display(), "name a later instant to go on until then, or run the scene anew");
                    return Err(Failure::new(USAGE, format!("--until {until}: the run in {directory} is saved at {at} s\n  {cure}")));
                }
                let anew = before != (checkpoint.scene.solver.tolerance, checkpoint.scene.time.step);
                (checkpoint.scene.clone(), Some((checkpoint, anew)))
            }
            (None, Some(scene)) => (scene, None),
            (None, None) => return Err(Failure::new(USAGE, "name a scene; `drystone scenes` lists the built-in ones")),
        };
        scene.time.end = arguments.until.unwrap_or(scene.time.end);
        check_length(&scene)?;
        let resumed = saved.is_some();
        let before = saved.as_ref().map_or([0.0; 2], |(checkpoint, _)| checkpoint.taken);
        let (built, meter) = match saved {
            Some((mut checkpoint, anew)) => {
                // steps that are chosen meet the end that is asked for now
                let other = scene.time.end != checkpoint.scene.time.end;
                checkpoint.scene = scene.clone();
                let (mut built, mut meter) = checkpoint.resume().map_err(Failure::input)?;
                // another end alone leaves a run that has not ended as it would be without a break
                let farther = other && meter.ended(&built.simulation).is_some();
                if anew || farther {
                    meter.go_on();
                }
                // the saved scheme is that of the steps so far
                if scene.time.accuracy.is_none() && scene.time.step != built.simulation.time_step() {
                    let scheme = Scheme { time_step: scene.time.step, ..*built.simulation.scheme() };
                    built.simulation.set_scheme(scheme).map_err(Failure::input)?;
                }
                (built, meter)
            }
            None => {
                let built = build(&scene).map_err(|error| unbuilt(arguments.scene.as_deref(), &error))?;
                let meter = Meter::new(&scene, &built.entities, &built.simulation);
                (built, meter)
            }
        };
        Ok(Self { scene, built, meter, resumed, files, clock, before })
    }

    fn save(&mut self, directory: &Path) -> Result<(), Failure> {
        let taken = self.taken();
        let mut checkpoint = Checkpoint::of(&self.scene, &mut self.built, &self.meter);
        checkpoint.taken = taken;
        checkpoint.write(&directory.join(CHECKPOINT)).map_err(Failure::input)
    }

    /// Wall-clock and processor time of the whole run so far (s).
    fn taken(&self) -> [f64; 2] {
        let now = [self.clock.elapsed(), cpu_time::ProcessTime::now().as_duration()];
        std::array::from_fn(|i| self.before[i] + now[i].as_secs_f64())
    }
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// What a run that goes on at this time did not find in its folder.
fn begun_note(output: &Output, time: f64) -> Option<String> {
    let (folder, names) = (output.directory().display(), output.begun().join(", "));
    (!names.is_empty()).then(|| format!("{folder} did not hold {names}: begun anew at {time} s, without what came before"))
}

pub(super) fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let directory = arguments.out.as_ref().or(arguments.resume.as_ref());
    if arguments.checkpoint.is_some() && directory.is_none() {
        return Err(Failure::new(USAGE, "--checkpoint needs a directory to save into; add --out DIR"));
    }
    if arguments.export_problems.is_some() && directory.is_none() {
        return Err(Failure::new(USAGE, "--export-problems needs a directory to write into; add --out DIR"));
    }
    interrupt::listen()?;
    let mut run = Start::of(arguments)?;
    let text = arguments.scene.as_ref().map(|name| arguments.changes.text(name, arguments.until)).transpose()?;
    run.built.simulation.set_stop(interrupt::flag());
    if !run.resumed {
        run.meter.found_before().for_each(tell);
    }
    let (end, step) = (run.scene.time.end, run.scene.time.step);
    // into another folder a run goes on with tables that begin where it does
    let own = !matches!((&arguments.out, &arguments.resume), (Some(out), Some(saved)) if !same_folder(out, saved));
    let mut output = match directory {
        None => None,
        Some(directory) => {
            let reached = run.resumed.then(|| (run.built.simulation.steps(), run.built.simulation.time()));
            let mut output = Output::new(directory, &run.scene, &run.built, reached).map_err(Failure::input)?;
            if !run.resumed {
                output.start(&run.built.simulation).map_err(Failure::input)?;
            }
            match text.as_deref().filter(|_| !run.resumed) {
                Some(text) => super::report::keep_command(directory, text, &run.files)?,
                None => super::report::keep_resumption(directory, arguments.resume.as_deref().filter(|_| !own), arguments.until)?,
            }
            Some(output)
        }
    };
    let missing = output.as_ref().filter(|_| own).and_then(|output| begun_note(output, run.built.simulation.time()));
    let first = run.built.simulation.steps();
    let mut wrong = directory.map(|d| PostMortem::new(d, (run.resumed && own).then_some(first))).transpose()?;
    let mut progress = Progress::new((end / step).round() as u64, run.built.simulation.steps());
    let mut forecaster = Forecaster::new(&run.scene);
    let mut stopped: Option<SimulationError> = None;
    let ended = |run: &Start| run.meter.ended(&run.built.simulation).is_some();
    while run.built.simulation.time() < end - 1e-9 * step && !interrupt::asked() && !ended(&run) {
        let report = match run.built.simulation.step() {
            Ok(report) => report,
            // the state is that of the end of the step before
            Err(SimulationError::Stopped { .. }) => break,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        run.meter.observe(&report, &run.built.simulation);
        progress.step(&report);
        if let Some(wrong) = &mut wrong {
            wrong.step(&report, &run.scene, &run.built)?;
        }
        if let Some(output) = &mut output {
            let clock = Instant::now();
            output.step(&report, &run.built.simulation).map_err(Failure::input)?;
            forecaster.wrote(clock.elapsed());
        }
        for text in forecaster.step(&report, &mut run.built.simulation, output.as_ref()) {
            progress.tell(&text);
        }
        let now = |interval: Option<Interval>| match interval {
            Some(Interval::Steps(n)) => report.step.is_multiple_of(n),
            Some(Interval::Time(every)) => due(report.time, report.step_size, every),
            None => false,
        };
        if let Some(directory) = directory.filter(|_| now(arguments.export_problems)) {
            let problem = run.built.simulation.world().resource::<StepProblem>();
            let title = export::title(&run.scene.name, report.step, report.time);
            export::write(&directory.join("problems"), &format!("step_{:06}", report.step), problem, &title)?;
        }
        if let Some(directory) = directory.filter(|_| now(arguments.checkpoint)) {
            // the run that goes on from here has the frames so far
            output.as_mut().map_or(Ok(()), Output::flush).map_err(Failure::input)?;
            run.save(directory)?;
        }
    }
    progress.finish();
    let interrupted = stopped.is_none() && run.built.simulation.time() < end - 1e-9 * step && !ended(&run);
    // also at the end, so that a later --until can go on from here; what goes on in its own folder is saved where its tables end
    let keeps = arguments.checkpoint.is_some() || (run.resumed && own);
    if let Some(directory) = directory.filter(|_| stopped.is_none() && keeps) {
        run.save(directory)?;
    }
    let nothing_done = run.resumed && stopped.is_none() && !interrupted && run.built.simulation.steps() == first;
    if let Some(directory) = arguments.resume.as_ref().filter(|_| nothing_done) {
        let (directory, at) = (directory.display(), run.built.simulation.time());
        let why = match run.meter.ended(&run.built.simulation) {
            Some(reason) => format!("ended there by a rule of [stop] ({reason}); another --until, --tol or --step goes on"),
            None => "that is its end; a later --until goes on".to_owned(),
        };
        tell(&format!("note: nothing was left to do: the run in {directory} is saved at {at} s, and {why}"));
    }
    if let Some(output) = &mut output {
        output.end(&run.built.simulation).map_err(Failure::input)?;
    }
    let mut summary = run.meter.summary(&mut run.built.simulation);
    summary.interrupted = interrupted;
    summary.warnings.extend(missing);
    summary.warnings.extend(wrong.as_ref().and_then(PostMortem::note));
    summary.stopped = stopped.as_ref().map(ToString::to_string);
    summary.forecast = forecaster.forecast;
    summary.threads = rayon::current_num_threads();
    [summary.wall_s, summary.cpu_s] = run.taken();
    if let Some(output) = &mut output {
        output.finish(&summary).map_err(Failure::input)?;
    }
    if let Some(directory) = directory {
        super::report::keep_certificate(directory, &summary)?;
    }
    if arguments.json {
        say(&serde_json::to_string(&summary).map_err(Failure::input)?);
    } else {
        say(&summary.to_string());
    }
    if let Some(error) = stopped {
        tell(&format!("error: {error}"));
        let input = matches!(error, SimulationError::Setting(_) | SimulationError::Law(_) | SimulationError::Body(_));
        return Ok(if input { INPUT } else { NOT_FINITE });
    }
    Ok(if interrupted { INTERRUPTED } else { DONE })
}
