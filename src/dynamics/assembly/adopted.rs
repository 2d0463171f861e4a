//! Lagrangian systems in islands with bodies, and relations of the user between any of them: from components to the problem and back.
//!
//! What is worked out is in `cluster::adopted`. States are taken up at the start of a step; forces and rows are evaluated in every
//! pass, at the velocities of the last one.

use super::problem::StepProblem;
use crate::cluster::adopted::{Adopted, Guest, Place, Tie, fits};
use crate::cluster::systems::{called, mark};
use crate::integrator::mixing::Mixing;
use crate::integrator::systems::Pass;
use crate::model::birth::{Birth, rank};
use crate::model::dynamical_system::Lagrangian;
use crate::model::integrator::Integrator;
use crate::model::interaction::{Interaction, Lodger, OfBodies};
use crate::model::relation::Relation;
use crate::model::scheme::{Clock, Scheme};
use crate::numerics::mixed::IMMOBILE;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;

/// Systems and relations that the step has adopted; none in most scenes.
#[derive(Resource, Debug, Default)]
pub struct AdoptedSystems {
    pub(super) adopted: Option<Adopted>,
    /// Why they cannot be.
    pub(super) error: Option<String>,
}

/// Whether a relation has rows of its own kind in [`super::joints`].
pub(super) fn is_joint(relation: &Relation) -> bool {
    matches!(relation, Relation::Joint(_) | Relation::Coordinate(_))
}

fn place_of(bodies: &Bodies, slots: &Query<&Slot>, entity: Entity) -> Place {
    let none = Body::default();
    let body = slots.get(entity).ok().and_then(|s| bodies.rows.get(s.0 as usize)).unwrap_or(&none);
    let row = if body.alive { body.row } else { IMMOBILE };
    Place { poses: [body.pose, body.frame, body.new_pose], velocities: [body.velocity, body.new_velocity], row }
}

/// Takes up systems, relations and their states at the start of a step.
pub fn adopt(
    (scheme, clock, bodies): (Res<Scheme>, Res<Clock>, Res<Bodies>),
    slots: Query<&Slot>,
    systems: Query<(Entity, &Lagrangian, &Integrator, Option<&Name>), With<OfBodies>>,
    interactions: Query<(Entity, &Interaction, Option<&Name>), With<OfBodies>>,
    lodgers: Query<(Entity, &Integrator, Option<&Name>), With<Lodger>>,
    births: Query<&Birth>,
    mut adopted: ResMut<AdoptedSystems>,
) {
    let birth = |entity: Entity| rank(births.get(entity).ok(), entity);
    let AdoptedSystems { adopted, error } = &mut *adopted;
    *error = None;
    let theta = scheme.treatment.theta();
    let unfit = lodgers.iter().filter(|(_, integrator, _)| !fits(integrator, theta)).min_by_key(|l| birth(l.0));
    if let Some((_, integrator, name)) = unfit {
        let name = called(name, "system", 0);
        *error = Some(format!(
            "{name} interacts with a body; in this scene that takes Moreau–Jean with theta = {theta} and no projection, but it has {integrator:?}"
        ));
        return;
    }
    if systems.is_empty() && interactions.iter().all(|(_, i, _)| is_joint(&i.relation)) {
        *adopted = None;
        return;
    }
    let mut guests: Vec<Guest> = systems.iter().collect();
    guests.sort_by_key(|g| birth(g.0));
    let mut ties: Vec<Tie> = interactions.iter().map(|(e, i, name)| (e, i, name, 0)).collect();
    ties.sort_by_key(|t| birth(t.0));
    ties.iter_mut().enumerate().for_each(|(number, tie)| tie.3 = number);
    ties.retain(|t| !is_joint(&t.1.relation));
    if !adopted.as_ref().is_some_and(|a| a.is_of(&guests, &ties, &scheme)) {
        let living: Vec<Entity> = ties.iter().flat_map(|t| t.1.systems.iter().copied()).filter(|&e| slots.contains(e)).collect();
        *adopted = match Adopted::build(&guests, &living, &ties, &scheme) {
            Ok(built) => Some(built),
            Err(reason) => {
                *error = Some(reason.to_string());
                None
            }
        };
    }
    if let Some(adopted) = adopted {
        adopted.take_up(&guests, &ties, scheme.gravity);
        let places: Vec<Place> = adopted.bodies().map(|e| place_of(&bodies, &slots, e)).collect();
        *error = adopted.begin(clock.time, &scheme, &places).err().map(|e| e.to_string());
    }
}

/// Free velocities and Ŵ of the Lagrangian systems, after those of the bodies.
pub fn free_systems(
    (scheme, clock, mixing, bodies): (Res<Scheme>, Res<Clock>, Res<Mixing>, Res<Bodies>),
    slots: Query<&Slot>,
    mut adopted: ResMut<AdoptedSystems>,
    mut step: ResMut<StepProblem>,
) {
    let StepProblem { problem, before, spun, .. } = &mut *step;
    problem.clear_general();
    let AdoptedSystems { adopted: Some(adopted), error } = &mut *adopted else { return };
    let h = scheme.time_step;
    let moved = adopted.move_freely((clock.time + h, h), mixing.of_systems(), problem, [before, spun]);
    *error = error.take().or(moved.err().map(|e| e.to_string()));
    adopted.follow(|e| place_of(&bodies, &slots, e), h);
}

/// New velocities of the Lagrangian systems.
pub fn apply_systems(
    scheme: Res<Scheme>,
    mut pass: ResMut<Pass>,
    mut mixing: ResMut<Mixing>,
    mut adopted: ResMut<AdoptedSystems>,
    step: Res<StepProblem>,
) {
    pass.systems = 0.0;
    mixing.clear();
    let Some(adopted) = adopted.adopted.as_mut().filter(|_| step.error.is_none()) else { return };
    let answer = &step.answer;
    pass.systems =
        adopted.take(&step.problem, (&answer.reactions.blocks, &answer.velocities.general), scheme.time_step, |missed, found| {
            mixing.note(&[missed], &[found])
        });
    mixing.end_systems();
}

/// States, impulses and outputs back to systems and interactions.
pub fn store_systems(
    (scheme, clock, bodies): (Res<Scheme>, Res<Clock>, Res<Bodies>),
    slots: Query<&Slot>,
    mut adopted: ResMut<AdoptedSystems>,
    mut step: ResMut<StepProblem>,
    mut systems: Query<&mut Lagrangian>,
    mut interactions: Query<&mut Interaction>,
) {
    step.systems = Default::default();
    let Some(adopted) = &mut adopted.adopted else { return };
    let h = scheme.time_step;
    adopted.follow(|e| place_of(&bodies, &slots, e), h);
    match adopted.finish(clock.time + h, h) {
        Ok(work) => step.systems = work,
        Err(reason) => {
            step.error = Some(reason.to_string());
            return;
        }
    }
    let (own, links) = adopted.entities();
    for (k, entity) in own.enumerate() {
        let Ok(mut system) = systems.get_mut(entity) else { continue };
        let new = adopted.write_system(k, system.bypass_change_detection());
        mark(&mut system, new);
    }
    for (k, entity) in links.enumerate() {
        let Ok(mut interaction) = interactions.get_mut(entity) else { continue };
        let new = adopted.write_link(k, interaction.bypass_change_detection());
        mark(&mut interaction, new);
    }
}
