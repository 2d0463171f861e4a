//! Circuits and relays: first-order systems with complementarity or relay laws.

use super::table::{Case, Fallible, Table, within};
use drystone::cluster::Signal::{self, Input, Multiplier, Output, State, Time};
use drystone::model::dynamical_system::FirstOrder;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, FirstOrderNonlinear};
use drystone::simulation::Simulation;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            model: "LC oscillator with a diode and a resistor, Euler–Moreau",
            ..Case::new("circuit-rlcd", rlcd, [within(1e-10, "t v_L i_L v_D i_D")])
        },
        Case {
            model: "four-diode bridge rectifier, Euler–Moreau",
            // the other multipliers are not unique where all diodes block
            ..Case::new("diode-bridge", bridge, [within(1e-10, "t v_L i_L y0_vDF1 lambda2_iDF1 y0_plus_lambda2")])
        },
        Case {
            model: "buck converter: comparator and two MOS transistors, 400 000 steps, Euler–Moreau θ = 1",
            source: "run of Siconos 4.4.0",
            every: 400,
            also: same_switching,
            own: 1e-6,
            ..Case::new("buck-converter", buck, [within(1e-6, "v_out i_L").relative(), within(1e-12, "t v_ramp")])
        },
        Case {
            model: "two decoupled sign relays, finite-time reaching",
            ..Case::new("relay-simple", relays, [within(1e-10, "t x0 x1 lambda0 lambda1 y0 y1")])
        },
        Case {
            model: "third-order relay feedback oscillator",
            own: 1e-8,
            ..Case::new("relay-oscillator", oscillator, [within(1e-9, "t x0 x1 x2 lambda y")])
        },
        Case {
            model: "gene network with step functions: nonlinear relation, relay [0, 1]",
            own: 1e-7,
            ..Case::new(
                "gene-regulation-steps",
                genes,
                [
                    within(1e-10, "t x0 x1"),
                    within(1e-8, "lambda0 lambda1 lambda2 lambda3"),
                    // row 0 of the source carries the right-hand side of row 1
                    within(1e-6, "rhs0 rhs1").after_row(1),
                ],
            )
        },
    ]
}

const L: f64 = 1e-2;
const C: f64 = 1e-6;
const R: f64 = 1e3;

fn lc() -> FirstOrder {
    FirstOrder::linear([0.0, -1.0 / C, 1.0 / L, 0.0], [10.0, 0.0])
}

fn rlcd() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(1e-5)?;
    let x = sim.spawn_system(lc(), Integrator::EulerMoreau { theta: 0.5000000000001, gamma: 1.0 })?;
    let diode = FirstOrderLinear::new(1, [-1.0, 0.0], [-1.0 / C, 0.0]).with_d([R]);
    let d = sim.spawn_interaction(Interaction::new([x], diode, Law::Complementarity))?;
    let columns: [(&str, Signal); 5] =
        [("t", Time), ("v_L", State(x, 0)), ("i_L", State(x, 1)), ("y", Output(d, 0)), ("i_D", Multiplier(d, 0))];
    Ok(Table::run(&mut sim, &columns, 499)?.with("v_D", |row| -row[3]))
}

fn bridge() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(1e-6)?;
    let x = sim.spawn_system(lc(), Integrator::EULER_MOREAU)?;
    let g = 1.0 / R;
    let diodes = FirstOrderLinear::new(4, [0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0], [0.0, 0.0, -1.0 / C, 1.0 / C, 0.0, 0.0, 0.0, 0.0]);
    #[rustfmt::skip]
    let diodes = diodes.with_d([
        g, g, -1.0, 0.0,
        g, g, 0.0, -1.0,
        1.0, 0.0, 0.0, 0.0,
        0.0, 1.0, 0.0, 0.0,
    ]);
    let d = sim.spawn_interaction(Interaction::new([x], diodes, Law::Complementarity))?;
    let columns: [(&str, Signal); 5] =
        [("t", Time), ("v_L", State(x, 0)), ("i_L", State(x, 1)), ("y0_vDF1", Output(d, 0)), ("lambda2_iDF1", Multiplier(d, 2))];
    Ok(Table::run(&mut sim, &columns, 4999)?.with("y0_plus_lambda2", |row| row[3] + row[4]))
}

/// Supply (V).
const VI: f64 = 3.0;
const THRESHOLD: f64 = 0.8;

/// The saw of the modulator (V).
fn ramp(t: f64) -> f64 {
    let (high, rise, top, fall, period) = (0.75 * VI, 1.655e-6, 1e-9, 10e-9, 1.6667e-6);
    let s = t - (t / period).floor() * period;
    if s < rise {
        high * s / rise
    } else if s < rise + top {
        high
    } else if s < rise + top + fall {
        high * (1.0 - (s - rise - top) / fall)
    } else {
        0.0
    }
}

