//! The admissible sets of reactions, closed as mathematics has closed them.
//!
//! ```text
//! Free       K = ℝᵈ                joints             u = 0
//! NonNegative K = ℝ₊ᵈ              unilateral         0 ≤ r ⟂ u ≥ 0
//! Interval   K = [a, b]ᵈ           relay, bounds      −u ∈ N_[a,b](r)
//! Coulomb    K = {‖r_t‖ ≤ μ r_n}   contact            r ⟂ u + μ‖u_t‖n   (2 or 3 rows, normal first)
//! SecondOrder K = {‖r_t‖ ≤ μ r_n}  convex cone        r ⟂ u             (the same cone without the shift)
//! Crushing   K = {‖r_t‖ ≤ μ r_n, r_n ≤ P}             −(u + μ‖u_t‖n) ∈ N_K(r)   gives way (u_n < 0) under P alone
//! Rolling    K = {‖r_t‖ ≤ μ r_n, ‖m‖ ≤ μ_r r_n}       r ⟂ u + (μ‖u_t‖ + μ_r‖ω‖)n   (3 rows n,t,m or 5 rows n,t1,t2,m1,m2)
//!            K = {‖(r_t, d)‖ ≤ μ r_n, ‖m‖ ≤ μ_r r_n}                               (6 rows n,t1,t2,d,m1,m2, d: drilling)
//! Twisting   K = {‖r_t‖ ≤ μ r_n, ‖m‖ ≤ μ_r r_n, |m_n| ≤ μ_t r_n}                       (6 rows n,t1,t2,m1,m2,m_n; shift μ_t|ω_n| more)
//! ```

use crate::algebra::dense::norm;
use glam::DVec3;
use smallvec::SmallVec;
use std::array::from_fn;
use std::ops::Range;

/// Largest coefficient of friction that is taken, in scenes, models and problems alike: more is a slip of the pen.
pub const MU_MAX: f64 = 1e6;

/// The set in which the reaction of one block lives.
///
/// ```
/// use drystone::numerics::admissible::AdmissibleSet;
/// let mut x = [-1.0, 2.0];
/// AdmissibleSet::NonNegative.project(&mut x);
/// assert_eq!(x, [0.0, 2.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdmissibleSet {
    /// Any reaction: equality rows.
    Free,
    /// Pushes only.
    NonNegative,
    /// Componentwise bounds.
    Interval {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// Coulomb's cone, rows `(n, t)` or `(n, t1, t2)`.
    Coulomb {
        /// Friction coefficient.
        mu: f64,
    },
    /// Coulomb's law of a contact that gives way under a pressure, rows `(n, t)` or `(n, t1, t2)`.
    Crushing {
        /// Friction coefficient.
        mu: f64,
        /// Largest normal reaction P, above 0.
        most: f64,
    },
    /// The cone of Coulomb as a convex law (associated sliding): second-order cone complementarity.
    SecondOrder {
        /// Slope of the cone.
        mu: f64,
    },
    /// Coulomb friction with resistance to rolling: rows `(n, t, m)` or `(n, t1, t2, m1, m2)`; or friction of a patch that resists sliding and
    /// drilling together, rows `(n, t1, t2, d, m1, m2)`.
    Rolling {
        /// Friction coefficient.
        mu: f64,
        /// Rolling friction, a length.
        mu_r: f64,
    },
    /// Coulomb friction with resistance to rolling and to twisting: rows `(n, t1, t2, m1, m2, m_n)`.
    Twisting {
        /// Friction coefficient.
        mu: f64,
        /// Rolling friction, a length.
        mu_r: f64,
        /// Twisting friction, a length.
        mu_t: f64,
    },
}

/// The discs of a set: radius per normal reaction, and rows; those that it has not are empty.
pub(super) type Discs = [(f64, Range<usize>); 3];

