//! Guests in the world of a simulation: systems of users, components that come and go by plain commands, handles.

use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use drystone::algebra::spatial::Pose;
use drystone::assembly::problem::Solver;
use drystone::geometry::Shape;
use drystone::geometry::systems::{Collider, Proximity};
use drystone::model::contact::{ContactPair, Manifold};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::{Engaged, Interaction};
use drystone::model::joint::{JointKind, JointSpec};
use drystone::model::law::{ContactLaws, CoulombImpact, Law};
use drystone::model::newton_euler::{AppliedForce, BodyPose, Inertia, Locks, Motion, Velocity};
use drystone::model::relation::LagrangianLinear;
use drystone::model::scheme::{Clock, Scheme};
use drystone::numerics::auto::Auto;
use drystone::simulation::{AutoStep, Balance, Body, Event, Handle, Simulation, SimulationError, StepSet};
use drystone::topology::bodies::{Bodies, Slot};
use glam::{DQuat, DVec3};
use std::sync::Arc;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

const ALL: [StepSet; 12] = [
    StepSet::Before,
    StepSet::Begin,
    StepSet::BroadPhase,
    StepSet::NarrowPhase,
    StepSet::Loads,
    StepSet::FreeMotion,
    StepSet::Activate,
    StepSet::Assemble,
    StepSet::Solve,
    StepSet::Apply,
    StepSet::Observe,
    StepSet::After,
];

/// Which places ran, with their times.
#[derive(Resource, Default)]
struct Log(Vec<(StepSet, f64)>);

fn note(set: StepSet) -> impl FnMut(Res<Clock>, ResMut<Log>) {
    move |clock: Res<Clock>, mut log: ResMut<Log>| log.0.push((set, clock.time))
}

fn logging(sim: &mut Simulation) -> Fallible<Vec<Handle>> {
    sim.world_mut().init_resource::<Log>();
    let handles: Result<Vec<Handle>, _> = ALL.into_iter().map(|set| sim.add_systems(set, note(set))).collect();
    Ok(handles?)
}

fn floor(sim: &mut Simulation) -> Fallible<Entity> {
    Ok(sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed().named("floor"))?)
}

fn ball(sim: &mut Simulation, at: DVec3) -> Fallible<Entity> {
    Ok(sim.spawn_body(Body::new(Shape::ball(0.1)?).at(at).named("ball"))?)
}

fn speed(sim: &Simulation, body: Entity) -> DVec3 {
    sim.world().get::<Velocity>(body).expect("alive").linear
}

fn place(sim: &Simulation, body: Entity) -> DVec3 {
    sim.world().get::<BodyPose>(body).expect("alive").0.position
}

#[test]
fn every_place_runs_once_a_step_in_its_order_and_at_its_time() -> Fallible {
    let mut sim = Simulation::with_time_step(0.01)?;
    floor(&mut sim)?;
    ball(&mut sim, DVec3::Z * 0.1)?;
    let handles = logging(&mut sim)?;
    sim.step()?;
    sim.step()?;
    let log = std::mem::take(&mut sim.world_mut().resource_mut::<Log>().0);
    let expected: Vec<(StepSet, f64)> =
        (0..2).flat_map(|k| ALL.map(|set| (set, 0.01 * f64::from(k + i32::from(set == StepSet::After))))).collect();
    assert_eq!(log, expected);
    // detection alone goes no farther than the points
    sim.detect();
    let log = std::mem::take(&mut sim.world_mut().resource_mut::<Log>().0);
    assert_eq!(log.iter().map(|l| l.0).collect::<Vec<_>>(), ALL[1..4]);
    assert!(handles.into_iter().all(|handle| sim.remove(handle)));
    sim.step()?;
    assert!(sim.world().resource::<Log>().0.is_empty());
    Ok(())
}

#[test]
fn passes_and_parts_of_a_step_repeat_the_places_within_them() -> Fallible {
    let h = 0.01;
    let mut sim = Simulation::with_time_step(h)?;
    // a pendulum that turns by four radians a step
    let bob = sim.spawn_body(Body::point(1.0, DVec3::splat(0.01)).at(DVec3::X).moving(DVec3::Y * 400.0).spinning(DVec3::Z * 400.0))?;
    sim.spawn_joint(bob, None, DVec3::ZERO)?;
    logging(&mut sim)?;
    let report = sim.step()?;
    let log = std::mem::take(&mut sim.world_mut().resource_mut::<Log>().0);
    let times = |set: StepSet| log.iter().filter(|l| l.0 == set).map(|l| l.1).collect::<Vec<_>>();
    assert!(report.parts > 1, "{report:?}");
    assert_eq!((times(StepSet::Before), times(StepSet::After)), (vec![0.0], vec![h]));
    let parts: Vec<f64> = (0..report.parts).map(|k| h * f64::from(k) / f64::from(report.parts)).collect();
    assert_eq!(times(StepSet::Observe), parts, "the parts that stand");
    assert!(times(StepSet::Loads).len() >= report.parts as usize, "every try of a part");
    assert!(times(StepSet::Solve).len() >= report.passes && report.passes > report.parts as usize, "every pass");
    Ok(())
}

#[test]
fn a_system_in_loads_is_a_force_bit_for_bit() -> Fallible {
    let build = || -> Fallible<(Simulation, Entity)> {
        let mut sim = Simulation::default();
        floor(&mut sim)?;
        let body = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::Z * 0.1))?;
        Ok((sim, body))
    };
    let (mut closure, body) = build()?;
    closure.add_force(body, |t, _, v| AppliedForce { force: DVec3::X * (60.0 * t) - 0.3 * v.linear, torque: DVec3::ZERO })?;
    let (mut system, body) = build()?;
    system.add_systems(StepSet::Loads, move |clock: Res<Clock>, moving: Query<(&Slot, &Velocity)>, mut bodies: ResMut<Bodies>| {
        if let Ok((slot, v)) = moving.get(body) {
            bodies.push(*slot, AppliedForce { force: DVec3::X * (60.0 * clock.time) - 0.3 * v.linear, torque: DVec3::ZERO });
        }
    })?;
    closure.run_until(1.0)?;
    system.run_until(1.0)?;
    assert!(place(&closure, body).x > 0.01, "it slides");
    assert_eq!(closure.state_hash(), system.state_hash());
    Ok(())
}

