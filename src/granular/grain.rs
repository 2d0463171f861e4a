//! Shapes of grains: balls, random rocks, hulls and clumps of balls, each within the ball of its size.
//!
//! A grain of radius r reaches r from the origin of its frame at its farthest point: distributions of radii, places of lattices and pours
//! and the room in an inlet mean all forms alike. Numbers come from seed and number of the grain alone.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::algebra::random::Sequence;

/// What grains of one kind look like.
///
/// ```
/// use drystone::granular::grain::{Form, Grain};
/// let rock = Grain::rock(20, [0.6, 1.0], 0.5)?;
/// let (Form::Hull(corners), turn) = rock.form(0.01, 7, 0) else { panic!("a rock is a hull") };
/// assert!(corners.len() == 20 && turn.is_normalized());
/// assert_ne!(rock.form(0.01, 7, 0), rock.form(0.01, 7, 1));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Grain {
    /// Balls.
    #[default]
    Ball,
    /// Convex hulls of random corners, see [`Grain::rock`].
    Rock {
        /// Of each.
        corners: usize,
        /// Least and largest ratio of the second and third axis to the first.
        aspect: [f64; 2],
        /// 0 to 1.
        roundness: f64,
    },
    /// One hull, turned at random.
    Hull {
        /// Corners within the unit ball.
        points: Vec<DVec3>,
    },
    /// Balls that move as one, turned at random.
    Clump {
        /// Centres and radii, within the unit ball.
        balls: Vec<(DVec3, f64)>,
    },
}

/// The form of one grain, in its frame (m).
///
/// ```
/// use drystone::granular::grain::{Form, Grain};
/// assert_eq!(Grain::Ball.form(0.01, 0, 0).0, Form::Ball(0.01));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Its radius.
    Ball(f64),
    /// Its corners.
    Hull(Vec<DVec3>),
    /// Centres and radii.
    Clump(Vec<(DVec3, f64)>),
}

/// Middle of a box around points with a reach each, and the largest distance from it.
fn frame(points: impl Iterator<Item = (DVec3, f64)> + Clone) -> (DVec3, f64) {
    let bounds = points.clone().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], (x, r)| [low.min(x - r), high.max(x + r)]);
    let middle = 0.5 * (bounds[0] + bounds[1]);
    (middle, points.map(|(x, r)| (x - middle).length() + r).fold(0.0, f64::max))
}

impl Grain {
    /// Rocks with `corners` (8 to 200) in directions that are spread evenly and then moved by up to `1 − roundness` of their distance,
    /// at ½ (1 + roundness) to 1 of the way to an ellipsoid whose second and third axes are drawn from `aspect` (parts of the first).
    pub fn rock(corners: usize, aspect: [f64; 2], roundness: f64) -> Result<Self, String> {
        if !(8..=200).contains(&corners) {
            return Err(format!("rocks of {corners} corners; 8 to 200 are needed"));
        }
        let [low, high] = aspect;
        if !(0.1 <= low && low <= high && high <= 1.0) {
            return Err(format!("the aspect [{low}, {high}]; two rising ratios from 0.1 to 1 are needed"));
        }
        if !(0.0..=1.0).contains(&roundness) {
            return Err(format!("the roundness {roundness}; a number from 0 to 1 is needed"));
        }
        Ok(Self::Rock { corners, aspect, roundness })
    }

    /// Hulls of these points, brought into the unit ball around the middle of their box.
    pub fn hull(points: &[DVec3]) -> Result<Self, String> {
        let (middle, reach) = frame(points.iter().map(|p| (*p, 0.0)));
        if points.len() < 4 || !(reach > 0.0 && reach.is_finite()) {
            return Err(format!("{} points; 4 or more that span a volume are needed", points.len()));
        }
        Ok(Self::Hull { points: points.iter().map(|p| (p - middle) / reach).collect() })
    }

    /// Clumps of these balls (centre, radius), brought into the unit ball around the middle of their box.
    pub fn clump(balls: &[(DVec3, f64)]) -> Result<Self, String> {
        if let Some((x, r)) = balls.iter().find(|(x, r)| !(x.is_finite() && *r > 0.0 && r.is_finite())) {
            return Err(format!("the ball at {x} of radius {r}; a place and a positive radius are needed"));
        }
        let (middle, reach) = frame(balls.iter().copied());
        if balls.is_empty() || reach <= 0.0 {
            return Err("a clump without balls".into());
        }
        Ok(Self::Clump { balls: balls.iter().map(|(x, r)| ((x - middle) / reach, r / reach)).collect() })
    }

    /// Form of grain `number` of radius `radius` (m), and how it is turned.
    pub fn form(&self, radius: f64, seed: u64, number: usize) -> (Form, DQuat) {
        if *self == Self::Ball {
            return (Form::Ball(radius), DQuat::IDENTITY);
        }
        let start = (number as u64).wrapping_mul(0xA24B_AED4_963E_E407);
        let mut random = Sequence::new(seed.wrapping_mul(0x9FB2_1C65_1E98_DF25).wrapping_add(start) ^ 0x9E37_79B9_7F4A_7C15);
        let turn = any_rotation(&mut random);
        let form = match self {
            Self::Ball => Form::Ball(radius),
            Self::Rock { corners, aspect, roundness } => Form::Hull(rock(*corners, *aspect, *roundness, radius, &mut random)),
            Self::Hull { points } => Form::Hull(points.iter().map(|p| *p * radius).collect()),
            Self::Clump { balls } => Form::Clump(balls.iter().map(|(x, r)| (*x * radius, r * radius)).collect()),
        };
        (form, turn)
    }
}

