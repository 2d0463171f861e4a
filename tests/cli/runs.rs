//! Runs: the line of JSON, files, interruption and resumption, what is left of steps that went wrong.

use super::*;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

#[test]
fn json_is_one_line_with_every_name_that_scripts_use() {
    let result = json(&["arch", "--until", "0.1", "--threads", "1"]);
    let numbers = "time steps step_size bodies contacts wall_s cpu_s threads residual_max residual_median rel_max unconverged_steps \
                   iterations_mean penetration_max_m penetration_mean_m penetration_run_max_m displacement_max_m speed_max \
                   height_mean_m support_force_N";
    for name in numbers.split_whitespace() {
        assert!(result[name].is_number(), "{name}: {}", result[name]);
    }
    assert!(result["energy"]["kinetic_J"].is_number() && result["energy"]["balance_error"].is_number());
    assert_eq!((result["steps"].as_u64(), result["time"].as_f64()), (Some(50), Some(0.1)));
    assert_eq!(result["interrupted"], false);
    let hash = result["state_hash"].as_str().unwrap();
    assert!(hash.len() == 16 && u64::from_str_radix(hash, 16).is_ok(), "{hash}");
    let slope = json(&["incline", "--set", "angle_offset_deg=-2"]);
    assert!(slope["acceleration"].is_number() && slope["acceleration_error"].is_null() && slope["creep_m"].is_number());
    let dam = json(&["block_dam", "--until", "0.2"]);
    assert!((dam["sliding_factor"].as_f64().unwrap() - 1.44).abs() < 1e-5);
    assert!((dam["overturning_factor"].as_f64().unwrap() - 1.8).abs() < 1e-5);
}

#[test]
fn the_state_does_not_depend_on_the_number_of_threads() {
    for scene in [&["bead_pour", "--set", "n=6", "--until", "0.3"][..], &["block_wall", "--set", "rows=5", "--until", "0.2"]] {
        let hash = |threads: &str| {
            let arguments: Vec<&str> = scene.iter().chain(&["--threads", threads]).copied().collect();
            json(&arguments)["state_hash"].clone()
        };
        assert!(hash("1") == hash("2") && hash("1") == hash("8"), "{scene:?}");
    }
}

#[test]
fn a_kick_moves_the_wall() {
    let way = |kick: &str| {
        let result = json(&["block_wall", "--set", kick, "--set", "rows=4", "--until", "0.3", "--step", "0.5e-3"]);
        result["displacement_max_m"].as_f64().unwrap()
    };
    // v = 1 N s / 32 kg, stopped by friction after v²/(2 μ g)
    let slide = (1.0f64 / 32.0).powi(2) / (2.0 * 0.6 * 9.81);
    let (still, kicked) = (way("kick=0"), way("kick=1"));
    assert!(still < 0.01 * slide && (kicked / slide - 1.0).abs() < 0.15, "{still} {kicked} {slide}");
}

