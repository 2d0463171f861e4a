//! General sparse matrices made of small blocks: LU by dense fronts, with the elimination tree kept while the pattern stands.
//!
//! ```text
//! front = rows and columns of a supernode and of what it still couples to
//!         [ A_pp A_pu ]            P A_pp = L U,   L_up = A_up U⁻¹,   U_pu = L⁻¹ P A_pu
//!         [ A_up A_uu ]            the Schur complement A_uu − L_up U_pu is added to the parent's front
//! ```
//!
//! The values may be nonsymmetric, the pattern of blocks is symmetric; rows are exchanged inside a pivot block only. Order by
//! approximate minimum degree on the graph of the nodes (Amestoy, Davis, Duff 1996), fronts as in Duff & Reid 1983.

use super::elimination::{Tree, minimum_degree};
use super::lanes::{Lanes, Simd, WithSimd};
use super::panels::{self, Extent, Factors};

/// Numbers that the factors, or a front, may hold: 3.2 GB.
const MOST: usize = 400_000_000;

/// A square matrix in blocks: node i owns `sizes[i]` consecutive unknowns.
///
/// ```
/// use drystone::algebra::multifrontal::BlockGeneral;
/// let mut a = BlockGeneral::default();
/// a.set_pattern(&[1, 1], &[(1, 0)]);
/// a.add(0, 0, &[2.0]);
/// a.add(1, 1, &[1.0]);
/// a.add(1, 0, &[-1.0]);
/// a.add(0, 1, &[3.0]);
/// let mut x = [5.0, 0.0];
/// assert!(a.factorise());
/// a.solve(&mut x);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// ```
#[derive(Default)]
pub struct BlockGeneral {
    sizes: Vec<u32>,
    first: Vec<usize>,
    /// sorted `(row node, column node)` with row > column
    pairs: Vec<(u32, u32)>,
    /// start of the pairs of each row node
    row_start: Vec<usize>,
    /// start of each diagonal block in `values`, then of each pair: block (i, j), then block (j, i)
    diagonal_at: Vec<usize>,
    pair_at: Vec<usize>,
    values: Vec<f64>,
    fronts: Vec<Front>,
    /// new position of every unknown
    position: Vec<u32>,
    /// L and U of all fronts, and how many numbers they take
    factor: Vec<f64>,
    factor_len: usize,
    /// order of the largest front
    largest: usize,
    /// row exchanged with each pivot row, within its front
    pivots: Vec<u32>,
    front: Vec<f64>,
    stack: Vec<f64>,
    permuted: Vec<f64>,
    held: Vec<f64>,
    gathered: Vec<f64>,
}

#[derive(Debug, Default)]
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
    /// `(start in values, rows, columns, row in the front, column in the front)`
    blocks: Vec<(usize, u32, u32, u32, u32)>,
    /// start in `factor`: pivot block, then L_up, then the transpose of U_pu, all column-major
    factor: usize,
}

impl std::fmt::Debug for BlockGeneral {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BlockGeneral({} nodes, {} unknowns, {} fronts)", self.sizes.len(), self.order(), self.fronts.len())
    }
}

