//! Functions that read or write what they should not, laws that cannot hold, and events on systems: each is named, none is silent.
#![cfg(feature = "simulation")]

use bevy_ecs::name::Name;
use bevy_ecs::prelude::Entity;
use drystone::cluster::Signal;
use drystone::model::dynamical_system::{DynamicalSystem, FirstOrder, Lagrangian, NewtonEuler};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::newton_euler::{AppliedForce, BodyPose, Velocity};
use drystone::model::operator::{At, Operator};
use drystone::model::relation::{FirstOrderLinear, LagrangianLinear, LagrangianNonlinear, Relation};
use drystone::simulation::{Event, Simulation};
use glam::DVec3;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

const MJ: Integrator = Integrator::MOREAU_JEAN;
const EM: Integrator = Integrator::EULER_MOREAU;

fn simulation() -> Simulation {
    Simulation::with_time_step(0.01).expect("a time step")
}

fn ball() -> Lagrangian {
    Lagrangian::new([1.0]).at([1.0])
}

/// What the first step says of a system called "crane".
fn fault(system: impl Into<DynamicalSystem>, integrator: Integrator) -> String {
    let mut sim = simulation();
    let system = sim.spawn_system(system, integrator).expect("its sizes are good");
    sim.set_name(system, "crane");
    sim.advance(1).expect_err("its function is wrong").to_string()
}

