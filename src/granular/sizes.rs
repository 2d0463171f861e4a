//! Radii of grains: distributions by number or by mass, and seeded draws from them.
//!
//! ```text
//! by number   F(r): part of the grains that are smaller
//! by mass     F(r): part of the mass in smaller ones; the number of grains in dr goes with dF / r³
//! log-normal  by mass with median m is log-normal by number with the median m e^(−3σ²)        Hatch and Choate, 1929
//! ```
//!
//! Draws are by number, each the r with F(r) = u for a uniform u of the seed.

use crate::algebra::random::Sequence;
use serde::{Deserialize, Serialize};

/// What a distribution counts.
///
/// ```
/// assert_ne!(drystone::granular::sizes::By::Number, drystone::granular::sizes::By::Mass);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// Grains.
    Number,
    /// Their mass.
    Mass,
}

/// A distribution of radii (m).
///
/// ```
/// use drystone::granular::sizes::{By, Sizes};
/// // as much mass in grains of 1 mm as in grains of 2 mm: eight small ones for each large one
/// let two = Sizes::two([1e-3, 2e-3], 0.5, By::Mass)?;
/// assert!((two.cumulative(1.5e-3) - 8.0 / 9.0).abs() < 1e-15);
/// assert_eq!(two.radii(3, 7), two.radii(3, 7));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    given: Given,
    law: Law,
    low: f64,
    high: f64,
}

/// A distribution as it was stated.
///
/// ```
/// use drystone::granular::sizes::{By, Given, Sizes};
/// let given = Given::Table { points: vec![[1.0, 0.0], [2.0, 1.0]], by: By::Mass };
/// assert_eq!(*Sizes::uniform(1.0, 2.0, By::Mass)?.given(), given);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Given {
    /// See [`Sizes::table`].
    Table {
        /// Radius (m), part that is smaller.
        points: Vec<[f64; 2]>,
        /// What is counted.
        by: By,
    },
    /// See [`Sizes::log_normal`].
    LogNormal {
        /// m
        median: f64,
        /// Deviation of ln r.
        sigma: f64,
        /// m
        bounds: [f64; 2],
        /// What is counted.
        by: By,
    },
}

impl By {
    /// As scene files name it.
    pub fn name(self) -> &'static str {
        if self == Self::Number { "number" } else { "mass" }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Law {
    /// Pieces from one radius to the next with the parts (by number) below them: the density goes with r^−p, p = 0 by number, 3 by mass.
    Pieces { radii: Vec<f64>, below: Vec<f64>, by: By },
    /// By number: median (m), σ of ln r, and Φ at the two bounds.
    LogNormal { median: f64, sigma: f64, bounds: [f64; 2] },
}

/// r⁻²
fn inverse(r: f64) -> f64 {
    1.0 / (r * r)
}

/// Standard normal distribution function.
fn phi(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

impl Sizes {
    /// All alike.
    pub fn one(radius: f64) -> Result<Self, String> {
        Self::table(&[[radius, 0.0], [radius, 1.0]], By::Number)
    }

    /// Every radius from `low` to `high` alike.
    pub fn uniform(low: f64, high: f64, by: By) -> Result<Self, String> {
        if low > high {
            return Err(format!("radii from {low} to {high} m; the first one has to be the smaller one"));
        }
        Self::table(&[[low, 0.0], [high, 1.0]], by)
    }

    /// Two radii; `large` is the part of the second one.
    pub fn two([small, second]: [f64; 2], large: f64, by: By) -> Result<Self, String> {
        if !(0.0..=1.0).contains(&large) {
            return Err(format!("the part {large} of large grains; a number from 0 to 1 is needed"));
        }
        if second < small {
            return Err(format!("large grains of {second} m, and small ones of {small} m; exchange them"));
        }
        Self::table(&[[small, 0.0], [small, 1.0 - large], [second, 1.0 - large], [second, 1.0]], by)
    }

    /// A curve of (radius, part that is smaller), straight between its points: from 0 to 1, both never falling. A radius that stands twice
    /// is one that many grains have.
    pub fn table(points: &[[f64; 2]], by: By) -> Result<Self, String> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err("an empty distribution; give (radius, part that is smaller) from 0 to 1".into());
        };
        if let Some(p) = points.iter().find(|p| !(p[0] > 0.0 && p[0].is_finite() && p[1].is_finite())) {
            return Err(format!("the point ({}, {}); radii have to be positive numbers", p[0], p[1]));
        }
        if let Some(k) = points.windows(2).position(|p| p[1][0] < p[0][0] || p[1][1] < p[0][1]) {
            let [a, b] = [points[k], points[k + 1]];
            return Err(format!("({}, {}) after ({}, {}); radii and parts must not fall", b[0], b[1], a[0], a[1]));
        }
        if first[1] != 0.0 || last[1] != 1.0 {
            return Err(format!("parts from {} to {}; they have to begin at 0 and end at 1", first[1], last[1]));
        }
        // by mass a piece from a to b with the part w holds w/(b − a) ∫ r⁻³ dr grains, up to a factor
        let number = |p: &[[f64; 2]]| {
            let ([a, b], w) = ([p[0][0], p[1][0]], p[1][1] - p[0][1]);
            match by {
                By::Number => w,
                By::Mass => w * (a + b) / (2.0 * a * a * b * b),
            }
        };
        let all: f64 = points.windows(2).map(number).sum();
        let mut below = vec![0.0];
        let mut sum = 0.0;
        for piece in points.windows(2) {
            sum += number(piece);
            below.push(sum / all);
        }
        let law = Law::Pieces { radii: points.iter().map(|p| p[0]).collect(), below, by };
        Ok(Self { given: Given::Table { points: points.to_vec(), by }, law, low: first[0], high: last[0] })
    }

