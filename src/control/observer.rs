//! Observers: the state from what is measured.
//!
//! ```text
//! Luenberger   x̂_k+1 = Φ x̂_k + Ψ (B u_k + L (y_k − C x̂_k)): the error obeys e_k+1 = (Φ − ΨLC) e_k
//! sliding      x̂_k = Φ x̂_k−1 + Ψ (B u_k−1 + E w),   w ∈ −g Sgn(C x̂_k − y_k): a relay problem in CΨE
//! ```

use super::linear::{LinearModel, Sampled, SetValued, add, is_positive, multiply, product};
use super::{ControlError, finite, positive, size};

/// An observer that is sampled.
///
/// ```
/// use drystone::control::{LinearModel, Luenberger, StateObserver};
/// let model = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2)?;
/// let mut observer = Luenberger::new(&model, [1.0, 0.0], [4.0, 4.0], [0.0, 0.0], 0.01)?;
/// observer.sample(&[1.0], &[0.0]);
/// observer.sample(&[1.0], &[0.0]);
/// assert!(observer.state()[0] > 0.039);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
pub trait StateObserver {
    /// Number of measured values that it takes.
    fn measurements(&self) -> usize;

    /// Number of inputs that it takes.
    fn inputs(&self) -> usize;

    /// Takes the measurement `y` of now; `u` is the input held since the last sample. False where a problem of the observer's own
    /// was not solved to its tolerance, and where x̂ is not finite.
    fn sample(&mut self, y: &[f64], u: &[f64]) -> bool;

    /// x̂ of now.
    fn state(&self) -> &[f64];

    /// The numbers that it remembers from one sample to the next, x̂ among them, always as many.
    fn memory(&self) -> Vec<f64>;

    /// Takes back what [`memory`](Self::memory) gave of an observer made alike.
    fn remember(&mut self, memory: &[f64]);

    /// The sampling period (s) for which it was made, the one at which [`install::observer`](super::install::observer) has to sample it;
    /// `None` where any does.
    fn period(&self) -> Option<f64> {
        None
    }
}

/// Two vectors, and whether there has been a sample yet.
fn memory(parts: [&Vec<f64>; 2], started: bool) -> Vec<f64> {
    parts.into_iter().flatten().copied().chain([f64::from(u8::from(started))]).collect()
}

fn remember(parts: [&mut Vec<f64>; 2], memory: &[f64]) -> bool {
    parts.into_iter().flatten().zip(memory).for_each(|(x, &was)| *x = was);
    memory.last() == Some(&1.0)
}

fn rows_of(c: &[f64], n: usize) -> Result<usize, ControlError> {
    if c.is_empty() || !c.len().is_multiple_of(n) {
        return Err(ControlError::Size { what: "C", found: c.len(), needed: format!("{n} for each measured value, at least one,") });
    }
    let m = c.len() / n;
    size("C", c, m, n)?;
    Ok(m)
}

/// Linear observer with gain L (Siconos: `LuenbergerObserver`).
///
/// ```
/// use drystone::control::{LinearModel, Luenberger};
/// let model = LinearModel::new([-1.0], [1.0], 1)?;
/// assert!(Luenberger::new(&model, [1.0], [2.0, 3.0], [0.0], 0.1).is_err());
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Luenberger {
    sampled: Sampled,
    c: Vec<f64>,
    /// ΨL
    correction: Vec<f64>,
    x: Vec<f64>,
    /// y − C x̂ of the last sample
    innovation: Vec<f64>,
    started: bool,
    next: Vec<f64>,
}

impl Luenberger {
    /// C (m × n) and L (n × m) row by row, first estimate x̂₀ and sampling period (s).
    pub fn new(
        model: &LinearModel,
        c: impl Into<Vec<f64>>,
        l: impl Into<Vec<f64>>,
        x: impl Into<Vec<f64>>,
        period: f64,
    ) -> Result<Self, ControlError> {
        let (n, c, l, x) = (model.states(), c.into(), l.into(), x.into());
        let m = rows_of(&c, n)?;
        size("L", &l, n, m)?;
        size("the first estimate", &x, n, 1)?;
        let sampled = model.sampled(period)?;
        let correction = product(&sampled.psi, &l, n, n, m);
        Ok(Self { sampled, c, correction, innovation: vec![0.0; m], next: x.clone(), x, started: false })
    }
}

