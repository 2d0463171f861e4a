//! Sensors, observers and laws on a simulation: events between steps, in the order in which they were installed.
//!
//! Each is an entity with its [`Output`] and, as [`Installed`], the sensor, observer or law itself. Both are part of a
//! [`SavedState`](crate::simulation::SavedState). What is no finite number is an error of the step in which it arises.
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

use super::{ControlError, ControlLaw, Sensor, StateObserver, finite};
use crate::model::dynamical_system::{FirstOrder, Lagrangian};
use crate::model::newton_euler::{BodyForces, BodyPose, Velocity};
use crate::simulation::{Handle, Simulation, SimulationError};
use bevy_ecs::name::Name;
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

/// A sensor, observer or law that has been installed, on the entity of its [`Output`].
///
/// ```
/// use drystone::control::{Pid, Sensor, install::{self, Installed}};
/// use drystone::prelude::*;
/// let mut sim = Simulation::with_time_step(0.05)?;
/// let cart = Lagrangian::new([1.0]).at([0.0]).with_parameters([0.0]).with_force(Operator::function(|at, f| f[0] = at.z[0]));
/// let cart = sim.spawn_system(cart, Integrator::MOREAU_JEAN)?;
/// let position = install::sensor(&mut sim, cart, 0.05, Sensor::new([1.0, 0.0], 2)?)?;
/// let pid = install::law(&mut sim, position, cart, 0.05, Pid::new(0.25, 0.02, 1.0, 0.05)?)?;
/// sim.run_until(1.0)?;
/// sim.world_mut().get_mut::<Installed<Pid>>(pid).expect("installed above").0.reference = 3.0;
/// sim.run_until(200.0)?;
/// assert!(sim.world().get::<Lagrangian>(cart).is_some_and(|cart| (cart.q[0] - 3.0).abs() < 1e-6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Clone, Debug, PartialEq)]
pub struct Installed<T: Send + Sync + 'static>(pub T);

/// Numbers that a sensor may keep on their way.
const LONGEST: usize = 10_000_000;
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

/// Lets saved states have what is put out.
fn keep_outputs(sim: &mut Simulation) {
    let numbers = |output: &Output| output.values.iter().copied().chain([output.unsolved as f64]).collect();
    sim.keep("outputs of sensors, observers and laws", numbers, |output, numbers| {
        if let Some((unsolved, values)) = numbers.split_last() {
            output.values.copy_from_slice(values);
            output.unsolved = *unsolved as usize;
        }
    });
}

/// Writes what was put out; an error where it is no finite number.
fn put_out(world: &mut World, entity: Entity, what: &str, values: &[f64], solved: bool) -> Result<(), String> {
    if !finite(values) {
        return Err(format!("the {what}, {}, gives {values:?}; finite numbers are needed", called(world, entity)));
    }
    if let Some(mut output) = world.get_mut::<Output>(entity) {
        copy(&mut output.values, values);
        output.unsolved += usize::from(!solved);
    }
    Ok(())
}

/// The entity, or nothing of it where its action has been refused.
fn installed(sim: &mut Simulation, entity: Entity, made: Result<Handle, SimulationError>) -> Result<Entity, ControlError> {
    if made.is_err() {
        sim.world_mut().despawn(entity);
    }
    Ok(made.map(|_| entity)?)
}

/// What messages call a sensor, observer or law.
fn called(world: &World, entity: Entity) -> String {
    world.get::<Name>(entity).map_or_else(|| format!("entity {entity}"), |name| format!("{:?}", name.as_str()))
}

/// What is read from an output, as many values as there were when its reader was installed.
fn read(world: &World, source: Entity, needed: usize, values: &mut Vec<f64>) -> Result<bool, String> {
    let Some(output) = world.get::<Output>(source) else { return Ok(false) };
    copy(values, &output.values);
    if values.len() == needed {
        return Ok(true);
    }
    Err(format!("the output of {} holds {} values, but {needed} are needed", called(world, source), values.len()))
}

