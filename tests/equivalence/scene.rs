//! One scene that holds every kind of system and interaction.

use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{ContactLaws, CoulombImpact, Law};
use drystone::model::newton_euler::{AppliedForce, Locks};
use drystone::model::relation::LagrangianLinear;
use drystone::model::scheme::{Gyroscopic, Scheme, Treatment};
use drystone::simulation::{Body, Event, Simulation};
use glam::{DQuat, DVec3};
use std::sync::Arc;

pub(crate) type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

pub(crate) const TREATMENTS: [Treatment; 2] = [Treatment::Forecast { theta: 0.5 }, Treatment::GapAware { beta: 0.1 }];

/// Numbers in (−1, 1), the same in every run.
pub(crate) fn noise(k: usize) -> f64 {
    2.0 * ((k as f64 + 1.0) * 0.618_033_988_749_894_9).fract() - 1.0
}

pub(crate) fn noise3(k: usize) -> DVec3 {
    DVec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2))
}

/// Balls and boxes on a floor, a belt, a body in a slot, a pinned bar, a chain of two systems with any coordinates.
pub(crate) fn everything(treatment: Treatment) -> Fallible<(Simulation, Vec<Entity>)> {
    // the midpoint rule does no work; the θ-rule does, so that each scheme has some
    let gyroscopic = if treatment.theta() == 0.5 { Gyroscopic::ThetaRule } else { Gyroscopic::Midpoint };
    let mut sim = Simulation::new(Scheme { time_step: 1e-3, treatment, gyroscopic, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-11;
    let mut laws = ContactLaws::uniform(CoulombImpact { mu: 0.4, ..CoulombImpact::default() });
    laws.set(0, 1, CoulombImpact { mu: 0.2, e_n: 0.5, e_t: 0.1, ..CoulombImpact::default() });
    sim.set_laws(laws)?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed().named("floor"))?;
    let belt = Body::new(Shape::cuboid(DVec3::new(0.5, 0.5, 0.1))?).at(DVec3::new(5.0, 0.0, 0.0)).named("belt");
    sim.spawn_body(belt.driven(Arc::new(|t: f64| (DVec3::X * (0.5 + t.sin()), DVec3::Z * 0.2))))?;
    let mut bodies = Vec::new();
    let stone = || Shape::cuboid(DVec3::new(0.3, 0.2, 0.1));
    // a sunken box, a box on it, a ball on that, a lively ball, a box on the belt
    bodies.push(sim.spawn_body(Body::new(stone()?).at(DVec3::Z * 0.099).named("sunk"))?);
    let sliding = Body::new(stone()?).at(DVec3::new(0.05, 0.0, 0.3)).turned(DQuat::from_rotation_z(0.3));
    bodies.push(sim.spawn_body(sliding.moving(DVec3::X).named("sliding"))?);
    bodies.push(sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::new(0.0, 0.0, 0.52)).named("ball"))?);
    let lively = Body::new(Shape::ball(0.1)?).at(DVec3::new(1.0, 0.0, 0.12)).material(1);
    bodies.push(sim.spawn_body(lively.moving(DVec3::new(0.5, 0.2, -1.0)).spinning(DVec3::X).named("lively"))?);
    bodies.push(sim.spawn_body(Body::new(stone()?).at(DVec3::new(5.0, 0.0, 0.2)).named("carried"))?);
    // slides along x and turns about y alone
    let slotted = Body::new(stone()?)
        .at(DVec3::new(2.0, 0.0, 0.1))
        .locked(Locks { translation: [false, true, false], rotation: [true, false, true] });
    bodies.push(sim.spawn_body(slotted.moving(DVec3::X * 3.0).named("slotted"))?);
    // two tumbling bars, pinned to the world and to each other, that start against their pins
    let bar = |x: f64| Body::point(1.5, DVec3::new(0.01, 0.02, 0.025)).at(DVec3::new(8.0 + x, 0.0, 2.0));
    let first = sim.spawn_body(bar(0.3).moving(DVec3::new(0.2, 1.0, 0.3)).spinning(DVec3::new(1.0, 2.0, 3.0)).named("first bar"))?;
    let second = sim.spawn_body(bar(0.9).moving(DVec3::Z).spinning(DVec3::new(-2.0, 1.0, 0.5)).named("second bar"))?;
    sim.spawn_joint(first, None, DVec3::new(8.0, 0.0, 2.0))?;
    sim.spawn_joint(second, Some(first), DVec3::new(8.6, 0.0, 2.0))?;
    bodies.extend([first, second]);
    // a particle in a corner of two coordinates and a mass that it hangs on
    let theta = Integrator::MoreauJean { theta: treatment.theta(), gamma: 0.5, projection: Projection::None };
    let particle =
        sim.spawn_system(Lagrangian::new([2.0, 0.3, 0.3, 1.0]).at([0.0, 1e-4]).moving([0.7, -0.4]).with_force([0.5, -9.81]), theta)?;
    let mass = sim.spawn_system(Lagrangian::new([3.0]).at([0.0]).with_force([-1.0]), theta)?;
    let rough = Law::CoulombImpact(CoulombImpact { mu: 0.3, e_n: 0.4, ..CoulombImpact::default() });
    sim.spawn_interaction(Interaction::new([particle], LagrangianLinear::new([0.0, 1.0, 1.0, 0.0], [0.0, 0.0]), rough))?;
    sim.spawn_interaction(Interaction::new([particle, mass], LagrangianLinear::new([1.0, 0.0, -1.0], [0.0]), Law::Equality))?;
    sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [0.01]), Law::NewtonImpact { e: 0.5 }))?;
    // loads: constant, of time, blow
    sim.add_force(second, |t, _, v| AppliedForce { force: DVec3::new(t, 0.5, 0.0) - 0.1 * v.linear, torque: DVec3::Y * 0.01 })?;
    sim.at(5e-3, Event::Blow(bodies[1], AppliedForce { force: DVec3::Y * 3.0, torque: DVec3::Z * 0.2 }))?;
    Ok((sim, bodies))
}
