//! Where two bodies first overlap on the way that a step has given them.
//!
//! ```text
//! x(s) = x + s Δx + 4 s (1 − s) c,  R(s) = R exp(s θ)        c: 0 without joints
//! 0 ≤ s ≤ 1; a body that is held up stands still from its own s on
//! s ← s + max(gap + depth / closing, a small part of the body)
//! ```
//!
//! Rows are linear, and bodies turn, are thrown, or are led past the one row they have onto something else: whether they end where they
//! should is seen from the way itself. Unlike [`super::sweep`] nothing is predicted here, so the answer is a fact about the step.

use glam::{DQuat, DVec3};

use super::narrow::{ContactPoint, Scratch, contact_points};
use super::shapes::Shape;
use crate::algebra::spatial::{Pose, rotate_exp};

/// A body on its way through the step.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) shape: &'a Shape,
    /// Shape frame in the body frame.
    pub(super) offset: Pose,
    /// At the start of the step.
    pub(super) pose: Pose,
    /// m, world
    pub(super) shift: DVec3,
    /// Rotation vector (rad, body axes).
    pub(super) turn: DVec3,
    /// By how much it has left the straight way in the middle (m, world), as its joints ask for: see [`super::linked`].
    pub(super) bulge: DVec3,
    /// Of the body about its centre (m); 0 where turning changes nothing.
    pub(super) radius: f64,
    /// Part of the way after which it stands still.
    pub(super) until: f64,
}

impl Way<'_> {
    /// The same way of an image that stands elsewhere, and goes by so much farther (m).
    pub(super) fn of_image(mut self, [by, farther]: [DVec3; 2]) -> Self {
        self.pose.position += by;
        self.shift += farther;
        self
    }

    /// The body after this part of the step.
    pub(super) fn at(&self, s: f64) -> Pose {
        let s = s.min(self.until);
        let rotation = if self.turn == DVec3::ZERO { self.pose.rotation } else { rotate_exp(self.pose.rotation, s * self.turn) };
        Pose { position: self.pose.position + s * self.shift + 4.0 * s * (1.0 - s) * self.bulge, rotation }
    }

    /// Bound on how fast its farthest point moves against the straight way of its centre (m per step).
    pub(super) fn swing(&self) -> f64 {
        self.turn.length() * self.radius + 4.0 * self.bulge.length()
    }

    fn place(&self, s: f64) -> Pose {
        let pose = self.at(s);
        if self.offset == Pose::IDENTITY { pose } else { pose.compose(&self.offset) }
    }
}

/// A fast pair that overlaps on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) slots: [u32; 2],
    /// Part of the step.
    pub(super) at: f64,
    /// Gap that may be left (m, ≤ 0).
    pub(super) allowed: f64,
    /// Its points among those of all crossings.
    pub(super) points: [usize; 2],
}

/// The rotation vector of the turn from one orientation to another, of all that lead there the one nearest to `guess` (rad, body axes).
pub(super) fn turn_between(from: DQuat, to: DQuat, guess: DVec3) -> DVec3 {
    let q = from.conjugate() * to;
    let v = DVec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-12 {
        // none, or whole ones
        let turns = (guess.length() / std::f64::consts::TAU).round();
        return if turns == 0.0 { DVec3::ZERO } else { guess.normalize() * turns * std::f64::consts::TAU };
    }
    let (axis, angle) = (v / sine, 2.0 * libm::atan2(sine, q.w));
    let turns = ((guess.dot(axis) - angle) / std::f64::consts::TAU).round();
    axis * (angle + turns * std::f64::consts::TAU)
}

