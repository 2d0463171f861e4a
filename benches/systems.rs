//! What a step of a general system costs: CPU microseconds on one thread, best of three runs, beside the figure of the platform that
//! inspired this one and a fixed kernel in the same process.
//!
//! `cargo bench --bench systems` runs everything, `cargo bench --bench systems -- bead` what holds this word.

use cpu_time::ProcessTime;
use drystone::model::dynamical_system::{FirstOrder, Lagrangian};
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, LagrangianLinear, LagrangianNonlinear};
use drystone::simulation::{Simulation, SimulationError};

type Build = fn() -> Result<Simulation, SimulationError>;

/// Name, builder, steps, µs a step of Siconos 4.4 on the same kind of machine and how many times faster we have to be.
const CASES: [(&str, Build, u64, f64, f64); 10] = [
    ("one free mass", free_mass, 2_000_000, f64::NAN, f64::NAN),
    ("bouncing ball", bouncing_ball, 1_000_000, 3.0, 5.0),
    ("double pendulum, Newton loop", double_pendulum, 100_000, f64::NAN, f64::NAN),
    ("diode bridge", diode_bridge, 500_000, 6.1, 5.0),
    ("buck converter", buck_converter, 400_000, 24.0, 5.0),
    ("10 beads falling", || beads(10, false), 4_000, 55.0, 5.0),
    ("100 beads falling", || beads(100, false), 4_000, 1500.0, 5.0),
    ("1000 beads falling", || beads(1000, false), 4_000, 0.91e6, 50.0),
    ("100 beads, all touching", || beads(100, true), 2_000, 1500.0, 5.0),
    ("1000 beads, all touching", || beads(1000, true), 1_000, 0.91e6, 50.0),
];

const RUNS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("| system | steps | µs a step | Siconos | ratio | asked | worst rel | unconverged | in kernels |");
    println!("|-|-|-|-|-|-|-|-|-|");
    for (name, build, steps, theirs, asked) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let (mut best, mut work) = (f64::INFINITY, f64::INFINITY);
        let mut report = None;
        for _ in 0..RUNS {
            work = work.min(kernel());
            let mut sim = build()?;
            sim.advance(2)?;
            let clock = ProcessTime::now();
            report = Some(sim.advance(steps)?.systems);
            best = best.min(clock.elapsed().as_secs_f64() / steps as f64 * 1e6);
        }
        let Some(report) = report else { continue };
        let number = |x: f64| if x.is_nan() { "–".to_owned() } else { format!("{x}") };
        let ratio = if theirs.is_nan() { "–".to_owned() } else { format!("{:.1}", theirs / best) };
        println!(
            "| {name} | {steps} | {best:.3} | {} | {ratio} | {} | {:.1e} | {} | {:.3} |",
            number(theirs),
            number(asked),
            report.rel,
            report.unconverged,
            best / work
        );
    }
    println!("\nkernel: 1000 additions and multiplications one after the other, {:.3} µs", kernel());
    Ok(())
}

/// CPU microseconds of a fixed piece of dependent arithmetic.
fn kernel() -> f64 {
    const TIMES: usize = 1000;
    let clock = ProcessTime::now();
    let mut x = 0.5;
    for _ in 0..1000 * TIMES {
        x = std::hint::black_box(x) * 0.999 + 0.001;
    }
    assert!(x > 0.0);
    clock.elapsed().as_secs_f64() / TIMES as f64 * 1e6
}

fn free_mass() -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(0.005)?;
    sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_force([-9.81]), Integrator::MOREAU_JEAN)?;
    Ok(sim)
}

/// Three degrees of freedom, one contact: it has come to rest after a tenth of the steps.
fn bouncing_ball() -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(0.005)?;
    let ball = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0, 0.004])).at([1.0, 0.0, 0.0]).with_force([-9.81, 0.0, 0.0]);
    let ball = sim.spawn_system(ball, Integrator::MOREAU_JEAN)?;
    sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new([1.0, 0.0, 0.0], [0.0]), Law::NewtonImpact { e: 0.9 }))?;
    Ok(sim)
}

