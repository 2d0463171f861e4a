//! Primal-dual interior point on the second-order cones of friction, with De Saxcé's shift in Newton's equations.
//!
//! ```text
//! x = (μ r_n, r_t) √d,   y = (û_n/μ, u_t) / √d        x, y ∈ L = {|x̄| ≤ x₀},   d the mean diagonal of the block's W
//! y = W' x + q' + |ȳ| e₀        x ∘ y = σ ν e → 0        ν = x·y / number of cones
//! Δy = J (W' Δx + G),   J = I + e₀ ȳᵀ/|ȳ|,   G = W' x + q' + |ȳ| e₀ − y
//! (I + T⁻¹ J W' T⁻¹) T Δx = λ \ c − T⁻¹ J G        c = σ ν e − λ∘λ − (T Δx_a) ∘ (T⁻¹ Δy_a),   λ = T x = T⁻¹ y
//! ```
//!
//! T is the Nesterov–Todd scaling, the corrector Mehrotra's; the matrix is regular whatever the rank of W and is factorised by
//! a sparse LU once an iteration, for two solves. The number of iterations hardly depends on the size: it is the choice for
//! redundant, tightly solved problems. The first guess is not used, so it does not gain from the last time step. The cones must
//! be symmetric: joints (free rows), unilateral rows, friction and second-order cones are; relays, rolling and bounds are not, and such
//! a problem comes back as [`Status::Stalled`] at once. As the shift is not monotone, convergence is not proved: a step that
//! ends at the border with next to nothing gained is followed by a retreat along the units of the cones.
//!
//! Measured, iterations to 1e-8: a tower of 570 contacts 8, a stack of 52 boxes 17, heaps of 225 to 296 capsules 18 to 29, 7002
//! contacts in the plane 44. A pile of 463 rocks with μ = 1 and a nonsymmetric W stops at 9e-4. (Mehrotra 1992; Nesterov & Todd
//! 1997; for contact: Krabbenhøft, Lyamin, Huang, Vicente da Silva 2012; Acary, Armand, Nguyen, Shpakovych 2023.)

use super::cones::{self, Cone};
use super::{LocalProblem, LocalSolver, trial::Trial};
use crate::algebra::multifrontal::BlockGeneral;
use crate::numerics::{Measure, Progress, Report, Status, Watch, admissible::AdmissibleSet};

/// Settings of the interior point method (Siconos: `SICONOS_GLOBAL_FRICTION_3D_IPM`, there without the shift).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InteriorPoint {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of iterations.
    pub max_iterations: usize,
    /// Share of the way to the border of the cones that a step may take.
    pub step_share: f64,
}

impl Default for InteriorPoint {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 150, step_share: 0.99 }
    }
}

/// Iterations without a tenth less error after which a run stalls.
const PATIENCE: usize = 40;
/// Weight of free rows on the diagonal, where W may be singular.
const REGULARISATION: f64 = 1e-13;
/// A step shorter than this is followed by a retreat of so many √ν from the border.
const STUCK: f64 = 0.05;
const RETREAT: f64 = 10.0;

impl LocalSolver for InteriorPoint {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut trial = Trial::new(p, self.tolerance, self.measure, PATIENCE, r, u);
        let cones: Option<Vec<Cone>> = p.sets.iter().map(|set| cone_of(*set)).collect();
        let Some(cones) = cones else { return trial.finish(Status::Stalled, 0, 0, r, u) };
        if trial.done() {
            return trial.finish(Status::Converged, 0, 0, r, u);
        }
        let mut path = Path::new(p, cones, &trial.weights);
        // the order of elimination of a large matrix takes as long as a step
        path.matrix.set_pattern(&path.sizes, &path.pairs);
        let go_on = watch(Progress { iteration: 0, error: trial.latest });
        let (mut status, mut k) = (Status::BudgetSpent, 0);
        while go_on && k < self.max_iterations {
            k += 1;
            if !path.step(p, self.step_share) {
                status = Status::Stalled;
                break;
            }
            r.iter_mut().zip(&path.x).zip(&path.weight).for_each(|((r, x), c)| *r = c * x);
            trial.velocity(r, u);
            if let Some(end) = trial.over(k, r, u, watch) {
                status = end;
                break;
            }
        }
        trial.finish(status, k, k, r, u)
    }
}

