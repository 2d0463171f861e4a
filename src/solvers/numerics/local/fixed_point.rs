//! Outer fixed points whose inner problems are convex.
//!
//! ```text
//! ACLM, De Saxcé   s = g(u) frozen:         r ∈ K,  −(W r + q + s e_n) ∈ N_K(r)             second-order cones
//! Tresca           R = μ max(r_n, 0) frozen: r_n ≥ 0,  |r_t| ≤ R,  −(W r + q) ∈ N(r)         half lines and discs
//! inner            accelerated projected gradient (Nesterov) in the metric D, restarted where it climbs
//! ```
//!
//! ACLM solves its inner problem to a share of the present error (Acary, Cadoux, Lemaréchal, Malick 2011, who prove that a
//! fixed point exists where some velocity opens all contacts), De Saxcé's form takes a few inner steps only. The fixed points
//! are Coulomb's, each inner problem is convex. An inner iteration costs one product with W and there is no factorisation
//! (APGD: Mazhar, Heyn, Negrut, Tasora 2015). They win on large stuck structures at any tolerance; an ill-conditioned W makes
//! the inner problem slow, and where friction drives the normal reactions the outer loop may cycle. W should be symmetric; a
//! slight asymmetry does no harm.
//!
//! Measured, products with W to 1e-8: a tower of 570 contacts with a W of rank 504 of 1710: Tresca 490, ACLM 610, De Saxcé 3000
//! (projected fixed point: 4600); a stack of 52 boxes: 8200 and 8200, De Saxcé stops at 3e-5; heaps of capsules 1600 to 10⁴. A
//! pile of 463 rocks with μ = 1 and a nonsymmetric W stops at 3e-3 with Tresca and at 6e-4 with ACLM.

use super::{LocalProblem, LocalSolver, trial::Trial};
use crate::numerics::{Measure, Progress, Report, Status, Watch};

/// What an outer step freezes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Frozen {
    /// De Saxcé's shift.
    #[default]
    Shift,
    /// The bounds of friction.
    Bound,
}

/// Settings of the fixed points (Siconos: `SICONOS_FRICTION_3D_ACLMFP`, `SICONOS_FRICTION_3D_DSFP`, `SICONOS_FRICTION_3D_TFP`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FixedPoint {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// What is frozen.
    pub frozen: Frozen,
    /// Budget of outer steps.
    pub max_outer: usize,
    /// Budget of iterations of one inner problem.
    pub max_inner: usize,
    /// Share of the present error to which an inner problem is solved; 0: all iterations are spent.
    pub inner_share: f64,
}

impl Default for FixedPoint {
    fn default() -> Self {
        let (tolerance, measure, frozen) = (1e-8, Measure::default(), Frozen::default());
        Self { tolerance, measure, frozen, max_outer: 200, max_inner: 2000, inner_share: 0.1 }
    }
}

/// De Saxcé's form.
pub(crate) const DE_SAXCE: FixedPoint =
    FixedPoint { tolerance: 1e-8, measure: Measure::Rel, frozen: Frozen::Shift, max_outer: 2000, max_inner: 10, inner_share: 0.0 };

/// Outer steps without a tenth less error after which a run stalls.
const OUTER_PATIENCE: usize = 60;

/// Inner iterations from one look of the watch to the next.
const LOOK: usize = 16;

impl LocalSolver for FixedPoint {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let patience = if self.inner_share > 0.0 { OUTER_PATIENCE } else { 10 * OUTER_PATIENCE };
        let mut trial = Trial::new(p, self.tolerance, self.measure, patience, r, u);
        let mut inner = Inner::new(&trial, self.frozen);
        let (mut status, mut k, mut iterations) = (Status::BudgetSpent, 0, 0);
        while !trial.done() && k < self.max_outer {
            k += 1;
            inner.freeze(&trial, r, u);
            let error = inner.outer_error(&trial, r, u);
            let look = |steps| Progress { iteration: iterations + steps, error };
            iterations += inner.solve(&trial, self.inner_share * error, self.max_inner, r, u, &mut |steps| watch(look(steps)));
            if let Some(end) = trial.over(k, r, u, watch) {
                status = end;
                break;
            }
        }
        trial.finish(status, iterations, 0, r, u)
    }
}

/// The convex problem `−(W r + q + s) ∈ N_C(r)` and its accelerated projected gradient.
struct Inner {
    kind: Frozen,
    /// s of each block, or its discs' radii
    frozen: Vec<[f64; 3]>,
    /// length of a step in units of D⁻¹
    step: f64,
    theta: f64,
    y: Vec<f64>,
    u_y: Vec<f64>,
    new: Vec<f64>,
    u_new: Vec<f64>,
}

impl Inner {
    fn new(trial: &Trial, kind: Frozen) -> Self {
        let n = trial.p.order();
        let vector = || vec![0.0; n];
        Self {
            kind,
            frozen: vec![[0.0; 3]; trial.p.sets.len()],
            step: 1.0,
            theta: 1.0,
            y: vector(),
            u_y: vector(),
            new: vector(),
            u_new: vector(),
        }
    }

