//! Every LCP, MLCP and relay of the shared collection, by every solver that claims it, with the residual recomputed here.
#![cfg(feature = "simulation")]

use drystone::io::problem::read;
use drystone::numerics::solvers::{Kind, Problem, Settings, Solver};
use drystone::numerics::{Report, Status};
use std::io::Write;
use std::path::{Path, PathBuf};

/// |z − P(z − w)| / max(|q|, |z|, |w|), written anew from the definition.
fn natural_map(p: &Problem, z: &[f64]) -> f64 {
    let (m, q) = match p {
        Problem::Lcp(p) => (&p.m, &p.q),
        Problem::Mlcp(p) => (&p.m, &p.q),
        Problem::Relay(p) => (&p.m, &p.q),
        _ => panic!("no complementarity problem"),
    };
    let mut w = vec![0.0; m.rows()];
    m.multiply(z, &mut w);
    w.iter_mut().zip(q).for_each(|(w, q)| *w += q);
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let map: Vec<f64> = match p {
        Problem::Relay(p) => (0..z.len()).map(|i| z[i] - (z[i] - w[i]).clamp(p.lower[i], p.upper[i])).collect(),
        Problem::Mlcp(p) => {
            let mut bounded = (0..z.len()).filter(|&j| !p.free[j]);
            w.iter().zip(&p.equality).map(|(w, e)| if *e { *w } else { w.min(z[bounded.next().expect("a partner")]) }).collect()
        }
        _ => z.iter().zip(&w).map(|(z, w)| z.min(*w)).collect(),
    };
    let error = norm(&map);
    if error == 0.0 { 0.0 } else { error / norm(q).max(norm(z)).max(norm(&w)) }
}

fn collection(kind: Kind) -> Vec<(String, Problem)> {
    let folder = Path::new("../shared/problems").join(kind.name());
    let Ok(entries) = std::fs::read_dir(&folder) else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: no folder {}", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let name = |p: &Path| p.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().filter(|p| name(p).contains(".dat")).map(|p| (name(p), read(p, Some(kind)).unwrap_or_else(|e| panic!("{e}")))).collect()
}

/// Solvers with a parameter.
const SOLVERS: [(&str, Option<(&str, &str)>); 11] = [
    ("auto", None),
    ("lemke", None),
    ("murty", None),
    ("newton_fb", None),
    ("newton_min", None),
    ("interior_point", None),
    ("pgs", None),
    ("psor", None),
    ("pgs", Some(("regularisation", "1"))),
    ("block", None),
    ("enumeration", Some(("max_bases", "16384"))),
];

/// `None` where the solver does not take such a problem.
fn run(name: &str, parameter: Option<(&str, &str)>, p: &Problem) -> Option<(Report, f64, f64)> {
    let solver = Solver::named(name).expect("a solver");
    if !solver.entry().claims(p) {
        return None;
    }
    let solver = match parameter {
        Some((name, value)) => solver.with(name, value).expect("a parameter"),
        None => solver,
    };
    let clock = std::time::Instant::now();
    let answer = p.solve(&Settings { solver: Some(solver), ..Settings::default() }).expect("a legal problem");
    let time = clock.elapsed().as_secs_f64();
    assert!(answer.solution.r.iter().chain(&answer.solution.u).all(|x| x.is_finite()), "a number that is not finite");
    Some((answer.report, natural_map(p, &answer.solution.r), time))
}

/// Runs the collection; at least `needed[name]` problems must be solved to 1e-8, and a report never flatters.
fn solve_all(kind: Kind, needed: &[(&str, usize)]) {
    let problems = collection(kind);
    if problems.is_empty() {
        return;
    }
    for (name, parameter) in SOLVERS {
        let mut solved = 0;
        for (file, p) in &problems {
            let Some((report, rel, time)) = run(name, parameter, p) else { continue };
            let Report { status, iterations, factorisations, .. } = report;
            println!("{name:12} {file:36} {status:?} its {iterations} lu {factorisations} rel {rel:.1e} {:.1} µs", 1e6 * time);
            assert_eq!(report.converged(), report.rel <= 1e-8, "{name} on {file}: {report:?}");
            assert!((rel - report.rel).abs() <= 1e-12 + 1e-6 * rel, "{name} on {file}: {rel:e} against {:e}", report.rel);
            solved += usize::from(rel <= 1e-8);
        }
        println!("{name}: {solved} of {}", problems.len());
        if let Some((_, least)) = needed.iter().find(|(n, _)| *n == name) {
            assert!(solved >= *least, "{name} solves {solved} of {} {}, {least} are expected", problems.len(), kind.name());
        }
    }
}

#[test]
fn the_lcp_collection_is_solved() {
    solve_all(Kind::Lcp, &[("auto", 15), ("lemke", 15)]);
}

#[test]
fn the_mlcp_collection_is_solved() {
    solve_all(Kind::Mlcp, &[("auto", 13)]);
}

#[test]
fn the_relay_collection_is_solved() {
    solve_all(Kind::Relay, &[("auto", 5), ("lemke", 5), ("newton_fb", 5)]);
}

#[test]
fn the_problem_without_solution_is_proved_to_have_none() {
    for (name, p) in collection(Kind::Lcp).iter().filter(|(name, _)| name.starts_with("lcp_Pang_isolated_sol_perturbed")) {
        assert_eq!(run("auto", None, p).map(|found| found.0.status), Some(Status::Inconsistent), "{name}");
    }
}
