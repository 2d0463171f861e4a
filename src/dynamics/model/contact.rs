//! The relation between two bodies that are near each other, as an entity that lives while their boxes overlap.

use super::law::CoulombImpact;
use bevy_ecs::prelude::{Component, Entity, Resource};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Two bodies near each other; body 1 has the lower slot.
///
/// ```
/// use drystone::model::contact::ContactPair;
/// # use bevy_ecs::prelude::*;
/// # let mut world = World::new();
/// # let (a, b) = (world.spawn_empty().id(), world.spawn_empty().id());
/// let pair = ContactPair { bodies: [a, b], slots: [0, 1], law: Default::default(), size: 0.1, shift: glam::DVec3::ZERO };
/// assert!(pair.slots[0] < pair.slots[1]);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct ContactPair {
    /// The bodies.
    pub bodies: [Entity; 2],
    /// Their slots, ascending.
    pub slots: [u32; 2],
    /// Law of the pair.
    pub law: CoulombImpact,
    /// The smaller body's smallest length (m).
    pub size: f64,
    /// Where the image of body 2 that meets body 1 stands, from body 2 (m): zero outside of periodic cells. Contact points are those of
    /// body 1 and this image.
    pub shift: DVec3,
}

/// Part of a step of `h` (s) in which a point is on the near side of a place that lies `ahead` (m), to which it goes at `speed` (m/s), and where an
/// acceleration `back` (m/s²) holds it. On the far side nothing does.
fn inside(ahead: f64, speed: f64, back: f64, h: f64) -> f64 {
    if ahead < 0.0 {
        return if speed < 0.0 { (1.0 - ahead / (speed * h)).max(0.0) } else { 0.0 };
    }
    let square = speed * speed - 2.0 * back * ahead;
    if speed <= 0.0 || square <= 0.0 { 1.0 } else { (2.0 * ahead / (h * (speed + square.sqrt()))).min(1.0) }
}

/// Gap, in parts of the smaller body's smallest length, at which bodies touch for their attraction, whatever its range.
const TOUCHES: f64 = 1e-6;
/// How many times what a straight way opens at most attraction outlasts: where it is hardly enough to bend the way, it takes some steps.
const BEND: f64 = 4.0;

impl ContactPair {
    /// Where a reaction acts on either body (m, world): see [`Touch::places`], that of body 2 on itself instead of its image.
    pub fn places(&self, touch: &Touch) -> [DVec3; 2] {
        let [one, two] = touch.places();
        [one, two - self.shift]
    }

    /// Works out the part of a step of `h` (s) in which the attraction of the law acts at each point: bodies of the reduced `mass` (kg) that
    /// part at `opening` (m/s) come into its reach or leave it on the way, so that what they pay is force times range whatever the step.
    ///
    /// ```
    /// use drystone::model::{contact::{ContactPair, Touch}, law::CoulombImpact};
    /// # let mut world = bevy_ecs::prelude::World::new();
    /// # let bodies = [world.spawn_empty().id(), world.spawn_empty().id()];
    /// let law = CoulombImpact { adhesion: 3.0, adhesion_range: 1e-4, ..Default::default() };
    /// let pair = ContactPair { bodies, slots: [0, 1], law, size: 0.1, shift: glam::DVec3::ZERO };
    /// let mut points = [5e-5, 2e-4].map(|gap| Touch { gap, ..Default::default() });
    /// pair.attract(&mut points, |_| 0.1, 1e9, 1e-3); // the first leaves it after half of the step
    /// let pull = pair.pull(&points);
    /// assert!((pull(&points[0]) - 1.5).abs() < 1e-6 && pull(&points[1]) == 0.0);
    /// ```
    pub fn attract(&self, points: &mut [Touch], opening: impl Fn(&Touch) -> f64, mass: f64, h: f64) {
        for touch in points {
            // what touches is held, also beyond the limit where it goes round the other
            let CoulombImpact { rupture, adhesion_range, adhesion, .. } = self.law;
            let limit = if touch.bridged { rupture.max(adhesion_range) } else { adhesion_range };
            let part = if touch.gap <= TOUCHES * self.size && limit == 0.0 || touch.bridged && touch.gap >= limit {
                1.0
            } else if limit > 0.0 {
                inside(limit - touch.gap, opening(touch), adhesion / mass, h)
            } else {
                0.0
            };
            touch.pulled = part as f32;
        }
    }

