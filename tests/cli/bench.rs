//! `drystone bench`: every column, the hash of `run`, faults by name.

use super::*;

#[test]
fn a_line_of_a_scene_has_finite_figures_and_the_hash_of_its_run() {
    let run = json(&["arch", "--set", "thickness_ratio=0.107", "--until", "0.02"]);
    let found = json_of(&output(&["bench", "--scenes", "arch", "--until", "0.02", "--repeat", "2", "--json"]), 0);
    let numbers = "threads bodies pairs contacts steps time wall_s wall_per_s step_ms broad_ms narrow_ms assemble_ms solve_ms apply_ms rest_ms \
                   sweeps_mean residual_max tolerance unconverged_steps penetration_max_m displacement_max_m traffic_bytes bandwidth";
    for name in numbers.split_whitespace() {
        assert!(found[name].as_f64().is_some_and(f64::is_finite), "{name}: {}", found[name]);
    }
    // the model of the step, with its own coefficients, gives its time back
    let get = |name: &str| found[name].as_f64().unwrap();
    let cost = |name: &str| found["cost"][name].as_f64().unwrap();
    let told = cost("body_s") * get("bodies") + cost("pair_s") * get("pairs") + 1e-3 * get("solve_ms");
    assert!((told / (1e-3 * get("step_ms")) - 1.0).abs() < 1e-9 && get("pairs") >= 18.0 && cost("contact_sweep_s") > 0.0, "{found}");
    let phases = ["broad_ms", "narrow_ms", "assemble_ms", "solve_ms", "apply_ms", "rest_ms"];
    let sum: f64 = phases.iter().map(|name| found[name].as_f64().unwrap()).sum();
    let step = found["step_ms"].as_f64().unwrap();
    assert!((sum - step).abs() <= 1e-9 * step && found["solve_ms"].as_f64().unwrap() > 0.0, "phases make up the step: {found}");
    let named: f64 = found["phases_ms"].as_object().unwrap().values().map(|ms| ms.as_f64().unwrap()).sum();
    assert!(named > 0.0 && named <= step && found["phases_ms"]["Solve"] == found["solve_ms"], "{found}");
    assert!(found["bandwidth"].as_f64().unwrap() > 0.0 && found["machine"]["cores"].as_u64().unwrap() > 0);
    assert_eq!(found["state_hash"], run["state_hash"]);
    assert_eq!(found["steps"], run["steps"]);
}

#[test]
fn a_line_for_each_scene_and_number_of_threads_with_one_hash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ball.toml");
    std::fs::write(&path, GOOD).unwrap();
    let scenes = format!("{},wall105", path.display());
    let found = output(&["bench", "--scenes", &scenes, "--threads", "1,2", "--until", "0.01"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let table = text(&found.stdout);
    let lines: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert!(lines[0][0] == "scene" && lines[0].last() == Some(&"state_hash"), "{table}");
    // a blank line and two of the model for each number of threads
    assert_eq!(lines.len(), 5 + 2 * 3, "{table}");
    assert!(table.matches("a·bodies + b·pairs + c·contacts·sweeps").count() == 2, "{table}");
    for pair in [&lines[1..3], &lines[3..5]] {
        assert!(pair[0][0] == pair[1][0] && pair[0][1] == "1" && pair[1][1] == "2", "{table}");
        assert_eq!(pair[0].last(), pair[1].last(), "one hash on any number of threads");
    }
}

#[test]
fn bad_input_is_named() {
    for (arguments, code, words) in [
        (&["--scenes", "towers"][..], 3, &["towers", "pour1000"][..]),
        (&["--scenes", "none/such.toml"], 3, &["none/such.toml", "cannot be read"]),
        (&["--threads", "0"], 2, &["--threads", "0"]),
        (&["--repeat", "0"], 2, &["--repeat", "0"]),
        (&["--until", "-1"], 2, &["--until", "above zero"]),
        (&["--full", "--until", "1"], 2, &["--full", "--until"]),
    ] {
        let all: Vec<&str> = ["bench"].iter().chain(arguments).copied().collect();
        let found = output(&all);
        let told = text(&found.stderr);
        assert_eq!(found.status.code(), Some(code), "{told}");
        assert!(words.iter().all(|word| told.contains(word)), "{arguments:?}: {told}");
    }
}
