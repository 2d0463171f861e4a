//! Loops of ideal elements whose voltages exclude each other, a source across a diode that it drives forward; and cuts whose currents do, a
//! source into a diode that it drives backward.
//!
//! ```text
//! source       v(+) − v(−) = u                closed switch   v(a) − v(b) = 0
//! diode        v(a) − v(k) ≤ V_f              Zener           −V_z ≤ v(a) − v(k) ≤ V_f
//! comparator   low ≤ v(out) ≤ high
//! ```
//!
//! Each is a difference of two potentials with a bound. Such bounds can be met unless they add up to less than nothing around a loop, which
//! Bellman and Ford's shortest paths find. What limits no voltage, as a resistor, or keeps its own, as a capacitor, is in no such loop.
//!
//! ```text
//! source       i = I                          open switch     i = 0           diode        i ≥ 0
//! ```
//!
//! Whatever else connects two nodes makes one of them. Current that sources bring to a node has to leave it, or what diodes lead to from there;
//! what they take away has to come to it, or what diodes lead from.

use super::circuit::{Circuit, Kind};
use super::error::CircuitError;
use super::waveform::{Waveform, shown};

/// `v(to) − v(from) ≤ bound`
struct Bound {
    from: usize,
    to: usize,
    bound: f64,
    element: usize,
}

/// Below this share of the voltages around it a loop misses by rounding.
const ROUNDING: f64 = 1e-9;

/// What constant sources drive against elements that do not change.
pub(super) fn constant(circuit: &Circuit) -> Option<CircuitError> {
    find(circuit, 0.0, |kind| match kind {
        Kind::VoltageSource { voltage: source } | Kind::CurrentSource { current: source } => matches!(source, Waveform::Constant(_)),
        Kind::Switch { .. } => false,
        _ => true,
    })
}

/// The same at a time, with all sources and switches as they are then.
pub(super) fn at(circuit: &Circuit, t: f64) -> Option<CircuitError> {
    find(circuit, t, |_| true)
}

fn find(circuit: &Circuit, t: f64, counts: impl Fn(&Kind) -> bool) -> Option<CircuitError> {
    around_a_loop(circuit, t, &counts).or_else(|| through_a_cut(circuit, t, &counts))
}

/// Eleven digits: what is left of 5 − 0.7 reads as 4.3.
fn rounded(excess: f64) -> f64 {
    format!("{excess:.10e}").parse().unwrap_or(excess)
}

fn through_a_cut(circuit: &Circuit, t: f64, counts: impl Fn(&Kind) -> bool) -> Option<CircuitError> {
    let n = circuit.nodes.len();
    let mut group: Vec<usize> = (0..n).collect();
    let (mut brought, mut size) = (vec![0.0; n], 0.0);
    let mut diodes = Vec::new();
    let mut limited = Vec::new();
    for (element, e) in circuit.elements.iter().enumerate() {
        let [a, b] = e.nodes;
        let current = match &e.kind {
            kind if !counts(kind) => f64::NAN,
            Kind::CurrentSource { current } => shown(|| current.at(t), f64::NAN),
            Kind::Switch { closed } if !shown(|| closed(t), true) => 0.0,
            Kind::Diode { .. } => {
                diodes.push([a, b]);
                0.0
            }
            _ => f64::NAN,
        };
        if current.is_finite() {
            limited.push(element);
            (brought[a], brought[b]) = (brought[a] - current, brought[b] + current);
            size += current.abs();
        } else {
            let (from, to) = (group[a], group[b]);
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    }
    let side = |start: usize, [from, to]: [usize; 2]| {
        let mut inside: Vec<bool> = group.iter().map(|g| *g == group[start]).collect();
        while let Some(reached) = diodes.iter().find(|d| inside[d[from]] && !inside[d[to]]).map(|d| group[d[to]]) {
            inside.iter_mut().zip(&group).filter(|(_, g)| **g == reached).for_each(|(inside, _)| *inside = true);
        }
        inside
    };
    let ways = [([0, 1], 1.0), ([1, 0], -1.0)];
    let cuts = (0..n).flat_map(|start| ways.map(|(way, sign)| (side(start, way), sign)));
    let excess = |inside: &[bool], sign: f64| sign * brought.iter().zip(inside).filter(|(_, i)| **i).map(|(b, _)| b).sum::<f64>();
    let cut = cuts.map(|(inside, sign)| (excess(&inside, sign), inside)).filter(|(excess, _)| *excess > ROUNDING * size);
    let (excess, mut inside) = cut.min_by_key(|(_, inside)| inside.iter().filter(|i| **i).count())?;
    limited.retain(|&e| inside[circuit.elements[e].nodes[0]] != inside[circuit.elements[e].nodes[1]]);
    // named is the side without ground
    if inside[0] {
        inside.iter_mut().for_each(|i| *i = !*i);
    }
    let nodes = (0..n).filter(|&k| inside[k]).map(|k| circuit.nodes[k].clone()).collect();
    Some(CircuitError::Cut { elements: circuit.names(limited), nodes, excess: rounded(excess), time: t })
}

fn around_a_loop(circuit: &Circuit, t: f64, counts: impl Fn(&Kind) -> bool) -> Option<CircuitError> {
    let mut bounds = Vec::new();
    for (element, e) in circuit.elements.iter().enumerate().filter(|(_, e)| counts(&e.kind)) {
        let (lower, upper) = match &e.kind {
            Kind::VoltageSource { voltage } => {
                let u = shown(|| voltage.at(t), f64::NAN);
                (u, u)
            }
            Kind::Switch { closed } if shown(|| closed(t), false) => (0.0, 0.0),
            Kind::Diode { forward } => (f64::NEG_INFINITY, *forward),
            Kind::Zener { forward, breakdown } => (-breakdown, *forward),
            Kind::Comparator { low, high, .. } => (*low, *high),
            _ => continue,
        };
        let [a, b] = e.nodes;
        bounds.push(Bound { from: b, to: a, bound: upper, element });
        if lower.is_finite() {
            bounds.push(Bound { from: a, to: b, bound: -lower, element });
        }
    }
    let scale = bounds.iter().fold(0.0, |s: f64, b| s.max(b.bound.abs()));
    let mut potential = vec![0.0; circuit.nodes.len()];
    let mut by: Vec<Option<usize>> = vec![None; circuit.nodes.len()];
    let mut last = None;
    for _ in 0..=circuit.nodes.len() {
        last = None;
        for (k, b) in bounds.iter().enumerate() {
            let reached = potential[b.from] + b.bound;
            if reached < potential[b.to] - ROUNDING * scale {
                (potential[b.to], by[b.to]) = (reached, Some(k));
                last = Some(b.to);
            }
        }
        last?;
    }
    // what still falls hangs on a loop, which is reached going back as many times as there are nodes
    let mut node = last?;
    for _ in 0..circuit.nodes.len() {
        node = bounds[by[node]?].from;
    }
    let (start, mut around, mut sum) = (node, Vec::new(), 0.0);
    loop {
        let b = &bounds[by[node]?];
        around.push(b.element);
        sum += b.bound;
        node = b.from;
        if node == start {
            break;
        }
    }
    around.sort_unstable();
    around.dedup();
    Some(CircuitError::Conflict { elements: circuit.names(around), excess: rounded(-sum), time: t })
}
