//! Joints that cannot hold, that hold what is held already, or that cannot move; springs that the scheme damps.
//!
//! ```text
//! rows of joints and locks one after the other, by Gram–Schmidt in the metric of M⁻¹:
//! what is left of a row is 0        it follows from those before: redundant, or impossible where its gap or its drive does not follow too
//! coordinate's row, nothing left    it cannot move; where rows of which hardly anything was left hold it, a misfit does
//! what is left, ‖J‖² in M⁻¹         ω² = k ‖J‖² of a spring on it, the rest of the mechanism rigid
//! ```

use super::{Bodies, Severity, Short};
use crate::algebra::spatial::Pose;
use crate::io::scene::model::{Joint, Motion as SceneMotion};
use crate::model::interaction::Interaction;
use crate::model::joint::{Coordinate, Freedom, JointKind, MAX_JOINT_ROWS, TransmissionSpec};
use crate::model::law::Law;
use crate::model::newton_euler::{BodyPose, Inertia, Locks, Motion, Velocity};
use crate::model::relation::Relation;
use crate::model::scheme::Treatment;
use crate::model::spring::FOLLOWED;
use crate::setup::{Built, build};
use bevy_ecs::prelude::{Entity, World};
use glam::DVec3;

/// What is left of a row, in parts of its length, below which nothing is.
const NOTHING: f64 = 1e-7;
/// The same, up to which a row is hardly more than those before it: axes or points that nearly agree, and were to.
const SLIGHT: f64 = 0.02;
/// A gap (m, or rad times a length of the body) that is more than rounding, in parts of the body.
const OPEN: f64 = 1e-6;
/// Rows of joints that hang together which are looked at: the work grows with the cube.
const ROWS: usize = 400;
/// Limits of an angle (rad) that are rather degrees.
const MANY_TURNS: f64 = 20.0;
/// Distance of a joint from a body that it holds, in sizes of that, from which it is rather in another unit.
const FAR_ANCHOR: f64 = 50.0;
/// ω h from which a spring is damped so much that one sees it.
const FAST: f64 = 0.1;

/// A row on the velocities of the bodies of an island, what it has to be, and its gap.
struct Row {
    values: Vec<f64>,
    /// rate that driven bodies give it (m/s or rad/s)
    driven: f64,
    gap: f64,
    /// part of it that was left
    left: f64,
}

/// Bodies that hang together by joints, with rows that are orthonormal in M⁻¹.
struct Island<'w> {
    world: &'w World,
    bodies: Vec<Entity>,
    basis: Vec<Row>,
    /// how many of them are locked axes, which come first
    locks: usize,
}

/// What is left of a row.
struct Rest {
    /// squared, before and after
    lengths: [f64; 2],
    gap: f64,
    driven: f64,
}

