//! Circuits against their formulas, against reference trajectories and against Kirchhoff.

use super::*;
use crate::algebra::dense;
use crate::algebra::matrix::Matrix;
use crate::model::integrator::Integrator;
use crate::model::law::Law;
use crate::model::operator::{At, Operator};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::inner::{Auto, ComplementaritySolver, Workspace};
use crate::numerics::relay::Relay;
use crate::simulation::Simulation;
use std::path::Path;

/// An Euler–Moreau loop as the books have it, independent of the stepper.
struct Loop {
    equations: Equations,
    h: f64,
    theta: f64,
    step: usize,
    x: Vec<f64>,
    lambda: Vec<f64>,
    workspace: Workspace,
}

impl Loop {
    fn new(circuit: &Circuit, h: f64, theta: f64) -> Self {
        let equations = circuit.equations().unwrap();
        equations.system.validate().unwrap();
        let (n, m) = (equations.system.x.len(), equations.relation.rows);
        if m > 0 {
            crate::model::relation::Relation::from(equations.relation.clone()).validate(n, n, 0).unwrap();
            equations.law.validate(m).unwrap();
        }
        let x = equations.system.x.clone();
        Self { equations, h, theta, step: 0, x, lambda: vec![0.0; m], workspace: Workspace::default() }
    }

    fn t(&self) -> f64 {
        self.step as f64 * self.h
    }

    fn step(&mut self) {
        let (n, m, h, theta) = (self.x.len(), self.lambda.len(), self.h, self.theta);
        let value = |op: &Operator, t: f64, rows: usize, columns: usize| {
            let mut out = vec![0.0; rows * columns];
            op.matrix(&At { t, ..At::default() }, columns, &mut out);
            out
        };
        let (t, end) = (self.t(), (self.step + 1) as f64 * h);
        let (system, relation) = (&self.equations.system, &self.equations.relation);
        let a = value(&system.a, end, n, n);
        let (b0, b1) = (value(&system.b, t, n, 1), value(&system.b, end, n, 1));
        let (c, b) = (value(&relation.c, end, m, n), value(&relation.b, end, n, m));
        let (d, e) = (value(&relation.d, end, m, m), value(&relation.e, end, m, 1));
        let mut w: Vec<f64> = a.iter().map(|a| -h * theta * a).collect();
        (0..n).for_each(|i| w[i * n + i] += 1.0);
        let mut rows = vec![0; n];
        assert_eq!(dense::lu(&mut w, &mut rows), None);
        let mut free: Vec<f64> = (0..n)
            .map(|i| {
                let ax: f64 = (0..n).map(|j| a[i * n + j] * self.x[j]).sum();
                self.x[i] + h * ((1.0 - theta) * (ax + b0[i]) + theta * b1[i])
            })
            .collect();
        dense::lu_solve(&w, &rows, &mut free);
        let mut wb = vec![0.0; n * m];
        for k in 0..m {
            let mut column: Vec<f64> = (0..n).map(|i| h * b[i * m + k]).collect();
            dense::lu_solve(&w, &rows, &mut column);
            (0..n).for_each(|i| wb[i * m + k] = column[i]);
        }
        let product = |i: usize, k: usize| (0..n).map(|j| c[i * n + j] * wb[j * m + k]).sum::<f64>();
        let matrix = (0..m * m).map(|at| d[at] + product(at / m, at % m)).collect();
        let q: Vec<f64> = (0..m).map(|i| e[i] + (0..n).map(|j| c[i * n + j] * free[j]).sum::<f64>()).collect();
        let set = |k: usize| match &self.equations.law {
            Law::Rows(sets) => sets[k],
            _ => AdmissibleSet::NonNegative,
        };
        let (lower, upper) = (0..m)
            .map(|k| match set(k) {
                AdmissibleSet::Free => (f64::NEG_INFINITY, f64::INFINITY),
                AdmissibleSet::Interval { lower, upper } => (lower, upper),
                _ => (0.0, f64::INFINITY),
            })
            .unzip();
        let problem = Relay { m: Matrix::dense(m, m, matrix), q, lower, upper };
        if m > 0 {
            let mut y = vec![0.0; m];
            let solver = Auto { tolerance: 1e-12, ..Auto::default() };
            let report = solver.solve_with(&problem, &mut self.lambda, &mut y, &mut self.workspace, &mut |_| true);
            assert!(report.converged(), "step {}: {report:?} {problem:?}", self.step);
        }
        self.x = (0..n).map(|i| free[i] + (0..m).map(|k| wb[i * m + k] * self.lambda[k]).sum::<f64>()).collect();
        self.step += 1;
    }

