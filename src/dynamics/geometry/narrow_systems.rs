//! Narrow phase: the points of every pair, at the start of the step or on the way of what is fast.

use super::ahead_systems::ROUND;
use super::deep::one_way_out;
use super::narrow::{ContactPoint, Scratch, contact_points};
use super::shapes::Shape;
use super::standing;
use super::sweep::{Met, Moving, SAME_WAY, pass_by, sweep};
use super::systems::{Cached, Mover, Proximity, image_shift, is_stopped};
use super::ways::own_way;
use crate::algebra::fetch::{ahead, fetch};
use crate::algebra::pieces::{self, Part, share};
use crate::algebra::spatial::Pose;
use crate::model::contact::{ContactPair, Manifold, Swept, Touch, inherit};
use crate::model::crushing::CrushingJoints;
use crate::model::law::ContactLaws;
use crate::model::newton_euler::Velocity;
use crate::model::scheme::{Clock, Scheme, Treatment};
use crate::topology::bodies::{Bodies, Body};
use bevy_ecs::prelude::*;
use glam::DVec3;
use rayon::prelude::*;

/// Memory for the narrow phase of one pair after the other.
#[derive(Debug, Default)]
pub(super) struct Hand {
    scratch: Scratch,
    points: Vec<ContactPoint>,
    met: Vec<Met>,
    touches: Vec<Touch>,
    completed: Vec<Touch>,
    /// Pairs whose law has changed.
    changed: Vec<usize>,
    /// Pairs that it has looked at.
    looked: usize,
    /// Whether it was told to end before its last pair.
    cut: bool,
}

/// Pairs that are worth a second thread.
const PAIRS: usize = 512;

/// Gaps, normals and points of every pair; impulses are inherited from the points before. Of a step that is to be stopped, only of some pairs.
pub fn narrow_phase(
    (scheme, clock): (Res<Scheme>, Res<Clock>),
    (laws, crushing): (Res<ContactLaws>, Res<CrushingJoints>),
    mut bodies: ResMut<Bodies>,
    mut proximity: ResMut<Proximity>,
    mut pairs: Query<(&mut ContactPair, &mut Manifold)>,
) {
    let Proximity { cached, movers, hands, written, looked, unfinished, stop, cut, .. } = &mut *proximity;
    let stop = *stop;
    *looked = 0;
    stand(&mut bodies.rows, cached, &scheme, std::mem::take(unfinished));
    let detection = Detection { scheme: &scheme, last: clock.last, laws: &laws, crushing: &crushing, bodies: &bodies.rows, cached, movers };
    // both components live in tables, so there are slices of them
    let Ok(tables) = pairs.contiguous_iter_mut() else { return };
    for (mut pairs, mut manifolds) in tables {
        let ticks = [manifolds.last_run_tick(), manifolds.this_run_tick()];
        written.clear();
        written.extend(manifolds.changed_ticks_slice().iter().map(|tick| tick.is_newer_than(ticks[0], ticks[1])));
        manifolds.mark_all_as_changed();
        let (all, points) = (pairs.bypass_change_detection(), manifolds.bypass_change_detection());
        let shared = share(Part::Narrow, all.len(), PAIRS);
        let length = if shared { pieces::length(all.len()) } else { all.len().max(1) };
        let ahead = ahead(all.len());
        hands.resize_with(all.len().div_ceil(length).max(hands.len()), Hand::default);
        let find = |(k, ((pairs, manifolds), hand)): (usize, ((&mut [ContactPair], &mut [Manifold]), &mut Hand))| {
            hand.changed.clear();
            for (at, manifold) in manifolds.iter_mut().enumerate() {
                if let Some(next) = pairs.get(at.saturating_add(ahead)) {
                    detection.fetch(next);
                }
                // pairs of large hulls take a tenth of a millisecond each, and there may be a hundred thousand
                if is_stopped(stop) {
                    hand.cut = true;
                    return;
                }
                let number = k * length + at;
                detection.find(number, &mut pairs[at], manifold, written[number], hand);
            }
        };
        if shared {
            all.par_chunks_mut(length).zip(points.par_chunks_mut(length)).zip(&mut *hands).enumerate().for_each(find);
        } else {
            all.chunks_mut(length).zip(points.chunks_mut(length)).zip(&mut *hands).enumerate().for_each(find);
        }
        let (now, changed) = (pairs.this_run_tick(), pairs.changed_ticks_slice_mut());
        hands.iter_mut().flat_map(|hand| hand.changed.drain(..)).for_each(|number| changed[number] = now);
        *looked += hands.iter_mut().map(|hand| std::mem::take(&mut hand.looked)).sum::<usize>();
        *unfinished |= hands.iter_mut().fold(false, |cut, hand| cut | std::mem::take(&mut hand.cut));
        *cut |= *unfinished;
    }
}

