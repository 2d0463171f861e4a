//! `drystone check`.

use super::source::{Changes, unbuilt};
use super::{DONE, FAULTS, Failure, say};
use crate::diagnostics::check::{Severity, check as find};

/// Arguments of `drystone check`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    scene: String,
    #[command(flatten)]
    changes: Changes,
}

pub(super) fn check(arguments: &Arguments) -> Result<u8, Failure> {
    let scene = arguments.changes.load(&arguments.scene)?;
    let findings = find(&scene);
    for finding in &findings {
        say(&finding.to_string());
    }
    let faults = findings.iter().filter(|finding| finding.severity == Severity::Fault).count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let hints = count(findings.len() - faults, "hint");
    if faults > 0 {
        say(&format!("{}: {}, {hints}", scene.name, count(faults, "fault")));
        return Ok(FAULTS);
    }
    crate::scenes::build(&scene).map_err(|error| unbuilt(Some(&arguments.scene), &error))?;
    say(&format!("{}: {} bodies, no faults, {hints}", scene.name, scene.bodies.len()));
    Ok(DONE)
}
