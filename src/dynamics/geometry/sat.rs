//! Separating axes of two convex cores.
//!
//! ```text
//! s(n) = min_{b ∈ B} n·b − max_{a ∈ A} n·a        largest over the normals of faces and the cross products of edges
//! ```
//!
//! The largest s is the depth of overlap (negative), and never more than the distance (positive).

use glam::{DMat3, DVec3};

use super::cores::{Core, closest_on_segments};
use super::polyhedron::Polyhedron;

/// The best axes of each sort; directions run from A to B. Separations are −∞ where there is no such axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    pub(super) face_a: (f64, usize),
    pub(super) face_b: (f64, usize),
    pub(super) edges: (f64, usize, usize),
    pub(super) edge_normal: DVec3,
    level: Level,
}

impl Axes {
    const NONE: Self = Self {
        face_a: (f64::NEG_INFINITY, 0),
        face_b: (f64::NEG_INFINITY, 0),
        edges: (f64::NEG_INFINITY, 0, 0),
        edge_normal: DVec3::ZERO,
        level: Level { slack: 0.0, ends: None, cosine: 1.0 },
    };

    /// Of two cores of these widths (m).
    fn of(a: f64, b: f64) -> Self {
        Self { level: Level { slack: FLUSH * a.min(b), ..Self::NONE.level }, ..Self::NONE }
    }

    /// Least cosine between the directions in which faces part the two, where they touch in a common edge or corner; else 1.
    ///
    /// ```text
    /// free:  n₁ · u ≥ 0  or  n₂ · u ≥ 0        the cone of normals of such a corner that opens inwards is {0}
    /// ```
    ///
    /// Where a gap parts them in direction n₁ and they are level in n₂, as a block that comes to the next flagstone, it is the cosine between
    /// those: what moves along and stays level passes.
    pub(super) fn corner(&self, a: &Core, b: &Core) -> f64 {
        let faces = self.face_a.0.max(self.face_b.0);
        if faces.max(self.edges.0) <= self.level.slack {
            return self.level.cosine;
        }
        let apart = match (self.edges.0 > faces, self.face_a.0 >= self.face_b.0) {
            (true, _) => self.edge_normal,
            (_, true) => a.normals[self.face_a.1],
            (_, false) => -b.normals[self.face_b.1],
        };
        self.level.ends.map_or(1.0, |[first, last]| apart.dot(first).min(apart.dot(last)))
    }
}

/// The directions in which faces look at each other on one level, neither a gap nor an overlap between them.
#[derive(Clone, Copy, Debug)]
struct Level {
    slack: f64,
    /// The first of them, and the one that is farthest from it.
    ends: Option<[DVec3; 2]>,
    /// Least cosine between them.
    cosine: f64,
}

impl Level {
    /// A face with this normal, from A to B, separates the two so far.
    fn see(&mut self, normal: DVec3, separation: f64) {
        if separation.abs() <= self.slack {
            let [first, last] = self.ends.unwrap_or([normal; 2]);
            self.cosine = self.cosine.min(first.dot(normal)).min(last.dot(normal));
            self.ends = Some([first, if first.dot(normal) < first.dot(last) { normal } else { last }]);
        }
    }
}

/// An edge that may take part in the closest pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    index: usize,
    from: DVec3,
    along: DVec3,
    inward: [DVec3; 2],
}

/// Edges that are parallel to within this sine have no usable cross product.
const PARALLEL: f64 = 1e-6;

/// Part of the smaller core by which an axis must separate better than the one before it. Blocks that share an edge are separated as well
/// by several axes; rounding must not choose another one at every step, as the reaction along the old one would be none along the new.
const STEADY: f64 = 1e-7;

/// Part of the smaller core's width within which cores that share an edge or a corner count as flush: the overlap that looking ahead leaves
/// ([`super::ahead_systems`]). A solver at a tolerance of 1e-3 leaves half of that between cubes under a million times their weight.
const FLUSH: f64 = 3e-4;

/// Part of that length within which a corner lies on a face.
const LEVEL: f64 = 0.125;

/// That length for two cores of these sizes (m).
pub(super) fn steady(a: f64, b: f64) -> f64 {
    STEADY * a.min(b)
}

