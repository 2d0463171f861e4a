//! Arches in a plane: joints between an intrados and an extrados.
//!
//! ```text
//! circular     inner (R − t/2) e(θ), outer (R + t/2) e(θ),  e = (cos θ, sin θ),  θ from (π − angle)/2 to (π + angle)/2
//! pointed      the same about (∓c, 0), c = R − span/2, up to x = 0, where the joint stands upright
//! flat         joints through one point below; intrados at z = 0, extrados at z = t
//! ```

use glam::DVec2;

use super::Stone;

/// A joint in the plane (x, z), from the intrados to the extrados (m).
///
/// ```
/// use drystone::masonry::arch::{Arch, Form};
/// let arch = Arch { form: Form::Flat { span: 2.0, skew: 0.5 }, voussoirs: 7, thickness: 0.5, faces: 1, depth: 0.4 };
/// assert_eq!(arch.joints()[0].inner.x, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// On the intrados.
    pub inner: DVec2,
    /// On the extrados.
    pub outer: DVec2,
}

/// The line of an arch.
///
/// ```
/// use drystone::masonry::arch::Form;
/// assert_eq!(Form::SEMICIRCLE.of_radius(2.0), Form::Circular { radius: 2.0, angle: std::f64::consts::PI });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// An arc of a circle; less than π is a segmental arch.
    Circular {
        /// Mean radius (m).
        radius: f64,
        /// Angle of embrace (rad), at most π.
        angle: f64,
    },
    /// Two arcs that meet at the crown.
    Pointed {
        /// Mean radius of both (m), more than half the span.
        radius: f64,
        /// Distance of the feet at mid-thickness (m).
        span: f64,
    },
    /// A flat (jack) arch.
    Flat {
        /// Clear span at the intrados (m).
        span: f64,
        /// Angle of the outermost joints against the upright (rad).
        skew: f64,
    },
}

impl Form {
    /// A semicircle of radius 1 m.
    pub const SEMICIRCLE: Self = Self::Circular { radius: 1.0, angle: std::f64::consts::PI };

    /// The same line with another radius (m).
    #[must_use]
    pub fn of_radius(self, radius: f64) -> Self {
        match self {
            Self::Circular { angle, .. } => Self::Circular { radius, angle },
            Self::Pointed { span, .. } => Self::Pointed { radius, span },
            Self::Flat { .. } => self,
        }
    }
}

/// The arch spans the x axis about x = 0 and is centred on y = 0; the intrados of its feet stands on z = 0.
///
/// ```
/// use drystone::masonry::arch::{Arch, Form};
/// let arch = Arch { form: Form::SEMICIRCLE, voussoirs: 17, thickness: 0.106, faces: 1, depth: 0.4 };
/// assert_eq!(arch.stones().len(), 17);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arch {
    /// Its line.
    pub form: Form,
    /// Number of voussoirs.
    pub voussoirs: usize,
    /// Radial thickness (m); height of a flat arch.
    pub thickness: f64,
    /// Chords that stand for the curved faces of a voussoir.
    pub faces: usize,
    /// Extent along y (m).
    pub depth: f64,
}

impl Arch {
    /// All joints from the foot at x > 0 to the one at x < 0, with those inside of voussoirs: those between voussoir k − 1 and k is at
    /// `starts()[k]`.
    pub fn joints(&self) -> Vec<Joint> {
        let steps = self.voussoirs * self.faces;
        let half = self.thickness / 2.0;
        match self.form {
            Form::Circular { radius, angle } => {
                let first = 0.5 * (std::f64::consts::PI - angle);
                let radii = [radius - half, radius + half];
                let foot = radii[0] * libm::sin(first);
                (0..=steps).map(|k| radial(DVec2::new(0.0, -foot), radii, first + angle * k as f64 / steps as f64)).collect()
            }
            Form::Pointed { radius, span } => {
                let (c, radii) = (radius - 0.5 * span, [radius - half, radius + half]);
                // equal angles up to the crown of the intrados: beyond, radial joints would cross the upright one
                let sweep = libm::acos(c / radii[0]);
                let crown = radii.map(|r| DVec2::new(0.0, (r * r - c * c).max(0.0).sqrt()));
                let right: Vec<Joint> =
                    (0..steps.div_ceil(2)).map(|k| radial(DVec2::new(-c, 0.0), radii, sweep * k as f64 / (0.5 * steps as f64))).collect();
                let mirror = |p: DVec2| DVec2::new(-p.x, p.y);
                let left = right.iter().rev().map(|j| Joint { inner: mirror(j.inner), outer: mirror(j.outer) });
                right.iter().copied().chain([Joint { inner: crown[0], outer: crown[1] }]).chain(left).collect()
            }
            Form::Flat { span, skew } => {
                let widening = self.thickness * libm::tan(skew) / (0.5 * span);
                let place = |k: usize| span * (0.5 - k as f64 / steps as f64);
                let joint = |x: f64| Joint { inner: DVec2::new(x, 0.0), outer: DVec2::new(x * (1.0 + widening), self.thickness) };
                (0..=steps).map(|k| joint(place(k))).collect()
            }
        }
    }

