//! Small dense and sparse linear algebra, rotations and frames. Uses no other room.

pub mod blocks;
mod branches;
pub mod dense;
mod elimination;
pub mod envelope;
pub mod exponential;
pub mod factor;
pub mod fetch;
mod fronts;
pub mod lanes;
mod lu_fronts;
pub mod matrix;
pub mod multifrontal;
mod panels;
pub mod pieces;
pub mod random;
pub mod rows;
mod runs;
pub mod sparse;
pub mod spatial;
pub mod spectrum;
mod tridiagonal;