    fn run(&mut self, until: f64) {
        (self.step..(until / self.h).round() as usize).for_each(|_| self.step());
    }

    fn voltage(&self, a: &str, b: &str) -> f64 {
        self.equations.voltage(a, b).unwrap().at(self.t(), &self.x, &self.lambda)
    }

    fn current(&self, name: &str) -> f64 {
        self.equations.current(name).unwrap().at(self.t(), &self.x, &self.lambda)
    }
}

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} against {b}: {:e} apart", (a - b).abs());
}

/// Rows of a reference table; `None` and a word about it where the folder is not there.
fn reference(case: &str) -> Option<Vec<Vec<f64>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference").join(case).join("reference.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("SKIPPED: {case}: no table at ../shared/reference");
        return None;
    };
    Some(text.lines().skip(1).map(|line| line.split(',').map(|x| x.trim().parse().unwrap()).collect()).collect())
}

/// A circuit with one of every element.
fn everything() -> Circuit {
    let model = MosModel::quadratic(1.0, 1e-3, 4.0, 2);
    let mut c = Circuit::new();
    c.voltage_source("V1", "in", "0", |t: f64| 5.0 * (1e3 * t).sin());
    c.voltage_source("VDD", "vdd", "gnd", 5.0);
    c.resistor("R1", "in", "a", 100.0);
    c.inductor("L1", "a", "b", 1e-3).current(0.01);
    c.capacitor("C1", "b", "0", 1e-6).voltage(1.0);
    c.diode("D1", "b", "c").forward_voltage(0.6);
    c.resistor("R2", "c", "0", 1e3);
    c.zener("Z1", "0", "c", 2.0);
    c.switch("S1", "c", "d", |t| t > 1e-3);
    c.resistor("R3", "d", "0", 220.0);
    c.current_source("I1", "0", "d", 2e-3);
    c.comparator("U1", "b", "c", "g", 0.0, 5.0).band(-0.1, 0.1);
    c.resistor("R4", "g", "0", 1e5);
    c.nmos("M1", "o", "g", "0", model.clone());
    c.pmos("M2", "o", "g", "vdd", MosModel { threshold: -1.0, ..model });
    c.capacitor("C2", "o", "0", 1e-9);
    c.vcvs("E1", "e", "0", ["o", "b"], 3.0);
    c.resistor("R5", "e", "f", 1e3);
    c.vccs("G1", "f", "0", ["o", "0"], 1e-3);
    c.capacitor("C3", "f", "0", 1e-7);
    c
}

#[test]
fn kirchhoff_holds_for_every_state_and_multiplier() {
    let circuit = everything();
    let equations = circuit.equations().unwrap();
    let (n, m) = (equations.system.x.len(), equations.relation.rows);
    assert_eq!((n, equations.state_names().len(), m, equations.row_names().len()), (4, 4, 13, 13));
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    for _ in 0..20 {
        let x: Vec<f64> = (0..n).map(|_| 10.0 * random()).collect();
        let lambda: Vec<f64> = (0..m).map(|_| random()).collect();
        let t = 1e-3 * random();
        let current = |name: &str| equations.current(name).unwrap().at(t, &x, &lambda);
        let voltage = |a: &str, b: &str| equations.voltage(a, b).unwrap().at(t, &x, &lambda);
        for (node, name) in circuit.nodes.iter().enumerate() {
            let leaving = |e: &circuit::Element| f64::from(e.nodes[0] == node) - f64::from(e.nodes[1] == node);
            let terms: Vec<f64> = circuit.elements.iter().map(|e| leaving(e) * current(&e.name)).collect();
            let size = terms.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
            assert!(terms.iter().sum::<f64>().abs() < 1e-11 * size, "node {name}: {terms:?}");
        }
        close(voltage("in", "a") + voltage("a", "b") + voltage("b", "in"), 0.0, 1e-12);
        close(voltage("in", "a"), 100.0 * current("R1"), 1e-9);
        close(voltage("in", "0"), 5.0 * (1e3 * t).sin(), 1e-12);
        close(voltage("vdd", "gnd"), 5.0, 1e-12);
        close(voltage("e", "0"), 3.0 * voltage("o", "b"), 1e-10);
        close(current("G1"), 1e-3 * voltage("o", "0"), 1e-12);
        close(current("I1"), 2e-3, 1e-15);
    }
}

