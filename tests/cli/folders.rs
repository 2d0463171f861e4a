//! The folder of a run holds all that the run came from: command, scene, files of the scene.

use super::*;
use std::path::Path;

/// A wedge of four triangles.
const WEDGE: &str = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

const SCENE: &str = "[time]\nstep = \"2 ms\"\nend = 0.2\n[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
    [[bodies]]\nname = \"wedge\"\nshape = { kind = \"hull\", file = \"../models/wedge.obj\" }\nposition = [0, 0, 0.2]\n\
    [[bodies]]\nname = \"other\"\nshape = { kind = \"hull\", file = 'own/wedge.obj' }\nposition = [1, 0, 0.2]\n\
    [[bodies]]\nname = \"plate\"\nshape = { kind = \"cuboid\", size = [0.1, 0.1, 0.1] }\nposition = [3, 0, 0.2]\n\
    motion = { kind = \"table\", file = \"way.csv\", direction = [1, 0, 0] }\n";

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A scene with a file beside it, one below and one elsewhere; its place.
fn scene(folder: &Path) -> String {
    let path = folder.join("scenes/a.toml");
    write(&path, SCENE);
    write(&folder.join("models/wedge.obj"), WEDGE);
    write(&folder.join("scenes/own/wedge.obj"), &WEDGE.replace("0.1", "0.2"));
    write(&folder.join("scenes/way.csv"), "0, 0\n1, 0.5\n");
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_folder_that_is_taken_elsewhere_still_runs_its_scene() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (scene(folder.path()), folder.path().join("out").to_str().unwrap().to_owned());
    let first = json(&[&path, "--out", &out]);
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("moved");
    std::fs::rename(&out, &moved).unwrap();
    for gone in ["scenes", "models"] {
        std::fs::remove_dir_all(folder.path().join(gone)).unwrap();
    }
    let again = json(&[moved.join("scene_of_run.toml").to_str().unwrap()]);
    assert_eq!(again["state_hash"], first["state_hash"]);
    // a run into the folder of its own scene leaves its files as they are
    let here = moved.to_str().unwrap().to_owned();
    let onto = json(&[moved.join("scene_of_run.toml").to_str().unwrap(), "--out", &here]);
    assert_eq!(onto["state_hash"], first["state_hash"]);
    assert_eq!(json(&[moved.join("scene_of_run.toml").to_str().unwrap()])["state_hash"], first["state_hash"]);
}

#[test]
fn files_of_built_in_scenes_are_kept_too() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").to_str().unwrap().to_owned();
    let first = json(&["terrain_mesh", "--until", "0.02", "--out", &out]);
    let again = json(&[folder.path().join("out/scene_of_run.toml").to_str().unwrap(), "--until", "0.02"]);
    assert_eq!(again["state_hash"], first["state_hash"]);
}

#[test]
fn the_folder_of_a_run_is_drawn_as_its_scene_with_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (scene(folder.path()), folder.path().join("it's out").to_str().unwrap().to_owned());
    let settings = ["--set", "bodies.2.angular_velocity=[0, 9, 0]", "--step", "1ms", "--until", "0.1"];
    json(&[&[path.as_str(), "--out", &out], &settings[..]].concat());
    let picture = |name: &str, arguments: &[&str]| {
        let file = folder.path().join(name).to_str().unwrap().to_owned();
        let run = output(&[&["picture", "--size", "160x100", "--out", &file], arguments].concat());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        std::fs::read(file).unwrap()
    };
    let of_run = picture("run.png", &[&out]);
    let of_scene = picture("scene.png", &[&path, "--set", settings[1], "--step", "1ms", "--at", "0.1"]);
    assert!(of_run == of_scene, "the end of the run");
    assert!(of_run != picture("plain.png", &[&path, "--step", "1ms", "--at", "0.1"]), "the settings can be seen");
    assert!(of_run != picture("early.png", &[&out, "--at", "0.02"]));
    // its end is that of its command, whatever is set
    let late = output(&["picture", &out, "--at", "0.3", "--set", "time.end=0.3", "--out", "x.png"]);
    let said = text(&late.stderr);
    assert!(late.status.code() == Some(2) && said.contains("scene_of_run.toml with --set time.end=0.3"), "{said}");
    picture("late.png", &[&format!("{out}/scene_of_run.toml"), "--at", "0.3", "--set", "time.end=0.3"]);
    // a folder without a run says what one holds
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let empty = empty.to_str().unwrap();
    let run = output(&["picture", empty, "--out", "x.png"]);
    let said = text(&run.stderr);
    assert!(run.status.code() == Some(3) && said.contains("this folder holds no run: command.txt is missing"), "{said}");
    let run = output(&["check", empty]);
    assert!(run.status.code() == Some(3) && text(&run.stderr).contains("is a folder, not a scene"), "{}", text(&run.stderr));
    // a built-in scene goes before a folder of that name, and other commands say what is there
    let run = output(&["run", &out]);
    assert!(run.status.code() == Some(3) && text(&run.stderr).contains("scene_of_run.toml"), "{}", text(&run.stderr));
}

