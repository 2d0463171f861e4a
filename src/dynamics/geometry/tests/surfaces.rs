//! Meshes and height fields.

use glam::{DQuat, DVec3};

use super::{Dice, as_hull, block, distance, points};
use crate::algebra::spatial::Pose;
use crate::geometry::Shape;
use crate::geometry::polyhedron::Polyhedron;

/// A floor of two triangles, from −2 to 2.
fn floor() -> Shape {
    let corners = [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)].map(|(x, y)| DVec3::new(x, y, 0.0));
    Shape::mesh(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap()
}

#[test]
fn a_box_on_a_floor_of_two_triangles_stands_on_four_corners() {
    let brick = block(0.4, 0.2, 0.1);
    for (gap, spin) in [(0.0, 0.0), (1e-9, 0.3), (-1e-9, 0.7), (-1e-3, 1.0)] {
        let pose = Pose::new(DVec3::new(0.03, -0.02, 0.1 + gap), DQuat::from_rotation_z(spin));
        for shape in [&brick, &as_hull(&brick)] {
            let found = points(shape, &pose, &floor(), &Pose::IDENTITY, 1e-2);
            assert_eq!(found.len(), 4, "{gap:e} {spin}");
            for p in found {
                assert_eq!(p.normal, DVec3::Z);
                assert!((p.gap - gap).abs() < 1e-15);
                let corner = pose.local_point(p.point1).abs() - DVec3::new(0.4, 0.2, 0.1);
                assert!(corner.length() < 1e-14);
            }
        }
    }
}

#[test]
fn a_bar_that_leans_around_the_rim_of_a_thin_plate_is_not_in_the_plate() {
    // a plate below z = 0 that ends at x = 0, of the triangles of a box
    let (low, high) = (DVec3::new(-1.0, -1.0, -0.01), DVec3::new(0.0, 1.0, 0.0));
    let corners: Vec<DVec3> = (0..8).map(|k| DVec3::select(glam::BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), high, low)).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let plate = Shape::mesh(&corners, &triangles).unwrap();
    let bar = as_hull(&block(0.5, 0.05, 0.02));
    for (tilt, y) in [30f64, 45.0, 60.0].into_iter().flat_map(|tilt| [0.0, 0.31].map(|y| (tilt, y))) {
        // its lower face passes 3 mm beside the upper edge, its middle slides from over the plate to under it
        let (sin, cos) = tilt.to_radians().sin_cos();
        for way in (-40..=40).map(|k| 0.01 * f64::from(k)) {
            let middle = 0.023 * DVec3::new(sin, 0.0, cos) + way * DVec3::new(cos, 0.0, -sin) + y * DVec3::Y;
            let pose = Pose::new(middle, DQuat::from_rotation_y(tilt.to_radians()));
            let found = points(&bar, &pose, &plate, &Pose::IDENTITY, 0.01);
            let least = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            assert!((least - 0.003).abs() < 1e-9, "{tilt} {y} {way}: {least}");
        }
    }
}

#[test]
fn nothing_jumps_while_shapes_slide_over_inner_edges() {
    let bumpy: Vec<f64> = vec![0.0; 49];
    let floors = [(floor(), Pose::IDENTITY), (Shape::height_field(&bumpy, 7, 0.5, 0.5).unwrap(), Pose::at(DVec3::new(-1.5, -1.5, 0.0)))];
    let mut dice = Dice(12);
    let shapes = [Shape::ball(0.2).unwrap(), block(0.3, 0.2, 0.1), Shape::capsule(0.2, 0.1).unwrap(), Shape::cylinder(0.1, 0.2).unwrap()];
    for (ground, place) in &floors {
        for shape in &shapes {
            let lying = matches!(shape, Shape::Capsule { .. });
            for gap in [-1e-3, -1e-9, 0.0, 1e-9, 1e-3] {
                for k in 0..400 {
                    let height = match shape {
                        Shape::Ball { .. } => 0.2,
                        _ => 0.1,
                    };
                    let spin = DQuat::from_rotation_z(6.0 * dice.unit());
                    let rotation = if lying { spin * DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2) } else { spin };
                    let x = DVec3::new(0.005 * f64::from(k) - 1.0, 0.0048 * f64::from(k) - 1.0, height + gap);
                    let found = points(shape, &Pose::new(x, rotation), ground, place, 5e-3);
                    assert!(!found.is_empty() && found.len() <= 8, "{} {k}", shape.kind());
                    for p in &found {
                        assert!((p.normal - DVec3::Z).length() < 1e-14, "{} {k} {gap:e} {p:?}", shape.kind());
                        assert!((p.gap - gap).abs() < 1e-14, "{} {k} {gap:e} {p:?}", shape.kind());
                    }
                }
            }
        }
    }
}

