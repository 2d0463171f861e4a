//! Moreau–Jean: one θ-step at velocity level, for rigid bodies.
//!
//! ```text
//! v_free = v + h (g + f/m)                          ω_free from I (ω_free − ω) = h (m + γ)
//! γ      = −ω̄ × I ω̄,  ω̄ = ½ (ω + ω_free)            Midpoint: conserves ½ ωᵀIω and |Iω| exactly
//! γ      = −θ ω_f × I ω_f − (1−θ) ω × I ω           ThetaRule
//! v⁺     = v_free + Ŵ⁻¹ Hᵀ r                        Ŵ = diag(m, R I Rᵀ)
//! x⁺     = x + h (θ v⁺ + (1−θ) v)                   q⁺ = q ⊗ exp(h ω_θ), or Cayley where that conserves R I ω too
//! ```
//!
//! Bodies that turn far within a step, and with θ > ½ all that meet no reaction, follow [`super::free_rotation`].
//!
//! Moreau 1988; Jean 1999; gyroscopic midpoint with the Cayley map: Simo & Wong 1991, Lewis & Simo 1994.

use crate::algebra::spatial::{Pose, rotate_cayley, rotate_exp};
use crate::model::newton_euler::{Inertia, Locks, Velocity};
use crate::model::scheme::{Gyroscopic, Treatment};
use crate::numerics::mixed::RigidMass;
use glam::{DMat3, DQuat, DVec3};

/// The inverse of Ŵ in world axes for a body whose frame is turned by `rotation`.
pub fn rigid_mass(inertia: &Inertia, rotation: DQuat, locks: &Locks) -> RigidMass {
    let i = inertia.principal;
    let unlocked = |locked: [bool; 3]| DVec3::from_array(locked.map(|l| if l { 0.0 } else { 1.0 }));
    let inverse_mass = unlocked(locks.translation) / inertia.mass;
    if i.x == i.y && i.y == i.z && locks.rotation == [false; 3] {
        let k = 1.0 / i.x;
        return RigidMass { inverse_mass, inverse_inertia: [k, k, k, 0.0, 0.0, 0.0] };
    }
    let r = DMat3::from_quat(rotation);
    if locks.rotation == [false; 3] {
        let inverse = r * DMat3::from_diagonal(i.recip()) * r.transpose();
        return RigidMass { inverse_mass, inverse_inertia: RigidMass::pack(inverse) };
    }
    // P (P I P)⁺ P: the inverse of the unlocked block of the world inertia
    let mut m = r * DMat3::from_diagonal(i) * r.transpose();
    for k in 0..3 {
        for j in 0..3 {
            if locks.rotation[k] || locks.rotation[j] {
                m.col_mut(k)[j] = f64::from(u8::from(k == j));
            }
        }
    }
    let mut inverse = m.inverse();
    for k in 0..3 {
        if locks.rotation[k] {
            inverse.col_mut(k)[k] = 0.0;
        }
    }
    RigidMass { inverse_mass, inverse_inertia: RigidMass::pack(inverse) }
}

/// `−ω × I ω`
pub fn gyroscopic_torque(omega: DVec3, principal: DVec3) -> DVec3 {
    -omega.cross(principal * omega)
}

