//! One contact, exactly: `u = W r + q`, `K_μ ∋ r ⟂ u + μ‖u_T‖n ∈ K_μ*` for a small operator W, symmetric or not.
//!
//! ```text
//! q_n ≥ 0                            r = 0                                           open
//! r_n = −(q_n + W_nt r_t) / W_nn     u_t = S r_t + c                                 u_n = 0
//! S = W_tt − W_tn W_nt / W_nn        c = q_t − W_tn q_n / W_nn                       Schur complement of the normal row
//! S r_t = −c                         accepted if |r_t| ≤ μ r_n                       stick
//! (S + λ I) r_t(λ) = −c              λ > 0 with |r_t(λ)| = μ r_n(λ)                  slip (u_t = −λ r_t)
//! ```
//!
//! The tangents are turned so that the symmetric part of S is diagonal; then `S + λ I = [[s₁ + λ, a], [−a, s₂ + λ]]` has the
//! determinant `(s₁ + λ)(s₂ + λ) + a²` and no digit is lost, however singular S is. Where W has a positive semidefinite
//! symmetric part, s₁, s₂ ≥ 0 and `g(λ) = |r_t| − μ r_n` goes from positive to negative: a root exists and stays bracketed.
//! Newton runs on `1/(μ r_n) − 1/|r_t|`, nearly linear in λ: 4 to 6 evaluations on random operators with μ ≤ 1, 9 with μ = 10
//! (trust-region secular equation, Moré & Sorensen 1983; Preclik & Rüde 2015 for one contact). An opening contact takes `r = 0`
//! even where Painlevé's paradox leaves another choice.
//!
//! [`LocalOperator`] is the contact of a step, whose W is symmetric and wanted for itself too; its tangents are turned where it slips.
//! [`ContactOperator3`] and [`ContactOperator2`] are those of any matrix, [`RollingOperator`] resists rolling too.

use super::abreast::each;
use super::mixed::Contact;
use crate::algebra::lanes::{LANES, Mask, Plain, Simd, Wide, Wide3};
use glam::DVec3;
use tangents::Tangents;

mod general;
mod rolling;
mod spin;
mod tangents;
#[cfg(test)]
pub(super) mod tests;

pub(in crate::numerics) use general::CrushingOperator;
pub use general::{ContactOperator2, ContactOperator3};
pub use rolling::RollingOperator;
pub use spin::SpinOperator;

/// Most evaluations of the slip equation; bisection alone would need 60 for full precision.
const MAX_SECULAR: usize = 80;
/// Halvings in [`under`]: to rounding of the largest reaction.
const HALVINGS: usize = 60;

/// The reaction under a largest normal one, where there is one beyond it: that at `most` where the contact does not open there. Where friction
/// lifts it, there is another below, found by halving. `pressed` is the reaction of a given normal part, `opening` its `u_n`, below 0 for none.
fn under<const N: usize>(most: f64, pressed: impl Fn(f64) -> [f64; N], opening: impl Fn([f64; N]) -> f64) -> [f64; N] {
    let mut r = pressed(most);
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        if opening(r) > 0.0 {
            high = r[0];
        } else {
            low = r[0];
        }
        let next = 0.5 * (low + high);
        if low == most || next <= low || next >= high {
            break;
        }
        r = pressed(next);
    }
    r
}

/// The operator of one contact, split once per time step.
///
/// ```
/// use drystone::numerics::contact::LocalOperator;
/// use glam::DVec3;
/// let w = LocalOperator::new(2.0, [0.0, 0.0], [7.0, 0.0, 7.0]).expect("positive");
/// // pressed and dragged: slips with ‖r_t‖ = μ r_n
/// let r = w.solve(DVec3::new(-1.0, 3.0, 4.0), 0.5);
/// assert!((r.x - 0.5).abs() < 1e-15 && (r.y.hypot(r.z) - 0.25).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocalOperator {
    /// `W_nn`
    pub nn: f64,
    /// `W_nt` = `W_tn`
    pub nt: [f64; 2],
    /// `W_tt`: 11, 12, 22
    pub tt: [f64; 3],
    nn_inv: f64,
    /// Schur complement: 11, 12, 22
    s: [f64; 3],
    /// `1 / det S`, or 0 where sticking is not defined
    s_det_inv: f64,
}

