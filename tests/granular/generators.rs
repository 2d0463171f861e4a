//! Keys that all generators share: `motion`, locked axes; and `agitation` of lattices and pours.

use drystone::io::scene::Scene;
use drystone::io::scene::model::Motion;
use drystone::model::newton_euler::{Inertia, Velocity};
use drystone::scenes::build;

fn lattice(keys: &str) -> String {
    format!(
        "time = {{ step = \"1 ms\", end = 1 }}\n[[generate.lattice]]\nname = \"grain\"\ncount = [3, 3, 2]\nradius = 0.01\nwalls = false\n\
         ground = false\n{keys}\n"
    )
}

#[test]
fn grains_of_a_static_generator_stay_and_those_of_a_driven_one_go_as_told() {
    let driven = lattice("motion = { kind = \"constant\", velocity = [0.5, 0, 0] }\nposition = [0, 0, 1]");
    let (_, driven) = driven.split_once('\n').expect("a line of time");
    let text = lattice("motion = \"static\"").replace("grain", "base") + driven;
    let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(Scene::from_toml(&scene.to_toml(), "t").expect("reads back"), scene);
    assert_eq!(scene.bodies[0].motion, Motion::Static);
    let mut built = build(&scene).expect("builds");
    let at = |built: &drystone::scenes::Built, k: usize| {
        built.simulation.world().get::<drystone::model::newton_euler::BodyPose>(built.entities[k]).expect("a body").0.position
    };
    let start = [0, 18].map(|k| at(&built, k));
    built.simulation.run_until(0.2).expect("runs");
    assert_eq!(at(&built, 0), start[0]);
    assert!((at(&built, 18) - start[1] - glam::DVec3::X * 0.1).length() < 1e-12, "{}", at(&built, 18));
}

#[test]
fn an_agitated_generator_begins_as_a_gas_and_says_what_does_not_go_together() {
    for generator in
        ["", "[[generate.pour]]\nname = \"more\"\ncount = 20\nradius = 0.01\nwidth = [0.1, 0.1]\nbottom = 1\nagitation = 0.3\n"]
    {
        let scene = Scene::from_toml(&(lattice("agitation = \"30 cm/s\"") + generator), "t").unwrap_or_else(|e| panic!("{e}"));
        let speeds: Vec<_> = scene.dynamic_bodies().map(|(_, b)| b.linear_velocity).collect();
        let square = speeds.iter().map(|v| v.length_squared()).sum::<f64>() / (3.0 * speeds.len() as f64);
        assert!((square - 0.09).abs() < 1e-12 && speeds.iter().sum::<glam::DVec3>().length() < 1e-12, "{square}");
    }
    for (keys, word) in [
        ("agitation = 1\nmotion = \"static\"", "given motion"),
        ("agitation = -1", "agitation"),
        ("agitation = \"3 m\"", "agitation"),
        ("motion = \"fixed\"", "motion"),
    ] {
        let error = Scene::from_toml(&lattice(keys), "t").expect_err(keys).to_string();
        assert!(error.contains(word) && error.contains("t:"), "{error}");
    }
    let one = lattice("agitation = 1").replace("[3, 3, 2]", "[1, 1, 1]");
    assert!(Scene::from_toml(&one, "t").expect_err("one grain").to_string().contains("single grain"));
}

#[test]
fn an_agitated_generator_has_no_momentum_whatever_the_shape_of_its_grains() {
    let clump = "grain = { kind = \"clump\", balls = [[0, 0, 0, 1], [1, 0, 0, 0.5]] }\nradius = [0.004, 0.01]";
    for keys in ["radius = [0.004, 0.01]", "grain = { kind = \"rock\" }\nradius = 0.01", clump, "corners = 10\nradius = 0.01"] {
        let text = format!(
            "time = {{ step = \"1 ms\", end = 1 }}\n[[generate.pour]]\ncount = 40\nwidth = [0.1, 0.1]\nbottom = 1\nagitation = 0.3\n{keys}\n"
        );
        let built = build(&Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"))).expect("builds");
        let world = built.simulation.world();
        let parts = built.entities.iter().filter_map(|e| Some((world.get::<Inertia>(*e)?.mass, world.get::<Velocity>(*e)?.linear)));
        let (momentum, mass) = parts.fold((glam::DVec3::ZERO, 0.0), |(p, sum), (m, v)| (p + m * v, sum + m));
        assert!(momentum.length() < 1e-12 * mass, "{keys}: {}", momentum / mass);
    }
}

#[test]
fn grains_of_a_plane_stay_in_it_and_do_not_begin_with_a_velocity_out_of_it() {
    let keys = "agitation = 0.3\nlocked_translation = [\"y\"]\nlocked_rotation = [\"x\", \"z\"]\njitter = 0.0";
    let text = lattice(keys).replace("[3, 3, 2]", "[4, 1, 4]");
    let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(Scene::from_toml(&scene.to_toml(), "t").expect("reads back"), scene);
    for body in &scene.bodies {
        assert_eq!((body.locked_translation, body.locked_rotation), ([false, true, false], [true, false, true]));
        assert!(body.linear_velocity.y == 0.0 && body.linear_velocity.x != 0.0 && body.linear_velocity.z != 0.0);
    }
    let mut built = build(&scene).expect("builds");
    built.simulation.run_until(0.3).expect("runs");
    for (body, entity) in scene.bodies.iter().zip(&built.entities) {
        let at = built.simulation.world().get::<drystone::model::newton_euler::BodyPose>(*entity).expect("a body").0.position;
        assert!(at.y == body.pose.position.y && at.x != body.pose.position.x, "{at}");
    }
    let wrong = lattice("locked_translation = [\"w\"]");
    assert!(Scene::from_toml(&wrong, "t").expect_err("no axis").to_string().contains("locked_translation"));
}

#[test]
fn scenes_with_automatic_steps_and_generators_read_back_as_they_were() {
    for name in ["granular_gas", "silo", "chute", "compression", "simple_shear"] {
        let scene = drystone::scenes::load(name, &[]).unwrap_or_else(|e| panic!("{e}"));
        let again = Scene::from_toml(&scene.to_toml(), "t").unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((again.time, again.bodies.len()), (scene.time, scene.bodies.len()), "{name}");
        assert_eq!(again.bodies[40].linear_velocity, scene.bodies[40].linear_velocity, "{name}");
    }
}
