//! How thin can an arch be? Two semicircular arches of 17 voussoirs: one of thickness 0.11 R stands, one of 0.10 R falls.
//!
//! For these blocks limit analysis (rigid, no tension) gives 0.1055; below it no line of thrust fits inside the stone.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_, stands) = drystone::scenes::run(&drystone::scenes::load("arch", &[("thickness_ratio", "0.11")])?)?;
    let (_, falls) = drystone::scenes::run(&drystone::scenes::load("arch", &[("thickness_ratio", "0.10")])?)?;
    println!(
        "Thickness 0.11 R stands, 0.10 R falls: after 3 s they have moved {:.1e} m and {:.2} m.\n",
        stands.displacement_max_m, falls.displacement_max_m
    );
    println!("{stands}");

    // the weight of straight-chord voussoirs: ½ sin(π/17) (R₂² − R₁²) × depth each
    let (area, depth, density) = (0.5 * (std::f64::consts::PI / 17.0).sin() * (1.055f64.powi(2) - 0.945f64.powi(2)), 0.4, 2000.0);
    let weight = 17.0 * area * depth * density * 9.81;
    assert!(stands.displacement_max_m < 2e-5 && stands.speed_max < 1e-3, "the arch of 0.11 R stands");
    assert!((stands.support_force_N / weight - 1.0).abs() < 1e-4, "its feet carry its weight of {weight} N");
    assert!(falls.displacement_max_m > 0.05, "the arch of 0.10 R falls");
    assert_eq!(stands.unconverged_steps, 0, "every step meets its tolerance");
    assert_eq!(falls.unconverged_steps, 0, "also while the stones hit the ground");
    Ok(())
}
