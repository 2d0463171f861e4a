//! The Alart–Curnier function of a block and its derivative.
//!
//! ```text
//! x_n = r_n − ρ_n u_n,  x_t = r_t − ρ_t u_t,  R = μ max(x_n, 0)
//! x_n ≤ 0:      F = r                                                    open
//! |x_t| ≤ R:    F_n = ρ_n u_n,  F_t = ρ_t u_t                            stick
//! |x_t| > R:    F_t = r_t − R n,  n = x_t / |x_t|                        slip
//!               dF_t = (I − G) dr_t + ρ_t G du_t − μ n (dr_n − ρ_n du_n),   G = (R/|x_t|)(I − n nᵀ)
//! x_n > P:      F_n = r_n − P,  R = μ P                                  gives way, where the normal reaction has a bound P
//! ```
//!
//! (Alart & Curnier 1991.) Moments of rolling have the same rows with μ_r; sets without a De Saxcé shift have the natural map
//! `F = r − P_K(r − ρ u)`.

use super::LocalProblem;
use crate::numerics::admissible::AdmissibleSet;

/// Steps ρ of one block: for its normal, its tangents and its moments.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::numerics) struct Steps {
    pub(super) normal: f64,
    pub(super) tangent: f64,
    moment: f64,
}

impl Steps {
    /// `ρ_n = 1/W_nn`, `ρ_t = 1/λ` with λ a bound of the spectrum of W_tt; for other sets 1/λ of the whole block.
    pub(in crate::numerics) fn of(set: AdmissibleSet, w: Option<&[f64]>, rows: usize, weight: f64) -> Self {
        let fallback = 1.0 / weight;
        let Some(w) = w else { return Self { normal: fallback, tangent: fallback, moment: fallback } };
        let bound = |from: usize, to: usize| {
            let sum = |i: usize| (from..to).map(|j| w[i * rows + j].abs()).sum::<f64>();
            let largest = (from..to).map(sum).fold(0.0, f64::max);
            if largest > 0.0 { 1.0 / largest } else { fallback }
        };
        match set {
            AdmissibleSet::Coulomb { .. } | AdmissibleSet::Crushing { .. } => {
                Self { normal: bound(0, 1), tangent: bound(1, rows), moment: 0.0 }
            }
            AdmissibleSet::Rolling { .. } => {
                Self { normal: bound(0, 1), tangent: bound(1, rows / 2 + 1), moment: bound(rows / 2 + 1, rows) }
            }
            AdmissibleSet::Twisting { .. } => Self { normal: bound(0, 1), tangent: bound(1, 3), moment: bound(3, rows) },
            _ => {
                let all = bound(0, rows);
                Self { normal: all, tangent: all, moment: all }
            }
        }
    }

    /// The steps of all blocks.
    pub(super) fn of_all(p: &LocalProblem, weights: &[f64]) -> Vec<Self> {
        (0..p.sets.len()).map(|i| Self::of(p.sets[i], p.w.block(i, i), p.w.rows(i), weights[i])).collect()
    }

    /// The steps of `W + α D`.
    #[inline(always)]
    pub(in crate::numerics) fn with_proximal(self, alpha: f64) -> Self {
        let scale = 1.0 / (1.0 + alpha);
        Self { normal: self.normal * scale, tangent: self.tangent * scale, moment: self.moment * scale }
    }
}

/// Sets `f = F(r, u)`; false where the block is open (`F = r`).
#[inline(always)]
pub(in crate::numerics) fn value(set: AdmissibleSet, rho: Steps, r: &[f64], u: &[f64], f: &mut [f64]) -> bool {
    let n = r.len();
    let Some(parts) = discs(set, n, rho) else {
        (0..n).for_each(|i| f[i] = r[i] - rho.normal * u[i]);
        set.project(f);
        (0..n).for_each(|i| f[i] = r[i] - f[i]);
        return true;
    };
    let x_n = r[0] - rho.normal * u[0];
    if x_n <= 0.0 {
        f.copy_from_slice(r);
        return false;
    }
    let most = set.most();
    let (gives, x_n) = (x_n > most, x_n.min(most));
    f[0] = if gives { r[0] - most } else { rho.normal * u[0] };
    for (mu, rows, step) in parts {
        let t = rows.clone().map(|i| (r[i] - step * u[i]).powi(2)).sum::<f64>().sqrt();
        let stick = t <= mu * x_n;
        for i in rows {
            f[i] = if stick { step * u[i] } else { r[i] - mu * x_n * (r[i] - step * u[i]) / t };
        }
    }
    true
}