/// Adds a sensor of `plant`, sampled every `period` (s); the entity has its [`Output`].
pub fn sensor(sim: &mut Simulation, plant: Entity, period: f64, sensor: Sensor) -> Result<Entity, ControlError> {
    let mut x = Vec::new();
    if !state(sim.world(), plant, &mut x) {
        return Err(ControlError::Missing("the plant is no dynamical system of the simulation".into()));
    }
    if x.len() != sensor.states() {
        let needed = format!("{}, one for each column of C,", sensor.states());
        return Err(ControlError::Size { what: "the state of the plant", found: x.len(), needed });
    }
    inputs(sim, plant, sensor.inputs())?;
    if sensor.kept() > LONGEST {
        let needed = format!("at most {LONGEST}");
        return Err(ControlError::Size { what: "the delay of the sensor", found: sensor.kept(), needed });
    }
    keep_outputs(sim);
    sim.keep("sensors", |sensor: &Installed<Sensor>| sensor.0.memory(), |sensor, numbers| sensor.0.remember(numbers));
    let output = Output { values: vec![0.0; sensor.measurements()], unsolved: 0 };
    let entity = sim.world_mut().spawn((output, Installed(sensor))).id();
    let (mut y, mut z) = (Vec::new(), Vec::new());
    let made = sim.every(period, move |_, world| {
        if !state(world, plant, &mut x) {
            return Ok(());
        }
        copy(&mut z, parameters(world, plant).unwrap_or_default());
        let Some(mut sensor) = world.get_mut::<Installed<Sensor>>(entity) else { return Ok(()) };
        if x.len() != sensor.0.states() || z.len() < sensor.0.inputs() {
            world.get_mut::<Output>(entity).iter_mut().for_each(|output| output.unsolved += 1);
            return Ok(());
        }
        copy(&mut y, sensor.0.sample(&x, &z));
        put_out(world, entity, "sensor", &y, true)
    });
    installed(sim, entity, made)
}

/// Adds an observer that reads the output of `source` and the input of `plant`; the entity has its [`Output`].
pub fn observer<O: StateObserver + Send + Sync + 'static>(
    sim: &mut Simulation,
    source: Entity,
    plant: Entity,
    period: f64,
    observer: O,
) -> Result<Entity, ControlError> {
    same_period("the observer", observer.period(), period)?;
    source_values(sim, source, observer.measurements())?;
    let (m, p) = (observer.measurements(), observer.inputs());
    inputs(sim, plant, p)?;
    keep_outputs(sim);
    sim.keep("observers", |observer: &Installed<O>| observer.0.memory(), |observer, numbers| observer.0.remember(numbers));
    let output = Output { values: observer.state().to_vec(), unsolved: 0 };
    let entity = sim.world_mut().spawn((output, Installed(observer))).id();
    let [mut x, mut y, mut u] = [const { Vec::new() }; 3];
    let made = sim.every(period, move |_, world| {
        let Some(z) = parameters(world, plant) else { return Ok(()) };
        copy(&mut u, z);
        if !read(world, source, m, &mut y)? {
            return Ok(());
        }
        let Some(mut observer) = world.get_mut::<Installed<O>>(entity) else { return Ok(()) };
        let solved = u.len() >= p && observer.0.sample(&y, &u[..p]);
        copy(&mut x, observer.0.state());
        put_out(world, entity, "observer", &x, solved)
    });
    installed(sim, entity, made)
}

/// Adds a law that reads the output of `source` and holds its input in the first parameters z of `plant`; the entity has its
/// [`Output`], whose values are what the law takes for the input that has been held.
pub fn law<L: ControlLaw + Send + Sync + 'static>(
    sim: &mut Simulation,
    source: Entity,
    plant: Entity,
    period: f64,
    law: L,
) -> Result<Entity, ControlError> {
    same_period("the law", law.period(), period)?;
    source_values(sim, source, law.measurements())?;
    let (m, p) = (law.measurements(), law.inputs());
    inputs(sim, plant, p)?;
    keep_outputs(sim);
    sim.keep("laws", |law: &Installed<L>| law.0.memory(), |law, numbers| law.0.remember(numbers));
    let output = Output { values: vec![0.0; p], unsolved: 0 };
    let entity = sim.world_mut().spawn((output, Installed(law))).id();
    let (mut y, mut u) = (Vec::new(), Vec::new());
    let made = sim.every(period, move |t, world| {
        if !(read(world, source, m, &mut y)? && read(world, entity, p, &mut u)?) {
            return Ok(());
        }
        let Some(mut law) = world.get_mut::<Installed<L>>(entity) else { return Ok(()) };
        let solved = law.0.sample(t, &y, &mut u);
        put_out(world, entity, "law", &u, solved)?;
        put(world, plant, &u);
        Ok::<(), String>(())
    });
    installed(sim, entity, made)
}

fn copy(to: &mut Vec<f64>, from: &[f64]) {
    to.clear();
    to.extend_from_slice(from);
}
