//! Bodies that locked axes keep in a plane, stated as bodies that are free to leave it and have no reason to.
//!
//! ```text
//! M⁻¹ = P (1/m, k) P        P: along the plane, and about its normal a        a·n = 0,  a·b = 0  at all contacts
//! M⁻¹ = (1/m, k)            with a·arm = 0: the same solution, with r_a = 0
//! ```
//!
//! With locks the tangential row along a has `W = 0`, so that its reaction may be anything that friction allows, and so have two of the rows of moments. Without
//! them nothing that happens in the plane moves a body out of it, as Coulomb's cone is round, the mass the same in all directions, and no arm leads out of the plane: what
//! an arm has along a turns about axes that are locked. Reactions in the plane are those with locks, no W is singular by them, and discs, whose contacts
//! are visited one by one with locks, are balls.

use super::{Contact, IMMOBILE, MixedProblem, RigidMass, System, Twist};
use glam::DVec3;

/// What counts as in the plane, in parts of a length: rounding.
const IN_PLANE: f64 = 1e-12;

/// The axes normal to the planes of some bodies: buffers.
///
/// ```
/// use drystone::numerics::mixed::*;
/// use glam::DVec3;
/// let mut p = MixedProblem::default();
/// p.rigid.push(RigidMass { inverse_mass: DVec3::new(1.0, 0.0, 1.0), inverse_inertia: [0.0, 2.5, 0.0, 0.0, 0.0, 0.0] });
/// p.free.rigid.push(Twist { linear: -DVec3::Z, ..Twist::default() });
/// p.push_group([Contact { normal: DVec3::Z, tangent: DVec3::X, arm1: -DVec3::Z, mu: 0.5, body2: IMMOBILE, ..Contact::default() }]);
/// let (locked, mut planes) = (p.rigid.clone(), Planes::default());
/// planes.unlock(&mut p);
/// assert_eq!(p.rigid[0].inverse_mass, DVec3::ONE);
/// let mut v = p.free.rigid.clone();
/// planes.lock(&mut p, &mut v);
/// assert_eq!(p.rigid, locked);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// per body
    axes: Vec<u8>,
    /// contacts whose arms lead out of their plane, its axis, and how far (m)
    arms: Vec<(u32, u8, [f64; 2])>,
}

/// A body that moves out of any plane, or in a way of its own.
const NONE: u8 = 3;
/// Added to the axis of one that is met out of its plane, and keeps its locks.
const KEEPS: u8 = 4;

impl Planes {
    /// Frees the bodies of the problem that stay in their planes all the same, and takes off what their arms have along its normal.
    pub fn unlock(&mut self, p: &mut MixedProblem) {
        let Self { axes, arms } = self;
        axes.clear();
        arms.clear();
        axes.extend(p.rigid.iter().zip(&p.free.rigid).map(|(mass, free)| plane(mass, free).unwrap_or(NONE)));
        if axes.iter().all(|axis| *axis == NONE) {
            return;
        }
        for (k, c) in p.contacts.iter_mut().enumerate() {
            let given = p.spins.get(k).map_or(DVec3::ZERO, |spin| spin.b);
            let bodies = [c.body1, c.body2].into_iter().filter(|body| *body != IMMOBILE).map(|body| body as usize);
            let planes = bodies.clone().map(|body| axes[body] % KEEPS);
            let (least, most) = planes.fold((NONE, 0), |(least, most), axis| (axis.min(least), axis.max(most)));
            if least == NONE {
                continue;
            }
            let axis = usize::from(least);
            if least == most && lies_in(c, given, axis) {
                let out = [c.arm1[axis], c.arm2[axis]];
                if out != [0.0; 2] {
                    arms.push((k as u32, least, out));
                    (c.arm1[axis], c.arm2[axis]) = (0.0, 0.0);
                }
            } else {
                bodies.for_each(|body| axes[body] |= KEEPS);
            }
        }
        for block in &p.blocks {
            for (system, first) in block.systems.into_iter().zip(block.jacobian) {
                let System::Rigid(body) = system else { continue };
                let axis = &mut axes[body as usize];
                let mut rows = p.jacobians[first..].chunks_exact(6).take(block.rows);
                if *axis < NONE && !rows.all(|row| row_lies_in(row, (*axis).into())) {
                    *axis |= KEEPS;
                }
            }
        }
        p.planar = p.general.is_empty() && axes.iter().all(|axis| axis % KEEPS == axes[0] % KEEPS) && axes[0] % KEEPS < NONE;
        for (mass, axis) in p.rigid.iter_mut().zip(&*axes).filter(|(_, axis)| **axis < NONE) {
            let a = usize::from(*axis);
            let k = mass.inverse_inertia[a];
            *mass = RigidMass { inverse_mass: DVec3::splat(mass.inverse_mass[(a + 1) % 3]), inverse_inertia: [k, k, k, 0.0, 0.0, 0.0] };
        }
    }

