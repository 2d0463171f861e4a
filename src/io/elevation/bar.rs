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
    /// The least and the largest value.
    ends: [f64; 2],
}

/// Share of the length of all joints whose values the bar leaves out at either end.
const BEYOND: f64 = 0.02;

/// The first value behind a length of joints.
fn past<'a>(mut joints: impl Iterator<Item = &'a (f64, f64)>, length: f64) -> f64 {
    let mut passed = 0.0;
    let behind = |joint: &&(f64, f64)| {
        passed += joint.1;
        passed > length
    };
    joints.find(behind).map_or(0.0, |joint| joint.0)
}

impl Bar {
    /// The bar of joints with these values and lengths, from 0 or the least value below it to the largest one, without what a fiftieth of their
    /// length exceeds, as the stress of a joint that bears on a point would leave all others light; none where nothing is above or below 0.
    pub(super) fn of(title: &'static str, joints: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let mut joints: Vec<(f64, f64)> = joints.filter(|(x, length)| x.is_finite() && length.is_finite()).collect();
        joints.sort_by(|a, b| a.0.total_cmp(&b.0));
        let beyond = BEYOND * joints.iter().map(|(_, length)| length).sum::<f64>();
        let [low, high] = [past(joints.iter(), beyond).min(0.0), past(joints.iter().rev(), beyond).max(0.0)];
        let ends = [joints.first()?.0.min(0.0), joints.last()?.0.max(0.0)];
        let [low, high] = if high > low { [low, high] } else { ends };
        (high > low).then_some(Self { title, low, high, ends })
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
        let beyond: Vec<String> = (0..2).filter(|&k| self.ends[k] != [self.low, self.high][k]).map(|k| number(self.ends[k])).collect();
        let beyond = if beyond.is_empty() { String::new() } else { format!(", somewhere {}", beyond.join(" and ")) };
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
        page.draw(&Text::new(format!("{high}  {}{beyond}", self.title), (unit(left + SIZE[0] + 10.0), unit(y)), text.clone()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle_have_their_colours_and_nothing_has_none() {
        let even = |values: &[f64]| values.iter().map(|&x| (x, 1.0)).collect::<Vec<_>>().into_iter();
        let bar = Bar::of("kN", even(&[3.0, 1.0, f64::NAN])).unwrap_or_else(|| panic!("there are values"));
        assert_eq!((bar.low, bar.high), (0.0, 3.0));
        assert_eq!(
            (bar.colour(0.0), bar.colour(1.5), bar.colour(9.0)),
            (RGBColor(254, 224, 130), RGBColor(225, 87, 60), RGBColor(66, 20, 95))
        );
        assert!(Bar::of("kN", even(&[0.0])).is_none());
        assert_eq!(Bar::of("kN", even(&[-2.0])).map(|b| (b.low, b.high)), Some((-2.0, 0.0)));
        // a hundredth of the length and a point have no say
        let crowd = Bar::of("MPa", even(&[1.0; 99]).chain([(40.0, 0.5), (900.0, 0.0)])).unwrap_or_else(|| panic!("there are values"));
        assert_eq!((crowd.high, crowd.ends), (1.0, [0.0, 900.0]));
        assert_eq!(Bar::of("MPa", [(7.0, 0.0)].into_iter()).map(|b| b.high), Some(7.0));
        assert_ne!(bar.style(None), bar.style(Some(1.0)));
    }
}
