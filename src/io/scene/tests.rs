//! What files may say, and a table of what they may not.

use glam::{DQuat, DVec3};

use super::loads::Uplift;
use super::model::*;
use super::{Scene, SceneError, SceneSource};
use crate::model::joint::{JointKind, JointSpec};
use crate::model::law::{Arm, Impact};

const TIME: &str = "[time]\nstep = 1e-3\nend = 1.0\n";
const BALL: &str = "[[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\n";

fn read(text: &str) -> Result<Scene, SceneError> {
    Scene::from_toml(text, "t.toml")
}

fn with(text: &str) -> Scene {
    read(&format!("{TIME}{BALL}{text}")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_body_says_everything_that_it_can() {
    let scene = with(
        r#"
        position = ["10 cm", 0, 2]
        rotation = { axis = [0, 0, 2], angle = "90 deg" }
        velocity = ["36 km/h", 0, 0]
        angular_velocity = [0, 0, "60 rpm"]
        mass = "1.2 t"
        inertia = [1, 2, 3]
        centre_of_mass = [0, 0, 0.01]
        locked_translation = ["x", "z"]
        locked_rotation = ["y"]
        force = ["1 kN", 0, 0]
        torque = [0, "2 N m", 0]
        birth = 0.5
        death = "1 min"
        impulses = [{ time = 0.9, linear = [0, 1, 0] }, { angular = [0, 0, 3] }]
        "#,
    );
    let b = &scene.bodies[0];
    assert_eq!(b.pose.position, DVec3::new(0.1, 0.0, 2.0));
    assert!(b.pose.rotation.dot(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2)) > 1.0 - 1e-15);
    assert_eq!(b.linear_velocity.x, 10.0);
    assert!((b.angular_velocity.z - std::f64::consts::TAU).abs() < 1e-14);
    assert_eq!((b.mass, b.inertia), (Some(1200.0), Some(DVec3::new(1.0, 2.0, 3.0))));
    assert_eq!((b.locked_translation, b.locked_rotation), ([true, false, true], [false, true, false]));
    assert_eq!((b.force.x, b.torque.y, b.birth, b.death), (1000.0, 2.0, 0.5, Some(60.0)));
    assert_eq!(b.impulses.iter().map(|i| i.time).collect::<Vec<_>>(), [0.0, 0.9], "in order of time");
}

#[test]
fn what_a_body_cannot_feel_is_told_with_a_cure_that_helps() {
    let told = |rest: &str| read(&format!("{TIME}{BALL}{rest}\n")).err().map(|e| e.to_string()).unwrap_or_default();
    let early = told("birth = 0.5\nimpulses = [{ time = 0.2, linear = [0, 1, 0] }]");
    assert!(early.contains("a blow at 0.2 s on a body that is born at 0.5 s"), "{early}");
    assert_eq!(told("birth = 0.5\nimpulses = [{ time = 0.5, linear = [0, 1, 0] }]"), "");
    let force = told("motion = \"static\"\nforce = [0, 0, 1]");
    assert!(force.contains("remove it, or remove `motion`") && !force.contains("constant"), "{force}");
    assert!(told("motion = \"static\"\nvelocity = [0, 0, 1]").contains("write motion = { kind = \"constant\""));
}

#[test]
fn a_table_of_velocities_may_jump_but_not_go_back() {
    let text = |times: &str| {
        format!("{TIME}{BALL}motion = {{ kind = \"table\", times = {times}, velocity = [[0, 0, 1], [0, 0, 1], [0, 0, 3], [0, 0, 5]] }}\n")
    };
    let scene = read(&text("[0, 1, 1, 2]")).unwrap_or_else(|e| panic!("{e}"));
    let Motion::Kinematic(drive) = &scene.bodies[0].motion else { panic!("kinematic") };
    assert_eq!([0.5, 0.999, 1.0, 1.5, 9.0].map(|t| drive.velocity(t).0.z), [1.0, 1.0, 3.0, 4.0, 5.0]);
    let error = read(&text("[0, 1, 0.5, 2]")).map(|_| ()).expect_err("goes back").to_string();
    assert!(error.contains("t.toml:") && error.contains("0.5 after 1"), "{error}");
}

#[test]
fn shapes_of_every_kind() {
    let specs = [
        "{ kind = \"cuboid\", size = [1, 2, 3] }",
        "{ kind = \"cuboid\", half_extents = [1, 2, 3] }",
        "{ kind = \"capsule\", half_height = 1, radius = 0.5 }",
        "{ kind = \"cylinder\", half_height = 1, radius = 0.5 }",
        "{ kind = \"hull\", points = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], scale = 2 }",
        "{ kind = \"mesh\", vertices = [[0,0,0],[1,0,0],[0,1,0]], triangles = [[0,1,2]] }",
        "{ kind = \"mesh\", file = \"assets/meshes/terrain.obj\" }",
        "{ kind = \"height_field\", size = [1, 1], samples = [2, 2], heights = [0, 0, 0, 1] }",
        "{ kind = \"compound\", parts = [{ shape = { kind = \"ball\", radius = 1 }, position = [3, 0, 0] }] }",
    ];
    for spec in specs {
        let scene = with(&format!("[[bodies]]\nmotion = \"static\"\nshape = {spec}\n"));
        let (low, high) = scene.bodies[1].shape.build().expect("a shape").aabb(&scene.bodies[1].pose);
        assert!((high - low).min_element() >= 0.0 && (high - low).max_element() >= 1.0, "{spec}");
    }
}

#[test]
fn motion_loads_and_laws() {
    let scene = with(
        r#"
        material = "steel"
        [[bodies]]
        name = "shaker"
        shape = { kind = "half_space" }
        motion = { kind = "sinusoid", velocity = [0.1, 0, 0], frequency = "5 Hz" }
        [[bodies]]
        name = "lift"
        shape = { kind = "cuboid", size = [1, 1, 1] }
        motion = { kind = "table", times = [0, 2], velocity = [[0, 0, 0], [0, 0, 4]] }
        [[materials]]
        name = "wood"
        density = 700
        [[materials]]
        name = "steel"
        density = "7.8 t/m3"
        [contact]
        mu = 0.4
        pairs = [{ materials = ["steel", "wood"], mu = 0.2, e_n = 0.5 }]
        [[joints]]
        body1 = "ball"
        body2 = "lift"
        anchor = [0, 0, 1]
        [[water]]
        bodies = ["ball"]
        level = [[0, 0], ["10 s", 5]]
        uplift = true
        [base]
        samples = [[0, 0, 0, 0], [1, 2, 0, 0]]
        scale = 0.5
        [[recorders]]
        what = "contacts"
        every = "20 ms"
        "#,
    );
    assert_eq!(scene.law(0, 1), ContactLaw { mu: 0.2, e_n: 0.5, ..ContactLaw::default() });
    assert_eq!(scene.law(1, 1).mu, 0.4);
    assert_eq!((scene.bodies[0].material, scene.bodies[1].material), (1, 0));
    let Motion::Kinematic(drive) = &scene.bodies[2].motion else { panic!("kinematic") };
    assert_eq!(drive.velocity(1.0).0, DVec3::Z * 2.0);
    assert_eq!(
        scene.joints[0],
        Joint { name: "joint0".into(), body1: 0, body2: Some(2), spec: JointSpec::new(JointKind::Spherical).at(DVec3::Z) }
    );
    assert_eq!((scene.water[0].level(4.0), scene.water[0].uplift), (2.0, Uplift::Linear));
    assert_eq!(scene.base.expect("a base").acceleration(0.5), DVec3::X * 0.5);
    assert_eq!(scene.recorders, [Recorder { what: Recorded::Contacts, every: 0.02 }]);
}

#[test]
fn a_pair_has_the_keys_of_contact_that_it_does_not_give() {
    let head = format!("{TIME}{BALL}[[materials]]\nname = \"a\"\ndensity = 1\n[[materials]]\nname = \"b\"\ndensity = 1\n[contact]\n");
    let pair = |contact: &str, pair: &str| {
        let text = format!("{head}{contact}\n[[contact.pairs]]\nmaterials = [\"a\", \"b\"]\n{pair}\n");
        let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{text}{e}"));
        let again = Scene::from_toml(&scene.to_toml(), "again").unwrap_or_else(|e| panic!("{}{e}", scene.to_toml()));
        assert_eq!((again.default_law, &again.pair_laws), (scene.default_law, &scene.pair_laws), "{text}{}", scene.to_toml());
        (scene.default_law, scene.law(0, 1))
    };
    let all = "mu = 0.1\ne_n = 0.4\ne_n_speed = 0.01\ne_t = 0.1\nadhesion = 2\nadhesion_range = 1e-3\nmu_r = 0.02\nmu_t = 0.03\n\
               bond = { tension = 1e5, neck = 0.5 }\ncrushing = \"1 MPa\"";
    let (contact, same) = pair(all, "");
    assert_eq!(contact, same);
    assert_eq!(pair(all, "mu = 0.3").1, ContactLaw { mu: 0.3, ..contact });
    // what a pair gives leaves others without a meaning
    let none = Arm::default();
    assert_eq!(pair(all, "patch = 0.2").1, ContactLaw { mu_t: none, patch: Arm::Radius(0.2), ..contact });
    assert_eq!(pair(&all.replace("mu_t", "patch"), "mu_t = 0.2").1, ContactLaw { mu_t: Arm::Radius(0.2), patch: none, ..contact });
    assert_eq!(pair(all, "e_n = 0").1, ContactLaw { e_n: 0.0, e_n_speed: 0.0, ..contact });
    assert_eq!(pair(all, "adhesion = 0").1, ContactLaw { adhesion: 0.0, adhesion_range: 0.0, ..contact });
    assert_eq!(pair(all, "rupture = 1e-4").1, ContactLaw { adhesion_range: 0.0, rupture: 1e-4, ..contact });
    assert_eq!(pair(&all.replace("adhesion_range", "rupture"), "adhesion_range = 1e-4").1, ContactLaw { adhesion_range: 1e-4, ..contact });
    assert_eq!(pair(all, "impact = \"fremond\"").1, ContactLaw { impact: Impact::Fremond, e_t: 0.0, ..contact });
    assert_eq!(pair(all, "bond = \"none\"\ncrushing = \"none\"").1, ContactLaw { bond: None, crushing: None, ..contact });
    assert_eq!(pair(all, "mu_r = 0\ne_n_speed = 0").1.mu_r.number(), 0.0);
}

#[test]
fn a_base_motion_comes_from_csv_beside_the_scene() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let scene = dir.path().join("quake.toml");
    std::fs::write(&scene, format!("{TIME}{BALL}[base]\nfile = \"a.csv\"\ndirection = [0, 1, 0]\n")).expect("writable");
    let load = |csv: &str| {
        std::fs::write(dir.path().join("a.csv"), csv).expect("writable");
        Scene::load(&SceneSource::File(scene.clone()), &[])
    };
    let base = load("t,a\n0,0\n1,2\n").expect("valid").base.expect("a base");
    assert_eq!(base.acceleration(0.25), DVec3::Y * 0.5);
    for (csv, found) in [
        ("", "no rows"),
        ("t,a\n", "no rows"),
        ("0,1\n0,2\n", "does not rise"),
        ("0,1\nx,2\n", "line 2: found `x,2`"),
        ("0,1,2\n", "line 1"),
    ] {
        let e = load(csv).expect_err(csv);
        assert!(e.message.contains(found) && e.line == Some(8), "{e}");
    }
}

