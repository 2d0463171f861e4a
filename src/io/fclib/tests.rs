//! FCLIB files in every form that the wild has, and what is said of bad ones.

use super::*;
use crate::algebra::blocks::BlockRows;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::global::GlobalProblem;
use crate::numerics::local::LocalProblem;
use hdf5_pure::{DatasetBuilder, FileBuilder};
use sprs::{CsMat, TriMat};

/// Datasets by path; the shortest way to a file with one fault.
#[derive(Clone)]
enum Data {
    Int(Vec<i32>),
    Long(Vec<i64>),
    Real(Vec<f64>),
}

type Tree = Vec<(&'static str, Data)>;

fn file(tree: &Tree) -> Vec<u8> {
    let mut file = FileBuilder::new();
    add(&mut file, tree);
    file.finish().unwrap()
}

fn add(file: &mut FileBuilder, tree: &Tree) {
    let fill = |dataset: &mut DatasetBuilder, data: &Data| match data {
        Data::Int(x) => {
            dataset.with_i32_data(x);
        }
        Data::Long(x) => {
            dataset.with_i64_data(x);
        }
        Data::Real(x) => {
            dataset.with_f64_data(x);
        }
    };
    let mut root = file.create_group("fclib_local");
    let mut w = root.create_group("W");
    let mut vectors = root.create_group("vectors");
    for (path, data) in tree {
        match path.split_once('/') {
            Some(("W", name)) => fill(w.create_dataset(name), data),
            Some((_, name)) => fill(vectors.create_dataset(name), data),
            None => fill(root.create_dataset(path), data),
        }
    }
    root.add_group(w.finish());
    root.add_group(vectors.finish());
    file.add_group(root.finish());
}

#[test]
fn a_file_that_was_cut_off_is_refused_also_behind_its_problem() {
    let mut file = FileBuilder::new();
    add(&mut file, &good());
    // nothing of the problem stands behind it
    file.create_dataset("zzz_remark").with_f64_data(&[0.5; 1000]);
    let whole = file.finish().unwrap();
    let read = |bytes: &[u8]| parse("a.hdf5".as_ref(), bytes.to_vec()).map(|s| s.title).map_err(|e| e.to_string());
    assert!(read(&whole).is_ok());
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "{length}");
    }
    let told = read(&whole[..whole.len() - 8]).unwrap_err();
    assert!(told.contains(&format!("a.hdf5: HDF5: has {} of the {} bytes", whole.len() - 8, whole.len())), "{told}");
}

/// W = [[1, 3], [2, 4]] as compressed columns.
fn good() -> Tree {
    let int = |x: &[i32]| Data::Int(x.to_vec());
    vec![
        ("spacedim", int(&[2])),
        ("W/m", int(&[2])),
        ("W/n", int(&[2])),
        ("W/nzmax", int(&[4])),
        ("W/nz", int(&[-1])),
        ("W/p", int(&[0, 2, 4])),
        ("W/i", int(&[0, 1, 0, 1])),
        ("W/x", Data::Real(vec![1.0, 2.0, 3.0, 4.0])),
        ("vectors/q", Data::Real(vec![-1.0, 0.5])),
        ("vectors/mu", Data::Real(vec![0.3])),
    ]
}

