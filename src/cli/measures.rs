//! The tables of measures of grains.

use crate::diagnostics::grains::{self, Packing};
use crate::diagnostics::structure::{extent, pair_correlation, segregation};
use crate::io::error::OutputError;
use crate::io::scene::model::Measure;
use crate::io::table::StepTable;
use crate::model::flow::Region;

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
        let own = measure.segregation.as_ref().map(|_| "segregation");
        let columns: Vec<&str> = grains::COLUMNS.into_iter().chain(own).collect();
        let pairs = measure.pairs_name().map(|name| table_of(&name, &PAIRS)).transpose()?;
        Ok(Self { measure: measure.clone(), table: table_of(&measure.name, &columns)?, pairs })
    }

    /// Adds an instant.
    pub(super) fn write(&mut self, time: f64, packing: &Packing) -> Result<(), OutputError> {
        let Self { measure, table, pairs } = self;
        let mut row = grains::row(time, packing, measure.bounds).to_vec();
        if let Some(parted) = &measure.segregation {
            let part = measure.bounds.map(|[low, high]| packing.within(&Region::Box { low, high }));
            let part = part.as_ref().unwrap_or(packing);
            row.push(segregation(part, parted.axis, parted.radius, parted.between.unwrap_or_else(|| extent(part, parted.axis))));
        }
        table.row(&row)?;
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
        grains::COLUMNS.len() + usize::from(self.measure.segregation.is_some()) + pairs
    }
}
