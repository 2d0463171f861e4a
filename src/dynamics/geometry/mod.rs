//! Shapes, proximity and contact points.
//!
//! ```text
//! gap = (p₁ − p₂) · n        n: unit normal from body 2 to body 1; gap > 0 apart, < 0 overlapping
//! ```
//!
//! [`shapes`] says what a body looks like, [`broad`] whose boxes overlap, [`narrow`] where two shapes touch. Everything here is a pure
//! function of shapes and poses: no history, no hidden margin.
//!
//! A shape lives in its own frame. Mass, centre and principal axes follow from it and a density ([`Shape::mass_properties`]); a body's frame is
//! that of its principal axes, and its [`Collider`](systems::Collider) says where the shape stands in it. What a step does with all
//! this is in the files of `systems`, which alone know rows and entities: colliders are cached, pairs come and go, points are found at
//! the start of the step, on the way of what is fast, in its middle for bodies in joints, and at its end for what its rows miss.
//!
//! ```
//! use drystone::algebra::spatial::Pose;
//! use drystone::geometry::{Scratch, Shape, contact_points};
//! use glam::DVec3;
//! // a block that has sunk by a millimetre into the floor: four corners, with normals from the floor to the block
//! let (block, floor) = (Shape::cuboid(DVec3::new(0.2, 0.1, 0.05))?, Shape::half_space(DVec3::Z)?);
//! let mut points = Vec::new();
//! let place = Pose::at(DVec3::Z * 0.049);
//! contact_points(&block, &place, &floor, &Pose::IDENTITY, 0.01, &mut Scratch::default(), &mut points);
//! assert_eq!(points.len(), 4);
//! assert!(points.iter().all(|p| p.normal == DVec3::Z && (p.gap + 0.001).abs() < 1e-15));
//! assert!((block.mass_properties(2400.0)?.mass - 2400.0 * 0.4 * 0.2 * 0.1).abs() < 1e-9);
//! # Ok::<(), drystone::geometry::ShapeError>(())
//! ```

pub mod ahead_systems;
pub mod broad;
mod clip;
mod closed_forms;
mod clump;
mod convex;
mod cores;
mod crowd;
mod cylinder;
mod cylinder_pair;
mod decomposition;
mod deep;
mod error;
mod images;
mod linked;
mod mass;
pub mod narrow;
pub mod narrow_systems;
mod outline;
mod points;
pub mod polyhedron;
mod sat;
pub mod shapes;
mod standing;
mod surface;
mod sweep;
pub mod systems;
mod terrain;
#[cfg(test)]
mod tests;
pub mod trimesh;
pub mod turned_systems;
pub mod vessel;
mod ways;

pub use broad::BroadPhase;
pub use crowd::Crowd;
pub use decomposition::DecompositionSettings;
pub use error::ShapeError;
pub use images::fits_cell;
pub use images::{Images, Placed, wanders};
pub use mass::MassProperties;
pub use narrow::{Scratch, contact_points};
pub use points::ContactPoint;
pub use shapes::Shape;
pub use surface::Surface;
