//! Faults are found, and nothing else is.

use super::*;

fn faults(text: &str) -> Vec<Finding> {
    let scene = Scene::from_toml(&format!("[time]\nstep = 1e-3\nend = 1.0\n{text}"), "t").unwrap_or_else(|e| panic!("{e}"));
    check(&scene).into_iter().filter(|f| f.severity == Severity::Fault).collect()
}

const FLOOR: &str = "[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\n";
const TETRAHEDRON: &str = "vertices = [[0,0,1],[1,0,1],[0,1,1],[0,0,2]]";

#[test]
fn built_in_scenes_have_no_faults() {
    for scene in crate::scenes::all() {
        let scene = Scene::load(&crate::io::scene::SceneSource::new(scene.name), &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(check(&scene), [], "{}", scene.name);
    }
}

#[test]
fn each_fault_names_the_body_and_the_cure() {
    let ball = |rest: &str| format!("{FLOOR}[[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\n{rest}\n");
    let closed = "triangles = [[0,2,1],[0,1,3],[1,2,3],[2,0,3]]";
    let inverted = "triangles = [[0,1,2],[0,3,1],[1,3,2],[2,3,0]]";
    let mesh =
        |triangles: &str| format!("{FLOOR}[[bodies]]\nname = \"rock\"\nshape = {{ kind = \"mesh\", {TETRAHEDRON}, {triangles} }}\n");
    let two = "position = [0, 0, 0.1]\n[[bodies]]\nname = \"anvil\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.3]\nmass = 1e8";
    let cases = [
        (ball("position = [0, 0, 0.05]"), "ball", "overlaps floor by 0.05 m", "move it by [0.000000, 0.000000, 0.050000] m"),
        (
            ball("position = [0, 0, 0.1]\n[[materials]]\nname = \"stone\"\ndensity = 2.4"),
            "ball",
            "density of 2.4 kg/m3",
            "\"2.4 t/m3\"",
        ),
        (ball("position = [0, 0, 0.1]\nvelocity = [200, 0, 0]"), "ball", "moves 2.000e-1 m a step", "at most 5.0e-4 s instead"),
        (ball("position = [0, 0, 0.1]\nangular_velocity = [1000, 0, 0]"), "ball", "turns 1.000 rad", "at most 5.0e-4 s"),
        (ball(two), "ball", "touches anvil", "below 1e6"),
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
