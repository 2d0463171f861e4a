//! Broad phase: from colliders to contact pairs.

use super::ahead_systems::Course;
use super::broad::{Around, BroadPhase, Content, Entry, FEW};
use super::crowd::{Crowd, PAIRS};
use super::images::{Images, Placed, fits_cell, wanders};
use super::linked::Link;
use super::narrow::{ContactPoint, Scratch};
use super::narrow_systems::Hand;
use super::shapes::Shape;
use super::ways::Crossing;
use crate::algebra::pieces::{Part, share};
use crate::algebra::spatial::Pose;
use crate::model::contact::{ContactPair, Manifold};
use crate::model::interaction::Interaction;
use crate::model::law::{ContactLaws, CoulombImpact};
use crate::model::periodic::Cell;
use crate::model::relation::Relation;
use crate::model::scheme::Scheme;
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

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

    /// Checks the shape and its place in the body.
    pub fn validate(&self) -> Result<(), String> {
        self.shape.validate().map_err(|e| e.to_string())?;
        let Pose { position, rotation } = self.offset;
        if !position.is_finite() || (rotation.length_squared() - 1.0).abs().is_nan() || (rotation.length_squared() - 1.0).abs() > 1e-6 {
            return Err(format!("the offset of its collider is {position}, {rotation}; a place and a unit quaternion are needed"));
        }
        Ok(())
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
    pub(super) radius: f64,
    pub(super) smallest: f64,
}

impl Cached {
    /// The shape frame in the world.
    pub(super) fn place(&self, body: &Pose) -> Pose {
        if self.collider.offset == Pose::IDENTITY { *body } else { body.compose(&self.collider.offset) }
    }

    /// Radius of its contacts with another (m), see [`Arm::Radius`](crate::model::law::Arm::Radius).
    fn contact_radius(&self, other: &Self) -> f64 {
        let ball = |c: &Self| matches!(c.collider.shape, Shape::Ball { .. }).then_some(0.5 * c.smallest);
        match (ball(self), ball(other)) {
            (Some(a), Some(b)) => a * b / (a + b),
            (Some(r), None) | (None, Some(r)) => r,
            (None, None) => 0.5 * if self.radius < other.radius { self.smallest } else { other.smallest },
        }
    }

    /// The law of its contacts with another.
    pub(super) fn law(&self, other: &Self, laws: &ContactLaws) -> CoulombImpact {
        laws.get(self.collider.material, other.collider.material).at_radius(|| self.contact_radius(other))
    }

