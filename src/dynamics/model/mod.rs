//! What exists: dynamical systems, relations, laws and interactions, as components of plain data.
//!
//! ```text
//! M ẋ = A x + b + f + r                    m v̇ = f + p,  I ω̇ + ω × I ω = m + p_ω        M q̈ + F(q, q̇) = F_ext + p        systems
//! y = h(q) or C x + D λ + e                p = Hᵀ λ,  r = B λ                                                          relations
//! 0 ≤ y ⟂ λ ≥ 0,   y = 0,   −y ∈ sgn λ,   0 ≤ ẏ⁺ + e ẏ⁻ ⟂ λ ≥ 0,   Coulomb's cone, …                                       laws
//! ```
//!
//! A rigid body is an entity with the components of [`newton_euler`], which hold its state; what is no body is one of [`dynamical_system`] with
//! an [`integrator`]. A rigid body may have an integrator too ([`dynamical_system::NewtonEuler`] makes the components): then it moves by itself,
//! or with systems alone, until something ties it to a body that has none. An [`interaction`] holds one or two of them: a [`relation`] says what they share (a [`joint`] is one between bodies), a
//! [`law`] what holds for it, and λ is what the step works out. Contacts are found, not declared: [`contact`] has their pairs and points,
//! their law comes from the table of materials ([`law::ContactLaws`]). An [`operator`] is a constant or a function of the user.
//! [`scheme`] says how a step is made.
//!
//! Nothing here computes a step. Each type has a `validate` that names what will not do, which is called when it is spawned.
//!
//! ```
//! use drystone::model::{dynamical_system::Lagrangian, interaction::Interaction, law::Law, relation::LagrangianLinear};
//! use drystone::{model::integrator::Integrator, simulation::Simulation};
//! let mut sim = Simulation::with_time_step(1e-3)?;
//! // a mass on a spring, and a wall that it hits
//! let mass = Lagrangian::new([1.0]).at([0.5]).with_stiffness([100.0]);
//! let mass = sim.spawn_system(mass, Integrator::MOREAU_JEAN)?;
//! let wall = Interaction::new([mass], LagrangianLinear::new([1.0], [0.2]), Law::NewtonImpact { e: 1.0 });
//! let wall = sim.spawn_interaction(wall)?;
//! sim.run_until(5.0)?;
//! let q = sim.world().get::<Lagrangian>(mass).map(|mass| mass.q[0]);
//! assert!(q.is_some_and(|q| (-0.21..=0.51).contains(&q)), "between the wall and where it began: {q:?}");
//! assert!(sim.world().get::<Interaction>(wall).is_some_and(|wall| wall.y[0] > -0.01));
//! # Ok::<(), drystone::simulation::SimulationError>(())
//! ```

pub mod birth;
pub mod bond;
pub mod contact;
pub mod crushing;
pub mod dynamical_system;
pub mod flow;
pub mod forces;
pub mod grid;
pub mod integrator;
pub mod interaction;
pub mod joint;
pub mod law;
pub mod newton_euler;
pub mod operator;
pub mod periodic;
pub mod pile;
pub mod relation;
pub mod scheme;
pub mod signal;
pub mod spring;
pub mod surface;
pub(crate) mod watched;
