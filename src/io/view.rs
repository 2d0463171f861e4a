//! From a simulation to what outputs show: bodies with their surfaces, contacts with their impulses.

use crate::algebra::spatial::Pose;
use crate::geometry::Shape;
use crate::geometry::systems::{Collider, Proximity, Wall};
use crate::io::snapshot::{BodyView, ContactStatus, ContactView, Snapshot, Surface};
use crate::model::contact::{ContactPair, Manifold, Touch};
use crate::model::newton_euler::{BodyName, BodyPose, Inertia, Velocity};
use crate::model::scheme::{Clock, Scheme};
use crate::simulation::Simulation;
use crate::topology::bodies::{Bodies, Slot};
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bodies up to which round shapes are drawn finely.
const MANY: usize = 500;
/// How many of the last surfaces are tried for sharing.
const SHARED: usize = 16;
/// Share of `μ r_n` from which a friction impulse counts as limiting.
const LIMIT: f64 = 1.0 - 1e-6;

/// A window on some bodies of a simulation; it keeps their surfaces between looks.
///
/// ```
/// use drystone::{geometry::Shape, io::view::Window, simulation::{Body, Simulation}};
/// let mut sim = Simulation::default();
/// let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).named("ball"))?;
/// let mut window = Window::new(vec![ball]);
/// assert_eq!(window.look(&sim).bodies[0].name, "ball");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Window {
    entities: Vec<Entity>,
    numbers: BTreeMap<Entity, u32>,
    surfaces: Vec<Option<Arc<Surface>>>,
    balls: Vec<Option<Arc<[(DVec3, f64)]>>>,
    /// Surfaces made so far, with what they were made from.
    made: Vec<(Shape, Pose, Arc<Surface>)>,
    bodies: Vec<BodyView>,
    contacts: Vec<ContactView>,
    /// How far a half-space is drawn (m), where it is given.
    extent: Option<f64>,
}

impl Window {
    /// A window on these bodies; in views a body's number is its place in the list.
    pub fn new(entities: Vec<Entity>) -> Self {
        let numbers = (0..).zip(&entities).map(|(k, &entity)| (entity, k)).collect();
        let (surfaces, balls) = (vec![None; entities.len()], vec![None; entities.len()]);
        Self { entities, numbers, surfaces, balls, made: Vec::new(), bodies: Vec::new(), contacts: Vec::new(), extent: None }
    }

