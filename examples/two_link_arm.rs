//! A two-link arm between two walls, with a controller that samples every millisecond.
//!
//! The controller wants the hand to swing between two points that lie behind the walls: it carries the weight of the arm and
//! pulls each joint to its place with a spring and a damper. The hand hits the walls, slides and stays pressed against the last.
//!
//! ```text
//! M(q) q̈ + F_gyr + F_int = u + Gᵀ λ          u = g(q) + k_p (q_d − q) − k_d q̇, held between samples
//! at rest                                   k_p (q_d − q) + Gᵀ λ = 0
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

/// Lengths (m) and masses (kg) of two slender rods.
const L: [f64; 2] = [0.5, 0.4];
const M: [f64; 2] = [2.0, 1.5];
const WALL: f64 = 0.45;

/// Moments of the weight; angles from the horizontal.
fn weight(q: &[f64]) -> [f64; 2] {
    let lower = M[1] * 9.81 * 0.5 * L[1] * (q[0] + q[1]).cos();
    [(0.5 * M[0] + M[1]) * 9.81 * L[0] * q[0].cos() + lower, lower]
}

/// Place of the hand to the side.
fn hand(q: &[f64]) -> f64 {
    L[0] * q[0].cos() + L[1] * (q[0] + q[1]).cos()
}

/// What the controller wants: the other wall every 1.5 s.
fn wanted(t: f64) -> [f64; 2] {
    if ((t / 1.5) as u64).is_multiple_of(2) { [0.7, 0.4] } else { [2.4, -0.4] }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (kp, kd, h, end) = (60.0, 8.0, 2.5e-4, 6.0);
    let mut sim = Simulation::with_time_step(h)?;
    let mass = Operator::function(|at, m| {
        let (c, tip) = (at.q[1].cos(), M[1] * L[1] * L[1] / 3.0);
        let bend = 0.5 * M[1] * L[0] * L[1] * c;
        m.copy_from_slice(&[(M[0] / 3.0 + M[1]) * L[0] * L[0] + tip + 2.0 * bend, tip + bend, tip + bend, tip]);
    });
    let gyroscopic = Operator::function(|at, f| {
        let k = 0.5 * M[1] * L[0] * L[1] * at.q[1].sin();
        f[0] = -k * at.v[1] * (2.0 * at.v[0] + at.v[1]);
        f[1] = k * at.v[0] * at.v[0];
    });
    let arm = Lagrangian::new(mass)
        .at([1.6, 0.3])
        .with_gyroscopic(gyroscopic)
        .with_internal(Operator::function(|at, f| f.copy_from_slice(&weight(at.q))))
        .with_force(Operator::function(|at, u| u.copy_from_slice(at.z)))
        .with_parameters([0.0, 0.0]);
    let arm = sim.spawn_system(arm, Integrator::MOREAU_JEAN)?;
    let mut signals =
        vec![Signal::Time, Signal::State(arm, 0), Signal::State(arm, 1), Signal::Parameter(arm, 0), Signal::Parameter(arm, 1)];
    for side in [1.0, -1.0] {
        let gap = LagrangianNonlinear::new(1, Operator::function(move |at, y| y[0] = WALL - side * hand(at.q)));
        let wall = sim.spawn_interaction(Interaction::new([arm], gap, Law::NewtonImpact { e: 0.4 }))?;
        signals.push(Signal::Multiplier(wall, 0));
    }
    sim.every(1e-3, move |t, world| {
        if let Some(mut arm) = world.get_mut::<Lagrangian>(arm) {
            let (aim, carry) = (wanted(t), weight(&arm.q));
            for i in 0..2 {
                arm.z[i] = carry[i] + kp * (aim[i] - arm.q[i]) - kd * arm.v[i];
            }
        }
    })?;
    let table = sim.record(1, signals);
    let report = sim.advance((end / h) as u64)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();
    let last = rows[rows.len() - 1];

    // at rest the contact force carries what the springs of the controller pull
    let (q, aim) = ([last[1], last[2]], wanted(end - 1e-6));
    let force = (last[5] - last[6]) / h;
    let lower = -L[1] * (q[0] + q[1]).sin();
    let rows_of_hand = [-L[0] * q[0].sin() + lower, lower];
    let pull: Vec<f64> = (0..2).map(|i| kp * (aim[i] - q[i])).collect();
    let left: Vec<f64> = (0..2).map(|i| pull[i] - rows_of_hand[i] * force).collect();
    println!("at rest: wall force {:.3} N, the springs pull {pull:.4?} N m, left over {left:.6?} N m", force.abs());
    println!("largest overlap {:.1e} m, at most {} Newton iterations a step", report.systems.penetration, report.systems.newton_iterations);

    let walls = [(0.0, WALL), (end, WALL), (f64::NAN, 0.0), (0.0, -WALL), (end, -WALL)];
    let panels = [
        Panel::new(
            "time (s)",
            "place of the hand (m)",
            vec![
                Line::new("hand", rows.iter().map(|r| (r[0], hand(&r[1..3])))),
                Line::new("wanted", rows.iter().map(|r| (r[0], hand(&wanted(r[0]))))),
                Line::new("walls", walls),
            ],
        ),
        Panel::new(
            "time (s)",
            "torque (N m)",
            vec![Line::new("shoulder", rows.iter().map(|r| (r[0], r[3]))), Line::new("elbow", rows.iter().map(|r| (r[0], r[4])))],
        ),
        Panel::new(
            "time (s)",
            "impulse of a step (N s)",
            vec![Line::new("right wall", rows.iter().map(|r| (r[0], r[5]))), Line::new("left wall", rows.iter().map(|r| (r[0], r[6])))],
        ),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/two_link_arm.svg".into());
    write_chart(path.as_ref(), "A two-link arm between walls", &panels)?;
    println!("plot: {path}");

    assert!(report.converged, "{:?}", report.systems);
    assert!(rows.iter().any(|r| r[5] > 0.0) && rows.iter().any(|r| r[6] > 0.0), "both walls are hit");
    assert!(report.systems.penetration < 2e-3, "the walls hold: {:?}", report.systems);
    assert!(force.abs() > 1.0 && left.iter().all(|x| x.abs() < 1e-3 * force.abs()), "statics: {left:?} N m of {force} N");
    Ok(())
}
