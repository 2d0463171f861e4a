//! Friction of a patch that resists sliding and drilling together, against closed forms.

use drystone::diagnostics::summary::Summary;
use drystone::io::scene::Scene;
use drystone::model::law::{Arm, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::scenes::Built;
use glam::DVec3;
use std::f64::consts::PI;

const G: f64 = 9.81;
const R: f64 = 0.1;

/// A run without faults whose energy closes.
fn run(text: &str) -> (Built, Summary) {
    let scene = Scene::from_toml(text, "drilling").unwrap_or_else(|e| panic!("{e}"));
    let (built, summary) = drystone::scenes::run(&scene).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0), "{summary}");
    assert!(summary.energy.balance_error < 1e-10, "{}", summary.energy.balance_error);
    assert!(summary.energy.rolling_work_J <= 1e-12 && summary.energy.friction_work_J <= 1e-12, "{summary}");
    (built, summary)
}

/// A ball of 2 kg that cannot roll, sliding at 1 m/s along x and spinning.
fn puck(patch: &str, spin: f64, [step, end]: [f64; 2]) -> (Velocity, Summary) {
    let text = format!(
        "gravity = [0, 0, -{G}]\n[time]\nstep = {step}\nend = {end}\n[solver]\ntolerance = 1e-10\n[contact]\nmu = 0.3\n{patch}\n\
         [[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\" }}\n\
         [[bodies]]\nname = \"puck\"\nmass = 2\nshape = {{ kind = \"ball\", radius = {R} }}\nposition = [0, 0, {R}]\nvelocity = [1, 0, 0]\n\
         angular_velocity = [0, 0, {spin}]\nlocked_rotation = [\"x\", \"y\"]\n"
    );
    let (built, summary) = run(&text);
    (*built.simulation.world().get(built.entities[1]).expect("alive"), summary)
}

#[test]
fn spin_weakens_friction_and_sliding_weakens_drilling() {
    // m v̇ = −μ m g v/s, I ω̇ = −ℓ μ m g ℓω/s, s = √(v² + ℓ²ω²); with I = m ℓ² both fall in proportion, until both rest at once
    let (length, spin) = (R * 0.4_f64.sqrt(), 40.0);
    let patch = format!("patch = {}", 16.0 / (3.0 * PI) * 0.4_f64.sqrt());
    let speed = 1.0_f64.hypot(length * spin);
    for step in [5e-4, 2e-3, 5e-3] {
        let left = 1.0 - 0.3 * G * 0.3 / speed;
        let (v, _) = puck(&patch, spin, [step, 0.3]);
        assert!((v.linear - DVec3::X * left).length() < 1e-9 && (v.angular - DVec3::Z * spin * left).length() < 1e-8, "{step}: {v:?}");
        let rest = speed / (0.3 * G);
        let (v, summary) = puck(&patch, spin, [step, rest + 3.0 * step]);
        assert!(v.linear.length() < 1e-9 && v.angular.length() < 1e-8, "{step}: {v:?}");
        // the moment has its entry, and friction its own
        assert!((summary.energy.friction_work_J / -1.0 - 1.0).abs() < 1e-9, "{summary}");
        assert!((summary.energy.rolling_work_J / -(length * spin).powi(2) - 1.0).abs() < 1e-9, "{summary}");
    }
    // without a patch spin is nothing to friction
    let (v, _) = puck("", spin, [1e-3, 0.1]);
    assert!((v.linear.x - (1.0 - 0.3 * G * 0.1)).abs() < 1e-9 && (v.angular.z - spin).abs() < 1e-10, "{v:?}");
}

