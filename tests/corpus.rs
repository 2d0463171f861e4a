//! One corpus, every engine: each registered solver on each small problem that it claims, checked by the recomputed residual.
#![cfg(feature = "simulation")]

use drystone::io::problem::read;
use drystone::numerics::solvers::{Kind, Problem, Settings, State, all};
use std::io::Write;
use std::path::{Path, PathBuf};

const TOLERANCE: f64 = 1e-8;

fn corpus() -> Vec<(String, Problem)> {
    folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/problems"), None)
}

fn folder(folder: &Path, kind: Option<Kind>) -> Vec<(String, Problem)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let hdf5 = |p: &Path| p.extension().is_some_and(|e| e == "hdf5");
    paths.retain(|p| !p.ends_with("README.md") && (cfg!(feature = "hdf5") || !hdf5(p)));
    let name = |p: &Path| p.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().map(|p| (name(p), read(p, kind).unwrap_or_else(|e| panic!("{e}")))).collect()
}

/// Dense steps of `assets/corpus/steps.txt`: harder than what every solver can do.
fn is_dense(file: &str) -> bool {
    file.starts_with("step_")
}

#[test]
fn every_solver_solves_every_problem_that_it_claims() {
    let mut wrong = Vec::new();
    for (file, problem) in corpus().into_iter().filter(|(file, _)| !is_dense(file)) {
        for solver in all().iter().filter(|solver| solver.claims(&problem)) {
            let settings = Settings { tolerance: TOLERANCE, solver: Some(solver.into()), ..Settings::default() };
            let mut answer = problem.solve(&settings).unwrap_or_else(|e| panic!("{file}: {e}"));
            let report = answer.report;
            let found = problem.residual(&mut answer.solution).expect("residuals");
            let name = solver.name;
            println!("{name:<18} {file:<24} {:?} {} iterations, {:.1e}", report.status, report.iterations, found.rel);
            let solved = report.converged() && found.rel <= TOLERANCE;
            if !solved {
                wrong.push(format!("{name} on {file}: {report:?}, recomputed {:e}", found.rel));
            }
            assert!((report.rel - found.rel).abs() <= 1e-3 * TOLERANCE, "{name} on {file}: reports {:e}, has {:e}", report.rel, found.rel);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_default_of_every_problem_is_auto() {
    for (file, problem) in corpus() {
        let answer = problem.solve(&Settings::default()).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!((answer.solver, answer.converged()), ("auto", true), "{file}");
    }
}

/// Every solver on the dense steps: those that say that they have an answer have one.
#[test]
fn dense_steps_are_solved_by_default_and_no_solver_claims_what_it_has_not() {
    let mut steps = 0;
    for (file, problem) in corpus().into_iter().filter(|(file, _)| is_dense(file)) {
        for solver in all().iter().filter(|solver| solver.claims(&problem)) {
            for tolerance in [1e-4, TOLERANCE] {
                let time_limit = (solver.name != "auto").then_some(0.3);
                let settings = Settings { tolerance, time_limit, solver: Some(solver.into()), ..Settings::default() };
                let mut answer = problem.solve(&settings).unwrap_or_else(|e| panic!("{file}: {e}"));
                let found = problem.residual(&mut answer.solution).expect("residuals");
                assert!(!answer.converged() || found.rel <= tolerance, "{} on {file}: {:?}, {found:?}", solver.name, answer.report);
                assert!(solver.name != "auto" || answer.converged(), "{file} to {tolerance:e}: {:?}", answer.report);
                if answer.converged() {
                    let blocks = problem.blocks_at(&answer.solution).expect("blocks");
                    let open = blocks.iter().filter(|b| b.state == State::Open);
                    assert!(open.into_iter().all(|b| b.normal * b.opening.abs() < 1e-3), "{} on {file}", solver.name);
                }
            }
        }
        steps += 1;
    }
    assert!(steps >= 10 || cfg!(not(feature = "hdf5")), "{steps} steps");
}

#[test]
fn a_watch_that_says_stop_is_heard() {
    for (file, problem) in corpus() {
        for solver in all().iter().filter(|solver| solver.claims(&problem)) {
            let settings = Settings { tolerance: 1e-300, solver: Some(solver.into()), ..Settings::default() };
            let mut calls = 0;
            let stop = &mut |_| {
                calls += 1;
                false
            };
            let mut answer = problem.solve_watched(&settings, stop).unwrap_or_else(|e| panic!("{file}: {e}"));
            let report = answer.report;
            assert!(calls <= 8, "{} on {file}: {calls} calls after the first said stop", solver.name);
            assert!(
                problem.residual(&mut answer.solution).is_ok_and(|found| found.rel.is_finite()),
                "{} on {file}: {report:?}",
                solver.name
            );
        }
    }
}

#[test]
fn the_mixed_collection_is_solved_by_default() {
    let path = Path::new("../shared/problems/gmp");
    if !path.exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: no folder {}", path.display());
        return;
    }
    for (file, problem) in folder(path, Some(Kind::Mixed)) {
        let mut answer = problem.solve(&Settings::default()).unwrap_or_else(|e| panic!("{file}: {e}"));
        let report = answer.report;
        let found = problem.residual(&mut answer.solution).expect("residuals");
        assert!(report.converged() && found.rel <= TOLERANCE, "{file}: {report:?}, recomputed {:e}", found.rel);
    }
}
