//! From the netlist to `ẋ = A x + b + B λ`, `y = C x + D λ + e`.
//!
//! ```text
//! unknowns    potentials of nodes, currents of elements; a pair (p, q) for each nonsmooth element
//! equations   Kirchhoff's current law at every node; one equation per element; one more per pair
//!             resistor  v = R i         capacitor  v = x_C        inductor  i = x_L        sources  v = u, i = u
//!             diode     i = p, q = V_f − v                        switch    i = p, q = v
//!             Zener     i = p₁ − p₂, q₁ = V_f − v, q₂ = V_z + v    MOS  i = K/2 Σ s_k (p_k − p'_k), q_k = p_k − (v_GS − V_t − a_k)
//!             CCCS      i = g i_control       CCVS      v = r i_control
//!             BJT       i_CE = Σ s_k (p_k − p'_k), i_BE = Σ s_k p_k/β_F, i_BC = Σ s_k p'_k/β_R, q_k = p_k − (v_BE − a_k)
//! ```
//!
//! Elimination solves for all potentials and currents and for one member of each pair, y; the other one is λ. Which one is free
//! to choose, since `0 ≤ p ⟂ q ≥ 0` reads the same both ways: the largest pivot decides. For that and in λ and y, currents count by the
//! voltage across a reference resistance, the mean of all resistors, so that D is a matrix of plain numbers near one.
//! Capacitors in parallel and inductors in series share a state.

use super::circuit::{Circuit, Element, JUNCTIONS, Kind};
use super::equations::{Equations, Row, RowLaw, Solution};
use super::error::CircuitError;
use super::tableau::Tableau;
use super::waveform::Waveform;
use crate::numerics::admissible::AdmissibleSet;

/// One complementary pair: its columns are `first` for q and `first + 1` for p.
struct Pair {
    element: usize,
    names: [String; 2],
    /// p is a current
    current: bool,
}

/// Columns of the tableau.
struct Layout {
    /// nodes without ground
    nodes: usize,
    elements: usize,
    pairs: Vec<Pair>,
    /// elements that own a state
    states: Vec<usize>,
    /// outputs of comparators
    outputs: Vec<usize>,
    /// elements that are sources; the last column of all is the constant 1
    sources: Vec<usize>,
}

impl Layout {
    fn new(circuit: &Circuit, shared: &[Option<(usize, f64)>], reference: f64) -> Self {
        let mut layout = Self {
            nodes: circuit.nodes.len() - 1,
            elements: circuit.elements.len(),
            pairs: Vec::new(),
            states: Vec::new(),
            outputs: Vec::new(),
            sources: Vec::new(),
        };
        for (e, element) in circuit.elements.iter().enumerate() {
            let name = &element.name;
            let mut pair = |q: String, p: String, current: bool| layout.pairs.push(Pair { element: e, names: [q, p], current });
            match &element.kind {
                Kind::Capacitor { .. } | Kind::Inductor { .. } if shared[e].is_none() => layout.states.push(e),
                Kind::Diode { .. } => pair(format!("-v({name})"), format!("{reference} Ω × i({name})"), true),
                Kind::Switch { .. } => pair(format!("v({name})"), format!("{reference} Ω × i({name})"), true),
                Kind::Zener { .. } => {
                    pair(format!("-v({name})"), format!("{reference} Ω × forward i({name})"), true);
                    pair(format!("v({name}) + V_z"), format!("{reference} Ω × backward i({name})"), true);
                }
                Kind::Mos { model, .. } => {
                    for end in ["source", "drain"] {
                        for k in 1..=model.hinges.len() {
                            pair(format!("slack {k} at {end}({name})"), format!("hinge {k} at {end}({name})"), false);
                        }
                    }
                }
                Kind::Bjt { model, .. } => {
                    for junction in JUNCTIONS {
                        for k in 1..=model.hinges.len() {
                            pair(format!("slack {k} of {junction}({name})"), format!("hinge {k} of {junction}({name})"), false);
                        }
                    }
                }
                Kind::Comparator { .. } => layout.outputs.push(e),
                Kind::VoltageSource { .. } | Kind::CurrentSource { .. } => layout.sources.push(e),
                _ => {}
            }
        }
        layout
    }

    fn unknowns(&self) -> usize {
        self.nodes + self.elements
    }

    fn current(&self, element: usize) -> usize {
        self.nodes + element
    }

    /// q and p
    fn pair(&self, k: usize) -> [usize; 2] {
        let q = self.unknowns() + 2 * k;
        [q, q + 1]
    }

