//! Laws, relations and integrators of general systems, each against a closed form.
#![cfg(feature = "simulation")]

use bevy_ecs::prelude::Entity;
use drystone::cluster::{NewtonLoop, RowsAt, Signal};
use drystone::model::dynamical_system::{FirstOrder, Frame, Lagrangian, NewtonEuler, Prescribed};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, FirstOrderNonlinear, LagrangianLinear, LagrangianNonlinear};
use drystone::simulation::Simulation;
use glam::DVec3;
use std::f64::consts::{FRAC_PI_3, FRAC_PI_6, PI, TAU};

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

const G: f64 = 9.81;
const IMPLICIT: Integrator = Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 };

fn moreau_jean(theta: f64, projection: Projection) -> Integrator {
    Integrator::MoreauJean { theta, gamma: 0.5, projection }
}

/// The course of these signals over so many steps, all of which must converge.
fn run(sim: &mut Simulation, steps: u64, signals: impl Into<Vec<Signal>>) -> Fallible<Vec<Vec<f64>>> {
    let number = sim.record(1, signals);
    let report = sim.advance(steps)?.systems;
    assert_eq!(report.unconverged, 0, "{report:?}");
    Ok(sim.trace(number).ok_or("recorded")?.rows().map(<[f64]>::to_vec).collect())
}

/// Largest distance between a column and a function of time (column 0).
fn worst(course: &[Vec<f64>], column: usize, exact: impl Fn(f64) -> f64) -> f64 {
    course.iter().map(|r| (r[column] - exact(r[0])).abs()).fold(0.0, f64::max)
}

fn lagrangian(sim: &Simulation, entity: Entity) -> Fallible<&Lagrangian> {
    Ok(sim.world().get::<Lagrangian>(entity).ok_or("a Lagrangian system")?)
}

/// Halving h halves (order 1) or quarters (order 2) the error.
fn order(order: i32, error: impl Fn(f64) -> Fallible<f64>, h: f64) -> Fallible {
    let errors = [error(h)?, error(h / 2.0)?, error(h / 4.0)?];
    println!("errors {errors:?} at h = {h} and its halves");
    for pair in errors.windows(2) {
        let seen = (pair[0] / pair[1]).log2();
        assert!((seen - f64::from(order)).abs() < 0.25, "order {seen:.2} instead of {order}: {errors:?}");
    }
    Ok(())
}

#[test]
fn mixed_complementarity_joins_an_equation_and_a_stop() -> Fallible {
    // ẋ = 4 + λ₀ − λ₁,  0 = λ₀ + 2 x,  0 ≤ 1 − x ⟂ λ₁ ≥ 0:  x = min(2 (1 − e^(−2t)), 1)
    let course = |h: f64| -> Fallible<Vec<Vec<f64>>> {
        let mut sim = Simulation::with_time_step(h)?;
        let x = sim.spawn_system(FirstOrder::linear([0.0], [0.0]).with_input([4.0]), IMPLICIT)?;
        let relation = FirstOrderLinear::new(2, [2.0, -1.0], [1.0, -1.0]).with_d([1.0, 0.0, 0.0, 0.0]).with_e([0.0, 1.0]);
        let link = sim.spawn_interaction(Interaction::new([x], relation, Law::MixedComplementarity { equalities: 1 }))?;
        let signals = [Signal::Time, Signal::State(x, 0), Signal::Multiplier(link, 0), Signal::Multiplier(link, 1)];
        run(&mut sim, (0.5 / h).round() as u64, signals)
    };
    let exact = |t: f64| (2.0 * (1.0 - (-2.0 * t).exp())).min(1.0);
    let rows = course(1e-3)?;
    assert!(rows.iter().skip(1).all(|r| (r[2] + 2.0 * r[1]).abs() < 1e-12 && r[1] <= 1.0 + 1e-12 && r[3] >= 0.0));
    let last = &rows[rows.len() - 1];
    assert!((last[1] - 1.0).abs() < 1e-12 && (last[3] - 2.0).abs() < 1e-9, "{last:?}");
    order(1, |h| Ok(worst(&course(h)?.into_iter().filter(|r| r[0] < 0.3).collect::<Vec<_>>(), 1, exact)), 1e-2)
}

