//! Contact rows, made from pairs and their points.
//!
//! Rows lie in the order of the colours, pairs in that of their table. Threads take groups in the order of the colours: what they write is
//! then one slice each.

use super::problem::{Place, Rebound};
use super::systems::world_twist;
use crate::algebra::fetch::{ahead, fetch};
use crate::algebra::lanes::Lanes;
use crate::algebra::spatial::{rotate_exp, tangents};
use crate::integrator::systems::Pass;
use crate::model::contact::{ContactPair, Manifold, Swept, Touch, Turned, presses_alone};
use crate::model::law::{Impact, is_active};
use crate::model::scheme::{Scheme, Treatment};
use crate::numerics::inner::straightened;
use crate::numerics::mixed::{Contact, IMMOBILE, JUDGED, Twist};
use crate::numerics::residual::contact_scale;
use crate::topology::bodies::Body;
use crate::topology::graph::Group;
use glam::{DQuat, DVec3};

/// The pairs of a table and their points.
pub(super) type Pairs<'a> = (&'a [ContactPair], &'a [Manifold]);

/// Rows of some groups that follow each other in the order of the colours.
pub(super) struct Out<'a> {
    pub(super) contacts: &'a mut [Contact],
    pub(super) reactions: &'a mut [DVec3],
    pub(super) feedback: &'a mut [f64],
    pub(super) moved: &'a mut [DVec3],
    pub(super) driven: &'a mut [DVec3],
    pub(super) taken: &'a mut [f64],
}

impl<'a> Out<'a> {
    /// Takes the first `n` rows away.
    pub(super) fn split_off(&mut self, n: usize) -> Self {
        Self {
            contacts: cut(&mut self.contacts, n),
            reactions: cut(&mut self.reactions, n),
            feedback: cut(&mut self.feedback, n),
            moved: cut(&mut self.moved, n),
            driven: cut(&mut self.driven, n),
            taken: cut(&mut self.taken, n),
        }
    }
}

/// Takes the first n away.
pub(super) fn cut<'a, T>(all: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let (first, rest) = std::mem::take(all).split_at_mut(n);
    *all = rest;
    first
}

/// What all rows of the step are made from.
pub(super) struct Job<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) scheme: &'a Scheme,
    pub(super) pass: &'a Pass,
    pub(super) groups: &'a [Group],
    /// Groups of the pass before, and their reactions.
    pub(super) last: (&'a [[u32; 3]], &'a [DVec3]),
    pub(super) turned: &'a [Turned],
    pub(super) free: &'a [Twist],
    pub(super) all: &'a [Pairs<'a>],
}

/// The pair of this number over all tables.
pub(super) fn find_pair<'a>(all: &[Pairs<'a>], source: u32) -> Option<(&'a ContactPair, &'a Manifold)> {
    let mut source = source as usize;
    for (pairs, manifolds) in all {
        if let Some(pair) = pairs.get(source) {
            return Some((pair, &manifolds[source]));
        }
        source -= pairs.len();
    }
    None
}

