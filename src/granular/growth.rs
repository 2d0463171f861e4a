//! Balls that grow in random places until they fill a given part of a box.
//!
//! ```text
//! E = Σ ½ (σ_ij − d_ij)₊² + Σ ½ (r_i − w_i)₊²        σ_ij = s (r_i + r_j),  d: distance of the nearest images,  w: distance of a wall
//! ```
//!
//! The radii grow with s, as those of Lubachevsky and Stillinger (J. Statistical Physics 60, 1990) do with time; at each s the overlaps are
//! relaxed by the minimiser FIRE (Bitzek et al., Physical Review Letters 97, 2006, 170201). The last s is a little above one, and half of
//! what it is above may be left: balls of s = 1 do not touch. Below random close packing (0.64 of equal balls) the minimum of E is zero.

use glam::DVec3;

use super::sizes::Sizes;
use crate::algebra::random::Sequence;

/// A seeded packing of balls in a box.
///
/// ```
/// use drystone::granular::{growth::Growth, sizes::Sizes};
/// use glam::DVec3;
/// let growth = Growth {
///     low: DVec3::ZERO,
///     high: DVec3::splat(0.1),
///     periodic: [true; 3],
///     sizes: Sizes::one(0.01)?,
///     solid_fraction: 0.55,
///     seed: 1,
/// };
/// let balls = growth.balls().map_err(|e| e.to_string())?;
/// let volume: f64 = balls.iter().map(|(_, r)| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3)).sum();
/// assert!((volume / 1e-3 - 0.55).abs() < 1e-12 && balls.len() == 131);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// Lower corner of the box (m).
    pub low: DVec3,
    /// Upper corner (m).
    pub high: DVec3,
    /// Axes along which the box meets itself; along the others it has walls.
    pub periodic: [bool; 3],
    /// Radii, all scaled alike by what fits the fraction: by no more than a third of one ball's share of the volume.
    pub sizes: Sizes,
    /// Volume of the balls over that of the box.
    pub solid_fraction: f64,
    /// Another seed gives other radii and places.
    pub seed: u64,
}

/// Why there is no such packing.
///
/// ```
/// let e = drystone::granular::growth::Unreached::Overlap { balls: 9, left: 0.25 };
/// assert_eq!(e.to_string(), "9 balls that still overlap by 25.00 % of their radii");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unreached {
    /// More balls than one generator may make.
    #[error("more than {most} balls")]
    Count {
        /// Most of them.
        most: usize,
    },
    /// Not even one fits.
    #[error("no ball at all, as the smallest ones are larger than that part of the box")]
    Nothing,
    /// The box is too small for its largest ball.
    #[error("an edge of {edge} m, and balls of up to {radius} m in radius need {needed} m")]
    Narrow {
        /// The shortest edge (m).
        edge: f64,
        /// The largest radius (m).
        radius: f64,
        /// Twice or, along periodic axes, four times as much (m).
        needed: f64,
    },
    /// The relaxation ended.
    #[error("{balls} balls that still overlap by {:.2} % of their radii", 100.0 * left)]
    Overlap {
        /// Number of balls.
        balls: usize,
        /// Largest overlap over the mean radius of the two.
        left: f64,
    },
}

/// Parts of the radii at which overlaps are relaxed in turn, down to `ROUGH`; then those a little above one.
const GROWTH: [f64; 6] = [0.6, 0.75, 0.85, 0.92, 0.97, 1.0];
const ROUGH: f64 = 0.02;
/// By how much the last radii exceed those asked for.
const MARGIN: f64 = 2e-4;
/// Iterations of each part, and of the last one.
const ITERATIONS: [usize; 2] = [300, 6000];
/// After how many of them it is asked whether their pace will do, and how many times what is left of them it may take at that pace.
const WINDOW: usize = 1000;
const HOPE: f64 = 4.0;
/// Gap, in parts of the sum of the radii, up to which pairs are listed as neighbours.
const SKIN: f64 = 0.15;
/// FIRE: steps in units of `√(m/k)`, first and largest; how they grow and shrink, and how velocities turn to the forces.
const STEPS: [f64; 2] = [0.1, 0.3];
const FASTER: f64 = 1.1;
const SLOWER: f64 = 0.5;
const MIXING: f64 = 0.1;
const MIXING_FALLS: f64 = 0.99;
const PATIENCE: usize = 5;

