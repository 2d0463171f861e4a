//! After the solve: overlaps at the end of the step and on the way to it that its rows do not hold.

use super::broad::Content;
use super::deep::DEEP;
use super::linked::{Link, WORLD, wait_together};
use super::narrow::{ContactPoint, contact_points};
use super::narrow_systems::{FAR, FAST};
use super::shapes::Shape;
use super::sweep::SAME_WAY;
use super::systems::{Cached, MANY, Mover, Proximity, image_shift, is_stopped, refuse_crowd};
use super::ways::{Crossing, Limits, Met, Way, first_overlap, own_way, turn_between};
use crate::algebra::pieces::{self, Part, each_piece, share};
use crate::algebra::spatial::{Pose, rotate_exp};
use crate::model::contact::{ContactPair, Foreseen, Foresight, Manifold, Swept, Touch, presses_alone};
use crate::model::crushing::CrushingJoints;
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::law::ContactLaws;
use crate::model::relation::Relation;
use crate::model::scheme::{Scheme, Treatment};
use crate::topology::bodies::{Bodies, Body, Slot};
use bevy_ecs::prelude::*;
use glam::DVec3;
use rayon::prelude::*;

/// Steps in which a body moves by less than this share of its smallest length leave contacts as they were found.
const STILL: f64 = 2.5e-3;
/// Overlap at the end of a step, in parts of the smaller body's smallest length, that needs no further pass.
const MISSED: f64 = 3e-4;
/// The same for balls, planes and vessels, whose rows miss by what the solver leaves alone, and by how much balls and planes have to go beyond
/// their reach to be looked at. (With the tighter one for vessels each step of a hopper of 20 000 grains took nine passes.)
const THROWN: f64 = 5e-3;

/// Overlap on the way of a fast pair, in parts of the smaller body's smallest length, at which they count as met.
const MET: f64 = 1e-3;
/// How far a contact may wander in a step, in parts of the smaller body's radius, and be the same one that rolls on: corners are farther apart.
const ROLLED: f64 = 0.25;
/// The same for the only point of a rim, which may go far round: farther than this nothing that turns about the one place holds the other.
pub(super) const ROUND: f64 = 0.75;
/// Gap, in parts of that length, up to which points of the patch belong to the same meeting.
const PATCH: f64 = 0.5;
/// A body that moves by less than this part of the other one's way does not stop for it.
const SLOWER: f64 = 0.25;
/// Rounds in which bodies are stopped; each shortens a way, so that nothing is left to stop at last.
const STOPS: usize = 256;

/// How a body turns in the step (rad, body axes).
fn turn_of(body: &Body, h: f64) -> DVec3 {
    turn_between(body.pose.rotation, body.new_pose.rotation, h * body.new_velocity.angular)
}

/// The way of the body in a slot through the step.
fn way<'a>(c: &'a Cached, body: &Body, slot: usize, bulges: &[DVec3], h: f64, until: f64) -> Way<'a> {
    let bulge = bulges.get(slot).copied().unwrap_or_default();
    let round = matches!(c.collider.shape, Shape::Ball { .. }) && c.collider.offset.position == DVec3::ZERO;
    let still = round || body.pose.rotation == body.new_pose.rotation && body.new_velocity.angular == DVec3::ZERO;
    let turn = || turn_of(body, h);
    Way {
        shape: &c.collider.shape,
        offset: c.collider.offset,
        pose: body.pose,
        shift: body.new_pose.position - body.pose.position,
        turn: if still { DVec3::ZERO } else { turn() },
        bulge,
        radius: if round || !c.radius.is_finite() { 0.0 } else { c.radius },
        until,
    }
}

/// What most pairs are judged by: the velocity of a body at the end of the step (m/s), its way (m), and whether that goes beyond what its rows
/// looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    velocity: DVec3,
    shift: DVec3,
    beyond: bool,
}

/// What places that are alike may differ by, in parts of them: rounding has no way that a chain could follow in a few rounds.
const PLACES: f64 = 16.0 * f64::EPSILON;

