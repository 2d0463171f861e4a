//! The exponential of a matrix, and what a linear system does in one step under a held input.
//!
//! ```text
//! e^X − 1 = (V − U)⁻¹ 2U,   U odd and V even part of the Padé polynomial of X / 2ˢ      ‖X / 2ˢ‖₁ ≤ θ_m
//! e^2X − 1 = 2E + E²        with E = e^X − 1, s times
//!
//! ẋ = A x + b, b held:      x(t + h) = Φ x(t) + Ψ b,   Φ = e^{Ah},   Ψ = ∫₀ʰ e^{As} ds
//! e^[hA 1; 0 0] = [Φ Ψ/h; 0 1]
//! ```
//!
//! Squaring e^X itself would lose what the slow part of a stiff matrix adds to 1 after many halvings; `e^X − 1` keeps it.
//! Source: Higham, SIAM J. Matrix Anal. Appl. 26 (2005) 1179; Van Loan, IEEE Trans. Autom. Control 23 (1978) 395.

use super::dense::{lu, lu_solve};

/// `(θ_m, coefficients of the polynomial of degree m)`: up to the 1-norm θ_m the approximant is exact to rounding.
const PADE: [(f64, &[f64]); 5] = [
    (1.495585217958292e-2, &[120.0, 60.0, 12.0, 1.0]),
    (2.53939833006323e-1, &[30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0]),
    (9.504178996162932e-1, &[17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0]),
    (2.097847961257068, &[17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0]),
    (
        5.371920351148152,
        &[
            64764752532480000.0,
            32382376266240000.0,
            7771770303897600.0,
            1187353796428800.0,
            129060195264000.0,
            10559470521600.0,
            670442572800.0,
            33522128640.0,
            1323241920.0,
            40840800.0,
            960960.0,
            16380.0,
            182.0,
            1.0,
        ],
    ),
];

/// `e^A` of a square matrix of order n, row by row; entries that are not finite give a matrix of NaN.
///
/// ```
/// let turn = drystone::algebra::exponential::exponential(&[0.0, -1.0, 1.0, 0.0], 2);
/// assert!((turn[0] - 1f64.cos()).abs() < 1e-15 && (turn[2] - 1f64.sin()).abs() < 1e-15);
/// ```
pub fn exponential(a: &[f64], n: usize) -> Vec<f64> {
    if let [a] = a {
        return vec![libm::exp(*a)];
    }
    let mut e = exponential_minus_one(a, n);
    (0..n).for_each(|i| e[i * (n + 1)] += 1.0);
    e
}

/// `(Φ, Ψ)` with `Φ = e^{Ah}` and `Ψ = ∫₀ʰ e^{As} ds`: the step of `ẋ = A x + b` with b held is `Φ x + Ψ b`.
///
/// ```
/// // a double integrator under a held force
/// let (phi, psi) = drystone::algebra::exponential::held(&[0.0, 1.0, 0.0, 0.0], 2, 0.5);
/// assert_eq!(phi, [1.0, 0.5, 0.0, 1.0]);
/// assert_eq!(psi, [0.5, 0.125, 0.0, 0.5]);
/// ```
pub fn held(a: &[f64], n: usize, h: f64) -> (Vec<f64>, Vec<f64>) {
    if let [a] = a {
        let psi = if *a == 0.0 { h } else { libm::expm1(a * h) / a };
        return (vec![libm::exp(a * h)], vec![psi]);
    }
    let m = 2 * n;
    let mut augmented = vec![0.0; m * m];
    for i in 0..n {
        (0..n).for_each(|j| augmented[i * m + j] = h * a[i * n + j]);
        augmented[i * m + n + i] = 1.0;
    }
    let e = exponential_minus_one(&augmented, m);
    let (mut phi, mut psi) = (vec![0.0; n * n], vec![0.0; n * n]);
    for i in 0..n {
        phi[i * n..][..n].copy_from_slice(&e[i * m..][..n]);
        phi[i * (n + 1)] += 1.0;
        (0..n).for_each(|j| psi[i * n + j] = h * e[i * m + n + j]);
    }
    (phi, psi)
}

/// `e^A − 1`
fn exponential_minus_one(a: &[f64], n: usize) -> Vec<f64> {
    let norm =
        (0..n).map(|j| (0..n).map(|i| a[i * n + j].abs()).sum::<f64>()).fold(0.0, |m: f64, x| if x > m || x.is_nan() { x } else { m });
    if !norm.is_finite() {
        return vec![f64::NAN; n * n];
    }
    let (largest, _) = PADE[4];
    let mut halvings = 0;
    let mut scale = 1.0;
    while norm * scale > largest {
        scale *= 0.5;
        halvings += 1;
    }
    let scaled: Vec<f64> = a.iter().map(|x| x * scale).collect();
    let coefficients = PADE.iter().find(|(theta, _)| norm * scale <= *theta).map_or(PADE[4].1, |p| p.1);
    let mut e = pade_minus_one(&scaled, n, coefficients);
    for _ in 0..halvings {
        let square = product(&e, &e, n);
        e.iter_mut().zip(&square).for_each(|(e, s)| *e = 2.0 * *e + s);
    }
    e
}

