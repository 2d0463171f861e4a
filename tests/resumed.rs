//! A run that is resumed from a saved state is the run that was not stopped, to the last bit: whatever integrates, senses, estimates or
//! controls.

use drystone::control::{
    ControlError, LinearModel, Luenberger, Pid, Sampling, Saturated, Sensor, SlidingMode, SlidingObserver, SuperTwisting,
};
use drystone::control::{Twisting, install};
use drystone::prelude::*;

type Fallible = Result<(), Box<dyn std::error::Error>>;
type Built = Result<(Simulation, Vec<Entity>), Box<dyn std::error::Error>>;

/// All that the outputs of sensors, observers and laws show.
fn outputs(sim: &mut Simulation) -> Vec<(Vec<u64>, usize)> {
    let world = sim.world_mut();
    let mut query = world.query::<(Entity, &install::Output)>();
    let mut found: Vec<_> = query.iter(world).map(|(e, o)| (e.index_u32(), o.clone())).collect();
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, o)| (o.values.iter().map(|x| x.to_bits()).collect(), o.unsolved)).collect()
}

/// Runs so many steps, straight and stopped at each of these, and compares bits.
fn resumed_is_straight(name: &str, build: impl Fn() -> Built, stops: &[u64], steps: u64) -> Fallible {
    let (mut straight, bodies) = build()?;
    let mut saved = Vec::new();
    for &stop in stops {
        straight.advance(stop - straight.steps())?;
        // what is written down and read is what is restored
        let text = serde_json::to_string(&straight.save(&bodies))?;
        saved.push(serde_json::from_str::<SavedState>(&text)?);
    }
    straight.advance(steps - straight.steps())?;
    let expected = (straight.state_hash(), outputs(&mut straight));
    for (stop, saved) in stops.iter().zip(saved) {
        let (mut resumed, bodies) = build()?;
        resumed.restore(&saved, &bodies)?;
        resumed.advance(steps - stop)?;
        assert_eq!((resumed.state_hash(), outputs(&mut resumed)), expected, "{name}, stopped after {stop} steps");
    }
    Ok(())
}

const H: f64 = 0.01;

/// A double integrator, q̈ = z + ¼, from 1 at rest.
fn cart() -> Lagrangian {
    Lagrangian::new([1.0]).at([1.0]).with_parameters([0.0]).with_force(Operator::function(|at, f| f[0] = at.z[0] + 0.25))
}

fn model() -> Result<LinearModel, ControlError> {
    LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2)
}

/// The cart behind what `control` installs on it, every `period`.
fn controlled(control: impl Fn(&mut Simulation, Entity, f64) -> Result<(), ControlError>) -> Built {
    let mut sim = Simulation::with_time_step(H)?;
    let cart = sim.spawn_system(cart(), Integrator::MOREAU_JEAN)?;
    control(&mut sim, cart, 5.0 * H)?;
    Ok((sim, Vec::new()))
}

const STOPS: [u64; 5] = [1, 7, 100, 153, 397];

