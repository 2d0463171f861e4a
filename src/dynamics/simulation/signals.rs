//! One table of signals: what [`Simulation::record`] keeps of bodies, joints, systems and the whole, with names and units.
//!
//! Where all signals of a table are of systems that stand alone, batches fill it. Any other table is read from components at the end of a
//! step, and a batch ends where a row is due.

use super::energy::Energy;
use super::error::SimulationError;
use super::joints::JointState;
use super::run::Simulation;
use crate::assembly::problem::StepProblem;
use crate::cluster::systems::{Clusters, Traces};
use crate::cluster::{ClusterError, Probe, Signal, Trace};
use crate::model::bond::Bond;
use crate::model::dynamical_system::{FirstOrder, Lagrangian};
use crate::model::flow::Flow;
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::newton_euler::{BodyForces, BodyName, BodyPose, GravityScale, Inertia, Velocity};
use crate::model::scheme::{Clock, Scheme};
use crate::model::signal::{BodyQuantity, FlowQuantity, JointQuantity, Quantity, SurfaceQuantity, TotalQuantity};
use crate::model::surface::Crossings;
use crate::topology::bodies::{Bodies, Slot};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// What reading rows needs, kept so that it does not allocate.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    /// contact force on the body of each slot (N, world)
    forces: Vec<DVec3>,
    row: Vec<f64>,
    /// force on supports in the last step (N, world)
    pub(super) support: DVec3,
}

impl Gauge {
    /// Adds up the contact forces of the last step, or of its last part.
    fn weigh(&mut self, world: &World) {
        let (step, h) = (world.resource::<StepProblem>(), world.resource::<Clock>().last);
        self.forces.clear();
        if h <= 0.0 {
            return;
        }
        // in the order of the contacts: that of the pairs depends on what came and went, and a resumed run adds up otherwise
        for &g in &step.colouring.order {
            let (Some(group), Some(&first)) = (step.groups.get(g as usize), step.first_contact.get(g as usize)) else { continue };
            let [one, two] = group.slots.map(|slot| slot as usize);
            if self.forces.len() <= one.max(two) {
                self.forces.resize(one.max(two) + 1, DVec3::ZERO);
            }
            let own = first as usize..(first + group.points) as usize;
            let (Some(contacts), Some(reactions)) = (step.problem.contacts.get(own.clone()), step.answer.reactions.contacts.get(own))
            else {
                continue;
            };
            for (contact, &reaction) in contacts.iter().zip(reactions) {
                let force = contact.to_world(reaction) / h;
                self.forces[one] += force;
                self.forces[two] -= force;
            }
        }
        // what attracts, as in tables of contacts
        let rows = &world.resource::<Bodies>().rows;
        if self.forces.len() < rows.len() {
            self.forces.resize(rows.len(), DVec3::ZERO);
        }
        let alive = rows.iter().zip(&mut self.forces).filter(|(row, _)| row.alive);
        alive.for_each(|(row, force)| *force += row.pull.force);
        // and what mortar gives
        for (entity, point, _) in step.bonded_points() {
            let Some(bond) = world.get::<Bond>(entity) else { continue };
            let Some(force) = bond.points.get(point).map(|point| point.impulse / h) else { continue };
            for (body, sign) in bond.bodies.into_iter().zip([1.0, -1.0]) {
                let slot = world.get::<Slot>(body).map(|slot| slot.0 as usize);
                if let Some(sum) = slot.and_then(|slot| self.forces.get_mut(slot)) {
                    *sum += sign * force;
                }
            }
        }
    }
}

fn at(values: &[f64], i: usize) -> Option<f64> {
    values.get(i).copied()
}

/// Coordinates and velocity of a body as systems count them: x and quaternion, scalar first; v and ω.
fn body_state(world: &World, body: Entity) -> Option<[f64; 7]> {
    let pose = world.get::<BodyPose>(body)?.0;
    let (x, q) = (pose.position, pose.rotation);
    Some([x.x, x.y, x.z, q.w, q.x, q.y, q.z])
}

