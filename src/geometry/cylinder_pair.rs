//! Two cylinders.
//!
//! ```text
//! s(n) = n·t − ρ₁(n) − ρ₂(n)        ρ(n) = h |n·z| + r |n − (n·z) z|        n from the first to the second, t between the centres
//! ```
//!
//! Caps, walls and crossed walls have directions of their own. Rims do not: there the best n is the fixed point of "shift the second
//! cylinder away along n, take the closest points, let n join them", which converges because shifting along the true normal leaves it true.

use glam::{DMat3, DVec3};

use super::clip::{Corner, Polygon};
use super::convex::SAME_DIRECTION;
use super::cores::{closest_on_segments, edge_key, face_key, vertex_key};
use super::cylinder::{Cylinder, LEANING, RIM_POINTS, chord};
use super::points::Sink;

/// Two cylinders in the frame of the first.
struct Pair<'a> {
    one: &'a Cylinder,
    two: &'a Cylinder,
    rotation: &'a DMat3,
    position: DVec3,
}

impl Pair<'_> {
    fn seen_by_two(&self, n: DVec3) -> DVec3 {
        self.rotation.transpose() * n
    }

    fn point_seen_by_two(&self, p: DVec3) -> DVec3 {
        self.seen_by_two(p - self.position)
    }

    fn out_of_two(&self, p: DVec3) -> DVec3 {
        *self.rotation * p + self.position
    }

    fn separation(&self, n: DVec3) -> f64 {
        n.dot(self.position) - self.one.reach_along(n) - self.two.reach_along(self.seen_by_two(n))
    }

    /// The point of the rim of the second, near `p` in the plane of that rim, that lies above or below the rim of the first.
    fn onto_both_rims(&self, p: DVec3) -> Option<DVec3> {
        let local = self.point_seen_by_two(p);
        let (mut angle, radius) = (libm::atan2(local.y, local.x), self.two.radius);
        for _ in 0..CROSSING {
            let (sin, cos) = libm::sincos(angle);
            let at = self.out_of_two(DVec3::new(radius * cos, radius * sin, local.z));
            let along = *self.rotation * DVec3::new(-radius * sin, radius * cos, 0.0);
            let (off, slope) = (at.x * at.x + at.y * at.y - self.one.radius.powi(2), 2.0 * (at.x * along.x + at.y * along.y));
            if off.abs() <= 1e-12 * self.one.radius.powi(2) {
                return Some(at);
            }
            angle -= off / slope;
        }
        None
    }

    /// The best direction, and its separation.
    fn best_axis(&self) -> (DVec3, f64) {
        let (z1, z2) = (DVec3::Z, self.rotation.z_axis);
        let size = self.one.reach_along(z1) + self.one.radius + self.two.half_height + self.two.radius;
        let mut best = (z1, f64::NEG_INFINITY);
        let aside = self.position - z1 * z1.dot(self.position);
        let axes = [z1, z2, z1.cross(z2).normalize_or_zero(), aside.normalize_or_zero(), self.position.normalize_or_zero()];
        let consider = |n: DVec3, best: &mut (DVec3, f64)| {
            let n = if n.dot(self.position) < 0.0 { -n } else { n };
            let s = self.separation(n);
            if s > best.1 + 1e-12 * size {
                *best = (n, s);
            }
        };
        let axes = axes.into_iter().filter(|n| *n != DVec3::ZERO);
        axes.clone().for_each(|n| consider(n, &mut best));
        // overlapping cylinders have several directions that settle
        axes.for_each(|n| consider(self.settle(if n.dot(self.position) < 0.0 { -n } else { n }, size), &mut best));
        best
    }

    fn settle(&self, mut n: DVec3, size: f64) -> DVec3 {
        let mut p = self.one.closest(n * size);
        for _ in 0..100 {
            let shift = n * (size - self.separation(n));
            let q = self.out_of_two(self.two.closest(self.point_seen_by_two(p - shift))) + shift;
            p = self.one.closest(q);
            let Some(next) = (q - p).try_normalize() else { return n };
            let change = (next - n).length_squared();
            n = next;
            if change < 1e-30 {
                break;
            }
        }
        n
    }
}

