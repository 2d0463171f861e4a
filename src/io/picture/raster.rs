//! Which solid each sample of a screen sees: triangles, exact balls and planes in a depth buffer.
//!
//! Of the crates for this, `euc` is the one to look at: it works in f32 on another vector library and stops at
//! triangles; shadows, exact balls and lines would still be ours, and are most of the work.

use super::view::View;
use glam::{DVec2, DVec3};
use rayon::prelude::*;

/// What can be drawn, in the world.
#[derive(Clone, Copy, Debug)]
pub(super) enum Solid {
    /// Seen only from the side where its corners run counter-clockwise.
    Triangle {
        corners: [DVec3; 3],
        normals: [DVec3; 3],
    },
    Ball {
        centre: DVec3,
        radius: f64,
    },
    /// Seen from the side of its normal.
    Plane {
        point: DVec3,
        normal: DVec3,
    },
}

impl Solid {
    /// Outward normal at a point of its surface.
    pub(super) fn normal(&self, at: DVec3) -> DVec3 {
        match *self {
            Self::Ball { centre, .. } => (at - centre).normalize_or_zero(),
            Self::Plane { normal, .. } => normal,
            Self::Triangle { corners: [a, b, c], normals: [n_a, n_b, n_c] } => {
                let n = (b - a).cross(c - a);
                let weight = |p: DVec3, q: DVec3| n.dot((p - at).cross(q - at)).max(0.0);
                (weight(b, c) * n_a + weight(c, a) * n_b + weight(a, b) * n_c).try_normalize().unwrap_or(n_a)
            }
        }
    }
}

/// No solid at all.
pub(super) const NOTHING: u32 = u32::MAX;

/// Depth buffer: nearness and index of the nearest solid at the centre of each sample, row by row.
#[derive(Debug)]
pub(super) struct Raster {
    pub(super) nearest: Vec<(f32, u32)>,
}

/// A solid as the view sees it, with the rows it can touch.
enum Flat {
    /// Half planes `e·(x, y, 1) ≥ 0` and nearness `n·(x, y, 1)`, over a rectangle.
    Polygon {
        edges: [DVec3; 3],
        nearness: DVec3,
        low: DVec2,
        high: DVec2,
        clipped: bool,
    },
    Ball {
        centre: DVec3,
        radius: f64,
        low: DVec2,
        high: DVec2,
    },
    Plane {
        distance: f64,
        normal: DVec3,
    },
}

impl Raster {
    pub(super) fn new(view: &View, width: usize, height: usize, solids: &[Solid]) -> Self {
        let mut flat: Vec<(u32, Flat)> = (0u32..).zip(solids).filter_map(|(k, solid)| Some((k, Flat::new(view, solid)?))).collect();
        // what is in front first: most of what it hides is then passed over
        flat.sort_by(|(_, a), (_, b)| a.front().total_cmp(&b.front()));
        let mut nearest = vec![(f32::NEG_INFINITY, NOTHING); width * height];
        let rows = 16;
        nearest.par_chunks_mut(rows * width).enumerate().for_each(|(band, samples)| {
            let first = band * rows;
            for (k, flat) in &flat {
                flat.draw(view, *k, first, width, samples);
            }
        });
        Self { nearest }
    }
}

impl Flat {
    fn new(view: &View, solid: &Solid) -> Option<Self> {
        match *solid {
            Solid::Plane { point, normal } => {
                let turned = DVec3::new(normal.dot(view.right), normal.dot(view.up), normal.dot(view.ahead));
                let distance = turned.dot(view.local(point));
                (!view.perspective || distance < 0.0).then_some(Self::Plane { distance, normal: turned })
            }
            Solid::Ball { centre, radius } => {
                let centre = view.local(centre);
                if centre.z - radius <= view.near {
                    return None;
                }
                let (low, high) = ball_bounds(view, centre, radius);
                Some(Self::Ball { centre, radius, low, high })
            }
            Solid::Triangle { corners, .. } => Self::triangle(view, corners.map(|x| view.local(x))),
        }
    }

