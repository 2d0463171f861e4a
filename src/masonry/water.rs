//! Water against a plane face, still or shaken, integrated exactly.
//!
//! ```text
//! p = ρ g max(level − z, 0)        F = −n ∫ p dA        M = ∫ (x − c) × (−n p) dA
//! triangle with corner values p_i:  ∫ p dA = A Σp_i/3,   ∫ x p dA = A/12 Σ x_i (p_i + Σ p_j)
//! shaken: p = 7/8 ρ a √(H y)        y below the surface, H the depth, a the acceleration of the face towards the water
//! ```
//!
//! The second is the parabola of Westergaard (*Transactions ASCE* 98, 1933) for a rigid upright face that the ground carries along: 7/12 ρ H² a per metre
//! of its length, 0.4 H above the bed.
//!
//! A [`Face`] is what water presses on, a [`Seam`] a joint that it has crept into.

use glam::DVec3;

use crate::algebra::spatial::Pose;
use crate::model::newton_euler::AppliedForce;

/// A plane convex face of a block, in the frame of the block.
///
/// ```
/// use drystone::{algebra::spatial::Pose, masonry::water::Face};
/// use glam::DVec3;
/// // a wall 2 m wide and 3 m high, wet on x = 0
/// let face = Face::of_cuboid(DVec3::new(0.5, 1.0, 1.5), DVec3::NEG_X);
/// let water = face.hydrostatic(&Pose::at(DVec3::new(0.5, 0.0, 1.5)), 3.0, 9810.0);
/// assert!((water.force.x - 0.5 * 9810.0 * 9.0 * 2.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Corners (m), in order around the face.
    pub corners: Vec<DVec3>,
    /// Outward unit normal.
    pub normal: DVec3,
}

impl Face {
    /// The face of a cuboid with these half extents (m) whose outward normal points most along `outward`.
    pub fn of_cuboid(half_extents: DVec3, outward: DVec3) -> Self {
        let (o, h) = (outward.to_array(), half_extents.to_array());
        let mut axis = 0;
        for k in 1..3 {
            if o[k].abs() > o[axis].abs() {
                axis = k;
            }
        }
        let sign = if o[axis] < 0.0 { -1.0 } else { 1.0 };
        let unit = |k: usize| DVec3::from_array(std::array::from_fn(|i| if i == k % 3 { h[i] } else { 0.0 }));
        let (centre, u, v) = (sign * unit(axis), unit(axis + 1), unit(axis + 2));
        let normal = DVec3::from_array(std::array::from_fn(|i| if i == axis { sign } else { 0.0 }));
        Self { corners: vec![centre - u - v, centre + u - v, centre + u + v, centre - u + v], normal }
    }

    /// The same face after a motion of its frame.
    #[must_use]
    pub fn moved(&self, motion: &Pose) -> Self {
        Self { corners: self.corners.iter().map(|&x| motion.point(x)).collect(), normal: motion.vector(self.normal) }
    }

    /// The part of this face that a face of another block covers, which looks the other way no farther off than `gap` (m).
    ///
    /// ```
    /// use drystone::{algebra::spatial::Pose, masonry::water::Face};
    /// use glam::DVec3;
    /// let side = |way| Face::of_cuboid(DVec3::ONE, way);
    /// let beside = side(DVec3::NEG_X).moved(&Pose::at(DVec3::new(2.0, 0.0, 0.5)));
    /// let covered = side(DVec3::X).covered_by(&beside, 1e-3).expect("three quarters of it");
    /// assert_eq!(covered.corners.iter().map(|x| x.z).fold(1.0, f64::min), -0.5);
    /// assert!(side(DVec3::Y).covered_by(&beside, 1e-3).is_none());
    /// ```
    pub fn covered_by(&self, other: &Self, gap: f64) -> Option<Self> {
        if self.normal.dot(other.normal) > -ALIKE || self.before(other).abs() > gap {
            return None;
        }
        let mut part = self.corners.clone();
        for k in 0..other.corners.len() {
            let from = other.corners[k];
            let inward = other.inward(self.normal, k);
            part = cut(part.len(), |k| part[k], |x| (from - x).dot(inward));
        }
        self.piece(part)
    }

