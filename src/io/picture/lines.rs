//! Smooth lines over a picture: outlines that the bodies hide, and force chains that they do not.

use super::raster::Raster;
use super::view::View;
use glam::{DVec2, DVec3};
use rayon::prelude::*;

/// A straight line in the world, drawn with a width in samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) ends: [DVec3; 2],
    pub(super) width: f64,
}

/// How much of each sample the lines cover (0 to 255); `hidden_by` holds what may stand before them.
///
/// `slack` is how many samples a surface may come nearer than the line, measured as a length at the same distance,
/// without hiding it: the surfaces that meet at an edge would hide half of it otherwise.
pub(super) fn cover(view: &View, size: [usize; 2], lines: &[Line], hidden_by: Option<&Raster>, slack: f64) -> Vec<u8> {
    let flat: Vec<_> = lines.iter().filter_map(|line| flatten(view, line)).collect();
    let mut ink = vec![0; size[0] * size[1]];
    let rows = 16;
    ink.par_chunks_mut(rows * size[0]).enumerate().for_each(|(band, samples)| {
        let from = (band * rows) as f64;
        let to = from + (samples.len() / size[0]) as f64;
        for line in flat.iter().filter(|line| line.low.y < to && line.high.y > from) {
            let (first, last) = (line.low.y.max(from) as usize, line.high.y.min(to) as usize);
            for y in first..last.max(first) {
                for x in line.columns(y as f64 + 0.5, size[0]) {
                    let (distance, nearness) = line.at(DVec2::new(x as f64 + 0.5, y as f64 + 0.5));
                    let covered = (255.0 * (0.5 * line.width + 0.5 - distance).clamp(0.0, 1.0)) as u8;
                    let sample = &mut samples[(y - band * rows) * size[0] + x];
                    if covered > *sample {
                        let limit = nearness * (1.0 + slack / view.scale);
                        if hidden_by.is_none_or(|raster| f64::from(raster.nearest[y * size[0] + x].0) <= limit) {
                            *sample = covered;
                        }
                    }
                }
            }
        }
    });
    ink
}

/// A line on the screen: ends, nearness there, and the rectangle with its width.
struct FlatLine {
    ends: [DVec2; 2],
    nearness: [f64; 2],
    width: f64,
    low: DVec2,
    high: DVec2,
}

fn flatten(view: &View, line: &Line) -> Option<FlatLine> {
    let [a, b] = line.ends.map(|x| view.local(x));
    if a.z.max(b.z) <= view.near {
        return None;
    }
    let cut = |p: DVec3, q: DVec3| if p.z < view.near { p + (q - p) * ((view.near - p.z) / (q.z - p.z)) } else { p };
    let (a, b) = (cut(a, b), cut(b, a));
    let ends = [view.screen(a), view.screen(b)];
    let nearness = [view.nearness(a.z), view.nearness(b.z)];
    let around = 0.5 * line.width + 1.0;
    let (low, high) = (ends[0].min(ends[1]) - around, ends[0].max(ends[1]) + around);
    low.is_finite().then_some(FlatLine { ends, nearness, width: line.width, low, high })
}

impl FlatLine {
    /// The columns that the line can touch at height `y`.
    fn columns(&self, y: f64, width: usize) -> std::ops::Range<usize> {
        let [a, b] = self.ends;
        let around = 0.5 * self.width + 1.0;
        let slope = b.y - a.y;
        let (low, high) = if slope.abs() < 1e-9 {
            (self.low.x, self.high.x)
        } else {
            // where the line runs within its own half width of this height
            let x = |y: f64| a.x + (b.x - a.x) * ((y - a.y) / slope).clamp(0.0, 1.0);
            let (p, q) = (x(y - around), x(y + around));
            (p.min(q) - around, p.max(q) + around)
        };
        low.max(0.0) as usize..(high.max(0.0) as usize).min(width)
    }

    /// Distance of a place on the screen, and nearness of the line there.
    fn at(&self, place: DVec2) -> (f64, f64) {
        let [a, b] = self.ends;
        let along = b - a;
        let t = ((place - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
        (place.distance(a + t * along), self.nearness[0] + t * (self.nearness[1] - self.nearness[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::raster::Solid;
    use super::*;

    #[test]
    fn a_line_covers_its_length_times_its_width_unless_a_body_hides_it() {
        let size = [120, 120];
        let view = View::fitted(DVec3::Y, &[(DVec3::ZERO, 1.0)], size, 0.3);
        let ends = [DVec3::new(-0.5, 0.0, -0.3), DVec3::new(0.5, 0.0, 0.4)];
        let line = Line { ends, width: 5.0 };
        let length = view.screen(view.local(ends[0])).distance(view.screen(view.local(ends[1])));
        let area = |ink: Vec<u8>| ink.iter().map(|&x| f64::from(x) / 255.0).sum::<f64>();
        let free = area(cover(&view, size, &[line], None, 0.0));
        let caps = 0.25 * std::f64::consts::PI * 25.0;
        assert!((free / (5.0 * length + caps) - 1.0).abs() < 0.02, "{free}");
        let ball = |y: f64| Raster::new(&view, 120, 120, &[Solid::Ball { centre: DVec3::Y * y, radius: 0.9 }]);
        assert_eq!(area(cover(&view, size, &[line], Some(&ball(-2.0)), 0.0)), 0.0);
        assert_eq!(area(cover(&view, size, &[line], Some(&ball(2.0)), 0.0)), free);
    }
}
