//! Convex shapes on surfaces of triangles.
//!
//! Each triangle near the shape is met on its own, but a side that the surface hides (flat or hollow) has no normals of its own: what
//! touches there is pushed along the normal of the triangle. So a box slides over a floor of many triangles as over a plane. Points on
//! triangles of one plane are then thinned to the outline of all of them together.

use glam::{DMat3, DVec3};
use parry3d::bounding_volume::Aabb;

use super::clip::Polygon;
use super::convex::{ConvexScratch, SAME_DIRECTION, Tolerance};
use super::cores::{Coordinates, Core, closest_on_segments, edge_key, face_key, rim_key, vertex_key};
use super::cylinder::{Cylinder, RIM_POINTS};
use super::points::Sink;
use super::sat::{self, Axes};
use super::trimesh::{Beyond, TriangleMesh};
use crate::algebra::spatial::tangents;

/// A direction within this sine of the border of a cone of normals counts as inside.
const ON_THE_BORDER: f64 = 1e-6;

/// Depth of a point behind a face, in parts of the half of the longest edge of the box of the shape, from which on it may have come out on the other side.
const DEEP: f64 = 0.01;

/// A point found on one triangle.
#[derive(Clone, Copy, Debug)]
struct Found {
    region: u32,
    triangle: u32,
    keys: (u32, u32),
    /// From the surface to the shape.
    normal: DVec3,
    /// Of the core, without its radius (m).
    gap: f64,
    on_core: DVec3,
    flat: bool,
}

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct TerrainScratch {
    triangles: Vec<u32>,
    found: Vec<Found>,
    outline: Vec<usize>,
    order: Vec<usize>,
}

/// A convex shape in the frame of the surface.
pub(super) enum Partner<'a> {
    Core(Core<'a>),
    /// Every triangle sees the prism that reaches towards it as far as the cylinder does. On a plane that is exact; on a ridge the prism
    /// may lie up to 8 % of the radius inside the wall.
    Cylinder {
        cylinder: Cylinder,
        rotation: DMat3,
        position: DVec3,
        coordinates: &'a mut Coordinates,
    },
}

/// Reports the contact points of a convex shape with a surface, in the frame of the surface.
///
/// `low`, `high` is the box of the shape; `reach` counts from the core, so it includes its radius.
pub(super) fn contact(
    mut partner: Partner,
    (low, high): (DVec3, DVec3),
    mesh: &TriangleMesh,
    reach: f64,
    triangle: &mut Coordinates,
    convex: &mut ConvexScratch,
    scratch: &mut TerrainScratch,
    sink: &mut Sink,
) {
    let TerrainScratch { triangles, found, outline, order } = scratch;
    triangles.clear();
    triangles.extend(mesh.tree.intersect_aabb(&Aabb { mins: low - reach, maxs: high + reach }));
    // the tree's own order tells of its history
    triangles.sort_unstable();
    found.clear();
    let centre = 0.5 * (low + high);
    let mut radius = 0.0;
    for &t in triangles.iter() {
        let (corners, normal) = (mesh.corners(t as usize), mesh.normals[t as usize]);
        // what lies behind a triangle has come in elsewhere
        if normal.dot(centre - corners[0]) < 0.0 {
            continue;
        }
        let (core, lowest) = match &mut partner {
            Partner::Core(core) => (*core, None),
            Partner::Cylinder { cylinder, rotation, position, coordinates } => {
                let lowest = Cylinder::farthest(rotation.transpose() * -normal).map(|(k, _)| k as u32);
                (coordinates.place_cylinder(cylinder, rotation, *position, -normal), lowest)
            }
        };
        radius = core.radius;
        let one = Triangle { core: triangle.place_triangle(corners, normal), beyond: &mesh.beyond[t as usize] };
        let before = found.len();
        one.meet(&core, reach, (mesh.region[t as usize], t), convex, found);
        for p in found[before..].iter_mut().filter(|p| p.flat && lowest == Some(p.keys.0 % RIM_POINTS as u32)) {
            p.keys.0 = rim_key(p.keys.0 / RIM_POINTS as u32);
        }
    }
    let size = 0.5 * (high - low).max_element();
    let deep = DEEP * size;
    let out = |p: &Found| p.gap < -deep && comes_out(p, mesh, triangles, deep, ON_THE_BORDER * size);
    if found.iter().any(out) && !found.iter().all(out) {
        found.retain(|p| !out(p));
    }
    thin_out(found, size, outline, order);
    for p in found.iter() {
        // of any triangle, and below the names of rims
        let key = (p.keys.1 ^ p.triangle.wrapping_add(1).wrapping_mul(0x85EB_CA6B)) & !face_key(0);
        let on_core = p.on_core - p.normal * radius;
        let gap = p.gap - radius;
        sink.push((p.keys.0, if p.flat { p.region } else { key }), p.normal, gap, on_core, on_core - p.normal * gap);
    }
}

