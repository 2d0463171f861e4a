//! The command line as scripts see it: exit codes, the one line of JSON, messages, files.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot read its output has failed")]

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn drystone(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drystone"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    drystone(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs with `--json` and reads the one line; the exit code has to be `code`.
fn json_of(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    let line = text(&output.stdout);
    assert_eq!(line.matches('\n').count(), 1, "one line: {line:?}");
    serde_json::from_str(&line).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["run"].iter().chain(arguments).chain(&["--json"]).copied().collect();
    json_of(&output(&all), 0)
}

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
fn wrong_calls_are_usage_errors() {
    let calls: &[&[&str]] = &[
        &[],
        &["walk"],
        &["run"],
        &["run", "arch", "--until", "-1"],
        &["run", "arch", "--until", "nan"],
        &["run", "arch", "--step", "0"],
        &["run", "arch", "--step", "1e-300"],
        &["run", "arch", "--tol", "soft"],
        &["run", "arch", "--threads", "0"],
        &["run", "arch", "--set", "thickness_ratio"],
        &["run", "arch", "--checkpoint", "every=10"],
        &["run", "arch", "--checkpoint", "often", "--out", "x"],
        &["run", "--resume", "x", "--set", "a=1"],
        &["picture", "arch"],
        &["picture", "arch", "--out", "x.png", "--size", "0x0"],
    ];
    for call in calls {
        let output = output(call);
        assert_eq!(output.status.code(), Some(2), "{call:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{call:?}");
    }
    assert_eq!(output(&["--help"]).status.code(), Some(0));
    assert_eq!(output(&["--version"]).status.code(), Some(0));
}

const GOOD: &str = "[time]\nstep = \"2 ms\"\nend = 0.02\n[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
                    [[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\n";

#[test]
fn bad_scenes_are_named_and_cured() {
    let directory = tempfile::tempdir().unwrap();
    let nesting = format!("{}deep = {}1{}\n", GOOD, "[".repeat(100_000), "]".repeat(100_000));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("missing field", GOOD.replace("step = \"2 ms\"\n", "").into(), "step"),
        ("unknown key", GOOD.replace("position", "positon").into(), "did you mean `position`"),
        ("wrong unit", GOOD.replace("2 ms", "2 mm").into(), "expected a time"),
        ("unknown unit", GOOD.replace("2 ms", "2 parsec").into(), "parsec"),
        ("nan", GOOD.replace("[0, 0, 0.1]", "[0, 0, nan]").into(), "nan"),
        ("infinite", GOOD.replace("[0, 0, 0.1]", "[0, 0, inf]").into(), "inf"),
        ("negative step", GOOD.replace("2 ms", "-2 ms").into(), "step"),
        ("zero radius", GOOD.replace("radius = 0.1", "radius = 0").into(), "radius"),
        ("zero mass", format!("{GOOD}mass = 0\n").into(), "mass"),
        ("moving half-space", GOOD.replace("motion = \"static\"\n", "").into(), "half"),
        ("empty mesh", format!("{GOOD}[[bodies]]\nshape = {{ kind = \"mesh\", vertices = [], triangles = [] }}\n").into(), "mesh"),
        ("missing mesh", format!("{GOOD}[[bodies]]\nshape = {{ kind = \"mesh\", file = \"no.stl\" }}\n").into(), "no.stl"),
        (
            "moving mesh",
            format!("{GOOD}[[bodies]]\nshape = {{ kind = \"mesh\", vertices = [[0,0,0],[1,0,0],[0,1,0]], triangles = [[0,1,2]] }}\n")
                .into(),
            "mesh",
        ),
        ("same name", GOOD.replace("\"ball\"\n", "\"floor\"\n").into(), "floor"),
        ("unfinished", GOOD[..GOOD.len() - 4].into(), "scene.toml:11:"),
        ("empty", Vec::new(), "time"),
        ("garbage", vec![0xff, 0xfe, 0, 1, 2, 3, 0x80], "UTF-8"),
        (
            "flat hull",
            format!("{GOOD}[[bodies]]\nshape = {{ kind = \"hull\", points = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] }}\n").into(),
            "scene.toml:12:1: body \"body2\": hull",
        ),
        ("nesting", nesting.into(), ""),
        ("late joint", format!("{GOOD}birth = 0.01\n[[joints]]\nbody1 = \"ball\"\nanchor = [0, 0, 0.1]\n").into(), "birth"),
    ];
    for (name, bytes, message) in cases {
        let path = directory.path().join("scene.toml");
        std::fs::write(&path, bytes).unwrap();
        for command in ["run", "check"] {
            let output = output(&[command, path.to_str().unwrap()]);
            let said = text(&output.stderr) + &text(&output.stdout);
            let fault = command == "check" && output.status.code() == Some(1);
            assert!(output.status.code() == Some(3) || fault, "{name}, {command}: {:?} {said}", output.status);
            assert!(said.to_lowercase().contains(&message.to_lowercase()) || fault, "{name}: {said}");
            assert!(said.len() < 5000, "{name}: {} bytes of message", said.len());
        }
    }
    for scene in ["no/such/file.toml", "arhc", ".", "/"] {
        assert_eq!(output(&["run", scene]).status.code(), Some(3), "{scene}");
    }
    let unknown = output(&["run", "arch", "--set", "thicknes_ratio=0.1"]);
    assert_eq!(unknown.status.code(), Some(3));
    assert!(text(&unknown.stderr).contains("did you mean `thickness_ratio`"), "{}", text(&unknown.stderr));
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let blocked = output(&["run", "arch", "--until", "0.01", "--out", file.to_str().unwrap()]);
    assert_eq!(blocked.status.code(), Some(3), "{}", text(&blocked.stderr));
}

#[test]
fn check_tells_faults_by_its_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sunk.toml");
    std::fs::write(&path, GOOD.replace("[0, 0, 0.1]", "[0, 0, 0.05]")).unwrap();
    let sunk = output(&["check", path.to_str().unwrap()]);
    assert_eq!(sunk.status.code(), Some(1));
    assert!(text(&sunk.stdout).contains("ball: overlaps floor"), "{}", text(&sunk.stdout));
    assert_eq!(output(&["check", "arch"]).status.code(), Some(0));
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
    std::fs::write(&path, format!("{GOOD}impulses = [{{ time = 0.01, linear = [1e200, 0, 0] }}]\n")).unwrap();
    let output = output(&["run", path.to_str().unwrap(), "--json", "--out", out.to_str().unwrap()]);
    let result = json_of(&output, 4);
    assert!(text(&output.stderr).contains("\"ball\""), "{}", text(&output.stderr));
    assert_eq!(result["steps"], 5);
    let bodies = drystone::io::table::read_bodies(&out.join("bodies_end.csv")).unwrap();
    assert!(bodies[1].numbers.iter().all(|x| x.abs() < 2.0));
    assert!(out.join("summary.json").exists() && out.join("history.svg").exists());
}

/// Waits until `path` holds something, at most half a minute.
fn wait_for(path: &Path, child: &mut Child) {
    let start = Instant::now();
    while std::fs::metadata(path).map_or(0, |m| m.len()) < 2000 {
        assert!(start.elapsed() < Duration::from_secs(30) && child.try_wait().unwrap().is_none(), "the run does not write {path:?}");
        std::thread::sleep(Duration::from_millis(20));
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

/// Writes a problem as JSON into the folder and gives its path.
fn problem(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const BRICK: &str = r#"{"kind": "fc", "w": {"dense": [[1, 0, 0], [0, 2, 0], [0, 0, 2]]}, "q": [-1, 3, 4], "mu": [0.5]}"#;

#[test]
fn solve_prints_a_line_per_file_with_every_name_that_scripts_use() {
    let directory = tempfile::tempdir().unwrap();
    let good = problem(directory.path(), "brick.json", BRICK);
    let result = json_of(&output(&["solve", &good, "--json"]), 0);
    assert_eq!((&result["kind"], &result["contacts"], &result["status"]), (&"fc".into(), &1.into(), &"Converged".into()));
    for name in ["iterations", "rel", "rel_q", "e_s", "time_s"] {
        assert!(result[name].is_number(), "{name}: {result}");
    }
    assert!(result["file"] == good.as_str() && result["rel"].as_f64().unwrap() <= 1e-8 && result["solver"].is_string());

    // a file that cannot be read gets its line, and the others go on
    let bad = problem(directory.path(), "bad.dat", "3 1\n0 3 3\n3 3\n1 0 0\n0 one 0\n0 0 1\n-1 0 0 0.5");
    let both = output(&["solve", &bad, &good, "--json"]);
    assert_eq!(both.status.code(), Some(3));
    let lines: Vec<Value> = text(&both.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["status"], &lines[1]["status"]), (&"error".into(), &"Converged".into()));
    assert!(lines[0]["message"].as_str().unwrap().contains("bad.dat:5: expected value 4 of W (a number), found `one`"), "{}", lines[0]);

    let table = text(&output(&["solve", &good]).stdout);
    assert!(table.lines().count() == 2 && table.contains("brick.json"), "{table}");
}

#[test]
fn solutions_are_written_so_that_scripts_can_recompute_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let good = problem(directory.path(), "brick.json", BRICK);
    let (answer, trace) = (path("answer.json"), path("trace.csv"));
    json_of(&output(&["solve", &good, "--json", "--solution", &answer, "--trace", &trace]), 0);
    let found: Value = serde_json::from_slice(&std::fs::read(&answer).unwrap()).unwrap();
    let close = |x: &Value, y: f64| (x.as_f64().unwrap() - y).abs() < 1e-7;
    assert!(close(&found["r"][0], 1.0) && close(&found["r"][1], -0.3) && close(&found["u"][0], 0.0), "{found}");
    assert!(std::fs::read_to_string(&trace).unwrap().starts_with("file,iteration,error\n"));
    let all = path("all");
    assert_eq!(output(&["solve", &good, &good, "--solution", &all]).status.code(), Some(0));
    assert!(Path::new(&all).join("brick.json.json").exists());
    assert_eq!(output(&["solve", &good, "--solution", "answer.txt"]).status.code(), Some(2));
}

#[test]
fn solvers_are_listed_and_misspelt_ones_get_a_hint() {
    let list = text(&output(&["solvers"]).stdout);
    for entry in drystone::numerics::solvers::all() {
        assert!(list.contains(entry.name) && list.contains(entry.about), "{}", entry.name);
        let wrong = output(&["solve", "x.json", "--solver", &format!("{}x", entry.name)]);
        assert_eq!(wrong.status.code(), Some(2));
        assert!(text(&wrong.stderr).contains("did you mean"), "{}", text(&wrong.stderr));
    }
    for call in [&["solve"][..], &["solve", "x", "--kind", "cube"], &["solve", "x", "--tol", "-1"], &["solve", "x", "--measure", "r"]] {
        assert_eq!(output(call).status.code(), Some(2), "{call:?}");
    }
}

fn asset(name: &str) -> String {
    format!("{}/assets/problems/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[cfg(feature = "hdf5")]
#[test]
fn every_form_of_a_problem_gives_the_same_answer() {
    let value = |name: &str| json_of(&output(&["solve", &asset(name), "--json"]), 0);
    for (a, b) in [("tower_3d.dat.gz", "tower_3d.json"), ("tower_3d.hdf5", "tower_3d_global.hdf5"), ("wall_2d.hdf5", "wall_2d_global.hdf5")]
    {
        let (a, b) = (value(a), value(b));
        assert!(a["status"] == "Converged" && b["status"] == "Converged" && a["rows"] == b["rows"], "{a} {b}");
    }
    let asked = output(&["solve", &asset("tower_3d.hdf5"), "--kind", "lcp", "--json"]);
    assert_eq!(asked.status.code(), Some(3));
    assert!(text(&asked.stdout).contains("of kind fc, not lcp as asked"), "{}", text(&asked.stdout));
}

#[cfg(feature = "hdf5")]
#[test]
fn an_hdf5_solution_is_the_problem_with_its_answer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("answer.hdf5");
    let file = asset("rolling_3d_global.hdf5");
    let line = json_of(&output(&["solve", &file, "--json", "--solution", path.to_str().unwrap()]), 0);
    assert_eq!((&line["kind"], &line["status"]), (&"grfc".into(), &"Converged".into()));
    let stored = drystone::io::fclib::read(&path).unwrap();
    let mut answer = stored.solution.unwrap();
    let written = answer.clone();
    let found = stored.problem.residual(&mut answer).unwrap();
    assert!(found.rel <= 1e-8 && written.v.len() == 12);
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(close(&answer.u, &written.u) && close(&answer.v, &written.v));
}

#[cfg(feature = "hdf5")]
#[test]
fn inspect_tells_rank_and_graph() {
    let line = json_of(&output(&["inspect", &asset("tower_3d.hdf5"), "--json"]), 0);
    // four bricks of six velocities under sixteen contacts: at most 24 of 48 rows are independent
    assert_eq!((&line["rows"], &line["contacts"], &line["rank"], &line["components"]), (&48.into(), &16.into(), &24.into(), &1.into()));
    let table = text(&output(&["inspect", &asset("chain_mlcp.json"), &asset("rolling_2d.hdf5")]).stdout);
    assert!(table.contains("mlcp") && table.contains("rolling    0.05") && table.contains("rank       6 of 12"), "{table}");
    assert_eq!(output(&["inspect", "no_such_file.dat"]).status.code(), Some(3));
}

#[test]
fn profile_draws_and_tabulates_a_folder() {
    let directory = tempfile::tempdir().unwrap();
    let problems = directory.path().join("problems");
    std::fs::create_dir(&problems).unwrap();
    for name in ["tower_3d.json", "joint_gmp.json", "chain_lcp.json"] {
        std::fs::copy(asset(name), problems.join(name)).unwrap();
    }
    let out = directory.path().join("out");
    let run = |folder: &Path| {
        output(&["profile", folder.to_str().unwrap(), "--solvers", "auto,nsgs", "--tol", "1e-4", "--out", out.to_str().unwrap()])
    };
    let summary = run(&problems);
    assert_eq!(summary.status.code(), Some(0), "{}", text(&summary.stderr));
    assert!(text(&summary.stdout).contains("local to 1e-4"), "{}", text(&summary.stdout));
    let table = std::fs::read_to_string(out.join("profile.csv")).unwrap();
    assert!(table.starts_with("file,kind,") && table.contains("tower_3d.json,fc,8,24,auto,1e-4,Converged,"), "{table}");
    assert!(std::fs::read_to_string(out.join("profile.svg")).unwrap().contains("nsgs"));
    assert_eq!(run(&out).status.code(), Some(3), "a folder without problems");
}

#[cfg(feature = "hdf5")]
#[test]
fn problems_of_a_run_are_exported_with_their_reactions() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let out_text = out.to_str().unwrap();
    let call = ["run", "block_wall", "--set", "rows=3", "--until", "0.04", "--out", out_text, "--export-problems", "every=10"];
    assert_eq!(output(&call).status.code(), Some(0));
    let path = out.join("problems/step_000010.hdf5");
    let stored = drystone::io::fclib::read(&path).unwrap();
    let mut reactions = stored.solution.unwrap();
    assert!(stored.problem.contacts() > 10 && reactions.r.iter().any(|x| *x > 0.0));
    // the law holds for what the run found, to its own tolerance on e_s
    let found = stored.problem.residual(&mut reactions).unwrap();
    assert!(found.e_s < 1e-4, "{found:?}");
    let line = json_of(&output(&["solve", path.to_str().unwrap(), "--json"]), 0);
    assert_eq!((&line["kind"], &line["status"]), (&"gfc".into(), &"Converged".into()));
    assert_eq!(output(&["run", "block_wall", "--export-problems", "every=10"]).status.code(), Some(2));
}

/// A problem of five rows, a rolling contact, beside those of three.
#[test]
fn profile_holds_a_line_for_every_solver_also_for_problems_that_it_does_not_take() {
    let directory = tempfile::tempdir().unwrap();
    let (problems, out) = (directory.path().join("problems"), directory.path().join("out"));
    std::fs::create_dir(&problems).unwrap();
    for name in ["tower_3d.json", "joint_gmp.json", "chain_lcp.json", "chain_relay.json", "chain_mlcp.json"] {
        std::fs::copy(asset(name), problems.join(name)).unwrap();
    }
    let call =
        ["profile", problems.to_str().unwrap(), "--tol", "1e-4", "--time-limit", "0.2", "--repeat", "1", "--out", out.to_str().unwrap()];
    let all = output(&call);
    assert_eq!(all.status.code(), Some(0), "{}", text(&all.stderr));
    // every line of a panel counts over the same problems
    for panel in text(&all.stdout).split("longest solve") {
        let counts: Vec<&str> =
            panel.split_whitespace().filter_map(|w| w.split_once('/')).map(|(_, n)| n).filter(|n| n.parse::<u32>().is_ok()).collect();
        assert!(counts.windows(2).all(|w| w[0] == w[1]), "{panel}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error_and_a_closed_pipe_is_not() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for call in [
        &["scenes"][..],
        &["solvers"],
        &["check", "arch"],
        &["run", "arch", "--until", "0.01"],
        &["run", "arch", "--until", "0.01", "--json"],
        &["--help"],
    ] {
        let output = drystone(call).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}");
        assert!(text(&output.stderr).contains("standard output: cannot be written"), "{call:?}: {}", text(&output.stderr));
    }
    let mut child = drystone(&["scenes"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_device_is_never_replaced_by_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("here.png");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let drawn = output(&["picture", "arch", "--at", "0", "--size", "64x64", "--out", socket.to_str().unwrap()]);
    assert_eq!(drawn.status.code(), Some(3), "{}", text(&drawn.stderr));
    assert!(text(&drawn.stderr).contains("is no file"), "{}", text(&drawn.stderr));
    assert!(!std::fs::symlink_metadata(&socket).unwrap().is_file(), "it is still there");
    assert_eq!(output(&["run", "arch", "--until", "0.01", "--out", socket.to_str().unwrap()]).status.code(), Some(3));
}

#[test]
fn pictures_are_named_png() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["x.jpg", "x", "png"] {
        let path = directory.path().join(name);
        let drawn = output(&["picture", "arch", "--at", "0", "--size", "64x64", "--out", path.to_str().unwrap()]);
        assert_eq!(drawn.status.code(), Some(2), "{name}");
        assert!(text(&drawn.stderr).contains("ends in .png") && !path.exists(), "{}", text(&drawn.stderr));
    }
}

#[test]
fn negative_numbers_are_told_what_would_do() {
    for call in [
        &["run", "arch", "--tol", "-1"][..],
        &["run", "arch", "--step", "-1e-3"],
        &["run", "arch", "--until", "-0.5"],
        &["solve", "x.json", "--tol", "-1"],
        &["solve", "x.json", "--time-limit", "-1"],
        &["profile", ".", "--tol", "-1", "--out", "o"],
        &["picture", "arch", "--at", "-1", "--out", "o.png"],
    ] {
        let said = output(call);
        assert_eq!(said.status.code(), Some(2), "{call:?}");
        let said = text(&said.stderr);
        assert!(said.contains("above zero") && !said.contains("-- -"), "{call:?}: {said}");
    }
}

#[test]
fn a_file_beside_the_problems_is_skipped_and_a_broken_problem_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let good = problem(directory.path(), "brick.json", BRICK);
    let readme = problem(directory.path(), "README.md", "# Problems\n\nsome text\n");
    for command in ["solve", "inspect"] {
        let all = output(&[command, &readme, &good]);
        assert_eq!(all.status.code(), Some(0), "{command}: {}", text(&all.stderr));
        assert!(text(&all.stderr).contains("skipped: ") && text(&all.stderr).contains("README.md"), "{command}: {}", text(&all.stderr));
        assert_eq!(output(&[command, &readme]).status.code(), Some(3), "{command}: asked for by name");
        let bad = problem(directory.path(), "bad.json", "{\"kind\": ");
        assert_eq!(output(&[command, &bad, &good]).status.code(), Some(3), "{command}");
        assert_eq!(output(&[command, "missing.md", &good]).status.code(), Some(3), "{command}");
    }
    let lines = text(&output(&["solve", &readme, &good, "--json"]).stdout);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["status"], &lines[1]["status"]), (&"skipped".into(), &"Converged".into()));
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
    let scene = ["block_wall", "--set", "rows=4", "--set", "columns=3", "--until", "0.05", "--tol", "1e-30"];
    let result = json(&scene.iter().chain(&["--out", out_text]).copied().collect::<Vec<_>>());
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

    // a run from the start forgets it, and a good one leaves nothing
    let good = json(&["block_wall", "--set", "rows=4", "--until", "0.02", "--out", out_text]);
    assert_eq!(good["unconverged_steps"], 0);
    assert_eq!(std::fs::read_dir(out.join("postmortem")).unwrap().count(), 0);
    let _ = json(&["block_wall", "--set", "rows=4", "--until", "0.02", "--out", directory.path().join("new").to_str().unwrap()]);
    assert!(!directory.path().join("new/postmortem").exists());
}

