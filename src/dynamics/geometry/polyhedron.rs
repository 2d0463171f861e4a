//! Convex polyhedra: vertices, polygonal faces, edges.
//!
//! ```text
//! x ∈ P  ⇔  n_f · x ≤ d_f  for every face f
//! ```
//!
//! Triangles of one plane are one face here, whatever algorithm made them: a contact patch is then the overlap of two polygons, not of
//! a dozen triangles.

use std::sync::LazyLock;

use glam::{DMat3, DVec3};
use parry3d::transformation::try_convex_hull;

use super::error::ShapeError;
use crate::algebra::spatial::{Pose, diagonalize};

/// A polygonal face.
///
/// ```
/// use drystone::geometry::polyhedron::{Face, Polyhedron};
/// use glam::DVec3;
/// let top: Face = Polyhedron::cuboid(DVec3::ONE).faces[4];
/// assert_eq!((top.normal, top.offset), (DVec3::Z, 1.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Outward unit normal.
    pub normal: DVec3,
    /// `normal · x` of its points (m).
    pub offset: f64,
    first: u32,
    sides: u32,
}

/// One side of a face: it starts at `vertex` and runs along `edge`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) vertex: u32,
    pub(super) edge: u32,
}

/// An edge between two faces.
///
/// ```
/// use drystone::geometry::polyhedron::{Edge, Polyhedron};
/// use glam::DVec3;
/// let edges: Vec<Edge> = Polyhedron::cuboid(DVec3::ONE).edges;
/// assert!(edges.len() == 12 && edges[0].vertices == [0, 1]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its two end points.
    pub vertices: [u32; 2],
    /// The face on its left, seen from outside along `vertices[0] → vertices[1]`, and the one on its right.
    pub faces: [u32; 2],
}

/// A convex polyhedron.
///
/// ```
/// use drystone::geometry::polyhedron::Polyhedron;
/// use glam::DVec3;
/// let wedge = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::X + DVec3::Z, DVec3::Y + DVec3::Z];
/// let prism = Polyhedron::hull(&wedge)?;
/// assert_eq!((prism.vertices.len(), prism.edges.len(), prism.faces.len()), (6, 9, 5));
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Polyhedron {
    /// Corners (m).
    pub vertices: Vec<DVec3>,
    /// Faces; see [`Polyhedron::face_vertices`] for their corners.
    pub faces: Vec<Face>,
    /// Edges, each once.
    pub edges: Vec<Edge>,
    sides: Vec<Side>,
    width: f64,
}

/// Thickness over length below which a body has none.
const FLAT: f64 = 1e-9;
/// Thickness over length below which a body is stretched to find its faces: the algorithm takes 5e-4 for flat, and 1e-6 for a body of four corners.
const PLATE: f64 = 2e-3;

/// The points along their principal axes, from their middle.
fn principal(points: &[DVec3]) -> Vec<DVec3> {
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let spread = points.iter().map(|&p| p - middle).fold(DMat3::ZERO, |sum, p| sum + DMat3::from_cols(p * p.x, p * p.y, p * p.z));
    let turn = diagonalize(spread).1.inverse();
    points.iter().map(|&p| turn * (p - middle)).collect()
}

