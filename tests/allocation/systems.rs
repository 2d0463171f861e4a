//! A batch of steps asks for no memory, however long it is.

use super::requests;
use drystone::cluster::Signal;
use drystone::model::dynamical_system::{FirstOrder, Lagrangian};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, FirstOrderNonlinear, LagrangianLinear, LagrangianNonlinear};
use drystone::simulation::{Simulation, SimulationError};

fn ball(integrator: Integrator) -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(0.005)?;
    let ball = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_force([-9.81]), integrator)?;
    let floor = Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.5 });
    sim.spawn_interaction(floor)?;
    Ok(sim)
}

fn diode() -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(1e-6)?;
    let lc = FirstOrder::linear([0.0, -1e6, 1e2, 0.0], [10.0, 0.0]).with_input(Operator::function(|at, b| b[1] = (1e3 * at.t).sin()));
    let lc = sim.spawn_system(lc, Integrator::EULER_MOREAU)?;
    let relation = FirstOrderLinear::new(1, [-1.0, 0.0], [-1e6, 0.0]).with_d([1e3]);
    sim.spawn_interaction(Interaction::new([lc], relation, Law::Complementarity))?;
    Ok(sim)
}

fn gene() -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let x =
        sim.spawn_system(FirstOrder::nonlinear(Operator::function(|at, f| f[0] = -4.5 * at.x[0].sin()), [1.0]), Integrator::EULER_MOREAU)?;
    let relation = FirstOrderNonlinear::new(
        1,
        Operator::function(|at, y| y[0] = 0.8 - at.x[0]),
        Operator::function(|at, r| r[0] = 8.0 * at.lambda[0] * (1.0 + 0.1 * at.x[0])),
    );
    sim.spawn_interaction(Interaction::new([x], relation, Law::Relay { lower: 0.0, upper: 1.0 }))?;
    Ok(sim)
}

fn pendulum() -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let gravity = Operator::function(|at, f| f[0] = 9.81 * at.q[0].sin());
    let pendulum = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_internal(gravity), Integrator::MOREAU_JEAN)?;
    let wall = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0].sin() + 0.1));
    sim.spawn_interaction(Interaction::new([pendulum], wall, Law::NewtonImpact { e: 0.7 }))?;
    Ok(sim)
}

fn slider() -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let block = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0])).at([0.0, 0.0]).moving([1.0, 0.0]).with_force([0.0, -9.81]);
    let block = sim.spawn_system(block, Integrator::MOREAU_JEAN)?;
    let law = Law::CoulombImpact(CoulombImpact { mu: 0.3, ..CoulombImpact::default() });
    sim.spawn_interaction(Interaction::new([block], LagrangianLinear::new([0.0, 1.0, 1.0, 0.0], [0.0, 0.0]), law))?;
    Ok(sim)
}

fn beads() -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(5e-4)?;
    let mut last = None;
    for i in 0..50 {
        let bead = Lagrangian::new([1.0]).at([0.1 + 0.2 * f64::from(i)]).with_force([-9.81]);
        let bead = sim.spawn_system(bead, Integrator::MOREAU_JEAN)?;
        let law = Law::NewtonImpact { e: 0.9 };
        sim.spawn_interaction(match last {
            None => Interaction::new([bead], LagrangianLinear::new([1.0], [-0.1]), law),
            Some(last) => Interaction::new([last, bead], LagrangianLinear::new([-1.0, 1.0], [-0.2]), law),
        })?;
        last = Some(bead);
    }
    Ok(sim)
}