/// What the first step says of a relation on this system.
fn fault_of(system: impl Into<DynamicalSystem>, integrator: Integrator, relation: impl Into<Relation>, law: Law) -> String {
    let mut sim = simulation();
    let system = sim.spawn_system(system, integrator).expect("a good system");
    let link = sim.spawn_interaction(Interaction::new([system], relation, law)).expect("it fits");
    sim.set_name(link, "valve");
    sim.advance(1).expect_err("its function is wrong").to_string()
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

fn function(f: impl Fn(&At, &mut [f64]) + Send + Sync + 'static) -> Operator {
    Operator::function(f)
}

#[test]
fn a_load_that_reads_the_state_is_named() {
    let force = |f: fn(&At) -> f64| ball().with_force(function(move |at, out| out[0] = f(at)));
    for integrator in
        [MJ, Integrator::SchatzmanPaoli { theta: 0.5 }, Integrator::D1Minus { tolerance: 1e-8 }, Integrator::Modal { gamma: 0.5 }]
    {
        says(&fault(force(|at| -at.q[0]), integrator), &["F_ext of system \"crane\"", "reads q", "F_int"]);
    }
    says(&fault(force(|at| -at.v[0]), MJ), &["F_ext of system \"crane\"", "reads v"]);
    says(&fault(force(|at| at.q.iter().zip(at.v).map(|(q, v)| q + v).sum()), MJ), &["reads q and v"]);
    // where it only decides
    says(&fault(force(|at| if at.q[0] > 0.0 { 1.0 } else { -1.0 }), MJ), &["F_ext of system \"crane\"", "reads q"]);
    // where it does so later on
    let mut sim = simulation();
    let system = sim.spawn_system(force(|at| if at.t > 0.045 { at.q[0] } else { 0.0 }), MJ).expect("a good system");
    sim.set_name(system, "crane");
    says(&sim.advance(10).expect_err("it reads q").to_string(), &["step 5", "F_ext of system \"crane\"", "reads q"]);
    assert_eq!(sim.steps(), 4);
    let input = FirstOrder::linear([-1.0], [1.0]).with_input(function(|at, b| b[0] = at.x[0]));
    says(&fault(input.clone(), EM), &["b of system \"crane\"", "reads x", "f"]);
    says(&fault(input, Integrator::ZeroOrderHold), &["b of system \"crane\"", "reads x"]);
}

#[test]
fn a_function_that_reads_beyond_what_is_there_is_named() {
    let spring = |f: fn(&At) -> f64| ball().with_internal(function(move |at, out| out[0] = f(at)));
    says(&fault(spring(|at| at.x[0]), MJ), &["F_int of system \"crane\"", "reads x"]);
    says(&fault(spring(|at| at.z[0]), MJ), &["F_int of system \"crane\"", "panics", "0 of z"]);
    says(&fault(spring(|at| at.q[3]), MJ), &["F_int of system \"crane\"", "panics", "1 of q"]);
    says(&fault(spring(|at| at.z[1]).with_parameters([2.0]), MJ), &["F_int of system \"crane\"", "1 of z"]);
    let floor = |f: fn(&At) -> f64| LagrangianNonlinear::new(1, function(move |at, y| y[0] = f(at)));
    let impact = || Law::NewtonImpact { e: 0.0 };
    says(&fault_of(ball(), MJ, floor(|at| at.x[0]), impact()), &["h of interaction \"valve\"", "reads x"]);
    says(&fault_of(ball(), MJ, floor(|at| at.q[0] + 0.1 * at.v[0]), impact()), &["h of interaction \"valve\"", "reads v"]);
    says(
        &fault_of(ball(), MJ, floor(|at| at.q[0] + at.lambda[0]), impact()),
        &["h of interaction \"valve\"", "reads λ", "with_compliance"],
    );
    says(&fault_of(ball(), MJ, floor(|at| at.q[0] - at.z[0]), impact()), &["h of interaction \"valve\"", "0 of z"]);
    let diode = FirstOrderLinear::new(1, function(|at, c| c[0] = at.x[0]), [1.0]);
    says(&fault_of(FirstOrder::linear([-1.0], [1.0]), EM, diode, Law::Complementarity), &["C of interaction \"valve\"", "reads x"]);
    // what reads what is there goes on
    let mut sim = simulation();
    let good = ball().with_internal(function(|at, f| f[0] = at.q[0] + at.v[0] + at.z[0])).with_parameters([1.0]);
    let good = good.with_force(function(|at, f| f.copy_from_slice(at.z)));
    sim.spawn_system(good, MJ).expect("a good system");
    assert!(sim.advance(3).expect("all is there").converged);
}

#[test]
fn rows_that_are_never_written_are_named() -> Fallible {
    let mass = || Lagrangian::new(Operator::Diagonal(vec![1.0; 2])).at([0.3, 0.0]).moving([1.0, 0.0]).with_force([0.0, -9.81]);
    let friction = || Law::CoulombImpact(CoulombImpact { mu: 0.5, ..CoulombImpact::default() });
    let floor = || LagrangianNonlinear::new(2, function(|at, y| y.copy_from_slice(&[at.q[1], at.q[0]])));
    let half = floor().with_jacobian(function(|_, g| g[1] = 1.0));
    says(&fault_of(mass(), MJ, half, friction()), &["G of interaction \"valve\"", "row 1 of 2", "never written"]);
    let half = LagrangianNonlinear::new(2, function(|at, y| y[0] = at.q[1]));
    says(&fault_of(mass(), MJ, half, friction()), &["h of interaction \"valve\"", "row 1 of 2", "never written"]);
    // rows that add up, or that vanish where they are written, are none of these
    let mut sim = simulation();
    let whole = floor().with_jacobian(function(|_, g| {
        g[1] += 1.0;
        g[2] += 1.0;
    }));
    let m = sim.spawn_system(mass(), MJ)?;
    sim.spawn_interaction(Interaction::new([m], whole, friction()))?;
    let cage = LagrangianNonlinear::new(1, function(|at, y| y[0] = 1.0 - at.q[1] * at.q[1]));
    sim.spawn_interaction(Interaction::new(
        [m],
        cage.with_jacobian(function(|at, g| g[1] = -2.0 * at.q[1])),
        Law::NewtonImpact { e: 0.0 },
    ))?;
    sim.advance(100)?;
    let v = sim.world().get::<Lagrangian>(m).ok_or("gone")?.v[0];
    assert!(v.abs() < 1e-12, "friction stops it: {v}");
    Ok(())
}

#[test]
fn a_mass_that_is_no_mass_is_refused() {
    let refused = |m: Operator, n: usize| {
        let system = Lagrangian::new(m).at(vec![0.0; n]);
        simulation().spawn_system(system, MJ).expect_err("M is wrong").to_string()
    };
    says(&refused(Operator::from([-1.0]), 1), &["M holds -1", "positive definite"]);
    says(&refused(Operator::Diagonal(vec![1.0, -2.0]), 2), &["M holds -2", "row 1", "positive definite"]);
    says(&refused(Operator::from([1.0, 2.0, 2.0, 1.0]), 2), &["M is indefinite", "positive definite"]);
    says(&refused(Operator::from([1.0, 0.5, 0.0, 1.0]), 2), &["M is not symmetric", "0.5", "row 0, column 1"]);
    says(&refused(Operator::Sparse(vec![(0, 0, 1.0), (1, 1, 1.0), (1, 0, 0.1)]), 2), &["M is not symmetric", "0.1"]);
    let large = (0..400).map(|i| (i, i, 1.0)).chain([(3, 7, 0.1)]).collect();
    says(&refused(Operator::Sparse(large), 400), &["M is not symmetric"]);
    let of_q = |m: [f64; 4]| Lagrangian::new(function(move |_, out| out.copy_from_slice(&m))).at([0.0; 2]);
    says(&fault(of_q([1.0, 2.0, 2.0, 1.0]), MJ), &["M of system \"crane\"", "indefinite"]);
    says(&fault(of_q([1.0, 0.5, 0.0, 1.0]), MJ), &["M of system \"crane\"", "not symmetric"]);
    let later = Lagrangian::new(function(|at, m| m[0] = 0.035 - at.t)).at([0.0]).moving([1.0]);
    let mut sim = simulation();
    let system = sim.spawn_system(later, MJ).expect("a mass at first");
    sim.set_name(system, "crane");
    says(&sim.advance(10).expect_err("M is negative").to_string(), &["M of system \"crane\"", "negative"]);
}

/// A mass that an equation on y holds at 0 from a speed of 1 m/s on: the speeds after it.
fn held(theta: f64) -> Result<Vec<f64>, String> {
    let mut sim = simulation();
    let integrator = Integrator::MoreauJean { theta, gamma: 0.5, projection: Projection::None };
    let mass = sim.spawn_system(Lagrangian::new([1.0]).at([0.0]).moving([1.0]), integrator).map_err(|e| e.to_string())?;
    let stop = LagrangianLinear::new([1.0], [0.0]);
    let link =
        sim.spawn_interaction(Interaction::new([mass], stop, Law::MixedComplementarity { equalities: 1 })).map_err(|e| e.to_string())?;
    sim.set_name(link, "clamp");
    let record = sim.record(1, [Signal::Velocity(mass, 0)]);
    sim.advance(40).map_err(|e| e.to_string())?;
    Ok(sim.trace(record).map_or(Vec::new(), |t| t.column(0)))
}

#[test]
fn an_equation_on_y_does_not_ring() {
    says(&held(0.5).expect_err("it would ring"), &["interaction \"clamp\"", "theta = 0.5", "theta = 1", "Law::Equality"]);
    let damped = held(1.0).expect("it is held");
    assert!(damped[1..].iter().all(|v| v.abs() < 1e-12), "{damped:?}");
}

#[test]
fn equalities_that_contradict_each_other_are_named() -> Fallible {
    let both = |first: LagrangianNonlinear, second: LagrangianNonlinear| {
        let mut sim = simulation();
        let mass = sim.spawn_system(ball(), MJ).expect("a good system");
        for (name, relation) in [("rail", first), ("belt", second)] {
            let link = sim.spawn_interaction(Interaction::new([mass], relation, Law::Equality)).map_err(|e| e.to_string())?;
            sim.set_name(link, name);
        }
        sim.advance(2).map_err(|e| e.to_string())
    };
    let moving = |speed: f64| {
        LagrangianNonlinear::new(1, function(move |at, y| y[0] = at.q[0] - speed * at.t)).with_jacobian([1.0]).with_rate([-speed])
    };
    says(&both(moving(1.0), moving(2.0)).expect_err("two speeds"), &["\"rail\"", "\"belt\"", "contradict"]);
    assert!(both(moving(1.0), moving(1.0))?.converged);
    // places that no motion brings together, though every rate is 0
    for (offset, good) in [(2.0, false), (1.0, true)] {
        let mut sim = simulation();
        let mass = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]), MJ)?;
        for (name, e) in [("left", -1.0), ("right", -offset)] {
            let link = sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [e]), Law::Equality))?;
            sim.set_name(link, name);
        }
        match sim.advance(2) {
            Ok(report) => assert!(good && report.converged),
            Err(e) => says(&e.to_string(), &["\"left\"", "\"right\"", "contradict"]),
        }
    }
    // three of which two contradict
    let mut sim = simulation();
    let x = sim.spawn_system(FirstOrder::linear([-1.0], [0.0]), EM)?;
    for (name, e) in [("a", -1.0), ("b", -1.0), ("c", -3.0)] {
        let link = sim.spawn_interaction(Interaction::new([x], FirstOrderLinear::new(1, [1.0], [1.0]).with_e([e]), Law::Equality))?;
        sim.set_name(link, name);
    }
    says(&sim.advance(1).expect_err("x cannot be 1 and 3").to_string(), &["\"c\"", "contradict"]);
    Ok(())
}

