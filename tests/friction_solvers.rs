//! The further friction solvers on real problems: what their documentation claims is asserted here.

use drystone::algebra::blocks::BlockRows;
use drystone::numerics::Status;
use drystone::numerics::admissible::AdmissibleSet;
use drystone::numerics::local::equations::Function;
use drystone::numerics::local::fixed_point::{AclmFixedPoint, DeSaxceFixedPoint, TrescaFixedPoint};
use drystone::numerics::local::interior_point::InteriorPoint;
use drystone::numerics::local::newton::{LineSearch, SemismoothNewton};
use drystone::numerics::local::projection::{ExtraGradient, FixedPoint, HyperplaneProjection};
use drystone::numerics::local::{LocalProblem, LocalSolver};
use std::path::Path;
use std::time::Instant;

/// Reads a reduced problem as text: dimension, number of contacts, W, q, mu and, for rolling, mu_r.
fn read(path: &Path) -> Option<LocalProblem> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut tokens = text.split_whitespace();
    let dim: usize = tokens.next()?.parse().ok()?;
    let contacts: usize = tokens.next()?.parse().ok()?;
    let offsets: Vec<usize> = (0..=contacts).map(|a| dim * a).collect();
    let storage: usize = tokens.next()?.parse().ok()?;
    let n: usize = tokens.next()?.parse().ok()?;
    let _columns = tokens.next()?;
    let mut entries = Vec::new();
    match storage {
        0 => {
            tokens.nth(1)?;
            for k in 0..n * n {
                entries.push((k % n, k / n, tokens.next()?.parse().ok()?));
            }
        }
        1 => {
            let mut integer = || tokens.next()?.parse::<usize>().ok();
            let (blocks, rows, columns) = (integer()?, integer()?, integer()?);
            (0..rows + columns).try_for_each(|_| integer().map(|_| ()))?;
            let (starts, _) = (integer()?, integer()?);
            let starts: Vec<usize> = (0..starts).map(|_| integer()).collect::<Option<_>>()?;
            let block_columns: Vec<usize> = (0..blocks).map(|_| integer()).collect::<Option<_>>()?;
            for i in 0..rows {
                for &j in &block_columns[starts[i]..starts[i + 1]] {
                    tokens.next()?;
                    for k in 0..dim * dim {
                        entries.push((dim * i + k % dim, dim * j + k / dim, tokens.next()?.parse().ok()?));
                    }
                }
            }
        }
        _ => {
            // `triplet: … nnz: K` and K times `row col : value`, or `… nnz: K, 1-norm: x` and columns of `row : value`
            let mut before = tokens.by_ref().skip_while(|t| *t != "triplet:" && *t != "nnz:");
            let triplets = before.next()? == "triplet:";
            let nnz = if triplets { tokens.by_ref().skip_while(|t| *t != "nnz:").nth(1)? } else { tokens.next()? };
            let nnz: usize = nnz.trim_end_matches(',').parse().ok()?;
            let mut column = 0;
            while entries.len() < nnz {
                let token = tokens.next()?;
                match token {
                    "1-norm:" => _ = tokens.next()?,
                    "col" => {
                        column = tokens.next()?.parse().ok()?;
                        tokens.nth(4)?;
                    }
                    row => {
                        if triplets {
                            column = tokens.next()?.parse().ok()?;
                        }
                        tokens.next()?;
                        entries.push((row.parse().ok()?, column, tokens.next()?.parse().ok()?));
                    }
                }
            }
        }
    }
    let w = BlockRows::from_triplets(&offsets, entries);
    let mut vector = |n: usize| (0..n).map(|_| tokens.next()?.parse().ok()).collect::<Option<Vec<f64>>>();
    let (q, mu) = (vector(n)?, vector(contacts)?);
    if dim == 5 { LocalProblem::rolling(w, q, &mu, &vector(contacts)?).ok() } else { LocalProblem::friction(w, q, &mu).ok() }
}

fn newton(function: Function) -> Box<dyn LocalSolver> {
    Box::new(SemismoothNewton { function, ..SemismoothNewton::default() })
}

fn solvers() -> Vec<(&'static str, Box<dyn LocalSolver>)> {
    vec![
        ("fixed point", Box::new(FixedPoint::default())),
        ("extragradient", Box::new(ExtraGradient::default())),
        ("hyperplane", Box::new(HyperplaneProjection::default())),
        ("De Saxcé", Box::new(DeSaxceFixedPoint::default())),
        ("Tresca", Box::new(TrescaFixedPoint::default())),
        ("ACLM", Box::new(AclmFixedPoint::default())),
        ("interior point", Box::new(InteriorPoint::default())),
        ("Alart–Curnier", newton(Function::AlartCurnier)),
        ("Jean–Moreau", newton(Function::JeanMoreau)),
        ("Fischer–Burmeister", newton(Function::FischerBurmeister)),
        ("natural map", newton(Function::NaturalMap)),
        ("Goldstein–Price", Box::new(SemismoothNewton { line_search: LineSearch::GoldsteinPrice, ..SemismoothNewton::default() })),
    ]
}

/// Solvers that reach 1e-8 on every problem of the folder that they claim.
const SURE: [&str; 7] = ["Tresca", "ACLM", "Fischer–Burmeister", "interior point", "Alart–Curnier", "natural map", "Goldstein–Price"];

#[test]
fn the_further_solvers_do_what_their_pages_say() {
    let Ok(folder) = std::fs::read_dir("../shared/problems/fc") else {
        println!("SKIPPED: no folder ../shared/problems/fc with the test problems");
        return;
    };
    let mut paths: Vec<_> = folder.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "dat"));
    paths.sort();
    for path in &paths {
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.to_lowercase().starts_with("gf") && !name.ends_with("condensed") {
            continue; // global problems
        }
        let p = read(path).expect("a reduced problem");
        let rolling = matches!(p.sets.first(), Some(AdmissibleSet::Rolling { .. }));
        for (solver_name, solver) in solvers() {
            let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
            let start = Instant::now();
            let report = solver.solve(&p, &mut r, &mut u);
            let time = start.elapsed().as_secs_f64() * 1e3;
            let (status, found) = (report.status, p.residual(&r, &mut u));
            println!("{name:34} {solver_name:18} {status:?} {:6} rel {:.1e} {time:9.3} ms", report.iterations, report.rel);
            assert_eq!(found.rel, report.rel, "{solver_name} on {name}: the residual is not that of r");
            assert_eq!(report.converged(), report.rel <= 1e-8, "{solver_name} on {name}");
            if solver_name == "interior point" && rolling {
                assert_eq!((report.status, report.iterations), (Status::Stalled, 0), "no symmetric cone");
            } else if SURE.contains(&solver_name) {
                assert!(report.converged(), "{solver_name} on {name}: {report:?}");
            }
        }
    }
}
