//! `drystone balance`.

use super::source::{Changes, instant};
use super::{DONE, Failure, USAGE, say};
use crate::diagnostics::equilibrium::{Moved, StaticsError, Structure};
use crate::io::scene::error::did_you_mean;
use crate::numerics::hyperstatic::Interval;
use crate::numerics::statics::{PROOF, Verdict};
use glam::DVec3;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Acceleration (m/s²) from which forces of a run are told not to be those of rest.
const IN_MOTION: f64 = 1e-3;
/// Bodies that are listed one by one.
const LISTED: usize = 20;

/// Arguments of `drystone balance`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    scene: String,
    #[command(flatten)]
    changes: Changes,
    /// Instant of the loads in seconds [default: the end of the scene]
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = instant)]
    at: Option<f64>,
    /// Also tell how far equilibrium leaves each normal force open: two more programs a joint
    #[arg(long)]
    intervals: bool,
    /// Run to the instant, and tell what the joints carry then instead of the least forces; intervals are of the same motion
    #[arg(long)]
    run: bool,
    /// Only joints of this body; repeatable
    #[arg(long = "joint", value_name = "BODY")]
    joints: Vec<String>,
    /// Print one line of JSON: admissible, error, joints, mechanism, moving
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
Bodies stand where the scene puts them, at rest; what touches is a joint. Either there are
forces in the joints that obey Coulomb's law and carry the loads (admissible: the least of them are
listed), or there is a mechanism along which the loads do work; each answer is checked by itself,
and `error` is what is left. Where blocks slide, Coulomb's law is not associated: admissible then
means that a state of rest exists, not that nothing else can happen; `drystone collapse` compares.

A line for each joint:
  normal, shear   resultant on the joint (N)
  point           where the normal forces act together: the thrust line (m)
  least, most     of the normal force over all forces in equilibrium, with --intervals

With --run the lines are those of the last step of a run: its forces, and with --intervals all
forces by which its bodies would move as they do; where these are accelerated that is told, as the
forces are then not those of rest. What a wide interval shows is open in a structure of rigid
blocks.

Examples:
  drystone balance arch --set thickness_ratio=0.106
  drystone balance wall_with_opening --run --intervals --joint wall.10
  drystone balance block_dam --set water_level=5 --intervals
  drystone balance my_vault.toml --at 10 --json";

/// A scene whose statics cannot be looked at.
pub(super) fn unknown(scene: &str, error: &StaticsError) -> Failure {
    match error {
        StaticsError::Scene(error) => super::source::unbuilt(Some(scene), error),
        error => Failure::input(format!("{scene}: {error}")),
    }
}

