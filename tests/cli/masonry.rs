//! `drystone balance` and `drystone collapse`.

use super::{GOOD, json_of, output, text};
use serde_json::Value;

fn collapse(arguments: &[&str]) -> Value {
    json_of(&output(&[&["collapse"][..], arguments, &["--json"]].concat()), 0)
}

fn number(found: &Value, key: &str) -> f64 {
    found[key].as_f64().unwrap_or_else(|| panic!("{key} in {found}"))
}

fn kinds(found: &Value) -> Vec<&str> {
    found["mechanism"].as_array().unwrap().iter().map(|m| m["kind"].as_str().unwrap()).collect()
}

#[test]
fn an_arch_falls_below_its_least_thickness_by_hinges_at_the_crown_the_haunches_and_the_feet() {
    // limit analysis of 17 straight voussoirs: 0.1055
    let folder = tempfile::tempdir().unwrap();
    let drawing = folder.path().join("hinges.svg");
    let found = collapse(&["arch", "--vary", "thickness", "--between", "0.10", "0.12", "--picture", drawing.to_str().unwrap()]);
    let drawing = std::fs::read_to_string(drawing).unwrap();
    let numbered = |n: u32| drawing.lines().any(|line| line.trim() == n.to_string());
    assert!((1..=6).all(numbered) && !numbered(7), "{drawing}");
    let (lower, upper, statics) = (number(&found, "lower"), number(&found, "upper"), number(&found, "statics"));
    assert!(lower < upper && (upper - lower) / upper <= 1e-3 && found["stands"] == "above", "{lower} {upper}");
    assert!((0.5 * (lower + upper) / 0.1055 - 1.0).abs() < 1e-3 && (statics / 0.1055 - 1.0).abs() < 1e-3, "{lower} {upper} {statics}");
    assert_eq!(kinds(&found), ["hinge"; 6], "N is odd, so both joints beside the keystone open");
    assert!(found["same_at_half_step"] == true && found["same_at_tenth_tolerance"] == true);
    // any number of jobs gives the same
    let again = collapse(&["arch", "--vary", "thickness", "--between", "0.12", "0.10", "--jobs", "1"]);
    assert_eq!((&again["lower"], &again["upper"]), (&found["lower"], &found["upper"]));
}

#[test]
fn a_dam_slides_or_tips_as_by_hand() {
    // V14: base acceleration to slide μ − F/W, to overturn (W B/2 − F h/3)/(W H/2)
    let slides = collapse(&["block_dam", "--set", "water_level=5", "--vary", "acceleration", "--between", "0.2", "0.5", "--until", "3"]);
    assert!((number(&slides, "statics") / 0.31065 - 1.0).abs() < 1e-3 && (number(&slides, "lower") / 0.31065 - 1.0).abs() < 0.01);
    assert_eq!(kinds(&slides), ["slides"]);
    let set =
        ["block_dam", "--set", "width=2", "--set", "water_level=4", "--vary", "acceleration", "--between", "0.1", "0.4", "--until", "3"];
    let tips = collapse(&set);
    assert!((number(&tips, "statics") / 0.20988 - 1.0).abs() < 1e-3 && (number(&tips, "upper") / 0.20988 - 1.0).abs() < 0.01);
    assert_eq!(kinds(&tips)[0], "hinge");
}

#[test]
fn forces_of_a_block_are_those_of_its_weight_and_intervals_hold_them() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("block.toml");
    let block = "[time]\nstep = \"2 ms\"\nend = 0.02\n[contact]\nmu = 0.5\n[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\n\
                 motion = \"static\"\n[[bodies]]\nname = \"block\"\nshape = { kind = \"cuboid\", size = [1, 1, 2] }\nposition = [0, 0, 1]\n\
                 mass = 100\nforce = [400, 0, 0]\n";
    std::fs::write(&scene, block).unwrap();
    let path = scene.to_str().unwrap();
    let found = json_of(&output(&["balance", path, "--intervals", "--json"]), 0);
    assert_eq!((&found["admissible"], found["joints"].as_array().unwrap().len()), (&Value::Bool(true), 1));
    let joint = &found["joints"][0];
    assert!((number(joint, "normal_N") / 981.0 - 1.0).abs() < 1e-6 && (number(joint, "shear_N") / 400.0 - 1.0).abs() < 1e-6, "{joint}");
    // the push at 1 m moves the thrust by 400/981 m
    assert!((joint["point"][0].as_f64().unwrap().abs() - 400.0 / 981.0).abs() < 1e-6);
    assert!((number(joint, "normal_min_N") / 981.0 - 1.0).abs() < 1e-5 && (number(joint, "normal_max_N") / 981.0 - 1.0).abs() < 1e-5);
    let factor = collapse(&[path, "--vary", "load", "--between", "0.5", "2", "--until", "2"]);
    // it slides and tips at 490.5 N alike
    assert!((number(&factor, "statics") / 1.22625 - 1.0).abs() < 1e-3, "{factor}");
    let tilt = collapse(&[path, "--set", "bodies.1.force=[0,0,0]", "--vary", "tilt", "--between", "10", "40", "--until", "2"]);
    let limit = 0.5f64.atan().to_degrees();
    assert!((number(&tilt, "statics") / limit - 1.0).abs() < 1e-3 && (number(&tilt, "lower") / limit - 1.0).abs() < 0.01, "{tilt}");
    let pushed = json_of(&output(&["balance", path, "--set", "bodies.1.force=[500,0,0]", "--json"]), 0);
    assert_eq!((&pushed["admissible"], pushed["mechanism"].as_array().unwrap().len()), (&Value::Bool(false), 1));
}

