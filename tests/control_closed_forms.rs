//! Small programs of a circuit or control engineer against closed forms, each at three steps: errors fall with the step.
#![cfg(feature = "simulation")]

use drystone::electronics::Circuit;
use drystone::prelude::*;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The errors at three steps, each half of the one before, lie below `slope × h`, and the last below the first, unless both are rounding.
fn first_order(what: &str, h: f64, slope: f64, found: impl Fn(f64) -> Fallible<f64>, wanted: f64) -> Fallible {
    let mut errors = Vec::new();
    for h in [h, 0.5 * h, 0.25 * h] {
        let found = found(h)?;
        let error = (found - wanted).abs();
        println!("{what}: h = {h:.3e}, {found:.9} against {wanted:.9}, error {error:.2e}, allowed {:.2e}", slope * h);
        assert!(error <= slope * h, "{what} at h = {h}: {found} against {wanted}");
        errors.push(error);
    }
    assert!(errors[2] < errors[0] || errors[2] <= 1e-9, "{what}: {errors:?}");
    Ok(())
}

#[test]
fn a_buck_converter_gives_its_share_of_the_supply() -> Fallible {
    let (supply, duty, period, l, c, r) = (12.0, 0.4, 1e-4, 1e-3, 1e-4, 5.0);
    let means = |h: f64| -> Fallible<[f64; 2]> {
        let mut circuit = Circuit::new();
        circuit.voltage_source("V", "in", "0", supply);
        // the middle of a step decides, lest instants round to either side
        circuit.switch("S", "in", "x", move |t| libm::fmod(t - 0.5 * h + period, period) < duty * period);
        circuit.diode("D", "0", "x");
        circuit.inductor("L", "x", "out", l).current(duty * supply / r);
        circuit.capacitor("C", "out", "0", c).voltage(duty * supply);
        circuit.resistor("R", "out", "0", r);
        let mut sim = Simulation::with_time_step(h)?;
        let circuit = circuit.spawn(&mut sim)?;
        assert!(sim.run_until(200.0 * period)?.converged);
        let record = circuit.record(&mut sim, 1);
        assert!(sim.run_until(220.0 * period)?.converged);
        let out = circuit.curve(&sim, record, &circuit.equations.voltage("out", "0")?);
        let i = circuit.curve(&sim, record, &circuit.equations.current("L")?);
        let mean = out.iter().skip(1).sum::<f64>() / (out.len() - 1) as f64;
        let span = i.iter().skip(1).fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], i| [a.min(*i), b.max(*i)]);
        Ok([mean, span[1] - span[0]])
    };
    first_order("mean voltage of a buck converter", period / 100.0, 1e4, |h| Ok(means(h)?[0]), duty * supply)?;
    // the closed form lets the output stand still, which itself ripples by ΔI T/8C, 0.75 % of it
    let ripple = supply * duty * (1.0 - duty) * period / l;
    for share in [100.0, 200.0, 400.0] {
        let found = means(period / share)?[1];
        assert!((found - ripple).abs() < 0.0025 * ripple, "{found} against {ripple}");
    }
    Ok(())
}

#[test]
fn a_diode_before_a_coil_lets_go_at_the_angle_of_extinction() -> Fallible {
    let (omega, l, r, amplitude) = (314.0, 0.05, 10.0, 100.0);
    // sin(β − φ) + sin φ exp(−β/tan φ) = 0, tan φ = ωL/R, by bisection in (π, 2π)
    let phi = libm::atan(omega * l / r);
    let left = |beta: f64| libm::sin(beta - phi) + libm::sin(phi) * libm::exp(-beta / libm::tan(phi));
    let (mut a, mut b) = (std::f64::consts::PI, 2.0 * std::f64::consts::PI);
    for _ in 0..80 {
        let m = 0.5 * (a + b);
        if left(m) > 0.0 { a = m } else { b = m }
    }
    let end = |h: f64| -> Fallible<f64> {
        let mut c = Circuit::new();
        c.voltage_source("V", "a", "0", move |t: f64| amplitude * libm::sin(omega * t));
        c.diode("D", "a", "b");
        c.resistor("R", "b", "c", r);
        c.inductor("L", "c", "0", l);
        let mut sim = Simulation::with_time_step(h)?;
        let circuit = c.spawn(&mut sim)?;
        let record = circuit.record(&mut sim, 1);
        assert!(sim.run_until(1.99 * std::f64::consts::PI / omega)?.converged);
        let (times, i) = (circuit.times(&sim, record), circuit.curve(&sim, record, &circuit.equations.current("L")?));
        let last = i.iter().rposition(|i| *i > 1e-9).ok_or("no current")?;
        assert!(i.iter().all(|i| *i > -1e-12), "no current goes backwards");
        Ok(times[last + 1])
    };
    first_order("extinction", 2e-5, 1.5, end, b / omega)
}

