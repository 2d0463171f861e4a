//! The joints of a structure as it stands in its scene, and whether forces in them can carry its loads.
//!
//! The rows are those of a step from rest: contacts closed within [`CLOSED`] of the smaller body, joints, and the loads at one instant
//! (gravity, forces, water, ground acceleration). See [`crate::numerics::statics`] for the two theorems.
//!
//! ```text
//! −f a ≤ r_n,  ‖r_t‖ ≤ c a + μ r_n       a point of a bound joint, a its share of the area (Mohr and Coulomb with a cut-off)
//! r = clamp(−k y)                         springs and servos: what they give as the scene stands is a load
//! ```
//!
//! A run lets tension and shear add up on an ellipse (`model::bond`), which is a little less where a point bears both; it is not convex beside
//! friction. Statics let every point bear its whole strength at once; where mortar is brittle and one joint breaks after another, a run falls before.

use crate::algebra::spatial::{Pose, tangents};
use crate::assembly::problem::StepProblem;
use crate::io::scene::loads::BaseMotion;
use crate::io::scene::model::{Body, GravityFrom, Motion, Scene};
use crate::model::bond::Bond;
use crate::model::newton_euler::BodyPose;
use crate::model::scheme::Friction;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::hyperstatic::Interval;
use crate::numerics::mixed::{IMMOBILE, System};
use crate::numerics::statics::{Answer, Limits, Statics, StepRows, Verdict};
use crate::setup::{BuildError, build};
use crate::topology::bodies::Slot;
use bevy_ecs::prelude::{Entity, World};
use glam::DVec3;
use serde::Serialize;
use std::collections::BTreeMap;

/// Largest gap of a closed contact, in parts of the smaller body's smallest length.
pub const CLOSED: f64 = 1e-6;
/// Step of which the rows are taken (s): nothing moves within it.
const INSTANT: f64 = 1e-5;
/// Birth of a body that is not there (s).
const NEVER: f64 = 1e9;
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

/// A face in which two bodies touch.
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
    row: usize,
    /// Normal and first tangent of each point.
    #[serde(skip)]
    frames: Vec<[DVec3; 2]>,
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
    /// Where the normal forces act together (m, world): a point of the thrust line. The middle of the contact points where there are none.
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

/// Distance of a bond's point from the contact point beside which it stands, in parts of the smaller body; cosine between their normals.
const SAME_PLACE: f64 = 1e-6;
const SAME_FACE: f64 = 0.999;

/// A point of a joint that mortar binds.
struct Mortar {
    slots: [u32; 2],
    at: DVec3,
    axes: [DVec3; 2],
    area: f64,
    /// The first of its rows, after those of contacts.
    first: usize,
    limits: Limits,
}

impl Mortar {
    /// A point of its own, which does not press.
    fn alone(self, contacts: usize) -> Point {
        let limits = Limits { crushing: 0.0, ..self.limits };
        let first = contacts + self.first;
        let rows = StepRows { rows: first..first + 3, set: AdmissibleSet::Coulomb { mu: 0.0 }, limits };
        Point { at: self.at, frame: self.axes, rows, bound: self.area }
    }
}

/// The points that mortar binds in a step.
fn mortar(world: &World, step: &StepProblem) -> Vec<Mortar> {
    let of = |(entity, point, first): (Entity, usize, usize)| {
        let bond = world.get::<Bond>(entity)?;
        let point = bond.points.get(point)?;
        let [one, two] = bond.bodies.map(|body| Some((world.get::<Slot>(body)?.0, world.get::<BodyPose>(body)?.0)));
        let (one, two) = (one?, two?);
        let normal = one.1.rotation * bond.normal;
        let at = 0.5 * (one.1.point(point.places[0]) + two.1.point(point.places[1]) + bond.shift);
        let strength = |f: f64| f * point.left * point.area;
        Some(Mortar {
            slots: [one.0.min(two.0), one.0.max(two.0)],
            at,
            axes: [normal, tangents(normal).0],
            area: point.area,
            first,
            limits: Limits { tension: strength(bond.law.tension), cohesion: strength(bond.law.cohesion), ..Limits::default() },
        })
    };
    step.bonded_points().filter_map(of).collect()
}

