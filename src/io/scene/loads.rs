//! Loads that act on many bodies at once: still water and the shaking ground.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::ground::Pulse;

/// Still water against bodies: `p = ρ g (level − z)` below the level, on the faces that look against `direction`, where no other block covers them.
///
/// The pressure follows the face: which faces are loaded is decided in the starting position, and the force then turns
/// with the body. Uplift is the pressure in the joints below.
///
/// ```
/// use drystone::io::scene::loads::{Uplift, WaterPressure};
/// let lake = WaterPressure {
///     bodies: vec![1], direction: glam::DVec3::X, density: 1000.0,
///     times: vec![0.0, 10.0], levels: vec![0.0, 6.0], uplift: Uplift::None, added_mass: None,
/// };
/// assert_eq!(lake.level(5.0), 3.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaterPressure {
    /// Indices of the loaded bodies, in the order of the scene.
    pub bodies: Vec<usize>,
    /// Unit vector in which the water pushes.
    pub direction: DVec3,
    /// Density of the water (kg/m³).
    pub density: f64,
    /// Increasing times (s) of `levels`; never empty.
    pub times: Vec<f64>,
    /// Height z of the surface (m) at these times; straight lines between, constant outside.
    pub levels: Vec<f64>,
    /// Pressure in joints.
    pub uplift: Uplift,
    /// Height z of the bed of the reservoir (m) where the shaken water presses too, by Westergaard's added mass.
    pub added_mass: Option<f64>,
}

impl WaterPressure {
    /// Height z of the surface (m) at time `t` (s).
    pub fn level(&self, t: f64) -> f64 {
        interpolate(&self.times, &self.levels, t)
    }
}

/// Water pressure in the bed joints of the loaded bodies.
///
/// ```
/// assert_eq!(drystone::io::scene::loads::Uplift::default(), drystone::io::scene::loads::Uplift::None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Uplift {
    /// The joints are dry.
    #[default]
    None,
    /// In the joint below the lowest course: full pressure at the wet edge, falling along a straight line to zero at the dry edge.
    Linear,
    /// The same in the joint below each course.
    Joints,
}

/// Acceleration of the ground, applied in the frame of the ground: every dynamic body feels `−a(t)` per unit mass.
///
/// ```
/// use drystone::io::scene::loads::BaseMotion;
/// use glam::DVec3;
/// let quake = BaseMotion::of_accelerations(vec![0.0, 1.0], vec![DVec3::ZERO, DVec3::X]);
/// assert_eq!(quake.acceleration(0.5), 0.5 * DVec3::X);
/// assert_eq!(quake.acceleration(9.0), DVec3::X);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaseMotion {
    /// Times (s) that do not fall; two equal ones are a jump.
    pub times: Vec<f64>,
    /// Acceleration at these times (m/s²); straight lines between, constant outside.
    pub accelerations: Vec<DVec3>,
    /// Pulses beside it.
    pub pulses: Vec<Pulse>,
}

impl BaseMotion {
    /// Acceleration of the ground (m/s²) at time `t` (s).
    pub fn acceleration(&self, t: f64) -> DVec3 {
        self.pulses.iter().fold(interpolate(&self.times, &self.accelerations, t), |sum, pulse| sum + pulse.acceleration(t))
    }
}

/// Piecewise-linear value at `t`, constant outside; zero for an empty table.
pub(super) fn interpolate<T>(times: &[f64], values: &[T], t: f64) -> T
where
    T: Copy + Default + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    let after = times.partition_point(|&x| x <= t);
    match (after.checked_sub(1), values.get(after)) {
        (None, Some(&first)) => first,
        (Some(i), Some(&next)) => {
            let s = (t - times[i]) / (times[after] - times[i]);
            values[i] * (1.0 - s) + next * s
        }
        (_, None) => values.last().copied().unwrap_or_default(),
    }
}

/// The line that ends at sample `i`, continued to `t`.
pub(super) fn on_piece<T>(times: &[f64], values: &[T], i: usize, t: f64) -> T
where
    T: Copy + Default + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    match (i.checked_sub(1), values.get(i)) {
        (None, Some(&first)) => first,
        (Some(k), Some(&next)) if times[i] > times[k] => {
            let s = (t - times[k]) / (times[i] - times[k]);
            values[k] * (1.0 - s) + next * s
        }
        (Some(_), Some(&next)) => next,
        (_, None) => values.last().copied().unwrap_or_default(),
    }
}

/// Mean from time `from` to a later `to` of what [`interpolate`] gives; equal times are jumps.
pub(super) fn mean<T>(times: &[f64], values: &[T], [from, to]: [f64; 2]) -> T
where
    T: Copy + Default + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T> + std::ops::AddAssign,
{
    let first = times.partition_point(|&x| x <= from);
    let breaks = times[first..].iter().take_while(|&&x| x < to).count();
    if breaks == 0 {
        // on one line the mean is the value in the middle
        return interpolate(times, values, 0.5 * (from + to));
    }
    let (mut mean, mut t) = (T::default(), from);
    for i in first..=first + breaks {
        let end = times.get(i).map_or(to, |&x| x.min(to));
        mean += on_piece(times, values, i, 0.5 * (t + end)) * ((end - t) / (to - from));
        t = end;
    }
    mean
}