#[test]
fn a_closed_mesh_of_a_box_pushes_a_ball_as_the_box_does() {
    let brick = block(0.5, 0.3, 0.4);
    let poly = Polyhedron::cuboid(DVec3::new(0.5, 0.3, 0.4));
    let mesh = Shape::mesh(&poly.vertices, &poly.triangles()).unwrap();
    let (ball, mut dice, mut compared) = (Shape::ball(0.2).unwrap(), Dice(13), 0);
    for _ in 0..5000 {
        let (p1, p2) = (dice.pose(0.8), dice.pose(0.1));
        let outside = distance(&Shape::ball(1e-9).unwrap(), &p1, &brick, &p2) > 1e-3;
        let (on_box, on_mesh) = (points(&ball, &p1, &brick, &p2, 0.1), points(&ball, &p1, &mesh, &p2, 0.1));
        if !outside {
            continue;
        }
        assert_eq!(on_box.is_empty(), on_mesh.is_empty());
        if let (Some(b), Some(m)) = (on_box.first(), on_mesh.iter().min_by(|a, b| a.gap.total_cmp(&b.gap))) {
            assert!((b.gap - m.gap).abs() < 1e-13 && (b.normal - m.normal).length() < 1e-12, "{b:?} {m:?}");
            assert_eq!(on_mesh.len(), 1);
            compared += 1;
        }
    }
    assert!(compared > 1000);
}

#[test]
fn a_brick_over_the_edge_of_a_mesh_rests_on_the_overlap() {
    let poly = Polyhedron::cuboid(DVec3::new(0.5, 0.4, 0.1));
    let slab = Shape::mesh(&poly.vertices, &poly.triangles()).unwrap();
    let brick = block(0.4, 0.2, 0.1);
    for gap in [1e-4, 1e-9, 0.0, -1e-9, -1e-4] {
        let found = points(&brick, &Pose::at(DVec3::new(0.3, 0.1, 0.2 + gap)), &slab, &Pose::IDENTITY, 1e-3);
        let mut corners: Vec<(f64, f64)> = found.iter().map(|p| (p.point1.x, p.point1.y)).collect();
        corners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        assert_eq!(corners.len(), 4, "{gap:e} {found:?}");
        for (c, e) in corners.iter().zip([(-0.1, -0.1), (-0.1, 0.3), (0.5, -0.1), (0.5, 0.3)]) {
            assert!((c.0 - e.0).hypot(c.1 - e.1) < 1e-14, "{c:?}");
        }
        assert!(found.iter().all(|p| p.normal == DVec3::Z && (p.gap - gap).abs() < 1e-15));
    }
}

