//! Rows of the tables of `[[measure]]`, and what measures and heaps of a scene come to at the end of a run.

use super::grains::{self, Packing};
use super::piles::{self, Pile};
use super::structure::{extent, segregation};
use crate::io::scene::model::{ForceBins, Measure, PileTable, Rose};
use crate::model::flow::Region;
use crate::model::forces::{density, rose as directions};
use glam::DVec3;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Columns of the table of a measure.
pub fn columns(measure: &Measure) -> Vec<&'static str> {
    let more = [measure.segregation.as_ref().map(|_| "segregation"), measure.discs.map(|_| "area_fraction")];
    grains::COLUMNS.into_iter().chain(more.into_iter().flatten()).collect()
}

/// A row of such a table.
///
/// ```
/// use drystone::diagnostics::{grains::Packing, measured};
/// use drystone::io::scene::model::Measure;
/// let all = Measure { name: "bed".into(), every: 0.01, bounds: None, segregation: None, pairs: None, forces: None, rose: None, discs: None };
/// assert_eq!(measured::row(0.5, &Packing::default(), &all).len(), measured::columns(&all).len());
/// ```
pub fn row(time: f64, packing: &Packing, measure: &Measure) -> Vec<f64> {
    let mut row = grains::row(time, packing, measure.bounds).to_vec();
    row.extend(measure.segregation.as_ref().map(|parted| {
        let part = measure.bounds.map(|[low, high]| packing.within(&Region::Box { low, high }));
        let part = part.as_ref().unwrap_or(packing);
        let round = packing.cell.round(measure.bounds.unwrap_or_else(|| packing.bounds().into()));
        segregation(part, round, parted.axis, parted.radius, parted.between.unwrap_or_else(|| extent(part, parted.axis)))
    }));
    row.extend(measure.discs.map(|across| {
        let [low, high] = measure.bounds.unwrap_or_else(|| packing.bounds().into());
        packing.area_fraction(across, low, high)
    }));
    row
}

/// Normals and normal forces (N) of the contacts that press in all (those that pull are left out), of the grains in a box, or of all.
fn pressing(packing: &Packing, bounds: Option<[DVec3; 2]>) -> (Vec<[f64; 3]>, Vec<f64>) {
    let part = bounds.map(|[low, high]| packing.within(&Region::Box { low, high }));
    let contacts = part.as_ref().unwrap_or(packing).contacts();
    contacts.map(|(normal, force)| (normal.to_array(), force.dot(normal))).filter(|(_, force)| *force > 0.0).unzip()
}

/// How the normal forces of the grains in a box, or of all, are distributed: middles of bins in mean forces, and the density there. Not a
/// number where nothing presses.
///
/// ```
/// use drystone::diagnostics::{grains::{Link, Packing}, measured};
/// use drystone::io::scene::model::ForceBins;
/// use glam::DVec3;
/// let link = |force: f64| Link { grains: [Some(0), None], normal: DVec3::Z, force: DVec3::Z * force, ..Link::default() };
/// let packing = Packing { links: vec![link(1.0), link(3.0), link(0.0)], ..Packing::default() };
/// assert_eq!(measured::forces(&packing, None, &ForceBins { largest: 2.0, bins: 2 }), [[0.5, 0.5], [1.5, 0.5]]);
/// ```
pub fn forces(packing: &Packing, bounds: Option<[DVec3; 2]>, bins: &ForceBins) -> Vec<[f64; 2]> {
    let (_, forces) = pressing(packing, bounds);
    let found = density(&forces, bins.width());
    let none = if forces.is_empty() { f64::NAN } else { 0.0 };
    (0..bins.bins).map(|k| found.get(k).copied().unwrap_or([(k as f64 + 0.5) * bins.width(), none])).collect()
}

/// In which directions the grains in a box, or all, press: angles (degrees) in a plane, and the densities by number and by force there, 1 on
/// average. Not a number where nothing presses along it.
///
/// ```
/// use drystone::diagnostics::{grains::{Link, Packing}, measured};
/// use drystone::io::scene::model::Rose;
/// use glam::DVec3;
/// let link = |n: DVec3| Link { grains: [Some(0), None], normal: n, force: 2.0 * n, ..Link::default() };
/// let packing = Packing { links: vec![link(DVec3::X), link(-DVec3::X), link(DVec3::Y)], ..Packing::default() };
/// assert_eq!(measured::rose(&packing, None, &Rose { plane: [0, 2], bins: 2 }), [[0.0, 2.0, 2.0], [90.0, 0.0, 0.0]]);
/// ```
pub fn rose(packing: &Packing, bounds: Option<[DVec3; 2]>, rose: &Rose) -> Vec<[f64; 3]> {
    let (normals, forces) = pressing(packing, bounds);
    let [number, force] = directions(normals.iter().zip(forces), rose.plane, rose.bins)
        .unwrap_or_else(|| [vec![f64::NAN; rose.bins], vec![f64::NAN; rose.bins]]);
    (0..rose.bins).map(|k| [180.0 * k as f64 / rose.bins as f64, number[k], force[k]]).collect()
}

/// Numbers by name, in the order of the columns of their table: units stand at the end of a name, `height_m`, `stress_xx_Pa`,
/// `shear_rate_per_s`. What is not a number has none.
///
/// ```
/// use drystone::diagnostics::measured::Figures;
/// let heap = Figures::new(&["time [s]", "front [m]", "speed [m/s]"], &[2.0, 0.5, f64::NAN]);
/// assert_eq!(serde_json::to_string(&heap)?, r#"{"front_m":0.5,"speed_m_per_s":null}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures(Vec<(String, Option<f64>)>);

impl Figures {
    /// Of a row of a table whose first column is the time.
    pub fn new(columns: &[&str], row: &[f64]) -> Self {
        let name = |column: &str| match column.split_once(" [") {
            None => column.to_owned(),
            Some((name, unit)) => format!("{name}_{}", unit.trim_end_matches(']').replace("1/", "per_").replace('/', "_per_")),
        };
        let own = columns.iter().zip(row).skip(1);
        Self(own.map(|(column, value)| (name(column), Some(*value).filter(|x| x.is_finite()))).collect())
    }

    /// A figure by name; none where there is none, or no number.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name)?.1
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// What the measures find now, by their names.
pub fn of_measures(packing: &Packing, measures: &[Measure]) -> BTreeMap<String, Figures> {
    measures.iter().map(|m| (m.name.clone(), Figures::new(&columns(m), &row(0.0, packing, m)))).collect()
}

/// What the heaps are now, by their names.
pub fn of_piles(packing: &Packing, heaps: &[PileTable]) -> BTreeMap<String, Figures> {
    heaps.iter().map(|h| (h.name.clone(), Figures::new(&piles::COLUMNS, &Pile::of(packing, &h.rules).row(0.0)))).collect()
}
