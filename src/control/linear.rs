//! Linear plants and what they do in one period under a held input.

use super::{ControlError, finite, positive, size};
use crate::algebra::exponential::held;
use crate::numerics::inner::{Auto, ComplementaritySolver};
use crate::numerics::relay::Relay;

/// `ẋ = A x + B u`, n states and p inputs: the model that a law or observer has of its plant.
///
/// ```
/// use drystone::control::LinearModel;
/// let double_integrator = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2)?;
/// assert_eq!((double_integrator.states(), double_integrator.inputs()), (2, 1));
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    n: usize,
    p: usize,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl LinearModel {
    /// A plant of n states; A (n × n) and B (n × p) row by row.
    pub fn new(a: impl Into<Vec<f64>>, b: impl Into<Vec<f64>>, n: usize) -> Result<Self, ControlError> {
        let (a, b) = (a.into(), b.into());
        if n == 0 {
            return Err(ControlError::Size { what: "the state", found: 0, needed: "at least one".into() });
        }
        size("A", &a, n, n)?;
        if b.is_empty() || !b.len().is_multiple_of(n) {
            return Err(ControlError::Size { what: "B", found: b.len(), needed: format!("{n} for each input") });
        }
        let p = b.len() / n;
        size("B", &b, n, p)?;
        Ok(Self { n, p, a, b })
    }

    /// n
    pub fn states(&self) -> usize {
        self.n
    }

    /// p
    pub fn inputs(&self) -> usize {
        self.p
    }

    /// A, row by row.
    pub fn a(&self) -> &[f64] {
        &self.a
    }

    /// B, row by row.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// The same plant seen every `period` (s), u held in between.
    pub fn sampled(&self, period: f64) -> Result<Sampled, ControlError> {
        positive("the sampling period", period)?;
        let (phi, psi) = held(&self.a, self.n, period);
        let psi_b = product(&psi, &self.b, self.n, self.n, self.p);
        // an unstable plant may outgrow all numbers within a period
        size("e^{Ah}", &phi, self.n, self.n)?;
        size("ΨB", &psi_b, self.n, self.p)?;
        Ok(Sampled { period, n: self.n, p: self.p, phi, psi, psi_b, next: vec![0.0; self.n] })
    }
}

/// `x⁺ = Φ x + Ψ B u` with `Φ = e^{Ah}`, `Ψ = ∫₀ʰ e^{As} ds`: exact while u is held.
///
/// ```
/// use drystone::control::LinearModel;
/// let mut plant = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2)?.sampled(0.5)?;
/// let mut x = [1.0, 2.0];
/// plant.advance(&mut x, &[4.0]);
/// assert_eq!(x, [2.5, 4.0]);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    period: f64,
    n: usize,
    p: usize,
    /// Φ, n × n.
    pub phi: Vec<f64>,
    /// Ψ, n × n.
    pub psi: Vec<f64>,
    /// Ψ B, n × p.
    pub psi_b: Vec<f64>,
    next: Vec<f64>,
}

impl Sampled {
    /// The period (s).
    pub fn period(&self) -> f64 {
        self.period
    }

    /// One period under the input u.
    pub fn advance(&mut self, x: &mut [f64], u: &[f64]) {
        multiply(&self.phi, x, &mut self.next);
        add(&self.psi_b, u, &mut self.next);
        x.copy_from_slice(&self.next);
    }

    /// One period under u and a disturbance b of ẋ, both held.
    pub fn advance_disturbed(&mut self, x: &mut [f64], u: &[f64], b: &[f64]) {
        multiply(&self.phi, x, &mut self.next);
        add(&self.psi_b, u, &mut self.next);
        add(&self.psi, b, &mut self.next);
        x.copy_from_slice(&self.next);
    }

    /// n
    pub fn states(&self) -> usize {
        self.n
    }

    /// p
    pub fn inputs(&self) -> usize {
        self.p
    }
}

/// `A B`, A of r × m and B of m × c.
pub(super) fn product(a: &[f64], b: &[f64], r: usize, m: usize, c: usize) -> Vec<f64> {
    let mut out = vec![0.0; r * c];
    for i in 0..r {
        for j in 0..c {
            out[i * c + j] = (0..m).map(|k| a[i * m + k] * b[k * c + j]).sum();
        }
    }
    out
}

/// `y = A x`
pub(super) fn multiply(a: &[f64], x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    add(a, x, y);
}

/// `y += A x`
pub(super) fn add(a: &[f64], x: &[f64], y: &mut [f64]) {
    if !x.is_empty() {
        a.chunks_exact(x.len()).zip(y).for_each(|(row, y)| *y += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>());
    }
}

/// True where the symmetric part of M (order p) is positive definite.
pub(super) fn is_positive(m: &[f64], p: usize) -> bool {
    let mut symmetric: Vec<f64> = (0..p * p).map(|k| 0.5 * (m[k] + m[(k % p) * p + k / p])).collect();
    crate::algebra::dense::cholesky(&mut symmetric, p)
}

/// `−(M z + q) ∈ N_[−α, α](z)`, with the statement and buffers of the last solve; M is positive definite in its symmetric part.
#[derive(Clone, Debug)]
pub(super) struct SetValued {
    pub(super) relay: Relay,
    w: Vec<f64>,
    solver: Auto,
}

impl SetValued {
    pub(super) fn new(m: Vec<f64>, p: usize, bound: f64) -> Self {
        let m = crate::algebra::matrix::Matrix::dense(p, p, m);
        let relay = Relay { m, q: vec![0.0; p], lower: vec![-bound; p], upper: vec![bound; p] };
        Self { relay, w: vec![0.0; p], solver: Auto { tolerance: 1e-12, ..Auto::default() } }
    }

    /// z for the q in `relay`; true where it meets the tolerance.
    pub(super) fn solve(&mut self, z: &mut [f64]) -> bool {
        if let ([q], [m]) = (&self.relay.q[..], self.relay.m.values()) {
            z[0] = (-q / m).clamp(self.relay.lower[0], self.relay.upper[0]);
            return z[0].is_finite();
        }
        if !finite(&self.relay.q) {
            z.fill(f64::NAN);
            return false;
        }
        // numbers that are not normal have too few digits for a tolerance: a loop that dies away ends among them
        if self.relay.q.iter().all(|q| q.abs() < f64::MIN_POSITIVE) {
            z.fill(0.0);
            return true;
        }
        self.solver.solve(&self.relay, z, &mut self.w).converged()
    }
}
