//! The small problems of assets/problems, and every reader on what is left of them after damage.
#![cfg(feature = "hdf5")]
#![allow(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use drystone::algebra::blocks::BlockRows;
use drystone::algebra::matrix::Matrix;
use drystone::io::{fclib, problem};
use drystone::numerics::admissible::AdmissibleSet;
use drystone::numerics::global::GlobalProblem;
use drystone::numerics::lcp::Lcp;
use drystone::numerics::local::LocalProblem;
use drystone::numerics::mlcp::Mlcp;
use drystone::numerics::relay::Relay;
use drystone::numerics::solvers::{Kind, Problem, Settings};
use sprs::TriMat;
use std::io::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/problems")
}

/// A tower of `bricks` on a floor, pulled sideways at the top; `corners` contacts a joint, in the plane or in space, with rolling
/// resistance where `mu_r` is given.
fn tower(bricks: usize, space: bool, pull: f64, mu: f64, mu_r: Option<f64>) -> GlobalProblem {
    let (dofs, corners): (usize, &[(f64, f64)]) =
        if space { (6, &[(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) } else { (3, &[(-0.5, 0.0), (0.5, 0.0)]) };
    let dim = if space { 3 } else { 2 }
        + if mu_r.is_none() {
            0
        } else if space {
            2
        } else {
            1
        };
    let contacts = bricks * corners.len();
    let mut mass = TriMat::new((dofs * bricks, dofs * bricks));
    let mut f = Vec::new();
    for i in 0..bricks {
        // velocities x, z, turn in the plane; x, y, z and three turns in space
        let inertia = |k: usize| if k < dofs.div_ceil(2) { 2.0 } else { 2.0 / 6.0 };
        (0..dofs).for_each(|k| mass.add_triplet(dofs * i + k, dofs * i + k, inertia(k)));
        let mut impulse = vec![0.0; dofs];
        impulse[if space { 2 } else { 1 }] = -2.0 * 9.81 * 0.01;
        impulse[0] = if i + 1 == bricks { pull } else { 0.0 };
        f.extend(impulse);
    }
    let mut h = TriMat::new((dofs * bricks, dim * contacts));
    for i in 0..bricks {
        for (c, &(x, y)) in corners.iter().enumerate() {
            let row = dim * (i * corners.len() + c);
            for (body, arm, sign) in [(Some(i), -0.5, 1.0), (i.checked_sub(1), 0.5, -1.0)] {
                let Some(body) = body else { continue };
                let mut put = |r: usize, k: usize, x: f64| h.add_triplet(dofs * body + k, row + r, sign * x);
                if space {
                    // (n, t1, t2) = (z, x, y), arm (x, y, arm): the velocity of the point is v + ω × arm
                    [(0, 2, 1.0), (0, 3, y), (0, 4, -x)].into_iter().for_each(|(r, k, a)| put(r, k, a));
                    [(1, 0, 1.0), (1, 4, arm), (1, 5, -y), (2, 1, 1.0), (2, 3, -arm), (2, 5, x)]
                        .into_iter()
                        .for_each(|(r, k, a)| put(r, k, a));
                    if mu_r.is_some() {
                        [(3, 3, 1.0), (4, 4, 1.0)].into_iter().for_each(|(r, k, a)| put(r, k, a));
                    }
                } else {
                    [(0, 1, 1.0), (0, 2, x), (1, 0, 1.0), (1, 2, -arm)].into_iter().for_each(|(r, k, a)| put(r, k, a));
                    if mu_r.is_some() {
                        put(2, 2, 1.0);
                    }
                }
            }
        }
    }
    let set = mu_r.map_or(AdmissibleSet::Coulomb { mu }, |mu_r| AdmissibleSet::Rolling { mu, mu_r });
    GlobalProblem {
        mass: mass.to_csc(),
        h: h.to_csc(),
        f,
        w: vec![0.0; dim * contacts],
        offsets: (0..=contacts).map(|i| dim * i).collect(),
        sets: vec![set; contacts],
    }
}

/// Name and content of every file.
fn corpus() -> Vec<(&'static str, Problem)> {
    let local = |p: GlobalProblem| Problem::Local(p.reduce().unwrap());
    let chain = |n: usize| (0..n * n).map(|k| [2.0, -1.0, 0.0][(k / n).abs_diff(k % n).min(2)]).collect::<Vec<f64>>();
    let push = |n: usize| (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 0.4 }).collect::<Vec<f64>>();
    let lcp = Lcp { m: Matrix::dense(9, 9, chain(9)), q: push(9) };
    let relay =
        Relay { m: Matrix::dense(6, 6, chain(6)), q: push(6), lower: vec![-0.2; 6], upper: vec![0.3, 0.3, 0.3, 0.3, 0.3, f64::INFINITY] };
    let equality = [true, false, true, false, false].to_vec();
    let mlcp = Mlcp { m: Matrix::dense(5, 5, chain(5)), q: push(5), free: equality.clone(), equality };
    let joint = AdmissibleSet::Free;
    let sets = vec![joint, AdmissibleSet::Coulomb { mu: 0.4 }, AdmissibleSet::NonNegative];
    let mixed = LocalProblem { w: BlockRows::from_dense(&[0, 2, 5, 7], &chain(7)), q: push(7), sets };
    vec![
        ("tower_3d.hdf5", local(tower(4, true, 0.05, 0.5, None))),
        ("tower_3d_global.hdf5", Problem::Global(tower(4, true, 0.05, 0.5, None))),
        ("wall_2d.hdf5", local(tower(5, false, 0.2, 0.3, None))),
        ("wall_2d_global.hdf5", Problem::Global(tower(5, false, 0.2, 0.3, None))),
        ("rolling_3d.hdf5", local(tower(2, true, 0.4, 0.6, Some(0.05)))),
        ("rolling_3d_global.hdf5", Problem::Global(tower(2, true, 0.4, 0.6, Some(0.05)))),
        ("rolling_2d.hdf5", local(tower(2, false, 0.4, 0.6, Some(0.05)))),
        ("chain_lcp.json", Problem::Lcp(lcp)),
        ("chain_mlcp.json", Problem::Mlcp(mlcp)),
        ("chain_relay.json", Problem::Relay(relay)),
        ("joint_gmp.json", Problem::Local(mixed)),
        ("tower_3d.json", local(tower(2, true, 0.05, 0.5, None))),
    ]
}

/// The same in the text form of the public collections, dense.
fn text_form(p: &Problem) -> Option<String> {
    let list = |x: &[f64]| x.iter().map(|x| format!("{x:e}")).collect::<Vec<_>>().join(" ");
    let dense = |rows: usize, columns: usize, a: Vec<f64>| {
        let by_columns: Vec<f64> = (0..rows * columns).map(|k| a[k % rows * columns + k / rows]).collect();
        format!("0\n{rows}\n{columns}\n{rows} {columns}\n{}\n", list(&by_columns))
    };
    Some(match p {
        Problem::Local(l) if p.kind() == Kind::Friction => {
            let mu = l.sets.iter().map(|s| if let AdmissibleSet::Coulomb { mu } = s { *mu } else { 0.0 }).collect::<Vec<f64>>();
            let n = l.q.len();
            format!("{}\n{}\n{}{}\n{}\n", n / mu.len(), mu.len(), dense(n, n, l.w.to_dense()), list(&l.q), list(&mu))
        }
        Problem::Lcp(l) => format!("{}\n{}{}\n", l.q.len(), dense(l.q.len(), l.q.len(), l.m.to_dense()), list(&l.q)),
        Problem::Relay(l) => {
            format!(
                "{}\n{}{}\n{}\n{}\n",
                l.q.len(),
                dense(l.q.len(), l.q.len(), l.m.to_dense()),
                list(&l.q),
                list(&l.lower),
                list(&l.upper)
            )
        }
        Problem::Mlcp(l) => {
            let n = l.q.len();
            let equations = l.equality.iter().filter(|e| **e).count();
            let ends: Vec<String> = (0..=n).map(|i| i.to_string()).collect();
            let flags: Vec<&str> = l.equality.iter().map(|&e| if e { "0" } else { "1" }).collect();
            let head = format!("1\n1\n{equations}\n{}\n{}\n{}\n", n - equations, ends.join(" "), flags.join(" "));
            format!("{head}{}{}\n", dense(n, n, l.m.to_dense()), list(&l.q))
        }
        _ => return None,
    })
}

fn bytes_of(name: &str, p: &Problem) -> Vec<u8> {
    if name.ends_with(".json") {
        return (problem::json::text(p) + "\n").into_bytes();
    }
    let stored = fclib::Stored { title: name.trim_end_matches(".hdf5").into(), ..fclib::Stored::of(p.clone()) };
    fclib::bytes(name.as_ref(), &stored).unwrap()
}

/// `cargo test --release --test problem_files -- --ignored` writes the folder anew.
#[test]
#[ignore = "writes assets/problems"]
fn write_the_folder() {
    std::fs::create_dir_all(folder()).unwrap();
    for (name, p) in corpus() {
        std::fs::write(folder().join(name), bytes_of(name, &p)).unwrap();
        if let Some(text) = text_form(&p).filter(|_| name.ends_with(".json")) {
            let name = name.rsplit_once('.').unwrap().0;
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            packed.write_all(text.as_bytes()).unwrap();
            if name == "tower_3d" {
                std::fs::write(folder().join("tower_3d.dat.gz"), packed.finish().unwrap()).unwrap();
            } else {
                std::fs::write(folder().join(format!("{name}.dat")), text).unwrap();
            }
        }
    }
}

#[test]
fn the_folder_holds_what_its_generator_says() {
    for (name, p) in corpus() {
        let stored = problem::read(&folder().join(name), None).unwrap();
        assert_eq!((stored.kind(), stored.sizes()), (p.kind(), p.sizes()), "{name}");
        match (&stored, &p) {
            // the reduction rounds as its author likes
            (Problem::Local(a), Problem::Local(b)) => {
                let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()));
                assert!(close(&a.w.to_dense(), &b.w.to_dense()) && close(&a.q, &b.q) && a.sets == b.sets, "{name}");
            }
            _ => assert_eq!(problem::json::text(&stored), problem::json::text(&p), "{name}"),
        }
    }
}

