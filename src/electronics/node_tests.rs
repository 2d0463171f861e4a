//! Nodes that nonsmooth elements alone hold, loops that switches close, and circuits at random.

use super::*;
use crate::model::integrator::Integrator;
use crate::simulation::Simulation;

fn spawn(c: &Circuit, h: f64) -> (Simulation, CircuitHandle) {
    let mut sim = Simulation::with_time_step(h).unwrap();
    let handle = c.spawn_with(&mut sim, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 }).unwrap();
    (sim, handle)
}

#[test]
fn two_diodes_in_series_are_one() {
    let build = |diodes: usize| {
        let mut c = Circuit::new();
        c.capacitor("C", "n0", "0", 1e-6).voltage(10.0);
        c.inductor("L", "n0", "0", 1e-2);
        (0..diodes).for_each(|k| {
            c.diode(&format!("D{k}"), &format!("n{k}"), &format!("n{}", k + 1));
        });
        c.resistor("R", &format!("n{diodes}"), "0", 1e3);
        spawn(&c, 1e-6)
    };
    let ((mut one, a), (mut three, b)) = (build(1), build(3));
    for _ in 0..2000 {
        assert!(one.advance(1).unwrap().systems.rel < 1e-9 && three.advance(1).unwrap().systems.rel < 1e-9);
        let (u, v) = (a.voltage(&one, "n0", "0").unwrap(), b.voltage(&three, "n0", "0").unwrap());
        assert!((u - v).abs() < 1e-9, "{u} against {v}");
    }
}

#[test]
fn an_opened_inductor_runs_on_through_its_diode() {
    let mut c = Circuit::new();
    c.voltage_source("V", "in", "0", 12.0);
    c.switch("S", "in", "a", |t| t < 2e-3);
    c.diode("D", "0", "a");
    c.inductor("L", "a", "b", 1e-2);
    c.resistor("R", "b", "0", 10.0);
    let (mut sim, circuit) = spawn(&c, 1e-7);
    let report = sim.advance(19_999).unwrap();
    let (i, expected) = (circuit.current(&sim, "L").unwrap(), 1.2 * (1.0 - (-2f64).exp()));
    assert!((i - expected).abs() < 1e-4, "{i} against {expected}: {report:?}");
    assert!(circuit.current(&sim, "D").unwrap().abs() < 1e-9);
    sim.advance(10_001).unwrap();
    let (i, expected) = (circuit.current(&sim, "L").unwrap(), expected * (-1f64).exp());
    assert!((i - expected).abs() < 1e-4, "{i} against {expected}");
    assert!((circuit.current(&sim, "D").unwrap() - i).abs() < 1e-9 && circuit.voltage(&sim, "a", "0").unwrap().abs() < 1e-9);
}