#[test]
fn a_relay_in_two_dimensions_moves_by_the_corners_of_its_hexagon() -> Fallible {
    // ẋ = λ, −x ∈ N_P(λ): λ is the corner of P farthest against x; where two are, the middle of their side
    let (mut h, mut k) = (Vec::new(), Vec::new());
    for face in 0..6 {
        let (s, c) = (FRAC_PI_6 + f64::from(face) * FRAC_PI_3).sin_cos();
        h.extend([-c, -s]);
        k.push(-(3f64.sqrt()) / 2.0);
    }
    let dt = 1e-3;
    let mut sim = Simulation::with_time_step(dt)?;
    let x = sim.spawn_system(FirstOrder::linear([0.0; 4], [1.0, 0.2]), IMPLICIT)?;
    let identity = [1.0, 0.0, 0.0, 1.0];
    sim.spawn_interaction(Interaction::new([x], FirstOrderLinear::new(2, identity, identity), Law::NormalCone { h, k }))?;
    let rows = run(&mut sim, 1500, [Signal::Time, Signal::State(x, 0), Signal::State(x, 1)])?;
    // along −x to the ray at 30°, then down the ray
    let turn = 1.0 - 0.2 * 3f64.sqrt();
    let end = turn + 0.4 / (3f64.sqrt() / 2.0);
    let on_ray = |t: f64| (0.4 - 3f64.sqrt() / 2.0 * (t - turn)).max(0.0);
    let exact_x = |t: f64| if t < turn { 1.0 - t } else { on_ray(t) * FRAC_PI_6.cos() };
    let exact_y = |t: f64| if t < turn { 0.2 } else { on_ray(t) * FRAC_PI_6.sin() };
    assert!(worst(&rows, 1, exact_x) < 2.0 * dt && worst(&rows, 2, exact_y) < 2.0 * dt);
    let before: Vec<_> = rows.iter().filter(|r| r[0] < turn - dt).cloned().collect();
    assert!(worst(&before, 1, exact_x) < 1e-12 && worst(&before, 2, exact_y) < 1e-12);
    let rest: Vec<_> = rows.iter().filter(|r| r[0] > end + dt).cloned().collect();
    assert!(rest.len() > 100 && worst(&rest, 1, |_| 0.0) < 1e-12 && worst(&rest, 2, |_| 0.0) < 1e-12);
    Ok(())
}

#[test]
fn a_polyhedron_of_forces_brakes_a_mass_at_any_time_step() -> Fallible {
    // friction in the plane with a square in place of the circle: each component by itself, m v̇ = −f sgn v
    let (m, f) = (2.0, 3.0);
    for h in [1e-2, 1e-3] {
        let mut sim = Simulation::with_time_step(h)?;
        let mass =
            sim.spawn_system(Lagrangian::new(Operator::Diagonal(vec![m, m])).at([0.0; 2]).moving([1.0, -0.5]), Integrator::MOREAU_JEAN)?;
        let square = Law::NormalCone { h: vec![1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0], k: vec![-f; 4] };
        let link = sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0, 0.0, 0.0, 1.0], [0.0; 2]), square))?;
        let signals = [Signal::Time, Signal::Velocity(mass, 0), Signal::Velocity(mass, 1), Signal::Multiplier(link, 0)];
        let rows = run(&mut sim, (1.0 / h).round() as u64, signals)?;
        assert!(worst(&rows, 1, |t| (1.0 - f / m * t).max(0.0)) < 1e-12 && worst(&rows, 2, |t| (f / m * t - 0.5).min(0.0)) < 1e-12);
        assert!((rows[1][3] + f * h).abs() < 1e-14, "the multiplier is an impulse");
    }
    Ok(())
}

/// A blow on a rod at `tilt` that hits with its tip: kinetic energy after over before.
fn blow(law: Law, tilt: f64, velocity: [f64; 3]) -> Fallible<f64> {
    let (s, c) = tilt.sin_cos();
    let (half, inertia) = (0.5, 1.0 / 12.0);
    let mut sim = Simulation::with_time_step(1e-6)?;
    let rod = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0, inertia])).at([0.0; 3]).moving(velocity);
    let rod = sim.spawn_system(rod, Integrator::MOREAU_JEAN)?;
    let tip = LagrangianLinear::new([0.0, 1.0, -half * c, 1.0, 0.0, half * s], [-1e-12, 0.0]);
    sim.spawn_interaction(Interaction::new([rod], tip, law))?;
    assert_eq!(sim.advance(1)?.systems.unconverged, 0);
    let energy = |v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1] + inertia * v[2] * v[2]);
    Ok(energy(&lagrangian(&sim, rod)?.v) / energy(&velocity))
}

