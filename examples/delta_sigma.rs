//! A delta-sigma modulator turns a slow voltage into a fast stream of single bits whose mean is that voltage.
//!
//! An integrator adds up input and bit, a comparator asks for its sign, and a latch of two switches hands the answer on once a clock
//! period. As the integrator stays bounded, input and bits agree on average: `mean(u + v_bit) = −RC Δv/T`, exactly.
//! The plot goes to `target/delta_sigma.svg` or to the path given.

use drystone::electronics::Circuit;
use drystone::io::plot::{Curve, Group, write_curves};
use drystone::model::integrator::Integrator;
use drystone::simulation::Simulation;
use std::f64::consts::PI;

const CLOCK: f64 = 1e-6;
/// Steps a clock period.
const STEPS: u64 = 50;
const PERIODS: u64 = 1024;
const R: f64 = 10e3;
const C: f64 = 1e-9;

fn input(t: f64) -> f64 {
    0.6 * (2.0 * PI * 2e3 * t).sin()
}

/// True from `from` to `to` of every clock period.
fn phase(t: f64, from: f64, to: f64) -> bool {
    (from..to).contains(&(t / CLOCK).fract())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut c = Circuit::new();
    c.voltage_source("u", "in", "0", input);
    c.resistor("R1", "in", "sum", R);
    c.resistor("R2", "bit", "sum", R);
    c.capacitor("C", "sum", "int", C);
    c.vcvs("A1", "int", "0", ["0", "sum"], 1e6);
    c.comparator("U1", "int", "0", "sign", -1.0, 1.0);
    // the latch: sampled in the first phase, handed on in the second
    c.resistor("Rs", "sign", "s", 100.0);
    c.switch("S1", "s", "h1", |t| phase(t, 0.11, 0.29));
    c.capacitor("C1", "h1", "0", 10e-12).voltage(-1.0);
    c.vcvs("A2", "copy", "0", ["h1", "0"], 1.0);
    c.resistor("Rc", "copy", "d", 100.0);
    c.switch("S2", "d", "h2", |t| phase(t, 0.51, 0.69));
    c.capacitor("C2", "h2", "0", 10e-12).voltage(-1.0);
    c.comparator("U2", "h2", "0", "bit", -1.0, 1.0);

    let mut sim = Simulation::with_time_step(CLOCK / STEPS as f64)?;
    let circuit = c.spawn_with(&mut sim, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
    let record = circuit.record(&mut sim, 1);
    let report = sim.advance(STEPS * PERIODS)?;
    assert!(report.converged, "every step is solved: {:?}", report.systems);

    let time = circuit.times(&sim, record);
    let curve = |a: &str, b: &str| circuit.equations.voltage(a, b).map(|output| circuit.curve(&sim, record, &output));
    let (u, bits, held, integral) = (curve("in", "0")?, curve("bit", "0")?, curve("h2", "0")?, curve("sum", "int")?);
    // mean of the bits over 64 clock periods, the sign turned
    let window = 64 * STEPS as usize;
    let sum: Vec<f64> = bits
        .iter()
        .scan(0.0, |s, b| {
            *s += b;
            Some(*s)
        })
        .collect();
    let decoded: Vec<f64> =
        (0..bits.len()).map(|k| if k < window { f64::NAN } else { (sum[k - window] - sum[k]) / window as f64 }).collect();
    let words = vec![Curve::new("input", u.clone()), Curve::new("mean of 64 bits", decoded.clone())];
    let stream = vec![Curve::new(
        "bit",
        bits.iter().take(80 * STEPS as usize).copied().chain(std::iter::repeat(f64::NAN)).take(bits.len()).collect(),
    )];
    let groups = [
        Group { title: "Input and decoded output", unit: "V", curves: words },
        Group { title: "The first 80 bits", unit: "V", curves: stream },
        Group { title: "Integrator", unit: "V", curves: vec![Curve::new("integrator", integral.iter().map(|v| -v).collect())] },
    ];
    let path = std::env::args().nth(1).unwrap_or_else(|| "target/delta_sigma.svg".into());
    write_curves(path.as_ref(), "Delta-sigma modulator", &time, &groups)?;

    let flips = (2..bits.len()).filter(|&k| bits[k] * bits[k - 1] < 0.0).count();
    let swing = integral.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let delay = window / 2 + STEPS as usize;
    let error = (window..bits.len()).map(|k| (decoded[k] - u[k - delay.min(k)]).abs()).fold(0.0, f64::max);
    println!(
        "{flips} flips in {PERIODS} periods; the integrator stays within {swing:.3} V; the decoded output is off by {error:.3} V at most"
    );

    assert!(bits.iter().skip(1).all(|b| (b.abs() - 1.0).abs() < 1e-9), "a bit is a bit");
    // at worst the sign turns in the last step of its phase: one step of RC = h/20 in each capacitor, −0.814 V
    assert!(held.iter().all(|h| h.abs() > 0.81), "the latch holds");
    assert!((2..bits.len()).all(|k| bits[k] == bits[k - 1] || phase(time[k], 0.5, 0.7)), "bits change with the clock alone");
    assert!(flips > 300, "small voltages flip often");
    // v(C) = v(sum) − v(int) integrates (u + v_bit)/(RC)
    let total: f64 = (1..bits.len()).map(|k| (u[k] + bits[k]) * CLOCK / STEPS as f64).sum();
    let charge = R * C * (integral[bits.len() - 1] - integral[0]);
    assert!(
        (total - charge).abs() < 1e-4 * R * C,
        "what the integrator holds is what bits and input differ by: {total} against {charge} V s"
    );
    assert!(swing < 0.5 && error < 0.1, "the stream follows the input");
    Ok(())
}
