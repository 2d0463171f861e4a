//! Fast pairs: where their contact points will be when they come to touch; and what is round: where it will be past an edge.
//!
//! ```text
//! x(t) = x + t v,  R(t) = R exp(t ω)                     predicted motion within the step
//! t ← t + min over points  gap / (−n·v + |ω₁| ϱ₁ + |ω₂| ϱ₂)     v: relative velocity, ϱ: radii; never beyond an impact
//! gap of the row = gap(t*) − n·(way of point 1 − way of point 2)
//! ```
//!
//! A contact that is linearised at the start of the step has the wrong normal where bodies pass much of their size within it: a ball
//! that misses is deflected. Here the row belongs to the configuration of the impact, at t*, and with the predicted velocities it is
//! violated exactly where the bodies would go on. A pair that does not meet has no row.
//! Conservative advancement: Mirtich 1996; the separation along a fixed normal bounds the distance of convex parts from below.

use glam::DVec3;

use super::narrow::{ContactPoint, Scratch, contact_points};
use super::shapes::Shape;
use crate::algebra::spatial::{Pose, rotate_exp};
use crate::model::contact::Touch;

/// A body in its predicted motion.
#[derive(Clone, Copy)]
pub(super) struct Moving<'a> {
    pub(super) shape: &'a Shape,
    /// Shape frame in the body frame.
    pub(super) offset: Pose,
    pub(super) pose: Pose,
    /// Predicted velocity (m/s, world).
    pub(super) linear: DVec3,
    /// rad/s, body axes.
    pub(super) angular: DVec3,
    /// Speed of its farthest point in its own turning (m/s); 0 for a ball about its centre.
    pub(super) swing: f64,
    /// Share of an impact that it takes: 0 for an immobile body.
    pub(super) inverse_mass: f64,
}

/// A contact point of a fast pair, brought back to the poses at the start: `point − x` is its arm at the impact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    pub(super) point: ContactPoint,
    /// Found at a later time than the start of the step.
    pub(super) later: bool,
}

/// Gap, in parts of the smaller body's smallest length, at which bodies touch.
const TOUCH: f64 = 1e-7;
/// As deep bodies may be inside each other and still be swept.
const DEEP: f64 = 0.01;
/// Gap, in parts of that length, up to which points of the patch of an impact belong to it.
const PATCH: f64 = 0.5;
/// Gap at the end of the step, in parts of that length, at which a pair that does not meet has a row all the same.
const NEAR: f64 = 5e-3;
/// Cosine of normals that hold the same way closed.
pub(super) const SAME_WAY: f64 = 0.99;
/// Impacts of one pair within a step; of convex shapes, one on the way.
const MOST: usize = 8;
const ROUNDS: usize = 200;
const HALVINGS: usize = 48;

/// The pair on its way through the step.
struct Flight<'a> {
    bodies: [Moving<'a>; 2],
    linear: [DVec3; 2],
    way: [DVec3; 2],
    time: f64,
}

