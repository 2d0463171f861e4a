//! What passes a surface is counted each way, with its momentum and energy, and goes on.

use drystone::io::scene::Scene;
use drystone::model::flow::{Outlet, Region};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::surface::{Crossings, Extent, Passage, Surface};
use drystone::prelude::*;
use drystone::scenes::{build, run};

#[test]
fn balls_thrown_up_pass_with_the_speeds_of_free_flight_and_come_back() {
    let h = 1e-4;
    let mut sim = Simulation::with_time_step(h).expect("a step");
    let disc = Surface { point: DVec3::Z * 0.5, normal: DVec3::Z, extent: Extent::Disc { radius: 1.0 } };
    let ring = sim.add_surface(disc).expect("a disc");
    // thrown at 4 m/s from 0: passes 0.5 m at √(16 − 2 g 0.5) on the way up and down, one misses the disc, one is too slow
    let mut last = None;
    for (x, speed, mass) in [(0.0, 4.0, 2.0), (0.5, 5.0, 3.0), (2.0, 4.0, 1.0), (-0.5, 3.0, 1.0)] {
        let ball = Body::new(Shape::ball(0.01).expect("r")).mass(mass).at(DVec3::X * x).moving(DVec3::Z * speed);
        last = Some(sim.spawn_body(ball).expect("a ball"));
    }
    let speed = |v: f64| (v * v - 9.81f64).sqrt();
    let (a, b) = (speed(4.0), speed(5.0));
    let passage = |sign: f64| Passage {
        count: 2,
        mass: 5.0,
        momentum: DVec3::Z * sign * (2.0 * a + 3.0 * b),
        kinetic: 0.5 * (2.0 * a * a + 3.0 * b * b),
    };
    let near = |found: &Passage, expected: &Passage| {
        assert_eq!((found.count, found.mass), (expected.count, expected.mass));
        // the velocity at the end of the step in which it passes
        assert!((found.momentum - expected.momentum).length() < 10.0 * 9.81 * h, "{found:?} {expected:?}");
        assert!((found.kinetic - expected.kinetic).abs() < 50.0 * 9.81 * h, "{found:?} {expected:?}");
    };
    sim.run_until(0.3).expect("up");
    near(&sim.crossings(ring).expect("a surface").forward, &passage(1.0));
    assert_eq!(sim.crossings(ring).expect("a surface").back, Passage::default());
    sim.run_until(1.2).expect("down");
    near(&sim.crossings(ring).expect("a surface").forward, &passage(1.0));
    near(&sim.crossings(ring).expect("a surface").back, &passage(-1.0));
    assert!(sim.crossings(last.expect("a ball")).is_none());
}

const POUR: &str = r#"
time = { step = "1 ms", end = 0.8 }
contact = { mu = 0.4, e_n = 0.3 }
[[bodies]]
name = "chute"
motion = "static"
shape = { kind = "cuboid", size = [0.3, 0.3, 0.1] }
rotation = { axis = [0, 1, 0], angle = "30 deg" }
[[generate.lattice]]
count = [4, 4, 4]
radius = "2 cm"
position = [0, 0, 0.12]
ground = false
walls = false
"#;

/// Counts by hand, from the places after each step.
fn by_hand(scene: &Scene, surface: &Surface) -> Crossings {
    let mut built = build(scene).expect("builds");
    let places = |built: &drystone::scenes::Built| -> Vec<DVec3> {
        built.entities[1..].iter().map(|&e| built.simulation.world().get::<BodyPose>(e).expect("alive").0.position).collect()
    };
    let (mut before, mut found) = (places(&built), Crossings::default());
    while built.simulation.time() < scene.time.end - 1e-9 {
        built.simulation.step().expect("runs");
        let now = places(&built);
        for ((from, to), &entity) in before.iter().zip(&now).zip(&built.entities[1..]) {
            let ahead = |x: &DVec3| (*x - surface.point).dot(surface.normal) > 0.0;
            if ahead(from) != ahead(to) {
                let v = built.simulation.world().get::<Velocity>(entity).expect("alive");
                let inertia = built.simulation.world().get::<drystone::model::newton_euler::Inertia>(entity).expect("alive");
                let kinetic = 0.5 * (inertia.mass * v.linear.length_squared() + v.angular.dot(inertia.principal * v.angular));
                found.add(ahead(to), inertia.mass, inertia.mass * v.linear, kinetic);
            }
        }
        before = now;
    }
    found
}

