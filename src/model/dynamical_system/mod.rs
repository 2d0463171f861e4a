//! Dynamical systems: what moves between the impacts.

mod first_order;
mod lagrangian;
mod newton_euler;

pub use first_order::FirstOrder;
pub use lagrangian::{Lagrangian, Prescribed, PrescribedVelocity};
pub use newton_euler::{Frame, NewtonEuler};