    /// Whether its contacts are the same wherever the step ends: balls and planes.
    pub(super) fn is_simple(&self) -> bool {
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
    pub(super) broad: BroadPhase,
    pub(super) images: Images,
    pub(super) cached: Vec<Option<Cached>>,
    pub(super) movers: Vec<Mover>,
    pub(super) found: Vec<(u32, u32)>,
    /// The same at the end of the step.
    pub(super) ahead: Vec<(u32, u32)>,
    /// Those that have to be looked at there, as each of several threads has found them.
    pub(super) sought: Vec<Vec<(u32, u32)>>,
    pub(super) table: Vec<(u32, u32, Entity)>,
    next: Vec<(u32, u32, Entity)>,
    /// Sorted pairs of slots that never touch (bodies of one joint).
    pub(super) excluded: Vec<(u32, u32)>,
    pub(super) scratch: Scratch,
    pub(super) points: Vec<ContactPoint>,
    /// Whether somebody else has written to the points of a pair since the detection before, in the order of their table.
    pub(super) written: Vec<bool>,
    /// Pairs whose points the last detection has sought; those of others stay as they are, as their bodies stand.
    pub looked: usize,
    /// Whether that detection has ended before its last pair.
    pub(super) unfinished: bool,
    /// What those need who work on pairs at the same time.
    pub(super) hands: Vec<Hand>,
    bounds: Vec<Bound>,
    near: Vec<bool>,
    /// Pairs that overlap on their way, and the first part of a way that does so, by slot.
    pub(super) crossings: Vec<Crossing>,
    pub(super) crossed: Vec<ContactPoint>,
    pub(super) first: Vec<f64>,
    /// Whether an impact has changed the way of the ball or plane in a slot.
    pub(super) struck: Vec<bool>,
    pub(super) courses: Vec<Course>,
    /// Joints between bodies, and by how much these leave their straight ways for their sake, by slot.
    pub(super) links: Vec<Link>,
    pub(super) bulges: Vec<DVec3>,
    /// Set by who wants the step to end while detection is at work.
    pub stop: Option<&'static AtomicBool>,
    /// Whether detection has ended so: pairs have not been looked at, and the step has to be given up.
    pub cut: bool,
}

/// Whether detection is to end.
pub(super) fn is_stopped(stop: Option<&'static AtomicBool>) -> bool {
    stop.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// What the broad phase has of a body.
type Leaf<'a> = (&'a mut Entry, &'a mut Around);

/// What the broad phase holds of a collider.
#[derive(Clone, Copy, Debug, Default)]
enum Bound {
    #[default]
    Nothing,
    /// A box that has its place already: lower and upper corner.
    Kept(DVec3, DVec3),
    /// Lower and upper corner.
    Box(DVec3, DVec3),
    /// `x · normal ≤ offset`
    HalfSpace(DVec3, f64),
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

    /// Forgets the pairs of a slot that changes its body, and gives their entities.
    pub fn forget(&mut self, slot: u32) -> Vec<Entity> {
        let gone = |&(a, b, _): &(u32, u32, Entity)| a == slot || b == slot;
        let ended = self.table.iter().filter(|pair| gone(pair)).map(|pair| pair.2).collect();
        self.table.retain(|pair| !gone(pair));
        if let Some(cached) = self.cached.get_mut(slot as usize) {
            *cached = None;
        }
        ended
    }
}

/// What the pair filter needs of a body, close together in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mover {
    position: DVec3,
    pub(super) velocity: DVec3,
    /// Its speed, in a sheared cell against the flow there and with what that differs by over its length (m/s).
    speed: f64,
    /// Speed of its farthest point in its own turning (m/s).
    spin: f64,
    pub(super) radius: f64,
    /// Smallest length (m); 0 where there is no collider.
    pub(super) smallest: f64,
    pub(super) mobile: bool,
    vessel: bool,
    /// Whether it is a ball or a plane.
    pub(super) simple: bool,
    /// Whether it is too long for the periodic cell to hold two of it.
    fills: bool,
    /// Gap up to which others attract it (m), and the speed that one of them gives it in a step (m/s).
    range: f64,
    pulled: f64,
}

impl Mover {
    fn new(body: &Body, cached: &Cached, cell: &Cell) -> Self {
        let turns = if cached.radius.is_finite() { cached.radius } else { 0.0 };
        let mut speed = body.velocity.linear.length();
        if let Some(shear) = cell.shear {
            speed = (body.velocity.linear - cell.flow(body.pose.position)).length() + 2.0 * shear.rate.abs() * turns;
        }
        Self {
            position: body.pose.position,
            velocity: body.velocity.linear,
            speed,
            spin: body.velocity.angular.length() * turns,
            radius: cached.radius,
            smallest: cached.smallest,
            mobile: body.inertia.is_some(),
            vessel: matches!(cached.collider.shape, Shape::Vessel(_)),
            simple: cached.is_simple(),
            fills: false,
            range: 0.0,
            pulled: 0.0,
        }
    }

    /// How far a body can come within the reach of a step (m): its share of the gap that is looked into. One that is solid behind its surface has
    /// no smallest length; the smaller body of each of its pairs brings that share.
    #[inline]
    pub(super) fn reach(&self, scheme: &Scheme) -> f64 {
        let fall = if self.mobile { scheme.gravity.length() * scheme.time_step } else { 0.0 };
        let share = if self.smallest.is_finite() { scheme.reach_share * self.smallest } else { 0.0 };
        scheme.reach_steps * scheme.time_step * (self.speed + self.spin + fall + self.pulled) + share + self.range
    }

