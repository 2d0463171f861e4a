//! Scene files: TOML text → [`Scene`](model::Scene), plain data in SI units with every generator expanded.

pub mod loads;
pub mod model;
