//! Steps that once took ten thousand sweeps and were missed: a wall that breaks, grains with a large friction.

use super::{run_text, with};
use drystone::diagnostics::summary::Summary;
use drystone::io::scene::{Scene, SceneSource};
use drystone::numerics::Method;
use std::path::Path;

/// What a step may cost on the average, in sweeps and in factorisations, and the error in Coulomb's law of those that fall back.
fn assert_affordable(s: &Summary, sweeps: f64, factorisations: f64, defect: f64) {
    assert_eq!((s.unconverged_steps, s.infeasible_steps), (0, 0), "{s}");
    assert!(s.iterations_mean <= sweeps && s.factorisations_mean <= factorisations, "{s}");
    assert!(s.lagged_defect_max <= defect, "{s}");
    let counted: u64 = s.ended_by.values().sum();
    assert_eq!(counted, s.steps);
    assert_eq!(s.lagged_steps, s.ended_by.get(&Method::Lagged).copied().unwrap_or(0), "{s}");
}

#[test]
fn a_lintel_under_a_blow_is_solved_at_any_tolerance_and_almost_always_by_coulombs_law() {
    for tolerance in ["1e-3", "1e-4", "1e-6"] {
        let (_, s) = run_text(&with("lintel", &[("1.5 s", "0.3 s"), ("tolerance = 1e-6", &format!("tolerance = {tolerance}"))]));
        assert_affordable(&s, 100.0, 60.0, 1e-4);
        assert!(s.penetration_size_max < 1e-3, "{s}");
    }
}

#[test]
fn every_step_of_a_struck_lintel_meets_coulombs_law() {
    let (_, s) = run_text(&with("lintel", &[]));
    assert_eq!((s.steps, s.unconverged_steps, s.lagged_steps, s.infeasible_steps), (750, 0, 0, 0), "{s}");
    assert!(s.residual_max <= 1e-6 && s.ended_by.contains_key(&Method::Wandering), "{s}");
}

#[test]
fn grains_with_a_friction_of_five_miss_no_step_and_need_no_factorisation() {
    let (_, s) = run_text(&with("mu5", &[("end=2.0", "end=0.16")]));
    assert_affordable(&s, 200.0, 0.1, 0.0);
    assert!(s.penetration_size_max < 0.02, "{s}");
}

#[test]
fn lagged_steps_of_a_pour_reach_six_digits_by_sweeps() {
    let text = "time = { step = \"2 ms\", end = 0.4 }\nsolver = { tolerance = 1e-6, friction = \"lagged\" }\ncontact = { mu = 0.5 }\n\
                [[generate.lattice]]\nname = \"g\"\ncount = [6, 6, 6]\nradius = \"1 cm\"\n";
    let (_, s) = run_text(text);
    assert_eq!((s.unconverged_steps, s.infeasible_steps), (0, 0), "{s}");
    assert!(s.iterations_mean < 750.0 && s.factorisations_mean < 1.0, "{s}");
}

