//! Rows that locked axes leave empty: a normal or an arm along which nothing can move.
//!
//! ```text
//! W_ii = H_i Ŵ⁻¹ H_iᵀ = 0        then u_i = H_i v_free + b_i whatever r is
//! ```
//!
//! Such a row is no unknown: it is left out, and where `u_i` is not what the law asks for, the step cannot be solved. What cannot
//! move is then named ([`Held`]) instead of being divided by.

use super::problem::StepProblem;
use crate::model::joint::MAX_JOINT_ROWS;
use crate::model::newton_euler::Locks;
use crate::numerics::mixed::{IMMOBILE, RigidMass, System};
use crate::topology::bodies::Body;
use bevy_ecs::prelude::Entity;
use glam::DVec3;

/// A row counts as empty below this part of the mobility that the bodies would have without locks: the square of an angle that only
/// rounding makes.
const EMPTY: f64 = 1e-20;
/// The same for rows of one joint that depend on each other, where rounding is not squared.
const DEPENDENT: f64 = 1e-13;

/// A place where locked axes hold what would have to move.
///
/// ```
/// let held = drystone::assembly::locked::Held { bodies: [None; 2], direction: glam::DVec3::Y, speed: 0.1 };
/// assert!(held.speed > 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The two bodies; `None` is the world.
    pub bodies: [Option<Entity>; 2],
    /// The first would have to move this way against the second (unit, world).
    pub direction: DVec3,
    /// How fast (m/s).
    pub speed: f64,
}

/// A row of a joint that is left out, kept to see whether it holds all the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LeftOut {
    pub(super) bodies: [Option<Entity>; 2],
    pub(super) systems: [System; 2],
    pub(super) rows: [[f64; 6]; 2],
    pub(super) b: f64,
    /// Along, or about (unit, world).
    pub(super) direction: DVec3,
    /// Velocity below which it holds (m/s).
    pub(super) tolerance: f64,
}

/// Whether some axis of one of the bodies is locked, or both do not move at all: else no row is empty.
pub(super) fn any_locks(bodies: [Option<&Body>; 2]) -> bool {
    let moves = |b: Option<&Body>| b.is_some_and(|b| b.row != IMMOBILE && b.locks == Locks::default());
    !bodies.into_iter().any(moves)
}

/// Mobility of a point of the body at `arm` along `direction`, and what it would be at most without locks.
fn mobility(body: &Body, arm: DVec3, direction: DVec3) -> [f64; 2] {
    let Some(inertia) = body.inertia.filter(|_| body.row != IMMOBILE) else { return [0.0; 2] };
    let mass = crate::integrator::moreau_jean::rigid_mass(&inertia, body.frame.rotation, &body.locks);
    let turn = arm.cross(direction);
    let own = direction.dot(mass.inverse_mass * direction) + turn.dot(mass.inertia_times(turn));
    [own, free_mobility(body, arm)]
}

fn free_mobility(body: &Body, arm: DVec3) -> f64 {
    let free = |i: &crate::model::newton_euler::Inertia| 1.0 / i.mass + arm.length_squared() / i.principal.min_element();
    body.inertia.as_ref().map_or(0.0, free)
}

/// Whether locks keep both bodies from moving along the normal at these arms.
pub(super) fn normal_is_held(bodies: [&Body; 2], arms: [DVec3; 2], normal: DVec3) -> bool {
    if !any_locks(bodies.map(Some)) {
        return false;
    }
    let [one, two] = [0, 1].map(|k| mobility(bodies[k], arms[k], normal));
    one[0] + two[0] <= EMPTY * (one[1] + two[1])
}

/// The rows of a joint that determine the others, as a mask: pivoted Cholesky of its own `W`.
pub(super) fn independent_rows(
    masses: &[RigidMass],
    bodies: [Option<&Body>; 2],
    systems: [System; 2],
    rows: &[[f64; 6 * MAX_JOINT_ROWS]; 2],
    n: usize,
) -> [bool; MAX_JOINT_ROWS] {
    if !any_locks(bodies) {
        return [true; MAX_JOINT_ROWS];
    }
    let (mut w, mut free) = ([[0.0; MAX_JOINT_ROWS]; MAX_JOINT_ROWS], 0.0);
    for (part, system) in systems.into_iter().enumerate() {
        let System::Rigid(i) = system else { continue };
        let mass = &masses[i as usize];
        let row = |k: usize| (DVec3::from_slice(&rows[part][6 * k..]), DVec3::from_slice(&rows[part][6 * k + 3..]));
        for (k, w) in w[..n].iter_mut().enumerate() {
            for (j, w) in w[..n].iter_mut().enumerate() {
                let ((a, b), (c, d)) = (row(k), row(j));
                *w += a.dot(mass.inverse_mass * c) + b.dot(mass.inertia_times(d));
            }
        }
        let arm = (0..n).map(|k| row(k).1.length_squared()).fold(0.0, f64::max).sqrt();
        free += bodies[part].map_or(0.0, |body| free_mobility(body, DVec3::X * arm));
    }
    let mut kept = [false; MAX_JOINT_ROWS];
    for _ in 0..n {
        let Some(pivot) = (0..n).filter(|&k| !kept[k]).max_by(|&i, &j| w[i][i].total_cmp(&w[j][j])) else { break };
        let diagonal = w[pivot][pivot];
        if diagonal.is_nan() || diagonal <= DEPENDENT * free {
            break;
        }
        kept[pivot] = true;
        let column: [f64; MAX_JOINT_ROWS] = std::array::from_fn(|k| w[k][pivot]);
        for (k, w) in w[..n].iter_mut().enumerate().filter(|&(k, _)| !kept[k]) {
            for (w, c) in w.iter_mut().zip(column) {
                *w -= column[k] * c / diagonal;
            }
        }
    }
    kept
}

