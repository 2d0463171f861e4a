//! From a scene to a simulation: bodies, laws, joints, loads and the events of its script.

mod loads;
mod water;

use crate::algebra::spatial::Pose;
use crate::geometry::systems::Wall;
use crate::geometry::{DecompositionSettings, Shape, ShapeError, fits_cell, wanders};
use crate::io::scene::model::{self, LinkQuantity, Motion, Recordable, Scene, Servo, Study};
use crate::model::flow::Outlet;
use crate::model::law::{ContactLaws, CoulombImpact};
use crate::model::newton_euler::{AppliedForce, BodyForces, BodyPose, Frame, GravityScale, Locks, Wrench};
use crate::model::operator::Operator;
use crate::model::scheme::Scheme;
use crate::simulation::{AutoStep, Body, BodyError, Event, Signal, Simulation, SimulationError};
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use loads::add_loads;
use water::add_water;

/// A scene that cannot be simulated.
///
/// ```
/// use drystone::io::scene::model::{BodySpec, Scene, ShapeSpec};
/// let mut scene = Scene::new("wrong");
/// scene.bodies.push(BodySpec::new("ball", ShapeSpec::Ball { radius: -1.0 }));
/// let error = drystone::scenes::build(&scene).unwrap_err();
/// assert!(error.to_string().starts_with("body \"ball\": ball: radius"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A shape that does not exist.
    #[error("body {body:?}: {source}")]
    Shape {
        /// Name of the body.
        body: String,
        /// What the shape says.
        source: ShapeError,
    },
    /// Something the simulation refuses.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A body that a joint or a load cannot use.
    #[error("body {body:?}: {reason}")]
    Body {
        /// Name of the body.
        body: String,
        /// What was found and what would do.
        reason: String,
    },
}

impl BuildError {
    /// Name of the body at fault, if it is one.
    pub fn body(&self) -> Option<&str> {
        match self {
            Self::Shape { body, .. } | Self::Body { body, .. } => Some(body),
            Self::Simulation(SimulationError::Body(BodyError::Shape { name, .. } | BodyError::Number { name, .. })) => Some(name),
            Self::Simulation(_) => None,
        }
    }
}

/// A simulation with the entity of each body of the scene.
///
/// ```
/// use drystone::io::scene::{Scene, SceneSource};
/// let scene = Scene::load(&SceneSource::new("bouncing_ball"), &[])?;
/// let mut built = drystone::scenes::build(&scene)?;
/// built.simulation.step()?;
/// assert_eq!(built.entities.len(), scene.bodies.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Built {
    /// Ready to step.
    pub simulation: Simulation,
    /// Entity of each body, by its index in the scene, then of the grains of each inlet ([`Scene::numbered_body`]); a body that is born later
    /// has one already.
    pub entities: Vec<Entity>,
    /// Interactions of each joint, by its index in the scene: see [`Simulation::add_joint`].
    pub joints: Vec<Vec<Entity>>,
    /// The interaction of each transmission.
    pub transmissions: Vec<Entity>,
    /// The interaction of each tie.
    pub ties: Vec<Entity>,
    /// Each outlet.
    pub outlets: Vec<Entity>,
    /// Each inlet.
    pub inlets: Vec<Entity>,
    /// Each surface.
    pub surfaces: Vec<Entity>,
    /// Pose of each body of the scene at the start; none for those that are born later.
    pub starts: Vec<Option<Pose>>,
}

impl Built {
    /// What a simulation calls a signal of the scene.
    pub fn signal(&self, signal: &Recordable) -> Signal {
        let link = |entity: Entity, q: LinkQuantity, row: usize| match q {
            LinkQuantity::Output => Signal::Output(entity, row),
            LinkQuantity::Rate => Signal::Rate(entity, row),
            LinkQuantity::Multiplier => Signal::Multiplier(entity, row),
        };
        match *signal {
            Recordable::Body(i, q) => Signal::Body(self.entities[i], q),
            Recordable::Joint(i, q) => Signal::Joint(self.joints[i][0], q),
            Recordable::Transmission(i, q) => link(self.transmissions[i], q, 0),
            Recordable::Tie(i, q, row) => link(self.ties[i], q, row),
            Recordable::Outlet(i, q) => Signal::Flow(self.outlets[i], q),
            Recordable::Inlet(i, q) => Signal::Flow(self.inlets[i], q),
            Recordable::Surface(i, q) => Signal::Surface(self.surfaces[i], q),
            Recordable::Total(q) => Signal::Total(q),
        }
    }
}

