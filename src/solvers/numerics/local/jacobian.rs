//! Newton's matrix of the laws of many blocks, `A + B (W + α D)` with `dF = A dr + B du`, with the unknowns that have to be found together.
//!
//! ```text
//! L A Δr + L B Δu = −L F        rows of a block combined so that B keeps as many as its rank, and the others hold Δr alone
//! Δr = T y + c                  from these others; y are those of the block's own unknowns that they leave open
//! ```
//!
//! A contact that is open keeps no unknown, one that slides two, one that sticks three; W couples only those. (The functions of Alart & Curnier, of
//! Jean & Moreau and the natural map have such derivatives, that of Fischer & Burmeister keeps all.)

use super::LocalProblem;
use crate::algebra::{dense::dot, multifrontal::BlockGeneral};
use crate::numerics::mixed::MAX_ROWS;

/// The matrix, its pattern and its right side; the elimination tree stands while the same blocks take part.
pub(super) struct Jacobian<'a> {
    p: &'a LocalProblem,
    /// pairs of all blocks that are coupled
    coupled: Vec<(u32, u32)>,
    /// the blocks that take part, and the node of each block
    blocks: Vec<u32>,
    node: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// numbers in the matrix of what each block couples to, itself first, then as in W; where those of each block start, then where they end
    numbers: Vec<usize>,
    numbers_at: Vec<usize>,
    /// unknowns of each node
    sizes: Vec<u32>,
    /// start of the matrices of each block, then where they end
    at: Vec<usize>,
    /// L A + α L B D, L B and T of the blocks, row-major, and −L F and c
    own: Vec<f64>,
    slope: Vec<f64>,
    free: Vec<f64>,
    right: Vec<f64>,
    given: Vec<f64>,
    /// W c
    rates: Vec<f64>,
    matrix: BlockGeneral,
    solution: Vec<f64>,
    scratch: [Vec<f64>; 2],
}

/// Node of a block that does not take part.
const NONE: u32 = u32::MAX;

impl<'a> Jacobian<'a> {
    pub(super) fn new(p: &'a LocalProblem) -> Self {
        let largest = (0..p.sets.len()).map(|i| p.w.rows(i)).max().unwrap_or(0);
        let mut at = vec![0];
        (0..p.sets.len()).for_each(|i| at.push(at[i] + p.w.rows(i).pow(2)));
        let [own, slope, free] = std::array::from_fn(|_| vec![0.0; at.last().copied().unwrap_or(0)]);
        Self {
            p,
            coupled: p.w.couplings(),
            blocks: Vec::new(),
            node: vec![NONE; p.sets.len()],
            pairs: Vec::new(),
            numbers: Vec::new(),
            numbers_at: Vec::new(),
            sizes: Vec::new(),
            at,
            own,
            slope,
            free,
            right: vec![0.0; p.order()],
            given: vec![0.0; p.order()],
            rates: vec![0.0; p.order()],
            matrix: BlockGeneral::default(),
            solution: Vec::new(),
            scratch: std::array::from_fn(|_| vec![0.0; largest * largest]),
        }
    }

