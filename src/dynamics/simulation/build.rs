//! Building: bodies, joints, loads, events and settings of a simulation, and what may change between steps.

use super::body::Body;
use super::error::SimulationError;
use super::guests::{Guests, Handle};
use super::report::Balance;
use super::run::{Event, Scheduled, Simulation};
use super::step::{Load, Loads, Schedules};
use super::systems::multiple;
use crate::assembly::adopted::AdoptedSystems;
use crate::assembly::forces::UserForces;
use crate::assembly::problem::{Solver, StepProblem};
use crate::assembly::projection::Positions;
use crate::cluster::NewtonLoop;
use crate::cluster::systems::{Clusters, Traces};
use crate::geometry::systems::Proximity;
use crate::integrator::mixing::Mixing;
use crate::integrator::systems::Pass;
use crate::model::contact::{Foresight, TurnedArms};
use crate::model::crushing::CrushingJoints;
use crate::model::joint::{JointDrives, JointKind, JointParts, JointSpec, TieSpec, TransmissionSpec};
use crate::model::law::ContactLaws;
use crate::model::newton_euler::{AppliedForce, BodyPose, Frame, Velocity};
use crate::model::scheme::{Clock, Invalid, Scheme};
use crate::numerics::auto::Auto;
use crate::topology::bodies::{Bodies, Slot, Slots};
use crate::topology::islands::Islands;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// A body and where it stands.
type End = (Entity, crate::algebra::spatial::Pose);

impl Simulation {
    /// An empty world.
    pub fn new(scheme: Scheme) -> Result<Self, SimulationError> {
        scheme.validate()?;
        Ok(Self::unchecked(scheme))
    }

    pub(super) fn unchecked(scheme: Scheme) -> Self {
        let mut world = World::new();
        super::lifecycle::watch(&mut world);
        world.init_resource::<Slots>();
        world.init_resource::<Guests>();
        world.insert_resource(scheme);
        world.init_resource::<Clock>();
        world.init_resource::<Bodies>();
        world.init_resource::<Proximity>();
        world.init_resource::<Foresight>();
        world.init_resource::<TurnedArms>();
        world.init_resource::<ContactLaws>();
        world.init_resource::<CrushingJoints>();
        world.init_resource::<Pass>();
        world.init_resource::<Mixing>();
        world.init_resource::<StepProblem>();
        world.init_resource::<Positions>();
        world.init_resource::<Solver>();
        world.init_resource::<Loads>();
        world.init_resource::<super::phases::Phases>();
        world.init_resource::<Clusters>();
        world.init_resource::<Islands>();
        world.init_resource::<AdoptedSystems>();
        world.init_resource::<UserForces>();
        world.init_resource::<Traces>();
        world.init_resource::<NewtonLoop>();
        Self {
            world,
            schedules: Schedules::new(),
            events: Vec::new(),
            handles: 0,
            balance: Balance::default(),
            gravity: scheme.gravity,
            abort: None,
            waiting: Vec::new(),
            moved: false,
            periodic: Vec::new(),
            keeps: Vec::new(),
            auto_step: None,
            kept: super::parts::Kept::default(),
            gauge: super::signals::Gauge::default(),
            inlets: Vec::new(),
            places: Default::default(),
            stop: Default::default(),
        }
    }

    /// An empty world with this time step (s) and all else by default.
    pub fn with_time_step(time_step: f64) -> Result<Self, SimulationError> {
        Self::new(Scheme { time_step, ..Scheme::default() })
    }

