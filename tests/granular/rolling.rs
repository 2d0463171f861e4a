//! Resistance to rolling and twisting, against closed forms.

use drystone::diagnostics::summary::Summary;
use drystone::io::scene::Scene;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::scenes::Built;

const G: f64 = 9.81;
const R: f64 = 0.1;

/// A run without faults whose energy closes.
fn run(text: &str, tilt: f64, [step, end, tolerance]: [f64; 3]) -> (Built, Summary) {
    let head = format!(
        "gravity = [{}, 0, {}]\n[time]\nstep = {step}\nend = {end}\n[solver]\ntolerance = {tolerance}\n",
        G * tilt.sin(),
        -G * tilt.cos()
    );
    let scene = Scene::from_toml(&format!("{head}{text}"), "rolling").unwrap_or_else(|e| panic!("{e}"));
    let (built, summary) = drystone::scenes::run(&scene).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0), "{summary}");
    assert!(summary.energy.balance_error < 1e-10 || summary.displacement_max_m < 1e-9, "{}", summary.energy.balance_error);
    assert!(summary.energy.rolling_work_J <= 1e-12, "moments that resist give nothing: {}", summary.energy.rolling_work_J);
    (built, summary)
}

fn scene(law: &str, ball: &str) -> String {
    format!(
        "[contact]\nmu = 0.6\n{law}\n[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\" }}\n\
         [[bodies]]\nname = \"ball\"\nmass = 2\nshape = {{ kind = \"ball\", radius = {R} }}\nposition = [0, 0, {R}]\n{ball}\n"
    )
}

fn velocity(built: &Built, body: usize) -> Velocity {
    *built.simulation.world().get(built.entities[body]).expect("alive")
}

fn pose(built: &Built, body: usize) -> drystone::algebra::spatial::Pose {
    built.simulation.world().get::<BodyPose>(built.entities[body]).expect("alive").0
}

#[test]
fn a_ball_rolls_out_as_its_moment_says() {
    // m v̇ = −F, (2/5) m R² ω̇ = F R − a m g with v = ω R: v̇ = −(5/7) (a/R) g
    let rolling = "velocity = [1, 0, 0]\nangular_velocity = [0, 10, 0]";
    for (law, part) in [("mu_r = 0.05", 0.05), ("mu_r = \"5 mm\"", 0.05), ("mu_r = 0.02\nmu_t = 0.3", 0.02)] {
        for (step, tolerance) in [(5e-4, 1e-3), (1e-3, 1e-6), (4e-3, 1e-8)] {
            let (built, _) = run(&scene(law, rolling), 0.0, [step, 0.8, tolerance]);
            let v = velocity(&built, 1);
            let expected = 1.0 - 5.0 / 7.0 * part * G * 0.8;
            assert!((v.linear.x - expected).abs() < 1e-9 && (v.angular.y * R - expected).abs() < 1e-9, "{law} {step}: {v:?}");
        }
    }
    // and stays where it has come to rest
    let (built, summary) = run(&scene("mu_r = 0.3", rolling), 0.0, [1e-3, 1.0, 1e-8]);
    let way = 7.0 / (10.0 * 0.3 * G);
    assert!(velocity(&built, 1).linear.length() < 1e-9 && (summary.displacement_max_m - way).abs() < 6e-4, "{summary}");
}

#[test]
fn a_ball_holds_on_a_slope_up_to_its_arm_and_rolls_beyond_it() {
    for tilt in [0.02_f64, 0.1, 0.4] {
        for (share, holds) in [(1.001, true), (0.999, false), (0.5, false)] {
            let part = share * tilt.tan();
            let (built, summary) = run(&scene(&format!("mu_r = {part}"), ""), tilt, [1e-3, 0.3, 1e-8]);
            let expected = if holds { 0.0 } else { 5.0 / 7.0 * G * 0.3 * (tilt.sin() - part * tilt.cos()) };
            assert!((velocity(&built, 1).linear.x - expected).abs() < 1e-9, "{tilt} {share}: {summary}");
        }
    }
}

#[test]
fn the_slope_on_which_a_ball_begins_to_roll_is_met_to_a_millionth() {
    for tilt in [0.02_f64, 0.1, 0.4] {
        for (share, holds) in [(1.0 + 1e-6, true), (1.0 - 1e-6, false)] {
            let part = share * tilt.tan();
            let head = format!(
                "gravity = [{}, 0, {}]\n[time]\nstep = 1e-3\nend = 0.3\n[solver]\ntolerance = 1e-13\n",
                G * tilt.sin(),
                -G * tilt.cos()
            );
            let text = format!("{head}{}", scene(&format!("mu_r = {part}"), ""));
            let scene = Scene::from_toml(&text, "slope").unwrap_or_else(|e| panic!("{e}"));
            let (built, summary) = drystone::scenes::run(&scene).unwrap_or_else(|e| panic!("{e}"));
            let expected = if holds { 0.0 } else { 5.0 / 7.0 * G * 0.3 * (tilt.sin() - part * tilt.cos()) };
            assert!((velocity(&built, 1).linear.x - expected).abs() < 1e-12, "{tilt} {share} {expected:e}: {summary}");
            assert!(holds || expected > 4e-8, "{expected:e}");
        }
    }
}

