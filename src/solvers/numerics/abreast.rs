//! Contacts of one pair of bodies side by side, each in its own lane of the vector registers.
//!
//! Blocks touch in three or four points. What these have in common, the bodies, is there once for all lanes; what a contact computes, and in
//! which order, is what it computes alone: one that is the only one of its pair takes the same way in plain numbers.

use super::colours::Twists;
use super::mixed::{Contact, IMMOBILE, RigidMass, Twist};
use crate::algebra::lanes::{LANES, Plain, Simd, Wide, Wide3, WithSimd};
use glam::DVec3;

/// How many of the first contacts are between the same two bodies, at most so many; 0 if there are none.
#[inline(always)]
pub(super) fn alike(contacts: &[Contact], most: usize) -> usize {
    let Some(head) = contacts.first() else { return 0 };
    let same = |c: &&Contact| c.body1 == head.body1 && c.body2 == head.body2;
    contacts.iter().take(most).take_while(same).count()
}

/// Frames and arms of a contact in each lane.
#[derive(Clone, Copy)]
pub(super) struct Abreast<S: Simd> {
    simd: S,
    /// Normals and both tangents.
    pub(super) axes: [Wide3<S>; 3],
    /// From the centres of body 1 and body 2.
    pub(super) arms: [Wide3<S>; 2],
}

/// One thing for each lane; those that are left over have the last.
#[inline(always)]
pub(super) fn in_lanes<S: Simd, T>(all: &[T]) -> [&T; LANES] {
    let mut lanes = [&all[0]; LANES];
    for l in 1..S::F64_LANES {
        lanes[l] = all.get(l).unwrap_or(lanes[l - 1]);
    }
    lanes
}

/// What `of` says of the thing in each lane.
#[inline(always)]
pub(super) fn each<S: Simd, T>(simd: S, lanes: &[&T; LANES], of: impl Fn(&T) -> f64) -> Wide<S> {
    Wide::gather(
        simd,
        #[inline(always)]
        |l| of(lanes[l]),
    )
}

/// The vectors that `of` says of the thing in each lane.
#[inline(always)]
pub(super) fn each3<S: Simd, T>(simd: S, lanes: &[&T; LANES], of: impl Fn(&T) -> DVec3) -> Wide3<S> {
    Wide3::gather(
        simd,
        #[inline(always)]
        |l| of(lanes[l]),
    )
}

impl<S: Simd> Abreast<S> {
    #[inline(always)]
    pub(super) fn load(simd: S, contacts: &[&Contact; LANES]) -> Self {
        let (normal, tangent) = (each3(simd, contacts, |c| c.normal), each3(simd, contacts, |c| c.tangent));
        let arms = [each3(simd, contacts, |c| c.arm1), each3(simd, contacts, |c| c.arm2)];
        Self { simd, axes: [normal, tangent, normal.cross(tangent)], arms }
    }

    #[inline(always)]
    fn zero(&self) -> Wide3<S> {
        Wide3::splat(self.simd, DVec3::ZERO)
    }

    /// [`Contact::to_world`]
    #[inline(always)]
    pub(super) fn to_world(&self, r: Wide3<S>) -> Wide3<S> {
        let [n, t1, t2] = self.axes;
        n.times(r.0) + t1.times(r.1) + t2.times(r.2)
    }

    /// `H v`, as [`Contact::rate`], given the twists of the bodies that move.
    #[inline(always)]
    pub(super) fn rate(&self, twists: [Option<Twist>; 2]) -> Wide3<S> {
        let mut w = self.zero();
        if let Some(twist) = twists[0] {
            w = w + self.at(twist, self.arms[0]);
        }
        if let Some(twist) = twists[1] {
            w = w - self.at(twist, self.arms[1]);
        }
        self.to_local(w)
    }

    /// [`Contact::to_local`]
    #[inline(always)]
    pub(super) fn to_local(&self, w: Wide3<S>) -> Wide3<S> {
        let [n, t1, t2] = self.axes;
        Wide3(n.dot(w), t1.dot(w), t2.dot(w))
    }

    /// [`Twist::at`]
    #[inline(always)]
    fn at(&self, twist: Twist, arm: Wide3<S>) -> Wide3<S> {
        Wide3::splat(self.simd, twist.linear) + Wide3::splat(self.simd, twist.angular).cross(arm)
    }

