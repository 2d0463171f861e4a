//! A periodic cell: what leaves it through a face comes back through the opposite one.
//!
//! ```text
//! body 2 as body 1 sees it:  x₂ + s        s = −Σ L_a round((x₂ − x₁)_a / L_a) e_a        a: periodic axes
//! ```
//!
//! Positions of bodies are never wrapped: they go on through the faces, so that velocities, works and joints know nothing of the cell. A pair
//! of bodies meets by its nearest image, and only that shift s enters gaps and arms; outputs draw bodies in the cell.

use super::scheme::Invalid;
use glam::{DVec3, IVec3};
use serde::{Deserialize, Serialize};

/// Lengths of a periodic cell along the axes of the world; open along all of them by default.
///
/// ```
/// use drystone::model::periodic::Cell;
/// use glam::{DVec3, IVec3};
/// let cell = Cell::new([Some([0.0, 2.0]), None, None])?;
/// assert_eq!(cell.nearest(DVec3::new(1.9, 5.0, 0.0)), DVec3::X * -2.0);
/// assert_eq!(cell.home(DVec3::new(-0.5, 7.0, 0.0)), (DVec3::X * 2.0, IVec3::new(-1, 0, 0)));
/// # Ok::<(), drystone::model::scheme::Invalid>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Lower corner (m); 0 along open axes.
    pub low: DVec3,
    /// Upper corner (m); 0 along open axes.
    pub high: DVec3,
    /// Edges (m); 0 along open axes.
    pub size: DVec3,
}

impl Cell {
    /// A cell with these faces (m) along x, y and z; none where it is open.
    pub fn new(faces: [Option<[f64; 2]>; 3]) -> Result<Self, Invalid> {
        let mut cell = Self::default();
        for (a, faces) in faces.into_iter().enumerate() {
            let Some([low, high]) = faces else { continue };
            if !(low.is_finite() && high.is_finite() && low < high) {
                let name = format!("the periodic cell along {}", ["x", "y", "z"][a]);
                return Err(Invalid::new(name, format!("[{low}, {high}]"), "two finite places that rise"));
            }
            (cell.low[a], cell.high[a], cell.size[a]) = (low, high, high - low);
        }
        Ok(cell)
    }

    /// Whether no axis is periodic.
    pub fn is_open(&self) -> bool {
        self.size == DVec3::ZERO
    }

    /// Whether this axis is periodic.
    pub fn periodic(&self, axis: usize) -> bool {
        self.size[axis] > 0.0
    }

    /// Whether a body of this radius (m) is longer than half of the cell: two of its images could meet the same body.
    pub fn too_long(&self, radius: f64) -> bool {
        (0..3).any(|a| self.periodic(a) && 4.0 * radius > self.size[a])
    }

    /// The shift (m) that makes a difference of places the shortest of its images.
    pub fn nearest(&self, difference: DVec3) -> DVec3 {
        let along = |a: usize| if self.periodic(a) { -self.size[a] * (difference[a] / self.size[a]).round() } else { 0.0 };
        DVec3::from_array(std::array::from_fn(along))
    }

    /// The shift (m) that brings a place into the cell, and in which image of the cell it is.
    pub fn home(&self, x: DVec3) -> (DVec3, IVec3) {
        let (mut shift, mut image) = (DVec3::ZERO, IVec3::ZERO);
        for a in 0..3 {
            if self.periodic(a) {
                let count = ((x[a] - self.low[a]) / self.size[a]).floor();
                // a place that is not a number is in no image
                (shift[a], image[a]) = (-self.size[a] * count, count as i32);
            }
        }
        (shift, image)
    }

    /// Shifts to the images of the cell that touch it, itself first.
    pub fn neighbours(&self) -> impl Iterator<Item = DVec3> + use<> {
        let Self { size, .. } = *self;
        let all = (0..27u32).map(|k| [k % 3, k / 3 % 3, k / 9].map(|m| [0.0, -1.0, 1.0][m as usize]));
        all.filter(move |m| (0..3).all(|a| m[a] == 0.0 || size[a] > 0.0)).map(move |m| DVec3::from_array(m) * size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_the_nearest_ones_and_homes_lie_in_the_cell() {
        let cell = Cell::new([Some([-1.0, 2.0]), None, Some([0.5, 0.75])]).unwrap();
        for k in -40..40 {
            let x = DVec3::new(0.37, 0.9, 0.11) * f64::from(k);
            let (shift, image) = cell.home(x);
            let there = x + shift;
            assert!(there.x >= -1.0 && there.x < 2.0 && there.z >= 0.5 - 1e-12 && there.z < 0.75 + 1e-12 && there.y == x.y);
            assert!((x - image.as_dvec3() * cell.size - there).length() < 1e-12);
            let d = x + cell.nearest(x);
            assert!(d.x.abs() <= 1.5 + 1e-12 && d.z.abs() <= 0.125 + 1e-12 && d.y == x.y);
        }
        assert_eq!(cell.neighbours().count(), 9);
        assert_eq!(Cell::default().neighbours().collect::<Vec<_>>(), [DVec3::ZERO]);
        assert!(Cell::new([Some([1.0, 1.0]), None, None]).unwrap_err().to_string().contains("along x"));
    }
}
