//! Curves of any two quantities, maps and chains of force as one SVG or PNG: courses in time, phase planes, errors against step sizes.

use super::canvas::{self, Drawing};
use super::map::{Disc, Map, Stroke};
use super::plot::{COLOURS, DrawResult, INK};
use crate::io::error::OutputError;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// About the most points of one line; a longer one is thinned so that no extreme is lost.
const POINTS: usize = 4000;
/// Size of a wide panel, and of one that stands beside others.
const SIZE: (u32, u32) = (1000, 320);
const PLANE: (u32, u32) = (560, 420);
const HEAD: u32 = 44;
/// Width of a legend beside a wide panel: where names are short, and the most that it takes from the curves.
const LEGEND: [i32; 2] = [200, 560];
/// What a letter takes at most, and what the heading of a wide panel does.
const LETTER: i32 = 7;
const TITLE: i32 = 24;

/// A named row of points `(x, y)`; where one is not finite the line has a hole.
///
/// ```
/// let orbit = drystone::io::chart::Line::new("orbit", [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)]);
/// assert_eq!(orbit.points.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Whether each point is marked.
    pub marked: bool,
}

impl Line {
    /// A line of that name.
    pub fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.to_owned(), points: points.into_iter().collect(), marked: false }
    }

    /// With a mark at each point.
    #[must_use]
    pub fn with_points(self) -> Self {
        Self { marked: true, ..self }
    }
}

/// Lines that share two axes.
///
/// ```
/// use drystone::io::chart::{Line, Panel};
/// let panel = Panel::new("time (s)", "height (m)", vec![Line::new("ball", [(0.0, 1.0), (0.1, 0.95)])]);
/// assert_eq!(panel.lines.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading; may be empty.
    pub title: String,
    /// Quantity and unit along x.
    pub x: String,
    /// Quantity and unit along y.
    pub y: String,
    /// The order gives the colours.
    pub lines: Vec<Line>,
    /// Whether a unit is as long along x as along y.
    pub equal: bool,
    /// What is below the lines, in colours.
    pub map: Option<Map>,
    /// Grains, below strokes.
    pub discs: Vec<Disc>,
    /// Forces, as wide as they are large.
    pub strokes: Vec<Stroke>,
}

impl Panel {
    /// A panel with these names of its axes.
    pub fn new(x: &str, y: &str, lines: Vec<Line>) -> Self {
        Self { x: x.to_owned(), y: y.to_owned(), lines, ..Self::default() }
    }

    /// With a unit as long along x as along y.
    #[must_use]
    pub fn equal(self) -> Self {
        Self { equal: true, ..self }
    }

    /// Corners of the map, and what discs and strokes reach to.
    fn corners(&self) -> impl Iterator<Item = (f64, f64)> {
        let map = self.map.iter().flat_map(|map| [(map.x[0], map.y[0]), (map.x[1], map.y[1])]);
        let discs = self.discs.iter().flat_map(|d| [(d.x - d.radius, d.y - d.radius), (d.x + d.radius, d.y + d.radius)]);
        map.chain(discs).chain(self.strokes.iter().flat_map(|stroke| stroke.ends))
    }

    /// With a heading.
    #[must_use]
    pub fn titled(self, title: &str) -> Self {
        Self { title: title.to_owned(), ..self }
    }
}

/// Draws panels above each other, as a PNG where the name ends so and as an SVG otherwise; makes the folder where there is none.
///
/// ```
/// use drystone::io::chart::{Line, Panel, write_chart};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("plots/circle.svg");
/// let circle = (0..=60).map(|k| (0.1 * f64::from(k)).sin_cos());
/// write_chart(&path, "phase plane", &[Panel::new("x (m)", "v (m/s)", vec![Line::new("oscillator", circle)])])?;
/// assert!(std::fs::read_to_string(&path).unwrap().contains("oscillator"));
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
pub fn write_chart(path: &Path, title: &str, panels: &[Panel]) -> Result<(), OutputError> {
    canvas::write(path, (SIZE.0, HEAD + SIZE.1 * panels.len().max(1) as u32), &Chart { title, panels })
}

