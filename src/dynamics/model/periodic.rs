//! A periodic cell: what leaves it through a face comes back through the opposite one.
//!
//! ```text
//! body 2 as body 1 sees it:  x₂ + s        s = −Σ L_a round((x₂ − x₁)_a / L_a) e_a        a: periodic axes
//! ```
//!
//! With a shear (Lees and Edwards, J. Physics C 5, 1972, 1921) the images across one pair of faces move past each other,
//!
//! ```text
//! s = −Σ m_a L_a e_a − m_c d e_b,   d = γ̇ L_c t        c: across, b: along        velocity of the image: v₂ + γ̇ s_c e_b
//! ```
//!
//! which is a shear of the whole without walls: velocities are those of an unbounded flow, and no place is a boundary.
//!
//! Positions of bodies are never wrapped: they go on through the faces, so that velocities, works and joints know nothing of the cell. A pair
//! of bodies meets by its nearest image, and only that shift s enters gaps and arms; outputs draw bodies in the cell.

use super::scheme::Invalid;
use glam::{BVec3, DVec3, IVec3};
use serde::{Deserialize, Serialize};

/// A shear of the images of a periodic cell.
///
/// ```
/// use drystone::model::periodic::{Cell, Shear};
/// use glam::DVec3;
/// let cell = Cell::new([Some([0.0, 2.0]), Some([0.0, 1.0]), None])?.sheared(Shear { across: 1, along: 0, rate: 3.0 })?.at(0.1);
/// let shift = cell.nearest(DVec3::new(0.3, 0.9, 0.0));
/// assert!((shift - DVec3::new(-0.3, -1.0, 0.0)).length() < 1e-15);
/// assert_eq!(cell.drift(shift), DVec3::X * -3.0);
/// # Ok::<(), drystone::model::scheme::Invalid>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shear {
    /// Axis across whose faces the images are displaced.
    pub across: usize,
    /// Axis along which they move.
    pub along: usize,
    /// γ̇ (1/s): the velocity along this axis rises by so much per metre of the other.
    pub rate: f64,
}

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
    /// How its images move.
    #[serde(default)]
    pub shear: Option<Shear>,
    /// Way (m) of the next image across the shear by now, within half of the cell, and at time 0.
    #[serde(default)]
    way: f64,
    #[serde(default)]
    start: f64,
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

    /// The same cell with images that move.
    pub fn sheared(self, shear: Shear) -> Result<Self, Invalid> {
        let Shear { across, along, rate } = shear;
        if across > 2 || along > 2 || across == along || !self.periodic(across) || !self.periodic(along) {
            let name = |a: usize| ["x", "y", "z"].get(a).map_or_else(|| a.to_string(), |&axis| axis.to_owned());
            let faces: Vec<String> = (0..3).filter(|&a| self.periodic(a)).map(name).collect();
            return Err(Invalid::new(
                "the shear",
                format!("across = {}, along = {} in a cell that is periodic along {}", name(across), name(along), faces.join(", ")),
                "two different axes along which the cell is periodic",
            ));
        }
        if !rate.is_finite() {
            return Err(Invalid::new("the rate of shear", format!("{rate} 1/s"), "a finite number"));
        }
        Ok(Self { shear: Some(shear), way: 0.0, start: 0.0, ..self })
    }

    /// The same cell, whose next image across the shear has gone this way (m) at time 0.
    ///
    /// ```
    /// use drystone::model::periodic::{Cell, Shear};
    /// let cell = Cell::new([Some([0.0, 2.0]), Some([0.0, 1.0]), None])?.sheared(Shear { across: 1, along: 0, rate: 3.0 })?;
    /// let later = cell.displaced(cell.at(0.1).way());
    /// assert!((later.way() - 0.3).abs() < 1e-15 && (later.at(0.2).way() - cell.at(0.3).way()).abs() < 1e-15);
    /// # Ok::<(), drystone::model::scheme::Invalid>(())
    /// ```
    #[must_use]
    pub fn displaced(self, start: f64) -> Self {
        let cell = Self { start, ..self }.at(0.0);
        Self { start: cell.way, ..cell }
    }

    /// Way (m) of the next image across the shear by now, within half of the cell; 0 without one.
    pub fn way(&self) -> f64 {
        self.way
    }

    /// Checks a cell that was written without its constructors.
    ///
    /// ```
    /// use drystone::model::periodic::Cell;
    /// let mut cell = Cell::new([Some([0.0, 2.0]), None, None])?;
    /// assert!(cell.validate().is_ok());
    /// cell.size.x = -2.0;
    /// assert!(cell.validate().is_err());
    /// # Ok::<(), drystone::model::scheme::Invalid>(())
    /// ```
    pub fn validate(&self) -> Result<(), Invalid> {
        for a in 0..3 {
            let (low, high, size) = (self.low[a], self.high[a], self.size[a]);
            let spans = low.is_finite() && high.is_finite() && low < high && (high - low - size).abs() <= 1e-9 * size;
            if size != 0.0 && !spans {
                let name = format!("the periodic cell along {}", ["x", "y", "z"][a]);
                let found = format!("{size} m long from {low} to {high} m");
                return Err(Invalid::new(name, found, "a length of 0 where it is open, else that between two finite places that rise"));
            }
        }
        self.shear.map_or(Ok(()), |shear| self.sheared(shear).map(drop))
    }

    /// The cell at this time (s).
    #[must_use]
    pub fn at(self, time: f64) -> Self {
        let Some(Shear { across, along, rate }) = self.shear else { return self };
        let (way, length) = (self.start + rate * self.size[across] * time, self.size[along]);
        Self { way: way - length * (way / length).round(), ..self }
    }

    /// Whether faces and shear are those of another cell, wherever the images are by now.
    pub fn is_like(&self, other: &Self) -> bool {
        Self { way: 0.0, ..*self } == Self { way: 0.0, ..*other }
    }

    /// Axes in the order in which places are brought back: first that across the shear.
    pub fn axes(&self) -> [usize; 3] {
        match self.shear {
            Some(Shear { across: 1, .. }) => [1, 0, 2],
            Some(Shear { across: 2, .. }) => [2, 0, 1],
            _ => [0, 1, 2],
        }
    }

    /// From the cell to its image so many edges along an axis (m).
    pub fn edges(&self, axis: usize, count: f64) -> DVec3 {
        let mut shift = DVec3::ZERO;
        shift[axis] = count * self.size[axis];
        if let Some(Shear { across, along, .. }) = self.shear
            && across == axis
        {
            shift[along] = count * self.way;
        }
        shift
    }

    /// Velocity (m/s) of an image that stands so far away from its body (m).
    #[inline]
    pub fn drift(&self, shift: DVec3) -> DVec3 {
        let mut drift = DVec3::ZERO;
        if let Some(Shear { across, along, rate }) = self.shear {
            drift[along] = rate * shift[across];
        }
        drift
    }

    /// Velocity (m/s) of the uniform shear at a place, 0 in the middle of the cell.
    pub fn flow(&self, x: DVec3) -> DVec3 {
        self.drift(x - 0.5 * (self.low + self.high))
    }

    /// Whether no axis is periodic.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.size == DVec3::ZERO
    }

    /// Whether this axis is periodic.
    pub fn periodic(&self, axis: usize) -> bool {
        self.size[axis] > 0.0
    }

    /// The periodic axes along which a box, from its lowest to its highest corner (m), holds the whole of the cell.
    pub fn round(&self, [low, high]: [DVec3; 2]) -> BVec3 {
        BVec3::from_array([0, 1, 2].map(|a| self.periodic(a) && low[a] <= self.low[a] && high[a] >= self.high[a]))
    }

    /// Whether a body of this radius (m) is longer than half of the cell: two of its images could meet the same body.
    pub fn too_long(&self, radius: f64) -> bool {
        (0..3).any(|a| self.periodic(a) && 4.0 * radius > self.size[a])
    }

    /// The shift (m) that makes a difference of places the shortest of its images.
    #[inline]
    pub fn nearest(&self, difference: DVec3) -> DVec3 {
        // most are no image: to divide and to round was 7 % of a periodic pour
        let near = |way: f64, size: f64| size == 0.0 || way.abs() <= 0.49 * size;
        let (d, size) = (difference, self.size);
        if near(d.x, size.x) && near(d.y, size.y) && near(d.z, size.z) { DVec3::ZERO } else { self.nearest_of_images(d) }
    }

    fn nearest_of_images(&self, difference: DVec3) -> DVec3 {
        let mut shift = DVec3::ZERO;
        for a in self.axes().into_iter().filter(|&a| self.periodic(a)) {
            let way = difference[a] + shift[a];
            if way.abs() > 0.49 * self.size[a] || way.is_nan() {
                shift += self.edges(a, -(way / self.size[a]).round());
            }
        }
        shift
    }

    /// The shift (m) that brings a place into the cell, and in which image of the cell it is.
    pub fn home(&self, x: DVec3) -> (DVec3, IVec3) {
        let (mut shift, mut image) = (DVec3::ZERO, IVec3::ZERO);
        for a in self.axes().into_iter().filter(|&a| self.periodic(a)) {
            let count = ((x[a] + shift[a] - self.low[a]) / self.size[a]).floor();
            // a place that is not a number is in no image
            shift += self.edges(a, -count);
            image[a] = count as i32;
        }
        (shift, image)
    }

    /// Shifts (m) to all images of a place that lie in a box, from its lowest to its highest corner (m).
    ///
    /// ```
    /// use drystone::model::periodic::Cell;
    /// use glam::DVec3;
    /// let cell = Cell::new([Some([0.0, 2.0]), None, None])?;
    /// let box_ = [DVec3::new(-1.0, 0.0, 0.0), DVec3::new(3.5, 1.0, 1.0)];
    /// assert_eq!(cell.images_in(DVec3::splat(9.0), box_), [-10.0, -8.0, -6.0].map(|x| DVec3::X * x));
    /// # Ok::<(), drystone::model::scheme::Invalid>(())
    /// ```
    pub fn images_in(&self, x: DVec3, [low, high]: [DVec3; 2]) -> Vec<DVec3> {
        let mut shifts = vec![DVec3::ZERO];
        for a in self.axes().into_iter().filter(|&a| self.periodic(a)) {
            let count = |at: f64, end: f64| (end - at) / self.size[a];
            let along = |shift: DVec3| {
                let at = x[a] + shift[a];
                let (first, last) = (count(at, low[a]).ceil() as i64, count(at, high[a]).floor() as i64);
                (first..=last).map(move |k| shift + self.edges(a, k as f64))
            };
            shifts = shifts.into_iter().flat_map(along).collect();
        }
        shifts
    }

    /// Shifts to the images of the cell that touch it, itself first.
    pub fn neighbours(&self) -> impl Iterator<Item = DVec3> + use<> {
        self.images().map(|(_, shift)| shift)
    }

    /// The same with how many edges along each axis they are away.
    pub fn images(&self) -> impl Iterator<Item = ([f64; 3], DVec3)> + use<> {
        let cell = *self;
        let all = (0..27u32).map(|k| [k % 3, k / 3 % 3, k / 9].map(|m| [0.0, -1.0, 1.0][m as usize]));
        all.filter(move |m| (0..3).all(|a| m[a] == 0.0 || cell.size[a] > 0.0))
            .map(move |m| (m, cell.edges(0, m[0]) + cell.edges(1, m[1]) + cell.edges(2, m[2])))
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

    #[test]
    fn images_of_a_sheared_cell_lie_on_its_lattice() {
        let faces = [Some([-1.0, 2.0]), Some([0.25, 1.25]), Some([0.5, 0.75])];
        for (across, along) in [(1, 0), (0, 2), (2, 1)] {
            let rate = 1.7;
            let cell = Cell::new(faces).unwrap().sheared(Shear { across, along, rate }).unwrap();
            for k in -40..40 {
                let time = 0.37 * f64::from(k).abs();
                let cell = cell.at(time);
                let x = DVec3::new(0.37, 0.9, 0.11) * f64::from(k);
                let (shift, image) = cell.home(x);
                let there = x + shift;
                assert!((0..3).all(|a| there[a] >= cell.low[a] - 1e-12 && there[a] < cell.high[a] + 1e-12), "{there}");
                assert_eq!(cell.drift(shift)[along], -rate * f64::from(image[across]) * cell.size[across]);
                // the same image by the whole way that it has gone
                let mut whole = -image.as_dvec3() * cell.size;
                whole[along] -= f64::from(image[across]) * rate * cell.size[across] * time;
                let turns = (shift - whole) / cell.size;
                assert!((turns - turns.round()).length() < 1e-9 && (shift - whole)[across].abs() < 1e-12);
                // two that stand near each other by some image do so by the nearest one
                let near = DVec3::new(0.2, -0.1, 0.05) - shift;
                assert!((near + cell.nearest(near) - DVec3::new(0.2, -0.1, 0.05)).length() < 1e-12);
            }
            assert_eq!(cell.at(7.3).neighbours().next(), Some(DVec3::ZERO));
        }
        let cell = Cell::new([faces[0], faces[1], None]).unwrap();
        let wrong = |across, along, rate| cell.sheared(Shear { across, along, rate }).unwrap_err().to_string();
        assert!(wrong(2, 0, 1.0).contains("periodic") && wrong(1, 1, 1.0).contains("different") && wrong(1, 0, f64::NAN).contains("rate"));
    }
}