    /// How fast it comes nearer to another at most, its image standing so far from it (m/s).
    #[inline]
    fn closing(&self, other: &Self, shift: DVec3, scheme: &Scheme) -> f64 {
        (self.velocity - (other.velocity + scheme.cell.drift(shift))).length()
    }

    /// By how many lengths of the smaller one it goes past another in a step, with the fall of one.
    fn lengths_past(&self, other: &Self, shift: DVec3, scheme: &Scheme) -> f64 {
        let (size, h) = (self.smallest.min(other.smallest), scheme.time_step);
        if size > 0.0 { h * (self.closing(other, shift, scheme) + scheme.gravity.length() * h) / size } else { 0.0 }
    }

    /// Largest gap at which a pair of bodies gets contact points (m), the image of the other one standing so far from it (m).
    #[inline]
    pub(super) fn pair_reach(&self, other: &Self, shift: DVec3, scheme: &Scheme) -> f64 {
        self.reach_at(self.closing(other, shift, scheme) + self.spin + other.spin, other, scheme)
    }

    /// The same where they come nearer at this speed (m/s).
    #[inline]
    pub(super) fn reach_at(&self, closing: f64, other: &Self, scheme: &Scheme) -> f64 {
        let fall = scheme.gravity.length() * scheme.time_step;
        scheme.reach_steps * scheme.time_step * (closing + fall + self.pulled + other.pulled)
            + scheme.reach_share * self.smallest.min(other.smallest)
            + self.range.min(other.range)
    }
}

/// One of the walls around a sample: they go through each other at its edges, where they would hold what only the grains should hold.
///
/// ```
/// use drystone::geometry::{Shape, systems::Wall};
/// use drystone::simulation::{Body, Simulation};
/// let mut sim = Simulation::default();
/// let plate = sim.spawn_body(Body::new(Shape::cuboid(glam::DVec3::new(1.0, 1.0, 0.1))?))?;
/// sim.world_mut().entity_mut(plate).insert(Wall);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Clone, Copy, Debug)]
pub struct Wall;

/// Pairs of bodies that interact by a joint, a stop, a motor, gears … do not touch; those that have a relation of the user do. Walls do not
/// touch each other.
pub fn exclude_joined(mut proximity: ResMut<Proximity>, slots: Query<&Slot>, joints: Query<&Interaction>, walls: Query<&Slot, With<Wall>>) {
    let excluded = &mut proximity.excluded;
    excluded.clear();
    for wall in &walls {
        excluded.extend(walls.iter().filter(|other| other.0 > wall.0).map(|other| (wall.0, other.0)));
    }
    for joint in &joints {
        if !matches!(joint.relation, Relation::Joint(_) | Relation::Coordinate(_) | Relation::Transmission(_)) {
            continue;
        }
        let [Some(&one), Some(&two)] = [0, 1].map(|k| joint.systems.get(k)) else { continue };
        let (Ok(a), Ok(b)) = (slots.get(one), slots.get(two)) else { continue };
        excluded.push((a.0.min(b.0), a.0.max(b.0)));
    }
    excluded.sort_unstable();
    excluded.dedup();
}

/// Copies colliders that are new or changed, drops those of dead slots and those that were removed.
pub fn cache_colliders(
    mut proximity: ResMut<Proximity>,
    mut bodies: ResMut<Bodies>,
    scheme: Res<Scheme>,
    query: Query<(Entity, &Slot, Ref<Collider>)>,
    bare: Query<&Slot, Without<Collider>>,
) {
    proximity.cached.resize(bodies.rows.len(), None);
    for slot in &bare {
        if let Some(cached) = proximity.cached.get_mut(slot.0 as usize) {
            *cached = None;
        }
    }
    for (slot, row) in bodies.rows.iter().enumerate() {
        if !row.alive {
            proximity.cached[slot] = None;
        }
    }
    for (entity, slot, collider) in &query {
        let Some(entry) = proximity.cached.get_mut(slot.0 as usize) else { continue };
        if bodies.rows[slot.0 as usize].inertia.is_some()
            && let Some(surface) = collider.shape.surface_part()
        {
            bodies.refuse(entity, surface.cannot_move());
        }
        if entry.is_none() || collider.is_changed() {
            if let Err(reason) = collider.validate() {
                bodies.refuse(entity, reason);
                *entry = None;
                continue;
            }
            let row = &bodies.rows[slot.0 as usize];
            let (pose, moves) = (row.pose.compose(&collider.offset), wanders(&scheme.cell, row.inertia.is_some(), &row.locks));
            if let Err(reason) = fits_cell(&scheme.cell, &collider.shape, &pose, moves) {
                bodies.refuse(entity, reason);
                *entry = None;
                continue;
            }
            let (radius, smallest) = (collider.radius(), collider.shape.smallest_length());
            *entry = Some(Cached { collider: Collider::clone(&collider), radius, smallest });
            bodies.rows[slot.0 as usize].seen = None;
        }
    }
}

/// Whose boxes overlap: the only place that spawns and despawns contact pairs.
pub fn broad_phase(
    scheme: Res<Scheme>,
    mut bodies: ResMut<Bodies>,
    laws: Res<ContactLaws>,
    mut proximity: ResMut<Proximity>,
    mut commands: Commands,
) {
    let p = &mut *proximity;
    let Proximity { broad, images, cached, movers, bounds, near, found, .. } = p;
    let (count, adhere) = (bodies.rows.len(), laws.adhere());
    movers.resize(count, Mover::default());
    bounds.resize(count, Bound::default());
    images.prepare(scheme.cell, count, broad);
    let open = scheme.cell.is_open();
    let of = |(((row, cached), (mover, bound)), (entry, around)): (((&Body, &Option<Cached>), (&mut Mover, &mut Bound)), Leaf)| {
        (*mover, *bound, *around) = (Mover::default(), Bound::Nothing, Around::ALL);
        let Some(c) = cached.as_ref().filter(|_| row.alive) else { return };
        *mover = Mover::new(row, c, &scheme.cell);
        mover.fills = scheme.cell.too_long(mover.radius) && !wanders(&scheme.cell, mover.mobile, &row.locks);
        if adhere {
            let [force, range] = laws.attraction(c.collider.material);
            let pulled = row.inertia.map_or(0.0, |inertia| scheme.time_step * force / inertia.mass);
            // a step that is far too long for the attraction would make a row of every pair
            let pulled = pulled.min(PULLED * c.smallest / scheme.time_step);
            (mover.range, mover.pulled) = (range, pulled);
        }
        let (reach, pose) = (mover.reach(&scheme), c.place(&row.pose));
        *bound = if let Shape::HalfSpace { normal } = c.collider.shape {
            let normal = pose.vector(normal);
            Bound::HalfSpace(normal, normal.dot(pose.position) + reach)
        } else {
            let (low, high) = c.collider.shape.aabb(&pose);
            let (low, high) = (low - reach, high + reach);
            if open {
                *around = Around::new(row.pose.position, c.radius + reach);
            }
            if open && entry.keep(low, high) { Bound::Kept(low, high) } else { Bound::Box(low, high) }
        };
    };
    let (entries, around) = broad.entries(count);
    if share(Part::Broad, count, BODIES) {
        let all = bodies.rows.par_iter().zip(&*cached).zip(movers.par_iter_mut().zip(&mut *bounds));
        all.zip(entries.par_iter_mut().zip(around)).with_min_len(BODIES / 4).for_each(of);
    } else {
        bodies.rows.iter().zip(&*cached).zip(movers.iter_mut().zip(&mut *bounds)).zip(entries.iter_mut().zip(around)).for_each(of);
    }
    // where so many leave their skins that all candidates are sought, every box that moves gets a new one, so that they last together
    let anew = open && FEW * bounds.iter().filter(|bound| matches!(bound, Bound::Box(..))).count() > count;
    for (slot, bound) in bounds.iter().enumerate() {
        let way = scheme.time_step * movers[slot].velocity;
        match *bound {
            Bound::Nothing => images.remove(broad, slot as u32),
            Bound::Kept(low, high) if anew && movers[slot].mobile => broad.set_moving(slot as u32, 0, [low, high], way),
            Bound::Kept(..) => {}
            Bound::Box(low, high) if open => broad.set_moving(slot as u32, 0, [low, high], way),
            Bound::Box(low, high) => {
                let mover = &movers[slot];
                let around = Around::new(mover.position, mover.radius + mover.reach(&scheme));
                images.set_box(broad, slot as u32, [low, high], Content { way, around });
            }
            Bound::HalfSpace(normal, offset) => broad.set_half_space(slot as u32, normal, offset),
        }
    }
    if let Err(crowd) = images.pairs(broad, found) {
        return refuse_crowd(&mut bodies, &crowd, cached, movers, &scheme);
    }
    near.resize(found.len(), false);
    let excluded = &p.excluded;
    let meet = |(&(i, j), near): (&(u32, u32), &mut bool)| {
        let (a, b) = (&movers[i as usize], &movers[j as usize]);
        let shift = image_shift(&scheme.cell, [a, b]);
        let within = a.radius + b.radius + a.pair_reach(b, shift, &scheme);
        let mut meet = a.position.distance_squared(b.position + shift) <= within * within;
        if (a.vessel || b.vessel)
            && let [Some(one), Some(two)] = [&cached[i as usize], &cached[j as usize]]
        {
            let inside = |vessel: &Cached, at: u32, other: &Cached, x: DVec3| match &vessel.collider.shape {
                Shape::Vessel(v) => {
                    v.distance(vessel.place(&bodies.rows[at as usize].pose).local_point(x)) > other.radius + a.pair_reach(b, shift, &scheme)
                }
                _ => false,
            };
            // most of what a vessel holds is far from its walls
            meet &= !inside(one, i, two, b.position) && !inside(two, j, one, a.position);
        }
        *near = meet && (a.mobile || b.mobile) && excluded.binary_search(&(i, j)).is_err();
    };
    if share(Part::Broad, found.len(), MANY) {
        found.par_iter().zip(&mut *near).with_min_len(MANY / 4).for_each(meet);
    } else {
        found.iter().zip(&mut *near).for_each(meet);
    }
    let met = near.iter().filter(|near| **near).count();
    let meeting = || found.iter().zip(&*near).filter(|(_, near)| **near).map(|(&pair, _)| pair);
    let still = Mover { smallest: f64::INFINITY, ..Mover::default() };
    if movers.iter().any(|m| m.lengths_past(&still, DVec3::ZERO, &scheme) > FAR) {
        let crowded = met > PAIRS.each * count;
        let goes = |(i, j): (u32, u32)| {
            let [a, b] = [i, j].map(|k| &movers[k as usize]);
            a.lengths_past(b, image_shift(&scheme.cell, [a, b]), &scheme)
        };
        let mut ways = meeting().map(|pair| (pair, goes(pair)));
        if let Some((pair, way)) = ways.find(|(_, way)| *way > ABSURD || crowded && *way > FAR) {
            let crowd = if way > ABSURD { String::new() } else { format!(", among {met} pairs of {count} bodies that may meet in it") };
            return refuse_leap(&mut bodies, (pair, way), &crowd, movers, &scheme);
        }
    }
    if met > PAIRS.of(count) {
        let crowd = Crowd::of(meeting(), count, |k| movers[k as usize].radius.is_finite());
        return refuse_crowd(&mut bodies, &crowd, cached, movers, &scheme);
    }
    p.next.clear();
    let mut old = p.table.iter().peekable();
    for (&(i, j), _) in p.found.iter().zip(&p.near).filter(|(_, near)| **near) {
        while let Some((_, _, gone)) = old.next_if(|&&(oi, oj, _)| (oi, oj) < (i, j)) {
            commands.entity(*gone).despawn();
        }
        let entity = match old.next_if(|&&(oi, oj, _)| (oi, oj) == (i, j)) {
            Some(&(_, _, kept)) => kept,
            None => {
                let rows = [i, j].map(|s| bodies.rows[s as usize].entity);
                let ([Some(ea), Some(eb)], Some(ca), Some(cb)) = (rows, &p.cached[i as usize], &p.cached[j as usize]) else { continue };
                let law = ca.law(cb, &laws);
                let size = ca.smallest.min(cb.smallest);
                let pair = ContactPair { bodies: [ea, eb], slots: [i, j], law, size, shift: DVec3::ZERO };
                commands.spawn((pair, Manifold::default())).id()
            }
        };
        p.next.push((i, j, entity));
    }
    old.for_each(|(_, _, gone)| commands.entity(*gone).despawn());
    std::mem::swap(&mut p.table, &mut p.next);
}

/// Refuses the bodies of a crowd, by one of them.
pub(super) fn refuse_crowd(bodies: &mut Bodies, crowd: &Crowd, cached: &[Option<Cached>], movers: &[Mover], scheme: &Scheme) {
    let (slot, h) = (crowd.leaf as usize, scheme.time_step);
    if let (Some(Some(c)), Some(entity)) = (cached.get(slot), bodies.rows[slot].entity) {
        let (kind, size, reach) = (c.collider.shape.kind(), c.smallest, movers[slot].reach(scheme));
        let reason = format!(
            "{crowd} (a {kind} of {size:.1e} m that looks {reach:.1e} m around itself in a step of {h} s); are sizes and places in the same \
            unit, and is the step short enough?"
        );
        bodies.refuse(entity, reason);
    }
}

/// Refuses the smaller mobile one of a pair that goes so many lengths of the smaller one past the other.
fn refuse_leap(bodies: &mut Bodies, ((i, j), way): ((u32, u32), f64), crowd: &str, movers: &[Mover], scheme: &Scheme) {
    // what has no velocity that is a number is told as such, once loads have been looked at
    if !way.is_finite() {
        return;
    }
    let [a, b] = [i, j].map(|k| &movers[k as usize]);
    let (slot, own) = if a.mobile && a.smallest <= b.smallest || !b.mobile { (i, a.smallest) } else { (j, b.smallest) };
    let size = a.smallest.min(b.smallest);
    let whose = if own <= size { "its lengths" } else { "the lengths of what it passes" };
    let Some(entity) = bodies.rows[slot as usize].entity else { return };
    let (h, g) = (scheme.time_step, scheme.gravity.length());
    // way = h (v + g h): by the speed alone, and by the fall alone
    let speed = way * size / h - g * h;
    let needed = (size / speed.max(f64::MIN_POSITIVE)).min((size / g.max(f64::MIN_POSITIVE)).sqrt());
    let reason = format!(
        "it would go {way:.1e} of {whose} ({size:.1e} m) past another body within a step of {h} s{crowd}; \
         a time step of {needed:.1e} s is short enough for one"
    );
    bodies.refuse(entity, reason);
}

/// Where the image of the second body stands that meets the first, from the second (m).
#[inline]
pub(super) fn image_shift(cell: &Cell, pair: [&Mover; 2]) -> DVec3 {
    if cell.is_open() {
        return DVec3::ZERO;
    }
    Placed::shift(cell, pair.map(|m| Placed { position: m.position, bounded: m.radius.is_finite(), fills: m.fills }))
}

/// Part of a body that attraction may move it by in a step, for the reach of its contacts.
const PULLED: f64 = 0.05;
/// Lengths of a body that it may go past another one in a step: with as many the first step of a vault takes 0.3 s, with a few times as many it did not end in an
/// hour. Where bodies have as many others near them as no grains can (see above) in steps of this many lengths, it did not either.
const ABSURD: f64 = 1e6;
const FAR: f64 = 100.0;
/// Bodies that are worth a second thread.
const BODIES: usize = 512;
/// Candidates of the broad phase that are, or pairs that may meet.
pub(super) const MANY: usize = 4096;