impl StateObserver for Luenberger {
    fn measurements(&self) -> usize {
        self.innovation.len()
    }

    fn inputs(&self) -> usize {
        self.sampled.inputs()
    }

    fn sample(&mut self, y: &[f64], u: &[f64]) -> bool {
        if self.started {
            multiply(&self.sampled.phi, &self.x, &mut self.next);
            add(&self.sampled.psi_b, u, &mut self.next);
            add(&self.correction, &self.innovation, &mut self.next);
            self.x.copy_from_slice(&self.next);
        }
        self.started = true;
        multiply(&self.c, &self.x, &mut self.innovation);
        self.innovation.iter_mut().zip(y).for_each(|(e, y)| *e = y - *e);
        finite(&self.x) && finite(&self.innovation)
    }

    fn memory(&self) -> Vec<f64> {
        memory([&self.x, &self.innovation], self.started)
    }

    fn remember(&mut self, memory: &[f64]) {
        self.started = remember([&mut self.x, &mut self.innovation], memory);
    }

    fn state(&self) -> &[f64] {
        &self.x
    }

    fn period(&self) -> Option<f64> {
        Some(self.sampled.period())
    }
}

/// Observer with a set-valued correction, sampled implicitly (Siconos: `SlidingReducedOrderObserver`).
///
/// Once the correction stays below its bound, C x̂ = y at every sample, and what is left of the error has the order of the rest.
///
/// ```
/// use drystone::control::{LinearModel, SlidingObserver, StateObserver};
/// let model = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2)?;
/// let mut observer = SlidingObserver::new(&model, [1.0, 0.0], [1.0, 2.0], 5.0, [0.0, 0.0], 0.1)?;
/// observer.sample(&[0.2], &[0.0]);
/// observer.sample(&[0.2], &[0.0]);
/// assert!((observer.state()[0] - 0.2).abs() < 1e-14);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlidingObserver {
    sampled: Sampled,
    c: Vec<f64>,
    /// ΨE
    correction: Vec<f64>,
    problem: SetValued,
    x: Vec<f64>,
    w: Vec<f64>,
    started: bool,
}

impl SlidingObserver {
    /// C (m × n) and E (n × m) row by row, bound g of each correction, first estimate and sampling period (s).
    pub fn new(
        model: &LinearModel,
        c: impl Into<Vec<f64>>,
        e: impl Into<Vec<f64>>,
        bound: f64,
        x: impl Into<Vec<f64>>,
        period: f64,
    ) -> Result<Self, ControlError> {
        let (n, c, e, x) = (model.states(), c.into(), e.into(), x.into());
        let m = rows_of(&c, n)?;
        size("E", &e, n, m)?;
        size("the first estimate", &x, n, 1)?;
        positive("the bound", bound)?;
        let sampled = model.sampled(period)?;
        let correction = product(&sampled.psi, &e, n, n, m);
        let reach = product(&c, &correction, m, n, m);
        if !is_positive(&reach, m) {
            return Err(ControlError::NotReached);
        }
        Ok(Self { sampled, c, correction, problem: SetValued::new(reach, m, bound), x, w: vec![0.0; m], started: false })
    }
}

impl StateObserver for SlidingObserver {
    fn measurements(&self) -> usize {
        self.w.len()
    }

    fn inputs(&self) -> usize {
        self.sampled.inputs()
    }

    fn sample(&mut self, y: &[f64], u: &[f64]) -> bool {
        if !self.started {
            self.started = true;
            return true;
        }
        self.sampled.advance(&mut self.x, u);
        let q = &mut self.problem.relay.q;
        multiply(&self.c, &self.x, q);
        q.iter_mut().zip(y).for_each(|(q, y)| *q -= y);
        let solved = self.problem.solve(&mut self.w);
        add(&self.correction, &self.w, &mut self.x);
        solved && finite(&self.x)
    }

