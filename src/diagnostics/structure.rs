//! How grains lie and flow: distances between them, sizes that part, the inertial number.
//!
//! ```text
//! pair correlation     g(r) = n(r) / (4π/3 ((r+δ)³ − r³) ρ)        n: centres that a grain has at r to r + δ, ρ: grains per volume
//!   of discs           g(r) = n(r) / (π ((r+δ)² − r²) ρ)           ρ: grains per area
//! segregation          S = 2 (x̄_large − x̄_small)/L                ±1 where the one half lies on the other, 0 where they are mixed
//! shear rate           |γ̇| = √(2 D:D)                             D: symmetric part of ∇v without its trace
//! inertial number      I = |γ̇| d √(ρ/p)                           GDR MiDi, Eur. Phys. J. E 14 (2004) 341
//! ```
//!
//! d is the mean by volume: with it mixtures of two sizes flow by the law of one (P. Rognon et al., Phys. Fluids 19, 2007, 058101).

use super::grains::{Grain, Packing, outer};
use glam::{BVec3, DMat3, DVec3};
use std::f64::consts::PI;

/// Distances up to `largest` (m) in so many equal bins: the middle of each, and g there. Along periodic axes over which the box is the whole of
/// the cell every grain is looked from; else those in the box that are at least `largest` away from its faces. The density is that of the box.
///
/// Of `discs` in a plane across an axis (0, 1, 2) the density is that of the face of the box across it, and neither faces of the box nor of a
/// periodic cell along that axis matter, but that their centres lie between those of the box.
///
/// Not a number where no grain can be looked from. `largest` is at most half of a periodic cell, as images are looked at once.
///
/// ```
/// use drystone::diagnostics::{grains::{Grain, Packing}, structure::pair_correlation};
/// use glam::DVec3;
/// let at = |x: f64| Grain { position: DVec3::X * x, ..Grain::default() };
/// let packing = Packing { grains: vec![at(0.0), at(1.0)], ..Packing::default() };
/// let g = pair_correlation(&packing, [DVec3::splat(-3.0), DVec3::splat(3.0)], 2.0, 4, None);
/// assert!(g[2][1] > 0.0 && g[1][1] == 0.0 && g[3][1] == 0.0);
/// ```
pub fn pair_correlation(packing: &Packing, [low, high]: [DVec3; 2], largest: f64, bins: usize, discs: Option<usize>) -> Vec<[f64; 2]> {
    let cell = &packing.cell;
    let round = cell.round([low, high]);
    let inside = |x: DVec3, margin: f64| {
        let margin = |a: usize| if discs == Some(a) { 0.0 } else { margin };
        (0..3).all(|a| round.test(a) || (low[a] + margin(a)..=high[a] - margin(a)).contains(&x[a]))
    };
    let mut there: Vec<DVec3> = packing.grains.iter().map(|g| g.position).filter(|x| inside(*x, 0.0)).collect();
    there.sort_by(|a, b| a.x.total_cmp(&b.x));
    let shifts: Vec<DVec3> = cell.neighbours().filter(|shift| discs.is_none_or(|a| shift[a] == 0.0)).collect();
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
    let edge = |a: usize| if round.test(a) { cell.high[a] - cell.low[a] } else { high[a] - low[a] };
    let density = there.len() as f64 / (0..3).filter(|&a| discs != Some(a)).map(edge).product::<f64>();
    let row = |(k, count): (usize, &u64)| {
        let (inner, outer) = (k as f64 * bin, (k + 1) as f64 * bin);
        let shell = match discs {
            None => 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner),
            Some(_) => PI * (outer * outer - inner * inner),
        };
        [0.5 * (inner + outer), *count as f64 / (looked as f64 * density * shell)]
    };
    counts.iter().enumerate().map(row).collect()
}