impl Island<'_> {
    /// A row on the twists (v world, ω body) of the bodies of an interaction, in coordinates in which M is 1.
    fn row(&self, systems: &[Entity], g: &[f64], gap: f64) -> Row {
        let mut row = Row { values: vec![0.0; 6 * self.bodies.len()], driven: 0.0, gap, left: 1.0 };
        for (&body, g) in systems.iter().zip(g.chunks_exact(6)) {
            match (self.bodies.iter().position(|&b| b == body), self.world.get::<Inertia>(body)) {
                (Some(k), Some(inertia)) => {
                    let scale = [inertia.mass, inertia.mass, inertia.mass, inertia.principal.x, inertia.principal.y, inertia.principal.z];
                    (0..6).for_each(|i| row.values[6 * k + i] = g[i] / scale[i].sqrt());
                }
                _ => {
                    let start = match self.world.get::<Motion>(body) {
                        Some(Motion::Kinematic(drive)) => drive(0.0),
                        _ => (DVec3::ZERO, DVec3::ZERO),
                    };
                    let all = [start.0.to_array(), start.1.to_array()].concat();
                    row.driven += g.iter().zip(all).map(|(g, v)| g * v).sum::<f64>();
                }
            }
        }
        row
    }

    /// Takes from a row what the basis has of it.
    fn reduce(&self, row: &mut Row) -> Rest {
        self.reduce_by(row, |_| true)
    }

    /// The smallest part that was left of a row, where rows of which hardly anything was left are what holds this one.
    fn misfit(&self, mut row: Row) -> Option<f64> {
        let least = self.basis.iter().map(|b| b.left).fold(f64::INFINITY, f64::min);
        let rest = self.reduce_by(&mut row, |b| b.left > SLIGHT);
        (least <= SLIGHT && rest.lengths[1] > SLIGHT * SLIGHT * rest.lengths[0]).then_some(least)
    }

    /// Takes from a row what some of the basis have of it.
    fn reduce_by(&self, row: &mut Row, some: impl Fn(&Row) -> bool) -> Rest {
        let before = row.values.iter().map(|x| x * x).sum::<f64>();
        // twice is enough
        for _ in 0..2 {
            for other in self.basis.iter().filter(|b| some(b)) {
                let share = row.values.iter().zip(&other.values).map(|(a, b)| a * b).sum::<f64>();
                row.values.iter_mut().zip(&other.values).for_each(|(a, b)| *a -= share * b);
                (row.gap, row.driven) = (row.gap - share * other.gap, row.driven - share * other.driven);
            }
        }
        let after = row.values.iter().map(|x| x * x).sum::<f64>();
        Rest { lengths: [before, after], gap: row.gap, driven: row.driven }
    }

    /// Adds a row; gives what was left of it, which is part of the basis now where it was something.
    fn add(&mut self, mut row: Row) -> Rest {
        let rest = self.reduce(&mut row);
        if rest.is_something() {
            let length = rest.lengths[1].sqrt();
            row.values.iter_mut().for_each(|x| *x /= length);
            (row.gap, row.driven) = (row.gap / length, row.driven / length);
            row.left = length / rest.lengths[0].sqrt();
            self.basis.push(row);
        }
        rest
    }

    /// Locked axes are rows that hold.
    fn add_locks(&mut self) {
        for k in 0..self.bodies.len() {
            let body = self.bodies[k];
            let locks = self.world.get::<Locks>(body).copied().unwrap_or_default();
            let turned = pose(self.world, body);
            for i in 0..3 {
                let axis = DVec3::AXES[i];
                let along = [axis.to_array(), [0.0; 3]].concat();
                let about = [[0.0; 3], turned.local_vector(axis).to_array()].concat();
                for (_, g) in [(locks.translation[i], along), (locks.rotation[i], about)].into_iter().filter(|(locked, _)| *locked) {
                    let row = self.row(&[body], &g, 0.0);
                    self.add(row);
                }
            }
        }
        self.locks = self.basis.len();
    }

    /// Whether locked axes leave nothing of a row: it is dropped, and needs no reaction.
    fn is_locked(&self, row: &Row) -> bool {
        let mut values = row.values.clone();
        let before = values.iter().map(|x| x * x).sum::<f64>();
        for lock in &self.basis[..self.locks] {
            let share = values.iter().zip(&lock.values).map(|(a, b)| a * b).sum::<f64>();
            values.iter_mut().zip(&lock.values).for_each(|(a, b)| *a -= share * b);
        }
        values.iter().map(|x| x * x).sum::<f64>() <= NOTHING * NOTHING * before
    }
}

impl Rest {
    fn is_something(&self) -> bool {
        self.lengths[1] > NOTHING * NOTHING * self.lengths[0] && self.lengths[1] > 0.0
    }
}

fn pose(world: &World, body: Entity) -> Pose {
    world.get::<BodyPose>(body).map_or(Pose::default(), |p| p.0)
}

/// Rows on twists, and y, of a relation between bodies as they stand; none where it is of another kind.
fn rows_of(world: &World, systems: &[Entity], relation: &Relation) -> Option<(Vec<f64>, Vec<f64>)> {
    let q: Vec<f64> = systems.iter().flat_map(|&e| coordinates(&pose(world, e))).collect();
    let n = relation.rows().min(MAX_JOINT_ROWS);
    let (mut g, mut y) = (vec![0.0; n * 6 * systems.len()], vec![0.0; n]);
    if let Relation::LagrangianLinear(linear) = relation {
        for (row, h) in g.chunks_exact_mut(6 * systems.len()).zip(linear.h.chunks_exact(7 * systems.len())) {
            row.chunks_exact_mut(6).zip(h.chunks_exact(7)).for_each(|(row, h)| row[..3].copy_from_slice(&h[..3]));
        }
        return Some((g, y));
    }
    (relation.rows_of_bodies(&q, &mut g) && relation.output_of_bodies(&q, &[0.0; 2], &mut y)).then_some((g, y))
}

