//! What a host does between steps: birth, death, abort, and a load that fails.

use super::scene::{Fallible, TREATMENTS, everything};
use bevy_ecs::prelude::Entity;
use drystone::geometry::{Shape, systems::Proximity};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::newton_euler::{AppliedForce, BodyName, BodyPose, Velocity};
use drystone::model::operator::Operator;
use drystone::simulation::{Body, Event, Simulation, SimulationError};
use drystone::topology::bodies::Slot;
use glam::DVec3;
use std::sync::Arc;

fn height(sim: &Simulation, body: Entity) -> f64 {
    sim.world().get::<BodyPose>(body).expect("alive").0.position.z
}

fn floor_and_tower() -> Fallible<(Simulation, [Entity; 2])> {
    let mut sim = Simulation::default();
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed().named("floor"))?;
    let block = |z: f64, name: &str| -> Fallible<Body> { Ok(Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::Z * z).named(name)) };
    let lower = sim.spawn_body(block(0.1, "lower")?)?;
    let upper = sim.spawn_body(block(0.3, "upper")?)?;
    Ok((sim, [lower, upper]))
}

#[test]
fn bodies_are_born_and_die_while_the_rest_goes_on() -> Fallible {
    let (mut sim, [lower, upper]) = floor_and_tower()?;
    sim.at(0.1, Event::Death(lower))?;
    let ball = Body::new(Shape::ball(0.05)?).at(DVec3::new(1.0, 0.0, 0.2)).named("newcomer");
    sim.at(0.2, Event::Birth(Box::new(ball)))?;
    sim.run_until(0.1)?;
    assert!((height(&sim, upper) - 0.3).abs() < 1e-6);
    let slot = sim.world().get::<Slot>(lower).copied();
    let last = sim.run_until(1.0)?;
    assert!(sim.world().get::<BodyPose>(lower).is_none());
    assert!((height(&sim, upper) - 0.1).abs() < 1e-6, "the upper block has come down: {}", height(&sim, upper));
    let mut names = sim.world_mut().query::<(Entity, &BodyName)>();
    let newcomer = names.iter(sim.world()).find(|(_, n)| n.0 == "newcomer").map(|(e, _)| e).ok_or("no newcomer")?;
    assert_eq!(sim.world().get::<Slot>(newcomer).copied(), slot, "the slot of the dead is used again");
    assert!((height(&sim, newcomer) - 0.05).abs() < 1e-6);
    assert!(last.contacts == 5 && last.converged, "{last:?}");
    let pairs: Vec<_> = sim.world().resource::<Proximity>().pairs().iter().map(|&(a, b, _)| (a, b)).collect();
    assert_eq!(pairs, [(0, 1), (0, 2)]);
    assert!(!sim.despawn_body(lower), "a dead body cannot die again");
    Ok(())
}

#[test]
fn the_end_of_a_body_ends_its_joints() -> Fallible {
    let (mut sim, bodies) = everything(TREATMENTS[0])?;
    sim.run_until(0.01)?;
    let (first, second) = (bodies[6], bodies[7]);
    assert!(sim.despawn_body(first));
    let fall = |sim: &Simulation| sim.world().get::<Velocity>(second).expect("alive").linear.z;
    let before = fall(&sim);
    sim.run_until(0.02)?;
    assert!((fall(&sim) - before + 9.81 * 0.01).abs() < 1e-3, "falls freely");
    Ok(())
}

#[test]
fn the_abort_hook_ends_a_run_after_the_step_that_it_saw() -> Fallible {
    let (mut sim, _) = floor_and_tower()?;
    sim.set_abort(|report| report.step == 7);
    assert_eq!(sim.run_until(1.0)?.step, 7);
    assert_eq!((sim.steps(), sim.run_until(0.01)?.step), (7, 10));
    Ok(())
}

#[test]
fn a_load_that_is_not_a_number_stops_the_run_and_keeps_the_last_good_state() -> Fallible {
    let (mut sim, [lower, upper]) = floor_and_tower()?;
    sim.add_force(upper, |t, _, _| AppliedForce { force: DVec3::X * if t > 0.0245 { f64::NAN } else { 1.0 }, torque: DVec3::ZERO })?;
    let error = sim.run_until(1.0).unwrap_err();
    let time = sim.time();
    assert!((time - 0.025).abs() < 1e-12);
    let expected = SimulationError::NotFinite { step: 26, time, what: "load", body: "body \"upper\"".into() };
    assert_eq!(error, expected);
    assert!(error.to_string().starts_with("step 26 (t = 0.025"), "{error}");
    assert_eq!(sim.steps(), 25);
    for body in [lower, upper] {
        let (pose, v) = (sim.world().get::<BodyPose>(body).ok_or("gone")?.0, sim.world().get::<Velocity>(body).ok_or("gone")?);
        assert!(pose.is_finite() && v.linear.is_finite() && v.angular.is_finite());
        assert!(pose.position.z > 0.09);
    }
    assert_eq!(sim.step().unwrap_err(), expected, "the same step fails the same way");
    Ok(())
}