#[test]
fn fremond_impacts_never_make_energy_where_newton_ones_may() -> Fallible {
    let mut gains = [0, 0];
    for k in 0..400u32 {
        // well spread without a random number
        let spread = |p: f64| 2.0 * (f64::from(k + 1) * p).fract() - 1.0;
        let velocity = [3.0 * spread(0.618_034), -1.0, 6.0 * spread(0.754_878)];
        let tilt = 0.25 * PI * (1.0 + 0.9 * spread(0.569_840));
        let (e_n, mu) = ([0.0, 0.5, 1.0][k as usize % 3], [0.0, 0.3, 0.9][k as usize / 3 % 3]);
        let newton = blow(Law::CoulombImpact(CoulombImpact { mu, e_n, ..CoulombImpact::default() }), tilt, velocity)?;
        let fremond = blow(Law::FremondImpact { e_n, mu }, tilt, velocity)?;
        gains[0] += u32::from(newton > 1.0 + 1e-9);
        gains[1] += u32::from(fremond > 1.0 + 1e-9);
        if e_n == 1.0 && mu == 0.0 {
            assert!((fremond - 1.0).abs() < 1e-9, "without friction and with e = 1 energy stays: {fremond}");
        }
    }
    println!("blows that made energy: Newton {}, Frémond {} of 400", gains[0], gains[1]);
    assert!(gains[0] > 0, "Kane's paradox is in the sample");
    assert_eq!(gains[1], 0);
    Ok(())
}

#[test]
fn a_block_slides_to_rest_under_fremond_friction() -> Fallible {
    let (mu, v0, h) = (0.2, 1.0, 1e-3);
    for theta in [0.5, 1.0] {
        let mut sim = Simulation::with_time_step(h)?;
        let block = Lagrangian::new(Operator::Diagonal(vec![2.0, 2.0])).at([-1e-9, 0.0]).moving([0.0, v0]).with_force([-2.0 * G, 0.0]);
        let block = sim.spawn_system(block, moreau_jean(theta, Projection::None))?;
        let floor = LagrangianLinear::new([1.0, 0.0, 0.0, 1.0], [0.0, 0.0]);
        sim.spawn_interaction(Interaction::new([block], floor, Law::FremondImpact { e_n: 0.0, mu }))?;
        let rows = run(&mut sim, 1000, [Signal::Time, Signal::Velocity(block, 1), Signal::State(block, 1)])?;
        // the mean speed of a step falls by μ g h, and stays 0 once it is
        let mean = |w: &[Vec<f64>]| theta * w[1][1] + (1.0 - theta) * w[0][1];
        for w in rows.windows(2) {
            let wanted = (v0 - mu * G * (w[0][0] + theta * h)).max(0.0);
            assert!((mean(w) - wanted).abs() < mu * G * h, "θ = {theta}: {} instead of {wanted} m/s", mean(w));
        }
        let last = &rows[rows.len() - 1];
        assert!(rows.iter().filter(|r| r[0] > 0.52).all(|r| (r[2] - last[2]).abs() < 1e-12), "it rests");
        assert!((last[2] - v0 * v0 / (2.0 * mu * G)).abs() < h * v0);
    }
    Ok(())
}