impl LocalOperator {
    /// Splits a symmetric operator; `None` unless `W_nn` is positive and everything finite.
    #[inline(always)]
    pub fn new(nn: f64, nt: [f64; 2], tt: [f64; 3]) -> Option<Self> {
        let wide = |x| Wide::splat(Plain, x);
        let mut found = None;
        Self::of_lanes(Plain, wide(nn), nt.map(wide), tt.map(wide), |_, operator| found = operator);
        found
    }

    /// The same for the operator of each lane, which `take` is given.
    #[inline(always)]
    pub(in crate::numerics) fn of_lanes<S: Simd>(
        simd: S,
        nn: Wide<S>,
        nt: [Wide<S>; 2],
        tt: [Wide<S>; 3],
        mut take: impl FnMut(usize, Option<Self>),
    ) {
        let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
        let nn_inv = one.over(nn);
        let s = [tt[0] - nt[0] * nt[0] * nn_inv, tt[1] - nt[0] * nt[1] * nn_inv, tt[2] - nt[1] * nt[1] * nn_inv];
        let det = s[0] * s[2] - s[1] * s[1];
        let trace = s[0] + s[2];
        let s_det_inv = (Wide::splat(simd, 1e-14) * trace * trace).below(det).pick(one.over(det), zero);
        let (nt, tt, s) = ([nt[0].row(), nt[1].row()], [tt[0].row(), tt[1].row(), tt[2].row()], [s[0].row(), s[1].row(), s[2].row()]);
        let (nn, nn_inv, s_det_inv) = (nn.row(), nn_inv.row(), s_det_inv.row());
        for l in 0..S::F64_LANES {
            let operator = Self {
                nn: nn[l],
                nt: [nt[0][l], nt[1][l]],
                tt: [tt[0][l], tt[1][l], tt[2][l]],
                nn_inv: nn_inv[l],
                s: [s[0][l], s[1][l], s[2][l]],
                s_det_inv: s_det_inv[l],
            };
            let good = nn[l] > 0.0 && nn_inv[l].is_finite() && operator.s.iter().all(|x| x.is_finite());
            take(l, good.then_some(operator));
        }
    }

    /// `W r`
    #[inline(always)]
    pub fn apply(&self, r: DVec3) -> DVec3 {
        DVec3::new(
            self.nn * r.x + self.nt[0] * r.y + self.nt[1] * r.z,
            self.nt[0] * r.x + self.tt[0] * r.y + self.tt[1] * r.z,
            self.nt[1] * r.x + self.tt[1] * r.y + self.tt[2] * r.z,
        )
    }

    /// Mean of the diagonal: the scalar that weighs this contact in e_s.
    #[inline(always)]
    pub fn mean_diagonal(&self) -> f64 {
        (self.nn + self.tt[0] + self.tt[2]) / 3.0
    }

    /// The reaction `(r_n, r_t1, r_t2)` that solves the contact exactly, `q` being the velocity without it.
    #[inline]
    pub fn solve(&self, q: DVec3, mu: f64) -> DVec3 {
        self.solve_near(q, mu, DVec3::ZERO)
    }

    /// The same from a guess, say the last reaction: where that slips, one or two evaluations less.
    #[inline(always)]
    pub fn solve_near(&self, q: DVec3, mu: f64, guess: DVec3) -> DVec3 {
        if q.x >= 0.0 {
            return DVec3::ZERO;
        }
        if mu <= 0.0 {
            return DVec3::new(-q.x * self.nn_inv, 0.0, 0.0);
        }
        let c = self.tangential(q);
        match self.stick(q, c) {
            Some(r) if r.y * r.y + r.z * r.z <= mu * mu * r.x * r.x && r.x >= 0.0 => r,
            _ => self.slip(-q.x, c, mu, guess),
        }
    }

