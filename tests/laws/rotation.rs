//! Torque-free rotation, Euler's equations between two stable axes; bodies that turn on a floor.

use super::common::{FORECAST, Fallible, G, GAP_AWARE, friction, pose, scene, space, velocity};
use drystone::geometry::Shape;
use drystone::model::law::ContactLaws;
use drystone::model::newton_euler::{AppliedForce, Velocity};
use drystone::model::scheme::{Gyroscopic, Scheme, Treatment};
use drystone::simulation::{Body, Event, Simulation, SimulationError};
use glam::{DQuat, DVec3};

/// Times at which ω₂ changes its sign, and the worst relative drift of energy, |L| and the vector L.
fn flips(i: DVec3, omega: DVec3, treatment: Treatment) -> Fallible<(Vec<f64>, [f64; 3])> {
    let mut sim = space(1e-3, treatment, 0.0, 1e-12)?;
    let body = sim.spawn_body(Body::point(1.0, i).spinning(omega))?;
    let energy = |w: DVec3| 0.5 * w.dot(i * w);
    let (e0, l0) = (energy(omega), i * omega);
    let (mut times, mut drift, mut before) = (Vec::new(), [0f64; 3], omega.y);
    while sim.time() < 90.0 {
        sim.step()?;
        let w = velocity(&sim, body).angular;
        if before * w.y < 0.0 {
            times.push(sim.time() - sim.time_step() * w.y / (w.y - before));
        }
        before = w.y;
        let l = pose(&sim, body).rotation * (i * w);
        let now = [energy(w) / e0 - 1.0, l.length() / l0.length() - 1.0, (l - l0).length() / l0.length()];
        drift.iter_mut().zip(now).for_each(|(d, x)| *d = d.max(x.abs()));
    }
    Ok((times, drift))
}

#[test]
fn a_body_that_spins_about_its_middle_axis_flips_at_the_elliptic_period() -> Fallible {
    let cases = [
        (DVec3::new(1.0, 10.0, 11.0), DVec3::new(0.0, 2.0, 1e-4), 6.1852, 12.370399),
        (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.01, 5.0, 0.0), 0.5 * 5.266055, 5.266055),
    ];
    for (i, omega, first, period) in cases {
        for treatment in [FORECAST, GAP_AWARE] {
            let (times, drift) = flips(i, omega, treatment)?;
            println!("{treatment:?} I = {i}: first flips {:.4?}, drift of E, |L|, L {drift:?}", &times[..4]);
            assert!((times[0] / first - 1.0).abs() < 1e-3, "{times:?}");
            for (n, time) in times.iter().enumerate() {
                let exact = first + n as f64 * period;
                assert!((time / exact - 1.0).abs() < 1e-3, "flip {n} at {time}, not {exact}");
            }
            assert!(times.windows(2).all(|t| ((t[1] - t[0]) / period - 1.0).abs() < 1e-3), "{times:?}");
            assert!(drift.iter().all(|d| *d < 1e-10), "{drift:?}");
        }
    }
    Ok(())
}

#[test]
fn a_small_disturbance_of_the_middle_axis_grows_at_its_rate() -> Fallible {
    let mut sim = space(1e-3, FORECAST, 0.0, 1e-12)?;
    let body = sim.spawn_body(Body::point(1.0, DVec3::new(1.0, 2.0, 3.0)).spinning(DVec3::new(1e-6, 5.0, 0.0)))?;
    // from ω₃ = 0, ω₁ = 1e-6 cosh(σ t)
    let mut at = |t: f64| -> Fallible<f64> {
        sim.run_until(t)?;
        Ok(velocity(&sim, body).angular.x)
    };
    let (a, b) = (at(1.0)?, at(2.0)?);
    let rate = (b / a).ln();
    assert!((rate - 2.886751).abs() < 0.01, "{rate}");
    Ok(())
}

#[test]
fn energy_and_momentum_stay_however_fast_a_body_turns() -> Fallible {
    let bodies = [[1.0, 10.0, 11.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0000001], [0.01, 1.0, 1.005], [3.0, 3.0, 5.9]];
    let speeds = [[3000.0, 4000.0, 100.0], [100.0, 5000.0, 500.0], [30.0, 400.0, -200.0], [1e-3, 3e4, 0.0]];
    for treatment in [FORECAST, GAP_AWARE, Treatment::Forecast { theta: 0.7 }] {
        for (i, omega) in bodies.iter().flat_map(|i| speeds.map(|w| (DVec3::from_array(*i), DVec3::from_array(w)))) {
            let mut sim = space(1e-3, treatment, 9.81, 1e-12)?;
            let turned = DQuat::from_rotation_x(0.4);
            let body = sim.spawn_body(Body::point(2.0, i).turned(turned).moving(DVec3::X).spinning(omega))?;
            let report = sim.run_until(1.0)?;
            let w = velocity(&sim, body).angular;
            let (l, l0) = (pose(&sim, body).rotation * (i * w), turned * (i * omega));
            let energy = w.dot(i * w) / omega.dot(i * omega) - 1.0;
            assert!(energy.abs() < 1e-9, "{treatment:?} {i} {omega}: {energy:e}");
            assert!((l - l0).length() < 1e-9 * l0.length(), "{treatment:?} {i} {omega}: {l} {l0}");
            assert!(report.converged && report.balance.error() < 1e-9, "{:?}", report.balance);
        }
    }
    Ok(())
}

