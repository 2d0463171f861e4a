//! Rigid bodies (Siconos: `NewtonEulerDS`): the components of a body entity.
//!
//! ```text
//! m v̇ = f        I ω̇ + ω × I ω = m        ẋ = v,  q̇ = ½ q ⊗ ω
//! ```
//!
//! v in world axes, ω and I in the body frame, whose origin is the centre of mass and whose axes are principal.
//!
//! One set of components for every body, with a shape or without, whichever machine moves it: the problem of contacts, or, where the entity
//! has an [`Integrator`](super::integrator::Integrator) and neither shape nor a body in its island, a cluster. f and m are gravity
//! ([`GravityScale`]), [`AppliedForce`] and [`BodyForces`]. A matrix of inertia that is not diagonal is turned to its principal axes when the
//! body is made ([`NewtonEuler`](super::dynamical_system::NewtonEuler)), so that pose, ω, forces in body axes and the q and v that relations
//! and operators read are those of the principal axes throughout.

mod forces;

pub use forces::{BodyForces, Frame, GravityScale, Wrench};

use super::grid::GAUSS_2;
use crate::algebra::spatial::Pose;
use bevy_ecs::prelude::Component;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where a body is: centre of mass and principal axes in the world.
///
/// ```
/// use drystone::model::newton_euler::BodyPose;
/// assert_eq!(BodyPose::default().0.position, glam::DVec3::ZERO);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyPose(pub Pose);

/// How fast a body moves.
///
/// ```
/// use drystone::model::newton_euler::Velocity;
/// assert_eq!(Velocity::default().linear, glam::DVec3::ZERO);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Velocity {
    /// Of the centre of mass (m/s, world axes).
    pub linear: DVec3,
    /// Angular velocity (rad/s, body axes).
    pub angular: DVec3,
}

/// Mass and principal moments of inertia.
///
/// ```
/// use drystone::model::newton_euler::Inertia;
/// let ball = Inertia { mass: 2.0, principal: glam::DVec3::splat(0.4 * 2.0 * 0.01) };
/// assert!(ball.validate().is_ok());
/// assert!(Inertia { mass: 0.0, ..ball }.validate().is_err());
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// kg
    pub mass: f64,
    /// kg m², body axes.
    pub principal: DVec3,
}

impl Inertia {
    /// Mass and moments must be positive and finite.
    pub fn validate(&self) -> Result<(), String> {
        if !(self.mass > 0.0 && self.mass.is_finite()) {
            return Err(format!("mass is {} kg; a positive number is needed", self.mass));
        }
        let i = self.principal;
        if !(i.min_element() > 0.0 && i.is_finite()) {
            return Err(format!("the principal moments of inertia are {i} kg m²; three positive numbers are needed"));
        }
        Ok(())
    }

    /// Whether any rigid body has these principal moments (kg m²): positive, and none larger than the sum of the others.
    ///
    /// ```
    /// use drystone::model::newton_euler::Inertia;
    /// use glam::DVec3;
    /// assert!(Inertia::exists(DVec3::new(1.0, 1.0, 2.0)) && !Inertia::exists(DVec3::new(1.0, 1.0, 2.1)));
    /// ```
    pub fn exists(principal: DVec3) -> bool {
        // 1e-9: room for the rounding of flat bodies, whose largest moment is the sum of the others
        principal.is_finite() && principal.min_element() > 0.0 && 2.0 * principal.max_element() <= principal.element_sum() * (1.0 + 1e-9)
    }

    /// Kinetic energy (J) at a velocity: `½ (m ‖v‖² + ωᵀ I ω)`.
    ///
    /// ```
    /// use drystone::model::newton_euler::{Inertia, Velocity};
    /// use glam::DVec3;
    /// let wheel = Inertia { mass: 2.0, principal: DVec3::new(1.0, 1.0, 3.0) };
    /// assert_eq!(wheel.kinetic_energy(&Velocity { linear: DVec3::X, angular: 2.0 * DVec3::Z }), 1.0 + 6.0);
    /// ```
    pub fn kinetic_energy(&self, v: &Velocity) -> f64 {
        0.5 * (self.mass * v.linear.length_squared() + v.angular.dot(self.principal * v.angular))
    }
}

impl Velocity {
    /// Changes it by an impulse (N s) and an angular impulse (N m s), both in inertial axes: `m Δv = p`, `I Δω = Rᵀ l`.
    ///
    /// ```
    /// use drystone::model::newton_euler::{Inertia, Velocity};
    /// use glam::{DQuat, DVec3};
    /// let mut velocity = Velocity::default();
    /// velocity.strike(&Inertia { mass: 2.0, principal: DVec3::splat(0.5) }, DQuat::IDENTITY, DVec3::X, DVec3::Z);
    /// assert_eq!((velocity.linear.x, velocity.angular.z), (0.5, 2.0));
    /// ```
    pub fn strike(&mut self, inertia: &Inertia, rotation: DQuat, impulse: DVec3, angular: DVec3) {
        self.linear += impulse / inertia.mass;
        self.angular += (rotation.conjugate() * angular) / inertia.principal;
    }
}

/// A velocity given as a function of time: linear (m/s, world) and angular (rad/s, body axes). A step in which it panics is refused.
pub type Drive = Arc<dyn Fn(f64) -> (DVec3, DVec3) + Send + Sync>;

/// The mean velocity of a drive over a step of `h` (s) from `t` on, by two nodes of Gauss and Legendre: exact where it is a cubic.
pub(crate) fn mean_velocity(drive: &Drive, t: f64, h: f64) -> Velocity {
    let [from, to] = GAUSS_2.map(|[node, _]| drive(t + node * h));
    Velocity { linear: 0.5 * (from.0 + to.0), angular: 0.5 * (from.1 + to.1) }
}

/// Who decides how a body moves.
///
/// ```
/// use drystone::model::newton_euler::Motion;
/// let belt = Motion::Kinematic(std::sync::Arc::new(|_| (glam::DVec3::X, glam::DVec3::ZERO)));
/// assert!(!belt.is_dynamic() && Motion::Dynamic.is_dynamic());
/// ```
#[derive(Component, Clone, Default)]
pub enum Motion {
    /// Forces do.
    #[default]
    Dynamic,
    /// Nobody: it stays.
    Static,
    /// A given velocity does.
    Kinematic(Drive),
}

impl Motion {
    /// True for a body that forces move.
    pub fn is_dynamic(&self) -> bool {
        matches!(self, Self::Dynamic)
    }
}

impl std::fmt::Debug for Motion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dynamic => "Dynamic",
            Self::Static => "Static",
            Self::Kinematic(_) => "Kinematic",
        })
    }
}

/// World axes along which a body may not move, and about which it may not turn.
///
/// ```
/// use drystone::model::newton_euler::Locks;
/// let plane_xz = Locks { translation: [false, true, false], rotation: [true, false, true] };
/// assert_ne!(plane_xz, Locks::default());
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locks {
    /// Locked translations along x, y, z.
    pub translation: [bool; 3],
    /// Locked rotations about x, y, z.
    pub rotation: [bool; 3],
}

/// Force and torque on a body (world axes), until they are changed.
///
/// ```
/// use drystone::model::newton_euler::AppliedForce;
/// assert_eq!(AppliedForce::default().force, glam::DVec3::ZERO);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AppliedForce {
    /// N, at the centre of mass.
    pub force: DVec3,
    /// N m
    pub torque: DVec3,
}

/// What people call the body.
///
/// ```
/// assert_eq!(drystone::model::newton_euler::BodyName("keystone".into()).0, "keystone");
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyName(pub String);