    /// Locks them again, and takes the rounding off the velocities `v` by which they have left their planes.
    pub fn lock(&self, p: &mut MixedProblem, v: &mut [Twist]) {
        for &(k, axis, out) in &self.arms {
            let (c, a) = (&mut p.contacts[k as usize], usize::from(axis));
            [c.arm1[a], c.arm2[a]] = out;
        }
        for ((mass, v), axis) in p.rigid.iter_mut().zip(v).zip(&self.axes).filter(|(_, axis)| **axis < NONE) {
            let a = usize::from(*axis);
            let (turns, spin) = (mass.inverse_inertia[a], v.angular[a]);
            (mass.inverse_inertia, v.angular) = ([0.0; 6], DVec3::ZERO);
            (mass.inverse_inertia[a], v.angular[a]) = (turns, spin);
            (mass.inverse_mass[a], v.linear[a]) = (0.0, 0.0);
        }
    }
}

/// The axis along which the body cannot move, where it has no velocity out of the plane and its mass is the same in both directions.
fn plane(mass: &RigidMass, free: &Twist) -> Option<u8> {
    let m = mass.inverse_mass;
    (0..3u8).find(|&axis| {
        let a = usize::from(axis);
        let [b, c] = [(a + 1) % 3, (a + 2) % 3];
        let turns = (0..6).all(|k| k == a || mass.inverse_inertia[k] == 0.0);
        let stays = free.linear[a] == 0.0 && free.angular[b] == 0.0 && free.angular[c] == 0.0;
        m[a] == 0.0 && m[b] > 0.0 && m[b] == m[c] && turns && stays
    })
}

/// Whether the normal lies in the plane, and what moves in it: immobile bodies, and what is asked for.
fn lies_in(c: &Contact, turn: DVec3, a: usize) -> bool {
    let within = |x: f64, of: DVec3| x * x <= IN_PLANE * IN_PLANE * of.length_squared();
    let spin = c.to_world(turn);
    let tilted = spin - spin[a] * DVec3::AXES[a];
    c.normal[a].abs() <= IN_PLANE && within(c.to_world(c.b)[a], c.b) && within(tilted.length(), turn)
}

