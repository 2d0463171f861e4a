//! How far contacts of balls are from their law, in lanes: the natural map of [`super::super::residual`].

use super::moments::Moments;
use super::visit::{Ends, load_ends, nearest};
use super::{Block, State};
use crate::algebra::lanes::{LANES, Mask, Row, Simd, Wide, Wide3, WithSimd};
use crate::numerics::mixed::Twist;

/// What [`Balls::residual`] finds.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::numerics) struct Squares {
    /// `Σ d |F|²`
    pub(in crate::numerics) error: f64,
    /// `Σ d |r|²`
    pub(in crate::numerics) size: f64,
    /// largest `d² |F|²/s²`
    pub(in crate::numerics) misfit: f64,
    /// largest `d² |r|²/s²`; infinite where a contact has no scale
    pub(in crate::numerics) carried: f64,
}

impl Squares {
    pub(super) fn add(self, o: Self) -> Self {
        Self {
            error: self.error + o.error,
            size: self.size + o.size,
            misfit: self.misfit.max(o.misfit),
            carried: self.carried.max(o.carried),
        }
    }
}

/// Judges some blocks.
pub(super) struct Judge<'a> {
    pub(super) blocks: &'a [Block],
    pub(super) states: &'a [State],
    /// both empty where there are no moments
    pub(super) moments: &'a [Moments],
    pub(super) turns: &'a [State],
    pub(super) shifts: &'a [Row],
    pub(super) v: &'a [Twist],
}

impl WithSimd for Judge<'_> {
    type Output = Squares;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Squares {
        let mut found = Squares::default();
        for (at, (c, state)) in self.blocks.iter().zip(self.states).enumerate() {
            let (mut errors, mut sizes) = ([0.0; LANES], [0.0; LANES]);
            for k in 0..Wide::<S>::PARTS {
                let ends = load_ends(simd, c, k, |body| self.v[body as usize]);
                let [error, size] = match (self.moments.get(at), self.turns.get(at)) {
                    (Some(moments), Some(turns)) => with_moments(simd, k, (c, state), (moments, turns), ends),
                    _ => plain(simd, k, (c, state), self.shifts.get(at), ends),
                };
                let d = Wide::load(simd, &c.weight, k);
                (d * error).store(&mut errors, k);
                (d * size).store(&mut sizes, k);
            }
            for l in 0..LANES {
                let (e, s, d, limit) = (errors[l], sizes[l], c.weight[l], c.limit[l]);
                found.error += e;
                found.size += s;
                found.misfit = found.misfit.max(d * e * limit);
                found.carried = found.carried.max(if limit > 0.0 { d * s * limit } else { f64::INFINITY });
            }
        }
        found
    }
}

/// Squares of the natural map and of the reaction.
#[inline(always)]
fn plain<S: Simd>(simd: S, k: usize, (c, state): (&Block, &State), shift: Option<&Row>, ends: Ends<S>) -> [Wide<S>; 2] {
    let one = Wide::splat(simd, 1.0);
    let n = Wide3::load(simd, &c.normal, k);
    let u = ends.velocity(simd, c, k, n);
    let (r, d, mu) = (Wide3::load(simd, &state.r, k), Wide::load(simd, &c.weight, k), Wide::load(simd, &c.mu, k));
    let d_inv = one.over(d);
    let (rn, un) = (n.dot(r), n.dot(u));
    let (rt, ut) = (r - n.times(rn), u - n.times(un));
    let shift = shift.map_or_else(|| mu * ut.dot(ut).sqrt(), |shift| Wide::load(simd, shift, k));
    let (xn, xt) = (rn - (un + shift) * d_inv, rt - ut.times(d_inv));
    // the projection of `admissible::cone_projection`
    let [height, scale] = nearest(simd, mu, [xn, xt.dot(xt).sqrt()], [one, one]);
    let (en, et) = (rn - height, rt - xt.times(scale));
    [en * en + et.dot(et), r.dot(r)]
}

/// Lengths in the discs of friction, rolling and twisting: of (t, twist) or t, of m, and of the twist or 0.
#[inline(always)]
fn lengths<S: Simd>(drills: Mask<S>, zero: Wide<S>, [t, m]: [Wide3<S>; 2], twist: Wide<S>) -> [Wide<S>; 3] {
    let (own, square) = (t.dot(t), twist * twist);
    [drills.pick(own + square, own).sqrt(), m.dot(m).sqrt(), drills.pick(zero, square).sqrt()]
}

/// The same with moments, for the set of [`crate::numerics::mixed::Spin`].
#[inline(always)]
fn with_moments<S: Simd>(
    simd: S,
    k: usize,
    (c, state): (&Block, &State),
    (moments, turns): (&Moments, &State),
    ends: Ends<S>,
) -> [Wide<S>; 2] {
    let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
    let n = Wide3::load(simd, &c.normal, k);
    let (u, turning) = (ends.velocity(simd, c, k, n), ends.turning());
    let (lever_n, lever) = (Wide::load(simd, &moments.levers[0], k), Wide::load(simd, &moments.levers[1], k));
    let s = turning.times(lever) + n.times(n.dot(turning) * (lever_n - lever)) + Wide3::load(simd, &moments.b, k);
    let (r, p) = (Wide3::load(simd, &state.r, k), Wide3::load(simd, &turns.r, k));
    let d_inv = one.over(Wide::load(simd, &c.weight, k));
    let (rn, pn, un, sn) = (n.dot(r), n.dot(p), n.dot(u), n.dot(s));
    let (rt, pt, ut, st) = (r - n.times(rn), p - n.times(pn), u - n.times(un), s - n.times(sn));
    let drills = Wide::load(simd, &moments.drills, k).equals(one);
    let radii = [Wide::load(simd, &c.mu, k), Wide::load(simd, &moments.roll, k), Wide::load(simd, &moments.twist, k)];
    let [a, b, c] = radii;
    let [slide, roll, twist] = lengths(drills, zero, [ut, st], sn);
    let shift = un + a * slide + b * roll + c * twist;
    let (xn, xt, xm, x) = (rn - shift * d_inv, rt - ut.times(d_inv), pt - st.times(d_inv), pn - sn * d_inv);
    let sizes = lengths(drills, zero, [xt, xm], x);
    // as `admissible::discs_projection`: from all discs on to those that bind
    let mut height = (xn + a * sizes[0] + b * sizes[1] + c * sizes[2]).over(one + a * a + b * b + c * c);
    let apex = height.at_most(zero);
    for _ in 0..3 {
        let (mut sum, mut part) = (xn, one);
        for i in 0..3 {
            let binds = (radii[i] * height).below(sizes[i]);
            sum = sum + binds.pick(radii[i] * sizes[i], zero);
            part = part + binds.pick(radii[i] * radii[i], zero);
        }
        height = sum.over(part);
    }
    let mut scales = [one; 3];
    for i in 0..3 {
        let limit = radii[i] * height;
        scales[i] = apex.pick(zero, limit.below(sizes[i]).pick(limit.over(sizes[i]), one));
    }
    let [slide, roll, twist] = scales;
    let (en, et, em) = (rn - apex.pick(zero, height), rt - xt.times(slide), pt - xm.times(roll));
    let e = pn - x * drills.pick(slide, twist);
    [en * en + et.dot(et) + em.dot(em) + e * e, r.dot(r) + p.dot(p)]
}
