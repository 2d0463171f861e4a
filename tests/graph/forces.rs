//! Forces of the user on bodies, and rigid bodies of clusters that come to stand among bodies with shapes.

use super::Fallible;
use super::ties::{moreau_jean, weightless};
use bevy_ecs::prelude::*;
use drystone::model::interaction::{Lodger, OfBodies};
use drystone::model::joint::Joint;
use drystone::prelude::{
    AppliedForce, Body, BodyForces, BodyPose, Collider, Event, Frame, GravityScale, Gyroscopic, Inertia, Integrator, Interaction,
    JointKind, JointSpec, Lagrangian, LagrangianLinear, LagrangianNonlinear, Law, NewtonEuler, Operator, Pose, Scheme, Shape, Simulation,
    Slot, Treatment, Velocity, Wrench,
};
use glam::{DQuat, DVec3};

const MIDPOINT: Treatment = Treatment::Forecast { theta: 0.5 };
const GAP_AWARE: Treatment = Treatment::GapAware { beta: 0.1 };

fn pose(sim: &Simulation, body: Entity) -> Fallible<Pose> {
    Ok(sim.world().get::<BodyPose>(body).ok_or("gone")?.0)
}

fn velocity(sim: &Simulation, body: Entity) -> Fallible<Velocity> {
    Ok(*sim.world().get::<Velocity>(body).ok_or("gone")?)
}

/// f = −k x
fn spring(k: f64) -> Operator {
    Operator::function(move |at, f| (0..3).for_each(|i| f[i] = -k * at.q[i]))
}

#[test]
fn a_spring_of_the_user_is_that_of_a_cluster_at_any_stiffness_and_of_a_joint_by_the_midpoint_rule() -> Fallible {
    for treatment in [MIDPOINT, GAP_AWARE] {
        for k in [50.0, 5e4, 5e6, 5e9] {
            let mut sim = weightless(treatment, 1e-3)?;
            sim.set_newton(drystone::cluster::NewtonLoop { tolerance: 1e-13, ..Default::default() });
            // rows across the slide, and its spring, are solved to the tolerance, at speeds of up to 15 km/s
            sim.solver_mut().tolerance = 1e-11;
            let ball = |y: f64| Ok::<_, drystone::geometry::ShapeError>(Body::new(Shape::ball(0.1)?).mass(2.0).at(DVec3::new(0.3, y, 0.0)));
            // the force knows nothing of y, where the bodies lie side by side
            let along = move || Operator::function(move |at, f| f[0] = -k * at.q[0]);
            let differences = sim.spawn_body(ball(0.0)?)?;
            sim.world_mut().entity_mut(differences).insert(BodyForces::default().with_force(along(), Frame::Inertial));
            let given = sim.spawn_body(ball(1.0)?)?;
            let mut rows = [0.0; 21];
            rows[0] = -k;
            let force = Wrench::new(along(), Frame::Inertial).with_tangents(rows, [0.0; 18]);
            sim.world_mut().entity_mut(given).insert(BodyForces { force, ..BodyForces::default() });
            // a spring of a joint keeps its energy in gap-aware scenes, which forces by the implicit rule do not
            let jointed = if treatment == MIDPOINT { sim.spawn_body(ball(2.0)?)? } else { differences };
            if treatment == MIDPOINT {
                sim.add_joint(jointed, None, &JointSpec::new(JointKind::Prismatic).axis(DVec3::X).spring(k, 0.0).rest(-0.3))?;
            }
            let system = NewtonEuler::new(2.0, DVec3::ONE).at(DVec3::X * 0.3).with_force(along(), Frame::Inertial);
            let system = sim.spawn_system(system, moreau_jean(treatment.theta()))?;
            let mut worst = [0.0f64; 3];
            for _ in 0..400 {
                let report = sim.step()?;
                assert!(report.converged && report.systems.unconverged == 0, "k = {k}: {report:?}");
                let x = [differences, given, jointed, system].map(|e| sim.world().get::<BodyPose>(e).map_or(f64::NAN, |p| p.0.position.x));
                worst.iter_mut().zip(&x[1..]).for_each(|(w, other)| *w = w.max((x[0] - other).abs()));
                // θ = 1 has brought them to rest
                if x.iter().all(|x| x.abs() < 1e-12) {
                    break;
                }
            }
            println!("{treatment:?}, k = {k}: {worst:?}, balance {:e}", sim.balance().error());
            let bounds = [1e-12, 1e-8, 1e-9];
            assert!(worst.iter().zip(bounds).all(|(w, bound)| *w < bound), "{treatment:?}, k = {k} N/m: {worst:?} m");
            assert!(sim.balance().error() < 1e-10, "{treatment:?}, k = {k} N/m: {}", sim.balance().error());
        }
    }
    Ok(())
}

