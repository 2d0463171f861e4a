//! An LC oscillator pays for every positive half-wave: while its voltage is positive, a diode lets a resistor drain it;
//! while it is negative the diode blocks and the oscillator swings freely.
//!
//! Both phases have closed forms: a damped half-wave loses the factor `exp(−α π/ω_d)`, a free one nothing.
//! The plot goes to `target/half_wave_rectifier.svg` or to the path given.

use drystone::io::plot::{Curve, Group, write_curves};
use drystone::{electronics::Circuit, simulation::Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (r, l, c): (f64, f64, f64) = (1e3, 1e-2, 1e-6);
    let mut circuit = Circuit::new();
    circuit.capacitor("C", "a", "0", c).voltage(10.0);
    circuit.inductor("L", "a", "0", l);
    circuit.diode("D", "a", "k");
    circuit.resistor("R", "k", "0", r);

    let mut sim = Simulation::with_time_step(1e-7)?;
    let circuit = circuit.spawn(&mut sim)?;
    let record = circuit.record(&mut sim, 1);
    let report = sim.advance(50_000)?;
    assert!(report.converged, "every step is solved");

    let probe = |output: &_| circuit.curve(&sim, record, output);
    let time = circuit.times(&sim, record);
    let voltage = probe(&circuit.equations.voltage("a", "0")?);
    let load = probe(&circuit.equations.voltage("k", "0")?);
    let [i_l, i_d] = ["L", "D"].map(|name| circuit.equations.current(name)).map(|output| output.map(|o| probe(&o)));
    let groups = [
        Group {
            title: "Voltages",
            unit: "V",
            curves: vec![Curve::new("capacitor", voltage.clone()), Curve::new("resistor", load.clone())],
        },
        Group { title: "Currents", unit: "A", curves: vec![Curve::new("inductor", i_l?), Curve::new("diode", i_d?.clone())] },
    ];
    let path = std::env::args().nth(1).unwrap_or_else(|| "target/half_wave_rectifier.svg".into());
    write_curves(path.as_ref(), "Half-wave rectifier", &time, &groups)?;

    // lowest voltage of each negative half-wave
    let valley = |k: usize| voltage[k] < voltage[k - 1] && voltage[k] <= voltage[k + 1] && voltage[k] < -1.0;
    let valleys: Vec<f64> = (1..voltage.len() - 1).filter(|&k| valley(k)).map(|k| voltage[k]).collect();
    let (alpha, omega) = (0.5 / (r * c), 1.0 / (l * c).sqrt());
    let damped = (omega * omega - alpha * alpha).sqrt();
    let factor = (-alpha * std::f64::consts::PI / damped).exp();
    println!(
        "{} valleys, the first at {:.4} V; each is {:.6} of the one before, {factor:.6} by formula",
        valleys.len(),
        valleys[0],
        valleys[1] / valleys[0]
    );

    assert!(valleys.len() >= 7);
    for pair in valleys.windows(2) {
        assert!((pair[1] / pair[0] - factor).abs() < 1e-5, "a half-wave loses {} instead of {factor}", pair[1] / pair[0]);
    }
    assert!(voltage.iter().zip(&load).skip(1).all(|(v, r)| (r - v.max(0.0)).abs() < 1e-9), "the resistor sees the positive part");
    Ok(())
}
