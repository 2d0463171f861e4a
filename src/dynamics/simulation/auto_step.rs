//! Time steps that are chosen on the way.
//!
//! ```text
//! h (|v| + |ω| R)/ℓ + h² a/ℓ ≤ ε      no point of a body moves by more than the part ε of its smallest length ℓ in a step;
//! h (|v₁ − v₂| + |ω₁| R₁ + |ω₂| R₂)/ℓ ≤ ε      nor two bodies near each other by that part of the smaller ℓ of both
//! h |ω| ≤ 2 ε                         nor does a body turn farther
//! h = D/2ᵏ                            D: from one instant that has to be met (grid, event, record, end) to the next
//! ```
//!
//! R is the radius about the centre of mass, a the acceleration by gravity and constant loads. ε is the error that one step may
//! make, in parts of a body: what the rows of its contacts, which are straight within a step, may miss of the way.
//!
//! Steps become shorter at once. They become longer by one factor of two, when eight steps in a row would have allowed half as much again,
//! and where the longer step ends on the grid of its own length. So a pile at rest keeps its step, and with it its solution.

use super::error::SimulationError;
use super::run::Simulation;
use crate::geometry::systems::{Collider, Proximity};
use crate::model::contact::{ContactPair, Manifold};
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::newton_euler::{AppliedForce, Inertia, Motion, Velocity};
use crate::model::scheme::{Clock, Invalid, Scheme};
use crate::model::watched::watched;
use crate::topology::bodies::{Slot, Slots};
use bevy_ecs::prelude::*;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Instants closer than this part of the largest step are one.
const NEAR: f64 = 1e-6;
/// Halvings of the largest step.
const MOST: u32 = 20;
/// A longer step has to be allowed with this to spare …
const SPARE: f64 = 1.5;
/// … for so many steps.
const CALM: u32 = 8;

/// How time steps are chosen.
///
/// ```
/// use drystone::{geometry::Shape, simulation::{AutoStep, Body, Simulation}};
/// use glam::DVec3;
/// let mut sim = Simulation::default();
/// sim.spawn_body(Body::new(Shape::ball(0.1)?).moving(DVec3::X * 3.0))?;
/// sim.set_auto_step(AutoStep { accuracy: 0.05, largest: 0.01, ..AutoStep::default() })?;
/// sim.step()?;
/// assert!(sim.time_step() * 3.0 <= 0.05 * 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AutoStep {
    /// ε: how far a body may move in a step, in parts of its smallest length.
    pub accuracy: f64,
    /// Largest step (s); its multiples are met.
    pub largest: f64,
    /// All multiples of these times (s) are met.
    pub every: Vec<f64>,
    /// Instants (s) that are met, beside those of events.
    pub stops: Vec<f64>,
}

impl Default for AutoStep {
    fn default() -> Self {
        Self { accuracy: 0.05, largest: 0.01, every: Vec::new(), stops: Vec::new() }
    }
}

/// Where the choice stands; a saved state keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    from: f64,
    to: f64,
    /// D; the one before, or the largest step, where it differs from these by rounding only.
    whole: f64,
    /// k, and how many steps of D/2ᵏ are done.
    cut: u32,
    index: u64,
    /// Halvings of the largest step that speeds ask for.
    level: u32,
    calm: u32,
    /// The step was stopped, and the next try is to be as long: it would see other pairs.
    stopped: bool,
}

/// The settings, the plan, and room for sizes by slot.
#[derive(Debug)]
pub(super) struct Auto {
    settings: AutoStep,
    pub(super) plan: Option<Plan>,
    sizes: Vec<Mover>,
}

/// What limits the step of a body.
#[derive(Clone, Copy, Debug, Default)]
struct Mover {
    velocity: DVec3,
    /// |ω| R (m/s)
    spin: f64,
    smallest: f64,
}

impl AutoStep {
    fn validate(&self) -> Result<(), SimulationError> {
        if !(self.accuracy > 0.0 && self.accuracy <= 1.0) {
            return Err(Invalid::new("accuracy", self.accuracy, "a number above 0, up to 1").into());
        }
        if let Some(t) = self.every.iter().chain([&self.largest]).find(|t| !(**t > 0.0 && t.is_finite())) {
            return Err(Invalid::new("a time of the automatic step", format!("{t} s"), "positive numbers of seconds").into());
        }
        Ok(())
    }

