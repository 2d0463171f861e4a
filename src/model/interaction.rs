//! Who is linked, and how: linear relations between Lagrangian systems, and joints between rigid bodies.

use super::law::{ConstantLaw, Law};
use super::relation::Relation;
use bevy_ecs::prelude::{Component, Entity};
use glam::DVec3;

/// A linear relation with a law (Siconos: `LagrangianLinearTIR` in an `ConstantInteraction`).
///
/// ```text
/// y = H₁ q₁ + H₂ q₂ + e        u = H₁ v₁ + H₂ v₂        law on u;  active by the first row of y
/// ```
///
/// ```
/// use drystone::model::{interaction::ConstantInteraction, law::ConstantLaw};
/// # use bevy_ecs::prelude::*;
/// # let ball = World::new().spawn_empty().id();
/// let floor = ConstantInteraction::new([Some(ball), None], [vec![1.0, 0.0], vec![]], vec![0.0], ConstantLaw::NewtonImpact { e: 0.9 });
/// assert_eq!(floor.rows(), 1);
/// ```
#[derive(Component, Clone, Debug, PartialEq)]
pub struct ConstantInteraction {
    /// The systems that are linked.
    pub systems: [Option<Entity>; 2],
    /// Row-major `rows × dofs` Jacobians, one per system; empty for `None`.
    pub jacobians: [Vec<f64>; 2],
    /// Constant part of the output, one per row.
    pub offset: Vec<f64>,
    /// The law.
    pub law: ConstantLaw,
    /// Output at the start of the last step.
    pub y: Vec<f64>,
    /// Impulses of the last step, the guess for the next.
    pub reaction: Vec<f64>,
    /// Whether the rows took part in the last step.
    pub active: bool,
}

impl ConstantInteraction {
    /// A relation at rest.
    pub fn new(systems: [Option<Entity>; 2], jacobians: [Vec<f64>; 2], offset: Vec<f64>, law: ConstantLaw) -> Self {
        let rows = offset.len();
        Self { systems, jacobians, offset, law, y: vec![0.0; rows], reaction: vec![0.0; rows], active: false }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offset.len()
    }
}

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
    /// Multipliers of the last step: impulses for second-order systems.
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
