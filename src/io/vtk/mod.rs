//! Bodies, contacts and fields for ParaView: one `.vtp` file (PolyData) or `.vti` file (ImageData) per instant, gathered in a `.pvd`
//! collection, or one VTKHDF file for all instants of bodies, of contacts, of branches ([`Format::VtkHdf`]).
//!
//! In files of one instant arrays stand behind the XML as raw little-endian bytes, compressed block by block:
//!
//! ```text
//! n_blocks, block_size, last_size (0: full), compressed sizes …   (UInt64)   zlib block, zlib block, …
//! ```
//!
//! [`Frames`] says which arrays there are and in what precision; each has its unit beside it (`UNITS_LABEL`, in VTKHDF `units`).

mod arrays;
mod collection;
mod data_set;
mod frame;
mod grid;
mod hdf5;
mod long;
#[cfg(test)]
mod long_tests;
mod stored;
#[cfg(test)]
mod tests;
mod values;

pub use arrays::{BodyArray, ContactArray, Format, Frames, Precision, Shapes};
pub use frame::{Polygons, write_bodies, write_branches, write_contacts, write_polygons};
pub use grid::{GridArray, GridFrame, GridSeries, remove_grids};
pub use stored::StoredFrame;
pub(in crate::io) use stored::nearest_instant;

use crate::io::error::OutputError;
use crate::io::snapshot::Snapshot;
use long::LongSeries;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Kinds of frames.
const KINDS: [&str; 5] = ["bodies", "contacts", "branches", "joints", SHAPES];
const SHAPES: &str = "shapes";

/// A directory that receives `bodies.pvd` and, where [`Frames`] ask for them, `contacts.pvd` and `branches.pvd`, and the frames they list;
/// or `bodies.vtkhdf`, `contacts.vtkhdf` and `branches.vtkhdf`.
///
/// The collections are rewritten after every frame, so a run that was stopped can still be opened; a VTKHDF file shows all frames but the
/// last 1.6 % at any time, and all of them after [`VtkSeries::flush`].
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
    /// Of each kind in turn, where all frames go into one file.
    long: Vec<LongSeries>,
    /// Bytes of the last frame: of bodies, and of what else there is.
    sizes: [u64; 2],
    /// Bodies whose surfaces stand in a file of shapes.
    shaped: BTreeSet<u32>,
}

impl VtkSeries {
    /// Starts an empty series; the directory is made where it is missing, frames and collections of a run before are removed.
    pub fn create(directory: &Path, holds: Frames) -> Result<Self, OutputError> {
        std::fs::create_dir_all(directory).map_err(OutputError::file(directory, "created"))?;
        remove_frames(directory, None)?;
        let whole = |kind| [directory.join(format!("{kind}.pvd")), long_file(directory, kind)];
        for path in KINDS.into_iter().flat_map(whole) {
            if path.exists() {
                std::fs::remove_file(&path).map_err(OutputError::file(&path, "removed"))?;
            }
        }
        Self::open(directory, holds, Vec::new(), LongSeries::create)
    }

    /// Continues the series of an interrupted run, keeping the frames up to step `last`.
    pub fn resume(directory: &Path, last: u64, holds: Frames) -> Result<Self, OutputError> {
        std::fs::create_dir_all(directory).map_err(OutputError::file(directory, "created"))?;
        remove_frames(directory, Some(last))?;
        let mut frames = collection::read(directory, if holds.format == Format::Vtp { "bodies" } else { "joints" }, "vtp")?;
        frames.retain(|&(step, _)| step <= last);
        let mut series = Self::open(directory, holds, frames, |path| LongSeries::resume(path, last))?;
        for (path, _, _) in collection::frames(directory, "vtp")?.iter().filter(|file| file.1 == SHAPES) {
            series.shaped.extend(StoredFrame::read(path, 0.0)?.array("PointData", "id")?.into_iter().map(|id| id as u32));
        }
        Ok(series)
    }

    fn open(
        directory: &Path,
        holds: Frames,
        frames: Vec<(u64, f64)>,
        open: impl Fn(&Path) -> Result<LongSeries, OutputError>,
    ) -> Result<Self, OutputError> {
        let kinds = if holds.format == Format::Vtp { Vec::new() } else { kinds(&holds) };
        let long = kinds.into_iter().map(|kind| open(&long_file(directory, kind))).collect::<Result<_, _>>()?;
        Ok(Self { directory: directory.to_owned(), holds, frames, long, sizes: [0; 2], shaped: BTreeSet::new() })
    }

    /// Writes one frame and brings the collections up to date; a step that is written again replaces its frame.
    pub fn write(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        let step = snapshot.step;
        self.frames.retain(|frame| frame.0 != step);
        self.frames.push((step, snapshot.time));
        self.sizes = [0; 2];
        if self.holds.shapes == Shapes::Once
            && let Some((shapes, ids)) = frame::shapes(snapshot, self.holds.precision, |id| !self.shaped.contains(&id))
        {
            shapes.save(&self.directory.join(frame_name(SHAPES, step)))?;
            self.shaped.extend(ids);
        }
        for (k, kind) in kinds(&self.holds).into_iter().enumerate() {
            let frame = match kind {
                "bodies" => frame::bodies(snapshot, &self.holds),
                "contacts" => frame::contacts(snapshot, &self.holds),
                _ => frame::branches(snapshot, &self.holds, self.holds.format == Format::Vtp),
            };
            self.sizes[k.min(1)] += match self.long.get_mut(k) {
                Some(long) => long.write(step, &frame)?,
                None => frame.save(&self.directory.join(frame_name(kind, step)))?,
            };
            if self.long.is_empty() {
                self.write_collection(kind)?;
            }
        }
        Ok(())
    }

    /// Lets readers of a single file see all frames.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        self.long.iter_mut().try_for_each(LongSeries::publish)
    }

    /// Bytes of the last frame: of bodies, and of contacts and branches.
    pub fn frame_bytes(&self) -> [u64; 2] {
        self.sizes
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

/// What frames are asked for.
fn kinds(holds: &Frames) -> Vec<&'static str> {
    let wanted = [("bodies", true), ("contacts", !holds.contacts.is_empty()), ("branches", holds.branches)];
    wanted.into_iter().filter(|w| w.1).map(|w| w.0).collect()
}

fn long_file(directory: &Path, kind: &str) -> PathBuf {
    directory.join(format!("{kind}.vtkhdf"))
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
