//! Nonsmooth dynamics.

pub mod algebra;
#[cfg(feature = "simulation")]
pub mod geometry;
pub mod numerics;
