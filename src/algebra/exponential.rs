//! The flow of a linear system over one step.
//!
//! ```text
//! E = e^{Ah}        Ψ = ∫₀ʰ e^{As} ds = h φ(Ah),   φ(z) = (e^z − 1)/z
//! e^{2z} = (e^z)²   φ(2z) = ½ (1 + e^z) φ(z)
//! ```
//!
//! Balancing by powers of two (Parlett & Reinsch 1969) makes the norm of Ah that of its eigenvalues where units of the states are
//! far apart, so that few doublings are needed; each loses a bit.

/// Terms of the series: ½¹⁸/18! is below rounding.
const TERMS: u32 = 18;

/// E and Ψ of A (n × n, row by row) over h: `x(h) = E x + Ψ u` solves `ẋ = A x + u` with constant u.
///
/// ```
/// let (e, psi) = drystone::algebra::exponential::held(&[-2.0], 1, 0.5);
/// assert!((e[0] - (-1f64).exp()).abs() < 1e-15);
/// assert!((psi[0] - 0.5 * (1.0 - (-1f64).exp())).abs() < 1e-15);
/// ```
pub fn held(a: &[f64], n: usize, h: f64) -> (Vec<f64>, Vec<f64>) {
    let mut z: Vec<f64> = a.iter().map(|a| a * h).collect();
    let scale = balance(&mut z, n);
    let norm = (0..n).map(|i| z[i * n..(i + 1) * n].iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let mut doublings = 0;
    let mut factor = 1.0;
    while norm.is_finite() && norm * factor > 0.5 {
        factor *= 0.5;
        doublings += 1;
    }
    z.iter_mut().for_each(|z| *z *= factor);
    let identity = |x: f64| (0..n * n).map(|k| if k / n == k % n { x } else { 0.0 }).collect::<Vec<f64>>();
    // Horner: 1 + z (1 + z/2 (1 + z/3 (…))) and 1 + z/2 (1 + z/3 (…))
    let mut phi = identity(1.0);
    for k in (2..=TERMS).rev() {
        phi = product(n, &z, &phi);
        phi.iter_mut().for_each(|x| *x /= f64::from(k));
        (0..n).for_each(|i| phi[i * (n + 1)] += 1.0);
    }
    let mut e = product(n, &z, &phi);
    (0..n).for_each(|i| e[i * (n + 1)] += 1.0);
    for _ in 0..doublings {
        let mut half = e.clone();
        (0..n).for_each(|i| half[i * (n + 1)] += 1.0);
        phi = product(n, &half, &phi);
        phi.iter_mut().for_each(|x| *x *= 0.5);
        e = product(n, &e, &e);
    }
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        e[i * n + j] *= scale[i] / scale[j];
        phi[i * n + j] *= h * scale[i] / scale[j];
    }
    (e, phi)
}

/// `D⁻¹ Z D` with powers of two in D, so that rows and columns have like sums; returns D.
fn balance(z: &mut [f64], n: usize) -> Vec<f64> {
    let mut scale = vec![1.0; n];
    // a handful of sweeps does for any matrix of a model
    for _ in 0..20 {
        let mut settled = true;
        for i in 0..n {
            let others = || (0..n).filter(|&j| j != i);
            let row: f64 = others().map(|j| z[i * n + j].abs()).sum();
            let column: f64 = others().map(|j| z[j * n + i].abs()).sum();
            if !(row > 0.0 && column > 0.0 && (row + column).is_finite()) {
                continue;
            }
            let f = (0.5 * (row / column).log2()).round().clamp(-500.0, 500.0).exp2();
            if f != 1.0 && column * f + row / f < 0.95 * (row + column) {
                settled = false;
                scale[i] *= f;
                for j in 0..n {
                    z[i * n + j] /= f;
                    z[j * n + i] *= f;
                }
            }
        }
        if settled {
            break;
        }
    }
    scale
}

fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for (row, out) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
        for (x, b) in row.iter().zip(b.chunks_exact(n)).filter(|(x, _)| **x != 0.0) {
            out.iter_mut().zip(b).for_each(|(o, b)| *o += x * b);
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oscillators_of_all_frequencies_turn_by_sine_and_cosine() {
        for omega in [1e-6, 1.0, 3e2, 1e5, 1e9] {
            for angle in [1e-9f64, 0.1, 3.0, 40.0] {
                let h = angle / omega;
                let (e, psi) = held(&[0.0, 1.0, -omega * omega, 0.0], 2, h);
                let (s, c) = angle.sin_cos();
                // in units of each entry
                let want = [c, s / omega, -s * omega, c];
                let units = [1.0, 1.0 / omega, omega, 1.0];
                for k in 0..4 {
                    assert!((e[k] - want[k]).abs() <= 3e-14 * units[k], "{omega} {angle}: {e:?} {want:?}");
                }
                let want = [s / omega, 2.0 * (0.5 * angle).sin().powi(2) / (omega * omega), -2.0 * (0.5 * angle).sin().powi(2), s / omega];
                let units = [1.0 / omega, 1.0 / (omega * omega), 1.0, 1.0 / omega];
                for k in 0..4 {
                    assert!((psi[k] - want[k]).abs() <= 3e-14 * units[k] * angle.max(1.0), "{omega} {angle}: {psi:?} {want:?}");
                }
            }
        }
    }

    #[test]
    fn a_nilpotent_matrix_has_a_series_that_ends() {
        let (e, psi) = held(&[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 3, 2.0);
        assert_eq!(e, [1.0, 2.0, 2.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0]);
        for (x, want) in psi.iter().zip([2.0, 2.0, 4.0 / 3.0, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0]) {
            assert!((x - want).abs() < 1e-15);
        }
    }

    #[test]
    fn two_half_steps_are_a_step_and_nothing_gives_the_identity() {
        let a: Vec<f64> = (0..16).map(|k| (1.7 * f64::from(k)).sin() * 10f64.powi(k % 5 - 2)).collect();
        let ((whole, psi), (half, psi_half)) = (held(&a, 4, 0.3), held(&a, 4, 0.15));
        let again = product(4, &half, &half);
        let held_twice = product(4, &half, &psi_half);
        let size = whole.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        for k in 0..16 {
            assert!((whole[k] - again[k]).abs() < 1e-13 * size);
            assert!((psi[k] - psi_half[k] - held_twice[k]).abs() < 1e-13 * size);
        }
        let (e, psi) = held(&[0.0; 4], 2, 0.5);
        assert_eq!((e, psi), (vec![1.0, 0.0, 0.0, 1.0], vec![0.5, 0.0, 0.0, 0.5]));
        assert!(held(&[f64::INFINITY], 1, 1.0).0[0].is_nan() || held(&[f64::INFINITY], 1, 1.0).0[0].is_infinite());
    }
}
