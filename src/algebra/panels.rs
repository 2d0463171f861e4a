//! Kernels of dense factorisations on column-major panels.
//!
//! ```text
//! c_ij ← c_ij − a_i0 b_j0 − a_i1 b_j1 − …        one chain per element, k ascending, product and difference rounded in turn
//! ```
//!
//! Tiles keep the elements of a few rows and columns in registers; since no element's chain depends on the tile it falls into, every
//! shape of tile and every width of registers gives the same bits ([`super::lanes`]).

/// Coefficients `b_jk` at `values[j · column + k · depth]`.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) values: &'a [f64],
    pub(super) column: usize,
    pub(super) depth: usize,
}

/// A column-major view: leading dimension and number of rows.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) stride: usize,
    pub(super) rows: usize,
}

/// `C −= A Bᵀ` over `depth` columns of A; with `lower`, elements above the diagonal of C are left undefined.
#[inline(always)]
pub(super) fn subtract(c: &mut [f64], on: Extent, columns: usize, lower: bool, a: &[f64], stride: usize, b: Factors<'_>, depth: usize) {
    let mut j = 0;
    while j < columns {
        let first = if lower { j } else { 0 };
        let here = Factors { values: b.values.get(j * b.column..).unwrap_or(&[]), ..b };
        let c = &mut c[j * on.stride..];
        match columns - j {
            1 => strip::<1>(c, on, first, a, stride, here, depth),
            2 => strip::<2>(c, on, first, a, stride, here, depth),
            3 => strip::<3>(c, on, first, a, stride, here, depth),
            _ => strip::<4>(c, on, first, a, stride, here, depth),
        }
        j += 4;
    }
}

#[inline(always)]
fn strip<const C: usize>(c: &mut [f64], on: Extent, first: usize, a: &[f64], stride: usize, b: Factors<'_>, depth: usize) {
    let mut i = first;
    while i + 8 <= on.rows {
        tile::<8, C>(c, on.stride, i, a, stride, b, depth);
        i += 8;
    }
    if i + 4 <= on.rows {
        tile::<4, C>(c, on.stride, i, a, stride, b, depth);
        i += 4;
    }
    if i + 2 <= on.rows {
        tile::<2, C>(c, on.stride, i, a, stride, b, depth);
        i += 2;
    }
    if i < on.rows {
        tile::<1, C>(c, on.stride, i, a, stride, b, depth);
    }
}

#[inline(always)]
fn tile<const R: usize, const C: usize>(c: &mut [f64], to: usize, i: usize, a: &[f64], from: usize, b: Factors<'_>, depth: usize) {
    let mut sums = [[0.0; R]; C];
    for (j, sum) in sums.iter_mut().enumerate() {
        sum.copy_from_slice(&c[j * to + i..][..R]);
    }
    for k in 0..depth {
        let a = &a[k * from + i..][..R];
        for (j, sum) in sums.iter_mut().enumerate() {
            let b = b.values[j * b.column + k * b.depth];
            for r in 0..R {
                sum[r] -= a[r] * b;
            }
        }
    }
    for (j, sum) in sums.iter().enumerate() {
        c[j * to + i..][..R].copy_from_slice(sum);
    }
}

/// `X ← X B⁻ᵀ` for a triangular B of `columns`; its diagonal counts as one where `unit`.
#[inline(always)]
pub(super) fn solve_right(x: &mut [f64], rows: usize, columns: usize, b: Factors<'_>, unit: bool) {
    let mut j = 0;
    while j < columns {
        let width = (columns - j).min(4);
        let (done, rest) = x.split_at_mut(j * rows);
        let here = Factors { values: b.values.get(j * b.column..).unwrap_or(&[]), ..b };
        subtract(rest, Extent { stride: rows, rows }, width, false, done, rows, here, j);
        for c in 0..width {
            let (before, column) = rest.split_at_mut(c * rows);
            let column = &mut column[..rows];
            for (k, before) in before.chunks_exact(rows).enumerate() {
                let factor = b.values[(j + c) * b.column + (j + k) * b.depth];
                column.iter_mut().zip(before).for_each(|(x, y)| *x -= y * factor);
            }
            if !unit {
                let inverse = 1.0 / b.values[(j + c) * (b.column + b.depth)];
                column.iter_mut().for_each(|x| *x *= inverse);
            }
        }
        j += width;
    }
}

/// Cholesky factor of the first `pivots` columns of a symmetric matrix of `rows`, of which only these columns are given, below and
/// on the diagonal; false where a pivot is not positive.
#[inline(always)]
pub(super) fn cholesky(panel: &mut [f64], rows: usize, pivots: usize) -> bool {
    let mut j = 0;
    while j < pivots {
        let width = (pivots - j).min(4);
        let (done, rest) = panel.split_at_mut(j * rows);
        if j > 0 {
            let b = Factors { values: &done[j..], column: 1, depth: rows };
            subtract(&mut rest[j..], Extent { stride: rows, rows: rows - j }, width, true, &done[j..], rows, b, j);
        }
        for c in 0..width {
            let (before, column) = rest.split_at_mut(c * rows);
            let column = &mut column[j + c..rows];
            for before in before.chunks_exact(rows) {
                let factor = before[j + c];
                column.iter_mut().zip(&before[j + c..]).for_each(|(x, y)| *x -= y * factor);
            }
            let pivot = column[0];
            if pivot.is_nan() || pivot <= 0.0 || pivot.is_infinite() {
                return false;
            }
            let root = pivot.sqrt();
            let inverse = 1.0 / root;
            column[0] = root;
            column[1..].iter_mut().for_each(|x| *x *= inverse);
        }
        j += width;
    }
    true
}