    /// The world, for reading any component between steps.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, for changing any component between steps.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.world.resource::<Clock>().time
    }

    /// Number of finished steps.
    pub fn steps(&self) -> u64 {
        self.world.resource::<Clock>().step
    }

    /// Time step (s).
    pub fn time_step(&self) -> f64 {
        self.scheme().time_step
    }

    /// Settings of the scheme.
    pub fn scheme(&self) -> &Scheme {
        self.world.resource::<Scheme>()
    }

    /// Changes the settings of the scheme between steps. With another step the impulses that the solver starts from change, as those of lasting
    /// forces do.
    pub fn set_scheme(&mut self, scheme: Scheme) -> Result<(), SimulationError> {
        scheme.validate()?;
        let (old, new, now) = (self.time_step(), scheme.time_step, self.steps());
        if old != new {
            let mut steps = Vec::new();
            for p in &self.periodic {
                let next = if p.due(now) { 0 } else { p.after(now) - now };
                let wait = multiple(next as f64 * old, new, "the time to the next periodic action")?;
                steps.push((multiple(p.period, new, "the period of a periodic action")?.max(1), now + wait));
            }
            self.periodic.iter_mut().zip(steps).for_each(|(p, (every, start))| (p.every, p.start) = (every, start));
            self.change_step(new);
        }
        let mut clock = *self.world.resource::<Clock>();
        (clock.origin, clock.origin_step) = (clock.time, clock.step);
        self.world.insert_resource(clock);
        self.world.insert_resource(scheme);
        if self.steps() > 0 {
            self.take_up_gravity();
        }
        Ok(())
    }

    /// Settings of the solver.
    pub fn solver_mut(&mut self) -> &mut Auto {
        &mut self.world.resource_mut::<Solver>().into_inner().settings
    }

    /// Sets the law of every pair of materials, from the next step on also of bodies that touch already.
    pub fn set_laws(&mut self, laws: ContactLaws) -> Result<(), SimulationError> {
        laws.validate().map_err(SimulationError::Law)?;
        self.world.insert_resource(laws);
        Ok(())
    }

    /// Adds a body.
    pub fn spawn_body(&mut self, body: Body) -> Result<Entity, SimulationError> {
        let entity = self.reserve();
        let filled = self.fill(entity, &body);
        if filled.is_err() {
            self.world.despawn(entity);
        }
        filled?;
        Ok(entity)
    }

    /// An empty entity for a body that appears later, so that events can name it before.
    pub fn reserve(&mut self) -> Entity {
        self.world.spawn_empty().id()
    }

    /// Why an entity cannot become a body: it is gone, or a body or a system already.
    fn refuses_body(&self, entity: Entity) -> Option<SimulationError> {
        let found = match self.world.get_entity(entity) {
            Err(_) => "does not exist (any more)",
            Ok(e) if e.contains::<Slot>() || e.contains::<BodyPose>() => "is a body already",
            Ok(_) if self.is_system(entity) => "is a system already",
            Ok(_) => return None,
        };
        Some(SimulationError::Event(format!(
            "a body was to appear on entity {entity}, which {found}; an entity that `reserve` gave is needed, one for each body"
        )))
    }

    /// Makes `entity` the body, in the lowest free slot.
    pub(super) fn fill(&mut self, entity: Entity, body: &Body) -> Result<(), SimulationError> {
        if let Some(refused) = self.refuses_body(entity) {
            return Err(refused);
        }
        let (bundle, inertia, collider) = body.components()?;
        let slot = self.world.resource_mut::<Slots>().take();
        let mut entity = self.world.entity_mut(entity);
        entity.insert((slot, bundle));
        if let Some(inertia) = inertia {
            entity.insert(inertia);
        }
        if let Some(collider) = collider {
            entity.insert(collider);
        }
        Ok(())
    }

    /// Removes a body; its joints and forces end with it, as they do where the world despawns it. False if it is not there.
    pub fn despawn_body(&mut self, body: Entity) -> bool {
        self.world.get::<Slot>(body).is_some() && self.world.despawn(body)
    }

    /// Joins two bodies, or a body and the world, by a ball in a socket at a point given in world coordinates (m).
    pub fn spawn_joint(&mut self, body1: Entity, body2: Option<Entity>, point: DVec3) -> Result<Entity, SimulationError> {
        Ok(self.add_joint(body1, body2, &JointSpec::new(JointKind::Spherical).at(point))?[0])
    }

    /// Joins two bodies, or a body and the world, where they stand; gives the interactions: the joint, then its stops, friction and motor.
    /// The two bodies no longer touch each other. A rope is a stop alone.
    ///
    /// ```
    /// use drystone::model::{interaction::Interaction, joint::{JointKind, JointSpec}};
    /// use drystone::simulation::{Body, Simulation};
    /// use glam::DVec3;
    /// let mut sim = Simulation::default();
    /// let door = sim.spawn_body(Body::point(20.0, DVec3::splat(0.5)).at(DVec3::new(0.4, 0.0, 1.0)))?;
    /// let hinge = JointSpec::new(JointKind::Revolute).at(DVec3::Z).axis(DVec3::Z).between(0.0, 0.5).motor(1.0, 50.0);
    /// let parts = sim.add_joint(door, None, &hinge)?;
    /// sim.run_until(1.0)?;
    /// let stop = sim.world().get::<Interaction>(parts[2]).expect("the upper stop");
    /// assert!(stop.active && stop.y[0].abs() < 1e-6);
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn add_joint(&mut self, body1: Entity, body2: Option<Entity>, spec: &JointSpec) -> Result<Vec<Entity>, SimulationError> {
        let (one, two) = self.ends(body1, body2)?;
        let parts = spec.interactions(one, two).map_err(SimulationError::Joint)?;
        let parts: Vec<Entity> = parts.into_iter().map(|part| self.world.spawn(part).id()).collect();
        if let Some(&first) = parts.first() {
            let drives = spec.drives(parts.len()).map(|k| parts[k]).collect();
            self.world.entity_mut(first).insert((JointParts(parts.clone()), JointDrives(drives)));
        }
        Ok(parts)
    }

    /// The places of two bodies that a joint holds.
    fn ends(&self, body1: Entity, body2: Option<Entity>) -> Result<(End, Option<End>), SimulationError> {
        let place = |e: Entity| {
            let pose = self.world.get::<BodyPose>(e).filter(|_| self.world.get::<Slot>(e).is_some());
            pose.map(|p| (e, p.0)).ok_or(SimulationError::NoBody { what: "a joint", entity: e })
        };
        if body2 == Some(body1) {
            return Err(SimulationError::Joint(
                "a joint of a body with itself holds nothing; name two bodies, or one and the world".into(),
            ));
        }
        Ok((place(body1)?, body2.map(place).transpose()?))
    }

    /// Lets two bodies (a screw: also a body and the world) move together as gears, rack and pinion or screw do, from where they stand. They no
    /// longer touch each other; joints of their own hold their axes.
    ///
    /// ```
    /// use drystone::model::joint::{JointKind, JointSpec, TransmissionSpec};
    /// use drystone::model::newton_euler::Velocity;
    /// use drystone::simulation::{Body, Simulation};
    /// use glam::DVec3;
    /// let mut sim = Simulation::default();
    /// let wheel = |x: f64| Body::point(1.0, DVec3::splat(0.1)).at(DVec3::X * x);
    /// let (small, large) = (sim.spawn_body(wheel(0.0).spinning(DVec3::Z * 3.0))?, sim.spawn_body(wheel(0.4))?);
    /// for (body, x) in [(small, 0.0), (large, 0.4)] {
    ///     sim.add_joint(body, None, &JointSpec::new(JointKind::Revolute).at(DVec3::X * x).axis(DVec3::Z))?;
    /// }
    /// sim.add_transmission(small, Some(large), &TransmissionSpec::Gear { axes: [DVec3::Z; 2], ratio: -3.0 })?;
    /// sim.run_until(1.0)?;
    /// let speed = |body| sim.world().get::<Velocity>(body).map_or(0.0, |v| v.angular.z);
    /// assert!((speed(small) + 3.0 * speed(large)).abs() < 1e-6 && speed(small) > 2.0);
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn add_transmission(&mut self, body1: Entity, body2: Option<Entity>, spec: &TransmissionSpec) -> Result<Entity, SimulationError> {
        let (one, two) = self.ends(body1, body2)?;
        let interaction = spec.interaction(one, two).map_err(SimulationError::Joint)?;
        Ok(self.world.spawn(interaction).id())
    }

    /// Ties two bodies, or a body and the world, by a relation and a law that are data, where they stand.
    ///
    /// ```
    /// use drystone::model::joint::{TieLaw, TieRelation, TieSpec};
    /// use drystone::simulation::{Body, Simulation};
    /// use glam::DVec3;
    /// let mut sim = Simulation::default();
    /// let [light, heavy] = [1.0, 3.0].map(|mass| Body::point(mass, DVec3::ONE).at(DVec3::X * mass));
    /// let (light, heavy) = (sim.spawn_body(light)?, sim.spawn_body(heavy)?);
    /// // a rope over a pulley: what one goes up, the other goes down
    /// let rope = TieSpec::new(TieRelation::Linear { factors: [DVec3::Z; 2] }, TieLaw::Equality);
    /// sim.add_tie(light, Some(heavy), &rope)?;
    /// sim.run_until(1.0)?;
    /// let z = sim.world().get::<drystone::model::newton_euler::Velocity>(light).expect("alive").linear.z;
    /// assert!((z - 9.81 * (3.0 - 1.0) / 4.0).abs() < 1e-9);
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn add_tie(&mut self, body1: Entity, body2: Option<Entity>, spec: &TieSpec) -> Result<Entity, SimulationError> {
        let (one, two) = self.ends(body1, body2)?;
        let interaction = spec.interaction(one, two).map_err(SimulationError::Joint)?;
        Ok(self.world.spawn(interaction).id())
    }

    /// Adds a load: a function of time (s) and the rows of all bodies that adds to their `load`. A step in which it panics is refused; the state is that
    /// of its start.
    pub fn add_load(&mut self, load: impl Fn(f64, &mut [crate::topology::bodies::BodyRow]) + Send + Sync + 'static) -> Handle {
        self.keep_load(Load::All(Box::new(load)))
    }

    /// Adds a load that is known as a mean over a time: a function of the start and the end (s) of each step, or of a part of it that is
    /// solved for itself, and the rows of all bodies. What is integrated exactly acts so at any step. A step in which it panics is refused.
    ///
    /// ```
    /// use drystone::simulation::{Body, Simulation};
    /// use glam::DVec3;
    /// let mut sim = Simulation::default();
    /// sim.spawn_body(Body::point(2.0, DVec3::ONE))?;
    /// // F = 3 t² along x: its mean over a step, and so v = t³/m at its end
    /// let cube = |t: f64| t * t * t;
    /// sim.add_mean_load(move |[from, to], rows| rows[0].load.force.x += (cube(to) - cube(from)) / (to - from));
    /// sim.run_until(1.0)?;
    /// let v = sim.world_mut().query::<&drystone::model::newton_euler::Velocity>().single(sim.world()).map(|v| v.linear.x);
    /// assert!(v.is_ok_and(|v| (v - 0.5).abs() < 1e-12));
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn add_mean_load(&mut self, load: impl Fn([f64; 2], &mut [crate::topology::bodies::BodyRow]) + Send + Sync + 'static) -> Handle {
        self.keep_load(Load::Mean(Box::new(load)))
    }

    fn keep_load(&mut self, load: Load) -> Handle {
        let handle = self.new_handle();
        self.world.resource_mut::<Loads>().all.push((handle, load));
        handle
    }

    /// Adds a force and a moment on one body, in world axes, as a function of time (s), pose and velocity at the start of the step: it is
    /// constant over the step, so one that is stiff against it belongs to
    /// [`BodyForces`](crate::model::newton_euler::BodyForces), which the passes work out anew. It ends with the body, or when its handle is [removed](Self::remove). A body that is [reserved](Self::reserve) may have forces already. A step in which it panics
    /// is refused; the state is that of its start.
    pub fn add_force(
        &mut self,
        body: Entity,
        force: impl Fn(f64, &crate::algebra::spatial::Pose, &Velocity) -> AppliedForce + Send + Sync + 'static,
    ) -> Result<Handle, SimulationError> {
        self.add_force_in(Frame::Inertial, body, force)
    }

    /// As [`add_force`](Self::add_force), in world axes or in those of the body.
    ///
    /// ```
    /// use drystone::model::{dynamical_system::Frame, newton_euler::{AppliedForce, Velocity}};
    /// use drystone::simulation::{Body, Simulation};
    /// use glam::{DQuat, DVec3};
    /// let mut sim = Simulation::default();
    /// let rocket = Body::point(2.0, DVec3::ONE).turned(DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2));
    /// let rocket = sim.spawn_body(rocket)?;
    /// let burn = sim.add_force_in(Frame::Body, rocket, |_, _, _| AppliedForce { force: DVec3::Z * 6.0, torque: DVec3::ZERO })?;
    /// sim.run_until(1.0)?;
    /// let v = |sim: &Simulation| sim.world().get::<Velocity>(rocket).expect("alive").linear;
    /// assert!((v(&sim) - DVec3::new(3.0, 0.0, -9.81)).length() < 1e-12);
    /// sim.remove(burn);
    /// sim.run_until(2.0)?;
    /// assert!((v(&sim) - DVec3::new(3.0, 0.0, -19.62)).length() < 1e-12);
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn add_force_in(
        &mut self,
        frame: Frame,
        body: Entity,
        force: impl Fn(f64, &crate::algebra::spatial::Pose, &Velocity) -> AppliedForce + Send + Sync + 'static,
    ) -> Result<Handle, SimulationError> {
        self.expect_body("a force", body)?;
        Ok(self.keep_load(Load::One(body, frame, Box::new(force))))
    }

    /// A living body, or an empty entity that is reserved for one.
    fn expect_body(&self, what: &'static str, entity: Entity) -> Result<(), SimulationError> {
        let may_be = self.world.get_entity(entity).is_ok_and(|e| e.contains::<Slot>() || e.archetype().component_count() == 0);
        if may_be { Ok(()) } else { Err(SimulationError::NoBody { what, entity }) }
    }

    /// Schedules an event; it takes effect at the start of the first step that does not begin before `time` (s), to rounding. What the event
    /// names is checked now.
    pub fn at(&mut self, time: f64, event: Event) -> Result<Handle, SimulationError> {
        if time.is_nan() {
            return Err(Invalid::new("the time of an event", format!("{time} s"), "a number of seconds").into());
        }
        match &event {
            Event::Gravity(g) if !g.is_finite() => return Err(Invalid::new("gravity", g, "three finite numbers").into()),
            Event::Gravity(_) => {}
            Event::Blow(_, blow) if !(blow.force.is_finite() && blow.torque.is_finite()) => {
                return Err(Invalid::new("a blow", format!("{} and {}", blow.force, blow.torque), "six finite numbers").into());
            }
            Event::Birth(body) => body.validate()?,
            Event::Appear(entity, body) => {
                body.validate()?;
                if let Some(refused) = self.refuses_body(*entity) {
                    return Err(refused);
                }
            }
            Event::Blow(body, _) if self.is_rigid_system(*body) => {}
            Event::Blow(system, _) if self.is_system(*system) => return Err(self.no_blow(*system, time)),
            Event::Blow(body, _) => self.expect_body("a blow", *body)?,
            Event::Death(entity) if self.world.get_entity(*entity).is_err() => {
                return Err(SimulationError::NoBody { what: "a death", entity: *entity });
            }
            Event::Death(_) => {}
        }
        let handle = self.new_handle();
        let place = self.events.partition_point(|scheduled| scheduled.time <= time);
        self.events.insert(place, Scheduled { time, event, handle });
        Ok(handle)
    }
}
