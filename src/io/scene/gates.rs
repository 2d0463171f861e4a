//! Outlets, inlets, surfaces, tables of measures and fields of a scene, as plain data.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::grains;
use super::model::BodySpec;
use crate::granular::grain::Grain;
use crate::granular::sizes::Sizes;
use crate::model::flow::{self, Region};
use crate::model::grid::Grid;
use crate::model::pile::Rules;
use crate::model::surface;

/// A region in which bodies end.
///
/// ```
/// use drystone::{io::scene::model::Outlet, model::flow::Region};
/// let region = Region::Beyond { point: glam::DVec3::ZERO, normal: glam::DVec3::NEG_Z };
/// assert_eq!(Outlet { name: "drain".into(), region }.name, "drain");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlet {
    /// Unique among bodies, joints, interactions, outlets, inlets and surfaces.
    pub name: String,
    /// Where.
    pub region: Region,
}

/// A box in which grains appear at a rate, see [`crate::model::flow`].
///
/// ```
/// use drystone::{granular::{grain::Grain, sizes::Sizes}, io::scene::model::Inlet, model::flow};
/// use glam::DVec3;
/// let gate = flow::Inlet { low: DVec3::ZERO, high: DVec3::ONE, rate: 0.5, start: 0.0, seed: 1, flows: false };
/// let sizes = Sizes::one(0.01)?;
/// let (locked_translation, locked_rotation) = ([false; 3], [false; 3]);
/// let (name, velocity) = ("tap".into(), DVec3::ZERO);
/// let tap = Inlet { name, gate, count: 9, grain: Grain::Ball, sizes, seed: 1, material: 0, velocity, locked_translation, locked_rotation };
/// assert_eq!(tap.grains().last().map(|grain| grain.name), Some("tap.8".into()));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inlet {
    /// Unique among bodies, joints, interactions, outlets, inlets and surfaces; grains are `name.0`, `name.1`, ….
    pub name: String,
    /// Box, rate, start and seed.
    pub gate: flow::Inlet,
    /// Grains that come in at most.
    pub count: usize,
    /// What they look like.
    pub grain: Grain,
    /// Their radii.
    pub sizes: Sizes,
    /// Of their radii and forms.
    pub seed: u64,
    /// Index into the materials of the scene.
    pub material: usize,
    /// At birth (m/s).
    pub velocity: DVec3,
    /// World axes along which grains do not move; they come in the middle of the box there.
    pub locked_translation: [bool; 3],
    /// World axes about which they do not turn.
    pub locked_rotation: [bool; 3],
}

impl Inlet {
    pub(super) fn grain(&self, number: usize, radius: f64) -> BodySpec {
        let (shape, turn) = grains::shape(&self.grain, radius, self.seed, number);
        let mut made = BodySpec::new(format!("{}.{number}", self.name), shape);
        made.pose.rotation = turn;
        let (locked_translation, locked_rotation) = (self.locked_translation, self.locked_rotation);
        BodySpec { material: self.material, linear_velocity: self.velocity, locked_translation, locked_rotation, ..made }
    }

    /// Its grains, without a place.
    pub fn grains(&self) -> impl Iterator<Item = BodySpec> {
        self.sizes.radii(self.count, self.seed).into_iter().enumerate().map(|(k, radius)| self.grain(k, radius))
    }
}

/// A surface that counts what passes, see [`crate::model::surface`].
///
/// ```
/// use drystone::{io::scene::model::Surface, model::surface};
/// let plane = surface::Surface { point: glam::DVec3::ZERO, normal: glam::DVec3::NEG_Z, extent: surface::Extent::WHOLE };
/// assert_eq!(Surface { name: "orifice".into(), surface: plane }.name, "orifice");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Unique among bodies, joints, interactions, outlets, inlets and surfaces.
    pub name: String,
    /// Where.
    pub surface: surface::Surface,
}

/// How far large balls have parted from small ones, see `diagnostics::structure`.
///
/// ```
/// let upwards = drystone::io::scene::model::Segregation { axis: glam::DVec3::Z, radius: 0.015, between: None };
/// assert_eq!(upwards.between, None);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segregation {
    /// Unit vector along which they part.
    pub axis: DVec3,
    /// Grains of at least this radius are large (m), of other shapes than balls by that of the ball of their volume.
    pub radius: f64,
    /// From where to where grains are spread along the axis (m); none: as they are.
    pub between: Option<[f64; 2]>,
}

/// Distances whose pair correlation is written, see `diagnostics::structure`.
///
/// ```
/// assert_eq!(drystone::io::scene::model::PairDistances { largest: 0.05, bins: 50 }.bins, 50);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairDistances {
    /// m
    pub largest: f64,
    /// Equal parts of it.
    pub bins: usize,
}

