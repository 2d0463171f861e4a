//! Faults are found, and nothing else is.

mod joints;

use super::*;
use glam::DVec3;

fn faults(text: &str) -> Vec<Finding> {
    let scene = Scene::from_toml(&format!("[time]\nstep = 1e-3\nend = 1.0\n{text}"), "t").unwrap_or_else(|e| panic!("{e}"));
    check(&scene).into_iter().filter(|f| f.severity == Severity::Fault).collect()
}

const FLOOR: &str = "[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\n";
const TETRAHEDRON: &str = "vertices = [[0,0,1],[1,0,1],[0,1,1],[0,0,2]]";

#[test]
fn built_in_scenes_have_no_faults() {
    for scene in crate::io::scene::builtin::all() {
        let scene = Scene::load(&crate::io::scene::SceneSource::new(scene.name), &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(check(&scene), [], "{}", scene.name);
    }
}

#[test]
fn bodies_that_share_an_interaction_do_not_overlap() {
    let two = [block("s", "[0.2, 0.2, 0.2]", "[0, 0, 0.1]"), block("t", "[0.2, 0.2, 0.2]", "[0.1, 0, 0.1]")].concat();
    assert!(faults(&format!("{FLOOR}{two}"))[0].message.contains("overlaps"));
    let tie = |keys: &str| format!("{FLOOR}{two}[[interactions]]\nbody1 = \"s\"\nbody2 = \"t\"\n{keys}\nlaw = \"impact\"\n");
    assert_eq!(faults(&tie("relation = \"displacement\"\nanchor = [0, 0, 0]\naxis = [1, 0, 0]\nat_least = -10")), []);
    // these two still touch
    let linear = tie("relation = \"linear\"\nfactor1 = [1, 0, 0]\nfactor2 = [1, 0, 0]\nat_least = -10");
    assert!(faults(&linear)[0].message.contains("overlaps"));
}

#[test]
fn each_fault_names_the_body_and_the_cure() {
    let ball = |rest: &str| format!("{FLOOR}[[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\n{rest}\n");
    let closed = "triangles = [[0,2,1],[0,1,3],[1,2,3],[2,0,3]]";
    let inverted = "triangles = [[0,1,2],[0,3,1],[1,3,2],[2,3,0]]";
    let mesh = |triangles: &str| format!("{FLOOR}[[bodies]]\nname = \"rock\"\nshape = {{ kind = \"mesh\", {TETRAHEDRON}, {triangles} }}\n");
    let two = "position = [0, 0, 0.1]\n[[bodies]]\nname = \"anvil\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.3]\nmass = 1e8";
    let cases = [
        (ball("position = [0, 0, 0.05]"), "ball", "overlaps floor by 0.05 m", "move it by [0.000000, 0.000000, 0.050000] m"),
        (ball("position = [0, 0, 0.1]\n[[materials]]\nname = \"stone\"\ndensity = 2.4"), "ball", "density of 2.4 kg/m3", "\"2.4 t/m3\""),
        (ball("position = [0, 0, 0.1]\nvelocity = [200, 0, 0]"), "ball", "moves 2.000e-1 m a step", "at most 5.0e-4 s instead"),
        (
            ball("position = [0, 0, 0.1]\nangular_velocity = [1000, 0, 0]\ninertia = [0.1, 0.2, 0.2]"),
            "ball",
            "turns 1.000 rad",
            "at most 5.0e-4 s",
        ),
        (ball(two), "ball", "touches anvil", "below 1e6"),
        (
            ball("position = [0, 0, 0.1]\n[contact]\nadhesion = 5000")
                .replace("kind = \"ball\", radius = 0.1", "kind = \"cuboid\", size = [0.2, 0.2, 0.2]"),
            "ball",
            "an attraction of 5000 N",
            "at most 8.0e-4 s",
        ),
        (
            ball("position = [0, 0, 9]").replace("radius = 0.1", "radius = 2000").replace("0, 0, 9", "0, 0, 2000"),
            "ball",
            "4.000e3 m large",
            "scale = 0.001",
        ),
        (ball("position = [0, 0, 1]").replace(FLOOR, ""), "ball", "nothing is below it", "half_space"),
        (mesh(inverted), "rock", "not positive", "reverse"),
        (mesh(&closed.replace(",[2,0,3]", "")), "rock", "do not belong to exactly two", "close the surface"),
    ];
    for (text, body, message, cure) in cases {
        let found = faults(&text);
        assert_eq!(found.len(), 1, "{message}: {found:?}");
        assert_eq!(found[0].body.as_deref(), Some(body));
        assert!(found[0].message.contains(message) && found[0].cure.contains(cure), "{}", found[0]);
    }
    assert_eq!(faults(&mesh(closed)), []);
    assert_eq!(faults(&ball("position = [0, 0, 0.1]")), [], "touching is no overlap");
}

#[test]
fn gravity_in_centimetres_is_a_fault_of_the_scene() {
    let scene = format!("gravity = [0, 0, -981]\n[time]\nstep = 1e-4\nend = 1.0\n{FLOOR}");
    let found = check(&Scene::from_toml(&scene, "t").unwrap_or_else(|e| panic!("{e}")));
    assert!(found[0].body.is_none() && found[0].cure.contains("-9.81"));
}

#[test]
fn terrain_that_looks_down_is_a_fault() {
    let sheet = |t: &str| {
        format!(
            "[[bodies]]\nname = \"sheet\"\nmotion = \"static\"\nshape = {{ kind = \"mesh\", vertices = [[0,0,0],[1,0,0],[0,1,0]], triangles = [{t}] }}\n"
        )
    };
    assert_eq!(faults(&sheet("[0, 1, 2]")), []);
    assert!(faults(&sheet("[0, 2, 1]"))[0].message.contains("fall through"));
}

fn all(text: &str) -> Vec<Finding> {
    check(&Scene::from_toml(&format!("[time]\nstep = 1e-3\nend = 1.0\n{text}"), "t").unwrap_or_else(|e| panic!("{e}")))
}

/// The only finding, with its severity; message and cure must hold these words.
fn only(text: &str, severity: Severity, body: Option<&str>, message: &str, cure: &str) {
    let found = all(text);
    assert_eq!(found.len(), 1, "{message}: {found:?}");
    assert_eq!((found[0].severity, found[0].body.as_deref()), (severity, body), "{}", found[0]);
    assert!(found[0].message.contains(message) && found[0].cure.contains(cure), "{}", found[0]);
}

fn block(name: &str, size: &str, position: &str) -> String {
    format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"cuboid\", size = {size} }}\nposition = {position}\n")
}

