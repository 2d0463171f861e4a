//! The matrices of one node that does not change: what a step of its integrator multiplies states, loads and multipliers with.

use super::ClusterError;
use super::linear::Given;
use super::node::{Node, System, buffer, evaluate};
use crate::algebra::exponential::held;
use crate::algebra::factor::Lu;
use crate::model::integrator::Integrator;
use crate::model::operator::{At, Operator};

/// Full `n × n` value of a constant operator.
fn full(op: &Operator, n: usize) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    op.matrix(&At::default(), n, &mut a);
    a
}

fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    // a system without states has no rows
    for (row, out) in a.chunks_exact(n.max(1)).zip(c.chunks_exact_mut(n.max(1))) {
        for (x, b) in row.iter().zip(b.chunks_exact(n)).filter(|(x, _)| **x != 0.0) {
            out.iter_mut().zip(b).for_each(|(o, b)| *o += x * b);
        }
    }
    c
}

fn combine(n: usize, terms: &[(f64, &[f64])]) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for (factor, a) in terms {
        c.iter_mut().zip(*a).for_each(|(c, a)| *c += factor * a);
    }
    c
}

fn identity(n: usize) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    (0..n).for_each(|i| a[i * (n + 1)] = 1.0);
    a
}

/// The inverse of a matrix; its own diagonal where it is diagonal, so that nothing is rounded twice.
fn inverse(n: usize, a: &[f64], node: &Node, what: &'static str, t: f64) -> Result<Vec<f64>, ClusterError> {
    let mut lu = Lu::default();
    let singular = || ClusterError::Singular { system: node.name.clone(), matrix: what, time: t };
    if !lu.factor(n, |i, row| row.copy_from_slice(&a[i * n..(i + 1) * n])) {
        return Err(singular());
    }
    let mut out = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    for j in 0..n {
        column.fill(0.0);
        column[j] = 1.0;
        lu.solve(&mut column);
        (0..n).for_each(|i| out[i * n + j] = column[i]);
    }
    Ok(out)
}

/// The matrices of one node, n × n each.
#[derive(Default)]
pub(super) struct Products {
    pub(super) phi: Vec<f64>,
    pub(super) phi_q: Vec<f64>,
    pub(super) gamma_1: Vec<f64>,
    pub(super) gamma_0: Vec<f64>,
    pub(super) gamma_r: Vec<f64>,
    /// velocities per multiplier's generalised input
    pub(super) response: Vec<f64>,
    pub(super) given: Vec<f64>,
}

impl Products {
    pub(super) fn first_order(node: &Node, h: f64, t: f64) -> Result<Self, ClusterError> {
        let System::FirstOrder(s) = &node.system else { return Ok(Self::default()) };
        let n = node.nv;
        let a = full(&s.a, n);
        let m = if s.m.is_zero() { identity(n) } else { full(&s.m, n) };
        match node.integrator {
            Integrator::EulerMoreau { theta, gamma } => {
                let w = inverse(n, &combine(n, &[(1.0, &m), (-h * theta, &a)]), node, "M − hθA", t)?;
                let scaled = |factor: f64| combine(n, &[(factor, &w)]);
                Ok(Self {
                    phi: product(n, &w, &combine(n, &[(1.0, &m), (h * (1.0 - theta), &a)])),
                    gamma_1: scaled(h * theta),
                    gamma_0: scaled(h * (1.0 - theta)),
                    gamma_r: scaled(h * (1.0 - gamma)),
                    response: scaled(h * gamma),
                    ..Self::default()
                })
            }
            _ => {
                let m = inverse(n, &m, node, "M", t)?;
                let (phi, psi) = held(&product(n, &m, &a), n, h);
                let gamma = product(n, &psi, &m);
                Ok(Self { phi, response: gamma.clone(), gamma_1: gamma, ..Self::default() })
            }
        }
    }