#[test]
fn a_plane_in_a_pour_counts_what_brute_force_counts_and_changes_nothing() {
    let plane = "[[surface]]\nname = \"low\"\nplane = { point = [0.05, 0, 0], normal = [1, 0, -0.2] }\n";
    let (with, without) = (format!("{POUR}{plane}"), POUR);
    let [with, without] = [with.as_str(), without].map(|text| Scene::from_toml(text, "t").expect("a scene"));
    let (built, summary) = run(&with).expect("runs");
    let (_, bare) = run(&without).expect("runs");
    assert_eq!(summary.state_hash, bare.state_hash);
    let found = *built.simulation.crossings(built.surfaces[0]).expect("a surface");
    assert!(found.forward.count > 5, "{found:?}");
    assert_eq!(found, by_hand(&with, &with.surfaces[0].surface));
    assert_eq!(summary.surfaces["low"].forward.count, found.forward.count);
    assert_eq!(summary.surfaces["low"].forward.mass_kg, found.forward.mass);
}

#[test]
fn what_passes_the_plane_of_an_outlet_is_what_leaves_a_step_later() {
    let mut sim = Simulation::with_time_step(1e-3).expect("a step");
    let (point, normal) = (DVec3::Z * -0.5, DVec3::NEG_Z);
    let drain = sim.add_outlet(Outlet { region: Region::Beyond { point, normal } }).expect("a plane");
    let gate = sim.add_surface(Surface { point, normal, extent: Extent::WHOLE }).expect("a plane");
    for k in 0..20 {
        let ball =
            Body::new(Shape::ball(0.01).expect("r")).mass(1.0 + f64::from(k)).at(DVec3::new(0.1 * f64::from(k), 0.0, 0.037 * f64::from(k)));
        sim.spawn_body(ball).expect("a ball");
    }
    let mut before = Passage::default();
    for _ in 0..400 {
        sim.step().expect("falls");
        let (passed, left) = (sim.crossings(gate).expect("a surface").forward, *sim.flow(drain).expect("an outlet"));
        assert_eq!((left.count, left.mass, left.kinetic), (before.count, before.mass, before.kinetic));
        before = passed;
    }
    assert!(before.count > 5 && before.count < 20, "{before:?}");
}

#[test]
fn in_a_periodic_cell_the_mass_that_passes_is_the_mean_flux_wherever_the_surface_stands() {
    // a gas that drifts along x through the faces: what passes in a time is ρ A v̄ t, forward less back, to the grains that are under way
    let text = |surfaces: &str| {
        format!(
            "gravity = [0, 0, 0]\ntime = {{ step = \"2 ms\", end = 0.8 }}\nperiodic = {{ x = [0, 0.3], y = [0, 0.3], z = [0, 0.3] }}\n\
             contact = {{ mu = 0, e_n = 0.9 }}\n[[generate.pack]]\nname = \"g\"\nsolid_fraction = 0.1\nradius = \"1 cm\"\nagitation = 0.3\n{surfaces}"
        )
    };
    let planes: String = [0.0, 0.1, 0.2999, 0.3]
        .iter()
        .map(|x| format!("[[surface]]\nname = \"s{}\"\nplane = {{ point = [{x}, 0, 0], normal = [1, 0, 0] }}\n", (x * 1e4) as u32))
        .collect();
    let halves = "[[surface]]\nname = \"left\"\nrectangle = { centre = [0.1, 0.075, 0.15], edges = [[0, 0.15, 0], [0, 0, 0.3]] }\n\
                  [[surface]]\nname = \"right\"\nplane = { point = [0.1, 0, 0], normal = [1, 0, 0] }\nbox = [[0, 0.15, \"-inf\"], [0.3, 0.3, \"inf\"]]\n";
    let scene = Scene::from_toml(&text(&(planes + halves)), "t").expect("a scene");
    let mut built = build(&scene).expect("builds");
    let drift = DVec3::new(1.0, 0.4, -0.3);
    let grains = built.entities.clone();
    for &grain in &grains {
        built.simulation.world_mut().get_mut::<Velocity>(grain).expect("a grain").linear += drift;
    }
    let places = |built: &drystone::scenes::Built| -> Vec<f64> {
        grains.iter().map(|&e| built.simulation.world().get::<BodyPose>(e).expect("alive").0.position.x).collect()
    };
    let before = places(&built);
    built.simulation.run_until(scene.time.end).expect("runs");
    let after = places(&built);
    let passed = |k: usize| *built.simulation.crossings(built.surfaces[k]).expect("a surface");
    let net = |k: usize| passed(k).forward.count as i64 - passed(k).back.count as i64;
    for (k, x) in [0.0, 0.1, 0.2999, 0.3].into_iter().enumerate() {
        // places are never wrapped, so each grain has passed the images between where it was and where it is
        let image = |at: f64| ((at - x) / 0.3).ceil() as i64;
        let expected: i64 = before.iter().zip(&after).map(|(from, to)| image(*to) - image(*from)).sum();
        assert_eq!(net(k), expected, "plane at {x}");
        assert!(expected > grains.len() as i64 * 2, "{expected}");
    }
    // the faces are one plane
    assert_eq!(passed(0), passed(3));
    let (left, right, whole) = (passed(4), passed(5), passed(1));
    assert_eq!(left.forward.count + right.forward.count, whole.forward.count);
    assert_eq!(left.back.count + right.back.count, whole.back.count);
    assert!((left.forward.momentum + right.forward.momentum - whole.forward.momentum).length() < 1e-12);
    assert!(left.forward.count > 20 && right.forward.count > 20);
}