/// Depth of overlap, in parts of the smaller core, from which on all edges are asked whether they separate the two after all.
const UNSURE: f64 = 1e-4;

/// The axes of two cores, or `None` as soon as one of them separates by more than `reach`.
pub(super) fn axes(a: &Core, b: &Core, reach: f64, candidates: &mut [Vec<Candidate>; 2]) -> Option<Axes> {
    let mut axes = Axes::of(a.width, b.width);
    let steady = steady(a.size, b.size);
    let slack = axes.level.slack;
    axes.face_a = best_face(a, b, reach, steady, slack, |n, separation| axes.level.see(n, separation))?;
    axes.face_b = best_face(b, a, reach, steady, slack, |n, separation| axes.level.see(-n, separation))?;
    let best_face = axes.face_a.0.max(axes.face_b.0);
    let lies =
        |on: &Core, face: (f64, usize), other: &Core| face.0 >= best_face - LEVEL * steady && lies_on(on, face, other, LEVEL * steady);
    if lies(a, axes.face_a, b) || lies(b, axes.face_b, a) {
        return Some(axes);
    }
    // The edges that matter lie within the overlap, or within reach.
    let margin = DVec3::splat(if best_face.is_finite() { reach.max(-best_face) } else { f64::MAX });
    let all = a.topology.edges.len() + b.topology.edges.len();
    gather(a, b.low - margin, b.high + margin, &mut candidates[0]);
    gather(b, a.low - margin, a.high + margin, &mut candidates[1]);
    best_edges(candidates, steady, &mut axes);
    // edges that lie farther apart than that may still separate what no face does
    let depth = -best_face.max(axes.edges.0);
    let unsure = || depth > UNSURE * a.size.min(b.size) || !meet(a, b, &axes, depth + LEVEL * steady);
    if depth > 0.0 && candidates[0].len() + candidates[1].len() < all && unsure() {
        gather(a, DVec3::NEG_INFINITY, DVec3::INFINITY, &mut candidates[0]);
        gather(b, DVec3::NEG_INFINITY, DVec3::INFINITY, &mut candidates[1]);
        best_edges(candidates, steady, &mut axes);
    }
    (axes.edges.0 <= reach).then_some(axes)
}

/// Whether a corner of `other` that is as near to this face as any lies above the face itself, by `slack` at most beside it. The two are then
/// no farther apart than that, and no axis separates them better.
///
/// ```text
/// p on the face, v = p + g n:        s(m) ≤ m·(v − p) = g m·n ≤ |g|
/// ```
fn lies_on(core: &Core, (separation, face): (f64, usize), other: &Core, slack: f64) -> bool {
    let (n, offset) = (core.normals[face], core.offsets[face]);
    // a lone triangle has no sides
    core.normals.len() > 2
        && separation >= -slack
        && other.vertices.iter().any(|v| {
            let gap = n.dot(*v) - offset;
            let p = *v - n * gap;
            gap <= separation + slack && core.normals.iter().zip(core.offsets).all(|(m, o)| m.dot(p) <= o + slack)
        })
}

/// Whether the best axis shows points of both that are no farther apart than `slack`: a corner that lies on a face, or two edges where they
/// pass each other. No axis then separates the two by more. Of a lone triangle it is told elsewhere what lies over it.
///
/// ```text
/// p ∈ A, q ∈ B:        s(m) ≤ m·(q − p) ≤ |q − p|
/// ```
fn meet(a: &Core, b: &Core, axes: &Axes, slack: f64) -> bool {
    let (separation, ea, eb) = axes.edges;
    if separation > axes.face_a.0.max(axes.face_b.0) {
        let (p, q) = (a.edge(ea), b.edge(eb));
        let (s, t) = closest_on_segments(p, q);
        return p[0].lerp(p[1], s).distance(q[0].lerp(q[1], t)) <= slack;
    }
    let lone = a.normals.len().min(b.normals.len()) <= 2;
    lone || lies_on(a, axes.face_a, b, slack) || lies_on(b, axes.face_b, a, slack)
}

