//! A rocking block under pulses against its equation of motion, integrated here with Housner's loss at each landing.
//!
//! ```text
//! θ̈ = −p² [sin(±α − θ) + (a/g) cos(±α − θ)]        ± the sign of θ;  a landing: θ̇ → (1 − 1.5 sin²α) θ̇
//! slender block, half sine, A = a/(g α), Ω = ω/p: it falls where  A + (√(A² − 1) − Ω) exp((π − asin(1/A))/Ω) > 0
//! ```

use super::scene;
use drystone::io::scene::Scene;
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::build;
use std::f64::consts::{FRAC_PI_2, PI};

const B: f64 = 0.25;
const H: f64 = 1.0;
const G: f64 = 9.81;
const MASS: f64 = 2400.0 * 4.0 * B * H * 0.6;

fn alpha() -> f64 {
    (B / H).atan()
}

fn p() -> f64 {
    (0.75 * G / B.hypot(H)).sqrt()
}

#[derive(Clone, Copy)]
enum Pulse {
    Half,
    Full,
}

impl Pulse {
    /// Ends with its duration; Ω is that of its sine.
    fn duration(self, omega: f64) -> f64 {
        let half = PI / (omega * p());
        match self {
            Self::Half => half,
            Self::Full => 2.0 * half,
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Half => "half_sine",
            Self::Full => "sine",
        }
    }
}

/// Whether the equation says that it falls; `scale` is the peak over g tan α.
fn falls_by_equation(pulse: Pulse, omega: f64, scale: f64) -> bool {
    let (alpha, p, end) = (alpha(), p(), pulse.duration(omega));
    let eta = 1.0 - 1.5 * alpha.sin().powi(2);
    let ground = |t: f64| if t < end { scale * alpha.tan() * (omega * p * t).sin() } else { 0.0 };
    let speed_up = |side: f64, t: f64, x: f64| -p * p * ((side * alpha - x).sin() + ground(t) * (side * alpha - x).cos());
    let dt = 5e-5;
    let (mut t, mut side, mut x, mut v) = (0.0, 0.0, 0.0f64, 0.0);
    while t < end + 8.0 {
        if side == 0.0 {
            // it rests until the ground is fast enough
            if ground(t).abs() <= alpha.tan() {
                t += dt;
                if t > end {
                    return false;
                }
                continue;
            }
            side = -ground(t).signum();
        }
        let f = |t: f64, x: f64, v: f64| (v, speed_up(side, t, x));
        let k1 = f(t, x, v);
        let k2 = f(t + 0.5 * dt, x + 0.5 * dt * k1.0, v + 0.5 * dt * k1.1);
        let k3 = f(t + 0.5 * dt, x + 0.5 * dt * k2.0, v + 0.5 * dt * k2.1);
        let k4 = f(t + dt, x + dt * k3.0, v + dt * k3.1);
        let before = (x, v);
        x += dt / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
        v += dt / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
        t += dt;
        if x * side < 0.0 {
            // lands within the step
            let part = before.0 / (before.0 - x);
            (t, x) = (t - (1.0 - part) * dt, 0.0);
            v = eta * (before.1 + part * (v - before.1));
            side = v.signum();
            if v.abs() < 1e-4 && t > end {
                return false;
            }
        }
        if x.abs() > FRAC_PI_2 {
            return true;
        }
    }
    false
}

fn rocking(pulse: Pulse, omega: f64, scale: f64, h: f64) -> Scene {
    let (kind, duration) = (format!("\"{}\"", pulse.kind()), pulse.duration(omega).to_string());
    let mut scene = scene(
        "docs/studies/rocking_block.toml",
        &[
            ("base.pulses.0.kind", &kind),
            ("base.pulses.0.duration", &duration),
            ("base.scale", &scale.to_string()),
            ("time.step", &h.to_string()),
            // the equation knows no sliding
            ("contact.mu", "5"),
        ],
    );
    scene.time.end = pulse.duration(omega) + 8.0;
    scene
}

/// Whether the block of the scene falls, in steps that all meet their tolerance.
fn falls(pulse: Pulse, omega: f64, scale: f64, h: f64) -> bool {
    let mut built = build(&rocking(pulse, omega, scale, h)).unwrap();
    let block = built.entities[1];
    let (end, last) = (pulse.duration(omega), pulse.duration(omega) + 8.0);
    while built.simulation.time() < last {
        let report = built.simulation.step().unwrap();
        assert!(report.converged, "t = {}", report.time);
        let pose = built.simulation.world().get::<BodyPose>(block).unwrap().0;
        let tilt = (pose.rotation * glam::DVec3::Z).z.acos();
        if tilt > 1.4 {
            return true;
        }
        // it has not gone over its corner, and what energy is left cannot lift it there
        let reach = pose.position.z + report.balance.energy.kinetic / (MASS * G);
        if built.simulation.time() > end && tilt < alpha() && reach < 0.98 * B.hypot(H) {
            return false;
        }
    }
    false
}

