//! A wallet under diagonal compression against sliding along one bed joint.
//!
//! ```text
//! P/√2 + W/√2 = c A + μ (P/√2 + W/√2)       the diagonal at 45°, W the weight of what slides: all above the upright flank of the foot
//! P = √2 c A/(1 − μ) − W                    for μ < 1; from 1 on nothing slides, and rigid bricks do not split
//! ```

use super::scene;
use drystone::diagnostics::equilibrium::{Structure, admissible};
use drystone::io::scene::Scene;
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::build;
use glam::DVec3;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

const G: f64 = 9.81;
const STIFFNESS: f64 = 1e8;
const THICKNESS: f64 = 0.12;
/// Energy per area of the mortar in shear (J/m²).
const ENERGY: f64 = 60.0;

/// A square wallet of so many courses, four to a brick's length.
fn wallet(courses: usize, [cohesion, mu]: [f64; 2], more: &[(&str, &str)]) -> Scene {
    let columns = courses / 4;
    let at = |x: f64| format!("[{x}, 0, {x}]");
    let edge = 0.25 * columns as f64;
    let (corner, ram) = (at(edge), at(edge + 0.1));
    let mut set = vec![
        ("generate.wall.0.rows", courses.to_string()),
        ("generate.wall.0.columns", columns.to_string()),
        ("bodies.1.position", corner.clone()),
        ("interactions.0.anchor", corner),
        ("bodies.2.position", ram),
        ("contact.mu", mu.to_string()),
        ("contact.bond.cohesion", cohesion.to_string()),
        ("contact.bond.tension", (0.5 * cohesion).to_string()),
    ];
    set.extend(more.iter().map(|(key, value)| (*key, (*value).to_owned())));
    let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (*key, value.as_str())).collect();
    scene("docs/studies/diagonal_compression.toml", &set)
}

/// Peak by hand (N).
fn by_hand(courses: usize, [cohesion, mu]: [f64; 2]) -> f64 {
    let edge = 0.0625 * courses as f64;
    let above = edge * (edge - 0.125) * THICKNESS * 1800.0 + 0.14 * 0.02 * (0.15 + 0.125) * 7800.0;
    SQRT_2 * cohesion * edge * THICKNESS / (1.0 - mu) - above * G
}

fn index(scene: &Scene, name: &str) -> usize {
    scene.bodies.iter().position(|body| body.name == name).unwrap()
}

/// What statics say of a press on the head.
fn stands(mut scene: Scene, press: f64) -> Option<bool> {
    scene.ties.clear();
    let head = index(&scene, "head");
    scene.bodies[head].force = -press * FRAC_1_SQRT_2 * DVec3::new(1.0, 0.0, 1.0);
    admissible(&Structure::of(&scene, 0.0).unwrap().solve())
}

/// Largest force of the machine in a run (N), what it is in the end, and the energy that joints have released (J).
fn pressed(scene: &Scene) -> [f64; 3] {
    let mut built = build(scene).unwrap();
    let ends = ["head", "ram"].map(|name| built.entities[index(scene, name)]);
    let along = |built: &drystone::scenes::Built| {
        let [head, ram] = ends.map(|e| built.simulation.world().get::<BodyPose>(e).unwrap().0.position);
        (head - ram).dot(DVec3::new(1.0, 0.0, 1.0)) * FRAC_1_SQRT_2
    };
    let start = along(&built);
    let (mut peak, mut last) = (0.0f64, 0.0);
    while built.simulation.time() < scene.time.end {
        let report = built.simulation.step().unwrap();
        assert!(report.converged, "t = {}", report.time);
        last = STIFFNESS * (along(&built) - start);
        peak = peak.max(last);
    }
    [peak, last, built.simulation.bond_state().released]
}

#[test]
fn a_wallet_pressed_along_its_diagonal_slides_along_a_bed_joint_at_the_load_by_hand() {
    for (courses, mortar) in [(4, [2e5, 0.6]), (8, [2e5, 0.4]), (8, [2e5, 0.75])] {
        let hand = by_hand(courses, mortar);
        let found = [0.998, 1.002].map(|part| stands(wallet(courses, mortar, &[]), part * hand));
        assert_eq!(found, [Some(true), Some(false)], "{courses} courses, {mortar:?}: {hand} N");
    }
    // the run: softening lets it fall a little earlier, never later; one bed joint breaks
    let mortar = [2e5, 0.6];
    let way = "[-0.0003, 0, -0.0003]";
    let scene = wallet(4, mortar, &[("support.0.displacement", way), ("support.0.duration", "0.4"), ("time.end", "0.45")]);
    let [peak, last, released] = pressed(&scene);
    let (hand, joint) = (by_hand(4, mortar), ENERGY * 0.25 * THICKNESS);
    println!("peak {peak:.0} N of {hand:.0} by hand, then {last:.0} N; {released:.4} J of {joint:.4}");
    assert!((0.95..1.01).contains(&(peak / hand)) && last < 0.2 * peak, "{peak} and {last}, by hand {hand}");
    assert!((released / joint - 1.0).abs() < 0.02, "{released} J of {joint} J");
}

#[test]
#[ignore = "minutes: cargo test --release --test studies wallet -- --ignored --nocapture"]
fn wallets_of_mortars_and_sizes() {
    println!("| courses | c, MPa | μ | by hand, kN | statics, kN | run, kN | τ of the run, MPa | released, J |");
    for (courses, mortar) in
        [(4, [2e5, 0.6]), (8, [2e5, 0.6]), (12, [2e5, 0.6]), (8, [1e5, 0.6]), (8, [3e5, 0.6]), (8, [2e5, 0.4]), (8, [2e5, 0.75])]
    {
        let hand = by_hand(courses, mortar);
        // the middle is not what is expected, where neither can be proved
        let [mut low, mut high] = [0.9 * hand, 1.13 * hand];
        while high - low > 5e-4 * hand {
            let middle = 0.5 * (low + high);
            match stands(wallet(courses, mortar, &[]), middle) {
                Some(true) => low = middle,
                Some(false) => high = middle,
                None => break,
            }
        }
        let way = -(1.3 * hand / STIFFNESS * FRAC_1_SQRT_2 + 2e-4);
        let way = format!("[{way}, 0, {way}]");
        let [peak, _, released] = pressed(&wallet(courses, mortar, &[("support.0.displacement", &way), ("time.end", "0.8")]));
        let tau = FRAC_1_SQRT_2 * peak / (0.0625 * courses as f64 * THICKNESS) / 1e6;
        let [c, mu] = [mortar[0] / 1e6, mortar[1]];
        let kilo = [hand, low, high, peak].map(|x| x / 1e3);
        println!(
            "| {courses} | {c} | {mu} | {:.2} | {:.2} … {:.2} | {:.2} | {tau:.3} | {released:.3} |",
            kilo[0], kilo[1], kilo[2], kilo[3]
        );
    }
}
