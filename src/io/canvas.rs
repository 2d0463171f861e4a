//! Where plots are drawn: an SVG, or a PNG of twice the size in pixels.
//!
//! A PNG needs no font of the machine: letters are outlines of Noto Sans (Open Font License), which is part of the program. It is painted with
//! four samples per unit of the plot each way, and two of these each way make a pixel.

use super::error::{OutputError, make_folder_of, replace_file};
use super::plot::DrawResult;
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use glam::DVec2;
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend, WHITE};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind, FontStyle, FontTransform};
use std::path::Path;

/// Samples per unit of the plot, and pixels of the file.
const FINE: i32 = 4;
const SCALE: i32 = 2;

type Area<B> = DrawingArea<B, Shift>;
type Drawn = Result<(), DrawingErrorKind<std::io::Error>>;

/// What can be drawn on a page.
pub(super) trait Drawing {
    /// Draws it; the page is white.
    fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, page: &Area<B>) -> DrawResult;
}

/// Whether a file of that name is a PNG.
pub(super) fn is_png(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png"))
}

/// Draws a page of this size: a PNG if the name ends so, an SVG otherwise; makes the folder where there is none.
pub(super) fn write(path: &Path, size: (u32, u32), drawing: &impl Drawing) -> Result<(), OutputError> {
    let failed = |error| OutputError::data(path, format!("the plot cannot be drawn: {error}"));
    let bytes = if is_png(path) {
        let mut canvas = Canvas::new(size);
        paint((&mut canvas).into_drawing_area(), drawing).map_err(failed)?;
        let (size, pixels) = canvas.pixels(SCALE);
        png(size, &pixels).map_err(|error| OutputError::data(path, format!("the plot cannot be encoded: {error}")))?
    } else {
        let mut svg = String::new();
        paint(SVGBackend::with_string(&mut svg, size).into_drawing_area(), drawing).map_err(failed)?;
        svg.into_bytes()
    };
    make_folder_of(path)?;
    replace_file(path, &bytes)
}

fn paint<B: DrawingBackend<ErrorType = std::io::Error>>(page: Area<B>, drawing: &impl Drawing) -> DrawResult {
    page.fill(&WHITE)?;
    drawing.draw(&page)?;
    page.present()
}

/// Rows of sRGB bytes, three per pixel, as a PNG.
pub(super) fn png(size: [u32; 2], pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

/// A page of samples.
pub(super) struct Canvas {
    size: (u32, u32),
    fine: Fine,
}

impl Canvas {
    /// A black page, in units of the plot.
    pub(super) fn new(size: (u32, u32)) -> Self {
        let (width, height) = (size.0 as i32 * FINE, size.1 as i32 * FINE);
        Self { size, fine: Fine { width, height, samples: vec![0; 3 * (width * height) as usize] } }
    }

    /// Means of the samples of each pixel, row by row, and how many pixels there are; `unit` pixels, a divisor of `FINE`, are a unit of the plot.
    pub(super) fn pixels(&self, unit: i32) -> ([u32; 2], Vec<u8>) {
        let n = FINE / unit;
        let size = [self.size.0 as i32 * unit, self.size.1 as i32 * unit];
        let mut pixels = Vec::with_capacity(3 * (size[0] * size[1]) as usize);
        for (y, x) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (y, x))) {
            for channel in 0..3 {
                let sample = |k: i32| u32::from(self.fine.samples[self.fine.at(x * n + k % n, y * n + k / n) + channel]);
                pixels.push(((0..n * n).map(sample).sum::<u32>() / (n * n) as u32) as u8);
            }
        }
        (size.map(|n| n as u32), pixels)
    }
}

/// Its samples, as pixels of plotters.
struct Fine {
    width: i32,
    height: i32,
    samples: Vec<u8>,
}

impl Fine {
    fn at(&self, x: i32, y: i32) -> usize {
        3 * (y * self.width + x) as usize
    }
}

