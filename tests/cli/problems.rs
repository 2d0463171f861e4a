//! Problems from files: `solve`, `inspect`, `profile`, `solvers`, and those that a run exports.

use super::*;
use std::path::Path;

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
    assert!(
        lines[0]["message"]
            .as_str()
            .unwrap()
            .contains("bad.dat:5: expected value 4 of W, row 1 and column 1 from 0 (a number), found `one`"),
        "{}",
        lines[0]
    );

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
    let trace = std::fs::read_to_string(&trace).unwrap();
    assert!(trace.starts_with("file,iteration,error,seconds\n") && trace.lines().count() > 1, "{trace}");
    let all = path("all");
    assert_eq!(output(&["solve", &good, &good, "--solution", &all]).status.code(), Some(0));
    assert!(Path::new(&all).join("brick.json.json").exists());
    std::fs::create_dir(path("other")).unwrap();
    let other = problem(&directory.path().join("other"), "brick.json", BRICK);
    let refused = output(&["solve", &good, &other, "--solution", &all]);
    assert!(
        refused.status.code() == Some(2) && text(&refused.stderr).contains("two FILEs are called brick.json"),
        "{}",
        text(&refused.stderr)
    );
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

#[test]
fn exported_problems_hold_the_moments_of_contacts() {
    for (twist, kind, rows) in [("0.05", "twisting", 6), ("0", "grfc", 5)] {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().to_str().unwrap();
        let law = ["--set", "contact.mu_r=0.1", "--set", &format!("contact.mu_t={twist}")].map(str::to_owned);
        let call = ["run", "bead_pour", "--set", "n=4", "--until", "0.3", "--tol", "1e-6", "--out", out, "--export-problems", "every=150"];
        let call: Vec<&str> = call.into_iter().chain(law.iter().map(String::as_str)).collect();
        assert_eq!(output(&call).status.code(), Some(0));
        let path = directory.path().join("problems/step_000150.json");
        let file = std::fs::read_to_string(&path).unwrap();
        assert!(file.contains(&format!("\"{kind}\"")), "{}", &file[..file.len().min(400)]);
        let line = json_of(&output(&["solve", path.to_str().unwrap(), "--json", "--tol", "1e-6"]), 0);
        assert_eq!(line["status"], "Converged", "{line}");
        assert_eq!(line["rows"].as_u64().unwrap(), rows * line["contacts"].as_u64().unwrap(), "{line}");
        assert!(line["contacts"].as_u64().unwrap() > 20, "{line}");
    }
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
fn a_guess_from_a_file_and_parameters_by_name_change_a_solve() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (file, answer) = (asset("tower_3d.json"), at("answer.json"));
    let iterations = |more: &[&str]| {
        let call = [&["solve", file.as_str(), "--json", "--solver", "nsgs", "--set", "acceleration=none"], more].concat();
        let line = json_of(&output(&call), 0);
        assert_eq!(line["status"], "Converged", "{line}");
        line["iterations"].as_u64().unwrap()
    };
    let cold = iterations(&["--solution", &answer]);
    assert!(iterations(&["--guess", &answer]) <= 2 && cold > 10, "{cold}");
    assert!(iterations(&["--set", "relaxation=0.5"]) > cold);
    let short = json_of(&output(&["solve", &file, "--json", "--solver", "nsgs", "--max-iterations", "3", "--set", "acceleration=none"]), 0);
    assert_eq!((&short["status"], &short["iterations"]), (&"BudgetSpent".into(), &3.into()));

    // z and w of problems with bounds, and a guess of the wrong problem
    let (lcp, z) = (asset("chain_lcp.json"), at("z.json"));
    json_of(&output(&["solve", &lcp, "--json", "--solution", &z]), 0);
    let warm = json_of(&output(&["solve", &lcp, "--json", "--solver", "pgs", "--guess", &z]), 0);
    assert!(warm["iterations"].as_u64().unwrap() <= 2, "{warm}");
    let wrong = output(&["solve", &lcp, "--json", "--guess", &answer]);
    assert_eq!(wrong.status.code(), Some(3));
    assert!(
        text(&wrong.stdout).contains("answer.json: kind: is fc, but the guess is for a problem of kind lcp"),
        "{}",
        text(&wrong.stdout)
    );
    // also where there are as many numbers, and in every form
    let (relay, mlcp) = (asset("chain_relay.json"), asset("chain_mlcp.json"));
    let said = |file: &str, guess: &str, code: i32| {
        let run = output(&["solve", file, "--guess", guess]);
        assert_eq!(run.status.code(), Some(code), "{}", text(&run.stderr));
        text(&run.stderr)
    };
    assert!(said(&relay, &z, 3).contains("z.json: kind: is lcp, but the guess is for a problem of kind relay"));
    #[cfg(feature = "hdf5")]
    {
        let packed = at("z.hdf5");
        json_of(&output(&["solve", &lcp, "--json", "--solution", &packed]), 0);
        said(&lcp, &packed, 0);
        for (file, kind) in [(&relay, "relay"), (&mlcp, "mlcp"), (&asset("tower_3d.json"), "fc")] {
            let told = said(file, &packed, 3);
            assert!(told.contains(&format!("solution/kind: is lcp, but the guess is for a problem of kind {kind}")), "{told}");
        }
        let (local, global, answer) = (asset("tower_3d.hdf5"), asset("tower_3d_global.hdf5"), at("local.hdf5"));
        json_of(&output(&["solve", &local, "--json", "--solution", &answer]), 0);
        said(&global, &answer, 0); // the same reactions
        let told = said(&asset("rolling_3d.hdf5"), &answer, 3);
        assert!(told.contains("local.hdf5: fclib_local: is fc, but the guess is for a problem of kind rfc"), "{told}");
    }
    assert!(said(&asset("chain_lcp.dat"), "stored", 3).contains("chain_lcp.dat: holds no answer; one as `--solution` writes it"));
    let short = at("short.json");
    std::fs::write(&short, r#"{"r": [1, 2]}"#).unwrap();
    let wrong = text(&output(&["solve", &file, "--json", "--guess", &short]).stdout);
    assert!(wrong.contains("r of the guess holds 2 values, but 24 are needed"), "{wrong}");

    // a bad name lists the good ones, a bad value what would do
    for (set, told) in [
        ("relax=1", "`relax` of solver nsgs is unknown; there are max_sweeps, acceleration, order"),
        ("relaxation=2", "is 2; a number from 0.01 to 1.99 is needed"),
        ("relaxation", "write NAME=VALUE"),
    ] {
        let wrong = output(&["solve", &file, "--solver", "nsgs", "--set", set]);
        assert_eq!(wrong.status.code(), Some(2), "{set}");
        assert!(text(&wrong.stderr).contains(told), "{}", text(&wrong.stderr));
    }
    // also where no solver is named, before any file is looked at
    for (call, told) in [
        (["solve", &file, "--set", "relaxation=1"], "--set: parameter `relaxation` of solver auto is unknown; there are max_rounds, "),
        (["solve", "no.json", "--set", "max_rounds=-1"], "--set: parameter `max_rounds` of solver auto is -1; a whole number"),
    ] {
        let wrong = output(&call);
        assert!(wrong.status.code() == Some(2) && wrong.stdout.is_empty(), "{call:?}");
        assert!(text(&wrong.stderr).contains(told), "{}", text(&wrong.stderr));
    }
    let list = text(&output(&["solvers", "nsgs"]).stdout);
    assert!(list.contains("relaxation=1") && list.contains("a number from 0.01 to 1.99"), "{list}");
}

#[cfg(feature = "hdf5")]
#[test]
fn the_solution_in_a_problem_file_is_a_guess() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("solved.hdf5").to_str().unwrap().to_owned();
    let plain = ["solve", &asset("tower_3d_global.hdf5"), "--json", "--solver", "nsgs"].map(str::to_owned);
    let run = |call: &[String]| json_of(&output(&call.iter().map(String::as_str).collect::<Vec<_>>()), 0);
    let cold = run(&[&plain[..], &["--solution".into(), path.clone()]].concat());
    let warm = run(&["solve", &path, "--json", "--solver", "nsgs", "--guess", "stored"].map(str::to_owned));
    assert!(warm["iterations"].as_u64() < cold["iterations"].as_u64(), "{warm} {cold}");
    assert!(warm["iterations"].as_u64().unwrap() <= 2, "{warm}");
    let none = output(&["solve", &asset("tower_3d.hdf5"), "--guess", "stored"]);
    assert!(text(&none.stderr).contains("holds no solution and no guesses"), "{}", text(&none.stderr));
}

