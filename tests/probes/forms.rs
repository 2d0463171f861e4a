//! Scenes whose outcome can be written down, at three tolerances and three steps.

use super::run_text;
use drystone::diagnostics::summary::Summary;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::scenes::Built;
use glam::DVec3;
use std::fmt::Write;

const G: f64 = 9.81;
const FLOOR: &str = "[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n";

fn head([step, tolerance]: [f64; 2], end: f64, mu: f64) -> String {
    format!("[time]\nstep = {step}\nend = {end}\n[solver]\ntolerance = {tolerance}\n[contact]\nmu = {mu}\n")
}

fn cuboid(size: [f64; 3], at: [f64; 3], mass: f64, more: &str) -> String {
    format!("[[bodies]]\nshape = {{ kind = \"cuboid\", size = {size:?} }}\nposition = {at:?}\nmass = {mass}\n{more}\n")
}

/// Every step of 1/4, 1 and 4 ms with every tolerance of 1e-3, 1e-5 and 1e-8.
fn everywhere(mut f: impl FnMut([f64; 2], String)) {
    for h in [0.25e-3, 1e-3, 4e-3] {
        for tolerance in [1e-3, 1e-5, 1e-8] {
            f([h, tolerance], format!("h = {h} s at {tolerance:e}"));
        }
    }
}

fn solved(text: &str, at: &str) -> (Built, Summary) {
    let (built, s) = run_text(text);
    assert_eq!((s.unconverged_steps, s.infeasible_steps), (0, 0), "{at}: {s}");
    assert!(s.penetration_size_max < 0.01 && s.energy.balance_error < 1e-5, "{at}: {s}");
    (built, s)
}

fn position(built: &Built, body: usize) -> DVec3 {
    built.simulation.world().get::<BodyPose>(built.entities[body]).expect("alive").0.position
}

fn velocity(built: &Built, body: usize) -> DVec3 {
    built.simulation.world().get::<Velocity>(built.entities[body]).expect("alive").linear
}

/// Two cards that lean against each other: H = G (L sin α − w cos α) / (2 L cos α), and the floor has to give it.
#[test]
fn a_house_of_two_cards_stands_by_its_friction() {
    let [l, w] = [0.1f64, 0.0005];
    everywhere(|scheme, at| {
        for (alpha, mass) in [(15f64, 1.0), (25.0, 0.002)] {
            let (s, c) = alpha.to_radians().sin_cos();
            for part in [1.06, 0.94] {
                let mu = part * (l * s - w * c) / (2.0 * l * c);
                let pair = "[[contact.pairs]]\nmaterials = [\"card\", \"card\"]\nmu = 2\n";
                let materials = "[[materials]]\nname = \"m\"\ndensity = 1000\n[[materials]]\nname = \"card\"\ndensity = 1000\n";
                let mut text = head(scheme, 0.6, mu) + pair + materials + FLOOR;
                let [x, z] = [0.5 * (l * s + w * c), 0.5 * (l * c + w * s)];
                for side in [-1.0, 1.0] {
                    let turn = format!("material = \"card\"\nrotation = {{ axis = [0, 1, 0], angle = \"{} deg\" }}", -side * alpha);
                    text += &cuboid([w, 0.06, l], [side * x, 0.0, z], mass, &turn);
                }
                let (built, _) = solved(&text, &at);
                let moved = (position(&built, 1).z - z).abs() / l;
                assert!(if part > 1.0 { moved < 1e-6 } else { moved > 0.02 }, "{at}, {alpha}°, {part}: {moved}");
            }
        }
    });
}