#[test]
fn a_setting_edits_a_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("s.toml");
    std::fs::write(&path, format!("{TIME}{BALL}")).expect("writable");
    let load = |key: &str, value: &str| Scene::load(&SceneSource::File(path.clone()), &[(key.into(), value.into())]);
    assert_eq!(load("bodies.0.mass", "3").expect("valid").bodies[0].mass, Some(3.0));
    assert_eq!(load("bodies.0.shape.radius", "3 mm").expect("valid").bodies[0].shape, ShapeSpec::Ball { radius: 0.003 });
    assert_eq!(load("gravity", "[0, 0, -1]").expect("valid").gravity_at(0.0), DVec3::NEG_Z);
    for (key, value, cure) in [
        ("bodies.0.radius", "1", "known here"),
        ("bodies.0.mas", "1", "did you mean `mass`"),
        ("bodis.0.mass", "1", "did you mean `bodies`"),
        ("bodies.7.mass", "1", "end at 0"),
        ("time.step", "1 kg", "in s"),
        ("time.step", "[1]", "one number"),
        ("", "1", "known here"),
    ] {
        let e = load(key, value).expect_err(key);
        assert!(e.cure.contains(cure) && e.origin.contains("--set"), "{e}");
    }
}

/// Text of the scene, line of the fault, words of the message, words of the cure.
type Fault = (&'static str, usize, &'static str, &'static str);

/// `@` stands for a valid time section on the lines 1 to 3.
const FAULTS: &[Fault] = &[
    ("[time]\nstep = 1", 1, "the field `end` is missing", "add `end = …`"),
    ("[time]\nstep = 1\nedn = 2", 1, "the field `end` is missing", "did you mean it by `edn`"),
    ("title = \"x\"", 1, "the field `time` is missing", "add"),
    ("@", 1, "no bodies", "[[bodies]]"),
    (
        "@[[bodies]]\nshape = { kind = \"ball\", radius = 1, colour = 3 }",
        5,
        "unknown key `colour` in `bodies.0.shape`",
        "known here: kind, radius",
    ),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\npositon = [0,0,0]", 6, "unknown key `positon`", "did you mean `position`"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = \"1 kg\" }", 5, "bodies.0.shape.radius: found a mass", "in m"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = \"1 parsec\" }", 5, "unknown unit", "did you mean"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = nan }", 5, "found the number nan", "finite"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = inf }", 5, "found the number inf", "finite"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = -1 }", 5, "found the number -1", "greater than 0"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = true }", 5, "found true", "one number"),
    ("@[[bodies]]\nshape = { kind = \"bal\", radius = 1 }", 5, "unknown shape \"bal\"", "did you mean `ball`"),
    ("@[[bodies]]\nshape = \"ball\"", 5, "found the text \"ball\", expected a table", "{ key = value"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\nmass = 0", 6, "bodies.0.mass: found the number 0", "greater than 0"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\ninertia = [1, 1, 3]", 6, "which no rigid body has", "none larger"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\nmaterial = \"steel\"", 6, "no material named \"steel\"", "known here: default"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\nvelocity = [1, 2]", 6, "a list of 2, expected a list of 3", "square brackets"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\norientation = [1, 1, 0, 0]", 6, "a quaternion of length", "rotation"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\nmotion = \"statik\"", 6, "found the text \"statik\"", "did you mean `static`"),
    ("@[[bodies]]\nshape = { kind = \"half_space\" }", 5, "a dynamic body with the shape half_space", "static"),
    ("@[[bodies]]\nshape = { kind = \"half_space\", normal = [0, 0, 0] }", 5, "no direction", "[0, 0, 1]"),
    ("@[[bodies]]\nshape = { kind = \"cuboid\" }", 5, "exactly one of `size`", "size = [x, y, z]"),
    ("@[[bodies]]\nshape = { kind = \"cuboid\", size = [1, 0, 1] }", 5, "greater than 0", "positive"),
    ("@[[bodies]]\nshape = { kind = \"hull\", points = [[0, 0, 0]] }", 5, "found 1 points", "add points"),
    ("@[[bodies]]\nshape = { kind = \"mesh\", vertices = [], triangles = [] }", 5, "empty mesh", "file"),
    (
        "@[[bodies]]\nshape = { kind = \"mesh\", vertices = [[0, 0, 0]], triangles = [[0, 0, 1]] }",
        5,
        "triangles.0.2: found the number 1",
        "whole number",
    ),
    ("@[[bodies]]\nshape = { kind = \"mesh\", file = \"none.stl\" }", 5, "none.stl: the mesh file cannot be read", "path"),
    ("@[[bodies]]\nshape = { kind = \"mesh\", file = \"rock.step\" }", 5, "cannot be read", "path"),
    ("@[[bodies]]\nshape = { kind = \"compound\", parts = [] }", 5, "without parts", "at least one"),
    (
        "@[[bodies]]\nname = \"a\"\nshape = { kind = \"ball\", radius = 1 }\n[[bodies]]\nname = \"a\"\nshape = { kind = \"ball\", radius = 1 }",
        7,
        "the name \"a\" a second time",
        "a name of its own",
    ),
    ("@[[bodies]]\nname = \"a,b\"\nshape = { kind = \"ball\", radius = 1 }", 5, "the name \"a,b\"", "without comma"),
    ("@[[materials]]\nname = \"m\"\ndensity = \"2.4 m\"", 6, "found a length", "kg/m3"),
    ("@[[materials]]\nname = \"m\"\ndensity = 0", 6, "the number 0", "greater than 0"),
    ("@[contact]\nmu = -0.1", 5, "the number -0.1", "from 0"),
    (
        "@[contact]\nfriction = 1",
        5,
        "unknown key `friction`",
        "did you mean `mu`? (known here: mu, e_n, e_n_speed, e_t, impact, adhesion, adhesion_range, rupture, mu_r, mu_t, patch, bond, crushing, pairs",
    ),
    ("@[[generate.lattice]]\ncount = [10, 10]\nradius = 1", 5, "found 2 numbers, expected 3", "count"),
    ("@[[generate.lattice]]\ncount = [10000, 10000, 10000]\nradius = 1", 4, "more than 10000000", "smaller"),
    (
        "@[[generate.lattice]]\ncount = [3, 3, 3]\nradius = 1\npitch = 2",
        4,
        "the balls 0 and 3 overlapping by 2.1e-3 m",
        "`jitter` be at most 0,",
    ),
    (
        "@[[generate.lattice]]\ncount = [1, 1, 1]\nradius = 1\njitter = 1",
        4,
        "the ball 0 and the ground overlapping",
        "`jitter` be at most 0.1,",
    ),
    ("@[periodic]\nx = [0, 1]\nshear = { rate = 1 }", 6, "across = z, along = x in a cell that is periodic along x", "two different axes"),
    (
        "@[periodic]\nx = [0, 1]\n[[bodies]]\nshape = { kind = \"ball\", radius = 0.1 }\n[[outlet]]\nbox = [[2, -1, -1], [3, 1, 1]]",
        9,
        "2 to 3 m along x, beyond the periodic cell",
        "where bodies",
    ),
    (
        "@[periodic]\nx = [0, 1]\n[[bodies]]\nshape = { kind = \"ball\", radius = 0.1 }\n[[outlet]]\nplane = { point = [1, 0, 0], normal = [1, 0, 0] }",
        9,
        "no part of the periodic cell",
        "where bodies",
    ),
    (
        "@[[generate.lattice]]\ncount = [1, 1, 1]\nradius = 1\nseed = 1e300",
        7,
        "seed: found the number 1e+300, expected a whole number from 0 to",
        "all its digits",
    ),
    ("@[[generate.lattice]]\ncount = [1, 1, 1]\nradius = 1\nseed = 1e17", 7, "seed: found the number", "all its digits"),
    ("@[[generate.pour]]\ncount = 1\nradius = 1\nwidth = [9, 9]\nseed = 1.5", 8, "seed: found the number 1.5", "whole number"),
    ("@[[generate.lattice]]\ncount = [1, 1, 1]\nradius = 1\nseed = -1", 7, "seed: found the number -1", "whole number"),
    ("@[[generate.latice]]\ncount = [1, 1, 1]\nradius = 1", 4, "unknown key `latice`", "did you mean `lattice`"),
    ("@[[generate.arch]]\nthickness_ratio = 2", 5, "inner radius", "below 2"),
    ("@[[generate.wall]]\ncolumns = 2\nrows = 2\ngap = 1", 4, "head joints", "small part"),
    ("@gravity = 9.81", 4, "unknown key `gravity` in `time`", "at the top of the file"),
    ("@[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\ndensity = 2", 6, "unknown key `density`", "[[materials]]"),
    ("@[contact]\nrestitution = 0.2", 5, "unknown key `restitution`", "did you mean `e_n`"),
    ("gravity = 9.81\n@", 1, "found the number 9.81, expected a list of 3 numbers", "m/s2"),
    ("gravity = [{ from = 1, acceleration = [0, 0, 0] }]\n@", 1, "from = 1", "first entry at 0"),
    ("[time]\nstep = 0\nend = 1", 2, "greater than 0", "in s"),
    ("[time]\nstep = 1e-12\nend = 1", 2, "more than 1e9 steps", "larger step"),
    ("@theta = 0.7", 4, "found `theta` with treatment = \"gap_aware\"", "or write treatment = \"forecast\""),
    ("@treatment = \"forecast\"\ntheta = 0.4", 5, "the number 0.4", "from 0.5"),
    ("[time]\nstep = 1\nend = 1\ntreatment = \"gap\"", 4, "one of the known words", "known here: gap_aware, forecast"),
    ("x = ", 1, "TOML syntax", "toml.io"),
    ("[a\n", 1, "TOML syntax", "toml.io"),
    ("a = 99999999999999999999999", 1, "too large", "below 9e18"),
];