impl Flight<'_> {
    fn forward(&mut self, dt: f64) {
        self.time += dt;
        (0..2).for_each(|k| self.way[k] += dt * self.linear[k]);
    }

    fn centres(&self) -> [DVec3; 2] {
        [0, 1].map(|k| self.bodies[k].pose.position + self.way[k])
    }

    /// Every point of the pair within `reach`.
    fn detect(&self, reach: f64, scratch: &mut Scratch, points: &mut Vec<ContactPoint>) {
        let place = |k: usize| {
            let b = &self.bodies[k];
            let turns = b.angular != DVec3::ZERO && self.time > 0.0;
            let rotation = if turns { rotate_exp(b.pose.rotation, self.time * b.angular) } else { b.pose.rotation };
            let pose = Pose { position: b.pose.position + self.way[k], rotation };
            if b.offset == Pose::IDENTITY { pose } else { pose.compose(&b.offset) }
        };
        points.clear();
        contact_points(self.bodies[0].shape, &place(0), self.bodies[1].shape, &place(1), reach, scratch, points);
    }

    /// Velocity of the turning of either body at a point.
    fn turning(&self, k: usize, arm: DVec3) -> DVec3 {
        let b = &self.bodies[k];
        if b.angular == DVec3::ZERO { DVec3::ZERO } else { (b.pose.rotation * b.angular).cross(arm) }
    }

    fn arms(&self, p: &ContactPoint) -> [DVec3; 2] {
        let [c1, c2] = self.centres();
        [p.point1 - c1, p.point2 - c2]
    }

    /// `n · u` at a point.
    fn rate(&self, p: &ContactPoint) -> f64 {
        let arms = self.arms(p);
        let [u1, u2] = [0, 1].map(|k| self.linear[k] + self.turning(k, arms[k]));
        p.normal.dot(u1 - u2)
    }

    /// The point at the start of the step, with the gap from which the predicted motion leads to the one found.
    fn brought_back(&self, p: &ContactPoint) -> ContactPoint {
        let arms = self.arms(p);
        let ways = [0, 1].map(|k| self.way[k] + self.time * self.turning(k, arms[k]));
        let [point1, point2] = [0, 1].map(|k| self.bodies[k].pose.position + arms[k]);
        // a row that asks bodies to part would give them energy
        ContactPoint { gap: (p.gap - p.normal.dot(ways[0] - ways[1])).max(0.0), point1, point2, ..*p }
    }

    /// After an impact nothing goes on along its normal.
    fn stop(&mut self, normal: DVec3, rate: f64) {
        let masses = self.bodies.map(|b| b.inverse_mass);
        let total = masses[0] + masses[1];
        if total > 0.0 {
            self.linear[0] -= masses[0] / total * rate * normal;
            self.linear[1] += masses[1] / total * rate * normal;
        }
    }
}

/// Fills `out` with the points at which a fast pair meets within the time `h`: none where it passes. `at_start` is the gap, in parts of
/// `size`, up to which points at the start of the step are rows as they stand. False where the bodies are deep within each other.
pub(super) fn sweep(
    bodies: [Moving; 2],
    h: f64,
    size: f64,
    at_start: f64,
    scratch: &mut Scratch,
    points: &mut Vec<ContactPoint>,
    out: &mut Vec<Met>,
) -> bool {
    out.clear();
    let swing = bodies[0].swing + bodies[1].swing;
    let linear = bodies.map(|b| b.linear);
    let convex = bodies.iter().all(|b| b.shape.is_convex());
    let mut flight = Flight { bodies, linear, way: [DVec3::ZERO; 2], time: 0.0 };
    let far = bodies.map(|b| b.pose.position.length() + h * b.linear.length());
    let touch = TOUCH * size + 1e-14 * (far[0] + far[1]);
    let mut stops = 0;
    for round in 0..ROUNDS {
        let left = h - flight.time;
        let fastest = (flight.linear[0] - flight.linear[1]).length() + swing;
        flight.detect(left * fastest + touch.max(at_start * size), scratch, points);
        if round == 0 {
            if points.iter().any(|p| p.gap < -DEEP * size) {
                return false;
            }
            let near = touch.max(at_start * size);
            out.extend(points.iter().filter(|p| p.gap <= near).map(|p| Met { point: *p, later: false }));
        }
        // noise of a motion along a plane
        let still = 1e-9 * fastest;
        let near = if flight.time == 0.0 { touch.max(at_start * size) } else { touch };
        let hits = |f: &Flight, p: &ContactPoint| p.gap <= near && f.rate(p) < -still;
        let worst = points.iter().filter(|p| hits(&flight, p)).map(|p| (flight.rate(p), p.normal)).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((rate, normal)) = worst {
            let later = flight.time > 0.0;
            for p in points.iter().filter(|p| p.gap <= PATCH * size && p.normal.dot(normal) > SAME_WAY) {
                let point = if later { flight.brought_back(p) } else { *p };
                if out.iter().all(|m| m.point.feature != p.feature) {
                    out.push(Met { point, later });
                }
            }
            flight.stop(normal, rate);
            stops += 1;
            if stops >= MOST || later && convex {
                return true;
            }
            continue;
        }
        if left <= 0.0 {
            break;
        }
        // points that slide along are passed over
        let slides = |f: &Flight, p: &ContactPoint| p.gap <= near && f.rate(p) >= -still;
        let needed = |p: &ContactPoint| {
            let closing = p.normal.dot(flight.linear[1] - flight.linear[0]) + swing;
            if closing > 0.0 { p.gap.max(0.0) / closing } else { f64::INFINITY }
        };
        let free = points.iter().filter(|p| !slides(&flight, p)).map(needed).fold(f64::INFINITY, f64::min);
        if free >= left && swing == 0.0 && convex {
            // nothing turns, so the normals that part the bodies do so to the end
            flight.forward(left);
            break;
        }
        // later rounds go ahead by more: a grazing pass or a slow turn would take many
        let least = left * if round < 32 { 1e-6 } else { 0.02 };
        let step = free.max(least).min(left);
        let (time, way) = (flight.time, flight.way);
        flight.forward(step);
        if step > free {
            halve(&mut flight, (time, way), touch, scratch, points);
        }
    }
    // bodies that end close by may still be pushed by others
    flight.detect(NEAR * size, scratch, points);
    for p in points.iter().filter(|p| p.gap >= 0.0) {
        let mut point = flight.brought_back(p);
        point.gap = point.gap.max(-h * flight.rate(p));
        if out.iter().all(|m| m.point.feature != p.feature) {
            out.push(Met { point, later: true });
        }
    }
    true
}

