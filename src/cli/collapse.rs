//! `drystone collapse`.

use super::balance::{table, unknown};
use super::source::{Changes, check_length, positive, span};
use super::{DONE, Failure, USAGE, say};
use crate::diagnostics::collapse::{Bracket, Trial, bisect, tilted, trial};
use crate::diagnostics::equilibrium::{Kind, Structure, admissible, is_steady};
use crate::io::scene::Scene;
use crate::io::scene::loads::BaseMotion;
use crate::io::scene::model::Motion;
use crate::scenes::build;
use glam::DVec3;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;

/// Arguments of `drystone collapse`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    scene: String,
    #[command(flatten)]
    changes: SetAndStep,
    /// What is varied: friction, load, tilt, thickness, water, acceleration, settlement, or any key that --set takes
    #[arg(long, value_name = "WHAT")]
    vary: String,
    /// Two values, at one of which it stands
    #[arg(long, num_args = 2, allow_hyphen_values = true, required = true, value_names = ["A", "B"], value_parser = number)]
    between: Vec<f64>,
    /// Width of the bracket, in parts of its larger end
    #[arg(long, allow_hyphen_values = true, value_name = "WIDTH", default_value_t = 1e-3, value_parser = positive)]
    tol: f64,
    /// Way that tilt, and acceleration without a [base], push things: x,y,z
    #[arg(long, value_name = "X,Y,Z", default_value = "1,0,0", allow_hyphen_values = true, value_parser = super::picture::direction)]
    towards: DVec3,
    /// End of the runs in seconds instead of the scene's
    #[arg(long, allow_hyphen_values = true, value_name = "T", value_parser = span)]
    until: Option<f64>,
    /// How many runs at a time; the result is the same on any number [default: as many as there are processors]
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Draw how it begins to fall: an elevation with the hinges of the table as SVG, or a PNG
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    picture: Option<PathBuf>,
    /// Print one line of JSON: lower, upper, statics, mechanism and more
    #[arg(long)]
    json: bool,
}

/// Changes of the scene; --tol is that of the bracket here.
#[derive(Clone, Debug, clap::Args)]
struct SetAndStep {
    /// Change a parameter of a built-in scene, or a value of a file by its dotted TOML path; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Time step in seconds or with its unit (2ms) instead of the scene's, or auto
    #[arg(long, allow_hyphen_values = true, value_name = "H", value_parser = super::source::step_size)]
    step: Option<super::source::StepSize>,
}

const HELP: &str = "\
  friction       coefficient of friction of all contacts
  load           factor on the forces and torques of bodies, on each [[load]] and on the water
  tilt           degrees by which gravity leans --towards
  thickness      thickness_ratio (or thickness) of an arch, a vault, a bridge or a dome, width of a
                 dam or a wall
  water          level of the water (m)
  acceleration   factor on [base]; without one, horizontal push --towards in g
  settlement     factor on the motion of supports ([[support]]) and other driven bodies
A run falls when a body has gone by its own smallest length, or has gone by a tenth of it or is
still moving at the end; what a driven support carries with it has not gone, and beside one the
tenth does not count. The limit is bisected twice: by runs (lower, upper), and by statics, as
`drystone balance` does, where the loads are steady. Where blocks slide, Coulomb's law is not
associated, and the two may differ: the gap is printed. The two ends of the bracket are run again
with half the step and with a tenth of the tolerance; what then changes is said.

Examples:
  drystone collapse arch --vary thickness --between 0.09 0.12 --picture hinges.svg
  drystone collapse arch --vary acceleration --between 0 0.5 --set thickness_ratio=0.15
  drystone collapse block_dam --vary water --between 4 9 --set width=2 --until 5
  drystone collapse wall.toml --vary generate.wall.0.height --between 0.1 0.4 --json";

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| "write a number, such as 0.1".to_owned())
}

/// Where the generators keep what people call thickness.
const THICKNESS: [&str; 12] = [
    "generate.arch.0.thickness_ratio",
    "generate.arch.0.thickness",
    "generate.barrel.0.thickness_ratio",
    "generate.barrel.0.thickness",
    "generate.cross_vault.0.thickness_ratio",
    "generate.cross_vault.0.thickness",
    "generate.bridge.0.thickness_ratio",
    "generate.bridge.0.thickness",
    "generate.dome.0.thickness_ratio",
    "generate.dome.0.thickness",
    "generate.dam.0.width",
    "generate.wall.0.width",
];