#[test]
fn what_falls_freely_is_no_joint_that_crushes_and_forces_of_a_motion_are_told_to_be_such() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("bars.toml");
    let bar = |name: &str, mass: f64, at: &str| {
        format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"cuboid\", size = [0.2, 0.2, 1] }}\nmass = {mass}\nposition = {at}\n")
    };
    let write = |bodies: &str| {
        std::fs::write(&scene, format!("[time]\nstep = \"1 ms\"\nend = 0.05\n[contact]\nmu = 0.3\n{bodies}")).unwrap();
        scene.to_str().unwrap().to_owned()
    };
    // one upon the other, both in the air
    let path = write(&[bar("a", 1.0, "[0, 0, 5]"), bar("b", 3.0, "[0, 0, 6]")].concat());
    let found = json_of(&output(&["balance", &path, "--json"]), 0);
    assert_eq!((&found["admissible"], found["mechanism"].as_array().unwrap().len()), (&Value::Bool(false), 0), "{found}");
    let moving = found["moving"].as_array().unwrap();
    assert_eq!(moving.iter().map(|m| m["body"].as_str().unwrap()).collect::<Vec<_>>(), ["a", "b"]);
    let down = |k: usize| moving[k]["velocity"][2].as_f64().unwrap();
    assert!(down(0) < -0.5 && (down(0) - down(1)).abs() < 1e-6, "{found}");
    let said = text(&output(&["balance", &path]).stdout);
    assert!(said.contains("nothing holds these bodies") && !said.contains("crushes"), "{said}");
    let run = json_of(&output(&["balance", &path, "--run", "--json"]), 0);
    assert!(number(&run["joints"][0], "normal_N").abs() < 1e-9 && (number(&run, "acceleration_max") - 9.81).abs() < 1e-9, "{run}");
    assert!(
        text(&output(&["balance", &path, "--run"]).stdout).contains("in motion: centres of mass are accelerated by up to 9.810e0 m/s2")
    );
    // pushed upwards the lower one by 40 N with 4 kg: 10 m/s² less g; the upper one is carried by 3 kg · 10 m/s²
    let pushed = json_of(&output(&["balance", &path, "--run", "--json", "--set", "bodies.0.force=[0,0,40]"]), 0);
    assert!((number(&pushed["joints"][0], "normal_N") / 30.0 - 1.0).abs() < 1e-6, "{pushed}");
    assert!((number(&pushed, "acceleration_max") - 0.19).abs() < 1e-6, "{pushed}");
    // bodies that touch nothing have their names
    let hinge = "[[joints]]\nname = \"h\"\nkind = \"revolute\"\nbody1 = \"bar\"\nanchor = [0, 0, 5.5]\naxis = [0, 1, 0]\n";
    let path =
        write(&format!("{}rotation = {{ axis = [0, 1, 0], angle = \"30 deg\" }}\n{hinge}", bar("bar", 2.0, "[-0.25, 0, 5.0669873]")));
    let found = json_of(&output(&["balance", &path, "--json"]), 0);
    assert_eq!((&found["admissible"], found["moving"][0]["body"].as_str()), (&Value::Bool(false), Some("bar")), "{found}");
    assert!(found["moving"][0]["angular_velocity"][1].as_f64().unwrap().abs() > 0.5, "{found}");
}

#[test]
fn a_structure_that_moves_until_its_gaps_close_is_said_to_stand_beyond_statics_for_this_reason() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("wall.toml");
    // head joints of a millimetre, which close as the stones beside the window turn
    let wall = "time = { step = \"2 ms\", end = 1 }\ncontact = { mu = 0.86 }\nmaterials = [{ name = \"stone\", density = 2000 }]\n\
                [[generate.wall]]\ncolumns = 5\nrows = 4\nlength = 0.5\nwidth = 0.25\nheight = 0.25\n\
                openings = [{ at = 0.98, width = 0.67, height = 0.25, sill = 0.25 }]\n";
    std::fs::write(&scene, wall).unwrap();
    let said = |between: [&str; 2]| {
        let fixed = ["collapse", scene.to_str().unwrap(), "--vary", "acceleration", "--tol", "0.01", "--between"];
        text(&output(&[&fixed[..], &between].concat()).stdout)
    };
    let found = said(["0.6", "0.65"]);
    assert!(found.contains("moves by") && found.contains("comes to rest in another shape"), "{found}");
    let arch = text(&output(&["collapse", "arch", "--vary", "thickness", "--between", "0.09", "0.12", "--tol", "0.01"]).stdout);
    assert!(arch.contains("by statics") && !arch.contains("moves by"), "{arch}");
}

