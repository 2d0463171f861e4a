//! The main job: a scene, a run, a certificate. A pyramid of 55 beads rests on a tray; one bead is struck and the pile scatters.

use drystone::diagnostics::summary::Meter;
use drystone::io::view::Window;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = drystone::scenes::load("bead_stack", &[])?;
    let mut built = drystone::scenes::build(&scene)?;
    let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
    let mut window = Window::new(built.entities.clone());

    let mut resting = None;
    while built.simulation.time() < scene.time.end - 1e-9 {
        let report = built.simulation.step()?;
        meter.observe(&report, &built.simulation);
        if resting.is_none() && report.time > 0.299 {
            resting = Some(meter.summary(&mut built.simulation));
        }
    }
    let resting = resting.ok_or("the pile rests before it is struck")?;
    let summary = meter.summary(&mut built.simulation);
    println!("{summary}");
    let off_the_table = window.look(&built.simulation).bodies.iter().filter(|b| b.dynamic && b.pose.position.z < 0.0).count();
    println!("{off_the_table} of 55 beads fell off the table");

    let weight = 55.0 * 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.02f64.powi(3) * 9.81;
    assert!((resting.support_force_N / weight - 1.0).abs() < 1e-4, "the table carries the beads");
    assert!(resting.displacement_max_m < 1e-5, "the pile rests until it is struck");
    assert!(off_the_table > 3, "the blow scatters it");
    assert!(summary.penetration_run_max_m < 1e-4 * 0.02, "beads do not sink into each other");
    assert!(summary.energy.balance_error < 1e-9, "every joule is accounted for");
    assert_eq!(summary.unconverged_steps, 0, "every step meets its tolerance");
    Ok(())
}