    fn first_pair(&self, element: usize) -> usize {
        self.pairs.partition_point(|p| p.element < element)
    }

    fn given(&self) -> usize {
        self.unknowns() + 2 * self.pairs.len()
    }

    fn state(&self, element: usize) -> usize {
        self.given() + self.states.partition_point(|&e| e < element)
    }

    fn output(&self, element: usize) -> usize {
        self.given() + self.states.len() + self.outputs.partition_point(|&e| e < element)
    }

    fn source(&self, element: usize) -> usize {
        self.given() + self.states.len() + self.outputs.len() + self.sources.partition_point(|&e| e < element)
    }

    fn one(&self) -> usize {
        self.given() + self.states.len() + self.outputs.len() + self.sources.len()
    }
}

pub(super) fn derive(circuit: &Circuit) -> Result<Equations, CircuitError> {
    let shared = shared_states(circuit);
    let start = initial(circuit, &shared)?;
    let reference = reference_resistance(circuit);
    let layout = Layout::new(circuit, &shared, reference);
    let mut tableau = Tableau::new(layout.unknowns() + layout.pairs.len(), layout.one() + 1);
    fill(circuit, &layout, &shared, &mut tableau);
    let mut scales = vec![1.0; layout.given()];
    scales[layout.nodes..layout.unknowns()].fill(1.0 / reference);
    for (k, _) in layout.pairs.iter().enumerate().filter(|(_, pair)| pair.current) {
        scales[layout.pair(k)[1]] = 1.0 / reference;
    }
    tableau.scale(&scales);
    tableau.solve_for(layout.unknowns()).map_err(|column| undetermined(circuit, &layout, &tableau, column))?;
    let pairs: Vec<[usize; 2]> = (0..layout.pairs.len()).map(|k| layout.pair(k)).collect();
    let preferred: Vec<bool> = layout.pairs.iter().map(|p| !p.current).collect();
    tableau.choose(&pairs, &preferred).map_err(|row| dependent(circuit, &layout, &tableau, row))?;
    Ok(Equations::new(circuit, &solution(circuit, &layout, &tableau, &scales[..layout.unknowns()]), &layout.states, start))
}

/// Geometric mean of the resistances as a power of two (Ω): the unit of currents is one volt through it.
fn reference_resistance(circuit: &Circuit) -> f64 {
    let logs = circuit
        .elements
        .iter()
        .filter_map(|e| if let Kind::Resistor { resistance } = e.kind { Some(libm::log2(resistance)) } else { None });
    let (sum, count) = logs.fold((0.0, 0.0f64), |(s, n), x| (s + x, n + 1.0));
    libm::exp2((sum / count.max(1.0)).round())
}

/// For capacitors in parallel and inductors in series: the element whose state they share, and the sign of their own in it.
fn shared_states(circuit: &Circuit) -> Vec<Option<(usize, f64)>> {
    let elements = &circuit.elements;
    let mut shared: Vec<Option<(usize, f64)>> = vec![None; elements.len()];
    let mut join = |i: usize, j: usize, sign: f64| {
        let root = |mut e: usize, mut s: f64| {
            while let Some((up, turn)) = shared[e] {
                (e, s) = (up, s * turn);
            }
            (e, s)
        };
        let ((i, s), (j, t)) = (root(i, 1.0), root(j, sign));
        if i != j {
            shared[i.max(j)] = Some((i.min(j), s * t));
        }
    };
    for (j, b) in elements.iter().enumerate().filter(|(_, e)| matches!(e.kind, Kind::Capacitor { .. })) {
        for (i, a) in elements[..j].iter().enumerate().filter(|(_, e)| matches!(e.kind, Kind::Capacitor { .. })) {
            if a.nodes == b.nodes {
                join(i, j, 1.0);
            } else if a.nodes == [b.nodes[1], b.nodes[0]] {
                join(i, j, -1.0);
            }
        }
    }
    for node in 1..circuit.nodes.len() {
        let ends: Vec<usize> = (0..elements.len()).filter(|&e| elements[e].nodes.contains(&node)).collect();
        if let [i, j] = ends[..]
            && ends.iter().all(|&e| matches!(elements[e].kind, Kind::Inductor { .. }))
        {
            let ends_here = |e: usize| elements[e].nodes[1] == node;
            join(i, j, if ends_here(i) != ends_here(j) { 1.0 } else { -1.0 });
        }
    }
    shared
}