    /// Declares the blocks that take part.
    pub(super) fn declare(&mut self, active: impl Fn(usize) -> bool) -> &BlockGeneral {
        let Self { p, coupled, blocks, node, sizes, pairs, numbers, numbers_at, matrix, .. } = self;
        if (0..node.len()).any(|i| active(i) != (node[i] != NONE)) {
            blocks.clear();
            blocks.extend((0..node.len()).filter(|&i| active(i)).map(|i| i as u32));
            node.fill(NONE);
            blocks.iter().zip(0..).for_each(|(&i, k)| node[i as usize] = k);
            sizes.clear();
            sizes.extend(blocks.iter().map(|&i| p.w.rows(i as usize) as u32));
            pairs.clear();
            pairs.extend(coupled.iter().map(|&(i, j)| (node[i as usize], node[j as usize])).filter(|&(i, j)| i != NONE && j != NONE));
            matrix.set_pattern(sizes, pairs);
            numbers.clear();
            numbers_at.clear();
            for (row, &i) in blocks.iter().enumerate() {
                numbers_at.push(numbers.len());
                numbers.push(row);
                let there = p.w.columns(i as usize).iter().map(|&j| node[j as usize]).filter(|&column| column != NONE);
                numbers.extend(there.map(|column| matrix.number(row, column as usize).expect("a coupled pair")));
            }
            numbers_at.push(numbers.len());
        }
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
        for (i, weight) in weights.iter().enumerate() {
            let (range, n) = (w.range(i), w.rows(i));
            let all = self.at[i]..self.at[i + 1];
            if self.node[i] == NONE {
                self.given[range.clone()].iter_mut().zip(&r[range]).for_each(|(c, r)| *c = -r);
                continue;
            }
            let (a, b, free) = (&mut self.own[all.clone()], &mut self.slope[all.clone()], &mut self.free[all]);
            let (right, given) = (&mut self.right[range.clone()], &mut self.given[range.clone()]);
            derivative(i, a, b);
            right.iter_mut().zip(&f[range]).for_each(|(right, f)| *right = -f);
            let left = condense(n, [a, b, free, right, given]);
            a.iter_mut().zip(b.iter()).for_each(|(a, b)| *a += alpha * weight * b);
            self.sizes[self.node[i] as usize] = left as u32;
        }
        self.matrix.set_pattern(&self.sizes, &self.pairs);
        w.multiply(&self.given, &mut self.rates);
        self.solution.clear();
        for (row, &i) in self.blocks.iter().enumerate() {
            let i = i as usize;
            let (n, left) = (w.rows(i), self.sizes[row] as usize);
            if left == 0 {
                continue;
            }
            let slope = &self.slope[self.at[i]..][..left * n];
            let known = self.own[self.at[i]..].chunks_exact(n).zip(slope.chunks_exact(n)).zip(&self.right[w.range(i)]);
            let (given, rates) = (&self.given[w.range(i)], &self.rates[w.range(i)]);
            self.solution.extend(known.take(left).map(|((a, b), right)| right - dot(a, given) - dot(b, rates)));
            let [product, block] = &mut self.scratch;
            let numbers = &self.numbers[self.numbers_at[row]..self.numbers_at[row + 1]];
            let there = std::iter::once((i, None)).chain(w.row(i).map(|(j, w_ij)| (j, Some(w_ij)))).filter(|(j, _)| self.node[*j] != NONE);
            for ((j, w_ij), &number) in there.zip(numbers) {
                let columns = w.rows(j);
                let theirs = self.sizes[self.node[j] as usize] as usize;
                if theirs == 0 {
                    continue;
                }
                let product = &mut product[..left * columns];
                match w_ij {
                    None => product.copy_from_slice(&self.own[self.at[i]..][..left * n]),
                    Some(w_ij) => times(slope, w_ij, [n, columns], product),
                }
                if theirs == columns {
                    self.matrix.add_to(number, product);
                    continue;
                }
                let block = &mut block[..left * theirs];
                times(product, &self.free[self.at[j]..][..columns * theirs], [columns, theirs], block);
                self.matrix.add_to(number, block);
            }
        }
        if !self.matrix.factorise() {
            return false;
        }
        self.matrix.solve(&mut self.solution);
        if self.solution.iter().any(|x| !x.is_finite()) {
            return false;
        }
        direction.copy_from_slice(&self.given);
        let mut y = &self.solution[..];
        for (&i, &left) in self.blocks.iter().zip(&self.sizes) {
            let (i, left) = (i as usize, left as usize);
            let (own, rest) = y.split_at(left);
            y = rest;
            let direction = &mut direction[w.range(i)];
            if left == w.rows(i) {
                direction.copy_from_slice(own);
            } else if left > 0 {
                for (d, t) in direction.iter_mut().zip(self.free[self.at[i]..].chunks_exact(left)) {
                    *d += t.iter().zip(own).map(|(t, y)| t * y).sum::<f64>();
                }
            }
        }
        true
    }
}