/// Reports the contact points of two cylinders in the frame of the first.
pub(super) fn contact(
    one: &Cylinder,
    two: &Cylinder,
    rotation: &DMat3,
    position: DVec3,
    reach: f64,
    polygon: &mut Polygon,
    sink: &mut Sink,
) {
    let pair = Pair { one, two, rotation, position };
    let bound = libm::hypot(one.half_height, one.radius) + libm::hypot(two.half_height, two.radius) + reach;
    if position.length_squared() > bound * bound {
        return;
    }
    let (n, separation) = pair.best_axis();
    if separation > reach {
        return;
    }
    let m = pair.seen_by_two(n);
    let flat = |z: f64| z.abs() > SAME_DIRECTION;
    let upright = |z: f64| z.abs() < 0.005;
    let mut report = |keys: (u32, u32), n: DVec3, gap: f64, on_one: DVec3| {
        if gap <= reach {
            sink.push(keys, -n, gap, on_one, on_one + n * gap);
        }
    };
    let (cap1, cap2) = (face_key(u32::from(n.z > 0.0)), face_key(u32::from(m.z < 0.0)));
    // cap on cap, also where one stands on its rim: the other is the one that lies across the normal
    if n.z.abs().max(m.z.abs()) > ACROSS && n.z.abs().min(m.z.abs()) > LEANING {
        let merge = 1e-9 * one.radius.min(two.radius);
        if n.z.abs() >= m.z.abs() {
            let n = DVec3::Z * 1f64.copysign(n.z);
            caps(&pair, n, polygon);
            polygon.tidy(reach, merge);
            for c in &polygon.corners {
                report((c.reference, c.incident), n, c.gap, c.point - n * c.gap);
            }
        } else {
            let turned = rotation.transpose();
            let swapped = Pair { one: two, two: one, rotation: &turned, position: -(turned * position) };
            let back = DVec3::Z * 1f64.copysign(-m.z);
            caps(&swapped, back, polygon);
            polygon.tidy(reach, merge);
            for c in &polygon.corners {
                report((c.incident, c.reference), -(*rotation * back), c.gap, pair.out_of_two(c.point));
            }
        }
        let deepest = polygon.corners.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        if deepest <= separation + PARTIAL * one.radius.min(two.radius) {
            return;
        }
    }
    let (wall1, wall2) = (one.wall(n), two.wall(-m).map(|p| pair.out_of_two(p)));
    if flat(n.z) && upright(m.z) {
        let n = DVec3::Z * 1f64.copysign(n.z);
        let wall = two.wall(-pair.seen_by_two(n)).map(|p| pair.out_of_two(p));
        if let Some(ends) = chord(wall, one.radius) {
            for (k, t) in ends.into_iter().enumerate() {
                let p = wall[0].lerp(wall[1], t);
                let gap = n.dot(p) - one.half_height;
                report((cap1, edge_key(k as u32)), n, gap, p - n * gap);
            }
            return;
        }
    }
    if upright(n.z) && flat(m.z) {
        let n = rotation.z_axis * 1f64.copysign(m.z);
        let wall = one.wall(n);
        if let Some(ends) = chord(wall.map(|p| pair.point_seen_by_two(p)), two.radius) {
            for (k, t) in ends.into_iter().enumerate() {
                let p = wall[0].lerp(wall[1], t);
                report((edge_key(k as u32), cap2), n, n.dot(position - p) - two.half_height, p);
            }
            return;
        }
    }
    if upright(n.z) && upright(m.z) {
        let (u, v) = (wall1[1] - wall1[0], wall2[1] - wall2[0]);
        if u.cross(v).length() < 0.02 * u.length() * v.length() {
            let ends = wall2.map(|x| ((x - wall1[0]).dot(u) / u.length_squared()).clamp(0.0, 1.0));
            for (k, s) in ends.into_iter().enumerate() {
                let p = wall1[0].lerp(wall1[1], s);
                let t = ((p - wall2[0]).dot(v) / v.length_squared()).clamp(0.0, 1.0);
                report((edge_key(k as u32), edge_key(2)), n, n.dot(wall2[0].lerp(wall2[1], t) - p), p);
            }
        } else {
            let (s, _) = closest_on_segments(wall1, wall2);
            report((edge_key(2), edge_key(2)), n, separation, wall1[0].lerp(wall1[1], s));
        }
        return;
    }
    // A rim is involved: its lowest point leads, the other body follows along n.
    let key = |z: f64| if flat(z) { cap1 } else { vertex_key(u32::from(z > 0.0)) };
    let on_one = if flat(n.z) || upright(n.z) {
        let p = wall2[usize::from(m.z < 0.0)];
        p - n * separation
    } else {
        wall1[usize::from(n.z > 0.0)]
    };
    report((key(n.z), key(-m.z)), n, separation, on_one);
}

