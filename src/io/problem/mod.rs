//! One-step problems as files: FCLIB HDF5, the text files of the public test collections, and JSON.
//!
//! The content decides, not the name: gzip, HDF5 and JSON (`{`) by their first bytes, everything else is text (but a `.json` without a
//! number at its start, which is neither). [`Kind`] is asked for only where a text file fits several; see [`text`].

pub mod answer;
pub mod json;
mod matrix;
#[cfg(feature = "hdf5")]
pub(crate) use matrix::Entries;
pub mod text;
mod tokens;

use crate::numerics::ProblemError;
use crate::numerics::solvers::{Kind, Problem};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes that a packed file may unpack to.
const UNPACKED: u64 = 1 << 29;

/// A problem file that cannot be read or written: which file, where in it, and why.
///
/// ```
/// let error = drystone::io::problem::read("no/such/file.dat".as_ref(), None).unwrap_err();
/// assert!(error.to_string().starts_with("no/such/file.dat: cannot be read"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{}: cannot be {action}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A text does not hold what it should.
    #[error("{}:{line}: expected {expected}, found {found}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What would do.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A dataset, or a field of a JSON file, is at fault.
    #[error("{}: {what}: {cause}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// The dataset or field.
        what: String,
        /// What was found, and what would do.
        cause: String,
    },
    /// The numbers make no problem.
    #[error("{}: {source}", path.display())]
    Problem {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: ProblemError,
    },
    /// A text that several kinds of problems fit.
    #[error("{}: fits {}; name its kind with --kind", path.display(), kinds.iter().map(|k| k.name()).collect::<Vec<_>>().join(" and "))]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// What it may be.
        kinds: Vec<Kind>,
    },
    /// Another kind than the one asked for.
    #[error("{}: holds a problem of kind {}, not {} as asked", path.display(), found.name(), asked.name())]
    Kind {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: Kind,
        /// What was asked for.
        asked: Kind,
    },
    /// A file that is legal but nothing to solve here.
    #[error("{}: {cause}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
}

impl Error {
    pub(crate) fn data(path: &Path, what: impl Into<String>, cause: impl Into<String>) -> Self {
        Self::Data { path: path.to_owned(), what: what.into(), cause: cause.into() }
    }

    pub(crate) fn file(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), action, source }
    }
}

/// Rows that a contact may have in files that tell its law by coefficients alone: planar or spatial, and with its moments of rolling.
pub(crate) fn rows_of_contact(kind: Kind) -> [usize; 2] {
    if matches!(kind, Kind::Rolling | Kind::GlobalRolling) { [3, 5] } else { [2, 3] }
}

/// Reads the problem of a file; `kind` is needed for text files that fit several kinds, and checked elsewhere.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("small.dat");
/// // 0 ≤ z ⟂ 2 z − 1 ≥ 0: order; storage 0 (dense) with its sizes, twice; M; q
/// std::fs::write(&path, "1\n0 1 1\n1 1\n2\n-1\n")?;
/// let problem = drystone::io::problem::read(&path, None)?;
/// assert_eq!(problem.kind().name(), "lcp");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &Path, kind: Option<Kind>) -> Result<Problem, Error> {
    let bytes = std::fs::read(path).map_err(Error::file(path, "read"))?;
    parse(path, bytes, kind)
}

/// The problem in the bytes of a file; `path` is for messages alone.
pub fn parse(path: &Path, bytes: Vec<u8>, kind: Option<Kind>) -> Result<Problem, Error> {
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) { unpack(path, &bytes)? } else { bytes };
    let plain = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let start = plain.iter().position(|b| !b.is_ascii_whitespace());
    let problem = match start.map(|at| plain[at]) {
        None => return Err(Error::Unsupported { path: path.to_owned(), cause: "is empty".to_owned() }),
        Some(_) if bytes.starts_with(b"\x89HDF\r\n\x1a\n") => from_hdf5(path, bytes)?,
        Some(b'{') => json::parse(path, plain)?,
        Some(b'0'..=b'9') => text::parse(path, plain, kind)?,
        Some(_) if path.extension().is_some_and(|end| end == "json") => {
            let line = 1 + plain.iter().take(start.unwrap_or(0)).filter(|b| **b == b'\n').count();
            return Err(Error::data(path, format!("line {line}"), "a problem begins with `{\"kind\": …`, and this does not"));
        }
        Some(_) => text::parse(path, plain, kind)?,
    };
    problem.validate().map_err(|source| Error::Problem { path: path.to_owned(), source })?;
    match kind.filter(|&asked| !is_of(&problem, asked)) {
        Some(asked) => Err(Error::Kind { path: path.to_owned(), found: problem.kind(), asked }),
        None => Ok(problem),
    }
}