#[test]
fn rolling_friction_slows_a_ball_at_its_rate_in_every_direction() -> Fallible {
    let (m, r, mu_r, v0) = (0.5, 0.1, 2e-3, [0.6, 0.8]);
    let inertia = 0.4 * m * r * r;
    let mut sim = Simulation::with_time_step(1e-3)?;
    // (z, x, y, φ_x, φ_y), rolling from the start
    let start = [0.0, v0[0], v0[1], -v0[1] / r, v0[0] / r];
    let ball = Lagrangian::new(Operator::Diagonal(vec![m, m, m, inertia, inertia])).at([-1e-9, 0.0, 0.0, 0.0, 0.0]).moving(start);
    let ball = sim.spawn_system(ball.with_force([-m * G, 0.0, 0.0, 0.0, 0.0]), Integrator::MOREAU_JEAN)?;
    #[rustfmt::skip]
    let rows = [
        1.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 1.0, 0.0, 0.0, -r,
        0.0, 0.0, 1.0, r, 0.0,
        0.0, 0.0, 0.0, 1.0, 0.0,
        0.0, 0.0, 0.0, 0.0, 1.0,
    ];
    let law = Law::RollingImpact { contact: CoulombImpact { mu: 0.5, ..CoulombImpact::default() }, mu_r };
    sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new(rows, [0.0; 5]), law))?;
    let signals =
        [Signal::Time, Signal::Velocity(ball, 1), Signal::Velocity(ball, 2), Signal::Velocity(ball, 4), Signal::Velocity(ball, 0)];
    let rows = run(&mut sim, 10_000, signals)?;
    // (m + I/r²) a = −μ_r m g / r
    let speed = |t: f64| (1.0 - 5.0 / 7.0 * mu_r * G / r * t).max(0.0);
    let errors = [worst(&rows, 1, |t| 0.6 * speed(t)), worst(&rows, 2, |t| 0.8 * speed(t)), worst(&rows, 3, |t| 0.6 * speed(t) / r)];
    println!("rolling: largest errors of v_x, v_y, ω_y {errors:?}");
    assert!(errors.iter().all(|e| *e < 1e-6) && worst(&rows, 4, |_| 0.0) < 1e-6);
    Ok(())
}

#[test]
fn an_equality_with_compliance_is_a_spring() -> Fallible {
    // y = q + D λ = 0: λ = −q/D
    let error = |h: f64| -> Fallible<f64> {
        let mut sim = Simulation::with_time_step(h)?;
        let mass = sim.spawn_system(Lagrangian::new([2.0]).at([0.1]), Integrator::MOREAU_JEAN)?;
        let spring = LagrangianLinear::new([1.0], [0.0]).with_d([1.0 / 200.0]);
        sim.spawn_interaction(Interaction::new([mass], spring, Law::Equality))?;
        let rows = run(&mut sim, (2.0 / h).round() as u64, [Signal::Time, Signal::State(mass, 0)])?;
        Ok(worst(&rows, 1, |t| 0.1 * (10.0 * t).cos()))
    };
    let errors = [error(4e-3)?, error(2e-3)?, error(1e-3)?];
    println!("spring: errors {errors:?}");
    assert!(errors[2] < 0.02 && errors[0] / errors[1] > 1.7 && errors[1] / errors[2] > 1.7, "{errors:?}");
    Ok(())
}

#[test]
fn a_compliant_contact_sinks_by_its_static_depth() -> Fallible {
    let (m, d) = (2.0, 1e-3);
    let mut sim = Simulation::with_time_step(1e-3)?;
    let mass = Lagrangian::new([m]).at([0.05]).with_damping([60.0]).with_force([-m * G]);
    let mass = sim.spawn_system(mass, Integrator::MOREAU_JEAN)?;
    let pad = sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [0.0]).with_d([d]), Law::Complementarity))?;
    let rows = run(&mut sim, 5000, [Signal::Time, Signal::State(mass, 0), Signal::Multiplier(pad, 0), Signal::Output(pad, 0)])?;
    assert!(rows.iter().skip(1).all(|r| r[2] >= 0.0 && r[3] > -1e-12 && (r[2] * r[3]).abs() < 1e-10), "0 ≤ y ⟂ λ ≥ 0");
    let last = &rows[rows.len() - 1];
    assert!((last[1] + m * G * d).abs() < 1e-9 && (last[2] - m * G).abs() < 1e-6, "{last:?}");
    Ok(())
}

