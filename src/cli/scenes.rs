//! `drystone scenes`.

use super::source::Changes;
use super::{DONE, Failure, USAGE, say, tell};
use crate::io::scene::builtin;

const EXAMPLES: &str = "\
Examples:
  drystone scenes
  drystone scenes hopper > my_hopper.toml
  drystone scenes hopper --set n=500 --set output.branches=true";

/// Arguments of `drystone scenes`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Print this built-in scene as a scene file instead
    scene: Option<String>,
    #[command(flatten)]
    changes: Changes,
}

pub(super) fn scenes(arguments: &Arguments) -> Result<u8, Failure> {
    let Some(name) = &arguments.scene else {
        if !arguments.changes.are_none() {
            return Err(Failure::new(USAGE, "--set, --step and --tol change a scene; name one, such as `drystone scenes hopper`"));
        }
        list();
        return Ok(DONE);
    };
    let scene = builtin::find(name).map_err(Failure::input)?;
    // what is printed is a scene that can be read
    let (_, files) = arguments.changes.load_with_files(scene.name)?;
    say(arguments.changes.text(scene.name, None)?.trim_end());
    if !files.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| file.named.as_str()).collect();
        tell(&format!("{} is inside the program; `drystone run {name} --out DIR` writes it into DIR", names.join(", ")));
    }
    Ok(DONE)
}

fn list() {
    let widest = builtin::all().iter().map(|scene| scene.name.len()).max().unwrap_or_default();
    for scene in builtin::all() {
        say(&format!("{:<width$}{}", scene.name, scene.about, width = widest + 2));
        for p in scene.parameters {
            let unit = if p.unit.is_empty() { String::new() } else { format!(" {}", p.unit) };
            say(&format!("    {:<23}{} [{}{unit}]", p.name, p.help, p.default));
        }
    }
    say(
        "\nRun one with `drystone run NAME --set parameter=value`; a scene of your own is a TOML file, and `drystone scenes NAME` prints one.",
    );
}