fn mesh(name: &str, motion: &str, vertices: &[DVec3], triangles: &[[u32; 3]], position: &str) -> String {
    let v: Vec<String> = vertices.iter().map(|v| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)).collect();
    let (v, t) = (v.join(", "), format!("{triangles:?}"));
    format!(
        "[[bodies]]\nname = \"{name}\"\nmotion = {motion}\nposition = {position}\nshape = {{ kind = \"mesh\", vertices = [{v}], triangles = {t} }}\n"
    )
}

#[test]
fn blocks_in_the_air_are_hints_and_falling_things_are_not() {
    let stand = format!("{FLOOR}{}", block("s1", "[0.4, 0.2, 0.2]", "[0, 0, 0.1]"));
    only(
        &format!("{stand}{}", block("s2", "[0.4, 0.2, 0.2]", "[0, 0, 0.8]")),
        Severity::Hint,
        Some("s2"),
        "in the air",
        "onto what is below",
    );
    for gap in ["0.1002", "0.102", "0.109"] {
        let text = format!("{FLOOR}{}", block("s", "[0.4, 0.2, 0.2]", &format!("[0, 0, {gap}]")));
        only(&text, Severity::Hint, Some("s"), "above floor", "move it by [0.000000, 0.000000, -0.00");
    }
    // gravity along x, and a wall to fall on
    let wall = "[[bodies]]\nname = \"wall\"\nmotion = \"static\"\nshape = { kind = \"half_space\", normal = [-1, 0, 0] }\n";
    let stone = block("s", "[0.2, 0.2, 0.2]", "[-0.101, 0, 0]");
    let text = format!("gravity = [9.81, 0, 0]\n[time]\nstep = 1e-3\nend = 1.0\n{wall}{stone}");
    let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
    assert!(check(&scene)[0].cure.contains("[0.001000, 0.000000, 0.000000]"), "{:?}", check(&scene));

    assert_eq!(all(&stand), []);
    assert_eq!(all(&format!("{stand}{}", block("s2", "[0.2, 0.2, 0.2]", "[0, 0, 0.3]"))), [], "one on the other");
    assert_eq!(all(&format!("{FLOOR}{}", block("s", "[0.2, 0.2, 0.2]", "[0, 0, 0.8]"))), [], "a block that is dropped");
    let thrown = format!("{stand}{}velocity = [3, 0, 0]\n", block("s2", "[0.2, 0.2, 0.2]", "[-2, 0, 0.8]"));
    assert_eq!(all(&thrown), [], "a block that is thrown");
    let plank = format!("{FLOOR}{}", block("plank", "[2, 0.2, 0.05]", "[0, 0, 0.025]"));
    assert_eq!(all(&format!("{plank}{}", block("weight", "[0.2, 0.2, 0.2]", "[0.5, 0, 1]"))), [], "a weight that is dropped on a plank");
    let ball = "[[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.9]\n";
    assert_eq!(all(&format!("{stand}{ball}")), [], "a ball that is dropped on a block");
    let tilted = format!("{stand}{}rotation = {{ axis = [0, 1, 0], angle = 0.3 }}\n", block("s2", "[0.2, 0.2, 0.2]", "[3, 0, 0.128]"));
    assert!(all(&tilted).iter().all(|f| f.severity == Severity::Hint));
}

#[test]
fn a_stone_of_an_imported_model_in_the_air_is_a_hint_though_no_two_stones_are_alike() {
    let stone = |name: &str, size: f64, z: f64| {
        let points: Vec<String> = (0..8).map(|k| format!("[{}, {}, {}]", f64::from(k / 4) * size, k / 2 % 2, k % 2)).collect();
        format!("[[bodies]]\nname = \"{name}\"\nposition = [0, 0, {z}]\nshape = {{ kind = \"hull\", points = [{}] }}\n", points.join(", "))
    };
    let both = |z: f64| format!("{FLOOR}{}{}", stone("s1", 1.1, 0.0), stone("s2", 1.0, z));
    only(&both(1.4), Severity::Hint, Some("s2"), "in the air", "onto what is below");
    assert_eq!(all(&both(1.0)), [], "one on the other");
    assert_eq!(all(&format!("{FLOOR}{}{}", stone("slab", 4.0, 0.0), stone("s2", 1.0, 1.4))), [], "one that is dropped on a slab");
}

#[test]
fn water_below_or_above_its_dam_is_a_hint() {
    let dam = |level: &str| format!("{FLOOR}{}[[water]]\nbodies = [\"dam\"]\nlevel = {level}\n", block("dam", "[3, 1, 4]", "[0, 0, 2]"));
    only(&dam("-0.5"), Severity::Hint, None, "no higher than -0.5 m", "height z");
    only(&dam("[[0, 1], [10, 4.5]]"), Severity::Hint, None, "up to 0.5 m above", "flows over");
    assert_eq!(all(&dam("\"top\"")), []);
}