impl Growth {
    /// Centre and radius (m) of every ball.
    ///
    /// # Errors
    /// A box too narrow for its balls, too many of them, or a fraction at which they overlap: random packings of equal balls end at 0.64, less
    /// between walls.
    pub fn balls(&self) -> Result<Vec<(DVec3, f64)>, Unreached> {
        let (mut packing, size) = (self.scattered()?, self.high - self.low);
        let left = packing.grow();
        if left > 0.5 * MARGIN {
            return Err(Unreached::Overlap { balls: packing.radii.len(), left: 2.0 * left });
        }
        let home = |x: DVec3| {
            DVec3::from_array(std::array::from_fn(|a| if self.periodic[a] { x[a] - size[a] * (x[a] / size[a]).floor() } else { x[a] }))
        };
        Ok(packing.places.iter().zip(&packing.radii).map(|(x, r)| (self.low + home(*x), *r)).collect())
    }

    /// The balls in random places.
    fn scattered(&self) -> Result<Packing, Unreached> {
        let radii = self.radii(MOST)?;
        let size = self.high - self.low;
        let largest = radii.iter().copied().fold(0.0, f64::max);
        for a in 0..3 {
            let needed = if self.periodic[a] { 4.0 } else { 2.0 } * largest;
            if size[a] < needed {
                return Err(Unreached::Narrow { edge: size[a], radius: largest, needed });
            }
        }
        // places of the same seed come from a sequence of their own
        let mut random = Sequence::new(self.seed ^ 0xD1B5_4A32_D192_ED03);
        let place = |r: &f64| {
            DVec3::from_array(std::array::from_fn(|a| {
                let inset = if self.periodic[a] { 0.0 } else { *r };
                random.next_between(inset, size[a] - inset)
            }))
        };
        let places = radii.iter().map(place).collect();
        Ok(Packing { size, periodic: self.periodic, radii, places, pairs: Vec::new(), listed: Vec::new(), iterations: 0 })
    }

    /// Radii whose balls have the volume that is asked for, in all.
    fn radii(&self, most: usize) -> Result<Vec<f64>, Unreached> {
        let share = 4.0 / 3.0 * std::f64::consts::PI / (self.high - self.low).element_product();
        let mut random = Sequence::new(self.seed);
        let (mut radii, mut filled) = (Vec::new(), 0.0);
        loop {
            let r = self.sizes.quantile(random.next_uniform());
            let more = share * r * r * r;
            // the last one only if it brings the sum nearer
            if filled + 0.5 * more > self.solid_fraction {
                break;
            }
            if radii.len() == most {
                return Err(Unreached::Count { most });
            }
            radii.push(r);
            filled += more;
        }
        if radii.is_empty() {
            return Err(Unreached::Nothing);
        }
        let scale = libm::cbrt(self.solid_fraction / filled);
        radii.iter_mut().for_each(|r| *r *= scale);
        Ok(radii)
    }
}

/// Most balls of a packing.
const MOST: usize = 1_000_000;

/// Balls on their way.
struct Packing {
    size: DVec3,
    periodic: [bool; 3],
    radii: Vec<f64>,
    places: Vec<DVec3>,
    /// Neighbours, with what takes the second to its image that is nearest to the first, and where the balls were when they were listed.
    pairs: Vec<(u32, u32, DVec3)>,
    listed: Vec<DVec3>,
    /// Iterations until now.
    iterations: usize,
}

impl Packing {
    /// Relaxes the overlaps of balls that grow; what is left at their last radii, in parts of the sum of two.
    fn grow(&mut self) -> f64 {
        for s in GROWTH {
            self.relax(s, ROUGH, ITERATIONS[0]);
        }
        self.relax(1.0 + MARGIN, 0.5 * MARGIN, ITERATIONS[1])
    }

    /// What takes the second ball to its image that is nearest to the first.
    fn shift(&self, i: usize, j: usize) -> DVec3 {
        let d = self.places[j] - self.places[i];
        let wrap = |a: usize| if self.periodic[a] { -self.size[a] * (d[a] / self.size[a]).round() } else { 0.0 };
        DVec3::new(wrap(0), wrap(1), wrap(2))
    }

