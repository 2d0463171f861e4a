//! Symmetric positive definite matrices made of small blocks, one node per dynamical system.

use super::dense;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Conj, Par, Side};

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
    /// start of each column node in `below`
    below_start: Vec<usize>,
    /// `(row node, rows before it in the column)`
    below: Vec<(u32, u32)>,
    storage: Storage,
}

#[derive(Default)]
enum Storage {
    #[default]
    Empty,
    Dense(Vec<f64>),
    Sparse {
        column_starts: Vec<usize>,
        matrix: SparseColMat<usize, f64>,
        symbolic: Box<SymbolicCholesky<usize>>,
        factor: Vec<f64>,
        memory: MemBuffer,
    },
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
            Storage::Sparse { matrix, .. } => matrix.val_mut().fill(0.0),
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
        let nodes = self.sizes.len();
        let mut by_column: Vec<(u32, u32)> = self.pairs.iter().map(|&(i, j)| (j, i)).collect();
        by_column.sort_unstable();
        self.below.clear();
        self.below_start = vec![0; nodes + 1];
        let mut next = by_column.iter().peekable();
        let (mut column_starts, mut rows) = (vec![0], Vec::new());
        for j in 0..nodes {
            self.below_start[j] = self.below.len();
            let mut offset = 0;
            while let Some(&&(_, i)) = next.peek().filter(|(column, _)| *column as usize == j) {
                self.below.push((i, offset));
                offset += self.sizes[i as usize];
                next.next();
            }
            for c in 0..self.sizes[j] as usize {
                rows.extend(self.first[j] + c..self.first[j + 1]);
                for &(i, _) in &self.below[self.below_start[j]..] {
                    rows.extend(self.first[i as usize]..self.first[i as usize + 1]);
                }
                column_starts.push(rows.len());
            }
        }
        self.below_start[nodes] = self.below.len();
        let values = vec![0.0; rows.len()];
        let pattern = SymbolicSparseColMat::new_checked(order, order, column_starts.clone(), None, rows);
        // blocks of six make supernodes worth while at any size
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..CholeskySymbolicParams::default()
        };
        self.storage = match factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, SymmetricOrdering::Amd, params) {
            Ok(symbolic) => {
                let need = StackReq::or(
                    symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
                    symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
                );
                let factor = vec![0.0; symbolic.len_val()];
                Storage::Sparse {
                    column_starts,
                    matrix: SparseColMat::new(pattern, values),
                    symbolic: Box::new(symbolic),
                    factor,
                    memory: MemBuffer::new(need),
                }
            }
            Err(_) => Storage::Empty,
        };
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
            Storage::Sparse { column_starts, matrix, .. } => {
                let values = matrix.val_mut();
                if i == j {
                    for c in 0..columns {
                        let column = &mut values[column_starts[column0 + c]..][..columns - c];
                        column.iter_mut().enumerate().for_each(|(k, x)| *x += block[(c + k) * columns + c]);
                    }
                    return;
                }
                let below = &self.below[self.below_start[j]..self.below_start[j + 1]];
                let Ok(at) = below.binary_search_by_key(&(i as u32), |&(row, _)| row) else { return };
                let offset = below[at].1 as usize;
                for c in 0..columns {
                    let start = column_starts[column0 + c] + columns - c + offset;
                    values[start..start + rows].iter_mut().enumerate().for_each(|(r, x)| *x += block[r * columns + c]);
                }
            }
        }
    }

    /// Factorises what was added since the pattern was set; false when it is not positive definite to rounding.
    pub fn factorise(&mut self) -> bool {
        let order = self.order();
        match &mut self.storage {
            Storage::Empty => order == 0,
            Storage::Dense(a) => dense::cholesky(a, order),
            Storage::Sparse { matrix, symbolic, factor, memory, .. } => {
                let (stack, params) = (MemStack::new(memory), Default::default());
                let a = matrix.as_ref();
                symbolic.factorize_numeric_llt(factor, a, Side::Lower, Default::default(), Par::Seq, stack, params).is_ok()
            }
        }
    }

    /// Solves `A x = b` in place with the factor of [`factorise`](Self::factorise).
    pub fn solve_factorised(&mut self, b: &mut [f64]) {
        let order = self.order();
        match &mut self.storage {
            Storage::Empty => {}
            Storage::Dense(a) => dense::cholesky_solve(a, order, b),
            Storage::Sparse { symbolic, factor, memory, .. } => {
                let l = LltRef::new(symbolic, factor);
                let b = faer::MatMut::from_column_major_slice_mut(b, order, 1);
                l.solve_in_place_with_conj(Conj::No, b, Par::Seq, MemStack::new(memory));
            }
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

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut a = BlockSymmetric::default();
        a.set_pattern(&[2], &[]);
        a.add(0, 0, &[1.0, 0.0, 2.0, 1.0]);
        assert!(!a.solve(&mut [1.0, 1.0]));
    }
}