impl Job<'_> {
    /// The rows of some groups, the first of which begin at contact `first`; whether a pair bounces. Points that detection has foreseen
    /// have no pair.
    pub(super) fn assemble(&self, order: &[u32], first: u32, out: &mut Out<'_>, rebounds: &mut Vec<Rebound>) -> bool {
        Lanes::best().run(
            #[inline(always)]
            || self.assemble_groups(order, first, out, rebounds),
        )
    }

    #[inline(always)]
    fn assemble_groups(&self, order: &[u32], first: u32, out: &mut Out<'_>, rebounds: &mut Vec<Rebound>) -> bool {
        let (mut lively, mut k) = (false, 0);
        let ahead = ahead(self.groups.len());
        for (at, group) in order.iter().map(|&g| &self.groups[g as usize]).enumerate() {
            if let Some(&next) = order.get(at.saturating_add(ahead)) {
                self.fetch(&self.groups[next as usize]);
            }
            let from = k;
            k += group.points as usize;
            let Some((pair, manifold)) = find_pair(self.all, group.source) else { continue };
            lively |= pair.law.bounces();
            if self.pass.number > 0 {
                // places may have moved; a group that has changed starts anew
                let before = self.last.0.binary_search_by_key(&group.source, |l| l[0]).ok().map(|at| self.last.0[at]);
                let before = before.filter(|l| l[2] == group.points);
                for (i, r) in out.reactions[from..k].iter_mut().enumerate() {
                    *r = before.map_or(DVec3::ZERO, |l| self.last.1[l[1] as usize + i]);
                }
            }
            let start = self.turned.partition_point(|t| t.source < group.source);
            let arms = self.turned[start..].iter().take_while(|t| t.source == group.source);
            let active = manifold.points.iter().enumerate().filter(|(_, t)| t.active);
            for (k, (point, touch)) in (from..k).zip(active) {
                let turned = arms.clone().find(|t| t.point == point as u32);
                let rolls = touch.rim && presses_alone(&manifold.points);
                self.point(k, first, group.source, (pair, touch, turned, rolls), out, rebounds);
            }
        }
        lively
    }

    /// Asks for what the rows of a group are made from: pairs lie in the order of their birth.
    #[inline(always)]
    fn fetch(&self, group: &Group) {
        if let Some((pair, manifold)) = find_pair(self.all, group.source) {
            fetch(pair);
            fetch(manifold);
        }
        group.slots.iter().for_each(|&s| fetch(&self.rows.places[s as usize]));
        group.rows.iter().filter_map(|&r| self.rows.before.get(r as usize)).for_each(fetch);
    }

    /// The row of a point, number k of `out`.
    #[inline(always)]
    fn point(
        &self,
        k: usize,
        first: u32,
        source: u32,
        (pair, touch, turned, rolls): (&ContactPair, &Touch, Option<&Turned>, bool),
        out: &mut Out<'_>,
        rebounds: &mut Vec<Rebound>,
    ) {
        let Self { scheme, rows, .. } = *self;
        let contact = &mut out.contacts[k];
        let Row { mut share, wall, closing, restitution, mut turned } = rows.state(pair, touch, turned, contact);
        let moved = if rolls { rows.moved_part(pair, touch, contact, wall) } else { DVec3::ZERO };
        (contact.b, turned) = (contact.b + moved, turned + moved);
        let closing = [closing, share];
        let mut rebound = Rebound { contact: first + k as u32, source, part: restitution, closing, turned, ..Rebound::default() };
        rebound.limited = pair.law.impact == Impact::Fremond;
        if touch.approach != DVec3::ZERO && matches!(scheme.treatment, Treatment::GapAware { .. }) {
            let ending = ending_part(scheme, pair, contact, touch, rows.before, self.free);
            if let Some(ending) = ending.filter(|e| e.x < closing[0] || rebound.limited) {
                let parts = ending.x < closing[0].min(0.0);
                (rebound.part, rebound.ends, rebound.limited) = (ending, true, true);
                contact.b = if parts { ending } else { ending.with_x(closing[0]) } + wall + turned;
                share = if parts { 0.0 } else { share };
            }
        }
        if rebound.part != DVec3::ZERO {
            rebounds.push(rebound);
        }
        if self.pass.number == 0 {
            out.reactions[k] = if scheme.warm_start { contact.to_local(touch.reaction) } else { DVec3::ZERO };
        }
        (out.feedback[k], out.moved[k], out.driven[k], out.taken[k]) = (share, moved, wall, touch.taken);
    }
}

/// What a contact point is stated from.
pub(super) struct Rows<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) bodies: &'a [Body],
    /// Whether the body of each slot has a joint; empty where none has.
    pub(super) jointed: &'a [bool],
    pub(super) places: &'a [Place],
    pub(super) before: &'a [Twist],
    /// Overlap of a contact that was a row before and is noise, in parts of a body.
    pub(super) noise: f64,
    /// Overlap that is shallow, in parts of a body; 0 where factorisations see to slow motions.
    pub(super) shallow: f64,
    pub(super) gravity: f64,
    /// Without gravity: what the largest reaction of the step before gives each body (m/s²), by slots, and the most that loads give one.
    pub(super) pressed: &'a [f64],
    pub(super) loaded: f64,
    /// Smallest speed of an impact (m/s).
    pub(super) least: f64,
    /// Part of the speeds of its bodies that is the rounding of a velocity of contact, over the tolerance.
    pub(super) rounding: f64,
}

