//! A seven-joint arm of the proportions of the PA10: first it swings freely and keeps its energy, then it reaches for a point
//! behind a wall and presses its hand against it.
//!
//! M(q), Coriolis terms and weight all come from one small recursion (Newton–Euler, base to hand and back): the torques that a
//! motion (q, q̇, q̈) needs. Columns of M are the torques of unit accelerations, F_gyr those of q̈ = 0 without weight, and the
//! weight those of a base that accelerates upwards with g.
//!
//! ```text
//! M(q) q̈ + F_gyr(q, q̇) + g(q) = u + Gᵀ λ
//! free       E = ½ q̇ᵀ M q̇ + V stays          at rest on the wall      k_p (q_d − q) + Gᵀ λ = 0
//! ```

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianNonlinear;
use drystone::simulation::Simulation;
use glam::{DQuat, DVec3};

const G: f64 = 9.81;
/// Length of each link along its z axis (m), its mass (kg); each is a rod of radius 50 mm with its centre half way.
const LENGTH: [f64; 7] = [0.2, 0.25, 0.2, 0.25, 0.23, 0.1, 0.08];
const MASS: [f64; 7] = [9.8, 8.4, 6.5, 4.8, 3.8, 2.0, 1.0];
const RADIUS: f64 = 0.05;
/// Inertia of the motor of each joint, as seen behind its gear (kg m²).
const ROTOR: f64 = 0.05;
/// Axes of the joints: along the arm and across it in turn.
const AXIS: [DVec3; 7] = [DVec3::Z, DVec3::Y, DVec3::Z, DVec3::Y, DVec3::Z, DVec3::Y, DVec3::Z];

/// For each link its axis, joint, centre, end and orientation in the world.
fn links(q: &[f64]) -> [(DVec3, DVec3, DVec3, DVec3, DQuat); 7] {
    let (mut turn, mut joint) = (DQuat::IDENTITY, DVec3::ZERO);
    std::array::from_fn(|i| {
        let axis = turn * AXIS[i];
        turn *= DQuat::from_axis_angle(AXIS[i], q[i]);
        let (start, along) = (joint, turn * DVec3::Z * LENGTH[i]);
        joint += along;
        (axis, start, start + 0.5 * along, joint, turn)
    })
}

/// The torques that the motion needs, with the base accelerating upwards by `lift`.
fn torques(q: &[f64], v: &[f64], a: &[f64], lift: f64) -> [f64; 7] {
    let links = links(q);
    let (mut omega, mut alpha, mut acceleration) = (DVec3::ZERO, DVec3::ZERO, lift * DVec3::Z);
    let (mut forces, mut moments) = ([DVec3::ZERO; 7], [DVec3::ZERO; 7]);
    for (i, &(axis, joint, centre, end, turn)) in links.iter().enumerate() {
        alpha += axis * a[i] + omega.cross(axis * v[i]);
        omega += axis * v[i];
        let at = |point: DVec3| acceleration + alpha.cross(point - joint) + omega.cross(omega.cross(point - joint));
        let across = MASS[i] * (LENGTH[i] * LENGTH[i] + 3.0 * RADIUS * RADIUS) / 12.0;
        let inertia = DVec3::new(across, across, 0.5 * MASS[i] * RADIUS * RADIUS);
        let turned = |x: DVec3| turn * (inertia * (turn.inverse() * x));
        forces[i] = MASS[i] * at(centre);
        moments[i] = turned(alpha) + omega.cross(turned(omega));
        acceleration = at(end);
    }
    let (mut force, mut moment, mut out) = (DVec3::ZERO, DVec3::ZERO, [0.0; 7]);
    for (i, &(axis, joint, centre, end, _)) in links.iter().enumerate().rev() {
        moment += (end - joint).cross(force) + (centre - joint).cross(forces[i]) + moments[i];
        force += forces[i];
        out[i] = axis.dot(moment);
    }
    out
}

fn mass(q: &[f64]) -> [f64; 49] {
    let mut m = [0.0; 49];
    for j in 0..7 {
        let mut unit = [0.0; 7];
        unit[j] = 1.0;
        let column = torques(q, &[0.0; 7], &unit, 0.0);
        (0..7).for_each(|i| m[i * 7 + j] = column[i]);
        m[8 * j] += ROTOR;
    }
    m
}

fn energy(q: &[f64], v: &[f64]) -> f64 {
    let m = mass(q);
    let kinetic: f64 = (0..49).map(|k| 0.5 * v[k / 7] * m[k] * v[k % 7]).sum();
    kinetic + links(q).iter().zip(MASS).map(|(link, m)| m * G * link.2.z).sum::<f64>()
}

fn weight(q: &[f64]) -> [f64; 7] {
    torques(q, &[0.0; 7], &[0.0; 7], G)
}

fn arm(q: [f64; 7], v: [f64; 7]) -> Lagrangian {
    let zero = [0.0; 7];
    Lagrangian::new(Operator::function(|at, m| m.copy_from_slice(&mass(at.q))))
        .at(q)
        .moving(v)
        .with_gyroscopic(Operator::function(move |at, f| f.copy_from_slice(&torques(at.q, at.v, &zero, 0.0))))
        .with_internal(Operator::function(|at, f| f.copy_from_slice(&weight(at.q))))
}

