//! One patch for what lies in one plane.
//!
//! The parts of a compound that stand on one floor each bring their own corners. Of a rigid body only the corners of the outline of
//! them all matter: every pressure between can be carried there.

use glam::{DVec2, DVec3};

use super::clip::MOST_CORNERS;
use super::points::ContactPoint;
use crate::algebra::spatial::tangents;

/// Normals whose difference is below this are one.
const SAME_NORMAL: f64 = 1e-9;

/// Part of the size of a patch within which its points count as level, and below which a corner sticks out too little to be one.
const LEVEL: f64 = 1e-9;
const COLLINEAR: f64 = 1e-5;

/// Part by which triangles differ that are alike.
const ALIKE: f64 = 1e-6;

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct OutlineScratch {
    group: Vec<usize>,
    flat: Vec<DVec2>,
    order: Vec<usize>,
    corners: Vec<usize>,
    dropped: Vec<usize>,
    seen: Vec<bool>,
}

/// Reduces the points of `out[start..]` that share a contact plane to the corners of their outline, at most [`MOST_CORNERS`]; the
/// order of those that stay is kept.
pub(super) fn reduce(out: &mut Vec<ContactPoint>, start: usize, scratch: &mut OutlineScratch) {
    let OutlineScratch { group, flat, order, corners, dropped, seen } = scratch;
    seen.clear();
    seen.resize(out.len(), false);
    dropped.clear();
    for first in start..out.len() {
        if seen[first] {
            continue;
        }
        let ContactPoint { normal: n, point1: p1, point2: p2, .. } = out[first];
        // of one plane on either body
        let with_first = |p: &ContactPoint| {
            let height = n.dot(p.point1 - p1).abs().min(n.dot(p.point2 - p2).abs());
            (p.normal - n).length() <= SAME_NORMAL && height <= LEVEL * (p.point1 - p1).length()
        };
        group.clear();
        group.extend((first..out.len()).filter(|&i| !seen[i] && with_first(&out[i])));
        group.iter().for_each(|&i| seen[i] = true);
        if group.len() < 2 {
            continue;
        }
        // the plane whatever the order of the two bodies
        let up = if (n.x, n.y, n.z) < (0.0, 0.0, 0.0) { -n } else { n };
        let (t1, t2) = tangents(up);
        let middle = |p: &ContactPoint| 0.5 * (p.point1 + p.point2);
        flat.clear();
        let origin = middle(&out[first]);
        flat.extend(group.iter().map(|&i| middle(&out[i]) - origin).map(|x| DVec2::new(x.dot(t1), x.dot(t2))));
        let size = flat.iter().map(|x| x.length()).fold(0.0, f64::max);
        convex(flat, COLLINEAR * size, order, corners);
        if is_level(&|k| out[group[k]], flat, corners, up, LEVEL * size) {
            drop_to(flat, MOST_CORNERS, corners);
            dropped.extend((0..group.len()).filter(|k| !corners.contains(k)).map(|k| group[k]));
        }
    }
    if dropped.is_empty() {
        return;
    }
    dropped.sort_unstable();
    let mut index = 0;
    out.retain(|_| {
        index += 1;
        dropped.binary_search(&(index - 1)).is_err()
    });
}

/// Corners of the convex outline, counter-clockwise, without those that stick out by less than `tolerance` (Andrew's monotone chain).
fn convex(flat: &[DVec2], tolerance: f64, order: &mut Vec<usize>, corners: &mut Vec<usize>) {
    order.clear();
    order.extend(0..flat.len());
    order.sort_unstable_by(|&a, &b| flat[a].x.total_cmp(&flat[b].x).then(flat[a].y.total_cmp(&flat[b].y)).then(a.cmp(&b)));
    order.dedup_by(|b, a| (flat[*a] - flat[*b]).length() <= tolerance);
    corners.clear();
    if order.len() < 3 {
        return corners.extend_from_slice(order);
    }
    for backward in [false, true] {
        let floor = corners.len();
        for k in 0..order.len() {
            let i = if backward { order[order.len() - 1 - k] } else { order[k] };
            while corners.len() >= floor + 2 {
                let (a, b) = (flat[corners[corners.len() - 2]], flat[corners[corners.len() - 1]]);
                let base = flat[i] - a;
                if (b - a).perp_dot(base) > tolerance * base.length() {
                    break;
                }
                corners.pop();
            }
            corners.push(i);
        }
        corners.pop();
    }
}

/// Whether both surfaces are planes over the outline: heights along `up` are those of the plane through three of its corners, and on
/// a line those between its ends. What is not level (a step, a second plane below) is left alone.
fn is_level(point: &impl Fn(usize) -> ContactPoint, flat: &[DVec2], corners: &[usize], up: DVec3, tolerance: f64) -> bool {
    let heights = |k: usize| {
        let p = point(k);
        DVec2::new(up.dot(p.point1), up.dot(p.point2))
    };
    let (a, b) = match corners {
        [a, b, ..] => (*a, *b),
        _ => return (0..flat.len()).all(|k| (heights(k) - heights(0)).abs().max_element() <= tolerance),
    };
    let (ab, base) = (flat[b] - flat[a], heights(a));
    let farthest = corners.iter().copied().max_by(|&i, &j| ab.perp_dot(flat[i] - flat[a]).total_cmp(&ab.perp_dot(flat[j] - flat[a])));
    let c = farthest.unwrap_or(b);
    let ac = flat[c] - flat[a];
    let (area, rise_b, rise_c) = (ab.perp_dot(ac), heights(b) - base, heights(c) - base);
    (0..flat.len()).all(|k| {
        let x = flat[k] - flat[a];
        let expected = if corners.len() > 2 {
            base + rise_b * (x.perp_dot(ac) / area) + rise_c * (ab.perp_dot(x) / area)
        } else {
            base + rise_b * (x.dot(ab) / ab.length_squared())
        };
        (heights(k) - expected).abs().max_element() <= tolerance
    })
}

/// Drops the corners of least triangle with their neighbours until `most` are left.
fn drop_to(flat: &[DVec2], most: usize, corners: &mut Vec<usize>) {
    while corners.len() > most {
        let n = corners.len();
        let area = |k: usize| {
            let [a, b, c] = [k + n - 1, k, k + 1].map(|j| flat[corners[j % n]]);
            (b - a).perp_dot(c - b)
        };
        // of those that are alike but for rounding the first point; where the outline begins hangs on rounding too
        let least = (0..n).map(area).fold(f64::INFINITY, f64::min);
        let alike = (0..n).filter(|&k| area(k) <= least + ALIKE * least.abs());
        let Some(worst) = alike.min_by_key(|&k| corners[k]) else { return };
        corners.remove(worst);
    }
}
