//! Singular values of small dense matrices: rank and condition.

use super::tridiagonal::{bidiagonal, eigenvalues, tridiagonal};

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
        // half the work of the general case
        let symmetric = rows == columns && (0..rows).all(|i| (0..i).all(|j| a[i * rows + j] == a[j * rows + i]));
        let mut values = match symmetric {
            true => symmetric_eigenvalues(a, rows)?,
            false => singular_values(rows, columns, a)?,
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

/// Eigenvalues of a symmetric matrix of finite numbers of order n, in no order; `None` where the iteration for them does not converge.
pub fn symmetric_eigenvalues(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let (mut scaled, size) = scaled(a)?;
    let (mut values, beside) = tridiagonal(&mut scaled, n);
    eigenvalues(&mut values, &beside).then(|| values.iter().map(|x| x * size).collect())
}

/// Singular values of a row-major matrix, in no order.
fn singular_values(rows: usize, columns: usize, a: &[f64]) -> Option<Vec<f64>> {
    let (mut scaled, size) = scaled(a)?;
    if rows < columns {
        scaled = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| scaled[i * columns + j]).collect();
    }
    let (diagonal, above) = bidiagonal(&mut scaled, rows.max(columns), rows.min(columns));
    // d₀, e₀, d₁, e₁, …: a pair of eigenvalues ±σ for each singular value
    let beside: Vec<f64> =
        (0..2 * diagonal.len()).filter_map(|k| if k % 2 == 0 { diagonal.get(k / 2) } else { above.get(k / 2) }).copied().collect();
    let mut pairs = vec![0.0; 2 * diagonal.len()];
    if !eigenvalues(&mut pairs, &beside) {
        return None;
    }
    pairs.sort_by(|a, b| b.total_cmp(a));
    Some(pairs[..diagonal.len()].iter().map(|x| x.max(0.0) * size).collect())
}

/// The matrix with its largest element made 1, and that element; `None` where a number is not finite.
fn scaled(a: &[f64]) -> Option<(Vec<f64>, f64)> {
    let size = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let finite = a.iter().all(|x| x.is_finite());
    finite.then(|| if size == 0.0 { (a.to_vec(), 1.0) } else { (a.iter().map(|x| x / size).collect(), size) })
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
    /// A matrix turned by two dense reflections, from the left and from the right (the same ones where it shall stay symmetric).
    fn turned(rows: usize, columns: usize, a: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let unit = |n: usize| (0..n).map(|k| libm::sin((k * k + 1) as f64)).collect::<Vec<f64>>();
        let (left, right) = (unit(rows), unit(columns));
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let mut b: Vec<f64> = (0..rows * columns).map(|p| a(p / columns, p % columns)).collect();
        for row in b.chunks_exact_mut(columns) {
            let share = 2.0 * row.iter().zip(&right).map(|(x, r)| x * r).sum::<f64>() / square(&right);
            row.iter_mut().zip(&right).for_each(|(x, r)| *x -= share * r);
        }
        for j in 0..columns {
            let share = 2.0 * (0..rows).map(|i| b[i * columns + j] * left[i]).sum::<f64>() / square(&left);
            (0..rows).for_each(|i| b[i * columns + j] -= share * left[i]);
        }
        b
    }

    #[test]
    fn values_of_differences_are_sines() {
        // first differences: 2 sin(kπ / 2(n+1)); second differences: their squares
        let n = 90;
        let sine = |k: usize| 2.0 * libm::sin(std::f64::consts::FRAC_PI_2 * (n - k) as f64 / (n + 1) as f64);
        let first = |i: usize, j: usize| {
            if i == j {
                1.0
            } else if i == j + 1 {
                -1.0
            } else {
                0.0
            }
        };
        let second = |i: usize, j: usize| {
            if i == j {
                2.0
            } else if i.abs_diff(j) == 1 {
                -1.0
            } else {
                0.0
            }
        };
        for size in [1.0, 1e-300, 1e300] {
            let close = |s: &Spectrum, k: usize, exact: f64| (s.values[k] / size - exact).abs() < 1e-13;
            let tall = Spectrum::of(n + 1, n, &turned(n + 1, n, |i, j| size * first(i, j))).expect("converges");
            let wide = Spectrum::of(n, n + 1, &turned(n, n + 1, |i, j| size * first(j, i))).expect("converges");
            assert!((0..n).all(|k| close(&tall, k, sine(k)) && close(&wide, k, sine(k))), "{size:e}");
            let mut square = turned(n, n, |i, j| size * second(i, j));
            (0..n).for_each(|i| (0..i).for_each(|j| square[j * n + i] = square[i * n + j]));
            let symmetric = Spectrum::of(n, n, &square).expect("converges");
            assert!((0..n).all(|k| close(&symmetric, k, sine(k).powi(2))), "{size:e}");
        }
    }

    #[test]
    fn rank_is_seen_under_reflections_and_numbers_that_are_none_are_refused() {
        let (rows, columns, rank) = (60, 40, 17);
        let a = turned(rows, columns, |i, j| if i == j && i < rank { 1.0 + i as f64 } else { 0.0 });
        let s = Spectrum::of(rows, columns, &a).expect("converges");
        assert!(s.rank() == rank && (s.condition() - 17.0).abs() < 1e-12, "{s:?}");
        assert_eq!(Spectrum::of(2, 2, &[0.0; 4]).map(|s| s.rank()), Some(0));
        assert_eq!(Spectrum::of(2, 2, &[1.0, 2.0, f64::NAN, 1.0]), None);
        assert_eq!(Spectrum::of(1, 1, &[f64::INFINITY]), None);
    }
}
