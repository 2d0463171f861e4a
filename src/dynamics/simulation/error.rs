//! Why a simulation cannot be made, or cannot go on.

use super::body::BodyError;
use super::step::StepSet;
use crate::cluster::ClusterError;
use crate::model::scheme::Invalid;
use bevy_ecs::prelude::Entity;

/// Why a simulation cannot go on.
///
/// ```
/// use drystone::{model::scheme::Scheme, simulation::Simulation};
/// let error = Simulation::new(Scheme { time_step: 0.0, ..Scheme::default() }).unwrap_err();
/// assert!(error.to_string().contains("time_step"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// A setting that will not do.
    #[error(transparent)]
    Setting(#[from] Invalid),
    /// A body that cannot be made.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// A contact law that will not do.
    #[error("{0}")]
    Law(String),
    /// A joint that cannot be made.
    #[error("{0}")]
    Joint(String),
    /// A system, or its integrator, that cannot be made.
    #[error("the system cannot be made: {0}")]
    NewSystem(String),
    /// An interaction that cannot be made.
    #[error("{0}")]
    Interaction(String),
    /// A rigid body is asked for, and the entity is none.
    #[error("{what} needs a living rigid body, and entity {entity} is none")]
    NoBody {
        /// What needs it.
        what: &'static str,
        /// The entity given.
        entity: Entity,
    },
    /// An event that cannot take place.
    #[error("{0}")]
    Event(String),
    /// Systems that cannot be put in order.
    #[error("the systems for {set:?} cannot be put in order: {reason}")]
    Systems {
        /// Where they were to run.
        set: StepSet,
        /// What bevy says.
        reason: String,
    },
    /// A system of the user has failed; before `Observe` the state at the start of the step is kept.
    #[error("step {step} (t = {time} s), in {set:?}: {reason}")]
    Guest {
        /// Step in which it ran.
        step: u64,
        /// Time (s).
        time: f64,
        /// Its place.
        set: StepSet,
        /// Its name, and what it says.
        reason: String,
    },
    /// Components that make no body: written, inserted or removed by hand. The state is kept.
    #[error("step {step} (t = {time} s): {body}: {reason}")]
    Component {
        /// Step that was refused.
        step: u64,
        /// Its start (s).
        time: f64,
        /// Name or slot of the body.
        body: String,
        /// What was found and what would do.
        reason: String,
    },
    /// A load on all bodies that panicked. The state is kept.
    #[error("step {step} (t = {time} s): {reason}; the state at the start of the step is kept")]
    Load {
        /// Step that was refused.
        step: u64,
        /// Its start (s).
        time: f64,
        /// Which, and what it said.
        reason: String,
    },
    /// A periodic action that has failed. The state is kept, and the action is due again.
    #[error("step {step} (t = {time} s): {reason}; the state at the start of the step is kept")]
    Action {
        /// Step that was refused.
        step: u64,
        /// Its start (s).
        time: f64,
        /// What the action says.
        reason: String,
    },
    /// A saved state of another simulation.
    #[error("the saved state holds {saved} {what}, this simulation {here}; restore it into the simulation it was saved from")]
    Saved {
        /// What differs in number.
        what: &'static str,
        /// In the saved state.
        saved: usize,
        /// In the simulation.
        here: usize,
    },
    /// A list of bodies by which a saved state cannot be brought back.
    #[error("the state cannot be restored: {0}")]
    Restored(String),
    /// A state that is not a finite number; the state at the start of the step is kept.
    #[error("step {step} (t = {time} s): {what} of {body} is not finite or beyond 1e100; the state at the start of the step is kept")]
    NotFinite {
        /// Step that failed.
        step: u64,
        /// Its start (s).
        time: f64,
        /// Position, velocity or load.
        what: &'static str,
        /// Name or slot of the body.
        body: String,
    },
    /// The flag of [`Simulation::set_stop`](super::Simulation::set_stop); the state is that of the end of the step before.
    #[error("step {step} (t = {time} s) was stopped; the state at its start is kept")]
    Stopped {
        /// Step that was not done.
        step: u64,
        /// Its start (s).
        time: f64,
    },
    /// A body that turns so far within the step that its rotation cannot be worked out; the state at the start of the step is kept.
    #[error("step {step} (t = {time} s): {body} turns too far within a step of {found} s; a time step of at most {needed:.1e} s is needed")]
    TooFast {
        /// Step that was refused.
        step: u64,
        /// Its start (s).
        time: f64,
        /// Name or slot of the body.
        body: String,
        /// Time step (s).
        found: f64,
        /// Time step that would do (s).
        needed: f64,
    },
    /// A system or interaction that cannot be built, or a function of the user that is not finite.
    #[error("step {step}: {source}")]
    System {
        /// Step that failed.
        step: u64,
        /// What is wrong.
        source: ClusterError,
    },
    /// The one-step problem cannot be stated.
    #[error("step {step} (t = {time} s): {reason}")]
    Problem {
        /// Step that failed.
        step: u64,
        /// Its start (s).
        time: f64,
        /// What is wrong.
        reason: String,
    },
}
