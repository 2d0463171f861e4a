//! What is left of steps that went wrong, under `--out`.

use super::{Failure, export};
use crate::assembly::problem::StepProblem;
use crate::diagnostics::postmortem::last_step;
use crate::io::error::replace_file;
use crate::io::scene::Scene;
use crate::numerics::Status;
use crate::scenes::Built;
use crate::simulation::StepReport;
use std::path::{Path, PathBuf};

/// Steps of a run that are kept.
const KEPT: usize = 3;

/// How the head of a scene calls a step that has an answer.
const LAGGED: &str = "was solved with lagged friction";

/// The step that a file is of, `step_000051.toml`.
fn number(name: &str) -> Option<u64> {
    name.strip_prefix("step_")?.split_once('.')?.0.parse().ok()
}

/// Which of the steps that are kept gives way to the next one, or their number where there is room: one that was missed or has no solution
/// takes the place of the last with lagged friction, which has an answer.
fn place(kept: &[(u64, bool)], lagged: bool) -> Option<usize> {
    if kept.len() < KEPT { Some(kept.len()) } else { kept.iter().rposition(|&(_, old)| old && !lagged) }
}

/// The first steps that were missed, infeasible or solved with lagged friction, each as a problem and as a scene.
pub(super) struct PostMortem {
    folder: PathBuf,
    /// Number of each step that is kept, and whether it was solved with lagged friction.
    steps: Vec<(u64, bool)>,
}

impl PostMortem {
    /// Under `directory`, of a run that goes on after so many steps, or begins and forgets what an earlier one left there.
    pub(super) fn new(directory: &Path, reached: Option<u64>) -> Result<Self, Failure> {
        let folder = directory.join("postmortem");
        let mut steps = Vec::new();
        if folder.is_dir() {
            let wrong = |e: std::io::Error| Failure::input(format!("{}: cannot be read or emptied: {e}", folder.display()));
            for entry in std::fs::read_dir(&folder).map_err(wrong)? {
                let path = entry.map_err(wrong)?.path();
                let Some(step) = path.file_name().and_then(|n| number(&n.to_string_lossy())).filter(|_| path.is_file()) else { continue };
                if reached.is_none_or(|reached| step > reached) {
                    std::fs::remove_file(&path).map_err(wrong)?;
                } else if path.extension().is_some_and(|e| e == "toml") {
                    let head = std::fs::read_to_string(&path).map_err(wrong)?;
                    steps.push((step, head.lines().next().is_some_and(|line| line.contains(LAGGED))));
                }
            }
            steps.sort_unstable();
        }
        Ok(Self { folder, steps })
    }

    /// Keeps the step that has just ended, if it is one of the first that went wrong.
    pub(super) fn step(&mut self, report: &StepReport, scene: &Scene, built: &Built) -> Result<(), Failure> {
        let lagged = report.report.status == Status::Lagged && !report.infeasible;
        let Some(place) = place(&self.steps, lagged).filter(|_| !report.converged || report.infeasible) else { return Ok(()) };
        let simulation = &built.simulation;
        let problem = simulation.world().resource::<StepProblem>();
        let rows = !(problem.problem.contacts.is_empty() && problem.problem.blocks.is_empty());
        if !rows && problem.held.is_empty() {
            return Ok(()); // a system without bodies
        }
        if rows {
            let title = export::title(&scene.name, report.step, report.time);
            export::write(&self.folder, &format!("step_{:06}", report.step), problem, &title)?;
        }
        let wrong = |e: std::io::Error| Failure::input(format!("{}: cannot be created: {e}", self.folder.display()));
        std::fs::create_dir_all(&self.folder).map_err(wrong)?;
        if let Some(alone) = last_step(scene, &built.entities, simulation) {
            let what = match report.infeasible {
                true => "has no solution",
                false if lagged => LAGGED,
                false => "missed its tolerance",
            };
            let unknown = [
                (!problem.rebounds.is_empty(), "what began to bounce in the step before"),
                (!problem.bonded.is_empty(), "what mortar has been damaged"),
                (problem.problem.contacts.iter().any(|c| c.most > 0.0), "what joints have been crushed"),
            ];
            let unknown: Vec<&str> = unknown.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
            let repeats = match unknown.is_empty() {
                true => "`drystone run` repeats it".to_owned(),
                false => format!("it does not know {}; the problem beside it does", unknown.join(", nor ")),
            };
            let head = format!("# step {} of {}, which {what}, alone: {repeats}\n", report.step, scene.name);
            let path = self.folder.join(format!("step_{:06}.toml", report.step));
            replace_file(&path, (head + &alone.to_toml()).as_bytes()).map_err(Failure::input)?;
        }
        if place < self.steps.len() {
            let (old, _) = self.steps.remove(place);
            for ending in ["toml", "hdf5", "json"] {
                match std::fs::remove_file(self.folder.join(format!("step_{old:06}.{ending}"))) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(wrong(e)),
                    _ => {}
                }
            }
        }
        self.steps.push((report.step, lagged));
        Ok(())
    }

    /// Where to look, if there is something.
    pub(super) fn note(&self) -> Option<String> {
        let (first, _) = self.steps.first()?;
        let steps: Vec<String> = self.steps.iter().map(|(step, _)| step.to_string()).collect();
        let (folder, steps) = (self.folder.display(), steps.join(", "));
        Some(format!(
            "{folder} holds what went wrong in step {steps}; `drystone solve` takes each as a problem, `drystone run \
             {folder}/step_{first:06}.toml` as a scene of its own"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn steps_with_an_answer_give_way_to_those_without() {
        let mut kept = Vec::new();
        for (step, lagged) in [(1, true), (2, true), (3, false), (4, true), (5, true), (6, false), (7, false), (8, false)] {
            let Some(place) = place(&kept, lagged) else { continue };
            kept.splice(place.min(kept.len())..kept.len().min(place + 1), []);
            kept.push((step, lagged));
        }
        assert_eq!(kept, [(3, false), (6, false), (7, false)]);
    }
}
