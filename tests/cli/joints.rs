//! Verdicts, rules that stop a run, joints of blocks, and plots of what a run has left.

use super::{json, json_of, output, text};
use std::path::{Path, PathBuf};

/// A tower of eight blocks on which a push of `push` m/s² acts from 0.1 s on.
fn tower(folder: &Path, push: f64, more: &str) -> PathBuf {
    let mut scene = format!(
        "gravity = [{{ from = 0, acceleration = [0, 0, -9.81] }}, {{ from = 0.1, acceleration = [{push}, 0, -9.81] }}]\n\
         [time]\nstep = \"2 ms\"\nend = 2\n[contact]\nmu = 0.7\n{more}\n\
         [[bodies]]\nname = \"ground\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n"
    );
    for k in 0..8 {
        let z = 0.125 + 0.25 * f64::from(k);
        scene +=
            &format!("[[bodies]]\nname = \"b{k}\"\nshape = {{ kind = \"cuboid\", size = [0.5, 0.5, 0.25] }}\nposition = [0, 0, {z}]\n");
    }
    let path = folder.join("tower.toml");
    std::fs::write(&path, scene).unwrap();
    path
}

#[test]
fn a_structure_has_a_verdict_and_stops_where_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let run = |push: f64, more: &str| json(&[tower(folder.path(), push, more).to_str().unwrap()]);
    // it tips about its edge at 0.25 g
    let stands = run(0.2 * 9.81, "");
    assert_eq!((&stands["verdict"]["outcome"], &stands["verdict"]["began_with"]), (&"stands".into(), &serde_json::Value::Null), "{stands}");
    assert!(stands["verdict"]["way"].as_f64().unwrap() < 1e-6 && stands["ended_early"].is_null());
    let falls = run(0.35 * 9.81, "");
    let verdict = &falls["verdict"];
    assert_eq!((verdict["outcome"].as_str(), verdict["began_with"].as_str()), (Some("collapsed"), Some("b7")), "{verdict}");
    assert!(verdict["began_s"].as_f64().unwrap() > 0.1 && verdict["began_s"].as_f64() < verdict["collapsed_s"].as_f64());
    let stopped = run(0.35 * 9.81, "[stop]\ncollapse = true");
    assert_eq!((stopped["ended_early"].as_str(), &stopped["interrupted"]), (Some("collapse"), &false.into()));
    assert_eq!(stopped["time"], verdict["collapsed_s"]);
    let moved = run(0.35 * 9.81, "[stop]\ndisplacement = \"10 mm\"");
    assert!(moved["ended_early"].as_str().unwrap().contains("more than 0.01 m") && moved["verdict"]["outcome"] == "displaced", "{moved}");
    assert!((0.01..0.02).contains(&moved["displacement_max_m"].as_f64().unwrap()));
    let calm = run(0.0, "[stop]\nunbalanced = 1e-6\nhold = \"50 ms\"");
    assert!((calm["time"].as_f64().unwrap() - 0.052).abs() < 1e-9 && calm["verdict"]["outcome"] == "stands", "{calm}");
    // what falls from the air, and grains, are no structures
    let loose = tower(folder.path(), 0.0, "");
    std::fs::write(&loose, std::fs::read_to_string(&loose).unwrap().replace("0, 1.875]", "0, 1.9]")).unwrap();
    assert!(json(&[loose.to_str().unwrap(), "--until", "0.3"])["verdict"].is_null());
    assert!(json(&["bead_stack", "--until", "0.05"])["verdict"].is_null());
}

