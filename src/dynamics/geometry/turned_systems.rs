//! Contact points of bodies in joints, in the middle and at the end of the step.
//!
//! ```text
//! v + ω × R_m a = 0           a joint, its arm in the middle of the step
//! n·(v + ω × R₀ a) ≥ 0        a contact at the same place, its arm at the start: by the joint −½ h n·(ω × (ω × R₀ a)) ≥ 0
//! ```
//!
//! The two rows contradict each other by the way of the centre round the joint, and a block that tips over a hinge on the floor would be
//! stopped. So the rows of such bodies have their arms where those of joints are. What turns with a body is its core, not its rounding, and
//! a point of contact wanders: detection at that pose tells where it is. From the fourth pass on points turn with the bodies: a feature that
//! is named otherwise in every other pass would keep the passes from settling.

use super::narrow::{ContactPoint, contact_points};
use super::systems::Proximity;
use crate::algebra::spatial::Pose;
use crate::model::contact::{ContactPair, Manifold, Swept, Touch, Turned, TurnedArms};
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::scheme::Scheme;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Points of two poses are the same if their normals differ by less than this cosine.
const SAME_NORMAL: f64 = 0.9;

/// Passes that look where points are.
const LOOKS: usize = 3;

/// Looks where the contact points of bodies in joints are in the middle and at the end of the step.
pub fn turn_arms(
    scheme: Res<Scheme>,
    bodies: Res<Bodies>,
    mut arms: ResMut<TurnedArms>,
    mut proximity: ResMut<Proximity>,
    slots: Query<&Slot>,
    joints: Query<&Interaction, With<OfBodies>>,
    pairs: Query<(&ContactPair, &Manifold)>,
) {
    let TurnedArms { rows, jointed, looks } = &mut *arms;
    *looks += 1;
    if *looks > LOOKS {
        return rows.iter_mut().for_each(|row| follow(row, &bodies));
    }
    rows.clear();
    jointed.clear();
    if joints.is_empty() {
        return;
    }
    jointed.resize(bodies.rows.len(), false);
    for joint in &joints {
        for slot in joint.systems.iter().filter_map(|&e| slots.get(e).ok()) {
            jointed[slot.0 as usize] = true;
        }
    }
    let Proximity { cached, movers, scratch, points, .. } = &mut *proximity;
    for (source, (pair, manifold)) in pairs.iter().enumerate() {
        let [i, j] = pair.slots.map(|s| s as usize);
        let (Some(a), Some(b)) = (&cached[i], &cached[j]) else { continue };
        let ends = [&bodies.rows[i], &bodies.rows[j]];
        if manifold.points.is_empty() || !(jointed[i] || jointed[j]) || !ends.iter().any(|b| turns(b, scheme.touch)) {
            continue;
        }
        // a point may have gone as far as it could come
        let reach = 2.0 * movers[i].pair_reach(&movers[j], pair.shift, &scheme);
        let mut detect = |poses: [Pose; 2], points: &mut Vec<ContactPoint>| {
            let places = (a.place(&poses[0]), b.place(&poses[1]));
            contact_points(&a.collider.shape, &places.0, &b.collider.shape, &places.1, reach, scratch, points);
        };
        let gone = scheme.time_step * scheme.cell.drift(pair.shift);
        let image = |poses: [Pose; 2], part: f64| [poses[0], poses[1].shifted(pair.shift + part * gone)];
        let (frames, last) = (image(ends.map(|b| b.frame), 0.5), image(ends.map(|b| b.new_pose), 1.0));
        points.clear();
        detect(frames, points);
        let middle = points.len();
        if scheme.treatment.theta() < 1.0 {
            detect(last, points);
        }
        for (k, touch) in manifold.points.iter().enumerate().filter(|(_, t)| t.swept == Swept::No) {
            let [middle, end] = [(&points[..middle], &frames), (&points[middle..], &last)]
                .map(|(found, poses)| Some(arms_of(same_point(found, touch, reach)?, poses)));
            let Some((arms, own)) = middle else { continue };
            let end = end.map_or(arms, |(arms, _)| arms);
            rows.push(Turned { source: source as u32, point: k as u32, slots: pair.slots, middle: arms, end, own });
        }
    }
}

/// The point that has become of `touch` among those found at another pose: by name, else the nearest within `reach` (m).
fn same_point<'a>(found: &'a [ContactPoint], touch: &Touch, reach: f64) -> Option<&'a ContactPoint> {
    let way = |p: &&ContactPoint| p.point1.distance_squared(touch.point1);
    let near = found.iter().filter(|p| p.normal.dot(touch.normal) > SAME_NORMAL && way(p) <= reach * reach);
    near.clone().find(|p| p.feature == touch.feature).or_else(|| near.min_by(|a, b| way(a).total_cmp(&way(b))))
}

/// Arms of a point about either body, in the world and in the axes of the bodies.
fn arms_of(p: &ContactPoint, poses: &[Pose; 2]) -> ([DVec3; 2], [DVec3; 2]) {
    let place = 0.5 * (p.point1 + p.point2);
    let arms = poses.map(|pose| place - pose.position);
    (arms, [0, 1].map(|k| poses[k].rotation.conjugate() * arms[k]))
}

/// Turns the arms of a point with its bodies.
fn follow(row: &mut Turned, bodies: &Bodies) {
    for (k, slot) in row.slots.into_iter().enumerate() {
        let body = &bodies.rows[slot as usize];
        row.middle[k] = body.frame.rotation * row.own[k];
        row.end[k] = body.new_pose.rotation * row.own[k];
    }
}

/// Whether a body turns by more than this angle (rad) up to the middle of the step.
fn turns(body: &Body, angle: f64) -> bool {
    2.0 * (body.pose.rotation.conjugate() * body.frame.rotation).xyz().length() > angle
}
