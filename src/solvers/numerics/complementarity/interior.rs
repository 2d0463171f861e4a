//! Interior point: the central path, by predictor and corrector.
//!
//! ```text
//! w⁺ (z − l) = σμ,   w⁻ (u − z) = σμ,   w⁺ − w⁻ = M z + q
//! (M + w⁺/(z−l) + w⁻/(u−z)) dz = −r + (σμ − c⁺)/(z−l) − (σμ − c⁻)/(u−z)        c± = products, with the predictor's second order
//! ```
//!
//! An unknown whose bounds meet has no interior: it stays at them, dz = 0 in place of its row, and its w is whatever it is.
//!
//! - Cost: one LU of order n an iteration, solved twice; 8 to 30 iterations, nearly independent of n.
//! - Wins: positive semidefinite M (monotone), degenerate or ill scaled, n in the hundreds.
//! - Fails: indefinite M: it stalls and says so.
//! - Measured: `diodeBridge40` 5 iterations, `Buck2` 16; stalls at 2e-3 on `deltasigma`, which is not monotone. 13 of 16 LCPs, 12 of 14 MLCPs.
//! - Source: Mehrotra 1992; Wright, *Primal-Dual Interior-Point Methods* (1997).

use super::basis::State;
use super::form::Form;
use super::{ComplementaritySolver, Outcome, Scratch, Status, Watch, proceed, stopping};
use crate::algebra::dense::norm;
use crate::algebra::factor::Lu;

/// Mehrotra's predictor–corrector for monotone problems (Siconos: the convex case of `SICONOS_LCP_CONVEXQP_PG`, `SICONOS_LCP_QP`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InteriorPoint {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Iterations.
    pub max_iterations: usize,
}

impl Default for InteriorPoint {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100 }
    }
}

impl ComplementaritySolver for InteriorPoint {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let n = form.order();
        let Scratch { basis, scaling, scaled, lu, vectors, states, central, .. } = scratch;
        scaling.balance(form, scaled);
        let [best_z, point] = super::buffers(vectors, n);
        form.output(z, w);
        let mut best = stopping(form, z, w, self.tolerance, form.rel(z, w));
        best_z.copy_from_slice(z);
        let mut outcome = Outcome { status: Status::BudgetSpent, iterations: 0, factorisations: 0 };
        central.start(scaled);
        while best > self.tolerance && outcome.iterations < self.max_iterations {
            outcome.iterations += 1;
            outcome.factorisations += 1;
            let Some(length) = central.step(scaled, 0.0, lu, &mut || proceed(watch, outcome.iterations, best)) else {
                outcome.status = Status::Stalled;
                break;
            };
            (0..n).for_each(|i| point[i] = form.project(i, central.x[i] * scaling.columns[i]));
            form.output(point, w);
            let rel = stopping(form, point, w, self.tolerance, form.rel(point, w));
            if rel < best {
                best = rel;
                best_z.copy_from_slice(point);
            }
            if central.mu < 1e-3 * central.size * central.size {
                states.clear();
                states.extend((0..n).map(|i| central.state(scaled, i)));
                outcome.factorisations += 1;
                if basis.factor_while(form, states, &mut || proceed(watch, outcome.iterations, best)) {
                    let found = basis.answer(form, point, w);
                    let found = stopping(form, point, w, self.tolerance, found);
                    if found < best {
                        best = found;
                        best_z.copy_from_slice(point);
                    }
                }
            }
            if !proceed(watch, outcome.iterations, rel) {
                break;
            }
            if length < SHORTEST {
                outcome.status = Status::Stalled;
                break;
            }
        }
        z.copy_from_slice(best_z);
        form.output(z, w);
        outcome
    }
}

/// Steps below which the path leads nowhere.
pub(super) const SHORTEST: f64 = 1e-9;

/// A point of the path, and what its steps need.
#[derive(Clone, Debug, Default)]
pub(super) struct Central {
    pub(super) x: Vec<f64>,
    /// w⁺
    up: Vec<f64>,
    /// w⁻
    down: Vec<f64>,
    /// μ where the last step began
    pub(super) mu: f64,
    /// size of the first products' factors
    pub(super) size: f64,
    sides: f64,
    dx: Vec<f64>,
    dup: Vec<f64>,
    ddown: Vec<f64>,
    r: Vec<f64>,
    trial: Vec<f64>,
}

fn has(bound: f64) -> f64 {
    f64::from(u8::from(bound.is_finite()))
}