impl Polyhedron {
    /// The convex hull of a set of points; points inside it and on its faces and edges are dropped.
    pub fn hull(points: &[DVec3]) -> Result<Self, ShapeError> {
        if let Some(index) = points.iter().position(|p| !p.is_finite()) {
            return Err(ShapeError::NotFinite { shape: "hull", what: "point", index });
        }
        let flat = || ShapeError::FlatHull { points: points.len() };
        if points.len() < 4 {
            return Err(flat());
        }
        let (low, high) = bounds(points.iter().copied());
        let (centre, size) = (0.5 * (low + high), (high - low).max_element());
        if size <= 0.0 {
            return Err(flat());
        }
        // In units of its own size, around its own centre: the tolerances below are then relative.
        let mut unit: Vec<DVec3> = points.iter().map(|&p| (p - centre) / size).collect();
        let turned = principal(&unit);
        let (low, high) = bounds(turned.iter().copied());
        let (middle, sides) = (0.5 * (low + high), high - low);
        let thickness = sides.min_element() / sides.max_element();
        if thickness < FLAT {
            return Err(flat());
        }
        if thickness < PLATE {
            // a stretched body has the same corners and faces
            unit = turned.iter().map(|&p| (p - middle) / sides).collect();
        }
        let (vertices, triangles) =
            try_convex_hull(&unit).map_err(|e| ShapeError::HullFailed { points: points.len(), reason: e.to_string() })?;
        let triangles: Vec<[usize; 3]> = triangles.iter().map(|t| t.map(|i| i as usize)).collect();
        let volume: f64 = triangles.iter().map(|t| vertices[t[0]].dot(vertices[t[1]].cross(vertices[t[2]])) / 6.0).sum();
        if volume < 1e-12 {
            return Err(flat());
        }
        for tolerance in [1e-10, 1e-12, 1e-8, -1.0] {
            // the last one joins nothing: every triangle is a face
            if let Some(loops) = merge_coplanar(&vertices, &triangles, tolerance) {
                // the points themselves, not their round trip through the unit box
                let exact: Vec<DVec3> = vertices.iter().map(|v| original(v, &unit, points)).collect();
                if let Some(hull) = Self::from_loops(&exact, &loops) {
                    return Ok(hull);
                }
            }
        }
        Err(ShapeError::HullFailed { points: points.len(), reason: "its faces do not close".into() })
    }

