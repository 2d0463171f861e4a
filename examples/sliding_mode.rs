//! A sign that is sampled chatters; a sign that is solved for does not.
//!
//! ```text
//! ẋ = −sgn x                                               h = 0.3: x is 0 from the sample after the crossing on
//! ẋ₁ = x₂, ẋ₂ = u,   σ = c₁ x₁ + x₂,   u = −c₁ x₂ − α sgn σ   c₁ = 1, α = 1, x(0) = (0, 2.21)
//! ```
//!
//! The second plant is steered to σ = 0 and slides along that line to the origin: explicitly at h = 0.3 and 0.1, implicitly at
//! h = 0.1 and 0.05. The phase planes go to `target/sliding_mode.svg` or to the path given.

use drystone::control::{ControlError, LinearModel, Sampling, Sensor, SlidingMode, install};
use drystone::io::chart::{Line, Panel, write_planes};
use drystone::model::{dynamical_system::FirstOrder, integrator::Integrator, operator::Operator};
use drystone::simulation::Simulation;
use std::sync::{Arc, Mutex};

/// States at the samples of `ẋ = A x + B u`, u from a sliding mode on σ = C x with α = 1.
fn slide(a: &[f64], b: &[f64], c: &[f64], x: &[f64], h: f64, sampling: Sampling, samples: u64) -> Result<Vec<Vec<f64>>, ControlError> {
    let model = LinearModel::new(a, b, x.len())?;
    let mut sim = Simulation::with_time_step(h)?;
    let column = b.to_vec();
    let input = Operator::function(move |at, out| out.iter_mut().zip(&column).for_each(|(out, b)| *out = b * at.z[0]));
    let plant = sim.spawn_system(FirstOrder::linear(a, x).with_input(input).with_parameters([0.0]), Integrator::ZeroOrderHold)?;
    let state = install::sensor(&mut sim, plant, h, Sensor::full(x.len()))?;
    install::law(&mut sim, state, plant, h, SlidingMode::new(&model, c, 1.0, h, sampling)?)?;
    let states = Arc::new(Mutex::new(Vec::new()));
    let kept = states.clone();
    sim.every(h, move |_, world| {
        if let (Some(plant), Ok(mut kept)) = (world.get::<FirstOrder>(plant), kept.lock()) {
            kept.push(plant.x.clone());
        }
    })?;
    sim.advance(samples)?;
    let states = states.lock().map(|s| s.clone()).unwrap_or_default();
    Ok(states)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ẋ = −sgn x
    let mut first = Panel::new("t (s)", "x", vec![]).titled("ẋ = −sgn x, h = 0.3");
    let mut scalar = Vec::new();
    for (name, sampling) in [("explicit", Sampling::Explicit), ("implicit", Sampling::Implicit)] {
        let x = slide(&[0.0], &[1.0], &[1.0], &[1.0], 0.3, sampling, 18)?;
        first.lines.push(Line::new(name, x.iter().enumerate().map(|(k, x)| (0.3 * k as f64, x[0]))).with_points());
        scalar.push(x);
    }
    let late = |x: &[Vec<f64>]| x[5..].iter().fold(0.0, |m: f64, x| m.max(x[0].abs()));
    println!("ẋ = −sgn x from 1, h = 0.3: after t = 1 + h explicit |x| ≤ {:.2}, implicit |x| ≤ {:.0e}", late(&scalar[0]), late(&scalar[1]));

    // the second-order example
    let mut planes = vec![first];
    let mut residue = Vec::new();
    println!("sampling     h   largest |σ| once reached   end (x₁, x₂)");
    for (name, sampling, h) in [
        ("explicit", Sampling::Explicit, 0.3),
        ("explicit", Sampling::Explicit, 0.1),
        ("implicit", Sampling::Implicit, 0.1),
        ("implicit", Sampling::Implicit, 0.05),
    ] {
        let samples = (20.0 / h) as usize;
        let x = slide(&[0.0, 1.0, 0.0, 0.0], &[0.0, 1.0], &[1.0, 1.0], &[0.0, 2.21], h, sampling, samples as u64)?;
        // σ falls with slope α = 1 from 2.21
        let reached = (2.21 / h) as usize + 3;
        let sigma = x[reached..].iter().fold(0.0, |m: f64, x| m.max((x[0] + x[1]).abs()));
        let end = &x[x.len() - 1];
        println!("{name}  {h:4}   {sigma:24.1e}   ({:.1e}, {:.1e})", end[0], end[1]);
        residue.push((sigma, end[0].abs()));
        let line = Line::new("σ = 0", [(0.0, 0.0), (0.8, -0.8)]);
        let state = Line::new("state", x.iter().map(|x| (x[0], x[1]))).with_points();
        planes.push(Panel::new("x₁", "x₂", vec![line, state]).titled(&format!("{name}, h = {h}")));
    }
    let first = planes.remove(0);
    planes.push(first);
    let path = std::env::args().nth(1).unwrap_or_else(|| "target/sliding_mode.svg".into());
    write_planes(path.as_ref(), &planes, 2)?;

    assert!(late(&scalar[1]) < 1e-15, "the implicit law is at 0 from t = 1 + h on");
    assert!(late(&scalar[0]) > 0.1 && late(&scalar[0]) <= 0.3, "the explicit law chatters within ± h");
    assert!(residue[0].0 > 0.1 && residue[1].0 > 0.03, "explicit: σ chatters");
    assert!(residue[2].0 < 1e-12 && residue[3].0 < 1e-12, "implicit: σ is 0 once reached");
    assert!(residue[2].1 < 1e-6 && residue[3].1 < 1e-6, "and the state slides into the origin");
    Ok(())
}