    /// Marks the points that a liquid bridge holds, and those where attraction lasts: it begins where bodies touch, by their gap or because they
    /// pressed on each other in the step before, and ends where the gap exceeds the rupture distance of the law and what the straight `way` (m) of
    /// one body past the other opened in that step. Bodies that go round each other touch all the time, but for `way²/2ρ`, ρ not below half of
    /// the smallest length.
    ///
    /// ```
    /// use drystone::model::{contact::{ContactPair, Touch}, law::CoulombImpact};
    /// # let mut world = bevy_ecs::prelude::World::new();
    /// # let bodies = [world.spawn_empty().id(), world.spawn_empty().id()];
    /// let law = CoulombImpact { adhesion: 3.0, rupture: 1e-4, ..Default::default() };
    /// let pair = ContactPair { bodies, slots: [0, 1], law, size: 0.1, shift: glam::DVec3::ZERO };
    /// let mut bridged = |old: Option<Touch>, gap: f64| {
    ///     let mut new = [Touch { gap, ..Default::default() }];
    ///     pair.bridge(old.as_slice(), &mut new, 0.0);
    ///     new[0]
    /// };
    /// assert!(!bridged(None, 5e-5).bridged, "not before they touch");
    /// let touched = bridged(None, 0.0);
    /// let apart = bridged(Some(touched), 5e-5);
    /// assert!(touched.bridged && apart.bridged && !bridged(Some(apart), 2e-4).bridged);
    /// ```
    pub fn bridge(&self, old: &[Touch], new: &mut [Touch], way: f64) {
        let held = old.iter().any(|t| t.bridged || t.reaction.dot(t.normal) > 0.0);
        let touches = held || new.iter().any(|t| t.gap <= TOUCHES * self.size);
        let most = self.law.rupture.max(TOUCHES * self.size + BEND * way * way / self.size);
        new.iter_mut().for_each(|t| t.bridged = touches && t.gap <= most);
    }

    /// Attraction (N) at each of its points in the step, the mean of its time: equal parts of that of the law where it acts, see
    /// [`ContactPair::attract`].
    pub fn pull(&self, points: &[Touch]) -> impl Fn(&Touch) -> f64 + use<> {
        let count = points.iter().filter(|touch| touch.pulled > 0.0).count();
        let each = self.law.adhesion / count.max(1) as f64;
        move |touch| each * f64::from(touch.pulled)
    }

    /// Forces (N, world) on body 1 at each point in the last step; `h` (s) is the [`measure`](super::scheme::Clock::measure) of its impulses: what
    /// pushes less what pulls. Points that carry nothing are left out.
    pub fn forces<'a>(&'a self, points: &'a [Touch], h: f64) -> impl Iterator<Item = (&'a Touch, DVec3)> {
        let pull = self.pull(points);
        let force = move |touch: &'a Touch| {
            let pushes = touch.active && touch.reaction.dot(touch.normal) > 0.0;
            let push = if pushes && h > 0.0 { touch.reaction / h } else { DVec3::ZERO };
            let pull = pull(touch);
            (pushes || pull > 0.0).then(|| (touch, if pull > 0.0 { push - pull * touch.normal } else { push }))
        };
        points.iter().filter_map(force)
    }
}

/// Whether a point was found on the way of a fast pair, within the step.
///
/// ```
/// use drystone::model::contact::Swept;
/// assert_eq!(Swept::default(), Swept::No);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Swept {
    /// Found at the start of the step.
    #[default]
    No,
    /// At the impact: either body has its own point, `point − x` is its arm then. The rows bring the bodies to touch.
    Impact,
    /// The step after, in which the impact is completed, wherever the bodies have slid to by then.
    After,
}

