//! The one-step problem of the running step, and which entity owns which rows.

use crate::numerics::Report;
use crate::numerics::auto::{Auto, Workspace};
use crate::numerics::mixed::{Answer, MixedProblem, Velocities};
use crate::topology::graph::{Colouring, Group};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// The one-step problem as flat arrays, its solution, and the maps back to entities.
///
/// ```
/// assert!(drystone::assembly::problem::StepProblem::default().problem.contacts.is_empty());
/// ```
#[derive(Resource, Debug, Default)]
pub struct StepProblem {
    /// Rows, masses, free velocities.
    pub problem: MixedProblem,
    /// Reactions and velocities; before the solve, the first guess.
    pub answer: Answer,
    /// Velocities at the start of the step, in the rows of the problem.
    pub before: Velocities,
    /// Part of `b` that feeds overlap back, per contact (m/s, ≤ 0).
    pub feedback: Vec<f64>,
    /// Velocity of immobile bodies, as part of `u`, per contact.
    pub driven: Vec<DVec3>,
    /// Contact pairs with rows, in the order of the query.
    pub groups: Vec<Group>,
    /// First contact of each group of `groups`.
    pub first_contact: Vec<u32>,
    /// Joint of each block.
    pub joints: Vec<Entity>,
    /// What the solver said.
    pub report: Report,
    /// Colours of the contact graph.
    pub colouring: Colouring,
    /// Why the problem could not be stated, if so.
    pub error: Option<String>,
}

impl StepProblem {
    /// Slots of the pairs that cannot keep out of each other in a step without a solution, and the largest speed (m/s) by which one of
    /// them gives way; empty in a step that has one.
    pub fn squeezed(&self) -> (Vec<[u32; 2]>, f64) {
        let slack = &self.answer.slack;
        let worst = slack.iter().copied().fold(0.0, f64::max);
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for (group, &first) in self.groups.iter().zip(&self.first_contact) {
            let own = slack.get(first as usize..(first + group.points) as usize).unwrap_or_default();
            // the rest of an island gives way by rounding
            if own.iter().any(|&s| s > 1e-3 * worst) {
                pairs.push(group.slots);
            }
        }
        pairs.sort_unstable();
        (pairs, worst)
    }
}

/// The solver and its buffers.
///
/// ```
/// let mut solver = drystone::assembly::problem::Solver::default();
/// solver.settings.tolerance = 1e-6;
/// ```
#[derive(Resource, Debug, Default)]
pub struct Solver {
    /// Settings.
    pub settings: Auto,
    /// Buffers that live as long as the simulation.
    pub workspace: Workspace,
}
