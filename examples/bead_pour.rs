//! A thousand beads fall into a box and come to rest: do they hold each other up, or sink into each other?
//!
//! The mean height of the pile tells: solvers that give way let it fall below 8.2 cm.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let radius = 0.01;
    let (_, summary) = drystone::scenes::run(&drystone::scenes::load("bead_pour", &[("n", "10")])?)?;
    println!("{summary}");

    let weight = 1000.0 * 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * f64::powi(radius, 3) * 9.81;
    assert!((0.0820..=0.0840).contains(&summary.height_mean_m), "mean height {} m", summary.height_mean_m);
    assert!(summary.penetration_run_max_m < 0.01 * radius, "overlap of {} m", summary.penetration_run_max_m);
    assert!((summary.support_force_N / weight - 1.0).abs() < 0.2, "the box carries about the weight while the last beads settle");
    assert!(summary.energy.balance_error < 1e-6, "every joule is accounted for");
    assert_eq!(summary.unconverged_steps, 0);
    Ok(())
}
