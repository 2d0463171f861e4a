//! Two cylinders.
//!
//! ```text
//! s(n) = n·t − ρ₁(n) − ρ₂(n)        ρ(n) = h |n·z| + r |n − (n·z) z|        n from the first to the second, t between the centres
//! ```
//!
//! Caps, walls and crossed walls have directions of their own. Where a rim takes part, Newton's method climbs on the sphere (rim and rim) or on
//! the circle across the axis of the one whose wall meets the rim:
//!
//! ```text
//! g = ∇s,   −Hess s = Σ r/|n − (n·z) z| τ τᵀ + s I        τ: across z and n
//! ```
//!
//! Where s > 0 it is concave, so what has settled there is the best direction; where the cylinders overlap, |s| keeps the way upwards. Where
//! Newton's method ends at a cap or comes to nothing, n is the fixed point of "shift the second cylinder away along n, take the closest
//! points, let n join them".

use glam::{DMat3, DVec2, DVec3};

use super::clip::{Corner, Polygon};
use super::convex::SAME_DIRECTION;
use super::cores::{closest_on_segments, edge_key, face_key, rim_key, vertex_key};
use super::cylinder::{Cylinder, LEANING, RIM_POINTS, chord};
use super::points::Sink;
use crate::algebra::spatial::tangents;

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

    /// The best direction, and its separation; `None` beyond `reach`.
    fn best_axis(&self, reach: f64) -> Option<(DVec3, f64)> {
        let (z1, z2) = (DVec3::Z, self.rotation.z_axis);
        let size = self.one.reach_along(z1) + self.one.radius + self.two.half_height + self.two.radius;
        let mut best = (z1, f64::NEG_INFINITY);
        let aside = self.position - z1 * z1.dot(self.position);
        let axes = [z1, z2, z1.cross(z2).normalize_or_zero(), aside.normalize_or_zero(), self.position.normalize_or_zero()];
        let consider = |n: DVec3, best: &mut (DVec3, f64)| {
            let n = self.outward(n);
            let s = self.separation(n);
            if s > best.1 + 1e-12 * size {
                *best = (n, s);
            }
        };
        let axes = axes.into_iter().filter(|n| *n != DVec3::ZERO);
        axes.clone().for_each(|n| consider(n, &mut best));
        // cylinders that overlap by more than a hair have several directions that settle
        let hair = -HAIR * [self.one, self.two].map(|c| c.radius.min(c.half_height)).into_iter().fold(f64::INFINITY, f64::min);
        if best.1 > hair && self.is_cap(best.0) {
            return (best.1 <= reach).then_some(best);
        }
        // the line between the centres is at no kink
        for n in axes.rev() {
            if best.1 > reach {
                return None;
            }
            let start = self.shifted(self.outward(n), size, 3);
            let climbed = self.climb(start);
            consider(climbed.unwrap_or_else(|| self.shifted(start, size, 100)), &mut best);
            if best.1 > hair && (climbed.is_some() || self.is_cap(best.0)) {
                break;
            }
        }
        (best.1 <= reach).then_some(best)
    }

    fn outward(&self, n: DVec3) -> DVec3 {
        if n.dot(self.position) < 0.0 { -n } else { n }
    }

    /// The direction between the closest points after shifting along `n`, again and again.
    fn shifted(&self, mut n: DVec3, size: f64, times: usize) -> DVec3 {
        let mut p = self.one.closest(n * size);
        for _ in 0..times {
            let shift = n * (size - self.separation(n));
            let q = self.out_of_two(self.two.closest(self.point_seen_by_two(p - shift))) + shift;
            p = self.one.closest(q);
            let Some(next) = (q - p).try_normalize() else { return n };
            let change = (next - n).length_squared();
            n = next;
            if change < SETTLED {
                break;
            }
        }
        n
    }

    /// Whether `n` is the normal of a cap, and the best direction near it: the disc of the cap holds what ∇s pulls aside.
    fn is_cap(&self, n: DVec3) -> bool {
        let axes = [DVec3::Z, self.rotation.z_axis];
        let Some(cap) = (0..2).find(|&i| axes[i].cross(n) == DVec3::ZERO) else { return false };
        let (own, other) = if cap == 0 { (self.one, self.two) } else { (self.two, self.one) };
        let z = axes[1 - cap];
        let along = n.dot(z);
        let across = n - z * along;
        let width = across.length();
        if width < 1e-9 || along.abs() < 1e-9 {
            return false;
        }
        let g = self.position - z * other.half_height.copysign(along) - across * (other.radius / width);
        (g - n * g.dot(n)).length() <= own.radius
    }

    /// The maximum that Newton's method comes to from `n`, if it comes to one where a rim takes part.
    fn climb(&self, mut n: DVec3) -> Option<DVec3> {
        let axes = [DVec3::Z, self.rotation.z_axis];
        // which rim of each leads: that at +z, that at −z, or (0) its wall
        let mut rims = axes.map(|z| 1f64.copysign(n.dot(z)));
        let mut s = self.separation(n);
        for _ in 0..40 {
            let Newton { step, pull } = self.newton(n, axes, rims)?;
            // along the circle it is best: is it across as well?
            let leaves = [self.one, self.two].map(|c| c.half_height * (1.0 + 1e-9));
            if step.length_squared() < NEAR
                && let Some(i) = (0..2).find(|&i| rims[i] == 0.0 && pull[i].abs() > leaves[i])
            {
                rims[i] = 1f64.copysign(pull[i]);
                continue;
            }
            if step.length_squared() < SETTLED {
                return Some(n);
            }
            let mut share = 1.0;
            (n, rims, s) = loop {
                let (mut next, mut leads) = ((n + step * share).normalize(), rims);
                // past the circle it turns to the other rim: the wall is between
                for i in 0..2 {
                    if rims[i] != 0.0 && next.dot(axes[i]) * rims[i] < 0.0 {
                        next = (next - axes[i] * next.dot(axes[i])).normalize();
                        leads[i] = 0.0;
                    }
                }
                let crossed = leads == [0.0; 2];
                if crossed {
                    let across = axes[0].cross(axes[1]).try_normalize()?;
                    next = across * across.dot(n).signum();
                }
                let at = self.separation(next);
                if crossed || at >= s - f64::EPSILON * self.position.length() {
                    break (next, leads, at);
                }
                share *= 0.5;
                if share < 1e-3 {
                    return None;
                }
            };
        }
        None
    }

    /// Newton's step from `n` towards the best direction between these rims and walls.
    fn newton(&self, n: DVec3, axes: [DVec3; 2], rims: [f64; 2]) -> Option<Newton> {
        // ∇ρ, and √(r/|n_⊥|) τ
        let part = |cylinder: &Cylinder, z: DVec3, rim: f64| {
            let across = n - z * n.dot(z);
            let width = across.length();
            let out = across / width;
            (width > 1e-9)
                .then(|| (z * (cylinder.half_height * rim) + out * cylinder.radius, z.cross(out) * (cylinder.radius / width).sqrt()))
        };
        let ((g1, t1), (g2, t2)) = (part(self.one, axes[0], rims[0])?, part(self.two, axes[1], rims[1])?);
        let g = self.position - g1 - g2;
        // |s| leads upwards where s does not
        let s = n.dot(g);
        let mut pull = axes.map(|z| g.dot(z));
        let step = match rims.map(|r| r == 0.0) {
            // across both axes there is one direction, and g = λ₁ z₁ + λ₂ z₂ beside n
            [true, true] => {
                let c = axes[0].dot(axes[1]);
                pull = [pull[0] - c * pull[1], pull[1] - c * pull[0]].map(|x| x / (1.0 - c * c));
                DVec3::ZERO
            }
            [false, false] => {
                let (e, f) = tangents(n);
                let (a, b) = (DVec2::new(t1.dot(e), t2.dot(e)), DVec2::new(t1.dot(f), t2.dot(f)));
                let (aa, bb, ef) = (a.length_squared(), b.length_squared(), a.dot(b));
                let convex = aa + s > 0.0 && (aa + s) * (bb + s) > ef * ef;
                let round = if convex { s } else { s.abs() };
                let (ee, ff) = (aa + round, bb + round);
                let determinant = ee * ff - ef * ef;
                let (u, v) = (g.dot(e), g.dot(f));
                e * ((ff * u - ef * v) / determinant) + f * ((ee * v - ef * u) / determinant)
            }
            [wall, _] => {
                let e = axes[usize::from(!wall)].cross(n);
                let rims = t1.dot(e).powi(2) + t2.dot(e).powi(2);
                e * (g.dot(e) / (rims + if rims + s > 0.0 { s } else { s.abs() }))
            }
        };
        step.is_finite().then_some(Newton { step, pull })
    }
}

