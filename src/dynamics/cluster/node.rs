//! One dynamical system of a cluster: its operators, evaluated and checked.

use super::ClusterError;
use super::body::{RigidBody, coordinates, pose_of, rows_on_twist, velocity_of};
use super::differences::jacobian;
use super::examine::panics;
use crate::algebra::spatial::{Pose, rotate_exp};
use crate::model::dynamical_system::{FirstOrder, Lagrangian, PrescribedVelocity};
use crate::model::integrator::Integrator;
use crate::model::operator::{At, Operator};
use crate::model::watched::watched;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use smallvec::SmallVec;

/// Any system that a cluster can hold.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "circuits have no way more to go to their matrices")]
pub(super) enum System {
    /// `M ẋ = A x + b + f + r`
    FirstOrder(FirstOrder),
    /// `M q̈ + F_gyr + F_int + C q̇ + K q = F_ext + p`
    Lagrangian(Box<Lagrangian>),
    /// a rigid body
    Body(Box<RigidBody>),
}

/// True where two systems differ in states, parameters and results alone.
pub(super) fn same_first_order(a: &FirstOrder, b: &FirstOrder) -> bool {
    let sizes = a.x.len() == b.x.len() && a.z.len() == b.z.len();
    sizes && a.m == b.m && a.a == b.a && a.b == b.b && a.f == b.f && a.f_x == b.f_x
}

/// As [`same_first_order`].
pub(super) fn same_lagrangian(a: &Lagrangian, b: &Lagrangian) -> bool {
    let sizes = a.q.len() == b.q.len() && a.v.len() == b.v.len() && a.z.len() == b.z.len();
    let given = a.prescribed.len() == b.prescribed.len()
        && a.prescribed.iter().zip(&b.prescribed).all(|(a, b)| a.index == b.index && a.velocity == b.velocity);
    let linear = a.mass == b.mass && a.damping == b.damping && a.stiffness == b.stiffness && a.external == b.external;
    let gyroscopic = a.gyroscopic == b.gyroscopic && a.gyroscopic_q == b.gyroscopic_q && a.gyroscopic_v == b.gyroscopic_v;
    let internal = a.internal == b.internal && a.internal_q == b.internal_q && a.internal_v == b.internal_v;
    sizes && given && linear && gyroscopic && internal && a.weight == b.weight
}

/// A system and its place in the flat arrays.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) entity: Entity,
    pub(super) name: String,
    pub(super) system: System,
    pub(super) integrator: Integrator,
    /// acceleration of gravity that acts on it (m/s²)
    pub(super) gravity: DVec3,
    /// first coordinate (state, for first-order systems)
    pub(super) q0: usize,
    pub(super) nq: usize,
    /// first velocity (as `q0` for first-order systems)
    pub(super) v0: usize,
    pub(super) nv: usize,
}

/// Zeros on the stack where they are few.
#[inline]
pub(super) fn buffer(n: usize) -> SmallVec<[f64; 64]> {
    // in place: `smallvec![0.0; n]` copies all 64
    let mut zeros = SmallVec::new();
    zeros.resize(n, 0.0);
    zeros
}

/// A copy on the stack where it is short.
pub(super) fn buffer_of(x: &[f64]) -> SmallVec<[f64; 64]> {
    SmallVec::from_slice(x)
}

/// Evaluates an operator and checks what comes out.
pub(super) fn evaluate(
    op: &Operator,
    columns: usize,
    at: &At,
    out: &mut [f64],
    name: &str,
    what: &'static str,
) -> Result<(), ClusterError> {
    if let Operator::Function(function) = op {
        out.fill(0.0);
        // what unwinds from a function of the user would leave the step half done
        if let Err(said) = watched(|| function(at, out)) {
            return Err(panics(&said, at, name, what));
        }
    } else {
        op.matrix(at, columns, out);
    }
    if out.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(super::examine::not_finite(op, columns, at, out, name, what)) }
}

/// A prescribed velocity at a time.
pub(super) fn given_velocity(given: &PrescribedVelocity, t: f64, name: &str) -> Result<f64, ClusterError> {
    let what = "a prescribed velocity";
    let v = watched(|| given.velocity.at(t)).map_err(|said| panics(&said, &At::time(t), name, what))?;
    finite(&[v], t, name, what).map(|()| v)
}

/// An error where a value is not finite.
pub(super) fn finite(values: &[f64], t: f64, name: &str, what: &'static str) -> Result<(), ClusterError> {
    if values.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(ClusterError::NotFinite { system: name.to_string(), operator: what, time: t })
}

