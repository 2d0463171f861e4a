//! Sensors, observers and laws on a simulation: events between steps, in the order in which they were installed.
//!
//! ```
//! use drystone::{control::{Pid, Sensor, install}, model::{dynamical_system::Lagrangian, operator::Operator}, simulation::Simulation};
//! use drystone::model::integrator::Integrator;
//! let mut sim = Simulation::with_time_step(0.01)?;
//! let cart = Lagrangian::new([1.0]).at([1.0]).with_parameters([0.0]).with_force(Operator::function(|at, f| f[0] = at.z[0]));
//! let cart = sim.spawn_system(cart, Integrator::MOREAU_JEAN)?;
//! let position = install::sensor(&mut sim, cart, 0.05, Sensor::new([1.0, 0.0], 2)?)?;
//! install::law(&mut sim, position, cart, 0.05, Pid::new(0.25, 0.02, 1.0, 0.05)?)?;
//! sim.advance(20_000)?;
//! let cart = sim.world().get::<Lagrangian>(cart).expect("spawned above");
//! assert!(cart.q[0].abs() < 1e-6);
//! # Ok::<(), drystone::control::ControlError>(())
//! ```

use super::{ControlError, Law, Observer, Sensor};
use crate::model::dynamical_system::{FirstOrder, Lagrangian};
use crate::model::newton_euler::{BodyForces, BodyPose, Velocity};
use crate::simulation::Simulation;
use bevy_ecs::prelude::{Component, Entity, World};

/// What a sensor or observer has last put out.
///
/// ```
/// let output = drystone::control::install::Output { values: vec![1.0], unsolved: 0 };
/// assert_eq!(output.values, [1.0]);
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// y of a sensor, x̂ of an observer, u of a law.
    pub values: Vec<f64>,
    /// Samples whose own problem was not solved to its tolerance.
    pub unsolved: usize,
}

/// Part of a sampling period within which two are one.
const SAME: f64 = 1e-6;

/// State of a plant: x, or q and then v; of a body position and quaternion (scalar first), velocity and ω in its axes.
fn state(world: &World, plant: Entity, x: &mut Vec<f64>) -> bool {
    x.clear();
    if let Some(s) = world.get::<FirstOrder>(plant) {
        x.extend_from_slice(&s.x);
    } else if let Some(s) = world.get::<Lagrangian>(plant) {
        x.extend(s.q.iter().chain(&s.v));
    } else if let (Some(BodyPose(pose)), Some(velocity)) = (world.get::<BodyPose>(plant), world.get::<Velocity>(plant)) {
        let r = pose.rotation;
        x.extend(pose.position.to_array().into_iter().chain([r.w, r.x, r.y, r.z]));
        x.extend(velocity.linear.to_array().into_iter().chain(velocity.angular.to_array()));
    }
    !x.is_empty()
}

/// Parameters z of a plant.
fn parameters(world: &World, plant: Entity) -> Option<&[f64]> {
    let first = world.get::<FirstOrder>(plant).map(|s| s.z.as_slice());
    let second = || world.get::<Lagrangian>(plant).map(|s| s.z.as_slice());
    first.or_else(second).or_else(|| world.get::<BodyForces>(plant).map(|s| s.z.as_slice()))
}

/// Writes u into the first parameters; a plant whose input has not changed is left untouched.
fn put(world: &mut World, plant: Entity, u: &[f64]) {
    if parameters(world, plant).is_none_or(|z| z.len() < u.len() || z[..u.len()] == *u) {
        return;
    }
    if let Some(mut s) = world.get_mut::<FirstOrder>(plant) {
        s.z[..u.len()].copy_from_slice(u);
    } else if let Some(mut s) = world.get_mut::<Lagrangian>(plant) {
        s.z[..u.len()].copy_from_slice(u);
    } else if let Some(mut s) = world.get_mut::<BodyForces>(plant) {
        s.z[..u.len()].copy_from_slice(u);
    }
}

fn inputs(sim: &Simulation, plant: Entity, needed: usize) -> Result<(), ControlError> {
    let missing = || ControlError::Missing("the plant is no dynamical system of the simulation".into());
    let found = parameters(sim.world(), plant).ok_or_else(missing)?.len();
    if found >= needed {
        return Ok(());
    }
    Err(ControlError::Size { what: "z of the plant", found, needed: format!("at least {needed}, one for each input,") })
}