/// How far large grains have parted from small ones along an axis, means by volume, in parts of half of the way over which grains are spread
/// (m, along the axis: [`extent`]); those of at least `radius` (m) are large, by half of [`Grain::diameter`]. Not a number where one kind is missing, and along axes that are
/// `round` ([`Cell::round`](crate::model::periodic::Cell::round)), which have no first and no last place.
///
/// ```
/// use drystone::diagnostics::{grains::{Grain, Packing}, structure::segregation};
/// use glam::{BVec3, DVec3};
/// let ball = |z: f64, r: f64| Grain { position: DVec3::Z * z, volume: 1.0, radius: Some(r), ..Grain::default() };
/// let packing = Packing { grains: vec![ball(0.25, 0.1), ball(0.75, 0.2)], ..Packing::default() };
/// assert!((segregation(&packing, BVec3::FALSE, DVec3::Z, 0.15, [0.0, 1.0]) - 1.0).abs() < 1e-15);
/// ```
pub fn segregation(packing: &Packing, round: BVec3, axis: DVec3, radius: f64, [from, to]: [f64; 2]) -> f64 {
    if (0..3).any(|a| round.test(a) && axis[a] != 0.0) {
        return f64::NAN;
    }
    let mut sums = [[0.0; 2]; 2];
    for grain in &packing.grains {
        let sum = &mut sums[usize::from(0.5 * grain.diameter() >= radius)];
        sum[0] += grain.volume * grain.position.dot(axis);
        sum[1] += grain.volume;
    }
    let [small, large] = sums.map(|[way, volume]| way / volume);
    2.0 * (large - small) / (to - from)
}

/// From where to where grains are spread along an axis, by the farthest points of balls and of the boxes of others (m).
///
/// ```
/// use drystone::diagnostics::{grains::{Grain, Packing}, structure::extent};
/// use glam::DVec3;
/// let ball = |z: f64| Grain { position: DVec3::Z * z, radius: Some(0.5), ..Grain::default() };
/// assert_eq!(extent(&Packing { grains: vec![ball(0.5), ball(3.0)], ..Packing::default() }, DVec3::Z), [0.0, 3.5]);
/// ```
pub fn extent(packing: &Packing, axis: DVec3) -> [f64; 2] {
    let reach = |g: &Grain| match (g.radius, g.reach.map(|corner| corner * axis)) {
        (Some(r), _) => [-r, r],
        (None, [a, b]) => [a.min(b).element_sum(), a.max(b).element_sum()],
    };
    let ends = packing.grains.iter().map(|g| (g.position.dot(axis), reach(g)));
    ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], (x, [below, above])| [low.min(x + below), high.max(x + above)])
}

/// How the velocities of grains change with their place: the ∇v (1/s, columns by the axis of the derivative) of the linear flow that misses
/// their velocities least, by squares and mass. Across a plane that holds all grains nothing changes; not a number where they lie on a line.
/// Along axes that are `round` ([`Cell::round`](crate::model::periodic::Cell::round)) velocities come back to what they were, but for the shear of
/// the cell: there it is that of the cell, wherever this is cut.
///
/// ```
/// use drystone::diagnostics::{grains::{Grain, Packing}, structure::velocity_gradient};
/// use glam::{BVec3, DVec3};
/// let grain = |position: DVec3| Grain { position, velocity: DVec3::X * 3.0 * position.z, mass: 1.0, ..Grain::default() };
/// let packing = Packing { grains: [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(grain).to_vec(), ..Packing::default() };
/// assert!((velocity_gradient(&packing, BVec3::FALSE).z_axis - DVec3::X * 3.0).length() < 1e-13);
/// ```
pub fn velocity_gradient(packing: &Packing, round: BVec3) -> DMat3 {
    let Packing { grains, cell, .. } = packing;
    let imposed = DMat3::from_cols(cell.drift(DVec3::X), cell.drift(DVec3::Y), cell.drift(DVec3::Z));
    if round.all() {
        return imposed;
    }
    let mass: f64 = grains.iter().map(|g| g.mass).sum();
    let mean = |of: &dyn Fn(&Grain) -> DVec3| grains.iter().map(|g| g.mass * of(g)).sum::<DVec3>() / mass;
    let against = |g: &Grain| g.velocity - imposed * g.position;
    let (middle, drift) = (mean(&|g| g.position), mean(&against));
    let (mut spread, mut flow) = (DMat3::ZERO, DMat3::ZERO);
    let mut largest = 0.0;
    for g in grains {
        let (x, v) = (g.position - middle, against(g) - drift);
        largest += g.mass * x.length_squared() / 3.0;
        let x = DVec3::select(round, DVec3::ZERO, x);
        spread += g.mass * outer(x, x);
        flow += g.mass * outer(v, x);
    }
    spread += DMat3::from_diagonal(DVec3::select(round, DVec3::splat(largest), DVec3::ZERO));
    if spread.determinant() > FLAT * largest * largest * largest {
        return imposed + flow * spread.inverse();
    }
    // grains in a plane: nothing changes across it
    let [x, y, z] = [spread.x_axis, spread.y_axis, spread.z_axis];
    let across = [y.cross(z), z.cross(x), x.cross(y)].into_iter().fold(DVec3::ZERO, |a, b| if b.length() > a.length() { b } else { a });
    if across.length() > FLAT * largest * largest {
        let n = across.normalize();
        spread += largest * outer(n, n);
        return imposed + (flow - outer(flow * n, n)) * spread.inverse();
    }
    DMat3::NAN
}

