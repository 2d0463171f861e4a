//! Windows: what a run shows to the outside, and what it reads from there.
//!
//! Outputs take plain data (a [`snapshot::Snapshot`], a table row, a [`plot::History`]), so any program can use them.

pub mod blocks;
pub mod blocks_out;
mod canvas;
mod chain_plots;
pub mod chart;
pub mod elevation;
pub mod error;
#[cfg(feature = "hdf5")]
pub mod fclib;
pub mod field_plots;
pub mod left;
pub mod map;
pub mod mesh;
pub mod picture;
pub mod plot;
pub mod problem;
pub mod profile;
pub mod run_plots;
pub mod scene;
pub mod snapshot;
pub mod sweep;
pub mod table;
pub mod view;
pub mod vtk;