#[test]
fn every_fault_has_a_place_a_message_and_a_cure() {
    for (text, line, message, cure) in FAULTS {
        let e = read(&text.replace('@', TIME)).expect_err(text);
        assert!(e.message.contains(message), "{text}\n{e}");
        assert!(e.cure.contains(cure), "{text}\n{e}");
        assert_eq!(e.line, Some(*line), "{text}\n{e}");
        assert!(e.to_string().starts_with("t.toml:"), "{e}");
    }
}

#[test]
fn angles_in_degrees_without_a_unit_are_told_where_none_is_so_large() {
    let body = |keys: &str| format!("{TIME}[[bodies]]\nshape = {{ kind = \"ball\", radius = 1 }}\n{keys}");
    let generate = |keys: &str| format!("{TIME}[[generate.{keys}\n");
    let hopper = |angle: &str| {
        let shape = format!("{{ kind = \"hopper\", orifice = 0.1, radius = 1, height = 1, angle = {angle} }}");
        format!("{TIME}[[bodies]]\nmotion = \"static\"\nshape = {shape}\n")
    };
    let turned = |angle: &str| body(&format!("rotation = {{ axis = [0, 0, 1], angle = {angle} }}\n"));
    let tilted = |angle: &str| {
        let support = format!("[[support]]\nbodies = [\"s\"]\nrotation = {{ axis = [0, 1, 0], angle = {angle} }}\n");
        body(&format!("name = \"s\"\nmotion = \"static\"\n{support}"))
    };
    for (text, angle) in [
        (turned("30"), 30),
        (turned("\"-30\""), -30),
        (tilted("5"), 5),
        (hopper("30"), 30),
        (generate("arch]]\nform = \"segmental\"\nthickness = 0.1\nangle = 120"), 120),
        (generate("arch]]\nform = \"flat\"\nspan = 1\nthickness = 0.1\nskew = 20"), 20),
        (generate("dome]]\nrings = 3\nvoussoirs = 8\nthickness = 0.1\ncrown = 70"), 70),
    ] {
        let told = read(&text).expect_err(&text).to_string();
        assert!(told.contains(&format!("found {angle} without a unit")) && told.contains(&format!("write \"{angle} deg\"")), "{told}");
    }
    // a unit says what is meant, and so does an angle that may be one
    for text in [turned("\"30 rad\""), turned("6.284"), tilted("\"5 deg\""), tilted("1.571"), hopper("1.571"), hopper("\"30 deg\"")] {
        read(&text).unwrap_or_else(|e| panic!("{text}{e}"));
    }
}

