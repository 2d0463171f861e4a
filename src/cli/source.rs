//! Which scene a command works on, and how its numbers are read.

use super::report::{COMMAND, SCENE_OF_RUN, words};
use super::{Failure, USAGE, tell};
use crate::algebra::pieces::within_pool;
use crate::io::scene::model::TimeStepping;
use crate::io::scene::{Scene, SceneFile, SceneSource, builtin, seconds};
use crate::io::table::format_number;
use crate::scenes::BuildError;
use crate::simulation::AutoStep;
use std::path::Path;

/// Changes of a scene that several commands take.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Changes {
    /// Change a parameter of a built-in scene, or a value of a file by its dotted TOML path (lists count from 0); repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Time step in seconds or with its unit (2ms) instead of the scene's, or auto: each step chosen from speeds and sizes
    #[arg(long, allow_hyphen_values = true, value_name = "H", value_parser = step_size)]
    step: Option<StepSize>,
    /// Largest admissible residual e_s of a step instead of the scene's
    #[arg(long, allow_hyphen_values = true, value_name = "E_S", value_parser = tolerance)]
    tol: Option<f64>,
}

impl Changes {
    /// These values, one `KEY=VALUE` each, and what the scene keeps otherwise.
    pub(super) fn new(set: Vec<String>, step: Option<StepSize>, tol: Option<f64>) -> Self {
        Self { set, step, tol }
    }

    /// True when nothing is changed, but step and tolerance perhaps.
    pub(super) fn leave_the_scene(&self) -> bool {
        self.set.is_empty()
    }

    /// True when nothing is changed at all.
    pub(super) fn are_none(&self) -> bool {
        self.set.is_empty() && self.step.is_none() && self.tol.is_none()
    }

    /// The step that is asked for.
    pub(super) fn step(&self) -> Option<StepSize> {
        self.step
    }

    /// The tolerance that is asked for.
    pub(super) fn tolerance(&self) -> Option<f64> {
        self.tol
    }

    /// Loads the scene and changes it.
    pub(super) fn load(&self, scene: &str) -> Result<Scene, Failure> {
        self.load_with_files(scene).map(|(scene, _)| scene)
    }

    /// The same of a scene, or of the one that a run in this folder had, which ends where the run did.
    pub(super) fn load_or_repeat(&self, scene: &str) -> Result<Scene, Failure> {
        let Some(run) = PastRun::of(scene)? else {
            if is_folder(scene) {
                let there = |name: &str| if Path::new(scene).join(name).is_file() { "is there" } else { "is missing" };
                let (command, own) = (there(COMMAND), there(SCENE_OF_RUN));
                let message = format!("{scene}: this folder holds no run: {COMMAND} {command}, {SCENE_OF_RUN} {own}");
                let cure = format!("`drystone run SCENE --out {scene}` writes both; or name a scene, or a scene file (.toml)");
                return Err(Failure::input(format!("{message}\n  {cure}")));
            }
            return self.load(scene);
        };
        let set = run.changes.set.into_iter().chain(self.set.clone()).collect();
        let changes = Self { set, step: self.step.or(run.changes.step), tol: self.tol.or(run.changes.tol) };
        let mut scene = changes.load(&run.scene)?;
        scene.time.end = run.end.unwrap_or(scene.time.end);
        Ok(scene)
    }

