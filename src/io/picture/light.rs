//! Sun and sky as many small lights, each with its own map of what it reaches.
//!
//! ```text
//! E(x, n) = Σ_l  c_l  max(0, n·l)  visible(x, l)   +   bounce (1 − n_z)/2
//! ```
//!
//! The sun's lights stand close together: shadows with soft rims. Those of the sky cover the upper half space:
//! crevices and the ground under bodies are dark because they see little of it.

use super::raster::{Raster, Solid};
use super::view::View;
use crate::algebra::spatial::tangents;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

const SUNS: usize = 28;
const SUN_RADIUS: f64 = 0.04;
const SUN_MAP: usize = 1400;
const SKIES: usize = 64;
const SKY_MAP: usize = 700;

/// All lights of a picture.
#[derive(Debug)]
pub(super) struct Lights(Vec<Light>);

#[derive(Debug)]
struct Light {
    towards: DVec3,
    colour: Vec3,
    view: View,
    /// Nearness of what each sample of a square map of this width sees.
    map: Vec<f32>,
    width: usize,
    /// How far off its surface a point is looked up, so that nothing shades itself (m).
    lift: f64,
}

impl Lights {
    /// Lights for the solids within `radius` of `middle`; farther out nothing is in shadow.
    pub(super) fn new(sun: DVec3, solids: &[Solid], middle: DVec3, radius: f64) -> Self {
        let golden = PI * (3.0 - 5f64.sqrt());
        let (right, up) = tangents(sun);
        // Vogel's spiral: points of equal share of a disc, or by height of a half sphere
        let suns = (0..SUNS).map(|k| {
            let (r, (s, c)) = (SUN_RADIUS * ((k as f64 + 0.5) / SUNS as f64).sqrt(), (golden * k as f64).sin_cos());
            ((sun + r * (c * right + s * up)).normalize(), Vec3::new(1.0, 0.95, 0.87) * (0.88 / SUNS as f32), SUN_MAP)
        });
        let skies = (0..SKIES).map(|k| {
            let z = (k as f64 + 0.5) / SKIES as f64;
            let (s, c) = (golden * k as f64 + 0.1 * TAU).sin_cos();
            let r = (1.0 - z * z).sqrt();
            // the mean of n·l over a half sphere is ½
            (DVec3::new(r * c, r * s, z), Vec3::new(0.90, 0.96, 1.06) * (0.56 * 2.0 / SKIES as f32), SKY_MAP)
        });
        let all: Vec<_> = suns.chain(skies).collect();
        let light = |&(towards, colour, size): &(DVec3, Vec3, usize)| {
            let view = View::parallel(-towards, middle, radius, size);
            let map = Raster::new(&view, size, size, solids).nearest.iter().map(|sample| sample.0).collect();
            Light { towards, colour, map, width: size, view, lift: 1.6 / view.scale }
        };
        Self(all.par_iter().map(light).collect())
    }

    /// Light that arrives at points of surfaces with these normals, light by light: neighbours look at neighbouring samples of a map.
    pub(super) fn arriving(&self, surfaces: &[(DVec3, DVec3)]) -> Vec<Vec3> {
        let bounce = |&(_, normal): &(DVec3, DVec3)| Vec3::new(0.24, 0.22, 0.20) * (0.5 - 0.5 * normal.z) as f32;
        let mut sums: Vec<Vec3> = surfaces.iter().map(bounce).collect();
        for light in &self.0 {
            for (sum, &(point, normal)) in sums.iter_mut().zip(surfaces) {
                let cosine = normal.dot(light.towards);
                if cosine > 0.0 {
                    *sum += light.colour * (cosine as f32 * light.reaching(point + light.lift * normal));
                }
            }
        }
        sums
    }
}

impl Light {
    /// Share of the light that arrives at a point: the four samples around it, by their distance.
    fn reaching(&self, point: DVec3) -> f32 {
        let local = self.view.local(point);
        let at = self.view.screen(local) - 0.5;
        let (x, y) = (at.x as usize, at.y as usize);
        let width = self.width;
        if at.x < 0.0 || at.y < 0.0 || x + 1 >= width || y + 1 >= width {
            return 1.0;
        }
        let nearness = self.view.nearness(local.z - 0.3 * self.lift) as f32;
        let lit = |k: usize| if self.map[k] <= nearness { 1.0 } else { 0.0 };
        let (u, v) = ((at.x - x as f64) as f32, (at.y - y as f64) as f32);
        let row = |k: usize| (1.0 - u) * lit(k) + u * lit(k + 1);
        (1.0 - v) * row(y * width + x) + v * row((y + 1) * width + x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_darkens_the_ground_under_it_and_casts_a_shadow_away_from_the_sun() {
        let ball = Solid::Ball { centre: DVec3::Z, radius: 1.0 };
        let lights = Lights::new(DVec3::new(1.0, 0.0, 1.0).normalize(), &[ball], DVec3::Z, 3.0);
        let lit = |point: DVec3| lights.arriving(&[(point, DVec3::Z)])[0].y;
        let ground = |x: f64| lit(DVec3::X * x);
        let open = ground(50.0);
        assert!(ground(-1.0) < 0.5 * open, "in the shadow");
        assert!(ground(0.05) < 0.1 * open, "where it touches the ground");
        assert!(ground(2.8) > 0.85 * open && ground(2.8) < open, "in the sun, with a little less sky");
        let top = lit(DVec3::Z * 2.0);
        assert!((top - open).abs() < 1e-5, "nothing shades itself");
    }
}