#[test]
fn a_spinning_ball_comes_to_rest_on_its_spot() {
    // (2/5) m R² ω̇ = −a m g
    let (built, summary) = run(&scene("mu_t = \"8 mm\"", "angular_velocity = [0, 0, 30]"), 0.0, [1e-3, 0.5, 1e-8]);
    let expected = 30.0 - 0.5 * 8e-3 * G / (0.4 * R * R);
    assert!((velocity(&built, 1).angular.z - expected).abs() < 1e-9, "{summary}");
    let work = 0.5 * 0.4 * 2.0 * R * R * (expected * expected - 900.0);
    assert!((summary.energy.rolling_work_J / work - 1.0).abs() < 1e-9, "{}", summary.energy.rolling_work_J);
}

#[test]
fn a_turning_plate_takes_a_ball_along() {
    let plate = "motion = { kind = \"constant\", angular_velocity = [0, 0, 3] }\nposition = [0, 0, -0.05]\nshape = { kind = \"cuboid\", size = [1, 1, 0.1] }";
    let text = scene("mu_t = 0.1", "").replace("motion = \"static\"\nshape = { kind = \"half_space\" }", plate);
    let slow = run(&text, 0.0, [1e-3, 0.05, 1e-8]).0;
    let gained = 0.05 * 0.1 * G / (0.4 * R);
    assert!((velocity(&slow, 1).angular.z - gained).abs() < 1e-9, "{:?}", velocity(&slow, 1));
    let (fast, summary) = run(&text, 0.0, [1e-3, 0.4, 1e-8]);
    assert!((velocity(&fast, 1).angular.z - 3.0).abs() < 1e-9, "{summary}");
    assert!(summary.energy.drive_work_J > 0.0);
}

/// Two balls that attract each other, one of which turns: angular momentum stays, the relative turning goes.
#[test]
fn balls_that_hang_together_share_their_turning() {
    let text = "[contact]\nmu = 0.5\nmu_r = 0.2\nmu_t = 0.2\nadhesion = 40\nadhesion_range = \"1 mm\"\n\
        [[bodies]]\nname = \"one\"\nmass = 1\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [-0.1, 0, 0]\nangular_velocity = [6, 2, -3]\n\
        [[bodies]]\nname = \"two\"\nmass = 0.5\nshape = { kind = \"ball\", radius = 0.05 }\nposition = [0.05, 0, 0]\n";
    let head = "gravity = [0, 0, 0]\n[time]\nstep = \"0.5 ms\"\nend = 0.4\n[solver]\ntolerance = 1e-10\n";
    let scene = Scene::from_toml(&format!("{head}{text}"), "pair").unwrap_or_else(|e| panic!("{e}"));
    let (built, summary) = drystone::scenes::run(&scene).unwrap_or_else(|e| panic!("{e}"));
    assert!(summary.energy.balance_error < 1e-10 && summary.energy.rolling_work_J < -1e-3, "{summary}");
    let [one, two] = [0, 1].map(|k| {
        let (pose, v) = (pose(&built, k), velocity(&built, k));
        (pose.position, v.linear, pose.rotation * v.angular)
    });
    assert!((one.2 - two.2).length() < 1e-6, "{one:?} {two:?}");
    let momentum = one.0.cross(one.1) + 0.5 * two.0.cross(two.1) + 0.4 * (0.01 * one.2 + 0.5 * 0.0025 * two.2);
    let start = 0.4 * 0.01 * glam::DVec3::new(6.0, 2.0, -3.0);
    // arms are those of the start of each step
    assert!((momentum - start).length() < 1e-3 * start.length(), "{momentum} {start}");
}

#[test]
fn a_pile_of_grains_that_roll_hard_stands_higher() {
    let height = |law: &str, tolerance: f64| {
        let text = format!(
            "[contact]\nmu = 0.5\n{law}\n[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\" }}\n\
             [[generate.lattice]]\nname = \"grain\"\ncount = [4, 4, 8]\nradius = \"1 cm\"\nposition = [0, 0, 0.03]\nwalls = false\nseed = 3\n"
        );
        let (built, _) = run(&text, 0.0, [1e-3, 1.2, tolerance]);
        (1..built.entities.len()).map(|k| pose(&built, k).position.z).fold(0.0, f64::max)
    };
    let (rolls, holds) = (height("", 1e-3), height("mu_r = 0.3\nmu_t = 0.1", 1e-3));
    assert!(holds > 1.5 * rolls, "{rolls} {holds}");
}

#[test]
fn what_a_scene_says_of_arms_is_read_or_refused() {
    let error = |law: &str| Scene::from_toml(&format!("[time]\nstep = 1e-3\nend = 1\n{}", scene(law, "")), "x").unwrap_err().to_string();
    for (law, word) in [("mu_r = -0.1", "mu_r"), ("mu_t = \"-1 mm\"", "mu_t"), ("mu_r = \"3 kg\"", "mu_r"), ("mu_r = [1]", "mu_r")] {
        assert!(error(law).contains(word), "{law}: {}", error(law));
    }
    let lagged = format!("[time]\nstep = 1e-3\nend = 1\n[solver]\nfriction = \"lagged\"\n{}", scene("mu_r = 0.1", ""));
    assert!(Scene::from_toml(&lagged, "x").unwrap_err().to_string().contains("lagged"));
    let scene = Scene::from_toml(&format!("[time]\nstep = 1e-3\nend = 1\n{}", scene("mu_r = 0.1\nmu_t = \"2 mm\"", "")), "x");
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    let again = Scene::from_toml(&scene.to_toml(), "x").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.default_law, again.default_law);
}
