//! Writing FCLIB.

use super::Stored;
use crate::io::problem::{Error, rows_of_contact};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::solvers::{Kind, Problem, Solution};
use hdf5_pure::{DatasetBuilder, FileBuilder, GroupBuilder};
use sprs::{CsMat, TriMat};
use std::path::Path;

/// Below this many entries a chunk costs more than it saves.
const SMALL: usize = 512;
/// Entries of a chunk; sizes of three bytes (from 65536 on) are written in four, which HDF5 2.0 does not accept.
const CHUNK: usize = 1 << 15;

/// Writes an FCLIB file: matrices as compressed columns, packed where that pays.
pub fn write(path: &Path, stored: &Stored) -> Result<(), Error> {
    let bytes = bytes(path, stored)?;
    std::fs::write(path, bytes).map_err(Error::file(path, "written"))
}

/// The bytes of an FCLIB file; `path` is for messages alone.
pub fn bytes(path: &Path, stored: &Stored) -> Result<Vec<u8>, Error> {
    let mut file = FileBuilder::new();
    let problem = &stored.problem;
    let uniform = |offsets: &[usize]| offsets.windows(2).all(|o| o[1] - o[0] == offsets[1] - offsets[0]);
    let (sets, offsets) = problem.blocks();
    let root = match problem.kind() {
        Kind::Friction => "fclib_local",
        Kind::Rolling => "fclib_local_rolling",
        Kind::GlobalFriction => "fclib_global",
        Kind::GlobalRolling => "fclib_global_rolling",
        other => {
            let cause = format!("FCLIB has no place for problems of kind {}; write .json", other.name());
            return Err(Error::Unsupported { path: path.to_owned(), cause });
        }
    };
    if !uniform(offsets) {
        let cause = "FCLIB has one number of rows for all contacts, and these differ; write .json".to_owned();
        return Err(Error::Unsupported { path: path.to_owned(), cause });
    }
    let rolling = matches!(problem.kind(), Kind::Rolling | Kind::GlobalRolling);
    let allowed = rows_of_contact(problem.kind());
    let dim = offsets.get(1).copied().unwrap_or(allowed[1]);
    if !allowed.contains(&dim) {
        let cause = format!("FCLIB has {} or {} rows for a contact, and these have {dim}; write .json", allowed[0], allowed[1]);
        return Err(Error::Unsupported { path: path.to_owned(), cause });
    }
    let mut top = file.create_group(root);
    top.create_dataset("spacedim").with_i32_data(&[dim as i32]);
    let mut info = top.create_group("info");
    for (name, text) in [("title", &stored.title), ("description", &stored.description), ("math_info", &stored.math_info)] {
        // a string of HDF5 has at least one byte
        let text = if text.is_empty() { " " } else { text };
        let dataset = info.create_dataset(name).with_strings(&[text]);
        dataset.map_err(|e| Error::data(path, format!("{root}/info/{name}"), e.to_string()))?.with_shape(&[]);
    }
    top.add_group(info.finish());
    let mut vectors = top.create_group("vectors");
    let (mu, mu_r): (Vec<f64>, Vec<f64>) = sets.iter().map(|set| coefficients(*set)).unzip();
    vectors.create_dataset("mu").with_f64_data(&mu);
    if rolling {
        vectors.create_dataset("mu_r").with_f64_data(&mu_r);
    }
    match problem {
        Problem::Local(p) => {
            vectors.create_dataset("q").with_f64_data(&p.q);
            let n = p.w.order();
            let mut a = TriMat::new((n, n));
            for i in 0..p.w.block_count() {
                for (j, block) in p.w.row(i) {
                    let width = p.w.rows(j);
                    for (k, &x) in block.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        a.add_triplet(p.w.offsets()[i] + k / width, p.w.offsets()[j] + k % width, x);
                    }
                }
            }
            matrix(path, &mut top, "W", &a.to_csc())?;
        }
        Problem::Global(p) => {
            vectors.create_dataset("f").with_f64_data(&p.f);
            vectors.create_dataset("w").with_f64_data(&p.w);
            matrix(path, &mut top, "M", &p.mass.to_csc())?;
            matrix(path, &mut top, "H", &p.h.to_csc())?;
        }
        // their kinds are refused above
        Problem::Lcp(_) | Problem::Mlcp(_) | Problem::Relay(_) => {}
    }
    top.add_group(vectors.finish());
    file.add_group(top.finish());
    let answer = |group: &mut GroupBuilder, s: &Solution| {
        for (name, x) in [("r", &s.r), ("u", &s.u), ("v", &s.v)] {
            if name != "v" || !x.is_empty() {
                group.create_dataset(name).with_f64_data(x);
            }
        }
    };
    if let Some(s) = &stored.solution {
        let mut group = file.create_group("solution");
        answer(&mut group, s);
        file.add_group(group.finish());
    }
    if !stored.guesses.is_empty() {
        let mut guesses = file.create_group("guesses");
        guesses.create_dataset("number_of_guesses").with_i32_data(&[stored.guesses.len() as i32]);
        for (k, s) in stored.guesses.iter().enumerate() {
            let mut group = guesses.create_group(&(k + 1).to_string());
            answer(&mut group, s);
            guesses.add_group(group.finish());
        }
        file.add_group(guesses.finish());
    }
    file.finish().map_err(|e| Error::data(path, "HDF5", e.to_string()))
}

