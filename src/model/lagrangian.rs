//! Lagrangian systems with constant matrices (Siconos: `LagrangianLinearTIDS` without damping and stiffness).
//!
//! ```text
//! M v̇ = f + p        q̇ = v
//! ```

use bevy_ecs::prelude::Component;

/// The constant operators of a system with any number of degrees of freedom.
///
/// ```
/// use drystone::model::lagrangian::ConstantLagrangian;
/// let particle = ConstantLagrangian::diagonal(&[2.0, 2.0], &[0.0, -19.62]);
/// assert_eq!(particle.mass, [2.0, 0.0, 0.0, 2.0]);
/// assert!(particle.validate().is_ok());
/// ```
#[derive(Component, Clone, Debug, PartialEq)]
pub struct ConstantLagrangian {
    /// M, row-major, symmetric positive definite.
    pub mass: Vec<f64>,
    /// f, one number per degree of freedom.
    pub force: Vec<f64>,
}

impl ConstantLagrangian {
    /// A system with a diagonal mass matrix.
    pub fn diagonal(mass: &[f64], force: &[f64]) -> Self {
        let n = mass.len();
        let mut full = vec![0.0; n * n];
        mass.iter().enumerate().for_each(|(i, m)| full[i * n + i] = *m);
        Self { mass: full, force: force.to_vec() }
    }

    /// Checks sizes and that M is positive definite.
    pub fn validate(&self) -> Result<(), String> {
        let n = self.force.len();
        if self.mass.len() != n * n {
            return Err(format!("the mass matrix holds {} numbers, but {n} degrees of freedom need {}", self.mass.len(), n * n));
        }
        if !self.mass.iter().chain(&self.force).all(|x| x.is_finite()) {
            return Err("mass or force holds a number that is not finite".into());
        }
        crate::algebra::dense::inverse_spd(&self.mass, n)
            .map(drop)
            .ok_or_else(|| "the mass matrix is not symmetric positive definite".into())
    }
}

/// State of a Lagrangian system.
///
/// ```
/// let s = drystone::model::lagrangian::Coordinates { q: vec![1.0], v: vec![0.0] };
/// assert_eq!(s.q.len(), s.v.len());
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// Generalized coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
}