/// One point of a contact, with what the step found for it.
///
/// ```
/// assert_eq!(drystone::model::contact::Touch::default().reaction, glam::DVec3::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// Names the features that touch; stable while they do.
    pub feature: u64,
    /// Unit normal from body 2 to body 1 (world).
    pub normal: DVec3,
    /// Signed gap at the start of the step (m), positive when apart.
    pub gap: f64,
    /// Point on body 1 (m, world).
    pub point1: DVec3,
    /// Point on body 2 (m, world).
    pub point2: DVec3,
    /// Impulse on body 1 in the last step (N s, world), see [`Clock::measure`](super::scheme::Clock::measure); the guess for the next.
    pub reaction: DVec3,
    /// Moment on body 1 in the last step (N m s, world), where the law resists rolling or twisting; the guess for the next.
    pub moment: DVec3,
    /// Relative velocity after the last step (m/s, world).
    pub velocity: DVec3,
    /// Relative velocity at which the bodies came to touch here in the last step (m/s, world); zero where there was no impact.
    /// It decides the rebound of the next step in gap-aware scenes.
    pub approach: DVec3,
    /// Energy that the contact took in the last step (J): rebounds give back no more.
    pub taken: f64,
    /// Force that it bears at most (N), where the joint crushes; 0: any.
    #[serde(default)]
    pub bears: f64,
    /// Whether the point is a row of this step.
    pub active: bool,
    /// Whether it is the place at which a smooth rim touches a face, or a round wall an edge or a corner, which goes on round the body.
    pub rim: bool,
    /// Whether it was found on the way of a fast pair.
    pub swept: Swept,
    /// Whether attraction that has begun lasts here, or a liquid bridge holds.
    pub bridged: bool,
    /// Part of the step in which attraction acts here.
    pub pulled: f32,
}

impl Touch {
    /// Where the reaction acts on either body (m, world): the middle of the two points, or each one's own after a sweep.
    pub fn places(&self) -> [DVec3; 2] {
        match self.swept {
            Swept::No => [0.5 * (self.point1 + self.point2); 2],
            Swept::Impact | Swept::After => [self.point1, self.point2],
        }
    }

    /// The row that completes the impact of a fast pair; `ways` is how far either body has moved since (m).
    #[inline]
    pub fn completion(&self, ways: [DVec3; 2]) -> Option<Self> {
        let pending = self.swept == Swept::Impact && self.active && self.reaction != DVec3::ZERO;
        pending.then(|| {
            let [point1, point2] = [self.point1 + ways[0], self.point2 + ways[1]];
            Self { gap: 0.0, point1, point2, swept: Swept::After, active: false, ..*self }
        })
    }

    /// Takes over what the same point of the step before knows.
    fn continues(&mut self, old: &Self) {
        (self.reaction, self.moment, self.velocity) = (old.reaction, old.moment, old.velocity);
        (self.approach, self.taken) = (old.approach, old.taken);
    }
}

/// The contact points of a pair.
///
/// ```
/// assert!(drystone::model::contact::Manifold::default().points.is_empty());
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Manifold {
    /// Points within reach, in the order of detection.
    pub points: SmallVec<[Touch; 1]>,
    /// That reach (m), where both bodies stand; 0 where one moves.
    pub reach: f64,
}

/// A point that the rows of the step do not hold apart: the bodies would overlap there at its end.
///
/// ```
/// use drystone::model::contact::Foresight;
/// assert!(Foresight::default().rows.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    /// The pair.
    pub pair: ContactPair,
    /// Normal and arms at the end of the step. The gap (m) is the one from which they would lead, at the velocities of the last pass, to
    /// the gap found there: `gap + h u_n⁺ ≥ 0` holds it closed.
    pub touch: Touch,
    /// Its number in the problem of the step.
    pub contact: u32,
    /// Whether the bodies pressed on each other close by in the step before: one rolls on an edge or a rim.
    pub rolls: bool,
    /// The point of the pair at which they did, where there was no other: arms are those of that point, which goes on to this place.
    pub stood: Option<usize>,
}

