//! Arrangements of blocks, as pure functions: sizes and places, no bodies.
//!
//! What has its edges along the axes is a [`Block`], any other a [`Stone`]. Neighbours take their corners from one list, so joints have
//! neither gaps nor overlaps beyond the last digit.

pub mod arch;
pub mod bond;
pub mod bridge;
pub mod column;
pub mod cross_vault;
pub mod cut;
pub mod dam;
pub mod dome;
pub mod vault;
pub mod wall;
pub mod water;

use glam::{DVec2, DVec3};

/// A block whose edges lie along the axes.
///
/// ```
/// let brick = drystone::masonry::Block { centre: glam::DVec3::ZERO, half_extents: glam::DVec3::new(0.2, 0.1, 0.1) };
/// assert_eq!(brick.half_extents.x, 0.2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Centre (m).
    pub centre: DVec3,
    /// Half edge lengths (m).
    pub half_extents: DVec3,
}

/// A stone of one or several convex parts that move as one; the corners (m, world) of each part.
///
/// ```
/// use drystone::masonry::Stone;
/// use glam::DVec2;
/// // a wedge: a triangle in the plane (x, z), one metre deep
/// let wedge = Stone::prism(&[DVec2::ZERO, DVec2::X, DVec2::Y], [0.0, 1.0]);
/// assert_eq!(wedge.parts[0].len(), 6);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Stone {
    /// Parts; each is the convex hull of its corners, and touches the others without overlap.
    pub parts: Vec<Vec<DVec3>>,
}

impl Stone {
    /// A convex outline in the plane (x, z), extruded along y between two places.
    pub fn prism(outline: &[DVec2], y: [f64; 2]) -> Self {
        let corners = y.iter().flat_map(|&y| outline.iter().map(move |p| DVec3::new(p.x, y, p.y)));
        Self { parts: vec![corners.collect()] }
    }

    /// The stone after a map of the space that keeps its parts convex.
    pub(crate) fn mapped(&self, map: impl Fn(DVec3) -> DVec3) -> Self {
        Self { parts: self.parts.iter().map(|part| part.iter().map(|&p| map(p)).collect()).collect() }
    }

    /// Two stones as one.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }
}

/// The block of the top course in which the middle of a wall along x from 0 on lies, or which begins there.
pub fn top_middle(blocks: &[Block]) -> usize {
    let top = blocks.iter().map(|b| b.centre.z).fold(f64::NEG_INFINITY, f64::max);
    let ends = |b: &Block| b.centre.x + b.half_extents.x;
    let middle = 0.5 * blocks.iter().map(ends).fold(0.0, f64::max);
    blocks.iter().position(|b| b.centre.z == top && ends(b) > middle + 1e-9 * middle).unwrap_or(0)
}

#[cfg(test)]
mod tests;
