//! Stepping: events, the inner loop, the certificate of each step.

use super::body::Body;
use super::energy::{change_loss, edge_loss, rope_loss, spring_loss, step_energy, support_impulse};
use super::error::SimulationError;
use super::guests::{Guests, Handle, run_guests};
use super::phases::{Phase, Phases};
use super::report::{Balance, StepReport};
use super::step::{Loads, Schedules, StepSet};
use super::systems::Periodic;
use crate::algebra::pieces::{Part, awake, first, is_outside_pool, nearly_alone, share, sum, within_pool};
use crate::assembly::problem::{Solver, StepProblem};
use crate::cluster::systems::Clusters;
use crate::geometry::systems::Proximity;
use crate::integrator::mixing::Mixing;
use crate::integrator::systems::{Pass, unsettled};
use crate::model::contact::{ContactPair, Foresight, Manifold, TurnedArms};
use crate::model::law::ContactLaws;
use crate::model::newton_euler::{AppliedForce, BodyName, BodyPose, GravityScale, Inertia, Motion, Velocity};
use crate::model::scheme::{Clock, Friction, Invalid, Scheme};
use crate::numerics::mixed::Twist;
use crate::numerics::{Report, Status};
use crate::topology::bodies::{Bodies, BodyRow, Slot, Slots, are_sound, is_sound};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Something that happens at a given time.
///
/// ```
/// use drystone::simulation::Event;
/// let tilt = Event::Gravity(glam::DVec3::new(1.0, 0.0, -9.76));
/// assert!(format!("{tilt:?}").contains("Gravity"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Gravity changes (m/s²).
    Gravity(DVec3),
    /// A blow on a body, with a shape or without: impulse (N s) and angular impulse (N m s), world axes. On one that is dead by then it does
    /// nothing; systems of other kinds have no place for one, which is an error.
    Blow(Entity, AppliedForce),
    /// A body appears.
    Birth(Box<Body>),
    /// A body appears on an entity that was [reserved](Simulation::reserve) for it. On one that is dead by then nothing appears.
    Appear(Entity, Box<Body>),
    /// A body, a system or an interaction disappears; with a body or system go the interactions that link it.
    Death(Entity),
}

/// An event to come.
#[derive(Debug)]
pub(super) struct Scheduled {
    pub(super) time: f64,
    pub(super) event: Event,
    pub(super) handle: Handle,
}

/// A world of bodies, systems and interactions, and the chain that steps it.
///
/// ```
/// use drystone::{geometry::Shape, model::newton_euler::BodyPose, simulation::{Body, Simulation}};
/// use glam::DVec3;
/// let mut sim = Simulation::default();
/// sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
/// let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 0.15))?;
/// for _ in 0..500 {
///     assert!(sim.step()?.converged);
/// }
/// let height = sim.world().get::<BodyPose>(ball).expect("alive").0.position.z;
/// assert!((height - 0.1).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    pub(super) world: World,
    pub(super) schedules: Schedules,
    /// Sorted by time; stable for equal times.
    pub(super) events: Vec<Scheduled>,
    /// How many handles have been given.
    pub(super) handles: u64,
    pub(super) balance: Balance,
    /// In which the energy of the balance is (m/s²).
    pub(super) gravity: DVec3,
    pub(super) abort: Option<Abort>,
    /// blows of a step that was refused, which the next try has again
    pub(super) waiting: Vec<(Entity, AppliedForce)>,
    /// a part of the step at hand has been done, with its blows
    pub(super) moved: bool,
    pub(super) periodic: Vec<Periodic>,
    pub(super) keeps: Vec<super::kept::Kept>,
    pub(super) auto_step: Option<super::auto_step::Auto>,
    pub(super) kept: super::parts::Kept,
    pub(super) gauge: super::signals::Gauge,
    pub(super) inlets: Vec<super::flow::Queue>,
    pub(super) places: super::surfaces::Places,
    pub(super) stop: super::stop::StepStop,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Simulation(t = {} s, {} bodies)", self.time(), self.world.resource::<Slots>().taken())
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Self::unchecked(Scheme::default())
    }
}

