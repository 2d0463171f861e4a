//! Activate, assemble, solve, and hand the reactions back.

use super::problem::{Rebound, Solver, StepProblem};
use crate::algebra::spatial::{skew, tangents};
use crate::integrator::moreau_jean::rigid_mass;
use crate::integrator::systems::{Pass, free_momentum, new_state};
use crate::model::contact::{ContactPair, Manifold, Touch};
use crate::model::interaction::SphericalJoint;
use crate::model::law::{beyond_touch, least_impact};
use crate::model::scheme::{Scheme, Treatment};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{Contact, IMMOBILE, System, Twist};
use crate::numerics::residual::contact_scale;
use crate::topology::bodies::{Bodies, Body, Slot};
use crate::topology::graph::Group;
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};

/// Velocity of a body at the start of the step, in world axes.
fn world_twist(body: &Body) -> Twist {
    Twist { linear: body.velocity.linear, angular: body.frame.rotation * body.velocity.angular }
}

/// Marks the contact points that become rows and lists the pairs that have some.
pub fn activate(scheme: Res<Scheme>, bodies: Res<Bodies>, mut step: ResMut<StepProblem>, mut pairs: Query<(&ContactPair, &mut Manifold)>) {
    let h = scheme.time_step;
    step.groups.clear();
    for (source, (pair, mut manifold)) in pairs.iter_mut().enumerate() {
        if manifold.points.is_empty() {
            continue;
        }
        let rows = pair.slots.map(|s| &bodies.rows[s as usize]);
        let forecast = matches!(scheme.treatment, Treatment::Forecast { .. });
        let mut points = 0;
        for touch in &mut manifold.points {
            touch.active = !forecast || {
                let middle = 0.5 * (touch.point1 + touch.point2);
                let velocity = |body: &Body| world_twist(body).at(middle - body.pose.position);
                let u = DVec3::X * touch.normal.dot(velocity(rows[0]) - velocity(rows[1]));
                pair.law.constant_part(scheme.treatment, touch.gap, 0.0, u, h).is_some()
            };
            points += u32::from(touch.active);
        }
        if points > 0 {
            step.groups.push(Group { slots: pair.slots, rows: rows.map(|b| b.row), points, source: source as u32 });
        }
    }
    let StepProblem { groups, colouring, first_contact, problem, .. } = &mut *step;
    colouring.arrange(groups, bodies.rows.len(), bodies.mobile.len());
    problem.groups.clear();
    first_contact.resize(groups.len(), 0);
    let mut total = 0;
    for &g in &colouring.order {
        problem.groups.push(total);
        first_contact[g as usize] = total;
        total += groups[g as usize].points;
    }
    problem.groups.push(total);
    problem.colours.clone_from(&colouring.colours);
}

/// A body is at rest below this part of the velocity of a fall of one step.
const RESTING: f64 = 1e-3;

/// Masses, free velocities and velocities before the step.
pub fn assemble_systems(scheme: Res<Scheme>, pass: Res<Pass>, mut bodies: ResMut<Bodies>, mut step: ResMut<StepProblem>) {
    step.weight = scheme.time_step * scheme.gravity;
    let StepProblem { problem, before, .. } = &mut *step;
    problem.rigid.clear();
    problem.free.rigid.clear();
    problem.resting.clear();
    before.rigid.clear();
    let still = (RESTING * scheme.time_step * scheme.gravity.length()).powi(2);
    for body in &mut bodies.rows {
        let Some(inertia) = body.inertia.filter(|_| body.row != IMMOBILE) else { continue };
        let mass = rigid_mass(&inertia, body.frame.rotation, &body.locks);
        let momentum = free_momentum(body, &scheme, &pass);
        let start = world_twist(body);
        before.rigid.push(start);
        let (v, w) = (body.velocity.linear, body.velocity.angular);
        problem.resting.push(v.length_squared() + w.dot(inertia.principal * w) / inertia.mass <= still);
        problem.free.rigid.push(Twist {
            linear: start.linear + mass.inverse_mass * momentum.linear,
            angular: start.angular + mass.inertia_times(momentum.angular),
        });
        problem.rigid.push(mass);
    }
}

/// Part of a body, per tolerance, within which the gap of a lasting contact is the noise of the solver.
const NOISE: f64 = 0.1;

