//! Still water on structures of many blocks: thrust `½ ρ g d² L` on what is free of them, uplift `½ ρ g d B L` in their beds.

use drystone::io::scene::Scene;
use drystone::model::contact::{ContactPair, Manifold};
use drystone::scenes::build;
use glam::DVec3;

const G: f64 = 9.81;

/// What the bodies rest on with, from the wet edge of their lowest bed: force (N) and moment (N m) of all contacts with `ground`.
fn on_the_ground(text: &str, ground: &str) -> [DVec3; 2] {
    let scene = Scene::from_toml(text, "t.toml").unwrap_or_else(|e| panic!("{text}{e}"));
    let mut built = build(&scene).unwrap();
    for _ in 0..3 {
        assert!(built.simulation.step().unwrap().converged);
    }
    let at = scene.bodies.iter().position(|body| body.name == ground).unwrap();
    let (entity, h) = (built.entities[at], built.simulation.time_step());
    let world = built.simulation.world_mut();
    let mut sum = [DVec3::ZERO; 2];
    for (pair, manifold) in world.query::<(&ContactPair, &Manifold)>().iter(world) {
        let sign = if pair.bodies[0] == entity {
            1.0
        } else if pair.bodies[1] == entity {
            -1.0
        } else {
            continue;
        };
        for touch in &manifold.points {
            let force = sign * touch.reaction / h;
            sum = [sum[0] + force, sum[1] + touch.point1.cross(force)];
        }
    }
    sum
}

/// Length along x and thickness along y of what is generated, and its weight.
fn measures(text: &str) -> [f64; 3] {
    let scene = Scene::from_toml(text, "t.toml").unwrap();
    let (mut low, mut high, mut weight) = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0.0);
    for (_, body) in scene.dynamic_bodies() {
        let shape = body.shape.build().unwrap();
        let (from, to) = shape.aabb(&body.pose);
        (low, high) = (low.min(from), high.max(to));
        weight += G * shape.mass_properties(scene.materials[0].density).unwrap().mass;
    }
    [high.x - low.x, high.y - low.y, weight]
}

const HEAD: &str = "time = { step = \"1 ms\", end = 1 }\nsolver = { tolerance = 1e-9 }\ncontact = { mu = 0.7 }\n\
    materials = [{ name = \"stone\", density = 2400 }]\n";

#[test]
fn water_presses_once_on_a_wall_of_two_leaves_however_many_blocks_lie_behind_each_other() {
    for bond in ["running", "english", "flemish"] {
        for (uplift, wet) in [("none", 0.0), ("linear", 1.0), ("joints", 1.0)] {
            let text = format!(
                "{HEAD}[[generate.wall]]\ncolumns = 3\nrows = 5\nlength = 0.6\nwidth = 0.3\nheight = 0.3\ngap = 0\nleaves = 2\n\
                 bond = \"{bond}\"\n[[water]]\nbodies = [\"wall\"]\ndirection = [0, 1, 0]\nlevel = 1.1\nuplift = \"{uplift}\"\n"
            );
            let [length, thickness, weight] = measures(&text);
            let [thrust, lift] = [0.5 * 1000.0 * G * 1.1 * 1.1 * length, wet * 0.5 * 1000.0 * G * 1.1 * thickness * length];
            let [force, moment] = on_the_ground(&text, "wall.ground");
            let case = format!("{bond}, {uplift}: {force} of {thrust}, {lift}, {weight}");
            assert!((force - DVec3::new(0.0, thrust, lift - weight)).length() < 1e-5 * weight, "{case}");
            // about x through the middle of the base: the thrust at a third of the depth, the uplift a sixth of the thickness before the middle
            let turning = -thrust * 1.1 / 3.0 - lift * thickness / 6.0;
            assert!((moment.x - turning).abs() < 1e-5 * weight, "{case}: {moment} of {turning}");
        }
    }
}

#[test]
fn water_presses_on_hulls_as_on_cuboids_and_on_the_upright_face_of_a_buttress() {
    let stack = |shape: &str| {
        let course = |k: usize| format!("[[bodies]]\nname = \"c{k}\"\nposition = [1, 0, {}]\nshape = {shape}\n", k as f64 + 0.5);
        let courses: String = (0..3).map(course).collect();
        format!(
            "{HEAD}[[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n{courses}\
             [[water]]\nbodies = [\"c0\", \"c1\", \"c2\"]\nlevel = 2.3\nuplift = \"joints\"\n"
        )
    };
    let points: Vec<String> = (0..8).map(|k| format!("[{}, {}, {}]", k / 4 * 2 - 1, k / 2 % 2 * 2 - 1, f64::from(k % 2) - 0.5)).collect();
    let cuboids = on_the_ground(&stack("{ kind = \"cuboid\", size = [2, 2, 1] }"), "floor");
    let hulls = on_the_ground(&stack(&format!("{{ kind = \"hull\", points = [{}] }}", points.join(", "))), "floor");
    for (one, two) in cuboids.iter().zip(hulls) {
        assert!((*one - two).length() < 1e-6 * one.length(), "{cuboids:?} {hulls:?}");
    }
    let [thrust, lift] = [0.5 * 1000.0 * G * 2.3 * 2.3 * 2.0, 0.5 * 1000.0 * G * 2.3 * 2.0 * 2.0];
    let expected = DVec3::new(thrust, 0.0, lift - 2400.0 * G * 12.0);
    assert!((cuboids[0] - expected).length() < 1e-6 * expected.length(), "{cuboids:?} of {expected}");

    let text = format!(
        "{HEAD}[[generate.buttress]]\nsize = [1.5, 0.8]\ntop = [0.6, 0.8]\ncourses = 4\nheight = 3\n\
         [[water]]\nbodies = [\"buttress\"]\nlevel = 2.2\n"
    );
    let [_, _, weight] = measures(&text);
    let [force, _] = on_the_ground(&text, "buttress.ground");
    let expected = DVec3::new(0.5 * 1000.0 * G * 2.2 * 2.2 * 0.8, 0.0, -weight);
    assert!((force - expected).length() < 1e-6 * weight, "{force} of {expected}");
}

