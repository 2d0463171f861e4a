//! Each scheme shows the order that theory gives: oscillator, circuit, and a bouncing ball before and after its impacts.

use drystone::model::dynamical_system::{FirstOrder, Lagrangian};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, LagrangianLinear};
use drystone::simulation::Simulation;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

const MIDPOINT: Integrator = Integrator::MOREAU_JEAN;
const BACKWARD: Integrator = Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Projection::None };
const TWO_STEP: Integrator = Integrator::SchatzmanPaoli { theta: 0.5 };
const D1_MINUS: Integrator = Integrator::D1Minus { tolerance: 1e-8 };
const MODAL: Integrator = Integrator::Modal { gamma: 0.5 };
const TRAPEZOID: Integrator = Integrator::EULER_MOREAU;
const IMPLICIT_EULER: Integrator = Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 };

/// What theory says about the error at a fixed time.
#[derive(Clone, Copy, Debug)]
enum Theory {
    Exact,
    Order(f64),
}
use Theory::{Exact, Order};

/// Halves the step several times, prints errors and order, and holds them against theory.
fn judge(name: &str, theory: Theory, coarse: f64, halvings: i32, error: impl Fn(f64) -> Fallible<f64>) -> Fallible {
    let mut points = Vec::new();
    for k in 0..=halvings {
        let h = coarse / f64::from(1 << k);
        points.push((h, error(h)?));
    }
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(h, e)| (h.ln(), e.max(1e-300).ln())).collect();
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let slope = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    let errors: Vec<String> = points.iter().map(|(_, e)| format!("{e:.1e}")).collect();
    println!("{name:52} {theory:?}, slope {slope:5.2}   {}", errors.join("  "));
    match theory {
        Exact => assert!(points.iter().all(|p| p.1 < 1e-11), "{name} is exact, but {points:?}"),
        Order(p) => assert!((slope - p).abs() < 0.15, "{name} has order {slope}, theory {p}: {points:?}"),
    }
    Ok(())
}

fn steps(end: f64, h: f64) -> u64 {
    (end / h).round() as u64
}

/// Error of q at t = 1 s of `2 q̈ + c q̇ + 30 q = 0`.
fn oscillator(integrator: Integrator, c: f64, [q0, v0]: [f64; 2], h: f64) -> Fallible<f64> {
    let (m, k, end) = (2.0, 30.0, 1.0);
    let mut sim = Simulation::with_time_step(h)?;
    let system = Lagrangian::new([m]).at([q0]).moving([v0]).with_damping([c]).with_stiffness([k]);
    let s = sim.spawn_system(system, integrator)?;
    sim.advance(steps(end, h))?;
    let delta = c / (2.0 * m);
    let omega = (k / m - delta * delta).sqrt();
    let exact = (-delta * end).exp() * (q0 * (omega * end).cos() + (v0 + delta * q0) / omega * (omega * end).sin());
    Ok((sim.world().get::<Lagrangian>(s).ok_or("gone")?.q[0] - exact).abs())
}

#[test]
fn the_oscillator_shows_the_order_of_each_scheme() -> Fallible {
    let anywhere = [0.3, 1.0];
    for (name, integrator, c, start, theory) in [
        ("oscillator, Moreau–Jean θ = ½", MIDPOINT, 0.8, anywhere, Order(2.0)),
        ("oscillator, Moreau–Jean θ = 1", BACKWARD, 0.8, anywhere, Order(1.0)),
        ("oscillator, D1-minus", D1_MINUS, 0.8, anywhere, Order(2.0)),
        ("oscillator, modal", MODAL, 0.8, anywhere, Exact),
        // q⁻ = q − h v leaves out the acceleration of the start, unless there is none
        ("oscillator, Schatzman–Paoli", TWO_STEP, 0.8, anywhere, Order(1.0)),
        ("oscillator, Schatzman–Paoli from rest length", TWO_STEP, 0.0, [0.0, 1.0], Order(2.0)),
    ] {
        judge(name, theory, 0.02, 5, |h| oscillator(integrator, c, start, h))?;
    }
    Ok(())
}