    /// What a convex part of this face leaves of it, in convex pieces.
    ///
    /// ```
    /// use drystone::masonry::water::Face;
    /// use glam::DVec3;
    /// let [whole, part] = [1.0, 0.5].map(|half| Face::of_cuboid(DVec3::new(1.0, half, half), DVec3::X));
    /// assert_eq!(whole.without(&part).len(), 4);
    /// assert!(part.without(&whole).is_empty());
    /// ```
    pub fn without(&self, part: &Self) -> Vec<Self> {
        let (mut rest, mut left) = (self.corners.clone(), Vec::new());
        for k in 0..part.corners.len() {
            let from = part.corners[k];
            let inward = part.inward(self.normal, k);
            left.extend(self.piece(cut(rest.len(), |k| rest[k], |x| (x - from).dot(inward))));
            rest = cut(rest.len(), |k| rest[k], |x| (from - x).dot(inward));
        }
        if self.piece(rest).is_some() { left } else { vec![self.clone()] }
    }

    /// How far before the plane of this face a face that looks the other way lies (m).
    pub(crate) fn before(&self, other: &Self) -> f64 {
        (other.corners[0] - self.corners[0]).dot(self.normal)
    }

    /// From the edge that begins at a corner to the middle of the face, at right angles to the edge and to `normal`.
    fn inward(&self, normal: DVec3, k: usize) -> DVec3 {
        let n = self.corners.len();
        let middle = self.corners.iter().sum::<DVec3>() / n as f64;
        let (from, to) = (self.corners[k], self.corners[(k + 1) % n]);
        let side = normal.cross(to - from);
        if side.dot(middle - from) < 0.0 { -side } else { side }
    }

    /// A part of this face that is more than a sliver of it.
    fn piece(&self, corners: Vec<DVec3>) -> Option<Self> {
        let area = |corners: &[DVec3]| {
            let fan = corners.windows(2).skip(1).map(|x| (x[0] - corners[0]).cross(x[1] - corners[0]).length());
            fan.sum::<f64>()
        };
        (corners.len() > 2 && area(&corners) > SLIVER * area(&self.corners)).then_some(Self { corners, normal: self.normal })
    }

    /// Force (N) and torque (N m) about the origin of `pose` of water whose surface is at z = `level` (m); `weight` is ρ g (N/m³).
    pub fn hydrostatic(&self, pose: &Pose, level: f64, weight: f64) -> AppliedForce {
        let wet = self.below(pose, level);
        pressed(wet.len(), |k| (wet[k], weight * (level - wet[k].z)), pose.vector(self.normal), pose.position)
    }

    /// The part of the face below z = `level` where its block stands (world).
    fn below(&self, pose: &Pose, level: f64) -> Vec<DVec3> {
        cut(self.corners.len(), |k| pose.point(self.corners[k]), |x| x.z - level)
    }

    /// Force and torque about the origin of `pose` that water between a bed and its surface (z, m) adds where the ground shakes; `push` is ρ a
    /// (N/m³), positive where the face is driven against the water.
    ///
    /// ```
    /// use drystone::{algebra::spatial::Pose, masonry::water::Face};
    /// use glam::DVec3;
    /// let face = Face::of_cuboid(DVec3::new(0.5, 1.0, 1.5), DVec3::NEG_X);
    /// let water = face.westergaard(&Pose::at(DVec3::new(0.5, 0.0, 1.5)), [0.0, 3.0], 1000.0 * 2.0);
    /// assert!((water.force.x / (7.0 / 12.0 * 1000.0 * 2.0 * 9.0 * 2.0) - 1.0).abs() < 1e-12);
    /// ```
    pub fn westergaard(&self, pose: &Pose, [bed, level]: [f64; 2], push: f64) -> AppliedForce {
        let (wet, normal) = (self.below(pose, level), pose.vector(self.normal));
        let pressure = 0.875 * push * (level - bed).max(0.0).sqrt();
        let slope = (1.0 - normal.z * normal.z).max(0.0).sqrt();
        if slope < 1e-9 {
            return pressed(wet.len(), |k| (wet[k], pressure * (level - wet[k].z).max(0.0).sqrt()), normal, pose.position);
        }
        let mut heights: Vec<f64> = wet.iter().map(|x| x.z).collect();
        heights.sort_by(f64::total_cmp);
        heights.dedup();
        let (mut total, mut first) = (0.0, DVec3::ZERO);
        for strip in heights.windows(2) {
            // in s = √y all is a polynomial of degree 6, which four points integrate exactly
            let [far, near] = [strip[0], strip[1]].map(|z| (level - z).max(0.0).sqrt());
            for (node, weight) in GAUSS {
                let s = 0.5 * (near + far) + 0.5 * (far - near) * node;
                let [a, b] = chord(&wet, level - s * s);
                let share = pressure * s * (b - a).length() / slope * weight * s * (far - near);
                total += share;
                first += share * (0.5 * (a + b) - pose.position);
            }
        }
        AppliedForce { force: -normal * total, torque: first.cross(-normal) }
    }
}

