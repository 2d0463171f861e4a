//! Visits of contacts of balls in lanes.

use super::{Block, State};
use crate::algebra::lanes::{LANES, Mask, Row, Simd, Wide, Wide3, WithSimd};
use crate::numerics::colours::Twists;
use crate::numerics::mixed::Twist;
use crate::numerics::passes::Momentum;
use crate::numerics::visits::Norms;
use glam::DVec3;

/// Linear and angular part of the twists of the bodies at one end, as many as a register holds, from lane `from` on.
#[inline(always)]
pub(super) fn gather<S: Simd>(simd: S, bodies: &[u32; LANES], from: usize, load: impl Fn(u32) -> Twist) -> [Wide3<S>; 2] {
    match S::F64_LANES {
        8 => gathered::<S, 8>(simd, &bodies[from..], load),
        4 => gathered::<S, 4>(simd, &bodies[from..], load),
        2 => gathered::<S, 2>(simd, &bodies[from..], load),
        _ => gathered::<S, 1>(simd, &bodies[from..], load),
    }
}

#[inline(always)]
fn gathered<S: Simd, const N: usize>(simd: S, bodies: &[u32], load: impl Fn(u32) -> Twist) -> [Wide3<S>; 2] {
    let mut rows = [[0.0; N]; 6];
    for l in 0..N {
        let Twist { linear, angular } = load(bodies[l]);
        (rows[0][l], rows[1][l], rows[2][l]) = (linear.x, linear.y, linear.z);
        (rows[3][l], rows[4][l], rows[5][l]) = (angular.x, angular.y, angular.z);
    }
    let at = |i: usize| Wide::of(simd, &rows[i]);
    [Wide3(at(0), at(1), at(2)), Wide3(at(3), at(4), at(5))]
}

#[inline(always)]
fn scatter<S: Simd, T: Twists>(bodies: &[u32; LANES], from: usize, t: [Wide3<S>; 2], v: &T) {
    match S::F64_LANES {
        8 => scattered::<S, T, 8>(&bodies[from..], t, v),
        4 => scattered::<S, T, 4>(&bodies[from..], t, v),
        2 => scattered::<S, T, 2>(&bodies[from..], t, v),
        _ => scattered::<S, T, 1>(&bodies[from..], t, v),
    }
}

#[inline(always)]
fn scattered<S: Simd, T: Twists, const N: usize>(bodies: &[u32], [linear, angular]: [Wide3<S>; 2], v: &T) {
    let mut t = [[0.0; N]; 6];
    for (row, x) in t.iter_mut().zip([linear.0, linear.1, linear.2, angular.0, angular.1, angular.2]) {
        x.put(row);
    }
    for l in 0..N {
        let twist = Twist { linear: DVec3::new(t[0][l], t[1][l], t[2][l]), angular: DVec3::new(t[3][l], t[4][l], t[5][l]) };
        v.store(bodies[l], twist);
    }
}

/// Twists of the bodies at both ends, linear and angular.
#[derive(Clone, Copy)]
pub(super) struct Ends<S: Simd>(pub(super) [[Wide3<S>; 2]; 2]);

impl<S: Simd> Ends<S> {
    /// `u`, in the world; n is the normal.
    #[inline(always)]
    pub(super) fn velocity(self, simd: S, c: &Block, k: usize, n: Wide3<S>) -> Wide3<S> {
        let [v1, v2] = self.0;
        let arms = [Wide::load(simd, &c.arms[0], k), Wide::load(simd, &c.arms[1], k)];
        v1[0] - v2[0] + Wide3::load(simd, &c.b, k) + (v1[1].times(arms[0]) - v2[1].times(arms[1])).cross(n)
    }

    /// `ω₁ − ω₂`
    #[inline(always)]
    pub(super) fn turning(self) -> Wide3<S> {
        self.0[0][1] - self.0[1][1]
    }
}

/// Twists at the ends of part k of a block.
#[inline(always)]
pub(super) fn load_ends<S: Simd>(simd: S, c: &Block, k: usize, load: impl Fn(u32) -> Twist + Copy) -> Ends<S> {
    let from = k * S::F64_LANES;
    Ends([gather(simd, &c.bodies[0], from, load), gather(simd, &c.bodies[1], from, load)])
}

/// Writes the new ones, the old ones where nothing has changed.
#[inline(always)]
pub(super) fn store_ends<S: Simd, T: Twists>(c: &Block, k: usize, still: Mask<S>, [old, new]: [Ends<S>; 2], v: &T) {
    let (Ends([old1, old2]), Ends([new1, new2]), from) = (old, new, k * S::F64_LANES);
    scatter(&c.bodies[0], from, [still.pick3(old1[0], new1[0]), still.pick3(old1[1], new1[1])], v);
    scatter(&c.bodies[1], from, [still.pick3(old2[0], new2[0]), still.pick3(old2[1], new2[1])], v);
}

