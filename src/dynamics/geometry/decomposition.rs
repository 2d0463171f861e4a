//! Bodies of concave shape: a closed mesh as a compound of convex hulls.
//!
//! Approximate convex decomposition by volumes of voxels (Mamou, *Volumetric Hierarchical Approximate Convex Decomposition*, 2016; parry's
//! implementation). Only the shape for contact comes from here: the mass of the body is best taken from the mesh, which is exact.

use std::sync::Arc;

use glam::DVec3;
use parry3d::transformation::vhacd::{VHACD, VHACDParameters};

use super::error::ShapeError;
use super::polyhedron::{Polyhedron, bounds};
use super::shapes::Shape;
use super::trimesh::TriangleMesh;
use crate::algebra::spatial::Pose;

/// How finely a concave mesh is cut into convex parts.
///
/// ```
/// use drystone::geometry::{DecompositionSettings, Shape};
/// use glam::DVec3;
/// let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
/// let mesh = Shape::mesh(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// // a convex mesh stays in one piece
/// assert_eq!(mesh.decompose(&DecompositionSettings::default())?.kind(), "hull");
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecompositionSettings {
    /// Voxels along the longest side of the mesh, 8 to 512.
    pub resolution: u32,
    /// Largest part of the volume that a hull may enclose without being solid, 0 to 1.
    pub concavity: f64,
    /// At most this many parts, 1 to 1024.
    pub max_parts: u32,
}

impl Default for DecompositionSettings {
    fn default() -> Self {
        Self { resolution: 64, concavity: 0.01, max_parts: 64 }
    }
}

impl DecompositionSettings {
    /// Checks that every setting lies in its range.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let complain = |reason: String| Err(ShapeError::Decomposition { reason });
        if !(8..=512).contains(&self.resolution) {
            return complain(format!("resolution must lie between 8 and 512, found {}", self.resolution));
        }
        if !(0.0..=1.0).contains(&self.concavity) {
            return complain(format!("concavity must lie between 0 and 1, found {}", self.concavity));
        }
        if !(1..=1024).contains(&self.max_parts) {
            return complain(format!("max_parts must lie between 1 and 1024, found {}", self.max_parts));
        }
        Ok(())
    }
}

impl Shape {
    /// The shape made of convex parts, as a body that moves needs it: a concave mesh becomes a compound of hulls, a convex one a single
    /// hull, a compound is treated part by part, and what is convex already stays what it is.
    pub fn decompose(&self, settings: &DecompositionSettings) -> Result<Self, ShapeError> {
        settings.validate()?;
        match self {
            Self::Mesh(mesh) => decompose_mesh(mesh, settings),
            Self::HeightField(_) | Self::Vessel(_) => Err(ShapeError::NoMass { shape: self.kind() }),
            Self::Compound(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|(pose, part)| Ok((*pose, part.decompose(settings)?))).collect();
                Self::compound(parts?)
            }
            _ => Ok(self.clone()),
        }
    }
}