/// Sets `a`, `b` (row-major) with `dF = a dr + b du`.
#[inline(always)]
pub(in crate::numerics) fn derivative(set: AdmissibleSet, rho: Steps, r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
    let n = r.len();
    a.fill(0.0);
    b.fill(0.0);
    let mut x = [0.0; 8];
    let mut long = Vec::new();
    let x = if n <= 8 {
        &mut x[..n]
    } else {
        long.resize(n, 0.0);
        &mut long[..]
    };
    let Some(parts) = discs(set, n, rho) else {
        (0..n).for_each(|i| x[i] = r[i] - rho.normal * u[i]);
        set.derivative(x, b);
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] = f64::from(u8::from(i == j)) - b[i * n + j];
                b[i * n + j] *= rho.normal;
            }
        }
        return;
    };
    let x_n = r[0] - rho.normal * u[0];
    if x_n <= 0.0 {
        (0..n).for_each(|i| a[i * n + i] = 1.0);
        return;
    }
    let most = set.most();
    let (gives, x_n) = (x_n > most, x_n.min(most));
    let [own, slope] = if gives { [1.0, 0.0] } else { [0.0, rho.normal] };
    (a[0], b[0]) = (own, slope);
    for (mu, rows, step) in parts {
        for i in rows.clone() {
            x[i] = r[i] - step * u[i];
        }
        let t = rows.clone().map(|i| x[i] * x[i]).sum::<f64>().sqrt();
        if t <= mu * x_n {
            rows.for_each(|i| b[i * n + i] = step);
            continue;
        }
        let ratio = mu * x_n / t;
        for i in rows.clone() {
            let direction = x[i] / t;
            for j in rows.clone() {
                let unit = f64::from(u8::from(i == j));
                let g = ratio * (unit - direction * x[j] / t);
                a[i * n + j] = unit - g;
                b[i * n + j] = step * g;
            }
            if !gives {
                a[i * n] = -mu * direction;
                b[i * n] = mu * direction * rho.normal;
            }
        }
    }
}

/// The friction discs of a set with their rows and steps; `None` for sets without.
#[inline(always)]
fn discs(set: AdmissibleSet, n: usize, rho: Steps) -> Option<[(f64, std::ops::Range<usize>, f64); 3]> {
    let step = |rows: &std::ops::Range<usize>| if rows.start > 1 { rho.moment } else { rho.tangent };
    set.shifted().then(|| set.discs(n).map(|(mu, rows)| (mu, rows.clone(), step(&rows))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivative_is_that_of_the_function_and_a_solution_is_a_zero() {
        let sets = [
            AdmissibleSet::Coulomb { mu: 0.4 },
            AdmissibleSet::Crushing { mu: 0.4, most: 0.3 },
            AdmissibleSet::Rolling { mu: 0.4, mu_r: 0.1 },
            AdmissibleSet::NonNegative,
            AdmissibleSet::Free,
            AdmissibleSet::SecondOrder { mu: 0.5 },
        ];
        let rho = Steps { normal: 0.7, tangent: 0.4, moment: 2.0 };
        for set in sets {
            for case in 0..200 {
                let noise = |k: usize| ((case * 17 + k) as f64 * 0.754_877_666).fract() - 0.5;
                let (r, u): (Vec<f64>, Vec<f64>) = (0..5).map(|k| (noise(k) + f64::from(u8::from(k == 0)) * 0.4, noise(k + 5))).unzip();
                let (dr, du): (Vec<f64>, Vec<f64>) = (0..5).map(|k| (noise(k + 10), noise(k + 15))).unzip();
                let (mut a, mut b, mut a2, mut b2) = ([0.0; 25], [0.0; 25], [0.0; 25], [0.0; 25]);
                let step = 1e-7;
                let moved = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + step * d).collect::<Vec<_>>();
                let (r2, u2) = (moved(&r, &dr), moved(&u, &du));
                derivative(set, rho, &r, &u, &mut a, &mut b);
                derivative(set, rho, &r2, &u2, &mut a2, &mut b2);
                if (0..25).any(|k| (a[k] - a2[k]).abs() + (b[k] - b2[k]).abs() > 1e-4) {
                    continue; // a kink between the two points
                }
                let (mut f, mut f2) = ([0.0; 5], [0.0; 5]);
                value(set, rho, &r, &u, &mut f);
                value(set, rho, &r2, &u2, &mut f2);
                for i in 0..5 {
                    let slope: f64 = (0..5).map(|j| a[5 * i + j] * dr[j] + b[5 * i + j] * du[j]).sum();
                    assert!(((f2[i] - f[i]) / step - slope).abs() < 1e-5, "{set:?} case {case} row {i}");
                }
            }
        }
        let (mut f, mu) = ([1.0; 3], 0.5);
        assert!(value(AdmissibleSet::Coulomb { mu }, rho, &[1.0, -0.3, -0.4], &[0.0, 3.0, 4.0], &mut f));
        assert!(f.iter().all(|x| x.abs() < 1e-15), "{f:?}");
    }
}
