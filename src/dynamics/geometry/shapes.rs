//! What a body looks like.
//!
//! A [`Shape`] lives in its own frame; a [`Pose`] puts it into the world. Shapes are cheap to clone: what is large is shared.

use std::sync::Arc;

use glam::{DMat3, DVec2, DVec3};

use super::polyhedron::{Polyhedron, bounds};
use super::trimesh::{HeightField, TriangleMesh};
use super::vessel::Vessel;
use crate::algebra::spatial::Pose;

pub use super::error::ShapeError;

/// Coordinate that stands for "no bound" in the box of a half-space (m).
pub const UNBOUNDED: f64 = 1e30;

/// A solid (or, for half-space, mesh and height field, the surface of one) in its own frame.
///
/// ```
/// use drystone::geometry::Shape;
/// use glam::DVec3;
/// let block = Shape::cuboid(DVec3::new(0.2, 0.1, 0.1))?;
/// assert!((block.mass_properties(2400.0)?.mass - 2400.0 * 0.4 * 0.2 * 0.2).abs() < 1e-12);
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Shape {
    /// All points within `radius` of the origin.
    Ball {
        /// Radius (m).
        radius: f64,
    },
    /// A box with its centre at the origin and its edges along the axes.
    Cuboid {
        /// Half of each side (m).
        half_extents: DVec3,
    },
    /// All points with `x · normal ≤ 0`; the boundary passes through the origin.
    HalfSpace {
        /// Outward unit normal.
        normal: DVec3,
    },
    /// All points within `radius` of the segment from `−half_height` to `half_height` on the z axis.
    Capsule {
        /// Half the length of the segment (m).
        half_height: f64,
        /// Radius (m).
        radius: f64,
    },
    /// A right circular cylinder about the z axis, centre at the origin.
    Cylinder {
        /// Half its height (m).
        half_height: f64,
        /// Radius (m).
        radius: f64,
    },
    /// A convex polyhedron.
    Hull(Arc<Polyhedron>),
    /// A triangulated surface, solid behind its triangles. It stands or is driven; what forces move is made of its convex parts
    /// ([`Shape::decompose`]).
    Mesh(Arc<TriangleMesh>),
    /// A triangulated terrain over a regular grid, solid below.
    HeightField(Arc<HeightField>),
    /// A round vessel about the z axis: tube, cone, hopper, silo.
    Vessel(Arc<Vessel>),
    /// Several shapes, each with its pose in the frame of the whole.
    Compound(Arc<Vec<(Pose, Shape)>>),
}

/// How far a disc of radius 1 about this axis reaches along x, y and z: √(1 − a_i²).
fn disc(axis: DVec3) -> DVec3 {
    DVec3::new(libm::hypot(axis.y, axis.z), libm::hypot(axis.x, axis.z), libm::hypot(axis.x, axis.y))
}

fn positive(shape: &'static str, what: &'static str, found: f64) -> Result<f64, ShapeError> {
    if found > 0.0 && found.is_finite() { Ok(found) } else { Err(ShapeError::NotPositive { shape, what, found }) }
}

