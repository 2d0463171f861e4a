//! Free rotation over a step of any length: the implicit midpoint rule in as many substeps as the turning needs.
//!
//! ```text
//! kick      ω ← ω + ½ δ I⁻¹ m          m: constant torque of the world, seen in the axes that the body has by now
//! turn      I (ω⁺ − ω) = −δ ω̄ × I ω̄   ω̄ = ½ (ω + ω⁺): keeps ½ ωᵀIω and |Iω|
//!           Q = A exp(δ ω̄)             A: the shortest rotation with Q I ω⁺ = I ω, so that the momentum keeps its direction too
//! kick      as before
//! ```
//!
//! The number of substeps follows from `z = h |ω| max |I_i − I_j|/I_k`: the equation of ω̄ is quadratic, and z is the length of the
//! step times the Lipschitz constant of its derivative, so Newton's method converges surely where z is small (Kantorovich).
//! Around an axis of symmetry nothing depends on z, since exp is exact there.

use super::moreau_jean::free_gyroscopic;
use crate::algebra::spatial::rotate_exp;
use crate::model::scheme::Gyroscopic;
use crate::topology::bodies::Turn;
use glam::{DQuat, DVec3};

/// Up to this z one midpoint step is what the scheme asks for; above it, the rotation is worked out in substeps.
pub const ONE_STEP: f64 = 0.5;
/// z of a substep: the phase of the turning is then within 1e-3 of itself.
const SUBSTEP: f64 = 0.1;
/// Most substeps of a step.
const MOST: f64 = 1e4;

/// `h |ω| max |I_i − I_j|/I_k`: about the angle (rad) by which ω turns in the body within h.
pub fn wobble(omega: DVec3, principal: DVec3, h: f64) -> f64 {
    let [a, b, c] = principal.to_array();
    let ratio = ((b - c).abs() / a).max((c - a).abs() / b).max((a - b).abs() / c);
    h * omega.length() * ratio
}

/// The time step (s) with which one midpoint step would do, now and at the fastest that the body can turn with this energy.
pub fn sufficient_step(omega: DVec3, principal: DVec3) -> f64 {
    let fastest = (omega.dot(principal * omega) / principal.min_element()).sqrt();
    ONE_STEP / wobble(fastest * DVec3::X, principal, 1.0)
}

/// Free rotation over `h` under the constant torque and the blow of the world, both given in the axes of the body at the start.
///
/// The error is the time step (s) that would do, where even the most substeps are too few.
pub fn free_rotation(omega: DVec3, torque: DVec3, blow: DVec3, principal: DVec3, h: f64) -> Result<Turn, f64> {
    let start = omega + blow / principal;
    let fastest = omega.length().max(start.length()).max((start + h * torque / principal).length());
    let z = wobble(fastest * DVec3::X, principal, h);
    let mut substeps = if z > ONE_STEP { (z / SUBSTEP).ceil() } else { 1.0 };
    while substeps <= MOST {
        if let Some(turn) = flow(start, torque, principal, h / substeps, substeps as u32) {
            return Ok(turn);
        }
        substeps *= 2.0;
    }
    Err(MOST * SUBSTEP / ONE_STEP * sufficient_step(omega, principal).min(sufficient_step(start, principal)))
}

/// That many substeps of length `dt`, or nothing where one of them has no solution that Newton's method finds.
fn flow(start: DVec3, torque: DVec3, principal: DVec3, dt: f64, substeps: u32) -> Option<Turn> {
    let mut turn = Turn { angular: start, rotation: DQuat::IDENTITY };
    for _ in 0..substeps {
        turn.angular += 0.5 * dt * (turn.rotation.conjugate() * torque) / principal;
        let before = turn.angular;
        let gamma = free_gyroscopic(Gyroscopic::Midpoint, 0.5, before, DVec3::ZERO, principal, dt)?;
        turn.angular += dt * gamma / principal;
        let step = rotate_exp(DQuat::IDENTITY, 0.5 * dt * (before + turn.angular));
        let step = shortest(step * (principal * turn.angular), principal * before) * step;
        turn.rotation = (turn.rotation * step).normalize();
        turn.angular += 0.5 * dt * (turn.rotation.conjugate() * torque) / principal;
    }
    Some(turn)
}