#[test]
fn every_element_obeys_its_law_along_a_run() {
    let mut run = Loop::new(&everything(), 1e-6, 1.0);
    let (mut conducted, mut broke_down, mut blocked) = (0, 0, 0);
    for _ in 0..4000 {
        run.step();
        let (v, i) = (run.voltage("b", "c"), run.current("D1"));
        assert!(i >= -1e-9 && v <= 0.6 + 1e-9 && (i * (0.6 - v)).abs() < 1e-8, "diode {v} V {i} A");
        let (v, i) = (run.voltage("0", "c"), run.current("Z1"));
        assert!((-2.0 - 1e-9..=1e-9).contains(&v), "Zener {v} V");
        assert!(if i > 1e-9 { v > -1e-8 } else { i > -1e-9 || v < -2.0 + 1e-8 }, "Zener {v} V {i} A");
        conducted += usize::from(run.current("D1") > 1e-6);
        broke_down += usize::from(i < -1e-6);
        blocked += usize::from(i.abs() < 1e-9);
        let closed = run.t() > 1e-3;
        close(if closed { run.voltage("c", "d") } else { run.current("S1") }, 0.0, 1e-9);
        close(run.voltage("g", "0"), (2.5 + 25.0 * run.voltage("b", "c")).clamp(0.0, 5.0), 1e-7);
        let model = MosModel::quadratic(1.0, 1e-3, 4.0, 2);
        let (g, o) = (run.voltage("g", "0"), run.voltage("o", "0"));
        close(run.current("M1"), model.current(g, g - o), 1e-9);
        close(run.current("M2"), -model.current(5.0 - g, o - g), 1e-9);
    }
    assert!(conducted > 100 && broke_down > 100 && blocked > 100, "{conducted} {broke_down} {blocked}");
}

#[test]
fn linear_elements_alone_follow_their_formulas() {
    // RC, 1 ms; RL, 10 µs; LC, 2π·10⁻⁴ s
    let mut c = Circuit::new();
    c.resistor("R", "a", "0", 1e3);
    c.capacitor("C", "a", "0", 1e-6).voltage(10.0);
    let mut run = Loop::new(&c, 1e-6, 0.5);
    run.run(1e-3);
    close(run.voltage("a", "0"), 10.0 * (-1f64).exp(), 1e-6);
    close(run.current("C"), -run.current("R"), 1e-15);

    let mut c = Circuit::new();
    c.voltage_source("V", "a", "0", 5.0);
    c.resistor("R", "a", "b", 1e3);
    c.inductor("L", "b", "0", 1e-2);
    let mut run = Loop::new(&c, 1e-8, 0.5);
    run.run(1e-5);
    close(run.current("L"), 5e-3 * (1.0 - (-1f64).exp()), 1e-9);

    let mut c = Circuit::new();
    c.inductor("L", "a", "0", 1e-2);
    c.capacitor("C", "a", "0", 1e-6).voltage(10.0);
    let mut run = Loop::new(&c, 1e-7, 0.5);
    run.run(std::f64::consts::FRAC_PI_2 * 1e-4);
    close(run.voltage("a", "0"), 10.0 * (run.t() * 1e4).cos(), 1e-4);
    close(run.current("L"), 0.1 * (run.t() * 1e4).sin(), 1e-6);

    // a source of current charges a capacitor: v = I t / C
    let mut c = Circuit::new();
    c.current_source("I", "0", "a", |t: f64| 2e-3 * t);
    c.capacitor("C", "a", "0", 1e-6);
    let mut run = Loop::new(&c, 1e-4, 0.5);
    run.run(1e-2);
    close(run.voltage("a", "0"), 0.1, 1e-12);
}

