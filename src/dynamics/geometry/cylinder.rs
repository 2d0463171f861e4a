//! Cylinders.
//!
//! ```text
//! s(n) = min_{b ∈ B} n·b − h |n_z| − r |n_⊥|        n from the cylinder to B, in the cylinder's frame
//! ```
//!
//! The normal is found as the best of a list: axis, faces of B, and for each edge of B the directions in which it can meet wall and rim.
//! Each is judged by the exact s(n), so that a poor member of the list does no harm. The features that lie across the best direction then
//! meet: a face of B is always the reference, as for polyhedra.

use glam::{DMat3, DVec3};

use super::clip::Polygon;
use super::convex::{SAME_DIRECTION, Tolerance};
use super::cores::{Coordinates, Core, closest_on_segments, edge_key, face_key, rim_key, vertex_key};
use super::points::Sink;
use super::polyhedron::Polyhedron;
use super::sat::steady;

/// Number of fixed points on a rim. A cylinder that leans touches with its lowest point as well, so that it tips over its true edge; to statics, and to
/// mortar, one that stands upright is an octagon: narrower by up to 7.6 %, and of nine tenths of its area.
pub(super) const RIM_POINTS: usize = 8;

/// Cosine of the lean (20°) up to which a cap that stands on its rim meets with all of it, as far as the rest is within reach: with its
/// lowest point alone it would turn about that, sink with the other side, and stand on another point in the next step.
pub(super) const LEANING: f64 = 0.94;

/// Most steps towards the closest point of an edge; five do.
const NEWTON: usize = 40;

/// A cylinder about z, centre at the origin of the kernel's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cylinder {
    pub(super) half_height: f64,
    pub(super) radius: f64,
}

/// The wall where an edge or a corner touches it: the place goes on round it as one of a rim does.
const WALL: u32 = rim_key(2);

/// Direction of fixed rim point `k`.
fn rim_direction(k: usize) -> DVec3 {
    let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / RIM_POINTS as f64);
    DVec3::new(cos, sin, 0.0)
}

/// The horizontal part of `n` as a unit vector, unless there is none to speak of.
fn horizontal(n: DVec3) -> Option<DVec3> {
    let across = libm::hypot(n.x, n.y);
    (across > 1e-12).then(|| DVec3::new(n.x / across, n.y / across, 0.0))
}

impl Coordinates {
    /// An octagonal prism in a cylinder of the frame `rotation`, `position`; along `n` (in the kernel's frame) it reaches as far as the cylinder.
    pub(super) fn place_cylinder(&mut self, cylinder: &Cylinder, rotation: &DMat3, position: DVec3, n: DVec3) -> Core<'_> {
        let local_n = rotation.transpose() * n;
        let cap = cylinder.cap(local_n.with_z(1.0));
        let topology = Polyhedron::octagonal_prism();
        self.vertices.clear();
        for z in [-cylinder.half_height, cylinder.half_height] {
            self.vertices.extend(cap.iter().map(|p| *rotation * p.with_z(z) + position));
        }
        self.normals.clear();
        self.offsets.clear();
        for f in 0..topology.faces.len() {
            let corner = |k: usize| self.vertices[topology.face_sides(f)[k].vertex as usize];
            // no two corners coincide: the moved rim point stays within half a step of its old place
            let normal = (corner(1) - corner(0)).cross(corner(2) - corner(1)).normalize_or_zero();
            self.offsets.push(normal.dot(corner(0)));
            self.normals.push(normal);
        }
        self.core(topology, 0.0)
    }
}

impl Cylinder {
    /// Which fixed rim point is nearest to the one farthest along `n`, and the direction of that one.
    pub(super) fn farthest(n: DVec3) -> Option<(usize, DVec3)> {
        let nearer = |d: DVec3, best: usize, k: usize| if rim_direction(k).dot(d) > rim_direction(best).dot(d) { k } else { best };
        horizontal(n).map(|d| ((0..RIM_POINTS).fold(0, |best, k| nearer(d, best, k)), d))
    }

    /// The corners of an octagon in the cap on the side of `n`. The rim point farthest along `n` takes the place of the nearest fixed one:
    /// the body then starts to tip over its true edge.
    pub(super) fn cap(&self, n: DVec3) -> [DVec3; RIM_POINTS] {
        let mut directions: [DVec3; RIM_POINTS] = std::array::from_fn(rim_direction);
        if let Some((nearest, d)) = Self::farthest(n) {
            directions[nearest] = d;
        }
        directions.map(|d| d * self.radius + DVec3::Z * self.half_height.copysign(n.z))
    }

