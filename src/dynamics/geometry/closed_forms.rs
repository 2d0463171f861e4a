//! Contacts with a formula of their own.
//!
//! ```text
//! ball–ball        gap = |c₁ − c₂| − r₁ − r₂            n = (c₁ − c₂)/|c₁ − c₂|
//! ball–plane       gap = n·(c − x₀) − r
//! ball–cuboid      closest point: the centre clamped to the box; inside, the nearest face
//! plane–anything   the lowest points of a convex shape
//! ```

use glam::DVec3;

use super::clip::MOST_CORNERS;
use super::cores::{closest_on_segments, rim_key, vertex_key};
use super::cylinder::{Cylinder, RIM_POINTS};
use super::points::Sink;
use super::shapes::Shape;
use crate::algebra::spatial::{Pose, tangents};

/// Two balls, given by their centres.
pub(super) fn balls(c1: DVec3, r1: f64, c2: DVec3, r2: f64, keys: (u32, u32), reach: f64, sink: &mut Sink) {
    let d = c1 - c2;
    let squared = d.length_squared();
    let limit = r1 + r2 + reach;
    if limit < 0.0 || squared > limit * limit {
        return;
    }
    let distance = squared.sqrt();
    // concentric: every direction is as good
    let n = if distance > 0.0 { d / distance } else { DVec3::Z };
    let gap = distance - r1 - r2;
    if gap <= reach {
        sink.push(keys, n, gap, c1 - n * r1, c2 + n * r2);
    }
}

/// A ball (or the rounded end of a capsule) on a plane through `origin` with outward normal `n`.
pub(super) fn ball_plane(centre: DVec3, radius: f64, key: u32, origin: DVec3, n: DVec3, reach: f64, sink: &mut Sink) {
    let gap = n.dot(centre - origin) - radius;
    if gap <= reach {
        let on_ball = centre - n * radius;
        sink.push((key, 0), n, gap, on_ball, on_ball - n * gap);
    }
}

/// A ball and a cuboid. The key of the cuboid tells face, edge or corner: one digit −, 0, + per axis.
pub(super) fn ball_cuboid(centre: DVec3, radius: f64, half: DVec3, pose: &Pose, reach: f64, sink: &mut Sink) {
    let c = pose.local_point(centre);
    let nearest = c.clamp(-half, half);
    let outside = c - nearest;
    let squared = outside.length_squared();
    let limit = radius + reach;
    if squared > limit * limit {
        return;
    }
    let region = |n: DVec3| {
        let digit = |x: f64| if x > 0.0 { 2 } else { u32::from(x < 0.0) };
        digit(n.x) + 3 * digit(n.y) + 9 * digit(n.z)
    };
    let (local_n, distance) = if squared > 0.0 {
        let distance = squared.sqrt();
        (outside / distance, distance)
    } else {
        let depth = half - c.abs();
        let axis = if depth.x <= depth.y && depth.x <= depth.z {
            DVec3::X
        } else if depth.y <= depth.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        (axis * 1f64.copysign(c.dot(axis)), -depth.dot(axis))
    };
    let gap = distance - radius;
    if gap > reach {
        return;
    }
    let n = pose.vector(local_n);
    let on_ball = centre - n * radius;
    sink.push((0, region(local_n)), n, gap, on_ball, on_ball - n * gap);
}

/// A capsule and a ball.
pub(super) fn ball_capsule(centre: DVec3, radius: f64, ends: [DVec3; 2], tube: f64, reach: f64, sink: &mut Sink) {
    let (_, t) = closest_on_segments([centre; 2], ends);
    balls(centre, radius, ends[0].lerp(ends[1], t), tube, (0, end_key(t)), reach, sink);
}

fn end_key(t: f64) -> u32 {
    if t <= 0.0 {
        0
    } else if t >= 1.0 {
        1
    } else {
        2
    }
}

/// Keys on a capsule of the first and the last end, along its axis, of a line of contact.
const LINE_ENDS: [u32; 2] = [4, 5];

