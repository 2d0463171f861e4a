//! Coarse-grained fields: what grains and the forces between them are as a continuum, on a grid.
//!
//! ```text
//! density            ρ(x) = Σ m w                                solid fraction   φ = Σ V w
//! velocity           v̄ = Σ m v w / ρ
//! kinetic stress     σᵏ = Σ m (v − v̄) ⊗ (v − v̄) w               granular temperature   T = tr σᵏ/3ρ
//! contact stress     σ = Σ_grains Σ_contacts f ⊗ (x_i − p) ∫₀¹ w(x_i + s (p − x_i)) ds
//! ```
//!
//! w is the part that a cell gets of what is at a point ([`Grid::share`]) over the volume of the cell; x_i are centres of mass, p points of
//! contact, f forces on the grain as means over the last step. Compression is positive. These are the fields of I. Goldhirsch, *Stress, stress
//! asymmetry and couple stress: from discrete particles to continuous fields*, Granular Matter 12 (2010) 239, with each contact's line from
//! centre to centre in two halves, so that a wall has the half of its grain (T. Weinhart et al., Granular Matter 14 (2012) 289).
//! As shares sum to one, ∫ρ is the mass and ∫σ the sum of Love and Weber, to rounding.
//!
//! Where the mean velocity changes within the width, T has a part of that: γ̇² times a third of the kernel's second moment, 2c²/21 for Lucy's
//! in one dimension. The mean rotation of grains is not counted.

use super::grains::{Grain, Link, Packing, outer};
use crate::model::grid::Grid;
use glam::{DMat3, DVec3};

/// What stands in a cell.
///
/// ```
/// use drystone::{diagnostics::{fields::coarse_grain, grains::{Grain, Packing}}, model::grid::Grid};
/// use glam::DVec3;
/// let grain = |vx: f64| Grain { position: DVec3::splat(0.5), velocity: DVec3::X * vx, mass: 2.0, volume: 0.1, radius: None };
/// let packing = Packing { grains: vec![grain(1.0), grain(3.0)], ..Packing::default() };
/// let cell = coarse_grain(&Grid::default(), &packing)[0];
/// assert_eq!((cell.density, cell.solid_fraction, cell.velocity, cell.temperature), (4.0, 0.2, DVec3::X * 2.0, 1.0 / 3.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// kg/m³
    pub density: f64,
    /// Volume of the grains, each as a point, in that of the space.
    pub solid_fraction: f64,
    /// Mean by mass (m/s); not a number where no grain is near.
    pub velocity: DVec3,
    /// A third of the mean square of velocities about their mean (m²/s²); not a number where no grain is near.
    pub temperature: f64,
    /// Flux of momentum by velocities about the mean (Pa); symmetric.
    pub kinetic_stress: DMat3,
    /// Of contacts (Pa), rows by force and columns by branch.
    pub stress: DMat3,
}

impl Default for Field {
    /// An empty cell.
    fn default() -> Self {
        let (none, zero) = (DMat3::ZERO, DVec3::ZERO);
        Self { density: 0.0, solid_fraction: 0.0, velocity: zero, temperature: 0.0, kinetic_stress: none, stress: none }
    }
}

/// Columns of a table of fields: time, centre of the cell, and what stands in it.
pub const COLUMNS: [&str; 25] = [
    "time [s]",
    "x [m]",
    "y [m]",
    "z [m]",
    "density [kg/m3]",
    "solid_fraction",
    "velocity_x [m/s]",
    "velocity_y [m/s]",
    "velocity_z [m/s]",
    "temperature [m2/s2]",
    "kinetic_xx [Pa]",
    "kinetic_yy [Pa]",
    "kinetic_zz [Pa]",
    "kinetic_xy [Pa]",
    "kinetic_yz [Pa]",
    "kinetic_zx [Pa]",
    "stress_xx [Pa]",
    "stress_xy [Pa]",
    "stress_xz [Pa]",
    "stress_yx [Pa]",
    "stress_yy [Pa]",
    "stress_yz [Pa]",
    "stress_zx [Pa]",
    "stress_zy [Pa]",
    "stress_zz [Pa]",
];

