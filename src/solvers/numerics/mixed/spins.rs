//! Contacts that resist rolling and twisting: three more rows each, about the relative angular velocity of their bodies.
//!
//! ```text
//! s = ℓ (ω₁ − ω₂) + b         moment = ℓ p         ‖(p₁, p₂)‖ ≤ μ_r r_n,  |p_n| ≤ μ_t r_n,  −s normal to the two discs at p
//! ```
//!
//! With the length ℓ all rows are velocities and all reactions impulses. The law is that of [`AdmissibleSet::Twisting`] on the six rows, of
//! [`AdmissibleSet::Rolling`] on five where twisting is free: [`MixedProblem::with_spin_blocks`] states it so for solvers that know blocks.
//!
//! A contact that drills resists sliding and spin about its normal with one friction, `‖(r_t, p_n)‖ ≤ μ r_n`, where the length of p_n is that of
//! its patch: Coulomb's cone in one dimension more, the first six rows of [`AdmissibleSet::Rolling`].

use super::{Answer, Contact, IMMOBILE, MixedProblem, Reactions, System, Twist, Velocities};
use crate::numerics::ProblemError;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::contact::SpinOperator;
use glam::{DMat3, DVec3};

/// What resists rolling and twisting at a contact.
///
/// ```
/// use drystone::numerics::mixed::{Contact, Spin};
/// let spin = Spin { roll: 0.02, ..Spin::default() };
/// assert_eq!(spin.bounds(&Contact { mu: 0.5, ..Contact::default() }), [0.5, 0.02, 0.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spin {
    /// Length ℓ (m) between moments and the impulses that stand for them.
    pub lever: f64,
    /// The same of the moment about the normal where friction resists drilling: that moment without sliding is this length times μ r_n; 0 where
    /// it does not.
    pub drill: f64,
    /// Largest rolling moment per normal impulse, over ℓ.
    pub roll: f64,
    /// Largest twisting moment per normal impulse, over ℓ.
    pub twist: f64,
    /// Constant part of s: what immobile bodies turn by, in the contact frame (m/s).
    pub b: DVec3,
    /// Own operator; set by [`MixedProblem::prepare`].
    pub local: SpinOperator,
}

impl Spin {
    /// μ, μ_r and μ_t of the contact.
    pub fn bounds(&self, contact: &Contact) -> [f64; 3] {
        [contact.mu, self.roll, self.twist]
    }

    /// Whether it resists anything.
    pub fn resists(&self) -> bool {
        self.roll > 0.0 || self.twist > 0.0 || self.drill > 0.0
    }

    /// The lengths (m) of the three moments `(p_n, p_t1, p_t2)`.
    #[inline]
    pub fn levers(&self) -> DVec3 {
        DVec3::new(if self.drill > 0.0 { self.drill } else { self.lever }, self.lever, self.lever)
    }

    /// `s = ℓ (ω₁ − ω₂) + b` in the contact frame (m/s).
    #[inline]
    pub fn velocity(&self, c: &Contact, v: &[Twist]) -> DVec3 {
        let turn = |body: u32| if body == IMMOBILE { DVec3::ZERO } else { v[body as usize].angular };
        self.levers() * c.to_local(turn(c.body1) - turn(c.body2)) + self.b
    }

    /// The scalar that weighs its rows in e_s: the mean of their diagonal.
    #[inline]
    pub(in crate::numerics) fn mean_diagonal(&self, c: &Contact) -> f64 {
        let (own, forces) = (&self.local.own, 3.0 * c.local.mean_diagonal());
        let rolling = forces + own.y_axis.y + own.z_axis.z;
        if self.spins() { (rolling + own.x_axis.x) / 6.0 } else { rolling / 5.0 }
    }

    /// Whether there is a row of the moment about the normal.
    #[inline]
    fn spins(&self) -> bool {
        self.twist > 0.0 || self.drill > 0.0
    }

    /// Number of rows of the contact with its moments: without resistance to twisting there is no row of it.
    #[inline]
    pub(in crate::numerics) fn rows(&self) -> usize {
        if self.spins() { 6 } else { 5 }
    }

