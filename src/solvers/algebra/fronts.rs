//! Cholesky by dense fronts, those of several branches of the elimination tree at the same time.
//!
//! Whoever eliminates a front, its sums are the same, and children are added in the same order: so the factor has the same bits on any number
//! of threads.

use super::branches::branches;
use super::elimination::{Tree, minimum_degree};
use super::lanes::Lanes;
use super::panels::{self, ASIDE, Coefficients, Extent, Factors, SHARED, Subtract};
use super::runs::{self, Run};
use std::ops::Range;

/// The branch of fronts that belong to none.
const TOP: u32 = u32::MAX;

/// The fronts of a matrix, its values and its factor.
#[derive(Default)]
pub(super) struct Fronts {
    /// start of the pairs of each row node
    pub(super) row_start: Vec<usize>,
    /// start of each diagonal block in `values`, then of each pair
    pub(super) diagonal_at: Vec<usize>,
    pub(super) pair_at: Vec<usize>,
    pub(super) values: Vec<f64>,
    fronts: Vec<Front>,
    /// new position of every unknown
    position: Vec<u32>,
    /// columns of L of all fronts
    factor: Vec<f64>,
    /// what threads eliminate at the same time, and what is left after them
    branches: Vec<Branch>,
    top: Branch,
    permuted: Vec<f64>,
    gathered: Vec<f64>,
}

/// Fronts that are eliminated one after the other.
#[derive(Default)]
struct Branch {
    fronts: Range<usize>,
    /// their part of `factor`
    factor: Range<usize>,
    /// the update matrix that is being put together, and those that wait for their parents: at last that of the branch
    update: Vec<f64>,
    stack: Vec<f64>,
}

#[derive(Default)]
struct Front {
    /// first pivot unknown in the new order
    begin: usize,
    pivots: usize,
    updates: usize,
    /// new positions of the update unknowns
    rows: Vec<u32>,
    /// where the update unknowns are in the parent's front
    runs: Vec<Run>,
    children: Vec<u32>,
    blocks: Vec<Piece>,
    /// start in `factor` of its columns, `pivots + updates` numbers each
    factor: usize,
    /// the branch that holds it
    branch: u32,
}

/// A stored block and where it stands in its front; `rows × columns` as stored, row-major.
struct Piece {
    at: usize,
    rows: u32,
    columns: u32,
    row: u32,
    column: u32,
    /// the elimination exchanges its two nodes
    transposed: bool,
}

/// Multiplications of the columns of a front.
pub(super) fn multiplications(pivots: usize, updates: usize) -> f64 {
    let (p, u) = (pivots as f64, updates as f64);
    p * (p * p / 6.0 + 0.5 * p * u + 0.5 * u * u)
}

/// The elimination of a branch, or of the top after all branches.
struct Elimination<'a> {
    fronts: &'a [Front],
    values: &'a [f64],
    /// those before
    branches: &'a [Branch],
    own: &'a mut Branch,
    id: u32,
    factor: &'a mut [f64],
}

/// Eliminates these branches, whose factors start at `from`; false where a pivot is not positive.
fn eliminate(some: &mut [Branch], id: u32, factor: &mut [f64], from: usize, fronts: &[Front], values: &[f64]) -> bool {
    match some {
        [] => true,
        [own] => {
            let factor = &mut factor[own.factor.start - from..own.factor.end - from];
            Elimination { fronts, values, branches: &[], own, id, factor }.run()
        }
        _ => {
            let (left, right) = some.split_at_mut(some.len() / 2);
            let (at, next) = (right[0].factor.start, id + left.len() as u32);
            let (first, rest) = factor.split_at_mut(at - from);
            let run = || eliminate(left, id, first, from, fronts, values);
            let (a, b) = rayon::join(run, || eliminate(right, next, rest, at, fronts, values));
            a && b
        }
    }
}

impl Fronts {
    /// Multiplications of one factorisation.
    pub(super) fn operations(&self) -> f64 {
        self.fronts.iter().map(|f| multiplications(f.pivots, f.updates)).sum()
    }

    /// Forgets its branches; how many there were.
    #[cfg(test)]
    pub(super) fn join_branches(&mut self) -> usize {
        self.fronts.iter_mut().for_each(|front| front.branch = TOP);
        std::mem::take(&mut self.branches).len()
    }