/// Problems without blocks are of every kind of their family, and every local problem is a mixed one too.
fn is_of(problem: &Problem, asked: Kind) -> bool {
    let found = problem.kind();
    let local = [Kind::Friction, Kind::Rolling, Kind::Mixed];
    let global = [Kind::GlobalFriction, Kind::GlobalRolling, Kind::GlobalMixed];
    let family = [local, global].into_iter().find(|family| family.contains(&found));
    found == asked || family.is_some_and(|f| f.contains(&asked) && (problem.blocks().0.is_empty() || asked == f[2]))
}

#[cfg(feature = "hdf5")]
fn from_hdf5(path: &Path, bytes: Vec<u8>) -> Result<Problem, Error> {
    crate::io::fclib::parse(path, bytes).map(|stored| stored.problem)
}

#[cfg(not(feature = "hdf5"))]
fn from_hdf5(path: &Path, _: Vec<u8>) -> Result<Problem, Error> {
    Err(Error::Unsupported { path: path.to_owned(), cause: "is HDF5, and this build is without the feature `hdf5`".to_owned() })
}

fn unpack(path: &Path, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).take(UNPACKED + 1).read_to_end(&mut plain).map_err(Error::file(path, "unpacked"))?;
    if plain.len() as u64 > UNPACKED {
        return Err(Error::data(path, "gzip", format!("unpacks to more than {} MiB; unpack it by hand and split it", UNPACKED >> 20)));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn packed_text_is_the_same_text_and_a_bomb_is_refused() {
        let pack = |bytes: &[u8]| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        };
        let text = b"1\n0 1 1\n1 1\n2\n-1\n";
        assert_eq!(parse("a.dat.gz".as_ref(), pack(text), None).unwrap().kind(), Kind::Lcp);
        let zeros = vec![b' '; 1 << 20];
        let bomb: Vec<u8> = (0..513).flat_map(|_| pack(&zeros)).collect();
        let error = parse("bomb.gz".as_ref(), bomb, None).unwrap_err().to_string();
        assert!(error.contains("512 MiB"), "{error}");
    }

    #[test]
    fn what_is_empty_or_no_json_in_spite_of_its_name_is_told_so() {
        let told = |name: &str, bytes: &[u8]| parse(name.as_ref(), bytes.to_vec(), None).map(|p| p.kind()).unwrap_err().to_string();
        for bytes in [&b""[..], b" \n\n", b"\xef\xbb\xbf"] {
            assert_eq!(told("a.json", bytes), "a.json: is empty");
            assert_eq!(told("a.dat", bytes), "a.dat: is empty");
        }
        for bytes in [&b"\n[1, 2]"[..], b"\nnull", b"\n\0\0\0"] {
            assert!(told("a.json", bytes).starts_with("a.json: line 2: a problem begins with `{\"kind\""), "{}", told("a.json", bytes));
        }
        // a byte order mark is no content
        let text = "\u{feff}{\"kind\": \"lcp\", \"m\": {\"dense\": [[1]]}, \"q\": [1]}";
        assert_eq!(parse("a.json".as_ref(), text.into(), None).map(|p| p.kind()).ok(), Some(Kind::Lcp));
    }

    #[test]
    fn another_kind_than_asked_is_an_error() {
        let text = r#"{"kind": "fc", "w": {"dense": [[1, 0], [0, 1]]}, "q": [-1, 0], "mu": [0.5]}"#;
        let error = parse("a.json".as_ref(), text.into(), Some(Kind::Rolling)).unwrap_err().to_string();
        assert!(error.contains("kind fc, not rfc"), "{error}");
    }
}