/// A spring at a corner a of a body, given as a force and a moment in axes of the body: position and turn are tied to each other.
const ARM: DVec3 = DVec3::new(0.1, 0.05, -0.08);

fn corner(k: f64, c: f64, anchor: DVec3) -> BodyForces {
    let arm = ARM;
    let force = move |at: &drystone::model::operator::At| {
        let r = DQuat::from_xyzw(at.q[4], at.q[5], at.q[6], at.q[3]);
        let place = DVec3::from_slice(at.q) + r * arm;
        let speed = DVec3::from_slice(at.v) + r * DVec3::from_slice(&at.v[3..]).cross(arm);
        r.conjugate() * (-k * (place - anchor) - c * speed)
    };
    BodyForces::default()
        .with_force(Operator::function(move |at, f| f.copy_from_slice(&force(at).to_array())), Frame::Body)
        .with_moment(Operator::function(move |at, m| m.copy_from_slice(&arm.cross(force(at)).to_array())), Frame::Body)
}

#[test]
fn a_spring_at_a_corner_turns_a_body_as_it_turns_a_system() -> Fallible {
    for (k, c, stretch) in [(80.0, 0.0, 0.4), (3e4, 20.0, 0.05), (1e8, 0.0, 1e-4), (5e9, 100.0, 1e-6)] {
        let corner = || corner(k, c, ARM + DVec3::Z * stretch);
        let scheme = Scheme { time_step: 5e-4, treatment: MIDPOINT, gyroscopic: Gyroscopic::ThetaRule, ..Scheme::default() };
        let mut sim = Simulation::new(scheme)?;
        sim.set_newton(drystone::cluster::NewtonLoop { tolerance: 1e-13f64.max(1e-18 * k), ..Default::default() });
        sim.solver_mut().tolerance = 1e-12;
        let inertia = DVec3::new(0.02, 0.03, 0.04);
        let body =
            Body { shape: Some(Shape::cuboid(DVec3::splat(0.05))?), ..Body::point(1.5, inertia) }.spinning(DVec3::new(1.0, -2.0, 0.5));
        let body = sim.spawn_body(body)?;
        sim.world_mut().entity_mut(body).insert(corner());
        let system = NewtonEuler::new(1.5, inertia).spinning(DVec3::new(1.0, -2.0, 0.5)).with_forces(corner()).with_gravity();
        let system = sim.spawn_system(system, moreau_jean(0.5))?;
        let (mut worst, mut passes): (f64, _) = (0.0, 0);
        for _ in 0..600 {
            let report = sim.step()?;
            assert!(report.converged && report.systems.unconverged == 0, "k = {k}: {report:?}");
            passes = passes.max(report.passes);
            let (a, b) = (pose(&sim, body)?, pose(&sim, system)?);
            worst = worst.max(a.position.distance(b.position)).max((a.rotation * b.rotation.conjugate()).xyz().length());
        }
        println!("k = {k}: {worst:e}, {passes} passes, balance {:e}", sim.balance().error());
        assert!(worst < 1e-8, "k = {k} N/m: {worst:e}");
        assert!(sim.balance().error() < 1e-10, "k = {k} N/m: {}", sim.balance().error());
    }
    Ok(())
}