#[test]
fn a_moving_floor_carries_and_throws() -> Fallible {
    let (m, omega, h) = (0.5, 10.0, 1e-4);
    for amplitude in [0.05, 0.2] {
        let mut sim = Simulation::with_time_step(h)?;
        let mass = Lagrangian::new([m]).at([-1e-9]).moving([amplitude * omega]).with_force([-m * G]);
        let mass = sim.spawn_system(mass, Integrator::MOREAU_JEAN)?;
        let floor = LagrangianNonlinear::new(1, Operator::function(move |at, y| y[0] = at.q[0] - amplitude * (omega * at.t).sin()))
            .with_rate(Operator::function(move |at, rate| rate[0] = -amplitude * omega * (omega * at.t).cos()));
        let floor = sim.spawn_interaction(Interaction::new([mass], floor, Law::NewtonImpact { e: 0.0 }))?;
        let rows = run(&mut sim, 2000, [Signal::Time, Signal::State(mass, 0), Signal::Multiplier(floor, 0)])?;
        // the floor carries while its acceleration exceeds −g
        let limit = G / (amplitude * omega * omega);
        let leaves = if limit < 1.0 { limit.asin() / omega } else { 1.0 };
        let carried: Vec<_> = rows.iter().skip(1).filter(|r| r[0] < leaves - h).cloned().collect();
        let (place, force) = (
            worst(&carried, 1, |t| amplitude * (omega * t).sin()),
            worst(&carried, 2, |t| h * m * (G - amplitude * omega * omega * (omega * (t - 0.5 * h)).sin())) / h,
        );
        println!("floor of amplitude {amplitude} m: errors {place:.1e} m, {force:.1e} N");
        assert!(place < 1e-6 && force < 1e-3 * m * G, "{place} m, {force} N");
        if limit < 1.0 {
            let flies = rows.iter().skip(1).find(|r| r[2] == 0.0).ok_or("it flies")?[0];
            assert!((flies - leaves).abs() < 3.0 * h, "leaves at {flies} instead of {leaves}");
        }
    }
    Ok(())
}

#[test]
fn a_prescribed_velocity_takes_the_force_that_it_needs() -> Fallible {
    let (m, h) = (2.0, 1e-3);
    let mut sim = Simulation::with_time_step(h)?;
    let harmonic = Prescribed::Harmonic { a: 0.3, b: 0.5, omega: 7.0, phi: 0.4 };
    let v0 = 0.3 + 0.5 * 0.4f64.cos();
    let held = Lagrangian::new(Operator::Diagonal(vec![m, m])).at([0.0, 0.0]).moving([0.0, v0]).with_force([-m * G, -m * G]);
    let held = held.with_prescribed(0, Prescribed::Fixed).with_prescribed(1, harmonic);
    let held = sim.spawn_system(held, Integrator::MOREAU_JEAN)?;
    let signals = [
        Signal::Time,
        Signal::Reaction(held, 0),
        Signal::Reaction(held, 1),
        Signal::State(held, 0),
        Signal::State(held, 1),
        Signal::Velocity(held, 1),
    ];
    let rows = run(&mut sim, 2000, signals)?;
    let rows = &rows[1..];
    let v = |t: f64| 0.3 + 0.5 * (7.0 * t + 0.4).cos();
    assert!(worst(rows, 1, |_| m * G * h) < 1e-14 && worst(rows, 3, |_| 0.0) == 0.0);
    assert!(worst(rows, 2, |t| m * (v(t) - v(t - h)) + m * G * h) < 1e-13 && worst(rows, 5, v) < 1e-13);
    assert!(worst(rows, 4, |t| 0.3 * t + 0.5 / 7.0 * ((7.0 * t + 0.4).sin() - 0.4f64.sin())) < 1e-5);
    Ok(())
}

#[test]
fn the_modal_scheme_is_exact_for_a_damped_oscillator() -> Fallible {
    let (m, c, k, q0) = (2.0, 0.6, 50.0, 0.1);
    let mut sim = Simulation::with_time_step(0.1)?;
    // two modes at once, one of them without damping
    let modes = Lagrangian::new(Operator::Diagonal(vec![m, m])).at([q0, q0]);
    let modes = modes.with_damping(Operator::Diagonal(vec![c, 0.0])).with_stiffness(Operator::Diagonal(vec![k, k]));
    let modes = sim.spawn_system(modes, Integrator::Modal { gamma: 0.5 })?;
    let rows = run(&mut sim, 200, [Signal::Time, Signal::State(modes, 0), Signal::State(modes, 1)])?;
    let decay = c / (2.0 * m);
    let omega = (k / m - decay * decay).sqrt();
    let damped = |t: f64| q0 * (-decay * t).exp() * ((omega * t).cos() + decay / omega * (omega * t).sin());
    let errors = [worst(&rows, 1, damped), worst(&rows, 2, |t| q0 * (5.0 * t).cos())];
    println!("modal scheme, 12 steps a period: errors {errors:?}");
    assert!(errors.iter().all(|e| *e < 1e-12), "{errors:?}");
    Ok(())
}

