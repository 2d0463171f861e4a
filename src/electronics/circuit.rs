//! The netlist: named elements between named nodes.

use super::bjt::BjtModel;
use super::mos::MosModel;
use super::waveform::Waveform;
use std::sync::Arc;

/// When a switch is closed.
pub(super) type Condition = Arc<dyn Fn(f64) -> bool + Send + Sync>;

/// What an element does; voltages are those of its first terminal against the second, currents go from the first to the second.
#[derive(Clone)]
pub(super) enum Kind {
    Resistor {
        resistance: f64,
    },
    Inductor {
        inductance: f64,
        current: Option<f64>,
    },
    Capacitor {
        capacitance: f64,
        voltage: Option<f64>,
    },
    Diode {
        forward: f64,
    },
    Zener {
        forward: f64,
        breakdown: f64,
    },
    Switch {
        closed: Condition,
    },
    VoltageSource {
        voltage: Waveform,
    },
    CurrentSource {
        current: Waveform,
    },
    Comparator {
        input: [usize; 2],
        low: f64,
        high: f64,
        band: [f64; 2],
    },
    /// drain and source are the terminals; `sign` is 1 for n-type, −1 for p-type
    Mos {
        gate: usize,
        sign: f64,
        model: MosModel,
    },
    Vcvs {
        input: [usize; 2],
        gain: f64,
    },
    Vccs {
        input: [usize; 2],
        gain: f64,
    },
    /// controlled by the current of an element, by name
    Cccs {
        through: String,
        gain: f64,
    },
    Ccvs {
        through: String,
        resistance: f64,
    },
    /// collector and emitter are the terminals, the current is that between them; two junctions follow
    Bjt {
        base: usize,
        sign: f64,
        model: BjtModel,
    },
    /// what flows through a junction of the transistor `of` into its base: to the emitter (`end` 0) or the collector (1)
    Junction {
        of: usize,
        end: usize,
    },
}

impl Kind {
    /// True where it has rows in the relation of the circuit.
    pub(super) fn is_nonsmooth(&self) -> bool {
        matches!(
            self,
            Self::Diode { .. } | Self::Zener { .. } | Self::Switch { .. } | Self::Comparator { .. } | Self::Mos { .. } | Self::Bjt { .. }
        )
    }

    /// Nodes whose potential the element reads without drawing current.
    pub(super) fn sensed(&self) -> &[usize] {
        match self {
            Self::Comparator { input, .. } | Self::Vcvs { input, .. } | Self::Vccs { input, .. } => input,
            Self::Mos { gate, .. } => std::slice::from_ref(gate),
            Self::Bjt { base, .. } => std::slice::from_ref(base),
            _ => &[],
        }
    }
}

#[derive(Clone)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) nodes: [usize; 2],
    pub(super) kind: Kind,
}

/// Name and nodes: what an element does may be a function.
impl std::fmt::Debug for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Element").field("name", &self.name).field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// A circuit under construction. Node `"0"` or `"gnd"` is ground; other nodes exist from their first mention on.
///
/// Mistakes are reported by [`equations`](Self::equations), all elements being known.
///
/// ```
/// use drystone::electronics::Circuit;
/// // a capacitor of 10 V empties itself through a resistor, 1 ms
/// let mut c = Circuit::new();
/// c.capacitor("C1", "a", "0", 1e-6).voltage(10.0);
/// c.resistor("R1", "a", "0", 1e3);
/// let equations = c.equations()?;
/// assert_eq!(equations.state_names(), ["v(C1)"]);
/// let current = equations.current("R1")?;
/// assert_eq!(current.at(0.0, &[10.0], &[]), 0.01);
/// # Ok::<(), drystone::electronics::CircuitError>(())
/// ```
#[derive(Clone)]
pub struct Circuit {
    /// names; ground first
    pub(super) nodes: Vec<String>,
    pub(super) elements: Vec<Element>,
}

/// As [`new`](Circuit::new): ground is there from the start.
///
/// ```
/// use drystone::electronics::Circuit;
/// let mut c = Circuit::default();
/// c.capacitor("C1", "a", "0", 1e-6).voltage(10.0);
/// c.resistor("R1", "a", "0", 1e3);
/// assert_eq!(c.equations()?.current("R1")?.at(0.0, &[10.0], &[]), 0.01);
/// # Ok::<(), drystone::electronics::CircuitError>(())
/// ```
impl Default for Circuit {
    fn default() -> Self {
        Self::new()
    }
}

impl Circuit {
    /// An empty circuit.
    pub fn new() -> Self {
        Self { nodes: vec!["0".to_owned()], elements: Vec::new() }
    }

