//! The law of a block as nonsmooth equations `F(r, u) = 0`, with a generalised derivative `dF = A dr + B du`.
//!
//! ```text
//! Alart–Curnier       F_n = r_n − max(0, x_n),  F_t = r_t − P_{D(μ max(0, x_n))}(r_t − ρ_t u_t),   x_n = r_n − ρ_n u_n
//! Jean–Moreau         the same with the disc of radius μ max(0, r_n)
//! natural map         F = r − P_K(r − ρ û)
//! Fischer–Burmeister  F = x + y − (x∘x + y∘y)^½  in the Jordan algebra of the cone,  x = (μ r_n, r_t),  y = ρ (û_n, μ u_t)
//! ```
//!
//! Sets to which a function does not apply (rows of joints, relays, rolling) take the natural map, rolling under Jean–Moreau
//! and Fischer–Burmeister that of Alart & Curnier. (Jean & Moreau 1987; Alart & Curnier 1991; Fukushima, Luo, Tseng 2002.)

use super::alart_curnier::{self, Steps};
use crate::numerics::admissible::AdmissibleSet;
use AdmissibleSet::{Coulomb, NonNegative, SecondOrder};

/// Which equations stand for the law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Function {
    /// Discs of the size of the augmented normal.
    AlartCurnier,
    /// Discs of the size of the normal reaction.
    JeanMoreau,
    /// Fischer and Burmeister's function in the Jordan algebra of the second-order cone.
    #[default]
    FischerBurmeister,
    /// The natural map of the variational inequality.
    NaturalMap,
}

/// Largest block that is treated on the stack.
const SMALL: usize = 8;

impl Function {
    /// Sets `f = F(r, u)`; `rho` is the step of the scalar maps.
    pub(super) fn value(self, set: AdmissibleSet, steps: Steps, rho: f64, r: &[f64], u: &[f64], f: &mut [f64]) {
        match (self, set) {
            (Self::JeanMoreau, Coulomb { mu }) => jean_moreau(mu, steps, r, u, f),
            (Self::FischerBurmeister, NonNegative) => {
                (0..r.len()).for_each(|i| f[i] = r[i] + rho * u[i] - libm::hypot(r[i], rho * u[i]));
            }
            (Self::FischerBurmeister, Coulomb { mu } | SecondOrder { mu }) if mu > 0.0 && r.len() <= SMALL => {
                let pair = Pair::new(mu, rho, set.shift(u), r, u);
                (0..r.len()).for_each(|i| f[i] = pair.x[i] + pair.y[i] - pair.z[i]);
                f[0] /= mu;
            }
            (Self::NaturalMap, _) if set.shifted() => {
                (0..r.len()).for_each(|i| f[i] = r[i] - rho * u[i]);
                f[0] -= rho * set.shift(u);
                set.project(f);
                f.iter_mut().zip(r).for_each(|(f, r)| *f = r - *f);
            }
            _ => _ = alart_curnier::value(set, steps, r, u, f),
        }
    }

    /// Sets `a`, `b` (row-major) with `dF = a dr + b du`.
    pub(super) fn derivative(self, set: AdmissibleSet, steps: Steps, rho: f64, r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
        let n = r.len();
        match (self, set) {
            (Self::JeanMoreau, Coulomb { mu }) => jean_moreau_derivative(mu, steps, r, u, a, b),
            (Self::FischerBurmeister, NonNegative) => {
                a.fill(0.0);
                b.fill(0.0);
                for i in 0..n {
                    let y = rho * u[i];
                    let size = libm::hypot(r[i], y).max(f64::MIN_POSITIVE);
                    a[i * n + i] = 1.0 - r[i] / size;
                    b[i * n + i] = rho * (1.0 - y / size);
                }
            }
            (Self::FischerBurmeister, Coulomb { mu } | SecondOrder { mu }) if mu > 0.0 && n <= SMALL => {
                Pair::new(mu, rho, set.shift(u), r, u).derivative(mu, rho, set.shifted(), u, a, b);
            }
            (Self::NaturalMap, _) if set.shifted() && n <= SMALL => {
                let mut x = [0.0; SMALL];
                (0..n).for_each(|i| x[i] = r[i] - rho * u[i]);
                x[0] -= rho * set.shift(u);
                set.derivative(&x[..n], b);
                for k in 0..n * n {
                    a[k] = f64::from(u8::from(k % (n + 1) == 0)) - b[k];
                    b[k] *= rho;
                }
                shift_columns(set, u, b);
            }
            _ => alart_curnier::derivative(set, steps, r, u, a, b),
        }
    }
}