impl AdmissibleSet {
    /// Moves `x` to the nearest admissible point.
    pub fn project(self, x: &mut [f64]) {
        match self {
            Self::Free => {}
            Self::NonNegative => x.iter_mut().for_each(|x| *x = x.max(0.0)),
            Self::Interval { lower, upper } => x.iter_mut().for_each(|x| *x = x.clamp(lower, upper)),
            Self::Coulomb { mu } | Self::SecondOrder { mu } => {
                let t = norm(&x[1..]);
                let (n, scale) = cone_projection(mu, x[0], t);
                x[0] = n;
                x[1..].iter_mut().for_each(|x| *x *= scale);
            }
            Self::Crushing { mu, most } => {
                let (n, scale) = bounded_projection(mu, most, x[0], norm(&x[1..]));
                x[0] = n;
                x[1..].iter_mut().for_each(|x| *x *= scale);
            }
            Self::Rolling { .. } | Self::Twisting { .. } => {
                let discs = self.discs(x.len());
                let [mu, sizes] = [discs.each_ref().map(|d| d.0), discs.each_ref().map(|d| norm(&x[d.1.clone()]))];
                let (n, scales) = discs_projection(mu, x[0], sizes).0;
                x[0] = n;
                for ((_, rows), scale) in discs.into_iter().zip(scales) {
                    x[rows].iter_mut().for_each(|x| *x *= scale);
                }
            }
        }
    }

    /// The discs `‖x_rows‖ ≤ μ x_n` that bound its other rows, of `n` rows in all.
    pub(super) fn discs(self, n: usize) -> Discs {
        let none = || (0.0, n..n);
        match self {
            Self::Coulomb { mu } | Self::SecondOrder { mu } | Self::Crushing { mu, .. } => [(mu, 1.min(n)..n), none(), none()],
            // 2 and 2 rows of 5, 3 and 2 of 6
            Self::Rolling { mu, mu_r } => [(mu, 1..n / 2 + 1), (mu_r, n / 2 + 1..n), none()],
            Self::Twisting { mu, mu_r, mu_t } => [(mu, 1..3), (mu_r, 3..5), (mu_t, 5..n)],
            Self::Free | Self::NonNegative | Self::Interval { .. } => [none(), none(), none()],
        }
    }

    /// Moves `x` to the nearest point of Tresca's set: the discs have `radii` instead of what the first row gives them, which keeps its own
    /// bounds. Sets without a shift are taken as they are.
    pub(super) fn project_tresca(self, radii: [f64; 3], x: &mut [f64]) {
        if !self.shifted() {
            return self.project(x);
        }
        let discs = self.discs(x.len());
        if let Some(normal) = x.first_mut() {
            *normal = normal.clamp(0.0, self.most());
        }
        for ((_, rows), radius) in discs.into_iter().zip(radii) {
            let size = norm(&x[rows.clone()]);
            if size > radius {
                x[rows].iter_mut().for_each(|x| *x *= radius / size);
            }
        }
    }

    /// True for the sets whose law has a De Saxcé shift.
    pub fn shifted(self) -> bool {
        matches!(self, Self::Coulomb { .. } | Self::Crushing { .. } | Self::Rolling { .. } | Self::Twisting { .. })
    }

    /// The set of `s x` for x in this one, s above 0: cones are their own multiples, bounds grow with s.
    #[must_use]
    pub(super) fn scaled(self, s: f64) -> Self {
        match self {
            Self::Interval { lower, upper } => Self::Interval { lower: s * lower, upper: s * upper },
            Self::Crushing { mu, most } => Self::Crushing { mu, most: s * most },
            cone => cone,
        }
    }

    /// The largest first component, where it has a bound of its own; else infinity.
    #[inline(always)]
    pub(super) fn most(self) -> f64 {
        if let Self::Crushing { most, .. } = self { most } else { f64::INFINITY }
    }

    /// Bounds of a single row, or of the first of several.
    pub(super) fn bounds(self) -> (f64, f64) {
        match self {
            Self::Free => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Interval { lower, upper } => (lower, upper),
            _ => (0.0, self.most()),
        }
    }

    /// The De Saxcé shift `g(u)` of the first row: `μ‖u_t‖` for friction and alike for moments, 0 elsewhere.
    pub fn shift(self, u: &[f64]) -> f64 {
        match self {
            Self::Coulomb { mu } | Self::Crushing { mu, .. } => mu * norm(&u[1..]),
            Self::Rolling { .. } | Self::Twisting { .. } => self.discs(u.len()).into_iter().map(|(mu, rows)| mu * norm(&u[rows])).sum(),
            _ => 0.0,
        }
    }

