//! Loops of ideal elements whose voltages exclude each other: a source across a diode that it drives forward.
//!
//! ```text
//! source       v(+) − v(−) = u                closed switch   v(a) − v(b) = 0
//! diode        v(a) − v(k) ≤ V_f              Zener           −V_z ≤ v(a) − v(k) ≤ V_f
//! comparator   low ≤ v(out) ≤ high
//! ```
//!
//! Each is a difference of two potentials with a bound. Such bounds can be met unless they add up to less than nothing around a loop, which
//! Bellman and Ford's shortest paths find. What limits no voltage, as a resistor, or keeps its own, as a capacitor, is in no such loop.

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
        Kind::VoltageSource { voltage } => matches!(voltage, Waveform::Constant(_)),
        Kind::Switch { .. } => false,
        _ => true,
    })
}

/// The same at a time, with all sources and switches as they are then.
pub(super) fn at(circuit: &Circuit, t: f64) -> Option<CircuitError> {
    find(circuit, t, |_| true)
}

fn find(circuit: &Circuit, t: f64, counts: impl Fn(&Kind) -> bool) -> Option<CircuitError> {
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
    // eleven digits: what is left of 5 − 0.7 reads as 4.3
    let excess: f64 = format!("{:.10e}", -sum).parse().unwrap_or(-sum);
    Some(CircuitError::Conflict { elements: circuit.names(around), excess, time: t })
}