    /// The line of the wall farthest along `n`, from bottom to top.
    pub(super) fn wall(&self, n: DVec3) -> [DVec3; 2] {
        let foot = horizontal(n).unwrap_or(DVec3::X) * self.radius;
        [foot - DVec3::Z * self.half_height, foot + DVec3::Z * self.half_height]
    }

    pub(super) fn reach_along(&self, n: DVec3) -> f64 {
        self.half_height * n.z.abs() + self.radius * n.truncate().length()
    }

    /// Closest point of the solid to `p`.
    pub(super) fn closest(&self, p: DVec3) -> DVec3 {
        let rho = p.truncate().length();
        let shrink = if rho > self.radius { self.radius / rho } else { 1.0 };
        DVec3::new(p.x * shrink, p.y * shrink, p.z.clamp(-self.half_height, self.half_height))
    }

    /// A ball: its normal (from cylinder to ball) and the distance of its centre from the surface, negative inside; and a key.
    pub(super) fn point(&self, c: DVec3) -> (DVec3, f64, u32) {
        let on_solid = self.closest(c);
        let outside = c - on_solid;
        let distance = outside.length();
        let key = |n: DVec3| u32::from(n.z.abs() > 1e-9) + 2 * u32::from(n.z < -1e-9) + 4 * u32::from(libm::hypot(n.x, n.y) > 1e-9);
        if distance > 0.0 {
            let n = outside / distance;
            return (n, distance, key(n));
        }
        let (wall, cap) = (libm::hypot(c.x, c.y) - self.radius, c.z.abs() - self.half_height);
        if wall > cap {
            let n = horizontal(c).unwrap_or(DVec3::X);
            (n, wall, key(n))
        } else {
            let n = DVec3::Z * 1f64.copysign(c.z);
            (n, cap, key(n))
        }
    }

    /// Separation of a core along `n`.
    fn separation(&self, b: &Core, n: DVec3) -> f64 {
        -b.support(-n).0 - self.reach_along(n)
    }

    /// Point of the segment that is closest to the solid: the first root of a derivative that never falls.
    ///
    /// ```text
    /// f(t) = (p − closest(p)) · d,   p = q₀ + t d        x: place along d across z, ρ² = x² + const
    /// outside the wall f'' has the sign of x, elsewhere it is 0
    /// ```
    ///
    /// Between the places where p passes wall, caps and x = 0 the derivative is convex or concave, and Newton's method from the end where
    /// `f f'' ≥ 0` goes to the root without turning.
    fn closest_on_edge(&self, q: [DVec3; 2]) -> f64 {
        let along = q[1] - q[0];
        let (flat, foot) = (along.truncate(), q[0].truncate());
        let at = |t: f64| (foot + flat * t, q[0].z + along.z * t);
        let outside = |t: f64| at(t).0.length() > self.radius;
        let beyond = |t: f64| at(t).1.abs() > self.half_height;
        // f and its derivative, on this side of wall and caps
        let slope = |t: f64, outside: bool, beyond: bool| {
            let (p, z) = at(t);
            let (mut first, mut second) = (0.0, 0.0);
            if outside {
                let (rho, x) = (p.length(), flat.dot(p));
                let shrink = self.radius / rho;
                first = x * (1.0 - shrink);
                second = flat.length_squared() * (1.0 - shrink) + shrink * (x / rho).powi(2);
            }
            if beyond {
                first += (z - self.half_height.copysign(z)) * along.z;
                second += along.z * along.z;
            }
            (first, second)
        };
        let height = |t: f64| slope(t, outside(t), beyond(t)).0;
        // what rounding leaves on the surface
        let noise = 4.0 * f64::EPSILON * along.length() * (q[0].length() + along.length());
        if along == DVec3::ZERO || height(0.0) >= -noise {
            return 0.0;
        }
        let mut turns = [1.0; 6];
        let mut count = 1;
        let mut turn = |t: f64| {
            if t > 0.0 && t < 1.0 {
                let place = turns[..count].iter().position(|x| t < *x).unwrap_or(count);
                turns.copy_within(place..count, place + 1);
                turns[place] = t;
                count += 1;
            }
        };
        if let Some([enters, leaves]) = chord(q, self.radius) {
            [enters, leaves].into_iter().for_each(&mut turn);
        }
        turn(-flat.dot(foot) / flat.length_squared());
        [-self.half_height, self.half_height].into_iter().for_each(|cap| turn((cap - q[0].z) / along.z));
        let mut low = 0.0;
        for &high in &turns[..count] {
            if height(high) < -noise {
                low = high;
                continue;
            }
            let middle = 0.5 * (low + high);
            let (outside, beyond) = (outside(middle), beyond(middle));
            let mut t = if flat.dot(at(middle).0) >= 0.0 { high } else { low };
            for _ in 0..NEWTON {
                let (first, second) = slope(t, outside, beyond);
                let next = (t - first / second).clamp(low, high);
                if first.abs() <= noise || !next.is_finite() || (next - t).abs() <= f64::EPSILON {
                    break;
                }
                t = next;
            }
            return t;
        }
        1.0
    }

