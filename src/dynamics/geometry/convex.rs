//! Contact of two convex cores.
//!
//! Where two faces look at each other the contact is the polygon in which they overlap; elsewhere it is the closest pair of features.
//! Normals are those of faces, or cross products of edges: neither degrades when the gap goes through zero, as `(a − b)/|a − b|` would.

use glam::DVec3;

use super::clip::Polygon;
use super::cores::{Core, closest_on_segments, edge_key, vertex_key};
use super::points::Sink;
use super::sat::{Axes, Candidate, steady};

/// Two directions are one when their cosine is above this: 0.005 rad. A face that rests on another is tilted against it by rounding and
/// by the solver's residual; within this angle it still counts as resting, so that neither its corners nor its normal flicker.
pub(super) const SAME_DIRECTION: f64 = 1.0 - 1.25e-5;

/// The same for rounded cores: 1e-4 rad, an error of 5e-9 of the radius.
const SAME_DIRECTION_ROUNDED: f64 = 1.0 - 5e-9;

/// Edges that meet at a smaller sine touch along a line, with two points.
const NEARLY_PARALLEL: f64 = 0.02;

/// Working memory of the kernels below.
#[derive(Debug, Default)]
pub(super) struct ConvexScratch {
    pub(super) polygon: Polygon,
    pub(super) candidates: [Vec<Candidate>; 2],
    near: [Vec<(f64, usize)>; 2],
}

/// Lengths below which places count as one.
#[derive(Clone, Copy)]
pub(super) struct Tolerance {
    pub(super) snap: f64,
    pub(super) merge: f64,
}

impl Tolerance {
    pub(super) fn of(a: &Core, b: &Core) -> Self {
        let (small, large) = if a.size < b.size { (a.size, b.size) } else { (b.size, a.size) };
        let small = if small > 0.0 { small } else { a.radius.max(b.radius) };
        let snap = 1e-8 * small + 1e-14 * large;
        Self { snap, merge: 10.0 * snap }
    }
}

/// Reports the contact points of two cores, given their separating axes; `reach` is that of the cores (radii included).
pub(super) fn contact(a: &Core, b: &Core, axes: &Axes, reach: f64, scratch: &mut ConvexScratch, sink: &mut Sink) {
    let tolerance = Tolerance::of(a, b);
    let (sa, sb) = (axes.face_a.0, axes.face_b.0);
    let faces = sa.max(sb);
    let facing = sa.is_finite() && sb.is_finite() && a.normals[axes.face_a.1].dot(b.normals[axes.face_b.1]) < -SAME_DIRECTION;
    // of two faces in contact the first is the reference, always; a flat pair must not change its normal from step to step
    let steady = steady(a.size, b.size);
    let reference_is_a = facing || sa + steady >= sb;
    // from A to B
    let face_normal = match (faces.is_finite(), reference_is_a) {
        (false, _) => DVec3::ZERO,
        (_, true) => a.normals[axes.face_a.1],
        (_, false) => -b.normals[axes.face_b.1],
    };
    let edges_win = axes.edges.0 > faces + steady.max(tolerance.snap) && axes.edge_normal.dot(face_normal) < SAME_DIRECTION;
    let separated = faces.max(axes.edges.0) > 0.0;
    let (mut patch, mut lowest) = (false, f64::INFINITY);
    if faces.is_finite() && (!edges_win || separated) {
        if reference_is_a {
            scratch.polygon.clip(a, axes.face_a.1, b, tolerance.snap);
        } else {
            scratch.polygon.clip(b, axes.face_b.1, a, tolerance.snap);
        }
        lowest = scratch.polygon.corners.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        // the lowest corner lies above the face itself: nothing else is closer
        let direct = facing || !separated || lowest <= faces + tolerance.snap;
        patch = !scratch.polygon.corners.is_empty() && !edges_win && direct;
    }
    if !patch && separated {
        let normal = if axes.edges.0 > faces + steady { axes.edge_normal } else { face_normal };
        let Some(closest) = closest_edges(a, b, normal, faces.max(axes.edges.0), reach, tolerance, &mut scratch.near) else {
            return;
        };
        // flat to the face as well, but only while the polygon holds a point that is as close; the distance of rounded cores is at
        // least their radius, so that a tilted normal costs them more
        let same = if a.radius + b.radius > 0.0 { SAME_DIRECTION_ROUNDED } else { SAME_DIRECTION };
        patch = closest.normal.dot(face_normal) > same && lowest * same <= closest.distance + tolerance.snap;
        if !patch {
            closest.report(a, b, reach, tolerance, sink);
            return;
        }
    }
    if patch {
        report_patch(a, b, reference_is_a, face_normal, reach, tolerance, &mut scratch.polygon, sink);
    } else if edges_win {
        let (separation, ea, eb) = axes.edges;
        let (p, q) = (a.edge(ea), b.edge(eb));
        let (s, t) = closest_on_segments(p, q);
        let n = axes.edge_normal;
        let on_a = p[0].lerp(p[1], s);
        let on_b = q[0].lerp(q[1], t);
        // the pair may lie a little beyond the ends; the separation is that of the lines
        let middle = 0.5 * (on_a + on_b);
        let on_a = middle - n * (n.dot(middle - on_a));
        sink.rounded(a, b, (edge_key(ea as u32), edge_key(eb as u32)), n, separation, on_a, on_a + n * separation);
    } else if faces.is_finite() {
        // rounding left nothing of the polygon: the deepest corner stands for it
        let (reference, incident) = if reference_is_a { (a, b) } else { (b, a) };
        let n = if reference_is_a { face_normal } else { -face_normal };
        let (height, vertex) = incident.support(-n);
        debug_assert!(height.is_finite() && !reference.vertices.is_empty());
        let p = incident.vertices[vertex];
        let key = vertex_key(vertex as u32);
        let other = super::cores::face_key(if reference_is_a { axes.face_a.1 } else { axes.face_b.1 } as u32);
        if reference_is_a {
            sink.rounded(a, b, (other, key), face_normal, faces, p - n * faces, p);
        } else {
            sink.rounded(a, b, (key, other), face_normal, faces, p, p - n * faces);
        }
    }
}

