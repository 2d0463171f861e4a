//! Laws of mechanics that a scene of a few lines must obey.

mod bearings;
mod bonds;
mod common;
mod fremond;
mod hinge;
mod hyperstatic;
mod impact;
mod incline;
mod joints;
mod lagged;
mod logs;
mod overlap;
mod pendulum;
mod pours;
mod rebound;
mod rocking;
mod rotation;
mod seams;
mod sweep;
