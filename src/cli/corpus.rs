//! `drystone corpus`: steps of scenes as problems, from a list.

use super::{DONE, Failure, export, say};
use crate::assembly::problem::StepProblem;
use crate::io::scene::{Scene, SceneSource};
use crate::scenes::build;
use std::path::{Path, PathBuf};

/// Arguments of `drystone corpus`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// List of steps
    #[arg(value_name = "LIST")]
    list: PathBuf,
    /// Only those whose names begin with one of these words
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Folder for the problems
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Number of threads; the problems are the same on any number
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}

const EXAMPLES: &str = "\
Examples:
  drystone corpus assets/corpus/steps.txt --out corpus            every step of the list
  drystone corpus assets/corpus/steps.txt pour drum --out corpus  those of which the names begin so
  drystone profile corpus --out profile

A line of the list:
  NAME SCENE [KEY=VALUE …] at T …

SCENE is a built-in scene or a file beside the list, KEY=VALUE as in `run --set`, T an instant in
seconds. The step that ends there becomes NAME_T.hdf5, T in milliseconds: an FCLIB file with the
reactions of the run as its solution (.json where joints have rows). Empty lines and lines that
begin with # are left out.";

/// A line of the list.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    name: String,
    scene: String,
    set: Vec<(String, String)>,
    /// growing (s)
    at: Vec<f64>,
}

impl Line {
    fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let mut next = |what: &str| words.next().map(str::to_owned).ok_or_else(|| format!("expected {what}, found the end of the line"));
        let (name, scene) = (next("a name")?, next("a scene")?);
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("expected a name of letters, digits and _, found `{name}`"));
        }
        let mut set = Vec::new();
        loop {
            match next("`at` and instants in seconds")? {
                at if at == "at" => break,
                change => {
                    let (key, value) = change.split_once('=').ok_or_else(|| format!("expected KEY=VALUE or `at`, found `{change}`"))?;
                    set.push((key.to_owned(), value.to_owned()));
                }
            }
        }
        let instant = |word: &str| {
            word.parse().ok().filter(|t: &f64| *t > 0.0 && t.is_finite()).ok_or(format!("expected an instant in seconds, found `{word}`"))
        };
        let at = words.map(instant).collect::<Result<Vec<f64>, String>>()?;
        if at.is_empty() || !at.is_sorted_by(|a, b| a < b) {
            return Err(format!("expected instants that grow, found {at:?}"));
        }
        Ok(Self { name, scene, set, at })
    }
}

pub(super) fn corpus(arguments: &Arguments) -> Result<u8, Failure> {
    let text = std::fs::read_to_string(&arguments.list)
        .map_err(|e| Failure::input(format!("{}: cannot be read: {e}", arguments.list.display())))?;
    let mut lines = Vec::new();
    for (number, text) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.trim().starts_with('#')) {
        let line = Line::parse(text).map_err(|e| Failure::input(format!("{}:{}: {e}", arguments.list.display(), number + 1)))?;
        lines.push(line);
    }
    lines.retain(|line| arguments.names.is_empty() || arguments.names.iter().any(|n| line.name.starts_with(n.as_str())));
    if lines.is_empty() {
        return Err(Failure::input(format!("{}: holds no step of such a name", arguments.list.display())));
    }
    say(&format!("{:<40} {:>6} {:>8} {:>10} {:>10}", "file", "bodies", "contacts", "sweeps", "e_s"));
    let beside = arguments.list.parent().unwrap_or(Path::new(""));
    lines.iter().try_for_each(|line| write(line, beside, &arguments.out))?;
    Ok(DONE)
}

/// The problems of one line.
fn write(line: &Line, beside: &Path, out: &Path) -> Result<(), Failure> {
    let source = match SceneSource::new(&line.scene) {
        SceneSource::File(path) => SceneSource::File(beside.join(path)),
        built_in => built_in,
    };
    let scene = Scene::load(&source, &line.set).map_err(Failure::input)?;
    let mut built = build(&scene).map_err(|e| Failure::input(format!("{}: {e}", line.scene)))?;
    let wrong = |e: crate::simulation::SimulationError| Failure::input(format!("{}: {e}", line.name));
    for &at in &line.at {
        let simulation = &mut built.simulation;
        let report = loop {
            let report = simulation.step().map_err(wrong)?;
            if report.time >= at - 1e-9 {
                break report;
            }
        };
        let step = simulation.world().resource::<StepProblem>();
        let title = export::title(&line.name, report.step, report.time);
        let path = export::write(out, &format!("{}_{:04}", line.name, (1e3 * at).round()), step, &title)?;
        let (contacts, sweeps, e_s) = (report.contacts, report.report.iterations, report.report.e_s);
        say(&format!("{:<40} {:>6} {contacts:>8} {sweeps:>10} {e_s:>10.1e}", path.display(), built.entities.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_scene_changes_and_instants() {
        let line = Line::parse("pour27 bead_pour n=3 mu=10 at 0.1 0.5").unwrap();
        assert_eq!((line.name.as_str(), line.scene.as_str(), &line.at[..]), ("pour27", "bead_pour", &[0.1, 0.5][..]));
        assert_eq!(line.set, [("n".into(), "3".into()), ("mu".into(), "10".into())]);
        let wrong = |text: &str| Line::parse(text).unwrap_err();
        assert!(wrong("pour").contains("expected a scene"));
        assert!(wrong("pour bead_pour").contains("`at`"));
        assert!(wrong("pour bead_pour at").contains("instants that grow"));
        assert!(wrong("pour bead_pour at 0.5 0.1").contains("instants that grow"));
        assert!(wrong("pour bead_pour n at 0.5").contains("found `n`"));
        assert!(wrong("../pour bead_pour at 0.5").contains("a name of letters"));
        assert!(wrong("pour bead_pour at -1").contains("found `-1`"));
    }
}