/// Two capsules. Where they run nearly alike they touch along a line, and the ends of that line are points too. These are named by their
/// order along either axis: which of the two bodies ends there is decided by rounding when both are equally long.
pub(super) fn capsules(p: [DVec3; 2], r1: f64, q: [DVec3; 2], r2: f64, reach: f64, sink: &mut Sink) {
    let (u, v) = (p[1] - p[0], q[1] - q[0]);
    let (uu, vv) = (u.length_squared(), v.length_squared());
    let (s, t) = closest_on_segments(p, q);
    let mut pair = |(s, t): (f64, f64), keys: (u32, u32)| balls(p[0].lerp(p[1], s), r1, q[0].lerp(q[1], t), r2, keys, reach, sink);
    // beyond 6° the ends of the overlap are too far apart to matter
    if u.cross(v).length_squared() >= 0.01 * uu * vv {
        return pair((s, t), (end_key(s), end_key(t)));
    }
    let on_p = |x: DVec3| ((x - p[0]).dot(u) / uu).clamp(0.0, 1.0);
    let on_q = |x: DVec3| ((x - q[0]).dot(v) / vv).clamp(0.0, 1.0);
    let distance = |(s, t): (f64, f64)| (p[0].lerp(p[1], s) - q[0].lerp(q[1], t)).length();
    let end = |x: DVec3| {
        let s = on_p(x);
        (s, on_q(p[0].lerp(p[1], s)))
    };
    let opposed = u.dot(v) < 0.0;
    let ends = [end(q[usize::from(opposed)]), end(q[usize::from(!opposed)])];
    let noise = 1e-12 * uu.max(vv).sqrt();
    // in a crossing at a small angle the middle is closer than either end
    if distance((s, t)) < distance(ends[0]).min(distance(ends[1])) - noise {
        pair((s, t), (2, 2));
    }
    pair(ends[0], (LINE_ENDS[0], LINE_ENDS[usize::from(opposed)]));
    if ends[1].0 - ends[0].0 > 1e-9 {
        pair(ends[1], (LINE_ENDS[1], LINE_ENDS[usize::from(!opposed)]));
    }
}

/// A polyhedron (corners in its own frame) on a plane: all corners within reach, or those of the outline when there are many.
pub(super) fn corners_plane(
    vertices: impl Iterator<Item = DVec3>,
    pose: &Pose,
    origin: DVec3,
    n: DVec3,
    reach: f64,
    low: &mut Vec<(u32, DVec3, f64)>,
    sink: &mut Sink,
) {
    let local_n = pose.local_vector(n);
    let base = n.dot(pose.position - origin);
    low.clear();
    for (i, v) in vertices.enumerate() {
        let gap = base + local_n.dot(v);
        if gap <= reach {
            low.push((vertex_key(i as u32), v, gap));
        }
    }
    if low.len() > MOST_CORNERS {
        outline(low, local_n);
    }
    for &(key, v, gap) in low.iter() {
        let on_body = pose.point(v);
        sink.push((key, 0), n, gap, on_body, on_body - n * gap);
    }
}

/// Part of the size of an outline within which points lie equally far out, or low.
const LEVEL: f64 = 1e-9;

/// Reduces points to at most [`MOST_CORNERS`] corners of their convex outline seen along `n`: those that lie farthest out in fixed directions. A
/// lowest point always stays.
fn outline(points: &mut Vec<(u32, DVec3, f64)>, n: DVec3) {
    let (t1, t2) = tangents(n);
    let size = points.iter().map(|p| (p.1 - points[0].1).length()).fold(0.0, f64::max);
    // the first of those that are alike but for rounding
    let farthest = |weight: &dyn Fn(&(u32, DVec3, f64)) -> f64| {
        let most = points.iter().map(weight).fold(f64::NEG_INFINITY, f64::max);
        points.iter().position(|p| weight(p) >= most - LEVEL * size).unwrap_or_default()
    };
    let mut keep: Vec<usize> = vec![farthest(&|p| -p.2)];
    for k in 1..MOST_CORNERS {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / (MOST_CORNERS - 1) as f64);
        keep.push(farthest(&|p| cos * t1.dot(p.1) + sin * t2.dot(p.1)));
    }
    keep.sort_unstable();
    keep.dedup();
    let kept: Vec<_> = keep.into_iter().map(|i| points[i]).collect();
    points.clear();
    points.extend(kept);
}