/// Builds the simulation of a scene; slots are in the order of its bodies.
pub fn build(scene: &Scene) -> Result<Built, BuildError> {
    let mut simulation = Simulation::new(Scheme {
        time_step: scene.time.step,
        treatment: scene.time.treatment,
        friction: scene.solver.friction,
        gyroscopic: scene.time.gyroscopic,
        gravity: scene.gravity_at(0.0),
        drift: scene.time.drift,
        warm_start: scene.solver.warm_start,
        cell: scene.periodic,
        ..Scheme::default()
    })?;
    let solver = simulation.solver_mut();
    (solver.tolerance, solver.max_sweeps) = (scene.solver.tolerance, scene.solver.max_sweeps);
    simulation.set_laws(laws(scene))?;
    if let Some(accuracy) = scene.time.accuracy {
        simulation.set_auto_step(auto_step(scene, accuracy))?;
    }
    let mut entities = Vec::with_capacity(scene.bodies.len());
    for body in &scene.bodies {
        let mut made = rigid_body(scene, body)?;
        if scene.flows && body.motion == Motion::Dynamic {
            made.linear += scene.periodic.flow(made.centre_of_mass().map_err(SimulationError::from)?);
        }
        let entity = if body.birth > 0.0 {
            made.validate().map_err(SimulationError::from)?;
            let entity = simulation.reserve();
            simulation.at(body.birth, Event::Appear(entity, Box::new(made)))?;
            entity
        } else {
            simulation.spawn_body(made)?
        };
        if let Some(servo) = &body.servo {
            simulation.world_mut().entity_mut(entity).insert((GravityScale(0.0), Wall, servo_force(servo)));
        }
        for blow in &body.impulses {
            simulation.at(blow.time.max(body.birth), Event::Blow(entity, AppliedForce { force: blow.linear, torque: blow.angular }))?;
        }
        if let Some(death) = body.death {
            simulation.at(death, Event::Death(entity))?;
        }
        entities.push(entity);
    }
    for gravity in scene.gravity.iter().filter(|g| g.time > 0.0) {
        simulation.at(gravity.time, Event::Gravity(gravity.acceleration))?;
    }
    let ends = |body1: usize, body2: Option<usize>| {
        if let Some(late) = [Some(body1), body2].into_iter().flatten().find(|&i| scene.bodies[i].birth > 0.0) {
            let reason = "it is born after the start, and a joint needs both bodies at the start; set birth to 0".to_owned();
            return Err(BuildError::Body { body: scene.bodies[late].name.clone(), reason });
        }
        Ok((entities[body1], body2.map(|i| entities[i])))
    };
    let (mut joints, mut transmissions, mut ties) = (Vec::new(), Vec::new(), Vec::new());
    for joint in &scene.joints {
        let (one, two) = ends(joint.body1, joint.body2)?;
        let parts = simulation.add_joint(one, two, &joint.spec)?;
        simulation.set_name(parts[0], &joint.name);
        joints.push(parts);
    }
    for t in &scene.transmissions {
        let (one, two) = ends(t.body1, t.body2)?;
        transmissions.push(simulation.add_transmission(one, two, &t.spec)?);
    }
    for tie in &scene.ties {
        let (one, two) = ends(tie.body1, tie.body2)?;
        ties.push(simulation.add_tie(one, two, &tie.spec)?);
    }
    for (&link, name) in transmissions.iter().zip(scene.transmissions.iter().map(|t| &t.name)) {
        simulation.set_name(link, name);
    }
    for (&tie, name) in ties.iter().zip(scene.ties.iter().map(|t| &t.name)) {
        simulation.set_name(tie, name);
    }
    let mut outlets = Vec::new();
    for gate in &scene.outlets {
        let outlet = simulation.add_outlet(Outlet { region: gate.region })?;
        simulation.set_name(outlet, &gate.name);
        outlets.push(outlet);
    }
    let mut inlets = Vec::new();
    for tap in &scene.inlets {
        let grains = tap.grains().map(|grain| rigid_body(scene, &grain)).collect::<Result<_, _>>()?;
        let (inlet, grains) = simulation.add_inlet(tap.gate, grains)?;
        simulation.set_name(inlet, &tap.name);
        inlets.push(inlet);
        entities.extend(grains);
    }
    let mut surfaces = Vec::new();
    for named in &scene.surfaces {
        let surface = simulation.add_surface(named.surface)?;
        simulation.set_name(surface, &named.name);
        surfaces.push(surface);
    }
    add_loads(&mut simulation, scene, &entities);
    for water in &scene.water {
        add_water(&mut simulation, scene, water, &entities)?;
    }
    if let Some(base) = scene.base.clone() {
        simulation.add_mean_load(move |[from, to], rows| {
            let acceleration = base.mean(from, to);
            for row in rows.iter_mut() {
                let mass = row.inertia.map_or(0.0, |inertia| inertia.mass);
                row.load.force -= mass * acceleration;
            }
        });
    }
    if scene.bonds() {
        simulation.bond_touching();
    }
    if scene.crushes() {
        simulation.crush_touching();
    }
    let pose = |e: &Entity| simulation.world().get::<BodyPose>(*e).map(|pose| pose.0);
    let starts = entities.iter().map(pose).collect();
    Ok(Built { simulation, entities, joints, transmissions, ties, outlets, inlets, surfaces, starts })
}

