//! Dense factorisations that keep their buffers and tell a singular matrix: LU of any scale, least squares by QR.

/// `P A = L U` with partial pivoting on rows scaled to one; the buffers are kept between factorisations.
///
/// ```
/// use drystone::algebra::factor::Lu;
/// let mut lu = Lu::default();
/// assert!(lu.factor(2, |i, row| row.copy_from_slice(&[[0.0, 2.0], [4.0, 0.0]][i])));
/// let mut x = [2.0, 8.0];
/// lu.solve(&mut x);
/// assert_eq!(x, [2.0, 1.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lu {
    n: usize,
    a: Vec<f64>,
    order: Vec<usize>,
    row_scale: Vec<f64>,
    column_size: Vec<f64>,
    work: Vec<f64>,
}

/// Operations between two questions whether to go on: some ten milliseconds.
pub const PIECE: usize = 20_000_000;

impl Lu {
    /// Factorises the matrix of order n whose row i is written by `row(i, …)`; false when it is singular to rounding.
    pub fn factor(&mut self, n: usize, row: impl FnMut(usize, &mut [f64])) -> bool {
        self.factor_while(n, row, &mut || true)
    }

    /// The same, given up as soon as `go_on` says so, which is asked every [`PIECE`] operations; false then too.
    ///
    /// ```
    /// use drystone::algebra::factor::Lu;
    /// let row = |i: usize, row: &mut [f64]| (0..row.len()).for_each(|j| row[j] = if i == j { 2.0 } else { 1.0 / (1 + i + j) as f64 });
    /// let mut asked = 0;
    /// let mut limit = |most: usize| {
    ///     move || {
    ///         asked += 1;
    ///         asked <= most
    ///     }
    /// };
    /// assert!(Lu::default().factor_while(600, row, &mut limit(1000)));
    /// // too small to be asked about
    /// assert!(Lu::default().factor_while(10, row, &mut limit(0)));
    /// assert!(!Lu::default().factor_while(600, row, &mut limit(0)));
    /// ```
    pub fn factor_while(&mut self, n: usize, mut row: impl FnMut(usize, &mut [f64]), go_on: &mut dyn FnMut() -> bool) -> bool {
        self.n = n;
        self.a.resize(n * n, 0.0);
        self.order.clear();
        self.order.extend(0..n);
        self.row_scale.resize(n, 0.0);
        self.column_size.clear();
        self.column_size.resize(n, 0.0);
        for (i, values) in self.a.chunks_exact_mut(n.max(1)).enumerate() {
            row(i, values);
            let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if largest == 0.0 || !largest.is_finite() {
                return false;
            }
            self.row_scale[i] = 1.0 / largest;
            self.column_size.iter_mut().zip(values.iter()).for_each(|(m, x)| *m = m.max(x.abs() / largest));
        }
        let mut spent = 0;
        for k in 0..n {
            spent += (n - k) * (n - k);
            if spent > PIECE {
                spent = 0;
                if !go_on() {
                    return false;
                }
            }
            let (mut best, mut at) = (0.0, k);
            for i in k..n {
                let size = (self.a[i * n + k] * self.row_scale[i]).abs();
                if size > best {
                    (best, at) = (size, i);
                }
            }
            // a pivot this far below its column is rounding noise
            if best <= 1e-14 * self.column_size[k] || !best.is_finite() {
                return false;
            }
            let (above, below) = self.a.split_at_mut((k + 1) * n);
            let row_k = &mut above[k * n..];
            if at != k {
                row_k.swap_with_slice(&mut below[(at - k - 1) * n..(at - k) * n]);
                self.order.swap(k, at);
                self.row_scale.swap(k, at);
            }
            let inverse = 1.0 / row_k[k];
            for row_i in below.chunks_exact_mut(n) {
                if row_i[k] == 0.0 {
                    continue;
                }
                let factor = row_i[k] * inverse;
                row_i[k] = factor;
                row_i[k + 1..].iter_mut().zip(&row_k[k + 1..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
        true
    }

    /// Order of the factorised matrix.
    pub fn order(&self) -> usize {
        self.n
    }

    /// True where the determinant is below 0, after a factorisation that succeeded.
    pub fn is_negative(&self) -> bool {
        let n = self.n;
        let mut odd = (0..n).filter(|k| self.a[k * n + k] < 0.0).count() % 2 == 1;
        // the parity of the exchanges: a cycle of even length is odd
        let mut seen = vec![false; n];
        for start in 0..n {
            let (mut at, mut length) = (start, 0);
            while !seen[at] {
                seen[at] = true;
                at = self.order[at];
                length += 1;
            }
            odd ^= length > 0 && length % 2 == 0;
        }
        odd
    }

    /// `b ← A⁻¹ b`, after a factorisation that succeeded.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        let x = &mut self.work;
        x.clear();
        x.extend(self.order.iter().map(|&i| b[i]));
        for i in 1..n {
            let (done, rest) = x.split_at_mut(i);
            rest[0] -= self.a[i * n..i * n + i].iter().zip(done.iter()).map(|(a, x)| a * x).sum::<f64>();
        }
        for i in (0..n).rev() {
            let (head, tail) = x.split_at_mut(i + 1);
            let dot: f64 = self.a[i * n + i + 1..(i + 1) * n].iter().zip(tail.iter()).map(|(a, x)| a * x).sum();
            head[i] = (head[i] - dot) / self.a[i * n + i];
        }
        b.copy_from_slice(x);
    }
}

/// Basic least-squares solution of `min |A x − b|` by Householder QR with column pivoting; returns the numerical rank.
///
/// `a` is row-major, `rows × x.len()`, and is destroyed like `b`; unknowns beyond the rank are 0. A column counts when
/// what is left of it exceeds `1e-12` of the largest column.
pub fn least_squares(a: &mut [f64], b: &mut [f64], x: &mut [f64]) -> usize {
    let (rows, columns) = (b.len(), x.len());
    x.fill(0.0);
    let mut order: Vec<usize> = (0..columns).collect();
    let mut diagonal = vec![0.0; columns];
    let mut first = 0.0;
    let mut rank = 0;
    for k in 0..rows.min(columns) {
        let left = |c: usize, a: &[f64]| (k..rows).map(|i| a[i * columns + c].powi(2)).sum::<f64>().sqrt();
        let (mut size, mut at) = (-1.0, k);
        for (c, &column) in order.iter().enumerate().skip(k) {
            let s = left(column, a);
            if s > size {
                (size, at) = (s, c);
            }
        }
        if k == 0 {
            first = size;
        }
        if size <= 1e-12 * first || size == 0.0 {
            break;
        }
        order.swap(k, at);
        let c = order[k];
        let head = a[k * columns + c];
        let r = if head > 0.0 { -size } else { size };
        diagonal[k] = r;
        a[k * columns + c] = head - r;
        let beta = 1.0 / (r * (r - head));
        let reflect = |value: &dyn Fn(usize) -> f64, a: &[f64]| beta * (k..rows).map(|i| a[i * columns + c] * value(i)).sum::<f64>();
        for &other in &order[k + 1..] {
            let s = reflect(&|i| a[i * columns + other], a);
            (k..rows).for_each(|i| a[i * columns + other] -= s * a[i * columns + c]);
        }
        let s = reflect(&|i| b[i], a);
        (k..rows).for_each(|i| b[i] -= s * a[i * columns + c]);
        rank += 1;
    }
    for k in (0..rank).rev() {
        let dot: f64 = (k + 1..rank).map(|j| a[k * columns + order[j]] * x[order[j]]).sum();
        x[order[k]] = (b[k] - dot) / diagonal[k];
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lu_solves_with_rows_of_any_scale_and_refuses_a_singular_matrix() {
        let n = 7;
        let a: Vec<f64> = (0..n * n).map(|k| ((k * k) as f64).sin() * 10f64.powi((k / n) as i32 * 4 - 12)).collect();
        let mut lu = Lu::default();
        assert!(lu.factor(n, |i, row| row.copy_from_slice(&a[i * n..(i + 1) * n])));
        let truth: Vec<f64> = (0..n).map(|i| i as f64 - 2.5).collect();
        let mut x: Vec<f64> = a.chunks_exact(n).map(|row| row.iter().zip(&truth).map(|(a, x)| a * x).sum()).collect();
        lu.solve(&mut x);
        x.iter().zip(&truth).for_each(|(x, t)| assert!((x - t).abs() < 1e-11, "{x} {t}"));
        assert!(!lu.factor(2, |i, row| row.copy_from_slice(&[[1.0, 2.0], [0.1, 0.2]][i])));
        assert!(lu.factor(0, |_, _| {}));
    }

    #[test]
    fn least_squares_leave_a_residual_orthogonal_to_the_columns() {
        let a = [1.0, -1.0, 2.0, 1.0, -1.0, 2.0, -1.0, 1.0, 0.5, 0.0, 0.0, 3.0];
        let b = [1.0, 2.0, 3.0, -1.0];
        let mut x = [0.0; 3];
        assert_eq!(least_squares(&mut a.clone(), &mut b.clone(), &mut x), 2);
        let left: Vec<f64> = (0..4).map(|i| b[i] - (0..3).map(|j| a[3 * i + j] * x[j]).sum::<f64>()).collect();
        for j in 0..3 {
            assert!((0..4).map(|i| a[3 * i + j] * left[i]).sum::<f64>().abs() < 1e-14);
        }
    }
}
