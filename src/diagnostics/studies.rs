//! Figures of studies: a slope, a dam.

use super::summary::Record;
use crate::geometry::systems::Proximity;
use crate::io::scene::model::{DamStudy, InclineStudy};
use crate::model::contact::{ContactPair, Manifold};
use crate::model::newton_euler::{BodyPose, Inertia, Velocity};
use crate::model::scheme::Clock;
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A dam whose courses have moved by less than this part of its width stands where it was built.
const IN_PLACE: f64 = 1e-6;

/// Figures of a slope, see [`InclineStudy`].
///
/// ```
/// let figures = drystone::diagnostics::summary::InclineFigures::default();
/// assert!(figures.acceleration.is_none(), "the window was not reached");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct InclineFigures {
    /// Acceleration down the slope over the window (m/s²).
    pub acceleration: Option<f64>,
    /// `a / a_exact − 1`; none where the box should stick.
    pub acceleration_error: Option<f64>,
    /// Way in the plane from the tilt to the end of the window (m).
    pub creep_m: Option<f64>,
}

/// Safety of a dam from the resultants that the simulation found in the base joint, see [`DamStudy`].
///
/// They are means over the last steps. Of a dam that gives way they are those of the last step in place, with what would have held it
/// there: the reactions less the change of the momentum of the courses. Factors below one are found that way.
///
/// ```
/// let figures = drystone::diagnostics::summary::DamFigures::default();
/// assert!(figures.sliding_factor.is_none(), "nothing was simulated");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(non_snake_case, reason = "the names are those of the JSON output, which carry units")]
pub struct DamFigures {
    /// `μ N / T`.
    pub sliding_factor: Option<f64>,
    /// Moment of the weight about the toe over the moment that overturns, `M_W / (M_W − N x_N)`.
    pub overturning_factor: Option<f64>,
    /// Normal resultant of the ground on the lowest course.
    pub base_normal_N: Option<f64>,
    /// Tangential resultant against the water.
    pub base_shear_N: Option<f64>,
    /// Distance of the normal resultant from the toe.
    pub base_resultant_from_toe_m: Option<f64>,
}

/// Forces of one of the last steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Forces {
    pub(super) support: f64,
    pub(super) base_normal: f64,
    pub(super) base_shear: f64,
    /// Normal forces times their distance from the toe.
    pub(super) base_moment: f64,
}

/// Momentum of the courses of a dam: up, downstream, and about the toe in the sense of the weight.
pub(super) type Momentum = [f64; 3];

impl Record {
    /// Forces of a step on a dam that stands; where it has left its place, those of the last step in place.
    pub(super) fn weigh(&mut self, dam: &DamStudy, entities: &[Entity], simulation: &Simulation, mut forces: Forces) -> Forces {
        let last = self.last.last().copied().filter(|_| self.gone);
        if let Some(last) = last {
            forces = Forces { support: forces.support, ..last };
        } else {
            base_forces(dam, entities, simulation, &mut forces);
            // where the dam gives way, what it would take to hold it: the reactions less the change of momentum
            let now = momentum(dam, entities, simulation);
            let rate = |k: usize| (now[k] - self.momentum[k]) / simulation.time_step();
            forces.base_normal -= rate(0);
            forces.base_shear += rate(1);
            forces.base_moment -= rate(2);
            self.momentum = now;
            let moved = |&i: &usize| {
                let pose = entities.get(i).and_then(|&entity| simulation.world().get::<BodyPose>(entity));
                pose.zip(self.origins[i]).is_some_and(|(pose, origin)| pose.0.position.distance(origin) > IN_PLACE * dam.width)
            };
            self.gone = dam.courses.iter().any(moved);
        }
        forces
    }

    pub(super) fn incline(&self, study: &InclineStudy) -> InclineFigures {
        let slide = self.slide[0].zip(self.slide[1]);
        let creep = self.creep[0].zip(self.creep[1]).map(|(from, to)| (to - from).with_z(0.0).length());
        let acceleration = slide.map(|(v1, v2)| (v2 - v1) / (study.window[1] - study.window[0]));
        let exact = study.exact_acceleration();
        let acceleration_error = acceleration.filter(|_| exact > 0.0).map(|a| a / exact - 1.0);
        InclineFigures { acceleration, acceleration_error, creep_m: creep }
    }

    pub(super) fn dam(&self, study: &DamStudy, entities: &[Entity], simulation: &Simulation, forces: &Forces) -> DamFigures {
        let (world, g) = (simulation.world(), simulation.scheme().gravity.length());
        let mut weight_moment = 0.0;
        for &i in &study.courses {
            if let (Some(origin), Some(inertia)) = (self.origins[i], world.get::<Inertia>(entities[i])) {
                weight_moment += inertia.mass * g * (study.toe - origin).dot(study.downstream);
            }
        }
        let over = |a: f64, b: f64| Some(a / b).filter(|x| x.is_finite() && b > 1e-12 * a.abs());
        DamFigures {
            sliding_factor: over(study.mu * forces.base_normal, forces.base_shear),
            overturning_factor: over(weight_moment, weight_moment - forces.base_moment),
            base_normal_N: Some(forces.base_normal),
            base_shear_N: Some(forces.base_shear),
            base_resultant_from_toe_m: over(forces.base_moment, forces.base_normal),
        }
    }
}

/// Resultants of the ground on the lowest course in the last step.
fn base_forces(study: &DamStudy, entities: &[Entity], simulation: &Simulation, forces: &mut Forces) {
    let (Some(&lowest), Some(&ground)) = (study.courses.first().and_then(|&i| entities.get(i)), entities.get(study.ground)) else { return };
    let world = simulation.world();
    let h = world.resource::<Clock>().measure;
    let up = -simulation.scheme().gravity.try_normalize().unwrap_or(DVec3::NEG_Z);
    for &(.., entity) in world.resource::<Proximity>().pairs() {
        let (Some(pair), Some(manifold)) = (world.get::<ContactPair>(entity), world.get::<Manifold>(entity)) else { continue };
        let sign = match pair.bodies {
            bodies if bodies == [lowest, ground] => 1.0,
            bodies if bodies == [ground, lowest] => -1.0,
            _ => continue,
        };
        for touch in &manifold.points {
            let force = sign * touch.reaction / h;
            let normal = force.dot(up);
            forces.base_normal += normal;
            forces.base_shear -= force.dot(study.downstream);
            forces.base_moment += normal * (study.toe - 0.5 * (touch.point1 + touch.point2)).dot(study.downstream);
        }
    }
}

/// Momentum of the courses.
pub(super) fn momentum(study: &DamStudy, entities: &[Entity], simulation: &Simulation) -> Momentum {
    let world = simulation.world();
    let up = -simulation.scheme().gravity.try_normalize().unwrap_or(DVec3::NEG_Z);
    let axis = up.cross(study.downstream);
    let mut sum = [0.0; 3];
    for &entity in study.courses.iter().filter_map(|&i| entities.get(i)) {
        let (Some(pose), Some(velocity), Some(inertia)) =
            (world.get::<BodyPose>(entity), world.get::<Velocity>(entity), world.get::<Inertia>(entity))
        else {
            continue;
        };
        let linear = inertia.mass * velocity.linear;
        let spin = pose.0.vector(inertia.principal * velocity.angular);
        sum[0] += linear.dot(up);
        sum[1] += linear.dot(study.downstream);
        sum[2] += ((pose.0.position - study.toe).cross(linear) + spin).dot(axis);
    }
    sum
}
