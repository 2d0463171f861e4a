//! M⁻¹ H, and what follows from it: q, W and the scales of the residual.

use super::{GlobalProblem, LocalProblem, MassFactors, ProblemError, Residual, natural_map, norm};
use crate::algebra::blocks::BlockRows;
use crate::algebra::dense::unit_of_squares;
use crate::numerics::acceptance::{Scales, velocity_scales};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::local::mend_weights;
use sprs::CsMat;

/// A problem whose M is factorised.
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, global::{GlobalProblem, Prepared}};
/// use sprs::CsMat;
/// let p = GlobalProblem {
///     mass: CsMat::eye(2).map(|x: &f64| 2.0 * x),
///     h: CsMat::eye(2),
///     f: vec![-4.0, 1.0],
///     w: vec![0.0; 2],
///     offsets: vec![0, 1, 2],
///     sets: vec![AdmissibleSet::NonNegative; 2],
/// };
/// let mut prepared = Prepared::new(&p)?;
/// assert_eq!(prepared.q(), [-2.0, 0.5]);
/// let (mut v, mut u) = ([0.0; 2], [0.0; 2]);
/// assert_eq!(prepared.residual(&[4.0, 0.0], &mut v, &mut u).rel, 0.0);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Debug)]
pub struct Prepared<'a> {
    pub(super) problem: &'a GlobalProblem,
    pub(super) factors: MassFactors,
    /// H by columns
    pub(super) columns: CsMat<f64>,
    /// `M⁻¹ H` by velocities, at the velocities that H touches: start of each, then rows and values
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// `M⁻¹ f`
    pub(super) free: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) weights: Vec<f64>,
    scales: Scales,
    /// blocks without any velocity
    pub(super) idle: Vec<bool>,
    momentum: Vec<f64>,
    inertia: Vec<f64>,
}

/// A negative gap velocity of a row that nothing moves is taken for rounding below this share of the largest of w.
const ROUNDING: f64 = 1e-12;

impl<'a> Prepared<'a> {
    /// Checks the problem and factorises M.
    pub fn new(problem: &'a GlobalProblem) -> Result<Self, ProblemError> {
        problem.validate()?;
        let mut factors = MassFactors::new(&problem.mass)?;
        let columns = problem.h.to_csc();
        let dofs = problem.f.len();
        let (starts, rows, values) = inverse_mass_times(&mut factors, &columns, dofs);
        let mut free = problem.f.clone();
        factors.solve(&mut free);
        let mut q = problem.w.clone();
        transposed_times(&columns, &free, &mut q);
        let mut p = Self {
            problem,
            factors,
            columns,
            starts,
            rows,
            values,
            free,
            q,
            weights: Vec::new(),
            scales: Scales::default(),
            idle: Vec::new(),
            momentum: vec![0.0; dofs],
            inertia: vec![0.0; dofs],
        };
        p.weigh();
        p.check_idle()?;
        p.scales = Scales { weights: p.weights.clone(), velocities: p.velocity_scales() };
        Ok(p)
    }

    /// `q = w + Hᵀ M⁻¹ f`
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Scale D of each block: the mean of the diagonal of its own W.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The scales on which blocks are judged.
    pub(in crate::numerics) fn scales(&self) -> &Scales {
        &self.scales
    }

