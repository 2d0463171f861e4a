//! A semicircular arch of equal voussoirs with straight chords.

use glam::DVec3;

/// The arch spans the x axis, its feet stand on z = 0.
///
/// ```
/// use drystone::masonry::arch::Arch;
/// let arch = Arch { voussoirs: 17, radius: 1.0, thickness: 0.106, depth: 0.4 };
/// assert_eq!(arch.hulls().len(), 17);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arch {
    /// Number of voussoirs over 180°.
    pub voussoirs: usize,
    /// Mean radius (m).
    pub radius: f64,
    /// Radial thickness (m).
    pub thickness: f64,
    /// Extent along y (m).
    pub depth: f64,
}

impl Arch {
    /// The eight corners (m) of each voussoir, from the foot at x > 0 to the one at x < 0.
    ///
    /// Order of the corners: y, then radius, then angle, each rising, the last fastest.
    pub fn hulls(&self) -> Vec<[DVec3; 8]> {
        let half = self.thickness / 2.0;
        let radii = [self.radius - half, self.radius + half];
        let angle = |k: usize| std::f64::consts::PI * k as f64 / self.voussoirs as f64;
        let voussoir = |k: usize| {
            std::array::from_fn(|c| {
                let y = if c < 4 { -self.depth / 2.0 } else { self.depth / 2.0 };
                let (r, a) = (radii[c / 2 % 2], angle(k + c % 2));
                DVec3::new(r * libm::cos(a), y, r * libm::sin(a))
            })
        };
        (0..self.voussoirs).map(voussoir).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_the_published_ones() {
        // printed with repr() by an independent Python program; sin and cos may differ in the last bit between systems
        let expected = [
            (0, 0, [0.947, -0.2, 0.0]),
            (0, 1, [0.930875525400655, -0.2, 0.1740107933722921]),
            (3, 6, [0.8952786439232837, 0.2, 0.5543330675098556]),
            (16, 7, [-1.053, 0.2, 1.289553079502163e-16]),
        ];
        let hulls = Arch { voussoirs: 17, radius: 1.0, thickness: 0.106, depth: 0.4 }.hulls();
        for (voussoir, corner, at) in expected {
            assert!((hulls[voussoir][corner] - DVec3::from_array(at)).length() < 3e-16, "voussoir {voussoir}, corner {corner}");
        }
    }

    #[test]
    fn neighbours_share_a_face() {
        let hulls = Arch { voussoirs: 11, radius: 2.0, thickness: 0.3, depth: 1.0 }.hulls();
        for pair in hulls.windows(2) {
            for corner in [0, 2, 4, 6] {
                assert_eq!(pair[0][corner + 1], pair[1][corner]);
            }
        }
    }
}