    /// Columns of the sum over both bodies of `diag(1/m) + [a]ᵀ× I⁻¹ [a]×`: the velocity of each point, in world axes, per impulse at it.
    #[inline(always)]
    pub(super) fn mobility(&self, masses: [Option<&RigidMass>; 2]) -> [Wide3<S>; 3] {
        let mut sum = [self.zero(); 3];
        for k in 0..2 {
            if let Some(mass) = masses[k] {
                let own = self.mobility_of(mass, self.arms[k]);
                sum = [sum[0] + own[0], sum[1] + own[1], sum[2] + own[2]];
            }
        }
        sum
    }

    #[inline(always)]
    fn mobility_of(&self, mass: &RigidMass, arm: Wide3<S>) -> [Wide3<S>; 3] {
        let (s, zero) = (mass.inverse_inertia, Wide::splat(self.simd, 0.0));
        let Wide3(m1, m2, m3) = Wide3::splat(self.simd, mass.inverse_mass);
        if s[0] == s[1] && s[1] == s[2] && s[3] == 0.0 && s[4] == 0.0 && s[5] == 0.0 {
            let k = arm.times(Wide::splat(self.simd, s[0]));
            let d = k.dot(arm);
            let square = [arm.times(k.0), arm.times(k.1), arm.times(k.2)];
            return [Wide3(m1 + d, zero, zero) - square[0], Wide3(zero, m2 + d, zero) - square[1], Wide3(zero, zero, m3 + d) - square[2]];
        }
        // products with the zeros of [a]× left out: the rows of [a]ᵀ× I⁻¹, and its product with [a]×
        let [sx, sy, sz] = Masses::gather(self.simd, &[mass; LANES]).inertia;
        let Wide3(x, y, z) = arm;
        let [a, b, c] = [sy.times(z) - sz.times(y), sz.times(x) - sx.times(z), sx.times(y) - sy.times(x)];
        let first = Wide3(z * a.1 - y * a.2, z * b.1 - y * b.2, z * c.1 - y * c.2);
        let second = Wide3(x * a.2 - z * a.0, x * b.2 - z * b.0, x * c.2 - z * c.0);
        let third = Wide3(y * a.0 - x * a.1, y * b.0 - x * b.1, y * c.0 - x * c.1);
        [Wide3(m1, zero, zero) + first, Wide3(zero, m2, zero) + second, Wide3(zero, zero, m3) + third]
    }
}

/// Inverse masses of a body in each lane.
#[derive(Clone, Copy)]
pub(super) struct Masses<S: Simd> {
    inverse_mass: Wide3<S>,
    /// Rows of `I⁻¹`.
    inertia: [Wide3<S>; 3],
}

impl<S: Simd> Masses<S> {
    #[inline(always)]
    pub(super) fn gather(simd: S, lanes: &[&RigidMass; LANES]) -> Self {
        let s = [
            each(simd, lanes, |m| m.inverse_inertia[0]),
            each(simd, lanes, |m| m.inverse_inertia[1]),
            each(simd, lanes, |m| m.inverse_inertia[2]),
            each(simd, lanes, |m| m.inverse_inertia[3]),
            each(simd, lanes, |m| m.inverse_inertia[4]),
            each(simd, lanes, |m| m.inverse_inertia[5]),
        ];
        let inertia = [Wide3(s[0], s[3], s[4]), Wide3(s[3], s[1], s[5]), Wide3(s[4], s[5], s[2])];
        Self { inverse_mass: each3(simd, lanes, |m| m.inverse_mass), inertia }
    }

    /// What an impulse at this arm gives, linear and angular.
    #[inline(always)]
    fn kick(&self, arm: Wide3<S>, impulse: Wide3<S>) -> [Wide3<S>; 2] {
        let ([sx, sy, sz], turn) = (self.inertia, arm.cross(impulse));
        [self.inverse_mass * impulse, Wide3(sx.dot(turn), sy.dot(turn), sz.dot(turn))]
    }

    /// The twist after an impulse at this arm.
    #[inline(always)]
    pub(super) fn kicked(&self, twist: [Wide3<S>; 2], arm: Wide3<S>, impulse: Wide3<S>) -> [Wide3<S>; 2] {
        let [linear, angular] = self.kick(arm, impulse);
        [twist[0] + linear, twist[1] + angular]
    }
}