#[test]
fn references_must_exist() {
    for (text, message) in [
        ("[[joints]]\nbody1 = \"bal\"\nanchor = [0,0,0]", "no body named \"bal\""),
        ("[[joints]]\nbody1 = \"ball\"\nbody2 = \"ball\"\nanchor = [0,0,0]", "holds no two bodies"),
        ("[[water]]\nbodies = [\"dam\"]\nlevel = 1", "no body named \"dam\""),
        ("[[water]]\nbodies = []\nlevel = 1", "found no bodies"),
        ("[study]\nkind = \"dam\"", "found no such dam"),
        ("[study]\nkind = \"incline\"\nbody = \"box\"\noffset = 0\ntilt_at = 0\nwindow = [0, 1]", "no body named \"box\""),
        ("[[impulses]]\nbody = \"b\"", "no body named \"b\""),
    ] {
        let e = read(&format!("{TIME}{BALL}{text}")).expect_err(text);
        assert!(e.message.contains(message), "{e}");
    }
}

#[test]
fn files_that_are_no_scenes() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("x.toml");
    let load = || Scene::load(&SceneSource::File(file.clone()), &[]);
    assert!(load().expect_err("missing").message.contains("cannot be read"));
    std::fs::write(&file, [0u8, 255, 254, 7, 0, 200]).expect("writable");
    assert!(load().expect_err("garbage").message.contains("UTF-8"));
    std::fs::write(&file, [0u8, 1, 2, 3]).expect("writable");
    assert!(load().expect_err("garbage").message.contains("TOML syntax"));
    assert!(Scene::load(&SceneSource::File(dir.path().to_owned()), &[]).is_err(), "a directory");
    assert!(Scene::load(&SceneSource::new("bead_stak"), &[]).expect_err("").cure.contains("did you mean `bead_stack`"));
    let big = std::fs::File::create(&file).and_then(|f| f.set_len(1 << 32));
    big.expect("writable");
    assert!(load().expect_err("4 GiB").message.contains("too many"));
}

