//! Triangulated surfaces: static terrain, or the raw form of a solid.
//!
//! Contact with a surface of triangles must not feel the lines along which a flat floor happens to be cut. So each edge knows which
//! normals it can have, and triangles of one plane that hang together share a `region`.

use glam::DVec3;
use parry3d::bounding_volume::Aabb;
use parry3d::partitioning::{Bvh, BvhBuildStrategy};

use super::error::ShapeError;
use crate::algebra::spatial::Pose;

/// Two triangles are of one plane when the sine of the angle between them is below this.
const FLAT: f64 = 1e-9;

/// What lies beyond a side of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Beyond {
    /// Nothing: the border of an open surface.
    Nothing,
    /// The surface goes on flat or rises: the side is no feature of its own.
    Hidden,
    /// The surface falls away; the outward normal of the neighbour.
    Ridge(DVec3),
}

/// A surface of triangles, solid behind them.
///
/// ```
/// use drystone::geometry::trimesh::TriangleMesh;
/// use glam::DVec3;
/// let corners = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
/// let floor = TriangleMesh::new(&corners, &[[0, 1, 2], [0, 2, 3]])?;
/// assert_eq!((floor.open_edges(), floor.is_convex()), (4, false));
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone)]
pub struct TriangleMesh {
    /// Corners (m).
    pub vertices: Vec<DVec3>,
    /// Corners of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    pub(super) normals: Vec<DVec3>,
    /// Smallest index of a triangle that this one is joined to without a fold.
    pub(super) region: Vec<u32>,
    /// Beyond the sides 0→1, 1→2, 2→0.
    pub(super) beyond: Vec<[Beyond; 3]>,
    pub(super) tree: Bvh,
    open_edges: usize,
    concave_edges: usize,
}

impl std::fmt::Debug for TriangleMesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "TriangleMesh {{ vertices: {}, triangles: {}, open_edges: {} }}",
            self.vertices.len(),
            self.triangles.len(),
            self.open_edges
        )
    }
}

impl TriangleMesh {
    /// A surface from vertices (m) and triangles. Vertices at exactly one place are joined; triangles without area are left out.
    pub fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        if let Some(index) = vertices.iter().position(|v| !v.is_finite()) {
            return Err(ShapeError::NotFinite { shape: "mesh", what: "vertex", index });
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&i| i as usize >= vertices.len()) {
                return Err(ShapeError::BadIndex { triangle, index, vertices: vertices.len() });
            }
        }
        let (vertices, joined) = weld(vertices);
        let (mut kept, mut normals) = (Vec::new(), Vec::new());
        for corners in triangles {
            let corners = corners.map(|i| joined[i as usize]);
            let [a, b, c] = corners.map(|i| vertices[i as usize]);
            let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
            let twice_area = (b - a).cross(c - a);
            if twice_area.length() > 1e-14 * longest && longest > 0.0 {
                kept.push(corners);
                normals.push(twice_area.normalize());
            }
        }
        if kept.is_empty() {
            return Err(ShapeError::EmptyMesh { vertices: vertices.len(), triangles: triangles.len() });
        }
        let leaves: Vec<Aabb> = kept.iter().map(|t| box_of(t.map(|i| vertices[i as usize]))).collect();
        let mut mesh = Self {
            beyond: vec![[Beyond::Nothing; 3]; kept.len()],
            region: (0..kept.len() as u32).collect(),
            tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves),
            vertices,
            triangles: kept,
            normals,
            open_edges: 0,
            concave_edges: 0,
        };
        mesh.link();
        Ok(mesh)
    }

    /// Number of edges that do not lie between exactly two triangles that turn the same way.
    pub fn open_edges(&self) -> usize {
        self.open_edges
    }

    /// True for a closed surface whose triangles all lie on its convex hull.
    pub fn is_convex(&self) -> bool {
        if self.open_edges > 0 || self.concave_edges > 0 {
            return false;
        }
        let size = self.vertices.iter().map(|v| (*v - self.vertices[0]).length()).fold(0.0, f64::max);
        // no concave edge, but perhaps several bodies: every vertex must lie behind every triangle
        let behind = |t: usize| {
            let (n, a) = (self.normals[t], self.vertices[self.triangles[t][0] as usize]);
            self.vertices.iter().all(|v| n.dot(*v - a) <= 1e-9 * size)
        };
        (0..self.triangles.len()).all(behind)
    }

    /// The same surface after a motion of its frame: `x_new = motion.point(x_old)`.
    #[must_use]
    pub fn moved(&self, motion: &Pose) -> Self {
        let mut moved = self.clone();
        moved.vertices.iter_mut().for_each(|v| *v = motion.point(*v));
        moved.normals.iter_mut().for_each(|n| *n = motion.vector(*n).normalize());
        for side in moved.beyond.iter_mut().flatten() {
            if let Beyond::Ridge(n) = side {
                *n = motion.vector(*n).normalize();
            }
        }
        let leaves: Vec<Aabb> = moved.triangles.iter().map(|t| box_of(t.map(|i| moved.vertices[i as usize]))).collect();
        moved.tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
        moved
    }

    pub(super) fn corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].map(|i| self.vertices[i as usize])
    }

    /// Fills `beyond` and `region` from the edges that triangles share.
    fn link(&mut self) {
        let mut half_edges = Vec::with_capacity(3 * self.triangles.len());
        for (t, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                half_edges.push((from.min(to), from.max(to), from > to, t, k));
            }
        }
        half_edges.sort_unstable();
        let mut flat_pairs = Vec::new();
        for shared in half_edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let [(.., forward, s, i), (.., backward, t, j)] = *shared else {
                self.open_edges += 1;
                continue;
            };
            if forward == backward {
                self.open_edges += 1;
                continue;
            }
            let apex = self.vertices[self.triangles[t][(j + 2) % 3] as usize];
            let from = self.vertices[self.triangles[s][i] as usize];
            let sine = self.normals[s].cross(self.normals[t]).length();
            let folds_back = self.normals[s].dot(self.normals[t]) < 0.0;
            if sine <= FLAT && !folds_back {
                flat_pairs.push((s, t));
                (self.beyond[s][i], self.beyond[t][j]) = (Beyond::Hidden, Beyond::Hidden);
            } else if self.normals[s].dot(apex - from) > 0.0 {
                self.concave_edges += 1;
                (self.beyond[s][i], self.beyond[t][j]) = (Beyond::Hidden, Beyond::Hidden);
            } else {
                (self.beyond[s][i], self.beyond[t][j]) = (Beyond::Ridge(self.normals[t]), Beyond::Ridge(self.normals[s]));
            }
        }
        for (s, t) in flat_pairs {
            let (a, b) = (root(&mut self.region, s as u32), root(&mut self.region, t as u32));
            self.region[a.max(b) as usize] = a.min(b);
        }
        for t in 0..self.triangles.len() {
            self.region[t] = root(&mut self.region, t as u32);
        }
    }
}

