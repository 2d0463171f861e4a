//! Joints: what two bodies may still do against each other, as gaps and rows on their twists.
//!
//! ```text
//! frames   one in each body (or in the world): origin p, axes x, y, z; at rest they coincide but for what the joint leaves free
//! d        p₁ − p₂
//! gap      translations   d, or its part along axes of frame 2
//!          rotations      δ, the small rotation of frame 1 against frame 2: (z₂·y₁, x₂·z₁, y₂·x₁)
//! rate     a·ḋ = a·(v₁ + ω₁ × (p₁ − x₁)) − a·(v₂ + ω₂ × (p₁ − x₂)),   (a₂·b₁)˙ = (ω₁ − ω₂)·(b₁ × a₂)
//! ```
//!
//! An axis a that turns with body 2 has the arm of body 2 reach to p₁, which is the rate of `a·d` exactly. (Siconos: `KneeJointR`,
//! `PivotJointR`, `PrismaticJointR`, `CylindricalJointR`, `FixedJointR`; the six lower pairs of Reuleaux but the screw, and three more.)

use crate::algebra::spatial::Pose;
use bevy_ecs::prelude::{Component, Entity};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
pub use spec::{Bearing, JointSpec, Motor, Spring};
pub use tie::{TieLaw, TieRelation, TieSpec};
pub use transmission::{Of, Transmission, TransmissionSpec};

mod spec;
mod tie;
mod transmission;

/// What a joint leaves free. The axis is z of its frames.
///
/// ```
/// use drystone::model::joint::JointKind;
/// assert_eq!((JointKind::Revolute.rows(), JointKind::Spherical.rows()), (5, 3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// Turning about the axis (a hinge).
    Revolute,
    /// Sliding along the axis.
    Prismatic,
    /// Turning about the axis and sliding along it.
    Cylindrical,
    /// All rotations (a ball in a socket).
    #[default]
    Spherical,
    /// Turning about x of the first frame and about y of the second, which stay perpendicular (a Cardan cross).
    Universal,
    /// Sliding in the plane across the axis, and turning about it.
    Planar,
    /// All but the distance of the two origins, which stays as given (m).
    Distance(f64),
}

/// All interactions of a joint, in order; on the first of them.
///
/// ```
/// use drystone::model::joint::{JointKind, JointParts, JointSpec};
/// use drystone::simulation::{Body, Simulation};
/// use glam::DVec3;
/// let mut sim = Simulation::default();
/// let door = sim.spawn_body(Body::point(20.0, DVec3::ONE))?;
/// let hinge = sim.add_joint(door, None, &JointSpec::new(JointKind::Revolute).friction(0.5))?;
/// assert_eq!(sim.world().get::<JointParts>(hinge[0]).map(|parts| &parts.0), Some(&hinge));
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct JointParts(pub Vec<Entity>);

/// Motor and servo of a joint among its [`JointParts`], on the first of them: at speed 0 a motor has the law of dry friction, and without a limit a
/// servo that of a spring.
#[derive(Component, Clone, Debug)]
pub(crate) struct JointDrives(pub(crate) Vec<Entity>);

/// Rows that a joint has at most.
pub const MAX_JOINT_ROWS: usize = 6;

/// A row of a joint on the twists of its two bodies, world axes: `rate = Σ linear·v + angular·ω`.
///
/// ```
/// use drystone::model::joint::TwistRow;
/// assert_eq!(TwistRow::default().linear, glam::DVec3::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TwistRow {
    /// On the velocity of the centre of mass of body 1; that of body 2 has the opposite.
    pub linear: DVec3,
    /// On the angular velocity of each body; a row of rotations has no `linear`.
    pub angular: [DVec3; 2],
}