/// Reports the corners of the polygon in `polygon`; `n` runs from A to B.
fn report_patch(
    a: &Core,
    b: &Core,
    reference_is_a: bool,
    n: DVec3,
    reach: f64,
    tolerance: Tolerance,
    polygon: &mut Polygon,
    sink: &mut Sink,
) {
    polygon.tidy(reach, tolerance.merge);
    for c in &polygon.corners {
        if reference_is_a {
            sink.rounded(a, b, (c.reference, c.incident), n, c.gap, c.point - n * c.gap, c.point);
        } else {
            sink.rounded(a, b, (c.incident, c.reference), n, c.gap, c.point, c.point + n * c.gap);
        }
    }
}

/// The closest pair of edges of two separated cores.
struct ClosestEdges {
    edges: (usize, usize),
    s: f64,
    t: f64,
    /// From A to B.
    normal: DVec3,
    distance: f64,
    /// They run side by side.
    line: bool,
}

/// The ends, as parameters on `p` and `q`, of the stretch along which two nearly parallel edges lie side by side.
fn line_contact(p: [DVec3; 2], q: [DVec3; 2], shortest: f64) -> Option<[(f64, f64); 2]> {
    let (u, v) = (p[1] - p[0], q[1] - q[0]);
    let (uu, vv) = (u.length_squared(), v.length_squared());
    if uu == 0.0 || vv == 0.0 || u.cross(v).length_squared() >= NEARLY_PARALLEL * NEARLY_PARALLEL * uu * vv {
        return None;
    }
    let end = |k: usize| {
        let s = (q[k] - p[0]).dot(u) / uu;
        if (0.0..=1.0).contains(&s) {
            return (s, k as f64);
        }
        let s = s.clamp(0.0, 1.0);
        (s, ((p[s as usize] - q[0]).dot(v) / vv).clamp(0.0, 1.0))
    };
    let ends = [end(0), end(1)];
    ((ends[1].0 - ends[0].0).abs() * uu.sqrt() > shortest).then_some(ends)
}