#[test]
fn what_cannot_be_varied_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("ball.toml");
    std::fs::write(&scene, GOOD).unwrap();
    let path = scene.to_str().unwrap();
    for (arguments, code, cure) in [
        (&["collapse", path, "--vary", "water", "--between", "1", "2"][..], 2, "no [[water]]"),
        (&["collapse", path, "--vary", "thickness", "--between", "1", "2"], 2, "no arch"),
        (&["collapse", path, "--vary", "load", "--between", "1", "2"], 2, "no body of the scene has a force"),
        (&["collapse", path, "--vary", "friction", "--between", "-1", "2"], 2, "not negative"),
        (&["collapse", path, "--vary", "friction", "--between", "1", "1"], 2, "the same"),
        (&["collapse", "arch", "--vary", "thickness", "--between", "0.11", "0.12"], 3, "stands at both"),
        (&["collapse", "arch", "--vary", "thicknes", "--between", "0.11", "0.12"], 3, "did you mean"),
        (&["collapse", "arch", "--vary", "thickness", "--between", "0.1", "0.12", "--picture", "x.jpg"], 2, ".svg"),
        (&["balance", "no.toml"], 3, "no.toml"),
    ] {
        let wrong = output(arguments);
        assert_eq!(wrong.status.code(), Some(code), "{arguments:?}: {}", text(&wrong.stderr));
        assert!(text(&wrong.stderr).contains(cure), "{arguments:?}: {}", text(&wrong.stderr));
    }
}

/// A pier of two blocks of this shape, 0.4 m square and 0.8 m high, with a load on the upper one.
fn pier(folder: &std::path::Path, shape: &str, load: &str) -> String {
    let block = |name: &str, z: f64| format!("[[bodies]]\nname = \"{name}\"\nshape = {shape}\nposition = [0, 0, {z}]\n");
    let scene = format!(
        "[time]\nstep = \"2 ms\"\nend = 2\n[contact]\nmu = 0.5\n[[materials]]\nname = \"stone\"\ndensity = 2000\n\
         [[bodies]]\nname = \"ground\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n{}{}[[load]]\nbodies = [\"upper\"]\n{load}\n",
        block("lower", 0.4),
        block("upper", 1.2)
    );
    let path = folder.join("pier.toml");
    std::fs::write(&path, scene).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_block_that_turns_where_it_stands_has_left_its_place() {
    // the corners bear a quarter each at 0.2 √2 m from the axis
    let closed = 0.5 * 2000.0 * 0.4 * 0.4 * 0.8 * 9.81 * 0.2 * 2f64.sqrt();
    let folder = tempfile::tempdir().unwrap();
    let scene = pier(folder.path(), "{ kind = \"cuboid\", size = [0.4, 0.4, 0.8] }", "torque = [0, 0, 1]");
    let found = collapse(&[&scene, "--vary", "load", "--between", "0", "1500"]);
    let (lower, upper) = (number(&found, "lower"), number(&found, "upper"));
    assert!((lower / closed - 1.0).abs() < 5e-3 && (upper / closed - 1.0).abs() < 5e-3, "{lower} {upper} {closed}");
    assert!((number(&found, "statics") / closed - 1.0).abs() < 1e-3, "{found}");
    // a quarter more turns it, at whatever instant the run ends
    let run = super::json(&[&scene, "--set", &format!("load.0.torque.2={}", 1.25 * closed)]);
    let verdict = &run["verdict"];
    assert!(verdict["outcome"] == "collapsed" && verdict["began_with"] == "upper", "{verdict}");
}

#[test]
fn blocks_that_are_meshes_fall_as_cuboids_do() {
    let folder = tempfile::tempdir().unwrap();
    let corner = |k: usize, bit: usize, size: f64| if k >> bit & 1 == 0 { -size } else { size };
    let vertices: Vec<_> = (0..8).map(|k| format!("[{}, {}, {}]", corner(k, 0, 0.2), corner(k, 1, 0.2), corner(k, 2, 0.4))).collect();
    let triangles = "[[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]]";
    let mesh = format!("{{ kind = \"mesh\", vertices = [{}], triangles = {triangles} }}", vertices.join(", "));
    let scene = pier(folder.path(), &mesh, "force = [1, 0, 0]\nat = [0, 0, 1.6]");
    let found = collapse(&[&scene, "--vary", "load", "--between", "0", "2000"]);
    let closed = 2000.0 * 0.4 * 0.4 * 0.8 * 9.81 * 0.2 / 0.8;
    let (lower, upper) = (number(&found, "lower"), number(&found, "upper"));
    assert!((lower / closed - 1.0).abs() < 2e-3 && (upper / closed - 1.0).abs() < 2e-3, "{lower} {upper} {closed}");
    let run = super::json(&[&scene, "--set", "load.0.force.0=800"]);
    assert_eq!(run["verdict"]["outcome"], "collapsed", "{}", run["verdict"]);
}
