//! Columns of drums, piers of courses and buttresses: frusta, one on the other.

use glam::{DVec2, DVec3};

use super::Stone;

/// Drums or courses of equal height whose outlines go along straight lines from the foot to the top.
///
/// ```
/// use drystone::masonry::column::{Column, rectangle, regular};
/// let doric = Column { foot: regular(20, 0.5), top: regular(20, 0.4), height: 4.0, courses: 8 };
/// assert_eq!(doric.stones().len(), 8);
/// let pier = Column { foot: rectangle([1.0, 0.6]), top: rectangle([1.0, 0.6]), height: 3.0, courses: 6 };
/// assert_eq!(pier.stones()[5].parts[0].len(), 8);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Corners (m) of the outline at z = 0, in order.
    pub foot: Vec<DVec2>,
    /// Those at the top, as many, with edges parallel to those of the foot.
    pub top: Vec<DVec2>,
    /// Height (m).
    pub height: f64,
    /// Number of drums or courses.
    pub courses: usize,
}

impl Column {
    /// The stones from below.
    pub fn stones(&self) -> Vec<Stone> {
        let level = |k: usize| -> Vec<DVec3> {
            let s = k as f64 / self.courses as f64;
            self.foot.iter().zip(&self.top).map(|(a, b)| a.lerp(*b, s).extend(self.height * s)).collect()
        };
        (0..self.courses).map(|k| Stone { parts: vec![[level(k), level(k + 1)].concat()] }).collect()
    }
}

/// A regular outline of this many corners about the origin, on a circle of this radius (m); an edge looks along x.
pub fn regular(corners: usize, radius: f64) -> Vec<DVec2> {
    let angle = |k: usize| std::f64::consts::TAU * (k as f64 + 0.5) / corners as f64;
    (0..corners).map(|k| radius * DVec2::new(libm::cos(angle(k)), libm::sin(angle(k)))).collect()
}

/// A rectangle of these edges (m) along x and y about the origin.
pub fn rectangle([x, y]: [f64; 2]) -> Vec<DVec2> {
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].iter().map(|[a, b]| DVec2::new(0.5 * a * x, 0.5 * b * y)).collect()
}