/// A ladder on a rough floor at a wall: N_w (L sin θ + μ_w L cos θ) = ½ G L cos θ.
#[test]
fn a_ladder_stands_by_the_friction_of_floor_and_wall() {
    let (half, w) = (1.5, 0.02);
    everywhere(|scheme, at| {
        for (theta, wall) in [(60f64, 0.0), (50.0, 0.4)] {
            let (s, c) = theta.to_radians().sin_cos();
            let push = 0.5 * c / (s + wall * c);
            for part in [1.03, 0.97] {
                let materials = "[[materials]]\nname = \"m\"\ndensity = 1000\n[[materials]]\nname = \"wall\"\ndensity = 1000\n";
                let pair = format!("[[contact.pairs]]\nmaterials = [\"m\", \"wall\"]\nmu = {wall}\n");
                let mut text = head(scheme, 1.0, part * push / (1.0 - wall * push)) + &pair + materials + FLOOR;
                text += "[[bodies]]\nshape = { kind = \"half_space\", normal = [1, 0, 0] }\nmotion = \"static\"\nmaterial = \"wall\"\n";
                let [x, z] = [w + half * c, w + half * s];
                writeln!(text, "[[bodies]]\nshape = {{ kind = \"capsule\", half_height = {half}, radius = {w} }}").expect("text");
                writeln!(text, "mass = 7\nposition = [{x}, 0, {z}]").expect("text");
                writeln!(text, "rotation = {{ axis = [0, 1, 0], angle = \"{} deg\" }}", theta - 90.0).expect("text");
                let (built, _) = solved(&text, &at);
                let moved = (position(&built, 2).z - z).abs();
                assert!(if part > 1.0 { moved < 1e-6 } else { moved > 0.02 }, "{at}, {theta}°, {part}: {moved} m");
            }
        }
    });
}

/// Books between two ends that are pressed together: 2 μ F carries them all.
#[test]
fn books_hang_between_ends_that_are_pressed_hard_enough() {
    everywhere(|scheme, at| {
        for (n, mass, mu) in [(6, 0.7, 0.4), (9, 0.05, 0.8)] {
            for part in [1.03, 0.97] {
                let force = part * n as f64 * mass * G / (2.0 * mu);
                let mut text = head(scheme, 1.0, mu);
                for k in 0..n {
                    text += &cuboid([0.03, 0.15, 0.22], [(k as f64 - 0.5 * (n - 1) as f64) * 0.03, 0.0, 0.0], mass, "");
                }
                for side in [-1.0, 1.0] {
                    let locks = "locked_translation = [\"y\", \"z\"]\nlocked_rotation = [\"x\", \"y\", \"z\"]";
                    let more = format!("{locks}\nforce = [{}, 0, 0]", -side * force);
                    text += &cuboid([0.02, 0.2, 0.3], [side * (0.015 * n as f64 + 0.01), 0.0, 0.0], 1.0, &more);
                }
                let (built, _) = solved(&text, &at);
                let fell = -position(&built, n / 2).z;
                // a loose tolerance lets them creep
                let least = 0.1 * scheme[1] + 1e-7;
                assert!(if part > 1.0 { fell.abs() < least } else { fell > 0.05 }, "{at}, {n} books, {part}: {fell} m");
            }
        }
    });
}

/// Blocks that overhang by L/2k each, the k-th from above: a little less stands, a little more falls.
#[test]
fn a_harmonic_stack_stands_up_to_its_overhang() {
    everywhere(|scheme, at| {
        for (n, l, thick) in [(5, 1.0, 0.1), (8, 0.2, 0.02)] {
            for part in [0.98, 1.02] {
                let mut text = head(scheme, 1.0, 0.6);
                text += &cuboid([4.0 * l, l, 0.2], [-2.0 * l, 0.0, -0.1], 1.0, "motion = \"static\"");
                let mut edge = 0.0;
                for k in (1..=n).rev() {
                    edge += part * l / (2 * k) as f64;
                    text += &cuboid([l, 0.5 * l, thick], [edge - 0.5 * l, 0.0, ((n - k) as f64 + 0.5) * thick], 0.3, "");
                }
                let (built, _) = run_text(&text);
                let moved = (position(&built, n).z - (n as f64 - 0.5) * thick).abs() / l;
                assert!(if part < 1.0 { moved < 1e-6 } else { moved > 0.02 }, "{at}, {n} blocks, {part}: {moved}");
            }
        }
    });
}

/// A block on a belt is taken along with μ g until it has the speed of the belt.
#[test]
fn a_belt_takes_a_block_along() {
    everywhere(|scheme, at| {
        for (mu, speed, mass) in [(0.3, 1.5, 2.0), (0.8, 6.0, 100.0)] {
            let until = 0.5 * speed / (mu * G);
            let end = (until / scheme[0]).floor() * scheme[0];
            for (end, expected) in [(end, mu * G * end), (3.0 * until, speed)] {
                let mut text = head(scheme, end, mu);
                let drive = format!("motion = {{ kind = \"constant\", velocity = [{speed}, 0, 0] }}");
                text += &cuboid([60.0, 1.0, 0.1], [0.0, 0.0, -0.05], 1.0, &drive);
                text += &cuboid([0.3, 0.3, 0.1], [0.0, 0.0, 0.05], mass, "");
                let (built, _) = solved(&text, &at);
                let found = velocity(&built, 1).x;
                assert!((found / expected - 1.0).abs() < 2.0 * scheme[1] + 1e-6, "{at}, μ {mu}: {found} m/s of {expected}");
            }
        }
    });
}