    /// `(n, t1, t2)` and `(p_n, p_t1, p_t2)` as the rows of its set.
    #[inline]
    pub(in crate::numerics) fn six(&self, u: DVec3, s: DVec3) -> [f64; 6] {
        let [n, t1, t2] = s.to_array();
        let moments = if self.drill > 0.0 { [n, t1, t2] } else { [t1, t2, n] };
        [u.x, u.y, u.z, moments[0], moments[1], moments[2]]
    }

    /// The moments of [`six`](Self::six), or of the five rows without twisting.
    fn moments(&self, rows: &[f64]) -> DVec3 {
        let last = rows.get(5).copied().unwrap_or(0.0);
        if self.drill > 0.0 { DVec3::new(rows[3], rows[4], last) } else { DVec3::new(last, rows[3], rows[4]) }
    }

    /// The set of its rows.
    pub(in crate::numerics) fn set(&self, c: &Contact) -> AdmissibleSet {
        let [mu, mu_r, mu_t] = self.bounds(c);
        if mu_t > 0.0 && self.drill == 0.0 { AdmissibleSet::Twisting { mu, mu_r, mu_t } } else { AdmissibleSet::Rolling { mu, mu_r } }
    }
}

impl MixedProblem {
    /// The own operators of the contacts with moments.
    pub(super) fn prepare_spins(&mut self) -> Result<(), ProblemError> {
        for (k, (c, spin)) in self.contacts.iter().zip(&mut self.spins).enumerate() {
            let axes = DMat3::from_cols(c.normal, c.tangent, c.normal.cross(c.tangent));
            let (mut cross, mut own) = (DMat3::ZERO, DMat3::ZERO);
            for (body, arm) in [(c.body1, c.arm1), (c.body2, c.arm2)] {
                if body == IMMOBILE {
                    continue;
                }
                let inverse = super::RigidMass::unpack(self.rigid[body as usize].inverse_inertia);
                // u = ω × a, whose matrix is the transpose of that of a ×
                cross += crate::algebra::spatial::skew(arm).transpose() * inverse;
                own += inverse;
            }
            let (frame, levers) = (axes.transpose(), DMat3::from_diagonal(spin.levers()));
            let local = SpinOperator::new(&c.local, frame * cross * axes * levers, levers * frame * own * axes * levers);
            spin.local = local.ok_or_else(|| ProblemError::NotFinite { what: format!("the moment of contact {k}") })?;
        }
        Ok(())
    }

    /// `|D^{-½} q|²` and `|q|²` over the contacts that close, moments among their rows.
    pub(super) fn spin_scales(&self) -> [f64; 2] {
        let (mut scaled, mut plain) = (0.0, 0.0);
        for (c, spin) in self.contacts.iter().zip(&self.spins) {
            let q = self.contact_velocity(c, &self.free.rigid);
            if q.x < 0.0 {
                let turns = spin.velocity(c, &self.free.rigid);
                let square = q.length_squared() + (if spin.spins() { turns } else { turns.with_x(0.0) }).length_squared();
                scaled += square / spin.mean_diagonal(c);
                plain += square;
            }
        }
        [scaled, plain]
    }

    /// Adds what moments give to velocities.
    pub(in crate::numerics) fn kick_spins(&self, moments: &[DVec3], v: &mut Velocities) {
        for ((c, spin), &p) in self.contacts.iter().zip(&self.spins).zip(moments).filter(|(_, p)| **p != DVec3::ZERO) {
            let moment = c.to_world(spin.levers() * p);
            for (body, moment) in [(c.body1, moment), (c.body2, -moment)] {
                if body != IMMOBILE {
                    v.rigid[body as usize].angular += self.rigid[body as usize].inertia_times(moment);
                }
            }
        }
    }

