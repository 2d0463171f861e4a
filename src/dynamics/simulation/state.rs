//! The state of a simulation: its hash, and everything that decides how it goes on.

use super::auto_step::Plan;
use super::flow::Queue;
use super::kept::SavedKept;
use super::run::Scheduled;
use super::step::is_engaged;
use super::systems::Rhythm;
use super::{Balance, Body, Event, Simulation, SimulationError};
use crate::algebra::spatial::Pose;
use crate::assembly::problem::Solver;
use crate::cluster::body::{coordinates, pose_of, speeds, velocity_of};
use crate::cluster::systems::Traces;
use crate::cluster::{Probe, Trace};
use crate::geometry::systems::{Collider, Proximity};
use crate::model::birth::{Birth, rank};
use crate::model::bond::{Bond, BondPoint};
use crate::model::contact::{Manifold, Touch};
use crate::model::crushing::{CrushingJoint, CrushingJoints};
use crate::model::dynamical_system::{FirstOrder, Lagrangian};
use crate::model::flow::Flow;
use crate::model::integrator::Integrator;
use crate::model::interaction::{Engaged, Interaction, Lodger, OfBodies};
use crate::model::newton_euler::{AppliedForce, BodyForces, BodyPose, Motion, Velocity};
use crate::model::scheme::{Clock, Scheme};
use crate::model::surface::Crossings;
use crate::numerics::auto::Memory;
use crate::topology::bodies::{Bodies, Slot, Slots};
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A body as [`Simulation::save`] keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedBody {
    slot: u32,
    pose: Pose,
    velocity: Velocity,
    /// parameters of its forces
    z: Vec<f64>,
    /// kind of its shape, radius about the centre of the body and smallest length (m)
    shape: Option<(String, [f64; 2])>,
}

/// Kind and sizes of the shape of a body.
fn shape_of(world: &World, entity: Entity) -> Option<(String, [f64; 2])> {
    let collider = world.get::<Collider>(entity)?;
    let (radius, smallest) = Proximity::default().size(0, Some(collider));
    // what has no smallest length has none in text either
    let smallest = if smallest.is_finite() { smallest } else { 0.0 };
    Some((collider.shape.kind().to_owned(), [radius, smallest]))
}

/// Whether two shapes are alike, to the rounding of a text.
fn alike(a: &Option<(String, [f64; 2])>, b: &Option<(String, [f64; 2])>) -> bool {
    match (a, b) {
        (Some((a, x)), Some((b, y))) => a == b && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= 1e-9 * x.abs().max(y.abs())),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// A shape in words.
fn told(shape: &Option<(String, [f64; 2])>) -> String {
    shape.as_ref().map_or_else(
        || "no shape".to_owned(),
        |(kind, [radius, smallest])| format!("a {kind} (radius {radius} m about its centre, smallest length {smallest} m)"),
    )
}

/// The points of a pair of slots, with the impulses that the next step starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedPair {
    slots: (u32, u32),
    points: Vec<Touch>,
}

/// A dynamical system with an integrator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SavedSystem {
    /// of a rigid body that stands among those with slots
    slot: Option<u32>,
    /// what kind of integrator moves it, which says what the values mean
    scheme: String,
    /// states or coordinates, velocities, parameters, what a two-step scheme remembers, r or p
    values: [Vec<f64>; 5],
}

/// An interaction: parameters, output, its rate, multipliers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedInteraction {
    values: [Vec<f64>; 4],
    active: bool,
}

