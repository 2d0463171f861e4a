//! The benchmark scenes at the quality that they are asked for, and the laws of masonry behind them.
//!
//! The long ones run with `cargo test --release --test scenes -- --ignored`.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a scene that cannot be run has failed")]

mod arch;
mod corpus;
mod crushing;
mod dam;
mod incline;
mod limits;
mod loads;
mod masonry;
mod mortar;
mod outside;
mod pour;
mod wall;
mod water;
