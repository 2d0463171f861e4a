//! First-order sliding mode on a linear variable.
//!
//! ```text
//! σ = C x,   u = u_eq + u_s + u_d                             h: sampling period
//! explicit   u_eq = −(CB)⁻¹ C A x                             u_s = −α sgn(σ_k)
//! implicit   u_eq = (CΨB)⁻¹ C (1 − Φ) x: keeps σ as it is     −(CΨB u_s + σ_k) ∈ N_[−α, α](u_s), which is u_s ∈ −α Sgn(σ̃_k+1)
//! prediction u_d = −(CΨB)⁻¹ (σ_k − σ̃_k): what the model did not foresee is expected again
//! ```

use super::linear::{LinearModel, SetValued, add, is_positive, multiply, product};
use super::{ControlError, ControlLaw, Sampling, finite, not_negative, positive, sign, size};
use crate::algebra::factor::Lu;

/// Sliding mode with equivalent control (Siconos: `LinearSMC`, `ExplicitLinearSMC`, `LinearSMCimproved`); y is the whole state.
///
/// Against a disturbance of the input below α the implicit law keeps |σ| within what the disturbance does in one period;
/// with prediction within what the *change* of the disturbance does.
///
/// ```
/// use drystone::control::{ControlLaw, LinearModel, Sampling, SlidingMode};
/// // ẋ = −sgn x with h = 0.3: at 0 from the fourth sample on
/// let model = LinearModel::new([0.0], [1.0], 1)?;
/// let mut law = SlidingMode::new(&model, [1.0], 1.0, 0.3, Sampling::Implicit)?;
/// let (mut plant, mut x, mut u) = (model.sampled(0.3)?, [1.0], [0.0]);
/// for k in 0..10 {
///     law.sample(0.3 * k as f64, &x, &mut u);
///     plant.advance(&mut x, &u);
/// }
/// assert!(x[0].abs() < 1e-15);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlidingMode {
    period: f64,
    n: usize,
    p: usize,
    c: Vec<f64>,
    alpha: f64,
    sampling: Sampling,
    equivalent: Vec<f64>,
    problem: SetValued,
    /// CΨB
    reach: Lu,
    sigma: Vec<f64>,
    u_s: Vec<f64>,
    /// bound of u_d, where there is prediction
    prediction: Option<f64>,
    /// σ̃, and whether there is one yet
    expected: Vec<f64>,
    foreseen: bool,
    u_d: Vec<f64>,
}

impl SlidingMode {
    /// A law for `model` with C (p × n, row by row), gain α of the set-valued part, and sampling period (s).
    pub fn new(model: &LinearModel, c: impl Into<Vec<f64>>, alpha: f64, period: f64, sampling: Sampling) -> Result<Self, ControlError> {
        let (n, p, c) = (model.states(), model.inputs(), c.into());
        size("C", &c, p, n)?;
        positive("the gain", alpha)?;
        let sampled = model.sampled(period)?;
        let cb = product(&c, model.b(), p, n, p);
        let reach = product(&c, &sampled.psi_b, p, n, p);
        if !is_positive(&cb, p) || !is_positive(&reach, p) {
            return Err(ControlError::NotReached);
        }
        let (matrix, drift) = match sampling {
            Sampling::Explicit => (&cb, product(&c, model.a(), p, n, n)),
            Sampling::Implicit => {
                let mut drift = product(&c, &sampled.phi, p, n, n);
                drift.iter_mut().zip(&c).for_each(|(d, c)| *d -= c);
                (&reach, drift)
            }
        };
        let factor = |m: &[f64]| {
            let mut lu = Lu::default();
            if lu.factor(p, |i, row| row.copy_from_slice(&m[i * p..][..p])) { Ok(lu) } else { Err(ControlError::NotReached) }
        };
        let mut lu = factor(matrix)?;
        let mut equivalent = vec![0.0; p * n];
        let mut column = vec![0.0; p];
        for j in 0..n {
            (0..p).for_each(|i| column[i] = -drift[i * n + j]);
            lu.solve(&mut column);
            (0..p).for_each(|i| equivalent[i * n + j] = column[i]);
        }
        let empty = vec![0.0; p];
        Ok(Self {
            reach: factor(&reach)?,
            problem: SetValued::new(reach, p, alpha),
            sigma: empty.clone(),
            u_s: empty.clone(),
            u_d: empty.clone(),
            expected: empty,
            prediction: None,
            foreseen: false,
            period,
            n,
            p,
            c,
            alpha,
            sampling,
            equivalent,
        })
    }

