//! The further friction solvers on real problems: what their documentation claims is asserted here.

use drystone::algebra::blocks::BlockRows;
use drystone::numerics::local::fixed_point::{AclmFixedPoint, DeSaxceFixedPoint, TrescaFixedPoint};
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

fn solvers() -> Vec<(&'static str, Box<dyn LocalSolver>)> {
    vec![
        ("fixed point", Box::new(FixedPoint::default())),
        ("extragradient", Box::new(ExtraGradient::default())),
        ("hyperplane", Box::new(HyperplaneProjection::default())),
        ("De Saxcé", Box::new(DeSaxceFixedPoint::default())),
        ("Tresca", Box::new(TrescaFixedPoint::default())),
        ("ACLM", Box::new(AclmFixedPoint::default())),
    ]
}

#[test]
fn the_further_solvers_do_what_their_pages_say() {
    let folder = std::env::var("DRYSTONE_PROBLEMS").unwrap_or("../shared/problems/fc".into());
    let Ok(folder) = std::fs::read_dir(&folder) else {
        println!("SKIPPED: no folder ../shared/problems/fc with the test problems");
        return;
    };
    let mut paths: Vec<_> = folder.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "dat") && !p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("g")));
    paths.sort();
    for path in &paths {
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("GFC3D") && !name.ends_with("condensed") {
            continue; // global
        }
        let p = read(path).expect("a reduced problem");
        for (solver_name, solver) in solvers() {
            if std::env::var("SOLVER").is_ok_and(|s| !solver_name.contains(&s)) {
                continue;
            }
            let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
            let start = Instant::now();
            let limit = std::env::var("LIMIT").map_or(2.0, |s| s.parse().unwrap());
            let mut at4 = 0;
            let report = solver.solve_watched(&p, &mut r, &mut u, &mut |s| {
                if at4 == 0 && s.error < 1e-4 {
                    at4 = s.iteration
                }
                start.elapsed().as_secs_f64() < limit
            });
            let time = start.elapsed().as_secs_f64() * 1e3;
            println!(
                "{name:40} {:5} {solver_name:14} {:?} {:7} rel {:.1e} e_s {:.1e} {time:.3} ms  1e-4 at {at4}",
                p.sets.len(),
                report.status,
                report.iterations,
                report.rel,
                report.e_s
            );
        }
    }
}
