//! Places where several normals are as good: rounding must not choose between them.

use glam::{DQuat, DVec3};

use super::{Dice, as_hull, block, points};
use crate::algebra::spatial::Pose;
use crate::geometry::Shape;

/// Shares of a thousand looks, at poses that differ in the last digits, which see another normal or another number of points.
fn unsteady(s1: &Shape, p1: &Pose, s2: &Shape, p2: &Pose) -> f64 {
    let mut dice = Dice(7);
    let mut shaken = |p: &Pose| {
        let turn = DQuat::from_scaled_axis(dice.vector() * 1e-14);
        Pose::new(p.position + dice.vector() * 1e-13, (turn * p.rotation).normalize())
    };
    let mut look = || points(s1, &shaken(p1), s2, &shaken(p2), 1e-3);
    let first = look();
    assert!(!first.is_empty());
    let other = (0..1000).filter(|_| {
        let now = look();
        now.len() != first.len() || now.iter().any(|p| p.normal.dot(first[0].normal) < 1.0 - 1e-9)
    });
    other.count() as f64 / 1000.0
}

/// The corners of a box, seen from a frame that lies somewhere else.
fn box_in_world(half: DVec3, at: DVec3, turn: DQuat) -> Shape {
    let Shape::Hull(hull) = as_hull(&block(half.x, half.y, half.z)) else { unreachable!() };
    Shape::hull(&hull.vertices.iter().map(|&v| turn * (v + at)).collect::<Vec<_>>()).unwrap()
}

#[test]
fn blocks_that_share_an_edge_or_a_corner_keep_their_normal() {
    let half = DVec3::new(0.2, 0.1, 0.15);
    let turn = DQuat::from_scaled_axis(DVec3::new(0.3, -0.2, 0.5));
    for to in [DVec3::new(2.0, 0.0, 2.0), DVec3::new(2.0, 2.0, 0.0), DVec3::new(-2.0, 1.0, 2.0), DVec3::new(2.0, 2.0, 2.0)] {
        let [one, two] = [block(half.x, half.y, half.z), as_hull(&block(half.x, half.y, half.z))];
        let (p1, p2) = (Pose::new(DVec3::ZERO, turn), Pose::new(turn * (to * half), turn));
        for s1 in [&one, &two] {
            for s2 in [&one, &two] {
                assert_eq!(unsteady(s1, &p1, s2, &p2), 0.0, "{to} {s1:?} {s2:?}");
            }
        }
        // as voussoirs of a vault, all of them in its frame
        let [one, two] = [DVec3::ZERO, to * half].map(|at| box_in_world(half, at, turn));
        assert_eq!(unsteady(&one, &Pose::IDENTITY, &two, &Pose::IDENTITY), 0.0, "{to}");
    }
}

#[test]
fn round_shapes_at_edges_keep_their_normal() {
    let cube = block(0.1, 0.1, 0.1);
    let upright = Shape::cylinder(0.1, 0.1).unwrap();
    let capsule = Shape::capsule(0.1, 0.05).unwrap();
    let at = |x, y, z| Pose::new(DVec3::new(x, y, z), DQuat::IDENTITY);
    for (name, share) in [
        ("cylinder beside and above a cube", unsteady(&upright, &at(0.2, 0.0, 0.2), &cube, &at(0.0, 0.0, 0.0))),
        ("capsule on the rim", unsteady(&capsule, &at(0.1, 0.0, 0.25), &cube, &at(0.0, 0.0, 0.0))),
    ] {
        assert_eq!(share, 0.0, "{name}");
    }
}
