//! Products with small matrices held by columns, and their inverses.

/// `y += M x`, M by columns.
#[inline(always)]
pub(super) fn add_product(m: &[f64], x: &[f64], y: &mut [f64]) {
    match y.len() {
        2 => add_product_of::<2>(m, x, y),
        3 => add_product_of::<3>(m, x, y),
        4 => add_product_of::<4>(m, x, y),
        n => {
            for (column, &x) in m.chunks_exact(n).zip(x) {
                y.iter_mut().zip(column).for_each(|(y, m)| *y += m * x);
            }
        }
    }
}

/// The same with a length that the compiler knows.
#[inline(always)]
fn add_product_of<const N: usize>(m: &[f64], x: &[f64], y: &mut [f64]) {
    let (columns, _) = m.as_chunks::<N>();
    if let Ok(y) = <&mut [f64; N]>::try_from(y) {
        let mut sum = *y;
        for (column, &x) in columns.iter().zip(x) {
            (0..N).for_each(|i| sum[i] += column[i] * x);
        }
        *y = sum;
    }
}

/// `b ← b⁻¹` of order m, row-major, by Gauss–Jordan in place with row exchanges; false where b is singular to rounding.
pub(super) fn invert(b: &mut [f64], m: usize, order: &mut Vec<usize>) -> bool {
    order.clear();
    for k in 0..m {
        let (mut at, mut largest) = (k, 0.0f64);
        for i in k..m {
            let x = b[i * m + k].abs();
            if x > largest {
                (at, largest) = (i, x);
            }
        }
        // what is left of this row and column is rounding of what they were
        let row = b[at * m..][..m].iter().fold(0.0f64, |s, x| s.max(x.abs()));
        if largest.is_nan() || largest <= 1e-14 * row {
            return false;
        }
        order.push(at);
        if at != k {
            let (above, below) = b.split_at_mut(at * m);
            above[k * m..][..m].swap_with_slice(&mut below[..m]);
        }
        let inverse = 1.0 / b[k * m + k];
        b[k * m + k] = 1.0;
        b[k * m..][..m].iter_mut().for_each(|x| *x *= inverse);
        let (above, rest) = b.split_at_mut(k * m);
        let (pivot, below) = rest.split_at_mut(m);
        for row in above.chunks_exact_mut(m).chain(below.chunks_exact_mut(m)) {
            let factor = row[k];
            if factor != 0.0 {
                row[k] = 0.0;
                row.iter_mut().zip(pivot.iter()).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    for (k, &at) in order.iter().enumerate().rev() {
        if at != k {
            b.chunks_exact_mut(m).for_each(|row| row.swap(k, at));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_undo_products_and_singular_matrices_are_refused() {
        for n in 1..9 {
            let a: Vec<f64> = (0..n * n).map(|k| ((3 * k * k + k + 1) as f64).sin()).collect();
            let mut inverse = a.clone();
            assert!(invert(&mut inverse, n, &mut Vec::new()), "{n}");
            let by_columns = |m: &[f64]| (0..n * n).map(|k| m[k % n * n + k / n]).collect::<Vec<f64>>();
            let x: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
            let (mut y, mut z) = (vec![0.0; n], vec![0.0; n]);
            add_product(&by_columns(&a), &x, &mut y);
            add_product(&by_columns(&inverse), &y, &mut z);
            x.iter().zip(&z).for_each(|(x, z)| assert!((x - z).abs() < 1e-11, "{n}: {x} {z}"));
        }
        assert!(!invert(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut Vec::new()));
        assert!(!invert(&mut [0.0], 1, &mut Vec::new()));
    }
}
