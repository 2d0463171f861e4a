//! A uniform shear of rigid balls at a given volume: friction and solid fraction against the inertial number.
//!
//! ```text
//! I = γ̇ d √(ρ/P)         P = tr σ/3,  μ = −σ_xz/P,  σ = Σ f ⊗ l/V
//! μ(I) = μ_s + (μ_2 − μ_s)/(1 + I₀/I),   φ(I) = φ_c − c I
//! ```

use super::scene;
use drystone::diagnostics::grains::Packing;
use drystone::scenes::build;

/// Inertial number and friction of the built-in scene with these values, mean over the strain from 1 on.
fn shear(set: &[(&str, &str)]) -> [f64; 2] {
    let scene = scene("assets/scenes/simple_shear.toml", set);
    let mut built = build(&scene).unwrap();
    let (rate, volume) = (20.0, 0.048f64.powi(3));
    let (mut pressure, mut shear, mut looks, mut d) = (0.0, 0.0, 0.0, 0.0);
    while built.simulation.time() < scene.time.end - 1e-9 {
        let report = built.simulation.step().unwrap();
        assert!(report.converged || report.lagged.is_some(), "{report:?}");
        if built.simulation.time() * rate < 1.0 {
            continue;
        }
        let packing = Packing::of(&built.simulation, None);
        let stress = packing.stress(volume);
        pressure += (stress.x_axis.x + stress.y_axis.y + stress.z_axis.z) / 3.0;
        shear -= 0.5 * (stress.x_axis.z + stress.z_axis.x);
        d = packing.grains.iter().filter_map(|g| g.radius).sum::<f64>() * 2.0 / packing.grains.len() as f64;
        looks += 1.0;
    }
    [rate * d * (2500.0 * looks / pressure).sqrt(), shear / pressure]
}

/// Jop, Forterre and Pouliquen (Nature 441, 2006), glass beads on a heap.
fn glass(inertial: f64) -> f64 {
    let [still, fast] = [20.9f64, 32.76].map(|degrees| degrees.to_radians().tan());
    still + (fast - still) / (1.0 + 0.279 / inertial)
}

#[test]
fn a_uniform_shear_has_the_friction_and_solid_fraction_of_its_inertial_number() {
    let [fast, dense] = ["0.52", "0.55"].map(|fraction| shear(&[("generate.pack.0.solid_fraction", fraction), ("time.end", "0.15")]));
    let [inertial, friction] = dense;
    println!("0.55: I {inertial:.3}, μ {friction:.3}, glass {:.3}; 0.52: {fast:?}", glass(inertial));
    assert!((friction - glass(inertial)).abs() < 0.05, "{friction} at {inertial}");
    assert!((0.55 - (0.587 - 0.2 * inertial)).abs() < 0.015, "{inertial}");
    assert!(fast[0] > inertial && fast[1] > friction, "{fast:?} {dense:?}");
}