fn decompose_mesh(mesh: &TriangleMesh, settings: &DecompositionSettings) -> Result<Shape, ShapeError> {
    // a surface that encloses nothing has no parts; this also rejects one that is inside out
    Shape::Mesh(Arc::new(mesh.clone())).mass_properties(1.0)?;
    if mesh.is_convex() {
        return Shape::hull(&mesh.vertices);
    }
    let parameters = VHACDParameters {
        resolution: settings.resolution,
        concavity: settings.concavity,
        max_convex_hulls: settings.max_parts,
        ..VHACDParameters::default()
    };
    // In units of its own size around its own middle: the thresholds of the voxels and of the hulls are then relative.
    let (low, high) = bounds(mesh.vertices.iter().copied());
    let (middle, size) = (0.5 * (low + high), (high - low).max_element());
    let vertices: Vec<DVec3> = mesh.vertices.iter().map(|&v| (v - middle) / size).collect();
    let pieces = VHACD::decompose(&parameters, &vertices, &mesh.triangles, true);
    let mut parts = Vec::new();
    for piece in pieces.voxel_parts() {
        // the true surface within the piece, and the middle of what is solid
        let mut points = piece.compute_primitive_intersections(&vertices, &mesh.triangles);
        points.extend(piece.voxels().iter().filter(|v| !v.is_on_surface).map(|v| piece.get_voxel_point(v)));
        match Polyhedron::hull(&apart(points)) {
            Ok(hull) => parts.push((Pose::IDENTITY, Shape::Hull(Arc::new(hull.scaled(size).moved(&Pose::at(middle)))))),
            // a sliver between two cuts
            Err(ShapeError::FlatHull { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if parts.is_empty() {
        return Err(ShapeError::Decomposition { reason: "no part has a volume; raise the resolution".into() });
    }
    Shape::compound(parts)
}

/// The points of a piece of unit size, one per cell of 1e-7: the voxels of one row and the cuts of one triangle meet in many copies.
fn apart(points: Vec<DVec3>) -> Vec<DVec3> {
    let mut cells: Vec<([i64; 3], usize)> =
        points.iter().enumerate().map(|(i, p)| ((*p * 1e7).round().to_array().map(|x| x as i64), i)).collect();
    cells.sort_unstable();
    cells.dedup_by_key(|cell| cell.0);
    cells.into_iter().map(|(_, i)| points[i]).collect()
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    /// A closed L: a prism over six corners, `length` long and `height` high.
    fn prism(length: f64, height: f64, motion: &Pose, size: f64) -> Shape {
        let outline = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, length), (0.0, length)];
        let corner = |x, y, z| motion.point(size * DVec3::new(x, y, z));
        let mut vertices: Vec<DVec3> = outline.iter().map(|&(x, y)| corner(x, y, 0.0)).collect();
        vertices.extend(outline.iter().map(|&(x, y)| corner(x, y, height)));
        let mut triangles = Vec::new();
        for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
            triangles.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
        }
        for k in 0..6 {
            let next = (k + 1) % 6;
            triangles.extend([[k, next, next + 6], [k, next + 6, k + 6]]);
        }
        Shape::mesh(&vertices, &triangles).unwrap()
    }

    fn angle() -> Shape {
        prism(2.0, 0.5, &Pose::IDENTITY, 1.0)
    }

    #[test]
    fn an_angle_falls_into_parts_at_any_size_and_however_it_is_turned() {
        let odd = DQuat::from_rotation_x(0.37) * DQuat::from_rotation_y(1.23) * DQuat::from_rotation_z(2.71);
        for size in [1e-3, 0.1, 1.0, 100.0] {
            for (length, height, turn) in
                [(2.0, 0.5, DQuat::IDENTITY), (3.0, 1.0, DQuat::IDENTITY), (3.0, 1.0, odd), (3.0, 0.5, DQuat::from_rotation_z(0.3))]
            {
                let motion = Pose::new(size * DVec3::new(3.0, -7.0, 1.0), turn);
                let mesh = prism(length, height, &motion, size);
                let compound = mesh.decompose(&DecompositionSettings::default()).unwrap();
                let (exact, found) = (mesh.mass_properties(1.0).unwrap(), compound.mass_properties(1.0).unwrap());
                assert!((found.mass / exact.mass - 1.0).abs() < 0.05, "{size} {length} {turn}: {} of {}", found.mass, exact.mass);
                assert!((found.centre - exact.centre).length() < 0.05 * size, "{size} {length} {turn}");
                let Shape::Compound(parts) = &compound else { panic!("not a compound") };
                for (_, part) in parts.iter() {
                    let Shape::Hull(hull) = part else { panic!("not a hull") };
                    assert_eq!(hull.vertices.len() + hull.faces.len(), hull.edges.len() + 2);
                }
            }
        }
    }

    #[test]
    fn a_convex_mesh_becomes_one_hull_and_never_more() {
        let poly = Polyhedron::cuboid(DVec3::new(0.5, 0.3, 0.2));
        let mesh = Shape::mesh(&poly.vertices, &poly.triangles()).unwrap();
        let Shape::Hull(hull) = mesh.decompose(&DecompositionSettings::default()).unwrap() else { panic!("not a hull") };
        assert_eq!(hull.faces.len(), 6);
    }

    #[test]
    fn an_angle_falls_into_parts_that_fill_it_and_leave_its_hollow_free() {
        let mesh = angle();
        let compound = mesh.decompose(&DecompositionSettings::default()).unwrap();
        let Shape::Compound(parts) = &compound else { panic!("not a compound") };
        assert!((2..=8).contains(&parts.len()), "{}", parts.len());
        let (exact, found) = (mesh.mass_properties(1.0).unwrap(), compound.mass_properties(1.0).unwrap());
        assert!((found.mass / exact.mass - 1.0).abs() < 0.05, "{} {}", found.mass, exact.mass);
        let ball = Shape::ball(0.2).unwrap();
        let touches = |x: f64, y: f64| {
            !crate::geometry::tests::points(&ball, &Pose::at(DVec3::new(x, y, 0.25)), &compound, &Pose::IDENTITY, 0.0).is_empty()
        };
        assert!(touches(0.5, 1.5) && touches(1.5, 0.5) && !touches(1.5, 1.5));
    }

    #[test]
    fn settings_and_surfaces_that_cannot_work_are_refused() {
        let absurd = DecompositionSettings { resolution: 100_000, ..Default::default() };
        assert!(angle().decompose(&absurd).is_err());
        let open = Shape::mesh(&[DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        assert!(matches!(open.decompose(&DecompositionSettings::default()), Err(ShapeError::OpenMesh { open_edges: 3 })));
    }
}
