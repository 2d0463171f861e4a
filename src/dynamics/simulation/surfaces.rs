//! Counts of what passes through surfaces: places before a step against places after it.

use super::error::SimulationError;
use super::run::Simulation;
use crate::model::newton_euler::{BodyPose, Inertia, Motion, Velocity};
use crate::model::surface::{Crossings, Surface};
use crate::topology::bodies::Slot;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Surfaces, and where bodies stood before the step, by slot.
#[derive(Debug, Default)]
pub(super) struct Places {
    gates: Vec<Entity>,
    surfaces: Vec<(Entity, Surface)>,
    /// None in a world without surfaces, and of slots without a body.
    before: Vec<Option<(Entity, DVec3)>>,
    passed: Vec<Pass>,
}

/// A body that has passed: slot, number of the surface, which way, mass, momentum and kinetic energy.
type Pass = (Slot, usize, bool, f64, DVec3, f64);

impl Simulation {
    /// Adds a surface that counts the dynamic bodies which pass; see [`crate::model::surface`].
    pub fn add_surface(&mut self, surface: Surface) -> Result<Entity, SimulationError> {
        surface.validate(&self.scheme().cell)?;
        let gate = self.world.spawn(surface).id();
        self.places.gates.push(gate);
        Ok(gate)
    }

    /// What has passed a surface since the start; none where the entity is none.
    pub fn crossings(&self, surface: Entity) -> Option<&Crossings> {
        self.world.get::<Crossings>(surface)
    }

    /// Notes where bodies stand at the start of a step.
    pub(super) fn note_places(&mut self) {
        let Self { world, places, .. } = self;
        let Places { gates, surfaces, before, .. } = places;
        before.clear();
        surfaces.clear();
        surfaces.extend(gates.iter().filter_map(|&gate| Some((gate, *world.get::<Surface>(gate)?))));
        if surfaces.is_empty() {
            return;
        }
        let mut bodies = world.query::<(Entity, &Slot, &BodyPose, &Motion)>();
        for (entity, slot, pose, motion) in bodies.iter(world) {
            if matches!(motion, Motion::Dynamic) {
                let slot = slot.0 as usize;
                before.resize(before.len().max(slot + 1), None);
                before[slot] = Some((entity, pose.0.position));
            }
        }
    }

    /// Counts those that have passed within the step, in slot order.
    pub(super) fn count_crossings(&mut self) {
        let cell = self.scheme().cell;
        let Self { world, places, .. } = self;
        let Places { surfaces, before, passed, .. } = places;
        if before.is_empty() {
            return;
        }
        passed.clear();
        let mut bodies = world.query::<(Entity, &Slot, &BodyPose, &Velocity, &Inertia)>();
        for (entity, slot, pose, v, inertia) in bodies.iter(world) {
            let Some(&Some((_, from))) = before.get(slot.0 as usize).filter(|b| b.is_some_and(|b| b.0 == entity)) else { continue };
            for (number, (_, surface)) in surfaces.iter().enumerate() {
                let mut note = |forward| {
                    let kinetic = inertia.kinetic_energy(v);
                    passed.push((*slot, number, forward, inertia.mass, inertia.mass * v.linear, kinetic));
                };
                if cell.is_open() {
                    surface.passes(from, pose.0.position).into_iter().for_each(&mut note);
                } else {
                    surface.passes_in(&cell, from, pose.0.position).for_each(&mut note);
                }
            }
        }
        // sums do not depend on how components lie in memory
        passed.sort_by_key(|&(slot, number, ..)| (slot, number));
        for &(_, number, forward, mass, momentum, kinetic) in &*passed {
            if let Some(mut crossings) = world.get_mut::<Crossings>(surfaces[number].0) {
                crossings.add(forward, mass, momentum, kinetic);
            }
        }
    }
}