/// Draws panels beside each other, this many in a row: phase planes, characteristics, maps; a PNG or an SVG by its name.
///
/// ```
/// use drystone::io::chart::{Line, Panel, write_planes};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("planes.svg");
/// let circle = (0..=60).map(|k| (0.1 * f64::from(k)).sin_cos());
/// let panel = Panel::new("x (m)", "v (m/s)", vec![Line::new("oscillator", circle).with_points()]).titled("free");
/// write_planes(&path, &[panel.clone(), panel], 2)?;
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
pub fn write_planes(path: &Path, panels: &[Panel], columns: usize) -> Result<(), OutputError> {
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().max(1).div_ceil(columns);
    canvas::write(path, (PLANE.0 * columns as u32, PLANE.1 * rows as u32), &Planes { panels, columns, rows })
}

/// Panels above each other.
struct Chart<'a> {
    title: &'a str,
    panels: &'a [Panel],
}

impl Drawing for Chart<'_> {
    fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, page: &DrawingArea<B, Shift>) -> DrawResult {
        let (head, body) = page.split_vertically(HEAD);
        let heading = ("sans-serif", 21).into_font().style(FontStyle::Bold).color(&INK);
        head.draw(&Text::new(self.title.to_owned(), (72, 16), heading))?;
        let areas = body.split_evenly((self.panels.len().max(1), 1));
        self.panels.iter().zip(&areas).try_for_each(|(panel, area)| draw_panel(area, panel, true))
    }
}

/// Panels beside each other.
struct Planes<'a> {
    panels: &'a [Panel],
    columns: usize,
    rows: usize,
}

impl Drawing for Planes<'_> {
    fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, page: &DrawingArea<B, Shift>) -> DrawResult {
        let areas = page.split_evenly((self.rows, self.columns));
        self.panels.iter().zip(&areas).try_for_each(|(panel, area)| draw_panel(area, panel, false))
    }
}

/// Height of a row of the legend.
const ROW: i32 = 21;

/// Where the names of a legend above a panel of this width stand that have so many letters: the pixel at which each begins, and its row.
fn set_in_rows(letters: impl Iterator<Item = usize>, width: i32) -> Vec<[i32; 2]> {
    let (mut right, mut row) = (76, 0);
    let place = |letters: usize| {
        let long = 50 + 8 * letters as i32;
        if right + long > width && right > 76 {
            (right, row) = (76, row + 1);
        }
        right += long;
        [right - long, row]
    };
    letters.map(place).collect()
}

/// Width of a legend beside a panel whose longest name has so many letters.
fn beside(letters: usize) -> i32 {
    (56 + LETTER * letters as i32).clamp(LEGEND[0], LEGEND[1])
}

/// A text with its middle left out where it is longer than so many pixels.
fn within(text: &str, pixels: i32) -> String {
    let (letters, most) = (text.chars().count(), (pixels / LETTER).max(3) as usize);
    if letters <= most {
        return text.to_owned();
    }
    let end = most / 2;
    text.chars().take(most - 1 - end).chain(['…']).chain(text.chars().skip(letters - end)).collect()
}

/// The power of ten by which values are drawn: the marks of an axis end at differences of 2e-16.
fn lens(values: impl Iterator<Item = f64>) -> f64 {
    let largest = values.filter(|x| x.is_finite()).fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest > 0.0 && largest < 1e-9 { 10f64.powi((-largest.log10().floor()).min(300.0) as i32) } else { 1.0 }
}

/// How many of so many names a legend beside a panel has; what it leaves out has a last row that tells so.
fn named(lines: usize) -> usize {
    let rows = (SIZE.1 as usize - 20) / ROW as usize;
    if lines > rows { rows - 1 } else { lines }
}