/// Lists the joints, and by how much their bodies leave the straight way.
fn link(
    joints: &Query<&Interaction, With<OfBodies>>,
    slots: &Query<&Slot>,
    bodies: &Bodies,
    h: f64,
    to: (&mut Vec<Link>, &mut Vec<DVec3>),
) {
    let (links, bulges) = to;
    links.clear();
    bulges.clear();
    if joints.is_empty() {
        return;
    }
    let slot = |e: Entity| slots.get(e).ok().map(|s| s.0);
    // where an anchor is at the start, in the middle and at the end of the step
    let places = |slot: u32, anchor: DVec3| {
        let Some(body) = bodies.rows.get(slot as usize) else { return [anchor; 3] };
        let position = body.pose.position.midpoint(body.new_pose.position);
        let rotation = rotate_exp(body.pose.rotation, 0.5 * turn_of(body, h));
        [body.pose, Pose { position, rotation }, body.new_pose].map(|pose| pose.point(anchor))
    };
    for interaction in joints {
        let Relation::Joint(joint) = &interaction.relation else { continue };
        let [Some(&one), two] = [0, 1].map(|k| interaction.systems.get(k)) else { continue };
        let (Some(a), Some(b)) = (slot(one), two.map_or(Some(WORLD), |&e| slot(e))) else { continue };
        let [p, q] = [places(a, joint.frames[0].position), places(b, joint.frames[1].position)];
        // joints that hold no point let it go its own way
        let holds = joint.kind.translations() == 3;
        let apart = p[1] - q[1] - 0.5 * ((p[0] - q[0]) + (p[2] - q[2]));
        let size = p.iter().chain(&q).map(|x| x.abs().max_element()).fold(0.0, f64::max);
        let apart = if holds && apart.abs().max_element() > PLACES * size { apart } else { DVec3::ZERO };
        links.push(Link { slots: [a, b], apart });
    }
    // the order of entities is not that of a resumed run
    links.sort_by(|a, b| (a.slots, a.apart.to_array().map(f64::to_bits)).cmp(&(b.slots, b.apart.to_array().map(f64::to_bits))));
    bulges.resize(bodies.rows.len(), DVec3::ZERO);
    let inverse_mass = |slot: u32| {
        let body = &bodies.rows[slot as usize];
        let free = DVec3::from_array(body.locks.translation.map(|l| if l { 0.0 } else { 1.0 }));
        body.inertia.map_or(DVec3::ZERO, |inertia| free / inertia.mass)
    };
    super::linked::bulges(links, inverse_mass, bulges);
}

/// Whether the rows of a pair cannot be trusted because it moves too far within the step, before or after its impacts.
/// `image` is where that of the second body stands which the first meets, from it, and how much farther that goes.
#[inline]
fn is_fast(bodies: [&Body; 2], shapes: [&Cached; 2], [image, gone]: [DVec3; 2], size: f64, h: f64) -> bool {
    let simple = shapes.iter().all(|c| c.is_simple());
    let plane = shapes.iter().any(|c| matches!(c.collider.shape, Shape::HalfSpace { .. }));
    let spin = |k: usize| if shapes[k].radius.is_finite() { bodies[k].new_velocity.angular.length() * shapes[k].radius } else { 0.0 };
    // what turns by less has its corners looked at when the step ends
    let angle = h * (bodies[0].new_velocity.angular.length() + bodies[1].new_velocity.angular.length());
    let swing = if simple || angle < FAR { 0.0 } else { h * (spin(0) + spin(1)) };
    let [shift1, shift2] = bodies.map(|b| b.new_pose.position - b.pose.position);
    let before = h * (bodies[0].velocity.linear - bodies[1].velocity.linear) - gone;
    let (way, apart) = (shift1 - shift2 - gone, bodies[0].pose.position - (bodies[1].pose.position + image));
    // balls look the same however they turn
    let turns = |angular: fn(&Body) -> DVec3| {
        [0, 1].map(|k| {
            let rides = angle < FAR && !shapes[k].is_simple();
            if rides { h * (bodies[k].pose.rotation * angular(bodies[k])) } else { DVec3::ZERO }
        })
    };
    let before = own_way(before, turns(|b| b.velocity.angular), apart);
    let after = own_way(way, turns(|b| b.new_velocity.angular), apart) + swing;
    !(simple && plane) && before.max(after) > FAST * size
}