/// The pair of edges that separates best, if better than the one in `axes`.
fn best_edges([near_a, near_b]: &[Vec<Candidate>; 2], steady: f64, axes: &mut Axes) {
    for ea in near_a.iter() {
        for eb in near_b.iter() {
            let cross = ea.along.cross(eb.along);
            let [a0, a1] = ea.inward.map(|d| cross.dot(d));
            let [b0, b1] = eb.inward.map(|d| cross.dot(d));
            let outward = a0 <= 0.0 && a1 <= 0.0 && b0 >= 0.0 && b1 >= 0.0;
            let reversed = a0 >= 0.0 && a1 >= 0.0 && b0 <= 0.0 && b1 <= 0.0;
            if !(outward || reversed) {
                continue;
            }
            let length = cross.length();
            if length <= PARALLEL * (ea.along.length_squared() * eb.along.length_squared()).sqrt() {
                continue;
            }
            let mut n = cross / length;
            let mut separation = n.dot(eb.from - ea.from);
            // two lone edges have both signs; the one that separates is meant
            if if outward && reversed { separation < 0.0 } else { reversed } {
                (n, separation) = (-n, -separation);
            }
            if separation > axes.edges.0 + steady {
                axes.edges = (separation, ea.index, eb.index);
                axes.edge_normal = n;
            }
        }
    }
}

/// Face of `a` that separates `b` best; `see` is shown all that part the two to within `slack`.
fn best_face(a: &Core, b: &Core, reach: f64, steady: f64, slack: f64, mut see: impl FnMut(DVec3, f64)) -> Option<(f64, usize)> {
    let mut best = (f64::NEG_INFINITY, 0);
    let mut nearest = 0;
    for (f, n) in a.normals.iter().enumerate() {
        // no corner is below the nearest one: the last of those says of most faces that they cannot be the best
        let bound = b.vertices.get(nearest).map_or(f64::INFINITY, |v| n.dot(*v)) - a.offsets[f];
        if bound <= best.0 && bound < -slack {
            continue;
        }
        let (height, vertex) = b.support(-*n);
        nearest = vertex;
        let separation = -height - a.offsets[f];
        if separation > reach {
            return None;
        }
        see(*n, separation);
        if separation > best.0 + steady {
            best = (separation, f);
        }
    }
    Some(best)
}

fn gather(core: &Core, low: DVec3, high: DVec3, out: &mut Vec<Candidate>) {
    out.clear();
    for index in 0..core.topology.edges.len() {
        let [from, to] = core.edge(index);
        if from.min(to).cmple(high).all() && from.max(to).cmpge(low).all() {
            out.push(Candidate { index, from, along: to - from, inward: core.inward(index) });
        }
    }
}