#[test]
fn a_blow_on_a_system_moves_it_or_is_refused() -> Fallible {
    let mut sim = simulation();
    let body = sim.spawn_system(NewtonEuler::new(2.0, DVec3::splat(0.5)), MJ)?;
    let blow = AppliedForce { force: DVec3::new(4.0, 0.0, 0.0), torque: DVec3::new(0.0, 0.0, 1.0) };
    sim.at(0.05, Event::Blow(body, blow))?;
    sim.advance(20)?;
    let v = sim.world().get::<Velocity>(body).ok_or("gone")?;
    assert!((v.linear.x - 2.0).abs() < 1e-12 && (v.angular.z - 2.0).abs() < 1e-12, "{v:?}");
    let pose = sim.world().get::<BodyPose>(body).ok_or("gone")?.0;
    assert!((pose.position.x - 2.0 * 0.15).abs() < 1e-12, "{pose:?}");
    let mass = sim.spawn_system(ball(), MJ)?;
    sim.set_name(mass, "slider");
    says(&sim.at(0.25, Event::Blow(mass, blow)).expect_err("no place for a force").to_string(), &["blow", "\"slider\"", "0.25 s"]);
    Ok(())
}

#[test]
fn a_system_dies_with_its_interactions() -> Fallible {
    let mut sim = simulation();
    let (a, b) = (sim.spawn_system(ball(), MJ)?, sim.spawn_system(ball(), MJ)?);
    let link = sim.spawn_interaction(Interaction::new([a, b], LagrangianLinear::new([1.0, -1.0], [0.0]), Law::Equality))?;
    sim.at(0.05, Event::Death(a))?;
    sim.advance(20)?;
    let gone = |e: Entity| sim.world().get_entity(e).is_err();
    assert!(gone(a) && gone(link) && !gone(b));
    assert_eq!(sim.steps(), 20);
    Ok(())
}

