//! The simulation: a world of components and the chain of systems that moves it one step.

mod auto_step;
pub mod body;
mod build;
mod parts;
mod run;
pub mod state;
mod step;
mod systems;

pub use auto_step::AutoStep;
pub use body::{Body, BodyError};
pub use run::{Balance, Event, Simulation, SimulationError, StepReport};
pub use state::SavedState;
pub use step::StepSet;
