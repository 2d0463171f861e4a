//! One table for bodies, joints, systems that bodies hold, and the whole; gaps of joints closed by projection.

use super::Fallible;
use super::ties::{moreau_jean, weightless};
use drystone::geometry::Shape;
use drystone::model::contact::{ContactPair, Manifold};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::interaction::Interaction;
use drystone::model::joint::{JointKind, JointSpec, TieLaw, TieRelation, TieSpec};
use drystone::model::law::Law;
use drystone::model::newton_euler::{BodyPose, GravityScale, Velocity};
use drystone::model::relation::LagrangianLinear;
use drystone::model::scheme::{Clock, Drift, Scheme, Treatment};
use drystone::model::signal::{BodyQuantity, JointQuantity, TotalQuantity};
use drystone::simulation::{Body, JointState, Signal, Simulation};
use glam::DVec3;

/// A wheel on a hinge that turns at 10 rad/s; nothing acts on its coordinate.
fn wheel() -> Fallible<(Simulation, [bevy_ecs::entity::Entity; 2])> {
    let mut sim = Simulation::new(Scheme { time_step: 2e-3, ..Scheme::default() })?;
    let body = Body::point(2.0, DVec3::new(0.1, 0.1, 0.2)).named("wheel").spinning(DVec3::Z * 10.0);
    let body = sim.spawn_body(body)?;
    let hinge = sim.add_joint(body, None, &JointSpec::new(JointKind::Revolute))?;
    sim.set_name(hinge[0], "hinge");
    Ok((sim, [body, hinge[0]]))
}

#[test]
fn turns_of_a_joint_are_counted_and_its_force_holds_the_weight() -> Fallible {
    let (mut sim, [body, hinge]) = wheel()?;
    let of = |q| Signal::Joint(hinge, q);
    let signals = [
        Signal::Time,
        of(JointQuantity::Coordinate),
        of(JointQuantity::Speed),
        of(JointQuantity::ForceZ),
        Signal::Body(body, BodyQuantity::Wz),
        Signal::Body(body, BodyQuantity::Kinetic),
        Signal::State(body, 6),
        Signal::Velocity(body, 5),
        Signal::Total(TotalQuantity::SupportZ),
    ];
    let table = sim.record(10, signals);
    sim.run_until(2.0)?;
    let names = sim.columns(table);
    assert_eq!(names[..5], ["time [s]", "hinge.coordinate [rad]", "hinge.speed [rad/s]", "hinge.force_z [N]", "wheel.wz [rad/s]"]);
    let rows: Vec<Vec<f64>> = sim.trace(table).ok_or("no table")?.rows().map(<[f64]>::to_vec).collect();
    assert_eq!(rows.len(), 101);
    for row in &rows[1..] {
        let t = row[0];
        assert!((row[1] - 10.0 * t).abs() < 1e-9, "{t}: {}", row[1]);
        assert!((row[2] - 10.0).abs() < 1e-9 && (row[3] - 19.62).abs() < 1e-6 && (row[4] - 10.0).abs() < 1e-9);
        assert!((row[5] - 0.5 * 0.2 * 100.0).abs() < 1e-7 && (row[8] + 19.62).abs() < 1e-6, "{row:?}");
        assert!((row[6] - (5.0 * t).sin()).abs() < 1e-6 || (row[6] + (5.0 * t).sin()).abs() < 1e-6, "{row:?}");
        assert!((row[7] - 10.0).abs() < 1e-9);
    }
    Ok(())
}

/// A stone on a hinge without gravity, which swings a ball along in its pocket: its joint and the pair that they are.
fn sling(speed: f64) -> Fallible<(Simulation, [bevy_ecs::entity::Entity; 2])> {
    let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    let at = |x: f64| (DVec3::X * x, DVec3::Y * x * speed);
    let (arm, ball) = (at(0.1), at(0.08));
    let pocket = Body::new(Shape::cuboid(DVec3::splat(0.01))?).mass(2.0).at(arm.0).moving(arm.1).spinning(DVec3::Z * speed);
    let pocket = sim.spawn_body(pocket)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.01)?).mass(0.5).at(ball.0).moving(ball.1).spinning(DVec3::Z * speed))?;
    let hinge = sim.add_joint(pocket, None, &JointSpec::new(JointKind::Revolute))?;
    Ok((sim, [ball, hinge[0]]))
}

