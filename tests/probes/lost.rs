//! Energy that the length of the step takes where nothing else moves much, and what is no loss at all.

use super::run_text;
use drystone::diagnostics::summary::Summary;

/// A ball of 1 kg on a spring of `stiffness` (N/m) and `damping` (N s/m), 2 cm out of its rest, for a second of 1 ms each.
fn oscillator(treatment: &str, stiffness: f64, damping: f64) -> Summary {
    run_text(&format!(
        "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 1.0\ntreatment = \"{treatment}\"\n[solver]\ntolerance = 1e-8\n\
         [[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.01 }}\nmass = 1.0\nposition = [0.02, 0, 0]\n\
         [[joints]]\nkind = \"prismatic\"\naxis = [1, 0, 0]\nbody1 = \"ball\"\nanchor = [0, 0, 0]\n\
         spring = {{ stiffness = {stiffness}, damping = {damping}, rest = -0.02 }}\n"
    ))
    .1
}

fn tells(s: &Summary, of: &str) -> bool {
    s.warnings.iter().any(|w| w.contains(of))
}

#[test]
fn springs_lose_to_the_length_of_the_step_what_it_cannot_follow_and_say_so() {
    for omega in [10.0_f64, 30.0, 100.0, 1000.0] {
        let stiffness = omega * omega;
        let start = 0.5 * stiffness * 0.02 * 0.02;
        for treatment in ["gap_aware", "forecast"] {
            let s = oscillator(treatment, stiffness, 0.0);
            assert!(s.warnings.is_empty() && s.energy.spring_loss_J.abs() < 1e-12 * start, "{omega} rad/s, {treatment}: {:?}", s.warnings);
        }
    }
    // three radians a step
    let s = oscillator("gap_aware", 9e6, 0.0);
    assert!((s.energy.spring_loss_J / (0.5 * 9e6 * 0.02 * 0.02) - 1.0).abs() < 0.01, "{:?}", s.energy);
    assert!(tells(&s, "springs and servos lost") && tells(&s, "\"forecast\""), "{:?}", s.warnings);
    // a servo so stiff that it holds an arm as a weld does, which sinks by 0.5 µrad
    let (_, s) = run_text(
        "[time]\nstep = 1e-3\nend = 0.2\n[[bodies]]\nname = \"arm\"\nshape = { kind = \"cuboid\", size = [0.5, 0.05, 0.05] }\nmass = 2.0\n\
         position = [0.25, 0, 0]\n[[joints]]\nkind = \"revolute\"\naxis = [0, 1, 0]\nbody1 = \"arm\"\nanchor = [0, 0, 0]\n\
         servo = { position = 0.0, stiffness = 1e7, damping = 0.0, limit = 1000.0 }\n",
    );
    assert!(s.energy.spring_loss_J > 0.0 && s.warnings.is_empty(), "{:?}", s.warnings);
    // what a damper takes is its work
    let s = oscillator("gap_aware", 100.0, 20.0);
    let (lost, taken) = (s.energy.spring_loss_J, s.energy.damper_loss_J);
    assert!((taken / 0.02 - 1.0).abs() < 1e-3 && lost == 0.0 && s.warnings.is_empty(), "{lost} {taken} {:?}", s.warnings);
}

/// A half-space without friction that touches a body.
fn wall(normal: [f64; 3], position: [f64; 3]) -> String {
    format!(
        "[contact]\nmu = 0\n[[bodies]]\nname = \"wall\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\", normal = {normal:?} }}\nposition = {position:?}\n"
    )
}

/// A ball on a rope or rod of 10 cm, 60° from its lowest place, at 1 ms for 5 s, along a wall or without: the energy that it began with over its
/// lowest place, and the end.
fn pendulum(treatment: &str, kind: &str, slack: f64, touches: bool) -> (f64, Summary) {
    let (x, z) = (0.1 * 60f64.to_radians().sin(), -0.05);
    let s = run_text(&format!(
        "[time]\nstep = 1e-3\nend = {}\ntreatment = \"{treatment}\"\n[solver]\ntolerance = 1e-8\n\
         [[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.001 }}\nmass = 1.0\nposition = [{x}, 0, {z}]\n\
         [[joints]]\nkind = \"{kind}\"\nbody1 = \"ball\"\nanchor = [{x}, 0, {z}]\nanchor2 = [0, 0, 0]\nlength = {}\n{}",
        if slack > 0.0 { 0.15 } else { 5.0 },
        0.1 + slack,
        if touches { wall([0.0, 1.0, 0.0], [0.0, -0.001, 0.0]) } else { String::new() }
    ))
    .1;
    (9.81 * 0.05, s)
}