    /// s_c of every block: it is coupled with those that touch the velocities of `M⁻¹ H` of its rows.
    fn velocity_scales(&self) -> Vec<f64> {
        let p = self.problem;
        let mut owner = vec![0u32; p.w.len()];
        (0..p.sets.len()).for_each(|a| owner[p.offsets[a]..p.offsets[a + 1]].fill(a as u32));
        // the blocks of each velocity once each, as rows are in order
        let (mut starts, mut met) = (vec![0], Vec::with_capacity(self.rows.len()));
        for range in self.starts.windows(2) {
            let first = met.len();
            for &row in &self.rows[range[0]..range[1]] {
                let block = owner[row as usize];
                if met.len() == first || met.last() != Some(&block) {
                    met.push(block);
                }
            }
            starts.push(met.len());
        }
        let columns = &self.columns;
        velocity_scales(&p.sets, &p.offsets, &self.q, |a| {
            // the velocities of its first row are those of all, or nearly: others are asked where they differ
            let mut known: Option<&[usize]> = None;
            let fresh = (p.offsets[a]..p.offsets[a + 1]).filter_map(move |row| {
                let range = columns.indptr().outer_inds_sz(row);
                let velocities = &columns.indices()[range];
                (known.replace(velocities) != Some(velocities)).then_some(velocities)
            });
            let (starts, met) = (&starts, &met);
            fresh.flatten().flat_map(move |&k| &met[starts[k]..starts[k + 1]]).map(|&b| b as usize)
        })
    }

    /// `v = M⁻¹ (H r + f)` and `u = Hᵀ v + w`.
    pub fn velocity(&mut self, r: &[f64], v: &mut [f64], u: &mut [f64]) {
        v.copy_from_slice(&self.problem.f);
        times(&self.columns, r, v);
        self.factors.solve(v);
        u.copy_from_slice(&self.problem.w);
        transposed_times(&self.columns, v, u);
    }

    /// The errors of `r`, as in the head of the module; v and u are recomputed from it.
    pub fn residual(&mut self, r: &[f64], v: &mut [f64], u: &mut [f64]) -> Residual {
        self.velocity(r, v, u);
        let p = self.problem;
        self.momentum.fill(0.0);
        times(&self.columns, r, &mut self.momentum);
        self.inertia.fill(0.0);
        p.mass.iter().for_each(|(m, (i, j))| self.inertia[i] += m * v[j]);
        let found = natural_map(&p.sets, &p.offsets, &self.scales, r, u, &self.q);
        let vectors = [&p.f, &self.inertia, &self.momentum, r, u, &self.q];
        let unit = unit_of_squares(&vectors);
        let rel = if unit == 1.0 {
            relative(vectors, found.rel)
        } else {
            let vectors = vectors.map(|x| x.iter().map(|x| unit * x).collect::<Vec<f64>>());
            relative(vectors.each_ref().map(Vec::as_slice), found.rel)
        };
        Residual { rel, ..found }
    }

