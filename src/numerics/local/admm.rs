//! Alternating directions (ADMM, as a Douglas–Rachford splitting) with Anderson acceleration.
//!
//! ```text
//! z = P_K(v)      y = ρD (v − z)      s = μ‖y_t‖ e_n                     at the fixed point û = −y: s is De Saxcé's shift
//! (W + ρD) x = ρD z − y − q − s                                          one pair of triangular solves
//! v ← v + 1.6 (x − z)                                                    Anderson(5) on (ρD)^½ v
//! ```
//!
//! One factorisation of `W + ρD` (Cholesky where W is symmetric, else LU) for many cheap iterations; the weights are one scalar a
//! block, which keeps the cones what they are. Redundant contacts do it no harm: wins on stuck, hyperstatic piles with a small ρ;
//! its tail at 1e-8 is slow where contacts slip. ρ stays: balancing primal and dual residuals sent it to where nothing converged on
//! most of the problems that it was tried on, while 0.1 solved all but two of them. (ADMM for friction: Acary, Brémond, Huber, RR-9118, 2018; Carpentier, Le Lidec, Montaut 2024, arXiv 2405.17020;
//! the shift inside the splitting as in De Saxcé & Feng 1998.)

use super::nsgs::Sweeper;
use super::{LocalProblem, LocalSolver};
use crate::algebra::{multifrontal::BlockGeneral, sparse::BlockSymmetric};
use crate::numerics::{Measure, Progress, Report, Status, Watch, acceleration::Anderson};

/// Settings of the splitting (Siconos: `SICONOS_FRICTION_3D_ADMM`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Admm {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of iterations.
    pub max_iterations: usize,
    /// Penalty ρ, in units of the mean diagonal of W.
    pub rho: f64,
    /// Over-relaxation in (0, 2).
    pub relaxation: f64,
    /// Window of the Anderson acceleration; 0: none.
    pub window: usize,
}

impl Default for Admm {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 5000, rho: 0.1, relaxation: 1.6, window: 5 }
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

impl Admm {
    /// Iterates from `r` with what was prepared for the problem.
    pub(super) fn run(&self, split: &mut Splitting, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let sweeper = split.sweeper;
        let p = sweeper.p;
        let n = r.len();
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut found = sweeper.residual(r, u);
        let (mut best, mut best_r) = (self.measure.of(&found), r.to_vec());
        let rho = self.rho;
        // v = r − û / (ρD): the fixed point whose projection is r
        let regular = split.factorise(rho);
        report.factorisations += 1;
        let mut v = vec![0.0; n];
        split.start(rho, r, u, &mut v);
        let [mut z, mut y, mut x, mut new, mut g] = std::array::from_fn(|_| vec![0.0; n]);
        let mut memory = Anderson::new(n, self.window.max(1));
        let (mut least, mut accelerated) = (f64::INFINITY, false);
        let mut plain = v.clone();
        while best > self.tolerance && report.iterations < self.max_iterations && regular {
            report.iterations += 1;
            split.map(rho, &v, &mut z, &mut y, &mut x);
            let mut primal = 0.0;
            for i in 0..p.sets.len() {
                let d = rho * sweeper.weights[i];
                for k in p.w.range(i) {
                    let step = x[k] - z[k];
                    new[k] = v[k] + self.relaxation * step;
                    primal += d * step * step;
                }
            }
            if !primal.is_finite() {
                break;
            }
            let strayed = accelerated && primal > SLACK * SLACK * least;
            if strayed {
                // the accelerated point was worse than where it came from
                memory.restart();
                v.copy_from_slice(&plain);
                accelerated = false;
                least = f64::INFINITY;
                continue;
            }
            least = least.min(primal);
            if report.iterations.is_multiple_of(CHECK) {
                found = sweeper.residual(&z, u);
                let error = self.measure.of(&found);
                if error < best {
                    best = error;
                    best_r.copy_from_slice(&z);
                }
            }
            if !watch(Progress { iteration: report.iterations, error: best }) {
                break;
            }
            plain.copy_from_slice(&new);
            if self.window == 0 {
                v.copy_from_slice(&new);
                continue;
            }
            split.scale(rho, &mut v, &mut new, &mut g);
            accelerated = memory.step(&mut v, &g);
            split.unscale(rho, &mut v);
        }
        r.copy_from_slice(&best_r);
        let found = sweeper.residual(r, u);
        if self.measure.of(&found) <= self.tolerance {
            report.status = Status::Converged;
        } else if !regular {
            report.status = Status::Stalled;
        }
        report.with(&found)
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
        let blocks = w.block_count();
        let mut pairs = Vec::new();
        for i in 0..blocks {
            for &j in w.columns(i) {
                let (high, low) = ((i as u32).max(j), (i as u32).min(j));
                if (j as usize) < i || ((j as usize) > i && w.block(j as usize, i).is_none()) {
                    pairs.push((high, low));
                }
            }
        }
        pairs.sort_unstable();
        let symmetric = w.asymmetry() <= SYMMETRIC;
        let matrix = if symmetric { Factors::Symmetric(BlockSymmetric::default()) } else { Factors::General(Box::default()) };
        Self { sweeper, matrix, sizes: (0..blocks).map(|i| w.rows(i) as u32).collect(), pairs }
    }

    /// Factorises `W + ρD`; false when it is singular.
    fn factorise(&mut self, rho: f64) -> bool {
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
            (0..n).for_each(|k| own[k * n + k] = rho * self.sweeper.weights[i]);
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

    /// `v = r − û / (ρD)`
    fn start(&self, rho: f64, r: &[f64], u: &[f64], v: &mut [f64]) {
        let p = self.sweeper.p;
        for (i, set) in p.sets.iter().enumerate() {
            let range = p.w.range(i);
            let inverse = 1.0 / (rho * self.sweeper.weights[i]);
            let shift = set.shift(&u[range.clone()]);
            for k in range.clone() {
                v[k] = r[k] - inverse * u[k];
            }
            if !range.is_empty() {
                v[range.start] -= inverse * shift;
            }
        }
    }

    /// One pass of the splitting: z, y and x of `v`.
    fn map(&mut self, rho: f64, v: &[f64], z: &mut [f64], y: &mut [f64], x: &mut [f64]) {
        let p = self.sweeper.p;
        z.copy_from_slice(v);
        for (i, set) in p.sets.iter().enumerate() {
            let range = p.w.range(i);
            let d = rho * self.sweeper.weights[i];
            set.project(&mut z[range.clone()]);
            for k in range.clone() {
                y[k] = d * (v[k] - z[k]);
                x[k] = d * z[k] - y[k] - p.q[k];
            }
            if !range.is_empty() {
                x[range.start] -= set.shift(&y[range.clone()]);
            }
        }
        match &mut self.matrix {
            Factors::Symmetric(a) => a.solve_factorised(x),
            Factors::General(a) => a.solve(x),
        }
    }

    fn scale(&self, rho: f64, v: &mut [f64], new: &mut [f64], g: &mut [f64]) {
        let p = self.sweeper.p;
        for i in 0..p.sets.len() {
            let root = (rho * self.sweeper.weights[i]).sqrt();
            for k in p.w.range(i) {
                v[k] *= root;
                g[k] = root * new[k];
            }
        }
    }

    fn unscale(&self, rho: f64, v: &mut [f64]) {
        let p = self.sweeper.p;
        for i in 0..p.sets.len() {
            let root = 1.0 / (rho * self.sweeper.weights[i]).sqrt();
            p.w.range(i).for_each(|k| v[k] *= root);
        }
    }
}