impl BlockGeneral {
    /// Number of unknowns.
    pub fn order(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// Offset of the unknowns of a node.
    pub fn first(&self, node: usize) -> usize {
        self.first[node]
    }

    /// Numbers held by the factors: a measure of memory and of the cost of a solve.
    pub fn factor_len(&self) -> usize {
        self.factor_len
    }

    /// Multiplications of one factorisation.
    pub fn operations(&self) -> f64 {
        let front = |f: &Front| {
            let (p, u) = (f.pivots as f64, f.updates as f64);
            p * (p * p / 3.0 + p * u + u * u)
        };
        self.fronts.iter().map(front).sum()
    }

    /// Declares nodes and coupled pairs (`row > column`, sorted, unique), and sets all numbers to zero.
    pub fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]) {
        if self.sizes != sizes || self.pairs != pairs {
            sizes.clone_into(&mut self.sizes);
            pairs.clone_into(&mut self.pairs);
            self.build();
        }
        self.values.fill(0.0);
    }

    fn build(&mut self) {
        let nodes = self.sizes.len();
        self.first.clear();
        self.first.push(0);
        self.diagonal_at.clear();
        let mut values = 0;
        for &n in &self.sizes {
            self.first.push(self.first.last().copied().unwrap_or(0) + n as usize);
            self.diagonal_at.push(values);
            values += (n * n) as usize;
        }
        self.pair_at.clear();
        self.row_start.clear();
        self.row_start.resize(nodes + 1, 0);
        for &(i, j) in &self.pairs {
            self.pair_at.push(values);
            values += 2 * (self.sizes[i as usize] * self.sizes[j as usize]) as usize;
            self.row_start[i as usize + 1] += 1;
        }
        (0..nodes).for_each(|i| self.row_start[i + 1] += self.row_start[i]);
        self.values.clear();
        self.values.resize(values, 0.0);
        let order = minimum_degree(nodes, &self.pairs);
        let tree = Tree::new(nodes, &self.pairs, order, &self.sizes);
        self.place(&tree);
    }

    /// Lays out fronts, unknowns and factors for a tree.
    fn place(&mut self, tree: &Tree) {
        let nodes = self.sizes.len();
        // new position of the first unknown of each place of the order
        let mut start = vec![0u32; nodes + 1];
        self.position.clear();
        self.position.resize(self.order(), 0);
        for (place, &node) in tree.order.iter().enumerate() {
            let n = self.sizes[node as usize];
            start[place + 1] = start[place] + n;
            for k in 0..n {
                self.position[self.first[node as usize] + k as usize] = start[place] + k;
            }
        }
        let mut place_of = vec![0u32; nodes];
        tree.order.iter().enumerate().for_each(|(place, &node)| place_of[node as usize] = place as u32);
        self.fronts.clear();
        let mut factor = 0;
        for s in &tree.supernodes {
            let rows: Vec<u32> = s.rows.iter().flat_map(|&p| start[p as usize]..start[p as usize + 1]).collect();
            let begin = start[s.begin] as usize;
            let pivots = start[s.end] as usize - begin;
            let updates = rows.len();
            self.fronts.push(Front { begin, pivots, updates, rows, factor, ..Front::default() });
            factor += pivots * (pivots + 2 * updates);
        }
        self.factor_len = factor;
        self.pivots.resize(self.order(), 0);
        let owner: Vec<usize> = {
            let mut owner = vec![0; nodes];
            tree.supernodes.iter().enumerate().for_each(|(k, s)| owner[s.begin..s.end].fill(k));
            owner
        };
        for (k, s) in tree.supernodes.iter().enumerate() {
            if let Some(&next) = s.rows.first() {
                let parent = owner[next as usize];
                self.fronts[k].into = self.fronts[k].rows.iter().map(|&x| self.fronts[parent].at(x)).collect();
                self.fronts[parent].children.push(k as u32);
            }
        }
        let mut put = |a: usize, b: usize, at: usize| {
            let (pa, pb) = (place_of[a], place_of[b]);
            let front = &mut self.fronts[owner[pa.min(pb) as usize]];
            let (row, column) = (front.at(start[pa as usize]), front.at(start[pb as usize]));
            front.blocks.push((at, self.sizes[a], self.sizes[b], row, column));
        };
        (0..nodes).for_each(|i| put(i, i, self.diagonal_at[i]));
        for (k, &(i, j)) in self.pairs.iter().enumerate() {
            let (i, j, at) = (i as usize, j as usize, self.pair_at[k]);
            put(i, j, at);
            put(j, i, at + (self.sizes[i] * self.sizes[j]) as usize);
        }
        self.largest = self.fronts.iter().map(|f| f.pivots + f.updates).max().unwrap_or(0);
        self.held.resize(self.largest, 0.0);
        self.gathered.resize(self.largest, 0.0);
    }

    /// Memory for the factors, asked for when they are made; false where there is not that much.
    fn reserve(&mut self) -> bool {
        let room = |numbers: &mut Vec<f64>, most: usize| {
            let fits = most <= MOST && numbers.try_reserve(most.saturating_sub(numbers.len())).is_ok();
            if fits {
                numbers.resize(most, 0.0);
            }
            fits
        };
        room(&mut self.factor, self.factor_len) && room(&mut self.front, self.largest.saturating_mul(self.largest))
    }

    /// Adds a row-major block at `(i, j)`; pairs that the pattern does not hold are left out.
    pub fn add(&mut self, i: usize, j: usize, block: &[f64]) {
        let at = if i == j {
            self.diagonal_at[i]
        } else {
            let (high, low) = (i.max(j), i.min(j));
            let from = self.row_start[high];
            let Ok(k) = self.pairs[from..self.row_start[high + 1]].binary_search_by_key(&(low as u32), |&(_, j)| j) else { return };
            self.pair_at[from + k] + if i > j { 0 } else { (self.sizes[i] * self.sizes[j]) as usize }
        };
        self.values[at..at + block.len()].iter_mut().zip(block).for_each(|(x, b)| *x += b);
    }

    /// LU of what was added since the pattern was set; false when a pivot block is singular, or memory does not do for the factors.
    pub fn factorise(&mut self) -> bool {
        if !self.reserve() {
            return false;
        }
        Lanes::best().run_wide(Fronts(self))
    }

    #[inline(always)]
    fn factorise_fronts<S: Simd>(&mut self, simd: S) -> bool {
        let mut aside = panels::ASIDE;
        self.stack.clear();
        for f in &self.fronts {
            let (pivots, updates) = (f.pivots, f.updates);
            let n = pivots + updates;
            let front = &mut self.front[..n * n];
            front.fill(0.0);
            for &(at, rows, columns, row, column) in &f.blocks {
                let block = &self.values[at..at + (rows * columns) as usize];
                for (r, line) in block.chunks_exact(columns as usize).enumerate() {
                    for (c, x) in line.iter().enumerate() {
                        front[(column as usize + c) * n + row as usize + r] += x;
                    }
                }
            }
            for &child in f.children.iter().rev() {
                let into = &self.fronts[child as usize].into;
                let m = into.len();
                let from = self.stack.len() - m * m;
                for (column, &c) in self.stack[from..].chunks_exact(m).zip(into) {
                    let front = &mut front[c as usize * n..][..n];
                    column.iter().zip(into).for_each(|(x, &r)| front[r as usize] += x);
                }
                self.stack.truncate(from);
            }
            let panels = &mut self.factor[f.factor..f.factor + pivots * (pivots + 2 * updates)];
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
            let swaps = &mut self.pivots[f.begin..f.begin + pivots];
            if !panels::lu(simd, &mut aside, pp, swaps) {
                return false;
            }
            if updates == 0 {
                continue;
            }
            for (k, &other) in swaps.iter().enumerate().filter(|(k, other)| *k != **other as usize) {
                let (low, high) = pu.split_at_mut(other as usize * updates);
                low[k * updates..][..updates].swap_with_slice(&mut high[..updates]);
            }
            panels::solve_right(simd, &mut aside, pu, updates, pivots, Factors { values: pp, column: 1, depth: pivots }, true);
            panels::solve_right(simd, &mut aside, up, updates, pivots, Factors { values: pp, column: pivots, depth: 1 }, false);
            let from = self.stack.len();
            for column in front[pivots * n..].chunks_exact(n) {
                self.stack.extend_from_slice(&column[pivots..]);
            }
            let schur = &mut self.stack[from..];
            let u = Factors { values: pu, column: 1, depth: updates };
            panels::subtract(simd, &mut aside, schur, Extent { stride: updates, rows: updates }, updates, false, up, updates, u, pivots);
        }
        true
    }

    /// Solves `A x = b` in place with the factors of [`factorise`](Self::factorise).
    pub fn solve(&mut self, b: &mut [f64]) {
        Lanes::best().run(
            #[inline(always)]
            || self.substitute(b),
        );
    }

    #[inline(always)]
    fn substitute(&mut self, b: &mut [f64]) {
        let mut x = std::mem::take(&mut self.permuted);
        x.resize(b.len(), 0.0);
        for (value, &to) in b.iter().zip(&self.position) {
            x[to as usize] = *value;
        }
        for f in &self.fronts {
            let n = f.pivots;
            let (pp, rest) = self.factor[f.factor..].split_at(n * n);
            let own = f.begin..f.begin + n;
            let local = &mut x[own.clone()];
            self.pivots[own.clone()].iter().enumerate().for_each(|(k, &other)| local.swap(k, other as usize));
            for c in 0..n {
                let value = local[c];
                let column = &pp[c * n + c + 1..(c + 1) * n];
                local[c + 1..].iter_mut().zip(column).for_each(|(x, l)| *x -= l * value);
            }
            if f.updates > 0 {
                let gathered = &mut self.held[..f.updates];
                gathered.fill(0.0);
                for (c, column) in rest[..n * f.updates].chunks_exact(f.updates).enumerate() {
                    let value = x[f.begin + c];
                    gathered.iter_mut().zip(column).for_each(|(g, l)| *g += l * value);
                }
                f.rows.iter().zip(gathered.iter()).for_each(|(&row, g)| x[row as usize] -= g);
            }
        }
        for f in self.fronts.iter().rev() {
            let n = f.pivots;
            let (pp, rest) = self.factor[f.factor..].split_at(n * n);
            let held = &mut self.held[..n];
            held.copy_from_slice(&x[f.begin..f.begin + n]);
            if f.updates > 0 {
                let gathered = &mut self.gathered[..f.updates];
                gathered.iter_mut().zip(&f.rows).for_each(|(g, &row)| *g = x[row as usize]);
                let rows = rest[n * f.updates..2 * n * f.updates].chunks_exact(f.updates);
                held.iter_mut().zip(rows).for_each(|(x, u)| *x -= panels::dot(u, gathered));
            }
            for c in (0..n).rev() {
                held[c] /= pp[c * n + c];
                let value = held[c];
                held[..c].iter_mut().zip(&pp[c * n..c * n + c]).for_each(|(x, u)| *x -= u * value);
            }
            x[f.begin..f.begin + n].copy_from_slice(held);
        }
        for (value, &from) in b.iter_mut().zip(&self.position) {
            *value = x[from as usize];
        }
        self.permuted = x;
    }
}