/// Asked after each step; true ends the run.
pub(super) type Abort = Box<dyn FnMut(&StepReport) -> bool + Send + Sync>;

/// The inner loop has settled when no velocity changes by more than this, relative to the largest.
const SETTLED: f64 = 1e-13;
/// Bodies and contacts (of the step before) from which on two threads gain more on a step than it costs to hand it over: walls of 260 blocks, pours of
/// 1000 balls.
const LONG: usize = 3000;
/// Of these, one for each thread beside the first that stays awake during a step.
const EACH: usize = 2000;
/// Looks at the end of a step for overlaps that its rows miss.
const LOOKS: usize = 8;
/// Nor can it settle below what the solver leaves: so many times the tolerance is the change of velocities it may make from a pass to
/// the next.
const FOLLOWED: f64 = 10.0;

impl Simulation {
    /// Asked after every step of [`run_until`](Self::run_until) and [`advance`](Self::advance); true ends the run.
    pub fn set_abort(&mut self, abort: impl FnMut(&StepReport) -> bool + Send + Sync + 'static) {
        self.abort = Some(Box::new(abort));
    }

    /// Steps until `end` (s) or until the abort hook says so; returns the last report, whose `converged` and `systems` are those of all steps.
    pub fn run_until(&mut self, end: f64) -> Result<StepReport, SimulationError> {
        if end.is_nan() {
            return Err(Invalid::new("the end of a run", format!("{end} s"), "a number of seconds").into());
        }
        if self.is_bare() && self.abort.is_none() && self.auto_step.is_none() {
            let left = (end - self.time()) / self.time_step() - 1e-9;
            return self.advance(if left > 0.0 { left.ceil() as u64 } else { 0 });
        }
        let mut last = self.no_step();
        while self.time() < end - 1e-9 * self.time_step() {
            let next = self.step()?;
            if self.follows(&mut last, next) {
                break;
            }
        }
        Ok(last)
    }

    /// The report of no step at all, in which nothing has failed.
    pub(super) fn no_step(&self) -> StepReport {
        StepReport { time: self.time(), step: self.steps(), balance: self.balance, converged: true, ..StepReport::default() }
    }

    /// Puts a report in the place of that of the steps before, with what it has to say of these; whether the abort hook ends the run.
    pub(super) fn follows(&mut self, last: &mut StepReport, next: StepReport) -> bool {
        let before = std::mem::replace(last, next);
        let stop = self.aborts(last);
        last.systems.merge(&before.systems);
        last.converged &= before.converged;
        stop
    }

    /// Asks the abort hook.
    fn aborts(&mut self, report: &StepReport) -> bool {
        self.abort.as_mut().is_some_and(|abort| abort(report))
    }

    /// One time step.
    pub fn step(&mut self) -> Result<StepReport, SimulationError> {
        let size = self.world.resource::<Slots>().taken() + self.world.resource::<StepProblem>().problem.contacts.len();
        if size < LONG {
            return nearly_alone(|| self.step_here());
        }
        let others = size / EACH;
        // as a whole: to hand over each of its parts takes as long as a short part
        if is_outside_pool() && self.is_bare_of_guests() {
            return within_pool(|| awake(others, || self.step_here()));
        }
        awake(others, || self.step_here())
    }

    /// Whether no system or action of the host program looks for what belongs to its thread.
    fn is_bare_of_guests(&self) -> bool {
        self.periodic.is_empty() && self.world.resource::<Guests>().is_empty()
    }

    fn step_here(&mut self) -> Result<StepReport, SimulationError> {
        if self.alone() && self.auto_step.is_none() {
            return self.batch(self.steps() + 1);
        }
        self.visit(StepSet::Before)?;
        if self.steps() == 0 {
            // energy at the start is that in the gravity of the start
            self.gravity = self.scheme().gravity;
        }
        self.moved = false;
        let mut blows = std::mem::take(&mut self.waiting);
        let done = self.fire_events(&mut blows).and_then(|()| self.act_and_move(&blows));
        if done.is_err() && !self.moved {
            // they have moved nothing: the next try has them again
            self.waiting = blows;
        }
        let mut report = done?;
        self.count_crossings();
        let h = self.time_step();
        let clock = self.world.resource_mut::<Clock>().into_inner();
        clock.tick(h);
        report.step = clock.step;
        self.displace_images();
        self.land();
        report.time = self.time();
        self.gauge.support = report.support_force;
        self.continue_tables()?;
        run_guests(&mut self.world, StepSet::After);
        self.world.clear_trackers();
        self.hear_guests(0)?;
        Ok(report)
    }

