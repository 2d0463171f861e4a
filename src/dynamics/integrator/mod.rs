//! One-step integrators: the free motion before the contact problem, the new state after it.

pub mod free_rotation;
pub mod mixing;
pub mod moreau_jean;
pub mod systems;