    /// A symmetric element of the generalised derivative of [`project`](Self::project) at `x`, row by row into `d`.
    pub fn derivative(self, x: &[f64], d: &mut [f64]) {
        let n = x.len();
        d.fill(0.0);
        match self {
            Self::Free => (0..n).for_each(|i| d[i * n + i] = 1.0),
            Self::NonNegative => (0..n).for_each(|i| d[i * n + i] = f64::from(u8::from(x[i] > 0.0))),
            Self::Interval { lower, upper } => {
                (0..n).for_each(|i| d[i * n + i] = f64::from(u8::from(x[i] > lower && x[i] < upper)));
            }
            Self::Coulomb { mu } | Self::SecondOrder { mu } => {
                let t = norm(&x[1..]);
                if mu * t <= -x[0] {
                    return;
                }
                if t <= mu * x[0] {
                    (0..n).for_each(|i| d[i * n + i] = 1.0);
                    return;
                }
                let s = (x[0] + mu * t) / (1.0 + mu * mu);
                cone_derivative(&[(mu, 1..n, t)], s, x, d);
            }
            Self::Crushing { mu, most } => {
                let t = norm(&x[1..]);
                if cone_projection(mu, x[0], t).0 < most {
                    return Self::Coulomb { mu }.derivative(x, d);
                }
                let part = if t <= mu * most { 1.0 } else { mu * most / t };
                for i in 1..n {
                    d[i * n + i] = part;
                    if part < 1.0 {
                        (1..n).for_each(|j| d[i * n + j] -= part * x[i] * x[j] / (t * t));
                    }
                }
            }
            Self::Rolling { .. } | Self::Twisting { .. } => {
                let discs = self.discs(n);
                let [mu, sizes] = [discs.each_ref().map(|d| d.0), discs.each_ref().map(|d| norm(&x[d.1.clone()]))];
                let ((s, _), Some(binds)) = discs_projection(mu, x[0], sizes) else { return };
                let part = |k: usize| (mu[k], discs[k].1.clone(), sizes[k]);
                let binding: SmallVec<[_; 3]> = (0..3).filter(|&k| binds[k]).map(part).collect();
                if binding.is_empty() {
                    d[0] = 1.0;
                } else {
                    cone_derivative(&binding, s, x, d);
                }
                for (_, (_, rows)) in discs.into_iter().enumerate().filter(|(k, _)| !binds[*k]) {
                    rows.for_each(|i| d[i * n + i] = 1.0);
                }
            }
        }
    }
}

/// Derivative of `s = (x_n + Σ μ_a t_a) / (1 + Σ μ_a²)`, `x_a ← μ_a s x_a / t_a` over the discs `(μ_a, rows, t_a)` that bind.
fn cone_derivative(discs: &[(f64, std::ops::Range<usize>, f64)], s: f64, x: &[f64], d: &mut [f64]) {
    let n = x.len();
    let k = 1.0 / (1.0 + discs.iter().map(|(mu, ..)| mu * mu).sum::<f64>());
    d[0] = k;
    for (mu, rows, t) in discs {
        for i in rows.clone() {
            let xi = x[i] / t;
            d[i] = k * mu * xi;
            d[i * n] = d[i];
            for (mu_b, rows_b, t_b) in discs {
                for j in rows_b.clone() {
                    d[i * n + j] += k * mu * mu_b * xi * x[j] / t_b;
                }
            }
            for j in rows.clone() {
                d[i * n + j] += mu * s / t * (f64::from(u8::from(i == j)) - xi * x[j] / t);
            }
        }
    }
}

/// `(projected normal, factors on the other parts)` and which discs bind (`None`: the apex).
///
/// The height h is the root of the increasing, concave function `h − n − Σ μ_k max(0, t_k − μ_k h)`. Newton's method from where all discs bind
/// stays below it and lets go of discs, one at least at a time, until those that bind are those of its line.
fn discs_projection(mu: [f64; 3], n: f64, t: [f64; 3]) -> ((f64, [f64; 3]), Option<[bool; 3]>) {
    let (mut binds, mut height) = ([true; 3], 0.0);
    for k in 0..4 {
        let on = binds.map(|on| f64::from(u8::from(on)));
        height = (0..3).fold(n, |sum, k| sum + on[k] * mu[k] * t[k]) / (0..3).fold(1.0, |sum, k| sum + on[k] * mu[k] * mu[k]);
        if k == 0 && height <= 0.0 {
            return ((0.0, [0.0; 3]), None);
        }
        let now = from_fn(|k| t[k] > mu[k] * height);
        if now == binds {
            break;
        }
        binds = now;
    }
    ((height, from_fn(|k| if binds[k] { mu[k] * height / t[k] } else { 1.0 })), Some(binds))
}