    /// With prediction of the disturbance by its last value, each of its inputs at most `bound`. For implicit sampling.
    pub fn with_prediction(self, bound: f64) -> Result<Self, ControlError> {
        not_negative("the bound of the prediction", bound)?;
        if self.sampling == Sampling::Explicit {
            let needed = "none is needed, as explicit sampling predicts nothing; implicit sampling does".into();
            return Err(ControlError::Range { what: "the bound of the prediction", found: bound, needed });
        }
        Ok(Self { prediction: Some(bound), ..self })
    }

    /// σ of the last sample.
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// The set-valued part u_s of the last input.
    pub fn switching(&self) -> &[f64] {
        &self.u_s
    }
}

impl ControlLaw for SlidingMode {
    fn measurements(&self) -> usize {
        self.n
    }

    fn inputs(&self) -> usize {
        self.p
    }

    fn sample(&mut self, _t: f64, x: &[f64], u: &mut [f64]) -> bool {
        multiply(&self.c, x, &mut self.sigma);
        multiply(&self.equivalent, x, u);
        let solved = match self.sampling {
            Sampling::Explicit => {
                self.u_s.iter_mut().zip(&self.sigma).for_each(|(u, s)| *u = -self.alpha * sign(*s));
                true
            }
            Sampling::Implicit => {
                self.problem.relay.q.copy_from_slice(&self.sigma);
                self.problem.solve(&mut self.u_s)
            }
        };
        u.iter_mut().zip(&self.u_s).for_each(|(u, s)| *u += s);
        if let (Some(bound), Sampling::Implicit) = (self.prediction, self.sampling) {
            if self.foreseen {
                self.u_d.iter_mut().zip(self.expected.iter().zip(&self.sigma)).for_each(|(d, (e, s))| *d = e - s);
                self.reach.solve(&mut self.u_d);
                self.u_d.iter_mut().for_each(|d| *d = d.clamp(-bound, bound));
            }
            u.iter_mut().zip(&self.u_d).for_each(|(u, d)| *u += d);
            self.expected.copy_from_slice(&self.sigma);
            add(self.problem.relay.m.values(), &self.u_s, &mut self.expected);
            add(self.problem.relay.m.values(), &self.u_d, &mut self.expected);
            self.foreseen = true;
        }
        solved && finite(u)
    }

    fn memory(&self) -> Vec<f64> {
        let parts = [&self.sigma, &self.u_s, &self.u_d, &self.expected];
        parts.into_iter().flatten().copied().chain([f64::from(u8::from(self.foreseen))]).collect()
    }

    fn remember(&mut self, memory: &[f64]) {
        let parts = [&mut self.sigma, &mut self.u_s, &mut self.u_d, &mut self.expected];
        parts.into_iter().flatten().zip(memory).for_each(|(x, &was)| *x = was);
        self.foreseen = memory.last() == Some(&1.0);
    }