#[test]
fn a_run_that_a_rule_has_ended_goes_on_where_it_is_asked_for_more() {
    let folder = tempfile::tempdir().unwrap();
    let (out, mut scene) = (folder.path().join("run").to_str().unwrap().to_owned(), PathBuf::new());
    let mut start = |push: f64, rule: &str, until: &str| {
        scene = tower(folder.path(), push, &format!("[stop]\n{rule}"));
        let run = ["run", scene.to_str().unwrap(), "--until", until, "--out", &out, "--checkpoint", "every=0.5s", "--json"];
        json_of(&output(&run), 0)["time"].as_f64().unwrap()
    };
    let on = |more: &[&str]| {
        let resumed = [&["run", "--resume", &out, "--checkpoint", "every=0.5s", "--json"], more].concat();
        let run = json_of(&output(&resumed), 0);
        (run["time"].as_f64().unwrap(), run["ended_early"].as_str().map(str::to_owned))
    };
    let is = |time: f64, expected: f64| assert!((time - expected).abs() < 1e-9, "{time} s, not {expected}");
    let calm = "unbalanced = 1e-6\nhold = \"50 ms\"";
    is(start(0.0, calm, "1"), 0.052);
    // nothing new is asked for
    is(on(&[]).0, 0.052);
    // 50 ms after the first step, each time
    is(on(&["--tol", "1e-9"]).0, 0.104);
    is(on(&["--tol", "1e-9"]).0, 0.104);
    is(on(&["--until", "1.5"]).0, 0.156);
    is(on(&["--step", "1ms"]).0, 0.207);
    // a run that has not ended ends when it would have without a break, unless it is solved otherwise
    is(start(0.0, calm, "0.03"), 0.03);
    is(on(&["--until", "1"]).0, 0.052);
    is(start(0.0, calm, "0.03"), 0.03);
    is(on(&["--until", "1", "--tol", "1e-9"]).0, 0.082);
    for rule in ["collapse = true", "displacement = \"10 mm\""] {
        let ended = start(0.35 * 9.81, rule, "1.9");
        assert!(ended < 1.5, "{rule}: {ended} s");
        is(on(&[]).0, ended);
        let (time, why) = on(&["--until", "1.6"]);
        is(time, 1.6);
        assert_eq!(why, None, "{rule}");
        is(on(&["--until", "1.7"]).0, 1.7);
    }
}

#[test]
fn rules_that_cannot_be_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (rule, message) in
        [("", "no rule"), ("hold = 1", "`hold` without"), ("displacement = 0", "greater than 0"), ("colapse = true", "did you mean")]
    {
        let scene = tower(folder.path(), 0.0, &format!("[stop]\n{rule}"));
        let run = output(&["run", scene.to_str().unwrap()]);
        assert_eq!(run.status.code(), Some(3));
        assert!(text(&run.stderr).contains("stop") && text(&run.stderr).contains(message), "{}", text(&run.stderr));
    }
}