fn coordinates(pose: &Pose) -> [f64; 7] {
    let (x, q) = (pose.position, pose.rotation);
    [x.x, x.y, x.z, q.w, q.x, q.y, q.z]
}

/// Something of the scene that holds: its interactions and its name.
struct Held<'s> {
    name: &'s str,
    parts: Vec<Entity>,
    body: usize,
}

impl Bodies<'_> {
    /// Looks at joints and springs at the start.
    pub(super) fn joints(&mut self) {
        let scene = self.scene;
        if scene.joints.is_empty() && scene.ties.is_empty() && scene.transmissions.is_empty() {
            return;
        }
        // what cannot be built is said elsewhere
        let Ok(built) = build(scene) else { return };
        let joints = scene.joints.iter().zip(&built.joints).map(|(j, parts)| Held { name: &j.name, parts: parts.clone(), body: j.body1 });
        let links = scene.transmissions.iter().zip(&built.transmissions);
        let links = links.map(|(t, &e)| Held { name: &t.name, parts: vec![e], body: t.body1 });
        let ties = scene.ties.iter().zip(&built.ties).map(|(t, &e)| Held { name: &t.name, parts: vec![e], body: t.body1 });
        let held: Vec<Held> = joints.chain(links).chain(ties).collect();
        for island in islands(&built, &held) {
            self.island(&built, &island.into_iter().map(|k| &held[k]).collect::<Vec<_>>());
        }
    }

    /// A joint whose point or axis lies many lengths of a body away from it.
    fn far_anchor(&self, joint: &Joint) -> Option<(usize, String, String)> {
        let spec = &joint.spec;
        let ends = [
            (Some(joint.body1), spec.anchor),
            (joint.body2, if matches!(spec.kind, JointKind::Distance(_)) { spec.anchor2 } else { spec.anchor }),
        ];
        for (i, anchor) in ends.into_iter().filter_map(|(body, anchor)| Some((body?, anchor))) {
            let Some(shape) = &self.shapes[i] else { continue };
            let apart = anchor - self.scene.bodies[i].pose.position;
            let (way, what) = match spec.kind {
                // they hold directions, and a point anywhere along their way
                JointKind::Prismatic | JointKind::Planar => continue,
                JointKind::Revolute | JointKind::Cylindrical => (apart.reject_from(spec.axis), "axis"),
                _ => (apart, "anchor"),
            };
            let (way, size) = (way.length(), 2.0 * shape.bounding_radius());
            if way > FAR_ANCHOR * size {
                let name = if i == joint.body1 { "it".to_owned() } else { self.name(i).to_owned() };
                let message = format!(
                    "the {what} of its joint {:?} lies {} m from {name}, {:.0} times its size of {} m",
                    joint.name,
                    Short(way),
                    way / size,
                    Short(size)
                );
                let cure = "lengths are in m, and places those of the world: if it is in another unit write that, such as \"5 mm\"; leave it if it is meant";
                return Some((joint.body1, message, cure.to_owned()));
            }
        }
        None
    }

    /// A joint that reaches over half of a periodic cell: it holds bodies where they are written, not the images that stand beside it.
    fn over_the_cell(&self, joint: &Joint) -> Option<(usize, String, String)> {
        let (cell, spec) = (&self.scene.periodic, &joint.spec);
        // against the world these hold directions, and a point anywhere along their way
        if cell.is_open() || joint.body2.is_none() && matches!(spec.kind, JointKind::Prismatic | JointKind::Planar) {
            return None;
        }
        let far = matches!(spec.kind, JointKind::Distance(_));
        let ends = [(Some(joint.body1), spec.anchor), (joint.body2, if far { spec.anchor2 } else { spec.anchor })];
        for (i, anchor) in ends.into_iter().filter_map(|(body, anchor)| Some((body?, anchor))) {
            // what fills the cell has no images
            if self.shapes[i].as_ref().is_none_or(|shape| cell.too_long(shape.bounding_radius())) {
                continue;
            }
            let place = self.scene.bodies[i].pose.position;
            // a rod or rope goes from one anchor to the other
            let ways = [anchor - place, if far { spec.anchor2 - spec.anchor } else { DVec3::ZERO }];
            for a in (0..3).filter(|&a| cell.periodic(a)) {
                let Some(way) = ways.into_iter().map(|way| way[a]).find(|way| way.abs() > 0.5 * cell.size[a]) else { continue };
                let message = format!(
                    "its joint {:?} reaches over {} m along {}, more than half of the periodic cell, to where {} is written",
                    joint.name,
                    Short(way.abs()),
                    ["x", "y", "z"][a],
                    if i == joint.body1 { "it" } else { self.name(i) },
                );
                let cure = format!(
                    "joints do not hold images: where the joint is to hold it through the face, write its place one cell ({} m) farther, outside",
                    Short(cell.size[a])
                );
                return Some((joint.body1, message, cure));
            }
        }
        None
    }

    /// Wheels and racks of transmissions whose bearings move: what they count, they count against the world.
    pub(super) fn moving_bearings(&mut self) {
        let scene = self.scene;
        let mut found = Vec::new();
        for t in scene.transmissions.iter().filter(|t| !matches!(t.spec, TransmissionSpec::Screw { .. })) {
            let ends = [Some(t.body1), t.body2];
            let bearing = |wheel: usize| {
                let others = scene.joints.iter().filter_map(|j| match (j.body1, j.body2) {
                    (one, Some(two)) if one == wheel => Some(two),
                    (one, Some(two)) if two == wheel => Some(one),
                    _ => None,
                });
                others
                    .filter(|other| !ends.contains(&Some(*other)))
                    .find(|&other| !matches!(scene.bodies[other].motion, SceneMotion::Static))
            };
            if let Some((wheel, on)) = ends.into_iter().flatten().find_map(|wheel| Some((wheel, bearing(wheel)?))) {
                let message = format!(
                    "the transmission {:?} counts how it moves against the world, not against {}, which bears it and moves itself",
                    t.name,
                    self.name(on)
                );
                let cure = "the turns of what bears it are not taken off, as a planet on its carrier would need, and nothing of its torque is passed on \
                            to it; leave it if that moves but little";
                found.push((wheel, message, cure.to_owned()));
            }
        }
        self.say_all(Severity::Hint, found);
    }

    /// Ropes that are too short for their points, limits of angles that look like degrees, and points far away.
    pub(super) fn ropes_and_limits(&mut self) {
        let mut found = Vec::new();
        for joint in &self.scene.joints {
            let spec = &joint.spec;
            found.extend(self.far_anchor(joint));
            found.extend(self.over_the_cell(joint));
            if let (JointKind::Distance(length), true) = (spec.kind, spec.slack) {
                let apart = spec.anchor.distance(spec.anchor2);
                if apart > length * (1.0 + OPEN) {
                    let message = format!("its rope {:?} of {length} m joins points that are {apart} m apart", joint.name);
                    let cure = "it is drawn together in the first steps, at great speed; give it that length, or move the bodies";
                    found.push((joint.body1, message, cure.to_owned()));
                }
            }
            let [low, high] = spec.limits.unwrap_or_default();
            if spec.freedom() == Some(Freedom::Angle) && low.abs().max(high.abs()) >= MANY_TURNS && low.is_finite() && high.is_finite() {
                let turns = (high - low) / std::f64::consts::TAU;
                let message = format!("its joint {:?} turns from {low} to {high} rad, {turns:.1} turns", joint.name);
                found.push((joint.body1, message, format!("if these are degrees, write limits = [\"{low} deg\", \"{high} deg\"]")));
            }
        }
        self.say_all(Severity::Hint, found);
    }

    fn island(&mut self, built: &Built, held: &[&Held]) {
        let world = built.simulation.world();
        let parts = |h: &Held| -> Vec<Interaction> { h.parts.iter().filter_map(|&e| world.get::<Interaction>(e).cloned()).collect() };
        let all: Vec<(&Held, Vec<Interaction>)> = held.iter().map(|h| (*h, parts(h))).collect();
        let rows: usize = all.iter().flat_map(|(_, parts)| parts).filter(|p| p.law == Law::Equality).map(|p| p.relation.rows()).sum();
        if rows > ROWS {
            return;
        }
        let mut bodies: Vec<Entity> = all.iter().flat_map(|(_, parts)| parts.iter().flat_map(|p| p.systems.iter().copied())).collect();
        bodies.retain(|&b| world.get::<Inertia>(b).is_some() && world.get::<Motion>(b).is_some_and(Motion::is_dynamic));
        bodies.sort_unstable();
        bodies.dedup();
        let mut island = Island { world, bodies, basis: Vec::new(), locks: 0 };
        island.add_locks();
        let mut found = Vec::new();
        let (mut hints, mut locked) = (Vec::new(), Vec::new());
        for (h, parts) in &all {
            let (mut double, mut count, mut impossible) = (0, 0, false);
            for part in parts.iter().filter(|p| p.law == Law::Equality) {
                let Some((g, y)) = rows_of(world, &part.systems, &part.relation) else { continue };
                let size = self.shapes[h.body].as_ref().map_or(1.0, |s| s.bounding_radius().min(1e3));
                for (g, &y) in g.chunks_exact(6 * part.systems.len()).zip(&y) {
                    count += 1;
                    let speed = self.speed_of(world, &part.systems, g);
                    let row = island.row(&part.systems, g, y);
                    let dropped = island.is_locked(&row);
                    let rest = island.add(row);
                    if rest.is_something() {
                        if y.abs() > OPEN * size {
                            let message = format!("its joint {:?} is open by {:.3e} at the start, in m or rad", h.name, y.abs());
                            hints.push((
                                h.body,
                                message,
                                "it is drawn together in the first steps; place the bodies where it holds".to_owned(),
                            ));
                        }
                        if speed.abs() > OPEN * (1.0 + size) && !island.drives(&part.systems) {
                            let message =
                                format!("its joint {:?} does not let it start as it does: {:.3e} m/s or rad/s across", h.name, speed.abs());
                            hints.push((
                                h.body,
                                message,
                                "the first step stops that with a jolt; start bodies as their joints allow".to_owned(),
                            ));
                        }
                        continue;
                    }
                    double += usize::from(!dropped);
                    if rest.gap.abs() > OPEN * size || rest.driven.abs() > OPEN * (1.0 + size) {
                        let what = if rest.gap.abs() > OPEN * size {
                            format!("a gap of {:.3e} (m or rad) cannot close", rest.gap.abs())
                        } else {
                            format!("driven bodies pull it apart with {:.3e} m/s or rad/s", rest.driven.abs())
                        };
                        let message =
                            format!("its joint {:?} is impossible: other joints or locked axes hold it there, and {what}", h.name);
                        found.push((h.body, message, "correct its place, length or axis, or take the other joint or lock away".to_owned()));
                        impossible = true;
                        break;
                    }
                }
            }
            if double > 0 && !impossible {
                let message = format!("{double} of the {count} rows of its joint {:?} follow from other joints", h.name);
                let cure = "that is allowed: of the reactions that move bodies alike the least are given, so that like joints share alike; a joint that leaves more free has its own";
                self.redundant.push((h.body, message, cure.to_owned()));
            }
        }
        for (h, parts) in &all {
            self.coordinates(&island, h, parts, [&mut hints, &mut locked]);
        }
        self.redundant.append(&mut locked);
        self.say_some(found);
        self.say_all(Severity::Hint, hints);
    }

    /// Coordinates that cannot move, and springs that the scheme damps.
    fn coordinates(&self, island: &Island, h: &Held, parts: &[Interaction], [hints, locked]: [&mut Vec<(usize, String, String)>; 2]) {
        let free = parts.iter().find_map(|p| match &p.relation {
            Relation::Joint(joint) => joint.kind.freedom().map(|freedom| (p, Coordinate::new(freedom, joint.frames))),
            Relation::Coordinate(q) => Some((p, Coordinate { sign: 1.0, offset: 0.0, speed: 0.0, ..*q })),
            _ => None,
        });
        let Some((part, q)) = free else { return };
        let Some((g, _)) = rows_of(island.world, &part.systems, &q.into()) else { return };
        let mut row = island.row(&part.systems, &g, 0.0);
        let rest = island.reduce(&mut row);
        if !rest.is_something() {
            if let Some(misfit) = island.misfit(island.row(&part.systems, &g, 0.0)) {
                let message = format!(
                    "its joint {:?} cannot move: what it leaves free other joints hold by a misfit of {misfit:.1e} alone, axes or points that \
                     nearly agree",
                    h.name
                );
                let cure = "bodies are rigid, so that jams; write axes and points that are to agree with all digits, or take a joint that leaves \
                            more free (cylindrical, spherical) for one of them";
                hints.push((h.body, message, cure.to_owned()));
                return;
            }
            let acts = if parts.len() > 1 { ", and what acts on it does nothing" } else { "" };
            let message =
                format!("its joint {:?} is locked at the start: other joints or locked axes keep its coordinate from moving{acts}", h.name);
            locked.push((h.body, message, "free an axis, or leave it if it is meant or a dead point".to_owned()));
            return;
        }
        let springs = parts.iter().filter_map(|p| match p.law {
            Law::Spring { stiffness, damping, limit } if limit.is_infinite() => Some((stiffness, damping)),
            _ => None,
        });
        let (theta, h_step) = (self.scene.time.treatment.theta(), self.scene.time.step);
        for (stiffness, damping) in springs {
            let omega = (stiffness * rest.lengths[1]).sqrt();
            let x = omega * h_step;
            // damper as part of the critical one, and what the scheme adds
            let (own, added) = (0.5 * damping * rest.lengths[1] / omega, (theta - 0.5) * x);
            let gap_aware = matches!(self.scene.time.treatment, Treatment::GapAware { .. });
            let unseen = if gap_aware { x <= FOLLOWED } else { x <= FAST || theta <= 0.5 || added < 0.2 * own };
            if own > 1.0 || unseen {
                continue;
            }
            let swings = format!("its spring {:?} swings at {:.3} Hz, {x:.2} rad a step", h.name, omega / std::f64::consts::TAU);
            let (message, cure) = if gap_aware {
                let step = 0.5 * FOLLOWED / omega;
                (
                    format!("{swings}: steps cannot follow that, and bring it to rest"),
                    format!("use a step of {step:.1e} s or less, or leave it if it is meant"),
                )
            } else {
                let kept = (1.0 + ((1.0 - theta) * x).powi(2)) / (1.0 + (theta * x).powi(2));
                let turns = std::f64::consts::TAU / libm::atan(theta * x).max(x / 2.0);
                let lost = 100.0 * (1.0 - libm::pow(kept, turns.max(1.0)));
                let message = format!(
                    "{swings}: with theta = {theta} the scheme takes {lost:.0} % of its energy in each swing, as a damper of {added:.2} of the critical \
                     one would"
                );
                (message, format!("use a step of {:.1e} s or less, or theta = 0.5", 0.02 / omega))
            };
            hints.push((h.body, message, cure));
        }
    }

    /// Speed at which bodies start against a row, without driven ones.
    fn speed_of(&self, world: &World, systems: &[Entity], g: &[f64]) -> f64 {
        let velocity = |e: Entity| {
            let v = world.get::<Velocity>(e).copied().unwrap_or_default();
            [v.linear.to_array(), v.angular.to_array()].concat()
        };
        systems.iter().zip(g.chunks_exact(6)).map(|(&e, g)| g.iter().zip(velocity(e)).map(|(g, v)| g * v).sum::<f64>()).sum()
    }
}