    /// A box with the given half sides (m). Vertex `i` lies at `+` along axis `k` where bit `k` of `i` is set; face `2k` is the one at `+` of axis `k`, face `2k + 1` the other.
    pub fn cuboid(half_extents: DVec3) -> Self {
        let sign = |i: usize, k: usize| if i >> k & 1 == 1 { 1.0 } else { -1.0 };
        let vertices: Vec<DVec3> = (0..8).map(|i| half_extents * DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2))).collect();
        let mut loops = Vec::with_capacity(6);
        for k in 0..3 {
            let (u, v) = ((k + 1) % 3, (k + 2) % 3);
            let corner = |side: usize, a: usize, b: usize| (side << k) | (a << u) | (b << v);
            loops.push(vec![corner(1, 0, 0), corner(1, 1, 0), corner(1, 1, 1), corner(1, 0, 1)]);
            loops.push(vec![corner(0, 0, 0), corner(0, 0, 1), corner(0, 1, 1), corner(0, 1, 0)]);
        }
        // the loops above close by construction
        Self::from_loops(&vertices, &loops).unwrap_or(Self {
            vertices,
            faces: Vec::new(),
            edges: Vec::new(),
            sides: Vec::new(),
            width: 0.0,
        })
    }

    /// Corners of a face, counter-clockwise seen from outside.
    pub fn face_vertices(&self, face: usize) -> impl Iterator<Item = DVec3> + '_ {
        self.face_sides(face).iter().map(|side| self.vertices[side.vertex as usize])
    }

    pub(super) fn face_sides(&self, face: usize) -> &[Side] {
        let Face { first, sides, .. } = self.faces[face];
        &self.sides[first as usize..(first + sides) as usize]
    }

    /// The faces cut into triangles, fan by fan.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let fan = |f| {
            let sides = self.face_sides(f);
            (2..sides.len()).map(move |k| [sides[0].vertex, sides[k - 1].vertex, sides[k].vertex])
        };
        (0..self.faces.len()).flat_map(fan).collect()
    }

    /// Smallest distance between a face and the corner farthest from it (m).
    pub fn width(&self) -> f64 {
        self.width
    }

    fn find_width(&self) -> f64 {
        let depth = |f: &Face| self.vertices.iter().map(|v| f.offset - f.normal.dot(*v)).fold(0.0, f64::max);
        self.faces.iter().map(depth).fold(f64::INFINITY, f64::min)
    }

    /// The same solid `factor` times as large, about the origin of its frame.
    pub(super) fn scaled(mut self, factor: f64) -> Self {
        self.vertices.iter_mut().for_each(|v| *v *= factor);
        self.faces.iter_mut().for_each(|f| f.offset *= factor);
        self.width *= factor.abs();
        self
    }

    /// The same solid after a motion of its frame: `x_new = motion.point(x_old)`.
    #[must_use]
    pub fn moved(&self, motion: &Pose) -> Self {
        let mut moved = self.clone();
        moved.vertices.iter_mut().for_each(|v| *v = motion.point(*v));
        for f in 0..moved.faces.len() {
            moved.faces[f].normal = motion.vector(self.faces[f].normal).normalize();
            moved.faces[f].offset = moved.mean_offset(f);
        }
        moved
    }

    /// A single point: the core of a ball.
    pub(super) fn point() -> &'static Self {
        static POINT: LazyLock<Polyhedron> = LazyLock::new(|| Polyhedron {
            vertices: vec![DVec3::ZERO],
            faces: Vec::new(),
            edges: vec![lone_edge(0, 0)],
            sides: Vec::new(),
            width: 0.0,
        });
        &POINT
    }

    /// A segment along z: the core of a capsule.
    pub(super) fn segment() -> &'static Self {
        static SEGMENT: LazyLock<Polyhedron> = LazyLock::new(|| Polyhedron {
            vertices: vec![DVec3::NEG_Z, DVec3::Z],
            faces: Vec::new(),
            edges: vec![lone_edge(0, 1)],
            sides: Vec::new(),
            width: 0.0,
        });
        &SEGMENT
    }

    /// The box that all cuboids are scaled from.
    pub(super) fn unit_cuboid() -> &'static Self {
        static CUBOID: LazyLock<Polyhedron> = LazyLock::new(|| Polyhedron::cuboid(DVec3::ONE));
        &CUBOID
    }

    /// A prism over a regular octagon, corners 0–7 below and 8–15 above: stands in for a cylinder on terrain.
    pub(super) fn octagonal_prism() -> &'static Self {
        static PRISM: LazyLock<Polyhedron> = LazyLock::new(|| {
            let corner = |k: usize| {
                let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_4 * (k % 8) as f64);
                DVec3::new(cos, sin, if k < 8 { -1.0 } else { 1.0 })
            };
            let vertices: Vec<DVec3> = (0..16).map(corner).collect();
            let mut loops: Vec<Vec<usize>> = vec![(0..8).rev().collect(), (8..16).collect()];
            loops.extend((0..8).map(|k| vec![k, (k + 1) % 8, (k + 1) % 8 + 8, k + 8]));
            // these loops close by construction
            Polyhedron::from_loops(&vertices, &loops).unwrap_or_else(|| Polyhedron::point().clone())
        });
        &PRISM
    }

    /// A flat triangle with a front (face 0) and a back (face 1); edge and vertex numbers are those of a [`super::trimesh::TriangleMesh`].
    pub(super) fn triangle() -> &'static Self {
        static TRIANGLE: LazyLock<Polyhedron> = LazyLock::new(|| {
            let sides = |k: [u32; 6]| [0, 2, 4].map(|i| Side { vertex: k[i], edge: k[i + 1] });
            Polyhedron {
                vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
                faces: [(DVec3::Z, 0), (DVec3::NEG_Z, 3)].map(|(normal, first)| Face { normal, offset: 0.0, first, sides: 3 }).to_vec(),
                edges: [[0, 1], [1, 2], [2, 0]].map(|vertices| Edge { vertices, faces: [0, 1] }).to_vec(),
                sides: [sides([0, 0, 1, 1, 2, 2]), sides([0, 2, 2, 1, 1, 0])].concat(),
                width: 0.0,
            }
        });
        &TRIANGLE
    }

    /// Builds faces and edges from loops of vertices; `None` when the loops do not close or a face has no area.
    fn from_loops(vertices: &[DVec3], loops: &[Vec<usize>]) -> Option<Self> {
        let mut renumber = vec![u32::MAX; vertices.len()];
        loops.iter().flatten().for_each(|&i| renumber[i] = 0);
        let mut poly = Self { vertices: Vec::new(), faces: Vec::new(), edges: Vec::new(), sides: Vec::new(), width: 0.0 };
        for i in 0..vertices.len() {
            if renumber[i] == 0 {
                renumber[i] = poly.vertices.len() as u32;
                poly.vertices.push(vertices[i]);
            }
        }
        for corners in loops {
            let first = poly.sides.len() as u32;
            poly.sides.extend(corners.iter().map(|&i| Side { vertex: renumber[i], edge: u32::MAX }));
            let (a, n) = (vertices[corners[0]], corners.len());
            let twice_area: DVec3 = (2..n).map(|k| (vertices[corners[k - 1]] - a).cross(vertices[corners[k]] - a)).sum();
            poly.faces.push(Face { normal: twice_area.try_normalize()?, offset: 0.0, first, sides: n as u32 });
            let f = poly.faces.len() - 1;
            poly.faces[f].offset = poly.mean_offset(f);
        }
        poly.link_edges()?;
        poly.width = poly.find_width();
        Some(poly)
    }

    fn mean_offset(&self, face: usize) -> f64 {
        let n = self.faces[face].normal;
        self.face_vertices(face).map(|v| n.dot(v)).sum::<f64>() / f64::from(self.faces[face].sides)
    }

    /// Finds the edge of every side; `None` when a side has no partner in the other direction.
    fn link_edges(&mut self) -> Option<()> {
        let mut half_edges = Vec::with_capacity(self.sides.len());
        for f in 0..self.faces.len() {
            let Face { first, sides, .. } = self.faces[f];
            for k in 0..sides {
                let (from, to) = (self.sides[(first + k) as usize].vertex, self.sides[(first + (k + 1) % sides) as usize].vertex);
                half_edges.push((from.min(to), from.max(to), from > to, f as u32, first + k));
            }
        }
        half_edges.sort_unstable();
        if half_edges.len() % 2 == 1 {
            return None;
        }
        for pair in half_edges.chunks_exact(2) {
            let (one, two) = (pair[0], pair[1]);
            if (one.0, one.1) != (two.0, two.1) || one.2 == two.2 {
                return None;
            }
            // sorted: the forward side comes first, and its face lies on the left
            let edge = Edge { vertices: [one.0, one.1], faces: [one.3, two.3] };
            self.sides[one.4 as usize].edge = self.edges.len() as u32;
            self.sides[two.4 as usize].edge = self.edges.len() as u32;
            self.edges.push(edge);
        }
        Some(())
    }
}