/// Spread across a plane, or a line, over that along it (as squares), below which it is rounding.
const FLAT: f64 = 1e-12;

/// Shear rate |γ̇| = √(2 D:D) (1/s) of a ∇v, D its symmetric part without its trace.
///
/// ```
/// use glam::{DMat3, DVec3};
/// let simple = DMat3::from_cols(DVec3::ZERO, DVec3::ZERO, DVec3::X * 3.0);
/// assert!((drystone::diagnostics::structure::shear_rate(simple) - 3.0).abs() < 1e-15);
/// ```
pub fn shear_rate(gradient: DMat3) -> f64 {
    let mut d = 0.5 * (gradient + gradient.transpose());
    d -= DMat3::from_diagonal(DVec3::splat(trace(d) / 3.0));
    (2.0 * [d.x_axis, d.y_axis, d.z_axis].iter().map(|c| c.length_squared()).sum::<f64>()).sqrt()
}

/// Inertial number at a shear rate (1/s) of grains of a diameter (m) and a density (kg/m³) under a stress (Pa), compression positive. Not a number
/// or infinite where nothing presses.
///
/// ```
/// use drystone::diagnostics::structure::inertial_number;
/// // γ̇ = 10/s, d = 1 cm, √(ρ/p) = √10
/// let found = inertial_number(10.0, 0.01, 2500.0, glam::DMat3::IDENTITY * 250.0);
/// assert!((found - 0.1 * 10f64.sqrt()).abs() < 1e-15);
/// ```
pub fn inertial_number(rate: f64, diameter: f64, density: f64, stress: DMat3) -> f64 {
    rate * diameter * (3.0 * density / trace(stress)).sqrt()
}

/// Shear rate (1/s) and inertial number of a packing in a volume (m³): of the linear flow of its grains ([`velocity_gradient`]), of their diameter,
/// mean by volume, and of the pressure of contacts and of velocities about that flow.
///
/// ```
/// use drystone::diagnostics::{grains::Packing, structure::flow};
/// assert!(flow(&Packing::default(), 1.0, glam::BVec3::FALSE).iter().all(|x| x.is_nan()));
/// ```
pub fn flow(packing: &Packing, volume: f64, round: BVec3) -> [f64; 2] {
    let grains = &packing.grains;
    let sum = |of: &dyn Fn(&Grain) -> f64| grains.iter().map(of).sum::<f64>();
    let (mass, solid) = (sum(&|g| g.mass), sum(&|g| g.volume));
    let mean = |of: fn(&Grain) -> DVec3| grains.iter().map(|g| g.mass * of(g)).sum::<DVec3>() / mass;
    let (middle, drift, gradient) = (mean(|g| g.position), mean(|g| g.velocity), velocity_gradient(packing, round));
    let kinetic = grains.iter().fold(DMat3::ZERO, |sum, g| {
        let v = g.velocity - drift - gradient * (g.position - middle);
        sum + g.mass * outer(v, v)
    });
    let (rate, diameter) = (shear_rate(gradient), sum(&|g| g.volume * g.diameter()) / solid);
    [rate, inertial_number(rate, diameter, mass / solid, packing.stress(volume) + kinetic * (1.0 / volume))]
}

