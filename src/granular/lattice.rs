//! A lattice of equal balls with a fixed jitter, ready to be poured.
//!
//! ```text
//! i = (kz·ny + ky)·nx + kx        centre_a = corner_a + (k_a + ½) pitch_a r + (2 u(3i + a) − 1) jitter r
//! ```
//!
//! u is the sequence of the seed.

use glam::DVec3;

use crate::algebra::random::Sequence;

/// Rows, spacing and jitter of a lattice of balls.
///
/// ```
/// use drystone::granular::lattice::Lattice;
/// let ten = Lattice::pour(10, 0.01);
/// assert_eq!(ten.centres().len(), 1000);
/// assert!((ten.width()[0] - 0.22).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    /// Balls along x, y and z.
    pub count: [usize; 3],
    /// Radius of every ball (m).
    pub radius: f64,
    /// Distance of neighbours along x and y, in radii.
    pub pitch: f64,
    /// Distance of layers, in radii.
    pub layer: f64,
    /// Largest displacement along each axis, in radii.
    pub jitter: f64,
    /// Another seed gives another jitter.
    pub seed: u64,
    /// Lower corner (m).
    pub corner: DVec3,
}

impl Lattice {
    /// `n³` balls above z = 0 and about the z axis: pitch 2.2 r, layers 3 r apart, jitter 0.08 r.
    pub fn pour(n: usize, radius: f64) -> Self {
        Self { count: [n; 3], radius, pitch: 2.2, layer: 3.0, jitter: 0.08, seed: 0, corner: DVec3::ZERO }.centred()
    }

    /// The same lattice with the z axis in the middle.
    #[must_use]
    pub fn centred(mut self) -> Self {
        let [wx, wy] = self.width();
        self.corner.x = -wx / 2.0;
        self.corner.y = -wy / 2.0;
        self
    }

    /// Extent (m) along x and y.
    pub fn width(&self) -> [f64; 2] {
        [self.pitch * self.radius * self.count[0] as f64, self.pitch * self.radius * self.count[1] as f64]
    }

    /// Centres (m), x running fastest.
    pub fn centres(&self) -> Vec<DVec3> {
        let [nx, ny, nz] = self.count;
        let pitch = [self.pitch, self.pitch, self.layer];
        let corner = self.corner.to_array();
        let mut random = Sequence::new(self.seed);
        let mut centre = |i: usize| {
            let k = [i % nx, i / nx % ny, i / (nx * ny)];
            DVec3::from_array(std::array::from_fn(|a| {
                let jitter = (2.0 * random.next_uniform() - 1.0) * self.jitter * self.radius;
                corner[a] + (k[a] as f64 + 0.5) * pitch[a] * self.radius + jitter
            }))
        };
        (0..nx * ny * nz).map(&mut centre).collect()
    }

    /// Two balls of these radii (m) about [`Lattice::centres`] that overlap by more than 1e-9 of the radius, and by how much (m): the first
    /// that are found. None can where the jitter is at most half of what pitch and layer leave between balls of the largest radius.
    ///
    /// ```
    /// use drystone::granular::lattice::Lattice;
    /// let loose = Lattice::pour(4, 0.01);
    /// assert_eq!(loose.overlap(&loose.centres(), &[0.01; 64]), None);
    /// let tight = Lattice { pitch: 2.0, ..loose };
    /// assert!(tight.overlap(&tight.centres(), &[0.01; 64]).is_some_and(|(_, _, by)| by > 0.0 && by <= 0.16 * 0.01));
    /// ```
    pub fn overlap(&self, centres: &[DVec3], radii: &[f64]) -> Option<(usize, usize, f64)> {
        let pitch = [self.pitch, self.pitch, self.layer];
        // neighbours so many rows away may come close enough
        let reach: [i64; 3] = std::array::from_fn(|a| (((2.0 + 2.0 * self.jitter) / pitch[a]) as i64).min(self.count[a] as i64 - 1));
        if pitch.iter().all(|p| 2.0 + 2.0 * self.jitter <= *p) {
            return None;
        }
        let [nx, ny, nz] = self.count.map(|n| n as i64);
        let within = |k: i64, d: i64, n: i64| (0..n).contains(&(k + d));
        for (i, (at, radius)) in centres.iter().zip(radii).enumerate() {
            let k = i as i64;
            let k = [k % nx, k / nx % ny, k / (nx * ny)];
            for dz in 0..=reach[2] {
                for dy in -reach[1]..=reach[1] {
                    for dx in -reach[0]..=reach[0] {
                        let later = (dz, dy, dx) > (0, 0, 0);
                        if !(later && within(k[0], dx, nx) && within(k[1], dy, ny) && within(k[2], dz, nz)) {
                            continue;
                        }
                        let j = (i as i64 + (dz * ny + dy) * nx + dx) as usize;
                        let (Some(other), Some(more)) = (centres.get(j), radii.get(j)) else { continue };
                        let by = radius + more - at.distance(*other);
                        if by > 1e-9 * self.radius {
                            return Some((i, j, by));
                        }
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pour_is_the_published_one_bit_for_bit() {
        // printed with repr() by an independent Python program from the definition above: n = 10, balls 0, 1, 537 and 999
        let centres = Lattice::pour(10, 0.01).centres();
        for (i, expected) in S1 {
            assert_eq!(centres[i].to_array(), expected, "ball {i}");
        }
    }

    #[test]
    fn another_seed_is_another_pour_of_the_same_lattice() {
        let (one, two) = (Lattice { seed: 1, ..Lattice::pour(4, 0.01) }.centres(), Lattice { seed: 2, ..Lattice::pour(4, 0.01) }.centres());
        assert!(one.iter().zip(&two).all(|(a, b)| a != b && (a - b).abs().max_element() <= 2.0 * 0.08 * 0.01));
        assert_eq!(one, Lattice { seed: 1, ..Lattice::pour(4, 0.01) }.centres());
    }

    #[test]
    fn what_overlaps_is_what_all_pairs_tell() {
        let (mut none, mut some) = (0, 0);
        for seed in 0..40 {
            let jitter = 0.02 * seed as f64;
            let lattice = Lattice { count: [4, 3, 5], pitch: 2.3, layer: 2.1, jitter, seed, ..Lattice::pour(1, 0.01) };
            let centres = lattice.centres();
            let mut random = Sequence::new(seed);
            let radii: Vec<f64> = centres.iter().map(|_| 0.01 * (0.7 + 0.3 * random.next_uniform())).collect();
            let by = |i: usize, j: usize| radii[i] + radii[j] - centres[i].distance(centres[j]);
            let pairs = (0..60).flat_map(|i| (i + 1..60).map(move |j| (i, j)));
            let deepest = pairs.fold(f64::NEG_INFINITY, |most, (i, j)| most.max(by(i, j)));
            match lattice.overlap(&centres, &radii) {
                None => {
                    none += 1;
                    assert!(deepest <= 1e-11, "{jitter}: {deepest}");
                }
                Some((i, j, found)) => {
                    some += 1;
                    assert!(i < j && found == by(i, j) && found > 1e-11, "{jitter}");
                }
            }
        }
        assert!(none > 5 && some > 5, "{none} {some}");
    }

    const S1: [(usize, [f64; 3]); 4] = [
        (0, [-0.09838670270685819, -0.09910955520472241, 0.014242294034548155]),
        (1, [-0.07624658883495389, -0.09962984529349247, 0.014723721222749]),
        (537, [0.05559306311704636, -0.0329202044981797, 0.16508072709121666]),
        (999, [0.09887367009394604, 0.09914704821659778, 0.2856892334689072]),
    ];
}
