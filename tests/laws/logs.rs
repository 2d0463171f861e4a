//! Three logs, one on two that touch. The lower ones are kept from rolling apart by friction alone.
//!
//! ```text
//! F = (2 − √3)/2 · W_top        on each lower log, at the ground and at the top log alike (moments about its axis)
//! N = W_side + W_top/2          on the ground, so that it stands for μ ≥ F/N
//! ```

use super::common::{Fallible, G, GAP_AWARE, position, space, velocity};
use drystone::geometry::Shape;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::simulation::Body;
use glam::{DQuat, DVec3};
use std::f64::consts::FRAC_PI_2;

const R: f64 = 0.15;
const LOG: u32 = 0;
const EARTH: u32 = 1;
const WALL: u32 = 2;

/// How far the top log has moved after `time` (s) at `factor` times the friction that is needed; shapes are those of left, right, top.
fn drift(shapes: &[Shape; 3], walls: bool, factor: f64, time: f64) -> Fallible<f64> {
    let mut sim = space(1e-3, GAP_AWARE, G, 1e-6)?;
    let mass = |k: usize| shapes[k].mass_properties(600.0).map(|m| m.mass);
    let (side, top) = (mass(0)?.min(mass(1)?), mass(2)?);
    let mu = factor * (2.0 - 3f64.sqrt()) / 2.0 * top / (side + 0.5 * top);
    let friction = |mu| CoulombImpact { mu, ..CoulombImpact::default() };
    let mut laws = ContactLaws::uniform(friction(0.0));
    laws.set(LOG, LOG, friction(1.0));
    laws.set(LOG, EARTH, friction(mu));
    sim.set_laws(laws)?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed().material(EARTH))?;
    if walls {
        for n in [DVec3::Y, DVec3::NEG_Y] {
            sim.spawn_body(Body::new(Shape::half_space(n)?).fixed().at(-R * n).material(WALL))?;
        }
    }
    let places = [DVec3::new(-R, 0.0, R), DVec3::new(R, 0.0, R), DVec3::new(0.0, 0.0, R * (1.0 + 3f64.sqrt()))];
    let mut logs = Vec::new();
    for (shape, place) in shapes.iter().zip(places) {
        let log = Body::new(shape.clone()).density(600.0).at(place).turned(DQuat::from_rotation_x(FRAC_PI_2));
        logs.push(sim.spawn_body(log.material(LOG))?);
    }
    let end = sim.run_until(time)?;
    assert!(end.converged);
    if factor > 1.0 {
        assert!(logs.iter().all(|&log| velocity(&sim, log).linear.length() < 1e-9));
    }
    Ok(logs.iter().zip(places).map(|(&log, place)| position(&sim, log).distance(place)).fold(0.0, f64::max))
}

fn stands_above_the_threshold_and_falls_below(shapes: [Shape; 3], walls: bool) -> Fallible {
    let stays = drift(&shapes, walls, 1.02, 30.0)?;
    assert!(stays < 1e-6 * R, "{}: moved by {stays} m", shapes[0].kind());
    let falls = drift(&shapes, walls, 0.98, 5.0)?;
    assert!(falls > 0.5 * R, "{}: moved by {falls} m only", shapes[0].kind());
    Ok(())
}

#[test]
fn three_capsules_stand_as_long_as_friction_suffices() -> Fallible {
    stands_above_the_threshold_and_falls_below([Shape::capsule(0.5, R)?, Shape::capsule(0.5, R)?, Shape::capsule(0.5, R)?], false)?;
    stands_above_the_threshold_and_falls_below([Shape::capsule(0.5, R)?, Shape::capsule(0.5, R)?, Shape::capsule(0.46, R)?], false)
}

#[test]
fn three_cylinders_stand_as_long_as_friction_suffices() -> Fallible {
    stands_above_the_threshold_and_falls_below([Shape::cylinder(0.5, R)?, Shape::cylinder(0.5, R)?, Shape::cylinder(0.5, R)?], false)
}

#[test]
fn three_balls_between_walls_stand_as_long_as_friction_suffices() -> Fallible {
    stands_above_the_threshold_and_falls_below([Shape::ball(R)?, Shape::ball(R)?, Shape::ball(R)?], true)
}
