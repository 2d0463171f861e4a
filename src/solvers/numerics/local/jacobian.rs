//! Newton's matrix of the laws of many blocks, `A + B (W + α D)` with `dF = A dr + B du`, on the blocks that are not open.

use super::LocalProblem;
use crate::algebra::multifrontal::BlockGeneral;

/// The matrix, its pattern and its right side; the elimination tree stands while the same blocks take part.
pub(super) struct Jacobian<'a> {
    p: &'a LocalProblem,
    /// pairs of all blocks that are coupled
    coupled: Vec<(u32, u32)>,
    /// the blocks that take part, and the node of each block
    blocks: Vec<u32>,
    node: Vec<u32>,
    sizes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    matrix: BlockGeneral,
    right: Vec<f64>,
    scratch: [Vec<f64>; 3],
}

/// Node of a block that does not take part.
const NONE: u32 = u32::MAX;

impl<'a> Jacobian<'a> {
    pub(super) fn new(p: &'a LocalProblem) -> Self {
        let largest = (0..p.sets.len()).map(|i| p.w.rows(i)).max().unwrap_or(0);
        Self {
            p,
            coupled: p.w.couplings(),
            blocks: Vec::new(),
            node: vec![NONE; p.sets.len()],
            sizes: Vec::new(),
            pairs: Vec::new(),
            matrix: BlockGeneral::default(),
            right: Vec::new(),
            scratch: std::array::from_fn(|_| vec![0.0; largest * largest]),
        }
    }

    /// Declares the blocks that take part and sets all numbers to zero.
    pub(super) fn declare(&mut self, active: impl Fn(usize) -> bool) -> &BlockGeneral {
        let Self { p, coupled, blocks, node, sizes, pairs, matrix, .. } = self;
        if (0..node.len()).any(|i| active(i) != (node[i] != NONE)) {
            blocks.clear();
            blocks.extend((0..node.len()).filter(|&i| active(i)).map(|i| i as u32));
            node.fill(NONE);
            blocks.iter().zip(0..).for_each(|(&i, k)| node[i as usize] = k);
            sizes.clear();
            sizes.extend(blocks.iter().map(|&i| p.w.rows(i as usize) as u32));
            pairs.clear();
            pairs.extend(coupled.iter().map(|&(i, j)| (node[i as usize], node[j as usize])).filter(|&(i, j)| i != NONE && j != NONE));
        }
        matrix.set_pattern(sizes, pairs);
        matrix
    }

    /// Solves for the direction from r, where F is `f` and `derivative(i, A, B)` gives the row-major derivatives of block i; blocks that do
    /// not take part go to zero at once. False when the matrix is singular. The blocks have been [declared](Self::declare).
    pub(super) fn direction(
        &mut self,
        [weights, f, r]: [&[f64]; 3],
        alpha: f64,
        mut derivative: impl FnMut(usize, &mut [f64], &mut [f64]),
        direction: &mut [f64],
    ) -> bool {
        let w = &self.p.w;
        self.right.clear();
        for (row, &i) in self.blocks.iter().enumerate() {
            let i = i as usize;
            let n = w.rows(i);
            if n == 0 {
                continue;
            }
            let [a, b, block] = &mut self.scratch;
            let (a, b) = (&mut a[..n * n], &mut b[..n * n]);
            derivative(i, a, b);
            let first = self.right.len();
            self.right.extend(f[w.range(i)].iter().map(|f| -f));
            for (j, w_ij) in w.row(i) {
                let columns = w.rows(j);
                let block = &mut block[..n * columns];
                for (out, b) in block.chunks_exact_mut(columns).zip(b.chunks_exact(n)) {
                    out.fill(0.0);
                    for (w, b) in w_ij.chunks_exact(columns).zip(b) {
                        out.iter_mut().zip(w).for_each(|(o, w)| *o += b * w);
                    }
                }
                if self.node[j] != NONE {
                    self.matrix.add(row, self.node[j] as usize, block);
                    continue;
                }
                let r = &r[w.range(j)];
                for (right, row) in self.right[first..].iter_mut().zip(block.chunks_exact(columns)) {
                    *right += row.iter().zip(r).map(|(b, r)| b * r).sum::<f64>();
                }
            }
            a.iter_mut().zip(b.iter()).for_each(|(a, b)| *a += alpha * weights[i] * b);
            self.matrix.add(row, row, a);
        }
        if !self.matrix.factorise() {
            return false;
        }
        self.matrix.solve(&mut self.right);
        if self.right.iter().any(|x| !x.is_finite()) {
            return false;
        }
        for (i, &node) in self.node.iter().enumerate() {
            let range = w.range(i);
            if node == NONE {
                direction[range.clone()].iter_mut().zip(&r[range]).for_each(|(d, r)| *d = -r);
            } else {
                let first = self.matrix.first(node as usize);
                direction[range.clone()].copy_from_slice(&self.right[first..first + range.len()]);
            }
        }
        true
    }
}
