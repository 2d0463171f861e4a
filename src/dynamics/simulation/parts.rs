//! Steps that are solved in parts, where bodies in joints turn far.
//!
//! ```text
//! H(R(½ h ω⁺)) v⁺ = 0        the arms of joints are those of the middle of the step
//! h = D/2ᵏ                   D: the step, k: the least for which every part can be solved
//! ```
//!
//! The passes that look for the middle settle while bodies turn by up to about a radian in the step; a blow at a door or at a pair that flies
//! turns them by many. Such a step is begun anew, with halves of its length, as often as it needs. A part is a step like any other: its
//! contacts are found anew, its impacts are its own. Only the clock and the certificate, which is that of the worst part, know of the whole.

use super::error::SimulationError;
use super::report::StepReport;
use super::run::Simulation;
use crate::assembly::problem::StepProblem;
use crate::geometry::systems::Proximity;
use crate::integrator::mixing::Mixing;
use crate::integrator::systems::Pass;
use crate::model::contact::{Manifold, TurnedArms};
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::newton_euler::{AppliedForce, BodyForces, Velocity};
use crate::model::relation::Relation;
use crate::model::scheme::Clock;
use crate::numerics::{Report, Status};
use crate::topology::bodies::{Bodies, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Angle (rad) by which the arm of a joint may turn in a part. It holds in the middle: at the end it is open by up to a 24th of the cube.
const FAR: f64 = 0.5;
/// What becomes no number while bodies in joints, and those that meet them, turn by less than this (rad) and move by less than this part of their
/// smallest length does so for another reason. An impulse m v that acts at a turned arm a turns a body by ½ h v/a times the turn.
const LITTLE: [f64; 2] = [0.1, 0.25];
/// Halvings of a step.
const MOST: u32 = 12;
/// Turn of a body (rad) beyond which passes that were mixed are not believed.
const MIXED: f64 = 0.25;
/// Halvings where passes do not settle though little turns, as where a chain is jerked: an impulse P turns a link of mass m and length l by
/// h P/(m l).
const UNSETTLED: u32 = 6;

/// Contact points as they are before a step that may be begun anew.
#[derive(Debug, Default)]
pub(super) struct Kept {
    entities: Vec<Entity>,
    manifolds: Vec<Manifold>,
}

impl Simulation {
    /// Moves the bodies by a time step, in as many parts as it needs.
    pub(super) fn move_bodies(&mut self, blows: &[(Entity, AppliedForce)]) -> Result<StepReport, SimulationError> {
        let (start, whole) = (self.time(), self.time_step());
        let mut joints = self.world.query_filtered::<(), (With<OfBodies>, With<Interaction>)>();
        let mut forces = self.world.query_filtered::<&BodyForces, With<Slot>>();
        let jointed = joints.iter(&self.world).next().is_some() || forces.iter(&self.world).any(|f| !f.is_steady());
        let (mut cut, mut index, mut sum) = (0, 0u64, None::<StepReport>);
        let done = loop {
            while jointed && cut < MOST && self.largest_turn(|world, body| Some(world.get::<Velocity>(body)?.angular)) > FAR {
                (cut, index) = self.halve(cut, index);
            }
            let clock = self.world.resource_mut::<Clock>().into_inner();
            clock.time = if index == 0 { start } else { start + index as f64 * whole / (1u64 << cut) as f64 };
            if jointed {
                self.keep_points();
            }
            let tried = self.try_step(if index == 0 { blows } else { &[] }, jointed);
            if let Err(SimulationError::Stopped { step, .. }) = tried {
                let back = if index > 0 { self.put_start_back() } else { Ok(()) };
                if jointed && index == 0 {
                    self.put_points_back();
                }
                break back.and(Err(SimulationError::Stopped { step, time: start }));
            }
            let hard = match tried {
                // mixed passes settle at turns of which there are several
                Ok(true) => self.world.resource::<Mixing>().is_mixed() && self.largest_spin() > MIXED,
                Ok(false) => cut < UNSETTLED && self.is_solved() || self.turned_far(),
                Err(_) => self.turned_far(),
            };
            if jointed && cut < MOST && (hard || self.largest_turn(new_angular) > FAR) {
                self.put_points_back();
                (cut, index) = self.halve(cut, index);
                continue;
            }
            let last = (index + 1) >> cut == 1;
            let report = match tried.and_then(|settled| self.finish(settled, last.then_some((start, whole)))) {
                Ok(report) => report,
                Err(error) => break Err(error),
            };
            let share = 1.0 / (1u64 << cut) as f64;
            let report = StepReport { parts: 1, support_force: share * report.support_force, ..report };
            sum = Some(sum.map_or(report, |sum| sum.with(&report)));
            index += 1;
            if index >> cut == 1 {
                break Ok(());
            }
        };
        self.change_step(whole);
        done?;
        self.world.resource_mut::<Clock>().time = start;
        Ok(StepReport { step_size: whole, ..sum.unwrap_or_default() })
    }

    /// Halves what is left of the step.
    fn halve(&mut self, cut: u32, index: u64) -> (u32, u64) {
        if cut == 0 {
            self.keep_start();
        }
        self.change_step(0.5 * self.time_step());
        (cut + 1, 2 * index)
    }

    /// Largest angle (rad) by which the arm of a joint turns at these angular velocities (body axes).
    fn largest_turn(&mut self, angular: fn(&World, Entity) -> Option<DVec3>) -> f64 {
        let h = self.time_step();
        let mut joints = self.world.query_filtered::<&Interaction, With<OfBodies>>();
        let turn = |(body, arm): (Entity, DVec3)| {
            let omega = angular(&self.world, body).unwrap_or_default();
            h * arm.try_normalize().map_or(0.0, |arm| omega.cross(arm).length())
        };
        let mut largest: f64 = 0.0;
        for interaction in joints.iter(&self.world) {
            let Relation::Joint(joint) = &interaction.relation else { continue };
            let ends = interaction.systems.iter().zip(joint.frames).map(|(&body, frame)| turn((body, frame.position)));
            largest = ends.fold(largest, f64::max);
        }
        largest
    }

    /// Whether bodies in joints, or those that meet such bodies, go or turn far in the step that has just been tried.
    fn turned_far(&self) -> bool {
        let h = self.time_step();
        if self.world.resource::<Proximity>().stride(h) > LITTLE[1] {
            return true;
        }
        self.largest_spin() > LITTLE[0]
    }

    /// Whether the problem of the last pass was solved: shorter parts help where passes go astray, not where their problems are hard.
    fn is_solved(&self) -> bool {
        self.world.resource::<StepProblem>().report.converged()
    }

    /// Largest angle (rad) by which bodies in joints, or those that meet such bodies, turn in the step that has just been tried; infinite where one
    /// is no number.
    fn largest_spin(&self) -> f64 {
        let jointed = &self.world.resource::<TurnedArms>().jointed;
        let rows = &self.world.resource::<Bodies>().rows;
        let turning = rows.iter().zip(jointed).filter(|(row, jointed)| (**jointed || row.reacted) && row.alive && row.inertia.is_some());
        let spins = turning.flat_map(|(row, _)| [row.velocity.angular, row.new_velocity.angular]);
        self.time_step() * spins.map(|w| if w.is_finite() { w.length() } else { f64::INFINITY }).fold(0.0, f64::max)
    }

    fn keep_points(&mut self) {
        let kept = &mut self.kept;
        kept.entities.clear();
        let mut manifolds = self.world.query::<(Entity, &Manifold)>();
        for (k, (entity, manifold)) in manifolds.iter(&self.world).filter(|(_, m)| !m.points.is_empty()).enumerate() {
            kept.entities.push(entity);
            match kept.manifolds.get_mut(k) {
                Some(place) => place.points.clone_from(&manifold.points),
                None => kept.manifolds.push(manifold.clone()),
            }
        }
    }

    fn put_points_back(&mut self) {
        let mut manifolds = self.world.query::<&mut Manifold>();
        manifolds.iter_mut(&mut self.world).for_each(|mut m| m.points.clear());
        for (&entity, kept) in self.kept.entities.iter().zip(&self.kept.manifolds) {
            // pairs that are no longer near each other are gone
            if let Some(mut manifold) = self.world.get_mut::<Manifold>(entity) {
                manifold.points.clone_from(&kept.points);
            }
        }
        self.world.insert_resource(Pass::default());
    }
}

/// Angular velocity of a body at the end of the step that has just been tried.
fn new_angular(world: &World, body: Entity) -> Option<DVec3> {
    let slot = world.get::<Slot>(body)?.0 as usize;
    Some(world.resource::<Bodies>().rows.get(slot)?.new_velocity.angular)
}

impl StepReport {
    /// The certificate of two parts of a step: the worst of both, and the sums of the efforts.
    fn with(self, next: &Self) -> Self {
        let (a, b) = (&self.report, &next.report);
        let severity = |r: &Report| match r.status {
            Status::Converged => 0,
            Status::Lagged => 1,
            Status::Stalled | Status::BudgetSpent => 2,
            Status::Inconsistent => 3,
        };
        let worse = if severity(a) > severity(b) { a } else { b };
        let report = Report {
            iterations: a.iterations + b.iterations,
            factorisations: a.factorisations + b.factorisations,
            rel: a.rel.max(b.rel),
            rel_q: a.rel_q.max(b.rel_q),
            e_s: a.e_s.max(b.e_s),
            violation: a.violation.max(b.violation),
            misfit: a.misfit.max(b.misfit),
            parts: a.parts.max(b.parts),
            ..*worse
        };
        Self {
            converged: self.converged && next.converged,
            lagged: self.lagged.into_iter().chain(next.lagged).reduce(f64::max),
            infeasible: self.infeasible || next.infeasible,
            rebounds_dropped: self.rebounds_dropped || next.rebounds_dropped,
            overlaps_kept: self.overlaps_kept || next.overlaps_kept,
            violation: self.violation.max(next.violation),
            violation_size: self.violation_size.max(next.violation_size),
            report,
            passes: self.passes + next.passes,
            parts: self.parts + next.parts,
            penetration: self.penetration.max(next.penetration),
            penetration_size: self.penetration_size.max(next.penetration_size),
            stride: self.stride.max(next.stride),
            support_force: self.support_force + next.support_force,
            ..*next
        }
    }
}