#[test]
fn forces_are_those_of_steps_in_parts_and_stay_where_the_time_step_changes() -> Fallible {
    let pushes = |sim: &Simulation, ball| sim.value(Signal::Body(ball, BodyQuantity::ContactX)).map(f64::abs);
    let of_pair = |sim: &mut Simulation| {
        let (h, world) = (sim.world().resource::<Clock>().measure, sim.world_mut());
        let mut pairs = world.query::<(&ContactPair, &Manifold)>();
        pairs.iter(world).flat_map(|(pair, points)| pair.forces(&points.points, h)).map(|(_, force)| force.x.abs()).sum::<f64>()
    };
    let held = |sim: &Simulation, hinge| JointState::of(sim.world(), hinge).map_or(0.0, |joint| joint.force);
    for (speed, parts) in [(100.0, 1), (300.0, 2), (800.0, 4)] {
        let (mut sim, [ball, hinge]) = sling(speed)?;
        sim.step()?;
        assert_eq!(sim.step()?.parts, parts);
        let (push, force) = (pushes(&sim, ball)?, held(&sim, hinge));
        // m ω² r and what the ball adds, to the first order in the turn of a part
        let needed = 2.0 * 0.1 * speed * speed + push;
        assert!((force - needed).abs() < 0.1 * needed, "{speed} rad/s: {force} N, not {needed}");
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b;
        for h in [1e-3, 2e-4, 3e-3] {
            sim.set_scheme(Scheme { time_step: h, ..*sim.scheme() })?;
            let now = [pushes(&sim, ball)?, of_pair(&mut sim), held(&sim, hinge)];
            assert!(same(now[0], push) && same(now[1], push) && same(now[2], force), "{h} s: {now:?}, not {push} and {force}");
        }
        sim.world_mut().resource_mut::<Scheme>().time_step = 1e-3;
        assert!(same(held(&sim, hinge), force), "written by hand");
    }
    Ok(())
}

#[test]
fn energies_stand_in_the_first_row_too_and_know_the_gravity_of_each_body() -> Fallible {
    let mut sim = Simulation::new(Scheme { time_step: 1e-3, ..Scheme::default() })?;
    let spawn = |sim: &mut Simulation, x: f64| {
        sim.spawn_body(Body::point(2.0, DVec3::splat(0.1)).at(DVec3::new(x, 0.0, 3.0)).moving(DVec3::X).spinning(DVec3::Y * 10.0))
    };
    let (plain, light) = (spawn(&mut sim, 0.0)?, spawn(&mut sim, 5.0)?);
    sim.world_mut().entity_mut(light).insert(GravityScale(0.5));
    let of = |body, q| Signal::Body(body, q);
    let (kinetic, potential) = (BodyQuantity::Kinetic, BodyQuantity::Potential);
    let own = [of(plain, kinetic), of(light, kinetic), of(plain, potential), of(light, potential)];
    let whole = [TotalQuantity::Kinetic, TotalQuantity::Potential].map(Signal::Total);
    let table = sim.record(1, own.into_iter().chain(whole).collect::<Vec<_>>());
    sim.run_until(0.01)?;
    let rows: Vec<Vec<f64>> = sim.trace(table).ok_or("no table")?.rows().map(<[f64]>::to_vec).collect();
    assert_eq!(rows.len(), 11);
    assert!((rows[0][0] - 6.0).abs() < 1e-12 && (rows[0][2] - 58.86).abs() < 1e-12 && (rows[0][3] - 29.43).abs() < 1e-12, "{:?}", rows[0]);
    for row in rows {
        assert!((row[0] + row[1] - row[4]).abs() < 1e-9 && (row[2] + row[3] - row[5]).abs() < 1e-9, "{row:?}");
    }
    Ok(())
}