#[test]
fn every_built_in_scene_is_listed_checked_and_starts() {
    let list = text(&output(&["scenes"]).stdout);
    for scene in drystone::scenes::all() {
        assert!(list.contains(scene.name) && scene.parameters.iter().all(|p| list.contains(p.name)), "{}", scene.name);
        let check = output(&["check", scene.name]);
        assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
        assert!(json(&[scene.name, "--until", "0.01"])["steps"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_state_that_blows_up_stops_the_run_with_its_last_good_state() {
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("scene.toml"), directory.path().join("out"));
    std::fs::write(&path, format!("{GOOD}mass = 1e-75\nimpulses = [{{ time = 0.01, linear = [1e30, 0, 0] }}]\n")).unwrap();
    let output = output(&["run", path.to_str().unwrap(), "--json", "--out", out.to_str().unwrap()]);
    let result = json_of(&output, 4);
    assert!(text(&output.stderr).contains("\"ball\""), "{}", text(&output.stderr));
    assert_eq!(result["steps"], 5);
    let bodies = drystone::io::table::read_bodies(&out.join("bodies_end.csv")).unwrap();
    assert!(bodies[1].numbers[..13].iter().all(|x| x.abs() < 2.0));
    assert!(out.join("summary.json").exists() && out.join("history.svg").exists());
}

#[test]
fn a_run_says_after_its_first_steps_what_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let run = |name: &str, rest: &[&str]| {
        let out = directory.path().join(name);
        let base = ["run", name, "--json", "--out", out.to_str().unwrap()];
        let found = json_of(&output(&base.iter().chain(rest).copied().collect::<Vec<_>>()), 0);
        let files = std::fs::read_dir(&out).unwrap().map(|file| file.unwrap().metadata().unwrap().len() as f64);
        (found["forecast"].clone(), files.sum::<f64>())
    };
    // balls that fall: no contact has been seen, those of a pile are assumed
    let (pour, written) = run("bead_pour", &["--set", "n=7", "--until", "0.6"]);
    assert_eq!((pour["after_steps"].as_u64(), pour["steps_left"].as_u64()), (Some(20), Some(280)));
    assert_eq!(pour["effort_assumed"]["contacts"].as_f64(), Some(3.0 * 343.0));
    assert!(pour["effort"]["contacts"].as_f64().unwrap() < 300.0 && pour["wall_s"].as_f64() >= pour["wall_at_pace_s"].as_f64(), "{pour}");
    assert_eq!(pour["disk"]["frames"].as_u64(), Some(28));
    let told = pour["disk"]["bytes"].as_f64().unwrap();
    assert!((0.6..1.6).contains(&(told / written)), "{told} bytes told, {written} written");
    assert!(pour["disk"]["free_bytes"].as_u64().unwrap() > 0);
    // a wall that stands goes on at its pace
    let (wall, written) = run("block_wall", &["--until", "0.5"]);
    assert_eq!(wall["wall_s"], wall["wall_at_pace_s"]);
    let cost = |name: &str| wall["cost"][name].as_f64().unwrap();
    assert!(cost("body_s") > 0.0 && cost("pair_s") > 0.0 && cost("contact_sweep_s") > 0.0, "{wall}");
    let told = wall["disk"]["bytes"].as_f64().unwrap();
    assert!((0.6..1.6).contains(&(told / written)), "{told} bytes told, {written} written");
    // too short to foretell, and without a folder nothing is written
    assert!(run("arch", &["--until", "0.03"]).0.is_null());
    assert!(json(&["arch", "--until", "0.1"])["forecast"]["disk"].is_null());
}

/// Waits until `path` holds something, at most half a minute.
fn wait_for(path: &Path, child: &mut Child) {
    let start = Instant::now();
    while std::fs::metadata(path).map_or(0, |m| m.len()) < 2000 {
        assert!(start.elapsed() < Duration::from_secs(30) && child.try_wait().unwrap().is_none(), "the run does not write {path:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Hulls that stand within each other: a run looked at the pairs of 400 of them for twenty seconds before its first step, as long in it and as long again for
/// its certificate, and heard nothing meanwhile.
#[cfg(unix)]
#[test]
fn a_run_of_hulls_at_one_place_hears_that_it_is_to_end() {
    use std::fmt::Write;
    let directory = tempfile::tempdir().unwrap();
    let [scene, out] = ["heap.toml", "out"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    let turn = |k: usize| (1.0 - (k as f64 + 0.5) / 30.0, 2.4 * k as f64);
    let corner = |(z, a): (f64, f64)| {
        let r = 0.05 * (1.0 - z * z).sqrt();
        [r * a.cos(), r * a.sin(), 0.05 * z]
    };
    let points: Vec<[f64; 3]> = (0..60).map(|k| corner(turn(k))).collect();
    let mut text = "time = { step = \"1 ms\", end = \"1 s\" }\n".to_owned();
    for i in 0..400 {
        let turned = format!("rotation = {{ axis = [1, 0, {i}], angle = \"{i} deg\" }}");
        write!(text, "[[bodies]]\nshape = {{ kind = \"hull\", points = {points:?} }}\nposition = [0, 0, {}]\n{turned}\n", 1e-5 * i as f64)
            .unwrap();
    }
    std::fs::write(&scene, text).unwrap();
    let arguments = ["run", &scene, "--json", "--out", &out, "--checkpoint", "every=1000", "--threads", "1"];
    let mut child = drystone(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&Path::new(&out).join("bodies_start.csv"), &mut child);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let stopped = json_of(&child.wait_with_output().unwrap(), 130);
    assert_eq!((&stopped["interrupted"], stopped["steps"].as_u64()), (&true.into(), Some(0)));
    let warnings = stopped["warnings"].to_string();
    assert!(warnings.contains("more than 5000 pairs of bodies overlap at the start"), "{warnings}");
    for file in ["bodies_end.csv", "summary.json", "steps.csv"] {
        assert!(Path::new(&out).join(file).exists(), "{file}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_run_in_order_and_a_checkpoint_takes_it_up() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let out = out.to_str().unwrap();
    let scene = ["run", "bead_pour", "--set", "n=5", "--until", "1.5"];
    let arguments: Vec<&str> = scene.iter().chain(&["--json", "--out", out, "--checkpoint", "every=1000000"]).copied().collect();
    let mut child = drystone(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&Path::new(out).join("steps.csv"), &mut child);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let stopped = json_of(&child.wait_with_output().unwrap(), 130);
    assert_eq!(stopped["interrupted"], true);
    assert!(stopped["time"].as_f64().unwrap() < 1.5);
    for file in ["bodies_end.csv", "summary.json", "history.svg", "bodies.pvd"] {
        assert!(Path::new(out).join(file).exists(), "{file}");
    }

    let resumed = json_of(&output(&["run", "--resume", out, "--json"]), 0);
    let straight = json_of(&output(&scene.iter().chain(&["--json"]).copied().collect::<Vec<_>>()), 0);
    for name in ["state_hash", "steps", "residual_max", "residual_median", "energy", "displacement_max_m", "support_force_N"] {
        assert_eq!(resumed[name], straight[name], "{name}");
    }
}

#[test]
fn outputs_of_a_resumed_run_are_those_of_a_straight_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (straight, stopped) = (path("straight"), path("stopped"));
    let base = ["run", "incline", "--until"];
    let run = |rest: &[&str]| assert_eq!(output(&base.iter().chain(rest).copied().collect::<Vec<_>>()).status.code(), Some(0));
    run(&["0.8", "--out", &straight]);
    run(&["0.55", "--out", &stopped, "--checkpoint", "every=0.1s"]);
    assert_eq!(output(&["run", "--resume", &stopped, "--until", "0.8"]).status.code(), Some(0));
    for file in ["bodies_start.csv", "bodies_end.csv", "steps.csv", "bodies.pvd", "contacts.pvd", "history.svg"] {
        let read = |directory: &str| std::fs::read_to_string(Path::new(directory).join(file)).unwrap();
        assert!(read(&straight) == read(&stopped), "{file} differs");
    }
    let other = output(&["run", "incline", "--set", "mu=0.4", "--resume", &stopped]);
    assert_eq!(other.status.code(), Some(3), "a checkpoint of another scene is refused");
}

#[test]
fn steps_that_are_chosen_meet_the_end_of_a_resumed_run() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out").to_str().unwrap().to_owned();
    json(&["bead_pour", "--set", "n=3", "--step", "auto", "--until", "0.1", "--out", &out, "--checkpoint", "every=0.05s"]);
    for end in [0.1337, 0.15] {
        let on = json(&["--resume", &out, "--until", &end.to_string(), "--checkpoint", "every=0.05s"]);
        assert_eq!(on["time"], end);
    }
}

#[test]
fn a_resumed_run_with_nothing_to_do_or_without_its_tables_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out").to_str().unwrap().to_owned();
    let file = |name: &str| Path::new(&out).join(name);
    json(&["bouncing_ball", "--until", "0.2", "--out", &out, "--checkpoint", "every=0.1s"]);
    // an instant that is past, and one that is reached
    let table = std::fs::read(file("steps.csv")).unwrap();
    let past = output(&["run", "--resume", &out, "--until", "0.1"]);
    let said = text(&past.stderr);
    assert!(past.status.code() == Some(2) && past.stdout.is_empty() && said.contains("--until 0.1: the run in "), "{said}");
    assert!(said.contains("is saved at 0.2 s") && std::fs::read(file("steps.csv")).unwrap() == table, "{said}");
    for until in [&["--until", "0.2"][..], &[]] {
        let there = output(&[&["run", "--resume", &out], until].concat());
        assert_eq!(there.status.code(), Some(0));
        assert!(text(&there.stderr).contains("note: nothing was left to do"), "{}", text(&there.stderr));
    }
    // in its own folder a run looks for what it wrote, in another one it begins
    let warnings = |until: &str, more: &[&str]| json(&[&["--resume", &out, "--until", until], more].concat())["warnings"].to_string();
    let other = directory.path().join("other").to_str().unwrap().to_owned();
    assert!(!warnings("0.3", &["--out", &other]).contains("begun anew"));
    for (name, at, until) in [("steps.csv", "0.2", "0.3"), ("bodies.pvd", "0.3", "0.4")] {
        std::fs::remove_file(file(name)).unwrap();
        let told = warnings(until, &["--out", &out]);
        assert!(told.contains(&format!("did not hold {name}: begun anew at {at} s")), "{told}");
    }
    assert!(!warnings("0.5", &[]).contains("begun anew"));
}

#[test]
fn a_run_that_went_on_goes_on_from_where_it_came_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (out, other) = (path("out"), path("other"));
    json(&["bouncing_ball", "--until", "0.2", "--out", &out, "--checkpoint", "every=0.1s"]);
    // into another folder it leaves its own as it was
    json(&["--resume", &out, "--until", "0.3", "--out", &other]);
    let said = |until: &str| text(&output(&["run", "--resume", &out, "--until", until]).stderr).to_owned();
    assert!(said("0.2").contains("is saved at 0.2 s"));
    json(&["--resume", &out, "--until", "0.4"]);
    assert!(said("0.4").contains("is saved at 0.4 s"), "{}", said("0.4"));
    let straight = json(&["bouncing_ball", "--until", "0.5"]);
    assert_eq!(json(&["--resume", &out, "--until", "0.5"])["state_hash"], straight["state_hash"]);
}

#[test]
fn the_time_that_a_resumed_run_took_is_that_of_all_its_parts() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out").to_str().unwrap().to_owned();
    json(&["bouncing_ball", "--until", "0.1", "--out", &out, "--checkpoint", "every=0.1s"]);
    let path = Path::new(&out).join("run.checkpoint");
    let mut checkpoint = drystone::scenes::checkpoint::Checkpoint::read(&path).unwrap();
    assert!(checkpoint.taken.iter().all(|&t| t > 0.0), "{:?}", checkpoint.taken);
    checkpoint.taken = [1000.0, 2000.0];
    checkpoint.write(&path).unwrap();
    for until in ["0.2", "0.3"] {
        let on = json(&["--resume", &out, "--until", until]);
        let taken = |name: &str| on[name].as_f64().unwrap();
        assert!(taken("wall_s") > 1000.0 && taken("cpu_s") > 2000.0, "{on}");
    }
}

#[test]
fn a_resumed_run_goes_on_to_the_tolerance_that_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("pour").to_str().unwrap().to_owned();
    let start = ["run", "bead_pour", "--set", "n=4", "--until", "0.5", "--out", &out, "--checkpoint", "every=0.1s"];
    assert_eq!(output(&start).status.code(), Some(0));
    assert_eq!(output(&["run", "--resume", &out, "--tol", "1e-5", "--until", "0.7"]).status.code(), Some(0));
    let mut reader = csv::Reader::from_path(Path::new(&out).join("steps.csv")).unwrap();
    let column = |name: &str, reader: &mut csv::Reader<std::fs::File>| reader.headers().unwrap().iter().position(|h| h == name).unwrap();
    let (time, residual) = (column("time [s]", &mut reader), column("e_s", &mut reader));
    let rows: Vec<(f64, f64)> =
        reader.records().map(|r| r.unwrap()).map(|r| (r[time].parse().unwrap(), r[residual].parse().unwrap())).collect();
    let largest = |late: bool| rows.iter().filter(|r| (r.0 > 0.5 + 1e-9) == late).fold(0f64, |most, r| most.max(r.1));
    assert!(largest(false) > 1e-4 && largest(true) > 0.0 && largest(true) <= 1e-5, "{} {}", largest(false), largest(true));
    let set = output(&["run", "--resume", &out, "--set", "n=5"]);
    assert_eq!(set.status.code(), Some(2), "{}", text(&set.stderr));
}

/// At rest impulses are forces times the step: with other steps they are other ones from the first step on, and nothing begins to move.
#[test]
fn a_resumed_run_goes_on_in_the_steps_that_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("stack").to_str().unwrap().to_owned();
    let start = ["run", "block_wall", "--set", "rows=4", "--until", "0.2", "--out", &out, "--checkpoint", "every=0.1s"];
    assert_eq!(output(&start).status.code(), Some(0));
    let on = json(&["--resume", &out, "--step", "5ms", "--until", "0.3"]);
    assert!(on["steps"] == 80 + 20 && (on["time"].as_f64().unwrap() - 0.3).abs() < 1e-12, "{} {}", on["steps"], on["time"]);
    let table = std::fs::read_to_string(Path::new(&out).join("steps.csv")).unwrap();
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let rows = table.lines().skip(1).map(|row| row.split(',').map(|x| x.parse().unwrap()).collect::<Vec<f64>>());
    let late: Vec<Vec<f64>> = rows.filter(|row| row[column("time [s]")] > 0.2 + 1e-9).collect();
    assert!(late.len() == 20 && late.iter().all(|row| (row[column("step_size [s]")] - 5e-3).abs() < 1e-15), "{}", late.len());
    let sweeps = late[0][column("sweeps")];
    assert!(sweeps <= 2.0, "the reactions of the step before hold the wall: {sweeps} sweeps");
    assert!(on["speed_max"].as_f64().unwrap() < 1e-6, "{}", on["speed_max"]);
    // what was saved has the new step
    let third = ["--resume", &out, "--until", "0.35", "--step", "1ms", "--checkpoint", "every=10ms"];
    assert_eq!(json(&third)["steps"], 100 + 50);
    let fourth = json(&["--resume", &out, "--until", "0.36"]);
    assert!(fourth["steps"] == 100 + 60 && (fourth["time"].as_f64().unwrap() - 0.36).abs() < 1e-12, "{}", fourth["steps"]);
    let auto = output(&["run", "--resume", &out, "--step", "auto"]);
    assert!(auto.status.code() == Some(2) && text(&auto.stderr).contains("--step"), "{}", text(&auto.stderr));
}

#[test]
fn without_out_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let status = drystone(&["run", "incline", "--until", "0.1"]).current_dir(&directory).output().unwrap().status;
    assert!(status.success());
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn a_picture_is_a_png_of_the_size_asked() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arch.png");
    let output = output(&["picture", "arch", "--at", "0", "--size", "320x200", "--out", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes[16..24] == [0, 0, 1, 64, 0, 0, 0, 200]);
}

/// The arch of Milankovitch's limit falls with hinges below it; above it no joint has moved.
#[test]
fn an_elevation_numbers_the_hinges_of_an_arch() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arch.svg");
    let drawn = |ratio: &str, at: &str| {
        let set = format!("thickness_ratio={ratio}");
        let output = output(&["picture", "arch", "--set", &set, "--at", at, "--forces", "--out", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        std::fs::read_to_string(&file).unwrap()
    };
    let falls = drawn("0.10", "0.3");
    assert!(falls.starts_with("<svg width=\"1280\" height=\"800\" viewBox=\"0 0 10240 6400\""), "{}", &falls[..80]);
    for number in 1..=5 {
        assert!(falls.lines().any(|line| line.trim() == number.to_string()), "hinge {number}");
    }
    assert!(falls.contains("hinge") && falls.contains("outside of the kernel") && falls.contains("20 cm"));
    let stands = drawn("0.12", "0.3");
    assert!(!stands.contains("hinge") && stands.contains("pressed"), "{stands}");
    let start = drawn("0.12", "0");
    assert!(!start.contains("pressed") && start.contains("20 cm"));
    let coloured = output(&["picture", "arch", "--at", "0", "--colour", "speed", "--out", "x.svg"]);
    assert_eq!(coloured.status.code(), Some(2));
    assert!(text(&coloured.stderr).contains("states of joints"), "{}", text(&coloured.stderr));
}

#[test]
fn a_run_repeats_what_check_finds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sunk.toml");
    std::fs::write(&path, GOOD.replace("[0, 0, 0.1]", "[0, 0, 0.05]")).unwrap();
    let path = path.to_str().unwrap();
    let of = |value: &Value| value["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let result = json(&[path, "--until", "0.02"]);
    let said = of(&result);
    assert!(said.iter().any(|w| w.contains("fault: ball: overlaps floor by 0.05 m at the start; move it by")), "{said:?}");
    let shown = text(&output(&["run", path, "--until", "0.02"]).stdout);
    assert!(shown.contains("ball: overlaps floor") && shown.contains("WARNING"), "{shown}");
    // also after an interruption
    let out = directory.path().join("out");
    let out = out.to_str().unwrap();
    assert_eq!(output(&["run", path, "--until", "0.02", "--out", out, "--checkpoint", "every=5"]).status.code(), Some(0));
    let resumed = of(&json(&["--resume", out, "--until", "0.03"]));
    assert!(resumed.iter().any(|w| w.contains("overlaps floor")), "{resumed:?}");

    let once = of(&json(&["block_wall", "--set", "rows=3", "--until", "0.2", "--step", "1"]));
    assert!(once.iter().any(|w| w.contains("before its first step of 1 s")), "{once:?}");
    assert_eq!(of(&json(&["block_wall", "--set", "rows=3", "--until", "0.02"])), [] as [String; 0]);
}

#[test]
fn what_goes_wrong_in_a_step_is_left_as_a_problem_and_a_scene_that_repeat_it() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let out_text = out.to_str().unwrap();
    // a tolerance below rounding is missed
    let scene_of_wall = ["block_wall", "--set", "rows=4", "--set", "columns=3", "--until", "0.05", "--tol", "1e-30"];
    let result = json(&scene_of_wall.iter().chain(&["--out", out_text]).copied().collect::<Vec<_>>());
    assert!(result["unconverged_steps"].as_u64().unwrap() > 3, "{result}");
    let mut files: Vec<String> =
        std::fs::read_dir(out.join("postmortem")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files.len(), 6, "{files:?}");
    assert!(result["warnings"].to_string().contains("postmortem"), "{}", result["warnings"]);
    let scene = files.iter().find(|f| f.ends_with(".toml")).unwrap();
    let alone = json(&[out.join("postmortem").join(scene).to_str().unwrap()]);
    assert_eq!((&alone["steps"], &alone["unconverged_steps"]), (&1.into(), &1.into()), "{alone}");
    assert!(alone["bodies"].as_u64().unwrap() > 3);
    let problem = files.iter().find(|f| !f.ends_with(".toml")).unwrap();
    let line = json_of(&output(&["solve", out.join("postmortem").join(problem).to_str().unwrap(), "--tol", "1e-30", "--json"]), 0);
    assert!(line["status"] != "Converged", "{line}");

    // a resumed run keeps those before it, and no more of them than a straight one
    let parts = directory.path().join("parts");
    let [parts_text, cut] = [parts.to_str().unwrap(), "0.004"];
    let begun = scene_of_wall.map(|a| if a == "0.05" { cut } else { a });
    json(&begun.iter().chain(&["--out", parts_text, "--checkpoint", "every=1"]).copied().collect::<Vec<_>>());
    json(&["--resume", parts_text, "--until", "0.05"]);
    let of = |d: &Path| {
        let mut names: Vec<String> =
            std::fs::read_dir(d.join("postmortem")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(of(&parts), files);

    // a run from the start forgets it, and a good one leaves nothing
    let good = json(&["block_wall", "--set", "rows=4", "--until", "0.02", "--out", out_text]);
    assert_eq!(good["unconverged_steps"], 0);
    assert_eq!(std::fs::read_dir(out.join("postmortem")).unwrap().count(), 0);
    let _ = json(&["block_wall", "--set", "rows=4", "--until", "0.02", "--out", directory.path().join("new").to_str().unwrap()]);
    assert!(!directory.path().join("new/postmortem").exists());
}

/// A needle that goes 45 of its widths in a step: its steps are solved, and no solver would do better.
#[test]
fn steps_whose_bodies_are_stopped_on_the_way_are_not_told_as_badly_solved() {
    let directory = tempfile::tempdir().unwrap();
    let scene = directory.path().join("needle.toml");
    let text = r#"
gravity = [0, 0, 0]
time = { step = 0.001, end = 0.008 }
contact = { mu = 0.3, e_n = 0.2 }
solver = { tolerance = 1e-06 }
[[bodies]]
name = "plate"
shape = { kind = "cuboid", size = [4, 4, 0.001] }
position = [0, 0, 0]
orientation = [1.0, 0.0, 0.0, 0.0]
motion = { kind = "constant", velocity = [0, 0, 0], angular_velocity = [0, 0, 3.0] }
[[bodies]]
name = "needle"
shape = { kind = "cuboid", size = [0.002, 0.002, 0.1] }
position = [-0.39755868861992, 0.0239233948746, 0.3]
orientation = [-0.25354618198854956, -0.6760026138603524, -0.6751880631623154, -0.15118160938461325]
velocity = [-1.0019662088731383, -13.660740582820111, -88.39015353699774]
angular_velocity = [7.395333078226075, -4.825900607721503, 0.03798867008926196]
"#;
    std::fs::write(&scene, text).unwrap();
    let result = json(&[scene.to_str().unwrap()]);
    assert!(result["unconverged_steps"].as_u64().unwrap() > 0 && result["residual_max"].as_f64().unwrap() <= 1e-6, "{result}");
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("met the tolerance, but") && !warnings.contains("missed the tolerance"), "{warnings}");
}

#[test]
fn what_locks_hold_is_left_behind_too() {
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("press.toml"), directory.path().join("out"));
    let scene = "time = { step = \"1 ms\", end = 0.1 }\n[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
                 [[bodies]]\nname = \"stone\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\n\
                 locked_translation = [\"y\"]\nvelocity = [0.1, 0, 0]\n[[bodies]]\nname = \"press\"\nshape = { kind = \"cuboid\", size = [1, 0.1, 1] }\n\
                 position = [0, -0.16, 0.5]\nmotion = { kind = \"constant\", velocity = [0, 0.2, 0] }\n";
    std::fs::write(&path, scene).unwrap();
    let result = json(&[path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert!(result["infeasible_steps"].as_u64().unwrap() > 40, "{result}");
    let mut files: Vec<_> = std::fs::read_dir(out.join("postmortem")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    assert_eq!(files.len(), 3, "{files:?}");
    let alone = json(&[files[0].to_str().unwrap()]);
    assert_eq!((&alone["infeasible_steps"], &alone["bodies"]), (&1.into(), &3.into()), "{alone}");
    assert!(alone["warnings"].to_string().contains("y axis is locked"), "{}", alone["warnings"]);
}

/// The bodies of a step that went wrong stand in it with the forces of their loads, and loads on bodies that have no part in it are left out.
#[test]
fn loads_are_left_behind_as_forces() {
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("press.toml"), directory.path().join("out"));
    let scene = "time = { step = \"1 ms\", end = 0.02 }\n[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
                 [[bodies]]\nname = \"stone\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\n\
                 locked_translation = [\"y\"]\n[[bodies]]\nname = \"press\"\nshape = { kind = \"cuboid\", size = [1, 0.1, 1] }\n\
                 position = [0, -0.15, 0.5]\nmotion = { kind = \"constant\", velocity = [0, 0.2, 0] }\n\
                 [[bodies]]\nname = \"far\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [9, 0, 5]\n\
                 [[load]]\nbodies = [\"far\", \"stone\"]\nforce = [7, 0, 0]\n";
    std::fs::write(&path, scene).unwrap();
    let result = json(&[path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert!(result["infeasible_steps"].as_u64().unwrap() > 10, "{result}");
    let mut files: Vec<_> = std::fs::read_dir(out.join("postmortem")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    let alone = std::fs::read_to_string(&files[0]).unwrap();
    assert!(alone.contains("force = [7.0, 0.0, 0.0]") && !alone.contains("[[load]]"), "{alone}");
    assert_eq!(json(&[files[0].to_str().unwrap()])["bodies"], 3);
}

#[test]
fn grains_that_come_in_need_no_other_body_and_have_mass_and_radius() {
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("rain.toml"), directory.path().join("out"));
    let scene = "time = { step = \"1 ms\", end = 0.3 }\n[[inlet]]\nname = \"cloud\"\nbox = [[0, 0, 1], [1, 1, 2]]\nrate = 2\ncount = 1000\n\
                 radius = [0.01, 0.03]\n[[outlet]]\nplane = { point = [0, 0, 0.9] }\n[[record]]\nname = \"r\"\nsignals = [\"cloud.mass\", \"outlet.mass\"]\n";
    std::fs::write(&path, scene).unwrap();
    let _ = json(&[path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let table = std::fs::read_to_string(out.join("r.csv")).unwrap();
    let last: Vec<f64> = table.lines().last().unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    let bodies = drystone::io::table::read_bodies(&out.join("bodies_end.csv")).unwrap();
    let [mass, radius] = [13, 14].map(|k| bodies.iter().map(|b| b.numbers[k]).collect::<Vec<f64>>());
    assert!(last[2] > 0.01 && (mass.iter().sum::<f64>() - (last[1] - last[2])).abs() < 1e-12, "{last:?}");
    let sphere = |r: f64| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * 1000.0;
    assert!(mass.iter().zip(&radius).all(|(m, r)| (m / sphere(*r) - 1.0).abs() < 1e-12 && (0.01..=0.03).contains(r)));
}

#[test]
fn a_scene_with_joints_writes_what_they_do() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    let run = output(&["run", "door", "--until", "0.5", "--out", out.to_str().expect("plain")]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = std::fs::read_to_string(out.join("joints.csv")).expect("written");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    assert_eq!(header[..3], ["time [s]", "hinge.coordinate [rad]", "hinge.speed [rad/s]"]);
    let last: Vec<f64> = lines.last().expect("rows").split(',').map(|x| x.parse().expect("a number")).collect();
    let value = |name: &str| last[header.iter().position(|h| h.split(" [").next() == Some(&format!("hinge.{name}"))).expect(name)];
    assert!(value("coordinate") > 0.1 && value("speed") > 0.2, "the door opens");
    assert!((value("friction") + 2.0).abs() < 1e-6 && (value("motor") - 80.0).abs() < 1e-6 && value("gap") < 1e-4);
}
