//! How grains lie and flow: distances between them, sizes that part, the inertial number.
//!
//! ```text
//! pair correlation     g(r) = n(r) / (4π/3 ((r+δ)³ − r³) ρ)        n: centres that a grain has at r to r + δ, ρ: grains per volume
//! segregation          S = 2 (x̄_large − x̄_small)/L                ±1 where the one half lies on the other, 0 where they are mixed
//! shear rate           |γ̇| = √(2 D:D)                             D: symmetric part of ∇v without its trace
//! inertial number      I = |γ̇| d √(ρ/p)                           GDR MiDi, Eur. Phys. J. E 14 (2004) 341
//! ```

use super::fields::Field;
use super::grains::Packing;
use crate::model::grid::Grid;
use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// Distances up to `largest` (m) in so many equal bins: the middle of each, and g there. Without a box, or along the periodic axes of the cell,
/// every grain is looked from; else those in the box that are at least `largest` away from its faces. The density is that of the box.
///
/// Not a number where no grain can be looked from. `largest` is at most half of a periodic cell, as images are looked at once.
///
/// ```
/// use drystone::diagnostics::{grains::{Grain, Packing}, structure::pair_correlation};
/// use glam::DVec3;
/// let at = |x: f64| Grain { position: DVec3::X * x, ..Grain::default() };
/// let packing = Packing { grains: vec![at(0.0), at(1.0)], ..Packing::default() };
/// let g = pair_correlation(&packing, [DVec3::splat(-3.0), DVec3::splat(3.0)], 2.0, 4);
/// assert!(g[2][1] > 0.0 && g[1][1] == 0.0 && g[3][1] == 0.0);
/// ```
pub fn pair_correlation(packing: &Packing, [low, high]: [DVec3; 2], largest: f64, bins: usize) -> Vec<[f64; 2]> {
    let cell = &packing.cell;
    let inside = |x: DVec3, margin: f64| (0..3).all(|a| cell.periodic(a) || (low[a] + margin..=high[a] - margin).contains(&x[a]));
    let mut there: Vec<DVec3> = packing.grains.iter().map(|g| g.position).filter(|x| inside(*x, 0.0)).collect();
    there.sort_by(|a, b| a.x.total_cmp(&b.x));
    let shifts: Vec<DVec3> = cell.neighbours().collect();
    let bin = largest / bins as f64;
    let (mut counts, mut looked) = (vec![0u64; bins], 0u64);
    for (one, &x) in there.iter().enumerate().filter(|(_, x)| inside(**x, largest)) {
        looked += 1;
        for &shift in &shifts {
            let from = there.partition_point(|y| y.x + shift.x < x.x - largest);
            for (other, y) in there.iter().enumerate().skip(from).take_while(|(_, y)| y.x + shift.x <= x.x + largest) {
                let k = ((*y + shift - x).length() / bin) as usize;
                if k < bins && (other != one || shift != DVec3::ZERO) {
                    counts[k] += 1;
                }
            }
        }
    }
    let edge = |a: usize| if cell.periodic(a) { cell.high[a] - cell.low[a] } else { high[a] - low[a] };
    let density = there.len() as f64 / (edge(0) * edge(1) * edge(2));
    let row = |(k, count): (usize, &u64)| {
        let (inner, outer) = (k as f64 * bin, (k + 1) as f64 * bin);
        let shell = 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner);
        [0.5 * (inner + outer), *count as f64 / (looked as f64 * density * shell)]
    };
    counts.iter().enumerate().map(row).collect()
}

/// How far large balls have parted from small ones along an axis, means by volume, in parts of half of the way over which grains are spread;
/// balls of at least `radius` (m) are large. Not a number where one kind is missing.
///
/// ```
/// use drystone::diagnostics::{grains::{Grain, Packing}, structure::segregation};
/// use glam::DVec3;
/// let ball = |z: f64, r: f64| Grain { position: DVec3::Z * z, volume: 1.0, radius: Some(r), ..Grain::default() };
/// let packing = Packing { grains: vec![ball(0.25, 0.1), ball(0.75, 0.2)], ..Packing::default() };
/// assert!((segregation(&packing, DVec3::Z, 0.15, [0.0, 1.0]) - 1.0).abs() < 1e-15);
/// ```
pub fn segregation(packing: &Packing, axis: DVec3, radius: f64, [from, to]: [f64; 2]) -> f64 {
    let mut sums = [[0.0; 2]; 2];
    for grain in &packing.grains {
        let sum = &mut sums[usize::from(grain.radius.is_some_and(|r| r >= radius))];
        sum[0] += grain.volume * grain.position.dot(axis);
        sum[1] += grain.volume;
    }
    let [small, large] = sums.map(|[way, volume]| way / volume);
    2.0 * (large - small) / (to - from)
}