/// Everything that decides how a simulation goes on, but for what its builder gives it again: shapes, masses, laws, loads, drives,
/// systems of its own ([`Simulation::add_systems`]), periodic actions and the script of events. It holds when actions are due; what
/// systems and actions of the host program remember is in it where it stands in components that are kept ([`Simulation::keep`]), as
/// sensors, observers and laws of control do.
///
/// ```
/// use drystone::{geometry::Shape, simulation::{Body, Simulation}};
/// use glam::DVec3;
/// let build = || -> Result<_, Box<dyn std::error::Error>> {
///     let mut sim = Simulation::default();
///     let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
///     let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 0.2))?;
///     Ok((sim, [floor, ball]))
/// };
/// let (mut first, entities) = build()?;
/// first.run_until(0.2)?;
/// let saved = first.save(&entities);
/// first.run_until(0.4)?;
/// let (mut second, entities) = build()?;
/// second.restore(&saved, &entities)?;
/// second.run_until(0.4)?;
/// assert_eq!(second.state_hash(), first.state_hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedState {
    clock: Clock,
    scheme: Scheme,
    balance: Balance,
    next_slot: u32,
    /// One per body that the builder knows; `None` for one that is dead or not yet born.
    bodies: Vec<Option<SavedBody>>,
    /// In order of birth.
    systems: Vec<SavedSystem>,
    interactions: Vec<SavedInteraction>,
    /// Points of the bonds, in order of birth.
    #[serde(default)]
    bonds: Vec<Vec<BondPoint>>,
    /// Depths of the points of joints that crush, in their order.
    #[serde(default)]
    crushed: Vec<Vec<f64>>,
    /// What has gone through each outlet and inlet, in order of birth.
    flows: Vec<Flow>,
    /// What has passed each surface, in order of birth.
    crossings: Vec<Crossings>,
    /// Slots of bodies that stand, and where detection sees them, see `geometry::standing`.
    seen: Vec<(u32, Pose)>,
    /// Sorted by slots.
    pairs: Vec<SavedPair>,
    pending_events: usize,
    /// Blows of a step that was refused, by the place of their body in the list.
    blows: Vec<(usize, AppliedForce)>,
    solver: Memory,
    /// Of an automatic time step.
    plan: Option<Plan>,
    /// When periodic actions are due, in the order in which they were added.
    actions: Vec<Rhythm>,
    /// Components of the host program, in the order in which their kinds were made known.
    kept: Vec<SavedKept>,
}

impl SavedState {
    /// Time reached (s).
    pub fn time(&self) -> f64 {
        self.clock.time
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.clock.step
    }
}

/// FNV-1a, byte by byte.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Fnv(pub u64);

impl Fnv {
    /// The hash of nothing.
    pub const START: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Takes the bytes in, in their order.
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, x: f64) {
        self.add(&x.to_bits().to_le_bytes());
    }
}

/// Entities with a component `T`, in order of birth.
pub(super) fn sorted<T: Component>(world: &mut World) -> Vec<Entity> {
    let mut found: Vec<Entity> = world.query_filtered::<Entity, With<T>>().iter(world).collect();
    found.sort_by_key(|&e| rank(world.get::<Birth>(e), e));
    found
}

impl Simulation {
    /// FNV-1a hash over the bits of position, quaternion (x, y, z, w), linear and angular velocity of every body in slot order,
    /// then of states, or coordinates and velocities, of every other system in order of birth.
    ///
    /// ```
    /// use drystone::simulation::{Body, Simulation};
    /// let mut sim = Simulation::default();
    /// sim.spawn_body(Body::point(1.0, glam::DVec3::ONE))?;
    /// let before = sim.state_hash();
    /// sim.step()?;
    /// assert_ne!(sim.state_hash(), before);
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn state_hash(&mut self) -> u64 {
        let world = self.world_mut();
        let mut bodies: Vec<(Slot, BodyPose, Velocity)> =
            world.query::<(&Slot, &BodyPose, &Velocity)>().iter(world).map(|(s, p, v)| (*s, *p, *v)).collect();
        bodies.sort_by_key(|body| body.0);
        let mut hash = Fnv::START;
        for (_, pose, velocity) in bodies {
            let [x, v, w] = [pose.0.position, velocity.linear, velocity.angular].map(|v| v.to_array());
            x.iter().chain(&pose.0.rotation.to_array()).chain(&v).chain(&w).for_each(|&x| hash.number(x));
        }
        for entity in sorted::<Integrator>(world).into_iter().filter(|&e| world.get::<Slot>(e).is_none()) {
            let system = saved_system(world, entity);
            system.values[..2].iter().flatten().for_each(|&x| hash.number(x));
        }
        hash.0
    }

