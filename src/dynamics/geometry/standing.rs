//! Bodies that stand: what detection has found of them stays as it is.
//!
//! The error that a solver leaves moves the blocks of a wall by some 1e-13 m in a step. As long as a body has not gone from where it was seen
//! by a hundredth of the band within which gaps count as closed (`Scheme::touch`), and does not go a quarter of that in a step, it is seen
//! there still: pairs of such bodies have the points that they had, without a look. Where one moves, both are seen where they are.
//!
//! The pose at which a body is seen is part of what a simulation saves, so that it goes on with the same bits.

use crate::algebra::spatial::Pose;
use crate::model::newton_euler::Velocity;
use crate::model::scheme::Scheme;

/// How far a body may be from where it is seen, in parts of the band of closed gaps, and at most in parts of its smallest length.
const NEAR: [f64; 2] = [0.01, 1e-9];
/// How far it may go in a step, in parts of that.
const SLOW: f64 = 0.25;

/// Where a body at this pose and velocity is seen that was seen there before, if it was; none while it moves. Its farthest point lies at the first
/// length from its centre, its smallest length is the second (m).
pub(super) fn seen(pose: &Pose, velocity: &Velocity, before: Option<Pose>, [radius, smallest]: [f64; 2], scheme: &Scheme) -> Option<Pose> {
    let near = (NEAR[0] * scheme.touch).min(NEAR[1]) * smallest;
    let way = scheme.time_step * (velocity.linear.length() + radius * velocity.angular.length());
    let from = |seen: &Pose| {
        let turned = pose.rotation * seen.rotation.conjugate();
        pose.position.distance(seen.position) + 2.0 * radius * turned.xyz().length()
    };
    (way <= SLOW * near).then(|| before.filter(|seen| from(seen) <= near).unwrap_or(*pose))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::spatial::rotate_exp;
    use glam::{DQuat, DVec3};

    /// Where a block of 10 cm is seen that was seen at the origin, in steps of 1 ms.
    fn of(pose: Pose, velocity: Velocity, seen: Option<Pose>) -> Option<Pose> {
        super::seen(&pose, &velocity, seen, [0.1, 0.1], &Scheme::default())
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