/// `C = A B`, row-major, with so many numbers in a row of A and of B.
fn times(a: &[f64], b: &[f64], [n, columns]: [usize; 2], c: &mut [f64]) {
    match columns {
        1 => narrow::<1>(a, b, n, c),
        2 => narrow::<2>(a, b, n, c),
        3 => narrow::<3>(a, b, n, c),
        _ => {
            for (c, a) in c.chunks_exact_mut(columns).zip(a.chunks_exact(n)) {
                c.fill(0.0);
                for (b, a) in b.chunks_exact(columns).zip(a) {
                    c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
                }
            }
        }
    }
}

/// The same for so few columns that a row of them stays in registers.
fn narrow<const C: usize>(a: &[f64], b: &[f64], n: usize, c: &mut [f64]) {
    let b = b.as_chunks::<C>().0;
    for (c, a) in c.as_chunks_mut::<C>().0.iter_mut().zip(a.chunks_exact(n)) {
        let mut sum = [0.0; C];
        for (b, a) in b.iter().zip(a) {
            (0..C).for_each(|k| sum[k] += a * b[k]);
        }
        *c = sum;
    }
}

/// Part of the largest number of a matrix below which one counts as zero.
const NOTHING: f64 = 1e-13;

/// From A, B and −F of a block of n rows: L A, L B and −L F in the first rows, as many as the result says, and `Δr = T y + c`.
///
/// All have n² numbers or n, row-major; of the first three so many rows count, of T so many columns, which then lie next to each other.
fn condense(n: usize, [a, b, t, right, c]: [&mut [f64]; 5]) -> usize {
    c.fill(0.0);
    if n > MAX_ROWS || b.iter().any(|x| !x.is_finite()) {
        return n;
    }
    if b.iter().all(|b| *b == 0.0) && a.iter().enumerate().all(|(k, a)| *a == f64::from(u8::from(k % (n + 1) == 0))) {
        c.copy_from_slice(right);
        return 0;
    }
    if a.iter().all(|a| *a == 0.0) {
        return n;
    }
    // by complete pivoting, so that no row is taken more than once
    let (mut a2, mut b2, mut right2) = ([0.0; MAX_ROWS * MAX_ROWS], [0.0; MAX_ROWS * MAX_ROWS], [0.0; MAX_ROWS]);
    let (a2, b2, right2) = (&mut a2[..n * n], &mut b2[..n * n], &mut right2[..n]);
    a2.copy_from_slice(a);
    b2.copy_from_slice(b);
    right2.copy_from_slice(right);
    let largest = b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut rank = 0;
    while rank < n {
        let Some((row, column)) = pivot(n, b2, rank..n, NOTHING * largest) else { break };
        for m in [&mut *a2, &mut *b2] {
            (0..n).for_each(|j| m.swap(rank * n + j, row * n + j));
        }
        right2.swap(rank, row);
        for i in rank + 1..n {
            let factor = b2[i * n + column] / b2[rank * n + column];
            if factor == 0.0 {
                continue;
            }
            for j in 0..n {
                a2[i * n + j] -= factor * a2[rank * n + j];
                b2[i * n + j] -= factor * b2[rank * n + j];
            }
            b2[i * n + column] = 0.0;
            right2[i] -= factor * right2[rank];
        }
        rank += 1;
    }
    if rank == n {
        return n;
    }
    // the rows that hold Δr alone, solved for as many of it
    let largest = a2[rank * n..].iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let (mut solved, mut count) = ([usize::MAX; MAX_ROWS], rank);
    while count < n {
        let Some((row, column)) = pivot(n, a2, count..n, NOTHING * largest) else { return n };
        (0..n).for_each(|j| a2.swap(count * n + j, row * n + j));
        right2.swap(count, row);
        let inverse = 1.0 / a2[count * n + column];
        (0..n).for_each(|j| a2[count * n + j] *= inverse);
        right2[count] *= inverse;
        for i in (rank..n).filter(|i| *i != count) {
            let factor = a2[i * n + column];
            (0..n).for_each(|j| a2[i * n + j] -= factor * a2[count * n + j]);
            right2[i] -= factor * right2[count];
        }
        solved[column] = count;
        count += 1;
    }
    for i in 0..n {
        let open = (0..n).filter(|j| solved[*j] == usize::MAX);
        for (k, j) in open.enumerate() {
            t[i * rank + k] = match solved[i] {
                usize::MAX => f64::from(u8::from(i == j)),
                row => -a2[row * n + j],
            };
        }
        c[i] = if solved[i] == usize::MAX { 0.0 } else { right2[solved[i]] };
    }
    a[..rank * n].copy_from_slice(&a2[..rank * n]);
    b[..rank * n].copy_from_slice(&b2[..rank * n]);
    right[..rank].copy_from_slice(&right2[..rank]);
    rank
}

