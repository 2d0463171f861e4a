//! Components to rows at the start of a step, rows to components at its end.

use super::bodies::{Bodies, Slot};
use crate::model::newton_euler::{AppliedForce, BodyPose, Inertia, Locks, Motion, Velocity};
use crate::model::scheme::Clock;
use bevy_ecs::prelude::*;

/// What a body entity is gathered from.
type BodyParts = (
    Entity,
    &'static Slot,
    &'static BodyPose,
    &'static mut Velocity,
    Option<&'static Inertia>,
    &'static Motion,
    Option<&'static Locks>,
    Option<&'static AppliedForce>,
);

/// Reads the bodies into their rows; a driven body gets its velocity from its drive.
pub fn gather_bodies(clock: Res<Clock>, mut bodies: ResMut<Bodies>, mut query: Query<BodyParts>) {
    for row in &mut bodies.rows {
        row.alive = false;
        row.entity = None;
    }
    for (entity, slot, pose, mut velocity, inertia, motion, locks, load) in &mut query {
        let slot = slot.0 as usize;
        if slot >= bodies.rows.len() {
            bodies.rows.resize(slot + 1, super::bodies::Body::default());
        }
        let given = match motion {
            Motion::Dynamic => None,
            Motion::Static => Some(Velocity::default()),
            Motion::Kinematic(drive) => {
                let (linear, angular) = drive(clock.time);
                Some(Velocity { linear, angular })
            }
        };
        if let Some(given) = given.filter(|g| *g != *velocity) {
            *velocity = given;
        }
        let row = &mut bodies.rows[slot];
        (row.entity, row.alive) = (Some(entity), true);
        (row.pose, row.velocity) = (pose.0, *velocity);
        (row.new_pose, row.new_velocity, row.frame) = (row.pose, row.velocity, row.pose);
        row.inertia = inertia.copied().filter(|_| motion.is_dynamic());
        row.locks = locks.copied().unwrap_or_default();
        row.load = load.copied().unwrap_or_default();
    }
    bodies.number();
}

/// Writes the new state of every row back to its entity.
pub fn scatter(bodies: Res<Bodies>, mut body: Query<(&Slot, &Motion, &mut BodyPose, &mut Velocity)>) {
    for (slot, motion, mut pose, mut velocity) in &mut body {
        if matches!(motion, Motion::Static) {
            continue;
        }
        let row = &bodies.rows[slot.0 as usize];
        pose.0 = row.new_pose;
        *velocity = row.new_velocity;
    }
}