    /// W and q. A block that no velocity reaches stands on the mean scale of the others, as its reaction is zero either way, or on nothing where
    /// that is at a bound.
    pub fn reduce(&self) -> Result<LocalProblem, ProblemError> {
        let p = self.problem;
        let blocks = p.sets.len();
        let mut owner = vec![0u32; p.w.len()];
        (0..blocks).for_each(|a| owner[p.offsets[a]..p.offsets[a + 1]].fill(a as u32));
        let (mut starts, mut block_columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let margin = self.idle_margin();
        // for one block row: the blocks met, and where each is summed
        let mut slot = vec![usize::MAX; blocks];
        let (mut met, mut sums): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        for a in 0..blocks {
            let first = p.offsets[a];
            let height = p.offsets[a + 1] - first;
            met.clear();
            sums.clear();
            if self.idle[a] {
                block_columns.push(a as u32);
                let diagonal = if self.at_bound(a, margin) { 0.0 } else { self.weights[a] };
                let scale = |k: usize| if k.is_multiple_of(height + 1) { diagonal } else { 0.0 };
                values.extend((0..height * height).map(scale));
                starts.push(block_columns.len());
                continue;
            }
            for row in first..first + height {
                for (k, h) in column(&self.columns, row) {
                    let range = self.starts[k]..self.starts[k + 1];
                    for (&c, y) in self.rows[range.clone()].iter().zip(&self.values[range]) {
                        let b = owner[c as usize] as usize;
                        let width = p.offsets[b + 1] - p.offsets[b];
                        if slot[b] == usize::MAX {
                            slot[b] = sums.len();
                            sums.resize(sums.len() + height * width, 0.0);
                            met.push(b as u32);
                        }
                        sums[slot[b] + (row - first) * width + c as usize - p.offsets[b]] += h * y;
                    }
                }
            }
            met.sort_unstable();
            for &b in &met {
                let width = p.offsets[b as usize + 1] - p.offsets[b as usize];
                values.extend_from_slice(&sums[slot[b as usize]..][..height * width]);
                slot[b as usize] = usize::MAX;
            }
            block_columns.extend_from_slice(&met);
            starts.push(block_columns.len());
        }
        let w = BlockRows::from_packed(p.offsets.clone(), starts, block_columns, values);
        let local = LocalProblem { w, q: self.q.clone(), sets: p.sets.clone() };
        local.validate().map(|()| local)
    }

    /// Diagonal of W by blocks.
    fn weigh(&mut self) {
        let p = self.problem;
        let blocks = p.sets.len();
        let (mut weights, mut idle) = (vec![0.0; blocks], vec![true; blocks]);
        for a in 0..blocks {
            let rows = p.offsets[a]..p.offsets[a + 1];
            let count = rows.len().max(1) as f64;
            for row in rows {
                for (k, h) in column(&self.columns, row) {
                    let range = self.starts[k]..self.starts[k + 1];
                    idle[a] &= h == 0.0;
                    if let Ok(at) = self.rows[range.clone()].binary_search(&(row as u32)) {
                        weights[a] += h * self.values[range.start + at] / count;
                    }
                }
            }
        }
        mend_weights(&mut weights);
        (self.weights, self.idle) = (weights, idle);
    }

    /// What |w| counts as none in rows that nothing moves.
    fn idle_margin(&self) -> f64 {
        ROUNDING * self.problem.w.iter().fold(0.0f64, |m, x| m.max(x.abs()))
    }

    /// Whether the law of an idle block holds under a reaction at its bound, and not without one.
    fn at_bound(&self, a: usize, margin: f64) -> bool {
        let p = self.problem;
        let w = &p.w[p.offsets[a]..p.offsets[a + 1]];
        match p.sets[a] {
            AdmissibleSet::Interval { .. } => w.iter().any(|x| x.abs() > margin),
            AdmissibleSet::Crushing { .. } => w.first().is_some_and(|x| *x < -margin),
            _ => false,
        }
    }

    /// Rows that nothing moves keep u = w: their law must hold with that.
    fn check_idle(&self) -> Result<(), ProblemError> {
        let p = self.problem;
        let margin = self.idle_margin();
        for (a, set) in p.sets.iter().enumerate().filter(|&(a, _)| self.idle[a]) {
            let w = &p.w[p.offsets[a]..p.offsets[a + 1]];
            let worst = match set {
                AdmissibleSet::Free => -w.iter().fold(0.0f64, |m, x| m.max(x.abs())),
                // what opens is held by the lower bound, what closes by the upper one, where they are finite
                AdmissibleSet::Interval { lower, upper } => {
                    let bounded = |x: f64| if x > 0.0 { lower.is_finite() } else { upper.is_finite() };
                    -w.iter().filter(|x| !bounded(**x)).fold(0.0f64, |m, x| m.max(x.abs()))
                }
                // it gives way under its largest reaction
                AdmissibleSet::Crushing { .. } => 0.0,
                AdmissibleSet::NonNegative => w.iter().fold(0.0f64, |m, x| m.min(*x)),
                AdmissibleSet::SecondOrder { mu } => w.first().copied().unwrap_or(0.0) - mu * norm(w.get(1..).unwrap_or(&[])),
                AdmissibleSet::Coulomb { .. } | AdmissibleSet::Rolling { .. } | AdmissibleSet::Twisting { .. } => {
                    w.first().copied().unwrap_or(0.0)
                }
            };
            if worst < -margin {
                return Err(ProblemError::OutOfRange {
                    what: format!("block {a} has no velocity in H, so its constant velocity stays; that"),
                    found: worst,
                    needed: "a law that holds without any reaction or at a bound is needed, or rows of H (are both of its systems immobile?)",
                });
            }
        }
        Ok(())
    }
}

impl GlobalProblem {
    /// Numbers that W holds at least: a block row is no shorter than the longest list of blocks on one of its velocities.
    pub(in crate::numerics) fn least_numbers_of_w(&self) -> u64 {
        let columns = self.h.to_csc();
        let mut met = vec![(usize::MAX, 0u64); self.f.len()];
        let blocks = || self.offsets.windows(2).map(|o| o[0]..o[1]).enumerate();
        for (a, rows) in blocks() {
            for (k, _) in rows.clone().flat_map(|row| column(&columns, row)) {
                if met[k].0 != a {
                    met[k] = (a, met[k].1 + rows.len() as u64);
                }
            }
        }
        let longest = |row: usize| column(&columns, row).map(|(k, _)| met[k].1).max().unwrap_or(0);
        blocks().map(|(_, rows)| rows.len() as u64 * rows.map(longest).max().unwrap_or(0)).sum()
    }
}

/// `|M v − H r − f| / max(|f|, |M v|, |H r|) + |F| / max(|r|, |u|)`, where |F| is `rel` times the largest of |r|, |u| and |q|.
fn relative([f, inertia, momentum, r, u, q]: [&[f64]; 6], rel: f64) -> f64 {
    let scale = norm(f).max(norm(inertia)).max(norm(momentum));
    let terms = inertia.iter().zip(momentum).zip(f);
    let balance = terms.map(|((mv, hr), f)| (mv - hr - f).powi(2)).sum::<f64>().sqrt();
    let law = norm(r).max(norm(u));
    let map = rel * law.max(norm(q));
    let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b.max(f64::MIN_POSITIVE) };
    ratio(balance, scale) + ratio(map, law)
}

