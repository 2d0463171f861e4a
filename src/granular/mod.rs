//! Arrangements of grains, as pure functions: positions and radii, no bodies.

pub mod agitation;
pub mod grain;
pub mod growth;
pub mod lattice;
pub mod pour;
pub mod pyramid;
pub mod sizes;
pub mod terrain;
pub mod voronoi;
