//! Small dense matrices, row-major in plain slices.

/// `aᵀ b`, summed from first to last.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Euclidean norm.
#[inline]
pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// True where a sum of squares is 0 although its terms are not: they are below the range of numbers.
pub(crate) fn vanishes(sum: f64, x: &[f64]) -> bool {
    sum == 0.0 && x.iter().any(|x| *x != 0.0)
}

/// What brings the largest number of these vectors near one where its square leaves the range of numbers, a power of two; else 1.
pub(crate) fn unit_of_squares(vectors: &[&[f64]]) -> f64 {
    const SQUARED: std::ops::Range<f64> = 1e-140..1e140;
    let largest = vectors.iter().copied().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() || SQUARED.contains(&largest) {
        return 1.0;
    }
    libm::exp2((-libm::log2(largest)).floor().clamp(-1000.0, 1000.0))
}

/// Largest order that [`solve_spd`] takes without the heap.
const SMALL: usize = 16;

/// Solves `A x = b` for a symmetric positive definite `A` of order at most 16 by Cholesky; `b` becomes `x`.
///
/// Returns false, leaving `b` in an unspecified state, when `A` is not positive definite to rounding.
pub fn solve_spd(a: &[f64], b: &mut [f64]) -> bool {
    let n = b.len();
    if n > SMALL {
        return false;
    }
    let mut l = [0.0; SMALL * SMALL];
    l[..n * n].copy_from_slice(&a[..n * n]);
    let l = &mut l[..n * n];
    cholesky(l, n) && {
        cholesky_solve(l, n, b);
        true
    }
}

/// Replaces the lower triangle of `a` (order n) by its Cholesky factor; false when a pivot is not safely positive.
pub fn cholesky(a: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        let (above, below) = a.split_at_mut((j + 1) * n);
        let row_j = &mut above[j * n..];
        let original = row_j[j];
        let pivot = original - row_j[..j].iter().map(|x| x * x).sum::<f64>();
        if pivot.is_nan() || pivot <= 1e-14 * original {
            return false;
        }
        let pivot = pivot.sqrt();
        row_j[j] = pivot;
        let inverse = 1.0 / pivot;
        for row_i in below.chunks_exact_mut(n) {
            let dot: f64 = row_i[..j].iter().zip(&row_j[..j]).map(|(x, y)| x * y).sum();
            row_i[j] = (row_i[j] - dot) * inverse;
        }
    }
    true
}

/// Solves `L Lᵀ x = b` with the factor of [`cholesky`].
pub fn cholesky_solve(l: &[f64], n: usize, b: &mut [f64]) {
    for i in 0..n {
        let dot: f64 = l[i * n..i * n + i].iter().zip(&b[..i]).map(|(x, y)| x * y).sum();
        b[i] = (b[i] - dot) / l[i * n + i];
    }
    for i in (0..n).rev() {
        let x = b[i] / l[i * n + i];
        b[i] = x;
        for (j, b) in b[..i].iter_mut().enumerate() {
            *b -= l[i * n + j] * x;
        }
    }
}

/// Inverse of a symmetric positive definite matrix of order n; `None` when it is not.
pub fn inverse_spd(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = a.to_vec();
    if !cholesky(&mut l, n) {
        return None;
    }
    let mut inverse = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    for j in 0..n {
        column.fill(0.0);
        column[j] = 1.0;
        cholesky_solve(&l, n, &mut column);
        (0..n).for_each(|i| inverse[i * n + j] = column[i]);
    }
    Some(inverse)
}