/// The same of a row of a block.
fn row_lies_in(row: &[f64], a: usize) -> bool {
    let all: f64 = row.iter().map(|x| x * x).sum();
    let out: f64 = (0..6).filter(|&k| if k < 3 { k == a } else { k != 3 + a }).map(|k| row[k] * row[k]).sum();
    out <= IN_PLANE * IN_PLANE * all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::admissible::AdmissibleSet;
    use crate::numerics::auto::Auto;
    use crate::numerics::mixed::{Answer, Spin};

    /// Two discs in the plane normal to an axis, side by side on a floor, pressed against each other and pushed along.
    fn pair(a: usize) -> MixedProblem {
        let [x, y, z] = [DVec3::AXES[(a + 1) % 3], DVec3::AXES[a], DVec3::AXES[(a + 2) % 3]];
        let mut p = MixedProblem::default();
        for push in [0.3, -0.9] {
            let mut inverse_inertia = [0.0; 6];
            inverse_inertia[a] = 2.5;
            p.rigid.push(RigidMass { inverse_mass: DVec3::ONE - y, inverse_inertia });
            p.free.rigid.push(Twist { linear: push * x - z, angular: 0.2 * y });
        }
        let contact = |normal: DVec3, body1, body2| {
            let tangent = crate::algebra::spatial::tangents(normal).0;
            Contact { normal, tangent, arm1: -normal, arm2: normal, mu: 0.4, body1, body2, ..Contact::default() }
        };
        for c in [contact(z, 0, IMMOBILE), contact(z, 1, IMMOBILE), contact(-x, 0, 1)] {
            p.push_group([c]);
            p.close_colour();
        }
        p
    }

    fn solved(p: &MixedProblem) -> Answer {
        let mut answer = Answer::for_problem(p);
        assert!(Auto { tolerance: 1e-12, ..Auto::default() }.solve(p, &mut answer).converged());
        answer
    }

    #[test]
    fn bodies_that_are_free_to_leave_their_plane_move_as_those_that_are_not() {
        for (a, moments) in [(0, false), (1, false), (2, false), (1, true)] {
            let mut p = pair(a);
            if moments {
                p.spins.resize(3, Spin { lever: 1.0, roll: 0.1, twist: 0.1, ..Spin::default() });
            }
            p.prepare().expect("legal");
            let locked = solved(&p);
            let mut planes = Planes::default();
            planes.unlock(&mut p);
            assert!(p.rigid.iter().all(|m| m.inverse_mass == DVec3::ONE && m.turns_as_ball()));
            p.prepare().expect("legal");
            let mut free = solved(&p);
            planes.lock(&mut p, &mut free.velocities.rigid);
            assert_eq!(p.rigid, pair(a).rigid);
            for (v, w) in free.velocities.rigid.iter().zip(&locked.velocities.rigid) {
                assert!((v.linear - w.linear).length() < 1e-10 && (v.angular - w.angular).length() < 1e-10, "{v:?} {w:?}");
                assert_eq!((v.linear[a], v.angular - v.angular[a] * DVec3::AXES[a]), (0.0, DVec3::ZERO));
            }
            let along = free.reactions.contacts.iter().zip(&p.contacts).map(|(r, c)| c.to_world(*r)[a].abs());
            assert!(along.fold(0.0, f64::max) < 1e-12);
        }
    }

    #[test]
    fn a_body_that_something_meets_out_of_its_plane_keeps_its_locks_alone() {
        let kept = |change: fn(&mut MixedProblem)| {
            let (mut p, before) = (pair(1), pair(1).rigid);
            change(&mut p);
            Planes::default().unlock(&mut p);
            [0, 1].map(|k| p.rigid[k] == before[k])
        };
        assert_eq!(kept(|_| ()), [false, false]);
        let mut p = pair(1);
        p.contacts[1].arm1 = DVec3::new(0.5, 0.2, -1.0);
        let mut planes = Planes::default();
        planes.unlock(&mut p);
        assert_eq!((p.planar, p.contacts[1].arm1), (true, DVec3::new(0.5, 0.0, -1.0)));
        planes.lock(&mut p, &mut [Twist::default(); 2]);
        assert_eq!(p.contacts[1].arm1, DVec3::new(0.5, 0.2, -1.0), "places of contacts stay what they are");
        assert_eq!(kept(|p| p.contacts[0].normal = DVec3::new(1e-6, 1e-6, 1.0).normalize()), [true, false], "an oblique floor");
        assert_eq!(
            kept(|p| p.contacts[0].b = p.contacts[0].to_local(DVec3::new(0.0, 0.1, 0.0))),
            [true, false],
            "a belt that runs out of the plane"
        );
        assert_eq!(kept(|p| p.contacts[1].arm1 = DVec3::new(0.5, 0.2, -1.0)), [false, false], "the edge of a block");
        assert_eq!(kept(|p| p.free.rigid[1].linear.y = 0.1), [true, true], "one moves out of the plane");
        assert!(kept(|p| p.rigid[1].inverse_mass = DVec3::ONE)[0], "the other is free");
        let along =
            |p: &mut MixedProblem, row: [f64; 6]| p.push_block(AdmissibleSet::Free, [System::Rigid(0), System::Fixed], [&row, &[]], &[0.0]);
        let mut p = pair(1);
        along(&mut p, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        Planes::default().unlock(&mut p);
        assert!(p.rigid.iter().all(|m| m.inverse_mass == DVec3::ONE), "a joint in the plane");
        let mut p = pair(1);
        along(&mut p, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        Planes::default().unlock(&mut p);
        assert_eq!(p.rigid.iter().map(|m| m.inverse_mass.y).collect::<Vec<_>>(), [0.0, 1.0], "one that turns out of it");
        let mut p = pair(1);
        p.spins.resize(3, Spin { lever: 1.0, roll: 0.1, ..Spin::default() });
        p.spins[1].b = p.contacts[1].to_local(DVec3::X);
        Planes::default().unlock(&mut p);
        assert_eq!(p.rigid.iter().map(|m| m.inverse_mass.y).collect::<Vec<_>>(), [1.0, 0.0], "a floor that tilts");
    }
}