impl Shape {
    /// A ball of radius `radius` (m).
    pub fn ball(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Ball { radius: positive("ball", "radius", radius)? })
    }

    /// A box with the given half sides (m).
    pub fn cuboid(half_extents: DVec3) -> Result<Self, ShapeError> {
        positive("cuboid", "half_extents.x", half_extents.x)?;
        positive("cuboid", "half_extents.y", half_extents.y)?;
        positive("cuboid", "half_extents.z", half_extents.z)?;
        Ok(Self::Cuboid { half_extents })
    }

    /// The half-space behind the plane through the origin with outward `normal` (any length).
    pub fn half_space(normal: DVec3) -> Result<Self, ShapeError> {
        match normal.try_normalize() {
            Some(unit) => Ok(Self::HalfSpace { normal: unit }),
            None => Err(ShapeError::ZeroNormal { found: normal }),
        }
    }

    /// A capsule about the z axis, `2 (half_height + radius)` long (m).
    pub fn capsule(half_height: f64, radius: f64) -> Result<Self, ShapeError> {
        let half_height = positive("capsule", "half_height", half_height)?;
        Ok(Self::Capsule { half_height, radius: positive("capsule", "radius", radius)? })
    }

    /// A cylinder about the z axis, `2 half_height` high (m).
    pub fn cylinder(half_height: f64, radius: f64) -> Result<Self, ShapeError> {
        let half_height = positive("cylinder", "half_height", half_height)?;
        Ok(Self::Cylinder { half_height, radius: positive("cylinder", "radius", radius)? })
    }

    /// The convex hull of `points` (m).
    pub fn hull(points: &[DVec3]) -> Result<Self, ShapeError> {
        Ok(Self::Hull(Arc::new(Polyhedron::hull(points)?)))
    }

    /// A triangulated surface; vertices (m) that coincide exactly are joined. Seen from outside, a triangle runs counter-clockwise.
    pub fn mesh(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        Ok(Self::Mesh(Arc::new(TriangleMesh::new(vertices, triangles)?)))
    }

    /// A terrain `z = heights[j · columns + i]` (m) at `x = i · spacing_x`, `y = j · spacing_y` (m).
    pub fn height_field(heights: &[f64], columns: usize, spacing_x: f64, spacing_y: f64) -> Result<Self, ShapeError> {
        positive("height field", "spacing_x", spacing_x)?;
        positive("height field", "spacing_y", spacing_y)?;
        Ok(Self::HeightField(Arc::new(HeightField::new(heights, columns, spacing_x, spacing_y)?)))
    }

    /// A round vessel with an inner profile of (radius, height) from the bottom to the top, and walls of this thickness (m); see
    /// [`super::vessel`].
    pub fn vessel(profile: &[DVec2], thickness: f64) -> Result<Self, ShapeError> {
        Ok(Self::Vessel(Arc::new(Vessel::new(profile, thickness)?)))
    }

    /// Several shapes as one; compounds among the parts are unfolded.
    pub fn compound(parts: Vec<(Pose, Self)>) -> Result<Self, ShapeError> {
        let mut flat = Vec::with_capacity(parts.len());
        for (index, (pose, part)) in parts.into_iter().enumerate() {
            if !pose.is_finite() || pose.rotation.length_squared() == 0.0 {
                return Err(ShapeError::NotFinite { shape: "compound", what: "pose of part", index });
            }
            let pose = Pose::new(pose.position, pose.rotation.normalize());
            match part {
                Self::Compound(inner) => flat.extend(inner.iter().map(|(p, s)| (pose.compose(p), s.clone()))),
                Self::HalfSpace { .. } => {
                    return Err(ShapeError::BadPart { reason: format!("part {index} is a half-space; make it a body of its own") });
                }
                other => flat.push((pose, other)),
            }
        }
        if flat.is_empty() {
            return Err(ShapeError::BadPart { reason: "it has no parts; give at least one".into() });
        }
        Ok(Self::Compound(Arc::new(flat)))
    }

    /// Checks the numbers of a shape that was written down without its constructor.
    ///
    /// ```
    /// use drystone::geometry::Shape;
    /// assert!(Shape::Ball { radius: f64::NAN }.validate().is_err());
    /// ```
    pub fn validate(&self) -> Result<(), ShapeError> {
        match self {
            Self::Ball { radius } => Self::ball(*radius).map(drop),
            Self::Cuboid { half_extents } => Self::cuboid(*half_extents).map(drop),
            Self::Capsule { half_height, radius } => Self::capsule(*half_height, *radius).map(drop),
            Self::Cylinder { half_height, radius } => Self::cylinder(*half_height, *radius).map(drop),
            Self::HalfSpace { normal } if (normal.length_squared() - 1.0).abs() <= 1e-6 => Ok(()),
            Self::HalfSpace { normal } => Err(ShapeError::ZeroNormal { found: *normal }),
            Self::Compound(parts) if parts.is_empty() => Self::compound(Vec::new()).map(drop),
            Self::Compound(parts) => parts.iter().enumerate().try_for_each(|(index, (pose, part))| {
                if let Self::HalfSpace { .. } = part {
                    return Self::compound(vec![(Pose::IDENTITY, part.clone())]).map(drop);
                }
                let length = pose.rotation.length();
                if !pose.is_finite() {
                    return Err(ShapeError::NotFinite { shape: "compound", what: "pose of part", index });
                }
                if (length - 1.0).abs() > 1e-6 {
                    let reason = format!("the rotation of part {index} has length {length}; a unit quaternion is needed");
                    return Err(ShapeError::BadPart { reason });
                }
                part.validate()
            }),
            Self::Hull(_) | Self::Mesh(_) | Self::HeightField(_) | Self::Vessel(_) => Ok(()),
        }
    }

    /// The word for this kind of shape in scene files and messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "ball",
            Self::Cuboid { .. } => "cuboid",
            Self::HalfSpace { .. } => "half-space",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Hull(_) => "hull",
            Self::Mesh(_) => "mesh",
            Self::HeightField(_) => "height field",
            Self::Vessel(_) => "vessel",
            Self::Compound(_) => "compound",
        }
    }

    /// True for shapes that hold every segment between two of their points.
    pub fn is_convex(&self) -> bool {
        !matches!(self, Self::Mesh(_) | Self::HeightField(_) | Self::Vessel(_) | Self::Compound(_))
    }

    /// The same solid after a motion of its frame: `x_new = motion.point(x_old)`.
    ///
    /// A body's frame sits in its centre of mass with principal axes; this brings a shape given in another frame there. What cannot be
    /// re-expressed within its kind (a cuboid that is turned, say) becomes a compound of one part.
    #[must_use]
    pub fn moved(&self, motion: &Pose) -> Self {
        if *motion == Pose::IDENTITY {
            return self.clone();
        }
        match self {
            Self::Hull(hull) => Self::Hull(Arc::new(hull.moved(motion))),
            Self::Mesh(mesh) => Self::Mesh(Arc::new(mesh.moved(motion))),
            Self::Compound(parts) => {
                Self::Compound(Arc::new(parts.iter().map(|(pose, part)| (motion.compose(pose), part.clone())).collect()))
            }
            Self::Ball { .. } if motion.position == DVec3::ZERO => self.clone(),
            Self::HalfSpace { normal } if motion.position == DVec3::ZERO => Self::HalfSpace { normal: motion.vector(*normal).normalize() },
            _ => Self::Compound(Arc::new(vec![(*motion, self.clone())])),
        }
    }

    /// Smallest box along the world's axes that holds the shape at `pose`: (lower corner, upper corner) (m).
    ///
    /// A half-space reaches to ±[`UNBOUNDED`] on every axis.
    pub fn aabb(&self, pose: &Pose) -> (DVec3, DVec3) {
        let centred = |reach: DVec3| (pose.position - reach, pose.position + reach);
        match self {
            Self::Ball { radius } => centred(DVec3::splat(*radius)),
            Self::Cuboid { half_extents } => {
                let r = DMat3::from_quat(pose.rotation);
                centred(r.x_axis.abs() * half_extents.x + r.y_axis.abs() * half_extents.y + r.z_axis.abs() * half_extents.z)
            }
            Self::HalfSpace { .. } => (DVec3::splat(-UNBOUNDED), DVec3::splat(UNBOUNDED)),
            Self::Capsule { half_height, radius } => centred((pose.rotation * DVec3::Z).abs() * *half_height + DVec3::splat(*radius)),
            Self::Cylinder { half_height, radius } => {
                let axis = pose.rotation * DVec3::Z;
                centred(axis.abs() * *half_height + disc(axis) * *radius)
            }
            Self::Vessel(vessel) => {
                let axis = pose.rotation * DVec3::Z;
                let (radius, low, high) = vessel.extent();
                let (middle, reach) =
                    (pose.position + axis * (0.5 * (low + high)), axis.abs() * (0.5 * (high - low)) + disc(axis) * radius);
                (middle - reach, middle + reach)
            }
            Self::Hull(hull) => bounds(hull.vertices.iter().map(|&v| pose.point(v))),
            Self::Mesh(mesh) => bounds(mesh.vertices.iter().map(|&v| pose.point(v))),
            Self::HeightField(field) => bounds(field.mesh.vertices.iter().map(|&v| pose.point(v))),
            Self::Compound(parts) => parts
                .iter()
                .map(|(inner, part)| part.aabb(&pose.compose(inner)))
                .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), (l, h)| (low.min(l), high.max(h))),
        }
    }

    /// Largest distance of a point of the shape from the origin of its frame (m); infinite for a half-space.
    pub fn bounding_radius(&self) -> f64 {
        let farthest = |points: &[DVec3]| points.iter().map(|v| v.length()).fold(0.0, f64::max);
        match self {
            Self::Ball { radius } => *radius,
            Self::Cuboid { half_extents } => half_extents.length(),
            Self::HalfSpace { .. } => f64::INFINITY,
            Self::Capsule { half_height, radius } => half_height + radius,
            Self::Cylinder { half_height, radius } => libm::hypot(*half_height, *radius),
            Self::Hull(hull) => farthest(&hull.vertices),
            Self::Mesh(mesh) => farthest(&mesh.vertices),
            Self::HeightField(field) => farthest(&field.mesh.vertices),
            Self::Vessel(vessel) => {
                let (radius, low, high) = vessel.extent();
                libm::hypot(radius, low.abs().max(high.abs()))
            }
            Self::Compound(parts) => parts.iter().map(|(pose, part)| pose.position.length() + part.bounding_radius()).fold(0.0, f64::max),
        }
    }

    /// The part that is a surface with something solid behind it, if there is one: what moves by forces meets others through convex parts
    /// alone.
    pub(crate) fn surface_part(&self) -> Option<&Self> {
        match self {
            Self::HalfSpace { .. } | Self::Mesh(_) | Self::HeightField(_) | Self::Vessel(_) => Some(self),
            Self::Compound(parts) => parts.iter().find_map(|(_, part)| part.surface_part()),
            _ => None,
        }
    }

    /// Why a body with this surface cannot be moved by forces.
    pub(crate) fn cannot_move(&self) -> String {
        let cure = if matches!(self, Self::Mesh(_)) { "; Shape::decompose makes convex parts of it, which move" } else { "" };
        format!("a {} can only be static or driven{cure}", self.kind())
    }

    /// Whether it rolls: its direction to an edge or a corner turns as it passes.
    pub(super) fn is_round(&self) -> bool {
        matches!(self, Self::Ball { .. } | Self::Capsule { .. } | Self::Cylinder { .. })
    }

    /// The thinnest extent (m): the side, diameter or width that a fast body must not cross within one step. Infinite for a half-space,
    /// a mesh, a height field and a vessel, which are solid behind their surface.
    pub fn smallest_length(&self) -> f64 {
        match self {
            Self::Ball { radius } | Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Cuboid { half_extents } => 2.0 * half_extents.min_element(),
            Self::Cylinder { half_height, radius } => 2.0 * half_height.min(*radius),
            Self::Hull(hull) => hull.width(),
            Self::HalfSpace { .. } | Self::Mesh(_) | Self::HeightField(_) | Self::Vessel(_) => f64::INFINITY,
            Self::Compound(parts) => parts.iter().map(|(_, part)| part.smallest_length()).fold(f64::INFINITY, f64::min),
        }
    }
}
