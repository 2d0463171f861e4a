//! Alternating directions (ADMM, as a Douglas–Rachford splitting) with the linear algebra in body space.
//!
//! ```text
//! z = P_K(t)      y = ρD (t − z)      s = μ‖y_t‖                          at the fixed point û = −y: s is De Saxcé's shift
//! c = ρD z − y − s e_n                                                     solve (W + ρD) x = c − q by way of velocities:
//! (M + H (ρD)⁻¹ Hᵀ) v = f + H (ρD)⁻¹ (c − w)      x = (ρD)⁻¹ (c − w − Hᵀ v)
//! t ← t + 1.6 (x − z)                                                      Anderson(5) on (ρD)^½ t
//! ```
//!
//! One factorisation with the velocities as unknowns, then per iteration two products with H and one pair of triangular solves;
//! each change of ρ costs a factorisation on the same elimination tree. Indifferent to the rank of W: wins on stuck,
//! hyperstatic piles, where contacts outnumber velocities. Its tail is slow where many contacts slip, and a few contacts on
//! finite elements are better reduced. Measured: 82 contacts of stacked boxes to 1e-8 in 70 iterations, 1.1 ms with the set-up
//! (Gauss–Seidel on W: 0.4 ms); 256 contacts of 98 spheres in a box to 1e-4 in 175 iterations, 13 ms, but stuck at 2e-6 from there,
//! where Newton on W reaches 1e-8 in 21 ms. ρ follows primal over dual residual, ρD |z − z_last|. (Acary, Brémond, Huber, RR-9118, 2018; Carpentier, Le Lidec, Montaut 2024, arXiv
//! 2405.17020; the shift inside the splitting as in De Saxcé & Feng 1998.)

use super::bodies::BodySpace;
use super::{GlobalProblem, GlobalSolver, Prepared};
use crate::numerics::{Measure, ProblemError, Progress, Report, Status, Watch, acceleration::Anderson};

/// Settings of the splitting in body space (Siconos: `SICONOS_GLOBAL_FRICTION_3D_ADMM`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyAdmm {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of iterations.
    pub max_iterations: usize,
    /// First penalty ρ, in units of the mean diagonal of W.
    pub rho: f64,
    /// Over-relaxation in (0, 2).
    pub relaxation: f64,
    /// Window of the Anderson acceleration; 0: none.
    pub window: usize,
    /// Most changes of ρ.
    pub max_changes: usize,
}

impl Default for BodyAdmm {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 3000, rho: 0.3, relaxation: 1.6, window: 5, max_changes: 12 }
    }
}

/// Iterations between two looks at the true residual.
const CHECK: usize = 5;
/// Ratio of the residuals within which ρ stays.
const BALANCE: f64 = 6.0;
/// An accelerated point may have this many times the best residual of the map.
const SLACK: f64 = 2.0;
/// Looks at the residual without progress that end the solve.
const IDLE: usize = 120;

impl GlobalSolver for BodyAdmm {
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

impl BodyAdmm {
    /// Iterates from `r` with what was prepared for the problem.
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
        let mut best = self.measure.of(&prepared.residual(r, v, u));
        let mut best_r = r.to_vec();
        let mut split = Splitting::new(prepared, space, self.rho);
        let (mut changes, mut last_change, mut idle) = (0, 0, 0);
        let mut regular = best <= self.tolerance || split.factorise(space);
        report.factorisations += usize::from(best > self.tolerance);
        split.start(prepared, r, u);
        let mut memory = Anderson::new(r.len(), self.window.max(1));
        let (mut least, mut accelerated) = (f64::INFINITY, false);
        let mut plain = split.t.clone();
        while best > self.tolerance && report.iterations < self.max_iterations && regular && idle < IDLE {
            report.iterations += 1;
            split.map(prepared, space);
            let residuals = split.residuals();
            if !residuals.primal.is_finite() {
                break;
            }
            if accelerated && residuals.primal > SLACK * least {
                // the accelerated point is worse than where it came from
                memory.restart();
                split.t.copy_from_slice(&plain);
                (accelerated, least) = (false, f64::INFINITY);
                continue;
            }
            least = least.min(residuals.primal);
            if report.iterations.is_multiple_of(CHECK) {
                let error = self.measure.of(&prepared.residual(&split.z, v, u));
                idle = if error < 0.99 * best { 0 } else { idle + 1 };
                if error < best {
                    best = error;
                    best_r.copy_from_slice(&split.z);
                }
            }
            if !watch(Progress { iteration: report.iterations, error: best }) {
                break;
            }
            let balanced = (1.0 / BALANCE..=BALANCE).contains(&residuals.ratio);
            if !balanced && report.iterations >= last_change + 15 + 25 * changes && changes < self.max_changes {
                let rho = (split.rho * residuals.ratio.sqrt().clamp(0.1, 10.0)).clamp(1e-6, 1e3);
                split.set_penalty(rho);
                regular = split.factorise(space);
                report.factorisations += 1;
                changes += 1;
                last_change = report.iterations;
                memory.restart();
                (accelerated, least) = (false, f64::INFINITY);
                continue;
            }
            split.relax(self.relaxation, &mut plain);
            accelerated = self.window > 0 && split.accelerate(&mut memory, &plain);
            if self.window == 0 {
                split.t.copy_from_slice(&plain);
            }
        }
        r.copy_from_slice(&best_r);
        let found = prepared.residual(r, v, u);
        if self.measure.of(&found) <= self.tolerance {
            report.status = Status::Converged;
        } else if !regular || idle >= IDLE {
            report.status = Status::Stalled;
        }
        report.with(&found)
    }
}