/// What is varied.
enum Vary {
    Friction,
    Load,
    Tilt,
    Water,
    Acceleration,
    Settlement,
    Key(String),
}

impl Arguments {
    fn scene(&self, more: Option<String>) -> Result<Scene, Failure> {
        let set = self.changes.set.iter().cloned().chain(more).collect();
        let mut scene = Changes::new(set, self.changes.step, None).load(&self.scene)?;
        scene.time.end = self.until.unwrap_or(scene.time.end);
        Ok(scene)
    }

    fn vary(&self) -> Result<Vary, Failure> {
        let scene = self.scene(None)?;
        let wrong = |found: &str| Err(Failure::new(USAGE, format!("--vary {}: {found}", self.vary)));
        Ok(match self.vary.as_str() {
            "friction" => Vary::Friction,
            "tilt" => Vary::Tilt,
            "acceleration" => Vary::Acceleration,
            "water" if scene.water.is_empty() => return wrong("the scene has no [[water]]"),
            "water" => Vary::Water,
            "load"
                if scene.water.is_empty()
                    && scene.loads.is_empty()
                    && scene.bodies.iter().all(|b| b.force == DVec3::ZERO && b.torque == DVec3::ZERO) =>
            {
                return wrong("no body of the scene has a force or a torque, and there is no [[load]] and no water");
            }
            "load" => Vary::Load,
            "settlement" if scene.bodies.iter().all(|b| !matches!(b.motion, Motion::Kinematic(_))) => {
                return wrong("nothing of the scene is moved; add a [[support]]");
            }
            "settlement" => Vary::Settlement,
            "thickness" => {
                let value = self.between[0].max(self.between[1]);
                let Some(key) = THICKNESS.iter().find(|key| self.scene(Some(format!("{key}={value}"))).is_ok()) else {
                    return wrong("the scene has no arch, vault, bridge, dome, dam or wall of a generator; vary a number of it by its key");
                };
                Vary::Key((*key).to_owned())
            }
            key => Vary::Key(key.to_owned()),
        })
    }

    /// The scene with this value of what is varied.
    fn at(&self, vary: &Vary, value: f64) -> Result<Scene, Failure> {
        if let Vary::Key(key) = vary {
            return self.scene(Some(format!("{key}={value}")));
        }
        let mut scene = self.scene(None)?;
        let wrong = |cure: &str| Err(Failure::new(USAGE, format!("--between: found {value} for {}; {cure}", self.vary)));
        match vary {
            Vary::Friction if value < 0.0 => return wrong("friction is not negative"),
            Vary::Friction => {
                scene.default_law.mu = value;
                scene.pair_laws.iter_mut().for_each(|pair| pair.law.mu = value);
            }
            Vary::Load => {
                for body in &mut scene.bodies {
                    (body.force, body.torque) = (value * body.force, value * body.torque);
                }
                for load in &mut scene.loads {
                    load.factors.iter_mut().for_each(|f| *f *= value);
                }
                if value < 0.0 && !scene.water.is_empty() {
                    return wrong("water does not pull");
                }
                scene.water.iter_mut().for_each(|water| water.density *= value);
            }
            Vary::Tilt => {
                for g in &mut scene.gravity {
                    g.acceleration = tilted(g.acceleration, self.towards, value.to_radians());
                }
            }
            Vary::Water => scene.water.iter_mut().for_each(|water| (water.levels, water.times) = (vec![value], vec![0.0])),
            Vary::Acceleration => match &mut scene.base {
                Some(base) if !base.is_still() => base.scale(value),
                base => {
                    let g = scene.gravity.first().map_or(9.81, |g| g.acceleration.length());
                    // bodies feel the opposite of what the ground does
                    *base = Some(BaseMotion::of_accelerations(vec![0.0], vec![-value * g * self.towards.normalize_or_zero()]));
                }
            },
            Vary::Settlement => scene.bodies.iter_mut().for_each(|body| {
                if let Motion::Kinematic(drive) = &mut body.motion {
                    drive.scale(value);
                }
            }),
            Vary::Key(_) => {}
        }
        Ok(scene)
    }
}

