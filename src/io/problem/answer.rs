//! Answers as files, so that a program outside can recompute their residual, and a later solve can start from them.

use super::Error;
use crate::numerics::solvers::{Answer, Kind, Problem, Solution};
use std::path::Path;

/// Writes the answer by the extension of `path`: `.json`, or `.hdf5` and `.h5`.
///
/// JSON holds `kind`, then `r`, `u` (and `v` of a global problem), or `z` and `w`, and `certificate` with an inconsistent problem. HDF5 of
/// the kinds of FCLIB is the problem with its `/solution/{r, u, v}`; of other kinds it is `/solution/{kind, r, u, v}` or `/solution/{kind, z, w}` alone.
///
/// ```
/// use drystone::algebra::matrix::Matrix;
/// use drystone::io::problem::answer;
/// use drystone::numerics::{lcp::Lcp, solvers::{Problem, Settings}};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("answer.json");
/// let p = Problem::from(Lcp { m: Matrix::dense(1, 1, vec![2.0]), q: vec![-1.0] });
/// answer::write(&path, &p, &p.solve(&Settings::default())?)?;
/// assert_eq!(std::fs::read_to_string(&path)?, "{\"kind\":\"lcp\",\"z\":[0.5],\"w\":[0.0]}\n");
/// assert_eq!(answer::read(&path, &p)?.r, [0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(path: &Path, problem: &Problem, answer: &Answer) -> Result<(), Error> {
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("json") => json(path, problem, answer)?,
        Some("hdf5" | "h5") => hdf5(path, problem, answer)?,
        _ => return Err(Error::Unsupported { path: path.to_owned(), cause: "has to end in .json, .hdf5 or .h5".to_owned() }),
    };
    std::fs::write(path, bytes).map_err(Error::file(path, "written"))
}

/// The vectors of an answer that [`write()`] has written, or the `solution` (else the first of the `guesses`) of an FCLIB file; the content
/// decides. They are a first guess for `problem`, and of another kind of problem an error, though local and global problems share their
/// reactions; whether they have its size, the solve tells.
pub fn read(path: &Path, problem: &Problem) -> Result<Solution, Error> {
    let bytes = std::fs::read(path).map_err(Error::file(path, "read"))?;
    if bytes.starts_with(b"\x89HDF\r\n\x1a\n") {
        return from_hdf5(path, bytes, problem);
    }
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        let cause = "holds no answer; one as `--solution` writes it, JSON or HDF5, is needed".to_owned();
        return Err(Error::Unsupported { path: path.to_owned(), cause });
    }
    let stored: Stored = serde_json::from_slice(&bytes).map_err(|e| Error::data(path, "JSON", e.to_string()))?;
    stored.kind.iter().try_for_each(|kind| of_kind(path, "kind", kind, problem))?;
    let (first, r) = if problem.complementarity() { ("z", stored.z) } else { ("r", stored.r) };
    let r = r.ok_or_else(|| Error::data(path, first, "is missing; an answer as `--solution` writes it is needed"))?;
    Ok(Solution { r, v: stored.v.unwrap_or_default(), u: Vec::new() })
}

/// Refuses the numbers of another kind of problem: they stand for something else, also where they are as many.
pub(crate) fn of_kind(path: &Path, what: &str, found: &str, problem: &Problem) -> Result<(), Error> {
    let reactions = |kind: Kind| match kind {
        Kind::GlobalFriction => Kind::Friction,
        Kind::GlobalRolling => Kind::Rolling,
        Kind::GlobalMixed => Kind::Mixed,
        other => other,
    };
    let needed = problem.kind();
    if Kind::from_name(found).map(reactions) == Some(reactions(needed)) {
        return Ok(());
    }
    let cause = format!("is {found}, but the guess is for a problem of kind {}; name an answer to one of that kind", needed.name());
    Err(Error::data(path, what, cause))
}

/// What a JSON answer may hold; u, w and the certificate follow from the problem.
#[derive(serde::Deserialize)]
struct Stored {
    kind: Option<String>,
    r: Option<Vec<f64>>,
    z: Option<Vec<f64>>,
    v: Option<Vec<f64>>,
}

/// The vectors under the names that the kind has for them.
fn named<'a>(problem: &Problem, answer: &'a Answer) -> Vec<(&'static str, &'a [f64])> {
    let s = &answer.solution;
    let mut named: Vec<(_, &[f64])> = match problem {
        Problem::Local(_) => vec![("r", &s.r), ("u", &s.u)],
        Problem::Global(_) => vec![("r", &s.r), ("u", &s.u), ("v", &s.v)],
        Problem::Lcp(_) | Problem::Mlcp(_) | Problem::Relay(_) => vec![("z", &s.r), ("w", &s.u)],
    };
    if !answer.certificate.is_empty() {
        named.push(("certificate", &answer.certificate));
    }
    named
}

fn json(path: &Path, problem: &Problem, answer: &Answer) -> Result<Vec<u8>, Error> {
    let wrong = |e: serde_json::Error| Error::data(path, "JSON", e.to_string());
    let mut text = format!("{{\"kind\":\"{}\"", problem.kind().name());
    for (name, x) in named(problem, answer) {
        text += &format!(",\"{name}\":{}", serde_json::to_string(x).map_err(wrong)?);
    }
    text += "}\n";
    Ok(text.into_bytes())
}

#[cfg(feature = "hdf5")]
fn hdf5(path: &Path, problem: &Problem, answer: &Answer) -> Result<Vec<u8>, Error> {
    use crate::io::fclib;
    let stored = fclib::Stored { solution: Some(answer.solution.clone()), ..fclib::Stored::of(problem.clone()) };
    match fclib::bytes(path, &stored) {
        Err(Error::Unsupported { .. }) => fclib::vectors(path, problem.kind(), &named(problem, answer)),
        other => other,
    }
}

#[cfg(not(feature = "hdf5"))]
fn hdf5(path: &Path, _: &Problem, _: &Answer) -> Result<Vec<u8>, Error> {
    Err(Error::Unsupported { path: path.to_owned(), cause: "is HDF5, and this build is without the feature `hdf5`".to_owned() })
}

#[cfg(feature = "hdf5")]
fn from_hdf5(path: &Path, bytes: Vec<u8>, problem: &Problem) -> Result<Solution, Error> {
    crate::io::fclib::solution(path, bytes, problem)
}

#[cfg(not(feature = "hdf5"))]
fn from_hdf5(path: &Path, _: Vec<u8>, _: &Problem) -> Result<Solution, Error> {
    Err(Error::Unsupported { path: path.to_owned(), cause: "is HDF5, and this build is without the feature `hdf5`".to_owned() })
}