#[test]
fn systems_that_fail_refuse_the_step_by_name_and_may_be_removed() -> Fallible {
    #[derive(Resource)]
    struct Missing;
    fn asks(_: Res<Missing>) {}
    fn fails() -> Result<(), BevyError> {
        Err("out of fuel".into())
    }
    let mut sim = Simulation::default();
    let body = ball(&mut sim, DVec3::Z)?;
    let asking = sim.add_systems(StepSet::Before, asks)?;
    let error = sim.step().unwrap_err();
    assert!(
        matches!(&error, SimulationError::Guest { step: 1, set: StepSet::Before, reason, .. } if reason.contains("asks") && reason.contains("exist")),
        "{error}"
    );
    assert!(sim.remove(asking));
    fn panics() {
        panic!("out of air");
    }
    let panicking = sim.add_systems(StepSet::Loads, panics)?;
    let error = sim.step().unwrap_err().to_string();
    assert!(error.contains("panics") && error.ends_with("System panicked"), "{error:?}");
    assert!(sim.remove(panicking));
    let failing = sim.add_systems(StepSet::Loads, fails)?;
    let error = sim.step().unwrap_err();
    assert!(matches!(&error, SimulationError::Guest { set: StepSet::Loads, reason, .. } if reason.contains("out of fuel")), "{error}");
    assert_eq!((sim.steps(), speed(&sim, body)), (0, DVec3::ZERO), "the state is kept");
    assert!(sim.remove(failing) && !sim.remove(failing));
    // what comes too late to refuse the step is told after it
    let late = sim.add_systems(StepSet::Observe, fails)?;
    let error = sim.step().unwrap_err();
    assert!(matches!(error, SimulationError::Guest { step: 1, set: StepSet::Observe, .. }), "{error}");
    assert_eq!(sim.steps(), 1);
    sim.remove(late);
    // a circle
    fn a() {}
    fn b() {}
    let error = sim.add_systems(StepSet::Loads, (a.after(b), b.after(a))).unwrap_err();
    assert!(matches!(error, SimulationError::Systems { set: StepSet::Loads, .. }), "{error}");
    assert_eq!(sim.step()?.step, 2);
    Ok(())
}

#[test]
fn worlds_of_systems_advance_step_by_step_while_they_have_guests_with_the_same_bits() -> Fallible {
    let build = || -> Fallible<Simulation> {
        let mut sim = Simulation::with_time_step(1e-3)?;
        let mass = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_force([-9.81]), Integrator::MOREAU_JEAN)?;
        sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.9 }))?;
        Ok(sim)
    };
    let (mut batch, mut guarded) = (build()?, build()?);
    let handles = logging(&mut guarded)?;
    batch.advance(1000)?;
    let last = guarded.advance(1000)?;
    assert!(last.converged);
    assert_eq!(batch.state_hash(), guarded.state_hash());
    let runs = |sim: &Simulation| sim.world().resource::<Log>().0.iter().filter(|l| l.0 == StepSet::After).count();
    assert_eq!(runs(&guarded), 1000);
    handles.into_iter().for_each(|handle| assert!(guarded.remove(handle)));
    guarded.advance(100)?;
    batch.advance(100)?;
    assert_eq!((runs(&guarded), guarded.state_hash()), (1000, batch.state_hash()));
    Ok(())
}

/// Schedules that ran: the chain of bodies leaves its pass.
fn in_batches(sim: &mut Simulation) -> Fallible<bool> {
    let before = sim.world().resource_ref::<Bodies>().last_changed();
    sim.advance(2)?;
    Ok(sim.world().resource_ref::<Bodies>().last_changed() == before)
}

#[test]
fn batches_come_back_after_the_last_body() -> Fallible {
    let mut sim = Simulation::default();
    sim.spawn_system(Lagrangian::new([1.0]).at([1.0]), Integrator::MOREAU_JEAN)?;
    assert!(in_batches(&mut sim)?);
    let body = ball(&mut sim, DVec3::Z)?;
    assert!(!in_batches(&mut sim)?);
    sim.world_mut().despawn(body);
    assert!(in_batches(&mut sim)?);
    // a body that a periodic action makes falls from that instant on
    let made = sim.every(0.01, |t, world| {
        if t > 0.045 && t < 0.055 {
            world.spawn((BodyPose(Pose::at(DVec3::Z)), Inertia { mass: 1.0, principal: DVec3::ONE }));
        }
    })?;
    let h = sim.time_step();
    let report = sim.run_until(0.1)?;
    let v = sim.world_mut().query::<&Velocity>().single(sim.world())?.linear.z;
    // the action is due from the sixth step on
    assert!((v + 9.81 * (0.1 - 0.046)).abs() < 1e-9 && (report.time - 0.1).abs() < 1e-9 * h, "{v}");
    assert!(sim.remove(made));
    Ok(())
}

#[test]
fn the_abort_hook_ends_batches_too() -> Fallible {
    let mut sim = Simulation::default();
    sim.spawn_system(Lagrangian::new([1.0]).at([1.0]), Integrator::MOREAU_JEAN)?;
    sim.set_abort(|report| report.step == 7);
    assert_eq!(sim.advance(100)?.step, 7);
    Ok(())
}