/// Motions of less than so many of the largest steps are met corner by corner.
const SHORT: f64 = 10.0;

/// Steps that meet what is recorded, what a study looks at, where driven bodies set in, jump and come to rest, and the end.
fn auto_step(scene: &Scene, accuracy: f64) -> AutoStep {
    let periods = scene.recorders.iter().map(|r| r.every).chain(scene.records.iter().map(|r| r.every));
    let periods = periods.chain(scene.measures.iter().map(|m| m.every)).chain(scene.fields.iter().map(|f| f.every));
    let periods = periods.chain(scene.piles.iter().map(|p| p.every));
    let every: Vec<f64> = periods.filter(|&every| every > 0.0).collect();
    let shortest = every.iter().copied().fold(f64::INFINITY, f64::min);
    // a grid that divides the shortest period, so that steps need not change from one record to the next
    let parts = (shortest / scene.time.step - 1e-9).ceil();
    let largest = if shortest.is_finite() { shortest / parts } else { scene.time.step };
    let mut stops = vec![scene.time.end];
    if let Study::Incline(study) = &scene.study {
        stops.extend([study.tilt, study.window[0], study.window[1]]);
    }
    let driven = scene.bodies.iter().filter_map(|body| if let Motion::Kinematic(drive) = &body.motion { Some(drive) } else { None });
    stops.extend(driven.flat_map(|drive| drive.turns(SHORT * largest)));
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    AutoStep { accuracy, largest, every, stops }
}

fn laws(scene: &Scene) -> ContactLaws {
    let law = |l: model::ContactLaw| CoulombImpact {
        mu: l.mu,
        e_n: l.e_n,
        e_n_speed: l.e_n_speed,
        e_t: l.e_t,
        impact: l.impact,
        adhesion: l.adhesion,
        adhesion_range: l.adhesion_range,
        rupture: l.rupture,
        mu_r: l.mu_r,
        mu_t: l.mu_t,
        patch: l.patch,
    };
    let mut laws = ContactLaws::uniform(law(scene.default_law));
    laws.set_default_bond(scene.default_law.bond);
    laws.set_default_crushing(scene.default_law.crushing);
    for pair in &scene.pair_laws {
        let [a, b] = pair.materials.map(|m| m as u32);
        laws.set(a, b, law(pair.law));
        laws.set_bond(a, b, pair.law.bond);
        laws.set_crushing(a, b, pair.law.crushing);
    }
    laws
}

/// The force of a servo, less its damping: implicit, as it may be stiff against the mass.
fn servo_force(servo: &Servo) -> BodyForces {
    let &Servo { axis, force, damping } = servo;
    if damping == 0.0 {
        let mut value = [0.0; 3];
        value[axis] = force;
        return BodyForces::default().with_force(value, Frame::Inertial);
    }
    let value = Operator::function(move |at, f| {
        f.fill(0.0);
        f[axis] = force - damping * at.v[axis];
    });
    let mut on_v = [0.0; 18];
    on_v[7 * axis] = -damping;
    BodyForces { force: Wrench::new(value, Frame::Inertial).with_tangents([0.0; 21], on_v), ..BodyForces::default() }
}

/// What the simulation makes the body from.
fn rigid_body(scene: &Scene, body: &model::Body) -> Result<Body, BuildError> {
    let failed = |source| BuildError::Shape { body: body.name.clone(), source };
    let shape = body.shape.build().map_err(failed)?;
    let locks = Locks { translation: body.locked_translation, rotation: body.locked_rotation };
    let moves = wanders(&scene.periodic, body.motion == Motion::Dynamic, &locks);
    let misfit = |reason| BuildError::Body { body: body.name.clone(), reason: format!("{reason}; the cell is that of [periodic]") };
    fits_cell(&scene.periodic, &shape, &body.pose, moves).map_err(misfit)?;
    let motion = match &body.motion {
        Motion::Dynamic => crate::model::newton_euler::Motion::Dynamic,
        Motion::Static => crate::model::newton_euler::Motion::Static,
        Motion::Kinematic(drive) => {
            let drive = drive.clone();
            crate::model::newton_euler::Motion::Kinematic(std::sync::Arc::new(move |t| drive.velocity(t)))
        }
    };
    let made = Body {
        name: body.name.clone(),
        density: scene.materials[body.material].density,
        mass: body.mass,
        inertia: body.inertia,
        centre: body.centre_of_mass,
        pose: body.pose,
        linear: body.linear_velocity,
        angular: body.angular_velocity,
        motion,
        locks,
        load: AppliedForce { force: body.force, torque: body.torque },
        material: body.material as u32,
        ..Body::new(shape.clone())
    };
    if body.motion == Motion::Dynamic && holds_mesh(&shape) { from_convex_parts(made, &shape).map_err(failed) } else { Ok(made) }
}

