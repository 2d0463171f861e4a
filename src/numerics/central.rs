//! Contacts of balls: the arms lie along the normal and the inertia is a scalar, so the own operator is diagonal.
//!
//! ```text
//! W_aa = diag(w_n, w_t, w_t)          u = v₁ − v₂ + b + (c₁ ω₁ − c₂ ω₂) × n
//! r_n ← max(0, r_n − u_n/w_n)         r_t ← min(1, μ r_n/‖x_t‖) x_t,   x_t = r_t − u_t/w_t
//! ```
//!
//! The same solution as [`super::contact`], in a third of its time: no tangents, no secular equation, 128 bytes a contact.

use super::mixed::{Contact, IMMOBILE, MixedProblem, RigidMass, Twist};
use glam::DVec3;

/// One contact of balls; reactions are world vectors here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Central {
    pub(super) normal: DVec3,
    b: DVec3,
    wn_inv: f64,
    wt_inv: f64,
    pub(super) mu: f64,
    /// signed lengths of the arms
    arms: [f64; 2],
    /// inverse masses
    masses: [f64; 2],
    /// inverse inertia × arm
    spins: [f64; 2],
    pub(super) bodies: [u32; 2],
}

/// Relative misalignment of an arm that counts as rounding.
const ALIGNED: f64 = 1e-13;

impl Central {
    /// The contact in this form, if it has it.
    pub(super) fn from_contact(p: &MixedProblem, c: &Contact) -> Option<Self> {
        let mut central = Self { normal: c.normal, b: c.to_world(c.b), mu: c.mu, bodies: [c.body1, c.body2], ..Self::default() };
        let (mut wn, mut wt) = (0.0, 0.0);
        for (k, (body, arm)) in [(c.body1, c.arm1), (c.body2, c.arm2)].into_iter().enumerate() {
            if body == IMMOBILE {
                continue;
            }
            let RigidMass { inverse_mass: m, inverse_inertia: i } = p.rigid[body as usize];
            let length = arm.dot(c.normal);
            let scalar = m.x == m.y && m.y == m.z && i[0] == i[1] && i[1] == i[2] && i[3] == 0.0 && i[4] == 0.0 && i[5] == 0.0;
            if !scalar || (arm - length * c.normal).length_squared() > (ALIGNED * length).powi(2) {
                return None;
            }
            (central.arms[k], central.masses[k], central.spins[k]) = (length, m.x, i[0] * length);
            wn += m.x;
            wt += m.x + i[0] * length * length;
        }
        (central.wn_inv, central.wt_inv) = (1.0 / wn, 1.0 / wt);
        Some(central)
    }

    /// `u`, in the world.
    #[inline]
    pub(super) fn velocity(&self, v1: &Twist, v2: &Twist) -> DVec3 {
        v1.linear - v2.linear + self.b + (self.arms[0] * v1.angular - self.arms[1] * v2.angular).cross(self.normal)
    }

    /// The exact new reaction, given the old one and the velocity that goes with it.
    #[inline]
    pub(super) fn solve(&self, r: DVec3, u: DVec3) -> DVec3 {
        let (rn, un) = (self.normal.dot(r), self.normal.dot(u));
        let new_n = rn - un * self.wn_inv;
        if new_n <= 0.0 {
            return DVec3::ZERO;
        }
        let x = (r - rn * self.normal) - self.wt_inv * (u - un * self.normal);
        let (limit, size) = (self.mu * new_n, x.length_squared());
        let scale = if size <= limit * limit { 1.0 } else { limit / size.sqrt() };
        new_n * self.normal + scale * x
    }