/// An edge without faces: every direction across it is a normal.
fn lone_edge(from: u32, to: u32) -> Edge {
    Edge { vertices: [from, to], faces: [u32::MAX; 2] }
}

/// The given point that became the hull vertex `v` of the scaled points.
fn original(v: &DVec3, unit: &[DVec3], points: &[DVec3]) -> DVec3 {
    let nearest = (0..unit.len()).min_by(|&a, &b| unit[a].distance_squared(*v).total_cmp(&unit[b].distance_squared(*v)));
    nearest.map_or(*v, |i| points[i])
}

/// Joins the triangles of a closed convex surface of unit size into polygons: the largest triangles choose the planes, and each plane
/// spreads from its triangle over the neighbours whose corners lie within `tolerance` of it.
///
/// What is dropped is dropped on both sides at once (a vertex between two polygons only, a sliver between two polygons), so the polygons
/// close whatever the rounding. `None` when the surface is not closed or a polygon touches itself.
fn merge_coplanar(vertices: &[DVec3], triangles: &[[usize; 3]], tolerance: f64) -> Option<Vec<Vec<usize>>> {
    let neighbours = neighbours(triangles)?;
    let twice_area = |t: &[usize; 3]| (vertices[t[1]] - vertices[t[0]]).cross(vertices[t[2]] - vertices[t[0]]);
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&a, &b| {
        twice_area(&triangles[b]).length_squared().total_cmp(&twice_area(&triangles[a]).length_squared()).then(a.cmp(&b))
    });
    let mut region = vec![usize::MAX; triangles.len()];
    let mut regions = Vec::new();
    for seed in order {
        if region[seed] != usize::MAX {
            continue;
        }
        // a triangle of no area chooses no plane: it stays alone
        let n = twice_area(&triangles[seed]).normalize_or_zero();
        let origin = vertices[triangles[seed][0]];
        let level = |t: &[usize; 3]| n != DVec3::ZERO && t.iter().all(|&i| n.dot(vertices[i] - origin).abs() <= tolerance);
        let mut members = vec![seed];
        region[seed] = regions.len();
        let mut next = 0;
        while next < members.len() {
            for other in neighbours[members[next]] {
                if region[other] == usize::MAX && level(&triangles[other]) {
                    region[other] = regions.len();
                    members.push(other);
                }
            }
            next += 1;
        }
        regions.push(members);
    }
    // the sides between regions, and how many of them start at each vertex
    let border = |t: usize, k: usize| region[t] != region[neighbours[t][k]];
    let mut degree = vec![0; vertices.len()];
    for (t, corners) in triangles.iter().enumerate() {
        (0..3).filter(|&k| border(t, k)).for_each(|k| degree[corners[k]] += 1);
    }
    let mut loops = Vec::new();
    for members in &regions {
        let sides: Vec<(usize, usize)> = members
            .iter()
            .flat_map(|&t| (0..3).filter(move |&k| border(t, k)).map(move |k| (triangles[t][k], triangles[t][(k + 1) % 3])))
            .collect();
        let mut polygon = chain(&sides)?;
        polygon.retain(|&i| degree[i] > 2);
        if polygon.len() > 2 {
            loops.push(polygon);
        }
    }
    Some(loops)
}