/// The axes of two cuboids with half sides `ha`, `hb`; B is turned by `r` and shifted by `t` in the frame of A.
#[inline]
pub(super) fn cuboid_axes(ha: DVec3, hb: DVec3, r: &DMat3, t: DVec3, reach: f64) -> Option<Axes> {
    let mut axes = Axes::of(2.0 * ha.min_element(), 2.0 * hb.min_element());
    let cols = [r.x_axis, r.y_axis, r.z_axis];
    let steady = steady(ha.max_element(), hb.max_element());
    let consider = |slot: &mut (f64, usize), separation: f64, face: usize| {
        if separation > slot.0 + steady {
            *slot = (separation, face);
        }
        separation <= reach
    };
    let extent_b = cols[0].abs() * hb.x + cols[1].abs() * hb.y + cols[2].abs() * hb.z;
    let along_a = t.abs() - ha - extent_b;
    for k in 0..3 {
        if !consider(&mut axes.face_a, along_a[k], 2 * k + usize::from(t[k] < 0.0)) {
            return None;
        }
        axes.level.see(DVec3::AXES[k] * t[k].signum(), along_a[k]);
    }
    for k in 0..3 {
        let offset = cols[k].dot(t);
        let separation = offset.abs() - hb[k] - cols[k].abs().dot(ha);
        // the face of B that looks at A
        if !consider(&mut axes.face_b, separation, 2 * k + usize::from(offset > 0.0)) {
            return None;
        }
        axes.level.see(cols[k] * offset.signum(), separation);
    }
    let best_face = axes.face_a.0.max(axes.face_b.0);
    let slack = LEVEL * steady;
    // corners of the other in the frame of the one whose face it is: centre, and half sides
    let on_a = (ha, t, [cols[0] * hb.x, cols[1] * hb.y, cols[2] * hb.z]);
    let rows = r.transpose();
    let on_b = (hb, -(rows * t), [rows.x_axis * ha.x, rows.y_axis * ha.y, rows.z_axis * ha.z]);
    for ((separation, face), on) in [(axes.face_a, on_a), (axes.face_b, on_b)] {
        if separation >= best_face - slack && separation >= -slack && corner_lies_on(on, face, separation, slack) {
            return Some(axes);
        }
    }
    let units = [DVec3::X, DVec3::Y, DVec3::Z];
    for (i, unit) in units.iter().enumerate() {
        for (j, col) in cols.iter().enumerate() {
            let cross = unit.cross(*col);
            let length = cross.length();
            if length <= PARALLEL {
                continue;
            }
            let n = if cross.dot(t) < 0.0 { cross / -length } else { cross / length };
            let m = DVec3::new(n.dot(cols[0]), n.dot(cols[1]), n.dot(cols[2]));
            let separation = n.dot(t) - n.abs().dot(ha) - m.abs().dot(hb);
            if separation > reach {
                return None;
            }
            if separation > axes.edges.0 + steady {
                axes.edges = (separation, cuboid_edge(i, n), cuboid_edge(j, -m));
                axes.edge_normal = n;
            }
        }
    }
    Some(axes)
}

/// [`lies_on`] for a face of a cuboid with half sides `half`, and the corners `centre ± sides`.
fn corner_lies_on((half, centre, sides): (DVec3, DVec3, [DVec3; 3]), face: usize, separation: f64, slack: f64) -> bool {
    let (axis, sign) = (face / 2, if face.is_multiple_of(2) { 1.0 } else { -1.0 });
    (0..8).any(|corner| {
        let v = (0..3).fold(centre, |v, k| if corner >> k & 1 == 0 { v - sides[k] } else { v + sides[k] });
        sign * v[axis] - half[axis] <= separation + slack && (0..3).all(|k| k == axis || v[k].abs() <= half[k] + slack)
    })
}

