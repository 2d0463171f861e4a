//! A violin string in its simplest form: a mass on a spring, on a belt that drags it along until the friction gives way.
//!
//! Friction falls from μ_s at rest to μ_d in motion. The mass sticks to the belt up to k x = μ_s m g, slips back, is caught
//! again, for ever. With a sudden drop of the friction the cycle has a closed form, D = (μ_s − μ_d) m g/k, ω² = k/m:
//!
//! ```text
//! T = 2 D/v + (2π − 2 atan(D ω/v))/ω          sticking at speed v, then slipping
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (m, k, weight, mu_s, mu_d, belt) = (1.0, 100.0, 10.0, 0.4, 0.25, 0.1);
    // sliding speed at which half of the drop is done
    let (half, h) = (2e-4, 1e-4);
    let mut sim = Simulation::with_time_step(h)?;
    // the set-valued part of the friction is a relay with μ_s; a smooth force takes back what μ_d is less
    let drop = Operator::function(move |at, f| {
        let slip = at.v[0] - belt;
        f[0] = -(mu_s - mu_d) * weight * slip / (slip.abs() + half);
    });
    let slope = Operator::function(move |at, f| f[0] = -(mu_s - mu_d) * weight * half / ((at.v[0] - belt).abs() + half).powi(2));
    let mass = Lagrangian::new([m]).at([0.0]).moving([belt]).with_stiffness([k]).with_internal(drop).with_internal_jacobians([0.0], slope);
    let mass = sim.spawn_system(mass, Integrator::MOREAU_JEAN)?;
    let sliding =
        LagrangianNonlinear::new(1, Operator::function(move |at, y| y[0] = at.q[0] - belt * at.t)).with_jacobian([1.0]).with_rate([-belt]);
    sim.spawn_interaction(Interaction::new([mass], sliding, Law::Relay { lower: -mu_s * weight, upper: mu_s * weight }))?;
    let table = sim.record(1, [Signal::Time, Signal::State(mass, 0), Signal::Velocity(mass, 0)]);
    let report = sim.advance(60_000)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();

    // the mass lets go where its speed leaves that of the belt
    let sticks = |r: &[f64]| (r[2] - belt).abs() < 1e-9;
    let lets_go: Vec<(f64, f64)> = rows.windows(2).filter(|w| sticks(w[0]) && !sticks(w[1])).map(|w| (w[0][0], w[0][1])).collect();
    let period = (lets_go[lets_go.len() - 1].0 - lets_go[1].0) / (lets_go.len() - 2) as f64;
    let (d, omega) = ((mu_s - mu_d) * weight / k, f64::sqrt(k / m));
    let wanted = 2.0 * d / belt + (std::f64::consts::TAU - 2.0 * (d * omega / belt).atan()) / omega;
    println!("{} cycles, period {period:.4} s; a sudden drop of the friction would give {wanted:.4} s", lets_go.len() - 1);

    let panels = [
        Panel::new("time (s)", "place (mm)", vec![Line::new("mass", rows.iter().map(|r| (r[0], 1e3 * r[1])))]),
        Panel::new("time (s)", "speed (m/s)", vec![Line::new("mass", rows.iter().map(|r| (r[0], r[2])))]),
        Panel::new("place (mm)", "speed (m/s)", vec![Line::new("limit cycle", rows.iter().map(|r| (1e3 * r[1], r[2])))]),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/stick_slip_belt.svg".into());
    write_chart(path.as_ref(), "Stick and slip on a belt", &panels)?;
    println!("plot: {path}");

    assert!(report.converged, "{:?}", report.systems);
    assert!(lets_go.iter().all(|p| (p.1 - mu_s * weight / k).abs() < 2e-4), "it lets go where k x = μ_s m g: {lets_go:?}");
    assert!((period / wanted - 1.0).abs() < 0.02, "{period} against {wanted}");
    assert!(rows.iter().all(|r| r[2] <= belt + 1e-9), "nothing drives the mass faster than the belt");
    Ok(())
}
