//! A buck converter starts up: 3 V are switched at 600 kHz down to a reference that rises to 1.8 V in 100 µs.
//!
//! Power stage of two MOS transistors with their body diodes, filter, compensated amplifier and a comparator against a ramp, in steps of
//! 0.05 ns. Values: Acary, Bonnefon & Brogliato, *Nonsmooth modeling and simulation for switched circuits*, 2011.
//! Arguments: number of steps (400 000; 4 000 000 for the whole start-up) and path of the plot (`target/buck_converter.svg`).

use drystone::electronics::{Circuit, MosModel};
use drystone::io::plot::{Curve, Group, write_curves};
use drystone::model::integrator::Integrator;
use drystone::simulation::Simulation;
use std::f64::consts::PI;

const STEP: f64 = 0.05e-9;
const SUPPLY: f64 = 3.0;
const LOAD: f64 = 10.0;
const FILTER: f64 = 22e-6;

/// 0 to 2.25 V in 1.655 µs and back in 10 ns.
fn ramp(t: f64) -> f64 {
    let (rise, top, fall, period) = (1.655e-6, 1e-9, 10e-9, 1.6667e-6);
    let t = t % period;
    0.75 * SUPPLY * (t / rise).min(1.0).min(1.0 - (t - rise - top) / fall).max(0.0)
}

fn reference(t: f64) -> f64 {
    1.8 * (t / 100e-6).min(1.0)
}

fn converter() -> Circuit {
    let model = MosModel::quadratic(2.0, 10.0, SUPPLY - 2.0, 2);
    let mut c = Circuit::new();
    c.voltage_source("VI", "vdd", "0", SUPPLY);
    c.pmos("MP", "sw", "gate", "vdd", MosModel { threshold: -2.0, ..model.clone() });
    c.nmos("MN", "sw", "gate", "0", model);
    c.diode("DP", "sw", "vdd").forward_voltage(0.8);
    c.diode("DN", "0", "sw").forward_voltage(0.8);
    c.inductor("L", "sw", "out", 10e-6);
    c.capacitor("C", "out", "0", FILTER);
    c.resistor("load", "out", "0", LOAD);
    // compensation network and amplifier of 1e4 and 30 MHz
    c.resistor("R11", "out", "n1", 15.58e3);
    c.capacitor("C11", "n1", "fb", 20e-12);
    c.resistor("R12", "out", "fb", 227.8e3);
    c.resistor("R21", "amp", "n2", 5.613e6);
    c.capacitor("C21", "n2", "fb", 1.9e-12);
    c.voltage_source("Vref", "ref", "0", reference);
    c.vcvs("gain", "e", "0", ["ref", "fb"], 1e4);
    c.resistor("RA", "e", "pole", 1e3);
    c.capacitor("CA", "pole", "0", 1e-3 / (2.0 * PI * 30e6));
    c.vcvs("buffer", "amp", "0", ["pole", "0"], 1.0);
    // pulse width
    c.voltage_source("Vramp", "ramp", "0", ramp);
    c.comparator("U", "ramp", "amp", "gate", 0.0, SUPPLY).band(-0.1, 0.1);
    c
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let steps: u64 = arguments.next().map_or(Ok(400_000), |n| n.parse())?;
    let path = arguments.next().unwrap_or_else(|| "target/buck_converter.svg".into());
    let mut sim = Simulation::with_time_step(STEP)?;
    let circuit = converter().spawn_with(&mut sim, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
    let every = steps.div_ceil(40_000).max(1);
    let record = circuit.record(&mut sim, every);
    let start = std::time::Instant::now();
    let report = sim.advance(steps)?;
    println!("{steps} steps of 13 rows: {:.2} µs a step", 1e6 * start.elapsed().as_secs_f64() / steps as f64);
    assert!(report.converged, "every step is solved: {:?}", report.systems);

    let time = circuit.times(&sim, record);
    let probe = |output: &_| circuit.curve(&sim, record, output);
    let voltage = |node: &str| circuit.equations.voltage(node, "0").map(|output| probe(&output));
    let current = |name: &str| circuit.equations.current(name).map(|output| probe(&output));
    let (out, sw, gate) = (voltage("out")?, voltage("sw")?, voltage("gate")?);
    let (amp, ramp, i_l, i_load) = (voltage("amp")?, voltage("ramp")?, current("L")?, current("load")?);
    let target: Vec<f64> = time.iter().map(|t| reference(*t)).collect();
    let curve = |name: &str, values: &[f64]| Curve::new(name, values.to_vec());
    let groups = [
        Group { title: "Output", unit: "V", curves: vec![curve("reference", &target), curve("output", &out)] },
        Group { title: "Inductor", unit: "A", curves: vec![curve("current", &i_l)] },
        Group { title: "Control", unit: "V", curves: vec![curve("ramp", &ramp), curve("amplifier", &amp)] },
        Group { title: "Switch node", unit: "V", curves: vec![curve("switch node", &sw)] },
    ];
    write_curves(path.as_ref(), "Buck converter", &time, &groups)?;

    let n = time.len() - 1;
    println!("t = {:.1} µs: output {:.4} V, reference {:.4} V, inductor {:.4} A", 1e6 * time[n], out[n], target[n], i_l[n]);
    // the switch node never leaves the range of the body diodes; a low gate connects it to the supply, a high one to ground
    assert!(sw.iter().skip(1).all(|v| *v > -0.8 - 1e-6 && *v < SUPPLY + 0.8 + 1e-6));
    let driven = |k: usize, level: f64| (sw[k] - level).abs() < 0.1 + 0.2 * i_l[k].abs();
    assert!((1..=n).all(|k| (gate[k] > 0.0 || driven(k, SUPPLY)) && (gate[k] < SUPPLY || driven(k, 0.0))));
    // charge of the filter: what the inductor brings and the load does not take; records are coarse, hence the tolerance
    let dt = STEP * every as f64;
    let brought: f64 = (1..=n).map(|k| dt * (0.5 * (i_l[k] + i_l[k - 1]) - 0.5 * (i_load[k] + i_load[k - 1]))).sum();
    assert!((brought - FILTER * (out[n] - out[0])).abs() < 2e-3 * FILTER * out[n] + 1e-12, "charge {brought} C");
    if time[n] > 15e-6 {
        assert!((out[n] - target[n]).abs() < 0.05, "the output follows its reference");
    }
    if time[n] > 190e-6 {
        let last = &out[n - n / 20..];
        assert!(last.iter().all(|v| (v - 1.8).abs() < 0.02), "and stays there");
    }
    Ok(())
}
