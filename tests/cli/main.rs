//! The command line as scripts see it: exit codes, the one line of JSON, messages, files.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot read its output has failed")]

use serde_json::Value;
use std::process::{Command, Output, Stdio};

mod bench;
mod faults;
mod folders;
mod ground;
mod imports;
mod joints;
#[cfg(feature = "lens")]
mod masonry;
mod plots;
mod problems;
mod records;
mod runs;
mod sweep;

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

const GOOD: &str = "[time]\nstep = \"2 ms\"\nend = 0.02\n[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
                    [[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\n";