/// Whether two bodies come near each other at all on their ways; `image` is where that of the second stands which the first meets, from it, and
/// how much farther that goes.
#[inline]
fn come_near(bodies: [&Body; 2], [image, gone]: [DVec3; 2], near: f64) -> bool {
    let [shift1, shift2] = bodies.map(|b| b.new_pose.position - b.pose.position);
    let (x, d) = (bodies[0].pose.position - (bodies[1].pose.position + image), shift1 - shift2 - gone);
    let s = if d == DVec3::ZERO { 0.0 } else { (-x.dot(d) / d.length_squared()).clamp(0.0, 1.0) };
    (x + s * d).length_squared() <= near * near
}

/// The point at which the bodies pressed on each other in the step before near the place where they touch at the end of this one, or of the same rim,
/// which has gone `round`.
fn near_a_load(manifold: Option<&Manifold>, touch: &Touch, shapes: [&Cached; 2], round: bool) -> Option<usize> {
    let radius = shapes.iter().map(|c| c.radius).fold(f64::INFINITY, f64::min);
    let loaded = |t: &Touch| {
        let way = t.point1.distance(touch.point1).min(t.point2.distance(touch.point2));
        let near = if round && t.feature == touch.feature { ROUND } else { ROLLED };
        t.reaction != DVec3::ZERO && way < near * radius
    };
    manifold.and_then(|m| m.points.iter().position(loaded))
}

/// How far a pair may overlap on its way.
fn limits(scheme: &Scheme, beta: f64, size: f64) -> Limits {
    Limits { size, more: MET * size, deep: DEEP * size, back: [beta, scheme.time_step * scheme.push_out(size)] }
}

