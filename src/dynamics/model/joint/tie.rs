//! Relations between bodies that are data, with the laws that are: what a scene file can state beside joints.

use super::{Coordinate, Freedom, Joint, JointKind};
use crate::algebra::spatial::Pose;
use crate::model::interaction::Interaction;
use crate::model::law::Law;
use crate::model::relation::{LagrangianLinear, Relation};
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What y is, of two bodies, or of a body and the world, where they stand. Places and axes are in the world.
///
/// ```
/// use drystone::model::joint::TieRelation;
/// use glam::DVec3;
/// let rod = TieRelation::Distance { anchors: [DVec3::ZERO, DVec3::X] };
/// assert_ne!(rod, TieRelation::Points { anchors: [DVec3::ZERO, DVec3::X] });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TieRelation {
    /// The way from a point of body 2 to one of body 1 (three rows), which is zero where they meet.
    Points {
        /// On body 1 and on body 2.
        anchors: [DVec3; 2],
    },
    /// The distance of two points.
    Distance {
        /// On body 1 and on body 2.
        anchors: [DVec3; 2],
    },
    /// The way of a point of body 1 along an axis that turns with body 2, from where it is at the start.
    Displacement {
        /// The point.
        anchor: DVec3,
        /// The axis.
        axis: DVec3,
    },
    /// The angle of body 1 against body 2 about an axis, counted over whole turns, from 0 at the start.
    Angle {
        /// A point of the axis.
        anchor: DVec3,
        /// The axis.
        axis: DVec3,
    },
    /// `a₁·(x₁ − x₁⁰) + a₂·(x₂ − x₂⁰)` of the centres of mass, x⁰ where they are at the start: pulleys, levers, balances.
    Linear {
        /// a₁ and a₂.
        factors: [DVec3; 2],
    },
}

/// What holds for y.
///
/// ```
/// use drystone::model::joint::TieLaw;
/// assert_ne!(TieLaw::Equality, TieLaw::Impact { restitution: 0.0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TieLaw {
    /// `y = 0`.
    Equality,
    /// `0 ≤ ẏ⁺ + e ẏ⁻ ⟂ r ≥ 0` where y closes: y does not fall below 0.
    Impact {
        /// e
        restitution: f64,
    },
    /// A force within bounds that holds the rate of y at 0: dry friction, a motor of limited force.
    Relay {
        /// N, or N m.
        bounds: [f64; 2],
    },
    /// `−k y − c ẏ`, at most the limit.
    Spring {
        /// k (N/m, or N m/rad).
        stiffness: f64,
        /// c (N s/m, or N m s/rad).
        damping: f64,
        /// Infinite for a plain spring.
        #[serde(default = "super::spec::endless", with = "super::spec::limit")]
        limit: f64,
    },
}

/// An interaction as people state it: `y = sign · (q − offset)`, with a rate of `q̇ − speed`.
///
/// ```
/// use drystone::model::joint::{TieLaw, TieRelation, TieSpec};
/// use glam::DVec3;
/// let bungee = TieSpec::new(TieRelation::Distance { anchors: [DVec3::ZERO, DVec3::Z] }, TieLaw::Spring { stiffness: 100.0, damping: 1.0, limit: f64::INFINITY });
/// assert!(bungee.validate().is_ok());
/// assert!(TieSpec { law: TieLaw::Equality, ..TieSpec::new(TieRelation::Angle { anchor: DVec3::ZERO, axis: DVec3::Z }, TieLaw::Equality) }.validate().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TieSpec {
    /// What q is.
    pub relation: TieRelation,
    /// What holds.
    pub law: TieLaw,
    /// Value of q at which y is zero (m or rad).
    pub offset: f64,
    /// Whether y grows where q falls: q then stays below the offset instead of above it.
    pub reversed: bool,
    /// Rate of q that counts as rest (m/s or rad/s): what a relay drives at, and the damper of a spring.
    pub speed: f64,
}

impl TieSpec {
    /// With y = q, but for a distance, whose offset is what it is at the start.
    pub fn new(relation: TieRelation, law: TieLaw) -> Self {
        let offset = match relation {
            TieRelation::Distance { anchors: [one, two] } => one.distance(two),
            _ => 0.0,
        };
        Self { relation, law, offset, reversed: false, speed: 0.0 }
    }

    /// Rows of y.
    pub fn rows(&self) -> usize {
        if matches!(self.relation, TieRelation::Points { .. }) { 3 } else { 1 }
    }

    /// Whether y is an angle.
    pub fn turns(&self) -> bool {
        matches!(self.relation, TieRelation::Angle { .. })
    }

