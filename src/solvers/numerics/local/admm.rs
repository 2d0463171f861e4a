//! Alternating directions (ADMM, as a Douglas–Rachford splitting) with Anderson acceleration.
//!
//! ```text
//! z = P_K(t)      y = ρD (t − z)      s = μ‖y_t‖ e_n                     at the fixed point û = −y: s is De Saxcé's shift
//! (W + ρD) x = ρD z − y − q − s                                          one pair of triangular solves
//! t ← t + 1.6 (x − z)                                                    Anderson(5) on (ρD)^½ t
//! ```
//!
//! One factorisation of `W + ρD` (Cholesky where W is symmetric, else LU) for many cheap iterations; the weights are one scalar a
//! block, which keeps the cones what they are. Redundant contacts do it no harm: wins on stuck, hyperstatic piles with a small ρ;
//! its tail at 1e-8 is slow where contacts slip. On W, ρ stays: balancing primal and dual residuals sent it to where nothing converged on
//! most of the problems that it was tried on, while 0.1 solved all but two of them. With the velocities as unknowns
//! ([`global::admm`](crate::numerics::global)) it follows primal over dual residual, ρD |z − z_last|. (ADMM for friction: Acary, Brémond,
//! Huber, RR-9118, 2018; Carpentier, Le Lidec, Montaut 2024, arXiv 2405.17020; the shift inside the splitting as in De Saxcé & Feng 1998.)

use super::nsgs::Sweeper;
use super::{LocalProblem, LocalSolver};
use crate::algebra::{multifrontal::BlockGeneral, sparse::BlockSymmetric};
use crate::numerics::{Measure, Progress, Report, Status, Watch, acceleration::Anderson, admissible::AdmissibleSet, residual::Residual};

/// Settings of the splitting (Siconos: `SICONOS_FRICTION_3D_ADMM`, `SICONOS_GLOBAL_FRICTION_3D_ADMM`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Admm {
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
    /// Most changes of ρ, each a factorisation.
    pub max_changes: usize,
    /// Looks at the residual, every fifth iteration, without a hundredth of progress that end the solve; 0: any number.
    pub patience: usize,
}

impl Default for Admm {
    fn default() -> Self {
        let (max_changes, patience) = (0, 0);
        Self { tolerance: 1e-8, measure: Measure::Rel, max_iterations: 5000, rho: 0.1, relaxation: 1.6, window: 5, max_changes, patience }
    }
}

impl LocalSolver for Admm {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        self.run(&mut Splitting::new(&Sweeper::new(p)), r, u, watch)
    }
}

/// Iterations between two looks at the true residual.
const CHECK: usize = 5;
/// An accelerated point may have this many times the best residual of the map.
const SLACK: f64 = 2.0;
/// Ratio of primal and dual residual within which ρ stays.
const BALANCE: f64 = 6.0;

/// A problem with the linear algebra of its splitting. `d` is ρD, row by row.
pub(in crate::numerics) trait Split {
    /// The sets, the first row of each and the number of rows, D of each.
    fn blocks(&self) -> (&[AdmissibleSet], &[usize], &[f64]);

    /// The constant part that [`solve`](Self::solve) wants taken away.
    fn given(&self) -> &[f64];

    /// Makes ready for [`solve`](Self::solve); false when the matrix is singular.
    fn factorise(&mut self, d: &[f64]) -> bool;

    /// Turns `ρD z − y − s − given` into x.
    fn solve(&mut self, d: &[f64], x: &mut [f64]);

    /// The errors of `r`; sets `u`.
    fn residual(&mut self, r: &[f64], u: &mut [f64]) -> Residual;
}

