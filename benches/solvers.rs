//! Problems × default solver, beside Siconos: CPU milliseconds of one solve on one thread, the best of three or more.
//!
//! ```text
//! benches/siconos.py FOLDER --out siconos.csv                      # on the same machine, at the same time
//! cargo bench --bench solvers -- FOLDER siconos.csv [NAME…]        # FOLDER holds FCLIB files
//! ```
//!
//! A solve is what a caller pays for: set-up, factorisation, for a global problem the assembly too. An answer counts when its
//! residual, recomputed from the reactions, is at most the tolerance. The ratio is Siconos' time over ours, against its best
//! solver of each problem.

use cpu_time::ProcessTime;
use drystone::io::problem::read;
use drystone::numerics::admissible::AdmissibleSet;
use drystone::numerics::solvers::{Problem, Settings};
use std::path::{Path, PathBuf};

const TOLERANCES: [f64; 2] = [1e-4, 1e-8];
/// Seconds after which a solve is stopped.
const LIMIT: f64 = 20.0;
/// CPU seconds spent on repeating a short solve.
const REPEAT: f64 = 0.1;
/// Shortest reference time that enters a mean, and fewest contacts: below them a call costs more than the work.
const SHORTEST_MS: f64 = 0.02;
const FEWEST: usize = 9;

/// One line of the reference table.
struct Reference {
    problem: String,
    tolerance: f64,
    solver: String,
    time_ms: f64,
}

/// One solve and what it is compared with.
struct Case {
    name: String,
    class: &'static str,
    contacts: usize,
    tolerance: f64,
    solved: bool,
    time_ms: f64,
    best: Option<(String, f64)>,
    default_ms: Option<f64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    // cargo passes --bench to every bench
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let Some(folder) = arguments.first() else {
        println!("cargo bench --bench solvers -- FOLDER [siconos.csv] [NAME…]");
        return Ok(());
    };
    let table = arguments.get(1).filter(|a| a.ends_with(".csv"));
    let reference = table.map_or(Ok(Vec::new()), |path| references(path.as_ref()))?;
    let wanted = &arguments[1 + usize::from(table.is_some())..];
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|e| e == "hdf5"));
    files.sort();
    println!("| problem | class | nc | tolerance | status | iterations | rel | ms | reference | ms | ratio |");
    println!("|-|-|-|-|-|-|-|-|-|-|-|");
    let mut cases = Vec::new();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let problem = read(&path, None)?;
        for tolerance in TOLERANCES {
            cases.push(case(&name, &problem, tolerance, &reference)?);
        }
    }
    println!();
    means(&cases);
    Ok(())
}

fn case(name: &str, problem: &Problem, tolerance: f64, reference: &[Reference]) -> Result<Case, Box<dyn std::error::Error>> {
    let settings = Settings { tolerance, time_limit: Some(LIMIT), ..Settings::default() };
    let solve = || -> Result<_, Box<dyn std::error::Error>> {
        let clock = ProcessTime::now();
        let answer = problem.solve(&settings)?;
        Ok((clock.elapsed().as_secs_f64(), answer))
    };
    let (mut seconds, mut answer) = solve()?;
    let repeats = if seconds > LIMIT / 4.0 { 0 } else { (REPEAT / seconds.max(1e-6)).clamp(2.0, 1000.0) as usize };
    for _ in 0..repeats {
        seconds = seconds.min(solve()?.0);
    }
    let (rel, report) = (problem.residual(&mut answer.solution)?.rel, answer.report);
    let of = |r: &&Reference| r.problem == name && r.tolerance == tolerance;
    let best = reference.iter().filter(of).min_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
    let plain = |r: &&Reference| of(r) && (r.solver == "NSGS" || r.solver == "NSGS_WR");
    let rolling = problem.blocks().0.iter().any(|set| matches!(set, AdmissibleSet::Rolling { .. }));
    let case = Case {
        name: name.into(),
        class: match problem {
            Problem::Global(_) => "global",
            _ if rolling => "rolling",
            _ => "local",
        },
        contacts: problem.contacts(),
        tolerance,
        solved: rel <= tolerance,
        time_ms: 1e3 * seconds,
        best: best.map(|r| (r.solver.clone(), r.time_ms)),
        default_ms: reference.iter().filter(plain).map(|r| r.time_ms).min_by(f64::total_cmp),
    };
    let (against, ms, ratio) = match &case.best {
        Some((solver, ms)) => (solver.as_str(), format!("{ms:.4}"), format!("{:.2}", ms / case.time_ms)),
        None => ("–", "–".into(), "–".into()),
    };
    println!(
        "| {name} | {} | {} | {tolerance:.0e} | {:?} | {} | {rel:.1e} | {:.4} | {against} | {ms} | {ratio} |",
        case.class, case.contacts, report.status, report.iterations, case.time_ms
    );
    Ok(case)
}

/// Geometric mean and worst of the ratios of each class.
fn means(cases: &[Case]) {
    let line = |title: &str, chosen: &dyn Fn(&Case) -> Option<f64>| {
        let ratios: Vec<(f64, &str)> = cases.iter().filter_map(|c| Some((chosen(c)? / c.time_ms, c.name.as_str()))).collect();
        let Some((worst, name)) = ratios.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        let mean = (ratios.iter().map(|(r, _)| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        println!("| {title} | {} | {mean:.2} | {worst:.2} | {name} |", ratios.len());
    };
    let against_best = |c: &Case| c.best.as_ref().map(|(_, ms)| *ms).filter(|ms| *ms > SHORTEST_MS && c.contacts >= FEWEST && c.solved);
    println!("| class | problems | geometric mean | worst | which |");
    println!("|-|-|-|-|-|");
    for tolerance in TOLERANCES {
        for class in ["local", "global", "rolling"] {
            let chosen = |c: &Case| if c.class == class && c.tolerance == tolerance { against_best(c) } else { None };
            line(&format!("{class}, {tolerance:.0e}, against the best"), &chosen);
        }
    }
    let [loose, _] = TOLERANCES;
    let plain = |c: &Case| c.default_ms.filter(|_| c.solved && c.tolerance == loose && c.contacts > 100);
    line("nc > 100, 1e-4, against the default NSGS", &plain);
    let open: Vec<String> = cases.iter().filter(|c| !c.solved).map(|c| format!("{} at {:.0e}", c.name, c.tolerance)).collect();
    println!("\nNot solved: {}", if open.is_empty() { "none".into() } else { open.join(", ") });
}

/// The lines of the table that `benches/siconos.py` writes.
fn references(path: &Path) -> Result<Vec<Reference>, Box<dyn std::error::Error>> {
    let mut lines = Vec::new();
    for record in csv::Reader::from_path(path)?.records() {
        let record = record?;
        let field = |k: usize| record.get(k).ok_or("the table has too few columns");
        lines.push(Reference {
            problem: field(0)?.into(),
            tolerance: field(3)?.parse()?,
            solver: field(4)?.into(),
            time_ms: field(5)?.parse()?,
        });
    }
    Ok(lines)
}
