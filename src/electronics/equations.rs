//! What a circuit becomes, and probes that read voltages and currents off it.

use super::circuit::{Circuit, Condition, Kind, is_ground};
use super::error::CircuitError;
use super::waveform::{Waveform, shown};
use crate::model::dynamical_system::FirstOrder;
use crate::model::law::Law;
use crate::model::operator::Operator;
use crate::model::relation::FirstOrderLinear;
use crate::numerics::admissible::AdmissibleSet;

/// Everything in terms of `(x, λ, sources, 1)`.
pub(super) struct Solution {
    pub(super) states: usize,
    pub(super) multipliers: usize,
    /// potentials of the nodes without ground, then currents of the elements
    pub(super) values: Vec<Vec<f64>>,
    pub(super) rows: Vec<Row>,
    /// one per source, and the constant 1
    pub(super) waveforms: Vec<Waveform>,
}

/// A row of the relation.
pub(super) struct Row {
    /// what its multiplier is
    pub(super) name: String,
    pub(super) y: Vec<f64>,
    pub(super) law: RowLaw,
}

/// What holds between y and λ of a row.
pub(super) enum RowLaw {
    Set(AdmissibleSet),
    /// `y = 0` where closed, `open = 0` elsewhere
    Switch {
        closed: Condition,
        open: Vec<f64>,
    },
}

/// `ẋ = A x + b + B λ`, `y = C x + D λ + e` and the law between y and λ, derived from a [`Circuit`].
///
/// ```
/// use drystone::{electronics::Circuit, model::law::Law};
/// // an LC oscillator beside a diode with a resistor
/// let mut c = Circuit::new();
/// c.capacitor("C", "a", "0", 1e-6).voltage(10.0);
/// c.inductor("L", "a", "0", 1e-2);
/// c.diode("D", "0", "k");
/// c.resistor("R", "k", "a", 1e3);
/// let equations = c.equations()?;
/// assert_eq!(equations.system.x, [10.0, 0.0]);
/// assert_eq!((equations.relation.rows, &equations.law), (1, &Law::Complementarity));
/// # Ok::<(), drystone::electronics::CircuitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Equations {
    /// The system: capacitor voltages and inductor currents, without states where there are none.
    pub system: FirstOrder,
    /// C, D, e, B; without rows where all elements are linear.
    pub relation: FirstOrderLinear,
    /// The law of each row.
    pub law: Law,
    state_names: Vec<String>,
    row_names: Vec<String>,
    nodes: Vec<String>,
    elements: Vec<String>,
    /// terminals of each element
    ends: Vec<[usize; 2]>,
    /// bipolar ones, whose two junctions follow them
    transistors: Vec<usize>,
    /// elements with rows in the relation
    nonsmooth: Vec<usize>,
    values: Vec<Output>,
}

impl Equations {
    /// `owners` are the elements of the states, `start` the initial value of each element.
    pub(super) fn new(circuit: &Circuit, solution: &Solution, owners: &[usize], start: Vec<f64>) -> Self {
        let Solution { states: n, multipliers: m, values, rows, waveforms } = solution;
        let (n, m, nodes) = (*n, *m, circuit.nodes.len() - 1);
        let zero = vec![0.0; n + m + waveforms.len()];
        let potential = |node: usize| if node == 0 { &zero } else { &values[node - 1] };
        let rates: Vec<Vec<f64>> = owners
            .iter()
            .map(|&e| {
                let element = &circuit.elements[e];
                match element.kind {
                    Kind::Capacitor { capacitance, .. } => values[nodes + e].iter().map(|i| i / capacitance).collect(),
                    Kind::Inductor { inductance, .. } => {
                        let [a, b] = element.nodes.map(potential);
                        a.iter().zip(b).map(|(a, b)| (a - b) / inductance).collect()
                    }
                    _ => zero.clone(),
                }
            })
            .collect();
        let closed: Vec<&[f64]> = rows.iter().map(|r| &r.y[..]).collect();
        let open = rows.iter().map(|r| if let RowLaw::Switch { open, .. } = &r.law { &open[..] } else { &r.y[..] }).collect();
        let switches: Vec<(usize, Condition)> = rows
            .iter()
            .enumerate()
            .filter_map(|(i, r)| if let RowLaw::Switch { closed, .. } = &r.law { Some((i, closed.clone())) } else { None })
            .collect();
        let rates: Vec<&[f64]> = rates.iter().map(|r| &r[..]).collect();
        let variants: [Vec<&[f64]>; 2] = [closed, open];
        let part = |from: usize, to: usize| {
            let [closed, open] = &variants;
            matrix(cut(closed, from, to), cut(open, from, to), to - from, &switches)
        };
        let input = |rows: &[Vec<&[f64]>; 2], switches: &[(usize, Condition)]| {
            vector(rows.each_ref().map(|rows| cut(rows, n + m, n + m + waveforms.len())), waveforms, switches)
        };
        let a = cut(&rates, 0, n);
        let b = cut(&rates, n, n + m);
        let system =
            FirstOrder::linear(a, owners.iter().map(|&e| start[e]).collect::<Vec<_>>()).with_input(input(&[rates.clone(), rates], &[]));
        let relation = FirstOrderLinear::new(m, part(0, n), b).with_d(part(n, n + m)).with_e(input(&variants, &switches));
        let sets: Vec<AdmissibleSet> = rows.iter().map(|r| if let RowLaw::Set(set) = r.law { set } else { AdmissibleSet::Free }).collect();
        let law = if sets.iter().all(|s| *s == AdmissibleSet::NonNegative) { Law::Complementarity } else { Law::Rows(sets) };
        let state_name = |&e: &usize| {
            let kind = if matches!(circuit.elements[e].kind, Kind::Capacitor { .. }) { "v" } else { "i" };
            format!("{kind}({})", circuit.elements[e].name)
        };
        Self {
            system,
            relation,
            law,
            state_names: owners.iter().map(state_name).collect(),
            row_names: rows.iter().map(|r| r.name.clone()).collect(),
            nodes: circuit.nodes.clone(),
            elements: circuit.elements.iter().map(|e| e.name.clone()).collect(),
            ends: circuit.elements.iter().map(|e| e.nodes).collect(),
            transistors: (0..circuit.elements.len()).filter(|&e| matches!(circuit.elements[e].kind, Kind::Bjt { .. })).collect(),
            nonsmooth: (0..circuit.elements.len()).filter(|&e| circuit.elements[e].kind.is_nonsmooth()).collect(),
            values: values.iter().map(|v| Output::new(v, n, m, waveforms)).collect(),
        }
    }

