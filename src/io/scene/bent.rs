//! Faces of blocks that are not plane.
//!
//! ```text
//! 1e-5 < angle between two triangles at their common edge < 0.02        a corner beside its plane by d: the block rocks on it
//! ```

use crate::geometry::Shape;
use crate::io::mesh::MeshData;
use glam::DVec3;
use std::collections::BTreeMap;

/// Angles (rad) of what is neither one plane nor an edge; STL files round to about 1e-6.
const BENT: [f64; 2] = [1e-5, 0.02];

/// Angle (rad) up to which two triangles that a polygon was cut into are meant to lie in one plane.
const WARPED: f64 = 0.2;

/// The same for the polygons of a model, which readers cut into fans: what is a corner too far out of its face to be told from an edge otherwise,
/// and makes the block concave where the cut falls inwards.
pub(super) fn warped(mesh: &MeshData) -> Option<(f64, DVec3)> {
    let fans = mesh.triangles.windows(2).filter(|t| t[0][0] == t[1][0] && t[0][2] == t[1][1]);
    let missed = fans.filter_map(|t| {
        let [a, b, c, d] = [t[0][0], t[0][1], t[0][2], t[1][2]].map(|i| mesh.vertices[i as usize]);
        let normal = |x: DVec3, y: DVec3| (x - a).cross(y - a).normalize_or_zero();
        let (one, two) = (normal(b, c), normal(c, d));
        let turned = one.dot(two) > 0.0 && (BENT[0]..WARPED).contains(&one.cross(two).length());
        turned.then(|| (one.dot(d - a).abs(), d))
    });
    missed.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// By how much (m) a corner misses the plane of its face, at most, and where.
pub(super) fn bent(shape: &Shape) -> Option<(f64, DVec3)> {
    let surface = shape.surface(3, 0.0);
    let corner = |i: u32| surface.vertices[i as usize];
    // vertices at one place are one, whatever their numbers
    let place = |i: u32| corner(i).to_array().map(f64::to_bits);
    let mut edges: BTreeMap<[[u64; 3]; 2], Vec<[u32; 3]>> = BTreeMap::new();
    for t in &surface.triangles {
        for k in 0..3 {
            let [a, b, c] = [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
            let ends = [place(a), place(b)];
            edges.entry([ends[0].min(ends[1]), ends[0].max(ends[1])]).or_default().push([a, b, c]);
        }
    }
    let mut worst: Option<(f64, DVec3)> = None;
    for pair in edges.values().filter(|pair| pair.len() == 2) {
        let normal = |t: &[u32; 3]| (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0])).normalize_or_zero();
        let [one, two] = [normal(&pair[0]), normal(&pair[1])];
        let angle = one.cross(two).length();
        if one.dot(two) > 0.0 && (BENT[0]..BENT[1]).contains(&angle) {
            let off = one.dot(corner(pair[1][2]) - corner(pair[0][0])).abs();
            if worst.is_none_or(|(most, _)| off > most) {
                worst = Some((off, corner(pair[1][2])));
            }
        }
    }
    worst
}
