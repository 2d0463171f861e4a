//! The shaking ground: what its acceleration is on average over a step, whatever form the record has.
//!
//! ```text
//! ā = 1/h ∫ a(t) dt      over the step: block by block of a line, with jumps where two times are equal; pulses by their primitive
//! v given                a = slope of v, constant between samples
//! d given                a = second derivative of the cubic spline through d that rests at both ends, so linear between samples
//! ```
//!
//! The velocity of the ground at the end of every step is then that of the record, at any step.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

use super::loads::{BaseMotion, interpolate, mean, on_piece};

/// A pulse of acceleration; nothing before and after.
///
/// ```
/// use drystone::io::scene::ground::{Pulse, PulseForm};
/// let push = Pulse { form: PulseForm::HalfSine, amplitude: glam::DVec3::X, start: 1.0, duration: 0.5 };
/// assert_eq!(push.acceleration(1.25), glam::DVec3::X);
/// assert!((push.velocity(9.0).x - 0.5 * 2.0 / std::f64::consts::PI).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pulse {
    /// Its course over time.
    pub form: PulseForm,
    /// Largest acceleration (m/s²).
    pub amplitude: DVec3,
    /// When it begins (s).
    pub start: f64,
    /// How long it takes (s).
    pub duration: f64,
}

/// The course of a pulse, s = (t − start)/duration from 0 to 1.
///
/// ```
/// assert_ne!(drystone::io::scene::ground::PulseForm::Square, drystone::io::scene::ground::PulseForm::HalfSine);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PulseForm {
    /// sin πs
    HalfSine,
    /// sin 2πs
    Sine,
    /// 1
    Square,
}

impl PulseForm {
    /// What scene files call them.
    pub const ALL: [(&'static str, Self); 3] = [("half_sine", Self::HalfSine), ("sine", Self::Sine), ("square", Self::Square)];
}

impl Pulse {
    /// Acceleration (m/s²) at time `t` (s).
    pub fn acceleration(&self, t: f64) -> DVec3 {
        let s = (t - self.start) / self.duration;
        if !(0.0..1.0).contains(&s) {
            return DVec3::ZERO;
        }
        self.amplitude
            * match self.form {
                PulseForm::HalfSine => libm::sin(PI * s),
                PulseForm::Sine => libm::sin(TAU * s),
                PulseForm::Square => 1.0,
            }
    }

    /// Velocity (m/s) that it has given by time `t` (s).
    pub fn velocity(&self, t: f64) -> DVec3 {
        let s = ((t - self.start) / self.duration).clamp(0.0, 1.0);
        // 1 − cos x as 2 sin²(x/2): no digits are lost where the pulse begins
        let squared = |x: f64| 2.0 * libm::sin(0.5 * x) * libm::sin(0.5 * x);
        let share = match self.form {
            PulseForm::HalfSine => squared(PI * s) / PI,
            PulseForm::Sine => squared(TAU * s) / TAU,
            PulseForm::Square => s,
        };
        self.amplitude * (self.duration * share)
    }
}

/// What a record leaves the ground with.
///
/// ```
/// use drystone::io::scene::loads::BaseMotion;
/// use glam::DVec3;
/// let left = BaseMotion::of_accelerations(vec![0.0, 2.0], vec![DVec3::X, DVec3::X]).left();
/// assert_eq!((left.velocity, left.displacement), (2.0 * DVec3::X, 2.0 * DVec3::X));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Left {
    /// Velocity at the end (m/s).
    pub velocity: DVec3,
    /// Displacement at the end (m).
    pub displacement: DVec3,
    /// Largest speed (m/s) at a sample.
    pub peak_velocity: f64,
    /// Largest distance from the start (m) at a sample.
    pub peak_displacement: f64,
}

impl BaseMotion {
    /// Acceleration on straight lines between samples (times s, m/s²); two equal times are a jump.
    pub fn of_accelerations(times: Vec<f64>, accelerations: Vec<DVec3>) -> Self {
        Self { times, accelerations, pulses: Vec::new() }
    }

