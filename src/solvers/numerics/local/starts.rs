//! Further starts for Newton's method, where large friction makes the law anything but monotone.
//!
//! ```text
//! facets   cones with k = 4 or 8 edges:  r = n ρ + Σ d_j β_j,   0 ≤ ρ ⟂ u_n ≥ 0,   0 ≤ β_j ⟂ d_jᵀ u + λ ≥ 0,   0 ≤ λ ⟂ μ ρ − Σ β_j ≥ 0
//! curves   proximal problems from a unique solution to one of the problem itself, see [`path`](super::path)
//! points   r_c = s (q/w) (1, μ β t),   s from 1/30 to 30, β in [0, 1), t any direction: drawn from a fixed seed
//! ```
//!
//! A problem with μ ≥ 1 may have several solutions, and paths that end nowhere or at infinity. The faceted problem is a copositive
//! complementarity problem: Lemke's path ends in a solution wherever bodies can move apart at all (Anitescu & Potra 1997), and that
//! solution is near one of the round cones. Each attempt from there, or from a drawn point, is short: Newton meets a solution in some
//! tens of steps or not at all. Every start turns the facets anew.

use super::attempts::Attempts;
use super::equations::Function;
use super::newton::SemismoothNewton;
use super::path::Paths;
use super::{LocalProblem, LocalSolver};
use crate::algebra::matrix::Matrix;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::complementarity::{ComplementaritySolver, Lemke, Workspace};
use crate::numerics::relay::Relay;
use crate::numerics::{Measure, Report, Watch};

/// What is tried, and to which error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts {
    pub(super) tolerance: f64,
    pub(super) measure: Measure,
    /// Drawn points that are tried.
    pub(super) points: usize,
    /// The seed of the first.
    pub(super) seed: usize,
    /// Faceted problems that are tried first.
    pub(super) facets: usize,
    /// Curves of proximal problems that are followed after these.
    pub(super) curves: usize,
}

/// Factorisations of one curve, and their operations: a second or so.
const CURVE: (usize, f64) = (6000, 8e9);
/// Newton steps of one attempt.
const STEPS: usize = 60;
/// Functions of the attempts, in turn.
const FUNCTIONS: [Function; 3] = [Function::FischerBurmeister, Function::AlartCurnier, Function::NaturalMap];

impl Starts {
    /// Leaves the best point of all attempts in `r`.
    pub(super) fn run(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut work = Attempts::new(self.measure, watch);
        let newton = |function, regularisation| SemismoothNewton {
            tolerance: self.tolerance,
            measure: self.measure,
            max_iterations: STEPS,
            function,
            regularisation,
            restarts: 0,
            ..SemismoothNewton::default()
        };
        let (mut over, mut start) = (false, r.to_vec());
        for k in 0..self.facets {
            if over || !work.aside(|w| faceted(p, (self.seed + k) as u64, &mut start, w)) {
                break;
            }
            for (function, regularisation) in
                [(Function::AlartCurnier, 0.01), (Function::FischerBurmeister, 1.0), (Function::NaturalMap, 1.0)]
            {
                over = over || work.solve(Some(&start), r, u, |r, u, w| newton(function, regularisation).solve_watched(p, r, u, w));
            }
        }
        let weights = p.weights();
        let largest = p.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        if let (false, true, Some(mut curves)) = (over, self.curves > 0, Paths::new(p, &weights)) {
            let mut centre = vec![0.0; p.order()];
            for k in 0..self.curves {
                if self.seed + k > 0 {
                    Draw((self.seed + k) as u64).point(p, &weights, largest, &mut centre);
                }
                let most = ((CURVE.1 / curves.cost()) as usize).min(CURVE.0);
                curves.follow(&centre, most, |point| {
                    over = match point {
                        None => !work.go_on(),
                        point => work.solve(point, r, u, |r, u, w| newton(Function::AlartCurnier, 0.01).solve_watched(p, r, u, w)),
                    };
                    over
                });
                if over {
                    break;
                }
            }
        }
        for k in 0..if over { 0 } else { self.points } {
            Draw((self.seed + k) as u64).point(p, &weights, largest, &mut start);
            let newton = newton(FUNCTIONS[k % 3], [1.0, 100.0][k / 3 % 2]);
            if work.solve(Some(&start), r, u, |r, u, w| newton.solve_watched(p, r, u, w)) {
                break;
            }
        }
        let found = p.residual(r, u);
        if work.error < f64::INFINITY { work.report } else { work.report.with(&found) }
    }
}

/// Unknowns of a faceted problem, at most: its tableau is dense.
const LARGEST: usize = 1200;
/// Operations of the path of one faceted problem, at most.
pub(super) const PATH: f64 = 2e8;
/// Unknowns up to which a cone has eight edges.
const FINE: usize = 400;

