//! Sticking, sliding and rolling under Coulomb's law; the cheap cube at rest.

use super::common::{Fallible, G, friction, position, scene, velocity};
use drystone::geometry::Shape;
use drystone::model::newton_euler::Locks;
use drystone::model::scheme::Treatment;
use drystone::simulation::{Body, Event};
use glam::{DQuat, DVec3};

/// Gravity on a plane that is tilted by `angle`, its slope turned by `heading` about the normal.
fn tilted(angle: f64, heading: f64) -> DVec3 {
    G * DVec3::new(angle.sin() * heading.cos(), angle.sin() * heading.sin(), -angle.cos())
}

#[test]
fn a_box_on_an_incline_slides_with_coulombs_acceleration_in_every_direction() -> Fallible {
    for heading in [0.0, 37f64.to_radians(), 2.0] {
        for (mu, offset) in [(0.3, 0.5), (0.3, 2.0), (0.3, 5.0), (0.577, 0.5), (0.577, 5.0), (0.3, -0.5)] {
            let mut sim = scene(2e-3, Treatment::default(), friction(mu), 1e-12)?;
            let stone = Body::new(Shape::cuboid(DVec3::new(0.1, 0.1, 0.05))?).density(2000.0).at(DVec3::Z * 0.05);
            let stone = sim.spawn_body(stone)?;
            let angle = f64::atan(mu) + f64::to_radians(offset);
            sim.at(0.5, Event::Gravity(tilted(angle, heading)))?;
            sim.run_until(0.5)?;
            let rest = position(&sim, stone);
            let down = DVec3::new(heading.cos(), heading.sin(), 0.0);
            sim.run_until(0.6)?;
            let start = velocity(&sim, stone).linear.dot(down);
            let last = sim.run_until(1.5)?;
            assert!(last.converged && last.report.e_s <= 1e-12, "{last:?}");
            let acceleration = (velocity(&sim, stone).linear.dot(down) - start) / 0.9;
            let exact = (G * (angle.sin() - mu * angle.cos())).max(0.0);
            if exact == 0.0 {
                let creep = (position(&sim, stone) - rest).length();
                assert!(creep < 1e-8, "creeps {creep}");
            } else {
                assert!((acceleration / exact - 1.0).abs() < 1e-6, "mu {mu} offset {offset}: {acceleration} against {exact}");
            }
            assert!(last.balance.error() < 1e-6, "{:?}", last.balance);
        }
    }
    Ok(())
}

#[test]
fn a_sphere_rolls_or_slips_down_an_incline_as_its_friction_allows() -> Fallible {
    let alpha = 30f64.to_radians();
    for (mu, exact, spin) in [(0.3, 3.503571, 3.503571), (0.1, 4.055429, 2.123927)] {
        let mut sim = scene(1e-3, Treatment::default(), friction(mu), 1e-12)?;
        let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 0.1))?;
        let mut scheme = *sim.scheme();
        scheme.gravity = tilted(alpha, 37f64.to_radians());
        sim.set_scheme(scheme)?;
        sim.run_until(0.1)?;
        let v0 = velocity(&sim, ball);
        sim.run_until(1.1)?;
        let v = velocity(&sim, ball);
        let acceleration = v.linear.length() - v0.linear.length();
        let rolling = 0.1 * (v.angular.length() - v0.angular.length());
        assert!((acceleration / exact - 1.0).abs() < 1e-6, "{acceleration}");
        assert!((rolling / spin - 1.0).abs() < 1e-6, "{rolling}");
    }
    Ok(())
}

#[test]
fn a_sliding_ball_begins_to_roll_when_friction_has_turned_it() -> Fallible {
    let h = 1e-4;
    let mut sim = scene(h, Treatment::default(), friction(0.2), 1e-12)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 0.1).moving(DVec3::X * 5.0))?;
    let mut rolls_at = None;
    while sim.time() < 1.0 {
        sim.step()?;
        let v = velocity(&sim, ball);
        if rolls_at.is_none() && v.linear.x - 0.1 * v.angular.length() < 1e-9 {
            rolls_at = Some((sim.time(), position(&sim, ball).x));
        }
    }
    let (time, x) = rolls_at.ok_or("never rolls")?;
    assert!((time - 0.728120).abs() <= h + 1e-6, "{time}");
    assert!((x - 3.120514).abs() < 5.0 * h, "{x}");
    assert!((velocity(&sim, ball).linear.x - 25.0 / 7.0).abs() < 1e-6);
    Ok(())
}

#[test]
fn a_resting_cube_costs_few_sweeps() -> Fallible {
    let mut sim = scene(2e-3, Treatment::default(), friction(0.5), 1e-8)?;
    sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).density(2000.0).at(DVec3::Z * 0.1).turned(DQuat::from_rotation_z(0.3)))?;
    let first = sim.step()?;
    assert!(first.converged && first.report.iterations + first.report.factorisations <= 100, "{first:?}");
    let mut worst = 0;
    for _ in 0..200 {
        let report = sim.step()?;
        assert!(report.converged && report.report.e_s <= 1e-8);
        worst = worst.max(report.report.iterations);
    }
    println!("from zero {} sweeps, warm at most {worst}", first.report.iterations);
    assert!(worst <= 5, "{worst}");
    Ok(())
}

/// In the plane only: the second tangent of every contact cannot move.
#[test]
fn a_block_in_a_slot_slides_to_its_stop_and_stays() -> Fallible {
    let mut sim = scene(1e-3, Treatment::default(), friction(0.4), 1e-10)?;
    let stone = Body::new(Shape::cuboid(DVec3::new(0.3, 0.2, 0.1))?).at(DVec3::Z * 0.1).moving(DVec3::X);
    let stone = sim.spawn_body(stone.locked(Locks { translation: [false, true, false], rotation: [true, false, true] }))?;
    let last = sim.run_until(1.0)?;
    assert!(last.converged, "{last:?}");
    assert!(velocity(&sim, stone).linear.length() < 1e-9, "{:?}", velocity(&sim, stone));
    let way = 1.0 / (2.0 * 0.4 * G);
    assert!((position(&sim, stone).x - way).abs() < 1e-3, "{} against {way}", position(&sim, stone).x);
    Ok(())
}