#[test]
fn text_and_other_forms_hold_the_same_problem() {
    let mut found = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let Some(stem) = path.to_str().unwrap().split(".dat").next().filter(|_| path.to_string_lossy().contains(".dat")) else { continue };
        let text = problem::read(&path, None).unwrap();
        let other = problem::read(format!("{stem}.json").as_ref(), None).unwrap();
        assert_eq!(problem::json::text(&text), problem::json::text(&other), "{path:?}");
        found += 1;
    }
    assert!(found >= 4, "{found} text files");
}

#[test]
fn every_problem_of_the_folder_with_a_solver_is_solved() {
    for (name, p) in corpus() {
        let mut answer = p.solve(&Settings::default()).unwrap();
        let found = p.residual(&mut answer.solution).unwrap();
        assert!(answer.converged() && found.rel <= 1e-8, "{name}: {:?}", answer.report);
    }
}

/// What is left of a damaged text may be a text of another kind, which would be solved in place of what was meant.
#[test]
fn a_damaged_text_is_not_taken_for_another_problem() {
    let relay = std::fs::read_to_string(folder().join("chain_relay.dat")).unwrap();
    let lcp = std::fs::read_to_string(folder().join("chain_lcp.dat")).unwrap();
    let mlcp = std::fs::read_to_string(folder().join("chain_mlcp.dat")).unwrap();
    let parse = |text: &str, kind| problem::parse("a.dat".as_ref(), text.as_bytes().to_vec(), kind).map(|p| p.kind());
    assert_eq!(parse(&relay, None).unwrap(), Kind::Relay);
    let line = |text: &str, k: usize| text.lines().nth(k).unwrap().to_owned();
    let (lower, upper) = (line(&relay, relay.lines().count() - 2), line(&relay, relay.lines().count() - 1));
    let damaged = [
        (relay.replace(&lower, &lower.replacen(' ', "e ", 1)), "lower bounds"),
        (relay.replace(&upper, &upper.replacen(' ', " ? ", 1)), "upper bounds"),
        (relay.replace(&format!("{upper}\n"), ""), "upper bounds"),
        (relay.replace(&upper, &lower.replace("2e-1", "9e-1")), "upper bounds"),
        // a number too many in M, by which q is another
        (lcp.replacen(" 0e0 ", " 0e0 0e0 ", 1), "bounds"),
        (mlcp.replacen(" 0e0 ", " 0e0 0e0 ", 1), "the solution"),
    ];
    for (text, place) in damaged {
        let error = parse(&text, None).unwrap_err().to_string();
        assert!(error.contains(place), "{error}:\n{text}");
    }
    // words, and the solution of the problem, may follow
    for (rest, good) in [("a remark 7", true), ("# from a book", true), ("0 remarks", false)] {
        assert_eq!(parse(&format!("{lcp}{rest}\n"), None).is_ok(), good, "{rest}");
        assert_eq!(parse(&format!("{lcp}{rest}\n"), Some(Kind::Lcp)).unwrap(), Kind::Lcp);
    }
    assert_eq!(parse("1\n0 1 1\n1 1\n2\n-1\n0.5\n", None).unwrap(), Kind::Lcp);
    assert_eq!(parse("1\n0 1 1\n1 1\n2\n-1\n0.5 0\nby hand\n", None).unwrap(), Kind::Lcp);
    assert!(parse("1\n0 1 1\n1 1\n2\n-1\n0.25\n", None).unwrap_err().to_string().contains("bounds"));
}