/// Goes back to the time of touch, where a step that was not conservative went beyond it.
fn halve(
    flight: &mut Flight,
    (mut low, mut low_way): (f64, [DVec3; 2]),
    touch: f64,
    scratch: &mut Scratch,
    points: &mut Vec<ContactPoint>,
) {
    let beyond = |f: &Flight, scratch: &mut Scratch, points: &mut Vec<ContactPoint>| {
        f.detect(0.0, scratch, points);
        points.iter().any(|p| p.gap < -touch)
    };
    if !beyond(flight, scratch, points) {
        return;
    }
    let (mut high, mut high_way) = (flight.time, flight.way);
    for _ in 0..HALVINGS {
        (flight.time, flight.way) = (0.5 * (low + high), [0, 1].map(|k| 0.5 * (low_way[k] + high_way[k])));
        if beyond(flight, scratch, points) {
            (high, high_way) = (flight.time, flight.way);
        } else {
            (low, low_way) = (flight.time, flight.way);
        }
    }
    (flight.time, flight.way) = (high, high_way);
}

/// Opens the gaps of a round body to edges and corners that it passes in a step of h (s).
///
/// ```text
/// gap + h n·u ≥ 0        n: the direction of the start        gap(x + h u) ≥ gap(x) + h n·u        distances of convex bodies are convex
/// ```
///
/// A ball that comes along a floor of slabs meets the next one at an angle, and would be stopped by the first edge that it is to pass level. So a
/// row that the present velocities do not meet gets what it lacks to the gap where they lead: at these velocities it holds nothing that
/// the bodies miss. `least` (m) is no matter, and keeps rounding from making an impact of it.
pub(super) fn pass_by(
    touches: &mut [Touch],
    bodies: [Moving; 2],
    [h, least]: [f64; 2],
    scratch: &mut Scratch,
    points: &mut Vec<ContactPoint>,
) {
    let mut flight = Flight { bodies, linear: bodies.map(|b| b.linear), way: [DVec3::ZERO; 2], time: 0.0 };
    let start = flight.centres();
    let way = |flight: &Flight, t: &Touch| {
        let [u1, u2] = [(0, t.point1), (1, t.point2)].map(|(k, point)| flight.linear[k] + flight.turning(k, point - start[k]));
        h * t.normal.dot(u1 - u2)
    };
    if !touches.iter().any(|t| t.gap > 0.0 && t.gap + way(&flight, t) < 0.0) {
        return;
    }
    flight.forward(h);
    flight.detect(0.0, scratch, points);
    let there = points.iter().map(|p| p.gap).fold(0.0, f64::min);
    for touch in touches.iter_mut().filter(|t| t.gap > 0.0) {
        let needed = there - way(&flight, touch);
        if needed > touch.gap + least {
            touch.gap = needed + least;
        }
    }
}
