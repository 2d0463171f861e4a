//! Coarse-grained fields: what grains and the forces between them are as a continuum, on a grid.
//!
//! ```text
//! density            ρ(x) = Σ m w                                solid fraction   φ = Σ V w
//! velocity           v̄ = Σ m v w / ρ
//! kinetic stress     σᵏ = Σ m (v − v̄) ⊗ (v − v̄) w               granular temperature   T = tr σᵏ/3ρ
//! contact stress     σ = Σ_grains Σ_contacts f ⊗ (x_i − p) ∫₀¹ w(x_i + s (p − x_i)) ds
//! diameter           d = Σ 2R V w / Σ V w                        R: of the ball of volume V
//! inertial number    I = |γ̇| d √(ρ_s/p)                          ρ_s = ρ/φ, p = tr (σ + σᵏ)/3, γ̇ from differences of v̄ between cells
//! ```
//!
//! w is the part that a cell gets of what is at a point ([`Grid::share`]) over the volume of the cell; x_i are centres of mass, p points of
//! contact, f forces on the grain as means over the last step, that of mortar and necks with them. p − x_i is that of the start of the step,
//! for which forces are found, and goes out from where the grain is now. Compression is positive. These are the fields of I. Goldhirsch, *Stress, stress
//! asymmetry and couple stress: from discrete particles to continuous fields*, Granular Matter 12 (2010) 239, with each contact's line from
//! centre to centre in two halves, so that a wall has the half of its grain (T. Weinhart et al., Granular Matter 14 (2012) 289).
//! As shares sum to one, ∫ρ is the mass and ∫σ the sum of Love and Weber, to rounding.
//!
//! Where the mean velocity changes within the width, T has a part of that: γ̇² times a third of the kernel's second moment, 2c²/21 for Lucy's
//! in one dimension. The mean rotation of grains is not counted.

use super::grains::{Link, Packing, outer};
use super::structure::{inertial_number, shear_rate};
use crate::model::grid::{Grid, Sharing};
use crate::model::periodic::Cell;
use glam::{DMat3, DVec3};

/// What stands in a cell.
///
/// ```
/// use drystone::{diagnostics::{fields::coarse_grain, grains::{Grain, Packing}}, model::grid::Grid};
/// use glam::DVec3;
/// let grain = |vx: f64| Grain { position: DVec3::splat(0.5), velocity: DVec3::X * vx, mass: 2.0, volume: 0.1, ..Grain::default() };
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
    /// Of the grains, mean by volume (m); not a number where no grain is near.
    pub diameter: f64,
    /// Of the mean velocity, [`shear_rate`] of central differences, to one side at the faces of the grid (1/s); not a number where a velocity is
    /// missing. Along axes with a single cell nothing changes.
    pub shear_rate: f64,
    /// Of this shear rate, diameter and the stress of contacts and velocities; not a number, or infinite, where nothing presses.
    pub inertial_number: f64,
}

impl Default for Field {
    /// An empty cell.
    fn default() -> Self {
        let (none, zero) = (DMat3::ZERO, DVec3::ZERO);
        let (density, solid_fraction, temperature, diameter) = (0.0, 0.0, 0.0, 0.0);
        let (shear_rate, inertial_number) = (0.0, 0.0);
        Self {
            density,
            solid_fraction,
            velocity: zero,
            temperature,
            kinetic_stress: none,
            stress: none,
            diameter,
            shear_rate,
            inertial_number,
        }
    }
}

/// Columns of a table of fields: time, centre of the cell, and what stands in it.
pub const COLUMNS: [&str; 28] = [
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
    "diameter [m]",
    "shear_rate [1/s]",
    "inertial_number",
];

impl Field {
    /// A row of such a table.
    ///
    /// ```
    /// use drystone::diagnostics::fields::Field;
    /// assert_eq!(Field { density: 3.0, ..Field::default() }.row(0.5, glam::DVec3::X)[..5], [0.5, 1.0, 0.0, 0.0, 3.0]);
    /// ```
    pub fn row(&self, time: f64, x: DVec3) -> [f64; COLUMNS.len()] {
        let (mut row, place) = ([0.0; COLUMNS.len()], [time, x.x, x.y, x.z]);
        row[..4].copy_from_slice(&place);
        row[4..].copy_from_slice(&self.numbers());
        row
    }