/// Shear rate (1/s) in each cell of a field, by central differences of the mean velocity, to one side at the faces of the grid; not a number
/// where a velocity is missing. Along axes with a single cell nothing changes.
///
/// ```
/// use drystone::{diagnostics::{fields::Field, structure::shear_rate}, model::grid::Grid};
/// use glam::DVec3;
/// let grid = Grid { cells: [1, 1, 4], high: DVec3::new(1.0, 1.0, 4.0), ..Grid::default() };
/// let fields: Vec<Field> = (0..4).map(|k| Field { velocity: DVec3::X * 3.0 * f64::from(k), ..Field::default() }).collect();
/// assert!(shear_rate(&grid, &fields).iter().all(|rate| (rate - 3.0).abs() < 1e-15));
/// ```
pub fn shear_rate(grid: &Grid, fields: &[Field]) -> Vec<f64> {
    let size = grid.size();
    let strides = [1, grid.cells[0], grid.cells[0] * grid.cells[1]];
    let rate = |cell: usize| {
        let derivative = |a: usize| {
            let (count, stride) = (grid.cells[a], strides[a]);
            if count == 1 {
                return DVec3::ZERO;
            }
            let at = cell / stride % count;
            let (before, after) = match grid.wraps[a] {
                true => ((at + count - 1) % count, (at + 1) % count),
                false => (at.saturating_sub(1), (at + 1).min(count - 1)),
            };
            let cells = if grid.wraps[a] { 2.0 } else { (after - before) as f64 };
            let velocity = |k: usize| fields[cell - at * stride + k * stride].velocity;
            (velocity(after) - velocity(before)) / (cells * size[a])
        };
        let gradient = DMat3::from_cols(derivative(0), derivative(1), derivative(2));
        let mut d = 0.5 * (gradient + gradient.transpose());
        d -= DMat3::from_diagonal(DVec3::splat((d.x_axis.x + d.y_axis.y + d.z_axis.z) / 3.0));
        (2.0 * [d.x_axis, d.y_axis, d.z_axis].iter().map(|c| c.length_squared()).sum::<f64>()).sqrt()
    };
    (0..fields.len()).map(rate).collect()
}

