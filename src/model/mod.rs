//! What exists: dynamical systems, relations, laws and interactions, as components of plain data.

pub mod contact;
pub mod interaction;
pub mod lagrangian;
pub mod law;
pub mod newton_euler;
pub mod scheme;