    /// The same problem with a block of rows for each contact that resists rolling, and its answer; the contacts that do not stay.
    #[doc(hidden)]
    pub fn with_spin_blocks(&self, answer: &Answer) -> Option<(Self, Answer)> {
        let mut p = Self {
            rigid: self.rigid.clone(),
            general: self.general.clone(),
            general_inverse: self.general_inverse.clone(),
            free: self.free.clone(),
            resting: self.resting.clone(),
            stop: self.stop,
            ..Self::default()
        };
        for colour in self.colours.windows(2) {
            for group in self.groups[colour[0] as usize..=colour[1] as usize].windows(2) {
                let plain = (group[0] as usize..group[1] as usize).filter(|&k| !self.spins[k].resists());
                p.push_group(plain.clone().map(|k| self.contacts[k]));
                p.lagged.extend(plain.filter_map(|k| self.lagged.get(k)));
            }
            p.close_colour();
        }
        for block in &self.blocks {
            p.push_rows(block.set, self.block_rows(block), &self.block_b[block.first..][..block.rows]);
            if let Some(last) = p.blocks.last_mut() {
                last.scale = block.scale;
            }
        }
        for (c, spin) in self.contacts.iter().zip(&self.spins).filter(|(_, spin)| spin.resists()) {
            let (set, rows) = (spin.set(c), spin.rows());
            let levers = spin.levers();
            let mut axes = [levers.y * c.tangent, levers.z * c.normal.cross(c.tangent), levers.x * c.normal];
            if spin.drill > 0.0 {
                axes.rotate_right(1);
            }
            let [one, two] = c.rows();
            let jacobian = |(system, force): (System, [[f64; 6]; 3]), sign: f64| -> Vec<f64> {
                let moments = axes.map(|a| sign * a).map(|a| [0.0, 0.0, 0.0, a.x, a.y, a.z]);
                let all = force.into_iter().chain(moments).take(rows).flatten();
                all.take(if system == System::Fixed { 0 } else { 6 * rows }).collect()
            };
            let jacobians = [jacobian(one, 1.0), jacobian(two, -1.0)];
            p.push_block(set, [one.0, two.0], [&jacobians[0], &jacobians[1]], &spin.six(c.b, spin.b)[..rows]);
            if let Some(last) = p.blocks.last_mut() {
                last.scale = c.scale;
            }
        }
        p.prepare().ok()?;
        // contacts that open make no residual look small
        (p.q_scaled, p.q_norm, p.asked) = (self.q_scaled, self.q_norm, self.asked);
        let mut a = Answer::default();
        self.give_spin_blocks(&answer.reactions, &mut a.reactions);
        p.velocities(&a.reactions, &mut a.velocities);
        Some((p, a))
    }

    /// The reactions of [`with_spin_blocks`](Self::with_spin_blocks) for these.
    pub(in crate::numerics) fn give_spin_blocks(&self, own: &Reactions, blocks: &mut Reactions) {
        blocks.contacts.clear();
        blocks.blocks.clone_from(&own.blocks);
        for ((spin, &r), &moment) in self.spins.iter().zip(&own.contacts).zip(&own.spins) {
            if spin.resists() {
                blocks.blocks.extend_from_slice(&spin.six(r, moment)[..spin.rows()]);
            } else {
                blocks.contacts.push(r);
            }
        }
    }