#[test]
fn surfaces_that_count_nothing_are_named_before_the_run() {
    let head = "time = { step = 1e-3, end = 1 }\n[[bodies]]\nname = \"a\"\nshape = { kind = \"ball\", radius = 0.1 }\n";
    for (text, found) in [
        ("", "exactly one of `plane`, `disc` and `rectangle`"),
        ("plane = {}\ndisc = { centre = [0, 0, 0], radius = 1 }", "exactly one of"),
        ("disc = { centre = [0, 0, 0], radius = 0 }", "greater than 0"),
        ("disc = { radius = 1 }", "the field `centre` is missing"),
        ("rectangle = { centre = [0, 0, 0], edges = [[1, 0, 0]] }", "found 1 edges, expected 2"),
        ("rectangle = { centre = [0, 0, 0], edges = [[1, 0, 0], [2, 0, 0]] }", "span no rectangle"),
        ("rectangle = { centre = [0, 0, 0], edges = [[1, 0, 0], [1, 1, 0]] }", "right angles"),
        ("rectangle = { centre = [0, 0, 0], edges = [[1, 0, 0], [1, 1, 0]] }", "the edges [1, 0, 0] and [1, 1, 0]"),
        ("plane = { normal = [0, 0, 0] }", "no direction"),
        ("plane = {}\nbox = [[0, 0, 0], [1, -1, 1]]", "holds nothing"),
        ("disc = { centre = [0, 0, 0], radius = 1 }\nbox = [[0, 0, 0], [1, 1, 1]]", "found `box` beside a surface that has an end"),
        ("name = \"a\"\nplane = {}", "the name \"a\" a second time"),
        ("plane = {}\n[[surface]]\nname = \"surface\"\nplane = {}", "the name \"surface\" a second time"),
        ("plane = {}\n[[record]]\nsignals = [\"surface.back_mas\"]", "back_mass"),
    ] {
        let error = Scene::from_toml(&format!("{head}[[surface]]\n{text}"), "t.toml").expect_err(text).to_string();
        assert!(error.contains(found) && error.contains("t.toml"), "{text}: {error}");
    }
    let cell = "periodic = { x = [0, 1], y = [0, 1], shear = { across = \"y\", along = \"x\", rate = 1 } }\n";
    for (cell, text, found) in [
        ("periodic = { x = [0, 1] }\n", "disc = { centre = [0.9, 0, 0], radius = 0.3 }", "beyond the periodic cell"),
        ("periodic = { x = [0, 1] }\n", "plane = { normal = [1, 1, 0] }", "leans and has no end along x"),
        (cell, "plane = { point = [0, 0.5, 0], normal = [0, 1, 0] }", "images move"),
    ] {
        let error = Scene::from_toml(&format!("{cell}{head}[[surface]]\n{text}"), "t.toml").expect_err(text).to_string();
        assert!(error.contains(found), "{text}: {error}");
    }
}