    /// The number of a node, which is made where it is new.
    fn node(&mut self, name: &str) -> usize {
        self.find_node(name).unwrap_or_else(|| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        })
    }

    pub(super) fn find_node(&self, name: &str) -> Option<usize> {
        if is_ground(name) { Some(0) } else { self.nodes.iter().position(|n| n == name) }
    }

    pub(super) fn find_element(&self, name: &str) -> Option<usize> {
        self.elements.iter().position(|e| e.name == name)
    }

    fn add(&mut self, name: &str, a: &str, b: &str, kind: Kind) -> &mut Element {
        let nodes = [self.node(a), self.node(b)];
        self.elements.push(Element { name: name.to_owned(), nodes, kind });
        let last = self.elements.len() - 1;
        &mut self.elements[last]
    }

    /// `v = R i`, R in Ω.
    pub fn resistor(&mut self, name: &str, a: &str, b: &str, resistance: f64) {
        self.add(name, a, b, Kind::Resistor { resistance });
    }

    /// `L di/dt = v`, L in H; without [`current`](PlacedInductor::current) it starts from 0 A.
    pub fn inductor(&mut self, name: &str, a: &str, b: &str, inductance: f64) -> PlacedInductor<'_> {
        PlacedInductor(self.add(name, a, b, Kind::Inductor { inductance, current: None }))
    }

    /// `C dv/dt = i`, C in F; without [`voltage`](PlacedCapacitor::voltage) it starts from 0 V.
    pub fn capacitor(&mut self, name: &str, a: &str, b: &str, capacitance: f64) -> PlacedCapacitor<'_> {
        PlacedCapacitor(self.add(name, a, b, Kind::Capacitor { capacitance, voltage: None }))
    }

    /// An ideal diode: `0 ≤ i ⟂ V_f − v ≥ 0` with V_f = 0 unless [`forward_voltage`](PlacedDiode::forward_voltage) sets it.
    pub fn diode(&mut self, name: &str, anode: &str, cathode: &str) -> PlacedDiode<'_> {
        PlacedDiode(self.add(name, anode, cathode, Kind::Diode { forward: 0.0 }))
    }

    /// An ideal Zener diode: current flows forward at `v = V_f` (0 unless set), backward at `v = −V_z`, and not at all between.
    pub fn zener(&mut self, name: &str, anode: &str, cathode: &str, breakdown: f64) -> PlacedDiode<'_> {
        PlacedDiode(self.add(name, anode, cathode, Kind::Zener { forward: 0.0, breakdown }))
    }

    /// An ideal switch: `v = 0` where `closed(t)` is true, `i = 0` elsewhere.
    pub fn switch(&mut self, name: &str, a: &str, b: &str, closed: impl Fn(f64) -> bool + Send + Sync + 'static) {
        self.add(name, a, b, Kind::Switch { closed: Arc::new(closed) });
    }

    /// `v(plus) − v(minus) = u(t)`, in V; a closure is written `|t: f64| …`.
    pub fn voltage_source(&mut self, name: &str, plus: &str, minus: &str, voltage: impl Into<Waveform>) {
        self.add(name, plus, minus, Kind::VoltageSource { voltage: voltage.into() });
    }

    /// A current (A) that leaves the circuit at `from` and comes back at `to`; a closure is written `|t: f64| …`.
    pub fn current_source(&mut self, name: &str, from: &str, to: &str, current: impl Into<Waveform>) {
        self.add(name, from, to, Kind::CurrentSource { current: current.into() });
    }

    /// Its output is `low` (V) where `v(plus) < v(minus)` and `high` where `v(plus) > v(minus)`; every value between where they are
    /// equal, or along the straight line of a [`band`](PlacedComparator::band). The inputs draw no current.
    /// With positive feedback (a Schmitt trigger) a start in the middle of its band is a solution that lasts, if no real one: start at a side.
    pub fn comparator(&mut self, name: &str, plus: &str, minus: &str, output: &str, low: f64, high: f64) -> PlacedComparator<'_> {
        let input = [self.node(plus), self.node(minus)];
        PlacedComparator(self.add(name, output, "0", Kind::Comparator { input, low, high, band: [0.0; 2] }))
    }

    /// An n-type MOS transistor; its current goes from drain to source, its gate draws none.
    pub fn nmos(&mut self, name: &str, drain: &str, gate: &str, source: &str, model: MosModel) {
        let gate = self.node(gate);
        self.add(name, drain, source, Kind::Mos { gate, sign: 1.0, model });
    }

    /// A p-type MOS transistor: the mirror image, with a negative threshold.
    pub fn pmos(&mut self, name: &str, drain: &str, gate: &str, source: &str, model: MosModel) {
        let gate = self.node(gate);
        self.add(name, drain, source, Kind::Mos { gate, sign: -1.0, model });
    }

    /// A voltage source controlled by a voltage: `v(plus) − v(minus) = gain × (v(input[0]) − v(input[1]))`.
    pub fn vcvs(&mut self, name: &str, plus: &str, minus: &str, input: [&str; 2], gain: f64) {
        let input = input.map(|n| self.node(n));
        self.add(name, plus, minus, Kind::Vcvs { input, gain });
    }

    /// A current source controlled by a voltage: `gain × (v(input[0]) − v(input[1]))` flows from `from` through the source to `to`;
    /// the gain is in A/V.
    pub fn vccs(&mut self, name: &str, from: &str, to: &str, input: [&str; 2], gain: f64) {
        let input = input.map(|n| self.node(n));
        self.add(name, from, to, Kind::Vccs { input, gain });
    }

    /// A current source controlled by a current: `gain × i(through)` flows from `from` through the source to `to`, `through` being any
    /// other element, counted from its first terminal to its second; of a bipolar transistor it is the current of the collector, inwards.
    pub fn cccs(&mut self, name: &str, from: &str, to: &str, through: &str, gain: f64) {
        self.add(name, from, to, Kind::Cccs { through: through.to_owned(), gain });
    }

    /// A voltage source controlled by a current: `v(plus) − v(minus) = resistance × i(through)`, in Ω.
    pub fn ccvs(&mut self, name: &str, plus: &str, minus: &str, through: &str, resistance: f64) {
        self.add(name, plus, minus, Kind::Ccvs { through: through.to_owned(), resistance });
    }

    /// An npn transistor by Ebers and Moll. Its current by name is that of the collector, inwards; `NAME.base` is that of the base, inwards,
    /// `NAME.emitter` that of the emitter, outwards.
    pub fn npn(&mut self, name: &str, collector: &str, base: &str, emitter: &str, model: BjtModel) {
        self.bjt(name, [collector, base, emitter], 1.0, model);
    }

    /// A pnp transistor: the mirror image, all voltages and currents with the other sign. Currents count as for npn, so that they are
    /// negative where it conducts.
    pub fn pnp(&mut self, name: &str, collector: &str, base: &str, emitter: &str, model: BjtModel) {
        self.bjt(name, [collector, base, emitter], -1.0, model);
    }

    fn bjt(&mut self, name: &str, [collector, base, emitter]: [&str; 3], sign: f64, model: BjtModel) {
        let (of, node) = (self.elements.len(), self.node(base));
        self.add(name, collector, emitter, Kind::Bjt { base: node, sign, model });
        for (end, other) in [emitter, collector].into_iter().enumerate() {
            self.add(&format!("{name}.{}", JUNCTIONS[end]), base, other, Kind::Junction { of, end });
        }
    }

    pub(super) fn names(&self, elements: impl IntoIterator<Item = usize>) -> Vec<String> {
        elements.into_iter().map(|e| self.elements[e].name.clone()).collect()
    }
}