/// The symmetric cone of a set, `None` where there is none.
fn cone_of(set: AdmissibleSet) -> Option<Cone> {
    match set {
        AdmissibleSet::Free => Some(Cone::Free),
        AdmissibleSet::NonNegative => Some(Cone::Orthant),
        AdmissibleSet::Coulomb { mu } | AdmissibleSet::SecondOrder { mu } if mu <= 0.0 => Some(Cone::Orthant),
        AdmissibleSet::Coulomb { .. } => Some(Cone::Lorentz(true)),
        AdmissibleSet::SecondOrder { .. } => Some(Cone::Lorentz(false)),
        AdmissibleSet::Interval { .. }
        | AdmissibleSet::Crushing { .. }
        | AdmissibleSet::Rolling { .. }
        | AdmissibleSet::Twisting { .. } => None,
    }
}

/// Where the central path is, and what a step needs.
struct Path {
    cones: Vec<Cone>,
    /// r = c x, y = c û
    weight: Vec<f64>,
    degree: f64,
    x: Vec<f64>,
    y: Vec<f64>,
    w: Vec<f64>,
    beta: Vec<f64>,
    lambda: Vec<f64>,
    /// direction of ȳ
    slip: Vec<f64>,
    /// J G
    misfit: Vec<f64>,
    dx: Vec<f64>,
    dy: Vec<f64>,
    corrector: Vec<f64>,
    scratch: [Vec<f64>; 2],
    sizes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    matrix: BlockGeneral,
    block: [Vec<f64>; 3],
    /// T⁻¹ of every block, row-major, and where each starts
    t_inv: Vec<f64>,
    t_start: Vec<usize>,
}

impl Path {
    fn new(p: &LocalProblem, cones: Vec<Cone>, weights: &[f64]) -> Self {
        let n = p.order();
        let mut weight = vec![0.0; n];
        let mut degree = 0.0;
        for (i, set) in p.sets.iter().enumerate() {
            let range = p.w.range(i);
            let c = 1.0 / weights[i].sqrt();
            weight[range.clone()].fill(c);
            match (*set, cones[i]) {
                (AdmissibleSet::Coulomb { mu } | AdmissibleSet::SecondOrder { mu }, Cone::Lorentz(_)) => {
                    weight[range.start] = c / mu;
                    degree += 1.0;
                }
                // no friction: tangents are held at 0
                (AdmissibleSet::Coulomb { .. } | AdmissibleSet::SecondOrder { .. }, _) => {
                    weight[range.start + 1..range.end].fill(0.0);
                    degree += 1.0;
                }
                (_, Cone::Orthant) => degree += range.len() as f64,
                _ => {}
            }
        }
        // a start as large as the data
        let size = p.q.iter().zip(&weight).map(|(q, c)| (q * c).abs()).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        for (i, cone) in cones.iter().enumerate() {
            let range = p.w.range(i);
            cones::add_unit(*cone, size, &weight[range.clone()], &mut x[range.clone()]);
            cones::add_unit(*cone, size, &weight[range.clone()], &mut y[range]);
        }
        let largest = (0..p.sets.len()).map(|i| p.w.rows(i)).max().unwrap_or(0);
        let mut squares = 0;
        let t_start = (0..p.sets.len())
            .map(|i| {
                squares += p.w.rows(i).pow(2);
                squares - p.w.rows(i).pow(2)
            })
            .collect();
        let vector = || vec![0.0; n];
        Self {
            beta: vec![0.0; cones.len()],
            cones,
            weight,
            degree: degree.max(1.0),
            x,
            y,
            w: vector(),
            lambda: vector(),
            slip: vector(),
            misfit: vector(),
            dx: vector(),
            dy: vector(),
            corrector: vector(),
            scratch: [vector(), vector()],
            sizes: (0..p.sets.len()).map(|i| p.w.rows(i) as u32).collect(),
            pairs: p.w.couplings(),
            matrix: BlockGeneral::default(),
            block: std::array::from_fn(|_| vec![0.0; largest * largest]),
            t_inv: vec![0.0; squares],
            t_start,
        }
    }

