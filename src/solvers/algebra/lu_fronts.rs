//! LU by dense fronts, those of several branches of the elimination tree at the same time; what the fronts of [`super::multifrontal`] hold and do.

use super::lanes::Lanes;
use super::panels::{self, ASIDE, Coefficients, Extent, Factors, SHARED, Subtract};
use super::runs::{self, Run};
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
    /// largest number of update unknowns of a front
    pub(super) largest: usize,
    /// the Schur complement that is being put together, and those that wait for their parents: at last that of the branch
    pub(super) schur: Vec<f64>,
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
    /// where the update unknowns are in the parent's front
    pub(super) runs: Vec<Run>,
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
        let Branch { fronts: range, factor: Range { start, .. }, unknowns: Range { start: unknown, .. }, schur, stack, .. } = own;
        let (lanes, mut aside) = (Lanes::best(), ASIDE);
        stack.clear();
        for f in fronts[range.clone()].iter().filter(|f| f.branch == id) {
            let (pivots, updates) = (f.pivots, f.updates);
            let panels = &mut factor[f.factor - *start..][..pivots * (pivots + 2 * updates)];
            let schur = &mut schur[..updates * updates];
            panels.fill(0.0);
            schur.fill(0.0);
            let (pp, rest) = panels.split_at_mut(pivots * pivots);
            let (up, pu) = rest.split_at_mut(pivots * updates);
            for &(at, rows, columns, row, column) in &f.blocks {
                let [rows, columns, row, column] = [rows, columns, row, column].map(|x| x as usize);
                let lines = values[at..at + rows * columns].chunks_exact(columns).enumerate();
                if column >= pivots {
                    for (r, line) in lines {
                        let to = &mut pu[(row + r) * updates + column - pivots..][..columns];
                        to.iter_mut().zip(line).for_each(|(sum, x)| *sum += x);
                    }
                    continue;
                }
                // a block lies on one side of the pivots: it is one of two nodes
                let (to, stride, row) = if row < pivots { (&mut *pp, pivots, row) } else { (&mut *up, updates, row - pivots) };
                for (r, line) in lines {
                    line.iter().zip(column..).for_each(|(x, c)| to[c * stride + row + r] += x);
                }
            }
            for &child in f.children.iter().rev() {
                let child = &fronts[child as usize];
                let m = child.updates;
                if m == 0 {
                    continue;
                }
                let from = stack.len().saturating_sub(m * m);
                let theirs = if child.branch == id { &stack[from..] } else { &branches[child.branch as usize].stack[..] };
                let (above, below) = runs::divided(&child.runs, pivots);
                for (from, c) in above.iter().flat_map(|run| run.columns()) {
                    let column = &theirs[from * m..][..m];
                    runs::add(column, above.iter().copied(), &mut pp[c * pivots..][..pivots], 0);
                    runs::add(column, below.iter().copied(), &mut up[c * updates..][..updates], pivots);
                }
                for (from, c) in below.iter().flat_map(|run| run.columns()) {
                    let (column, c) = (&theirs[from * m..][..m], c - pivots);
                    for &Run { from, to, rows } in above {
                        let sums = pu[to * updates + c..].iter_mut().step_by(updates);
                        sums.zip(&column[from..from + rows]).for_each(|(sum, x)| *sum += x);
                    }
                    runs::add(column, below.iter().copied(), &mut schur[c * updates..][..updates], pivots);
                }
                if child.branch == id {
                    stack.truncate(from);
                }
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
            let subtract = |c: &mut [f64], first: usize, aside: &mut _| {
                let (on, columns) = (Extent { stride: updates, rows: updates }, c.len() / updates);
                let b = Coefficients::Apart(Factors { values: &pu[first..], column: 1, depth: updates });
                Subtract { c, on, first: 0, lower: false, columns, a: up, stride: updates, b, depth: pivots }.run(lanes, aside);
            };
            if updates * updates * pivots < SHARED {
                subtract(schur, 0, &mut aside);
            } else {
                panels::share(schur, 0, updates, pivots, &|c, first| subtract(c, first, &mut { ASIDE }));
            }
            stack.extend_from_slice(schur);
        }
        true
    }
}