#[test]
fn components_may_change_between_steps_and_hold_at_the_next() -> Fallible {
    let mut sim = Simulation::default();
    floor(&mut sim)?;
    let block = Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::Z * 0.1).moving(DVec3::X).named("block");
    let block = sim.spawn_body(block)?;
    let h = sim.time_step();
    let braked = |sim: &mut Simulation| -> Fallible<f64> {
        let before = speed(sim, block).x;
        sim.step()?;
        Ok((before - speed(sim, block).x) / (9.81 * h))
    };
    // the material, then the laws themselves
    let law = |mu| CoulombImpact { mu, ..CoulombImpact::default() };
    let mut laws = ContactLaws::uniform(law(0.1));
    laws.set(0, 1, law(0.3));
    sim.set_laws(laws)?;
    sim.step()?;
    assert!((braked(&mut sim)? - 0.1).abs() < 1e-6);
    sim.world_mut().get_mut::<Collider>(block).ok_or("gone")?.material = 1;
    assert!((braked(&mut sim)? - 0.3).abs() < 1e-6);
    sim.world_mut().resource_mut::<ContactLaws>().set(0, 1, law(0.2));
    assert!((braked(&mut sim)? - 0.2).abs() < 1e-6);
    // a force, and the mass that it moves
    let world = sim.world_mut();
    world.entity_mut(block).insert(AppliedForce { force: DVec3::X * 40.0, torque: DVec3::ZERO });
    let inertia = *world.get::<Inertia>(block).ok_or("gone")?;
    world.entity_mut(block).insert(Inertia { mass: 4.0, ..inertia });
    assert!((braked(&mut sim)? - 0.2 + 10.0 / 9.81).abs() < 1e-6);
    sim.world_mut().entity_mut(block).remove::<AppliedForce>().insert(Inertia { mass: 8.0, ..inertia });
    assert!((braked(&mut sim)? - 0.2).abs() < 1e-6);
    // locks
    sim.world_mut().entity_mut(block).insert(Locks { translation: [true, false, false], rotation: [false; 3] });
    assert_eq!(braked(&mut sim)?, 0.0);
    sim.world_mut().entity_mut(block).remove::<Locks>();
    // without a collider it falls through the floor, with another it is thrown up no more than gently
    sim.world_mut().entity_mut(block).remove::<Collider>();
    sim.run_until(sim.time() + 0.05)?;
    assert!((speed(&sim, block).z + 9.81 * 0.05).abs() < 1e-6, "{}", speed(&sim, block));
    assert_eq!(sim.world().resource::<Proximity>().pair_count(), 0);
    sim.world_mut().entity_mut(block).insert(Collider::new(Shape::ball(0.05)?));
    sim.run_until(sim.time() + 0.5)?;
    assert!((place(&sim, block).z - 0.05).abs() < 1e-3, "{}", place(&sim, block));
    // who moves it
    sim.world_mut().entity_mut(block).insert(Motion::Static);
    let at = place(&sim, block);
    sim.run_until(sim.time() + 0.05)?;
    assert_eq!((place(&sim, block), speed(&sim, block)), (at, DVec3::ZERO));
    sim.world_mut().entity_mut(block).insert(Motion::Kinematic(std::sync::Arc::new(|_| (DVec3::Y, DVec3::ZERO))));
    sim.run_until(sim.time() + 0.1)?;
    assert!((place(&sim, block) - at - DVec3::Y * 0.1).length() < 1e-9);
    Ok(())
}

#[test]
fn a_change_of_gravity_is_work_of_loads_however_it_is_made() -> Fallible {
    let tilted = DVec3::new(3.0, 0.0, -9.0);
    type Change = fn(&mut Simulation, DVec3) -> Result<(), SimulationError>;
    let ways: [Change; 4] = [
        |sim, g| sim.at(0.2, Event::Gravity(g)).map(drop),
        |sim, g| sim.set_scheme(Scheme { gravity: g, ..*sim.scheme() }),
        |sim, g| {
            sim.world_mut().resource_mut::<Scheme>().gravity = g;
            Ok(())
        },
        |sim, g| {
            let switch = move |_: f64, world: &mut World| world.resource_mut::<Scheme>().gravity = g;
            sim.every(0.1, switch).map(drop)
        },
    ];
    for change in ways {
        // what is chosen before the first step is no change
        let mut sim = Simulation::new(Scheme { gravity: DVec3::Y, ..Scheme::default() })?;
        sim.set_scheme(Scheme { gravity: DVec3::NEG_Z, ..*sim.scheme() })?;
        sim.world_mut().resource_mut::<Scheme>().gravity = Scheme::default().gravity;
        floor(&mut sim)?;
        ball(&mut sim, DVec3::new(4.0, 0.0, 0.5))?;
        sim.run_until(0.1)?;
        let start = sim.balance().energy.total() - sim.balance().work.total();
        sim.run_until(0.2)?;
        change(&mut sim, tilted)?;
        sim.run_until(0.6)?;
        let Balance { energy, work, .. } = *sim.balance();
        assert!((energy.total() - work.total() - start).abs() < 1e-9 * energy.total().abs(), "{energy:?}, {work:?}, {start} J");
        assert!(sim.balance().error() < 1e-12);
    }
    Ok(())
}

#[test]
fn laws_and_integrators_of_systems_may_change_by_plain_commands() -> Fallible {
    let mut sim = Simulation::default();
    let mass = sim.spawn_system(Lagrangian::new([1.0]).at([0.0]).moving([-1.0]).with_force([-1.0]), Integrator::MOREAU_JEAN)?;
    let stop = sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.0 }))?;
    let v = |sim: &Simulation| sim.world().get::<Lagrangian>(mass).expect("alive").v[0];
    sim.advance(3)?;
    assert_eq!(v(&sim), 0.0);
    sim.world_mut().get_mut::<Interaction>(stop).ok_or("gone")?.law = Law::NewtonImpact { e: 1.0 };
    sim.world_mut().get_mut::<Lagrangian>(mass).ok_or("gone")?.v[0] = -2.0;
    sim.advance(2)?;
    assert!(v(&sim) > 1.9, "{}", v(&sim));
    sim.world_mut().despawn(stop);
    sim.world_mut().entity_mut(mass).insert(Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Default::default() });
    let before = v(&sim);
    sim.advance(1000)?;
    assert!((v(&sim) - before + 1000.0 * sim.time_step()).abs() < 1e-9);
    sim.world_mut().despawn(mass);
    assert!(sim.advance(1)?.converged);
    Ok(())
}