/// Whether the way from the foot of a point behind a face to the point leads through a triangle that looks the other way into the open, or ends
/// less than `margin` (m) behind it: a shape that leans around the rim of a thin wall is not in the wall there. Along sides it may pass them
/// by `snap` (m).
fn comes_out(p: &Found, mesh: &TriangleMesh, triangles: &[u32], margin: f64, snap: f64) -> bool {
    let foot = p.on_core - p.gap * p.normal;
    triangles.iter().any(|&t| {
        let (corners, n) = (mesh.corners(t as usize), mesh.normals[t as usize]);
        let [from, to] = [foot, p.on_core].map(|x| n.dot(x - corners[0]));
        if n.dot(p.normal) >= 0.0 || from > snap || to < -margin {
            return false;
        }
        let through = foot.lerp(p.on_core, (from / (from - to)).clamp(0.0, 1.0));
        (0..3).all(|side| {
            let (a, b) = (corners[side], corners[(side + 1) % 3]);
            n.cross(b - a).dot(through - a) >= -snap * (b - a).length()
        })
    })
}

struct Triangle<'a> {
    core: Core<'a>,
    beyond: &'a [Beyond; 3],
}

impl Triangle<'_> {
    fn meet(&self, core: &Core, reach: f64, label: (u32, u32), convex: &mut ConvexScratch, found: &mut Vec<Found>) {
        let up = self.core.normals[0];
        let height = -core.support(-up).0 - self.core.offsets[0];
        if height > reach {
            return;
        }
        let tolerance = Tolerance::of(&self.core, core);
        if let [point] = *core.vertices {
            if self.is_below(point, tolerance.snap) {
                let (region, triangle) = label;
                let keys = (vertex_key(0), face_key(0));
                found.push(Found { region, triangle, keys, normal: up, gap: height, on_core: point, flat: true });
            } else {
                self.meet_ridge(core, reach, height.max(0.0), tolerance, label, found);
            }
            return;
        }
        let Some(axes) = sat::axes(&self.core, core, reach, &mut convex.candidates) else { return };
        let (core_face, edges) = (axes.face_b.0, axes.edges.0);
        let facing = core_face.is_finite() && core.normals[axes.face_b.1].dot(up) < -SAME_DIRECTION;
        let polygon = &mut convex.polygon;
        polygon.clip(&self.core, 0, core, tolerance.snap);
        let lowest = polygon.corners.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        let side_on = !facing && core_face.max(edges) > height + tolerance.snap;
        let mut answered = false;
        // Not over the triangle, or pushed out sideways on a shorter way: a ridge or a border may answer.
        if side_on || !facing && lowest > height + tolerance.snap {
            answered = if core_face >= edges - tolerance.snap && core_face > height {
                self.meet_face_of_core(core, axes.face_b.1, reach, tolerance, label, polygon, found)
            } else {
                edges > height && edges <= 0.0 && self.meet_crossing(core, &axes, label, found)
            };
            answered = answered || self.meet_ridge(core, reach, height.max(0.0), tolerance, label, found);
            polygon.clip(&self.core, 0, core, tolerance.snap);
            if answered {
                // The ridge is closest, but a corner over the face comes down on it all the same: an edge that rolls over a ridge.
                polygon.corners.retain(|c| c.incident < edge_key(0) && c.gap <= reach && self.may_leave_upwards(c.point, c.gap));
            }
        }
        if !answered {
            polygon.tidy(reach, tolerance.merge);
        }
        let (region, triangle) = label;
        for c in &polygon.corners {
            // a corner of the core lies on the plane, whichever triangle of it holds it
            let flat = c.incident < edge_key(0);
            let on_surface = if flat { face_key(0) } else { c.reference };
            found.push(Found { region, triangle, keys: (c.incident, on_surface), normal: up, gap: c.gap, on_core: c.point, flat });
        }
    }

    /// Whether the foot of `point` on the plane lies in the triangle, or within `snap` (m) of a side.
    fn is_below(&self, point: DVec3, snap: f64) -> bool {
        (0..3).all(|side| {
            let [from, to] = self.core.edge(side);
            let inward = self.core.normals[0].cross(to - from);
            let d = inward.dot(point - from);
            d >= 0.0 || d * d <= snap * snap * inward.length_squared()
        })
    }

    /// A face of the core on ridges or borders of the triangle.
    fn meet_face_of_core(
        &self,
        core: &Core,
        face: usize,
        reach: f64,
        tolerance: Tolerance,
        label: (u32, u32),
        polygon: &mut Polygon,
        found: &mut Vec<Found>,
    ) -> bool {
        let down = core.normals[face];
        polygon.clip(core, face, &self.core, tolerance.snap);
        polygon.tidy(reach, tolerance.merge);
        let (region, triangle) = label;
        let before = found.len();
        for c in &polygon.corners {
            let side = (c.incident & !edge_key(0)) as usize;
            let pushes = if c.incident >= face_key(0) {
                false
            } else if c.incident >= edge_key(0) {
                self.may_push(side, -down)
            } else {
                self.may_push(side, -down) || self.may_push((side + 2) % 3, -down)
            };
            if pushes {
                let on_core = c.point - down * c.gap;
                let keys = (c.reference, c.incident);
                found.push(Found { region, triangle, keys, normal: -down, gap: c.gap, on_core, flat: false });
            }
        }
        found.len() > before
    }

    /// An edge of the core that has sunk into a ridge across it.
    fn meet_crossing(&self, core: &Core, axes: &Axes, label: (u32, u32), found: &mut Vec<Found>) -> bool {
        let (separation, side, edge) = axes.edges;
        let n = axes.edge_normal;
        if !self.may_push(side, n) {
            return false;
        }
        let (p, q) = (self.core.edge(side), core.edge(edge));
        let (_, t) = closest_on_segments(p, q);
        let (region, triangle) = label;
        let keys = (edge_key(edge as u32), edge_key(side as u32));
        found.push(Found { region, triangle, keys, normal: n, gap: separation, on_core: q[0].lerp(q[1], t), flat: false });
        true
    }

    /// The closest corners or edges, where the surface has a ridge or a border. False when there is none within reach whose normal the
    /// surface can have: the face answers then.
    fn meet_ridge(&self, core: &Core, reach: f64, height: f64, tolerance: Tolerance, label: (u32, u32), found: &mut Vec<Found>) -> bool {
        let mut best: Option<(f64, Found)> = None;
        for side in 0..3 {
            if self.beyond[side] == Beyond::Hidden {
                continue;
            }
            let p = self.core.edge(side);
            for e in 0..core.topology.edges.len() {
                let q = core.edge(e);
                let (s, t) = closest_on_segments(p, q);
                let (on_side, on_core) = (p[0].lerp(p[1], s), q[0].lerp(q[1], t));
                let difference = on_core - on_side;
                let distance = difference.length();
                if distance > reach || distance < height - tolerance.snap || distance <= 1e3 * tolerance.snap {
                    continue;
                }
                let normal = difference / distance;
                if best.is_some_and(|(d, _)| distance >= d) || !self.may_push(side, normal) {
                    continue;
                }
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
                let keys = (key(core, e, t), key(&self.core, side, s));
                let (region, triangle) = label;
                best = Some((distance, Found { region, triangle, keys, normal, gap: distance, on_core, flat: false }));
            }
        }
        found.extend(best.map(|(_, point)| point));
        best.is_some()
    }

    /// Whether a point over the triangle, `gap` from its plane, has no shorter way out than through the plane.
    fn may_leave_upwards(&self, point: DVec3, gap: f64) -> bool {
        let up = self.core.normals[0];
        let aside = |side: usize| {
            let [from, to] = self.core.edge(side);
            up.cross(to - from).normalize_or_zero().dot(point - from)
        };
        gap >= 0.0 || (0..3).all(|side| self.beyond[side] == Beyond::Hidden || aside(side) >= -gap)
    }

    /// Whether `n` lies between the normals on the two sides of a ridge, or anywhere outside a border.
    fn may_push(&self, side: usize, n: DVec3) -> bool {
        let up = self.core.normals[0];
        let [from, to] = self.core.edge(side);
        let outward = (to - from).cross(up).normalize_or_zero();
        match self.beyond[side] {
            Beyond::Hidden => false,
            Beyond::Nothing => n.dot(outward) >= -ON_THE_BORDER && n.dot(up) >= -ON_THE_BORDER,
            Beyond::Ridge(other) => {
                let along = (to - from).normalize_or_zero();
                // across the edge, between the two normals: beyond neither
                let onward = other.cross(along);
                n.dot(outward) >= -ON_THE_BORDER && n.dot(-onward) <= ON_THE_BORDER
            }
        }
    }
}