/// Plates that close in on a ball at the angle α push it out at v / tan α, if friction does not jam it: μ < tan α.
#[test]
fn closing_plates_push_a_ball_out_below_the_angle_of_friction_and_jam_it_above() {
    everywhere(|scheme, at| {
        for (alpha, mu) in [(15f64, 0.2), (15.0, 0.35), (30.0, 0.5)] {
            let (s, c) = alpha.to_radians().sin_cos();
            let (r, v) = (0.05, 0.1);
            let mut text = "gravity = [0, 0, 0]\n".to_owned() + &head(scheme, 0.1, mu);
            for side in [1.0, -1.0] {
                let at = [-side * c, 0.0, -s].map(|n| n * (r + 0.01));
                let drive = format!(
                    "rotation = {{ axis = [0, 1, 0], angle = \"{} deg\" }}\nmotion = {{ kind = \"constant\", velocity = [{}, 0, 0] }}",
                    side * (90.0 - alpha),
                    side * v
                );
                text += &cuboid([0.4, 0.4, 0.02], at, 1.0, &drive);
            }
            text += &format!("[[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = {r} }}\n");
            let (built, summary) = run_text(&text);
            let (out, free) = (velocity(&built, 2).z, v * c / s);
            if mu < s / c {
                assert_eq!((summary.infeasible_steps, summary.unconverged_steps), (0, 0), "{at}: {summary}");
                assert!((out / free - 1.0).abs() < 5.0 * scheme[1] + 1e-6, "{at}, {alpha}°: {out} of {free} m/s");
            } else {
                assert_eq!(summary.infeasible_steps, summary.steps, "{at}: {summary}");
                assert!(summary.warnings.iter().any(|w| w.contains("no solution") && w.contains("ball")), "{:?}", summary.warnings);
                assert!(out.abs() < 0.1 * v, "{at}: {out} m/s");
            }
        }
    });
}

/// A rod that slides on its end at a friction for which the rigid problem may have no solution, or two: nothing is gained.
#[test]
fn a_rod_that_scrapes_over_a_rough_floor_gains_no_energy() {
    let (half, r) = (0.5, 0.005);
    everywhere(|scheme, at| {
        for (theta, mu, v) in [(70f64, 2.0, 3.0), (60.0, 5.0, 1.0), (75.0, 1.5, 10.0)] {
            for lean in [1.0, -1.0] {
                let z = r + half * theta.to_radians().sin();
                let mut text = head(scheme, 0.6, mu) + FLOOR;
                writeln!(text, "[[bodies]]\nshape = {{ kind = \"capsule\", half_height = {half}, radius = {r} }}\nmass = 1").expect("text");
                writeln!(text, "position = [0, 0, {z}]\nvelocity = [{}, 0, 0]", -v).expect("text");
                writeln!(text, "rotation = {{ axis = [0, 1, 0], angle = \"{} deg\" }}", lean * (90.0 - theta)).expect("text");
                let scene = drystone::io::scene::Scene::from_toml(&text, "rod").unwrap_or_else(|e| panic!("{e}"));
                let mut built = drystone::scenes::build(&scene).unwrap_or_else(|e| panic!("{e}"));
                let at_first = 0.5 * v * v + G * z;
                while built.simulation.time() < 0.6 - 1e-9 {
                    let report = built.simulation.step().unwrap_or_else(|e| panic!("{e}"));
                    let energy = report.balance.energy.total();
                    assert!(report.converged && energy <= at_first * (1.0 + 1e-9), "{at}, {theta}°, {lean}: {energy} of {at_first} J");
                }
            }
        }
    });
}