fn buck() -> Fallible<Table> {
    let (c, l, load, gain) = (22e-6, 10e-6, 10.0, 1e4);
    // with the five decimals of π of the source
    let tau_a = 1e5 / (2.0 * 314_159.0 * 30e6);
    let (r11, r21, c11, r12, c21) = (15.58e3, 5.613e6, 20e-12, 227.8e3, 1.9e-12);
    let alpha = 1.0 / r11 + 1.0 / r12 + 1.0 / r21;
    let beta = 1.0 / r11 + 1.0 / r12;
    let (tau11, tau21) = (r11 * c11, r21 * c21);
    let (ar11, ar21) = (alpha * r11, alpha * r21);
    #[rustfmt::skip]
    let a = [
        -(1.0 / (load * c) + beta / (c * ar21)), 1.0 / c, 1.0 / (c * ar21 * r11), -beta / (c * ar21), beta / (c * ar21),
        -1.0 / l, 0.0, 0.0, 0.0, 0.0,
        (1.0 - beta / alpha) / tau11, 0.0, (1.0 / ar11 - 1.0) / tau11, 1.0 / (ar21 * tau11), -1.0 / (ar21 * tau11),
        -beta / (alpha * tau21), 0.0, 1.0 / (ar11 * tau21), (1.0 / ar21 - 1.0) / tau21, -(1.0 / ar21 - 1.0) / tau21,
        -beta * gain / (alpha * tau_a), 0.0, gain / (ar11 * tau_a), gain / (ar21 * tau_a), -(gain / ar21 + 1.0) / tau_a,
    ];
    let mut sim = Simulation::with_time_step(0.05e-9)?;
    let source = Operator::function(move |at, b| {
        b[1] = -THRESHOLD / l;
        b[4] = gain * 1.8 * (at.t / 100e-6).min(1.0) / tau_a;
    });
    let x = FirstOrder::linear(a, [0.0; 5]).with_input(source);
    let x = sim.spawn_system(x, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;

    // two hypotheses of the quadratic law of a MOS transistor
    let (x1, x2) = (-0.1, 0.1);
    let slope = VI / (x2 - x1);
    let root = 2f64.sqrt();
    let (vt_n, vt_p, half_k) = (2.0, -2.0, 5.0);
    let w = (VI - vt_n) / (2.0 * (1.0 + root));
    let limit = [0.0, (1.0 + root) * w];
    let var = [2.0 * w, 4.0 * root * w];
    const M: usize = 12;
    let mut d = vec![0.0; M * M];
    (0..M).filter(|i| *i < 10).for_each(|i| d[i * (M + 1)] = 1.0);
    for i in 2..6 {
        (d[i * M], d[i * M + 1]) = (slope, -slope);
        (d[(i + 4) * M], d[(i + 4) * M + 1]) = (-slope, slope);
    }
    for k in 0..2 {
        (d[(4 + k) * M + 11], d[(8 + k) * M + 11]) = (-1.0, 1.0);
        (d[11 * M + 2 + k], d[11 * M + 4 + k]) = (-half_k * var[k], half_k * var[k]);
        (d[11 * M + 6 + k], d[11 * M + 8 + k]) = (half_k * var[k], -half_k * var[k]);
    }
    (d[10 * M + 11], d[11 * M + 10]) = (-1.0, 1.0);
    let e = Operator::function(move |at, e| {
        let v = ramp(at.t);
        (e[0], e[1]) = (x1 - v, x2 - v);
        for k in 0..2 {
            (e[2 + k], e[4 + k]) = (-vt_p - VI + limit[k], -vt_p + THRESHOLD + limit[k]);
            (e[6 + k], e[8 + k]) = (vt_n + limit[k], vt_n - THRESHOLD + limit[k]);
        }
        e[10] = VI + 2.0 * THRESHOLD;
    });
    let c = Operator::Sparse(vec![(0, 4, 1.0), (1, 4, 1.0), (11, 1, 1.0)]);
    let b = Operator::Sparse(vec![(1, 11, 1.0 / l)]);
    let relation = FirstOrderLinear::new(M, c, b).with_d(d).with_e(e);
    let s = sim.spawn_interaction(Interaction::new([x], relation, Law::Complementarity))?;
    let columns: [(&str, Signal); 5] =
        [("t", Time), ("v_out", State(x, 0)), ("i_L", State(x, 1)), ("v_amp", State(x, 4)), ("lambda11", Multiplier(s, 11))];
    Ok(Table::run(&mut sim, &columns, 400_000)?.with("v_ramp", |row| ramp(row[0])).with("v_switch", |row| row[4] - THRESHOLD))
}

/// Switching instants agree within two steps: each row of the reference has the switch node of one of the five steps around it.
fn same_switching(ours: &Table, theirs: Option<&Table>) -> Fallible {
    let Some(theirs) = theirs else { return Ok(()) };
    let (a, b) = (ours.at("v_switch")?, theirs.at("v_switch")?);
    for (k, row) in theirs.rows.iter().enumerate().skip(1) {
        let around = (400 * k).saturating_sub(2)..(400 * k + 3).min(ours.rows.len());
        let nearest = ours.rows[around].iter().map(|r| (r[a] - row[b]).abs()).fold(f64::INFINITY, f64::min);
        // the two levels are 3.8 V apart
        if nearest > 0.02 {
            return Err(format!("row {k}: the switch node is at {} V, ours {nearest:.2e} V away in five steps", row[b]).into());
        }
    }
    Ok(())
}

fn relays() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let x = sim.spawn_system(FirstOrder::linear([0.0; 4], [1.0, -1.0]), Integrator::EULER_MOREAU)?;
    let relation = FirstOrderLinear::new(2, Operator::Diagonal(vec![1.0; 2]), Operator::Diagonal(vec![2.0; 2]));
    let r = sim.spawn_interaction(Interaction::new([x], relation, Law::Relay { lower: -1.0, upper: 1.0 }))?;
    let columns: [(&str, Signal); 7] = [
        ("t", Time),
        ("x0", State(x, 0)),
        ("x1", State(x, 1)),
        ("lambda0", Multiplier(r, 0)),
        ("lambda1", Multiplier(r, 1)),
        ("y0", Output(r, 0)),
        ("y1", Output(r, 1)),
    ];
    Table::run(&mut sim, &columns, 799)
}