/// A cylinder on a plane. Standing (axis within 6° of the normal): eight points of the lower rim, the lowest one among them. Leaning or
/// lying: the lowest point of each rim.
fn cylinder_plane(cylinder: &Cylinder, pose: &Pose, origin: DVec3, n: DVec3, reach: f64, sink: &mut Sink) {
    let down = -pose.local_vector(n);
    let base = n.dot(pose.position - origin);
    let mut push = |key: u32, v: DVec3| {
        let gap = base - down.dot(v);
        if gap <= reach {
            let on_body = pose.point(v);
            sink.push((key, 0), n, gap, on_body, on_body - n * gap);
        }
    };
    if libm::hypot(down.x, down.y) < 0.1 {
        let top = u32::from(down.z > 0.0);
        let lowest = Cylinder::farthest(down).map(|(k, _)| k);
        for (k, v) in cylinder.cap(down).into_iter().enumerate() {
            push(if lowest == Some(k) { rim_key(top) } else { vertex_key(top * RIM_POINTS as u32 + k as u32) }, v);
        }
    } else {
        cylinder.wall(down).into_iter().zip(0..).for_each(|(v, end)| push(rim_key(end), v));
    }
}

/// A ball and a cylinder.
pub(super) fn ball_cylinder(centre: DVec3, radius: f64, cylinder: &Cylinder, pose: &Pose, reach: f64, sink: &mut Sink) {
    let (local_n, distance, key) = cylinder.point(pose.local_point(centre));
    let gap = distance - radius;
    if gap <= reach {
        let n = pose.vector(local_n);
        let on_ball = centre - n * radius;
        sink.push((0, key), n, gap, on_ball, on_ball - n * gap);
    }
}

/// World coordinates of the ends of a capsule's segment.
pub(super) fn segment(half_height: f64, pose: &Pose) -> [DVec3; 2] {
    let half = pose.vector(DVec3::Z * half_height);
    [pose.position - half, pose.position + half]
}

/// The convex shapes on a plane; false for a shape that has no formula here.
pub(super) fn on_plane(shape: &Shape, pose: &Pose, plane: (DVec3, DVec3), reach: f64, low: &mut Vec<(u32, DVec3, f64)>, sink: &mut Sink) {
    let (origin, n) = plane;
    match shape {
        Shape::Ball { radius } => ball_plane(pose.position, *radius, 0, origin, n, reach, sink),
        Shape::Capsule { half_height, radius } => {
            for (k, end) in segment(*half_height, pose).into_iter().enumerate() {
                ball_plane(end, *radius, k as u32, origin, n, reach, sink);
            }
        }
        Shape::Cylinder { half_height, radius } => {
            cylinder_plane(&Cylinder { half_height: *half_height, radius: *radius }, pose, origin, n, reach, sink);
        }
        Shape::Cuboid { half_extents } => {
            let unit = &super::polyhedron::Polyhedron::unit_cuboid().vertices;
            corners_plane(unit.iter().map(|v| *v * *half_extents), pose, origin, n, reach, low, sink);
        }
        Shape::Hull(hull) => corners_plane(hull.vertices.iter().copied(), pose, origin, n, reach, low, sink),
        // two surfaces without thickness: nothing that moves
        Shape::HalfSpace { .. } | Shape::Mesh(_) | Shape::HeightField(_) | Shape::Vessel(_) | Shape::Compound(_) => {}
    }
}
