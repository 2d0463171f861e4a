//! Components to rows at the start of a step, rows to components at its end.

use super::bodies::{Bodies, Slot, Slots, are_sound, is_sound};
use crate::algebra::pieces::{Part, length, share};
use crate::model::newton_euler::{AppliedForce, BodyPose, Drive, GravityScale, Inertia, Locks, Motion, Velocity, mean_velocity};
use crate::model::scheme::{Clock, Scheme};
use crate::model::watched::watched;
use bevy_ecs::prelude::*;
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

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

/// The columns of a table of bodies.
type Columns<'w> = (
    &'w [Entity],
    &'w [Slot],
    &'w [BodyPose],
    &'w [Velocity],
    Option<&'w [Inertia]>,
    &'w [Motion],
    Option<&'w [Locks]>,
    Option<&'w [AppliedForce]>,
    Option<&'w [GravityScale]>,
);

/// Bodies that are worth a second thread.
const SHARED: usize = 512;

/// What is found while bodies become rows.
#[derive(Default)]
struct Found {
    /// Whether a state or a load holds what is no number.
    wrong: bool,
    /// Whether one has come, gone, or begun or ceased to be moved by forces.
    renumber: bool,
    /// What is no body, and why.
    refused: Option<(Entity, String)>,
    /// Bodies whose drive gives them another velocity than they have.
    driven: Vec<(Entity, Velocity)>,
}

/// Stands for the table of a free slot.
const NOWHERE: [u32; 2] = [u32::MAX; 2];

