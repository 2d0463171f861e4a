//! The rows of the step: every rigid body in slot order, as flat arrays.

use crate::algebra::spatial::Pose;
use crate::model::newton_euler::{AppliedForce, GravityScale, Inertia, Locks, Velocity};
use crate::numerics::mixed::IMMOBILE;
use bevy_ecs::prelude::{Component, Entity, Resource};
use glam::{DQuat, DVec3};
use std::collections::BTreeSet;

/// Row of a rigid body in [`Bodies`]. Assigned at birth, reused after death, lowest first.
///
/// ```
/// use drystone::topology::bodies::Slot;
/// assert!(Slot(0) < Slot(1));
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Which slots are taken. Slots of bodies that die come back by themselves, however these die.
///
/// ```
/// let mut slots = drystone::topology::bodies::Slots::default();
/// assert_eq!([slots.take(), slots.take()].map(|s| s.0), [0, 1]);
/// slots.give_back(drystone::topology::bodies::Slot(0));
/// assert_eq!((slots.taken(), slots.take().0), (1, 0));
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct Slots {
    /// Lowest number that was never given.
    bound: u32,
    free: BTreeSet<u32>,
}

impl Slots {
    /// The lowest free slot.
    pub fn take(&mut self) -> Slot {
        Slot(self.free.pop_first().unwrap_or_else(|| {
            self.bound += 1;
            self.bound - 1
        }))
    }

    /// Frees a slot.
    pub fn give_back(&mut self, slot: Slot) {
        if slot.0 < self.bound {
            self.free.insert(slot.0);
        }
    }

    /// Number of living bodies.
    pub fn taken(&self) -> usize {
        self.bound as usize - self.free.len()
    }

    /// Lowest number that was never given.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Takes these slots below `bound`, and frees all others.
    pub fn restore(&mut self, bound: u32, taken: impl Iterator<Item = u32>) {
        let taken: BTreeSet<u32> = taken.collect();
        self.free = (0..bound).filter(|slot| !taken.contains(slot)).collect();
        self.bound = bound;
    }
}

/// Free rotation over a step.
///
/// ```
/// let still = drystone::topology::bodies::Turn::default();
/// assert_eq!(still.rotation, glam::DQuat::IDENTITY);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// Angular velocity at the end (rad/s, body axes).
    pub angular: DVec3,
    /// From the axes of the body at the end to those at the start.
    pub rotation: DQuat,
}

/// A body as the kernels see it.
///
/// ```
/// assert!(!drystone::topology::bodies::BodyRow::default().alive);
/// ```
// in the order of use: most passes read the first lines of a cache alone
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct BodyRow {
    /// Its entity; `None` for a free slot.
    pub entity: Option<Entity>,
    /// Index among the mobile bodies, or [`IMMOBILE`].
    pub row: u32,
    /// False for a free slot.
    pub alive: bool,
    /// Whether forces of the user act on it, which the passes work out anew.
    pub forced: bool,
    /// Whether a reaction acts on it in this step.
    pub reacted: bool,
    /// Locked axes.
    pub locks: Locks,
    /// Velocity at the start of the step.
    pub velocity: Velocity,
    /// Pose at the start of the step.
    pub pose: Pose,
    /// Mass and inertia; none for an immobile body.
    pub inertia: Option<Inertia>,
    /// Velocity at the end of the step.
    pub new_velocity: Velocity,
    /// Pose at the end of the step.
    pub new_pose: Pose,
    /// Pose at which rows and world inertia are evaluated.
    pub frame: Pose,
    /// Gyroscopic torque of the step (N m, body axes).
    pub gyroscopic: DVec3,
    /// Part of the scene's gravity that acts on it.
    pub gravity: GravityScale,
    /// All loads but gravity (N, N m; world).
    pub load: AppliedForce,
    /// Impulse given in this step (N s, N m s; world).
    pub blow: AppliedForce,
    /// Part of the loads of the last step that is attraction between bodies that touch.
    pub pull: AppliedForce,
    /// Velocity (angular in body axes) that loads have given it for the part in which it waits, taken back.
    pub returned: Velocity,
    /// Part of the step at whose end it waits for the next one, as something is in its way that no row holds.
    pub waits: f64,
    /// Free rotation of the step, where it is worked out in substeps.
    pub turn: Option<Turn>,
    /// Velocity at the end of the step from which a pass of a nonlinear step works out its frames (angular in body axes).
    pub guess: Velocity,
    /// What its centre has gained in the last step (m/s), which the rows of a later look at contacts no longer show; none before a step.
    pub gained: Option<DVec3>,
    /// The pose at which detection sees it while it stands, see `geometry::standing`; none while it moves.
    pub seen: Option<Pose>,
    /// Whether the detection before saw it elsewhere, or moving.
    pub fresh: bool,
}