    fn freeze(&mut self, trial: &Trial, r: &[f64], u: &[f64]) {
        for (i, frozen) in self.frozen.iter_mut().enumerate() {
            let (set, range) = (trial.p.sets[i], trial.p.w.range(i));
            *frozen = match (self.kind, set) {
                _ if range.is_empty() => [0.0; 3],
                (Frozen::Shift, _) => [set.shift(&u[range]), 0.0, 0.0],
                (Frozen::Bound, _) if set.shifted() => set.discs(1).map(|(mu, _)| mu * r[range.start].max(0.0)),
                (Frozen::Bound, _) => [0.0; 3],
            };
        }
    }

    /// `x ← P_C(x)` for block i.
    fn project(&self, trial: &Trial, i: usize, x: &mut [f64]) {
        match self.kind {
            Frozen::Shift => trial.p.sets[i].project(x),
            Frozen::Bound => trial.p.sets[i].project_tresca(self.frozen[i], x),
        }
    }

    /// `out = P_C(r − ρ D⁻¹ (u + s))`; returns `|D^½ (r − out)|²`.
    fn advance(&self, trial: &Trial, rho: f64, r: &[f64], u: &[f64], out: &mut [f64]) -> f64 {
        let mut moved = 0.0;
        for (i, d) in trial.weights.iter().enumerate() {
            let range = trial.p.w.range(i);
            if range.is_empty() {
                continue;
            }
            range.clone().for_each(|k| out[k] = r[k] - rho / d * u[k]);
            if self.kind == Frozen::Shift {
                out[range.start] -= rho / d * self.frozen[i][0];
            }
            self.project(trial, i, &mut out[range.clone()]);
            moved += d * range.map(|k| (r[k] - out[k]).powi(2)).sum::<f64>();
        }
        moved
    }

    /// `|D^½ (r − P_K(r − D⁻¹ û))|`: what is left of the outer problem.
    fn outer_error(&mut self, trial: &Trial, r: &[f64], u: &[f64]) -> f64 {
        let mut new = std::mem::take(&mut self.new);
        let mut sum = 0.0;
        for (i, d) in trial.weights.iter().enumerate() {
            let range = trial.p.w.range(i);
            if range.is_empty() {
                continue;
            }
            range.clone().for_each(|k| new[k] = r[k] - u[k] / d);
            new[range.start] -= trial.p.sets[i].shift(&u[range.clone()]) / d;
            trial.p.sets[i].project(&mut new[range.clone()]);
            sum += d * range.map(|k| (r[k] - new[k]).powi(2)).sum::<f64>();
        }
        self.new = new;
        sum.sqrt()
    }

    /// Iterates until the projected gradient is at most `target`; returns the number of iterations.
    fn solve(
        &mut self,
        trial: &Trial,
        target: f64,
        budget: usize,
        r: &mut [f64],
        u: &mut [f64],
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> usize {
        self.theta = 1.0;
        self.y.copy_from_slice(r);
        self.u_y.copy_from_slice(u);
        for k in 1..=budget {
            // a clock behind the watch sees no more than a few of these long sums
            if k.is_multiple_of(LOOK) && !go_on(k) {
                return k;
            }
            // a step from y short enough for |Δr|²_W ≤ |Δr|²_D / ρ
            let mut new = std::mem::take(&mut self.new);
            for _ in 0..40 {
                let moved = self.advance(trial, self.step, &self.y, &self.u_y, &mut new);
                trial.velocity(&new, &mut self.u_new);
                let bent: f64 = (0..r.len()).map(|k| (new[k] - self.y[k]) * (self.u_new[k] - self.u_y[k])).sum();
                if self.step * bent <= moved * (1.0 + 1e-9) || bent.is_nan() {
                    break;
                }
                self.step *= 0.5;
            }
            self.new = new;
            let climbs = (0..r.len()).map(|k| (self.y[k] - self.new[k]) * (self.new[k] - r[k])).sum::<f64>() > 0.0;
            let theta = if climbs { 1.0 } else { 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt()) };
            let momentum = if climbs { 0.0 } else { (self.theta - 1.0) / theta };
            self.theta = theta;
            for k in 0..r.len() {
                let (dr, du) = (self.new[k] - r[k], self.u_new[k] - u[k]);
                self.y[k] = self.new[k] + momentum * dr;
                self.u_y[k] = self.u_new[k] + momentum * du;
                r[k] = self.new[k];
                u[k] = self.u_new[k];
            }
            self.step *= 1.05;
            // the sums of u above lose digits in the long run
            if k.is_multiple_of(50) {
                trial.velocity(r, u);
            }
            if target > 0.0 && (k.is_multiple_of(5) || k == budget) {
                let mut new = std::mem::take(&mut self.new);
                let left = self.advance(trial, 1.0, r, u, &mut new).sqrt();
                self.new = new;
                if left <= target {
                    return k;
                }
            }
        }
        budget
    }
}