/// The bytes of an HDF5 file with nothing but `/solution/kind` and `/solution/name` for each vector; `path` is for messages alone.
pub fn vectors(path: &Path, kind: Kind, named: &[(&str, &[f64])]) -> Result<Vec<u8>, Error> {
    let mut file = FileBuilder::new();
    let mut group = file.create_group("solution");
    let text = group.create_dataset("kind").with_strings(&[kind.name()]);
    text.map_err(|e| Error::data(path, "solution/kind", e.to_string()))?.with_shape(&[]);
    for (name, x) in named {
        group.create_dataset(name).with_f64_data(x);
    }
    file.add_group(group.finish());
    file.finish().map_err(|e| Error::data(path, "HDF5", e.to_string()))
}

fn coefficients(set: AdmissibleSet) -> (f64, f64) {
    match set {
        AdmissibleSet::Coulomb { mu } | AdmissibleSet::Crushing { mu, .. } | AdmissibleSet::SecondOrder { mu } => (mu, 0.0),
        AdmissibleSet::Rolling { mu, mu_r } | AdmissibleSet::Twisting { mu, mu_r, .. } => (mu, mu_r),
        AdmissibleSet::Free | AdmissibleSet::NonNegative | AdmissibleSet::Interval { .. } => (0.0, 0.0),
    }
}

fn matrix(path: &Path, top: &mut GroupBuilder, name: &str, a: &CsMat<f64>) -> Result<(), Error> {
    let narrow = |n: usize| {
        let most = || Error::data(path, name, format!("needs the number {n}, more than the 32-bit integers of FCLIB can hold"));
        i32::try_from(n).map_err(|_| most())
    };
    let list = |values: &[usize]| values.iter().map(|&n| narrow(n)).collect::<Result<Vec<i32>, Error>>();
    let pointers = list(&a.proper_indptr())?;
    let indices = list(a.indices())?;
    let mut group = top.create_group(name);
    for (part, value) in [("m", narrow(a.rows())?), ("n", narrow(a.cols())?), ("nzmax", narrow(a.nnz())?), ("nz", -1)] {
        group.create_dataset(part).with_i32_data(&[value]);
    }
    let packed = |dataset: &mut DatasetBuilder, n: usize| {
        if n >= SMALL {
            dataset.with_chunks(&[n.min(CHUNK) as u64]).with_shuffle().with_deflate(6);
        }
    };
    packed(group.create_dataset("p").with_i32_data(&pointers), pointers.len());
    packed(group.create_dataset("i").with_i32_data(&indices), indices.len());
    packed(group.create_dataset("x").with_f64_data(a.data()), a.nnz());
    top.add_group(group.finish());
    Ok(())
}