#[test]
fn a_zero_order_hold_is_exact_between_the_samples() -> Fallible {
    // ẍ = u with u = −x − ẋ sampled every 0.1 s, four steps each
    let (h, period) = (0.025, 0.1);
    let mut sim = Simulation::with_time_step(h)?;
    let plant = FirstOrder::linear([0.0, 1.0, 0.0, 0.0], [1.0, 0.0]).with_parameters([0.0]);
    let plant = plant.with_input(Operator::function(|at, b| b[1] = at.z[0]));
    let plant = sim.spawn_system(plant, Integrator::ZeroOrderHold)?;
    sim.every(period, move |_, world| {
        if let Some(mut plant) = world.get_mut::<FirstOrder>(plant) {
            plant.z[0] = -plant.x[0] - plant.x[1];
        }
    })?;
    let rows = run(&mut sim, 200, [Signal::State(plant, 0), Signal::State(plant, 1)])?;
    let (mut x, mut v, mut u) = (1.0, 0.0, 0.0);
    for (step, row) in rows.iter().enumerate() {
        assert!((row[0] - x).abs() < 1e-13 && (row[1] - v).abs() < 1e-13, "step {step}: {row:?} instead of {x}, {v}");
        if step % 4 == 0 {
            u = -x - v;
        }
        x += h * v + 0.5 * h * h * u;
        v += h * u;
    }
    Ok(())
}

#[test]
fn forces_and_moments_act_in_the_axes_they_are_given_in() -> Fallible {
    let (m, inertia, spin, force, moment) = (2.0, 0.5, 3.0, 4.0, 0.7);
    let error = |h: f64| -> Fallible<f64> {
        let mut sim = Simulation::with_time_step(h)?;
        let ball = NewtonEuler::new(m, DVec3::splat(inertia)).spinning(DVec3::Z * spin);
        // a thrust that turns with the body
        let rocket = sim.spawn_system(ball.clone().with_force([force, 0.0, 0.0], Frame::Body), Integrator::MOREAU_JEAN)?;
        // a moment about an axis at rest
        let top = sim.spawn_system(ball.with_moment([moment, 0.0, 0.0], Frame::Inertial), Integrator::MOREAU_JEAN)?;
        let steps = (1.0 / h).round() as u64;
        assert_eq!(sim.advance(steps)?.systems.unconverged, 0);
        let body = |e: Entity| sim.world().get::<BodyPose>(e).zip(sim.world().get::<Velocity>(e)).ok_or("there");
        let (rocket, top) = (body(rocket)?, body(top)?);
        let a = force / m;
        let v = DVec3::new(spin.sin(), 1.0 - spin.cos(), 0.0) * (a / spin);
        let x = DVec3::new((1.0 - spin.cos()) / spin, 1.0 - spin.sin() / spin, 0.0) * (a / spin);
        let rate = top.0.0.rotation * top.1.angular;
        let errors =
            [(rocket.1.linear - v).length(), (rocket.0.0.position - x).length(), (rate - DVec3::new(moment / inertia, 0.0, spin)).length()];
        Ok(errors.into_iter().fold(0.0, f64::max))
    };
    order(2, error, 2e-2)
}

/// A pendulum of length 1 in Cartesian coordinates, 4 s from a quarter turn; largest drift of the length and of the energy (J), and by
/// what the reported work misses the change of energy.
fn cartesian_pendulum(h: f64, projection: Projection, rows: RowsAt) -> Fallible<[f64; 3]> {
    let mut sim = Simulation::with_time_step(h)?;
    sim.set_newton(NewtonLoop { rows, ..NewtonLoop::default() });
    let bob = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0])).at([1.0, 0.0]).with_force([0.0, -G]);
    let bob = sim.spawn_system(bob, moreau_jean(0.5, projection))?;
    let rod = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0].hypot(at.q[1]) - 1.0));
    sim.spawn_interaction(Interaction::new([bob], rod, Law::Equality))?;
    let signals = [Signal::State(bob, 0), Signal::State(bob, 1), Signal::Velocity(bob, 0), Signal::Velocity(bob, 1)];
    let record = sim.record(1, signals);
    let report = sim.advance((4.0 / h).round() as u64)?;
    assert!(report.converged, "{report:?}");
    let rows: Vec<&[f64]> = sim.trace(record).ok_or("no trace")?.rows().collect();
    let drift = rows.iter().map(|r| (r[0].hypot(r[1]) - 1.0).abs()).fold(0.0, f64::max);
    let energy: Vec<f64> = rows.iter().map(|r| 0.5 * (r[2] * r[2] + r[3] * r[3]) + G * r[1]).collect();
    let missed = (energy[energy.len() - 1] - report.systems.contact_work).abs();
    let energy = energy.iter().fold(0.0f64, |worst, e| worst.max(e.abs()));
    println!("pendulum, h = {h}, {projection:?}: drift {drift:.1e} m, energy {energy:.1e} J, work off by {missed:.1e} J");
    Ok([drift, energy, missed])
}

