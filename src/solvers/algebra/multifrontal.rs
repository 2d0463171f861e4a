//! General sparse matrices made of small blocks: LU by dense fronts, with the elimination tree kept while the pattern stands.
//!
//! ```text
//! front = rows and columns of a supernode and of what it still couples to
//!         [ A_pp A_pu ]            P A_pp = L U,   L_up = A_up U⁻¹,   U_pu = L⁻¹ P A_pu
//!         [ A_up A_uu ]            the Schur complement A_uu − L_up U_pu is added to the parent's front
//! ```
//!
//! The values may be nonsymmetric, the pattern of blocks is symmetric; rows are exchanged inside a pivot block only. Order by
//! approximate minimum degree on the graph of the nodes (Amestoy, Davis, Duff 1996), fronts as in Duff & Reid 1983. Threads share the branches of the tree and
//! large Schur complements: whoever does it, a sum is the same, so the factors have the same bits on any number of them.

use super::branches::branches;
use super::elimination::{Tree, minimum_degree};
use super::lanes::Lanes;
use super::lu_fronts::{Branch, Elimination, Front, TOP, eliminate};
use super::{panels, runs};

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
    /// start in `values` of each block by its number: those of the diagonal, then of each pair block (i, j) and block (j, i)
    block_at: Vec<usize>,
    values: Vec<f64>,
    /// whether something was added to each pair, and those of which the fronts hold something
    added: Vec<bool>,
    held_pairs: Vec<bool>,
    /// whether the fronts are those of the present sizes
    laid_out: bool,
    /// new position of the first unknown at each place of the order; first unknown and size of each node of a front
    layout: [Vec<u32>; 3],
    tree: Tree,
    fronts: Vec<Front>,
    /// new position of every unknown
    position: Vec<u32>,
    /// L and U of all fronts, and how many numbers they take
    factor: Vec<f64>,
    factor_len: usize,
    /// row exchanged with each pivot row, within its front
    pivots: Vec<u32>,
    /// what threads eliminate at the same time, and what is left after them
    branches: Vec<Branch>,
    top: Branch,
    permuted: Vec<f64>,
    held: Vec<f64>,
    gathered: Vec<f64>,
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
        self.fronts.iter().map(Front::multiplications).sum()
    }

    /// Declares nodes and coupled pairs (`row > column`, sorted, unique), and sets all numbers to zero.
    ///
    /// The order of elimination stands as long as the pairs do. Sizes may change, to zero too, and pairs to which nothing is added count
    /// as absent: the fronts are then laid out anew, which costs little beside a factorisation.
    pub fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]) {
        let anew = self.pairs != pairs || self.sizes.len() != sizes.len();
        if anew || self.sizes != sizes {
            sizes.clone_into(&mut self.sizes);
            if anew {
                pairs.clone_into(&mut self.pairs);
                self.build();
            }
            self.store();
            self.laid_out = false;
            if anew {
                self.added.fill(true);
                self.lay_out();
            }
        }
        self.added.fill(false);
        self.values.fill(0.0);
    }

    /// Order, tree and the blocks of each front, by nodes.
    fn build(&mut self) {
        let nodes = self.sizes.len();
        self.row_start.clear();
        self.row_start.resize(nodes + 1, 0);
        self.pairs.iter().for_each(|&(i, _)| self.row_start[i as usize + 1] += 1);
        (0..nodes).for_each(|i| self.row_start[i + 1] += self.row_start[i]);
        self.added.resize(self.pairs.len(), true);
        let order = minimum_degree(nodes, &self.pairs);
        self.tree = Tree::new(nodes, &self.pairs, order, &self.sizes);
        let supernodes = &self.tree.supernodes;
        let (mut place_of, mut owner) = (vec![0u32; nodes], vec![0u32; nodes]);
        self.tree.order.iter().zip(0..).for_each(|(&node, place)| place_of[node as usize] = place);
        supernodes.iter().zip(0..).for_each(|(s, k)| owner[s.begin..s.end].fill(k));
        self.fronts.clear();
        self.fronts.resize_with(supernodes.len(), Front::default);
        for (k, s) in supernodes.iter().enumerate() {
            if let Some(&next) = s.rows.first() {
                let parent = owner[next as usize] as usize;
                self.fronts[k].among = s.rows.iter().map(|&place| supernodes[parent].among(place)).collect();
                self.fronts[parent].children.push(k as u32);
            }
        }
        let mut put = |block: usize, a: usize, b: usize| {
            let (a, b) = (place_of[a], place_of[b]);
            let front = owner[a.min(b) as usize] as usize;
            self.fronts[front].parts.push([block as u32, supernodes[front].among(a), supernodes[front].among(b)]);
        };
        (0..nodes).for_each(|i| put(i, i, i));
        for (k, &(i, j)) in self.pairs.iter().enumerate() {
            put(nodes + 2 * k, i as usize, j as usize);
            put(nodes + 2 * k + 1, j as usize, i as usize);
        }
    }

    /// Places of unknowns and blocks for the present sizes.
    fn store(&mut self) {
        self.first.clear();
        self.first.push(0);
        self.block_at.clear();
        let mut values = 0;
        for &n in &self.sizes {
            self.first.push(self.first.last().copied().unwrap_or(0) + n as usize);
            self.block_at.push(values);
            values += (n * n) as usize;
        }
        for &(i, j) in &self.pairs {
            let numbers = (self.sizes[i as usize] * self.sizes[j as usize]) as usize;
            self.block_at.extend([values, values + numbers]);
            values += 2 * numbers;
        }
        self.values.resize(values, 0.0);
    }

    /// Lays out fronts, unknowns and factors for the present sizes and the pairs to which something was added.
    fn lay_out(&mut self) {
        self.held_pairs.clone_from(&self.added);
        self.laid_out = true;
        let Self { sizes, tree, fronts, .. } = self;
        let nodes = sizes.len();
        let [start, at, size] = &mut self.layout;
        start.clear();
        start.push(0);
        self.position.clear();
        self.position.resize(self.first.last().copied().unwrap_or(0), 0);
        let mut next = 0;
        for &node in &tree.order {
            let (n, first) = (sizes[node as usize], self.first[node as usize]);
            self.position[first..first + n as usize].iter_mut().zip(next..).for_each(|(position, x)| *position = x);
            next += n;
            start.push(next);
        }
        let (mut factor, mut largest) = (0, 0);
        for (k, s) in tree.supernodes.iter().enumerate() {
            let mut front = std::mem::take(&mut fronts[k]);
            let own = s.end - s.begin;
            size.clear();
            size.extend((s.begin..s.end).chain(s.rows.iter().map(|&place| place as usize)).map(|place| start[place + 1] - start[place]));
            front.reached.clear();
            front.reached.resize(s.rows.len(), false);
            let mut reach = |a: usize| {
                if let Some(a) = a.checked_sub(own) {
                    front.reached[a] = true
                }
            };
            front.blocks.clear();
            for &[block, a, b] in &front.parts {
                let (rows, columns) = (size[a as usize], size[b as usize]);
                let there = (block as usize).checked_sub(nodes).is_none_or(|block| self.added[block / 2]);
                if there && rows > 0 && columns > 0 {
                    reach(a as usize);
                    reach(b as usize);
                    front.blocks.push((self.block_at[block as usize], rows, columns, a, b));
                }
            }
            for &child in &front.children {
                let child = &fronts[child as usize];
                child.among.iter().zip(&child.reached).filter(|(_, reached)| **reached).for_each(|(&a, _)| reach(a as usize));
            }
            // the first unknown of each node in the front
            at.clear();
            let mut n = 0;
            front.rows.clear();
            front.begin = start[s.begin] as usize;
            front.pivots = start[s.end] as usize - front.begin;
            for (a, &size) in size.iter().enumerate() {
                at.push(n);
                if a < own {
                    n += size;
                } else if front.reached[a - own] {
                    n += size;
                    let place = s.rows[a - own] as usize;
                    front.rows.extend(start[place]..start[place + 1]);
                }
            }
            front.updates = front.rows.len();
            front.factor = factor;
            factor += front.pivots * (front.pivots + 2 * front.updates);
            largest = largest.max(n as usize);
            for (_, _, _, row, column) in &mut front.blocks {
                (*row, *column) = (at[*row as usize], at[*column as usize]);
            }
            for &child in &front.children {
                let child = &mut fronts[child as usize];
                child.runs.clear();
                for (&a, _) in child.among.iter().zip(&child.reached).filter(|(_, reached)| **reached) {
                    let first = at[a as usize] as usize;
                    runs::push(&mut child.runs, first..first + size[a as usize] as usize, front.pivots);
                }
            }
            fronts[k] = front;
        }
        self.factor_len = factor;
        self.pivots.resize(self.position.len(), 0);
        self.held.resize(largest, 0.0);
        self.gathered.resize(largest, 0.0);
        self.divide();
    }

    /// Divides the fronts into branches.
    fn divide(&mut self) {
        let Self { fronts, branches: own, top, factor_len, position, .. } = self;
        let costs: Vec<f64> = fronts.iter().map(Front::multiplications).collect();
        let found = branches(&costs, |k| &fronts[k].children);
        fronts.iter_mut().for_each(|front| front.branch = TOP);
        own.resize_with(found.len(), Branch::default);
        for (id, (branch, range)) in own.iter_mut().zip(found).enumerate() {
            let after = fronts.get(range.end).map_or((*factor_len, position.len()), |next| (next.factor, next.begin));
            let inside = &mut fronts[range.clone()];
            branch.largest = inside.iter().map(|f| f.updates).max().unwrap_or(0);
            branch.factor = inside[0].factor..after.0;
            branch.unknowns = inside[0].begin..after.1;
            inside.iter_mut().for_each(|front| front.branch = id as u32);
            branch.fronts = range;
        }
        top.fronts = 0..fronts.len();
        (top.factor, top.unknowns) = (0..*factor_len, 0..position.len());
        top.largest = fronts.iter().map(|f| f.updates).max().unwrap_or(0);
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
        let mut all = self.branches.iter_mut().chain([&mut self.top]);
        room(&mut self.factor, self.factor_len) && all.all(|b| room(&mut b.schur, b.largest.saturating_mul(b.largest)))
    }

    /// Number of the block at `(i, j)`, which stands as long as the pairs do; none where the pattern does not hold it.
    pub fn number(&self, i: usize, j: usize) -> Option<usize> {
        if i == j {
            return Some(i);
        }
        let (high, low) = (i.max(j), i.min(j));
        let from = self.row_start[high];
        let k = self.pairs[from..self.row_start[high + 1]].binary_search_by_key(&(low as u32), |&(_, j)| j).ok()?;
        Some(self.sizes.len() + 2 * (from + k) + usize::from(i < j))
    }

    /// Adds a row-major block at `(i, j)`; pairs that the pattern does not hold are left out.
    pub fn add(&mut self, i: usize, j: usize, block: &[f64]) {
        if let Some(number) = self.number(i, j) {
            self.add_to(number, block);
        }
    }

    /// Adds to the block of this [number](Self::number), row-major.
    pub fn add_to(&mut self, number: usize, block: &[f64]) {
        if let Some(k) = number.checked_sub(self.sizes.len()) {
            self.added[k / 2] = true;
        }
        let values = &mut self.values[self.block_at[number]..][..block.len()];
        values.iter_mut().zip(block).for_each(|(x, b)| *x += b);
    }

    /// LU of what was added since the pattern was set; false when a pivot block is singular, or memory does not do for the factors.
    pub fn factorise(&mut self) -> bool {
        if !self.laid_out || self.held_pairs != self.added {
            self.lay_out();
        }
        if !self.reserve() {
            return false;
        }
        let Self { fronts, values, branches, top, factor, pivots, .. } = self;
        eliminate(branches, 0, factor, pivots, [0; 2], fronts, values)
            && Elimination { fronts, values, branches, own: top, id: TOP, factor, pivots }.run()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(k: usize) -> f64 {
        (k as f64 * 0.618_033_988_749).fract() - 0.5
    }

    #[test]
    fn random_patterns_are_solved_to_rounding_and_the_tree_is_kept() {
        for (nodes, size) in [(0usize, 1), (1, 3), (7, 2), (40, 3), (120, 1), (60, 6)] {
            let mut pairs: Vec<(u32, u32)> = (0..3 * nodes)
                .map(|k| (((k * 7919) % nodes.max(1)) as u32, ((k * 104_729 + k / 3) % nodes.max(1)) as u32))
                .map(|(a, b)| (a.max(b), a.min(b)))
                .filter(|(a, b)| a != b)
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            let mut a = BlockGeneral::default();
            // all; other numbers; without some pairs; with nodes that shrink or vanish; all again
            for round in 0..6 {
                let shrinks = |i: usize| if (3..5).contains(&round) { (i + round) % 4 } else { 0 };
                let sizes: Vec<u32> = (0..nodes).map(|i| (size + i % 2 - shrinks(i).min(size + i % 2)) as u32).collect();
                a.set_pattern(&sizes, &pairs);
                let order = a.order();
                let mut full = vec![0.0; order * order];
                let mut all: Vec<(usize, usize)> = (0..nodes).map(|i| (i, i)).collect();
                let there = |k: usize| !(round == 2 || round == 4) || !k.is_multiple_of(3);
                all.extend(
                    pairs
                        .iter()
                        .enumerate()
                        .filter(|(k, _)| there(*k))
                        .flat_map(|(_, &(i, j))| [(i as usize, j as usize), (j as usize, i as usize)]),
                );
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
                let (mut x, whole) = (b.clone(), a.operations());
                assert!(a.factorise());
                assert!(nodes < 40 || round != 2 || a.operations() < 0.95 * whole, "pairs that are absent cost nothing");
                a.solve(&mut x);
                for i in 0..order {
                    let product: f64 = (0..order).map(|j| full[i * order + j] * x[j]).sum();
                    assert!((product - b[i]).abs() < 1e-12, "{nodes} nodes, round {round}, row {i}: {product} {}", b[i]);
                }
            }
        }
    }

    /// Neighbours in a square of n² nodes of six unknowns each, and their blocks.
    fn square(n: usize) -> (BlockGeneral, Vec<(usize, usize, Vec<f64>)>) {
        let mut pairs: Vec<(u32, u32)> = (0..n * n)
            .flat_map(|k| [(k % n + 1 < n).then_some((k + 1, k)), (k + n < n * n).then_some((k + n, k))])
            .flatten()
            .map(|(i, j)| (i as u32, j as u32))
            .collect();
        pairs.sort_unstable();
        let mut a = BlockGeneral::default();
        a.set_pattern(&vec![6; n * n], &pairs);
        let couplings = pairs.iter().flat_map(|&(i, j)| [(i as usize, j as usize), (j as usize, i as usize)]);
        let diagonal = (0..n * n).map(|i| (i, i));
        let number = |i: usize, j: usize, k: usize| noise(31 * i + 17 * j + k) + if i == j && k.is_multiple_of(7) { 8.0 } else { 0.0 };
        let blocks: Vec<_> = diagonal.chain(couplings).map(|(i, j)| (i, j, (0..36).map(|k| number(i, j, k)).collect::<Vec<_>>())).collect();
        blocks.iter().for_each(|(i, j, block)| a.add(*i, *j, block));
        (a, blocks)
    }

    #[test]
    fn branches_and_threads_change_no_bit_of_what_solves_the_system() {
        let run = |threads: usize, cut: bool| {
            let (mut a, blocks) = square(40);
            if !cut {
                assert!(a.branches.len() >= 8);
                a.branches.clear();
                a.fronts.iter_mut().for_each(|front| front.branch = TOP);
            }
            let b: Vec<f64> = (0..a.order()).map(|i| noise(5 * i)).collect();
            let mut x = b.clone();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            assert!(pool.install(|| a.factorise()));
            a.solve(&mut x);
            let mut left = b;
            for (i, j, block) in &blocks {
                for (k, value) in block.iter().enumerate() {
                    left[6 * i + k / 6] -= value * x[6 * j + k % 6];
                }
            }
            assert!(left.iter().all(|left| left.abs() < 1e-12), "{threads} threads");
            x
        };
        let whole = run(1, false);
        for threads in [1, 2, 7] {
            assert_eq!(run(threads, true), whole, "{threads} threads");
        }
    }

    #[test]
    fn a_branch_that_is_singular_is_refused() {
        let (mut a, blocks) = square(40);
        let block = &blocks.iter().find(|(i, j, _)| (*i, *j) == (3, 3)).expect("a block of the diagonal").2;
        a.add(3, 3, &block.iter().map(|x| -x).collect::<Vec<_>>());
        assert!(a.factorise(), "its neighbours mend it");
        let (mut a, blocks) = square(40);
        for (i, j, block) in blocks.iter().filter(|(i, j, _)| *i == 3 || *j == 3) {
            a.add(*i, *j, &block.iter().map(|x| -x).collect::<Vec<_>>());
        }
        assert!(!a.factorise());
    }

    #[test]
    fn a_singular_pivot_is_reported() {
        let mut a = BlockGeneral::default();
        a.set_pattern(&[2], &[]);
        a.add(0, 0, &[1.0, 2.0, 2.0, 4.0]);
        assert!(!a.factorise());
    }
}