/// A joint between two bodies, or a body and the world.
///
/// ```
/// use drystone::algebra::spatial::Pose;
/// use drystone::model::joint::{Joint, JointKind};
/// use glam::{DQuat, DVec3};
/// let door = Joint::new(JointKind::Revolute, Pose::at(DVec3::new(-0.4, 0.0, 0.0)), Pose::at(DVec3::X));
/// let mut gap = [0.0; 6];
/// door.gap(&[Pose::at(DVec3::new(1.4, 0.0, 0.1)), Pose::default()], &mut gap);
/// assert!((gap[2] - 0.1).abs() < 1e-15 && gap[0].abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// What it leaves free.
    pub kind: JointKind,
    /// Its frame in each body (m, relative to the centre of mass and the axes of the body), or in the world.
    pub frames: [Pose; 2],
}

impl JointKind {
    /// Number of rows.
    pub fn rows(self) -> usize {
        let (translations, rotations) = self.counts();
        translations + rotations
    }

    fn counts(self) -> (usize, usize) {
        match self {
            Self::Fixed => (3, 3),
            Self::Revolute => (3, 2),
            Self::Prismatic => (2, 3),
            Self::Cylindrical => (2, 2),
            Self::Spherical => (3, 0),
            Self::Universal => (3, 1),
            Self::Planar => (1, 2),
            Self::Distance(_) => (1, 0),
        }
    }

    /// Rows of translations, which come first.
    pub fn translations(self) -> usize {
        self.counts().0
    }

    /// Its coordinate; none where nothing is free, or more than one thing of a kind.
    pub fn freedom(self) -> Option<Freedom> {
        match self {
            Self::Revolute => Some(Freedom::Angle),
            Self::Prismatic | Self::Cylindrical => Some(Freedom::Displacement),
            Self::Fixed | Self::Spherical | Self::Universal | Self::Planar | Self::Distance(_) => None,
        }
    }
}

/// The frames of a joint in the world.
struct Placed {
    d: DVec3,
    /// p₁ − x₁ and p₂ − x₂
    arms: [DVec3; 2],
    axes: [DMat3; 2],
}

fn placed(frames: &[Pose; 2], bodies: &[Pose; 2]) -> Placed {
    let arms = [0, 1].map(|k| bodies[k].rotation * frames[k].position);
    let d = (bodies[0].position + arms[0]) - (bodies[1].position + arms[1]);
    Placed { d, arms, axes: [0, 1].map(|k| DMat3::from_quat(bodies[k].rotation * frames[k].rotation)) }
}

impl Placed {
    /// A row of `a·d` for an axis that stands still in the world where d vanishes, or that turns with body 2.
    fn translation(&self, a: DVec3, turns: bool) -> TwistRow {
        let far = if turns { self.arms[1] + self.d } else { self.arms[1] };
        TwistRow { linear: a, angular: [self.arms[0].cross(a), -far.cross(a)] }
    }

    /// A row of `a₂·b₁`.
    fn rotation(&self, a: DVec3, b: DVec3) -> (f64, TwistRow) {
        let turn = b.cross(a);
        (a.dot(b), TwistRow { linear: DVec3::ZERO, angular: [turn, -turn] })
    }
}

impl Joint {
    /// From its frames.
    pub fn new(kind: JointKind, frame1: Pose, frame2: Pose) -> Self {
        Self { kind, frames: [frame1, frame2] }
    }

    /// The joint that holds at these poses (body 2: the identity for the world), at a point with an axis, both given in the world. For
    /// [`JointKind::Universal`] the axis is that which turns with body 1, and `across` the other one.
    pub fn at(kind: JointKind, bodies: [&Pose; 2], point: DVec3, axis: DVec3, across: Option<DVec3>) -> Self {
        let axis = axis.normalize_or(DVec3::Z);
        let side =
            across.map_or(axis.any_orthonormal_vector(), |a| a.reject_from_normalized(axis).normalize_or(axis.any_orthonormal_vector()));
        let axes = match kind {
            JointKind::Universal => DMat3::from_cols(axis, side, axis.cross(side)),
            _ => DMat3::from_cols(side, axis.cross(side), axis),
        };
        // axes of the world need no rounding
        let turned = if axes.abs_diff_eq(DMat3::IDENTITY, 1e-15) { DQuat::IDENTITY } else { DQuat::from_mat3(&axes).normalize() };
        let world = Pose::new(point, turned);
        Self { kind, frames: bodies.map(|b| b.relative(&world)) }
    }

