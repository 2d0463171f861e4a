//! Rigid bodies among other systems: their forces and tangents in generalised velocities, wherever they are moved.
//!
//! ```text
//! q = (x, w, i, j, k)   v = (ẋ, ω)        ẋ in inertial axes, ω in those of the body
//! F = (f, m)            f in inertial axes, m in those of the body; what is given in the others is turned
//! δ(R f) = −R [f]× δφ   δ(Rᵀ m) = [Rᵀ m]× δφ        δφ: turn in axes of the body
//! ```

use super::ClusterError;
use super::differences::jacobian;
use super::node::evaluate;
use crate::algebra::spatial::{Pose, skew};
use crate::model::newton_euler::{AppliedForce, BodyForces, Frame, Inertia, Velocity, Wrench};
use crate::model::operator::{At, Operator};
use glam::{DMat3, DQuat, DVec3};

/// A rigid body as a node has it.
#[derive(Clone, Debug)]
pub(super) struct RigidBody {
    pub(super) inertia: Inertia,
    pub(super) forces: BodyForces,
    /// constant ones, in inertial axes
    pub(super) load: AppliedForce,
    pub(super) q: [f64; 7],
    pub(super) v: [f64; 6],
}

impl RigidBody {
    /// A body of which only its numbers of coordinates and velocities count.
    pub(super) fn stand_in() -> Self {
        let inertia = Inertia { mass: 1.0, principal: DVec3::ONE };
        let (forces, load) = (BodyForces::default(), AppliedForce::default());
        Self { inertia, forces, load, q: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], v: [0.0; 6] }
    }

    /// True where two differ in states and parameters alone.
    pub(super) fn same(&self, inertia: &Inertia, forces: Option<&BodyForces>, load: AppliedForce) -> bool {
        let forces = forces.map_or(self.forces == BodyForces::default(), |other| self.forces.same_functions(other));
        self.inertia == *inertia && self.load == load && forces
    }

    /// Adds `factor · F` of gravity, loads and the user, and of `−ω × I ω`.
    pub(super) fn add_flow(
        &self,
        (t, q, v): (f64, &[f64], &[f64]),
        gravity: DVec3,
        factor: f64,
        name: &str,
        out: &mut [f64],
    ) -> Result<(), ClusterError> {
        let mut total = [0.0; 6];
        wrench(&self.forces, (t, q, v), name, &mut total)?;
        let omega = DVec3::new(v[3], v[4], v[5]);
        let force = self.load.force + self.inertia.mass * gravity;
        let mut moment = -omega.cross(self.inertia.principal * omega);
        if self.load.torque != DVec3::ZERO {
            moment += rotation(q).conjugate() * self.load.torque;
        }
        let own = force.to_array().into_iter().chain(moment.to_array());
        out.iter_mut().zip(total.iter().zip(own)).for_each(|(o, (x, y))| *o += factor * (x + y));
        Ok(())
    }

    /// Subtracts `w_v ∂F/∂v + w_q ∂F/∂q` from `out`, 6 × 6.
    pub(super) fn subtract_tangent(
        &self,
        (t, q, v): (f64, &mut [f64], &mut [f64]),
        [w_v, w_q]: [f64; 2],
        name: &str,
        out: &mut [f64],
    ) -> Result<(), ClusterError> {
        subtract_tangent(&self.forces, (t, q, v), [w_v, w_q], name, out)?;
        if self.load.torque != DVec3::ZERO {
            turn_of(DMat3::from_quat(rotation(q).conjugate()) * self.load.torque, 3, w_q, out);
        }
        let omega = DVec3::new(v[3], v[4], v[5]);
        let i = DMat3::from_diagonal(self.inertia.principal);
        let j = skew(omega) * i - skew(i * omega);
        for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
            out[(3 + r) * 6 + 3 + c] += w_v * j.col(c)[r];
        }
        Ok(())
    }
}

/// Body to world.
pub(super) fn rotation(q: &[f64]) -> DQuat {
    DQuat::from_xyzw(q[4], q[5], q[6], q[3])
}

