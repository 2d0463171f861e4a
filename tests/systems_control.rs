//! What a control or circuit engineer gets wrong, and what a run owes to him: functions that panic or give no number in the middle of a run,
//! states of another scheme, circuits without a solution, blows of a step that is done again.
#![cfg(feature = "simulation")]

use drystone::cluster::Probe;
use drystone::electronics::Circuit;
use drystone::model::dynamical_system::Prescribed;
use drystone::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

/// A fault that can be mended while the program runs.
#[derive(Clone)]
struct Fault(Arc<AtomicBool>);

impl Fault {
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Panics after this time (s), as long as it is not mended.
    fn strikes(&self, t: f64, after: f64) {
        assert!(t < after || !self.0.load(Relaxed), "the cable broke");
    }

    fn mend(&self) {
        self.0.store(false, Relaxed);
    }
}

/// A run that meets a fault in step 21 of 0.01 s (22 where forces are those of the start), is refused, is mended and goes on: the bits of one
/// that never met it, and what was said.
fn mended_is_straight(build: impl Fn(&mut Simulation, Fault) -> Fallible) -> Fallible<String> {
    let mut sim = Simulation::with_time_step(0.01)?;
    let fault = Fault::new();
    build(&mut sim, fault.clone())?;
    let said = sim.advance(40).expect_err("it panics").to_string();
    let done = sim.steps();
    assert!((20..=21).contains(&done), "{said}");
    let mut straight = Simulation::with_time_step(0.01)?;
    let none = Fault::new();
    none.mend();
    build(&mut straight, none)?;
    straight.advance(done)?;
    let at_fault = straight.state_hash();
    straight.advance(40 - done)?;
    assert_eq!(sim.state_hash(), at_fault, "{said}");
    // as often as it is tried
    assert_eq!(sim.step().expect_err("it panics").to_string(), said);
    assert_eq!((sim.steps(), sim.state_hash()), (done, at_fault));
    fault.mend();
    sim.advance(40 - done)?;
    assert_eq!(sim.state_hash(), straight.state_hash(), "{said}");
    Ok(said)
}

#[test]
fn a_function_that_panics_in_the_middle_of_a_run_is_an_error_and_the_run_can_go_on() -> Fallible {
    let schemes = [
        Integrator::MOREAU_JEAN,
        Integrator::Midpoint { gamma: 0.5 },
        Integrator::SchatzmanPaoli { theta: 0.5 },
        Integrator::D1Minus { tolerance: 1e-8 },
    ];
    for scheme in schemes {
        let said = mended_is_straight(|sim, fault| {
            let force = Operator::function(move |at, f| {
                fault.strikes(at.t, 0.205);
                f[0] = at.q[0] + 0.1 * at.v[0];
            });
            let crane = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_internal(force), scheme)?;
            sim.set_name(crane, "crane");
            Ok(())
        });
        says(&said?, &["step 2", "F_int of system \"crane\"", "panics (the cable broke)", "t = 0.2"]);
    }
    let said = mended_is_straight(|sim, fault| {
        let input = Operator::function(move |at, b| {
            fault.strikes(at.t, 0.205);
            b[0] = at.t;
        });
        let tank = sim.spawn_system(FirstOrder::linear([-1.0], [1.0]).with_input(input), Integrator::EULER_MOREAU)?;
        sim.set_name(tank, "tank");
        Ok(())
    })?;
    says(&said, &["b of system \"tank\"", "panics (the cable broke)"]);
    let said = mended_is_straight(|sim, fault| {
        let mass = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_force([-9.81]), Integrator::MOREAU_JEAN)?;
        let floor = Operator::function(move |at, y| {
            fault.strikes(at.t, 0.205);
            y[0] = at.q[0];
        });
        let valve = Interaction::new([mass], LagrangianNonlinear::new(1, floor), Law::NewtonImpact { e: 0.5 });
        let valve = sim.spawn_interaction(valve)?;
        sim.set_name(valve, "valve");
        Ok(())
    })?;
    says(&said, &["h of interaction \"valve\"", "panics (the cable broke)"]);
    // a velocity that is given
    let said = mended_is_straight(|sim, fault| {
        let given = move |t: f64| {
            fault.strikes(t, 0.205);
            libm::sin(t)
        };
        let cart = Lagrangian::new(Operator::Diagonal(vec![1.0; 2])).at([0.0; 2]).with_prescribed(0, Prescribed::Function(Arc::new(given)));
        let cart = sim.spawn_system(cart, Integrator::MOREAU_JEAN)?;
        sim.set_name(cart, "cart");
        Ok(())
    })?;
    says(&said, &["velocity of system \"cart\"", "panics (the cable broke)"]);
    Ok(())
}