impl Node {
    /// `factor · (system's right-hand side at the state)` is added to `out`: `A x + b + f`, or all forces but those of relations.
    pub(super) fn add_flow(&self, t: f64, q: &[f64], v: &[f64], factor: f64, out: &mut [f64]) -> Result<(), ClusterError> {
        let n = self.nv;
        let mut term = buffer(n);
        let name = self.name.as_str();
        match &self.system {
            System::FirstOrder(s) => {
                let given = At { z: &s.z, ..At::time(t) };
                let at = At { x: q, ..given };
                if !s.a.is_zero() {
                    let mut a = buffer(n * n);
                    evaluate(&s.a, n, &given, &mut a, name, "A")?;
                    add_dense(factor, &a, q, out);
                }
                for (op, at, what) in [(&s.b, &given, "b"), (&s.f, &at, "f")] {
                    if !op.is_zero() {
                        evaluate(op, 1, at, &mut term, name, what)?;
                        out.iter_mut().zip(&term).for_each(|(o, x)| *o += factor * x);
                    }
                }
            }
            System::Lagrangian(s) => {
                let given = At { z: &s.z, ..At::time(t) };
                let at = At { q, v, ..given };
                let terms =
                    [(&s.external, &given, "F_ext", factor), (&s.internal, &at, "F_int", -factor), (&s.gyroscopic, &at, "F_gyr", -factor)];
                for (op, at, what, factor) in terms {
                    if !op.is_zero() {
                        evaluate(op, 1, at, &mut term, name, what)?;
                        out.iter_mut().zip(&term).for_each(|(o, x)| *o += factor * x);
                    }
                }
                for (op, x) in [(&s.damping, v), (&s.stiffness, q)] {
                    add_operator(op, -factor, n, x, out);
                }
                if !s.weight.is_zero() {
                    self.weigh(s, &at, &mut term)?;
                    out.iter_mut().zip(&term).for_each(|(o, x)| *o += factor * x);
                }
            }
            System::Body(body) => body.add_flow((t, q, v), self.gravity, factor, name, out)?,
        }
        Ok(())
    }

    /// w(q) g of a Lagrangian system.
    pub(super) fn weigh(&self, s: &Lagrangian, at: &At, out: &mut [f64]) -> Result<(), ClusterError> {
        let mut w = buffer(3 * self.nv);
        evaluate(&s.weight, 3, at, &mut w, &self.name, "w")?;
        out.iter_mut().zip(w.chunks_exact(3)).for_each(|(o, row)| *o = DVec3::from_slice(row).dot(self.gravity));
        Ok(())
    }

