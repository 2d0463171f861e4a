//! Files that a scene names: beside the scene file, or embedded for built-in scenes.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::error::SceneError;
use super::fields::Field;
use super::model::Note;
use crate::geometry::Shape;
use crate::io::blocks;
use crate::io::mesh::{self, MeshData};
use glam::DVec3;

/// Largest table that is read (bytes).
const MAX_CSV: u64 = 256 << 20;

/// Meshes of the built-in scenes.
const EMBEDDED: [(&str, &[u8]); 1] = [("terrain.obj", include_bytes!("../../../assets/meshes/terrain.obj"))];

/// A file, or a folder, that a scene names.
///
/// ```
/// use drystone::io::scene::{Content, Scene, SceneSource};
/// let (_, files) = Scene::load_with_files(&SceneSource::new("terrain_mesh"), &[])?;
/// assert!(files[0].named.ends_with("terrain.obj") && matches!(files[0].content, Content::Inside(_)));
/// # Ok::<(), drystone::io::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneFile {
    /// As the scene has it.
    pub named: String,
    /// Where it is.
    pub content: Content,
}

/// Where a file is that a scene names.
///
/// ```
/// use drystone::io::scene::Content;
/// assert_ne!(Content::Inside(b"v 0 0 0"), Content::At("rock.stl".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// On the disk.
    At(PathBuf),
    /// In the program: of built-in scenes.
    Inside(&'static [u8]),
}

/// Part of the volume of its hull from which on a mesh has one of its own.
const LEAST_PART: f64 = 0.05;

/// Where to look for files.
pub(super) struct Resources {
    directory: Option<PathBuf>,
    /// What was noticed on the way.
    notes: RefCell<Vec<Note>>,
    /// What was asked for so far.
    files: RefCell<Vec<SceneFile>>,
}

impl Resources {
    /// Paths count from the directory of `scene`.
    pub(super) fn beside(scene: &Path) -> Self {
        Self { directory: Some(scene.parent().unwrap_or(Path::new("")).to_owned()), ..Self::embedded() }
    }

    /// Only the files inside the program.
    pub(super) fn embedded() -> Self {
        Self { directory: None, notes: RefCell::default(), files: RefCell::default() }
    }

    /// Keeps what `check` should tell.
    pub(super) fn note(&self, about: String, message: String, cure: &str) {
        self.notes.borrow_mut().push(Note { about, message, cure: cure.to_owned() });
    }

    /// All that was noticed.
    pub(super) fn notes(&self) -> Vec<Note> {
        self.notes.take()
    }

    /// The files that were asked for, each once.
    pub(super) fn files(&self) -> Vec<SceneFile> {
        self.files.take()
    }

    fn asked(&self, named: &str, content: Content) {
        let mut files = self.files.borrow_mut();
        if files.iter().all(|file| file.named != named) {
            files.push(SceneFile { named: named.to_owned(), content });
        }
    }

    /// The mesh that `field` names.
    pub(super) fn mesh(&self, field: &Field<'_>) -> Result<MeshData, SceneError> {
        let file = field.text()?;
        // built-in scenes name their meshes as their files would, relative to assets/scenes
        let embedded = file.strip_prefix("../meshes/").and_then(|f| EMBEDDED.iter().find(|e| e.0 == f));
        let result = match (&self.directory, embedded) {
            (None, Some((name, bytes))) => {
                self.asked(file, Content::Inside(bytes));
                mesh::parse(name, bytes)
            }
            _ => mesh::load(&self.path(field)?),
        };
        result.map_err(|e| field.error(format!("{}: {}", e.file, e.message), e.cure))
    }

    /// The path that `field` names.
    pub(super) fn path(&self, field: &Field<'_>) -> Result<PathBuf, SceneError> {
        let named = field.text()?;
        let path = self.directory.as_deref().unwrap_or(Path::new("")).join(named);
        self.asked(named, Content::At(path.clone()));
        Ok(path)
    }

    /// Path and text of the table that `field` names.
    pub(super) fn text(&self, field: &Field<'_>) -> Result<(PathBuf, String), SceneError> {
        let path = self.path(field)?;
        let name = path.display();
        let cure = "check the path; it counts from the scene file";
        let unreadable = |e: std::io::Error| field.error(format!("the table {name} cannot be read: {e}"), cure);
        let size = std::fs::metadata(&path).map_err(unreadable)?.len();
        if size > MAX_CSV {
            return Err(
                field.error(format!("the table {name} has {size} bytes, more than the {MAX_CSV} that are read"), "give fewer samples")
            );
        }
        let bytes = std::fs::read(&path).map_err(unreadable)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok((path, text.trim_start_matches('\u{feff}').to_owned()))
    }

    /// The corners of a mesh that `field` names, for a hull; notes that the hull fills what is hollow in the mesh.
    pub(super) fn hull(&self, field: &Field<'_>) -> Result<Vec<DVec3>, SceneError> {
        let mesh = self.mesh(field)?;
        let volume = blocks::volume(&mesh).abs();
        let hull = Shape::hull(&mesh.vertices).map_err(|error| {
            let message = error.to_string();
            let message = message.strip_prefix("hull: ").unwrap_or(&message);
            field.error(format!("{}: {message}", field.text().unwrap_or_default()), "mend the file, or name another one")
        })?;
        let hull = hull.mass_properties(1.0).map_or(0.0, |hull| hull.mass);
        // a file of points has no volume, and an open mesh any
        if volume > LEAST_PART * hull && volume < hull && !blocks::is_hull(volume, hull) && !blocks::is_open(&mesh) {
            let file = field.text()?;
            let message =
                format!("the hull around {file} has {:.2} times the volume of its mesh, and fills what is hollow there", hull / volume);
            self.note(file.to_owned(), message, "write kind = \"mesh\" for a body of its own shape, or give its mass");
        }
        Ok(mesh.vertices)
    }

    /// Notes that a file which becomes one hull names several blocks.
    pub(super) fn note_blocks(&self, field: &Field<'_>) -> Result<(), SceneError> {
        let file = field.text()?;
        if self.directory.is_none() || !file.to_lowercase().ends_with(".obj") {
            return Ok(());
        }
        let blocks = mesh::bytes(&self.path(field)?).and_then(|bytes| mesh::obj_groups(file, &bytes)).unwrap_or_default();
        if blocks.len() > 1 {
            let names: Vec<&str> = blocks.iter().take(4).map(|(name, _)| name.as_str()).collect();
            let more = if blocks.len() > 4 { ", …" } else { "" };
            let message = format!("{file} has {} groups ({}{more}), and one hull goes around all of them", blocks.len(), names.join(", "));
            self.note(file.to_owned(), message, "write [[import]] file = … for a body of each group");
        }
        Ok(())
    }
}