#[test]
fn a_stiff_force_presses_a_body_on_a_floor_that_carries_it() -> Fallible {
    for (k, x) in [(50.0, 0.0), (5e5, 0.02), (5e9, 0.02)] {
        let mut sim = Simulation::with_time_step(1e-3)?;
        // passes settle within ten tolerances of the largest velocity, and so does the balance
        sim.solver_mut().tolerance = 1e-10;
        sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
        let block = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).mass(3.0).at(DVec3::new(x, 0.0, 0.1)))?;
        // towards a place 1 mm below the centre at rest: it slides there, and θ = 1 takes what a stiff spring would shake with
        let pull = Operator::function(move |at, f| (0..3).for_each(|i| f[i] = -k * (at.q[i] - if i == 2 { 0.099 } else { 0.0 })));
        sim.world_mut().entity_mut(block).insert(BodyForces::default().with_force(pull, Frame::Inertial));
        let mut report = sim.step()?;
        for _ in 0..500 {
            report = sim.step()?;
            assert!(report.converged, "k = {k}: {report:?}");
        }
        let place = pose(&sim, block)?.position;
        let wanted = 3.0 * 9.81 + k * (place.z - 0.099);
        assert!((place.z - 0.1).abs() < 1e-6, "k = {k}: {place}");
        assert!((report.support_force.z + wanted).abs() < 1e-4 * wanted, "k = {k}: {} N, {wanted} N", report.support_force.z);
        let v = velocity(&sim, block)?.linear;
        assert!(v.length() < 1e-6, "k = {k}: {v}");
        assert!(report.balance.error() < 1e-10, "k = {k}: {}", report.balance.error());
    }
    Ok(())
}

#[test]
fn a_thrust_turns_with_a_body_and_a_moment_at_rest_does_not() -> Fallible {
    let scheme =
        Scheme { time_step: 1e-3, treatment: MIDPOINT, gyroscopic: Gyroscopic::ThetaRule, gravity: DVec3::ZERO, ..Scheme::default() };
    let mut sim = Simulation::new(scheme)?;
    sim.solver_mut().tolerance = 1e-12;
    sim.set_newton(drystone::cluster::NewtonLoop { tolerance: 1e-13, ..Default::default() });
    let inertia = DVec3::new(0.5, 0.7, 0.9);
    let forces = || BodyForces::default().with_force([4.0, 0.0, 0.0], Frame::Body).with_moment([0.7, 0.1, 0.0], Frame::Inertial);
    let body = sim.spawn_body(Body { shape: Some(Shape::ball(0.1)?), ..Body::point(2.0, inertia) }.spinning(DVec3::Z * 3.0))?;
    sim.world_mut().entity_mut(body).insert(forces());
    let system = sim.spawn_system(NewtonEuler::new(2.0, inertia).spinning(DVec3::Z * 3.0).with_forces(forces()), moreau_jean(0.5))?;
    for _ in 0..1000 {
        assert!(sim.step()?.converged);
    }
    let (a, b) = (pose(&sim, body)?, pose(&sim, system)?);
    assert!(a.position.distance(b.position) < 1e-9 && (a.rotation * b.rotation.conjugate()).xyz().length() < 1e-9, "{a:?} {b:?}");
    // R I ω grows by the moment, whatever the body does
    let momentum = a.rotation * (inertia * velocity(&sim, body)?.angular);
    assert!((momentum - DVec3::new(0.7, 0.1, 2.7)).length() < 1e-4, "{momentum}");
    assert!(sim.balance().error() < 1e-10, "{}", sim.balance().error());
    Ok(())
}