/// The largest number in some rows, if it is larger than the bound.
fn pivot(n: usize, m: &[f64], rows: std::ops::Range<usize>, bound: f64) -> Option<(usize, usize)> {
    let mut found = (None, bound);
    for i in rows {
        for j in 0..n {
            if m[i * n + j].abs() > found.1 {
                found = (Some((i, j)), m[i * n + j].abs());
            }
        }
    }
    found.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::dense;

    #[test]
    fn what_is_condensed_has_the_solution_of_the_whole() {
        let noise = |k: usize| ((k * k + 7 * k) as f64 * 0.754_877_666).fract() - 0.5;
        for n in 1..=MAX_ROWS {
            for rank in 0..=n {
                let random = |from: usize| (0..n * n).map(|k| noise(from + 31 * n + 5 * rank + k)).collect::<Vec<_>>();
                // B of the given rank, A of any, and W
                let (left, factor, mut a, w) = (random(0), random(100), random(200), random(300));
                (0..n).for_each(|i| a[i * n + i] += 2.0);
                let b: Vec<f64> = (0..n * n).map(|k| (0..rank).map(|m| left[k / n * n + m] * factor[m * n + k % n]).sum()).collect();
                let f: Vec<f64> = (0..n).map(|i| noise(400 + i)).collect();
                let product = |a: &[f64], b: &[f64], rows: usize| -> Vec<f64> {
                    (0..rows * n).map(|k| a[k] + (0..n).map(|m| b[k / n * n + m] * w[m * n + k % n]).sum::<f64>()).collect()
                };
                let solve = |mut m: Vec<f64>, mut x: Vec<f64>| {
                    let mut order = [0; MAX_ROWS];
                    assert!(dense::lu(&mut m, &mut order[..x.len()]).is_none());
                    dense::lu_solve(&m, &order[..x.len()], &mut x);
                    x
                };
                let whole = solve(product(&a, &b, n), f.iter().map(|f| -f).collect());
                let (mut a2, mut b2, mut t) = (a.clone(), b.clone(), vec![0.0; n * n]);
                let (mut right, mut c): (Vec<f64>, Vec<f64>) = (f.iter().map(|f| -f).collect(), vec![0.0; n]);
                let left = condense(n, [&mut a2, &mut b2, &mut t, &mut right, &mut c]);
                assert_eq!(left, rank, "{n} rows");
                let m = product(&a2, &b2, left);
                let found = if left == n {
                    solve(m, right)
                } else if left == 0 {
                    c
                } else {
                    let small = (0..left * left).map(|k| (0..n).map(|j| m[k / left * n + j] * t[j * left + k % left]).sum()).collect();
                    let right = (0..left).map(|i| right[i] - (0..n).map(|j| m[i * n + j] * c[j]).sum::<f64>()).collect();
                    let y = solve(small, right);
                    (0..n).map(|i| c[i] + (0..left).map(|k| t[i * left + k] * y[k]).sum::<f64>()).collect()
                };
                let size = whole.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                found
                    .iter()
                    .zip(&whole)
                    .for_each(|(x, y)| assert!((x - y).abs() < 1e-9 * size, "{n} rows, rank {rank}: {found:?} {whole:?}"));
            }
        }
    }
}