#[test]
fn laws_go_on_with_what_they_remember() -> Fallible {
    let position = |sim: &mut Simulation, cart, period| install::sensor(sim, cart, period, Sensor::new([1.0, 0.5], 2)?);
    let state = |sim: &mut Simulation, cart, period| install::sensor(sim, cart, period, Sensor::full(2));
    let pid = |period| Pid::new(0.25, 0.02, 1.0, period);
    let run = |name: &str, control: &dyn Fn(&mut Simulation, Entity, f64) -> Result<(), ControlError>| {
        resumed_is_straight(name, || controlled(control), &STOPS, 800)
    };
    run("PID", &|sim, cart, h| {
        let y = position(sim, cart, h)?;
        install::law(sim, y, cart, h, pid(h)?).map(drop)
    })?;
    run("saturated PID", &|sim, cart, h| {
        let y = position(sim, cart, h)?;
        install::law(sim, y, cart, h, Saturated::new(pid(h)?, -0.3, 0.2)?).map(drop)
    })?;
    for sampling in [Sampling::Explicit, Sampling::Implicit] {
        run("super-twisting", &|sim, cart, h| {
            let y = position(sim, cart, h)?;
            install::law(sim, y, cart, h, SuperTwisting::new(1.5, 1.1, 1.0, h, sampling)?).map(drop)
        })?;
        run("twisting", &|sim, cart, h| {
            let y = state(sim, cart, h)?;
            install::law(sim, y, cart, h, Twisting::new(2.0, 1.0, 1.0, h, sampling)?).map(drop)
        })?;
        run("sliding mode", &|sim, cart, h| {
            let y = state(sim, cart, h)?;
            install::law(sim, y, cart, h, SlidingMode::new(&model()?, [1.0, 1.0], 1.0, h, sampling)?).map(drop)
        })?;
    }
    run("sliding mode with prediction", &|sim, cart, h| {
        let y = state(sim, cart, h)?;
        let law = SlidingMode::new(&model()?, [1.0, 1.0], 1.0, h, Sampling::Implicit)?.with_prediction(0.8)?;
        install::law(sim, y, cart, h, law).map(drop)
    })
}

#[test]
fn laws_of_several_inputs_go_on_with_what_their_solver_starts_from() -> Fallible {
    let a = [-0.3, 0.5, 0.2, -0.1, 0.4, 1.0, 0.0, 0.6, -0.8];
    let b = [0.0, 1.0, 1.0, 0.3, 0.2, 1.2];
    let build = || -> Built {
        let mut sim = Simulation::with_time_step(H)?;
        let input = Operator::function(move |at, f| {
            (0..3).for_each(|i| f[i] = b[2 * i] * at.z[0] + b[2 * i + 1] * at.z[1] + 0.3 * libm::sin(7.0 * at.t));
        });
        let plant = FirstOrder::linear(a, [1.0, -1.5, 0.8]).with_input(input).with_parameters([0.0; 2]);
        let plant = sim.spawn_system(plant, Integrator::EulerMoreau { theta: 0.5, gamma: 1.0 })?;
        let y = install::sensor(&mut sim, plant, 0.1, Sensor::full(3))?;
        let law = SlidingMode::new(&LinearModel::new(a, b, 3)?, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 2.0, 0.1, Sampling::Implicit)?;
        install::law(&mut sim, y, plant, 0.1, law.with_prediction(0.5)?)?;
        Ok((sim, Vec::new()))
    };
    resumed_is_straight("sliding mode of two inputs", build, &STOPS, 800)
}

#[test]
fn sensors_and_observers_go_on_with_what_they_remember() -> Fallible {
    for delay in [0, 1, 3, 40] {
        let build = || {
            controlled(|sim, cart, h| {
                let y = install::sensor(sim, cart, h, Sensor::new([1.0, 0.0], 2)?.with_delay(delay))?;
                install::law(sim, y, cart, h, Pid::new(0.1, 0.0, 0.3, h)?).map(drop)
            })
        };
        resumed_is_straight(&format!("a sensor {delay} samples late"), build, &STOPS, 800)?;
    }
    let build = || {
        controlled(|sim, cart, h| {
            let y = install::sensor(sim, cart, H, Sensor::new([1.0, 0.0], 2)?)?;
            let x = install::observer(sim, y, cart, H, Luenberger::new(&model()?, [1.0, 0.0], [20.0, 100.0], [0.0; 2], H)?)?;
            install::law(sim, x, cart, h, Twisting::new(2.0, 1.0, 1.0, h, Sampling::Implicit)?).map(drop)
        })
    };
    resumed_is_straight("Luenberger's observer", build, &STOPS, 800)?;
    let build = || {
        controlled(|sim, cart, h| {
            let y = install::sensor(sim, cart, H, Sensor::new([1.0, 0.0], 2)?)?;
            let x = install::observer(sim, y, cart, H, SlidingObserver::new(&model()?, [1.0, 0.0], [1.0, 3.0], 10.0, [0.0; 2], H)?)?;
            install::law(sim, x, cart, h, Twisting::new(2.0, 1.0, 1.0, h, Sampling::Implicit)?).map(drop)
        })
    };
    resumed_is_straight("the sliding observer", build, &STOPS, 800)
}

