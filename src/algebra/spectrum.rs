//! Singular values of small dense matrices: rank and condition.

use faer::{MatRef, Side};

/// Values below this share of the largest count as zero.
const NOISE: f64 = 1e-10;

/// Singular values, largest first.
///
/// ```
/// use drystone::algebra::spectrum::Spectrum;
/// // a stuck pair of equal rows
/// let s = Spectrum::of(2, 2, &[1.0, 1.0, 1.0, 1.0]).unwrap();
/// assert_eq!(s.rank(), 1);
/// assert!((s.condition() - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Largest first.
    pub values: Vec<f64>,
}

impl Spectrum {
    /// Of a row-major `rows × columns` matrix of finite numbers; `None` where the iteration for them does not converge.
    pub fn of(rows: usize, columns: usize, a: &[f64]) -> Option<Self> {
        if a.is_empty() {
            return Some(Self { values: Vec::new() });
        }
        let view = MatRef::from_row_major_slice(a, rows, columns);
        // half the work of the general case
        let symmetric = rows == columns && (0..rows).all(|i| (0..i).all(|j| a[i * rows + j] == a[j * rows + i]));
        let mut values = match symmetric {
            true => view.self_adjoint_eigenvalues(Side::Lower).ok()?,
            false => view.singular_values().ok()?,
        };
        values.iter_mut().for_each(|x| *x = x.abs());
        values.sort_by(|a, b| b.total_cmp(a));
        Some(Self { values })
    }

    /// Number of values above 1e-10 of the largest: matrices of simulations and of files carry errors far above ε.
    pub fn rank(&self) -> usize {
        let Some(&largest) = self.values.first() else { return 0 };
        self.values.iter().filter(|x| **x > NOISE * largest).count()
    }

    /// Largest over smallest of the values that count for the [`rank`](Self::rank); 1 where there are none.
    pub fn condition(&self) -> f64 {
        let rank = self.rank();
        if rank == 0 { 1.0 } else { self.values[0] / self.values[rank - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_rotated_diagonal_are_the_diagonal() {
        // Q D Qᵀ with a Householder Q, then a nonsymmetric product Q D
        let v = [0.5, 0.5, 0.5, 0.5];
        let q = |i: usize, j: usize| f64::from(u8::from(i == j)) - 2.0 * v[i] * v[j];
        let d = [4.0, 2.0, 1e-3, 0.0];
        let symmetric: Vec<f64> = (0..16).map(|k| (0..4).map(|m| q(k / 4, m) * d[m] * q(k % 4, m)).sum()).collect();
        let skewed: Vec<f64> = (0..16).map(|k| q(k / 4, k % 4) * d[k % 4]).collect();
        for a in [symmetric, skewed] {
            let s = Spectrum::of(4, 4, &a).expect("converges");
            assert!(s.values.iter().zip(d).all(|(a, b)| (a - b).abs() < 1e-14), "{:?}", s.values);
            assert!(s.rank() == 3 && (s.condition() / 4e3 - 1.0).abs() < 1e-10);
        }
        assert_eq!(Spectrum::of(0, 0, &[]).map(|s| (s.rank(), s.condition())), Some((0, 1.0)));
    }
}