    /// Sets `gap` (m; rad for rotations), [`JointKind::rows`] values; zero where the joint holds.
    pub fn gap(&self, bodies: &[Pose; 2], gap: &mut [f64]) {
        self.evaluate(bodies, |row, value, _| gap[row] = value);
    }

    /// Sets the rows of the rates of the gaps, by exact derivatives.
    pub fn rows(&self, bodies: &[Pose; 2], rows: &mut [TwistRow]) {
        self.evaluate(bodies, |row, _, rates| rows[row] = rates);
    }

    fn evaluate(&self, bodies: &[Pose; 2], mut set: impl FnMut(usize, f64, TwistRow)) {
        let at = placed(&self.frames, bodies);
        let [one, two] = &at.axes;
        let mut row = 0;
        let mut put = |(value, rates): (f64, TwistRow)| {
            set(row, value, rates);
            row += 1;
        };
        let along = |a: DVec3| (a.dot(at.d), at.translation(a, true));
        match self.kind {
            JointKind::Fixed | JointKind::Revolute | JointKind::Spherical | JointKind::Universal => {
                DVec3::AXES.into_iter().enumerate().for_each(|(k, a)| put((at.d[k], at.translation(a, false))));
            }
            JointKind::Prismatic | JointKind::Cylindrical => {
                put(along(two.x_axis));
                put(along(two.y_axis));
            }
            JointKind::Planar => put(along(two.z_axis)),
            JointKind::Distance(length) => {
                let now = at.d.length();
                let a = if now > 0.0 { at.d / now } else { DVec3::Z };
                put((now - length, at.translation(a, false)));
            }
        }
        let reversed = |(value, rates): (f64, TwistRow)| (-value, TwistRow { angular: rates.angular.map(|a| -a), ..rates });
        let tilts = [reversed(at.rotation(two.y_axis, one.z_axis)), at.rotation(two.x_axis, one.z_axis)];
        match self.kind {
            JointKind::Fixed | JointKind::Prismatic => {
                tilts.into_iter().for_each(&mut put);
                put(at.rotation(two.y_axis, one.x_axis));
            }
            JointKind::Revolute | JointKind::Cylindrical | JointKind::Planar => tilts.into_iter().for_each(&mut put),
            JointKind::Universal => put(at.rotation(two.y_axis, one.x_axis)),
            JointKind::Spherical | JointKind::Distance(_) => {}
        }
    }
}

/// What a joint leaves free, as one number.
///
/// ```
/// assert_ne!(drystone::model::joint::Freedom::Angle, drystone::model::joint::Freedom::Displacement);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Rotation of body 1 against body 2 about the axis (rad), counted over whole turns.
    Angle,
    /// Way of body 1 against body 2 along the axis of frame 2 (m).
    Displacement,
    /// Distance of the two origins (m).
    Distance,
}

/// A coordinate of a joint as the output of an interaction, `y = sign · (q − offset)`: for stops, friction and motors.
///
/// ```
/// use drystone::model::joint::{Coordinate, Freedom};
/// use drystone::algebra::spatial::Pose;
/// let q = Coordinate::new(Freedom::Angle, [Pose::default(); 2]);
/// let at = [Pose::new(glam::DVec3::ZERO, glam::DQuat::from_rotation_z(0.5)), Pose::default()];
/// assert!((q.value(&at, 0.0) - 0.5).abs() < 1e-15);
/// assert!((q.at_most(2.0).output(&at, 0.0) - 1.5).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinate {
    /// Which.
    pub freedom: Freedom,
    /// As those of [`Joint`].
    pub frames: [Pose; 2],
    /// 1 or −1.
    pub sign: f64,
    /// Value at which y is zero.
    pub offset: f64,
    /// Speed taken from `q̇` in the rate of y (rad/s or m/s): what a motor wants.
    pub speed: f64,
}

