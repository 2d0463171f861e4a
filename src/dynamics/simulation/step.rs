//! The time step as a table of contents.

use super::adhesion::adhere;
use super::guests::{Handle, run_guests};
use super::phases::mark as end_phase;
use crate::algebra::spatial::Pose;
use crate::assembly::adopted::{adopt, apply_systems, free_systems, store_systems};
use crate::assembly::bonds::store_bonds;
use crate::assembly::crushing::store_crushing;
use crate::assembly::forces::read_forces;
use crate::assembly::joints::{assemble_blocks, share_joints, store_joints};
use crate::assembly::projection::project_joints;
use crate::assembly::systems::{activate, apply, assemble_contacts, assemble_systems, solve, store_reactions};
use crate::cluster::systems::{advance, refresh, store};
use crate::geometry::ahead_systems::{foresee, stop};
use crate::geometry::narrow_systems::narrow_phase;
use crate::geometry::systems::{broad_phase, cache_colliders, exclude_joined};
use crate::geometry::turned_systems::turn_arms;
use crate::integrator::systems::{set_frames, wait};
use crate::model::interaction::{Engaged, Interaction, OfBodies};
use crate::model::newton_euler::{AppliedForce, Frame, Velocity};
use crate::model::scheme::{Clock, Scheme};
use crate::model::watched::watched;
use crate::topology::bodies::{Bodies, Body, Slot};
use crate::topology::islands::mark_islands;
use crate::topology::systems::{gather_bodies, scatter};
use bevy_ecs::entity::Entities;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;
use glam::DVec3;

/// The places of a step, in their order. [`Simulation::add_systems`](super::Simulation::add_systems) adds systems of your own, which
/// run after what the step itself does at that place.
///
/// ```text
/// Before ─ [ Begin ─ BroadPhase ─ NarrowPhase ─ Loads ─ [ FreeMotion ─ Activate ─ Assemble ─ Solve ─ Apply ]* ─ Observe ]* ─ After
/// ```
///
/// | place | how often | `Clock::time` |
/// |---|---|---|
/// | `Before` | once a step | its start |
/// | `Begin`, `BroadPhase`, `NarrowPhase` | at every try of a part, and in `detect` | start of the part |
/// | `Loads` | at every try of a part | start of the part |
/// | `FreeMotion` … `Apply` | in every pass of every try | start of the part |
/// | `Observe` | once for each part that stands | start of the part |
/// | `After` | once a step that succeeds | its end |
///
/// A step is one part; only where bodies in joints turn far it is solved in several, and what turned out too long is begun anew. The
/// length of the part is `Scheme::time_step`, in `Before` and `After` that of the whole step. There is one pass unless joints make
/// the step nonlinear or detection foresees overlaps. So systems between `Begin` and `Apply` should depend on what they read alone:
/// what they count, they count several times. Events, periodic actions and the choice of an automatic step come after `Before`.
///
/// What systems see and may change:
///
/// - in `Before` components: what is written, spawned or despawned there holds in this step;
/// - from `Begin` to `Apply` the rows of [`Bodies`], which are copies: components come too late. Forces go to `Loads`, contact
///   pairs have points and laws after `NarrowPhase`, and in the passes `frame` is the pose at which rows are evaluated, `new_pose` and
///   `new_velocity` are the end as the last pass found it;
/// - in `Observe` and `After` components at the end, with the reactions of contacts and joints.
///
/// Rows of contacts are evaluated at the poses of the start of the part, those of joints, and of contacts of bodies in joints, at its
/// middle; loads at its start; forces of the user (`BodyForces`) and gyroscopic torques within the passes, by the θ-rule. Systems without shapes advance as a whole step between the last
/// `Apply` and the last `Observe`.
///
/// Commands take effect in `Before` and `After` at once, from `Begin` to `Observe` at the end of the part that stands (also those of tries
/// that do not). Entities must not come or go by `&mut World` there.
///
/// ```
/// use drystone::simulation::StepSet;
/// assert!(StepSet::Before < StepSet::Loads && StepSet::Observe < StepSet::After);
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StepSet {
    /// Nothing has happened yet.
    Before,
    /// Rows of all bodies.
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
    /// All is done, the clock has gone on.
    After,
}

/// Adds forces to the rows of all bodies at a given time.
pub(super) type LoadOnAll = Box<dyn Fn(f64, &mut [Body]) + Send + Sync>;
/// The same as means over a step, from its start to its end (s).
pub(super) type MeanLoad = Box<dyn Fn([f64; 2], &mut [Body]) + Send + Sync>;
/// Force and moment on one body.
pub(super) type LoadOnOne = Box<dyn Fn(f64, &Pose, &Velocity) -> AppliedForce + Send + Sync>;

/// What a user adds to the forces.
pub(super) enum Load {
    All(LoadOnAll),
    Mean(MeanLoad),
    One(Entity, Frame, LoadOnOne),
}

/// The loads that users registered, in their order, which is that of their handles, and what one on all bodies said as it panicked.
#[derive(Resource, Default)]
pub(super) struct Loads {
    pub(super) all: Vec<(Handle, Load)>,
    pub(super) fault: Option<String>,
}

impl Loads {
    pub(super) fn remove(&mut self, handle: Handle) -> bool {
        self.all.binary_search_by_key(&handle, |load| load.0).map(|at| drop(self.all.remove(at))).is_ok()
    }
}

