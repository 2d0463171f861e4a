//! Contacts side by side, each in its own lane of the vector registers.
//!
//! Blocks touch in three or four points. What these have in common, the bodies, is there once for all lanes; pairs with one contact stand side by side with
//! those that follow. What a contact computes, and in which order, is what it computes alone.

use super::colours::Twists;
use super::mixed::{Contact, IMMOBILE, RigidMass, Twist};
use crate::algebra::lanes::{LANES, Plain, Simd, Wide, Wide3, WithSimd};
use glam::DVec3;

/// How many of the first contacts stand side by side, at most so many, and whether they are between the same two bodies; 0 if there are none.
#[inline(always)]
pub(super) fn next(contacts: &[Contact], most: usize) -> (usize, bool) {
    let same = |a: &Contact, b: &Contact| a.body1 == b.body1 && a.body2 == b.body2;
    let Some(head) = contacts.first() else { return (0, true) };
    let alike = 1 + contacts[1..].iter().take(most - 1).take_while(|c| same(c, head)).count();
    if alike > 1 {
        return (alike, true);
    }
    let others = contacts[1..].windows(2).take(most - 1).take_while(|two| !same(&two[0], &two[1])).count();
    // the last of all has no other after it
    let last = others + 2 == contacts.len() && others + 1 < most;
    (1 + others + usize::from(last), false)
}

/// Takes the next contacts that stand side by side off, with their reactions; whether they are between the same two bodies.
#[inline(always)]
pub(super) fn split_off<'a>(contacts: &mut &'a [Contact], reactions: &mut &'a [DVec3], most: usize) -> (&'a [Contact], &'a [DVec3], bool) {
    let (n, alike) = next(contacts, most);
    let n = n.min(reactions.len());
    let (own, r);
    (own, *contacts) = contacts.split_at(n);
    (r, *reactions) = reactions.split_at(n);
    (own, r, alike)
}

/// The bodies at both ends of the contacts in the lanes.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    bodies: [[u32; LANES]; 2],
    /// The same in all lanes.
    alike: bool,
}

/// Stands for bodies that nothing moves.
pub(super) const NOBODY: RigidMass = RigidMass { inverse_mass: DVec3::ZERO, inverse_inertia: [0.0; 6] };

impl Ends {
    #[inline(always)]
    pub(super) fn of<S: Simd>(contacts: &[&Contact; LANES], alike: bool) -> Self {
        let mut bodies = [[IMMOBILE; LANES]; 2];
        for l in 0..S::F64_LANES {
            (bodies[0][l], bodies[1][l]) = (contacts[l].body1, contacts[l].body2);
        }
        Self { bodies, alike }
    }