/// The triangles beyond the sides 0→1, 1→2, 2→0 of each triangle; `None` where a side has no partner.
fn neighbours(triangles: &[[usize; 3]]) -> Option<Vec<[usize; 3]>> {
    let side = |t: usize, k: usize| (triangles[t][k], triangles[t][(k + 1) % 3]);
    let mut sides: Vec<((usize, usize), usize)> = (0..triangles.len()).flat_map(|t| (0..3).map(move |k| (side(t, k), t))).collect();
    sides.sort_unstable();
    if sides.windows(2).any(|w| w[0].0 == w[1].0) {
        return None;
    }
    let beyond = |t: usize, k: usize| {
        let (from, to) = side(t, k);
        sides.binary_search_by_key(&(to, from), |s| s.0).ok().map(|at| sides[at].1)
    };
    (0..triangles.len()).map(|t| Some([beyond(t, 0)?, beyond(t, 1)?, beyond(t, 2)?])).collect()
}

/// Sides put one after the other into a single loop that visits no vertex twice; `None` when there is no such loop.
fn chain(sides: &[(usize, usize)]) -> Option<Vec<usize>> {
    let mut sorted = sides.to_vec();
    sorted.sort_unstable();
    if sorted.windows(2).any(|w| w[0].0 == w[1].0) {
        return None;
    }
    let start = sides.first()?.0;
    let (mut polygon, mut here) = (Vec::with_capacity(sides.len()), start);
    loop {
        polygon.push(here);
        here = sorted[sorted.binary_search_by_key(&here, |s| s.0).ok()?].1;
        if here == start {
            return (polygon.len() == sides.len()).then_some(polygon);
        }
        if polygon.len() == sides.len() {
            return None;
        }
    }
}

