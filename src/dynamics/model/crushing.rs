//! Joints that crush: what they are made of bears a pressure f and no more.
//!
//! ```text
//! 0 ≤ r_n ≤ h f a,  ‖r_t‖ ≤ μ r_n        a point of the joint, a its part of the area
//! gap = (p₁ − p₂)·n + d                   d: by how much it has given way there; it grows while r_n = h f a, and stays
//! N = f b (B − 2e)                        what a joint B × b bears at eccentricity e: the block of stress is B − 2e wide
//! ```
//!
//! Points at the corners alone would let a joint that is loaded on its edge bear half of its strength instead of none: f a at each of them is a
//! block of stress that never becomes narrower. So the face is [divided](divide), with its corners among the points, about which it
//! rocks where it is hardly loaded. The stress block of points is that of the closed form up to `a'²/16` in its moment, a' the distance of points.

use bevy_ecs::prelude::*;
use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};

use super::contact::{ContactPair, Touch};
use crate::algebra::spatial::Pose;

/// Divisions of a joint where none are given: the strength at an eccentricity of a quarter of the width is then met within 1 %.
pub const DIVISIONS: u32 = 8;
/// Most of them: 66² points a joint.
pub const MOST_DIVISIONS: u32 = 65;

/// What a joint bears.
///
/// ```
/// use drystone::model::crushing::Crushing;
/// assert!(Crushing { strength: 3e6, divisions: 8 }.validate().is_ok());
/// assert!(Crushing { strength: 0.0, divisions: 8 }.validate().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crushing {
    /// Largest pressure f (Pa).
    pub strength: f64,
    /// Parts into which the edges of a joint are divided.
    pub divisions: u32,
}

impl Crushing {
    /// A strength above 0 and a number of divisions that a step can bear.
    pub fn validate(&self) -> Result<(), String> {
        if !(self.strength > 0.0 && self.strength.is_finite()) {
            return Err(format!("the crushing strength is {} Pa; a number above 0 is needed", self.strength));
        }
        if !(1..=MOST_DIVISIONS).contains(&self.divisions) {
            return Err(format!("found {} divisions of a joint, not from 1 to {MOST_DIVISIONS}", self.divisions));
        }
        Ok(())
    }
}

/// A point of a joint that crushes.
///
/// ```
/// assert_eq!(drystone::model::crushing::CrushingPoint::default().depth, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CrushingPoint {
    /// Where it is on the two bodies (m, body axes from the centre of mass).
    pub places: [DVec3; 2],
    /// Its part of the area (m²).
    pub area: f64,
    /// By how much it has given way (m).
    pub depth: f64,
}

/// Two faces that touched at the start, and crush.
///
/// ```
/// use drystone::model::crushing::{Crushing, CrushingJoint};
/// use bevy_ecs::prelude::Entity;
/// use glam::DVec3;
/// let law = Crushing { strength: 1e6, divisions: 1 };
/// let ends = [Entity::PLACEHOLDER; 2];
/// let joint = CrushingJoint { bodies: ends, slots: [0, 1], normals: [DVec3::Z; 2], middle: [DVec3::ZERO; 2], size: 1.0, law, points: Vec::new() };
/// assert_eq!(joint.crushed_area(), 0.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CrushingJoint {
    /// The two bodies.
    pub bodies: [Entity; 2],
    /// Their slots.
    pub slots: [u32; 2],
    /// Unit normal from the second body to the first, in the axes of either.
    pub normals: [DVec3; 2],
    /// The middle of the face on either body (m, body axes).
    pub middle: [DVec3; 2],
    /// Root of the area (m).
    pub size: f64,
    /// Its law.
    pub law: Crushing,
    /// Its points.
    pub points: Vec<CrushingPoint>,
}

/// Cosine of the turn, and slip in parts of the size, from which on the faces are others than those that touched at the start.
const TURNED: f64 = 0.94;
const SLID: f64 = 0.1;
/// Cosine between the normal of the joint and that of points that detection finds in its face.
const SAME_FACE: f64 = 0.9;
/// The first of the names of its points; features of shapes have smaller ones.
const NAMED: u64 = 1 << 63;

impl CrushingJoint {
    /// Whether the faces still lie on each other as at the start, but for the crushing: bodies at these poses.
    pub fn lasts(&self, poses: [&Pose; 2]) -> bool {
        let [n, m] = [0, 1].map(|k| poses[k].rotation * self.normals[k]);
        let way = poses[0].point(self.middle[0]) - poses[1].point(self.middle[1]);
        n.dot(m) > TURNED && way.reject_from_normalized(n).length() < SLID * self.size
    }

    /// A point on either body, what has given way filled.
    fn ends(point: &CrushingPoint, n: DVec3, poses: [&Pose; 2]) -> [DVec3; 2] {
        let [one, two] = [0, 1].map(|k| poses[k].point(point.places[k]));
        [one, two - point.depth * n]
    }