    /// The columns behind time and place.
    ///
    /// ```
    /// assert_eq!(drystone::diagnostics::fields::Field::default().numbers()[0], 0.0);
    /// ```
    pub fn numbers(&self) -> [f64; COLUMNS.len() - 4] {
        let (v, k, s) = (self.velocity, self.kinetic_stress, self.stress);
        let [sx, sy, sz] = [s.row(0), s.row(1), s.row(2)];
        let (kx, ky, kz) = (k.x_axis, k.y_axis, k.z_axis);
        [
            self.density,
            self.solid_fraction,
            v.x,
            v.y,
            v.z,
            self.temperature,
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
            self.diameter,
            self.shear_rate,
            self.inertial_number,
        ]
    }
}

/// The line from centre to centre where the point of contact lies on it, as that of two balls does: both halves in one.
fn straight(packing: &Packing, link: &Link) -> Option<[DVec3; 2]> {
    let from = packing.grains[link.grains[0].filter(|_| link.grains[1].is_some())?].position;
    let [half, other] = link.arms;
    let branch = half - other;
    let along = half.dot(branch) / branch.length_squared();
    ((0.0..=1.0).contains(&along) && (half - along * branch).length_squared() < 1e-18 * branch.length_squared())
        .then_some([from, from + branch])
}

/// The fields of a packing in each cell of a grid, which is valid.
pub fn coarse_grain(grid: &Grid, packing: &Packing) -> Vec<Field> {
    let mut grained = CoarseGrained::new(grid);
    grained.update(packing);
    grained.fields
}

/// Fields on a grid, with the room that they need: for many instants.
///
/// ```
/// use drystone::{diagnostics::{fields::CoarseGrained, grains::{Grain, Packing}}, model::grid::Grid};
/// use glam::DVec3;
/// let mut fields = CoarseGrained::new(&Grid::default());
/// for speed in [1.0, 3.0] {
///     let grain = Grain { position: DVec3::splat(0.5), velocity: DVec3::X * speed, mass: 2.0, volume: 0.1, ..Grain::default() };
///     fields.update(&Packing { grains: vec![grain], ..Packing::default() });
///     assert_eq!(fields.fields()[0].velocity.x, speed);
/// }
/// ```
#[derive(Debug)]
pub struct CoarseGrained {
    grid: Grid,
    points: Sharing<1>,
    lines: Sharing<4>,
    fields: Vec<Field>,
    sums: Vec<Sums>,
    /// Grain, cell, and the mass that the cell gets of the grain.
    shares: Vec<(usize, usize, f64)>,
    found: Vec<(usize, f64)>,
    shifts: Vec<DVec3>,
    /// Of the grains.
    velocities: Vec<DVec3>,
}

/// What a cell gets from the grains: sums of shares.
#[derive(Clone, Copy, Debug)]
struct Sums {
    mass: f64,
    volume: f64,
    diameter: f64,
    /// Velocity by mass, then over the mass.
    velocity: DVec3,
    /// m v v: xx, yy, zz.
    squares: DVec3,
    /// xy, yz, zx.
    products: DVec3,
    stress: DMat3,
}

impl CoarseGrained {
    /// On a grid that is valid.
    pub fn new(grid: &Grid) -> Self {
        Self {
            grid: grid.clone(),
            points: grid.sharing(),
            lines: grid.sharing(),
            fields: Vec::new(),
            sums: Vec::new(),
            shares: Vec::new(),
            found: Vec::new(),
            shifts: Vec::new(),
            velocities: Vec::new(),
        }
    }

