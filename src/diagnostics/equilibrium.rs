//! The joints of a structure as it stands in its scene, and whether forces in them can carry its loads.
//!
//! The rows are those of a step from rest: contacts closed within [`CLOSED`] of the smaller body, joints, and the loads at one instant
//! (gravity, forces, water, ground acceleration). See [`crate::numerics::statics`] for the two theorems.
//!
//! ```text
//! −f a ≤ r_n,  ‖r_t‖ ≤ c a + μ r_n       a point of a bound joint, a its share of the area (Mohr and Coulomb with a cut-off)
//! r_n ≤ f_c a                             a point of a joint that crushes (`model::crushing`): the block of stress
//! r = clamp(−k y)                         springs and servos: what they give as the scene stands is a load
//! ```
//!
//! A run lets tension and shear add up on an ellipse (`model::bond`), which is not convex beside friction. Where a point bears both, it is a little less than
//! this near the whole tension, and elsewhere more: up to √(1 + (μ f/c)²) times, 1.25 at c = f and μ = 0.75. Statics let every point bear its whole
//! strength at once; where mortar is brittle and one joint breaks after another, a run falls before.

use super::joints::COUPLE;
use super::rows::{Instant, Rows};
use crate::algebra::spatial::Pose;
use crate::assembly::problem::StepProblem;
use crate::io::scene::loads::BaseMotion;
use crate::io::scene::model::{GravityFrom, Motion, Scene};
use crate::model::scheme::Friction;
use crate::numerics::hyperstatic::Interval;
use crate::numerics::mixed::System;
use crate::numerics::statics::{Answer, Statics, Verdict};
use crate::setup::{BuildError, build};
use crate::topology::bodies::Slot;
use glam::DVec3;
use serde::Serialize;

/// Largest gap of a closed contact, in parts of the smaller body's smallest length.
pub const CLOSED: f64 = 1e-6;
/// Step of which the rows are taken (s): nothing moves within it.
const INSTANT: f64 = 1e-5;
/// Birth of a body that is not there (s).
const NEVER: f64 = 1e9;
/// Rates of joints below this share of the velocities that meet there are none.
const AS_ONE: f64 = 1e-6;
/// A motion below this share of the largest one is none: within it a mechanism is not unique near the limit.
const STILL: f64 = 0.02;

/// A scene whose equilibrium cannot be looked at.
///
/// ```
/// let error = drystone::diagnostics::equilibrium::StaticsError::Systems;
/// assert!(error.to_string().contains("drystone run"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum StaticsError {
    /// It cannot be simulated either.
    #[error(transparent)]
    Scene(#[from] BuildError),
    /// Forces that depend on how things move.
    #[error("found systems of one's own: their forces are not known without time; use `drystone run`")]
    Systems,
    /// Friction whose bound is a force in a joint.
    #[error("joint {0} has a bearing, whose friction follows the force in it; give it dry `friction`, or use `drystone run`")]
    Bearing(String),
    /// The rows are not those of a sound problem.
    #[error(transparent)]
    Rows(#[from] crate::numerics::ProblemError),
    /// Nothing to hold up.
    #[error("no body of the scene can move at {at} s; add dynamic bodies, or name another instant")]
    Nothing {
        /// The instant (s).
        at: f64,
    },
}

/// A face in which two bodies touch; two bodies that touch in several have as many.
///
/// ```no_run
/// # fn show(joint: &drystone::diagnostics::equilibrium::Joint) {
/// println!("{}: {} contact points", joint.name(), joint.points.len());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Joint {
    /// Names of the bodies; the normal points from the second to the first.
    pub bodies: [String; 2],
    /// Contact points (m, world).
    pub points: Vec<DVec3>,
    /// Unit normal of the first point.
    pub normal: DVec3,
    /// Area that mortar binds (m²).
    #[serde(rename = "bound_m2")]
    pub bound: f64,
    /// Indices of the bodies in the scene.
    #[serde(skip)]
    pub indices: [usize; 2],
    /// Row of the first of its normals; each point has three.
    #[serde(skip)]
    pub(super) row: usize,
    /// Normal and first tangent of each point.
    #[serde(skip)]
    pub(super) frames: Vec<[DVec3; 2]>,
}

/// What a joint carries.
///
/// ```
/// use drystone::diagnostics::equilibrium::JointForce;
/// let idle = JointForce::default();
/// assert_eq!(idle.normal_N, 0.0);
/// ```
#[allow(non_snake_case, reason = "units are part of the names that scripts see")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct JointForce {
    /// Resultant on the first body (N, world).
    pub force_N: DVec3,
    /// Its part along the normal (N).
    pub normal_N: f64,
    /// Its part in the joint (N).
    pub shear_N: f64,
    /// Where the normal forces act together (m, world): a point of the thrust line. The middle of the contact points where there are none, and
    /// where they are a couple.
    pub point: DVec3,
}