/// `M⁻¹ H` by velocities, at those that H touches.
fn inverse_mass_times(factors: &mut MassFactors, columns: &CsMat<f64>, dofs: usize) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let mut needed = vec![false; dofs];
    columns.iter().for_each(|(_, (k, _))| needed[k] = true);
    let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(columns.nnz());
    let mut starts = vec![0; dofs + 1];
    let (mut sparse, mut touched) = (Vec::new(), Vec::new());
    for row in 0..columns.cols() {
        sparse.clear();
        sparse.extend(column(columns, row));
        factors.solve_sparse(&sparse, &mut touched, |k, x| {
            if needed[k] && x != 0.0 {
                entries.push((k as u32, row as u32, x));
                starts[k + 1] += 1;
            }
        });
    }
    (0..dofs).for_each(|k| starts[k + 1] += starts[k]);
    let mut next = starts.clone();
    let (mut rows, mut values) = (vec![0; entries.len()], vec![0.0; entries.len()]);
    // rows come in growing order, so they are sorted within each velocity
    for (k, row, x) in entries {
        let at = next[k as usize];
        (rows[at], values[at]) = (row, x);
        next[k as usize] += 1;
    }
    (starts, rows, values)
}

/// Entries `(velocity, value)` of one column of a matrix by columns.
pub(super) fn column(a: &CsMat<f64>, j: usize) -> impl Iterator<Item = (usize, f64)> {
    let range = a.indptr().outer_inds_sz(j);
    a.indices()[range.clone()].iter().copied().zip(a.data()[range].iter().copied())
}

/// `y += H r`
pub(super) fn times(h: &CsMat<f64>, r: &[f64], y: &mut [f64]) {
    for (row, r) in r.iter().enumerate().filter(|(_, r)| **r != 0.0) {
        column(h, row).for_each(|(k, h)| y[k] += h * r);
    }
}

/// `y += Hᵀ v`
pub(super) fn transposed_times(h: &CsMat<f64>, v: &[f64], y: &mut [f64]) {
    for (row, y) in y.iter_mut().enumerate() {
        *y += column(h, row).map(|(k, h)| h * v[k]).sum::<f64>();
    }
}
