//! Rows of the interactions between bodies: joints, and the stops, friction and motors of their coordinates.
//!
//! Impulses act at the middle of the step, velocities are matched at its end; or both so that a joint which holds does no work:
//!
//! ```text
//! H_m v⁺ + (H₁ − H_m) v⁽ⁱ⁾ + c = 0        θ < 1:  between the velocities of the start and of the end; H₁ v⁺ = −c when the passes have settled
//! H₀ v⁺ + (H̄ − H₀) v⁽ⁱ⁾ + c = 0          θ = 1, nothing touches (`touched`): between the ways h v⁺ of two steps; h H̄ v⁺ is the change of
//!                                         the gap, H̄ = (H₀ + 4 H_m + H₁)/6; springs H₀ v⁺ + c = 0
//! H_m v⁺ + c = 0                          θ = 1 else: as contacts have it, which may hold the same point; loses ½ (ω h)² a step
//! c = β g/h                               joints
//! c = max(y, 0)/h + β min(y, 0)/h         stops, `0 ≤ ẏ⁺ + c ⟂ r ≥ 0`; e ẏ⁻ where the coordinate gets there within the step and bounces
//! c = −speed                              motors and friction, r within h times the bounds
//! c, D of [`SpringRule::row`]             springs and servos
//! c = 0, |r| ≤ μ R |N⁽ⁱ⁾|                 bearings: N what the pass before has found in the joint, across its axis
//! ```
//!
//! Rows about angles are multiplied by a length of the lighter body, so that all rows of a joint are velocities (m/s) and one residual can
//! judge them.

use super::adopted::{AdoptedSystems, is_joint};
use super::bonds::push as push_bonds;
use super::forces::UserForces;
use super::locked::{LeftOut, independent_rows};
use super::problem::{Solver, StepProblem};
use super::relations::{frames_of, holds, length_of, mobility, output, rate, rows_at, rows_of, swing_length, way};
use super::rows::SUM;
use crate::algebra::spatial::Pose;
use crate::cluster::systems::called;
use crate::integrator::moreau_jean::advance;
use crate::integrator::systems::Pass;
use crate::model::birth::{Birth, rank};
use crate::model::bond::Bond;
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::joint::{Coordinate, Freedom, MAX_JOINT_ROWS};
use crate::model::law::{Law, least_impact};
use crate::model::newton_euler::AppliedForce;
use crate::model::relation::Relation;
use crate::model::scheme::{Clock, Drift, Scheme, Treatment};
use crate::model::spring::SpringRule;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, MixedProblem, System, Twist};
use crate::numerics::residual::contact_scale;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// The interaction of each block, and what of its relation the block holds.
#[derive(Clone, Copy, Debug)]
pub struct JointRows {
    /// The interaction.
    pub entity: Entity,
    /// The block; none where it has no rows.
    block: Option<u32>,
    /// Its first reaction.
    first: usize,
    /// Which of its rows the block has: locked axes may leave some empty, or make them follow from the others.
    pub kept: [bool; MAX_JOINT_ROWS],
    /// Unit of each row (1, or m/rad).
    units: [f64; MAX_JOINT_ROWS],
    /// What the rate of y has beside H v: driven bodies, the end of the step.
    given: [f64; MAX_JOINT_ROWS],
    /// Stiffness and damping of a spring, for its row in its unit, and when in the step they act.
    spring: Option<([f64; 2], SpringRule)>,
    /// Of a rope or stop that bore something in the step before: the rate of its row at the end of that (m/s).
    held: Option<f64>,
}

impl JointRows {
    /// Block, stiffness (kg/s²) and damping (kg/s) of a spring or servo, as its row has them, and when in the step they act.
    pub fn spring(&self) -> Option<(usize, [f64; 2], SpringRule)> {
        let (elastic, rule) = self.spring?;
        Some((self.block? as usize, elastic, rule))
    }

    /// Block of a rope or stop that bore something in the step before too, and the rate of its row at the end of that (m/s).
    pub fn holding(&self) -> Option<(usize, f64)> {
        Some((self.block? as usize, self.held?))
    }