    /// The state between two steps; `bodies` are the entities that the builder made, in its order: at least all that ever move.
    pub fn save(&mut self, bodies: &[Entity]) -> SavedState {
        let (kept, named) = (self.save_kept(), bodies);
        let world = self.world_mut();
        let body = |world: &World, entity: Entity| {
            let (slot, pose, velocity) = (world.get::<Slot>(entity)?, world.get::<BodyPose>(entity)?, world.get::<Velocity>(entity)?);
            let z = world.get::<BodyForces>(entity).map_or(Vec::new(), |forces| forces.z.clone());
            Some(SavedBody { slot: slot.0, pose: pose.0, velocity: *velocity, z, shape: shape_of(world, entity) })
        };
        let bodies = bodies.iter().map(|&entity| body(world, entity)).collect();
        let systems = sorted::<Integrator>(world).into_iter().map(|e| saved_system(world, e)).collect();
        let interactions = sorted::<Interaction>(world)
            .iter()
            .filter_map(|&e| world.get::<Interaction>(e))
            .map(|i| SavedInteraction { values: [i.z.clone(), i.y.clone(), i.y_dot.clone(), i.lambda.clone()], active: i.active })
            .collect();
        let bonds = sorted::<Bond>(world).iter().filter_map(|&e| world.get::<Bond>(e)).map(|bond| bond.points.clone()).collect();
        let depths = |joint: &CrushingJoint| joint.points.iter().map(|p| p.depth).collect();
        let crushed = world.resource::<CrushingJoints>().0.iter().map(depths).collect();
        let flows = sorted::<Flow>(world).iter().filter_map(|&e| world.get::<Flow>(e).copied()).collect();
        let crossings = sorted::<Crossings>(world).iter().filter_map(|&e| world.get::<Crossings>(e).copied()).collect();
        let pair = |&(i, j, entity): &(u32, u32, Entity)| {
            let points = world.get::<Manifold>(entity).map_or(Vec::new(), |m| m.points.to_vec());
            SavedPair { slots: (i, j), points }
        };
        let pairs = world.resource::<Proximity>().pairs().iter().map(pair).filter(|pair| !pair.points.is_empty()).collect();
        let rows = world.resource::<Bodies>().rows.iter();
        let seen = (0..)
            .zip(rows)
            .filter(|(_, row)| row.alive && row.inertia.is_some())
            .filter_map(|(slot, row)| Some((slot, row.seen?)))
            .collect();
        let blows = self.waiting.iter().filter_map(|&(body, blow)| Some((named.iter().position(|&e| e == body)?, blow))).collect();
        let world = &self.world;
        let (clock, scheme) = (Clock { measure: 0.0, ..*world.resource::<Clock>() }, *world.resource::<Scheme>());
        let next_slot = world.resource::<Slots>().bound();
        let solver = world.resource::<Solver>().workspace.memory.clone();
        SavedState {
            clock,
            scheme,
            balance: self.balance,
            next_slot,
            bodies,
            systems,
            interactions,
            bonds,
            crushed,
            flows,
            crossings,
            seen,
            pairs,
            pending_events: self.events.len(),
            blows,
            solver,
            plan: self.auto_step.as_ref().and_then(|auto| auto.plan),
            actions: self.save_rhythms(),
            kept,
        }
    }