/// Looks for overlaps at the end of the step that its rows do not hold, and on the way of fast pairs: rows are linear in the velocities,
/// but corners swing round, and slide off one face onto the next; and what an impact deflects, turns or throws may meet something else.
/// Only pairs that move are looked at; slow balls and planes only where an impact has thrown or stopped one of them, so that they go beyond
/// what the rows looked at.
pub fn foresee(
    scheme: Res<Scheme>,
    mut bodies: ResMut<Bodies>,
    laws: Res<ContactLaws>,
    mut proximity: ResMut<Proximity>,
    mut foresight: ResMut<Foresight>,
    (manifolds, crushing): (Query<&Manifold>, Res<CrushingJoints>),
    (joints, slots_of): (Query<&Interaction, With<OfBodies>>, Query<&Slot>),
) {
    (foresight.missed, foresight.thrown) = (false, false);
    let Treatment::GapAware { beta } = scheme.treatment else { return };
    let Proximity {
        broad,
        images,
        cached,
        movers,
        found,
        ahead,
        sought,
        table,
        excluded,
        scratch,
        points,
        crossings,
        first,
        crossed,
        links,
        bulges,
        struck,
        courses,
        stop,
        cut,
        ..
    } = &mut *proximity;
    let (h, rows) = (scheme.time_step, bodies.rows.as_slice());
    let spin = |body: &Body, radius: f64| if radius.is_finite() { body.new_velocity.angular.length() * radius } else { 0.0 };
    // in a sheared cell against the flow, with which all go
    let own = |body: &Body| body.new_velocity.linear - scheme.cell.flow(body.pose.position);
    let travel = |body: &Body, m: &Mover| h * (own(body).length() + spin(body, m.radius));
    let smallest = movers.iter().map(|m| m.smallest).filter(|&length| length > 0.0).fold(f64::INFINITY, f64::min);
    struck.clear();
    struck.resize(rows.len(), false);
    courses.resize(rows.len(), Course::default());
    // whether it moves; whether it was thrown farther than the broad phase looked; and whether it was struck: two that fell side by side
    // come together where one of them is stopped
    let look = |((body, m), (struck, course)): ((&Body, &Mover), (&mut bool, &mut Course))| {
        if m.smallest <= 0.0 {
            return [false; 3];
        }
        let (way, reach) = (travel(body, m), m.reach(&scheme));
        let (velocity, shift) = (body.new_velocity.linear, body.new_pose.position - body.pose.position);
        *course = Course { velocity, shift, beyond: way > reach + THROWN * m.smallest };
        let still = if m.simple { reach + THROWN * m.smallest } else { STILL * m.smallest };
        let moves = way > still || way.max(h * m.velocity.length()) > 0.5 * FAST * smallest;
        *struck = m.simple && h * body.new_velocity.linear.distance(m.velocity) > 0.5 * THROWN * smallest;
        [moves, way > reach && m.radius.is_finite(), *struck]
    };
    let any = |a: [bool; 3], b: [bool; 3]| [a[0] | b[0], a[1] | b[1], a[2] | b[2]];
    let [moving, thrown, some] = if share(Part::Ahead, rows.len(), MANY) {
        let all = rows.par_iter().zip(&*movers).zip(struck.par_iter_mut().zip(&mut *courses));
        all.with_min_len(MANY / 4).map(look).reduce(|| [false; 3], any)
    } else {
        rows.iter().zip(&*movers).zip(struck.iter_mut().zip(&mut *courses)).map(look).fold([false; 3], any)
    };
    if !(moving || some) {
        return;
    }
    for (slot, (body, m)) in rows.iter().zip(&*movers).enumerate().filter(|_| thrown) {
        let reach = m.reach(&scheme);
        let Some(c) = cached[slot].as_ref().filter(|_| m.smallest > 0.0 && m.radius.is_finite() && travel(body, m) > reach) else {
            continue;
        };
        let (low, high) = c.collider.shape.aabb(&c.place(&body.pose));
        let (low_end, high_end) = c.collider.shape.aabb(&c.place(&body.new_pose));
        images.set_box(broad, slot as u32, [(low - reach).min(low_end), (high + reach).max(high_end)], Content::UNKNOWN);
    }
    foresight.thrown = thrown;
    if thrown && let Err(crowd) = images.pairs(broad, ahead) {
        return refuse_crowd(&mut bodies, &crowd, cached, movers, &scheme);
    }
    crossings.clear();
    crossed.clear();
    link(&joints, &slots_of, &bodies, h, (links, bulges));
    // most pairs need no look: these are left out first, by all threads
    let near = |&(i, j): &(u32, u32)| {
        let slots = [i as usize, j as usize];
        if !moving && !slots.iter().any(|&k| struck[k]) {
            return false;
        }
        let [m1, m2] = slots.map(|k| &movers[k]);
        let (size, simple) = (m1.smallest.min(m2.smallest), m1.simple && m2.simple);
        if size <= 0.0 || !(m1.mobile || m2.mobile) {
            return false;
        }
        let [one, two] = slots.map(|k| &courses[k]);
        let shift = image_shift(&scheme.cell, [m1, m2]);
        let drift = scheme.cell.drift(shift);
        let gone = h * drift;
        let meet = || h * one.velocity.distance(two.velocity + drift) > m1.pair_reach(m2, shift, &scheme);
        if simple {
            // nothing more is asked of most pairs of a pour: rows of balls and planes hold, where there are rows
            let plane = m1.radius.is_infinite() || m2.radius.is_infinite();
            let before = (h * (m1.velocity - m2.velocity) - gone).length();
            let fast = !plane && before.max((one.shift - two.shift - gone).length()) > FAST * size;
            if !(fast || thrown && (one.beyond || two.beyond) || meet()) {
                return false;
            }
        }
        let pair = slots.map(|k| &rows[k]);
        let [Some(a), Some(b)] = slots.map(|k| cached[k].as_ref()) else { return false };
        let near = a.radius + b.radius;
        let is_excluded = || excluded.binary_search(&(i, j)).is_ok();
        if is_fast(pair, [a, b], [shift, gone], size, h) {
            return come_near(pair, [shift, gone], near) && !is_excluded();
        }
        let [body1, body2] = pair;
        let closing =
            (body1.new_velocity.linear - body2.new_velocity.linear - drift).length() + spin(body1, a.radius) + spin(body2, b.radius);
        let apart = body1.new_pose.position.distance_squared(body2.new_pose.position + (shift + gone)) > near * near;
        h * closing > 2.0 * STILL * size && !apart && !is_excluded()
    };
    let all = if thrown { ahead } else { found };
    let pieces = if share(Part::Ahead, all.len(), MANY) { pieces::length(all.len()) } else { all.len().max(1) };
    each_piece(all, pieces, sought, |_, pairs, sought: &mut Vec<(u32, u32)>| {
        sought.clear();
        sought.extend(pairs.iter().filter(|pair| near(pair)));
    });
    for &(i, j) in sought.iter().take(all.len().div_ceil(pieces)).flatten() {
        if is_stopped(*stop) {
            *cut = true;
            return;
        }
        let (body1, body2) = (&rows[i as usize], &rows[j as usize]);
        let (Some(a), Some(b)) = (&cached[i as usize], &cached[j as usize]) else { continue };
        let size = a.smallest.min(b.smallest);
        let shift = image_shift(&scheme.cell, [&movers[i as usize], &movers[j as usize]]);
        let drift = scheme.cell.drift(shift);
        let image = [shift, h * drift];
        if is_fast([body1, body2], [a, b], image, size, h) {
            let ways = [way(a, body1, i as usize, bulges, h, 1.0), way(b, body2, j as usize, bulges, h, 1.0).of_image(image)];
            if let Some(Met { at, allowed }) = first_overlap(&ways, &limits(&scheme, beta, size), PATCH * size, scratch, points) {
                let from = crossed.len();
                crossed.extend_from_slice(points);
                crossings.push(Crossing { slots: [i, j], at, allowed, points: [from, crossed.len()] });
            }
            continue;
        }
        let ([Some(e1), Some(e2)], slots) = ([body1, body2].map(|b| b.entity), [i, j]) else { continue };
        let pair = ContactPair { bodies: [e1, e2], slots, law: a.law(b, &laws), size, shift };
        // what crushes overlaps
        let poses = [&body1.new_pose, &body2.new_pose.shifted(image[0] + image[1])];
        if crushing.of(&pair).iter().any(|joint| joint.deepest() > 0.0 || joint.lasts(poses)) {
            continue;
        }
        let smooth = |c: &Cached| c.is_simple() || matches!(c.collider.shape, Shape::Vessel(_));
        let missed = if smooth(a) && smooth(b) { THROWN } else { MISSED };
        points.clear();
        let poses = (a.place(&body1.new_pose), b.place(&body2.new_pose.shifted(image[0] + image[1])));
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
        for p in points.iter().filter(|p| p.gap < allowed) {
            let [point1, point2] =
                [(body1, p.point1), (body2, p.point2 - image[1])].map(|(b, x)| b.pose.position + (x - b.new_pose.position));
            let mut touch = Touch { feature: p.feature, normal: p.normal, point1, point2, active: true, rim: p.rim, ..Touch::default() };
            // what rolls round its rim is held where it stood: at the place to come the impulse would strike it as an impact does
            let round = p.rim && manifold.is_some_and(|m| presses_alone(&m.points));
            let loaded = near_a_load(manifold, &touch, [a, b], round);
            let stood = loaded.filter(|_| round);
            if let Some(t) = stood.and_then(|at| manifold?.points.get(at)) {
                (touch.point1, touch.point2) = (t.point1, t.point2);
            }
            let middle = 0.5 * (touch.point1 + touch.point2);
            let velocity =
                |b: &Body, place: DVec3| b.new_velocity.linear + (b.frame.rotation * b.new_velocity.angular).cross(place - b.pose.position);
            touch.gap = p.gap - allowed - h * p.normal.dot(velocity(body1, middle) - velocity(body2, middle - shift) - drift);
            let put = foresight.put(Foreseen { pair, touch, contact: 0, rolls: loaded.is_some(), stood });
            foresight.missed |= put;
        }
    }
    // a body that meets several things meets the first; what comes then is another matter
    first.clear();
    first.resize(bodies.rows.len(), f64::INFINITY);
    for c in crossings.iter() {
        c.slots
            .iter()
            .filter(|&&k| bodies.rows[k as usize].inertia.is_some())
            .for_each(|&k| first[k as usize] = first[k as usize].min(c.at));
    }
    foresight.crossed |= !crossings.is_empty();
    for c in crossings.iter().filter(|c| c.slots.iter().all(|&k| c.at <= first[k as usize])) {
        let [i, j] = c.slots.map(|k| k as usize);
        let (Some(a), Some(b)) = (&cached[i], &cached[j]) else { continue };
        let rows = [&bodies.rows[i], &bodies.rows[j]];
        let [Some(e1), Some(e2)] = rows.map(|b| b.entity) else { continue };
        let law = a.law(b, &laws);
        let shift = image_shift(&scheme.cell, [&movers[i], &movers[j]]);
        let pair = ContactPair { bodies: [e1, e2], slots: c.slots, law, size: a.smallest.min(b.smallest), shift };
        let image = [shift, h * scheme.cell.drift(shift)];
        let ways = [way(a, rows[0], i, bulges, h, 1.0), way(b, rows[1], j, bulges, h, 1.0).of_image(image)];
        meeting(&pair, &ways, c, &crossed[c.points[0]..c.points[1]], &mut foresight);
    }
}

