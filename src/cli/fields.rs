//! The files of coarse-grained fields.

use crate::diagnostics::fields::{COLUMNS, CoarseGrained, Field};
use crate::diagnostics::grains::Packing;
use crate::io::error::OutputError;
use crate::io::scene::model::{FieldFile, GridField};
use crate::io::table::{StepTable, format_number};
use crate::io::vtk::{GridArray, GridFrame, GridSeries, Precision};
use std::path::Path;

/// Numbers of a cell in a frame.
const NUMBERS: usize = 27;

/// Those of one `[[field]]`, with all that they need at an instant: nothing is asked of memory after the first.
#[derive(Debug)]
pub(super) struct FieldFiles {
    pub(super) field: GridField,
    table: Option<StepTable>,
    series: Option<GridSeries>,
    grained: CoarseGrained,
    frame: GridFrame,
    /// Columns of the centres of cells, as text.
    places: Vec<String>,
    precision: Precision,
}

/// Bytes of a number in a table, of single precision and of double: measured on pours.
const NUMBER: [f64; 2] = [10.0, 17.0];

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
        let grid = &field.grid;
        let place = |cell| grid.centre(cell).to_array().map(format_number).join(",");
        let places = if table.is_some() { (0..grid.count()).map(place).collect() } else { Vec::new() };
        let frame = GridFrame { low: grid.low, size: grid.size(), cells: grid.cells, arrays: arrays() };
        Ok(Self { field: field.clone(), table, series, grained: CoarseGrained::new(grid), frame, places, precision })
    }

    /// Adds an instant.
    pub(super) fn write(&mut self, step: u64, time: f64, packing: &Packing) -> Result<(), OutputError> {
        self.grained.update(packing);
        let cells = self.grained.fields();
        if let Some(table) = &mut self.table {
            table.rows_of((time, self.precision), &self.places, 3, cells.iter().map(Field::numbers))?;
        }
        if let Some(series) = &mut self.series {
            fill(&mut self.frame.arrays, cells);
            series.write(step, time, &self.frame)?;
        }
        Ok(())
    }

    /// How many bytes of tables, and of frames before compression, an instant has.
    pub(super) fn size(&self) -> [f64; 2] {
        let cells = self.field.grid.count() as f64;
        let part = |file, size: f64| if self.field.files.contains(&file) { cells * size } else { 0.0 };
        let number = NUMBER[usize::from(self.precision == Precision::Double)];
        [part(FieldFile::Csv, number * COLUMNS.len() as f64), part(FieldFile::Vtk, 4.0 * NUMBERS as f64)]
    }
}

/// Name, unit and number of components of what a grid holds.
const ARRAYS: [(&str, &str, usize); 9] = [
    ("density", "kg/m3", 1),
    ("solid_fraction", "", 1),
    ("velocity", "m/s", 3),
    ("temperature", "m2/s2", 1),
    ("kinetic_stress", "Pa", 9),
    ("stress", "Pa", 9),
    ("diameter", "m", 1),
    ("shear_rate", "1/s", 1),
    ("inertial_number", "", 1),
];

fn arrays() -> Vec<GridArray> {
    ARRAYS.iter().map(|&(name, unit, components)| GridArray { name, unit, components, values: Vec::new() }).collect()
}

fn fill(arrays: &mut [GridArray], cells: &[Field]) {
    arrays.iter_mut().for_each(|array| array.values.resize(array.components * cells.len(), 0.0));
    let [density, solid, velocity, temperature, kinetic, stress, diameter, rate, inertial] = arrays else { return };
    let scalars: [(_, fn(&Field) -> f64); 6] = [
        (density, |c| c.density),
        (solid, |c| c.solid_fraction),
        (temperature, |c| c.temperature),
        (diameter, |c| c.diameter),
        (rate, |c| c.shear_rate),
        (inertial, |c| c.inertial_number),
    ];
    for (array, of) in scalars {
        array.values.iter_mut().zip(cells).for_each(|(x, c)| *x = of(c));
    }
    let vectors = velocity.values.as_chunks_mut().0;
    vectors.iter_mut().zip(cells).for_each(|(v, c)| *v = c.velocity.to_array());
    let tensors: [(_, fn(&Field) -> glam::DMat3); 2] = [(kinetic, |c| c.kinetic_stress), (stress, |c| c.stress)];
    for (array, of) in tensors {
        let tensors = array.values.as_chunks_mut().0;
        tensors.iter_mut().zip(cells).for_each(|(m, c)| *m = of(c).transpose().to_cols_array());
    }
}
