//! Laws of mechanics that a scene of a few lines must obey.

mod common;
mod hyperstatic;
mod impact;
mod rebound;
mod incline;
mod pendulum;
mod rocking;
mod rotation;
