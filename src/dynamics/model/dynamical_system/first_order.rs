//! First-order systems.

use crate::model::operator::Operator;
use bevy_ecs::prelude::Component;

/// `M ẋ = A(t) x + b(t, z) + f(t, x, z) + r` (Siconos: `FirstOrderLinearTIDS`, `FirstOrderLinearDS`, `FirstOrderNonLinearDS`).
///
/// Every term may be missing; with constant A and M and no f the system is linear and costs no Newton iteration.
///
/// ```
/// use drystone::model::{dynamical_system::FirstOrder, operator::Operator};
/// // an LC oscillator, x = (v, i), and the same with a source
/// let (l, c) = (1e-2, 1e-6);
/// let lc = FirstOrder::linear([0.0, -1.0 / c, 1.0 / l, 0.0], [10.0, 0.0]);
/// assert!(lc.validate().is_ok());
/// let driven = lc.with_input(Operator::function(move |at, b| b[1] = (50.0 * at.t).sin() / l));
/// assert!(!driven.b.is_constant());
/// let wrong = FirstOrder::linear([1.0, 2.0], [0.0, 0.0]);
/// assert_eq!(wrong.validate().unwrap_err(), "A holds 2 values, but 2 × 2 = 4 are needed");
/// ```
#[derive(Component, Clone, Debug, Default)]
pub struct FirstOrder {
    /// State, n values: the initial one at first. None where a relation `y = D λ + e` with its law is all there is.
    pub x: Vec<f64>,
    /// M, n × n, regular; `Zero` stands for the identity. A function may depend on t and z.
    pub m: Operator,
    /// A(t, z), n × n.
    pub a: Operator,
    /// b(t, z), n values.
    pub b: Operator,
    /// f(t, x, z), n values.
    pub f: Operator,
    /// ∂f/∂x, n × n; finite differences where it is `Zero` and f is there.
    pub f_x: Operator,
    /// Parameters and inputs z.
    pub z: Vec<f64>,
    /// r of the last step: what interactions put in.
    pub r: Vec<f64>,
}

impl FirstOrder {
    /// `ẋ = A x`, A row by row.
    pub fn linear(a: impl Into<Operator>, x: impl Into<Vec<f64>>) -> Self {
        Self { a: a.into(), x: x.into(), ..Self::default() }
    }

    /// `ẋ = f(t, x, z)`.
    pub fn nonlinear(f: impl Into<Operator>, x: impl Into<Vec<f64>>) -> Self {
        Self { f: f.into(), x: x.into(), ..Self::default() }
    }

    /// With b.
    #[must_use]
    pub fn with_input(self, b: impl Into<Operator>) -> Self {
        Self { b: b.into(), ..self }
    }

    /// With M.
    #[must_use]
    pub fn with_mass(self, m: impl Into<Operator>) -> Self {
        Self { m: m.into(), ..self }
    }

    /// With ∂f/∂x.
    #[must_use]
    pub fn with_jacobian(self, f_x: impl Into<Operator>) -> Self {
        Self { f_x: f_x.into(), ..self }
    }

    /// With parameters z.
    #[must_use]
    pub fn with_parameters(self, z: impl Into<Vec<f64>>) -> Self {
        Self { z: z.into(), ..self }
    }

    /// True where neither A nor M nor f is a function: one linear problem a step.
    pub fn is_linear_invariant(&self) -> bool {
        self.a.is_constant() && self.m.is_constant() && self.f.is_zero()
    }

    /// Checks sizes and that the constants are finite; the message names the operator.
    pub fn validate(&self) -> Result<(), String> {
        let n = self.x.len();
        Operator::from(self.x.as_slice()).validate("x", n, 1)?;
        self.m.validate("M", n, n)?;
        self.a.validate("A", n, n)?;
        self.b.validate("b", n, 1)?;
        self.f.validate("f", n, 1)?;
        self.f_x.validate("∂f/∂x", n, n)?;
        Operator::from(self.z.as_slice()).validate("z", self.z.len(), 1)
    }
}
