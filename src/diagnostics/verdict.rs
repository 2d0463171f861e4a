//! Does it stand, and what left its place first?
//!
//! ```text
//! way       displacement of a body's centre, against the ground or the driven body against which it is least, in parts of its smallest
//!           length ℓ; of a block that turns where it stands, as of a twist, the arc at ℓ/2 from its centre
//! began     the first body whose way exceeds ONSET, and when
//! stands    no way exceeds MOVED at the end (1 where supports are driven: blocks between them follow), and nothing is faster than
//!           MOVING lengths a second
//! collapsed a way has exceeded 1
//! displaced neither
//! ```
//!
//! Runs of scenes whose `[stop]` table looks at ways (`collapse`, `displacement`) have a verdict, and those of structures: two or more blocks, all of them
//! polyhedra that start at rest and touch something then, without joints, motors and inlets. Grains that are packed until forces balance have none.

use crate::algebra::spatial::Pose;
use crate::geometry::systems::{Collider, Proximity};
use crate::io::scene::model::{Motion, Scene, ShapeSpec};
use crate::io::scene::stop::StopRules;
use crate::model::contact::{ContactPair, Manifold};
use crate::model::newton_euler::{BodyPose, Velocity};
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use super::grains::Packing;

/// A body that ends farther from its start than this part of its smallest length has moved.
pub const MOVED: f64 = 0.1;
/// A body that would move by this part of its smallest length in a second is on its way.
pub const MOVING: f64 = 0.01;
/// Way of a body that has left its place.
pub const ONSET: f64 = 0.01;
/// Largest gap, in parts of the smaller body's smallest length, at which blocks touch at the start.
const TOUCHING: f64 = 1e-3;
/// Sine of half an angle up to which it is the half angle.
const SMALL_TURN: f64 = 0.05;

/// How a run ends for what should stand.
///
/// ```
/// use drystone::diagnostics::verdict::Outcome;
/// assert_eq!(serde_json::to_string(&Outcome::Stands).ok().as_deref(), Some("\"stands\""));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything is in its place and at rest.
    Stands,
    /// Something has left its place or is on its way, by less than its smallest length.
    Displaced,
    /// Something has gone farther than its smallest length.
    Collapsed,
}

/// The verdict on a run.
///
/// ```
/// // an arch that is too thin
/// let arch = drystone::scenes::load("arch", &[("thickness_ratio", "0.10")])?;
/// let (_, summary) = drystone::scenes::run(&arch)?;
/// let verdict = summary.verdict.ok_or("a structure has a verdict")?;
/// assert_eq!(verdict.outcome, drystone::diagnostics::verdict::Outcome::Collapsed);
/// assert!(verdict.began_s < verdict.collapsed_s);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// How it ended.
    pub outcome: Outcome,
    /// When the first body had left its place (s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_s: Option<f64>,
    /// Which body that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_with: Option<String>,
    /// When a body had gone by its smallest length (s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapsed_s: Option<f64>,
    /// Largest way at the end, in parts of the body's smallest length.
    pub way: f64,
}

/// What a watch remembers; a checkpoint keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Course {
    starts: Vec<Option<Pose>>,
    began: Option<(f64, usize)>,
    collapsed: Option<f64>,
    /// Largest way at any time.
    farthest: f64,
    /// Displacement that ended the run (m).
    gone_by: Option<f64>,
    /// Since when forces are balanced (s).
    balanced: Option<f64>,
    /// Whether the run has gone on after a collapse, and after that displacement.
    went_on: [bool; 2],
    /// Whether blocks have been seen to touch at the start.
    seen: bool,
    /// Blocks that touched nothing then: this is no structure.
    loose: bool,
}

/// A dynamic body of the scene.
#[derive(Clone, Copy, Debug)]
struct Watched {
    index: usize,
    /// Smallest length (m); infinite for a mesh until it has been seen as the convex parts that it moves by.
    length: f64,
    round: bool,
}

impl Watched {
    fn of(index: usize, shape: &ShapeSpec) -> Self {
        let length = shape.build().map_or(f64::INFINITY, |s| s.smallest_length());
        let round = matches!(shape, ShapeSpec::Ball { .. } | ShapeSpec::Capsule { .. } | ShapeSpec::Cylinder { .. });
        Self { index, length, round }
    }

    /// Takes the length of its parts.
    fn measure(&mut self, collider: Option<&Collider>) {
        self.length = collider.map_or(f64::INFINITY, |c| c.shape.smallest_length());
    }

    /// From the centre to the point whose arc counts as way (m): half of its length, nothing of what is round.
    fn arm(&self) -> f64 {
        if self.round || self.length.is_infinite() { 0.0 } else { 0.5 * self.length }
    }

    /// How far it has gone (m) against the ground or one of the driven bodies that have moved so, whichever is least.
    fn way(&self, start: &Pose, now: &Pose, motions: &[Pose]) -> f64 {
        let carried = motions.iter().map(|m| self.against(&m.compose(start), now));
        carried.fold(self.against(start, now), f64::min)
    }

