//! `.pvd` files, which list the files of all instants, and the names of these.

use crate::io::error::{OutputError, replace_file};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Behind the last entry.
const TAIL: &str = "</Collection>\n</VTKFile>\n";

/// The file of one step.
pub(super) fn frame(kind: &str, step: u64, extension: &str) -> String {
    format!("{kind}_{step:08}.{extension}")
}

/// Files of such names in a directory, with their kind and step, in order.
pub(super) fn frames(directory: &Path, extension: &str) -> Result<Vec<(PathBuf, String, u64)>, OutputError> {
    let files = std::fs::read_dir(directory).map_err(OutputError::file(directory, "listed"))?;
    let found = |path: PathBuf| {
        let stem = path.extension().filter(|e| *e == extension).and_then(|_| path.file_stem()?.to_str())?;
        let (kind, number) = stem.rsplit_once('_').filter(|(_, n)| n.len() >= 8 && n.bytes().all(|c| c.is_ascii_digit()))?;
        let (kind, step) = (kind.to_owned(), number.parse().ok()?);
        Some((path, kind, step))
    };
    let mut all: Vec<_> = files.filter_map(|file| found(file.ok()?.path())).collect();
    all.sort_unstable();
    Ok(all)
}

/// Lists these steps and times.
pub(super) fn write(directory: &Path, kind: &str, extension: &str, frames: &[(u64, f64)]) -> Result<(), OutputError> {
    let mut xml =
        String::from("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n");
    for &(step, time) in frames {
        xml += &entry(kind, extension, step, time);
    }
    xml += TAIL;
    replace_file(&directory.join(format!("{kind}.pvd")), xml.as_bytes())
}

fn entry(kind: &str, extension: &str, step: u64, time: f64) -> String {
    format!("<DataSet timestep=\"{time}\" group=\"\" part=\"0\" file=\"{}\"/>\n", frame(kind, step, extension))
}

/// Adds one to a list that [`write`] has begun, without writing the others again.
pub(super) fn append(directory: &Path, kind: &str, extension: &str, (step, time): (u64, f64)) -> Result<(), OutputError> {
    let path = directory.join(format!("{kind}.pvd"));
    let written = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).open(&path)?;
        file.seek(SeekFrom::End(-(TAIL.len() as i64)))?;
        file.write_all((entry(kind, extension, step, time) + TAIL).as_bytes())
    };
    written().map_err(OutputError::file(&path, "written"))
}

/// The steps and times that are listed; none where there is no list.
pub(super) fn read(directory: &Path, kind: &str, extension: &str) -> Result<Vec<(u64, f64)>, OutputError> {
    let path = directory.join(format!("{kind}.pvd"));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(&path).map_err(OutputError::file(&path, "read"))?;
    let mut frames = Vec::new();
    for (line, data_set) in (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("<DataSet")) {
        let frame = attribute(data_set, "file").zip(attribute(data_set, "timestep")).and_then(|(file, time)| {
            let step = file.strip_prefix(kind)?.strip_prefix('_')?.strip_suffix(extension)?.strip_suffix('.')?;
            Some((step.parse().ok()?, time.parse().ok()?))
        });
        let unknown = || OutputError::Content {
            path: path.clone(),
            line,
            found: data_set.to_owned(),
            expected: format!("a timestep and a file {kind}_STEP.{extension}"),
        };
        frames.push(frame.ok_or_else(unknown)?);
    }
    Ok(frames)
}

/// The value of `name="…"` in an XML tag.
pub(super) fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}