    /// The best separating direction towards a core, and its separation; `None` beyond `reach`.
    fn best_axis(&self, b: &Core, reach: f64) -> Option<(DVec3, f64)> {
        let mut best = (DVec3::Z, f64::NEG_INFINITY);
        let own = self.radius.min(self.half_height);
        let steady = steady(own, if b.size > 0.0 { b.size } else { own });
        let consider = |n: DVec3, best: &mut (DVec3, f64)| {
            let s = self.separation(b, n);
            // the ones that come first are exact directions; a later one must really be better
            if s > best.1 + steady {
                *best = (n, s);
            }
        };
        for normal in b.normals {
            consider(-*normal, &mut best);
        }
        consider(DVec3::Z, &mut best);
        consider(DVec3::NEG_Z, &mut best);
        if best.1 > reach {
            return None;
        }
        for e in 0..b.topology.edges.len() {
            let q = b.edge(e);
            let along = q[1] - q[0];
            if let Some(n) = DVec3::Z.cross(along).try_normalize() {
                consider(n, &mut best);
                consider(-n, &mut best);
            }
            let p = q[0] + along * self.closest_on_edge(q);
            if let Some(radial) = horizontal(p) {
                consider(radial, &mut best);
                // an edge across the rim: normal to both
                let tangent = DVec3::Z.cross(radial);
                if let Some(n) = along.cross(tangent).try_normalize() {
                    consider(if n.dot(radial) < 0.0 { -n } else { n }, &mut best);
                }
            }
            let outside = p - self.closest(p);
            if outside.length() > 1e-9 * self.radius {
                consider(outside.normalize(), &mut best);
            }
            if best.1 > reach {
                return None;
            }
        }
        Some(best)
    }
}

/// The rim points or wall line of a cylinder as a core without faces.
fn feature<'a>(cylinder: &Cylinder, n: DVec3, coordinates: &'a mut Coordinates) -> (Core<'a>, bool) {
    coordinates.vertices.clear();
    let flat = n.z.abs() > LEANING;
    if flat {
        coordinates.vertices.extend(cylinder.cap(n));
    } else {
        coordinates.vertices.extend(cylinder.wall(n));
    }
    (coordinates.bare(), flat)
}