    /// `c = q_t − W_tn q_n / W_nn`
    #[inline(always)]
    fn tangential(&self, q: DVec3) -> [f64; 2] {
        [q.y - self.nt[0] * q.x * self.nn_inv, q.z - self.nt[1] * q.x * self.nn_inv]
    }

    /// The reaction that holds the contact, where it is defined.
    #[inline(always)]
    fn stick(&self, q: DVec3, c: [f64; 2]) -> Option<DVec3> {
        let y = -(self.s[2] * c[0] - self.s[1] * c[1]) * self.s_det_inv;
        let z = -(self.s[0] * c[1] - self.s[1] * c[0]) * self.s_det_inv;
        let x = -q.x * self.nn_inv - (self.nt[0] * y + self.nt[1] * z) * self.nn_inv;
        (self.s_det_inv > 0.0).then(|| DVec3::new(x, y, z))
    }

    /// The least reaction that holds a contact whose tangents move in one direction at most, as those of bodies that stay in a plane do, unless it
    /// slips in the other.
    fn hold(&self, q: DVec3, c: [f64; 2]) -> Option<DVec3> {
        let [s1, s12, s2] = self.s;
        let column = if s1 >= s2 { [s1, s12] } else { [s12, s2] };
        let size = (column[0] * column[0] + column[1] * column[1]).sqrt();
        let e = if size > 0.0 { column.map(|x| x / size) } else { [0.0; 2] };
        let along = c[0] * e[0] + c[1] * e[1];
        let aside = [c[0] - along * e[0], c[1] - along * e[1]];
        let t = if along == 0.0 { 0.0 } else { -along / (s1 + s2) };
        let r = DVec3::new(-(q.x + (self.nt[0] * e[0] + self.nt[1] * e[1]) * t) * self.nn_inv, e[0] * t, e[1] * t);
        let still = aside[0] * aside[0] + aside[1] * aside[1] <= 1e-24 * (q.length_squared() + self.apply(r).length_squared());
        (self.s_det_inv == 0.0 && still).then_some(r)
    }

    /// The reaction where it does not stick, or where sticking is not defined; out of line, as most contacts of a step stick.
    #[inline(never)]
    fn slip(&self, push: f64, c: [f64; 2], mu: f64, guess: DVec3) -> DVec3 {
        let nt = self.nt.map(|x| x * self.nn_inv);
        let size = self.tt[0] + self.tt[2] + self.nt[0] * nt[0] + self.nt[1] * nt[1];
        let tangents = Tangents::new(self.nn_inv, nt, [self.s[0], self.s[1], self.s[1], self.s[2]], size);
        tangents.solve(push, c, mu, [guess.y, guess.z]).into()
    }

    /// The reaction where the contact would bear more than the normal reaction `most`: it gives way under that, and sticks, or slips on the
    /// disc `μ most`.
    ///
    /// ```
    /// use drystone::numerics::contact::LocalOperator;
    /// use glam::DVec3;
    /// let w = LocalOperator::new(2.0, [0.5, 0.0], [7.0, 0.0, 7.0]).expect("positive");
    /// let r = w.solve_under(DVec3::new(-4.0, 3.0, 4.0), 0.5, 1.0, DVec3::ZERO);
    /// assert!(r.x == 1.0 && (r.y.hypot(r.z) - 0.5).abs() < 1e-15);
    /// ```
    #[inline(never)]
    pub fn solve_under(&self, q: DVec3, mu: f64, most: f64, guess: DVec3) -> DVec3 {
        if mu <= 0.0 {
            return DVec3::new(most, 0.0, 0.0);
        }
        let tangents = Tangents::new(1.0, [0.0; 2], [self.tt[0], self.tt[1], self.tt[1], self.tt[2]], self.tt[0] + self.tt[2]);
        let pressed = |n: f64| tangents.solve(n, [q.y + self.nt[0] * n, q.z + self.nt[1] * n], mu, [guess.y, guess.z]);
        under(most, pressed, |[n, x, y]| q.x + self.nn * n + self.nt[0] * x + self.nt[1] * y).into()
    }