/// Sets `r` to a solution of the problem with faceted cones; false where that is too large, or has sets that cannot be faceted.
fn faceted(p: &LocalProblem, seed: u64, r: &mut [f64], watch: &mut Watch) -> bool {
    let count = |edges: usize| -> usize {
        let unknowns = |i: usize| match p.sets[i] {
            AdmissibleSet::Coulomb { .. } | AdmissibleSet::Crushing { .. } => match p.w.rows(i) {
                3 => edges + 2,
                2 => 4,
                rows => rows,
            },
            _ => p.w.rows(i),
        };
        (0..p.sets.len()).map(unknowns).sum()
    };
    let edges = if count(8) <= FINE { 8 } else { 4 };
    let n = count(edges);
    let smooth =
        |s: &AdmissibleSet| matches!(s, AdmissibleSet::Rolling { .. } | AdmissibleSet::Twisting { .. } | AdmissibleSet::SecondOrder { .. });
    if n > LARGEST || p.sets.iter().any(smooth) {
        return false;
    }
    let mut random = Draw(seed);
    // what each row is made of: unknowns and their shares
    let mut images: Vec<Vec<(usize, f64)>> = vec![Vec::new(); p.order()];
    let (mut lower, mut upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
    let (mut m, mut q) = (vec![0.0; n * n], vec![0.0; n]);
    let mut at = 0;
    for (i, set) in p.sets.iter().enumerate() {
        let range = p.w.range(i);
        let directions: Vec<[f64; 2]> = match (set, range.len()) {
            (AdmissibleSet::Coulomb { .. } | AdmissibleSet::Crushing { .. }, 2) => vec![[1.0, 0.0], [-1.0, 0.0]],
            (AdmissibleSet::Coulomb { .. } | AdmissibleSet::Crushing { .. }, 3) => {
                // any first direction, then turns by an eighth or a quarter: no trigonometric function, whose last bits differ
                let (x, y) = (2.0 * random.next() - 1.0, 2.0 * random.next() - 1.0);
                let length = (x * x + y * y).sqrt();
                let mut d = if length > 1e-3 { [x / length, y / length] } else { [1.0, 0.0] };
                let mut all = vec![d];
                while all.len() < edges {
                    let half = std::f64::consts::FRAC_1_SQRT_2;
                    d = if edges == 8 { [half * (d[0] - d[1]), half * (d[0] + d[1])] } else { [-d[1], d[0]] };
                    all.push(d);
                }
                all
            }
            _ => Vec::new(),
        };
        let (AdmissibleSet::Coulomb { mu } | AdmissibleSet::Crushing { mu, .. }) = *set else {
            for row in range {
                images[row].push((at, 1.0));
                (lower[at], upper[at]) = set.bounds();
                at += 1;
            }
            continue;
        };
        images[range.start].push((at, 1.0));
        upper[at] = set.most();
        let slack = at + 1 + directions.len();
        for (k, d) in directions.iter().enumerate() {
            for (row, share) in (range.start + 1..range.end).zip(d) {
                images[row].push((at + 1 + k, *share));
            }
            m[(at + 1 + k) * n + slack] = 1.0;
            m[slack * n + at + 1 + k] = -1.0;
        }
        if directions.is_empty() {
            at += 1;
        } else {
            m[slack * n + at] = mu;
            at = slack + 1;
        }
    }
    for i in 0..p.sets.len() {
        for (j, block) in p.w.row(i) {
            let columns = p.w.range(j);
            for (row, values) in p.w.range(i).zip(block.chunks_exact(columns.len().max(1))) {
                for &(a, left) in &images[row] {
                    for (column, x) in columns.clone().zip(values) {
                        images[column].iter().for_each(|&(b, right)| m[a * n + b] += left * x * right);
                    }
                }
            }
        }
        for row in p.w.range(i) {
            images[row].iter().for_each(|&(a, share)| q[a] += share * p.q[row]);
        }
    }
    let statement = Relay { m: Matrix::dense(n, n, m), q, lower, upper };
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let lemke = Lemke { coverings: 2, proximal_steps: 0, max_pivots: (20 * n).min((PATH / (n * n) as f64) as usize), ..Lemke::default() };
    lemke.solve_with(&statement, &mut z, &mut w, &mut Workspace::default(), watch);
    for (r, image) in r.iter_mut().zip(&images) {
        *r = image.iter().map(|&(k, share)| share * z[k]).sum();
    }
    true
}

/// splitmix64, in [0, 1).
pub(super) struct Draw(pub(super) u64);

impl Draw {
    /// Any admissible reactions of a size from 1/30 to 30 of `largest` over the weights.
    fn point(&mut self, p: &LocalProblem, weights: &[f64], largest: f64, r: &mut [f64]) {
        let size = libm::pow(30.0, 2.0 * self.next() - 1.0);
        for (i, set) in p.sets.iter().enumerate() {
            let r = &mut r[p.w.range(i)];
            r.iter_mut().for_each(|r| *r = size * (2.0 * self.next() - 1.0) * largest / weights[i]);
            if let [normal, ..] = r {
                *normal = normal.abs();
            }
            if !r.is_empty() {
                set.project(r);
            }
        }
    }

    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
