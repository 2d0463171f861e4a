//! The woodpecker toy: a bird on a spring pecks its way down a pole, and friction alone keeps the time.
//!
//! Three degrees of freedom (height y and tilt φ_M of the sleeve, tilt φ_S of the bird), three contacts: the beak, and the upper
//! and lower edge of the sleeve. Whatever the start, the motion settles on one limit cycle
//! (Leine, Glocker, van Campen 2001, DETC2001/VIB-21608; parameters as in that paper).

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::relation::LagrangianLinear;
use drystone::simulation::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // lengths (m), masses (kg), moments of inertia (kg m²), spring (N m/rad)
    let (r_o, r_m, h_m, l_m, l_g, h_s, l_s) = (0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201);
    let (m_m, m_s, j_m, j_s, c, g) = (0.0003, 0.0045, 5e-9, 7e-7, 0.0056, 9.81);
    let (a, b) = (m_s * l_m, m_s * l_g);
    let mut sim = Simulation::with_time_step(2e-5)?;
    let toy = Lagrangian::new([m_s + m_m, a, b, a, j_m + a * l_m, a * l_g, b, a * l_g, j_s + b * l_g])
        .at([0.0, -0.1036, -0.2788])
        .moving([-0.3411, 0.0, -7.4583])
        .with_stiffness([0.0, 0.0, 0.0, 0.0, c, -c, 0.0, -c, c])
        .with_force([-g * (m_s + m_m), -g * a, -g * b]);
    let toy = sim.spawn_system(toy, Integrator::MOREAU_JEAN)?;
    // rows (normal, tangent) of a contact
    let contact = |normal: [f64; 3], gap: f64, tangent: [f64; 3], e_n: f64| {
        let law = Law::CoulombImpact(CoulombImpact { mu: 0.3, e_n, ..CoulombImpact::default() });
        Interaction::new([toy], LagrangianLinear::new([normal, tangent].concat(), [gap, 0.0]), law)
    };
    let beak = sim.spawn_interaction(contact([0.0, 0.0, -h_s], l_m + l_g - l_s - r_o, [1.0, l_m, l_g - l_s], 0.5))?;
    sim.spawn_interaction(contact([0.0, h_m, 0.0], r_m - r_o, [1.0, r_m, 0.0], 0.0))?;
    sim.spawn_interaction(contact([0.0, -h_m, 0.0], r_m - r_o, [1.0, r_m, 0.0], 0.0))?;

    let states = (0..3).flat_map(|i| [Signal::State(toy, i), Signal::Velocity(toy, i)]);
    let signals: Vec<Signal> = [Signal::Time, Signal::Multiplier(beak, 0)].into_iter().chain(states).collect();
    let table = sim.record(1, signals);
    let report = sim.advance(125_000)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();

    // (time, height) of each peck
    let mut pecks: Vec<(f64, f64)> = Vec::new();
    for row in rows.iter().filter(|row| row[1] > 0.0) {
        if pecks.last().is_none_or(|peck| row[0] > peck.0 + 0.05) {
            pecks.push((row[0], row[2]));
        }
    }
    let late: Vec<(f64, f64)> = pecks.iter().copied().filter(|peck| peck.0 > 1.0).collect();
    let ((t0, y0), (t1, y1)) = (late[0], late[late.len() - 1]);
    let cycles = (late.len() - 1) as f64;
    let (period, descent) = ((t1 - t0) / cycles, (y0 - y1) / cycles);
    println!("{} pecks in 2.5 s; period {period:.4} s, descent {:.2} mm a cycle", pecks.len(), 1e3 * descent);

    let phase = |q: usize, v: usize| rows.iter().filter(|r| r[0] > 2.0).map(move |r| (r[q], r[v])).collect::<Vec<_>>();
    let panels = [
        Panel::new(
            "time (s)",
            "height (mm)",
            vec![
                Line::new("sleeve", rows.iter().map(|r| (r[0], 1e3 * r[2]))),
                Line::new("pecks", pecks.iter().flat_map(|p| [(p.0, 1e3 * p.1), (f64::NAN, 0.0)])),
            ],
        ),
        Panel::new("tilt of the bird (rad), after 2 s", "its rate (rad/s)", vec![Line::new("limit cycle", phase(6, 7))]),
        Panel::new("tilt of the sleeve (rad), after 2 s", "its rate (rad/s)", vec![Line::new("limit cycle", phase(4, 5))]),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/woodpecker.svg".into());
    write_chart(path.as_ref(), "Woodpecker toy", &panels)?;
    println!("plot: {path}");

    assert!(report.converged);
    assert!((period - 0.1460).abs() < 3e-4, "the published period is 0.146 s, not {period}");
    assert!((descent - 0.01945).abs() < 1.5e-4, "a cycle costs 19.45 mm, not {descent} m");
    assert!(late.windows(2).all(|w| (w[1].0 - w[0].0 - period).abs() < 5e-4), "a limit cycle repeats itself: {late:?}");
    Ok(())
}