#[test]
fn a_batch_asks_for_no_more_memory_than_one_step() -> Result<(), SimulationError> {
    let projected = Integrator::MoreauJean { theta: 0.5, gamma: 0.5, projection: Projection::Direct { tolerance: 1e-8 } };
    let cases: [(&str, Simulation, bool); 11] = [
        ("ball", ball(Integrator::MOREAU_JEAN)?, true),
        ("modal ball", ball(Integrator::Modal { gamma: 0.5 })?, true),
        ("ball by Schatzman and Paoli", ball(Integrator::SchatzmanPaoli { theta: 0.5 })?, true),
        ("ball by D1-minus", ball(Integrator::D1Minus { tolerance: 1e-8 })?, true),
        ("diode", diode()?, true),
        ("gene", gene()?, true),
        ("pendulum", pendulum()?, true),
        ("slider", slider()?, true),
        ("beads", beads()?, true),
        ("traced slider", slider()?, true),
        // the problem of the projection has a size of its own every time
        ("projected ball", ball(projected)?, false),
    ];
    for (name, mut sim, asserted) in cases {
        if name.starts_with("traced") {
            sim.record(1000, [Signal::Time]);
        }
        sim.advance(600)?;
        let one = requests(|| drop(sim.advance(1)));
        let many = requests(|| drop(sim.advance(900)));
        assert!(many <= one || !asserted, "{name}: {one} requests for a step, {many} for 900");
    }
    Ok(())
}

#[test]
fn a_table_of_bodies_and_joints_asks_for_no_memory() -> Result<(), Box<dyn std::error::Error>> {
    use drystone::geometry::Shape;
    use drystone::model::joint::{JointKind, JointSpec};
    use drystone::model::signal::{BodyQuantity, JointQuantity, TotalQuantity};
    use drystone::simulation::Body;
    use glam::DVec3;
    let count = |recorded: bool| -> Result<usize, Box<dyn std::error::Error>> {
        let mut sim = Simulation::default();
        sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
        let cube = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::Z * 0.1))?;
        let bob = sim.spawn_body(Body::point(1.0, DVec3::splat(0.1)).at(DVec3::new(2.0, 0.0, 1.0)))?;
        let hinge = sim.add_joint(bob, None, &JointSpec::new(JointKind::Revolute).at(DVec3::Z).axis(DVec3::Y).friction(0.1))?;
        if recorded {
            let joint = JointQuantity::ALL.iter().map(|q| Signal::Joint(hinge[0], q.what));
            let body = BodyQuantity::ALL.iter().map(|q| Signal::Body(cube, q.what));
            let all = TotalQuantity::ALL.iter().map(|q| Signal::Total(q.what));
            let table = sim.record(1, joint.chain(body).chain(all).chain([Signal::Time]).collect::<Vec<_>>());
            sim.reserve_rows(table, 300);
        }
        (0..100).try_for_each(|_| sim.step().map(drop))?;
        Ok(requests(|| (0..100).for_each(|_| drop(sim.step()))))
    };
    let (plain, recorded) = (count(false)?, count(true)?);
    assert!(recorded <= plain, "{recorded} requests with a table, {plain} without");
    Ok(())
}

#[test]
fn joints_with_a_way_around_ask_for_no_memory() -> Result<(), Box<dyn std::error::Error>> {
    use drystone::model::joint::{JointKind, JointSpec};
    use drystone::simulation::Body;
    use glam::DVec3;
    let count = |hinges: &[f64]| -> Result<usize, Box<dyn std::error::Error>> {
        let mut sim = Simulation::default();
        let door = sim.spawn_body(Body::point(20.0, DVec3::new(6.7, 7.7, 1.1)).at(DVec3::new(0.4, 0.0, 1.0)))?;
        for z in hinges {
            sim.add_joint(door, None, &JointSpec::new(JointKind::Revolute).at(DVec3::Z * *z).axis(DVec3::Z))?;
        }
        (0..100).try_for_each(|_| sim.step().map(drop))?;
        Ok(requests(|| (0..100).for_each(|_| drop(sim.step()))))
    };
    let (one, three) = (count(&[0.2])?, count(&[0.2, 1.0, 1.8])?);
    assert!(three <= one, "{three} requests with three hinges, {one} with one");
    Ok(())
}
