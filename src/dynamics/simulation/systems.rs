//! General systems of a simulation: their interactions, tables, periodic actions, and steps in batches.

use super::auto_step::needs_constant_step;
use super::energy::Energy;
use super::error::SimulationError;
use super::guests::{Guests, Handle};
use super::report::StepReport;
use super::run::Simulation;
use super::state::sorted;
use crate::cluster::systems::{Clusters, Party, Traces, fits};
use crate::cluster::{ClusterError, JacobianCheck, NewtonLoop, Signal, TimedParts, Trace};
use crate::model::dynamical_system::{DynamicalSystem, FirstOrder, Lagrangian};
use crate::model::integrator::Integrator;
use crate::model::interaction::Interaction;
use crate::model::newton_euler::{AppliedForce, BodyName, BodyPose, Inertia, Velocity};
use crate::model::relation::Relation;
use crate::model::scheme::{Clock, Invalid};
use crate::model::watched::watched;
use crate::topology::bodies::{Slot, Slots};
use crate::topology::islands::Islands;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// Something that is done between steps, every so many of them.
pub(super) struct Periodic {
    pub(super) handle: Handle,
    /// s
    pub(super) period: f64,
    /// steps
    pub(super) every: u64,
    /// step at which it was first due
    pub(super) start: u64,
    /// last step at which it was done
    pub(super) done: Option<u64>,
    pub(super) action: Box<dyn FnMut(f64, &mut World) -> Option<String> + Send + Sync>,
}

/// When a periodic action is due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rhythm {
    period: f64,
    every: u64,
    start: u64,
    done: Option<u64>,
}

/// What a [periodic action](Simulation::every) gives: nothing, or a `Result` whose error refuses the step.
///
/// ```
/// use drystone::simulation::Outcome;
/// assert_eq!(().failure(), None);
/// assert_eq!(Err::<(), _>("the valve is stuck").failure().as_deref(), Some("the valve is stuck"));
/// ```
pub trait Outcome {
    /// Why the action failed, if it did.
    fn failure(self) -> Option<String>;
}

impl Outcome for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: std::fmt::Display> Outcome for Result<(), E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}

/// How many steps of h (s) a time is; an error where it is no multiple.
pub(super) fn multiple(time: f64, h: f64, what: &str) -> Result<u64, SimulationError> {
    let steps = (time / h).round();
    if steps >= 0.0 && (time - steps * h).abs() <= 1e-6 * h {
        return Ok(steps as u64);
    }
    Err(Invalid::new(what, format!("{time} s"), format!("a multiple of the time step {h} s")).into())
}

impl Periodic {
    pub(super) fn due(&self, step: u64) -> bool {
        step >= self.start && (step - self.start).is_multiple_of(self.every) && self.done != Some(step)
    }

    /// The first step after this one at which it is due.
    pub(super) fn after(&self, step: u64) -> u64 {
        if step < self.start { self.start } else { step.saturating_add(self.every - (step - self.start) % self.every) }
    }
}

impl Simulation {
    /// Adds a dynamical system with its integrator: [`FirstOrder`](crate::model::dynamical_system::FirstOrder),
    /// [`Lagrangian`](crate::model::dynamical_system::Lagrangian) or [`NewtonEuler`](crate::model::dynamical_system::NewtonEuler).
    pub fn spawn_system(&mut self, system: impl Into<DynamicalSystem>, integrator: Integrator) -> Result<Entity, SimulationError> {
        let system = system.into();
        system.validate().map_err(SimulationError::NewSystem)?;
        integrator.validate().map_err(SimulationError::NewSystem)?;
        integrator.fits(system.is_first_order()).map_err(SimulationError::NewSystem)?;
        Ok(match system {
            DynamicalSystem::FirstOrder(s) => self.world.spawn((s, integrator)).id(),
            DynamicalSystem::Lagrangian(s) => self.world.spawn((*s, integrator)).id(),
            DynamicalSystem::NewtonEuler(s) => {
                let parts = s.components().map_err(SimulationError::NewSystem)?;
                self.world.spawn((parts, integrator)).id()
            }
        })
    }