#[test]
fn contact_forces_on_a_body_add_up() -> Fallible {
    let mut sim = Simulation::default();
    let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    let cube = || Shape::cuboid(DVec3::splat(0.1));
    let lower = sim.spawn_body(Body::new(cube()?).mass(3.0).at(DVec3::Z * 0.1))?;
    let upper = sim.spawn_body(Body::new(cube()?).mass(2.0).at(DVec3::new(0.03, 0.0, 0.3)))?;
    let z = |body| Signal::Body(body, BodyQuantity::ContactZ);
    let table = sim.record(1, [z(floor), z(lower), z(upper)]);
    sim.run_until(0.1)?;
    let last: Vec<f64> = sim.trace(table).and_then(|t| t.rows().last().map(<[f64]>::to_vec)).ok_or("no rows")?;
    let expected = [-5.0 * 9.81, 3.0 * 9.81, 2.0 * 9.81];
    assert!(last.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3), "{last:?}");
    Ok(())
}

/// A cart on a spring that carries a ball, as one mechanism of a Lagrangian system and a body.
fn carried(h: f64) -> Fallible<(Simulation, [bevy_ecs::entity::Entity; 3])> {
    let mut sim = weightless(Treatment::GapAware { beta: 0.1 }, h)?;
    let cart = Lagrangian::new([2.0]).at([0.5]).with_stiffness([400.0]);
    let cart = sim.spawn_system(cart, moreau_jean(1.0))?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(3.0).at(DVec3::X * 0.5))?;
    let relation = LagrangianLinear::new([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]);
    let tie = sim.spawn_interaction(Interaction::new([cart, ball], relation, Law::Equality))?;
    Ok((sim, [cart, ball, tie]))
}

#[test]
fn systems_that_bodies_hold_are_recorded_as_components_show_them_and_tables_go_on_after_a_stop() -> Fallible {
    let signals = |[cart, ball, tie]: [bevy_ecs::entity::Entity; 3]| {
        [
            Signal::Time,
            Signal::State(cart, 0),
            Signal::Velocity(cart, 0),
            Signal::Input(cart, 0),
            Signal::Output(tie, 0),
            Signal::Rate(tie, 0),
            Signal::Multiplier(tie, 0),
            Signal::Body(ball, BodyQuantity::X),
            Signal::Total(TotalQuantity::Kinetic),
        ]
    };
    let (mut sim, entities) = carried(1e-3)?;
    let table = sim.record(3, signals(entities));
    let mut expected = Vec::new();
    for step in 1..=300 {
        sim.step()?;
        if step % 3 == 0 {
            let [cart, ball, tie] = entities;
            let world = sim.world();
            let (s, i) = (world.get::<Lagrangian>(cart).ok_or("gone")?, world.get::<Interaction>(tie).ok_or("gone")?);
            let x = world.get::<BodyPose>(ball).ok_or("gone")?.0.position.x;
            expected.push(vec![sim.time(), s.q[0], s.v[0], s.p[0], i.y[0], i.y_dot[0], i.lambda[0], x, sim.balance().energy.kinetic]);
        }
    }
    let rows: Vec<Vec<f64>> = sim.trace(table).ok_or("no table")?.rows().map(<[f64]>::to_vec).collect();
    assert_eq!(rows[1..], expected[..]);
    assert!(rows.iter().any(|row| row[6].abs() > 1e-3 && row[3] != 0.0), "the tie works");
    // the same in two parts, at a step that has a row and at one that has none
    for stop in [150, 151] {
        let (mut first, entities) = carried(1e-3)?;
        let begun = first.record(3, signals(entities));
        (0..stop).try_for_each(|_| first.step().map(drop))?;
        let saved = first.save(&[entities[1]]);
        let (mut second, entities) = carried(1e-3)?;
        let gone_on = second.record(3, signals(entities));
        second.restore(&saved, &[entities[1]])?;
        second.run_until(0.3)?;
        let parts = [(&first, begun), (&second, gone_on)].map(|(sim, n)| sim.trace(n).map(|t| t.rows().map(<[f64]>::to_vec).collect()));
        let [Some(mut whole), Some(rest)]: [Option<Vec<Vec<f64>>>; 2] = parts else { return Err("no tables".into()) };
        whole.extend(rest);
        // as text, as the energy before the first step is not known and so NaN
        assert_eq!(format!("{whole:?}"), format!("{rows:?}"), "stopped after {stop} steps");
    }
    Ok(())
}