#[test]
fn other_units_and_gravity_upwards_are_named() {
    let stone = block("s", "[0.4, 0.2, 0.2]", "[0, 0, 0.1]");
    only(&format!("{FLOOR}{}", block("s", "[400, 200, 200]", "[0, 0, 100]")), Severity::Hint, Some("s"), "4.899e2 m large", "in mm");
    only(&format!("{FLOOR}{stone}[base]\nacceleration = [981, 0, 0]\n"), Severity::Fault, None, "100.000 g", "m/s2");
    assert_eq!(all(&format!("{FLOOR}{stone}[base]\nacceleration = [3, 0, 0]\n")), []);
    let turned = |g: &str| {
        let text = format!("gravity = {g}\n[time]\nstep = 1e-3\nend = 1.0\n{FLOOR}{stone}");
        check(&Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}")))
    };
    let found = turned("[0, 0, 9.81]");
    assert!(found.len() == 1 && found[0].body.is_none() && found[0].cure.contains("gravity = [0, 0, -9.81]"), "{found:?}");
    assert_eq!(turned("[0, 0, -9.81]"), []);
}

#[test]
fn a_chain_that_hangs_from_a_hook_falls_nowhere() {
    let bar = |x: f64, z: f64, size: &str| format!("{{ shape = {{ kind = \"cuboid\", size = {size} }}, position = [{x}, 0, {z}] }}");
    let sides = [bar(-0.09, 0.0, "[0.02, 0.02, 0.2]"), bar(0.09, 0.0, "[0.02, 0.02, 0.2]")];
    let ends = [bar(0.0, -0.09, "[0.16, 0.02, 0.02]"), bar(0.0, 0.09, "[0.16, 0.02, 0.02]")];
    let link = |name: &str, z: f64, rest: &str| {
        let parts = [&sides[..], &ends[..]].concat().join(", ");
        format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"compound\", parts = [{parts}] }}\nposition = [0, 0, {z}]\n{rest}\n")
    };
    let across = "rotation = { axis = [0, 0, 1], angle = \"90 deg\" }";
    let hangs = [link("hook", 0.0, "motion = \"static\""), link("first", -0.16, across), link("second", -0.32, "")].concat();
    assert_eq!(all(&hangs), []);
    let apart = link("hook", 0.0, "motion = \"static\"") + &link("first", -0.26, across);
    only(&apart, Severity::Fault, None, "takes every body away", "turn it round");
}

#[test]
fn masses_far_apart_are_hints_where_the_heavy_one_lies_above() {
    let light = format!("{FLOOR}{}mass = 1\n", block("light", "[0.2, 0.2, 0.2]", "[0, 0, 0.1]"));
    let on = |mass: &str| format!("{light}{}mass = {mass}\n", block("heavy", "[0.2, 0.2, 0.2]", "[0, 0, 0.3]"));
    only(&on("1e6"), Severity::Fault, Some("light"), "touches heavy", "below 1e6");
    only(&on("1e4"), Severity::Hint, Some("light"), "touches heavy", "tight tolerance");
    assert_eq!(all(&on("1e3")), []);
    assert_eq!(all(&on("1e-5")), [], "a pebble on a rock");
}

const L: [[f64; 2]; 6] = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];

/// An L of 0.1 m thickness as a closed mesh.
fn corner() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let vertices = [0.0, 0.1].iter().flat_map(|&z| L.map(|[x, y]| DVec3::new(0.1 * x, 0.1 * y, z))).collect();
    let top = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
    let mut triangles: Vec<[u32; 3]> = top.iter().flat_map(|&[a, b, c]| [[a, c, b], [a + 6, b + 6, c + 6]]).collect();
    triangles.extend((0..6).flat_map(|i| [[i, (i + 1) % 6, (i + 1) % 6 + 6], [i, (i + 1) % 6 + 6, i + 6]]));
    (vertices, triangles)
}

#[test]
fn what_is_squeezed_from_both_sides_is_not_told_to_move_into_one_of_them() {
    let wall = |name: &str, x: f64, n: f64| {
        let shape = format!("shape = {{ kind = \"half_space\", normal = [{n}, 0, 0] }}");
        format!("[[bodies]]\nname = \"{name}\"\nmotion = \"static\"\n{shape}\nposition = [{x}, 0, 0]\n")
    };
    let ball = "[[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\n";
    let found = faults(&format!("{FLOOR}{ball}{}{}", wall("left", -0.09, 1.0), wall("right", 0.095, -1.0)));
    assert!(found.len() == 2 && found.iter().all(|f| f.cure.contains("too large for the room")), "{found:?}");
    // one wall alone, or two at right angles: there is a way out
    let found = faults(&format!("{FLOOR}{ball}{}", wall("left", -0.09, 1.0)).replace("0, 0, 0.1]", "0, 0, 0.09]"));
    assert!(found.len() == 2 && found.iter().all(|f| f.cure.contains("move it by")), "{found:?}");
}

#[test]
fn moving_meshes_overlap_like_other_bodies() {
    let (v, t) = corner();
    let two = |x: f64| {
        let second = mesh("b", "\"dynamic\"", &v, &t, &format!("[{x}, 0, 0]"));
        format!("{FLOOR}{}{second}", mesh("a", "\"dynamic\"", &v, &t, "[0, 0, 0]"))
    };
    let found = faults(&two(0.15));
    assert!(found.len() == 1 && found[0].body.as_deref() == Some("b") && found[0].message.contains("overlaps a by 0.05"), "{found:?}");
    assert_eq!(faults(&two(0.2)), [], "side by side");
    // one in the notch of the other
    let notch = mesh("b", "\"dynamic\"", &v, &t, "[0.3, 0.3, 0]")
        .replace("shape =", "rotation = { axis = [0, 0, 1], angle = \"180 deg\" }\nshape =");
    assert_eq!(faults(&format!("{FLOOR}{}{notch}", mesh("a", "\"dynamic\"", &v, &t, "[0, 0, 0]"))), []);
}

