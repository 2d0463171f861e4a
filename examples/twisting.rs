//! Sliding of second order, from the position alone: an observer estimates the velocity, twisting brings both to zero against a push.
//!
//! ```text
//! q̈ = u + d,   d = 0.5 (unknown)       twisting: u ∈ −2 Sgn(q) − Sgn(q̇)
//! ```
//!
//! Explicit signs chatter for ever; implicit ones leave an input that tends to −d. The phase planes go to `target/twisting.svg` or to
//! the path given.

use drystone::control::{ControlError, LinearModel, Luenberger, Sampling, Sensor, StateObserver, Twisting, install};
use drystone::io::chart::{Line, Panel, write_planes};
use drystone::model::{dynamical_system::Lagrangian, integrator::Integrator, operator::Operator};
use drystone::simulation::Simulation;
use std::sync::{Arc, Mutex};

/// An observer of q and q̇ that also estimates the push: only (q̂, q̇̂) goes on to the law.
struct WithoutPush(Luenberger);

impl StateObserver for WithoutPush {
    fn measurements(&self) -> usize {
        self.0.measurements()
    }

    fn inputs(&self) -> usize {
        self.0.inputs()
    }

    fn sample(&mut self, y: &[f64], u: &[f64]) -> bool {
        self.0.sample(y, u)
    }

    fn state(&self) -> &[f64] {
        &self.0.state()[..2]
    }

    fn memory(&self) -> Vec<f64> {
        self.0.memory()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.0.remember(memory);
    }
}

const PUSH: f64 = 0.5;

/// Rows (q, q̇, u) at every step of h = 1 ms; observer every step, law every 20 ms.
fn twist(sampling: Sampling) -> Result<Vec<[f64; 3]>, ControlError> {
    let (h, period) = (1e-3, 2e-2);
    let mut sim = Simulation::with_time_step(h)?;
    let cart = Lagrangian::new([1.0]).at([1.0]);
    let cart = cart.with_force(Operator::function(|at, f| f[0] = at.z[0] + PUSH)).with_parameters([0.0]);
    let cart = sim.spawn_system(cart, Integrator::MOREAU_JEAN)?;
    let position = install::sensor(&mut sim, cart, h, Sensor::new([1.0, 0.0], 2)?)?;
    // q, q̇ and a constant push; poles of the observer at −20
    let model = LinearModel::new([0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0], 3)?;
    let observer = Luenberger::new(&model, [1.0, 0.0, 0.0], [60.0, 1200.0, 8000.0], [1.0, 0.0, 0.0], h)?;
    let estimate = install::observer(&mut sim, position, cart, h, WithoutPush(observer))?;
    install::law(&mut sim, estimate, cart, period, Twisting::new(2.0, 1.0, 1.0, period, sampling)?)?;
    let rows = Arc::new(Mutex::new(Vec::new()));
    let kept = rows.clone();
    sim.every(h, move |_, world| {
        if let (Some(cart), Ok(mut kept)) = (world.get::<Lagrangian>(cart), kept.lock()) {
            kept.push([cart.q[0], cart.v[0], cart.z[0]]);
        }
    })?;
    sim.advance(10_000)?;
    let rows = rows.lock().map(|r| r.clone()).unwrap_or_default();
    Ok(rows)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut planes = Vec::new();
    let mut late = Vec::new();
    for (name, sampling) in [("explicit", Sampling::Explicit), ("implicit", Sampling::Implicit)] {
        let rows = twist(sampling)?;
        let last = &rows[rows.len() - 5000..];
        let largest = |k: usize| last.iter().fold(0.0, |m: f64, r| m.max(r[k].abs()));
        let spread = last.iter().fold(0.0, |m: f64, r| m.max((r[2] + PUSH).abs()));
        println!("{name}: over the last 5 s |q| ≤ {:.1e}, |q̇| ≤ {:.1e}, |u + d| ≤ {spread:.1e}", largest(0), largest(1));
        late.push((largest(0), spread));
        let state = Line::new("state", rows.iter().map(|r| (r[0], r[1])));
        planes.push(Panel::new("q (m)", "q̇ (m/s)", vec![state]).titled(&format!("{name} twisting")));
        let input = rows.iter().enumerate().filter(|(k, _)| k % 20 == 0).map(|(k, r)| (1e-3 * k as f64, r[2]));
        planes.push(Panel::new("t (s)", "u (N)", vec![Line::new("u", input)]).titled("input"));
    }
    let path = std::env::args().nth(1).unwrap_or_else(|| "target/twisting.svg".into());
    write_planes(path.as_ref(), &planes, 2)?;

    let period: f64 = 2e-2;
    assert!(late[0].1 > 1.0, "explicit: the input switches for ever");
    assert!(late[1].1 < 1e-6, "implicit: the input tends to −d");
    assert!(late[1].0 < period.powi(2), "implicit: |q| below h²");
    Ok(())
}
