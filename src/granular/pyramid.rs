//! A square pyramid of touching balls.
//!
//! Layer `k` of `n` is a square grid of `(n − k)²` balls with pitch 2 r, each in the hollow of four below it: `√2 r` higher.

use glam::DVec3;

/// Centres (m) of the `n(n+1)(2n+1)/6` balls of radius `radius`, layer by layer; the base stands on z = 0 about the z axis.
///
/// ```
/// let balls = drystone::granular::pyramid::centres(5, 0.02);
/// assert_eq!(balls.len(), 55);
/// assert!((balls[25].distance(balls[0]) - 0.04).abs() < 1e-16, "the first ball of layer 1 touches the first below");
/// ```
pub fn centres(n: usize, radius: f64) -> Vec<DVec3> {
    let layer = |k: usize| {
        let side = n - k;
        let start = -radius * (side as f64 - 1.0);
        let z = radius * (1.0 + std::f64::consts::SQRT_2 * k as f64);
        (0..side * side).map(move |i| DVec3::new(start + 2.0 * radius * (i % side) as f64, start + 2.0 * radius * (i / side) as f64, z))
    };
    (0..n).flat_map(layer).collect()
}