    /// Its impulses (N s, N m s) from the reactions of all blocks; 0 in rows that its block has not.
    fn impulses(&self, reactions: &[f64], to: &mut [f64; MAX_JOINT_ROWS]) {
        if self.block.is_none() {
            return;
        }
        let kept = (0..MAX_JOINT_ROWS).filter(|&i| self.kept[i]);
        for (i, r) in kept.zip(reactions.get(self.first..).unwrap_or_default()) {
            to[i] = r * self.units[i];
        }
    }

    /// Reactions of the pass before, from row `first` on, as those of `next`: bodies have turned since, so other rows may be independent.
    fn hand_on(&self, next: &Self, reactions: &mut Vec<f64>, first: usize) {
        if self.kept == next.kept {
            return;
        }
        let mut at = first;
        for (had, has) in self.kept.into_iter().zip(next.kept) {
            if had && !has {
                reactions.remove(at);
            } else if has && !had {
                reactions.insert(at, 0.0);
            }
            at += usize::from(has);
        }
    }
}

/// Gap of a joint, in parts of the lengths that it is worked out from, that is rounding. Two joints of one body would contradict each other
/// by it, and without gravity nothing else gives their errors a scale.
const PLACES: f64 = 4.0 * f64::EPSILON;

/// Gap of a joint, in radii of gyration or rad, up to which turning may have left it.
const DRIFTED: f64 = 1e-3;

