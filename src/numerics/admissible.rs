//! The admissible sets of reactions, closed as mathematics has closed them.
//!
//! ```text
//! Free       K = ℝᵈ                joints             u = 0
//! NonNegative K = ℝ₊ᵈ              unilateral         0 ≤ r ⟂ u ≥ 0
//! Interval   K = [a, b]ᵈ           relay, bounds      −u ∈ N_[a,b](r)
//! Coulomb    K = {‖r_t‖ ≤ μ r_n}   contact            r ⟂ u + μ‖u_t‖n   (2 or 3 rows, normal first)
//! ```

use glam::DVec3;

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
}

impl AdmissibleSet {
    /// Moves `x` to the nearest admissible point.
    pub fn project(self, x: &mut [f64]) {
        match self {
            Self::Free => {}
            Self::NonNegative => x.iter_mut().for_each(|x| *x = x.max(0.0)),
            Self::Interval { lower, upper } => x.iter_mut().for_each(|x| *x = x.clamp(lower, upper)),
            Self::Coulomb { mu } => {
                let t = x[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
                let (n, scale) = cone_projection(mu, x[0], t);
                x[0] = n;
                x[1..].iter_mut().for_each(|x| *x *= scale);
            }
        }
    }

    /// The De Saxcé shift `g(u)` of the first row: `μ‖u_t‖` for friction, 0 elsewhere.
    pub fn shift(self, u: &[f64]) -> f64 {
        match self {
            Self::Coulomb { mu } => mu * u[1..].iter().map(|x| x * x).sum::<f64>().sqrt(),
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
            Self::Coulomb { mu } => {
                let t = x[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
                if mu * t <= -x[0] {
                    return;
                }
                if t <= mu * x[0] {
                    (0..n).for_each(|i| d[i * n + i] = 1.0);
                    return;
                }
                let k = 1.0 / (1.0 + mu * mu);
                let s = (x[0] + mu * t) * k;
                d[0] = k;
                for i in 1..n {
                    let ti = x[i] / t;
                    d[i] = k * mu * ti;
                    d[i * n] = d[i];
                    for j in 1..n {
                        let tt = ti * x[j] / t;
                        d[i * n + j] = k * mu * mu * tt + mu * s / t * (f64::from(u8::from(i == j)) - tt);
                    }
                }
            }
        }
    }
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

    fn sets() -> [AdmissibleSet; 5] {
        use AdmissibleSet::*;
        [Free, NonNegative, Interval { lower: -0.5, upper: 1.0 }, Coulomb { mu: 0.7 }, Coulomb { mu: 0.0 }]
    }

    proptest! {
        #[test]
        fn projections_are_idempotent_nonexpansive_and_have_their_derivative(
            x in prop::array::uniform3(-2.0..2.0f64), y in prop::array::uniform3(-2.0..2.0f64),
        ) {
            let distance = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            for set in sets() {
                let (mut px, mut py) = (x, y);
                set.project(&mut px);
                set.project(&mut py);
                prop_assert!(distance(&px, &py) <= distance(&x, &y) + 1e-14);
                let mut again = px;
                set.project(&mut again);
                prop_assert!(distance(&again, &px) <= 1e-15 * (1.0 + distance(&px, &[0.0; 3])));
                // P(x + ε y) − P(x) = ε D y + O(ε²) away from kinks
                let mut d = [0.0; 9];
                set.derivative(&x, &mut d);
                let step = [x[0] + 1e-7 * y[0], x[1] + 1e-7 * y[1], x[2] + 1e-7 * y[2]];
                let mut d2 = [0.0; 9];
                set.derivative(&step, &mut d2);
                if d.iter().zip(&d2).all(|(a, b)| (a - b).abs() < 1e-4) {
                    let mut ps = step;
                    set.project(&mut ps);
                    for i in 0..3 {
                        let slope = (0..3).map(|j| d[3 * i + j] * y[j]).sum::<f64>();
                        prop_assert!(((ps[i] - px[i]) / 1e-7 - slope).abs() < 1e-4);
                    }
                }
            }
        }
    }
}