#[test]
fn joints_are_written_and_go_on_after_a_resumption_and_can_be_plotted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let scene = tower(
        folder.path(),
        1.0,
        "[[recorders]]\nwhat = \"joints\"\nevery = 0.02\n[[recorders]]\nwhat = \"bodies\"\nevery = 0.1\n[output]\nbranches = true",
    );
    let run = |arguments: &[&str], out: &Path| {
        let all: Vec<&str> = ["run"].iter().chain(arguments).chain(&["--out", out.to_str().unwrap(), "--json"]).copied().collect();
        json_of(&output(&all), 0)
    };
    let (whole, cut) = (at("whole"), at("cut"));
    run(&[scene.to_str().unwrap(), "--until", "0.4"], &whole);
    run(&[scene.to_str().unwrap(), "--until", "0.2", "--checkpoint", "every=10"], &cut);
    let resumed = output(&["run", "--resume", cut.to_str().unwrap(), "--until", "0.4", "--json"]);
    assert!(json_of(&resumed, 0)["verdict"]["outcome"] == "stands");
    for name in ["joint_forces.csv", "block_stress.csv", "contacts_end.csv", "joints.pvd", "branches.pvd"] {
        assert_eq!(std::fs::read(whole.join(name)).unwrap(), std::fs::read(cut.join(name)).unwrap(), "{name}");
    }
    // half a g/10 of push: the resultant leans, and the base carries the weight of all
    let table = std::fs::read_to_string(whole.join("joint_forces.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 20 * 8);
    let base: Vec<f64> = table
        .lines()
        .last()
        .map(|_| table.lines().nth(1 + 19 * 8).unwrap())
        .unwrap()
        .split(',')
        .skip(3)
        // what is not a number is empty: nothing binds these joints
        .map(|x| if x.is_empty() { f64::NAN } else { x.parse().unwrap() })
        .collect();
    let (weight, shear) = (8.0 * 0.0625 * 1000.0 * 9.81, 8.0 * 0.0625 * 1000.0);
    assert!((base[3] / weight - 1.0).abs() < 1e-6 && (base[4] / shear - 1.0).abs() < 1e-6, "{base:?}");
    // the middle of the tower stands 1 m high: e = 1/9.81
    assert!((base[9] - 1.0 / 9.81).abs() < 1e-6 && base[10] == 0.0, "{base:?}");
    let figure = at("figure.svg");
    for what in
        [&["energy", "residual"][..], &["joint_forces.stress_max", "steps.contacts"], &["rose", "forces"], &["steps", "--x", "kinetic"]]
    {
        let plotted = output(&[&["plot", whole.to_str().unwrap(), "--out", figure.to_str().unwrap()], what].concat());
        assert_eq!(plotted.status.code(), Some(0), "{}", text(&plotted.stderr));
        assert!(std::fs::read_to_string(&figure).unwrap().trim_end().ends_with("</svg>"));
        std::fs::remove_file(&figure).unwrap();
    }
    // the report holds an elevation with the state of the joints, which a colour bar may take the place of
    let told = output(&["report", whole.to_str().unwrap()]);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    let page = std::fs::read_to_string(whole.join("report.html")).unwrap();
    assert!(page.contains("elevation.svg") && page.contains("outside of the kernel"));
    for (colour, title) in [("force", "kN normal force"), ("stress", "MPa largest edge stress")] {
        let drawn = output(&["picture", scene.to_str().unwrap(), "--at", "0.1", "--colour", colour, "--out", figure.to_str().unwrap()]);
        assert_eq!(drawn.status.code(), Some(0), "{}", text(&drawn.stderr));
        let drawing = std::fs::read_to_string(&figure).unwrap();
        assert!(drawing.contains(title) && !drawing.contains("outside of the kernel"), "{colour}");
    }
    let wrong = output(&["picture", scene.to_str().unwrap(), "--colour", "force", "--out", "x.png"]);
    assert!(wrong.status.code() == Some(2) && text(&wrong.stderr).contains(".svg"));
    let refused = |arguments: &[&str], code: i32, message: &str| {
        let run = output(&[&["plot", whole.to_str().unwrap()], arguments].concat());
        assert!(run.status.code() == Some(code) && text(&run.stderr).contains(message), "{}", text(&run.stderr));
    };
    // nothing named is a question, not a mistake
    let listed = output(&["plot", whole.to_str().unwrap()]);
    assert!(listed.status.code() == Some(0) && text(&listed.stdout).contains("\n  block_stress"), "{}", text(&listed.stdout));
    refused(&["energy", "--out", "x.jpg"], 2, ".svg");
    refused(&["flow"], 3, "flow.csv");
    refused(&["steps.kintic"], 3, "did you mean `kinetic`");
    refused(&["steps.kinetic", "--x", "mu"], 3, "found no column \"mu\"");
}

#[test]
fn a_film_has_numbered_frames_and_leaves_none_of_the_film_before() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("film");
    let film = |until: &str, size: &str| {
        let arguments = ["film", "bead_stack", "--every", "0.02", "--until", until, "--size", size, "--colour", "speed", "--out"];
        let run = output(&[&arguments[..], &[out.to_str().unwrap()]].concat());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        let mut names: Vec<String> = std::fs::read_dir(&out).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(film("0.06", "64x48").len(), 4);
    std::fs::write(out.join("frame_mine.png"), "kept").unwrap();
    assert_eq!(film("0.02", "64x48"), ["frame_00000.png", "frame_00001.png", "frame_mine.png"]);
    for (scene, every, colour, code) in [("bead_stack", "0", "speed", 2), ("nosuch", "0.1", "speed", 3), ("bead_stack", "0.1", "force", 2)]
    {
        let refused = output(&["film", scene, "--every", every, "--colour", colour, "--out", out.to_str().unwrap()]);
        assert_eq!(refused.status.code(), Some(code));
        assert!(out.join("frame_00001.png").exists(), "the film before is lost");
    }
}

#[test]
fn a_film_has_frames_in_which_there_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, out) = (folder.path().join("drip.toml"), folder.path().join("film"));
    // one grain that comes after the first frame and is gone before the last one
    let drip = "time = { step = \"1 ms\", end = \"60 ms\" }\n[[inlet]]\nbox = [[0, 0, 0], [0.05, 0.05, 0.05]]\nrate = 1\ncount = 1\nradius = 0.01\n\
                start = 0.01\n[[outlet]]\nplane = { point = [0, 0, 0] }\n";
    let film = |until: &str| {
        std::fs::write(&scene, drip).unwrap();
        let sizes = ["--every", "0.02", "--until", until, "--size", "64x48", "--out", out.to_str().unwrap()];
        output(&[&["film", scene.to_str().unwrap()][..], &sizes].concat())
    };
    let run = film("0.2");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 11);
    let nothing = film("0.001");
    assert!(nothing.status.code() == Some(3) && text(&nothing.stderr).contains("no body to look at"), "{}", text(&nothing.stderr));
}

