//! Mean stress of the courses of a tapering pier against statics.
//!
//! ```text
//! σ_zz V = N_below (c − z_below) + N_above (z_above − c)        N: weight above; c: height of the centre of gravity
//! ```

use super::scene;
use drystone::diagnostics::joints::block_stresses;
use drystone::scenes::build;

/// Volume (m³) and height (m) of the centre of the pier between two heights, by Simpson's rule: exact, as the area is quadratic.
fn slice(low: f64, high: f64) -> (f64, f64) {
    let area = |z: f64| (2.0 - 0.12 * z) * (1.2 - 0.08 * z);
    let simpson = |f: &dyn Fn(f64) -> f64| (high - low) / 6.0 * (f(low) + 4.0 * f(0.5 * (low + high)) + f(high));
    let volume = simpson(&area);
    (volume, simpson(&|z| area(z) * z) / volume)
}

#[test]
fn courses_of_a_pier_carry_what_stands_on_them_and_half_of_themselves() {
    let scene = scene("docs/studies/pier.toml", &[]);
    let mut built = build(&scene).unwrap();
    built.simulation.run_until(scene.time.end).unwrap();
    let found = block_stresses(&built.simulation, &built.entities);
    assert_eq!(found.len(), 10);
    let weight = |k: usize| slice(0.5 * k as f64, 0.5 * (k + 1) as f64).0 * 2000.0 * 9.81;
    for (k, (_, stress)) in found.iter().enumerate() {
        let (low, high) = (0.5 * k as f64, 0.5 * (k + 1) as f64);
        let (volume, centre) = slice(low, high);
        let above: f64 = (k + 1..10).map(weight).sum();
        let expected = ((above + weight(k)) * (centre - low) + above * (high - centre)) / volume;
        assert!((stress.z_axis.z / expected - 1.0).abs() < 1e-9, "course {k}: {} Pa, by hand {expected}", stress.z_axis.z);
    }
}