/// Keeps, of the flat points of each region, the corners of their common outline; of points in one place the first.
fn thin_out(found: &mut Vec<Found>, size: f64, outline: &mut Vec<usize>, order: &mut Vec<usize>) {
    let merge = 1e-9 * size;
    // not the stable sort, which asks for memory
    found.sort_unstable_by_key(|p| (p.region, p.triangle, p.keys));
    let same_place = |p: &Found, q: &Found| (p.on_core - q.on_core).length() <= merge && p.normal.dot(q.normal) > 1.0 - 1e-9;
    // crossings with a cut of the plane lie on the outline of a triangle, corners of the shape on no particular one
    let mut i = 0;
    while i < found.len() {
        let p = found[i];
        if found[..i].iter().any(|q| same_place(&p, q)) {
            found.remove(i);
        } else {
            i += 1;
        }
    }
    let mut start = 0;
    while start < found.len() {
        let region = found[start].region;
        let end = start + found[start..].iter().take_while(|p| p.region == region).count();
        start = end - drop_inner(found, start, end, size, outline, order);
    }
}

/// Drops from `found[start..end]`, all of one plane, what is no corner of their convex outline; returns how many.
fn drop_inner(found: &mut Vec<Found>, start: usize, end: usize, size: f64, outline: &mut Vec<usize>, order: &mut Vec<usize>) -> usize {
    let n = found[start].normal;
    let level = |p: &Found| p.normal.dot(n) > 1.0 - 1e-12;
    if end - start < 3 || !found[start..end].iter().all(level) {
        return 0;
    }
    let (t1, t2) = tangents(n);
    let flat = |p: &Found| (p.on_core.dot(t1), p.on_core.dot(t2));
    order.clear();
    order.extend(start..end);
    order.sort_unstable_by(|&a, &b| {
        let (a, b) = (flat(&found[a]), flat(&found[b]));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    outline.clear();
    for pass in 0..2 {
        let floor = outline.len();
        for k in 0..order.len() {
            let i = if pass == 0 { order[k] } else { order[order.len() - 1 - k] };
            while outline.len() >= floor + 2 {
                let (a, b, c) = (flat(&found[outline[outline.len() - 2]]), flat(&found[outline[outline.len() - 1]]), flat(&found[i]));
                let base = libm::hypot(c.0 - a.0, c.1 - a.1);
                let turn = (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
                if turn > 1e-5 * size * base {
                    break;
                }
                outline.pop();
            }
            outline.push(i);
        }
        outline.pop();
    }
    let dropped = end - start - outline.len();
    outline.sort_unstable();
    let mut position = start;
    let mut index = 0;
    found.retain(|_| {
        let here = index;
        index += 1;
        position = here;
        !(start..end).contains(&here) || outline.binary_search(&here).is_ok()
    });
    dropped
}