    fn triangle(view: &View, p: [DVec3; 3]) -> Option<Self> {
        let behind = p.iter().filter(|x| x.z <= view.near).count();
        if behind == 3 {
            return None;
        }
        let normal = (p[1] - p[0]).cross(p[2] - p[0]);
        if !view.perspective {
            // towards the viewer is −z
            if normal.z <= 0.0 {
                return None;
            }
        } else if normal.dot(p[0]) <= 0.0 {
            return None;
        }
        // Homogeneous rasterization: the edge through two corners and the eye is a plane through the origin, a line on
        // the screen, also where a corner is behind the eye. Signs below are for x to the right and y down.
        let line = |m: DVec3| {
            // m·(X, Y, Z) with X = (x − c_x)/s · Z, Y = −(y − c_y)/s · Z
            DVec3::new(m.x / view.scale, -m.y / view.scale, m.z - (m.x * view.centre.x - m.y * view.centre.y) / view.scale)
        };
        let edge = |a: DVec3, b: DVec3, opposite: DVec3| {
            let m = if view.perspective {
                a.cross(b)
            } else {
                let d = b - a;
                DVec3::new(-d.y, d.x, d.y * a.x - d.x * a.y)
            };
            let inside = if view.perspective { m.dot(opposite) } else { m.x * opposite.x + m.y * opposite.y + m.z };
            line(m * inside.signum())
        };
        let edges = [edge(p[0], p[1], p[2]), edge(p[1], p[2], p[0]), edge(p[2], p[0], p[1])];
        // plane: n·X = n·p0; perspective 1/Z = n·ray / n·p0, parallel −Z = (n_x X + n_y Y − n·p0)/n_z
        let offset = normal.dot(p[0]);
        let nearness = if view.perspective {
            line(normal / offset)
        } else {
            line(DVec3::new(normal.x / normal.z, normal.y / normal.z, -offset / normal.z))
        };
        let clipped = behind > 0;
        let (low, high) = if clipped {
            (DVec2::NEG_INFINITY, DVec2::INFINITY)
        } else {
            let s = p.map(|x| view.screen(x));
            (s[0].min(s[1]).min(s[2]), s[0].max(s[1]).max(s[2]))
        };
        Some(Self::Polygon { edges, nearness, low, high, clipped })
    }

    /// Depth from which on it may be drawn.
    fn front(&self) -> f64 {
        match *self {
            Self::Polygon { .. } => f64::NEG_INFINITY,
            Self::Ball { centre, radius, .. } => centre.z - radius,
            Self::Plane { .. } => f64::INFINITY,
        }
    }

    /// Draws into a band of rows that begins at `first`.
    fn draw(&self, view: &View, k: u32, first: usize, width: usize, samples: &mut [(f32, u32)]) {
        let rows = samples.len() / width;
        let limit = if view.near > 0.0 { 1.0 / view.near } else { f64::INFINITY };
        let see = |sample: &mut (f32, u32), nearness: f64| {
            if nearness < limit && nearness as f32 > sample.0 {
                *sample = (nearness as f32, k);
            }
        };
        let range = |low: f64, high: f64, first: usize, count: usize| {
            // casts saturate: below zero is 0, infinity the largest number
            let (from, to) = ((low - 0.5).ceil().max(0.0) as usize, (high + 0.5).floor().max(0.0) as usize);
            let to = to.min(first + count).max(first) - first;
            (from.max(first) - first).min(to)..to
        };
        let place = |row: usize, column: usize| DVec2::new(column as f64 + 0.5, (first + row) as f64 + 0.5);
        match *self {
            Self::Polygon { edges, nearness, low, high, clipped } => {
                for row in range(low.y, high.y, first, rows) {
                    for column in range(low.x, high.x, 0, width) {
                        let at = place(row, column).extend(1.0);
                        if edges.iter().all(|edge| edge.dot(at) >= 0.0) {
                            let n = nearness.dot(at);
                            if !clipped || n > 0.0 {
                                see(&mut samples[row * width + column], n);
                            }
                        }
                    }
                }
            }
            Self::Ball { centre, radius, low, high } => {
                let (most, middle, size) = (view.nearness(self.front()) as f32, view.screen(centre), radius * view.scale);
                for row in range(low.y, high.y, first, rows) {
                    // of a parallel view, the square of the half chord of this row
                    let chord = size * size - (place(row, 0).y - middle.y).powi(2);
                    let columns = range(low.x, high.x, 0, width);
                    for (column, sample) in columns.clone().zip(&mut samples[row * width..][columns]) {
                        if sample.0 >= most {
                            continue;
                        }
                        let at = place(row, column);
                        if view.perspective {
                            let (start, d) = view.ray(at);
                            let (a, b, c) = (d.dot(d), d.dot(centre - start), (centre - start).length_squared() - radius * radius);
                            let root = b * b - a * c;
                            if root >= 0.0 {
                                see(sample, view.nearness((b - root.sqrt()) / a));
                            }
                        } else {
                            let root = chord - (at.x - middle.x).powi(2);
                            if root >= 0.0 {
                                see(sample, view.nearness(centre.z - root.sqrt() / view.scale));
                            }
                        }
                    }
                }
            }
            Self::Plane { distance, normal } => {
                for row in 0..rows {
                    for column in 0..width {
                        let (start, d) = view.ray(place(row, column));
                        let slope = normal.dot(d);
                        let depth = (distance - normal.dot(start)) / slope;
                        if slope < 0.0 && depth > view.near {
                            see(&mut samples[row * width + column], view.nearness(depth));
                        }
                    }
                }
            }
        }
    }
}

