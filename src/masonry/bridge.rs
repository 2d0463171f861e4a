//! Arch bridges: segmental arches over piers, with backfill up to the level of the road.
//!
//! A pier ends in a springer whose slanted faces are the springings of the two arches beside it. The backfill is cut along upright planes
//! above the joints of the arches, a block on each voussoir and one on each springer.

use glam::{DVec2, DVec3};

use super::Stone;
use super::arch::{Arch, Form, Joint};

/// The bridge spans the x axis about x = 0 and is centred on y = 0; its piers stand on z = 0.
///
/// ```
/// use drystone::masonry::{arch::{Arch, Form}, bridge::Bridge};
/// let form = Form::Circular { radius: 3.0, angle: 2.0 };
/// let arch = Arch { form, voussoirs: 15, thickness: 0.4, faces: 1, depth: 2.0 };
/// let bridge = Bridge { arch, spans: 2, pier: 1.2, courses: 4, height: 3.0, cover: 0.3 };
/// // voussoirs and the blocks on them, courses, a springer and the block on it
/// assert_eq!(bridge.stones().len(), 2 * 30 + 4 + 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bridge {
    /// Each arch, a circular one of less than π.
    pub arch: Arch,
    /// Number of spans.
    pub spans: usize,
    /// Thickness of a pier along x (m): more than what the springings of two arches take from its top.
    pub pier: f64,
    /// Courses of a pier below its springer.
    pub courses: usize,
    /// From the foot of a pier to the springings (m).
    pub height: f64,
    /// Backfill above the extrados of the crown (m).
    pub cover: f64,
}

impl Bridge {
    /// Clear span of an arch at its springings (m).
    pub fn clear(&self) -> f64 {
        2.0 * self.arch.joints()[0].inner.x
    }

    /// What the springings of two arches leave of the top of a springer (m).
    pub fn springer_top(&self) -> f64 {
        let first = self.arch.joints()[0];
        self.pier - 2.0 * (first.outer.x - first.inner.x)
    }

    /// Level of the road (m).
    pub fn road(&self) -> f64 {
        let crown = self.arch.joints().iter().map(|j| j.outer.y).fold(0.0, f64::max);
        self.height + crown + self.cover
    }

    /// Middle of a span along x (m).
    fn middle(&self, span: usize) -> f64 {
        (span as f64 - 0.5 * (self.spans - 1) as f64) * (self.clear() + self.pier)
    }

    fn y(&self) -> [f64; 2] {
        [-0.5 * self.arch.depth, 0.5 * self.arch.depth]
    }

    /// A joint of an arch in its place.
    fn placed(&self, j: Joint, span: usize) -> Joint {
        let at = DVec2::new(self.middle(span), self.height);
        Joint { inner: j.inner + at, outer: j.outer + at }
    }

    /// Springing of `span` towards the pier on its side of higher x, or of lower x.
    fn springing(&self, span: usize, higher: bool) -> Joint {
        let joints = self.arch.joints();
        self.placed(if higher { joints[0] } else { joints[joints.len() - 1] }, span)
    }

    /// The voussoirs of each span from the side of higher x, then the piers from below with springers, then the backfill.
    pub fn stones(&self) -> Vec<Stone> {
        let (y, road) = (self.y(), self.road());
        let arches = (0..self.spans).flat_map(|span| {
            let place = DVec3::new(self.middle(span), 0.0, self.height);
            self.arch.stones().into_iter().map(move |s| s.mapped(|p| p + place))
        });
        let piers = (1..self.spans).flat_map(|k| {
            let (left, right) = (self.springing(k - 1, true), self.springing(k, false));
            let step = self.height / (self.courses + 1) as f64;
            let level = move |i: usize| i as f64 * step;
            let side = move |x: f64, i: usize| DVec2::new(x, level(i));
            let (a, b) = (left.inner.x, right.inner.x);
            let course = move |i: usize| Stone::prism(&[side(a, i), side(b, i), side(b, i + 1), side(a, i + 1)], y);
            let n = self.courses;
            let springer = Stone::prism(&[side(a, n), side(b, n), right.inner, right.outer, left.outer, left.inner], y);
            (0..n).map(course).chain([springer]).collect::<Vec<_>>()
        });
        let up = |p: DVec2| DVec2::new(p.x, road);
        let column = move |a: DVec2, b: DVec2| Stone::prism(&[a, b, up(b), up(a)], y);
        let filled = (0..self.spans).flat_map(|span| {
            let joints: Vec<Joint> = self.arch.joints().iter().map(|&j| self.placed(j, span)).collect();
            self.arch
                .courses()
                .iter()
                .scan(0, |start, course| {
                    let range = *start..=*start + course.len() - 1;
                    *start = *range.end();
                    Some(range)
                })
                .map(|range| {
                    let outer: Vec<DVec2> = joints[range].iter().map(|j| j.outer).collect();
                    Stone { parts: outer.windows(2).flat_map(|w| column(w[0], w[1]).parts).collect() }
                })
                .collect::<Vec<_>>()
        });
        let over = (1..self.spans).map(|k| column(self.springing(k - 1, true).outer, self.springing(k, false).outer));
        arches.chain(piers).chain(filled).chain(over).collect()
    }

    /// The abutments at x > 0 and x < 0, as thick as a pier, up to the road.
    pub fn abutments(&self) -> [Stone; 2] {
        let (y, road) = (self.y(), self.road());
        let one = |j: Joint, sign: f64| {
            let back = j.inner.x + sign * self.pier;
            let below = Stone::prism(&[DVec2::new(j.inner.x, 0.0), j.inner, j.outer, DVec2::new(j.outer.x, 0.0)], y);
            let behind = [DVec2::new(j.outer.x, 0.0), DVec2::new(j.outer.x, road), DVec2::new(back, road), DVec2::new(back, 0.0)];
            below.with(Stone::prism(&behind, y))
        };
        [one(self.springing(self.spans - 1, true), 1.0), one(self.springing(0, false), -1.0)]
    }

    /// Whether the arch is one that a bridge can have.
    pub fn is_segmental(&self) -> bool {
        matches!(self.arch.form, Form::Circular { angle, .. } if angle < std::f64::consts::PI)
    }
}
