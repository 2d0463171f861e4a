//! What leaves a run: outlets take bodies at the start of a step, and count them.

use super::run::{Simulation, SimulationError};
use crate::model::flow::{Flow, Outlet};
use crate::model::newton_euler::{BodyPose, GravityScale, Inertia, Motion, Velocity};
use crate::model::scheme::{Invalid, Scheme};
use crate::topology::bodies::Slot;
use bevy_ecs::prelude::*;

/// A body that leaves: slot, place of its outlet, entity, and what is counted: mass, kinetic and potential energy.
type Leaver = (Slot, usize, Entity, [f64; 3]);

impl Simulation {
    /// Adds an outlet; see [`crate::model::flow`]. A body in several outlets leaves by the one that was added first.
    pub fn add_outlet(&mut self, outlet: Outlet) -> Result<Entity, SimulationError> {
        outlet.region.validate().map_err(|found| Invalid::new("the region of an outlet", found, "a part of space"))?;
        Ok(self.world.spawn(outlet).id())
    }

    /// What has gone through an outlet or inlet since the start; none where the entity is neither.
    pub fn flow(&self, gate: Entity) -> Option<&Flow> {
        self.world.get::<Flow>(gate)
    }

    /// Outlets, or inlets, in order of birth.
    pub(super) fn gates<T: Component>(&mut self) -> Vec<Entity> {
        let mut gates: Vec<Entity> = self.world.query_filtered::<Entity, With<T>>().iter(&self.world).collect();
        // by index: entities themselves sort the other way round
        gates.sort_by_key(|e| (e.index_u32(), e.generation().to_bits()));
        gates
    }

    /// Removes what stands in an outlet, slot by slot, so that sums do not depend on how components lie in memory.
    pub(super) fn drain(&mut self) {
        let gates = self.gates::<Outlet>();
        if gates.is_empty() {
            return;
        }
        let regions: Vec<_> = gates.iter().filter_map(|&gate| self.world.get::<Outlet>(gate)).map(|outlet| outlet.region).collect();
        let gravity = self.world.resource::<Scheme>().gravity;
        let mut leavers: Vec<Leaver> = Vec::new();
        let mut bodies = self.world.query::<(Entity, &Slot, &BodyPose, &Velocity, &Inertia, &Motion, Option<&GravityScale>)>();
        for (entity, slot, pose, v, inertia, motion, scale) in bodies.iter(&self.world) {
            let x = pose.0.position;
            let Some(gate) = regions.iter().position(|region| region.holds(x)).filter(|_| matches!(motion, Motion::Dynamic)) else { continue };
            let kinetic = 0.5 * (inertia.mass * v.linear.length_squared() + v.angular.dot(inertia.principal * v.angular));
            let potential = -inertia.mass * scale.map_or(1.0, |scale| scale.0) * gravity.dot(x);
            leavers.push((*slot, gate, entity, [inertia.mass, kinetic, potential]));
        }
        leavers.sort_by_key(|leaver| leaver.0);
        for (_, gate, entity, [mass, kinetic, potential]) in leavers {
            self.world.despawn(entity);
            self.balance.outlets.kinetic += kinetic;
            self.balance.outlets.potential += potential;
            if let Some(mut flow) = self.world.get_mut::<Flow>(gates[gate]) {
                flow.add(mass, kinetic, potential);
            }
        }
    }
}