/// Initial value of each element that owns a state; those that share one have to agree.
fn initial(circuit: &Circuit, shared: &[Option<(usize, f64)>]) -> Result<Vec<f64>, CircuitError> {
    let given = |e: &Element| match e.kind {
        Kind::Capacitor { voltage: x, .. } | Kind::Inductor { current: x, .. } => x,
        _ => None,
    };
    let mut start: Vec<Option<(f64, usize)>> = circuit.elements.iter().enumerate().map(|(e, element)| Some((given(element)?, e))).collect();
    for e in 0..start.len() {
        let (mut root, mut sign) = (e, 1.0);
        while let Some((up, turn)) = shared[root] {
            (root, sign) = (up, sign * turn);
        }
        match (start[root], start[e]) {
            (Some((a, first)), Some((b, _))) if a != sign * b => {
                let name = |e: usize| circuit.elements[e].name.clone();
                return Err(CircuitError::Initial { first: name(first), second: name(e), values: [a, sign * b] });
            }
            (None, Some((b, _))) => start[root] = Some((sign * b, e)),
            _ => {}
        }
    }
    Ok(start.into_iter().map(|s| s.map_or(0.0, |(x, _)| x)).collect())
}

fn fill(circuit: &Circuit, layout: &Layout, shared: &[Option<(usize, f64)>], tableau: &mut Tableau) {
    let voltage = |t: &mut Tableau, row: usize, [a, b]: [usize; 2], factor: f64| {
        if a > 0 {
            t.add(row, a - 1, factor);
        }
        if b > 0 {
            t.add(row, b - 1, -factor);
        }
    };
    // the current of a transistor is that of its collector, from which its second junction takes away
    let controlled = |t: &mut Tableau, row: usize, through: &str, factor: f64| {
        if let Some(control) = circuit.find_element(through) {
            t.add(row, layout.current(control), -factor);
            if matches!(circuit.elements[control].kind, Kind::Bjt { .. }) {
                t.add(row, layout.current(control + 2), factor);
            }
        }
    };
    for (e, element) in circuit.elements.iter().enumerate() {
        let (nodes, i, row) = (element.nodes, layout.current(e), layout.nodes + e);
        // Kirchhoff's current law: row n − 1 belongs to node n
        if nodes[0] > 0 {
            tableau.add(nodes[0] - 1, i, 1.0);
        }
        if nodes[1] > 0 {
            tableau.add(nodes[1] - 1, i, -1.0);
        }
        let (first, one) = (layout.first_pair(e), layout.one());
        let pair_row = |k: usize| layout.unknowns() + k;
        match &element.kind {
            Kind::Resistor { resistance } => {
                voltage(tableau, row, nodes, 1.0);
                tableau.add(row, i, -resistance);
            }
            Kind::Capacitor { capacitance, .. } => match shared[e] {
                None => {
                    voltage(tableau, row, nodes, 1.0);
                    tableau.add(row, layout.state(e), -1.0);
                }
                Some((root, sign)) => {
                    let Kind::Capacitor { capacitance: c, .. } = circuit.elements[root].kind else { continue };
                    tableau.add(row, i, 1.0);
                    tableau.add(row, layout.current(root), -sign * capacitance / c);
                }
            },
            Kind::Inductor { inductance, .. } => match shared[e] {
                None => {
                    tableau.add(row, i, 1.0);
                    tableau.add(row, layout.state(e), -1.0);
                }
                Some((root, sign)) => {
                    let Kind::Inductor { inductance: l, .. } = circuit.elements[root].kind else { continue };
                    voltage(tableau, row, nodes, 1.0);
                    voltage(tableau, row, circuit.elements[root].nodes, -sign * inductance / l);
                }
            },
            Kind::VoltageSource { .. } => {
                voltage(tableau, row, nodes, 1.0);
                tableau.add(row, layout.source(e), -1.0);
            }
            Kind::CurrentSource { .. } => {
                tableau.add(row, i, 1.0);
                tableau.add(row, layout.source(e), -1.0);
            }
            Kind::Comparator { .. } => {
                voltage(tableau, row, nodes, 1.0);
                tableau.add(row, layout.output(e), -1.0);
            }
            Kind::Vcvs { input, gain } => {
                voltage(tableau, row, nodes, 1.0);
                voltage(tableau, row, *input, -gain);
            }
            Kind::Vccs { input, gain } => {
                tableau.add(row, i, 1.0);
                voltage(tableau, row, *input, -gain);
            }
            Kind::Cccs { through, gain } => {
                tableau.add(row, i, 1.0);
                controlled(tableau, row, through, *gain);
            }
            Kind::Ccvs { through, resistance } => {
                voltage(tableau, row, nodes, 1.0);
                controlled(tableau, row, through, *resistance);
            }
            Kind::Bjt { base, sign, model } => {
                tableau.add(row, i, 1.0);
                let n = model.hinges.len();
                for (end, (node, direction)) in [(nodes[1], 1.0), (nodes[0], -1.0)].into_iter().enumerate() {
                    for (h, [start, slope]) in model.hinges.iter().enumerate() {
                        let k = first + end * n + h;
                        let [q, p] = layout.pair(k);
                        tableau.add(row, p, -sign * direction * slope);
                        tableau.add(pair_row(k), q, 1.0);
                        tableau.add(pair_row(k), p, -1.0);
                        voltage(tableau, pair_row(k), [*base, node], *sign);
                        tableau.add(pair_row(k), one, -start);
                    }
                }
            }
            Kind::Junction { of, end } => {
                tableau.add(row, i, 1.0);
                let Kind::Bjt { sign, model, .. } = &circuit.elements[*of].kind else { continue };
                let gain = [model.forward_gain, model.reverse_gain][*end];
                for (h, [_, slope]) in model.hinges.iter().enumerate() {
                    let [_, p] = layout.pair(layout.first_pair(*of) + end * model.hinges.len() + h);
                    tableau.add(row, p, -sign * slope / gain);
                }
            }
            Kind::Diode { .. } | Kind::Zener { .. } | Kind::Switch { .. } => {
                tableau.add(row, i, 1.0);
                tableau.add(row, layout.pair(first)[1], -1.0);
                // q = offset − v or v + offset
                let mut law = |k: usize, sign: f64, offset: f64| {
                    tableau.add(pair_row(k), layout.pair(k)[0], 1.0);
                    voltage(tableau, pair_row(k), nodes, sign);
                    tableau.add(pair_row(k), one, -offset);
                };
                match element.kind {
                    Kind::Diode { forward } => law(first, 1.0, forward),
                    Kind::Zener { forward, breakdown } => {
                        law(first, 1.0, forward);
                        law(first + 1, -1.0, breakdown);
                        tableau.add(row, layout.pair(first + 1)[1], 1.0);
                    }
                    _ => law(first, -1.0, 0.0),
                }
            }
            Kind::Mos { gate, sign, model } => {
                tableau.add(row, i, 1.0);
                let n = model.hinges.len();
                for (end, (node, direction)) in [(nodes[1], 1.0), (nodes[0], -1.0)].into_iter().enumerate() {
                    for (h, [start, slope]) in model.hinges.iter().enumerate() {
                        let k = first + end * n + h;
                        let [q, p] = layout.pair(k);
                        tableau.add(row, p, -sign * direction * 0.5 * model.gain * slope);
                        tableau.add(pair_row(k), q, 1.0);
                        tableau.add(pair_row(k), p, -1.0);
                        voltage(tableau, pair_row(k), [*gate, node], *sign);
                        tableau.add(pair_row(k), one, -sign * model.threshold - start);
                    }
                }
            }
        }
    }
}

