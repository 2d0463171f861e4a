//! Projected Gauss–Seidel with relaxation (PGS, PSOR) and, for small diagonals, regularisation.
//!
//! ```text
//! z_i ← P_[l_i,u_i]( z_i − ω w_i / (M_ii + ρ) )        w_i = (M z + q)_i with the newest z
//! ```
//!
//! - Cost: n² operations a sweep; hundreds to 10⁵ sweeps.
//! - Wins: symmetric positive definite and H-matrices, low accuracy, good guesses.
//! - Fails: M_ii = 0 with ρ = 0 (it stalls at once), skew parts (it diverges; the best iterate is returned), equations.
//! - Measured: `m3n2` 43 sweeps (ω = 1.3: 144); `relay1` (condition 10⁷) is at 5e-3 after 20 000 sweeps, 3e-5 with ω = 1.3. 8 of 16 LCPs
//!   (ρ = 1: 11), 3 of 14 MLCPs, 4 of 5 relays.
//! - Source: Cryer 1971; Cottle, Pang, Stone (2009), §5.2.

use super::form::{Form, ratio};
use super::{ComplementaritySolver, Outcome, Scratch, Status, Watch, proceed, stopping};
use crate::algebra::dense::{dot, norm};
use crate::numerics::passes::{Driver, Forecast, Look, Passes};

/// Projected relaxation (Siconos: `SICONOS_LCP_PGS`, `SICONOS_LCP_PSOR`, `SICONOS_LCP_RPGS`, `SICONOS_MLCP_PGS`, `SICONOS_RELAY_PGS`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pgs {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Sweeps over all unknowns.
    pub max_sweeps: usize,
    /// ω: 1 is Gauss–Seidel; over 1 overrelaxes (PSOR).
    pub relaxation: f64,
    /// ρ, added to the diagonal of each step (the solution stays).
    pub regularisation: f64,
}

impl Default for Pgs {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 20_000, relaxation: 1.0, regularisation: 0.0 }
    }
}

impl ComplementaritySolver for Pgs {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let n = form.order();
        let q_norm = norm(&form.q);
        (0..n).for_each(|i| z[i] = form.project(i, z[i]));
        if (0..n).any(|i| form.m[i * n + i] + self.regularisation == 0.0) {
            form.output(z, w);
            return Outcome { status: Status::Stalled, iterations: 0, factorisations: 0 };
        }
        sweeps((self.tolerance, self.max_sweeps), form, z, w, scratch, watch, |z, w| {
            let mut map = 0.0;
            for i in 0..n {
                let w_i = form.q[i] + dot(form.row(i), z);
                w[i] = w_i;
                map += (z[i] - form.project(i, z[i] - w_i)).powi(2);
                z[i] = form.project(i, z[i] - self.relaxation * w_i / (form.m[i * n + i] + self.regularisation));
            }
            // each term is of its own moment in the sweep: a hint of when to look at the true residual
            (ratio(map.sqrt(), q_norm.max(norm(z)).max(norm(w))), 0)
        })
    }
}

/// |z| of a run that leads nowhere.
const BEYOND: f64 = 1e100;
/// Sweeps between two looks at the true residual, where the hints promise nothing.
const LOOK: usize = 50;

/// Sweeps to the tolerance, at most so many; `sweep` improves z and returns a hint of `rel` and its factorisations. The best point is kept.
pub(super) fn sweeps(
    (tolerance, max_passes): (f64, usize),
    form: &Form,
    z: &mut [f64],
    w: &mut [f64],
    scratch: &mut Scratch,
    watch: &mut Watch,
    sweep: impl FnMut(&mut [f64], &mut [f64]) -> (f64, usize),
) -> Outcome {
    let [best_z] = super::buffers(&mut scratch.vectors, form.order());
    form.output(z, w);
    best_z.copy_from_slice(z);
    let (best, forecast) = (stopping(form, z, w, tolerance, form.rel(z, w)), Forecast::new(0, 0, 1));
    if best <= tolerance {
        return Outcome { status: Status::BudgetSpent, iterations: 0, factorisations: 0 };
    }
    let driver = Driver { tolerance, max_passes, best, first: LOOK, pause: (0, 0), factor: (1.0, 1.0, 1.0), forecast };
    let mut passes = Rows { form, tolerance, sweep, z, w, best_z, watch, factorisations: 0 };
    let (status, iterations) = driver.run(&mut passes);
    let Rows { z, w, best_z, factorisations, .. } = passes;
    z.copy_from_slice(best_z);
    form.output(z, w);
    Outcome { status, iterations, factorisations }
}

/// Sweeps over the unknowns.
struct Rows<'a, 'b, F> {
    form: &'a Form,
    tolerance: f64,
    sweep: F,
    z: &'a mut [f64],
    w: &'a mut [f64],
    best_z: &'a mut [f64],
    watch: &'a mut Watch<'b>,
    factorisations: usize,
}

impl<F: FnMut(&mut [f64], &mut [f64]) -> (f64, usize)> Passes for Rows<'_, '_, F> {
    fn gap(&self, _: usize) -> usize {
        LOOK
    }

    fn pass(&mut self, _: usize) -> f64 {
        let (hint, factorisations) = (self.sweep)(self.z, self.w);
        self.factorisations += factorisations;
        // what runs away is looked at, and found out, at once
        if norm(self.z) < BEYOND { hint } else { 0.0 }
    }

    fn look(&mut self, _: usize) -> Look {
        self.form.output(self.z, self.w);
        let within = norm(self.z) < BEYOND;
        let error = if within { stopping(self.form, self.z, self.w, self.tolerance, self.form.rel(self.z, self.w)) } else { f64::NAN };
        Look { error, distance: error, end: (error <= self.tolerance).then_some(Status::Converged) }
    }

    fn keep(&mut self, _: usize) {
        self.best_z.copy_from_slice(self.z);
    }

    fn tell(&mut self, k: usize, error: f64) -> bool {
        proceed(self.watch, k, error)
    }
}
