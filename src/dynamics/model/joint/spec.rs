//! A joint as people state it: a kind, a place and an axis in the world, and what acts on its coordinate.

use super::{Coordinate, Freedom, Joint, JointKind};
use crate::algebra::spatial::Pose;
use crate::model::interaction::Interaction;
use crate::model::law::Law;
use crate::model::relation::Relation;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A motor that holds a speed as long as its effort does.
///
/// ```
/// let motor = drystone::model::joint::Motor { speed: 1.0, limit: 20.0 };
/// assert!(motor.limit > 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motor {
    /// Of body 1 against body 2 (rad/s or m/s).
    pub speed: f64,
    /// Largest torque (N m) or force (N).
    pub limit: f64,
}

/// Coulomb's friction under the force that the joint itself carries across its axis, see [`Law::Bearing`].
///
/// ```
/// let shaft = drystone::model::joint::Bearing { mu: 0.1, radius: 0.01 };
/// // 50 N on it are held by up to 0.05 N m
/// assert!((shaft.mu * shaft.radius * 50.0 - 0.05_f64).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bearing {
    /// Coefficient of friction.
    pub mu: f64,
    /// Where it rubs on what turns, from the axis (m); 0 for a way, which has none.
    pub radius: f64,
}

/// A spring with a damper on the coordinate of a joint; with a limit a servo, which pulls to a position.
///
/// ```
/// use drystone::model::joint::Spring;
/// assert!(Spring { stiffness: 100.0, damping: 1.0, ..Spring::default() }.limit.is_infinite());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// N m/rad or N/m.
    pub stiffness: f64,
    /// N m s/rad or N s/m.
    pub damping: f64,
    /// Coordinate at which it gives nothing (rad or m).
    pub rest: f64,
    /// Largest torque (N m) or force (N).
    #[serde(default = "endless", with = "limit")]
    pub limit: f64,
}

pub(super) fn endless() -> f64 {
    f64::INFINITY
}

/// An endless limit is none: JSON has no infinity, and formats without names of fields can leave nothing out.
pub(super) mod limit {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(limit: &f64, to: S) -> Result<S::Ok, S::Error> {
        Some(*limit).filter(|l| l.is_finite()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}

impl Default for Spring {
    fn default() -> Self {
        Self { stiffness: 0.0, damping: 0.0, rest: 0.0, limit: f64::INFINITY }
    }
}

/// A joint to be made where bodies stand.
///
/// ```
/// use drystone::model::joint::{JointKind, JointSpec};
/// use glam::DVec3;
/// let hinge = JointSpec::new(JointKind::Revolute).at(DVec3::X).axis(DVec3::Z).between(0.0, 1.5).friction(0.2).motor(1.0, 20.0);
/// assert!(hinge.validate().is_ok());
/// assert!(JointSpec::new(JointKind::Fixed).friction(1.0).validate().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointSpec {
    /// What it leaves free.
    pub kind: JointKind,
    /// Where (m, world); of [`JointKind::Distance`] the point of body 1.
    pub anchor: DVec3,
    /// The point of body 2 of a distance (m, world).
    pub anchor2: DVec3,
    /// Axis (world); that of body 1 of a Cardan cross.
    pub axis: DVec3,
    /// The other axis of a Cardan cross.
    pub across: Option<DVec3>,
    /// A distance that may also be less: a rope.
    pub slack: bool,
    /// Range of the coordinate (rad or m), which is 0 where the bodies stand now.
    pub limits: Option<[f64; 2]>,
    /// Restitution at the ends of the range, or of a rope.
    pub restitution: f64,
    /// Torque (N m) or force (N) of dry friction.
    pub friction: f64,
    /// Friction under the force in the joint.
    #[serde(default)]
    pub bearing: Option<Bearing>,
    /// What drives it.
    pub motor: Option<Motor>,
    /// What holds it elastically; a distance with a spring is a spring of that length and no rod.
    pub spring: Option<Spring>,
    /// What drives it to a position.
    pub servo: Option<Spring>,
}

impl JointSpec {
    /// At the origin, about or along z, with nothing that acts on its coordinate.
    pub fn new(kind: JointKind) -> Self {
        Self {
            kind,
            anchor: DVec3::ZERO,
            anchor2: DVec3::ZERO,
            axis: DVec3::Z,
            across: None,
            slack: false,
            limits: None,
            restitution: 0.0,
            friction: 0.0,
            bearing: None,
            motor: None,
            spring: None,
            servo: None,
        }
    }

    /// A rope of a length (m) from a point of body 1 to one of body 2, both in the world.
    pub fn rope(length: f64, anchor: DVec3, anchor2: DVec3) -> Self {
        Self { anchor, anchor2, slack: true, ..Self::new(JointKind::Distance(length)) }
    }

    /// A rod without mass from a point of body 1 to one of body 2, both in the world.
    pub fn rod(anchor: DVec3, anchor2: DVec3) -> Self {
        Self { anchor, anchor2, ..Self::new(JointKind::Distance(anchor.distance(anchor2))) }
    }

    /// With the point in the world (m).
    #[must_use]
    pub fn at(self, anchor: DVec3) -> Self {
        Self { anchor, ..self }
    }