fn oscillator() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(1e-2)?;
    let start = 3.0 * 2f64.sqrt() / (2.0 * std::f64::consts::PI);
    let x = FirstOrder::linear([0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -3.0, -2.0], [0.0, start, 0.0]);
    let x = sim.spawn_system(x, Integrator::EULER_MOREAU)?;
    let relation = FirstOrderLinear::new(1, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let r = sim.spawn_interaction(Interaction::new([x], relation, Law::Relay { lower: -1.0, upper: 1.0 }))?;
    let columns: [(&str, Signal); 6] =
        [("t", Time), ("x0", State(x, 0)), ("x1", State(x, 1)), ("x2", State(x, 2)), ("lambda", Multiplier(r, 0)), ("y", Output(r, 0))];
    Table::run(&mut sim, &columns, 9999)
}

fn genes() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let decay = [-4.5, -1.5];
    let x = sim.spawn_system(FirstOrder::linear(Operator::Diagonal(decay.to_vec()), [1.0, 6.0]), Integrator::EULER_MOREAU)?;
    let thresholds = Operator::function(|at, y| {
        y.copy_from_slice(&[4.0 - at.x[0], 4.0 - at.x[1], 8.0 - at.x[0], 8.0 - at.x[1]]);
    });
    let production = Operator::function(|at, r| {
        let l = at.lambda;
        r.copy_from_slice(&[40.0 * (1.0 - l[2]) * l[1], 40.0 * (1.0 - l[3]) * l[0]]);
    });
    let relation = FirstOrderNonlinear {
        c: Operator::from([-1.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, -1.0]),
        b: Operator::function(|at, b| {
            let l = at.lambda;
            #[rustfmt::skip]
            b.copy_from_slice(&[
                0.0, 40.0 * (1.0 - l[2]), -40.0 * l[1], 0.0,
                40.0 * (1.0 - l[3]), 0.0, 0.0, -40.0 * l[0],
            ]);
        }),
        ..FirstOrderNonlinear::new(4, thresholds, production)
    };
    let g = sim.spawn_interaction(Interaction::new([x], relation, Law::Relay { lower: 0.0, upper: 1.0 }))?;
    let columns: [(&str, Signal); 9] = [
        ("t", Time),
        ("x0", State(x, 0)),
        ("x1", State(x, 1)),
        ("lambda0", Multiplier(g, 0)),
        ("lambda1", Multiplier(g, 1)),
        ("lambda2", Multiplier(g, 2)),
        ("lambda3", Multiplier(g, 3)),
        ("r0", Input(x, 0)),
        ("r1", Input(x, 1)),
    ];
    let table = Table::run(&mut sim, &columns, 2999)?;
    Ok(table.with("rhs0", move |row| decay[0] * row[1] + row[7]).with("rhs1", move |row| decay[1] * row[2] + row[8]))
}
