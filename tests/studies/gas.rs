//! Haff's law: a gas of smooth balls with restitution e cools by its collisions.
//!
//! ```text
//! collisions   ln(T/T₀) = −(1 − e²)/3 · C               C: collisions of a ball
//! time         T = T₀/(1 + t/τ)²      1/τ = (1 − e²)/6 · ν₀      ν₀ = 4 √π n d² χ √T₀      χ = (1 − φ/2)/(1 − φ)³
//! ```
//!
//! Haff, *J. Fluid Mech.* 134 (1983) 401; χ of Carnahan and Starling; a Maxwellian of velocities.

use super::{line, scene};
use drystone::diagnostics::grains::Packing;
use drystone::scenes::build;
use std::collections::BTreeSet;
use std::f64::consts::PI;

/// Time (s), collisions of a ball, temperature (m²/s²).
struct Row([f64; 3]);

/// Runs the scene until its temperature has fallen to `part` of that at the start.
fn cool(set: &[(&str, &str)], part: f64) -> (Vec<Row>, f64) {
    let mut built = build(&scene("assets/scenes/granular_gas.toml", set)).unwrap();
    let (mut touching, mut collisions, mut rows, mut momentum) = (BTreeSet::new(), 0, Vec::new(), 0f64);
    built.simulation.step().unwrap();
    let start = Packing::of(&built.simulation, None);
    let thermal = start.grains[0].mass * start.grains.len() as f64 * start.temperature().sqrt();
    loop {
        let packing = Packing::of(&built.simulation, None);
        let pairs: BTreeSet<_> = packing.links.iter().map(|l| l.grains).collect();
        collisions += pairs.difference(&touching).count();
        touching = pairs;
        let temperature = packing.temperature();
        rows.push(Row([built.simulation.time(), 2.0 * collisions as f64 / packing.grains.len() as f64, temperature]));
        momentum = momentum.max(packing.grains.iter().map(|g| g.mass * g.velocity).sum::<glam::DVec3>().length() / thermal);
        if temperature < part * rows[0].0[2] {
            return (rows, momentum);
        }
        let report = built.simulation.step().unwrap();
        assert!(report.converged && report.balance.error() < 1e-9, "{:?}", report.balance.error());
    }
}

/// Slope of ln T against collisions over −(1 − e²)/3, of √(T₀/T) against time over (1 − e²)ν₀/6, and the R² of both lines.
fn haff(rows: &[Row], e: f64, balls: f64, d: f64, volume: f64) -> [f64; 4] {
    let t0 = rows[0].0[2];
    let by_collisions = line(rows.iter().map(|r| (r.0[1], (r.0[2] / t0).ln())));
    let by_time = line(rows.iter().map(|r| (r.0[0], (t0 / r.0[2]).sqrt())));
    let n = balls / volume;
    let phi = n * PI / 6.0 * d.powi(3);
    let chi = (1.0 - 0.5 * phi) / (1.0 - phi).powi(3);
    let rate = 4.0 * PI.sqrt() * n * d * d * chi * t0.sqrt();
    let loss = 1.0 - e * e;
    [by_collisions.slope / (-loss / 3.0), by_time.slope / (loss / 6.0 * rate), by_collisions.r2, by_time.r2]
}

const EDGE: f64 = 0.138_918_4;

#[test]
fn a_gas_of_smooth_balls_cools_by_haffs_law() {
    // 125 balls in a cell of their own: the same solid fraction
    let half = (0.5 * EDGE * 5.0 / 8.0).to_string();
    let across = format!("[-{half}, {half}]");
    let up = format!("[0, {}]", EDGE * 5.0 / 8.0);
    let set = [
        ("generate.lattice.0.count", "[5, 5, 5]"),
        ("periodic.x", across.as_str()),
        ("periodic.y", across.as_str()),
        ("periodic.z", up.as_str()),
        ("contact.e_n", "0.8"),
    ];
    let (rows, momentum) = cool(&set, 0.1);
    let [collisions, time, r1, r2] = haff(&rows, 0.8, 125.0, 0.01, (EDGE * 5.0 / 8.0).powi(3));
    println!("{} steps, collisions {collisions:.3} ({r1:.4}), time {time:.3} ({r2:.4}), momentum {momentum:.1e}", rows.len());
    assert!((collisions - 1.0).abs() < 0.08 && r1 > 0.99, "{collisions} of the loss per collision");
    assert!((time - 1.0).abs() < 0.1 && r2 > 0.99, "{time} of the rate of cooling");
    assert!(momentum < 1e-10, "{momentum}");
}

#[test]
#[ignore = "minutes: cargo test --release --test studies gas -- --ignored --nocapture"]
fn haff_cooling_of_granular_gases() {
    println!("| e | accuracy | seed | T/T₀ | collisions of a ball | loss per collision over (1−e²)/3 | R² | rate over Enskog's | R² |");
    for (e, accuracy, seed, part) in [
        ("0.95", "0.02", "1", 0.05),
        ("0.9", "0.08", "1", 0.01),
        ("0.9", "0.04", "1", 0.01),
        ("0.9", "0.02", "1", 0.01),
        ("0.9", "0.02", "2", 0.01),
        ("0.9", "0.02", "3", 0.01),
        ("0.8", "0.02", "1", 0.01),
        ("0.6", "0.02", "1", 0.01),
    ] {
        let set = [("contact.e_n", e), ("time.accuracy", accuracy), ("generate.lattice.0.seed", seed)];
        let (rows, _) = cool(&set, part);
        let [collisions, time, r1, r2] = haff(&rows, e.parse().unwrap(), 512.0, 0.01, EDGE.powi(3));
        let last = rows[rows.len() - 1].0;
        println!(
            "| {e} | {accuracy} | {seed} | {:.4} | {:.1} | {collisions:.4} | {r1:.5} | {time:.4} | {r2:.5} |",
            last[2] / rows[0].0[2],
            last[1]
        );
    }
}