#[test]
fn torques_and_blows_change_the_momentum_by_what_they_are() -> Fallible {
    let (i, blow, torque) = (DVec3::new(1.0, 10.0, 11.0), DVec3::new(30.0, -2e3, 700.0), DVec3::new(400.0, 3e3, -2e3));
    for (treatment, omega) in [(GAP_AWARE, DVec3::new(3.0, 40.0, 1.0)), (GAP_AWARE, 900.0 * DVec3::ONE), (FORECAST, 900.0 * DVec3::ONE)] {
        let mut sim = space(1e-3, treatment, 0.0, 1e-12)?;
        let body = sim.spawn_body(Body::point(2.0, i).spinning(omega))?;
        sim.add_force(body, move |_, _, _| AppliedForce { force: DVec3::ZERO, torque })?;
        sim.at(0.02, Event::Blow(body, AppliedForce { force: DVec3::ZERO, torque: blow }))?;
        let report = sim.run_until(0.05)?;
        let l = pose(&sim, body).rotation * (i * velocity(&sim, body).angular);
        let wanted = i * omega + blow + 0.05 * torque;
        assert!((l - wanted).length() < 1e-9 * wanted.length(), "{treatment:?} {omega}: {l} {wanted}");
        assert!(report.balance.error() < 1e-12, "{:?}", report.balance);
    }
    Ok(())
}

#[test]
fn a_brick_that_tumbles_onto_a_floor_gains_no_energy_at_any_speed() -> Fallible {
    for (treatment, speed) in [(GAP_AWARE, 100.0), (GAP_AWARE, 1000.0), (GAP_AWARE, 5000.0), (FORECAST, 1000.0), (FORECAST, 5000.0)] {
        let mut sim = scene(1e-3, treatment, friction(0.4), 1e-10)?;
        let brick = Body::new(Shape::cuboid(DVec3::new(0.2, 0.1, 0.05))?).at(0.25 * DVec3::Z);
        sim.spawn_body(brick.spinning(speed * DVec3::new(0.3, 0.9, -0.4)))?;
        let first = sim.step()?;
        let (mut touched, first) = (first.contacts > 0, first.balance);
        let start = first.energy.total() - first.kinetic_change - first.potential_change;
        while sim.time() < 0.3 {
            let report = sim.step()?;
            touched |= report.contacts > 0;
            let b = report.balance;
            assert!(b.energy.total() <= start * (1.0 + 1e-9), "{treatment:?} {speed}: {} from {start}", b.energy.total());
            assert!(b.error() < 1e-9, "{b:?}");
        }
        assert!(touched);
    }
    Ok(())
}

#[test]
fn a_step_in_which_a_body_turns_too_far_is_refused_with_the_one_that_would_do() -> Fallible {
    let spinning = |scheme: Scheme, speed: f64| -> Fallible<(Simulation, _)> {
        let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..scheme })?;
        let body = Body::point(1.0, DVec3::new(1.0, 10.0, 11.0)).named("handle").spinning(speed * DVec3::new(3.0, 4.0, 0.1));
        let body = sim.spawn_body(body)?;
        Ok((sim, body))
    };
    let rule = Scheme { gyroscopic: Gyroscopic::ThetaRule, treatment: FORECAST, ..Scheme::default() };
    for (scheme, speed) in [(Scheme::default(), 1e8), (rule, 1e3)] {
        let (mut sim, _) = spinning(scheme, speed)?;
        let Err(error) = sim.run_until(0.1) else { return Err(format!("{scheme:?} at {speed} was not refused").into()) };
        let message = error.to_string();
        let SimulationError::TooFast { needed, .. } = error else { return Err(message.into()) };
        assert!(message.contains("\"handle\"") && message.contains("step 1 ") && needed < 1e-3 && needed > 1e-9, "{message}");
        let (mut sim, _) = spinning(Scheme { time_step: 0.9 * needed, ..scheme }, speed)?;
        assert!(sim.advance(20)?.converged);
    }
    // in a joint it is solved in parts
    let (mut sim, body) = spinning(Scheme::default(), 1e3)?;
    sim.spawn_joint(body, None, DVec3::ZERO)?;
    sim.add_force(body, |_, _, _| AppliedForce { force: DVec3::X, torque: DVec3::ZERO })?;
    let before = *sim.world().get::<Velocity>(body).expect("alive");
    let report = sim.step()?;
    let after = *sim.world().get::<Velocity>(body).expect("alive");
    let kinetic = |v: Velocity| 0.5 * v.angular.dot(DVec3::new(1.0, 10.0, 11.0) * v.angular);
    assert!(report.converged && report.parts > 1, "{} parts", report.parts);
    assert!((kinetic(after) / kinetic(before) - 1.0).abs() < 1e-6, "{} J from {} J", kinetic(after), kinetic(before));
    Ok(())
}