#[test]
fn a_small_patch_that_spins_fast_brakes_as_the_equation_says() {
    // the same equations by small steps; the law is met to first order in h
    let (a, spin) = (2e-3, 300.0);
    let (length, inertia) = (3.0 * PI / 16.0 * a, 0.4 * 2.0 * R * R);
    let (mut v, mut w) = (1.0, spin);
    let n = 200_000;
    for _ in 0..n {
        let s = f64::hypot(v, length * w);
        (v, w) = (v - 0.2 / f64::from(n) * 0.3 * G * v / s, w - 0.2 / f64::from(n) * length * length * 0.3 * 2.0 * G * w / s / inertia);
    }
    let errors = [2e-3, 1e-3, 5e-4].map(|h| {
        let (found, _) = puck("patch = \"2 mm\"", spin, [h, 0.2]);
        assert!((found.angular.z / w - 1.0).abs() < 1e-3, "{found:?} {w}");
        (found.linear.x - v).abs()
    });
    println!("{errors:?}");
    assert!(errors[0] < 1e-3 && errors[2] < 0.35 * errors[0], "{errors:?}");
    assert!(v > 1.05 * (1.0 - 0.3 * G * 0.2), "friction is weaker than Coulomb's: {v}");
}

#[test]
fn the_ellipsoid_meets_the_limit_surface_of_hertz_at_its_ends_and_stays_within_six_percent() {
    let law = CoulombImpact { mu: 1.0, patch: Arm::Length(1.0), ..CoulombImpact::default() };
    // forces of the patch of radius 1 under the pressure √(1 − ρ²), sliding v and spinning w, by the midpoint rule
    let patch = |v: f64, w: f64| {
        let (n, mut sums) = (200, [0.0; 3]);
        for i in 0..n {
            let r = (f64::from(i) + 0.5) / f64::from(n);
            for j in 0..n {
                let (sin, cos) = (2.0 * PI * (f64::from(j) + 0.5) / f64::from(n)).sin_cos();
                let (x, y, p) = (v - w * r * sin, w * r * cos, r * (1.0 - r * r).sqrt());
                let s = x.hypot(y);
                sums = [sums[0] + p, sums[1] + p * x / s, sums[2] + p * r * (cos * y - sin * x) / s];
            }
        }
        [sums[1] / sums[0], sums[2] / sums[0]]
    };
    assert!((patch(0.0, 1.0)[1] / law.drill() - 1.0).abs() < 1e-3 && (patch(1.0, 1e-9)[0] - 1.0).abs() < 1e-9);
    let misses = (1..20).map(|k| {
        let (sin, cos) = (PI / 40.0 * f64::from(k)).sin_cos();
        let [force, moment] = patch(sin, cos / law.drill());
        (force.hypot(moment / law.drill()) - 1.0).abs()
    });
    let worst = misses.fold(0.0, f64::max);
    assert!(worst > 0.05 && worst < 0.061, "{worst}");
}

/// Where the axis of a tippe top points after 3 s (the cosine of its tilt), and how the run was.
fn tippe_top(step: f64, patch: &str) -> (f64, Summary) {
    let text = drystone::io::scene::builtin::find("tippe_top").expect("a scene").toml;
    let given = text.replace("step = \"0.2 ms\"", &format!("step = {step}")).replace("patch = \"0.3 mm\"", patch);
    assert!(given.contains(patch) && given.contains(&format!("step = {step}")), "{given}");
    let (built, summary) = run(&given);
    let pose = built.simulation.world().get::<BodyPose>(built.entities[1]).expect("alive").0;
    ((pose.rotation * DVec3::Z).z, summary)
}

#[test]
fn a_tippe_top_inverts_by_drilling_friction_at_every_step() {
    let mut last = None;
    for step in [4e-4, 2e-4, 1e-4] {
        let (with, summary) = tippe_top(step, "patch = \"0.3 mm\"");
        let (without, plain) = tippe_top(step, "patch = 0");
        println!("{step}: {with} {without} {}", summary.energy.rolling_work_J);
        assert!(with < -0.95 && without > 0.95, "{step}: {with} {without}");
        assert!(summary.energy.rolling_work_J < -1e-6 && plain.energy.rolling_work_J == 0.0, "{summary}");
        // of first order in the step
        assert!(last.is_none_or(|last: f64| (with - last).abs() < 0.02), "{step}: {last:?} {with}");
        last = Some(with);
    }
}
