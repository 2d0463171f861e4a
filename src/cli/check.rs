//! `drystone check`.

use super::source::{Changes, unbuilt};
use super::{DONE, FAULTS, Failure, say};
use crate::diagnostics::check::{Severity, check as find};
use crate::io::scene::{Scene, SceneSource};
use crate::scenes::BuildError;

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
    let source = SceneSource::new(&arguments.scene);
    for finding in &findings {
        let said = finding.to_string();
        let place = finding.body.as_deref().and_then(|body| Scene::place_of_body(&source, body));
        say(&place.map_or(said.clone(), |place| said.replacen('\n', &format!(" ({place})\n"), 1)));
    }
    let faults = findings.iter().filter(|finding| finding.severity == Severity::Fault).count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let hints = count(findings.len() - faults, "hint");
    let refused = crate::scenes::build(&scene).err();
    if faults > 0 {
        // what is not said yet: findings tell of shapes in their own words, not of a place in a cell or a birth
        let said = |error: &BuildError| {
            let named = findings.iter().any(|finding| finding.body.as_deref() == error.body());
            named && !matches!(error, BuildError::Body { .. })
        };
        let other = refused.filter(|error| !said(error));
        if let Some(error) = &other {
            say(&format!("fault: {}", unbuilt(Some(&arguments.scene), error).message));
        }
        say(&format!("{}: {}, {hints}", scene.name, count(faults + usize::from(other.is_some()), "fault")));
        return Ok(FAULTS);
    }
    if let Some(error) = refused {
        return Err(unbuilt(Some(&arguments.scene), &error));
    }
    say(&format!("{}: {} bodies, no faults, {hints}", scene.name, scene.bodies.len()));
    Ok(DONE)
}
