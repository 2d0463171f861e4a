//! Windows on a run: faults before it, energy, certificates, measures. Nothing here is needed for a right answer.

mod certificate;
pub mod check;
pub mod energy;
pub mod problem;
pub mod summary;
mod warnings;