/// The rectangle on the screen that holds a ball (local centre).
fn ball_bounds(view: &View, centre: DVec3, radius: f64) -> (DVec2, DVec2) {
    if !view.perspective {
        let (at, r) = (view.screen(centre), radius * view.scale);
        return (at - r, at + r);
    }
    let side = |value: f64| {
        let (angle, spread) = (value.atan2(centre.z), (radius / value.hypot(centre.z)).asin());
        ((angle - spread).tan(), (angle + spread).tan())
    };
    let ((x0, x1), (y0, y1)) = (side(centre.x), side(-centre.y));
    (view.centre + view.scale * DVec2::new(x0, y0), view.centre + view.scale * DVec2::new(x1, y1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::snapshot::Surface;

    fn triangles(surface: &Surface, at: DVec3) -> Vec<Solid> {
        let corner = |i: u32| at + surface.vertices[i as usize];
        surface.triangles.iter().map(|t| Solid::Triangle { corners: t.map(corner), normals: [DVec3::Z; 3] }).collect()
    }

    /// What an exact ball and a fine globe in its place look like, from a camera and from a light.
    #[test]
    fn a_ball_and_its_triangulation_cover_the_same_samples() {
        let ahead = DVec3::new(0.4, 1.0, -0.5).normalize();
        let at = DVec3::new(0.3, 0.1, -0.2);
        let views = [
            View::fitted(ahead, &[(DVec3::ZERO, 2.0)], [200, 150], 0.3),
            View { near: f64::NEG_INFINITY, ..View::parallel(ahead, DVec3::ZERO, 2.0, 150) },
        ];
        for view in views {
            let exact = Raster::new(&view, 150, 150, &[Solid::Ball { centre: at, radius: 1.0 }]);
            let facets = Raster::new(&view, 150, 150, &triangles(&Surface::ball(1.0, 128), at));
            let seen = |raster: &Raster| raster.nearest.iter().filter(|s| s.1 != NOTHING).count() as f64;
            assert!(seen(&exact) > 3000.0 && (seen(&facets) / seen(&exact) - 1.0).abs() < 0.01);
            let mut compared = 0;
            for ((a, _), (b, _)) in exact.nearest.iter().zip(&facets.nearest).filter(|(a, b)| a.1 != NOTHING && b.1 != NOTHING) {
                let depth = |n: f32| view.nearness(f64::from(n));
                compared += usize::from((depth(*a) - depth(*b)).abs() < 0.02);
            }
            assert!(compared as f64 > 0.98 * seen(&exact));
        }
    }

    #[test]
    fn what_lies_beside_or_across_the_rim_of_the_screen_is_drawn_as_far_as_it_is_on_it() {
        let view = View { near: f64::NEG_INFINITY, ..View::parallel(DVec3::Y, DVec3::ZERO, 2.0, 100) };
        for (x, seen) in [(2.0, true), (-2.0, true), (3.0, false), (-3.0, false), (90.0, false)] {
            for centre in [DVec3::X * x, DVec3::Z * x] {
                let raster = Raster::new(&view, 100, 100, &[Solid::Ball { centre, radius: 0.5 }]);
                assert_eq!(raster.nearest.iter().any(|sample| sample.1 == 0), seen, "{centre}");
            }
        }
    }

    #[test]
    fn what_is_nearer_hides_what_is_behind_in_any_order() {
        let view = View::fitted(DVec3::Y, &[(DVec3::ZERO, 2.0)], [64, 64], 0.3);
        let near = Solid::Ball { centre: -DVec3::Y, radius: 0.5 };
        let far = Solid::Ball { centre: DVec3::Y, radius: 0.6 };
        let ground = Solid::Plane { point: -DVec3::Z, normal: DVec3::Z };
        let middle = 32 * 64 + 32;
        assert_eq!(Raster::new(&view, 64, 64, &[near, far, ground]).nearest[middle].1, 0);
        assert_eq!(Raster::new(&view, 64, 64, &[ground, far, near]).nearest[middle].1, 2);
        assert_eq!(Raster::new(&view, 64, 64, &[ground]).nearest[62 * 64 + 32].1, 0);
    }

    #[test]
    fn a_triangle_that_reaches_behind_the_eye_is_still_seen_in_front() {
        let view = View::fitted(DVec3::Y, &[(DVec3::ZERO, 2.0)], [64, 64], 0.3);
        let corners = [DVec3::new(-900.0, -900.0, -1.0), DVec3::new(900.0, -900.0, -1.0), DVec3::new(0.0, 1500.0, -1.0)];
        let raster = Raster::new(&view, 64, 64, &[Solid::Triangle { corners, normals: [DVec3::Z; 3] }]);
        let plane = Raster::new(&view, 64, 64, &[Solid::Plane { point: -DVec3::Z, normal: DVec3::Z }]);
        let at = 60 * 64 + 20;
        assert_eq!(raster.nearest[at].1, 0);
        assert!((raster.nearest[at].0 - plane.nearest[at].0).abs() < 1e-6);
        assert_eq!(raster.nearest[5 * 64 + 20].1, NOTHING);
    }
}