pub(super) fn collapse(arguments: &Arguments) -> Result<u8, Failure> {
    let (mut a, mut b) = (arguments.between[0], arguments.between[1]);
    if a > b {
        (a, b) = (b, a);
    }
    if a == b {
        return Err(Failure::new(USAGE, format!("--between {a} {b}: the two are the same")));
    }
    arguments.picture.as_deref().map_or(Ok(()), super::picture::named)?;
    let vary = arguments.vary()?;
    check_length(&arguments.at(&vary, b)?)?;
    let jobs = arguments.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let target = if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    let trials: Mutex<Vec<Trial>> = Mutex::new(Vec::new());
    let note = |found: &Trial| {
        bar.set_message(format!("{} = {}: {}", arguments.vary, found.value, if found.stands { "stands" } else { "falls" }));
        bar.tick();
    };
    let failed = |value: f64, error: &crate::scenes::BuildError| Failure::input(format!("{} = {value}: {error}", arguments.vary));
    let runs = |value: f64| -> Result<Option<bool>, Failure> {
        let found = trial(&arguments.at(&vary, value)?, value).map_err(|e| failed(value, &e))?;
        note(&found);
        let stands = found.stands;
        trials.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(found);
        Ok(Some(stands))
    };
    let bracket = bisect([a, b], arguments.tol, jobs, runs)?.map_err(|both| same(arguments, [a, b], both, "runs"))?;
    let last = arguments.at(&vary, b)?;
    let (steady, bound) = (is_steady(&last), last.bonds());
    let statics = |value: f64| -> Result<Option<bool>, Failure> {
        let scene = arguments.at(&vary, value)?;
        let structure = Structure::of(&scene, scene.time.end).map_err(|e| unknown(&arguments.scene, &e))?;
        Ok(admissible(&structure.solve()))
    };
    let limit = if steady { bisect([a, b], arguments.tol.min(1e-4), jobs, statics)?.ok() } else { None };
    let mut trials = trials.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    trials.sort_by(|one, two| one.value.total_cmp(&two.value));
    // speculative runs lie outside the bracket or are its ends; the one that fell is one of them
    let fallen = trials.iter().find(|t| t.value == bracket.falling()).cloned();
    let checks = recheck(arguments, &vary, &bracket, jobs, &failed)?;
    bar.finish_and_clear();
    if let Some(out) = &arguments.picture {
        let mut scene = arguments.at(&vary, bracket.falling())?;
        scene.time.end = fallen.as_ref().and_then(|t| t.time).unwrap_or(scene.time.end);
        let hinges = fallen.iter().flat_map(|t| &t.mechanism).filter(|m| m.kind == Kind::Hinge).map(|m| m.bodies.clone());
        let built = build(&scene).map_err(Failure::input)?;
        super::picture::draw(&scene, built, &super::picture::Look::of_forces(), out, &hinges.collect::<Vec<_>>())?;
    }
    let report = Report { arguments, bracket, limit, fallen, checks, trials, steady, bound };
    say(&if arguments.json { report.json() } else { report.text() });
    Ok(DONE)
}

/// Both ends do the same, or one could not be told.
fn same(arguments: &Arguments, [a, b]: [f64; 2], both: Option<bool>, by: &str) -> Failure {
    let what = match both {
        Some(true) => "stands at both",
        Some(false) => "falls at both",
        None => "cannot be told at one",
    };
    Failure::input(format!("{}: by {by} it {what} {} = {a} and {b}; widen --between", arguments.scene, arguments.vary))
}

/// Whether the ends of the bracket do the same with half the step, and with a tenth of the tolerance.
fn recheck(
    arguments: &Arguments,
    vary: &Vary,
    bracket: &Bracket,
    jobs: usize,
    failed: &(impl Fn(f64, &crate::scenes::BuildError) -> Failure + Sync),
) -> Result<[bool; 2], Failure> {
    let mut same = [true; 2];
    for (same, (step, tolerance)) in same.iter_mut().zip([(0.5, 1.0), (1.0, 0.1)]) {
        let stands = |value: f64| -> Result<Option<bool>, Failure> {
            let mut scene = arguments.at(vary, value)?;
            scene.time.step *= step;
            scene.solver.tolerance *= tolerance;
            trial(&scene, value).map(|t| Some(t.stands)).map_err(|e| failed(value, &e))
        };
        let again = bisect([bracket.lower, bracket.upper], 2.0, jobs, stands)?;
        *same = again.is_ok_and(|again| again == *bracket);
    }
    Ok(same)
}