    /// The motion whose velocity (m/s) is on straight lines between samples, and constant outside.
    ///
    /// ```
    /// use drystone::io::scene::loads::BaseMotion;
    /// use glam::DVec3;
    /// let stop = BaseMotion::of_velocities(&[0.0, 1.0, 1.5], &[DVec3::ZERO, DVec3::X, DVec3::ZERO]);
    /// assert_eq!((stop.mean(0.0, 1.0), stop.mean(1.0, 2.0)), (DVec3::X, -DVec3::X));
    /// ```
    pub fn of_velocities(times: &[f64], velocities: &[DVec3]) -> Self {
        let (mut at, mut a) = (Vec::new(), Vec::new());
        for (t, v) in times.windows(2).zip(velocities.windows(2)) {
            let slope = (v[1] - v[0]) / (t[1] - t[0]);
            at.extend([t[0], t[1]]);
            a.extend([slope, slope]);
        }
        Self::of_accelerations(at, a).closed()
    }

    /// The motion along the cubic spline through displacements (m) that rests at the first and the last sample.
    ///
    /// ```
    /// use drystone::io::scene::loads::BaseMotion;
    /// use glam::DVec3;
    /// let there = BaseMotion::of_displacements(&[0.0, 0.3, 1.0], &[DVec3::ZERO, 0.2 * DVec3::X, DVec3::X]);
    /// let left = there.left();
    /// assert!(left.velocity.length() < 1e-14 && (left.displacement - DVec3::X).length() < 1e-14);
    /// ```
    pub fn of_displacements(times: &[f64], displacements: &[DVec3]) -> Self {
        // moments of the spline: h₋ a₋ + 2 (h₋ + h₊) a + h₊ a₊ = 6 (slope₊ − slope₋), slopes beyond the ends 0, by Thomas
        let n = times.len().min(displacements.len());
        let width = |i: usize| if i == 0 || i >= n { 0.0 } else { times[i] - times[i - 1] };
        let slope = |i: usize| if i == 0 || i >= n { DVec3::ZERO } else { (displacements[i] - displacements[i - 1]) / width(i) };
        let (mut upper, mut a) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let (before, after) = (width(i), width(i + 1));
            let (u, last) = if i == 0 { (0.0, DVec3::ZERO) } else { (upper[i - 1], a[i - 1]) };
            let pivot = 2.0 * (before + after) - before * u;
            upper.push(after / pivot);
            a.push((6.0 * (slope(i + 1) - slope(i)) - before * last) / pivot);
        }
        for i in (1..n).rev() {
            let next = a[i];
            a[i - 1] -= upper[i - 1] * next;
        }
        Self::of_accelerations(times[..n].to_vec(), a).closed()
    }