/// What the crate calls it where nothing else is a body.
pub(crate) type Body = BodyRow;

/// All bodies of the step.
///
/// ```
/// assert_eq!(drystone::topology::bodies::Bodies::default().rows.len(), 0);
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct Bodies {
    /// One per slot.
    pub rows: Vec<BodyRow>,
    /// Slot of each mobile body.
    pub mobile: Vec<u32>,
    /// Whether bodies attract each other, so that rows may have a `pull`.
    pub attract: bool,
    /// Power (W) of attraction on images that move against their bodies, in a sheared cell.
    pub image_pull: f64,
    /// Whether all states and loads were numbers as they were gathered, and nothing has been added to loads since.
    pub(crate) sound: bool,
    /// The first body whose components do not make one, and why.
    pub fault: Option<(Entity, String)>,
    /// Table and place of the body of each slot, as they were gathered.
    pub(super) sources: Vec<[u32; 2]>,
    /// Which poses and velocities differ from before, as they were scattered.
    pub(super) changed: Vec<[bool; 2]>,
}

/// Beyond this a state counts as overflown.
const OVERFLOW: f64 = 1e100;

/// Whether a vector holds numbers.
pub(crate) fn is_sound(x: DVec3) -> bool {
    // max_element passes over NaN
    x.is_finite() && x.abs().max_element() < OVERFLOW
}

/// The same for a state: of the velocity, and of the pose.
pub(crate) fn are_sound(v: &Velocity, pose: &Pose) -> [bool; 2] {
    [is_sound(v.linear) && is_sound(v.angular), is_sound(pose.position) && pose.rotation.is_finite()]
}

impl Bodies {
    /// The row of a living body.
    pub fn get(&self, slot: Slot) -> Option<&BodyRow> {
        self.rows.get(slot.0 as usize).filter(|row| row.alive)
    }

    /// Adds a force and a torque (world axes) to what acts on a body in this step; nothing on a free slot. For systems in
    /// [`StepSet::Loads`](crate::simulation::StepSet::Loads).
    pub fn push(&mut self, slot: Slot, load: AppliedForce) {
        if let Some(row) = self.rows.get_mut(slot.0 as usize).filter(|row| row.alive) {
            row.load.force += load.force;
            row.load.torque += load.torque;
            self.sound = false;
        }
    }

    /// Adds an attraction to the loads of a body; on bodies that do not move it counts for what holds them.
    pub fn pull(&mut self, slot: Slot, pull: AppliedForce) {
        self.push(slot, pull);
        if let Some(row) = self.rows.get_mut(slot.0 as usize).filter(|row| row.alive) {
            row.pull.force += pull.force;
            row.pull.torque += pull.torque;
        }
    }

    /// Notes what is wrong with a body, if nothing has been noted before.
    pub fn refuse(&mut self, entity: Entity, reason: impl Into<String>) {
        self.fault.get_or_insert_with(|| (entity, reason.into()));
    }

    /// Numbers the mobile bodies in slot order.
    pub fn number(&mut self) {
        self.mobile.clear();
        for (slot, body) in self.rows.iter_mut().enumerate() {
            body.row = IMMOBILE;
            if body.alive && body.inertia.is_some() {
                body.row = self.mobile.len() as u32;
                self.mobile.push(slot as u32);
            }
        }
    }
}
