//! Unknown reaction components, the cones that they live in, and the cone programs over them.

use crate::algebra::dense::{dot, norm};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::local::LocalProblem;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// The unknowns: each a combination of rows of one block, scaled by `D^-½`.
#[derive(Clone, Debug)]
pub(super) struct Coordinates {
    /// `(block, entries (row, coefficient of a in r))`
    unknowns: Vec<(usize, Vec<(usize, f64)>)>,
    cones: Vec<Cone>,
    start: Vec<f64>,
}

/// A constraint on unknowns, by their indices.
#[derive(Clone, Debug)]
enum Cone {
    /// `sign · (a − bound) ≥ 0`
    Bound { unknown: usize, sign: f64, bound: f64 },
    /// `|a_t| ≤ slope · a_n`; the slope counts in scaled unknowns.
    SecondOrder { slope: f64, normal: usize, tangents: Vec<usize> },
}

/// What of a block is unknown.
impl Coordinates {
    pub(super) fn new(p: &LocalProblem, r: &[f64], u: &[f64], tolerance: f64) -> Self {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let still = tolerance * largest(&p.q).max(largest(u));
        let mut all = Self { unknowns: Vec::new(), cones: Vec::new(), start: Vec::new() };
        for ((a, set), weight) in p.sets.iter().enumerate().zip(p.weights()) {
            let rows = p.w.range(a);
            if rows.is_empty() {
                continue;
            }
            let mut on_law = r[rows.clone()].to_vec();
            set.project(&mut on_law);
            let block = Block { index: a, first: rows.start, scale: 1.0 / weight.sqrt(), r: &on_law, u: &u[rows], still };
            block.add(*set, &mut all);
        }
        all
    }

    pub(super) fn len(&self) -> usize {
        self.unknowns.len()
    }

    /// The unknowns of the given solution.
    pub(super) fn start(&self) -> &[f64] {
        &self.start
    }

    fn push(&mut self, block: usize, entries: Vec<(usize, f64)>, start: f64) -> usize {
        self.unknowns.push((block, entries));
        self.start.push(start);
        self.unknowns.len() - 1
    }

    /// `Bᵀ W B`, row-major, where r = B a.
    pub(super) fn gram(&self, p: &LocalProblem) -> Vec<f64> {
        let n = self.len();
        let mut gram = vec![0.0; n * n];
        for (i, (block_i, entries_i)) in self.unknowns.iter().enumerate() {
            for (j, (block_j, entries_j)) in self.unknowns.iter().enumerate() {
                let Some(w) = p.w.block(*block_i, *block_j) else { continue };
                let (rows, columns) = (p.w.range(*block_i), p.w.range(*block_j));
                for (row, x) in entries_i {
                    let line = &w[(row - rows.start) * columns.len()..][..columns.len()];
                    gram[i * n + j] += x * entries_j.iter().map(|(column, y)| line[column - columns.start] * y).sum::<f64>();
                }
            }
        }
        gram
    }

    /// r of the unknowns.
    pub(super) fn expand(&self, a: &[f64], rows: usize) -> Vec<f64> {
        let mut r = vec![0.0; rows];
        for ((_, entries), a) in self.unknowns.iter().zip(a) {
            entries.iter().for_each(|&(row, x)| r[row] += x * a);
        }
        r
    }

    /// One component of r as a linear function of the unknowns.
    pub(super) fn component(&self, row: usize) -> Vec<f64> {
        let of = |entries: &[(usize, f64)]| entries.iter().filter(|(k, _)| *k == row).map(|(_, x)| x).sum();
        self.unknowns.iter().map(|(_, entries)| of(entries)).collect()
    }
}

/// One block of rows at the solution.
struct Block<'a> {
    index: usize,
    first: usize,
    scale: f64,
    r: &'a [f64],
    u: &'a [f64],
    still: f64,
}