/// Normal forces whose distribution is written, see [`crate::model::forces::density`].
///
/// ```
/// assert_eq!(drystone::io::scene::model::ForceBins { largest: 8.0, bins: 32 }.width(), 0.25);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForceBins {
    /// In mean forces; what is larger stands in no bin.
    pub largest: f64,
    /// Equal parts of it.
    pub bins: usize,
}

impl ForceBins {
    /// Of a bin, in mean forces.
    pub fn width(&self) -> f64 {
        self.largest / self.bins as f64
    }
}

/// Directions of normals that are written, see [`crate::model::forces::rose`].
///
/// ```
/// assert_eq!(drystone::io::scene::model::Rose { plane: [0, 2], bins: 18 }.plane_name(), "xz");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rose {
    /// Axes of the plane; angles count from the first to the second.
    pub plane: [usize; 2],
    /// Equal parts of half a turn.
    pub bins: usize,
}

impl Rose {
    /// Planes by name.
    pub const PLANES: [(&'static str, [usize; 2]); 3] = [("xy", [0, 1]), ("xz", [0, 2]), ("yz", [1, 2])];

    /// As scene files name it.
    pub fn plane_name(&self) -> &'static str {
        Self::PLANES.into_iter().find(|p| p.1 == self.plane).map_or("xz", |p| p.0)
    }
}

/// A table of measures of the grains in a box, see `diagnostics::grains`.
///
/// ```
/// use drystone::io::scene::model::Measure;
/// let all = Measure { name: "bed".into(), every: 0.01, bounds: None, segregation: None, pairs: None, forces: None, rose: None, discs: None };
/// assert_eq!(all.part_names().next(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Name of its file, without `.csv`.
    pub name: String,
    /// Interval (s); 0 means every step.
    pub every: f64,
    /// Lower and upper corner (m); none for all grains, in the smallest box that holds them.
    pub bounds: Option<[DVec3; 2]>,
    /// Whether there is a column of it.
    pub segregation: Option<Segregation>,
    /// Whether there is a table of pair correlations.
    pub pairs: Option<PairDistances>,
    /// Whether there is a table of the distribution of normal forces.
    pub forces: Option<ForceBins>,
    /// Whether there is a table of the directions of normals.
    pub rose: Option<Rose>,
    /// Axis across the plane, where the scene is one of discs ([`Scene::discs`](super::Scene::discs)): there is a column of their area fraction.
    pub discs: Option<usize>,
}

impl Measure {
    /// Names of the files of pair correlations, forces and directions, without `.csv`.
    pub fn part_names(&self) -> impl Iterator<Item = String> + use<> {
        let parts = [("pairs", self.pairs.is_some()), ("forces", self.forces.is_some()), ("rose", self.rose.is_some())];
        let name = self.name.clone();
        parts.into_iter().filter(|part| part.1).map(move |(part, _)| format!("{name}_{part}"))
    }
}

/// A table of the front, the height and the slope of a heap, see `diagnostics::piles`.
///
/// ```
/// use drystone::{io::scene::model::PileTable, model::pile::Rules};
/// let heap = PileTable { name: "heap".into(), every: 0.01, rules: Rules::default() };
/// assert_eq!(heap.rules.quantile, 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PileTable {
    /// Name of its file, without `.csv`.
    pub name: String,
    /// Interval (s); 0 means every step.
    pub every: f64,
    /// Axis, front and slope.
    pub rules: Rules,
}

/// A file that fields are written to.
///
/// ```
/// assert_eq!(drystone::io::scene::model::FieldFile::Vtk.name(), "vtk");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldFile {
    /// One table, a row for each cell and instant.
    Csv,
    /// A regular grid for each instant.
    Vtk,
}

impl FieldFile {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Csv, Self::Vtk];

    /// As scene files name it.
    pub fn name(self) -> &'static str {
        if self == Self::Csv { "csv" } else { "vtk" }
    }
}

/// Coarse-grained fields of the grains on a grid, see `diagnostics::fields`.
///
/// ```
/// use drystone::io::scene::model::{FieldFile, GridField};
/// use drystone::model::grid::Grid;
/// let bed = GridField { name: "bed".into(), every: 0.01, grid: Grid::default(), files: vec![FieldFile::Csv] };
/// assert_eq!(bed.grid.count(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridField {
    /// Name of its files, without `.csv` and `.pvd`.
    pub name: String,
    /// Interval (s); 0 means every step.
    pub every: f64,
    /// Cells and kernel.
    pub grid: Grid,
    /// Which files it has.
    pub files: Vec<FieldFile>,
}
