//! The floors of drystone between its solvers and its files: what exists, who touches whom, and the time step.
//!
//! Programs use its modules by their names in `drystone`.

pub mod assembly;
pub mod cluster;
pub mod geometry;
pub mod integrator;
pub mod model;
pub mod simulation;
pub mod topology;

use drystone_solvers::{algebra, numerics};
