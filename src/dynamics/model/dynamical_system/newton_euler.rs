//! Rigid bodies in the making: mass, inertia, place and forces become the components that every body has.

use crate::algebra::spatial::{Pose, diagonalize};
use crate::model::newton_euler::{BodyForces, BodyPose, Frame, GravityScale, Inertia, Velocity};
use crate::model::operator::Operator;
use glam::{DMat3, DQuat, DVec3};

/// A rigid body that relations of the user hold, without a shape: `m v̇ = f + p`, `I ω̇ + ω × I ω = m + p_ω`, `q̇ = ½ q ⊗ ω`
/// (Siconos: `NewtonEulerDS` with a `NewtonEulerR`).
///
/// It is made of the components of any body ([`model::newton_euler`](crate::model::newton_euler)), which hold its state; with an integrator
/// beside them it moves in a cluster, unless a body with a shape is linked with it, be it through others: then it stands among the bodies of
/// the step until that is no longer so. [`components`](Self::components) are for plain commands of bevy.
///
/// Gravity acts on it where [`with_gravity`](Self::with_gravity) asks for it.
///
/// **Axes.** Place, turn and ω are given here in the axes of the matrix of inertia, and turned to its principal axes when the body is made:
/// pose, velocity, forces in [`Frame::Body`], and what relations and operators read in q and v, are those of the principal axes
/// from then on. [`axes`](Self::axes) leads from the given ones to these; for principal moments they are the same.
///
/// ```
/// use drystone::prelude::*;
/// let mut sim = Simulation::default();
/// let body = NewtonEuler::new(1.0, DVec3::new(0.1, 0.2, 0.3)).at(DVec3::Z).with_force([0.0, 0.0, -9.81], Frame::Inertial);
/// let body = sim.spawn_system(body, Integrator::MOREAU_JEAN)?;
/// sim.run_until(0.1)?;
/// assert!(sim.world().get::<BodyPose>(body).is_some_and(|pose| (pose.0.position.z - 1.0 + 0.5 * 9.81 * 0.01).abs() < 1e-9));
/// // the same by commands
/// let parts = NewtonEuler::new(1.0, DVec3::ONE).components()?;
/// sim.world_mut().spawn((parts, Integrator::MOREAU_JEAN));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NewtonEuler {
    /// kg
    pub mass: f64,
    /// Matrix of inertia about the centre of mass (kg m²).
    pub inertia: DMat3,
    /// Centre of mass, and the axes of the matrix of inertia.
    pub pose: Pose,
    /// Velocity of the centre of mass (m/s, inertial axes).
    pub linear: DVec3,
    /// Angular velocity (rad/s, axes of the matrix of inertia).
    pub angular: DVec3,
    /// Forces and moments.
    pub forces: BodyForces,
    /// Part of the scene's gravity that acts on it.
    pub gravity: GravityScale,
}

/// The components that a [`NewtonEuler`] becomes.
pub type NewtonEulerParts = (BodyPose, Velocity, Inertia, BodyForces, GravityScale);

impl NewtonEuler {
    /// A body at rest at the origin with principal moments of inertia (kg m²), its axes those of the world.
    pub fn new(mass: f64, principal: DVec3) -> Self {
        Self {
            mass,
            inertia: DMat3::from_diagonal(principal),
            pose: Pose::IDENTITY,
            linear: DVec3::ZERO,
            angular: DVec3::ZERO,
            forces: BodyForces::default(),
            gravity: GravityScale(0.0),
        }
    }

    /// With a full matrix of inertia (kg m²), symmetric, in axes of which place, turn and ω are given.
    ///
    /// ```
    /// use drystone::model::dynamical_system::NewtonEuler;
    /// use glam::{DMat3, DVec3};
    /// let matrix = DMat3::from_cols_array(&[0.1, 0.1, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 1.0]);
    /// let body = NewtonEuler::new(1.0, DVec3::ONE).inertia(matrix);
    /// let (axes, parts) = (DMat3::from_quat(body.axes()), body.components()?);
    /// let again = axes * DMat3::from_diagonal(parts.2.principal) * axes.transpose();
    /// assert!((again - matrix).to_cols_array().iter().all(|x| x.abs() < 1e-15));
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn inertia(self, inertia: DMat3) -> Self {
        Self { inertia, ..self }
    }