#[test]
fn components_that_make_no_body_are_named_and_may_be_mended() -> Fallible {
    let build = || -> Fallible<(Simulation, Entity)> {
        let mut sim = Simulation::default();
        floor(&mut sim)?;
        let body = ball(&mut sim, DVec3::Z * 0.1)?;
        sim.run_until(0.01)?;
        Ok((sim, body))
    };
    type Spoil = fn(&mut EntityWorldMut);
    let spoilt: [(Spoil, &str); 9] = [
        (
            |e| {
                e.insert(Inertia { mass: f64::NAN, principal: DVec3::ONE });
            },
            "mass is NaN kg",
        ),
        (
            |e| {
                e.insert(Inertia { mass: 1.0, principal: DVec3::new(1.0, 0.0, 1.0) });
            },
            "principal moments",
        ),
        (
            |e| {
                e.remove::<Inertia>();
            },
            "without Inertia",
        ),
        (
            |e| {
                e.remove::<Velocity>();
            },
            "needs BodyPose, Velocity and Motion",
        ),
        (
            |e| {
                e.insert(BodyPose(Pose { rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0), ..Pose::IDENTITY }));
            },
            "rotation has length 2",
        ),
        (
            |e| {
                e.insert(Collider::new(Shape::Ball { radius: -1.0 }));
            },
            "radius must be a positive number",
        ),
        (
            |e| {
                e.insert(Collider::new(Shape::Ball { radius: f64::NAN }));
            },
            "radius must be a positive number",
        ),
        (
            |e| {
                e.insert(Collider::new(Shape::HalfSpace { normal: DVec3::Z }));
            },
            "can only be static or driven",
        ),
        (
            |e| {
                e.insert(Collider { offset: Pose::at(DVec3::NAN), ..Collider::new(Shape::Ball { radius: 0.1 }) });
            },
            "offset",
        ),
    ];
    for (spoil, words) in spoilt {
        let (mut sim, body) = build()?;
        let (inertia, collider) =
            (*sim.world().get::<Inertia>(body).ok_or("gone")?, sim.world().get::<Collider>(body).ok_or("gone")?.clone());
        let (pose, velocity) = (*sim.world().get::<BodyPose>(body).ok_or("gone")?, *sim.world().get::<Velocity>(body).ok_or("gone")?);
        spoil(&mut sim.world_mut().entity_mut(body));
        for _ in 0..2 {
            let error = sim.step().unwrap_err();
            let found =
                matches!(&error, SimulationError::Component { body, reason, .. } if body == "body \"ball\"" && reason.contains(words));
            assert!(found, "{words}: {error}");
        }
        sim.world_mut().entity_mut(body).insert((inertia, collider, pose, velocity));
        sim.step().map_err(|e| format!("{words}: {e}"))?;
    }
    let (mut sim, _) = build()?;
    sim.world_mut().insert_resource(ContactLaws::uniform(CoulombImpact { mu: f64::NAN, ..CoulombImpact::default() }));
    assert!(matches!(sim.step().unwrap_err(), SimulationError::Law(reason) if reason.contains("mu is NaN")));
    let (mut sim, _) = build()?;
    sim.world_mut().resource_mut::<Scheme>().gravity = DVec3::NAN;
    assert!(matches!(sim.step().unwrap_err(), SimulationError::Setting(invalid) if invalid.name == "gravity"));
    Ok(())
}

