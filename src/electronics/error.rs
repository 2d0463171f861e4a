//! What can be wrong with a circuit.

use crate::simulation::SimulationError;

/// Why a circuit has no equations.
///
/// ```
/// use drystone::electronics::Circuit;
/// let mut c = Circuit::new();
/// c.capacitor("C1", "a", "0", 1e-6);
/// c.voltage_source("V1", "a", "0", 5.0);
/// let error = c.equations().unwrap_err().to_string();
/// assert!(error.starts_with("C1 and V1 form a loop without resistance"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CircuitError {
    /// Two elements of one name.
    #[error("two elements are called {name:?}; every element needs its own name")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// An element or a node without a name.
    #[error("{what} has no name; errors and probes need one")]
    Unnamed {
        /// Which.
        what: String,
    },
    /// Voltages that ideal elements of a loop fix against each other.
    #[error("{} form a loop without resistance whose voltages exclude each other by {excess} V at t = {time} s, so that no current is a solution; put a resistor in the loop", list(.elements))]
    Conflict {
        /// Names of the elements of the loop.
        elements: Vec<String>,
        /// By how much (V).
        excess: f64,
        /// s
        time: f64,
    },
    /// Currents that ideal elements fix against each other, where nothing else connects nodes with the rest.
    #[error("the currents of {}, which alone connect {} with the rest, exclude each other by {excess} A at t = {time} s, so that no voltage is a solution; put a resistor beside them", list(.elements), some(.nodes))]
    Cut {
        /// Names of the elements.
        elements: Vec<String>,
        /// The nodes on the side without ground.
        nodes: Vec<String>,
        /// By how much (A).
        excess: f64,
        /// s
        time: f64,
    },
    /// A value out of its range.
    #[error("{element}: {what} is {found}; {needed}")]
    Value {
        /// Name of the element.
        element: String,
        /// The quantity.
        what: &'static str,
        /// Its value.
        found: f64,
        /// What would do.
        needed: &'static str,
    },
    /// A source or switch whose function panics, or gives no finite number.
    #[error("{0}")]
    Part(String),
    /// Resistances too far apart for the digits of numbers.
    #[error("{} has {} Ω and {} has {} Ω, further apart than numbers of sixteen digits can tell currents and voltages apart; \
             a factor of {most:e} at most is needed (a connection without resistance is one node)",
            .elements[0], .values[0], .elements[1], .values[1])]
    Apart {
        /// The elements of the smallest and the largest resistance.
        elements: [String; 2],
        /// Their values (Ω).
        values: [f64; 2],
        /// The largest factor between them.
        most: f64,
    },
    /// An element between a node and itself.
    #[error("{element} connects node {node:?} with itself; its ends need two nodes")]
    SameNode {
        /// Name of the element.
        element: String,
        /// The node.
        node: String,
    },
    /// A node that only one element knows.
    #[error("node {node:?} has one terminal only, of {element}; two are needed (a large resistor to ground serves as a probe)")]
    Dangling {
        /// The node.
        node: String,
        /// Name of the element.
        element: String,
    },
    /// Ground is missing.
    #[error("no element touches ground; call one node \"0\" or \"gnd\"")]
    NoGround,
    /// Nodes whose potential nothing determines.
    #[error("{} at a floating potential: {}; connect one of them to ground, for example with a large resistor", potential(.nodes), reached(.through))]
    Floating {
        /// The nodes.
        nodes: Vec<String>,
        /// The elements between them and the rest.
        through: Vec<String>,
    },
    /// A loop in which nothing limits the current.
    #[error("{} form a loop without resistance, so that {}; put a resistor in the loop", list(.elements), loop_reason(*.sources))]
    Loop {
        /// Names of its elements.
        elements: Vec<String>,
        /// True where no capacitor takes part.
        sources: bool,
    },
    /// States and sources that depend on each other in another way.
    #[error("{} depend on each other, so that the state is not free; put a resistor between or beside them", list(.elements))]
    Dependent {
        /// Names of the elements.
        elements: Vec<String>,
    },
    /// Nonsmooth elements for which neither current nor voltage can be the multiplier.
    #[error("the circuit around {} determines neither their voltages nor their currents; put a resistor in series with them", list(.elements))]
    Undetermined {
        /// Names of the elements.
        elements: Vec<String>,
    },
    /// Two elements that share a state and start from different values.
    #[error("{first} and {second} share one state, but start from {values:?}; give both the same initial value")]
    Initial {
        /// The first element.
        first: String,
        /// The second element.
        second: String,
        /// Their initial values, both in the direction of the state.
        values: [f64; 2],
    },
    /// A source that is controlled by the current of an element that is not there.
    #[error("{element} is controlled by the current of {through:?}, which is no other element; the circuit has {}", list(.known))]
    UnknownControl {
        /// Name of the source.
        element: String,
        /// The name asked for.
        through: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// A probe of an element that is not there.
    #[error("there is no element {name:?}; the circuit has {}", list(.known))]
    UnknownElement {
        /// The name asked for.
        name: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// A probe of a node that is not there.
    #[error("there is no node {name:?}; the circuit has {}", list(.known))]
    UnknownNode {
        /// The name asked for.
        name: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// The simulation refused the system.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// `a, b and c`, the first twelve of them.
pub(super) fn list(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [head @ .., last] if head.len() < 12 => format!("{} and {last}", head.join(", ")),
        _ => format!("{} and {} more", names[..12].join(", "), names.len() - 12),
    }
}

fn some(nodes: &[String]) -> String {
    format!("node{} {}", if nodes.len() == 1 { "" } else { "s" }, list(nodes))
}

fn potential(names: &[String]) -> String {
    format!("{} {}", some(names), if names.len() == 1 { "is" } else { "are" })
}

fn reached(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing connects them to ground".to_owned();
    }
    format!("{} alone, which set no voltage, connect them to ground", list(names))
}

fn loop_reason(sources: bool) -> &'static str {
    if sources { "its current is not determined" } else { "a jump of a voltage would need an infinite current" }
}