fn body_velocity(world: &World, body: Entity) -> Option<[f64; 6]> {
    let Velocity { linear: v, angular: w } = *world.get::<Velocity>(body)?;
    Some([v.x, v.y, v.z, w.x, w.y, w.z])
}

fn gravity_on(world: &World, body: Entity) -> DVec3 {
    world.get::<GravityScale>(body).map_or(1.0, |scale| scale.0) * world.resource::<Scheme>().gravity
}

impl Simulation {
    /// The value of a signal now: at the end of the last step, forces as means over it.
    ///
    /// ```
    /// use drystone::cluster::Signal;
    /// use drystone::model::signal::BodyQuantity;
    /// use drystone::{geometry::Shape, simulation::{Body, Simulation}};
    /// use glam::DVec3;
    /// let mut sim = Simulation::default();
    /// sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    /// let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(2.0).at(DVec3::Z * 0.1))?;
    /// let push = Signal::Body(ball, BodyQuantity::ContactZ);
    /// let table = sim.record(10, [Signal::Time, Signal::Body(ball, BodyQuantity::Z), push]);
    /// sim.run_until(0.1)?;
    /// assert!((sim.value(push)? - 2.0 * 9.81).abs() < 1e-6);
    /// let rows = sim.trace(table).map_or(0, |t| t.rows().len());
    /// assert_eq!((rows, &sim.columns(table)[0][..]), (11, "time [s]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value(&self, signal: Signal) -> Result<f64, SimulationError> {
        let mut gauge = Gauge { support: self.gauge.support, ..Gauge::default() };
        if let Signal::Body(_, BodyQuantity::ContactX | BodyQuantity::ContactY | BodyQuantity::ContactZ) = signal {
            gauge.weigh(&self.world);
        }
        self.read(signal, &gauge).map_err(|found| self.no_signal(format!("{} is asked for, but {found}", self.words(signal))))
    }

    /// Appends the values of these signals now, one after the other; not a number for what is not there, or no longer.
    pub fn values(&self, signals: &[Signal], row: &mut Vec<f64>) {
        let mut gauge = Gauge { support: self.gauge.support, ..Gauge::default() };
        if signals.iter().any(|s| weighs(*s)) {
            gauge.weigh(&self.world);
        }
        row.extend(signals.iter().map(|&signal| self.read(signal, &gauge).unwrap_or(f64::NAN)));
    }

    /// Names of the columns of a table, with units: `"hinge.coordinate [rad]"`.
    pub fn columns(&self, number: usize) -> Vec<String> {
        self.trace(number).map_or_else(Vec::new, |trace| trace.signals.iter().map(|&signal| self.column(signal)).collect())
    }

    /// The name of a signal with its unit, where it has one; of what has no name by number.
    pub fn column(&self, signal: Signal) -> String {
        let with = |name: String, unit: &str| if unit.is_empty() { name } else { format!("{name} [{unit}]") };
        let called = |e: Entity| self.called_plainly(e);
        let numbered = |e: Entity, what: &str, i: usize| format!("{}.{what}.{i}", called(e));
        match signal {
            Signal::Time => "time [s]".into(),
            Signal::State(e, i) => numbered(e, "state", i),
            Signal::Velocity(e, i) => numbered(e, "velocity", i),
            Signal::Input(e, i) => numbered(e, "input", i),
            Signal::Parameter(e, i) => numbered(e, "parameter", i),
            Signal::Reaction(e, i) => numbered(e, "reaction", i),
            Signal::Output(e, i) => numbered(e, "output", i),
            Signal::Rate(e, i) => numbered(e, "rate", i),
            Signal::Multiplier(e, i) => numbered(e, "multiplier", i),
            Signal::Correction(e, i) => numbered(e, "correction", i),
            Signal::Force(e, i) => numbered(e, "force", i),
            Signal::Probe(e, i) => numbered(e, "value", i),
            Signal::Body(e, q) => {
                let Quantity { name, unit, .. } = BodyQuantity::ALL[q as usize];
                with(format!("{}.{name}", called(e)), unit)
            }
            Signal::Joint(e, q) => {
                let Quantity { name, unit, linear, .. } = JointQuantity::ALL[q as usize];
                let turns = JointState::turns(&self.world, e);
                with(format!("{}.{name}", called(e)), if turns { unit } else { linear })
            }
            Signal::Flow(e, q) => {
                let Quantity { name, unit, .. } = FlowQuantity::ALL[q as usize];
                with(format!("{}.{name}", called(e)), unit)
            }
            Signal::Surface(e, q) => {
                let Quantity { name, unit, .. } = SurfaceQuantity::ALL[q as usize];
                with(format!("{}.{name}", called(e)), unit)
            }
            Signal::Total(q) => with(TotalQuantity::ALL[q as usize].name.into(), TotalQuantity::ALL[q as usize].unit),
        }
    }

    /// The name of an entity, or its number.
    fn called_plainly(&self, entity: Entity) -> String {
        let body = self.world.get::<BodyName>(entity).map(|n| n.0.as_str()).filter(|n| !n.is_empty());
        let name = body.or_else(|| self.world.get::<Name>(entity).map(|n| n.as_str()));
        name.map_or_else(|| entity.to_string(), str::to_owned)
    }

    /// Whether a signal is of an entity that waits for its body.
    fn is_reserved(&self, signal: Signal) -> bool {
        let entity = signal.entity().and_then(|e| self.world.get_entity(e).ok());
        entity.is_some_and(|e| e.archetype().component_count() == 0)
    }

    fn words(&self, signal: Signal) -> String {
        let named = signal.entity().is_some_and(|e| self.world.get::<Name>(e).is_some() || self.world.get::<BodyName>(e).is_some());
        if named { format!("the signal {:?}", self.column(signal)) } else { format!("{signal:?}") }
    }

    fn no_signal(&self, reason: String) -> SimulationError {
        SimulationError::System { step: self.steps() + 1, source: ClusterError::Setup(reason) }
    }

    /// The value of a signal as components have it; the error says what is missing.
    fn read(&self, signal: Signal, gauge: &Gauge) -> Result<f64, &'static str> {
        const NOTHING: &str = "there is no such body, joint, system, interaction or component (they count from 0)";
        let world = &self.world;
        let interaction = |e| world.get::<Interaction>(e);
        let found = match signal {
            Signal::Time => Some(self.time()),
            Signal::State(e, i) => {
                let first = world.get::<FirstOrder>(e).and_then(|s| at(&s.x, i));
                let second = || world.get::<Lagrangian>(e).and_then(|s| at(&s.q, i));
                first.or_else(second).or_else(|| at(&body_state(world, e)?, i))
            }
            Signal::Velocity(e, i) => {
                let second = world.get::<Lagrangian>(e).and_then(|s| at(&s.v, i));
                second.or_else(|| at(&body_velocity(world, e)?, i))
            }
            Signal::Input(e, i) => {
                // there is none before the first step
                let of = |p: &[f64], n: usize| at(p, i).or((p.is_empty() && i < n).then_some(0.0));
                let first = world.get::<FirstOrder>(e).and_then(|s| of(&s.r, s.x.len()));
                first.or_else(|| world.get::<Lagrangian>(e).and_then(|s| of(&s.p, s.v.len())))
            }
            Signal::Parameter(e, i) => {
                let first = world.get::<FirstOrder>(e).and_then(|s| at(&s.z, i));
                let second = || world.get::<Lagrangian>(e).and_then(|s| at(&s.z, i));
                first.or_else(second).or_else(|| world.get::<BodyForces>(e).and_then(|s| at(&s.z, i)))
            }
            Signal::Reaction(e, i) => world.get::<Lagrangian>(e).and_then(|s| s.prescribed.get(i)).map(|p| p.reaction),
            Signal::Output(e, i) => interaction(e).and_then(|x| at(&x.y, i)),
            Signal::Rate(e, i) => interaction(e).and_then(|x| at(&x.y_dot, i)),
            Signal::Multiplier(e, i) => interaction(e).and_then(|x| at(&x.lambda, i)),
            Signal::Correction(e, i) => interaction(e).and_then(|x| at(&x.correction, i)),
            Signal::Force(e, i) => interaction(e).and_then(|x| at(&x.force, i)),
            Signal::Probe(e, i) => world.get::<Probe>(e).and_then(|p| at(&p.values, i)),
            Signal::Body(e, q) => self.of_body(e, q, gauge),
            Signal::Joint(e, q) => return JointState::value(world, e, q),
            Signal::Flow(e, q) => world.get::<Flow>(e).map(|flow| flow.value(q)),
            Signal::Surface(e, q) => world.get::<Crossings>(e).map(|crossings| crossings.value(q)),
            Signal::Total(q) => Some(self.of_all(q, gauge)),
        };
        found.ok_or(NOTHING)
    }

    fn of_body(&self, body: Entity, q: BodyQuantity, gauge: &Gauge) -> Option<f64> {
        use BodyQuantity::*;
        let world = &self.world;
        let state = body_state(world, body)?;
        let velocity = world.get::<Velocity>(body).copied().unwrap_or_default();
        let Velocity { linear: v, angular: w } = velocity;
        let slot = world.get::<Slot>(body).map(|slot| slot.0 as usize);
        let force = slot.and_then(|slot| gauge.forces.get(slot)).copied().unwrap_or_default();
        let inertia = world.get::<Inertia>(body);
        Some(match q {
            X | Y | Z | Qw | Qx | Qy | Qz => state[q as usize],
            Vx => v.x,
            Vy => v.y,
            Vz => v.z,
            Wx => w.x,
            Wy => w.y,
            Wz => w.z,
            Speed => v.length(),
            ContactX => force.x,
            ContactY => force.y,
            ContactZ => force.z,
            Kinetic => inertia.map_or(0.0, |i| i.kinetic_energy(&Velocity { linear: v, angular: w })),
            Potential => inertia.map_or(0.0, |i| -i.mass * gravity_on(world, body).dot(DVec3::new(state[0], state[1], state[2]))),
        })
    }

    fn of_all(&self, q: TotalQuantity, gauge: &Gauge) -> f64 {
        use TotalQuantity::*;
        let (energy, work) = (&if self.steps() == 0 { self.energy_at_start() } else { self.balance.energy }, &self.balance.work);
        match q {
            Kinetic => energy.kinetic,
            Potential => energy.potential,
            NormalWork => work.normal,
            FrictionWork => work.friction,
            RollingWork => work.rolling,
            OverlapWork => work.overlap,
            JointWork => work.joints,
            MotorWork => work.motors,
            CrushingWork => work.crushing,
            BondWork => work.bonds,
            BondsDamaged => self.count_bonds(|bond| bond.points.iter().any(|p| p.damage > 0.0)),
            BondsBroken => self.count_bonds(Bond::is_broken),
            DriveWork => work.drives,
            LoadWork => work.loads,
            AdhesionWork => work.adhesion,
            SchemeWork => work.scheme,
            OutletEnergy => self.balance.outlets.total(),
            InletEnergy => self.balance.inlets.total(),
            BalanceError => self.balance.error(),
            SupportX => gauge.support.x,
            SupportY => gauge.support.y,
            SupportZ => gauge.support.z,
        }
    }

    fn count_bonds(&self, of: impl Fn(&Bond) -> bool) -> f64 {
        self.bonds().filter(|(_, bond)| of(bond)).count() as f64
    }

    /// Energy before the first step, from components; not known where Lagrangian systems stand with bodies, whose mass may be a function.
    fn energy_at_start(&self) -> Energy {
        let (world, mut energy) = (&self.world, Energy::default());
        let Some(mut bodies) = world.try_query::<(Entity, &Slot, &BodyPose, &Velocity, &Inertia)>() else { return energy };
        for (body, _, pose, v, inertia) in bodies.iter(world) {
            energy.kinetic += inertia.kinetic_energy(v);
            energy.potential -= inertia.mass * gravity_on(world, body).dot(pose.0.position);
        }
        let beside = |tie: &Interaction| tie.systems.iter().any(|e| world.get::<Lagrangian>(*e).is_some());
        let ties = world.try_query_filtered::<&Interaction, With<OfBodies>>();
        if ties.is_some_and(|mut ties| ties.iter(world).any(beside)) { Energy { kinetic: f64::NAN, ..energy } } else { energy }
    }

    /// Before a step: says which tables batches fill, and takes the rows of the start of the others.
    pub(super) fn start_tables(&mut self) -> Result<(), SimulationError> {
        if self.world.resource::<Traces>().0.is_empty() {
            return Ok(());
        }
        let mut traces = std::mem::take(&mut self.world.resource_mut::<Traces>().0);
        let with_bodies = |e: Entity| self.world.get::<OfBodies>(e).is_some() || self.world.get::<Slot>(e).is_some();
        let mut moved = false;
        for trace in &mut traces {
            let elsewhere = trace.signals.iter().any(|s| s.is_of_bodies() || s.entity().is_some_and(with_bodies));
            moved |= trace.fill_elsewhere(elsewhere);
        }
        self.world.resource_mut::<Traces>().0 = traces;
        self.world.resource_mut::<Clusters>().resolve |= moved;
        self.fill_tables(Trace::begins)
    }

    /// After a step: takes the rows that are due.
    pub(super) fn continue_tables(&mut self) -> Result<(), SimulationError> {
        let step = self.steps();
        if self.world.resource::<Traces>().0.is_empty() { Ok(()) } else { self.fill_tables(|trace| trace.due(step)) }
    }

    /// Steps from `now` on until a table that batches do not fill wants a row.
    pub(super) fn until_row(&self, now: u64) -> u64 {
        let traces = self.world.resource::<Traces>().0.iter().filter(|t| t.is_elsewhere());
        traces.map(|t| t.every - now % t.every).min().unwrap_or(u64::MAX)
    }

    fn fill_tables(&mut self, wanted: impl Fn(&Trace) -> bool) -> Result<(), SimulationError> {
        let traces = std::mem::take(&mut self.world.resource_mut::<Traces>().0);
        let mut gauge = std::mem::take(&mut self.gauge);
        let filled = self.take_rows(traces, &mut gauge, wanted);
        self.gauge = gauge;
        let (traces, done) = filled;
        self.world.resource_mut::<Traces>().0 = traces;
        done
    }

    fn take_rows(
        &self,
        mut traces: Vec<Trace>,
        gauge: &mut Gauge,
        wanted: impl Fn(&Trace) -> bool,
    ) -> (Vec<Trace>, Result<(), SimulationError>) {
        let mut weighed = false;
        for trace in &mut traces {
            if !(trace.is_elsewhere() && wanted(trace)) {
                continue;
            }
            if !weighed && trace.signals.iter().any(|s| weighs(*s)) {
                gauge.weigh(&self.world);
                weighed = true;
            }
            let mut row = std::mem::take(&mut gauge.row);
            row.clear();
            for &signal in &trace.signals {
                match self.read(signal, gauge) {
                    Ok(value) => row.push(value),
                    // what has ended, or is still to come
                    Err(_) if !trace.begins() || self.is_reserved(signal) => row.push(f64::NAN),
                    Err(found) => {
                        let reason = format!("{} is recorded, but {found}", self.words(signal));
                        return (traces, Err(self.no_signal(reason)));
                    }
                }
            }
            trace.push(&row);
            gauge.row = row;
        }
        (traces, Ok(()))
    }
}

fn weighs(signal: Signal) -> bool {
    matches!(signal, Signal::Body(_, BodyQuantity::ContactX | BodyQuantity::ContactY | BodyQuantity::ContactZ))
}
