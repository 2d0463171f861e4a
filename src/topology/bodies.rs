//! The rows of the step: every rigid body in slot order, as flat arrays.

use crate::algebra::spatial::Pose;
use crate::model::newton_euler::{AppliedForce, Inertia, Locks, Velocity};
use crate::numerics::mixed::IMMOBILE;
use bevy_ecs::prelude::{Component, Entity, Resource};
use glam::{DQuat, DVec3};

/// Row of a rigid body in [`Bodies`]. Assigned at birth, reused after death, lowest first.
///
/// ```
/// use drystone::topology::bodies::Slot;
/// assert!(Slot(0) < Slot(1));
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Free rotation over a step.
///
/// ```
/// let still = drystone::topology::bodies::Turn::default();
/// assert_eq!(still.rotation, glam::DQuat::IDENTITY);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// Angular velocity at the end (rad/s, body axes).
    pub angular: DVec3,
    /// From the axes of the body at the end to those at the start.
    pub rotation: DQuat,
}

/// A body as the kernels see it.
///
/// ```
/// assert!(!drystone::topology::bodies::Body::default().alive);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Body {
    /// Its entity; `None` for a free slot.
    pub entity: Option<Entity>,
    /// False for a free slot.
    pub alive: bool,
    /// Pose at the start of the step.
    pub pose: Pose,
    /// Velocity at the start of the step.
    pub velocity: Velocity,
    /// Pose at the end of the step.
    pub new_pose: Pose,
    /// Velocity at the end of the step.
    pub new_velocity: Velocity,
    /// Pose at which rows and world inertia are evaluated.
    pub frame: Pose,
    /// Velocity at the end of the step from which a pass of a nonlinear step works out its frames (angular in body axes), and by how much
    /// what it found was another.
    pub guess: Velocity,
    /// See `guess`.
    pub missed: Velocity,
    /// Mass and inertia; none for an immobile body.
    pub inertia: Option<Inertia>,
    /// Locked axes.
    pub locks: Locks,
    /// All loads but gravity (N, N m; world).
    pub load: AppliedForce,
    /// Impulse given in this step (N s, N m s; world).
    pub blow: AppliedForce,
    /// Gyroscopic torque of the step (N m, body axes).
    pub gyroscopic: DVec3,
    /// Free rotation of the step, where it is worked out in substeps.
    pub turn: Option<Turn>,
    /// Whether a reaction acts on it in this step.
    pub reacted: bool,
    /// Part of the step at whose end it waits for the next one, as something is in its way that no row holds.
    pub waits: f64,
    /// Velocity (angular in body axes) that loads have given it for that part, taken back.
    pub returned: Velocity,
    /// Index among the mobile bodies, or [`IMMOBILE`].
    pub row: u32,
}

/// All bodies of the step.
///
/// ```
/// assert_eq!(drystone::topology::bodies::Bodies::default().rows.len(), 0);
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct Bodies {
    /// One per slot.
    pub rows: Vec<Body>,
    /// Slot of each mobile body.
    pub mobile: Vec<u32>,
}

impl Bodies {
    /// Numbers the mobile bodies in slot order.
    pub fn number(&mut self) {
        self.mobile.clear();
        for (slot, body) in self.rows.iter_mut().enumerate() {
            body.row = IMMOBILE;
            if body.alive && body.inertia.is_some() {
                body.row = self.mobile.len() as u32;
                self.mobile.push(slot as u32);
            }
        }
    }
}