#[test]
fn a_body_that_the_world_spawns_is_one_and_the_end_of_one_leaves_nothing_behind() -> Fallible {
    let mut sim = Simulation::default();
    floor(&mut sim)?;
    let solid = |z: f64| {
        let parts = (BodyPose(Pose::at(DVec3::Z * z)), Inertia { mass: 1.0, principal: DVec3::splat(0.004) });
        (parts.0, parts.1, Collider::new(Shape::Ball { radius: 0.1 }))
    };
    let lower = sim.world_mut().spawn(solid(0.1)).id();
    let upper = sim.world_mut().spawn(solid(0.3)).id();
    assert_eq!([lower, upper].map(|e| sim.world().get::<Slot>(e).map(|s| s.0)), [Some(1), Some(2)]);
    sim.run_until(0.1)?;
    let pressed = |sim: &mut Simulation| {
        let mut pairs = sim.world_mut().query::<(&ContactPair, &Manifold)>();
        let of_lower = pairs.iter(sim.world()).filter(|(p, _)| p.slots.contains(&1));
        let mut found: Vec<([u32; 2], bool)> =
            of_lower.map(|(p, m)| (p.slots, m.points.iter().any(|t| t.reaction != DVec3::ZERO))).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(pressed(&mut sim), [([0, 1], true), ([1, 2], true)]);
    sim.world_mut().despawn(lower);
    assert_eq!(pressed(&mut sim), [], "at once, not a step later");
    assert!(sim.world().resource::<Proximity>().pairs().iter().all(|p| p.0 != 1 && p.1 != 1));
    // another body in the same slot and place takes over nothing
    let heir = sim.world_mut().spawn(solid(0.1)).id();
    assert_eq!(sim.world().get::<Slot>(heir), Some(&Slot(1)));
    sim.detect();
    assert_eq!(pressed(&mut sim), [([0, 1], false), ([1, 2], false)]);
    let report = sim.run_until(0.2)?;
    assert!(report.contacts == 2 && (place(&sim, upper).z - 0.3).abs() < 1e-6);
    // by commands from within a step
    sim.add_systems(StepSet::Solve, move |mut commands: Commands, clock: Res<Clock>| {
        if clock.time > 0.25 {
            commands.entity(heir).try_despawn();
        }
    })?;
    sim.run_until(1.0)?;
    assert!(sim.world().get::<BodyPose>(heir).is_none() && (place(&sim, upper).z - 0.1).abs() < 1e-6);
    Ok(())
}

#[test]
fn the_end_of_a_body_ends_its_joints_and_the_end_of_a_joint_its_exclusion() -> Fallible {
    let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    let one = ball(&mut sim, DVec3::ZERO)?;
    let two = ball(&mut sim, DVec3::X * 0.19)?;
    let pivot = sim.spawn_joint(two, Some(one), DVec3::X * 0.1)?;
    sim.run_until(0.05)?;
    assert_eq!(sim.world().resource::<Proximity>().pair_count(), 0);
    sim.world_mut().despawn(pivot);
    sim.run_until(0.5)?;
    assert!(place(&sim, one).distance(place(&sim, two)) > 0.2 - 1e-6, "they part as they overlap");
    let pivot = sim.spawn_joint(two, Some(one), DVec3::X * 0.1)?;
    sim.run_until(0.6)?;
    sim.world_mut().despawn(one);
    assert!(sim.world().get_entity(pivot).is_err());
    // its slot has a new body, which the old joint does not spare
    let beside = place(&sim, two) - DVec3::X * 0.19;
    let other = ball(&mut sim, beside)?;
    assert_eq!(sim.world().get::<Slot>(other), Some(&Slot(0)));
    sim.step()?;
    assert_eq!(sim.world().resource::<Proximity>().pair_count(), 1);
    Ok(())
}

#[test]
fn what_a_step_leaves_as_it_was_is_not_marked_as_changed() -> Fallible {
    #[derive(Resource, Default)]
    struct Moved(Vec<Entity>, Vec<Entity>);
    fn look(poses: Query<Entity, Changed<BodyPose>>, speeds: Query<Entity, Changed<Velocity>>, mut moved: ResMut<Moved>) {
        let sorted = |found: Vec<Entity>| {
            let mut found = found;
            found.sort_unstable_by_key(|e| e.index_u32());
            found
        };
        *moved = Moved(sorted(poses.iter().collect()), sorted(speeds.iter().collect()));
    }
    let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    sim.world_mut().init_resource::<Moved>();
    let ground = floor(&mut sim)?;
    let still = ball(&mut sim, DVec3::Z * 5.0)?;
    let even = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 3.0).moving(DVec3::X))?;
    let pushed = ball(&mut sim, DVec3::Z * 7.0)?;
    sim.add_force(pushed, |_, _, _| AppliedForce { force: DVec3::X, torque: DVec3::ZERO })?;
    sim.add_systems(StepSet::After, look)?;
    sim.step()?;
    assert!(sim.world().resource::<Moved>().0.contains(&ground), "all is new to the first look");
    sim.step()?;
    let moved = sim.world().resource::<Moved>();
    assert_eq!((&moved.0, &moved.1), (&vec![even, pushed], &vec![pushed]));
    sim.world_mut().get_mut::<BodyPose>(still).ok_or("gone")?.0.position.z = 6.0;
    sim.step()?;
    assert_eq!(sim.world().resource::<Moved>().0, [still, even, pushed], "what a user has written counts");
    Ok(())
}

#[test]
fn a_batch_marks_the_systems_that_it_moves() -> Fallible {
    #[derive(Resource, Default)]
    struct Moved(Vec<Entity>, usize);
    fn look(systems: Query<Entity, Changed<Lagrangian>>, links: Query<(), Changed<Interaction>>, mut moved: ResMut<Moved>) {
        *moved = Moved(systems.iter().collect(), links.iter().count());
    }
    let mut sim = Simulation::default();
    sim.world_mut().init_resource::<Moved>();
    let rests = sim.spawn_system(Lagrangian::new([1.0]).at([0.0]), Integrator::MOREAU_JEAN)?;
    let moves = sim.spawn_system(Lagrangian::new([1.0]).at([5.0]).moving([1.0]), Integrator::MOREAU_JEAN)?;
    let stop = || Interaction::new([rests], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.0 });
    sim.spawn_interaction(stop())?;
    sim.add_systems(StepSet::After, look)?;
    sim.advance(2)?;
    let moved = sim.world().resource::<Moved>();
    assert_eq!((&moved.0, moved.1), (&vec![moves], 0));
    // what others write is still taken up
    sim.world_mut().get_mut::<Lagrangian>(moves).ok_or("gone")?.v[0] = 3.0;
    sim.advance(2)?;
    assert_eq!(sim.world().get::<Lagrangian>(moves).ok_or("gone")?.v[0], 3.0);
    sim.world_mut().get_mut::<Lagrangian>(moves).ok_or("gone")?.mass = [2.0].into();
    sim.advance(1)?;
    Ok(())
}

#[test]
fn stops_say_when_they_are_reached_and_left() -> Fallible {
    #[derive(Resource, Default)]
    struct Knocks(Vec<bool>);
    let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    let door = sim.spawn_body(Body::point(20.0, DVec3::splat(0.5)).at(DVec3::new(0.4, 0.0, 1.0)))?;
    let spec = JointSpec::new(JointKind::Revolute).at(DVec3::Z).axis(DVec3::Z).between(-0.2, 0.5);
    let stop = sim.add_joint(door, None, &spec)?[2];
    sim.world_mut().init_resource::<Knocks>();
    sim.world_mut().add_observer(|_: On<Add<Engaged>>, mut knocks: ResMut<Knocks>| knocks.0.push(true));
    sim.world_mut().add_observer(|_: On<Remove<Engaged>>, mut knocks: ResMut<Knocks>| knocks.0.push(false));
    sim.run_until(0.1)?;
    assert!(sim.world().resource::<Knocks>().0.is_empty());
    let push = sim.add_force(door, |_, _, _| AppliedForce { force: DVec3::ZERO, torque: DVec3::Z * 20.0 })?;
    sim.run_until(2.0)?;
    assert!(sim.world().get::<Engaged>(stop).is_some() && sim.world().resource::<Knocks>().0 == [true]);
    // saved and restored, the mark is there
    let saved = sim.save(&[door]);
    assert!(sim.remove(push));
    sim.add_force(door, |_, _, _| AppliedForce { force: DVec3::ZERO, torque: DVec3::Z * -20.0 })?;
    sim.run_until(2.1)?;
    assert!(sim.world().get::<Engaged>(stop).is_none() && sim.world().resource::<Knocks>().0 == [true, false]);
    let mut second = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    let door = second.spawn_body(Body::point(20.0, DVec3::splat(0.5)).at(DVec3::new(0.4, 0.0, 1.0)))?;
    let stop = second.add_joint(door, None, &spec)?[2];
    second.restore(&saved, &[door])?;
    assert!(second.world().get::<Engaged>(stop).is_some());
    Ok(())
}