    /// The new reaction under the convex law with a known shift, see [`super::contact::LocalOperator::solve_convex`].
    #[inline]
    pub(super) fn solve_convex(&self, r: DVec3, u: DVec3, shift: f64) -> DVec3 {
        let (rn, un) = (self.normal.dot(r), self.normal.dot(u));
        // what the velocity without the reaction would need: −q_n/w_n and −q_t/w_t
        let n = rn - (un + shift) * self.wn_inv;
        let t = (r - rn * self.normal) - self.wt_inv * (u - un * self.normal);
        let size = t.length();
        if size <= self.mu * n {
            return n * self.normal + t;
        }
        let (wn, wt) = (1.0 / self.wn_inv, 1.0 / self.wt_inv);
        let push = (self.mu * wt * size + wn * n) / (wn + self.mu * self.mu * wt);
        if push <= 0.0 { DVec3::ZERO } else { push * self.normal + (self.mu * push / size) * t }
    }

    /// Velocities after a change of the reaction.
    #[inline]
    pub(super) fn kick(&self, v1: &mut Twist, v2: &mut Twist, dr: DVec3) {
        let turn = self.normal.cross(dr);
        v1.linear += self.masses[0] * dr;
        v1.angular += self.spins[0] * turn;
        v2.linear -= self.masses[1] * dr;
        v2.angular -= self.spins[1] * turn;
    }

    /// Squared natural map in the norm of `d`, and `d |r|²`; with the De Saxcé shift of Coulomb's law or a known one.
    #[inline]
    pub(super) fn residual(&self, d: f64, r: DVec3, u: DVec3, shift: Option<f64>) -> (f64, f64) {
        let d_inv = 1.0 / d;
        let (rn, un) = (self.normal.dot(r), self.normal.dot(u));
        let (rt, ut) = (r - rn * self.normal, u - un * self.normal);
        let xn = rn - (un + shift.unwrap_or_else(|| self.mu * ut.length())) * d_inv;
        let xt = rt - d_inv * ut;
        let t = xt.length();
        let (n, scale) = super::admissible::cone_projection(self.mu, xn, t);
        (d * ((rn - n).powi(2) + (rt - scale * xt).length_squared()), d * r.length_squared())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_short_form_gives_the_answer_of_the_general_contact(
            v in prop::array::uniform6(-1.0..1.0f64), r in prop::array::uniform3(-1.0..1.0f64), mu in 0.0..1.5f64,
        ) {
            let mut p = MixedProblem::default();
            for (mass, v) in [(2.0, &v[..3]), (0.5, &v[3..])] {
                p.rigid.push(RigidMass { inverse_mass: DVec3::splat(mass), inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 3.0 * mass) });
                p.free.rigid.push(Twist { linear: DVec3::from_slice(v), angular: DVec3::new(v[1], v[2], v[0]) });
            }
            let normal = DVec3::new(0.6, 0.0, 0.8);
            let tangent = crate::algebra::spatial::tangents(normal).0;
            let b = DVec3::new(0.1, 0.2, -0.3);
            p.push_group([Contact { normal, tangent, arm1: -0.5 * normal, arm2: 0.7 * normal, b, mu, body1: 0, body2: 1, ..Contact::default() }]);
            p.close_colour();
            p.prepare().expect("legal");
            let c = &p.contacts[0];
            let central = Central::from_contact(&p, c).expect("balls");
            let local = DVec3::new(r[0].abs(), 0.3 * mu * r[1], 0.3 * mu * r[2]);
            let u = p.contact_velocity(c, &p.free.rigid);
            let world = central.velocity(&p.free.rigid[0], &p.free.rigid[1]);
            prop_assert!((c.to_world(u) - world).length() < 1e-14);
            let exact = c.local.solve(u - c.local.apply(local), mu);
            let short = central.solve(c.to_world(local), world);
            prop_assert!((c.to_world(exact) - short).length() < 1e-13);
            let exact = c.local.solve_convex(u - c.local.apply(local) + DVec3::X * 0.2, mu);
            prop_assert!((c.to_world(exact) - central.solve_convex(c.to_world(local), world, 0.2)).length() < 1e-11);
        }
    }
}
