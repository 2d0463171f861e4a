//! Arrangements of blocks, as pure functions: sizes and places, no bodies.

pub mod arch;
pub mod dam;
pub mod dome;
pub mod wall;
pub mod water;

use glam::DVec3;

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