#[test]
fn a_triangle_turned_over_is_named_and_its_mesh_not_called_open() {
    let (v, t) = corner();
    for motion in ["\"dynamic\"", "\"static\""] {
        assert_eq!(faults(&format!("{FLOOR}{}", mesh("rock", motion, &v, &t, "[0, 0, 0]"))), [], "{motion}");
        for k in [0, 7, 19] {
            let mut turned = t.clone();
            turned[k].swap(0, 1);
            let text = format!("{FLOOR}{}", mesh("rock", motion, &v, &turned, "[0, 0, 0]"));
            only(&text, Severity::Fault, Some("rock"), &format!("triangle {k} of 20"), "the vertices of this triangle");
        }
    }
}

/// A drum about the y axis, 2 m wide, whose triangles look inwards; with or without lids.
fn drum(lids: bool) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let n = 24;
    let ring =
        |y: f64| (0..n).map(move |k| std::f64::consts::TAU * f64::from(k) / f64::from(n)).map(move |a| DVec3::new(a.cos(), y, a.sin()));
    let mut vertices: Vec<DVec3> = ring(-0.5).chain(ring(0.5)).collect();
    let mut triangles = Vec::new();
    for k in 0..n {
        let (a, b) = (k, (k + 1) % n);
        triangles.extend([[a, b, a + n], [b, b + n, a + n]]);
        if lids {
            triangles.extend([[2 * n, b, a], [2 * n + 1, a + n, b + n]]);
        }
    }
    if lids {
        vertices.extend([DVec3::Y * -0.5, DVec3::Y * 0.5]);
    }
    // towards the axis
    let [a, b, c] = triangles[0].map(|i: u32| vertices[i as usize]);
    assert!((b - a).cross(c - a).dot(a.with_y(0.0)) < 0.0);
    (vertices, triangles)
}

#[test]
fn a_drum_looks_at_the_bodies_inside_it() {
    let spin = "{ kind = \"constant\", angular_velocity = [0, 1, 0] }";
    let balls: String = [[0.0, -0.7], [0.5, -0.5], [0.0, 0.0], [-0.4, 0.3]]
        .iter()
        .enumerate()
        .map(|(k, [x, z])| format!("[[bodies]]\nname = \"b{k}\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [{x}, 0, {z}]\n"))
        .collect();
    for motion in ["\"static\"", spin] {
        for lids in [true, false] {
            let (v, mut t) = drum(lids);
            assert_eq!(all(&format!("{}{balls}", mesh("drum", motion, &v, &t, "[0, 0, 0]"))), [], "lids {lids}, {motion}");
            t.iter_mut().for_each(|t| t.swap(0, 1));
            let found = faults(&format!("{}{balls}", mesh("drum", motion, &v, &t, "[0, 0, 0]")));
            let named = found.iter().find(|f| f.body.as_deref() == Some("drum"));
            assert!(named.is_some_and(|f| f.message.contains("look away") && f.cure.contains("reverse")), "lids {lids}: {found:?}");
            // with lids it is a solid that the balls are in
            let solid = named.is_some_and(|f| f.message.contains("solid of 2.000 x 1.000 x 2.000 m") && f.cure.contains("scale"));
            assert_eq!(solid, lids, "{found:?}");
        }
    }
    // the same drum turned outwards is a solid that a ball lies on
    let (v, mut t) = drum(true);
    let on = "[[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 1.1]\n";
    assert!(faults(&format!("{}{on}", mesh("drum", "\"static\"", &v, &t, "[0, 0, 0]"))).iter().any(|f| f.cure.contains("reverse")));
    t.iter_mut().for_each(|t| t.swap(0, 1));
    assert_eq!(faults(&format!("{}{on}", mesh("drum", "\"static\"", &v, &t, "[0, 0, 0]"))), []);
}

#[test]
fn a_run_of_hardly_any_steps_is_said() {
    let run = |step: f64, end: f64| {
        let text = format!("[time]\nstep = {step:?}\nend = {end:?}\n{FLOOR}");
        check(&Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}")))
    };
    assert!(run(1.0, 0.2)[0].message.contains("before its first step of 1 s"));
    assert!(run(0.1, 0.2)[0].message.contains("has 2 steps"));
    assert_eq!(run(0.01, 0.2), []);
}

#[test]
fn a_body_in_another_unit_than_the_others_is_a_hint() {
    let row: String = (0..4).map(|k| block(&format!("s{k}"), "[0.4, 0.2, 0.2]", &format!("[{}, 0, 0.1]", 0.5 * f64::from(k)))).collect();
    let odd = block("odd", "[40, 20, 20]", "[50, 0, 10]");
    only(&format!("{FLOOR}{row}{odd}"), Severity::Hint, Some("odd"), "100 times as large as 4 bodies", "\"… cm\"");
    let small = block("odd", "[0.0004, 0.0002, 0.0002]", "[5, 0, 0.0001]");
    let small = format!("[time]\nstep = 1e-4\nend = 1.0\n{FLOOR}{row}{small}");
    let found = check(&Scene::from_toml(&small, "t").unwrap_or_else(|e| panic!("{e}")));
    assert!(found.len() == 1 && found[0].cure.contains("if the others are in mm"), "{found:?}");
    assert_eq!(all(&format!("{FLOOR}{row}{}", block("large", "[4.4, 2, 2]", "[50, 0, 1]"))), [], "of another form");
}

#[test]
fn a_small_overlap_has_a_cure_that_moves_the_body() {
    let ball = "[[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 1e-3 }\nposition = [0, 0, 0.99999e-3]\n";
    let text = format!("[time]\nstep = 1e-4\nend = 1.0\n{FLOOR}{ball}");
    let found = check(&Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}")));
    assert!(found[0].cure.contains("1.000e-8]"), "{found:?}");
}

