//! What exists: dynamical systems, relations, laws and interactions, as components of plain data.

pub mod contact;
pub mod dynamical_system;
pub mod integrator;
pub mod interaction;
pub mod joint;
pub mod law;
pub mod newton_euler;
pub mod operator;
pub mod relation;
pub mod scheme;
