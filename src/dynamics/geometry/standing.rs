//! Bodies that stand: what detection has found of them stays as it is.
//!
//! The error that a solver leaves moves the blocks of a wall by some 1e-13 m in a step. As long as a body has not gone from where it was seen
//! by a hundredth of the band within which gaps count as closed (`Scheme::touch`), and does not go a quarter of that in a step, it is seen
//! there still: pairs of such bodies have the points that they had, without a look. Where one moves, both are seen where they are.
//!
//! The pose at which a body is seen is part of what a simulation saves, so that it goes on with the same bits.

use super::shapes::Shape;
use super::systems::Cached;
use crate::algebra::spatial::Pose;
use crate::model::newton_euler::Velocity;
use crate::model::scheme::Scheme;
use crate::topology::bodies::Body;

/// How far a body may be from where it is seen, in parts of the band of closed gaps, and at most in parts of its smallest length.
const NEAR: [f64; 2] = [0.01, 1e-9];
/// How far it may go in a step, in parts of that.
const SLOW: f64 = 0.25;

/// Decides where detection sees each body. Balls are seen where they are: a look at them costs less than to know that none is needed. What was
/// seen elsewhere before a detection that was left `unfinished` is still new to some of its pairs.
pub(super) fn stand(rows: &mut [Body], cached: &[Option<Cached>], scheme: &Scheme, unfinished: bool) {
    for (row, cached) in rows.iter_mut().zip(cached) {
        let seen = match cached {
            Some(c) if row.alive && !matches!(c.collider.shape, Shape::Ball { .. }) => seen(row, [c.radius, c.smallest], scheme),
            _ => None,
        };
        row.fresh = seen.is_none() || seen != row.seen || unfinished && row.fresh;
        row.seen = seen;
    }
}

/// Where a body is seen whose farthest point lies at the first length from its centre, and whose smallest length is the second (m).
fn seen(row: &Body, [radius, smallest]: [f64; 2], scheme: &Scheme) -> Option<Pose> {
    if row.inertia.is_none() {
        // as it is, to the last bit
        return (row.velocity == Velocity::default()).then_some(row.pose);
    }
    let near = (NEAR[0] * scheme.touch).min(NEAR[1]) * smallest;
    let way = scheme.time_step * (row.velocity.linear.length() + radius * row.velocity.angular.length());
    let from = |seen: &Pose| {
        let turned = row.pose.rotation * seen.rotation.conjugate();
        row.pose.position.distance(seen.position) + 2.0 * radius * turned.xyz().length()
    };
    (way <= SLOW * near).then(|| row.seen.filter(|seen| from(seen) <= near).unwrap_or(row.pose))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::spatial::rotate_exp;
    use crate::model::newton_euler::Inertia;
    use glam::{DQuat, DVec3};

    /// Where a block of 10 cm is seen that was seen at the origin, in steps of 1 ms.
    fn of(pose: Pose, velocity: Velocity, seen: Option<Pose>) -> Option<Pose> {
        let inertia = Some(Inertia { mass: 1.0, principal: DVec3::ONE });
        let row = Body { alive: true, inertia, pose, velocity, seen, ..Body::default() };
        super::seen(&row, [0.1, 0.1], &Scheme::default())
    }

    #[test]
    fn a_body_is_seen_where_it_was_until_it_has_gone_or_goes_far() {
        let at = |x: f64, angle: f64| Pose { position: DVec3::X * x, rotation: rotate_exp(DQuat::IDENTITY, DVec3::Z * angle) };
        let (rest, origin) = (Velocity::default(), Some(Pose::IDENTITY));
        // a hundredth of 1e-7 of 10 cm
        assert_eq!(of(at(0.9e-10, 0.0), rest, origin), origin);
        assert_eq!(of(at(1.1e-10, 0.0), rest, origin), Some(at(1.1e-10, 0.0)));
        assert_eq!(of(at(0.0, 0.9e-9), rest, origin), origin);
        assert_eq!(of(at(0.0, 1.1e-9), rest, origin), Some(at(0.0, 1.1e-9)));
        assert_eq!(of(at(1e-3, 0.0), rest, None), Some(at(1e-3, 0.0)));
        let going = |linear: f64, angular: f64| Velocity { linear: DVec3::X * linear, angular: DVec3::Z * angular };
        assert_eq!(of(at(0.0, 0.0), going(2e-8, 0.0), origin), origin);
        assert_eq!(of(at(0.0, 0.0), going(3e-8, 0.0), origin), None);
        assert_eq!(of(at(0.0, 0.0), going(0.0, 3e-7), origin), None);
    }
}
