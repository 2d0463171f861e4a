//! A ball thrown flat on a lane: it slides, grips, rolls, and rolling friction brings it to rest.
//!
//! ```text
//! sliding    v̇ = −μ g,  R φ̈ = (5/2)(μ − μ_r/R) g          until v = R φ̇
//! rolling    v̇ = −(5/7) μ_r g/R                            until rest
//! ```
//!
//! Coordinates (x, z, φ); contact rows (normal, tangent, moment) with one law for all three.

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianLinear;
use drystone::simulation::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (m, r, mu, mu_r, v0, g, h) = (7.0, 0.11, 0.2, 0.01, 5.0, 9.81, 1e-3);
    let mut sim = Simulation::with_time_step(h)?;
    // φ counts in the sense of rolling towards +x; 1e-9 inside, so that rounding does not decide on the contact
    let ball = Lagrangian::new(Operator::Diagonal(vec![m, m, 0.4 * m * r * r])).at([0.0, r - 1e-9, 0.0]).moving([v0, 0.0, 0.0]);
    let ball = sim.spawn_system(ball.with_force([0.0, -m * g, 0.0]), Integrator::MOREAU_JEAN)?;
    let rows = LagrangianLinear::new([0.0, 1.0, 0.0, 1.0, 0.0, -r, 0.0, 0.0, 1.0], [-r, 0.0, 0.0]);
    let law = Law::RollingImpact { contact: CoulombImpact { mu, ..CoulombImpact::default() }, mu_r };
    sim.spawn_interaction(Interaction::new([ball], rows, law))?;
    let table = sim.record(1, [Signal::Time, Signal::State(ball, 0), Signal::Velocity(ball, 0), Signal::Velocity(ball, 2)]);
    let report = sim.advance(8_000)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();

    let spin_up = 2.5 * (mu - mu_r / r) * g;
    let slow_down = 5.0 / 7.0 * mu_r * g / r;
    let grips = v0 / (mu * g + spin_up);
    let rolling = v0 - mu * g * grips;
    let rests = grips + rolling / slow_down;
    let place = v0 * grips - 0.5 * mu * g * grips * grips + 0.5 * rolling * rolling / slow_down;
    let last = rows[rows.len() - 1];
    println!("grips at {grips:.4} s with {rolling:.4} m/s, rests at {rests:.4} s, {place:.4} m from the start; found {:.4} m", last[1]);

    let panels = [
        Panel::new(
            "time (s)",
            "speed (m/s)",
            vec![
                Line::new("centre", rows.iter().map(|row| (row[0], row[2]))),
                Line::new("R × spin", rows.iter().map(|row| (row[0], r * row[3]))),
            ],
        ),
        Panel::new("time (s)", "place (m)", vec![Line::new("centre", rows.iter().map(|row| (row[0], row[1])))]),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/rolling_ball.svg".into());
    write_chart(path.as_ref(), "A ball slides, grips, rolls and rests", &panels)?;
    println!("plot: {path}");

    assert!(report.converged, "{:?}", report.systems);
    for row in &rows {
        let t = row[0];
        let (v, spin) = if t < grips {
            (v0 - mu * g * t, spin_up * t / r)
        } else {
            let v = (rolling - slow_down * (t - grips)).max(0.0);
            (v, v / r)
        };
        assert!((row[2] - v).abs() < 2.0 * mu * g * h && (row[3] - spin).abs() < 2.0 * mu * g * h / r, "at {t} s: {row:?}");
    }
    assert!(last[2].abs() < 1e-12 && last[3].abs() < 1e-10, "it rests: {last:?}");
    assert!((last[1] - place).abs() < v0 * h, "it rests at {} m, not {place}", last[1]);
    Ok(())
}
