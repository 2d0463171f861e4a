//! What a relation says of two bodies: its frames and rows, and the lengths and mobilities by which these are judged.

use super::touched::Way;
use crate::algebra::spatial::Pose;
use crate::model::interaction::Interaction;
use crate::model::joint::{Freedom, MAX_JOINT_ROWS, TwistRow};
use crate::model::law::Law;
use crate::model::newton_euler::{Inertia, Velocity};
use crate::model::relation::Relation;
use crate::numerics::mixed::IMMOBILE;
use crate::topology::bodies::Body;
use glam::{DQuat, DVec3};

/// Frames of a relation on its bodies, and how many of its rows are about places, before those about angles.
pub(super) fn frames_of(relation: &Relation) -> ([Pose; 2], usize) {
    match relation {
        Relation::Joint(joint) => (joint.frames, joint.kind.translations()),
        Relation::Coordinate(q) => (q.frames, usize::from(q.freedom != Freedom::Angle)),
        _ => ([Pose::default(); 2], 0),
    }
}

/// Rows of its bodies among the mobile ones.
pub(super) fn rows_of(ends: [Option<&Body>; 2]) -> [u32; 2] {
    ends.map(|end| end.map_or(IMMOBILE, |body| body.row))
}

/// How the bodies of an interaction have come to where they are.
pub(super) fn way(interaction: &Interaction, ends: [Option<&Body>; 2], h: f64) -> Way {
    let (frames, turns) = frames_of(&interaction.relation);
    let mut units = [1.0; MAX_JOINT_ROWS];
    units[turns..].fill(length_of(ends));
    let arms = frames.map(|frame| frame.position.length() + units[MAX_JOINT_ROWS - 1]);
    Way::of(ends.map(|end| end.map(|b| (b.pose, b.velocity))), (&units, arms), h, |poses| rows_at(&interaction.relation, poses))
}

/// Whether an interaction is one between two ways: a rope or stop is where it bore before too.
pub(super) fn holds(interaction: &Interaction, ends: [Option<&Body>; 2], h: f64) -> bool {
    let bore = || interaction.lambda.first().is_some_and(|l| *l != 0.0) && way(interaction, ends, h).is_along_itself();
    !matches!(interaction.law, Law::NewtonImpact { .. }) || bore()
}

/// The rows of a relation at poses of its bodies.
pub(super) fn rows_at(relation: &Relation, poses: &[Pose; 2]) -> [TwistRow; MAX_JOINT_ROWS] {
    let mut rows = [TwistRow::default(); MAX_JOINT_ROWS];
    match relation {
        Relation::Joint(joint) => joint.rows(poses, &mut rows),
        Relation::Coordinate(q) => rows[0] = q.row(poses),
        _ => {}
    }
    rows
}

/// y of a relation; of a coordinate next to what it was last.
pub(super) fn output(relation: &Relation, poses: &[Pose; 2], last: &[f64]) -> [f64; MAX_JOINT_ROWS] {
    let mut y = [0.0; MAX_JOINT_ROWS];
    match relation {
        Relation::Joint(joint) => joint.gap(poses, &mut y),
        Relation::Coordinate(q) => y[0] = q.output(poses, last.first().copied().unwrap_or(0.0)),
        _ => {}
    }
    y
}

/// What a row says of the velocities of one body, its angular velocity in body axes.
pub(super) fn rate(row: &TwistRow, end: usize, rotation: DQuat, velocity: &Velocity) -> f64 {
    let sign = if end == 0 { 1.0 } else { -1.0 };
    sign * row.linear.dot(velocity.linear) + row.angular[end].dot(rotation * velocity.angular)
}

/// The length that stands for a radian: the radius of gyration of the lighter body.
pub(super) fn length_of(ends: [Option<&Body>; 2]) -> f64 {
    let lighter = ends.into_iter().flatten().filter_map(|b| b.inertia).min_by(|a, b| a.mass.total_cmp(&b.mass));
    lighter.map_or(1.0, |i| (i.principal.max_element() / i.mass).sqrt())
}

/// Squares of the radius of gyration about the axis of a row about an angle, and of the distance of the centre of mass from that axis (m²).
fn about_axis(body: &Body, inertia: &Inertia, anchor: DVec3, angular: DVec3) -> [f64; 2] {
    let axis = (body.frame.rotation.conjugate() * angular).normalize_or_zero();
    [(axis * axis).dot(inertia.principal) / inertia.mass, anchor.cross(axis).length_squared()]
}

/// The length (m) by which gravity turns an angle at most as fast as it lets bodies fall: `√(k² + d²)` of a body with the radius of gyration k
/// about the axis and its centre of mass d beside it, whose rate gravity changes by `g d/(k² + d²) ≤ g/√(k² + d²)`; the shorter of two.
pub(super) fn swing_length(ends: [Option<&Body>; 2], frames: [Pose; 2], row: &TwistRow) -> f64 {
    let length = |k: usize| {
        let body = ends[k]?;
        let [gyration, beside] = about_axis(body, body.inertia.as_ref()?, frames[k].position, row.angular[k]);
        Some((gyration + beside).sqrt())
    };
    (0..2).filter_map(length).min_by(f64::total_cmp).unwrap_or(1.0)
}

/// Mobility of a coordinate (1/kg, or 1/(kg m²)): bodies turn about the axis of an angle, as its joint has them do, and do not turn where they slide; at
/// the ends of a distance they are free.
pub(super) fn mobility(ends: [Option<&Body>; 2], frames: [Pose; 2], freedom: Freedom, row: &TwistRow) -> f64 {
    let of = |k: usize| {
        let body = ends[k].filter(|body| body.row != IMMOBILE)?;
        let inertia = body.inertia.as_ref()?;
        Some(match freedom {
            Freedom::Angle => 1.0 / (inertia.mass * about_axis(body, inertia, frames[k].position, row.angular[k]).iter().sum::<f64>()),
            Freedom::Displacement => 1.0 / inertia.mass,
            Freedom::Distance => {
                let turn = body.frame.rotation.conjugate() * row.angular[k];
                1.0 / inertia.mass + (turn * turn / inertia.principal).element_sum()
            }
        })
    };
    (0..2).filter_map(of).sum()
}
