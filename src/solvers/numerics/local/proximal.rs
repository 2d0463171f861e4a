//! Proximal point around a semismooth Newton method: all blocks at once, to full precision.
//!
//! ```text
//! outer   r_c ← r,   solve  u = W r + q + α D (r − r_c)  with the law of every block,  α ← less as it gets easier
//! inner   F(r) = 0 (Alart–Curnier),   (A + B (W + α D)) Δr = −F   on the blocks that are not open,   line search on |D^½ F|
//! ```
//!
//! The proximal term makes the Newton matrix regular however redundant the contacts are; as α → 0 the outer steps become Newton's
//! on the problem itself. An iteration costs a sparse LU of the active blocks and a product with W per trial step. Wins at a tight
//! tolerance up to a few thousand rows, above all after some sweeps have found most of the active set; loses where the factors
//! fill, and where thousands of contacts change between stick and slip. (Proximal point: Rockafellar 1976; Newton: Alart & Curnier
//! 1991; schedule of α: Acary, Brémond, Huber, RR-9118, 2018, PROX.)

use super::alart_curnier::{Steps, derivative, value};
use super::jacobian::Jacobian;
use super::nsgs::{Acceleration, Nsgs, Sweeper};
use super::{LocalProblem, LocalSolver};
use crate::numerics::{Measure, Progress, Report, Status, Watch};

/// Settings of the proximal Newton solver (Siconos: `SICONOS_FRICTION_3D_PROX` over `NSN_AC`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProximalPoint {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of outer steps.
    pub max_outer: usize,
    /// Budget of Newton iterations of one outer step.
    pub max_inner: usize,
    /// Budget of factorisations.
    pub max_factorisations: usize,
    /// First weight α of the proximal term.
    pub alpha: f64,
    /// Sweeps of Gauss–Seidel before the first step.
    pub warm_up: usize,
}

impl Default for ProximalPoint {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            measure: Measure::default(),
            max_outer: 60,
            max_inner: 25,
            max_factorisations: 1000,
            alpha: 1e-3,
            warm_up: 20,
        }
    }
}

impl LocalSolver for ProximalPoint {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let sweeper = Sweeper::new(p);
        let sweeps = Nsgs {
            tolerance: self.tolerance,
            measure: self.measure,
            max_sweeps: self.warm_up,
            acceleration: Acceleration::Anderson(10),
            ..Nsgs::default()
        };
        let first = sweeps.run(&sweeper, r, u, watch);
        if first.converged() {
            return first;
        }
        let mut newton = Newton::new(&sweeper);
        let second = self.run(&mut newton, r, u, watch);
        Report { iterations: first.iterations + second.iterations, ..second }
    }
}

/// Smallest and largest α.
const ALPHA: (f64, f64) = (1e-13, 10.0);
/// Share of the starting |F| at which an inner solve ends, and counts as a success.
const INNER: (f64, f64) = (0.02, 0.05);
/// Newton steps at full length before the line search: blocks change their state at once, and often to the right one.
const FULL: usize = 2;
/// Growth of |F| over them that sends Newton back to the best point.
const ASTRAY: f64 = 10.0;
/// Sweeps after a failure.
const SHAKE: usize = 10;

impl ProximalPoint {
    /// Outer steps from `r` with what was prepared for the problem.
    pub(super) fn run(&self, newton: &mut Newton, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let sweeper = newton.sweeper;
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut error = self.measure.of(&sweeper.residual(r, u));
        let (mut best, mut best_r) = (error, r.to_vec());
        let mut alpha = self.alpha;
        let mut idle = 0;
        for _ in 0..self.max_outer {
            if best <= self.tolerance || idle >= 12 || report.factorisations >= self.max_factorisations {
                break;
            }
            newton.centre.copy_from_slice(r);
            let (iterations, success) = self.inner(newton, alpha, r, &mut |iteration| watch(Progress { iteration, error }));
            report.iterations += iterations;
            report.factorisations += iterations;
            error = self.measure.of(&sweeper.residual(r, u));
            idle = if error < 0.7 * best { 0 } else { idle + 1 };
            let worse = error.is_nan() || error > 2.0 * best;
            if error < best {
                best = error;
                best_r.copy_from_slice(r);
            }
            if success {
                alpha *= if iterations <= 4 {
                    0.03
                } else if iterations <= 8 {
                    0.2
                } else {
                    0.7
                };
                alpha = alpha.max(ALPHA.0);
            } else {
                alpha = (8.0 * alpha).min(ALPHA.1);
                if worse {
                    r.copy_from_slice(&best_r);
                }
                let shake = Nsgs { tolerance: self.tolerance, measure: self.measure, max_sweeps: SHAKE, ..Nsgs::default() };
                let after = shake.run(sweeper, r, u, &mut |_| true);
                report.iterations += after.iterations;
                error = self.measure.of(&sweeper.residual(r, u));
                if error < best {
                    best = error;
                    best_r.copy_from_slice(r);
                }
            }
            if !watch(Progress { iteration: report.iterations, error: best }) {
                break;
            }
        }
        r.copy_from_slice(&best_r);
        let found = sweeper.residual(r, u);
        if self.measure.of(&found) <= self.tolerance {
            report.status = Status::Converged;
        } else if idle >= 12 {
            report.status = Status::Stalled;
        }
        report.with(&found)
    }

