//! Gaps of joints closed by moving positions, after the velocities of the step.
//!
//! ```text
//! min ½ δqᵀ M δq   so that   g(q) + G δq = 0        joints
//!                            y(q) + J δq ≥ 0        stops and ropes
//! q ← q ⊕ δq                 until no gap is left that is more than rounding (Newton on g)
//! ```
//!
//! With δq for a velocity and the gaps for b this is the one-step problem again, of joints alone and without free motion, so it is handed to
//! the same solver: rows that depend on each other share their multipliers in the least-norm sense. The systems without shapes do the same with
//! `cluster::projection` on their small dense problems (Acary, Comput. Methods Appl. Mech. Eng. 256, 2013). Contacts do not take part.

use super::problem::StepProblem;
use super::relations::{length_of, output, rows_at};
use crate::algebra::spatial::{Pose, rotate_exp};
use crate::integrator::moreau_jean::rigid_mass;
use crate::model::interaction::Interaction;
use crate::model::joint::{Freedom, MAX_JOINT_ROWS};
use crate::model::law::Law;
use crate::model::relation::Relation;
use crate::model::scheme::{Drift, Scheme};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::auto::{Auto, Memory, Workspace};
use crate::numerics::mixed::{Answer, IMMOBILE, MixedProblem, System, Twist};
use crate::topology::bodies::{Bodies, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Newton steps at most; each squares the gap in parts of the arm.
const ROUNDS: usize = 6;
/// Gap in parts of the lengths that it is worked out from that is rounding.
const ROUNDING: f64 = 1e-15;
/// How well each linear problem is solved; what is left is the next one's.
const TOLERANCE: f64 = 1e-6;

/// The problem of the projection, and what its solver keeps.
#[derive(Resource, Debug, Default)]
pub struct Positions {
    problem: MixedProblem,
    answer: Answer,
    workspace: Workspace,
    /// Largest gap before and after the projection of the last step (m).
    pub gaps: [f64; 2],
}

/// Closes the gaps that the end of the step has left, where the scheme asks for it.
pub fn project_joints(
    scheme: Res<Scheme>,
    mut positions: ResMut<Positions>,
    mut bodies: ResMut<Bodies>,
    step: Res<StepProblem>,
    slots: Query<&Slot>,
    interactions: Query<&Interaction>,
) {
    if scheme.drift != Drift::Projection || step.joints.is_empty() {
        return;
    }
    let positions = &mut *positions;
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS {
        let [worst, allowed] = positions.state(&bodies, &step, &slots, &interactions);
        if round == 0 {
            positions.gaps[0] = worst;
        }
        positions.gaps[1] = worst;
        // half at least, or rounding and contradictions are what is left
        if worst <= allowed || worst > 0.5 * best {
            return;
        }
        best = worst;
        if positions.problem.prepare().is_err() {
            return;
        }
        if round == 0 {
            // what its solver remembers of other steps is not saved with a state
            positions.workspace.memory = Memory::default();
        }
        positions.move_bodies(&mut bodies);
    }
}

impl Positions {
    /// Fills the problem at the poses reached; gives the largest gap, and what of it is rounding.
    fn state(&mut self, bodies: &Bodies, step: &StepProblem, slots: &Query<&Slot>, interactions: &Query<&Interaction>) -> [f64; 2] {
        let p = &mut self.problem;
        p.rigid.clear();
        p.free.rigid.clear();
        p.blocks.clear();
        p.jacobians.clear();
        p.block_b.clear();
        for body in &bodies.rows {
            let Some(inertia) = body.inertia.filter(|_| body.row != IMMOBILE) else { continue };
            p.rigid.push(rigid_mass(&inertia, body.new_pose.rotation, &body.locks));
            p.free.rigid.push(Twist::default());
        }
        let (mut worst, mut far) = (0.0f64, 0.0f64);
        for joint in &step.joints {
            let Ok(interaction) = interactions.get(joint.entity) else { continue };
            let relation = &interaction.relation;
            let (set, frames, turns) = match (relation, &interaction.law) {
                (Relation::Joint(q), _) => (AdmissibleSet::Free, q.frames, q.kind.translations()),
                (Relation::Coordinate(q), Law::NewtonImpact { .. }) => {
                    (AdmissibleSet::NonNegative, q.frames, usize::from(q.freedom != Freedom::Angle))
                }
                _ => continue,
            };
            let ends = [0, 1].map(|k| {
                let slot = interaction.systems.get(k).and_then(|&e| slots.get(e).ok());
                slot.map(|s| &bodies.rows[s.0 as usize])
            });
            let poses = ends.map(|end| end.map_or(Pose::default(), |body| body.new_pose));
            let gap = output(relation, &poses, &interaction.y);
            let rows = rows_at(relation, &poses);
            let n = relation.rows().min(MAX_JOINT_ROWS);
            let mut units = [1.0; MAX_JOINT_ROWS];
            units[turns..].fill(length_of(ends));
            let mut systems = [System::Fixed; 2];
            let (mut jacobians, mut b, mut m) = ([[0.0; 6 * MAX_JOINT_ROWS]; 2], [0.0; MAX_JOINT_ROWS], 0);
            for (k, end) in ends.into_iter().enumerate() {
                if let Some(body) = end.filter(|body| body.row != IMMOBILE) {
                    systems[k] = System::Rigid(body.row);
                }
            }
            for i in (0..n).filter(|&i| joint.kept[i]) {
                for k in (0..2).filter(|&k| systems[k] != System::Fixed) {
                    let sign = if k == 0 { 1.0 } else { -1.0 };
                    jacobians[k][6 * m..6 * m + 3].copy_from_slice(&(units[i] * sign * rows[i].linear).to_array());
                    jacobians[k][6 * m + 3..6 * m + 6].copy_from_slice(&(units[i] * rows[i].angular[k]).to_array());
                }
                b[m] = units[i] * gap[i];
                worst = worst.max(if set == AdmissibleSet::Free { b[m].abs() } else { -b[m] });
                m += 1;
            }
            if m > 0 {
                let used = |k: usize| if systems[k] == System::Fixed { &jacobians[k][..0] } else { &jacobians[k][..6 * m] };
                p.push_block(set, systems, [used(0), used(1)], &b[..m]);
                far = [0, 1].iter().fold(far, |far, &k| far.max(poses[k].position.length() + frames[k].position.length()));
            }
        }
        [worst, ROUNDING * far]
    }

    /// Moves bodies by the solution.
    fn move_bodies(&mut self, bodies: &mut Bodies) {
        let Self { problem, answer, workspace, .. } = self;
        answer.reactions.contacts.clear();
        answer.reactions.blocks.clear();
        answer.reactions.blocks.resize(problem.block_b.len(), 0.0);
        answer.velocities.rigid.clone_from(&problem.free.rigid);
        Auto { tolerance: TOLERANCE, ..Auto::default() }.solve_with(problem, answer, workspace);
        for body in bodies.rows.iter_mut().filter(|body| body.row != IMMOBILE) {
            let Some(way) = answer.velocities.rigid.get(body.row as usize).filter(|way| **way != Twist::default()) else { continue };
            // rows of bodies that are not in joints stay as they are
            if [way.linear, way.angular].iter().all(|x: &DVec3| x.is_finite()) {
                body.new_pose.position += way.linear;
                let turn = body.new_pose.rotation.conjugate() * way.angular;
                body.new_pose.rotation = rotate_exp(body.new_pose.rotation, turn);
            }
        }
    }
}
