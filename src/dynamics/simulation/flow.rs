//! What leaves a run and what comes in: outlets take bodies at the start of a step, then inlets give some, and both count them.

use super::body::Body;
use super::crowd::Crowd;
use super::error::SimulationError;
use super::run::Simulation;
use super::state::sorted;
use crate::algebra::random::Sequence;
use crate::algebra::spatial::Pose;
use crate::geometry::systems::Collider;
use crate::geometry::{Scratch, Shape};
use crate::model::flow::{Flow, Inlet, Outlet};
use crate::model::newton_euler::{BodyPose, GravityScale, Inertia, Motion, Velocity};
use crate::model::periodic::Cell;
use crate::model::scheme::{Invalid, Scheme};
use crate::topology::bodies::Slot;
use bevy_ecs::prelude::*;

/// Places that an inlet tries for a body in one step.
const TRIES: usize = 64;

/// Bodies that wait behind an inlet.
#[derive(Debug)]
pub(super) struct Queue {
    gate: Entity,
    /// Entity, body, and the distance of its farthest point from the origin of its shape (m).
    bodies: Vec<(Entity, Body, f64)>,
}

impl Queue {
    /// Each body with its entity.
    pub(super) fn bodies(&self) -> impl Iterator<Item = (Entity, &Body)> {
        self.bodies.iter().map(|(entity, body, _)| (*entity, body))
    }
}

/// Adds a body, and all of its images in a periodic cell that may reach into the box of an inlet.
fn add_images(crowd: &mut Crowd, shape: &Shape, pose: &Pose, inlet: &Inlet, cell: &Cell) {
    let radius = shape.bounding_radius();
    // bodies that fill the cell have no images
    if cell.too_long(radius) {
        return crowd.add(shape, pose);
    }
    for shift in cell.images_in(pose.position, [inlet.low - radius, inlet.high + radius]) {
        crowd.add(shape, &pose.shifted(shift));
    }
}

/// A body that leaves: slot, place of its outlet, entity, and what is counted: mass, kinetic and potential energy.
type Leaver = (Slot, usize, Entity, [f64; 3]);

impl Simulation {
    /// Adds an outlet; see [`crate::model::flow`]. A body in several outlets leaves by the one that was added first.
    pub fn add_outlet(&mut self, outlet: Outlet) -> Result<Entity, SimulationError> {
        outlet.region.validate(&self.scheme().cell).map_err(|found| Invalid::new("the region of an outlet", found, "a part of space"))?;
        Ok(self.world.spawn(outlet).id())
    }

