//! Friction: balls on walls and floors, a block on an incline, the woodpecker toy.

use super::table::{Case, Fallible, Table, within};
use bevy_ecs::prelude::Entity;
use drystone::cluster::Signal::{self, Input, Multiplier, State, Time, Velocity};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianLinear;
use drystone::simulation::Simulation;

const G: f64 = 9.81;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            model: "spinning ball on a wall, μ = 0.1, active where y ≤ 0",
            // the source gives its first row the time of the second
            ..Case::new(
                "ball2d-friction",
                || ball2d(Law::CoulombImpact(CoulombImpact { mu: 0.1, e_n: 0.9, ..CoulombImpact::default() }), 2),
                [within(1e-9, "x vx omega p1_x lambda_n y theta vy"), within(1e-9, "t").after_row(1)],
            )
        },
        Case {
            model: "the same, rolling friction with μ_r = 0",
            ..Case::new(
                "ball2d-rolling-friction",
                || ball2d(Law::RollingImpact { contact: CoulombImpact { mu: 0.1, e_n: 0.9, ..CoulombImpact::default() }, mu_r: 0.0 }, 3),
                [within(1e-8, "x vx omega p1_x lambda_n y theta vy"), within(1e-8, "t").after_row(1)],
            )
        },
        Case {
            model: "block on a 25° incline, sticks with μ = 0.6, slides on with μ = 0.3",
            source: "run of Siconos 4.4.0",
            ..Case::new("incline-stick-slip", incline, [within(1e-10, "mu t s n vs vn p_n p_t")])
        },
        Case {
            model: "spinning sphere thrown on a rough floor, ends in pure rolling",
            source: "run of Siconos 4.4.0",
            every: 2,
            ..Case::new(
                "spinning-sphere-fc3d",
                || sphere_table(1e-3, 4000),
                [within(1e-9, "t x y z a1 a2 a3 vx vy vz w1 w2 w3"), within(1e-9, "p_n p_t1 p_t2")],
            )
        },
        Case {
            model: "woodpecker toy, three frictional contacts",
            every: 5,
            own: 1e-8,
            ..Case::new("woodpecker", woodpecker, [within(1e-8, "t y vy phi_M omega_M phi_S omega_S")])
        },
    ]
}

fn ball2d(law: Law, rows: usize) -> Fallible<Table> {
    const R: f64 = 0.5;
    let mut sim = Simulation::with_time_step(0.005)?;
    let ball = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0, 0.4 * R * R])).at([1.0, 0.0, 0.0]).moving([0.0, 0.0, 2.0]);
    let integrator = Integrator::MoreauJean { theta: 0.5, gamma: 0.0, projection: Projection::None };
    let b = sim.spawn_system(ball.with_force([-G, 0.0, 0.0]), integrator)?;
    let jacobian = [[1.0, 0.0, 0.0], [0.0, 1.0, -R], [0.0, 0.0, 1.0]];
    let mut offset = vec![0.0; rows];
    offset[0] = -R;
    let f = sim.spawn_interaction(Interaction::new([b], LagrangianLinear::new(jacobian[..rows].concat(), offset), law))?;
    let columns: [(&str, Signal); 9] = [
        ("t", Time),
        ("x", State(b, 0)),
        ("vx", Velocity(b, 0)),
        ("omega", Velocity(b, 2)),
        ("p1_x", Input(b, 0)),
        ("lambda_n", Multiplier(f, 0)),
        ("y", State(b, 1)),
        ("theta", State(b, 2)),
        ("vy", Velocity(b, 1)),
    ];
    Table::run(&mut sim, &columns, 2000)
}

fn incline() -> Fallible<Table> {
    let slope = 25f64.to_radians();
    let mut all = Table::default();
    for mu in [0.6, 0.3] {
        let mut sim = Simulation::with_time_step(1e-3)?;
        let block = Lagrangian::new(Operator::Diagonal(vec![2.0, 2.0])).at([0.0, 0.0]).moving([1.2, 0.0]);
        let b = sim.spawn_system(block.with_force([2.0 * G * slope.sin(), -2.0 * G * slope.cos()]), Integrator::MOREAU_JEAN)?;
        let law = Law::CoulombImpact(CoulombImpact { mu, e_n: 0.0, ..CoulombImpact::default() });
        let f = sim.spawn_interaction(Interaction::new([b], LagrangianLinear::new([0.0, 1.0, 1.0, 0.0], [0.0, 0.0]), law))?;
        let columns: [(&str, Signal); 7] = [
            ("t", Time),
            ("s", State(b, 0)),
            ("n", State(b, 1)),
            ("vs", Velocity(b, 0)),
            ("vn", Velocity(b, 1)),
            ("p_n", Multiplier(f, 0)),
            ("p_t", Multiplier(f, 1)),
        ];
        let table = Table::run(&mut sim, &columns, 2000)?.with("mu", |_| mu);
        all.names = table.names;
        all.rows.extend(table.rows);
        all.report.merge(&table.report);
    }
    Ok(all)
}

