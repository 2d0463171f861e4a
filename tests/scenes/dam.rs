//! A dam of six courses, 6 m high, under water and shaking: `F = ½ ρ g d²`, `U = ½ ρ g d B`, `W = ρ_s g B H` per metre.

use bevy_ecs::prelude::Entity;
use drystone::diagnostics::summary::Summary;
use drystone::io::scene::Scene;
use drystone::model::contact::{ContactPair, Manifold};
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::{Built, build, load, run};
use glam::DVec3;

const G: f64 = 9.81;
const H: f64 = 6.0;

fn dam(settings: &[(&str, &str)]) -> (Built, Summary) {
    run(&load("block_dam", settings).unwrap()).unwrap()
}

fn close(found: f64, expected: f64, within: f64) -> bool {
    (found / expected - 1.0).abs() < within
}

/// Weight, thrust and uplift (N).
fn loads(width: f64, depth: f64, uplift: bool) -> [f64; 3] {
    let water = 0.5 * 1000.0 * G * depth;
    [2400.0 * G * width * H, water * depth, if uplift { water * width } else { 0.0 }]
}

#[test]
fn factors_of_safety_come_out_of_the_base_joint() {
    // where the table has a number, it stands beside the formula
    let cases = [
        (3.0, 6.0, false, Some((1.44, 1.8))),
        (3.0, 6.0, true, Some((1.14, 1.2))),
        (3.0, 4.0, false, None),
        (2.0, 4.8, false, None),
        (2.0, 4.8, true, None),
    ];
    for (width, depth, uplift, table) in cases {
        let [w, f, u] = loads(width, depth, uplift);
        let (sliding, overturning) = (0.6 * (w - u) / f, w * width / 2.0 / (f * depth / 3.0 + u * 2.0 * width / 3.0));
        if let Some((s, o)) = table {
            assert!(close(sliding, s, 1e-12) && close(overturning, o, 1e-12));
        }
        let uplift = if uplift { "linear" } else { "none" };
        let (_, summary) = dam(&[("width", &width.to_string()), ("water_level", &depth.to_string()), ("uplift", uplift)]);
        let found = summary.dam.unwrap();
        let case = format!("{width} m wide, water {depth} m, uplift {uplift}: {found:?}");
        assert!(close(found.sliding_factor.unwrap(), sliding, 1e-6), "{case}, expected {sliding}");
        assert!(close(found.overturning_factor.unwrap(), overturning, 1e-6), "{case}, expected {overturning}");
        assert!(summary.displacement_max_m < 1e-8 && summary.unconverged_steps == 0, "{case}");
    }
}

#[test]
fn a_dam_that_gives_way_tells_what_it_lacked() {
    for (uplift, sliding, overturning) in [("none", 0.96, 0.8), ("linear", 0.76, 0.9 / 1.375)] {
        let (_, summary) = dam(&[("width", "2"), ("uplift", uplift)]);
        assert!(summary.displacement_max_m > 0.1, "it falls");
        let found = summary.dam.unwrap();
        assert!(close(found.sliding_factor.unwrap(), sliding, 1e-6), "uplift {uplift}: {found:?}");
        assert!(close(found.overturning_factor.unwrap(), overturning, 1e-6), "uplift {uplift}: {found:?}");
    }
}

/// Normal force, shear towards the dry side (N) and moment of the normal forces about the wet edge (N m) of the lower body on the upper.
fn resultant(built: &mut Built, upper: Entity, lower: Entity) -> [f64; 3] {
    let h = built.simulation.time_step();
    let world = built.simulation.world_mut();
    let mut sum = [0.0; 3];
    for (pair, manifold) in world.query::<(&ContactPair, &Manifold)>().iter(world) {
        let sign = match pair.bodies {
            bodies if bodies == [upper, lower] => 1.0 / h,
            bodies if bodies == [lower, upper] => -1.0 / h,
            _ => continue,
        };
        for touch in &manifold.points {
            let force = sign * touch.reaction;
            sum[0] += force.z;
            sum[1] -= force.x;
            sum[2] += force.z * touch.point1.x;
        }
    }
    sum
}

#[test]
fn every_joint_carries_what_lies_and_presses_above_it() {
    for (width, depth, uplift) in [(3.0, 6.0, "none"), (3.0, 4.5, "none"), (2.0, 5.0, "none"), (3.0, 5.5, "joints"), (4.0, 3.4, "joints")] {
        let settings = [("width", &*f64::to_string(&width)), ("water_level", &f64::to_string(&depth)), ("uplift", uplift)];
        let (mut built, _) = dam(&settings);
        let bodies = built.entities.clone();
        for joint in 0..6 {
            let z = joint as f64;
            let (weight, above) = (2400.0 * G * width * (H - z), f64::max(depth - z, 0.0));
            let thrust = 0.5 * 1000.0 * G * above * above;
            let lift = if uplift == "joints" { 0.5 * 1000.0 * G * above * width } else { 0.0 };
            let moment = weight * width / 2.0 + thrust * above / 3.0 - lift * width / 3.0;
            let expected = [weight - lift, thrust, moment];
            let found = resultant(&mut built, bodies[joint + 1], bodies[joint]);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6 * weight, "{width} m, {uplift}, joint {joint}: {found} of {expected}");
            }
        }
    }
}