/// Contact rows, each at its place in the colours.
pub fn assemble_contacts(
    scheme: Res<Scheme>,
    pass: Res<Pass>,
    bodies: Res<Bodies>,
    solver: Res<Solver>,
    mut step: ResMut<StepProblem>,
    pairs: Query<(&ContactPair, &Manifold)>,
) {
    let band = scheme.touch.max(NOISE * solver.settings.tolerance);
    let StepProblem { problem, answer, groups, first_contact, feedback, rebounds, taken, lively, driven, before, .. } = &mut *step;
    let total = problem.groups.last().map_or(0, |&n| n as usize);
    problem.contacts.resize(total, Contact::default());
    feedback.resize(total, 0.0);
    driven.resize(total, DVec3::ZERO);
    rebounds.clear();
    *lively = false;
    taken.resize(total, 0.0);
    answer.reactions.contacts.resize(total, DVec3::ZERO);
    let mut groups = groups.iter().zip(first_contact.iter()).peekable();
    for (source, (pair, manifold)) in pairs.iter().enumerate() {
        let Some((_, first)) = groups.next_if(|(g, _)| g.source == source as u32) else { continue };
        let rows = pair.slots.map(|s| &bodies.rows[s as usize]);
        *lively |= pair.law.e_n > 0.0;
        let active = manifold.points.iter().filter(|t| t.active);
        for (k, touch) in (*first as usize..).zip(active) {
            let (mut contact, mut share, wall) = contact_row(&scheme, pair, rows, touch, band, &before.rigid);
            if touch.approach != DVec3::ZERO
                && let Some(part) = rebound_row(&scheme, pair, &contact, touch, &before.rigid, &problem.free.rigid)
                && part.x < contact.b.x - wall.x
            {
                let closing = [contact.b.x - wall.x, share];
                rebounds.push(Rebound { contact: k as u32, source: source as u32, speed: -part.x, closing });
                (contact.b, share) = (part + wall, 0.0);
            }
            if pass.number == 0 {
                let guess = if scheme.warm_start { contact.to_local(touch.reaction) } else { DVec3::ZERO };
                answer.reactions.contacts[k] = guess;
            }
            (problem.contacts[k], feedback[k], driven[k], taken[k]) = (contact, share, wall, touch.taken);
        }
    }
}

/// One contact point as a row; also its overlap feedback and the share of immobile bodies in `u`.
fn contact_row(scheme: &Scheme, pair: &ContactPair, rows: [&Body; 2], touch: &Touch, band: f64, before: &[Twist]) -> (Contact, f64, DVec3) {
    let law = pair.law;
    let middle = 0.5 * (touch.point1 + touch.point2);
    let [arm1, arm2] = rows.map(|b| middle - b.pose.position);
    let mut contact = Contact {
        normal: touch.normal,
        tangent: tangents(touch.normal).0,
        arm1,
        arm2,
        mu: law.mu,
        body1: rows[0].row,
        body2: rows[1].row,
        ..Contact::default()
    };
    let given = |body: &Body, arm| if body.row == IMMOBILE { world_twist(body).at(arm) } else { DVec3::ZERO };
    let moving = |body: &Body, arm| before.get(body.row as usize).map_or(DVec3::ZERO, |v| v.at(arm));
    let wall = contact.to_local(given(rows[0], arm1) - given(rows[1], arm2));
    let u = contact.to_local(moving(rows[0], arm1) - moving(rows[1], arm2)) + wall;
    // a contact that begins closes its gap to the last digit; one that lasts is not shaken by it
    let band = if touch.reaction == DVec3::ZERO { 0.0 } else { band * pair.size };
    let part = law.constant_part(scheme.treatment, touch.gap, band, u, scheme.time_step).unwrap_or_default();
    contact.b = part + wall;
    contact.size = pair.size;
    contact.scale = contact_scale(scheme.time_step, scheme.gravity.length(), -u.x, pair.size);
    let share = match scheme.treatment {
        Treatment::GapAware { beta } => beta * beyond_touch(touch.gap, band).min(0.0) / scheme.time_step,
        Treatment::Forecast { .. } => 0.0,
    };
    (contact, share, wall)
}

