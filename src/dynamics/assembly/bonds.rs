//! Rows of bonds: at each point of a joint a spring of its secant stiffness that yields at what the joint still bears.
//!
//! ```text
//! u = H v + D r + b        −u ∈ N_K(r)        D, b of [`SpringRule::row`] with (1 − D) k a
//! normal                   −h f a ≤ r ≤ 0     f: the strength that is left at this damage; necks push without bound
//! tangential, two rows     |r_i| ≤ h c a      the first along the slip so far
//! ```
//!
//! Damage is that of the start of the step; it is brought up to date at its end. That the bound holds within the step is of first order in h.
//! It is judged by `δ + h u_θ`, the opening that the rows know and carry, and not by places: bodies go straight in a step, which opens
//! a bond that turns by `R (ω h)²`, without a load; the spring closes that in the next step.

use super::problem::StepProblem;
use super::rows::SUM;
use crate::algebra::spatial::{Pose, tangents};
use crate::model::bond::{Bond, BondPoint, Cohesion, outer};
use crate::model::newton_euler::Velocity;
use crate::model::scheme::Scheme;
use crate::model::spring::SpringRule;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, System};
use crate::numerics::residual::contact_scale;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;
use glam::{DQuat, DVec3};

/// The two blocks of a point that holds, and its way when the step began (opening, slip along the second axis).
#[derive(Clone, Copy, Debug)]
pub(super) struct BondRows {
    bond: Entity,
    point: u32,
    /// First reaction of its three rows.
    first: usize,
    axes: [DVec3; 3],
    delta: [f64; 2],
}

impl StepProblem {
    /// Points of bonds that hold: bond, number of the point, and the first of its three rows among those of the blocks.
    pub fn bonded_points(&self) -> impl Iterator<Item = (Entity, usize, usize)> + '_ {
        self.bonds.iter().map(|rows| (rows.bond, rows.point as usize, rows.first))
    }
}

/// Opening along `n` and the vector of slip of a point, its bodies at these poses.
fn parted(point: &BondPoint, poses: [&Pose; 2], shift: DVec3, n: DVec3) -> (f64, DVec3) {
    let way = poses[0].point(point.places[0]) - poses[1].point(point.places[1]) - shift;
    let opening = n.dot(way);
    (opening, way - opening * n)
}

/// The rows of all bonds, in the order of their birth.
pub(super) fn push<'a>(
    scheme: &Scheme,
    bodies: &Bodies,
    slots: &Query<&Slot>,
    bonds: impl Iterator<Item = (Entity, &'a Bond)>,
    first_pass: bool,
    step: &mut StepProblem,
) {
    let StepProblem { problem, answer, carried, bonds: rows, bonded, .. } = step;
    rows.clear();
    let rule = SpringRule::of_theta(scheme.treatment.theta());
    let from = problem.blocks.len();
    for (entity, bond) in bonds {
        let Some(ends) = ends(bond, bodies, slots) else { continue };
        if ends.iter().all(|end| end.row == IMMOBILE) {
            continue;
        }
        let n = ends[0].frame.rotation * bond.normal;
        for (k, point) in bond.points.iter().enumerate().filter(|(_, point)| !point.broken()) {
            let (opening, slip) = parted(point, ends.map(|end| &end.pose), bond.shift, n);
            let along = slip.normalize_or_zero();
            let t1 = if along == DVec3::ZERO { tangents(n).0 } else { along };
            let axes = [n, t1, n.cross(t1)];
            let arms = [0, 1].map(|i| ends[i].frame.rotation * point.places[i]);
            let at = |i: usize, v: &Velocity| v.linear + (ends[i].pose.rotation * v.angular).cross(arms[i]);
            let speed = at(0, &ends[0].velocity) - at(1, &ends[1].velocity);
            let driven = |i: usize| if ends[i].row == IMMOBILE { at(i, &ends[i].new_velocity) } else { DVec3::ZERO };
            let given = driven(0) - driven(1);
            let [stiff, bound] = strength(point, &bond.law);
            let h = scheme.time_step;
            let delta = [opening, slip.length(), 0.0];
            let first = problem.block_b.len();
            for (range, part, set) in [
                (0..1, 0, AdmissibleSet::Interval { lower: -h * bound[0], upper: if bond.neck > 0.0 { f64::INFINITY } else { 0.0 } }),
                (1..3, 1, AdmissibleSet::Interval { lower: -h * bound[1], upper: h * bound[1] }),
            ] {
                let row = |i: usize, axis: DVec3| {
                    let (sign, moment) = (if i == 0 { 1.0 } else { -1.0 }, arms[i].cross(axis));
                    let [linear, angular] = [sign * axis, sign * moment];
                    [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
                };
                let (mut b, mut d, m) = ([0.0; 2], [0.0; 4], range.len());
                let mut jacobians = [[0.0; 12]; 2];
                for (i, k) in range.enumerate() {
                    let axis = axes[k];
                    (0..2).for_each(|end| jacobians[end][6 * i..6 * i + 6].copy_from_slice(&row(end, axis)));
                    let [own, share] = rule.row(stiff[part], 0.0, (delta[k], axis.dot(speed)), h);
                    (b[i], d[i * (m + 1)]) = (axis.dot(given) + share, own);
                    carried.push(axis.dot(given));
                }
                let system = |i: usize| if ends[i].row == IMMOBILE { System::Fixed } else { System::Rigid(ends[i].row) };
                let used = |i: usize| if ends[i].row == IMMOBILE { &jacobians[i][..0] } else { &jacobians[i][..6 * m] };
                problem.push_block(set, [system(0), system(1)], [used(0), used(1)], &b[..m]);
                problem.soften(&d[..m * m]);
                if let Some(block) = problem.blocks.last_mut() {
                    // what would draw it to its strength within the step
                    let strong = [bond.law.tension, bond.law.cohesion][part] / bond.law.stiffness[part] / h;
                    let own = contact_scale(h, scheme.gravity.length(), speed.length(), f64::INFINITY);
                    block.scale = own.max(SUM * speed.length()).max(strong);
                }
            }
            if first_pass {
                let guess = |axis: DVec3| if scheme.warm_start { axis.dot(point.impulse) } else { 0.0 };
                answer.reactions.blocks.extend(axes.map(guess));
            }
            rows.push(BondRows { bond: entity, point: k as u32, first, axes, delta: [opening, slip.length()] });
        }
    }
    *bonded = from..problem.blocks.len();
}

/// Secant stiffnesses (N/m) of a point, and what it bears at most (N).
fn strength(point: &BondPoint, law: &Cohesion) -> [[f64; 2]; 2] {
    let left = 1.0 - point.damage;
    [law.stiffness.map(|k| left * k * point.area), [law.tension, law.cohesion].map(|f| point.left * f * point.area)]
}

fn ends<'a>(bond: &Bond, bodies: &'a Bodies, slots: &Query<&Slot>) -> Option<[&'a Body; 2]> {
    let [one, two] = bond.bodies.map(|body| slots.get(body).ok().and_then(|slot| bodies.get(*slot)));
    Some([one?, two?])
}