#[test]
fn actions_keep_their_rhythm() -> Fallible {
    // the second one was added after three steps, and is due at 3, 8, 13 …
    let (mut straight, cart) = {
        let mut sim = Simulation::with_time_step(H)?;
        let cart = sim.spawn_system(cart(), Integrator::MOREAU_JEAN)?;
        (sim, cart)
    };
    let push = move |t: f64, world: &mut World| world.get_mut::<Lagrangian>(cart).iter_mut().for_each(|cart| cart.z[0] = libm::sin(t));
    straight.advance(3)?;
    straight.every(5.0 * H, push)?;
    straight.advance(9)?;
    let saved = straight.save(&[]);
    straight.advance(60)?;
    let mut resumed = Simulation::with_time_step(H)?;
    resumed.spawn_system(self::cart(), Integrator::MOREAU_JEAN)?;
    resumed.every(5.0 * H, push)?;
    resumed.restore(&saved, &[])?;
    resumed.advance(60)?;
    assert_eq!(resumed.state_hash(), straight.state_hash());
    Ok(())
}

/// A cart behind a PID.
fn regulated() -> Built {
    controlled(|sim, cart, h| {
        let y = install::sensor(sim, cart, h, Sensor::new([1.0, 0.0], 2)?)?;
        install::law(sim, y, cart, h, Pid::new(0.25, 0.02, 1.0, h)?).map(drop)
    })
}

#[test]
fn what_was_saved_and_is_not_here_is_an_error_and_the_reverse() -> Fallible {
    let said = |saved: &SavedState, built: Built| -> Result<String, Box<dyn std::error::Error>> {
        let (mut sim, bodies) = built?;
        Ok(sim.restore(saved, &bodies).expect_err("they differ").to_string())
    };
    let saved = |built: Built| -> Result<SavedState, Box<dyn std::error::Error>> {
        let (mut sim, bodies) = built?;
        sim.advance(10)?;
        Ok(sim.save(&bodies))
    };
    let bare = || controlled(|_, _, _| Ok(()));
    // actions in the place of what control had installed
    let idle = || {
        controlled(|sim, _, h| {
            sim.every(h, |_, _| {})?;
            Ok(sim.every(h, |_, _| {}).map(drop)?)
        })
    };
    let late = |samples: usize| {
        controlled(move |sim, cart, h| {
            let y = install::sensor(sim, cart, h, Sensor::new([1.0, 0.0], 2)?.with_delay(samples))?;
            install::law(sim, y, cart, h, Pid::new(0.25, 0.02, 1.0, h)?).map(drop)
        })
    };
    assert!(said(&saved(regulated())?, bare())?.contains("2 periodic actions, this simulation 0"));
    assert!(said(&saved(bare())?, regulated())?.contains("0 periodic actions, this simulation 2"));
    let missing = said(&saved(regulated())?, idle())?;
    assert!(missing.contains("1 sensors, 1 laws, and this simulation keeps nothing else"), "{missing}");
    let added = said(&saved(idle())?, regulated())?;
    assert!(added.contains("it holds nothing else, and this simulation keeps 2 outputs"), "{added}");
    let longer = said(&saved(late(2))?, late(3))?;
    assert!(longer.contains("of number 1 of the sensors it holds 5 numbers, and 6 are needed"), "{longer}");
    let (mut slow, _) = controlled(|sim, _, h| Ok(sim.every(h, |_, _| {}).map(drop)?))?;
    let slow = slow.save(&[]);
    let rhythm = said(&slow, controlled(|sim, _, h| Ok(sim.every(2.0 * h, |_, _| {}).map(drop)?)))?;
    assert!(rhythm.contains("was due every 0.05 s, and is due every 0.1 s"), "{rhythm}");
    Ok(())
}