/// How a joint moves in a mechanism.
///
/// ```
/// use drystone::diagnostics::equilibrium::Kind;
/// assert_eq!(serde_json::to_string(&Kind::Slides).ok().as_deref(), Some("\"slides\""));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It opens on one side and stays closed on the other.
    Hinge,
    /// It opens everywhere.
    Opens,
    /// It stays closed and slides.
    Slides,
    /// It gives way under the pressure that it bears, and opens nowhere.
    Crushes,
}

/// A joint that moves in a mechanism.
///
/// ```no_run
/// # fn show(moved: &drystone::diagnostics::equilibrium::Moved) {
/// println!("{} – {}: {:?}, opens by up to {}", moved.bodies[0], moved.bodies[1], moved.kind, moved.opening);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// Names of the bodies.
    pub bodies: [String; 2],
    /// How.
    pub kind: Kind,
    /// Largest opening of its points, in parts of the largest motion of any joint.
    pub opening: f64,
    /// Largest sliding of its points, likewise.
    pub sliding: f64,
    /// The point about which it turns, or the middle of its points (m, world).
    pub point: DVec3,
}

/// The joints of a scene and its loads at one instant.
///
/// ```
/// use drystone::diagnostics::equilibrium::Structure;
/// use drystone::numerics::statics::Verdict;
/// // limit analysis: this arch needs a thickness of 0.1055 of its radius
/// for (ratio, verdict) in [("0.1060", Verdict::Admissible), ("0.1050", Verdict::Mechanism)] {
///     let arch = drystone::scenes::load("arch", &[("thickness_ratio", ratio)])?;
///     assert_eq!(Structure::of(&arch, 0.0)?.solve().verdict, verdict);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Structure {
    /// Faces in which bodies touch, in the order of the bodies.
    pub joints: Vec<Joint>,
    /// Number of bodies that can move.
    pub bodies: usize,
    /// Largest acceleration of a centre of mass in the last step of a run (m/s²), by which its forces are not those of rest; 0 without a run.
    pub acceleration: f64,
    pub(super) statics: Statics,
    /// Name of each body that can move, by its place among the velocities.
    pub(super) names: Vec<String>,
    /// Forces of a run in its rows; empty without one.
    pub(super) simulated: Vec<f64>,
}

/// The rows of a step whose loads are known.
fn known(step: &StepProblem, at: f64) -> Result<&StepProblem, StaticsError> {
    let springs = step.problem.blocks.iter().filter(|b| matches!(b.systems[2], System::General(_))).count();
    let own = step.problem.blocks.iter().any(|b| b.systems[..2].iter().any(|s| matches!(s, System::General(_))));
    if own || springs < step.problem.general.len() {
        return Err(StaticsError::Systems);
    }
    if step.problem.rigid.is_empty() { Err(StaticsError::Nothing { at }) } else { Ok(step) }
}

impl Structure {
    /// The structure of a scene with its loads at `at` (s): bodies stand where the scene puts them, at rest.
    ///
    /// # Errors
    /// See [`StaticsError`].
    pub fn of(scene: &Scene, at: f64) -> Result<Self, StaticsError> {
        if let Some(joint) = scene.joints.iter().find(|joint| joint.spec.bearing.is_some()) {
            return Err(StaticsError::Bearing(joint.name.clone()));
        }
        let frozen = freeze(scene, at);
        let mut built = build(&frozen)?;
        // the rows alone are wanted: the first sweep is enough
        let solver = built.simulation.solver_mut();
        (solver.tolerance, solver.max_sweeps) = (1.0, 1);
        built.simulation.step().map_err(BuildError::from)?;
        let world = built.simulation.world();
        let step = known(world.resource::<StepProblem>(), at)?;
        // slots in the order of the bodies that are there
        let there: Vec<usize> = (0..frozen.bodies.len()).filter(|&i| frozen.bodies[i].birth == 0.0).collect();
        Rows::of(step, world, &frozen.bodies, &there, Instant { step: INSTANT, moved: false }).structure(step)
    }

    /// The structure as a run of the scene has left it at `at` (s), with what its last step has moved: loads and changes of momentum are those of the
    /// step, so the simulated forces are in equilibrium with them, and [`Structure::interval`] says how far they could have been others.
    ///
    /// # Errors
    /// See [`StaticsError`].
    pub fn of_run(scene: &Scene, at: f64) -> Result<Self, StaticsError> {
        let mut built = build(scene)?;
        let h = scene.time.step;
        loop {
            built.simulation.step().map_err(BuildError::from)?;
            if built.simulation.time() >= at - 1e-6 * h {
                break;
            }
        }
        let world = built.simulation.world();
        let step = known(world.resource::<StepProblem>(), at)?;
        let mut there = vec![0; step.places.len()];
        for (i, &entity) in built.entities.iter().enumerate().take(scene.bodies.len()) {
            if let Some(place) = world.get::<Slot>(entity).and_then(|slot| there.get_mut(slot.0 as usize)) {
                *place = i;
            }
        }
        let rows = Rows::of(step, world, &scene.bodies, &there, Instant { step: built.simulation.time_step(), moved: true });
        rows.structure(step)
    }