/// A source, a switch and a load.
fn supply(source: impl Fn(f64) -> f64 + Send + Sync + 'static, closed: impl Fn(f64) -> bool + Send + Sync + 'static) -> Circuit {
    let mut c = Circuit::new();
    c.voltage_source("mains", "in", "0", source);
    c.switch("S1", "in", "a", closed);
    c.resistor("R", "a", "out", 10.0);
    c.capacitor("C", "out", "0", 1e-3);
    c.resistor("load", "out", "0", 100.0);
    c
}

#[test]
fn sources_and_switches_that_fail_in_the_middle_of_a_run_are_named() -> Fallible {
    let said = mended_is_straight(|sim, fault| {
        let source = move |t: f64| {
            fault.strikes(t, 0.205);
            5.0 * libm::sin(10.0 * t)
        };
        supply(source, |_| true).spawn(sim)?;
        Ok(())
    })?;
    says(&said, &["step 21", "mains", "panics (the cable broke)"]);
    let said = mended_is_straight(|sim, fault| {
        let closed = move |t: f64| {
            fault.strikes(t, 0.205);
            libm::fmod(t, 0.1) < 0.05
        };
        supply(|t: f64| 5.0 * libm::sin(10.0 * t), closed).spawn(sim)?;
        Ok(())
    })?;
    says(&said, &["step 21", "S1", "panics (the cable broke)"]);
    for bad in [f64::NAN, f64::INFINITY] {
        let mut sim = Simulation::with_time_step(0.01)?;
        let circuit = supply(move |t: f64| if t < 0.205 { 1.0 } else { bad }, |_| true).spawn(&mut sim)?;
        let said = sim.advance(40).expect_err("it gives no number").to_string();
        says(&said, &["step 21", "mains", &format!("gives {bad}"), "t = 0.21"]);
        assert_eq!(sim.steps(), 20);
        assert!(circuit.voltage(&sim, "out", "0")?.is_finite());
    }
    // a source at which no state looks, as its node is held by another one
    let mut c = supply(|_: f64| 1.0, |_| true);
    c.current_source("probe", "0", "in", |t: f64| if t < 0.205 { 0.0 } else { f64::NAN });
    let mut sim = Simulation::with_time_step(0.01)?;
    let circuit = c.spawn(&mut sim)?;
    sim.advance(40)?;
    assert!((circuit.voltage(&sim, "in", "0")? - 1.0).abs() < 1e-12);
    says(&circuit.current(&sim, "mains").expect_err("no number").to_string(), &["the current source probe gives NaN at t = 0.4"]);
    assert!(circuit.value(&sim, &c.equations()?.current("mains")?).is_nan());
    Ok(())
}

#[test]
fn a_source_or_a_switch_that_panics_when_a_circuit_is_looked_at_is_named() -> Fallible {
    let mut sim = Simulation::with_time_step(0.01)?;
    let circuit = supply(|_| panic!("the cable broke"), |_| true).spawn(&mut sim)?;
    let said = circuit.voltage(&sim, "in", "0").expect_err("it panics").to_string();
    assert_eq!(said, "the voltage source mains panics (the cable broke) at t = 0 s; a finite number is needed");
    assert_eq!(circuit.voltage(&sim, "out", "0")?, 0.0, "a node that asks no source");
    assert!(circuit.equations.voltage("in", "0")?.at(1.0, &[0.0], &[0.0]).is_nan());
    assert!(circuit.conflict(1.0).is_none());
    let mut sim = Simulation::with_time_step(0.01)?;
    let mut c = supply(|_| 1.0, |t| if t < 1.0 { true } else { panic!("the contacts are welded") });
    c.diode("D", "in", "a");
    assert!(c.spawn(&mut sim)?.conflict(1.0).is_none());
    Ok(())
}

