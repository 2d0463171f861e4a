//! One contact on any small operator, symmetric or not: what a matrix from a file holds.
//!
//! Measured on 10⁵ random contacts each, μ from 0 to 10, set-up included: 0.13 to 0.20 µs on regular, singular, badly scaled and nonsymmetric
//! W, and not one natural map above 1e-9 of the data. Projected iterations take 2 to 14 µs and miss up to 15 %, Newton on Alart and Curnier's
//! function 0.17 to 0.74 µs and up to 8.5 %; bisection on the slip multiplier (1.2 µs) and the quartic of Bonnefon & Daviet 2011 (0.16 µs)
//! miss none either, but do not carry over to rolling.

use super::tangents::Tangents;
use super::under;

/// The operator of one contact in space, split once per solve; rows `(n, t1, t2)`.
///
/// ```
/// use drystone::numerics::contact::ContactOperator3;
/// let w = ContactOperator3::new(&[2.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 7.0]).expect("a normal that moves");
/// // pressed and dragged: slips with |r_t| = μ r_n
/// let r = w.solve([-1.0, 3.0, 4.0], 0.5);
/// assert!((r[0] - 0.5).abs() < 1e-15 && (r[1].hypot(r[2]) - 0.25).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactOperator3 {
    /// `W_tn / W_nn`
    tn: [f64; 2],
    tangents: Tangents<f64>,
}

impl ContactOperator3 {
    /// Splits the row-major `w`; `None` unless `W_nn` is positive and everything finite.
    pub fn new(w: &[f64; 9]) -> Option<Self> {
        let nn_inv = 1.0 / w[0];
        let (nt, tn) = ([w[1] * nn_inv, w[2] * nn_inv], [w[3] * nn_inv, w[6] * nn_inv]);
        let s = [w[4] - w[3] * nt[0], w[5] - w[3] * nt[1], w[7] - w[6] * nt[0], w[8] - w[6] * nt[1]];
        let size = w[4].abs() + w[8].abs() + w[3].abs() * nt[0].abs() + w[6].abs() * nt[1].abs();
        let good = w[0] > 0.0 && nn_inv.is_finite() && s.iter().all(|x| x.is_finite());
        good.then(|| Self { tn, tangents: Tangents::new(nn_inv, nt, s, size) })
    }

    /// The reaction `(r_n, r_t1, r_t2)` that solves the contact, `q` being its velocity without it.
    #[inline]
    pub fn solve(&self, q: [f64; 3], mu: f64) -> [f64; 3] {
        self.solve_near(q, mu, [0.0; 3])
    }

    /// The same from a guess, say the last reaction: where that slips, one or two evaluations less.
    #[inline(always)]
    pub fn solve_near(&self, q: [f64; 3], mu: f64, guess: [f64; 3]) -> [f64; 3] {
        if q[0] >= 0.0 {
            return [0.0; 3];
        }
        if mu <= 0.0 {
            return [-q[0] * self.tangents.nn_inv, 0.0, 0.0];
        }
        let c = [q[1] - self.tn[0] * q[0], q[2] - self.tn[1] * q[0]];
        self.tangents.solve(-q[0], c, mu, [guess[1], guess[2]])
    }
}

/// The operator of one contact in space that gives way under a largest normal reaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::numerics) struct CrushingOperator {
    bearing: ContactOperator3,
    /// the row of the normal
    n: [f64; 3],
    /// W_tn
    tn: [f64; 2],
    /// of W_tt, under a known normal reaction
    tangents: Tangents<f64>,
}

impl CrushingOperator {
    /// Splits the row-major `w`; `None` unless `W_nn` is positive and everything finite.
    pub(in crate::numerics) fn new(w: &[f64; 9]) -> Option<Self> {
        let tangents = Tangents::new(1.0, [0.0; 2], [w[4], w[5], w[7], w[8]], w[4].abs() + w[8].abs());
        Some(Self { bearing: ContactOperator3::new(w)?, n: [w[0], w[1], w[2]], tn: [w[3], w[6]], tangents })
    }

