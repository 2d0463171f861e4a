//! Projection methods on the problem as a variational inequality with the operator `û(r) = u + g(u)`, `u = W r + q`.
//!
//! ```text
//! r̄ = P_K(r − ρ D⁻¹ û(r))                                                   all
//! fixed point      r ← r̄
//! extragradient    r ← P_K(r − ρ D⁻¹ û(r̄))
//! hyperplane       d = r − r̄ − ρ D⁻¹ (û(r) − û(r̄)),   α = ⟨r − r̄, d⟩_D / |d|²_D,   r ← P_K(r − γ α ρ D⁻¹ û(r̄)),  γ = 1.8
//! step             a = ρ |û(r) − û(r̄)|_{D⁻¹} / |r − r̄|_D:   a > 0.9 → ρ less, once more;   a < 0.3 → ρ ← 1.5 ρ
//! ```
//!
//! D is the mean diagonal of each block's own W: without it a badly scaled problem stalls at once. A trial step costs one
//! product with W, to which the second step of the last two adds another. No factorisation and no symmetry are needed, and any
//! convex K with a projection will do. They are steady at a loose tolerance; the tail is slow wherever W is ill conditioned
//! inside a block. The operator is not monotone where contacts slip, so that convergence is observed, not proved.
//!
//! Measured: a tower of 570 contacts takes 4600 iterations to 1e-8 by the fixed point and 5700 by the hyperplane, a heap of 225
//! capsules 6100, 8600, and 16000 by the extragradient; a stack of 52 boxes stops at 4e-5 with all three, and a rolling sphere
//! whose moments are 1e4 times stiffer than its forces above 0.4. The hyperplane needs little more than half the iterations of
//! the extragradient at the same cost. Its first form, with Armijo's rule along r − r̄ (Solodov & Svaiter 1999), stalled at
//! 1e-2 on one contact that slips, as its step is over |û|, which does not vanish there; the step here is over |d|, which does.
//! (Khobotov 1987; Solodov & Tseng 1996, He 1997 for the hyperplane; Acary, Brémond, Huber, RR-9118, 2018, for friction.)

use super::{LocalProblem, LocalSolver, trial::Trial};
use crate::numerics::{Measure, Report, Status, Watch};

/// The projected fixed point with adaptive step (Siconos: `SICONOS_FRICTION_3D_VI_FPP`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FixedPoint {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of iterations.
    pub max_iterations: usize,
    /// First step ρ, in units of the inverse of a block's diagonal.
    pub step: f64,
}

impl Default for FixedPoint {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 20_000, step: 1.0 }
    }
}

/// The extragradient method with adaptive step (Siconos: `SICONOS_FRICTION_3D_VI_EG`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ExtraGradient {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of iterations.
    pub max_iterations: usize,
    /// First step ρ, in units of the inverse of a block's diagonal.
    pub step: f64,
}

impl Default for ExtraGradient {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 20_000, step: 1.0 }
    }
}

/// Projection on a separating hyperplane (Siconos: `SICONOS_FRICTION_3D_HP`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HyperplaneProjection {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of iterations.
    pub max_iterations: usize,
    /// First step ρ, in units of the inverse of a block's diagonal.
    pub step: f64,
}

impl Default for HyperplaneProjection {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 20_000, step: 1.0 }
    }
}

/// Ratio a above which the step is too long, and below which it may grow.
const RATIO: (f64, f64) = (0.9, 0.3);
/// Factor by which a step shrinks or grows.
const SHRINK: f64 = 2.0 / 3.0;
/// Most trials of a step in one iteration.
const TRIALS: usize = 30;
/// Over-relaxation γ of the step to the hyperplane.
const RELAXATION: f64 = 1.8;
/// Iterations without a tenth less error after which a run stalls.
const PATIENCE: usize = 3000;

impl LocalSolver for FixedPoint {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut trial = Trial::new(p, self.tolerance, self.measure, PATIENCE, r, u);
        let mut state = State::new(p.order(), self.step);
        let (mut status, mut k) = (Status::BudgetSpent, 0);
        while !trial.done() && k < self.max_iterations {
            k += 1;
            state.predict(&trial, r, u);
            r.copy_from_slice(&state.bar);
            u.copy_from_slice(&state.u_bar);
            if let Some(end) = trial.over(k, r, u, watch) {
                status = end;
                break;
            }
        }
        trial.finish(status, k, 0, r, u)
    }
}