    /// At this position (m).
    #[must_use]
    pub fn at(self, position: DVec3) -> Self {
        Self { pose: Pose { position, ..self.pose }, ..self }
    }

    /// Turned from the axes of the world.
    #[must_use]
    pub fn turned(self, rotation: DQuat) -> Self {
        Self { pose: Pose { rotation, ..self.pose }, ..self }
    }

    /// With a velocity of its centre of mass (m/s, inertial axes).
    #[must_use]
    pub fn moving(self, linear: DVec3) -> Self {
        Self { linear, ..self }
    }

    /// With an angular velocity (rad/s, axes of the body as they are given).
    #[must_use]
    pub fn spinning(self, angular: DVec3) -> Self {
        Self { angular, ..self }
    }

    /// With a force in the given axes.
    #[must_use]
    pub fn with_force(self, force: impl Into<Operator>, frame: Frame) -> Self {
        Self { forces: self.forces.with_force(force, frame), ..self }
    }

    /// With a moment in the given axes.
    #[must_use]
    pub fn with_moment(self, moment: impl Into<Operator>, frame: Frame) -> Self {
        Self { forces: self.forces.with_moment(moment, frame), ..self }
    }

    /// With these forces and moments, tangents and parameters.
    #[must_use]
    pub fn with_forces(self, forces: BodyForces) -> Self {
        Self { forces, ..self }
    }

    /// With parameters z of its forces.
    #[must_use]
    pub fn with_parameters(self, z: impl Into<Vec<f64>>) -> Self {
        Self { forces: self.forces.with_parameters(z), ..self }
    }

    /// Gravity acts on it as on any body.
    #[must_use]
    pub fn with_gravity(self) -> Self {
        Self { gravity: GravityScale(1.0), ..self }
    }

    /// The principal axes in those of the matrix of inertia.
    pub fn axes(&self) -> DQuat {
        diagonalize(self.inertia).1
    }

    /// Checks mass, inertia, place and forces.
    pub fn validate(&self) -> Result<(), String> {
        self.components().map(drop)
    }

    /// What an entity needs to be this body, in its principal axes.
    pub fn components(&self) -> Result<NewtonEulerParts, String> {
        let Self { pose, linear, angular, .. } = self;
        if !(pose.is_finite() && linear.is_finite() && angular.is_finite() && self.gravity.0.is_finite()) {
            return Err("pose, velocity and gravity must be finite numbers".into());
        }
        if !(self.mass > 0.0 && self.mass.is_finite()) {
            return Err(format!("mass is {} kg; a positive number is needed", self.mass));
        }
        let norm = pose.rotation.length();
        if (norm - 1.0).abs() > 1e-9 {
            return Err(format!("the quaternion has length {norm}; 1 is needed"));
        }
        let i = &self.inertia;
        let trace = i.x_axis.x + i.y_axis.y + i.z_axis.z;
        let symmetric = i.is_finite() && (*i - i.transpose()).to_cols_array().iter().all(|x| x.abs() <= 1e-9 * trace.abs());
        let (principal, axes) = if symmetric { diagonalize(*i) } else { (DVec3::ZERO, DQuat::IDENTITY) };
        if !(principal.min_element() > 0.0 && axes.is_finite()) {
            return Err("the matrix of inertia is not symmetric positive definite".into());
        }
        self.forces.validate()?;
        let (pose, angular) = if axes == DQuat::IDENTITY {
            (*pose, *angular)
        } else {
            (Pose { rotation: (pose.rotation * axes).normalize(), ..*pose }, axes.conjugate() * *angular)
        };
        let inertia = Inertia { mass: self.mass, principal };
        Ok((BodyPose(pose), Velocity { linear: *linear, angular }, inertia, self.forces.clone(), self.gravity))
    }
}