/// A potential or a current that no equation determines.
fn undetermined(circuit: &Circuit, layout: &Layout, tableau: &Tableau, column: usize) -> CircuitError {
    let moved = tableau.null_vector(column, layout.unknowns());
    let (nodes, currents): (Vec<usize>, Vec<usize>) = moved.into_iter().partition(|&c| c < layout.nodes);
    let elements: Vec<usize> = currents.into_iter().map(|c| c - layout.nodes).collect();
    if nodes.is_empty() {
        let sources = !elements.iter().any(|&e| matches!(circuit.elements[e].kind, Kind::Capacitor { .. }));
        return CircuitError::Loop { elements: circuit.names(elements), sources };
    }
    let inside = |n: usize| n > 0 && nodes.contains(&(n - 1));
    let crosses = |e: &usize| {
        let element = &circuit.elements[*e];
        inside(element.nodes[0]) != inside(element.nodes[1])
    };
    CircuitError::Floating {
        nodes: nodes.iter().map(|&n| circuit.nodes[n + 1].clone()).collect(),
        through: circuit.names((0..layout.elements).filter(crosses)),
    }
}

/// A row without multiplier: states and sources that depend on each other, or pairs that cannot be told apart.
fn dependent(circuit: &Circuit, layout: &Layout, tableau: &Tableau, row: usize) -> CircuitError {
    let row = tableau.row(row);
    let mut pairs: Vec<usize> = (0..layout.pairs.len()).filter(|&k| layout.pair(k).iter().any(|&c| row[c] != 0.0)).collect();
    if pairs.is_empty() {
        let given = layout.states.iter().chain(&layout.outputs).chain(&layout.sources);
        let taking_part = given.zip(&row[layout.given()..]).filter(|(_, a)| **a != 0.0).map(|(e, _)| *e);
        return CircuitError::Dependent { elements: circuit.names(taking_part) };
    }
    pairs.iter_mut().for_each(|k| *k = layout.pairs[*k].element);
    pairs.dedup();
    CircuitError::Undetermined { elements: circuit.names(pairs) }
}

