//! Small dense and sparse linear algebra, rotations and frames. Uses no other room.

pub mod dense;
pub mod sparse;
pub mod spatial;
