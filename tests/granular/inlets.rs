//! Grains come in at their rate, touch nothing, and bring their energy.

use drystone::geometry::systems::Proximity;
use drystone::io::scene::Scene;
use drystone::model::contact::{ContactPair, Manifold};
use drystone::model::flow::Inlet;
use drystone::model::newton_euler::BodyPose;
use drystone::model::periodic::{Cell, Shear};
use drystone::prelude::*;
use drystone::scenes::{build, run};

const SCENE: &str = r#"
time = { step = "1 ms", end = 0.8 }
solver = { tolerance = 1e-5 }
[[bodies]]
name = "floor"
motion = "static"
shape = { kind = "half_space" }
[[bodies]]
name = "wall"
motion = "static"
shape = { kind = "tube", radius = 0.1, height = 0.6 }
[[inlet]]
box = [[-0.07, -0.07, 0.3], [0.07, 0.07, 0.4]]
rate = "0.2 kg/s"
count = 400
radius = { kind = "uniform", min = "5 mm", max = "1 cm" }
velocity = [0, 0, -1]
seed = 3
[[outlet]]
plane = { point = [0, 0, -1] }
"#;

#[test]
fn the_mass_follows_the_rate_and_nothing_overlaps_at_birth() {
    let scene = Scene::from_toml(SCENE, "t").expect("a scene");
    let mut built = build(&scene).expect("builds");
    let (mut came, mut worst, mut heaviest) = (0, 0.0f64, 0.0f64);
    for step in 0..600 {
        let before = built.simulation.flow(built.inlets[0]).map_or(0.0, |f| f.mass);
        built.simulation.step().expect("a step");
        let flow = *built.simulation.flow(built.inlets[0]).expect("an inlet");
        heaviest = heaviest.max(flow.mass - before);
        // a grain comes when those before it have had their time
        let due = 0.2 * f64::from(step) * 1e-3;
        assert!(flow.mass > due - 1e-12 && flow.mass - due < 0.01, "step {step}: {} of {due}", flow.mass);
        if flow.count > came {
            let new = &built.entities[2 + came as usize..2 + flow.count as usize];
            came = flow.count;
            let world = built.simulation.world();
            // the contacts of this step were found where its grains were born
            for &(.., pair) in world.resource::<Proximity>().pairs() {
                let (Some(bodies), Some(manifold)) = (world.get::<ContactPair>(pair), world.get::<Manifold>(pair)) else { continue };
                if bodies.bodies.iter().any(|body| new.contains(body)) {
                    worst = manifold.points.iter().fold(worst, |w, t| w.max(-t.gap));
                }
            }
        }
        for grain in &built.entities[2..] {
            if let Some(pose) = built.simulation.world().get::<BodyPose>(*grain) {
                let x = pose.0.position;
                assert!(x.x.hypot(x.y) < 0.1 - 0.005 + 1e-4 && x.z > 0.0, "{x}");
            }
        }
    }
    assert!(came > 40 && heaviest > 0.0);
    assert!(worst < 1e-9, "{worst}");
}

#[test]
fn energy_is_accounted_for_while_grains_come() {
    let scene = Scene::from_toml(SCENE, "t").expect("a scene");
    let (built, _) = run(&scene).expect("runs");
    let balance = built.simulation.balance();
    let flow = built.simulation.flow(built.inlets[0]).expect("an inlet");
    assert!(flow.count > 50 && flow.kinetic > 0.49 * flow.mass);
    assert_eq!(balance.inlets.total(), flow.kinetic + flow.potential);
    let missing = balance.energy.total() - balance.work.total() - balance.inlets.total();
    assert!(missing.abs() < 1e-10 * balance.kinetic_max.max(1.0), "{missing}");
}

