//! Bodies that start within each other are parted at a bounded speed.

use super::common::{Fallible, GAP_AWARE, friction, pose, space, velocity};
use drystone::algebra::spatial::Pose;
use drystone::geometry::{Scratch, Shape, contact_points};
use drystone::model::law::ContactLaws;
use drystone::simulation::Body;
use glam::{DQuat, DVec3};

/// Runs two bodies without gravity until they are apart, and returns their largest speed.
fn part(shapes: [Shape; 2], poses: [Pose; 2], h: f64) -> Fallible<f64> {
    let mut sim = space(h, GAP_AWARE, 0.0, 1e-6)?;
    sim.set_laws(ContactLaws::uniform(friction(0.5)))?;
    let mut bodies = Vec::new();
    for (shape, p) in shapes.iter().zip(poses) {
        bodies.push(sim.spawn_body(Body::new(shape.clone()).density(2500.0).at(p.position).turned(p.rotation))?);
    }
    let size = shapes.iter().map(Shape::smallest_length).fold(f64::INFINITY, f64::min);
    let push = 0.1 * (9.81 * size).sqrt();
    let mut fastest = 0f64;
    for _ in 0..(6.0 / h) as usize {
        let report = sim.step()?;
        assert!(report.balance.error() < 1e-9);
        let speed = bodies.iter().map(|&b| velocity(&sim, b).linear.length()).fold(0.0, f64::max);
        fastest = fastest.max(speed);
        assert!(speed < 2.0 * push, "{speed} m/s at {} s, pushed at {push} m/s", sim.time());
    }
    let end = sim.step()?;
    assert!(
        end.penetration < 0.01 * size,
        "still {} m deep at {:?}",
        end.penetration,
        bodies.iter().map(|&b| pose(&sim, b)).collect::<Vec<_>>()
    );
    Ok(fastest)
}

fn angle() -> Fallible<Shape> {
    let long = Shape::cuboid(DVec3::new(1.0, 0.5, 0.25))?;
    let short = Shape::cuboid(DVec3::new(0.5, 0.5, 0.25))?;
    Ok(Shape::compound(vec![(Pose::at(DVec3::new(1.0, 0.5, 0.25)), long), (Pose::at(DVec3::new(0.5, 1.5, 0.25)), short)])?)
}

#[test]
fn cubes_that_start_half_inside_each_other_part_slowly_at_any_step() -> Fallible {
    for h in [2e-3, 2.5e-4] {
        let cube = Shape::cuboid(DVec3::splat(0.1))?;
        let turned = Pose { position: DVec3::new(0.1, 0.03, 0.02), rotation: DQuat::from_rotation_z(0.3) };
        part([cube.clone(), cube], [Pose::IDENTITY, turned], h)?;
    }
    Ok(())
}

#[test]
fn blocks_that_share_an_edge_do_not_enter_each_other() -> Fallible {
    let side = 0.2;
    let cube = Shape::cuboid(DVec3::splat(0.5 * side))?;
    for (gap, along) in [(0.0, 0.0), (1e-8, 0.05), (-1e-9, 0.1), (1e-3, 0.0)] {
        for speed in [1e-3, 0.01, 0.1, 0.5, 2.0, 20.0] {
            let mut sim = space(2e-3, GAP_AWARE, 0.0, 1e-8)?;
            sim.set_laws(ContactLaws::uniform(friction(0.3)))?;
            let one = sim.spawn_body(Body::new(cube.clone()).density(2000.0))?;
            let start = DVec3::new(side + gap, along, side + gap);
            let moving = Body::new(cube.clone()).density(2000.0).at(start).moving(speed * DVec3::new(-1.0, 0.0, -1.0));
            let other = sim.spawn_body(moving)?;
            let (mut deepest, mut points, mut scratch) = (0f64, Vec::new(), Scratch::default());
            for _ in 0..100 {
                sim.step()?;
                points.clear();
                contact_points(&cube, &pose(&sim, one), &cube, &pose(&sim, other), 0.0, &mut scratch, &mut points);
                deepest = points.iter().map(|p| -p.gap).fold(deepest, f64::max);
            }
            // what counts as flush, and the way of one step as long as that is not looked ahead
            let allowed = 3e-4 * side + (2e-3 * speed).min(5e-3 * side) + 1e-7;
            assert!(deepest <= allowed, "{deepest} m deep at {speed} m/s, gap {gap}");
        }
    }
    Ok(())
}

#[test]
fn angles_that_start_within_each_other_part_slowly() -> Fallible {
    let place = |x: DVec3, axis: DVec3, angle: f64| Pose { position: x, rotation: DQuat::from_axis_angle(axis.normalize(), angle) };
    let one = place(DVec3::new(-0.5, -0.3, 0.4), DVec3::new(-0.04, -0.93, 0.36), 0.2834);
    let other = place(DVec3::new(-0.3, -0.17, 0.4), DVec3::new(0.8, -0.555, -0.227), 2.774);
    let mut points = Vec::new();
    contact_points(&angle()?, &one, &angle()?, &other, 0.0, &mut Scratch::default(), &mut points);
    assert!(points.iter().any(|p| p.gap < -0.01), "they do not overlap: {points:?}");
    for h in [1e-3, 1e-4] {
        part([angle()?, angle()?], [one, other], h)?;
    }
    Ok(())
}
