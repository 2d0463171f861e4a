//! The tables of measures of grains.

use crate::diagnostics::grains::Packing;
use crate::diagnostics::measured;
use crate::diagnostics::structure::pair_correlation;
use crate::io::error::OutputError;
use crate::io::scene::model::Measure;
use crate::io::table::StepTable;

/// Columns of a table of pair correlations.
const PAIRS: [&str; 3] = ["time [s]", "distance [m]", "pair_correlation"];

/// Those of one `[[measure]]`.
#[derive(Debug)]
pub(super) struct MeasureTables {
    pub(super) measure: Measure,
    table: StepTable,
    pairs: Option<StepTable>,
}

impl MeasureTables {
    /// `table_of` opens a table of this name with these columns.
    pub(super) fn open(measure: &Measure, table_of: &dyn Fn(&str, &[&str]) -> Result<StepTable, OutputError>) -> Result<Self, OutputError> {
        let pairs = measure.pairs_name().map(|name| table_of(&name, &PAIRS)).transpose()?;
        Ok(Self { measure: measure.clone(), table: table_of(&measure.name, &measured::columns(measure))?, pairs })
    }

    /// Adds an instant.
    pub(super) fn write(&mut self, time: f64, packing: &Packing) -> Result<(), OutputError> {
        let Self { measure, table, pairs } = self;
        table.row(&measured::row(time, packing, measure))?;
        if let (Some(table), Some(distances)) = (pairs, &measure.pairs) {
            let bounds = measure.bounds.unwrap_or_else(|| packing.bounds().into());
            let found = pair_correlation(packing, bounds, distances.largest, distances.bins);
            table.rows(found.iter().map(|[distance, g]| [time, *distance, *g]))?;
        }
        Ok(())
    }

    /// How many numbers an instant has.
    pub(super) fn numbers(&self) -> usize {
        let pairs = self.measure.pairs.as_ref().map_or(0, |pairs| PAIRS.len() * pairs.bins);
        measured::columns(&self.measure).len() + pairs
    }
}