    /// The next instant after `now` that has to be met.
    fn next(&self, now: f64, event: Option<f64>) -> f64 {
        let near = NEAR * self.largest;
        let multiple = |period: f64| (((now + near) / period).floor() + 1.0) * period;
        let periods = self.every.iter().map(|&period| multiple(period));
        let stops = self.stops.iter().copied().chain(event).filter(|t| *t > now + near);
        periods.chain(stops).fold(multiple(self.largest), f64::min)
    }
}

/// Periodic actions and automatic steps do not go together.
pub(super) fn needs_constant_step() -> SimulationError {
    Invalid::new("the time step", "automatic", "a constant time step for periodic actions; remove them or the automatic step").into()
}

/// ½ᵏ, exactly.
fn half(k: u32) -> f64 {
    1.0 / (1u64 << k.min(63)) as f64
}

/// The longest step with `h a + h² b ≤ ε`.
fn longest(a: f64, b: f64, accuracy: f64) -> f64 {
    2.0 * accuracy / (a + (a * a + 4.0 * b * accuracy).sqrt())
}

impl Simulation {
    /// Lets every step choose its length, see [`AutoStep`]. For worlds of bodies with shapes: other systems and periodic actions need
    /// a constant step.
    pub fn set_auto_step(&mut self, settings: AutoStep) -> Result<(), SimulationError> {
        settings.validate()?;
        if !self.periodic.is_empty() {
            return Err(needs_constant_step());
        }
        self.auto_step = Some(Auto { settings, plan: None, sizes: Vec::new() });
        self.world.resource_mut::<Clock>().chosen = true;
        Ok(())
    }

    /// Sets the length of the step that begins now.
    pub(super) fn choose_step(&mut self, blows: &[(Entity, AppliedForce)]) {
        if let Some(plan) = self.auto_step.as_mut().and_then(|auto| auto.plan.as_mut()).filter(|plan| plan.stopped) {
            plan.stopped = false;
            let h = plan.whole * half(plan.cut);
            return self.change_step(h);
        }
        let Some(mut auto) = self.auto_step.take() else { return };
        let now = self.time();
        let allowed = self.allowed(&mut auto, blows);
        let largest = auto.settings.largest;
        let halved = |level: u32| largest * half(level);
        let level = (0..MOST).find(|&k| halved(k) <= allowed).unwrap_or(MOST);
        let next = auto.settings.next(now, self.events.first().map(|scheduled| scheduled.time));
        let mut plan = auto.plan.unwrap_or(Plan { from: now, to: now, level, ..Plan::default() });
        if level >= plan.level {
            (plan.level, plan.calm) = (level, 0);
        } else if halved(plan.level - 1) * SPARE <= allowed {
            plan.calm += 1;
            if plan.calm >= CALM {
                (plan.level, plan.calm) = (plan.level - 1, 0);
            }
        } else {
            plan.calm = 0;
        }
        if plan.index >> plan.cut >= 1 || plan.to <= now || next < plan.to - NEAR * largest {
            let close = |whole: &f64| (next - now - whole).abs() <= 1e-9 * whole;
            let whole = [plan.whole, largest].into_iter().find(close).unwrap_or(next - now);
            plan = Plan { from: now, to: next, whole, cut: 0, index: 0, ..plan };
        }
        let limit = halved(plan.level) * (1.0 + 1e-9);
        let whole = plan.whole;
        let length = |cut: u32| whole * half(cut);
        while length(plan.cut) > limit {
            (plan.cut, plan.index) = (plan.cut + 1, 2 * plan.index);
        }
        while plan.cut > 0 && plan.index.is_multiple_of(2) && length(plan.cut - 1) <= limit {
            (plan.cut, plan.index) = (plan.cut - 1, plan.index / 2);
        }
        let h = length(plan.cut);
        auto.plan = Some(plan);
        self.auto_step = Some(auto);
        self.change_step(h);
    }

    /// The step was stopped: it will be as long when it is tried again.
    pub(super) fn keep_length(&mut self) {
        if let Some(plan) = self.auto_step.as_mut().and_then(|auto| auto.plan.as_mut()) {
            plan.stopped = true;
        }
    }

