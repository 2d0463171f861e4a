//! Slots, flat arrays of the step, and the colours of the contact graph.

pub mod bodies;
pub mod graph;
pub mod islands;
pub mod systems;