#[test]
fn batches_with_a_table_of_the_whole_are_those_without() -> Fallible {
    let run = |with: bool| -> Fallible<(Vec<Vec<f64>>, usize)> {
        let mut sim = Simulation::with_time_step(1e-3)?;
        let mass = sim.spawn_system(Lagrangian::new([2.0]).at([0.5]).with_stiffness([400.0]), moreau_jean(0.5))?;
        let table = sim.record(7, [Signal::Time, Signal::State(mass, 0), Signal::Velocity(mass, 0)]);
        let other = if with { sim.record(50, [Signal::State(mass, 0), Signal::Total(TotalQuantity::BalanceError)]) } else { usize::MAX };
        sim.advance(1000)?;
        let rows = sim.trace(table).ok_or("no table")?.rows().map(<[f64]>::to_vec).collect();
        Ok((rows, sim.trace(other).map_or(0, |t| t.rows().len())))
    };
    let ((plain, _), (cut, others)) = (run(false)?, run(true)?);
    assert!(plain == cut && plain.len() == 143 && others == 21);
    Ok(())
}

#[test]
fn signals_that_are_not_there_are_refused_and_those_that_end_are_no_numbers() -> Fallible {
    let (mut sim, [body, hinge]) = wheel()?;
    let socket = sim.spawn_joint(body, None, DVec3::ZERO)?;
    sim.set_name(socket, "socket");
    for (signal, words) in [
        (Signal::Body(hinge, BodyQuantity::X), ["hinge.x", "no such body"]),
        (Signal::Joint(body, JointQuantity::Gap), ["wheel.gap", "add_joint"]),
        (Signal::Joint(socket, JointQuantity::Speed), ["socket.speed", "no coordinate"]),
        (Signal::State(body, 7), ["wheel.state.7", "count from 0"]),
        (Signal::Multiplier(hinge, 5), ["hinge.multiplier.5", "count from 0"]),
    ] {
        let asked = sim.value(signal).expect_err("there is no such signal").to_string();
        assert!(words.iter().all(|w| asked.contains(w)), "{asked}");
        let before = sim.time();
        let table = sim.record(1, [Signal::Time, signal]);
        let error = sim.step().expect_err("there is no such signal").to_string();
        assert!(error.contains("recorded") && error.contains(words[1]) && sim.time() == before, "{error}");
        sim.stop_recording(table);
    }
    let table = sim.record(1, [Signal::Body(body, BodyQuantity::Z), Signal::Joint(hinge, JointQuantity::Gap)]);
    sim.step()?;
    sim.despawn_body(body);
    sim.step()?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("no table")?.rows().collect();
    assert!(rows.len() == 3 && rows[1][0].is_finite() && rows[2].iter().all(|x| x.is_nan()), "{rows:?}");
    Ok(())
}

/// A double pendulum that swings through, its largest gap and its balance after two seconds.
fn double_pendulum(drift: Drift, treatment: Treatment) -> Fallible<(f64, f64, f64)> {
    let mut sim = Simulation::new(Scheme { time_step: 1e-2, drift, treatment, ..Scheme::default() })?;
    let rod = |x: f64| Body::point(1.0, DVec3::new(0.01, 0.09, 0.09)).at(DVec3::X * x);
    let (one, two) = (sim.spawn_body(rod(0.5))?, sim.spawn_body(rod(1.5))?);
    let hinge = |x: f64| JointSpec::new(JointKind::Revolute).at(DVec3::X * x).axis(DVec3::Y);
    let joints = [sim.add_joint(one, None, &hinge(0.0))?[0], sim.add_joint(one, Some(two), &hinge(1.0))?[0]];
    // the first hinge twice: rows that say nothing new
    sim.add_joint(one, None, &hinge(0.0))?;
    let (mut worst, mut balance): (f64, f64) = (0.0, 0.0);
    for _ in 0..200 {
        let report = sim.step()?;
        balance = balance.max(report.balance.error());
        for joint in joints {
            worst = worst.max(JointState::of(sim.world(), joint).ok_or("no joint")?.gap);
        }
    }
    let tip = sim.world().get::<BodyPose>(two).ok_or("gone")?.0.position;
    Ok((worst, balance, tip.z))
}

