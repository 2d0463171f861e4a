//! As many independent rows of a positive semidefinite matrix as it has rank, and the directions that none of them sees.

use crate::algebra::dense::{dot, norm};

/// Pivots of a Cholesky factorisation with the largest diagonal first, `P A Pᵀ = L Lᵀ`.
pub(super) struct IndependentRows {
    n: usize,
    chosen: Vec<usize>,
    /// columns of L, each of length n in the order of A
    columns: Vec<Vec<f64>>,
}

impl IndependentRows {
    /// The first `count` rows of `a`, row-major, of order n.
    pub(super) fn new(a: &[f64], n: usize, count: usize) -> Self {
        let mut left: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(count);
        let mut chosen = Vec::with_capacity(count);
        for _ in 0..count {
            let pivot = (0..n).fold(0, |best, i| if left[i] > left[best] { i } else { best });
            if left[pivot] <= 0.0 {
                break;
            }
            let scale = 1.0 / left[pivot].sqrt();
            let mut column = a[pivot * n..(pivot + 1) * n].to_vec();
            for l in &columns {
                let factor = l[pivot];
                column.iter_mut().zip(l).for_each(|(c, l)| *c -= factor * l);
            }
            column.iter_mut().zip(&mut left).for_each(|(c, left)| {
                *c *= scale;
                *left -= *c * *c;
            });
            left[pivot] = f64::NEG_INFINITY;
            chosen.push(pivot);
            columns.push(column);
        }
        Self { n, chosen, columns }
    }

    /// Indices of the rows, in the order of their pivots.
    pub(super) fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// An orthonormal basis of `{ d : Lᵀ d = 0 }`, one vector after the other: each other row's unit vector with what the chosen ones answer
    /// it, then Gram and Schmidt, twice, as once leaves errors of the condition of what it is given.
    pub(super) fn complement(&self) -> Vec<f64> {
        let n = self.n;
        let mut basis: Vec<f64> = Vec::with_capacity(n * (n - self.chosen.len()));
        for other in (0..n).filter(|i| !self.chosen.contains(i)) {
            let mut d = vec![0.0; n];
            d[other] = 1.0;
            for (k, column) in self.columns.iter().enumerate().rev() {
                let later = self.chosen[k + 1..].iter().map(|&m| column[m] * d[m]).sum::<f64>();
                d[self.chosen[k]] = -(column[other] + later) / column[self.chosen[k]];
            }
            for _ in 0..2 {
                for one in basis.chunks_exact(n) {
                    let share = dot(one, &d);
                    d.iter_mut().zip(one).for_each(|(d, one)| *d -= share * one);
                }
                let length = norm(&d);
                d.iter_mut().for_each(|d| *d /= length);
            }
            basis.extend(d);
        }
        basis
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complement_of_rows_is_orthonormal_and_unseen() {
        // A = B Bᵀ of rank 3 and order 7
        let b = |i: usize, k: usize| libm::sin((3 * i + 5 * k * k + i * k) as f64);
        let a: Vec<f64> = (0..49).map(|p| (0..3).map(|k| b(p / 7, k) * b(p % 7, k)).sum()).collect();
        let rows = IndependentRows::new(&a, 7, 3);
        let basis = rows.complement();
        assert_eq!((rows.chosen().len(), basis.len()), (3, 28));
        for (i, d) in basis.chunks_exact(7).enumerate() {
            assert!(a.chunks_exact(7).all(|row| dot(row, d).abs() < 1e-13), "W d = 0");
            for (j, e) in basis.chunks_exact(7).enumerate() {
                assert!((dot(d, e) - f64::from(u8::from(i == j))).abs() < 1e-14, "{i} {j}");
            }
        }
    }
}
