//! Granular studies: what leaves and comes in, containers, sizes of grains, measures.

mod adhesion;
mod containers;
mod hopper;
mod inlets;
mod measures;
mod outlets;
mod rolling;
mod sizes;
