//! Friction with a known shift: what it costs in accuracy, and that it always ends.

use super::common::{FORECAST, Fallible, GAP_AWARE, friction, position, scene, velocity};
use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::model::law::{ContactLaws, CoulombImpact, Impact};
use drystone::model::scheme::{Friction, Scheme};
use drystone::numerics::Status;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const MU: f64 = 0.4;

fn lagged(h: f64, gravity: DVec3, tolerance: f64) -> Fallible<Simulation> {
    let mut sim = scene(h, GAP_AWARE, friction(MU), tolerance)?;
    let scheme = *sim.scheme();
    sim.set_scheme(Scheme { friction: Friction::Lagged, gravity, ..scheme })?;
    Ok(sim)
}

fn stone(sim: &mut Simulation, speed: f64) -> Fallible<Entity> {
    let body = Body::new(Shape::cuboid(DVec3::new(0.1, 0.08, 0.05))?).density(2000.0).at(DVec3::Z * 0.05);
    Ok(sim.spawn_body(body.moving(DVec3::X * speed))?)
}

#[test]
fn the_error_of_a_sliding_box_and_its_defect_vanish_with_the_step() -> Fallible {
    let angle = f64::atan(MU) + 0.1;
    let gravity = 9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos());
    let acceleration = 9.81 * (angle.sin() - MU * angle.cos());
    let (mut errors, mut defects) = (Vec::new(), Vec::new());
    for h in [4e-3, 2e-3, 1e-3] {
        let mut sim = lagged(h, gravity, 1e-10)?;
        let body = stone(&mut sim, 0.0)?;
        let mut defect = 0f64;
        while sim.time() < 0.5 - 0.5 * h {
            let step = sim.step()?;
            assert!(step.converged && step.report.e_s <= 1e-10, "{step:?}");
            if sim.time() > 0.1 {
                defect = defect.max(step.lagged.expect("lagged"));
            }
        }
        errors.push((velocity(&sim, body).linear.x / (acceleration * sim.time()) - 1.0).abs());
        defects.push(defect);
    }
    for pair in errors.windows(2).chain(defects.windows(2)) {
        assert!(pair[1] < 0.6 * pair[0] || pair[1] < 1e-9, "errors {errors:?}, defects {defects:?}");
    }
    assert!(errors[2] < 5e-3 && defects[2] < 0.05, "errors {errors:?}, defects {defects:?}");
    Ok(())
}

#[test]
fn a_box_that_is_braked_stops_where_coulomb_stops_it_and_stays() -> Fallible {
    let exact = 1.0 / (2.0 * MU * 9.81);
    let mut errors = Vec::new();
    for h in [2e-3, 1e-3, 0.5e-3] {
        let mut sim = lagged(h, -9.81 * DVec3::Z, 1e-10)?;
        let body = stone(&mut sim, 1.0)?;
        sim.run_until(0.5)?;
        let stopped = position(&sim, body);
        errors.push((stopped.x / exact - 1.0).abs());
        let last = sim.run_until(1.0)?;
        assert!((position(&sim, body) - stopped).length() < 1e-9, "creeps");
        assert!(last.lagged.is_some_and(|defect| defect < 1e-8), "{last:?}");
    }
    assert!(errors[2] < 5e-3 && errors[2] < 0.6 * errors[0], "{errors:?}");
    Ok(())
}

#[test]
fn a_pour_comes_to_the_same_rest_as_with_coulombs_law() -> Fallible {
    let mut heights = Vec::new();
    for treatment in [Friction::Exact, Friction::Lagged] {
        let mut sim = lagged(1e-3, -9.81 * DVec3::Z, 1e-6)?;
        let scheme = *sim.scheme();
        sim.set_scheme(Scheme { friction: treatment, ..scheme })?;
        for normal in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y] {
            sim.spawn_body(Body::new(Shape::half_space(normal)?).fixed().at(-0.036 * normal))?;
        }
        let mut balls = Vec::new();
        for k in 0..45 {
            let (x, y, z) = (f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9));
            let place = DVec3::new(x * 0.022 - 0.022 + 2e-4 * f64::from((7 * k) % 5), y * 0.022 - 0.022, 0.012 + 0.022 * z);
            balls.push(sim.spawn_body(Body::new(Shape::ball(0.01)?).density(2500.0).at(place))?);
        }
        let (mut deepest, mut missed) = (0f64, 0);
        while sim.time() < 0.6 {
            let step = sim.step()?;
            assert!(step.converged || step.report.status == Status::Lagged, "{step:?}");
            missed += usize::from(!step.converged);
            deepest = deepest.max(step.penetration_size);
        }
        assert!(deepest < 0.01, "{treatment:?}: overlap of {deepest} of a ball");
        assert!(treatment == Friction::Exact || missed == 0, "{missed} steps of a convex problem were not solved");
        heights.push(balls.iter().map(|&b| position(&sim, b).z).sum::<f64>() / balls.len() as f64);
    }
    assert!((heights[1] / heights[0] - 1.0).abs() < 0.05, "mean heights {heights:?}");
    Ok(())
}

#[test]
fn an_oblique_impact_rebounds_as_fast_as_its_restitution_says_under_every_law_of_impact() -> Fallible {
    let law = |e_t, impact| CoulombImpact { mu: 0.1, e_n: 0.6, e_t, impact, ..CoulombImpact::default() };
    for (law, slack) in [(law(0.0, Impact::Newton), 5e-3), (law(0.5, Impact::Newton), 5e-3), (law(0.0, Impact::Fremond), 5e-3)] {
        for treatment in [GAP_AWARE, FORECAST] {
            let mut sim = lagged(2.5e-4, DVec3::ZERO, 1e-10)?;
            let scheme = *sim.scheme();
            sim.set_scheme(Scheme { treatment, ..scheme })?;
            sim.set_laws(ContactLaws::uniform(law))?;
            let ball = sim.spawn_body(Body::new(Shape::ball(0.05)?).at(DVec3::Z * 0.1).moving(DVec3::new(2.0, 0.0, -1.0)))?;
            sim.run_until(0.2)?;
            let up = velocity(&sim, ball).linear.z;
            assert!((up / 0.6 - 1.0).abs() < slack, "{law:?} {treatment:?}: leaves at {up} m/s, not at 0.6");
        }
    }
    Ok(())
}

#[test]
fn friction_may_become_exact_within_a_run() -> Result<(), Box<dyn std::error::Error>> {
    let build = || -> Result<_, Box<dyn std::error::Error>> {
        let mut sim = Simulation::new(Scheme { friction: Friction::Lagged, ..Scheme::default() })?;
        sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.5, ..CoulombImpact::default() }))?;
        let mut bodies = vec![sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?];
        for k in 0..6 {
            let (x, z) = (0.01 * f64::from(k), 0.1 + 0.2 * f64::from(k));
            let cube = Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::new(x, 0.0, z)).moving(DVec3::X * f64::from(k));
            bodies.push(sim.spawn_body(cube)?);
        }
        Ok((sim, bodies))
    };
    let exact = |sim: &mut Simulation| sim.set_scheme(Scheme { friction: Friction::Exact, ..*sim.scheme() });
    let (mut straight, bodies) = build()?;
    straight.advance(50)?;
    let (mut fresh, own) = build()?;
    fresh.restore(&straight.save(&bodies), &own)?;
    for sim in [&mut straight, &mut fresh] {
        exact(sim)?;
        for _ in 0..150 {
            let report = sim.step()?;
            assert!(report.converged && report.lagged.is_none(), "{report:?}");
        }
    }
    assert_eq!(straight.state_hash(), fresh.state_hash());
    Ok(())
}