    /// Moves the balls, of radii times `s`, until they overlap by no more than this part of the sum of their radii, or will not; what is left.
    fn relax(&mut self, s: f64, limit: f64, iterations: usize) -> f64 {
        let n = self.radii.len();
        let (mut v, mut f) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
        let (mut dt, mut mixing, mut downhill) = (STEPS[0], MIXING, 0);
        self.list(s);
        let mut left = self.forces(s, &mut f);
        let mut before = left;
        for done in 0..iterations {
            if left <= limit {
                break;
            }
            if done > 0 && done % WINDOW == 0 {
                let windows = libm::log(left / limit) / libm::log(before / left).max(0.0);
                if windows * WINDOW as f64 > HOPE * (iterations - done) as f64 {
                    break;
                }
                before = left;
            }
            self.iterations += 1;
            let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
            if dot(&f, &v) > 0.0 {
                downhill += 1;
                let turn = mixing * (dot(&v, &v) / dot(&f, &f)).sqrt();
                v.iter_mut().zip(&f).for_each(|(v, f)| *v = (1.0 - mixing) * *v + turn * *f);
                if downhill > PATIENCE {
                    (dt, mixing) = (f64::min(FASTER * dt, STEPS[1]), MIXING_FALLS * mixing);
                }
            } else {
                v.fill(DVec3::ZERO);
                (dt, mixing, downhill) = (SLOWER * dt, MIXING, 0);
            }
            for ((x, v), f) in self.places.iter_mut().zip(&mut v).zip(&f) {
                *v += dt * *f;
                *x += dt * *v;
            }
            if self.strays(s) {
                self.list(s);
            }
            left = self.forces(s, &mut f);
        }
        left
    }

    /// Whether a ball has gone so far that the list may lack a pair.
    fn strays(&self, s: f64) -> bool {
        let far = |((x, x0), r): ((&DVec3, &DVec3), &f64)| x.distance_squared(*x0) > (0.5 * SKIN * s * r).powi(2);
        self.places.iter().zip(&self.listed).zip(&self.radii).any(far)
    }

    /// Forces of the overlaps over their stiffness (m); the largest overlap in parts of the sum of the radii.
    fn forces(&self, s: f64, f: &mut [DVec3]) -> f64 {
        f.fill(DVec3::ZERO);
        let mut worst = 0.0_f64;
        for &(i, j, shift) in &self.pairs {
            let (i, j) = (i as usize, j as usize);
            let (d, sum) = (self.places[j] - self.places[i] + shift, self.radii[i] + self.radii[j]);
            let square = d.length_squared();
            if square < (s * sum).powi(2) {
                let distance = square.sqrt();
                let overlap = s * sum - distance;
                let n = if distance > 0.0 { d / distance } else { DVec3::Z };
                f[i] -= overlap * n;
                f[j] += overlap * n;
                worst = worst.max(overlap / sum);
            }
        }
        for ((x, r), f) in self.places.iter().zip(&self.radii).zip(f) {
            for a in (0..3).filter(|&a| !self.periodic[a]) {
                let [below, above] = [s * r - x[a], x[a] + s * r - self.size[a]].map(|o| o.max(0.0));
                f[a] += below - above;
                worst = worst.max(0.5 * below.max(above) / r);
            }
        }
        worst
    }

