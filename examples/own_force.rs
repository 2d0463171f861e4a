//! Your own physics in a few lines: a ball on a spring, and a closure that pulls it. It swings with the period of an oscillator.

use drystone::geometry::Shape;
use drystone::model::newton_euler::{AppliedForce, BodyPose};
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mass, stiffness, stretch) = (2.0, 50.0, 0.1);
    let mut sim = Simulation::new(Scheme { time_step: 1e-4, gravity: DVec3::ZERO, ..Scheme::default() })?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.05)?).mass(mass).at(DVec3::X * stretch))?;
    sim.add_force(ball, move |_time, pose, _velocity| AppliedForce { force: -stiffness * pose.position, torque: DVec3::ZERO })?;

    let period = std::f64::consts::TAU * f64::sqrt(mass / stiffness);
    sim.run_until(10.0 * period)?;
    let x = sim.world().get::<BodyPose>(ball).ok_or("the ball is alive")?.0.position;
    println!("After ten periods of {period:.4} s the ball is at {:.6} m; it began at {stretch} m", x.x);

    assert!((x - DVec3::X * stretch).length() < 1e-3 * stretch, "it is back where it began: {x}");
    assert!(sim.balance().error() < 1e-12, "the work of the spring is accounted for");
    Ok(())
}
