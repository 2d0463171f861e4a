//! One contact, exactly: `u = W r + q`, `K_μ ∋ r ⟂ u + μ‖u_T‖n ∈ K_μ*` for a 3×3 operator `W`.
//!
//! ```text
//! q_n ≥ 0                        r = 0                                   open
//! S = W_tt − W_tn W_nt / W_nn    c = q_t − W_tn q_n / W_nn               Schur complement of the normal row
//! r_t = −S⁻¹ c                   accepted if ‖r_t‖ ≤ μ r_n               stick
//! r_t(λ) = −(S + λ I)⁻¹ c        λ > 0 with ‖r_t(λ)‖ = μ r_n(λ)          slip (u_t = −λ r_t)
//! ```
//!
//! The slip equation is solved as a trust-region secular equation: Newton on `1/(μ r_n) − 1/‖r_t‖`, which is
//! nearly linear in λ, inside a bracket (Moré & Sorensen 1983 for the idea; Preclik & Rüde 2015 for one contact).

use glam::DVec3;

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

/// Most iterations of the slip equation; bisection alone would need 60 for full precision.
const MAX_SECULAR: usize = 80;

impl LocalOperator {
    /// Splits a symmetric operator; `None` unless `W_nn` is positive and everything finite.
    pub fn new(nn: f64, nt: [f64; 2], tt: [f64; 3]) -> Option<Self> {
        let nn_inv = 1.0 / nn;
        let s = [tt[0] - nt[0] * nt[0] * nn_inv, tt[1] - nt[0] * nt[1] * nn_inv, tt[2] - nt[1] * nt[1] * nn_inv];
        let det = s[0] * s[2] - s[1] * s[1];
        let trace = s[0] + s[2];
        let s_det_inv = if det > 1e-14 * trace * trace { 1.0 / det } else { 0.0 };
        let good = nn > 0.0 && nn_inv.is_finite() && s.iter().all(|x| x.is_finite());
        good.then_some(Self { nn, nt, tt, nn_inv, s, s_det_inv })
    }

    /// `W r`
    #[inline]
    pub fn apply(&self, r: DVec3) -> DVec3 {
        DVec3::new(
            self.nn * r.x + self.nt[0] * r.y + self.nt[1] * r.z,
            self.nt[0] * r.x + self.tt[0] * r.y + self.tt[1] * r.z,
            self.nt[1] * r.x + self.tt[1] * r.y + self.tt[2] * r.z,
        )
    }

    /// Mean of the diagonal: the scalar that weighs this contact in e_s.
    #[inline]
    pub fn mean_diagonal(&self) -> f64 {
        (self.nn + self.tt[0] + self.tt[2]) / 3.0
    }