/// Speed of a contact below which it counts as at rest, in parts of the fall of a step, and the part of its feedback that is left then.
const AT_REST: f64 = 0.2;
const SLOWLY: f64 = 0.02;

/// Change of the velocity of a contact by its place alone, in parts of the fall of a step, far below which bodies rest and their places change as they will.
const MOVED: f64 = 0.3;

/// Part of the speed of its bodies against each other below which no scale lies: without gravity nothing else bounds it. That part of their own
/// speeds is also the most that stands for rounding.
pub(super) const SUM: f64 = 0.02;
/// What a velocity of contact may be wrong by as a sum of its bodies' own, in parts of them, over the part of a scale that e_s sees: balls that
/// fly on after an impact would else be asked for less than their rounding.
const SUM_ROUNDING: f64 = 64.0 * f64::EPSILON / JUDGED;

/// [`Rows::rounding`] at a tolerance.
pub(super) fn sum_rounding(tolerance: f64) -> f64 {
    (SUM_ROUNDING / tolerance).min(SUM)
}

/// Part of the largest reaction on a body that stands for its weight where there is no gravity: a pack under pressure is judged as a pile of a
/// hundred bodies on each other is. At least that part of the largest load in the scene, for what nothing has pressed yet.
const PRESSED: f64 = 0.01;

/// What belongs to a row beside its contact.
pub(super) struct Row {
    /// Its overlap feedback (m/s).
    pub(super) share: f64,
    /// Share of immobile bodies, and of the velocity of an image, in `u`.
    pub(super) wall: DVec3,
    /// Constant part of the normal row that closes the gap, and what restitution adds to that of all rows.
    pub(super) closing: f64,
    pub(super) restitution: DVec3,
    /// What matches velocities at the end of the step where arms are those of its middle (m/s).
    pub(super) turned: DVec3,
}

