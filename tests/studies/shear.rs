//! Uniform shear of grains between images that move past each other: friction and solid fraction against the inertial number.
//!
//! ```text
//! I = γ̇ d/√(P/ρ)        μ = τ/P        P: a third of the trace of contact and kinetic stress, τ: its shear part
//! ```

use super::scene;
use drystone::diagnostics::grains::Packing;
use drystone::scenes::build;
use glam::{DMat3, DVec3};

const D: f64 = 8e-3;
const DENSITY: f64 = 2500.0;
const RATE: f64 = 20.0;

/// Means over a flow from a shear of 2 on.
#[derive(Debug)]
struct Flow {
    grains: usize,
    inertial: f64,
    friction: f64,
    /// First and second half of the time: their pressures (Pa).
    halves: [f64; 2],
    /// Part of the kinetic stress in the pressure, and temperature over (γ̇ d)².
    kinetic: f64,
    temperature: f64,
    /// Rate of work of the images over τ γ̇ V.
    work: f64,
    missed: u64,
}

fn sheared(edge: f64, set: &[(&str, &str)]) -> Flow {
    let faces = format!("[0, {edge}]");
    let mut all: Vec<(&str, &str)> = ["periodic.x", "periodic.y", "periodic.z"].map(|axis| (axis, faces.as_str())).to_vec();
    all.extend_from_slice(set);
    let scene = scene("assets/scenes/simple_shear.toml", &all);
    let cell = scene.periodic;
    let mut built = build(&scene).unwrap();
    let (begin, end, volume) = (2.0 / RATE, scene.time.end, edge * edge * edge);
    let (mut contact, mut kinetic, mut looks, mut missed) = ([DMat3::ZERO; 2], DMat3::ZERO, [0.0; 2], 0);
    let (mut temperature, mut start, mut work) = (0.0, None, 0.0);
    let mut grains = 0;
    while built.simulation.time() < end - 1e-9 {
        let report = built.simulation.step().unwrap();
        missed += u64::from(!report.converged);
        let time = built.simulation.time();
        if time < begin {
            continue;
        }
        let first = *start.get_or_insert((time, report.balance.work.drives));
        work = (report.balance.work.drives - first.1) / (time - first.0).max(1e-12);
        let packing = Packing::of(&built.simulation, None);
        let half = usize::from(time > 0.5 * (begin + end));
        looks[half] += 1.0;
        contact[half] += packing.stress(volume);
        grains = packing.grains.len();
        for grain in &packing.grains {
            let own: DVec3 = grain.velocity - cell.flow(grain.position);
            kinetic += DMat3::from_cols(own * own.x, own * own.y, own * own.z) * (grain.mass / volume);
            temperature += own.length_squared() / (3.0 * grains as f64);
        }
    }
    let all = looks[0] + looks[1];
    let kinetic = kinetic * (1.0 / all);
    let trace = |m: &DMat3| (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
    let stress = (contact[0] + contact[1]) * (1.0 / all) + kinetic;
    let (pressure, shear) = (trace(&stress), 0.5 * (stress.x_axis.z + stress.z_axis.x).abs());
    Flow {
        grains,
        inertial: RATE * D / (pressure / DENSITY).sqrt(),
        friction: shear / pressure,
        halves: [0, 1].map(|k| trace(&contact[k]) / looks[k]),
        kinetic: trace(&kinetic) / pressure,
        temperature: temperature / all / (RATE * D).powi(2),
        work: work / (shear * RATE * volume),
        missed,
    }
}

#[test]
fn a_sheared_cell_has_the_friction_of_its_inertial_number() {
    let flow = sheared(0.048, &[("time.end", "0.35"), ("time.step", "5e-4")]);
    println!("{flow:?}");
    // balls of μ = 0.5 at φ = 0.572: I = 0.1 within the scatter of a small cell, and the friction of such flows
    assert!((0.06..0.16).contains(&flow.inertial) && (0.37..0.5).contains(&flow.friction), "{flow:?}");
    // what the images put in is the work of the shear stress
    assert!((flow.work - 1.0).abs() < 0.05 && flow.missed == 0, "{flow:?}");
}

#[test]
#[ignore = "the table of the page"]
fn friction_and_solid_fraction_of_uniform_shear_flows() {
    println!("| grains | φ | I | μ | pressure of the halves | kinetic part | T/(γ̇ d)² | work |");
    for (edge, fraction, end) in [
        (0.062, "0.55", "0.5"),
        (0.062, "0.56", "0.5"),
        (0.062, "0.57", "0.5"),
        (0.062, "0.575", "0.5"),
        (0.062, "0.58", "0.5"),
        (0.1333, "0.575", "0.3"),
    ] {
        let f = sheared(edge, &[("generate.pack.0.solid_fraction", fraction), ("time.end", end), ("time.step", "5e-4")]);
        let [p1, p2] = f.halves;
        println!(
            "| {} | {fraction} | {:.3} | {:.3} | {p1:.0}, {p2:.0} Pa | {:.3} | {:.2} | {:.3} |",
            f.grains, f.inertial, f.friction, f.kinetic, f.temperature, f.work
        );
        assert!(f.missed == 0 && (f.work - 1.0).abs() < 0.05, "{f:?}");
    }
}
