//! Symmetric positive definite matrices made of small blocks, one node per dynamical system: Cholesky by dense fronts.
//!
//! ```text
//! front = columns of a supernode, rows of it and of what it still couples to
//!         [ A_pp   ·  ]       A_pp = L Lᵀ,   L_up = A_up L⁻ᵀ
//!         [ A_up A_uu ]       the Schur complement A_uu − L_up L_upᵀ is added to the parent's front
//! ```
//!
//! Fronts as in Duff & Reid 1983; every element is a chain of sums in a fixed order, so the factor has the same bits on any processor.

use super::branches::branches;
use super::dense;
use super::elimination::{Tree, minimum_degree};
use super::lanes::{Lanes, Simd, WithSimd};
use super::panels::{self, Extent, Factors};
use std::ops::Range;

/// Order up to which a dense factorisation beats the set-up of a sparse one.
const DENSE: usize = 48;
/// Multiplications of a Schur complement from which threads share its columns.
const SHARED: usize = 2_000_000;
/// The branch of fronts that belong to none.
const TOP: u32 = u32::MAX;

/// `A = Aᵀ > 0` in blocks: node i owns `sizes[i]` consecutive unknowns; only the lower triangle is stored.
///
/// The pattern (and the symbolic factorisation) stands while [`set_pattern`](Self::set_pattern) gets the same answer.
///
/// ```
/// use drystone::algebra::sparse::BlockSymmetric;
/// let mut a = BlockSymmetric::default();
/// a.set_pattern(&[1, 1], &[(1, 0)]);
/// a.add(0, 0, &[2.0]);
/// a.add(1, 1, &[2.0]);
/// a.add(1, 0, &[-1.0]);
/// let mut x = [1.0, 0.0];
/// assert!(a.solve(&mut x));
/// assert!((x[0] - 2.0 / 3.0).abs() < 1e-15 && (x[1] - 1.0 / 3.0).abs() < 1e-15);
/// ```
#[derive(Default)]
pub struct BlockSymmetric {
    sizes: Vec<u32>,
    first: Vec<usize>,
    /// sorted `(row node, column node)` with row > column
    pairs: Vec<(u32, u32)>,
    storage: Storage,
}

#[derive(Default)]
enum Storage {
    #[default]
    Empty,
    Dense(Vec<f64>),
    Sparse(Box<Fronts>),
}

#[derive(Default)]
struct Fronts {
    /// start of the pairs of each row node
    row_start: Vec<usize>,
    /// start of each diagonal block in `values`, then of each pair
    diagonal_at: Vec<usize>,
    pair_at: Vec<usize>,
    values: Vec<f64>,
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
    /// positions of the update unknowns in the parent's front
    into: Vec<u32>,
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

impl std::fmt::Debug for BlockSymmetric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BlockSymmetric({} nodes, {} unknowns, {} off-diagonal blocks)", self.sizes.len(), self.order(), self.pairs.len())
    }
}

impl BlockSymmetric {
    /// Number of unknowns.
    pub fn order(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// Offset of the unknowns of a node.
    pub fn first(&self, node: usize) -> usize {
        self.first[node]
    }

    /// Multiplications of one factorisation.
    pub fn operations(&self) -> f64 {
        match &self.storage {
            Storage::Empty => 0.0,
            Storage::Dense(_) => multiplications(self.order(), 0),
            Storage::Sparse(f) => f.fronts.iter().map(|front| multiplications(front.pivots, front.updates)).sum(),
        }
    }

    /// Declares nodes and coupled pairs (`row > column`, sorted, unique), and sets all numbers to zero.
    pub fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]) {
        if self.sizes != sizes || self.pairs != pairs {
            self.sizes = sizes.to_vec();
            self.pairs = pairs.to_vec();
            self.build();
        }
        match &mut self.storage {
            Storage::Empty => {}
            Storage::Dense(a) => a.fill(0.0),
            Storage::Sparse(f) => f.values.fill(0.0),
        }
    }

    fn build(&mut self) {
        self.first = std::iter::once(0)
            .chain(self.sizes.iter().scan(0, |sum, &n| {
                *sum += n as usize;
                Some(*sum)
            }))
            .collect();
        let order = self.order();
        if order <= DENSE {
            self.storage = Storage::Dense(vec![0.0; order * order]);
            return;
        }
        self.storage = Storage::Sparse(Box::new(Fronts::new(&self.sizes, &self.first, &self.pairs)));
    }

    /// Adds a row-major block at `(i, j)`, `i ≥ j`; of a diagonal block only the lower triangle is read.
    pub fn add(&mut self, i: usize, j: usize, block: &[f64]) {
        let (rows, columns) = (self.sizes[i] as usize, self.sizes[j] as usize);
        let (row0, column0, order) = (self.first[i], self.first[j], self.order());
        match &mut self.storage {
            Storage::Empty => {}
            Storage::Dense(a) => {
                for r in 0..rows {
                    for c in 0..columns {
                        a[(row0 + r) * order + column0 + c] += block[r * columns + c];
                    }
                }
            }
            Storage::Sparse(f) => {
                let at = match i == j {
                    true => f.diagonal_at[i],
                    false => {
                        let (from, to) = (f.row_start[i], f.row_start[i + 1]);
                        let Ok(k) = self.pairs[from..to].binary_search_by_key(&(j as u32), |&(_, j)| j) else { return };
                        f.pair_at[from + k]
                    }
                };
                f.values[at..at + rows * columns].iter_mut().zip(block).for_each(|(x, b)| *x += b);
            }
        }
    }

    /// Factorises what was added since the pattern was set; false when it is not positive definite to rounding.
    pub fn factorise(&mut self) -> bool {
        let order = self.order();
        match &mut self.storage {
            Storage::Empty => order == 0,
            Storage::Dense(a) => dense::cholesky(a, order),
            Storage::Sparse(f) => f.factorise(),
        }
    }

    /// Solves `A x = b` in place with the factor of [`factorise`](Self::factorise).
    pub fn solve_factorised(&mut self, b: &mut [f64]) {
        let order = self.order();
        match &mut self.storage {
            Storage::Empty => {}
            Storage::Dense(a) => dense::cholesky_solve(a, order, b),
            Storage::Sparse(f) => Lanes::best().run(
                #[inline(always)]
                || f.solve(b),
            ),
        }
    }

    /// Factorises and solves `A x = b` in place; false when A is not positive definite to rounding.
    pub fn solve(&mut self, b: &mut [f64]) -> bool {
        self.factorise() && {
            self.solve_factorised(b);
            b.iter().all(|x| x.is_finite())
        }
    }
}