pub(super) fn balance(arguments: &Arguments) -> Result<u8, Failure> {
    let scene = arguments.changes.load(&arguments.scene)?;
    let at = arguments.at.unwrap_or(scene.time.end);
    let made = if arguments.run { Structure::of_run(&scene, at) } else { Structure::of(&scene, at) };
    let structure = made.map_err(|e| unknown(&arguments.scene, &e))?;
    let known = |name: &str| scene.bodies.iter().any(|b| b.name == name);
    if let Some(name) = arguments.joints.iter().find(|name| !known(name)) {
        let cure = did_you_mean(name, scene.bodies.iter().map(|b| b.name.as_str()));
        return Err(Failure::new(USAGE, format!("--joint {name}: found no such body\n  {cure}")));
    }
    let asked = |k: &usize| arguments.joints.is_empty() || structure.joints[*k].bodies.iter().any(|b| arguments.joints.contains(b));
    let answer = structure.solve();
    let forces = if arguments.run { structure.simulated() } else { structure.forces(&answer) };
    let admissible = answer.verdict == Verdict::Admissible;
    let wanted = admissible && arguments.intervals;
    let interval = |k: usize| (wanted && asked(&k)).then(|| structure.interval(k)).flatten();
    let intervals: Vec<Option<Interval>> = (0..structure.joints.len()).into_par_iter().map(interval).collect();
    let moves = answer.verdict == Verdict::Mechanism;
    let mechanism = if moves { structure.mechanism(&answer) } else { Vec::new() };
    let moving = if moves { structure.moving(&answer) } else { Vec::new() };
    if arguments.json {
        let joints: Vec<Value> = structure
            .joints
            .iter()
            .zip(&forces)
            .zip(&intervals)
            .enumerate()
            .filter(|(k, _)| admissible && asked(k))
            .map(|(_, ((joint, force), interval))| {
                let mut line = json!({
                    "bodies": joint.bodies, "points": joint.points.len(), "normal_N": force.normal_N, "shear_N": force.shear_N,
                    "force_N": force.force_N.to_array(), "point": force.point.to_array(),
                });
                if let Some(i) = interval {
                    line["normal_min_N"] = json!(i.min);
                    line["normal_max_N"] = json!(i.max);
                    line["interval_gap_N"] = json!(i.gap);
                }
                line
            })
            .collect();
        let verdict = match answer.verdict {
            Verdict::Admissible => Value::Bool(true),
            Verdict::Mechanism => Value::Bool(false),
            Verdict::Undecided => Value::Null,
        };
        let moving: Vec<Value> = moving
            .iter()
            .map(|(body, v, omega)| json!({ "body": body, "velocity": v.to_array(), "angular_velocity": omega.to_array() }))
            .collect();
        let mut line = json!({
            "scene": scene.name, "at": at, "admissible": verdict, "error": answer.error, "bodies": structure.bodies,
            "joints": joints, "mechanism": mechanism, "moving": moving,
        });
        if arguments.run {
            line["acceleration_max"] = json!(structure.acceleration);
        }
        say(&line.to_string());
        return Ok(DONE);
    }
    let contacts: usize = structure.joints.iter().map(|j| j.points.len()).sum();
    let mut lines = vec![format!(
        "{} with its loads at {at} s: {} bodies, {} joints, {contacts} contact points",
        scene.name,
        structure.bodies,
        structure.joints.len()
    )];
    match answer.verdict {
        Verdict::Admissible => {
            let how = if arguments.run {
                "the forces of the run carry its loads and its motion"
            } else {
                "forces in the joints can carry the loads"
            };
            lines.push(format!("  admissible: {how} (equilibrium to {:.1e} of them)", answer.error));
            if structure.acceleration > IN_MOTION {
                lines.push(format!(
                    "  in motion: centres of mass are accelerated by up to {:.3e} m/s2 in this step, so these are not the forces of a state of rest",
                    structure.acceleration
                ));
            }
            if !scene.joints.is_empty() {
                lines.push("  what [[joints]] carry is not listed: joints.csv of `drystone run --out DIR` has it".to_owned());
            }
            let heads = if wanted { format!("{:>14}{:>14}", "least N", "most N") } else { String::new() };
            lines.push(format!("  {:<34}{:>14}{:>14}  {:<27}{heads}", "joint", "normal N", "shear N", "point m"));
            for (_, ((joint, force), interval)) in
                structure.joints.iter().zip(&forces).zip(&intervals).enumerate().filter(|(k, _)| asked(k))
            {
                let p = force.point;
                let range = interval.map_or(String::new(), |i| format!("{:>14.6e}{:>14.6e}", i.min, i.max));
                let point = format!("{:.4} {:.4} {:.4}", p.x, p.y, p.z);
                lines.push(format!("  {:<34}{:>14.6e}{:>14.6e}  {point:<27}{range}", joint.name(), force.normal_N, force.shear_N));
            }
        }
        Verdict::Mechanism => {
            lines.push(format!("  not admissible: the loads do work along this mechanism (it misses its law by {:.1e})", answer.error));
            if mechanism.is_empty() {
                lines.extend(falling(&moving));
            } else {
                lines.extend(table(&mechanism));
            }
        }
        Verdict::Undecided => lines.push(format!(
            "  undecided: at the limit. Forces in the joints carry the loads but for {:.1e} of them (a proof needs {PROOF:.0e}), and no mechanism\n  \
             could be shown to gain work; change the loads by some of such parts to see either",
            answer.error
        )),
    }
    say(&lines.join("\n"));
    Ok(DONE)
}

/// Bodies that move though no joint does, a line each.
fn falling(moving: &[(String, DVec3, DVec3)]) -> Vec<String> {
    let mut lines = vec![
        "  no face on a face opens or slides: nothing holds these bodies, or [[joints]] let them go this way".to_owned(),
        format!("  {:<34}{:<27}turns", "body", "moves"),
    ];
    let row = |v: &DVec3| format!("{:.4} {:.4} {:.4}", v.x, v.y, v.z);
    lines.extend(moving.iter().take(LISTED).map(|(name, v, omega)| format!("  {name:<34}{:<27}{}", row(v), row(omega))));
    if moving.len() > LISTED {
        lines.push(format!("  and {} more", moving.len() - LISTED));
    }
    lines
}

/// The joints that move, a line each.
pub(super) fn table(mechanism: &[Moved]) -> Vec<String> {
    let mut lines = vec![format!("  {:<4}{:<34}{:<8}{:>9}{:>9}  point m", "", "joint", "", "opening", "sliding")];
    let mut hinges = 0;
    for m in mechanism {
        let hinge = m.kind == crate::diagnostics::equilibrium::Kind::Hinge;
        hinges += usize::from(hinge);
        let number = if hinge { format!("{hinges}") } else { String::new() };
        let kind = format!("{:?}", m.kind).to_lowercase();
        let (name, p) = (m.bodies.join(" | "), m.point);
        lines.push(format!("  {number:<4}{name:<34}{kind:<8}{:>9.4}{:>9.4}  {:.4} {:.4} {:.4}", m.opening, m.sliding, p.x, p.y, p.z));
    }
    lines
}