/// A joint that water has crept into, as one of its two blocks feels it: ρ g times the depth of water at the wet edge of the course, falling along a
/// straight line to zero at its dry edge.
///
/// ```
/// use drystone::{algebra::spatial::Pose, masonry::water::{Face, Seam}};
/// use glam::DVec3;
/// // a base of 3 m × 1 m under 6 m of water: a triangle, with its resultant a third from the wet edge
/// let place = Pose::at(DVec3::new(1.5, 0.0, 0.5));
/// let base = Face::of_cuboid(DVec3::new(1.5, 0.5, 0.5), DVec3::NEG_Z).moved(&place);
/// let seam = Seam::new(base, DVec3::X, [0.0, 3.0], 0.0).moved(&Pose::at(-place.position));
/// let lift = seam.uplift(&place, 6.0, 9810.0);
/// assert!((lift.force.z - 0.5 * 9810.0 * 6.0 * 3.0).abs() < 1e-9 && (lift.torque.y - 0.5 * lift.force.z).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    face: Face,
    /// Part of the pressure at the wet edge that each corner has.
    shares: Vec<f64>,
    /// The corner that the water reaches first, and how much higher than it the wet edge of the course lies (m).
    first: (usize, f64),
}

impl Seam {
    /// The `face` of a block in a course that reaches from `heel` to `toe` (m) along `direction`; the bed lies at z = `foot` (m) at its wet edge.
    pub fn new(face: Face, direction: DVec3, [heel, toe]: [f64; 2], foot: f64) -> Self {
        let shares: Vec<f64> = face.corners.iter().map(|x| (toe - x.dot(direction)) / (toe - heel)).collect();
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let reached = (0..shares.len()).filter(|&k| shares[k] >= most - 1e-9);
        let first = reached.min_by(|&a, &b| face.corners[a].z.total_cmp(&face.corners[b].z)).unwrap_or(0);
        let rise = foot - face.corners[first].z;
        Self { face, shares, first: (first, rise) }
    }

    /// The same seam after a motion of its frame.
    #[must_use]
    pub fn moved(&self, motion: &Pose) -> Self {
        Self { face: self.face.moved(motion), ..self.clone() }
    }

    /// Force (N) and torque (N m) about the origin of `pose`, of water whose surface is at z = `level` (m); `weight` is ρ g (N/m³).
    pub fn uplift(&self, pose: &Pose, level: f64, weight: f64) -> AppliedForce {
        let (first, rise) = self.first;
        let head = weight * (level - pose.point(self.face.corners[first]).z - rise).max(0.0);
        let corner = |k: usize| (pose.point(self.face.corners[k]), head * self.shares[k]);
        pressed(self.shares.len(), corner, pose.vector(self.face.normal), pose.position)
    }
}

/// Cosine between two faces that lie on each other, at least.
const ALIKE: f64 = 0.9999;
/// Part of a face below which what is covered of it counts for nothing.
const SLIVER: f64 = 1e-9;