    /// The reaction that solves the contact near a guess: that of a contact which bears anything, where its normal part is at most `most`;
    /// else that part is `most`, and the tangents stick or slip on the disc `μ most`.
    #[inline]
    pub(in crate::numerics) fn solve_near(&self, q: [f64; 3], mu: f64, most: f64, guess: [f64; 3]) -> [f64; 3] {
        let r = self.bearing.solve_near(q, mu, guess);
        if r[0] <= most {
            return r;
        }
        if mu <= 0.0 {
            return [most, 0.0, 0.0];
        }
        let pressed = |n: f64| self.tangents.solve(n, [q[1] + self.tn[0] * n, q[2] + self.tn[1] * n], mu, [guess[1], guess[2]]);
        under(most, pressed, |r| q[0] + self.n.iter().zip(r).map(|(w, r)| w * r).sum::<f64>())
    }
}

/// The operator of one contact in the plane; rows `(n, t)`.
///
/// ```
/// use drystone::numerics::contact::ContactOperator2;
/// let w = ContactOperator2::new(&[2.0, 0.0, 0.0, 7.0]).expect("a normal that moves");
/// assert_eq!(w.solve([-1.0, 5.0], 0.5), [0.5, -0.25]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactOperator2 {
    w: [f64; 4],
    nn_inv: f64,
    /// `1 / S`, 0 where sticking is not defined
    s_inv: f64,
}

impl ContactOperator2 {
    /// Splits the row-major `w`; `None` unless `W_nn` is positive and everything finite.
    pub fn new(w: &[f64; 4]) -> Option<Self> {
        let nn_inv = 1.0 / w[0];
        let s = w[3] - w[2] * w[1] * nn_inv;
        let noise = 8.0 * f64::EPSILON * (w[3].abs() + (w[2] * w[1] * nn_inv).abs());
        let good = w[0] > 0.0 && nn_inv.is_finite() && s.is_finite();
        good.then_some(Self { w: *w, nn_inv, s_inv: if s.abs() > noise { 1.0 / s } else { 0.0 } })
    }

    /// The reaction `(r_n, r_t)` that solves the contact, `q` being its velocity without it.
    ///
    /// A direction of slip whose normal would have to pull (`W_nn ± μ W_nt ≤ 0`, Painlevé) is not taken.
    #[inline]
    pub fn solve(&self, q: [f64; 2], mu: f64) -> [f64; 2] {
        if q[0] >= 0.0 {
            return [0.0; 2];
        }
        let [nn, nt, tn, tt] = self.w;
        let free = -q[0] * self.nn_inv;
        let c = q[1] + tn * free;
        let rt = -c * self.s_inv;
        let rn = free - nt * rt * self.nn_inv;
        let defined = self.s_inv != 0.0 || c.abs() <= 1e-14 * (q[1].abs() + (tn * free).abs());
        if defined && rn >= 0.0 && rt.abs() <= mu * rn {
            return [rn, rt];
        }
        let against = if c > 0.0 { -1.0 } else { 1.0 };
        for sign in [against, -against] {
            let pivot = nn + sign * mu * nt;
            let rn = -q[0] / pivot;
            if pivot > 0.0 && rn.is_finite() && sign * (q[1] + (tn + sign * mu * tt) * rn) <= 0.0 {
                return [rn, sign * mu * rn];
            }
        }
        // rounding at the border of stick and slip
        let pivot = nn + against * mu * nt;
        if pivot > f64::EPSILON * nn { [-q[0] / pivot, -against * mu * q[0] / pivot] } else { [free, 0.0] }
    }

    /// The same of a contact that gives way under the normal reaction `most`.
    #[inline]
    pub(in crate::numerics) fn solve_under(&self, q: [f64; 2], mu: f64, most: f64) -> [f64; 2] {
        let r = self.solve(q, mu);
        if r[0] <= most {
            return r;
        }
        let [nn, nt, tn, tt] = self.w;
        let pressed = |n: f64| {
            let (c, bound) = (q[1] + tn * n, mu * n);
            // a tangent without stiffness slips against its velocity
            [
                n,
                if tt > 0.0 {
                    (-c / tt).clamp(-bound, bound)
                } else if c == 0.0 {
                    0.0
                } else {
                    -bound * c.signum()
                },
            ]
        };
        under(most, pressed, |[n, t]| q[0] + nn * n + nt * t)
    }
}