    /// What a step does after its events, until the bodies are where they come to.
    fn act_and_move(&mut self, blows: &[(Entity, AppliedForce)]) -> Result<StepReport, SimulationError> {
        self.drain();
        self.feed()?;
        self.act()?;
        self.arm();
        self.check_settings()?;
        self.take_up_gravity();
        self.measure_impulses();
        self.schedules.graph.run(&mut self.world);
        self.start_tables()?;
        self.choose_step(blows);
        self.note_places();
        self.move_bodies(blows)
    }

    /// Checks a scheme that was written by hand since the last step.
    pub(super) fn check_scheme(&self) -> Result<(), SimulationError> {
        if !self.world.is_resource_changed::<Scheme>() {
            return Ok(());
        }
        self.scheme().validate()?;
        let h = self.time_step();
        match self.periodic.iter().find(|action| (action.every as f64 * h - action.period).abs() > 1e-6 * h) {
            Some(action) => {
                let found = format!("{h} s, written by hand, while an action has a period of {} s", action.period);
                Err(Invalid::new("time_step", found, "a change by set_scheme, which keeps periods").into())
            }
            None => Ok(()),
        }
    }

    /// Checks resources that were written by hand since the last step.
    fn check_settings(&self) -> Result<(), SimulationError> {
        if self.world.is_resource_changed::<ContactLaws>() {
            self.world.resource::<ContactLaws>().validate().map_err(SimulationError::Law)?;
        }
        self.check_scheme()?;
        let tolerance = self.world.resource::<Solver>().settings.tolerance;
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(Invalid::new("the tolerance of the solver", tolerance, "a finite number above 0, such as 1e-8").into());
        }
        if self.scheme().friction == Friction::Lagged && self.world.resource::<ContactLaws>().drill() {
            let message =
                "a patch resists drilling, which lagged friction does not know; let patch be 0 or the friction of the scheme be exact";
            return Err(SimulationError::Law(message.into()));
        }
        Ok(())
    }

    /// Moves the images of a sheared cell to where they are by now.
    pub(super) fn displace_images(&mut self) {
        let time = self.time();
        if self.scheme().cell.shear.is_some() {
            let scheme = self.world.resource_mut::<Scheme>().into_inner();
            scheme.cell = scheme.cell.at(time);
        }
    }

    /// Looks for the end of a step, or of a part of one: whether the passes have settled.
    pub(super) fn try_step(&mut self, blows: &[(Entity, AppliedForce)], nonlinear: bool) -> Result<bool, SimulationError> {
        self.world.resource_mut::<Phases>().start();
        self.displace_images();
        self.schedules.begin.run(&mut self.world);
        self.hear_guests(1)?;
        self.hear_fault()?;
        self.hear_stop()?;
        self.schedules.loads.run(&mut self.world);
        self.hear_guests(1)?;
        self.hear_fault()?;
        if let Some(reason) = self.world.resource_mut::<Loads>().fault.take() {
            return Err(SimulationError::Load { step: self.steps() + 1, time: self.time(), reason });
        }
        let struck: Vec<(Slot, AppliedForce)> =
            blows.iter().filter_map(|(body, blow)| Some((*self.world.get::<Slot>(*body)?, *blow))).collect();
        let bodies = self.world.resource_mut::<Bodies>().into_inner();
        bodies.sound &= struck.is_empty();
        for (slot, blow) in struck {
            if let Some(row) = bodies.rows.get_mut(slot.0 as usize).filter(|row| row.alive) {
                row.blow.force += blow.force;
                row.blow.torque += blow.torque;
            }
        }
        self.check_finite(false)?;
        self.world.resource_mut::<Phases>().mark(Phase::Checks);
        let max_passes = self.scheme().max_passes;
        let accuracy = FOLLOWED * self.world.resource::<Solver>().settings.tolerance;
        self.world.insert_resource(Pass { nonlinear, accuracy, ..Pass::default() });
        self.world.resource_mut::<Mixing>().start();
        self.world.resource_mut::<StepProblem>().report = Report::default();
        self.world.resource_mut::<Foresight>().clear();
        self.world.resource_mut::<TurnedArms>().looks = 0;
        let (mut settled, mut looks, mut limit) = (true, 0, max_passes);
        loop {
            self.schedules.inner.run(&mut self.world);
            self.hear_guests(1)?;
            if let Some(reason) = self.world.resource_mut::<StepProblem>().error.take() {
                // passes that run away end in a problem that is none
                let refused = unsettled(self.world.resource::<Bodies>(), self.scheme()).filter(|_| nonlinear);
                if let Some(body) = refused {
                    return Err(self.too_fast(body));
                }
                self.check_finite(true)?;
                let fastest = self.fastest().map_or(String::new(), |slot| format!(" (fastest: {})", self.name_of(slot)));
                return Err(SimulationError::Problem { step: self.steps() + 1, time: self.time(), reason: reason + &fastest });
            }
            self.hear_stop()?;
            if let Some(body) = self.world.resource::<Pass>().refused {
                return Err(self.too_fast(body));
            }
            let status = self.world.resource::<StepProblem>().report.status;
            let jammed = status == Status::Inconsistent;
            let pass = self.world.resource_mut::<Pass>().into_inner();
            let ends = pass.change <= SETTLED || pass.number + 2 >= limit;
            pass.judge(ends, [jammed, !jammed && status != Status::Converged]);
            pass.count();
            // the first pass does not know the end of the step
            if nonlinear && (pass.change > SETTLED || pass.number < 2 || pass.afresh) {
                if pass.number < limit {
                    continue;
                }
                settled = pass.change <= pass.left.max(1e3 * SETTLED);
                let refused = unsettled(self.world.resource::<Bodies>(), self.scheme()).filter(|_| !settled);
                if let Some(body) = refused {
                    return Err(self.too_fast(body));
                }
            }
            if self.drops_foreseen() {
                (looks, limit) = (LOOKS, self.world.resource::<Pass>().number + max_passes);
                self.start_round();
                continue;
            }
            let misses = looks < LOOKS && self.misses();
            self.hear_fault()?;
            self.hear_stop()?;
            if !misses {
                break;
            }
            (settled, looks, limit) = (true, looks + 1, self.world.resource::<Pass>().number + max_passes);
            self.start_round();
        }
        self.check_finite(true)?;
        self.world.resource_mut::<Phases>().mark(Phase::Checks);
        Ok(settled)
    }

    /// Starts passes anew with other rows.
    fn start_round(&mut self) {
        self.world.resource_mut::<Pass>().start_round();
        self.world.resource_mut::<Mixing>().start();
    }

    /// The body that detection has refused.
    fn hear_fault(&mut self) -> Result<(), SimulationError> {
        let Some((entity, reason)) = self.world.resource_mut::<Bodies>().fault.take() else { return Ok(()) };
        let (step, time) = (self.steps() + 1, self.time());
        Err(SimulationError::Component { step, time, body: self.called(entity), reason })
    }

    /// Takes over the end that was found. With the last part of a step, which began at `last` (s) and is so long (s), go all other systems.
    pub(super) fn finish(&mut self, mut settled: bool, last: Option<(f64, f64)>) -> Result<StepReport, SimulationError> {
        settled &= self.stops();
        if let Some((start, whole)) = last {
            let (part, time) = (self.time_step(), self.time());
            self.set_clock(start, whole);
            let advanced = self.advance_systems(1);
            self.set_clock(time, part);
            advanced?;
        }
        self.schedules.end.run(&mut self.world);
        self.moved = true;
        self.flush_guests();
        if let Some(reason) = self.world.resource_mut::<StepProblem>().error.take() {
            return Err(SimulationError::Problem { step: self.steps() + 1, time: self.time(), reason });
        }
        let h = self.time_step();
        let clock = self.world.resource_mut::<Clock>().into_inner();
        let last = std::mem::replace(&mut clock.last, h);
        clock.measure = h;
        let report = self.certify(settled, last);
        let mut phases = self.world.resource_mut::<Phases>();
        phases.mark(Phase::Certificate);
        phases.stop();
        Ok(report)
    }

    fn set_clock(&mut self, time: f64, h: f64) {
        self.world.resource_mut::<Clock>().time = time;
        self.world.resource_mut::<Scheme>().time_step = h;
    }

    /// Whether the step was without a solution for the sake of foreseen points; these are gone then.
    fn drops_foreseen(&mut self) -> bool {
        let infeasible = self.world.resource::<StepProblem>().report.status == Status::Inconsistent;
        let rows = &mut self.world.resource_mut::<Foresight>().rows;
        let drops = infeasible && !rows.is_empty();
        if drops {
            rows.clear();
        }
        drops
    }

    /// Whether bodies overlap at the end of the step in a way that its rows do not hold; these then have new ones.
    fn misses(&mut self) -> bool {
        if self.world.resource::<StepProblem>().report.status == Status::Inconsistent {
            return false;
        }
        self.schedules.ahead.run(&mut self.world);
        self.world.resource_mut::<Phases>().mark(Phase::Ahead);
        self.world.resource::<Foresight>().missed
    }

    /// Stops fast bodies that no row holds; false where there is nothing to stop.
    fn stops(&mut self) -> bool {
        let infeasible = self.world.resource::<StepProblem>().report.status == Status::Inconsistent;
        if !(infeasible || self.world.resource::<Foresight>().crossed) {
            return true;
        }
        self.schedules.stop.run(&mut self.world);
        !self.world.resource::<Foresight>().missed
    }

    /// Runs the events that are due and adds the blows of this step; where one is an error, those after it wait.
    pub(super) fn fire_events(&mut self, blows: &mut Vec<(Entity, AppliedForce)>) -> Result<(), SimulationError> {
        let due = self.time() + 1e-6 * self.time_step();
        let count = self.events.partition_point(|scheduled| scheduled.time <= due);
        let mut due = self.events.drain(..count).collect::<Vec<_>>().into_iter();
        while let Some(scheduled) = due.next() {
            if let Err(error) = self.fire(scheduled, blows) {
                self.events.splice(0..0, due);
                return Err(error);
            }
        }
        Ok(())
    }

    fn fire(&mut self, scheduled: Scheduled, blows: &mut Vec<(Entity, AppliedForce)>) -> Result<(), SimulationError> {
        match scheduled.event {
            Event::Gravity(g) => {
                self.world.resource_mut::<Scheme>().gravity = g;
                self.take_up_gravity();
            }
            Event::Blow(system, blow) if self.is_system(system) => self.strike(system, blow, scheduled.time)?,
            Event::Blow(body, blow) => {
                if self.world.get::<Slot>(body).is_some() {
                    blows.push((body, blow));
                } else if self.world.get_entity(body).is_ok() {
                    return Err(SimulationError::NoBody { what: "a blow", entity: body });
                }
            }
            Event::Birth(body) => drop(self.spawn_body(*body)?),
            Event::Appear(entity, body) if self.world.get_entity(entity).is_ok() => self.fill(entity, &body)?,
            Event::Appear(..) => {}
            Event::Death(system) if self.is_system(system) => self.end_system(system),
            Event::Death(body) => drop(self.world.try_despawn(body)),
        }
        Ok(())
    }

    /// Takes up another gravity (m/s²) of the scheme. What bodies gain by it where they stand is work of loads, as energy is that in the gravity of now.
    pub(super) fn take_up_gravity(&mut self) {
        let gravity = self.scheme().gravity;
        let change = gravity - std::mem::replace(&mut self.gravity, gravity);
        if change == DVec3::ZERO {
            return;
        }
        let mut bodies = self.world.query::<(&Slot, &BodyPose, &Inertia, &Motion, Option<&GravityScale>)>();
        let moving = bodies.iter(&self.world).filter(|(.., motion, _)| motion.is_dynamic());
        let gain = |scale: Option<&GravityScale>| scale.map_or(1.0, |scale| scale.0) * change;
        let mut gains: Vec<(Slot, f64)> =
            moving.map(|(slot, pose, inertia, _, scale)| (*slot, -inertia.mass * gain(scale).dot(pose.0.position))).collect();
        // a sum in the order of the slots is the same in a run that is resumed
        gains.sort_by_key(|gain| gain.0);
        let sum = gains.iter().map(|gain| gain.1).sum::<f64>();
        self.balance.work.loads += sum;
        self.balance.gravity_switched += sum;
    }

    /// Looks for numbers that are not; loads before the solve, states after it.
    fn check_finite(&self, after: bool) -> Result<(), SimulationError> {
        let bodies = self.world.resource::<Bodies>();
        // most of it has been seen on the way, where nobody writes to rows by hand
        let seen = if after { self.world.resource::<Pass>().sound } else { bodies.sound };
        if seen && self.world.resource::<Guests>().is_empty() {
            return Ok(());
        }
        let what = |row: &BodyRow| {
            let loads = [row.load.force, row.load.torque, row.blow.force, row.blow.torque];
            if !row.alive {
                None
            } else if !(after || loads.into_iter().all(is_sound)) {
                Some("load")
            } else {
                let states = if after { are_sound(&row.new_velocity, &row.new_pose) } else { are_sound(&row.velocity, &row.pose) };
                ["velocity", "position"].into_iter().zip(states).find(|(_, sound)| !sound).map(|(what, _)| what)
            }
        };
        if let Some(slot) = first(Part::Certificate, &bodies.rows, |row| what(row).is_some())
            && let Some(what) = what(&bodies.rows[slot])
        {
            return Err(SimulationError::NotFinite { step: self.steps() + 1, time: self.time(), what, body: self.name_of(slot) });
        }
        Ok(())
    }

    /// Slot of the body that the last pass has thrown the farthest.
    fn fastest(&self) -> Option<usize> {
        let rows = &self.world.resource::<Bodies>().rows;
        let speed = |row: &crate::topology::bodies::Body| {
            let Velocity { linear, angular } = row.new_velocity;
            linear.abs().max_element().max(angular.abs().max_element())
        };
        let moving = rows.iter().enumerate().filter(|(_, row)| row.alive && row.inertia.is_some());
        moving.max_by(|a, b| speed(a.1).total_cmp(&speed(b.1))).map(|(slot, _)| slot)
    }

    /// The step is refused for the body of this slot; `needed` (s) would do.
    fn too_fast(&self, (slot, needed): (u32, f64)) -> SimulationError {
        let (step, time, found) = (self.steps() + 1, self.time(), self.time_step());
        SimulationError::TooFast { step, time, body: self.name_of(slot as usize), found, needed }
    }

    /// What messages call the body of a slot.
    fn name_of(&self, slot: usize) -> String {
        let entity = self.world.resource::<Bodies>().rows.get(slot).and_then(|row| row.entity);
        entity.map_or_else(|| format!("body {slot}"), |e| self.called(e))
    }

    /// What messages call a body.
    pub(super) fn called(&self, entity: Entity) -> String {
        let own = self.world.get::<BodyName>(entity).map(|n| n.0.as_str()).filter(|n| !n.is_empty());
        let name = own.or_else(|| self.world.get::<Name>(entity).map(|n| n.as_str()));
        let slot = || self.world.get::<Slot>(entity).map_or_else(|| entity.to_string(), |slot| slot.0.to_string());
        name.map_or_else(|| format!("body {}", slot()), |n| format!("body {n:?}"))
    }

    /// Energy (J) that the impacts of the last step take, each for itself, and what of it the next one owes by their restitution.
    ///
    /// ```text
    /// T = w²/2W        w: speed of approach, W = H M⁻¹ Hᵀ of the normal        due: e_n² T
    /// ```
    pub fn impacts(&self) -> [f64; 2] {
        let (rows, rigid) = (&self.world.resource::<Bodies>().rows, &self.world.resource::<StepProblem>().problem.rigid);
        let give = |slot: u32, place: DVec3, n: DVec3| {
            let Some(row) = rows.get(slot as usize) else { return 0.0 };
            let (mut twist, arm) = (Twist::default(), place - row.pose.position);
            let Some(mass) = rigid.get(row.row as usize) else { return 0.0 };
            mass.kick(&mut twist, arm, n);
            n.dot(twist.linear + twist.angular.cross(arm))
        };
        let mut sum = [0.0; 2];
        for &(.., entity) in self.world.resource::<Proximity>().pairs() {
            let Some(manifold) = self.world.get::<Manifold>(entity) else { continue };
            for touch in manifold.points.iter().filter(|touch| touch.approach != DVec3::ZERO) {
                let Some(pair) = self.world.get::<ContactPair>(entity) else { continue };
                let (places, speed) = (pair.places(touch), -touch.approach.dot(touch.normal));
                let e = pair.law.restitution_at(speed);
                let w: f64 = (0..2).map(|k| give(pair.slots[k], places[k], touch.normal)).sum();
                let taken = if w > 0.0 { 0.5 * speed * speed / w } else { 0.0 };
                sum = [sum[0] + taken, sum[1] + e * e * taken];
            }
        }
        sum
    }

    /// Writes the certificate of the step; the one before was `last` (s) long.
    fn certify(&mut self, settled: bool, last: f64) -> StepReport {
        let bodies = self.world.resource::<Bodies>();
        let (scheme, step) = (self.world.resource::<Scheme>(), self.world.resource::<StepProblem>());
        let balance = &mut self.balance;
        balance.add(&step_energy(bodies, scheme, step));
        balance.impact_gain += step.gained;
        let lively = step.lively && step.two_steps;
        balance.edge_loss += edge_loss(step, self.world.resource::<Foresight>());
        balance.ropes += rope_loss(step);
        balance.changes += change_loss(bodies, step, scheme, last);
        let [lost, damped] = spring_loss(step, scheme);
        balance.springs = [balance.springs[0] + lost, balance.springs[1] + damped];
        let mut report = StepReport {
            contacts: step.problem.contacts.len(),
            converged: step.report.converged() && settled && self.world.resource::<Clusters>().report.unconverged == 0,
            systems: self.world.resource::<Clusters>().report,
            infeasible: step.report.status == Status::Inconsistent || !step.held.is_empty(),
            report: step.report,
            lagged: step.lagged,
            rebounds_dropped: step.dropped,
            overlaps_kept: step.kept,
            passes: self.world.resource::<Pass>().number,
            balance: self.balance,
            support_force: support_impulse(step, bodies, scheme.time_step) / scheme.time_step,
            step_size: scheme.time_step,
            ..StepReport::default()
        };
        let h = scheme.time_step;
        report.violation = step.report.violation;
        report.violation_size = h * step.report.parts;
        let mut pairs = self.world.query::<(&ContactPair, &Manifold)>();
        let deeper = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        for (pairs, manifolds) in pairs.query(&self.world).contiguous_iter().into_iter().flatten() {
            let deepest = |from: usize, to: usize| {
                let overlap = |m: &Manifold| m.points.iter().fold(0.0, |worst: f64, touch| worst.max(-touch.gap));
                let overlaps = pairs[from..to].iter().zip(&manifolds[from..to]).map(|(pair, m)| (overlap(m), pair.size));
                overlaps.fold([0.0; 2], |worst, (overlap, size)| deeper(worst, [overlap, overlap / size]))
            };
            let shared = share(Part::Certificate, pairs.len(), 2048);
            let found = sum(pairs.len(), 1024, shared, deepest, deeper).unwrap_or_default();
            [report.penetration, report.penetration_size] = deeper([report.penetration, report.penetration_size], found);
        }
        report.stride = self.world.resource::<Proximity>().stride(h);
        if lively {
            let [taken, due] = self.impacts();
            let impacts = &mut self.balance.impacts;
            *impacts = [impacts[0] + taken, impacts[1] + due];
            report.balance.impacts = *impacts;
        }
        report
    }

    /// Energy balance of the run so far.
    pub fn balance(&self) -> &Balance {
        &self.balance
    }

    /// Detects contacts at the present poses, without stepping: gaps for a last certificate or a picture.
    pub fn detect(&mut self) {
        self.disarm();
        self.schedules.begin.run(&mut self.world);
        self.flush_guests();
    }
}