#[test]
fn a_cartesian_pendulum_keeps_its_energy_and_by_projection_its_length() -> Fallible {
    for h in [1e-3, 4e-3, 2e-2] {
        let [drift, energy, missed] = cartesian_pendulum(h, Projection::None, RowsAt::Middle)?;
        // |q|² + ¼ h² |v|² is kept, v² at most 2 G: the rod breathes, and its force 3/2 v² does a work that comes back
        assert!(drift <= 0.25 * h * h * G * 1.01, "{drift:e} m");
        let breathing = 3.0 / 32.0 * h * h * (2.0 * G).powi(2);
        assert!(energy < 1.05 * breathing + 1e-12, "{energy:e} J against {breathing:e} J");
        assert!(missed < 1e-11, "{missed:e} J");
    }
    for projection in [Projection::Direct { tolerance: 1e-10 }, Projection::Combined { tolerance: 1e-10 }] {
        let held = cartesian_pendulum(1e-3, projection, RowsAt::Middle)?;
        assert!(held[0] <= 1e-10 && held[1] < 1e-4, "{held:?}");
    }
    Ok(())
}

#[test]
fn rows_of_the_end_of_the_step_alone_brake_a_cartesian_pendulum_and_the_report_says_so() -> Fallible {
    let free = cartesian_pendulum(1e-3, Projection::None, RowsAt::End)?;
    assert!(free[0] > 1e-6 && free[0] < 2e-2, "without projection the length drifts with h: {free:?}");
    assert!(free[1] > 0.1 && free[2] < 1e-11, "{free:?}");
    for projection in [Projection::Direct { tolerance: 1e-10 }, Projection::Combined { tolerance: 1e-10 }] {
        let held = cartesian_pendulum(1e-3, projection, RowsAt::End)?;
        assert!(held[0] <= 1e-10, "{held:?}");
        // the rows turn with the rod: each step loses ½ v² (h φ̇)²
        let finer = cartesian_pendulum(5e-4, projection, RowsAt::End)?;
        assert!(held[1] < 0.5 && (held[1] / finer[1] - 2.0).abs() < 0.2, "{held:?} {finer:?}");
    }
    Ok(())
}

#[test]
fn an_equality_makes_a_first_order_system_differential_algebraic() -> Fallible {
    // ẋ = λ, 0 = x − sin t (index 2): λ is the slope of the sine over the step
    let h = 0.05;
    let mut sim = Simulation::with_time_step(h)?;
    let x = sim.spawn_system(FirstOrder::linear([0.0], [0.0]), IMPLICIT)?;
    let relation = FirstOrderLinear::new(1, [1.0], [1.0]).with_e(Operator::function(|at, e| e[0] = -at.t.sin()));
    let link = sim.spawn_interaction(Interaction::new([x], relation, Law::Equality))?;
    let rows = run(&mut sim, (TAU / h) as u64, [Signal::Time, Signal::State(x, 0), Signal::Multiplier(link, 0)])?;
    assert!(worst(&rows, 1, f64::sin) < 1e-13);
    assert!(worst(&rows[1..], 2, |t| (t.sin() - (t - h).sin()) / h) < 1e-11);

    // ẋ = −x + λ, 0 = λ + x − 2 (index 1): ẋ = 2 − 2x
    let error = |h: f64| -> Fallible<f64> {
        let mut sim = Simulation::with_time_step(h)?;
        let x = sim.spawn_system(FirstOrder::linear([-1.0], [0.0]), IMPLICIT)?;
        let relation = FirstOrderLinear::new(1, [1.0], [1.0]).with_d([1.0]).with_e([-2.0]);
        sim.spawn_interaction(Interaction::new([x], relation, Law::Equality))?;
        Ok(worst(&run(&mut sim, (1.0 / h) as u64, [Signal::Time, Signal::State(x, 0)])?, 1, |t| 1.0 - (-2.0 * t).exp()))
    };
    order(1, error, 1e-2)
}

