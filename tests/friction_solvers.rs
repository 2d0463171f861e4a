//! The further friction solvers on real problems: what their documentation claims is asserted here.

use drystone::algebra::blocks::BlockRows;
use drystone::numerics::admissible::AdmissibleSet;
use drystone::numerics::local::LocalProblem;
use drystone::numerics::mixed::{Answer, MixedProblem, System};
use drystone::numerics::solvers::{Problem, Settings, Solver};
use drystone::numerics::sweep::{GaussSeidel, Workspace};
use std::io::Write;
use std::path::{Path, PathBuf};
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

/// Says what was not looked at; a test that passes shows nothing that is printed otherwise.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Names for messages, solvers, and a parameter.
const SOLVERS: [(&str, &str, Option<(&str, &str)>); 12] = [
    ("fixed point", "vi_fixed_point", None),
    ("extragradient", "vi_extragradient", None),
    ("hyperplane", "hyperplane", None),
    ("De Saxcé", "de_saxce", None),
    ("Tresca", "tresca", None),
    ("ACLM", "aclm", None),
    ("interior point", "interior_point", None),
    ("Alart–Curnier", "newton_ac", None),
    ("Jean–Moreau", "newton_ac", Some(("function", "jean_moreau"))),
    ("Fischer–Burmeister", "newton_fb", None),
    ("natural map", "newton_fb", Some(("function", "natural_map"))),
    ("Goldstein–Price", "newton_fb", Some(("line_search", "goldstein_price"))),
];

/// Solvers that reach 1e-8 on every problem of the folder that they claim.
const SURE: [&str; 7] = ["Tresca", "ACLM", "Fischer–Burmeister", "interior point", "Alart–Curnier", "natural map", "Goldstein–Price"];

#[test]
fn the_further_solvers_do_what_their_pages_say() {
    let Ok(folder) = std::fs::read_dir("../shared/problems/fc") else {
        skipped("no folder ../shared/problems/fc with the test problems");
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
        for (solver_name, entry, parameter) in SOLVERS {
            let solver = Solver::named(entry).expect("a solver");
            let solver = match parameter {
                Some((name, value)) => solver.with(name, value).expect("a parameter"),
                None => solver,
            };
            let start = Instant::now();
            let answer = match p.solve(&Settings { solver: Some(solver), ..Settings::default() }) {
                Ok(answer) => answer,
                // no symmetric cone
                Err(error) => {
                    assert!(solver_name == "interior point" && rolling, "{solver_name} on {name}: {error}");
                    continue;
                }
            };
            let (report, r, mut u) = (answer.report, answer.solution.r, answer.solution.u);
            let time = start.elapsed().as_secs_f64() * 1e3;
            let (status, found) = (report.status, p.residual(&r, &mut u));
            println!("{name:34} {solver_name:18} {status:?} {:6} rel {:.1e} {time:9.3} ms", report.iterations, report.rel);
            assert_eq!(found.rel, report.rel, "{solver_name} on {name}: the residual is not that of r");
            assert_eq!(report.converged(), report.rel <= 1e-8, "{solver_name} on {name}");
            if SURE.contains(&solver_name) {
                assert!(report.converged(), "{solver_name} on {name}: {report:?}");
            }
        }
    }
}

/// `L` with `W = L Lᵀ`, row-major with as many columns as W has rank (Cholesky with pivots).
fn factor(w: &[f64], n: usize) -> (Vec<f64>, usize) {
    let mut left: Vec<f64> = (0..n).map(|i| w[i * n + i]).collect();
    let least = 1e-13 * left.iter().fold(0.0, |most: f64, d| most.max(*d));
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while let Some(pivot) = (0..n).max_by(|&a, &b| left[a].total_cmp(&left[b])).filter(|&p| left[p] > least && columns.len() < n) {
        let root = left[pivot].sqrt();
        let entry = |i: usize| (w[i * n + pivot] - columns.iter().map(|c| c[i] * c[pivot]).sum::<f64>()) / root;
        let column: Vec<f64> = (0..n).map(entry).collect();
        left.iter_mut().zip(&column).for_each(|(d, x)| *d -= x * x);
        columns.push(column);
    }
    ((0..n).flat_map(|i| columns.iter().map(move |c| c[i])).collect(), columns.len())
}