    /// Puts its points (up to the gap `reach`, m) in the place of those that detection has found in its face; `number` tells the joints of a pair
    /// apart. The second body stands where its image does.
    pub fn put(&self, number: usize, poses: [&Pose; 2], reach: f64, touches: &mut Vec<Touch>) {
        let n = poses[0].rotation * self.normals[0];
        touches.retain(|t| t.normal.dot(n) < SAME_FACE);
        for (k, point) in self.points.iter().enumerate() {
            let [point1, point2] = Self::ends(point, n, poses);
            let gap = n.dot(point1 - point2);
            if gap <= reach {
                let feature = NAMED | (number as u64) << 32 | k as u64;
                touches.push(Touch { feature, normal: n, gap, point1, point2, bears: self.law.strength * point.area, ..Touch::default() });
            }
        }
    }

    /// What has given way at a point that bears all it can, the bodies at these poses.
    fn give_way(&mut self, point: usize, poses: [&Pose; 2]) {
        let n = poses[0].rotation * self.normals[0];
        if let Some(point) = self.points.get_mut(point) {
            let [one, two] = Self::ends(point, n, poses);
            point.depth += (-n.dot(one - two)).max(0.0);
        }
    }

    /// Lets detection's own points overlap by as much as the joint has given way, where it [lasts](Self::lasts) no more: bodies that fall would else be
    /// thrown apart.
    pub fn forgive(&self, touches: &mut [Touch]) {
        let depth = self.deepest();
        touches.iter_mut().filter(|t| t.gap < 0.0).for_each(|t| t.gap = (t.gap + depth).min(0.0));
    }

    /// By how much it has given way at most (m).
    pub fn deepest(&self) -> f64 {
        self.points.iter().map(|p| p.depth).fold(0.0, f64::max)
    }

    /// Area of the points that have given way (m²).
    pub fn crushed_area(&self) -> f64 {
        self.points.iter().filter(|p| p.depth > 0.0).map(|p| p.area).sum()
    }
}

/// All joints that crush, in the order of their slots.
///
/// ```
/// assert!(drystone::model::crushing::CrushingJoints::default().0.is_empty());
/// ```
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct CrushingJoints(pub Vec<CrushingJoint>);

impl CrushingJoints {
    fn range(&self, pair: &ContactPair) -> std::ops::Range<usize> {
        let from = self.0.partition_point(|j| j.slots < pair.slots);
        let count = self.0[from..].iter().take_while(|j| j.slots == pair.slots && j.bodies == pair.bodies).count();
        from..from + count
    }

    /// Those of a pair.
    pub fn of(&self, pair: &ContactPair) -> &[CrushingJoint] {
        if self.0.is_empty() { &[] } else { &self.0[self.range(pair)] }
    }

    /// Takes in that a point of a pair bears all it can.
    pub fn give_way(&mut self, pair: &ContactPair, touch: &Touch, poses: [&Pose; 2]) {
        let (from, number) = (self.range(pair), (touch.feature & !NAMED) >> 32);
        if touch.feature & NAMED != 0
            && let Some(joint) = self.0[from].get_mut(number as usize)
        {
            joint.give_way((touch.feature & 0xffff_ffff) as usize, poses);
        }
    }
}

/// Part of a division that the outermost points stand for: half of the errors of the stress block are then on either side.
const OUTER: f64 = std::f64::consts::FRAC_1_SQRT_2 * 0.5;

/// Places and parts of a line of length 1 that is divided into n.
fn line(n: u32) -> Vec<[f64; 2]> {
    let w = 1.0 / (f64::from(n) - 1.0 + 2.0 * OUTER);
    let inner = (1..n).map(|i| [(OUTER + f64::from(i) - 0.5) * w, w]);
    std::iter::once([0.0, OUTER * w]).chain(inner).chain([[1.0, OUTER * w]]).collect()
}

