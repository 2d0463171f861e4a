//! Scenes and readings that every law uses.

use bevy_ecs::prelude::Entity;
use drystone::algebra::spatial::Pose;
use drystone::geometry::Shape;
use drystone::model::contact::{ContactPair, Manifold, Touch};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use drystone::topology::bodies::Slot;
use glam::DVec3;

pub(crate) type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

pub(crate) const G: f64 = 9.81;
/// Moreau–Jean as in the reference tables.
pub(crate) const FORECAST: Treatment = Treatment::Forecast { theta: 0.5 };
pub(crate) const GAP_AWARE: Treatment = Treatment::GapAware { beta: 0.1 };

pub(crate) fn velocity(sim: &Simulation, body: Entity) -> Velocity {
    *sim.world().get::<Velocity>(body).expect("alive")
}

pub(crate) fn pose(sim: &Simulation, body: Entity) -> Pose {
    sim.world().get::<BodyPose>(body).expect("alive").0
}

pub(crate) fn position(sim: &Simulation, body: Entity) -> DVec3 {
    pose(sim, body).position
}

/// No body, gravity or none.
pub(crate) fn space(h: f64, treatment: Treatment, gravity: f64, tolerance: f64) -> Fallible<Simulation> {
    let mut sim = Simulation::new(Scheme { time_step: h, treatment, gravity: -gravity * DVec3::Z, ..Scheme::default() })?;
    sim.solver_mut().tolerance = tolerance;
    Ok(sim)
}

/// A floor at z = 0.
pub(crate) fn scene(h: f64, treatment: Treatment, law: CoulombImpact, tolerance: f64) -> Fallible<Simulation> {
    let mut sim = space(h, treatment, G, tolerance)?;
    sim.set_laws(ContactLaws::uniform(law))?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed().named("floor"))?;
    Ok(sim)
}

pub(crate) fn friction(mu: f64) -> CoulombImpact {
    CoulombImpact { mu, ..CoulombImpact::default() }
}

pub(crate) fn restitution(e_n: f64) -> CoulombImpact {
    CoulombImpact { e_n, ..CoulombImpact::default() }
}

/// The contact points of two bodies, each with its reaction on `on`.
pub(crate) fn touches(sim: &Simulation, on: Entity, from: Entity) -> Vec<Touch> {
    let slot = |e| sim.world().get::<Slot>(e).expect("alive").0;
    let (a, b) = (slot(on), slot(from));
    let pairs = sim.world().resource::<drystone::geometry::systems::Proximity>().pairs();
    let Some(&(first, _, pair)) = pairs.iter().find(|&&(i, j, _)| (i, j) == (a.min(b), a.max(b))) else { return Vec::new() };
    assert!(sim.world().get::<ContactPair>(pair).is_some());
    let points = &sim.world().get::<Manifold>(pair).expect("a pair has points").points;
    let sign = if first == a { 1.0 } else { -1.0 };
    points.iter().map(|t| Touch { reaction: sign * t.reaction, ..*t }).collect()
}

/// Resultant impulse on `on` and its moment about `about`.
pub(crate) fn resultant(sim: &Simulation, on: Entity, from: Entity, about: DVec3) -> [DVec3; 2] {
    touches(sim, on, from).iter().fold([DVec3::ZERO; 2], |[force, moment], t| {
        let arm = 0.5 * (t.point1 + t.point2) - about;
        [force + t.reaction, moment + arm.cross(t.reaction)]
    })
}