    /// The reaction `(r_n, r_t1, r_t2)` that solves the contact exactly, `q` being the velocity without it.
    #[inline]
    pub fn solve(&self, q: DVec3, mu: f64) -> DVec3 {
        if q.x >= 0.0 {
            return DVec3::ZERO;
        }
        let frictionless = -q.x * self.nn_inv;
        if mu <= 0.0 {
            return DVec3::new(frictionless, 0.0, 0.0);
        }
        let c = [q.y - self.nt[0] * q.x * self.nn_inv, q.z - self.nt[1] * q.x * self.nn_inv];
        if self.s_det_inv > 0.0 {
            let y = -(self.s[2] * c[0] - self.s[1] * c[1]) * self.s_det_inv;
            let z = -(self.s[0] * c[1] - self.s[1] * c[0]) * self.s_det_inv;
            let x = frictionless - (self.nt[0] * y + self.nt[1] * z) * self.nn_inv;
            if y * y + z * z <= mu * mu * x * x && x >= 0.0 {
                return DVec3::new(x, y, z);
            }
        }
        if self.s_det_inv == 0.0
            && let Some(stuck) = self.stick_in_a_line(frictionless, c, mu)
        {
            return stuck;
        }
        self.slip(frictionless, c, mu)
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
        if self.s_det_inv > 0.0 {
            let c = [q.y - self.nt[0] * q.x * self.nn_inv, q.z - self.nt[1] * q.x * self.nn_inv];
            let y = -(self.s[2] * c[0] - self.s[1] * c[1]) * self.s_det_inv;
            let z = -(self.s[0] * c[1] - self.s[1] * c[0]) * self.s_det_inv;
            let x = frictionless - (self.nt[0] * y + self.nt[1] * z) * self.nn_inv;
            let t = (y * y + z * z).sqrt();
            if t <= mu * x {
                return DVec3::new(x, y, z);
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

    /// Sticking where only one tangential direction can move (locked axes): `r_t = −S⁺ c`, S of rank one.
    fn stick_in_a_line(&self, frictionless: f64, c: [f64; 2], mu: f64) -> Option<DVec3> {
        let [s11, s12, s22] = self.s;
        let inverse = 1.0 / (s11 + s22);
        let [y, z] = [s11 * c[0] + s12 * c[1], s12 * c[0] + s22 * c[1]].map(|x| -x * inverse * inverse);
        let left = libm::hypot(c[0] + s11 * y + s12 * z, c[1] + s12 * y + s22 * z);
        let x = frictionless - (self.nt[0] * y + self.nt[1] * z) * self.nn_inv;
        let inside = x >= 0.0 && libm::hypot(y, z) <= mu * x && left <= 1e-12 * (libm::hypot(c[0], c[1]) + self.nn * frictionless);
        inside.then(|| DVec3::new(x, y, z))
    }

    /// Solves `‖r_t(λ)‖ = μ r_n(λ)` for λ > 0.
    fn slip(&self, frictionless: f64, c: [f64; 2], mu: f64) -> DVec3 {
        let c_norm = (c[0] * c[0] + c[1] * c[1]).sqrt();
        if c_norm == 0.0 {
            return DVec3::new(frictionless, 0.0, 0.0);
        }
        let [s11, s12, s22] = self.s;
        let (mut low, mut high) = (0.0, f64::INFINITY);
        // above 0, where S may be singular
        let mut lambda = (c_norm / (mu * frictionless) - 0.5 * (s11 + s22)).max(f64::EPSILON * (s11 + s22));
        let (mut rt, mut rn) = ([0.0; 2], frictionless);
        for _ in 0..MAX_SECULAR {
            let (a, d) = (s11 + lambda, s22 + lambda);
            let det_inv = 1.0 / (a * d - s12 * s12);
            let solve = |x: f64, y: f64| [(d * x - s12 * y) * det_inv, (a * y - s12 * x) * det_inv];
            let y = solve(c[0], c[1]);
            rt = [-y[0], -y[1]];
            rn = frictionless - (self.nt[0] * rt[0] + self.nt[1] * rt[1]) * self.nn_inv;
            let t = (rt[0] * rt[0] + rt[1] * rt[1]).sqrt();
            let g = t - mu * rn;
            if g.abs() <= 4.0 * f64::EPSILON * t && rn > 0.0 {
                break;
            }
            if g > 0.0 || rn <= 0.0 {
                low = lambda
            } else {
                high = lambda
            }
            let drt = solve(-rt[0], -rt[1]);
            let dt = (rt[0] * drt[0] + rt[1] * drt[1]) / t;
            let drn = -(self.nt[0] * drt[0] + self.nt[1] * drt[1]) * self.nn_inv;
            let slope = dt / (t * t) - drn / (mu * rn * rn);
            let newton = lambda - (1.0 / (mu * rn) - 1.0 / t) / slope;
            lambda = if rn > 0.0 && newton > low && newton < high && newton.is_finite() {
                newton
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                10.0 * lambda + (s11 + s22)
            };
            if high.is_finite() && high - low <= 4.0 * f64::EPSILON * high {
                break;
            }
        }
        let t = (rt[0] * rt[0] + rt[1] * rt[1]).sqrt();
        let rn = rn.max(0.0);
        let scale = if t > 0.0 { mu * rn / t } else { 0.0 };
        DVec3::new(rn, rt[0] * scale, rt[1] * scale)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::admissible::project_coulomb;
    use proptest::prelude::*;

    /// Natural map of the contact, relative to its data.
    fn residual(w: &LocalOperator, q: DVec3, mu: f64, r: DVec3) -> f64 {
        let u = w.apply(r) + q;
        let shifted = u + DVec3::X * mu * u.y.hypot(u.z);
        let d = w.mean_diagonal();
        let mut x = r - shifted / d;
        project_coulomb(mu, &mut x);
        (r - x).length() / r.length().max(q.length() / d)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn every_positive_definite_contact_is_solved_to_rounding(
            l in prop::array::uniform6(-1.0..1.0f64), q in prop::array::uniform3(-1.0..1.0f64), mu in 0.0..2.0f64, ridge in 1e-4..1.0f64,
        ) {
            let (a, b, c) = ([l[0], 0.0, 0.0], [l[1], l[2], 0.0], [l[3], l[4], l[5]]);
            let dot = |x: [f64; 3], y: [f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            let w = LocalOperator::new(
                dot(a, a) + ridge, [dot(a, b), dot(a, c)], [dot(b, b) + ridge, dot(b, c), dot(c, c) + ridge],
            ).expect("positive");
            let q = DVec3::from_array(q);
            let r = w.solve(q, mu);
            prop_assert!(r.is_finite());
            prop_assert!(residual(&w, q, mu, r) < 1e-9, "residual {:e}", residual(&w, q, mu, r));
            // the convex law, its natural map without the shift
            let r = w.solve_convex(q, mu);
            let d = w.mean_diagonal();
            let mut x = r - (w.apply(r) + q) / d;
            project_coulomb(mu, &mut x);
            let miss = (r - x).length() / r.length().max(q.length() / d);
            prop_assert!(r.is_finite() && miss < 1e-9, "convex residual {miss:e}");
        }
    }

    #[test]
    fn an_opening_contact_carries_nothing_and_a_frictionless_one_only_its_normal() {
        let w = LocalOperator::new(2.0, [0.1, 0.2], [3.0, 0.0, 3.0]).expect("positive");
        assert_eq!(w.solve(DVec3::new(0.1, 5.0, 5.0), 0.5), DVec3::ZERO);
        assert_eq!(w.solve(DVec3::new(-1.0, 5.0, 5.0), 0.0), DVec3::new(0.5, 0.0, 0.0));
        assert!(LocalOperator::new(0.0, [0.0; 2], [1.0, 0.0, 1.0]).is_none());
    }

    #[test]
    fn a_contact_that_can_move_in_one_tangential_direction_sticks_and_slips() {
        let (sin, cos) = 0.6f64.sin_cos();
        for (direction, tilt) in [([1.0, 0.0], 0.0), ([0.0, 1.0], 0.3), ([cos, sin], -0.4)] {
            let along = |x: f64, y: f64| x * direction[0] + y * direction[1];
            let w = LocalOperator::new(
                1.0,
                [tilt * direction[0], tilt * direction[1]],
                [direction[0] * direction[0], direction[0] * direction[1], direction[1] * direction[1]],
            )
            .expect("a normal that moves");
            for speed in [0.0, 0.1, -0.1, 5.0, -5.0] {
                let q = DVec3::new(-1.0, speed * direction[0], speed * direction[1]);
                let r = w.solve(q, 0.5);
                let u = q + w.apply(r);
                assert!(r.is_finite() && u.x.abs() < 1e-12, "{r} {u}");
                let (t, slip) = (along(r.y, r.z), along(u.y, u.z));
                if speed.abs() > 1.0 {
                    assert!((t.abs() - 0.5 * r.x).abs() < 1e-12 && t * slip < 0.0, "{r} {u}");
                } else {
                    assert!(slip.abs() < 1e-12 && t.abs() <= 0.5 * r.x, "{r} {u}");
                }
            }
        }
    }
}
