//! What holds for every pair of shapes.

use glam::DVec3;

use super::{Dice, boulder, convex_solids, cube, points};
use crate::algebra::spatial::Pose;
use crate::geometry::Shape;

fn terrains() -> Vec<Shape> {
    let corners = [DVec3::new(-2.0, -2.0, 0.0), DVec3::new(2.0, -2.0, 0.1), DVec3::new(2.0, 2.0, -0.1), DVec3::new(-2.0, 2.0, 0.3)];
    let heights: Vec<f64> = (0..25).map(|k| 0.1 * f64::from(k * 7 % 5)).collect();
    vec![Shape::mesh(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap(), Shape::height_field(&heights, 5, 1.0, 1.0).unwrap()]
}

#[test]
fn exchanging_the_bodies_turns_normals_round_and_changes_no_bit() {
    let mut dice = Dice(1);
    let mut shapes = convex_solids();
    let parts = vec![(Pose::at(DVec3::X * 0.4), cube(0.2)), (dice.pose(0.4), Shape::ball(0.3).unwrap()), (dice.pose(0.3), boulder())];
    shapes.push(Shape::compound(parts).unwrap());
    shapes.push(Shape::half_space(DVec3::new(0.1, 0.2, 1.0)).unwrap());
    shapes.extend(terrains());
    let mut seen = 0;
    for s1 in &shapes {
        for s2 in &shapes {
            for _ in 0..60 {
                let (p1, p2) = (dice.pose(0.4), dice.pose(0.4));
                let straight = points(s1, &p1, s2, &p2, 0.3);
                let mut exchanged = points(s2, &p2, s1, &p1, 0.3);
                for p in &mut exchanged {
                    (p.point1, p.point2) = (p.point2, p.point1);
                    p.normal = -p.normal;
                    p.feature = p.feature.rotate_left(32);
                }
                assert_eq!(straight, exchanged, "{} {}", s1.kind(), s2.kind());
                seen += straight.len();
            }
        }
    }
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn points_obey_the_definition_of_the_gap() {
    let mut dice = Dice(2);
    let mut shapes = convex_solids();
    shapes.extend(terrains());
    for s1 in &shapes {
        for s2 in &shapes {
            for _ in 0..100 {
                let (p1, p2) = (dice.pose(0.8), dice.pose(0.8));
                let reach = 0.2 * dice.unit();
                let found = points(s1, &p1, s2, &p2, reach);
                assert!(
                    found.len() <= crate::geometry::clip::MOST_CORNERS || !(s1.is_convex() && s2.is_convex()),
                    "{} {}",
                    s1.kind(),
                    s2.kind()
                );
                for p in found {
                    assert!((p.normal.length() - 1.0).abs() < 1e-14 && p.gap <= reach);
                    let error = (p.point1 - p.point2 - p.gap * p.normal).length();
                    assert!(error < 3e-15, "{} {}: {error:e}", s1.kind(), s2.kind());
                }
            }
        }
    }
}

#[test]
fn a_pose_that_is_not_a_number_has_no_contacts() {
    let mut shapes = convex_solids();
    shapes.push(Shape::half_space(DVec3::Z).unwrap());
    shapes.extend(terrains());
    for s1 in &shapes {
        for s2 in &shapes {
            let found = points(s1, &Pose::at(DVec3::splat(f64::NAN)), s2, &Pose::IDENTITY, 1.0);
            assert!(found.is_empty(), "{} {}", s1.kind(), s2.kind());
        }
    }
}