/// The gyroscopic torque γ of a free step from `omega` under the torque `m` (body axes).
///
/// Newton on the 3×3 system of the scheme; quadratic, so a handful of iterations ends at rounding. Nothing where it does not:
/// the body turns too far within the step.
pub fn free_gyroscopic(scheme: Gyroscopic, theta: f64, omega: DVec3, m: DVec3, principal: DVec3, h: f64) -> Option<DVec3> {
    if principal.x == principal.y && principal.y == principal.z {
        return Some(DVec3::ZERO);
    }
    let (weight, constant, share) = match scheme {
        // γ at ω̄ = ½ (ω + ω_f): unknown ω̄ with I (ω̄ − ω) = ½ h (m + γ(ω̄))
        Gyroscopic::Midpoint => (0.5 * h, 0.5 * h * m, 1.0),
        Gyroscopic::ThetaRule => (h * theta, h * m + h * (1.0 - theta) * gyroscopic_torque(omega, principal), theta),
    };
    let i = DMat3::from_diagonal(principal);
    let mut x = omega;
    let mut settled = false;
    for _ in 0..20 {
        let residual = principal * (x - omega) - constant - weight * gyroscopic_torque(x, principal);
        // d(x × I x) = [x]× I − [I x]×
        let skew = crate::algebra::spatial::skew;
        let jacobian = i + weight * (skew(x) * i - skew(principal * x));
        let step = jacobian.inverse() * residual;
        x -= step;
        // rounding may keep the last digit moving
        settled = step.length_squared() <= 1e-26 * x.length_squared();
        if step.length_squared() <= 1e-32 * x.length_squared() {
            break;
        }
    }
    settled.then(|| match scheme {
        Gyroscopic::Midpoint => gyroscopic_torque(x, principal),
        Gyroscopic::ThetaRule => share * gyroscopic_torque(x, principal) + (1.0 - share) * gyroscopic_torque(omega, principal),
    })
}

/// The share of the step's end that the position update sees, `v_θ = θ v⁺ + (1−θ) v`.
pub fn theta_velocity(old: &Velocity, new: &Velocity, theta: f64) -> Velocity {
    Velocity { linear: theta * new.linear + (1.0 - theta) * old.linear, angular: theta * new.angular + (1.0 - theta) * old.angular }
}

/// The pose after a time `dt` at the constant velocity `v`.
pub fn advance(pose: &Pose, v: &Velocity, dt: f64, cayley: bool) -> Pose {
    let rotate = if cayley { rotate_cayley } else { rotate_exp };
    let rotation = if v.angular == DVec3::ZERO { pose.rotation } else { rotate(pose.rotation, dt * v.angular) };
    Pose { position: pose.position + dt * v.linear, rotation }
}

/// True where the Cayley map makes the gyroscopic midpoint rule conserve angular momentum as a vector.
pub fn uses_cayley(treatment: Treatment, gyroscopic: Gyroscopic) -> bool {
    gyroscopic == Gyroscopic::Midpoint && treatment.theta() == 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_midpoint_step_conserves_energy_and_the_momentum_vector() {
        let (i, h) = (DVec3::new(1.0, 2.0, 3.0), 0.05);
        let mut v = Velocity { linear: DVec3::ZERO, angular: DVec3::new(0.3, 4.0, -0.2) };
        let mut pose = Pose::default();
        let energy = |v: &Velocity| 0.5 * v.angular.dot(i * v.angular);
        let (e0, l0) = (energy(&v), pose.rotation * (i * v.angular));
        for _ in 0..1000 {
            let gamma = free_gyroscopic(Gyroscopic::Midpoint, 0.5, v.angular, DVec3::ZERO, i, h).unwrap();
            let new = Velocity { angular: v.angular + h * gamma / i, ..v };
            pose = advance(&pose, &theta_velocity(&v, &new, 0.5), h, true);
            v = new;
        }
        assert!((energy(&v) / e0 - 1.0).abs() < 1e-12);
        assert!((pose.rotation * (i * v.angular) - l0).length() < 1e-11 * l0.length());
    }

    #[test]
    fn locked_rotations_leave_the_inertia_about_the_free_axis() {
        let body = Inertia { mass: 2.0, principal: DVec3::new(1.0, 2.0, 3.0) };
        let turned = DQuat::from_rotation_y(0.4);
        let locks = Locks { translation: [false, true, false], rotation: [true, false, true] };
        let m = rigid_mass(&body, turned, &locks);
        assert_eq!(m.inverse_mass, DVec3::new(0.5, 0.0, 0.5));
        assert!((m.inertia_times(DVec3::ONE) - DVec3::new(0.0, 0.5, 0.0)).length() < 1e-15);
    }
}