/// Decides where detection sees each body. Balls are seen where they are: a look at them costs less than to know that none is needed; what does not
/// move is seen as it is, to the last bit. What was seen elsewhere before a detection that was left `unfinished` is still new to some of its pairs.
fn stand(rows: &mut [Body], cached: &[Option<Cached>], scheme: &Scheme, unfinished: bool) {
    for (row, cached) in rows.iter_mut().zip(cached) {
        let seen = match cached {
            Some(c) if row.alive && !matches!(c.collider.shape, Shape::Ball { .. }) => match row.inertia {
                Some(_) => standing::seen(&row.pose, &row.velocity, row.seen, [c.radius, c.smallest], scheme),
                None => (row.velocity == Velocity::default()).then_some(row.pose),
            },
            _ => None,
        };
        row.fresh = seen.is_none() || seen != row.seen || unfinished && row.fresh;
        row.seen = seen;
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
    /// Asks for what is read of the bodies of a pair, which lie in the order of their slots.
    #[inline(always)]
    fn fetch(&self, pair: &ContactPair) {
        for slot in pair.slots.map(|s| s as usize) {
            let body = &self.bodies[slot];
            fetch(&body.pose);
            fetch(&body.velocity);
            fetch(&body.inertia);
            fetch(&body.seen);
            fetch(&self.cached[slot]);
            fetch(&self.movers[slot]);
        }
    }

    /// The points of a pair, to which somebody else may have `written` since the detection before.
    fn find(&self, number: usize, pair: &mut ContactPair, manifold: &mut Manifold, written: bool, hand: &mut Hand) {
        let Self { scheme, last, laws, crushing, bodies, cached, movers } = *self;
        let Hand { scratch, points, met, touches, completed, changed, looked, .. } = hand;
        let [i, j] = pair.slots.map(|s| s as usize);
        let (Some(a), Some(b)) = (&cached[i], &cached[j]) else { return };
        // at every step: laws and materials may have changed since the pair was born
        let law = a.law(b, laws);
        if pair.law != law {
            pair.law = law;
            changed.push(number);
        }
        let rows = (&bodies[i], &bodies[j]);
        let shift = image_shift(&scheme.cell, [&movers[i], &movers[j]]);
        let same_image = std::mem::replace(&mut pair.shift, shift) == shift;
        let drift = scheme.cell.drift(shift);
        let standing = self.standing(pair, [a, b], drift, manifold, written);
        if let Some((_, reach, fresh)) = standing
            && !(fresh || written)
            && same_image
            && manifold.reach == reach
        {
            // what was no row of the step before has nothing to pass on
            return manifold.points.iter_mut().filter(|t| !t.active).for_each(|t| t.velocity = DVec3::ZERO);
        }
        *looked += 1;
        let reach = standing.map_or_else(|| movers[i].pair_reach(&movers[j], shift, scheme), |(_, reach, _)| reach);
        manifold.reach = standing.map_or(0.0, |_| reach);
        // what an impact of the step before still owes
        completed.clear();
        let ways = [rows.0.velocity.linear * last, (rows.1.velocity.linear + drift) * last];
        completed.extend(manifold.points.iter().filter_map(|t| t.completion(ways)));
        touches.clear();
        // the reach exceeds the way of the step, so few pairs are looked at twice
        let swept = standing.is_none() && reach > FAST * pair.size && {
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
            let at = standing.map_or([rows.0.pose, rows.1.pose], |(seen, ..)| seen);
            let (pose1, pose2) = (a.place(&at[0]), b.place(&at[1].shifted(pair.shift)));
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
        let with = |b: &Body, centre: DVec3, drift: DVec3, x: DVec3| {
            x + (b.velocity.linear + drift + (b.pose.rotation * b.velocity.angular).cross(x - centre)) * last
        };
        let carried = |[x, y]: [DVec3; 2]| {
            [with(rows.0, rows.0.pose.position, DVec3::ZERO, x), with(rows.1, rows.1.pose.position + pair.shift, drift, y)]
        };
        inherit(&mut manifold.points, touches, [pair.size, ROUND * a.radius.min(b.radius)], carried);
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

impl Detection<'_> {
    /// Where the bodies of a pair are seen if both stand, the reach (m) within which points are sought then, which is the same at every step, and
    /// whether one of them has been seen elsewhere before. None where points hang on more than that: on velocities, or on what they have done.
    fn standing(
        &self,
        pair: &ContactPair,
        [a, b]: [&Cached; 2],
        drift: DVec3,
        manifold: &Manifold,
        written: bool,
    ) -> Option<([Pose; 2], f64, bool)> {
        let [i, j] = pair.slots.map(|s| s as usize);
        let [row1, row2] = [&self.bodies[i], &self.bodies[j]];
        let (seen1, seen2) = (row1.seen?, row2.seen?);
        let reach = self.movers[i].reach_at(0.0, &self.movers[j], self.scheme);
        let plain = !a.collider.shape.is_round() && !b.collider.shape.is_round() && drift == DVec3::ZERO && pair.law.adhesion == 0.0;
        // where both stood before there was no sweep, and what does not bounce has forgotten its impacts
        let forgotten = manifold.reach > 0.0 && !written && !pair.law.bounces();
        let done = |t: &Touch| t.swept == Swept::No && t.approach == DVec3::ZERO;
        let done = forgotten || manifold.points.iter().all(done);
        let steady = plain && done && reach <= FAST * pair.size && self.crushing.of(pair).is_empty();
        steady.then_some(([seen1, seen2], reach, row1.fresh || row2.fresh))
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
    Touch { feature: p.feature, normal: p.normal, gap: p.gap, point1: p.point1, point2: p.point2, rim: p.rim, ..Touch::default() }
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