/// Rows for the place at which a pair overlaps on its way: normal and arms are those of that moment.
fn meeting(pair: &ContactPair, ways: &[Way; 2], c: &Crossing, points: &[ContactPoint], foresight: &mut Foresight) {
    let centres = [0, 1].map(|k| ways[k].at(c.at).position);
    let rate = |p: &ContactPoint| {
        let [u1, u2] =
            [(0, p.point1), (1, p.point2)].map(|(k, x)| ways[k].shift + (ways[k].pose.rotation * ways[k].turn).cross(x - centres[k]));
        p.normal.dot(u1 - u2)
    };
    let Some(worst) = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)) else { return };
    for p in points.iter().filter(|p| p.gap <= PATCH * pair.size && p.normal.dot(worst.normal) > SAME_WAY) {
        let [point1, point2] = [(0, p.point1), (1, p.point2)].map(|(k, x)| ways[k].pose.position + (x - centres[k]));
        // never pushed farther apart than the way itself has brought them
        let gap = (p.gap - c.allowed - c.at * rate(p)).max(0.0);
        let touch =
            Touch { feature: p.feature, normal: p.normal, gap, point1, point2, active: true, swept: Swept::Impact, ..Touch::default() };
        let put = foresight.put(Foreseen { pair: *pair, touch, contact: 0, rolls: false, stood: None });
        foresight.missed |= put;
    }
}