/// Newton steps to where two rims cross.
const CROSSING: usize = 12;
/// Cosine up to which a cap lies across the normal.
const ACROSS: f64 = 0.995;
/// What the patch of two caps may miss of the deepest overlap, in parts of the smaller radius.
const PARTIAL: f64 = 1e-9;

/// The outline of the overlap of two caps, which may lean against each other, with heights along `n`; `n` is the normal of the first. Rim points of one within the other, and where the rims cross.
fn caps(pair: &Pair, n: DVec3, polygon: &mut Polygon) {
    let height = |p: DVec3| n.dot(p) - pair.one.half_height;
    let m = pair.seen_by_two(n);
    polygon.corners.clear();
    let on_second = pair.two.cap(-m).map(|p| pair.out_of_two(p));
    let inside_one = |p: DVec3| libm::hypot(p.x, p.y) <= pair.one.radius * (1.0 + 1e-10);
    let within_second = on_second.iter().filter(|p| inside_one(**p)).count();
    for (k, p) in on_second.into_iter().enumerate() {
        if inside_one(p) {
            polygon.corners.push(Corner::new(p, height(p), face_key(0), vertex_key(k as u32)));
        }
    }
    // along n onto the plane of the second cap
    let normal = pair.rotation.z_axis;
    let origin = pair.out_of_two(DVec3::Z * pair.two.half_height.copysign(-m.z));
    let drop = |p: DVec3| p + n * ((origin - p).dot(normal) / n.dot(normal));
    if within_second < RIM_POINTS {
        // the rim point that the second leans towards takes part
        let lean = DVec3::new(normal.x, normal.y, 0.0) * (n.z / normal.z);
        for (k, p) in pair.one.cap(lean + DVec3::Z * n.z).into_iter().enumerate() {
            let p = drop(p);
            let local = pair.point_seen_by_two(p);
            if libm::hypot(local.x, local.y) <= pair.two.radius * (1.0 + 1e-10) {
                polygon.corners.push(Corner::new(p, height(p), vertex_key(k as u32), face_key(0)));
            }
        }
        for (k, p) in crossings(pair.one.radius, pair.two.radius, origin).into_iter().flatten().enumerate() {
            let p = drop(p);
            let p = if normal.z.abs() > SAME_DIRECTION { Some(p) } else { pair.onto_both_rims(p) };
            let Some(p) = p else { continue };
            polygon.corners.push(Corner::new(p, height(p), edge_key(k as u32), edge_key(k as u32)));
        }
    }
    let centre = polygon.corners.iter().map(|c| c.point).sum::<DVec3>() / polygon.corners.len().max(1) as f64;
    let angle = |c: &Corner| libm::atan2(c.point.y - centre.y, c.point.x - centre.x);
    polygon.corners.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
}

/// Where a circle of radius `r1` about the z axis and one of radius `r2` about `centre` cross.
fn crossings(r1: f64, r2: f64, centre: DVec3) -> Option<[DVec3; 2]> {
    let d = libm::hypot(centre.x, centre.y);
    if d == 0.0 {
        return None;
    }
    let along = (d * d + r1 * r1 - r2 * r2) / (2.0 * d);
    let half_chord = r1 * r1 - along * along;
    if half_chord <= 0.0 {
        return None;
    }
    let (x, half) = (DVec3::new(centre.x / d, centre.y / d, 0.0), half_chord.sqrt());
    let y = DVec3::new(-x.y, x.x, 0.0) * half;
    Some([x * along + y, x * along - y])
}
