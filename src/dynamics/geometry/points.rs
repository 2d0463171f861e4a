//! Points of contact, and where the kernels put them.

use glam::{DMat3, DVec3};

use super::cores::{Core, rim_key};

/// One point of contact, or near contact, between two bodies.
///
/// ```
/// use drystone::algebra::spatial::Pose;
/// use drystone::geometry::{ContactPoint, Scratch, Shape, contact_points};
/// use glam::DVec3;
/// let block = Shape::cuboid(DVec3::splat(0.5))?;
/// let mut points: Vec<ContactPoint> = Vec::new();
/// contact_points(&block, &Pose::at(DVec3::new(0.3, 0.0, 1.0)), &block, &Pose::IDENTITY, 0.01, &mut Scratch::default(), &mut points);
/// assert_eq!(points.len(), 4);
/// assert!(points.iter().all(|p| p.normal == DVec3::Z && p.gap == 0.0));
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
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
    /// Where the two meet in an edge or a corner alone: the least cosine between the directions in which faces part them, within 0.03 % of the
    /// width of the smaller one. Where they are level in a direction, within as much, beside a gap: its cosine with that of the gap. 1 on a face
    /// and where edges cross.
    pub corner: f64,
    /// Whether it is the place at which the smooth rim of a body touches a face, or its round wall an edge or a corner: it goes on round the body where that rolls.
    pub rim: bool,
}

/// Cosine from which on several directions part two bodies each on its own account: 60°, between the 90° of neighbours in a bond and the
/// few of a block that rocks on the edge of an equal one.
const FLUSH: f64 = 0.5;

impl ContactPoint {
    /// Whether the two are flush there: they share an edge or a corner, and faces more than 60° apart part them as well. A motion is free that
    /// leaves along any of these, so that such a touch holds nothing; nor does a gap beside which they are level, as seams of a floor are.
    pub fn is_flush(&self) -> bool {
        self.corner < FLUSH
    }
}

/// Takes points of the ordered pair (A, B) in the frame of a kernel, and hands them out for (1, 2) in the world.
pub(super) struct Sink<'a> {
    pub(super) out: &'a mut Vec<ContactPoint>,
    /// World coordinates of the kernel's frame; `None` when the kernel works in the world.
    pub(super) frame: Option<(DMat3, DVec3)>,
    /// Body 1 is B.
    pub(super) exchanged: bool,
    /// Which parts of compounds A and B are.
    pub(super) parts: (u32, u32),
}

impl Sink<'_> {
    /// A point with its normal from B to A.
    pub(super) fn push(&mut self, (key_a, key_b): (u32, u32), normal: DVec3, gap: f64, on_a: DVec3, on_b: DVec3) {
        let (normal, on_a, on_b) = match &self.frame {
            None => (normal, on_a, on_b),
            Some((r, t)) => (*r * normal, *r * on_a + *t, *r * on_b + *t),
        };
        let rim = key_a.max(key_b) >= rim_key(0);
        let (key_a, key_b) = (u64::from(key_a ^ self.parts.0), u64::from(key_b ^ self.parts.1));
        self.out.push(if self.exchanged {
            ContactPoint { feature: key_b << 32 | key_a, normal: -normal, gap, point1: on_b, point2: on_a, corner: 1.0, rim }
        } else {
            ContactPoint { feature: key_a << 32 | key_b, normal, gap, point1: on_a, point2: on_b, corner: 1.0, rim }
        });
    }

    /// A point of two cores with `n` from A to B and the distance of the cores; adds their rounding.
    pub(super) fn rounded(&mut self, a: &Core, b: &Core, keys: (u32, u32), n: DVec3, distance: f64, on_a: DVec3, on_b: DVec3) {
        self.push(keys, -n, distance - a.radius - b.radius, on_a + n * a.radius, on_b - n * b.radius);
    }
}
