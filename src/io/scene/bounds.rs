//! Boxes around shapes, from the file's form of them.

use glam::{DMat3, DVec3};

use super::model::ShapeSpec;
use crate::algebra::spatial::Pose;

impl ShapeSpec {
    /// Lower and upper corner (m, world) of the box around the shape at `pose`; `None` for a half-space.
    ///
    /// ```
    /// use drystone::algebra::spatial::Pose;
    /// use drystone::io::scene::model::ShapeSpec;
    /// use glam::DVec3;
    /// let ball = ShapeSpec::Ball { radius: 0.5 };
    /// assert_eq!(ball.bounds(&Pose::at(DVec3::X)), Some((DVec3::new(0.5, -0.5, -0.5), DVec3::new(1.5, 0.5, 0.5))));
    /// ```
    pub fn bounds(&self, pose: &Pose) -> Option<(DVec3, DVec3)> {
        let axes = DMat3::from_quat(pose.rotation);
        let centred = |reach: DVec3| Some((pose.position - reach, pose.position + reach));
        let points = |mut points: &mut dyn Iterator<Item = DVec3>| {
            let world = (&mut points).map(|p| pose.point(p));
            Some(world.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p))))
        };
        match self {
            Self::HalfSpace { .. } => None,
            Self::Ball { radius } => centred(DVec3::splat(*radius)),
            Self::Cuboid { half_extents: e } => centred(axes.x_axis.abs() * e.x + axes.y_axis.abs() * e.y + axes.z_axis.abs() * e.z),
            Self::Capsule { half_height, radius } => centred(axes.z_axis.abs() * *half_height + DVec3::splat(*radius)),
            Self::Cylinder { half_height, radius } => {
                // a unit circle about the axis a reaches √(1 − a_i²) along axis i
                let a = axes.z_axis;
                let rim = (DVec3::ONE - a * a).max(DVec3::ZERO).map(f64::sqrt);
                centred(a.abs() * *half_height + rim * *radius)
            }
            Self::Hull { points: p } => points(&mut p.iter().copied()),
            Self::Mesh { vertices, .. } => points(&mut vertices.iter().copied()),
            Self::HeightField { size, heights, .. } => {
                let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
                let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let corner = |i: usize| {
                    let sign = |bit: usize| if i & bit == 0 { -0.5 } else { 0.5 };
                    DVec3::new(size[0] * sign(1), size[1] * sign(2), if i & 4 == 0 { low } else { high })
                };
                points(&mut (0..8).map(corner))
            }
            Self::Compound { parts } => {
                let boxes = parts.iter().filter_map(|(inner, part)| part.bounds(&pose.compose(inner)));
                boxes.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)))
            }
        }
    }
}
