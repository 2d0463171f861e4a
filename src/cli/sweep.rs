//! `drystone sweep`.

use super::interrupt;
use super::source::{Changes, StepSize, span, step_size, tolerance};
use super::{DONE, Failure, INPUT, INTERRUPTED, PARTLY, USAGE, say, tell};
use crate::io::sweep::{Axis, MAX_POINTS, Outcome, Plan, place, write_results};
use crate::scenes::checkpoint::fingerprint;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::{File, TryLockError};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Arguments of `drystone sweep`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    #[arg(required_unless_present_any = ["point", "collect"])]
    scene: Option<String>,
    /// Values of a parameter: a,b,c or 1..5 (whole numbers) or 0..1:11 (eleven, evenly spaced, also with a unit at both ends: 4mm..8mm:3); repeatable, all combinations are run
    #[arg(long = "set", value_name = "KEY=VALUES")]
    set: Vec<String>,
    /// Time step in seconds or with its unit (2ms) instead of the scene's, or auto
    #[arg(long, allow_hyphen_values = true, value_name = "H", value_parser = step_size)]
    step: Option<StepSize>,
    /// Largest admissible residual e_s of a step instead of the scene's
    #[arg(long, allow_hyphen_values = true, value_name = "E_S", value_parser = tolerance)]
    tol: Option<f64>,
    /// End of the runs in seconds instead of the scene's
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = span)]
    until: Option<f64>,
    /// How many runs at a time [default: as many as there are processors]
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Threads of each run; the results are the same on any number
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Folder of the sweep: results.csv, and what each run left under points/
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Let each run write its tables and VTK files into DIR/points/NUMBER
    #[arg(long)]
    outputs: bool,
    /// Run nothing; write a job array of the same points for a scheduler into DIR
    #[arg(long, value_name = "FOR", conflicts_with_all = ["point", "collect"])]
    emit: Option<Scheduler>,
    /// Run this point of the sweep in --out alone, as the jobs of --emit do
    #[arg(long, value_name = "K", conflicts_with_all = ["scene", "set", "collect"])]
    point: Option<usize>,
    /// Run nothing; make results.csv of the points that have come back
    #[arg(long, conflicts_with_all = ["scene", "set"])]
    collect: bool,
    /// Print what was done as one line of JSON: points, done, failed, missing, results
    #[arg(long)]
    json: bool,
}

/// What starts the jobs of `--emit`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Scheduler {
    /// `sbatch DIR/sweep.sbatch`
    Slurm,
    /// `parallel < DIR/sweep.jobs`, or any other program that runs lines
    Parallel,
}

const HELP: &str = "\
Every combination of the values is a run of its own, the last --set varies fastest. results.csv has
a row for each: the keys with more than one value, the columns of `drystone run --json` (those of
its tables with a dot: energy.kinetic_J), and why a run failed. The same command goes on after a
kill: what has ended is not run again, unless it failed or its scene has changed.

The exit code is 0 where no run failed, 5 where some did (the table has the others), 3 where all
failed, and 130 after an interruption. Points that nobody has run yet are no failures: scripts
look at \"missing\" of --json.

Examples:
  drystone sweep bead_pour --set n=3..6 --set mu=0.1,0.3,0.5 --until 0.5 --out pours
  drystone sweep arch --set thickness_ratio=0.10..0.12:9 --jobs 2 --out arches
  drystone sweep wall.toml --set bodies.3.mass=1,10,100 --tol 1e-6 --outputs --out walls

On a cluster, with DIR and the scene file in a folder that all machines see (or copied there, and
DIR back before --collect); jobs start where the command was given:
  drystone sweep bead_pour --set seed=1..500 --out pours --emit slurm
  sbatch pours/sweep.sbatch
  drystone sweep --collect --out pours";