    pub(super) fn new(sizes: &[u32], first: &[usize], pairs: &[(u32, u32)]) -> Self {
        let nodes = sizes.len();
        let mut new = Self { row_start: vec![0; nodes + 1], ..Self::default() };
        let mut values = 0;
        for &n in sizes {
            new.diagonal_at.push(values);
            values += (n * n) as usize;
        }
        for &(i, j) in pairs {
            new.pair_at.push(values);
            values += (sizes[i as usize] * sizes[j as usize]) as usize;
            new.row_start[i as usize + 1] += 1;
        }
        (0..nodes).for_each(|i| new.row_start[i + 1] += new.row_start[i]);
        new.values.resize(values, 0.0);
        let tree = Tree::new(nodes, pairs, minimum_degree(nodes, pairs), sizes);
        // new position of the first unknown of each place of the order
        let mut start = vec![0u32; nodes + 1];
        let mut place_of = vec![0u32; nodes];
        new.position.resize(first[nodes], 0);
        for (place, &node) in tree.order.iter().enumerate() {
            let n = sizes[node as usize];
            place_of[node as usize] = place as u32;
            start[place + 1] = start[place] + n;
            (0..n).for_each(|k| new.position[first[node as usize] + k as usize] = start[place] + k);
        }
        let mut owner = vec![0; nodes];
        let mut factor = 0;
        for (k, s) in tree.supernodes.iter().enumerate() {
            owner[s.begin..s.end].fill(k);
            let rows: Vec<u32> = s.rows.iter().flat_map(|&p| start[p as usize]..start[p as usize + 1]).collect();
            let begin = start[s.begin] as usize;
            let (pivots, updates) = (start[s.end] as usize - begin, rows.len());
            new.fronts.push(Front { begin, pivots, updates, rows, factor, branch: TOP, ..Front::default() });
            factor += pivots * (pivots + updates);
        }
        for (k, s) in tree.supernodes.iter().enumerate() {
            if let Some(&next) = s.rows.first() {
                let parent = owner[next as usize];
                let mut runs = Vec::new();
                let parent_of = &new.fronts[parent];
                new.fronts[k]
                    .rows
                    .iter()
                    .map(|&x| parent_of.at(x) as usize)
                    .for_each(|to| runs::push(&mut runs, to..to + 1, parent_of.pivots));
                new.fronts[k].runs = runs;
                new.fronts[parent].children.push(k as u32);
            }
        }
        let mut put = |a: usize, b: usize, at: usize| {
            let (pa, pb) = (place_of[a], place_of[b]);
            let (low, high) = (pa.min(pb), pa.max(pb));
            let front = &mut new.fronts[owner[low as usize]];
            let (row, column) = (front.at(start[high as usize]), front.at(start[low as usize]));
            front.blocks.push(Piece { at, rows: sizes[a], columns: sizes[b], row, column, transposed: pa < pb });
        };
        (0..nodes).for_each(|i| put(i, i, new.diagonal_at[i]));
        pairs.iter().zip(&new.pair_at).for_each(|(&(i, j), &at)| put(i as usize, j as usize, at));
        let updates = new.fronts.iter().map(|f| f.updates).max().unwrap_or(0);
        new.factor.resize(factor, 0.0);
        new.gathered.resize(updates, 0.0);
        let costs: Vec<f64> = new.fronts.iter().map(|f| multiplications(f.pivots, f.updates)).collect();
        for (id, fronts) in branches(&costs, |k| &new.fronts[k].children).into_iter().enumerate() {
            let end = new.fronts.get(fronts.end).map_or(factor, |next| next.factor);
            new.fronts[fronts.clone()].iter_mut().for_each(|f| f.branch = id as u32);
            new.branches.push(Branch { factor: new.fronts[fronts.start].factor..end, fronts, ..Branch::default() });
        }
        new.top.fronts = 0..new.fronts.len();
        new
    }

    /// False where a pivot is not positive.
    pub(super) fn factorise(&mut self) -> bool {
        let Self { fronts, values, branches, top, factor, .. } = self;
        eliminate(branches, 0, factor, 0, fronts, values) && Elimination { fronts, values, branches, own: top, id: TOP, factor }.run()
    }

