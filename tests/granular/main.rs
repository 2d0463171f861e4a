//! Granular studies: what leaves and comes in, containers, sizes of grains, measures.

mod adhesion;
mod containers;
mod drilling;
mod fields;
mod forms;
mod generators;
mod hopper;
mod inlets;
mod measures;
mod outlets;
mod periodic;
mod rolling;
mod servo;
mod shaken;
mod sheared;
mod sizes;
mod surfaces;
