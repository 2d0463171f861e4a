//! Heavy bodies on light ones: the reactions are so large beside the weight of those that carry them that a thousandth of a reaction lets
//! the heavy body fall.

use super::run_text;
use drystone::diagnostics::summary::Summary;
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::Built;
use std::fmt::Write;

fn head(step: f64, tolerance: f64, end: f64, mu: f64) -> String {
    format!(
        "[time]\nstep = {step}\nend = {end}\n[solver]\ntolerance = {tolerance}\n[contact]\nmu = {mu}\n\
         [[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n"
    )
}

fn height(built: &Built, body: usize) -> f64 {
    built.simulation.world().get::<BodyPose>(built.entities[body]).expect("alive").0.position.z
}

fn assert_clean(s: &Summary) {
    assert_eq!((s.unconverged_steps, s.infeasible_steps), (0, 0), "{s}");
    assert!(s.warnings.iter().all(|w| w.starts_with("hint")), "{:?}", s.warnings);
}

/// A heavy ball of radius 5 cm, `drop` above three light ones of 0.5 kg that touch each other: how far it comes down, in radii. The light
/// ones are gripped between two contacts with normals θ apart, which they can be as long as μ > tan θ/2, whatever they weigh.
fn comes_down([step, tolerance]: [f64; 2], ratio: f64, part: f64, drop: f64, beside: &str) -> f64 {
    let r = 0.05;
    let theta = (1.0 / 3f64.sqrt()).asin();
    let mut text = head(step, tolerance, 1.0, part * (0.5 * theta).tan());
    for k in 0..3 {
        let (s, c) = (k as f64 * std::f64::consts::TAU / 3.0).sin_cos();
        let [x, y] = [c, s].map(|x| 2.0 * r / 3f64.sqrt() * x);
        writeln!(text, "[[bodies]]\nmass = 0.5\nshape = {{ kind = \"ball\", radius = {r} }}\nposition = [{x}, {y}, {r}]").expect("text");
    }
    let top = r + 2.0 * r * (2f64 / 3.0).sqrt();
    let mass = 0.5 * ratio;
    let shape = format!("shape = {{ kind = \"ball\", radius = {r} }}");
    writeln!(text, "[[bodies]]\nmass = {mass}\n{shape}\nposition = [0, 0, {}]\n{beside}", top + drop).expect("text");
    let (built, s) = run_text(&text);
    if part > 1.0 {
        assert_clean(&s);
    }
    (top - height(&built, 4)) / r
}

#[test]
fn a_heavy_ball_on_three_light_ones_stands_by_the_angle_of_friction_at_any_tolerance() {
    let block = "[[bodies]]\nmass = 1e6\nshape = { kind = \"cuboid\", size = [2, 2, 2] }\nposition = [9, 0, 1]";
    for h in [0.25e-3, 1e-3, 4e-3] {
        for tolerance in [1e-3, 1e-5, 1e-8] {
            for (ratio, part) in [(1e3, 1.02), (1e3, 1.5), (1e4, 1.1)] {
                let down = comes_down([h, tolerance], ratio, part, 0.0, "");
                assert!(down.abs() < 1e-3, "h {h}, {tolerance}, {ratio}, {part}: {down} radii");
            }
            let down = comes_down([h, tolerance], 1e3, 0.98, 0.0, "");
            assert!(down > 0.1, "h {h}, {tolerance}: {down} radii");
        }
        // nor does it fall if it comes from above, or if something heavier stands elsewhere
        for (drop, beside) in [(0.002, ""), (0.0, block), (0.002, block)] {
            let down = comes_down([h, 1e-3], 1e3, 1.1, drop, beside);
            assert!(down.abs() < 5e-3, "h {h}, from {drop} m: {down} radii");
        }
    }
}

/// Four cubes, each heavier than the one below it.
#[test]
fn a_stack_whose_upper_cubes_are_the_heavier_ones_stands_at_any_tolerance() {
    for (size, ratio, mu) in [(0.2, 10f64, 0.5), (0.05, 30.0, 0.3)] {
        for h in [0.25e-3, 1e-3, 4e-3] {
            for tolerance in [1e-3, 1e-5, 1e-8] {
                let mut text = head(h, tolerance, 1.0, mu);
                for i in 0..4 {
                    let shape = format!("shape = {{ kind = \"cuboid\", size = [{size}, {size}, {size}] }}");
                    let [x, z] = [0.05 * if i % 2 == 0 { 1.0 } else { -1.0 }, i as f64 + 0.5].map(|x| size * x);
                    let mass = 0.1 * ratio.powi(i);
                    writeln!(text, "[[bodies]]\nmass = {mass}\n{shape}\nposition = [{x}, 0, {z}]").expect("text");
                }
                let (built, s) = run_text(&text);
                if ratio > 10.0 && h > 1e-3 && tolerance > 1e-4 {
                    // 2.7 t on 0.1 kg sway by 1.5 % of a cube; not without a word
                    assert!(!s.warnings.is_empty() && s.displacement_max_m < 0.05 * size, "{s}");
                    continue;
                }
                assert_clean(&s);
                let moved = (0..4).map(|i| (height(&built, i + 1) / size - i as f64 - 0.5).abs()).fold(0.0, f64::max);
                assert!(moved < 1e-3, "ratio {ratio}, h {h}, {tolerance}: {moved} of a cube");
            }
        }
    }
}