/// A point of a joint before the joints are counted.
struct Point {
    at: DVec3,
    frame: [DVec3; 2],
    rows: StepRows,
    bound: f64,
}

/// Points between two bodies, the normal from the second to the first.
struct Face {
    slots: [u32; 2],
    points: Vec<Point>,
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
    statics: Statics,
    /// Name of each body that can move, by its place among the velocities.
    names: Vec<String>,
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
        let step = built.simulation.world().resource::<StepProblem>();
        let springs = step.problem.blocks.iter().filter(|b| matches!(b.systems[2], System::General(_))).count();
        let own = step.problem.blocks.iter().any(|b| b.systems[..2].iter().any(|s| matches!(s, System::General(_))));
        if own || springs < step.problem.general.len() {
            return Err(StaticsError::Systems);
        }
        if step.problem.rigid.is_empty() {
            return Err(StaticsError::Nothing { at });
        }
        // slots in the order of the bodies that are there
        let there: Vec<usize> = (0..frozen.bodies.len()).filter(|&i| frozen.bodies[i].birth == 0.0).collect();
        Ok(Self::of_step(step, mortar(built.simulation.world(), step), &frozen.bodies, &there)?)
    }

    fn of_step(step: &StepProblem, mortar: Vec<Mortar>, bodies: &[Body], there: &[usize]) -> Result<Self, crate::numerics::ProblemError> {
        let (global, p) = (step.global(), &step.problem);
        let mut names = vec![String::new(); p.rigid.len()];
        let mut faces: BTreeMap<[u32; 2], Face> = BTreeMap::new();
        let mut mortars: BTreeMap<[u32; 2], Vec<Mortar>> = BTreeMap::new();
        mortar.into_iter().for_each(|m| mortars.entry(m.slots).or_default().push(m));
        for (group, &first) in step.groups.iter().zip(&step.first_contact) {
            for (&row, &slot) in group.rows.iter().zip(&group.slots) {
                if row != IMMOBILE {
                    names[row as usize].clone_from(&bodies[there[slot as usize]].name);
                }
            }
            let mut own = mortars.remove(&group.slots).unwrap_or_default();
            let mut points = Vec::new();
            let first = first as usize;
            let turned = p.contacts.get(first).is_some_and(|c| c.body1 != group.rows[0]);
            let slots = if turned { [group.slots[1], group.slots[0]] } else { group.slots };
            for k in first..first + group.points as usize {
                let c = &p.contacts[k];
                let [one, two] = slots.map(|s| &step.places[s as usize]);
                let at = if one.row == IMMOBILE { two.position + c.arm2 } else { one.position + c.arm1 };
                let same = |m: &Mortar| m.at.distance(at) <= SAME_PLACE * c.size && m.axes[0].dot(c.normal).abs() > SAME_FACE;
                let bound = own.iter().position(same).map(|i| own.swap_remove(i));
                // the gap enters the rows as a velocity that closes it; mortar fills it
                if bound.is_none() && c.b.x * INSTANT > CLOSED * c.size {
                    continue;
                }
                let rows = StepRows {
                    rows: 3 * k..3 * k + 3,
                    set: AdmissibleSet::Coulomb { mu: c.mu },
                    limits: bound.as_ref().map_or_else(Limits::default, |m| m.limits),
                };
                points.push(Point { at, frame: [c.normal, c.tangent], rows, bound: bound.map_or(0.0, |m| m.area) });
            }
            points.extend(own.into_iter().map(|m| m.alone(3 * p.contacts.len())));
            if !points.is_empty() {
                faces.insert(group.slots, Face { slots, points });
            }
        }
        for (slots, own) in mortars {
            faces.insert(slots, Face { slots, points: own.into_iter().map(|m| m.alone(3 * p.contacts.len())).collect() });
        }
        let (mut blocks, mut joints): (Vec<StepRows>, Vec<Joint>) = (Vec::new(), Vec::new());
        for Face { slots, points } in faces.into_values() {
            joints.push(Joint {
                bodies: slots.map(|s| bodies[there[s as usize]].name.clone()),
                points: points.iter().map(|p| p.at).collect(),
                normal: points[0].frame[0],
                bound: points.iter().map(|p| p.bound).sum(),
                indices: slots.map(|s| there[s as usize]),
                row: 3 * blocks.len(),
                frames: points.iter().map(|p| p.frame).collect(),
            });
            blocks.extend(points.into_iter().map(|p| p.rows));
        }
        let mut given = Vec::new();
        let first = 3 * p.contacts.len();
        let loose = |k: &usize| !step.bonded.contains(k) && *k < step.forced;
        for block in (0..p.blocks.len()).filter(loose).map(|k| &p.blocks[k]) {
            let rows = first + block.first..first + block.first + block.rows;
            if let System::General(i) = block.systems[2] {
                // a spring gives what its rows ask for at rest: u = D r + b = 0
                for (i, row) in rows.enumerate().map(|(r, row)| (p.general[i as usize].inverse + r * (block.rows + 1), row)) {
                    let mut r = [-global.w[row] / p.general_inverse[i]];
                    block.set.project(&mut r);
                    given.push((row, r[0]));
                }
            } else {
                blocks.push(StepRows { rows, set: block.set, limits: Limits::default() });
            }
        }
        let statics = Statics::of_step(&global, &blocks, &given, 6 * p.rigid.len(), INSTANT)?;
        Ok(Self { joints, bodies: names.len(), statics, names })
    }

    /// Whether forces in the joints can carry the loads.
    pub fn solve(&self) -> Answer {
        self.statics.solve()
    }

    /// What each joint carries by the reactions of an answer.
    pub fn forces(&self, answer: &Answer) -> Vec<JointForce> {
        self.joints.iter().map(|joint| joint.force(&answer.reactions)).collect()
    }

    /// Least and largest normal force of a joint (N) over all admissible reactions in equilibrium; `None` where there are none.
    pub fn interval(&self, joint: usize) -> Option<Interval> {
        let joint = self.joints.get(joint)?;
        // points of one face have one normal, but for curved ones
        let rows: Vec<(usize, f64)> = (0..joint.points.len()).map(|k| (joint.row + 3 * k, joint.frames[k][0].dot(joint.normal))).collect();
        self.statics.interval(&rows)
    }

    /// The joints that move in the mechanism of an answer, the largest motion first.
    pub fn mechanism(&self, answer: &Answer) -> Vec<Moved> {
        let rates = self.statics.rates(&answer.velocities);
        let motions = self.joints.iter().map(|joint| {
            let of = |k: usize| [rates[joint.row + 3 * k], libm::hypot(rates[joint.row + 3 * k + 1], rates[joint.row + 3 * k + 2])];
            (0..joint.points.len()).map(of).collect::<Vec<_>>()
        });
        moved(&self.joints, &motions.collect::<Vec<_>>())
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
            point: if total.abs() > 1e-9 * most { weighted / total } else { middle },
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
    let largest = motions.iter().flatten().fold(0.0f64, |m, [o, s]| m.max(*o).max(*s));
    let mut found = Vec::new();
    for (joint, motion) in joints.iter().zip(motions) {
        let extreme = |which: usize, f: fn(f64, f64) -> f64| motion.iter().map(|m| m[which]).reduce(f).unwrap_or(0.0) / largest;
        let (opening, closed, sliding) = (extreme(0, f64::max), extreme(0, f64::min), extreme(1, f64::max));
        let kind = match (opening > STILL, closed > STILL.max(0.2 * opening), sliding > STILL) {
            (true, false, _) if opening > 0.1 * sliding => Kind::Hinge,
            (true, true, _) => Kind::Opens,
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

/// Whether the loads of a scene are the same at all times, so that statics say what dynamics do.
pub fn is_steady(scene: &Scene) -> bool {
    let driven = scene.bodies.iter().any(|b| matches!(b.motion, Motion::Kinematic(_)) || !b.impulses.is_empty());
    !driven
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
