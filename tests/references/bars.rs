//! Many degrees of freedom: a column of beads, an elastic bar, a double pendulum.

use super::table::{Case, Fallible, Table, within};
use drystone::cluster::Signal::{self, Input, Multiplier, Rate, State, Time, Velocity};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::{LagrangianLinear, LagrangianNonlinear};
use drystone::simulation::Simulation;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            model: "column of 10 beads falling on the floor, e = 0.9",
            ..Case::new(
                "column-of-beads-ts",
                beads,
                [within(1e-10, "t z0 z1 z2 z3 z4 z5 z6 z7 z8 z9"), within(1e-10, "v0 v1 v2 v3 v4 v5 v6 v7 v8 v9")],
            )
        },
        Case {
            model: "elastic bar of 100 elements hitting a wall, θ = 1",
            own: 1e-7,
            ..Case::new(
                "impacting-bar-fem",
                bar,
                [
                    within(1e-14, "q_0 q_top q_mid"),
                    within(1e-11, "v_0 v_top v_mid two_potential two_kinetic"),
                    within(1e-12, "lambda"),
                    within(1e-7, "p_0_over_h"),
                ],
            )
        },
        Case {
            model: "double pendulum between two one-sided walls, Newton loop",
            every: 5,
            also: same_impacts,
            own: 1e-6,
            ..Case::new("double-pendulum-ts", pendulum, [within(1e-3, "q0 q1").until(1.0)])
        },
    ]
}

fn beads() -> Fallible<Table> {
    const NAMES: [[&str; 2]; 10] = [
        ["z0", "v0"],
        ["z1", "v1"],
        ["z2", "v2"],
        ["z3", "v3"],
        ["z4", "v4"],
        ["z5", "v5"],
        ["z6", "v6"],
        ["z7", "v7"],
        ["z8", "v8"],
        ["z9", "v9"],
    ];
    let mut sim = Simulation::with_time_step(5e-4)?;
    let mut columns = vec![("t", Time)];
    let mut below = None;
    for (i, [z, v]) in NAMES.into_iter().enumerate() {
        let bead = Lagrangian::new([1.0]).at([1.0 + 0.25 * i as f64]).with_force([-9.81]);
        let bead = sim.spawn_system(bead, Integrator::MOREAU_JEAN)?;
        let law = Law::NewtonImpact { e: 0.9 };
        sim.spawn_interaction(match below {
            None => Interaction::new([bead], LagrangianLinear::new([1.0], [-0.1]), law),
            Some(below) => Interaction::new([below, bead], LagrangianLinear::new([-1.0, 1.0], [-0.2]), law),
        })?;
        below = Some(bead);
        columns.extend([(z, State(bead, 0)), (v, Velocity(bead, 0))]);
    }
    Table::run(&mut sim, &columns, 4000)
}

/// `factor · tridiag(side, middle, side)` with `ends` in the two corners.
fn tridiagonal(n: usize, factor: f64, side: f64, middle: f64, ends: f64) -> Vec<(usize, usize, f64)> {
    let diagonal = (0..n).map(|i| (i, i, factor * if i == 0 || i == n - 1 { ends } else { middle }));
    diagonal.chain((1..n).flat_map(|i| [(i, i - 1, factor * side), (i - 1, i, factor * side)])).collect()
}

