//! Windows on a run: faults before it, energy, certificates, measures. Nothing here is needed for a right answer.

mod certificate;
pub mod check;
#[cfg(feature = "lens")]
pub mod collapse;
pub mod convergence;
#[cfg(feature = "lens")]
pub mod equilibrium;
pub mod fields;
mod figures;
pub mod forecast;
pub mod grains;
pub mod joints;
pub mod measured;
mod meter;
pub mod piles;
pub mod postmortem;
pub mod problem;
#[cfg(feature = "lens")]
mod rows;
mod shaken;
pub mod structure;
mod studies;
pub mod summary;
pub mod verdict;
mod warnings;

pub use crate::simulation::energy;