/// Two levers on a pin that a motor of bounded torque closes on a ball: friction above tan α holds the ball, and all of it is at rest.
#[test]
fn a_nut_that_a_cracker_cannot_break_rests_in_it_without_a_word() {
    let (alpha, r, l, thick) = (12f64.to_radians(), 0.03, 0.4, 0.02);
    let (s, c) = alpha.sin_cos();
    for (h, tolerance, limit) in [(0.25e-3, 1e-3, 5.0), (1e-3, 1e-3, 5.0), (1e-3, 1e-5, 5.0), (1e-3, 1e-3, 500.0)] {
        let mut text = "gravity = [0, 0, 0]\n".to_owned() + &head([h, tolerance], 0.1, 0.8);
        for (name, side) in [("upper", 1.0), ("lower", -1.0)] {
            let turned = format!("name = \"{name}\"\nrotation = {{ axis = [0, 1, 0], angle = {} }}", -side * alpha);
            text += &cuboid([l, 0.05, thick], [0.5 * l * c, 0.0, 0.5 * side * l * s], 1.0, &turned);
        }
        let motor = format!("motor = {{ speed = 2, limit = {limit} }}");
        writeln!(text, "[[bodies]]\nshape = {{ kind = \"ball\", radius = {r} }}\nmass = 0.1\nposition = [{}, 0, 0]", (r + 0.5 * thick) / s)
            .expect("text");
        writeln!(
            text,
            "[[joints]]\nkind = \"revolute\"\nbody1 = \"upper\"\nbody2 = \"lower\"\nanchor = [0, 0, 0]\naxis = [0, 1, 0]\n{motor}"
        )
        .expect("text");
        let (built, summary) = run_text(&text);
        assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0), "h = {h} s at {tolerance:e}, {limit} N m: {summary}");
        assert_eq!(summary.warnings, [""; 0], "{summary}");
        assert!(velocity(&built, 2).length() < 1e-6 && summary.displacement_max_m < 1e-6, "{summary}");
    }
}

/// A driven plate crushes a stone on three balls with 40 kN, and one of these overlaps the floor: that is a load, under which it is pushed out, though nothing moves.
#[test]
fn what_a_crushing_joint_presses_is_pushed_out_of_its_overlap() {
    for h in [1e-4, 5e-4] {
        let mut text = head([h, 1e-6], 0.05, 0.6).replace("mu = 0.6", "mu = 0.6\ncrushing = \"1 MPa\"");
        text += "[[bodies]]\nmotion = \"static\"\nshape = { kind = \"half_space\", normal = [0, 0, 1] }\n";
        for [x, y, z] in [[0.0, 0.0, 0.0999], [0.3, 0.0, 0.1], [0.15, 0.26, 0.1]] {
            writeln!(text, "[[bodies]]\nshape = {{ kind = \"ball\", radius = 0.1 }}\nmass = 20\nposition = [{x}, {y}, {z}]").expect("text");
        }
        text += &cuboid([0.5, 0.5, 0.2], [0.15, 0.0866, 0.3], 20.0, "name = \"stone\"");
        let driven = "[[bodies]]\nshape = { kind = \"cuboid\", size = [0.2, 0.2, 0.2] }\nposition = [0.15, 0.0866, 0.5]\n\
                      motion = { kind = \"constant\", velocity = [0, 0, -1e-3] }\n";
        text += driven;
        let (_, s) = run_text(&text);
        assert!(s.overlaps_kept_steps == 0 && s.penetration_max_m < 1e-6, "h = {h} s: {s}");
    }
}

/// A block that sticks to a turntable stays on its circle, whatever the step; by the tangent it would gain `½ h ω² r` every second.
#[test]
fn a_block_on_a_turntable_stays_on_its_circle() {
    let (spin, radius) = (3.96, 0.3);
    for step in [1e-3, 4e-3, 1e-2] {
        let table = format!(
            "[[bodies]]\nshape = {{ kind = \"cylinder\", half_height = 0.05, radius = 0.9 }}\nposition = [0.0, 0.0, -0.05]\n\
             motion = {{ kind = \"constant\", angular_velocity = [0.0, 0.0, {spin}] }}\n"
        );
        let turning = format!("velocity = [0.0, {}, 0.0]\nangular_velocity = [0.0, 0.0, {spin}]", spin * radius);
        let block = cuboid([0.03, 0.03, 0.015], [radius, 0.0, 0.0075], 0.1, &turning);
        let (built, s) = run_text(&(head([step, 1e-6], 2.0, 0.5) + &table + &block));
        assert_eq!((s.unconverged_steps, s.infeasible_steps), (0, 0), "{s}");
        let off = position(&built, 1).with_z(0.0).length() - radius;
        assert!(off.abs() < 1e-4 * radius, "{off} m off its circle at a step of {step} s");
    }
}
