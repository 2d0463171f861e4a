//! What the README promises: its two first commands are those of `.ci/run`, its scene loads and runs, its picture exists, and every
//! `drystone` command of it works, the dear ones shortened.

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

/// Every command that begins with `drystone`: on lines of its own, what is two spaces away from it is its description, and in the text.
#[cfg(feature = "cli")]
fn commands(readme: &str) -> Vec<String> {
    let fenced = readme.split("```").skip(1).step_by(2).flat_map(str::lines);
    let lines = fenced.filter_map(|line| line.strip_prefix("drystone ").map(|rest| rest.split("  ").next().unwrap_or(rest)));
    let inline = readme.split('`').filter_map(|code| code.strip_prefix("drystone "));
    // a name alone, as in `drystone solve`, is no command to run
    let whole = |c: &&str| c.contains(' ') || *c == "scenes" || *c == "solvers";
    let mut found: Vec<String> = Vec::new();
    for command in lines.chain(inline).filter(|c| !c.contains('\n')).filter(whole).map(str::trim) {
        if !found.iter().any(|known| known == command) {
            found.push(command.to_owned());
        }
    }
    found
}

/// The same command, so that it ends soon: the long runs stop early, the profile has little time for each solve.
#[cfg(feature = "cli")]
fn shortened(command: &str) -> Vec<String> {
    let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let until = |t: &str| ["--until".to_owned(), t.to_owned()];
    match words[0].as_str() {
        "run" if words.iter().any(|w| w == "--resume") => {
            let at = words.iter().position(|w| w == "--until").expect("the README goes on to a time");
            words[at + 1] = "0.22".to_owned();
        }
        "run" if words.iter().any(|w| w == "n=20") => words.extend(until("0.01")),
        "run" => words.extend(until("0.2")),
        "plot" => {
            if let Some(at) = words.iter().position(|w| w == "--at") {
                words[at + 1] = "0.1,0.2".to_owned();
            }
        }
        "film" => words.extend(until("0.04")),
        "bench" => words.extend(until("0.01")),
        "profile" => words.extend(["--time-limit", "0.05", "--repeat", "1"].map(str::to_owned)),
        _ => {}
    }
    words
}

#[cfg(feature = "cli")]
#[test]
fn every_command_of_the_readme_works() {
    let readme = file("README.md");
    let directory = tempfile::tempdir().expect("a folder");
    let at = |name: &str| directory.path().join(name);
    let copy = |from: &str, to: &str| std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(from), at(to)).expect("it can be copied");
    std::fs::create_dir_all(at("assets/pictures")).expect("a folder");
    for folder in ["assets/problems", "assets/corpus", "assets/scenes"] {
        std::fs::create_dir_all(at(folder)).expect("a folder");
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("the folder is there") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            copy(&format!("{folder}/{name}"), &format!("{folder}/{name}"));
        }
    }
    // the names that stand for files of the reader
    copy("assets/problems/tower_3d.hdf5", "problem.hdf5");
    std::fs::write(at("my_scene.toml"), block(&readme, "toml")).expect("it can be written");

    let all = commands(&readme);
    assert!(all.len() >= 20, "only {} commands are found", all.len());
    for command in all {
        let mut words = Vec::new();
        for word in shortened(&command) {
            match word.strip_suffix("/*") {
                Some(folder) => {
                    let mut files: Vec<String> = std::fs::read_dir(at(folder))
                        .expect("the folder is there")
                        .map(|e| format!("{folder}/{}", e.expect("an entry").file_name().to_string_lossy()))
                        .collect();
                    files.sort();
                    words.extend(files);
                }
                None => words.push(word),
            }
        }
        let output = Command::new(env!("CARGO_BIN_EXE_drystone")).args(&words).current_dir(&directory).output().expect("it starts");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "drystone {command}\n{out}\n{err}");
        assert!(!out.contains("WARNING"), "drystone {command}\n{out}");
        if command.starts_with("solve") {
            let bad = |line: &&str| ["Stalled", "BudgetSpent", "Inconsistent", "error"].iter().any(|word| line.contains(word));
            assert_eq!(out.lines().find(bad), None, "drystone {command}");
        }
    }
    for made in [
        "assets/pictures/bead_stack.png",
        "answer.hdf5",
        "profile/profile.svg",
        "wall/steps.csv",
        "results/summary.json",
        "curves.svg",
        "film/frame_00002.png",
        "results/report.html",
    ] {
        assert!(at(made).exists(), "{made}");
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