#[test]
fn the_folder_of_a_run_that_was_resumed_is_drawn_as_if_it_had_not_been_broken_off() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (scene(folder.path()), folder.path().join("out").to_str().unwrap().to_owned());
    let built_in = folder.path().join("pour").to_str().unwrap().to_owned();
    for (start, out) in
        [(&[path.as_str(), "--set", "bodies.2.angular_velocity=[0, 9, 0]"][..], &out), (&["bead_pour", "--set", "n=3"][..], &built_in)]
    {
        let picture = |name: &str, of: &[&str]| {
            let file = folder.path().join(name).to_str().unwrap().to_owned();
            let run = output(&[&["picture", "--size", "160x100", "--out", &file], of].concat());
            assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
            std::fs::read(file).unwrap()
        };
        json(&[start, &["--until", "0.06", "--checkpoint", "every=0.02s", "--out", out]].concat());
        let elsewhere = folder.path().join("elsewhere").to_str().unwrap().to_owned();
        json(&["--resume", out, "--until", "0.1", "--out", &elsewhere]);
        json(&["--resume", out, "--until", "0.2"]);
        assert!(picture("other.png", &[&elsewhere]) == picture("scene.png", &[start, &["--at", "0.1"]].concat()), "{elsewhere}");
        assert!(picture("run.png", &[out]) == picture("scene.png", &[start, &["--at", "0.2"]].concat()), "{out}");
        let again = json(&[&format!("{out}/scene_of_run.toml")]);
        assert_eq!(again["time"], 0.2, "the scene repeats the whole run");
        let commands = std::fs::read_to_string(Path::new(out).join("command.txt")).unwrap();
        assert!(commands.lines().count() == 2 && commands.contains("--until 0.06") && commands.contains("--until 0.2"), "{commands}");
    }
    json(&["--resume", &built_in, "--until", "0.22", "--tol", "1e-4"]);
    let drawn = output(&["picture", &built_in, "--size", "160x100", "--out", folder.path().join("x.png").to_str().unwrap()]);
    assert!(drawn.status.code() == Some(0) && text(&drawn.stderr).contains("went on with another tolerance"), "{}", text(&drawn.stderr));
}

#[test]
fn figures_of_the_end_do_not_outlive_the_run_that_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (scene(folder.path()), folder.path().join("out"));
    let there = |name: &str| out.join(name).exists();
    json(&[&path, "--out", out.to_str().unwrap()]);
    let of_the_end = ["certificate.txt", "summary.json", "bodies_end.csv", "contacts_end.csv", "history.svg"];
    assert!(of_the_end.iter().all(|name| there(name)));
    let mut child = drystone(&["run", &path, "--until", "1e5", "--out", out.to_str().unwrap()]).spawn().unwrap();
    let begun = std::time::Instant::now();
    let rows = || std::fs::read_to_string(out.join("steps.csv")).unwrap_or_default().lines().count();
    while rows() < 200 {
        assert!(begun.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left: Vec<&str> = of_the_end.into_iter().filter(|name| there(name)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(std::fs::read_to_string(out.join("command.txt")).unwrap().contains("1e5") && there("scene_of_run.toml"));
}

#[test]
fn the_scene_of_a_run_holds_what_was_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").to_str().unwrap().to_owned();
    let settings = ["--set", "n=3", "--set", "output.branches=true", "--step", "4ms", "--tol", "1e-4"];
    let first = json(&[&["bead_pour", "--until", "0.05", "--out", &out], &settings[..]].concat());
    assert!(Path::new(&out).join("branches.pvd").exists());
    let of_run = folder.path().join("out/scene_of_run.toml");
    let again = json(&[of_run.to_str().unwrap()]);
    for key in ["state_hash", "scene", "steps", "tolerance"] {
        assert_eq!(again[key], first[key], "{key}");
    }
    // a file of another name keeps the name of its scene; a setting is written once, and may be changed again
    let (path, out) = (scene(folder.path()), folder.path().join("other").to_str().unwrap().to_owned());
    let first = json(&[&path, "--out", &out, "--set", "solver.tolerance=1e-5", "--set", "bodies.1.shape.file=../models/wedge.obj"]);
    let again = json(&[folder.path().join("other/scene_of_run.toml").to_str().unwrap()]);
    assert_eq!((&again["state_hash"], &again["scene"]), (&first["state_hash"], &first["scene"]));
    // steps that were chosen, and are given now
    let out = folder.path().join("gas").to_str().unwrap().to_owned();
    let first = json(&["granular_gas", "--step", "1ms", "--until", "0.005", "--out", &out]);
    assert_eq!(json(&[folder.path().join("gas/scene_of_run.toml").to_str().unwrap()])["state_hash"], first["state_hash"]);
}

#[test]
fn a_built_in_scene_is_printed_as_a_scene_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let printed = |arguments: &[&str]| {
        let run = output(&[&["scenes"], arguments].concat());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        std::fs::write(&path, text(&run.stdout)).unwrap();
        json(&[path.to_str().unwrap(), "--until", "0.02"])["state_hash"].clone()
    };
    assert_eq!(printed(&["arch"]), json(&["arch", "--until", "0.02"])["state_hash"]);
    assert_eq!(printed(&["bead_pour", "--set", "n=3"]), json(&["bead_pour", "--set", "n=3", "--until", "0.02"])["state_hash"]);
    assert_eq!(
        text(&output(&["scenes", "arch"]).stdout).trim_end(),
        drystone::scenes::find("arch").unwrap().toml.trim_end(),
        "with its comments"
    );
    for (arguments, code, said) in [
        (&["scenes", "arc"][..], 3, "did you mean `arch`"),
        (&["scenes", "arch", "--set", "voussoirs=0"], 3, "voussoirs"),
        (&["scenes", "--set", "n=3"], 2, "name one"),
    ] {
        let run = output(arguments);
        assert!(run.status.code() == Some(code) && text(&run.stderr).contains(said), "{arguments:?}: {}", text(&run.stderr));
    }
}