    fn memory(&self) -> Vec<f64> {
        memory([&self.x, &self.w], self.started)
    }

    fn remember(&mut self, memory: &[f64]) {
        self.started = remember([&mut self.x, &mut self.w], memory);
    }

    fn state(&self) -> &[f64] {
        &self.x
    }

    fn period(&self) -> Option<f64> {
        Some(self.sampled.period())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors |x̂ − x| at the samples, of an oscillator under a known input.
    fn errors(observer: &mut impl StateObserver, model: &LinearModel, h: f64, samples: usize) -> Vec<f64> {
        let mut plant = model.sampled(h).unwrap();
        let (mut x, mut u) = ([1.0, -2.0], [0.0]);
        (0..samples)
            .map(|k| {
                assert!(observer.sample(&x[..1], &u));
                let e = observer.state().iter().zip(&x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
                u[0] = (0.3 * k as f64).sin();
                plant.advance(&mut x, &u);
                e
            })
            .collect()
    }

    #[test]
    fn the_linear_observer_converges_at_the_rate_of_its_poles() {
        // A − LC has a double pole at −3, then a pair −2 ± 4i
        let model = LinearModel::new([0.0, 1.0, -4.0, -0.5], [0.0, 1.0], 2).unwrap();
        for (trace, determinant) in [(-6.0, 9.0), (-4.0, 20.0)] {
            // A − LC = [−l₁ 1; −4 − l₂ −½]
            let l1 = -trace - 0.5;
            let l2 = determinant - 0.5 * l1 - 4.0;
            let h = 1e-3;
            let mut observer = Luenberger::new(&model, [1.0, 0.0], [l1, l2], [0.0, 0.0], h).unwrap();
            let e = errors(&mut observer, &model, h, 8000);
            // over a whole turn of the pair: π/2
            let (from, to) = (3000, 3000 + if determinant == 9.0 { 2000 } else { 1571 });
            let rate = (e[to] / e[from]).ln() / ((to - from) as f64 * h);
            let expected = trace / 2.0 + if determinant == 9.0 { (5.0f64 / 3.0).ln() / 2.0 } else { 0.0 };
            assert!((rate - expected).abs() < 0.15, "{rate} instead of {expected}");
            assert!(e[7999] < 1e-6);
        }
    }

    #[test]
    fn the_linear_observer_obeys_its_error_equation_to_rounding() {
        let model = LinearModel::new([0.0, 1.0, -4.0, -0.5], [0.0, 1.0], 2).unwrap();
        let mut observer = Luenberger::new(&model, [1.0, 0.0], [3.0, 1.0], [0.0, 0.0], 0.1).unwrap();
        let sampled = model.sampled(0.1).unwrap();
        let mut e = [-1.0f64, 2.0];
        for found in errors(&mut observer, &model, 0.1, 60) {
            assert!((found - e[0].hypot(e[1])).abs() < 1e-14, "{found}");
            let correction = product(&sampled.psi, &[3.0, 1.0], 2, 2, 1);
            let next: Vec<f64> = (0..2).map(|i| sampled.phi[2 * i] * e[0] + sampled.phi[2 * i + 1] * e[1] - correction[i] * e[0]).collect();
            e.copy_from_slice(&next);
        }
    }

    #[test]
    fn the_sliding_observer_reaches_the_measurement_and_then_the_state() {
        let model = LinearModel::new([0.0, 1.0, -4.0, -0.5], [0.0, 1.0], 2).unwrap();
        for h in [0.001, 0.01, 0.05] {
            let mut observer = SlidingObserver::new(&model, [1.0, 0.0], [1.0, 3.0], 10.0, [0.0, 0.0], h).unwrap();
            let e = errors(&mut observer, &model, h, (12.0 / h) as usize);
            assert!(e[e.len() - 1] < 1e-9, "h = {h}: {:e}", e[e.len() - 1]);
        }
        assert!(matches!(SlidingObserver::new(&model, [1.0, 0.0], [-1.0, 0.0], 1.0, [0.0; 2], 0.1), Err(ControlError::NotReached)));
    }
}
