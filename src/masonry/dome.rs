//! A dome of rings of equal voussoirs with straight chords, open at its crown, on radial or horizontal beds.

use glam::DVec3;

/// The dome stands on z = 0 about the z axis; its joints lie on meridians and on cones of latitude, one above the other.
///
/// ```
/// use drystone::masonry::dome::Dome;
/// let dome = Dome { rings: 4, voussoirs: 10, radius: 2.0, thickness: 0.4, crown: 1.0 };
/// assert_eq!(dome.hulls().len(), 40);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dome {
    /// Rings, one above the other.
    pub rings: usize,
    /// Voussoirs in each ring.
    pub voussoirs: usize,
    /// Mean radius (m).
    pub radius: f64,
    /// Radial thickness (m).
    pub thickness: f64,
    /// Latitude (rad) at which the opening begins, below π/2.
    pub crown: f64,
}

impl Dome {
    /// The eight corners (m) of each voussoir with horizontal beds, as in a corbelled dome, at the heights that `crown` divided by the rings gives on
    /// the intrados; in the order of [`Dome::hulls`].
    ///
    /// ```
    /// use drystone::masonry::dome::Dome;
    /// let dome = Dome { rings: 4, voussoirs: 10, radius: 2.0, thickness: 0.4, crown: 1.0 };
    /// let first = dome.corbelled()[0];
    /// assert!(first[4..].iter().all(|p| p.z == first[4].z));
    /// ```
    pub fn corbelled(&self) -> Vec<[DVec3; 8]> {
        let half = self.thickness / 2.0;
        let radii = [self.radius - half, self.radius + half];
        self.rings_of(|latitude, outer| {
            let z = radii[0] * libm::sin(latitude);
            [(radii[outer] * radii[outer] - z * z).max(0.0).sqrt(), z]
        })
    }

    /// The eight corners (m) of each voussoir, ring by ring from the foot.
    ///
    /// Order of the corners: latitude, then radius, then longitude, each rising, the last fastest. The four corners on one latitude
    /// span a trapezium, so neighbours share plane faces.
    pub fn hulls(&self) -> Vec<[DVec3; 8]> {
        let half = self.thickness / 2.0;
        let radii = [self.radius - half, self.radius + half];
        self.rings_of(|a, outer| [radii[outer] * libm::cos(a), radii[outer] * libm::sin(a)])
    }

    /// Voussoirs between corners at a distance from the axis and a height that follow from latitude and side (1: outside).
    fn rings_of(&self, at: impl Fn(f64, usize) -> [f64; 2]) -> Vec<[DVec3; 8]> {
        let latitude = |k: usize| self.crown * k as f64 / self.rings as f64;
        // the last joint is the first one
        let longitude = |k: usize| 2.0 * std::f64::consts::PI * (k % self.voussoirs) as f64 / self.voussoirs as f64;
        let voussoir = |k: usize| {
            let (ring, place) = (k / self.voussoirs, k % self.voussoirs);
            std::array::from_fn(|c| {
                let ([r, z], b) = (at(latitude(ring + c / 4), c / 2 % 2), longitude(place + c % 2));
                DVec3::new(r * libm::cos(b), r * libm::sin(b), z)
            })
        };
        (0..self.rings * self.voussoirs).map(voussoir).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_plane_faces() {
        let dome = Dome { rings: 3, voussoirs: 7, radius: 1.0, thickness: 0.3, crown: 1.2 };
        [dome.hulls(), dome.corbelled()].into_iter().for_each(neighbours_share);
    }

    fn neighbours_share(hulls: Vec<[DVec3; 8]>) {
        for ring in 0..3 {
            for k in 0..7 {
                let (here, next) = (hulls[7 * ring + k], hulls[7 * ring + (k + 1) % 7]);
                assert_eq!([here[1], here[3], here[5], here[7]], [next[0], next[2], next[4], next[6]]);
                if ring < 2 {
                    assert_eq!(here[4..], hulls[7 * (ring + 1) + k][..4]);
                }
                let bed = here[4..].iter().map(|p| (*p - here[4]).dot((here[5] - here[4]).cross(here[6] - here[4])).abs());
                assert!(bed.fold(0.0, f64::max) < 1e-15, "the bed is plane");
            }
        }
        assert!(hulls[..7].iter().all(|h| h[..4].iter().all(|p| p.z == 0.0)), "the first ring stands on the ground");
    }
}
