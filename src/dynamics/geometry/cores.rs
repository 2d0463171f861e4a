//! Polyhedral cores: what is left of a shape when its rounding is taken off.
//!
//! ```text
//! shape = core ⊕ ball(radius)        gap(shape₁, shape₂) = gap(core₁, core₂) − radius₁ − radius₂
//! ```
//!
//! A ball is a rounded point, a capsule a rounded segment; cuboids, hulls and single triangles are their own cores. One kernel
//! then serves every pair of them. It works in the frame of the first shape, so that coordinates stay small.

use glam::{DMat3, DVec3};

use super::polyhedron::{Polyhedron, bounds};
use super::shapes::Shape;

/// A corner of a core as half of a feature key.
pub(super) const fn vertex_key(index: u32) -> u32 {
    index
}

/// An edge of a core as half of a feature key.
pub(super) const fn edge_key(index: u32) -> u32 {
    1 << 30 | index
}

/// A face of a core as half of a feature key.
pub(super) const fn face_key(index: u32) -> u32 {
    2 << 30 | index
}

/// The lowest point of a cylinder's rim, −z or +z (0 and 1), or the wall (2), as half of a feature key: one that rolls round goes on under this name.
pub(super) const fn rim_key(part: u32) -> u32 {
    3 << 30 | part
}

/// Coordinates of a core in the frame of the kernel.
#[derive(Debug, Default)]
pub(super) struct Coordinates {
    pub(super) vertices: Vec<DVec3>,
    pub(super) normals: Vec<DVec3>,
    pub(super) offsets: Vec<f64>,
}

/// A core in the frame of the kernel.
#[derive(Clone, Copy)]
pub(super) struct Core<'a> {
    pub(super) topology: &'a Polyhedron,
    pub(super) vertices: &'a [DVec3],
    pub(super) normals: &'a [DVec3],
    pub(super) offsets: &'a [f64],
    pub(super) radius: f64,
    /// Half the largest side of its box (m).
    pub(super) size: f64,
    /// Smallest distance between a face and the corner farthest from it (m); 0 without a volume.
    pub(super) width: f64,
    pub(super) low: DVec3,
    pub(super) high: DVec3,
}

impl Coordinates {
    /// Places the core of `shape` at `x = rotation · x_shape + position`. `None` for shapes without a polyhedral core.
    pub(super) fn place<'a>(&'a mut self, shape: &'a Shape, rotation: &DMat3, position: DVec3) -> Option<Core<'a>> {
        let (topology, scale, radius, width) = match shape {
            Shape::Ball { radius } => (Polyhedron::point(), DVec3::ONE, *radius, 0.0),
            Shape::Capsule { half_height, radius } => (Polyhedron::segment(), DVec3::splat(*half_height), *radius, 0.0),
            Shape::Cuboid { half_extents } => (Polyhedron::unit_cuboid(), *half_extents, 0.0, 2.0 * half_extents.min_element()),
            Shape::Hull(hull) => (&**hull, DVec3::ONE, 0.0, hull.width()),
            _ => return None,
        };
        self.vertices.clear();
        self.vertices.extend(topology.vertices.iter().map(|v| *rotation * (*v * scale) + position));
        self.normals.clear();
        self.normals.extend(topology.faces.iter().map(|f| *rotation * f.normal));
        self.offsets.clear();
        for (f, normal) in self.normals.iter().enumerate() {
            self.offsets.push(normal.dot(self.vertices[topology.face_sides(f)[0].vertex as usize]));
        }
        Some(Core { width, ..self.core(topology, radius) })
    }

    /// The points in `vertices` as a polygon, segment or point without faces.
    pub(super) fn bare(&mut self) -> Core<'_> {
        self.normals.clear();
        self.offsets.clear();
        self.core(Polyhedron::point(), 0.0)
    }

    /// Places a single triangle.
    pub(super) fn place_triangle(&mut self, corners: [DVec3; 3], normal: DVec3) -> Core<'_> {
        self.vertices.clear();
        self.vertices.extend(corners);
        self.normals.clear();
        self.normals.extend([normal, -normal]);
        self.offsets.clear();
        let offset = normal.dot(corners[0]);
        self.offsets.extend([offset, -offset]);
        self.core(Polyhedron::triangle(), 0.0)
    }

    /// What was placed, as a core.
    pub(super) fn core<'a>(&'a self, topology: &'a Polyhedron, radius: f64) -> Core<'a> {
        let (low, high) = bounds(self.vertices.iter().copied());
        Core {
            topology,
            vertices: &self.vertices,
            normals: &self.normals,
            offsets: &self.offsets,
            radius,
            size: 0.5 * (high - low).max_element(),
            width: 0.0,
            low,
            high,
        }
    }
}

impl Core<'_> {
    pub(super) fn edge(&self, edge: usize) -> [DVec3; 2] {
        self.topology.edges[edge].vertices.map(|i| self.vertices[i as usize])
    }

    /// Vectors in the two faces of an edge that point away from it; zero where there is no face.
    /// A direction `n` across the edge is one of its normals when `n · inward ≤ 0` for both.
    pub(super) fn inward(&self, edge: usize) -> [DVec3; 2] {
        let [from, to] = self.edge(edge);
        let along = to - from;
        let normal = |k: usize| self.normals.get(self.topology.edges[edge].faces[k] as usize).copied().unwrap_or(DVec3::ZERO);
        [normal(0).cross(along), along.cross(normal(1))]
    }

    /// Largest `n · v` over the corners, and the corner.
    pub(super) fn support(&self, n: DVec3) -> (f64, usize) {
        self.vertices.iter().enumerate().fold((f64::NEG_INFINITY, 0), |best, (i, v)| {
            let height = n.dot(*v);
            if height > best.0 { (height, i) } else { best }
        })
    }
}

/// Parameters in [0, 1] of the closest points of two segments (either may be a point).
pub(super) fn closest_on_segments(p: [DVec3; 2], q: [DVec3; 2]) -> (f64, f64) {
    let (d1, d2, r) = (p[1] - p[0], q[1] - q[0], p[0] - q[0]);
    let (a, e, f) = (d1.length_squared(), d2.length_squared(), d2.dot(r));
    if a == 0.0 && e == 0.0 {
        return (0.0, 0.0);
    }
    if a == 0.0 {
        return (0.0, (f / e).clamp(0.0, 1.0));
    }
    let c = d1.dot(r);
    if e == 0.0 {
        return ((-c / a).clamp(0.0, 1.0), 0.0);
    }
    let b = d1.dot(d2);
    // a e − b², without cancellation for nearly parallel segments
    let denominator = d1.cross(d2).length_squared();
    let s = if denominator > 1e-24 * a * e { ((b * f - c * e) / denominator).clamp(0.0, 1.0) } else { 0.0 };
    let t = (b * s + f) / e;
    if t < 0.0 {
        ((-c / a).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((b - c) / a).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    }
}