/// How far a place (m, body axes) goes in the step, its arm being that of the rows.
fn way(end: &Body, place: DVec3, theta: f64, h: f64) -> DVec3 {
    let arm = end.frame.rotation * place;
    let at = |v: &Velocity, rotation: DQuat| v.linear + (rotation * v.angular).cross(arm);
    h * (theta * at(&end.new_velocity, end.frame.rotation) + (1.0 - theta) * at(&end.velocity, end.pose.rotation))
}

/// Impulses, opening and damage back to the bonds.
pub fn store_bonds(scheme: Res<Scheme>, step: Res<StepProblem>, bodies: Res<Bodies>, slots: Query<&Slot>, mut bonds: Query<&mut Bond>) {
    let (h, theta) = (scheme.time_step, scheme.treatment.theta());
    let reactions = &step.answer.reactions.blocks;
    for of_bond in step.bonds.chunk_by(|a, b| a.bond == b.bond) {
        let Ok(mut bond) = bonds.get_mut(of_bond[0].bond) else { continue };
        let Some(ends) = ends(&bond, &bodies, &slots) else { continue };
        let Bond { points, law, neck, .. } = &mut *bond;
        // how far each point has parted at the end, by the rows
        let parted = |rows: &BondRows, point: &BondPoint| {
            let ways = [0, 1].map(|k| way(ends[k], point.places[k], theta, h));
            rows.delta[0] * rows.axes[0] + rows.delta[1] * rows.axes[1] + ways[0] - ways[1]
        };
        let whole = (*neck > 0.0 && of_bond.len() == 4 && points.len() == 4).then(|| {
            let ways = [0, 1, 2, 3].map(|k| parted(&of_bond[k], &points[k]));
            let across = ends[0].frame.rotation * (points[0].places[0] - points[1].places[0]);
            outer(ways, of_bond[0].axes[0], across.normalize_or_zero())
        });
        for rows in of_bond {
            let Some(point) = points.get_mut(rows.point as usize) else { continue };
            point.impulse = rows.axes.iter().zip(&reactions[rows.first..]).map(|(axis, r)| *r * *axis).sum();
            let delta = {
                let [opening, along, across] = rows.axes.map(|axis| axis.dot(parted(rows, point)));
                [opening, (along * along + across * across).sqrt()]
            };
            point.take_in_beside(law, delta, whole.unwrap_or(delta));
            if point.broken() {
                point.impulse = DVec3::ZERO;
            }
        }
    }
}
