//! Infinitely many bounces in finite time: a ball falls 1 m and bounces with restitution 0.9.
//!
//! ```text
//! t₁ = √(2 h/g)        t∞ = t₁ (1 + e)/(1 − e)        peak after n bounces: h e²ⁿ
//! ```

use drystone::model::newton_euler::{BodyPose, Velocity};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut scene = drystone::scenes::load("bouncing_ball", &[("restitution", "0.9")])?;
    scene.time.step = 1e-3;
    let h = scene.time.step;
    let mut built = drystone::scenes::build(&scene)?;
    let ball = built.entities[scene.body("ball").ok_or("the scene has a ball")?];
    let mut peaks: Vec<f64> = Vec::new();
    let (mut rising, mut last_bounce) = (false, 0.0);
    while built.simulation.time() < scene.time.end {
        built.simulation.step()?;
        let world = built.simulation.world();
        let (Some(pose), Some(velocity)) = (world.get::<BodyPose>(ball), world.get::<Velocity>(ball)) else { return Err("no ball".into()) };
        let (height, speed) = (pose.0.position.z - 0.1, velocity.linear.z);
        if rising && speed <= 0.0 {
            peaks.push(height);
        }
        // bounces slower than gravity within two steps are those of the time stepping, not of the ball
        if !rising && speed > 2.0 * 9.81 * h {
            last_bounce = built.simulation.time();
        }
        rising = speed > 0.0;
    }
    let first = (2.0 * 1.0f64 / 9.81).sqrt();
    let rest = first * 1.9 / 0.1;
    println!("{} peaks were seen, the first four at {:.4?} m", peaks.len(), &peaks[..4]);
    println!("last bounce at {last_bounce:.3} s; in theory infinitely many end at {rest:.3} s");

    // first order in the time step
    assert!(peaks[..4].iter().zip(1..).all(|(peak, n)| (peak - 0.9f64.powi(2 * n)).abs() < 10.0 * h), "{peaks:?}");
    assert!((last_bounce / rest - 1.0).abs() < 0.02, "{last_bounce} against {rest}");
    let world = built.simulation.world();
    assert!(world.get::<Velocity>(ball).is_some_and(|v| v.linear.length() < 2.0 * 9.81 * h), "the ball rests");
    Ok(())
}