#[test]
fn check_names_what_is_wrong_and_what_would_do() {
    for (name, code, found, cure) in [
        ("f4_floating", 0, "hint: s2: starts in the air", "move it onto what is below"),
        ("u_gap", 0, "hint: s: starts 0.002 m above ground", "move it by [0.000000, 0.000000, -0.002000] m"),
        ("u_mm", 0, "hint: s: it is 4.899e2 m large", "if the file is in mm"),
        ("u_base", 1, "fault: scene: the base is accelerated by up to 981 m/s2", "write it in m/s2"),
        ("u_grav", 1, "fault: scene: gravity [0, 0, 9.81] m/s2 takes every body away", "gravity = [0, 0, -9.81]"),
        ("f3_cube_onebad", 1, "fault: rock: triangle 2 of 12", "the vertices of this triangle"),
        ("f3_cube_onebad_static", 1, "fault: rock: triangle 2 of 12", "the vertices of this triangle"),
        ("pair01", 1, "fault: L1: overlaps L0", "move it by"),
        ("contact_locked", 0, "no faults, 0 hints", ""),
        ("joint_locked", 0, "no faults, 0 hints", ""),
        ("hinge", 0, "no faults, 0 hints", ""),
    ] {
        let path = format!("{}/tests/probes/scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let output = output(&["check", &path]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(said.contains(found) && said.contains(cure), "{name}: {said}");
        assert!(said.matches("fault: ").count() + said.matches("hint: ").count() <= 1, "{name}: {said}");
    }
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
