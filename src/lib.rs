#![cfg_attr(feature = "simulation", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "simulation"),
    doc = "The ground floor of drystone: linear algebra of small blocks, and statements, residuals and solvers of nonsmooth one-step problems."
)]

pub mod algebra;
#[cfg(feature = "simulation")]
pub mod assembly;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "simulation")]
pub mod cluster;
#[cfg(feature = "simulation")]
pub mod control;
#[cfg(feature = "simulation")]
pub mod diagnostics;
#[cfg(feature = "simulation")]
pub mod electronics;
#[cfg(feature = "simulation")]
pub mod geometry;
#[cfg(feature = "simulation")]
pub mod granular;
#[cfg(feature = "simulation")]
pub mod integrator;
#[cfg(feature = "simulation")]
pub mod io;
#[cfg(feature = "simulation")]
pub mod masonry;
#[cfg(feature = "simulation")]
pub mod model;
pub mod numerics;
#[cfg(feature = "simulation")]
pub mod prelude;
#[cfg(feature = "simulation")]
pub mod scenes;
#[cfg(feature = "simulation")]
mod setup;
#[cfg(feature = "simulation")]
pub mod simulation;
#[cfg(feature = "simulation")]
pub mod topology;

/// Vectors and quaternions, in the version that all of this is written with.
pub use glam;

/// Worlds, systems and observers, in the version that all of this is written with.
#[cfg(feature = "simulation")]
pub use bevy_ecs;