    /// One predictor and corrector; false when the numbers gave out.
    fn step(&mut self, p: &LocalProblem, share: f64) -> bool {
        let n = self.x.len();
        let nu = self.x.iter().zip(&self.y).map(|(x, y)| x * y).sum::<f64>() / self.degree;
        for (i, cone) in self.cones.iter().enumerate() {
            let range = p.w.range(i);
            let (x, y) = (&self.x[range.clone()], &self.y[range.clone()]);
            self.beta[i] = cones::scale(*cone, x, y, &mut self.w[range.clone()]);
            cones::apply(*cone, &self.w[range.clone()], self.beta[i], false, x, &mut self.lambda[range.clone()]);
            cones::inverse(*cone, &self.w[range.clone()], self.beta[i], &mut self.t_inv[self.t_start[i]..][..range.len().pow(2)]);
            if *cone == Cone::Free {
                self.lambda[range.clone()].fill(0.0);
            }
            let slip = &mut self.slip[range];
            slip.fill(0.0);
            if *cone == Cone::Lorentz(true) {
                let size = y[1..].iter().map(|y| y * y).sum::<f64>().sqrt();
                (1..y.len()).filter(|_| size > 0.0).for_each(|k| slip[k] = y[k] / size);
            }
        }
        self.set_misfit(p);
        self.assemble(p);
        if !self.matrix.factorise() {
            return false;
        }
        // predictor: λ \ (−λ∘λ) = −λ
        self.corrector.iter_mut().zip(&self.lambda).for_each(|(c, l)| *c = -l);
        if !self.direction(p) {
            return false;
        }
        let reach = self.reach(p);
        let sigma = (1.0 - reach).powi(3);
        for (i, cone) in self.cones.iter().enumerate() {
            let range = p.w.range(i);
            let [a, b] = &mut self.scratch;
            let (a, b) = (&mut a[range.clone()], &mut b[range.clone()]);
            let (w, lambda) = (&self.w[range.clone()], &self.lambda[range.clone()]);
            let c = &mut self.corrector[range.clone()];
            cones::apply(*cone, w, self.beta[i], false, &self.dx[range.clone()], a);
            cones::apply(*cone, w, self.beta[i], true, &self.dy[range.clone()], b);
            cones::product(*cone, a, b, c);
            cones::product(*cone, lambda, lambda, a);
            c.iter_mut().zip(a.iter()).for_each(|(c, l)| *c = -*c - l);
            cones::add_unit(*cone, sigma * nu, &self.weight[range], c);
            cones::divide(*cone, lambda, c);
        }
        if !self.direction(p) {
            return false;
        }
        let t = share * self.reach(p);
        let t = t.min(1.0);
        for k in 0..n {
            self.x[k] += t * self.dx[k];
            self.y[k] += t * self.dy[k];
        }
        for (i, cone) in self.cones.iter().enumerate() {
            let range = p.w.range(i);
            cones::lift(*cone, &mut self.x[range.clone()]);
            cones::lift(*cone, &mut self.y[range.clone()]);
            if t < STUCK {
                // at the border with the misfit left behind: back towards the path
                cones::add_unit(*cone, RETREAT * nu.sqrt(), &self.weight[range.clone()], &mut self.x[range.clone()]);
                cones::add_unit(*cone, RETREAT * nu.sqrt(), &self.weight[range.clone()], &mut self.y[range]);
            }
        }
        self.x.iter().chain(&self.y).all(|x| x.is_finite())
    }

    /// `J (W' x + q' + |ȳ| e₀ − y)`
    fn set_misfit(&mut self, p: &LocalProblem) {
        let [r, u] = &mut self.scratch;
        (0..r.len()).for_each(|k| r[k] = self.weight[k] * self.x[k]);
        p.w.multiply(r, u);
        for (k, g) in self.misfit.iter_mut().enumerate() {
            *g = self.weight[k] * (u[k] + p.q[k]) - self.y[k];
        }
        for (i, cone) in self.cones.iter().enumerate() {
            let range = p.w.range(i);
            if *cone == Cone::Lorentz(true) {
                let size = self.y[range.clone()][1..].iter().map(|y| y * y).sum::<f64>().sqrt();
                self.misfit[range.start] += size;
                let bend: f64 = range.clone().map(|k| self.slip[k] * self.misfit[k]).sum();
                self.misfit[range.start] += bend;
            }
        }
    }