#[test]
fn a_batch_asks_the_abort_hook_after_every_step() -> Fallible {
    let mut sim = simulation();
    let mass = sim.spawn_system(Lagrangian::new([1.0]).at([0.0]).moving([1.0]), MJ)?;
    sim.set_abort(|report| report.step >= 7);
    let report = sim.advance(100)?;
    assert_eq!((sim.steps(), report.step), (7, 7));
    assert!((sim.world().get::<Lagrangian>(mass).ok_or("gone")?.q[0] - 0.07).abs() < 1e-14);
    Ok(())
}

#[test]
fn signals_that_do_not_exist_are_named_and_missing_columns_are_empty() -> Fallible {
    let mut sim = simulation();
    let (mass, decay) = (sim.spawn_system(ball(), MJ)?, sim.spawn_system(FirstOrder::linear([-1.0], [1.0]), EM)?);
    let stop = sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.0 }))?;
    let valve = sim.spawn_interaction(Interaction::new([decay], FirstOrderLinear::new(1, [1.0], [1.0]), Law::Complementarity))?;
    sim.set_name(stop, "stop");
    // a component like any other
    sim.world_mut().entity_mut(valve).insert(Name::new("valve"));
    sim.set_name(mass, "slider");
    for (signal, words) in [
        (Signal::Rate(valve, 0), ["rate 0 of interaction \"valve\"", "first-order"]),
        (Signal::Correction(stop, 0), ["correction 0 of interaction \"stop\"", "projection"]),
        (Signal::Force(stop, 0), ["force 0 of interaction \"stop\"", "D1-minus"]),
        (Signal::State(mass, 3), ["state 3 of system \"slider\"", "no such"]),
    ] {
        let number = sim.record(1, [Signal::Time, signal]);
        says(&sim.advance(1).expect_err("there is no such signal").to_string(), &words);
        sim.stop_recording(number);
    }
    let good = sim.record(1, [Signal::State(mass, 0)]);
    sim.advance(2)?;
    let trace = sim.trace(good).ok_or("no trace")?;
    assert_eq!((trace.column(0).len(), trace.column(1)), (3, Vec::new()));
    Ok(())
}