/// Nonlinear mass, gyroscopic and internal forces with Jacobians by differences, two walls.
fn double_pendulum() -> Result<Simulation, SimulationError> {
    let mass = Operator::function(|at, m| {
        let c = (at.q[0] - at.q[1]).cos();
        m.copy_from_slice(&[2.0, c, c, 1.0]);
    });
    let gyroscopic = Operator::function(|at, f| {
        let s = (at.q[0] - at.q[1]).sin();
        (f[0], f[1]) = (at.v[1] * at.v[1] * s, -at.v[0] * at.v[0] * s);
    });
    let gravity = Operator::function(|at, f| (f[0], f[1]) = (20.0 * at.q[0].sin(), 10.0 * at.q[1].sin()));
    let pendulum = Lagrangian::new(mass).at([0.1, 0.2]).with_gyroscopic(gyroscopic).with_internal(gravity);
    let mut sim = Simulation::with_time_step(5e-4)?;
    let pendulum = sim.spawn_system(pendulum, Integrator::MOREAU_JEAN)?;
    let upper = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0].sin()));
    let lower = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0].sin() + at.q[1].sin()));
    sim.spawn_interaction(Interaction::new([pendulum], upper, Law::NewtonImpact { e: 1.0 }))?;
    sim.spawn_interaction(Interaction::new([pendulum], lower, Law::NewtonImpact { e: 0.0 }))?;
    Ok(sim)
}

/// A column of n beads above the floor (each a quarter of a metre above the last), or standing on it.
fn beads(n: usize, touching: bool) -> Result<Simulation, SimulationError> {
    let mut sim = Simulation::with_time_step(5e-4)?;
    let radius = 0.1;
    let height = |i: usize| if touching { radius * (1 + 2 * i) as f64 } else { 1.0 + 0.25 * i as f64 };
    let mut column = Vec::new();
    for i in 0..n {
        column.push(sim.spawn_system(Lagrangian::new([1.0]).at([height(i)]).with_force([-9.81]), Integrator::MOREAU_JEAN)?);
    }
    let law = Law::NewtonImpact { e: 0.9 };
    sim.spawn_interaction(Interaction::new([column[0]], LagrangianLinear::new([1.0], [-radius]), law.clone()))?;
    for pair in column.windows(2) {
        sim.spawn_interaction(Interaction::new(pair, LagrangianLinear::new([-1.0, 1.0], [-2.0 * radius]), law.clone()))?;
    }
    Ok(sim)
}

