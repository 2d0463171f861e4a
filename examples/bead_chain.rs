//! Newton's cradle, twice: beads that touch, and beads a hair apart.
//!
//! Touching beads are one impact with several contacts, which Newton's law with e = 1 resolves all at once: the first bead
//! bounces back with (2−n)/n of its speed and the others leave together with 2/n. The toy does something else, the last bead
//! leaves alone; its impacts come one after the other, and so do those of beads with small gaps.

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::relation::LagrangianLinear;
use drystone::simulation::Simulation;

const N: usize = 5;
const STIFFNESS: f64 = 9.81 / 0.2;
const H: f64 = 1e-4;

/// Time, places and speeds of pendulums of length 0.2 m (small swings), `gap` apart, the first one pulled aside by 30 mm.
fn swing(gap: f64) -> Result<Vec<Vec<f64>>, Box<dyn std::error::Error>> {
    let mut sim = Simulation::with_time_step(H)?;
    let mut beads = Vec::new();
    for i in 0..N {
        let start = if i == 0 { -0.03 } else { 0.0 };
        beads.push(sim.spawn_system(Lagrangian::new([1.0]).at([start]).with_stiffness([STIFFNESS]), Integrator::MOREAU_JEAN)?);
    }
    for pair in beads.windows(2) {
        sim.spawn_interaction(Interaction::new(
            [pair[0], pair[1]],
            LagrangianLinear::new([-1.0, 1.0], [gap]),
            Law::NewtonImpact { e: 1.0 },
        ))?;
    }
    let mut signals = vec![Signal::Time];
    signals.extend(beads.iter().map(|&b| Signal::State(b, 0)));
    signals.extend(beads.iter().map(|&b| Signal::Velocity(b, 0)));
    let table = sim.record(1, signals);
    let report = sim.advance((2.5 / H) as u64)?;
    assert!(report.converged, "{:?}", report.systems);
    Ok(sim.trace(table).ok_or("recorded")?.rows().map(<[f64]>::to_vec).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // the first bead arrives after a quarter of its period, with speed 30 mm × ω
    let omega = STIFFNESS.sqrt();
    let (arrival, speed) = (0.5 * std::f64::consts::PI / omega, 0.03 * omega);
    let mut panels = Vec::new();
    for (name, gap) in [("touching", -1e-9), ("1 mm apart", 1e-3)] {
        let rows = swing(gap)?;
        let after = rows.iter().find(|r| r[0] > arrival + 0.02).ok_or("it arrives")?;
        let speeds: Vec<f64> = after[1 + N..].iter().map(|v| v / speed).collect();
        println!("{name:10}: speeds after the first impact {speeds:.3?} of the first bead's");
        // positions are shown as they hang, 10 mm apart
        let line = |i: usize| Line::new(&format!("bead {}", i + 1), rows.iter().map(|r| (r[0], 1e3 * r[1 + i] + 10.0 * i as f64)));
        panels.push(Panel::new(&format!("time (s), {name}"), "place (mm)", (0..N).map(line).collect()));

        for (i, v) in speeds.iter().enumerate() {
            let wanted = match (gap < 0.0, i) {
                (true, 0) => (2.0 - N as f64) / N as f64,
                (true, _) => 2.0 / N as f64,
                (false, i) => f64::from(u8::from(i + 1 == N)),
            };
            assert!((v - wanted).abs() < 0.03, "{name}: bead {i} leaves with {v}, not {wanted}");
        }
        let energy = |r: &[f64]| (1..=N).map(|i| 0.5 * (STIFFNESS * r[i] * r[i] + r[i + N] * r[i + N])).sum::<f64>();
        let drift = rows.iter().map(|r| (energy(r) / energy(&rows[0]) - 1.0).abs()).fold(0.0, f64::max);
        println!("            energy changes by {:.1e} of itself in 2.5 s", drift);
        assert!(drift < 1e-9, "impacts with e = 1 and θ = ½ keep energy: {drift}");
    }
    let path = std::env::args().nth(1).unwrap_or("target/bead_chain.svg".into());
    write_chart(path.as_ref(), "Newton's cradle by Newton's law", &panels)?;
    println!("plot: {path}");
    Ok(())
}
