//! A hilly ground as a triangle mesh.

use std::f64::consts::TAU;

use glam::DVec3;

/// Height (m) of the ground at (x, y): a bowl with waves of 0.9, 0.57 and 0.33 m.
///
/// ```
/// use drystone::granular::terrain::height;
/// assert!(height(1.0, 1.0) > height(0.0, 0.0), "grains gather in the middle");
/// ```
pub fn height(x: f64, y: f64) -> f64 {
    let waves = 0.045 * libm::sin(TAU * x / 0.9) * libm::cos(TAU * y / 0.9 + 0.7)
        + 0.02 * libm::sin(TAU * (x + 0.6 * y) / 0.57)
        + 0.008 * libm::cos(TAU * (y - 0.4 * x) / 0.33);
    0.12 * (x * x + y * y) + waves
}

/// Vertices and triangles (normals up) of the ground over a square of side `side` (m) with `cells` × `cells` cells, centred.
///
/// ```
/// let (vertices, triangles) = drystone::granular::terrain::hills(2.0, 4);
/// assert_eq!((vertices.len(), triangles.len()), (25, 32));
/// ```
pub fn hills(side: f64, cells: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let n = cells + 1;
    let coordinate = |k: u32| side * (f64::from(k) / f64::from(cells) - 0.5);
    let vertex = |i: u32| {
        let (x, y) = (coordinate(i % n), coordinate(i / n));
        DVec3::new(x, y, height(x, y))
    };
    let cell = |i: u32| {
        let a = i / cells * n + i % cells;
        // the diagonal alternates, so that ridges have no preferred direction
        if (i / cells + i % cells).is_multiple_of(2) {
            [[a, a + 1, a + n + 1], [a, a + n + 1, a + n]]
        } else {
            [[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]
        }
    };
    ((0..n * n).map(vertex).collect(), (0..cells * cells).flat_map(cell).collect())
}