/// A wide panel has its legend on the right, the other above.
fn draw_panel<B: DrawingBackend<ErrorType = std::io::Error>>(area: &DrawingArea<B, Shift>, panel: &Panel, wide: bool) -> DrawResult {
    let points = || panel.lines.iter().flat_map(|line| line.points.iter().copied());
    let pure = panel.corners().next().is_none();
    let lens = if pure { (lens(points().map(|p| p.0)), lens(points().map(|p| p.1))) } else { (1.0, 1.0) };
    let all: Vec<(f64, f64)> = points().map(|(x, y)| (lens.0 * x, lens.1 * y)).chain(panel.corners()).collect();
    let margin = if panel.map.is_some() { 0.0 } else { 0.05 };
    // an axis goes on where a line has holes
    let x_range = range(all.iter().map(|p| p.0).filter(|x| x.is_finite()), if wide { 0.0 } else { margin });
    let y_range = range(all.iter().filter(|p| p.0.is_finite()).map(|p| p.1).filter(|y| y.is_finite()), margin);
    // beside a map stands its scale
    let (broad, high) = (area.dim_in_pixel().0 as i32, area.dim_in_pixel().1 as i32);
    let room = if wide { LEGEND[1] - 56 } else { broad - 76 - 50 };
    let legends: Vec<String> = panel.lines.iter().map(|line| within(&line.name, room)).collect();
    let letters = || legends.iter().map(|name| name.chars().count());
    let side = if wide {
        beside(letters().max().unwrap_or(0))
    } else if panel.map.is_some() {
        118
    } else {
        18
    };
    let title = if panel.title.is_empty() || !wide { 0 } else { TITLE };
    let (x_range, y_range) = if panel.equal { equal_axes(x_range, y_range, wide, side, title) } else { (x_range, y_range) };
    let pixel = ((x_range.1 - x_range.0) / f64::from(SIZE.0), (y_range.1 - y_range.0) / f64::from(SIZE.1));
    let text = ("sans-serif", 14).into_font().color(&INK);
    let names = set_in_rows(letters(), broad);
    let mut chart = ChartBuilder::on(area)
        .margin_top(if wide { 8 + title } else { 33 + ROW * names.last().map_or(1, |at| at[1] + 1) })
        .margin_right(side)
        .margin_left(14)
        .margin_bottom(4)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(x_range.0..x_range.1, y_range.0..y_range.1)?;
    chart
        .configure_mesh()
        .x_desc(&panel.x)
        .y_desc(within(&panel.y, high - 56 - title))
        .x_label_formatter(&|x| label(x / lens.0, (x_range.0 / lens.0, x_range.1 / lens.0)))
        .y_label_formatter(&|y| label(y / lens.1, (y_range.0 / lens.1, y_range.1 / lens.1)))
        .x_labels(if wide { 11 } else { 8 })
        .y_labels(if wide { 7 } else { 8 })
        .label_style(text.clone())
        .axis_style(INK.mix(0.5))
        .bold_line_style(INK.mix(0.13))
        .light_line_style(TRANSPARENT)
        .draw()?;
    if let Some(map) = &panel.map {
        map.draw(&chart.plotting_area().clone())?;
        map.draw_scale(area, [broad - side + 14, if wide { 34 } else { 62 }], high - if wide { 100 } else { 120 }, 0.0)?;
    }
    let plane = chart.plotting_area().clone();
    let unit = f64::from(plane.dim_in_pixel().0) / (x_range.1 - x_range.0);
    panel.discs.iter().try_for_each(|disc| disc.draw(&plane, unit))?;
    panel.strokes.iter().try_for_each(|stroke| stroke.draw(&plane))?;
    let heading = ("sans-serif", 17).into_font().style(FontStyle::Bold).color(&INK);
    area.draw(&Text::new(panel.title.clone(), (76, 8), heading))?;
    let legend = text.pos(Pos::new(HPos::Left, VPos::Center));
    if !all.iter().any(|(x, y)| x.is_finite() && y.is_finite()) {
        let (left, right) = (86, broad - side);
        let middle = text.pos(Pos::new(HPos::Center, VPos::Center));
        area.draw(&Text::new("no values to draw", ((left + right) / 2, high / 2), middle))?;
    }
    for (k, (line, at)) in panel.lines.iter().zip(&names).enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let style = colour.stroke_width(if line.marked { 1 } else { 2 });
        let points: Vec<(f64, f64)> = line.points.iter().map(|(x, y)| (lens.0 * x, lens.1 * y)).collect();
        for stretch in points.split(|(x, y)| !(x.is_finite() && y.is_finite())).filter(|stretch| !stretch.is_empty()) {
            let shown = thin(stretch, pixel);
            if line.marked || shown.len() == 1 {
                chart.draw_series(shown.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
            }
            chart.draw_series([PathElement::new(shown, style)])?;
        }
        let (x, y) = if wide { (SIZE.0 as i32 - side + 14, 20 + ROW * k as i32) } else { (at[0], 42 + ROW * at[1]) };
        if wide && k >= named(panel.lines.len()) {
            if k == named(panel.lines.len()) {
                let more = format!("and {} more", panel.lines.len() - k);
                area.draw(&Text::new(more, (x + 34, y), legend.clone()))?;
            }
            continue;
        }
        if line.marked {
            area.draw(&Circle::new((x + 13, y), 3, colour.filled()))?;
        }
        area.draw(&PathElement::new([(x, y), (x + 26, y)], style))?;
        area.draw(&Text::new(legends[k].clone(), (x + 34, y), legend.clone()))?;
    }
    Ok(())
}