/// q of a pose.
pub(crate) fn coordinates(pose: &Pose) -> [f64; 7] {
    let (x, r) = (pose.position, pose.rotation);
    [x.x, x.y, x.z, r.w, r.x, r.y, r.z]
}

/// The pose of q.
pub(crate) fn pose_of(q: &[f64]) -> Pose {
    Pose { position: DVec3::from_slice(q), rotation: rotation(q) }
}

/// v of a velocity.
pub(crate) fn speeds(velocity: &Velocity) -> [f64; 6] {
    let (v, w) = (velocity.linear, velocity.angular);
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// The velocity of v.
pub(crate) fn velocity_of(v: &[f64]) -> Velocity {
    Velocity { linear: DVec3::from_slice(v), angular: DVec3::from_slice(&v[3..]) }
}

/// Rows on (ẋ, ω) from rows on q: `q̇ = ½ q ⊗ (0, ω)`.
pub(super) fn rows_on_twist(q: &[f64], row: &[f64], out: &mut [f64]) {
    out[..3].copy_from_slice(&row[..3]);
    let (w, x, y, z) = (q[3], q[4], q[5], q[6]);
    let t = [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]];
    for c in 0..3 {
        out[3 + c] = (0..4).map(|k| 0.5 * row[3 + k] * t[k][c]).sum();
    }
}

/// Names of a value and its tangents.
const FORCE: [&str; 3] = ["force", "∂f/∂q of the force", "∂f/∂v of the force"];
const MOMENT: [&str; 3] = ["moment", "∂m/∂q of the moment", "∂m/∂v of the moment"];

