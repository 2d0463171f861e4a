//! Faults of shapes.

use glam::DVec3;
use thiserror::Error;

/// Why a shape cannot be built or used as asked.
///
/// ```
/// use drystone::geometry::Shape;
/// let error = Shape::ball(-1.0).unwrap_err();
/// assert_eq!(error.to_string(), "ball: radius must be a positive number of metres, found -1");
/// ```
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ShapeError {
    /// A length that must be positive is not.
    #[error("{shape}: {what} must be a positive number of metres, found {found}")]
    NotPositive {
        /// Kind of shape.
        shape: &'static str,
        /// Name of the length.
        what: &'static str,
        /// Its value (m).
        found: f64,
    },
    /// A coordinate is NaN or infinite.
    #[error("{shape}: {what} {index} is not finite; every coordinate must be a number")]
    NotFinite {
        /// Kind of shape.
        shape: &'static str,
        /// `vertex`, `point`, `height` or `part`.
        what: &'static str,
        /// Its index, from 0.
        index: usize,
    },
    /// The normal of a half-space has no direction.
    #[error("half-space: the normal must be a finite vector of non-zero length (length 1 without the constructor), found {found}")]
    ZeroNormal {
        /// The vector given.
        found: DVec3,
    },
    /// The points of a hull span no volume.
    #[error("hull: {points} points span no volume; at least 4 that do not lie in one plane are needed")]
    FlatHull {
        /// Number of points given.
        points: usize,
    },
    /// The hull algorithm gave up.
    #[error("hull: no closed convex surface found for {points} points ({reason}); remove points that nearly coincide")]
    HullFailed {
        /// Number of points given.
        points: usize,
        /// What went wrong.
        reason: String,
    },
    /// A mesh without triangles of positive area.
    #[error("mesh: no triangle with an area among {triangles} triangles and {vertices} vertices")]
    EmptyMesh {
        /// Number of vertices given.
        vertices: usize,
        /// Number of triangles given.
        triangles: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("mesh: triangle {triangle} names vertex {index}, but there are {vertices} vertices")]
    BadIndex {
        /// Index of the triangle, from 0.
        triangle: usize,
        /// Vertex index found.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A height field needs a full grid.
    #[error("height field: {heights} heights do not fill rows of {columns}; at least 2 rows of at least 2 are needed")]
    BadGrid {
        /// Number of heights given.
        heights: usize,
        /// Number of heights per row given.
        columns: usize,
    },
    /// A profile that bounds no vessel.
    #[error("vessel: {reason}")]
    BadProfile {
        /// What is wrong and what would do.
        reason: String,
    },
    /// A compound without parts, or with a part that cannot be one.
    #[error("compound: {reason}")]
    BadPart {
        /// What is wrong.
        reason: String,
    },
    /// A solid that has no finite mass.
    #[error("{shape}: has no finite mass; use it for a static body, or give the mass and inertia of the body")]
    NoMass {
        /// Kind of shape.
        shape: &'static str,
    },
    /// A density that is not a positive number.
    #[error("density must be a positive number of kg/m³, found {found}")]
    BadDensity {
        /// The density given (kg/m³).
        found: f64,
    },
    /// A mesh whose surface has a border encloses no volume.
    #[error(
        "mesh: {open_edges} edges do not belong to exactly two triangles of consistent orientation, so the mesh is not closed: what forces move has to be; close the surface, and let the corners of each triangle go round it alike"
    )]
    OpenMesh {
        /// Number of such edges.
        open_edges: usize,
    },
    /// The triangles of a mesh turn the wrong way round.
    #[error("mesh: its volume is {volume} m³, not positive; reverse the order of the vertices of each triangle")]
    InvertedMesh {
        /// Signed volume (m³).
        volume: f64,
    },
    /// The surface of a mesh is the boundary of no solid.
    #[error("mesh: no solid has this surface: it runs through itself, or encloses nothing; mend it in the model")]
    NoSolid,
    /// Settings or result of a convex decomposition.
    #[error("decomposition: {reason}")]
    Decomposition {
        /// What is wrong.
        reason: String,
    },
}