#[test]
fn parallel_capacitors_and_series_inductors_share_a_state() {
    let mut c = Circuit::new();
    c.voltage_source("V", "in", "0", 5.0);
    c.inductor("L1", "in", "m", 1e-3);
    c.inductor("L2", "k", "m", 2e-3);
    c.inductor("L3", "k", "a", 3e-3);
    c.capacitor("C1", "a", "0", 1e-6);
    c.capacitor("C2", "0", "a", 3e-6).voltage(-2.0);
    c.resistor("R", "a", "0", 50.0);
    let mut pooled = Circuit::new();
    pooled.voltage_source("V", "in", "0", 5.0);
    pooled.inductor("L", "in", "a", 6e-3);
    pooled.capacitor("C", "a", "0", 4e-6).voltage(2.0);
    pooled.resistor("R", "a", "0", 50.0);
    let (mut parts, mut whole) = (Loop::new(&c, 1e-6, 0.5), Loop::new(&pooled, 1e-6, 0.5));
    assert_eq!(parts.equations.state_names(), ["i(L1)", "v(C1)"]);
    for _ in 0..500 {
        parts.step();
        whole.step();
        close(parts.voltage("a", "0"), whole.voltage("a", "0"), 1e-12);
        close(parts.current("L3"), whole.current("L"), 1e-14);
        close(parts.current("L2"), -whole.current("L"), 1e-14);
        close(parts.current("C1"), 0.25 * whole.current("C"), 1e-14);
        close(parts.voltage("m", "k"), whole.voltage("in", "a") / 3.0, 1e-12);
    }
    c.capacitor("C4", "a", "0", 1e-6).voltage(1.0);
    let error = c.equations().unwrap_err().to_string();
    assert_eq!(error, "C2 and C4 share one state, but start from [2.0, 1.0]; give both the same initial value");
}

fn half_wave_rectifier() -> Circuit {
    let mut c = Circuit::new();
    c.capacitor("C", "a", "0", 1e-6).voltage(10.0);
    c.inductor("L", "a", "0", 1e-2);
    c.diode("D", "a", "k");
    c.resistor("R", "k", "0", 1e3);
    c
}

/// The bridge between `a` and ground, its load between `p` and `m`.
fn bridge() -> Circuit {
    let mut c = Circuit::new();
    c.capacitor("C", "a", "0", 1e-6).voltage(10.0);
    c.inductor("L", "a", "0", 1e-2);
    c.diode("D1", "a", "p");
    c.diode("D2", "0", "p");
    c.diode("D3", "m", "a");
    c.diode("D4", "m", "0");
    c.resistor("R", "p", "m", 1e3);
    c
}

