//! How long things are in a picture, and what the width of a chain means.

use super::Picture;
use super::view::View;
use crate::io::canvas::{Drawing, overlay, unit_of};
use crate::io::plot::{DrawResult, INK};
use glam::DVec3;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width of the drawing in units of a plot, with chains of force and without, and its distance from the corner of the picture (pixels).
const WIDTH: u32 = 180;
const NARROW: u32 = 150;
const MARGIN: usize = 16;
/// Longest scale, in units.
const LONGEST: f64 = 90.0;
/// Rows of the drawing, in units.
const ROW: u32 = 22;
/// Parts of the strongest force that have a line.
const PARTS: [f64; 2] = [1.0, 0.5];

struct Legend {
    /// Length of the scale in units, and what it stands for.
    scale: (f64, String),
    /// Widths of chains in units, and the forces.
    chains: Vec<(f64, String)>,
}

impl Drawing for Legend {
    fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, page: &DrawingArea<B, Shift>) -> DrawResult {
        let height = self.height() as i32;
        page.draw(&Rectangle::new([(0, 0), (self.width() as i32, height)], WHITE.mix(0.6).filled()))?;
        let text = |size: u32| ("sans-serif", size).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        let mut y = ROW as i32 / 2;
        for (width, force) in &self.chains {
            let [top, bottom] = beam(y, *width);
            page.draw(&Rectangle::new([(8, top), (42, bottom)], CHAIN.filled()))?;
            page.draw(&Text::new(force.clone(), (50, y), text(14)))?;
            y += ROW as i32;
        }
        let (length, name) = &self.scale;
        let end = 8 + length.round() as i32;
        for line in [[(8, y), (end, y)], [(8, y - 4), (8, y + 4)], [(end, y - 4), (end, y + 4)]] {
            page.draw(&PathElement::new(line, INK.stroke_width(1)))?;
        }
        page.draw(&Text::new(name.clone(), (end + 8, y), text(14)))
    }
}

/// Where a stroke about a middle that is so wide begins and ends: its width is what is rounded, not both of its sides.
fn beam(middle: i32, width: f64) -> [i32; 2] {
    let begin = (f64::from(middle) - 0.5 * width).round() as i32;
    [begin, begin + width.round().max(1.0) as i32]
}

/// The colour of chains.
const CHAIN: RGBColor = RGBColor(0xa3, 0x12, 0x2b);

impl Legend {
    fn width(&self) -> u32 {
        if self.chains.is_empty() { NARROW } else { WIDTH }
    }

    fn height(&self) -> u32 {
        ROW * (1 + self.chains.len() as u32)
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is not larger.
pub(in crate::io) fn round(length: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(length).floor());
    let part = length / power;
    let step = if part >= 5.0 {
        5.0
    } else if part >= 2.0 {
        2.0
    } else {
        1.0
    };
    // 5 × 0.1 is not 0.5 with all of its digits
    format!("{:.3e}", step * power).parse().unwrap_or(length)
}

/// A length (m) in the unit that needs no zeros before it.
pub(in crate::io) fn length_text(length: f64) -> String {
    let (factor, unit) = match length {
        x if x >= 1e3 => (1e-3, "km"),
        x if x >= 1.0 => (1.0, "m"),
        x if x >= 0.01 => (100.0, "cm"),
        x if x >= 1e-3 => (1e3, "mm"),
        _ => (1e6, "µm"),
    };
    let number = format!("{:.4}", length * factor);
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

impl Picture {
    /// Width and height (pixels) of the legend of so many chains, in a picture that has the room for it.
    fn room(&self, chains: usize) -> Option<[usize; 2]> {
        let [width, height] = self.size.map(|n| n as usize);
        let unit = unit_of(self.size);
        let room = [unit * if chains == 0 { NARROW } else { WIDTH } as usize, unit * ROW as usize * (1 + chains)];
        (width >= 2 * (room[0] + MARGIN) && height >= 2 * (room[1] + MARGIN)).then_some(room)
    }

    /// Pixels of the lower side that the legend of forces takes.
    pub(super) fn below(&self) -> usize {
        let room = if self.legend && self.forces { self.room(PARTS.len()) } else { None };
        room.map_or(0, |room| room[1] + MARGIN)
    }

    /// Draws the scale, as long as lengths are at the distance of `middle`, and the widths of chains up to that of `strongest` (N), in the
    /// lower left corner of a picture that has the room.
    pub(super) fn draw_legend(&self, pixels: &mut [u8], view: &View, middle: DVec3, strongest: Option<f64>) -> DrawResult {
        let [width, height] = self.size.map(|n| n as usize);
        let pixels_of_unit = unit_of(self.size);
        let unit = pixels_of_unit as f64;
        // pixels of a metre
        let metre = view.scale / view.local(middle).z / f64::from(self.samples);
        let length = round(unit * LONGEST / metre);
        let chain = |part: f64, strongest: f64| {
            let force = format!("{} N{}", digits(part * strongest), if part == 1.0 { " normal force" } else { "" });
            (part * self.widest() / f64::from(self.samples) / unit, force)
        };
        let chains = strongest.filter(|f| *f > 0.0).map_or(Vec::new(), |f| PARTS.map(|part| chain(part, f)).to_vec());
        let legend = Legend { scale: (length * metre / unit, length_text(length)), chains };
        let Some(room) = self.room(legend.chains.len()) else { return Ok(()) };
        overlay(pixels, width, [MARGIN, height - room[1] - MARGIN], ((legend.width(), legend.height()), pixels_of_unit), &legend)
    }
}

/// Three digits of a number, without zeros at the end.
pub(crate) fn digits(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&x) {
        return format!("{x:.2e}");
    }
    let decimals = (2.0 - libm::log10(x).floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_of_a_legend_are_as_wide_as_chains_to_half_a_unit() {
        for k in 0..400 {
            let width = 1.0 + 0.05 * f64::from(k);
            let [begin, end] = beam(11, width);
            assert!((f64::from(end - begin) - width).abs() <= 0.5 + 1e-9, "{width}: {begin} to {end}");
            assert!((0.5 * f64::from(begin + end) - 11.0).abs() <= 0.75, "{width}: {begin} to {end}");
        }
    }

    #[test]
    fn scales_are_round_and_have_a_unit_that_fits() {
        for (length, expected) in [(0.37, 0.2), (0.99, 0.5), (1.0, 1.0), (45.0, 20.0), (7e-4, 5e-4)] {
            assert_eq!(round(length), expected, "{length}");
        }
        for (length, text) in [(2e3, "2 km"), (1.0, "1 m"), (0.5, "50 cm"), (0.02, "2 cm"), (5e-3, "5 mm"), (2e-5, "20 µm")] {
            assert_eq!(length_text(length), text);
        }
        assert_eq!(
            (digits(1234.4), digits(0.012345), digits(5.0), digits(3e-7)),
            ("1234".into(), "0.0123".into(), "5".into(), "3.00e-7".into())
        );
    }
}