    /// Adds an inlet and the bodies that come through it, in their order; gives its entity and theirs, which are
    /// [reserved](Self::reserve) until then. Their own positions are replaced, all else holds at birth.
    ///
    /// ```
    /// use drystone::model::flow::Inlet;
    /// use drystone::prelude::*;
    /// let mut sim = Simulation::default();
    /// sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    /// let tap = Inlet { low: DVec3::new(-0.1, -0.1, 0.5), high: DVec3::new(0.1, 0.1, 0.7), rate: 0.2, start: 0.0, seed: 1, flows: false };
    /// let grain = Body::new(Shape::ball(0.01)?).mass(0.01);
    /// let (tap, grains) = sim.add_inlet(tap, vec![grain; 100])?;
    /// sim.run_until(1.0)?;
    /// assert_eq!(sim.flow(tap).map(|flow| flow.count), Some(20));
    /// assert!(sim.world().get::<Slot>(grains[19]).is_some() && sim.world().get::<Slot>(grains[20]).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_inlet(&mut self, inlet: Inlet, bodies: Vec<Body>) -> Result<(Entity, Vec<Entity>), SimulationError> {
        inlet.validate().map_err(|found| Invalid::new("an inlet", found, "a box, a rate and a start"))?;
        let mut queue = Vec::with_capacity(bodies.len());
        for body in bodies {
            body.validate()?;
            let (_, inertia, _) = body.components()?;
            if inertia.is_none() {
                let found = format!("the body {:?}, which does not move by itself", body.name);
                return Err(Invalid::new("a body of an inlet", found, "a dynamic body").into());
            }
            let radius = body.shape.as_ref().map_or(0.0, Shape::bounding_radius);
            if (inlet.high - inlet.low).min_element() < 2.0 * radius {
                let found = format!("a box of {} m for a body that reaches {radius} m", inlet.high - inlet.low);
                return Err(Invalid::new("the box of an inlet", found, "room for each of its bodies").into());
            }
            queue.push((self.reserve(), body, radius));
        }
        let gate = self.world.spawn(inlet).id();
        let entities = queue.iter().map(|(entity, ..)| *entity).collect();
        self.inlets.push(Queue { gate, bodies: queue });
        Ok((gate, entities))
    }

    /// Lets in what is due at the start of a step.
    pub(super) fn feed(&mut self) -> Result<(), SimulationError> {
        let queues = std::mem::take(&mut self.inlets);
        let fed = queues.iter().try_for_each(|queue| self.let_in(queue));
        self.inlets = queues;
        fed
    }

    fn let_in(&mut self, queue: &Queue) -> Result<(), SimulationError> {
        let (time, step) = (self.time(), self.steps());
        let cell = self.world.resource::<Scheme>().cell;
        let mut crowd: Option<Crowd> = None;
        let (mut scratch, mut points) = (Scratch::default(), Vec::new());
        loop {
            let (Some(&inlet), Some(&flow)) = (self.world.get::<Inlet>(queue.gate), self.world.get::<Flow>(queue.gate)) else {
                return Ok(());
            };
            let Some((entity, body, radius)) = queue.bodies.get(flow.count as usize) else { return Ok(()) };
            // rounding of the time must not keep a body that is due
            let slack = 1e-9 * inlet.rate * self.time_step();
            if time < inlet.start - 1e-9 * self.time_step() || flow.mass > inlet.rate * (time - inlet.start) + slack {
                return Ok(());
            }
            let crowd = match &mut crowd {
                Some(crowd) => crowd,
                none => {
                    let crowd = none.insert(Crowd::new(inlet.low, inlet.high, 2.0 * radius));
                    let mut colliders = self.world.query_filtered::<(&BodyPose, &Collider), With<Slot>>();
                    for (pose, collider) in colliders.iter(&self.world) {
                        add_images(crowd, &collider.shape, &pose.0.compose(&collider.offset), &inlet, &cell);
                    }
                    crowd
                }
            };
            // a place depends on seed, body and step alone, so that a resumed run finds the same
            let start = flow.count.wrapping_mul(0xA24B_AED4_963E_E407) ^ step.wrapping_mul(0x9FB2_1C65_1E98_DF25);
            let mut random = Sequence::new(inlet.seed.wrapping_add(start));
            let locked = glam::BVec3::from_array(body.locks.translation);
            let middle = 0.5 * (inlet.low + inlet.high);
            let (low, high) = (inlet.low + *radius, inlet.high - *radius);
            let free = (0..TRIES).find_map(|_| {
                let [x, y, z] = [0, 1, 2].map(|a| random.next_between(low[a], high[a]));
                let position = glam::DVec3::select(locked, middle, glam::DVec3::new(x, y, z));
                let pose = Pose { position, ..body.pose };
                let free = body.shape.as_ref().is_none_or(|shape| crowd.is_free(shape, &pose, &mut scratch, &mut points));
                free.then_some(pose)
            });
            let Some(pose) = free else { return Ok(()) };
            let mut born = Body { pose, ..body.clone() };
            if inlet.flows {
                born.linear += glam::DVec3::select(locked, glam::DVec3::ZERO, cell.flow(born.centre_of_mass()?));
            }
            self.fill(*entity, &born)?;
            if let Some(shape) = &body.shape {
                add_images(crowd, shape, &pose, &inlet, &cell);
            }
            let gravity = self.world.resource::<Scheme>().gravity;
            let parts = (self.world.get::<BodyPose>(*entity), self.world.get::<Velocity>(*entity), self.world.get::<Inertia>(*entity));
            let (Some(at), Some(v), Some(inertia)) = parts else { return Ok(()) };
            let kinetic = inertia.kinetic_energy(v);
            let (mass, potential) = (inertia.mass, -inertia.mass * gravity.dot(at.0.position));
            self.balance.inlets.kinetic += kinetic;
            self.balance.inlets.potential += potential;
            if let Some(mut flow) = self.world.get_mut::<Flow>(queue.gate) {
                flow.add(mass, kinetic, potential);
            }
        }
    }

    /// What has gone through an outlet or inlet since the start; none where the entity is neither.
    pub fn flow(&self, gate: Entity) -> Option<&Flow> {
        self.world.get::<Flow>(gate)
    }

    /// Mass (kg) that an inlet would have given by now and has not, as there was no room for it; 0 where all of its bodies have come.
    ///
    /// ```
    /// use drystone::model::flow::Inlet;
    /// use drystone::prelude::*;
    /// let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
    /// let tap = Inlet { low: DVec3::splat(-0.1), high: DVec3::splat(0.1), rate: 2.0, start: 0.0, seed: 1, flows: false };
    /// let (tap, _) = sim.add_inlet(tap, vec![Body::new(Shape::ball(0.09)?).mass(0.5); 100])?;
    /// sim.run_until(1.0)?;
    /// // the first one, which nothing moves, fills the box
    /// assert!((sim.inlet_behind(tap) - 1.5).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inlet_behind(&self, gate: Entity) -> f64 {
        let waits = |flow: &Flow| self.inlets.iter().any(|queue| queue.gate == gate && queue.bodies.len() as u64 > flow.count);
        match (self.world.get::<Inlet>(gate), self.world.get::<Flow>(gate)) {
            (Some(inlet), Some(flow)) if waits(flow) => (inlet.rate * (self.time() - inlet.start) - flow.mass).max(0.0),
            _ => 0.0,
        }
    }

    /// Removes what stands in an outlet, slot by slot, so that sums do not depend on how components lie in memory.
    pub(super) fn drain(&mut self) {
        let gates = sorted::<Outlet>(&mut self.world);
        if gates.is_empty() {
            return;
        }
        let regions: Vec<_> = gates.iter().filter_map(|&gate| self.world.get::<Outlet>(gate)).map(|outlet| outlet.region).collect();
        let Scheme { gravity, cell, .. } = *self.world.resource::<Scheme>();
        let mut leavers: Vec<Leaver> = Vec::new();
        let mut bodies = self.world.query::<(Entity, &Slot, &BodyPose, &Velocity, &Inertia, &Motion, Option<&GravityScale>)>();
        for (entity, slot, pose, v, inertia, motion, scale) in bodies.iter(&self.world) {
            let x = pose.0.position;
            let there = x + cell.home(x).0;
            let Some(gate) = regions.iter().position(|region| region.holds(there)).filter(|_| matches!(motion, Motion::Dynamic)) else {
                continue;
            };
            let kinetic = inertia.kinetic_energy(v);
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