    /// ln r is normal with the deviation `sigma` about the logarithm of the median (m); cut off at `bounds` (m), without which they are
    /// three deviations to either side.
    pub fn log_normal(median: f64, sigma: f64, bounds: Option<[f64; 2]>, by: By) -> Result<Self, String> {
        if !(median > 0.0 && median.is_finite() && sigma > 0.0 && sigma < 10.0) {
            return Err(format!("the median {median} with sigma {sigma}; a positive length and a number between 0 and 10 are needed"));
        }
        let [low, high] = bounds.unwrap_or([-3.0, 3.0].map(|x| median * libm::exp(x * sigma)));
        let given = Given::LogNormal { median, sigma, bounds: [low, high], by };
        let median = if by == By::Mass { median * libm::exp(-3.0 * sigma * sigma) } else { median };
        let bounds = [low, high].map(|r| phi(libm::log(r / median) / sigma));
        if !(low > 0.0 && low < high && high.is_finite() && bounds[1] - bounds[0] > 1e-9) {
            return Err(format!("the bounds {low} and {high}, between which there is next to nothing; put them around the median"));
        }
        Ok(Self { given, law: Law::LogNormal { median, sigma, bounds }, low, high })
    }

    /// As it was stated.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// Smallest radius (m).
    pub fn smallest(&self) -> f64 {
        self.low
    }

    /// Largest radius (m).
    pub fn largest(&self) -> f64 {
        self.high
    }

    /// Part of the grains, by number, whose radius is at most `r` (m).
    pub fn cumulative(&self, r: f64) -> f64 {
        if r < self.low {
            return 0.0;
        }
        if r >= self.high {
            return 1.0;
        }
        match &self.law {
            Law::Pieces { radii, below, by } => {
                let k = radii.partition_point(|x| *x <= r) - 1;
                let [a, b] = [radii[k], radii[k + 1]];
                let part = match by {
                    By::Number => (r - a) / (b - a),
                    By::Mass => (inverse(a) - inverse(r)) / (inverse(a) - inverse(b)),
                };
                below[k] + (below[k + 1] - below[k]) * part
            }
            Law::LogNormal { median, sigma, bounds } => (phi(libm::log(r / median) / sigma) - bounds[0]) / (bounds[1] - bounds[0]),
        }
    }

