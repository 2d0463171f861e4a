//! A double pendulum, free and between walls: chaos from smooth equations, and more of it from impacts.
//!
//! ```text
//! M(q) q̈ + F_gyr(q, q̇) + F_int(q) = Gᵀ λ          equal masses and lengths 1, angles from the vertical
//! ```
//!
//! The free pendulum is held against an accurate solution; between elastic walls on both sides it has to keep its energy.

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianNonlinear;
use drystone::simulation::Simulation;
use std::f64::consts::FRAC_PI_2;

const G: f64 = 9.81;

/// Time, angles, rates, and the impulse of each wall, from rest.
fn swing(start: [f64; 2], h: f64, end: f64, wall: Option<f64>) -> Result<Vec<Vec<f64>>, Box<dyn std::error::Error>> {
    let mut sim = Simulation::with_time_step(h)?;
    let mass = Operator::function(|at, m| {
        let c = (at.q[0] - at.q[1]).cos();
        m.copy_from_slice(&[2.0, c, c, 1.0]);
    });
    let gyroscopic = Operator::function(|at, f| {
        let s = (at.q[0] - at.q[1]).sin();
        (f[0], f[1]) = (at.v[1] * at.v[1] * s, -at.v[0] * at.v[0] * s);
    });
    let gravity = Operator::function(|at, f| (f[0], f[1]) = (2.0 * G * at.q[0].sin(), G * at.q[1].sin()));
    let pendulum = Lagrangian::new(mass).at(start).with_gyroscopic(gyroscopic).with_internal(gravity);
    let pendulum = sim.spawn_system(pendulum, Integrator::MOREAU_JEAN)?;
    let mut signals = vec![Signal::Time];
    signals.extend((0..2).map(|i| Signal::State(pendulum, i)).chain((0..2).map(|i| Signal::Velocity(pendulum, i))));
    if let Some(place) = wall {
        // the lower bob keeps to the left of one wall and to the right of the other
        for side in [1.0, -1.0] {
            let gap = Operator::function(move |at, y| y[0] = place - side * (at.q[0].sin() + at.q[1].sin()));
            let wall =
                sim.spawn_interaction(Interaction::new([pendulum], LagrangianNonlinear::new(1, gap), Law::NewtonImpact { e: 1.0 }))?;
            signals.push(Signal::Multiplier(wall, 0));
        }
    }
    let table = sim.record(1, signals);
    let report = sim.advance((end / h).round() as u64)?;
    assert!(report.converged, "{:?}", report.systems);
    Ok(sim.trace(table).ok_or("recorded")?.rows().map(<[f64]>::to_vec).collect())
}

fn energy(r: &[f64]) -> f64 {
    r[3] * r[3] + 0.5 * r[4] * r[4] + r[3] * r[4] * (r[1] - r[2]).cos() - G * (2.0 * r[1].cos() + r[2].cos())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // angles at t = 1 s of a start with both rods level, from an integration with tolerance 1e-11
    let (level, exact) = ([FRAC_PI_2, FRAC_PI_2], [-0.625088, -1.034585]);
    let mut errors = Vec::new();
    for h in [4e-3, 2e-3, 1e-3] {
        let rows = swing(level, h, 1.0, None)?;
        let last = &rows[rows.len() - 1];
        errors.push((last[1] - exact[0]).hypot(last[2] - exact[1]));
    }
    // first order: M is taken at the end of the step
    println!("free: error after 1 s {errors:.5?} rad at h = 4, 2, 1 ms");

    // walls 0.9 m to both sides
    let (place, start) = (0.9, [FRAC_PI_2, -0.4]);
    let bob = |r: &[f64]| (r[1].sin() + r[2].sin(), -r[1].cos() - r[2].cos());
    let drift = |rows: &[Vec<f64>]| rows.iter().map(|r| (energy(r) - energy(&rows[0])).abs()).fold(0.0, f64::max);
    let rows = swing(start, 1e-4, 8.0, Some(place))?;
    let drifts = [drift(&swing(start, 2e-4, 8.0, Some(place))?), drift(&rows)];
    let hits = rows.iter().filter(|r| r[5] > 0.0 || r[6] > 0.0).count();
    let outside = rows.iter().map(|r| bob(r).0.abs() - place).fold(f64::MIN, f64::max);
    println!("between walls: {hits} hits, energy changes by {drifts:.4?} J at h = 0.2, 0.1 ms, overlap at most {outside:.1e} m");

    let free = swing(start, 1e-4, 8.0, None)?;
    let path_of = |rows: &[Vec<f64>]| rows.iter().map(|r| bob(r)).collect::<Vec<_>>();
    let wall = [(-place, -2.0), (-place, -0.5), (f64::NAN, 0.0), (place, -2.0), (place, -0.5)];
    let course = |i: usize, name: &str| Line::new(name, rows.iter().map(|r| (r[0], r[i])));
    let panels = [
        Panel::new("x of the lower bob (m), free", "z (m)", vec![Line::new("free", path_of(&free))]),
        Panel::new(
            "x of the lower bob (m), between walls",
            "z (m)",
            vec![Line::new("lower bob", path_of(&rows)), Line::new("walls", wall)],
        ),
        Panel::new("time (s), between walls", "angle (rad)", vec![course(1, "upper rod"), course(2, "lower rod")]),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/double_pendulum.svg".into());
    write_chart(path.as_ref(), "A double pendulum, free and between walls", &panels)?;
    println!("plot: {path}");

    assert!(errors[2] < 1e-3 && errors.windows(2).all(|e| (1.8..2.2).contains(&(e[0] / e[1]))), "{errors:?}");
    assert!(hits >= 4 && outside < 2e-3, "{hits} hits, {outside} m");
    assert!(drifts[1] < 0.2 && (1.5..2.5).contains(&(drifts[0] / drifts[1])), "elastic walls take no energy: {drifts:?} J");
    Ok(())
}