/// Reports the contact points of a cylinder (A) with a core (B) in the frame of the cylinder; `reach` includes the radius of the core.
pub(super) fn contact(cylinder: &Cylinder, b: &Core, reach: f64, polygon: &mut Polygon, coordinates: &mut Coordinates, sink: &mut Sink) {
    let Some((n, separation)) = cylinder.best_axis(b, reach) else { return };
    let mut report = |keys: (u32, u32), n: DVec3, distance: f64, on_a: DVec3| {
        if distance <= reach {
            sink.push(keys, -n, distance - b.radius, on_a, on_a + n * (distance - b.radius));
        }
    };
    let facing = b.normals.iter().enumerate().fold((SAME_DIRECTION, None), |best, (f, m)| {
        let cosine = -n.dot(*m);
        if cosine > best.0 { (cosine, Some(f)) } else { best }
    });
    let side = u32::from(n.z > 0.0) * RIM_POINTS as u32;
    if let Some(face) = facing.1 {
        // which features of the cylinder lie across the face itself
        let n = -b.normals[face];
        let (core, flat) = feature(cylinder, n, coordinates);
        let tolerance = Tolerance::of(b, &core);
        polygon.clip(b, face, &core, tolerance.snap);
        let lowest = polygon.corners.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        // beside the face something else may be nearer
        let direct = separation <= 0.0 || lowest * SAME_DIRECTION <= separation + tolerance.snap;
        if !direct {
            polygon.corners.clear();
        }
        polygon.tidy(reach, tolerance.merge);
        let lowest = Cylinder::farthest(n).filter(|_| flat).map(|(k, _)| vertex_key(k as u32));
        for c in &polygon.corners {
            let key = match flat {
                true if lowest == Some(c.incident) => rim_key(u32::from(n.z > 0.0)),
                true => c.incident ^ side,
                false if c.incident < edge_key(0) => rim_key(c.incident),
                false => c.incident ^ face_key(1),
            };
            report((key, c.reference), n, c.gap, c.point);
        }
        if !polygon.corners.is_empty() {
            return;
        }
    }
    // the edge of B that lies across n, if there is one
    let (depth, vertex) = b.support(-n);
    let on_b = b.vertices[vertex];
    let across = (0..b.topology.edges.len()).find(|&e| {
        let q = b.edge(e);
        let lies = |p: DVec3| -depth + 0.005 * (q[1] - q[0]).length() > n.dot(p);
        b.topology.edges[e].vertices.contains(&(vertex as u32)) && q[0] != q[1] && q.iter().all(|p| lies(*p))
    });
    let single = |on_b: DVec3| on_b - n * n.dot(on_b) + n * cylinder.reach_along(n);
    if n.z.abs() > SAME_DIRECTION
        && let Some(e) = across
    {
        // an edge on a cap: the chord that lies within the rim
        let n = DVec3::Z * 1f64.copysign(n.z);
        let q = b.edge(e);
        if let Some(chord) = chord(q, cylinder.radius) {
            for (k, t) in chord.into_iter().enumerate() {
                let p = q[0].lerp(q[1], t);
                let height = n.dot(p) - cylinder.half_height;
                report((face_key(side), edge_key(e as u32) ^ (k as u32) << 28), n, height, p - n * height);
            }
            return;
        }
    }
    if n.z.abs() < 0.005
        && let Some(e) = across
    {
        let (p, q) = (cylinder.wall(n), b.edge(e));
        let (u, v) = (p[1] - p[0], q[1] - q[0]);
        if u.cross(v).length() < 0.02 * u.length() * v.length() {
            // an edge along the wall
            let ends = q.map(|x| ((x - p[0]).dot(u) / u.length_squared()).clamp(0.0, 1.0));
            if (ends[1] - ends[0]).abs() > 1e-9 {
                for (k, s) in ends.into_iter().enumerate() {
                    let on_a = p[0].lerp(p[1], s);
                    let t = ((on_a - q[0]).dot(v) / v.length_squared()).clamp(0.0, 1.0);
                    report((WALL, edge_key(e as u32) ^ (k as u32) << 28), n, n.dot(q[0].lerp(q[1], t) - on_a), on_a);
                }
                return;
            }
        }
        let (s, _) = closest_on_segments(p, q);
        report((WALL, edge_key(e as u32)), n, separation, p[0].lerp(p[1], s));
        return;
    }
    // a corner or an edge on cap, wall or rim: one point
    let (on_a, key_a) = if n.z.abs() > SAME_DIRECTION {
        (single(on_b), face_key(side))
    } else if n.z.abs() < 0.005 {
        (single(on_b), WALL)
    } else {
        let wall = cylinder.wall(n);
        (wall[usize::from(n.z > 0.0)], edge_key(side))
    };
    let key_b = across.map_or(vertex_key(vertex as u32), |e| edge_key(e as u32));
    report((key_a, key_b), n, separation, on_a);
}

/// Where a segment runs within the circle of radius `r` about z.
pub(super) fn chord(q: [DVec3; 2], r: f64) -> Option<[f64; 2]> {
    let (p, d) = (q[0].truncate(), (q[1] - q[0]).truncate());
    let (a, b, c) = (d.length_squared(), p.dot(d), p.length_squared() - r * r);
    let discriminant = b * b - a * c;
    if a == 0.0 || discriminant <= 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let ends = [((-b - root) / a).max(0.0), ((-b + root) / a).min(1.0)];
    (ends[0] < ends[1]).then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;

    #[test]
    fn no_point_of_an_edge_is_closer_than_the_one_found() {
        let mut dice = Dice(5);
        let (mut inside, mut outside) = (0, 0);
        for round in 0..20_000 {
            let cylinder = Cylinder { half_height: 0.2 + dice.unit(), radius: 0.2 + dice.unit() };
            let q = match round % 4 {
                // along an axis, and in a plane through it
                0 => [dice.vector(), dice.vector()].map(|p| DVec3::new(p.x, 0.7 * cylinder.radius, 2.0 * p.z)),
                1 => [dice.vector(), dice.vector()].map(|p| 2.0 * p.with_y(0.0)),
                _ => [dice.vector() * 2.0, dice.vector() * 2.0],
            };
            let distance = |t: f64| {
                let p = q[0].lerp(q[1], t);
                (p - cylinder.closest(p)).length()
            };
            let t = cylinder.closest_on_edge(q);
            let found = distance(t);
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..200 {
                let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if distance(a) <= distance(b) { high = b } else { low = a }
            }
            let least = distance(0.5 * (low + high)).min(distance(0.0)).min(distance(1.0));
            assert!(found <= least + 1e-13, "{round}: {found:e} {least:e} at {t}, {q:?} {cylinder:?}");
            *if least < 1e-12 { &mut inside } else { &mut outside } += 1;
        }
        assert!(inside > 2000 && outside > 2000, "{inside} {outside}");
    }
}
