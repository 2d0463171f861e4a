//! Mains of 12 V behind 5 Ω, four diodes and a load of 1 kΩ: first bare, then with a capacitor beside the load.
//!
//! Bare, the load sees `|v|` behind a divider, and on average `2/π` of its peak. With the capacitor the voltage falls as
//! `exp(−t/RC)` between short gulps at the peaks. The plot goes to `target/diode_bridge.svg` or to the path given.

use drystone::electronics::{Circuit, CircuitHandle};
use drystone::io::plot::{Curve, Group, write_curves};
use drystone::simulation::Simulation;
use std::f64::consts::PI;

const PEAK: f64 = 12.0;
const SOURCE: f64 = 5.0;
const LOAD: f64 = 1e3;
const FILTER: f64 = 100e-6;
/// Time constant of stray inductance and source (s): the state of the bare bridge.
const STRAY: f64 = 1e-4;

/// The rectifier, as a user writes it.
fn bridge(filter: Option<f64>) -> Circuit {
    let mut c = Circuit::new();
    c.voltage_source("mains", "a", "0", |t: f64| PEAK * (100.0 * PI * t).sin());
    c.resistor("Ri", "a", "b", SOURCE);
    c.inductor("Li", "b", "c", SOURCE * STRAY);
    c.diode("D1", "c", "p");
    c.diode("D2", "0", "p");
    c.diode("D3", "m", "c");
    c.diode("D4", "m", "0");
    c.resistor("load", "p", "m", LOAD);
    if let Some(capacitance) = filter {
        c.capacitor("C", "p", "m", capacitance);
    }
    c
}

/// Times, voltage of the load and current of the mains over 0.1 s.
fn run(circuit: &Circuit) -> Result<[Vec<f64>; 3], Box<dyn std::error::Error>> {
    let mut sim = Simulation::with_time_step(2e-6)?;
    let handle: CircuitHandle = circuit.spawn(&mut sim)?;
    let record = handle.record(&mut sim, 1);
    assert!(sim.advance(50_000)?.converged, "every step is solved");
    let (load, mains) = (handle.equations.voltage("p", "m")?, handle.equations.current("Ri")?);
    Ok([handle.times(&sim, record), handle.curve(&sim, record, &load), handle.curve(&sim, record, &mains)])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [time, bare, current] = run(&bridge(None))?;
    let [_, filtered, gulps] = run(&bridge(Some(FILTER)))?;
    let voltages = vec![Curve::new("bare", bare.clone()), Curve::new("with capacitor", filtered.clone())];
    let currents = vec![Curve::new("bare", current.clone()), Curve::new("with capacitor", gulps.clone())];
    let groups = [
        Group { title: "Voltage of the load", unit: "V", curves: voltages },
        Group { title: "Current of the mains", unit: "A", curves: currents },
    ];
    let path = std::env::args().nth(1).unwrap_or_else(|| "target/diode_bridge.svg".into());
    write_curves(path.as_ref(), "Bridge rectifier", &time, &groups)?;

    // whole periods after the start
    let settled = &bare[10_000..];
    let mean = settled.iter().sum::<f64>() / settled.len() as f64;
    let expected = 2.0 / PI * PEAK * LOAD / (LOAD + SOURCE);
    let tail = &filtered[40_000..];
    let (low, high) = tail.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
    println!("bare: mean {mean:.4} V, {expected:.4} V by formula; with capacitor {low:.3} to {high:.3} V");

    assert!(bare.iter().skip(1).all(|v| *v > -1e-9), "the load never sees a negative voltage");
    assert!((mean / expected - 1.0).abs() < 1e-3, "the mean of |sin| is 2/π");
    // between gulps the capacitor empties itself through the load
    let decay = (-2e-6 / (LOAD * FILTER)).exp();
    let free: Vec<usize> = (40_001..filtered.len()).filter(|&k| gulps[k].abs() < 1e-12 && gulps[k - 1].abs() < 1e-12).collect();
    assert!(free.len() > 5_000, "the diodes block most of the time: {}", free.len());
    assert!(free.iter().all(|&k| (filtered[k] / filtered[k - 1] - decay).abs() < 1e-9), "it falls as exp(−t/RC)");
    assert!(high < PEAK && high > 11.0 && low > 10.2, "the ripple is small: {low} to {high} V");
    // what comes in over the last period goes out through the load
    let (charge, drawn) = (40_000..50_000).fold((0.0, 0.0), |(q, d), k| (q + 2e-6 * gulps[k].abs(), d + 2e-6 * filtered[k] / LOAD));
    assert!((charge / drawn - 1.0).abs() < 5e-3, "charge is kept: {charge} C in, {drawn} C out");
    Ok(())
}
