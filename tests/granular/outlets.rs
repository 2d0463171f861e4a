//! Bodies that leave are counted when they pass, and take their energy with them.

use drystone::io::scene::Scene;
use drystone::model::flow::{Outlet, Region};
use drystone::model::newton_euler::BodyPose;
use drystone::prelude::*;
use drystone::scenes::build;

const FLOOR: Region = Region::Beyond { point: DVec3::new(0.0, 0.0, -1.0), normal: DVec3::NEG_Z };

#[test]
fn a_falling_row_leaves_body_by_body_at_the_times_of_free_fall() {
    let h = 1e-3;
    let mut sim = Simulation::with_time_step(h).expect("a step");
    let drain = sim.add_outlet(Outlet { region: FLOOR }).expect("a plane");
    let heights = [0.3, 0.05, 0.9, 0.6];
    for (k, z) in heights.into_iter().enumerate() {
        let ball = Body::new(Shape::ball(0.01).expect("r")).mass(1.0 + k as f64).at(DVec3::new(k as f64, 0.0, z));
        sim.spawn_body(ball).expect("a ball");
    }
    // positions of the gap-aware scheme (θ = 1) after n steps: z − g h² n (n + 1)/2
    let passes = |z: f64| (1..).find(|&n| z - 9.81 * h * h * f64::from(n * (n + 1)) / 2.0 < -1.0).expect("it falls");
    for n in 1..700 {
        sim.step().expect("it falls");
        // removed at the start of the step after the one in which it passed
        let gone = heights.iter().filter(|&&z| passes(z) < n).count() as u64;
        let mass: f64 = heights.iter().enumerate().filter(|(_, z)| passes(**z) < n).map(|(k, _)| 1.0 + k as f64).sum();
        let flow = sim.flow(drain).expect("a flow");
        assert_eq!((flow.count, flow.mass), (gone, mass), "step {n}");
    }
    assert_eq!(sim.flow(drain).expect("a flow").count, 4);
}

#[test]
fn energy_is_accounted_for_while_grains_leave() {
    let scene = Scene::from_toml(
        r#"
        time = { step = "1 ms", end = 0.6 }
        contact = { mu = 0.4, e_n = 0.3 }
        [[bodies]]
        name = "chute"
        motion = "static"
        shape = { kind = "cuboid", size = [0.4, 0.3, 0.1] }
        rotation = { axis = [0, 1, 0], angle = "35 deg" }
        [[generate.lattice]]
        count = [4, 3, 3]
        radius = "2 cm"
        position = [0, 0, 0.1]
        ground = false
        walls = false
        [[outlet]]
        plane = { point = [0, 0, -0.3] }
        "#,
        "t",
    )
    .expect("a scene");
    let mut built = build(&scene).expect("builds");
    let sim = &mut built.simulation;
    let before = sim.value(Signal::Total(drystone::model::signal::TotalQuantity::Kinetic)).expect("T")
        + sim.value(Signal::Total(drystone::model::signal::TotalQuantity::Potential)).expect("V");
    sim.run_until(scene.time.end).expect("runs");
    let (balance, flow) = (*sim.balance(), *sim.flow(built.outlets[0]).expect("a flow"));
    assert!(flow.count > 8 && flow.count < 36, "some have left: {flow:?}");
    assert!(flow.kinetic > 0.0 && flow.potential < 0.0);
    let missing = balance.energy.total() - before - balance.work.total() + flow.kinetic + flow.potential;
    assert!(missing.abs() < 1e-11 * balance.kinetic_max.max(1.0), "{missing}");
    assert_eq!(balance.outlets.total(), flow.kinetic + flow.potential);
    assert!(balance.error() < 1e-10);
}

#[test]
fn only_what_moves_by_itself_leaves_and_joints_go_with_it() {
    let mut sim = Simulation::default();
    let region = Region::Box { low: DVec3::splat(-1.0), high: DVec3::splat(1.0) };
    let gate = sim.add_outlet(Outlet { region }).expect("a box");
    let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z).expect("n")).fixed()).expect("a floor");
    let inside = sim.spawn_body(Body::point(2.0, DVec3::ONE)).expect("a body");
    let outside = sim.spawn_body(Body::point(2.0, DVec3::ONE).at(DVec3::X * 3.0)).expect("a body");
    let hinge = sim.add_joint(inside, Some(outside), &JointSpec::new(JointKind::Spherical).at(DVec3::X)).expect("a joint")[0];
    sim.step().expect("a step");
    assert!(sim.world().get::<BodyPose>(floor).is_some() && sim.world().get::<BodyPose>(outside).is_some());
    assert!(sim.world().get_entity(inside).is_err() && sim.world().get_entity(hinge).is_err());
    assert_eq!(sim.flow(gate).map(|f| f.count), Some(1));
}

#[test]
fn regions_that_hold_nothing_are_named() {
    let mut sim = Simulation::default();
    let error = sim.add_outlet(Outlet { region: Region::Box { low: DVec3::ONE, high: DVec3::ZERO } }).expect_err("empty");
    assert!(error.to_string().contains("lower corner"), "{error}");
    let head = "time = { step = 1e-3, end = 1 }\n[[bodies]]\nname = \"a\"\nshape = { kind = \"ball\", radius = 1 }\n[[outlet]]\n";
    for (text, found) in [
        ("", "exactly one of `plane` and `box`"),
        ("box = [[0, 0, 0], [1, -1, 1]]", "holds nothing"),
        ("box = [[0, 0, 0]]", "found 1 corners, expected 2"),
        ("plane = { normal = [0, 0, 0] }", "no direction"),
        ("name = \"a\"\nplane = {}", "the name \"a\" a second time"),
        ("plane = {}\n[[record]]\nsignals = [\"outlet.mas\"]", "mass"),
        ("plane = {}\n[[record]]\nname = \"flow\"\nsignals = [\"outlet.mass\"]", "cannot be that of its file"),
    ] {
        let error = Scene::from_toml(&format!("{head}{text}"), "t.toml").expect_err(text).to_string();
        assert!(error.contains(found) && error.contains("t.toml"), "{text}: {error}");
    }
}

#[test]
fn steps_of_a_scene_that_has_run_empty_are_as_long_as_before() {
    let text = "time = { step = 1e-3, end = 1 }\n[[bodies]]\nname = \"b\"\nshape = { kind = \"ball\", radius = 0.1 }\n[[outlet]]\nplane = { point = [0, 0, 1] }\n";
    let mut built = build(&Scene::from_toml(text, "t").expect("a scene")).expect("builds");
    for step in 1..=3 {
        let report = built.simulation.step().expect("a step");
        assert_eq!((report.step, report.step_size), (step, 1e-3));
    }
}