impl Central {
    /// The first point: in the middle of two bounds, a size of q away from one.
    pub(super) fn start(&mut self, form: &Form) {
        let n = form.order();
        for v in [&mut self.x, &mut self.up, &mut self.down, &mut self.dx, &mut self.dup, &mut self.ddown, &mut self.r, &mut self.trial] {
            v.clear();
            v.resize(n, 0.0);
        }
        self.sides = (0..n).filter(|&i| !form.is_fixed(i)).map(|i| has(form.lower[i]) + has(form.upper[i])).sum();
        self.size = 1.0 + norm(&form.q) / (n.max(1) as f64).sqrt();
        for i in 0..n {
            let (l, u) = (form.lower[i], form.upper[i]);
            if form.is_fixed(i) {
                self.x[i] = l;
                continue;
            }
            self.x[i] = match (l.is_finite(), u.is_finite()) {
                (true, true) => 0.5 * (l + u),
                (true, false) => l + self.size,
                (false, true) => u - self.size,
                (false, false) => 0.0,
            };
            self.up[i] = has(l) * self.size;
            self.down[i] = has(u) * self.size;
        }
    }

    /// Where unknown i stands: on the side whose w has become the larger one of its pair.
    pub(super) fn state(&self, form: &Form, i: usize) -> State {
        if form.is_fixed(i) || self.up[i] > self.x[i] - form.lower[i] {
            State::Lower
        } else if self.down[i] > form.upper[i] - self.x[i] {
            State::Upper
        } else {
            State::Basic
        }
    }

    /// One step and its length, none where the matrix is singular or numbers have left their range; `ridge` is added to the diagonal of
    /// free unknowns, which costs digits of the step but none of its end.
    pub(super) fn step(&mut self, form: &Form, ridge: f64, lu: &mut Lu, go_on: &mut dyn FnMut() -> bool) -> Option<f64> {
        let n = form.order();
        let Self { x, up, down, mu, sides, dx, dup, ddown, r, trial: point, .. } = self;
        form.output(x, r);
        (0..n).for_each(|i| r[i] += down[i] - up[i]);
        let s = |x: &[f64], i: usize| x[i] - form.lower[i];
        let v = |x: &[f64], i: usize| form.upper[i] - x[i];
        let pair = |bound: f64, a: f64, b: f64| if bound.is_finite() { a * b } else { 0.0 };
        *mu = (0..n).map(|i| pair(form.lower[i], up[i], s(x, i)) + pair(form.upper[i], down[i], v(x, i))).sum::<f64>() / sides.max(1.0);
        let row = |i: usize, row: &mut [f64]| {
            if form.is_fixed(i) {
                row.fill(0.0);
                row[i] = 1.0;
                return;
            }
            row.copy_from_slice(form.row(i));
            // infinite distances give zero
            row[i] += up[i] / s(x, i) + down[i] / v(x, i);
            if form.is_free(i) {
                row[i] += ridge;
            }
        };
        if !lu.factor_while(n, row, go_on) || !mu.is_finite() {
            return None;
        }
        let mut sigma_mu = 0.0;
        let mut length = 0.0;
        for corrector in [false, true] {
            let second = if corrector { 1.0 } else { 0.0 };
            for i in 0..n {
                if form.is_fixed(i) {
                    point[i] = 0.0;
                    continue;
                }
                // the predictor's own step stands in dx, dup, ddown when the corrector asks
                let above = pair(form.lower[i], up[i], s(x, i)) + second * dx[i] * dup[i] - sigma_mu * has(form.lower[i]);
                let below = pair(form.upper[i], down[i], v(x, i)) - second * dx[i] * ddown[i] - sigma_mu * has(form.upper[i]);
                point[i] = -r[i] - above / s(x, i) + below / v(x, i);
                dup[i] = above;
                ddown[i] = below;
            }
            lu.solve(point);
            dx.copy_from_slice(point);
            for i in (0..n).filter(|&i| !form.is_fixed(i)) {
                dup[i] = -(dup[i] + up[i] * dx[i]) / s(x, i);
                ddown[i] = -(ddown[i] - down[i] * dx[i]) / v(x, i);
                if form.lower[i].is_infinite() {
                    dup[i] = 0.0;
                }
                if form.upper[i].is_infinite() {
                    ddown[i] = 0.0;
                }
            }
            length = 1.0f64;
            for i in 0..n {
                for (value, change) in [(s(x, i), dx[i]), (v(x, i), -dx[i]), (up[i], dup[i]), (down[i], ddown[i])] {
                    if change < 0.0 && value.is_finite() {
                        length = length.min(-value / change);
                    }
                }
            }
            if !corrector {
                (0..n).for_each(|i| point[i] = x[i] + length * dx[i]);
                let after: f64 = (0..n)
                    .map(|i| {
                        pair(form.lower[i], up[i] + length * dup[i], s(point, i))
                            + pair(form.upper[i], down[i] + length * ddown[i], v(point, i))
                    })
                    .sum();
                sigma_mu = *mu * (after / (*mu * *sides).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0).powi(3);
            }
        }
        let length = (0.995 * length).min(1.0);
        for i in 0..n {
            x[i] += length * dx[i];
            up[i] += length * dup[i];
            down[i] += length * ddown[i];
        }
        x.iter().all(|x| x.is_finite()).then_some(length)
    }
}
