//! Components to rows at the start of a step, rows to components at its end.

use super::bodies::{Bodies, Slot};
use crate::model::newton_euler::{AppliedForce, BodyPose, GravityScale, Inertia, Locks, Motion, Velocity};
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
    Option<&'static GravityScale>,
);

/// Bodies that lack what every body has.
type Incomplete = (With<Slot>, Or<(Without<BodyPose>, Without<Velocity>, Without<Motion>)>);

/// The square of the length of a rotation may differ from one by this.
const UNIT: f64 = 1e-6;

/// Reads the bodies into their rows; a driven body gets its velocity from its drive. What is no body is noted by name.
pub fn gather_bodies(clock: Res<Clock>, mut bodies: ResMut<Bodies>, mut query: Query<BodyParts>, incomplete: Query<Entity, Incomplete>) {
    bodies.fault = None;
    let mut seen = std::mem::take(&mut bodies.seen);
    seen.clear();
    seen.resize(bodies.rows.len(), false);
    let mut renumber = false;
    for (entity, slot, pose, mut velocity, inertia, motion, locks, load, gravity) in &mut query {
        let slot = slot.0 as usize;
        if slot >= bodies.rows.len() {
            bodies.rows.resize(slot + 1, super::bodies::Body::default());
            seen.resize(slot + 1, false);
        }
        seen[slot] = true;
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
        if motion.is_dynamic() {
            let valid =
                inertia.map_or_else(|| Err("it is dynamic without Inertia; insert one, or another Motion".into()), Inertia::validate);
            if let Err(reason) = valid {
                bodies.refuse(entity, reason);
            }
        }
        if (pose.0.rotation.length_squared() - 1.0).abs() > UNIT {
            bodies.refuse(entity, format!("its rotation has length {}; a unit quaternion is needed", pose.0.rotation.length()));
        }
        let row = &mut bodies.rows[slot];
        let inertia = inertia.copied().filter(|_| motion.is_dynamic());
        renumber |= !row.alive || row.inertia.is_some() != inertia.is_some();
        (row.entity, row.alive) = (Some(entity), true);
        (row.pose, row.velocity) = (pose.0, *velocity);
        (row.new_pose, row.new_velocity, row.frame) = (row.pose, row.velocity, row.pose);
        row.inertia = inertia;
        row.locks = locks.copied().unwrap_or_default();
        row.load = load.copied().unwrap_or_default();
        row.blow = AppliedForce::default();
        row.gravity = gravity.copied().unwrap_or_default();
        row.forced = false;
    }
    if let Some(entity) = incomplete.iter().min_by_key(|e| (e.index_u32(), e.generation().to_bits())) {
        bodies.refuse(entity, "a body needs BodyPose, Velocity and Motion; insert what was removed, or remove its Slot too");
    }
    for (row, _) in bodies.rows.iter_mut().zip(&seen).filter(|(_, seen)| !**seen) {
        renumber |= row.alive;
        (row.alive, row.entity) = (false, None);
    }
    bodies.seen = seen;
    if renumber {
        bodies.number();
    }
}

/// Writes the new state of every row back to its entity; marked as changed is what differs from before.
pub fn scatter(bodies: Res<Bodies>, mut body: Query<(Entity, &Slot, &Motion, &mut BodyPose, &mut Velocity)>) {
    for (entity, slot, motion, mut pose, mut velocity) in &mut body {
        if matches!(motion, Motion::Static) {
            continue;
        }
        let Some(row) = bodies.rows.get(slot.0 as usize).filter(|row| row.entity == Some(entity)) else { continue };
        put(&mut pose, BodyPose(row.new_pose));
        put(&mut velocity, row.new_velocity);
    }
}

/// Not `set_if_neq`, which would keep a −0 where 0 is written: the bits are the state.
fn put<T: Component<Mutability = bevy_ecs::component::Mutable> + PartialEq>(to: &mut Mut<T>, new: T) {
    let old = std::mem::replace(to.bypass_change_detection(), new);
    if old != **to {
        to.set_changed();
    }
}
