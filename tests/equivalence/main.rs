//! The same thing said twice must agree: matrix-free and assembled, forwards and backwards, one thread and many, sum and parts.

mod balance;
mod laws;
mod matrices;
mod order;
mod running;
mod scene;
mod threads;
