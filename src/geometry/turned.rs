//! Contact points of bodies in joints, in the middle and at the end of the step.
//!
//! ```text
//! v + ω × R_m a = 0           a joint, its arm in the middle of the step
//! n·(v + ω × R₀ a) ≥ 0        a contact at the same place, its arm at the start: by the joint −½ h n·(ω × (ω × R₀ a)) ≥ 0
//! ```
//!
//! The two rows contradict each other by the way of the centre round the joint, and a block that tips over a hinge on the floor would be
//! stopped. So the rows of such bodies have their arms where those of joints are. What turns with a body is its core, not its rounding, and
//! a point of contact wanders: detection at that pose tells where it is.

use super::narrow::{ContactPoint, contact_points};
use super::systems::Proximity;
use crate::algebra::spatial::Pose;
use crate::model::contact::{ContactPair, Manifold, Swept, Turned, TurnedArms};
use crate::model::interaction::SphericalJoint;
use crate::model::scheme::Scheme;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;

/// Points of two poses are the same if their normals differ by less than this cosine.
const SAME_NORMAL: f64 = 0.9;

/// Looks where the contact points of bodies in joints are in the middle and at the end of the step.
pub fn turn_arms(
    scheme: Res<Scheme>,
    bodies: Res<Bodies>,
    mut arms: ResMut<TurnedArms>,
    mut proximity: ResMut<Proximity>,
    slots: Query<&Slot>,
    joints: Query<&SphericalJoint>,
    pairs: Query<(&ContactPair, &Manifold)>,
) {
    let TurnedArms { rows, jointed } = &mut *arms;
    rows.clear();
    jointed.clear();
    if joints.is_empty() {
        return;
    }
    jointed.resize(bodies.rows.len(), false);
    for joint in &joints {
        for slot in [Some(joint.body1), joint.body2].into_iter().flatten().filter_map(|e| slots.get(e).ok()) {
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
        let reach = 2.0 * movers[i].pair_reach(&movers[j], &scheme);
        let mut detect = |poses: [&Pose; 2], points: &mut Vec<ContactPoint>| {
            let places = (a.place(poses[0]), b.place(poses[1]));
            contact_points(&a.collider.shape, &places.0, &b.collider.shape, &places.1, reach, scratch, points);
        };
        points.clear();
        detect(ends.map(|b| &b.frame), points);
        let middle = points.len();
        if scheme.treatment.theta() < 1.0 {
            detect(ends.map(|b| &b.new_pose), points);
        }
        for (k, touch) in manifold.points.iter().enumerate().filter(|(_, t)| t.swept == Swept::No) {
            let same = |p: &&ContactPoint| p.feature == touch.feature && p.normal.dot(touch.normal) > SAME_NORMAL;
            let find = |found: &[ContactPoint], poses: [&Pose; 2]| {
                let place = found.iter().find(same).map(|p| 0.5 * (p.point1 + p.point2))?;
                Some(poses.map(|pose| place - pose.position))
            };
            let Some(at_middle) = find(&points[..middle], ends.map(|b| &b.frame)) else { continue };
            let at_end = find(&points[middle..], ends.map(|b| &b.new_pose)).unwrap_or(at_middle);
            rows.push(Turned { source: source as u32, point: k as u32, middle: at_middle, end: at_end });
        }
    }
}

/// Whether a body turns by more than this angle (rad) up to the middle of the step.
fn turns(body: &Body, angle: f64) -> bool {
    2.0 * (body.pose.rotation.conjugate() * body.frame.rotation).xyz().length() > angle
}
