//! Is this dam safe? Six courses of concrete, 3 m wide and 6 m high, hold water to their top; then the base joint leaks.
//!
//! ```text
//! sliding  μ (W − U) / F        overturning  (W B/2) / (F H/3 + U 2B/3)        F = ½ ρ g H²,  U = ½ ρ g H B  (per metre)
//! ```
//!
//! The factors come from the reactions that the simulation finds in the base joint, not from these formulas.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = |uplift: &str| -> Result<_, Box<dyn std::error::Error>> {
        let (_, summary) = drystone::scenes::run(&drystone::scenes::load("block_dam", &[("uplift", uplift)])?)?;
        let dam = summary.dam.ok_or("a dam reports its factors")?;
        println!("uplift {uplift}\n{summary}\n");
        Ok((summary, dam))
    };
    let ((dry, a), (leaking, b)) = (run("none")?, run("linear")?);

    let (w, f, u) = (2400.0 * 9.81 * 18.0, 0.5 * 9810.0 * 36.0, 0.5 * 9810.0 * 18.0);
    let close = |found: Option<f64>, expected: f64| found.is_some_and(|x| (x / expected - 1.0).abs() < 1e-6);
    assert!(close(a.base_normal_N, w) && close(a.base_shear_N, f), "the joint carries weight and thrust");
    assert!(close(b.base_normal_N, w - u), "uplift takes its share of the weight");
    assert!(close(a.sliding_factor, 1.44) && close(a.overturning_factor, 1.8), "{a:?}");
    assert!(close(b.sliding_factor, 1.14) && close(b.overturning_factor, 1.2), "{b:?}");
    assert!(dry.displacement_max_m < 1e-8 && leaking.displacement_max_m < 1e-8, "both stand still");

    // half as wide it cannot stand: the overturning factor would be 0.45
    let (_, narrow) = drystone::scenes::run(&drystone::scenes::load("block_dam", &[("width", "1.5")])?)?;
    assert!(narrow.displacement_max_m > 0.1, "a dam 1.5 m wide is overturned");
    Ok(())
}