    fn against(&self, start: &Pose, now: &Pose) -> f64 {
        let turn = start.rotation.conjugate() * now.rotation;
        let (half, cosine) = (turn.xyz().length(), turn.w.abs());
        // the chord is the arc but for a thousandth, and saves the arc tangent of what stands
        let angle = if half < SMALL_TURN { 2.0 * half } else { 2.0 * libm::atan2(half, cosine) };
        now.position.distance(start.position).max(self.arm() * angle)
    }

    /// Speed of its centre, or of the point at the arm (m/s).
    fn speed(&self, velocity: &Velocity) -> f64 {
        velocity.linear.length().max(self.arm() * velocity.angular.length())
    }
}

/// Watches the bodies of a run.
///
/// ```
/// use drystone::diagnostics::verdict::Watch;
/// let wall = drystone::scenes::load("block_wall", &[])?;
/// assert!(Watch::of(&wall).is_some());
/// assert!(Watch::of(&drystone::scenes::load("bead_pour", &[])?).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Watch {
    /// Dynamic bodies of the scene.
    bodies: Vec<Watched>,
    /// Bodies with a motion of their own.
    driven: Vec<usize>,
    names: Vec<String>,
    rules: Option<StopRules>,
    /// When (s) nothing more is to come: before, bodies at rest are not at their end.
    settled: f64,
    /// whether it has a verdict
    judges: bool,
    course: Course,
}

impl Watch {
    /// A watch on a scene whose runs have a verdict, or end by themselves.
    pub fn of(scene: &Scene) -> Option<Self> {
        fn block(shape: &ShapeSpec) -> bool {
            match shape {
                ShapeSpec::Cuboid { .. } | ShapeSpec::Hull { .. } | ShapeSpec::Mesh { .. } => true,
                ShapeSpec::Compound { parts } => parts.iter().all(|(_, part)| block(part)),
                _ => false,
            }
        }
        let mut blocks = scene.dynamic_bodies().map(|(_, b)| b);
        let structure = blocks.all(|b| block(&b.shape) && b.linear_velocity == DVec3::ZERO && b.angular_velocity == DVec3::ZERO)
            && scene.dynamic_bodies().nth(1).is_some()
            && scene.joints.is_empty()
            && scene.ties.is_empty()
            && scene.inlets.is_empty();
        (structure || scene.stop.is_some()).then(|| {
            let mut watch = Self::over(scene);
            watch.course.seen = scene.stop.is_some();
            watch.judges = structure || scene.stop.is_some_and(|rules| rules.collapse || rules.displacement.is_some());
            watch
        })
    }

    /// A watch on any scene.
    pub fn over(scene: &Scene) -> Self {
        let bodies = scene.dynamic_bodies().map(|(i, b)| Watched::of(i, &b.shape)).collect();
        let names = scene.bodies.iter().map(|b| b.name.clone()).collect();
        let driven = (0..scene.bodies.len()).filter(|&i| matches!(scene.bodies[i].motion, Motion::Kinematic(_))).collect();
        let course = Course { starts: vec![None; scene.bodies.len()], seen: true, ..Course::default() };
        Self { bodies, driven, names, rules: scene.stop, settled: scene.last_change(), judges: true, course }
    }

    pub(crate) fn course(&self) -> &Course {
        &self.course
    }

    pub(crate) fn restore(&mut self, course: Course) {
        self.course = course;
    }

    /// Lets what has ended the run end it no more: forces have to be balanced anew, and what has moved may move on.
    pub(crate) fn go_on(&mut self) {
        let course = &mut self.course;
        course.balanced = None;
        course.went_on = [course.collapsed.is_some(), course.gone_by.is_some()];
    }

    /// Takes in the state; `entities` are those of the scene's bodies. Gives the body with the largest way, and that way.
    pub fn look(&mut self, simulation: &Simulation, entities: &[Entity]) -> (usize, f64) {
        let (world, time) = (simulation.world(), simulation.time());
        let course = &mut self.course;
        let pose = |i: usize| entities.get(i).and_then(|e| world.get::<BodyPose>(*e)).map(|p| p.0);
        // a body that is born later starts where it is seen first
        for i in self.bodies.iter().map(|b| b.index).chain(self.driven.iter().copied()) {
            course.starts[i] = course.starts[i].or_else(|| pose(i));
        }
        for body in self.bodies.iter_mut().filter(|b| b.length.is_infinite()) {
            body.measure(entities.get(body.index).and_then(|e| world.get::<Collider>(*e)));
        }
        let (mut farthest, mut displacement) = ((0, 0.0), 0.0f64);
        let motions = motions(&self.driven, &course.starts, pose);
        for body in &self.bodies {
            let Some((start, now)) = course.starts[body.index].zip(pose(body.index)) else { continue };
            displacement = displacement.max(now.position.distance(start.position));
            let part = body.way(&start, &now, &motions) / body.length;
            if part > farthest.1 {
                farthest = (body.index, part);
            }
        }
        course.farthest = course.farthest.max(farthest.1);
        if farthest.1 > ONSET {
            course.began.get_or_insert((time, farthest.0));
        }
        if farthest.1 > 1.0 {
            course.collapsed.get_or_insert(time);
        }
        if simulation.steps() > 0 && !std::mem::replace(&mut course.seen, true) {
            let touching = touching(simulation);
            course.loose = self.bodies.iter().any(|b| entities.get(b.index).is_none_or(|e| !touching.contains(e)));
        }
        if let Some(limit) = self.rules.and_then(|r| r.unbalanced) {
            // nothing is balanced before the first step, and not a number where nothing bears a force
            let balanced = simulation.steps() > 0 && time >= self.settled && Packing::of(simulation, None).unbalanced() <= limit;
            self.course.balanced = balanced.then(|| self.course.balanced.unwrap_or(time));
        }
        if self.rules.and_then(|r| r.displacement).is_some_and(|limit| displacement > limit) {
            self.course.gone_by = Some(displacement);
        }
        farthest
    }