    /// Cell by cell, x fastest; none before the first [`update`](Self::update).
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields of another packing.
    pub fn update(&mut self, packing: &Packing) {
        let Self { grid, points, lines, fields, sums, shares, found, shifts, velocities } = self;
        sums.clear();
        sums.resize(grid.count(), Sums::NONE);
        // where the grid is part of a periodic cell, images may reach into it
        let inside = |m: &[f64; 3]| (0..3).all(|a| m[a] == 0.0 || !grid.wraps[a]);
        shifts.clear();
        shifts.extend(packing.cell.images().filter(|(m, _)| inside(m)).map(|(_, shift)| shift));
        // against the flow of a sheared cell velocities are the same in all images
        velocities.clear();
        velocities.extend(packing.grains.iter().map(|grain| grain.velocity - packing.cell.flow(grain.position)));
        shares.clear();
        for (number, (grain, &v)) in packing.grains.iter().zip(&*velocities).enumerate() {
            let diameter = grain.diameter();
            for &shift in &*shifts {
                points.point(grain.position + shift, found);
                for &(cell, share) in &*found {
                    let (sum, mass, volume) = (&mut sums[cell], share * grain.mass, share * grain.volume);
                    sum.mass += mass;
                    sum.volume += volume;
                    sum.diameter += volume * diameter;
                    sum.velocity += mass * v;
                    shares.push((number, cell, mass));
                }
            }
        }
        sums.iter_mut().for_each(|sum| sum.velocity /= sum.mass);
        for &(number, cell, mass) in &*shares {
            let sum = &mut sums[cell];
            let v = velocities[number] - sum.velocity;
            sum.squares += mass * (v * v);
            sum.products += mass * (v * DVec3::new(v.y, v.z, v.x));
        }
        let mut add = |force: DVec3, [from, to]: [DVec3; 2]| {
            let moment = outer(force, from - to);
            for &shift in &*shifts {
                lines.line([from + shift, to + shift], found);
                found.iter().for_each(|&(cell, share)| sums[cell].stress += share * moment);
            }
        };
        for link in &packing.links {
            match straight(packing, link) {
                Some(branch) => add(link.force, branch),
                None => link.ends().for_each(|(grain, force, arm)| {
                    let x = packing.grains[grain].position;
                    add(force, [x, x + arm]);
                }),
            }
        }
        let per_volume = 1.0 / grid.volume();
        fields.clear();
        fields.extend(sums.iter().map(|sum| sum.field(per_volume)));
        if packing.cell.shear.is_some() {
            fields.iter_mut().enumerate().for_each(|(cell, field)| field.velocity += packing.cell.flow(grid.centre(cell)));
        }
        let [nx, ny, nz] = grid.cells;
        let mut cell = 0;
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let rate = shear_rate(gradient(grid, &packing.cell, fields, [x, y, z], cell));
                    let field = &mut fields[cell];
                    field.shear_rate = rate;
                    let solid = field.density / field.solid_fraction;
                    field.inertial_number = inertial_number(rate, field.diameter, solid, field.stress + field.kinetic_stress);
                    cell += 1;
                }
            }
        }
    }
}

impl Sums {
    /// Of no grain.
    const NONE: Self = {
        let none = DVec3::ZERO;
        Self { mass: 0.0, volume: 0.0, diameter: 0.0, velocity: none, squares: none, products: none, stress: DMat3::ZERO }
    };

    /// All that does not ask for other cells.
    fn field(&self, per_volume: f64) -> Field {
        let Self { mass, volume, diameter, velocity, squares, products, stress } = *self;
        let ([xx, yy, zz], [xy, yz, zx]) = (squares.to_array(), products.to_array());
        let kinetic = DMat3::from_cols(DVec3::new(xx, xy, zx), DVec3::new(xy, yy, yz), DVec3::new(zx, yz, zz));
        Field {
            density: mass * per_volume,
            solid_fraction: volume * per_volume,
            velocity,
            temperature: (xx + yy + zz) / (3.0 * mass),
            kinetic_stress: kinetic * per_volume,
            stress: stress * per_volume,
            diameter: diameter / volume,
            ..Field::default()
        }
    }
}