impl std::fmt::Debug for Circuit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut map = f.debug_map();
        for e in &self.elements {
            map.entry(&e.name, &e.nodes.map(|n| &self.nodes[n]));
        }
        map.finish()
    }
}

/// Junctions of a transistor, after its name and a dot.
pub(super) const JUNCTIONS: [&str; 2] = ["base-emitter", "base-collector"];

pub(super) fn is_ground(name: &str) -> bool {
    name == "0" || name.eq_ignore_ascii_case("gnd")
}

/// An inductor that was just placed.
///
/// ```
/// let mut c = drystone::electronics::Circuit::new();
/// c.inductor("L1", "a", "0", 1e-2).current(0.5);
/// ```
#[derive(Debug)]
pub struct PlacedInductor<'a>(&'a mut Element);

impl PlacedInductor<'_> {
    /// Sets the current at the start (A).
    pub fn current(self, start: f64) {
        if let Kind::Inductor { current, .. } = &mut self.0.kind {
            *current = Some(start);
        }
    }
}

/// A capacitor that was just placed.
///
/// ```
/// let mut c = drystone::electronics::Circuit::new();
/// c.capacitor("C1", "a", "0", 1e-6).voltage(10.0);
/// ```
#[derive(Debug)]
pub struct PlacedCapacitor<'a>(&'a mut Element);

impl PlacedCapacitor<'_> {
    /// Sets the voltage at the start (V).
    pub fn voltage(self, start: f64) {
        if let Kind::Capacitor { voltage, .. } = &mut self.0.kind {
            *voltage = Some(start);
        }
    }
}

/// A diode or Zener diode that was just placed.
///
/// ```
/// let mut c = drystone::electronics::Circuit::new();
/// c.diode("D1", "a", "k").forward_voltage(0.7);
/// ```
#[derive(Debug)]
pub struct PlacedDiode<'a>(&'a mut Element);

impl PlacedDiode<'_> {
    /// Sets the voltage at which it conducts (V).
    pub fn forward_voltage(self, voltage: f64) {
        if let Kind::Diode { forward } | Kind::Zener { forward, .. } = &mut self.0.kind {
            *forward = voltage;
        }
    }
}

/// A comparator that was just placed.
///
/// ```
/// let mut c = drystone::electronics::Circuit::new();
/// c.comparator("U1", "plus", "minus", "out", 0.0, 5.0).band(-0.1, 0.1);
/// ```
#[derive(Debug)]
pub struct PlacedComparator<'a>(&'a mut Element);

impl PlacedComparator<'_> {
    /// Sets the input voltages (V) between which the output rises in a straight line from low to high.
    pub fn band(self, from: f64, to: f64) {
        if let Kind::Comparator { band, .. } = &mut self.0.kind {
            *band = [from, to];
        }
    }
}
