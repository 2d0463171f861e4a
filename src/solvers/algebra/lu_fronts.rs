//! LU by dense fronts, those of several branches of the elimination tree at the same time; what the fronts of [`super::multifrontal`] hold and do.

use super::lanes::Lanes;
use super::panels::{self, ASIDE, Coefficients, Extent, Factors, SHARED, Subtract};
use std::ops::Range;

/// The branch of fronts that belong to none.
pub(super) const TOP: u32 = u32::MAX;

/// Fronts that are eliminated one after the other.
#[derive(Default)]
pub(super) struct Branch {
    pub(super) fronts: Range<usize>,
    /// their parts of `factor` and of `pivots`
    pub(super) factor: Range<usize>,
    pub(super) unknowns: Range<usize>,
    /// order of the largest front
    pub(super) largest: usize,
    /// the front that is being put together, and the Schur complements that wait for their parents: at last that of the branch
    pub(super) front: Vec<f64>,
    pub(super) stack: Vec<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Front {
    /// first pivot unknown in the new order
    pub(super) begin: usize,
    pub(super) pivots: usize,
    pub(super) updates: usize,
    /// new positions of the update unknowns
    pub(super) rows: Vec<u32>,
    /// positions of the update unknowns in the parent's front
    pub(super) into: Vec<u32>,
    pub(super) children: Vec<u32>,
    /// for each of the nodes that it may couple to, its number among the parent's nodes, and whether it does couple to it
    pub(super) among: Vec<u32>,
    pub(super) reached: Vec<bool>,
    /// blocks of the matrix: number (diagonal blocks, then two of each pair), row and column among the nodes of the front
    pub(super) parts: Vec<[u32; 3]>,
    /// `(start in values, rows, columns, row in the front, column in the front)`
    pub(super) blocks: Vec<(usize, u32, u32, u32, u32)>,
    /// start in `factor`: pivot block, then L_up, then the transpose of U_pu, all column-major
    pub(super) factor: usize,
    /// the branch that holds it
    pub(super) branch: u32,
}

impl Front {
    pub(super) fn multiplications(&self) -> f64 {
        let (p, u) = (self.pivots as f64, self.updates as f64);
        p * (p * p / 3.0 + p * u + u * u)
    }
}

/// The elimination of a branch, or of the top after all branches.
pub(super) struct Elimination<'a> {
    pub(super) fronts: &'a [Front],
    pub(super) values: &'a [f64],
    /// those before
    pub(super) branches: &'a [Branch],
    pub(super) own: &'a mut Branch,
    pub(super) id: u32,
    pub(super) factor: &'a mut [f64],
    pub(super) pivots: &'a mut [u32],
}

/// Eliminates these branches, whose factors and pivots start at `from`; false where a pivot block is singular.
pub(super) fn eliminate(
    some: &mut [Branch],
    id: u32,
    factor: &mut [f64],
    pivots: &mut [u32],
    from: [usize; 2],
    fronts: &[Front],
    values: &[f64],
) -> bool {
    match some {
        [] => true,
        [own] => {
            let factor = &mut factor[own.factor.start - from[0]..own.factor.end - from[0]];
            let pivots = &mut pivots[own.unknowns.start - from[1]..own.unknowns.end - from[1]];
            Elimination { fronts, values, branches: &[], own, id, factor, pivots }.run()
        }
        _ => {
            let (left, right) = some.split_at_mut(some.len() / 2);
            let (at, next) = ([right[0].factor.start, right[0].unknowns.start], id + left.len() as u32);
            let (first, rest) = factor.split_at_mut(at[0] - from[0]);
            let (upper, lower) = pivots.split_at_mut(at[1] - from[1]);
            let run = || eliminate(left, id, first, upper, from, fronts, values);
            let (a, b) = rayon::join(run, || eliminate(right, next, rest, lower, at, fronts, values));
            a && b
        }
    }
}

