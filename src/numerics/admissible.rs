//! The admissible sets of reactions, closed as mathematics has closed them.
//!
//! ```text
//! Free       K = ℝᵈ                joints             u = 0
//! NonNegative K = ℝ₊ᵈ              unilateral         0 ≤ r ⟂ u ≥ 0
//! Interval   K = [a, b]ᵈ           relay, bounds      −u ∈ N_[a,b](r)
//! Coulomb    K = {‖r_t‖ ≤ μ r_n}   contact            r ⟂ u + μ‖u_t‖n   (2 or 3 rows, normal first)
//! SecondOrder K = {‖r_t‖ ≤ μ r_n}  convex cone        r ⟂ u             (the same cone without the shift)
//! Rolling    K = {‖r_t‖ ≤ μ r_n, ‖m‖ ≤ μ_r r_n}       r ⟂ u + (μ‖u_t‖ + μ_r‖ω‖)n   (3 rows n,t,m or 5 rows n,t1,t2,m1,m2)
//! ```

use crate::algebra::dense::norm;
use glam::DVec3;

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
    /// The cone of Coulomb as a convex law (associated sliding): second-order cone complementarity.
    SecondOrder {
        /// Slope of the cone.
        mu: f64,
    },
    /// Coulomb friction with resistance to rolling: rows `(n, t, m)` or `(n, t1, t2, m1, m2)`.
    Rolling {
        /// Friction coefficient.
        mu: f64,
        /// Rolling friction, a length.
        mu_r: f64,
    },
}

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
            Self::Rolling { mu, mu_r } => {
                let half = x.len() / 2;
                let (t, m) = (norm(&x[1..=half]), norm(&x[half + 1..]));
                let (n, scale_t, scale_m) = rolling_projection([mu, mu_r], x[0], [t, m]).0;
                x[0] = n;
                x[1..=half].iter_mut().for_each(|x| *x *= scale_t);
                x[half + 1..].iter_mut().for_each(|x| *x *= scale_m);
            }
        }
    }

    /// True for the sets whose law has a De Saxcé shift.
    pub fn shifted(self) -> bool {
        matches!(self, Self::Coulomb { .. } | Self::Rolling { .. })
    }

    /// The De Saxcé shift `g(u)` of the first row: `μ‖u_t‖` for friction, 0 elsewhere.
    pub fn shift(self, u: &[f64]) -> f64 {
        match self {
            Self::Coulomb { mu } => mu * norm(&u[1..]),
            Self::Rolling { mu, mu_r } => {
                let half = u.len() / 2;
                mu * norm(&u[1..=half]) + mu_r * norm(&u[half + 1..])
            }
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
            Self::Rolling { mu, mu_r } => {
                let half = n / 2;
                let (t, m) = (norm(&x[1..=half]), norm(&x[half + 1..]));
                let ((s, ..), active) = rolling_projection([mu, mu_r], x[0], [t, m]);
                match active {
                    None => {}
                    Some([false, false]) => (0..n).for_each(|i| d[i * n + i] = 1.0),
                    Some([true, false]) => {
                        cone_derivative(&[(mu, 1..half + 1, t)], s, x, d);
                        (half + 1..n).for_each(|i| d[i * n + i] = 1.0);
                    }
                    Some([false, true]) => {
                        cone_derivative(&[(mu_r, half + 1..n, m)], s, x, d);
                        (1..=half).for_each(|i| d[i * n + i] = 1.0);
                    }
                    Some([true, true]) => cone_derivative(&[(mu, 1..half + 1, t), (mu_r, half + 1..n, m)], s, x, d),
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

/// `(projected normal, factor on the tangent, factor on the moment)` and which discs bind (`None`: the apex).
///
/// Each choice of binding discs gives a height s; the one whose discs bind at that height is the projection. Where rounding at a
/// border leaves none, the radii cut to `μ s` make each a point of the set, and the nearest is taken (distances alone would tell
/// points apart to half of the digits only).
fn rolling_projection(mu: [f64; 2], n: f64, t: [f64; 2]) -> ((f64, f64, f64), Option<[bool; 2]>) {
    let mut nearest = ((0.0, 0.0, 0.0), None, n * n + t[0] * t[0] + t[1] * t[1]);
    for choice in [[false, false], [true, false], [false, true], [true, true]] {
        let on = choice.map(|on| f64::from(u8::from(on)));
        let s = (n + on[0] * mu[0] * t[0] + on[1] * mu[1] * t[1]) / (1.0 + on[0] * mu[0] * mu[0] + on[1] * mu[1] * mu[1]);
        if s <= 0.0 {
            continue;
        }
        let active = [t[0] > mu[0] * s, t[1] > mu[1] * s];
        let radius = [0, 1].map(|i| if active[i] { mu[i] * s } else { t[i] });
        let scale = |i: usize| if active[i] { radius[i] / t[i] } else { 1.0 };
        let point = (s, scale(0), scale(1));
        if active == choice {
            return (point, Some(active));
        }
        let distance = (s - n).powi(2) + (radius[0] - t[0]).powi(2) + (radius[1] - t[1]).powi(2);
        if distance < nearest.2 {
            nearest = (point, Some(active), distance);
        }
    }
    (nearest.0, nearest.1)
}

/// `(projected normal, factor on the tangential part)` for Coulomb's cone.
#[inline]
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

/// Nearest point of `{‖x_t‖ ≤ μ x_n}`; `x = (n, t1, t2)`.
#[inline]
pub fn project_coulomb(mu: f64, x: &mut DVec3) {
    let t = (x.y * x.y + x.z * x.z).sqrt();
    let (n, scale) = cone_projection(mu, x.x, t);
    *x = DVec3::new(n, x.y * scale, x.z * scale);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sets() -> [AdmissibleSet; 8] {
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
            rolling,
            Rolling { mu: 0.5, mu_r: 0.0 },
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