#[test]
fn drives_blows_and_states_that_are_not_numbers_are_named_too() -> Fallible {
    let named = |error: SimulationError| match error {
        SimulationError::NotFinite { what, body, .. } => (what, body),
        other => panic!("{other}"),
    };
    let (mut sim, _) = floor_and_tower()?;
    let belt = Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::new(0.15, 0.0, 0.1)).named("belt");
    sim.spawn_body(belt.driven(Arc::new(|t: f64| (DVec3::X * if t > 0.0095 { f64::INFINITY } else { 0.0 }, DVec3::ZERO))))?;
    assert_eq!(named(sim.run_until(1.0).unwrap_err()), ("velocity", "body \"belt\"".into()));
    assert_eq!(sim.steps(), 10);

    let (mut sim, [_, upper]) = floor_and_tower()?;
    sim.at(0.01, Event::Blow(upper, AppliedForce { force: DVec3::X * 1e300, torque: DVec3::ZERO }))?;
    assert_eq!(named(sim.run_until(1.0).unwrap_err()), ("load", "body \"upper\"".into()));

    for endless in [f64::NAN, f64::INFINITY] {
        let (mut sim, [lower, _]) = floor_and_tower()?;
        sim.run_until(0.01)?;
        sim.world_mut().get_mut::<Velocity>(lower).ok_or("gone")?.linear.y = endless;
        assert_eq!(named(sim.step().unwrap_err()), ("velocity", "body \"lower\"".into()));
    }

    let (mut sim, [lower, _]) = floor_and_tower()?;
    sim.run_until(0.01)?;
    sim.world_mut().get_mut::<BodyPose>(lower).ok_or("gone")?.0.position.y = f64::NAN;
    assert_eq!(named(sim.step().unwrap_err()), ("position", "body \"lower\"".into()));

    let (mut sim, [_, upper]) = floor_and_tower()?;
    sim.run_until(0.01)?;
    sim.world_mut().entity_mut(upper).insert(AppliedForce { force: DVec3::ZERO, torque: DVec3::Y * f64::NAN });
    assert_eq!(named(sim.step().unwrap_err()), ("load", "body \"upper\"".into()));

    let (mut sim, [lower, _]) = floor_and_tower()?;
    sim.add_load(move |_, rows| rows.iter_mut().filter(|row| row.entity == Some(lower)).for_each(|row| row.load.torque.z = f64::INFINITY));
    assert_eq!(named(sim.step().unwrap_err()), ("load", "body \"lower\"".into()));

    // all that acts on it is a number, and where that leads is none
    let (mut sim, _) = floor_and_tower()?;
    let speck = sim.spawn_body(Body::new(Shape::ball(0.01)?).at(DVec3::Z * 9.0).named("speck"))?;
    sim.at(0.01, Event::Blow(speck, AppliedForce { force: DVec3::Z * 9e99, torque: DVec3::ZERO }))?;
    assert_eq!(named(sim.run_until(1.0).unwrap_err()), ("velocity", "body \"speck\"".into()));
    assert_eq!(sim.steps(), 10);
    Ok(())
}

#[test]
fn systems_with_any_coordinates_may_change_and_be_replaced_between_steps() -> Fallible {
    let mut sim = Simulation::default();
    let falling = |force: f64| Lagrangian::new([2.0]).at([0.0]).with_force([force]);
    let speed = |sim: &Simulation, e: Entity| sim.world().get::<Lagrangian>(e).expect("alive").v[0];
    let scheme = Integrator::MOREAU_JEAN;
    let (first, second) = (sim.spawn_system(falling(-2.0), scheme)?, sim.spawn_system(falling(-4.0), scheme)?);
    sim.run_until(0.5)?;
    sim.world_mut().get_mut::<Lagrangian>(first).ok_or("gone")?.mass = [4.0].into();
    sim.run_until(1.0)?;
    assert!((speed(&sim, first) + 0.75).abs() < 1e-12, "{}", speed(&sim, first));
    sim.world_mut().despawn(first);
    let third = sim.spawn_system(Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0])).at([0.0; 2]).with_force([3.0, 5.0]), scheme)?;
    sim.run_until(2.0)?;
    assert!((speed(&sim, second) + 4.0).abs() < 1e-12 && (speed(&sim, third) - 3.0).abs() < 1e-12);
    Ok(())
}