/// An LC oscillator feeds a resistor through four diodes.
fn diode_bridge() -> Result<Simulation, SimulationError> {
    let (l, c, g) = (1e-2, 1e-6, 1e-3);
    let mut sim = Simulation::with_time_step(1e-6)?;
    let lc = sim.spawn_system(FirstOrder::linear([0.0, -1.0 / c, 1.0 / l, 0.0], [10.0, 0.0]), Integrator::EULER_MOREAU)?;
    let relation = FirstOrderLinear::new(4, [0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0], [0.0, 0.0, -1.0 / c, 1.0 / c, 0.0, 0.0, 0.0, 0.0])
        .with_d([g, g, -1.0, 0.0, g, g, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    sim.spawn_interaction(Interaction::new([lc], relation, Law::Complementarity))?;
    Ok(sim)
}

/// Start-up of a buck converter: comparator, two MOS transistors in two pieces each, a switch node (12 complementarities).
fn buck_converter() -> Result<Simulation, SimulationError> {
    let (vi, c, l, load, gain) = (3.0, 22e-6, 10e-6, 10.0, 1e4);
    // with the five decimals of π of the source
    let tau_a = 1e5 / (2.0 * 314_159.0 * 30e6);
    let (r11, r21, c11, r12, c21) = (15.58e3, 5.613e6, 20e-12, 227.8e3, 1.9e-12);
    let (alpha, beta) = (1.0 / r11 + 1.0 / r12 + 1.0 / r21, 1.0 / r11 + 1.0 / r12);
    let (tau11, tau21) = (r11 * c11, r21 * c21);
    let (vt_n, vt_p, half_k, vth_d, slope) = (2.0, -2.0, 5.0, 0.8, 15.0);
    let root = 2f64.sqrt();
    let w = (vi - vt_n) / (2.0 * (1.0 + root));
    let (lim, var) = ([0.0, (1.0 + root) * w], [2.0 * w, 4.0 * root * w]);
    let (ar21, ar11) = (alpha * r21, alpha * r11);
    #[rustfmt::skip]
    let a = [
        -(1.0 / (load * c) + beta / (c * ar21)), 1.0 / c, 1.0 / (c * ar21 * r11), -beta / (c * ar21), beta / (c * ar21),
        -1.0 / l, 0.0, 0.0, 0.0, 0.0,
        (1.0 - beta / alpha) / tau11, 0.0, (1.0 / ar11 - 1.0) / tau11, 1.0 / (ar21 * tau11), -1.0 / (ar21 * tau11),
        -beta / (alpha * tau21), 0.0, 1.0 / (ar11 * tau21), (1.0 / ar21 - 1.0) / tau21, -(1.0 / ar21 - 1.0) / tau21,
        -beta * gain / (alpha * tau_a), 0.0, gain / (ar11 * tau_a), gain / (ar21 * tau_a), -(gain / ar21 + 1.0) / tau_a,
    ];
    let plant = FirstOrder::linear(a, [0.0; 5]).with_input(Operator::function(move |at, b| {
        b[1] = -vth_d / l;
        b[4] = gain * 1.8 * (at.t / 100e-6).min(1.0) / tau_a;
    }));
    let mut d = [0.0; 144];
    (0..10).for_each(|i| d[i * 13] = 1.0);
    for i in 0..4 {
        let drain = if i < 2 { 0.0 } else { 1.0 };
        let sign = if i < 2 { 1.0 } else { -1.0 };
        for (row, s) in [(2 + i, 1.0), (6 + i, -1.0)] {
            d[row * 12] = s * slope;
            d[row * 12 + 1] = -s * slope;
            d[row * 12 + 11] = -s * drain;
        }
        d[11 * 12 + 2 + i] = -half_k * sign * var[i % 2];
        d[11 * 12 + 6 + i] = half_k * sign * var[i % 2];
    }
    (d[10 * 12 + 11], d[11 * 12 + 10]) = (-1.0, 1.0);
    let (mut c_rows, mut b_rows) = ([0.0; 60], [0.0; 60]);
    (c_rows[4], c_rows[5 + 4], c_rows[11 * 5 + 1], b_rows[12 + 11]) = (1.0, 1.0, 1.0, 1.0 / l);
    let offset = Operator::function(move |at, e| {
        let ramp = ramp(at.t, 0.75 * vi);
        (e[0], e[1]) = (-0.1 - ramp, 0.1 - ramp);
        for i in 0..4 {
            let (gate, drain) = if i < 2 { (1.0, 0.0) } else { (0.0, 1.0) };
            e[2 + i] = -vt_p - vi * gate + vth_d * drain + lim[i % 2];
            e[6 + i] = vt_n - vth_d * drain + lim[i % 2];
        }
        e[10] = vi + 2.0 * vth_d;
    });
    let mut sim = Simulation::with_time_step(0.05e-9)?;
    let plant = sim.spawn_system(plant, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
    let relation = FirstOrderLinear::new(12, c_rows, b_rows).with_d(d).with_e(offset);
    sim.spawn_interaction(Interaction::new([plant], relation, Law::Complementarity))?;
    Ok(sim)
}

/// Sawtooth: 1.655 µs up, 1 ns on top, 10 ns down, 1.6667 µs in all.
fn ramp(t: f64, high: f64) -> f64 {
    let t = t % 1.6667e-6;
    if t < 1.655e-6 {
        high * t / 1.655e-6
    } else if t < 1.656e-6 {
        high
    } else {
        high * (1.0 - (t - 1.656e-6) / 10e-9).max(0.0)
    }
}
