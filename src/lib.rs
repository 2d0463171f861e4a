//! Nonsmooth dynamics.

pub mod algebra;
#[cfg(feature = "simulation")]
pub mod geometry;
#[cfg(feature = "simulation")]
pub mod io;
