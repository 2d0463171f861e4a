//! Files that a scene names: beside the scene file, or embedded for built-in scenes.

use std::path::{Path, PathBuf};

use glam::DVec3;

use super::error::SceneError;
use super::fields::Field;
use crate::io::mesh::{self, MeshData};

/// Largest table that is read (bytes).
const MAX_CSV: u64 = 256 << 20;

/// Meshes of the built-in scenes.
const EMBEDDED: [(&str, &[u8]); 1] = [("terrain.obj", include_bytes!("../../../assets/meshes/terrain.obj"))];

/// Where to look for files.
pub(super) struct Resources {
    directory: Option<PathBuf>,
}

impl Resources {
    /// Paths count from the directory of `scene`.
    pub(super) fn beside(scene: &Path) -> Self {
        Self { directory: Some(scene.parent().unwrap_or(Path::new("")).to_owned()) }
    }

    /// Only the files inside the program.
    pub(super) fn embedded() -> Self {
        Self { directory: None }
    }

    /// The mesh that `field` names.
    pub(super) fn mesh(&self, field: &Field<'_>) -> Result<MeshData, SceneError> {
        let file = field.text()?;
        // built-in scenes name their meshes as their files would, relative to assets/scenes
        let embedded = file.strip_prefix("../meshes/").and_then(|f| EMBEDDED.iter().find(|e| e.0 == f));
        let result = match (&self.directory, embedded) {
            (None, Some((name, bytes))) => mesh::parse(name, bytes),
            (directory, _) => mesh::load(&directory.as_deref().unwrap_or(Path::new("")).join(file)),
        };
        result.map_err(|e| field.error(format!("{}: {}", e.file, e.message), e.cure))
    }

    /// Rows of numbers (time first, one or three values) of the CSV file that `field` names; a first row of words is skipped.
    pub(super) fn table(&self, field: &Field<'_>, direction: DVec3) -> Result<(Vec<f64>, Vec<DVec3>), SceneError> {
        let path = self.directory.as_deref().unwrap_or(Path::new("")).join(field.text()?);
        let name = path.display();
        let cure = "check the path; it counts from the scene file";
        let unreadable = |e: std::io::Error| field.error(format!("the table {name} cannot be read: {e}"), cure);
        let size = std::fs::metadata(&path).map_err(unreadable)?.len();
        if size > MAX_CSV {
            return Err(
                field.error(format!("the table {name} has {size} bytes, more than the {MAX_CSV} that are read"), "give fewer samples")
            );
        }
        let text = std::fs::read(&path).map_err(unreadable)?;
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#')).from_reader(&text[..]);
        let (mut times, mut values): (Vec<f64>, Vec<DVec3>) = (Vec::new(), Vec::new());
        for (i, record) in reader.records().enumerate() {
            let row = i + 1;
            let wrong = |what: String| {
                field.error(format!("{name}, row {row}: {what}"), "rows are `time, value` or `time, x, y, z`, in SI, times rising")
            };
            let record = record.map_err(|e| wrong(format!("found broken CSV: {e}")))?;
            let numbers: Option<Vec<f64>> = record.iter().map(|x| x.parse().ok().filter(|x: &f64| x.is_finite())).collect();
            match numbers.as_deref() {
                None if i == 0 => continue,
                Some([t, ..]) if times.last().is_some_and(|last| t <= last) => {
                    return Err(wrong(format!("found the time {t}, which does not rise")));
                }
                Some([t, a]) => {
                    times.push(*t);
                    values.push(direction * *a);
                }
                Some([t, x, y, z]) => {
                    times.push(*t);
                    values.push(DVec3::new(*x, *y, *z));
                }
                _ => return Err(wrong(format!("found `{}`", super::units::short(&record.iter().collect::<Vec<_>>().join(","))))),
            }
        }
        if times.is_empty() {
            return Err(field.error(format!("the table {name} has no rows of numbers"), "give rows `time, value` or `time, x, y, z`"));
        }
        Ok((times, values))
    }
}