/// `(projected normal, factor on the tangential part)` for Coulomb's cone.
#[inline(always)]
pub(super) fn cone_projection(mu: f64, n: f64, t: f64) -> (f64, f64) {
    if mu * t <= -n {
        (0.0, 0.0)
    } else if t <= mu * n {
        (n, 1.0)
    } else {
        let s = (n + mu * t) / (1.0 + mu * mu);
        (s, mu * s / t)
    }
}

/// The same under a bound of the normal part: where the cone alone would leave more, the nearest point lies on the disc of the bound.
#[inline]
pub(super) fn bounded_projection(mu: f64, most: f64, n: f64, t: f64) -> (f64, f64) {
    let (s, scale) = cone_projection(mu, n, t);
    if s <= most { (s, scale) } else { (most, if t <= mu * most { 1.0 } else { mu * most / t }) }
}

/// Products that stand for quotients or roots in a comparison leave it to these where the sides are within rounding.
pub(super) const NEARLY: f64 = 1.0 - 8.0 * f64::EPSILON;

/// Nearest point of `{‖x_t‖ ≤ μ x_n}`; `x = (n, t1, t2)`.
#[inline(always)]
pub fn project_coulomb(mu: f64, x: &mut DVec3) {
    let (square, reach) = (x.y * x.y + x.z * x.z, mu * x.x);
    // most are well inside the cone or its polar: squares tell that, and roots take long
    if x.x > 0.0 && square <= NEARLY * reach * reach {
        return;
    }
    if x.x < 0.0 && mu * mu * square <= NEARLY * x.x * x.x {
        *x = DVec3::ZERO;
        return;
    }
    let (n, scale) = cone_projection(mu, x.x, square.sqrt());
    *x = DVec3::new(n, x.y * scale, x.z * scale);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sets() -> [AdmissibleSet; 11] {
        use AdmissibleSet::*;
        let rolling = Rolling { mu: 0.7, mu_r: 0.2 };
        let interval = Interval { lower: -0.5, upper: 1.0 };
        [
            Free,
            NonNegative,
            interval,
            Coulomb { mu: 0.7 },
            Coulomb { mu: 0.0 },
            SecondOrder { mu: 2.0 },
            Crushing { mu: 0.7, most: 0.6 },
            Crushing { mu: 0.0, most: 0.6 },
            rolling,
            Rolling { mu: 0.5, mu_r: 0.0 },
            Twisting { mu: 0.6, mu_r: 0.3, mu_t: 0.2 },
        ]
    }

    proptest! {
        #[test]
        fn projections_are_idempotent_nonexpansive_and_have_their_derivative(
            x in prop::array::uniform5(-2.0..2.0f64), y in prop::array::uniform5(-2.0..2.0f64),
        ) {
            let distance = |a: &[f64; 5], b: &[f64; 5]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            for set in sets() {
                let (mut px, mut py) = (x, y);
                set.project(&mut px);
                set.project(&mut py);
                prop_assert!(distance(&px, &py) <= distance(&x, &y) + 1e-14);
                let mut again = px;
                set.project(&mut again);
                prop_assert!(distance(&again, &px) <= 1e-15 * (1.0 + distance(&px, &[0.0; 5])));
                // P(x + ε y) − P(x) = ε D y + O(ε²) away from kinks
                let mut d = [0.0; 25];
                set.derivative(&x, &mut d);
                let step: [f64; 5] = std::array::from_fn(|i| x[i] + 1e-7 * y[i]);
                let mut d2 = [0.0; 25];
                set.derivative(&step, &mut d2);
                if d.iter().zip(&d2).all(|(a, b)| (a - b).abs() < 1e-4) {
                    let mut ps = step;
                    set.project(&mut ps);
                    for i in 0..5 {
                        let slope = (0..5).map(|j| d[5 * i + j] * y[j]).sum::<f64>();
                        prop_assert!(((ps[i] - px[i]) / 1e-7 - slope).abs() < 1e-4);
                    }
                }
            }
        }
    }
}
