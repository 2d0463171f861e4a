//! Semismooth Newton on an equation that holds exactly at the solutions.
//!
//! ```text
//! minimum            Φ_i = z_i − P_[l,u](z_i − w_i)
//! Fischer–Burmeister Φ_i = φ(z_i − l_i, w_i),   φ(a,b) = a + b − √(a² + b²)      two bounds: φ(z − l, −φ(u − z, −w))
//! (D_z + D_w M) dz = −Φ                          nonmonotone line search on ½|Φ|², Levenberg–Marquardt where singular
//! ```
//!
//! Rows and columns are equilibrated. Whenever the active set changes near a solution, its basis is solved directly: the last
//! digits cost nothing.
//!
//! - Cost: one LU of order n an iteration; 5 to 30 iterations.
//! - Wins: nonmonotone problems with a regular solution, where Lemke ends on a ray; a good guess.
//! - Fails: stationary points of |Φ|² that are no solution (several starts are tried), degenerate families of solutions.
//! - Measured: `diodeBridge40` 7 iterations (minimum: 3), `deltasigma` 46 (minimum: 4); stalls at 5e-4 on the degenerate `lcp_tobenna`.
//!   Fischer–Burmeister 14 of 16 LCPs, 13 of 14 MLCPs; minimum 11 and 13.
//! - Source: Fischer 1992; De Luca, Facchinei, Kanzow 1996; Billups 1995 (two bounds).

use super::basis::state_of;
use super::form::Form;
use super::{ComplementaritySolver, Outcome, Scratch, Status, Watch, proceed, stopping};
use crate::algebra::dense::{cholesky, cholesky_solve};
use crate::algebra::dense::{dot, norm};
use crate::algebra::factor::PIECE;

/// Which equation [`Newton`] solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NewtonFunction {
    /// `z − P(z − w)`: finite termination near a regular solution.
    Minimum,
    /// Its square is smooth: the line search works from afar.
    #[default]
    FischerBurmeister,
}

/// Semismooth Newton (Siconos: `SICONOS_LCP_NEWTON_MIN`, `SICONOS_LCP_NEWTON_FB_FBLSA`, `SICONOS_MLCP_FB`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Newton {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Iterations of one start.
    pub max_iterations: usize,
    /// The equation.
    pub function: NewtonFunction,
    /// Starts: the guess first, then fixed points of several sizes.
    pub starts: usize,
}

impl Default for Newton {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100, function: NewtonFunction::FischerBurmeister, starts: 6 }
    }
}

/// `φ`, `∂φ/∂a`, `∂φ/∂b`
fn fischer_burmeister(a: f64, b: f64) -> (f64, f64, f64) {
    let r = libm::hypot(a, b);
    if r == 0.0 {
        let d = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
        return (0.0, d, d);
    }
    // the difference without cancellation where both are positive
    let phi = if a + b > 0.0 { 2.0 * a * b / (a + b + r) } else { a + b - r };
    (phi, 1.0 - a / r, 1.0 - b / r)
}

impl NewtonFunction {
    /// `Φ_i`, `∂Φ_i/∂z_i`, `∂Φ_i/∂w_i`
    fn at(self, form: &Form, i: usize, z: f64, w: f64) -> (f64, f64, f64) {
        let (l, u) = (form.lower[i], form.upper[i]);
        if l == f64::NEG_INFINITY && u == f64::INFINITY {
            return (w, 0.0, 1.0);
        }
        match self {
            Self::Minimum => {
                if z - w <= l {
                    (z - l, 1.0, 0.0)
                } else if z - w >= u {
                    (z - u, 1.0, 0.0)
                } else {
                    (w, 0.0, 1.0)
                }
            }
            Self::FischerBurmeister => {
                if l == u {
                    return (z - l, 1.0, 0.0);
                }
                if u == f64::INFINITY {
                    return fischer_burmeister(z - l, w);
                }
                let (phi, a, b) = fischer_burmeister(u - z, -w);
                if l == f64::NEG_INFINITY {
                    return (-phi, a, b);
                }
                let (outer, da, db) = fischer_burmeister(z - l, -phi);
                (outer, da + db * a, db * b)
            }
        }
    }
}

