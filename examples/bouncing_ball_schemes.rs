//! One ball, seven schemes: all bounce alike, each with an error that shrinks with the time step.
//!
//! Eight balls fall from 0.7 to 1.3 m and bounce with e = 0.9, so that no impact time is a lucky multiple of h.
//!
//! ```text
//! mean error of the height over 2 s at h, h/2, h/4          first order: each column half of the one before
//! ```

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::relation::LagrangianLinear;
use drystone::simulation::Simulation;

const G: f64 = 9.81;
const E: f64 = 0.9;
const STARTS: [f64; 8] = [0.7, 0.8, 0.87, 0.95, 1.0, 1.11, 1.2, 1.3];

/// Height of a ball that was dropped from `start`.
fn exact(start: f64, t: f64) -> f64 {
    let first = (2.0 * start / G).sqrt();
    let (mut speed, mut since) = (E * G * first, t - first);
    if since < 0.0 {
        return start - 0.5 * G * t * t;
    }
    while since > 2.0 * speed / G {
        since -= 2.0 * speed / G;
        speed *= E;
    }
    since * (speed - 0.5 * G * since)
}

/// The courses of all balls: time, then the heights.
fn bounce(integrator: Integrator, h: f64) -> Result<Vec<Vec<f64>>, Box<dyn std::error::Error>> {
    let mut sim = Simulation::with_time_step(h)?;
    let mut signals = vec![Signal::Time];
    for start in STARTS {
        let ball = sim.spawn_system(Lagrangian::new([1.0]).at([start]).with_force([-G]), integrator)?;
        sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: E }))?;
        signals.push(Signal::State(ball, 0));
    }
    let table = sim.record(1, signals);
    let report = sim.advance((2.0 / h).round() as u64)?;
    assert!(report.converged, "{:?}", report.systems);
    Ok(sim.trace(table).ok_or("recorded")?.rows().map(<[f64]>::to_vec).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let moreau_jean = |theta, projection| Integrator::MoreauJean { theta, gamma: 0.5, projection };
    let schemes = [
        ("Moreau–Jean θ = ½", moreau_jean(0.5, Projection::None)),
        ("Moreau–Jean θ = 1", moreau_jean(1.0, Projection::None)),
        ("direct projection", moreau_jean(0.5, Projection::Direct { tolerance: 1e-10 })),
        ("combined projection", moreau_jean(0.5, Projection::Combined { tolerance: 1e-10 })),
        ("Schatzman–Paoli", Integrator::SchatzmanPaoli { theta: 0.5 }),
        ("D1-minus", Integrator::D1Minus { tolerance: 1e-8 }),
        ("modal", Integrator::Modal { gamma: 0.5 }),
    ];
    let steps = [4e-3, 2e-3, 1e-3];
    println!("{:22} {:>12} {:>12} {:>12} {:>8}", "mean error (m) at h =", "4 ms", "2 ms", "1 ms", "order");
    let (mut heights, mut errors) = (Vec::new(), Vec::new());
    for (name, integrator) in schemes {
        let mut error = [0.0; 3];
        for (error, h) in error.iter_mut().zip(steps) {
            let course = bounce(integrator, h)?;
            let off = |row: &Vec<f64>| row[1..].iter().zip(STARTS).map(|(q, start)| (q - exact(start, row[0])).abs()).sum::<f64>();
            *error = course.iter().map(off).sum::<f64>() / (course.len() * STARTS.len()) as f64;
        }
        let order = (error[0] / error[2]).log2() / 2.0;
        println!("{name:22} {:12.3e} {:12.3e} {:12.3e} {order:8.2}", error[0], error[1], error[2]);
        assert!((0.7..1.4).contains(&order), "{name}: impacts within a step cost the order 1, not {order}");
        assert!(error[2] < 1e-2, "{name}: {error:?}");
        heights.push(Line::new(name, bounce(integrator, 0.02)?.iter().map(|row| (row[0], row[5]))));
        errors.push(Line::new(name, steps.iter().zip(error).map(|(h, e): (&f64, f64)| (h.log10(), e.log10()))));
    }
    let panels =
        [Panel::new("time (s), h = 20 ms", "height (m)", heights), Panel::new("log10 of h (s)", "log10 of the mean error (m)", errors)];
    let path = std::env::args().nth(1).unwrap_or("target/bouncing_ball_schemes.svg".into());
    write_chart(path.as_ref(), "A bouncing ball by seven schemes", &panels)?;
    println!("plot: {path}");
    Ok(())
}
