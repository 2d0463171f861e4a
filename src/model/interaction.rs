//! Who is linked, and how: relations between dynamical systems, and joints between rigid bodies.

use super::law::Law;
use super::relation::Relation;
use bevy_ecs::prelude::{Component, Entity};
use glam::DVec3;

/// A point of each body stays together (Siconos: `KneeJointR`); without body 2, with a point of the world.
///
/// ```
/// use drystone::model::interaction::SphericalJoint;
/// # use bevy_ecs::prelude::*;
/// # let body = World::new().spawn_empty().id();
/// let pivot = SphericalJoint::new(body, None, [glam::DVec3::Z, glam::DVec3::ZERO]);
/// assert_eq!(pivot.gap, glam::DVec3::ZERO);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct SphericalJoint {
    /// First body.
    pub body1: Entity,
    /// Second body; `None` is the world.
    pub body2: Option<Entity>,
    /// The point in the frame of each body (m).
    pub anchors: [DVec3; 2],
    /// Impulse on body 1 in the last step (N s, world).
    pub reaction: DVec3,
    /// `anchor 1 − anchor 2` at the start of the last step (m, world).
    pub gap: DVec3,
}

impl SphericalJoint {
    /// A joint at rest.
    pub fn new(body1: Entity, body2: Option<Entity>, anchors: [DVec3; 2]) -> Self {
        Self { body1, body2, anchors, reaction: DVec3::ZERO, gap: DVec3::ZERO }
    }
}

/// One or two systems, what they share and the law that holds for it (Siconos: `Interaction`).
///
/// ```
/// use drystone::model::{interaction::Interaction, law::Law, relation::LagrangianLinear};
/// # use bevy_ecs::prelude::*;
/// # let ball = World::new().spawn_empty().id();
/// let floor = Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.9 });
/// assert_eq!((floor.relation.rows(), floor.active), (1, false));
/// ```
#[derive(Component, Clone, Debug)]
pub struct Interaction {
    /// The one or two systems, in the order in which the relation sees their states.
    pub systems: Vec<Entity>,
    /// y and what λ does.
    pub relation: Relation,
    /// What holds between y and λ.
    pub law: Law,
    /// Parameters Z of the relation.
    pub z: Vec<f64>,
    /// Output y at the end of the last step.
    pub y: Vec<f64>,
    /// Its rate at the end of the last step; empty for first-order systems.
    pub y_dot: Vec<f64>,
    /// Multipliers of the last step: impulses where the law is about the rate of y, forces (or inputs) where it is about y itself,
    /// N s² of Schatzman–Paoli.
    pub lambda: Vec<f64>,
    /// Multipliers of the projection of positions in the last step; empty without one.
    pub correction: Vec<f64>,
    /// Contact forces at the end of the last step of D1-minus; empty for other integrators.
    pub force: Vec<f64>,
    /// Whether it took part in the last step.
    pub active: bool,
}

impl Interaction {
    /// An interaction that has not acted yet.
    pub fn new(systems: impl Into<Vec<Entity>>, relation: impl Into<Relation>, law: Law) -> Self {
        let relation = relation.into();
        let rows = relation.rows();
        let y_dot = vec![0.0; if relation.is_second_order() { rows } else { 0 }];
        Self {
            systems: systems.into(),
            relation,
            law,
            z: Vec::new(),
            y: vec![0.0; rows],
            y_dot,
            lambda: vec![0.0; rows],
            correction: Vec::new(),
            force: Vec::new(),
            active: false,
        }
    }

    /// With parameters Z.
    pub fn with_parameters(self, z: impl Into<Vec<f64>>) -> Self {
        Self { z: z.into(), ..self }
    }
}
