//! What has given way in joints that crush, at the end of a step.

use crate::model::contact::{ContactPair, Manifold};
use crate::model::crushing::CrushingJoints;
use crate::model::scheme::Scheme;
use crate::topology::bodies::Bodies;
use bevy_ecs::prelude::*;

/// Part of what a point bears from which on it gives way: what a solver misses is no crushing.
const FULL: f64 = 0.999;

/// Takes in the depth to which points that bear all they can have come.
pub fn store_crushing(
    scheme: Res<Scheme>,
    bodies: Res<Bodies>,
    mut joints: ResMut<CrushingJoints>,
    pairs: Query<(&ContactPair, &Manifold)>,
) {
    if joints.0.is_empty() {
        return;
    }
    let h = scheme.time_step;
    for (pair, manifold) in &pairs {
        let [one, two] = pair.slots.map(|slot| bodies.rows[slot as usize].new_pose);
        let poses = [&one, &two.shifted(pair.shift)];
        for touch in manifold.points.iter().filter(|t| t.bears > 0.0 && t.active) {
            if touch.reaction.dot(touch.normal) >= FULL * h * touch.bears {
                joints.give_way(pair, touch, poses);
            }
        }
    }
}
