//! What a newcomer needs, in one line: `use drystone::prelude::*;`
//!
//! Bodies, joints, systems and their laws, settings, what a step reports, and of bevy's ECS what systems and observers are written with
//! (`Event` is the [scheduled event](crate::simulation::Event) of drystone; bevy's own is `bevy_ecs::event::Event`).
//!
//! A program of your own is two files. `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "first"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! drystone = { path = "../drystone", default-features = false, features = ["simulation"] }
//! ```
//!
//! and `src/main.rs`. A crate with a sail stands in the wind until it rains; a motor opens a door up to its stop.
//!
//! ```
//! use drystone::prelude::*;
//!
//! /// A component of our own: bodies that have it feel the wind.
//! #[derive(Component)]
//! struct Sail;
//!
//! /// When the door has come to its stop (s).
//! #[derive(Resource, Default)]
//! struct Knocks(Vec<f64>);
//!
//! /// A system of our own: six newtons on every sail.
//! fn wind(sails: Query<&Slot, With<Sail>>, mut bodies: ResMut<Bodies>) {
//!     for slot in &sails {
//!         bodies.push(*slot, AppliedForce { force: DVec3::X * 6.0, torque: DVec3::ZERO });
//!     }
//! }
//!
//! /// An observer: a stop begins to press.
//! fn knock(_: On<Add<Engaged>>, clock: Res<Clock>, mut knocks: ResMut<Knocks>) {
//!     knocks.0.push(clock.time);
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut sim = Simulation::with_time_step(1e-3)?;
//!     let friction = |mu: f64| ContactLaws::uniform(CoulombImpact { mu, ..CoulombImpact::default() });
//!     sim.set_laws(friction(0.8))?;
//!     sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
//!     let cargo = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.2))?).mass(1.0).at(DVec3::Z * 0.2))?;
//!     sim.world_mut().entity_mut(cargo).insert(Sail);
//!     sim.add_systems(StepSet::Loads, wind)?;
//!
//!     let door = sim.spawn_body(Body::new(Shape::cuboid(DVec3::new(0.4, 0.02, 1.0))?).mass(20.0).at(DVec3::new(0.4, 3.0, 1.1)))?;
//!     let hinge = JointSpec::new(JointKind::Revolute).at(DVec3::Y * 3.0).axis(DVec3::Z).between(0.0, 1.5).motor(1.0, 30.0);
//!     let parts = sim.add_joint(door, None, &hinge)?; // the joint, its lower and upper stop, its motor
//!     sim.world_mut().init_resource::<Knocks>();
//!     sim.world_mut().entity_mut(parts[2]).observe(knock);
//!
//!     let x = |sim: &Simulation| sim.world().get::<BodyPose>(cargo).map_or(f64::NAN, |pose| pose.0.position.x);
//!     sim.run_until(2.0)?;
//!     println!("dry: the cargo is at {:.4} m", x(&sim));
//!     assert!(x(&sim).abs() < 1e-6);
//!
//!     sim.world_mut().insert_resource(friction(0.3)); // rain
//!     let report = sim.run_until(3.0)?;
//!     println!("wet: the cargo is at {:.4} m", x(&sim));
//!     assert!((x(&sim) - 0.5 * (6.0 - 0.3 * 9.81)).abs() < 5e-3);
//!
//!     let knocks = &sim.world().resource::<Knocks>().0;
//!     println!("the door met its stop at {knocks:.2?} s; energy balance {:.0e}", report.balance.error());
//!     assert!(knocks.len() == 1 && knocks[0] > 1.4 && knocks[0] < 1.8);
//!     Ok(())
//! }
//! ```

pub use crate::algebra::spatial::Pose;
pub use crate::cluster::{NewtonLoop, Signal, Trace};
pub use crate::geometry::systems::Collider;
pub use crate::geometry::{Shape, ShapeError};
pub use crate::model::dynamical_system::{FirstOrder, Lagrangian, NewtonEuler};
pub use crate::model::integrator::{Integrator, Projection};
pub use crate::model::interaction::{Engaged, Interaction};
pub use crate::model::joint::{JointKind, JointSpec};
pub use crate::model::law::{ContactLaws, CoulombImpact, Impact, Law};
pub use crate::model::newton_euler::{
    AppliedForce, BodyForces, BodyName, BodyPose, Frame, GravityScale, Inertia, Locks, Motion, Velocity, Wrench,
};
pub use crate::model::operator::Operator;
pub use crate::model::relation::{FirstOrderLinear, LagrangianLinear, LagrangianNonlinear, Relation};
pub use crate::model::scheme::{Clock, Friction, Gyroscopic, Scheme, Treatment};
pub use crate::simulation::{AutoStep, Body, BodyError, Event, Handle, SavedState, Simulation, SimulationError, StepReport, StepSet};
pub use crate::topology::bodies::{Bodies, Slot};
pub use bevy_ecs;
pub use bevy_ecs::prelude::*;
pub use glam;
pub use glam::{DMat3, DQuat, DVec3};
