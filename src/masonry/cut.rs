//! Openings cut into stones: whatever of them lies in a box is taken out.
//!
//! ```text
//! part \ box = ⋃ₖ part ∩ {inside the sides before k} ∩ {beyond side k}        at most six convex pieces, but slivers
//! P ∩ {x_k ≤ c} is the hull of its corners there and of the crossings of all lines between corners on either side
//! ```
//!
//! What of a stone still hangs together over an area is one stone; what the opening has parted are two.

use super::Stone;
use crate::algebra::spatial::tangents;
use glam::{DVec2, DVec3};

/// Distance that counts as none, in parts of the size of a stone; least thickness of what is left, in parts of its least one.
const NONE: f64 = 1e-9;
const SLIVER: f64 = 0.01;

/// A plane `x · n = d`.
type Plane = (DVec3, f64);

/// The stones without what lies between two corners (m, infinite ones leave a side open); those that do not reach into it are the same to the bit.
/// Slivers thinner than a hundredth of their stone go with the opening, and openings that would take no more than such a sliver take nothing.
///
/// ```
/// use drystone::masonry::{Stone, cut::cut};
/// use glam::{DVec2, DVec3};
/// let beam = Stone::prism(&[DVec2::ZERO, 3.0 * DVec2::X, DVec2::new(3.0, 1.0), DVec2::Y], [0.0, 1.0]);
/// // a notch leaves one stone of three parts, a slot parts it
/// let notch = cut(vec![beam.clone()], DVec3::new(1.0, -1.0, 0.5), DVec3::new(2.0, 2.0, 9.0));
/// assert_eq!((notch.len(), notch[0].parts.len()), (1, 3));
/// assert_eq!(cut(vec![beam], DVec3::new(1.0, -1.0, -1.0), DVec3::new(2.0, 2.0, 9.0)).len(), 2);
/// ```
pub fn cut(stones: Vec<Stone>, low: DVec3, high: DVec3) -> Vec<Stone> {
    let mut found = Vec::new();
    for stone in stones {
        let thin = SLIVER * extent(&stone.parts.concat()).min_element();
        let pieces: Vec<(usize, Option<Vec<Vec<DVec3>>>)> = stone.parts.iter().map(|p| pieces(p, low, high, thin)).enumerate().collect();
        if pieces.iter().all(|(_, pieces)| pieces.is_none()) {
            found.push(stone);
            continue;
        }
        let own = |(part, pieces): &(usize, Option<Vec<Vec<DVec3>>>)| -> Vec<(usize, Vec<DVec3>)> {
            let whole = || vec![stone.parts[*part].clone()];
            pieces.clone().unwrap_or_else(whole).into_iter().map(|piece| (*part, piece)).collect()
        };
        let all: Vec<(usize, Vec<DVec3>)> = pieces.iter().flat_map(own).collect();
        found.extend(lumps(&stone, &all, [low, high]));
    }
    found
}

/// What is left of a convex part, `None` where nothing of it lies in the box but what is `thin` (m).
fn pieces(part: &[DVec3], low: DVec3, high: DVec3, thin: f64) -> Option<Vec<Vec<DVec3>>> {
    let (mut rest, mut left) = (part.to_vec(), Vec::new());
    let near = NONE * size(part);
    for axis in 0..3 {
        for (at, sign) in [(low[axis], 1.0), (high[axis], -1.0)] {
            if at.is_finite() {
                let beyond = half(&rest, axis, at, -sign, near);
                rest = half(&rest, axis, at, sign, near)?;
                // a thin part would give the whole stone its length
                left.extend(beyond.filter(|piece| extent(piece)[axis] > thin));
            }
        }
    }
    (extent(&rest).min_element() > thin).then_some(left)
}

/// The part of a convex body where `sign (x_axis − at) ≥ 0`; `None` where it has no volume.
fn half(points: &[DVec3], axis: usize, at: f64, sign: f64, near: f64) -> Option<Vec<DVec3>> {
    let side = |p: &DVec3| sign * (p[axis] - at);
    if !points.iter().any(|p| side(p) > near) {
        return None;
    }
    if points.iter().all(|p| side(p) >= -near) {
        return Some(points.to_vec());
    }
    let mut kept: Vec<DVec3> = points.iter().filter(|p| side(p) > near).copied().collect();
    let mut edge: Vec<DVec3> = points.iter().filter(|p| side(p).abs() <= near).copied().collect();
    for p in points.iter().filter(|p| side(p) > near) {
        for q in points.iter().filter(|q| side(q) < -near) {
            let mut crossing = *p + (*q - *p) * (side(p) / (side(p) - side(q)));
            crossing[axis] = at;
            edge.push(crossing);
        }
    }
    let flat = |p: &DVec3| DVec2::new(p[(axis + 1) % 3], p[(axis + 2) % 3]);
    let outline = outline(edge.iter().map(flat).collect(), near);
    kept.extend(outline.into_iter().filter_map(|corner| edge.iter().find(|p| flat(p) == corner).copied()));
    Some(kept)
}

