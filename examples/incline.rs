//! Friction to the last digit: a box on a slope just below and just above the angle of friction.
//!
//! Below it the box must not creep, above it it must slide with `a = g (sin θ − μ cos θ)`, in every direction alike.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = |offset: &str, heading: &str| -> Result<_, Box<dyn std::error::Error>> {
        let scene = drystone::scenes::load("incline", &[("angle_offset_deg", offset), ("heading_deg", heading)])?;
        let (_, summary) = drystone::scenes::run(&scene)?;
        let figures = summary.incline.ok_or("an incline reports its acceleration")?;
        Ok((summary, figures))
    };
    for heading in ["0", "17", "45"] {
        for offset in ["-2", "-0.5"] {
            let (_, figures) = run(offset, heading)?;
            let creep = figures.creep_m.ok_or("the window was reached")?;
            println!("{offset:>5} deg, heading {heading:>2} deg: sticks, creep {creep:.1e} m");
            assert!(creep < 1e-8, "the box creeps by {creep} m");
        }
        for offset in ["0.5", "2", "5"] {
            let (_, figures) = run(offset, heading)?;
            let (a, error) = figures.acceleration.zip(figures.acceleration_error).ok_or("the window was reached")?;
            println!("{offset:>5} deg, heading {heading:>2} deg: slides with {a:.9} m/s2, relative error {error:.1e}");
            assert!(error.abs() < 1e-6, "the acceleration is wrong by {error}");
        }
    }
    let (summary, _) = run("2", "0")?;
    println!("\n{summary}");
    assert_eq!(summary.unconverged_steps, 0);
    Ok(())
}