/// Error of the voltage at t = 2 s of a unit series RLC circuit on a source of 1 V.
fn circuit(integrator: Integrator, h: f64) -> Fallible<f64> {
    let (r, end) = (0.5, 2.0);
    let mut sim = Simulation::with_time_step(h)?;
    let system = FirstOrder::linear([0.0, 1.0, -1.0, -r], [0.0, 0.0]).with_input([0.0, 1.0]);
    let s = sim.spawn_system(system, integrator)?;
    sim.advance(steps(end, h))?;
    let delta: f64 = r / 2.0;
    let omega = (1.0 - delta * delta).sqrt();
    let exact = 1.0 - (-delta * end).exp() * ((omega * end).cos() + delta / omega * (omega * end).sin());
    Ok((sim.world().get::<FirstOrder>(s).ok_or("gone")?.x[0] - exact).abs())
}

/// Error at t = 2 s of `ẋ = −x + sin t`, by a linear or a nonlinear system.
fn driven(integrator: Integrator, nonlinear: bool, h: f64) -> Fallible<f64> {
    let end: f64 = 2.0;
    let mut sim = Simulation::with_time_step(h)?;
    let system = if nonlinear {
        FirstOrder::nonlinear(Operator::function(|at, f| f[0] = at.t.sin() - at.x[0]), [1.0])
    } else {
        FirstOrder::linear([-1.0], [1.0]).with_input(Operator::function(|at, b| b[0] = at.t.sin()))
    };
    let s = sim.spawn_system(system, integrator)?;
    sim.advance(steps(end, h))?;
    let exact = 0.5 * (end.sin() - end.cos()) + 1.5 * (-end).exp();
    Ok((sim.world().get::<FirstOrder>(s).ok_or("gone")?.x[0] - exact).abs())
}

/// Voltage at t = 1 ms of an LC oscillator with a diode and a resistor.
fn rectifier(h: f64) -> Fallible<f64> {
    let mut sim = Simulation::with_time_step(h)?;
    let x = sim.spawn_system(FirstOrder::linear([0.0, -1e6, 1e2, 0.0], [10.0, 0.0]), TRAPEZOID)?;
    let diode = FirstOrderLinear::new(1, [-1.0, 0.0], [-1e6, 0.0]).with_d([1e3]);
    sim.spawn_interaction(Interaction::new([x], diode, Law::Complementarity))?;
    sim.advance(steps(1e-3, h))?;
    Ok(sim.world().get::<FirstOrder>(x).ok_or("gone")?.x[0])
}

#[test]
fn the_circuit_shows_the_order_of_each_scheme() -> Fallible {
    judge("circuit, Euler–Moreau θ = ½", Order(2.0), 0.05, 5, |h| circuit(TRAPEZOID, h))?;
    judge("circuit, Euler–Moreau θ = 1", Order(1.0), 0.05, 5, |h| circuit(IMPLICIT_EULER, h))?;
    judge("circuit, zero-order hold of a constant source", Exact, 0.05, 5, |h| circuit(Integrator::ZeroOrderHold, h))?;
    for nonlinear in [false, true] {
        let kind = if nonlinear { "nonlinear" } else { "linear" };
        judge(&format!("varying source, {kind}, Euler–Moreau θ = ½"), Order(2.0), 0.05, 5, |h| driven(TRAPEZOID, nonlinear, h))?;
        judge(&format!("varying source, {kind}, Euler–Moreau θ = 1"), Order(1.0), 0.05, 5, |h| driven(IMPLICIT_EULER, nonlinear, h))?;
    }
    // the source is held at its value at the end of the step
    judge("varying source, zero-order hold", Order(1.0), 0.05, 5, |h| driven(Integrator::ZeroOrderHold, false, h))?;
    // γ = 1: the current of the diode is that of the end of the step
    let fine = rectifier(1e-5 / 4096.0)?;
    judge("rectifier, Euler–Moreau θ = ½, γ = 1", Order(1.0), 1e-5, 5, |h| Ok((rectifier(h)? - fine).abs()))
}

const G: f64 = 9.81;
const E: f64 = 0.9;