    /// Brings a simulation that was built as the saved one was, and has not been stepped, to the saved state. `bodies` are those that
    /// [`save`](Self::save) was given, in the same order. Shapes, masses, laws and forces are those of the builder; only bodies that stand still
    /// may be left out.
    ///
    /// ```
    /// use drystone::prelude::*;
    /// fn build() -> Result<(Simulation, [Entity; 1]), Box<dyn std::error::Error>> {
    ///     let mut sim = Simulation::with_time_step(1e-3)?;
    ///     sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    ///     let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z))?;
    ///     Ok((sim, [ball]))
    /// }
    /// let (mut sim, ball) = build()?;
    /// sim.run_until(0.3)?;
    /// let saved = sim.save(&ball); // plain data, which serde writes
    /// sim.run_until(1.0)?;
    /// let (mut resumed, ball) = build()?;
    /// resumed.restore(&saved, &ball)?;
    /// resumed.run_until(1.0)?;
    /// assert_eq!(resumed.state_hash(), sim.state_hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(&mut self, state: &SavedState, bodies: &[Entity]) -> Result<(), SimulationError> {
        let differs = |what: &'static str, saved: usize, here: usize| Err(SimulationError::Saved { what, saved, here });
        let events = self.events.len();
        if state.bodies.len() != bodies.len() {
            return differs("bodies", state.bodies.len(), bodies.len());
        }
        if state.pending_events > events {
            return differs("pending events", state.pending_events, events);
        }
        self.check_list(bodies, events - state.pending_events)?;
        self.check_schemes(state)?;
        // before anything is changed
        for (saved, &entity) in state.bodies.iter().zip(bodies) {
            if let Some(saved) = saved.as_ref().filter(|_| self.world().get::<Slot>(entity).is_some()) {
                self.check_shape(saved, entity)?;
            }
        }
        let past: Vec<Scheduled> = self.events.drain(..events - state.pending_events).collect();
        let waiting: BTreeMap<Entity, Body> =
            self.inlets.iter().flat_map(Queue::bodies).map(|(entity, body)| (entity, body.clone())).collect();
        for (saved, &entity) in state.bodies.iter().zip(bodies) {
            let present = self.world().get::<Slot>(entity).is_some();
            if saved.is_none() && present {
                self.despawn_body(entity);
            }
            if saved.is_some() && !present {
                let birth = past.iter().find_map(|scheduled| match &scheduled.event {
                    Event::Appear(e, body) if *e == entity => Some(body),
                    _ => None,
                });
                let Some(body) = birth.map(|body| &**body).or_else(|| waiting.get(&entity)) else { return differs("births", 1, 0) };
                self.fill(entity, body)?;
            }
            let Some(saved) = saved else { continue };
            if !present {
                self.check_shape(saved, entity)?;
            }
            let mut entity = self.world_mut().entity_mut(entity);
            entity.insert((Slot(saved.slot), BodyPose(saved.pose), saved.velocity));
            if let Some(mut forces) = entity.get_mut::<BodyForces>() {
                if forces.z.len() != saved.z.len() {
                    return differs("parameters of the forces on a body", saved.z.len(), forces.z.len());
                }
                forces.z.clone_from(&saved.z);
            }
        }
        self.waiting = state.blows.iter().filter_map(|&(place, blow)| Some((*bodies.get(place)?, blow))).collect();
        (self.balance, self.gravity) = (state.balance, state.scheme.gravity);
        if state.clock.step > 0 {
            self.world_mut().resource_mut::<Traces>().0.iter_mut().for_each(Trace::goes_on);
        }
        let chosen = self.auto_step.is_some();
        if let Some(auto) = &mut self.auto_step {
            auto.plan = state.plan;
        }
        let world = self.world_mut();
        let of_systems = state.systems.iter().filter_map(|system| system.slot);
        world.resource_mut::<Slots>().restore(state.next_slot, state.bodies.iter().flatten().map(|body| body.slot).chain(of_systems));
        world.insert_resource(Clock { chosen, measure: state.scheme.time_step, ..state.clock });
        world.insert_resource(state.scheme);
        world.resource_mut::<Solver>().workspace.memory = state.solver.clone();
        restore_relations(world, state).or_else(|(what, saved, here)| differs(what, saved, here))?;
        self.restore_rhythms(&state.actions)?;
        self.restore_kept(&state.kept)?;
        let world = self.world_mut();
        let mut interactions = world.query::<(Entity, &Interaction)>();
        let engaged: Vec<Entity> = interactions.iter(world).filter(|(_, i)| is_engaged(i)).map(|(e, _)| e).collect();
        for entity in engaged {
            world.entity_mut(entity).insert(Engaged);
        }
        show_probes(world);
        // the pairs that the next step will find; then the points and impulses that it would have found there
        self.detect();
        let world = self.world_mut();
        // detection has seen all bodies, and given driven ones the velocity of the step to come
        for (saved, &entity) in state.bodies.iter().zip(bodies) {
            if let (Some(saved), Some(mut velocity)) = (saved, world.get_mut::<Velocity>(entity)) {
                *velocity = saved.velocity;
            }
        }
        let rows = &mut world.resource_mut::<Bodies>().rows;
        rows.iter_mut().for_each(|row| row.seen = None);
        for &(slot, seen) in &state.seen {
            if let Some(row) = rows.get_mut(slot as usize) {
                row.seen = Some(seen);
            }
        }
        let pairs = world.resource::<Proximity>().pairs().to_vec();
        for (i, j, entity) in pairs {
            let Some(mut manifold) = world.get_mut::<Manifold>(entity) else { continue };
            let saved = state.pairs.binary_search_by_key(&(i, j), |pair| pair.slots);
            manifold.points = saved.map_or_else(|_| Default::default(), |at| state.pairs[at].points.iter().copied().collect());
        }
        Ok(())
    }

    /// Whether a body has the shape that it was saved with.
    fn check_shape(&self, saved: &SavedBody, entity: Entity) -> Result<(), SimulationError> {
        let here = shape_of(self.world(), entity);
        if alike(&saved.shape, &here) {
            return Ok(());
        }
        let (was, is) = (told(&saved.shape), told(&here));
        Err(SimulationError::Restored(format!("{} was {was}, and is {is}; build it as it was", self.called(entity))))
    }

    /// Whether each system has an integrator of the kind that it was saved with: a two-step scheme remembers what others do not know, and
    /// velocities of schemes are of different moments.
    fn check_schemes(&mut self, state: &SavedState) -> Result<(), SimulationError> {
        let systems = sorted::<Integrator>(&mut self.world);
        for (entity, saved) in systems.into_iter().zip(&state.systems) {
            let here = self.world.get::<Integrator>(entity).map_or("", Integrator::kind);
            if saved.scheme != here {
                let name = self.label(entity);
                let reason =
                    format!("{name} was moved by the {} scheme, and is by the {here} scheme; give it the one that it had", saved.scheme);
                return Err(SimulationError::Restored(reason));
            }
        }
        Ok(())
    }

    /// Whether a list of bodies brings back all that moves, each once, where so many of the first events have taken place.
    fn check_list(&mut self, bodies: &[Entity], past: usize) -> Result<(), SimulationError> {
        let named: BTreeSet<Entity> = bodies.iter().copied().collect();
        let refused = |reason: String| Err(SimulationError::Restored(reason));
        if named.len() < bodies.len() {
            return refused(format!("{} entries of the list name a body twice; name each once", bodies.len() - named.len()));
        }
        let mut moving = self.world.query_filtered::<(Entity, &Motion), (With<Slot>, Without<Integrator>)>();
        let left_out =
            moving.iter(&self.world).filter(|(entity, motion)| !matches!(motion, Motion::Static) && !named.contains(entity)).count();
        if left_out > 0 {
            let is = if left_out == 1 { "1 body that moves is" } else { &format!("{left_out} bodies that move are") };
            return refused(format!("{is} not in the list; give `save` and `restore` all of them"));
        }
        if self.events[..past].iter().any(|scheduled| matches!(scheduled.event, Event::Birth(_))) {
            return refused(
                "a body of Event::Birth has no entity that a list could name; reserve one, and let it come by Event::Appear".into(),
            );
        }
        Ok(())
    }
}