    /// Newton on the proximal problem; returns its iterations and whether |F| fell far enough.
    fn inner(&self, newton: &mut Newton, alpha: f64, r: &mut [f64], watch: &mut dyn FnMut(usize) -> bool) -> (usize, bool) {
        let start = newton.evaluate(alpha, r);
        let mut merit = start;
        let mut recent = [start; 3];
        let (mut best, mut best_r) = (start, r.to_vec());
        let mut iterations = 0;
        while iterations < self.max_inner && best > INNER.0 * start {
            if !newton.step(alpha, r) {
                break;
            }
            iterations += 1;
            if !watch(iterations) {
                break;
            }
            let reference = recent.iter().fold(0.0f64, |m, x| m.max(*x));
            let mut t = 1.0;
            newton.from.copy_from_slice(r);
            for halving in 0..=6 {
                for ((r, from), d) in r.iter_mut().zip(&newton.from).zip(&newton.direction) {
                    *r = from + t * d;
                }
                merit = newton.evaluate(alpha, r);
                if (iterations <= FULL && merit.is_finite()) || merit <= (1.0 - 1e-3 * t) * reference || halving == 6 {
                    break;
                }
                t *= 0.5;
            }
            if merit < best {
                best = merit;
                best_r.copy_from_slice(r);
            }
            if iterations == FULL && (merit > ASTRAY * start || merit.is_nan()) {
                // they led nowhere: from here on every step has to pay
                r.copy_from_slice(&best_r);
                merit = newton.evaluate(alpha, r);
                recent = [merit; 3];
            }
            recent[iterations % 3] = merit;
        }
        if merit > best || merit.is_nan() {
            r.copy_from_slice(&best_r);
        }
        (iterations, best <= INNER.1 * start)
    }
}

/// Newton's matrix and vectors for one problem.
pub(super) struct Newton<'a> {
    pub(super) sweeper: &'a Sweeper<'a>,
    steps: Vec<Steps>,
    jacobian: Jacobian<'a>,
    active: Vec<bool>,
    centre: Vec<f64>,
    from: Vec<f64>,
    u: Vec<f64>,
    f: Vec<f64>,
    direction: Vec<f64>,
}

impl<'a> Newton<'a> {
    pub(super) fn new(sweeper: &'a Sweeper<'a>) -> Self {
        let p = sweeper.p;
        let [centre, from, u, f, direction] = std::array::from_fn(|_| vec![0.0; p.order()]);
        let (steps, active) = (Steps::of_all(p, sweeper.weights()), vec![false; p.sets.len()]);
        Self { sweeper, steps, jacobian: Jacobian::new(p), active, centre, from, u, f, direction }
    }

    /// Sets u, F and the active blocks at `r`; returns `|D^½ F|`.
    fn evaluate(&mut self, alpha: f64, r: &[f64]) -> f64 {
        let p = self.sweeper.p;
        p.w.multiply(r, &mut self.u);
        let mut sum = 0.0;
        for i in 0..p.sets.len() {
            let range = p.w.range(i);
            let weight = self.sweeper.scales.weights[i];
            let u = &mut self.u[range.clone()];
            for (k, u) in range.clone().zip(u.iter_mut()) {
                *u += p.q[k] + alpha * weight * (r[k] - self.centre[k]);
            }
            let f = &mut self.f[range.clone()];
            self.active[i] = value(p.sets[i], self.steps[i].with_proximal(alpha), &r[range], u, f);
            sum += weight * f.iter().map(|f| f * f).sum::<f64>();
        }
        sum.sqrt()
    }

    /// Operations of a factorisation with the blocks that are active at `r`, and numbers that its factors hold.
    pub(super) fn cost(&mut self, r: &[f64]) -> (f64, usize) {
        self.centre.copy_from_slice(r);
        self.evaluate(0.0, r);
        let matrix = self.jacobian.declare(|i| self.active[i]);
        (matrix.operations(), matrix.factor_len())
    }

    /// Sets `direction` to Newton's step from the point that was evaluated last; false when the matrix is singular.
    fn step(&mut self, alpha: f64, r: &[f64]) -> bool {
        self.jacobian.declare(|i| self.active[i]);
        let p = self.sweeper.p;
        let derivative = |i: usize, a: &mut [f64], b: &mut [f64]| {
            let range = p.w.range(i);
            derivative(p.sets[i], self.steps[i].with_proximal(alpha), &r[range.clone()], &self.u[range], a, b);
        };
        self.jacobian.direction([self.sweeper.weights(), &self.f, r], alpha, derivative, &mut self.direction)
    }
}