/// The constant part of a row in the step after an impact, if the bodies part.
fn rebound_row(scheme: &Scheme, pair: &ContactPair, c: &Contact, touch: &Touch, before: &[Twist], free: &[Twist]) -> Option<DVec3> {
    let Treatment::GapAware { .. } = scheme.treatment else { return None };
    // what carries the lower body does not show in free velocities: the whole of gravity counts
    let weight = scheme.time_step * c.normal.dot(scheme.gravity).abs();
    pair.law.rebound(c.to_local(touch.approach), weight.max(fall(c, before, free)))
}

/// By how much loads speed the approach of a contact up within the step (m/s).
fn fall(c: &Contact, before: &[Twist], free: &[Twist]) -> f64 {
    let gain = |body: u32, arm| match (free.get(body as usize), before.get(body as usize)) {
        (Some(free), Some(before)) => free.at(arm) - before.at(arm),
        _ => DVec3::ZERO,
    };
    -c.normal.dot(gain(c.body1, c.arm1) - gain(c.body2, c.arm2))
}

/// Rows of the joints, then everything that the solver derives from rows.
pub fn assemble_blocks(
    scheme: Res<Scheme>,
    pass: Res<Pass>,
    bodies: Res<Bodies>,
    slots: Query<&Slot>,
    mut step: ResMut<StepProblem>,
    mut joints: Query<(Entity, &mut SphericalJoint)>,
) {
    let StepProblem { problem, answer, joints: joined, error, .. } = &mut *step;
    problem.blocks.clear();
    problem.jacobians.clear();
    problem.block_b.clear();
    joined.clear();
    let first_pass = pass.number == 0;
    if first_pass {
        answer.reactions.blocks.clear();
    }
    let mut order: Vec<Entity> = joints.iter().map(|(e, _)| e).collect();
    order.sort();
    for entity in order {
        let Ok((_, mut joint)) = joints.get_mut(entity) else { continue };
        let slot = |e: Entity| slots.get(e).ok().map(|s| &bodies.rows[s.0 as usize]);
        let ends = [slot(joint.body1), joint.body2.and_then(slot)];
        if ends[0].is_none() || (joint.body2.is_some() && ends[1].is_none()) {
            continue; // a body of the joint has died
        }
        push_joint(&scheme, problem, ends, &mut joint);
        joined.push(entity);
        if first_pass {
            let guess = if scheme.warm_start { joint.reaction } else { DVec3::ZERO };
            answer.reactions.blocks.extend(guess.to_array());
        }
    }
    *error = problem.prepare().err().map(|e| e.to_string());
}

/// Appends the three rows of a joint: impulses at the middle of the step, velocities matched at its end.
///
/// ```text
/// H_m v⁺ + (H₁ − H_m) v⁽ⁱ⁾ + β g / h = 0        θ = ½:  H₁ v⁺ = −β g/h when the passes have settled
/// H_m v⁺ + β g / h = 0                          θ = 1:  the step moves by h v⁺, so H_m v⁺ is its rate of the gap
/// ```
fn push_joint(scheme: &Scheme, problem: &mut crate::numerics::mixed::MixedProblem, ends: [Option<&Body>; 2], joint: &mut SphericalJoint) {
    let anchors = joint.anchors;
    let end_of_step = scheme.treatment.theta() < 1.0;
    let mut rows = [[0.0; 18]; 2];
    let mut systems = [System::Fixed; 2];
    let mut b = DVec3::ZERO;
    let mut gap = DVec3::ZERO;
    for (k, (end, sign)) in ends.into_iter().zip([1.0, -1.0]).enumerate() {
        let Some(body) = end else {
            gap += sign * anchors[k];
            continue;
        };
        gap += sign * body.pose.point(anchors[k]);
        let arm = body.frame.rotation * anchors[k];
        let middle = body.new_velocity.linear + (body.frame.rotation * body.new_velocity.angular).cross(arm);
        if body.row == IMMOBILE {
            b += sign * middle;
            continue;
        }
        if end_of_step {
            let arm = body.new_pose.rotation * anchors[k];
            let end = body.new_velocity.linear + (body.new_pose.rotation * body.new_velocity.angular).cross(arm);
            b += sign * (end - middle);
        }
        systems[k] = System::Rigid(body.row);
        let angular = DMat3::IDENTITY * 0.0 - skew(arm);
        for i in 0..3 {
            rows[k][6 * i + i] = sign;
            for j in 0..3 {
                rows[k][6 * i + 3 + j] = sign * angular.col(j)[i];
            }
        }
    }
    b += scheme.joint_feedback * gap / scheme.time_step;
    joint.gap = gap;
    let used = |k: usize| if systems[k] == System::Fixed { &rows[k][..0] } else { &rows[k][..] };
    problem.push_block(AdmissibleSet::Free, systems, [used(0), used(1)], &b.to_array());
    if let Some(block) = problem.blocks.last_mut() {
        block.scale = contact_scale(scheme.time_step, scheme.gravity.length(), b.length(), f64::INFINITY);
    }
}