/// Both ranges about their middles, so that a unit is as long along x as along y on the area that a panel leaves its curves.
fn equal_axes(x: (f64, f64), y: (f64, f64), wide: bool, side: i32, title: i32) -> ((f64, f64), (f64, f64)) {
    let (size, above) = if wide { (SIZE, 56.0 + f64::from(title)) } else { (PLANE, 102.0) };
    let sides = f64::from(side) + 86.0;
    let (width, height) = (f64::from(size.0) - sides, f64::from(size.1) - above);
    let unit = ((x.1 - x.0) / width).max((y.1 - y.0) / height);
    let about = |(low, high): (f64, f64), pixels: f64| (0.5 * (low + high - unit * pixels), 0.5 * (low + high + unit * pixels));
    (about(x, width), about(y, height))
}

/// The points that are at least a `pixel` from the one before, and those that a jump leaves from; what is still too long is cut
/// into buckets, each reduced to its first point and its lowest and highest in x and y.
fn thin(points: &[(f64, f64)], pixel: (f64, f64)) -> Vec<(f64, f64)> {
    if points.len() <= POINTS {
        return points.to_vec();
    }
    let apart = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() >= pixel.0 || (a.1 - b.1).abs() >= pixel.1;
    let mut shown: Vec<(f64, f64)> = points.iter().take(1).copied().collect();
    let mut last = 0;
    for k in 1..points.len() {
        if apart(points[last], points[k]) || k + 1 == points.len() {
            if last + 1 < k && apart(points[k - 1], points[k]) {
                shown.push(points[k - 1]);
            }
            shown.push(points[k]);
            last = k;
        }
    }
    if shown.len() <= 3 * POINTS {
        return shown;
    }
    let reduce = |bucket: &[(f64, f64)]| {
        let extreme = |f: fn(&(f64, f64)) -> f64| (0..bucket.len()).max_by(|&i, &j| f(&bucket[i]).total_cmp(&f(&bucket[j]))).unwrap_or(0);
        let mut kept = vec![0, extreme(|p| p.0), extreme(|p| -p.0), extreme(|p| p.1), extreme(|p| -p.1)];
        kept.sort_unstable();
        kept.dedup();
        kept.into_iter().map(|i| bucket[i]).collect::<Vec<_>>()
    };
    shown.chunks(shown.len().div_ceil(POINTS / 3)).flat_map(reduce).collect()
}

/// Lowest and highest value with a margin; never empty.
fn range(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    if low > high {
        return (0.0, 1.0);
    }
    let size = high - low;
    if low == 0.0 && high == 0.0 {
        return (-1.0, 1.0);
    }
    let least = 1e-9 * low.abs().max(high.abs()).max(1e-12);
    if size < least {
        (low - 0.5 * (least + low.abs()), high + 0.5 * (least + high.abs()))
    } else {
        (low - margin * size, high + margin * size)
    }
}