#[test]
fn absurd_nesting_is_an_error_and_not_a_stack_overflow() {
    let deep = 200_000;
    let shape = "{ kind = \"compound\", parts = [{ shape = ".repeat(38) + "1" + &" }] }".repeat(38);
    let texts = [
        format!("a = {}", "[".repeat(deep)),
        format!("a = {}1{}", "[".repeat(deep), "]".repeat(deep)),
        format!("a = {}", "{ a = ".repeat(deep)),
        format!("{}b = 1", "a.".repeat(deep)),
        format!("[{}b]\nc = 1", "a.".repeat(deep)),
        format!("[[{}b]]", "a.".repeat(deep)),
        format!("{TIME}[[bodies]]\nshape = {shape}"),
        format!("{TIME}{} = 1", "k".repeat(1_000_000)),
        format!("{TIME}a = \"{}\"", "é".repeat(1_000_000)),
    ];
    for text in texts {
        let e = read(&text).expect_err("absurd");
        assert!(e.to_string().len() < 2000, "{}", &e.to_string()[..200]);
    }
}

#[test]
fn cut_and_twisted_scenes_never_panic() {
    // every prefix of a scene, and every scene with one character exchanged, either reads or is refused
    let text = include_str!("../../../assets/scenes/block_dam.toml");
    for end in 0..text.len() {
        let _ = read(&text[..end]);
    }
    for (i, _) in text.char_indices() {
        for twist in ["[", "-", "\"", "9", "e", "\n", "é"] {
            let _ = read(&format!("{}{twist}{}", &text[..i], &text[i + 1..]));
        }
    }
}