/// Rows of all interactions between bodies, then everything that the solver derives from rows.
pub fn assemble_blocks(
    scheme: Res<Scheme>,
    pass: Res<Pass>,
    bodies: Res<Bodies>,
    slots: Query<&Slot>,
    (clock, mut adopted, mut forces): (Res<Clock>, ResMut<AdoptedSystems>, ResMut<UserForces>),
    mut step: ResMut<StepProblem>,
    interactions: Query<(Entity, &Interaction, Option<&Name>), With<OfBodies>>,
    (bonds, births): (Query<(Entity, &Bond)>, Query<&Birth>),
) {
    let born = |entity: Entity| (rank(births.get(entity).ok(), entity), entity);
    let mut order = std::mem::take(&mut step.order);
    let StepProblem { problem, answer, joints, last_joints, left_out, carried, fed, touched, .. } = &mut *step;
    let AdoptedSystems { adopted, error: not_adopted } = &mut *adopted;
    left_out.clear();
    carried.clear();
    fed.clear();
    problem.blocks.clear();
    problem.jacobians.clear();
    problem.block_b.clear();
    std::mem::swap(joints, last_joints);
    joints.clear();
    let first_pass = pass.number == 0;
    if first_pass {
        answer.reactions.blocks.clear();
    }
    order.clear();
    order.extend(interactions.iter().map(|(entity, ..)| born(entity)));
    order.sort_unstable();
    let mut refused = not_adopted.take();
    let mut link = 0;
    let ends_of = |interaction: &Interaction| {
        let slot = |k: usize| interaction.systems.get(k).map(|&e| slots.get(e).ok().map(|s| &bodies.rows[s.0 as usize]));
        match [slot(0), slot(1)] {
            [Some(Some(one)), None] => Some([Some(one), None]),
            [Some(Some(one)), Some(Some(two))] => Some([Some(one), Some(two)]),
            _ => None, // one of its bodies has died
        }
    };
    let straight = scheme.treatment.theta() == 1.0;
    if straight && pass.round == 0 && !order.is_empty() {
        let all = || order.iter().filter_map(|&(_, e)| interactions.get(e).ok()).filter_map(|(_, i, _)| Some((i, ends_of(i)?)));
        let bonded = bonds.iter().flat_map(|(_, bond)| bond.bodies).filter_map(|e| Some(bodies.get(*slots.get(e).ok()?)?.row));
        let struck = bodies.rows.iter().filter(|b| b.alive && b.blow != AppliedForce::default()).map(|b| b.row);
        let met = problem.contacts.iter().flat_map(|c| [c.body1, c.body2]).chain(bonded).chain(struck);
        touched.find(problem.free.rigid.len(), all().map(|(_, ends)| rows_of(ends)), met);
        let held = all().filter(|(i, _)| i.law == Law::Equality);
        touched.leave(held.map(|(i, ends)| (rows_of(ends), way(i, ends, scheme.time_step))));
    }
    for (number, (entity, interaction, name)) in order.iter().filter_map(|&(_, entity)| interactions.get(entity).ok()).enumerate() {
        if !is_joint(&interaction.relation) {
            let guess = first_pass.then_some(&mut answer.reactions.blocks);
            if let Some(adopted) = adopted.as_mut().filter(|_| refused.is_none()) {
                let pushed = adopted.push(link, clock.time + scheme.time_step, &scheme, problem, (carried, guess));
                refused = pushed.err().map(|e| e.to_string());
            }
            link += 1;
            continue;
        }
        if first_pass && let Err(reason) = check(interaction) {
            refused.get_or_insert(format!("{}: {reason}", called(name, "interaction", number)));
            continue;
        }
        let Some(ends) = ends_of(interaction) else { continue };
        let mut bound = 0.0;
        if let (Law::Bearing { mu, radius }, Relation::Coordinate(q)) = (&interaction.law, &interaction.relation) {
            let Some((k, joint)) = held_by(interaction, q, joints, &interactions) else {
                refused.get_or_insert(format!("{}: {NO_JOINT}", called(name, "interaction", number)));
                continue;
            };
            let mut found = [0.0; MAX_JOINT_ROWS];
            if first_pass {
                found.iter_mut().zip(&joint.lambda).for_each(|(to, from)| *to = *from);
            } else {
                joints[k].impulses(&answer.reactions.blocks, &mut found);
            }
            let arm = if q.freedom == Freedom::Angle { *radius } else { 1.0 };
            bound = mu * arm * across(&joint.relation, q, &ends.map(|e| e.map_or(Pose::default(), |b| b.frame)), &found);
        }
        let before = problem.blocks.len();
        let ahead = straight && !touched.has(rows_of(ends)) && holds(interaction, ends, scheme.time_step);
        let mut rows = push(&scheme, problem, entity, interaction, ends, (bound, ahead), (left_out, carried, fed));
        if first_pass {
            let guess = interaction.lambda.iter().zip(&rows.units).map(|(l, unit)| if scheme.warm_start { l / unit } else { 0.0 });
            answer.reactions.blocks.extend(guess.zip(rows.kept).filter_map(|(x, kept)| kept.then_some(x)));
        }
        rows.block = (problem.blocks.len() > before).then_some(before as u32);
        rows.first = problem.blocks.get(before).map_or(0, |block| block.first);
        if !first_pass && let Some(last) = last_joints.get(joints.len()).filter(|last| last.entity == entity) {
            let first = problem.block_b.len() - rows.kept.iter().filter(|kept| **kept).count();
            last.hand_on(&rows, &mut answer.reactions.blocks, first);
        }
        joints.push(rows);
    }
    order.clear();
    order.extend(bonds.iter().map(|(entity, _)| born(entity)));
    order.sort_unstable();
    let held = order.iter().filter_map(|&(_, entity)| bonds.get(entity).ok());
    push_bonds(&scheme, &bodies, &slots, held, first_pass, &mut step);
    step.order = order;
    forces.push(&bodies, &scheme, &mut step);
    let refused = refused.or(forces.error.take());
    let StepProblem { problem, error, fed, sharing, planes, locked, .. } = &mut *step;
    fed.resize(problem.block_b.len(), 0.0);
    sharing.set(problem);
    sharing.closable(problem, fed);
    if scheme.gravity == DVec3::ZERO {
        scale_the_still(problem, &bodies);
    }
    problem.planar = false;
    if *locked {
        planes.unlock(problem);
    }
    *error = refused.or(problem.prepare().err().map(|e| e.to_string()));
}

/// Part of the speed of the fastest body below which the scale of a row is rounding.
const NEXT_TO_NOTHING: f64 = 1e-8;

