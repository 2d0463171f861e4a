//! A pulse runs down a chain of CMOS inverters: each turns it round, sharpens it and passes it on after the same delay.
//!
//! Transistors are piecewise-linear: 4 hinges of complementarity each, 8 an inverter. The supply pays `C V²` for each output that it charges.
//! Arguments: path of the plot (`target/mos_inverter_chain.svg`) and number of inverters (5).

use drystone::electronics::{Circuit, MosModel};
use drystone::io::plot::{Curve, Group, write_curves};
use drystone::model::integrator::Integrator;
use drystone::simulation::Simulation;

const SUPPLY: f64 = 3.0;
const LOAD: f64 = 50e-15;
const STEP: f64 = 2e-12;

/// Up at 1 ns, down at 8 ns, in 0.2 ns.
fn pulse(t: f64) -> f64 {
    let edge = |at: f64| ((t - at) / 0.2e-9).clamp(0.0, 1.0);
    SUPPLY * (edge(1e-9) - edge(8e-9))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "target/mos_inverter_chain.svg".into());
    let stages: usize = arguments.next().map_or(Ok(5), |n| n.parse())?;
    let model = MosModel::quadratic(0.6, 2e-4, SUPPLY - 0.6, 2);
    let mut c = Circuit::new();
    c.voltage_source("VDD", "vdd", "0", SUPPLY);
    c.voltage_source("input", "n0", "0", pulse);
    for k in 1..=stages {
        let (input, output) = (format!("n{}", k - 1), format!("n{k}"));
        c.pmos(&format!("P{k}"), &output, &input, "vdd", MosModel { threshold: -0.6, ..model.clone() });
        c.nmos(&format!("N{k}"), &output, &input, "0", model.clone());
        c.capacitor(&format!("C{k}"), &output, "0", LOAD).voltage(if k % 2 == 1 { SUPPLY } else { 0.0 });
    }
    let mut sim = Simulation::with_time_step(STEP)?;
    let circuit = c.spawn_with(&mut sim, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
    let record = circuit.record(&mut sim, 1);
    let report = sim.advance(7500)?;
    assert!(report.converged, "every step is solved: {:?}", report.systems);

    let time = circuit.times(&sim, record);
    let curve = |k: usize| Ok(circuit.curve(&sim, record, &circuit.equations.voltage(&format!("n{k}"), "0")?));
    let voltages = (0..=stages).map(curve).collect::<Result<Vec<_>, drystone::electronics::CircuitError>>()?;
    let supply = circuit.curve(&sim, record, &circuit.equations.current("VDD")?);
    let names = voltages.iter().enumerate().map(|(k, v)| Curve::new(&format!("n{k}"), v.clone())).collect();
    let drawn = Curve::new("supply", supply.iter().map(|i| -i).collect());
    let groups = [Group { title: "Nodes", unit: "V", curves: names }, Group { title: "Supply", unit: "A", curves: vec![drawn] }];
    write_curves(path.as_ref(), "Chain of CMOS inverters", &time, &groups)?;

    // when each node passes half of the supply, first and second time
    let half = SUPPLY / 2.0;
    let crossings: Vec<Vec<f64>> = voltages
        .iter()
        .map(|v| {
            let crosses = |k: &usize| (v[k - 1] < half) != (v[*k] < half);
            (1..v.len()).filter(crosses).map(|k| time[k - 1] + STEP * (half - v[k - 1]) / (v[k] - v[k - 1])).collect()
        })
        .collect();
    let delays: Vec<f64> = crossings.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect();
    println!("delays of the stages (ps): {:.1?}", delays.iter().map(|d| 1e12 * d).collect::<Vec<_>>());
    let energy: f64 = supply.iter().skip(1).map(|i| -i * SUPPLY * STEP).sum();
    println!("energy from the supply: {:.3e} J, of which {:.3e} J charge the outputs", energy, stages as f64 * LOAD * SUPPLY * SUPPLY);

    assert!(crossings.iter().all(|c| c.len() == 2), "every node passes the pulse on: {crossings:?}");
    assert!(delays.iter().all(|d| *d > 0.0), "no stage is faster than its input");
    let last = &delays[delays.len().saturating_sub(2)..];
    assert!(last.iter().all(|d| (d / last[0] - 1.0).abs() < 0.05), "equal stages, equal delays");
    for (k, v) in voltages.iter().enumerate() {
        let (idle, active) = (v[250], v[3750]);
        let (low, high) = if k % 2 == 0 { (idle, active) } else { (active, idle) };
        assert!(low.abs() < 1e-3 && (high - SUPPLY).abs() < 1e-3, "node {k}: {idle} V idle, {active} V in the pulse");
        assert!(v.iter().all(|v| *v > -1e-3 && *v < SUPPLY + 1e-3), "node {k} stays between ground and supply");
    }
    let charging = stages as f64 * LOAD * SUPPLY * SUPPLY;
    assert!(energy > charging && energy < 1.5 * charging, "charging costs C V² each, and short circuits little: {energy} J");
    Ok(())
}
