//! What can go wrong while a result is written or read back.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// An output that could not be written or read: which file, and why.
///
/// ```
/// use drystone::io::table::read_table;
/// let error = read_table("no/such/steps.csv".as_ref()).unwrap_err();
/// assert!(error.to_string().starts_with("no/such/steps.csv: cannot be read"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The operating system refused.
    #[error("{}: cannot be {action}: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// What was tried: "created", "written", "read", …
        action: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A file that was read does not hold what it should.
    #[error("{}, line {line}: found {found}, expected {expected}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// What stands there.
        found: String,
        /// What would have done.
        expected: String,
    },
    /// The data handed over cannot be shown.
    #[error("{}: {cause}", path.display())]
    Data {
        /// The file that was to be written.
        path: PathBuf,
        /// What was found, and what would do.
        cause: String,
    },
}

impl OutputError {
    /// An error of the file system, for `map_err`: `.map_err(OutputError::file(path, "written"))`.
    pub(crate) fn file(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), action, source }
    }

    pub(crate) fn data(path: &Path, cause: impl Into<String>) -> Self {
        Self::Data { path: path.to_owned(), cause: cause.into() }
    }
}

/// Makes the folder that a file is to stand in, where it is missing.
pub(crate) fn make_folder_of(path: &Path) -> Result<(), OutputError> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => std::fs::create_dir_all(folder).map_err(OutputError::file(folder, "created")),
        None => Ok(()),
    }
}

/// Writes a whole file so that a reader sees the old content or the new one, never half of it. What is there and is no file (a device, a
/// pipe, a folder) is left alone.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    replace_file_by(path, &[bytes])
}

/// The same of what stands in several places.
pub(crate) fn replace_file_by(path: &Path, parts: &[&[u8]]) -> Result<(), OutputError> {
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(OutputError::data(path, "is there and is no file, so it cannot be replaced; name a file"));
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    let partial = PathBuf::from(partial);
    let written = || parts.iter().try_fold(std::fs::File::create(&partial)?, |mut file, part| file.write_all(part).map(|()| file));
    written().map_err(OutputError::file(&partial, "written"))?;
    std::fs::rename(&partial, path).map_err(OutputError::file(path, "replaced"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_and_nothing_else_is_touched() {
        let directory = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = directory.path().join("a.txt");
        for content in [b"one", b"two"] {
            replace_file(&path, content).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(std::fs::read(&path).unwrap_or_default(), content);
        }
        let folder = replace_file(directory.path(), b"x").map_err(|e| e.to_string());
        assert!(folder.is_err_and(|e| e.contains("is no file")) && directory.path().is_dir());
    }
}
