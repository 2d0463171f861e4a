//! Free flight by Euler's equations, apart from the simulator, and what it meets.

use super::Watch;
use super::shots::Shot;
use drystone::algebra::spatial::Pose;
use drystone::model::newton_euler::Velocity;
use glam::{DQuat, DVec3};

/// What free flight does to the wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Always clear by a margin.
    Misses,
    /// Inside by a margin.
    Hits,
    /// Neither.
    Grazes,
}

pub(crate) struct Flight {
    pose: Pose,
    v: Velocity,
    principal: DVec3,
    gravity: DVec3,
}

impl Flight {
    pub(crate) fn new(pose: Pose, v: Velocity, principal: DVec3, gravity: DVec3) -> Self {
        Self { pose, v, principal, gravity }
    }

    /// Runge and Kutta's step for `q̇ = ½ q ω`, `I ω̇ = I ω × ω`.
    fn step(&mut self, dt: f64) {
        self.pose.position += dt * (self.v.linear + 0.5 * dt * self.gravity);
        self.v.linear += dt * self.gravity;
        if self.v.angular == DVec3::ZERO {
            return;
        }
        let i = self.principal;
        let rate = |q: DQuat, w: DVec3| (q * DQuat::from_xyzw(0.5 * w.x, 0.5 * w.y, 0.5 * w.z, 0.0), (i * w).cross(w) / i);
        let (q, w) = (self.pose.rotation, self.v.angular);
        let (q1, w1) = rate(q, w);
        let (q2, w2) = rate(q + q1 * (0.5 * dt), w + 0.5 * dt * w1);
        let (q3, w3) = rate(q + q2 * (0.5 * dt), w + 0.5 * dt * w2);
        let (q4, w4) = rate(q + q3 * dt, w + dt * w3);
        self.pose.rotation = (q + (q1 + q2 * 2.0 + q3 * 2.0 + q4) * (dt / 6.0)).normalize();
        self.v.angular = w + (w1 + 2.0 * w2 + 2.0 * w3 + w4) * (dt / 6.0);
    }

    /// Follows the whole shot.
    pub(crate) fn verdict(&mut self, shot: &Shot, wall: &Pose, watch: &mut Watch) -> Verdict {
        let margin = MARGIN * shot.length;
        let (mut clear, mut time, end) = (f64::INFINITY, 0.0, shot.time());
        let turning = self.v.angular.length() * shot.radius;
        while time < end {
            let near = shot.clearance(self.pose.position, wall, true);
            // far from the wall in strides, near it by small parts of both
            let way = (0.5 * (near - shot.radius - margin)).max(0.02 * shot.length.min(shot.thickness.max(0.1 * shot.length)));
            let dt = (way / self.v.linear.length()).min(0.05 * shot.radius / turning.max(1e-300)).min(end - time);
            self.step(dt.max(1e-12 * end));
            time += dt.max(1e-12 * end);
            if near < shot.radius + margin + way {
                let gap = watch.gap([self.pose, *wall], margin);
                clear = clear.min(gap);
                if clear < -margin {
                    return Verdict::Hits;
                }
            }
        }
        if clear < margin { Verdict::Grazes } else { Verdict::Misses }
    }
}

/// Parts of the bullet's smallest length within which a flight neither hits nor misses.
const MARGIN: f64 = 0.01;
