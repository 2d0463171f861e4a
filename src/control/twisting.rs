//! Twisting: second-order sliding with a bounded input that switches.
//!
//! ```text
//! σ̈ = γ u + …     u ∈ −a Sgn(σ) − b Sgn(σ̇),   a > b > 0
//! explicit   signs at the sampling instant
//! implicit   signs of σ̃ = σ + h σ̇̃,  σ̇̃ = σ̇ + h γ u: one scalar inclusion, monotone in u, solved exactly
//! ```
//!
//! The model of the implicit law is Euler's, not the exact one: exact sampling of two integrators has a zero at −1, and a law that
//! holds σ = 0 at the samples would leave σ̇ alternating for ever. With Euler's model the rest decays, by 1/√2 a sample.
//! Source: Levant, Int. J. Control 58 (1993) 1247; Huber, Acary, Brogliato & Plestan, Control Eng. Pract. 46 (2016) 129.

use super::{ControlError, ControlLaw, Sampling, finite, positive, sign};

/// `u ∈ −a Sgn(σ) − b Sgn(σ̇)` (Siconos: `Twisting`, `ExplicitTwisting`); y is (σ, σ̇).
///
/// ```
/// use drystone::control::{ControlLaw, Sampling, Twisting};
/// let mut law = Twisting::new(2.0, 1.0, 1.0, 0.1, Sampling::Implicit)?;
/// let mut u = [0.0];
/// law.sample(0.0, &[5.0, 1.0], &mut u);
/// assert_eq!(u, [-3.0]);
/// law.sample(0.1, &[0.0, 0.0], &mut u);
/// assert_eq!(u, [0.0]);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Twisting {
    a: f64,
    b: f64,
    sampling: Sampling,
    /// h²γ, hγ
    reach: [f64; 2],
    h: f64,
}

impl Twisting {
    /// Gains a of σ and b < a of σ̇, γ of the plant, and sampling period (s).
    pub fn new(a: f64, b: f64, gamma: f64, period: f64, sampling: Sampling) -> Result<Self, ControlError> {
        positive("the sampling period", period)?;
        positive("the gain of the rate", b)?;
        positive("the gain of the input", gamma)?;
        if !(a > b && a.is_finite()) {
            return Err(ControlError::Range {
                what: "the gain of the variable",
                found: a,
                needed: "more than the gain of the rate is needed".into(),
            });
        }
        positive("the square of the period times the gain of the input", period * period * gamma)?;
        Ok(Self { a, b, sampling, reach: [period * period * gamma, period * gamma], h: period })
    }

    /// The one u with `u ∈ −a Sgn(s₁ + g₁ u) − b Sgn(s₂ + g₂ u)`.
    fn implicit(&self, s: [f64; 2]) -> f64 {
        // the right-hand side falls in steps at u₁ and u₂, where one of the arguments is zero
        let at = [-s[0] / self.reach[0], -s[1] / self.reach[1]];
        let gain = [self.a, self.b];
        let (first, second) = if at[0] <= at[1] { (0, 1) } else { (1, 0) };
        let (low, high) = (at[first], at[second]);
        // levels left of the first step, between them and right of the second
        let left = self.a + self.b;
        let middle = left - 2.0 * gain[first];
        if left <= low {
            left
        } else if middle <= low {
            low
        } else if middle <= high {
            middle
        } else if -left <= high {
            high
        } else {
            -left
        }
    }
}

impl ControlLaw for Twisting {
    fn measurements(&self) -> usize {
        2
    }

    fn inputs(&self) -> usize {
        1
    }

    fn sample(&mut self, _t: f64, y: &[f64], u: &mut [f64]) -> bool {
        u[0] = match self.sampling {
            // comparisons would make a level of it
            _ if !finite(y) => f64::NAN,
            Sampling::Explicit => -self.a * sign(y[0]) - self.b * sign(y[1]),
            Sampling::Implicit => self.implicit([y[0] + self.h * y[1], y[1]]),
        };
        u[0].is_finite()
    }

    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    fn remember(&mut self, _memory: &[f64]) {}

    fn period(&self) -> Option<f64> {
        (self.sampling == Sampling::Implicit).then_some(self.h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::matrix::Matrix;
    use crate::control::LinearModel;
    use crate::numerics::inner::{Auto, ComplementaritySolver};
    use crate::numerics::relay::Relay;

    /// Largest |σ|, |σ̇| of the last fifth and number of changes of sign of u there.
    fn run(sampling: Sampling, h: f64, push: f64) -> ([f64; 2], usize) {
        let mut law = Twisting::new(2.0, 1.0, 1.0, h, sampling).unwrap();
        let mut plant = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2).unwrap().sampled(h).unwrap();
        let (mut x, mut u, samples) = ([1.0, -0.3], [0.0], (40.0 / h) as usize);
        let (mut largest, mut changes) = ([0.0f64; 2], 0);
        for k in 0..samples {
            let before = u[0];
            law.sample(k as f64 * h, &x, &mut u);
            assert!(u[0].abs() <= 3.0);
            plant.advance(&mut x, &[u[0] + push]);
            if k > samples - samples / 5 {
                largest = [largest[0].max(x[0].abs()), largest[1].max(x[1].abs())];
                changes += usize::from(before * u[0] < -1e-20);
            }
        }
        (largest, changes)
    }

    #[test]
    fn implicit_twisting_comes_to_rest_and_explicit_twisting_does_not() {
        for h in [0.01, 0.05, 0.1] {
            let (rest, _) = run(Sampling::Implicit, h, 0.0);
            assert!(rest[0] < 1e-12 && rest[1] < 1e-12, "{rest:?}");
            let (chatter, changes) = run(Sampling::Explicit, h, 0.0);
            assert!(chatter[1] > 0.5 * h && chatter[1] < 20.0 * h && changes > 10, "{chatter:?} {changes}");
        }
    }

    #[test]
    fn a_constant_push_below_the_difference_of_the_gains_is_held_without_chattering() {
        for h in [0.01, 0.05] {
            let (rest, changes) = run(Sampling::Implicit, h, 0.5);
            assert!(rest[0] < h * h && rest[1] < h && changes == 0, "{rest:?} {changes}");
        }
    }

    #[test]
    fn the_closed_form_is_the_solution_of_the_relay_problem() {
        let law = Twisting::new(1.7, 0.6, 1.3, 0.2, Sampling::Implicit).unwrap();
        let [g1, g2] = law.reach;
        let m = Matrix::dense(2, 2, vec![1.7 * g1, 0.6 * g1, 1.7 * g2, 0.6 * g2]);
        for i in -20i32..=20 {
            for j in -20i32..=20 {
                let s = [0.013 * f64::from(i), 0.041 * f64::from(j)];
                let u = law.implicit(s);
                let relay = Relay { m: m.clone(), q: s.to_vec(), lower: vec![-1.0; 2], upper: vec![1.0; 2] };
                let (mut z, mut w) = ([0.0; 2], [0.0; 2]);
                assert!(Auto::default().solve(&relay, &mut z, &mut w).converged(), "{s:?}");
                assert!((1.7 * z[0] + 0.6 * z[1] - u).abs() < 1e-7, "{s:?}: {u} or {z:?}");
            }
        }
    }

    #[test]
    fn gains_that_cannot_twist_are_refused() {
        let error = Twisting::new(1.0, 1.0, 1.0, 0.1, Sampling::Implicit).unwrap_err().to_string();
        assert_eq!(error, "the gain of the variable is 1; more than the gain of the rate is needed");
        assert!(Twisting::new(2.0, 1.0, 1.0, 0.0, Sampling::Implicit).is_err());
    }
}