#[test]
fn projection_closes_joints_to_rounding_and_keeps_the_balance() -> Fallible {
    for treatment in [Treatment::GapAware { beta: 0.1 }, Treatment::Forecast { theta: 0.5 }] {
        let (open, _, _) = double_pendulum(Drift::Velocity, treatment)?;
        let (closed, balance, z) = double_pendulum(Drift::Projection, treatment)?;
        assert!(open > 1e-8 && closed < 1e-14, "{treatment:?}: {open:e} {closed:e}");
        assert!(balance < 1e-10 && z.is_finite(), "{balance:e}");
    }
    Ok(())
}

#[test]
fn projection_leaves_what_has_no_joints_alone() -> Fallible {
    let run = |drift| -> Fallible<u64> {
        let mut sim = Simulation::new(Scheme { drift, ..Scheme::default() })?;
        sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
        sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 0.3))?;
        sim.run_until(0.5)?;
        Ok(sim.state_hash())
    };
    assert_eq!(run(Drift::Velocity)?, run(Drift::Projection)?);
    Ok(())
}

#[test]
fn ties_of_every_relation_hold_what_they_say() -> Fallible {
    // a beam between a stop and a relay: it falls, the relay bears a part of its weight, the stop ends it
    let mut sim = Simulation::with_time_step(1e-3)?;
    let beam = sim.spawn_body(Body::point(2.0, DVec3::ONE))?;
    let way = TieRelation::Displacement { anchor: DVec3::ZERO, axis: DVec3::Z };
    let brake = sim.add_tie(beam, None, &TieSpec::new(way, TieLaw::Relay { bounds: [-5.0, 5.0] }))?;
    let stop = TieSpec { offset: -0.3, ..TieSpec::new(way, TieLaw::Impact { restitution: 0.0 }) };
    let stop = sim.add_tie(beam, None, &stop)?;
    sim.run_until(0.2)?;
    let fall = 9.81 - 2.5;
    let v = sim.world().get::<Velocity>(beam).ok_or("gone")?.linear.z;
    assert!((v + 0.2 * fall).abs() < 1e-9, "{v}");
    sim.run_until(1.0)?;
    let z = sim.world().get::<BodyPose>(beam).ok_or("gone")?.0.position.z;
    assert!((z + 0.3).abs() < 1e-6, "{z}");
    let force = |e, sim: &Simulation| sim.world().get::<Interaction>(e).map_or(f64::NAN, |i| i.lambda[0] / 1e-3);
    assert!((force(brake, &sim) + force(stop, &sim) - 19.62).abs() < 1e-6);
    // points that are tied stay together, in whatever way the bodies turn
    let mut sim = Simulation::with_time_step(1e-3)?;
    let one = sim.spawn_body(Body::point(1.0, DVec3::splat(0.02)).moving(DVec3::Y).spinning(DVec3::Z * 3.0))?;
    let two = sim.spawn_body(Body::point(2.0, DVec3::splat(0.02)).at(DVec3::X))?;
    let pin = TieSpec::new(TieRelation::Points { anchors: [DVec3::X * 0.5; 2] }, TieLaw::Equality);
    let pin = sim.add_tie(one, Some(two), &pin)?;
    sim.run_until(1.0)?;
    let open = sim.world().get::<Interaction>(pin).and_then(Interaction::open).ok_or("no tie")?;
    assert!(open[0] < 1e-5, "{open:?}");
    // a spring at an angle
    let mut sim = weightless(Treatment::Forecast { theta: 0.5 }, 1e-3)?;
    let disc = sim.spawn_body(Body::point(1.0, DVec3::splat(0.5)).spinning(DVec3::Z * 2.0))?;
    let about = TieRelation::Angle { anchor: DVec3::ZERO, axis: DVec3::Z };
    sim.add_tie(disc, None, &TieSpec::new(about, TieLaw::Spring { stiffness: 50.0, damping: 0.0, limit: f64::INFINITY }))?;
    sim.run_until(std::f64::consts::TAU / 10.0)?;
    let w = sim.world().get::<Velocity>(disc).ok_or("gone")?.angular.z;
    assert!((w - 2.0).abs() < 1e-3, "a whole swing at 10 rad/s: {w}");
    Ok(())
}