/// Energy against time of an arm that swings by itself.
fn swing(integrator: Integrator, h: f64) -> Result<Vec<(f64, f64)>, Box<dyn std::error::Error>> {
    let mut sim = Simulation::with_time_step(h)?;
    let arm = sim.spawn_system(arm([0.2, 1.2, -0.4, 0.8, 0.3, -0.7, 0.0], [0.5, 0.0, -0.5, 0.0, 0.5, 0.0, 0.5]), integrator)?;
    let signals: Vec<Signal> = (0..7).map(|i| Signal::State(arm, i)).chain((0..7).map(|i| Signal::Velocity(arm, i))).collect();
    let table = sim.record(1, signals);
    let report = sim.advance((0.8 / h).round() as u64)?;
    assert!(report.converged, "{:?}", report.systems);
    let rows = sim.trace(table).ok_or("recorded")?.rows().enumerate();
    Ok(rows.map(|(k, r)| (k as f64 * h, energy(&r[..7], &r[7..]))).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let drift = |e: &[(f64, f64)]| e.iter().map(|x| (x.1 - e[0].1).abs()).fold(0.0, f64::max);
    let middle = Integrator::Midpoint { gamma: 0.5 };
    let (end, coarse, fine) = (swing(Integrator::MOREAU_JEAN, 2e-4)?, swing(middle, 2e-3)?, swing(middle, 1e-3)?);
    let (by_end, by_coarse, by_fine) = (drift(&end), drift(&coarse), drift(&fine));
    println!("free: energy {:.3} J changes by {by_end:.1e} J with M at the end, h = 0.2 ms;", fine[0].1);
    println!("      by {by_coarse:.1e} and {by_fine:.1e} J on the midpoint rule, h = 2 and 1 ms");

    // a servo drive in each joint: it carries the weight and pulls like a spring with a damper
    let (kp, kd, h, wall) = (300.0, 40.0, 5e-4, 0.62);
    let aim = [0.1, 0.9, 0.2, 1.0, 0.1, 0.2, 0.0];
    let mut sim = Simulation::with_time_step(h)?;
    let reaching = arm([0.0, -0.3, 0.0, 0.9, 0.0, 0.2, 0.0], [0.0; 7])
        .with_internal(Operator::function(move |at, f| (0..7).for_each(|i| f[i] = kp * (at.q[i] - aim[i]) + kd * at.v[i])));
    let reaching = sim.spawn_system(reaching, Integrator::MOREAU_JEAN)?;
    let gap = LagrangianNonlinear::new(1, Operator::function(move |at, y| y[0] = wall - links(at.q)[6].3.x));
    let contact = sim.spawn_interaction(Interaction::new([reaching], gap, Law::NewtonImpact { e: 0.2 }))?;
    let mut signals = vec![Signal::Time, Signal::Multiplier(contact, 0), Signal::Output(contact, 0)];
    signals.extend((0..7).map(|i| Signal::State(reaching, i)));
    let table = sim.record(1, signals);
    let report = sim.advance(8000)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();
    let last = rows[rows.len() - 1];

    // the wall pushes the hand back along x; the drives' springs balance it
    let (q, force) = (&last[3..], last[1] / h);
    let links = links(q);
    let hand = links[6].3;
    let left: Vec<f64> = (0..7).map(|i| kp * (aim[i] - q[i]) - links[i].0.cross(hand - links[i].1).x * force).collect();
    let worst = left.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    println!("on the wall: force {force:.3} N, statics leave {worst:.1e} N m, gap {:.1e} m", last[2]);

    let panels = [
        Panel::new(
            "time (s), free",
            "change of energy (J)",
            vec![
                Line::new("M at the end, h = 0.2 ms", end.iter().map(|e| (e.0, e.1 - end[0].1))),
                Line::new("midpoint, h = 2 ms", coarse.iter().map(|e| (e.0, e.1 - coarse[0].1))),
                Line::new("midpoint, h = 1 ms", fine.iter().map(|e| (e.0, e.1 - fine[0].1))),
            ],
        ),
        Panel::new("time (s)", "gap between hand and wall (mm)", vec![Line::new("gap", rows.iter().map(|r| (r[0], 1e3 * r[2])))]),
        Panel::new(
            "time (s)",
            "joint angle (rad)",
            (0..7).map(|i| Line::new(&format!("joint {}", i + 1), rows.iter().map(|r| (r[0], r[3 + i])))).collect(),
        ),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/seven_joint_arm.svg".into());
    write_chart(path.as_ref(), "A seven-joint arm swings, and presses on a wall", &panels)?;
    println!("plot: {path}");

    assert!(report.converged, "{:?}", report.systems);
    // with ten times the step, the midpoint rule loses less
    assert!(by_coarse < by_end && (3.0..5.0).contains(&(by_coarse / by_fine)), "energy stays, to second order");
    assert!(rows[0][2] > 0.0 && force > 1.0 && worst < 1e-3 * force && last[2].abs() < 1e-3, "{force} N, {left:?} N m, gap {} m", last[2]);
    Ok(())
}