impl Rows<'_> {
    /// States a contact point as a row, all but its own operator. Bodies in joints have `turned` arms, as their joints have, see
    /// [`super::joints`].
    #[inline(always)]
    pub(super) fn state(&self, pair: &ContactPair, touch: &Touch, turned: Option<&Turned>, contact: &mut Contact) -> Row {
        let Self { scheme, before, .. } = *self;
        let (law, h) = (&pair.law, scheme.time_step);
        // by reference: what is copied and read in other parts than it was written waits for its way through memory
        let places = pair.slots.map(|s| &self.places[s as usize]);
        let [place1, place2] = pair.places(touch);
        let far = place1.abs().max(place2.abs()).max_element();
        let arms = [place1 - places[0].position, place2 - places[1].position].map(|arm| straightened(arm, touch.normal, far));
        (contact.normal, contact.tangent) = (touch.normal, tangents(touch.normal).0);
        [contact.arm1, contact.arm2] = arms;
        if let Some(turned) = turned {
            [contact.arm1, contact.arm2] = turned.middle;
        }
        (contact.mu, contact.body1, contact.body2, contact.size) = (law.mu, places[0].row, places[1].row, pair.size);
        contact.most = h * touch.bears;
        // velocity of the contact point, what of it is given, and the speed of a body that moves
        let end = |k: usize| match before.get(places[k].row as usize) {
            Some(twist) => (twist.at(arms[k]), DVec3::ZERO, twist.linear.abs().max_element()),
            None => (DVec3::ZERO, self.given(pair, touch, k, [contact.arm1, contact.arm2][k]), 0.0),
        };
        let ((end1, given1, speed1), (end2, given2, speed2)) = (end(0), end(1));
        let wall = contact.to_local(given1 - given2 - scheme.cell.drift(pair.shift));
        let u = contact.to_local(end1 - end2) + wall;
        // a contact that begins closes its gap to the last digit; one that lasts is not shaken by it
        let lasts = touch.reaction != DVec3::ZERO;
        let band = if lasts { scheme.touch * pair.size } else { 0.0 };
        // forces in a pile wander: beyond the band an overlap is noise whether or not it has carried in the last step
        let known = lasts || self.noise > scheme.touch && touch.velocity != DVec3::ZERO;
        let gap = if known && touch.gap < 0.0 { (touch.gap + self.noise * pair.size).min(0.0) } else { touch.gap };
        // joints close the gap that they have left: rows that call it closed would contradict theirs
        let jointed = pair.slots.iter().any(|&s| self.jointed.get(s as usize) == Some(&true));
        let band = if jointed && gap > 0.0 { 0.0 } else { band };
        // a deep overlap is parted at a bounded speed
        let gap = match scheme.treatment {
            Treatment::GapAware { beta } if beta > 0.0 && gap < -band => {
                let calm = if lasts && self.shallow > 0.0 { self.left_alone(pair, touch, -band - gap) } else { 0.0 };
                (gap + calm).max(-band - scheme.push_out(pair.size) * h / beta)
            }
            _ => gap,
        };
        let closing = law.closing(scheme.treatment, gap, band, h);
        let restitution = law.restitution(scheme.treatment, u, self.least);
        let part = if is_active(scheme.treatment, gap, u.x, h) { restitution.with_x(closing + restitution.x) } else { DVec3::ZERO };
        let turned = turned.map_or(DVec3::ZERO, |t| self.turned_part(pair, t, contact));
        contact.b = part + wall + turned;
        // what nothing pulls down has no other measure than its own speed, in whatever direction
        let approach = if self.gravity > 0.0 { -u.x } else { u.length() };
        let own = contact_scale(h, self.load(pair), approach, pair.size).max(SUM * u.abs().max_element());
        contact.scale = own.max(self.rounding * (speed1 + speed2));
        // what closes a gap is positive, what feeds an overlap back negative
        Row { share: closing.min(0.0), wall, closing, restitution, turned }
    }

    /// Velocity of the point at `arm` of body k, which is driven or does not move (m/s).
    #[inline(never)]
    fn given(&self, pair: &ContactPair, touch: &Touch, k: usize, arm: DVec3) -> DVec3 {
        let [own, other] = [k, 1 - k].map(|k| pair.slots[k] as usize);
        let twist = world_twist(&self.bodies[own]);
        if twist.angular == DVec3::ZERO || self.scheme.treatment.theta() != 1.0 {
            return twist.at(arm);
        }
        let image = if k == 0 { pair.shift } else { -pair.shift };
        let aside = chord(self.scheme.time_step, twist.angular, self.places[other].position + image - self.places[own].position);
        twist.at(arm) + aside.reject_from_normalized(touch.normal)
    }

    /// What of an overlap of `depth` (m) is not fed back in this step since its contact is at rest: nearly all of it where it is shallow.
    ///
    /// Sweeps that end at a loose tolerance take only a part `ν` of a slow motion of a pile away in a step (all layers sink, the highest
    /// fastest). Its reactions r then follow its velocity v as springs would, and where overlaps x are fed back, `v' = r`,
    /// `r' = −ν (v + β x)`, `x' = v` a step, damped by ν: the motion swings for ever, and wider, if β > ν (Routh). Without gravity nothing
    /// says what rest is.
    fn left_alone(&self, pair: &ContactPair, touch: &Touch, depth: f64) -> f64 {
        let (speed, fall) = (touch.velocity.length(), self.scheme.time_step * self.gravity);
        let moving = if speed < AT_REST * fall { (speed / (AT_REST * fall)).max(SLOWLY) } else { 1.0 };
        (1.0 - moving) * depth.min(self.shallow * pair.size)
    }

    /// The acceleration by which a contact is judged (m/s²): gravity, or a part of what presses its bodies where there is none.
    fn load(&self, pair: &ContactPair) -> f64 {
        if self.gravity > 0.0 {
            return self.gravity;
        }
        let pressed = pair.slots.iter().filter_map(|&s| self.pressed.get(s as usize));
        PRESSED * pressed.fold(self.loaded, |a, &b| a.max(b))
    }

    /// `½ (H v − H₀ v)` for the only place at which a pair presses, on a rim that rolls; H₀: its row of the step before, v: the velocities since.
    ///
    /// Where θ = 1 velocities are those in the middle between two places, so what rolls has the velocity 0 at a place on the mean,
    /// `½ H (v + v⁺) = 0`, as in the leapfrog scheme. With `H v⁺ = 0` the rim comes down by `½ a h²` a step, a: the acceleration of its
    /// place, and the ½ N a h² that lifts it again is lost.
    #[inline(never)]
    fn moved_part(&self, pair: &ContactPair, touch: &Touch, contact: &Contact, wall: DVec3) -> DVec3 {
        let lasts = touch.reaction != DVec3::ZERO && touch.velocity != DVec3::ZERO;
        let calm = touch.approach == DVec3::ZERO && touch.swept == Swept::No;
        // driven bodies have their own chord, joints their own arms
        let own = |s: u32| {
            let body = &self.bodies[s as usize];
            self.jointed.get(s as usize) == Some(&true) || body.row == IMMOBILE && body.velocity.angular != DVec3::ZERO
        };
        if !(lasts && calm) || self.scheme.treatment.theta() != 1.0 || pair.slots.into_iter().any(own) {
            return DVec3::ZERO;
        }
        let end = |body: u32, arm| self.before.get(body as usize).map_or(DVec3::ZERO, |twist| twist.at(arm));
        let [end1, end2] = [end(contact.body1, contact.arm1), end(contact.body2, contact.arm2)];
        let change = contact.to_local(end1 - end2 - touch.velocity) + wall;
        // what rests goes on nowhere, and what rises is let go
        let (square, rest) = (change.length_squared(), (MOVED * self.scheme.time_step * self.load(pair)).powi(2));
        if change.x < 0.0 { 0.5 * square * square / (square * square + rest * rest) * change } else { DVec3::ZERO }
    }

    /// `(H₁ − H_m) v⁽ⁱ⁾` where velocities are matched at the end of the step.
    fn turned_part(&self, pair: &ContactPair, turned: &Turned, contact: &Contact) -> DVec3 {
        if self.scheme.treatment.theta() == 1.0 {
            return DVec3::ZERO;
        }
        let change = |k: usize| {
            let body = &self.bodies[pair.slots[k] as usize];
            let spin = |rotation: DQuat| rotation * body.new_velocity.angular;
            let mobile = if body.row == IMMOBILE { 0.0 } else { 1.0 };
            mobile * (spin(body.new_pose.rotation).cross(turned.end[k]) - spin(body.frame.rotation).cross(turned.middle[k]))
        };
        contact.to_local(change(0) - change(1))
    }
}