#[test]
fn components_of_the_host_program_are_saved_where_they_are_kept() -> Fallible {
    #[derive(Component)]
    struct Heat(f64, u32);
    let build = || -> Built {
        let mut sim = Simulation::with_time_step(H)?;
        sim.keep("heats", |heat: &Heat| vec![heat.0, f64::from(heat.1)], |heat, n| (heat.0, heat.1) = (n[0], n[1] as u32));
        let mut bodies = Vec::new();
        for k in 0..3 {
            let body = sim.spawn_body(Body::point(1.0, DVec3::ONE).at(DVec3::X * f64::from(k)))?;
            sim.world_mut().entity_mut(body).insert(Heat(0.1 * f64::from(k), 0));
            bodies.push(body);
        }
        sim.add_systems(StepSet::Loads, |mut hot: Query<(&Slot, &mut Heat)>, mut rows: ResMut<Bodies>| {
            for (slot, mut heat) in &mut hot {
                (heat.0, heat.1) = (1.01 * heat.0 + 0.01, heat.1 + 1);
                rows.push(*slot, AppliedForce { force: DVec3::Y * heat.0 * f64::from(heat.1 % 7), torque: DVec3::ZERO });
            }
        })?;
        Ok((sim, bodies))
    };
    resumed_is_straight("heat", build, &[1, 10, 50], 100)
}

#[test]
fn an_action_that_fails_refuses_the_step_and_is_due_again() -> Fallible {
    let mut sim = Simulation::with_time_step(H)?;
    let cart = sim.spawn_system(cart(), Integrator::MOREAU_JEAN)?;
    let y = install::sensor(&mut sim, cart, H, Sensor::new([1.0, 0.0], 2)?.with_feedthrough([1.0])?)?;
    let law = install::law(&mut sim, y, cart, H, Saturated::new(Pid::new(0.25, 0.02, 1.0, H)?, -1.0, 1.0)?)?;
    sim.advance(10)?;
    let before = sim.state_hash();
    let spoil = |sim: &mut Simulation, z: f64| sim.world_mut().get_mut::<Lagrangian>(cart).iter_mut().for_each(|cart| cart.z[0] = z);
    spoil(&mut sim, f64::NAN);
    let error = sim.step().expect_err("the sensor sees z").to_string();
    assert!(
        error.starts_with("step 11 (t = 0.1 s): the sensor, entity ") && error.contains("gives [NaN]; finite numbers are needed"),
        "{error}"
    );
    assert_eq!((sim.steps(), sim.state_hash()), (10, before));
    spoil(&mut sim, 0.0);
    sim.advance(10)?;
    // a reference that is no number
    sim.world_mut().get_mut::<install::Installed<Saturated<Pid>>>(law).iter_mut().for_each(|pid| pid.0.law.reference = f64::NAN);
    sim.set_name(law, "autopilot");
    let error = sim.step().expect_err("u is no number").to_string();
    assert!(error.contains("the law, \"autopilot\", gives [NaN]"), "{error}");
    let mut sim = Simulation::with_time_step(H)?;
    sim.every(H, |t, _| {
        if t > 0.045 {
            panic!("the valve is stuck");
        }
    })?;
    let error = sim.run_until(1.0).expect_err("it panics").to_string();
    assert!(error.starts_with("step 6 (t = 0.05 s): a periodic action panics (the valve is stuck)"), "{error}");
    assert_eq!(sim.steps(), 5);
    Ok(())
}