/// Representative of the set that `i` belongs to, with path halving.
fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

fn box_of(corners: [DVec3; 3]) -> Aabb {
    Aabb { mins: corners[0].min(corners[1]).min(corners[2]), maxs: corners[0].max(corners[1]).max(corners[2]) }
}

/// Joins vertices with equal coordinates; returns those that remain, in order of first appearance, and the new index of each old one.
fn weld(vertices: &[DVec3]) -> (Vec<DVec3>, Vec<u32>) {
    // −0 and +0 are one place
    let key = |v: DVec3| (v + DVec3::ZERO).to_array().map(f64::to_bits);
    let mut order: Vec<usize> = (0..vertices.len()).collect();
    order.sort_by_key(|&i| (key(vertices[i]), i));
    let mut first = vec![0; vertices.len()];
    for same in order.chunk_by(|&a, &b| key(vertices[a]) == key(vertices[b])) {
        same.iter().for_each(|&i| first[i] = same[0]);
    }
    let (mut kept, mut index) = (Vec::new(), vec![0; vertices.len()]);
    for i in 0..vertices.len() {
        if first[i] == i {
            index[i] = kept.len() as u32;
            kept.push(vertices[i]);
        } else {
            index[i] = index[first[i]];
        }
    }
    (kept, index)
}

/// A terrain over a regular grid.
///
/// ```
/// use drystone::geometry::trimesh::HeightField;
/// let field = HeightField::new(&[0.0, 0.0, 0.1, 0.1, 0.2, 0.2], 2, 1.0, 0.5)?;
/// assert_eq!((field.rows, field.columns, field.mesh.triangles.len()), (3, 2, 4));
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HeightField {
    /// Number of heights along x.
    pub columns: usize,
    /// Number of heights along y.
    pub rows: usize,
    /// The surface itself: two triangles per cell.
    pub mesh: TriangleMesh,
}

impl HeightField {
    /// The surface `z = heights[j · columns + i]` at `x = i · spacing_x`, `y = j · spacing_y` (m).
    pub fn new(heights: &[f64], columns: usize, spacing_x: f64, spacing_y: f64) -> Result<Self, ShapeError> {
        if columns < 2 || heights.len() < 2 * columns || !heights.len().is_multiple_of(columns) {
            return Err(ShapeError::BadGrid { heights: heights.len(), columns });
        }
        if let Some(index) = heights.iter().position(|z| !z.is_finite()) {
            return Err(ShapeError::NotFinite { shape: "height field", what: "height", index });
        }
        let rows = heights.len() / columns;
        let place = |k: usize| DVec3::new((k % columns) as f64 * spacing_x, (k / columns) as f64 * spacing_y, heights[k]);
        let vertices: Vec<DVec3> = (0..heights.len()).map(place).collect();
        let mut triangles = Vec::with_capacity(2 * (rows - 1) * (columns - 1));
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let a = (j * columns + i) as u32;
                let (b, c, d) = (a + 1, a + 1 + columns as u32, a + columns as u32);
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        Ok(Self { columns, rows, mesh: TriangleMesh::new(&vertices, &triangles)? })
    }
}
