//! Proximal point around a semismooth Newton method with the velocities as unknowns.
//!
//! ```text
//! outer   r_c ← r,  κ ← 10 κ
//! inner   s = μ‖u_t‖ at every iterate                                     De Saxcé's shift
//!         r(v) = P_K(r_c − (κ/D)(Hᵀ v + w + s e_n))
//!         0 = G(v) = M v − f − H r(v)                                     gradient of a convex φ for a given shift
//!         (M + H (κ/D) P'_K Hᵀ) Δv = −G,   line search on φ = ½ |v − M⁻¹ f|²_M + Σ (D/2κ) |r(v)|²
//! ```
//!
//! At a fixed point r = r_c and the shift is that of v: Coulomb's law. The matrix has the velocities as unknowns, so redundant
//! contacts cost a product each. An iteration costs one LU on a kept elimination tree and two products with H. Wins on stuck piles
//! whose contacts outnumber their velocities; loses where a few contacts meet many velocities (reduce then) and where many
//! contacts change between stick and slip: there the shift stalls. Measured: 82 contacts of stacked boxes to 1e-8 with 28
//! factorisations, 2.0 ms; 256 contacts of 98 spheres in a box stall at 2e-1. M must be symmetric. (Method of multipliers: Rockafellar 1976; shift: De Saxcé &
//! Feng 1998; Acary, Cadoux, Lemaréchal, Malick 2011. [`newton`](crate::numerics::newton) is the same method on bodies.)

use super::bodies::BodySpace;
use super::{GlobalProblem, GlobalSolver, Prepared, norm};
use crate::numerics::{Measure, ProblemError, Progress, Report, Status, Watch};

/// Settings of the proximal Newton solver in body space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyNewton {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of factorisations.
    pub max_iterations: usize,
    /// First κ, in units of D⁻¹.
    pub penalty: f64,
}

impl Default for BodyNewton {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 200, penalty: 10.0 }
    }
}

const MAX_PENALTY: f64 = 1e6;
/// Newton iterations of one outer step.
const INNER: usize = 25;
/// Outer steps without progress that end the solve.
const IDLE: i32 = 6;

impl GlobalSolver for BodyNewton {
    fn solve_watched(
        &self,
        p: &GlobalProblem,
        r: &mut [f64],
        v: &mut [f64],
        u: &mut [f64],
        watch: &mut Watch,
    ) -> Result<Report, ProblemError> {
        let mut prepared = Prepared::new(p)?;
        let mut space = BodySpace::new(&prepared);
        Ok(self.run(&mut prepared, &mut space, r, v, u, watch))
    }
}

impl BodyNewton {
    /// Outer steps from `r` with what was prepared for the problem.
    pub(super) fn run(
        &self,
        prepared: &mut Prepared,
        space: &mut BodySpace,
        r: &mut [f64],
        v: &mut [f64],
        u: &mut [f64],
        watch: &mut Watch,
    ) -> Report {
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut error = self.measure.of(&prepared.residual(r, v, u));
        let mut best = error;
        let mut best_r = r.to_vec();
        let mut newton = Newton::new(prepared, space, v);
        let mut kappa = (self.penalty * 0.01 / error).clamp(self.penalty, MAX_PENALTY);
        let mut idle = 0;
        while best > self.tolerance && report.iterations < self.max_iterations && idle < IDLE {
            newton.centre.copy_from_slice(r);
            // the inner problem need not be solved much better than the proximal step it belongs to
            let accuracy = (1e-2 * error).clamp(0.02 * self.tolerance, 1e-2) * libm::pow(0.1, f64::from(idle));
            let mut go_on = true;
            for _ in 0..INNER.min(self.max_iterations - report.iterations) {
                newton.set_shift(prepared, space);
                let value = newton.evaluate(prepared, space, kappa);
                newton.g.copy_from_slice(&newton.trial_g);
                if newton.imbalance() <= accuracy {
                    break;
                }
                report.iterations += 1;
                report.factorisations += 1;
                go_on = watch(Progress { iteration: report.iterations, error: best });
                if !go_on || !newton.step(prepared, space, kappa, value) {
                    break;
                }
            }
            r.copy_from_slice(&newton.r);
            error = self.measure.of(&prepared.residual(r, v, u));
            idle = if error < 0.9 * best { 0 } else { idle + 1 };
            if error < best {
                best = error;
                best_r.copy_from_slice(r);
            }
            if !go_on || !error.is_finite() {
                break;
            }
            kappa = (10.0 * kappa).min(MAX_PENALTY);
        }
        r.copy_from_slice(&best_r);
        let found = prepared.residual(r, v, u);
        if self.measure.of(&found) <= self.tolerance {
            report.status = Status::Converged;
        } else if idle >= IDLE {
            report.status = Status::Stalled;
        }
        report.with(&found)
    }
}

/// Vectors of Newton's method in body space.
struct Newton {
    centre: Vec<f64>,
    shift: Vec<f64>,
    r: Vec<f64>,
    u: Vec<f64>,
    free: Vec<f64>,
    /// `M^{-½}` on the diagonal: the unit in which |G| is measured
    unit: Vec<f64>,
    v: Vec<f64>,
    from: Vec<f64>,
    g: Vec<f64>,
    trial_g: Vec<f64>,
    direction: Vec<f64>,
    /// `|M^{-½} H r|`
    impulse: f64,
}

