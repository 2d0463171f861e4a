//! Bodies that pass much of their size within a step meet what is in their way, as they meet it, and nothing else.

use super::common::{Fallible, GAP_AWARE, position, restitution, space, velocity};
use bevy_ecs::prelude::Entity;
use drystone::algebra::spatial::Pose;
use drystone::geometry::Shape;
use drystone::model::law::ContactLaws;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const RADIUS: f64 = 0.005;

/// A ball at speed `v` along x towards one of radius `r`, 1 m away, that it would pass at a distance of `offset` of the centres.
fn shot(h: f64, v: f64, r: f64, offset: f64, e: f64, start: f64) -> Fallible<(Simulation, [Entity; 2])> {
    let mut sim = space(h, GAP_AWARE, 0.0, 1e-9)?;
    sim.set_laws(ContactLaws::uniform(restitution(e)))?;
    let target = sim.spawn_body(Body::new(Shape::ball(r)?).at(DVec3::X))?;
    let bullet = Body::new(Shape::ball(RADIUS)?).at(DVec3::new(start, 0.0, offset)).moving(DVec3::X * v);
    let bullet = sim.spawn_body(bullet)?;
    for _ in 0..(1.6 / v / h) as usize + 4 {
        assert!(sim.step()?.converged);
    }
    Ok((sim, [target, bullet]))
}

#[test]
fn a_ball_that_misses_is_not_deflected() -> Fallible {
    for (h, v, clear) in [(1e-3, 10.0, 5e-4), (1e-3, 500.0, 1e-5), (5e-3, 200.0, 1e-4), (2e-4, 2000.0, 5e-4)] {
        for start in [0.0, 0.123, -0.237] {
            let (sim, [target, bullet]) = shot(h, v, 0.02, RADIUS + 0.02 + clear, 0.5, start)?;
            assert_eq!(velocity(&sim, target).linear, DVec3::ZERO, "{v} m/s, {clear} m clear");
            assert_eq!(velocity(&sim, bullet).linear, DVec3::X * v, "{v} m/s, {clear} m clear");
        }
    }
    Ok(())
}

/// Two balls that meet off their centres exchange `(1 + e) m₁ m₂ / (m₁ + m₂) v·n` along the line of centres at the impact.
#[test]
fn fast_balls_part_as_the_place_of_their_impact_says() -> Fallible {
    for (h, v, r, e) in [(1e-3, 500.0, 0.02, 0.5), (5e-3, 50.0, 0.005, 0.9), (2e-4, 2000.0, 0.003, 0.0), (1e-3, 200.0, 0.05, 0.0)] {
        for sine in [0.0, 0.4, 0.9, 0.99] {
            for start in [0.0, -0.31, 0.17] {
                let (sim, [target, bullet]) = shot(h, v, r, sine * (r + RADIUS), e, start)?;
                let n = DVec3::new(-(1.0 - sine * sine).sqrt(), 0.0, sine);
                let (m1, m2) = (RADIUS.powi(3), r.powi(3));
                let impulse = -(1.0 + e) * v * n.x / (1.0 / m1 + 1.0 / m2);
                let exact = [-n * impulse / m2, DVec3::X * v + n * impulse / m1];
                for (body, exact) in [target, bullet].into_iter().zip(exact) {
                    let found = velocity(&sim, body).linear;
                    assert!((found - exact).length() < 1e-4 * v, "{v} m/s at {sine}, r {r}, e {e}: {found} against {exact}");
                }
            }
        }
    }
    Ok(())
}

/// A wall of 10 mm as a solid of any kind, seen from −x.
fn walls() -> Fallible<Vec<Shape>> {
    let half = DVec3::new(0.005, 0.5, 0.5);
    let corners: Vec<DVec3> = (0..8).map(|k| half * DVec3::from_array([1, 2, 4].map(|bit| if k & bit > 0 { 1.0 } else { -1.0 }))).collect();
    let cuboid = Shape::cuboid(half)?;
    let pair = vec![(Pose::at(DVec3::Y * 0.5), Shape::cuboid(half)?), (Pose::at(DVec3::Y * -0.5), Shape::cuboid(half)?)];
    let thin = Shape::cuboid(DVec3::new(5e-5, 0.5, 0.5))?;
    Ok(vec![cuboid, Shape::hull(&corners)?, Shape::compound(pair)?, thin])
}

#[test]
fn no_ball_passes_a_wall_wherever_it_starts() -> Fallible {
    for wall in walls()? {
        for (h, v, e, aslant) in [(1e-3, 500.0, 0.5, 0.0), (1e-3, 500.0, 0.0, 30.0), (5e-3, 200.0, 0.9, 10.0), (2e-4, 2000.0, 0.5, 0.0)] {
            for start in [-0.4, -0.33, -0.1, 0.0, 0.21] {
                let mut sim = space(h, GAP_AWARE, 9.81, 1e-6)?;
                sim.set_laws(ContactLaws::uniform(restitution(e)))?;
                sim.spawn_body(Body::new(wall.clone()).at(DVec3::X).fixed())?;
                let bullet = Body::new(Shape::ball(RADIUS)?).at(DVec3::new(start, 0.013, 0.0));
                let bullet = sim.spawn_body(bullet.moving(DVec3::new(v, aslant, 0.0)))?;
                for _ in 0..(1.5 / v / h) as usize + 4 {
                    sim.step()?;
                }
                let (x, u) = (position(&sim, bullet).x, velocity(&sim, bullet).linear.x);
                assert!(x < 1.0 && (u + e * v).abs() < 1e-3 * v, "{} at {v} m/s from {start}, e {e}: {x} m, {u} m/s", wall.kind());
            }
        }
    }
    Ok(())
}

/// A light ball at rest that a heavy one throws meets a third, which no row of the step had looked at.
#[test]
fn a_thrown_ball_does_not_end_within_the_next() -> Fallible {
    for gap in [0.002, 0.005, 0.009] {
        let mut sim = space(1e-3, GAP_AWARE, 9.81, 1e-6)?;
        let ball = |x: f64, mass: f64| -> Fallible<Body> { Ok(Body::new(Shape::ball(0.05)?).mass(mass).at(DVec3::X * x)) };
        sim.spawn_body(ball(-0.1, 100.0)?.moving(DVec3::X * 10.0))?;
        sim.spawn_body(ball(0.0, 1.0)?)?;
        sim.spawn_body(ball(0.1 + gap, 1.0)?)?;
        let mut deepest = 0f64;
        for _ in 0..20 {
            let report = sim.step()?;
            assert!(report.converged, "{gap}: {report:?}");
            deepest = deepest.max(report.penetration_size);
        }
        assert!(deepest < 0.01, "{deepest} of a ball at a gap of {gap} m");
    }
    Ok(())
}
