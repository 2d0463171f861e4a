//! Faults that the netlist shows by itself: values, names, loose ends. Loops and floating nodes show in the elimination.

use super::circuit::{Circuit, Element, Kind};
use super::error::CircuitError;
use super::waveform::Waveform;
use std::collections::BTreeSet;

/// Largest ratio of two resistances: of 15 rectifiers with wires of 1e-15 to 1e-3 Ω and loads of 1 Ω to 1 MΩ those up to 1e18 were right, and the one
/// at 1e21 was solved to wrong currents with all laws met in the units of its equations.
const APART: f64 = 1e18;

const POSITIVE: &str = "a finite positive number is needed";
const NOT_NEGATIVE: &str = "a finite number from 0 on is needed";
const FINITE: &str = "a finite number is needed";

pub(super) fn check(circuit: &Circuit) -> Result<(), CircuitError> {
    let mut names = BTreeSet::new();
    for (place, element) in circuit.elements.iter().enumerate() {
        if element.name.is_empty() {
            return Err(CircuitError::Unnamed { what: format!("element {place}, from 0,") });
        }
        if element.nodes.iter().chain(element.kind.sensed()).any(|&node| circuit.nodes[node].is_empty()) {
            return Err(CircuitError::Unnamed { what: format!("a node of {}", element.name) });
        }
        if !names.insert(&element.name) {
            return Err(CircuitError::Duplicate { name: element.name.clone() });
        }
        values(element)?;
        if let Kind::Cccs { through, .. } | Kind::Ccvs { through, .. } = &element.kind {
            let known = || circuit.elements.iter().map(|e| e.name.clone());
            if !known().any(|name| name == *through) || *through == element.name {
                let known = known().filter(|name| *name != element.name).collect();
                return Err(CircuitError::UnknownControl { element: element.name.clone(), through: through.clone(), known });
            }
        }
        // the base of a transistor may be tied to its collector or emitter
        if element.nodes[0] == element.nodes[1] && !matches!(element.kind, Kind::Junction { .. }) {
            let node = circuit.nodes[element.nodes[0]].clone();
            return Err(CircuitError::SameNode { element: element.name.clone(), node });
        }
    }
    let resistors = || {
        circuit.elements.iter().filter_map(|e| if let Kind::Resistor { resistance } = e.kind { Some((resistance, &e.name)) } else { None })
    };
    let by_value = |a: &(f64, &String), b: &(f64, &String)| a.0.total_cmp(&b.0);
    if let Some(((least, small), (most, large))) = resistors().min_by(by_value).zip(resistors().max_by(by_value))
        && most / least > APART * (1.0 + 1e-9)
    {
        return Err(CircuitError::Apart { elements: [small, large].map(String::clone), values: [least, most], most: APART });
    }
    if !circuit.elements.iter().any(|e| e.nodes.contains(&0)) {
        return Err(CircuitError::NoGround);
    }
    for (node, name) in circuit.nodes.iter().enumerate().skip(1) {
        let touches = |e: &&Element| e.nodes.contains(&node) || e.kind.sensed().contains(&node);
        let mut terminals = circuit.elements.iter().filter(touches);
        if let (Some(only), None) = (terminals.next(), terminals.next()) {
            // an output that nobody reads is no mistake
            let output = matches!(only.kind, Kind::Comparator { .. } | Kind::Vcvs { .. } | Kind::Ccvs { .. }) && only.nodes.contains(&node);
            if !output {
                return Err(CircuitError::Dangling { node: name.clone(), element: only.name.clone() });
            }
        }
    }
    Ok(())
}

fn values(element: &Element) -> Result<(), CircuitError> {
    let demand = |good: bool, what: &'static str, found: f64, needed: &'static str| {
        if good { Ok(()) } else { Err(CircuitError::Value { element: element.name.clone(), what, found, needed }) }
    };
    let positive = |what, x: f64| demand(x > 0.0 && x.is_finite(), what, x, POSITIVE);
    let not_negative = |what, x: f64| demand(x >= 0.0 && x.is_finite(), what, x, NOT_NEGATIVE);
    let finite = |what, x: f64| demand(x.is_finite(), what, x, FINITE);
    let constant = |what, waveform: &Waveform| if let Waveform::Constant(x) = waveform { finite(what, *x) } else { Ok(()) };
    match &element.kind {
        Kind::Resistor { resistance } => positive("resistance (Ω)", *resistance),
        Kind::Inductor { inductance, current } => {
            positive("inductance (H)", *inductance)?;
            finite("initial current (A)", current.unwrap_or(0.0))
        }
        Kind::Capacitor { capacitance, voltage } => {
            positive("capacitance (F)", *capacitance)?;
            finite("initial voltage (V)", voltage.unwrap_or(0.0))
        }
        Kind::Diode { forward } => not_negative("forward voltage (V)", *forward),
        Kind::Zener { forward, breakdown } => {
            not_negative("forward voltage (V)", *forward)?;
            positive("breakdown voltage (V)", *breakdown)
        }
        Kind::Switch { .. } => Ok(()),
        Kind::VoltageSource { voltage } => constant("voltage (V)", voltage),
        Kind::CurrentSource { current } => constant("current (A)", current),
        Kind::Comparator { low, high, band: [from, to], .. } => {
            finite("low output (V)", *low)?;
            demand(high.is_finite() && high > low, "high output (V)", *high, "a finite number above the low output is needed")?;
            finite("start of the band (V)", *from)?;
            demand(to.is_finite() && to >= from, "end of the band (V)", *to, "a finite number not below its start is needed")
        }
        Kind::Mos { model, .. } => {
            finite("threshold (V)", model.threshold)?;
            positive("gain K (A/V²)", model.gain)?;
            demand(!model.hinges.is_empty(), "number of hinges", 0.0, "at least one is needed")?;
            model.hinges.iter().try_for_each(|[start, slope]| {
                finite("start of a hinge (V)", *start)?;
                positive("change of slope of a hinge (V)", *slope)
            })
        }
        Kind::Vcvs { gain, .. } => finite("gain", *gain),
        Kind::Vccs { gain, .. } => finite("gain (A/V)", *gain),
        Kind::Cccs { gain, .. } => finite("gain", *gain),
        Kind::Ccvs { resistance, .. } => finite("resistance (Ω)", *resistance),
        Kind::Bjt { model, .. } => {
            positive("forward gain β_F", model.forward_gain)?;
            positive("reverse gain β_R", model.reverse_gain)?;
            demand(!model.hinges.is_empty(), "number of hinges", 0.0, "at least one is needed")?;
            model.hinges.iter().try_for_each(|[start, slope]| {
                finite("start of a hinge (V)", *start)?;
                positive("change of slope of a hinge (A/V)", *slope)
            })
        }
        Kind::Junction { .. } => Ok(()),
    }
}