    /// Checks the numbers, and that relation and law go together.
    pub fn validate(&self) -> Result<(), String> {
        let finite = |v: &[DVec3]| v.iter().all(|v| v.is_finite());
        let long = |axis: DVec3| axis.length() > f64::MIN_POSITIVE;
        let (good, what) = match &self.relation {
            TieRelation::Points { anchors } | TieRelation::Distance { anchors } => (finite(anchors), "places that are finite numbers"),
            TieRelation::Displacement { anchor, axis } | TieRelation::Angle { anchor, axis } => {
                (finite(&[*anchor, *axis]) && long(*axis), "a place and an axis with a length")
            }
            TieRelation::Linear { factors } => (finite(factors) && factors.iter().any(|a| long(*a)), "factors that are not all zero"),
        };
        if !good {
            return Err(format!("the relation is {:?}; it needs {what}", self.relation));
        }
        if !(self.offset.is_finite() && self.speed.is_finite()) {
            return Err(format!("offset is {}, speed {}; finite numbers are needed", self.offset, self.speed));
        }
        match (&self.relation, &self.law) {
            (TieRelation::Points { .. }, TieLaw::Equality) => {}
            (TieRelation::Points { .. }, _) => return Err("points that are tied take the law equality; a distance takes the others".into()),
            (TieRelation::Displacement { .. } | TieRelation::Angle { .. }, TieLaw::Equality) => {
                return Err("a coordinate that stays as it is is a joint: use a fixed or prismatic one, or the relation linear".into());
            }
            (TieRelation::Distance { .. }, _) if self.offset <= 0.0 => {
                return Err(format!("the distance is {} m; a positive number is needed", self.offset));
            }
            (TieRelation::Linear { .. }, TieLaw::Equality | TieLaw::Impact { .. }) if self.speed != 0.0 => {
                return Err("speed goes with relays and springs on a distance, a displacement or an angle".into());
            }
            (TieRelation::Linear { .. }, _) if self.speed != 0.0 => {
                return Err("a linear relation knows no speed; a distance, a displacement or an angle does".into());
            }
            (_, TieLaw::Equality | TieLaw::Impact { .. }) if self.speed != 0.0 => {
                return Err("speed goes with the laws relay and spring".into());
            }
            _ => {}
        }
        if let TieLaw::Impact { restitution } = self.law
            && !(0.0..=1.0).contains(&restitution)
        {
            return Err(format!("restitution is {restitution}; 0 to 1 is needed"));
        }
        self.law().validate(1).or_else(|reason| if matches!(self.law, TieLaw::Equality) { Ok(()) } else { Err(reason) })
    }

    fn law(&self) -> Law {
        match self.law {
            TieLaw::Equality => Law::Equality,
            TieLaw::Impact { restitution } => Law::NewtonImpact { e: restitution },
            TieLaw::Relay { bounds: [lower, upper] } => Law::Relay { lower, upper },
            TieLaw::Spring { stiffness, damping, limit } => Law::Spring { stiffness, damping, limit },
        }
    }

    /// The interaction between a body and another one, or the world, at the poses they have.
    pub fn interaction(&self, one: (Entity, Pose), two: Option<(Entity, Pose)>) -> Result<Interaction, String> {
        self.validate()?;
        let poses = [one.1, two.map_or(Pose::default(), |t| t.1)];
        let points = |anchors: [DVec3; 2]| [0, 1].map(|k| Pose::at(poses[k].local_point(anchors[k])));
        let sign = if self.reversed { -1.0 } else { 1.0 };
        let acting = |freedom, frames| -> Relation { Coordinate { sign, offset: self.offset, speed: self.speed, freedom, frames }.into() };
        let along = |anchor, axis| Joint::at(JointKind::Cylindrical, [&poses[0], &poses[1]], anchor, axis, None).frames;
        let relation = match (self.relation, self.law) {
            (TieRelation::Points { anchors }, _) => Joint { kind: JointKind::Spherical, frames: points(anchors) }.into(),
            (TieRelation::Distance { anchors }, TieLaw::Equality) => {
                Joint { kind: JointKind::Distance(self.offset), frames: points(anchors) }.into()
            }
            (TieRelation::Distance { anchors }, _) => acting(Freedom::Distance, points(anchors)),
            (TieRelation::Displacement { anchor, axis }, _) => acting(Freedom::Displacement, along(anchor, axis)),
            (TieRelation::Angle { anchor, axis }, _) => acting(Freedom::Angle, along(anchor, axis)),
            (TieRelation::Linear { factors }, _) => {
                let bodies = 1 + usize::from(two.is_some());
                let mut h = vec![0.0; 7 * bodies];
                let mut start = 0.0;
                for (k, part) in h.chunks_exact_mut(7).enumerate() {
                    part[..3].copy_from_slice(&(sign * factors[k]).to_array());
                    start += factors[k].dot(poses[k].position);
                }
                LagrangianLinear::new(h, [-sign * (start + self.offset)]).into()
            }
        };
        let systems: Vec<Entity> = std::iter::once(one.0).chain(two.map(|t| t.0)).collect();
        let mut made = Interaction::new(systems, relation, self.law());
        match &made.relation {
            Relation::Joint(joint) => joint.gap(&poses, &mut made.y),
            Relation::Coordinate(q) => made.y[0] = q.output(&poses, made.y[0]),
            _ => made.y[0] = 0.0 - sign * self.offset,
        }
        Ok(made)
    }
}