/// Without gravity, rows between bodies that stand still know no speed: what is rounding there is judged by the fastest body, as it is, as the
/// last pass has found it, or as loads make it. A shaft turns without going anywhere.
fn scale_the_still(problem: &mut MixedProblem, bodies: &Bodies) {
    let mobile = || bodies.rows.iter().filter(|row| row.row != IMMOBILE);
    let ways = mobile().flat_map(|row| [row.velocity.linear, row.new_velocity.linear]);
    let fastest = ways.chain(problem.free.rigid.iter().map(|t| t.linear)).map(|v| v.abs().max_element()).fold(0.0, f64::max);
    let turning = mobile().map(|row| turning(row, problem.free.rigid.get(row.row as usize))).fold(0.0, f64::max);
    let fastest = fastest.max(turning.sqrt());
    let (own, least) = (SUM * fastest, NEXT_TO_NOTHING * fastest);
    problem.contacts.iter_mut().filter(|c| c.scale <= least).for_each(|c| c.scale = own);
    problem.blocks.iter_mut().filter(|b| b.scale <= least).for_each(|b| b.scale = own);
}

/// Largest square of a speed (m²/s²) by which a body turns, at its radius of gyration; `free` is what loads give it.
fn turning(body: &Body, free: Option<&Twist>) -> f64 {
    let own = body.velocity.angular.length_squared().max(body.new_velocity.angular.length_squared());
    let spin = free.map_or(own, |twist| own.max(twist.angular.length_squared()));
    if spin == 0.0 { 0.0 } else { body.inertia.map_or(0.0, |i| spin * i.principal.max_element() / i.mass) }
}

/// What rigid bodies can have between them; the error says what was found and what would do.
pub(crate) fn check(interaction: &Interaction) -> Result<(), String> {
    let bodies = interaction.systems.len();
    if !(1..=2).contains(&bodies) || (bodies == 2 && interaction.systems[0] == interaction.systems[1]) {
        return Err(format!("it links {bodies} systems; one body (to the world) or two different ones are needed"));
    }
    match (&interaction.relation, &interaction.law) {
        (Relation::Joint(_), Law::Equality)
        | (Relation::Coordinate(_), Law::NewtonImpact { .. } | Law::Relay { .. } | Law::Spring { .. }) => {}
        (Relation::Coordinate(q), Law::Bearing { .. }) if q.freedom != Freedom::Distance => {}
        (Relation::Coordinate(_), Law::Bearing { .. }) => {
            return Err("the law of a bearing needs a coordinate with an axis; an angle or a displacement is one, a distance is not".into());
        }
        _ => return Err("a joint takes the law Equality, its coordinate NewtonImpact, Relay, Spring or Bearing".into()),
    }
    interaction.relation.validate(7 * bodies, 6 * bodies, interaction.z.len())?;
    interaction.check_parameters()?;
    let rows = interaction.relation.rows();
    if interaction.lambda.len() != rows {
        return Err(format!("its λ holds {} values, but {rows} are needed, one for each row of its relation", interaction.lambda.len()));
    }
    interaction.law.validate(rows)
}

/// Why a bearing cannot be.
const NO_JOINT: &str = "the law of a bearing follows the force in a joint, and none of the same bodies and frames comes before it; \
                        spawn that joint first (Law::Equality), or give a Law::Relay with bounds";

/// The joint whose coordinate this is, with its place among those that have their rows: the last that was made before.
fn held_by<'a>(
    bearing: &Interaction,
    q: &Coordinate,
    joints: &[JointRows],
    interactions: &'a Query<(Entity, &Interaction, Option<&Name>), With<OfBodies>>,
) -> Option<(usize, &'a Interaction)> {
    joints.iter().enumerate().rev().find_map(|(k, rows)| {
        let (_, one, _) = interactions.get(rows.entity).ok()?;
        let Relation::Joint(joint) = &one.relation else { return None };
        (joint.frames == q.frames && one.systems == bearing.systems).then_some((k, one))
    })
}

/// Size of the impulse of a joint at right angles to the axis of its coordinate (N s).
fn across(joint: &Relation, q: &Coordinate, poses: &[Pose; 2], impulses: &[f64; MAX_JOINT_ROWS]) -> f64 {
    let Relation::Joint(own) = joint else { return 0.0 };
    let along = q.row(poses);
    let axis = if q.freedom == Freedom::Angle { along.angular[0] } else { along.linear };
    let rows = rows_at(joint, poses);
    let force: DVec3 = rows.iter().zip(impulses).take(own.kind.translations()).map(|(row, r)| *r * row.linear).sum();
    force.reject_from(axis).length()
}

