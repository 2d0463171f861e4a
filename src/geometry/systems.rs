//! Broad phase and narrow phase: from colliders to contact pairs and their points.

use super::broad::BroadPhase;
use super::narrow::{ContactPoint, Scratch, contact_points};
use super::shapes::Shape;
use crate::algebra::spatial::Pose;
use crate::model::contact::{ContactPair, Manifold, Touch, inherit};
use crate::model::law::ContactLaws;
use crate::model::scheme::Scheme;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// The solid of a body.
///
/// ```
/// use drystone::geometry::{Shape, systems::Collider};
/// let ball = Collider::new(Shape::ball(0.1)?);
/// assert_eq!(ball.material, 0);
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Component, Clone, Debug)]
pub struct Collider {
    /// Geometry in the shape frame.
    pub shape: Shape,
    /// Shape frame in the body frame.
    pub offset: Pose,
    /// Index into the table of contact laws.
    pub material: u32,
}

impl Collider {
    /// A shape in the body frame itself, of material 0.
    pub fn new(shape: Shape) -> Self {
        Self { shape, offset: Pose::IDENTITY, material: 0 }
    }
}

/// What detection keeps of a collider.
#[derive(Clone, Debug)]
struct Cached {
    collider: Collider,
    /// Radius about the body's centre; infinite for a half-space.
    radius: f64,
    smallest: f64,
}

impl Cached {
    /// The shape frame in the world.
    fn place(&self, row: &Body) -> Pose {
        if self.collider.offset == Pose::IDENTITY { row.pose } else { row.pose.compose(&self.collider.offset) }
    }
}

/// State of the detection: no part of it decides which contacts exist.
///
/// ```
/// assert_eq!(drystone::geometry::systems::Proximity::default().pair_count(), 0);
/// ```
#[derive(Resource, Debug, Default)]
pub struct Proximity {
    broad: BroadPhase,
    cached: Vec<Option<Cached>>,
    movers: Vec<Mover>,
    found: Vec<(u32, u32)>,
    table: Vec<(u32, u32, Entity)>,
    next: Vec<(u32, u32, Entity)>,
    /// Sorted pairs of slots that never touch (bodies of one joint).
    excluded: Vec<(u32, u32)>,
    scratch: Scratch,
    points: Vec<ContactPoint>,
    touches: Vec<Touch>,
}

impl Proximity {
    /// Number of contact pairs.
    pub fn pair_count(&self) -> usize {
        self.table.len()
    }

    /// Pairs of slots with their entity, in slot order.
    pub fn pairs(&self) -> &[(u32, u32, Entity)] {
        &self.table
    }

    /// Largest way of a moving body in a time `h` (s), in parts of its smallest length.
    pub fn stride(&self, h: f64) -> f64 {
        let way = |m: &Mover| if m.smallest > 0.0 { h * m.velocity.length() / m.smallest } else { 0.0 };
        self.movers.iter().map(way).fold(0.0, f64::max)
    }

    /// Excludes a pair of slots from contact.
    pub fn exclude(&mut self, a: u32, b: u32) {
        let key = (a.min(b), a.max(b));
        if let Err(at) = self.excluded.binary_search(&key) {
            self.excluded.insert(at, key);
        }
    }

    /// Forgets the exclusions of a slot that changes its body.
    pub fn forget(&mut self, slot: u32) {
        self.excluded.retain(|&(a, b)| a != slot && b != slot);
    }

    fn is_excluded(&self, pair: (u32, u32)) -> bool {
        self.excluded.binary_search(&pair).is_ok()
    }
}

/// What the pair filter needs of a body, close together in memory.
#[derive(Clone, Copy, Debug, Default)]
struct Mover {
    position: DVec3,
    velocity: DVec3,
    /// Speed of its farthest point in its own turning (m/s).
    spin: f64,
    radius: f64,
    smallest: f64,
    mobile: bool,
}

impl Mover {
    fn new(body: &Body, cached: &Cached) -> Self {
        let turns = if cached.radius.is_finite() { cached.radius } else { 0.0 };
        Self {
            position: body.pose.position,
            velocity: body.velocity.linear,
            spin: body.velocity.angular.length() * turns,
            radius: cached.radius,
            smallest: cached.smallest,
            mobile: body.inertia.is_some(),
        }
    }

    /// How far a body can come within the reach of a step (m): its share of the gap that is looked into.
    fn reach(&self, scheme: &Scheme) -> f64 {
        let fall = if self.mobile { scheme.gravity.length() * scheme.time_step } else { 0.0 };
        scheme.reach_steps * scheme.time_step * (self.velocity.length() + self.spin + fall) + scheme.reach_share * self.smallest
    }

    /// Largest gap at which a pair of bodies gets contact points (m).
    fn pair_reach(&self, other: &Self, scheme: &Scheme) -> f64 {
        let closing = (self.velocity - other.velocity).length() + self.spin + other.spin;
        let fall = scheme.gravity.length() * scheme.time_step;
        scheme.reach_steps * scheme.time_step * (closing + fall) + scheme.reach_share * self.smallest.min(other.smallest)
    }
}

