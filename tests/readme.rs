//! What the README promises: its two first commands are those of `.ci/run`, its scene loads and runs, its picture exists.

use drystone::io::scene::Scene;
use std::path::Path;
use std::process::Command;

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("the file is there")
}

/// The first fenced block of a language.
fn block<'a>(text: &'a str, language: &str) -> &'a str {
    let start = format!("```{language}\n");
    let from = text.find(&start).expect("the block is there") + start.len();
    &text[from..from + text[from..].find("```").expect("the block ends")]
}

#[test]
fn the_two_commands_are_those_that_are_checked() {
    let readme = file("README.md");
    let commands: Vec<&str> = block(&readme, "sh").lines().collect();
    assert_eq!(commands, ["cargo run --release --example bead_stack", "cargo test --release"]);
    let checked = file(".ci/run");
    for command in commands {
        assert!(checked.lines().any(|line| line == format!("step {command}")), ".ci/run does not run `{command}`");
    }
}

#[test]
fn the_scene_runs_and_the_ball_rests() {
    let readme = file("README.md");
    let scene = Scene::from_toml(block(&readme, "toml"), "README").expect("the scene is sound");
    let (_, summary) = drystone::scenes::run(&scene).expect("it runs");
    assert_eq!(summary.unconverged_steps, 0);
    assert!(summary.speed_max < 1e-6, "still moving at {} m/s", summary.speed_max);
    assert!((summary.height_mean_m - 0.03).abs() < 1e-6, "the ball lies at {} m", summary.height_mean_m);
}

#[test]
fn files_that_the_readme_names_are_there() {
    let readme = file("README.md");
    for (at, _) in readme.match_indices("](") {
        let target: &str = readme[at + 2..].split(')').next().expect("one part");
        if !target.contains("://") {
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(target).exists(), "README.md links to {target}");
        }
    }
}

/// Lines of a certificate that every machine must print alike: all but the one about computing time.
fn lasting(certificate: &str) -> Vec<&str> {
    certificate.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.trim_start().starts_with("computed")).collect()
}

#[test]
fn the_printed_certificate_is_that_of_a_run() {
    let readme = file("README.md");
    let mut printed = 0;
    for part in readme.split("```text\n").skip(1).filter(|part| part.starts_with("Certificate of ")) {
        let shown = part.split("```").next().expect("one part");
        let name = shown.lines().next().and_then(|line| line.strip_prefix("Certificate of ")).expect("a name").trim();
        let run = Command::new(env!("CARGO_BIN_EXE_drystone")).args(["run", name]).output().expect("the command starts");
        let found = String::from_utf8(run.stdout).expect("text");
        assert!(run.status.success(), "drystone run {name} fails: {}", String::from_utf8_lossy(&run.stderr));
        let differs = "README.md prints another certificate than a run; paste this one (figures that are quoted elsewhere too)";
        assert_eq!(lasting(shown), lasting(&found), "{differs}:\n{found}");
        printed += 1;
    }
    assert!(printed > 0, "README.md prints no certificate");
}
