//! Every LCP, MLCP and relay of the shared collection, by every solver that claims it, with the residual recomputed here.

use drystone::algebra::matrix::Matrix;
use drystone::numerics::complementarity::{
    Auto, BlockGaussSeidel, Complementarity, ComplementaritySolver, Enumeration, InteriorPoint, Lemke, Murty, Newton, NewtonFunction, Pgs,
    Workspace,
};
use drystone::numerics::lcp::Lcp;
use drystone::numerics::mlcp::Mlcp;
use drystone::numerics::relay::Relay;
use drystone::numerics::{Report, Status};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The statements, in the order of the folder.
enum Problem {
    Lcp(Lcp),
    Mlcp(Mlcp),
    Relay(Relay),
}

impl Problem {
    fn statement(&self) -> &dyn Complementarity {
        match self {
            Self::Lcp(p) => p,
            Self::Mlcp(p) => p,
            Self::Relay(p) => p,
        }
    }

    /// |z − P(z − w)| / max(|q|, |z|, |w|), written anew from the definition.
    fn rel(&self, z: &[f64]) -> f64 {
        let (m, q) = match self {
            Self::Lcp(p) => (&p.m, &p.q),
            Self::Mlcp(p) => (&p.m, &p.q),
            Self::Relay(p) => (&p.m, &p.q),
        };
        let mut w = vec![0.0; m.rows()];
        m.multiply(z, &mut w);
        w.iter_mut().zip(q).for_each(|(w, q)| *w += q);
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let map: Vec<f64> = match self {
            Self::Lcp(_) => z.iter().zip(&w).map(|(z, w)| z.min(*w)).collect(),
            Self::Relay(p) => (0..z.len()).map(|i| z[i] - (z[i] - w[i]).clamp(p.lower[i], p.upper[i])).collect(),
            Self::Mlcp(p) => {
                let mut bounded = (0..z.len()).filter(|&j| !p.free[j]);
                w.iter().zip(&p.equality).map(|(w, e)| if *e { *w } else { w.min(z[bounded.next().expect("a partner")]) }).collect()
            }
        };
        let error = norm(&map);
        if error == 0.0 { 0.0 } else { error / norm(q).max(norm(z)).max(norm(&w)) }
    }
}

fn read(path: &Path) -> Problem {
    let mut text = String::new();
    let mut file = std::fs::File::open(path).expect("a file of the collection");
    if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip text");
    } else {
        file.read_to_string(&mut text).expect("text");
    }
    let mut tokens = text.split_whitespace().map_while(|t| t.parse::<f64>().ok());
    let mut number = || tokens.next().expect("a number");
    let kind = path.parent().and_then(Path::file_name).expect("a folder").to_string_lossy().into_owned();
    let mut equations = 0;
    if kind == "mlcp" {
        number();
        number();
        (equations, _) = (number() as usize, number());
        (0..5).for_each(|_| {
            number();
        });
    } else {
        number();
    }
    let storage = number();
    let (rows, columns) = (number() as usize, number() as usize);
    let mut m = vec![0.0; rows * columns];
    if storage == 0.0 {
        number();
        number();
        for j in 0..columns {
            (0..rows).for_each(|i| m[i * columns + j] = number());
        }
    } else {
        let (count, block_rows, block_columns) = (number() as usize, number() as usize, number() as usize);
        let row_ends: Vec<usize> = (0..block_rows).map(|_| number() as usize).collect();
        let column_ends: Vec<usize> = (0..block_columns).map(|_| number() as usize).collect();
        let (f1, f2) = (number() as usize, number() as usize);
        let pointers: Vec<usize> = (0..f1).map(|_| number() as usize).collect();
        let at: Vec<usize> = (0..f2).map(|_| number() as usize).collect();
        for k in 0..count {
            number();
            let row = (0..block_rows).find(|&r| k < pointers[r + 1]).expect("a block row");
            let start = |ends: &[usize], b: usize| if b == 0 { 0 } else { ends[b - 1] };
            for j in start(&column_ends, at[k])..column_ends[at[k]] {
                (start(&row_ends, row)..row_ends[row]).for_each(|i| m[i * columns + j] = number());
            }
        }
    }
    let mut vector = |n: usize| -> Vec<f64> { (0..n).map(|_| number()).collect() };
    let m = Matrix::dense(rows, columns, m);
    match kind.as_str() {
        "lcp" => Problem::Lcp(Lcp { m, q: vector(rows) }),
        "relay" => Problem::Relay(Relay { m, q: vector(rows), lower: vector(rows), upper: vector(rows) }),
        _ => Problem::Mlcp(Mlcp::new(m, vector(rows), equations).expect("a legal problem")),
    }
}

