//! What is measured, and how late it arrives.

use super::linear::add;
use super::{ControlError, size};
use std::collections::VecDeque;

/// `y = C x + D u`, some samples late (Siconos: `ControlSensor`, `LinearSensor`).
///
/// ```
/// use drystone::control::Sensor;
/// let mut position = Sensor::new([1.0, 0.0], 2)?.with_delay(1);
/// assert_eq!(position.sample(&[5.0, -1.0], &[]), [5.0]);
/// assert_eq!(position.sample(&[4.0, -1.0], &[]), [5.0]);
/// assert_eq!(position.sample(&[3.0, -1.0], &[]), [4.0]);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    n: usize,
    p: usize,
    c: Vec<f64>,
    d: Vec<f64>,
    delay: usize,
    line: VecDeque<Vec<f64>>,
    y: Vec<f64>,
}

impl Sensor {
    /// A linear sensor of n states, C row by row.
    pub fn new(c: impl Into<Vec<f64>>, n: usize) -> Result<Self, ControlError> {
        let c = c.into();
        if n == 0 || c.is_empty() || !c.len().is_multiple_of(n) {
            return Err(ControlError::Size { what: "C", found: c.len(), needed: format!("{n} for each measured value, at least one,") });
        }
        let m = c.len() / n;
        size("C", &c, m, n)?;
        Ok(Self { n, p: 0, c, d: Vec::new(), delay: 0, line: VecDeque::new(), y: vec![0.0; m] })
    }

    /// All n states.
    pub fn full(n: usize) -> Self {
        let c = (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
        Self { n, p: 0, c, d: Vec::new(), delay: 0, line: VecDeque::new(), y: vec![0.0; n] }
    }

    /// With D, row by row, one column for each input.
    pub fn with_feedthrough(self, d: impl Into<Vec<f64>>) -> Result<Self, ControlError> {
        let d = d.into();
        let m = self.y.len();
        let p = d.len() / m.max(1);
        size("D", &d, m, p)?;
        Ok(Self { d, p, ..self })
    }

    /// With a delay of this many sampling periods; until then the first value is repeated.
    #[must_use]
    pub fn with_delay(self, samples: usize) -> Self {
        Self { delay: samples, ..self }
    }

    /// Number of states that it looks at.
    pub fn states(&self) -> usize {
        self.n
    }

    /// Number of inputs that it looks at.
    pub fn inputs(&self) -> usize {
        self.p
    }

    /// Number of measured values.
    pub fn measurements(&self) -> usize {
        self.y.len()
    }

    /// With the delay that it has, as many numbers as it may ever keep.
    pub(super) fn kept(&self) -> usize {
        self.delay.saturating_add(1).saturating_mul(self.y.len())
    }

    /// The numbers that it remembers from one sample to the next, always as many: how many values are on their way, these, the oldest first,
    /// and what arrived last.
    ///
    /// ```
    /// use drystone::control::Sensor;
    /// let mut late = Sensor::full(1).with_delay(1);
    /// late.sample(&[5.0], &[]);
    /// let mut same = Sensor::full(1).with_delay(1);
    /// same.remember(&late.memory());
    /// assert_eq!(late.sample(&[6.0], &[]), same.sample(&[6.0], &[]));
    /// ```
    pub fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.line.len() as f64];
        memory.extend(self.line.iter().flatten());
        memory.resize(1 + self.kept(), 0.0);
        memory.extend(&self.y);
        memory
    }

    /// Takes back what [`memory`](Self::memory) gave of a sensor made alike.
    pub fn remember(&mut self, memory: &[f64]) {
        let (m, kept) = (self.y.len(), self.kept());
        if memory.len() == 1 + kept + m && m > 0 {
            self.line = memory[1..1 + kept].chunks_exact(m).take(memory[0] as usize).map(<[f64]>::to_vec).collect();
            self.y.copy_from_slice(&memory[1 + kept..]);
        }
    }

    /// The value that arrives now; u are at least as many inputs as D has columns.
    pub fn sample(&mut self, x: &[f64], u: &[f64]) -> &[f64] {
        // the oldest value makes room for the newest
        let mut newest = if self.line.len() > self.delay { self.line.pop_front().unwrap_or_default() } else { Vec::new() };
        newest.clear();
        newest.resize(self.y.len(), 0.0);
        add(&self.c, x, &mut newest);
        add(&self.d, &u[..self.p], &mut newest);
        self.line.push_back(newest);
        self.y.copy_from_slice(&self.line[0]);
        &self.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_shifts_the_whole_series_and_repeats_its_start() {
        for delay in 0..5 {
            let mut sensor = Sensor::new([1.0, 2.0, 0.0, 1.0], 2).unwrap().with_feedthrough([0.0, 3.0]).unwrap().with_delay(delay);
            for k in 0..20i32 {
                let then = f64::from((k - delay as i32).max(0));
                let (x, u) = ([f64::from(k), 1.0], [2.0 * f64::from(k)]);
                assert_eq!(sensor.sample(&x, &u), [then + 2.0, 1.0 + 6.0 * then]);
            }
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_named() {
        assert!(Sensor::new([1.0; 3], 2).unwrap_err().to_string().starts_with("C holds 3 values"));
        assert!(Sensor::new([f64::NAN; 2], 2).unwrap_err().to_string().starts_with("C is NaN"));
        assert!(Sensor::full(2).with_feedthrough([1.0; 3]).unwrap_err().to_string().starts_with("D holds 3 values"));
    }
}
