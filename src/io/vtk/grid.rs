//! Fields on a regular grid, as figures of its cells.

use super::arrays::Precision;
use super::collection;
use super::data_set::DataSet;
use crate::io::error::OutputError;
use glam::DVec3;
use std::path::{Path, PathBuf};

/// A figure of each cell.
///
/// ```
/// use drystone::io::vtk::GridArray;
/// let density = GridArray { name: "density", unit: "kg/m3", components: 1, values: vec![1000.0; 8] };
/// assert_eq!(density.values.len(), 8);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GridArray {
    /// What it is called.
    pub name: &'static str,
    /// Its unit, empty where it has none.
    pub unit: &'static str,
    /// Numbers for each cell: 1, a vector of 3, or a tensor of 9 row by row.
    pub components: usize,
    /// Cell by cell.
    pub values: Vec<f64>,
}

/// Fields at one instant.
///
/// ```
/// use drystone::io::vtk::{GridArray, GridFrame, GridSeries, Precision};
/// # let dir = tempfile::tempdir().unwrap();
/// let heat = GridArray { name: "temperature", unit: "m2/s2", components: 1, values: vec![0.5, 0.25] };
/// let frame = GridFrame { low: glam::DVec3::ZERO, size: glam::DVec3::ONE, cells: [2, 1, 1], arrays: vec![heat] };
/// GridSeries::create(dir.path(), "gas", Precision::Single)?.write(10, 0.1, &frame)?;
/// assert!(dir.path().join("gas_00000010.vti").exists() && dir.path().join("gas.pvd").exists());
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GridFrame {
    /// Lower corner (m).
    pub low: DVec3,
    /// Edges of a cell (m).
    pub size: DVec3,
    /// Cells along x, y and z.
    pub cells: [usize; 3],
    /// What they hold.
    pub arrays: Vec<GridArray>,
}

/// `NAME.pvd` and the frames that it lists.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// use drystone::io::vtk::{GridSeries, Precision};
/// assert!(GridSeries::create(dir.path(), "bed", Precision::Single).is_ok());
/// ```
#[derive(Debug)]
pub struct GridSeries {
    directory: PathBuf,
    name: String,
    precision: Precision,
    frames: Vec<(u64, f64)>,
    /// For the arrays of a frame.
    room: Vec<u8>,
}

impl GridSeries {
    /// Starts an empty series in a directory that is there; [`remove_grids`] takes away those of a run before.
    pub fn create(directory: &Path, name: &str, precision: Precision) -> Result<Self, OutputError> {
        let series = Self { directory: directory.to_owned(), name: name.to_owned(), precision, frames: Vec::new(), room: Vec::new() };
        collection::write(directory, name, "vti", &series.frames)?;
        Ok(series)
    }

    /// Continues the series of an interrupted run, keeping the frames up to step `last`.
    pub fn resume(directory: &Path, name: &str, last: u64, precision: Precision) -> Result<Self, OutputError> {
        let mut frames = collection::read(directory, name, "vti")?;
        frames.retain(|&(step, _)| step <= last);
        collection::write(directory, name, "vti", &frames)?;
        Ok(Self { directory: directory.to_owned(), name: name.to_owned(), precision, frames, room: Vec::new() })
    }

    /// Writes one frame and brings the list up to date.
    pub fn write(&mut self, step: u64, time: f64, frame: &GridFrame) -> Result<(), OutputError> {
        let mut file = DataSet::image_data(time, frame.low, frame.size, frame.cells, std::mem::take(&mut self.room));
        file.section("CellData", "");
        for array in &frame.arrays {
            file.push_plain((array.name, array.unit), self.precision, array.components, &array.values);
        }
        self.room = file.save_and_empty(&self.directory.join(collection::frame(&self.name, step, "vti")))?;
        let listed = self.frames.iter().any(|frame| frame.0 == step);
        self.frames.retain(|frame| frame.0 != step);
        self.frames.push((step, time));
        match listed {
            true => collection::write(&self.directory, &self.name, "vti", &self.frames),
            false => collection::append(&self.directory, &self.name, "vti", (step, time)),
        }
    }
}

/// Removes the grids of a run before after step `last`, or all of them with their lists; what no list names is not of a run.
pub fn remove_grids(directory: &Path, last: Option<u64>) -> Result<(), OutputError> {
    let list = |kind: &str| directory.join(format!("{kind}.pvd"));
    let mut stale: Vec<PathBuf> = Vec::new();
    for (path, kind, step) in collection::frames(directory, "vti")?.into_iter().filter(|f| list(&f.1).exists()) {
        stale.extend(last.is_none_or(|last| step > last).then_some(path));
        stale.extend(last.is_none().then(|| list(&kind)));
    }
    stale.sort_unstable();
    stale.dedup();
    stale.iter().try_for_each(|path| std::fs::remove_file(path).map_err(OutputError::file(path, "removed")))
}