#[test]
fn a_reading_that_panics_shows_no_number_and_harms_nobody() -> Fallible {
    let mut sim = Simulation::with_time_step(0.01)?;
    let decay = sim.spawn_system(FirstOrder::linear([-1.0], [1.0]), Integrator::EULER_MOREAU)?;
    let probe = Probe::new(decay, None, 1, |t, x, _, out| {
        assert!(t < 0.055, "the paper has run out");
        out[0] = x[0];
    });
    let probe = sim.world_mut().spawn(probe).id();
    let table = sim.record(1, [drystone::cluster::Signal::Probe(probe, 0)]);
    sim.advance(10)?;
    let shown = sim.trace(table).ok_or("no table")?.column(0);
    assert_eq!((shown.len(), shown.iter().filter(|x| x.is_nan()).count()), (11, 5));
    assert!(sim.world().get::<Probe>(probe).ok_or("gone")?.values[0].is_nan());
    Ok(())
}

#[test]
fn a_state_of_another_scheme_is_refused() -> Fallible {
    let build = |scheme| -> Fallible<Simulation> {
        let mut sim = Simulation::with_time_step(0.01)?;
        let ball = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_force([-9.81]), scheme)?;
        sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.5 }))?;
        sim.set_name(ball, "ball");
        Ok(sim)
    };
    let schemes = [
        ("Moreau–Jean", Integrator::MOREAU_JEAN),
        ("Schatzman–Paoli", Integrator::SchatzmanPaoli { theta: 0.5 }),
        ("modal", Integrator::Modal { gamma: 0.5 }),
        ("D1-minus", Integrator::D1Minus { tolerance: 1e-8 }),
    ];
    for (was, saved) in schemes {
        let mut first = build(saved)?;
        first.advance(30)?;
        let state = first.save(&[]);
        for (is, here) in schemes {
            let mut second = build(here)?;
            let before = second.state_hash();
            match second.restore(&state, &[]) {
                Ok(()) => assert_eq!(was, is),
                Err(e) => {
                    assert_ne!(was, is);
                    says(&e.to_string(), &["\"ball\"", was, is]);
                    assert_eq!((second.steps(), second.state_hash()), (0, before), "half restored");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn ideal_elements_that_contradict_each_other_are_named() -> Fallible {
    let with = |build: &dyn Fn(&mut Circuit)| {
        let mut c = Circuit::new();
        build(&mut c);
        c.resistor("R", "a", "b", 10.0);
        c.capacitor("C", "b", "0", 1e-6);
        c
    };
    let refused = |build: &dyn Fn(&mut Circuit)| {
        let mut sim = Simulation::with_time_step(1e-5).expect("a time step");
        with(build).spawn(&mut sim).expect_err("it has no solution").to_string()
    };
    let said = refused(&|c| {
        c.voltage_source("V", "a", "0", 5.0);
        c.diode("D", "a", "0").forward_voltage(0.7);
    });
    says(&said, &["V and D", "4.3 V", "resistor"]);
    // against the stream, in a chain with others, beyond a breakdown
    let said = refused(&|c| {
        c.voltage_source("V", "0", "a", 5.0);
        c.diode("D1", "0", "k").forward_voltage(0.7);
        c.diode("D2", "k", "a").forward_voltage(0.7);
        c.resistor("Rk", "k", "0", 1e3);
    });
    says(&said, &["V", "D1", "D2", "3.6 V"]);
    let said = refused(&|c| {
        c.voltage_source("V", "a", "0", 5.0);
        c.zener("Z", "0", "a", 3.3);
    });
    says(&said, &["V and Z", "1.7 V"]);
    // what has a solution
    for volts in [-5.0, 0.0, 0.7] {
        let mut sim = Simulation::with_time_step(1e-5)?;
        let c = with(&|c| {
            c.voltage_source("V", "a", "0", volts);
            c.diode("D", "a", "0").forward_voltage(0.7);
        });
        c.spawn(&mut sim)?;
        assert!(sim.advance(10)?.converged, "{volts} V");
    }
    Ok(())
}

#[test]
fn a_blow_of_a_step_whose_action_fails_is_not_lost() -> Fallible {
    let build = |fault: Fault| -> Fallible<(Simulation, Vec<Entity>)> {
        let mut sim = Simulation::with_time_step(0.01)?;
        let body = sim.spawn_body(Body::point(2.0, DVec3::ONE))?;
        sim.at(0.05, Event::Blow(body, AppliedForce { force: DVec3::X * 4.0, torque: DVec3::Y }))?;
        sim.every(0.01, move |t, _| fault.strikes(t, 0.045))?;
        Ok((sim, vec![body]))
    };
    let fault = Fault::new();
    let (mut sim, bodies) = build(fault.clone())?;
    says(&sim.advance(20).expect_err("it panics").to_string(), &["step 6", "the cable broke"]);
    sim.step().expect_err("it panics still");
    let saved = sim.save(&bodies);
    fault.mend();
    sim.advance(15)?;
    let v = sim.world().get::<Velocity>(bodies[0]).ok_or("gone")?.linear.x;
    assert!((v - 2.0).abs() < 1e-12, "{v}");
    // nor where the state is saved in between
    let (mut resumed, bodies) = build(fault)?;
    resumed.restore(&saved, &bodies)?;
    resumed.advance(15)?;
    assert_eq!(resumed.state_hash(), sim.state_hash());
    Ok(())
}

#[test]
fn probes_show_the_state_that_was_restored() -> Fallible {
    let build = || -> Fallible<_> {
        let mut sim = Simulation::with_time_step(1e-5)?;
        let mut c = Circuit::new();
        c.voltage_source("V", "in", "0", |t: f64| 10.0 * libm::sin(400.0 * t));
        c.diode("D", "in", "out").forward_voltage(0.7);
        c.resistor("R", "out", "0", 100.0);
        c.capacitor("C", "out", "0", 1e-6);
        let circuit = c.spawn(&mut sim)?;
        Ok((sim, circuit))
    };
    let shown = |sim: &Simulation, circuit: &drystone::electronics::CircuitHandle| -> Fallible<Vec<Vec<f64>>> {
        let probe = |name| Ok(sim.world().get::<Probe>(circuit.element(name)?).ok_or("gone")?.values.clone());
        ["V", "D", "R", "C"].into_iter().map(probe).collect()
    };
    let (mut sim, circuit) = build()?;
    sim.advance(300)?;
    let (state, expected) = (sim.save(&[]), shown(&sim, &circuit)?);
    assert!(expected[1][1] > 0.01, "the diode conducts");
    let (mut resumed, circuit) = build()?;
    resumed.restore(&state, &[])?;
    assert_eq!(shown(&resumed, &circuit)?, expected);
    Ok(())
}

#[test]
fn what_says_nothing_is_refused() -> Fallible {
    let mut sim = Simulation::with_time_step(0.01)?;
    let decay = sim.spawn_system(FirstOrder::linear([-1.0], [1.0]), Integrator::EULER_MOREAU)?;
    let cone = |h: Vec<f64>, k: Vec<f64>| Interaction::new([decay], FirstOrderLinear::new(1, [1.0], [1.0]), Law::NormalCone { h, k });
    let said = sim.spawn_interaction(cone(vec![], vec![])).expect_err("no faces").to_string();
    says(&said, &["normal cone has no faces", "Law::Equality"]);
    let said = sim.spawn_interaction(cone(vec![1.0, 0.0], vec![0.0, 1.0])).expect_err("a face of zeros").to_string();
    says(&said, &["face 1", "zeros"]);
    let mut c = Circuit::new();
    c.resistor("", "a", "0", 1.0);
    c.capacitor("C", "a", "0", 1.0);
    says(&c.equations().expect_err("no name").to_string(), &["element 0", "no name"]);
    let mut c = Circuit::new();
    c.resistor("R", "", "0", 1.0);
    c.capacitor("C", "", "0", 1.0);
    says(&c.equations().expect_err("no name").to_string(), &["R", "node", "no name"]);
    Ok(())
}

/// Worlds of every integrator, with laws at all levels, and bodies among them.
fn worlds() -> Vec<(&'static str, Box<dyn Fn() -> Fallible<(Simulation, Vec<Entity>)>>)> {
    fn mass(integrator: Integrator) -> Box<dyn Fn() -> Fallible<(Simulation, Vec<Entity>)>> {
        Box::new(move || {
            let mut sim = Simulation::with_time_step(0.01)?;
            let ball = Lagrangian::new(Operator::Diagonal(vec![1.0; 2])).at([0.3, 0.5]).moving([1.0, 0.0]).with_force([0.2, -9.81]);
            let ball = ball.with_parameters([2.0]);
            let ball = sim.spawn_system(ball, integrator)?;
            sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new([0.0, 1.0], [0.0]), Law::NewtonImpact { e: 0.6 }))?;
            Ok((sim, Vec::new()))
        })
    }
    fn turning(integrator: Integrator) -> Box<dyn Fn() -> Fallible<(Simulation, Vec<Entity>)>> {
        Box::new(move || {
            let mut sim = Simulation::with_time_step(0.01)?;
            let bob = Lagrangian::new(Operator::Diagonal(vec![1.0; 2])).at([1.0, 0.0]).with_force([0.0, -9.81]);
            let bob = sim.spawn_system(bob, integrator)?;
            let rod = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0] * at.q[0] + at.q[1] * at.q[1] - 1.0));
            let rod = rod.with_jacobian(Operator::function(|at, g| (g[0], g[1]) = (2.0 * at.q[0], 2.0 * at.q[1])));
            sim.spawn_interaction(Interaction::new([bob], rod, Law::Equality))?;
            let floor = LagrangianNonlinear::new(2, Operator::function(|at, y| (y[0], y[1]) = (at.q[1] + 0.6, at.q[0])));
            sim.spawn_interaction(Interaction::new(
                [bob],
                floor,
                Law::CoulombImpact(CoulombImpact { mu: 0.3, ..CoulombImpact::default() }),
            ))?;
            Ok((sim, Vec::new()))
        })
    }
    fn body(integrator: Option<Integrator>) -> Box<dyn Fn() -> Fallible<(Simulation, Vec<Entity>)>> {
        Box::new(move || {
            let mut sim = Simulation::with_time_step(0.01)?;
            let moving = Velocity { linear: DVec3::X, angular: DVec3::new(1.0, 2.0, 3.0) };
            let body = match integrator {
                Some(integrator) => sim.spawn_system(NewtonEuler::new(2.0, DVec3::new(0.5, 0.6, 0.7)), integrator)?,
                None => sim.spawn_body(Body::point(2.0, DVec3::new(0.5, 0.6, 0.7)))?,
            };
            sim.world_mut().entity_mut(body).insert(moving);
            let bodies = if integrator.is_some() { Vec::new() } else { vec![body] };
            Ok((sim, bodies))
        })
    }
    fn circuit(build: fn(&mut Circuit), integrator: Integrator) -> Box<dyn Fn() -> Fallible<(Simulation, Vec<Entity>)>> {
        Box::new(move || {
            let mut sim = Simulation::with_time_step(1e-4)?;
            let mut c = Circuit::new();
            build(&mut c);
            c.spawn_with(&mut sim, integrator)?;
            Ok((sim, Vec::new()))
        })
    }
    fn bridge(c: &mut Circuit) {
        c.voltage_source("mains", "a", "0", |t: f64| 10.0 * libm::sin(314.0 * t));
        c.resistor("Ri", "a", "b", 1.0);
        c.diode("D1", "b", "p").forward_voltage(0.7);
        c.diode("D2", "0", "p");
        c.diode("D3", "m", "b");
        c.diode("D4", "m", "0");
        c.capacitor("C", "p", "m", 1e-4);
        c.resistor("load", "p", "m", 1e2);
    }
    fn chopper(c: &mut Circuit) {
        c.voltage_source("V", "in", "0", 12.0);
        c.switch("S", "in", "x", |t| libm::fmod(t, 1e-3) < 4e-4);
        c.diode("D", "0", "x");
        c.inductor("L", "x", "out", 1e-3);
        c.capacitor("C", "out", "0", 1e-4);
        c.resistor("R", "out", "0", 5.0);
    }
    fn relay(integrator: Integrator, curved: bool) -> Box<dyn Fn() -> Fallible<(Simulation, Vec<Entity>)>> {
        Box::new(move || {
            let mut sim = Simulation::with_time_step(0.01)?;
            let mut x = FirstOrder::linear([-1.0, 0.3, 0.0, -2.0], [1.0, -0.7]);
            if curved {
                x.f = Operator::function(|at, f| f[0] = 0.1 * at.x[1] * at.x[1] * at.x[1]);
            }
            let x = sim.spawn_system(x, integrator)?;
            let relation = FirstOrderLinear::new(2, [1.0, 0.5, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]);
            sim.spawn_interaction(Interaction::new([x], relation, Law::Relay { lower: -1.0, upper: 1.0 }))?;
            Ok((sim, Vec::new()))
        })
    }
    let theta = |theta| Integrator::MoreauJean { theta, gamma: 0.5, projection: Projection::None };
    let direct = Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Projection::Direct { tolerance: 1e-9 } };
    vec![
        ("Moreau–Jean", mass(theta(0.5))),
        ("Moreau–Jean, θ = 1", mass(theta(1.0))),
        ("midpoint", mass(Integrator::Midpoint { gamma: 0.5 })),
        ("modal", mass(Integrator::Modal { gamma: 0.5 })),
        ("Schatzman–Paoli", mass(Integrator::SchatzmanPaoli { theta: 0.5 })),
        ("D1-minus", mass(Integrator::D1Minus { tolerance: 1e-8 })),
        ("a pendulum", turning(theta(0.5))),
        ("a pendulum by the midpoint rule", turning(Integrator::Midpoint { gamma: 0.5 })),
        ("a pendulum that is projected", turning(direct)),
        ("a body in a cluster", body(Some(theta(0.5)))),
        ("a body", body(None)),
        ("a bridge", circuit(bridge, Integrator::EULER_MOREAU)),
        ("a bridge, θ = 1", circuit(bridge, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })),
        ("a bridge, γ = ½", circuit(bridge, Integrator::EulerMoreau { theta: 0.5, gamma: 0.5 })),
        ("a bridge that is held", circuit(bridge, Integrator::ZeroOrderHold)),
        ("a chopper", circuit(chopper, Integrator::EULER_MOREAU)),
        ("relays", relay(Integrator::EULER_MOREAU, false)),
        ("relays, γ = ½", relay(Integrator::EulerMoreau { theta: 0.5, gamma: 0.5 }, false)),
        ("relays that are held", relay(Integrator::ZeroOrderHold, false)),
        ("curved relays", relay(Integrator::EulerMoreau { theta: 0.5, gamma: 0.5 }, true)),
    ]
}

