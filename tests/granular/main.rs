//! Granular studies: what leaves and comes in, containers, sizes of grains, measures.

mod outlets;