impl Block<'_> {
    fn add(&self, set: AdmissibleSet, all: &mut Coordinates) {
        let n = self.r.len();
        match set {
            AdmissibleSet::Free => (0..n).for_each(|k| {
                self.single(k, all);
            }),
            AdmissibleSet::NonNegative => {
                for k in (0..n).filter(|&k| self.u[k] <= self.still) {
                    let unknown = self.single(k, all);
                    all.cones.push(Cone::Bound { unknown, sign: 1.0, bound: 0.0 });
                }
            }
            AdmissibleSet::Interval { lower, upper } => {
                for k in 0..n {
                    let unknown = self.single(k, all);
                    // where it moves, the reaction is the bound that it moves away from
                    let (least, most) = if self.u[k] > self.still {
                        (lower, lower)
                    } else if self.u[k] < -self.still {
                        (upper, upper)
                    } else {
                        (lower, upper)
                    };
                    for (sign, bound) in [(1.0, least), (-1.0, most)] {
                        if bound.is_finite() {
                            all.cones.push(Cone::Bound { unknown, sign, bound: bound / self.scale });
                        }
                    }
                }
            }
            AdmissibleSet::SecondOrder { mu } => self.cone(&[(mu, 1, n)], self.u[0] - mu * norm(&self.u[1..]), f64::INFINITY, all),
            AdmissibleSet::Coulomb { .. }
            | AdmissibleSet::Crushing { .. }
            | AdmissibleSet::Rolling { .. }
            | AdmissibleSet::Twisting { .. } => {
                let discs = set.discs(n).map(|(mu, rows)| (mu, rows.start, rows.end));
                let some = discs.iter().filter(|d| d.1 < d.2).count();
                self.cone(&discs[..some], self.u[0], set.most(), all);
            }
        }
    }

    /// A component that is an unknown of its own.
    fn single(&self, k: usize, all: &mut Coordinates) -> usize {
        all.push(self.index, vec![(self.first + k, self.scale)], self.r[k] / self.scale)
    }

    /// A contact: nothing when it opens; the discs `(slope, first, end)` that slide follow the normal, the others are unknown; where it gives
    /// way the normal is `most`.
    fn cone(&self, discs: &[(f64, usize, usize)], opening: f64, most: f64, all: &mut Coordinates) {
        if opening > self.still {
            return;
        }
        let mut entries = vec![(self.first, self.scale)];
        for &(mu, from, to) in discs {
            let speed = norm(&self.u[from..to]);
            if speed > self.still {
                entries.extend((from..to).map(|k| (self.first + k, -self.scale * mu * self.u[k] / speed)));
            }
        }
        let normal = all.push(self.index, entries, self.r[0] / self.scale);
        let least = if opening < -self.still && most < f64::INFINITY { most } else { 0.0 };
        all.cones.push(Cone::Bound { unknown: normal, sign: 1.0, bound: least / self.scale });
        if most < f64::INFINITY {
            all.cones.push(Cone::Bound { unknown: normal, sign: -1.0, bound: most / self.scale });
        }
        for &(slope, from, to) in discs.iter().filter(|d| d.0 > 0.0 && norm(&self.u[d.1..d.2]) <= self.still) {
            let tangents = (from..to).map(|k| self.single(k, all)).collect();
            all.cones.push(Cone::SecondOrder { slope, normal, tangents });
        }
    }
}