/// Points and areas (m²) of a convex polygon whose edges are divided into n; the corners are among them. Nothing without area.
///
/// ```
/// use glam::DVec2;
/// let square = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
/// let points = drystone::model::crushing::divide(&square, 4);
/// let area: f64 = points.iter().map(|p| p.1).sum();
/// assert!(points.len() == 25 && (area - 1.0).abs() < 1e-15 && points[0].0 == DVec2::ZERO);
/// ```
pub fn divide(polygon: &[DVec2], n: u32) -> Vec<(DVec2, f64)> {
    let corners = corners(polygon);
    let m = corners.len();
    if m == 4 {
        let sides = |s: f64, t: f64| {
            let [a, b, c, d] = [corners[0], corners[1], corners[2], corners[3]];
            let at = (1.0 - s) * (1.0 - t) * a + s * (1.0 - t) * b + s * t * c + (1.0 - s) * t * d;
            (at, ((1.0 - t) * (b - a) + t * (c - d)).perp_dot((1.0 - s) * (d - a) + s * (c - b)))
        };
        let line = line(n);
        let point = |[t, y]: [f64; 2], [s, x]: [f64; 2]| {
            let (at, size) = sides(s, t);
            (at, size * x * y)
        };
        return line.iter().flat_map(|&along| line.iter().map(move |&across| point(along, across))).collect();
    }
    if m < 3 {
        return Vec::new();
    }
    // rings about the centroid, the triangles between them shared among their corners
    let levels = n.div_ceil(2) as usize;
    let middle = corners.iter().sum::<DVec2>() / m as f64;
    let first = |ring: usize| if ring == 0 { 0 } else { 1 + m * ring * (ring - 1) / 2 };
    let number = |ring: usize, side: usize, k: usize| if ring == 0 { 0 } else { first(ring) + (side * ring + k) % (m * ring) };
    let mut points = vec![(middle, 0.0)];
    for ring in 1..=levels {
        let part = ring as f64 / levels as f64;
        for side in 0..m {
            let along = |k: usize| corners[side].lerp(corners[(side + 1) % m], k as f64 / ring as f64);
            points.extend((0..ring).map(|k| (middle.lerp(along(k), part), 0.0)));
        }
    }
    let mut share = |three: [usize; 3]| {
        let [a, b, c] = three.map(|k| points[k].0);
        let third = 0.5 * (b - a).perp_dot(c - a) / 3.0;
        three.into_iter().for_each(|k| points[k].1 += third);
    };
    for ring in 1..=levels {
        for side in 0..m {
            for k in 0..ring {
                share([number(ring, side, k), number(ring, side, k + 1), number(ring - 1, side, k)]);
                if k > 0 {
                    share([number(ring, side, k), number(ring - 1, side, k), number(ring - 1, side, k - 1)]);
                }
            }
        }
    }
    points
}

/// Part of the product of two edges below which they are one straight line.
const STRAIGHT: f64 = 1e-6;

/// The corners of a polygon that are none of points along its edges; nothing without area.
fn corners(polygon: &[DVec2]) -> Vec<DVec2> {
    let n = polygon.len();
    let turns = |i: usize| {
        let (before, after) = (polygon[i] - polygon[(i + n - 1) % n], polygon[(i + 1) % n] - polygon[i]);
        before.perp_dot(after) > STRAIGHT * before.length() * after.length()
    };
    (0..n).filter(|&i| turns(i)).map(|i| polygon[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_divided_face_have_its_area_and_its_middle() {
        let hexagon: Vec<DVec2> = (0..6).map(|k| DVec2::from_angle(std::f64::consts::FRAC_PI_3 * f64::from(k)) + DVec2::X).collect();
        let triangle = vec![DVec2::new(-0.5, 0.2), DVec2::new(1.5, 0.2), DVec2::new(0.7, 1.4)];
        let rectangle = vec![DVec2::ZERO, 0.4 * DVec2::X, DVec2::new(0.4, 0.2), 0.2 * DVec2::Y];
        for polygon in [hexagon, triangle, rectangle] {
            let m = polygon.len();
            let twice = |f: &dyn Fn(DVec2, DVec2) -> DVec2| (0..m).map(|i| f(polygon[i], polygon[(i + 1) % m])).sum::<DVec2>();
            let area = 0.5 * twice(&|a, b| DVec2::splat(a.perp_dot(b))).x;
            let moment = twice(&|a, b| a.perp_dot(b) * (a + b)) / 6.0;
            for n in [1, 2, 3, 8] {
                let points = divide(&polygon, n);
                assert!(points.iter().all(|p| p.1 > 0.0));
                let sum: f64 = points.iter().map(|p| p.1).sum();
                let first: DVec2 = points.iter().map(|p| p.1 * p.0).sum();
                assert!(
                    (sum / area - 1.0).abs() < 1e-12 && (first - moment).length() < 1e-12,
                    "{m} corners, {n}: {sum} of {area}, {first}"
                );
                assert!(polygon.iter().all(|c| points.iter().any(|p| p.0.distance(*c) < 1e-12)), "a corner is missing");
            }
        }
        // a point along an edge is no corner, and what has no area has no points
        let square = [DVec2::ZERO, 0.5 * DVec2::X, DVec2::X, DVec2::ONE, DVec2::Y];
        assert_eq!(divide(&square, 2).len(), 9);
        assert!(divide(&[DVec2::ZERO, DVec2::X], 3).is_empty());
    }

    #[test]
    fn the_stress_block_of_points_is_that_of_the_closed_form_within_a_sixteenth_of_their_distance_squared() {
        for n in [2, 5, 8, 16] {
            let points = line(n);
            let step = points[1][1].max(points[0][1]);
            for k in 1..100 {
                // points fill up one after the other from the edge
                let block = f64::from(k) / 100.0;
                let (mut left, mut moment) = (block, 0.0);
                for [at, part] in &points {
                    let own = part.min(left);
                    (left, moment) = (left - own, moment + own * at);
                }
                assert!((moment - 0.5 * block * block).abs() <= step * step / 16.0 + 1e-12, "{n} {block}: {moment}");
            }
        }
    }
}