/// Hands the problem to the solver.
pub fn solve(mut step: ResMut<StepProblem>, mut solver: ResMut<Solver>) {
    let StepProblem { problem, answer, report, error, .. } = &mut *step;
    if error.is_some() {
        return;
    }
    let Solver { settings, workspace } = &mut *solver;
    let mut sweeps = report.iterations;
    *report = settings.solve_with(problem, answer, workspace);
    for round in 1..=REBOUND_ROUNDS {
        if step.rebounds.is_empty() || !step.cut_rebounds(round == REBOUND_ROUNDS) {
            break;
        }
        let StepProblem { problem, answer, report, .. } = &mut *step;
        sweeps += report.iterations;
        *report = settings.solve_with(problem, answer, workspace);
    }
    step.report.iterations += sweeps;
}

/// Rounds in which rebounds are cut to the energy that their impacts took; the last drops those that still exceed it.
const REBOUND_ROUNDS: usize = 5;

/// New velocities and poses of all systems.
pub fn apply(scheme: Res<Scheme>, mut pass: ResMut<Pass>, mut bodies: ResMut<Bodies>, step: Res<StepProblem>) {
    if step.error.is_some() {
        return;
    }
    new_state(&mut bodies, &scheme, &step.answer.velocities.rigid, &mut pass);
}

/// Reactions and velocities back to the pairs and joints that own the rows.
pub fn store_reactions(
    scheme: Res<Scheme>,
    mut step: ResMut<StepProblem>,
    mut pairs: Query<&mut Manifold, With<ContactPair>>,
    mut joints: Query<&mut SphericalJoint>,
) {
    let least = least_impact(scheme.time_step, scheme.gravity);
    let lively = step.lively && matches!(scheme.treatment, Treatment::GapAware { .. });
    if lively {
        step.deposit();
    }
    let step = &*step;
    let mut rebounds = step.rebounds.iter().peekable();
    let (problem, answer) = (&step.problem, &step.answer);
    let mut groups = step.groups.iter().zip(&step.first_contact).peekable();
    for (source, mut manifold) in pairs.iter_mut().enumerate() {
        let mut k = match groups.next_if(|(g, _)| g.source == source as u32) {
            Some((_, first)) => *first as usize,
            None if manifold.points.is_empty() => continue,
            None => usize::MAX,
        };
        for touch in &mut manifold.points {
            if touch.active && k != usize::MAX {
                let c = &problem.contacts[k];
                touch.reaction = c.to_world(answer.reactions.contacts[k]);
                touch.velocity = c.to_world(problem.contact_velocity(c, &answer.velocities.rigid) - c.b + step.driven[k]);
                (touch.approach, touch.taken) = (DVec3::ZERO, 0.0);
                let parted = rebounds.next_if(|r| r.contact == k as u32).is_some();
                if lively && touch.reaction != DVec3::ZERO {
                    touch.taken = step.taken[k];
                    let mut before = step.velocity_before(k);
                    if before.x < -least && !parted {
                        // at the place of touch the bodies are faster by what they fall through the gap: w² + 2 a gap
                        let gained = 2.0 * fall(c, &step.before.rigid, &problem.free.rigid) / scheme.time_step * touch.gap.max(0.0);
                        before.x = -(before.x * before.x + gained.max(0.0)).sqrt();
                        touch.approach = c.to_world(before);
                    }
                }
                k += 1;
            } else {
                (touch.reaction, touch.approach, touch.taken) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            }
        }
    }
    let mut first = 0;
    for &entity in &step.joints {
        if let Ok(mut joint) = joints.get_mut(entity) {
            joint.reaction = DVec3::from_slice(&answer.reactions.blocks[first..]);
            first += 3;
        }
    }
}