impl Island<'_> {
    /// Whether one of these bodies is driven.
    fn drives(&self, systems: &[Entity]) -> bool {
        systems.iter().any(|&e| matches!(self.world.get::<Motion>(e), Some(Motion::Kinematic(_))))
    }
}

/// Numbers of what hangs together by moving bodies, in order.
fn islands(built: &Built, held: &[Held]) -> Vec<Vec<usize>> {
    let world = built.simulation.world();
    let mut root: Vec<usize> = (0..held.len()).collect();
    fn find(root: &mut [usize], mut i: usize) -> usize {
        while root[i] != i {
            root[i] = root[root[i]];
            i = root[i];
        }
        i
    }
    let mut first = std::collections::BTreeMap::new();
    for (k, h) in held.iter().enumerate() {
        let bodies = h.parts.iter().filter_map(|&e| world.get::<Interaction>(e)).flat_map(|p| p.systems.iter().copied());
        for body in bodies.filter(|&b| world.get::<Motion>(b).is_some_and(Motion::is_dynamic)) {
            let other = *first.entry(body).or_insert(k);
            let (a, b) = (find(&mut root, k), find(&mut root, other));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut islands: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
    for k in 0..held.len() {
        let owner = find(&mut root, k);
        islands.entry(owner).or_default().push(k);
    }
    islands.into_values().collect()
}
