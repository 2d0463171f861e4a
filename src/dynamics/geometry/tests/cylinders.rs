//! Cylinders.

use glam::{DQuat, DVec3};

use super::{Dice, block, convex_solids, parry, points};
use crate::algebra::spatial::Pose;
use crate::geometry::Shape;

#[test]
fn a_cylinder_on_a_plane_tips_over_its_true_rim() {
    let (drum, floor) = (Shape::cylinder(0.3, 0.2).unwrap(), Shape::half_space(DVec3::Z).unwrap());
    let mut dice = Dice(9);
    for tilt in [0.0, 1e-9, 1e-4, 0.05, 0.5, 1.5, std::f64::consts::FRAC_PI_2] {
        for _ in 0..50 {
            let axis = DVec3::new(dice.unit() - 0.5, dice.unit() - 0.5, 0.0).normalize();
            let rotation = DQuat::from_axis_angle(axis, tilt) * DQuat::from_rotation_z(6.0 * dice.unit());
            let exact = -0.3 * tilt.cos() - 0.2 * tilt.sin();
            let found = points(&drum, &Pose::new(DVec3::Z * 0.5, rotation), &floor, &Pose::IDENTITY, 0.7);
            let lowest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            assert!((lowest - (0.5 + exact)).abs() < 1e-14, "{tilt}");
            assert!(found.len() <= 8 && found.len() >= 2);
        }
    }
}

/// Distance of two convex solids of any kind, by parry; good to about 1e-7 where surfaces are curved.
fn distance_by_gjk(s1: &Shape, p1: &Pose, s2: &Shape, p2: &Pose) -> f64 {
    let pose = |s: &Shape, p: &Pose| {
        let turned =
            if matches!(s, Shape::Cylinder { .. }) { DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2) } else { DQuat::IDENTITY };
        parry3d::math::Pose::from_parts(p.position, p.rotation * turned)
    };
    let solid = |s: &Shape| match s {
        Shape::Cylinder { half_height, radius } => parry3d::shape::SharedShape::cylinder(*half_height, *radius),
        _ => parry(s),
    };
    parry3d::query::distance(&pose(s1, p1), &*solid(s1), &pose(s2, p2), &*solid(s2)).unwrap().distance
}

#[test]
fn the_smallest_gap_of_a_cylinder_is_its_distance() {
    let mut dice = Dice(21);
    let drum = Shape::cylinder(0.3, 0.35).unwrap();
    for other in convex_solids() {
        let mut compared = 0;
        for _ in 0..2000 {
            let (p1, p2) = (dice.pose(0.9), dice.pose(0.9));
            let d = distance_by_gjk(&drum, &p1, &other, &p2);
            if d < 1e-3 {
                continue;
            }
            let found = points(&drum, &p1, &other, &p2, 0.3);
            let smallest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            if d < 0.3 - 1e-6 {
                // flat contacts measure along the normal of the face
                assert!((smallest - d).abs() < 2e-5, "{}: {smallest} {d} {found:?}", other.kind());
                compared += 1;
            } else {
                assert!(smallest >= d - 2e-5, "{}: {smallest} {d}", other.kind());
            }
        }
        assert!(compared > 100);
    }
}

#[test]
fn the_points_of_a_cylinder_lie_on_it_and_on_the_other() {
    let mut dice = Dice(22);
    let drum = Shape::cylinder(0.3, 0.35).unwrap();
    let mut seen = 0;
    for other in convex_solids() {
        for _ in 0..1000 {
            let (p1, p2) = (dice.pose(0.7), dice.pose(0.7));
            for p in points(&drum, &p1, &other, &p2, 0.05) {
                // the direction across rim and edge is exact to first order in the depth
                if p.gap < -0.003 {
                    continue;
                }
                let dot = Shape::ball(1e-9).unwrap();
                let off = |s: &Shape, pose: &Pose, x: DVec3| distance_by_gjk(&dot, &Pose::at(x), s, pose);
                // outside by no more than flat contacts allow
                let (one, two) = (off(&drum, &p1, p.point1), off(&other, &p2, p.point2));
                assert!(one < 3e-3 && two < 3e-3, "{} {one:e} {two:e} {p:?}", other.kind());
                seen += 1;
            }
        }
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn a_drum_on_a_drum_stands_on_the_outline_of_the_overlap() {
    let drum = Shape::cylinder(0.3, 0.2).unwrap();
    for (x, gap) in [(0.0, 0.0), (0.1, 1e-9), (0.3, -1e-9), (0.0, -1e-4)] {
        let found = points(&drum, &Pose::at(DVec3::new(x, 0.0, 0.6 + gap)), &drum, &Pose::IDENTITY, 1e-3);
        assert!((3..=8).contains(&found.len()), "{x}: {}", found.len());
        for p in &found {
            assert_eq!(p.normal, DVec3::Z);
            assert!((p.gap - gap).abs() < 1e-15);
        }
        let farthest = found.iter().map(|p| p.point1.y.abs()).fold(0.0, f64::max);
        if x > 0.0 {
            // where the rims cross
            assert!((farthest - (0.04 - 0.25 * x * x).sqrt()).abs() < 1e-14);
        }
    }
    // lying on a box, and standing on it
    let table = block(1.0, 1.0, 0.5);
    let lying = Pose::new(DVec3::Z * 0.7, DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2));
    let found = points(&drum, &lying, &table, &Pose::IDENTITY, 1e-3);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|p| p.gap.abs() < 1e-15 && (p.normal - DVec3::Z).length() < 1e-15));
    let found = points(&drum, &Pose::at(DVec3::Z * 0.8), &table, &Pose::IDENTITY, 1e-3);
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|p| p.gap.abs() < 1e-15 && (p.normal - DVec3::Z).length() < 1e-15));
}

#[test]
fn a_cap_that_leans_meets_with_all_of_it_that_is_within_reach() {
    let drum = Shape::cylinder(0.3, 0.2).unwrap();
    let table = block(1.0, 1.0, 0.3);
    for lean in [0.01, 0.1, 0.3f64] {
        let rotation = DQuat::from_rotation_y(lean);
        // its lowest rim point is 1 mm above
        let height = 0.3 * lean.cos() + 0.2 * lean.sin() + 1e-3;
        for other in [&drum, &table] {
            let found = points(&drum, &Pose::new(DVec3::Z * height, rotation), other, &Pose::at(DVec3::NEG_Z * 0.3), 0.2);
            let lowest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            let width = found.iter().map(|p| p.point1.x).fold(0.0, f64::max) - found.iter().map(|p| p.point1.x).fold(0.0, f64::min);
            assert!(found.len() >= 4 && (lowest - 1e-3).abs() < 1e-9, "{lean}, {}: {found:?}", other.kind());
            assert!(width > 0.2, "{lean}, {}: {width}", other.kind());
        }
    }
}