/// Largest parameter, to 0.1 %, at which the dam of `scene` stays where it is for a second.
fn first_motion(mut low: f64, mut high: f64, scene: impl Fn(f64) -> Scene) -> f64 {
    let moves = |x: f64| run(&scene(x)).unwrap().1.displacement_max_m > 1e-5;
    assert!(!moves(low) && moves(high), "no first motion between {low} and {high}");
    while high / low > 1.001 {
        let middle = 0.5 * (low + high);
        if moves(middle) { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// How a dam fails.
#[derive(Debug, PartialEq)]
enum Mode {
    Slides,
    Overturns,
}

/// What the lowest course has done when the dam has moved by some millimetres: its toe has slipped, or it has turned about it.
fn mode(scene: &Scene) -> Mode {
    let mut built = build(scene).unwrap();
    let lowest = built.entities[1];
    let pose = |built: &Built| built.simulation.world().get::<BodyPose>(lowest).unwrap().0;
    let start = pose(&built);
    let width = 2.0 * start.position.x;
    let toe = start.local_point(DVec3::new(width, 0.0, 0.0));
    loop {
        built.simulation.step().unwrap();
        let now = pose(&built);
        let (slip, lift) = (now.point(toe).x - width, width * start.rotation.angle_between(now.rotation));
        if slip + lift > 0.005 {
            assert!(slip > 100.0 * lift || lift > 100.0 * slip, "slips {slip} m and lifts its heel by {lift} m");
            return if slip > lift { Mode::Slides } else { Mode::Overturns };
        }
        assert!(built.simulation.time() < 5.0, "it does not move");
    }
}

fn wide(width: &str, level: &str, uplift: &str) -> Scene {
    load("block_dam", &[("width", width), ("water_level", level), ("uplift", uplift)]).unwrap()
}

#[test]
fn rising_water_overturns_a_narrow_dam_at_the_level_of_the_formula() {
    let level = |x: f64| wide("2", &x.to_string(), "none");
    let found = first_motion(5.0, 5.9, level);
    assert!(close(found, 5.5699, 0.01), "moves at {found} m");
    assert_eq!(mode(&level(1.01 * found)), Mode::Overturns);
    // rising through it in 20 s: nothing moves before, all is over after
    let mut slowly = level(5.4);
    (slowly.water[0].times, slowly.water[0].levels) = (vec![0.0, 20.0], vec![5.4, 5.8]);
    slowly.time.end = 20.0 * (5.55 - 5.4) / 0.4;
    assert!(run(&slowly).unwrap().1.displacement_max_m < 1e-8);
    slowly.time.end = 20.0 * (5.626 - 5.4) / 0.4;
    assert!(run(&slowly).unwrap().1.displacement_max_m > 1e-3);
}

#[test]
fn a_shaken_dam_fails_at_the_acceleration_and_in_the_mode_of_the_formulas() {
    let cases = [("3", "4", 0.4148, Mode::Slides), ("2", "4", 0.2099, Mode::Overturns), ("3", "5", 0.3106, Mode::Slides)];
    for (width, level, expected, how) in cases {
        let shaken = |a: f64| {
            let a = a.to_string();
            load("block_dam", &[("width", width), ("water_level", level), ("base_acceleration_g", &a)]).unwrap()
        };
        let found = first_motion(0.8 * expected, 1.2 * expected, shaken);
        assert!(close(found, expected, 0.01), "{width} m wide, water {level} m: {found} g");
        assert_eq!(mode(&shaken(1.003 * found)), how, "{width} m wide, water {level} m");
    }
}

#[test]
fn loads_multiplied_until_it_moves_give_the_factors_of_the_table() {
    // water heavier by the multiplier: thrust and uplift grow together
    let cases = [
        ("3", "none", 1.44, Mode::Slides),
        ("3", "linear", 1.1077, Mode::Slides),
        ("2", "none", 0.8, Mode::Overturns),
        ("2", "linear", 0.6545, Mode::Overturns),
    ];
    for (width, uplift, expected, how) in cases {
        let loaded = |factor: f64| {
            let mut scene = wide(width, "top", uplift);
            scene.water[0].density *= factor;
            scene
        };
        let found = first_motion(0.8 * expected, 1.2 * expected, loaded);
        assert!(close(found, expected, 0.01), "{width} m wide, uplift {uplift}: {found}");
        assert_eq!(mode(&loaded(1.01 * found)), how, "{width} m wide, uplift {uplift}");
    }
}

#[test]
fn friction_reduced_until_it_slides_gives_the_sliding_factor() {
    for (uplift, expected) in [("none", 1.44), ("linear", 1.14)] {
        let weak = |factor: f64| {
            let mut scene = wide("3", "top", uplift);
            scene.default_law.mu /= factor;
            scene
        };
        let found = first_motion(0.8 * expected, 1.2 * expected, weak);
        assert!(close(found, expected, 0.01), "uplift {uplift}: {found}");
        assert_eq!(mode(&weak(1.01 * found)), Mode::Slides);
    }
}