    /// The reaction of the same contact under the convex law `K_μ ∋ r ⟂ u ∈ K_μ*`, with any known De Saxcé shift as part of `q.x`.
    ///
    /// On the cone `r = ρ (1, μ d)` with the d that makes `b²/a` largest, `a = (1, μ d)ᵀ W (1, μ d)` and `b = q·(1, μ d) < 0`, `ρ = −b/a`:
    /// the largest decrease of `½ rᵀ W r + qᵀ r`, found by Newton on the angle of d.
    ///
    /// ```
    /// use drystone::numerics::contact::LocalOperator;
    /// use glam::DVec3;
    /// let w = LocalOperator::new(2.0, [0.0, 0.0], [7.0, 0.0, 7.0]).expect("positive");
    /// // slides and lifts: u is on the dual cone
    /// let q = DVec3::new(-1.0, 3.0, 4.0);
    /// let r = w.solve_convex(q, 0.5);
    /// let u = w.apply(r) + q;
    /// assert!((u.x - 0.5 * u.y.hypot(u.z)).abs() < 1e-14 && r.dot(u).abs() < 1e-14);
    /// ```
    pub fn solve_convex(&self, q: DVec3, mu: f64) -> DVec3 {
        let slide = (q.y * q.y + q.z * q.z).sqrt();
        if q.x >= mu * slide {
            return DVec3::ZERO;
        }
        let frictionless = -q.x * self.nn_inv;
        if mu <= 0.0 {
            return DVec3::new(frictionless, 0.0, 0.0);
        }
        let cone = |d: [f64; 2]| DVec3::new(1.0, mu * d[0], mu * d[1]);
        let mut d = if slide > 0.0 { [-q.y / slide, -q.z / slide] } else { [1.0, 0.0] };
        let c = self.tangential(q);
        if let Some(r) = self.stick(q, c).or_else(|| self.hold(q, c)) {
            let DVec3 { x, y, z } = r;
            let t = (y * y + z * z).sqrt();
            if t <= mu * x {
                return r;
            }
            if t > 0.0 && q.dot(cone([y / t, z / t])) < 0.0 {
                d = [y / t, z / t];
            }
        }
        let (mut limit, mut before) = (0.7, 0.0);
        for _ in 0..MAX_SECULAR {
            let (f, turned) = (cone(d), DVec3::new(0.0, -mu * d[1], mu * d[0]));
            let (wf, wt) = (self.apply(f), self.apply(turned));
            let (a, da, b, db) = (f.dot(wf), 2.0 * f.dot(wt), q.dot(f), q.dot(turned));
            // second derivatives: d turns back
            let (dda, ddb) = (2.0 * (turned.dot(wt) - wf.dot(f - DVec3::X)), -q.dot(f - DVec3::X));
            let (slope, curvature) = (2.0 * db * a - b * da, 2.0 * ddb * a + db * da - b * dda);
            if slope * before < 0.0 {
                limit *= 0.5;
            }
            before = slope;
            let newton = -slope / curvature;
            let mut turn = if curvature > 0.0 && newton.is_finite() { newton.clamp(-limit, limit) } else { -limit * slope.signum() };
            if slope == 0.0 || turn.abs() <= f64::EPSILON {
                break;
            }
            let mut next = rotated(d, turn);
            while q.dot(cone(next)) >= 0.0 && turn.abs() > f64::EPSILON {
                turn *= 0.5;
                next = rotated(d, turn);
            }
            d = next;
        }
        let f = cone(d);
        let size = (-q.dot(f) / f.dot(self.apply(f))).max(0.0);
        size * f
    }
}

/// The operator of a contact in each lane.
#[derive(Clone, Copy)]
pub(super) struct LocalOperators<S: Simd> {
    nn: Wide<S>,
    nt: [Wide<S>; 2],
    tt: [Wide<S>; 3],
    nn_inv: Wide<S>,
    s: [Wide<S>; 3],
    s_det_inv: Wide<S>,
    zero: Wide<S>,
}