    /// `v(C1)` for the voltage of a capacitor, `i(L1)` for the current of an inductor.
    pub fn state_names(&self) -> &[String] {
        &self.state_names
    }

    /// What the multiplier of each row is, e.g. `1024 Ω × i(D1)` or `-v(D1)`; currents count by their voltage across a reference
    /// resistance, and so they do in y.
    pub fn row_names(&self) -> &[String] {
        &self.row_names
    }

    /// The voltage of node a against node b.
    pub fn voltage(&self, a: &str, b: &str) -> Result<Output, CircuitError> {
        Ok(self.potential(a)?.minus(&self.potential(b)?))
    }

    /// The voltage of an element: that of its first terminal against the second (anode and cathode, drain and source, collector and
    /// emitter, plus and minus).
    pub fn voltage_across(&self, element: &str) -> Result<Output, CircuitError> {
        let [a, b] = self.ends[self.element(element)?];
        Ok(self.potential_of(a).minus(&self.potential_of(b)))
    }

    /// The current of an element from its first terminal to its second (anode to cathode, drain to source, plus to minus). Of a bipolar
    /// transistor Q it is that of the collector, inwards; `Q.base` is that of the base, inwards, `Q.emitter` that of the emitter, outwards.
    pub fn current(&self, element: &str) -> Result<Output, CircuitError> {
        let value = |e: usize| self.values[self.nodes.len() - 1 + e].clone();
        for (terminal, parts) in [(".base", [1, 2]), (".emitter", [0, 1])] {
            if let Some(&e) = self.transistors.iter().find(|&&e| element.strip_suffix(terminal) == Some(self.elements[e].as_str())) {
                return Ok(value(e + parts[0]).plus(&value(e + parts[1])));
            }
        }
        let e = self.element(element)?;
        Ok(if self.transistors.contains(&e) { value(e).minus(&value(e + 2)) } else { value(e) })
    }

    /// Names of the elements, in their order; the junctions of bipolar transistors are elements of their own.
    pub fn element_names(&self) -> &[String] {
        &self.elements
    }

    /// Names of the elements that have rows in the relation.
    pub(super) fn nonsmooth_names(&self) -> Vec<String> {
        self.nonsmooth.iter().map(|&e| self.elements[e].clone()).collect()
    }

    fn element(&self, name: &str) -> Result<usize, CircuitError> {
        let unknown = || CircuitError::UnknownElement { name: name.to_owned(), known: self.elements.clone() };
        self.elements.iter().position(|n| n == name).ok_or_else(unknown)
    }

    fn potential_of(&self, node: usize) -> Output {
        if node == 0 { Output::zero(self.system.x.len(), self.relation.rows) } else { self.values[node - 1].clone() }
    }

    fn potential(&self, node: &str) -> Result<Output, CircuitError> {
        if is_ground(node) {
            return Ok(Output::zero(self.system.x.len(), self.relation.rows));
        }
        match self.nodes.iter().position(|n| n == node) {
            Some(at) => Ok(self.values[at - 1].clone()),
            None => Err(CircuitError::UnknownNode { name: node.to_owned(), known: self.nodes.clone() }),
        }
    }
}

/// Some columns of all rows, row by row.
fn cut(rows: &[&[f64]], from: usize, to: usize) -> Vec<f64> {
    rows.iter().flat_map(|r| r[from..to].iter().copied()).collect()
}

