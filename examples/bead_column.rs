//! Ten beads, one above the other, fall on the floor, rattle and come to rest: then each contact carries the beads above it.

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::relation::LagrangianLinear;
use drystone::simulation::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (n, mass, radius, drop, gravity, h, end) = (10, 0.004, 0.005, 0.05, 9.81, 1e-4, 1.0);
    let law = Law::NewtonImpact { e: 0.6 };
    let mut sim = Simulation::with_time_step(h)?;
    let (mut beads, mut contacts) = (Vec::new(), Vec::new());
    for i in 0..n {
        let start = drop + radius + f64::from(i) * 2.0 * radius;
        beads.push(sim.spawn_system(Lagrangian::new([mass]).at([start]).with_force([-mass * gravity]), Integrator::MOREAU_JEAN)?);
    }
    contacts.push(sim.spawn_interaction(Interaction::new([beads[0]], LagrangianLinear::new([1.0], [-radius]), law.clone()))?);
    for pair in beads.windows(2) {
        let touch = LagrangianLinear::new([-1.0, 1.0], [-2.0 * radius]);
        contacts.push(sim.spawn_interaction(Interaction::new([pair[0], pair[1]], touch, law.clone()))?);
    }
    let mut signals = vec![Signal::Time];
    signals.extend(beads.iter().map(|&b| Signal::State(b, 0)));
    signals.extend(beads.iter().map(|&b| Signal::Velocity(b, 0)));
    signals.extend(contacts.iter().map(|&c| Signal::Multiplier(c, 0)));
    let table = sim.record(1, signals);
    let report = sim.advance((end / h) as u64)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();
    let last = rows[rows.len() - 1];
    let (speeds, forces) = (&last[11..21], last[21..].iter().map(|p| p / h).collect::<Vec<f64>>());
    println!("after {end} s the contacts carry {forces:.4?} N; the largest overlap was {:.1e} m", report.systems.penetration);

    let line = |name: String, k: usize, factor: f64| Line::new(&name, rows.iter().map(|r| (r[0], factor * r[k])));
    let panels = [
        Panel::new("time (s)", "height (mm)", (0..10).map(|i| line(format!("bead {}", i + 1), 1 + i, 1e3)).collect()),
        Panel::new("time (s)", "impulse of a step (mN s)", vec![line("floor".into(), 21, 1e3), line("highest contact".into(), 30, 1e3)]),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/bead_column.svg".into());
    write_chart(path.as_ref(), "A falling column of beads", &panels)?;
    println!("plot: {path}");

    assert!(report.converged);
    let total = f64::from(n) * mass;
    let floor: f64 = rows.iter().skip(1).map(|r| r[21]).sum();
    let momentum = mass * speeds.iter().sum::<f64>();
    assert!((floor - total * gravity * end - momentum).abs() < 1e-10, "the floor gave what gravity took");
    let energy = |r: &[f64]| (1..11).map(|i| mass * (gravity * r[i] + 0.5 * r[i + 10] * r[i + 10])).sum::<f64>();
    // a contact that is still in overlap while it opens is closed again at e times its speed: that share must stay small
    let gained: f64 = rows.windows(2).map(|w| (energy(w[1]) - energy(w[0])).max(0.0)).sum();
    println!("of {:.4e} J, {:.4e} J are lost in impacts and {gained:.1e} J gained", energy(rows[0]), energy(rows[0]) - energy(last));
    assert!(gained < 1e-3 * (energy(rows[0]) - energy(last)), "impacts do not make energy: {gained} J");
    assert!(speeds.iter().all(|v| v.abs() < 1e-9), "all rest: {speeds:?}");
    for (i, force) in (0..n).zip(&forces) {
        let above = f64::from(n - i) * mass * gravity;
        assert!((force - above).abs() < 1e-9 * above.max(1.0), "contact {i} carries {force} N, but {above} N lie on it");
    }
    Ok(())
}
