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
    window: usize,
    used: usize,
    next: usize,
    fresh: bool,
    /// g − x of [`step`](Self::step)
    moved: Vec<f64>,
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
        let mut memory =
            Self { moved: Vec::with_capacity(n), last_f: Vec::with_capacity(n), last_g: Vec::with_capacity(n), ..Self::default() };
        memory.begin(window);
        memory
    }

    /// Forgets the past; a window of at most 12 differences from now on, of vectors of any length.
    pub fn begin(&mut self, window: usize) {
        self.window = window.clamp(1, MOST);
        self.restart();
    }

    /// Forgets the past.
    pub fn restart(&mut self) {
        self.used = 0;
        self.next = 0;
        self.fresh = true;
    }

    /// Moves `x` to the accelerated point, given `g = g(x)`; true when it is more than g itself.
    pub fn step(&mut self, x: &mut [f64], g: &[f64]) -> bool {
        let mut f = std::mem::take(&mut self.moved);
        f.clear();
        f.extend(g.iter().zip(&*x).map(|(g, x)| g - x));
        x.copy_from_slice(g);
        let more = self.mix(&f, x);
        self.moved = f;
        more
    }

    /// Moves `g = g(x)` to the accelerated point, given `f = g(x) − x` or what else vanishes with that; true when it is more than g itself. Beside x, `g` may hold
    /// what is linear in it, which follows.
    pub fn mix(&mut self, f: &[f64], g: &mut [f64]) -> bool {
        let (n, l, m) = (f.len(), g.len(), self.window.max(1));
        if std::mem::replace(&mut self.fresh, false) {
            for (last, now) in [(&mut self.last_f, f), (&mut self.last_g, &*g)] {
                last.clear();
                last.extend_from_slice(now);
            }
            return false;
        }
        // what a single step does without
        self.df.resize(m * n, 0.0);
        self.dg.resize(m * l, 0.0);
        self.gram.resize(m * m, 0.0);
        let slot = self.next;
        let differ = |d: &mut [f64], now: &[f64], last: &mut [f64]| {
            for ((d, now), last) in d.iter_mut().zip(now).zip(last) {
                *d = now - std::mem::replace(last, *now);
            }
        };
        differ(&mut self.df[slot * n..(slot + 1) * n], f, &mut self.last_f);
        differ(&mut self.dg[slot * l..(slot + 1) * l], g, &mut self.last_g);
        self.next = (slot + 1) % m;
        self.used = (self.used + 1).min(m);
        let used = self.used;
        let column = |k: usize| &self.df[k * n..(k + 1) * n];
        for k in 0..used {
            let value = dot(column(slot), column(k));
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
            gamma[i] = dot(column(i), f);
        }
        if !dense::cholesky(&mut a[..used * used], used) {
            self.restart();
            return false;
        }
        dense::cholesky_solve(&a[..used * used], used, &mut gamma[..used]);
        for (k, gamma) in gamma[..used].iter().enumerate() {
            g.iter_mut().zip(&self.dg[k * l..(k + 1) * l]).for_each(|(g, d)| *g -= gamma * d);
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

    #[test]
    fn a_memory_that_has_not_begun_takes_plain_steps() {
        let (mut memory, mut x) = (Anderson::default(), [0.0]);
        for _ in 0..3 {
            let g = [0.5 * x[0] + 1.0];
            memory.step(&mut x, &g);
        }
        assert!(x[0].is_finite() && x[0] > 1.0, "{x:?}");
    }

    #[test]
    fn what_is_linear_in_the_point_follows_it_and_a_memory_serves_maps_of_other_lengths() {
        let mut memory = Anderson::new(3, 2);
        memory.step(&mut [0.0; 3], &[1.0, 2.0, 3.0]);
        memory.step(&mut [1.0, 2.0, 3.0], &[1.5, 2.0, 3.5]);
        memory.begin(3);
        let rates = [0.99, -0.5];
        let mut x = [0.0; 2];
        for _ in 0..5 {
            let g: [f64; 2] = std::array::from_fn(|i| rates[i] * x[i] + 1.0);
            let f: [f64; 2] = std::array::from_fn(|i| g[i] - x[i]);
            let mut all = [g[0], g[1], 2.0 * g[0] - g[1]];
            memory.mix(&f, &mut all);
            assert!((all[2] - (2.0 * all[0] - all[1])).abs() < 1e-9 * (all[0].abs() + all[1].abs()), "{all:?}");
            x = [all[0], all[1]];
        }
        assert!((x[0] - 100.0).abs() < 1e-6 && (x[1] - 1.0 / 1.5).abs() < 1e-6, "{x:?}");
    }
}