/// As many decimals as the range needs, without closing zeros.
pub(super) fn label(x: f64, (low, high): (f64, f64)) -> String {
    let size = (high - low).abs();
    if !(1e-4..1e6).contains(&size) {
        return if x == 0.0 { "0".to_owned() } else { format!("{x:.1e}") };
    }
    let decimals = (2.0 - size.log10()).ceil().clamp(0.0, 7.0) as usize;
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_goes_on_in_the_next_row_where_its_panel_ends() {
        let rows = |letters: &[usize]| set_in_rows(letters.iter().copied(), 560);
        assert_eq!(rows(&[7, 9]), [[76, 0], [182, 0]]);
        assert_eq!(rows(&[7, 9, 20, 12]), [[76, 0], [182, 0], [304, 0], [76, 1]]);
        assert_eq!(rows(&[90, 90]), [[76, 0], [76, 1]], "what is too long for any row has one of its own");
    }

    #[test]
    fn a_legend_beside_a_panel_has_room_for_its_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("c.svg");
        let name = |k: usize| format!("generate.pour.0.count = 200, generate.pour.0.seed = {k:02}");
        let lines = |count: usize| (0..count).map(|k| Line::new(&name(k), [(0.0, 0.0), (1.0, k as f64)])).collect();
        let places = |count: usize| -> Vec<(String, i32, i32)> {
            write_chart(&path, "a title", &[Panel::new("x", "y", lines(count))]).expect("drawn");
            let svg = std::fs::read_to_string(&path).expect("there");
            let texts = svg.split("<text").skip(1).filter_map(|text| {
                let of = |key: &str| text.split(&format!(" {key}=\"")).nth(1)?.split('"').next()?.parse().ok();
                let text = text.split('>').nth(1)?.trim().split('<').next()?.trim();
                Some((text.to_owned(), of("x")?, of("y")?))
            });
            texts.filter(|(text, ..)| text.starts_with("generate") || text.starts_with("and ")).collect()
        };
        let few = places(2);
        // seven pixels a letter are more than this font takes
        assert!(few.len() == 2 && few.iter().all(|(text, x, _)| x + 7 * text.len() as i32 <= SIZE.0 as i32), "{few:?}");
        let many = places(40);
        assert_eq!(many.last().map(|(text, ..)| text.as_str()), Some("and 27 more"));
        assert!(many.len() == 14 && many.iter().all(|(.., y)| *y < (HEAD + SIZE.1) as i32), "{many:?}");
    }

    /// Texts of a chart of this panel, with their places.
    fn texts(panel: Panel) -> Vec<(String, i32, i32)> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("c.svg");
        write_chart(&path, "a title", &[panel]).expect("drawn");
        let svg = std::fs::read_to_string(&path).expect("there");
        let texts = svg.split("<text").skip(1).map(|text| {
            let of = |key: &str| text.split(&format!(" {key}=\"")).nth(1).and_then(|v| v.split('"').next()?.parse().ok());
            let inner = text.split('>').nth(1).and_then(|t| t.split('<').next()).expect("a text");
            (inner.trim().to_owned(), of("x").expect("a place"), of("y").expect("a place"))
        });
        texts.collect()
    }

    #[test]
    fn the_heading_of_a_wide_panel_is_above_its_axes() {
        let all = texts(Panel::new("x", "y", vec![Line::new("a", [(0.0, 0.0), (1.0, 2.0)])]).titled("a heading"));
        let at = |name: &str| all.iter().find(|t| t.0 == name).expect("written").2;
        assert!(at("a heading") + 20 < at("2"), "{all:?}");
    }

    #[test]
    fn tiny_values_have_marks_and_none_are_told() {
        let all = texts(Panel::new("x", "y", vec![Line::new("a", [(0.0, 0.0), (1e-4, 4e-20), (2e-4, -4e-20)])]));
        for mark in ["2.0e-20", "0", "-4.0e-20", "0.0001"] {
            assert!(all.iter().any(|t| t.0 == mark), "{mark}: {all:?}");
        }
        assert!(!all.iter().any(|t| t.0 == "no values to draw"));
        let none = texts(Panel::new("x", "y", vec![Line::new("a", [(0.0, f64::NEG_INFINITY), (1.0, f64::NAN)])]));
        assert!(none.iter().any(|t| t.0 == "no values to draw"), "{none:?}");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(within("abcdefghij", 70), "abcdefghij");
        assert_eq!(within("abcdefghijk", 70), "abcd…ghijk");
        let name = "a_body_of_a_name_".repeat(8);
        let all = texts(Panel::new("x", &format!("{name}.z [m]"), vec![Line::new(&name, [(0.0, 0.0), (1.0, 2.0)])]));
        let long = |end: &str| all.iter().find(|t| t.0.contains('…') && t.0.ends_with(end)).expect("written").clone();
        let (legend, axis) = (long("name_"), long("[m]"));
        assert!(legend.1 + LETTER * legend.0.chars().count() as i32 <= SIZE.0 as i32, "{legend:?}");
        assert!(LETTER * axis.0.chars().count() as i32 <= SIZE.1 as i32, "{axis:?}");
    }

    #[test]
    fn every_chart_is_drawn_even_an_empty_or_spoilt_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let [path, pixels] = ["c.svg", "c.png"].map(|name| dir.path().join(name));
        let spoilt = Line::new("a <test>", [(0.0, 1.0), (f64::NAN, 2.0), (2.0, f64::INFINITY), (3.0, 1.0)]);
        let long = Line::new("long", (0..100_000).map(|k| (f64::from(k), f64::from(k).sin())));
        let panel = |line: Line| Panel::new("x", "y", vec![line]);
        for panels in [vec![], vec![panel(Line::new("none", []))], vec![panel(spoilt), panel(long)]] {
            let check = || {
                let svg = std::fs::read_to_string(&path).expect("there");
                assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN") && !svg.contains("<test>") && svg.len() < 400_000);
            };
            write_chart(&path, "a title", &panels).expect("drawn");
            check();
            for columns in [0, 1, 2, 9] {
                write_planes(&path, &panels, columns).expect("drawn");
                check();
            }
            write_planes(&pixels, &panels, 2).expect("painted");
            let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&pixels).expect("there")));
            let info = decoder.read_info().expect("a PNG").info().clone();
            assert_eq!((info.width, info.height), (2 * PLANE.0 * panels.len().clamp(1, 2) as u32, 2 * PLANE.1));
        }
    }

    #[test]
    fn equal_axes_have_units_of_one_length_and_hold_both_ranges() {
        for (x, y) in [((-10.0, 10.0), (-4.0, 4.0)), ((0.0, 1.0), (0.0, 7.0))] {
            let (a, b) = equal_axes(x, y, false, 18, 0);
            let holds = |(low, high): (f64, f64), (from, to): (f64, f64)| low <= from + 1e-12 && high >= to - 1e-12;
            assert!(holds(a, x) && holds(b, y), "{a:?} {b:?}");
            assert!(((a.1 - a.0) / 456.0 / ((b.1 - b.0) / 318.0) - 1.0).abs() < 1e-12, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_long_line_is_thinned_without_losing_its_extremes() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|k| (f64::from(k), (f64::from(k) * 0.37).sin())).collect();
        (points[31_415].1, points[77_777].1) = (9.0, -8.0);
        let shown = thin(&points, (100.0, 0.02));
        assert!(shown.len() <= 2 * POINTS && shown.contains(&points[31_415]) && shown.contains(&points[77_777]));
        assert!(shown.contains(&points[0]));
        assert!(shown.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_jump_stays_upright() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|k| (f64::from(k), if k < 555 { 0.0 } else { 1.0 })).collect();
        assert_eq!(thin(&points, (100.0, 0.1))[5..9], [(500.0, 0.0), (554.0, 0.0), (555.0, 1.0), (655.0, 1.0)]);
    }

    #[test]
    fn what_stays_zero_has_an_axis_with_marks() {
        assert_eq!(range([0.0, -0.0].into_iter(), 0.05), (-1.0, 1.0));
        assert_eq!(range([5.0].into_iter(), 0.05).0.round(), 2.0);
    }

    #[test]
    fn labels_have_the_decimals_that_their_range_needs() {
        assert_eq!(label(0.25, (0.0, 1.0)), "0.25");
        assert_eq!(label(1500.0, (0.0, 5000.0)), "1500");
        assert_eq!(label(-0.0, (-1.0, 1.0)), "0");
        assert_eq!(label(2e-7, (0.0, 1e-6)), "2.0e-7");
        assert_eq!(label(0.0, (0.0, 1e-6)), "0");
    }
}