/// The corners of the convex hull of points in a plane, in order, without any along its edges.
fn outline(mut points: Vec<DVec2>, near: f64) -> Vec<DVec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup_by(|a, b| a.distance(*b) <= near);
    let half = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(p - b) <= near * (p - a).length()
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut hull = half(&mut points.iter().copied());
    hull.extend(half(&mut points.iter().rev().copied()));
    hull
}

/// Largest extent along an axis (m).
fn size(points: &[DVec3]) -> f64 {
    extent(points).max_element()
}

fn extent(points: &[DVec3]) -> DVec3 {
    let low = points.iter().fold(DVec3::INFINITY, |a, &b| a.min(b));
    points.iter().fold(DVec3::NEG_INFINITY, |a, &b| a.max(b)) - low
}

/// Pieces of a stone, each with the part that it comes from, as the stones that still hang together.
fn lumps(stone: &Stone, pieces: &[(usize, Vec<DVec3>)], sides: [DVec3; 2]) -> Vec<Stone> {
    let whole: Vec<DVec3> = stone.parts.concat();
    let near = 1e3 * NONE * size(&whole);
    let planes: Vec<Plane> = (0..6).map(|k| (DVec3::AXES[k % 3], sides[k / 3][k % 3])).filter(|p| p.1.is_finite()).collect();
    let joined = |a: &(usize, Vec<DVec3>), b: &(usize, Vec<DVec3>)| {
        let shared = if a.0 == b.0 { None } else { interface(&stone.parts[a.0], &stone.parts[b.0], near) };
        let mut over = planes.iter().filter(|_| a.0 == b.0).chain(shared.iter());
        over.any(|plane| meet(&a.1, &b.1, plane, near))
    };
    let mut group: Vec<usize> = (0..pieces.len()).collect();
    for i in 0..pieces.len() {
        for j in 0..i {
            if group[i] != group[j] && joined(&pieces[i], &pieces[j]) {
                let (from, to) = (group[i].max(group[j]), group[i].min(group[j]));
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
    }
    let thin = SLIVER * extent(&whole).min_element();
    let lump = |k: usize| Stone { parts: (0..pieces.len()).filter(|&i| group[i] == k).map(|i| pieces[i].1.clone()).collect() };
    let all = (0..pieces.len()).filter(|&k| group[k] == k).map(lump);
    all.filter(|lump| extent(&lump.parts.concat()).min_element() > thin).collect()
}

/// The plane in which two parts of a stone share three corners.
fn interface(a: &[DVec3], b: &[DVec3], near: f64) -> Option<Plane> {
    let shared: Vec<DVec3> = a.iter().filter(|p| b.iter().any(|q| p.distance(*q) <= near)).copied().collect();
    let normals = (2..shared.len()).map(|k| (shared[1] - shared[0]).cross(shared[k] - shared[0]));
    let normal = normals.max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))?.try_normalize()?;
    Some((normal, normal.dot(shared[0])))
}