#[test]
fn a_board_on_a_roof_touches_along_the_ridge() {
    let corners = [(-1.0, -1.0, 0.0), (-1.0, 1.0, 0.0), (0.0, -1.0, 0.5), (0.0, 1.0, 0.5), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0)];
    let roof = Shape::mesh(&corners.map(|(x, y, z)| DVec3::new(x, y, z)), &[[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]]).unwrap();
    let board = block(0.4, 0.3, 0.05);
    for gap in [1e-4, 1e-9, 0.0, -1e-9, -1e-4] {
        let found = points(&board, &Pose::at(DVec3::new(0.1, 0.0, 0.55 + gap)), &roof, &Pose::IDENTITY, 1e-3);
        assert_eq!(found.len(), 2, "{gap:e} {found:?}");
        for p in &found {
            assert!((p.normal - DVec3::Z).length() < 1e-15 && (p.gap - gap).abs() < 1e-15);
            assert!(p.point2.x.abs() < 1e-15 && (p.point2.y.abs() - 0.3).abs() < 1e-15);
        }
    }
    // a ball on the ridge feels the ridge, a ball on a slope the slope
    let ball = Shape::ball(0.2).unwrap();
    let on_ridge = points(&ball, &Pose::at(DVec3::new(0.0, 0.1, 0.69)), &roof, &Pose::IDENTITY, 0.0);
    assert_eq!(on_ridge.len(), 1);
    assert!((on_ridge[0].normal - DVec3::Z).length() < 1e-15 && (on_ridge[0].gap + 0.01).abs() < 1e-15);
    let slope = DVec3::new(1.0, 0.0, 2.0).normalize();
    let on_slope = points(&ball, &Pose::at(DVec3::new(0.5, 0.1, 0.25) + slope * 0.19), &roof, &Pose::IDENTITY, 0.0);
    assert_eq!(on_slope.len(), 1);
    assert!((on_slope[0].normal - slope).length() < 1e-15 && (on_slope[0].gap + 0.01).abs() < 1e-15);
}

#[test]
fn an_edge_across_a_ridge_is_held_at_the_ridge_and_at_its_end() {
    let corners = [(-1.0, -1.0, 0.0), (-1.0, 1.0, 0.0), (0.0, -1.0, 0.5), (0.0, 1.0, 0.5), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0)];
    let roof = Shape::mesh(&corners.map(|(x, y, z)| DVec3::new(x, y, z)), &[[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]]).unwrap();
    // a brick on its edge that runs down the right slope, and over the ridge by 0.1
    let (brick, slope) = (block(0.3, 0.1, 0.1), DVec3::new(1.0, 0.0, 2.0).normalize());
    let along = DVec3::new(2.0, 0.0, -1.0).normalize();
    let on_edge = DQuat::from_rotation_x(0.7);
    let low = (0.1 * 2.0_f64.sqrt()) * (0.7 - std::f64::consts::FRAC_PI_4).cos();
    for lift in [1e-4, 1e-6, 1e-9, -1e-9, -1e-6, -1e-4] {
        // turned about the ridge, so that its end is `lift` above the slope
        for tilt in [1e-5, -1e-5, 1e-3, -1e-3] {
            let turn = DQuat::from_rotation_y(0.5_f64.atan() - tilt) * on_edge;
            let centre = DVec3::new(0.0, 0.05, 0.5) + 0.2 * along + (low + lift) * slope;
            let found = points(&brick, &Pose::new(centre, turn), &roof, &Pose::IDENTITY, 2e-3);
            let pose = Pose::new(centre, turn);
            let end = (0..8)
                .map(|i: i32| pose.point(DVec3::new(0.3, if i & 1 == 0 { 0.1 } else { -0.1 }, if i & 2 == 0 { 0.1 } else { -0.1 })))
                .min_by(|a, b| slope.dot(*a).total_cmp(&slope.dot(*b)))
                .unwrap();
            let gap = slope.dot(end - DVec3::new(0.0, 0.0, 0.5));
            let held =
                found.iter().any(|p| (p.point1 - end).length() < 1e-12 && (p.gap - gap).abs() < 1e-12 && p.normal.dot(slope) > 1.0 - 1e-12);
            assert!(held, "{lift:e} {tilt:e}: {end} at {gap:e} in {found:?}");
        }
    }
}
