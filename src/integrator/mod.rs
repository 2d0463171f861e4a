//! One-step integrators: the free motion before the contact problem, the new state after it.

pub mod moreau_jean;
pub mod systems;