/// Adds the rows that were left out and do not hold to the places that are held.
pub(super) fn judge(step: &mut StepProblem) {
    let StepProblem { left_out, held, answer, .. } = step;
    for row in left_out.iter() {
        let mut u = row.b;
        for (part, system) in row.systems.into_iter().enumerate() {
            if let System::Rigid(i) = system {
                let v = &answer.velocities.rigid[i as usize];
                let h = &row.rows[part];
                u += DVec3::from_slice(h).dot(v.linear) + DVec3::from_slice(&h[3..]).dot(v.angular);
            }
        }
        if u.is_nan() || u.abs() > row.tolerance {
            let direction = -row.direction * u.signum();
            held.push(Held { bodies: row.bodies, direction, speed: u.abs() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::newton_euler::Inertia;

    fn body(locks: Locks) -> Body {
        Body { inertia: Some(Inertia { mass: 2.0, principal: DVec3::new(1.0, 2.0, 3.0) }), locks, row: 0, ..Body::default() }
    }

    #[test]
    fn a_normal_is_held_where_neither_way_nor_turn_is_free() {
        let wall = Body { row: IMMOBILE, ..Body::default() };
        let held = |locks, arm, normal| normal_is_held([&body(locks), &wall], [arm, DVec3::ZERO], normal);
        let plane = Locks { translation: [false, true, false], rotation: [true, false, true] };
        assert!(held(plane, -DVec3::Y, DVec3::Y) && !held(plane, -DVec3::Z, DVec3::Z));
        assert!(held(plane, -DVec3::Y, DVec3::new(1e-13, 1.0, 0.0)), "a slope of rounding");
        assert!(!held(plane, -DVec3::Y, DVec3::new(1e-6, 1.0, 0.0)), "a steep wedge");
        let slides = Locks { translation: [false, true, false], rotation: [false; 3] };
        assert!(!held(slides, DVec3::X, DVec3::Y), "it turns about z");
        assert!(held(slides, DVec3::Y, DVec3::Y));
        assert!(!held(Locks::default(), DVec3::Y, DVec3::Y));
        assert!(normal_is_held([&wall, &wall], [DVec3::ZERO; 2], DVec3::Y));
    }

    #[test]
    fn dependent_rows_of_a_joint_are_left_out_and_the_others_kept() {
        let kept = |locks: Locks, arm: DVec3| {
            let b = body(locks);
            let masses = [crate::integrator::moreau_jean::rigid_mass(&b.inertia.expect("given"), b.frame.rotation, &locks)];
            let mut rows = [[0.0; 6 * MAX_JOINT_ROWS]; 2];
            for i in 0..3 {
                rows[0][6 * i + i] = 1.0;
                let turn = arm.cross(DVec3::AXES[i]);
                rows[0][6 * i + 3..6 * i + 6].copy_from_slice(&turn.to_array());
            }
            let kept = independent_rows(&masses, [Some(&b), None], [System::Rigid(0), System::Fixed], &rows, 3);
            [kept[0], kept[1], kept[2]]
        };
        assert_eq!(kept(Locks::default(), DVec3::X), [true; 3]);
        let plane = Locks { translation: [false, true, false], rotation: [true, false, true] };
        assert_eq!(kept(plane, DVec3::X), [true, false, true]);
        // only a turn about y is left: of the rows x and z one says it all
        let hinge = Locks { translation: [true; 3], rotation: [true, false, true] };
        let mask = kept(hinge, DVec3::new(1.0, 0.0, 1.0));
        assert_eq!(mask.iter().filter(|k| **k).count(), 1);
        assert!(!mask[1]);
        assert_eq!(kept(Locks { translation: [true; 3], rotation: [true; 3] }, DVec3::X), [false; 3]);
    }
}
