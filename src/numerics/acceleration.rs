//! Anderson acceleration of a fixed-point map `x ← g(x)`, for any solver whose iteration is one.
//!
//! ```text
//! f = g(x) − x        min_γ |f_k − Σ γ_i (f_{i+1} − f_i)|        x_{k+1} = g(x_k) − Σ γ_i (g_{i+1} − g_i)
//! ```
//!
//! Type II with a window of m differences and a Tikhonov term; the caller judges each accelerated point by its own residual and
//! calls [`Anderson::restart`] where it got worse (Zhang, O'Donoghue, Boyd 2020 for the need of a safeguard).

use crate::algebra::dense;

/// Memory of the last maps.
///
/// ```
/// use drystone::numerics::acceleration::Anderson;
/// // x ← 0.9 x + 0.1: the second accelerated point is the fixed point 1
/// let mut memory = Anderson::new(1, 2);
/// let mut x = [0.0];
/// for _ in 0..3 {
///     let g = [0.9 * x[0] + 0.1];
///     memory.step(&mut x, &g);
/// }
/// assert!((x[0] - 1.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Anderson {
    n: usize,
    window: usize,
    used: usize,
    next: usize,
    fresh: bool,
    last_f: Vec<f64>,
    last_g: Vec<f64>,
    df: Vec<f64>,
    dg: Vec<f64>,
    gram: Vec<f64>,
}

/// Relative Tikhonov term of the small least-squares problem.
const REGULARISATION: f64 = 1e-10;
/// Largest window.
const MOST: usize = 12;

impl Anderson {
    /// For vectors of n numbers and a window of at most 12 differences.
    pub fn new(n: usize, window: usize) -> Self {
        let window = window.clamp(1, MOST);
        Self { n, window, fresh: true, last_f: vec![0.0; n], last_g: vec![0.0; n], ..Self::default() }
    }

    /// Forgets the past.
    pub fn restart(&mut self) {
        self.used = 0;
        self.next = 0;
        self.fresh = true;
    }

    /// Moves `x` to the accelerated point, given `g = g(x)`; true when it is more than g itself.
    pub fn step(&mut self, x: &mut [f64], g: &[f64]) -> bool {
        let (n, m) = (self.n, self.window);
        let first = std::mem::replace(&mut self.fresh, false);
        if first {
            for i in 0..n {
                self.last_f[i] = g[i] - x[i];
            }
            self.last_g.copy_from_slice(g);
            x.copy_from_slice(g);
            return false;
        }
        if self.gram.is_empty() {
            // what a single step does without
            (self.df, self.dg, self.gram) = (vec![0.0; n * m], vec![0.0; n * m], vec![0.0; m * m]);
        }
        let slot = self.next;
        let (df, dg) = (&mut self.df[slot * n..(slot + 1) * n], &mut self.dg[slot * n..(slot + 1) * n]);
        for i in 0..n {
            let f = g[i] - x[i];
            df[i] = f - self.last_f[i];
            dg[i] = g[i] - self.last_g[i];
            self.last_f[i] = f;
            self.last_g[i] = g[i];
        }
        self.next = (slot + 1) % m;
        self.used = (self.used + 1).min(m);
        let used = self.used;
        let column = |k: usize| k * n..(k + 1) * n;
        for k in 0..used {
            let value = dot(&self.df[column(slot)], &self.df[column(k)]);
            self.gram[slot * m + k] = value;
            self.gram[k * m + slot] = value;
        }
        let (mut a, mut gamma) = ([0.0; MOST * MOST], [0.0; MOST]);
        let trace: f64 = (0..used).map(|k| self.gram[k * m + k]).sum();
        for i in 0..used {
            for j in 0..used {
                a[i * used + j] = self.gram[i * m + j];
            }
            a[i * used + i] += REGULARISATION * trace;
            gamma[i] = dot(&self.df[column(i)], &self.last_f);
        }
        x.copy_from_slice(g);
        if !dense::cholesky(&mut a[..used * used], used) {
            self.restart();
            return false;
        }
        dense::cholesky_solve(&a[..used * used], used, &mut gamma[..used]);
        for (k, gamma) in gamma[..used].iter().enumerate() {
            x.iter_mut().zip(&self.dg[column(k)]).for_each(|(x, d)| *x -= gamma * d);
        }
        true
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a4, a1) = a.as_chunks::<4>();
    let (b4, b1) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a4.iter().zip(b4) {
        (0..4).for_each(|k| sums[k] += a[k] * b[k]);
    }
    sums.iter().sum::<f64>() + a1.iter().zip(b1).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_map_is_solved_in_as_many_steps_as_it_has_eigenvalues() {
        let rates = [0.99, 0.9, 0.5, -0.3];
        let mut memory = Anderson::new(4, 5);
        let mut x = [0.0; 4];
        for _ in 0..7 {
            let g: [f64; 4] = std::array::from_fn(|i| rates[i] * x[i] + 1.0);
            memory.step(&mut x, &g);
        }
        for (x, rate) in x.iter().zip(rates) {
            assert!((x - 1.0 / (1.0 - rate)).abs() < 1e-6 * x.abs(), "{x}");
        }
    }
}