/// ∇v in a cell, columns by the axis of the derivative; what stands beyond a face through which the grid is periodic has the velocity of its image.
/// `place` numbers the cell along the axes.
fn gradient(grid: &Grid, periodic: &Cell, fields: &[Field], place: [usize; 3], cell: usize) -> DMat3 {
    let (size, mut stride) = (grid.size(), 1);
    let mut columns = [DVec3::ZERO; 3];
    for (a, column) in columns.iter_mut().enumerate() {
        let (count, at) = (grid.cells[a], place[a]);
        let velocity = |to: usize| fields[cell - at * stride + to * stride].velocity;
        let drift = |edges: f64| periodic.drift(periodic.edges(a, edges));
        let (last, wraps) = (count - 1, grid.wraps[a]);
        let after = if at < last {
            velocity(at + 1)
        } else if wraps {
            velocity(0) + drift(1.0)
        } else {
            velocity(last)
        };
        let before = if at > 0 {
            velocity(at - 1)
        } else if wraps {
            velocity(last) + drift(-1.0)
        } else {
            velocity(0)
        };
        let ways = if wraps { 2.0 } else { (usize::from(at < last) + usize::from(at > 0)) as f64 };
        if count > 1 {
            *column = (after - before) / (ways * size[a]);
        }
        stride *= count;
    }
    DMat3::from_cols(columns[0], columns[1], columns[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;
    use crate::diagnostics::grains::Grain;
    use crate::model::periodic::Shear;

    #[test]
    fn a_linear_flow_has_the_shear_rate_of_its_gradient() {
        // ∇v with any entries
        let linear = DMat3::from_cols(DVec3::new(0.3, -1.0, 0.2), DVec3::new(2.0, 0.1, 0.4), DVec3::new(-0.5, 0.7, -0.9));
        let grid = Grid { cells: [3, 4, 5], high: DVec3::new(1.0, 2.0, 3.0), ..Grid::default() };
        let fields: Vec<Field> = (0..60).map(|k| Field { velocity: linear * grid.centre(k), ..Field::default() }).collect();
        let d = 0.5 * (linear + linear.transpose());
        let trace = d.x_axis.x + d.y_axis.y + d.z_axis.z;
        let square: f64 = (0..9).map(|k| d.to_cols_array()[k] - if k % 4 == 0 { trace / 3.0 } else { 0.0 }).map(|x| x * x).sum();
        let rate = |cell| shear_rate(gradient(&grid, &Cell::default(), &fields, [cell % 3, cell / 3 % 4, cell / 12], cell));
        assert!((0..60).all(|cell| (rate(cell) - (2.0 * square).sqrt()).abs() < 1e-12));
    }

    #[test]
    fn a_sheared_cell_has_its_rate_also_beside_its_faces_and_the_inertial_number_of_its_pressure() {
        let rate = 3.0;
        let cell =
            Cell::new([Some([0.0, 1.0]); 3]).and_then(|c| c.sheared(Shear { across: 2, along: 0, rate })).unwrap_or_else(|e| panic!("{e}"));
        let cell = cell.at(0.23);
        let mut random = Sequence::new(8);
        let (radius, density) = (0.02, 2500.0);
        let volume = 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
        let grain = |position: DVec3| Grain { position, velocity: cell.flow(position), mass: density * volume, volume, ..Grain::default() };
        let grains: Vec<Grain> = (0..3000).map(|_| grain(DVec3::from_array([(); 3].map(|()| random.next_between(0.0, 1.0))))).collect();
        // each grain with a neighbour of which it is pressed along one axis in turn: a pressure that is known
        let (force, links) = (4.0, 0..grains.len());
        let axis = |k: usize| [DVec3::X, DVec3::Y, DVec3::Z][k % 3];
        let link = |k: usize| Link {
            grains: [Some(k), None],
            arms: [-radius * axis(k); 2],
            normal: axis(k),
            force: force * axis(k),
            ..Link::default()
        };
        let packing = Packing { links: links.map(link).collect(), grains: grains.clone(), cell, ..Packing::default() };
        let grid = Grid { cells: [1, 1, 4], width: 0.5, wraps: [true; 3], ..Grid::default() };
        let fields = coarse_grain(&grid, &packing);
        let pressure: f64 = fields.iter().map(|f| (f.stress.x_axis.x + f.stress.y_axis.y + f.stress.z_axis.z) / 12.0).sum();
        assert!((pressure - 3000.0 * force * radius / 3.0).abs() < 1e-9 * pressure, "{pressure}");
        for (k, field) in fields.iter().enumerate() {
            assert!((field.shear_rate - rate).abs() < 1e-9 * rate, "{k}: {}", field.shear_rate);
            assert!((field.diameter - 2.0 * radius).abs() < 1e-12);
            let s = field.stress + field.kinetic_stress;
            let p = (s.x_axis.x + s.y_axis.y + s.z_axis.z) / 3.0;
            let expected = field.shear_rate * 2.0 * radius * (density / p).sqrt();
            assert!((field.inertial_number - expected).abs() < 1e-9 * expected, "{k}: {} {expected}", field.inertial_number);
        }
    }
}
