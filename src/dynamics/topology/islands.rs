//! Islands over declared interactions: which of them hold a rigid body.
//!
//! An island without one is a cluster that advances by itself; one that has a body stands in the problem of contacts, with its Lagrangian
//! systems and with its rigid bodies that have an integrator, which get a slot for as long. Contacts that detection finds move nothing from
//! one to the other.

use super::bodies::{Slot, Slots};
use crate::model::birth::{Birth, rank};
use crate::model::integrator::Integrator;
use crate::model::interaction::{Interaction, Lodger, OfBodies};
use crate::model::newton_euler::BodyPose;
use bevy_ecs::prelude::*;
use std::collections::BTreeMap;

/// What the marks were set for.
///
/// ```
/// assert!(drystone::topology::islands::Islands::default().is_empty());
/// ```
#[derive(Resource, Debug, Default)]
pub struct Islands {
    /// Each interaction with a system of it, and whether that is a body.
    known: Vec<(Entity, Entity, bool)>,
}

impl Islands {
    /// True where there was no interaction.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// Marks interactions and systems of islands that have a body, where the graph has changed.
pub fn mark_islands(
    mut islands: ResMut<Islands>,
    interactions: Query<(Entity, &Interaction)>,
    bodies: Query<(), (With<Slot>, Without<Lodger>)>,
    rigid: Query<(), (With<BodyPose>, With<Integrator>, Without<Slot>)>,
    marked: Query<(Entity, Has<Lodger>), With<OfBodies>>,
    births: Query<&Birth>,
    mut slots: ResMut<Slots>,
    mut commands: Commands,
) {
    let links = || interactions.iter().flat_map(|(e, i)| i.systems.iter().map(move |&s| (e, s)));
    let now = || links().map(|(e, s)| (e, s, bodies.contains(s)));
    if islands.known.iter().copied().eq(now()) {
        return;
    }
    islands.known.clear();
    islands.known.extend(now());
    // union–find over interactions and systems that are no bodies; a body belongs to every island that it touches
    let mut number = BTreeMap::new();
    let mut root: Vec<usize> = Vec::new();
    let mut has_body: Vec<bool> = Vec::new();
    fn find(root: &mut [usize], mut i: usize) -> usize {
        while root[i] != i {
            root[i] = root[root[i]];
            i = root[i];
        }
        i
    }
    for &(interaction, system, body) in &islands.known {
        let mut place = |e: Entity| {
            *number.entry(e).or_insert_with(|| {
                root.push(root.len());
                has_body.push(false);
                root.len() - 1
            })
        };
        let a = place(interaction);
        let b = if body { a } else { place(system) };
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        root[a.max(b)] = a.min(b);
        has_body[a.min(b)] |= has_body[a.max(b)] | body;
    }
    let wanted = |e: Entity, root: &mut [usize]| number.get(&e).is_some_and(|&k| has_body[find(root, k)]);
    for (entity, lodger) in &marked {
        if wanted(entity, &mut root) || bodies.contains(entity) {
            continue;
        }
        if lodger {
            commands.entity(entity).remove::<(Slot, Lodger, OfBodies)>();
        } else {
            commands.entity(entity).remove::<OfBodies>();
        }
    }
    let mut new: Vec<Entity> = number.keys().copied().filter(|&e| !marked.contains(e) && wanted(e, &mut root)).collect();
    new.sort_by_key(|&e| rank(births.get(e).ok(), e));
    for entity in new {
        // a system may have gone before its interaction
        if rigid.contains(entity) {
            commands.entity(entity).try_insert((slots.take(), Lodger, OfBodies));
        } else {
            commands.entity(entity).try_insert(OfBodies);
        }
    }
}