/// Reads all potentials and currents and the rows of the relation off the solved tableau.
fn solution(circuit: &Circuit, layout: &Layout, tableau: &Tableau, scales: &[f64]) -> Solution {
    let multipliers = layout.pairs.len() + layout.outputs.len();
    // rows of the relation in the order of the elements
    let mut order: Vec<(usize, bool, usize)> = layout.pairs.iter().enumerate().map(|(k, pair)| (pair.element, true, k)).collect();
    order.extend(layout.outputs.iter().enumerate().map(|(k, &e)| (e, false, k)));
    order.sort_by_key(|&(element, ..)| element);
    let basic = |k: usize| layout.pair(k).map(|c| tableau.row_of(c));
    let columns: Vec<usize> = order
        .iter()
        .map(
            |&(_, is_pair, k)| {
                if is_pair { layout.pair(k)[usize::from(basic(k)[0].is_some())] } else { layout.given() + layout.states.len() + k }
            },
        )
        .collect();
    let (states, sources) = (layout.states.len(), layout.sources.len() + 1);
    let first_source = layout.given() + states + layout.outputs.len();
    let read = |column: usize| -> Vec<f64> {
        let mut coefficients = vec![0.0; states + multipliers + sources];
        if let Some(at) = columns.iter().position(|c| *c == column) {
            coefficients[states + at] = 1.0;
        } else if let Some(row) = tableau.row_of(column) {
            // potentials and currents in V and A, members of pairs in V
            let (row, scale) = (tableau.row(row), scales.get(column).copied().unwrap_or(1.0));
            // − 0.0 is for the eyes only: no negative zero
            (0..states).for_each(|s| coefficients[s] = 0.0 - scale * row[layout.given() + s]);
            columns.iter().enumerate().for_each(|(m, c)| coefficients[states + m] = 0.0 - scale * row[*c]);
            (0..sources).for_each(|u| coefficients[states + multipliers + u] = 0.0 - scale * row[first_source + u]);
        }
        coefficients
    };
    let values: Vec<Vec<f64>> = (0..layout.unknowns()).map(read).collect();
    let rows = order
        .iter()
        .enumerate()
        .map(|(m, &(element, is_pair, k))| match &circuit.elements[element].kind {
            Kind::Comparator { input, low, high, band } => {
                // λ = low + (high − low)/(band) (v_in − from) inside the band
                let compliance = (band[1] - band[0]) / (high - low);
                let mut y: Vec<f64> = vec![0.0; states + multipliers + sources];
                for (node, sign) in [(input[0], -1.0), (input[1], 1.0)] {
                    if node > 0 {
                        y.iter_mut().zip(&values[node - 1]).for_each(|(y, v)| *y += sign * v);
                    }
                }
                y[states + m] += compliance;
                y[states + multipliers + sources - 1] += band[0] - compliance * low;
                let law = RowLaw::Set(AdmissibleSet::Interval { lower: *low, upper: *high });
                Row { name: format!("out({})", circuit.elements[element].name), y, law }
            }
            kind => {
                debug_assert!(is_pair);
                let solved_for_q = basic(k)[0].is_some();
                let name = layout.pairs[k].names[usize::from(solved_for_q)].clone();
                if let Kind::Switch { closed } = kind {
                    let [q, p] = layout.pair(k).map(read);
                    return Row { name, y: q, law: RowLaw::Switch { closed: closed.clone(), open: p } };
                }
                let y = read(layout.pair(k)[usize::from(!solved_for_q)]);
                Row { name, y, law: RowLaw::Set(AdmissibleSet::NonNegative) }
            }
        })
        .collect();
    let waveform = |&e: &usize| match &circuit.elements[e].kind {
        Kind::VoltageSource { voltage: waveform } | Kind::CurrentSource { current: waveform } => waveform.clone(),
        _ => Waveform::Constant(0.0),
    };
    let waveforms = layout.sources.iter().map(waveform).chain([Waveform::Constant(1.0)]).collect();
    Solution { states, multipliers, values, rows, waveforms }
}