/// Height of a ball dropped at rest from `z`.
fn bouncing(z: f64, t: f64) -> f64 {
    let fall = (2.0 * z / G).sqrt();
    if t <= fall {
        return z - 0.5 * G * t * t;
    }
    let (mut start, mut v) = (fall, E * G * fall);
    while t > start + 2.0 * v / G {
        start += 2.0 * v / G;
        v *= E;
    }
    v * (t - start) - 0.5 * G * (t - start).powi(2)
}

/// Error of the height at time `end`, the mean over many heights of drop: where in a step an impact falls is erratic.
fn ball(integrator: Integrator, end: f64, h: f64) -> Fallible<f64> {
    const DROPS: usize = 40;
    let mut sum = 0.0;
    for k in 0..DROPS {
        let z = 1.0 + 0.2 * (k as f64 + 0.5) / DROPS as f64;
        let mut sim = Simulation::with_time_step(h)?;
        let b = sim.spawn_system(Lagrangian::new([1.0]).at([z]).with_force([-G]), integrator)?;
        sim.spawn_interaction(Interaction::new([b], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: E }))?;
        sim.advance(steps(end, h))?;
        sum += (sim.world().get::<Lagrangian>(b).ok_or("gone")?.q[0] - bouncing(z, end)).abs();
    }
    Ok(sum / DROPS as f64)
}

#[test]
fn the_bouncing_ball_shows_the_order_of_each_scheme_before_and_after_its_impacts() -> Fallible {
    for (name, integrator, free) in [
        ("Moreau–Jean θ = ½", MIDPOINT, Exact),
        ("Moreau–Jean θ = 1", BACKWARD, Order(1.0)),
        ("Schatzman–Paoli", TWO_STEP, Order(1.0)),
        ("modal", MODAL, Exact),
        ("D1-minus", D1_MINUS, Exact),
    ] {
        judge(&format!("ball before its first impact, {name}"), free, 0.02, 5, |h| ball(integrator, 0.4, h))?;
        // none of them finds the instant of an impact: first order
        judge(&format!("ball after two impacts, {name}"), Order(1.0), 5e-3, 6, |h| ball(integrator, 1.6, h))?;
    }
    Ok(())
}

/// Error of the angles at t = 0.5 s of a free double pendulum (masses and rods 1, g = 10), against a run of fine steps.
fn double_pendulum(integrator: Integrator, h: f64) -> Fallible<[f64; 2]> {
    let mass = Operator::function(|at, m| {
        let c = (at.q[0] - at.q[1]).cos();
        m.copy_from_slice(&[2.0, c, c, 1.0]);
    });
    let gyroscopic = Operator::function(|at, f| {
        let s = (at.q[0] - at.q[1]).sin();
        (f[0], f[1]) = (at.v[1] * at.v[1] * s, -at.v[0] * at.v[0] * s);
    });
    let gravity = Operator::function(|at, f| (f[0], f[1]) = (20.0 * at.q[0].sin(), 10.0 * at.q[1].sin()));
    let pendulum = Lagrangian::new(mass).at([1.0, -0.5]).with_gyroscopic(gyroscopic).with_internal(gravity);
    let mut sim = Simulation::with_time_step(h)?;
    let pendulum = sim.spawn_system(pendulum, integrator)?;
    assert!(sim.advance(steps(0.5, h))?.converged);
    let q = &sim.world().get::<Lagrangian>(pendulum).ok_or("gone")?.q;
    Ok([q[0], q[1]])
}

#[test]
fn a_mass_matrix_that_turns_costs_an_order_unless_it_is_taken_in_the_middle() -> Fallible {
    let middle = Integrator::Midpoint { gamma: 0.5 };
    let exact = double_pendulum(middle, 1.0 / 32_000.0)?;
    let error = |integrator: Integrator, h: f64| {
        let q = double_pendulum(integrator, h)?;
        Ok((q[0] - exact[0]).abs().max((q[1] - exact[1]).abs()))
    };
    judge("double pendulum, Moreau–Jean θ = ½, M at the end", Order(1.0), 2e-3, 3, |h| error(MIDPOINT, h))?;
    judge("double pendulum, midpoint", Order(2.0), 2e-3, 3, |h| error(middle, h))?;
    // what is linear moves as by the θ-rule
    judge("oscillator, midpoint", Order(2.0), 0.01, 3, |h| oscillator(middle, 0.7, [0.3, -0.2], h))
}