/// Copies colliders that are new or changed, drops those of dead slots.
pub fn cache_colliders(mut proximity: ResMut<Proximity>, bodies: Res<Bodies>, query: Query<(&Slot, Ref<Collider>)>) {
    proximity.cached.resize(bodies.rows.len(), None);
    for (slot, row) in bodies.rows.iter().enumerate() {
        if !row.alive {
            proximity.cached[slot] = None;
        }
    }
    for (slot, collider) in &query {
        let entry = &mut proximity.cached[slot.0 as usize];
        if entry.is_none() || collider.is_changed() {
            let unbounded = matches!(collider.shape, Shape::HalfSpace { .. });
            let radius = if unbounded { f64::INFINITY } else { collider.shape.bounding_radius() + collider.offset.position.length() };
            *entry = Some(Cached { collider: Collider::clone(&collider), radius, smallest: collider.shape.smallest_length() });
        }
    }
}

/// Whose boxes overlap: the only place that spawns and despawns contact pairs.
pub fn broad_phase(
    scheme: Res<Scheme>,
    bodies: Res<Bodies>,
    laws: Res<ContactLaws>,
    mut proximity: ResMut<Proximity>,
    mut commands: Commands,
) {
    let p = &mut *proximity;
    p.movers.clear();
    for (slot, (row, cached)) in bodies.rows.iter().zip(&p.cached).enumerate() {
        let slot = slot as u32;
        let Some(c) = cached.as_ref().filter(|_| row.alive) else {
            p.broad.remove(slot);
            p.movers.push(Mover::default());
            continue;
        };
        let mover = Mover::new(row, c);
        p.movers.push(mover);
        let reach = mover.reach(&scheme);
        let pose = c.place(row);
        if let Shape::HalfSpace { normal } = c.collider.shape {
            let normal = pose.vector(normal);
            p.broad.set_half_space(slot, normal, normal.dot(pose.position) + reach);
        } else {
            let (low, high) = c.collider.shape.aabb(&pose);
            p.broad.set_box(slot, low - reach, high + reach);
        }
    }
    let mut found = std::mem::take(&mut p.found);
    p.broad.pairs(&mut found);
    p.next.clear();
    let mut old = p.table.iter().peekable();
    for &(i, j) in &found {
        let (a, b) = (&p.movers[i as usize], &p.movers[j as usize]);
        if !(a.mobile || b.mobile) || p.is_excluded((i, j)) {
            continue;
        }
        let near = a.radius + b.radius + a.pair_reach(b, &scheme);
        if a.position.distance_squared(b.position) > near * near {
            continue;
        }
        while let Some((_, _, gone)) = old.next_if(|&&(oi, oj, _)| (oi, oj) < (i, j)) {
            commands.entity(*gone).despawn();
        }
        let entity = match old.next_if(|&&(oi, oj, _)| (oi, oj) == (i, j)) {
            Some(&(_, _, kept)) => kept,
            None => {
                let rows = [i, j].map(|s| bodies.rows[s as usize].entity);
                let ([Some(ea), Some(eb)], Some(ca), Some(cb)) = (rows, &p.cached[i as usize], &p.cached[j as usize]) else { continue };
                let law = laws.get(ca.collider.material, cb.collider.material);
                let size = ca.smallest.min(cb.smallest);
                commands.spawn((ContactPair { bodies: [ea, eb], slots: [i, j], law, size }, Manifold::default())).id()
            }
        };
        p.next.push((i, j, entity));
    }
    old.for_each(|(_, _, gone)| commands.entity(*gone).despawn());
    p.found = found;
    std::mem::swap(&mut p.table, &mut p.next);
}

/// Gaps, normals and points of every pair; impulses are inherited from the points before.
pub fn narrow_phase(
    scheme: Res<Scheme>,
    laws: Res<ContactLaws>,
    bodies: Res<Bodies>,
    mut proximity: ResMut<Proximity>,
    mut pairs: Query<(&mut ContactPair, &mut Manifold)>,
) {
    let Proximity { cached, movers, scratch, points, touches, .. } = &mut *proximity;
    for (mut pair, mut manifold) in &mut pairs {
        let [i, j] = pair.slots.map(|s| s as usize);
        let (Some(a), Some(b)) = (&cached[i], &cached[j]) else { continue };
        // at every step: laws and materials may have changed since the pair was born
        pair.law = laws.get(a.collider.material, b.collider.material);
        let rows = (&bodies.rows[i], &bodies.rows[j]);
        let reach = movers[i].pair_reach(&movers[j], &scheme);
        points.clear();
        contact_points(&a.collider.shape, &a.place(rows.0), &b.collider.shape, &b.place(rows.1), reach, scratch, points);
        if points.is_empty() && manifold.points.is_empty() {
            continue;
        }
        touches.clear();
        touches.extend(points.iter().map(|p| Touch {
            feature: p.feature,
            normal: p.normal,
            gap: p.gap,
            point1: p.point1,
            point2: p.point2,
            ..Touch::default()
        }));
        inherit(&mut manifold.points, touches);
        manifold.points.clear();
        manifold.points.extend_from_slice(touches);
    }
}