#[test]
fn forces_loads_events_and_actions_end_with_their_handles() -> Fallible {
    let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    let body = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
    let force = sim.add_force(body, |_, _, _| AppliedForce { force: DVec3::X, torque: DVec3::ZERO })?;
    let load = sim.add_load(|_, rows| rows.iter_mut().for_each(|row| row.load.force += DVec3::Y));
    let blow = sim.at(0.5, Event::Blow(body, AppliedForce { force: DVec3::Z, torque: DVec3::ZERO }))?;
    let tilt = sim.at(0.6, Event::Gravity(DVec3::Z))?;
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = count.clone();
    let action = sim.every(0.1, move |_, _| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    })?;
    sim.run_until(0.25)?;
    for handle in [force, blow, action] {
        assert!(sim.remove(handle) && !sim.remove(handle));
    }
    sim.run_until(0.65)?;
    assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 3);
    assert!((speed(&sim, body) - DVec3::new(0.25, 0.65, 0.05)).length() < 1e-9, "{}", speed(&sim, body));
    assert!(!sim.remove(tilt), "it has happened");
    assert!(sim.remove(load));
    let after = speed(&sim, body);
    sim.run_until(0.75)?;
    assert!((speed(&sim, body) - after - DVec3::Z * 0.1).length() < 1e-9);
    Ok(())
}

#[test]
fn forces_end_with_their_body_and_wait_for_one_that_is_reserved() -> Fallible {
    let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    let first = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
    let late = sim.reserve();
    let push = |_: f64, _: &Pose, _: &Velocity| AppliedForce { force: DVec3::X, torque: DVec3::ZERO };
    let on_first = sim.add_force(first, push)?;
    let on_late = sim.add_force(late, push)?;
    sim.at(0.1, Event::Appear(late, Box::new(Body::point(1.0, DVec3::ONE))))?;
    sim.run_until(0.05)?;
    sim.world_mut().despawn(first);
    sim.run_until(0.2)?;
    assert!((speed(&sim, late).x - 0.1).abs() < 1e-9);
    assert!(!sim.remove(on_first) && sim.remove(on_late));
    Ok(())
}

#[test]
fn a_force_is_read_per_body() -> Fallible {
    // ten thousand forces on as many bodies: by scans over all rows these few steps would take 10⁹ looks
    let n = 10_000;
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    for k in 0..n {
        let body = sim.spawn_body(Body::point(1.0, DVec3::ONE).at(DVec3::X * f64::from(k)))?;
        let calls = calls.clone();
        sim.add_force(body, move |_, pose, _| {
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            AppliedForce { force: pose.position, torque: DVec3::ZERO }
        })?;
    }
    let clock = cpu_time::ThreadTime::now();
    sim.advance(10)?;
    let took = clock.elapsed();
    assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), 10 * n as usize);
    assert!(took.as_secs_f64() < 1.0, "{took:?}");
    Ok(())
}

#[test]
fn what_names_no_body_or_no_number_is_refused_at_once() -> Fallible {
    let mut sim = Simulation::default();
    let system = sim.spawn_system(Lagrangian::new([1.0]).at([0.0]), Integrator::MOREAU_JEAN)?;
    let push = |_: f64, _: &Pose, _: &Velocity| AppliedForce::default();
    assert!(matches!(sim.add_force(system, push).unwrap_err(), SimulationError::NoBody { what: "a force", entity } if entity == system));
    assert!(matches!(sim.at(1.0, Event::Blow(system, AppliedForce::default())).unwrap_err(), SimulationError::Event(_)));
    assert!(matches!(sim.spawn_joint(system, None, DVec3::ZERO).unwrap_err(), SimulationError::NoBody { what: "a joint", .. }));
    let heavy = Body::point(f64::INFINITY, DVec3::ONE);
    assert!(matches!(sim.at(1.0, Event::Birth(Box::new(heavy))).unwrap_err(), SimulationError::Body(_)));
    assert!(matches!(sim.at(f64::NAN, Event::Gravity(DVec3::Z)).unwrap_err(), SimulationError::Setting(_)));
    assert!(matches!(sim.at(1.0, Event::Gravity(DVec3::NAN)).unwrap_err(), SimulationError::Setting(_)));
    let stone = ball(&mut sim, DVec3::Z)?;
    let blow = AppliedForce { force: DVec3::NAN, torque: DVec3::ZERO };
    assert!(matches!(sim.at(1.0, Event::Blow(stone, blow)).unwrap_err(), SimulationError::Setting(_)));
    assert!(matches!(sim.run_until(f64::NAN).unwrap_err(), SimulationError::Setting(_)));
    assert!(sim.set_name(stone, "stone") && sim.despawn_body(stone) && !sim.set_name(stone, "stone"));
    let nameless = Body::point(-1.0, DVec3::ONE).validate().unwrap_err().to_string();
    assert_eq!(nameless, "a body without a name: mass is -1 kg; a positive number is needed");
    let broken = Body { shape: Some(Shape::Ball { radius: 0.0 }), ..Body::point(1.0, DVec3::ONE) };
    assert!(matches!(sim.spawn_body(broken).unwrap_err(), SimulationError::Body(_)));
    let turned = Body { pose: Pose { rotation: DQuat::from_xyzw(1.0, 1.0, 0.0, 0.0), ..Pose::IDENTITY }, ..Body::point(1.0, DVec3::ONE) };
    assert!(matches!(sim.spawn_body(turned).unwrap_err(), SimulationError::Body(_)));
    // a system dies by the same event as a body
    sim.at(0.1, Event::Death(system))?;
    sim.run_until(0.2)?;
    assert!(sim.world().get_entity(system).is_err());
    assert!(matches!(sim.at(1.0, Event::Death(system)).unwrap_err(), SimulationError::NoBody { .. }));
    Ok(())
}

