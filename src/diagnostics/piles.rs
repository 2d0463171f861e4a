//! How far heaps reach and how steep they lie.
//!
//! ```text
//! heap      the largest set of grains of which each is within 1.2 (R₁ + R₂) of another, from centre to centre; of a channel those before its origin
//! front     quantile of s + R over the heap, s the distance from the axis or along the channel; round: mean over 36 sectors
//! surface   in each ring, or slice, of two mean diameters: means of s and of z + R of the highest grains of cells as long as wide
//! height    the largest z of the surface over the ground
//! slope     θ = −arctan of the least-squares line z(s) through the surface between two parts of the height
//! ```
//!
//! Grains that have rolled away alone belong to no heap. Cells in which the highest grain is not of the surface (a hole down to the ground) count as
//! they are. The surface is that of the tops of grains: where it slopes the whole of it lies higher by about the same, so that the slope is not changed.

use super::grains::{Grain, Packing};
use crate::model::pile::Rules;
use glam::DVec3;
use std::collections::BTreeMap;

/// Sectors of a round heap.
const SECTORS: usize = 36;
/// Distance between the centres of neighbours, in sums of their radii.
const NEAR: f64 = 1.2;
/// Width of rings and slices, in mean diameters.
const WIDTH: f64 = 2.0;

/// The shape of a heap.
///
/// ```
/// use drystone::{diagnostics::{grains::{Grain, Packing}, piles::Pile}, model::pile::Rules};
/// use glam::DVec3;
/// let ball = |x: f64, z: f64| Grain { position: DVec3::new(x, 0.0, z), radius: Some(0.5), ..Grain::default() };
/// // a staircase of two in a row, and a ball that has rolled away
/// let grains = vec![ball(0.5, 1.5), ball(0.5, 0.5), ball(1.5, 0.5), ball(2.5, 0.5), ball(9.0, 0.5)];
/// let channel = Rules { along: Some(DVec3::X), ..Rules::default() };
/// let pile = Pile::of(&Packing { grains, ..Packing::default() }, &channel);
/// assert_eq!((pile.grains, pile.front, pile.height), (4, 3.0, 2.0));
/// assert!(pile.slope.is_nan(), "two slices are no slope");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pile {
    /// Grains that hang together, in a channel those of them that are not behind its origin.
    pub grains: usize,
    /// How far it reaches (m); not a number without grains.
    pub front: f64,
    /// Over the ground (m); not a number without grains.
    pub height: f64,
    /// Angle of the surface against the horizontal (rad), positive where it falls outwards; not a number where fewer than three rings have one.
    pub slope: f64,
    /// The surface: distance and height over the ground (m) of each ring that has grains, from the middle on.
    pub surface: Vec<[f64; 2]>,
}

/// Columns of a table of heaps.
pub const COLUMNS: [&str; 5] = ["time [s]", "grains", "front [m]", "height [m]", "slope [deg]"];

impl Pile {
    /// Of the grains of a packing by rules that are valid; grains behind the origin of a channel hold the heap together, but have no other part in it.
    pub fn of(packing: &Packing, rules: &Rules) -> Self {
        let mut heap = connected(packing);
        heap.retain(|(grain, _)| rules.along.is_none() || rules.distance(grain.position) >= 0.0);
        let surface = surface(&heap, rules);
        let height = surface.iter().map(|p| p[1]).fold(f64::NAN, f64::max);
        let slope = slope(&surface, rules.between.map(|part| part * height));
        Self { grains: heap.len(), front: front(&heap, rules), height, slope, surface }
    }

    /// A row of such a table.
    pub fn row(&self, time: f64) -> [f64; COLUMNS.len()] {
        [time, self.grains as f64, self.front, self.height, self.slope.to_degrees()]
    }
}

/// A grain and its radius.
type Sphere<'a> = (&'a Grain, f64);