/// Time between two looks at a run.
const LOOK: Duration = Duration::from_millis(5);
pub(super) fn sweep(arguments: &Arguments) -> Result<u8, Failure> {
    let folder = arguments.out.as_path();
    let plan = plan(arguments)?;
    if arguments.collect {
        return collect(arguments, &plan);
    }
    if let Some(point) = arguments.point {
        if point >= plan.points() {
            let message = format!("--point {point}: {} has the points 0 to {}", folder.display(), plan.points() - 1);
            return Err(Failure::new(USAGE, message));
        }
        interrupt::listen()?;
        let hash = match scene_hash(&plan, point) {
            Ok(hash) => hash,
            Err(failure) => {
                save_failure(folder, point, &failure)?;
                return Err(failure);
            }
        };
        return match run(&plan, folder, point, hash)? {
            Ended::Stopped => Ok(INTERRUPTED),
            Ended::Saved(None) => Ok(DONE),
            Ended::Saved(Some(failure)) => Err(Failure::input(failure)),
        };
    }
    // a scene that cannot be read with any of the values is a wrong command, with some of them a failure of these points
    let hashes: Vec<Result<String, Failure>> = (0..plan.points()).map(|point| scene_hash(&plan, point)).collect();
    if hashes.iter().all(Result::is_err) {
        return hashes.into_iter().next().unwrap_or_else(|| Err(Failure::new(USAGE, "no point to run"))).map(|_| DONE);
    }
    plan.write(folder).map_err(Failure::input)?;
    if let Some(scheduler) = arguments.emit {
        return emit(scheduler, arguments, &plan);
    }
    let _alone = alone(folder)?;
    interrupt::listen()?;
    let mut open = Vec::new();
    for (point, hash) in hashes.into_iter().enumerate() {
        match hash {
            Err(failure) => save_failure(folder, point, &failure)?,
            Ok(hash) => {
                let before = Outcome::read(folder, point).map_err(Failure::input)?;
                if before.is_none_or(|o| o.scene_hash != hash || o.failure.is_some()) {
                    open.push((point, hash));
                }
            }
        }
    }
    let jobs = arguments.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    run_all(&plan, folder, &open, jobs)?;
    let code = collect(arguments, &plan)?;
    if interrupt::asked() {
        tell("interrupted; the same command goes on from here");
        return Ok(INTERRUPTED);
    }
    Ok(code)
}

/// The folder for this sweep alone, until the file is closed: two would run each point twice and write over each other.
fn alone(folder: &Path) -> Result<File, Failure> {
    let path = folder.join("sweep.lock");
    let lock = File::create(&path).map_err(|e| Failure::input(format!("{}: cannot be created: {e}", path.display())))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            let message =
                format!("{}: another sweep runs in this folder; wait for its end, or give --out another folder", folder.display());
            Err(Failure::input(message))
        }
        Err(TryLockError::Error(e)) => Err(Failure::input(format!("{}: cannot be locked: {e}", path.display()))),
    }
}

/// The plan of the arguments, or of the folder; where both are there they have to agree.
fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let folder = arguments.out.as_path();
    let there = Plan::read(folder).map_err(Failure::input)?;
    let Some(scene) = &arguments.scene else {
        return there.ok_or_else(|| {
            Failure::input(format!("{}: holds no sweep.json; make the sweep first, with --emit or without", folder.display()))
        });
    };
    let axes = arguments.set.iter().map(|text| Axis::parse(text)).collect::<Result<Vec<_>, _>>();
    let axes = axes.map_err(|wrong| Failure::new(USAGE, format!("--set {wrong}")))?;
    for (k, axis) in axes.iter().enumerate() {
        if axes[..k].iter().any(|before| before.key == axis.key) {
            let message = format!("--set {}: is given twice; write all its values into one, {}=a,b,c", axis.key, axis.key);
            return Err(Failure::new(USAGE, message));
        }
    }
    let mut options = Vec::new();
    let mut option = |name: &str, value: Option<String>| options.extend(value.into_iter().flat_map(|v| [name.to_owned(), v]));
    option("--step", arguments.step.map(|h| h.to_string()));
    option("--tol", arguments.tol.map(|tol| tol.to_string()));
    option("--until", arguments.until.map(|t| t.to_string()));
    option("--threads", Some(arguments.threads.to_string()));
    let plan = Plan { scene: scene.clone(), axes, options, outputs: arguments.outputs };
    if plan.points() > MAX_POINTS {
        return Err(Failure::new(USAGE, format!("the values make {} runs; at most {MAX_POINTS} are possible", plan.points())));
    }
    // the number of threads changes no result
    let of_runs = |plan: &Plan| (plan.scene.clone(), plan.axes.clone(), plan.options[..plan.options.len().saturating_sub(2)].to_vec());
    if there.as_ref().is_some_and(|there| of_runs(there) != of_runs(&plan)) {
        let message = format!("{}: holds another sweep; give --out another folder, or remove this one", folder.display());
        return Err(Failure::input(message));
    }
    Ok(plan)
}