#[test]
fn a_report_is_one_page_with_the_certificate_the_command_and_the_joints() {
    let folder = tempfile::tempdir().unwrap();
    let scene = tower(folder.path(), 1.0, "[[recorders]]\nwhat = \"joints\"\nevery = 0.1\n[[recorders]]\nwhat = \"bodies\"\nevery = 1");
    let out = folder.path().join("a run");
    let run = output(&["run", scene.to_str().unwrap(), "--until", "0.2", "--out", out.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let made = output(&["report", out.to_str().unwrap()]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    for part in [
        "<!DOCTYPE html>",
        "Certificate of tower",
        "stands (nothing left its place",
        "a run&#39;",
        "<h2>Parameters</h2>",
        "what = &quot;joints&quot;",
        "<svg",
        "Joints at the last instant of their table",
        "<td>b6</td>",
    ] {
        let part = part.replace("&#39;", "'");
        assert!(page.contains(&part), "{part}");
    }
    // nothing is fetched from elsewhere
    assert!(!page.contains("src=\"http") && !page.contains("href="));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    let refused = output(&["report", folder.path().to_str().unwrap()]);
    assert!(refused.status.code() == Some(3) && text(&refused.stderr).contains("certificate.txt"));
}

#[test]
fn where_joints_of_what_touches_lose_energy_to_the_step_the_treatment_that_keeps_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let rod = |name: &str, x: f64| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"cuboid\", size = [1, 0.05, 0.05] }}\nmass = 1\nposition = [{x}, 0, 0]\n"
        )
    };
    let pin = |name: &str, other: &str, x: f64| {
        format!("[[joints]]\nkind = \"revolute\"\naxis = [0, 1, 0]\nbody1 = \"{name}\"\n{other}anchor = [{x}, 0, 0]\n")
    };
    let free = [rod("a", 0.5), rod("b", 1.5), pin("a", "", 0.0), pin("b", "body2 = \"a\"\n", 1.0)].concat();
    let wall = "[contact]\nmu = 0\n[[bodies]]\nmotion = \"static\"\nposition = [0, -0.025, 0]\nshape = { kind = \"half_space\", normal = [0, 1, 0] }\n";
    let path = folder.path().join("pendulum.toml");
    let run = |treatment: &str, wall: &str| {
        std::fs::write(&path, format!("time = {{ step = \"4 ms\", end = 2, treatment = \"{treatment}\" }}\n{free}{wall}")).unwrap();
        super::json(&[path.to_str().unwrap()])
    };
    let lossy = run("gap_aware", wall);
    let warnings = lossy["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|w| w.as_str().unwrap().contains("joints took") && w.as_str().unwrap().contains("\"forecast\"")),
        "{lossy}"
    );
    for (treatment, wall) in [("forecast", wall), ("forecast", ""), ("gap_aware", "")] {
        assert_eq!(run(treatment, wall)["warnings"].as_array().map(Vec::len), Some(0), "{treatment} {wall}");
    }
}
