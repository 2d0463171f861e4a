//! From the file's form of a shape to the geometry of it.

use super::model::ShapeSpec;
use crate::geometry::{Shape, ShapeError};

impl ShapeSpec {
    /// The shape that contact detection and mass properties work with.
    ///
    /// ```
    /// use drystone::io::scene::model::ShapeSpec;
    /// let ball = ShapeSpec::Ball { radius: 0.5 }.build()?;
    /// assert_eq!(ball.bounding_radius(), 0.5);
    /// # Ok::<(), drystone::geometry::ShapeError>(())
    /// ```
    pub fn build(&self) -> Result<Shape, ShapeError> {
        match self {
            Self::Ball { radius } => Shape::ball(*radius),
            Self::Cuboid { half_extents } => Shape::cuboid(*half_extents),
            Self::HalfSpace { normal } => Shape::half_space(*normal),
            Self::Capsule { half_height, radius } => Shape::capsule(*half_height, *radius),
            Self::Cylinder { half_height, radius } => Shape::cylinder(*half_height, *radius),
            Self::Hull { points } => Shape::hull(points),
            Self::Mesh { vertices, triangles } => Shape::mesh(vertices, triangles),
            Self::HeightField { size, samples: [nx, ny], heights } => {
                let spacing = |extent: f64, n: usize| extent / n.saturating_sub(1).max(1) as f64;
                Shape::height_field(heights, *nx, spacing(size[0], *nx), spacing(size[1], *ny))
            }
            Self::Vessel { profile, thickness } => {
                Shape::vessel(&profile.iter().map(|&p| glam::DVec2::from(p)).collect::<Vec<_>>(), *thickness)
            }
            Self::Compound { parts } => {
                let built: Result<Vec<_>, ShapeError> = parts.iter().map(|(pose, part)| Ok((*pose, part.build()?))).collect();
                Shape::compound(built?)
            }
        }
    }
}
