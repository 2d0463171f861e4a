//! Balls of random size in random places, none touching.

use glam::DVec3;

use super::sizes::Sizes;
use crate::algebra::random::Sequence;

/// A seeded heap of separate balls above a rectangle, ready to be poured.
///
/// ```
/// use drystone::granular::{pour::Pour, sizes::{By, Sizes}};
/// let sizes = Sizes::uniform(0.01, 0.02, By::Number)?;
/// let pour = Pour { count: 50, sizes, width: [0.2, 0.2], bottom: 0.0, seed: 3 };
/// assert_eq!(pour.balls(), pour.balls());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pour {
    /// Number of balls.
    pub count: usize,
    /// Radii.
    pub sizes: Sizes,
    /// Extent (m) along x and y of the rectangle, centred on the z axis; at least 2.2 largest radii.
    pub width: [f64; 2],
    /// Height (m) below which no ball reaches.
    pub bottom: f64,
    /// Another seed gives other sizes and places.
    pub seed: u64,
}

impl Pour {
    /// Centre and radius (m) of every ball, layer by layer.
    pub fn balls(&self) -> Vec<(DVec3, f64)> {
        // a cell of 2.2 r_max holds one ball with room to wander, so that no two can touch
        let cell = 2.2 * self.sizes.largest();
        let columns = self.width.map(|w| ((w / cell) as usize).max(1));
        let pitch = [self.width[0] / columns[0] as f64, self.width[1] / columns[1] as f64, cell];
        let mut random = Sequence::new(self.seed);
        let ball = |i: usize| {
            let r = self.sizes.quantile(random.next_uniform());
            let k = [i % columns[0], i / columns[0] % columns[1], i / (columns[0] * columns[1])];
            let mut coordinate = |a: usize| {
                let wander = (pitch[a] / 2.0 - r) * 0.99;
                (k[a] as f64 + 0.5) * pitch[a] + random.next_between(-wander, wander)
            };
            let (x, y, z) = (coordinate(0), coordinate(1), coordinate(2));
            (DVec3::new(x - self.width[0] / 2.0, y - self.width[1] / 2.0, z + self.bottom), r)
        };
        (0..self.count).map(ball).collect()
    }

    /// Corners (m) of a polyhedron for each ball, from its centre: random directions, at 0.75 to 1 of its radius.
    pub fn polyhedra(&self, corners: usize) -> Vec<(DVec3, Vec<DVec3>)> {
        let mut random = Sequence::new(self.seed ^ 0x9E37_79B9_7F4A_7C15);
        let mut corner = |radius: f64| loop {
            let [x, y, z] = std::array::from_fn(|_| random.next_between(-1.0, 1.0));
            let direction = DVec3::new(x, y, z);
            // every direction alike: points of the ball, not of the cube around it
            if (0.01..1.0).contains(&direction.length_squared()) {
                return direction.normalize() * radius * random.next_between(0.75, 1.0);
            }
        };
        self.balls().into_iter().map(|(centre, radius)| (centre, (0..corners).map(|_| corner(radius)).collect())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::granular::sizes::By;

    #[test]
    fn balls_stay_apart_and_inside() {
        let sizes = Sizes::uniform(0.005, 0.01, By::Number).unwrap();
        let pour = Pour { count: 200, sizes, width: [0.1, 0.07], bottom: 0.3, seed: 11 };
        let balls = pour.balls();
        for (i, (p, r)) in balls.iter().enumerate() {
            assert!(p.x.abs() + r < 0.05 && p.y.abs() + r < 0.035 && p.z - r > 0.3);
            assert!((0.005..0.01).contains(r));
            assert!(balls[..i].iter().all(|(q, s)| p.distance(*q) > r + s), "ball {i} touches another");
        }
        assert_ne!(balls, Pour { seed: 12, ..pour }.balls());
    }
}