    /// Links one or two systems, bodies among them. What does not fit is an error here: systems that do not exist, orders, sizes, laws. Of
    /// a body that is [reserved](Self::reserve) nothing is known yet; how systems in one island fit each other shows at the next step.
    ///
    /// ```
    /// use drystone::prelude::*;
    /// let mut sim = Simulation::default();
    /// let mass = sim.spawn_system(Lagrangian::new([1.0]).at([0.5]), Integrator::MOREAU_JEAN)?;
    /// let two = Interaction::new([mass], LagrangianLinear::new([1.0, 1.0], [0.0]), Law::Equality);
    /// assert!(sim.spawn_interaction(two).is_err_and(|e| e.to_string().contains("H holds 2 values, but 1 are needed")));
    /// # Ok::<(), SimulationError>(())
    /// ```
    pub fn spawn_interaction(&mut self, interaction: Interaction) -> Result<Entity, SimulationError> {
        let parties: Result<Vec<Option<Party>>, String> = interaction.systems.iter().map(|&e| self.party(e)).collect();
        let fits = parties.and_then(|parties| fits(&interaction, &parties));
        let of_body = interaction.systems.iter().any(|&e| self.world.get::<Slot>(e).is_some());
        let joint = matches!(interaction.relation, Relation::Joint(_) | Relation::Coordinate(_));
        let law = if joint && of_body { crate::assembly::joints::check(&interaction) } else { Ok(()) };
        fits.and(law).map_err(|reason| SimulationError::Interaction(format!("an interaction cannot be made: {reason}")))?;
        Ok(self.world.spawn(interaction).id())
    }

    /// What an interaction may ask of an entity; nothing is known of one that is reserved.
    fn party(&self, entity: Entity) -> Result<Option<Party>, String> {
        let Ok(found) = self.world.get_entity(entity) else {
            return Err(format!("it links entity {entity}, which does not exist; one or two living systems or bodies are needed"));
        };
        let (first_order, sizes) = if let Some(s) = found.get::<FirstOrder>() {
            (true, (s.x.len(), s.x.len()))
        } else if let Some(s) = found.get::<Lagrangian>() {
            (false, (s.q.len(), s.v.len()))
        } else if found.contains::<BodyPose>() {
            (false, (7, 6))
        } else if found.archetype().component_count() == 0 {
            return Ok(None);
        } else {
            return Err(format!("it links {}, which is neither a dynamical system nor a body", self.label(entity)));
        };
        Ok(Some(Party { name: self.label(entity), first_order, sizes }))
    }

    /// Gives a system, an interaction or a body a name for messages: bevy's [`Name`], which may be inserted as a component too. False if it is
    /// not there.
    pub fn set_name(&mut self, entity: Entity, name: &str) -> bool {
        if self.world.get_entity(entity).is_err() {
            return false;
        }
        if let Some(mut body) = self.world.get_mut::<BodyName>(entity) {
            body.0 = name.to_string();
        }
        self.world.entity_mut(entity).insert(Name::new(name.to_string()));
        self.world.resource_mut::<Clusters>().rebuild();
        true
    }

    /// Settings of the Newton loops of nonlinear systems.
    pub fn set_newton(&mut self, newton: NewtonLoop) {
        self.world.insert_resource(newton);
    }

    /// Holds every Jacobian that users gave (∂f/∂x, ∂F/∂q, ∂F/∂v, G, ∂h/∂t, ∂h/∂λ …) against central differences of its function at the
    /// present state, and gives the worst entry of each. Nothing moves.
    pub fn check_jacobians(&mut self) -> Result<Vec<JacobianCheck>, SimulationError> {
        let step = self.steps() + 1;
        let wrong = |source| SimulationError::System { step, source };
        self.schedules.refresh.run(&mut self.world);
        let clusters = self.world.resource_mut::<Clusters>().into_inner();
        if let Some(source) = clusters.error.take() {
            return Err(wrong(source));
        }
        self.world.resource::<Clusters>().check_jacobians(self.time()).map_err(wrong)
    }