#[test]
fn removals_are_not_kept_for_ever() -> Fallible {
    // bevy keeps what was removed until it is told that a frame is over
    #[derive(Component)]
    struct Mark;
    let mut sim = Simulation::default();
    let body = ball(&mut sim, DVec3::Z)?;
    let seen = |sim: &mut Simulation| sim.world_mut().run_system_once(|mut gone: RemovedComponents<Mark>| gone.read().count());
    for _ in 0..50 {
        sim.world_mut().entity_mut(body).insert(Mark).remove::<Mark>();
        sim.step()?;
    }
    assert!(seen(&mut sim).map_err(|e| e.to_string())? <= 2);
    Ok(())
}

/// Three cubes, one above the other.
fn tower(sim: &mut Simulation) -> Fallible<Vec<Entity>> {
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    let cube = |k: i32| -> Fallible<Body> { Ok(Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::Z * (0.1 + 0.2 * f64::from(k)))) };
    (0..3).map(|k| Ok(sim.spawn_body(cube(k)?)?)).collect()
}

/// A list that names a body twice, or leaves one out that moves, would bring back another state without a word.
#[test]
fn a_state_comes_back_for_every_body_that_moves() -> Fallible {
    let built = || -> Fallible<(Simulation, Vec<Entity>)> {
        let mut sim = Simulation::default();
        let cubes = tower(&mut sim)?;
        Ok((sim, cubes))
    };
    let (mut sim, cubes) = built()?;
    sim.run_until(0.1)?;
    let (whole, part) = (sim.save(&cubes), sim.save(&cubes[..2]));
    let (mut again, cubes) = built()?;
    let twice = again.restore(&whole, &[cubes[0], cubes[1], cubes[1]]).unwrap_err().to_string();
    assert!(twice.contains("twice"), "{twice}");
    let left_out = again.restore(&part, &cubes[..2]).unwrap_err().to_string();
    assert!(left_out.contains("1 body that moves is not in the list"), "{left_out}");
    again.restore(&whole, &cubes)?;
    assert_eq!(again.state_hash(), sim.state_hash());

    let born = || -> Fallible<(Simulation, Vec<Entity>)> {
        let (mut sim, cubes) = built()?;
        sim.at(0.05, Event::Birth(Box::new(Body::point(1.0, DVec3::ONE))))?;
        Ok((sim, cubes))
    };
    let (mut sim, cubes) = born()?;
    sim.run_until(0.1)?;
    let saved = sim.save(&cubes);
    let (mut again, cubes) = born()?;
    let nameless = again.restore(&saved, &cubes).unwrap_err().to_string();
    assert!(nameless.contains("Event::Appear"), "{nameless}");
    Ok(())
}

/// The report of a run says of all its steps whether they converged, not of the last alone.
#[test]
fn a_run_has_converged_where_all_its_steps_have() -> Fallible {
    let mut sim = Simulation::default();
    let cubes = tower(&mut sim)?;
    // a blow on a tower at rest, and no more than a sweep for the step of it
    sim.run_until(0.5)?;
    sim.at(0.5, Event::Blow(cubes[2], AppliedForce { force: DVec3::new(3.0, 1.0, -0.5), torque: DVec3::ZERO }))?;
    let usual = *sim.solver_mut();
    let hurried = Auto { max_sweeps: 1, max_newton: 0, ..usual };
    let hurry =
        sim.every(sim.time_step(), move |t, world| world.resource_mut::<Solver>().settings = if t < 0.5005 { hurried } else { usual })?;
    let steps = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = steps.clone();
    sim.set_abort(move |report| {
        seen.lock().is_ok_and(|mut steps| {
            steps.push(report.converged);
            false
        })
    });
    let run = sim.run_until(1.0)?;
    let steps = steps.lock().map_err(|e| e.to_string())?.clone();
    assert!(steps.contains(&false) && steps.last() == Some(&true), "the step of the blow is too hard, the last is not: {steps:?}");
    assert!(!run.converged);
    assert!(sim.run_until(sim.time())?.converged, "no step has failed");
    sim.remove(hurry);
    for tolerance in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        sim.solver_mut().tolerance = tolerance;
        let refused = sim.step().unwrap_err().to_string();
        assert!(refused.contains("tolerance of the solver") && refused.contains("above 0"), "{refused}");
    }
    Ok(())
}

/// Half a system stood still without a word.
#[test]
fn what_is_taken_from_a_system_is_asked_for() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let mass = sim.spawn_system(Lagrangian::new([1.0]).at([0.0]).with_force([1.0]), Integrator::MOREAU_JEAN)?;
    sim.step()?;
    let system = sim.world_mut().entity_mut(mass).take::<Lagrangian>().ok_or("it has one")?;
    let error = sim.step().unwrap_err().to_string();
    assert!(error.contains("has an Integrator, but nothing that it integrates"), "{error}");
    sim.world_mut().entity_mut(mass).insert(system).remove::<Integrator>();
    let error = sim.step().unwrap_err().to_string();
    assert!(error.contains("has no Integrator; insert one"), "{error}");
    sim.world_mut().entity_mut(mass).insert(Integrator::MOREAU_JEAN);
    sim.step()?;
    // and without both it is no system, on purpose
    sim.world_mut().entity_mut(mass).remove::<(Integrator, Lagrangian)>();
    sim.step()?;
    Ok(())
}

