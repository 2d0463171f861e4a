//! Broad phase and narrow phase: from colliders to contact pairs and their points.

use super::broad::BroadPhase;
use super::deep::{DEEP, one_way_out};
use super::narrow::{ContactPoint, Scratch, contact_points};
use super::shapes::Shape;
use super::sweep::{Met, Moving, SAME_WAY, sweep, sweep_inside};
use crate::algebra::spatial::Pose;
use crate::model::contact::{ContactPair, Foreseen, Foresight, Manifold, Swept, Touch, inherit};
use crate::model::law::ContactLaws;
use crate::model::scheme::{Scheme, Treatment};
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

    /// Radius about the body's centre (m); infinite for a half-space.
    fn radius(&self) -> f64 {
        let unbounded = matches!(self.shape, Shape::HalfSpace { .. });
        if unbounded { f64::INFINITY } else { self.shape.bounding_radius() + self.offset.position.length() }
    }
}

/// What detection keeps of a collider.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    pub(super) collider: Collider,
    /// Radius about the body's centre; infinite for a half-space.
    radius: f64,
    smallest: f64,
}

impl Cached {
    /// The shape frame in the world.
    pub(super) fn place(&self, body: &Pose) -> Pose {
        if self.collider.offset == Pose::IDENTITY { *body } else { body.compose(&self.collider.offset) }
    }

