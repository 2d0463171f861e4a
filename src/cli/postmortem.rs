//! What is left of steps that went wrong, under `--out`.

use super::{Failure, export};
use crate::assembly::problem::StepProblem;
use crate::diagnostics::postmortem::last_step;
use crate::io::error::replace_file;
use crate::io::scene::Scene;
use crate::scenes::Built;
use crate::simulation::StepReport;
use std::path::{Path, PathBuf};

/// Steps of a run that are kept.
const KEPT: usize = 3;

/// The first steps that were missed or infeasible, each as a problem and as a scene.
pub(super) struct PostMortem {
    folder: PathBuf,
    steps: Vec<u64>,
}

impl PostMortem {
    /// Under `directory`; a run from its start forgets what an earlier one left there.
    pub(super) fn new(directory: &Path, resumed: bool) -> Result<Self, Failure> {
        let folder = directory.join("postmortem");
        if !resumed && folder.is_dir() {
            let wrong = |e: std::io::Error| Failure::input(format!("{}: cannot be emptied: {e}", folder.display()));
            for entry in std::fs::read_dir(&folder).map_err(wrong)? {
                let path = entry.map_err(wrong)?.path();
                let ours = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("step_"));
                if ours && path.is_file() {
                    std::fs::remove_file(&path).map_err(wrong)?;
                }
            }
        }
        Ok(Self { folder, steps: Vec::new() })
    }

    /// Keeps the step that has just ended, if it is one of the first that went wrong.
    pub(super) fn step(&mut self, report: &StepReport, scene: &Scene, built: &Built) -> Result<(), Failure> {
        if (report.converged && !report.infeasible) || self.steps.len() == KEPT {
            return Ok(());
        }
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
            let what = if report.infeasible { "has no solution" } else { "missed its tolerance" };
            let head = format!("# step {} of {}, which {what}, alone: `drystone run` repeats it\n", report.step, scene.name);
            let path = self.folder.join(format!("step_{:06}.toml", report.step));
            replace_file(&path, (head + &alone.to_toml()).as_bytes()).map_err(Failure::input)?;
        }
        self.steps.push(report.step);
        Ok(())
    }

    /// Where to look, if there is something.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.steps.first()?;
        let steps: Vec<String> = self.steps.iter().map(u64::to_string).collect();
        let (folder, steps) = (self.folder.display(), steps.join(", "));
        Some(format!(
            "{folder} holds what went wrong in step {steps}; `drystone solve` and `drystone run {folder}/step_{first:06}.toml` repeat it alone"
        ))
    }
}
