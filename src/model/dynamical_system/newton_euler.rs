//! Rigid bodies as general systems: any relation may hold them.

use crate::model::operator::Operator;
use bevy_ecs::prelude::Component;
use glam::{DMat3, DQuat, DVec3};

/// The axes in which a force or moment is given.
///
/// ```
/// assert_eq!(drystone::model::dynamical_system::Frame::default(), drystone::model::dynamical_system::Frame::Inertial);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frame {
    /// Axes at rest.
    #[default]
    Inertial,
    /// Axes of the body.
    Body,
}

/// A rigid body that relations of the user act on: `m v̇ = f + p`, `I ω̇ + ω × I ω = m + p_ω`, `q̇ = ½ q ⊗ ω`
/// (Siconos: `NewtonEulerDS` with a `NewtonEulerR`).
///
/// q holds seven values: position (inertial axes) and unit quaternion, scalar first, body to world. v holds six: velocity
/// (inertial axes) and angular velocity (body axes). Bodies that have a shape and meet others are
/// [`Body`](crate::simulation::Body) instead.
///
/// ```
/// use drystone::model::dynamical_system::{Frame, NewtonEuler};
/// let body = NewtonEuler::new(1.0, [0.1, 0.2, 0.3]).at([0.0, 0.0, 1.0]).with_force([0.0, 0.0, -9.81], Frame::Inertial);
/// assert!(body.validate().is_ok());
/// assert_eq!(body.q, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
/// ```
#[derive(Component, Clone, Debug)]
pub struct NewtonEuler {
    /// Position and quaternion, scalar first: the initial ones at first.
    pub q: Vec<f64>,
    /// Velocity (inertial axes) and angular velocity (body axes).
    pub v: Vec<f64>,
    /// kg
    pub mass: f64,
    /// Matrix of inertia in body axes, row by row (kg m²).
    pub inertia: [f64; 9],
    /// f(t, q, v, z), three values (N).
    pub force: Operator,
    /// Axes of `force`.
    pub force_frame: Frame,
    /// m(t, q, v, z), three values (N m).
    pub moment: Operator,
    /// Axes of `moment`.
    pub moment_frame: Frame,
    /// Parameters and inputs z.
    pub z: Vec<f64>,
    /// p of the last step, six values: the impulses of all interactions.
    pub p: Vec<f64>,
}

impl NewtonEuler {
    /// A body at rest at the origin with principal moments of inertia (kg m²), its axes those of the world.
    pub fn new(mass: f64, principal: [f64; 3]) -> Self {
        let [a, b, c] = principal;
        Self {
            q: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            v: vec![0.0; 6],
            mass,
            inertia: [a, 0.0, 0.0, 0.0, b, 0.0, 0.0, 0.0, c],
            force: Operator::Zero,
            force_frame: Frame::Inertial,
            moment: Operator::Zero,
            moment_frame: Frame::Body,
            z: Vec::new(),
            p: vec![0.0; 6],
        }
    }

    /// At this position (m).
    pub fn at(mut self, position: [f64; 3]) -> Self {
        self.q[..3].copy_from_slice(&position);
        self
    }

    /// With a quaternion, scalar first, and a twist.
    pub fn moving(mut self, quaternion: [f64; 4], twist: [f64; 6]) -> Self {
        self.q[3..].copy_from_slice(&quaternion);
        self.v = twist.to_vec();
        self
    }

    /// With a force in the given axes.
    pub fn with_force(self, force: impl Into<Operator>, frame: Frame) -> Self {
        Self { force: force.into(), force_frame: frame, ..self }
    }

    /// With a moment in the given axes.
    pub fn with_moment(self, moment: impl Into<Operator>, frame: Frame) -> Self {
        Self { moment: moment.into(), moment_frame: frame, ..self }
    }

    /// Changes the velocity by an impulse (N s) and an angular impulse (N m s), both in inertial axes: `m Δv = p`, `I Δω = Rᵀ l`.
    ///
    /// ```
    /// use drystone::model::dynamical_system::NewtonEuler;
    /// let mut body = NewtonEuler::new(2.0, [0.5; 3], [0.0; 3]);
    /// body.strike(glam::DVec3::X, glam::DVec3::Z);
    /// assert_eq!((body.v[0], body.v[5]), (0.5, 2.0));
    /// ```
    pub fn strike(&mut self, impulse: DVec3, angular: DVec3) {
        let turn = DQuat::from_xyzw(self.q[4], self.q[5], self.q[6], self.q[3]);
        let inertia = DMat3::from_cols_array(&self.inertia).transpose();
        let (linear, turned) = (impulse / self.mass, inertia.inverse() * (turn.inverse() * angular));
        let change = linear.to_array().into_iter().chain(turned.to_array());
        self.v.iter_mut().zip(change).for_each(|(v, dv)| *v += dv);
    }

    /// Checks sizes, mass, inertia and that the quaternion is a unit quaternion.
    pub fn validate(&self) -> Result<(), String> {
        Operator::from(self.q.as_slice()).validate("q", 7, 1)?;
        Operator::from(self.v.as_slice()).validate("v", 6, 1)?;
        self.force.validate("the force", 3, 1)?;
        self.moment.validate("the moment", 3, 1)?;
        if !(self.mass > 0.0 && self.mass.is_finite()) {
            return Err(format!("mass is {} kg; a positive number is needed", self.mass));
        }
        Operator::from(self.z.as_slice()).validate("z", self.z.len(), 1)?;
        let i = &self.inertia;
        let symmetric = [(1, 3), (2, 6), (5, 7)].iter().all(|&(a, b)| (i[a] - i[b]).abs() <= 1e-9 * (i[0] + i[4] + i[8]).abs());
        if !symmetric || crate::algebra::dense::inverse_spd(i, 3).is_none() {
            return Err("the matrix of inertia is not symmetric positive definite".into());
        }
        let norm = self.q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
        if (norm - 1.0).abs() > 1e-9 {
            return Err(format!("the quaternion has length {norm}; 1 is needed"));
        }
        Ok(())
    }
}
