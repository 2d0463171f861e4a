//! Windows on a run: energy, certificates, measures. Nothing here is needed for a right answer.

pub mod energy;