impl Admm {
    /// Iterates from `r` with what was prepared for the problem.
    pub(in crate::numerics) fn run(&self, split: &mut impl Split, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut best = self.measure.of(&split.residual(r, u));
        let mut best_r = r.to_vec();
        let mut point = Point::new(split, self.rho, r, u);
        let mut regular = best <= self.tolerance || split.factorise(&point.d);
        report.factorisations += usize::from(best > self.tolerance);
        let (mut changes, mut next_change, mut idle) = (0, 15, 0);
        let mut memory = Anderson::new(r.len(), self.window.max(1));
        let (mut least, mut accelerated) = (f64::INFINITY, false);
        let mut plain = point.t.clone();
        let patience = if self.patience > 0 { self.patience } else { usize::MAX };
        while best > self.tolerance && report.iterations < self.max_iterations && regular && idle < patience {
            report.iterations += 1;
            point.map(split);
            let primal = point.primal();
            if !primal.is_finite() {
                break;
            }
            if accelerated && primal > SLACK * SLACK * least {
                // the accelerated point is worse than where it came from
                memory.restart();
                point.t.copy_from_slice(&plain);
                (accelerated, least) = (false, f64::INFINITY);
                continue;
            }
            least = least.min(primal);
            if report.iterations.is_multiple_of(CHECK) {
                let error = self.measure.of(&split.residual(&point.z, u));
                idle = if error < 0.99 * best { 0 } else { idle + 1 };
                if error < best {
                    best = error;
                    best_r.copy_from_slice(&point.z);
                }
            }
            if !watch(Progress { iteration: report.iterations, error: best }) {
                break;
            }
            if changes < self.max_changes && report.iterations >= next_change {
                let ratio = point.balance(primal);
                if !(1.0 / BALANCE..=BALANCE).contains(&ratio) {
                    point.set_penalty((point.rho * ratio.sqrt().clamp(0.1, 10.0)).clamp(1e-6, 1e3));
                    regular = split.factorise(&point.d);
                    report.factorisations += 1;
                    changes += 1;
                    next_change = report.iterations + 15 + 25 * changes;
                    memory.restart();
                    (accelerated, least) = (false, f64::INFINITY);
                    continue;
                }
            }
            point.relax(self.relaxation, &mut plain);
            if self.window == 0 {
                point.t.copy_from_slice(&plain);
            } else {
                accelerated = point.accelerate(&mut memory, &plain);
            }
        }
        r.copy_from_slice(&best_r);
        let found = split.residual(r, u);
        if self.measure.of(&found) <= self.tolerance {
            report.status = Status::Converged;
        } else if !regular || idle >= patience {
            report.status = Status::Stalled;
        }
        report.with(&found)
    }
}

/// The iterate t and what one pass makes of it.
struct Point {
    rho: f64,
    d: Vec<f64>,
    t: Vec<f64>,
    z: Vec<f64>,
    last_z: Vec<f64>,
    y: Vec<f64>,
    x: Vec<f64>,
    scaled: Vec<f64>,
}

impl Point {
    /// `t = r − û / (ρD)`: the fixed point whose projection is r.
    fn new(split: &impl Split, rho: f64, r: &[f64], u: &[f64]) -> Self {
        let (sets, offsets, weights) = split.blocks();
        let [mut d, mut t, z, last_z, y, x, scaled] = std::array::from_fn(|_| vec![0.0; r.len()]);
        for ((set, weight), o) in sets.iter().zip(weights).zip(offsets.windows(2)).filter(|(_, o)| o[0] < o[1]) {
            let inverse = 1.0 / (rho * weight);
            for k in o[0]..o[1] {
                d[k] = rho * weight;
                t[k] = r[k] - inverse * u[k];
            }
            t[o[0]] -= inverse * set.shift(&u[o[0]..o[1]]);
        }
        Self { rho, d, t, z, last_z, y, x, scaled }
    }

    /// One pass of the splitting: z, y and x of t.
    fn map(&mut self, split: &mut impl Split) {
        std::mem::swap(&mut self.z, &mut self.last_z);
        self.z.copy_from_slice(&self.t);
        let ((sets, offsets, _), given) = (split.blocks(), split.given());
        for (set, o) in sets.iter().zip(offsets.windows(2)).filter(|(_, o)| o[0] < o[1]) {
            let range = o[0]..o[1];
            set.project(&mut self.z[range.clone()]);
            for k in range.clone() {
                self.y[k] = self.d[k] * (self.t[k] - self.z[k]);
                self.x[k] = self.d[k] * self.z[k] - self.y[k] - given[k];
            }
            self.x[o[0]] -= set.shift(&self.y[range]);
        }
        split.solve(&self.d, &mut self.x);
    }

    /// `|(ρD)^½ (x − z)|²`
    fn primal(&self) -> f64 {
        self.d.iter().zip(&self.x).zip(&self.z).map(|((d, x), z)| d * (x - z) * (x - z)).sum()
    }