    /// The radius (m) below which the part `u` of the grains lies.
    pub fn quantile(&self, u: f64) -> f64 {
        match &self.law {
            Law::Pieces { radii, below, by } => {
                let k = below.partition_point(|x| *x <= u).clamp(1, radii.len() - 1) - 1;
                let [a, b] = [radii[k], radii[k + 1]];
                if a == b {
                    return a;
                }
                let part = (u - below[k]) / (below[k + 1] - below[k]);
                match by {
                    By::Number => a + (b - a) * part,
                    By::Mass => 1.0 / (inverse(a) - (inverse(a) - inverse(b)) * part).sqrt(),
                }
            }
            Law::LogNormal { .. } => {
                let [mut low, mut high] = [self.low, self.high];
                // 60 halves leave no digit
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if self.cumulative(middle) < u { low = middle } else { high = middle }
                }
                low
            }
        }
        .clamp(self.low, self.high)
    }

    /// `count` radii (m) of a seed.
    pub fn radii(&self, count: usize, seed: u64) -> Vec<f64> {
        // not the sequence that places grains of the same seed
        let mut random = Sequence::new(seed ^ 0x5DEE_CE66_D1CE_4E5B);
        (0..count).map(|_| self.quantile(random.next_uniform())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_the_inverse_of_the_distribution() {
        let curve = [[1e-3, 0.0], [2e-3, 0.3], [2e-3, 0.5], [5e-3, 1.0]];
        for sizes in [
            Sizes::uniform(1e-3, 3e-3, By::Number),
            Sizes::uniform(1e-3, 3e-3, By::Mass),
            Sizes::table(&curve, By::Number),
            Sizes::table(&curve, By::Mass),
            Sizes::log_normal(2e-3, 0.3, None, By::Number),
            Sizes::log_normal(2e-3, 0.3, Some([1e-3, 2.5e-3]), By::Mass),
        ] {
            let sizes = sizes.unwrap();
            assert_eq!((sizes.quantile(0.0), sizes.cumulative(sizes.largest())), (sizes.smallest(), 1.0));
            for k in 1..100 {
                let u = f64::from(k) / 100.0;
                let r = sizes.quantile(u);
                // at a jump F lies above u
                let (below, at) = (sizes.cumulative(r * (1.0 - 1e-12)), sizes.cumulative(r * (1.0 + 1e-12)));
                assert!(below <= u + 1e-9 && u - 1e-9 <= at, "{sizes:?}: {u} {below} {at}");
            }
        }
    }

    #[test]
    fn equal_radii_are_drawn_to_the_bit() {
        assert!(Sizes::one(0.013).unwrap().radii(100, 3).iter().all(|&r| r == 0.013));
        let two = Sizes::two([1e-3, 2e-3], 0.25, By::Number).unwrap();
        assert!(two.radii(100, 3).iter().all(|&r| r == 1e-3 || r == 2e-3));
    }

    #[test]
    fn distributions_that_are_none_say_why() {
        for (sizes, words) in [
            (Sizes::table(&[], By::Mass), "empty"),
            (Sizes::one(-1.0), "positive"),
            (Sizes::uniform(2.0, 1.0, By::Number), "radii from 2 to 1"),
            (Sizes::table(&[[2.0, 0.0], [1.0, 1.0]], By::Number), "must not fall"),
            (Sizes::two([2.0, 1.0], 0.5, By::Number), "exchange them"),
            (Sizes::table(&[[1.0, 0.1], [2.0, 1.0]], By::Number), "begin at 0"),
            (Sizes::two([1.0, 2.0], 1.5, By::Number), "from 0 to 1"),
            (Sizes::log_normal(1.0, 0.2, Some([3.0, 2.0]), By::Number), "bounds"),
            (Sizes::log_normal(1.0, f64::NAN, None, By::Number), "sigma"),
        ] {
            assert!(sizes.unwrap_err().contains(words), "{words}");
        }
    }
}
