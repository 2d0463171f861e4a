//! Rocks, clumps, hulls and fractured blocks from scene files.

use drystone::geometry::{Scratch, contact_points};
use drystone::io::scene::Scene;
use drystone::io::scene::model::ShapeSpec;
use drystone::scenes::{build, run};

const HEAD: &str = "time = { step = \"1 ms\", end = 0.5 }\nsolver = { tolerance = 1e-5 }\n";

fn scene(text: &str) -> Scene {
    Scene::from_toml(&format!("{HEAD}{text}"), "t").expect("a scene")
}

/// Deepest overlap (m) of two bodies of a scene.
fn overlap(scene: &Scene) -> f64 {
    let shapes: Vec<_> = scene.bodies.iter().map(|b| b.shape.build().expect("a shape")).collect();
    let (mut scratch, mut points) = (Scratch::default(), Vec::new());
    for i in 0..shapes.len() {
        for j in 0..i {
            contact_points(&shapes[i], &scene.bodies[i].pose, &shapes[j], &scene.bodies[j].pose, 0.0, &mut scratch, &mut points);
        }
    }
    points.iter().map(|p| -p.gap).fold(0.0, f64::max)
}

#[test]
fn grains_of_every_form_are_poured_apart_and_come_to_rest() {
    let forms = [
        "{ kind = \"rock\", corners = 16, aspect = [0.5, 0.9], roundness = 0.3 }",
        "{ kind = \"hull\", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]] }",
        "{ kind = \"clump\", balls = [[0, 0, 0, 1], [1.2, 0, 0, 0.8], [0.4, 0.9, 0, 0.6]] }",
    ];
    for form in forms {
        let made = scene(&format!(
            "[[generate.pour]]\ncount = 40\nradius = {{ kind = \"log_normal\", median = 0.02, sigma = 0.2 }}\nwidth = [0.2, 0.2]\ngrain = {form}\n"
        ));
        assert_eq!(overlap(&made), 0.0, "{form}");
        let (_, summary) = run(&made).expect("runs");
        let missed = summary.unconverged_steps;
        assert!(missed == 0 && summary.penetration_max_m < 2e-4, "{form}: {missed} missed, {} m", summary.penetration_max_m);
        assert!(summary.energy.balance_error < 1e-9, "{form}: {}", summary.energy.balance_error);
    }
}

#[test]
fn rocks_come_through_an_inlet_and_its_scene_reads_back() {
    let made = scene(
        "[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\n[[inlet]]\nname = \"tap\"\n\
         box = [[-0.1, -0.1, 0.1], [0.1, 0.1, 0.3]]\nradius = 0.02\nrate = 1.0\ncount = 30\ngrain = { kind = \"rock\" }\n",
    );
    assert_eq!(Scene::from_toml(&made.to_toml(), "t").expect("reads back"), made);
    let mut built = build(&made).expect("builds");
    (0..300).for_each(|_| {
        built.simulation.step().expect("a step");
    });
    let flow = built.simulation.flow(built.inlets[0]).expect("an inlet");
    // a rock is lighter than the ball that it fits
    let ball = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 8e-6;
    assert!(flow.count > 10 && flow.mass < 0.9 * ball * flow.count as f64, "{} of {}", flow.mass, flow.count);
}

#[test]
fn a_fractured_block_fills_its_box_and_its_pieces_touch_without_overlap() {
    let made = scene("[[generate.voronoi]]\nsize = [0.4, 0.3, 0.2]\ncells = 40\nseed = 2\nrelax = 2\n");
    let solids: Vec<_> = made.bodies.iter().filter(|b| matches!(b.shape, ShapeSpec::Hull { .. })).collect();
    let mass = |b: &&drystone::io::scene::model::BodySpec| b.shape.build().and_then(|s| s.mass_properties(1000.0)).expect("a solid").mass;
    let all: f64 = solids.iter().map(mass).sum();
    assert!(solids.len() == 40 && (all / 24.0 - 1.0).abs() < 1e-12, "{all}");
    assert!(overlap(&made) < 1e-12, "{}", overlap(&made));
    // every cut face is shared: neighbours touch all round
    let (_, summary) = run(&Scene { time: drystone::io::scene::model::TimeStepping { end: 0.02, ..made.time }, ..made }).expect("runs");
    assert!(summary.unconverged_steps == 0 && summary.contacts > 400, "{} contacts", summary.contacts);
}

#[test]
fn faulty_grains_are_refused_by_name() {
    for (grain, word) in [
        ("{ kind = \"rok\" }", "did you mean `rock`"),
        ("{ kind = \"rock\", aspect = [0.9, 0.2] }", "the aspect [0.9, 0.2]"),
        ("{ kind = \"hull\", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] }", "span"),
        ("{ kind = \"clump\", balls = [] }", "without balls"),
    ] {
        let text = format!("{HEAD}[[generate.pour]]\ncount = 4\nradius = 0.02\nwidth = [0.2, 0.2]\ngrain = {grain}\n");
        let error = Scene::from_toml(&text, "t").expect_err(grain).to_string();
        assert!(error.contains(word) && error.contains("t:"), "{error}");
    }
}