/// What decides how a system goes on.
fn saved_system(world: &World, entity: Entity) -> SavedSystem {
    let values = if let Some(s) = world.get::<FirstOrder>(entity) {
        [s.x.clone(), Vec::new(), s.z.clone(), Vec::new(), s.r.clone()]
    } else if let Some(s) = world.get::<Lagrangian>(entity) {
        [s.q.clone(), s.v.clone(), s.z.clone(), s.before.clone(), s.p.clone()]
    } else if let (Some(pose), Some(velocity)) = (world.get::<BodyPose>(entity), world.get::<Velocity>(entity)) {
        let z = world.get::<BodyForces>(entity).map_or(Vec::new(), |forces| forces.z.clone());
        [coordinates(&pose.0).to_vec(), speeds(velocity).to_vec(), z, Vec::new(), Vec::new()]
    } else {
        Default::default()
    };
    let scheme = world.get::<Integrator>(entity).map_or("", Integrator::kind).to_owned();
    SavedSystem { slot: world.get::<Slot>(entity).map(|slot| slot.0), scheme, values }
}

fn restore_system(world: &mut World, entity: Entity, saved: &SavedSystem) {
    let [q, v, z, before, p] = saved.values.clone();
    if let Some(mut s) = world.get_mut::<FirstOrder>(entity) {
        (s.x, s.z, s.r) = (q, z, p);
    } else if let Some(mut s) = world.get_mut::<Lagrangian>(entity) {
        (s.q, s.v, s.z, s.before, s.p) = (q, v, z, before, p);
    } else if q.len() == 7 && v.len() == 6 {
        let mut entity = world.entity_mut(entity);
        if let Some(mut pose) = entity.get_mut::<BodyPose>() {
            pose.0 = pose_of(&q);
        }
        if let Some(mut velocity) = entity.get_mut::<Velocity>() {
            *velocity = velocity_of(&v);
        }
        if let Some(mut forces) = entity.get_mut::<BodyForces>() {
            forces.z = z;
        }
        if let Some(slot) = saved.slot {
            let lodges = !entity.contains::<Slot>();
            entity.insert((Slot(slot), OfBodies));
            if lodges {
                entity.insert(Lodger);
            }
        }
    }
}