/// Whether two convex bodies share an area of a plane.
fn meet(a: &[DVec3], b: &[DVec3], plane: &Plane, near: f64) -> bool {
    let (n, d) = *plane;
    let (u, v) = tangents(n);
    let face = |points: &[DVec3]| {
        let on = points.iter().filter(|p| (n.dot(**p) - d).abs() <= near).map(|p| DVec2::new(u.dot(*p), v.dot(*p)));
        outline(on.collect(), 0.0)
    };
    let (mut left, cutter) = (face(a), face(b));
    if left.len() < 3 || cutter.len() < 3 {
        return false;
    }
    for k in 0..cutter.len() {
        let (from, to) = (cutter[k], cutter[(k + 1) % cutter.len()]);
        let side = |p: DVec2| (to - from).perp_dot(p - from);
        let mut inside = Vec::new();
        for (i, &p) in left.iter().enumerate() {
            let q = left[(i + 1) % left.len()];
            if side(p) >= 0.0 {
                inside.push(p);
            }
            if side(p) * side(q) < 0.0 {
                inside.push(p.lerp(q, side(p) / (side(p) - side(q))));
            }
        }
        left = inside;
    }
    let area: f64 = (1..left.len().saturating_sub(1)).map(|i| 0.5 * (left[i] - left[0]).perp_dot(left[i + 1] - left[0])).sum();
    area > near * near.max(1e-2 * size(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masonry::arch::{Arch, Form};
    use crate::masonry::cross_vault::CrossVault;

    /// Volume of the hull of points: pyramids from the middle on its faces, which are the planes of three points with all others on one side.
    fn volume(points: &[DVec3]) -> f64 {
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        let near = 1e-9 * size(points);
        let mut planes: Vec<Plane> = Vec::new();
        for i in 0..points.len() {
            for j in 0..i {
                for k in 0..j {
                    let Some(n) = (points[j] - points[i]).cross(points[k] - points[i]).try_normalize() else { continue };
                    for n in [n, -n] {
                        let d = n.dot(points[i]);
                        let outer = points.iter().all(|p| n.dot(*p) <= d + near);
                        if outer && !planes.iter().any(|p| p.0.dot(n) > 1.0 - 1e-9 && (p.1 - d).abs() <= near) {
                            planes.push((n, d));
                        }
                    }
                }
            }
        }
        let face = |(n, d): &Plane| {
            let (u, v) = tangents(*n);
            let on = points.iter().filter(|p| (n.dot(**p) - d).abs() <= near).map(|p| DVec2::new(u.dot(*p), v.dot(*p))).collect();
            let corners = outline(on, 0.0);
            let area: f64 =
                (1..corners.len().saturating_sub(1)).map(|i| 0.5 * (corners[i] - corners[0]).perp_dot(corners[i + 1] - corners[0])).sum();
            area * (d - n.dot(middle)) / 3.0
        };
        planes.iter().map(face).sum()
    }

    fn volumes(stones: &[Stone]) -> f64 {
        stones.iter().flat_map(|s| &s.parts).map(|p| volume(p)).sum()
    }

    #[test]
    fn what_is_cut_out_and_what_is_left_make_up_the_whole() {
        let arch =
            Arch { form: Form::Circular { radius: 3.0, angle: std::f64::consts::PI }, voussoirs: 9, thickness: 0.4, faces: 2, depth: 1.0 };
        let vault = CrossVault { arch: arch.clone(), reach: 3.3, stone: 1.0 }.stones();
        for stones in [arch.rings(1), vault] {
            let whole = volumes(&stones);
            for (low, high) in [
                (DVec3::new(-0.7, -0.3, 0.0), DVec3::new(1.3, 0.2, 9.0)),
                (DVec3::new(2.1, -9.0, 0.3), DVec3::new(9.0, 0.1, 1.9)),
                (DVec3::new(-9.0, -9.0, f64::NEG_INFINITY), DVec3::new(9.0, 9.0, 1.1)),
            ] {
                let left = cut(stones.clone(), low, high);
                // the complement: what each of the six sides of the box leaves beyond it, taken out one after the other
                let far = f64::INFINITY;
                let mut inside = stones.clone();
                for axis in 0..3 {
                    let mut from = DVec3::splat(-far);
                    from[axis] = high[axis];
                    inside = if high[axis].is_finite() { cut(inside, from, DVec3::splat(far)) } else { inside };
                    let mut to = DVec3::splat(far);
                    to[axis] = low[axis];
                    inside = if low[axis].is_finite() { cut(inside, DVec3::splat(-far), to) } else { inside };
                }
                let sum = volumes(&left) + volumes(&inside);
                assert!(volumes(&left) < 0.999 * whole && volumes(&inside) > 1e-3 * whole, "nothing was cut");
                assert!((sum / whole - 1.0).abs() < 1e-3, "{low} {high}: {sum} of {whole}");
            }
        }
    }

    #[test]
    fn stones_beside_an_opening_keep_their_bits_and_those_in_it_are_gone() {
        let arch =
            Arch { form: Form::Circular { radius: 3.0, angle: std::f64::consts::PI }, voussoirs: 9, thickness: 0.4, faces: 1, depth: 1.0 };
        let stones = arch.rings(1);
        // the keystone is 1.0 to 1.1 m wide
        let left = cut(stones.clone(), DVec3::new(-0.3, -9.0, 0.0), DVec3::new(0.3, 9.0, 9.0));
        assert_eq!(
            (left.len(), left.iter().filter(|s| stones.contains(s)).count()),
            (10, 8),
            "the keystone is parted, the others are whole"
        );
        let left = cut(stones.clone(), DVec3::new(-0.7, -9.0, 0.0), DVec3::new(0.7, 9.0, 9.0));
        assert_eq!(
            (left.len(), left.iter().filter(|s| stones.contains(s)).count()),
            (8, 6),
            "the keystone is gone, its neighbours are cut"
        );
        assert!(cut(stones.clone(), DVec3::splat(-99.0), DVec3::splat(99.0)).is_empty());
        assert_eq!(cut(stones.clone(), DVec3::splat(50.0), DVec3::splat(99.0)), stones);
    }

    #[test]
    fn an_opening_leaves_no_slivers_of_a_stone_and_none_that_it_only_touches_is_cut() {
        let stone = Stone::prism(&[DVec2::ZERO, 3.0 * DVec2::X, DVec2::new(3.0, 1.0), DVec2::Y], [0.0, 1.0]);
        // a hundredth of the stone is 10 mm
        for (sliver, parts) in [(3e-4, 2), (9e-3, 2), (11e-3, 3)] {
            let left = cut(vec![stone.clone()], DVec3::new(1.0, -1.0, 0.2), DVec3::new(2.0, 2.0, 1.0 - sliver));
            let thickness = left.iter().flat_map(|s| &s.parts).map(|part| extent(part).min_element()).fold(f64::INFINITY, f64::min);
            assert_eq!(left.iter().map(|s| s.parts.len()).sum::<usize>(), parts + 1, "{sliver}");
            assert!(thickness > SLIVER, "{sliver}: {thickness}");
            let touched = cut(vec![stone.clone()], DVec3::new(3.0 - sliver, 0.2, 0.2), DVec3::splat(9.0));
            assert_eq!(touched[0] == stone, sliver < SLIVER, "{sliver}");
        }
    }
}