/// Both with the first of their rows, whether they are turned, and their names.
fn both(forces: &BodyForces) -> [(&Wrench, usize, bool, [&'static str; 3]); 2] {
    let (f, m) = (&forces.force, &forces.moment);
    [(f, 0, f.frame == Frame::Body, FORCE), (m, 3, m.frame == Frame::Inertial, MOMENT)]
}

/// The functions of the user with their names and columns.
pub(super) fn functions(forces: &BodyForces) -> impl Iterator<Item = (&Operator, &'static str, usize)> {
    both(forces).into_iter().flat_map(|(w, _, _, names)| [(&w.value, names[0], 1), (&w.on_q, names[1], 7), (&w.on_v, names[2], 6)])
}

/// The way of a value into the axes of F.
fn turn(q: &[f64], first: usize) -> DQuat {
    let r = rotation(q).normalize();
    if first == 0 { r } else { r.conjugate() }
}

/// F of the user at a state.
pub(crate) fn wrench(forces: &BodyForces, (t, q, v): (f64, &[f64], &[f64]), name: &str, out: &mut [f64; 6]) -> Result<(), ClusterError> {
    let at = At { q, v, z: &forces.z, ..At::time(t) };
    for (wrench, first, turned, names) in both(forces) {
        let here = &mut out[first..first + 3];
        if wrench.value.is_zero() {
            here.fill(0.0);
            continue;
        }
        evaluate(&wrench.value, 1, &at, here, name, names[0])?;
        if turned {
            let x = turn(q, first) * DVec3::from_slice(here);
            here.copy_from_slice(&x.to_array());
        }
    }
    Ok(())
}

/// Subtracts `w_q ∂/∂φ` of a value that is turned, as it stands in the axes of F, at row `first`.
fn turn_of(value: DVec3, first: usize, w_q: f64, out: &mut [f64]) {
    let j = skew(value);
    for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
        out[(first + r) * 6 + 3 + c] -= w_q * j.col(c)[r];
    }
}

/// Subtracts `w_v ∂F/∂v + w_q ∂F/∂q` of the user from `out`, 6 × 6; q and v come back as they were.
pub(crate) fn subtract_tangent(
    forces: &BodyForces,
    (t, q, v): (f64, &mut [f64], &mut [f64]),
    [w_v, w_q]: [f64; 2],
    name: &str,
    out: &mut [f64],
) -> Result<(), ClusterError> {
    let z = &forces.z;
    for (wrench, first, turned, names) in both(forces) {
        if wrench.value.is_zero() {
            continue;
        }
        let turn = if turned { DMat3::from_quat(turn(q, first)) } else { DMat3::IDENTITY };
        let mut add = |rows: &[f64], w: f64| {
            for c in 0..6 {
                let column = turn * DVec3::new(rows[c], rows[6 + c], rows[12 + c]);
                (0..3).for_each(|r| out[(first + r) * 6 + c] -= w * column[r]);
            }
        };
        if !wrench.value.is_constant() {
            let mut on_v = [0.0; 18];
            if wrench.on_v.is_zero() {
                let q = &*q;
                jacobian(3, v, &mut on_v, |v, f| evaluate(&wrench.value, 1, &At { q, v, z, ..At::time(t) }, f, name, names[0]))?;
            } else {
                evaluate(&wrench.on_v, 6, &At { q, v, z, ..At::time(t) }, &mut on_v, name, names[2])?;
            }
            add(&on_v, w_v);
            let mut on_q = [0.0; 21];
            if wrench.on_q.is_zero() {
                let v = &*v;
                jacobian(3, q, &mut on_q, |q, f| evaluate(&wrench.value, 1, &At { q, v, z, ..At::time(t) }, f, name, names[0]))?;
            } else {
                evaluate(&wrench.on_q, 7, &At { q, v, z, ..At::time(t) }, &mut on_q, name, names[1])?;
            }
            let mut on_turn = [0.0; 18];
            on_q.chunks_exact(7).zip(on_turn.chunks_exact_mut(6)).for_each(|(row, out)| rows_on_twist(q, row, out));
            add(&on_turn, w_q);
        }
        if turned {
            let mut value = [0.0; 3];
            evaluate(&wrench.value, 1, &At { q, v, z, ..At::time(t) }, &mut value, name, names[0])?;
            let value = DVec3::from_array(value);
            if first == 0 {
                // −R [f]×
                let j = turn * skew(value);
                (0..9).for_each(|k| out[(k / 3) * 6 + 3 + k % 3] += w_q * j.col(k % 3)[k / 3]);
            } else {
                turn_of(turn * value, 3, w_q, out);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_agree_with_differences_along_twists_in_both_frames() -> Result<(), ClusterError> {
        let value = || {
            Operator::function(|at, f| {
                for (i, f) in f.iter_mut().enumerate() {
                    *f = at.q[i] * at.q[i] + 0.3 * at.q[3 + i] * at.q[6] - 0.7 * at.v[5 - i] * at.v[i];
                }
            })
        };
        let pose = Pose::new(DVec3::new(0.3, -0.2, 0.5), DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 0.8));
        let (mut q, mut v) = (coordinates(&pose), [0.2, 0.5, -0.3, 1.0, -0.4, 0.6]);
        for frame in [Frame::Inertial, Frame::Body] {
            let forces = BodyForces::default().with_force(value(), frame).with_moment(value(), frame);
            let mut tangents = [[0.0; 36]; 2];
            subtract_tangent(&forces, (0.0, &mut q, &mut v), [-1.0, 0.0], "body", &mut tangents[0])?;
            subtract_tangent(&forces, (0.0, &mut q, &mut v), [0.0, -1.0], "body", &mut tangents[1])?;
            for c in 0..6 {
                let d = 1e-6;
                let mut along = [[[0.0; 6]; 2]; 2];
                for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                    let mut w = v;
                    w[c] += sign * d;
                    wrench(&forces, (0.0, &q, &w), "body", &mut along[0][side])?;
                    let mut twist = [0.0; 6];
                    twist[c] = sign * d;
                    let step = velocity_of(&twist);
                    let moved = Pose {
                        position: pose.position + step.linear,
                        rotation: crate::algebra::spatial::rotate_exp(pose.rotation, step.angular),
                    };
                    wrench(&forces, (0.0, &coordinates(&moved), &v), "body", &mut along[1][side])?;
                }
                for (tangent, [up, down]) in tangents.iter().zip(along) {
                    for r in 0..6 {
                        let wanted = (up[r] - down[r]) / (2.0 * d);
                        assert!((tangent[r * 6 + c] - wanted).abs() < 1e-8, "{frame:?} {r} {c}: {} {wanted}", tangent[r * 6 + c]);
                    }
                }
            }
        }
        Ok(())
    }
}
