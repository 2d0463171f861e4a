//! Circuits: a netlist becomes a first-order system with its relation and law.
//!
//! ```text
//! ẋ = A x + b(t) + B λ        y = C x + D λ + e(t)        −y ∈ N_K(λ), row by row
//! ```
//!
//! x holds capacitor voltages and inductor currents; λ and y hold current (as voltage across a reference resistance) and reverse
//! voltage of each diode, one as λ and the other as y. Without capacitors and inductors there is no x, and each step is the operating point at its
//! end: a source that is a function of the time sweeps it. Potentials, branch currents and the choice of λ follow by elimination, and faults carry the names of nodes and elements.
//!
//! A full-wave rectifier:
//!
//! ```
//! use drystone::{electronics::Circuit, simulation::Simulation};
//!
//! let mut c = Circuit::new();
//! c.voltage_source("mains", "a", "0", |t: f64| 10.0 * (314.159 * t).sin());
//! c.resistor("Ri", "a", "b", 1.0);
//! c.diode("D1", "b", "p");
//! c.diode("D2", "0", "p");
//! c.diode("D3", "m", "b");
//! c.diode("D4", "m", "0");
//! c.capacitor("C", "p", "m", 1e-4);
//! c.resistor("load", "p", "m", 1e3);
//!
//! let mut sim = Simulation::with_time_step(1e-5)?;
//! let circuit = c.spawn(&mut sim)?;
//! sim.advance(4000)?;
//! assert!(circuit.voltage(&sim, "p", "m")? > 8.5);
//! assert!(circuit.current(&sim, "load")? > 8.5e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bjt;
mod check;
mod circuit;
mod conflict;
mod derive;
mod equations;
mod error;
mod mos;
#[cfg(test)]
mod node_tests;
mod spawn;
mod tableau;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod transistor_tests;
mod waveform;

pub use bjt::BjtModel;
pub use circuit::{Circuit, PlacedCapacitor, PlacedComparator, PlacedDiode, PlacedInductor};
pub use equations::{Equations, Output};
pub use error::CircuitError;
pub use mos::MosModel;
pub use spawn::CircuitHandle;
pub use waveform::Waveform;