impl ComplementaritySolver for Newton {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let n = form.order();
        let Scratch { basis, scaling, scaled, lu, vectors, states, .. } = scratch;
        scaling.balance(form, scaled);
        let [best_z, x, y, phi, step, trial, point, da_db] = super::buffers(vectors, n);
        let mut db = vec![0.0; n];
        let da = da_db;
        let mut normal = Vec::new();
        form.output(z, w);
        let mut best = stopping(form, z, w, self.tolerance, form.rel(z, w));
        best_z.copy_from_slice(z);
        let mut outcome = Outcome { status: Status::Stalled, iterations: 0, factorisations: 0 };
        'starts: for start in 0..self.starts.max(1) {
            if best <= self.tolerance {
                break;
            }
            for i in 0..n {
                x[i] = match start {
                    0 => z[i] / scaling.columns[i],
                    1 => scaled.origin(i),
                    2 => scaled.project(i, 1.0),
                    k => scaled.project(i, libm::pow(10.0, k as f64 - 4.0) * ((i * k) as f64 * 0.618_033_988_749_895).fract()),
                };
            }
            let mut window = [f64::INFINITY; 5];
            states.clear();
            for iteration in 0..self.max_iterations {
                outcome.iterations += 1;
                scaled.output(x, y);
                for i in 0..n {
                    (phi[i], da[i], db[i]) = self.function.at(scaled, i, x[i], y[i]);
                }
                let merit = 0.5 * dot(phi, phi);
                if !merit.is_finite() {
                    break;
                }
                // the iterate itself, then the basis that it points to
                (0..n).for_each(|i| trial[i] = form.project(i, x[i] * scaling.columns[i]));
                form.output(trial, w);
                let rel = stopping(form, trial, w, self.tolerance, form.rel(trial, w));
                if rel < best {
                    best = rel;
                    best_z.copy_from_slice(trial);
                }
                let changed = states.len() != n || (0..n).any(|i| states[i] != state_of(scaled, i, x[i], y[i]));
                if changed && best > self.tolerance.min(1e-14) {
                    states.clear();
                    states.extend((0..n).map(|i| state_of(scaled, i, x[i], y[i])));
                    outcome.factorisations += 1;
                    if rel < 0.1 && basis.factor_while(form, states, &mut || proceed(watch, outcome.iterations, rel)) {
                        let found = basis.answer(form, point, w);
                        let found = stopping(form, point, w, self.tolerance, found);
                        if found < best {
                            best = found;
                            best_z.copy_from_slice(point);
                        }
                    }
                }
                if !proceed(watch, outcome.iterations, rel) {
                    outcome.status = Status::BudgetSpent;
                    break 'starts;
                }
                if best <= self.tolerance {
                    break;
                }
                let jacobian = |i: usize, row: &mut [f64]| {
                    row.iter_mut().zip(scaled.row(i)).for_each(|(r, m)| *r = db[i] * m);
                    row[i] += da[i];
                };
                step.iter_mut().zip(phi.iter()).for_each(|(s, p)| *s = -p);
                outcome.factorisations += 1;
                let mut go_on = || proceed(watch, outcome.iterations, rel);
                let mut good = lu.factor_while(n, jacobian, &mut go_on);
                if good {
                    lu.solve(step);
                    good = step.iter().all(|s| s.is_finite()) && norm(step) < 1e12 * (1.0 + norm(x));
                }
                if !good {
                    good = levenberg(scaled, da, &db, phi, step, &mut normal, &mut go_on);
                }
                if !good {
                    break;
                }
                window[iteration % 5] = merit;
                let reference = window.iter().filter(|m| m.is_finite()).fold(merit, |a, &b| a.max(b));
                let mut length = 1.0;
                let mut accepted = false;
                for _ in 0..30 {
                    (0..n).for_each(|i| trial[i] = x[i] + length * step[i]);
                    scaled.output(trial, y);
                    let next = 0.5 * (0..n).map(|i| self.function.at(scaled, i, trial[i], y[i]).0.powi(2)).sum::<f64>();
                    if next <= reference - 2e-4 * length * merit {
                        accepted = true;
                        break;
                    }
                    length *= 0.5;
                }
                x.copy_from_slice(trial);
                if !accepted {
                    break;
                }
            }
        }
        z.copy_from_slice(best_z);
        form.output(z, w);
        outcome
    }
}

/// `(JᵀJ + λ I) dz = −JᵀΦ` with λ = 1e-8 to 1 times |Φ|, whichever factorises first.
fn levenberg(
    form: &Form,
    da: &[f64],
    db: &[f64],
    phi: &[f64],
    step: &mut [f64],
    normal: &mut Vec<f64>,
    go_on: &mut dyn FnMut() -> bool,
) -> bool {
    let n = form.order();
    let entry = |k: usize, i: usize| db[k] * form.m[k * n + i] + if k == i { da[k] } else { 0.0 };
    let mut row = vec![0.0; n];
    let mut lambda = 1e-8 * norm(phi).clamp(1e-3, 1.0);
    while lambda < 1e2 {
        normal.clear();
        normal.resize(n * n, 0.0);
        step.fill(0.0);
        let mut spent = 0;
        // row by row of J, so that memory is read in its order
        for (k, phi) in phi.iter().enumerate() {
            spent += n * n / 2;
            if spent > PIECE {
                spent = 0;
                if !go_on() {
                    return false;
                }
            }
            row.iter_mut().enumerate().for_each(|(i, x)| *x = entry(k, i));
            for (i, &x) in row.iter().enumerate() {
                normal[i * n..i * n + i + 1].iter_mut().zip(&row).for_each(|(sum, y)| *sum += x * y);
                step[i] -= x * phi;
            }
        }
        (0..n).for_each(|i| normal[i * n + i] += lambda);
        if cholesky(normal, n) {
            cholesky_solve(normal, n, step);
            if step.iter().all(|s| s.is_finite()) {
                return true;
            }
        }
        lambda *= 100.0;
    }
    false
}