#[test]
fn an_output_section_names_what_files_hold() {
    use super::output::EndTable;
    use crate::io::vtk::{BodyArray, Precision};
    let scene =
        with("[output]\nprecision = \"double\"\nbodies = [\"id\", \"speed\"]\ncontacts = []\nbranches = true\ntables = [\"bodies_end\"]\n");
    let (frames, tables) = (&scene.output.frames, &scene.output.tables);
    assert_eq!((frames.precision, frames.branches, frames.contacts.len()), (Precision::Double, true, 0));
    assert_eq!((&frames.bodies[..], &tables[..]), (&[BodyArray::Id, BodyArray::Speed][..], &[EndTable::BodiesEnd][..]));
    assert_eq!(read(&scene.to_toml()).unwrap(), scene);
    assert_eq!(with("[output]\nbodies = \"all\"\n").output.frames.bodies.len(), BodyArray::ALL.len());
    for (text, word) in [
        ("bodies = [\"sped\"]", "`speed`"),
        ("bodies = [\"id\", \"id\"]", "second time"),
        ("precision = \"half\"", "single"),
        ("bodies = [\"all\"]", "write bodies = \"all\", without brackets"),
        ("tables = [\"bodies_end\", \"all\"]", "write tables = \"all\""),
    ] {
        let error = read(&format!("{TIME}{BALL}[output]\n{text}\n")).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn things_of_one_name_are_told_apart_by_the_quantity() {
    let hinge =
        "position = [0, 0, 1]\n[[joints]]\nname = \"ball\"\nkind = \"revolute\"\nbody1 = \"ball\"\nanchor = [0, 0, 2]\naxis = [0, 1, 0]\n";
    let record = |signals: &str| format!("{TIME}{BALL}{hinge}[[record]]\nsignals = [{signals}]\n");
    let scene = read(&record("\"ball.wz\", \"ball.coordinate\"")).unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(scene.records[0].signals[..], [Recordable::Body(0, _), Recordable::Joint(0, _)]), "{:?}", scene.records);
    let both = read(&record("\"ball.speed\"")).unwrap_err().to_string();
    assert!(both.contains("the name of a body and of a joint") && both.contains("a name of its own"), "{both}");
    let none = read(&record("\"ball.height\"")).unwrap_err().to_string();
    assert!(none.contains("no quantity \"height\" of the joint \"ball\""), "{none}");
}