impl Field {
    /// A row of such a table.
    ///
    /// ```
    /// use drystone::diagnostics::fields::Field;
    /// assert_eq!(Field { density: 3.0, ..Field::default() }.row(0.5, glam::DVec3::X)[..5], [0.5, 1.0, 0.0, 0.0, 3.0]);
    /// ```
    pub fn row(&self, time: f64, x: DVec3) -> [f64; COLUMNS.len()] {
        let (v, k, s) = (self.velocity, self.kinetic_stress, self.stress);
        let [sx, sy, sz] = [s.row(0), s.row(1), s.row(2)];
        let (kx, ky, kz) = (k.x_axis, k.y_axis, k.z_axis);
        [
            time,
            x.x,
            x.y,
            x.z,
            self.density,
            self.solid_fraction,
            v.x,
            v.y,
            v.z,
            self.temperature, //
            kx.x,
            ky.y,
            kz.z,
            kx.y,
            ky.z,
            kz.x,
            sx.x,
            sx.y,
            sx.z,
            sy.x,
            sy.y,
            sy.z,
            sz.x,
            sz.y,
            sz.z,
        ]
    }
}

/// The line from centre to centre where the point of contact lies on it, as that of two balls does: both halves in one.
fn straight(packing: &Packing, link: &Link) -> Option<[DVec3; 2]> {
    let [one, two] = [link.grains[0]?, link.grains[1]?];
    let (from, to) = (packing.grains[one].position, packing.grains[two].position + link.shift);
    let (branch, half) = (to - from, link.point - from);
    let along = half.dot(branch) / branch.length_squared();
    ((0.0..=1.0).contains(&along) && (half - along * branch).length_squared() < 1e-18 * branch.length_squared()).then_some([from, to])
}

/// The fields of a packing in each cell of a grid, which is valid.
pub fn coarse_grain(grid: &Grid, packing: &Packing) -> Vec<Field> {
    let mut fields = vec![Field::default(); grid.count()];
    // where the grid is part of a periodic cell, images may reach into it
    let inside = |m: &[f64; 3]| (0..3).all(|a| m[a] == 0.0 || !grid.wraps[a]);
    let shifts: Vec<DVec3> = packing.cell.images().filter(|(m, _)| inside(m)).map(|(_, shift)| shift).collect();
    // against the flow of a sheared cell velocities are the same in all images
    let own = |grain: &Grain| grain.velocity - packing.cell.flow(grain.position);
    let mut shares: Vec<(usize, usize, f64)> = Vec::new();
    let (mut sharing, mut found) = (grid.sharing(), Vec::new());
    for (number, grain) in packing.grains.iter().enumerate() {
        for &shift in &shifts {
            sharing.point(grain.position + shift, &mut found);
            shares.extend(found.iter().map(|&(cell, share)| (number, cell, share)));
        }
    }
    for &(number, cell, share) in &shares {
        let (grain, field) = (&packing.grains[number], &mut fields[cell]);
        field.density += share * grain.mass;
        field.solid_fraction += share * grain.volume;
        field.velocity += share * grain.mass * own(grain);
    }
    for field in &mut fields {
        field.velocity /= field.density;
    }
    for &(number, cell, share) in &shares {
        let (grain, field) = (&packing.grains[number], &mut fields[cell]);
        let v = own(grain) - field.velocity;
        field.kinetic_stress += share * grain.mass * outer(v, v);
    }
    let mut add = |force: DVec3, [from, to]: [DVec3; 2]| {
        let moment = outer(force, from - to);
        for &shift in &shifts {
            sharing.line([from + shift, to + shift], &mut found);
            found.iter().for_each(|&(cell, share)| fields[cell].stress += share * moment);
        }
    };
    for link in &packing.links {
        match straight(packing, link) {
            Some(branch) => add(link.force, branch),
            None => link.ends().for_each(|(grain, force, point)| add(force, [packing.grains[grain].position, point])),
        }
    }
    for (cell, field) in fields.iter_mut().enumerate() {
        field.velocity += packing.cell.flow(grid.centre(cell));
    }
    let per_volume = 1.0 / grid.volume();
    for field in &mut fields {
        let k = &field.kinetic_stress;
        field.temperature = (k.x_axis.x + k.y_axis.y + k.z_axis.z) / (3.0 * field.density);
        field.density *= per_volume;
        field.solid_fraction *= per_volume;
        field.kinetic_stress *= per_volume;
        field.stress *= per_volume;
    }
    fields
}
