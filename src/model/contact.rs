//! The relation between two bodies that are near each other, as an entity that lives while their boxes overlap.

use super::law::CoulombImpact;
use bevy_ecs::prelude::{Component, Entity};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Two bodies near each other; body 1 has the lower slot.
///
/// ```
/// use drystone::model::contact::ContactPair;
/// # use bevy_ecs::prelude::*;
/// # let mut world = World::new();
/// # let (a, b) = (world.spawn_empty().id(), world.spawn_empty().id());
/// let pair = ContactPair { bodies: [a, b], slots: [0, 1], law: Default::default(), size: 0.1 };
/// assert!(pair.slots[0] < pair.slots[1]);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct ContactPair {
    /// The bodies.
    pub bodies: [Entity; 2],
    /// Their slots, ascending.
    pub slots: [u32; 2],
    /// Law of the pair.
    pub law: CoulombImpact,
    /// The smaller body's smallest length (m).
    pub size: f64,
}

/// One point of a contact, with what the step found for it.
///
/// ```
/// assert_eq!(drystone::model::contact::Touch::default().reaction, glam::DVec3::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// Names the features that touch; stable while they do.
    pub feature: u64,
    /// Unit normal from body 2 to body 1 (world).
    pub normal: DVec3,
    /// Signed gap at the start of the step (m), positive when apart.
    pub gap: f64,
    /// Point on body 1 (m, world).
    pub point1: DVec3,
    /// Point on body 2 (m, world).
    pub point2: DVec3,
    /// Impulse on body 1 in the last step (N s, world); the guess for the next.
    pub reaction: DVec3,
    /// Relative velocity after the last step (m/s, world).
    pub velocity: DVec3,
    /// Relative velocity at which the bodies came to touch here in the last step (m/s, world); zero where there was no impact.
    /// It decides the rebound of the next step in gap-aware scenes.
    pub approach: DVec3,
    /// Energy that the contact took in the last step (J): rebounds give back no more.
    pub taken: f64,
    /// Whether the point is a row of this step.
    pub active: bool,
}

impl Touch {
    /// Takes over what the same point of the step before knows.
    fn continues(&mut self, old: &Self) {
        (self.reaction, self.velocity) = (old.reaction, old.velocity);
        (self.approach, self.taken) = (old.approach, old.taken);
    }
}

/// The contact points of a pair.
///
/// ```
/// assert!(drystone::model::contact::Manifold::default().points.is_empty());
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Manifold {
    /// Points within reach, in the order of detection.
    pub points: SmallVec<[Touch; 1]>,
}

/// Longest way, in parts of the size of a patch, that a point whose features changed may have moved and still pass on its impulse.
const SAME_PLACE: f64 = 0.05;

/// Hands the impulses of the old points to the new ones: by feature, else by place. Each old impulse is used once.
pub fn inherit(old: &mut [Touch], new: &mut [Touch]) {
    for point in new.iter_mut() {
        if let Some(match_) = old.iter_mut().find(|o| o.feature == point.feature && o.active) {
            point.continues(match_);
            match_.active = false;
            point.active = true;
        }
    }
    let extent = old.iter().flat_map(|a| old.iter().map(|b| a.point1.distance_squared(b.point1))).fold(0.0, f64::max);
    if extent == 0.0 {
        return;
    }
    let limit = SAME_PLACE * SAME_PLACE * extent;
    for point in new.iter_mut().filter(|p| !p.active) {
        let distance = |o: &Touch| o.point1.distance_squared(point.point1);
        let nearest = old.iter_mut().filter(|o| o.active).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(match_) = nearest.filter(|o| distance(o) <= limit) {
            point.continues(match_);
            match_.active = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(feature: u64, x: f64, r: f64) -> Touch {
        Touch { feature, point1: DVec3::X * x, reaction: DVec3::Z * r, active: true, ..Touch::default() }
    }

    #[test]
    fn impulses_follow_their_feature_and_else_their_place() {
        let mut old = [touch(1, 0.0, 5.0), touch(2, 1.0, 7.0)];
        let mut new = [touch(2, 1.0, 0.0), touch(9, 0.01, 0.0), touch(8, 0.5, 0.0)].map(|t| Touch { active: false, ..t });
        inherit(&mut old, &mut new);
        assert_eq!(new.map(|t| t.reaction.z), [7.0, 5.0, 0.0]);
    }
}