/// The body with convex parts for contact, and the mass of its true shape, which the parts only approximate.
fn from_convex_parts(body: Body, shape: &Shape) -> Result<Body, ShapeError> {
    let exact = shape.mass_properties(body.density)?;
    let mass = body.mass.unwrap_or(exact.mass);
    let centre = body.centre.unwrap_or(exact.centre);
    let parts = shape.decompose(&DecompositionSettings::default())?;
    if body.inertia.is_some() {
        return Ok(Body { shape: Some(parts), mass: Some(mass), centre: Some(centre), ..body });
    }
    // principal axes become the frame of the shape
    let frame = Pose::new(centre, exact.frame);
    Ok(Body {
        shape: Some(parts.moved(&frame.relative(&Pose::IDENTITY))),
        mass: Some(mass),
        inertia: Some(exact.inertia * (mass / exact.mass)),
        centre: Some(DVec3::ZERO),
        pose: body.pose.compose(&frame),
        angular: frame.local_vector(body.angular),
        ..body
    })
}

fn holds_mesh(shape: &Shape) -> bool {
    match shape {
        Shape::Mesh(_) => true,
        Shape::Compound(parts) => parts.iter().any(|(_, part)| holds_mesh(part)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::scene::SceneSource;
    use crate::io::scene::model::ShapeSpec;
    use crate::model::newton_euler::{Inertia, Velocity};
    use glam::DQuat;

    /// An L as a closed mesh.
    fn corner() -> ShapeSpec {
        let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let vertices = [0.0, 0.5].iter().flat_map(|&z| outline.map(|[x, y]| DVec3::new(x, y, z))).collect();
        let top = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
        let mut triangles: Vec<[u32; 3]> = top.iter().flat_map(|&[a, b, c]| [[a, c, b], [a + 6, b + 6, c + 6]]).collect();
        triangles.extend((0..6).flat_map(|i| [[i, (i + 1) % 6, (i + 1) % 6 + 6], [i, (i + 1) % 6 + 6, i + 6]]));
        ShapeSpec::Mesh { vertices, triangles }
    }

    #[test]
    fn a_concave_mesh_moves_with_the_mass_of_the_mesh() {
        let mut scene = Scene::new("corner");
        let mut body = model::Body::new("corner", corner()).at(DVec3::new(1.0, 2.0, 3.0));
        body.pose.rotation = DQuat::from_rotation_y(0.7);
        body.angular_velocity = DVec3::new(0.1, 0.2, 0.3);
        scene.bodies.push(body.clone());
        let built = build(&scene).unwrap();
        let (world, entity) = (built.simulation.world(), built.entities[0]);
        let exact = corner().build().unwrap().mass_properties(1000.0).unwrap();
        assert!((exact.mass - 1500.0).abs() < 1e-9, "three squares, half a metre high");
        let (inertia, pose) = (world.get::<Inertia>(entity).unwrap(), world.get::<BodyPose>(entity).unwrap().0);
        assert!(inertia.mass == exact.mass && inertia.principal == exact.inertia);
        assert!((pose.position - body.pose.point(exact.centre)).length() < 1e-12);
        let spin = pose.vector(world.get::<Velocity>(entity).unwrap().angular);
        assert!((spin - body.pose.vector(body.angular_velocity)).length() < 1e-12);
        // the parts are where the mesh is
        let collider = world.get::<crate::geometry::systems::Collider>(entity).unwrap();
        let (low, high) = collider.shape.aabb(&pose.compose(&collider.offset));
        let (mesh_low, mesh_high) = corner().build().unwrap().aabb(&body.pose);
        assert!((low - mesh_low).length() < 0.05 && (high - mesh_high).length() < 0.05, "{low} {high} {mesh_low} {mesh_high}");
    }

    #[test]
    fn a_joint_with_an_unborn_body_is_an_error() {
        let mut scene = Scene::load(&SceneSource::new("spinning_top"), &[]).unwrap();
        scene.bodies[0].birth = 0.5;
        assert!(build(&scene).unwrap_err().to_string().contains("set birth to 0"));
    }
}