impl Coordinate {
    /// The coordinate itself.
    pub fn new(freedom: Freedom, frames: [Pose; 2]) -> Self {
        Self { freedom, frames, sign: 1.0, offset: 0.0, speed: 0.0 }
    }

    /// `y = q − lower`.
    #[must_use]
    pub fn at_least(self, lower: f64) -> Self {
        Self { sign: 1.0, offset: lower, ..self }
    }

    /// `y = upper − q`.
    #[must_use]
    pub fn at_most(self, upper: f64) -> Self {
        Self { sign: -1.0, offset: upper, ..self }
    }

    /// With a rate of `q̇ − speed`.
    #[must_use]
    pub fn with_speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// q at these poses; of all angles that differ by whole turns the one next to `near`.
    pub fn value(&self, bodies: &[Pose; 2], near: f64) -> f64 {
        let at = placed(&self.frames, bodies);
        let [one, two] = &at.axes;
        match self.freedom {
            Freedom::Angle => {
                let angle = libm::atan2(two.y_axis.dot(one.x_axis), two.x_axis.dot(one.x_axis));
                angle + std::f64::consts::TAU * ((near - angle) / std::f64::consts::TAU).round()
            }
            Freedom::Displacement => two.z_axis.dot(at.d),
            Freedom::Distance => at.d.length(),
        }
    }

    /// q from an output.
    pub fn from_output(&self, y: f64) -> f64 {
        self.sign * y + self.offset
    }

    /// y at these poses; `last` is the output before, from which whole turns are counted.
    pub fn output(&self, bodies: &[Pose; 2], last: f64) -> f64 {
        self.sign * (self.value(bodies, self.from_output(last)) - self.offset)
    }