/// The points of the step that detection at its end has found.
///
/// ```
/// assert!(!drystone::model::contact::Foresight::default().missed);
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct Foresight {
    /// Sorted by slots and feature.
    pub rows: Vec<Foreseen>,
    /// Points that locked axes keep from being rows.
    pub held: Vec<Foreseen>,
    /// Whether the last look found an overlap that the rows do not hold.
    pub missed: bool,
    /// Whether bodies have been thrown beyond what the broad phase looked at.
    pub thrown: bool,
    /// Whether a look of this step has found a fast pair that overlaps on its way.
    pub crossed: bool,
}

impl Foresight {
    /// Forgets the step before.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.held.clear();
        (self.missed, self.thrown, self.crossed) = (false, false, false);
    }

    /// Adds a point, or states it anew; false for one that locked axes hold. A point that has wandered is another one, whatever its name:
    /// where two walls of cylinders cross, it goes from one end to the other at a small turn, and each look would free what the last one held.
    pub fn put(&mut self, row: Foreseen) -> bool {
        let key = |r: &Foreseen| (r.pair.slots, r.touch.feature);
        if self.held.iter().any(|h| key(h) == key(&row) && h.touch.normal.dot(row.touch.normal) > SAME_NORMAL) {
            return false;
        }
        let [from, to] = [Ordering::Less, Ordering::Equal].map(|most| self.rows.partition_point(|r| key(r).cmp(&key(&row)) <= most));
        let way = |at: &usize| self.rows[*at].touch.point1.distance_squared(row.touch.point1);
        let limit = if row.touch.swept == Swept::No { (SAME_PATCH * row.pair.size).powi(2) } else { f64::INFINITY };
        match (from..to).filter(|at| way(at) <= limit).min_by(|a, b| way(a).total_cmp(&way(b))) {
            Some(at) => {
                self.rows[at] = Foreseen {
                    contact: self.rows[at].contact,
                    touch: Touch { reaction: self.rows[at].touch.reaction, moment: self.rows[at].touch.moment, ..row.touch },
                    ..row
                }
            }
            None => self.rows.insert(to, row),
        }
        true
    }

    /// The points of a pair of slots.
    pub fn of(&self, slots: [u32; 2]) -> &[Foreseen] {
        let from = self.rows.partition_point(|r| r.pair.slots < slots);
        let rest = &self.rows[from..];
        &rest[..rest.partition_point(|r| r.pair.slots == slots)]
    }
}

/// Way, in parts of the smaller body's smallest length, from which on a point of the same name is another.
const SAME_PATCH: f64 = 0.1;
/// Cosine of normals that are the same but for rounding.
const SAME_NORMAL: f64 = 1.0 - 1e-9;

/// Where a contact point of a body in joints has come to within the step, seen from either centre (m, world).
///
/// ```
/// assert_eq!(drystone::model::contact::Turned::default().middle, [glam::DVec3::ZERO; 2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turned {
    /// Number of the pair in the order of the query.
    pub source: u32,
    /// Number of the point in its manifold.
    pub point: u32,
    /// Slots of the pair.
    pub slots: [u32; 2],
    /// Arms in the middle of the step, where joints have theirs.
    pub middle: [DVec3; 2],
    /// Arms at its end.
    pub end: [DVec3; 2],
    /// The arms in the middle, in the axes of the bodies (m).
    pub own: [DVec3; 2],
}

/// The points that turn with bodies in joints, pair by pair.
///
/// ```
/// assert!(drystone::model::contact::TurnedArms::default().rows.is_empty());
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct TurnedArms {
    /// In the order of the pairs and their points.
    pub rows: Vec<Turned>,
    /// Whether the body of each slot has a joint.
    pub jointed: Vec<bool>,
    /// Passes of this step that have looked for them.
    pub looks: usize,
}

/// Longest way, in parts of the size of a patch, that a point may have moved and still pass on its impulse.
const SAME_PLACE: f64 = 0.05;

