//! Random velocities without a mean, as a gas has them.
//!
//! ```text
//! Σ m v = 0         Σ |v|² / 3N = a²        no direction is preferred; after some collisions speeds are Maxwell's
//! ```

use glam::DVec3;

use crate::algebra::random::Sequence;

/// Velocities (m/s) of grains of these masses (in any unit): components of root mean square `speed`, no momentum.
///
/// ```
/// let v = drystone::granular::agitation::agitated(&[0.01; 50], 0.3, 1);
/// let square: f64 = v.iter().map(|v| v.length_squared()).sum();
/// assert!((square / 150.0 - 0.09).abs() < 1e-15 && v.iter().sum::<glam::DVec3>().length() < 1e-13);
/// ```
pub fn agitated(masses: &[f64], speed: f64, seed: u64) -> Vec<DVec3> {
    // sizes and places of the same seed come from its own sequence
    let mut random = Sequence::new(seed ^ 0xA076_1D64_78BD_642F);
    let mut velocities: Vec<DVec3> =
        masses.iter().map(|_| DVec3::from_array(std::array::from_fn(|_| random.next_between(-1.0, 1.0)))).collect();
    let mean = velocities.iter().zip(masses).map(|(v, m)| *v * *m).sum::<DVec3>() / masses.iter().sum::<f64>();
    velocities.iter_mut().for_each(|v| *v -= mean);
    let square = velocities.iter().map(|v| v.length_squared()).sum::<f64>() / (3.0 * masses.len() as f64);
    // a single grain has lost all of its velocity
    let scale = if square > 0.0 { speed / square.sqrt() } else { 0.0 };
    velocities.iter().map(|v| *v * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gas_of_two_sizes_has_its_temperature_and_no_momentum() {
        let masses: Vec<f64> = (0..2000).map(|k| if k % 3 == 0 { 8e-6 } else { 1e-6 }).collect();
        let v = agitated(&masses, 0.5, 7);
        let momentum: DVec3 = v.iter().zip(&masses).map(|(v, m)| *v * *m).sum();
        let squares: DVec3 = v.iter().map(|v| *v * *v).sum::<DVec3>() / v.len() as f64;
        assert!(momentum.length() < 1e-15 && (squares.element_sum() / 3.0 - 0.25).abs() < 1e-12);
        // axes alike within the scatter of 2000 numbers
        assert!((squares - 0.25).abs().max_element() < 0.25 * 0.06, "{squares}");
        assert_ne!(v, agitated(&masses, 0.5, 8));
        assert_eq!(agitated(&[0.01], 0.5, 8), [DVec3::ZERO]);
    }
}