impl Elimination<'_> {
    pub(super) fn run(self) -> bool {
        let Self { fronts, values, branches, own, id, factor, pivots: swaps } = self;
        let Branch { fronts: range, factor: Range { start, .. }, unknowns: Range { start: unknown, .. }, front, stack, .. } = own;
        let (lanes, mut aside) = (Lanes::best(), ASIDE);
        stack.clear();
        for f in fronts[range.clone()].iter().filter(|f| f.branch == id) {
            let (pivots, updates) = (f.pivots, f.updates);
            let n = pivots + updates;
            let front = &mut front[..n * n];
            front.fill(0.0);
            for &(at, rows, columns, row, column) in &f.blocks {
                let block = &values[at..at + (rows * columns) as usize];
                for (r, line) in block.chunks_exact(columns as usize).enumerate() {
                    for (c, x) in line.iter().enumerate() {
                        front[(column as usize + c) * n + row as usize + r] += x;
                    }
                }
            }
            for &child in f.children.iter().rev() {
                let child = &fronts[child as usize];
                let into = &child.into;
                let m = into.len();
                if m == 0 {
                    continue;
                }
                let from = stack.len().saturating_sub(m * m);
                let theirs = if child.branch == id { &stack[from..] } else { &branches[child.branch as usize].stack[..] };
                for (column, &c) in theirs.chunks_exact(m).zip(into) {
                    let front = &mut front[c as usize * n..][..n];
                    column.iter().zip(into).for_each(|(x, &r)| front[r as usize] += x);
                }
                if child.branch == id {
                    stack.truncate(from);
                }
            }
            let panels = &mut factor[f.factor - *start..][..pivots * (pivots + 2 * updates)];
            let (pp, rest) = panels.split_at_mut(pivots * pivots);
            let (up, pu) = rest.split_at_mut(pivots * updates);
            for c in 0..pivots {
                pp[c * pivots..(c + 1) * pivots].copy_from_slice(&front[c * n..c * n + pivots]);
                up[c * updates..(c + 1) * updates].copy_from_slice(&front[c * n + pivots..(c + 1) * n]);
            }
            for c in 0..updates {
                let column = &front[(pivots + c) * n..][..pivots];
                column.iter().enumerate().for_each(|(k, x)| pu[k * updates + c] = *x);
            }
            let swaps = &mut swaps[f.begin - *unknown..][..pivots];
            if !panels::lu(lanes, &mut aside, pp, swaps) {
                return false;
            }
            if updates == 0 {
                continue;
            }
            for (k, &other) in swaps.iter().enumerate().filter(|(k, other)| *k != **other as usize) {
                let (low, high) = pu.split_at_mut(other as usize * updates);
                low[k * updates..][..updates].swap_with_slice(&mut high[..updates]);
            }
            let pp = &*pp;
            let lower = |x: &mut [f64], aside: &mut _| {
                panels::solve_right(lanes, aside, x, updates, pivots, Factors { values: pp, column: 1, depth: pivots }, true)
            };
            let upper = |x: &mut [f64], aside: &mut _| {
                panels::solve_right(lanes, aside, x, updates, pivots, Factors { values: pp, column: pivots, depth: 1 }, false)
            };
            if updates * pivots * pivots < SHARED {
                lower(pu, &mut aside);
                upper(up, &mut aside);
            } else {
                rayon::join(|| lower(pu, &mut { ASIDE }), || upper(up, &mut { ASIDE }));
            }
            let (up, pu) = (&*up, &*pu);
            let from = stack.len();
            for column in front[pivots * n..].chunks_exact(n) {
                stack.extend_from_slice(&column[pivots..]);
            }
            let schur = |c: &mut [f64], first: usize, aside: &mut _| {
                let (on, columns) = (Extent { stride: updates, rows: updates }, c.len() / updates);
                let b = Coefficients::Apart(Factors { values: &pu[first..], column: 1, depth: updates });
                Subtract { c, on, first: 0, lower: false, columns, a: up, stride: updates, b, depth: pivots }.run(lanes, aside);
            };
            if updates * updates * pivots < SHARED {
                schur(&mut stack[from..], 0, &mut aside);
            } else {
                panels::share(&mut stack[from..], 0, updates, pivots, &|c, first| schur(c, first, &mut { ASIDE }));
            }
        }
        true
    }
}