/// Hands the impulses of the old points to the new ones: by feature, else by place. Each old impulse is used once, and none passes over
/// a distance: `carried` tells where the places of a point of the step before, one on each body, have gone with that body. A gap parts the two
/// places, and what turns above it takes only its own along, so each is looked for on its own body. Where a single point follows a single point
/// there is no other that could be meant: the feature decides alone, or, as names change with the last digit where a rim or an edge
/// touches, a place within 5 % of `size`, the smaller body's smallest length (m). So it is where all that pressed was a single point of a
/// rim, which is the deepest now: it has gone on round the rim, by no more than `round` (m).
#[inline]
pub fn inherit(old: &mut [Touch], new: &mut [Touch], [size, round]: [f64; 2], carried: impl Fn([DVec3; 2]) -> [DVec3; 2]) {
    let (Some(first), Some(begin)) = (old.first().map(|t| t.point1), new.first().map(|t| t.point1)) else { return };
    let spread = |points: &[Touch], from: DVec3| points.iter().map(|t| t.point1.distance_squared(from)).fold(0.0, f64::max);
    let extent = spread(old, first).max(spread(new, begin));
    let single = old.len() == 1 && new.len() == 1;
    let limit = SAME_PLACE * SAME_PLACE * if single { extent.max(size * size) } else { extent };
    let distance = |o: &Touch, p: &Touch| {
        let from = |[x, y]: [DVec3; 2]| x.distance_squared(p.point1).min(y.distance_squared(p.point2));
        let still = from([o.point1, o.point2]);
        if still <= limit {
            return still;
        }
        still.min(from(carried([o.point1, o.point2])))
    };
    if new.iter().any(|p| p.rim)
        && presses_alone(old)
        && let Some(deepest) = new.iter_mut().min_by(|p, q| p.gap.total_cmp(&q.gap)).filter(|p| p.rim)
        && let Some(rolls) = old.iter_mut().find(|o| o.active && o.reaction != DVec3::ZERO && o.feature == deepest.feature)
        && distance(rolls, deepest) < round * round
    {
        deepest.continues(rolls);
        (rolls.active, deepest.active) = (false, true);
    }
    for point in new.iter_mut().filter(|p| !p.active) {
        let same = |o: &&mut Touch| o.active && o.feature == point.feature && (extent == 0.0 || distance(o, point) <= limit);
        if let Some(match_) = old.iter_mut().find(same) {
            point.continues(match_);
            match_.active = false;
            point.active = true;
        }
    }
    if extent == 0.0 && !single {
        return;
    }
    for point in new.iter_mut().filter(|p| !p.active) {
        let nearest = old.iter_mut().filter(|o| o.active).min_by(|a, b| distance(a, point).total_cmp(&distance(b, point)));
        if let Some(match_) = nearest.filter(|o| distance(o, point) <= limit) {
            point.continues(match_);
            match_.active = false;
        }
    }
}