/// Every rotation alike (Shoemake, Graphics Gems III, 1992).
fn any_rotation(random: &mut Sequence) -> DQuat {
    let [u, v, w] = [(); 3].map(|()| random.next_uniform());
    let ((s1, c1), (s2, c2)) = (libm::sincos(std::f64::consts::TAU * v), libm::sincos(std::f64::consts::TAU * w));
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    DQuat::from_xyzw(a * s1, a * c1, b * s2, b * c2).normalize()
}

fn rock(corners: usize, [low, high]: [f64; 2], roundness: f64, radius: f64, random: &mut Sequence) -> Vec<DVec3> {
    let (b, c) = (random.next_between(low, high), random.next_between(low, high));
    let axes = DVec3::new(1.0, b.max(c), b.min(c));
    // distance of neighbours on the unit sphere, whose points each have an area of 4π/n
    let spacing = (4.0 * std::f64::consts::PI / corners as f64).sqrt();
    let turn = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let mut corner = |k: usize| {
        let z = 1.0 - (2 * k + 1) as f64 / corners as f64;
        let (s, c) = libm::sincos(turn * k as f64);
        let ring = (1.0 - z * z).sqrt();
        let away = DVec3::from_array(std::array::from_fn(|_| random.next_between(-0.5, 0.5)));
        let direction = (DVec3::new(ring * c, ring * s, z) + (1.0 - roundness) * spacing * away).normalize();
        axes * direction * random.next_between(0.5 + 0.5 * roundness, 1.0)
    };
    let points: Vec<DVec3> = (0..corners).map(&mut corner).collect();
    let reach = points.iter().map(|p| p.length()).fold(0.0, f64::max);
    points.into_iter().map(|p| p * (radius / reach)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(form: &Form) -> f64 {
        match form {
            Form::Ball(r) => *r,
            Form::Hull(points) => points.iter().map(|p| p.length()).fold(0.0, f64::max),
            Form::Clump(balls) => balls.iter().map(|(x, r)| x.length() + r).fold(0.0, f64::max),
        }
    }

    #[test]
    fn every_grain_reaches_its_radius_and_no_farther() {
        let corners = [DVec3::ZERO, DVec3::X * 3.0, DVec3::Y, DVec3::Z, DVec3::ONE];
        let kinds = [
            Grain::Ball,
            Grain::rock(12, [0.4, 1.0], 0.0).unwrap(),
            Grain::rock(40, [0.5, 0.5], 1.0).unwrap(),
            Grain::hull(&corners).unwrap(),
            Grain::clump(&[(DVec3::X, 1.0), (DVec3::X * 2.5, 0.5)]).unwrap(),
        ];
        for kind in &kinds {
            for k in 0..50 {
                let (form, turn) = kind.form(0.02, 3, k);
                assert!((reach(&form) / 0.02 - 1.0).abs() < 1e-14, "{kind:?}: {form:?}");
                assert!(turn.is_normalized() && (form, turn) == kind.form(0.02, 3, k));
            }
        }
    }

    #[test]
    fn rocks_have_the_axes_that_were_asked_for() {
        // round ones with many corners fill their ellipsoid
        let rocks = Grain::rock(200, [0.5, 0.7], 1.0).unwrap();
        for k in 0..20 {
            let (Form::Hull(points), _) = rocks.form(1.0, 1, k) else { panic!("no hull") };
            let reach = points.iter().fold(DVec3::ZERO, |m, p| m.max(p.abs()));
            assert!(reach.x > 0.97 && reach.y / reach.x < 0.73 && reach.z / reach.x > 0.47 && reach.z <= reach.y * 1.02, "{reach}");
        }
    }

    #[test]
    fn directions_have_no_preference() {
        let kind = Grain::hull(&[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]).unwrap();
        let n = 4000;
        let axes: Vec<DVec3> = (0..n).map(|k| kind.form(1.0, 9, k).1 * DVec3::Z).collect();
        let mean = axes.iter().sum::<DVec3>() / f64::from(n as u32);
        let spread = axes.iter().map(|a| *a * *a).sum::<DVec3>() / f64::from(n as u32);
        // three standard errors of n draws
        assert!(mean.abs().max_element() < 3.0 * (1.0 / 3.0 / n as f64).sqrt(), "{mean}");
        assert!((spread - 1.0 / 3.0).abs().max_element() < 3.0 * (4.0 / 45.0 / n as f64).sqrt(), "{spread}");
    }

    #[test]
    fn what_is_no_grain_is_refused() {
        assert!(Grain::rock(7, [0.5, 1.0], 0.5).unwrap_err().contains("8 to 200"));
        assert!(Grain::rock(10, [0.8, 0.5], 0.5).is_err() && Grain::rock(10, [0.5, 1.0], 1.5).is_err());
        assert!(Grain::hull(&[DVec3::ONE; 5]).is_err() && Grain::clump(&[]).is_err());
        assert!(Grain::clump(&[(DVec3::ZERO, -1.0)]).is_err());
    }
}
