//! What a joint does: its coordinate, how well it holds, and the forces in it.

use crate::algebra::spatial::Pose;
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::joint::{Coordinate, Freedom, JointDrives, JointKind, JointParts, MAX_JOINT_ROWS, TwistRow};
use crate::model::law::Law;
use crate::model::newton_euler::{BodyPose, Velocity};
use crate::model::relation::Relation;
use crate::model::scheme::{Clock, Scheme};
use crate::model::signal::JointQuantity;
use bevy_ecs::prelude::{Entity, World};
use glam::DVec3;

/// A joint after a step; forces are means over it, angles and torques of a revolute joint stand where others have ways and forces.
///
/// ```
/// use drystone::model::joint::{JointKind, JointSpec};
/// use drystone::simulation::{Body, JointState, Simulation};
/// use glam::DVec3;
/// let mut sim = Simulation::default();
/// let bob = sim.spawn_body(Body::point(1.0, DVec3::splat(0.1)).at(DVec3::X))?;
/// let hinge = sim.add_joint(bob, None, &JointSpec::new(JointKind::Revolute).axis(DVec3::Y))?;
/// sim.run_until(0.5)?;
/// let now = JointState::of(sim.world(), hinge[0]).expect("a joint");
/// assert!(now.coordinate.is_some_and(|q| q > 0.5) && now.force > 9.81 && now.gap < 1e-4);
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointState {
    /// Coordinate (rad or m), of rods, ropes and springs between points their length; none where more than one thing is free, or nothing.
    pub coordinate: Option<f64>,
    /// Its rate.
    pub speed: f64,
    /// How far the joint is open (m).
    pub gap: f64,
    /// How far it is turned against what it holds (rad).
    pub tilt: f64,
    /// Force in what it holds (N).
    pub force: f64,
    /// Moment in what it holds (N m).
    pub moment: f64,
    /// What the stops give, positive where they raise the coordinate (N m or N); of a rope its pull.
    pub stop: f64,
    /// What dry friction and that of bearings give.
    pub friction: f64,
    /// What motors and servos give.
    pub motor: f64,
    /// What springs and dampers give.
    pub spring: f64,
    /// The force on body 1 at the joint (N, world).
    pub force_vector: DVec3,
    /// The moment on body 1 about the joint (N m, world).
    pub moment_vector: DVec3,
}

/// Poses and twists (v, ω, both in the world) of the bodies of an interaction.
fn places(world: &World, part: &Interaction) -> ([Pose; 2], [[DVec3; 2]; 2]) {
    let place = |k: usize| part.systems.get(k).and_then(|&e| world.get::<BodyPose>(e)).map_or(Pose::default(), |p| p.0);
    let poses = [place(0), place(1)];
    let twist = |k: usize| {
        let velocity = part.systems.get(k).and_then(|&e| world.get::<Velocity>(e)).copied().unwrap_or_default();
        [velocity.linear, poses[k].rotation * velocity.angular]
    };
    (poses, [twist(0), twist(1)])
}

/// The rate of a coordinate itself.
fn rate(q: &Coordinate, poses: &[Pose; 2], twists: &[[DVec3; 2]; 2]) -> f64 {
    let row = Coordinate { sign: 1.0, ..*q }.row(poses);
    row.linear.dot(twists[0][0] - twists[1][0]) + row.angular[0].dot(twists[0][1]) + row.angular[1].dot(twists[1][1])
}

/// The coordinate that an interaction of a joint is about.
fn coordinate(part: &Interaction) -> Option<Coordinate> {
    match &part.relation {
        Relation::Joint(joint) => {
            let freedom = if matches!(joint.kind, JointKind::Distance(_)) { Some(Freedom::Distance) } else { joint.kind.freedom() };
            freedom.map(|freedom| Coordinate::new(freedom, joint.frames))
        }
        Relation::Coordinate(q) => Some(*q),
        _ => None,
    }
}