/// Whether two bodies pressed on each other at one place alone in the step before.
#[inline]
pub fn presses_alone(points: &[Touch]) -> bool {
    points.iter().filter(|t| t.reaction != DVec3::ZERO).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(feature: u64, x: f64, r: f64) -> Touch {
        Touch { feature, point1: DVec3::X * x, point2: DVec3::X * x, reaction: DVec3::Z * r, active: true, ..Touch::default() }
    }

    fn reactions<const N: usize>(mut old: Vec<Touch>, new: [Touch; N], shift: f64) -> [f64; N] {
        let mut new = new.map(|t| Touch { active: false, ..t });
        inherit(&mut old, &mut new, [0.1, 0.9], |[x, y]| [x + DVec3::X * shift, y - DVec3::X * 9.0]);
        new.map(|t| t.reaction.z)
    }

    #[test]
    fn a_point_that_locked_axes_hold_is_put_no_more() {
        let ends = [Entity::from_raw_u32(0), Entity::from_raw_u32(1)].map(|e| e.expect("valid"));
        let pair = ContactPair { bodies: ends, slots: [0, 1], law: CoulombImpact::default(), size: 1.0, shift: DVec3::ZERO };
        let row =
            |feature, normal| Foreseen { pair, touch: Touch { normal, ..touch(feature, 0.0, 0.0) }, contact: 0, rolls: false, stood: None };
        let mut foresight = Foresight { held: vec![row(1, DVec3::Z)], ..Foresight::default() };
        assert!(!foresight.put(row(1, DVec3::Z)) && foresight.put(row(2, DVec3::Z)) && foresight.put(row(1, DVec3::X)));
        assert_eq!(foresight.of([0, 1]).len(), 2);
        // stated anew where it is, and added where it has wandered to
        let placed = |x: f64, gap: f64| Foreseen { pair, touch: Touch { gap, ..touch(2, x, 0.0) }, contact: 0, rolls: false, stood: None };
        assert!(foresight.put(placed(0.01, 0.5)) && foresight.put(placed(0.4, 0.7)) && foresight.put(placed(0.41, 0.8)));
        assert_eq!(foresight.of([0, 1]).iter().map(|r| r.touch.gap).collect::<Vec<_>>(), [0.0, 0.5, 0.8]);
    }

    #[test]
    fn impulses_follow_their_feature_and_else_their_place() {
        let old = vec![touch(1, 0.0, 5.0), touch(2, 1.0, 7.0)];
        assert_eq!(reactions(old, [touch(2, 1.0, 0.0), touch(9, 0.01, 0.0), touch(8, 0.5, 0.0)], 0.0), [7.0, 5.0, 0.0]);
    }

    #[test]
    fn a_rim_that_presses_alone_hands_its_impulse_on_round_it() {
        let rim = |x: f64, r: f64, gap: f64| Touch { gap, rim: true, ..touch(1, x, r) };
        let near = Touch { gap: 0.3, ..touch(2, 0.01, 0.0) };
        assert_eq!(reactions(vec![rim(0.0, 5.0, 0.0)], [near, rim(0.7, 0.0, 0.0)], 0.0), [0.0, 5.0]);
        // what is not the deepest does not press, what is across was never there, and where two pressed places decide
        assert_eq!(reactions(vec![rim(0.0, 5.0, 0.0)], [near, rim(1.0, 0.0, 0.0)], 0.0), [5.0, 0.0]);
        assert_eq!(reactions(vec![rim(0.0, 5.0, 0.0)], [near, rim(0.7, 0.0, 0.4)], 0.0), [5.0, 0.0]);
        assert_eq!(reactions(vec![rim(0.0, 5.0, 0.0), touch(3, 1.0, 7.0)], [near, rim(0.7, 0.0, 0.0)], 0.0), [5.0, 0.0]);
    }

    #[test]
    fn no_impulse_passes_over_a_distance_or_twice() {
        let old = || vec![touch(1, 0.0, 5.0), touch(2, 1.0, 7.0)];
        // names exchanged: places decide
        assert_eq!(reactions(old(), [touch(2, 0.0, 0.0), touch(1, 1.0, 0.0)], 0.0), [5.0, 7.0]);
        // one name for both
        assert_eq!(reactions(old(), [touch(1, 0.0, 0.0), touch(1, 1.0, 0.0)], 0.0), [5.0, 7.0]);
        assert_eq!(reactions(old(), [touch(1, 0.3, 0.0), touch(2, 0.7, 0.0)], 0.0), [0.0, 0.0]);
        // the body has moved, and the points with it
        assert_eq!(reactions(old(), [touch(1, 0.3, 0.0), touch(2, 1.3, 0.0)], 0.3), [5.0, 7.0]);
        // a lone point has no other to be mistaken for: its name may change in its place, or its place under its name
        assert_eq!(reactions(vec![touch(1, 0.0, 5.0)], [touch(2, 0.004, 0.0)], 0.0), [5.0]);
        assert_eq!(reactions(vec![touch(1, 0.0, 5.0)], [touch(2, 0.3, 0.0)], 0.0), [0.0]);
        assert_eq!(reactions(vec![touch(1, 0.0, 5.0)], [touch(1, 0.3, 0.0)], 0.0), [5.0]);
    }
}