/// Box of a set of points.
pub(super) fn bounds(points: impl Iterator<Item = DVec3>) -> (DVec3, DVec3) {
    points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn box_points(h: DVec3) -> Vec<DVec3> {
        Polyhedron::cuboid(h).vertices
    }

    #[test]
    fn the_hull_of_a_box_has_six_quads_whatever_extra_points_lie_on_it() {
        let h = DVec3::new(0.3, 0.2, 0.7);
        let mut points = box_points(h);
        points.extend([DVec3::new(0.3, 0.05, 0.1), DVec3::new(0.0, 0.2, 0.7), DVec3::ZERO]);
        let turn = Pose::new(DVec3::new(5.0, -3.0, 2.0), glam::DQuat::from_rotation_y(0.4) * glam::DQuat::from_rotation_x(1.1));
        for motion in [Pose::IDENTITY, turn] {
            let moved: Vec<DVec3> = points.iter().map(|&p| motion.point(p)).collect();
            let hull = Polyhedron::hull(&moved).unwrap();
            assert_eq!((hull.vertices.len(), hull.edges.len(), hull.faces.len()), (8, 12, 6));
            for f in 0..6 {
                let face = hull.faces[f];
                assert!(hull.face_vertices(f).all(|v| (face.normal.dot(v) - face.offset).abs() < 3e-15));
                assert!(moved.iter().all(|v| face.normal.dot(*v) <= face.offset + 3e-15));
            }
        }
    }

    #[test]
    fn plates_and_needles_are_hulls_however_thin_and_what_is_flat_is_none() {
        let turn = Pose::new(DVec3::new(5.0, -3.0, 2.0), glam::DQuat::from_rotation_y(0.4) * glam::DQuat::from_rotation_x(1.1));
        for thin in [1e-2, 1e-3, 3e-4, 1e-4, 1e-5] {
            for h in [DVec3::new(0.3, 0.05, 0.3 * thin), DVec3::new(0.3 * thin, 0.3 * thin, 0.3)] {
                for motion in [Pose::IDENTITY, turn] {
                    let points: Vec<DVec3> = box_points(h).iter().map(|&p| motion.point(p)).collect();
                    let hull = Polyhedron::hull(&points).unwrap();
                    assert_eq!((hull.vertices.len(), hull.edges.len(), hull.faces.len()), (8, 12, 6), "{h}");
                    let volume: f64 = (0..6).map(|f| hull.faces[f].offset * area(&hull, f) / 3.0).sum();
                    let whole = 8.0 * h.x * h.y * h.z;
                    assert!((volume / whole - 1.0).abs() < 1e-14 / (thin * thin), "{h}: {volume} {whole}");
                }
            }
        }
        let flat: Vec<DVec3> = box_points(DVec3::new(0.3, 0.05, 0.0)).iter().map(|&p| turn.point(p)).collect();
        assert!(matches!(Polyhedron::hull(&flat), Err(ShapeError::FlatHull { points: 8 })));
    }

    fn area(hull: &Polyhedron, face: usize) -> f64 {
        let corners: Vec<DVec3> = hull.face_vertices(face).collect();
        let fan = corners.windows(2).skip(1).map(|x| (x[0] - corners[0]).cross(x[1] - corners[0]));
        0.5 * fan.sum::<DVec3>().length()
    }

    #[test]
    fn faces_vertices_and_edges_obey_euler() {
        // a fixed cloud without symmetry: a rounded body with many faces
        let cloud: Vec<DVec3> = (0..200)
            .map(|i| {
                let (z, a) = (1.0 - (2.0 * f64::from(i) + 1.0) / 200.0, f64::from(i) * 2.399963229728653);
                let r = (1.0 - z * z).sqrt();
                DVec3::new(r * a.cos(), r * a.sin(), z)
            })
            .collect();
        let hull = Polyhedron::hull(&cloud).unwrap();
        assert_eq!(hull.vertices.len() + hull.faces.len(), hull.edges.len() + 2);
        assert_eq!(hull.vertices.len(), 200);
        for Edge { vertices, faces } in &hull.edges {
            let along = hull.vertices[vertices[1] as usize] - hull.vertices[vertices[0] as usize];
            let [left, right] = faces.map(|f| hull.faces[f as usize].normal);
            assert!(left.dot(along).abs() < 1e-14 && right.dot(along).abs() < 1e-14);
            // convex, and left is left
            assert!(left.cross(along).dot(right) < 0.0);
        }
    }

    #[test]
    fn points_in_a_plane_are_refused() {
        let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.5, 0.5, 0.0)];
        assert!(Polyhedron::hull(&square).is_err());
        assert!(Polyhedron::hull(&square[..2]).is_err());
        assert!(Polyhedron::hull(&[DVec3::NAN; 8]).is_err());
        assert!(Polyhedron::hull(&[DVec3::ONE; 8]).is_err());
    }
}