/// `(V − U)⁻¹ 2U`
fn pade_minus_one(a: &[f64], n: usize, coefficients: &[f64]) -> Vec<f64> {
    let square = product(a, a, n);
    // Horner's rule in A² for every second coefficient
    let polynomial = |first: usize| {
        let mut sum = vec![0.0; n * n];
        for (k, c) in coefficients.iter().enumerate().skip(first).step_by(2).rev() {
            if k + 2 < coefficients.len() {
                sum = product(&sum, &square, n);
            }
            (0..n).for_each(|i| sum[i * (n + 1)] += c);
        }
        sum
    };
    let u = product(a, &polynomial(1), n);
    let mut factors = polynomial(0);
    factors.iter_mut().zip(&u).for_each(|(v, u)| *v -= u);
    let mut rows = vec![0; n];
    if lu(&mut factors, &mut rows).is_some() {
        // V − U is far from singular within θ_m: only numbers beyond the range of f64 lead here
        return vec![f64::NAN; n * n];
    }
    let mut e = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    for j in 0..n {
        (0..n).for_each(|i| column[i] = 2.0 * u[i * n + j]);
        lu_solve(&factors, &rows, &mut column);
        (0..n).for_each(|i| e[i * n + j] = column[i]);
    }
    e
}

/// `A B`, both square of order n.
fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for (row, a) in c.chunks_exact_mut(n.max(1)).zip(a.chunks_exact(n.max(1))) {
        for (a, b) in a.iter().zip(b.chunks_exact(n.max(1))) {
            if *a != 0.0 {
                row.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
            }
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: &[f64], expected: &[f64], tolerance: f64) {
        let scale = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= tolerance * scale, "{found:e} instead of {expected:e}");
        }
    }

    #[test]
    fn a_skew_matrix_turns_by_its_angle() {
        for angle in [0.0, 1e-9, 0.01, 0.2, 0.9, 2.0, 5.0, 30.0, 1000.0f64] {
            let (s, c) = angle.sin_cos();
            close(&exponential(&[0.0, -angle, angle, 0.0], 2), &[c, -s, s, c], 1e-15 * (4.0 + angle));
        }
    }

    #[test]
    fn a_jordan_block_gives_the_powers_of_time_over_factorials() {
        for (l, h) in [(0.0, 0.05), (0.0, 300.0), (-2.0, 0.5), (0.3, 4.0)] {
            let (a, e) = ([l, 1.0, 0.0, 0.0, l, 1.0, 0.0, 0.0, l], f64::exp(l * h));
            let expected = [e, h * e, 0.5 * h * h * e, 0.0, e, h * e, 0.0, 0.0, e];
            let (phi, psi) = held(&a, 3, h);
            close(&phi, &expected, 3e-15);
            if l == 0.0 {
                // nilpotent: every entry to its own full precision
                let exact = [h, h * h / 2.0, h * h * h / 6.0];
                (0..3).for_each(|j| assert!((psi[j] / exact[j] - 1.0).abs() < 1e-15, "{j}: {}", psi[j]));
                assert!(psi[3] == 0.0 && psi[6] == 0.0 && psi[7] == 0.0);
            }
        }
    }

    #[test]
    fn without_a_matrix_the_input_is_summed_exactly() {
        for h in [1e-4, 0.1, 0.3, 7.0, 1e6] {
            for n in 1..5 {
                let (phi, psi) = held(&vec![0.0; n * n], n, h);
                for (i, (phi, psi)) in phi.iter().zip(&psi).enumerate() {
                    let unit = if i % (n + 1) == 0 { 1.0 } else { 0.0 };
                    assert_eq!((*phi, *psi), (unit, h * unit));
                }
            }
        }
    }

    #[test]
    fn the_slow_part_of_a_stiff_matrix_keeps_its_digits() {
        for fast in [1e2, 1e5, 1e8, 1e12] {
            let (phi, psi) = held(&[-fast, 0.0, 0.0, -1.0], 2, 0.7);
            close(&phi, &[f64::exp(-0.7 * fast), 0.0, 0.0, f64::exp(-0.7)], 1e-15);
            close(&psi, &[1.0 / fast, 0.0, 0.0, -f64::exp_m1(-0.7)], 1e-15);
            assert!((psi[0] * fast - 1.0).abs() < 1e-13, "{}", psi[0] * fast);
        }
        // coupled: x → y at rate 1, y lost at rate f
        let f = 1e8;
        let (phi, _) = held(&[-1.0, 0.0, 1.0, -f], 2, 1.0);
        assert!((phi[2] / (f64::exp(-1.0) / (f - 1.0)) - 1.0).abs() < 1e-7, "{:e}", phi[2]);
    }

    #[test]
    fn scalars_follow_the_functions_of_the_library() {
        for a in [-40.0, -1.0, 1e-12, 3.0] {
            assert_eq!(exponential(&[a], 1), [f64::exp(a)]);
            let (phi, psi) = held(&[a], 1, 0.5);
            assert_eq!(phi, [f64::exp(0.5 * a)]);
            close(&psi, &[f64::exp_m1(0.5 * a) / a], 1e-15);
        }
    }

    #[test]
    fn inputs_beyond_the_range_give_no_panic() {
        assert!(exponential(&[f64::NAN, 0.0, 0.0, 1.0], 2).iter().all(|x| x.is_nan()));
        assert!(exponential(&[f64::INFINITY, 0.0, 0.0, 1.0], 2).iter().all(|x| x.is_nan()));
        assert!(!exponential(&[1e300, 0.0, 0.0, 1.0], 2)[0].is_finite());
        assert!(exponential(&[], 0).is_empty());
    }
}