impl JointState {
    /// The state of the joint of which this is the first interaction, as [`Simulation::add_joint`](super::Simulation::add_joint) gives
    /// it; none where there is no joint.
    pub fn of(world: &World, joint: Entity) -> Option<Self> {
        let own = [joint];
        let parts = world.get::<JointParts>(joint).map_or(&own[..], |parts| &parts.0);
        if !matches!(world.get::<Interaction>(joint)?.relation, Relation::Joint(_) | Relation::Coordinate(_)) {
            return None;
        }
        let mut s = Self::default();
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let drives = world.get::<JointDrives>(joint);
        let drives = |entity: Entity, q: &Coordinate, law: &Law| match (drives, law) {
            (Some(JointDrives(drives)), _) => drives.contains(&entity),
            // an interaction that is no part of a joint
            (None, Law::Relay { .. }) => q.speed != 0.0,
            (None, Law::Spring { limit, .. }) => limit.is_finite(),
            _ => false,
        };
        for (entity, part) in parts.iter().filter_map(|&e| world.get::<Interaction>(e).map(|part| (e, part))) {
            let measure = world.resource::<Clock>().measure;
            let of_bodies = world.get::<OfBodies>(entity).is_some() && measure > 0.0;
            let h = if of_bodies { measure } else { world.resource::<Scheme>().time_step };
            let (poses, twists) = places(world, part);
            if let Some(q) = coordinate(part) {
                s.speed = rate(&q, &poses, &twists);
            }
            if let Some(open) = part.open() {
                [s.gap, s.tilt] = open;
            }
            match (&part.relation, &part.law) {
                (Relation::Joint(joint), _) => {
                    let translations = joint.kind.translations();
                    let Some((force, moment)) = part.lambda.split_at_checked(translations) else { continue };
                    (s.force, s.moment) = (norm(force) / h, norm(moment) / h);
                    let mut rows = [TwistRow::default(); MAX_JOINT_ROWS];
                    joint.rows(&poses, &mut rows);
                    let (along, about) = rows.split_at(translations);
                    s.force_vector = along.iter().zip(force).map(|(row, l)| row.linear * (l / h)).sum();
                    s.moment_vector = about.iter().zip(moment).map(|(row, l)| row.angular[0] * (l / h)).sum();
                    let near = part.z.first().copied().unwrap_or(0.0);
                    s.coordinate = match joint.kind {
                        JointKind::Distance(length) => part.y.first().map(|y| length + y),
                        _ => coordinate(part).map(|q| q.value(&poses, near)),
                    };
                }
                (Relation::Coordinate(q), law) => {
                    let (Some(y), Some(lambda)) = (part.y.first(), part.lambda.first()) else { continue };
                    s.coordinate.get_or_insert(q.from_output(*y));
                    let effort = q.sign * lambda / h;
                    match law {
                        _ if drives(entity, q, law) => s.motor += effort,
                        Law::Relay { .. } | Law::Bearing { .. } => s.friction += effort,
                        Law::Spring { .. } => s.spring += effort,
                        _ if q.freedom == Freedom::Distance => s.stop = lambda / h,
                        _ => s.stop += effort,
                    }
                }
                _ => {}
            }
        }
        Some(s)
    }

    /// One of its figures.
    pub fn get(&self, q: JointQuantity) -> Option<f64> {
        use JointQuantity::*;
        Some(match q {
            Coordinate => return self.coordinate,
            Speed => self.speed,
            Gap => self.gap,
            Tilt => self.tilt,
            Force => self.force,
            Moment => self.moment,
            Stop => self.stop,
            Friction => self.friction,
            Motor => self.motor,
            Spring => self.spring,
            ForceX => self.force_vector.x,
            ForceY => self.force_vector.y,
            ForceZ => self.force_vector.z,
            MomentX => self.moment_vector.x,
            MomentY => self.moment_vector.y,
            MomentZ => self.moment_vector.z,
        })
    }

    pub(super) fn value(world: &World, joint: Entity, q: JointQuantity) -> Result<f64, &'static str> {
        let state = Self::of(world, joint).ok_or("there is no such joint; name the first interaction that add_joint gave")?;
        let none = "this joint leaves more than one thing free, or nothing, and has no coordinate";
        if q.is_of_coordinate() && state.coordinate.is_none() { Err(none) } else { state.get(q).ok_or(none) }
    }

    /// Whether its coordinate is an angle.
    pub(super) fn turns(world: &World, joint: Entity) -> bool {
        world.get::<Interaction>(joint).and_then(coordinate).is_some_and(|q| q.freedom == Freedom::Angle)
    }
}
