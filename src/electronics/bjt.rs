//! Bipolar transistors by Ebers and Moll, in the transport form, with piecewise-linear junctions.
//!
//! ```text
//! I_F = f(v_BE),  I_R = f(v_BC)        f(v) = Σ_k s_k [v − a_k]₊ ≈ I_s (e^(v/V_T) − 1)
//! I_C = I_F − I_R − I_R/β_R            I_B = I_F/β_F + I_R/β_R            I_E = I_C + I_B
//! ```
//!
//! Each hinge is a complementarity, as those of MOS transistors are: `0 ≤ λ ⟂ λ − (v − a_k) ≥ 0`. For pnp transistors all voltages and
//! currents are mirrored. Sources: Ebers and Moll, *Large-signal behavior of junction transistors*, Proc. IRE 42, 1954; hinges as in
//! Acary, Bonnefon and Brogliato, *Nonsmooth modeling and simulation for switched circuits*, 2011.

/// Gains and junction law of a bipolar transistor.
///
/// ```
/// use drystone::electronics::BjtModel;
/// let model = BjtModel::exponential(1e-14, 100.0, 1.0, [1e-6, 1e-1], 18);
/// // forward active: V_T ln(I_C/I_s) = 0.655 V at 1 mA, and a base current of a hundredth
/// let [collector, base] = model.currents(0.655, -5.0);
/// assert!((collector / 1e-3 - 1.0).abs() < 0.07 && (base / collector - 0.01).abs() < 1e-12);
/// // a switch: nothing below 0.6 V, 0.1 Ω in the junctions above
/// let switch = BjtModel::switching(50.0, 1.0, 0.6, 0.1);
/// assert_eq!(switch.currents(0.5, -5.0), [0.0, 0.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BjtModel {
    /// β_F: collector current per base current, forward active.
    pub forward_gain: f64,
    /// β_R: the same with collector and emitter exchanged.
    pub reverse_gain: f64,
    /// Start a_k (V) and change of slope s_k (A/V) of each hinge of f.
    pub hinges: Vec<[f64; 2]>,
}

/// k T/q at 300 K (V).
const THERMAL: f64 = 0.025852;

impl BjtModel {
    /// The exponential `I_s e^(v/V_T)` at 300 K, V_T = 25.852 mV, by chords between currents (A) of `range` in equal ratios r, and a line
    /// to zero below.
    ///
    /// Chords lie above the curve: within the range the voltage at a given current is too small by up to 1.5 mV for r = 2, 16 mV for
    /// r = 10. Above the range the last chord goes on.
    pub fn exponential(saturation: f64, forward_gain: f64, reverse_gain: f64, range: [f64; 2], hinges: usize) -> Self {
        let [low, high] = range;
        let segments = hinges.max(2) - 1;
        let ratio = libm::pow(high / low, 1.0 / segments as f64);
        let current = |k: usize| low * libm::pow(ratio, k as f64);
        let voltage = |i: f64| THERMAL * libm::log(i / saturation);
        // the tangent at the least current reaches zero V_T before
        let mut slope = low / THERMAL;
        let mut list = vec![[voltage(low) - THERMAL, slope]];
        for k in 0..segments {
            let next = (current(k + 1) - current(k)) / (voltage(current(k + 1)) - voltage(current(k)));
            list.push([voltage(current(k)), next - slope]);
            slope = next;
        }
        Self { forward_gain, reverse_gain, hinges: list }
    }

    /// Junctions that conduct from a threshold (V) on, with a resistance (Ω, of the base current at β_F).
    pub fn switching(forward_gain: f64, reverse_gain: f64, threshold: f64, resistance: f64) -> Self {
        Self { forward_gain, reverse_gain, hinges: vec![[threshold, forward_gain / resistance]] }
    }

    /// Collector and base current of an npn transistor (A) at these voltages (V); for pnp call it with −v_BE, −v_BC.
    pub fn currents(&self, v_be: f64, v_bc: f64) -> [f64; 2] {
        let f = |v: f64| self.hinges.iter().map(|[a, s]| s * (v - a).max(0.0)).sum::<f64>();
        let (forward, reverse) = (f(v_be), f(v_bc));
        [forward - reverse - reverse / self.reverse_gain, forward / self.forward_gain + reverse / self.reverse_gain]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_meet_the_exponential_at_their_ends_and_stay_close_between() {
        let (saturation, range) = (1e-14, [1e-6, 1e-1]);
        for (segments, most) in [(5, 0.62), (10, 0.17), (17, 0.062)] {
            let model = BjtModel::exponential(saturation, 100.0, 1.0, range, segments + 1);
            let mut worst = 0.0f64;
            for k in 0..=1000u32 {
                let i = range[0] * (range[1] / range[0]).powf(f64::from(k) / 1000.0);
                let v = THERMAL * (i / saturation).ln();
                let [collector, _] = model.currents(v, -1.0);
                assert!(collector >= i * (1.0 - 1e-9), "a chord lies above: {collector} and {i}");
                // back to a voltage on the exponential
                worst = worst.max((collector / i).ln());
                if (k as usize * segments).is_multiple_of(1000) {
                    assert!((collector / i - 1.0).abs() < 1e-9, "{segments} chords, end {k}: {collector} and {i}");
                }
            }
            assert!(worst < most && worst > 0.9 * most, "{segments} chords: {worst} V_T");
        }
    }
}
