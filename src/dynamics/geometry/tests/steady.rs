//! Places where several normals are as good: rounding must not choose between them.

use glam::{DQuat, DVec3};

use super::{Dice, as_hull, block, points};
use crate::algebra::spatial::Pose;
use crate::geometry::{ContactPoint, Shape};

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
fn blocks_that_meet_in_an_edge_or_a_corner_alone_are_flush() {
    let half = DVec3::new(0.2, 0.1, 0.15);
    let turn = DQuat::from_scaled_axis(DVec3::new(0.3, -0.2, 0.5));
    let [cuboid, hull] = [block(half.x, half.y, half.z), as_hull(&block(half.x, half.y, half.z))];
    let flush = |s1: &Shape, s2: &Shape, to: DVec3, rotation: DQuat| {
        let found = points(s1, &Pose::new(DVec3::ZERO, turn), s2, &Pose::new(turn * to, turn * rotation), 0.1);
        assert!(!found.is_empty() && found.iter().all(|p| p.is_flush() == found[0].is_flush()), "{found:?}");
        found[0].is_flush()
    };
    // the upper block of two equal ones, rocking on the edge that they share
    let rocking = |angle: f64| {
        let rotation = DQuat::from_rotation_y(angle);
        (DVec3::new(half.x, 0.0, half.z) + rotation * DVec3::new(-half.x, 0.0, half.z), rotation)
    };
    let at = |x: f64, y: f64, z: f64| (DVec3::new(x, y, z) * half, DQuat::IDENTITY);
    let (near, far) = (2.0 - 1e-4, 2.0 + 1e-4);
    for (expected, (to, rotation)) in [
        (true, at(2.0, 0.0, 2.0)),
        (true, at(near, 1.3, far)),
        (true, at(near, -0.4, near)),
        (true, at(2.0, 2.0, 2.0)),
        // level beside a gap
        (true, at(2.0 + 1e-3, 0.3, 2.0)),
        (true, at(-near, 0.3, 2.0 + 1e-3)),
        (true, (DVec3::new(2.5, 0.3, 2.0) * half, DQuat::from_rotation_z(0.3))),
        // faces, strips of faces and gaps
        (false, at(2.0, 0.0, 0.0)),
        (false, at(2.0, 0.0, 2.0 - 1e-3)),
        (false, at(2.0 - 1e-3, 0.3, 2.0 - 1e-3)),
        (false, at(2.0 + 1e-3, 0.3, 2.0 + 1e-3)),
        (false, at(2.0 + 1e-3, 0.3, 0.0)),
        (false, rocking(1e-9)),
        (false, rocking(0.02)),
        (false, rocking(1.0)),
        (true, rocking(1.1)),
    ] {
        for (s1, s2) in [(&cuboid, &cuboid), (&cuboid, &hull), (&hull, &hull)] {
            assert_eq!(flush(s1, s2, to, rotation), expected, "{to} {rotation}");
        }
    }
    // edges that cross have one normal
    let [one, two] = [DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4), DQuat::from_rotation_y(std::f64::consts::FRAC_PI_4)];
    let cube = block(0.1, 0.1, 0.1);
    let crossing = points(&cube, &Pose::new(DVec3::ZERO, one), &cube, &Pose::new(DVec3::Z * 0.2 * 2f64.sqrt(), two), 1e-3);
    assert!(crossing.len() == 1 && crossing[0].corner == 1.0 && crossing[0].normal.z < -0.999, "{crossing:?}");
}

#[test]
fn a_block_beside_the_seam_of_two_parts_stands_on_one_of_them() {
    let cube = || block(0.1, 0.1, 0.1);
    let pair = Shape::compound(vec![(Pose::at(DVec3::NEG_X * 0.1), cube()), (Pose::at(DVec3::X * 0.1), cube())]).unwrap();
    let on_one = points(&cube(), &Pose::at(DVec3::new(0.1, 0.0, 0.2)), &pair, &Pose::IDENTITY, 1e-3);
    assert!(on_one.len() == 4 && on_one.iter().all(|p| !p.is_flush() && p.normal == DVec3::Z), "{on_one:?}");
    let beside = points(&cube(), &Pose::at(DVec3::new(0.3, 0.0, 0.2)), &pair, &Pose::IDENTITY, 1e-3);
    assert!(!beside.is_empty() && beside.iter().all(ContactPoint::is_flush), "{beside:?}");
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