#[test]
fn forces_come_and_go_by_commands_and_what_is_wrong_with_them_is_named() -> Fallible {
    let mut sim = weightless(GAP_AWARE, 1e-3)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(2.0).named("kite"))?;
    sim.world_mut().entity_mut(ball).insert(BodyForces::default().with_force(Operator::function(|at, f| f[1] = at.z[0]), Frame::Inertial));
    let error = sim.step().expect_err("z is missing").to_string();
    assert!(error.contains("\"kite\"") && error.contains("force") && error.contains("0 of z"), "{error}");
    assert_eq!(sim.time(), 0.0);
    sim.world_mut().get_mut::<BodyForces>(ball).ok_or("gone")?.z = vec![4.0];
    sim.run_until(0.5)?;
    assert!((velocity(&sim, ball)?.linear.y - 1.0).abs() < 1e-12);
    sim.world_mut().get_mut::<BodyForces>(ball).ok_or("gone")?.z[0] = f64::NAN;
    let error = sim.step().expect_err("not a number").to_string();
    assert!(error.contains("\"kite\"") && error.contains("z holds NaN; every value has to be finite"), "{error}");
    sim.world_mut().entity_mut(ball).remove::<BodyForces>();
    sim.run_until(1.0)?;
    assert!((velocity(&sim, ball)?.linear.y - 1.0).abs() < 1e-12);
    sim.world_mut().entity_mut(ball).insert(BodyForces::default().with_force([1.0, 2.0], Frame::Inertial));
    let error = sim.step().expect_err("two values").to_string();
    assert!(error.contains("\"kite\"") && error.contains("the force holds 2 values, but 3 are needed"), "{error}");
    Ok(())
}

/// A rod that a ball joint ties to a shaped ball: both of bodies, or the rod as a system.
fn rod_and_ball(as_system: bool, treatment: Treatment) -> Fallible<(Simulation, [Entity; 3])> {
    let scheme = Scheme { time_step: 1e-3, treatment, joint_feedback: 0.0, ..Scheme::default() };
    let mut sim = Simulation::new(scheme)?;
    sim.solver_mut().tolerance = 1e-12;
    let (place, inertia) = (DVec3::new(0.5, 0.0, 1.0), DVec3::new(0.02, 0.1, 0.09));
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(1.0).at(DVec3::Z))?;
    let rod = if as_system {
        sim.spawn_system(NewtonEuler::new(0.7, inertia).at(place).with_gravity(), moreau_jean(treatment.theta()))?
    } else {
        sim.spawn_body(Body::point(0.7, inertia).at(place))?
    };
    let joint = Joint::at(JointKind::Spherical, [&Pose::at(DVec3::Z), &Pose::at(place)], DVec3::new(0.1, 0.0, 1.0), DVec3::Z, None);
    let joint = sim.spawn_interaction(Interaction::new([ball, rod], joint, Law::Equality))?;
    Ok((sim, [ball, rod, joint]))
}

#[test]
fn a_rigid_system_that_is_tied_to_a_body_is_a_body() -> Fallible {
    for treatment in [MIDPOINT, GAP_AWARE] {
        let (mut one, [_, rod, _]) = rod_and_ball(false, treatment)?;
        let (mut two, [ball, system, joint]) = rod_and_ball(true, treatment)?;
        for _ in 0..300 {
            assert!(one.step()?.converged && two.step()?.converged);
            assert_eq!(pose(&one, rod)?, pose(&two, system)?, "bit for bit");
        }
        assert!(two.world().get::<Lodger>(system).is_some() && two.balance().error() < 1e-10);
        // the ball goes: the rod falls on in a cluster, and a tie of its own stays with it
        let floor = LagrangianLinear::new([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.2]);
        let guide =
            two.spawn_interaction(Interaction::new([system], floor, Law::Spring { stiffness: 10.0, damping: 0.0, limit: f64::INFINITY }))?;
        two.step()?;
        let before = (pose(&two, system)?, velocity(&two, system)?);
        two.world_mut().despawn(ball);
        assert!(two.world().get_entity(joint).is_err(), "its joint ends with it");
        two.step()?;
        assert!(two.world().get::<Slot>(system).is_none() && two.world().get::<OfBodies>(system).is_none());
        assert!(two.world().get_entity(guide).is_ok());
        let after = (pose(&two, system)?, velocity(&two, system)?);
        assert!((after.1.linear.z - before.1.linear.z + 9.81e-3).abs() < 1e-12, "{before:?} {after:?}");
        two.advance(10)?;
        assert!(pose(&two, system)?.position.z < after.0.position.z);
    }
    Ok(())
}