    /// Whether forces in the joints can carry the loads.
    pub fn solve(&self) -> Answer {
        self.statics.solve()
    }

    /// What each joint carries by the reactions of an answer.
    pub fn forces(&self, answer: &Answer) -> Vec<JointForce> {
        self.joints.iter().map(|joint| joint.force(&answer.reactions)).collect()
    }

    /// What each joint carries in the run; nothing of a scene that has not been run.
    pub fn simulated(&self) -> Vec<JointForce> {
        if self.simulated.is_empty() { Vec::new() } else { self.joints.iter().map(|joint| joint.force(&self.simulated)).collect() }
    }

    /// Least and largest normal force of a joint (N) over all admissible reactions in equilibrium; `None` where there are none.
    pub fn interval(&self, joint: usize) -> Option<Interval> {
        let joint = self.joints.get(joint)?;
        // points of one face have one normal, but for curved ones
        let rows: Vec<(usize, f64)> = (0..joint.points.len()).map(|k| (joint.row + 3 * k, joint.frames[k][0].dot(joint.normal))).collect();
        self.statics.interval(&rows)
    }

    /// The joints that move in the mechanism of an answer, the largest motion first; none where bodies move as one, or about other constraints.
    pub fn mechanism(&self, answer: &Answer) -> Vec<Moved> {
        let rates = self.statics.rates(&answer.velocities);
        let largest = |rates: &[f64]| {
            rates[..3 * self.joints.iter().map(|j| j.points.len()).sum::<usize>()].iter().fold(0.0f64, |m, r| m.max(r.abs()))
        };
        // what falls together has rates that are rounding beside the velocities of its points
        if largest(&rates) <= AS_ONE * largest(&self.statics.rate_sizes(&answer.velocities)) {
            return Vec::new();
        }
        let motions = self.joints.iter().map(|joint| {
            let of = |k: usize| [rates[joint.row + 3 * k], libm::hypot(rates[joint.row + 3 * k + 1], rates[joint.row + 3 * k + 2])];
            (0..joint.points.len()).map(of).collect::<Vec<_>>()
        });
        moved(&self.joints, &motions.collect::<Vec<_>>())
    }

    /// The bodies that move in the mechanism of an answer, with their velocities, in their order.
    pub fn moving(&self, answer: &Answer) -> Vec<(String, DVec3, DVec3)> {
        let all = self.velocities(answer);
        let size = |(_, v, omega): &(String, DVec3, DVec3)| v.length().max(omega.length());
        let fastest = all.iter().map(size).fold(0.0, f64::max);
        all.into_iter().filter(|body| size(body) > STILL * fastest).collect()
    }

    /// The velocities of the mechanism of an answer by the names of the bodies: linear (m/s) and angular (rad/s), the fastest scaled to 1.
    pub fn velocities(&self, answer: &Answer) -> Vec<(String, DVec3, DVec3)> {
        let v = |k: usize| DVec3::from_slice(&answer.velocities[k..k + 3]);
        self.names.iter().enumerate().map(|(i, name)| (name.clone(), v(6 * i), v(6 * i + 3))).collect()
    }
}

impl Joint {
    /// What people call it: the names of its bodies.
    pub fn name(&self) -> String {
        self.bodies.join(" | ")
    }

    fn force(&self, reactions: &[f64]) -> JointForce {
        let middle = self.points.iter().sum::<DVec3>() / self.points.len() as f64;
        let (mut force, mut weighted, mut total, mut most) = (DVec3::ZERO, DVec3::ZERO, 0.0, 0.0);
        for (k, (point, [n, t])) in self.points.iter().zip(&self.frames).enumerate() {
            let r = &reactions[self.row + 3 * k..][..3];
            force += r[0] * n + r[1] * t + r[2] * n.cross(*t);
            weighted += r[0] * point;
            total += r[0];
            most += r[0].abs();
        }
        let normal = force.dot(self.normal);
        JointForce {
            force_N: force,
            normal_N: normal,
            shear_N: (force - normal * self.normal).length(),
            point: if total.abs() > COUPLE * most { weighted / total } else { middle },
        }
    }