    /// Primal over dual residual, each relative to its variable.
    fn balance(&self, primal: f64) -> f64 {
        let square = |a: &[f64], b: &[f64]| self.d.iter().zip(a).zip(b).map(|((d, a), b)| d * (a - b).powi(2)).sum::<f64>();
        let reaction = self.d.iter().zip(&self.z).map(|(d, z)| d * z * z).sum::<f64>();
        let relative = |a: f64, b: f64| (a / b.max(f64::MIN_POSITIVE)).sqrt();
        let dual = relative(square(&self.z, &self.last_z), square(&self.t, &self.z));
        (relative(primal, reaction) / dual.max(f64::MIN_POSITIVE)).clamp(1e-9, 1e9)
    }

    /// A new ρ at the same z and the same dual y.
    fn set_penalty(&mut self, rho: f64) {
        for ((t, z), d) in self.t.iter_mut().zip(&self.z).zip(&mut self.d) {
            *t = z + (*t - z) * self.rho / rho;
            *d *= rho / self.rho;
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
        for (k, d) in self.d.iter().enumerate() {
            let root = d.sqrt();
            self.t[k] *= root;
            self.scaled[k] = root * plain[k];
        }
        let accelerated = memory.step(&mut self.t, &self.scaled);
        self.t.iter_mut().zip(&self.d).for_each(|(t, d)| *t *= 1.0 / d.sqrt());
        accelerated
    }
}

/// The factors of `W + ρD` for one problem.
pub(super) struct Splitting<'a> {
    pub(super) sweeper: &'a Sweeper<'a>,
    matrix: Factors,
    sizes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

enum Factors {
    Symmetric(BlockSymmetric),
    General(Box<BlockGeneral>),
}

/// Relative asymmetry up to which Cholesky is right.
const SYMMETRIC: f64 = 1e-12;

impl<'a> Splitting<'a> {
    pub(super) fn new(sweeper: &'a Sweeper<'a>) -> Self {
        let w = &sweeper.p.w;
        let symmetric = w.asymmetry() <= SYMMETRIC;
        let matrix = if symmetric { Factors::Symmetric(BlockSymmetric::default()) } else { Factors::General(Box::default()) };
        Self { sweeper, matrix, sizes: (0..w.block_count()).map(|i| w.rows(i) as u32).collect(), pairs: w.couplings() }
    }
}

impl Split for Splitting<'_> {
    fn blocks(&self) -> (&[AdmissibleSet], &[usize], &[f64]) {
        (&self.sweeper.p.sets, self.sweeper.p.w.offsets(), self.sweeper.weights())
    }

    fn given(&self) -> &[f64] {
        &self.sweeper.p.q
    }

    fn factorise(&mut self, d: &[f64]) -> bool {
        let w = &self.sweeper.p.w;
        let mut own = Vec::new();
        match &mut self.matrix {
            Factors::Symmetric(a) => a.set_pattern(&self.sizes, &self.pairs),
            Factors::General(a) => a.set_pattern(&self.sizes, &self.pairs),
        }
        for i in 0..w.block_count() {
            let n = w.rows(i);
            own.clear();
            own.resize(n * n, 0.0);
            w.range(i).enumerate().for_each(|(k, row)| own[k * n + k] = d[row]);
            match &mut self.matrix {
                Factors::Symmetric(a) => a.add(i, i, &own),
                Factors::General(a) => a.add(i, i, &own),
            }
            for (j, block) in w.row(i) {
                match &mut self.matrix {
                    Factors::Symmetric(a) if j <= i => a.add(i, j, block),
                    Factors::Symmetric(_) => {}
                    Factors::General(a) => a.add(i, j, block),
                }
            }
        }
        match &mut self.matrix {
            Factors::Symmetric(a) => a.factorise(),
            Factors::General(a) => a.factorise(),
        }
    }

    fn solve(&mut self, _: &[f64], x: &mut [f64]) {
        match &mut self.matrix {
            Factors::Symmetric(a) => a.solve_factorised(x),
            Factors::General(a) => a.solve(x),
        }
    }

    fn residual(&mut self, r: &[f64], u: &mut [f64]) -> Residual {
        self.sweeper.residual(r, u)
    }
}