    /// Why the run ends here, if it does.
    pub fn ended(&self, time: f64) -> Option<String> {
        let (rules, course) = (self.rules?, &self.course);
        let past = |since: f64| time - since >= rules.hold * (1.0 - 1e-9);
        let [collapse, displacement] = course.went_on.map(|on| !on);
        if rules.collapse && collapse && course.collapsed.is_some() {
            return Some("collapse".to_owned());
        }
        if let (Some(limit), Some(way), true) = (rules.displacement, course.gone_by, displacement) {
            return Some(format!("displacement of {way:.3e} m, more than {limit} m"));
        }
        let limit = rules.unbalanced.filter(|_| course.balanced.is_some_and(past))?;
        Some(format!("unbalanced force below {limit} for {} s", rules.hold))
    }

    /// The verdict on the state; none for blocks that touched nothing at the start, and where nothing but forces is looked at.
    pub fn verdict(&self, simulation: &Simulation, entities: &[Entity]) -> Option<Verdict> {
        let (course, world) = (&self.course, simulation.world());
        if course.loose || !self.judges {
            return None;
        }
        let speed = |b: &Watched| entities.get(b.index).and_then(|e| world.get::<Velocity>(*e)).map_or(0.0, |v| b.speed(v));
        let pose = |i: usize| entities.get(i).and_then(|e| world.get::<BodyPose>(*e)).map(|p| p.0);
        let motions = motions(&self.driven, &course.starts, pose);
        let gone = |b: &Watched| course.starts[b.index].zip(pose(b.index)).map_or(0.0, |(start, now)| b.way(&start, &now, &motions));
        let largest = self.bodies.iter().map(|b| gone(b) / b.length).fold(0.0, f64::max);
        let moved = if self.driven.is_empty() { MOVED } else { 1.0 };
        let moving = self.bodies.iter().any(|b| speed(b) > MOVING * b.length);
        let outcome = match (course.collapsed, largest > moved || moving) {
            (Some(_), _) => Outcome::Collapsed,
            (None, true) => Outcome::Displaced,
            (None, false) => Outcome::Stands,
        };
        // what has hardly begun is shown by the fastest
        let fastest = || self.bodies.iter().reduce(|a, b| if speed(b) > speed(a) { b } else { a }).map(|b| b.index);
        let began = course.began.or_else(|| if outcome == Outcome::Stands { None } else { Some((simulation.time(), fastest()?)) });
        Some(Verdict {
            outcome,
            began_s: began.map(|b| b.0),
            began_with: began.and_then(|b| self.names.get(b.1).cloned()),
            collapsed_s: course.collapsed,
            way: largest,
        })
    }

    /// Largest way that any body has had at any time.
    pub fn farthest(&self) -> f64 {
        self.course.farthest
    }
}

/// The rigid motion of the space that has taken a body from one pose to another.
pub(super) fn motion(start: Option<Pose>, now: Option<Pose>) -> Option<Pose> {
    start.zip(now).map(|(start, now)| now.compose(&start.relative(&Pose::IDENTITY)))
}

/// How driven bodies have moved.
fn motions(driven: &[usize], starts: &[Option<Pose>], pose: impl Fn(usize) -> Option<Pose>) -> Vec<Pose> {
    driven.iter().filter_map(|&i| motion(starts.get(i).copied().flatten(), pose(i))).collect()
}

/// Bodies that touch another one.
fn touching(simulation: &Simulation) -> BTreeSet<Entity> {
    let world = simulation.world();
    let pairs = world.resource::<Proximity>().pairs().iter().filter_map(|&(.., entity)| {
        let (pair, manifold) = (world.get::<ContactPair>(entity)?, world.get::<Manifold>(entity)?);
        manifold.points.iter().any(|touch| touch.gap <= TOUCHING * pair.size).then_some(pair.bodies)
    });
    pairs.flatten().collect()
}
