//! Where two shapes touch.
//!
//! ```text
//! p₁ − p₂ = gap · n        n from body 2 to body 1
//! ```
//!
//! Every call starts from nothing: the answer depends on the two shapes, the two poses and `reach` alone. Which of the two is worked on
//! first is decided by where they are, not by the order of the arguments, so that exchanging them turns the normals round and changes no bit.

use std::cmp::Ordering;

use glam::{DMat3, DVec3};

use super::closed_forms;
use super::convex::{self, ConvexScratch};
use super::cores::{Coordinates, Core};
use super::cylinder::{self, Cylinder};
use super::cylinder_pair;
use super::outline::{self, OutlineScratch};
use super::points::Sink;
use super::sat::{self, Axes};
use super::shapes::Shape;
use super::terrain::{self, Partner};
use super::trimesh::TriangleMesh;
use super::vessel;
use crate::algebra::spatial::Pose;

pub use super::points::ContactPoint;

/// Memory that [`contact_points`] works in; it carries nothing from one call to the next.
///
/// ```
/// use drystone::algebra::spatial::Pose;
/// use drystone::geometry::{Scratch, Shape, contact_points};
/// use glam::DVec3;
/// let (ball, floor) = (Shape::ball(0.5)?, Shape::half_space(DVec3::Z)?);
/// let (mut scratch, mut points) = (Scratch::default(), Vec::new());
/// contact_points(&ball, &Pose::at(DVec3::Z * 0.6), &floor, &Pose::IDENTITY, 0.2, &mut scratch, &mut points);
/// assert!((points[0].gap - 0.1).abs() < 1e-15 && points[0].normal == DVec3::Z);
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    a: Coordinates,
    b: Coordinates,
    low: Vec<(u32, DVec3, f64)>,
    pub(super) convex: ConvexScratch,
    pub(super) terrain: terrain::TerrainScratch,
    outline: OutlineScratch,
}

/// Appends every contact point of two shapes with `gap ≤ reach` (m) to `out`.
///
/// A face on a face gives the corners of the polygon in which they overlap (at most 8). Surfaces without thickness (half-space, mesh,
/// height field, vessel) give nothing among themselves.
pub fn contact_points(
    shape1: &Shape,
    pose1: &Pose,
    shape2: &Shape,
    pose2: &Pose,
    reach: f64,
    scratch: &mut Scratch,
    out: &mut Vec<ContactPoint>,
) {
    let sink = Sink { out, frame: None, exchanged: false, parts: (0, 0) };
    ordered(shape1, pose1, shape2, pose2, reach, scratch, sink);
}

/// Puts the pair into its own order and works on it.
fn ordered(shape1: &Shape, pose1: &Pose, shape2: &Shape, pose2: &Pose, reach: f64, scratch: &mut Scratch, mut sink: Sink) {
    if let (Shape::Ball { radius: r1 }, Shape::Ball { radius: r2 }) = (shape1, shape2) {
        // symmetric as it stands
        return closed_forms::balls(pose1.position, *r1, pose2.position, *r2, (0, 0), reach, &mut sink);
    }
    // a pose that is not a number has no contacts; the step that made it will say so
    if !(pose1.is_finite() && pose2.is_finite()) {
        return;
    }
    if order(shape1, pose1, shape2, pose2) == Ordering::Greater {
        let parts = (sink.parts.1, sink.parts.0);
        let sink = Sink { out: sink.out, frame: None, exchanged: !sink.exchanged, parts };
        kernel(shape2, pose2, shape1, pose1, reach, scratch, sink);
    } else {
        kernel(shape1, pose1, shape2, pose2, reach, scratch, sink);
    }
}

/// Work of a shape as partner: simple ones come first, surfaces and compounds last.
fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::Ball { .. } => 0,
        Shape::Capsule { .. } => 1,
        Shape::Cylinder { .. } => 2,
        Shape::Cuboid { .. } => 3,
        Shape::Hull(_) => 4,
        Shape::HalfSpace { .. } => 5,
        Shape::Mesh(_) => 6,
        Shape::HeightField(_) => 7,
        Shape::Vessel(_) => 8,
        Shape::Compound(_) => 9,
    }
}

/// Where a shape is: points of a hull may be given in any frame, as those of a whole vault in that of the vault.
fn middle(shape: &Shape, pose: &Pose) -> DVec3 {
    match shape {
        Shape::Hull(hull) => pose.point(hull.vertices.iter().sum::<DVec3>() / hull.vertices.len() as f64),
        Shape::Compound(parts) => parts.first().map_or(pose.position, |(inner, part)| middle(part, &pose.compose(inner))),
        _ => pose.position,
    }
}

