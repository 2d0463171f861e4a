//! By which rules the front and the slope of a heap are read off.

use super::scheme::Invalid;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Where a heap has its middle, and which part of it says how far it reaches and how steep it lies; z points up.
///
/// ```
/// use drystone::model::pile::Rules;
/// use glam::DVec3;
/// let round = Rules::default();
/// assert_eq!(round.distance(DVec3::new(3.0, 4.0, 9.0)), 5.0);
/// let channel = Rules { along: Some(DVec3::X), origin: DVec3::X, ..Rules::default() };
/// assert_eq!(channel.distance(DVec3::new(3.0, 4.0, 9.0)), 2.0);
/// assert!(Rules { between: [0.8, 0.2], ..Rules::default() }.validate().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// A point of the axis of a round heap, or from which a channel runs; its z is that of the ground (m).
    pub origin: DVec3,
    /// The way along a channel, horizontal, of length 1; none for round heaps.
    pub along: Option<DVec3>,
    /// The front is where this part of the grains of the heap, counted, reaches no farther: 1 for the farthest.
    pub quantile: f64,
    /// The slope is that of the surface between these parts of the height.
    pub between: [f64; 2],
}

impl Default for Rules {
    /// A round heap about the z axis, its farthest grains, the middle of its slope.
    fn default() -> Self {
        Self { origin: DVec3::ZERO, along: None, quantile: 1.0, between: [0.2, 0.8] }
    }
}

impl Rules {
    /// How far a point is from the axis, or along the channel (m).
    pub fn distance(&self, x: DVec3) -> f64 {
        let from = x - self.origin;
        self.along.map_or_else(|| from.truncate().length(), |along| from.dot(along))
    }

    /// What is wrong and what would do.
    pub fn validate(&self) -> Result<(), Invalid> {
        let Self { origin, along, quantile, between: [low, high] } = *self;
        if !origin.is_finite() {
            return Err(Invalid::new("the origin of a heap", format!("{origin}"), "three finite numbers"));
        }
        if let Some(along) = along.filter(|along| !(along.z == 0.0 && (along.length() - 1.0).abs() < 1e-9)) {
            return Err(Invalid::new("the way along a channel", format!("{along}"), "a horizontal direction of length 1"));
        }
        if !(quantile > 0.0 && quantile <= 1.0) {
            return Err(Invalid::new("the quantile of a front", format!("{quantile}"), "a number above 0, up to 1"));
        }
        if !(low >= 0.0 && low < high && high <= 1.0) {
            return Err(Invalid::new("the part of a slope", format!("{low} to {high}"), "two numbers from 0 to 1, the first one lower"));
        }
        Ok(())
    }
}