    /// The step is over: the clock shows the instant that was planned.
    pub(super) fn land(&mut self) {
        let Some(plan) = self.auto_step.as_mut().and_then(|auto| auto.plan.as_mut()) else { return };
        plan.index += 1;
        let share = plan.index as f64 * half(plan.cut);
        let time = if share >= 1.0 { plan.to } else { plan.from + share * (plan.to - plan.from) };
        let clock = self.world.resource_mut::<Clock>().into_inner();
        (clock.time, clock.origin, clock.origin_step) = (time, time, clock.step);
    }

    /// Another step length: the impulses that the solver starts from change with it, as those of lasting forces do.
    pub(super) fn change_step(&mut self, h: f64) {
        if self.time_step() != h {
            self.world.resource_mut::<Scheme>().time_step = h;
        }
        self.measure_impulses();
    }

    /// The impulses become those of the step length of now, also where it was written by hand.
    pub(super) fn measure_impulses(&mut self) {
        let h = self.time_step();
        let old = std::mem::replace(&mut self.world.resource_mut::<Clock>().measure, h);
        if old == h || old == 0.0 {
            return;
        }
        // of a state that has just been read it is not known yet which joints are those of bodies
        self.schedules.graph.run(&mut self.world);
        let ratio = h / old;
        let mut manifolds = self.world.query::<&mut Manifold>();
        for mut manifold in manifolds.iter_mut(&mut self.world) {
            for touch in &mut manifold.points {
                (touch.reaction, touch.moment) = (touch.reaction * ratio, touch.moment * ratio);
            }
        }
        let mut joints = self.world.query_filtered::<&mut Interaction, With<OfBodies>>();
        joints.iter_mut(&mut self.world).for_each(|mut joint| joint.lambda.iter_mut().for_each(|l| *l *= ratio));
    }

    /// The longest step (s) that speeds and sizes allow.
    fn allowed(&mut self, auto: &mut Auto, blows: &[(Entity, AppliedForce)]) -> f64 {
        let accuracy = auto.settings.accuracy;
        let (time, gravity) = (self.time(), self.scheme().gravity.length());
        auto.sizes.clear();
        auto.sizes.resize(self.world.resource::<Slots>().bound() as usize, Mover::default());
        let mut allowed = f64::INFINITY;
        let mut bodies =
            self.world.query::<(Entity, &Slot, &Velocity, &Motion, Option<&Inertia>, Option<&AppliedForce>, Option<&Collider>)>();
        for (entity, slot, velocity, motion, inertia, load, collider) in bodies.iter(&self.world) {
            let (mut linear, mut angular) = (velocity.linear, velocity.angular.length());
            if let Motion::Kinematic(drive) = motion {
                // one that panics refuses the step once its bodies are gathered
                let given = watched(|| drive(time)).unwrap_or((linear, velocity.angular));
                (linear, angular) = (given.0, given.1.length());
            }
            let mut acceleration = 0.0;
            let (radius, smallest) = self.world.resource::<Proximity>().size(slot.0, collider);
            if let Some(inertia) = inertia.filter(|_| motion.is_dynamic()) {
                let weakest = inertia.principal.min_element();
                let load = load.copied().unwrap_or_default();
                acceleration = gravity + load.force.length() / inertia.mass + radius * load.torque.length() / weakest;
                for (_, blow) in blows.iter().filter(|(body, _)| *body == entity) {
                    linear += blow.force / inertia.mass;
                    angular += blow.torque.length() / weakest;
                }
            }
            let mover = Mover { velocity: linear, spin: angular * radius, smallest };
            auto.sizes[slot.0 as usize] = mover;
            allowed = allowed.min(longest(0.5 * angular, 0.0, accuracy));
            if smallest.is_finite() {
                allowed = allowed.min(longest((linear.length() + mover.spin) / smallest, acceleration / smallest, accuracy));
            }
        }
        let cell = self.world.resource::<Scheme>().cell;
        for &(i, j, pair) in self.world.resource::<Proximity>().pairs() {
            let (Some(a), Some(b)) = (auto.sizes.get(i as usize), auto.sizes.get(j as usize)) else { continue };
            let drift = self.world.get::<ContactPair>(pair).map_or(DVec3::ZERO, |pair| cell.drift(pair.shift));
            let closing = (a.velocity - b.velocity - drift).length() + a.spin + b.spin;
            allowed = allowed.min(longest(closing / a.smallest.min(b.smallest), 0.0, accuracy));
        }
        allowed
    }
}