    /// Keeps these signals in a table: when the next step begins, and after every `every` steps. The number returned is for
    /// [`trace`](Self::trace) and [`columns`](Self::columns). Signals of systems alone are kept while batches run; with one of a body, a
    /// joint or the whole, or of what bodies hold, batches end where a row is due. In a simulation that is
    /// [restored](Self::restore) after this, the table goes on where that of the saved one ended: the row of that instant is there. What
    /// ends later, as a body that dies, is not a number from then on.
    pub fn record(&mut self, every: u64, signals: impl Into<Vec<Signal>>) -> usize {
        let traces = &mut self.world.resource_mut::<Traces>().0;
        traces.push(Trace::new(every, signals.into()));
        self.world.resource_mut::<Clusters>().resolve = true;
        self.world.resource::<Traces>().0.len() - 1
    }

    /// Room for so many more rows of a table, so that recording does not allocate.
    pub fn reserve_rows(&mut self, number: usize, rows: usize) {
        if let Some(trace) = self.world.resource_mut::<Traces>().0.get_mut(number) {
            trace.reserve(rows);
        }
    }

    /// A table that [`record`](Self::record) began.
    pub fn trace(&self, number: usize) -> Option<&Trace> {
        self.world.resource::<Traces>().0.get(number)
    }

    /// Ends a table, which keeps its number and its rows; a signal that cannot be found no longer stops the run.
    pub fn stop_recording(&mut self, number: usize) {
        if let Some(trace) = self.world.resource_mut::<Traces>().0.get_mut(number) {
            trace.stop();
        }
        self.world.resource_mut::<Clusters>().resolve = true;
    }

    /// Calls `action` with time (s) and world now and then every `period` (s) between steps; `period` is a multiple of the time
    /// step. Sensors, actuators and other sampled devices live here. The handle [removes](Self::remove) it. An action may give a `Result`: its
    /// error refuses the step, as a panic does, and the action is due again. A saved state has when actions are due; what one remembers belongs in a component
    /// that is [kept](Self::keep).
    ///
    /// ```
    /// use drystone::prelude::*;
    /// let mut sim = Simulation::with_time_step(0.1)?;
    /// sim.every(0.5, |t, _| if t < 1.9 { Ok(()) } else { Err("the tape is full") })?;
    /// let error = sim.run_until(5.0).expect_err("at 2 s");
    /// assert_eq!(error.to_string(), "step 21 (t = 2 s): the tape is full; the state at the start of the step is kept");
    /// # Ok::<(), SimulationError>(())
    /// ```
    pub fn every<R: Outcome>(
        &mut self,
        period: f64,
        mut action: impl FnMut(f64, &mut World) -> R + Send + Sync + 'static,
    ) -> Result<Handle, SimulationError> {
        let every = multiple(period, self.time_step(), "period")?;
        if self.auto_step.is_some() {
            return Err(needs_constant_step());
        }
        if every == 0 {
            return Err(Invalid::new("period", "0 s", "a multiple of the time step from 1 on").into());
        }
        let handle = self.new_handle();
        let action = Box::new(move |t: f64, world: &mut World| action(t, world).failure());
        self.periodic.push(Periodic { handle, period, every, start: self.steps(), done: None, action });
        Ok(handle)
    }

    /// Advances by this many steps, or until the abort hook says so. Where there are no bodies, no systems of users and no hook, all steps
    /// up to the next event run as one batch.
    pub fn advance(&mut self, steps: u64) -> Result<StepReport, SimulationError> {
        let end = self.steps().saturating_add(steps);
        let mut last = self.no_step();
        while self.steps() < end {
            let batch = self.alone() && self.auto_step.is_none() && self.abort.is_none();
            let next = if batch { self.batch(end)? } else { self.step()? };
            if self.follows(&mut last, next) {
                break;
            }
        }
        Ok(last)
    }