fn trace(m: DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;
    use crate::model::periodic::{Cell, Shear};

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
            let g = pair_correlation(&packing, [DVec3::splat(-0.25), DVec3::splat(7.75)], 2.32, 23, None);
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
        let g = pair_correlation(&packing, [DVec3::ZERO, DVec3::splat(10.0)], 3.0, 6, None);
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
        let of = |packing: &Packing| segregation(packing, BVec3::FALSE, DVec3::Z, 0.15, [1.0, 3.0]);
        assert!(of(&mixed).abs() < 0.03 && (of(&layers) - 1.0).abs() < 0.02, "{} {}", of(&mixed), of(&layers));
        assert!(segregation(&layers, BVec3::FALSE, DVec3::Z, 0.5, [1.0, 3.0]).is_nan());
        // grains of other shapes count by the ball of their volume, and reach as far as their boxes
        let cubes = |packing: &Packing| {
            let cube = |g: &Grain| {
                let edge = libm::cbrt(4.0 / 3.0 * PI) * g.radius.unwrap();
                let reach = [DVec3::splat(-0.5 * edge), DVec3::splat(0.5 * edge)];
                Grain { volume: edge * edge * edge, radius: None, reach, ..*g }
            };
            Packing { grains: packing.grains.iter().map(cube).collect(), ..Packing::default() }
        };
        assert!((of(&cubes(&layers)) - of(&layers)).abs() < 1e-12, "{} {}", of(&cubes(&layers)), of(&layers));
        let [low, high] = extent(&cubes(&layers), DVec3::Z);
        assert!((low - 1.0 + 0.0806).abs() < 1e-3 && (high - 3.0 - 0.1612).abs() < 1e-3, "{low} {high}");
        let round = |x, z| segregation(&layers, BVec3::new(x, false, z), DVec3::Z, 0.15, [1.0, 3.0]);
        assert!(round(false, true).is_nan() && round(true, false) == of(&layers), "cut elsewhere, the half below would lie above");
    }

    #[test]
    fn a_sheared_cloud_has_its_rate_whatever_its_grains_do_about_the_flow() {
        let mut random = Sequence::new(9);
        let mut vector = |size: f64| DVec3::from_array(std::array::from_fn(|_| random.next_between(-size, size)));
        let gradient = DMat3::from_cols(DVec3::new(0.2, 0.0, 1.0), DVec3::new(-3.0, 0.5, 0.0), DVec3::new(7.0, 0.0, -0.7));
        let still: Vec<Grain> = (0..4000)
            .map(|k| {
                let position = vector(1.0) * DVec3::new(1.0, 0.3, 2.0) + 5.0;
                let velocity = gradient * position + DVec3::Y * 9.0;
                Grain { position, velocity, mass: 1.0 + f64::from(k % 3), volume: 0.001, ..Grain::default() }
            })
            .collect();
        let packing = Packing { grains: still.clone(), ..Packing::default() };
        let largest = |m: DMat3| m.to_cols_array().into_iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        assert!(largest(velocity_gradient(&packing, BVec3::FALSE) - gradient) < 1e-11);
        // noise changes the gradient by its size over the spread and √N, and makes the pressure
        let noisy = still.iter().map(|g| Grain { velocity: g.velocity + vector(0.3), ..*g }).collect();
        let packing = Packing { grains: noisy, ..Packing::default() };
        assert!(largest(velocity_gradient(&packing, BVec3::FALSE) - gradient) < 0.06);
        let [rate, number] = flow(&packing, 2.0, BVec3::FALSE);
        assert!((rate - shear_rate(gradient)).abs() < 0.1);
        // a component that is evenly spread over ±a has the mean square a²/3
        let mass: f64 = packing.grains.iter().map(|g| g.mass).sum();
        let pressure = mass * 0.03 / 2.0;
        let expected = rate * packing.grains[0].diameter() * (mass / 4.0 / pressure).sqrt();
        assert!((number / expected - 1.0).abs() < 0.02, "{number} {expected}");
    }

    #[test]
    fn the_flow_of_a_periodic_cell_is_that_of_its_shear_wherever_it_is_cut() {
        let mut random = Sequence::new(11);
        let mut vector = || DVec3::from_array(std::array::from_fn(|_| random.next_between(-1.0, 1.0)));
        let [closed, open] = [Some([-1.0, 1.0]), None];
        for (axes, rate) in [([closed; 3], 4.0), ([closed; 3], 0.0), ([closed, closed, open], 0.0)] {
            let cell = Cell::new(axes).unwrap_or_else(|e| panic!("{e}"));
            let cell = if rate > 0.0 { cell.sheared(Shear { across: 2, along: 0, rate }).unwrap_or_else(|e| panic!("{e}")) } else { cell };
            let up = 3.0 * DVec3::X;
            let mut grain = || {
                let (position, velocity) = (vector(), vector());
                let flow = if axes[2].is_some() { cell.flow(position) } else { up * position.z };
                Grain { position, velocity: velocity + flow, mass: 1.0, volume: 0.01, ..Grain::default() }
            };
            let here = Packing { grains: (0..50).map(|_| grain()).collect(), cell, ..Packing::default() };
            let moved = |g: &Grain| {
                let shift = DVec3::new(if g.position.x < 0.2 { 2.0 } else { 0.0 }, if g.position.y > 0.1 { -2.0 } else { 0.0 }, 0.0);
                Grain { position: g.position + shift, ..*g }
            };
            let there = Packing { grains: here.grains.iter().map(moved).collect(), ..here.clone() };
            let round = cell.round([DVec3::NEG_INFINITY, DVec3::INFINITY]);
            let [a, b] = [&here, &there].map(|packing| velocity_gradient(packing, round));
            assert!((a - b).to_cols_array().iter().all(|x| x.abs() < 1e-12), "{a} {b}");
            assert!(a.x_axis == DVec3::ZERO && a.y_axis == DVec3::ZERO);
            let exact = if axes[2].is_some() { DVec3::X * rate } else { up };
            assert!((a.z_axis - exact).length() < if axes[2].is_some() { 1e-12 } else { 0.5 }, "{a}");
        }
    }

    #[test]
    fn grains_in_a_plane_have_the_rate_of_their_flow_and_those_on_a_line_none() {
        let mut random = Sequence::new(10);
        // along two axes at right angles that lean in the laboratory
        let turn = glam::DQuat::from_axis_angle(DVec3::new(0.3, -0.5, 0.8).normalize(), 0.7);
        for turn in [glam::DQuat::IDENTITY, turn] {
            let mut grain = |flat: DVec3| {
                let place = flat * DVec3::from_array(std::array::from_fn(|_| random.next_between(-0.1, 0.1)));
                // 3/s along the first axis with the third, 2/s of turning in the plane
                let velocity = DVec3::new(3.0 * place.z - 2.0 * place.z, 0.0, 2.0 * place.x);
                Grain { position: turn * place + 4.0, velocity: turn * velocity + 1.0, mass: 1.0, volume: 1e-6, ..Grain::default() }
            };
            let mut packing = Packing { grains: (0..300).map(|_| grain(DVec3::new(1.0, 0.0, 1.0))).collect(), ..Packing::default() };
            let gradient = velocity_gradient(&packing, BVec3::FALSE);
            let expected = DMat3::from_cols(DVec3::Z * 2.0, DVec3::ZERO, DVec3::X);
            let axes = DMat3::from_quat(turn);
            let error = (axes.transpose() * gradient * axes - expected).to_cols_array();
            assert!(error.iter().all(|x| x.abs() < 1e-9), "{error:?}");
            assert!((flow(&packing, 1.0, BVec3::FALSE)[0] - 3.0).abs() < 1e-9, "{:?}", flow(&packing, 1.0, BVec3::FALSE));
            packing.grains = (0..300).map(|_| grain(DVec3::X)).collect();
            assert!(flow(&packing, 1.0, BVec3::FALSE).iter().all(|x| x.is_nan()));
        }
    }

    #[test]
    fn discs_have_the_shells_of_their_plane_however_thick_the_box_is() {
        let n = 8;
        let place = |k: i32| DVec3::new(f64::from(k % n) + 0.25, 0.1, f64::from(k / n) + 0.25);
        let lattice = packing((0..n * n).map(place));
        let whole =
            Packing { cell: Cell::new([Some([0.0, 8.0]), Some([-0.3, 0.3]), Some([0.0, 8.0])]).expect("a cell"), ..lattice.clone() };
        for (packing, thick) in [(whole, 0.3), (lattice.clone(), 0.2), (lattice, 9.0)] {
            let bin = 2.32 / 23.0;
            let g = pair_correlation(&packing, [DVec3::new(-0.25, -thick, -0.25), DVec3::new(7.75, thick, 7.75)], 2.32, 23, Some(1));
            // neighbours at 1, √2, 2 and √5
            for (distance, count) in [(1.0, 4.0), (2f64.sqrt(), 4.0), (2.0, 4.0), (5f64.sqrt(), 8.0)] {
                let k = (distance / bin) as usize;
                let ring = PI * bin * bin * (2 * k + 1) as f64;
                assert!((g[k][1] * ring - count).abs() < 1e-9 * count, "{thick}: {} at {distance}", g[k][1] * ring);
            }
            assert_eq!(g.iter().filter(|row| row[1] > 0.0).count(), 4, "{thick}");
        }
    }

    #[test]
    fn a_box_within_a_periodic_cell_counts_what_lies_in_it() {
        let mut random = Sequence::new(15);
        let points: Vec<DVec3> = (0..1500).map(|_| DVec3::from_array(std::array::from_fn(|_| random.next_between(0.0, 10.0)))).collect();
        let packing = Packing { cell: cell(10.0), ..packing(points.iter().copied()) };
        // round along x and y, from 2 to 9 along z
        let (low, high, largest) = (DVec3::new(0.0, 0.0, 2.0), DVec3::new(10.0, 10.0, 9.0), 2.5);
        let g = pair_correlation(&packing, [low, high], largest, 5, None);
        let inside: Vec<DVec3> = points.iter().copied().filter(|x| (2.0..=9.0).contains(&x.z)).collect();
        let from: Vec<DVec3> = inside.iter().copied().filter(|x| (4.5..=6.5).contains(&x.z)).collect();
        for (k, row) in g.iter().enumerate() {
            let distance = |a: DVec3, b: DVec3| {
                let d = a - b;
                let round = |x: f64| (x + 5.0).rem_euclid(10.0) - 5.0;
                DVec3::new(round(d.x), round(d.y), d.z).length()
            };
            let count = from
                .iter()
                .flat_map(|a| inside.iter().map(move |b| distance(*a, *b)))
                .filter(|d| *d > 0.0 && (*d / 0.5) as usize == k)
                .count();
            let shell = 4.0 / 3.0 * PI * 0.125 * (((k + 1) * (k + 1) * (k + 1)) as f64 - (k * k * k) as f64);
            let expected = count as f64 / (from.len() as f64 * inside.len() as f64 / 700.0 * shell);
            assert!((row[1] - expected).abs() < 1e-9, "{row:?} {expected}");
        }
    }
}