#[test]
fn what_a_rope_loses_to_the_length_of_the_step_is_told_as_of_a_rod() {
    let (start, rod) = pendulum("gap_aware", "distance", 0.0, true);
    assert!(tells(&rod, "joints took") && rod.energy.joint_work_J < -0.2 * start, "{:?}", rod.energy);
    let (_, rope) = pendulum("gap_aware", "rope", 0.0, true);
    let lost = rope.energy.rope_loss_J;
    println!("{lost:.3} J of {start:.3} J lost, {:?}", rope.warnings);
    assert!(tells(&rope, "ropes and stops took") && (lost / -rod.energy.joint_work_J - 1.0).abs() < 1e-3, "{lost} {:?}", rope.warnings);
    let (_, kept) = pendulum("forecast", "rope", 0.0, true);
    assert!(kept.warnings.is_empty() && kept.energy.rope_loss_J.abs() < 1e-3 * start, "{:?} {:?}", kept.energy, kept.warnings);
    // a rope that comes tight stops the ball: an impact, which is no loss of the step
    let (_, tight) = pendulum("gap_aware", "rope", 0.02, true);
    let (taken, lost) = (-tight.energy.motor_work_J, tight.energy.rope_loss_J);
    assert!(taken > 0.1 * start && lost.abs() < 0.05 * taken, "{taken} {lost} {:?}", tight.warnings);
}

#[test]
fn a_pendulum_that_nothing_touches_keeps_its_energy() {
    for kind in ["distance", "rope"] {
        let (start, s) = pendulum("gap_aware", kind, 0.0, false);
        let lost = s.energy.rope_loss_J - s.energy.joint_work_J;
        assert!(lost.abs() < 1e-3 * start && s.warnings.is_empty(), "{lost} of {start} J, {:?}", s.warnings);
        // to where it was within the step
        let end = s.energy.kinetic_J + s.energy.potential_J + 9.81 * 0.1;
        assert!((end / start - 1.0).abs() < 1e-2, "{end} of {start} J");
    }
}

/// A wheel of 20 cm at the end of an axle of 30 cm, held at the other end by a ball joint; it spins at `spin` (rad/s) and goes round at the
/// rate g l m/(I₃ spin) of steady precession, for a part of half a turn.
fn gyroscope(treatment: &str, [spin, step, part]: [f64; 3]) -> Summary {
    let rate = 9.81 * 0.3 / (0.02 * spin);
    run_text(&format!(
        "[time]\nstep = {step}\nend = {}\ntreatment = \"{treatment}\"\n[solver]\ntolerance = 1e-8\n\
         [[bodies]]\nname = \"wheel\"\nshape = {{ kind = \"cylinder\", radius = 0.2, half_height = 0.02 }}\nmass = 1.0\nposition = [0.3, 0, 0]\n\
         inertia = [0.0101, 0.0101, 0.02]\n\
         rotation = {{ axis = [0, 1, 0], angle = \"90 deg\" }}\nangular_velocity = [{}, 0, {spin}]\nvelocity = [0, {}, 0]\n\
         [[joints]]\nbody1 = \"wheel\"\nanchor = [0, 0, 0]\n",
        part * std::f64::consts::PI / rate,
        -rate,
        0.3 * rate
    ))
    .1
}

#[test]
fn a_gyroscope_keeps_its_height_however_fast_it_spins() {
    let slow = [[100.0, 1e-3, 1.0], [200.0, 2.5e-4, 1.0]];
    let runs =
        slow.map(|run| ("forecast", run)).into_iter().chain(slow.into_iter().chain([[1000.0, 3e-4, 0.25]]).map(|run| ("gap_aware", run)));
    for (treatment, [spin, step, part]) in runs {
        let s = gyroscope(treatment, [spin, step, part]);
        let sunk = -s.energy.potential_J / (9.81 * 0.3);
        println!("{treatment}, {spin} rad/s, {step} s: sinks by {sunk:.2e} of its axle, {:?}", s.warnings);
        assert!(sunk.abs() < 1e-3 && s.warnings.is_empty(), "{treatment}, {spin} rad/s: {sunk} {:?}", s.warnings);
    }
}