/// Stops bodies where they meet something on their way that no row holds; there they wait for the next step, with the velocity they
/// have; what loads have given them for that time is taken back by the integrator.
/// Where nothing can be stopped, as a driven body comes, the step counts as missed.
pub fn stop(
    scheme: Res<Scheme>,
    mut bodies: ResMut<Bodies>,
    mut proximity: ResMut<Proximity>,
    mut foresight: ResMut<Foresight>,
    mut manifolds: Query<(&ContactPair, &mut Manifold)>,
    (joints, slots_of): (Query<&Interaction, With<OfBodies>>, Query<&Slot>),
) {
    let Treatment::GapAware { beta } = scheme.treatment else { return };
    let Proximity { cached, movers, found, ahead, excluded, scratch, points, first, links, bulges, .. } = &mut *proximity;
    let h = scheme.time_step;
    link(&joints, &slots_of, &bodies, h, (links, bulges));
    first.clear();
    first.resize(bodies.rows.len(), 1.0);
    let all = if foresight.thrown { &*ahead } else { &*found };
    for _ in 0..STOPS {
        let mut stopped = false;
        foresight.missed = false;
        for &(i, j) in all {
            let slots = [i as usize, j as usize];
            let rows = slots.map(|k| &bodies.rows[k]);
            let (Some(a), Some(b)) = (&cached[slots[0]], &cached[slots[1]]) else { continue };
            let size = a.smallest.min(b.smallest);
            let shift = image_shift(&scheme.cell, slots.map(|k| &movers[k]));
            let image = [shift, h * scheme.cell.drift(shift)];
            // who goes along with a body that waits runs into it, however slow they are against each other
            let goes = slots.iter().all(|&k| first[k] == 1.0);
            if rows.iter().all(|b| b.inertia.is_none())
                || goes && !(is_fast(rows, [a, b], image, size, h) && come_near(rows, image, a.radius + b.radius))
                || excluded.binary_search(&(i, j)).is_ok()
            {
                continue;
            }
            let [a, b] = [(a, 0), (b, 1)].map(|(c, k): (_, usize)| way(c, rows[k], slots[k], bulges, h, first[slots[k]]));
            let ways = [a, b.of_image(image)];
            let Some(Met { at, .. }) = first_overlap(&ways, &limits(&scheme, beta, size), 0.0, scratch, points) else { continue };
            let own = [0, 1].map(|k| if ways[k].until > at { ways[k].shift.length() + ways[k].swing() } else { 0.0 });
            let can = |k: usize| rows[k].inertia.is_some() && own[k] > 0.0;
            // both, unless one of them hardly moves
            let both = |k: usize| can(k) && (own[k] >= SLOWER * own[1 - k] || !can(1 - k));
            (0..2).filter(|&k| both(k)).for_each(|k| first[slots[k]] = at);
            wait_together(links, |slot| bodies.rows[slot as usize].inertia.is_some(), first);
            let held = can(0) || can(1);
            stopped |= held;
            foresight.missed |= !held;
        }
        if !stopped {
            break;
        }
        foresight.missed = true;
    }
    for (slot, &until) in first.iter().enumerate().filter(|(_, until)| **until < 1.0) {
        let Some(c) = &cached[slot] else { continue };
        let body = &mut bodies.rows[slot];
        let position = way(c, body, slot, bulges, h, until).at(1.0).position;
        // also a ball has turned, and what it is joined to sees it
        let rotation = rotate_exp(body.pose.rotation, until * turn_of(body, h));
        (body.new_pose, body.waits) = (Pose { position, rotation }, 1.0 - until);
    }
    // impacts are completed where the bodies are by then: they have moved by less than their velocities say
    let lost = |slot: u32| {
        let body = &bodies.rows[slot as usize];
        if first[slot as usize] < 1.0 { body.new_pose.position - body.pose.position - h * body.new_velocity.linear } else { DVec3::ZERO }
    };
    let shift = |slots: [u32; 2], t: &mut Touch| {
        if t.swept == Swept::Impact {
            t.point1 += lost(slots[0]);
            t.point2 += lost(slots[1]);
        }
    };
    for (pair, mut manifold) in &mut manifolds {
        if pair.slots.iter().any(|&k| first[k as usize] < 1.0) {
            manifold.points.iter_mut().for_each(|t| shift(pair.slots, t));
        }
    }
    foresight.rows.iter_mut().for_each(|row| shift(row.pair.slots, &mut row.touch));
}
