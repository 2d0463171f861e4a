//! One ball bouncing, by all schemes.

use super::table::{Case, Fallible, Table, within};
use bevy_ecs::prelude::Entity;
use drystone::cluster::Signal::{Correction, Force, Input, Multiplier, State, Time, Velocity};
use drystone::model::dynamical_system::{Frame, Lagrangian, NewtonEuler, Prescribed};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::{LagrangianLinear, LagrangianNonlinear};
use drystone::simulation::Simulation;
use glam::DVec3;

pub(crate) fn cases() -> Vec<Case> {
    let sp = [
        within(1e-9, "z p0_z lambda0").until(7.5),
        within(2e-5, "z p0_z lambda0").since(7.5),
        within(1e-7, "vz").until(7.5),
        within(2e-3, "vz").since(7.5),
    ];
    vec![
        Case {
            model: "ball dropped from 1 m, e = 0.9, Moreau–Jean θ = ½",
            ..Case::new("bouncing-ball-moreau-jean", moreau_jean, [within(1e-10, "t z vz p1_z lambda1")])
        },
        Case {
            model: "the same, Schatzman–Paoli θ = ½",
            // the map amplifies rounding at each rebound
            own: 1e-3,
            ..Case::new("bouncing-ball-schatzman-paoli", schatzman_paoli, sp)
        },
        Case {
            model: "the same, time-discontinuous Galerkin D1-minus, h = 5e-4",
            every: 10,
            ..Case::new("bouncing-ball-d1minus", d1_minus, [within(1e-10, "t z vz p1_z lambda1 p2_z lambda2")])
        },
        Case {
            model: "the same, combined projection of positions",
            also: |ours, _| {
                let z = ours.at("z")?;
                let low = ours.rows.iter().map(|r| r[z]).fold(0.0, f64::min);
                if low >= -1e-10 { Ok(()) } else { Err(format!("z falls to {low:e}").into()) }
            },
            ..Case::new("bouncing-ball-combined-projection", combined, [within(1e-10, "t z vz p1_z lambda1 p0_z lambda0")])
        },
        Case {
            model: "inclined floor by a scleronomous relation h(q)",
            ..Case::new("bouncing-ball-scleronomous", scleronomous, [within(1e-10, "t z y vz vy p1_z lambda1")])
        },
        Case {
            model: "ball on a plane of prescribed velocity 2 + cos(πt/2)",
            // in row 0, columns y and vy of the source hold z and vz; its bc_reaction is not compared
            ..Case::new(
                "ball-on-moving-plane",
                moving_plane,
                [within(1e-10, "t z vz p1_z lambda1 z_plane v_plane y_plane vy_plane"), within(1e-10, "y vy").after_row(1)],
            )
        },
        Case {
            model: "rigid ball, friction law, direct projection of positions",
            also: |ours, _| {
                let (x, p) = (ours.at("x")?, ours.at("p1_x")?);
                let low = ours.rows.iter().filter(|r| r[p] > 0.0).map(|r| r[x] - 0.1).fold(0.0, f64::min);
                if low >= -1e-8 { Ok(()) } else { Err(format!("an active contact ends at a gap of {low:e}").into()) }
            },
            ..Case::new(
                "newton-euler-ball-projection",
                rigid_ball,
                [within(1e-9, "t x vx p1_x lambda1_n acos_q3 contact_force_norm x_bis y z quat0 quat1 quat2 quat3 vy vz")],
            )
        },
    ]
}

/// A ball of 1 kg as q = (height, y, angle).
pub(crate) fn ball(sim: &mut Simulation, g: f64, integrator: Integrator) -> Fallible<Entity> {
    let inertia = 0.4 * 0.1f64.powi(2);
    let ball = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0, inertia])).at([1.0, 0.0, 0.0]).with_force([-g, 0.0, 0.0]);
    Ok(sim.spawn_system(ball, integrator)?)
}

fn on_floor(h: f64, integrator: Integrator) -> Fallible<(Simulation, Entity, Entity)> {
    let mut sim = Simulation::with_time_step(h)?;
    let ball = ball(&mut sim, 9.81, integrator)?;
    let floor = Interaction::new([ball], LagrangianLinear::new([1.0, 0.0, 0.0], [0.0]), Law::NewtonImpact { e: 0.9 });
    let floor = sim.spawn_interaction(floor)?;
    Ok((sim, ball, floor))
}

fn moreau_jean() -> Fallible<Table> {
    let (mut sim, b, f) = on_floor(0.005, Integrator::MOREAU_JEAN)?;
    let columns = [("t", Time), ("z", State(b, 0)), ("vz", Velocity(b, 0)), ("p1_z", Input(b, 0)), ("lambda1", Multiplier(f, 0))];
    Table::run(&mut sim, &columns, 2000)
}

fn schatzman_paoli() -> Fallible<Table> {
    let (mut sim, b, f) = on_floor(0.005, Integrator::SchatzmanPaoli { theta: 0.5 })?;
    let columns = [("t", Time), ("z", State(b, 0)), ("vz", Velocity(b, 0)), ("p0_z", Input(b, 0)), ("lambda0", Multiplier(f, 0))];
    Table::run(&mut sim, &columns, 2000)
}

fn d1_minus() -> Fallible<Table> {
    let (mut sim, b, f) = on_floor(5e-4, Integrator::D1Minus { tolerance: 1e-8 })?;
    let impact = [("t", Time), ("z", State(b, 0)), ("vz", Velocity(b, 0)), ("p1_z", Input(b, 0)), ("lambda1", Multiplier(f, 0))];
    let force = [("p2_z", Force(f, 0)), ("lambda2", Force(f, 0))];
    Table::run(&mut sim, &[&impact[..], &force].concat(), 20000)
}

