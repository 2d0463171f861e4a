//! Super-twisting: second-order sliding with a continuous input, from σ alone.
//!
//! ```text
//! σ̇ = γ u + …     u = −k₁ |σ|^½ sgn σ + v,   v̇ ∈ −k₂ Sgn(σ)
//! implicit   σ̃ = σ + hγ u,   u = −k₁ |σ̃|^½ sgn σ̃ + v⁺,   v⁺ ∈ v − h k₂ Sgn(σ̃)
//!            so  σ̃ + hγ k₁ |σ̃|^½ sgn σ̃ + h²γ k₂ Sgn(σ̃) ∋ σ + hγ v:  quadratic in |σ̃|^½
//! ```
//!
//! Source: Levant, Int. J. Control 58 (1993) 1247; Brogliato, Polyakov & Efimov, IEEE Trans. Autom. Control 65 (2020) 3707.

use super::{ControlError, ControlLaw, Sampling, positive, sign};

/// `u = −k₁ |σ|^½ sgn σ − ∫ k₂ Sgn(σ)`; y is σ. There is no class for it in Siconos.
///
/// ```
/// use drystone::control::{ControlLaw, Sampling, SuperTwisting};
/// let mut law = SuperTwisting::new(1.5, 1.1, 1.0, 0.1, Sampling::Implicit)?;
/// let (mut sigma, mut u) = (1.0, [0.0]);
/// for k in 0..200 {
///     law.sample(0.1 * k as f64, &[sigma], &mut u);
///     sigma += 0.1 * u[0];
/// }
/// assert!(sigma.abs() < 1e-14 && u[0].abs() < 1e-12);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SuperTwisting {
    k1: f64,
    k2: f64,
    gamma: f64,
    h: f64,
    sampling: Sampling,
    v: f64,
}

impl SuperTwisting {
    /// Gains k₁ and k₂, γ of the plant, and sampling period (s).
    pub fn new(k1: f64, k2: f64, gamma: f64, period: f64, sampling: Sampling) -> Result<Self, ControlError> {
        positive("the gain k₁", k1)?;
        positive("the gain k₂", k2)?;
        positive("the gain of the input", gamma)?;
        positive("the sampling period", period)?;
        positive("the square of the period times the gain of the input", period * period * gamma)?;
        Ok(Self { k1, k2, gamma, h: period, sampling, v: 0.0 })
    }

    /// v: in sliding the estimate of −disturbance / γ.
    pub fn integral(&self) -> f64 {
        self.v
    }
}

impl ControlLaw for SuperTwisting {
    fn measurements(&self) -> usize {
        1
    }

    fn inputs(&self) -> usize {
        1
    }

    fn sample(&mut self, _t: f64, y: &[f64], u: &mut [f64]) -> bool {
        let (sigma, h) = (y[0], self.h);
        match self.sampling {
            Sampling::Explicit => {
                u[0] = -self.k1 * sigma.abs().sqrt() * sign(sigma) + self.v;
                self.v -= h * self.k2 * sign(sigma);
            }
            Sampling::Implicit => {
                let step = h * self.gamma;
                let free = sigma + step * self.v;
                let excess = free.abs() - step * h * self.k2;
                if excess <= 0.0 {
                    // σ̃ = 0, v⁺ within its reach
                    u[0] = -sigma / step;
                    self.v = u[0];
                } else {
                    let b = step * self.k1;
                    let root = 2.0 * excess / (b + (b * b + 4.0 * excess).sqrt());
                    self.v -= h * self.k2 * sign(free);
                    u[0] = self.v - self.k1 * root * sign(free);
                }
            }
        }
        u[0].is_finite()
    }

    fn memory(&self) -> Vec<f64> {
        vec![self.v]
    }

    fn remember(&mut self, memory: &[f64]) {
        memory.iter().for_each(|&v| self.v = v);
    }

    fn period(&self) -> Option<f64> {
        Some(self.h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest |σ| of the second half, and the law at the end.
    fn run(sampling: Sampling, h: f64, push: impl Fn(f64) -> f64) -> (f64, SuperTwisting) {
        let mut law = SuperTwisting::new(1.5, 1.1, 1.0, h, sampling).unwrap();
        let (mut sigma, mut u, mut largest, samples) = (2.0, [0.0], 0.0f64, (30.0 / h) as usize);
        for k in 0..samples {
            law.sample(k as f64 * h, &[sigma], &mut u);
            sigma += h * (u[0] + push(k as f64 * h));
            if k > samples / 2 {
                largest = largest.max(sigma.abs());
            }
        }
        (largest, law)
    }

    #[test]
    fn implicit_super_twisting_is_at_rest_after_a_finite_time() {
        for h in [1e-3, 0.01, 0.1, 0.3] {
            let (largest, law) = run(Sampling::Implicit, h, |_| 0.0);
            assert!(largest < 1e-12 && law.integral().abs() < 1e-11, "h = {h}: {largest:e} {:e}", law.integral());
        }
    }

    #[test]
    fn explicit_super_twisting_chatters_with_the_square_of_the_period() {
        let (coarse, fine) = (run(Sampling::Explicit, 0.02, |_| 0.0).0, run(Sampling::Explicit, 0.01, |_| 0.0).0);
        assert!(coarse < 20.0 * 0.02 * 0.02 && coarse / fine > 3.0 && coarse / fine < 5.0, "{coarse:e} {fine:e}");
    }

    #[test]
    fn the_integral_learns_the_disturbance_and_the_variable_stays_within_its_work_of_a_period() {
        for h in [1e-3, 0.01] {
            let (largest, law) = run(Sampling::Implicit, h, |_| 0.8);
            assert!((law.integral() + 0.8).abs() < 1e-9, "{}", law.integral());
            assert!(largest <= 0.8 * h * (1.0 + 1e-9), "{largest:e}");
            let (largest, _) = run(Sampling::Implicit, h, |t| 0.5 * t.sin());
            assert!(largest <= 0.51 * h, "{largest:e}");
        }
    }
}