/// The largest set of grains that hang together, also through the faces of a periodic cell; the first of equal ones.
fn connected(packing: &Packing) -> Vec<Sphere<'_>> {
    let (grains, images) = (&packing.grains, packing.cell.neighbours().collect::<Vec<_>>());
    let radii: Vec<f64> = grains.iter().map(|grain| 0.5 * grain.diameter()).collect();
    let reach = 2.0 * NEAR * radii.iter().copied().fold(0.0, f64::max);
    let cell = |x: DVec3| (x / reach).floor().as_i64vec3().to_array();
    let mut cells: BTreeMap<[i64; 3], Vec<usize>> = BTreeMap::new();
    grains.iter().enumerate().for_each(|(k, grain)| cells.entry(cell(grain.position)).or_default().push(k));
    let (mut best, mut seen) = (Vec::new(), vec![false; grains.len()]);
    for first in 0..grains.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let (mut set, mut next) = (vec![first], 0);
        while let Some(&k) = set.get(next) {
            next += 1;
            for place in images.iter().map(|shift| grains[k].position + shift) {
                let [x, y, z] = cell(place);
                for around in (0..9).map(|a| [x + a % 3 - 1, y + a / 3 - 1]) {
                    // cells of a column along z follow each other
                    let column = cells.range([around[0], around[1], z - 1]..=[around[0], around[1], z + 1]);
                    for &other in column.flat_map(|(_, found)| found) {
                        let near = NEAR * (radii[k] + radii[other]);
                        if !seen[other] && place.distance_squared(grains[other].position) <= near * near {
                            seen[other] = true;
                            set.push(other);
                        }
                    }
                }
            }
        }
        if set.len() > best.len() {
            best = set;
        }
    }
    best.sort_unstable();
    best.into_iter().map(|k| (&grains[k], radii[k])).collect()
}