/// What is factorised on the instructions at hand.
struct Fronts<'a>(&'a mut BlockGeneral);

impl WithSimd for Fronts<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        self.0.factorise_fronts(simd)
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
        let at = self.rows.binary_search(&x).expect("an update unknown of this front");
        (self.pivots + at) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(k: usize) -> f64 {
        (k as f64 * 0.618_033_988_749).fract() - 0.5
    }

    #[test]
    fn random_patterns_are_solved_to_rounding_and_the_tree_is_kept() {
        for (nodes, size) in [(0usize, 1), (1, 3), (7, 2), (40, 3), (120, 1), (60, 6)] {
            let sizes: Vec<u32> = (0..nodes).map(|i| (size + i % 2) as u32).collect();
            let mut pairs: Vec<(u32, u32)> = (0..3 * nodes)
                .map(|k| (((k * 7919) % nodes.max(1)) as u32, ((k * 104_729 + k / 3) % nodes.max(1)) as u32))
                .map(|(a, b)| (a.max(b), a.min(b)))
                .filter(|(a, b)| a != b)
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            let mut a = BlockGeneral::default();
            for round in 0..2 {
                a.set_pattern(&sizes, &pairs);
                let order = a.order();
                let mut full = vec![0.0; order * order];
                let mut all: Vec<(usize, usize)> = (0..nodes).map(|i| (i, i)).collect();
                all.extend(pairs.iter().flat_map(|&(i, j)| [(i as usize, j as usize), (j as usize, i as usize)]));
                for (i, j) in all {
                    let (rows, columns) = (sizes[i] as usize, sizes[j] as usize);
                    let block: Vec<f64> = (0..rows * columns)
                        .map(|k| noise(31 * i + 17 * j + k + round) + if i == j && k % (columns + 1) == 0 { 8.0 } else { 0.0 })
                        .collect();
                    a.add(i, j, &block);
                    for r in 0..rows {
                        for c in 0..columns {
                            full[(a.first(i) + r) * order + a.first(j) + c] = block[r * columns + c];
                        }
                    }
                }
                let b: Vec<f64> = (0..order).map(|i| noise(5 * i)).collect();
                let mut x = b.clone();
                assert!(a.factorise());
                a.solve(&mut x);
                for i in 0..order {
                    let product: f64 = (0..order).map(|j| full[i * order + j] * x[j]).sum();
                    assert!((product - b[i]).abs() < 1e-12, "{nodes} nodes, row {i}: {product} {}", b[i]);
                }
            }
        }
    }

    #[test]
    fn a_singular_pivot_is_reported() {
        let mut a = BlockGeneral::default();
        a.set_pattern(&[2], &[]);
        a.add(0, 0, &[1.0, 2.0, 2.0, 4.0]);
        assert!(!a.factorise());
    }
}
