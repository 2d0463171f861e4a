//! The tables of measures of grains.

use crate::diagnostics::grains::Packing;
use crate::diagnostics::measured;
use crate::diagnostics::structure::pair_correlation;
use crate::io::error::OutputError;
use crate::io::scene::model::Measure;
use crate::io::table::StepTable;

/// Columns of tables of pair correlations, of the distribution of forces and of the directions of normals.
const PAIRS: [&str; 3] = ["time [s]", "distance [m]", "pair_correlation"];
const FORCES: [&str; 3] = ["time [s]", "force_over_mean", "density"];
const ROSE: [&str; 4] = ["time [s]", "angle [deg]", "by_number", "by_force"];

/// Those of one `[[measure]]`.
#[derive(Debug)]
pub(super) struct MeasureTables {
    pub(super) measure: Measure,
    table: StepTable,
    pairs: Option<StepTable>,
    forces: Option<StepTable>,
    rose: Option<StepTable>,
}

impl MeasureTables {
    /// `table_of` opens a table of this name with these columns.
    pub(super) fn open(measure: &Measure, table_of: &dyn Fn(&str, &[&str]) -> Result<StepTable, OutputError>) -> Result<Self, OutputError> {
        let part =
            |wanted: bool, part: &str, columns: &[&str]| wanted.then(|| table_of(&format!("{}_{part}", measure.name), columns)).transpose();
        Ok(Self {
            table: table_of(&measure.name, &measured::columns(measure))?,
            pairs: part(measure.pairs.is_some(), "pairs", &PAIRS)?,
            forces: part(measure.forces.is_some(), "forces", &FORCES)?,
            rose: part(measure.rose.is_some(), "rose", &ROSE)?,
            measure: measure.clone(),
        })
    }

    /// Adds an instant.
    pub(super) fn write(&mut self, time: f64, packing: &Packing) -> Result<(), OutputError> {
        let Self { measure, table, pairs, forces, rose } = self;
        table.row(&measured::row(time, packing, measure))?;
        if let (Some(table), Some(distances)) = (pairs, &measure.pairs) {
            let bounds = measure.bounds.unwrap_or_else(|| packing.bounds().into());
            let found = pair_correlation(packing, bounds, distances.largest, distances.bins, measure.discs);
            table.rows(found.iter().map(|[distance, g]| [time, *distance, *g]))?;
        }
        if let (Some(table), Some(bins)) = (forces, &measure.forces) {
            let found = measured::forces(packing, measure.bounds, bins);
            table.rows(found.iter().map(|[force, density]| [time, *force, *density]))?;
        }
        if let (Some(table), Some(bins)) = (rose, &measure.rose) {
            let found = measured::rose(packing, measure.bounds, bins);
            table.rows(found.iter().map(|[angle, number, force]| [time, *angle, *number, *force]))?;
        }
        Ok(())
    }

    /// How many numbers an instant has.
    pub(super) fn numbers(&self) -> usize {
        let pairs = self.measure.pairs.as_ref().map_or(0, |pairs| PAIRS.len() * pairs.bins);
        let forces = self.measure.forces.as_ref().map_or(0, |forces| FORCES.len() * forces.bins);
        let rose = self.measure.rose.as_ref().map_or(0, |rose| ROSE.len() * rose.bins);
        measured::columns(&self.measure).len() + pairs + forces + rose
    }
}