/// The edge along `axis` of a cuboid that lies farthest in direction `n` (in its own frame).
fn cuboid_edge(axis: usize, n: DVec3) -> usize {
    let bits: u32 = (0..3).filter(|&k| k != axis && n[k] > 0.0).map(|k| 1 << k).sum();
    let ends = [bits, bits | 1 << axis];
    // every such pair of corners is an edge
    Polyhedron::unit_cuboid().edges.iter().position(|e| e.vertices == ends).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::cores::Coordinates;
    use super::super::shapes::Shape;
    use super::super::tests::Dice;
    use super::*;
    use glam::DQuat;
    use std::sync::Arc;

    /// What the edges of two cores separate at best, all of them asked.
    fn all_edges(a: &Core, b: &Core) -> f64 {
        let (mut lists, mut axes) = ([Vec::new(), Vec::new()], Axes::NONE);
        gather(a, DVec3::NEG_INFINITY, DVec3::INFINITY, &mut lists[0]);
        gather(b, DVec3::NEG_INFINITY, DVec3::INFINITY, &mut lists[1]);
        best_edges(&lists, 0.0, &mut axes);
        axes.edges.0
    }

    #[test]
    fn where_a_corner_lies_on_a_face_no_pair_of_edges_separates_better() {
        let mut dice = Dice(7);
        // asked and not asked, for hulls and for cuboids
        let mut counts = [[0; 2]; 2];
        for round in 0..4000 {
            let boxes = round % 2 == 0;
            let mut shape = |size: f64| {
                if boxes {
                    let half = DVec3::new(0.5 + dice.unit(), 0.5 + dice.unit(), 0.5 + dice.unit()) * size;
                    return (half, Shape::Cuboid { half_extents: half });
                }
                let points: Vec<DVec3> = (0..12).map(|_| dice.vector().normalize() * size).collect();
                (DVec3::ZERO, Shape::Hull(Arc::new(Polyhedron::hull(&points).unwrap())))
            };
            let (ha, a) = shape(1.0);
            let (hb, b) = shape(if round % 3 == 0 { 0.1 } else { 1.0 });
            let mut memory = [Coordinates::default(), Coordinates::default()];
            let [first, second] = &mut memory;
            let a = first.place(&a, &DMat3::IDENTITY, DVec3::ZERO).unwrap();
            // flush, tilted by rounding, and any way round
            let turn = match round % 5 {
                0 => DQuat::IDENTITY,
                1 => DQuat::from_rotation_z(dice.unit()) * DQuat::from_rotation_x(1e-12 * dice.unit()),
                _ => dice.rotation(),
            };
            let turn = DMat3::from_quat(turn);
            let face = (dice.unit() * a.normals.len() as f64) as usize;
            let (n, centre) = (a.normals[face], a.topology.face_vertices(face).next().unwrap() * dice.unit());
            let gap = [0.0, 1e-3, 0.3, -1e-9, -1e-2][round % 7 % 5] * if round % 3 == 0 { 0.1 } else { 1.0 };
            let lowest = second.place(&b, &turn, DVec3::ZERO).unwrap().support(-n).0;
            let t = centre + n * (a.offsets[face] - n.dot(centre) + gap + lowest);
            let b = second.place(&b, &turn, t).unwrap();
            let found = if boxes { cuboid_axes(ha, hb, &turn, t, 10.0) } else { axes(&a, &b, 10.0, &mut Default::default()) }.unwrap();
            let skipped = found.edges.0 == f64::NEG_INFINITY;
            let (best, edges) = (found.face_a.0.max(found.face_b.0), all_edges(&a, &b));
            counts[usize::from(boxes)][usize::from(skipped)] += 1;
            assert!(!skipped || edges <= best + steady(a.size, b.size), "round {round}: {edges:e} {best:e}");
        }
        assert!(counts.as_flattened().iter().all(|n| *n > 200), "{counts:?}");
    }

    /// Two hulls whose corner hardly dips below the plane of a face, beside that face, are parted by edges far from the overlap or not at all.
    #[test]
    fn edges_part_what_faces_all_but_part() {
        let mut dice = Dice(11);
        let mut parted = 0;
        for round in 0..20_000 {
            let mut hull = || {
                let points: Vec<DVec3> = (0..16).map(|_| dice.vector().normalize()).collect();
                Shape::Hull(Arc::new(Polyhedron::hull(&points).unwrap()))
            };
            let (a, b) = (hull(), hull());
            let mut memory = [Coordinates::default(), Coordinates::default()];
            let [first, second] = &mut memory;
            let a = first.place(&a, &DMat3::IDENTITY, DVec3::ZERO).unwrap();
            let turn = DMat3::from_quat(dice.rotation());
            let face = (dice.unit() * a.normals.len() as f64) as usize;
            let n = a.normals[face];
            // below the plane by 1e-9 to 1e-4, near the face or farther from it
            let depth = 10f64.powf(-4.0 - 5.0 * dice.unit());
            let (lowest, corner) = second.place(&b, &turn, DVec3::ZERO).unwrap().support(-n);
            let foot = second.place(&b, &turn, DVec3::ZERO).unwrap().vertices[corner];
            let middle = a.topology.face_vertices(face).next().unwrap() * 1.3;
            let across = middle - foot;
            let t = across + n * (a.offsets[face] - depth + lowest - n.dot(across));
            let b = second.place(&b, &turn, t).unwrap();
            let reach = 1e-3;
            let edges = all_edges(&a, &b);
            let found = axes(&a, &b, reach, &mut Default::default());
            let faces =
                best_face(&a, &b, 10.0, 0.0, 0.0, |_, _| ()).unwrap().0.max(best_face(&b, &a, 10.0, 0.0, 0.0, |_, _| ()).unwrap().0);
            if edges > reach && faces < 0.0 {
                parted += 1;
                assert!(found.is_none(), "round {round}: parted by {edges:e}, and by faces {faces:e}, {found:?}");
            }
        }
        assert!(parted > 100, "{parted}");
    }
}
