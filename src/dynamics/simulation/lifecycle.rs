//! What comes and goes with a body, whoever spawns or despawns it: its slot, its pairs, its joints.
//!
//! Component hooks do this, so it makes no difference whether a body is made by
//! [`Simulation::spawn_body`](super::Simulation::spawn_body) or by `world.spawn((BodyPose(pose), Inertia { … }, Collider::new(shape)))`,
//! and whether it ends by `despawn_body`, by an event or by `world.despawn(body)`.
//!
//! A pose with an [`Integrator`] and without a collider makes a system of a cluster instead, which gets its slot with its island
//! ([`crate::topology::islands`]). A collider, or the end of the integrator, makes it a body for good.

use crate::cluster::Probe;
use crate::geometry::systems::{Collider, Proximity};
use crate::model::birth::{self, Birth};
use crate::model::bond::Bond;
use crate::model::flow::{Flow, Inlet, Outlet};
use crate::model::integrator::Integrator;
use crate::model::interaction::{Interaction, Lodger, OfBodies};
use crate::model::newton_euler::{AppliedForce, BodyName, BodyPose, Locks, Motion, Velocity};
use crate::model::surface::Crossings;
use crate::topology::bodies::{Slot, Slots};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

/// Registers the hooks in a new world.
pub(super) fn watch(world: &mut World) {
    world.register_required_components::<BodyPose, Velocity>();
    world.register_required_components::<BodyPose, Motion>();
    world.register_required_components::<BodyPose, Locks>();
    world.register_required_components::<BodyPose, AppliedForce>();
    world.register_required_components::<BodyPose, BodyName>();
    birth::count(world);
    world.register_required_components::<Integrator, Birth>();
    world.register_required_components::<Interaction, Birth>();
    world.register_required_components::<Bond, Birth>();
    world.register_required_components::<Probe, Birth>();
    world.register_required_components::<Flow, Birth>();
    world.register_required_components::<Outlet, Birth>();
    world.register_required_components::<Inlet, Birth>();
    world.register_required_components::<Crossings, Birth>();
    world.register_component_hooks::<BodyPose>().on_add(enrol);
    world.register_component_hooks::<Collider>().on_add(settle);
    world.register_component_hooks::<Integrator>().on_add(bind).on_remove(release_from_cluster);
    world.register_component_hooks::<Slot>().on_remove(release);
}

/// A pose makes an entity a body: it gets the lowest free slot.
fn enrol(mut world: DeferredWorld, context: HookContext) {
    let body = context.entity;
    let clustered = world.get::<Integrator>(body).is_some();
    if world.get::<Slot>(body).is_some() || (clustered && world.get::<Collider>(body).is_none()) {
        return;
    }
    let Some(mut slots) = world.get_resource_mut::<Slots>() else { return };
    let slot = slots.take();
    world.commands().entity(body).insert(slot);
    if clustered {
        world.commands().entity(body).insert(OfBodies);
    }
}

/// A collider makes a rigid body with an integrator one that has a slot for good.
fn settle(mut world: DeferredWorld, context: HookContext) {
    if world.get::<BodyPose>(context.entity).is_none() {
        return;
    }
    if world.get::<Lodger>(context.entity).is_some() {
        world.commands().entity(context.entity).remove::<Lodger>();
    } else if world.get::<Integrator>(context.entity).is_some() {
        enrol(world, context);
    }
}

/// An integrator on what has a slot already is no system of a cluster.
fn bind(mut world: DeferredWorld, context: HookContext) {
    if world.get::<Slot>(context.entity).is_some() {
        world.commands().entity(context.entity).insert(OfBodies);
    }
}

/// Without an integrator a rigid body of a cluster is one with a slot.
fn release_from_cluster(mut world: DeferredWorld, context: HookContext) {
    let body = context.entity;
    if world.get::<BodyPose>(body).is_none() {
        return;
    }
    world.commands().queue(move |world: &mut World| {
        // it may be the end of the whole entity
        let Ok(mut entity) = world.get_entity_mut(body) else { return };
        if entity.contains::<Integrator>() || !entity.contains::<BodyPose>() {
            return;
        }
        entity.remove::<(Lodger, OfBodies)>();
        if !entity.contains::<Slot>() {
            let slot = world.resource_mut::<Slots>().take();
            world.entity_mut(body).insert(slot);
        }
    });
}

/// The end of a body frees its slot, and ends its pairs and its joints.
fn release(mut world: DeferredWorld, context: HookContext) {
    let body = context.entity;
    let Some(&slot) = world.get::<Slot>(body) else { return };
    if let Some(mut slots) = world.get_resource_mut::<Slots>() {
        slots.give_back(slot);
    }
    let mut ended = world.get_resource_mut::<Proximity>().map(|mut proximity| proximity.forget(slot.0)).unwrap_or_default();
    world.commands().queue(move |world: &mut World| {
        // back in a cluster, with all that links it
        let stays =
            world.get_entity(body).is_ok_and(|e| e.contains::<BodyPose>() && e.contains::<Integrator>() && !e.contains::<Collider>());
        let mut joints = world.query::<(Entity, &Interaction)>();
        ended.extend(joints.iter(world).filter(|(_, joint)| !stays && joint.systems.contains(&body)).map(|(entity, _)| entity));
        for entity in ended {
            if let Ok(entity) = world.get_entity_mut(entity) {
                entity.despawn();
            }
        }
    });
}