fn combined() -> Fallible<Table> {
    let projection = Projection::Combined { tolerance: 1e-10 };
    let (mut sim, b, f) = on_floor(0.005, Integrator::MoreauJean { theta: 0.5, gamma: 0.5, projection })?;
    let velocity = [("t", Time), ("z", State(b, 0)), ("vz", Velocity(b, 0)), ("p1_z", Input(b, 0)), ("lambda1", Multiplier(f, 0))];
    let position = [("p0_z", Correction(f, 0)), ("lambda0", Correction(f, 0))];
    Table::run(&mut sim, &[&velocity[..], &position].concat(), 2000)
}

fn scleronomous() -> Fallible<Table> {
    const ALPHA: f64 = 0.1;
    let mut sim = Simulation::with_time_step(0.025)?;
    let b = ball(&mut sim, 10.0, Integrator::MOREAU_JEAN)?;
    let relation = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0] + ALPHA * at.q[1]));
    let relation = relation.with_jacobian(Operator::function(|_, g| g.copy_from_slice(&[1.0, ALPHA, 0.0])));
    let f = sim.spawn_interaction(Interaction::new([b], relation, Law::NewtonImpact { e: 0.9 }))?;
    let state = [("t", Time), ("z", State(b, 0)), ("y", State(b, 1)), ("vz", Velocity(b, 0)), ("vy", Velocity(b, 1))];
    let impulses = [("p1_z", Input(b, 0)), ("lambda1", Multiplier(f, 0))];
    Table::run(&mut sim, &[&state[..], &impulses].concat(), 400)
}

fn moving_plane() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(0.005)?;
    let b = ball(&mut sim, 9.81, Integrator::MOREAU_JEAN)?;
    let plane = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0, 0.4 * 0.01])).at([0.0; 3]).with_force([-9.81, 0.0, 0.0]);
    let velocity = Prescribed::Harmonic { a: 2.0, b: 1.0, omega: std::f64::consts::FRAC_PI_2, phi: 0.0 };
    let p = sim.spawn_system(plane.with_prescribed(0, velocity), Integrator::MOREAU_JEAN)?;
    let relation = LagrangianLinear::new([1.0, 0.0, 0.0, -1.0, 0.0, 0.0], [0.0]);
    let f = sim.spawn_interaction(Interaction::new([b, p], relation, Law::NewtonImpact { e: 0.9 }))?;
    let ball = [("t", Time), ("z", State(b, 0)), ("vz", Velocity(b, 0)), ("p1_z", Input(b, 0)), ("lambda1", Multiplier(f, 0))];
    let plane = [("z_plane", State(p, 0)), ("v_plane", Velocity(p, 0)), ("y_plane", State(p, 1)), ("vy_plane", Velocity(p, 1))];
    let side = [("y", State(b, 1)), ("vy", Velocity(b, 1))];
    Table::run(&mut sim, &[&ball[..], &plane, &side].concat(), 2000)
}

fn rigid_ball() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(0.005)?;
    let body = NewtonEuler::new(1.0, DVec3::ONE).at(DVec3::X).moving(DVec3::X * 2.0);
    let projection = Projection::Direct { tolerance: 1e-8 };
    let integrator = Integrator::MoreauJean { theta: 0.5, gamma: 0.5, projection };
    let b = sim.spawn_system(body.with_force([-9.81, 0.0, 0.0], Frame::Inertial), integrator)?;
    // the contact point is 0.1 m below the centre; the ball does not turn
    let relation = LagrangianNonlinear::new(3, Operator::function(|at, y| y.copy_from_slice(&[at.q[0].abs() - 0.1, at.q[1], at.q[2]])));
    #[rustfmt::skip]
    let rows = [
        1.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 1.0, 0.0, 0.0, 0.0, -0.1,
        0.0, 0.0, 1.0, 0.0, 0.1, 0.0,
    ];
    let law = Law::CoulombImpact(CoulombImpact { mu: 0.6, e_n: 0.9, e_t: 0.9, ..CoulombImpact::default() });
    let f = sim.spawn_interaction(Interaction::new([b], relation.with_jacobian(rows), law))?;
    let state = [("t", Time), ("x", State(b, 0)), ("vx", Velocity(b, 0)), ("p1_x", Input(b, 0)), ("lambda1_n", Multiplier(f, 0))];
    let rest = [("x_bis", State(b, 0)), ("y", State(b, 1)), ("z", State(b, 2)), ("vy", Velocity(b, 1)), ("vz", Velocity(b, 2))];
    let turn = [("quat0", State(b, 3)), ("quat1", State(b, 4)), ("quat2", State(b, 5)), ("quat3", State(b, 6))];
    let forces = [("p1_y", Input(b, 1)), ("p1_zz", Input(b, 2))];
    let table = Table::run(&mut sim, &[&state[..], &rest, &turn, &forces].concat(), 2000)?;
    let (q0, p) = (table.at("quat0")?, [table.at("p1_x")?, table.at("p1_y")?, table.at("p1_zz")?]);
    let table = table.with("acos_q3", |row| row[q0].clamp(-1.0, 1.0).acos());
    Ok(table.with("contact_force_norm", |row| p.iter().map(|&k| row[k] * row[k]).sum::<f64>().sqrt()))
}