#[test]
fn a_rigid_system_whose_integrator_does_not_fit_its_island_is_named() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(1.0))?;
    let rod = sim.spawn_system(NewtonEuler::new(0.7, DVec3::ONE).at(DVec3::X), moreau_jean(0.5))?;
    sim.set_name(rod, "rod");
    let joint = Joint::at(JointKind::Spherical, [&Pose::IDENTITY, &Pose::at(DVec3::X)], DVec3::ZERO, DVec3::Z, None);
    sim.spawn_interaction(Interaction::new([ball, rod], joint, Law::Equality))?;
    let error = sim.step().expect_err("θ = 1 is needed").to_string();
    assert!(error.contains("\"rod\"") && error.contains("theta = 1"), "{error}");
    Ok(())
}

#[test]
fn a_collider_or_the_end_of_the_integrator_makes_a_body_for_good() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    let parts = || NewtonEuler::new(1.0, DVec3::splat(0.004)).with_gravity().components();
    let place = |x: f64| BodyPose(Pose::at(DVec3::new(x, 0.0, 0.3)));
    let born = sim.world_mut().spawn((parts()?, moreau_jean(1.0), Collider::new(Shape::ball(0.1)?))).insert(place(0.0)).id();
    let late = sim.world_mut().spawn((parts()?, moreau_jean(1.0))).insert(place(1.0)).id();
    let bare = sim.world_mut().spawn((parts()?, moreau_jean(1.0))).insert(place(2.0)).id();
    let slot = |sim: &Simulation, e: Entity| sim.world().get::<Slot>(e).is_some();
    assert_eq!([born, late, bare].map(|e| slot(&sim, e)), [true, false, false]);
    sim.run_until(0.05)?;
    let fallen = [born, late, bare].map(|e| sim.world().get::<Velocity>(e).map_or(0.0, |v| v.linear.z));
    assert!(fallen.iter().all(|v| (v + 0.05 * 9.81).abs() < 1e-12), "{fallen:?}");
    sim.world_mut().entity_mut(late).insert(Collider::new(Shape::ball(0.1)?));
    sim.world_mut().entity_mut(bare).remove::<Integrator>();
    assert_eq!([born, late, bare].map(|e| slot(&sim, e)), [true, true, true]);
    sim.run_until(1.0)?;
    assert!((pose(&sim, born)?.position.z - 0.1).abs() < 1e-9 && (pose(&sim, late)?.position.z - 0.1).abs() < 1e-9);
    assert!(pose(&sim, bare)?.position.z < -4.0, "nothing to touch with");
    for e in [born, late, bare] {
        sim.world_mut().despawn(e);
    }
    sim.step()?;
    assert_eq!(sim.step()?.contacts, 0);
    Ok(())
}