    /// Whether its contacts are the same wherever the step ends: balls and planes.
    fn is_simple(&self) -> bool {
        matches!(self.collider.shape, Shape::Ball { .. } | Shape::HalfSpace { .. })
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
    pub(super) cached: Vec<Option<Cached>>,
    pub(super) movers: Vec<Mover>,
    found: Vec<(u32, u32)>,
    /// The same at the end of the step.
    ahead: Vec<(u32, u32)>,
    table: Vec<(u32, u32, Entity)>,
    next: Vec<(u32, u32, Entity)>,
    /// Sorted pairs of slots that never touch (bodies of one joint).
    excluded: Vec<(u32, u32)>,
    pub(super) scratch: Scratch,
    pub(super) points: Vec<ContactPoint>,
    met: Vec<Met>,
    inner: Vec<Met>,
    touches: Vec<Touch>,
    completed: Vec<Touch>,
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

    /// Radius of a collider about the centre of its body, 0 where it is unbounded, and its smallest length (m); none: (0, ∞).
    pub fn size(&self, slot: u32, collider: Option<&Collider>) -> (f64, f64) {
        let Some(collider) = collider else { return (0.0, f64::INFINITY) };
        let known = self.cached.get(slot as usize).and_then(|cached| cached.as_ref()).map(|cached| (cached.radius, cached.smallest));
        let (radius, smallest) = known.unwrap_or_else(|| (collider.radius(), collider.shape.smallest_length()));
        (if radius.is_finite() { radius } else { 0.0 }, smallest)
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
pub(super) struct Mover {
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
    pub(super) fn pair_reach(&self, other: &Self, scheme: &Scheme) -> f64 {
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
            let (radius, smallest) = (collider.radius(), collider.shape.smallest_length());
            *entry = Some(Cached { collider: Collider::clone(&collider), radius, smallest });
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
        let pose = c.place(&row.pose);
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
    let Proximity { cached, movers, scratch, points, met, inner, touches, completed, .. } = &mut *proximity;
    for (mut pair, mut manifold) in &mut pairs {
        let [i, j] = pair.slots.map(|s| s as usize);
        let (Some(a), Some(b)) = (&cached[i], &cached[j]) else { continue };
        // at every step: laws and materials may have changed since the pair was born
        pair.law = laws.get(a.collider.material, b.collider.material);
        let rows = (&bodies.rows[i], &bodies.rows[j]);
        let reach = movers[i].pair_reach(&movers[j], &scheme);
        // what an impact of the step before still owes
        completed.clear();
        let ways = [rows.0, rows.1].map(|b| b.velocity.linear * scheme.time_step);
        completed.extend(manifold.points.iter().filter_map(|t| t.completion(ways)));
        touches.clear();
        // the reach exceeds the way of the step, so few pairs are looked at twice
        let swept = reach > FAST * pair.size && {
            let pending = |t: &Touch| t.approach != DVec3::ZERO || t.swept == Swept::Impact && t.reaction != DVec3::ZERO;
            let at_start = if manifold.points.iter().any(pending) { LANDED } else { 0.0 };
            let moving = [moving(a, rows.0, &scheme), moving(b, rows.1, &scheme)];
            is_fast(&moving, pair.size, &scheme) && sweep(moving, scheme.time_step, pair.size, at_start, scratch, points, met)
        };
        if swept {
            let moving = [moving(a, rows.0, &scheme), moving(b, rows.1, &scheme)];
            sweep_inside(moving, scheme.time_step, pair.size, scratch, points, inner, met);
            touches.extend(met.iter().map(|m| Touch { swept: if m.later { Swept::Impact } else { Swept::No }, ..touch(&m.point) }));
        } else {
            points.clear();
            let (pose1, pose2) = (a.place(&rows.0.pose), b.place(&rows.1.pose));
            contact_points(&a.collider.shape, &pose1, &b.collider.shape, &pose2, reach, scratch, points);
            one_way_out([(&a.collider.shape, pose1), (&b.collider.shape, pose2)], pair.size, scratch, points);
            touches.extend(points.iter().map(touch));
        }
        if touches.is_empty() && manifold.points.is_empty() {
            continue;
        }
        // bodies have just moved at the velocities they have now
        let carried = |x: DVec3| {
            [rows.0, rows.1]
                .map(|b| x + (b.velocity.linear + (b.pose.rotation * b.velocity.angular).cross(x - b.pose.position)) * scheme.time_step)
        };
        inherit(&mut manifold.points, touches, pair.size, carried);
        for new in touches.iter_mut().filter(|t| t.swept == Swept::Impact) {
            // bodies that are still to meet do not part
            (new.approach, new.taken) = (DVec3::ZERO, 0.0);
        }
        complete(completed, touches, LANDED * pair.size);
        manifold.points.clear();
        manifold.points.extend_from_slice(touches);
    }
}

/// Pairs whose relative way in a step exceeds this part of the smaller body's smallest length are swept.
const FAST: f64 = 0.5;
/// Gap after an impact, in parts of that length, within which the error of the solver counts as touch.
const LANDED: f64 = 1e-3;

/// A point as detection finds it.
fn touch(p: &ContactPoint) -> Touch {
    Touch { feature: p.feature, normal: p.normal, gap: p.gap, point1: p.point1, point2: p.point2, ..Touch::default() }
}

/// A body in the motion that is predicted for the step: its velocity and what gravity adds.
fn moving<'a>(c: &'a Cached, body: &Body, scheme: &Scheme) -> Moving<'a> {
    let fall = if body.inertia.is_some() { scheme.gravity * scheme.time_step } else { DVec3::ZERO };
    let round = matches!(c.collider.shape, Shape::Ball { .. }) && c.collider.offset.position == DVec3::ZERO;
    let swing = if round || !c.radius.is_finite() { 0.0 } else { body.velocity.angular.length() * c.radius };
    Moving {
        shape: &c.collider.shape,
        offset: c.collider.offset,
        pose: body.pose,
        linear: body.velocity.linear + fall,
        angular: if round { DVec3::ZERO } else { body.velocity.angular },
        swing,
        inverse_mass: body.inertia.map_or(0.0, |inertia| 1.0 / inertia.mass),
    }
}

/// Whether a pair moves so far within the step that its contacts have to be sought on the way. The normal of a plane is the same
/// everywhere: there is nothing to seek.
fn is_fast(moving: &[Moving; 2], size: f64, scheme: &Scheme) -> bool {
    let plane = moving.iter().any(|m| matches!(m.shape, Shape::HalfSpace { .. }));
    let closing = (moving[0].linear - moving[1].linear).length() + moving[0].swing + moving[1].swing;
    !plane && matches!(scheme.treatment, Treatment::GapAware { .. }) && scheme.time_step * closing > FAST * size
}

/// Completes the impacts of the step before: at the points where the bodies still touch, or else by rows of their own.
fn complete(completed: &[Touch], touches: &mut Vec<Touch>, near: f64) {
    for old in completed {
        let same_way = |t: &Touch| t.normal.dot(old.normal) > SAME_WAY;
        let lasting = |t: &Touch| t.swept == Swept::No && t.gap <= near && same_way(t);
        if touches.iter().any(lasting) {
            if !touches.iter().any(|t| lasting(t) && t.approach == old.approach)
                && let Some(point) = touches
                    .iter_mut()
                    .filter(|t| lasting(t))
                    .min_by(|a, b| a.point1.distance_squared(old.point1).total_cmp(&b.point1.distance_squared(old.point1)))
            {
                (point.approach, point.taken) = (old.approach, old.taken);
            }
            continue;
        }
        touches.retain(|t| t.swept != Swept::Impact || !same_way(t));
        touches.push(*old);
    }
}

/// Steps in which a body moves by less than this share of its smallest length leave contacts as they were found.
const STILL: f64 = 2.5e-3;
/// Overlap at the end of a step, in parts of the smaller body's smallest length, that needs no further pass.
const MISSED: f64 = 3e-4;
/// The same for balls and planes, and by how much they have to go beyond their reach to be looked at.
const THROWN: f64 = 5e-3;

/// Looks for overlaps at the end of the step that its rows do not hold: rows are linear in the velocities, but corners swing round, and
/// slide off one face onto the next. Only pairs that move are looked at; balls and planes only where an impact has thrown one of them beyond
/// what the rows looked at.
pub fn foresee(
    scheme: Res<Scheme>,
    bodies: Res<Bodies>,
    laws: Res<ContactLaws>,
    mut proximity: ResMut<Proximity>,
    mut foresight: ResMut<Foresight>,
    manifolds: Query<&Manifold>,
) {
    foresight.missed = false;
    let Treatment::GapAware { beta } = scheme.treatment else { return };
    let Proximity { broad, cached, movers, found, ahead, table, excluded, scratch, points, .. } = &mut *proximity;
    let h = scheme.time_step;
    let spin = |body: &Body, c: &Cached| if c.radius.is_finite() { body.new_velocity.angular.length() * c.radius } else { 0.0 };
    let travel = |body: &Body, c: &Cached| h * (body.new_velocity.linear.length() + spin(body, c));
    let placed =
        || bodies.rows.iter().zip(cached.iter()).enumerate().filter_map(|(i, (b, c))| Some((i, b, c.as_ref().filter(|_| b.alive)?)));
    if !placed()
        .any(|(i, b, c)| travel(b, c) > if c.is_simple() { movers[i].reach(&scheme) + THROWN * c.smallest } else { STILL * c.smallest })
    {
        return;
    }
    // bodies that were thrown farther than the broad phase looked
    let mut thrown = false;
    for (slot, body, c) in placed() {
        let reach = movers[slot].reach(&scheme);
        if travel(body, c) > reach && !matches!(c.collider.shape, Shape::HalfSpace { .. }) {
            let (low, high) = c.collider.shape.aabb(&c.place(&body.pose));
            let (low_end, high_end) = c.collider.shape.aabb(&c.place(&body.new_pose));
            broad.set_box(slot as u32, (low - reach).min(low_end), (high + reach).max(high_end));
            thrown = true;
        }
    }
    if thrown {
        broad.pairs(ahead);
    }
    for &(i, j) in if thrown { &*ahead } else { &*found } {
        let (body1, body2) = (&bodies.rows[i as usize], &bodies.rows[j as usize]);
        let (Some(a), Some(b)) = (&cached[i as usize], &cached[j as usize]) else { continue };
        if body1.inertia.is_none() && body2.inertia.is_none() {
            continue;
        }
        // rows of balls and planes hold, where there are rows
        let simple = a.is_simple() && b.is_simple();
        let beyond = |slot: u32, body: &Body, c: &Cached| travel(body, c) > movers[slot as usize].reach(&scheme) + THROWN * c.smallest;
        if simple && !(thrown && (beyond(i, body1, a) || beyond(j, body2, b))) {
            continue;
        }
        let missed = if simple { THROWN } else { MISSED };
        let size = a.smallest.min(b.smallest);
        let closing = (body1.new_velocity.linear - body2.new_velocity.linear).length() + spin(body1, a) + spin(body2, b);
        let near = a.radius + b.radius;
        let apart = body1.new_pose.position.distance_squared(body2.new_pose.position) > near * near;
        let law = laws.get(a.collider.material, b.collider.material);
        if h * closing <= 2.0 * STILL * size || apart || excluded.binary_search(&(i, j)).is_ok() {
            continue;
        }
        points.clear();
        let poses = (a.place(&body1.new_pose), b.place(&body2.new_pose));
        contact_points(&a.collider.shape, &poses.0, &b.collider.shape, &poses.1, 0.0, scratch, points);
        let deepest = points.iter().map(|p| p.gap).fold(0.0, f64::min);
        if deepest >= -missed * size {
            continue;
        }
        let entity = table.binary_search_by_key(&(i, j), |&(i, j, _)| (i, j)).map(|at| table[at].2);
        let manifold = entity.ok().and_then(|e| manifolds.get(e).ok());
        let before = manifold.map_or(0.0, |m| m.points.iter().map(|t| t.gap).fold(0.0, f64::min));
        // what the overlap at the start leaves
        let allowed = before + (beta * -before).min(h * scheme.push_out(size));
        if deepest >= allowed - missed * size || before < -DEEP * size {
            continue;
        }
        foresight.missed = true;
        let rows = [body1, body2];
        let ([Some(e1), Some(e2)], slots) = (rows.map(|b| b.entity), [i, j]) else { continue };
        for p in points.iter().filter(|p| p.gap < allowed) {
            let [point1, point2] = [(body1, p.point1), (body2, p.point2)].map(|(b, x)| b.pose.position + (x - b.new_pose.position));
            let middle = 0.5 * (point1 + point2);
            let velocity = |b: &Body| b.new_velocity.linear + (b.frame.rotation * b.new_velocity.angular).cross(middle - b.pose.position);
            let gap = p.gap - allowed - h * p.normal.dot(velocity(body1) - velocity(body2));
            let touch = Touch { feature: p.feature, normal: p.normal, gap, point1, point2, active: true, ..Touch::default() };
            foresight.put(Foreseen { pair: ContactPair { bodies: [e1, e2], slots, law, size }, touch, contact: 0 });
        }
    }
}