/// How far a body goes within a step against another one (m), as seen by the one of them that sees least of it: what rides on a turntable goes
/// nowhere. `way` is that of its centre against the other's, `turns` the turns of both (rad, world), of which the arc from the centre of the
/// other, `apart` away, departs from the tangent by `θ² d` at most.
///
/// ```text
/// min(‖w‖, ‖w − θ₁ × d‖ + θ₁² ‖d‖, ‖w − θ₂ × d‖ + θ₂² ‖d‖)
/// ```
#[inline]
pub(super) fn own_way(way: DVec3, turns: [DVec3; 2], apart: DVec3) -> f64 {
    let seen = |turn: DVec3| (way - turn.cross(apart)).length() + turn.length_squared() * apart.length();
    turns.into_iter().filter(|&turn| turn != DVec3::ZERO).map(seen).fold(way.length(), f64::min)
}

/// Least stride in parts of the smaller body, and the longest against a shape of many parts.
const STRIDE: f64 = 0.05;
const LONGEST: f64 = 0.5;
const ROUNDS: usize = 20_000;
const HALVINGS: usize = 40;

/// How far bodies may overlap on their way.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The smaller body's smallest length (m).
    pub(super) size: f64,
    /// Overlap that a step may add (m).
    pub(super) more: f64,
    /// Overlap at the start beyond which the pair is no matter of this step (m).
    pub(super) deep: f64,
    /// Of an overlap at the start, the share that the step takes back, and the most it can (m).
    pub(super) back: [f64; 2],
}

/// What a way through something looks like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    /// The part of the step up to which the overlap stays within its limit.
    pub(super) at: f64,
    /// Gap that may be left (m, ≤ 0): an overlap at the start, less what is taken back.
    pub(super) allowed: f64,
}