/// Finds the closest edges (or corners) within `reach`; `normal` separates the cores by `separation`, which bounds the search: a point
/// that lies `d` behind the front of its core is at least `separation + d` away from the other.
fn closest_edges(
    a: &Core,
    b: &Core,
    normal: DVec3,
    separation: f64,
    reach: f64,
    tolerance: Tolerance,
    near: &mut [Vec<(f64, usize)>; 2],
) -> Option<ClosestEdges> {
    let slack = reach - separation;
    let [near_a, near_b] = near;
    for (core, n, list) in [(a, normal, &mut *near_a), (b, -normal, &mut *near_b)] {
        list.clear();
        let (front, _) = core.support(n);
        for e in 0..core.topology.edges.len() {
            let [from, to] = core.edge(e);
            let behind = front - n.dot(from).max(n.dot(to));
            if behind <= slack {
                list.push((behind, e));
            }
        }
    }
    let mut best: Option<ClosestEdges> = None;
    for &(behind_a, ea) in near_a.iter() {
        for &(behind_b, eb) in near_b.iter() {
            let farthest = best.as_ref().map_or(reach, |best| reach.min(best.distance + tolerance.snap));
            if behind_a + behind_b > slack || separation + behind_a + behind_b > farthest + tolerance.snap {
                continue;
            }
            let (p, q) = (a.edge(ea), b.edge(eb));
            let (s, t) = closest_on_segments(p, q);
            let difference = q[0].lerp(q[1], t) - p[0].lerp(p[1], s);
            let distance = difference.length();
            if distance > farthest {
                continue;
            }
            let line = line_contact(p, q, tolerance.merge).is_some();
            // at equal distance a pair that touches along a line says more than the corner at its end
            let lead = if line { tolerance.snap } else { -tolerance.snap };
            let better = best.as_ref().is_none_or(|best| {
                if line == best.line { distance < best.distance - 1e-2 * tolerance.snap } else { distance < best.distance + lead }
            });
            if better {
                best = Some(ClosestEdges { edges: (ea, eb), s, t, normal: difference, distance, line });
            }
        }
    }
    let mut best = best?;
    let inside = |x: f64| x > 0.0 && x < 1.0;
    let (p, q) = (a.edge(best.edges.0), b.edge(best.edges.1));
    let cross = (p[1] - p[0]).cross(q[1] - q[0]);
    let sine_is_good = cross.length_squared() > 1e-6 * (p[1] - p[0]).length_squared() * (q[1] - q[0]).length_squared();
    best.normal = if inside(best.s) && inside(best.t) && sine_is_good {
        cross.normalize() * cross.dot(best.normal).signum()
    } else if best.distance > 1e3 * tolerance.snap {
        best.normal / best.distance
    } else {
        // corners that all but coincide: any direction of their common cone is right, and this one is steady
        normal
    };
    if best.normal.dot(normal) <= 0.0 {
        best.normal = normal;
    }
    Some(best)
}

impl ClosestEdges {
    fn report(&self, a: &Core, b: &Core, reach: f64, tolerance: Tolerance, sink: &mut Sink) {
        let (p, q) = (a.edge(self.edges.0), b.edge(self.edges.1));
        let n = self.normal;
        let key = |core: &Core, e: usize, x: f64| {
            let ends = core.topology.edges[e].vertices;
            if x <= 0.0 {
                vertex_key(ends[0])
            } else if x >= 1.0 {
                vertex_key(ends[1])
            } else {
                edge_key(e as u32)
            }
        };
        let mut report = |s: f64, t: f64| {
            let (on_a, on_b) = (p[0].lerp(p[1], s), q[0].lerp(q[1], t));
            let gap = n.dot(on_b - on_a);
            if gap <= reach {
                sink.rounded(a, b, (key(a, self.edges.0, s), key(b, self.edges.1, t)), n, gap, on_a, on_b);
            }
        };
        if let Some(ends) = line_contact(p, q, tolerance.merge) {
            return ends.into_iter().for_each(|(s, t)| report(s, t));
        }
        report(self.s, self.t);
    }
}