/// Inertial number in each cell, of grains of a diameter (m) and a density (kg/m³); p is the mean of the contact and the kinetic stress. Not a
/// number, or infinite, where nothing presses.
///
/// ```
/// use drystone::{diagnostics::{fields::Field, structure::inertial_number}, model::grid::Grid};
/// use glam::{DMat3, DVec3};
/// let grid = Grid { cells: [1, 1, 2], ..Grid::default() };
/// let cell = |v: f64| Field { velocity: DVec3::X * v, stress: DMat3::IDENTITY * 250.0, ..Field::default() };
/// // γ̇ = 10/s, d = 1 cm, √(ρ/p) = √10
/// let found = inertial_number(&grid, &[cell(0.0), cell(5.0)], 0.01, 2500.0);
/// assert!((found[0] - 0.1 * 10f64.sqrt()).abs() < 1e-15);
/// ```
pub fn inertial_number(grid: &Grid, fields: &[Field], diameter: f64, density: f64) -> Vec<f64> {
    let pressure = |f: &Field| {
        let s = f.stress + f.kinetic_stress;
        (s.x_axis.x + s.y_axis.y + s.z_axis.z) / 3.0
    };
    shear_rate(grid, fields).iter().zip(fields).map(|(rate, f)| rate * diameter * (density / pressure(f)).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;
    use crate::diagnostics::grains::Grain;
    use crate::model::periodic::Cell;

    fn packing(places: impl Iterator<Item = DVec3>) -> Packing {
        let grain = |position| Grain { position, volume: 1.0, radius: Some(0.1), ..Grain::default() };
        Packing { grains: places.map(grain).collect(), ..Packing::default() }
    }

    fn cell(n: f64) -> Cell {
        Cell::new([Some([0.0, n]); 3]).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn a_cubic_lattice_has_its_shells_in_a_periodic_cell_and_in_a_box() {
        let n = 8;
        let place = |k: i32| DVec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n)) + 0.25;
        let lattice = packing((0..n * n * n).map(place));
        let whole = Packing { cell: cell(f64::from(n)), ..lattice.clone() };
        for (packing, name) in [(whole, "periodic"), (lattice, "box")] {
            let bin = 2.32 / 23.0;
            let g = pair_correlation(&packing, [DVec3::splat(-0.25), DVec3::splat(7.75)], 2.32, 23);
            // neighbours at 1, √2, √3, 2 and √5
            for (distance, count) in [(1.0, 6.0), (2f64.sqrt(), 12.0), (3f64.sqrt(), 8.0), (2.0, 6.0), (5f64.sqrt(), 24.0)] {
                let k = (distance / bin) as usize;
                let cube = |k: usize| (bin * k as f64) * (bin * k as f64) * (bin * k as f64);
                let shell = 4.0 / 3.0 * PI * (cube(k + 1) - cube(k));
                assert!((g[k][1] * shell - count).abs() < 1e-9 * count, "{name}: {} at {distance}", g[k][1] * shell);
            }
            let filled = g.iter().filter(|row| row[1] > 0.0).count();
            assert_eq!(filled, 5, "{name}");
        }
    }

    #[test]
    fn pairs_are_those_of_brute_force_and_points_at_random_have_no_structure() {
        let mut random = Sequence::new(5);
        let mut point = || DVec3::from_array(std::array::from_fn(|_| random.next_between(0.0, 10.0)));
        let points: Vec<DVec3> = (0..2000).map(|_| point()).collect();
        let packing = Packing { cell: cell(10.0), ..packing(points.iter().copied()) };
        let g = pair_correlation(&packing, [DVec3::ZERO, DVec3::splat(10.0)], 3.0, 6);
        for (k, row) in g.iter().enumerate() {
            let near = |a: DVec3, b: DVec3| {
                let way = (a - b).to_array().map(|x| (x + 5.0).rem_euclid(10.0) - 5.0);
                ((DVec3::from_array(way).length() / 0.5) as usize) == k
            };
            let pairs = points
                .iter()
                .enumerate()
                .flat_map(|(i, a)| points[..i].iter().map(move |b| (*a, *b)))
                .filter(|(a, b)| near(*a, *b))
                .count();
            let shell = 4.0 / 3.0 * PI * 0.125 * (((k + 1) * (k + 1) * (k + 1)) as f64 - (k * k * k) as f64);
            let expected = 2.0 * pairs as f64 / (2000.0 * 2.0 * shell);
            assert!((row[1] - expected).abs() < 1e-9, "{row:?} {expected}");
            assert!((row[1] - 1.0).abs() < if k == 0 { 0.1 } else { 0.05 }, "{row:?}");
        }
    }

    #[test]
    fn mixed_grains_have_no_segregation_and_layers_have_one() {
        let mut random = Sequence::new(6);
        let mut balls = |from: f64, to: f64, radius: f64| -> Vec<Grain> {
            let mut ball =
                || Grain { position: DVec3::Z * random.next_between(from, to), volume: radius, radius: Some(radius), ..Grain::default() };
            (0..5000).map(|_| ball()).collect()
        };
        let mixed = Packing { grains: [balls(1.0, 3.0, 0.1), balls(1.0, 3.0, 0.2)].concat(), ..Packing::default() };
        let layers = Packing { grains: [balls(1.0, 2.0, 0.1), balls(2.0, 3.0, 0.2)].concat(), ..Packing::default() };
        let of = |packing: &Packing| segregation(packing, DVec3::Z, 0.15, [1.0, 3.0]);
        assert!(of(&mixed).abs() < 0.03 && (of(&layers) - 1.0).abs() < 0.02, "{} {}", of(&mixed), of(&layers));
        assert!(segregation(&layers, DVec3::Z, 0.5, [1.0, 3.0]).is_nan());
    }

    #[test]
    fn a_linear_flow_has_the_shear_rate_of_its_gradient() {
        // ∇v with any entries; a wrapped axis sees what comes back, so it is left out
        let gradient = DMat3::from_cols(DVec3::new(0.3, -1.0, 0.2), DVec3::new(2.0, 0.1, 0.4), DVec3::new(-0.5, 0.7, -0.9));
        let grid = Grid { cells: [3, 4, 5], high: DVec3::new(1.0, 2.0, 3.0), ..Grid::default() };
        let fields: Vec<Field> = (0..60).map(|k| Field { velocity: gradient * grid.centre(k), ..Field::default() }).collect();
        let d = 0.5 * (gradient + gradient.transpose());
        let trace = d.x_axis.x + d.y_axis.y + d.z_axis.z;
        let square: f64 = (0..9).map(|k| d.to_cols_array()[k] - if k % 4 == 0 { trace / 3.0 } else { 0.0 }).map(|x| x * x).sum();
        assert!(shear_rate(&grid, &fields).iter().all(|rate| (rate - (2.0 * square).sqrt()).abs() < 1e-12));
    }
}