/// The same problem as one of systems: one alone of unit mass, with as many velocities as W has rank.
fn of_systems(p: &LocalProblem) -> MixedProblem {
    let (rows, rank) = factor(&p.w.to_dense(), p.order());
    let mut unit = vec![0.0; rank * rank];
    (0..rank).for_each(|k| unit[k * rank + k] = 1.0);
    let mut mixed = MixedProblem::default();
    let system = mixed.push_general(&unit, &vec![0.0; rank]);
    for (i, &set) in p.sets.iter().enumerate() {
        let range = p.w.range(i);
        let own = &rows[range.start * rank..range.end * rank];
        mixed.push_block(set, [system, System::Fixed], [own, &[]], &p.q[range]);
    }
    mixed.prepare().expect("a problem");
    mixed
}

/// Problems with resistance to rolling: the small ones of assets/problems, and those of the collection where it is there.
fn rolling_problems() -> Vec<(String, LocalProblem)> {
    let mut own: Vec<PathBuf> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/problems"))
        .expect("the folder of problems")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("rolling")))
        .collect();
    own.sort();
    let local = |path: &Path| match drystone::io::problem::read(path, None) {
        Ok(Problem::Local(p)) => p,
        Ok(Problem::Global(p)) => p.reduce().expect("masses that can be divided by"),
        other => panic!("{}: {other:?}", path.display()),
    };
    let name = |path: &Path| path.file_name().expect("a file").to_string_lossy().into_owned();
    let own: Vec<(String, LocalProblem)> = own.iter().map(|path| (name(path), local(path))).collect();
    assert!(own.iter().all(|(_, p)| p.sets.iter().all(|set| matches!(set, AdmissibleSet::Rolling { mu_r, .. } if *mu_r > 0.0))));
    assert!(own.len() >= 6, "{} problems", own.len());
    own.into_iter().chain(collected()).collect()
}

/// Those that the collection holds.
fn collected() -> Vec<(String, LocalProblem)> {
    let folder = Path::new("../shared/problems");
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).ok();
    let Some(serde_json::Value::Array(list)) = manifest.and_then(|text| serde_json::from_str(&text).ok()) else {
        skipped("no list ../shared/problems/manifest.json of the test problems");
        return Vec::new();
    };
    let rolling = list.iter().filter(|entry| entry["type"] == "local_rolling");
    let file = |entry: &serde_json::Value| {
        let name = entry["files"][0].as_str().expect("a file").to_owned();
        match drystone::io::problem::read(&folder.join(&name), None) {
            Ok(Problem::Local(p)) => (name, p),
            other => panic!("{name}: {other:?}"),
        }
    };
    rolling.map(file).collect()
}

/// Sweeps over systems and the solvers of given matrices accept what the other finds. From nothing they come to the same velocities, but where a problem has
/// two answers, as Coulomb's law may: the two bricks in space, 3e-3 m/s apart of 0.2, and the largest of the collection, 3e-4 m/s.
#[test]
fn sweeps_and_solvers_of_given_matrices_agree_on_rolling_problems() {
    let sweeps = GaussSeidel { tolerance: 1e-12, max_sweeps: 100_000, ..GaussSeidel::default() };
    for (name, p) in rolling_problems() {
        // one of them is symmetric to four digits alone, as no bodies are
        let n = p.order();
        let (rows, rank) = factor(&p.w.to_dense(), n);
        let product = |i: usize, j: usize| (0..rank).map(|c| rows[i * rank + c] * rows[j * rank + c]).sum::<f64>();
        let w: Vec<f64> = (0..n * n).map(|k| product(k / n, k % n)).collect();
        let p = LocalProblem { w: BlockRows::from_dense(p.w.offsets(), &w), ..p };
        let mixed = of_systems(&p);
        let local = p.solve(&Settings { tolerance: 1e-10, ..Settings::default() }).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(local.report.converged(), "{name}: {:?}", local.report);
        let size = p.q.iter().fold(0.0f64, |most, q| most.max(q.abs()));
        let two_answers = name.starts_with("rolling_3d");
        for (from, guess, limit) in
            [("nothing", vec![0.0; n], if two_answers { 0.02 } else { 1e-3 }), ("the other answer", local.solution.r.clone(), 1e-8)]
        {
            let mut answer = Answer::for_problem(&mixed);
            answer.reactions.blocks = guess;
            let report = sweeps.solve(&mixed, &mut answer, &mut Workspace::default());
            assert!(report.converged(), "{name} from {from}: {report:?}");
            let mut u = vec![0.0; n];
            let found = p.residual(&answer.reactions.blocks, &mut u);
            let apart = u.iter().zip(&local.solution.u).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{name} from {from}: {} sweeps, e_s {:.1e}, {apart:.1e} apart, of {size:.1e}", report.iterations, found.e_s);
            assert!(found.e_s < 1e-9, "{name} from {from}: e_s {:.1e}", found.e_s);
            assert!(apart < limit * size, "{name} from {from}: velocities are {apart:.1e} apart, of {size:.1e}");
        }
    }
}
