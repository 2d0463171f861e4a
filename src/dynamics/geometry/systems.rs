//! Broad phase and narrow phase: from colliders to contact pairs and their points.

use super::ahead_systems::Course;
use super::broad::{Around, BroadPhase, Content, Entry, FEW};
use super::deep::one_way_out;
use super::images::{Images, fits_cell, wanders};
use super::linked::Link;
use super::narrow::{ContactPoint, Scratch, contact_points};
use super::shapes::Shape;
use super::sweep::{Met, Moving, SAME_WAY, pass_by, sweep};
use super::ways::{Crossing, own_way};
use crate::algebra::pieces::{self, Part, share};
use crate::algebra::spatial::Pose;
use crate::model::contact::{ContactPair, Manifold, Swept, Touch, inherit};
use crate::model::crushing::CrushingJoints;
use crate::model::interaction::Interaction;
use crate::model::law::{ContactLaws, CoulombImpact};
use crate::model::periodic::Cell;
use crate::model::relation::Relation;
use crate::model::scheme::{Clock, Scheme, Treatment};
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;
use rayon::prelude::*;

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
    /// What those need who work on pairs at the same time.
    hands: Vec<Hand>,
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
}

/// Memory for the narrow phase of one pair after the other.
#[derive(Debug, Default)]
struct Hand {
    scratch: Scratch,
    points: Vec<ContactPoint>,
    met: Vec<Met>,
    touches: Vec<Touch>,
    completed: Vec<Touch>,
    /// Pairs whose law has changed.
    changed: Vec<usize>,
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