fn with(changes: &[(&'static str, Data)]) -> Tree {
    let changed = |(name, data): (&'static str, Data)| {
        let new = changes.iter().find(|(n, _)| *n == name).map(|(_, d)| d.clone());
        (name, new.unwrap_or(data))
    };
    good().into_iter().map(changed).collect()
}

fn read_tree(tree: &Tree) -> Result<Stored, String> {
    parse("a.hdf5".as_ref(), file(tree)).map_err(|e| e.to_string())
}

fn dense(tree: &Tree) -> Vec<f64> {
    match read_tree(tree).unwrap().problem {
        Problem::Local(p) => p.w.to_dense(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_storage_of_the_wild_gives_the_same_matrix() {
    let (int, real) = (|x: &[i32]| Data::Int(x.to_vec()), |x: &[f64]| Data::Real(x.to_vec()));
    let full = [1.0, 3.0, 2.0, 4.0];
    assert_eq!(dense(&good()), full);
    let rows = [("W/nz", int(&[-2])), ("W/x", real(&[1.0, 3.0, 2.0, 4.0]))];
    assert_eq!(dense(&with(&rows)), full);
    // i holds rows and p columns; entries beyond nz are room, entries of one place add
    let triplets = [
        ("W/nz", int(&[5])),
        ("W/i", int(&[0, 1, 0, 1, 1, 9])),
        ("W/p", int(&[0, 0, 1, 1, 1, 9])),
        ("W/x", real(&[1.0, 2.0, 3.0, 3.0, 1.0, 9.0])),
    ];
    assert_eq!(dense(&with(&triplets)), full);
    let wide = [("W/p", Data::Long(vec![0, 2, 4])), ("W/i", Data::Real(vec![0.0, 1.0, 0.0, 1.0])), ("spacedim", Data::Long(vec![2]))];
    assert_eq!(dense(&with(&wide)), full);
}

#[test]
fn faults_name_their_dataset() {
    let (int, real) = (|x: &[i32]| Data::Int(x.to_vec()), |x: &[f64]| Data::Real(x.to_vec()));
    let cases = [
        (("spacedim", int(&[4])), "fclib_local/spacedim: is 4; it has to be 2 or 3"),
        (("vectors/mu", real(&[-0.3])), "mu of block 0 is -3e-1"),
        (("vectors/mu", real(&[0.3, 0.3])), "fclib_local/vectors/q: holds 2 values, but 4 are needed"),
        (("vectors/q", real(&[f64::NAN, 0.0])), "fclib_local/vectors/q: value 0 is NaN"),
        (("W/m", int(&[i32::MAX])), "fclib_local/W/m: is 2147483647, but 2 is needed"),
        (("W/n", int(&[-1])), "fclib_local/W/n: is -1, but 2 is needed"),
        (("W/nz", int(&[-3])), "fclib_local/W/nz: is -3"),
        (("W/nz", int(&[1_000_000])), "fclib_local/W/p: holds 3 values, but nz asks for 1000000"),
        (("W/p", int(&[0, 2])), "fclib_local/W/p: holds 2 values, but 3 are needed"),
        (("W/p", int(&[0, 4, 2])), "fclib_local/W/p: entry 2 is 2; pointers ascend"),
        (("W/p", int(&[0, 2, 5])), "fclib_local/W/p: entry 2 is 5; pointers ascend from 0 to at most 4"),
        (("W/p", int(&[1, 2, 4])), "fclib_local/W/p: entry 0 is 1; pointers ascend from 0"),
        (("W/p", int(&[-1, 2, 4])), "fclib_local/W/p: entry 0 is -1"),
        (("W/i", int(&[0, 1, 0, 2])), "fclib_local/W/i: entry 3 is 2, but there are 2 rows"),
        (("W/i", real(&[0.0, 1.0, 0.5, 1.0])), "fclib_local/W/i: value 2 is 0.5; a whole number"),
        (("W/x", real(&[1.0, 2.0, f64::INFINITY, 4.0])), "fclib_local/W/x: value 2 is inf"),
    ];
    for (change, part) in cases {
        let error = read_tree(&with(&[change])).map(|s| s.title).unwrap_err();
        assert!(error.starts_with("a.hdf5: ") && error.contains(part), "{part}: {error}");
    }
    for missing in good().iter().map(|(name, _)| *name).filter(|name| *name != "W/nzmax") {
        let tree: Tree = good().into_iter().filter(|(name, _)| *name != missing).collect();
        let error = read_tree(&tree).map(|s| s.title).unwrap_err();
        assert!(error.contains(missing), "{missing}: {error}");
    }
    let error = parse("a.hdf5".as_ref(), FileBuilder::new().finish().unwrap()).map(|s| s.title).unwrap_err().to_string();
    assert!(error.contains("fclib_global_rolling is needed"), "{error}");
}

fn sparse(rows: usize, columns: usize, seed: usize) -> CsMat<f64> {
    let mut a = TriMat::new((rows, columns));
    for k in 0..rows * columns {
        if (k * 7 + seed).is_multiple_of(3) {
            a.add_triplet(k / columns, k % columns, ((k + seed) as f64).sin() / 3.0);
        }
    }
    a.to_csc()
}

#[test]
fn what_is_written_is_read_value_for_value() {
    let mass = sparse(24, 24, 1);
    let vector = |n: usize, seed: f64| (0..n).map(|k| (k as f64 + seed).cos() / 7.0).collect::<Vec<f64>>();
    for (dim, rolling) in [(2, false), (3, false), (3, true), (5, true)] {
        let contacts = 11;
        let n = dim * contacts;
        let set = |i: usize| match rolling {
            false => AdmissibleSet::Coulomb { mu: 0.1 * i as f64 },
            true => AdmissibleSet::Rolling { mu: 0.1 * i as f64, mu_r: 1.0 / (1 + i) as f64 },
        };
        let sets: Vec<AdmissibleSet> = (0..contacts).map(set).collect();
        let offsets: Vec<usize> = (0..=contacts).map(|i| dim * i).collect();
        let w = BlockRows::from_sparse(&offsets, &sparse(n, n, 2));
        let local = Problem::Local(LocalProblem { w, q: vector(n, 0.1), sets: sets.clone() });
        let (h, f) = (sparse(24, n, 3), vector(24, 0.2));
        let global = Problem::Global(GlobalProblem { mass: mass.clone(), h, f, w: vector(n, 0.3), offsets, sets });
        for problem in [local, global] {
            let answer = |seed| {
                let [r, u, v] = problem.sizes();
                Solution { r: vector(r, seed), u: vector(u, seed + 1.0), v: vector(v, seed + 2.0) }
            };
            let stored = Stored {
                solution: Some(answer(0.5)),
                guesses: vec![answer(0.6), answer(0.7)],
                title: "tower of µ".into(),
                description: "two words".into(),
                ..Stored::of(problem.clone())
            };
            let again = parse("b.hdf5".as_ref(), bytes("b.hdf5".as_ref(), &stored).unwrap()).unwrap();
            match (&again.problem, &problem) {
                (Problem::Local(a), Problem::Local(b)) => assert_eq!(a, b),
                (Problem::Global(a), Problem::Global(b)) => {
                    assert_eq!((&a.mass, &a.h, &a.f, &a.w), (&b.mass, &b.h, &b.f, &b.w));
                    assert_eq!((&a.sets, &a.offsets), (&b.sets, &b.offsets));
                }
                other => panic!("{other:?}"),
            }
            assert_eq!((&again.solution, &again.guesses), (&stored.solution, &stored.guesses));
            assert_eq!((&again.title, &again.description), (&stored.title, &stored.description));
        }
    }
}

#[test]
fn a_problem_without_contacts_is_legal() {
    let p = GlobalProblem {
        mass: sparse(3, 3, 0),
        h: CsMat::zero((3, 0)).to_csc(),
        f: vec![1.0; 3],
        w: vec![],
        offsets: vec![0],
        sets: vec![],
    };
    let stored = Stored::of(Problem::Global(p));
    let again = parse("c.hdf5".as_ref(), bytes("c.hdf5".as_ref(), &stored).unwrap()).unwrap();
    assert_eq!(again.problem.sizes(), [0, 0, 3]);
}

#[test]
fn kinds_that_fclib_does_not_know_are_refused() {
    let p = crate::numerics::lcp::Lcp::default();
    let error = bytes("d.hdf5".as_ref(), &Stored::of(Problem::Lcp(p))).unwrap_err().to_string();
    assert!(error.contains("no place for problems of kind lcp; write .json"), "{error}");
}

#[test]
fn contacts_of_rows_that_fclib_does_not_know_are_refused() {
    for (set, rows, needed) in
        [(AdmissibleSet::Coulomb { mu: 0.3 }, 4, "2 or 3"), (AdmissibleSet::Rolling { mu: 0.3, mu_r: 0.1 }, 6, "3 or 5")]
    {
        let w = BlockRows::from_triplets(&[0, rows], (0..rows).map(|i| (i, i, 1.0)));
        let p = Problem::Local(LocalProblem { w, q: vec![-1.0; rows], sets: vec![set] });
        let error = bytes("e.hdf5".as_ref(), &Stored::of(p)).unwrap_err().to_string();
        assert!(error.contains(&format!("FCLIB has {needed} rows for a contact, and these have {rows}; write .json")), "{error}");
    }
}
