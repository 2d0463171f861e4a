//! The law of MOS transistors as a piecewise-linear multivalued element.
//!
//! ```text
//! I_DS = K/2 (f(v_GS − V_t) − f(v_GD − V_t))        f(v) = Σ_k s_k [v − a_k]₊ ≈ v² for 0 ≤ v ≤ range, 0 below
//! ```
//!
//! Each hinge is a complementarity: `0 ≤ λ ⟂ λ − (v − a_k) ≥ 0`. For p-type transistors all voltages and the current are mirrored.
//! Source: Acary, Bonnefon & Brogliato, *Nonsmooth modeling and simulation for switched circuits*, 2011.

use std::f64::consts::SQRT_2;

/// Threshold, gain and hinges of a MOS transistor.
///
/// ```
/// use drystone::electronics::MosModel;
/// let model = MosModel::quadratic(1.0, 2e-3, 4.0, 3);
/// // half of K v², to 0.7 % of its largest value
/// let f: f64 = model.hinges.iter().map(|[a, s]| s * (3.0 - a).max(0.0)).sum();
/// assert!((f - 9.0).abs() < 0.11);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MosModel {
    /// Threshold V_t (V): positive for n-type, negative for p-type transistors of enhancement.
    pub threshold: f64,
    /// K (A/V²).
    pub gain: f64,
    /// Start a_k (V) and change of slope s_k (V) of each hinge of f.
    pub hinges: Vec<[f64; 2]>,
}

impl MosModel {
    /// The square law with this many hinges, whose errors over `range` (V, from the threshold on) are equal and least.
    ///
    /// ```text
    /// w = range / (2 + 2√2 (n − 1))     a = 0, (1 + √2) w, (1 + 3√2) w, …     s = 2w, 4√2 w, 4√2 w, …     |f − v²| ≤ w²
    /// ```
    pub fn quadratic(threshold: f64, gain: f64, range: f64, hinges: usize) -> Self {
        let w = range / (2.0 + 2.0 * SQRT_2 * (hinges.max(1) - 1) as f64);
        let hinge = |k: usize| if k == 0 { [0.0, 2.0 * w] } else { [(1.0 + (2 * k - 1) as f64 * SQRT_2) * w, 4.0 * SQRT_2 * w] };
        Self { threshold, gain, hinges: (0..hinges).map(hinge).collect() }
    }

    /// `I_DS` of an n-type transistor (A) at these voltages (V); for p-type call it with −v_GS, −v_GD, −V_t.
    pub fn current(&self, v_gs: f64, v_gd: f64) -> f64 {
        let f = |v: f64| self.hinges.iter().map(|[a, s]| s * (v - self.threshold - a).max(0.0)).sum::<f64>();
        0.5 * self.gain * (f(v_gs) - f(v_gd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_square_law_is_met_within_w_squared_over_the_whole_range() {
        for n in 1..7 {
            let (range, model) = (3.0, MosModel::quadratic(0.0, 2.0, 3.0, n));
            let w = range / (2.0 + 2.0 * SQRT_2 * (n - 1) as f64);
            let error = |k: u32| (model.current(range * f64::from(k) / 1000.0, -1.0) - (range * f64::from(k) / 1000.0).powi(2)).abs();
            let worst = (0..=1000).map(error).fold(0.0, f64::max);
            assert!(worst <= w * w * (1.0 + 1e-12) && worst > 0.99 * w * w, "{n} hinges: {worst} against {}", w * w);
            assert!(error(1000) < 1e-12);
        }
    }

    #[test]
    fn two_hinges_are_those_of_the_buck_converter() {
        let w = 1.0 / (2.0 * (1.0 + SQRT_2));
        let [[a, s], [b, r]] = MosModel::quadratic(2.0, 10.0, 1.0, 2).hinges[..] else { panic!("two hinges") };
        for (found, expected) in [(a, 0.0), (s, 2.0 * w), (b, (1.0 + SQRT_2) * w), (r, 4.0 * SQRT_2 * w)] {
            assert!((found - expected).abs() < 1e-15);
        }
    }
}