impl<S: Simd> LocalOperators<S> {
    #[inline(always)]
    pub(super) fn gather(simd: S, lanes: &[&Contact; LANES]) -> Self {
        Self {
            nn: each(simd, lanes, |c| c.local.nn),
            nt: [each(simd, lanes, |c| c.local.nt[0]), each(simd, lanes, |c| c.local.nt[1])],
            tt: [each(simd, lanes, |c| c.local.tt[0]), each(simd, lanes, |c| c.local.tt[1]), each(simd, lanes, |c| c.local.tt[2])],
            nn_inv: each(simd, lanes, |c| c.local.nn_inv),
            s: [each(simd, lanes, |c| c.local.s[0]), each(simd, lanes, |c| c.local.s[1]), each(simd, lanes, |c| c.local.s[2])],
            s_det_inv: each(simd, lanes, |c| c.local.s_det_inv),
            zero: Wide::splat(simd, 0.0),
        }
    }

    /// [`LocalOperator::apply`]
    #[inline(always)]
    pub(super) fn apply(&self, r: Wide3<S>) -> Wide3<S> {
        let Self { nn, nt, tt, .. } = *self;
        Wide3(nn * r.0 + nt[0] * r.1 + nt[1] * r.2, nt[0] * r.0 + tt[0] * r.1 + tt[1] * r.2, nt[1] * r.0 + tt[1] * r.1 + tt[2] * r.2)
    }

    /// The reaction that holds each contact, or bears it without friction, and where that is its answer given that `q_n < 0`: what is left slips
    /// ([`LocalOperator::solve_near`]), or gives way under `most`.
    #[inline(always)]
    pub(super) fn stick(&self, q: Wide3<S>, mu: Wide<S>, most: Wide<S>) -> (Wide3<S>, Mask<S>) {
        let Self { nt, nn_inv, s, s_det_inv, zero, .. } = *self;
        let c = [q.1 - nt[0] * q.0 * nn_inv, q.2 - nt[1] * q.0 * nn_inv];
        let y = -(s[2] * c[0] - s[1] * c[1]) * s_det_inv;
        let z = -(s[0] * c[1] - s[1] * c[0]) * s_det_inv;
        let x = -q.0 * nn_inv - (nt[0] * y + nt[1] * z) * nn_inv;
        let within = (y * y + z * z).at_most(mu * mu * x * x).and(zero.at_most(x));
        let (smooth, free) = (mu.at_most(zero), Wide3(-q.0 * nn_inv, zero, zero));
        let known = smooth.or(within.and(zero.below(s_det_inv))).and(most.at_most(zero));
        (smooth.pick3(free, Wide3(x, y, z)), known)
    }

    /// The reactions of contacts that do not stick in the lanes that are wanted; `guess` is one.
    #[inline(always)]
    pub(super) fn slip(&self, simd: S, q: Wide3<S>, mu: Wide<S>, guess: Wide3<S>, wanted: Mask<S>) -> Wide3<S> {
        let Self { nn_inv, tt, s, .. } = *self;
        let c = [q.1 - self.nt[0] * q.0 * nn_inv, q.2 - self.nt[1] * q.0 * nn_inv];
        let nt = [self.nt[0] * nn_inv, self.nt[1] * nn_inv];
        let size = tt[0] + tt[2] + self.nt[0] * nt[0] + self.nt[1] * nt[1];
        let tangents = Tangents::of_lanes(simd, nn_inv, nt, [s[0], s[1], s[1], s[2]], size);
        tangents.solve_lanes(simd, -q.0, c, mu, [guess.1, guess.2], wanted)
    }
}

/// A unit vector turned by about `angle`, a unit vector again.
fn rotated(d: [f64; 2], angle: f64) -> [f64; 2] {
    let half = 0.5 * angle;
    let (c, s) = ((1.0 - half * half) / (1.0 + half * half), 2.0 * half / (1.0 + half * half));
    let [y, z] = [c * d[0] - s * d[1], s * d[0] + c * d[1]];
    let length = (y * y + z * z).sqrt();
    [y / length, z / length]
}