/// Writes that a point has no scene to run, and why.
fn save_failure(folder: &Path, point: usize, failure: &Failure) -> Result<(), Failure> {
    Outcome { failure: Some(failure.message.clone()), ..Outcome::default() }.write(folder, point).map_err(Failure::input)
}

/// The fingerprint of the scene of a point, as text.
fn scene_hash(plan: &Plan, point: usize) -> Result<String, Failure> {
    let set = plan.settings(point).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    let scene = Changes::new(set, None, None).load(&plan.scene)?;
    Ok(format!("{:016x}", fingerprint(&scene)))
}

/// How a run came to its end.
enum Ended {
    /// Its file is written; why it failed, if it did.
    Saved(Option<String>),
    /// The sweep was interrupted.
    Stopped,
}

/// Runs the points, `jobs` at a time.
fn run_all(plan: &Plan, folder: &Path, open: &[(usize, String)], jobs: usize) -> Result<(), Failure> {
    let target = if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(open.len() as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar:.blue} {pos} of {len} runs  {eta} left  {msg}") {
        bar.set_style(style);
    }
    bar.tick();
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<(), Failure> {
        while let Some((point, hash)) = open.get(next.fetch_add(1, Ordering::SeqCst)) {
            let ended = run(plan, folder, *point, hash.clone()).inspect_err(|_| interrupt::ask())?;
            match ended {
                Ended::Stopped => return Ok(()),
                Ended::Saved(None) => {}
                Ended::Saved(Some(_)) => {
                    bar.set_message(format!("{} failed", failed.fetch_add(1, Ordering::SeqCst) + 1));
                }
            }
            bar.inc(1);
        }
        Ok(())
    };
    let result = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.min(open.len())).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.collect::<Vec<_>>().into_iter().collect::<Result<Vec<()>, Failure>>()
    });
    bar.finish_and_clear();
    result.map(|_| ())
}

/// Runs one point as a process of its own and saves what it leaves: a run that is killed, or runs out of memory, harms no other.
fn run(plan: &Plan, folder: &Path, point: usize, scene_hash: String) -> Result<Ended, Failure> {
    let program = std::env::current_exe().map_err(|e| Failure::input(format!("the program cannot find itself: {e}")))?;
    let (answer, log) = (place(folder, point, ".out"), place(folder, point, ".log"));
    // new files, not the old ones emptied: the runs of a sweep that was killed may still be writing to those
    let create = |path: &Path| {
        let _ = std::fs::remove_file(path);
        File::create_new(path).map_err(|e| Failure::input(format!("{}: cannot be created: {e}", path.display())))
    };
    let mut command = Command::new(program);
    command.arg("run").arg(&plan.scene).args(&plan.options).arg("--json");
    for (key, value) in plan.settings(point) {
        command.arg("--set").arg(format!("{key}={value}"));
    }
    if plan.outputs {
        command.arg("--out").arg(place(folder, point, ""));
    }
    command.stdin(Stdio::null()).stdout(create(&answer)?).stderr(create(&log)?);
    let mut child = command.spawn().map_err(|e| Failure::input(format!("a run cannot be started: {e}")))?;
    let gone = |e: std::io::Error| Failure::input(format!("a run cannot be watched: {e}"));
    let status = loop {
        if interrupt::asked() {
            let _ = child.kill();
            child.wait().map_err(gone)?;
            return Ok(Ended::Stopped);
        }
        match child.try_wait().map_err(gone)? {
            Some(status) => break status,
            None => std::thread::sleep(LOOK),
        }
    };
    if status.code() == Some(i32::from(INTERRUPTED)) {
        return Ok(Ended::Stopped);
    }
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| Failure::input(format!("{}: cannot be read: {e}", path.display())));
    let summary = serde_json::from_str(&read(&answer)?).ok();
    let failure = if status.success() && summary.is_some() { None } else { Some(why(status, &read(&log)?)) };
    Outcome { scene_hash, summary, failure: failure.clone() }.write(folder, point).map_err(Failure::input)?;
    let _ = std::fs::remove_file(&answer);
    if std::fs::metadata(&log).is_ok_and(|m| m.len() == 0) {
        let _ = std::fs::remove_file(&log);
    }
    Ok(Ended::Saved(failure))
}