/// LU with row exchanges of a square matrix in place; `swaps[k]` took the place of row k. False where a pivot is zero or not finite.
#[inline(always)]
pub(super) fn lu(a: &mut [f64], swaps: &mut [u32]) -> bool {
    let n = swaps.len();
    let mut j = 0;
    while j < n {
        let width = (n - j).min(8);
        for c in j..j + width {
            let column = &a[c * n..(c + 1) * n];
            let largest = (c..n).fold(c, |best, i| if column[i].abs() > column[best].abs() { i } else { best });
            let pivot = column[largest];
            if pivot == 0.0 || !pivot.is_finite() {
                return false;
            }
            swaps[c] = largest as u32;
            if largest != c {
                (0..n).for_each(|k| a.swap(k * n + c, k * n + largest));
            }
            let (done, rest) = a.split_at_mut((c + 1) * n);
            let column = &mut done[c * n..];
            let inverse = 1.0 / pivot;
            column[c + 1..].iter_mut().for_each(|x| *x *= inverse);
            for other in rest.chunks_exact_mut(n).take(j + width - c - 1) {
                let factor = other[c];
                other[c + 1..].iter_mut().zip(&column[c + 1..]).for_each(|(x, y)| *x -= y * factor);
            }
        }
        let end = j + width;
        let (done, rest) = a.split_at_mut(end * n);
        let panel = &done[j * n..];
        // rows of U right of the block
        for other in rest.chunks_exact_mut(n) {
            for k in 0..width {
                let factor = other[j + k];
                let column = &panel[k * n + j + k + 1..k * n + end];
                other[j + k + 1..end].iter_mut().zip(column).for_each(|(x, y)| *x -= y * factor);
            }
        }
        if end < n {
            // the rows of U are read while the rows below them are written: they are kept aside
            let mut c = 0;
            let mut aside = [0.0; 32];
            while c < n - end {
                let some = (n - end - c).min(4);
                for (k, other) in rest[c * n..].chunks_exact(n).take(some).enumerate() {
                    aside[8 * k..8 * k + width].copy_from_slice(&other[j..end]);
                }
                let b = Factors { values: &aside, column: 8, depth: 1 };
                subtract(&mut rest[c * n + end..], Extent { stride: n, rows: n - end }, some, false, &panel[end..], n, b, width);
                c += some;
            }
        }
        j = end;
    }
    true
}

/// `Σ a_i b_i` in eight interleaved sums, halved in a fixed tree.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    for (k, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[k] += a * b;
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

#[cfg(test)]
mod tests {
    use super::super::lanes::Lanes;
    use super::*;

    fn noise(k: usize) -> f64 {
        (k as f64 * 0.618_033_988_749).fract() - 0.5
    }

    #[test]
    fn factors_are_those_of_the_textbook_to_the_bit_on_all_instructions() {
        for n in [1, 2, 3, 5, 8, 13, 30, 61] {
            let mut full: Vec<f64> = (0..n * n).map(|k| noise(k / n) * noise(k % n) + noise(k / n + k % n)).collect();
            (0..n).for_each(|i| full[i * (n + 1)] = n as f64 + 2.0);
            // k ascending, one product and one difference at a time
            let mut textbook = full.clone();
            for j in 0..n {
                for i in j..n {
                    for k in 0..j {
                        textbook[j * n + i] -= textbook[k * n + i] * textbook[k * n + j];
                    }
                }
                let root = textbook[j * n + j].sqrt();
                let inverse = 1.0 / root;
                textbook[j * n + j] = root;
                (j + 1..n).for_each(|i| textbook[j * n + i] *= inverse);
            }
            for lanes in Lanes::ALL {
                let mut a = full.clone();
                assert!(lanes.run(
                    #[inline(always)]
                    || cholesky(&mut a, n, n)
                ));
                for j in 0..n {
                    for i in j..n {
                        assert_eq!(a[j * n + i].to_bits(), textbook[j * n + i].to_bits(), "{n} {i} {j} {}", lanes.name());
                    }
                }
            }
        }
    }

    #[test]
    fn lu_of_any_order_restores_the_matrix_and_has_the_same_bits_on_all_instructions() {
        for n in [1, 2, 7, 8, 9, 16, 23, 50] {
            let full: Vec<f64> = (0..n * n).map(|k| noise(k * k + 3 * k)).collect();
            let run = |lanes: Lanes| {
                let (mut a, mut swaps) = (full.clone(), vec![0; n]);
                assert!(lanes.run(
                    #[inline(always)]
                    || lu(&mut a, &mut swaps)
                ));
                (a, swaps)
            };
            let (a, swaps) = run(Lanes::Widest);
            assert!(a.iter().zip(&run(Lanes::Baseline).0).all(|(x, y)| x.to_bits() == y.to_bits()));
            for j in 0..n {
                let mut column = full[j * n..(j + 1) * n].to_vec();
                swaps.iter().enumerate().for_each(|(k, &other)| column.swap(k, other as usize));
                for i in 0..n {
                    let l = |k: usize| if k == i { 1.0 } else { a[k * n + i] };
                    let product: f64 = (0..=i.min(j)).map(|k| l(k) * a[j * n + k]).sum();
                    assert!((product - column[i]).abs() < 1e-13, "{n} {i} {j}");
                }
            }
        }
    }
}