    /// The inverse mass at an end of lane l.
    #[inline(always)]
    fn mass<'a>(&self, end: usize, l: usize, masses: &'a [RigidMass]) -> &'a RigidMass {
        let body = self.bodies[end][l];
        if body == IMMOBILE { const { &NOBODY } } else { &masses[body as usize] }
    }

    #[inline(always)]
    fn masses<S: Simd>(&self, simd: S, end: usize, masses: &[RigidMass]) -> Masses<S> {
        let first = self.mass(end, 0, masses);
        if self.alike {
            return Masses::splat(simd, first);
        }
        let mut lanes = [first; LANES];
        for (l, mass) in lanes.iter_mut().enumerate().take(S::F64_LANES) {
            *mass = self.mass(end, l, masses);
        }
        Masses::gather(simd, &lanes)
    }

    /// Whether the bodies at an end turn as balls do, where that holds for all lanes or for none; what nothing moves turns as either.
    #[inline(always)]
    fn kind<S: Simd>(&self, end: usize, masses: &[RigidMass]) -> Option<bool> {
        let mut kind = None;
        for l in 0..S::F64_LANES {
            if self.bodies[end][l] != IMMOBILE && (l == 0 || !self.alike) {
                let own = self.mass(end, l, masses).turns_as_ball();
                if kind.is_some_and(|kind| kind != own) {
                    return None;
                }
                kind = Some(own);
            }
        }
        Some(kind.unwrap_or(true))
    }

    /// Twists at an end, linear and angular; zero where nothing moves.
    #[inline(always)]
    fn twists<S: Simd>(&self, simd: S, end: usize, v: &[Twist]) -> [Wide3<S>; 2] {
        let of = |l: usize| if self.bodies[end][l] == IMMOBILE { Twist::default() } else { v[self.bodies[end][l] as usize] };
        if self.alike {
            let twist = of(0);
            return [Wide3::splat(simd, twist.linear), Wide3::splat(simd, twist.angular)];
        }
        let mut twists = [Twist::default(); LANES];
        for (l, twist) in twists.iter_mut().enumerate().take(S::F64_LANES) {
            *twist = of(l);
        }
        gather(simd, &twists)
    }
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
    pub(super) fn to_world(self, r: Wide3<S>) -> Wide3<S> {
        let [n, t1, t2] = self.axes;
        n.times(r.0) + t1.times(r.1) + t2.times(r.2)
    }

    /// `H v`, as [`Contact::rate`].
    #[inline(always)]
    pub(super) fn rate(&self, ends: &Ends, v: &[Twist]) -> Wide3<S> {
        let [one, two] = [ends.twists(self.simd, 0, v), ends.twists(self.simd, 1, v)];
        self.to_local(self.zero() + (one[0] + one[1].cross(self.arms[0])) - (two[0] + two[1].cross(self.arms[1])))
    }

    /// [`Contact::to_local`]
    #[inline(always)]
    pub(super) fn to_local(self, w: Wide3<S>) -> Wide3<S> {
        let [n, t1, t2] = self.axes;
        Wide3(n.dot(w), t1.dot(w), t2.dot(w))
    }

    /// Columns of the sum over both bodies of `diag(1/m) + [a]ᵀ× I⁻¹ [a]×`: the velocity of each point, in world axes, per impulse at it. None where some
    /// lanes have balls and others have not.
    #[inline(always)]
    pub(super) fn mobility(&self, ends: &Ends, masses: &[RigidMass]) -> Option<[Wide3<S>; 3]> {
        let mut sum = [self.zero(); 3];
        for end in 0..2 {
            let own = self.mobility_of(&ends.masses(self.simd, end, masses), self.arms[end], ends.kind::<S>(end, masses)?);
            sum = [sum[0] + own[0], sum[1] + own[1], sum[2] + own[2]];
        }
        Some(sum)
    }

    #[inline(always)]
    fn mobility_of(&self, mass: &Masses<S>, arm: Wide3<S>, balls: bool) -> [Wide3<S>; 3] {
        let (Wide3(m1, m2, m3), zero) = (mass.inverse_mass, Wide::splat(self.simd, 0.0));
        let [sx, sy, sz] = mass.inertia;
        if balls {
            let k = arm.times(sx.0);
            let d = k.dot(arm);
            let square = [arm.times(k.0), arm.times(k.1), arm.times(k.2)];
            return [Wide3(m1 + d, zero, zero) - square[0], Wide3(zero, m2 + d, zero) - square[1], Wide3(zero, zero, m3 + d) - square[2]];
        }
        // products with the zeros of [a]× left out: the rows of [a]ᵀ× I⁻¹, and its product with [a]×
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

    /// Those of the same body in all lanes.
    #[inline(always)]
    fn splat(simd: S, mass: &RigidMass) -> Self {
        let (s, wide) = (
            &mass.inverse_inertia,
            #[inline(always)]
            |x, y, z| Wide3::splat(simd, DVec3::new(x, y, z)),
        );
        let inertia = [wide(s[0], s[3], s[4]), wide(s[3], s[1], s[5]), wide(s[4], s[5], s[2])];
        Self { inverse_mass: Wide3::splat(simd, mass.inverse_mass), inertia }
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
            let (n, alike) = next(contacts, S::F64_LANES);
            let own;
            (own, contacts) = contacts.split_at(n);
            match n {
                0 => return,
                1 => velocities(Plain, own, true, k, v, &mut take),
                _ => velocities(simd, own, alike, k, v, &mut take),
            }
            k += n;
        }
    }
}

#[inline(always)]
fn velocities<S: Simd>(simd: S, contacts: &[Contact], alike: bool, first: usize, v: &[Twist], take: &mut impl FnMut(usize, DVec3)) {
    let lanes = in_lanes::<S, _>(contacts);
    let u = Abreast::load(simd, &lanes).rate(&Ends::of::<S>(&lanes, alike), v) + each3(simd, &lanes, |c| c.b);
    for (l, u) in u.vectors().into_iter().enumerate().take(S::F64_LANES) {
        if l < contacts.len() {
            take(first + l, u);
        }
    }
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
            let (own, r, alike) = split_off(&mut contacts, &mut reactions, S::F64_LANES);
            match own.len() {
                0 => return,
                1 => kick(Plain, own, true, r, self.masses, self.v),
                _ => kick(simd, own, alike, r, self.masses, self.v),
            }
        }
    }
}

#[inline(always)]
fn kick<S: Simd, T: Twists>(simd: S, contacts: &[Contact], alike: bool, r: &[DVec3], masses: &[RigidMass], v: &T) {
    if r.iter().all(|r| *r == DVec3::ZERO) {
        return;
    }
    let lanes = in_lanes::<S, _>(contacts);
    let (c, ends) = (Abreast::load(simd, &lanes), Ends::of::<S>(&lanes, alike));
    let impulse = c.to_world(each3(simd, &in_lanes::<S, _>(r), |r| *r));
    let [one, two] = [ends.masses(simd, 0, masses).kick(c.arms[0], impulse), ends.masses(simd, 1, masses).kick(c.arms[1], -impulse)];
    let gains = [[one[0].vectors(), one[1].vectors()], [two[0].vectors(), two[1].vectors()]];
    for l in 0..S::F64_LANES {
        if r.get(l).is_none_or(|r| *r == DVec3::ZERO) {
            continue;
        }
        for (bodies, [linear, angular]) in ends.bodies.iter().zip(&gains) {
            if bodies[l] != IMMOBILE {
                let mut twist = v.load(bodies[l]);
                twist.linear += linear[l];
                twist.angular += angular[l];
                v.store(bodies[l], twist);
            }
        }
    }
}
