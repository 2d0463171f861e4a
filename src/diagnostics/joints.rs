//! What a joint does: its coordinate, how well it holds, and the forces in it.

use crate::model::interaction::Interaction;
use crate::model::joint::Freedom;
use crate::model::law::Law;
use crate::model::relation::Relation;
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;

/// A joint after a step; forces are means over it, angles and torques of a revolute joint stand where others have ways and forces.
///
/// ```
/// let hinge = drystone::diagnostics::joints::JointState::default();
/// assert_eq!(hinge.motor, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointState {
    /// Coordinate (rad or m); of a rope its length. Zero where nothing acts on it.
    pub coordinate: f64,
    /// Its rate.
    pub speed: f64,
    /// How far the joint is open (m).
    pub gap: f64,
    /// How far it is turned against what it holds (rad).
    pub tilt: f64,
    /// Force in what it holds (N).
    pub force: f64,
    /// Moment in what it holds (N m).
    pub moment: f64,
    /// What the stops give, positive where they raise the coordinate (N m or N); of a rope its pull.
    pub stop: f64,
    /// What dry friction gives; a motor that holds still is friction.
    pub friction: f64,
    /// What motors and servos give.
    pub motor: f64,
    /// What springs and dampers give.
    pub spring: f64,
}

/// Names of the figures, in the order of [`JointState::values`].
pub const COLUMNS: [&str; 10] = ["coordinate", "speed", "gap", "tilt", "force", "moment", "stop", "friction", "motor", "spring"];

impl JointState {
    /// The figures, one after the other.
    pub fn values(&self) -> [f64; COLUMNS.len()] {
        [self.coordinate, self.speed, self.gap, self.tilt, self.force, self.moment, self.stop, self.friction, self.motor, self.spring]
    }
}

/// The state of the joint that these interactions make, as [`Simulation::add_joint`] gives them.
pub fn state(simulation: &Simulation, parts: &[Entity]) -> JointState {
    let mut s = JointState::default();
    let h = simulation.time_step();
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut driven = false;
    for part in parts.iter().filter_map(|&e| simulation.world().get::<Interaction>(e)) {
        match (&part.relation, &part.law) {
            (Relation::Joint(joint), _) => {
                let translations = joint.kind.translations();
                let (gap, tilt) = part.y.split_at(translations);
                let (force, moment) = part.lambda.split_at(translations);
                (s.gap, s.tilt, s.force, s.moment) = (norm(gap), norm(tilt), norm(force) / h, norm(moment) / h);
            }
            (Relation::Coordinate(q), law) => {
                s.coordinate = q.from_output(part.y[0]);
                let effort = q.sign * part.lambda[0] / h;
                match law {
                    Law::Relay { .. } if q.speed != 0.0 || driven => s.motor = effort,
                    Law::Relay { .. } => s.friction = effort,
                    Law::Spring { limit, .. } if limit.is_finite() => s.motor += effort,
                    Law::Spring { .. } => s.spring += effort,
                    _ if q.freedom == Freedom::Distance => {
                        s.stop = part.lambda[0] / h;
                        s.gap = (-part.y[0]).max(0.0);
                    }
                    _ => s.stop += effort,
                }
                driven |= matches!(law, Law::Relay { .. });
                if part.active {
                    s.speed = q.sign * part.y_dot[0] + q.speed;
                }
            }
            _ => {}
        }
    }
    s
}