fn source_values(sim: &Simulation, source: Entity, needed: usize) -> Result<(), ControlError> {
    let missing = || ControlError::Missing("the source is no sensor or observer of the simulation".into());
    let found = sim.world().get::<Output>(source).ok_or_else(missing)?.values.len();
    if found == needed {
        return Ok(());
    }
    Err(ControlError::Size { what: "the output of the source", found, needed: needed.to_string() })
}

/// An error where what was made for one period is sampled with another.
fn same_period(what: &'static str, made: Option<f64>, sampled: f64) -> Result<(), ControlError> {
    match made {
        Some(made) if (made - sampled).abs() > SAME * made => Err(ControlError::Period { what, made, sampled }),
        _ => Ok(()),
    }
}

/// Adds a sensor of `plant`, sampled every `period` (s); the entity has its [`Output`].
pub fn sensor(sim: &mut Simulation, plant: Entity, period: f64, mut sensor: Sensor) -> Result<Entity, ControlError> {
    let mut x = Vec::new();
    if !state(sim.world(), plant, &mut x) {
        return Err(ControlError::Missing("the plant is no dynamical system of the simulation".into()));
    }
    if x.len() != sensor.states() {
        let needed = format!("{}, one for each column of C,", sensor.states());
        return Err(ControlError::Size { what: "the state of the plant", found: x.len(), needed });
    }
    inputs(sim, plant, sensor.inputs())?;
    let entity = sim.world_mut().spawn(Output { values: vec![0.0; sensor.measurements()], unsolved: 0 }).id();
    sim.every(period, move |_, world| {
        if state(world, plant, &mut x) {
            let z = parameters(world, plant).unwrap_or_default();
            if x.len() != sensor.states() || z.len() < sensor.inputs() {
                world.get_mut::<Output>(entity).iter_mut().for_each(|output| output.unsolved += 1);
                return;
            }
            let y = sensor.sample(&x, z);
            if let Some(mut output) = world.get_mut::<Output>(entity) {
                output.values.copy_from_slice(y);
            }
        }
    })?;
    Ok(entity)
}

/// Adds an observer that reads the output of `source` and the input of `plant`; the entity has its [`Output`].
pub fn observer(
    sim: &mut Simulation,
    source: Entity,
    plant: Entity,
    period: f64,
    mut observer: impl Observer + Send + Sync + 'static,
) -> Result<Entity, ControlError> {
    same_period("the observer", observer.period(), period)?;
    source_values(sim, source, observer.measurements())?;
    let p = observer.inputs();
    inputs(sim, plant, p)?;
    let entity = sim.world_mut().spawn(Output { values: observer.state().to_vec(), unsolved: 0 }).id();
    sim.every(period, move |_, world| {
        let (Some(y), Some(z)) = (world.get::<Output>(source), parameters(world, plant)) else { return };
        let solved = z.len() >= p && observer.sample(&y.values, &z[..p]);
        if let Some(mut output) = world.get_mut::<Output>(entity) {
            output.values.copy_from_slice(observer.state());
            output.unsolved += usize::from(!solved);
        }
    })?;
    Ok(entity)
}

/// Adds a law that reads the output of `source` and holds its input in the first parameters z of `plant`; the entity has its
/// [`Output`].
pub fn law(
    sim: &mut Simulation,
    source: Entity,
    plant: Entity,
    period: f64,
    mut law: impl Law + Send + Sync + 'static,
) -> Result<Entity, ControlError> {
    same_period("the law", law.period(), period)?;
    source_values(sim, source, law.measurements())?;
    inputs(sim, plant, law.inputs())?;
    let mut u = vec![0.0; law.inputs()];
    let entity = sim.world_mut().spawn(Output { values: u.clone(), unsolved: 0 }).id();
    sim.every(period, move |t, world| {
        let Some(y) = world.get::<Output>(source) else { return };
        let solved = law.sample(t, &y.values, &mut u);
        put(world, plant, &u);
        if let Some(mut output) = world.get_mut::<Output>(entity) {
            output.values.copy_from_slice(&u);
            output.unsolved += usize::from(!solved);
        }
    })?;
    Ok(entity)
}