/// Each step was solved once more by Newton where its sweeps had taken long, which left nothing better for the next: 124 factorisations a step, now one.
#[test]
fn lagged_steps_that_sweeps_have_solved_are_not_solved_again() {
    let set = [("solver.friction", "lagged"), ("solver.tolerance", "1e-6"), ("time.end", "0.4")];
    let scene = Scene::load(&SceneSource::new("arch_tilt"), &set.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let (_, s) = drystone::scenes::run(&scene.unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((s.unconverged_steps, s.infeasible_steps), (0, 0), "{s}");
    assert!(s.iterations_mean < 100.0 && s.factorisations_mean < 5.0, "{s}");
}

/// Hulls with a friction of two that bounce: friction holds some so that they cannot part as fast as restitution asks.
#[test]
fn rebounds_that_friction_does_not_let_go_are_dropped_and_not_called_infeasible() {
    for tolerance in [1e-3, 1e-5] {
        let text = format!(
            "gravity = [0, 0, -9.81]\ntime = {{ step = 0.004, end = 0.4 }}\nsolver = {{ tolerance = {tolerance:e} }}\n\
             contact = {{ mu = 2, e_n = 0.5 }}\n[[generate.pour]]\nname = \"g\"\ncount = 30\nradius = [0.02, 0.035]\n\
             width = [0.2, 0.2]\nseed = 5\ncorners = 9\n"
        );
        let (_, s) = run_text(&text);
        assert_eq!((s.unconverged_steps, s.infeasible_steps), (0, 0), "{s}");
        assert!((1..10).contains(&s.rebounds_dropped_steps), "{s}");
        assert!(s.to_string().contains("rebounds dropped"), "{s}");
    }
}

/// A ball that overlaps both walls of a groove of half angle α, and one on it that overlaps it by more. To come out it would have to slip on both walls, and if
/// tan α < μ reactions then press it in by more than out: it stays, and so do its overlaps, but not that of the two balls.
#[test]
fn what_friction_holds_is_not_asked_to_part() {
    let half = 20_f64.to_radians();
    let (radius, deep) = (0.1, 1e-5);
    let z = (radius - deep) / half.sin();
    let scene = |mu: f64, tolerance: f64, upper: f64| {
        let wall = |x: f64| {
            let (n, name) = ([x * half.cos(), 0.0, half.sin()], if x > 0.0 { "left" } else { "right" });
            format!("[[bodies]]\nname = \"{name}\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\", normal = {n:?} }}\n")
        };
        let ball = |name: &str, z: f64| {
            format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"ball\", radius = {radius} }}\nmass = 1\nposition = [0, 0, {z}]\n")
        };
        let on_top = if upper > 0.0 { ball("upper", z + 2.0 * radius - upper) } else { String::new() };
        let head =
            format!("time = {{ step = \"1 ms\", end = 0.2 }}\nsolver = {{ tolerance = {tolerance:e} }}\ncontact = {{ mu = {mu} }}\n");
        run_text(&[head, wall(1.0), wall(-1.0), ball("ball", z), on_top].concat()).1
    };
    for (tolerance, upper) in [(1e-6, 0.0), (1e-9, 0.0), (1e-6, 3e-5), (1e-9, 3e-5)] {
        let s = scene(0.5, tolerance, upper);
        assert_eq!((s.unconverged_steps, s.infeasible_steps, s.overlaps_kept_steps), (0, 0, 200), "{upper}: {s}");
        // the walls keep 10 µm; of the balls nothing deeper is left
        assert!((s.penetration_max_m - deep).abs() < 1e-9 && s.displacement_max_m < upper + 1e-9, "{upper}: {s}");
        assert!(s.to_string().contains("overlaps kept"), "{s}");
        // less friction than that lets it out
        let s = scene(0.3, tolerance, upper);
        assert_eq!((s.unconverged_steps, s.infeasible_steps, s.overlaps_kept_steps), (0, 0, 0), "{upper}: {s}");
        assert!(s.penetration_max_m < 1e-7, "{upper}: {s}");
    }
}

/// A cylinder rolls into a corner of three walls, μ = 5: 114 of 300 steps were missed, at 38 570 sweeps a step.
#[test]
fn a_cylinder_in_a_corner_of_high_friction_misses_no_step() {
    let wall = |name: &str, position: [f64; 3], normal: [f64; 3]| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmotion = \"static\"\nposition = {position:?}\nshape = {{ kind = \"half_space\", normal = {normal:?} }}\n"
        )
    };
    let text = "gravity = [-4.3, -2.31, -9.81]\ntime = { step = \"2 ms\", end = 0.6 }\nsolver = { tolerance = 1e-6 }\ncontact = { mu = 5 }\n\
                [[bodies]]\nname = \"cylinder\"\nshape = { kind = \"cylinder\", radius = 0.069, half_height = 0.059 }\nmass = 1\n\
                orientation = [-0.5048313434508078, 0.36069933551481625, -0.3859209879561576, -0.6827197778618734]\n\
                position = [-0.17, -0.18, 0.2]\nvelocity = [-1.29, 0.21, -0.8]\nangular_velocity = [-10.3, -14.5, 7.1]\n";
    let walls = [
        wall("floor", [0.0; 3], [0.0, 0.0, 1.0]),
        wall("one", [-0.4915, 0.3441, 0.0], [0.8192, -0.5735, -0.0605]),
        wall("two", [-0.5963, 0.0668, 0.0], [0.9938, -0.1114, -0.2138]),
    ];
    let (_, s) = run_text(&(text.to_owned() + &walls.concat()));
    assert_eq!((s.steps, s.unconverged_steps, s.lagged_steps, s.infeasible_steps), (300, 0, 0, 0), "{s}");
    assert!(s.overlaps_kept_steps > 0 && s.iterations_mean < 200.0 && s.penetration_size_max < 5e-3, "{s}");
}

#[test]
fn a_dome_at_rest_takes_the_sweep_that_finds_it_solved() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/corpus/dome.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for tolerance in ["1e-3", "1e-5", "1e-8"] {
        let larger = [("rings = 4", "rings = 8"), ("voussoirs = 10", "voussoirs = 16"), ("1 s", "0.2 s"), ("1e-5", tolerance)];
        let (_, s) = run_text(&larger.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to)));
        assert_affordable(&s, 2.0, 2.0, 0.0);
        assert!(s.displacement_max_m < 1e-9, "{s}");
    }
}

/// In the first pass of a step nothing is asked of the joints but 1e-8 m/s, of which three rows to spare leave a hundredth: each such pass took the 100 000
/// sweeps of the budget and 2700 factorisations.
#[test]
fn rows_to_spare_cost_nothing_where_nothing_is_asked_of_them() {
    for (step, tolerance) in [("1 ms", "1e-6"), ("0.5 ms", "1e-6"), ("1 ms", "3e-6"), ("2 ms", "1e-7")] {
        let scene =
            with("four_bar", &[("\"1 ms\"", &format!("\"{step}\"")), ("gravity", &format!("solver.tolerance = {tolerance}\ngravity"))]);
        let (_, s) = run_text(&scene);
        assert_affordable(&s, 2000.0, 1500.0, 0.0);
        assert!(s.energy.balance_error < 1e-9 && s.joint_gap_max_m < Some(4e-6), "{step}, {tolerance}: {:?}", s.energy);
    }
}
