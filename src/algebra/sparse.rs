//! Symmetric positive definite matrices made of small blocks, one node per dynamical system: Cholesky by dense fronts.
//!
//! ```text
//! front = columns of a supernode, rows of it and of what it still couples to
//!         [ A_pp   ·  ]       A_pp = L Lᵀ,   L_up = A_up L⁻ᵀ
//!         [ A_up A_uu ]       the Schur complement A_uu − L_up L_upᵀ is added to the parent's front
//! ```
//!
//! Fronts as in Duff & Reid 1983; every element is a chain of sums in a fixed order, so the factor has the same bits on any processor.

use super::dense;
use super::elimination::{Tree, minimum_degree};
use super::lanes::{Lanes, Simd, WithSimd};
use super::panels::{self, Extent, Factors};

/// Order up to which a dense factorisation beats the set-up of a sparse one.
const DENSE: usize = 48;

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
    /// the update matrix that is being put together, and those that wait for their parents
    update: Vec<f64>,
    stack: Vec<f64>,
    permuted: Vec<f64>,
    gathered: Vec<f64>,
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
        let columns = |pivots: usize, updates: usize| {
            let (p, u) = (pivots as f64, updates as f64);
            p * (p * p / 6.0 + 0.5 * p * u + 0.5 * u * u)
        };
        match &self.storage {
            Storage::Empty => 0.0,
            Storage::Dense(_) => columns(self.order(), 0),
            Storage::Sparse(f) => f.fronts.iter().map(|front| columns(front.pivots, front.updates)).sum(),
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
            Storage::Sparse(f) => Lanes::best().run_wide(Factorise(f)),
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

/// What is factorised on the instructions at hand.
struct Factorise<'a>(&'a mut Fronts);

impl WithSimd for Factorise<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        self.0.factorise(simd)
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
            new.fronts.push(Front { begin, pivots, updates, rows, factor, ..Front::default() });
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
        new.update.resize(updates * updates, 0.0);
        new.gathered.resize(updates, 0.0);
        new
    }

    #[inline(always)]
    fn factorise<S: Simd>(&mut self, simd: S) -> bool {
        let mut aside = panels::ASIDE;
        self.stack.clear();
        for f in &self.fronts {
            let (pivots, updates) = (f.pivots, f.updates);
            let n = pivots + updates;
            let panel = &mut self.factor[f.factor..f.factor + pivots * n];
            let update = &mut self.update[..updates * updates];
            panel.fill(0.0);
            update.fill(0.0);
            for b in &f.blocks {
                let block = &self.values[b.at..b.at + (b.rows * b.columns) as usize];
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
                let into = &self.fronts[child as usize].into;
                let m = into.len();
                let from = self.stack.len() - m * m;
                for (c, (column, &at)) in self.stack[from..].chunks_exact(m).zip(into).enumerate() {
                    let at = at as usize;
                    // rows of the parent before its updates are found in its own columns alone
                    let (front, skip) = match at < pivots {
                        true => (&mut panel[at * n..(at + 1) * n], 0),
                        false => (&mut update[(at - pivots) * updates..(at - pivots + 1) * updates], pivots),
                    };
                    column[c..].iter().zip(&into[c..]).for_each(|(x, &r)| front[r as usize - skip] += x);
                }
                self.stack.truncate(from);
            }
            if !panels::cholesky(simd, &mut aside, panel, n, pivots) {
                return false;
            }
            if updates > 0 {
                let below = Factors { values: &panel[pivots..], column: 1, depth: n };
                panels::subtract(
                    simd,
                    &mut aside,
                    update,
                    Extent { stride: updates, rows: updates },
                    updates,
                    true,
                    &panel[pivots..],
                    n,
                    below,
                    pivots,
                );
                self.stack.extend_from_slice(update);
            }
        }
        true
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

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut a = BlockSymmetric::default();
        a.set_pattern(&[2], &[]);
        a.add(0, 0, &[1.0, 0.0, 2.0, 1.0]);
        assert!(!a.solve(&mut [1.0, 1.0]));
    }
}