/// The shortest rotation that turns the direction of `a` into that of `b`; exact also where they are close.
fn shortest(a: DVec3, b: DVec3) -> DQuat {
    let (Some(a), Some(b)) = (a.try_normalize(), b.try_normalize()) else { return DQuat::IDENTITY };
    let axis = a.cross(b);
    let q = DQuat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + a.dot(b));
    if q.length_squared() > 1e-6 { q.normalize() } else { DQuat::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinetic(i: DVec3, w: DVec3) -> f64 {
        0.5 * w.dot(i * w)
    }

    #[test]
    fn energy_and_the_momentum_vector_stay_at_any_speed() {
        let bodies = [[1.0, 10.0, 11.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0 + 1e-9], [1e-3, 1.0, 1.0], [1.0, 1.0, 2.0], [2.0, 0.3, 1.9]];
        let speeds = [[3000.0, 4000.0, 100.0], [100.0, 5000.0, 500.0], [0.3, 0.1, -0.2], [0.0, 900.0, 1e-6], [-7e3, 6e3, 5e3]];
        for i in bodies.map(DVec3::from_array) {
            for start in speeds.map(DVec3::from_array) {
                let mut now = Turn { angular: start, rotation: DQuat::IDENTITY };
                for _ in 0..50 {
                    let turn = free_rotation(now.angular, DVec3::ZERO, DVec3::ZERO, i, 1e-3).unwrap();
                    now = Turn { angular: turn.angular, rotation: now.rotation * turn.rotation };
                }
                let l = now.rotation * (i * now.angular);
                assert!((kinetic(i, now.angular) / kinetic(i, start) - 1.0).abs() < 1e-11, "{i} {start}");
                assert!((l - i * start).length() < 1e-11 * (i * start).length(), "{i} {start}");
            }
        }
    }

    #[test]
    fn a_torque_and_a_blow_add_to_the_momentum_what_they_are() {
        let (i, omega, h) = (DVec3::new(1.0, 10.0, 11.0), DVec3::new(300.0, 4000.0, 100.0), 1e-3);
        let (torque, blow) = (DVec3::new(2e4, -1e5, 3e5), DVec3::new(-50.0, 700.0, 20.0));
        let turn = free_rotation(omega, torque, blow, i, h).unwrap();
        let (l, wanted) = (turn.rotation * (i * turn.angular), i * omega + blow + h * torque);
        assert!((l - wanted).length() < 1e-12 * wanted.length(), "{l} {wanted}");
    }

    #[test]
    fn the_turning_is_that_of_a_hundred_times_finer_steps() {
        let (i, omega) = (DVec3::new(1.0, 10.0, 11.0), DVec3::new(300.0, 400.0, 10.0));
        let run = |h: f64, steps: u32| {
            let mut now = Turn { angular: omega, rotation: DQuat::IDENTITY };
            for _ in 0..steps {
                let turn = free_rotation(now.angular, DVec3::ZERO, DVec3::ZERO, i, h).unwrap();
                now = Turn { angular: turn.angular, rotation: now.rotation * turn.rotation };
            }
            now
        };
        let (coarse, fine) = (run(2e-3, 10), run(2e-5, 1000));
        assert!(coarse.rotation.angle_between(fine.rotation) < 0.03, "{}", coarse.rotation.angle_between(fine.rotation));
        assert!((coarse.angular - fine.angular).length() < 0.03 * omega.length());
    }

    #[test]
    fn what_is_too_fast_is_refused_with_the_step_that_would_do() {
        let (i, omega) = (DVec3::new(1.0, 10.0, 11.0), DVec3::new(3e7, 4e7, 1e6));
        let h = free_rotation(omega, DVec3::ZERO, DVec3::ZERO, i, 1.0).unwrap_err();
        assert!(h > 1e-6 && h < 1e-3 && free_rotation(omega, DVec3::ZERO, DVec3::ZERO, i, 0.99 * h).is_ok(), "{h}");
    }
}