#[test]
fn nothing_overlaps_at_birth_wherever_the_box_stands_in_a_periodic_cell() {
    let cell = Cell::new([Some([-0.1, 0.1]), Some([-0.1, 0.1]), None]).expect("a cell");
    let shear = Shear { across: 1, along: 0, rate: 3.0 };
    // wider than the cell, across a face, and several cells away
    let boxes = [[[-0.15, -0.2], [0.15, 0.2]], [[0.02, -0.1], [0.18, 0.1]], [[0.5, -0.7], [0.7, -0.5]]];
    for (cell, [low, high]) in [cell, cell.sheared(shear).expect("a cell")].into_iter().flat_map(|cell| boxes.map(|ends| (cell, ends))) {
        let scheme = Scheme { time_step: 2e-3, gravity: DVec3::ZERO, cell, ..Scheme::default() };
        let mut sim = Simulation::new(scheme).expect("a scheme");
        let tap = Inlet {
            low: DVec3::new(low[0], low[1], 0.0),
            high: DVec3::new(high[0], high[1], 0.1),
            rate: 10.0,
            start: 0.0,
            seed: 3,
            flows: false,
        };
        let grain = Body::new(Shape::ball(0.01).expect("r")).mass(0.01);
        let (_, grains) = sim.add_inlet(tap, vec![grain; 90]).expect("an inlet");
        sim.run_until(0.1).expect("runs");
        let places: Vec<DVec3> = grains.iter().filter_map(|g| sim.world().get::<BodyPose>(*g)).map(|pose| pose.0.position).collect();
        assert!(places.len() > 40, "{} grains in {low:?}", places.len());
        let cell = sim.scheme().cell;
        for (k, x) in places.iter().enumerate() {
            for y in &places[..k] {
                let way = *x - *y;
                assert!((way + cell.nearest(way)).length() > 0.02 - 1e-9, "{x} {y} {low:?}");
            }
        }
    }
}

#[test]
fn an_inlet_that_is_blocked_waits() {
    let mut sim = Simulation::default();
    let block = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.2)).expect("a block")).fixed()).expect("a block");
    let tap = Inlet { low: DVec3::splat(-0.1), high: DVec3::splat(0.1), rate: 1.0, start: 0.0, seed: 0, flows: false };
    let grain = Body::new(Shape::ball(0.02).expect("r")).mass(0.01);
    let (tap, _) = sim.add_inlet(tap, vec![grain; 3]).expect("an inlet");
    sim.run_until(0.1).expect("waits");
    assert_eq!(sim.flow(tap).map(|f| f.count), Some(0));
    sim.despawn_body(block);
    sim.run_until(0.2).expect("goes on");
    assert_eq!(sim.flow(tap).map(|f| f.count), Some(3));
}

#[test]
fn an_inlet_that_cannot_keep_its_rate_is_told_at_the_end() {
    let told = |rate: &str, count: &str| {
        let text = SCENE.replace("rate = \"0.2 kg/s\"", rate).replace("count = 400", count).replace("end = 0.8", "end = 0.1");
        let (_, summary) = run(&Scene::from_toml(&text, "t").expect("a scene")).expect("runs");
        summary.warnings.iter().filter(|w| w.contains("the inlet inlet has given")).count()
    };
    assert_eq!(told("rate = \"0.2 kg/s\"", "count = 400"), 0);
    assert_eq!(told("rate = \"20 kg/s\"", "count = 4000"), 1);
    // all of them have come
    assert_eq!(told("rate = \"20 kg/s\"", "count = 20"), 0);
}

#[test]
fn inlets_that_cannot_be_are_named() {
    let mut sim = Simulation::default();
    let tap = Inlet { low: DVec3::splat(-0.1), high: DVec3::splat(0.1), rate: 1.0, start: 0.0, seed: 0, flows: false };
    let error = sim.add_inlet(tap, vec![Body::new(Shape::ball(0.2).expect("r"))]).expect_err("too large");
    assert!(error.to_string().contains("room for each"), "{error}");
    let wide = SCENE.replace("[[-0.07, -0.07, 0.3]", "[[-0.08, -0.08, 0.3]");
    let error = Scene::from_toml(&wide, "t.toml").expect_err("wider than the pipe").to_string();
    assert!(error.contains("through the wall of \"wall\"") && error.contains("t.toml"), "{error}");
    let head = "time = { step = 1e-3, end = 1 }\n[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\n[[inlet]]\ncount = 3\n";
    for (text, found) in [
        ("radius = 0.2\nrate = 1\nbox = [[0, 0, 0], [1, 1, 0.3]]", "box wider than they are"),
        ("radius = 0.2\nrate = 1\nbox = [[0, 0, 0], [1, 1, \"inf\"]]", "and finite"),
        ("radius = 0.2\nrate = 0\nbox = [[0, 0, 0], [1, 1, 1]]", "greater than 0"),
        ("radius = 0.2\nrate = \"3 m\"\nbox = [[0, 0, 0], [1, 1, 1]]", "a mass rate"),
        ("rate = 1\nbox = [[0, 0, 0], [1, 1, 1]]", "radius"),
    ] {
        let error = Scene::from_toml(&format!("{head}{text}"), "t.toml").expect_err(text).to_string();
        assert!(error.contains(found) && error.contains("t.toml"), "{text}: {error}");
    }
}

