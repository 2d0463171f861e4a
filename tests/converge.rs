//! `drystone converge` as scripts see it: what converges, what does not, and what it draws.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot read its output has failed")]

use serde_json::Value;
use std::process::{Command, Output};

fn converge(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drystone")).arg("converge").args(arguments).args(["--threads", "1"]).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = converge(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn file(name: &str) -> String {
    format!("{}/tests/probes/scenes/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_measure_of_another_name_is_proposed() {
    let output = converge(&["bouncing_ball", "--measure", "heightmean", "--until", "0.01"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && told.contains("did you mean `height_mean_m`?"), "{told}");
}

#[test]
fn a_body_in_free_fall_converges_with_order_one_to_the_parabola() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ball.toml");
    let text = "[time]\nstep = \"2 ms\"\nend = 0.1\n[[bodies]]\nname = \"a.ball\"\nshape = { kind = \"ball\", radius = 0.1 }\n\
                position = [0, 0, 1]\nvelocity = [3, 0, 0]\n";
    std::fs::write(&path, text).unwrap();
    let plot = dir.path().join("plots/ball.svg");
    let (scene, picture) = (path.to_str().unwrap(), plot.to_str().unwrap());
    let fall = json(&[scene, "--measure", "body.a.ball.z", "--halvings", "4", "--out", picture]);
    assert_eq!(fall["verdict"], "converging");
    let steps: Vec<f64> = fall["steps"].as_array().unwrap().iter().map(|h| h.as_f64().unwrap()).collect();
    assert_eq!(steps, [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4]);
    assert_eq!(fall["values"].as_array().unwrap().len(), 5);
    assert!((fall["order"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{fall}");
    assert!((fall["extrapolated"].as_f64().unwrap() - (1.0 - 0.5 * 9.81 * 0.01)).abs() < 1e-9, "{fall}");
    assert!(std::fs::read_to_string(plot).unwrap().contains("converging"));
    // what does not depend on h at all is its own limit
    let way = json(&[scene, "--measure", "body.a.ball.x", "--halvings", "2"]);
    assert!(way["verdict"] == "converging" && way["order"].is_null(), "{way}");
    assert!((way["extrapolated"].as_f64().unwrap() - 0.3).abs() < 1e-12);
    // a first step that does not divide the run is shortened, so that all runs end together
    let odd = json(&[scene, "--measure", "energy.kinetic_J", "--step", "0.003"]);
    let first = odd["steps"][0].as_f64().unwrap();
    assert!(odd["verdict"] == "converging" && (0.1 / first - (0.1 / first).round()).abs() < 1e-9, "{odd}");
}

#[test]
fn a_standing_arch_converges_and_a_tippe_top_is_no_function_of_h() {
    let arch = json(&["arch", "--measure", "displacement_max_m", "--until", "0.1", "--halvings", "2"]);
    assert_eq!(arch["verdict"], "converging", "{arch}");
    let top = json(&[&file("tippe_top.toml"), "--measure", "body.top.tilt_deg"]);
    assert_eq!(top["verdict"], "not a function of h", "{top}");
    assert!(top["values"][0].as_f64().unwrap() > 150.0, "at 1 ms it turns over: {top}");
}

/// A bar that falls onto a stop, of which there is none on the other side.
#[test]
fn what_a_record_could_have_can_be_watched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bar.toml");
    let text = "[time]\nstep = \"4 ms\"\nend = 1\n[[bodies]]\nname = \"bar\"\nshape = { kind = \"cuboid\", size = [1, 0.1, 0.1] }\nmass = 2\n\
                position = [0.5, 0, 1]\n[[joints]]\nname = \"hinge\"\nkind = \"revolute\"\nbody1 = \"bar\"\nanchor = [0, 0, 1]\n\
                axis = [0, 1, 0]\nlimits = [\"-inf\", 0.5]\n";
    std::fs::write(&path, text).unwrap();
    let watch = |measure: &str| json(&[path.to_str().unwrap(), "--measure", measure, "--halvings", "2"]);
    let [angle, stop] = ["hinge.coordinate", "hinge.stop"].map(|measure| watch(measure)["extrapolated"].as_f64().unwrap());
    assert!((angle - 0.5).abs() < 1e-6 && (stop + 2.0 * 9.81 * 0.5 * f64::cos(0.5)).abs() < 1e-4, "{angle} {stop}");
    assert!(watch("bar.contact_z")["extrapolated"] == 0.0);
    let unnamed = std::fs::read_to_string(&path).unwrap().replace("\"hinge\"", "\"bar\"");
    std::fs::write(&path, unnamed).unwrap();
    let output = converge(&[path.to_str().unwrap(), "--measure", "bar.speed"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("two things have that name"));
}

#[test]
fn a_measure_that_is_not_there_is_named_with_where_to_look() {
    let cases = ["height", "body.ball", "body.nobody.z", "body.ball.colour", "wall_s", "state_hash"];
    for measure in cases {
        let output = converge(&["bouncing_ball", "--measure", measure, "--until", "0.01"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{measure}: {message}");
        assert!(message.contains(measure) && message.contains("--measure help"), "{message}");
    }
    let list = String::from_utf8(converge(&["bouncing_ball", "--measure", "help"]).stdout).unwrap();
    assert!(["height_mean_m", "energy.kinetic_J", "body.NAME.tilt_deg"].iter().all(|name| list.contains(name)), "{list}");
    let auto = converge(&["bouncing_ball", "--measure", "speed_max", "--halvings", "1"]);
    assert_eq!(auto.status.code(), Some(2));
}