/// What the chord that a place at `d` from a driven body's centre goes with it in the step differs by from its tangent (m/s):
/// `(exp(h ω) − 1) d/h − ω × d`. Velocities of the end of the step are those of the whole step where θ = 1: a body that sticks to a
/// turntable would else leave its circle by `½ h ω² r` in every second.
#[inline(never)]
fn chord(h: f64, spin: DVec3, d: DVec3) -> DVec3 {
    (rotate_exp(DQuat::IDENTITY, h * spin) * d - d) / h - spin.cross(d)
}

/// What the largest reaction of the step before gives each body in it (m/s²), by slots: largest values have no order. Gives the most that loads
/// give a body in this step, between the free velocities and those before, and the acceleration that stands for gravity.
pub(super) fn press(pressed: &mut Vec<f64>, bodies: &[Body], h: f64, all: &[Pairs<'_>], [free, before]: [&[Twist]; 2]) -> (f64, f64) {
    pressed.clear();
    pressed.resize(bodies.len(), 0.0);
    for (pair, manifold) in all.iter().flat_map(|(pairs, manifolds)| pairs.iter().zip(*manifolds)) {
        let most = manifold.points.iter().map(|t| t.reaction.length_squared()).fold(0.0, f64::max).sqrt() / h;
        for slot in pair.slots.map(|s| s as usize).into_iter().filter(|_| most > 0.0) {
            if let Some(inertia) = bodies.get(slot).filter(|b| b.row != IMMOBILE).and_then(|b| b.inertia) {
                pressed[slot] = pressed[slot].max(most / inertia.mass);
            }
        }
    }
    let gained = free.iter().zip(before).map(|(free, before)| (free.linear - before.linear).length_squared());
    let loaded = gained.fold(0.0, f64::max).sqrt() / h;
    (loaded, PRESSED * pressed.iter().copied().fold(loaded, f64::max))
}

/// The constant part of a row in the step after an impact, if the bodies part.
fn ending_part(scheme: &Scheme, pair: &ContactPair, c: &Contact, touch: &Touch, before: &[Twist], free: &[Twist]) -> Option<DVec3> {
    // what carries the lower body does not show in free velocities: the whole of gravity counts
    let weight = scheme.time_step * c.normal.dot(scheme.gravity).abs();
    pair.law.rebound(c.to_local(touch.approach), weight.max(fall(c, before, free)))
}

/// By how much loads speed the approach of a contact up within the step (m/s).
pub(super) fn fall(c: &Contact, before: &[Twist], free: &[Twist]) -> f64 {
    let gain = |body: u32, arm| match (free.get(body as usize), before.get(body as usize)) {
        (Some(free), Some(before)) => free.at(arm) - before.at(arm),
        _ => DVec3::ZERO,
    };
    -c.normal.dot(gain(c.body1, c.arm1) - gain(c.body2, c.arm2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: f64 = 0.02;
    const FALL: f64 = 9.81 * 2e-3;

    /// Overlap feedback (m/s) of two balls that overlap by `depth` (m) and part at `speed`, in steps of 2 ms.
    fn feedback(depth: f64, speed: f64, carries: bool) -> f64 {
        let scheme = Scheme { time_step: 2e-3, touch: 0.0, ..Scheme::default() };
        let at = |z: f64, row: u32| Place { position: DVec3::Z * z, row };
        let places = [at(0.0, 0), at(SIZE - depth, 1)];
        let rows = Rows {
            scheme: &scheme,
            bodies: &[],
            jointed: &[],
            places: &places,
            before: &[Twist::default(); 2],
            noise: 0.0,
            shallow: 1e-3,
            gravity: 9.81,
            pressed: &[],
            loaded: 0.0,
            least: 0.0,
            rounding: 0.0,
        };
        let body = bevy_ecs::prelude::Entity::PLACEHOLDER;
        let pair = ContactPair { bodies: [body; 2], slots: [0, 1], law: Default::default(), size: SIZE, shift: DVec3::ZERO };
        let reaction = if carries { -DVec3::Z } else { DVec3::ZERO };
        let touch = Touch { normal: -DVec3::Z, gap: -depth, reaction, velocity: -DVec3::Z * speed, ..Touch::default() };
        let mut contact = Contact::default();
        let row = rows.state(&pair, &touch, None, &mut contact);
        assert_eq!((row.closing, contact.b.x), (row.share, row.share));
        -row.share
    }

    #[test]
    fn shallow_overlaps_at_rest_are_given_back_slowly() {
        let full = |depth: f64| 0.1 * depth / 2e-3;
        let close = |found: f64, due: f64| assert!((found - due).abs() < 1e-12 * due, "{found} {due}");
        // hardly any where the contact rests, all where it moves by a fifth of a fall or has just begun, in proportion between
        close(feedback(1e-5, 0.0, true), SLOWLY * full(1e-5));
        close(feedback(1e-5, 0.1 * FALL, true), 0.5 * full(1e-5));
        close(feedback(1e-5, 0.2 * FALL, true), full(1e-5));
        close(feedback(1e-5, 0.0, false), full(1e-5));
        // of a deep one, what exceeds the thousandth of a body that is shallow at 1e-3
        close(feedback(1e-4, 0.0, true), full(8e-5) + SLOWLY * full(2e-5));
    }
}