/// An order of placed shapes that knows nothing of who is first in the argument list: by kind, then along a direction that no scene
/// is likely to be symmetric about, then by the numbers themselves.
fn order(shape1: &Shape, pose1: &Pose, shape2: &Shape, pose2: &Pose) -> Ordering {
    const GENERIC: DVec3 = DVec3::new(0.290_284_677_254_462_33, 0.534_522_483_824_848_8, 0.793_725_393_319_377_2);
    let numbers = |p: &Pose| [p.position.x, p.position.y, p.position.z, p.rotation.x, p.rotation.y, p.rotation.z, p.rotation.w];
    rank(shape1)
        .cmp(&rank(shape2))
        .then_with(|| GENERIC.dot(middle(shape1, pose1)).total_cmp(&GENERIC.dot(middle(shape2, pose2))))
        .then_with(|| {
            let pairs = numbers(pose1).into_iter().zip(numbers(pose2));
            pairs.map(|(x, y)| x.total_cmp(&y)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        })
        .then_with(|| shape1.bounding_radius().total_cmp(&shape2.bounding_radius()))
        .then_with(|| shape1.smallest_length().total_cmp(&shape2.smallest_length()))
}

/// The one table of who meets whom; `a` does not come after `b` in [`rank`].
fn kernel(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, reach: f64, scratch: &mut Scratch, mut sink: Sink) {
    match (a, b) {
        (_, Shape::Compound(parts)) => compound(a, pose_a, parts, pose_b, reach, scratch, sink),
        (_, Shape::HalfSpace { normal }) => {
            let plane = (pose_b.position, pose_b.vector(*normal));
            closed_forms::on_plane(a, pose_a, plane, reach, &mut scratch.low, &mut sink);
        }
        (_, Shape::Mesh(mesh)) => surface(a, pose_a, mesh, pose_b, reach, scratch, sink),
        (Shape::Ball { radius }, Shape::Vessel(found)) => vessel::ball(pose_a.position, *radius, found, pose_b, reach, &mut sink),
        (_, Shape::Vessel(vessel)) => surface(a, pose_a, &vessel.mesh, pose_b, reach, scratch, sink),
        (_, Shape::HeightField(field)) => surface(a, pose_a, &field.mesh, pose_b, reach, scratch, sink),
        (Shape::Ball { radius }, Shape::Cuboid { half_extents }) => {
            closed_forms::ball_cuboid(pose_a.position, *radius, *half_extents, pose_b, reach, &mut sink);
        }
        (Shape::Ball { radius }, Shape::Capsule { half_height, radius: tube }) => {
            let ends = closed_forms::segment(*half_height, pose_b);
            closed_forms::ball_capsule(pose_a.position, *radius, ends, *tube, reach, &mut sink);
        }
        (Shape::Capsule { half_height: h1, radius: r1 }, Shape::Capsule { half_height: h2, radius: r2 }) => {
            let (p, q) = (closed_forms::segment(*h1, pose_a), closed_forms::segment(*h2, pose_b));
            closed_forms::capsules(p, *r1, q, *r2, reach, &mut sink);
        }
        (Shape::Ball { radius: r }, Shape::Cylinder { half_height, radius }) => {
            let cylinder = Cylinder { half_height: *half_height, radius: *radius };
            closed_forms::ball_cylinder(pose_a.position, *r, &cylinder, pose_b, reach, &mut sink);
        }
        (Shape::Capsule { .. }, Shape::Cylinder { half_height, radius }) => {
            let parts = (sink.parts.1, sink.parts.0);
            let sink = Sink { out: sink.out, frame: None, exchanged: !sink.exchanged, parts };
            cylinder_core(&Cylinder { half_height: *half_height, radius: *radius }, pose_b, a, pose_a, reach, scratch, sink);
        }
        (Shape::Cylinder { half_height: h1, radius: r1 }, Shape::Cylinder { half_height: h2, radius: r2 }) => {
            let (one, two) = (Cylinder { half_height: *h1, radius: *r1 }, Cylinder { half_height: *h2, radius: *r2 });
            let relative = pose_a.relative(pose_b);
            sink.frame = Some((DMat3::from_quat(pose_a.rotation), pose_a.position));
            let rotation = DMat3::from_quat(relative.rotation);
            cylinder_pair::contact(&one, &two, &rotation, relative.position, reach, &mut scratch.convex.polygon, &mut sink);
        }
        (Shape::Cylinder { half_height, radius }, _) => {
            cylinder_core(&Cylinder { half_height: *half_height, radius: *radius }, pose_a, b, pose_b, reach, scratch, sink);
        }
        _ => cores(a, pose_a, b, pose_b, reach, scratch, sink),
    }
}

/// Two shapes with polyhedral cores, in the frame of the first.
fn cores(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, reach: f64, scratch: &mut Scratch, mut sink: Sink) {
    let relative = pose_a.relative(pose_b);
    let (r, t) = (DMat3::from_quat(relative.rotation), relative.position);
    sink.frame = Some((DMat3::from_quat(pose_a.rotation), pose_a.position));
    if let (Shape::Cuboid { half_extents: ha }, Shape::Cuboid { half_extents: hb }) = (a, b) {
        let Some(axes) = sat::cuboid_axes(*ha, *hb, &r, t, reach) else { return };
        if let (Some(a), Some(b)) = (scratch.a.place(a, &DMat3::IDENTITY, DVec3::ZERO), scratch.b.place(b, &r, t)) {
            polyhedra(&a, &b, &axes, reach, &mut scratch.convex, &mut sink);
        }
        return;
    }
    if let (Some(a), Some(b)) = (scratch.a.place(a, &DMat3::IDENTITY, DVec3::ZERO), scratch.b.place(b, &r, t)) {
        let reach = reach + a.radius + b.radius;
        if let Some(axes) = sat::axes(&a, &b, reach, &mut scratch.convex.candidates) {
            polyhedra(&a, &b, &axes, reach, &mut scratch.convex, &mut sink);
        }
    }
}

/// The points of two cores, marked where these share an edge or a corner alone or are level beside a gap.
fn polyhedra(a: &Core, b: &Core, axes: &Axes, reach: f64, scratch: &mut ConvexScratch, sink: &mut Sink) {
    let start = sink.out.len();
    convex::contact(a, b, axes, reach, scratch, sink);
    let corner = axes.corner(a, b);
    sink.out[start..].iter_mut().for_each(|p| p.corner = corner);
}

/// Cosine (40°) from which on an edge of a part counts as one of a seam, which is no edge of the whole: the seams in the groins of a vault lie
/// at 45° to its beds and more.
const SEAM: f64 = 0.766;

/// A shape and a compound: part by part, then one patch for all parts in one plane.
fn compound(a: &Shape, pose_a: &Pose, parts: &[(Pose, Shape)], pose_b: &Pose, reach: f64, scratch: &mut Scratch, sink: Sink) {
    let (low, high) = a.aabb(pose_a);
    let start = sink.out.len();
    for (i, (inner, part)) in parts.iter().enumerate() {
        let pose = pose_b.compose(inner);
        let (l, h) = part.aabb(&pose);
        if (l - reach).cmple(high).all() && (h + reach).cmpge(low).all() {
            // an odd multiplier spreads the index over all bits, so that it does not meet the index of a feature
            let parts = (sink.parts.0, (i as u32 + 1).wrapping_mul(0x9E37_79B1));
            let inner = Sink { out: &mut *sink.out, frame: None, exchanged: sink.exchanged, parts };
            ordered(a, pose_a, part, &pose, reach, scratch, inner);
        }
    }
    // where a part meets the other in an edge alone, the part beside it carries: its faces are those of the whole
    if sink.out[start..].iter().any(|p| p.corner >= SEAM) {
        let mut index = 0;
        sink.out.retain(|p| {
            index += 1;
            index <= start || p.corner >= SEAM
        });
    }
    outline::reduce(sink.out, start, &mut scratch.outline);
}

/// A convex shape and a surface of triangles, in the frame of the surface.
fn surface(a: &Shape, pose_a: &Pose, mesh: &TriangleMesh, pose_b: &Pose, reach: f64, scratch: &mut Scratch, mut sink: Sink) {
    if !a.is_convex() || matches!(a, Shape::HalfSpace { .. }) {
        return;
    }
    let relative = pose_b.relative(pose_a);
    sink.frame = Some((DMat3::from_quat(pose_b.rotation), pose_b.position));
    let (rotation, position) = (DMat3::from_quat(relative.rotation), relative.position);
    let Scratch { a: coordinates, b: triangle, convex, terrain, .. } = scratch;
    let (partner, reach) = match a {
        Shape::Cylinder { half_height, radius } => {
            let cylinder = Cylinder { half_height: *half_height, radius: *radius };
            (Partner::Cylinder { cylinder, rotation, position, coordinates }, reach)
        }
        _ => match coordinates.place(a, &rotation, position) {
            Some(core) => (Partner::Core(core), reach + core.radius),
            None => return,
        },
    };
    terrain::contact(partner, a.aabb(&relative), mesh, reach, triangle, convex, terrain, &mut sink);
}

/// A cylinder (A) and a shape with a polyhedral core (B), in the frame of the cylinder.
fn cylinder_core(cylinder: &Cylinder, pose_a: &Pose, b: &Shape, pose_b: &Pose, reach: f64, scratch: &mut Scratch, mut sink: Sink) {
    let relative = pose_a.relative(pose_b);
    sink.frame = Some((DMat3::from_quat(pose_a.rotation), pose_a.position));
    let Scratch { a: coordinates, b: other, convex, .. } = scratch;
    if let Some(core) = other.place(b, &DMat3::from_quat(relative.rotation), relative.position) {
        cylinder::contact(cylinder, &core, reach + core.radius, &mut convex.polygon, coordinates, &mut sink);
    }
}