/// Radius and half of the thickness of a disc (m).
const R: f64 = 0.3;
const HALF: f64 = 0.002;

/// A thin disc that leans by `lean` on this floor and whose contact runs round its rim at `Ω² = 4 g/(r sin lean)` while its centre stays: the
/// energy at the start, what two seconds lose of it, and what the balance says of that.
fn rim(lean: f64, h: f64, floor: Body, disc: Shape) -> Fallible<[f64; 3]> {
    let (r, half, m) = (R, HALF, 3.0);
    let (sin, cos) = lean.to_radians().sin_cos();
    let mut sim = space(h, GAP_AWARE, G, 1e-8)?;
    sim.set_laws(ContactLaws::uniform(friction(0.8)))?;
    sim.spawn_body(floor.fixed())?;
    let disc = Body::new(disc).mass(m).at(DVec3::Z * (r * sin + half * cos));
    sim.spawn_body(disc.turned(DQuat::from_rotation_x(lean.to_radians())).spinning(DVec3::Y * sin * (4.0 * G / (r * sin)).sqrt()))?;
    let first = sim.step()?.balance;
    let start = first.energy.total() - (first.kinetic_change + first.potential_change);
    while sim.time() < 2.0 {
        sim.step()?;
    }
    Ok([start, start - sim.balance().energy.total(), sim.balance().edge_loss])
}

#[test]
fn discs_roll_round_on_their_rims_without_loss() -> Fallible {
    let slab = Body::new(Shape::cuboid(DVec3::new(2.0, 2.0, 0.1))?).at(-0.1 * DVec3::Z);
    let corners = [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)].map(|(x, y)| DVec3::new(x, y, 0.0));
    let triangles = Body::new(Shape::mesh(&corners, &[[0, 1, 2], [0, 2, 3]])?);
    let table = Body::new(Shape::cylinder(0.1, 2.0)?).at(-0.1 * DVec3::Z);
    for (floor, lean, h) in [Body::new(Shape::half_space(DVec3::Z)?), slab, triangles, table].into_iter().flat_map(|floor| {
        [(70.0, 4e-3), (70.0, 1e-3), (30.0, 4e-3), (30.0, 1e-3), (10.0, 1e-3), (10.0, 2.5e-4)].map(|(lean, h)| (floor.clone(), lean, h))
    }) {
        let [start, lost, told] = rim(lean, h, floor, Shape::cylinder(HALF, R)?)?;
        println!("{lean} deg, {h} s: {lost:.4} J of {start:.3} J lost, {told:.4} J told");
        assert!(lost.abs() < 2e-3 * start && told < 1e-6 * start, "{lean} deg, {h} s: {lost} of {start}, {told}");
    }
    Ok(())
}

#[test]
fn what_a_coarse_step_takes_from_a_disc_of_many_corners_is_told() -> Fallible {
    let corner = |k: u32| {
        DQuat::from_rotation_z(f64::from(k) * std::f64::consts::TAU / 384.0) * DVec3::new(R, 0.0, if k < 384 { HALF } else { -HALF })
    };
    let disc = Shape::hull(&(0..768).map(corner).collect::<Vec<_>>())?;
    for (lean, h) in [(30.0, 4e-3), (10.0, 1e-3)] {
        let [start, lost, told] = rim(lean, h, Body::new(Shape::half_space(DVec3::Z)?), disc.clone())?;
        println!("{lean} deg, {h} s: {lost:.3} J of {start:.3} J lost, {told:.3} J told");
        assert!(lost > 0.8 * start && told > 0.6 * lost && told < 1.02 * lost, "{lean} deg, {h} s: {lost} of {start}, {told}");
    }
    Ok(())
}