fn bar() -> Fallible<Table> {
    const N: usize = 100;
    let (e, s, rho, l, h) = (210e9, 3.14e-4, 7800.0, 1.0 / N as f64, 2e-6);
    let mass = tridiagonal(N, rho * s * l, 1.0 / 6.0, 2.0 / 3.0, 1.0 / 3.0);
    let stiffness = tridiagonal(N, e * s / l, -1.0, 2.0, 1.0);
    let mut sim = Simulation::with_time_step(h)?;
    let bar =
        Lagrangian::new(Operator::Sparse(mass.clone())).at(vec![5e-5; N]).moving(vec![-0.1; N]).with_stiffness(Operator::Sparse(stiffness));
    let bar = sim.spawn_system(bar, Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Projection::None })?;
    let mut first = vec![0.0; N];
    first[0] = 1.0;
    let wall = sim.spawn_interaction(Interaction::new([bar], LagrangianLinear::new(first, [0.0]), Law::NewtonImpact { e: 0.0 }))?;
    let mut columns = vec![("t", Time), ("p", Input(bar, 0)), ("lambda", Multiplier(wall, 0))];
    columns.extend((0..N).map(|i| ("q", State(bar, i))));
    columns.extend((0..N).map(|i| ("v", Velocity(bar, i))));
    let table = Table::run(&mut sim, &columns, 748)?;
    let (q, v) = (3, 3 + N);
    // of the strains, which do not cancel as the products with K do
    let potential = move |row: &[f64]| row[q..q + N].windows(2).map(|q| e * s / l * (q[1] - q[0]) * (q[1] - q[0])).sum();
    let kinetic = move |row: &[f64]| mass.iter().map(|(i, j, m)| row[v + i] * m * row[v + j]).sum();
    let pick = |i: usize| move |row: &[f64]| row[i];
    Ok(table
        .with("p_0_over_h", |row| row[1] / h)
        .with("two_potential", potential)
        .with("two_kinetic", kinetic)
        .with("q_0", pick(q))
        .with("v_0", pick(v))
        .with("q_top", pick(q + N - 1))
        .with("v_top", pick(v + N - 1))
        .with("q_mid", pick(q + N / 2))
        .with("v_mid", pick(v + N / 2)))
}

fn pendulum() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(5e-4)?;
    let mass = Operator::function(|at, m| {
        let c = (at.q[0] - at.q[1]).cos();
        m.copy_from_slice(&[2.0, c, c, 1.0]);
    });
    let pendulum = Lagrangian::new(mass)
        .at([0.1, 0.2])
        .with_gyroscopic(Operator::function(|at, f| {
            let s = (at.q[0] - at.q[1]).sin();
            f.copy_from_slice(&[at.v[1] * at.v[1] * s, -at.v[0] * at.v[0] * s]);
        }))
        .with_internal(Operator::function(|at, f| f.copy_from_slice(&[20.0 * at.q[0].sin(), 10.0 * at.q[1].sin()])));
    let p = sim.spawn_system(pendulum, Integrator::MoreauJean { theta: 0.500001, gamma: 0.5, projection: Projection::None })?;
    let upper = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0].sin()));
    let lower = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0].sin() + at.q[1].sin()));
    let upper = sim.spawn_interaction(Interaction::new([p], upper, Law::NewtonImpact { e: 1.0 }))?;
    let lower = sim.spawn_interaction(Interaction::new([p], lower, Law::NewtonImpact { e: 0.0 }))?;
    let columns: [(&str, Signal); 7] = [
        ("t", Time),
        ("q0", State(p, 0)),
        ("v0", Velocity(p, 0)),
        ("q1", State(p, 1)),
        ("v1", Velocity(p, 1)),
        ("hdot0", Rate(upper, 0)),
        ("hdot1", Rate(lower, 0)),
    ];
    Table::run(&mut sim, &columns, 10000)
}

/// Times at which the rate of a wall jumps up.
fn impacts(table: &Table, rate: &str) -> Fallible<Vec<f64>> {
    let (t, rate) = (table.at("t")?, table.at(rate)?);
    Ok(table.rows.windows(2).filter(|w| w[1][rate] - w[0][rate] > 0.2).map(|w| w[1][t]).collect())
}

/// After 1 s only the times of impacts are compared.
fn same_impacts(ours: &Table, theirs: Option<&Table>) -> Fallible {
    let Some(theirs) = theirs else { return Ok(()) };
    for rate in ["hdot0", "hdot1"] {
        let (a, b) = (impacts(ours, rate)?, impacts(theirs, rate)?);
        let worst = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if a.len() != b.len() || worst > 5e-3 {
            return Err(format!("impacts by {rate} at {a:?}, in the reference at {b:?}").into());
        }
    }
    Ok(())
}