/// Multiplications of the columns of a front.
fn multiplications(pivots: usize, updates: usize) -> f64 {
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

impl WithSimd for Elimination<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        self.run(simd)
    }
}

/// `C −= A Aᵀ` below the diagonal, on columns from `first` on.
struct Schur<'a> {
    columns: &'a mut [f64],
    first: usize,
    rows: usize,
    a: &'a [f64],
    stride: usize,
    depth: usize,
}

impl WithSimd for Schur<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { columns, first, rows, a, stride, depth } = self;
        let (count, on) = (columns.len() / rows, Extent { stride: rows, rows: rows - first });
        let below = Factors { values: &a[first..], column: 1, depth: stride };
        let mut aside = panels::ASIDE;
        panels::subtract(simd, &mut aside, &mut columns[first..], on, count, true, &a[first..], stride, below, depth);
    }
}

impl Schur<'_> {
    /// By as many threads as it is worth.
    fn run(self) {
        let Self { columns, first, rows, a, stride, depth } = self;
        let count = columns.len() / rows;
        if count < 16 || count * (rows - first) * depth < SHARED {
            return Lanes::best().run_wide(Schur { columns, first, rows, a, stride, depth });
        }
        let half = count / 16 * 8;
        let (left, right) = columns.split_at_mut(half * rows);
        rayon::join(
            || Schur { columns: left, first, rows, a, stride, depth }.run(),
            || Schur { columns: right, first: first + half, rows, a, stride, depth }.run(),
        );
    }
}