/// Appends the rows of one interaction; `bound` is that of a bearing (N s, or N m s), and `ahead` tells whether impulses act between the ways of two steps.
fn push(
    scheme: &Scheme,
    problem: &mut MixedProblem,
    entity: Entity,
    interaction: &Interaction,
    ends: [Option<&Body>; 2],
    (bound, ahead): (f64, bool),
    (left_out, carried, fed): (&mut Vec<LeftOut>, &mut Vec<f64>, &mut Vec<f64>),
) -> JointRows {
    let h = scheme.time_step;
    let poses = |of: &dyn Fn(&Body) -> Pose| ends.map(|e| e.map_or(Pose::default(), of));
    let relation = &interaction.relation;
    let n = relation.rows().min(MAX_JOINT_ROWS);
    let (frames, turns) = frames_of(relation);
    let mut gap = output(relation, &poses(&|b| b.pose), &interaction.y);
    // where impulses act, and the rates that are matched
    let next = |b: &Body| if ahead { advance(&b.pose, &b.new_velocity, h, false) } else { b.new_pose };
    let [start, middle, last] = [poses(&|b| b.pose), poses(&|b| b.frame), poses(&next)];
    let places = if ahead { [start, middle, last] } else { [middle, middle, last] };
    let all @ [rows, ..] = places.each_ref().map(|poses| rows_at(relation, poses));
    let mut units = [1.0; MAX_JOINT_ROWS];
    units[turns..].fill(length_of(ends));
    let mut jacobians = [[0.0; 6 * MAX_JOINT_ROWS]; 2];
    let mut systems = [System::Fixed; 2];
    let (mut given, mut driven) = ([0.0; MAX_JOINT_ROWS], [0.0; MAX_JOINT_ROWS]);
    let mut before = 0.0;
    let (mut fastest, mut far) = (0.0, 0.0);
    for (k, end) in ends.into_iter().enumerate() {
        let anchor = frames[k].position;
        let Some(body) = end else {
            far += anchor.length();
            continue;
        };
        far += body.pose.position.length() + anchor.length();
        let spin = if turns < n { units[turns] * body.velocity.angular.length() } else { 0.0 };
        fastest += body.velocity.linear.length() + body.velocity.angular.cross(anchor).length() + spin;
        before += rate(&rows[0], k, body.pose.rotation, &body.velocity);
        let mobile = body.row != IMMOBILE;
        if mobile {
            systems[k] = System::Rigid(body.row);
        }
        let sign = if k == 0 { 1.0 } else { -1.0 };
        // arms stay with the body, whose twist is that of its frame
        let turned = |x: DVec3| if ahead { body.frame.rotation * (body.pose.rotation.conjugate() * x) } else { x };
        for (i, row) in rows[..n].iter().enumerate() {
            let rates = [0, 1, 2].map(|at| units[i] * rate(&all[at][i], k, places[at][k].rotation, &body.new_velocity));
            let [own, middle, last] = rates;
            if !mobile {
                driven[i] += own;
            }
            given[i] += match (ahead, mobile) {
                (true, true) => (4.0 * (middle - own) + (last - own)) / 6.0,
                (true, false) => (own + 4.0 * middle + last) / 6.0,
                (false, true) if scheme.treatment.theta() < 1.0 => last - own,
                (false, true) => 0.0,
                (false, false) => own,
            };
            if !mobile {
                continue;
            }
            jacobians[k][6 * i..6 * i + 3].copy_from_slice(&(units[i] * sign * row.linear).to_array());
            jacobians[k][6 * i + 3..6 * i + 6].copy_from_slice(&(units[i] * turned(row.angular[k])).to_array());
        }
    }
    if gap[..turns].iter().map(|g| g * g).sum::<f64>().sqrt() <= PLACES * far {
        gap[..turns].fill(0.0);
    }
    gap[turns..n].iter_mut().filter(|g| g.abs() <= PLACES).for_each(|g| *g = 0.0);
    let (mut b, mut asked) = (given, [0.0; MAX_JOINT_ROWS]);
    let mut set = AdmissibleSet::Free;
    let (mut soft, mut spring) = (None, None);
    let mut kept = [false; MAX_JOINT_ROWS];
    match (&interaction.law, relation) {
        (Law::Relay { lower, upper }, Relation::Coordinate(q)) => {
            set = AdmissibleSet::Interval { lower: h * lower / units[0], upper: h * upper / units[0] };
            given[0] -= units[0] * q.sign * q.speed;
            b[0] = given[0];
            kept[0] = true;
        }
        (Law::Bearing { .. }, Relation::Coordinate(_)) => {
            set = AdmissibleSet::Interval { lower: -bound / units[0], upper: bound / units[0] };
            kept[0] = true;
        }
        (Law::Spring { stiffness, damping, limit }, Relation::Coordinate(q)) => {
            if limit.is_finite() {
                set = AdmissibleSet::Interval { lower: -h * limit / units[0], upper: h * limit / units[0] };
            }
            given[0] -= units[0] * q.sign * q.speed;
            // along where it acts, as the rate of the start
            let own = if ahead { driven[0] - units[0] * q.sign * q.speed } else { given[0] };
            let rate = before - q.sign * q.speed;
            let rule = match scheme.treatment {
                Treatment::GapAware { .. } => SpringRule::ahead(*stiffness, *damping, mobility(ends, frames, q.freedom, &rows[0]), h),
                Treatment::Forecast { theta } => SpringRule::of_theta(theta),
            };
            // the speed is one at which the damper rests: the spring goes the way of its ends, which rates less the speed do not tell
            let y = gap[0] + h * (rule.after + rule.before) * q.sign * q.speed;
            let [d, part] = rule.row(*stiffness, *damping, (y, rate), h);
            b[0] = own + units[0] * part;
            soft = Some(units[0] * units[0] * d);
            spring = Some(([stiffness, damping].map(|x| x / (units[0] * units[0])), rule));
            kept[0] = true;
        }
        (Law::NewtonImpact { e }, Relation::Coordinate(q)) => {
            set = AdmissibleSet::NonNegative;
            let swing = if q.freedom == Freedom::Angle { units[0] / swing_length(ends, frames, &rows[0]) } else { 1.0 };
            let (y, least) = (units[0] * gap[0], swing * least_impact(h, scheme.gravity));
            before *= units[0];
            // the rate of the start, as its place is not that of the last pass: each pass has the same rows
            let row = q.row(&start);
            let of = |k: usize| ends[k].map_or(0.0, |b| rate(&row, k, b.pose.rotation, &b.velocity));
            let coming = units[0] * (of(0) + of(1));
            let closes = match scheme.treatment {
                Treatment::GapAware { .. } => *e > 0.0 && coming < -least && y + h * coming <= 0.0,
                Treatment::Forecast { .. } => y + 0.5 * h * coming <= 0.0,
            };
            kept[0] = true;
            match scheme.treatment {
                _ if closes => b[0] += e * before,
                Treatment::GapAware { beta } => b[0] += (if y > 0.0 { y } else { beta * y }) / h,
                Treatment::Forecast { .. } => kept[0] = false,
            }
        }
        _ => {
            let feedback = if scheme.drift == Drift::Velocity { scheme.joint_feedback } else { 0.0 };
            let length = length_of(ends);
            for i in 0..n {
                let way = feedback * units[i] * gap[i] / h;
                b[i] += way;
                // what is wider was never closed, and may be impossible
                asked[i] = if gap[i].abs() <= DRIFTED * if i < turns { length } else { 1.0 } { way } else { 0.0 };
            }
            kept[..n].fill(true);
        }
    }
    let independent = independent_rows(&problem.rigid, ends, systems, &jacobians, n);
    let (mut packed, mut packed_b, mut m) = ([[0.0; 6 * MAX_JOINT_ROWS]; 2], [0.0; MAX_JOINT_ROWS], 0);
    for i in 0..n {
        if !kept[i] {
            continue;
        }
        let row = [0, 1].map(|k| std::array::from_fn(|j| jacobians[k][6 * i + j]));
        if independent[i] {
            (0..2).for_each(|k| packed[k][6 * m..6 * m + 6].copy_from_slice(&row[k]));
            packed_b[m] = b[i];
            carried.push(driven[i]);
            fed.resize(problem.block_b.len() + m, 0.0);
            fed.push(asked[i]);
            m += 1;
        } else if set == AdmissibleSet::Free {
            // what rounding and the touch of bodies would leave
            let reach =
                |k: usize| ends[k].map_or(0.0, |body| frames[k].position.length() * scheme.touch + 1e-12 * body.pose.position.length());
            let tolerance = (reach(0) + reach(1)).max(scheme.touch * units[i] * f64::from(u8::from(i >= turns))) / h;
            let way = rows[i];
            let direction = if way.linear == DVec3::ZERO { way.angular[0] } else { way.linear }.normalize_or_zero();
            left_out.push(LeftOut { bodies: ends.map(|e| e.and_then(|b| b.entity)), systems, rows: row, b: b[i], direction, tolerance });
        }
        kept[i] = independent[i];
    }
    if m > 0 {
        let used = |k: usize| if systems[k] == System::Fixed { &packed[k][..0] } else { &packed[k][..6 * m] };
        problem.push_block(set, systems, [used(0), used(1)], &packed_b[..m]);
        if let Some(d) = soft {
            problem.soften(&[d]);
        }
        if let Some(block) = problem.blocks.last_mut() {
            let approach = b[..n].iter().map(|b| b * b).sum::<f64>().sqrt();
            let own = contact_scale(h, scheme.gravity.length(), approach, f64::INFINITY);
            block.scale = own.max(SUM * fastest);
        }
    }
    let bore = matches!(interaction.law, Law::NewtonImpact { .. }) && interaction.lambda.first().is_some_and(|l| *l != 0.0);
    let held = interaction.y_dot.first().filter(|_| bore).map(|rate| units[0] * rate);
    JointRows { entity, block: None, first: 0, kept, units, given, spring, held }
}

