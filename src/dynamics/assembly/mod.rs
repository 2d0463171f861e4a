//! From interactions to the flat one-step problem, and back.

pub mod adopted;
pub mod bonds;
pub mod crushing;
pub mod forces;
pub mod global;
pub mod joints;
pub mod locked;
pub mod problem;
pub mod projection;
mod relations;
mod rows;
mod spins;
pub mod systems;
mod touched;