/// `0 ≤ λ ⟂ λ + λ³ − 2 t ≥ 0` and `0 ≤ λ ⟂ 2 λ − t ≥ 0` have no state at all: in every step the law alone is solved.
#[test]
fn a_law_without_states_is_solved_alone() -> Fallible {
    let mut sim = Simulation::with_time_step(0.1)?;
    let f = Operator::function(|at, y| y[0] = at.lambda[0] + at.lambda[0].powi(3) - 2.0 * at.t);
    let curved = sim.spawn_system(FirstOrder::default(), IMPLICIT)?;
    let curved = sim.spawn_interaction(Interaction::new(
        [curved],
        FirstOrderNonlinear::new(1, f, Operator::function(|_, _| {})),
        Law::Complementarity,
    ))?;
    let straight = sim.spawn_system(FirstOrder::default(), IMPLICIT)?;
    let relation = FirstOrderLinear::new(1, [], []).with_d([2.0]).with_e(Operator::function(|at, e| e[0] = -at.t));
    let straight = sim.spawn_interaction(Interaction::new([straight], relation, Law::Complementarity))?;
    let course = run(&mut sim, 10, [Signal::Time, Signal::Multiplier(curved, 0), Signal::Multiplier(straight, 0)])?;
    for row in &course[1..] {
        assert!((row[1] + row[1].powi(3) - 2.0 * row[0]).abs() < 1e-9 && (row[2] - 0.5 * row[0]).abs() < 1e-12, "{row:?}");
    }
    Ok(())
}

/// A ball in first-order form, and one whose M hides that `C M⁻¹ B = 0`: with θ = ½ and a zero-order hold it bounced for ever, with no
/// impact asked for. θ = 1 brings it to rest; a relay, whose multiplier has bounds, may act through two integrations.
#[test]
fn a_bound_that_its_multiplier_reaches_through_two_integrations_is_refused_where_it_would_bounce() -> Fallible {
    let ball = |integrator: Integrator, law: Law, mass: [f64; 4]| -> Fallible<(Simulation, Entity)> {
        let mut sim = Simulation::with_time_step(0.01)?;
        let [a, b, c, d] = mass;
        // M ẋ = M (v, −9.81) + M (0, λ)
        let system = FirstOrder::linear([0.0, a, 0.0, c], [1.0, 0.0]).with_mass(mass).with_input([-9.81 * b, -9.81 * d]);
        let system = sim.spawn_system(system, integrator)?;
        sim.spawn_interaction(Interaction::new([system], FirstOrderLinear::new(1, [1.0, 0.0], [b, d]), law))?;
        Ok((sim, system))
    };
    let relay = Law::Relay { lower: -20.0, upper: 20.0 };
    for mass in [[1.0, 0.0, 0.0, 1.0], [2.0, 1.0, 1.0, 1.0]] {
        for integrator in [Integrator::EULER_MOREAU, Integrator::ZeroOrderHold] {
            for law in [Law::Complementarity, Law::Equality] {
                let message = ball(integrator, law, mass)?.0.advance(1).expect_err("refused").to_string();
                for part in ["two integrations", "row 0", "theta = 1 ", "NewtonImpact"] {
                    assert!(message.contains(part), "{message:?} does not say {part:?}");
                }
            }
            assert!(ball(integrator, relay.clone(), mass)?.0.advance(10)?.converged);
        }
        let (mut sim, system) = ball(IMPLICIT, Law::Complementarity, mass)?;
        let course = run(&mut sim, 200, [Signal::Time, Signal::State(system, 0), Signal::State(system, 1)])?;
        assert!(course[60..].iter().all(|row| row[1].abs() < 1e-12 && row[2].abs() < 1e-9), "at rest: {:?}", course[60]);
    }
    Ok(())
}