#[test]
fn jacobians_are_held_against_differences_and_the_worst_entry_is_named() -> Fallible {
    let mut sim = simulation();
    let swing = |at: &At, f: &mut [f64]| {
        f[0] = 3.0 * at.q[0].sin() + at.q[1] * at.v[0];
        f[1] = at.q[0] * at.v[1].powi(2);
    };
    let on_q = |at: &At, d: &mut [f64]| d.copy_from_slice(&[3.0 * at.q[0].cos(), at.v[0], at.v[1].powi(2), 0.0]);
    // one sign wrong
    let on_v = |at: &At, d: &mut [f64]| d.copy_from_slice(&[at.q[1], 0.0, 0.0, -2.0 * at.q[0] * at.v[1]]);
    let arm = Lagrangian::new(Operator::Diagonal(vec![1.0; 2])).at([0.4, 0.7]).moving([1.0, -2.0]).with_internal(function(swing));
    let arm = sim.spawn_system(arm.with_internal_jacobians(function(on_q), function(on_v)), MJ)?;
    sim.set_name(arm, "arm");
    let wall = LagrangianNonlinear::new(1, function(|at, y| y[0] = at.q[0].hypot(at.q[1]) - at.t * at.t));
    let wall = wall.with_jacobian(function(|at, g| {
        let r = at.q[0].hypot(at.q[1]);
        (g[0], g[1]) = (at.q[0] / r, at.q[0] / r);
    }));
    let wall =
        sim.spawn_interaction(Interaction::new([arm], wall.with_rate(function(|at, y| y[0] = -2.0 * at.t)), Law::NewtonImpact { e: 0.0 }))?;
    sim.set_name(wall, "wall");
    let checks = sim.check_jacobians()?;
    let of = |operator: &str| checks.iter().find(|c| c.operator == operator).expect("it was given");
    assert_eq!(checks.len(), 4);
    assert!(of("∂F_int/∂q").error < 1e-8 && of("∂h/∂t").error < 1e-8, "{checks:?}");
    let v = of("∂F_int/∂v");
    assert_eq!((v.row, v.column, v.system.as_str()), (1, 1, "system \"arm\""));
    assert!((v.given - 1.6).abs() < 1e-12 && (v.difference + 1.6).abs() < 1e-8, "{v}");
    let g = of("G");
    assert_eq!((g.row, g.column, g.system.as_str()), (0, 1, "interaction \"wall\""));
    says(&g.to_string(), &["G of interaction \"wall\"", "row 0, column 1"]);
    assert_eq!(sim.steps(), 0);
    Ok(())
}

#[test]
fn circuits_without_a_solution_are_told_from_steps_that_are_missed() -> Fallible {
    use drystone::electronics::Circuit;
    // 2 sin 100t volts across a diode of 0.7 V: no current is enough while the source is above
    let mut c = Circuit::new();
    c.voltage_source("V", "a", "0", |t: f64| 2.0 * (100.0 * t).sin());
    c.diode("D", "a", "0").forward_voltage(0.7);
    c.resistor("R", "a", "b", 10.0);
    c.capacitor("C", "b", "0", 1e-6);
    let mut sim = Simulation::with_time_step(1e-4)?;
    c.spawn(&mut sim)?;
    let report = sim.advance(628)?;
    let above = (1..=628).filter(|k| 2.0 * (1e-2 * f64::from(*k)).sin() > 0.7).count() as u64;
    assert_eq!((report.systems.infeasible, report.systems.unconverged, report.converged), (above, above, false));
    Ok(())
}
