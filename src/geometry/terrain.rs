//! Convex shapes on surfaces of triangles.

use super::convex::ConvexScratch;
use super::cores::{Coordinates, Core};
use super::narrow::Sink;
use super::trimesh::TriangleMesh;

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct TerrainScratch {}

/// Reports the contact points of a core with a surface, in the frame of the surface.
pub(super) fn contact(
    _core: &Core,
    _mesh: &TriangleMesh,
    _reach: f64,
    _triangle: &mut Coordinates,
    _convex: &mut ConvexScratch,
    _scratch: &mut TerrainScratch,
    _sink: &mut Sink,
) {
}
