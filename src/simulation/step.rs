//! The time step as a table of contents.

use crate::assembly::adopted::{adopt, apply_systems, free_systems, store_systems};
use crate::assembly::joints::{assemble_blocks, store_joints};
use crate::assembly::systems::{activate, apply, assemble_contacts, assemble_systems, solve, store_reactions};
use crate::cluster::systems::{advance, refresh, store};
use crate::geometry::ahead_systems::{foresee, stop};
use crate::geometry::systems::{broad_phase, cache_colliders, narrow_phase};
use crate::geometry::turned_systems::turn_arms;
use crate::integrator::systems::{set_frames, wait};
use crate::topology::bodies::{Bodies, Body};
use crate::topology::islands::mark_islands;
use crate::topology::systems::{gather_bodies, scatter};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;

/// The sets of a step, in their order; [`StepSet::FreeMotion`] to [`StepSet::Apply`] repeat where joints make the step nonlinear.
///
/// ```
/// assert_ne!(drystone::simulation::StepSet::Begin, drystone::simulation::StepSet::Observe);
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepSet {
    /// Rows of all systems.
    Begin,
    /// Whose boxes overlap.
    BroadPhase,
    /// Gaps and frames.
    NarrowPhase,
    /// Forces that users add.
    Loads,
    /// v_free
    FreeMotion,
    /// Which gaps close within this step.
    Activate,
    /// H, b, μ as plain arrays.
    Assemble,
    /// r
    Solve,
    /// v⁺, q⁺
    Apply,
    /// Rows back to components.
    Observe,
}

/// Adds forces to the rows of the bodies at a given time.
pub(super) type Load = Box<dyn Fn(f64, &mut [Body]) + Send + Sync>;

/// The loads that users registered, in their order.
#[derive(Resource, Default)]
pub(super) struct Loads(pub(super) Vec<Load>);

fn apply_loads(loads: Res<Loads>, clock: Res<crate::model::scheme::Clock>, mut bodies: ResMut<Bodies>) {
    for load in &loads.0 {
        load(clock.time, &mut bodies.rows);
    }
}

/// The schedules of a step: which systems stand with bodies, the step of these, a batch of steps of all others, and its first part alone.
pub(super) struct Schedules {
    pub(super) graph: Schedule,
    pub(super) systems: Schedule,
    pub(super) refresh: Schedule,
    pub(super) begin: Schedule,
    pub(super) inner: Schedule,
    pub(super) ahead: Schedule,
    pub(super) stop: Schedule,
    pub(super) end: Schedule,
}

impl Schedules {
    pub(super) fn new() -> Self {
        // kernels run on rayon; the schedule itself is a list
        let schedule = || {
            let mut s = Schedule::default();
            s.set_executor(SingleThreadedExecutor::new());
            s
        };
        let (mut begin, mut inner, mut end, mut systems) = (schedule(), schedule(), schedule(), schedule());
        let (mut graph, mut ahead, mut rebuild) = (schedule(), schedule(), schedule());
        graph.add_systems(mark_islands);
        rebuild.add_systems(refresh);
        ahead.add_systems(foresee);
        let mut halt = schedule();
        halt.add_systems((stop, wait).chain());
        systems.add_systems((refresh, advance, store).chain());
        begin.configure_sets((StepSet::Begin, StepSet::BroadPhase, StepSet::NarrowPhase, StepSet::Loads).chain());
        begin.add_systems((
            (gather_bodies, adopt, cache_colliders).chain().in_set(StepSet::Begin),
            broad_phase.in_set(StepSet::BroadPhase),
            narrow_phase.in_set(StepSet::NarrowPhase),
            apply_loads.in_set(StepSet::Loads),
        ));
        inner.configure_sets((StepSet::FreeMotion, StepSet::Activate, StepSet::Assemble, StepSet::Solve, StepSet::Apply).chain());
        inner.add_systems((
            (set_frames, turn_arms, assemble_systems, free_systems).chain().in_set(StepSet::FreeMotion),
            activate.in_set(StepSet::Activate),
            (assemble_contacts, assemble_blocks).chain().in_set(StepSet::Assemble),
            solve.in_set(StepSet::Solve),
            (apply_systems, apply).chain().in_set(StepSet::Apply),
        ));
        end.add_systems((store_reactions, store_joints, store_systems, scatter).chain().in_set(StepSet::Observe));
        Self { graph, systems, refresh: rebuild, begin, inner, ahead, stop: halt, end }
    }
}