/// What probes show of the state that was restored.
fn show_probes(world: &mut World) {
    let time = world.resource::<Clock>().time;
    for entity in sorted::<Probe>(world) {
        let Some(probe) = world.get::<Probe>(entity).cloned() else { continue };
        let x = if let Some(s) = world.get::<FirstOrder>(probe.system) {
            s.x.clone()
        } else if let Some(s) = world.get::<Lagrangian>(probe.system) {
            s.q.clone()
        } else if let Some(pose) = world.get::<BodyPose>(probe.system) {
            coordinates(&pose.0).to_vec()
        } else {
            continue;
        };
        let lambda = match probe.interaction.map(|e| world.get::<Interaction>(e)) {
            None => Vec::new(),
            Some(Some(i)) => i.lambda.clone(),
            Some(None) => continue,
        };
        if let Some(mut shown) = world.get_mut::<Probe>(entity) {
            probe.read(time, &x, &lambda, &mut shown.values);
        }
    }
}

/// Systems and interactions; the error says what differs in number, saved and here.
fn restore_relations(world: &mut World, state: &SavedState) -> Result<(), (&'static str, usize, usize)> {
    let same = |what, saved: usize, here: usize| if saved == here { Ok(()) } else { Err((what, saved, here)) };
    let systems = sorted::<Integrator>(world);
    same("systems", state.systems.len(), systems.len())?;
    let bonds = sorted::<Bond>(world);
    same("bonds", state.bonds.len(), bonds.len())?;
    for (entity, saved) in bonds.into_iter().zip(&state.bonds) {
        let Some(mut bond) = world.get_mut::<Bond>(entity) else { continue };
        same("points of a bond", saved.len(), bond.points.len())?;
        bond.points.clone_from(saved);
    }
    let joints = &mut world.resource_mut::<CrushingJoints>().0;
    same("joints that crush", state.crushed.len(), joints.len())?;
    for (joint, saved) in joints.iter_mut().zip(&state.crushed) {
        same("points of a joint that crushes", saved.len(), joint.points.len())?;
        joint.points.iter_mut().zip(saved).for_each(|(point, depth)| point.depth = *depth);
    }
    for (entity, saved) in systems.into_iter().zip(&state.systems) {
        let here = saved_system(world, entity);
        for (what, k) in [("states of a system", 0), ("velocities of a system", 1), ("parameters of a system", 2)] {
            same(what, saved.values[k].len(), here.values[k].len())?;
        }
        restore_system(world, entity, saved);
    }
    let flows = sorted::<Flow>(world);
    same("outlets and inlets", state.flows.len(), flows.len())?;
    for (entity, saved) in flows.into_iter().zip(&state.flows) {
        world.entity_mut(entity).insert(*saved);
    }
    let surfaces = sorted::<Crossings>(world);
    same("surfaces", state.crossings.len(), surfaces.len())?;
    for (entity, saved) in surfaces.into_iter().zip(&state.crossings) {
        world.entity_mut(entity).insert(*saved);
    }
    let interactions = sorted::<Interaction>(world);
    same("interactions", state.interactions.len(), interactions.len())?;
    for (entity, saved) in interactions.into_iter().zip(&state.interactions) {
        if let Some(mut i) = world.get_mut::<Interaction>(entity) {
            same("rows of an interaction", saved.values[3].len(), i.lambda.len())?;
            same("parameters of an interaction", saved.values[0].len(), i.z.len())?;
            [i.z, i.y, i.y_dot, i.lambda] = saved.values.clone();
            i.active = saved.active;
        }
    }
    Ok(())
}