/// Why a run failed: the error that it told, or how it ended. What it said before is no reason: it warns of scenes that it runs.
fn why(status: ExitStatus, log: &str) -> String {
    if let Some(error) = log.lines().rev().find_map(|line| line.strip_prefix("error: ")) {
        return error.to_owned();
    }
    let last =
        log.lines().rev().find(|line| !line.trim().is_empty()).map_or_else(String::new, |line| format!("; the last it said: {line}"));
    format!("the run ended without an answer ({status}){last}")
}

/// Makes the table of the points that have ended and tells what there is.
fn collect(arguments: &Arguments, plan: &Plan) -> Result<u8, Failure> {
    let folder = arguments.out.as_path();
    let mut outcomes = Vec::new();
    for point in 0..plan.points() {
        outcomes.extend(Outcome::read(folder, point).map_err(Failure::input)?.map(|outcome| (point, outcome)));
    }
    let path = folder.join("results.csv");
    write_results(&path, plan, &outcomes).map_err(Failure::input)?;
    let failed: Vec<&(usize, Outcome)> = outcomes.iter().filter(|(_, outcome)| outcome.failure.is_some()).collect();
    let (done, missing) = (outcomes.len() - failed.len(), plan.points() - outcomes.len());
    for (point, outcome) in &failed {
        let values: Vec<String> = plan.settings(*point).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        tell(&format!("failed: point {point} ({}): {}", values.join(" "), outcome.failure.as_deref().unwrap_or("")));
    }
    let warned =
        outcomes.iter().filter_map(|(_, o)| o.summary.as_ref()?.get("warnings")?.as_array()).filter(|list| !list.is_empty()).count();
    if arguments.json {
        let line = serde_json::json!({
            "points": plan.points(), "done": done, "failed": failed.len(), "missing": missing, "warned": warned,
            "results": path.display().to_string(),
        });
        say(&line.to_string());
    } else {
        say(&format!(
            "{done} of {} runs done, {} failed, {missing} missing, {warned} with warnings: {}",
            plan.points(),
            failed.len(),
            path.display()
        ));
    }
    Ok(match (failed.len(), done) {
        (0, _) => DONE,
        (_, 0) => INPUT,
        _ => PARTLY,
    })
}

/// Writes what a scheduler needs.
fn emit(scheduler: Scheduler, arguments: &Arguments, plan: &Plan) -> Result<u8, Failure> {
    let folder = arguments.out.as_path();
    let program = std::env::current_exe().map_err(|e| Failure::input(format!("the program cannot find itself: {e}")))?;
    let job = |point: &str| format!("{} sweep --out {} --point {point}", quoted(&program), quoted(folder));
    let (name, text, how) = match scheduler {
        Scheduler::Slurm => {
            let most = arguments.jobs.map_or(String::new(), |n| format!("%{n}"));
            let title: String = plan.scene.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let (last, threads, exec) = (plan.points() - 1, arguments.threads, job("\"$SLURM_ARRAY_TASK_ID\""));
            let text = format!(
                "#!/bin/sh\n#SBATCH --job-name={title}\n#SBATCH --array=0-{last}{most}\n#SBATCH --ntasks=1\n\
                 #SBATCH --cpus-per-task={threads}\n#SBATCH --output=/dev/null\nexec {exec}\n"
            );
            ("sweep.sbatch", text, "sbatch ")
        }
        Scheduler::Parallel => {
            let lines: Vec<String> = (0..plan.points()).map(|point| job(&point.to_string())).collect();
            ("sweep.jobs", format!("{}\n", lines.join("\n")), "parallel < ")
        }
    };
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|e| Failure::input(format!("{}: cannot be written: {e}", path.display())))?;
    let (points, shown) = (plan.points(), quoted(folder));
    if arguments.json {
        say(&serde_json::json!({ "points": points, "jobs": path.display().to_string() }).to_string());
    } else {
        say(&format!(
            "{points} points; start them here with\n  {how}{}\nand then\n  drystone sweep --collect --out {shown}",
            quoted(&path)
        ));
    }
    Ok(DONE)
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_run_that_was_killed_failed_by_that_and_not_by_what_it_warned_of() {
        let (killed, refused) = (ExitStatus::from_raw(9), ExitStatus::from_raw(3 << 8));
        let warned = "fault: b: overlaps wall by 2 m\n\n";
        let told = why(killed, warned);
        assert!(told.starts_with("the run ended without an answer (signal: 9") && told.ends_with("by 2 m"), "{told}");
        assert!(why(killed, "").ends_with(')'));
        assert_eq!(why(refused, &format!("{warned}error: found nothing\n  write something\n")), "found nothing");
    }
}