    /// Moreau–Jean; rows of prescribed velocities are those of the identity.
    pub(super) fn moreau_jean(node: &Node, theta: f64, h: f64, t: f64, given: &mut Vec<Given>, at: usize) -> Result<Self, ClusterError> {
        let System::Lagrangian(s) = &node.system else { return Ok(Self::default()) };
        let n = node.nv;
        let (m, c, k) = (full(&s.mass, n), full(&s.damping, n), full(&s.stiffness, n));
        let w = combine(n, &[(1.0, &m), (h * theta, &c), (h * h * theta * theta, &k)]);
        let (c, k) = (combine(n, &[(h, &c), (h * h * theta, &k)]), combine(n, &[(h, &k)]));
        let row = |a: &[f64], i: usize| a[i * n..(i + 1) * n].to_vec();
        let mut held = w.clone();
        for (place, p) in s.prescribed.iter().enumerate() {
            let i = p.index;
            given.push(Given { node: at, index: i, prescription: place, w: row(&w, i), c: row(&c, i), k: row(&k, i) });
            held[i * n..(i + 1) * n].fill(0.0);
            held[i * (n + 1)] = 1.0;
        }
        let inverse = inverse(n, &held, node, "M + hθC + h²θ²K", t)?;
        // columns of what is given belong to the given values, the others to forces
        let (mut forces, mut values) = (inverse.clone(), vec![0.0; n * n]);
        for p in &s.prescribed {
            for i in 0..n {
                values[i * n + p.index] = std::mem::take(&mut forces[i * n + p.index]);
            }
        }
        let negative = |a: &[f64]| {
            let mut out = product(n, &forces, a);
            out.iter_mut().for_each(|x| *x = -*x);
            out
        };
        let mut phi = negative(&c);
        phi.iter_mut().zip(&values).for_each(|(p, v)| *p -= v);
        let scaled = |factor: f64| combine(n, &[(factor, &forces)]);
        Ok(Self {
            phi,
            phi_q: negative(&k),
            gamma_1: scaled(h * theta),
            gamma_0: scaled(h * (1.0 - theta)),
            response: forces.clone(),
            given: values,
            ..Self::default()
        })
    }

    /// `q⁺ = tr(E) q − det(E) q⁻ + κ f/m` for each mode, with E the flow of the mode over h; v is `(q − q⁻)/h`.
    pub(super) fn modal(node: &Node, h: f64) -> Self {
        let System::Lagrangian(s) = &node.system else { return Self::default() };
        let n = node.nv;
        let (m, c, k) = (full(&s.mass, n), full(&s.damping, n), full(&s.stiffness, n));
        let mut out = Self { phi: vec![0.0; n * n], phi_q: vec![0.0; n * n], gamma_0: vec![0.0; n * n], ..Self::default() };
        out.response = vec![0.0; n * n];
        for i in (0..n).map(|i| i * (n + 1)) {
            let mode = Mode::new(m[i], c[i], k[i], h);
            out.phi[i] = mode.det - 1.0;
            out.phi_q[i] = mode.on_q;
            out.gamma_0[i] = mode.kappa / (h * m[i]);
            out.response[i] = mode.kappa / (h * h * m[i]);
        }
        out
    }
}

/// One mode over a step, without the cancellations of `E − 1 = A ψ`.
struct Mode {
    psi: Vec<f64>,
    /// det E
    det: f64,
    /// `(tr E − 1 − det E)/h = −det(E − 1)/h`
    on_q: f64,
    kappa: f64,
}

impl Mode {
    fn new(m: f64, c: f64, k: f64, h: f64) -> Self {
        let (w, s) = (k / m, c / m);
        let (_, psi) = held(&[0.0, 1.0, -w, -s], 2, h);
        let on_q = -w * (psi[0] * psi[3] - psi[1] * psi[2]) / h;
        let kappa = (w * psi[1] + s * psi[3]) * psi[1] + psi[3] * psi[3];
        Self { psi, det: libm::exp(-h * s), on_q, kappa }
    }
}

/// Modal systems have diagonal matrices.
pub(super) fn is_diagonal(node: &Node) -> bool {
    let System::Lagrangian(s) = &node.system else { return false };
    let n = node.nv;
    s.is_linear_invariant()
        && [&s.mass, &s.damping, &s.stiffness].iter().all(|op| full(op, n).iter().enumerate().all(|(k, x)| k / n == k % n || *x == 0.0))
}

/// The velocity `(q − q⁻)/h` of the exact solution that passes through (q, v): where a modal system starts.
pub(super) fn modal_start(node: &Node, t: f64, h: f64, q: &[f64], v: &mut [f64]) -> Result<(), ClusterError> {
    let System::Lagrangian(s) = &node.system else { return Ok(()) };
    let n = node.nv;
    let (m, c, k) = (full(&s.mass, n), full(&s.damping, n), full(&s.stiffness, n));
    let mut force = buffer(n);
    evaluate(&s.external, 1, &At { z: &s.z, ..At::time(t) }, &mut force, &node.name, "F_ext")?;
    if !s.weight.is_zero() {
        let mut own = buffer(n);
        node.weigh(s, &At::time(t), &mut own)?;
        force.iter_mut().zip(&own).for_each(|(f, w)| *f += w);
    }
    for i in 0..n {
        let d = i * (n + 1);
        // the exact end of the first step, and the v from which the scheme reaches it
        let mode = Mode::new(m[d], c[d], k[d], h);
        // what dies out within the first step would start from a v of that much more
        if mode.det < 1e-6 {
            let reason = "a mode dies out within a small part of a step; a shorter time step is needed";
            return Err(ClusterError::Setup(format!("{}: {reason}", node.name)));
        }
        let gained = mode.psi[2] * q[i] + mode.psi[3] * v[i] + mode.psi[1] * force[i] / m[d];
        v[i] = (gained / h - mode.on_q * q[i] - mode.kappa / (h * m[d]) * force[i]) / mode.det;
    }
    Ok(())
}
