//! What comes and goes with a body, whoever spawns or despawns it: its slot, its pairs, its joints.
//!
//! Component hooks do this, so it makes no difference whether a body is made by
//! [`Simulation::spawn_body`](super::Simulation::spawn_body) or by `world.spawn((BodyPose(pose), Inertia { … }, Collider::new(shape)))`,
//! and whether it ends by `despawn_body`, by an event or by `world.despawn(body)`.

use crate::geometry::systems::Proximity;
use crate::model::interaction::Interaction;
use crate::model::newton_euler::{AppliedForce, BodyName, BodyPose, Locks, Motion, Velocity};
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
    world.register_component_hooks::<BodyPose>().on_add(enrol);
    world.register_component_hooks::<Slot>().on_remove(release);
}

/// A pose makes an entity a body: it gets the lowest free slot.
fn enrol(mut world: DeferredWorld, context: HookContext) {
    if world.get::<Slot>(context.entity).is_some() {
        return;
    }
    let Some(mut slots) = world.get_resource_mut::<Slots>() else { return };
    let slot = slots.take();
    world.commands().entity(context.entity).insert(slot);
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
        let mut joints = world.query::<(Entity, &Interaction)>();
        ended.extend(joints.iter(world).filter(|(_, joint)| joint.systems.contains(&body)).map(|(entity, _)| entity));
        for entity in ended {
            if let Ok(entity) = world.get_entity_mut(entity) {
                entity.despawn();
            }
        }
    });
}