#[test]
fn slots_that_were_given_by_hand_are_refused() -> Fallible {
    for (slot, told) in [(0, "it has the same Slot(0) as the entity"), (u32::MAX, "Slot(4294967295) was never given by this simulation")] {
        let mut sim = Simulation::default();
        let [_, two] = [0.0, 1.0].map(|x| ball(&mut sim, DVec3::X * x));
        sim.world_mut().entity_mut(two?).insert(Slot(slot));
        let error = sim.step().unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    Ok(())
}

#[test]
fn moments_that_no_body_has_are_refused_here_as_in_scenes() -> Fallible {
    let mut sim = Simulation::default();
    let error = sim.spawn_body(Body::point(1.0, DVec3::new(1.0, 1.0, 3.0))).unwrap_err().to_string();
    assert!(error.contains("which no rigid body has; none may be larger than the sum of the other two"), "{error}");
    sim.spawn_body(Body::point(1.0, DVec3::new(1.0, 1.0, 2.0)))?;
    Ok(())
}

#[test]
fn a_force_that_panics_is_an_error_that_names_its_body_and_the_step_can_be_done_again() -> Fallible {
    let mut sim = Simulation::default();
    let body = sim.spawn_body(Body::point(1.0, DVec3::ONE).named("rocket"))?;
    let force = sim.add_force(body, |t, _, _| if t > 0.0015 { panic!("no fuel at {t}") } else { AppliedForce::default() })?;
    let error = loop {
        if let Err(error) = sim.step() {
            break error.to_string();
        }
    };
    assert!(error.contains("body \"rocket\": a force that was added to it panicked: no fuel at 0.002"), "{error}");
    sim.remove(force);
    let before = sim.time();
    sim.step()?;
    assert!(sim.time() > before);
    Ok(())
}

#[test]
fn loads_on_all_bodies_that_panic_are_errors_and_the_step_can_be_done_again() -> Fallible {
    for (name, mean) in [("add_load", false), ("add_mean_load", true)] {
        let mut sim = Simulation::default();
        let body = sim.spawn_body(Body::point(2.0, DVec3::ONE))?;
        let gust = |t: f64| if t > 0.0015 { panic!("no wind at {t}") } else { DVec3::X * 4.0 };
        let load = match mean {
            false => sim.add_load(move |t, rows| rows[0].load.force += gust(t)),
            true => sim.add_mean_load(move |[from, _], rows| rows[0].load.force += gust(from)),
        };
        sim.step()?;
        sim.step()?;
        let of = |sim: &Simulation| (sim.time(), *sim.world().get::<Velocity>(body).expect("alive"));
        let before = of(&sim);
        assert!((before.1.linear.x - 0.004).abs() < 1e-15, "{before:?}");
        let error = sim.step().unwrap_err().to_string();
        let said = format!("step 3 (t = 0.002 s): a load on all bodies ({name}) panicked: no wind at 0.002");
        assert!(error.starts_with(&said), "{error}");
        assert_eq!(of(&sim), before);
        assert!(sim.remove(load));
        sim.step()?;
        assert!((of(&sim).1.linear.x - 0.004).abs() < 1e-15, "nothing of the load is left: {:?}", of(&sim));
    }
    Ok(())
}

#[test]
fn drives_that_panic_are_errors_that_name_their_body_with_given_steps_and_with_chosen_ones() -> Fallible {
    for chosen in [false, true] {
        let mut sim = Simulation::default();
        // steps that choose their length ask for its velocity within the step, after 0.21 and 0.79 of it
        let drive = |t: f64| if t > 0.0019 { panic!("{}", ["torn"][0]) } else { (DVec3::X, DVec3::ZERO) };
        let belt = sim.spawn_body(Body::new(Shape::ball(0.1)?).driven(Arc::new(drive)).named("belt"))?;
        if chosen {
            sim.set_auto_step(AutoStep { largest: 1e-3, ..AutoStep::default() })?;
        }
        let error = loop {
            if let Err(error) = sim.step() {
                break error.to_string();
            }
        };
        assert!(error.starts_with("step 3") && error.contains("body \"belt\": its drive panicked: torn"), "{error}");
        let x = |sim: &Simulation| sim.world().get::<BodyPose>(belt).expect("alive").0.position.x;
        assert!((x(&sim) - 0.002).abs() < 1e-15, "{}", x(&sim));
        sim.world_mut().entity_mut(belt).insert(Motion::Static);
        sim.step()?;
        assert!((x(&sim) - 0.002).abs() < 1e-15, "{}", x(&sim));
    }
    Ok(())
}

#[test]
fn a_state_is_restored_into_bodies_of_its_shapes_alone() -> Fallible {
    let build = |shape: Shape| -> Fallible<(Simulation, [Entity; 2])> {
        let mut sim = Simulation::default();
        let first = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::X))?;
        let stone = sim.spawn_body(Body::new(shape).named("stone"))?;
        Ok((sim, [first, stone]))
    };
    let (mut sim, bodies) = build(Shape::ball(0.1)?)?;
    sim.step()?;
    let saved = sim.save(&bodies);
    for other in [Shape::ball(0.2)?, Shape::cuboid(DVec3::splat(0.1))?] {
        let (mut sim, bodies) = build(other)?;
        let error = sim.restore(&saved, &bodies).unwrap_err().to_string();
        assert!(error.contains("body \"stone\" was a ball (radius 0.1 m") && error.contains("build it as it was"), "{error}");
        let first = sim.world().get::<BodyPose>(bodies[0]).ok_or("gone")?.0.position;
        assert_eq!(first, DVec3::X, "nothing is restored by halves");
    }
    let (mut sim, bodies) = build(Shape::ball(0.1)?)?;
    sim.restore(&saved, &bodies)?;
    Ok(())
}