    /// The same window with half-spaces of this half side (m), not of one that follows from what is seen first.
    ///
    /// ```
    /// use drystone::{geometry::Shape, io::view::Window, simulation::{Body, Simulation}};
    /// use glam::DVec3;
    /// let mut sim = Simulation::default();
    /// let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    /// let mut window = Window::new(vec![floor]).reaching(2.5);
    /// assert!(window.look(&sim).bodies[0].surface.vertices.iter().any(|x| x.x == 2.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reaching(self, extent: f64) -> Self {
        Self { extent: Some(extent), ..self }
    }

    /// What there is to see now: bodies that are alive, and the contact points of the last step.
    pub fn look(&mut self, simulation: &Simulation) -> Snapshot<'_> {
        let world = simulation.world();
        self.bodies.clear();
        self.contacts.clear();
        let extent = self.extent.unwrap_or_else(|| self.extent(simulation));
        let cell = world.resource::<Scheme>().cell;
        let rows = world.resource::<Bodies>();
        // what fills the cell is drawn where it stands
        let fills = |entity| !cell.is_open() && world.get::<Collider>(entity).is_some_and(|c| cell.too_long(c.shape.bounding_radius()));
        for k in 0..self.entities.len() {
            let entity = self.entities[k];
            let (Some(pose), Some(velocity)) = (world.get::<BodyPose>(entity), world.get::<Velocity>(entity)) else { continue };
            let collider = world.get::<Collider>(entity);
            let surface = self.surface(k, collider, extent);
            let balls = self.balls[k].get_or_insert_with(|| collider.map_or_else(Arc::default, balls)).clone();
            let name = world.get::<BodyName>(entity).map_or_else(String::new, |name| name.0.clone());
            let (home, image) = if fills(entity) { Default::default() } else { cell.home(pose.0.position) };
            let drift = cell.drift(home);
            let row = world.get::<Slot>(entity).and_then(|slot| rows.get(*slot)).filter(|row| row.entity == Some(entity));
            self.bodies.push(BodyView {
                id: k as u32,
                name,
                shape: collider.map_or("point", |c| c.shape.kind()).to_owned(),
                material: collider.map_or(0, |c| c.material),
                mass: world.get::<Inertia>(entity).map_or(0.0, |inertia| inertia.mass),
                dynamic: world.get::<Inertia>(entity).is_some() && world.get::<Wall>(entity).is_none(),
                pose: pose.0.shifted(home),
                image,
                position: pose.0.position,
                way: row.map_or(DVec3::ZERO, |row| pose.0.position - row.pose.position),
                linear: velocity.linear + drift,
                drift,
                angular: velocity.angular,
                surface,
                balls,
            });
        }
        if simulation.steps() > 0 {
            let Clock { last: h, measure, .. } = *world.resource::<Clock>();
            for &(.., entity) in world.resource::<Proximity>().pairs() {
                let (Some(pair), Some(manifold)) = (world.get::<ContactPair>(entity), world.get::<Manifold>(entity)) else { continue };
                let [Some(&body1), Some(&body2)] = pair.bodies.map(|body| self.numbers.get(&body)) else { continue };
                let pull = pair.pull(&manifold.points);
                // attraction acts at a distance, where a forecast lays no rows
                let borne = manifold.points.iter().filter(|touch| touch.active || touch.pulled > 0.0);
                let home = |entity| match world.get::<BodyPose>(entity) {
                    Some(pose) if !fills(entity) => cell.home(pose.0.position).0,
                    _ => DVec3::ZERO,
                };
                // places near body 1 as it is drawn
                let mut homes = if cell.is_open() { [DVec3::ZERO; 2] } else { pair.bodies.map(home) };
                // what fills the cell is beside every image of the other one
                for side in [0, 1].into_iter().filter(|&side| fills(pair.bodies[side])) {
                    homes[side] = homes[1 - side];
                }
                let shift = pair.shift + h * cell.drift(pair.shift) + homes[0] - homes[1];
                let views = borne.map(|touch| {
                    let view = contact([body1, body2], pair.law.mu, touch, measure * pull(touch));
                    let [point1, point2] = [view.point1 + homes[0], view.point2 + homes[0]];
                    ContactView { point1, point2, shift, ..view }
                });
                self.contacts.extend(views);
            }
        }
        let step_size = if simulation.steps() > 0 { world.resource::<Clock>().measure } else { 0.0 };
        Snapshot { step: simulation.steps(), time: simulation.time(), step_size, bodies: &self.bodies, contacts: &self.contacts }
    }

    /// Half side (m) at which a half-space is drawn: what moves fits on it well.
    fn extent(&self, simulation: &Simulation) -> f64 {
        let world = simulation.world();
        let reach = |&entity: &Entity| {
            let radius = world.get::<Collider>(entity).map_or(0.0, |c| c.shape.bounding_radius() + c.offset.position.length());
            world.get::<BodyPose>(entity).filter(|_| radius.is_finite()).map_or(0.0, |pose| pose.0.position.length() + radius)
        };
        extent(self.entities.iter().map(reach))
    }

    fn surface(&mut self, k: usize, collider: Option<&Collider>, extent: f64) -> Arc<Surface> {
        if let Some(surface) = &self.surfaces[k] {
            return surface.clone();
        }
        let Some(collider) = collider else { return Arc::default() };
        let equal = |a: &Shape, b: &Shape| match (a, b) {
            (Shape::Ball { radius: a }, Shape::Ball { radius: b }) => a == b,
            (Shape::Cuboid { half_extents: a }, Shape::Cuboid { half_extents: b }) => a == b,
            _ => false,
        };
        let known =
            self.made.iter().rev().take(SHARED).find(|(shape, offset, _)| *offset == collider.offset && equal(shape, &collider.shape));
        let surface = known.map(|(.., surface)| surface.clone()).unwrap_or_else(|| {
            let segments = if self.entities.len() > MANY { 10 } else { 16 };
            let drawn = collider.shape.surface(segments, extent);
            let vertices: Vec<DVec3> = drawn.vertices.iter().map(|&x| collider.offset.point(x)).collect();
            Arc::new(Surface { vertices, triangles: drawn.triangles })
        });
        if known.is_none() {
            self.made.push((collider.shape.clone(), collider.offset, surface.clone()));
        }
        self.surfaces[k] = Some(surface.clone());
        surface
    }
}

/// Half side (m) at which a half-space is drawn, of how far each body reaches from the origin (m).
pub(crate) fn extent(reaches: impl Iterator<Item = f64>) -> f64 {
    let largest = reaches.fold(0.0, f64::max);
    if largest > 0.0 { 1.5 * largest } else { 1.0 }
}

/// The balls that a shape consists of, in the frame of the body; none where it has other parts.
fn balls(collider: &Collider) -> Arc<[(DVec3, f64)]> {
    let place = |pose: &Pose| collider.offset.point(pose.position);
    match &collider.shape {
        Shape::Ball { radius } => Arc::new([(collider.offset.position, *radius)]),
        Shape::Compound(parts) => {
            let ball = |(pose, part): &(Pose, Shape)| if let Shape::Ball { radius } = part { Some((place(pose), *radius)) } else { None };
            parts.iter().map(ball).collect::<Option<Vec<_>>>().unwrap_or_default().into()
        }
        _ => Arc::default(),
    }
}

/// `pull` is the impulse of attraction in the last step (N s).
fn contact(bodies: [u32; 2], mu: f64, touch: &Touch, pull: f64) -> ContactView {
    let pushed = touch.reaction.dot(touch.normal);
    let friction_impulse = touch.reaction - pushed * touch.normal;
    let velocity = if touch.active { touch.velocity } else { DVec3::ZERO };
    let sliding_speed = (velocity - velocity.dot(touch.normal) * touch.normal).length();
    let status = if pushed <= 0.0 {
        ContactStatus::Open
    } else if sliding_speed > 0.0 && friction_impulse.length() >= LIMIT * mu * pushed {
        ContactStatus::Slip
    } else {
        ContactStatus::Stick
    };
    ContactView {
        body1: bodies[0],
        body2: bodies[1],
        point1: touch.point1,
        point2: touch.point2,
        shift: DVec3::ZERO,
        normal: touch.normal,
        gap: touch.gap,
        normal_impulse: pushed - pull,
        friction_impulse,
        moment_impulse: touch.moment,
        sliding_speed,
        status,
    }
}