impl LocalSolver for ExtraGradient {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut trial = Trial::new(p, self.tolerance, self.measure, PATIENCE, r, u);
        let mut state = State::new(p.order(), self.step);
        let (mut status, mut k) = (Status::BudgetSpent, 0);
        while !trial.done() && k < self.max_iterations {
            k += 1;
            let step = state.predict(&trial, r, u);
            state.bar.copy_from_slice(r);
            step_and_project(&trial, step, &state.bar, &state.hat_bar, r);
            trial.velocity(r, u);
            if let Some(end) = trial.over(k, r, u, watch) {
                status = end;
                break;
            }
        }
        trial.finish(status, k, 0, r, u)
    }
}

impl LocalSolver for HyperplaneProjection {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut trial = Trial::new(p, self.tolerance, self.measure, PATIENCE, r, u);
        let mut state = State::new(p.order(), self.step);
        let (mut status, mut k) = (Status::BudgetSpent, 0);
        while !trial.done() && k < self.max_iterations {
            k += 1;
            let step = state.predict(&trial, r, u);
            // d = r − r̄ − ρ D⁻¹ (û(r) − û(r̄)) and how far along it the hyperplane lies
            let (mut along, mut length) = (0.0, 0.0);
            for (i, weight) in trial.weights.iter().enumerate() {
                for k in p.w.range(i) {
                    let moved = r[k] - state.bar[k];
                    let d = moved - step / weight * (state.hat[k] - state.hat_bar[k]);
                    along += weight * moved * d;
                    length += weight * d * d;
                }
            }
            let scale = if length > 0.0 { (RELAXATION * along / length).max(0.0) } else { 1.0 };
            state.bar.copy_from_slice(r);
            step_and_project(&trial, scale * step, &state.bar, &state.hat_bar, r);
            trial.velocity(r, u);
            if let Some(end) = trial.over(k, r, u, watch) {
                status = end;
                break;
            }
        }
        trial.finish(status, k, 0, r, u)
    }
}

/// Vectors of one run.
struct State {
    rho: f64,
    hat: Vec<f64>,
    bar: Vec<f64>,
    u_bar: Vec<f64>,
    hat_bar: Vec<f64>,
}

impl State {
    fn new(n: usize, rho: f64) -> Self {
        Self { rho, hat: vec![0.0; n], bar: vec![0.0; n], u_bar: vec![0.0; n], hat_bar: vec![0.0; n] }
    }

    /// Sets r̄, its velocity and û(r̄) with a step that fits, which is returned; ρ may have grown for the next time.
    fn predict(&mut self, trial: &Trial, r: &[f64], u: &[f64]) -> f64 {
        shifted(trial.p, u, &mut self.hat);
        for _ in 0..TRIALS {
            step_and_project(trial, self.rho, r, &self.hat, &mut self.bar);
            trial.velocity(&self.bar, &mut self.u_bar);
            shifted(trial.p, &self.u_bar, &mut self.hat_bar);
            let moved = square_difference(trial, r, &self.bar, false);
            let turned = square_difference(trial, &self.hat, &self.hat_bar, true);
            let ratio = if moved > 0.0 { self.rho * (turned / moved).sqrt() } else { 0.0 };
            if ratio <= RATIO.0 || ratio.is_nan() {
                let step = self.rho;
                if ratio < RATIO.1 && moved > 0.0 {
                    self.rho /= SHRINK;
                }
                return step;
            }
            self.rho *= SHRINK * (1.0 / ratio).min(1.0);
        }
        self.rho
    }
}

/// `x = P_K(r − ρ D⁻¹ û)`
fn step_and_project(trial: &Trial, rho: f64, r: &[f64], hat: &[f64], x: &mut [f64]) {
    for (i, set) in trial.p.sets.iter().enumerate() {
        let range = trial.p.w.range(i);
        if range.is_empty() {
            continue;
        }
        let step = rho / trial.weights[i];
        range.clone().for_each(|k| x[k] = r[k] - step * hat[k]);
        set.project(&mut x[range]);
    }
}

/// `û = u + g(u)`
fn shifted(p: &LocalProblem, u: &[f64], hat: &mut [f64]) {
    hat.copy_from_slice(u);
    shift_in_place(p, hat);
}

fn shift_in_place(p: &LocalProblem, u: &mut [f64]) {
    for (i, set) in p.sets.iter().enumerate() {
        let block = &mut u[p.w.range(i)];
        if !block.is_empty() {
            block[0] += set.shift(block);
        }
    }
}

/// `(x − y)ᵀ D (x − y)`, or with the inverse of D
fn square_difference(trial: &Trial, x: &[f64], y: &[f64], inverse: bool) -> f64 {
    let blocks = trial.weights.iter().enumerate();
    blocks.map(|(i, d)| (if inverse { 1.0 / d } else { *d }) * trial.p.w.range(i).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>()).sum()
}