    /// Lists all pairs that are near each other, by a grid of cells no smaller than the largest of these distances.
    fn list(&mut self, s: f64) {
        self.listed.clone_from(&self.places);
        self.pairs.clear();
        let reach = (1.0 + SKIN) * s;
        let least = 2.0 * reach * self.radii.iter().copied().fold(0.0, f64::max);
        let cells: [usize; 3] = std::array::from_fn(|a| ((self.size[a] / least) as usize).clamp(1, 200));
        let cell_of = |x: DVec3| -> [usize; 3] {
            std::array::from_fn(|a| {
                let part = x[a] / self.size[a];
                let part = if self.periodic[a] { part - part.floor() } else { part.clamp(0.0, 1.0) };
                ((part * cells[a] as f64) as usize).min(cells[a] - 1)
            })
        };
        let number = |[x, y, z]: [usize; 3]| (z * cells[1] + y) * cells[0] + x;
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); cells.iter().product()];
        for (i, x) in self.places.iter().enumerate() {
            members[number(cell_of(*x))].push(i as u32);
        }
        // neighbours along an axis: each cell once, however few there are
        let along = |a: usize, k: usize| -> Vec<usize> {
            let n = cells[a];
            let mut near: Vec<usize> =
                if self.periodic[a] { vec![(k + n - 1) % n, k, (k + 1) % n] } else { (k.saturating_sub(1)..=(k + 1).min(n - 1)).collect() };
            near.sort_unstable();
            near.dedup();
            near
        };
        let mut pairs = Vec::new();
        for (i, x) in self.places.iter().enumerate() {
            let [cx, cy, cz] = cell_of(*x);
            let (xs, ys) = (along(0, cx), along(1, cy));
            for z in along(2, cz) {
                for &y in &ys {
                    for &x in &xs {
                        for &j in members[number([x, y, z])].iter().filter(|&&j| j as usize > i) {
                            let near = reach * (self.radii[i] + self.radii[j as usize]);
                            let shift = self.shift(i, j as usize);
                            if (self.places[j as usize] - self.places[i] + shift).length_squared() < near * near {
                                pairs.push((i as u32, j, shift));
                            }
                        }
                    }
                }
            }
        }
        self.pairs = pairs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::granular::sizes::By;

    fn packed(solid_fraction: f64, periodic: [bool; 3], sizes: Sizes) -> Growth {
        Growth { low: DVec3::new(-0.1, 0.2, 0.0), high: DVec3::new(0.02, 0.3, 0.14), periodic, sizes, solid_fraction, seed: 4 }
    }

    /// Smallest gap over the sum of two radii, of balls and walls; the solid fraction.
    fn measured(g: &Growth, balls: &[(DVec3, f64)]) -> (f64, f64) {
        let (size, mut gap) = (g.high - g.low, f64::INFINITY);
        for (i, (x, r)) in balls.iter().enumerate() {
            for a in (0..3).filter(|&a| !g.periodic[a]) {
                gap = gap.min((x[a] - g.low[a] - r) / r).min((g.high[a] - x[a] - r) / r);
            }
            for (y, s) in &balls[..i] {
                let d = *x - *y;
                let d: DVec3 =
                    DVec3::from_array(std::array::from_fn(
                        |a| {
                            if g.periodic[a] { d[a] - size[a] * (d[a] / size[a]).round() } else { d[a] }
                        },
                    ));
                gap = gap.min((d.length() - r - s) / (r + s));
            }
        }
        let volume: f64 = balls.iter().map(|(_, r)| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3)).sum();
        (gap, volume / size.element_product())
    }

    #[test]
    fn balls_fill_what_is_asked_for_and_none_touches_another() {
        let wide = || Sizes::uniform(0.004, 0.008, By::Number).unwrap();
        for (fraction, periodic, sizes) in [
            (0.6, [true; 3], wide()),
            (0.62, [true; 3], Sizes::one(0.006).unwrap()),
            (0.55, [false; 3], wide()),
            (0.5, [true, false, true], Sizes::two([0.004, 0.012], 0.2, By::Number).unwrap()),
            (0.05, [true; 3], wide()),
        ] {
            let growth = packed(fraction, periodic, sizes);
            let balls = growth.balls().unwrap_or_else(|e| panic!("{fraction}: {e}"));
            let (gap, filled) = measured(&growth, &balls);
            assert!(gap > 0.0 && (filled - fraction).abs() < 1e-12, "{fraction} {periodic:?}: {gap:e} {filled}");
            assert!(balls.iter().all(|(x, _)| x.cmpge(growth.low).all() && x.cmple(growth.high).all()));
            assert_eq!(balls, growth.balls().unwrap());
            assert_ne!(balls, Growth { seed: 5, ..growth }.balls().unwrap());
        }
    }

    #[test]
    fn radii_have_their_distribution() {
        let growth = packed(0.5, [true; 3], Sizes::uniform(0.002, 0.004, By::Number).unwrap());
        let mut radii: Vec<f64> = growth.radii(MOST).unwrap();
        radii.sort_by(f64::total_cmp);
        let n = radii.len() as f64;
        let worst = radii.iter().enumerate().map(|(k, r)| (((r / 0.002) - 1.0) - (k as f64 + 0.5) / n).abs()).fold(0.0, f64::max);
        // Kolmogorov and Smirnov at 5 %
        assert!(n > 4000.0 && worst < 1.36 / n.sqrt(), "{n} {worst}");
    }

    #[test]
    fn what_cannot_be_packed_is_told() {
        let text = |g: Growth| g.balls().unwrap_err().to_string();
        let one = || Sizes::one(0.006).unwrap();
        assert!(text(packed(0.68, [true; 3], one())).contains("still overlap"));
        let mut hopeless = packed(0.68, [true; 3], one()).scattered().unwrap();
        assert!(
            hopeless.grow() > 0.5 * MARGIN && hopeless.iterations <= GROWTH.len() * ITERATIONS[0] + 2 * WINDOW,
            "{}",
            hopeless.iterations
        );
        assert!(text(packed(0.6, [false; 3], Sizes::one(0.02).unwrap())).contains("still overlap"));
        assert!(text(packed(0.1, [true; 3], Sizes::one(0.03).unwrap())).contains("need 0.1"));
        assert!(text(packed(1e-4, [true; 3], one())).contains("no ball"));
        assert!(packed(0.5, [true; 3], Sizes::one(0.001).unwrap()).radii(100).unwrap_err().to_string().contains("more than 100"));
    }
}