/// A matrix whose rows change with switches.
fn matrix(closed: Vec<f64>, open: Vec<f64>, columns: usize, switches: &[(usize, Condition)]) -> Operator {
    if switches.is_empty() {
        return Operator::Constant(closed);
    }
    let switches = switches.to_vec();
    Operator::function(move |at, out| {
        out.copy_from_slice(&closed);
        for (row, condition) in &switches {
            if !condition(at.t) {
                let range = row * columns..(row + 1) * columns;
                out[range.clone()].copy_from_slice(&open[range]);
            }
        }
    })
}

/// `Σ coefficient × waveform` per row, the coefficients of rows of switches changing with them.
fn vector([closed, open]: [Vec<f64>; 2], waveforms: &[Waveform], switches: &[(usize, Condition)]) -> Operator {
    let columns = waveforms.len();
    let fixed = |coefficients: &[f64]| -> Vec<f64> {
        let constant = |(a, s): (&f64, &Waveform)| if let Waveform::Constant(value) = s { a * value } else { 0.0 };
        coefficients.chunks_exact(columns).map(|row| row.iter().zip(waveforms).map(constant).sum()).collect()
    };
    let (fixed_closed, fixed_open) = (fixed(&closed), fixed(&open));
    let acts = |u: usize| closed.iter().chain(&open).skip(u).step_by(columns).any(|a| *a != 0.0);
    let moving: Vec<(usize, Waveform)> =
        waveforms.iter().enumerate().filter(|(u, s)| matches!(s, Waveform::Function(_)) && acts(*u)).map(|(u, s)| (u, s.clone())).collect();
    let switches: Vec<(usize, Condition)> = switches.to_vec();
    let same = closed == open;
    if moving.is_empty() && (switches.is_empty() || same) {
        return if fixed_closed.iter().all(|e| *e == 0.0) { Operator::Zero } else { Operator::Constant(fixed_closed) };
    }
    Operator::function(move |at, out| {
        out.copy_from_slice(&fixed_closed);
        for (row, condition) in &switches {
            if !condition(at.t) {
                out[*row] = fixed_open[*row];
            }
        }
        for (u, waveform) in &moving {
            let value = waveform.at(at.t);
            out.iter_mut().zip(closed.iter().skip(*u).step_by(columns)).for_each(|(e, a)| *e += a * value);
            for (row, condition) in &switches {
                let change = open[row * columns + u] - closed[row * columns + u];
                if change != 0.0 && !condition(at.t) {
                    out[*row] += change * value;
                }
            }
        }
    })
}

/// A voltage (V) or current (A) of a circuit, linear in state, multipliers and sources.
///
/// ```
/// use drystone::electronics::Circuit;
/// let mut c = Circuit::new();
/// c.voltage_source("V", "in", "0", |t: f64| 6.0 * t);
/// c.resistor("R", "in", "out", 2.0);
/// c.capacitor("C", "out", "0", 1.0);
/// let equations = c.equations()?;
/// // (6 V − 2 V)/2 Ω
/// assert_eq!(equations.current("R")?.at(1.0, &[2.0], &[]), 2.0);
/// assert_eq!(equations.voltage("in", "out")?.at(1.0, &[2.0], &[]), 4.0);
/// # Ok::<(), drystone::electronics::CircuitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Output {
    x: Vec<f64>,
    lambda: Vec<f64>,
    sources: Vec<(f64, Waveform)>,
    constant: f64,
}

impl Output {
    fn zero(states: usize, multipliers: usize) -> Self {
        Self { x: vec![0.0; states], lambda: vec![0.0; multipliers], sources: Vec::new(), constant: 0.0 }
    }

    fn new(coefficients: &[f64], states: usize, multipliers: usize, waveforms: &[Waveform]) -> Self {
        let mut output = Self::zero(states, multipliers);
        let (x, rest) = coefficients.split_at(states);
        let (lambda, sources) = rest.split_at(multipliers);
        output.x.copy_from_slice(x);
        output.lambda.copy_from_slice(lambda);
        for (&factor, waveform) in sources.iter().zip(waveforms) {
            match waveform {
                Waveform::Constant(value) => output.constant += factor * value,
                Waveform::Function(_) if factor != 0.0 => output.sources.push((factor, waveform.clone())),
                Waveform::Function(_) => {}
            }
        }
        output
    }

    fn minus(self, other: &Self) -> Self {
        self.combined(other, -1.0)
    }

    fn plus(self, other: &Self) -> Self {
        self.combined(other, 1.0)
    }

    fn combined(mut self, other: &Self, sign: f64) -> Self {
        self.x.iter_mut().zip(&other.x).for_each(|(a, b)| *a += sign * b);
        self.lambda.iter_mut().zip(&other.lambda).for_each(|(a, b)| *a += sign * b);
        self.sources.extend(other.sources.iter().map(|(factor, waveform)| (sign * factor, waveform.clone())));
        self.constant += sign * other.constant;
        self
    }

    /// The value at time t (s) for this state and these multipliers; not a number where the function of a source panics.
    pub fn at(&self, t: f64, x: &[f64], lambda: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let sources: f64 = self.sources.iter().map(|(factor, waveform)| factor * shown(|| waveform.at(t), f64::NAN)).sum();
        dot(&self.x, x) + dot(&self.lambda, lambda) + sources + self.constant
    }
}
