//! The simulation: a world of components and the chain of systems that moves it one step.
//!
//! ```text
//! state ─ events ─ detection ─ loads ─ [ v_free ─ rows ─ u = H v⁺ + b, −(u + g(u)) ∈ N_K(r) ─ v⁺ = v_free + Ŵ⁻¹Hᵀr ─ q⁺ ] ─ state
//! ```
//!
//! A [`Simulation`] is built ([`Simulation::spawn_body`], [`Simulation::add_joint`], [`Simulation::spawn_system`],
//! [`Simulation::spawn_interaction`]), told what will happen ([`Simulation::at`], [`Simulation::every`], [`Simulation::add_force`]), and
//! run ([`Simulation::step`], [`Simulation::advance`], [`Simulation::run_until`]). Every step ends with a [`StepReport`]; a run can be
//! saved and gone on with, bit for bit ([`SavedState`]). What was added has a [`Handle`] that removes it.
//!
//! **It is a world of bevy's ECS**, and its components are the state: there is no copy behind them. Between two steps, through
//! [`Simulation::world_mut`], or in systems of [`StepSet::Before`] and [`StepSet::After`] ([`Simulation::add_systems`]), plain commands do
//! all that methods do, from the next step on:
//!
//! | what | how |
//! |---|---|
//! | a body | `spawn((BodyPose(pose), inertia, Collider::new(shape)))`; the slot and what is missing come by themselves |
//! | its end | `despawn(body)`: slot, pairs, joints and forces go with it |
//! | pose, velocity, axes | change or insert `BodyPose`, `Velocity`, `Locks` |
//! | mass, who moves it | insert `Inertia`, `Motion`; what is dynamic needs `Inertia` |
//! | shape, material | insert, change or remove `Collider` |
//! | friction, restitution | the resource `ContactLaws`; of a single pair in a system of [`StepSet::NarrowPhase`] |
//! | lasting force | `AppliedForce` |
//! | forces and moments that depend on time and state, in either frame | `BodyForces`, worked out in the passes: implicit |
//! | how much gravity acts on it | `GravityScale` |
//! | joints, stops, motors, gears | change or despawn their `Interaction`s; bodies that share one do not touch, until the last is gone |
//! | systems without shapes | `FirstOrder`, `Lagrangian`, or the components of a body, with `Integrator`; `Interaction`; change detection finds what is new |
//!
//! What is no number or makes no body is refused at the next step by an error that names the body, and the state is kept.
//! `Changed<BodyPose>`, `Changed<Velocity>`, `Changed<Interaction>` and those of systems fire for what a step has changed, and for nothing
//! else; points of contacts ([`Manifold`](crate::model::contact::Manifold)) are written anew at every step.
//!
//! ```
//! use drystone::prelude::*;
//! let mut sim = Simulation::default();
//! sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
//! let inertia = Inertia { mass: 2.0, principal: DVec3::splat(0.01) };
//! let stone = sim.world_mut().spawn((BodyPose(Pose::at(DVec3::Z)), inertia, Collider::new(Shape::cuboid(DVec3::splat(0.1))?))).id();
//! sim.run_until(2.0)?;
//! let height = sim.world().get::<BodyPose>(stone).map(|pose| pose.0.position.z);
//! assert!(height.is_some_and(|z| (z - 0.1).abs() < 1e-6), "it lies on the floor: {height:?}");
//! sim.world_mut().despawn(stone);
//! assert_eq!(sim.step()?.contacts, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adhesion;
mod auto_step;
pub mod body;
mod bonds;
mod build;
mod crowd;
mod crushing;
pub mod energy;
mod error;
mod flow;
mod guests;
mod joints;
mod kept;
mod lifecycle;
mod parts;
mod phases;
mod report;
mod run;
mod signals;
pub mod state;
mod step;
mod stop;
mod surfaces;
mod systems;

pub use crate::cluster::{Signal, Trace};
pub use auto_step::AutoStep;
pub use body::{Body, BodyError};
pub use bonds::BondState;
pub use crushing::CrushingState;
pub use error::SimulationError;
pub use guests::Handle;
pub use joints::JointState;
pub use report::{Balance, StepReport};
pub use run::{Event, Simulation};
pub use state::SavedState;
pub use step::StepSet;
pub use systems::Outcome;