/// Sizes of one step of the splitting.
struct Residuals {
    /// `|(ρD)^½ (x − z)|`
    primal: f64,
    /// Primal over dual residual, each relative to its variable.
    ratio: f64,
}

/// The iterate and its vectors.
struct Splitting {
    rho: f64,
    /// D of each row
    scale: Vec<f64>,
    t: Vec<f64>,
    z: Vec<f64>,
    last_z: Vec<f64>,
    y: Vec<f64>,
    x: Vec<f64>,
    /// f on the unknowns of body space
    f: Vec<f64>,
    v: Vec<f64>,
    scaled: Vec<f64>,
}

impl Splitting {
    fn new(p: &Prepared, space: &BodySpace, rho: f64) -> Self {
        let rows = p.q.len();
        let mut scale = vec![0.0; rows];
        for (range, d) in p.problem.offsets.windows(2).zip(&p.weights) {
            scale[range[0]..range[1]].fill(*d);
        }
        let f: Vec<f64> = space.dofs.iter().map(|&k| p.problem.f[k as usize]).collect();
        let [t, z, last_z, y, x, scaled] = std::array::from_fn(|_| vec![0.0; rows]);
        Self { rho, scale, t, z, last_z, y, x, v: vec![0.0; f.len()], f, scaled }
    }

    fn factorise(&self, space: &mut BodySpace) -> bool {
        let offsets = space.offsets().to_vec();
        space.factorise(|a, k| {
            let width = offsets[a + 1] - offsets[a];
            let stiffness = if width == 0 { 0.0 } else { 1.0 / (self.rho * self.scale[offsets[a]]) };
            (0..width).for_each(|i| k[i * (width + 1)] = stiffness);
            width > 0
        })
    }

    /// `t = r − û / (ρD)`
    fn start(&mut self, p: &Prepared, r: &[f64], u: &[f64]) {
        for (k, t) in self.t.iter_mut().enumerate() {
            *t = r[k] - u[k] / (self.rho * self.scale[k]);
        }
        for (set, o) in p.problem.sets.iter().zip(p.problem.offsets.windows(2)).filter(|(_, o)| o[0] < o[1]) {
            self.t[o[0]] -= set.shift(&u[o[0]..o[1]]) / (self.rho * self.scale[o[0]]);
        }
    }

    /// One pass of the splitting: z, y and x of t.
    fn map(&mut self, p: &Prepared, space: &mut BodySpace) {
        std::mem::swap(&mut self.z, &mut self.last_z);
        self.z.copy_from_slice(&self.t);
        for (set, o) in p.problem.sets.iter().zip(p.problem.offsets.windows(2)) {
            let range = o[0]..o[1];
            if range.is_empty() {
                continue;
            }
            set.project(&mut self.z[range.clone()]);
            let d = self.rho * self.scale[o[0]];
            for k in range.clone() {
                self.y[k] = d * (self.t[k] - self.z[k]);
                self.x[k] = (d * self.z[k] - self.y[k] - p.problem.w[k]) / d;
            }
            self.x[o[0]] -= set.shift(&self.y[range]) / d;
        }
        self.v.copy_from_slice(&self.f);
        space.add_times(&self.x, &mut self.v);
        space.solve(&mut self.v);
        // x ← x − (ρD)⁻¹ Hᵀ v
        self.scaled.fill(0.0);
        space.add_transposed_times(&self.v, &mut self.scaled);
        for (k, x) in self.x.iter_mut().enumerate() {
            *x -= self.scaled[k] / (self.rho * self.scale[k]);
        }
    }

    fn residuals(&self) -> Residuals {
        let [mut primal, mut dual, mut reaction, mut velocity] = [0.0; 4];
        for (k, d) in self.scale.iter().enumerate() {
            primal += d * (self.x[k] - self.z[k]).powi(2);
            dual += d * (self.z[k] - self.last_z[k]).powi(2);
            reaction += d * self.z[k] * self.z[k];
            velocity += d * (self.t[k] - self.z[k]).powi(2);
        }
        let relative = |a: f64, b: f64| (a / b.max(f64::MIN_POSITIVE)).sqrt();
        let ratio = relative(primal, reaction) / relative(dual, velocity).max(f64::MIN_POSITIVE);
        Residuals { primal: (self.rho * primal).sqrt(), ratio: ratio.clamp(1e-9, 1e9) }
    }

    /// A new ρ at the same z and the same dual y.
    fn set_penalty(&mut self, rho: f64) {
        for (t, z) in self.t.iter_mut().zip(&self.z) {
            *t = z + (*t - z) * self.rho / rho;
        }
        self.rho = rho;
    }

    fn relax(&self, relaxation: f64, new: &mut [f64]) {
        for (k, new) in new.iter_mut().enumerate() {
            *new = self.t[k] + relaxation * (self.x[k] - self.z[k]);
        }
    }

    /// An accelerated point in the norm of D, given the plain one.
    fn accelerate(&mut self, memory: &mut Anderson, plain: &[f64]) -> bool {
        for (k, d) in self.scale.iter().enumerate() {
            let root = (self.rho * d).sqrt();
            self.t[k] *= root;
            self.scaled[k] = root * plain[k];
        }
        let accelerated = memory.step(&mut self.t, &self.scaled);
        for (t, d) in self.t.iter_mut().zip(&self.scale) {
            *t /= (self.rho * d).sqrt();
        }
        accelerated
    }
}
