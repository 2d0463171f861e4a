//! The proportional, integral and derivative law, by increments.

use super::{ControlError, ControlLaw, positive};

/// `u += (K_p + K_d/h + K_i h) e₀ − (K_p + 2 K_d/h) e₁ + (K_d/h) e₂` with `e = reference − y`, newest first (Siconos: `PID`).
///
/// The increments act on the input that was held, so a [`Saturated`](super::Saturated) law does not wind up.
///
/// ```
/// use drystone::control::{ControlLaw, Pid};
/// let mut pid = Pid::new(0.25, 0.125, 2.0, 0.05)?;
/// let mut u = [0.0];
/// pid.sample(0.0, &[10.0], &mut u);
/// assert!((u[0] + 402.5625).abs() < 1e-12);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pid {
    /// Value that y is to take; may be changed between samples.
    pub reference: f64,
    period: f64,
    factors: [f64; 3],
    errors: [f64; 2],
}

impl Pid {
    /// Gains K_p, K_i (1/s) and K_d (s), sampled every `period` (s); reference 0.
    pub fn new(proportional: f64, integral: f64, derivative: f64, period: f64) -> Result<Self, ControlError> {
        positive("the sampling period", period)?;
        for (what, found) in [("K_p", proportional), ("K_i", integral), ("K_d", derivative)] {
            if !found.is_finite() {
                return Err(ControlError::Range { what, found, needed: "a finite number is needed".into() });
            }
        }
        let d = derivative / period;
        let factors = [proportional + d + integral * period, -proportional - 2.0 * d, d];
        if let Some(&found) = factors.iter().find(|x| !x.is_finite()) {
            let needed = "gains and a period that leave it finite are needed".into();
            return Err(ControlError::Range { what: "the sum of K_p, K_d/h and K_i h", found, needed });
        }
        Ok(Self { reference: 0.0, period, factors, errors: [0.0; 2] })
    }
}

impl ControlLaw for Pid {
    fn measurements(&self) -> usize {
        1
    }

    fn inputs(&self) -> usize {
        1
    }

    fn sample(&mut self, _t: f64, y: &[f64], u: &mut [f64]) -> bool {
        let (e, [e1, e2], [a, b, c]) = (self.reference - y[0], self.errors, self.factors);
        u[0] += a * e + b * e1 + c * e2;
        self.errors = [e, e1];
        u[0].is_finite()
    }

    fn memory(&self) -> Vec<f64> {
        let [e0, e1] = self.errors;
        vec![self.reference, e0, e1]
    }

    fn remember(&mut self, memory: &[f64]) {
        if let &[reference, e0, e1] = memory {
            (self.reference, self.errors) = (reference, [e0, e1]);
        }
    }

    fn period(&self) -> Option<f64> {
        Some(self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LinearModel, Saturated};
    use super::*;

    /// The last of `samples` states of a double integrator that starts at rest at 10.
    fn regulate(law: &mut impl ControlLaw, period: f64, disturbance: f64, samples: usize) -> ([f64; 2], f64) {
        let mut plant = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2).unwrap().sampled(period).unwrap();
        let (mut x, mut u, mut largest) = ([10.0, 0.0], [0.0], 0.0f64);
        for k in 0..samples {
            law.sample(k as f64 * period, &x[..1], &mut u);
            largest = largest.max(u[0].abs());
            plant.advance_disturbed(&mut x, &u, &[0.0, disturbance]);
        }
        (x, largest)
    }

    #[test]
    fn a_double_integrator_comes_to_its_reference_in_spite_of_a_constant_load() {
        for load in [0.0, 0.7] {
            let mut pid = Pid { reference: -3.0, ..Pid::new(0.25, 0.02, 1.0, 0.05).unwrap() };
            let (x, _) = regulate(&mut pid, 0.05, load, 8000);
            assert!((x[0] + 3.0).abs() < 1e-9 && x[1].abs() < 1e-9, "{x:?}");
        }
    }

    #[test]
    fn a_saturated_law_keeps_its_bounds_and_still_arrives() {
        let law = Pid::new(0.25, 0.01, 1.0, 0.05).unwrap();
        let (x, largest) = regulate(&mut Saturated::new(law, -0.4, 0.4).unwrap(), 0.05, 0.0, 20_000);
        assert_eq!(largest, 0.4);
        assert!(x[0].abs() < 1e-6, "{x:?}");
    }
}