    /// True where there is nothing but systems: no body, no system of a user, and no event that may bring a body before the next step.
    pub(super) fn alone(&self) -> bool {
        let due = self.time() + 1e-6 * self.time_step();
        self.is_bare() && self.events.first().is_none_or(|scheduled| scheduled.time > due)
    }

    /// No body and none that waits at an inlet, no system of a user.
    pub(super) fn is_bare(&self) -> bool {
        self.inlets.is_empty() && self.world.resource::<Slots>().taken() == 0 && self.world.resource::<Guests>().is_empty()
    }

    /// One batch of a world without bodies, at most up to step `end`.
    pub(super) fn batch(&mut self, end: u64) -> Result<StepReport, SimulationError> {
        self.act()?;
        if self.world.resource::<Slots>().taken() > 0 {
            // an action has made a body
            return self.step();
        }
        self.balance.energy = Energy::default();
        if !self.world.resource::<Islands>().is_empty() {
            // bodies have gone
            self.schedules.graph.run(&mut self.world);
        }
        self.check_scheme()?;
        self.take_up_gravity();
        let now = self.steps();
        let h = self.time_step();
        self.start_tables()?;
        let mut steps = (end - now).min(self.until_row(now));
        for periodic in &self.periodic {
            steps = steps.min(periodic.after(now) - now);
        }
        if let Some(scheduled) = self.events.first() {
            let until = ((scheduled.time - self.time()) / h - 1e-6).ceil().max(1.0);
            if until < steps as f64 {
                steps = until as u64;
            }
        }
        self.advance_systems(steps)?;
        let clusters = self.world.resource::<Clusters>();
        let systems = clusters.report;
        let clock = self.world.resource_mut::<Clock>().into_inner();
        (0..steps).for_each(|_| clock.tick(h));
        let (step, time) = (clock.step, clock.time);
        self.continue_tables()?;
        self.world.clear_trackers();
        let converged = systems.unconverged == 0;
        Ok(StepReport { step, time, step_size: h, converged, balance: self.balance, systems, ..StepReport::default() })
    }

    /// Moves all systems that are not bodies; the clock stays.
    pub(super) fn advance_systems(&mut self, steps: u64) -> Result<(), SimulationError> {
        self.world.resource_mut::<Clusters>().steps = steps;
        self.schedules.systems.run(&mut self.world);
        let clusters = self.world.resource_mut::<Clusters>().into_inner();
        let Some(source) = clusters.error.take() else { return Ok(()) };
        let done = clusters.done;
        let h = self.time_step();
        let clock = self.world.resource_mut::<Clock>().into_inner();
        (0..done).for_each(|_| clock.tick(h));
        let step = clock.step + 1;
        Err(SimulationError::System { step, source: self.blame(source) })
    }

    /// The part of a system that has failed in the place of the sum of all its parts, where that is known.
    #[cold]
    fn blame(&mut self, source: ClusterError) -> ClusterError {
        let (ask, time): (fn(&TimedParts, f64) -> Option<String>, f64) = match source {
            ClusterError::NotFinite { time, .. } | ClusterError::Function { time, .. } => (TimedParts::fault, time),
            ClusterError::Contradiction { time, .. } => (TimedParts::contradiction, time),
            _ => return source,
        };
        let parts = sorted::<TimedParts>(&mut self.world);
        let fault = parts.into_iter().find_map(|e| ask(self.world.get::<TimedParts>(e)?, time));
        fault.map_or(source, |fault| ClusterError::Part(format!("{fault}, and the state before the step is kept")))
    }