    /// Largest gap at which a pair of bodies gets contact points (m), the image of the other one standing so far from it (m).
    #[inline]
    pub(super) fn pair_reach(&self, other: &Self, shift: DVec3, scheme: &Scheme) -> f64 {
        let closing = (self.velocity - (other.velocity + scheme.cell.drift(shift))).length() + self.spin + other.spin;
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
        let unbounded = matches!(collider.shape, Shape::HalfSpace { .. } | Shape::HeightField(_) | Shape::Vessel(_));
        if unbounded && bodies.rows[slot.0 as usize].inertia.is_some() {
            bodies.refuse(entity, format!("a {} can only be static or driven", collider.shape.kind()));
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
    if share(Part::Broad, count, MANY) {
        let all = bodies.rows.par_iter().zip(&*cached).zip(movers.par_iter_mut().zip(&mut *bounds));
        all.zip(entries.par_iter_mut().zip(around)).with_min_len(MANY / 4).for_each(of);
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
    images.pairs(broad, found);
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

/// Where the image of the second body stands that meets the first, from the second (m). Bodies that fill the cell are met where they
/// stand, by the image of the other one in the cell.
#[inline]
pub(super) fn image_shift(cell: &Cell, [a, b]: [&Mover; 2]) -> DVec3 {
    // a half-space is the same everywhere along the cell
    if cell.is_open() || a.radius.is_infinite() || b.radius.is_infinite() {
        return DVec3::ZERO;
    }
    match (a.fills, b.fills) {
        (false, false) => cell.nearest(b.position - a.position),
        (false, true) => -cell.home(a.position).0,
        _ => cell.home(b.position).0,
    }
}

/// Part of a body that attraction may move it by in a step, for the reach of its contacts.
const PULLED: f64 = 0.05;
/// Bodies or candidates of the broad phase that are worth a second thread.
pub(super) const MANY: usize = 4096;
/// The same of pairs.
const PAIRS: usize = 512;

/// Gaps, normals and points of every pair; impulses are inherited from the points before.
pub fn narrow_phase(
    (scheme, clock): (Res<Scheme>, Res<Clock>),
    (laws, crushing): (Res<ContactLaws>, Res<CrushingJoints>),
    bodies: Res<Bodies>,
    mut proximity: ResMut<Proximity>,
    mut pairs: Query<(&mut ContactPair, &mut Manifold)>,
) {
    let Proximity { cached, movers, hands, .. } = &mut *proximity;
    let detection = Detection { scheme: &scheme, last: clock.last, laws: &laws, crushing: &crushing, bodies: &bodies.rows, cached, movers };
    // both components live in tables, so there are slices of them
    let Ok(tables) = pairs.contiguous_iter_mut() else { return };
    for (mut pairs, mut manifolds) in tables {
        manifolds.mark_all_as_changed();
        let (all, points) = (pairs.bypass_change_detection(), manifolds.bypass_change_detection());
        let shared = share(Part::Narrow, all.len(), PAIRS);
        let length = if shared { pieces::length(all.len()) } else { all.len().max(1) };
        hands.resize_with(all.len().div_ceil(length).max(hands.len()), Hand::default);
        let find = |(k, ((pairs, manifolds), hand)): (usize, ((&mut [ContactPair], &mut [Manifold]), &mut Hand))| {
            hand.changed.clear();
            for (number, (pair, manifold)) in (k * length..).zip(pairs.iter_mut().zip(manifolds)) {
                detection.find(number, pair, manifold, hand);
            }
        };
        if shared {
            all.par_chunks_mut(length).zip(points.par_chunks_mut(length)).zip(&mut *hands).enumerate().for_each(find);
        } else {
            all.chunks_mut(length).zip(points.chunks_mut(length)).zip(&mut *hands).enumerate().for_each(find);
        }
        let (now, changed) = (pairs.this_run_tick(), pairs.changed_ticks_slice_mut());
        hands.iter_mut().flat_map(|hand| hand.changed.drain(..)).for_each(|number| changed[number] = now);
    }
}

/// What the narrow phase reads.
struct Detection<'a> {
    scheme: &'a Scheme,
    /// Length of the step before (s).
    last: f64,
    laws: &'a ContactLaws,
    crushing: &'a CrushingJoints,
    bodies: &'a [Body],
    cached: &'a [Option<Cached>],
    movers: &'a [Mover],
}

impl Detection<'_> {
    /// The points of a pair.
    fn find(&self, number: usize, pair: &mut ContactPair, manifold: &mut Manifold, hand: &mut Hand) {
        let Self { scheme, last, laws, crushing, bodies, cached, movers } = *self;
        let Hand { scratch, points, met, touches, completed, changed } = hand;
        let [i, j] = pair.slots.map(|s| s as usize);
        let (Some(a), Some(b)) = (&cached[i], &cached[j]) else { return };
        // at every step: laws and materials may have changed since the pair was born
        let law = a.law(b, laws);
        if pair.law != law {
            pair.law = law;
            changed.push(number);
        }
        let rows = (&bodies[i], &bodies[j]);
        pair.shift = image_shift(&scheme.cell, [&movers[i], &movers[j]]);
        let reach = movers[i].pair_reach(&movers[j], pair.shift, scheme);
        let drift = scheme.cell.drift(pair.shift);
        // what an impact of the step before still owes
        completed.clear();
        let ways = [rows.0.velocity.linear * last, (rows.1.velocity.linear + drift) * last];
        completed.extend(manifold.points.iter().filter_map(|t| t.completion(ways)));
        touches.clear();
        // the reach exceeds the way of the step, so few pairs are looked at twice
        let swept = reach > FAST * pair.size && {
            let pending = |t: &Touch| t.approach != DVec3::ZERO || t.swept == Swept::Impact && t.reaction != DVec3::ZERO;
            let at_start = if manifold.points.iter().any(pending) { LANDED } else { 0.0 };
            let mut moving = [moving(a, rows.0, scheme), moving(b, rows.1, scheme)];
            moving[1].pose.position += pair.shift;
            moving[1].linear += drift;
            is_fast(&moving, pair.size, scheme) && sweep(moving, scheme.time_step, pair.size, at_start, scratch, points, met)
        };
        if swept {
            touches.extend(met.iter().map(|m| Touch { swept: if m.later { Swept::Impact } else { Swept::No }, ..touch(&m.point) }));
        } else {
            points.clear();
            let (pose1, pose2) = (a.place(&rows.0.pose), b.place(&rows.1.pose.shifted(pair.shift)));
            contact_points(&a.collider.shape, &pose1, &b.collider.shape, &pose2, reach, scratch, points);
            one_way_out([(&a.collider.shape, pose1), (&b.collider.shape, pose2)], pair.size, scratch, points);
            touches.extend(points.iter().filter(|p| !p.is_flush()).map(touch));
            let gap_aware = matches!(scheme.treatment, Treatment::GapAware { .. });
            if gap_aware && a.collider.shape.is_round() != b.collider.shape.is_round() {
                let own =
                    |c, body: &Body| Moving { linear: body.velocity.linear, angular: body.velocity.angular, ..moving(c, body, scheme) };
                let mut bodies = [own(a, rows.0), own(b, rows.1)];
                bodies[1].pose.position += pair.shift;
                bodies[1].linear += drift;
                pass_by(touches, bodies, [scheme.time_step, scheme.touch * pair.size], scratch, points);
            }
            let poses = [&rows.0.pose, &rows.1.pose.shifted(pair.shift)];
            for (number, joint) in crushing.of(pair).iter().enumerate() {
                if joint.lasts(poses) {
                    joint.put(number, poses, reach, touches);
                } else {
                    joint.forgive(touches);
                }
            }
        }
        if touches.is_empty() && manifold.points.is_empty() {
            return;
        }
        // bodies have just moved at the velocities they have now
        let centres = [rows.0.pose.position, rows.1.pose.position + pair.shift];
        let carried = |x: DVec3| {
            [(rows.0, centres[0], DVec3::ZERO), (rows.1, centres[1], drift)]
                .map(|(b, centre, drift)| x + (b.velocity.linear + drift + (b.pose.rotation * b.velocity.angular).cross(x - centre)) * last)
        };
        inherit(&mut manifold.points, touches, pair.size, carried);
        for new in touches.iter_mut().filter(|t| t.swept == Swept::Impact) {
            // bodies that are still to meet do not part
            (new.approach, new.taken) = (DVec3::ZERO, 0.0);
        }
        complete(completed, touches, LANDED * pair.size);
        if pair.law.adhesion > 0.0 {
            pair.bridge(&manifold.points, touches, ways[0].distance(ways[1]));
        }
        manifold.points.clear();
        manifold.points.extend_from_slice(touches);
    }
}

/// Pairs whose relative way in a step exceeds this part of the smaller body's smallest length are swept.
pub(super) const FAST: f64 = 0.5;
/// Angle (rad) from which on a turn of its own makes a pair fast: a long thin body goes far at much less, and its rows hold.
pub(super) const FAR: f64 = 0.25;
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
    let turns = scheme.time_step * (moving[0].angular.length() + moving[1].angular.length()) >= FAR;
    let swing = if turns { moving[0].swing + moving[1].swing } else { 0.0 };
    let h = scheme.time_step;
    let way = h * (moving[0].linear - moving[1].linear);
    let turning = [0, 1].map(|k| if turns { DVec3::ZERO } else { h * (moving[k].pose.rotation * moving[k].angular) });
    let closing = own_way(way, turning, moving[0].pose.position - moving[1].pose.position) + swing;
    !plane && matches!(scheme.treatment, Treatment::GapAware { .. }) && closing > FAST * size
}

/// Completes the impacts of the step before: at the points where the bodies still touch, or else by rows of their own.
fn complete(completed: &[Touch], touches: &mut Vec<Touch>, near: f64) {
    for old in completed {
        let same_way = |t: &Touch| t.normal.dot(old.normal) > SAME_WAY;
        let lasting = |t: &Touch| t.swept == Swept::No && t.gap <= near && same_way(t);
        // what an impact took is given back once
        let inherited = |t: &Touch| t.swept == Swept::No && (t.approach, t.taken) == (old.approach, old.taken);
        if touches.iter().any(lasting) {
            let owing = |t: &Touch| (t.approach != DVec3::ZERO, t.point1.distance_squared(old.point1));
            let order = |a: &(bool, f64), b: &(bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
            if !touches.iter().any(|t| inherited(t) && same_way(t))
                && let Some(point) = touches.iter_mut().filter(|t| lasting(t)).min_by(|a, b| order(&owing(a), &owing(b)))
            {
                (point.approach, point.taken) = (old.approach, old.taken);
            }
            continue;
        }
        touches.retain(|t| t.swept != Swept::Impact || !same_way(t));
        for heir in touches.iter_mut().filter(|t| inherited(t)) {
            (heir.approach, heir.taken) = (DVec3::ZERO, 0.0);
        }
        touches.push(*old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(x: f64, gap: f64, speed: f64, swept: Swept) -> Touch {
        Touch { normal: DVec3::Z, point1: DVec3::X * x, gap, approach: DVec3::Z * speed, taken: speed, swept, ..Touch::default() }
    }

    fn owed(completed: &[Touch], touches: &[Touch]) -> Vec<f64> {
        let mut touches = touches.to_vec();
        complete(completed, &mut touches, 1e-6);
        let mut owed: Vec<f64> = touches.iter().map(|t| t.taken).collect();
        owed.sort_by(f64::total_cmp);
        owed
    }

    #[test]
    fn what_an_impact_took_is_given_back_once() {
        let old = |x, speed| touch(x, 0.0, speed, Swept::After);
        let new = |x, gap, speed| touch(x, gap, speed, Swept::No);
        // one that is still apart has inherited it, and the impact has a row of its own
        assert_eq!(owed(&[old(0.0, 5.0)], &[new(0.0, 1e-5, 5.0)]), [0.0, 5.0]);
        // another lasts
        assert_eq!(owed(&[old(0.0, 5.0), old(1.0, 7.0)], &[new(0.0, 0.0, 5.0), new(1.0, 1e-5, 7.0)]), [5.0, 7.0]);
        // nothing is inherited: the nearest that owes nothing
        assert_eq!(owed(&[old(0.0, 5.0), old(0.1, 7.0)], &[new(0.0, 0.0, 0.0), new(1.0, 0.0, 0.0)]), [5.0, 7.0]);
        assert_eq!(owed(&[old(0.0, 5.0)], &[new(0.0, 0.0, 5.0), new(1.0, 0.0, 0.0)]), [0.0, 5.0]);
    }
}
