//! Gears, rack and pinion, screws: two coordinates that go together.

use super::{Coordinate, Freedom};
use crate::algebra::spatial::Pose;
use crate::model::interaction::Interaction;
use crate::model::law::Law;
use bevy_ecs::prelude::Entity;
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// What moves with what, stated where the bodies stand.
///
/// ```
/// use drystone::model::joint::TransmissionSpec;
/// use glam::DVec3;
/// // 20 teeth drive 60, which turn the other way
/// let gear = TransmissionSpec::Gear { axes: [DVec3::Z, DVec3::Z], ratio: -3.0 };
/// assert!(gear.validate(true).is_ok());
/// assert!(TransmissionSpec::Screw { axis: DVec3::ZERO, lead: 5e-3 }.validate(true).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TransmissionSpec {
    /// Body 1 turns about its axis by `ratio` times what body 2 turns about its own, both against the world: negative for wheels that
    /// mesh from outside.
    Gear {
        /// Axes in the world.
        axes: [DVec3; 2],
        /// Turns of body 1 per turn of body 2.
        ratio: f64,
    },
    /// Body 2, a rack, goes by `radius` times the angle of body 1, its pinion, both against the world.
    Rack {
        /// Axis of the pinion in the world.
        axis: DVec3,
        /// Way of the rack in the world where the pinion turns about its axis.
        direction: DVec3,
        /// m
        radius: f64,
    },
    /// Body 1 goes along the axis by `lead` for a turn against body 2 or the world; a cylindrical joint holds the rest.
    Screw {
        /// Axis in the world.
        axis: DVec3,
        /// m per turn; positive for a right-handed thread.
        lead: f64,
    },
}

impl TransmissionSpec {
    /// Checks the numbers, and that there are two bodies where it takes two.
    pub fn validate(&self, two: bool) -> Result<(), String> {
        let (directions, factor, what) = match *self {
            Self::Gear { axes, ratio } => (axes, ratio, "ratio"),
            Self::Rack { axis, direction, radius } => ([axis, direction], radius, "radius"),
            Self::Screw { axis, lead } => ([axis, axis], lead, "lead"),
        };
        if let Some(bad) = directions.iter().find(|d| !(d.is_finite() && d.length() > f64::MIN_POSITIVE)) {
            return Err(format!("an axis or direction is {bad}; it needs a length"));
        }
        if !(factor != 0.0 && factor.is_finite()) {
            return Err(format!("{what} is {factor}; a finite number that is not 0 is needed"));
        }
        if two || matches!(self, Self::Screw { .. }) { Ok(()) } else { Err("gears and racks need two bodies".into()) }
    }

    /// The interaction between two bodies (a screw also with the world) at the poses they have.
    pub fn interaction(&self, one: (Entity, Pose), two: Option<(Entity, Pose)>) -> Result<Interaction, String> {
        self.validate(two.is_some())?;
        let poses = [one.1, two.map_or(Pose::default(), |t| t.1)];
        let along = |pose: &Pose, against: &Pose, axis: DVec3| {
            let axis = axis.normalize();
            let side = axis.any_orthonormal_vector();
            let world = Pose::new(pose.position, DQuat::from_mat3(&DMat3::from_cols(side, axis.cross(side), axis)).normalize());
            [pose.relative(&world), against.relative(&world)]
        };
        let world = Pose::default();
        let (parts, ratio) = match *self {
            Self::Gear { axes, ratio } => {
                let wheel = |k: usize, of| (of, Coordinate::new(Freedom::Angle, along(&poses[k], &world, axes[k])));
                ([wheel(0, Of::First), wheel(1, Of::Second)], ratio)
            }
            Self::Rack { axis, direction, radius } => {
                let rack = Coordinate::new(Freedom::Displacement, along(&poses[1], &world, direction));
                ([(Of::Second, rack), (Of::First, Coordinate::new(Freedom::Angle, along(&poses[0], &world, axis)))], radius)
            }
            Self::Screw { axis, lead } => {
                let frames = along(&poses[0], &poses[1], axis);
                let both = |freedom| (Of::Both, Coordinate::new(freedom, frames));
                ([both(Freedom::Displacement), both(Freedom::Angle)], lead / std::f64::consts::TAU)
            }
        };
        let systems: Vec<Entity> = std::iter::once(one.0).chain(two.map(|t| t.0)).collect();
        Ok(Interaction::new(systems, Transmission { parts, ratio }, Law::Equality).with_parameters([0.0; 2]))
    }
}

/// Whose coordinate a part of a transmission is.
///
/// ```
/// assert_ne!(drystone::model::joint::Of::First, drystone::model::joint::Of::Both);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Of the first body against the world.
    First,
    /// Of the second body against the world.
    Second,
    /// Of the first body against the second, or the world.
    Both,
}

/// `y = q₁ − ratio · q₂`, two coordinates. Its interaction remembers both in its parameters, so that turns are counted.
///
/// ```
/// use drystone::algebra::spatial::Pose;
/// use drystone::model::joint::{Coordinate, Freedom, Of, Transmission};
/// let q = |of, freedom| (of, Coordinate::new(freedom, [Pose::default(); 2]));
/// let screw = Transmission { parts: [q(Of::Both, Freedom::Displacement), q(Of::Both, Freedom::Angle)], ratio: 0.1 };
/// let turned = Pose::new(glam::DVec3::Z * 0.2, glam::DQuat::from_rotation_z(0.5));
/// assert!((screw.output(&[turned, Pose::default()], &[0.0, 0.0]) - 0.15).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission {
    /// The two coordinates.
    pub parts: [(Of, Coordinate); 2],
    /// See above.
    pub ratio: f64,
}

impl Transmission {
    /// Both coordinates at these poses, of all angles those next to `near`.
    pub fn values(&self, bodies: &[Pose; 2], near: &[f64]) -> [f64; 2] {
        [0, 1].map(|k| {
            let (of, q) = &self.parts[k];
            q.value(&of.poses(bodies), near.get(k).copied().unwrap_or(0.0))
        })
    }

    /// y.
    pub fn output(&self, bodies: &[Pose; 2], near: &[f64]) -> f64 {
        let [one, two] = self.values(bodies, near);
        one - self.ratio * two
    }

    /// The row of ẏ on the velocities of both bodies: linear and angular part of each, in world axes.
    pub fn row(&self, bodies: &[Pose; 2]) -> [[DVec3; 2]; 2] {
        let mut sum = [[DVec3::ZERO; 2]; 2];
        for ((of, q), factor) in self.parts.iter().zip([1.0, -self.ratio]) {
            let row = q.row(&of.poses(bodies));
            let own = [[row.linear, row.angular[0]], [-row.linear, row.angular[1]]];
            let ends: &[(usize, usize)] = match of {
                Of::First => &[(0, 0)],
                Of::Second => &[(1, 0)],
                Of::Both => &[(0, 0), (1, 1)],
            };
            for &(body, end) in ends {
                (0..2).for_each(|i| sum[body][i] += factor * own[end][i]);
            }
        }
        sum
    }
}

impl Of {
    fn poses(self, bodies: &[Pose; 2]) -> [Pose; 2] {
        match self {
            Self::First => [bodies[0], Pose::default()],
            Self::Second => [bodies[1], Pose::default()],
            Self::Both => *bodies,
        }
    }
}
