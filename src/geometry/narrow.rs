//! Where two shapes touch.

use glam::DVec3;

use super::shapes::Shape;
use crate::algebra::spatial::Pose;

/// One point of contact, or near contact, between two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Which features of body 1 (upper 32 bits) and body 2 (lower 32 bits) meet; the same point of a lasting contact keeps it from step to step.
    pub feature: u64,
    /// Unit normal in the world, from body 2 to body 1.
    pub normal: DVec3,
    /// Signed distance (m): positive apart, negative overlapping.
    pub gap: f64,
    /// Point on body 1 (m, world); `point1 − point2 = gap · normal`.
    pub point1: DVec3,
    /// Point on body 2 (m, world).
    pub point2: DVec3,
}

/// Memory that [`contact_points`] works in; it carries nothing from one call to the next.
#[derive(Debug, Default)]
pub struct Scratch {}

/// Appends every contact point of two shapes with `gap ≤ reach` (m) to `out`.
pub fn contact_points(
    _shape1: &Shape,
    _pose1: &Pose,
    _shape2: &Shape,
    _pose2: &Pose,
    _reach: f64,
    _scratch: &mut Scratch,
    _out: &mut Vec<ContactPoint>,
) {
}