/// The first place where two bodies overlap more than they may; with the points of the pair just beyond it, up to `reach` (m).
pub(super) fn first_overlap(
    ways: &[Way; 2],
    limits: &Limits,
    reach: f64,
    scratch: &mut Scratch,
    points: &mut Vec<ContactPoint>,
) -> Option<Met> {
    let size = limits.size;
    let convex = ways.iter().all(|w| w.shape.is_convex());
    let mut detect = |s: f64, reach: f64, points: &mut Vec<ContactPoint>| {
        points.clear();
        contact_points(ways[0].shape, &ways[0].place(s), ways[1].shape, &ways[1].place(s), reach, scratch, points);
        points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min)
    };
    let (mut allowed, mut depth) = (0.0, limits.more);
    let (mut low, mut s) = (0.0, 0.0);
    for round in 0..ROUNDS {
        // what moves, and until when
        let moves = |w: &Way| if s < w.until { (w.shift, w.swing()) } else { (DVec3::ZERO, 0.0) };
        let [(shift1, swing1), (shift2, swing2)] = [moves(&ways[0]), moves(&ways[1])];
        let end = ways.iter().map(|w| w.until).filter(|&u| u > s).fold(1.0, f64::min);
        let (shift, swing) = (shift1 - shift2, swing1 + swing2);
        let fastest = shift.length() + swing;
        let gap = detect(s, (end - s) * fastest, points);
        if s == 0.0 && gap < 0.0 {
            if gap < -limits.deep {
                return None;
            }
            allowed = gap + (limits.back[0] * -gap).min(limits.back[1]);
            depth = limits.more - allowed;
        }
        if gap < -depth {
            if s == 0.0 {
                return None;
            }
            let mut high = s;
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if detect(middle, 0.0, points) < -depth {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            detect(high, reach, points);
            return Some(Met { at: low, allowed });
        }
        if s >= 1.0 {
            break;
        }
        low = s;
        if fastest == 0.0 {
            s = end;
            continue;
        }
        let needed = |p: &ContactPoint| {
            let closing = swing - p.normal.dot(shift);
            if closing > 0.0 { (p.gap + depth).max(0.0) / closing } else { f64::INFINITY }
        };
        let free = points.iter().map(needed).fold(f64::INFINITY, f64::min);
        // long slides in contact are followed more coarsely
        let least = STRIDE * size / fastest * if round < 500 { 1.0 } else { 4.0 };
        // not every part of a surface shows among the points at a distance
        let longest = if convex { f64::INFINITY } else { LONGEST * size / fastest };
        let step = free.min(longest).max(least);
        s = if step >= end - s { end } else { s + step };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(shape: &Shape, position: DVec3, shift: DVec3, turn: DVec3) -> Way<'_> {
        Way {
            shape,
            offset: Pose::IDENTITY,
            pose: Pose::at(position),
            shift,
            turn,
            bulge: DVec3::ZERO,
            radius: shape.bounding_radius(),
            until: 1.0,
        }
    }

    fn meet(ways: &[Way; 2]) -> Option<f64> {
        let limits = Limits { size: 0.1, more: 1e-4, deep: 2e-3, back: [0.1, 0.0] };
        first_overlap(ways, &limits, 0.0, &mut Scratch::default(), &mut Vec::new()).map(|met| met.at)
    }

    #[test]
    fn a_ball_meets_a_sheet_in_its_way_and_stops_there() {
        let (ball, sheet) = (Shape::ball(0.1).expect("valid"), Shape::cuboid(DVec3::new(1e-4, 1.0, 1.0)).expect("valid"));
        let still = way(&sheet, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
        for start in [-0.2, -1.3, -4.9] {
            let flies = way(&ball, DVec3::X * start, DVec3::X * 5.2, DVec3::ZERO);
            let at = meet(&[flies, still]).expect("it is in the way");
            assert!((start + 5.2 * at + 0.1).abs() < 2.1e-4, "{start}: {at}");
            let stopped = Way { until: at, ..flies };
            assert_eq!((meet(&[stopped, still]), meet(&[still, stopped])), (None, None));
        }
        let passes = way(&ball, DVec3::new(-2.0, 1.101, 0.0), DVec3::X * 5.2, DVec3::ZERO);
        assert_eq!(meet(&[passes, still]), None);
    }

    #[test]
    fn a_rod_that_only_turns_meets_what_its_tip_sweeps() {
        let (rod, ball) = (Shape::capsule(1.0, 0.05).expect("valid"), Shape::ball(0.1).expect("valid"));
        let turns = |angle: f64| way(&rod, DVec3::ZERO, DVec3::ZERO, DVec3::X * angle);
        // its axis is z; after a quarter of a turn about x it is y
        let still = way(&ball, DVec3::NEG_Y * 0.9, DVec3::ZERO, DVec3::ZERO);
        assert!(meet(&[turns(1.0), still]).is_none() && meet(&[turns(3.0), still]).is_some_and(|s| s > 0.4 && s < 0.53));
    }

    #[test]
    fn what_rides_along_goes_nowhere() {
        let (turn, apart) = (DVec3::Z * 0.03, DVec3::new(0.5, 0.0, 0.03));
        let rides = turn.cross(apart);
        assert!(own_way(rides, [turn; 2], apart) < 0.04 * rides.length());
        // either of the two may be the one that turns
        assert!(own_way(rides, [DVec3::ZERO, turn], apart) < 0.04 * rides.length());
        assert_eq!(own_way(rides, [DVec3::ZERO; 2], apart), rides.length());
        assert!(own_way(-rides, [turn; 2], apart) == rides.length(), "against the turn");
        assert!(own_way(rides + DVec3::X * 0.2, [turn; 2], apart) > 0.2, "and out of it");
        // what turns far leaves the tangent
        let far = DVec3::Z * 1.2;
        assert_eq!(own_way(far.cross(apart), [far; 2], apart), far.cross(apart).length());
    }

    #[test]
    fn turns_keep_their_whole_turns() {
        for theta in [DVec3::ZERO, DVec3::new(0.3, -0.1, 2.0), DVec3::new(5.0, 1.0, -7.0), DVec3::Z * 20.0] {
            let from = rotate_exp(DQuat::IDENTITY, DVec3::new(1.0, 0.4, 0.2));
            let found = turn_between(from, rotate_exp(from, theta), theta * 1.01);
            assert!((found - theta).length() < 1e-9, "{found} instead of {theta}");
        }
    }
}
