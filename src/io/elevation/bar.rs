//! A colour bar for what joints carry.

use super::{FINE, Page};
use crate::io::plot::{DrawResult, INK};
use plotters::prelude::*;

/// Colours of the least, the middle and the largest value, and of what has none.
const STOPS: [[f64; 3]; 3] = [[254.0, 224.0, 130.0], [225.0, 87.0, 60.0], [66.0, 20.0, 95.0]];
const NOTHING: RGBColor = RGBColor(178, 182, 186);
/// Width and height of the bar in pixels, and the number of its fields.
const SIZE: [f64; 2] = [220.0, 12.0];
const FIELDS: u32 = 44;

/// Values from `low` to `high`.
#[derive(Debug)]
pub(super) struct Bar {
    title: &'static str,
    low: f64,
    high: f64,
}

impl Bar {
    /// The bar from 0, or the least value below it, to the largest one; none where nothing is above or below 0.
    pub(super) fn of(title: &'static str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let [low, high] = values.filter(|x| x.is_finite()).fold([0.0f64; 2], |[low, high], x| [low.min(x), high.max(x)]);
        (high > low).then_some(Self { title, low, high })
    }

    fn colour(&self, value: f64) -> RGBColor {
        let at = 2.0 * ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let k = usize::from(at > 1.0);
        let mix = |i: usize| (STOPS[k][i] + (at - k as f64) * (STOPS[k + 1][i] - STOPS[k][i])).round() as u8;
        RGBColor(mix(0), mix(1), mix(2))
    }

    /// How a joint with this value is drawn.
    pub(super) fn style(&self, value: Option<f64>) -> ShapeStyle {
        match value.filter(|x| x.is_finite() && *x != 0.0) {
            Some(value) => self.colour(value).stroke_width((4.0 * FINE) as u32),
            None => NOTHING.stroke_width((1.5 * FINE) as u32),
        }
    }

    /// The bar with its ends, from a place in pixels on.
    pub(super) fn draw(&self, page: &Page<'_>, [x, y]: [f64; 2], text: &TextStyle<'_>) -> DrawResult {
        let unit = |x: f64| (FINE * x).round() as i32;
        let number = |x: f64| if x == 0.0 { "0".to_owned() } else { format!("{x:.3}") };
        let [low, high] = [self.low, self.high].map(number);
        let left = x + 10.0 + 9.0 * low.len() as f64;
        page.draw(&Text::new(low, (unit(x), unit(y)), text.clone()))?;
        for k in 0..FIELDS {
            let place = |k: u32| left + SIZE[0] * f64::from(k) / f64::from(FIELDS);
            let share = (f64::from(k) + 0.5) / f64::from(FIELDS);
            let colour = self.colour(self.low + share * (self.high - self.low));
            let corners = [(unit(place(k)), unit(y - 0.5 * SIZE[1])), (unit(place(k + 1)), unit(y + 0.5 * SIZE[1]))];
            page.draw(&Rectangle::new(corners, colour.filled()))?;
        }
        let frame = [(unit(left), unit(y - 0.5 * SIZE[1])), (unit(left + SIZE[0]), unit(y + 0.5 * SIZE[1]))];
        page.draw(&Rectangle::new(frame, INK.stroke_width((0.8 * FINE) as u32)))?;
        page.draw(&Text::new(format!("{high}  {}", self.title), (unit(left + SIZE[0] + 10.0), unit(y)), text.clone()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle_have_their_colours_and_nothing_has_none() {
        let bar = Bar::of("kN", [3.0, 1.0, f64::NAN].into_iter()).unwrap_or_else(|| panic!("there are values"));
        assert_eq!((bar.low, bar.high), (0.0, 3.0));
        assert_eq!(
            (bar.colour(0.0), bar.colour(1.5), bar.colour(9.0)),
            (RGBColor(254, 224, 130), RGBColor(225, 87, 60), RGBColor(66, 20, 95))
        );
        assert!(Bar::of("kN", [0.0].into_iter()).is_none());
        assert_eq!(Bar::of("kN", [-2.0].into_iter()).map(|b| (b.low, b.high)), Some((-2.0, 0.0)));
        assert_ne!(bar.style(None), bar.style(Some(1.0)));
    }
}
