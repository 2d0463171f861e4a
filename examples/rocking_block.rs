//! A tilted block rocks from corner to corner, and each landing takes its share of the speed (Housner 1963).
//!
//! The block is a Lagrangian system (x, z, φ) with two corners that may touch the floor, each with friction and e = 0. That
//! the angular speed falls to η = 1 − (3/2) sin² α at each landing is not put in: it follows from the two contacts.

use drystone::cluster::Signal;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianNonlinear;
use drystone::simulation::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // half width and half height (m)
    let (b, half_height, m, g) = (0.25, 1.0f64, 1000.0, 9.81);
    let slenderness = (b / half_height).atan();
    let start = 0.5 * slenderness;
    // tilted to the right, on its right corner
    let (s, c) = (-start).sin_cos();
    let centre = [b - (b * c + half_height * s), -(b * s - half_height * c) - 1e-9];
    let inertia = m * (b * b + half_height * half_height) / 3.0;
    let mut sim = Simulation::with_time_step(1e-4)?;
    let block = Lagrangian::new(Operator::Diagonal(vec![m, m, inertia])).at([centre[0], centre[1], -start]);
    let block = sim.spawn_system(block.with_force([0.0, -m * g, 0.0]), Integrator::MOREAU_JEAN)?;
    let law = Law::CoulombImpact(CoulombImpact { mu: 0.8, ..CoulombImpact::default() });
    for side in [-b, b] {
        // height and place of a corner
        let corner = LagrangianNonlinear::new(
            2,
            Operator::function(move |at, y| {
                let (s, c) = at.q[2].sin_cos();
                (y[0], y[1]) = (at.q[1] + side * s - half_height * c, at.q[0] + side * c + half_height * s);
            }),
        )
        .with_jacobian(Operator::function(move |at, rows| {
            let (s, c) = at.q[2].sin_cos();
            rows.copy_from_slice(&[0.0, 1.0, side * c + half_height * s, 1.0, 0.0, -side * s + half_height * c]);
        }));
        sim.spawn_interaction(Interaction::new([block], corner, law.clone()))?;
    }
    let table = sim.record(1, [Signal::Time, Signal::State(block, 2), Signal::Velocity(block, 2), Signal::State(block, 0)]);
    let report = sim.advance(40_000)?;
    let rows: Vec<&[f64]> = sim.trace(table).ok_or("recorded")?.rows().collect();

    // the first landing: the angle changes its sign
    let landing = rows.windows(2).position(|w| w[0][1] < 0.0 && w[1][1] >= 0.0).ok_or("it lands")?;
    // two steps on either side of it the blow is over
    let (time, before, after) = (rows[landing][0], rows[landing - 2][2], rows[landing + 3][2]);
    let next = rows[landing..].iter().find(|r| r[2] < 0.0).ok_or("it turns")?[1] / slenderness;
    let eta = 1.0 - 1.5 * slenderness.sin().powi(2);
    println!(
        "lands at {time:.4} s with {before:.4} rad/s and leaves with {after:.4} rad/s: ratio {:.4}, Housner's {eta:.4}",
        after / before
    );
    // upright, its centre is where it was before the tilt
    let upright = rows.windows(2).filter(|w| w[0][1] * w[1][1] < 0.0 && w[0][2].abs() > 1e-3);
    let walked = upright.map(|w| w[1][3].abs()).fold(0.0, f64::max);
    println!("the next peak is at {next:.4} of the angle of overturning; the block walked {walked:.1e} m in 4 s");

    let degrees = |r: &&[f64]| (r[0], r[1].to_degrees());
    let panels = [
        Panel::new("time (s)", "tilt (°)", vec![Line::new("block", rows.iter().map(degrees))]),
        Panel::new("tilt (°)", "rate (rad/s)", vec![Line::new("block", rows.iter().map(|r| (r[1].to_degrees(), r[2])))]),
    ];
    let path = std::env::args().nth(1).unwrap_or("target/rocking_block.svg".into());
    write_chart(path.as_ref(), "A rocking block", &panels)?;
    println!("plot: {path}");

    // numbers of the full nonlinear equation for this block
    assert!(report.converged, "{:?}", report.systems);
    assert!((time / 0.493803 - 1.0).abs() < 5e-3 && (before / 0.565045 - 1.0).abs() < 5e-3, "{time} s, {before} rad/s");
    assert!((after / before / eta - 1.0).abs() < 5e-3, "{after} after {before} rad/s");
    assert!((next / 0.386714 - 1.0).abs() < 1e-2 && walked < 1e-3, "{next} and {walked} m");
    Ok(())
}