#[test]
fn contacts_are_told_on_request_and_the_log_is_printed_on_request() {
    let file = asset("tower_3d.json");
    let plain = output(&["solve", &file, "--json"]);
    let line = json_of(&plain, 0);
    assert!(plain.stderr.is_empty() && line["blocks"].is_null(), "{line}");
    assert_eq!(line["states"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 8, "{line}");
    let full = output(&["solve", &file, "--json", "--contacts", "--log"]);
    assert!(text(&full.stderr).lines().count() > 3, "{}", text(&full.stderr));
    let blocks = json_of(&full, 0)["blocks"].as_array().unwrap().clone();
    assert!(blocks.len() == 8 && blocks[1]["row"] == 3 && blocks.iter().all(|b| b["violation"].as_f64().unwrap() < 1e-6), "{blocks:?}");
    assert!(blocks.iter().all(|b| ["stick", "slip", "open"].contains(&b["state"].as_str().unwrap())), "{blocks:?}");
    let table = text(&output(&["solve", &file, "--contacts"]).stdout);
    assert!(table.lines().count() == 2 + 9 && table.contains("state"), "{table}");
}

#[test]
fn states_have_one_name_in_counts_and_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let relay = r#"{"kind": "relay", "m": {"dense": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}, "q": [3, 0.5, -3], "lower": [-1, -1, -1], "upper": [1, 1, 1]}"#;
    let path = problem(directory.path(), "relay.json", relay);
    let line = json_of(&output(&["solve", &path, "--json", "--contacts"]), 0);
    let states: Vec<&str> = line["blocks"].as_array().unwrap().iter().map(|block| block["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["lower", "inside", "upper"], "{line}");
    assert!(states.iter().all(|name| line["states"][name] == 1), "{line}");
}

#[test]
fn blocks_without_tangents_have_none_of_size_zero() {
    let table = text(&output(&["solve", &asset("chain_relay.json"), "--contacts"]).stdout);
    assert!(table.contains(" 0.000e0 ") && !table.contains("-0.000e0"), "{table}");
}

#[test]
fn what_needs_too_much_memory_says_how_much() {
    let directory = tempfile::tempdir().unwrap();
    let n = 20_000;
    let triplets: Vec<String> = (0..n).map(|i| format!("[{i},{i},2.0]")).collect();
    let q = vec!["-1"; n].join(",");
    let text_of = format!(r#"{{"kind":"lcp","m":{{"rows":{n},"columns":{n},"triplets":[{}]}},"q":[{q}]}}"#, triplets.join(","));
    let path = problem(directory.path(), "large.json", &text_of);
    let line = output(&["solve", &path, "--json", "--solver", "lemke"]);
    assert_eq!(line.status.code(), Some(3));
    assert!(text(&line.stdout).contains("(20000 × 20000) needs 9.600 GB, and 4.000 GB are allowed"), "{}", text(&line.stdout));
    assert_eq!(json_of(&output(&["solve", &path, "--json"]), 0)["status"], "Converged");
}

#[cfg(feature = "hdf5")]
#[test]
fn a_list_of_steps_becomes_a_folder_of_problems() {
    let directory = tempfile::tempdir().unwrap();
    let list = directory.path().join("steps.txt");
    let (list_text, out) = (list.to_str().unwrap(), directory.path().join("out"));
    std::fs::write(
        directory.path().join("ball.toml"),
        "time = { step = \"2 ms\", end = \"1 s\" }\ncontact = { mu = 0.5 }\n[[generate.lattice]]\ncount = [2, 1, 1]\nradius = 0.01\n",
    )
    .unwrap();
    std::fs::write(&list, "# steps\n\nwall block_wall rows=2 columns=2 at 0.01 0.02\nballs ball.toml contact.mu=0.1 at 0.3\n").unwrap();
    let made = output(&["corpus", list_text, "--out", out.to_str().unwrap()]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    for (name, least) in [("wall_0010", 10), ("wall_0020", 10), ("balls_0300", 2)] {
        let stored = drystone::io::fclib::read(&out.join(format!("{name}.hdf5"))).unwrap();
        assert!(stored.problem.contacts() >= least && stored.solution.is_some(), "{name}");
    }
    let one = output(&["corpus", list_text, "ball", "--out", out.to_str().unwrap()]);
    assert_eq!(text(&one.stdout).lines().count(), 2);
    assert_eq!(output(&["corpus", list_text, "dome", "--out", out.to_str().unwrap()]).status.code(), Some(3));
    std::fs::write(&list, "wall block_wall rows at 0.01\n").unwrap();
    let wrong = output(&["corpus", list_text, "--out", out.to_str().unwrap()]);
    assert!(text(&wrong.stderr).contains("steps.txt:1: expected KEY=VALUE or `at`, found `rows`"), "{}", text(&wrong.stderr));
}

#[test]
fn a_tolerance_below_rounding_ends_with_a_word() {
    let directory = tempfile::tempdir().unwrap();
    let text_of = r#"{"kind":"fc","w":{"dense":[[1.3,0.1,0.2],[0.1,2.0,0.3],[0.2,0.3,1.7]]},"q":[-1.0,3.0,4.0],"mu":[0.5]}"#;
    let path = problem(directory.path(), "one.json", text_of);
    let found = output(&["solve", &path, "--json", "--tol", "1e-20"]);
    assert_eq!(json_of(&found, 0)["status"], "Stalled");
    assert!(text(&found.stderr).contains("is about the rounding of its numbers"), "{}", text(&found.stderr));
    assert!(text(&output(&["solve", &path, "--json", "--tol", "1e-12"]).stderr).is_empty());
}