    /// The same without acceleration before the first sample and after the last.
    #[must_use]
    pub fn closed(mut self) -> Self {
        if let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) {
            if self.accelerations.first() != Some(&DVec3::ZERO) {
                self.times.insert(0, first);
                self.accelerations.insert(0, DVec3::ZERO);
            }
            if self.accelerations.last() != Some(&DVec3::ZERO) {
                self.times.push(last);
                self.accelerations.push(DVec3::ZERO);
            }
        }
        self
    }

    /// Mean acceleration (m/s²) from time `from` to `to` (s): the velocity of the ground changes by `(to − from)` times it.
    pub fn mean(&self, from: f64, to: f64) -> DVec3 {
        let h = to - from;
        if h <= 0.0 {
            return self.acceleration(from);
        }
        let mean = mean(&self.times, &self.accelerations, [from, to]);
        self.pulses.iter().fold(mean, |sum, pulse| sum + (pulse.velocity(to) - pulse.velocity(from)) / h)
    }

    fn on_piece(&self, i: usize, t: f64) -> DVec3 {
        on_piece(&self.times, &self.accelerations, i, t)
    }

    /// The two motions together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut times: Vec<f64> = self.times.iter().chain(&other.times).copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let mut sum = Self { pulses: self.pulses.iter().chain(&other.pulses).copied().collect(), ..Self::default() };
        for t in times {
            let left = |m: &Self| m.on_piece(m.times.partition_point(|&x| x < t), t);
            let right = |m: &Self| interpolate(&m.times, &m.accelerations, t);
            let (before, after) = (left(self) + left(other), right(self) + right(other));
            sum.times.push(t);
            sum.accelerations.push(before);
            if before != after {
                sum.times.push(t);
                sum.accelerations.push(after);
            }
        }
        sum
    }

    /// Multiplies every acceleration by `factor`.
    pub fn scale(&mut self, factor: f64) {
        self.accelerations.iter_mut().for_each(|a| *a *= factor);
        self.pulses.iter_mut().for_each(|pulse| pulse.amplitude *= factor);
    }

    /// Whether the ground is never accelerated.
    pub fn is_still(&self) -> bool {
        self.accelerations.iter().chain(self.pulses.iter().map(|p| &p.amplitude)).all(|a| *a == DVec3::ZERO)
    }

    /// Whether its acceleration is one constant.
    pub fn is_steady(&self) -> bool {
        self.accelerations.windows(2).all(|w| w[0] == w[1]) && self.pulses.iter().all(|p| p.amplitude == DVec3::ZERO)
    }

    /// Bound of the acceleration (m/s²): the largest sample and all pulses at once.
    pub fn peak(&self) -> f64 {
        let samples = self.accelerations.iter().map(|a| a.length()).fold(0.0, f64::max);
        self.pulses.iter().fold(samples, |sum, pulse| sum + pulse.amplitude.length())
    }

    /// Velocity and displacement from rest over the samples; pulses are left out.
    pub fn left(&self) -> Left {
        let mut left = Left::default();
        for (t, a) in self.times.windows(2).zip(self.accelerations.windows(2)) {
            let h = t[1] - t[0];
            left.displacement += h * left.velocity + h * h * (a[0] / 3.0 + a[1] / 6.0);
            left.velocity += 0.5 * h * (a[0] + a[1]);
            left.peak_velocity = left.peak_velocity.max(left.velocity.length());
            left.peak_displacement = left.peak_displacement.max(left.displacement.length());
        }
        left
    }

    /// Takes a line `c₀ + c₁ t` off the record, such that the ground ends at rest; with `place` also where it began.
    pub fn correct_baseline(&mut self, place: bool) {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return };
        let (span, left) = (last - first, self.left());
        if span <= 0.0 {
            return;
        }
        // ∫ c = v and ∫∫ c = d at the end: c₀ T + c₁ T²/2 = v, c₀ T²/2 + c₁ T³/6 = d
        let (v, d) = (left.velocity / span, left.displacement / (span * span));
        let (c0, c1) = if place { (6.0 * d - 2.0 * v, 6.0 * (v - 2.0 * d)) } else { (v, DVec3::ZERO) };
        for (t, a) in self.times.iter().zip(&mut self.accelerations) {
            *a -= c0 + c1 * ((t - first) / span);
        }
        *self = std::mem::take(self).closed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x(values: &[f64]) -> Vec<DVec3> {
        values.iter().map(|&a| a * DVec3::X).collect()
    }

    /// Mean by a fine sum.
    fn summed(motion: &BaseMotion, from: f64, to: f64) -> f64 {
        let n = 200_000;
        (0..n).map(|i| motion.acceleration(from + (to - from) * (f64::from(i) + 0.5) / f64::from(n)).x).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn a_mean_is_the_integral_over_lines_jumps_and_pulses() {
        let mut motion = BaseMotion::of_accelerations(vec![0.1, 0.1, 0.3, 0.35, 0.35, 0.6], x(&[0.0, 2.0, -1.0, 4.0, 0.5, 0.0]));
        for form in [PulseForm::HalfSine, PulseForm::Sine, PulseForm::Square] {
            motion.pulses = vec![Pulse { form, amplitude: 3.0 * DVec3::X, start: 0.22, duration: 0.17 }];
            for (from, to) in [(0.0, 1.0), (0.1, 0.3), (0.12, 0.13), (0.05, 0.34), (0.3, 0.35), (0.34, 0.9), (0.7, 0.8)] {
                let (exact, sum) = (motion.mean(from, to).x, summed(&motion, from, to));
                assert!((exact - sum).abs() < 1e-4, "{form:?} {from} {to}: {exact} {sum}");
            }
        }
    }

    #[test]
    fn means_of_steps_add_up_to_the_mean_of_all_at_any_step() {
        let times: Vec<f64> = (0..40).map(|i| 0.013 * f64::from(i)).collect();
        let values: Vec<DVec3> = (0..40).map(|i| DVec3::new(libm::sin(f64::from(i)), libm::cos(2.0 * f64::from(i)), 0.1)).collect();
        let motion = BaseMotion::of_accelerations(times, values).closed();
        let whole = motion.left().velocity;
        for h in [0.0003, 0.001, 0.0131, 0.2] {
            let steps = (0.6 / h) as usize + 1;
            let sum: DVec3 = (0..steps).map(|i| h * motion.mean(i as f64 * h, (i + 1) as f64 * h)).sum();
            assert!((sum - whole).length() < 1e-13, "{h}: {sum} {whole}");
        }
    }

    #[test]
    fn velocities_and_displacements_give_the_motion_they_are_of() {
        let times: Vec<f64> = (0..=400).map(|i| 0.005 * f64::from(i)).collect();
        // d = (t (2 − t))³: at rest at both ends
        let (d, v): (Vec<f64>, Vec<f64>) = times
            .iter()
            .map(|t| {
                let (s, rate) = (t * (2.0 - t), 2.0 - 2.0 * t);
                (s * s * s, 3.0 * s * s * rate)
            })
            .unzip();
        let [by_v, by_d] = [BaseMotion::of_velocities(&times, &x(&v)), BaseMotion::of_displacements(&times, &x(&d))];
        for t in [0.1, 0.5, 1.3, 1.9] {
            let (s, rate) = (t * (2.0 - t), 2.0 - 2.0 * t);
            let exact = 6.0 * s * rate * rate - 6.0 * s * s;
            // moments of a spline miss by h²/12 d⁗, |d⁗| ≤ 288
            assert!((by_d.acceleration(t).x - exact).abs() < 0.005 * 0.005 / 12.0 * 288.0, "{t}: {} {exact}", by_d.acceleration(t).x);
            assert!((by_v.mean(t - 0.1, t + 0.1).x - by_d.mean(t - 0.1, t + 0.1).x).abs() < 1e-6);
        }
        assert!(by_d.left().velocity.length() < 1e-12 && by_d.acceleration(-0.1) == DVec3::ZERO && by_v.acceleration(2.1) == DVec3::ZERO);
    }

    #[test]
    fn components_add_up_and_a_baseline_is_taken_off() {
        let a = BaseMotion::of_accelerations(vec![0.0, 0.4, 1.0], x(&[0.0, 2.0, 1.0])).closed();
        let b = BaseMotion::of_accelerations(vec![0.2, 0.2, 0.7], vec![DVec3::ZERO, DVec3::Y, DVec3::Y]).closed();
        let sum = a.plus(&b);
        for (from, to) in [(0.0, 0.2), (0.19, 0.21), (0.3, 0.9), (0.9, 1.5)] {
            let parts = a.mean(from, to) + b.mean(from, to);
            assert!((sum.mean(from, to) - parts).length() < 1e-14, "{from} {to}");
        }
        let (mut rests, mut returns) = (a.clone(), a);
        rests.correct_baseline(false);
        returns.correct_baseline(true);
        assert!(rests.left().velocity.length() < 1e-15 && rests.left().displacement.length() > 0.01);
        assert!(returns.left().velocity.length() < 1e-15 && returns.left().displacement.length() < 1e-15);
        assert_eq!(returns.acceleration(1.5), DVec3::ZERO);
    }
}
