//! The wing nut that turns over: a free body that spins about its middle axis flips every 12.370399 s, and loses nothing.

use drystone::model::newton_euler::Velocity;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = drystone::scenes::load("dzhanibekov", &[])?;
    let mut built = drystone::scenes::build(&scene)?;
    let body = built.entities[0];
    let mut flips: Vec<f64> = Vec::new();
    let mut before = 2.0;
    while built.simulation.time() < scene.time.end {
        built.simulation.step()?;
        let spin = built.simulation.world().get::<Velocity>(body).ok_or("the body is alive")?.angular.y;
        if spin * before < 0.0 {
            // where the straight line between the two steps crosses zero
            flips.push(built.simulation.time() - built.simulation.time_step() * spin / (spin - before));
        }
        before = spin;
    }
    let kinetic = 0.5 * (10.0 * 4.0 + 11.0 * 1e-8);
    let now = built.simulation.balance().energy.kinetic;
    println!("The spin changes sign at {flips:.4?} s");
    println!("kinetic energy {kinetic} J before, {now} J after 30 s");

    assert_eq!(flips.len(), 2);
    assert!((flips[0] - 6.1852).abs() < 1e-3 * 6.1852 && (flips[1] - flips[0] - 12.370399).abs() < 1e-3 * 12.370399, "{flips:?}");
    assert!((now / kinetic - 1.0).abs() < 1e-10, "nothing is lost");
    Ok(())
}