/// Reads the bodies into their rows; a driven body gets its velocity from its drive. What is no body is noted by name.
pub fn gather_bodies(
    (clock, scheme): (Res<Clock>, Res<Scheme>),
    slots: Res<Slots>,
    mut bodies: ResMut<Bodies>,
    mut query: Query<BodyParts>,
    incomplete: Query<Entity, Incomplete>,
) {
    let Bodies { rows, sources, .. } = &mut *bodies;
    let mut by_hand: Option<(Entity, String)> = None;
    // the components live in tables, so there are slices of them
    let tables: SmallVec<[Columns<'_>; 4]> = query.contiguous_iter().into_iter().flatten().collect();
    sources.clear();
    sources.resize(rows.len(), NOWHERE);
    for (t, table) in (0..).zip(&tables) {
        for (i, slot) in (0..).zip(table.1) {
            if slot.0 >= slots.bound() {
                let reason = format!("its {slot:?} was never given by this simulation; insert no Slot by hand, spawn_body gives one");
                by_hand.get_or_insert((table.0[i as usize], reason));
                continue;
            }
            if slot.0 as usize >= sources.len() {
                sources.resize(slot.0 as usize + 1, NOWHERE);
            }
            let [t0, i0] = std::mem::replace(&mut sources[slot.0 as usize], [t, i]);
            if let Some(other) = tables.get(t0 as usize) {
                let other = other.0[i0 as usize];
                let reason = format!("it has the same {slot:?} as the entity {other}; insert no Slot by hand, spawn_body gives one");
                by_hand.get_or_insert((table.0[i as usize], reason));
            }
        }
    }
    rows.resize(sources.len(), super::bodies::Body::default());
    let given_by = |drive: &Drive| {
        if clock.chosen {
            return mean_velocity(drive, clock.time, scheme.time_step);
        }
        let (linear, angular) = drive(clock.time);
        Velocity { linear, angular }
    };
    let gather = |(rows, sources): (&mut [super::bodies::Body], &[[u32; 2]])| {
        let mut found = Found::default();
        for (row, source) in rows.iter_mut().zip(sources) {
            gather_body(row, tables.get(source[0] as usize).map(|table| (table, source[1] as usize)), given_by, &mut found);
        }
        found
    };
    let found: SmallVec<[Found; 1]> = if share(Part::Begin, rows.len(), SHARED) {
        let length = length(rows.len());
        let all: Vec<Found> = rows.par_chunks_mut(length).zip(sources.par_chunks(length)).map(gather).collect();
        all.into()
    } else {
        smallvec![gather((rows, sources))]
    };
    drop(tables);
    bodies.fault = by_hand;
    let mut renumber = false;
    bodies.sound = true;
    for Found { wrong, renumber: some, refused, driven } in found {
        renumber |= some;
        bodies.sound &= !wrong;
        if let Some((entity, reason)) = refused {
            bodies.refuse(entity, reason);
        }
        for (entity, given) in driven {
            if let Ok(mut parts) = query.get_mut(entity) {
                *parts.3 = given;
            }
        }
    }
    if let Some(entity) = incomplete.iter().min_by_key(|e| (e.index_u32(), e.generation().to_bits())) {
        bodies.refuse(entity, "a body needs BodyPose, Velocity and Motion; insert what was removed, or remove its Slot too");
    }
    if renumber {
        bodies.number();
    }
}

/// Reads the body at a place of a table into its row; `given_by` is what a drive says of the step.
fn gather_body(
    row: &mut super::bodies::Body,
    source: Option<(&Columns<'_>, usize)>,
    given_by: impl Fn(&Drive) -> Velocity,
    found: &mut Found,
) {
    let Some((&(entities, _, poses, velocities, inertias, motions, locks, loads, gravities), i)) = source else {
        found.renumber |= row.alive;
        (row.alive, row.entity) = (false, None);
        return;
    };
    let (entity, pose, motion, inertia) = (entities[i], poses[i].0, &motions[i], inertias.map(|all| all[i]));
    let given = match motion {
        Motion::Dynamic => None,
        Motion::Static => Some(Velocity::default()),
        Motion::Kinematic(drive) => match watched(|| given_by(drive)) {
            Ok(given) => Some(given),
            Err(said) => {
                found.refused.get_or_insert((entity, format!("its drive panicked: {said}")));
                None
            }
        },
    };
    let given = given.filter(|given| *given != velocities[i]);
    found.driven.extend(given.map(|given| (entity, given)));
    if motion.is_dynamic() {
        let valid =
            inertia.as_ref().map_or_else(|| Err("it is dynamic without Inertia; insert one, or another Motion".into()), Inertia::validate);
        if let Err(reason) = valid {
            found.refused.get_or_insert((entity, reason));
        }
    }
    if (pose.rotation.length_squared() - 1.0).abs() > UNIT {
        let reason = format!("its rotation has length {}; a unit quaternion is needed", pose.rotation.length());
        found.refused.get_or_insert((entity, reason));
    }
    let inertia = inertia.filter(|_| motion.is_dynamic());
    found.renumber |= !row.alive || row.inertia.is_some() != inertia.is_some();
    if row.entity != Some(entity) {
        (row.gained, row.seen) = (None, None);
    }
    (row.entity, row.alive) = (Some(entity), true);
    (row.pose, row.velocity) = (pose, given.unwrap_or(velocities[i]));
    (row.new_pose, row.new_velocity, row.frame) = (row.pose, row.velocity, row.pose);
    row.inertia = inertia;
    row.locks = locks.map(|all| all[i]).unwrap_or_default();
    row.load = loads.map(|all| all[i]).unwrap_or_default();
    found.wrong |= are_sound(&row.velocity, &row.pose) != [true; 2] || !(is_sound(row.load.force) && is_sound(row.load.torque));
    row.blow = AppliedForce::default();
    row.gravity = gravities.map(|all| all[i]).unwrap_or_default();
    row.forced = false;
}

/// Writes the new state of every row back to its entity; marked as changed is what differs from before.
pub fn scatter(mut bodies: ResMut<Bodies>, mut body: Query<(Entity, &Slot, &Motion, &mut BodyPose, &mut Velocity)>) {
    let Bodies { rows, changed, .. } = bodies.bypass_change_detection();
    for (entities, slots, motions, mut poses, mut velocities) in body.contiguous_iter_mut().into_iter().flatten() {
        changed.clear();
        changed.resize(entities.len(), [false; 2]);
        let (new_poses, new_velocities) = (poses.bypass_change_detection(), velocities.bypass_change_detection());
        let scatter = |(((entity, slot), motion), ((pose, velocity), changed)): Scattered<'_>| {
            if matches!(motion, Motion::Static) {
                return;
            }
            if let Some(row) = rows.get(slot.0 as usize).filter(|row| row.entity == Some(*entity)) {
                *changed = [put(pose, BodyPose(row.new_pose)), put(velocity, row.new_velocity)];
            }
        };
        if share(Part::End, entities.len(), SHARED) {
            let to = new_poses.par_iter_mut().zip(new_velocities).zip(&mut *changed);
            entities.par_iter().zip(slots).zip(motions).zip(to).with_min_len(SHARED / 4).for_each(scatter);
        } else {
            let to = new_poses.iter_mut().zip(new_velocities).zip(&mut *changed);
            entities.iter().zip(slots).zip(motions).zip(to).for_each(scatter);
        }
        let now = poses.this_run_tick();
        poses.changed_ticks_slice_mut().iter_mut().zip(&*changed).filter(|(_, changed)| changed[0]).for_each(|(tick, _)| *tick = now);
        velocities.changed_ticks_slice_mut().iter_mut().zip(&*changed).filter(|(_, changed)| changed[1]).for_each(|(tick, _)| *tick = now);
    }
}

/// A body, its new state, and whether that differs from before.
type Scattered<'a> = (((&'a Entity, &'a Slot), &'a Motion), ((&'a mut BodyPose, &'a mut Velocity), &'a mut [bool; 2]));

/// Writes a value; whether it differs from the old one. A −0 too is written where 0 is: the bits are the state.
fn put<T: PartialEq>(to: &mut T, new: T) -> bool {
    std::mem::replace(to, new) != *to
}
