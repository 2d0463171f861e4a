//! What users add to a step: systems at named places, loads, events and periodic actions, each with a handle that removes it.

use super::error::SimulationError;
use super::run::Simulation;
use super::step::{Loads, StepSet};
use bevy_ecs::error::{BevyError, ErrorContext, FallbackErrorHandler};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{ScheduleBuildSettings, SingleThreadedExecutor};
use bevy_ecs::system::ScheduleSystem;
use std::cell::RefCell;

/// Names something that was added to a simulation, so that [`Simulation::remove`] finds it again.
///
/// ```
/// use drystone::simulation::{Event, Simulation};
/// let mut sim = Simulation::default();
/// let tilt = sim.at(1.0, Event::Gravity(glam::DVec3::X))?;
/// assert!(sim.remove(tilt) && !sim.remove(tilt), "it can be removed once");
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u64);

/// Systems that were added together.
struct Guest {
    handle: Handle,
    set: StepSet,
    /// Of their type.
    name: &'static str,
    schedule: Schedule,
}

/// All systems of users, in the order in which they came.
#[derive(Resource, Default)]
pub(super) struct Guests {
    list: Vec<Guest>,
    /// What one of them has failed with.
    fault: Option<(StepSet, String)>,
}

impl Guests {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Places within a part of a step: commands from there wait until it is over, as what the step knows of bodies, pairs and joints would no
/// longer fit the world.
fn waits(set: StepSet) -> bool {
    !matches!(set, StepSet::Before | StepSet::After)
}

thread_local! {
    static FAULT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What bevy writes for a name where it was built without names.
const NAMELESS: &str = "`<Enable the debug feature to see the name>` ";

/// Keeps what a system fails with: a step is refused for it, the program goes on.
fn keep_fault(error: BevyError, context: ErrorContext) {
    FAULT.with(|fault| {
        fault
            .borrow_mut()
            .get_or_insert_with(|| format!("a {} fails: {}", context.kind(), error.to_string().replace(NAMELESS, "").trim_end()));
    });
}

/// Runs the systems of one place.
pub(super) fn run_guests(world: &mut World, set: StepSet) {
    if world.get_resource::<Guests>().is_none_or(|guests| guests.list.iter().all(|guest| guest.set != set)) {
        return;
    }
    world.resource_scope(|world, mut guests: Mut<Guests>| {
        let guests = &mut *guests;
        let own_handler = world.get_resource::<FallbackErrorHandler>().is_none();
        if own_handler {
            world.insert_resource(FallbackErrorHandler(keep_fault));
        }
        for guest in guests.list.iter_mut().filter(|guest| guest.set == set) {
            guest.schedule.run(world);
            if let Some(fault) = FAULT.with(|fault| fault.borrow_mut().take()) {
                guests.fault.get_or_insert_with(|| (set, format!("{}: {fault}", guest.name)));
            }
        }
        if own_handler {
            world.remove_resource::<FallbackErrorHandler>();
        }
    });
}

impl Simulation {
    pub(super) fn new_handle(&mut self) -> Handle {
        self.handles += 1;
        Handle(self.handles)
    }

    /// Adds systems that run at a place of every step, after what the step itself does there; see [`StepSet`] for when, how often and with
    /// which time. Systems of one place run in the order in which they were added, on one thread; those of one tuple as bevy orders them
    /// (`.chain()` fixes it). They may take any parameter of bevy: queries of components, `Res<Clock>`, `ResMut<Bodies>`, `Commands`.
    ///
    /// A system that fails (it returns an error, or asks for a resource that is not there) refuses the step by
    /// [`SimulationError::Guest`]. Systems are not part of a saved state: a program that resumes a run adds them again, and keeps what
    /// they remember (`Local`, resources of its own) itself. Where there are any, worlds of systems without shapes advance step by step.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use drystone::model::{newton_euler::{AppliedForce, Velocity}, scheme::Clock};
    /// use drystone::simulation::{Body, Simulation, StepSet};
    /// use drystone::topology::bodies::{Bodies, Slot};
    /// use glam::DVec3;
    /// /// Air drag on everything that moves.
    /// fn drag(moving: Query<(&Slot, &Velocity)>, mut bodies: ResMut<Bodies>) {
    ///     for (slot, v) in &moving {
    ///         bodies.push(*slot, AppliedForce { force: -0.5 * v.linear, torque: DVec3::ZERO });
    ///     }
    /// }
    /// let mut sim = Simulation::default();
    /// let body = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
    /// let drag = sim.add_systems(StepSet::Loads, drag)?;
    /// sim.run_until(20.0)?;
    /// let fall = sim.world().get::<Velocity>(body).expect("alive").linear.z;
    /// assert!((fall + 9.81 / 0.5).abs() < 1e-2, "its weight is what the air carries: {fall}");
    /// assert!(sim.remove(drag));
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn add_systems<S: IntoScheduleConfigs<ScheduleSystem, M>, M>(
        &mut self,
        set: StepSet,
        systems: S,
    ) -> Result<Handle, SimulationError> {
        let mut schedule = Schedule::default();
        schedule.set_executor(SingleThreadedExecutor::new());
        if waits(set) {
            schedule.set_build_settings(ScheduleBuildSettings { auto_insert_apply_deferred: false, ..ScheduleBuildSettings::default() });
            schedule.set_apply_final_deferred(false);
        }
        schedule.add_systems(systems);
        if let Err(error) = schedule.initialize(&mut self.world) {
            let reason = error.to_string(schedule.graph(), &self.world);
            return Err(SimulationError::Systems { set, reason });
        }
        let handle = self.new_handle();
        self.world.resource_mut::<Guests>().list.push(Guest { handle, set, name: std::any::type_name::<S>(), schedule });
        Ok(handle)
    }

    /// Ends what was added under this handle: systems, a load, a force, an event to come, a periodic action. False if it is not there
    /// any more.
    pub fn remove(&mut self, handle: Handle) -> bool {
        fn take<T>(list: &mut Vec<T>, is: impl FnMut(&T) -> bool) -> bool {
            list.iter().position(is).map(|at| drop(list.remove(at))).is_some()
        }
        self.world.resource_mut::<Loads>().remove(handle)
            || take(&mut self.events, |event| event.handle == handle)
            || take(&mut self.periodic, |action| action.handle == handle)
            || take(&mut self.world.resource_mut::<Guests>().list, |guest| guest.handle == handle)
    }

    /// Runs the systems of a place outside the chain, and says what failed there or before.
    pub(super) fn visit(&mut self, set: StepSet) -> Result<(), SimulationError> {
        run_guests(&mut self.world, set);
        self.hear_guests(1)
    }

    /// What a system of a user has failed with, in the step that is so far ahead of the clock.
    pub(super) fn hear_guests(&mut self, ahead: u64) -> Result<(), SimulationError> {
        let Some((set, reason)) = self.world.resource_mut::<Guests>().fault.take() else { return Ok(()) };
        Err(SimulationError::Guest { step: self.steps() + ahead, time: self.time(), set, reason })
    }

    /// Applies the commands of systems that ran while the step was under way.
    pub(super) fn flush_guests(&mut self) {
        if self.world.resource::<Guests>().is_empty() {
            return;
        }
        self.world.resource_scope(|world, mut guests: Mut<Guests>| {
            guests.list.iter_mut().filter(|guest| waits(guest.set)).for_each(|guest| guest.schedule.apply_deferred(world));
        });
    }
}