    /// `I + T⁻¹ J W' T⁻¹`
    fn assemble(&mut self, p: &LocalProblem) {
        self.matrix.set_pattern(&self.sizes, &self.pairs);
        for (i, cone) in self.cones.iter().enumerate() {
            let (n, range) = (p.w.rows(i), p.w.range(i));
            let [left, scaled, out] = &mut self.block;
            // T⁻¹ J, or J of free rows
            let left = &mut left[..n * n];
            let t_inv = &self.t_inv[self.t_start[i]..][..n * n];
            for a in 0..n {
                (0..n).for_each(|b| left[a * n + b] = t_inv[a * n + b] + t_inv[a * n] * self.slip[range.start + b]);
            }
            for (j, w) in p.w.row(i) {
                let (columns, first) = (p.w.rows(j), p.w.range(j).start);
                let (scaled, out) = (&mut scaled[..n * columns], &mut out[..n * columns]);
                for a in 0..n {
                    for b in 0..columns {
                        scaled[a * columns + b] = self.weight[range.start + a] * w[a * columns + b] * self.weight[first + b];
                    }
                }
                multiply(left, scaled, columns, out);
                multiply(out, &self.t_inv[self.t_start[j]..][..columns * columns], columns, scaled);
                self.matrix.add(i, j, scaled);
            }
            let unit = if *cone == Cone::Free { REGULARISATION } else { 1.0 };
            let out = &mut out[..n * n];
            (0..n * n).for_each(|k| out[k] = if k % (n + 1) == 0 { unit } else { 0.0 });
            self.matrix.add(i, i, out);
        }
    }

    /// Solves for dx with the present corrector `λ \ c`, then dy.
    fn direction(&mut self, p: &LocalProblem) -> bool {
        for (i, cone) in self.cones.iter().enumerate() {
            let range = p.w.range(i);
            let (w, dx) = (&self.w[range.clone()], &mut self.dx[range.clone()]);
            cones::apply(*cone, w, self.beta[i], true, &self.misfit[range.clone()], dx);
            dx.iter_mut().zip(&self.corrector[range]).for_each(|(d, c)| *d = c - *d);
        }
        self.matrix.solve(&mut self.dx);
        // T Δx is known: Δx, and Δy from T Δx + T⁻¹ Δy = λ \ c
        for (i, cone) in self.cones.iter().enumerate() {
            let range = p.w.range(i);
            let (w, beta) = (&self.w[range.clone()], self.beta[i]);
            let a = &mut self.scratch[0][range.clone()];
            (0..a.len()).for_each(|k| a[k] = self.corrector[range.start + k] - self.dx[range.start + k]);
            cones::apply(*cone, w, beta, false, a, &mut self.dy[range.clone()]);
            if *cone == Cone::Free {
                self.dy[range].fill(0.0);
                continue;
            }
            a.copy_from_slice(&self.dx[range.clone()]);
            cones::apply(*cone, w, beta, true, a, &mut self.dx[range]);
        }
        self.dx.iter().chain(&self.dy).all(|x| x.is_finite())
    }

    /// The longest step ≤ 1 inside all cones.
    fn reach(&self, p: &LocalProblem) -> f64 {
        let mut t = 1.0f64;
        for (i, cone) in self.cones.iter().enumerate() {
            let range = p.w.range(i);
            t = t.min(cones::longest(*cone, &self.x[range.clone()], &self.dx[range.clone()]));
            t = t.min(cones::longest(*cone, &self.y[range.clone()], &self.dy[range]));
        }
        t
    }
}

/// `out = a b` for row-major a (square) and b with so many columns.
fn multiply(a: &[f64], b: &[f64], columns: usize, out: &mut [f64]) {
    let inner = b.len() / columns.max(1);
    for (row, out) in a.chunks_exact(inner.max(1)).zip(out.chunks_exact_mut(columns)) {
        out.fill(0.0);
        for (x, b) in row.iter().zip(b.chunks_exact(columns)) {
            out.iter_mut().zip(b).for_each(|(o, b)| *o += x * b);
        }
    }
}