/// A wheel of 5 kg and 20 cm that turns at 300 rad/s about an axis `off` its own (m), without weight, on a plane or without.
fn wheel(off: f64, touches: bool) -> Summary {
    run_text(&format!(
        "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 0.3\n[[bodies]]\nname = \"wheel\"\n\
         shape = {{ kind = \"cylinder\", radius = 0.2, half_height = 0.03 }}\nmass = 5.0\nposition = [{off}, 0, 0]\n\
         velocity = [0, {}, 0]\nangular_velocity = [0, 0, 300]\n\
         [[joints]]\nkind = \"revolute\"\naxis = [0, 0, 1]\nbody1 = \"wheel\"\nanchor = [0, 0, 0]\n{}",
        300.0 * off,
        if touches { wall([0.0, 0.0, 1.0], [0.0, 0.0, -0.03]) } else { String::new() }
    ))
    .1
}

#[test]
fn a_wheel_out_of_true_is_told_by_what_its_spin_loses() {
    let spin = 0.5 * 0.5 * 5.0 * 0.04 * 9e4;
    for (off, told) in [(1e-5, false), (1e-4, false), (2e-3, true)] {
        let s = wheel(off, true);
        let lost = -s.energy.joint_work_J;
        println!("{off} m: {:.2e} of the spin lost, {:?}", lost / spin, s.warnings);
        // of the centre's own energy, ½ m (ω e)², most within a tenth of a second, whatever e
        assert!(lost > 0.5 * 5.0 * (300.0 * off).powi(2) && lost < 0.05 * spin);
        let percent = format!("{:.2} % of the energy that moved: use", 100.0 * lost / (spin + 0.5 * 5.0 * (300.0 * off).powi(2)));
        assert!(if told { tells(&s, &percent) } else { s.warnings.is_empty() }, "{percent}: {:?}", s.warnings);
        let alone = wheel(off, false);
        assert!(
            alone.energy.joint_work_J.abs() < 0.1 * lost && (told || alone.warnings.is_empty()),
            "{:?} {:?}",
            alone.energy,
            alone.warnings
        );
    }
}

#[test]
fn the_built_in_top_stays_in_steady_precession() {
    let scene = drystone::scenes::load("spinning_top", &[]).expect("a built-in scene");
    let s = drystone::scenes::run(&scene).expect("it runs").1;
    // 1 kg, 0.1 m up the axis, which began at 30°
    let tilt = (s.energy.potential_J / 0.981).acos().to_degrees();
    assert!((tilt - 30.0).abs() < 1e-3 && s.warnings.is_empty(), "{tilt}° {:?}", s.warnings);
}

/// A chain of grains of 1 µg, that two loads of `pull` times their weight hold tight without gravity.
#[test]
fn rounding_under_loads_where_nothing_moves_is_no_energy() {
    for pull in [1e3, 1e5] {
        let mut text = "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 0.05\n".to_owned();
        for k in 0..12 {
            let x = 1e-4 * f64::from(k);
            text += &format!(
                "[[bodies]]\nname = \"g{k}\"\nshape = {{ kind = \"ball\", radius = 3e-5 }}\nmass = 1e-9\nposition = [{x}, 0, {x}]\n"
            );
            if k > 0 {
                text += &format!(
                    "[[joints]]\nkind = \"distance\"\nbody1 = \"g{}\"\nbody2 = \"g{k}\"\nanchor = [{}, 0, {}]\nanchor2 = [{x}, 0, {x}]\n",
                    k - 1,
                    x - 1e-4,
                    x - 1e-4
                );
            }
        }
        for (k, sign) in [(0, -1.0), (11, 1.0)] {
            let force = sign * pull * 9.81e-9;
            text += &format!("[[load]]\nbodies = [\"g{k}\"]\nforce = [{force}, 0, {force}]\n");
        }
        let s = run_text(&text).1;
        println!("{:e} {:e} {:?}", s.energy.balance_error, s.energy.joint_work_J, s.warnings);
        assert!(s.energy.balance_error < 1e-6 && s.warnings.is_empty(), "{:e} {:?}", s.energy.balance_error, s.warnings);
    }
}
