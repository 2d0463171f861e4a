//! Attraction between bodies that touch.
//!
//! ```text
//! r' = r + h c n ∈ K        −(u + g(u)) ∈ N_K(r')        c: attraction of the law, n from body 2 to body 1
//! ```
//!
//! The contact law holds for what pushes, r'; what pulls is a load, −c n on body 1 and c n on body 2. So friction grips with μ (N + c), a
//! ball hangs under a ceiling up to m g = c, and the one-step problem is that without attraction.

use crate::geometry::systems::Proximity;
use crate::model::contact::{ContactPair, Manifold, Touch};
use crate::model::law::ContactLaws;
use crate::model::newton_euler::AppliedForce;
use crate::model::scheme::Scheme;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Forces and torques (N, N m) of an attraction `pull` (N) at one contact point, on bodies with these centres.
fn attraction(touch: &Touch, places: [DVec3; 2], pull: f64, centres: [DVec3; 2]) -> [AppliedForce; 2] {
    let on = |k: usize, force: DVec3| AppliedForce { force, torque: (places[k] - centres[k]).cross(force) };
    [on(0, -pull * touch.normal), on(1, pull * touch.normal)]
}

/// Velocity (m/s) of a point of a body at the start of the step.
fn speed_at(body: &Body, point: DVec3) -> DVec3 {
    body.velocity.linear + (body.pose.rotation * body.velocity.angular).cross(point - body.pose.position)
}

/// Adds the attraction of all pairs to the loads of their bodies, in the order of their slots.
pub(super) fn adhere(
    laws: Res<ContactLaws>,
    proximity: Res<Proximity>,
    mut pairs: Query<(&ContactPair, &mut Manifold)>,
    scheme: Res<Scheme>,
    mut bodies: ResMut<Bodies>,
) {
    if bodies.attract {
        bodies.rows.iter_mut().for_each(|row| row.pull = AppliedForce::default());
    }
    (bodies.attract, bodies.image_pull) = (laws.adhere(), 0.0);
    if !bodies.attract {
        return;
    }
    for &(.., entity) in proximity.pairs() {
        let Ok((pair, mut manifold)) = pairs.get_mut(entity) else { continue };
        if pair.law.adhesion == 0.0 {
            continue;
        }
        let [Some(one), Some(two)] = pair.slots.map(|s| bodies.rows.get(s as usize)) else { continue };
        let drift = scheme.cell.drift(pair.shift);
        let opening = |touch: &Touch| {
            let [at1, at2] = pair.places(touch);
            touch.normal.dot(speed_at(one, at1) - speed_at(two, at2) - drift)
        };
        let light = |body: &Body| body.inertia.map_or(0.0, |inertia| 1.0 / inertia.mass);
        pair.attract(&mut manifold.points, opening, 1.0 / (light(one) + light(two)), scheme.time_step);
        let (pull, centres) = (pair.pull(&manifold.points), [one.pose.position, two.pose.position]);
        for touch in manifold.points.iter().filter(|touch| touch.pulled > 0.0) {
            let pull = pull(touch);
            for (slot, force) in pair.slots.into_iter().zip(attraction(touch, pair.places(touch), pull, centres)) {
                bodies.pull(Slot(slot), force);
            }
            // the image of body 2 moves against it
            bodies.image_pull += pull * touch.normal.dot(drift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attraction_is_action_and_reaction_about_the_point() {
        let point = DVec3::new(0.3, -0.2, 0.5);
        let touch = Touch { point1: point, point2: point, normal: DVec3::Z, ..Touch::default() };
        let centres = [DVec3::new(0.1, 0.0, 1.0), DVec3::ZERO];
        let [one, two] = attraction(&touch, [point; 2], 2.0, centres);
        assert_eq!((one.force, two.force), (DVec3::NEG_Z * 2.0, DVec3::Z * 2.0));
        let moment = |f: AppliedForce, centre: DVec3| f.torque + centre.cross(f.force);
        assert!((moment(one, centres[0]) + moment(two, centres[1])).length() < 1e-15);
    }
}
