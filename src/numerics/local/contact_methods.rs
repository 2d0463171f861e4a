//! The one-contact solvers of the literature next to the exact one: 3×3 operators of any kind, from a guess.
//!
//! ```text
//! projection       r ← P_K(r − û / |W|_∞)                                         until the change is 1e-12 of r
//! Alart–Curnier    (A + B W) Δr = −F(r),  r ← r + t Δr                            t halved until |F| falls
//! ```
//!
//! Measured on 10⁵ random contacts each, μ from 0 to 10, set-up included; a failure is a natural map above 1e-9 of the data:
//!
//! | W | exact | projection | Alart–Curnier |
//! |-|-|-|-|
//! | random, regular | 0.20 µs, none | 9 µs, 9.7 % | 0.22 µs, 0.5 % |
//! | condition up to 1e8 | 0.19 µs, none | 14 µs, 15 % | 0.74 µs, 8.5 % |
//! | rank 2, or 1e-9 from it | 0.13 µs, none | 2 µs, 0.2 % | 0.17 µs, 1.4 % |
//! | nonsymmetric | 0.16 µs, none | 8 µs, 8.0 % | 0.22 µs, 0.5 % |
//!
//! So the exact solver is the choice; the others are here to be compared with. Bisection on the slip multiplier (1.2 µs) and
//! the quartic of Bonnefon & Daviet 2011 (0.16 µs) never failed in the exact solver's frame either, but neither is faster nor
//! carries over to rolling, and they were not kept.

use super::alart_curnier::{self, Steps};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::contact::ContactOperator3;
use std::array::from_fn;

/// How one contact in space is solved.
///
/// ```
/// use drystone::numerics::local::contact_methods::ContactSolver;
/// let w = [2.0, 0.1, 0.0, 0.1, 7.0, 0.0, 0.0, 0.0, 7.0];
/// let exact = ContactSolver::Exact.solve(&w, [-1.0, 3.0, 4.0], 0.5, [0.0; 3]);
/// let newton = ContactSolver::AlartCurnier.solve(&w, [-1.0, 3.0, 4.0], 0.5, [0.0; 3]);
/// assert!((0..3).all(|i| (exact[i] - newton[i]).abs() < 1e-10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactSolver {
    /// Schur complement and secular equation, see [`ContactOperator3`]; needs no guess.
    #[default]
    Exact,
    /// Projected iterations, at most 1000.
    Projection,
    /// Damped Newton on Alart and Curnier's function, at most 30 iterations.
    AlartCurnier,
}

/// Most projected iterations, and Newton iterations.
const PROJECTIONS: usize = 1000;
const NEWTON: usize = 30;

impl ContactSolver {
    /// The reaction to the velocity `q`, for the row-major `w` with rows `(n, t1, t2)`; the guess where `W_nn` is not positive.
    pub fn solve(self, w: &[f64; 9], q: [f64; 3], mu: f64, guess: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Exact => ContactOperator3::new(w).map_or(guess, |o| o.solve(q, mu)),
            Self::Projection => projection(w, q, mu, guess),
            Self::AlartCurnier => alart_curnier_newton(w, q, mu, guess),
        }
    }
}

fn apply(w: &[f64; 9], r: [f64; 3], q: [f64; 3]) -> [f64; 3] {
    from_fn(|i| q[i] + w[3 * i] * r[0] + w[3 * i + 1] * r[1] + w[3 * i + 2] * r[2])
}

fn projection(w: &[f64; 9], q: [f64; 3], mu: f64, mut r: [f64; 3]) -> [f64; 3] {
    let set = AdmissibleSet::Coulomb { mu };
    let norm = w.as_chunks::<3>().0.iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    if norm == 0.0 {
        return r;
    }
    for _ in 0..PROJECTIONS {
        let mut u = apply(w, r, q);
        u[0] += set.shift(&u);
        let mut x: [f64; 3] = from_fn(|i| r[i] - u[i] / norm);
        set.project(&mut x);
        let change: f64 = (0..3).map(|i| (x[i] - r[i]).powi(2)).sum();
        let size: f64 = x.iter().map(|x| x * x).sum();
        r = x;
        if change <= 1e-24 * size {
            break;
        }
    }
    r
}

fn alart_curnier_newton(w: &[f64; 9], q: [f64; 3], mu: f64, mut r: [f64; 3]) -> [f64; 3] {
    let set = AdmissibleSet::Coulomb { mu };
    let d = (w[0] + w[4] + w[8]) / 3.0;
    let steps = Steps::of(set, Some(w), 3, d);
    let (mut f, mut a, mut b) = ([0.0; 3], [0.0; 9], [0.0; 9]);
    let mut u = apply(w, r, q);
    alart_curnier::value(set, steps, &r, &u, &mut f);
    let square = |f: &[f64; 3]| f.iter().map(|x| x * x).sum::<f64>();
    let mut merit = square(&f);
    for _ in 0..NEWTON {
        if merit <= 1e-26 * (square(&r) + square(&q) / (d * d)) {
            break;
        }
        alart_curnier::derivative(set, steps, &r, &u, &mut a, &mut b);
        for i in 0..3 {
            for j in 0..3 {
                a[3 * i + j] += (0..3).map(|k| b[3 * i + k] * w[3 * k + j]).sum::<f64>();
            }
        }
        let m = glam::DMat3::from_cols_array(&a).transpose();
        let step = m.inverse() * glam::DVec3::new(-f[0], -f[1], -f[2]);
        if !step.is_finite() {
            break;
        }
        let from = r;
        let mut t = 1.0;
        for _ in 0..12 {
            r = [from[0] + t * step.x, from[1] + t * step.y, from[2] + t * step.z];
            u = apply(w, r, q);
            alart_curnier::value(set, steps, &r, &u, &mut f);
            if square(&f) < (1.0 - 1e-3 * t) * merit {
                break;
            }
            t *= 0.5;
        }
        merit = square(&f);
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::contact::tests::{Random, block_error, coefficient, random_operator, random_velocity};

    #[test]
    fn the_methods_fail_as_often_as_the_table_says() {
        for (solver, most) in [(ContactSolver::Exact, 0), (ContactSolver::Projection, 1200), (ContactSolver::AlartCurnier, 100)] {
            let mut random = Random(9);
            let mut failures = 0;
            for k in 0..10_000 {
                let w: [f64; 9] = random_operator(3, 0, &mut random).try_into().expect("nine");
                let mu = coefficient(k / 8, &mut random);
                let q: [f64; 3] = random_velocity(&w, 3, 0, mu, &mut random).try_into().expect("three");
                let r = solver.solve(&w, q, mu, [0.0; 3]);
                assert!(r.iter().all(|x| x.is_finite()));
                failures += usize::from(block_error(AdmissibleSet::Coulomb { mu }, &w, &q, &r) > 1e-9);
            }
            assert!(failures <= most, "{solver:?}: {failures}");
        }
    }
}
