//! Servo walls: what presses on grains until they hold it.

use drystone::diagnostics::grains::Packing;
use drystone::io::scene::Scene;
use drystone::io::view::Window;
use drystone::scenes::build;

fn press(servo: &str, step: &str) -> String {
    format!(
        "gravity = [0, 0, 0]\ntime = {{ step = \"{step}\", end = 1 }}\nsolver = {{ tolerance = 1e-8 }}\n\
         periodic = {{ x = [-0.04, 0.04], y = [-0.04, 0.04] }}\n\
         [[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\" }}\n\
         [[bodies]]\nname = \"lid\"\nshape = {{ kind = \"cuboid\", size = [0.1, 0.1, 0.01] }}\nposition = [0, 0, 0.05]\nmass = 0.5\nservo = {servo}\n\
         [[generate.lattice]]\ncount = [4, 4, 2]\nradius = 0.0099\npitch = 2.02\nlayer = 2.02\njitter = 0\nwalls = false\nground = false\n"
    )
}

#[test]
fn a_lid_comes_to_rest_where_grains_hold_its_force() {
    let pressure = "{ axis = \"z\", pressure = \"-2 kPa\", area = 0.0064, damping = 10 }";
    for (servo, force) in [("{ axis = \"z\", force = -5 }", 5.0), (pressure, 12.8)] {
        for step in ["1 ms", "4 ms"] {
            let text = press(servo, step);
            let scene = Scene::from_toml(&text, "t").expect("a scene");
            assert_eq!(Scene::from_toml(&scene.to_toml(), "t").expect("reads back"), scene);
            let mut built = build(&scene).expect("builds");
            let mut last = None;
            for _ in 0..400 {
                let report = built.simulation.step().expect("a step");
                assert!(report.converged && report.balance.error() < 1e-9, "{servo} {step}: {}", report.balance.error());
                last = Some(report.support_force.z);
            }
            let carried = last.unwrap_or_default().abs();
            assert!((carried / force - 1.0).abs() < 1e-6, "{servo} {step}: {carried} N on the floor");
            // the lid is a wall: 32 grains, and their stress is p = F/A
            let packing = Packing::of(&built.simulation, None);
            let (low, high) = packing.bounds();
            let stress = packing.stress((high - low).element_product()).z_axis.z;
            assert!(packing.grains.len() == 32 && (stress / (force / 0.0064) - 1.0).abs() < 1e-6, "{stress} Pa");
        }
    }
}

#[test]
fn pictures_and_branches_take_the_lid_for_a_wall() {
    let mut built = build(&Scene::from_toml(&press("{ axis = \"z\", force = -5 }", "1 ms"), "t").expect("a scene")).expect("builds");
    for _ in 0..100 {
        built.simulation.step().expect("a step");
    }
    let mut window = Window::new(built.entities.clone());
    let snapshot = window.look(&built.simulation);
    let lid = snapshot.bodies.iter().find(|body| body.name == "lid").expect("a lid");
    assert!(!lid.dynamic && lid.mass == 0.5 && snapshot.bodies.iter().filter(|body| body.dynamic).count() == 32);
    let on_it: Vec<_> = snapshot.contacts.iter().filter(|c| [c.body1, c.body2].contains(&lid.id)).collect();
    assert_eq!(on_it.len(), 16);
    // from the centre of a ball to where it touches
    assert!(on_it.iter().all(|contact| snapshot.branch(contact).count() == 2));
}

#[test]
fn servos_that_make_no_sense_are_refused() {
    for (servo, word) in
        [("{ axis = \"z\" }", "exactly one of"), ("{ axis = \"z\", pressure = 3 }", "area"), ("{ axis = \"w\", force = 3 }", "axis")]
    {
        let error = Scene::from_toml(&press(servo, "1 ms"), "t").expect_err(servo).to_string();
        assert!(error.contains(word), "{error}");
    }
    let error = Scene::from_toml(&press("{ axis = \"z\", force = 1 }\nmotion = \"static\"", "1 ms"), "t").expect_err("static").to_string();
    assert!(error.contains("stands still"), "{error}");
}

#[test]
fn servo_walls_at_right_angles_go_through_each_other() {
    let wall = |name: &str, axis: &str, size: &str, position: &str, extra: &str| {
        format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"cuboid\", size = {size} }}\nposition = {position}\nmass = 0.5\n{extra}")
            .replace("AXIS", axis)
    };
    let servo = "servo = { axis = \"AXIS\", force = -1 }\n";
    let text = |extra: &str| {
        format!(
            "gravity = [0, 0, 0]\ntime = {{ step = \"1 ms\", end = 0.1 }}\n{}{}",
            wall("lid", "z", "[0.2, 0.2, 0.01]", "[0, 0, 0.05]", servo),
            wall("side", "x", "[0.01, 0.2, 0.2]", "[0.09, 0, 0.05]", extra)
        )
    };
    let scene = Scene::from_toml(&text(servo), "t").expect("a scene");
    assert!(drystone::diagnostics::check::check(&scene).iter().all(|finding| !finding.message.contains("overlaps")));
    let (_, summary) = drystone::scenes::run(&scene).expect("runs");
    // each by F t²/2m alone
    assert!((summary.displacement_max_m - 0.01).abs() < 2e-4, "{summary}");
    // what has no servo is met
    let scene = Scene::from_toml(&text(""), "t").expect("a scene");
    assert!(drystone::diagnostics::check::check(&scene).iter().any(|finding| finding.message.contains("overlaps")));
}