    /// True for a dynamical system that is not a body with a slot.
    pub(super) fn is_system(&self, entity: Entity) -> bool {
        let world = &self.world;
        world.get::<FirstOrder>(entity).is_some() || world.get::<Lagrangian>(entity).is_some() || self.is_rigid_system(entity)
    }

    /// A rigid body that moves in a cluster.
    pub(super) fn is_rigid_system(&self, entity: Entity) -> bool {
        let Ok(entity) = self.world.get_entity(entity) else { return false };
        entity.contains::<BodyPose>() && entity.contains::<Integrator>() && !entity.contains::<Slot>()
    }

    /// What messages call a system or interaction: its name, where it has one.
    pub(super) fn label(&self, entity: Entity) -> String {
        let name = self.world.get::<Name>(entity).map(|n| n.as_str().to_string());
        name.map_or_else(|| format!("entity {entity}"), |n| format!("{n:?}"))
    }

    /// A blow on a system: a rigid body takes it, others have coordinates that a force has no place in.
    pub(super) fn strike(&mut self, system: Entity, blow: AppliedForce, time: f64) -> Result<(), SimulationError> {
        let refused = self.no_blow(system, time);
        let (pose, inertia) = (self.world.get::<BodyPose>(system).copied(), self.world.get::<Inertia>(system).copied());
        match (pose, inertia, self.world.get_mut::<Velocity>(system)) {
            (Some(pose), Some(inertia), Some(mut velocity)) => {
                velocity.strike(&inertia, pose.0.rotation, blow.force, blow.torque);
                Ok(())
            }
            _ => Err(refused),
        }
    }

    /// Why a system takes no blow.
    pub(super) fn no_blow(&self, system: Entity, time: f64) -> SimulationError {
        let reason = "a force and a torque have no place in its coordinates; a periodic action or a change of its v between steps has";
        SimulationError::Event(format!("the blow on {} at {time} s: {reason}", self.label(system)))
    }

    /// Takes a system out of the world, with the interactions that link it.
    pub(super) fn end_system(&mut self, system: Entity) {
        let mut interactions = self.world.query::<(Entity, &Interaction)>();
        let ended: Vec<Entity> =
            interactions.iter(&self.world).filter(|(_, i)| i.systems.contains(&system)).map(|(entity, _)| entity).collect();
        for entity in ended.into_iter().chain([system]) {
            self.world.despawn(entity);
        }
        self.world.resource_mut::<Clusters>().rebuild();
    }

    /// Runs the periodic actions that are due.
    pub(super) fn act(&mut self) -> Result<(), SimulationError> {
        let (step, time) = (self.steps(), self.time());
        for periodic in self.periodic.iter_mut().filter(|p| p.due(step)) {
            let done = watched(|| (periodic.action)(time, &mut self.world));
            if let Some(reason) = done.unwrap_or_else(|said| Some(format!("a periodic action panics ({said})"))) {
                return Err(SimulationError::Action { step: step + 1, time, reason });
            }
            periodic.done = Some(step);
        }
        Ok(())
    }

    pub(super) fn save_rhythms(&self) -> Vec<Rhythm> {
        self.periodic.iter().map(|&Periodic { period, every, start, done, .. }| Rhythm { period, every, start, done }).collect()
    }

    /// Nothing is changed where anything differs.
    pub(super) fn restore_rhythms(&mut self, saved: &[Rhythm]) -> Result<(), SimulationError> {
        if saved.len() != self.periodic.len() {
            return Err(SimulationError::Saved { what: "periodic actions", saved: saved.len(), here: self.periodic.len() });
        }
        if let Some((p, was)) = self.periodic.iter().zip(saved).find(|(p, was)| p.period != was.period) {
            let reason = format!("a periodic action was due every {} s, and is due every {} s; build it as it was", was.period, p.period);
            return Err(SimulationError::Restored(reason));
        }
        self.periodic.iter_mut().zip(saved).for_each(|(p, was)| (p.every, p.start, p.done) = (was.every, was.start, was.done));
        Ok(())
    }
}
