//! Components to rows at the start of a step, rows to components at its end.

use super::bodies::{Bodies, GeneralRow, Generals, Slot};
use crate::algebra::dense;
use crate::model::lagrangian::{ConstantLagrangian, Coordinates};
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

/// Reads the general systems into their flat arrays.
pub fn gather_generals(mut generals: ResMut<Generals>, query: Query<(Entity, Ref<ConstantLagrangian>, &Coordinates)>) {
    let generals = &mut *generals;
    // a system that is born, changed or gone since the last step
    let new = query.iter().any(|(_, system, _)| system.is_changed()) || generals.rows.len() != query.iter().len();
    if new {
        generals.rows = query.iter().map(|(entity, ..)| GeneralRow { entity: Some(entity), ..GeneralRow::default() }).collect();
        generals.rows.sort_by_key(|row| row.entity);
        generals.mass.clear();
        generals.inverse.clear();
        let mut first = 0;
        for row in &mut generals.rows {
            let Some((_, system, _)) = row.entity.and_then(|e| query.get(e).ok()) else { continue };
            (row.first, row.dofs) = (first, system.force.len());
            first += row.dofs;
            generals.mass.extend_from_slice(&system.mass);
            generals.inverse.extend(dense::inverse_spd(&system.mass, row.dofs).unwrap_or_else(|| vec![f64::NAN; row.dofs * row.dofs]));
        }
    }
    for array in [&mut generals.q, &mut generals.v, &mut generals.new_v, &mut generals.new_q, &mut generals.force] {
        array.clear();
    }
    for row in &generals.rows {
        let Some((_, system, state)) = row.entity.and_then(|e| query.get(e).ok()) else { continue };
        generals.q.extend_from_slice(&state.q);
        generals.v.extend_from_slice(&state.v);
        generals.new_v.extend_from_slice(&state.v);
        generals.new_q.extend_from_slice(&state.q);
        generals.force.extend_from_slice(&system.force);
    }
}

/// Writes the new state of every row back to its entity.
pub fn scatter(
    bodies: Res<Bodies>,
    generals: Res<Generals>,
    mut body: Query<(&Slot, &Motion, &mut BodyPose, &mut Velocity)>,
    mut general: Query<&mut Coordinates>,
) {
    for (slot, motion, mut pose, mut velocity) in &mut body {
        if matches!(motion, Motion::Static) {
            continue;
        }
        let row = &bodies.rows[slot.0 as usize];
        pose.0 = row.new_pose;
        *velocity = row.new_velocity;
    }
    for row in &generals.rows {
        let Some(mut state) = row.entity.and_then(|e| general.get_mut(e).ok()) else { continue };
        let range = row.first..row.first + row.dofs;
        state.q.copy_from_slice(&generals.new_q[range.clone()]);
        state.v.copy_from_slice(&generals.new_v[range]);
    }
}