/// Linear and angular parts of a twist in each lane.
#[inline(always)]
pub(super) fn gather<S: Simd>(simd: S, twists: &[Twist; LANES]) -> [Wide3<S>; 2] {
    let lanes = twists.each_ref();
    [each3(simd, &lanes, |t| t.linear), each3(simd, &lanes, |t| t.angular)]
}

/// Velocities `u = H v + b` of contacts, the first of which is number `first`; `take` is given each in order.
pub(super) struct Rates<'a, F> {
    pub(super) contacts: &'a [Contact],
    pub(super) first: usize,
    pub(super) v: &'a [Twist],
    pub(super) take: F,
}

impl<F: FnMut(usize, DVec3)> WithSimd for Rates<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { mut contacts, first: mut k, v, mut take } = self;
        loop {
            let n = alike(contacts, S::F64_LANES);
            let own;
            (own, contacts) = contacts.split_at(n);
            match n {
                0 => return,
                1 => velocities(Plain, own, k, v, &mut take),
                _ => velocities(simd, own, k, v, &mut take),
            }
            k += n;
        }
    }
}

#[inline(always)]
fn velocities<S: Simd>(simd: S, contacts: &[Contact], first: usize, v: &[Twist], take: &mut impl FnMut(usize, DVec3)) {
    let lanes = in_lanes::<S, _>(contacts);
    let u = (Abreast::load(simd, &lanes).rate(twists_of(contacts, v)) + each3(simd, &lanes, |c| c.b)).rows();
    for l in 0..contacts.len().min(LANES) {
        take(first + l, DVec3::new(u[0][l], u[1][l], u[2][l]));
    }
}

/// The twists of the bodies that move, of contacts between the same two.
#[inline(always)]
pub(super) fn twists_of(contacts: &[Contact], v: &[Twist]) -> [Option<Twist>; 2] {
    let of = |body: u32| if body == IMMOBILE { None } else { Some(v[body as usize]) };
    [of(contacts[0].body1), of(contacts[0].body2)]
}

/// Velocities that reactions give to their bodies, contact by contact.
pub(super) struct Kick<'a, T> {
    pub(super) contacts: &'a [Contact],
    pub(super) reactions: &'a [DVec3],
    pub(super) masses: &'a [RigidMass],
    pub(super) v: &'a T,
}

impl<T: Twists> WithSimd for Kick<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (mut contacts, mut reactions) = (self.contacts, self.reactions);
        loop {
            let n = alike(contacts, S::F64_LANES.min(reactions.len()));
            let (own, r);
            (own, contacts) = contacts.split_at(n);
            (r, reactions) = reactions.split_at(n);
            match n {
                0 => return,
                1 => kick(Plain, own, r, self.masses, self.v),
                _ => kick(simd, own, r, self.masses, self.v),
            }
        }
    }
}

#[inline(always)]
fn kick<S: Simd, T: Twists>(simd: S, contacts: &[Contact], r: &[DVec3], masses: &[RigidMass], v: &T) {
    if r.iter().all(|r| *r == DVec3::ZERO) {
        return;
    }
    let c = Abreast::load(simd, &in_lanes::<S, _>(contacts));
    let impulse = c.to_world(each3(simd, &in_lanes::<S, _>(r), |r| *r));
    kick_end(simd, contacts[0].body1, c.arms[0], impulse, r, masses, v);
    kick_end(simd, contacts[0].body2, c.arms[1], -impulse, r, masses, v);
}

/// What impulses at these arms give to one body; none where there is no reaction.
#[inline(always)]
fn kick_end<S: Simd, T: Twists>(simd: S, body: u32, arm: Wide3<S>, impulse: Wide3<S>, r: &[DVec3], masses: &[RigidMass], v: &T) {
    if body == IMMOBILE {
        return;
    }
    let [linear, angular] = Masses::gather(simd, &[&masses[body as usize]; LANES]).kick(arm, impulse);
    let (linear, angular) = (linear.rows(), angular.rows());
    let mut twist = v.load(body);
    for l in 0..r.len().min(LANES) {
        if r[l] != DVec3::ZERO {
            twist.linear += DVec3::new(linear[0][l], linear[1][l], linear[2][l]);
            twist.angular += DVec3::new(angular[0][l], angular[1][l], angular[2][l]);
        }
    }
    v.store(body, twist);
}