/// Lets entities come and go until numbers are given again, the last one first.
fn churn(sim: &mut Simulation) {
    let world = sim.world_mut();
    for _ in 0..20 {
        let entities: Vec<Entity> = (0..300).map(|_| world.spawn_empty().id()).collect();
        for entity in entities {
            world.despawn(entity);
        }
    }
    let probe: Vec<Entity> = (0..16).map(|_| world.spawn_empty().id()).collect();
    assert!(probe.is_sorted_by_key(|e| std::cmp::Reverse(e.index_u32())), "numbers tell nothing of the order: {probe:?}");
    for entity in probe.into_iter().rev() {
        world.despawn(entity);
    }
}

#[test]
fn what_comes_after_others_have_died_keeps_its_order() -> Fallible {
    let build = |churned: bool| -> Built {
        let mut sim = Simulation::with_time_step(1e-3)?;
        let mut bodies = Vec::new();
        for k in 0..3 {
            bodies.push(sim.spawn_body(Body::point(1.0 + f64::from(k), DVec3::splat(0.1)).at(DVec3::X * f64::from(k)))?);
        }
        if churned {
            churn(&mut sim);
        }
        let masses = [1.0, 2.0].map(|x| sim.spawn_system(Lagrangian::new([1.0]).at([x]).moving([0.5 * x]), Integrator::MOREAU_JEAN));
        for (mass, e) in masses.into_iter().zip([0.0, 1.0]) {
            let wall = Interaction::new([mass?], LagrangianLinear::new([-1.0], [2.5]), Law::NewtonImpact { e });
            sim.spawn_interaction(wall)?;
        }
        // friction of a bearing comes after its joint
        let hinge = JointSpec::new(JointKind::Revolute).at(DVec3::X * 0.5).axis(DVec3::Y).bearing(0.3, 0.05);
        sim.add_joint(bodies[0], Some(bodies[1]), &hinge)?;
        sim.add_joint(bodies[1], Some(bodies[2]), &hinge.at(DVec3::X * 1.6))?;
        sim.spawn_joint(bodies[0], None, DVec3::NEG_X * 0.3)?;
        Ok((sim, bodies))
    };
    let (mut churned, bodies) = build(true)?;
    churned.advance(700)?;
    let saved = churned.save(&bodies);
    let (mut straight, _) = build(false)?;
    straight.advance(700)?;
    assert_eq!(churned.state_hash(), straight.state_hash(), "the same world, but for what died in it");
    let (mut resumed, bodies) = build(false)?;
    resumed.restore(&saved, &bodies)?;
    assert_eq!(resumed.state_hash(), straight.state_hash());
    churned.advance(1000)?;
    resumed.advance(1000)?;
    assert_eq!(resumed.state_hash(), churned.state_hash());
    Ok(())
}

/// Impulses of joints go along with the step, also those of a state that has just been read.
#[test]
fn a_step_may_change_where_a_run_is_resumed() -> Fallible {
    let build = || -> Built {
        let mut sim = Simulation::with_time_step(1e-3)?;
        sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
        let mut bodies = Vec::new();
        for k in 0..3 {
            let bar = Body::new(Shape::cuboid(DVec3::new(0.2, 0.05, 0.05))?);
            bodies.push(sim.spawn_body(bar.at(DVec3::new(0.45 * f64::from(k), 0.0, 0.3)))?);
        }
        for k in 0..2 {
            sim.spawn_joint(bodies[k], Some(bodies[k + 1]), DVec3::new(0.45 * k as f64 + 0.225, 0.0, 0.3))?;
        }
        sim.spawn_joint(bodies[0], None, DVec3::new(-0.225, 0.0, 0.3))?;
        Ok((sim, bodies))
    };
    let (mut straight, bodies) = build()?;
    straight.advance(300)?;
    let (mut resumed, again) = build()?;
    resumed.restore(&straight.save(&bodies), &again)?;
    for sim in [&mut straight, &mut resumed] {
        sim.set_scheme(Scheme { time_step: 5e-4, ..*sim.scheme() })?;
        sim.advance(200)?;
    }
    assert_eq!(resumed.state_hash(), straight.state_hash());
    Ok(())
}
