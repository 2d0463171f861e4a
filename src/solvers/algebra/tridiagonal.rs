//! Householder reductions of dense matrices, and the eigenvalues of symmetric tridiagonal ones.
//!
//! ```text
//! symmetric   Qᵀ A Q = T       T tridiagonal: diagonal d, beside it e
//! any         Uᵀ A V = B       B upper bidiagonal; its singular values σ are the eigenvalues ±σ of the tridiagonal matrix with a diagonal
//!                              of zeros and d₀, e₀, d₁, e₁, … beside it
//! ```
//!
//! (Golub & Kahan 1965; Golub & Van Loan, Matrix Computations, 8.3 and 8.6.) A reflection is kept back until the next one passes over the
//! matrix, as that is limited by memory: the symmetric reduction reads and writes the matrix once a column, the other one reads it twice.

use super::dense::dot;

/// Lanes of a sum: independent chains, which a compiler may keep side by side.
const LANES: usize = 8;

/// A reflection `I − τ u uᵀ` that maps `x`, which becomes u, to `(alpha, 0, …)` with `first` at its place in x; returns `(alpha, τ)`.
fn reflection(x: &mut [f64], first: usize) -> (f64, f64) {
    let norm = dot(x, x).sqrt();
    // nothing beside the largest element of the matrix, which is 1
    if norm < 1e-100 {
        x.fill(0.0);
        return (0.0, 0.0);
    }
    let alpha = -norm.copysign(x[first]);
    let tau = 1.0 / (alpha * (alpha - x[first]));
    x[first] -= alpha;
    (alpha, tau)
}

/// `a −= f p + g q`, then `y += s a`; returns `a · x`.
fn pass(a: &mut [f64], (f, p): (f64, &[f64]), (g, q): (f64, &[f64]), (s, y): (f64, &mut [f64]), x: &[f64]) -> f64 {
    let n = a.len();
    let (a, a_rest) = a.as_chunks_mut::<LANES>();
    let (y, y_rest) = y[..n].as_chunks_mut::<LANES>();
    let ((p, p_rest), (q, q_rest), (x, x_rest)) = (p[..n].as_chunks(), q[..n].as_chunks(), x[..n].as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for ((((a, y), p), q), x) in a.iter_mut().zip(y).zip(p).zip(q).zip(x) {
        let (p, q): (&[f64; LANES], &[f64; LANES]) = (p, q);
        for k in 0..LANES {
            a[k] -= f * p[k] + g * q[k];
            y[k] += s * a[k];
            sums[k] += a[k] * x[k];
        }
    }
    let mut sum: f64 = sums.iter().sum();
    for ((((a, y), p), q), x) in a_rest.iter_mut().zip(y_rest).zip(p_rest).zip(q_rest).zip(x_rest) {
        *a -= f * p + g * q;
        *y += s * *a;
        sum += *a * x;
    }
    sum
}

/// Diagonal and what is beside it of a tridiagonal matrix with the eigenvalues of the symmetric `a` of order n, whose lower triangle, row
/// by row, is overwritten.
pub(super) fn tridiagonal(a: &mut [f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut diagonal, mut beside) = (vec![0.0; n], vec![0.0; n.saturating_sub(1)]);
    // the reflection of the row before: A − u wᵀ − w uᵀ
    let (mut u, mut w) = (vec![0.0; n], vec![0.0; n]);
    let (mut next, mut image) = (vec![0.0; n], vec![0.0; n]);
    for i in (0..n).rev() {
        let (above, row) = a.split_at_mut(i * n);
        (0..=i).for_each(|j| row[j] -= u[i] * w[j] + w[i] * u[j]);
        diagonal[i] = row[i];
        if i == 0 {
            break;
        }
        next[..i].copy_from_slice(&row[..i]);
        let (alpha, tau) = reflection(&mut next[..i], i - 1);
        beside[i - 1] = alpha;
        // image = A next, of the lower triangle
        image[..i].fill(0.0);
        for (r, line) in above.chunks_exact_mut(n).enumerate() {
            line[r] -= 2.0 * u[r] * w[r];
            let sum = pass(&mut line[..r], (u[r], &w), (w[r], &u), (next[r], &mut image), &next);
            image[r] += sum + line[r] * next[r];
        }
        image[..i].iter_mut().for_each(|x| *x *= tau);
        let half = 0.5 * tau * dot(&image[..i], &next[..i]);
        image.iter_mut().zip(&next[..i]).for_each(|(w, u)| *w -= half * u);
        std::mem::swap(&mut u, &mut next);
        std::mem::swap(&mut w, &mut image);
    }
    (diagonal, beside)
}

/// Diagonal and what is above it of a bidiagonal matrix with the singular values of `a`, row-major, `rows ≥ columns`, which is overwritten.
pub(super) fn bidiagonal(a: &mut [f64], rows: usize, columns: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut diagonal, mut above) = (vec![0.0; columns], vec![0.0; columns.saturating_sub(1)]);
    // the reflections of the step before: A − u yᵀ − x vᵀ
    let (mut u, mut x) = (vec![0.0; rows], vec![0.0; rows]);
    let (mut y, mut v) = (vec![0.0; columns], vec![0.0; columns]);
    let mut left = vec![0.0; rows];
    let (mut sum, mut right) = (vec![0.0; columns], vec![0.0; columns]);
    for k in 0..columns {
        for i in k..rows {
            left[i] = a[i * columns + k] - u[i] * y[k] - x[i] * v[k];
        }
        let (alpha, tau) = reflection(&mut left[k..], 0);
        diagonal[k] = alpha;
        let rest = k + 1..columns;
        if rest.is_empty() {
            break;
        }
        sum[rest.clone()].fill(0.0);
        let (ys, vs, none) = (&y[rest.clone()], &v[rest.clone()], &right[rest.clone()]);
        for (i, line) in a.chunks_exact_mut(columns).enumerate().skip(k) {
            pass(&mut line[rest.clone()], (u[i], ys), (x[i], vs), (left[i], &mut sum[rest.clone()]), none);
        }
        sum[rest.clone()].iter_mut().for_each(|s| *s *= tau);
        let row = &a[k * columns..][rest.clone()];
        right[rest.clone()].iter_mut().zip(row).zip(&sum[rest.clone()]).for_each(|((r, a), y)| *r = a - left[k] * y);
        let (alpha, tau) = reflection(&mut right[rest.clone()], 0);
        above[k] = alpha;
        let turned = dot(&sum[rest.clone()], &right[rest.clone()]);
        for (i, line) in a.chunks_exact(columns).enumerate().skip(k + 1) {
            x[i] = tau * (lanes_dot(&line[rest.clone()], &right[rest.clone()]) - left[i] * turned);
        }
        std::mem::swap(&mut u, &mut left);
        std::mem::swap(&mut y, &mut sum);
        std::mem::swap(&mut v, &mut right);
    }
    (diagonal, above)
}

