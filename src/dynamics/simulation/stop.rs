//! Steps that may be ended while they are solved.
//!
//! Until its end is found a step writes nothing that a step to come would read (points of pairs are found anew at each try), but for the memory of the
//! solver, for the velocities of driven bodies, for the length that an automatic step has chosen, for events, and for bodies that come and go. The first
//! two are put back. What has happened at the start of the step stands, as in one that is refused: the next try is as long, finds nothing more due, and has the
//! blows again. Of a step in several parts the whole start is kept, as a saved state, since a part that is done has written all.

use super::error::SimulationError;
use super::guests::Guests;
use super::run::Simulation;
use super::state::SavedState;
use crate::assembly::problem::{Solver, StepProblem};
use crate::geometry::systems::Proximity;
use crate::integrator::systems::Pass;
use crate::model::integrator::Integrator;
use crate::model::newton_euler::{Motion, Velocity};
use crate::numerics::Stop;
use crate::numerics::auto::Memory;
use crate::topology::bodies::Slot;
use bevy_ecs::prelude::*;
use std::sync::atomic::AtomicBool;

/// The flag, and what the solver remembered and driven bodies did at the start of the step.
#[derive(Debug, Default)]
pub(super) struct StepStop {
    flag: Option<&'static AtomicBool>,
    memory: Memory,
    driven: Vec<(Entity, Velocity)>,
    bodies: Option<QueryState<(Entity, &'static Motion, &'static Velocity)>>,
    /// Of a step in parts, with the bodies of its list.
    start: Option<(SavedState, Vec<Entity>)>,
}

impl Simulation {
    /// Lets another thread end a step while it is solved. Once the flag is set, [`Simulation::step`] returns [`SimulationError::Stopped`] after the
    /// pair, the sweep or the factorisation at hand, and the state is that of the end of the step before: where the flag is taken back, the run goes on as
    /// if nothing had been. Events that were due at the start of the step have happened then, and bodies have come and gone. Steps that run systems or
    /// actions of the host program are finished.
    ///
    /// ```
    /// use drystone::simulation::{Body, Simulation, SimulationError};
    /// use drystone::geometry::Shape;
    /// use glam::DVec3;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// static FLAG: AtomicBool = AtomicBool::new(false);
    /// let mut sim = Simulation::default();
    /// sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    /// sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 0.1))?;
    /// sim.set_stop(&FLAG);
    /// sim.step()?;
    /// FLAG.store(true, Ordering::Relaxed);
    /// assert!(matches!(sim.step(), Err(SimulationError::Stopped { step: 2, .. })));
    /// assert_eq!(sim.steps(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_stop(&mut self, flag: &'static AtomicBool) {
        self.stop.flag = Some(flag);
    }

    /// Whether the flag of [`set_stop`](Self::set_stop) is set.
    pub fn stop_asked(&self) -> bool {
        self.stop.flag.is_some_and(|flag| Stop::on(flag).asked())
    }

    /// Lets the step that begins be stopped.
    pub(super) fn arm(&mut self) {
        let Some(flag) = self.stop.flag else { return };
        let may = self.periodic.is_empty() && self.world.resource::<Guests>().is_empty();
        if may {
            // a copy asks for memory, and most steps leave it as it was
            let memory = &self.world.resource::<Solver>().workspace.memory;
            if self.stop.memory != *memory {
                self.stop.memory.clone_from(memory);
            }
            self.stop.driven.clear();
            let bodies = self.stop.bodies.get_or_insert_with(|| self.world.query());
            let driven = bodies.iter(&self.world).filter(|(_, motion, _)| matches!(motion, Motion::Kinematic(_)));
            self.stop.driven.extend(driven.map(|(entity, _, velocity)| (entity, *velocity)));
            self.stop.start = None;
        }
        self.hand_out(may.then_some(flag));
    }

    /// Gives the flag to what looks at it within a step.
    fn hand_out(&mut self, flag: Option<&'static AtomicBool>) {
        self.world.resource_mut::<StepProblem>().problem.stop = flag.map_or_else(Stop::default, Stop::on);
        self.world.resource_mut::<Proximity>().stop = flag;
    }

    /// What has been done is not to be lost.
    pub(super) fn disarm(&mut self) {
        self.hand_out(None);
    }

    /// Ends the step where the flag is set, or was while detection was at work.
    pub(super) fn hear_stop(&mut self) -> Result<(), SimulationError> {
        let cut = std::mem::take(&mut self.world.resource_mut::<Proximity>().cut);
        if !(cut || self.world.resource::<StepProblem>().problem.stop.asked()) {
            return Ok(());
        }
        self.exchange_start();
        self.keep_length();
        Err(SimulationError::Stopped { step: self.steps() + 1, time: self.time() })
    }

    /// Puts what the solver remembers and driven bodies do in the place of what they did at the start of the step, and the other way round.
    fn exchange_start(&mut self) {
        std::mem::swap(&mut self.world.resource_mut::<Solver>().into_inner().workspace.memory, &mut self.stop.memory);
        for (entity, velocity) in &mut self.stop.driven {
            if let Some(mut now) = self.world.get_mut::<Velocity>(*entity) {
                std::mem::swap(&mut *now, velocity);
            }
        }
    }

    /// Keeps the start of a step that goes on in parts, where it may be stopped.
    pub(super) fn keep_start(&mut self) {
        if self.world.resource::<Proximity>().stop.is_none() {
            return;
        }
        let mut bodies = self.world.query_filtered::<(&Slot, Entity), Without<Integrator>>();
        let mut bodies: Vec<(Slot, Entity)> = bodies.iter(&self.world).map(|(slot, entity)| (*slot, entity)).collect();
        bodies.sort_by_key(|body| body.0);
        let bodies: Vec<Entity> = bodies.into_iter().map(|body| body.1).collect();
        self.exchange_start();
        self.stop.start = Some((self.save(&bodies), bodies));
        self.exchange_start();
    }

    /// Brings a step that was stopped in a later part back to its start.
    pub(super) fn put_start_back(&mut self) -> Result<(), SimulationError> {
        let Some((state, bodies)) = self.stop.start.take() else { return Ok(()) };
        self.restore(&state, &bodies)?;
        self.keep_length();
        self.world.insert_resource(Pass::default());
        self.moved = false;
        Ok(())
    }
}
