//! The files of coarse-grained fields.

use crate::diagnostics::fields::{COLUMNS, Field, coarse_grain};
use crate::diagnostics::grains::Packing;
use crate::io::error::OutputError;
use crate::io::scene::model::{FieldFile, GridField};
use crate::io::table::StepTable;
use crate::io::vtk::{GridArray, GridFrame, GridSeries, Precision};
use std::path::Path;

/// Numbers of a cell in a frame.
const NUMBERS: usize = 24;

/// Those of one `[[field]]`.
#[derive(Debug)]
pub(super) struct FieldFiles {
    pub(super) field: GridField,
    table: Option<StepTable>,
    series: Option<GridSeries>,
}

impl FieldFiles {
    /// Starts the files, or continues them after the step and time that a checkpoint reached.
    pub(super) fn open(
        directory: &Path,
        field: &GridField,
        precision: Precision,
        resumed: Option<(u64, f64)>,
    ) -> Result<Self, OutputError> {
        let path = directory.join(format!("{}.csv", field.name));
        let has = |file| field.files.contains(&file);
        let table = || match resumed {
            None => StepTable::create(&path, &COLUMNS),
            Some((_, time)) => StepTable::resume(&path, &COLUMNS, time),
        };
        let series = || match resumed {
            None => GridSeries::create(directory, &field.name, precision),
            Some((step, _)) => GridSeries::resume(directory, &field.name, step, precision),
        };
        let (table, series) = (has(FieldFile::Csv).then(table).transpose()?, has(FieldFile::Vtk).then(series).transpose()?);
        Ok(Self { field: field.clone(), table, series })
    }

    /// Adds an instant.
    pub(super) fn write(&mut self, step: u64, time: f64, packing: &Packing) -> Result<(), OutputError> {
        let grid = &self.field.grid;
        let cells = coarse_grain(grid, packing);
        if let Some(table) = &mut self.table {
            table.rows(cells.iter().enumerate().map(|(k, cell)| cell.row(time, grid.centre(k))))?;
        }
        if let Some(series) = &mut self.series {
            series.write(step, time, &GridFrame { low: grid.low, size: grid.size(), cells: grid.cells, arrays: arrays(&cells) })?;
        }
        Ok(())
    }

    /// How many numbers of tables, and bytes of frames before compression, an instant has.
    pub(super) fn size(&self) -> (usize, usize) {
        let cells = self.field.grid.count();
        let part = |file, size: usize| if self.field.files.contains(&file) { cells * size } else { 0 };
        (part(FieldFile::Csv, COLUMNS.len()), part(FieldFile::Vtk, 4 * NUMBERS))
    }
}

fn arrays(cells: &[Field]) -> Vec<GridArray> {
    let array = |name, unit, components, of: &dyn Fn(&Field) -> Vec<f64>| {
        let values = cells.iter().flat_map(of).collect();
        GridArray { name, unit, components, values }
    };
    let tensor = |m: glam::DMat3| m.transpose().to_cols_array().to_vec();
    vec![
        array("density", "kg/m3", 1, &|c| vec![c.density]),
        array("solid_fraction", "", 1, &|c| vec![c.solid_fraction]),
        array("velocity", "m/s", 3, &|c| c.velocity.to_array().to_vec()),
        array("temperature", "m2/s2", 1, &|c| vec![c.temperature]),
        array("kinetic_stress", "Pa", 9, &|c| tensor(c.kinetic_stress)),
        array("stress", "Pa", 9, &|c| tensor(c.stress)),
    ]
}