#[test]
fn antiparallel_diodes_clamp() {
    let mut c = Circuit::new();
    c.voltage_source("V", "in", "0", |t: f64| 5.0 * (1e3 * t).sin());
    c.resistor("R", "in", "a", 100.0);
    c.capacitor("C", "a", "0", 1e-8);
    c.diode("D1", "a", "0").forward_voltage(0.7);
    c.diode("D2", "0", "a").forward_voltage(0.5);
    let (mut sim, circuit) = spawn(&c, 1e-6);
    let record = circuit.record(&mut sim, 1);
    assert!(sim.advance(10_000).unwrap().systems.rel < 1e-9);
    let v = circuit.curve(&sim, record, &circuit.equations.voltage("a", "0").unwrap());
    let (low, high) = v.iter().fold((0.0f64, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
    assert!((low + 0.5).abs() < 1e-9 && (high - 0.7).abs() < 1e-9, "{low} to {high}");
}

/// Without capacitors and inductors there is nothing to integrate: each step is the operating point at its end, by any integrator.
#[test]
fn a_circuit_without_states_is_at_its_operating_point() {
    let mut c = Circuit::new();
    c.voltage_source("V", "in", "0", |t: f64| 10.0 * t - 5.0);
    c.resistor("R", "in", "a", 1e3);
    c.zener("Z", "0", "a", 2.5).forward_voltage(0.5);
    c.resistor("load", "a", "0", 4e3);
    c.comparator("U", "a", "0", "out", -1.0, 1.0);
    let implicit = Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 };
    for integrator in [Integrator::EULER_MOREAU, implicit, Integrator::ZeroOrderHold] {
        let mut sim = Simulation::with_time_step(0.01).unwrap();
        let circuit = c.spawn_with(&mut sim, integrator).unwrap();
        for step in 1..=100 {
            assert!(sim.advance(1).unwrap().systems.rel < 1e-12, "{integrator:?}, step {step}");
            let u = 0.1 * f64::from(step) - 5.0;
            let v = (0.8 * u).clamp(-0.5, 2.5);
            let through = v / 4e3 - (u - v) / 1e3;
            let found = [circuit.voltage(&sim, "a", "0"), circuit.current(&sim, "Z")].map(Result::unwrap);
            assert!(
                (found[0] - v).abs() < 1e-12 && (found[1] - through).abs() < 1e-15,
                "{integrator:?} at {u} V: {found:?}, {v} {through}"
            );
            let out = circuit.voltage(&sim, "out", "0").unwrap();
            assert!(step == 50 || out == u.signum(), "{integrator:?} at {u} V: {out}");
        }
    }
    let mut divider = Circuit::new();
    divider.voltage_source("V", "in", "0", 3.0);
    divider.resistor("R1", "in", "a", 1e3);
    divider.resistor("R2", "a", "0", 2e3);
    let (mut sim, circuit) = spawn(&divider, 1.0);
    sim.advance(1).unwrap();
    assert!((circuit.voltage(&sim, "a", "0").unwrap() - 2.0).abs() < 1e-15);
}

#[test]
fn an_inverter_without_load_follows_its_transistors() {
    let model = MosModel::quadratic(0.5, 1e-3, 2.5, 2);
    let mut c = Circuit::new();
    c.voltage_source("V", "vdd", "0", 3.0);
    c.voltage_source("G", "g", "0", |t: f64| 3.0 * t);
    c.pmos("P", "o", "g", "vdd", MosModel { threshold: -0.5, ..model.clone() });
    c.nmos("N", "o", "g", "0", model);
    c.capacitor("C", "g", "x", 1e-9);
    c.resistor("R", "x", "0", 1e3);
    let (mut sim, circuit) = spawn(&c, 1e-2);
    let mut last = 3.0;
    for k in 1..=100 {
        let report = sim.advance(1).unwrap();
        assert!(report.systems.rel < 1e-9, "step {k}: {report:?}");
        let (v, p, n) = (circuit.voltage(&sim, "o", "0"), circuit.current(&sim, "P"), circuit.current(&sim, "N"));
        let (v, p, n) = (v.unwrap(), p.unwrap(), n.unwrap());
        assert!((p + n).abs() < 1e-12, "P carries what N carries: {p} {n}");
        assert!(v <= last + 1e-9 && v > -1e-9, "step {k}: {v} V after {last} V");
        last = v;
    }
    assert!(last.abs() < 1e-9, "{last}");
}

/// A part of the circuit that sources, diodes and open switches alone connect with the rest; where equations contradict each other, the step says
/// which elements do, not that the relation of all of them "cannot hold together".
#[test]
fn what_contradicts_is_named_by_its_elements() {
    let beside = |c: &mut Circuit| {
        c.resistor("R", "r", "0", 1.0);
        c.capacitor("C", "r", "0", 1.0);
    };
    let cut = "which alone connect node a with the rest, exclude each other by 2 A";
    // a source into a diode, which its other end cannot take either
    for (ends, diode) in [(["0", "a"], ["0", "a"]), (["a", "r"], ["a", "0"])] {
        let mut c = Circuit::new();
        beside(&mut c);
        c.current_source("I", ends[0], ends[1], 2.0);
        c.diode("D", diode[0], diode[1]);
        let error = c.equations().unwrap_err().to_string();
        assert!(error.starts_with("the currents of I and D, ") && error.contains(cut), "{error}");
    }
    // one that turns round: the steps from then on have no solution
    let mut c = Circuit::new();
    beside(&mut c);
    c.current_source("I", "a", "0", |t: f64| 4.0 * t - 1.0);
    c.diode("D1", "b", "a");
    c.diode("D2", "r", "b");
    let (mut sim, circuit) = spawn(&c, 0.25);
    assert_eq!(sim.advance(1).unwrap().systems.first_infeasible, None);
    assert!(circuit.conflict(0.3).is_none());
    let error = circuit.conflict(0.0).unwrap().to_string();
    assert!(error.starts_with("the currents of I and D1, which alone connect node a") && error.contains("by 1 A at t = 0 s"), "{error}");
    // a switch that leaves a source alone, and one that shorts one
    let mut c = Circuit::new();
    beside(&mut c);
    c.current_source("I", "0", "a", |_| 2.0);
    c.switch("S", "a", "r", |t| t < 0.5);
    c.diode("D", "r", "0");
    let error = spawn(&c, 0.25).0.advance(4).unwrap_err().to_string();
    assert!(
        error.contains("the currents of I and S, ") && error.contains(cut) && error.ends_with("the state before the step is kept"),
        "{error}"
    );
    let mut c = Circuit::new();
    beside(&mut c);
    c.voltage_source("V", "a", "0", |_| 3.0);
    c.switch("S", "a", "0", |t| t > 0.5);
    c.diode("D", "a", "r");
    let error = spawn(&c, 0.25).0.advance(4).unwrap_err().to_string();
    assert!(error.contains("V and S form a loop") && error.contains("by 3 V at t = 0.75 s"), "{error}");
}

#[test]
fn any_netlist_has_equations_or_a_fault() {
    let mut seed = 7u64;
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    let (mut good, mut bad) = (0, 0);
    for _ in 0..6000 {
        let mut c = Circuit::new();
        let nodes = 2 + below(4);
        for k in 0..3 + below(9) {
            let name = format!("X{k}");
            let [a, b, d] = std::array::from_fn(|_| below(nodes).to_string());
            let value = 10f64.powi(below(7) as i32 - 3);
            match below(13) {
                0 | 1 => c.resistor(&name, &a, &b, value),
                2 => c.capacitor(&name, &a, &b, value).voltage(0.0),
                3 => c.inductor(&name, &a, &b, value).current(0.0),
                4 => c.diode(&name, &a, &b).forward_voltage(0.0),
                5 => c.zener(&name, &a, &b, value).forward_voltage(0.7),
                6 => c.switch(&name, &a, &b, |t| t > 0.5),
                7 => c.voltage_source(&name, &a, &b, value),
                8 => c.current_source(&name, &a, &b, |t: f64| t),
                9 => c.comparator(&name, &a, &b, &d, -value, value).band(-0.1, 0.1),
                10 => c.cccs(&name, &a, &b, &format!("X{}", below(6)), value),
                11 => c.ccvs(&name, &a, &b, &format!("X{}", below(6)), value),
                _ => c.nmos(&name, &a, &d, &b, MosModel::quadratic(1.0, value, 3.0, 2)),
            }
        }
        match c.equations() {
            Ok(equations) => {
                good += 1;
                let (n, m) = (equations.system.x.len(), equations.relation.rows);
                equations.system.validate().unwrap();
                if m > 0 {
                    crate::model::relation::Relation::from(equations.relation.clone()).validate(n, n, 0).unwrap();
                    equations.law.validate(m).unwrap();
                }
                // current law at ground, for some state
                let (x, lambda) = (vec![0.3; n], vec![0.2; m]);
                let terms = c.elements.iter().map(|e| {
                    let sign = f64::from(e.nodes[0] == 0) - f64::from(e.nodes[1] == 0);
                    sign * equations.current(&e.name).unwrap().at(0.4, &x, &lambda)
                });
                let (sum, size) = terms.fold((0.0, 1.0f64), |(s, m), i| (s + i, m.max(i.abs())));
                assert!(sum.abs() < 1e-8 * size, "{c:?}: {sum:e} of {size:e}");
            }
            Err(error) => {
                bad += 1;
                assert!(error.to_string().len() > 20, "{error}");
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} with equations, {bad} with a fault");
}