    /// M at the state, n × n.
    pub(super) fn mass(&self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ClusterError> {
        let n = self.nv;
        match &self.system {
            System::FirstOrder(s) if s.m.is_zero() => {
                out.fill(0.0);
                (0..n).for_each(|i| out[i * (n + 1)] = 1.0);
            }
            System::FirstOrder(s) => evaluate(&s.m, n, &At { z: &s.z, ..At::time(t) }, out, &self.name, "M")?,
            System::Lagrangian(s) => {
                evaluate(&s.mass, n, &At { q, v, z: &s.z, ..At::time(t) }, out, &self.name, "M")?;
                // constant ones were checked before; zeros show where they are singular
                if !s.mass.is_constant() && (0..n).any(|i| out[i * (n + 1)] < 0.0) {
                    let reason = "its diagonal holds a negative value; a positive definite matrix is needed".to_string();
                    return Err(ClusterError::Function { system: self.name.clone(), operator: "M", time: t, reason });
                }
            }
            System::Body(body) => {
                out.fill(0.0);
                (0..3).for_each(|i| out[i * 7] = body.inertia.mass);
                (0..3).for_each(|i| out[(3 + i) * 7] = body.inertia.principal[i]);
            }
        }
        Ok(())
    }

    /// Subtracts `w_v ∂flow/∂v + w_q ∂flow/∂q` from `out`, n × n; for first-order systems `w_q ∂flow/∂x` alone.
    pub(super) fn subtract_tangent(
        &self,
        t: f64,
        q: &mut [f64],
        v: &mut [f64],
        w_v: f64,
        w_q: f64,
        out: &mut [f64],
    ) -> Result<(), ClusterError> {
        let n = self.nv;
        let mut d = buffer(n * n);
        let name = self.name.as_str();
        match &self.system {
            System::FirstOrder(s) => {
                if !s.a.is_zero() {
                    evaluate(&s.a, n, &At { z: &s.z, ..At::time(t) }, &mut d, name, "A")?;
                    subtract(w_q, &d, out);
                }
                if !s.f.is_zero() {
                    if s.f_x.is_zero() {
                        jacobian(n, q, &mut d, |x, f| evaluate(&s.f, 1, &At { x, z: &s.z, ..At::time(t) }, f, name, "f"))?;
                    } else {
                        evaluate(&s.f_x, n, &At { x: q, z: &s.z, ..At::time(t) }, &mut d, name, "∂f/∂x")?;
                    }
                    subtract(w_q, &d, out);
                }
            }
            System::Lagrangian(s) => {
                let forces = [
                    (&s.internal, &s.internal_q, &s.internal_v, ["F_int", "∂F_int/∂q", "∂F_int/∂v"]),
                    (&s.gyroscopic, &s.gyroscopic_q, &s.gyroscopic_v, ["F_gyr", "∂F_gyr/∂q", "∂F_gyr/∂v"]),
                ];
                for (f, f_q, f_v, what) in forces {
                    if f.is_zero() {
                        continue;
                    }
                    // on the left of the equation: the flow holds −F
                    if f_q.is_zero() {
                        let v = &*v;
                        jacobian(n, q, &mut d, |q, out| evaluate(f, 1, &At { q, v, z: &s.z, ..At::time(t) }, out, name, what[0]))?;
                    } else {
                        evaluate(f_q, n, &At { q, v, z: &s.z, ..At::time(t) }, &mut d, name, what[1])?;
                    }
                    subtract(-w_q, &d, out);
                    if f_v.is_zero() {
                        let q = &*q;
                        jacobian(n, v, &mut d, |v, out| evaluate(f, 1, &At { q, v, z: &s.z, ..At::time(t) }, out, name, what[0]))?;
                    } else {
                        evaluate(f_v, n, &At { q, v, z: &s.z, ..At::time(t) }, &mut d, name, what[2])?;
                    }
                    subtract(-w_v, &d, out);
                }
                if !s.weight.is_constant() {
                    let v = &*v;
                    jacobian(n, q, &mut d, |q, out| self.weigh(s, &At { q, v, z: &s.z, ..At::time(t) }, out))?;
                    subtract(w_q, &d, out);
                }
                let at = At::default();
                for (op, w) in [(&s.damping, w_v), (&s.stiffness, w_q)] {
                    if !op.is_zero() {
                        op.matrix(&at, n, &mut d);
                        subtract(-w, &d, out);
                    }
                }
            }
            System::Body(body) => body.subtract_tangent((t, q, v), [w_v, w_q], name, out)?,
        }
        Ok(())
    }

    /// `q⁺ = q ⊕ h v`: plain sums, the exponential map for quaternions.
    pub(super) fn move_by(&self, q: &[f64], h: f64, v: &[f64], out: &mut [f64]) {
        if let System::Body(_) = self.system {
            let (pose, v) = (pose_of(q), velocity_of(v));
            let moved = Pose { position: pose.position + h * v.linear, rotation: rotate_exp(pose.rotation, h * v.angular) };
            out[..7].copy_from_slice(&coordinates(&moved));
        } else {
            out.iter_mut().zip(q).zip(v).for_each(|((o, q), v)| *o = q + h * v);
        }
    }

    /// Rows on velocities from rows on coordinates: the identity but for quaternions (`T(q)` of bodies).
    pub(super) fn rows_on_velocities(&self, q: &[f64], row: &[f64], out: &mut [f64]) {
        match self.system {
            System::Body(_) => rows_on_twist(q, row, out),
            _ => out.copy_from_slice(row),
        }
    }

    /// θ of the position update.
    pub(super) fn theta(&self) -> f64 {
        match self.integrator {
            Integrator::MoreauJean { theta, .. } | Integrator::EulerMoreau { theta, .. } | Integrator::SchatzmanPaoli { theta } => theta,
            Integrator::Modal { .. } | Integrator::ZeroOrderHold => 1.0,
            Integrator::Midpoint { .. } | Integrator::D1Minus { .. } => 0.5,
        }
    }

    /// Parameters z.
    pub(super) fn parameters(&self) -> &[f64] {
        match &self.system {
            System::FirstOrder(s) => &s.z,
            System::Lagrangian(s) => &s.z,
            System::Body(s) => &s.forces.z,
        }
    }
}

fn add_dense(factor: f64, a: &[f64], x: &[f64], out: &mut [f64]) {
    for (o, row) in out.iter_mut().zip(a.chunks_exact(x.len().max(1))) {
        *o += factor * row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

fn subtract(factor: f64, a: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(a).for_each(|(o, a)| *o -= factor * a);
}

/// `out += factor · A x` for a constant square operator.
fn add_operator(op: &Operator, factor: f64, n: usize, x: &[f64], out: &mut [f64]) {
    match op {
        Operator::Zero | Operator::Function(_) => {}
        Operator::Constant(a) => (0..n).for_each(|i| out[i] += factor * (0..n).map(|j| a[i * n + j] * x[j]).sum::<f64>()),
        Operator::Diagonal(d) => (0..n).for_each(|i| out[i] += factor * d[i] * x[i]),
        Operator::Sparse(entries) => entries.iter().for_each(|&(i, j, a)| out[i] += factor * a * x[j]),
    }
}