/// `a · b` in [`LANES`] chains.
fn lanes_dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        (0..LANES).for_each(|k| sums[k] += a[k] * b[k]);
    }
    sums.iter().sum::<f64>() + dot(a_rest, b_rest)
}

/// Turns of the iteration for one eigenvalue; two or three are the rule.
const TURNS: usize = 60;

/// Replaces the diagonal of a symmetric tridiagonal matrix by its eigenvalues, in no order, to about ε times the largest: implicit QL with
/// Wilkinson's shift. False where it does not converge, as with numbers that are not finite.
pub(super) fn eigenvalues(d: &mut [f64], beside: &[f64]) -> bool {
    let n = d.len();
    let mut e = beside.to_vec();
    e.push(0.0);
    let size = d.iter().chain(&e).fold(0.0f64, |m, x| m.max(x.abs()));
    let nothing = f64::EPSILON * 0.5 * size;
    for l in 0..n {
        let mut turns = 0;
        loop {
            // the block that begins at l
            let m = (l..n - 1).find(|&m| e[m].abs() <= nothing).unwrap_or(n - 1);
            if m == l {
                break;
            }
            turns += 1;
            if turns > TURNS || !e[l].is_finite() {
                return false;
            }
            let g = 0.5 * (d[l + 1] - d[l]) / e[l];
            let mut g = d[m] - d[l] + e[l] / (g + (g * g + 1.0).sqrt().copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = (f * f + g * g).sqrt();
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let t = (d[i] - g) * s + 2.0 * c * b;
                p = s * t;
                d[i + 1] = g + p;
                g = c * t - b;
                if i == l {
                    d[l] -= p;
                    (e[l], e[m]) = (g, 0.0);
                }
            }
        }
    }
    d.iter().all(|x| x.is_finite())
}
