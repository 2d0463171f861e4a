//! How forces of contacts are distributed, and in which directions they act.
//!
//! ```text
//! P(f/⟨f⟩)     density of normal forces over their mean: Σ P Δ = 1 over all bins
//! ρ(θ)         density of the directions of normals in a plane, over that of an even one: 1 on average; n and −n count as one,
//!              each by its part in the plane (by number), or times its force
//! ```

use std::f64::consts::PI;

/// Middles of bins (in mean forces) and the density of `forces` in each; as many bins of this width (in mean forces) as there are forces for.
/// Nothing without forces.
///
/// ```
/// use drystone::model::forces::density;
/// assert_eq!(density(&[1.0, 1.0, 4.0], 0.5), [[0.25, 0.0], [0.75, 2.0 / 1.5], [1.25, 0.0], [1.75, 0.0], [2.25, 1.0 / 1.5]]);
/// ```
pub fn density(forces: &[f64], width: f64) -> Vec<[f64; 2]> {
    let mean = forces.iter().sum::<f64>() / forces.len() as f64;
    let mut counts: Vec<f64> = Vec::new();
    for force in forces {
        let bin = (force / (mean * width)) as usize;
        counts.resize(counts.len().max(bin + 1), 0.0);
        counts[bin] += 1.0;
    }
    let all = forces.len() as f64 * width;
    counts.iter().enumerate().map(|(k, n)| [(k as f64 + 0.5) * width, n / all]).collect()
}

/// Densities by number and by force of the directions of normals in the plane of two axes, in so many bins of half a turn, the middle of the
/// first one along the first axis. None where no normal has a part in the plane, or nothing presses.
///
/// ```
/// use drystone::model::forces::rose;
/// let normals = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]];
/// assert_eq!(rose(normals.iter().zip([1.0, 3.0, 9.0]), [0, 2], 2), Some([vec![1.0, 1.0], vec![0.5, 1.5]]));
/// ```
pub fn rose<'a>(contacts: impl Iterator<Item = (&'a [f64; 3], f64)> + Clone, [a, b]: [usize; 2], bins: usize) -> Option<[Vec<f64>; 2]> {
    // what points out of the plane counts by its part in it
    let part = |n: &[f64; 3]| libm::hypot(n[a], n[b]);
    let all: f64 = contacts.clone().map(|(n, _)| part(n)).sum();
    let sum: f64 = contacts.clone().map(|(n, force)| part(n) * force).sum();
    if sum <= 0.0 {
        return None;
    }
    let mut found = [vec![0.0; bins], vec![0.0; bins]];
    for (n, force) in contacts {
        // the axes, along which walls press, are the middles of bins
        let angle = (libm::atan2(n[b], n[a]) + 0.5 * PI / bins as f64).rem_euclid(PI);
        let bin = ((angle / PI * bins as f64) as usize).min(bins - 1);
        found[0][bin] += part(n) / all * bins as f64;
        found[1][bin] += part(n) * force / sum * bins as f64;
    }
    Some(found)
}
