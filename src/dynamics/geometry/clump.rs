//! Mass of balls that overlap: what two of them share counts once.
//!
//! ```text
//! ∫ f dV = ∫ dz ∫_{A(z)} f dA        A(z): union of the discs in which the plane cuts the balls
//! ```
//!
//! The area, its first and second moments are integrals along the arcs of the rim (Green), in closed form. Along z they are smooth between
//! the heights at which balls begin and end, the circles of two balls turn and three balls meet; there, with z = m − l cos t, by Gauss. To 1e-9
//! of the volume, worst where one ball all but covers another.

use glam::{DMat3, DVec3};
use std::f64::consts::{PI, TAU};

/// Nodes between two heights.
const NODES: usize = 24;

/// ∫ dA, ∫ x, ∫ y, ∫ x², ∫ y², ∫ xy over a plane figure.
type Area = [f64; 6];

/// Volume, first and second moments about the origin of the union of balls (centre, radius).
pub(super) fn moments(balls: &[(DVec3, f64)]) -> (f64, DVec3, DMat3) {
    let origin = balls.iter().map(|b| b.0).sum::<DVec3>() / balls.len() as f64;
    let balls: Vec<(DVec3, f64)> = balls.iter().map(|(c, r)| (*c - origin, *r)).collect();
    let heights = heights(&balls);
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    let gauss = gauss();
    let (mut discs, mut covered) = (Vec::new(), Vec::new());
    for ends in heights.windows(2) {
        let (middle, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
        for &(node, weight) in &gauss {
            let (s, c) = libm::sincos(0.5 * PI * (node + 1.0));
            let z = middle - half * c;
            let [a, x, y, xx, yy, xy] = union(&balls, z, &mut discs, &mut covered).map(|m| m * weight * 0.5 * PI * half * s);
            volume += a;
            first += DVec3::new(x, y, a * z);
            second += DMat3::from_cols(DVec3::new(xx, xy, x * z), DVec3::new(xy, yy, y * z), DVec3::new(x * z, y * z, a * z * z));
        }
    }
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let cross = outer(first, origin);
    (volume, first + volume * origin, second + cross + cross.transpose() + volume * outer(origin, origin))
}

/// Nodes and weights of Gauss and Legendre on −1 to 1.
fn gauss() -> [(f64, f64); NODES] {
    std::array::from_fn(|k| {
        let n = NODES as f64;
        let mut x = -libm::cos(PI * (k as f64 + 0.75) / (n + 0.5));
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut p, mut before) = (1.0, 0.0);
            for j in 0..NODES {
                let j = j as f64;
                (p, before) = (((2.0 * j + 1.0) * x * p - j * before) / (j + 1.0), p);
            }
            slope = n * (x * p - before) / (x * x - 1.0);
            x -= p / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

/// Where the figure changes, in ascending order.
fn heights(balls: &[(DVec3, f64)]) -> Vec<f64> {
    let mut heights: Vec<f64> = balls.iter().flat_map(|(c, r)| [c.z - r, c.z + r]).collect();
    for (i, (p, r)) in balls.iter().enumerate() {
        for (j, (q, s)) in balls.iter().enumerate().skip(i + 1) {
            let (way, d) = (q - p, p.distance(*q));
            // the plane of the circle of both, from p
            let at = 0.5 * (d + (r * r - s * s) / d);
            let square = r * r - at * at;
            if square > 0.0 {
                let (axis, middle) = (way / d, p + way * (at / d));
                let reach = square.sqrt() * (1.0 - axis.z * axis.z).max(0.0).sqrt();
                heights.extend([middle.z - reach, middle.z + reach]);
                for (third, t) in &balls[j + 1..] {
                    // the points of that circle on the third ball: (x − c)² = t², x = middle + ρ (u cos + v sin)
                    let (u, v) = axis.any_orthonormal_pair();
                    let (a, rho) = (middle - third, square.sqrt());
                    let (cu, cv) = (a.dot(u), a.dot(v));
                    let (amplitude, level) = (libm::hypot(cu, cv), (t * t - a.length_squared() - square) / (2.0 * rho));
                    if level.abs() < amplitude {
                        let (at, open) = (libm::atan2(cv, cu), libm::acos(level / amplitude));
                        for angle in [at - open, at + open] {
                            let (s, c) = libm::sincos(angle);
                            heights.push((middle + rho * (u * c + v * s)).z);
                        }
                    }
                }
            }
        }
    }
    heights.sort_by(f64::total_cmp);
    heights
}

/// Moments of the union of the discs at height z.
fn union(balls: &[(DVec3, f64)], z: f64, discs: &mut Vec<[f64; 3]>, covered: &mut Vec<[f64; 2]>) -> Area {
    discs.clear();
    for (c, r) in balls {
        let square = r * r - (z - c.z) * (z - c.z);
        if square > 0.0 {
            discs.push([c.x, c.y, square.sqrt()]);
        }
    }
    let mut sum = [0.0; 6];
    for (i, disc) in discs.iter().enumerate() {
        if hide(i, discs, covered) {
            continue;
        }
        covered.sort_by(|a, b| a[0].total_cmp(&b[0]));
        // what no other disc covers, from 0 to 2π
        let mut open = 0.0;
        for &[from, to] in covered.iter() {
            if from > open {
                arc(disc, open, from, &mut sum);
            }
            open = f64::max(open, to);
        }
        if open < TAU {
            arc(disc, open, TAU, &mut sum);
        }
    }
    sum
}

/// The parts of rim `i` within other discs; true where all of it is.
fn hide(i: usize, discs: &[[f64; 3]], covered: &mut Vec<[f64; 2]>) -> bool {
    covered.clear();
    let [x, y, r] = discs[i];
    for (j, &[u, v, s]) in discs.iter().enumerate() {
        let d = libm::hypot(u - x, v - y);
        if j == i || d >= r + s || d + s < r || (d + s <= r && j > i) {
            continue;
        }
        if d + r <= s {
            return true;
        }
        let half = libm::acos(((r * r + d * d - s * s) / (2.0 * d * r)).clamp(-1.0, 1.0));
        let from = (libm::atan2(v - y, u - x) - half).rem_euclid(TAU);
        let to = from + 2.0 * half;
        covered.push([from, to.min(TAU)]);
        if to > TAU {
            covered.push([0.0, to - TAU]);
        }
    }
    false
}

/// Adds ½∮ and ⅓∮ of an arc: ∫ x dy, ∫ ½x² dy, −∫ ½y² dx, ∫ ⅓x³ dy, −∫ ⅓y³ dx, ∫ ½x²y dy.
fn arc(&[a, b, r]: &[f64; 3], from: f64, to: f64, sum: &mut Area) {
    for (t, sign) in [(from, -1.0), (to, 1.0)] {
        let (s, c) = libm::sincos(t);
        let (c2, c3) = (0.5 * (t + s * c), s - s * s * s / 3.0);
        let c4 = 0.375 * t + s * c * (2.0 * c * c + 3.0) / 8.0;
        let (s2, s3) = (0.5 * (t - s * c), -c + c * c * c / 3.0);
        let s4 = 0.375 * t - s * c * (2.0 * s * s + 3.0) / 8.0;
        let squares = a * a * s + 2.0 * a * r * c2 + r * r * c3;
        let mixed = 0.5 * a * a * s * s - 2.0 / 3.0 * a * r * c * c * c - 0.25 * r * r * c * c * c * c;
        let parts = [
            r * (a * s + r * c2),
            0.5 * r * squares,
            0.5 * r * (2.0 * b * r * s2 - b * b * c + r * r * s3),
            r / 3.0 * (a * a * a * s + 3.0 * a * a * r * c2 + 3.0 * a * r * r * c3 + r * r * r * c4),
            r / 3.0 * (3.0 * b * b * r * s2 - b * b * b * c + 3.0 * b * r * r * s3 + r * r * r * s4),
            0.5 * r * (b * squares + r * mixed),
        ];
        sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += sign * part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;

    #[test]
    fn one_ball_and_two_that_overlap_have_their_closed_forms() {
        let (v, x, second) = moments(&[(DVec3::new(1.0, -2.0, 3.0), 0.5)]);
        let exact = 4.0 / 3.0 * PI * 0.125;
        assert!((v / exact - 1.0).abs() < 1e-13 && (x / v - DVec3::new(1.0, -2.0, 3.0)).length() < 1e-13);
        assert!((second.x_axis.x / v - 1.0 - 0.05).abs() < 1e-12 && (second.x_axis.y / v + 2.0).abs() < 1e-12);
        // two of radius 1 at the distance d share the lens π (4 + d)(2 − d)² / 12, whichever way they lie
        for axis in [DVec3::Z, DVec3::X, DVec3::new(0.6, 0.0, 0.8), DVec3::new(1.0, 2.0, -0.5).normalize()] {
            for d in [0.01, 0.7, 1.9, 2.5] {
                let (v, x, _) = moments(&[(DVec3::ZERO, 1.0), (axis * d, 1.0)]);
                let lens = if d < 2.0 { PI * (4.0 + d) * (2.0 - d) * (2.0 - d) / 12.0 } else { 0.0 };
                assert!((v / (8.0 / 3.0 * PI - lens) - 1.0).abs() < 1e-9, "{axis} {d}: {v}");
                assert!((x / v - axis * (0.5 * d)).length() < 1e-9, "{axis} {d}");
            }
        }
        // one within another, and the same one twice
        let (small, big) = ((DVec3::X * 0.2, 0.3), (DVec3::ZERO, 1.0));
        for set in [vec![big, small], vec![small, big], vec![big, big]] {
            assert!((moments(&set).0 / (4.0 / 3.0 * PI) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn any_clump_weighs_what_random_points_say_and_the_same_from_every_side() {
        let balls =
            [(DVec3::ZERO, 1.0), (DVec3::new(0.9, 0.3, -0.2), 0.7), (DVec3::new(0.4, 0.8, 0.5), 0.6), (DVec3::new(-0.5, 0.6, 0.9), 0.5)];
        let (v, x, second) = moments(&balls);
        let turn = glam::DQuat::from_rotation_x(0.7) * glam::DQuat::from_rotation_y(-1.1);
        let turned = moments(&balls.map(|(c, r)| (turn * c, r)));
        let r = DMat3::from_quat(turn);
        let difference = (r * second * r.transpose() - turned.2).to_cols_array();
        assert!((turned.0 / v - 1.0).abs() < 1e-9 && (turn * x - turned.1).length() < 1e-9 * v, "{v} {}", turned.0);
        assert!(difference.iter().all(|d| d.abs() < 1e-9 * v), "{difference:?}");
        let mut random = Sequence::new(3);
        let (n, side) = (200_000, 4.0);
        let mut point = || DVec3::from_array(std::array::from_fn(|_| random.next_between(-0.5 * side, 0.5 * side)));
        let inside: Vec<DVec3> = (0..n).map(|_| point()).filter(|p| balls.iter().any(|(c, r)| p.distance(*c) < *r)).collect();
        let part = inside.len() as f64 / f64::from(n);
        // four standard errors
        assert!((v / 64.0 - part).abs() < 4.0 * (part * (1.0 - part) / f64::from(n)).sqrt(), "{v} {}", 64.0 * part);
        assert!((x / v - inside.iter().sum::<DVec3>() / inside.len() as f64).length() < 4.0 * (1.0 / inside.len() as f64).sqrt());
    }
}