/// Points and weights on −1 … 1 (Gauss and Legendre).
const GAUSS: [(f64, f64); 4] = [
    (-0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
    (-0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
];

/// Where a plane z cuts the border of a convex polygon; its corners do not lie there.
fn chord(polygon: &[DVec3], z: f64) -> [DVec3; 2] {
    let mut ends = [DVec3::ZERO; 2];
    for (k, &a) in polygon.iter().enumerate() {
        let b = polygon[(k + 1) % polygon.len()];
        if (a.z < z) != (b.z < z) {
            ends[usize::from(a.z < z)] = a.lerp(b, (z - a.z) / (b.z - a.z));
        }
    }
    ends
}

/// The part of a convex polygon of `n` corners where `height` is not above zero.
fn cut(n: usize, corner: impl Fn(usize) -> DVec3, height: impl Fn(DVec3) -> f64) -> Vec<DVec3> {
    let mut part = Vec::with_capacity(n + 1);
    for k in 0..n {
        let (a, b) = (corner(k), corner((k + 1) % n));
        let (from, to) = (height(a), height(b));
        if from <= 0.0 {
            part.push(a);
        }
        if (from < 0.0) != (to < 0.0) && from != 0.0 && to != 0.0 {
            part.push(a.lerp(b, from / (from - to)));
        }
    }
    part
}

/// Resultant of a pressure that is linear over a convex polygon of `n` corners, about `centre`.
fn pressed(n: usize, corner: impl Fn(usize) -> (DVec3, f64), normal: DVec3, centre: DVec3) -> AppliedForce {
    let (mut total, mut first) = (0.0, DVec3::ZERO);
    for k in 2..n {
        let [(a, p), (b, q), (c, r)] = [corner(0), corner(k - 1), corner(k)];
        let (x, p) = ([a, b, c].map(|x| x - centre), [p, q, r]);
        let area = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).length();
        let sum: f64 = p.iter().sum();
        total += area * sum / 3.0;
        first += area / 12.0 * (x[0] * (p[0] + sum) + x[1] * (p[1] + sum) + x[2] * (p[2] + sum));
    }
    AppliedForce { force: -normal * total, torque: first.cross(-normal) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    const WEIGHT: f64 = 9810.0;

    #[test]
    fn water_to_the_top_pushes_at_a_third_of_the_height() {
        let face = Face::of_cuboid(DVec3::new(1.5, 0.5, 3.0), DVec3::NEG_X);
        let pose = Pose::at(DVec3::new(1.5, 0.0, 3.0));
        let load = face.hydrostatic(&pose, 6.0, WEIGHT);
        let force = 0.5 * WEIGHT * 36.0;
        assert!((load.force - DVec3::X * force).length() < 1e-9 * force);
        // at z = 2, one metre below the centre: the torque about y is (z − c) F
        assert!((load.torque - DVec3::Y * -force).length() < 1e-9 * force);
        // half full, and dry
        assert!((face.hydrostatic(&pose, 3.0, WEIGHT).force.x - 0.5 * WEIGHT * 9.0).abs() < 1e-9 * force);
        assert_eq!(face.hydrostatic(&pose, -1.0, WEIGHT).force.length(), 0.0);
    }

    #[test]
    fn the_force_stays_normal_to_a_face_that_tilts() {
        let face = Face::of_cuboid(DVec3::new(1.0, 1.0, 1.0), DVec3::NEG_X);
        let pose = Pose::new(DVec3::Z, DQuat::from_rotation_y(0.3));
        let load = face.hydrostatic(&pose, 10.0, WEIGHT);
        assert!((load.force.normalize() - pose.rotation * DVec3::X).length() < 1e-12);
        // fully wet: pressure at the centre of the face times its area
        let centre = pose.point(DVec3::NEG_X).z;
        assert!((load.force.length() / (4.0 * WEIGHT * (10.0 - centre)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn uplift_under_the_blocks_of_a_course_adds_up_to_one_triangle() {
        let (level, force) = (6.0, 0.5 * WEIGHT * 5.0 * 3.0);
        let mut sum = [DVec3::ZERO; 2];
        // beds of 1.2, 0.8 and 1 m at z = 1, each in the frame of its own block
        for [from, to] in [[0.0, 1.2], [1.2, 2.0], [2.0, 3.0]] {
            let place = Pose::at(DVec3::new(0.5 * (from + to), 0.0, 1.5));
            let base = Face::of_cuboid(DVec3::new(0.5 * (to - from), 0.5, 0.5), DVec3::NEG_Z);
            let seam = Seam::new(base.moved(&place), DVec3::X, [0.0, 3.0], 1.0).moved(&Pose::at(-place.position));
            let load = seam.uplift(&place, level, WEIGHT);
            sum = [sum[0] + load.force, sum[1] + load.torque + place.position.cross(load.force)];
            assert_eq!(seam.uplift(&place, 0.9, WEIGHT).force.length(), 0.0, "the water stands below it");
        }
        assert!((sum[0] - DVec3::Z * force).length() < 1e-9 * force);
        // resultant a third of the course from its wet edge
        assert!((sum[1].y + force * 1.0).abs() < 1e-9 * force, "{}", sum[1]);
    }

    #[test]
    fn what_covers_a_face_piece_by_piece_takes_all_of_its_pressure() {
        let wet = Face::of_cuboid(DVec3::new(0.5, 1.0, 1.0), DVec3::NEG_X);
        let (pose, mut left) = (Pose::at(DVec3::new(0.5, 0.0, 1.0)), 0.0);
        left += wet.hydrostatic(&pose, 1.7, WEIGHT).force.x;
        let whole = left;
        // two stones before it, the joint between them aslant of nothing; a third one, too far off, covers nothing
        for (y, half, x) in [(-0.7, 0.3, -0.3), (0.3, 0.7, -0.3005), (0.0, 1.0, -0.4)] {
            let stone = Face::of_cuboid(DVec3::new(0.3, half, 1.0), DVec3::X).moved(&Pose::at(DVec3::new(x, y, 1.0)));
            let own = stone.moved(&Pose::at(-pose.position));
            left -= wet.covered_by(&own, 1e-3).map_or(0.0, |part| part.hydrostatic(&pose, 1.7, WEIGHT).force.x);
        }
        assert!(left.abs() < 1e-9 * whole, "{left} of {whole}");
    }

    #[test]
    fn shaken_water_pushes_as_the_parabola_of_westergaard_on_whole_and_half_wet_faces() {
        let face = Face::of_cuboid(DVec3::new(0.5, 1.0, 3.0), DVec3::NEG_X);
        let pose = Pose::at(DVec3::new(0.5, 0.0, 3.0));
        for level in [6.0, 4.0, 9.0] {
            // ∫ √y dy and ∫ y √y dy between the top of what is wet and the bed
            let top: f64 = level - 6.0f64.min(level);
            let part = |n: f64| (level.powf(n) - top.powf(n)) / n;
            let force = 0.875 * 1000.0 * 2.0 * level.sqrt() * part(1.5);
            let depth = part(2.5) / part(1.5);
            let load = face.westergaard(&pose, [0.0, level], 1000.0);
            assert!((load.force - DVec3::X * force).length() < 1e-12 * force, "{level}: {load:?} {force}");
            assert!((load.torque.y - (level - depth - 3.0) * force).abs() < 1e-11 * force, "{level}");
        }
        // a face that leans, cut in triangles of its own: Gauss on each strip is exact, so the sum is
        let turned = Pose { rotation: DQuat::from_rotation_x(0.4), ..pose };
        let whole = face.westergaard(&turned, [0.0, 5.0], 1000.0);
        let [low, high] = [DVec3::NEG_Z, DVec3::Z].map(|way| {
            let corners = face.corners.iter().map(|&x| if x.z * way.z > 0.0 { x } else { DVec3::new(x.x, x.y, 0.0) }).collect();
            Face { corners, ..face }.westergaard(&turned, [0.0, 5.0], 1000.0)
        });
        assert!((low.force + high.force - whole.force).length() < 1e-11 * whole.force.length());
        assert!((low.torque + high.torque - whole.torque).length() < 1e-11 * whole.torque.length());
    }
}