#[test]
fn what_appears_in_something_that_stands_or_appears_with_it_is_told() {
    let ball = |name: &str, x: f64, z: f64, birth: f64| {
        format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [{x}, 0, {z}]\nbirth = {birth}\n")
    };
    let found = |bodies: &[String]| faults(&format!("{FLOOR}{}", bodies.concat())).iter().map(ToString::to_string).collect::<Vec<_>>();
    let sunk = found(&[ball("late", 0.0, 0.05, 0.3)]);
    assert!(sunk.len() == 1 && sunk[0].starts_with("fault: late: overlaps floor by 0.05 m as it appears at 0.3 s"), "{sunk:?}");
    assert_eq!(found(&[ball("one", 0.0, 0.5, 0.3), ball("other", 0.1, 0.5, 0.3)]).len(), 1);
    // what was there before may have fallen by then
    assert_eq!(found(&[ball("one", 0.0, 0.5, 0.2), ball("other", 0.1, 0.5, 0.3)]), Vec::<String>::new());
    let wall = "[[bodies]]\nname = \"wall\"\nmotion = \"static\"\nshape = { kind = \"cuboid\", size = [0.2, 1, 1] }\nposition = [0, 0, 0.5]\ndeath = 0.25\n";
    assert_eq!(found(&[wall.to_owned(), ball("late", 0.0, 0.5, 0.2)]).len(), 1);
    assert_eq!(found(&[wall.to_owned(), ball("late", 0.0, 0.5, 0.3)]), Vec::<String>::new());
}

#[test]
fn a_servo_wall_without_grains_is_named() {
    let lid = "[[bodies]]\nname = \"lid\"\nshape = { kind = \"cuboid\", size = [1, 1, 0.1] }\nposition = [0, 0, 1]\nservo = { axis = \"z\", force = -5 }\n";
    let found = faults(&format!("{FLOOR}{lid}"));
    assert!(found.len() == 1 && found[0].to_string().contains("lid: its servo has nothing to press"), "{found:?}");
    let grains = "[[generate.lattice]]\ncount = [3, 3, 1]\nradius = 0.05\nground = false\nwalls = false\n";
    assert_eq!(faults(&format!("{FLOOR}{lid}{grains}")), []);
    let inlet = "[[inlet]]\nbox = [[-0.4, -0.4, 0.2], [0.4, 0.4, 0.6]]\nrate = 1\ncount = 9\nradius = 0.05\n";
    assert_eq!(faults(&format!("{FLOOR}{lid}{inlet}")), []);
    // beside the grains, and pulled away from them
    for wall in [lid.replace("[0, 0, 1]", "[3, 0, 1]"), lid.replace("-5", "5")] {
        for what in [grains, inlet] {
            let found = faults(&format!("{FLOOR}{wall}{what}"));
            assert!(found.len() == 1 && found[0].message.contains("no body that moves lies before it along"), "{wall}{what}: {found:?}");
        }
    }
    // what flies or falls may come before it
    let thrown = "[[bodies]]\nname = \"shot\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\nvelocity = [3, 0, 0]\n";
    assert_eq!(faults(&format!("{FLOOR}{}{thrown}", lid.replace("[0, 0, 1]", "[3, 0, 1]"))), []);
    let side = "[[bodies]]\nname = \"side\"\nshape = { kind = \"cuboid\", size = [0.1, 1, 1] }\nposition = [-1, 0, 0.5]\nservo = { axis = \"x\", force = 5 }\n";
    assert_eq!(faults(&format!("{FLOOR}{side}{}", thrown.replace("0.1]", "5]").replace("velocity = [3, 0, 0]\n", ""))), []);
}

#[test]
fn a_cell_that_is_sheared_too_far_in_a_step_is_a_fault() {
    let cell = |rate: f64| {
        let text = format!(
            "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 1\n[periodic]\nx = [0, 1]\nz = [0, 1]\nshear = {{ rate = {rate} }}\n[[bodies]]\n\
             name = \"b\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [0.5, 0, 0.5]\n"
        );
        check(&Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}")))
    };
    assert_eq!((cell(30.0), cell(-30.0)), (vec![], vec![]));
    let found = cell(-60.0);
    assert!(found.len() == 1 && found[0].severity == Severity::Fault && found[0].message.contains("by 0.06 in a step"), "{found:?}");
    assert!(found[0].cure.contains("at most 5.0e-4 s instead of 1e-3 s"), "{found:?}");
}

