//! Shapes, proximity and contact points.

pub mod shapes;