/// Overlap, in parts of the smallest length, up to which the first direction that settles is taken: another one could part the two by no more
/// than that overlap better.
const HAIR: f64 = 1e-4;
/// Square of a change of direction that is none.
const SETTLED: f64 = 1e-30;
/// The same for one that is small.
const NEAR: f64 = 1e-8;

/// What Newton's method finds at a direction.
struct Newton {
    /// The change of direction that it asks for.
    step: DVec3,
    /// What parts of ∇s the ends of walls that lead would have to take: no more than the half heights.
    pull: [f64; 2],
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
    let Some((n, separation)) = pair.best_axis(reach) else { return };
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
    let key = |z: f64, other: f64| match u32::from(z > 0.0) {
        end if flat(z) => face_key(end),
        end if flat(other) => rim_key(end),
        end => vertex_key(end),
    };
    let on_one = if flat(n.z) || upright(n.z) {
        let p = wall2[usize::from(m.z < 0.0)];
        p - n * separation
    } else {
        wall1[usize::from(n.z > 0.0)]
    };
    report((key(n.z, m.z), key(-m.z, n.z)), n, separation, on_one);
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
    let (cap1, cap2) = (face_key(u32::from(n.z > 0.0)), face_key(u32::from(m.z < 0.0)));
    // of the corners of a cap, the rim point that it leans towards
    let name = |towards: DVec3, k: usize| match Cylinder::farthest(towards) {
        Some((lowest, _)) if lowest == k => rim_key(u32::from(towards.z > 0.0)),
        _ => vertex_key(k as u32),
    };
    let inside_one = |p: DVec3| libm::hypot(p.x, p.y) <= pair.one.radius * (1.0 + 1e-10);
    let within_second = on_second.iter().filter(|p| inside_one(**p)).count();
    for (k, p) in on_second.into_iter().enumerate() {
        if inside_one(p) {
            polygon.corners.push(Corner::new(p, height(p), cap1, name(-m, k)));
        }
    }
    // along n onto the plane of the second cap
    let normal = pair.rotation.z_axis;
    let origin = pair.out_of_two(DVec3::Z * pair.two.half_height.copysign(-m.z));
    let drop = |p: DVec3| p + n * ((origin - p).dot(normal) / n.dot(normal));
    if within_second < RIM_POINTS {
        // the rim point that the second leans towards takes part
        let lean = DVec3::new(normal.x, normal.y, 0.0) * (n.z / normal.z);
        let lean = lean + DVec3::Z * n.z;
        for (k, p) in pair.one.cap(lean).into_iter().enumerate() {
            let p = drop(p);
            let local = pair.point_seen_by_two(p);
            if libm::hypot(local.x, local.y) <= pair.two.radius * (1.0 + 1e-10) {
                polygon.corners.push(Corner::new(p, height(p), name(lean, k), cap2));
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

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;

    #[test]
    fn no_direction_parts_two_cylinders_better_than_the_one_found() {
        let mut dice = Dice(3);
        let mut counts = [0; 2];
        for round in 0..3000 {
            let [one, two] = [0, 1].map(|_| Cylinder { half_height: 0.1 + dice.unit(), radius: 0.1 + dice.unit() });
            let mut rotation = DMat3::from_quat(dice.rotation());
            if round % 5 == 0 {
                rotation = DMat3::from_rotation_x(1e-9 * dice.unit());
            }
            let position = dice.vector() * 2.5;
            let pair = Pair { one: &one, two: &two, rotation: &rotation, position };
            let Some((n, best)) = pair.best_axis(f64::INFINITY) else { panic!("nothing is beyond an infinite reach") };
            assert!((n.length() - 1.0).abs() < 1e-14 && pair.separation(n) == best);
            // where they overlap a maximum need not be the largest one, and far inside it need not be one
            if best < -0.05 {
                continue;
            }
            let spread = if best > 0.0 { 2.0 } else { 1e-3 };
            for width in [spread, 1e-2 * spread, 1e-4 * spread] {
                for _ in 0..50 {
                    let other = (n + dice.vector() * width).normalize();
                    let s = pair.separation(other);
                    assert!(s <= best + 1e-12 * (1.0 + position.length()), "{round}: {best} {s} {n} {other}");
                }
            }
            counts[usize::from(best > 0.0)] += 1;
        }
        assert!(counts[0] > 20 && counts[1] > 2000, "{counts:?}");
    }
}