#[test]
fn a_state_that_was_restored_is_saved_to_the_same_bytes() -> Fallible {
    let text = |sim: &mut Simulation, bodies: &[Entity]| serde_json::to_string(&sim.save(bodies));
    let mut differ = Vec::new();
    for (name, build) in worlds() {
        let (mut straight, bodies) = build()?;
        for steps in [0, 1, 17, 40] {
            straight.advance(steps)?;
            let state = straight.save(&bodies);
            let saved = serde_json::to_string(&state)?;
            let (mut resumed, here) = build()?;
            resumed.restore(&state, &here)?;
            if text(&mut resumed, &here)? != saved {
                differ.push(format!("{name} after {} steps: saved {saved}, then {}", straight.steps(), text(&mut resumed, &here)?));
            }
            // and goes on with all that it holds, not with its places alone
            let (mut one, bodies_one) = build()?;
            one.restore(&state, &bodies_one)?;
            one.advance(7)?;
            let (mut other, bodies_other) = build()?;
            other.advance(straight.steps() + 7)?;
            let (one, other) = (text(&mut one, &bodies_one)?, text(&mut other, &bodies_other)?);
            if one != other {
                differ.push(format!("{name}, {} steps and 7 more: resumed {one}, straight {other}", straight.steps()));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    Ok(())
}