    /// With the axis in the world.
    #[must_use]
    pub fn axis(self, axis: DVec3) -> Self {
        Self { axis, ..self }
    }

    /// With the second axis of a Cardan cross.
    #[must_use]
    pub fn across(self, across: DVec3) -> Self {
        Self { across: Some(across), ..self }
    }

    /// With stops.
    #[must_use]
    pub fn between(self, lower: f64, upper: f64) -> Self {
        Self { limits: Some([lower, upper]), ..self }
    }

    /// With restitution at the stops.
    #[must_use]
    pub fn restitution(self, e: f64) -> Self {
        Self { restitution: e, ..self }
    }

    /// With dry friction.
    #[must_use]
    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// With friction of a coefficient μ under the force N that the joint carries across its axis: up to μ R N about the axis of a revolute
    /// joint (R in m), up to μ N along that of a prismatic or cylindrical one, whose radius is 0.
    ///
    /// ```
    /// use drystone::model::joint::{JointKind, JointSpec};
    /// assert!(JointSpec::new(JointKind::Revolute).bearing(0.1, 0.02).validate().is_ok());
    /// assert!(JointSpec::new(JointKind::Prismatic).bearing(0.1, 0.0).validate().is_ok());
    /// assert!(JointSpec::new(JointKind::Revolute).bearing(0.1, 0.0).validate().is_err());
    /// ```
    #[must_use]
    pub fn bearing(self, mu: f64, radius: f64) -> Self {
        Self { bearing: Some(Bearing { mu, radius }), ..self }
    }

    /// With a motor.
    #[must_use]
    pub fn motor(self, speed: f64, limit: f64) -> Self {
        Self { motor: Some(Motor { speed, limit }), ..self }
    }

    /// With a spring and a damper, at ease where the bodies stand (or, of a distance, at its length).
    #[must_use]
    pub fn spring(self, stiffness: f64, damping: f64) -> Self {
        let rest = self.spring.map_or(0.0, |s| s.rest);
        Self { spring: Some(Spring { stiffness, damping, rest, ..Spring::default() }), ..self }
    }

    /// With the spring at ease at this coordinate (rad or m).
    #[must_use]
    pub fn rest(self, rest: f64) -> Self {
        Self { spring: Some(Spring { rest, ..self.spring.unwrap_or_default() }), ..self }
    }

    /// With a motor that pulls to a position (rad or m): `stiffness (position − q) − damping q̇`, at most `limit`. Implicit, so that it may
    /// be as stiff as one likes.
    #[must_use]
    pub fn servo(self, position: f64, stiffness: f64, damping: f64, limit: f64) -> Self {
        Self { servo: Some(Spring { stiffness, damping, rest: position, limit }), ..self }
    }

    /// What stops, friction, springs and motors act on; none of a joint that leaves nothing free, or more than one thing of a kind.
    pub fn freedom(&self) -> Option<Freedom> {
        self.kind.freedom()
    }

    /// Checks the numbers, and that what acts on a coordinate finds one.
    pub fn validate(&self) -> Result<(), String> {
        let vectors = [("anchor", self.anchor), ("anchor2", self.anchor2), ("axis", self.axis)];
        if let Some((name, found)) = vectors.into_iter().find(|(_, v)| !v.is_finite()) {
            return Err(format!("{name} is {found}; finite numbers are needed"));
        }
        if self.axis.length() < f64::MIN_POSITIVE {
            return Err("the axis has no length; name a direction".into());
        }
        if let Some(across) = self.across
            && !(across.is_finite() && across.normalize_or_zero().dot(self.axis.normalize_or_zero()).abs() < 1e-6 && across.length() > 0.0)
        {
            return Err(format!("the second axis is {across}; a direction at right angles to the first is needed"));
        }
        if let JointKind::Distance(length) = self.kind
            && !(length > 0.0 && length.is_finite())
        {
            return Err(format!("the distance is {length} m; a positive number is needed"));
        }
        let acts = [
            ("limits", self.limits.is_some()),
            ("friction", self.friction != 0.0),
            ("a bearing", self.bearing.is_some()),
            ("a motor", self.motor.is_some()),
        ];
        if let (None, Some((name, _))) = (self.freedom(), acts.into_iter().find(|(_, there)| *there)) {
            return Err(format!("{name} of a joint needs one coordinate; revolute, prismatic and cylindrical joints have one"));
        }
        let distance = matches!(self.kind, JointKind::Distance(_));
        for (name, spring) in [("spring", self.spring), ("servo", self.servo)] {
            let Some(s) = spring else { continue };
            if self.freedom().is_none() && !(distance && name == "spring" && !self.slack) {
                return Err(format!("a {name} of a joint needs one coordinate; revolute, prismatic and cylindrical joints have one"));
            }
            if distance && s.rest != 0.0 {
                return Err(format!("the spring has rest {}; between two points its length of rest is the distance of the joint", s.rest));
            }
            if !s.rest.is_finite() {
                return Err(format!("the {name} has its rest at {}; a finite number is needed", s.rest));
            }
            Law::Spring { stiffness: s.stiffness, damping: s.damping, limit: s.limit }.validate(1)?;
        }
        if let Some([lower, upper]) = self.limits
            && !(lower <= 0.0 && upper >= 0.0 && lower < upper)
        {
            return Err(format!("the limits are {lower} and {upper}; the coordinate starts at 0, which has to lie between them"));
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return Err(format!("restitution is {}; 0 to 1 is needed", self.restitution));
        }
        if !(self.friction >= 0.0 && self.friction.is_finite()) {
            return Err(format!("friction is {}; a number not below 0 is needed", self.friction));
        }
        if let Some(Bearing { mu, radius }) = self.bearing {
            Law::Bearing { mu, radius }.validate(1).map_err(|reason| format!("the bearing: {reason}"))?;
            match self.freedom() {
                Some(Freedom::Angle) if radius == 0.0 => return Err("the radius of the bearing is 0 m; a positive number is needed".into()),
                Some(Freedom::Displacement) if radius != 0.0 => {
                    return Err(format!("the bearing has radius {radius} m, but its joint slides; leave it out (0): μ alone counts"));
                }
                _ => {}
            }
        }
        match self.motor {
            Some(Motor { speed, limit }) if !(speed.is_finite() && limit >= 0.0) => {
                Err(format!("the motor has speed {speed} and limit {limit}; a finite speed and a limit not below 0 are needed"))
            }
            _ => Ok(()),
        }
    }

