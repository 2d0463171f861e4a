//! Circuits: a netlist becomes a first-order system with its relation and law.
//!
//! ```text
//! ẋ = A x + b(t) + B λ        y = C x + D λ + e(t)        −y ∈ N_K(λ), row by row
//! ```
//!
//! x holds capacitor voltages and inductor currents; λ and y hold current and reverse voltage of each diode, one as λ and the
//! other as y. Potentials, branch currents and the choice of λ follow by elimination, and faults carry the names of nodes and elements.

mod check;
mod circuit;
mod derive;
mod equations;
mod error;
mod mos;
mod signal;
mod tableau;
#[cfg(test)]
mod tests;

pub use circuit::{Circuit, PlacedCapacitor, PlacedComparator, PlacedDiode, PlacedInductor};
pub use equations::{Equations, Output};
pub use error::CircuitError;
pub use mos::MosModel;
pub use signal::Signal;
