//! Shapes, proximity and contact points.
//!
//! ```text
//! gap = (p₁ − p₂) · n        n: unit normal from body 2 to body 1; gap > 0 apart, < 0 overlapping
//! ```
//!
//! [`shapes`] says what a body looks like, [`broad`] whose boxes overlap, [`narrow`] where two shapes touch. Everything here is a pure
//! function of shapes and poses: no history, no hidden margin.

pub mod ahead_systems;
pub mod broad;
mod clip;
mod closed_forms;
mod convex;
mod cores;
mod cylinder;
mod cylinder_pair;
mod decomposition;
mod deep;
mod linked;
mod mass;
pub mod narrow;
mod outline;
pub mod polyhedron;
mod sat;
pub mod shapes;
mod surface;
mod sweep;
pub mod systems;
mod terrain;
#[cfg(test)]
mod tests;
pub mod trimesh;
pub mod turned_systems;
mod ways;

pub use broad::BroadPhase;
pub use decomposition::DecompositionSettings;
pub use mass::MassProperties;
pub use narrow::{ContactPoint, Scratch, contact_points};
pub use shapes::{Shape, ShapeError};
pub use surface::Surface;