#[test]
fn water_has_the_weight_of_the_gravity_that_acts() {
    let text = |gravity: &str| {
        format!(
            "gravity = {gravity}\n{HEAD}[[bodies]]\nname = \"ground\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\" }}\n[[bodies]]\n\
             name = \"dam\"\nshape = {{ kind = \"cuboid\", size = [1, 1, 2] }}\nposition = [0, 0, 1]\n[[water]]\nbodies = [\"dam\"]\n\
             direction = [0, 1, 0]\nlevel = 1.5\nuplift = \"linear\"\n"
        )
    };
    let [full, half] = ["[0, 0, -9.81]", "[{ from = 0, acceleration = [0, 0, -9.81] }, { from = 0.001, acceleration = [0, 0, -4.905] }]"]
        .map(|g| on_the_ground(&text(g), "ground")[0]);
    assert!((full.y - 0.5 * 1000.0 * G * 1.5 * 1.5).abs() < 1e-3, "{full}");
    assert!((half - 0.5 * full).length() < 1e-3, "{half} {full}");
}

#[test]
fn water_presses_once_where_joints_that_lean_do_not_meet_from_course_to_course() {
    // two courses of two blocks each, 1 m deep; their upright joints lean by 45°, and that of the upper course lies 3 cm nearer to the water
    let block = |name: &str, z: f64, wet: f64, dry: f64, lean: [f64; 2]| {
        let corner = |k: usize| {
            let (dry_side, upper) = (k & 1, k >> 2);
            let x = [wet, dry][dry_side] + lean[dry_side] * upper as f64;
            format!("[{x}, {}, {}]", 0.5 - (k >> 1 & 1) as f64, z + upper as f64)
        };
        let points: Vec<String> = (0..8).map(corner).collect();
        format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"hull\", points = [{}] }}\n", points.join(", "))
    };
    let bodies = [
        block("a", 0.0, 0.0, 2.0, [0.0, 1.0]),
        block("b", 0.0, 2.0, 6.0, [1.0, 0.0]),
        block("c", 1.0, 0.0, 2.97, [0.0, 1.0]),
        block("d", 1.0, 2.97, 6.0, [1.0, 0.0]),
    ]
    .concat();
    for uplift in ["none", "joints"] {
        let text = format!(
            "{HEAD}[[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n{bodies}\
             [[water]]\nbodies = [\"a\", \"b\", \"c\", \"d\"]\nlevel = 1.9\nuplift = \"{uplift}\"\n"
        );
        let [_, _, weight] = measures(&text);
        let thrust = 0.5 * 1000.0 * G * 1.9 * 1.9;
        let lift = if uplift == "none" { 0.0 } else { 0.5 * 1000.0 * G * 1.9 * 6.0 };
        let [force, _] = on_the_ground(&text, "floor");
        assert!(
            (force - DVec3::new(thrust, 0.0, lift - weight)).length() < 1e-6 * weight,
            "{uplift}: {force} of {thrust}, {lift} − {weight}"
        );
    }
}

#[test]
fn a_gallery_within_a_stone_adds_no_thrust() {
    // along y through a dam of 3 m × 4 m, 1 m long, dry or full; and a notch that is open to the water, whose back is wet
    for opening in
        ["[1, \"-inf\", 1], [2, \"inf\", 2]", "[1, \"-inf\", 3], [2, \"inf\", \"inf\"]", "[\"-inf\", \"-inf\", 1], [1, \"inf\", 2]"]
    {
        for level in [1.5, 4.0] {
            let text = format!(
                "{HEAD}[[generate.buttress]]\nname = \"dam\"\nsize = [3, 1]\ncourses = 1\nheight = 4\nopenings = [{{ box = [{opening}] }}]\n\
                 [[water]]\nbodies = [\"dam\"]\nlevel = {level}\n"
            );
            let [force, _] = on_the_ground(&text, "dam.ground");
            let [thrust, weight] = [0.5 * 1000.0 * G * level * level, 2400.0 * G * 11.0];
            assert!(
                (force - DVec3::new(thrust, 0.0, -weight)).length() < 1e-6 * weight,
                "{opening}, {level}: {force} of {thrust}, {weight}"
            );
        }
    }
}
