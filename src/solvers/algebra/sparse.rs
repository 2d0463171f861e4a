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
use super::fronts::{Fronts, multiplications};
use super::lanes::Lanes;

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
            Storage::Sparse(f) => f.operations(),
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

    /// A grid of nodes of 6 unknowns, coupled to those beside and above them, and its blocks.
    fn grid(width: usize, height: usize) -> (BlockSymmetric, Vec<(usize, usize, [f64; 36])>) {
        let node = |x: usize, y: usize| (y * width + x) as u32;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            pairs.extend((x > 0).then(|| (node(x, y), node(x - 1, y))));
            pairs.extend((y > 0).then(|| (node(x, y), node(x, y - 1))));
        }
        pairs.sort_unstable();
        let mut a = BlockSymmetric::default();
        a.set_pattern(&vec![6; width * height], &pairs);
        let diagonal = |i: usize| (i, i, std::array::from_fn(|k| if k % 7 == 0 { 5.0 + libm::sin(i as f64) } else { 0.1 }));
        let coupling = |&(i, j): &(u32, u32)| {
            (i as usize, j as usize, std::array::from_fn(|k| libm::sin((7 * k + 3 * i as usize + j as usize) as f64) * 0.2))
        };
        let blocks: Vec<_> = (0..width * height).map(diagonal).chain(pairs.iter().map(coupling)).collect();
        blocks.iter().for_each(|(i, j, block)| a.add(*i, *j, block));
        (a, blocks)
    }

    #[test]
    fn branches_and_threads_change_no_bit_of_what_solves_the_system() {
        let run = |threads: usize, cut: bool| {
            let (mut a, blocks) = grid(60, 60);
            let Storage::Sparse(f) = &mut a.storage else { panic!("a sparse matrix") };
            assert!(cut || f.join_branches() >= 8);
            let b: Vec<f64> = (0..a.order()).map(|i| libm::sin(i as f64)).collect();
            let mut x = b.clone();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            assert!(pool.install(|| a.solve(&mut x)));
            let mut left = b;
            for (i, j, block) in &blocks {
                for (r, c) in (0..6).flat_map(|r| (0..6).map(move |c| (r, c))) {
                    left[6 * i + r] -= block[6 * r + c] * x[6 * j + c];
                    if i != j {
                        left[6 * j + c] -= block[6 * r + c] * x[6 * i + r];
                    }
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
    fn a_branch_that_is_not_positive_is_refused() {
        let (mut a, _) = grid(60, 60);
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
