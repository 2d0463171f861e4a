//! Bodies, contacts and fields for ParaView: one `.vtp` file (PolyData) or `.vti` file (ImageData) per instant, gathered in a `.pvd` collection.
//!
//! Arrays stand behind the XML as raw little-endian bytes, compressed block by block:
//!
//! ```text
//! n_blocks, block_size, last_size (0: full), compressed sizes …   (UInt64)   zlib block, zlib block, …
//! ```
//!
//! [`Frames`] says which arrays there are and in what precision; each has its unit beside it (`UNITS_LABEL`).

mod arrays;
mod collection;
mod data_set;
mod frame;
mod grid;
#[cfg(test)]
mod tests;

pub use arrays::{BodyArray, ContactArray, Frames, Precision};
pub use frame::{Polygons, write_bodies, write_branches, write_contacts, write_polygons};
pub use grid::{GridArray, GridFrame, GridSeries, remove_grids};

use crate::io::error::OutputError;
use crate::io::snapshot::Snapshot;
use std::path::{Path, PathBuf};

/// Kinds of frames.
const KINDS: [&str; 4] = ["bodies", "contacts", "branches", "joints"];

/// A directory that receives `bodies.pvd` and, where [`Frames`] ask for them, `contacts.pvd` and `branches.pvd`, and the frames they list.
///
/// The collections are rewritten after every frame, so a run that was stopped can still be opened.
///
/// ```
/// use drystone::{algebra::spatial::Pose, io::{snapshot::*, vtk::{Frames, VtkSeries}}};
/// # let dir = tempfile::tempdir().unwrap();
/// # let directory = dir.path().join("vtk");
/// let cube = BodyView::new(0, "cube", "cuboid", Pose::IDENTITY, Surface::cuboid(glam::DVec3::ONE).into());
/// let mut series = VtkSeries::create(&directory, Frames::default())?;
/// series.write(&Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[cube], contacts: &[] })?;
/// assert!(directory.join("bodies.pvd").exists());
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Debug)]
pub struct VtkSeries {
    directory: PathBuf,
    holds: Frames,
    /// Step and time of each frame.
    frames: Vec<(u64, f64)>,
}

impl VtkSeries {
    /// Starts an empty series; the directory is made where it is missing, frames and collections of a run before are removed.
    pub fn create(directory: &Path, holds: Frames) -> Result<Self, OutputError> {
        std::fs::create_dir_all(directory).map_err(OutputError::file(directory, "created"))?;
        remove_frames(directory, None)?;
        for path in KINDS.map(|kind| directory.join(format!("{kind}.pvd"))) {
            if path.exists() {
                std::fs::remove_file(&path).map_err(OutputError::file(&path, "removed"))?;
            }
        }
        Ok(Self { directory: directory.to_owned(), holds, frames: Vec::new() })
    }

    /// Continues the series of an interrupted run, keeping the frames up to step `last`.
    pub fn resume(directory: &Path, last: u64, holds: Frames) -> Result<Self, OutputError> {
        std::fs::create_dir_all(directory).map_err(OutputError::file(directory, "created"))?;
        remove_frames(directory, Some(last))?;
        let mut series = Self { directory: directory.to_owned(), holds, frames: Vec::new() };
        series.frames = collection::read(directory, "bodies", "vtp")?;
        series.frames.retain(|&(step, _)| step <= last);
        Ok(series)
    }

    /// Writes one frame and brings the collections up to date; a step that is written again replaces its frame.
    pub fn write(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        let step = snapshot.step;
        self.frames.retain(|frame| frame.0 != step);
        self.frames.push((step, snapshot.time));
        let path = |kind| self.directory.join(frame_name(kind, step));
        write_bodies(&path("bodies"), snapshot, &self.holds)?;
        self.write_collection("bodies")?;
        if !self.holds.contacts.is_empty() {
            write_contacts(&path("contacts"), snapshot, &self.holds)?;
            self.write_collection("contacts")?;
        }
        if self.holds.branches {
            write_branches(&path("branches"), snapshot, &self.holds)?;
            self.write_collection("branches")?;
        }
        Ok(())
    }

    /// Adds joints to the frame that was just written, in a collection of their own.
    pub fn write_joints(&mut self, joints: &Polygons) -> Result<(), OutputError> {
        let Some(&(step, time)) = self.frames.last() else { return Ok(()) };
        write_polygons(&self.directory.join(frame_name("joints", step)), time, joints)?;
        self.write_collection("joints")
    }

    fn write_collection(&self, kind: &str) -> Result<(), OutputError> {
        collection::write(&self.directory, kind, "vtp", &self.frames)
    }
}

/// Removes the frames after step `last`, or all of them: files of the names that a series gives, and no others.
fn remove_frames(directory: &Path, last: Option<u64>) -> Result<(), OutputError> {
    for (path, kind, step) in collection::frames(directory, "vtp")? {
        if KINDS.contains(&kind.as_str()) && last.is_none_or(|last| step > last) {
            std::fs::remove_file(&path).map_err(OutputError::file(&path, "removed"))?;
        }
    }
    Ok(())
}

fn frame_name(kind: &str, step: u64) -> String {
    collection::frame(kind, step, "vtp")
}

#[cfg(test)]
use collection::attribute;
