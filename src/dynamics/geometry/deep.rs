//! One way out of a deep overlap.
//!
//! ```text
//! d(n) = max over overlapping parts (max_{b ∈ B} n·b − min_{a ∈ A} n·a)        least over the normals that were found
//! ```
//!
//! Where bodies of several parts start within each other, every pair of parts has its own direction of least overlap, and these may
//! contradict each other: no motion then follows them all. Such a pair is parted along the one direction in which the way is shortest.

use glam::{DQuat, DVec3};

use super::narrow::{ContactPoint, Scratch, contact_points};
use super::shapes::Shape;
use crate::algebra::spatial::Pose;

/// Overlap, in parts of the smaller body's smallest length, beyond which normals of parts count as deep.
pub(super) const DEEP: f64 = 0.02;

/// Cosine by which every normal must agree with a common way out.
const AGREE: f64 = 0.05;

/// Gives all overlapping points of two solids one normal, if their deep ones contradict each other.
pub(super) fn one_way_out(solids: [(&Shape, Pose); 2], size: f64, scratch: &mut Scratch, points: &mut Vec<ContactPoint>) {
    let surface = |s: &Shape| matches!(s, Shape::HalfSpace { .. } | Shape::Mesh(_) | Shape::HeightField(_) | Shape::Vessel(_));
    let compound = |s: &Shape| matches!(s, Shape::Compound(_));
    let [(one, _), (two, _)] = solids;
    if !(compound(one) || compound(two)) || surface(one) || surface(two) {
        return;
    }
    let deep = || points.iter().filter(|p| p.gap < -DEEP * size).map(|p| p.normal);
    if deep().next().is_none() || agree(deep) {
        return;
    }
    let mut parts = [Vec::new(), Vec::new()];
    for ((shape, pose), out) in solids.into_iter().zip(&mut parts) {
        gather(shape, pose, out);
    }
    // pairs of parts that overlap, with the end of their points in `found`
    let (mut found, mut pairs) = (Vec::new(), Vec::new());
    for (i, (a, pose_a)) in parts[0].iter().enumerate() {
        for (j, (b, pose_b)) in parts[1].iter().enumerate() {
            let start = found.len();
            contact_points(a, pose_a, b, pose_b, 0.0, scratch, &mut found);
            // an odd multiplier spreads the index over all bits
            let key = (i as u64 + 1).wrapping_mul(0x9E37_79B1) << 32 ^ (j as u64 + 1).wrapping_mul(0x9E37_79B1) & 0xFFFF_FFFF;
            found[start..].iter_mut().for_each(|p: &mut ContactPoint| p.feature ^= key);
            if found.len() > start {
                pairs.push((i, j, start..found.len()));
            }
        }
    }
    let depth = |i: usize, j: usize, n: DVec3| extent(&parts[1][j], n).1 - extent(&parts[0][i], n).0;
    let whole = |n: DVec3| pairs.iter().map(|(i, j, _)| depth(*i, *j, n)).fold(0.0, f64::max);
    let Some(n) = found.iter().map(|p| p.normal).min_by(|a, b| whole(*a).total_cmp(&whole(*b))) else { return };
    for (i, j, range) in &pairs {
        let gap = -depth(*i, *j, n);
        for p in &mut found[range.clone()] {
            let middle = 0.5 * (p.point1 + p.point2);
            (p.normal, p.gap) = (n, gap);
            (p.point1, p.point2) = (middle + n * (0.5 * gap), middle - n * (0.5 * gap));
        }
    }
    points.retain(|p| p.gap >= 0.0 && p.normal.dot(n) >= 0.0);
    points.append(&mut found);
}

/// Whether one direction leads out of all: a perceptron, which needs few rounds where the directions agree well.
fn agree<I: Iterator<Item = DVec3>>(normals: impl Fn() -> I) -> bool {
    let mut way: DVec3 = normals().sum();
    for _ in 0..64 {
        let Some(worst) = normals().min_by(|a, b| a.dot(way).total_cmp(&b.dot(way))) else { return true };
        if worst.dot(way) > AGREE * way.length() {
            return true;
        }
        way += worst;
    }
    false
}

/// The convex parts of a shape, placed in the world.
fn gather<'a>(shape: &'a Shape, pose: Pose, out: &mut Vec<(&'a Shape, Pose)>) {
    match shape {
        Shape::Compound(parts) => parts.iter().for_each(|(inner, part)| gather(part, pose.compose(inner), out)),
        _ => out.push((shape, pose)),
    }
}

/// Least and largest `n · x` of a placed shape.
fn extent((shape, pose): &(&Shape, Pose), n: DVec3) -> (f64, f64) {
    let turn = DQuat::from_rotation_arc(n, DVec3::X);
    let turned = Pose { position: turn * pose.position, rotation: turn * pose.rotation };
    let (low, high) = shape.aabb(&turned);
    (low.x, high.x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_blocks() -> Shape {
        let block = Shape::cuboid(DVec3::new(0.5, 0.25, 0.25)).unwrap();
        let upright = Shape::cuboid(DVec3::new(0.25, 0.5, 0.25)).unwrap();
        Shape::compound(vec![(Pose::IDENTITY, block), (Pose::at(DVec3::new(-0.25, 0.25, 0.0)), upright)]).unwrap()
    }

    #[test]
    fn bodies_that_start_within_each_other_have_one_way_out() {
        let shape = two_blocks();
        let mut scratch = Scratch::default();
        let mut contradictions = 0;
        for k in 0..1000 {
            let angle = 0.37 * f64::from(k);
            let axis = DVec3::new(angle.sin(), (1.7 * angle).cos(), (2.3 * angle).sin()).normalize();
            let shift = 0.3 * DVec3::new((3.1 * angle).cos(), (1.3 * angle).sin(), (0.7 * angle).cos());
            let poses = [Pose::IDENTITY, Pose { position: shift, rotation: DQuat::from_axis_angle(axis, angle) }];
            let mut points = Vec::new();
            contact_points(&shape, &poses[0], &shape, &poses[1], 0.0, &mut scratch, &mut points);
            let deep = |points: &[ContactPoint]| points.iter().filter(|p| p.gap < -DEEP * 0.5).map(|p| p.normal).collect::<Vec<_>>();
            let normals = deep(&points);
            let before = agree(|| normals.iter().copied());
            one_way_out([(&shape, poses[0]), (&shape, poses[1])], 0.5, &mut scratch, &mut points);
            let normals = deep(&points);
            assert!(agree(|| normals.iter().copied()));
            if !before {
                contradictions += 1;
                let out = points.iter().fold((0.0, DVec3::X), |worst, p| if p.gap < worst.0 { (p.gap, p.normal) } else { worst });
                assert!(points.iter().all(|p| (p.point1 - p.point2 - p.normal * p.gap).length() < 1e-12));
                // the way is as long as it says
                let moved = Pose { position: poses[0].position + out.1 * (1e-9 - out.0), ..poses[0] };
                let mut left = Vec::new();
                contact_points(&shape, &moved, &shape, &poses[1], 0.0, &mut scratch, &mut left);
                let others = points.iter().all(|p| p.gap < 0.0) && left.iter().any(|p| p.gap < -1e-9);
                assert!(!others || left.iter().all(|p| p.gap > out.0), "{:?}", left);
            }
        }
        assert!(contradictions > 5, "{contradictions}");
    }
}
