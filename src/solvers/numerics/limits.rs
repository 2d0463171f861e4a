//! What a point of a joint bears beside Coulomb's law.
//!
//! ```text
//! K = {−T ≤ r_n ≤ P, ‖r_t‖ ≤ C + μ r_n}
//! sup_K a·r = C ‖a_t‖ + max(−T κ, P κ),   κ = a_n + μ ‖a_t‖        T at most C/μ, the tip of the cone
//! ```

use crate::algebra::dense::norm;

/// How far a point of a joint goes beyond Coulomb's law (N).
///
/// ```
/// let dry = drystone::numerics::statics::Limits::default();
/// assert!(dry.tension == 0.0 && dry.cohesion == 0.0 && dry.crushing == f64::INFINITY);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// T: largest pull; it comes about as far as `μ T ≤ C`, the tip of the cone.
    pub tension: f64,
    /// C: largest shear force without a normal one.
    pub cohesion: f64,
    /// P: largest pressure.
    pub crushing: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tension: 0.0, cohesion: 0.0, crushing: f64::INFINITY }
    }
}

impl Limits {
    /// Whether they leave the sets of a problem as they are.
    pub(super) fn none(&self) -> bool {
        *self == Self::default()
    }

    /// Largest pull: the tip of the cone may come before the cut-off.
    fn pull(&self, mu: f64) -> f64 {
        if mu * self.tension > self.cohesion { self.cohesion / mu } else { self.tension }
    }

    /// Moves a point (n, t1, t2) into K: first into the bounds of n, then into the disc that belongs there.
    pub(super) fn hold(&self, mu: f64, r: &mut [f64]) {
        r[0] = r[0].clamp(-self.pull(mu), self.crushing);
        let (most, shear) = (self.cohesion + mu * r[0], norm(&r[1..]));
        if shear > most {
            r[1..].iter_mut().for_each(|t| *t *= most.max(0.0) / shear);
        }
    }

    /// `sup_K a·r` less what the cone without limits, which has none but 0, adds.
    pub(super) fn support(&self, mu: f64, a: &[f64]) -> f64 {
        let (shear, along) = (norm(&a[1..]), a[0] + mu * norm(&a[1..]));
        let normal = if along < 0.0 {
            -self.pull(mu) * along
        } else if self.crushing.is_finite() {
            self.crushing * along
        } else {
            0.0
        };
        self.cohesion * shear + normal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::dense::dot;

    #[test]
    fn the_support_function_is_the_largest_work_of_points_that_are_held() {
        for (mu, limits) in [
            (0.6, Limits { tension: 2.0, cohesion: 3.0, crushing: 7.0 }),
            (0.0, Limits { tension: 2.0, cohesion: 3.0, crushing: 0.0 }),
            // the tip of the cone comes before the cut-off
            (2.0, Limits { tension: 2.0, cohesion: 3.0, crushing: 5.0 }),
        ] {
            for k in 0..40 {
                let (turn, tilt) = (0.7 * f64::from(k), 0.31 * f64::from(k));
                let a = [libm::cos(tilt), libm::sin(tilt) * libm::cos(turn), libm::sin(tilt) * libm::sin(turn)];
                let mut most = f64::NEG_INFINITY;
                for i in 0..=400 {
                    // the border: each normal force with the shear along a
                    let n = -2.5 + 10.0 * f64::from(i) / 400.0;
                    let mut r = [n, 1e3 * a[1], 1e3 * a[2]];
                    limits.hold(mu, &mut r);
                    let shear = norm(&r[1..]);
                    assert!(shear <= limits.cohesion + mu * r[0] + 1e-12 && r[0] >= -limits.tension && r[0] <= limits.crushing, "{r:?}");
                    most = most.max(dot(&a, &r));
                }
                assert!((limits.support(mu, &a) - most).abs() < 1e-9, "{mu} {limits:?} {a:?}: {} {most}", limits.support(mu, &a));
            }
        }
    }
}
