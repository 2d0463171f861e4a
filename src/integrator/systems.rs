//! Free motion and the new state, for every system.

use super::moreau_jean::{advance, free_gyroscopic, gyroscopic_torque, theta_velocity, uses_cayley};
use crate::model::newton_euler::Velocity;
use crate::model::scheme::Scheme;
use crate::numerics::mixed::Twist;
use crate::topology::bodies::{Bodies, Body};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Whether joints make the step nonlinear, and which pass of its inner loop runs.
///
/// ```
/// assert_eq!(drystone::integrator::systems::Pass::default().number, 0);
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Pass {
    /// 0 in the first pass.
    pub number: usize,
    /// Rows are evaluated at the middle of the step, which depends on its end.
    pub nonlinear: bool,
    /// Relative change that the tolerance of the solver alone can make from a pass to the next.
    pub accuracy: f64,
    /// Largest change of a velocity against the last pass, relative to the largest velocity, not below that of a free fall
    /// of one step; 0 where only rounding is left.
    pub change: f64,
}

/// `h (g + f/m)` and `h (m + γ)` plus blows, as momenta in world axes; sets the gyroscopic torque of the step.
pub fn free_momentum(body: &mut Body, scheme: &Scheme, pass: &Pass) -> Twist {
    let Some(inertia) = body.inertia else { return Twist::default() };
    let h = scheme.time_step;
    let torque = body.frame.rotation.conjugate() * (body.load.torque + body.blow.torque / h);
    let (old, i) = (body.velocity.angular, inertia.principal);
    body.gyroscopic = if pass.number == 0 {
        free_gyroscopic(scheme.gyroscopic, scheme.treatment.theta(), old, torque, i, h)
    } else {
        // the last pass knows the impulses: the scheme's average sees them
        let new = body.new_velocity.angular;
        match scheme.gyroscopic {
            crate::model::scheme::Gyroscopic::Midpoint => gyroscopic_torque(0.5 * (old + new), i),
            crate::model::scheme::Gyroscopic::ThetaRule => {
                let theta = scheme.treatment.theta();
                theta * gyroscopic_torque(new, i) + (1.0 - theta) * gyroscopic_torque(old, i)
            }
        }
    };
    Twist {
        linear: h * (inertia.mass * scheme.gravity + body.load.force) + body.blow.force,
        angular: body.frame.rotation * (h * (torque + body.gyroscopic)),
    }
}

/// Pose in the middle of the step at the velocities of the last pass; the pose at the start where nothing is nonlinear.
pub fn set_frames(scheme: Res<Scheme>, pass: Res<Pass>, mut bodies: ResMut<Bodies>) {
    if !pass.nonlinear {
        return;
    }
    let cayley = uses_cayley(scheme.treatment, scheme.gyroscopic);
    for body in bodies.rows.iter_mut().filter(|b| b.alive) {
        let v = theta_velocity(&body.velocity, &body.new_velocity, scheme.treatment.theta());
        body.frame = advance(&body.pose, &v, 0.5 * scheme.time_step, cayley);
    }
}

/// Where passes no longer halve a change below this, it is rounding: bodies of small inertia on long arms have that much.
const ROUNDING: f64 = 1e-10;

/// New velocities from the solution; new poses by the θ-rule.
pub fn new_state(bodies: &mut Bodies, scheme: &Scheme, solution: &[Twist], pass: &mut Pass) {
    let h = scheme.time_step;
    let cayley = uses_cayley(scheme.treatment, scheme.gyroscopic);
    // a system at rest still sums velocities of this size, and rounds there
    let (mut change, mut size) = (0f64, h * scheme.gravity.length());
    for body in bodies.rows.iter_mut().filter(|b| b.alive) {
        if let Some(twist) = solution.get(body.row as usize) {
            let new = Velocity { linear: twist.linear, angular: body.frame.rotation.conjugate() * twist.angular };
            let difference = |a: DVec3, b: DVec3| (a - b).abs().max_element();
            change = change.max(difference(new.linear, body.new_velocity.linear)).max(difference(new.angular, body.new_velocity.angular));
            size = size.max(new.linear.abs().max_element()).max(new.angular.abs().max_element());
            body.new_velocity = new;
        }
        if body.new_velocity.linear != DVec3::ZERO || body.new_velocity.angular != DVec3::ZERO || body.inertia.is_some() {
            // a driven body moves at the velocity that its contacts saw
            let theta = if body.inertia.is_some() { scheme.treatment.theta() } else { 1.0 };
            body.new_pose = advance(&body.pose, &theta_velocity(&body.velocity, &body.new_velocity, theta), h, cayley && theta == 0.5);
        }
    }
    let last = std::mem::replace(&mut pass.change, if size > 0.0 { change / size } else { 0.0 });
    let rounding = pass.change <= ROUNDING && pass.change > 0.5 * last;
    let unsolved = pass.change <= pass.accuracy && pass.change > 0.9 * last;
    if pass.number > 0 && (rounding || unsolved) {
        pass.change = 0.0;
    }
}
