//! Where the time of a step goes: the clock of its phases.

use super::run::Simulation;
use super::step::StepSet;
use bevy_ecs::prelude::*;
use std::time::{Duration, Instant};

/// Wall time per phase of the steps that were timed. Phases have the names of [`StepSet`]; beside these, `Checks` are the looks for numbers
/// that are none, `Ahead` is the look at the end of the step, and `Certificate` the energies and the report.
#[derive(Resource, Debug, Default)]
pub(super) struct Phases {
    /// End of the phase before; none where nothing is timed.
    last: Option<Instant>,
    on: bool,
    spent: [Duration; NAMES.len()],
}

const NAMES: [&str; 13] = [
    "Begin",
    "BroadPhase",
    "NarrowPhase",
    "Loads",
    "Checks",
    "FreeMotion",
    "Activate",
    "Assemble",
    "Solve",
    "Apply",
    "Ahead",
    "Observe",
    "Certificate",
];

/// A phase that ends.
#[derive(Clone, Copy)]
pub(super) enum Phase {
    Begin,
    Broad,
    Narrow,
    Loads,
    Checks,
    FreeMotion,
    Activate,
    Assemble,
    Solve,
    Apply,
    Ahead,
    Observe,
    Certificate,
}

impl Phases {
    /// The clock starts here.
    pub(super) fn start(&mut self) {
        if self.on {
            self.last = Some(Instant::now());
        }
    }

    /// The time since the last mark is that of this phase.
    pub(super) fn mark(&mut self, phase: Phase) {
        if let Some(last) = self.last {
            let now = Instant::now();
            self.spent[phase as usize] += now - last;
            self.last = Some(now);
        }
    }

    pub(super) fn stop(&mut self) {
        self.last = None;
    }
}

/// Ends the phase of a place of the step.
pub(super) fn mark(world: &mut World, set: StepSet) {
    let phase = match set {
        StepSet::Before | StepSet::After => return,
        StepSet::Begin => Phase::Begin,
        StepSet::BroadPhase => Phase::Broad,
        StepSet::NarrowPhase => Phase::Narrow,
        StepSet::Loads => Phase::Loads,
        StepSet::FreeMotion => Phase::FreeMotion,
        StepSet::Activate => Phase::Activate,
        StepSet::Assemble => Phase::Assemble,
        StepSet::Solve => Phase::Solve,
        StepSet::Apply => Phase::Apply,
        StepSet::Observe => Phase::Observe,
    };
    if let Some(mut phases) = world.get_resource_mut::<Phases>() {
        phases.mark(phase);
    }
}

impl Simulation {
    /// Times the phases of the steps from now on, from zero; or no longer. It costs a few readings of the clock a step.
    pub fn time_phases(&mut self, on: bool) {
        self.world.insert_resource(Phases { on, ..Phases::default() });
    }

    /// Wall time spent in each phase of a step since [`time_phases`](Self::time_phases), in the order of a step: those of [`StepSet`] by
    /// their names, the looks for numbers that are none (`Checks`), the look at the end of the step (`Ahead`), energies and report
    /// (`Certificate`). Time between steps is in none.
    ///
    /// ```
    /// use drystone::simulation::{Body, Simulation};
    /// let mut sim = Simulation::default();
    /// sim.spawn_body(Body::point(1.0, glam::DVec3::ONE))?;
    /// sim.time_phases(true);
    /// sim.step()?;
    /// assert!(sim.phase_times().iter().any(|(name, spent)| *name == "Solve" && !spent.is_zero()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn phase_times(&self) -> [(&'static str, Duration); NAMES.len()] {
        let spent = self.world.get_resource::<Phases>().map_or([Duration::ZERO; NAMES.len()], |phases| phases.spent);
        std::array::from_fn(|k| (NAMES[k], spent[k]))
    }
}