#[test]
fn a_relaxation_oscillator_keeps_its_period() -> Fallible {
    let (r, c) = (1e4, 1e-7);
    let period = |h: f64| -> Fallible<f64> {
        let mut circuit = Circuit::new();
        circuit.comparator("U", "plus", "minus", "out", -5.0, 5.0);
        circuit.resistor("R1", "out", "plus", 1e4);
        circuit.resistor("R2", "plus", "0", 1e4);
        circuit.resistor("R", "out", "minus", r);
        circuit.capacitor("C", "minus", "0", c).voltage(-2.6);
        let mut sim = Simulation::with_time_step(h)?;
        let circuit = circuit.spawn(&mut sim)?;
        let record = circuit.record(&mut sim, 1);
        assert!(sim.run_until(0.02)?.converged);
        let (times, out) = (circuit.times(&sim, record), circuit.curve(&sim, record, &circuit.equations.voltage("out", "0")?));
        let rises: Vec<f64> = (2..out.len()).filter(|&k| out[k - 1] < 0.0 && out[k] > 0.0).map(|k| times[k]).collect();
        let between: Vec<_> = out.iter().enumerate().skip(2).filter(|(_, v)| (v.abs() - 5.0).abs() > 1e-9).collect();
        assert!(between.is_empty(), "not at a side in {} of {} steps: {:?}", between.len(), out.len(), &between[..1]);
        Ok((rises[rises.len() - 1] - rises[0]) / (rises.len() - 1) as f64)
    };
    first_order("period of a relaxation oscillator", 2e-6, 6.0, period, 2.0 * r * c * libm::log(3.0))
}

#[test]
fn a_zener_diode_clamps_at_its_time_and_bears_the_rest() -> Fallible {
    let run = |h: f64| -> Fallible<f64> {
        let mut c = Circuit::new();
        c.voltage_source("V", "in", "0", 12.0);
        c.resistor("R", "in", "out", 1e3);
        c.zener("Z", "0", "out", 5.1);
        c.capacitor("C", "out", "0", 1e-6);
        let mut sim = Simulation::with_time_step(h)?;
        let circuit = c.spawn(&mut sim)?;
        let record = circuit.record(&mut sim, 1);
        assert!(sim.run_until(2e-3)?.converged);
        let (times, v) = (circuit.times(&sim, record), circuit.curve(&sim, record, &circuit.equations.voltage("out", "0")?));
        assert!((v[v.len() - 1] - 5.1).abs() < 1e-9 && v.iter().all(|v| *v < 5.1 + 1e-9));
        let current = circuit.current(&sim, "Z")?;
        assert!((current + 6.9e-3).abs() < 1e-9, "{current} A");
        v.iter().position(|v| *v > 5.1 - 1e-9).map(|k| times[k]).ok_or_else(|| "it does not clamp".into())
    };
    first_order("time to the clamp", 1e-5, 1.0, run, 1e-3 * libm::log(12.0 / 6.9))
}

#[test]
fn twisting_ends_in_its_time_and_does_not_chatter() -> Fallible {
    let (r1, r2) = (2.0, 1.0);
    let rest = |h: f64| -> Fallible<f64> {
        let mut sim = Simulation::with_time_step(h)?;
        let plant = FirstOrder::linear([0.0, 1.0, 0.0, 0.0], [1.0, 0.0]);
        let plant = sim.spawn_system(plant, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
        let relay = FirstOrderLinear::new(2, [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, r1, r2]);
        let relay = sim.spawn_interaction(Interaction::new([plant], relay, Law::Relay { lower: -1.0, upper: 1.0 }))?;
        let table = sim.record(
            1,
            [Signal::Time, Signal::State(plant, 0), Signal::State(plant, 1), Signal::Multiplier(relay, 0), Signal::Multiplier(relay, 1)],
        );
        assert!(sim.run_until(12.0)?.converged);
        let trace = sim.trace(table).ok_or("no table")?;
        let (t, x, v) = (trace.column(0), trace.column(1), trace.column(2));
        let last = (0..t.len()).rposition(|k| x[k].abs() > 1e-12 || v[k].abs() > 1e-12).ok_or("at rest")?;
        let inputs: Vec<f64> = trace.column(3).iter().zip(trace.column(4)).map(|(a, b)| r1 * a + r2 * b).skip(last + 3).collect();
        assert!(inputs.len() > 10 && inputs.iter().all(|u| u.abs() < 1e-9), "no chattering: {:?}", &inputs[..3]);
        Ok(t[last])
    };
    let a = r1 - r2;
    let ratio = libm::sqrt(a / (r1 + r2));
    let wanted = (libm::sqrt(2.0 / a) + libm::sqrt(2.0 * a) / (r1 + r2)) / (1.0 - ratio);
    first_order("end of twisting", 1e-2, 80.0, rest, wanted)
}

#[test]
fn a_ball_comes_to_rest_after_infinitely_many_bounces() -> Fallible {
    let (e, g, height) = (0.5, 10.0, 1.0);
    let rest = |h: f64| -> Fallible<f64> {
        let mut sim = Simulation::with_time_step(h)?;
        let ball = sim.spawn_system(Lagrangian::new([1.0]).at([height]).with_force([-g]), Integrator::MOREAU_JEAN)?;
        sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e }))?;
        let table = sim.record(1, [Signal::Time, Signal::Velocity(ball, 0)]);
        assert!(sim.run_until(3.0)?.converged);
        let trace = sim.trace(table).ok_or("no table")?;
        let (t, v) = (trace.column(0), trace.column(1));
        let last = v.iter().rposition(|v| v.abs() > g * h * 1.5).ok_or("at rest")?;
        assert!(v[v.len() - 1].abs() < 1e-12 + g * h, "it lies");
        Ok(t[last])
    };
    first_order("end of a bouncing ball", 1e-3, 40.0, rest, libm::sqrt(2.0 * height / g) * (1.0 + e) / (1.0 - e))
}