    /// Takes the reactions of [`with_spin_blocks`](Self::with_spin_blocks) back.
    pub(in crate::numerics) fn take_spin_blocks(&self, blocks: &Reactions, answer: &mut Answer) {
        let out = &mut answer.reactions;
        let (plain, moments) = blocks.blocks.split_at(out.blocks.len());
        out.blocks.copy_from_slice(plain);
        let (mut contacts, mut moments) = (blocks.contacts.iter(), moments);
        for (k, spin) in self.spins.iter().enumerate() {
            if spin.resists() {
                let (own, rest) = moments.split_at(spin.rows());
                moments = rest;
                out.contacts[k] = DVec3::from_slice(own);
                out.spins[k] = spin.moments(own);
            } else if let Some(r) = contacts.next() {
                (out.contacts[k], out.spins[k]) = (*r, DVec3::ZERO);
            }
        }
        self.velocities(&answer.reactions, &mut answer.velocities);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::auto::Auto;
    use crate::numerics::mixed::RigidMass;
    use crate::numerics::residual::certify;

    /// Balls and blocks in a column, pushed and turned, the lowest on a floor that turns.
    fn column(n: u32, twist: f64, drill: f64) -> MixedProblem {
        let mut p = MixedProblem::default();
        for k in 0..n {
            let (mass, inertia) = (1.0 + 0.3 * f64::from(k), DMat3::from_diagonal(DVec3::new(0.02, 0.03, 0.025)));
            p.rigid.push(RigidMass { inverse_mass: DVec3::splat(1.0 / mass), inverse_inertia: RigidMass::pack(inertia.inverse()) });
            let turn = DVec3::new(1.0, -0.7, 2.0) * (0.4 * f64::from(k) - 0.5);
            p.free.rigid.push(Twist { linear: DVec3::new(0.02 * f64::from(k), 0.01, -0.1), angular: turn });
        }
        for k in 0..n {
            let (body2, arms) = if k == 0 { (IMMOBILE, 1) } else { (k - 1, 1 + (k % 2) * 2) };
            p.push_group((0..arms).map(|a| {
                let side = DVec3::new(0.05 * f64::from(a), 0.02 * f64::from(a * a), 0.0);
                let arms = [side - 0.1 * DVec3::Z, side + 0.1 * DVec3::Z];
                Contact {
                    normal: DVec3::Z,
                    tangent: DVec3::X,
                    arm1: arms[0],
                    arm2: arms[1],
                    mu: 0.4,
                    body1: k,
                    body2,
                    scale: 1.0,
                    ..Contact::default()
                }
            }));
            p.close_colour();
        }
        let floor = |c: &Contact| if c.body2 == IMMOBILE { DVec3::new(0.1, 0.0, 0.0) } else { DVec3::ZERO };
        // one contact in three resists nothing
        let spin = |(k, c): (usize, &Contact)| {
            if k % 3 == 2 {
                Spin { lever: 0.1, ..Spin::default() }
            } else {
                Spin { lever: 0.1, roll: 0.1, twist, drill, b: floor(c), ..Spin::default() }
            }
        };
        p.spins = p.contacts.iter().enumerate().map(spin).collect();
        p.prepare().expect("legal");
        p
    }

    #[test]
    fn rows_beside_contacts_and_blocks_are_the_same_law() {
        for (n, twist, drill) in
            [(1, 0.2, 0.0), (4, 0.0, 0.0), (7, 0.05, 0.0), (12, 0.2, 0.0), (1, 0.0, 0.05), (7, 0.0, 0.02), (12, 0.0, 0.1)]
        {
            let p = column(n, twist, drill);
            let mut answer = Answer::for_problem(&p);
            let report = Auto { tolerance: 1e-11, ..Auto::default() }.solve(&p, &mut answer);
            assert!(report.converged() && report.e_s <= 1e-11, "{n} {twist} {drill}: {report:?}");
            let moments: Vec<bool> = answer.reactions.spins.iter().map(|p| *p != DVec3::ZERO).collect();
            assert!(moments.iter().any(|m| *m) && p.spins.iter().zip(&moments).all(|(s, m)| s.resists() || !m));
            let (blocks, mut own) = p.with_spin_blocks(&answer).expect("legal");
            let (here, there) = (certify(&p, &mut answer), certify(&blocks, &mut own));
            assert!(there.e_s <= 1e-10 && own.velocities.rigid.len() == answer.velocities.rigid.len(), "{here:?} {there:?}");
            for (a, b) in own.velocities.rigid.iter().zip(&answer.velocities.rigid) {
                assert!((a.linear - b.linear).length() + (a.angular - b.angular).length() < 1e-12);
            }
            // a moment beyond its disc is seen by both
            let k = p.spins.iter().position(Spin::resists).expect("one does");
            answer.reactions.spins[k].y += 1.0;
            let (blocks, mut own) = p.with_spin_blocks(&answer).expect("legal");
            let wrong = [certify(&p, &mut answer).e_s, certify(&blocks, &mut own).e_s];
            assert!(wrong[0] > 1e-2 && (wrong[0] / wrong[1] - 1.0).abs() < 0.1, "{wrong:?}");
            let mut back = Answer::for_problem(&p);
            p.take_spin_blocks(&own.reactions, &mut back);
            answer.reactions.spins.iter_mut().zip(&p.spins).for_each(|(m, s)| {
                if !s.resists() {
                    *m = DVec3::ZERO
                }
            });
            assert_eq!(back.reactions, answer.reactions);
        }
    }
}