    /// Index among [`Arch::joints`] of the first joint of each voussoir, and of the last one of the last.
    pub fn starts(&self) -> Vec<usize> {
        let steps = self.voussoirs * self.faces;
        // the crown of a pointed arch with an odd number of steps stands inside of the keystone, as one joint more
        let more = |k: usize| usize::from(matches!(self.form, Form::Pointed { .. }) && steps % 2 == 1 && 2 * k > steps);
        (0..=self.voussoirs).map(|k| k * self.faces + more(k * self.faces)).collect()
    }

    /// The voussoirs, from the foot at x > 0 to the one at x < 0.
    ///
    /// Order of the corners of a part: y, then from the intrados to the extrados, then along the arch, the last fastest.
    pub fn stones(&self) -> Vec<Stone> {
        let y = [-self.depth / 2.0, self.depth / 2.0];
        self.courses().iter().map(|joints| course(joints, y)).collect()
    }

    /// The voussoirs of so many rings of equal thickness, one upon the other, ring by ring from the intrados; radial joints go through all rings.
    ///
    /// ```
    /// use drystone::masonry::arch::{Arch, Form};
    /// let arch = Arch { form: Form::SEMICIRCLE, voussoirs: 17, thickness: 0.3, faces: 1, depth: 0.4 };
    /// assert_eq!((arch.rings(3).len(), arch.rings(1)), (51, arch.stones()));
    /// ```
    pub fn rings(&self, rings: usize) -> Vec<Stone> {
        let y = [-self.depth / 2.0, self.depth / 2.0];
        let at = |j: &Joint, k: usize| match k {
            0 => j.inner,
            k if k == rings => j.outer,
            k => j.inner + (j.outer - j.inner) * (k as f64 / rings as f64),
        };
        let courses = self.courses();
        let ring = |k: usize| {
            let part = |joints: &Vec<Joint>| joints.iter().map(|j| Joint { inner: at(j, k), outer: at(j, k + 1) }).collect::<Vec<_>>();
            courses.iter().map(|joints| course(&part(joints), y)).collect::<Vec<_>>()
        };
        (0..rings).flat_map(ring).collect()
    }

    /// The joints of each voussoir.
    pub(super) fn courses(&self) -> Vec<Vec<Joint>> {
        let joints = self.joints();
        self.starts().windows(2).map(|w| joints[w[0]..=w[1]].to_vec()).collect()
    }

    /// Abutments whose faces are the outermost joints, at x > 0 and at x < 0; they reach down to z = −thickness.
    pub fn abutments(&self) -> [Stone; 2] {
        let joints = self.joints();
        let (y, low) = ([-self.depth / 2.0, self.depth / 2.0], -self.thickness);
        let ends = [joints[0], joints[joints.len() - 1]];
        ends.map(|j| Stone::prism(&[j.inner, j.outer, DVec2::new(j.outer.x, low), DVec2::new(j.inner.x, low)], y))
    }
}

/// The joint at the angle `a` about `centre`.
fn radial(centre: DVec2, radii: [f64; 2], a: f64) -> Joint {
    let at = |r: f64| centre + DVec2::new(r * libm::cos(a), r * libm::sin(a));
    Joint { inner: at(radii[0]), outer: at(radii[1]) }
}

/// A voussoir between the first and the last of these joints, a part from each to the next.
pub(super) fn course(joints: &[Joint], y: [f64; 2]) -> Stone {
    let part = |w: &[Joint]| Stone::prism(&[w[0].inner, w[1].inner, w[0].outer, w[1].outer], y).parts;
    Stone { parts: joints.windows(2).flat_map(part).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn corners_are_the_published_ones() {
        // printed with repr() by an independent Python program; sin and cos may differ in the last bit between systems
        let expected = [
            (0, 0, [0.947, -0.2, 0.0]),
            (0, 1, [0.930875525400655, -0.2, 0.1740107933722921]),
            (3, 6, [0.8952786439232837, 0.2, 0.5543330675098556]),
            (16, 7, [-1.053, 0.2, 1.289553079502163e-16]),
        ];
        let stones = Arch { form: Form::SEMICIRCLE, voussoirs: 17, thickness: 0.106, faces: 1, depth: 0.4 }.stones();
        for (voussoir, corner, at) in expected {
            assert!((stones[voussoir].parts[0][corner] - DVec3::from_array(at)).length() < 3e-16, "voussoir {voussoir}, corner {corner}");
        }
    }

    #[test]
    fn pointed_arches_have_their_crown_between_two_voussoirs_or_inside_the_keystone() {
        let arch = |voussoirs, faces| Arch { form: Form::Pointed { radius: 2.0, span: 2.0 }, voussoirs, thickness: 0.3, faces, depth: 1.0 };
        for (voussoirs, faces, joints, parts) in [(10, 1, 11, 1), (11, 1, 13, 2), (11, 3, 35, 4), (10, 3, 31, 3)] {
            let arch = arch(voussoirs, faces);
            assert_eq!(arch.joints().len(), joints, "{voussoirs} × {faces}");
            let stones = arch.stones();
            assert_eq!(stones.len(), voussoirs);
            assert_eq!(stones[voussoirs / 2].parts.len(), parts);
            assert!((arch.joints()[joints / 2].inner.x).abs() < 1e-15, "{:?}", arch.joints()[joints / 2]);
        }
        // equilateral: the intrados of the crown stands at √(r² − c²)
        let crown = arch(10, 1).joints()[5];
        assert!((crown.inner.y - (1.85f64.powi(2) - 1.0).sqrt()).abs() < 1e-15);
    }
}
