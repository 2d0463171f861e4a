//! Where the picture is taken from.
//!
//! ```text
//! local = (x right, y up, z ahead)     perspective: screen = centre + s (x/z, −y/z),   nearness 1/z
//!                                      parallel:    screen = centre + s (x, −y),       nearness −z
//! ```
//!
//! Nearness is linear on the screen for a plane in both cases, so one rasterizer serves the camera and the lights.

use crate::algebra::spatial::tangents;
use glam::{DVec2, DVec3};

/// Share of the screen that a fitted view fills.
const FILLED: f64 = 0.87;

/// Projection of the world on a screen; sizes in samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) origin: DVec3,
    pub(super) right: DVec3,
    pub(super) up: DVec3,
    pub(super) ahead: DVec3,
    /// Samples per unit of slope (perspective) or per metre (parallel).
    pub(super) scale: f64,
    pub(super) centre: DVec2,
    pub(super) perspective: bool,
    /// Nothing closer than this is drawn (m).
    pub(super) near: f64,
}

impl View {
    /// A parallel view of the sphere around `middle` on a square of `size` samples, looking along `ahead`.
    pub(super) fn parallel(ahead: DVec3, middle: DVec3, radius: f64, size: usize) -> Self {
        let (right, _) = tangents(ahead);
        let centre = DVec2::splat(0.5 * size as f64);
        let scale = centre.x / radius;
        Self { origin: middle, right, up: right.cross(ahead), ahead, scale, centre, perspective: false, near: f64::NEG_INFINITY }
    }

    /// The perspective view, looking along `ahead`, in which the given spheres just fill `size` samples
    /// but for a margin; `half_angle` is that of the wider side.
    ///
    /// A sphere (x, y, z; r) stays inside the right side of the frustum, whose apex is at c, when
    /// `x + r √(1+t²) − t z ≤ c_x − t c_z`; the four sides so give the largest c_z in closed form.
    pub(super) fn fitted(ahead: DVec3, spheres: &[(DVec3, f64)], size: [usize; 2], half_angle: f64) -> Self {
        let right = if ahead.z.abs() > 0.999 { DVec3::X } else { ahead.cross(DVec3::Z).normalize() };
        let up = right.cross(ahead);
        let size = DVec2::new(size[0] as f64, size[1] as f64);
        let scale = 0.5 * size.max_element() / half_angle.tan();
        let side = |axis: DVec3, extent: f64| {
            let t = 0.5 * FILLED * extent / scale;
            let reach = |sign: f64| {
                let bound = |&(x, r): &(DVec3, f64)| sign * x.dot(axis) + r * (1.0 + t * t).sqrt() - t * x.dot(ahead);
                spheres.iter().map(bound).fold(f64::NEG_INFINITY, f64::max)
            };
            let (high, low) = (reach(1.0), reach(-1.0));
            (0.5 * (high - low), -(high + low) / (2.0 * t))
        };
        let ((x, z_x), (y, z_y)) = (side(right, size.x), side(up, size.y));
        let z = z_x.min(z_y);
        let origin = x * right + y * up + z * ahead;
        let nearest = spheres.iter().map(|&(p, r)| (p - origin).dot(ahead) - r).fold(f64::INFINITY, f64::min);
        Self { origin, right, up, ahead, scale, centre: 0.5 * size, perspective: true, near: 0.05 * nearest }
    }

    pub(super) fn local(&self, world: DVec3) -> DVec3 {
        let d = world - self.origin;
        DVec3::new(d.dot(self.right), d.dot(self.up), d.dot(self.ahead))
    }

    pub(super) fn nearness(&self, depth: f64) -> f64 {
        if self.perspective { 1.0 / depth } else { -depth }
    }

    pub(super) fn screen(&self, local: DVec3) -> DVec2 {
        let s = if self.perspective { self.scale / local.z } else { self.scale };
        self.centre + s * DVec2::new(local.x, -local.y)
    }

    /// The local points behind a place on the screen: `start + depth · direction`.
    pub(super) fn ray(&self, screen: DVec2) -> (DVec3, DVec3) {
        let p = (screen - self.centre) / self.scale;
        if self.perspective { (DVec3::ZERO, DVec3::new(p.x, -p.y, 1.0)) } else { (DVec3::new(p.x, -p.y, 0.0), DVec3::Z) }
    }

    /// The world point behind a place on the screen.
    pub(super) fn point(&self, screen: DVec2, nearness: f64) -> DVec3 {
        let depth = self.nearness(nearness); // the map is its own inverse
        let (start, direction) = self.ray(screen);
        let p = start + depth * direction;
        self.origin + p.x * self.right + p.y * self.up + p.z * self.ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fitted_view_shows_everything_and_wastes_no_room() {
        let spheres: Vec<_> = (0..50).map(|k| (DVec3::new((k * 7 % 11) as f64, (k * 5 % 13) as f64, (k % 4) as f64), 0.5)).collect();
        let view = View::fitted(DVec3::new(-1.0, 2.0, -0.7).normalize(), &spheres, [800, 500], 0.25);
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for (x, r) in spheres {
            // the silhouette of a sphere, by its tangent cone
            let p = view.local(x);
            for (axis, value) in [(DVec2::X, p.x), (DVec2::Y, -p.y)] {
                let (angle, spread) = (value.atan2(p.z), (r / value.hypot(p.z)).asin());
                for a in [angle - spread, angle + spread] {
                    let at = view.centre + axis * view.scale * a.tan();
                    low = low.min(at);
                    high = high.max(at);
                }
            }
        }
        assert!(low.min_element() > 0.0 && high.x < 800.0 && high.y < 500.0);
        let filled = ((high - low) / DVec2::new(800.0, 500.0)).max_element();
        assert!((filled - FILLED).abs() < 1e-9, "{filled}");
        assert!((0.5 * (low + high) - view.centre).length() < 1e-9 * 800.0 + 0.5 * 80.0);
    }

    #[test]
    fn a_ray_goes_back_to_where_it_came_from() {
        let x = DVec3::new(0.3, -0.2, 0.5);
        let ahead = DVec3::new(1.0, 2.0, -1.0).normalize();
        for view in [View::fitted(ahead, &[(DVec3::ZERO, 1.0)], [64, 48], 0.3), View::parallel(ahead, DVec3::ONE, 2.0, 64)] {
            let local = view.local(x);
            assert!((view.point(view.screen(local), view.nearness(local.z)) - x).length() < 1e-12);
            assert!((view.right.cross(view.up) + view.ahead).length() < 1e-12, "right-handed, looking along −z of its own frame");
        }
    }
}