impl DrawingBackend for Fine {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        (self.width as u32, self.height as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        if (0..self.width).contains(&x) && (0..self.height).contains(&y) {
            let at = self.at(x, y);
            for (old, new) in self.samples[at..at + 3].iter_mut().zip([color.rgb.0, color.rgb.1, color.rgb.2]) {
                *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * color.alpha).round() as u8;
            }
        }
        Ok(())
    }
}

/// A style in samples.
struct Wide(BackendColor, u32);

impl Wide {
    fn of(style: &impl BackendStyle) -> Self {
        Self(style.color(), style.stroke_width() * FINE as u32)
    }
}

impl BackendStyle for Wide {
    fn color(&self) -> BackendColor {
        self.0
    }

    fn stroke_width(&self) -> u32 {
        self.1
    }
}

/// The corners of a line of this width, which is even in all directions.
fn band(ends: [BackendCoord; 2], width: u32) -> [BackendCoord; 4] {
    let [from, to] = ends.map(|(x, y)| DVec2::new(f64::from(x), f64::from(y)));
    let aside = 0.5 * f64::from(width) * (to - from).normalize_or_zero().perp();
    [from + aside, to + aside, to - aside, from - aside].map(|corner| (corner.x.round() as i32, corner.y.round() as i32))
}

fn fine((x, y): BackendCoord) -> BackendCoord {
    (x * FINE, y * FINE)
}

impl DrawingBackend for &mut Canvas {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        let (x, y) = fine(point);
        self.fine.draw_rect((x, y), (x + FINE - 1, y + FINE - 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, upper_left: BackendCoord, bottom_right: BackendCoord, style: &S, fill: bool) -> Drawn {
        let ((x, y), (right, below)) = (upper_left, bottom_right);
        match fill {
            true => self.fine.draw_rect(fine(upper_left), fine(bottom_right), &style.color(), true),
            false => self.draw_path([(x, y), (right, y), (right, below), (x, below), (x, y)], style),
        }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        // points that coincide have no direction
        let mut points: Vec<BackendCoord> = path.into_iter().map(fine).collect();
        points.dedup();
        let style = Wide::of(style);
        if style.color().alpha < 1.0 {
            return if points.len() < 2 { Ok(()) } else { self.fine.draw_path(points, &style) };
        }
        // round joins: the tip of a mitre goes on the farther the sharper the turn is
        let round = |page: &mut Fine, at: &BackendCoord| page.draw_circle(*at, style.stroke_width() / 2, &style, true);
        points.windows(2).try_for_each(|ends| self.fine.fill_polygon(band([ends[0], ends[1]], style.stroke_width()), &style.color()))?;
        points.windows(3).try_for_each(|corner| round(&mut self.fine, &corner[1]))
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        self.fine.draw_circle(fine(center), radius * FINE as u32, &Wide::of(style), fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, vert: I, style: &S) -> Drawn {
        self.fine.fill_polygon(vert.into_iter().map(fine), &style.color())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, pos: BackendCoord) -> Drawn {
        let bytes = if matches!(style.style(), FontStyle::Bold) { notosans::BOLD_TTF } else { notosans::REGULAR_TTF };
        let font = FontRef::try_from_slice(bytes).map_err(|e| DrawingErrorKind::FontError(Box::new(e)))?;
        // the sizes and places of plotters' SVG: an em is the size over 1.24, half an ex a quarter of an em
        let em = style.size() as f32 / 1.24 * FINE as f32;
        let scale = PxScale::from(em * font.height_unscaled() / font.units_per_em().unwrap_or(1000.0));
        let scaled = font.as_scaled(scale);
        let (mut glyphs, mut width, mut last) = (Vec::new(), 0.0, None);
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            width += last.map_or(0.0, |last| scaled.kern(last, id));
            glyphs.push((id, width));
            width += scaled.h_advance(id);
            last = Some(id);
        }
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -0.5 * width,
            HPos::Right => -width,
        };
        let base = em
            * match style.anchor().v_pos {
                VPos::Top => 0.76,
                VPos::Center => 0.27,
                VPos::Bottom => -0.27,
            };
        let (x, y) = fine(pos);
        for (id, along) in glyphs {
            let Some(outline) = font.outline_glyph(id.with_scale_and_position(scale, point(left + along, base))) else { continue };
            let corner = outline.px_bounds().min;
            outline.draw(|i, j, cover| {
                let (i, j) = (corner.x as i32 + i as i32, corner.y as i32 + j as i32);
                let (i, j) = match style.transform() {
                    FontTransform::None => (i, j),
                    FontTransform::Rotate90 => (-j, i),
                    FontTransform::Rotate180 => (-i, -j),
                    FontTransform::Rotate270 => (j, -i),
                };
                let color = style.color();
                // painting a sample cannot fail
                let _ = self.fine.draw_pixel((x + i, y + j), color.mix(f64::from(cover)));
            });
        }
        Ok(())
    }
}

