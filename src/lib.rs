#![cfg_attr(feature = "simulation", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "simulation"),
    doc = "The ground floor of drystone: linear algebra of small blocks, and statements, residuals and solvers of nonsmooth one-step problems."
)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "simulation")]
pub mod control;
#[cfg(feature = "simulation")]
pub mod diagnostics;
#[cfg(feature = "simulation")]
pub mod electronics;
#[cfg(feature = "simulation")]
pub mod granular;
#[cfg(feature = "simulation")]
pub mod io;
#[cfg(feature = "simulation")]
pub mod masonry;
#[cfg(feature = "simulation")]
pub mod prelude;
#[cfg(feature = "simulation")]
pub mod scenes;
#[cfg(feature = "simulation")]
mod setup;

#[doc(inline)]
pub use drystone_solvers::{algebra, numerics};

#[cfg(feature = "simulation")]
#[doc(inline)]
pub use drystone_dynamics::{assembly, cluster, geometry, integrator, model, simulation, topology};

/// Vectors and quaternions, in the version that all of this is written with.
pub use glam;

/// Worlds, systems and observers, in the version that all of this is written with.
#[cfg(feature = "simulation")]
pub use bevy_ecs;