/// Cone programs over `a = a* + |a*| d` with `E d = 0`.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// the open directions, E d = 0: an orthonormal basis, one after the other
    basis: Vec<f64>,
    unknowns: usize,
    /// |a*|
    size: f64,
    start: Vec<f64>,
    /// entries `(column, row, value)`, by columns; rows: E, bounds, cones
    entries: Vec<(usize, usize, f64)>,
    offset: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    /// Constraints `offset − A d ∈ {0} × ℝ₊ × second-order cones`; `equations` are independent rows of the scaled W, of order n.
    pub(super) fn new(c: &Coordinates, basis: Vec<f64>, equations: &[Vec<f64>]) -> Self {
        let size = norm(&c.start);
        let size = if size > 0.0 { size } else { 1.0 };
        let (mut entries, mut offset) = (Vec::new(), Vec::new());
        for equation in equations {
            let scale = 1.0 / norm(equation);
            let nonzero = equation.iter().enumerate().filter(|(_, x)| **x != 0.0);
            entries.extend(nonzero.map(|(unknown, x)| (unknown, offset.len(), x * scale)));
            offset.push(0.0);
        }
        let mut row = |unknown: usize, factor: f64, shift: f64| {
            entries.push((unknown, offset.len(), -factor));
            offset.push(factor * c.start[unknown] / size + shift);
        };
        let mut bounds = 0;
        for cone in &c.cones {
            if let Cone::Bound { unknown, sign, bound } = cone {
                row(*unknown, *sign, -sign * bound / size);
                bounds += 1;
            }
        }
        let mut cones = vec![SupportedConeT::ZeroConeT(equations.len()), SupportedConeT::NonnegativeConeT(bounds)];
        for cone in &c.cones {
            if let Cone::SecondOrder { slope, normal, tangents } = cone {
                row(*normal, *slope, 0.0);
                tangents.iter().for_each(|&t| row(t, 1.0, 0.0));
                cones.push(SupportedConeT::SecondOrderConeT(1 + tangents.len()));
            }
        }
        entries.sort_by_key(|&(column, row, _)| (column, row));
        let start = c.start.iter().map(|x| x / size).collect();
        Self { basis, unknowns: c.len(), size, start, entries, offset, cones }
    }

    /// The extreme value of a linear function in the direction of `sign` (1: largest, −1: smallest) and the distance to the
    /// bound that the dual proves; `own` is its value at the solution.
    pub(super) fn extreme(&self, objective: &[f64], sign: f64, own: f64) -> (f64, f64) {
        let n = self.unknowns;
        let moved = self.basis.chunks_exact(n.max(1)).map(|column| dot(objective, column).powi(2)).sum::<f64>().sqrt();
        let length = norm(objective);
        // a component that no open direction moves
        if moved <= DETERMINED * length {
            return (own, 0.0);
        }
        let cost: Vec<f64> = objective.iter().map(|x| -sign * x / length).collect();
        let Some(solver) = self.run(CscMatrix::zeros((n, n)), &cost) else { return (own, f64::INFINITY) };
        let solution = &solver.solution;
        let unit = length * self.size;
        match solution.status {
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => (sign * f64::INFINITY, 0.0),
            SolverStatus::Solved | SolverStatus::AlmostSolved => {
                let value = -dot(&cost, &solution.x);
                // offset·z bounds the value from above, up to what is left of the dual equations
                let bound = dot(&self.offset, &solution.z);
                let mut left = cost;
                self.entries.iter().for_each(|&(column, row, x)| left[column] += x * solution.z[row]);
                let gap = (bound - value).abs() + norm(&left) * norm(&solution.x);
                (own + sign * unit * value, unit * gap)
            }
            _ => (own, f64::INFINITY),
        }
    }

    /// The unknowns of smallest `|a|`.
    pub(super) fn least_norm(&self) -> Option<Vec<f64>> {
        if self.basis.is_empty() {
            return Some(self.start.iter().map(|x| self.size * x).collect());
        }
        let solver = self.run(CscMatrix::identity(self.unknowns), &self.start)?;
        let solved = matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
        solved.then(|| self.start.iter().zip(&solver.solution.x).map(|(a, d)| self.size * (a + d)).collect())
    }

    fn run(&self, quadratic: CscMatrix<f64>, cost: &[f64]) -> Option<DefaultSolver<f64>> {
        let settings = DefaultSettings { verbose: false, tol_gap_abs: 1e-10, tol_gap_rel: 1e-10, tol_feas: 1e-10, ..Default::default() };
        let mut starts = vec![0; self.unknowns + 1];
        self.entries.iter().for_each(|&(column, ..)| starts[column + 1] += 1);
        (0..self.unknowns).for_each(|k| starts[k + 1] += starts[k]);
        let (rows, values) = self.entries.iter().map(|&(_, row, x)| (row, x)).unzip();
        let matrix = CscMatrix::new(self.offset.len(), self.unknowns, starts, rows, values);
        let mut solver = DefaultSolver::new(&quadratic, cost, &matrix, &self.offset, &self.cones, settings).ok()?;
        solver.solve();
        Some(solver)
    }
}

/// A component is determined where the open directions move it by less than this share of it.
const DETERMINED: f64 = 1e-8;