#[test]
fn grains_that_come_into_a_sheared_cell_have_its_flow_beside_their_own_velocity() {
    let speeds = |flow: &str| {
        let text = format!(
            "time = {{ step = 1e-3, end = 0.05 }}\ngravity = [0, 0, 0]\n\
             [periodic]\nx = [0, 0.2]\nz = [-0.1, 0.1]\nshear = {{ rate = 4{flow} }}\n\
             [[inlet]]\nbox = [[0, 0, -0.1], [0.2, 0.2, 0.1]]\nrate = 0.2\ncount = 30\nradius = 0.004\nvelocity = [0.5, 0, -0.1]\n"
        );
        let mut built = build(&Scene::from_toml(&text, "t").expect("a scene")).expect("builds");
        built.simulation.step().expect("a step");
        let grain = built.entities[0];
        let world = built.simulation.world();
        let (pose, v) = (world.get::<BodyPose>(grain).expect("came"), world.get::<Velocity>(grain).expect("came"));
        assert_eq!([v.linear.y, v.linear.z], [0.0, -0.1]);
        // of the place at birth, a step before
        (v.linear.x - 0.5, 4.0 * (pose.0.position.z + 1e-4))
    };
    let (flow, wanted) = speeds("");
    assert!((flow - wanted).abs() < 1e-12 && wanted.abs() > 0.01, "{flow} {wanted}");
    assert_eq!(speeds(", flow = false").0, 0.0);
}

#[test]
fn discs_come_in_within_their_plane_and_their_tables_are_those_of_a_plane() {
    let text = "time = { step = \"1 ms\", end = 0.2 }\n[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\n\
        [[inlet]]\nbox = [[-0.1, 0.1, 0.1], [0.1, 0.2, 0.2]]\nrate = \"0.3 kg/s\"\ncount = 100\nradius = [0.004, 0.008]\nvelocity = [0, 0, -1]\n\
        locked_translation = [\"y\"]\nlocked_rotation = [\"x\", \"z\"]\n\
        [[measure]]\nbox = [[-0.2, 0.14, 0], [0.2, 0.16, 0.2]]\npairs = { largest = 0.05 }\n";
    let scene = Scene::from_toml(text, "t").expect("distances beyond the width of the box across the plane");
    assert_eq!(scene.discs(), Some(1));
    assert_eq!(Scene::from_toml(&scene.to_toml(), "t").expect("reads back"), scene);
    let mut built = build(&scene).expect("builds");
    built.simulation.run_until(0.2).expect("runs");
    let world = built.simulation.world();
    let came: Vec<_> =
        built.entities[1..].iter().filter_map(|&grain| Some((world.get::<BodyPose>(grain)?, world.get::<Velocity>(grain)?))).collect();
    assert!(came.len() > 20, "{}", came.len());
    for (pose, v) in came {
        assert_eq!([pose.0.position.y, v.linear.y, v.angular.x, v.angular.z], [0.5 * (0.1 + 0.2), 0.0, 0.0, 0.0]);
    }
    let across = text.replace("velocity = [0, 0, -1]", "velocity = [0, 1, -1]");
    let error = Scene::from_toml(&across, "t.toml").expect_err("out of the plane").to_string();
    assert!(
        error.contains("t.toml:11:12: inlet.0.velocity: found the velocity [0, 1, -1], part of which is along a locked axis"),
        "{error}"
    );
}