/// Gives joints that hold more than they have to the least of the reactions that move their bodies alike.
pub fn share_joints(solver: Res<Solver>, mut step: ResMut<StepProblem>) {
    let StepProblem { problem, answer, sharing, error: None, .. } = &mut *step else { return };
    sharing.share(problem, &mut answer.reactions, solver.settings.tolerance);
}

/// Impulses, outputs and their rates back to the interactions.
pub fn store_joints(step: Res<StepProblem>, bodies: Res<Bodies>, slots: Query<&Slot>, mut interactions: Query<&mut Interaction>) {
    for joint in &step.joints {
        let (mut lambda, mut rates) = ([0.0; MAX_JOINT_ROWS], [0.0; MAX_JOINT_ROWS]);
        let block = joint.block.and_then(|k| step.problem.blocks.get(k as usize));
        if let Some(block) = block {
            joint.impulses(&step.answer.reactions.blocks, &mut lambda);
            let mut u = [0.0; MAX_JOINT_ROWS];
            step.problem.block_rate(block, &step.answer.velocities, &mut u[..block.rows]);
            let kept = (0..MAX_JOINT_ROWS).filter(|&i| joint.kept[i]);
            for (row, i) in kept.enumerate() {
                rates[i] = (u[row] + joint.given[i]) / joint.units[i];
            }
        }
        let Ok(mut interaction) = interactions.get_mut(joint.entity) else { continue };
        let place = |k: usize| {
            let body = interaction.systems.get(k).and_then(|&e| slots.get(e).ok());
            body.map_or(Pose::default(), |s| bodies.rows[s.0 as usize].new_pose)
        };
        let poses = [place(0), place(1)];
        let y = output(&interaction.relation, &poses, &interaction.y);
        let own = interaction.bypass_change_detection();
        let mut new = std::mem::replace(&mut own.active, block.is_some()) != block.is_some();
        let parts = [(&mut own.lambda, &lambda), (&mut own.y_dot, &rates), (&mut own.y, &y)];
        let pairs = parts.into_iter().flat_map(|(to, from)| to.iter_mut().zip(from));
        pairs.for_each(|(to, from)| new |= std::mem::replace(to, *from) != *from);
        if let (Relation::Joint(joint), [near]) = (&own.relation, &mut own.z[..])
            && let Some(freedom) = joint.kind.freedom()
        {
            let now = Coordinate::new(freedom, joint.frames).value(&poses, *near);
            new |= std::mem::replace(near, now) != now;
        }
        if new {
            interaction.set_changed();
        }
    }
}
