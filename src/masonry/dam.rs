//! A dam of rectangular courses, one block each.

use glam::DVec3;

use super::Block;

/// The dam stands on z = 0 with the water face at x = 0 and the dry face at x = width.
///
/// ```
/// use drystone::masonry::dam::Dam;
/// let dam = Dam { width: 3.0, height: 6.0, courses: 6, thickness: 1.0 };
/// assert_eq!(dam.blocks()[5].centre.z, 5.5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dam {
    /// Extent along x, from the water to the dry face (m).
    pub width: f64,
    /// Height (m).
    pub height: f64,
    /// Number of equal courses.
    pub courses: usize,
    /// Extent along y (m).
    pub thickness: f64,
}

impl Dam {
    /// The courses from below.
    pub fn blocks(&self) -> Vec<Block> {
        let course = self.height / self.courses as f64;
        let half_extents = DVec3::new(self.width, self.thickness, course) / 2.0;
        let block = |i: usize| Block { centre: DVec3::new(self.width / 2.0, 0.0, (i as f64 + 0.5) * course), half_extents };
        (0..self.courses).map(block).collect()
    }

    /// Middle of the dry edge of the base (m), about which the dam would overturn.
    pub fn toe(&self) -> DVec3 {
        DVec3::new(self.width, 0.0, 0.0)
    }
}