    /// Which of so many [`interactions`](Self::interactions) are its motor and its servo.
    pub(crate) fn drives(&self, parts: usize) -> impl Iterator<Item = usize> {
        let [motor, spring, servo] = [self.motor.is_some(), self.spring.is_some(), self.servo.is_some()].map(usize::from);
        let at = |there: usize, back: usize| (there > 0 && self.freedom().is_some()).then(|| parts.checked_sub(back)).flatten();
        at(motor, 1 + spring + servo).into_iter().chain(at(servo, 1))
    }

    /// The interactions that make the joint between a body and another one, or the world, at the poses they have: the joint itself first
    /// (but for a rope or a spring between two points), then stops, friction, bearing, motor, spring, servo.
    pub fn interactions(&self, body: (Entity, Pose), other: Option<(Entity, Pose)>) -> Result<Vec<Interaction>, String> {
        self.validate()?;
        let (one, pose1) = body;
        let pose2 = other.map_or(Pose::default(), |(_, pose)| pose);
        let systems: Vec<Entity> = std::iter::once(one).chain(other.map(|(e, _)| e)).collect();
        let joint = match self.kind {
            JointKind::Distance(_) => {
                let frames = [(pose1, self.anchor), (pose2, self.anchor2)].map(|(pose, x)| Pose::at(pose.local_point(x)));
                Joint { kind: self.kind, frames }
            }
            kind => Joint::at(kind, [&pose1, &pose2], self.anchor, self.axis, self.across),
        };
        let mut made = Vec::new();
        let mut add = |relation: Relation, law: Law| {
            let mut part = Interaction::new(systems.clone(), relation, law);
            match &part.relation {
                Relation::Joint(joint) => joint.gap(&[pose1, pose2], &mut part.y),
                Relation::Coordinate(q) if q.freedom == Freedom::Distance => part.y[0] = q.output(&[pose1, pose2], 0.0),
                _ => {}
            }
            made.push(part);
        };
        if let (JointKind::Distance(length), true) = (self.kind, self.slack) {
            let far = Coordinate::new(Freedom::Distance, joint.frames).at_most(length);
            add(far.into(), Law::NewtonImpact { e: self.restitution });
            return Ok(made);
        }
        let elastic = |s: Spring| Law::Spring { stiffness: s.stiffness, damping: s.damping, limit: s.limit };
        if let (JointKind::Distance(length), Some(spring)) = (self.kind, self.spring) {
            add(Coordinate::new(Freedom::Distance, joint.frames).at_least(length).into(), elastic(spring));
            return Ok(made);
        }
        add(joint.into(), Law::Equality);
        let Some(freedom) = self.freedom() else { return Ok(made) };
        let q = Coordinate::new(freedom, joint.frames);
        if let Some([lower, upper]) = self.limits {
            let stops = [(lower, q.at_least(lower)), (upper, q.at_most(upper))];
            for (_, stop) in stops.into_iter().filter(|(at, _)| at.is_finite()) {
                add(stop.into(), Law::NewtonImpact { e: self.restitution });
            }
        }
        if self.friction > 0.0 {
            add(q.into(), Law::Relay { lower: -self.friction, upper: self.friction });
        }
        if let Some(Bearing { mu, radius }) = self.bearing.filter(|b| b.mu > 0.0) {
            add(q.into(), Law::Bearing { mu, radius });
        }
        if let Some(Motor { speed, limit }) = self.motor {
            add(q.with_speed(speed).into(), Law::Relay { lower: -limit, upper: limit });
        }
        for spring in [self.spring, self.servo].into_iter().flatten() {
            add(q.at_least(spring.rest).into(), elastic(spring));
        }
        Ok(made)
    }
}