    /// What `--set` says, one key and value each.
    fn settings(&self) -> Result<Vec<(String, String)>, Failure> {
        let pair = |text: &String| match text.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            None => Err(Failure::new(USAGE, format!("--set {text}: found no `=`; write --set key=value"))),
        };
        self.set.iter().map(pair).collect()
    }

    /// The text of a scene with these changes and another end, if there is one: what has to be run for the same result.
    pub(super) fn text(&self, scene: &str, until: Option<f64>) -> Result<String, Failure> {
        let mut settings = self.settings()?;
        let mut put = |key: &str, value: String| settings.push((key.to_owned(), value));
        match self.step {
            None => {}
            Some(StepSize::Fixed(h)) => put("time.step", format!("{h:?}")),
            Some(StepSize::Auto) => put("time.step", "\"auto\"".to_owned()),
        }
        self.tol.iter().for_each(|tolerance| put("solver.tolerance", format!("{tolerance:?}")));
        until.iter().for_each(|end| put("time.end", format!("{end:?}")));
        SceneSource::new(scene).text_with(&settings).map_err(Failure::input)
    }

    /// The scene, changed, and the files that it names.
    pub(super) fn load_with_files(&self, scene: &str) -> Result<(Scene, Vec<SceneFile>), Failure> {
        if PastRun::is_in(scene) {
            let message = format!("{scene}: holds a run; its scene is {scene}/{SCENE_OF_RUN}, its command stands in {scene}/{COMMAND}");
            return Err(Failure::input(message));
        }
        if is_folder(scene) {
            let cure = "name a scene file (.toml) or a built-in scene (`drystone scenes`)";
            return Err(Failure::input(format!("{scene}: is a folder, not a scene\n  {cure}")));
        }
        let (mut scene, files) = Scene::load_with_files(&SceneSource::new(scene), &self.settings()?).map_err(Failure::input)?;
        match self.step {
            None => {}
            Some(StepSize::Fixed(h)) => (scene.time.step, scene.time.accuracy) = (h, None),
            Some(StepSize::Auto) if scene.time.accuracy.is_some() => {}
            Some(StepSize::Auto) => {
                let usual = TimeStepping::usual_accuracy(scene.time.treatment);
                (scene.time.step, scene.time.accuracy) = (AutoStep::default().largest, Some(usual));
            }
        }
        scene.solver.tolerance = self.tol.unwrap_or(scene.solver.tolerance);
        Ok((scene, files))
    }
}

/// Whether this is a folder, and no built-in scene.
fn is_folder(scene: &str) -> bool {
    let built_in = matches!(SceneSource::new(scene), SceneSource::BuiltIn(name) if builtin::find(&name).is_ok());
    !built_in && Path::new(scene).is_dir()
}

/// What a run in a folder was started with.
struct PastRun {
    scene: String,
    changes: Changes,
    /// When it ended (s), if it did.
    end: Option<f64>,
}

impl PastRun {
    /// Whether this is a folder that holds a run.
    fn is_in(scene: &str) -> bool {
        is_folder(scene) && [COMMAND, SCENE_OF_RUN].iter().all(|name| Path::new(scene).join(name).is_file())
    }

    fn of(folder: &str) -> Result<Option<Self>, Failure> {
        if !Self::is_in(folder) {
            return Ok(None);
        }
        let path = Path::new(folder).join(COMMAND);
        let text = std::fs::read_to_string(&path).map_err(|e| Failure::input(format!("{}: cannot be read: {e}", path.display())))?;
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let Some((first, changes, until)) = lines.next().and_then(|line| super::arguments_of_run(&words(line))) else {
            let cure = "name the scene instead of the folder";
            return Err(Failure::input(format!("{}: found no command of a run\n  {cure}", path.display())));
        };
        let resumed = lines.filter_map(|line| super::arguments_of_run(&words(line)));
        if resumed.into_iter().any(|(_, changes, _)| !changes.are_none()) {
            tell(&format!(
                "note: the run in {folder} went on with another tolerance or step; here it is made with those of its start throughout"
            ));
        }
        // the scene of a file has the settings of the run in it, as has that of a run of which no more than its end is known
        let (scene, changes) = match first {
            Some(scene) if matches!(SceneSource::new(&scene), SceneSource::BuiltIn(_)) => (scene, changes),
            _ => (Path::new(folder).join(SCENE_OF_RUN).to_string_lossy().into_owned(), Changes::default()),
        };
        let summary = std::fs::read_to_string(Path::new(folder).join("summary.json")).ok();
        let ended = summary.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok()?["time"].as_f64());
        Ok(Some(Self { scene, changes, end: ended.or(until) }))
    }
}