/// xorshift64*: damage has to be the same on every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize
}

#[test]
fn damaged_files_give_errors_and_never_panic() {
    let kinds = [Kind::Friction, Kind::GlobalFriction, Kind::Rolling, Kind::GlobalRolling, Kind::Lcp, Kind::Mlcp, Kind::Relay, Kind::Mixed];
    let mut state = 0x9E37_79B9_7F4A_7C15;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    files.sort();
    assert!(files.len() >= 12);
    let mut refused = 0;
    for path in &files {
        let bytes = std::fs::read(path).unwrap();
        for round in 0..600 {
            let mut damaged = bytes.clone();
            match round % 3 {
                0 => damaged.truncate(random(&mut state) % bytes.len()),
                1 => (0..1 + random(&mut state) % 8).for_each(|_| {
                    let at = random(&mut state) % damaged.len();
                    damaged[at] ^= 1 << (random(&mut state) % 8);
                }),
                _ => {
                    // a whole number swapped for an absurd one
                    let at = random(&mut state) % damaged.len();
                    let end = (at + 8).min(damaged.len());
                    let filler = [0x00, 0xff, 0x7f, b'9'][random(&mut state) % 4];
                    damaged[at..end].fill(filler);
                }
            }
            let kind = if round % 2 == 0 { None } else { Some(kinds[random(&mut state) % kinds.len()]) };
            refused += usize::from(problem::parse(path, damaged, kind).is_err());
        }
    }
    assert!(refused > 5 * files.len(), "{refused}");
}