/// Limit between standing and falling by bisection, to `width` in parts of it.
fn limit(mut low: f64, mut high: f64, width: f64, falls: impl Fn(f64) -> bool) -> f64 {
    assert!(!falls(low) && falls(high), "no limit between {low} and {high}");
    while high - low > width * high {
        let middle = 0.5 * (low + high);
        if falls(middle) { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// Of a slender block under half a sine.
fn slender(omega: f64) -> f64 {
    let f = |a: f64| a + ((a * a - 1.0).sqrt() - omega) * ((PI - (1.0 / a).asin()) / omega).exp();
    limit(1.0, 100.0, 1e-9, |a| f(a) > 0.0)
}

/// Around the limit of the equation.
fn simulated(pulse: Pulse, omega: f64, expected: f64, h: f64, width: f64) -> f64 {
    limit(0.9 * expected, 1.1 * expected, width, |scale| falls(pulse, omega, scale, h))
}

/// Of a sine of Ω = 5 the block falls on the other side, after one landing.
const LANDS: f64 = 5.0;

#[test]
fn pulses_overturn_a_block_where_the_equation_of_motion_says() {
    let omega = 3.0;
    let exact = limit(1.0, 20.0, 1e-6, |s| falls_by_equation(Pulse::Half, omega, s));
    let error = simulated(Pulse::Half, omega, exact, 4e-3, 2e-5) / exact - 1.0;
    assert!(error.abs() < 1e-4, "{error}");
    // the closed form is that of small angles
    assert!((slender(omega) / exact - 1.0).abs() < 0.01, "{} and {exact}", slender(omega));
    // a landing makes it one of first order
    let exact = limit(2.5, 3.5, 1e-6, |s| falls_by_equation(Pulse::Full, LANDS, s));
    let error = |h: f64| simulated(Pulse::Full, LANDS, exact, h, 2e-5) / exact - 1.0;
    let [coarse, fine] = [4e-3, 1e-3].map(error);
    println!("{exact}: {coarse:.2e} {fine:.2e}");
    assert!(fine.abs() < 2e-2 && (2.5..6.0).contains(&(coarse / fine)), "first order: {coarse} and {fine}");
}

#[test]
#[ignore = "a minute: cargo test --release --test studies rocking -- --ignored --nocapture"]
fn rocking_spectrum_of_half_sines() {
    println!("| ω/p | closed form, slender | equation of motion | drystone h = 4 ms | 2 ms | 1 ms | 0.5 ms |");
    for omega in [1.0, 2.0, 3.0, 4.0, 6.0, 8.0] {
        let exact = limit(1.0, 100.0, 1e-6, |s| falls_by_equation(Pulse::Half, omega, s));
        let found = [4e-3, 2e-3, 1e-3, 5e-4].map(|h| {
            let found = simulated(Pulse::Half, omega, exact, h, 1e-5);
            format!("{found:.4} ({:+.2} %)", 100.0 * (found / exact - 1.0))
        });
        println!("| {omega} | {:.4} | {exact:.4} | {} |", slender(omega), found.join(" | "));
    }
}

#[test]
#[ignore = "a minute: cargo test --release --test studies rocking -- --ignored --nocapture"]
fn rocking_limit_after_a_landing() {
    let exact = limit(2.5, 3.5, 1e-6, |s| falls_by_equation(Pulse::Full, LANDS, s));
    println!("| h | equation of motion | drystone | |");
    for h in [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4] {
        let found = simulated(Pulse::Full, LANDS, exact, h, 1e-5);
        println!("| {h} | {exact:.4} | {found:.4} | {:+.3} % |", 100.0 * (found / exact - 1.0));
    }
}

#[test]
#[ignore = "minutes: cargo test --release --test studies rocking -- --ignored --nocapture"]
fn rocking_spectrum_of_whole_sines() {
    let (mut same, mut all) = (0, 0);
    for omega in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] {
        let mut row = String::new();
        for k in 0..30 {
            let scale = 1.1 + 0.3 * f64::from(k);
            let [equation, run] = [falls_by_equation(Pulse::Full, omega, scale), falls(Pulse::Full, omega, scale, 1e-3)];
            all += 1;
            same += usize::from(equation == run);
            row.push(super::mark(equation, run));
        }
        println!("{omega:>4}  {row}");
    }
    println!("{same} of {all} the same; # falls, . stands, e falls by the equation alone, d by drystone alone");
    assert!(same * 100 >= 97 * all);
}