/// Every force reads the row of its body; those of bodies that are no more end.
fn apply_loads(
    mut loads: ResMut<Loads>,
    (clock, scheme): (Res<Clock>, Res<Scheme>),
    mut bodies: ResMut<Bodies>,
    slots: Query<&Slot>,
    entities: &Entities,
) {
    let (mut ended, mut fault) = (false, None);
    bodies.sound &= loads.all.is_empty();
    for (_, load) in &loads.all {
        let called = match load {
            Load::All(load) => watched(|| load(clock.time, &mut bodies.rows)).map_err(|said| ("add_load", said)),
            Load::Mean(load) => {
                let times = [clock.time, clock.time + scheme.time_step];
                watched(|| load(times, &mut bodies.rows)).map_err(|said| ("add_mean_load", said))
            }
            Load::One(body, frame, force) => {
                let Ok(slot) = slots.get(*body) else {
                    ended |= !entities.contains_spawned(*body);
                    continue;
                };
                let Some(row) = bodies.get(*slot) else { continue };
                let f = match watched(|| force(clock.time, &row.pose, &row.velocity)) {
                    Ok(f) => f,
                    Err(said) => {
                        bodies.refuse(*body, format!("a force that was added to it panicked: {said}"));
                        return;
                    }
                };
                let rotation = row.pose.rotation;
                let turn = |x: DVec3| if *frame == Frame::Body { rotation * x } else { x };
                bodies.push(*slot, AppliedForce { force: turn(f.force), torque: turn(f.torque) });
                Ok(())
            }
        };
        if let Err((added, said)) = called {
            fault = Some(format!("a load on all bodies ({added}) panicked: {said}"));
            break;
        }
    }
    loads.fault = fault;
    if ended {
        loads.all.retain(|(_, load)| !matches!(load, Load::One(body, ..) if !entities.contains_spawned(*body)));
    }
}

/// The place for systems of users after those of a set; with them ends its time.
fn guests(set: StepSet) -> impl FnMut(&mut World) + Send + Sync + 'static {
    move |world| {
        run_guests(world, set);
        end_phase(world, set);
    }
}

/// The schedules of a step: which systems stand with bodies, the step of these, a batch of steps of all others, and its first part alone.
pub(super) struct Schedules {
    pub(super) graph: Schedule,
    pub(super) systems: Schedule,
    pub(super) refresh: Schedule,
    pub(super) begin: Schedule,
    pub(super) loads: Schedule,
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
        let (mut begin, mut loads, mut inner, mut end, mut systems) = (schedule(), schedule(), schedule(), schedule(), schedule());
        let (mut graph, mut ahead, mut rebuild) = (schedule(), schedule(), schedule());
        graph.add_systems(mark_islands);
        rebuild.add_systems(refresh);
        ahead.add_systems(foresee);
        let mut halt = schedule();
        halt.add_systems((stop, wait).chain());
        systems.add_systems((refresh, advance, store, engage_systems).chain());
        begin.configure_sets((StepSet::Begin, StepSet::BroadPhase, StepSet::NarrowPhase).chain());
        begin.add_systems((
            (gather_bodies, adopt, exclude_joined, cache_colliders, guests(StepSet::Begin)).chain().in_set(StepSet::Begin),
            (broad_phase, guests(StepSet::BroadPhase)).chain().in_set(StepSet::BroadPhase),
            (narrow_phase, guests(StepSet::NarrowPhase)).chain().in_set(StepSet::NarrowPhase),
        ));
        loads.add_systems((apply_loads, adhere, guests(StepSet::Loads)).chain().in_set(StepSet::Loads));
        inner.configure_sets((StepSet::FreeMotion, StepSet::Activate, StepSet::Assemble, StepSet::Solve, StepSet::Apply).chain());
        inner.add_systems((
            (set_frames, read_forces, turn_arms, assemble_systems, free_systems, guests(StepSet::FreeMotion))
                .chain()
                .in_set(StepSet::FreeMotion),
            (activate, guests(StepSet::Activate)).chain().in_set(StepSet::Activate),
            (assemble_contacts, assemble_blocks, guests(StepSet::Assemble)).chain().in_set(StepSet::Assemble),
            (solve, guests(StepSet::Solve)).chain().in_set(StepSet::Solve),
            (apply_systems, apply, guests(StepSet::Apply)).chain().in_set(StepSet::Apply),
        ));
        let observe = (
            share_joints,
            project_joints,
            store_reactions,
            store_crushing,
            store_joints,
            store_bonds,
            store_systems,
            scatter,
            engage,
            guests(StepSet::Observe),
        );
        end.add_systems(observe.chain().in_set(StepSet::Observe));
        Self { graph, systems, refresh: rebuild, begin, loads, inner, ahead, stop: halt, end }
    }
}

/// Marks the interactions that have come to carry an impulse, and those that no longer do.
pub(super) fn engage(mut commands: Commands, joints: Query<(Entity, &Interaction, Has<Engaged>), With<OfBodies>>) {
    joints.iter().for_each(|(entity, joint, was)| mark(&mut commands, entity, joint, was));
}

/// The same for those of systems without shapes, after a batch.
fn engage_systems(mut commands: Commands, links: Query<(Entity, &Interaction, Has<Engaged>), Without<OfBodies>>) {
    links.iter().for_each(|(entity, link, was)| mark(&mut commands, entity, link, was));
}

/// Whether a law of impact carries an impulse.
pub(super) fn is_engaged(interaction: &Interaction) -> bool {
    interaction.law.is_impact() && interaction.lambda.iter().any(|l| *l != 0.0)
}

fn mark(commands: &mut Commands, entity: Entity, interaction: &Interaction, was: bool) {
    let is = is_engaged(interaction);
    if is && !was {
        commands.entity(entity).insert(Engaged);
    } else if was && !is {
        commands.entity(entity).remove::<Engaged>();
    }
}
