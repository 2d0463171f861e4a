//! A mechanism among stones: a motor opens a door on its hinge, and the knob pushes a row of blocks over. The same scene, built here in
//! Rust and read from the file of the built-in scene `door`, ends with the same bits.

use drystone::algebra::spatial::Pose;
use drystone::geometry::Shape;
use drystone::model::interaction::Interaction;
use drystone::model::joint::{JointKind, JointSpec};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::BodyPose;
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const OAK: f64 = 700.0;
const STONE: f64 = 2200.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sim = Simulation::new(Scheme { time_step: 2e-3, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-6;
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.4, ..CoulombImpact::default() }))?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed().named("floor"))?;
    let post = Shape::cuboid(DVec3::new(0.05, 0.05, 1.05))?;
    let post = sim.spawn_body(Body::new(post).density(OAK).at(DVec3::new(-0.05, 0.0, 1.05)).fixed())?;
    let leaf = Shape::cuboid(DVec3::new(0.45, 0.02, 1.0))?;
    let knob = (Pose::at(DVec3::new(0.3, 0.05, -0.4)), Shape::ball(0.04)?);
    let door = Body::new(Shape::compound(vec![(Pose::default(), leaf), knob])?).density(OAK).at(DVec3::new(0.46, 0.0, 1.02));
    let door = sim.spawn_body(door)?;
    let hinge = JointSpec::new(JointKind::Revolute).at(DVec3::new(0.0, 0.0, 0.02)).axis(DVec3::Z);
    let hinge = hinge.between(0.0, 100f64.to_radians()).friction(2.0).motor(1.0, 80.0);
    let parts = sim.add_joint(door, Some(post), &hinge)?;
    let mut blocks = Vec::new();
    for (x, y) in [(0.7, 0.35), (0.66, 0.7), (0.62, 1.05), (0.58, 1.4)] {
        let block = Shape::cuboid(DVec3::new(0.125, 0.05, 0.35))?;
        blocks.push(sim.spawn_body(Body::new(block).density(STONE).at(DVec3::new(x, y, 0.35)))?);
    }

    let motor = *parts.last().ok_or("the joint has parts")?;
    let (mut hardest, mut unconverged): (f64, u32) = (0.0, 0);
    while sim.time() < 3.0 - 1e-9 {
        let report = sim.step()?;
        unconverged += u32::from(!report.converged);
        let torque = sim.world().get::<Interaction>(motor).ok_or("the motor lives")?.lambda[0] / sim.time_step();
        hardest = hardest.max(torque.abs());
    }
    let upper = sim.world().get::<Interaction>(parts[2]).ok_or("the stop lives")?;
    let angle = 100.0 - upper.y[0].to_degrees();
    let work = sim.balance().work;
    println!("the door stands open by {angle:.1}°; its motor gave {:.1} J and at most {hardest:.1} N m", work.motors);
    let fallen = blocks.iter().filter(|b| sim.world().get::<BodyPose>(**b).is_some_and(|p| (p.0.rotation * DVec3::Z).z < 0.7)).count();
    println!("{fallen} of 4 blocks have fallen; {:.1e} of the energy that moved is not accounted for", sim.balance().error());
    assert_eq!((fallen, unconverged), (4, 0));
    assert!(hardest <= 80.0 * (1.0 + 1e-9), "the motor keeps to its limit");
    assert!(sim.balance().error() < 1e-10, "every joule is accounted for");

    let mut read = drystone::scenes::build(&drystone::scenes::load("door", &[])?)?;
    read.simulation.run_until(3.0)?;
    assert_eq!(read.simulation.state_hash(), sim.state_hash(), "the file says the same");
    Ok(())
}