#[test]
fn the_half_wave_rectifier_is_that_of_the_reference() {
    let mut run = Loop::new(&half_wave_rectifier(), 1e-5, 0.5000000000001);
    let Some(table) = reference("circuit-rlcd") else { return };
    let mut worst = 0.0f64;
    for row in &table[1..] {
        run.step();
        let ours = [run.x[0], run.x[1], run.voltage("a", "k"), run.current("D")];
        close(run.t(), row[0], 1e-12);
        worst = ours.iter().zip(&row[1..]).fold(worst, |w, (a, b)| w.max((a - b).abs()));
    }
    println!("circuit-rlcd: {worst:.1e} over {} rows", table.len());
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn the_bridge_is_that_of_the_reference() {
    let mut run = Loop::new(&bridge(), 1e-6, 0.5);
    let Some(table) = reference("diode-bridge") else { return };
    let mut worst = 0.0f64;
    for row in &table[1..] {
        run.step();
        close(run.t(), row[0], 1e-12);
        worst = worst.max((run.x[0] - row[1]).abs()).max((run.x[1] - row[2]).abs());
    }
    println!("diode-bridge: {worst:.1e} over {} rows", table.len());
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn the_bridge_rectifies_and_loses_energy_in_its_load_alone() {
    let mut run = Loop::new(&bridge(), 1e-6, 0.5);
    let energy = |x: &[f64]| 0.5 * 1e-6 * x[0] * x[0] + 0.5 * 1e-2 * x[1] * x[1];
    for _ in 0..1000 {
        let before = run.x.clone();
        run.step();
        let v = run.voltage("p", "m");
        assert!(v > -1e-9 && (v < 1e-6 || (v - run.voltage("a", "0").abs()).abs() < 1e-9));
        // θ = ½, multipliers of the end: the power is λ⁺ · ȳ
        let mean = 0.5 * (before[0] + run.x[0]);
        close(energy(&run.x) - energy(&before), -run.h * mean * run.current("R") * run.x[0].signum(), 1e-15);
    }
}

#[test]
fn faults_are_named() {
    type Build = fn(&mut Circuit);
    let cases: &[(&str, Build)] = &[
        ("two elements are called \"R\"; every element needs its own name", |c| {
            c.resistor("R", "a", "0", 1.0);
            c.resistor("R", "a", "0", 1.0);
        }),
        ("R: resistance (Ω) is -1; a finite positive number is needed", |c| c.resistor("R", "a", "0", -1.0)),
        ("L: inductance (H) is 0; a finite positive number is needed", |c| {
            c.inductor("L", "a", "0", 0.0);
        }),
        ("C: capacitance (F) is NaN; a finite positive number is needed", |c| {
            c.capacitor("C", "a", "0", f64::NAN);
        }),
        ("C: initial voltage (V) is inf; a finite number is needed", |c| c.capacitor("C", "a", "0", 1.0).voltage(f64::INFINITY)),
        ("Z: breakdown voltage (V) is -5; a finite positive number is needed", |c| {
            c.zener("Z", "a", "0", -5.0);
        }),
        ("U: high output (V) is 0; a finite number above the low output is needed", |c| {
            c.comparator("U", "a", "0", "o", 1.0, 0.0);
        }),
        ("R connects node \"a\" with itself; its ends need two nodes", |c| c.resistor("R", "a", "a", 1.0)),
        ("node \"b\" has one terminal only, of R; two are needed (a large resistor to ground serves as a probe)", |c| {
            c.capacitor("C", "a", "0", 1.0);
            c.resistor("R", "a", "b", 1.0);
        }),
        (
            "W has 0.000000000000001 Ω and R has 1000000 Ω, further apart than numbers of sixteen digits can tell currents and voltages apart; \
             a factor of 1e18 at most is needed (a connection without resistance is one node)",
            |c| {
                c.resistor("R", "a", "0", 1e6);
                c.resistor("W", "a", "b", 1e-15);
                c.capacitor("C", "b", "0", 1e-6);
            },
        ),
        ("no element touches ground; call one node \"0\" or \"gnd\"", |c| {
            c.capacitor("C", "a", "b", 1.0);
            c.resistor("R", "a", "b", 1.0);
        }),
        (
            "node m is at a floating potential: L1 and I1 alone, which set no voltage, connect them to ground; \
             connect one of them to ground, for example with a large resistor",
            |c| {
                c.inductor("L1", "m", "0", 1.0);
                c.current_source("I1", "m", "0", 1.0);
            },
        ),
        (
            "nodes b and c are at a floating potential: nothing connects them to ground; \
             connect one of them to ground, for example with a large resistor",
            |c| {
                c.capacitor("C", "a", "0", 1.0);
                c.resistor("R1", "a", "0", 1.0);
                c.resistor("R2", "b", "c", 1.0);
                c.capacitor("C2", "b", "c", 1.0);
            },
        ),
        ("V1 and V2 form a loop without resistance, so that its current is not determined; put a resistor in the loop", |c| {
            c.capacitor("C", "b", "0", 1.0);
            c.resistor("R", "a", "b", 1.0);
            c.voltage_source("V1", "a", "0", 1.0);
            c.voltage_source("V2", "a", "0", |t: f64| t);
        }),
        (
            "C1, C2 and V form a loop without resistance, so that a jump of a voltage would need an infinite current; \
             put a resistor in the loop",
            |c| {
                c.capacitor("C1", "a", "b", 1.0);
                c.capacitor("C2", "b", "0", 1.0);
                c.voltage_source("V", "a", "0", 1.0);
                c.resistor("R", "b", "0", 1.0);
            },
        ),
    ];
    for (expected, build) in cases {
        let mut c = Circuit::new();
        build(&mut c);
        assert_eq!(&c.equations().unwrap_err().to_string(), expected);
    }
    let equations = bridge().equations().unwrap();
    let error = equations.current("R9").unwrap_err().to_string();
    assert_eq!(error, "there is no element \"R9\"; the circuit has C, L, D1, D2, D3, D4 and R");
    assert_eq!(equations.voltage("a", "q").unwrap_err().to_string(), "there is no node \"q\"; the circuit has 0, a, p and m");
}

/// Low 0 V, high 2.25 V, 1.655 µs up, 10 ns down.
fn ramp(t: f64) -> f64 {
    let (rise, top, fall, period, high) = (1.655e-6, 1e-9, 10e-9, 1.6667e-6, 2.25);
    let t = t % period;
    if t < rise {
        high * t / rise
    } else if t < rise + top {
        high
    } else {
        high * (1.0 - (t - rise - top) / fall).max(0.0)
    }
}

/// The buck converter of the reference as a netlist, with its π.
#[allow(clippy::approx_constant, reason = "the number of the reference")]
fn buck_converter() -> Circuit {
    let model = MosModel::quadratic(2.0, 10.0, 1.0, 2);
    let mut c = Circuit::new();
    c.voltage_source("VI", "vdd", "0", 3.0);
    c.pmos("MP", "sw", "gate", "vdd", MosModel { threshold: -2.0, ..model.clone() });
    c.nmos("MN", "sw", "gate", "0", model);
    c.diode("DP", "sw", "vdd").forward_voltage(0.8);
    c.diode("DN", "0", "sw").forward_voltage(0.8);
    c.capacitor("C", "out", "0", 22e-6);
    c.inductor("L", "sw", "out", 10e-6);
    c.resistor("load", "out", "0", 10.0);
    c.resistor("R11", "out", "n1", 15.58e3);
    c.capacitor("C11", "n1", "fb", 20e-12);
    c.resistor("R12", "out", "fb", 227.8e3);
    c.resistor("R21", "amp", "n2", 5.613e6);
    c.capacitor("C21", "n2", "fb", 1.9e-12);
    c.voltage_source("Vref", "ref", "0", |t: f64| 1.8 * (t / 100e-6).min(1.0));
    c.vcvs("gain", "e", "0", ["ref", "fb"], 1e4);
    c.resistor("RA", "e", "pole", 1e3);
    c.capacitor("CA", "pole", "0", 1e-3 / (2.0 * 3.14159 * 30e6));
    c.vcvs("buffer", "amp", "0", ["pole", "0"], 1.0);
    c.voltage_source("ramp", "ramp", "0", ramp);
    c.comparator("U", "ramp", "amp", "gate", 0.0, 3.0).band(-0.1, 0.1);
    c
}

#[test]
fn the_buck_converter_is_that_of_the_reference() {
    let mut sim = Simulation::with_time_step(0.05e-9).unwrap();
    let circuit = buck_converter().spawn_with(&mut sim, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 }).unwrap();
    let probe = |a: &str| circuit.equations.voltage(a, "0").unwrap();
    let (sw, out, gate, amp, inductor) = (probe("sw"), probe("out"), probe("gate"), probe("amp"), circuit.equations.current("L").unwrap());
    let Some(table) = reference("buck-converter") else { return };
    let (mut worst_out, mut worst_inductor, mut worst_sw) = (0.0f64, 0.0f64, 0.0f64);
    let peak = |column: usize| table[..100].iter().fold(0.0, |m: f64, row| m.max(row[column].abs()));
    let scales = [peak(3), peak(4)];
    for row in table[..100].iter() {
        let steps = (row[0] / 0.05e-9).round() as u64 - sim.steps();
        let report = sim.advance(steps).unwrap();
        assert!(report.converged, "{report:?}");
        let value = |output: &Output| circuit.value(&sim, output);
        worst_inductor = worst_inductor.max((value(&inductor) - row[3]).abs() / scales[0]);
        worst_out = worst_out.max((value(&out) - row[4]).abs() / scales[1]);
        if steps > 0 {
            worst_sw = worst_sw.max((value(&sw) - row[2]).abs());
            close(value(&gate), row[5], 1e-5);
            close(value(&amp), row[6], 1e-5);
        }
    }
    println!(
        "buck-converter: v_out {worst_out:.1e}, i_L {worst_inductor:.1e} of their peaks, v_switch {worst_sw:.1e} V over {} steps",
        sim.steps()
    );
    assert!(worst_out < 1e-6 && worst_inductor < 1e-6 && worst_sw < 1e-4, "{worst_out:e} {worst_inductor:e} {worst_sw:e}");
}

#[test]
fn the_simulation_steps_like_the_books() {
    for circuit in [half_wave_rectifier(), bridge(), everything()] {
        let mut sim = Simulation::with_time_step(1e-6).unwrap();
        let handle = circuit.spawn_with(&mut sim, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 }).unwrap();
        let record = handle.record(&mut sim, 1);
        let mut run = Loop::new(&circuit, 1e-6, 1.0);
        let report = sim.advance(2000).unwrap();
        assert!(report.converged, "{report:?}");
        let probes = ["a", "b", "p", "c"].map(|n| handle.equations.voltage(n, "0"));
        let curves: Vec<Vec<f64>> = probes.into_iter().filter_map(Result::ok).map(|p| handle.curve(&sim, record, &p)).collect();
        let times = handle.times(&sim, record);
        for (k, t) in times.iter().enumerate().skip(1) {
            run.step();
            close(*t, run.t(), 1e-12);
            let names = ["a", "b", "p", "c"].into_iter().filter(|n| run.equations.voltage(n, "0").is_ok());
            // potentials of nodes between blocking diodes are not unique: "p" is compared where there is no bridge
            for (name, curve) in names.zip(&curves).filter(|(name, _)| *name != "p") {
                close(curve[k], run.voltage(name, "0"), 1e-7);
            }
        }
        assert_eq!(times.len(), 2001);
    }
}