    /// The row of `sign · q̇`.
    pub fn row(&self, bodies: &[Pose; 2]) -> TwistRow {
        let at = placed(&self.frames, bodies);
        let row = match self.freedom {
            Freedom::Angle => TwistRow { linear: DVec3::ZERO, angular: [at.axes[1].z_axis, -at.axes[1].z_axis] },
            Freedom::Displacement => at.translation(at.axes[1].z_axis, true),
            Freedom::Distance => at.translation(at.d.normalize_or(DVec3::Z), false),
        };
        TwistRow { linear: self.sign * row.linear, angular: row.angular.map(|a| self.sign * a) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(k: usize) -> f64 {
        ((k as f64 + 1.0) * 0.754_877_666_246_7).fract() - 0.5
    }

    fn vector(k: usize) -> DVec3 {
        DVec3::new(noise(k), noise(k + 1), noise(k + 2))
    }

    fn pose(k: usize, far: f64) -> Pose {
        Pose::new(far * vector(k), DQuat::from_scaled_axis(far * vector(k + 3)))
    }

    /// Moves a pose by a twist in world axes for a short time.
    fn moved(p: &Pose, v: DVec3, w: DVec3, t: f64) -> Pose {
        Pose::new(p.position + t * v, (DQuat::from_scaled_axis(t * w) * p.rotation).normalize())
    }

    fn rate(row: &TwistRow, v: [DVec3; 2], w: [DVec3; 2]) -> f64 {
        row.linear.dot(v[0] - v[1]) + row.angular[0].dot(w[0]) + row.angular[1].dot(w[1])
    }

    const KINDS: [JointKind; 8] = [
        JointKind::Fixed,
        JointKind::Revolute,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Spherical,
        JointKind::Universal,
        JointKind::Planar,
        JointKind::Distance(0.3),
    ];

    #[test]
    fn rows_are_the_rates_of_gaps_and_coordinates_at_any_pose() {
        let t = 1e-6;
        for (c, kind) in KINDS.into_iter().enumerate() {
            for case in 0..40 {
                let k = 97 * case + 13 * c;
                let joint = Joint::new(kind, pose(k, 1.0), pose(k + 7, 1.0));
                let bodies = [pose(k + 20, 1.5), pose(k + 30, 1.5)];
                let (v, w) = ([vector(k + 40), vector(k + 43)], [vector(k + 46), vector(k + 49)]);
                let after = |t: f64| [0, 1].map(|b| moved(&bodies[b], v[b], w[b], t));
                let (mut up, mut down, mut rows) = ([0.0; 6], [0.0; 6], [TwistRow::default(); 6]);
                joint.gap(&after(t), &mut up);
                joint.gap(&after(-t), &mut down);
                joint.rows(&bodies, &mut rows);
                for i in 0..kind.rows() {
                    let found = rate(&rows[i], v, w);
                    assert!((found - (up[i] - down[i]) / (2.0 * t)).abs() < 1e-8, "{kind:?} row {i}: {found}");
                }
                for freedom in [Freedom::Displacement, Freedom::Distance] {
                    let q = Coordinate::new(freedom, joint.frames).at_most(0.7);
                    let slope = (q.output(&after(t), 0.0) - q.output(&after(-t), 0.0)) / (2.0 * t);
                    assert!((rate(&q.row(&bodies), v, w) - slope).abs() < 1e-8, "{freedom:?}");
                }
            }
        }
    }

    #[test]
    fn a_joint_made_at_a_place_holds_there_and_where_its_freedom_leads() {
        for (c, kind) in KINDS.into_iter().enumerate() {
            let bodies = [pose(5 * c, 2.0), pose(5 * c + 60, 2.0)];
            let (point, axis) = (vector(c + 3), vector(c + 9));
            let joint = Joint::at(kind, [&bodies[0], &bodies[1]], point, axis, None);
            let n = kind.rows();
            let held = |bodies: &[Pose; 2]| {
                let mut gap = [0.0; 6];
                joint.gap(bodies, &mut gap);
                gap[..n].iter().fold(0.0, |m: f64, g| m.max(g.abs()))
            };
            if let JointKind::Distance(length) = kind {
                assert!((held(&bodies) - length).abs() < 1e-14);
                continue;
            }
            assert!(held(&bodies) < 1e-14, "{kind:?}");
            let axis = axis.normalize();
            let turned = |by: f64| {
                let q = DQuat::from_axis_angle(axis, by);
                [Pose::new(point + q * (bodies[0].position - point), q * bodies[0].rotation), bodies[1]]
            };
            let slid = |by: DVec3| [Pose::new(bodies[0].position + by, bodies[0].rotation), bodies[1]];
            let side = axis.any_orthonormal_vector();
            let frees = [held(&turned(0.7)) < 1e-13, held(&slid(0.3 * axis)) < 1e-13, held(&slid(0.3 * side)) < 1e-13];
            let wanted = match kind {
                JointKind::Fixed => [false, false, false],
                JointKind::Revolute | JointKind::Spherical | JointKind::Universal => [true, false, false],
                JointKind::Prismatic => [false, true, false],
                JointKind::Cylindrical => [true, true, false],
                JointKind::Planar => [true, false, true],
                JointKind::Distance(_) => continue,
            };
            assert_eq!(frees, wanted, "{kind:?}");
            let q = Coordinate::new(Freedom::Angle, joint.frames);
            if kind == JointKind::Revolute {
                assert!((q.value(&turned(0.7), 0.0) - 0.7).abs() < 1e-14);
                assert!((q.value(&turned(0.7), 13.0) - 0.7 - 2.0 * std::f64::consts::TAU).abs() < 1e-13, "whole turns are counted");
            }
        }
    }

    #[test]
    fn the_rate_of_an_angle_is_that_of_the_hinge() {
        let axis = DVec3::new(0.3, -0.5, 0.8).normalize();
        let bodies = [pose(3, 1.0), pose(40, 1.0)];
        let joint = Joint::at(JointKind::Revolute, [&bodies[0], &bodies[1]], DVec3::X, axis, None);
        let q = Coordinate::new(Freedom::Angle, joint.frames);
        let row = q.row(&bodies);
        assert!((rate(&row, [DVec3::ZERO; 2], [1.5 * axis, -0.5 * axis]) - 2.0).abs() < 1e-14);
        assert!((q.at_most(1.0).row(&bodies).angular[0] + row.angular[0]).length() < 1e-15);
    }
}
