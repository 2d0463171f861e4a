//! Plots of one quantity against another as SVG: phase planes, orbits, characteristics.

use crate::io::error::{OutputError, replace_file};
use crate::io::plot::{COLOURS, DrawResult, INK};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// Width and height of one panel.
const PANEL: (u32, u32) = (560, 420);
const LEGEND_LINE: i32 = 20;

/// A named path of points in a plane.
///
/// ```
/// let path = drystone::io::phase::Orbit::new("x", vec![(0.0, 1.0), (1.0, 0.5)]).with_points();
/// assert!(path.marked);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Orbit {
    /// What the legend calls it.
    pub name: String,
    /// Its points in order; where one is not finite the path has a hole.
    pub points: Vec<(f64, f64)>,
    /// Whether each point is marked.
    pub marked: bool,
}

impl Orbit {
    /// A path of that name.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), points, marked: false }
    }

    /// With a mark at each point.
    pub fn with_points(self) -> Self {
        Self { marked: true, ..self }
    }
}

/// One plane with its paths.
///
/// ```
/// use drystone::io::phase::{Orbit, Plane, write_planes};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("plots/plane.svg");
/// let circle = (0..=60).map(|k| (0.1047 * f64::from(k)).sin_cos()).collect();
/// let plane = Plane { title: "oscillator".into(), x: "q (m)".into(), y: "v (m/s)".into(), orbits: vec![Orbit::new("orbit", circle)] };
/// write_planes(&path, &[plane], 2)?;
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plane {
    /// Heading of the panel.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x: String,
    /// Name and unit of the vertical axis.
    pub y: String,
    /// Paths; the order gives the colours.
    pub orbits: Vec<Orbit>,
}

/// Draws the planes as one SVG, row by row with this many in a row; makes the folder where there is none.
pub fn write_planes(path: &Path, planes: &[Plane], columns: usize) -> Result<(), OutputError> {
    let mut svg = String::new();
    draw(&mut svg, planes, columns.max(1)).map_err(|error| OutputError::data(path, format!("the planes cannot be drawn: {error}")))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| OutputError::data(path, format!("its folder cannot be made: {error}")))?;
    }
    replace_file(path, svg.as_bytes())
}

fn draw(svg: &mut String, planes: &[Plane], columns: usize) -> DrawResult {
    let columns = columns.min(planes.len().max(1));
    let rows = planes.len().max(1).div_ceil(columns);
    let page = SVGBackend::with_string(svg, (PANEL.0 * columns as u32, PANEL.1 * rows as u32)).into_drawing_area();
    page.fill(&WHITE)?;
    for (plane, area) in planes.iter().zip(page.split_evenly((rows, columns))) {
        draw_plane(&area, plane)?;
    }
    page.present()
}

/// Smallest and largest with a margin; never empty.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    if low > high {
        return -1.0..1.0;
    }
    // what varies by rounding alone is shown as constant
    let size = high - low;
    let margin = if size > 1e-12 * low.abs().max(high.abs()) { 0.07 * size } else { 0.5 * low.abs().max(1e-9) };
    low - margin..high + margin
}

/// As many digits as steps of this size need.
fn label(x: f64, step: f64) -> String {
    if step > 0.0 && !(1e-3..1e5).contains(&step) {
        return if x.abs() < 1e-3 * step { "0".to_owned() } else { format!("{x:.1e}") };
    }
    let text = format!("{x:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn draw_plane(area: &DrawingArea<SVGBackend, Shift>, plane: &Plane) -> DrawResult {
    let finite = || plane.orbits.iter().flat_map(|o| &o.points).filter(|(x, y)| x.is_finite() && y.is_finite());
    let (horizontal, vertical) = (range(finite().map(|p| p.0)), range(finite().map(|p| p.1)));
    let (dx, dy) = ((horizontal.end - horizontal.start) / 8.0, (vertical.end - vertical.start) / 8.0);
    let text = ("sans-serif", 14).into_font().color(&INK);
    let mut chart = ChartBuilder::on(area)
        .margin_top(34 + LEGEND_LINE as u32)
        .margin_right(18)
        .margin_left(14)
        .margin_bottom(6)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(horizontal, vertical)?;
    chart
        .configure_mesh()
        .x_desc(plane.x.clone())
        .y_desc(plane.y.clone())
        .x_label_formatter(&|x| label(*x, dx))
        .y_label_formatter(&|y| label(*y, dy))
        .x_labels(8)
        .y_labels(8)
        .label_style(text.clone())
        .axis_style(INK.mix(0.5))
        .bold_line_style(INK.mix(0.13))
        .light_line_style(TRANSPARENT)
        .draw()?;
    area.draw(&Text::new(plane.title.clone(), (76, 8), ("sans-serif", 17).into_font().style(FontStyle::Bold).color(&INK)))?;
    let legend_style = text.pos(Pos::new(HPos::Left, VPos::Center));
    let mut at = 76;
    for (k, orbit) in plane.orbits.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let line = colour.stroke_width(if orbit.marked { 1 } else { 2 });
        for stretch in orbit.points.split(|(x, y)| !(x.is_finite() && y.is_finite())).filter(|s| !s.is_empty()) {
            chart.draw_series([PathElement::new(stretch.to_vec(), line)])?;
            if orbit.marked || stretch.len() == 1 {
                chart.draw_series(stretch.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
            }
        }
        area.draw(&PathElement::new([(at, 42), (at + 22, 42)], line))?;
        if orbit.marked {
            area.draw(&Circle::new((at + 11, 42), 3, colour.filled()))?;
        }
        area.draw(&Text::new(orbit.name.clone(), (at + 28, 42), legend_style.clone()))?;
        at += 50 + 8 * orbit.name.chars().count() as i32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plane_is_drawn_even_an_empty_or_spoilt_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.svg");
        let plane = |points: Vec<(f64, f64)>| Plane {
            title: "a <plane> & more".into(),
            x: "x".into(),
            y: "y".into(),
            orbits: vec![Orbit::new("one", points.clone()), Orbit::new("two", points).with_points()],
        };
        let spoilt = plane(vec![(0.0, 1.0), (f64::NAN, 0.0), (2.0, f64::INFINITY), (1.0, 1.0)]);
        for planes in [vec![], vec![Plane::default()], vec![spoilt, plane(vec![(3.0, 3.0)]), plane(vec![(0.0, 0.0), (1e9, 1e-9)])]] {
            for columns in [0, 1, 2, 9] {
                write_planes(&path, &planes, columns).unwrap();
                let svg = std::fs::read_to_string(&path).unwrap();
                assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN") && !svg.contains("<plane>"));
            }
        }
    }

    #[test]
    fn a_range_is_never_empty_and_numbers_are_short() {
        assert_eq!(range(std::iter::empty()), -1.0..1.0);
        for values in [vec![0.0], vec![5.0, 5.0], vec![-1.0, 1.0]] {
            let shown = range(values.iter().copied());
            assert!(values.iter().all(|x| shown.contains(x)));
        }
        assert_eq!([label(0.5, 0.1), label(-0.0, 0.1), label(2e-6, 1e-6)], ["0.5", "0", "2.0e-6"]);
    }
}
