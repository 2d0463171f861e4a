//! A mass on a spring and a rough plane: the swings shrink by the same length each time, and the last one ends in the dry band.
//!
//! ```text
//! m ẍ + k x ∈ −μ m g sgn(ẋ)          each half-cycle takes π √(m/k) and 2 μ m g/k of the amplitude; stop where |x| ≤ μ m g/k
//! ```

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::relation::LagrangianLinear;
use drystone::simulation::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (m, k, mu, start) = (1.0, 100.0, 0.1, 0.1);
    let friction = mu * m * 9.81;
    let mut sim = Simulation::with_time_step(1e-4)?;
    let mass = sim.spawn_system(Lagrangian::new([m]).at([start]).with_stiffness([k]), Integrator::MOREAU_JEAN)?;
    let law = Law::Relay { lower: -friction, upper: friction };
    let plane = sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [0.0]), law))?;
    let signals = [Signal::Time, Signal::State(mass, 0), Signal::Velocity(mass, 0), Signal::Multiplier(plane, 0)];
    let table = sim.record(1, signals);
    let report = sim.advance(20_000)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();
    let last = rows[rows.len() - 1];
    let half_cycle = std::f64::consts::PI * f64::sqrt(m / k);
    println!("at rest at {:.6} m after {:.4} s", last[1], rows.iter().rfind(|r| r[2] != 0.0).ok_or("it moves")?[0]);

    let edge = 1e3 * friction / k;
    let band = [(0.0, edge), (2.0, edge), (f64::NAN, 0.0), (0.0, -edge), (2.0, -edge)];
    let places = vec![Line::new("mass", rows.iter().map(|r| (r[0], 1e3 * r[1]))), Line::new("dry band", band)];
    let panels = [
        Panel::new("time (s)", "place (mm)", places),
        Panel::new("place (mm)", "speed (m/s)", vec![Line::new("mass", rows.iter().map(|r| (1e3 * r[1], r[2])))]),
        Panel::new("time (s)", "friction (N)", vec![Line::new("friction", rows[1..].iter().map(|r| (r[0], r[3] / 1e-4)))]),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/friction_oscillator.svg".into());
    write_chart(path.as_ref(), "Oscillator with dry friction", &panels)?;
    println!("plot: {path}");

    assert!(report.converged);
    for n in 1..=5 {
        let turn = (f64::from(n) * half_cycle / 1e-4).round() as usize;
        let wanted = (start - 2.0 * f64::from(n) * friction / k) * if n % 2 == 0 { 1.0 } else { -1.0 };
        assert!((rows[turn][1] - wanted).abs() < 1e-5, "turning point {n} is at {} m, not {wanted}", rows[turn][1]);
    }
    assert!((last[1] + 0.0019).abs() < 1e-5 && last[2] == 0.0, "it rests at −1.9 mm: {last:?}");
    assert!((last[3] / 1e-4 + k * -last[1]).abs() < 1e-9, "friction holds the spring: {last:?}");
    Ok(())
}