/// A world with everything: state hash and balance.
fn world(threads: usize, stop: Option<u64>) -> Fallible<(u64, f64)> {
    let build = || -> Fallible<(Simulation, Vec<Entity>)> {
        let mut sim = Simulation::with_time_step(1e-3)?;
        sim.solver_mut().tolerance = 1e-8;
        let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
        let gone = sim.spawn_body(Body::new(Shape::ball(0.05)?).at(DVec3::new(3.0, 0.0, 0.05)))?;
        let block = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::Z * 0.1).moving(DVec3::X))?;
        sim.world_mut().entity_mut(block).insert(corner(3e4, 5.0, DVec3::new(0.1, 0.05, 0.1)));
        let thrust = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(1.0).at(DVec3::new(1.0, 0.0, 0.1)))?;
        let pushed = BodyForces::default().with_force(Operator::function(|at, f| f[0] = at.z[0]), Frame::Inertial).with_parameters([0.0]);
        sim.world_mut().entity_mut(thrust).insert(pushed);
        let rod = NewtonEuler::new(0.7, DVec3::new(0.02, 0.1, 0.09)).at(DVec3::new(1.5, 0.0, 0.1)).with_gravity();
        let rod = sim.spawn_system(rod.with_force(spring(20.0), Frame::Inertial), moreau_jean(1.0))?;
        let joint = Joint::at(
            JointKind::Spherical,
            [&Pose::at(DVec3::new(1.0, 0.0, 0.1)), &Pose::at(DVec3::new(1.5, 0.0, 0.1))],
            DVec3::X,
            DVec3::Z,
            None,
        );
        sim.spawn_interaction(Interaction::new([thrust, rod], joint, Law::Equality))?;
        let lone = NewtonEuler::new(1.0, DVec3::ONE).at(DVec3::Z * 5.0).with_force(spring(300.0), Frame::Body).spinning(DVec3::ONE);
        sim.spawn_system(lone, moreau_jean(0.5))?;
        sim.at(0.05, Event::Death(gone))?;
        sim.at(0.1, Event::Blow(rod, AppliedForce { force: DVec3::Z, torque: DVec3::Y * 0.1 }))?;
        Ok((sim, vec![floor, gone, block, thrust]))
    };
    let drive = |sim: &mut Simulation, bodies: &[Entity], step: u64| {
        if step.is_multiple_of(50)
            && let Some(mut forces) = sim.world_mut().get_mut::<BodyForces>(bodies[3])
        {
            forces.z[0] += 1.0;
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let run = || -> Fallible<(u64, f64)> {
        let (mut sim, mut bodies) = build()?;
        for step in 0..500 {
            if stop == Some(step) {
                let saved = sim.save(&bodies);
                (sim, bodies) = build()?;
                sim.restore(&saved, &bodies)?;
            }
            drive(&mut sim, &bodies, step);
            let report = sim.step()?;
            assert!(report.converged, "{report:?}");
        }
        Ok((sim.state_hash(), sim.balance().error()))
    };
    pool.install(|| run().map_err(|e| e.to_string())).map_err(Into::into)
}

#[test]
fn forces_and_lodgers_give_the_same_bits_on_any_threads_and_after_a_pause() -> Fallible {
    let (hash, error) = world(1, None)?;
    assert!(error < 1e-10, "{error}");
    for (threads, stop) in [(2, None), (8, None), (1, Some(1)), (2, Some(333))] {
        assert_eq!(world(threads, stop)?.0, hash, "{threads} threads, paused at {stop:?}");
    }
    Ok(())
}

#[test]
fn gravity_acts_on_lagrangian_systems_and_rigid_ones_where_asked() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    sim.set_newton(drystone::cluster::NewtonLoop { tolerance: 1e-13, ..Default::default() });
    // a pendulum of 2 kg on 0.5 m: x = (l sin q, 0, −l cos q)
    let (m, l) = (2.0, 0.5);
    let pendulum = || Lagrangian::new([m * l * l]).at([0.8]);
    let weight = Operator::function(move |at, w| (w[0], w[2]) = (m * l * at.q[0].cos(), m * l * at.q[0].sin()));
    let asked = sim.spawn_system(pendulum().with_gravity(weight), Integrator::MOREAU_JEAN)?;
    let force = Operator::function(move |at, f| f[0] = m * 9.81 * l * at.q[0].sin());
    let own = sim.spawn_system(pendulum().with_internal(force), Integrator::MOREAU_JEAN)?;
    let falls = [
        Integrator::MOREAU_JEAN,
        Integrator::Modal { gamma: 0.5 },
        Integrator::SchatzmanPaoli { theta: 0.5 },
        Integrator::D1Minus { tolerance: 1e-8 },
    ];
    let falls: Result<Vec<_>, _> =
        falls.into_iter().map(|i| sim.spawn_system(Lagrangian::new([m]).at([0.0]).with_gravity([0.0, 0.0, m]), i)).collect();
    let falls = falls?;
    let stone = sim.spawn_system(NewtonEuler::new(m, DVec3::ONE).with_gravity(), Integrator::MOREAU_JEAN)?;
    let free = sim.spawn_system(NewtonEuler::new(m, DVec3::ONE), Integrator::MOREAU_JEAN)?;
    sim.advance(500)?;
    let q = |sim: &Simulation, e| sim.world().get::<Lagrangian>(e).map_or(f64::NAN, |s| s.q[0]);
    assert!((q(&sim, asked) - q(&sim, own)).abs() < 1e-10 && q(&sim, own) < 0.7, "{} {}", q(&sim, asked), q(&sim, own));
    for &e in &falls {
        assert!((q(&sim, e) + 0.5 * 9.81 * 0.25).abs() < 5e-3, "{}", q(&sim, e));
    }
    assert!((pose(&sim, stone)?.position.z + 0.5 * 9.81 * 0.25).abs() < 1e-9 && pose(&sim, free)?.position == DVec3::ZERO);
    // gravity turns in the middle of a run
    let v = velocity(&sim, stone)?.linear;
    sim.at(0.5, Event::Gravity(DVec3::X))?;
    sim.advance(100)?;
    assert!((velocity(&sim, stone)?.linear - v - DVec3::X * 0.1).length() < 1e-12);
    sim.world_mut().entity_mut(free).insert(GravityScale(2.0));
    sim.advance(100)?;
    assert!((velocity(&sim, free)?.linear - DVec3::X * 0.2).length() < 1e-12);
    Ok(())
}

