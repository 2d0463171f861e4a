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

use glam::DVec3;

use crate::algebra::spatial::Pose;
use crate::model::newton_euler::AppliedForce;

/// A rectangular face of a block, in the frame of the block.
///
/// ```
/// use drystone::{algebra::spatial::Pose, masonry::water::Face};
/// use glam::DVec3;
/// // a wall 2 m wide and 3 m high, wet on x = 0
/// let face = Face::of_cuboid(DVec3::new(0.5, 1.0, 1.5), DVec3::NEG_X);
/// let water = face.hydrostatic(&Pose::at(DVec3::new(0.5, 0.0, 1.5)), 3.0, 9810.0);
/// assert!((water.force.x - 0.5 * 9810.0 * 9.0 * 2.0).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Corners (m), in order around the face.
    pub corners: [DVec3; 4],
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
        Self { corners: [centre - u - v, centre + u - v, centre + u + v, centre - u + v], normal }
    }

    /// The same face after a motion of its frame.
    pub fn moved(&self, motion: &Pose) -> Self {
        Self { corners: self.corners.map(|x| motion.point(x)), normal: motion.vector(self.normal) }
    }

    /// Force (N) and torque (N m) about the origin of `pose` of water whose surface is at z = `level` (m); `weight` is ρ g (N/m³).
    pub fn hydrostatic(&self, pose: &Pose, level: f64, weight: f64) -> AppliedForce {
        let face = self.moved(pose);
        let wet = below(&face.corners, level);
        let pressures: Vec<f64> = wet.iter().map(|x| weight * (level - x.z)).collect();
        pressed(&wet, &pressures, face.normal, pose.position)
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
        let face = self.moved(pose);
        let wet = below(&face.corners, level);
        let pressure = 0.875 * push * (level - bed).max(0.0).sqrt();
        let slope = (1.0 - face.normal.z * face.normal.z).max(0.0).sqrt();
        if slope < 1e-9 {
            let pressures: Vec<f64> = wet.iter().map(|x| pressure * (level - x.z).max(0.0).sqrt()).collect();
            return pressed(&wet, &pressures, face.normal, pose.position);
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
        AppliedForce { force: -face.normal * total, torque: first.cross(-face.normal) }
    }

    /// Force and torque about the origin of `pose` of a pressure in the joint under this face: ρ g times the depth of water at
    /// the edge farthest against `direction`, falling along a straight line to zero at the opposite edge.
    pub fn uplift(&self, pose: &Pose, direction: DVec3, level: f64, weight: f64) -> AppliedForce {
        let face = self.moved(pose);
        let along = face.corners.map(|x| x.dot(direction));
        let heel = along.iter().copied().fold(f64::INFINITY, f64::min);
        let toe = along.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let at_heel = face.corners.iter().zip(along).filter(|(_, s)| s - heel <= 1e-9 * (toe - heel));
        let foot = at_heel.map(|(x, _)| x.z).fold(f64::INFINITY, f64::min);
        let head = weight * (level - foot).max(0.0);
        let pressures = along.map(|s| head * (toe - s) / (toe - heel));
        pressed(&face.corners, &pressures, face.normal, pose.position)
    }
}

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

/// The part of a convex polygon below z = `level`.
fn below(polygon: &[DVec3], level: f64) -> Vec<DVec3> {
    let mut part = Vec::with_capacity(polygon.len() + 1);
    for (k, &a) in polygon.iter().enumerate() {
        let b = polygon[(k + 1) % polygon.len()];
        if a.z <= level {
            part.push(a);
        }
        if (a.z < level) != (b.z < level) && a.z != level && b.z != level {
            part.push(a.lerp(b, (level - a.z) / (b.z - a.z)));
        }
    }
    part
}

/// Resultant of a pressure that is linear over a convex polygon, about `centre`.
fn pressed(polygon: &[DVec3], pressures: &[f64], normal: DVec3, centre: DVec3) -> AppliedForce {
    let (mut total, mut first) = (0.0, DVec3::ZERO);
    for k in 2..polygon.len() {
        let (x, p) = ([polygon[0], polygon[k - 1], polygon[k]].map(|x| x - centre), [pressures[0], pressures[k - 1], pressures[k]]);
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
    fn uplift_is_a_triangle_with_its_resultant_at_a_third_from_the_heel() {
        let face = Face::of_cuboid(DVec3::new(1.5, 0.5, 0.5), DVec3::NEG_Z);
        let pose = Pose::at(DVec3::new(1.5, 0.0, 0.5));
        let load = face.uplift(&pose, DVec3::X, 6.0, WEIGHT);
        let force = 0.5 * WEIGHT * 6.0 * 3.0;
        assert!((load.force - DVec3::Z * force).length() < 1e-9 * force);
        // resultant at x = 1, half a metre from the centre: torque about y is −(x − c) F
        assert!((load.torque - DVec3::Y * 0.5 * force).length() < 1e-9 * force);
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
            let corners = face.corners.map(|x| if x.z * way.z > 0.0 { x } else { DVec3::new(x.x, x.y, 0.0) });
            Face { corners, ..face }.westergaard(&turned, [0.0, 5.0], 1000.0)
        });
        assert!((low.force + high.force - whole.force).length() < 1e-11 * whole.force.length());
        assert!((low.torque + high.torque - whole.torque).length() < 1e-11 * whole.torque.length());
    }
}
