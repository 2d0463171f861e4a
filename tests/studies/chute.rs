//! Flow down a rough base: Bagnold's profile, and friction against the inertial number.
//!
//! ```text
//! v(z) − v(0) = A (h^(3/2) − (h − z)^(3/2))        A = ⅔ I √(φ g cos θ)/d        I the same at every depth, tan θ = μ(I)
//! I = γ̇ d/√(P/ρ)                                   μ(I) = μ_s + (μ_2 − μ_s)/(1 + I₀/I)       GDR MiDi 2004; Jop, Forterre, Pouliquen 2006
//! ```

use super::{line, scene};
use drystone::diagnostics::grains::{Grain, Packing};
use drystone::scenes::build;

const D: f64 = 0.01;
const G: f64 = 9.81;
/// Of the cell (m²).
const AREA: f64 = 0.1 * 0.06;

/// A flow over the last part of a run.
struct Flow {
    /// Mean velocity along x of all grains (m/s) in the middle and at the end of the run.
    speed: [f64; 2],
    /// Height (m), velocity (m/s) and solid fraction of layers, from the base.
    layers: Vec<[f64; 3]>,
    height: f64,
    /// Of √ρ-free numbers of the bulk.
    inertial: f64,
    solid: f64,
    /// R² of Bagnold's profile in the bulk, and of a straight one.
    bagnold: f64,
    straight: f64,
    /// Tangential over normal force on the base, mean over the last part.
    friction: f64,
}

fn chute(degrees: f64, set: &[(&str, &str)]) -> Flow {
    let angle = degrees.to_radians();
    let gravity = format!("[{}, 0, {}]", G * angle.sin(), -G * angle.cos());
    let mut all = vec![("gravity", gravity.as_str())];
    all.extend_from_slice(set);
    let scene = scene("assets/scenes/chute.toml", &all);
    let mut built = build(&scene).unwrap();
    let end = scene.time.end;
    let mean = |p: &Packing| p.grains.iter().map(|g| g.velocity.x).sum::<f64>() / p.grains.len() as f64;
    let (bins, bin) = (400, 0.5 * D);
    let (mut sums, mut looks, mut middle) = (vec![[0.0; 2]; bins], 0.0, 0.0);
    let mut support = glam::DVec3::ZERO;
    let mut step = 0u64;
    while built.simulation.time() < end - 1e-9 {
        let report = built.simulation.step().unwrap();
        step += 1;
        if built.simulation.time() < 0.6 * end {
            middle = 0.0;
            continue;
        }
        if middle == 0.0 {
            middle = mean(&Packing::of(&built.simulation, None));
        }
        support += report.support_force;
        if step.is_multiple_of(10) {
            looks += 1.0;
            for Grain { position, velocity, volume, .. } in Packing::of(&built.simulation, None).grains {
                let at = ((position.z / bin) as usize).min(bins - 1);
                sums[at][0] += volume;
                sums[at][1] += volume * velocity.x;
            }
        }
    }
    let packing = Packing::of(&built.simulation, None);
    let volume: f64 = packing.grains.iter().map(|g| g.volume).sum();
    let layers: Vec<[f64; 3]> = (0..bins)
        .filter(|k| sums[*k][0] > 0.0)
        .map(|k| [(k as f64 + 0.5) * bin, sums[k][1] / sums[k][0], sums[k][0] / (looks * AREA * bin)])
        .collect();
    // bulk: without two grains at the base and three at the surface
    let dense = layers.iter().filter(|l| l[2] > 0.3).map(|l| l[0]).fold(0.0, f64::max);
    let bulk: Vec<[f64; 3]> = layers.iter().filter(|l| (2.0 * D..dense - 3.0 * D).contains(&l[0])).copied().collect();
    let solid = bulk.iter().map(|l| l[2]).sum::<f64>() / bulk.len() as f64;
    let height = volume / (AREA * solid);
    let bagnold = line(bulk.iter().map(|l| (height.powf(1.5) - (height - l[0]).max(0.0).powf(1.5), l[1])));
    let straight = line(bulk.iter().map(|l| (l[0], l[1])));
    Flow {
        speed: [middle, mean(&packing)],
        layers,
        height,
        inertial: 1.5 * bagnold.slope * D / (solid * G * angle.cos()).sqrt(),
        solid,
        bagnold: bagnold.r2,
        straight: straight.r2,
        friction: support.x.abs() / support.z.abs(),
    }
}

#[test]
fn grains_on_a_rough_chute_stop_on_a_gentle_slope_and_flow_on_a_steep_one() {
    let thin = [("generate.lattice.1.count", "[9, 5, 6]"), ("time.end", "1.5"), ("time.step", "0.002")];
    let [gentle, steep] = [15.0, 25.0].map(|angle| chute(angle, &thin));
    println!("{:?} {:?} friction {:.3}", gentle.speed, steep.speed, gentle.friction);
    assert!(gentle.speed[1].abs() < 1e-3 && (gentle.friction / 15f64.to_radians().tan() - 1.0).abs() < 1e-2);
    assert!(steep.speed[1] > 0.05);
}

#[test]
#[ignore = "ten minutes: cargo test --release --test studies chute -- --ignored --nocapture"]
fn profiles_and_friction_of_chute_flows() {
    println!("| angle | v at 0.6 T | v at the end | φ | I | R² of Bagnold | R² of a line | tangential/normal force | tan θ |");
    for angle in [18.0, 20.0, 22.0, 24.0, 26.0, 28.0] {
        let f = chute(angle, &[]);
        let [middle, end] = f.speed;
        println!(
            "| {angle}° | {middle:.3} | {end:.3} | {:.3} | {:.3} | {:.4} | {:.4} | {:.4} | {:.4} |",
            f.solid,
            f.inertial,
            f.bagnold,
            f.straight,
            f.friction,
            angle.to_radians().tan()
        );
        if angle == 24.0 {
            println!("height {:.4}", f.height);
            f.layers.iter().for_each(|l| println!("{:.4} {:.4} {:.3}", l[0], l[1], l[2]));
        }
    }
}
