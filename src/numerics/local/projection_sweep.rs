//! Projected Gauss–Seidel: one projected step per block and sweep.
//!
//! ```text
//! r_a ← P_K(r_a − û_a / ρ_a)        û_a = W_a r + q_a + g(u_a),   ρ_a = ‖W_aa‖_∞
//! ```

use super::{LocalProblem, LocalSolver};
use crate::numerics::{Measure, Progress, Report, Status, Watch, residual::Residual};

/// Settings.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::local::{LocalProblem, LocalSolver, projection_sweep::ProjectionSweep};
/// let p = LocalProblem::friction(BlockRows::from_dense(&[0, 2], &[1.0, 0.0, 0.0, 1.0]), vec![-1.0, 0.2], &[0.5])?;
/// let (mut r, mut u) = ([0.0; 2], [0.0; 2]);
/// assert!(ProjectionSweep::default().solve(&p, &mut r, &mut u).converged());
/// assert_eq!(r, [1.0, -0.2]);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionSweep {
    /// Stop when the measure is at most this.
    pub tolerance: f64,
    /// Which error is measured.
    pub measure: Measure,
    /// Budget of sweeps.
    pub max_iterations: usize,
}

impl Default for ProjectionSweep {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::Rel, max_iterations: 20_000 }
    }
}

impl LocalSolver for ProjectionSweep {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let weights = p.weights();
        let blocks = p.w.block_count();
        let step: Vec<f64> = (0..blocks)
            .map(|i| {
                let n = p.w.rows(i).max(1);
                let norm = |b: &[f64]| b.chunks_exact(n).map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0f64, f64::max);
                1.0 / p.w.block(i, i).map(norm).filter(|d| *d > 0.0).unwrap_or(weights[i])
            })
            .collect();
        let errors = |r: &[f64], u: &mut [f64]| -> Residual {
            p.w.multiply(r, u);
            u.iter_mut().zip(&p.q).for_each(|(u, q)| *u += q);
            p.residual_at(r, u, &weights)
        };
        let mut found = errors(r, u);
        let (mut best, mut best_r) = (found, r.to_vec());
        let (mut status, mut iterations) = (Status::BudgetSpent, 0);
        while iterations < self.max_iterations {
            if self.measure.of(&found) <= self.tolerance {
                status = Status::Converged;
                break;
            }
            if !watch(Progress { iteration: iterations, error: self.measure.of(&found) }) {
                break;
            }
            for i in 0..blocks {
                let range = p.w.range(i);
                if range.is_empty() {
                    continue;
                }
                let u = &mut u[range.clone()];
                u.copy_from_slice(&p.q[range.clone()]);
                p.w.add_row_product(i, r, u);
                u[0] += p.sets[i].shift(u);
                let r = &mut r[range];
                r.iter_mut().zip(u).for_each(|(r, u)| *r -= step[i] * *u);
                p.sets[i].project(r);
            }
            iterations += 1;
            found = errors(r, u);
            if self.measure.of(&found) < self.measure.of(&best) {
                best = found;
                best_r.copy_from_slice(r);
            }
        }
        r.copy_from_slice(&best_r);
        let found = errors(r, u);
        Report { status, iterations, factorisations: 0, rel: found.rel, rel_q: found.rel_q, e_s: found.e_s }
    }
}
