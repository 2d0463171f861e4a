//! Laws and materials that change while bodies touch: they act from the next step on, and a resumed run goes on like the straight one.

use super::scene::Fallible;
use bevy_ecs::prelude::Entity;
use drystone::geometry::{Shape, systems::Collider};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::Velocity;
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

fn friction(mu: f64) -> CoulombImpact {
    CoulombImpact { mu, ..CoulombImpact::default() }
}

/// A stone on a slope of 20°, made by tilting gravity, and one on top of it; material 1 is slippery.
fn slope() -> Fallible<(Simulation, Vec<Entity>)> {
    let gravity = 9.81 * DVec3::new(0.342_020_143_325_668_7, 0.0, -0.939_692_620_785_908_4);
    let mut sim = Simulation::new(Scheme { time_step: 2e-3, gravity, ..Scheme::default() })?;
    sim.set_laws(rough())?;
    let mut bodies = vec![sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?];
    for k in 0..2 {
        let stone = Body::new(Shape::cuboid(DVec3::new(0.1, 0.1, 0.05))?).at(DVec3::Z * (0.05 + 0.1 * f64::from(k)));
        bodies.push(sim.spawn_body(stone)?);
    }
    Ok((sim, bodies))
}

fn rough() -> ContactLaws {
    let mut laws = ContactLaws::uniform(friction(0.8));
    laws.set(0, 1, friction(0.05));
    laws
}

fn speed(sim: &Simulation, body: Entity) -> f64 {
    sim.world().get::<Velocity>(body).expect("alive").linear.x
}

#[test]
fn a_change_of_laws_acts_on_bodies_that_touch_and_survives_a_resumption() -> Fallible {
    let (mut straight, bodies) = slope()?;
    straight.run_until(0.2)?;
    assert!(speed(&straight, bodies[1]).abs() < 1e-9, "rough stones stand: {}", speed(&straight, bodies[1]));
    let slippery = ContactLaws::uniform(friction(0.1));
    straight.set_laws(slippery.clone())?;
    straight.run_until(0.3)?;
    // g (sin α − μ cos α) for 0.1 s
    let expected = 9.81 * (0.342_020_143_325_668_7 - 0.1 * 0.939_692_620_785_908_4) * 0.1;
    let found = speed(&straight, bodies[1]);
    assert!((found / expected - 1.0).abs() < 1e-3, "slides at {found}, expected {expected}");
    let saved = straight.save(&bodies);
    straight.run_until(0.5)?;

    let (mut resumed, bodies) = slope()?;
    resumed.set_laws(slippery)?;
    resumed.restore(&saved, &bodies)?;
    resumed.run_until(0.5)?;
    assert_eq!(resumed.state_hash(), straight.state_hash());
    Ok(())
}

#[test]
fn a_change_of_material_does_too() -> Fallible {
    let polish = |sim: &mut Simulation, body: Entity| sim.world_mut().get_mut::<Collider>(body).expect("a collider").material = 1;
    let (mut straight, bodies) = slope()?;
    straight.run_until(0.2)?;
    polish(&mut straight, bodies[2]);
    straight.run_until(0.3)?;
    let [lower, upper] = [1, 2].map(|k| speed(&straight, bodies[k]));
    assert!(lower.abs() < 1e-6 && upper > 0.2, "the upper stone alone slides: {lower} {upper}");
    let saved = straight.save(&bodies);
    straight.run_until(0.4)?;

    let (mut resumed, bodies) = slope()?;
    polish(&mut resumed, bodies[2]);
    resumed.restore(&saved, &bodies)?;
    resumed.run_until(0.4)?;
    assert_eq!(resumed.state_hash(), straight.state_hash());
    Ok(())
}

#[test]
fn a_law_out_of_range_is_refused_before_it_acts() -> Fallible {
    let (mut sim, bodies) = slope()?;
    for (law, text) in [
        (friction(-0.1), "mu is -0.1; a number from 0 to 1000000 is needed"),
        (friction(f64::NAN), "mu is NaN; a number from 0 to 1000000 is needed"),
        (friction(2e6), "mu is 2000000; a number from 0 to 1000000 is needed"),
        (CoulombImpact { e_n: 1.1, ..friction(0.1) }, "e_n is 1.1; a number from 0 to 1 is needed"),
    ] {
        let mut laws = rough();
        laws.set(3, 1, law);
        assert_eq!(sim.set_laws(laws).unwrap_err().to_string(), format!("the law of materials 1 and 3: {text}"));
        assert!(sim.set_laws(ContactLaws::uniform(law)).unwrap_err().to_string().ends_with(text));
    }
    sim.run_until(0.1)?;
    assert!(speed(&sim, bodies[1]).abs() < 1e-9, "the laws before still hold");
    Ok(())
}
