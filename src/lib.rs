//! Nonsmooth dynamics.

pub mod algebra;
#[cfg(feature = "simulation")]
pub mod assembly;
#[cfg(feature = "simulation")]
pub mod diagnostics;
#[cfg(feature = "simulation")]
pub mod geometry;
#[cfg(feature = "simulation")]
pub mod integrator;
#[cfg(feature = "simulation")]
pub mod model;
pub mod numerics;
#[cfg(feature = "simulation")]
pub mod simulation;
#[cfg(feature = "simulation")]
pub mod topology;