    #[inline(always)]
    pub(super) fn solve(&mut self, b: &mut [f64]) {
        self.permuted.resize(b.len(), 0.0);
        let x = &mut self.permuted;
        for (value, &to) in b.iter().zip(&self.position) {
            x[to as usize] = *value;
        }
        for f in &self.fronts {
            let n = f.pivots + f.updates;
            let gathered = &mut self.gathered[..f.updates];
            gathered.fill(0.0);
            let local = &mut x[f.begin..f.begin + f.pivots];
            for (c, column) in self.factor[f.factor..].chunks_exact(n).take(f.pivots).enumerate() {
                let value = local[c] / column[c];
                local[c] = value;
                local[c + 1..].iter_mut().zip(&column[c + 1..]).for_each(|(x, l)| *x -= l * value);
                gathered.iter_mut().zip(&column[f.pivots..]).for_each(|(x, l)| *x += l * value);
            }
            f.rows.iter().zip(gathered.iter()).for_each(|(&row, g)| x[row as usize] -= g);
        }
        for f in self.fronts.iter().rev() {
            let n = f.pivots + f.updates;
            let gathered = &mut self.gathered[..f.updates];
            gathered.iter_mut().zip(&f.rows).for_each(|(g, &row)| *g = x[row as usize]);
            let local = &mut x[f.begin..f.begin + f.pivots];
            for c in (0..f.pivots).rev() {
                let column = &self.factor[f.factor + c * n..][..n];
                let sum = panels::dot(&column[c + 1..f.pivots], &local[c + 1..]) + panels::dot(&column[f.pivots..], gathered);
                local[c] = (local[c] - sum) / column[c];
            }
        }
        for (value, &from) in b.iter_mut().zip(&self.position) {
            *value = x[from as usize];
        }
    }
}

impl Elimination<'_> {
    fn run(self) -> bool {
        let Self { fronts, values, branches, own, id, factor } = self;
        let Branch { fronts: range, factor: Range { start, .. }, update, stack } = own;
        let (lanes, mut aside) = (Lanes::best(), ASIDE);
        stack.clear();
        for f in fronts[range.clone()].iter().filter(|f| f.branch == id) {
            let (pivots, updates) = (f.pivots, f.updates);
            let n = pivots + updates;
            let panel = &mut factor[f.factor - *start..][..pivots * n];
            if update.len() < updates * updates {
                update.resize(updates * updates, 0.0);
            }
            let update = &mut update[..updates * updates];
            panel.fill(0.0);
            update.fill(0.0);
            for b in &f.blocks {
                let block = &values[b.at..b.at + (b.rows * b.columns) as usize];
                for (r, line) in block.chunks_exact(b.columns as usize).enumerate() {
                    if b.transposed {
                        let column = &mut panel[(b.column as usize + r) * n + b.row as usize..];
                        column.iter_mut().zip(line).for_each(|(x, value)| *x += value);
                    } else {
                        let start = b.column as usize * n + b.row as usize + r;
                        panel[start..].iter_mut().step_by(n).zip(line).for_each(|(x, value)| *x += value);
                    }
                }
            }
            for &child in f.children.iter().rev() {
                let child = &fronts[child as usize];
                let m = child.updates;
                let from = stack.len().saturating_sub(m * m);
                let theirs = if child.branch == id { &stack[from..] } else { &branches[child.branch as usize].stack[..] };
                for (k, run) in child.runs.iter().enumerate() {
                    for (below, (from, to)) in run.columns().enumerate() {
                        // rows of the parent before its updates are found in its own columns alone
                        let (front, first) = match to < pivots {
                            true => (&mut panel[to * n..(to + 1) * n], 0),
                            false => (&mut update[(to - pivots) * updates..(to - pivots + 1) * updates], pivots),
                        };
                        let lower = std::iter::once(run.after(below)).chain(child.runs[k + 1..].iter().copied());
                        runs::add(&theirs[from * m..][..m], lower, front, first);
                    }
                }
                if child.branch == id {
                    stack.truncate(from);
                }
            }
            if !panels::cholesky(lanes, &mut aside, panel, n, pivots) {
                return false;
            }
            if updates > 0 {
                let a = &panel[pivots..];
                let schur = |c: &mut [f64], first: usize, aside: &mut _| {
                    let (a, on) = (&a[first..], Extent { stride: updates, rows: updates - first });
                    let (columns, b) = (c.len() / updates, Coefficients::Apart(Factors { values: a, column: 1, depth: n }));
                    Subtract { c: &mut c[first..], on, first: 0, lower: true, columns, a, stride: n, b, depth: pivots }.run(lanes, aside);
                };
                if updates * updates * pivots < SHARED {
                    schur(update, 0, &mut aside);
                } else {
                    panels::share(update, 0, updates, pivots, &|c, first| schur(c, first, &mut { ASIDE }));
                }
                stack.extend_from_slice(update);
            }
        }
        true
    }
}

impl Front {
    /// Position in the front of the unknown with the new position x.
    fn at(&self, x: u32) -> u32 {
        let own = (x as usize).wrapping_sub(self.begin);
        if own < self.pivots {
            return own as u32;
        }
        // every unknown that a front couples to is one of its rows
        (self.pivots + self.rows.partition_point(|&row| row < x)) as u32
    }
}