/// Eliminates these branches, whose factors start at `from`; false where a pivot is not positive.
fn eliminate(some: &mut [Branch], id: u32, factor: &mut [f64], from: usize, fronts: &[Front], values: &[f64]) -> bool {
    match some {
        [] => true,
        [own] => {
            let factor = &mut factor[own.factor.start - from..own.factor.end - from];
            Lanes::best().run_wide(Elimination { fronts, values, branches: &[], own, id, factor })
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
    fn new(sizes: &[u32], first: &[usize], pairs: &[(u32, u32)]) -> Self {
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
                new.fronts[k].into = new.fronts[k].rows.iter().map(|&x| new.fronts[parent].at(x)).collect();
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

    fn factorise(&mut self) -> bool {
        let Self { fronts, values, branches, top, factor, .. } = self;
        eliminate(branches, 0, factor, 0, fronts, values)
            && Lanes::best().run_wide(Elimination { fronts, values, branches, own: top, id: TOP, factor })
    }

    #[inline(always)]
    fn solve(&mut self, b: &mut [f64]) {
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
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { fronts, values, branches, own, id, factor } = self;
        let Branch { fronts: range, factor: Range { start, .. }, update, stack } = own;
        let mut aside = panels::ASIDE;
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
                let into = &child.into;
                let m = into.len();
                let from = stack.len().saturating_sub(m * m);
                let theirs = if child.branch == id { &stack[from..] } else { &branches[child.branch as usize].stack[..] };
                for (c, (column, &at)) in theirs.chunks_exact(m).zip(into).enumerate() {
                    let at = at as usize;
                    // rows of the parent before its updates are found in its own columns alone
                    let (front, skip) = match at < pivots {
                        true => (&mut panel[at * n..(at + 1) * n], 0),
                        false => (&mut update[(at - pivots) * updates..(at - pivots + 1) * updates], pivots),
                    };
                    column[c..].iter().zip(&into[c..]).for_each(|(x, &r)| front[r as usize - skip] += x);
                }
                if child.branch == id {
                    stack.truncate(from);
                }
            }
            if !panels::cholesky(simd, &mut aside, panel, n, pivots) {
                return false;
            }
            if updates > 0 {
                let a = &panel[pivots..];
                if updates * updates * pivots < SHARED {
                    let (below, on) = (Factors { values: a, column: 1, depth: n }, Extent { stride: updates, rows: updates });
                    panels::subtract(simd, &mut aside, update, on, updates, true, a, n, below, pivots);
                } else {
                    Schur { columns: update, first: 0, rows: updates, a, stride: n, depth: pivots }.run();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of `n` nodes of 6 unknowns, coupled to the next two.
    fn chain(n: usize) -> (BlockSymmetric, Vec<Vec<f64>>) {
        let pairs: Vec<(u32, u32)> = (1..n as u32).flat_map(|i| (i.saturating_sub(2)..i).map(move |j| (i, j))).collect();
        let mut a = BlockSymmetric::default();
        a.set_pattern(&vec![6; n], &pairs);
        let mut full = vec![vec![0.0; 6 * n]; 6 * n];
        let mut put = |a: &mut BlockSymmetric, i: usize, j: usize, block: [f64; 36]| {
            a.add(i, j, &block);
            for r in 0..6 {
                for c in 0..6 {
                    full[6 * i + r][6 * j + c] = block[6 * r + c];
                    full[6 * j + c][6 * i + r] = block[6 * r + c];
                }
            }
        };
        for i in 0..n {
            let mut block = [0.1; 36];
            (0..6).for_each(|k| block[7 * k] = 9.0 + i as f64);
            put(&mut a, i, i, block);
        }
        for &(i, j) in &pairs {
            let block = std::array::from_fn(|k| ((k * 7 + i as usize * 3 + j as usize) % 11) as f64 * 0.05);
            put(&mut a, i as usize, j as usize, block);
        }
        (a, full)
    }

    #[test]
    fn dense_and_sparse_storage_solve_the_same_system() {
        for n in [3, 20] {
            let (mut a, full) = chain(n);
            let mut x: Vec<f64> = (0..6 * n).map(|i| (i as f64).sin()).collect();
            let b = x.clone();
            assert!(a.solve(&mut x));
            for (row, b) in full.iter().zip(&b) {
                let product: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                assert!((product - b).abs() < 1e-12);
            }
        }
    }

    /// A grid of nodes of 6 unknowns, coupled to those beside and above them.
    fn grid(width: usize, height: usize) -> BlockSymmetric {
        let node = |x: usize, y: usize| (y * width + x) as u32;
        let places = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (x, y) in places() {
            pairs.extend((x > 0).then(|| (node(x, y), node(x - 1, y))));
            pairs.extend((y > 0).then(|| (node(x, y), node(x, y - 1))));
        }
        pairs.sort_unstable();
        let mut a = BlockSymmetric::default();
        a.set_pattern(&vec![6; width * height], &pairs);
        for i in 0..width * height {
            a.add(i, i, &std::array::from_fn::<f64, 36, _>(|k| if k % 7 == 0 { 5.0 + libm::sin(i as f64) } else { 0.1 }));
        }
        for &(i, j) in &pairs {
            let block: [f64; 36] = std::array::from_fn(|k| libm::sin((7 * k + 3 * i as usize + j as usize) as f64) * 0.2);
            a.add(i as usize, j as usize, &block);
        }
        a
    }

    #[test]
    fn branches_and_threads_change_no_bit() {
        let run = |threads: usize, cut: bool| {
            let mut a = grid(60, 60);
            let Storage::Sparse(f) = &mut a.storage else { panic!("a sparse matrix") };
            assert!(f.branches.len() >= 8, "{} branches", f.branches.len());
            if !cut {
                f.branches.clear();
                f.fronts.iter_mut().for_each(|front| front.branch = TOP);
            }
            let mut x: Vec<f64> = (0..a.order()).map(|i| libm::sin(i as f64)).collect();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            assert!(pool.install(|| a.solve(&mut x)));
            x
        };
        let whole = run(1, false);
        assert!(whole.iter().all(|x| x.is_finite()));
        for threads in [1, 2, 7] {
            assert_eq!(run(threads, true), whole, "{threads} threads");
        }
    }

    #[test]
    fn a_branch_that_is_not_positive_is_refused() {
        let mut a = grid(60, 60);
        a.add(1700, 1700, &[-1e3; 36]);
        assert!(!a.factorise());
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut a = BlockSymmetric::default();
        a.set_pattern(&[2], &[]);
        a.add(0, 0, &[1.0, 0.0, 2.0, 1.0]);
        assert!(!a.solve(&mut [1.0, 1.0]));
    }
}