fn collection(kind: &str) -> Vec<(String, Problem)> {
    let folder = Path::new("../shared/problems").join(kind);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("SKIPPED: no folder {}", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let name = |p: &Path| p.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().filter(|p| name(p).contains(".dat")).map(|p| (name(p), read(p))).collect()
}

fn solvers() -> Vec<(&'static str, Box<dyn ComplementaritySolver>)> {
    vec![
        ("auto", Box::new(Auto::default())),
        ("lemke", Box::new(Lemke::default())),
        ("murty", Box::new(Murty::default())),
        ("newton-fb", Box::new(Newton::default())),
        ("newton-min", Box::new(Newton { function: NewtonFunction::Minimum, ..Newton::default() })),
        ("interior", Box::new(InteriorPoint::default())),
        ("pgs", Box::new(Pgs::default())),
        ("psor", Box::new(Pgs { relaxation: 1.3, ..Pgs::default() })),
        ("rpgs", Box::new(Pgs { regularisation: 1.0, ..Pgs::default() })),
        ("block", Box::new(BlockGaussSeidel::default())),
        ("enumeration", Box::new(Enumeration { max_bases: 1 << 14, ..Enumeration::default() })),
    ]
}

fn run(solver: &dyn ComplementaritySolver, p: &Problem) -> (Report, f64, f64) {
    let statement = p.statement();
    statement.validate().expect("a legal problem");
    let (mut z, mut w) = (vec![0.0; statement.unknowns()], vec![0.0; statement.rows()]);
    let clock = std::time::Instant::now();
    let report = solver.solve_with(statement, &mut z, &mut w, &mut Workspace::default(), &mut |_| true);
    let time = clock.elapsed().as_secs_f64();
    assert!(z.iter().chain(&w).all(|x| x.is_finite()), "a number that is not finite");
    (report, p.rel(&z), time)
}

/// Runs the collection; at least `needed[name]` problems must be solved to 1e-8, and a report never flatters.
fn solve_all(kind: &str, needed: &[(&str, usize)]) {
    let problems = collection(kind);
    if problems.is_empty() {
        return;
    }
    for (name, solver) in solvers() {
        let mut solved = 0;
        for (file, p) in &problems {
            let (report, rel, time) = run(solver.as_ref(), p);
            let Report { status, iterations, factorisations, .. } = report;
            println!("{name:12} {file:36} {status:?} its {iterations} lu {factorisations} rel {rel:.1e} {:.1} µs", 1e6 * time);
            assert!(!report.converged() || report.rel <= 1e-8, "{name} on {file}");
            assert!((rel - report.rel).abs() <= 1e-12 + 1e-6 * rel, "{name} on {file}: {rel:e} against {:e}", report.rel);
            solved += usize::from(report.converged() && rel <= 1e-8);
        }
        println!("{name}: {solved} of {}", problems.len());
        if let Some((_, least)) = needed.iter().find(|(n, _)| *n == name) {
            assert!(solved >= *least, "{name} solves {solved} of {} {kind}, {least} are expected", problems.len());
        }
    }
}

#[test]
fn the_lcp_collection_is_solved() {
    solve_all("lcp", &[("auto", 15), ("lemke", 15)]);
}

#[test]
fn the_mlcp_collection_is_solved() {
    solve_all("mlcp", &[("auto", 13)]);
}

#[test]
fn the_relay_collection_is_solved() {
    solve_all("relay", &[("auto", 5), ("lemke", 5), ("newton-fb", 5)]);
}

#[test]
fn the_problem_without_solution_is_proved_to_have_none() {
    for (name, p) in collection("lcp").iter().filter(|(name, _)| name.starts_with("lcp_Pang_isolated_sol_perturbed")) {
        assert_eq!(run(&Auto::default(), p).0.status, Status::Inconsistent, "{name}");
    }
}
