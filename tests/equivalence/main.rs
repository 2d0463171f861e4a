//! The same thing said twice must agree: matrix-free and assembled, forwards and backwards, one thread and many, sum and parts.

mod balance;
mod blocks;
#[path = "../common/cubes.rs"]
mod cubes;
mod laws;
mod matrices;
mod order;
mod running;
mod scene;
mod standing;
mod stops;
mod threads;