    /// Opening and sliding of each contact point when the bodies are moved by these motions (m).
    pub fn motion(&self, moved: [&Pose; 2]) -> Vec<[f64; 2]> {
        let of = |(point, [n, _]): (&DVec3, &[DVec3; 2])| {
            let way = moved[0].point(*point) - moved[1].point(*point);
            let opening = way.dot(*n);
            [opening, (way - opening * *n).length()]
        };
        self.points.iter().zip(&self.frames).map(of).collect()
    }
}

/// The joints of which a point moves, from the opening and sliding of each of their points; the largest motion first.
pub fn moved(joints: &[Joint], motions: &[Vec<[f64; 2]>]) -> Vec<Moved> {
    let largest = motions.iter().flatten().fold(0.0f64, |m, [o, s]| m.max(o.abs()).max(*s));
    let mut found = Vec::new();
    for (joint, motion) in joints.iter().zip(motions) {
        let extreme = |which: usize, f: fn(f64, f64) -> f64| motion.iter().map(|m| m[which]).reduce(f).unwrap_or(0.0) / largest;
        let (opening, closed, sliding) = (extreme(0, f64::max), extreme(0, f64::min), extreme(1, f64::max));
        let kind = match (opening > STILL, closed > STILL.max(0.2 * opening), sliding > STILL) {
            (true, false, _) if opening > 0.1 * sliding => Kind::Hinge,
            (true, true, _) => Kind::Opens,
            (false, ..) if closed < -STILL.max(sliding) => Kind::Crushes,
            (_, _, true) => Kind::Slides,
            _ => continue,
        };
        let nearest = (0..motion.len()).reduce(|a, b| if motion[b][0] < motion[a][0] { b } else { a });
        let middle = joint.points.iter().sum::<DVec3>() / joint.points.len() as f64;
        let edge: Vec<DVec3> = match (kind, nearest) {
            // the points of the edge that stays closed
            (Kind::Hinge, Some(k)) => {
                let near = motion[k][0] + 0.2 * (opening * largest - motion[k][0]);
                joint.points.iter().zip(motion).filter(|(_, m)| m[0] <= near).map(|(p, _)| *p).collect()
            }
            _ => vec![middle],
        };
        let point = edge.iter().sum::<DVec3>() / edge.len() as f64;
        found.push(Moved { bodies: joint.bodies.clone(), kind, opening: opening.max(0.0), sliding, point });
    }
    found.sort_by(|a, b| b.opening.max(b.sliding).total_cmp(&a.opening.max(a.sliding)));
    found
}

/// The scene at rest with its loads at one instant.
pub fn freeze(scene: &Scene, at: f64) -> Scene {
    let mut frozen = scene.clone();
    frozen.gravity = vec![GravityFrom { time: 0.0, acceleration: scene.gravity_at(at) }];
    frozen.base = scene.base.as_ref().map(|b| BaseMotion::of_accelerations(vec![0.0], vec![b.acceleration(at)]));
    for load in &mut frozen.loads {
        (load.factors, load.times) = (vec![load.factor(at)], vec![0.0]);
    }
    for water in &mut frozen.water {
        (water.levels, water.times) = (vec![water.level(at)], vec![0.0]);
    }
    (frozen.time.step, frozen.time.accuracy) = (INSTANT, None);
    frozen.solver.friction = Friction::Exact;
    for body in &mut frozen.bodies {
        (body.linear_velocity, body.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        body.impulses.clear();
        if matches!(body.motion, Motion::Kinematic(_)) {
            body.motion = Motion::Static;
        }
        let there = body.birth <= at && body.death.is_none_or(|death| death > at);
        (body.birth, body.death) = (if there { 0.0 } else { NEVER }, None);
    }
    frozen
}

/// Whether the loads of a scene are the same at all times, or rise together to what they are at the end, so that statics say what dynamics do.
pub fn is_steady(scene: &Scene) -> bool {
    let driven = scene.bodies.iter().any(|b| matches!(b.motion, Motion::Kinematic(_)) || !b.impulses.is_empty());
    let changing = || scene.loads.iter().filter(|load| load.factors.windows(2).any(|f| f[0] != f[1]));
    let together = changing().all(|load| load.is_ramp())
        && changing().zip(changing().skip(1)).all(|(a, b)| a.factors == b.factors && a.times == b.times);
    !driven
        && together
        && scene.gravity.len() == 1
        && scene.base.as_ref().is_none_or(BaseMotion::is_steady)
        && scene.water.iter().all(|w| w.levels.windows(2).all(|l| l[0] == l[1]))
}

/// Whether an answer says that the structure can stand.
pub fn admissible(answer: &Answer) -> Option<bool> {
    match answer.verdict {
        Verdict::Admissible => Some(true),
        Verdict::Mechanism => Some(false),
        Verdict::Undecided => None,
    }
}