#[test]
fn what_overlaps_through_the_faces_of_a_cell_is_told() {
    let faults = |cell: &str, second: &str| {
        let ball =
            |name: &str, at: &str| format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = {at}\n");
        let head = format!("gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 1\n[periodic]\n{cell}");
        let text = format!("{head}{}{}", ball("a", "[0.05, 0.05, 0.5]"), ball("b", second));
        check(&Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"))).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let both = "x = [0, 1]\ny = [0, 1]\n";
    let found = faults(both, "[0.9, 0.05, 0.5]");
    assert!(found.len() == 1 && found[0].starts_with("fault: b: overlaps a by 0.05 m at the start"), "{found:?}");
    // through an edge of the cell, some cells away, and with images that move
    assert_eq!(faults(both, "[-0.05, 0.95, 0.5]").len(), 1);
    assert_eq!(faults(both, "[7.9, -3.95, 0.5]").len(), 1);
    assert_eq!(faults(&format!("{both}shear = {{ rate = 1, across = \"y\" }}\n"), "[0.05, 0.9, 0.5]").len(), 1);
    assert_eq!((faults(both, "[0.84, 0.05, 0.5]"), faults("x = [0, 1]\n", "[0.05, 0.95, 0.5]")), (vec![], vec![]));
}

#[test]
fn boxes_of_measures_and_fields_far_from_everything_are_told() {
    let scene = |x: f64, z: f64| {
        let sides = format!("box = [[{x}, 0, {z}], [{}, 1, {}]]", x + 1.0, z + 1.0);
        let ball = "[[bodies]]\nname = \"b\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 50]\n";
        format!("{FLOOR}{ball}[[measure]]\nname = \"m\"\n{sides}\n[[field]]\nname = \"f\"\n{sides}\ncells = [1, 1, 1]\n")
    };
    assert_eq!(all(&scene(0.0, 0.0)), [], "the ball falls there");
    assert_eq!(all(&scene(0.5, 0.0)), [], "near by");
    let found = all(&scene(20.0, 0.0));
    assert!(
        found.len() == 2 && found.iter().all(|f| f.severity == Severity::Hint && f.message.contains("far from every body")),
        "{found:?}"
    );
    assert_eq!(all(&scene(0.0, 70.0)).len(), 2, "above all");
}

#[test]
fn boxes_of_measures_and_fields_behind_a_plane_are_told() {
    let scene = |turned: &str, low: [f64; 3], x: f64| {
        let [a, b, c] = low;
        let sides = format!("box = [[{a}, {b}, {c}], [{}, {}, {}]]", a + 0.1, b + 0.1, c + 0.1);
        let wall = format!(
            "[[bodies]]\nname = \"wall\"\nmotion = {turned}\nshape = {{ kind = \"half_space\", normal = [-1, 0, 0] }}\nposition = [1, 0, 0]\n"
        );
        let ball = format!("[[bodies]]\nname = \"b\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [{x}, 0, 0.5]\n");
        let text = format!(
            "{FLOOR}{wall}{ball}[[measure]]\nname = \"m\"\n{sides}\n[[field]]\nname = \"f\"\n{sides}\ncells = [2, 2, 2]\nwidth = 0.08\n"
        );
        all(&text).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let told = |found: &[String], what: &str, wall: &str| {
        found.iter().any(|f| f.starts_with(&format!("hint: {wall}: the box of the {what} lies wholly behind it")))
    };
    let found = scene("\"static\"", [0.0, 0.0, -0.12], 0.0);
    assert!(found.len() == 1 && told(&found, "measure m", "floor"), "the kernel of the field reaches above the floor: {found:?}");
    let found = scene("\"static\"", [1.1, 0.0, 0.1], 0.0);
    assert!(found.len() == 2 && told(&found, "measure m", "wall") && told(&found, "field f", "wall"), "{found:?}");
    assert_eq!(scene("\"static\"", [0.95, 0.0, -0.05], 0.0), Vec::<String>::new(), "a corner of it is free");
    let moving = "{ kind = \"constant\", velocity = [1, 0, 0] }";
    assert_eq!(scene(moving, [1.1, 0.0, 0.1], 0.0), Vec::<String>::new(), "the wall gives way");
    assert!(!told(&scene("\"static\"", [1.1, 0.0, 0.1], 1.4), "measure m", "wall"), "something begins there");
}

#[test]
fn a_scene_in_which_no_body_moves_by_itself_is_told() {
    let ball = |motion: &str| {
        let text = format!(
            "[time]\nstep = 1e-3\nend = 1.0\n{FLOOR}[[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\n\
             position = [0, 0, 0.1]\nmotion = {motion}\n"
        );
        let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
        check(&scene).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let found = ball("{ kind = \"constant\", velocity = [1, 0, 0] }");
    assert!(found.len() == 1 && found[0].contains("hint: scene: no body is dynamic"), "{found:?}");
    assert_eq!(ball("\"dynamic\""), [""; 0]);
}

#[test]
fn walls_in_the_box_of_an_inlet_and_outlets_that_take_the_scene_are_told() {
    let hints = |text: &str| {
        let scene = Scene::from_toml(&format!("[time]\nstep = 1e-3\nend = 1.0\n{text}"), "t").unwrap_or_else(|e| panic!("{e}"));
        check(&scene).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let hopper = "[[bodies]]\nname = \"bin\"\nmotion = \"static\"\nshape = { kind = \"wedge_hopper\", width = [0.2, 0.2], height = 0.4, slot = 0.04 }\n";
    let inlet = |wide: f64| {
        format!(
            "{hopper}[[inlet]]\nname = \"tap\"\nbox = [[-{wide}, -0.05, 0.1], [{wide}, 0.05, 0.3]]\nrate = 1\ncount = 9\nradius = 0.01\n"
        )
    };
    assert_eq!(hints(&inlet(0.09)), [""; 0]);
    assert_eq!(hints(&inlet(0.1)), [""; 0], "as wide as the bin");
    let found = hints(&format!("{}start = 1\n", inlet(0.09)));
    assert!(found.len() == 1 && found[0].contains("the inlet tap opens at 1 s, and the run ends at 1 s"), "{found:?}");
    let floor = |z: f64| {
        let half = "shape = { kind = \"half_space\" }\nmotion = \"static\"";
        hints(&format!("{}[[bodies]]\nname = \"floor\"\n{half}\nposition = [0, 0, {z}]\n", inlet(0.09)))
    };
    let found = floor(0.3);
    assert!(found.len() == 1 && found[0].contains("floor: the box of the inlet tap lies wholly behind it"), "{found:?}");
    assert_eq!(floor(0.2), [""; 0]);
    let head = "[time]\nstep = 1e-3\nend = 1.0\n";
    let error = |text: &str| Scene::from_toml(&format!("{head}{text}"), "t.toml").expect_err(text).to_string();
    assert!(
        error(&inlet(0.15)).contains("t.toml:10:7: inlet.0.box: found a box that reaches through the walls of \"bin\""),
        "{}",
        error(&inlet(0.15))
    );
    // a shell of triangles without a lid
    let corners = [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]];
    let vertices: Vec<DVec3> = [0.0, 0.4].iter().flat_map(|&z| corners.map(|[x, y]| DVec3::new(x, y, z))).collect();
    let sides = (0..4u32).flat_map(|k| [[k, k + 4, (k + 1) % 4], [(k + 1) % 4, k + 4, (k + 1) % 4 + 4]]);
    let triangles: Vec<[u32; 3]> = sides.chain([[0, 1, 2], [0, 2, 3]]).collect();
    let shell = mesh("shell", "\"static\"", &vertices, &triangles, "[0, 0, 0]");
    let tap = |wide: f64| inlet(wide).replace(hopper, &shell);
    assert_eq!(hints(&tap(0.09)), [""; 0]);
    assert!(error(&tap(0.15)).contains("the walls of \"shell\""), "{}", error(&tap(0.15)));
    // what stands in the box has grains around it
    let post = "[[bodies]]\nname = \"post\"\nmotion = \"static\"\nshape = { kind = \"cuboid\", size = [0.02, 0.02, 1] }\n";
    let found = hints(&inlet(0.09).replace(hopper, post));
    assert!(found.len() == 1 && found[0].contains("post: stands in the box of the inlet tap"), "{found:?}");
    let ball = format!("{FLOOR}[[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [0, 0, 0.1]\n");
    let outlet = |way: i32| format!("{ball}[[outlet]]\nname = \"out\"\nplane = {{ point = [0, 0, -1], normal = [0, 0, {way}] }}\n");
    assert_eq!(hints(&outlet(-1)), [""; 0]);
    assert!(hints(&outlet(1))[0].contains("the outlet \"out\" takes 1 of 1 moving bodies at the start"), "{:?}", hints(&outlet(1)));
    assert!(hints(&outlet(1))[0].contains("turn it round"));
    // what falls into an outlet does not fall for ever
    let falls = |taken: &str| hints(&format!("{}[[outlet]]\n{taken}\n", ball.replace(FLOOR, "")));
    let lost = |taken: &str| falls(taken).iter().any(|found| found.contains("fall for ever"));
    for taken in ["plane = { point = [0, 0, -1] }", "plane = { normal = [1, 0, -1] }", "box = [[-1, -1, -3], [1, \"inf\", -2]]"] {
        assert_eq!(falls(taken), [""; 0], "{taken}");
    }
    for taken in
        ["plane = { point = [-1, 0, 0], normal = [-1, 0, 0] }", "box = [[-1, -1, 2], [1, 1, 3]]", "box = [[1, -1, -3], [2, 1, -2]]"]
    {
        assert!(lost(taken), "{taken}");
    }
    // a body that stands beside the cell is looked at by its image in it
    let boxed = format!("[periodic]\nx = [0.5, 1.5]\n{ball}[[outlet]]\nbox = [[0.9, -1, 0], [1.1, 1, 1]]\n");
    assert!(hints(&boxed)[0].contains("takes 1 of 1") && hints(&boxed)[0].contains("make the box smaller"), "{:?}", hints(&boxed));
}

#[test]
fn plates_that_leave_a_periodic_cell_or_end_within_the_reach_of_corners_are_told() {
    let scene = |wide: f64, motion: &str, grain: &str| {
        format!(
            "[periodic]\nx = [0, 0.3]\n[[bodies]]\nname = \"floor\"\nshape = {{ kind = \"cuboid\", size = [{wide}, 1, 0.1] }}\n\
             position = [0.15, 0, -0.05]\nmotion = {motion}\n[[bodies]]\nname = \"grain\"\nshape = {grain}\nposition = [0.1, 0, 0.03]\n"
        )
    };
    let (ball, cube) = ("{ kind = \"ball\", radius = 0.03 }", "{ kind = \"cuboid\", size = [0.06, 0.06, 0.06] }");
    let moving = |x: f64| format!("{{ kind = \"constant\", velocity = [{x}, 0.1, 0] }}");
    let swinging = "{ kind = \"sinusoid\", velocity = [0.3, 0, 0], frequency = 1 }";
    assert_eq!(all(&scene(0.3, "\"static\"", ball)), [], "balls touch what lies beside their centre");
    assert_eq!(all(&scene(0.5, "\"static\"", cube)), []);
    assert_eq!(all(&scene(0.5, swinging, ball)), [], "0.095 m to and back");
    assert_eq!(all(&scene(0.5, &moving(0.04), ball)), []);
    only(&scene(0.4, &moving(1.0), ball), Severity::Fault, Some("floor"), "moves along x", "half_space");
    only(&scene(0.4, &moving(-0.08), ball), Severity::Fault, Some("floor"), "0.03 m of the cell are left", "half_space");
    only(&scene(0.45, swinging, ball), Severity::Fault, Some("floor"), "m of the cell are left without it", "half_space");
    only(&scene(0.3, "\"static\"", cube), Severity::Hint, Some("floor"), "reach up to 0.05", "beyond both faces");
    assert_eq!(all(&scene(0.2, "\"static\"", ball)), [], "no plate that leaves, but a body too long: refused where the scene is built");
    let plane = scene(0.4, &moving(1.0), ball).replace("{ kind = \"cuboid\", size = [0.4, 1, 0.1] }", "{ kind = \"half_space\" }");
    assert_eq!(all(&plane.replace("position = [0.15, 0, -0.05]\n", "")), []);
}

#[test]
fn a_segregation_of_grains_that_are_all_alike_is_told() {
    let scene = |radius: f64| {
        let ball =
            |k: usize| format!("[[bodies]]\nname = \"b{k}\"\nshape = {{ kind = \"ball\", radius = 0.{k} }}\nposition = [{k}, 0, 0.{k}]\n");
        format!("{FLOOR}{}{}[[measure]]\nname = \"cut\"\nsegregation = {{ radius = {radius} }}\n", ball(1), ball(2))
    };
    assert_eq!(all(&scene(0.15)), []);
    assert_eq!(all(&scene(0.2)), [], "a ball of this radius is large");
    only(&scene(0.1), Severity::Hint, None, "the radius 0.1 m, by which all grains are large", "between those");
    only(&scene(0.21), Severity::Hint, None, "all grains are small", "between those");
    // a cube has the radius of the ball of its volume, 0.62 of its edge
    let two = [block("low", "[0.1, 0.1, 0.1]", "[0, 0, 0.05]"), block("high", "[0.2, 0.2, 0.2]", "[1, 0, 0.1]")].concat();
    let cubes = |radius: f64| format!("{FLOOR}{two}[[measure]]\nname = \"cut\"\nsegregation = {{ radius = {radius} }}\n");
    assert_eq!(all(&cubes(0.123)), []);
    only(&cubes(0.125), Severity::Hint, None, "all grains are small", "between those");
    only(&cubes(0.062), Severity::Hint, None, "all grains are large", "between those");
    let round = |more: &str| format!("{}[periodic]\nx = [0, 4]\n", scene(0.15).replace("radius = 0.15", &format!("radius = 0.15, {more}")));
    assert_eq!(all(&round("axis = [0, 1, 1]")), []);
    only(&round("axis = [1, 0, 1]"), Severity::Hint, None, "along x, where the periodic cell has no first", "shorter than the cell");
    let part = round("axis = [1, 0, 0]").replace("name = \"cut\"", "name = \"cut\"\nbox = [[0.5, -1, 0], [3.5, 1, 1]]");
    assert_eq!(all(&part), []);
}

#[test]
fn what_is_round_may_turn_as_fast_as_it_likes() {
    let spin = |shape: &str, more: &str| {
        let body = format!("name = \"b\"\nshape = {shape}\nposition = [0, 0, 0.1]\nangular_velocity = [0, 0, 900]\n{more}");
        all(&format!("{FLOOR}[[bodies]]\n{body}"))
    };
    let (ball, cube) = ("{ kind = \"ball\", radius = 0.1 }", "{ kind = \"cuboid\", size = [0.2, 0.2, 0.2] }");
    assert_eq!(spin(ball, ""), []);
    let arm = "[[joints]]\nkind = \"revolute\"\nbody1 = \"b\"\nanchor = [0.3, 0, 0.1]\naxis = [0, 0, 1]\n";
    for found in [spin(cube, ""), spin(ball, "inertia = [0.01, 0.02, 0.02]\n"), spin(ball, arm)] {
        assert!(found.iter().any(|f| f.message.contains("it turns 0.900 rad a step")), "{found:?}");
    }
}

#[test]
fn what_flows_down_a_periodic_slope_is_not_lost() {
    // the bed lies across the slope alone: along it, and through the images, grains come back over it
    let scene = |gravity: &str, bed: &str| {
        let text = format!(
            "gravity = {gravity}\n[time]\nstep = 1e-3\nend = 1\n[periodic]\nx = [0, 1]\n{bed}[[bodies]]\nname = \"grain\"\n\
             shape = {{ kind = \"ball\", radius = 0.05 }}\nposition = [0.95, 0, 0.4]\n"
        );
        let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
        check(&scene).into_iter().filter(|f| f.severity == Severity::Fault).collect::<Vec<_>>()
    };
    let bed = "[[bodies]]\nname = \"bed\"\nmotion = \"static\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0.3, 0, 0]\n";
    assert_eq!(scene("[4.905, 0, -8.4957]", bed), []);
    // along a periodic axis alone nothing is lost
    assert_eq!(scene("[4.905, 0, 0]", bed), []);
    let aside = bed.replace("[0.3, 0, 0]", "[0.3, 3, 0]");
    assert!(scene("[4.905, 0, -8.4957]", &aside)[0].message.contains("nothing is below it"));
    assert!(scene("[0, 0, -9.81]", "")[0].message.contains("nothing is below it"));
}

#[test]
fn centres_and_moments_that_no_matter_within_a_body_has_are_told() {
    let cube = |keys: &str| format!("{FLOOR}{}mass = 10\n{keys}\n", block("b", "[0.2, 0.2, 0.2]", "[0, 0, 0.1]"));
    // 10 kg in a cube of 0.2 m have 0.067 kg m2
    for slip in ["667", "6.67e-7"] {
        let text = cube(&format!("inertia = [{slip}, {slip}, {slip}]"));
        only(&text, Severity::Hint, Some("b"), "its moments of inertia are those of 10 kg", "filled evenly it has 6.7e-2, 6.7e-2, 6.7e-2");
    }
    only(&cube("centre_of_mass = [0, 0.3, 0]"), Severity::Hint, Some("b"), "2.0e-1 m outside of it", "is in m");
    for keys in ["inertia = [0.2, 0.2, 0.2]", "inertia = [0.01, 0.01, 0.01]", "centre_of_mass = [0, 0.1, 0]"] {
        assert_eq!(all(&cube(keys)), [], "{keys}");
    }
}

#[test]
fn loads_far_from_their_body_and_supports_that_move_after_the_end_are_told() {
    let cube = format!("{FLOOR}{}", block("b", "[0.2, 0.2, 0.2]", "[5, 0, 0.1]"));
    let load = |at: &str| format!("{cube}[[load]]\nbodies = [\"b\"]\nforce = [1, 0, 0]\nat = {at}\n");
    only(&load("[0, 0, 0.1]"), Severity::Hint, Some("b"), "acts at a point 4.9 m away from it", "axes of the world");
    // on a face, and on a short arm
    for at in ["[5, 0, 0.2]", "[5, 0, 0.4]"] {
        assert_eq!(all(&load(at)), [], "{at}");
    }
    let ground = block("ground", "[1, 1, 1]", "[0, 0, -0.5]");
    let moved = |start: f64| {
        let stone = block("b", "[0.2, 0.2, 0.2]", "[0, 0, 0.1]");
        format!(
            "{ground}motion = \"static\"\n{stone}[[support]]\nbodies = [\"ground\"]\ndisplacement = [0, 0, \"-1 cm\"]\nstart = {start}\n"
        )
    };
    only(&moved(1.5), Severity::Hint, Some("ground"), "begins to move at 1.5 s, and the run ends at 1 s", "last longer");
    assert_eq!(all(&moved(0.5)), []);
}
