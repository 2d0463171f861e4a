//! Compounds and solids of many parts.

use glam::{DQuat, DVec3};

use super::{Dice, as_hull, block, points};
use crate::algebra::spatial::Pose;
use crate::geometry::Shape;

/// Two boxes side by side, flush below and above: together 1.0 × 0.4 × 0.2.
fn twin() -> Shape {
    let half = block(0.25, 0.2, 0.1);
    let parts = [-0.25, 0.25].map(|x| (Pose::at(DVec3::X * x), half.clone()));
    Shape::compound(parts.to_vec()).unwrap()
}

#[test]
fn flush_parts_stand_on_the_corners_of_the_whole() {
    let slab = block(2.0, 2.0, 0.5);
    let corners = [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)].map(|(x, y)| DVec3::new(x, y, 0.5));
    let mesh = Shape::mesh(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap();
    let plane = Shape::half_space(DVec3::Z).unwrap();
    let mut dice = Dice(21);
    for (ground, level) in [(&slab, 0.5), (&as_hull(&slab), 0.5), (&mesh, 0.5), (&plane, 0.0)] {
        for gap in [0.0, 1e-9, -1e-9, 1e-4, -1e-4] {
            let spin = DQuat::from_rotation_z(6.0 * dice.unit());
            let pose = Pose::new(DVec3::new(0.2, -0.1, level + 0.1 + gap), spin);
            for found in [points(&twin(), &pose, ground, &Pose::IDENTITY, 1e-2), points(ground, &Pose::IDENTITY, &twin(), &pose, 1e-2)] {
                assert_eq!(found.len(), 4, "{} {gap:e} {found:?}", ground.kind());
                for p in found {
                    let corner = pose.local_point(0.5 * (p.point1 + p.point2)).abs() - DVec3::new(0.5, 0.2, 0.1);
                    assert!(corner.truncate().length() < 1e-13 && (p.gap - gap).abs() < 1e-15, "{} {p:?}", ground.kind());
                }
            }
        }
    }
}

#[test]
fn a_compound_on_a_compound_touches_at_the_corners_of_the_overlap() {
    let pose = Pose::at(DVec3::new(0.3, 0.1, 0.2));
    let found = points(&twin(), &pose, &twin(), &Pose::IDENTITY, 1e-3);
    let mut corners: Vec<(f64, f64)> = found.iter().map(|p| (p.point1.x, p.point1.y)).collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    assert_eq!(corners.len(), 4, "{found:?}");
    for (c, e) in corners.iter().zip([(-0.2, -0.1), (-0.2, 0.2), (0.5, -0.1), (0.5, 0.2)]) {
        assert!((c.0 - e.0).hypot(c.1 - e.1) < 1e-14, "{c:?}");
    }
}

#[test]
fn a_tilted_pair_keeps_its_gaps_and_a_step_its_own_points() {
    let plane = Shape::half_space(DVec3::Z).unwrap();
    let pose = Pose::new(DVec3::Z * 0.1, DQuat::from_rotation_y(1e-3));
    let found = points(&twin(), &pose, &plane, &Pose::IDENTITY, 1e-2);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|p| (p.gap.abs() - 0.5e-3).abs() < 1e-6), "{found:?}");
    // the middle part reaches 1 mm deeper than its neighbours: its corners lie inside the outline, and stay
    let foot = block(0.1, 0.1, 0.1);
    let parts = [(-0.3, 0.0), (0.0, -1e-3), (0.3, 0.0)].map(|(x, z)| (Pose::at(DVec3::new(x, 0.0, z)), foot.clone()));
    let stepped = Shape::compound(parts.to_vec()).unwrap();
    let found = points(&stepped, &Pose::at(DVec3::Z * 0.101), &plane, &Pose::IDENTITY, 1e-2);
    assert_eq!(found.iter().filter(|p| p.gap.abs() < 1e-15).count(), 4, "{found:?}");
}