/// A scene that cannot be built, with the place of the body at fault where it comes from a file.
pub(super) fn unbuilt(scene: Option<&str>, error: &BuildError) -> Failure {
    let place = scene.zip(error.body()).and_then(|(scene, body)| Scene::place_of_body(&SceneSource::new(scene), body));
    match place.as_deref().or(scene) {
        Some(place) => Failure::input(format!("{place}: {error}")),
        None => Failure::input(error),
    }
}

/// What `--step` asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepSize {
    Auto,
    Fixed(f64),
}

pub(super) fn step_size(text: &str) -> Result<StepSize, String> {
    if text.trim() == "auto" {
        return Ok(StepSize::Auto);
    }
    span(text).map(StepSize::Fixed).map_err(|hint| format!("{hint}, or auto"))
}

impl std::fmt::Display for StepSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => write!(f, "auto"),
            Self::Fixed(h) => write!(f, "{h}"),
        }
    }
}

/// An instant (s), with or without its unit: 0 or later.
pub(super) fn instant(text: &str) -> Result<f64, String> {
    let found = seconds(text)?;
    if found >= 0.0 && found.is_finite() {
        Ok(found)
    } else {
        Err("write a finite time of 0 or later, such as 0.5 or \"500 ms\"".to_owned())
    }
}

/// A time (s) above zero, with or without its unit.
pub(super) fn span(text: &str) -> Result<f64, String> {
    let found = seconds(text)?;
    if found > 0.0 && found.is_finite() { Ok(found) } else { Err("write a finite time above zero, such as 0.002 or \"2 ms\"".to_owned()) }
}

/// A number above zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let found = text.trim().parse::<f64>().map_err(|_| "write a number, such as 0.002".to_owned())?;
    if found > 0.0 && found.is_finite() { Ok(found) } else { Err("write a finite number above zero".to_owned()) }
}

/// An error that can be asked for.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    let found = positive(text)?;
    if found < 1.0 { Ok(found) } else { Err("it asks for nothing; write a number below 1, such as 1e-6".to_owned()) }
}

/// Too many steps for a run that anyone waits for; the scene reader has the same limit.
pub(super) fn check_length(scene: &Scene) -> Result<(), Failure> {
    let steps = scene.time.end / scene.time.step;
    if steps <= 1e9 {
        return Ok(());
    }
    let (end, step) = (format_number(scene.time.end), format_number(scene.time.step));
    Err(Failure::new(USAGE, format!("{end} s in steps of {step} s are {steps:.1e} steps; at most 1e9 are possible")))
}

/// Does the work of a command with so many threads for all kernels; without a number, with as many as there are cores.
///
/// With more than one it is done by a thread of the pool from its beginning to its end: to hand over each step takes two wakings of a thread that sleeps.
pub(super) fn on_threads<R: Send>(
    threads: Option<impl Into<usize>>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    // as deep as the stack of the first thread, on which the work is done else
    let mut pool = rayon::ThreadPoolBuilder::new().stack_size(8 << 20);
    let threads = threads.map(Into::into);
    if let Some(threads) = threads {
        pool = pool.num_threads(threads);
    }
    pool.build_global().map_err(|error| {
        let asked = threads.map_or_else(|| "the threads of this machine".to_owned(), |threads| format!("--threads {threads}"));
        Failure::new(USAGE, format!("{asked}: {error}"))
    })?;
    if rayon::current_num_threads() > 1 { within_pool(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_their_units() {
        assert_eq!([span("2ms"), span(" 2 ms "), span("0.002"), span("2e-3 s")], [Ok(0.002), Ok(0.002), Ok(0.002), Ok(0.002)]);
        assert_eq!((instant("0"), instant("0 s"), instant("1 min")), (Ok(0.0), Ok(0.0), Ok(60.0)));
        assert_eq!((step_size("auto"), step_size("500 us")), (Ok(StepSize::Auto), Ok(StepSize::Fixed(0.0005))));
        for wrong in ["", "0", "-1 s", "inf", "nan", "3 kg", "2 parsec", "1 h 2 min"] {
            assert!(span(wrong).is_err() && step_size(wrong).is_err(), "{wrong}");
        }
        assert!(instant("-0.1 s").is_err() && span("3 kg").expect_err("a mass").contains("found a mass"));
    }
}
