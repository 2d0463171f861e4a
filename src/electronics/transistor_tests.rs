//! Bipolar transistors and sources controlled by currents against their formulas.

use super::*;
use crate::cluster::Signal;
use crate::model::integrator::Integrator;
use crate::simulation::Simulation;

/// The circuit after it has come to rest.
fn settled(c: &Circuit) -> (Simulation, CircuitHandle) {
    let mut sim = Simulation::with_time_step(1e-5).unwrap();
    let handle = c.spawn_with(&mut sim, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 }).unwrap();
    let report = sim.advance(2000).unwrap();
    assert!(report.converged, "{report:?}");
    (sim, handle)
}

#[track_caller]
fn near(what: &str, found: f64, wanted: f64, share: f64) {
    assert!((found - wanted).abs() <= share * wanted.abs(), "{what}: {found} against {wanted}");
}

/// V_T ln(i/I_s)
fn junction(i: f64) -> f64 {
    0.025852 * (i / 1e-14).ln()
}

fn small_signal() -> BjtModel {
    BjtModel::exponential(1e-14, 100.0, 2.0, [1e-6, 1e-1], 18)
}

#[test]
fn an_emitter_follower_follows_one_junction_below() {
    for input in [2.0, 5.0, 9.0] {
        let mut c = Circuit::new();
        c.voltage_source("V", "vcc", "0", 12.0);
        c.voltage_source("in", "b", "0", input);
        c.npn("Q", "vcc", "b", "e", small_signal());
        c.resistor("R", "e", "0", 1e3);
        c.capacitor("C", "e", "0", 1e-9);
        let (sim, circuit) = settled(&c);
        let out = circuit.voltage(&sim, "e", "0").unwrap();
        let emitter = circuit.current(&sim, "Q.emitter").unwrap();
        let (collector, base) = (circuit.current(&sim, "Q").unwrap(), circuit.current(&sim, "Q.base").unwrap());
        near("emitter", emitter, out / 1e3, 1e-9);
        near("collector", collector, emitter * 100.0 / 101.0, 1e-9);
        near("base", base, emitter / 101.0, 1e-9);
        // chords of ratio 2: 1.5 mV at most
        let drop = input - out;
        assert!(drop <= junction(collector) + 1e-9 && drop >= junction(collector) - 1.6e-3, "{drop} against {}", junction(collector));
        near("v(Q)", circuit.voltage_across(&sim, "Q").unwrap(), 12.0 - out, 1e-12);
    }
}

#[test]
fn a_current_mirror_copies_but_for_two_base_currents() {
    let build = |gain: f64, pnp: bool| {
        let model = BjtModel { forward_gain: gain, ..small_signal() };
        let mut c = Circuit::new();
        let side = if pnp { -1.0 } else { 1.0 };
        c.voltage_source("V", "vcc", "0", side * 10.0);
        c.resistor("Rref", "vcc", "b", 9.3e3);
        if pnp {
            c.pnp("Q1", "b", "b", "0", model.clone());
            c.pnp("Q2", "out", "b", "0", model);
        } else {
            c.npn("Q1", "b", "b", "0", model.clone());
            c.npn("Q2", "out", "b", "0", model);
        }
        c.resistor("load", "vcc", "out", 2e3);
        c.capacitor("C", "b", "0", 1e-9);
        settled(&c)
    };
    for gain in [20.0, 100.0] {
        let (sim, circuit) = build(gain, false);
        let reference = circuit.current(&sim, "Rref").unwrap();
        near("copy", circuit.current(&sim, "Q2").unwrap(), reference * gain / (gain + 2.0), 1e-9);
        near("load", circuit.current(&sim, "load").unwrap(), reference * gain / (gain + 2.0), 1e-9);
        let v = circuit.voltage(&sim, "b", "0").unwrap();
        assert!((v - junction(circuit.current(&sim, "Q1").unwrap())).abs() < 1.6e-3, "{v}");
        // the mirror image carries the same the other way
        let (other, mirrored) = build(gain, true);
        near("pnp", mirrored.current(&other, "Q2").unwrap(), -circuit.current(&sim, "Q2").unwrap(), 1e-9);
    }
}

#[test]
fn a_saturated_switch_obeys_ebers_and_moll() {
    let mut c = Circuit::new();
    c.voltage_source("V", "vcc", "0", 5.0);
    c.voltage_source("in", "g", "0", 5.0);
    c.resistor("Rb", "g", "b", 4.3e3);
    c.resistor("Rc", "vcc", "c", 1e3);
    c.npn("Q", "c", "b", "0", small_signal());
    c.capacitor("C", "c", "0", 1e-9);
    let (sim, circuit) = settled(&c);
    let v = |a: &str, b: &str| circuit.voltage(&sim, a, b).unwrap();
    let [collector, base] = small_signal().currents(v("b", "0"), v("b", "c"));
    near("collector", circuit.current(&sim, "Q").unwrap(), collector, 1e-9);
    near("base", circuit.current(&sim, "Q.base").unwrap(), base, 1e-9);
    near("Rc", circuit.current(&sim, "Rc").unwrap(), collector, 1e-9);
    // I_C/I_B ≈ 5 ≪ 100: V_CE = V_T ln[(1 + (i+1)/β_R)/(1 − i/β_F)], i = I_C/I_B (Ebers and Moll), to two chords
    let i = collector / base;
    let exact = 0.025852 * ((1.0 + (i + 1.0) / 2.0) / (1.0 - i / 100.0)).ln();
    assert!((v("c", "0") - exact).abs() < 3.2e-3 && i < 6.0, "{} against {exact}", v("c", "0"));
}