/// The value below or at which this part of them lies.
fn quantile(mut values: Vec<f64>, part: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (part * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

fn front(heap: &[Sphere<'_>], rules: &Rules) -> f64 {
    let mut sectors = vec![Vec::new(); if rules.along.is_some() { 1 } else { SECTORS }];
    for (grain, radius) in heap {
        let from = grain.position - rules.origin;
        let turn = libm::atan2(from.y, from.x) / std::f64::consts::TAU + 0.5;
        let sector = (turn * sectors.len() as f64) as usize % sectors.len();
        sectors[sector].push(rules.distance(grain.position) + radius);
    }
    let reaches: Vec<f64> = sectors.into_iter().filter_map(|reaches| quantile(reaches, rules.quantile)).collect();
    reaches.iter().sum::<f64>() / reaches.len() as f64
}

fn surface(heap: &[Sphere<'_>], rules: &Rules) -> Vec<[f64; 2]> {
    let width = 2.0 * WIDTH * heap.iter().map(|(_, radius)| radius).sum::<f64>() / heap.len() as f64;
    // of each cell distance and height of the highest top
    let mut tops: BTreeMap<(usize, i64), [f64; 2]> = BTreeMap::new();
    for (grain, radius) in heap {
        let (from, s) = (grain.position - rules.origin, rules.distance(grain.position));
        let ring = (s / width) as usize;
        let across = match rules.along {
            Some(along) => from.dot(DVec3::Z.cross(along)) / width,
            // as many cells in a ring as its middle is long
            None => {
                let cells = (std::f64::consts::TAU * (ring as f64 + 0.5)).round();
                ((libm::atan2(from.y, from.x) / std::f64::consts::TAU + 0.5) * cells).min(cells - 0.5)
            }
        };
        let found = [s, from.z + radius];
        let top = tops.entry((ring, across.floor() as i64)).or_insert(found);
        if found[1] > top[1] {
            *top = found;
        }
    }
    let mut rings: BTreeMap<usize, [f64; 3]> = BTreeMap::new();
    for ((ring, _), [s, z]) in tops {
        let sum = rings.entry(ring).or_default();
        *sum = [sum[0] + s, sum[1] + z, sum[2] + 1.0];
    }
    rings.into_values().map(|[s, z, count]| [s / count, z / count]).collect()
}

/// Of the rings behind the highest one whose height lies between two.
fn slope(surface: &[[f64; 2]], [low, high]: [f64; 2]) -> f64 {
    let summit = surface.iter().enumerate().max_by(|a, b| a.1[1].total_cmp(&b.1[1])).map_or(0, |(k, _)| k);
    let part: Vec<[f64; 2]> = surface[summit.min(surface.len())..].iter().filter(|p| (low..=high).contains(&p[1])).copied().collect();
    if part.len() < 3 {
        return f64::NAN;
    }
    let mean = |k: usize| part.iter().map(|p| p[k]).sum::<f64>() / part.len() as f64;
    let (s, z) = (mean(0), mean(1));
    let sum = |of: &dyn Fn(&[f64; 2]) -> f64| part.iter().map(of).sum::<f64>();
    libm::atan2(-sum(&|p| (p[0] - s) * (p[1] - z)), sum(&|p| (p[0] - s) * (p[0] - s)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;

    const R: f64 = 1e-3;

    /// Grains at random, 0.6 of the volume, where z of their tops is below a surface.
    fn cloud(low: DVec3, high: DVec3, seed: u64, top: impl Fn(DVec3) -> f64) -> Packing {
        let mut random = Sequence::new(seed);
        let count = 0.6 * (high - low).element_product() / (4.0 / 3.0 * std::f64::consts::PI * R * R * R);
        let grain = |position| Grain { position, radius: Some(R), mass: 1.0, ..Grain::default() };
        let places = (0..count as usize).map(|_| {
            let [x, y, z] = [0, 1, 2].map(|a| random.next_between(low[a], high[a]));
            DVec3::new(x, y, z)
        });
        Packing { grains: places.filter(|x| x.z + R < top(*x)).map(grain).collect(), ..Packing::default() }
    }

    #[test]
    fn a_cone_has_its_angle_its_foot_and_its_height_wherever_it_stands() {
        let (foot, origin) = (0.05, DVec3::new(0.3, -0.2, 0.1));
        for degrees in [15.0f64, 25.0, 35.0] {
            let height = foot * libm::tan(degrees.to_radians());
            let (low, high) = (DVec3::new(-foot, -foot, R), DVec3::new(foot, foot, height));
            let mut packing = cloud(low, high, 3, |x| height * (1.0 - x.truncate().length() / foot));
            packing.grains.iter_mut().for_each(|g| g.position += origin);
            // what has rolled away
            packing.grains.extend((0..50).map(|k| Grain {
                position: origin + DVec3::new(2.0 * foot + 0.01 * f64::from(k), 0.0, R),
                radius: Some(R),
                ..Grain::default()
            }));
            let pile = Pile::of(&packing, &Rules { origin, ..Rules::default() });
            assert!(pile.grains < packing.grains.len() - 49 && pile.grains > packing.grains.len() * 9 / 10);
            assert!((pile.slope.to_degrees() - degrees).abs() < 0.7, "{degrees}: {}", pile.slope.to_degrees());
            assert!((pile.height / height - 1.0).abs() < 0.15, "{degrees}: {} {height}", pile.height);
            // the foot is thinner than a grain, and few of the places drawn fall into what is little thicker
            let thin = 2.0 * R / libm::tan(degrees.to_radians());
            assert!(pile.front < foot + 1.1 * R && pile.front > foot - thin - 6.0 * R, "{degrees}: {} {foot}", pile.front);
            let half = Pile::of(&packing, &Rules { origin, quantile: 0.5, ..Rules::default() });
            // centres fill a cone whose foot is that much narrower; half of it lies within (s/S)² (3 − 2 s/S) = 1/2
            assert!((half.front - R - 0.5 * (foot - thin)).abs() < R, "{degrees}: {}", half.front);
        }
    }

    #[test]
    fn the_front_of_a_disc_is_its_rim() {
        let ring = |k: usize| (0..(6 * k).max(1)).map(move |i| (k, i as f64 / (6 * k).max(1) as f64 * std::f64::consts::TAU));
        let grain = |(k, turn): (usize, f64)| Grain {
            position: 2.0 * R * k as f64 * DVec3::new(libm::cos(turn), libm::sin(turn), 0.0) + R * DVec3::Z,
            radius: Some(R),
            ..Grain::default()
        };
        let mut grains: Vec<Grain> = (0..=12).flat_map(ring).map(grain).collect();
        let all = grains.len();
        grains.push(Grain { position: DVec3::new(40.0 * R, 0.0, R), radius: Some(R), ..Grain::default() });
        let pile = Pile::of(&Packing { grains, ..Packing::default() }, &Rules::default());
        assert_eq!(pile.grains, all);
        assert!((pile.front - 25.0 * R).abs() < 1e-15 && (pile.height - 2.0 * R).abs() < 1e-15, "{pile:?}");
    }

    #[test]
    fn grains_hang_together_through_the_face_of_a_periodic_cell() {
        let places = [(0.02, 0.01), (0.04, 0.01), (0.06, 0.01), (0.07, 0.0925)];
        let grains = places.map(|(x, y)| Grain { position: DVec3::new(x, y, 0.01), radius: Some(0.01), ..Grain::default() });
        let cell = crate::model::periodic::Cell::new([None, Some([0.0, 0.1]), None]).unwrap_or_else(|e| panic!("{e}"));
        let channel = Rules { along: Some(DVec3::X), ..Rules::default() };
        let of = |cell| Pile::of(&Packing { grains: grains.to_vec(), cell, ..Packing::default() }, &channel).grains;
        assert_eq!([of(cell), of(Default::default())], [4, 3]);
    }

    #[test]
    fn what_lies_behind_the_origin_of_a_channel_has_no_part_in_its_front() {
        // a row of ten to one side, of thirty to the other
        let grains =
            (0..40).map(|k| Grain { position: R * DVec3::new(2.0 * f64::from(k) - 59.0, 0.0, 1.0), radius: Some(R), ..Grain::default() });
        let packing = Packing { grains: grains.collect(), ..Packing::default() };
        for (along, grains, half) in [(DVec3::X, 10, 10.0 * R), (DVec3::NEG_X, 30, 30.0 * R)] {
            let pile = Pile::of(&packing, &Rules { along: Some(along), quantile: 0.5, ..Rules::default() });
            assert!(pile.grains == grains && (pile.front - half).abs() < 1e-15, "{along}: {pile:?}");
        }
        let none = Pile::of(&packing, &Rules { origin: DVec3::X, along: Some(DVec3::X), ..Rules::default() });
        assert!(none.grains == 0 && [none.front, none.height, none.slope].iter().all(|x| x.is_nan()), "{none:?}");
    }

    #[test]
    fn a_wedge_in_a_channel_has_its_angle_whichever_way_it_runs() {
        let (length, degrees) = (0.06, 28.0f64);
        let height = length * libm::tan(degrees.to_radians());
        let (low, high) = (DVec3::new(0.0, -0.01, R), DVec3::new(length, 0.01, height));
        let straight = cloud(low, high, 5, |x| height * (1.0 - x.x / length));
        for (along, turned) in [(DVec3::X, 0.0), (DVec3::NEG_X, 180.0f64), (DVec3::new(0.6, 0.8, 0.0), libm::atan2(0.8, 0.6).to_degrees())]
        {
            let mut packing = straight.clone();
            let turn = glam::DQuat::from_rotation_z(turned.to_radians());
            packing.grains.iter_mut().for_each(|g| g.position = turn * g.position);
            let rules = Rules { along: Some(along), ..Rules::default() };
            rules.validate().unwrap_or_else(|e| panic!("{e}"));
            let pile = Pile::of(&packing, &rules);
            assert!((pile.slope.to_degrees() - degrees).abs() < 0.7, "{along}: {}", pile.slope.to_degrees());
            assert!(pile.front < length + 1.1 * R && pile.front > length - 6.0 * R, "{along}: {}", pile.front);
            assert!((pile.height / height - 1.0).abs() < 0.1, "{along}: {} {height}", pile.height);
        }
        // a bed without a slope
        let bed = cloud(low, DVec3::new(length, 0.01, 0.01), 7, |_| 1.0);
        let flat = Pile::of(&bed, &Rules { along: Some(DVec3::X), between: [0.0, 1.0], ..Rules::default() });
        assert!(flat.slope.abs() < 1.0f64.to_radians(), "{}", flat.slope.to_degrees());
    }

    #[test]
    fn without_grains_nothing_has_a_value() {
        let none = Pile::of(&Packing::default(), &Rules::default());
        assert!(none.grains == 0 && [none.front, none.height, none.slope].iter().all(|x| x.is_nan()));
    }
}