/// Pixels of a unit of what is drawn on a picture of this size, so that letters keep their part of it.
pub(super) fn unit_of(size: [u32; 2]) -> usize {
    match (size[0], size[1]) {
        (width, height) if width < 900 || height < 500 => 1,
        (width, height) if width < 2400 || height < 1400 => 2,
        _ => 4,
    }
}

/// Draws on a part of a picture, given as rows of sRGB bytes of so many pixels: from its upper left corner on, in units of the plot, which are `unit` pixels.
pub(super) fn overlay(
    pixels: &mut [u8],
    width: usize,
    [x, y]: [usize; 2],
    (size, unit): ((u32, u32), usize),
    drawing: &impl Drawing,
) -> DrawResult {
    let mut canvas = Canvas::new(size);
    let n = FINE / unit as i32;
    let place = |column: i32, row: i32| 3 * ((y + row as usize) * width + x + column as usize);
    for (j, i) in (0..canvas.fine.height).flat_map(|j| (0..canvas.fine.width).map(move |i| (j, i))) {
        let (at, from) = (canvas.fine.at(i, j), place(i / n, j / n));
        canvas.fine.samples[at..at + 3].copy_from_slice(&pixels[from..from + 3]);
    }
    let page = (&mut canvas).into_drawing_area();
    drawing.draw(&page)?;
    page.present()?;
    drop(page);
    let ([columns, _], painted) = canvas.pixels(unit as i32);
    for (row, line) in painted.chunks_exact(3 * columns as usize).enumerate() {
        let to = place(0, row as i32);
        pixels[to..to + line.len()].copy_from_slice(line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::prelude::{BLACK, PathElement};
    use plotters::style::Color;

    /// A page of 100 × 100 units with a black line, two units wide.
    fn page(points: &[(i32, i32)]) -> Fine {
        let mut canvas = Canvas::new((100, 100));
        let page = (&mut canvas).into_drawing_area();
        let line = PathElement::new(points.to_vec(), Color::stroke_width(&BLACK, 2));
        page.fill(&WHITE).and_then(|()| page.draw(&line)).unwrap_or_else(|e| panic!("{e}"));
        drop(page);
        canvas.fine
    }

    #[test]
    fn a_sharp_turn_reaches_no_farther_than_the_width_of_its_line() {
        let fine = page(&[(40, 80), (41, 50), (42, 80)]);
        let rows: Vec<i32> = (0..fine.height).filter(|&y| (0..fine.width).any(|x| fine.samples[fine.at(x, y)] == 0)).collect();
        let [first, last] = [rows[0], rows[rows.len() - 1]];
        assert!((50 * FINE - first - FINE).abs() <= 1 && (last - 80 * FINE).abs() <= 1, "{first} to {last}");
    }

    #[test]
    fn lines_are_as_wide_in_any_direction() {
        for (to, long) in [((90, 10), 80.0), ((90, 90), 80.0 * 2f64.sqrt()), ((10, 90), 80.0), ((50, 90), 8000f64.sqrt())] {
            let fine = page(&[(10, 10), to]);
            let black = fine.samples.chunks_exact(3).filter(|rgb| rgb[0] == 0).count() as f64;
            // the samples of both edges belong to it
            let area = f64::from((2 * FINE + 1) * FINE) * long;
            assert!((black / area - 1.0).abs() < 0.05, "{to:?}: {black} of {area}");
        }
    }
}