#[test]
fn gravity_on_a_lagrangian_system_that_carries_a_body() -> Fallible {
    // a lift of 2 kg with a ball of 3 kg on it: both fall as one
    let mut sim = Simulation::with_time_step(1e-3)?;
    let lift = sim.spawn_system(Lagrangian::new([2.0]).at([1.0]).with_gravity([0.0, 0.0, 2.0]), moreau_jean(1.0))?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(3.0).at(DVec3::Z * 1.0))?;
    let tie = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[3] - at.q[0]));
    let tie = sim.spawn_interaction(Interaction::new([lift, ball], tie, Law::Equality))?;
    for _ in 0..300 {
        assert!(sim.step()?.converged);
        assert!(sim.world().get::<Interaction>(tie).ok_or("gone")?.lambda[0].abs() < 1e-9, "they need no rope");
    }
    assert!((velocity(&sim, ball)?.linear.z + 0.3 * 9.81).abs() < 1e-9);
    assert!(sim.balance().error() < 1e-10, "{}", sim.balance().error());
    Ok(())
}

#[test]
fn change_detection_hears_of_what_a_step_has_moved_in_either_machine() -> Fallible {
    #[derive(Resource, Default)]
    struct Heard(Vec<Entity>, usize);
    fn listen(moved: Query<Entity, Changed<BodyPose>>, forces: Query<(), Changed<BodyForces>>, mut heard: ResMut<Heard>) {
        heard.0 = moved.iter().collect();
        heard.1 = forces.iter().count();
    }
    let mut sim = weightless(GAP_AWARE, 1e-3)?;
    sim.world_mut().init_resource::<Heard>();
    let rests = sim.spawn_system(NewtonEuler::new(1.0, DVec3::ONE), Integrator::MOREAU_JEAN)?;
    let moves = sim.spawn_system(NewtonEuler::new(1.0, DVec3::ONE).moving(DVec3::X), Integrator::MOREAU_JEAN)?;
    let body = sim.spawn_body(Body::point(1.0, DVec3::ONE).moving(DVec3::X))?;
    sim.world_mut().entity_mut(body).insert(BodyForces::default().with_force(spring(10.0), Frame::Inertial));
    let still = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
    sim.world_mut().entity_mut(still).insert(BodyForces::default().with_force(spring(10.0), Frame::Inertial));
    sim.add_systems(drystone::prelude::StepSet::After, listen)?;
    sim.step()?;
    sim.step()?;
    let heard = sim.world().resource::<Heard>();
    let mut found = heard.0.clone();
    found.sort_by_key(|e| e.index_u32());
    assert_eq!((found, heard.1), (vec![moves, body], 0));
    let inertia = Inertia { mass: 4.0, principal: DVec3::ONE };
    sim.world_mut().entity_mut(rests).insert((inertia, Velocity { linear: DVec3::Y, angular: DVec3::ZERO }));
    sim.step()?;
    assert!((pose(&sim, rests)?.position.y - 1e-3).abs() < 1e-15);
    Ok(())
}
