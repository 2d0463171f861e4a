//! Rigid bodies on joints: equalities between Newton–Euler systems, at velocity level alone.

use super::table::{Case, Fallible, Table, within};
use bevy_ecs::prelude::Entity;
use drystone::algebra::spatial::Pose;
use drystone::cluster::Signal::{Output, State, Time};
use drystone::cluster::{NewtonLoop, RowsAt};
use drystone::model::dynamical_system::{Frame, NewtonEuler};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::joint::{Joint, JointKind};
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianNonlinear;
use drystone::simulation::Simulation;
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, SQRT_2};

const BACKWARD: Integrator = Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Projection::None };
const WEIGHT: [f64; 3] = [0.0, 0.0, -9.81];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            model: "beam on a spherical joint, launched at 100 m/s, θ = 1",
            first: 1,
            own: 1e-7,
            // ‖ẏ‖ is rounding
            ..Case::new("knee-joint-beam", knee, [within(1e-9, "t x y z quat0 quat1 quat2 quat3"), within(1e-9, "y_norm")])
        },
        Case {
            model: "slider-crank of three beams, three spherical joints and a prismatic one, floor",
            first: 1,
            own: 1e-6,
            ..Case::new(
                "three-beams-knee-prismatic",
                beams,
                [within(1e-8, "t x1 y1 z1 x2 y2 z2 x3 y3 z3"), within(1e-8, "qa1 qb1 qc1 qd1 qa2 qb2 qc2 qd2 qa3 qb3 qc3 qd3")],
            )
        },
    ]
}

/// A point of a body (body axes) stays at the origin of the world.
fn pivot(r: DVec3) -> Joint {
    hinge(r, DVec3::ZERO)
}

/// A point of one body stays at a point of another.
fn hinge(a: DVec3, b: DVec3) -> Joint {
    Joint::new(JointKind::Spherical, Pose::at(a), Pose::at(b))
}

fn knee() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(0.01)?;
    sim.set_newton(NewtonLoop { tolerance: 1e-6, rows: RowsAt::End, ..NewtonLoop::default() });
    let body = NewtonEuler::new(1.0, DVec3::ONE).at(DVec3::new(0.5 / SQRT_2, 0.0, -0.5 / SQRT_2));
    let body = body.turned(DQuat::from_rotation_y(FRAC_PI_4)).moving(DVec3::X * 100.0);
    let body = body.inertia(DMat3::from_cols_array(&[0.1, 0.1, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 1.0]));
    // the pose of a body is that of its principal axes; the table has those of the matrix
    let axes = body.axes();
    let b = sim.spawn_system(body.with_force(WEIGHT, Frame::Inertial), BACKWARD)?;
    let k = sim.spawn_interaction(Interaction::new([b], pivot(axes.conjugate() * DVec3::new(-0.5, 0.0, 0.0)), Law::Equality))?;
    let mut columns = vec![("t", Time)];
    columns.extend(["x", "y", "z", "r0", "r1", "r2", "r3"].into_iter().enumerate().map(|(i, c)| (c, State(b, i))));
    columns.extend((0..3).map(|i| ("gap", Output(k, i))));
    let mut table = Table::run(&mut sim, &columns, 1000)?;
    for (k, name) in ["quat0", "quat1", "quat2", "quat3"].into_iter().enumerate() {
        table = table.with(name, |row| {
            let given = DQuat::from_xyzw(row[5], row[6], row[7], row[4]) * axes.conjugate();
            [given.w, given.x, given.y, given.z][k]
        });
    }
    Ok(table.with("y_norm", |row| DVec3::from_slice(&row[8..11]).length()))
}

fn beams() -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(0.01)?;
    sim.set_newton(NewtonLoop { tolerance: 5e-4, rows: RowsAt::End, ..NewtonLoop::default() });
    let half = 0.5 / SQRT_2;
    let places = [
        ([half, 0.0, -half], FRAC_PI_4),
        ([1.0 / SQRT_2 - half, 0.0, -1.0 / SQRT_2 - half], -FRAC_PI_4),
        ([0.0, 0.0, -SQRT_2 - 0.5], FRAC_PI_2),
    ];
    let mut bodies: Vec<Entity> = Vec::new();
    for (centre, angle) in places {
        let body = NewtonEuler::new(1.0, DVec3::new(0.1, 1.0, 1.0)).at(DVec3::from(centre)).turned(DQuat::from_rotation_y(angle));
        bodies.push(sim.spawn_system(body.with_force(WEIGHT, Frame::Inertial), BACKWARD)?);
    }
    let turned = |k: usize| DQuat::from_rotation_y(places[k].1);
    let centre = |k: usize| DVec3::from(places[k].0);
    // a point of one body, in the axes of the next
    let seen = |a: usize, r: DVec3, b: usize| turned(b).inverse() * (centre(a) + turned(a) * r - centre(b));
    let tip = DVec3::new(0.5, 0.0, 0.0);
    sim.spawn_interaction(Interaction::new([bodies[0]], pivot(turned(0).inverse() * -centre(0)), Law::Equality))?;
    sim.spawn_interaction(Interaction::new([bodies[0], bodies[1]], hinge(tip, seen(0, tip, 1)), Law::Equality))?;
    sim.spawn_interaction(Interaction::new([bodies[1], bodies[2]], hinge(-tip, seen(1, -tip, 2)), Law::Equality))?;
    // it slides along its own x axis, which starts along −z
    let rail = Joint::at(JointKind::Prismatic, [&Pose::new(centre(2), turned(2)), &Pose::default()], DVec3::ZERO, DVec3::NEG_Z, None);
    sim.spawn_interaction(Interaction::new([bodies[2]], rail, Law::Equality))?;
    let floor = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[2] + 2.3));
    let floor = floor.with_jacobian([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    sim.spawn_interaction(Interaction::new([bodies[2]], floor, Law::NewtonImpact { e: 0.9 }))?;
    const NAMES: [[&str; 7]; 3] = [
        ["x1", "y1", "z1", "qa1", "qb1", "qc1", "qd1"],
        ["x2", "y2", "z2", "qa2", "qb2", "qc2", "qd2"],
        ["x3", "y3", "z3", "qa3", "qb3", "qc3", "qd3"],
    ];
    let mut columns = vec![("t", Time)];
    for (names, &body) in NAMES.iter().zip(&bodies) {
        columns.extend(names.iter().enumerate().map(|(i, &name)| (name, State(body, i))));
    }
    Table::run(&mut sim, &columns, 1000)
}
