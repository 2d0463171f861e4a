//! What a plane shows besides curves: cells in colours, grains, forces.

use super::chart::label;
use super::picture::{colour, legend::round};
use super::plot::{DrawResult, INK};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Plane<B> = DrawingArea<B, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Equal cells in a scale of colours that the colour-blind can read (viridis).
///
/// ```
/// use drystone::io::map::Map;
/// let map = Map { x: [0.0, 1.0], y: [0.0, 1.0], columns: 2, values: vec![0.1, 0.2, 0.3, f64::NAN], name: "T (m²/s²)".into() };
/// assert_eq!(map.range(), (0.1, 0.3));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// From and to.
    pub x: [f64; 2],
    /// From and to.
    pub y: [f64; 2],
    /// Cells along x.
    pub columns: usize,
    /// Of each cell, x fastest; white where it is not finite.
    pub values: Vec<f64>,
    /// Quantity and unit.
    pub name: String,
}

impl Map {
    /// Least and largest value; never empty.
    pub fn range(&self) -> (f64, f64) {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        match low < high {
            true => (low, high),
            false if low == high => (low - 0.5 * low.abs().max(1e-300), low + 0.5 * low.abs().max(1e-300)),
            false => (0.0, 1.0),
        }
    }

    pub(super) fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, plane: &Plane<B>) -> DrawResult {
        let (low, high) = self.range();
        let columns = self.columns.max(1);
        let rows = self.values.len().div_ceil(columns);
        let at = |[from, to]: [f64; 2], k: usize, n: usize| from + (to - from) * k as f64 / n as f64;
        for (k, value) in self.values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
            let (i, j) = (k % columns, k / columns);
            let corners = [0, 1].map(|d| (at(self.x, i + d, columns), at(self.y, j + d, rows)));
            plane.draw(&Rectangle::new(corners, shade((value - low) / (high - low), 0.0).filled()))?;
        }
        Ok(())
    }

    /// The bar that says what colours mean, from its upper left corner on (pixels); `quiet` is the part of grey in them.
    pub(super) fn draw_scale<B: DrawingBackend<ErrorType = std::io::Error>>(
        &self,
        area: &DrawingArea<B, Shift>,
        [x, y]: [i32; 2],
        height: i32,
        quiet: f32,
    ) -> DrawResult {
        let (low, high) = self.range();
        let text = ("sans-serif", 14).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(self.name.clone(), (x - 6, y - 18), text.clone()))?;
        for k in 0..height {
            let colour = shade(1.0 - f64::from(k) / f64::from(height - 1), quiet).filled();
            area.draw(&Rectangle::new([(x, y + k), (x + 16, y + k + 1)], colour))?;
        }
        for value in marks(low, high) {
            let at = y + (f64::from(height) * (1.0 - (value - low) / (high - low))).round() as i32;
            area.draw(&PathElement::new([(x + 16, at), (x + 20, at)], INK.mix(0.7)))?;
            area.draw(&Text::new(label(value, (low, high)), (x + 24, at), text.clone()))?;
        }
        Ok(())
    }
}

/// Multiples of 1, 2 or 5 times a power of ten between two numbers, three to eight of them.
fn marks(low: f64, high: f64) -> Vec<f64> {
    let step = round((high - low) / 3.0);
    // what is a mark but for rounding is one
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    (0..).map(|k| first + f64::from(k)).take_while(|k| *k <= last).map(|k| k * step).collect()
}

fn shade(x: f64, quiet: f32) -> RGBColor {
    let [r, g, b] = colour::to_srgb(colour::quiet(colour::viridis(x), quiet));
    RGBColor(r, g, b)
}

/// A grain seen along an axis.
///
/// ```
/// let grain = drystone::io::map::Disc { x: 0.0, y: 0.1, radius: 0.1 };
/// assert_eq!(grain.radius, grain.y);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Its middle.
    pub x: f64,
    /// Its middle.
    pub y: f64,
    /// Its radius.
    pub radius: f64,
}

impl Disc {
    /// `unit` is the length of 1 in pixels.
    pub(super) fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, plane: &Plane<B>, unit: f64) -> DrawResult {
        let radius = (self.radius * unit).round().max(1.0) as u32;
        plane.draw(&Circle::new((self.x, self.y), radius, RGBColor(232, 228, 220).filled()))?;
        plane.draw(&Circle::new((self.x, self.y), radius, RGBColor(176, 172, 164).stroke_width(1)))
    }
}

/// A force along a line.
///
/// ```
/// let chain = drystone::io::map::Stroke { ends: [(0.0, 0.0), (0.1, 0.2)], width: 3 };
/// assert_eq!(chain.width, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Where it begins and ends.
    pub ends: [(f64, f64); 2],
    /// Pixels.
    pub width: u32,
}

impl Stroke {
    pub(super) fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, plane: &Plane<B>) -> DrawResult {
        plane.draw(&PathElement::new(self.ends, RGBColor(163, 18, 43).stroke_width(self.width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_scale_are_round_and_three_to_eight() {
        let told = |low, high| marks(low, high).into_iter().map(|x| label(x, (low, high))).collect::<Vec<_>>();
        assert_eq!(told(0.0, 0.783), ["0", "0.2", "0.4", "0.6"]);
        assert_eq!(told(-0.29, 0.35), ["-0.2", "0", "0.2"]);
        assert_eq!(told(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        for k in 1..200 {
            let low = libm::sin(f64::from(k)) * libm::pow(10.0, f64::from(k % 9 - 4));
            let found = marks(low, low + 1.03 * low.abs());
            assert!((3..=8).contains(&found.len()), "{found:?} from {low}");
        }
    }
}
