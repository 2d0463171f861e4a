//! One-step problems of a run as files, for `drystone solve` and other solvers.

use super::Failure;
use crate::assembly::global::Global;
use crate::assembly::problem::StepProblem;
use crate::io::problem::json;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::global::GlobalProblem;
use crate::numerics::solvers::{Kind, Problem};
use std::path::{Path, PathBuf};

/// Writes the problem of the last step into `folder`, as `name.hdf5` (fclib_global with the reactions as solution), or as `.json` where
/// joints, moments or other relations have rows, which FCLIB has no place for. Gives the path.
pub(super) fn write(folder: &Path, name: &str, step: &StepProblem, title: &str) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::input(format!("{}: cannot be created: {e}", folder.display())))?;
    let (global, r) = step.global_with_moments();
    let problem = Problem::Global(stated(global));
    if problem.kind() == Kind::GlobalFriction && cfg!(feature = "hdf5") {
        let path = folder.join(format!("{name}.hdf5"));
        return hdf5(&path, problem, r, title.to_owned()).map(|()| path);
    }
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, json::text(&problem)).map_err(|e| Failure::input(format!("{}: cannot be written: {e}", path.display())))?;
    Ok(path)
}

/// What a file says of where its problem comes from.
pub(super) fn title(scene: &str, step: u64, time: f64) -> String {
    format!("drystone: {scene}, step {step}, t = {time} s")
}

#[cfg(feature = "hdf5")]
fn hdf5(path: &Path, problem: Problem, r: Vec<f64>, title: String) -> Result<(), Failure> {
    use crate::io::fclib::{Stored, write};
    use crate::numerics::solvers::Solution;
    let mut solution = Solution { r, ..problem.zero() };
    // an M that cannot be factorised has no velocities to show
    let solution = problem.residual(&mut solution).ok().map(|_| solution);
    let description = "one time step of Moreau and Jean; impulses in N s, velocities in m/s and rad/s".to_owned();
    write(path, &Stored { solution, title, description, ..Stored::of(problem) }).map_err(Failure::input)
}

#[cfg(not(feature = "hdf5"))]
fn hdf5(_: &Path, _: Problem, _: Vec<f64>, _: String) -> Result<(), Failure> {
    Ok(())
}

/// (M, H, f, w, μ) of the step, with H turned round to dof × rows as files have it.
fn stated(global: Global) -> GlobalProblem {
    let contacts = global.mu.len();
    let mut offsets: Vec<usize> = (0..=contacts).map(|i| 3 * i).collect();
    let mut sets: Vec<AdmissibleSet> = global.contacts().collect();
    for (set, rows) in global.blocks {
        offsets.push(offsets[offsets.len() - 1] + rows);
        sets.push(set);
    }
    GlobalProblem { mass: global.mass.to_csc(), h: global.h.transpose_into().to_csc(), f: global.f, w: global.w, offsets, sets }
}