/// The reactions of part k, after their conjugate step.
#[inline(always)]
pub(super) fn stepped<S: Simd>(simd: S, state: &mut State, k: usize, momentum: Option<(Wide<S>, bool)>) -> Wide3<S> {
    let r = Wide3::load(simd, &state.r, k);
    let Some((beta, whole)) = momentum else { return r };
    let (p, d) = (Wide3::load(simd, &state.direction, k), Wide3::load(simd, &state.change, k));
    let step = if whole { p + d } else { p }.times(beta);
    if whole { step } else { step + d }.store(&mut state.direction, k);
    r + step
}

/// Where a vector is zero.
#[inline(always)]
pub(super) fn vanishes<S: Simd>(x: Wide3<S>, zero: Wide<S>) -> Mask<S> {
    x.0.equals(zero).and(x.1.equals(zero)).and(x.2.equals(zero))
}

/// The point of the cone nearest to (x_n, x_t), t = ‖x_t‖, in the norm of diag(w_n, w_t, w_t): its normal part, and what x_t is multiplied with.
#[inline(always)]
pub(super) fn nearest<S: Simd>(simd: S, mu: Wide<S>, [xn, t]: [Wide<S>; 2], [wn_inv, wt_inv]: [Wide<S>; 2]) -> [Wide<S>; 2] {
    let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
    let height = wt_inv * xn + mu * wn_inv * t;
    let (apex, inside) = (height.at_most(zero), t.at_most(mu * xn));
    let on = height.over(wt_inv + mu * mu * wn_inv);
    // without friction and slip, t = μ x_n = 0 on both sides of the apex
    [apex.pick(zero, inside.pick(xn, on)), apex.pick(zero, inside.pick(one, (mu * on).over(t)))]
}

/// Visits some blocks of contacts without moments.
pub(super) struct Visit<'a, T> {
    pub(super) blocks: &'a [Block],
    pub(super) states: &'a mut [State],
    pub(super) shifts: &'a [Row],
    pub(super) momentum: Option<Momentum>,
    pub(super) v: &'a T,
}

impl<T: Twists> WithSimd for Visit<'_, T> {
    type Output = Norms;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Norms {
        let Self { blocks, states, shifts, momentum, v } = self;
        let mut sums = [[0.0; LANES]; 3];
        let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
        let none = Wide3(zero, zero, zero);
        let momentum = momentum.map(|m| (Wide::splat(simd, m.beta), m.whole));
        for (at, (c, state)) in blocks.iter().zip(states).enumerate() {
            for k in 0..Wide::<S>::PARTS {
                let ends = load_ends(simd, c, k, |body| v.load(body));
                let r = stepped(simd, state, k, momentum);
                let n = Wide3::load(simd, &c.normal, k);
                let u = ends.velocity(simd, c, k, n);
                let (rn, un) = (n.dot(r), n.dot(u));
                let (wn_inv, wt_inv) = (Wide::load(simd, &c.wn_inv, k), Wide::load(simd, &c.wt_inv, k));
                let (mu, x) = (Wide::load(simd, &c.mu, k), (r - n.times(rn)) - (u - n.times(un)).times(wt_inv));
                let new = if let Some(shift) = shifts.get(at) {
                    let xn = rn - (un + Wide::load(simd, shift, k)) * wn_inv;
                    let [height, scale] = nearest(simd, mu, [xn, x.dot(x).sqrt()], [wn_inv, wt_inv]);
                    n.times(height) + x.times(scale)
                } else {
                    let new_n = rn - un * wn_inv;
                    let (limit, size) = (mu * new_n, x.dot(x));
                    let scale = size.at_most(limit * limit).pick(one, limit.over(size.sqrt()));
                    new_n.at_most(zero).pick3(none, n.times(new_n) + x.times(scale))
                };
                let dr = new - r;
                new.store(&mut state.r, k);
                dr.store(&mut state.change, k);
                let weight = Wide::load(simd, &c.weight, k);
                let direction = Wide3::load(simd, &state.direction, k);
                for (sum, square) in sums.iter_mut().zip([dr.dot(dr), new.dot(new), dr.dot(direction)]) {
                    (Wide::load(simd, sum, k) + weight * square).store(sum, k);
                }
                let turn = n.cross(dr);
                let [masses, spins] = [&c.masses, &c.spins].map(|x| [Wide::load(simd, &x[0], k), Wide::load(simd, &x[1], k)]);
                let Ends([v1, v2]) = ends;
                let kicked = Ends([
                    [v1[0] + dr.times(masses[0]), v1[1] + turn.times(spins[0])],
                    [v2[0] - dr.times(masses[1]), v2[1] - turn.times(spins[1])],
                ]);
                // mostly neighbours that stay apart
                store_ends(c, k, vanishes(dr, zero), [ends, kicked], v);
            }
        }
        Norms::of_lanes(sums)
    }
}