/// `B ← B (I + e_n ∇gᵀ)`: from the derivative by û to that by u.
fn shift_columns(set: AdmissibleSet, u: &[f64], b: &mut [f64]) {
    let n = u.len();
    if !set.shifted() {
        return;
    }
    for (mu, rows) in set.discs(n) {
        let size = u[rows.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
        for j in rows.filter(|_| size > 0.0) {
            (0..n).for_each(|i| b[i * n + j] += b[i * n] * mu * u[j] / size);
        }
    }
}

fn jean_moreau(mu: f64, steps: Steps, r: &[f64], u: &[f64], f: &mut [f64]) {
    let n = r.len();
    f[0] = r[0] - (r[0] - steps.normal * u[0]).max(0.0);
    let radius = mu * r[0].max(0.0);
    let size = (1..n).map(|i| (r[i] - steps.tangent * u[i]).powi(2)).sum::<f64>().sqrt();
    let scale = if size > radius { radius / size } else { 1.0 };
    (1..n).for_each(|i| f[i] = r[i] - scale * (r[i] - steps.tangent * u[i]));
}

fn jean_moreau_derivative(mu: f64, steps: Steps, r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
    let n = r.len();
    a.fill(0.0);
    b.fill(0.0);
    if r[0] - steps.normal * u[0] > 0.0 {
        b[0] = steps.normal;
    } else {
        a[0] = 1.0;
    }
    let radius = mu * r[0].max(0.0);
    let x = |i: usize| r[i] - steps.tangent * u[i];
    let size = (1..n).map(|i| x(i).powi(2)).sum::<f64>().sqrt();
    for i in 1..n {
        if size <= radius {
            b[i * n + i] = steps.tangent;
            continue;
        }
        for j in 1..n {
            let unit = f64::from(u8::from(i == j));
            let g = radius / size * (unit - x(i) * x(j) / (size * size));
            a[i * n + j] = unit - g;
            b[i * n + j] = steps.tangent * g;
        }
        if r[0] > 0.0 {
            a[i * n] = -mu * x(i) / size;
        }
    }
}

/// `x`, `y` and `z = (x∘x + y∘y)^½` of one cone.
struct Pair {
    x: [f64; SMALL],
    y: [f64; SMALL],
    z: [f64; SMALL],
    /// smaller eigenvalue of z
    small: f64,
}

impl Pair {
    fn new(mu: f64, rho: f64, shift: f64, r: &[f64], u: &[f64]) -> Self {
        let n = r.len();
        let mut pair = Self { x: [0.0; SMALL], y: [0.0; SMALL], z: [0.0; SMALL], small: 0.0 };
        pair.x[..n].copy_from_slice(r);
        pair.x[0] *= mu;
        (1..n).for_each(|i| pair.y[i] = rho * mu * u[i]);
        pair.y[0] = rho * (u[0] + shift);
        let (x, y, z) = (&pair.x, &pair.y, &mut pair.z);
        let w0: f64 = (0..n).map(|i| x[i] * x[i] + y[i] * y[i]).sum();
        (1..n).for_each(|i| z[i] = 2.0 * (x[0] * x[i] + y[0] * y[i]));
        let size = z[1..n].iter().map(|z| z * z).sum::<f64>().sqrt();
        let (small, large) = ((w0 - size).max(0.0).sqrt(), (w0 + size).sqrt());
        z[0] = 0.5 * (small + large);
        (1..n).for_each(|i| z[i] *= if size > 0.0 { 0.5 * (large - small) / size } else { 0.0 });
        pair.small = small;
        pair
    }

    /// `dF = (I − L_z⁻¹ L_x) dx + (I − L_z⁻¹ L_y) dy`
    fn derivative(&self, mu: f64, rho: f64, shifted: bool, u: &[f64], a: &mut [f64], b: &mut [f64]) {
        let n = u.len();
        // on the border of the cone z is not invertible: a point inside, close by
        let lift = (1e-8 * self.z[0] - self.small).max(0.0) + 1e-150;
        let z = |i: usize| self.z[i] + if i == 0 { lift } else { 0.0 };
        let tangent = (1..n).map(|i| z(i) * z(i)).sum::<f64>();
        let det = z(0) * z(0) - tangent;
        for (v, out) in [(&self.x, &mut *a), (&self.y, &mut *b)] {
            if det <= 0.0 {
                // x = y = 0: the limit along x = y inside the cone
                (0..n * n).for_each(|k| out[k] = if k % (n + 1) == 0 { 1.0 - std::f64::consts::FRAC_1_SQRT_2 } else { 0.0 });
                continue;
            }
            for j in 0..n {
                // column j of L_v
                let column = |i: usize| match (i, j) {
                    (0, _) => v[j],
                    (_, 0) => v[i],
                    _ if i == j => v[0],
                    _ => 0.0,
                };
                let dot = (1..n).map(|i| z(i) * column(i)).sum::<f64>();
                for i in 0..n {
                    let solved =
                        if i == 0 { (z(0) * column(0) - dot) / det } else { column(i) / z(0) + z(i) * (dot / z(0) - column(0)) / det };
                    out[i * n + j] = f64::from(u8::from(i == j)) - solved;
                }
            }
        }
        let size = u[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
        for i in 0..n {
            // x = (μ r_n, r_t), y = ρ (u_n + μ|u_t|, μ u_t); the first row is over μ
            let row = if i == 0 { 1.0 / mu } else { 1.0 };
            a[i * n] *= mu;
            let normal = rho * b[i * n];
            b[i * n] = normal;
            for j in 1..n {
                let slope = if shifted && size > 0.0 { mu * u[j] / size } else { 0.0 };
                b[i * n + j] = rho * mu * b[i * n + j] + normal * slope;
            }
            (0..n).for_each(|j| (a[i * n + j], b[i * n + j]) = (row * a[i * n + j], row * b[i * n + j]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::contact::tests::Random;

    const ALL: [Function; 4] = [Function::AlartCurnier, Function::JeanMoreau, Function::FischerBurmeister, Function::NaturalMap];

    #[test]
    fn derivatives_are_those_of_the_functions() {
        let mut random = Random(11);
        for function in ALL {
            let mut compared = 0;
            for case in 0..3000 {
                let (set, n) = match case % 5 {
                    0 => (Coulomb { mu: 0.6 }, 2),
                    1 => (Coulomb { mu: 0.3 }, 3),
                    2 => (SecondOrder { mu: 1.7 }, 3),
                    3 => (AdmissibleSet::Rolling { mu: 0.4, mu_r: 0.2 }, 5),
                    _ => (NonNegative, 2),
                };
                let w: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0)) + 0.1 * random.next()).collect();
                let steps = Steps::of(set, Some(&w), n, 1.0);
                let mut vector = || (0..n).map(|_| random.next()).collect::<Vec<f64>>();
                let (r, u, dr, du) = (vector(), vector(), vector(), vector());
                let h = 1e-7;
                let moved = |x: &[f64], d: &[f64], h: f64| x.iter().zip(d).map(|(x, d)| x + h * d).collect::<Vec<_>>();
                let at = |h: f64| {
                    let (r, u) = (moved(&r, &dr, h), moved(&u, &du, h));
                    let (mut f, mut a, mut b) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n * n]);
                    function.value(set, steps, 0.7, &r, &u, &mut f);
                    function.derivative(set, steps, 0.7, &r, &u, &mut a, &mut b);
                    (f, a, b)
                };
                let (low, middle, high) = (at(-h), at(0.0), at(h));
                let kink = (0..n * n).any(|k| (low.1[k] - high.1[k]).abs() + (low.2[k] - high.2[k]).abs() > 1e-4);
                if kink {
                    continue;
                }
                compared += 1;
                for i in 0..n {
                    let slope: f64 = (0..n).map(|j| middle.1[i * n + j] * dr[j] + middle.2[i * n + j] * du[j]).sum();
                    let difference = (high.0[i] - low.0[i]) / (2.0 * h);
                    assert!((difference - slope).abs() < 1e-5, "{function:?} {set:?} row {i}: {difference} against {slope}");
                }
            }
            assert!(compared > 2000, "{function:?}: {compared}");
        }
    }

    #[test]
    fn a_slipping_a_stuck_and_an_open_contact_are_zeros() {
        let set = Coulomb { mu: 0.5 };
        let steps = Steps::of(set, None, 3, 1.0);
        for (r, u) in [([1.0, -0.3, -0.4], [0.0, 3.0, 4.0]), ([1.0, 0.1, 0.2], [0.0; 3]), ([0.0; 3], [0.2, 1.0, -1.0])] {
            for function in ALL {
                let mut f = [1.0; 3];
                function.value(set, steps, 1.3, &r, &u, &mut f);
                assert!(f.iter().all(|f| f.abs() < 1e-8), "{function:?} {f:?}");
            }
        }
    }
}