/// Replaces `a` (order n) by its LU factors with row exchanges, `rows[k]` taking the place of row k; the number of the first
/// pivot that is zero or not finite, where there is one.
pub fn lu(a: &mut [f64], rows: &mut [u32]) -> Option<usize> {
    let n = rows.len();
    for k in 0..n {
        let largest = (k..n).fold(k, |best, i| if a[i * n + k].abs() > a[best * n + k].abs() { i } else { best });
        rows[k] = largest as u32;
        let pivot = a[largest * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return Some(k);
        }
        if largest != k {
            (0..n).for_each(|j| a.swap(k * n + j, largest * n + j));
        }
        let (above, below) = a.split_at_mut((k + 1) * n);
        let row_k = &above[k * n..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] / pivot;
            row[k] = factor;
            if factor != 0.0 {
                row[k + 1..].iter_mut().zip(&row_k[k + 1..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    None
}

/// Solves `A x = b` with the factors of [`lu`].
pub fn lu_solve(lu: &[f64], rows: &[u32], b: &mut [f64]) {
    let n = rows.len();
    rows.iter().enumerate().for_each(|(k, &other)| b.swap(k, other as usize));
    for i in 0..n {
        b[i] -= lu[i * n..i * n + i].iter().zip(&b[..i]).map(|(l, x)| l * x).sum::<f64>();
    }
    for i in (0..n).rev() {
        let dot: f64 = lu[i * n + i + 1..(i + 1) * n].iter().zip(&b[i + 1..]).map(|(u, x)| u * x).sum();
        b[i] = (b[i] - dot) / lu[i * n + i];
    }
}

/// Eigenvalues of the symmetric n × n matrix `a`, on its diagonal afterwards, and its eigenvectors as the columns of `v`, by Jacobi's
/// method.
///
/// ```
/// use drystone::algebra::dense::symmetric_eigen;
/// let (mut a, mut v) = ([2.0, 1.0, 1.0, 2.0], [0.0; 4]);
/// symmetric_eigen(&mut a, &mut v, 2);
/// assert!((a[0] - 1.0).abs() < 1e-15 && (a[3] - 3.0).abs() < 1e-15);
/// assert!((v[0] + v[2]).abs() < 1e-15, "the first is (1, −1)/√2: {v:?}");
/// ```
pub fn symmetric_eigen(a: &mut [f64], v: &mut [f64], n: usize) {
    v.fill(0.0);
    (0..n).for_each(|i| v[i * (n + 1)] = 1.0);
    for _ in 0..30 {
        let mut turned = false;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let (off, size) = (a[p * n + q], (a[p * (n + 1)].abs()).max(a[q * (n + 1)].abs()));
            if off.abs() <= 1e-17 * size {
                continue;
            }
            turned = true;
            let theta = (a[q * (n + 1)] - a[p * (n + 1)]) / (2.0 * off);
            let t = theta.signum() / (theta.abs() + libm::hypot(theta, 1.0));
            let c = 1.0 / libm::hypot(t, 1.0);
            let s = t * c;
            for k in 0..n {
                let (x, y) = (a[k * n + p], a[k * n + q]);
                (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                let (x, y) = (v[k * n + p], v[k * n + q]);
                (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
            }
            for k in 0..n {
                let (x, y) = (a[p * n + k], a[q * n + k]);
                (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
            }
        }
        if !turned {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_solves_and_refuses_an_indefinite_matrix() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0];
        let mut x = [1.0, 2.0, 3.0];
        assert!(solve_spd(&a, &mut x));
        for (i, b) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            let product: f64 = (0..3).map(|j| a[3 * i + j] * x[j]).sum();
            assert!((product - b).abs() < 1e-14);
        }
        let inverse = inverse_spd(&a, 3).expect("positive definite");
        let unit: f64 = (0..3).map(|j| a[j] * inverse[3 * j]).sum();
        assert!((unit - 1.0).abs() < 1e-14);
        assert!(!solve_spd(&[1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]));
    }

    #[test]
    fn lu_exchanges_rows_and_names_a_singular_pivot() {
        let a = [0.0, 2.0, 1.0, 1.0, 0.0, -1.0, 3.0, 1.0, 0.0];
        let (mut factors, mut rows, mut x) = (a, [0; 3], [1.0, 2.0, 3.0]);
        assert_eq!(lu(&mut factors, &mut rows), None);
        lu_solve(&factors, &rows, &mut x);
        for (i, b) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            let product: f64 = (0..3).map(|j| a[3 * i + j] * x[j]).sum();
            assert!((product - b).abs() < 1e-14);
        }
        assert_eq!(lu(&mut [1.0, 2.0, 2.0, 4.0], &mut [0; 2]), Some(1));
    }
}