pub(crate) const RADIUS: f64 = 0.3;
pub(crate) const MASS: f64 = 1.7;
pub(crate) const ROUGH: CoulombImpact = CoulombImpact { mu: 0.25, e_n: 0.6, ..CoulombImpact::FRICTIONLESS };

fn spinning_sphere(h: f64) -> Fallible<(Simulation, Entity, Entity)> {
    let (m, r) = (MASS, RADIUS);
    let i = 0.4 * m * r * r;
    let mut sim = Simulation::with_time_step(h)?;
    let sphere = Lagrangian::new(Operator::Diagonal(vec![m, m, m, i, i, i]))
        .at([0.0, 0.0, 0.8, 0.0, 0.0, 0.0])
        .moving([2.0, -0.5, 0.0, 3.0, -10.0, 4.0]);
    let b = sim.spawn_system(sphere.with_force([0.0, 0.0, -m * G, 0.0, 0.0, 0.0]), Integrator::MOREAU_JEAN)?;
    #[rustfmt::skip]
    let rows = [
        0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
        1.0, 0.0, 0.0, 0.0, -r, 0.0,
        0.0, 1.0, 0.0, r, 0.0, 0.0,
    ];
    let f = Interaction::new([b], LagrangianLinear::new(rows, [-r, 0.0, 0.0]), Law::CoulombImpact(ROUGH));
    let f = sim.spawn_interaction(f)?;
    Ok((sim, b, f))
}

/// Every step of the linear sphere.
pub(crate) fn sphere_table(h: f64, steps: u64) -> Fallible<Table> {
    let (mut sim, b, f) = spinning_sphere(h)?;
    let mut columns = vec![("t", Time)];
    columns.extend(["x", "y", "z", "a1", "a2", "a3"].into_iter().enumerate().map(|(i, name)| (name, State(b, i))));
    columns.extend(["vx", "vy", "vz", "w1", "w2", "w3"].into_iter().enumerate().map(|(i, name)| (name, Velocity(b, i))));
    columns.extend(["p_n", "p_t1", "p_t2"].into_iter().enumerate().map(|(i, name)| (name, Multiplier(f, i))));
    Table::run(&mut sim, &columns, steps)
}

fn woodpecker() -> Fallible<Table> {
    let (r_o, r_m, h_m, l_m, l_g, h_s, l_s) = (0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201);
    let (m_m, m_s, j_m, j_s, c_phi) = (0.0003, 0.0045, 5e-9, 7e-7, 0.0056);
    #[rustfmt::skip]
    let mass = [
        m_s + m_m, m_s * l_m, m_s * l_g,
        m_s * l_m, j_m + m_s * l_m * l_m, m_s * l_m * l_g,
        m_s * l_g, m_s * l_m * l_g, j_s + m_s * l_g * l_g,
    ];
    let toy = Lagrangian::new(mass)
        .at([0.0, -0.1036, -0.2788])
        .moving([-0.3411, 4.8572e-15, -7.4583])
        .with_stiffness([0.0, 0.0, 0.0, 0.0, c_phi, -c_phi, 0.0, -c_phi, c_phi])
        .with_force([-G * (m_s + m_m), -G * m_s * l_m, -G * m_s * l_g]);
    let mut sim = Simulation::with_time_step(2e-5)?;
    let w = sim.spawn_system(toy, Integrator::MOREAU_JEAN)?;
    let contacts = [
        ([0.0, 0.0, -h_s], [1.0, l_m, l_g - l_s], l_m + l_g - l_s - r_o, 0.5),
        ([0.0, h_m, 0.0], [1.0, r_m, 0.0], r_m - r_o, 0.0),
        ([0.0, -h_m, 0.0], [1.0, r_m, 0.0], r_m - r_o, 0.0),
    ];
    for (normal, tangent, offset, e_n) in contacts {
        let relation = LagrangianLinear::new([normal, tangent].concat(), [offset, 0.0]);
        sim.spawn_interaction(Interaction::new(
            [w],
            relation,
            Law::CoulombImpact(CoulombImpact { mu: 0.3, e_n, ..CoulombImpact::default() }),
        ))?;
    }
    let columns: [(&str, Signal); 7] = [
        ("t", Time),
        ("y", State(w, 0)),
        ("vy", Velocity(w, 0)),
        ("phi_M", State(w, 1)),
        ("omega_M", Velocity(w, 1)),
        ("phi_S", State(w, 2)),
        ("omega_S", Velocity(w, 2)),
    ];
    Table::run(&mut sim, &columns, 14999)
}
