//! Answers as files, so that a program outside can recompute their residual.

use super::Error;
use crate::numerics::solvers::{Problem, Solution};
use std::path::Path;

/// Writes the answer by the extension of `path`: `.json`, or `.hdf5` and `.h5`.
///
/// JSON holds `kind`, then `r`, `u` (and `v` of a global problem), or `z` and `w`, and `certificate` with an inconsistent problem. HDF5 of the kinds of FCLIB is the problem with its
/// `/solution/{r, u, v}`; of other kinds it is `/solution/{r, u, v}` or `/solution/{z, w}` alone.
///
/// ```
/// use drystone::algebra::matrix::Matrix;
/// use drystone::io::problem::answer;
/// use drystone::numerics::{lcp::Lcp, solvers::{Problem, Solution}};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("answer.json");
/// let p = Problem::Lcp(Lcp { m: Matrix::dense(1, 1, vec![2.0]), q: vec![-1.0] });
/// answer::write(&path, &p, &Solution { r: vec![0.5], u: vec![0.0], ..Solution::default() })?;
/// assert_eq!(std::fs::read_to_string(&path)?, "{\"kind\":\"lcp\",\"z\":[0.5],\"w\":[0.0]}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(path: &Path, problem: &Problem, answer: &Solution) -> Result<(), Error> {
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("json") => json(path, problem, answer)?,
        Some("hdf5" | "h5") => hdf5(path, problem, answer)?,
        _ => return Err(Error::Unsupported { path: path.to_owned(), cause: "has to end in .json, .hdf5 or .h5".to_owned() }),
    };
    std::fs::write(path, bytes).map_err(Error::file(path, "written"))
}

/// The vectors under the names that the kind has for them.
fn named<'a>(problem: &Problem, s: &'a Solution) -> Vec<(&'static str, &'a [f64])> {
    let mut named: Vec<(_, &[f64])> = match problem {
        Problem::Local(_) => vec![("r", &s.r), ("u", &s.u)],
        Problem::Global(_) => vec![("r", &s.r), ("u", &s.u), ("v", &s.v)],
        Problem::Lcp(_) | Problem::Mlcp(_) | Problem::Relay(_) => vec![("z", &s.r), ("w", &s.u)],
    };
    if !s.certificate.is_empty() {
        named.push(("certificate", &s.certificate));
    }
    named
}

fn json(path: &Path, problem: &Problem, answer: &Solution) -> Result<Vec<u8>, Error> {
    let wrong = |e: serde_json::Error| Error::data(path, "JSON", e.to_string());
    let mut text = format!("{{\"kind\":\"{}\"", problem.kind().name());
    for (name, x) in named(problem, answer) {
        text += &format!(",\"{name}\":{}", serde_json::to_string(x).map_err(wrong)?);
    }
    text += "}\n";
    Ok(text.into_bytes())
}

#[cfg(feature = "hdf5")]
fn hdf5(path: &Path, problem: &Problem, answer: &Solution) -> Result<Vec<u8>, Error> {
    use crate::io::fclib;
    let stored = fclib::Stored { solution: Some(answer.clone()), ..fclib::Stored::of(problem.clone()) };
    match fclib::bytes(path, &stored) {
        Err(Error::Unsupported { .. }) => fclib::vectors(path, &named(problem, answer)),
        other => other,
    }
}

#[cfg(not(feature = "hdf5"))]
fn hdf5(path: &Path, _: &Problem, _: &Solution) -> Result<Vec<u8>, Error> {
    Err(Error::Unsupported { path: path.to_owned(), cause: "is HDF5, and this build is without the feature `hdf5`".to_owned() })
}
