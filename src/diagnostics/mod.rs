//! Looking at scenes and results: faults before the run.

pub mod check;
