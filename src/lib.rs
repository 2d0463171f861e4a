//! Nonsmooth dynamics.

pub mod algebra;
#[cfg(feature = "simulation")]
pub mod diagnostics;
#[cfg(feature = "simulation")]
pub mod geometry;
#[cfg(feature = "simulation")]
pub mod granular;
#[cfg(feature = "simulation")]
pub mod io;
#[cfg(feature = "simulation")]
pub mod masonry;
#[cfg(feature = "simulation")]
pub mod scenes;