#[test]
fn sources_follow_the_currents_that_control_them() {
    let mut c = Circuit::new();
    c.voltage_source("V", "a", "0", |t: f64| 2.0 * (1e3 * t).sin());
    c.resistor("R", "a", "b", 100.0);
    c.capacitor("C", "b", "0", 1e-6);
    // placed before or after what controls it
    c.cccs("F", "0", "f", "R", 3.0);
    c.resistor("Rf", "f", "0", 50.0);
    c.ccvs("H", "h", "0", "Rh", 40.0);
    c.resistor("Rl", "h", "0", 10.0);
    c.resistor("Rh", "a", "0", 200.0);
    let mut sim = Simulation::with_time_step(1e-5).unwrap();
    let circuit = c.spawn(&mut sim).unwrap();
    for _ in 0..100 {
        sim.advance(1).unwrap();
        let i = |name: &str| circuit.current(&sim, name).unwrap();
        let v = |name: &str| circuit.voltage_across(&sim, name).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} against {b}");
        close(i("F"), 3.0 * i("R"));
        close(v("Rf"), 50.0 * i("F"));
        close(v("H"), 40.0 * i("Rh"));
        close(i("Rl"), 4.0 * i("Rh"));
    }
    let mut c = Circuit::new();
    c.capacitor("C", "a", "0", 1e-6);
    c.cccs("F", "0", "a", "Rx", 3.0);
    let message = c.equations().unwrap_err().to_string();
    assert!(message.contains("F is controlled by the current of \"Rx\"") && message.contains("the circuit has C"), "{message}");
}

#[test]
fn sources_follow_the_collector_of_a_transistor_that_is_saturated() {
    for pnp in [false, true] {
        let side = if pnp { -1.0 } else { 1.0 };
        let mut c = Circuit::new();
        c.voltage_source("V", "vcc", "0", side * 10.0);
        c.resistor("Rc", "vcc", "c", 1e3);
        c.resistor("Rb", "vcc", "b", 5e3);
        if pnp {
            c.pnp("Q", "c", "b", "0", small_signal());
        } else {
            c.npn("Q", "c", "b", "0", small_signal());
        }
        c.capacitor("C", "c", "0", 1e-9);
        c.cccs("F", "0", "f", "Q", 3.0);
        c.resistor("Rf", "f", "0", 50.0);
        c.ccvs("H", "h", "0", "Q", 40.0);
        c.resistor("Rh", "h", "0", 1e3);
        let (sim, circuit) = settled(&c);
        let collector = circuit.current(&sim, "Q").unwrap();
        near("Rc", circuit.current(&sim, "Rc").unwrap(), collector, 1e-9);
        near("F", circuit.current(&sim, "F").unwrap(), 3.0 * collector, 1e-9);
        near("H", circuit.voltage_across(&sim, "H").unwrap(), 40.0 * collector, 1e-9);
    }
}

#[test]
fn elements_are_entities_whose_voltage_and_current_can_be_read_and_recorded() {
    let mut c = Circuit::new();
    c.voltage_source("V", "in", "0", |t: f64| 5.0 * (1e3 * t).sin());
    c.resistor("R", "in", "a", 100.0);
    c.diode("D1", "a", "0").forward_voltage(0.7);
    c.diode("D2", "0", "a").forward_voltage(0.5);
    c.capacitor("C", "a", "0", 1e-8);
    let mut sim = Simulation::with_time_step(1e-6).unwrap();
    let circuit = c.spawn(&mut sim).unwrap();
    let element = circuit.element("D1").unwrap();
    let name = sim.world().get::<bevy_ecs::name::Name>(element).unwrap();
    assert_eq!(name.as_str(), "D1");
    let [v, i] = circuit.signals("D1").unwrap();
    let record = sim.record(10, [Signal::Time, v, i, circuit.signals("D2").unwrap()[1]]);
    let table = circuit.record(&mut sim, 10);
    sim.advance(10_000).unwrap();
    let trace = sim.trace(record).unwrap();
    let forward = circuit.curve(&sim, table, &circuit.equations.current("D1").unwrap());
    assert_eq!(trace.column(2), forward);
    assert!(forward.iter().any(|i| *i > 0.04) && trace.column(3).iter().any(|i| *i > 0.04));
    for row in trace.rows() {
        assert!(row[1] < 0.7 + 1e-9 && row[1] > -0.5 - 1e-9 && row[2] >= -1e-12 && row[2] * row[3] == 0.0, "{row:?}");
    }
    let probe = sim.world().get::<crate::cluster::Probe>(element).unwrap();
    assert_eq!(probe.values, [circuit.voltage_across(&sim, "D1").unwrap(), circuit.current(&sim, "D1").unwrap()]);
    let message = circuit.element("D3").unwrap_err().to_string();
    assert!(message.contains("no element \"D3\""), "{message}");
    let missing = sim.record(1, [Signal::Probe(element, 2)]);
    let message = sim.advance(1).unwrap_err().to_string();
    assert!(message.contains("value 2 of \"D1\""), "{message}");
    sim.stop_recording(missing);
    let link = circuit.interaction.unwrap();
    assert_eq!(sim.world().get::<bevy_ecs::name::Name>(link).unwrap().as_str(), "D1 and D2");
}