/// All that was found.
struct Report<'a> {
    arguments: &'a Arguments,
    bracket: Bracket,
    limit: Option<Bracket>,
    fallen: Option<Trial>,
    checks: [bool; 2],
    trials: Vec<Trial>,
    steady: bool,
    bound: bool,
}

impl Report<'_> {
    /// The limit by statics: the end at which forces still carry the loads.
    fn statics(&self) -> Option<f64> {
        self.limit.map(|limit| 0.5 * (limit.lower + limit.upper))
    }

    fn json(&self) -> String {
        let (b, fallen) = (&self.bracket, self.fallen.as_ref());
        serde_json::json!({
            "scene": self.arguments.scene,
            "vary": self.arguments.vary,
            "lower": b.lower,
            "upper": b.upper,
            "stands": if b.stands_below { "below" } else { "above" },
            "statics": self.statics(),
            "statics_lower": self.limit.map(|l| l.lower),
            "statics_upper": self.limit.map(|l| l.upper),
            "mechanism": fallen.map(|t| &t.mechanism),
            "began_s": fallen.and_then(|t| t.time),
            "began_at": fallen.and_then(|t| t.body.as_ref()),
            "same_at_half_step": self.checks[0],
            "same_at_tenth_tolerance": self.checks[1],
            "trials": self.trials,
        })
        .to_string()
    }

    fn text(&self) -> String {
        let (b, vary) = (&self.bracket, &self.arguments.vary);
        let mut lines = vec![format!("{}: how much {vary} it takes", self.arguments.scene)];
        lines.push(format!("  {:>14}  {:<8}{:>12}{:>12}  first to go", vary, "", "at s", "way"));
        for t in &self.trials {
            let verdict = if t.stands { "stands" } else { "falls" };
            let time = t.time.map_or(String::new(), |t| format!("{t:.4}"));
            let missed = if t.missed > 0 { format!("  ({} steps missed)", t.missed) } else { String::new() };
            lines.push(format!("  {:>14.8}  {verdict:<8}{time:>12}{:>12.2e}  {}{missed}", t.value, t.way, t.body.as_deref().unwrap_or("")));
        }
        lines.push(format!("  stands at {:.8}, falls at {:.8}, by runs", b.standing(), b.falling()));
        match (&self.limit, self.steady) {
            (Some(limit), _) => {
                let gap =
                    (0.5 * (b.lower + b.upper) - 0.5 * (limit.lower + limit.upper)) / (0.5 * (limit.lower + limit.upper)).abs().max(1e-300);
                lines.push(format!(
                    "  stands at {:.8}, falls at {:.8}, by statics; the runs differ by {:+.2} %",
                    limit.standing(),
                    limit.falling(),
                    100.0 * gap
                ));
            }
            (None, true) => lines.push("  statics have no limit in between (blocks that slide do not obey an associated law)".to_owned()),
            (None, false) => lines.push("  no limit by statics: the loads change in time".to_owned()),
        }
        let moved = self.trials.iter().find(|t| t.value == b.standing() && t.time.is_some());
        if let Some(t) = moved.filter(|_| self.limit.is_some()) {
            let body = t.body.as_deref().unwrap_or_default();
            lines.push(format!(
                "  at {:.8} {body} moves by {:.2e} of its size and comes to rest in another shape, as where gaps close; statics judge the one it has at the start",
                t.value, t.way
            ));
        }
        if self.bound && self.limit.is_some() {
            lines.push(
                "  mortar: statics let all joints bear their whole strength at once; runs know that one breaks after another, but let a point that is \
                 pulled and sheared bear up to √(1 + (mu tension/cohesion)²) times as much"
                    .to_owned(),
            );
        }
        for (same, what) in self.checks.iter().zip(["half the time step", "a tenth of the tolerance"]) {
            let said = if *same { "the same with" } else { "NOT the same with" };
            lines.push(format!("  {said} {what}"));
        }
        if let Some(t) = &self.fallen {
            let (time, body) = (t.time.unwrap_or(0.0), t.body.as_deref().unwrap_or(""));
            lines.push(format!("  mechanism at {:.8}, from {time:.4} s, first {body}:", t.value));
            lines.extend(table(&t.mechanism));
        }
        lines.join("\n")
    }
}