impl Newton {
    fn new(p: &Prepared, space: &BodySpace, v: &[f64]) -> Self {
        let (rows, n) = (p.q.len(), space.order());
        let [centre, r, u] = std::array::from_fn(|_| vec![0.0; rows]);
        let [from, g, trial_g, direction] = std::array::from_fn(|_| vec![0.0; n]);
        let on_space = |x: &[f64]| space.dofs.iter().map(|&k| x[k as usize]).collect::<Vec<f64>>();
        Self {
            centre,
            shift: vec![0.0; p.problem.sets.len()],
            r,
            u,
            free: on_space(&p.free),
            unit: space.diagonal().into_iter().map(|m| 1.0 / m.abs().max(f64::MIN_POSITIVE).sqrt()).collect(),
            v: on_space(v),
            from,
            g,
            trial_g,
            direction,
            impulse: 0.0,
        }
    }

    fn set_shift(&mut self, p: &Prepared, space: &BodySpace) {
        self.u.copy_from_slice(&p.problem.w);
        space.add_transposed_times(&self.v, &mut self.u);
        for ((shift, set), o) in self.shift.iter_mut().zip(&p.problem.sets).zip(p.problem.offsets.windows(2)) {
            *shift = if o[0] < o[1] { set.shift(&self.u[o[0]..o[1]]) } else { 0.0 };
        }
    }

    /// `r_c − (κ/D)(u + s e_n)` of block a.
    fn argument(&self, p: &Prepared, a: usize, kappa: f64, x: &mut [f64]) {
        let first = p.problem.offsets[a];
        let weight = kappa / p.weights[a];
        for (k, x) in x.iter_mut().enumerate() {
            *x = self.centre[first + k] - weight * self.u[first + k];
        }
        if let Some(x) = x.first_mut() {
            *x -= weight * self.shift[a];
        }
    }

    /// Sets r and `trial_g` at v; returns φ(v).
    fn evaluate(&mut self, p: &Prepared, space: &BodySpace, kappa: f64) -> f64 {
        self.u.copy_from_slice(&p.problem.w);
        space.add_transposed_times(&self.v, &mut self.u);
        let mut r = std::mem::take(&mut self.r);
        let mut value = 0.0;
        for (a, set) in p.problem.sets.iter().enumerate() {
            let x = &mut r[p.problem.offsets[a]..p.problem.offsets[a + 1]];
            self.argument(p, a, kappa, x);
            if !x.is_empty() {
                set.project(x);
            }
            value += 0.5 * p.weights[a] / kappa * x.iter().map(|x| x * x).sum::<f64>();
        }
        self.r = r;
        // M (v − v_free), then − H r
        let mut away = std::mem::take(&mut self.from);
        away.iter_mut().zip(&self.v).zip(&self.free).for_each(|((d, v), free)| *d = v - free);
        self.trial_g.fill(0.0);
        space.add_mass_times(&away, &mut self.trial_g);
        value += 0.5 * away.iter().zip(&self.trial_g).map(|(d, g)| d * g).sum::<f64>();
        let impulse = &mut away;
        impulse.fill(0.0);
        space.add_times(&self.r, impulse);
        self.trial_g.iter_mut().zip(impulse.iter()).for_each(|(g, i)| *g -= i);
        impulse.iter_mut().zip(&self.unit).for_each(|(i, unit)| *i *= unit);
        self.impulse = norm(impulse);
        self.from = away;
        value
    }

    /// `|M^{-½} G|` over the larger of the impulses and what they change.
    fn imbalance(&self) -> f64 {
        let g = self.g.iter().zip(&self.unit).map(|(g, unit)| (g * unit).powi(2)).sum::<f64>().sqrt();
        let change = self.v.iter().zip(&self.free).zip(&self.unit).map(|((v, f), unit)| ((v - f) / unit).powi(2)).sum::<f64>();
        if g == 0.0 { 0.0 } else { g / self.impulse.max(change.sqrt()).max(f64::MIN_POSITIVE) }
    }

    /// One Newton step with its line search on φ, whose value at v is given; false when the matrix is singular.
    fn step(&mut self, p: &Prepared, space: &mut BodySpace, kappa: f64, value: f64) -> bool {
        let mut x = vec![0.0; p.problem.offsets.windows(2).map(|o| o[1] - o[0]).max().unwrap_or(0)];
        let regular = space.factorise(|a, k| {
            let width = p.problem.offsets[a + 1] - p.problem.offsets[a];
            if width == 0 {
                return false;
            }
            self.argument(p, a, kappa, &mut x[..width]);
            p.problem.sets[a].derivative(&x[..width], k);
            let weight = kappa / p.weights[a];
            k.iter_mut().for_each(|k| *k *= weight);
            k.iter().any(|k| *k != 0.0)
        });
        if !regular {
            return false;
        }
        self.direction.iter_mut().zip(&self.g).for_each(|(d, g)| *d = -g);
        space.solve(&mut self.direction);
        if !self.direction.iter().all(|d| d.is_finite()) {
            return false;
        }
        let slope: f64 = self.direction.iter().zip(&self.g).map(|(d, g)| d * g).sum();
        let (mut taken, mut t) = (0.0, 1.0);
        for halving in 0.. {
            self.v.iter_mut().zip(&self.direction).for_each(|(v, d)| *v += (t - taken) * d);
            taken = t;
            let new = self.evaluate(p, space, kappa);
            // rounding of φ hides the last digits: a small enough slope is accepted as it is
            if new <= value + 1e-4 * t * slope + 1e-14 * value.abs() || halving == 12 {
                break;
            }
            t *= 0.5;
        }
        true
    }
}