    fn period(&self) -> Option<f64> {
        (self.sampling == Sampling::Implicit).then_some(self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Sampled;

    /// Chain of two integrators behind σ = x₁ + x₂.
    fn chain() -> LinearModel {
        LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2).unwrap()
    }

    /// σ and u at the samples, under a disturbance of the input.
    fn run(law: &mut SlidingMode, plant: &mut Sampled, x: &mut [f64], samples: usize, push: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
        let mut u = vec![0.0; plant.inputs()];
        (0..samples)
            .map(|k| {
                assert!(law.sample(0.0, x, &mut u));
                let out = (law.sigma()[0], u[0]);
                let pushed: Vec<f64> = u.iter().map(|u| u + push(k)).collect();
                plant.advance(x, &pushed);
                out
            })
            .collect()
    }

    #[test]
    fn implicit_sampling_reaches_in_finite_time_for_any_period_and_stays() {
        for h in [1e-3, 0.05, 0.1, 0.3, 1.0] {
            let model = chain();
            let mut law = SlidingMode::new(&model, [1.0, 1.0], 1.0, h, Sampling::Implicit).unwrap();
            let mut x = [0.0, 2.21];
            let samples = (12.0 / h) as usize;
            let out = run(&mut law, &mut model.sampled(h).unwrap(), &mut x, samples, |_| 0.0);
            // σ̇ = −1 from 2.21 on
            let reached = (2.21 / h) as usize + 2;
            for (k, (sigma, _)) in out.iter().enumerate().skip(reached) {
                assert!(sigma.abs() < 1e-12, "h = {h}, sample {k}: σ = {sigma:e}");
            }
            assert!(x[0].abs() < 0.01 && x[1].abs() < 0.01, "{x:?}");
        }
    }

    #[test]
    fn explicit_sampling_chatters_within_a_period() {
        for h in [0.05, 0.1, 0.3] {
            let model = LinearModel::new([0.0], [1.0], 1).unwrap();
            let mut law = SlidingMode::new(&model, [1.0], 1.0, h, Sampling::Explicit).unwrap();
            let out = run(&mut law, &mut model.sampled(h).unwrap(), &mut [1.01], 200, |_| 0.0);
            let late = &out[150..];
            let amplitude = late.iter().fold(0.0, |m: f64, (s, _)| m.max(s.abs()));
            assert!(amplitude <= h && amplitude > 0.4 * h, "{amplitude}");
            assert!(late.windows(2).all(|w| w[0].1 == -w[1].1 && w[0].1.abs() == 1.0), "u changes sign at every sample");
        }
    }

    #[test]
    fn disturbances_below_the_gain_are_held_and_prediction_gains_an_order() {
        let model = chain();
        let largest = |h: f64, predict: bool| {
            let mut law = SlidingMode::new(&model, [1.0, 1.0], 1.0, h, Sampling::Implicit).unwrap();
            if predict {
                law = law.with_prediction(0.8).unwrap();
            }
            let out = run(&mut law, &mut model.sampled(h).unwrap(), &mut [0.0, 0.5], (10.0 / h) as usize, |k| 0.6 * (k as f64 * h).sin());
            assert!(out.iter().all(|(_, u)| u.is_finite()));
            out[out.len() / 2..].iter().fold(0.0, |m: f64, (s, _)| m.max(s.abs()))
        };
        let (coarse, fine) = (largest(0.02, false), largest(0.01, false));
        assert!(coarse < 0.62 * 0.02 && (coarse / fine - 2.0).abs() < 0.1, "{coarse} {fine}");
        let (coarse, fine) = (largest(0.02, true), largest(0.01, true));
        assert!(coarse < 0.62 * 0.02 * 0.02 * 1.1 && (coarse / fine - 4.0).abs() < 0.3, "{coarse} {fine}");
    }

    #[test]
    fn the_switching_part_never_exceeds_its_gain_and_a_stronger_push_wins() {
        let model = LinearModel::new([0.0], [1.0], 1).unwrap();
        for (push, held) in [(0.99, true), (1.01, false)] {
            let mut law = SlidingMode::new(&model, [1.0], 1.0, 0.1, Sampling::Implicit).unwrap();
            let out = run(&mut law, &mut model.sampled(0.1).unwrap(), &mut [0.0], 5000, |_| push);
            assert!(out.iter().all(|(_, u)| u.abs() <= 1.0));
            assert_eq!(out[4999].0 < 0.11, held, "{}", out[4999].0);
        }
    }

    #[test]
    fn several_inputs_that_act_on_each_other_reach_together() {
        let model = LinearModel::new([-0.3, 0.5, 0.2, -0.1, 0.4, 1.0, 0.0, 0.6, -0.8], [0.0, 1.0, 1.0, 0.3, 0.2, 1.2], 3).unwrap();
        let blind = SlidingMode::new(&model, [0.5, 0.0, 0.0, 0.0, 0.0, 1.0], 2.0, 0.1, Sampling::Implicit);
        assert!(matches!(blind, Err(ControlError::NotReached)), "the first row of C does not see the first input");
        let mut law = SlidingMode::new(&model, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 2.0, 0.1, Sampling::Implicit).unwrap();
        let mut plant = model.sampled(0.1).unwrap();
        let (mut x, mut u) = ([1.0, -1.5, 0.8], [0.0; 2]);
        for k in 0..100 {
            assert!(law.sample(0.1 * f64::from(k), &x, &mut u));
            assert!(law.switching().iter().all(|u| u.abs() <= 2.0));
            plant.advance(&mut x, &u);
            assert!(k < 20 || (x[1].abs() < 1e-12 && x[2].abs() < 1e-12), "{x:?}");
        }
    }

    #[test]
    fn a_loop_of_several_inputs_that_dies_away_is_solved_to_the_last_digit() {
        let a = [14.5, -31.6, -1.9, 5.3, 3.3, -3.0, -10.2, -4.2, -1.4];
        let b = [0.04, 0.84, 1.86, 0.62, 1.31, 1.36, -0.08, 0.27, -0.58];
        let across = [0.04, 0.62, -0.08, 0.84, 1.31, 0.27, 1.86, 1.36, -0.58];
        let model = LinearModel::new(a, b, 3).unwrap();
        let mut law = SlidingMode::new(&model, across, 2.5, 3.66e-3, Sampling::Implicit).unwrap();
        for k in 280..=324 {
            for x in [[-3.0, 1.0, -2.0], [1.0, 0.0, 1.0], [0.7, -0.2, 0.0]] {
                // below 1e-308 numbers are not normal
                let x = x.map(|x: f64| x * 1e-160 * 10f64.powi(160 - k));
                let mut u = [0.0; 3];
                assert!(law.sample(0.0, &x, &mut u), "{x:?} gives {u:?}");
            }
        }
    }
}
