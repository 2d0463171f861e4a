//! The course of a run as one SVG: energy, residual and penetration above each other against time.

use super::chart::label;
use crate::io::error::{OutputError, make_folder_of, replace_file};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// Most points of one curve; a longer one is thinned so that no extreme is lost.
const POINTS: usize = 2000;
const SIZE: (u32, u32) = (1000, 960);
const LEGEND: i32 = 200;
/// Decades below its largest value that a logarithmic panel shows at most.
const DECADES: f64 = 18.0;
pub(super) const INK: RGBColor = RGBColor(45, 52, 60);
/// Okabe and Ito's colours, which the colour-blind can tell apart, without their yellow.
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(70, 70, 70),
];

/// A named series of values, one per time.
///
/// ```
/// let kinetic = drystone::io::plot::Curve::new("kinetic", vec![0.0, 0.2, 0.1]);
/// assert_eq!(kinetic.values.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// One value per time; where it is not finite the curve has a hole.
    pub values: Vec<f64>,
}

impl Curve {
    /// A curve of that name.
    pub fn new(name: &str, values: Vec<f64>) -> Self {
        Self { name: name.to_owned(), values }
    }
}

/// What a run recorded step by step.
///
/// ```
/// use drystone::io::plot::{Curve, History, write_history};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("history.svg");
/// let history = History {
///     title: "falling ball".into(),
///     time: vec![0.0, 0.1, 0.2],
///     energies: vec![Curve::new("kinetic", vec![0.0, 0.5, 2.0]), Curve::new("potential", vec![0.0, -0.5, -2.0])],
///     residual: vec![0.0, 1e-9, 3e-10],
///     tolerance: 1e-8,
///     penetration: vec![0.0, 0.0, 2e-6],
/// };
/// write_history(&path, &history)?;
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Heading of the page.
    pub title: String,
    /// Time of each step (s), ascending.
    pub time: Vec<f64>,
    /// Energies and works (J); the order gives the colours.
    pub energies: Vec<Curve>,
    /// `e_s` of each step; steps with zero are left out of the logarithmic panel.
    pub residual: Vec<f64>,
    /// The `e_s` that every step had to reach.
    pub tolerance: f64,
    /// Largest penetration at each step (m).
    pub penetration: Vec<f64>,
}

/// Draws the history as an SVG of three panels.
pub fn write_history(path: &Path, history: &History) -> Result<(), OutputError> {
    let single = |name: &str, values: &[f64]| Curve::new(name, values.to_vec());
    let tolerance = Some(history.tolerance).filter(|&tolerance| tolerance > 0.0);
    let logarithms: Vec<f64> = history.residual.iter().map(|e| e.log10()).collect();
    let panels = [
        Panel::linear("Energy", "J", history.energies.clone()),
        Panel::logarithmic("Residual e_s (–)", single("e_s", &logarithms), tolerance.map(f64::log10)),
        Panel::linear("Largest penetration", "m", vec![single("penetration", &history.penetration)]),
    ];
    save(path, &history.title, &history.time, &panels, "s")
}

/// Curves of one unit against time.
///
/// ```
/// use drystone::io::plot::{Curve, Group, write_curves};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("curves.svg");
/// let time = [0.0, 1e-3, 2e-3];
/// let voltages = Group { title: "Voltages", unit: "V", curves: vec![Curve::new("in", vec![0.0, 5.0, 0.0])] };
/// write_curves(&path, "a pulse", &time, &[voltages])?;
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Heading of the panel.
    pub title: &'a str,
    /// Unit of the values.
    pub unit: &'a str,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Draws groups of curves above each other as an SVG; `time` in seconds, ascending.
pub fn write_curves(path: &Path, title: &str, time: &[f64], groups: &[Group]) -> Result<(), OutputError> {
    let panels: Vec<Panel> = groups.iter().map(|g| Panel::linear(g.title, g.unit, g.curves.clone())).collect();
    let largest = time.iter().copied().filter(|t| t.is_finite()).fold(0.0, |m: f64, t| m.max(t.abs()));
    let (factor, prefix) = if largest < 1.0 { decimal_prefix(largest) } else { (1.0, "") };
    let time: Vec<f64> = time.iter().map(|t| t / factor).collect();
    save(path, title, &time, &panels, &format!("{prefix}s"))
}

fn save(path: &Path, title: &str, time: &[f64], panels: &[Panel], unit: &str) -> Result<(), OutputError> {
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if curve.values.len() != time.len() {
            let (found, times) = (curve.values.len(), time.len());
            return Err(OutputError::data(path, format!("curve {:?} has {found} values for {times} times", curve.name)));
        }
    }
    let mut svg = String::new();
    draw(&mut svg, title, time, panels, unit).map_err(|error| OutputError::data(path, format!("the plot cannot be drawn: {error}")))?;
    make_folder_of(path)?;
    replace_file(path, svg.as_bytes())
}

struct Panel {
    title: String,
    curves: Vec<Curve>,
    /// Dashed horizontal line.
    level: Option<f64>,
    range: (f64, f64),
    logarithmic: bool,
}

impl Panel {
    /// Values in the decimal multiple of `unit` that keeps the numbers between 1 and 1000.
    fn linear(title: &str, unit: &str, mut curves: Vec<Curve>) -> Self {
        let largest = finite(&curves).fold(0.0, |m: f64, x| m.max(x.abs()));
        let (factor, prefix) = decimal_prefix(largest);
        curves.iter_mut().flat_map(|curve| &mut curve.values).for_each(|x| *x /= factor);
        let (low, high) = finite(&curves).fold((0.0, 0.0), |(a, b): (f64, f64), x| (a.min(x), b.max(x)));
        let margin = if high > low { 0.06 * (high - low) } else { 1.0 };
        let range = (if low < 0.0 { low - margin } else { low }, high + margin);
        Self { title: format!("{title} ({prefix}{unit})"), curves, level: None, range, logarithmic: false }
    }

    /// The values are logarithms to the base of ten.
    fn logarithmic(title: &str, curve: Curve, level: Option<f64>) -> Self {
        let curves = vec![curve];
        let shown = finite(&curves).chain(level);
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let range = if low <= high { ((low - 0.2).floor().max(high - DECADES), (high + 0.2).ceil()) } else { (-1.0, 0.0) };
        Self { title: title.to_owned(), curves, level, range, logarithmic: true }
    }

    fn label(&self, y: f64) -> String {
        if !self.logarithmic {
            return label(y, self.range);
        }
        if (y - y.round()).abs() < 1e-6 { format!("1e{}", y.round()) } else { String::new() }
    }
}

fn finite(curves: &[Curve]) -> impl Iterator<Item = f64> {
    curves.iter().flat_map(|curve| &curve.values).copied().filter(|x| x.is_finite())
}

fn decimal_prefix(largest: f64) -> (f64, &'static str) {
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"), (1e-15, "f")];
    if largest == 0.0 { (1.0, "") } else { prefixes.into_iter().find(|&(factor, _)| largest >= factor).unwrap_or((1e-18, "a")) }
}

/// The finite stretches of a curve, each bucket of times reduced to its lowest and highest point.
fn thin(time: &[f64], values: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let points: Vec<(f64, f64)> = time.iter().copied().zip(values.iter().copied()).collect();
    let bucket = if points.len() <= POINTS { 1 } else { points.len().div_ceil(POINTS / 2) };
    let stretches = points.split(|(_, y)| !y.is_finite()).filter(|stretch| !stretch.is_empty());
    let reduce = |bucket: &[(f64, f64)]| {
        let index = |order: fn(&f64, &f64) -> std::cmp::Ordering| (0..bucket.len()).max_by(|&i, &j| order(&bucket[i].1, &bucket[j].1));
        let (low, high) = (index(|a, b| b.total_cmp(a)).unwrap_or(0), index(f64::total_cmp).unwrap_or(0));
        let mut kept = vec![bucket[low.min(high)]];
        if low != high {
            kept.push(bucket[low.max(high)]);
        }
        kept
    };
    stretches.map(|stretch| stretch.chunks(bucket).flat_map(reduce).collect()).collect()
}

pub(super) type DrawResult = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw(svg: &mut String, title: &str, time: &[f64], panels: &[Panel], unit: &str) -> DrawResult {
    let page = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    page.fill(&WHITE)?;
    let (head, body) = page.split_vertically(44);
    let heading = ("sans-serif", 21).into_font().style(FontStyle::Bold).color(&INK);
    head.draw(&Text::new(title.to_owned(), (72, 16), heading))?;
    let end = time.iter().copied().filter(|t| t.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
    let times = if end.0 < end.1 { end } else { (0.0, 1.0) };
    let areas = body.split_evenly((panels.len(), 1));
    for (k, (panel, area)) in panels.iter().zip(&areas).enumerate() {
        let unit = if k + 1 == panels.len() { unit } else { "" };
        draw_panel(area, panel, time, times, unit)?;
    }
    page.present()
}

fn draw_panel(
    area: &DrawingArea<SVGBackend, plotters::coord::Shift>,
    panel: &Panel,
    time: &[f64],
    times: (f64, f64),
    unit: &str,
) -> DrawResult {
    let last = !unit.is_empty();
    let width = SIZE.0 as i32;
    let text = ("sans-serif", 14).into_font().color(&INK);
    let mut chart = ChartBuilder::on(area)
        .margin_top(28)
        .margin_right(LEGEND)
        .margin_left(14)
        .margin_bottom(if last { 4 } else { 12 })
        .x_label_area_size(if last { 44 } else { 24 })
        .y_label_area_size(58)
        .build_cartesian_2d(times.0..times.1, panel.range.0..panel.range.1)?;
    chart
        .configure_mesh()
        .x_desc(if last { format!("time ({unit})") } else { String::new() })
        .x_label_formatter(&|t| label(*t, times))
        .y_label_formatter(&|y| panel.label(*y))
        .x_labels(11)
        .y_labels(7)
        .label_style(text.clone())
        .axis_style(INK.mix(0.5))
        .bold_line_style(INK.mix(0.13))
        .light_line_style(TRANSPARENT)
        .draw()?;
    area.draw(&Text::new(panel.title.clone(), (72, 6), ("sans-serif", 16).into_font().style(FontStyle::Bold).color(&INK)))?;

    let legend_style = text.pos(Pos::new(HPos::Left, VPos::Center));
    let legend = |row: usize, name: &str, line: ShapeStyle| {
        let (x, y) = (width - LEGEND + 14, 40 + 21 * row as i32);
        area.draw(&PathElement::new([(x, y), (x + 26, y)], line))?;
        area.draw(&Text::new(name.to_owned(), (x + 34, y), legend_style.clone()))
    };
    if finite(&panel.curves).next().is_none() {
        let middle = text.pos(Pos::new(HPos::Center, VPos::Center));
        area.draw(&Text::new("no values to draw", ((72 + width - LEGEND) / 2, area.dim_in_pixel().1 as i32 / 2), middle))?;
    }
    if let Some(level) = panel.level {
        let line = RGBColor(200, 30, 45).stroke_width(1);
        chart.draw_series(DashedLineSeries::new([(times.0, level), (times.1, level)], 6, 4, line))?;
        legend(panel.curves.len(), "tolerance", line)?;
    }
    for (k, curve) in panel.curves.iter().enumerate() {
        // of more curves than colours the later ones are thin
        let line = COLOURS[k % COLOURS.len()].stroke_width(if k < COLOURS.len() { 2 } else { 1 });
        for stretch in thin(time, &curve.values) {
            if let [point] = stretch[..] {
                chart.draw_series([Circle::new(point, 2, line.filled())])?;
            } else {
                chart.draw_series([PathElement::new(stretch, line)])?;
            }
        }
        legend(k, &curve.name, line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(steps: usize) -> History {
        let time: Vec<f64> = (0..steps).map(|k| k as f64 * 1e-3).collect();
        let of = |f: fn(f64) -> f64| time.iter().map(|&t| f(t)).collect::<Vec<f64>>();
        History {
            title: "a <test> & more".into(),
            energies: vec![Curve::new("kinetic", of(|t| 1e-3 * t.sin().abs()))],
            residual: of(|t| if (t * 40.0).sin() < 0.0 { 0.0 } else { 1e-9 }),
            tolerance: 1e-8,
            penetration: of(|t| 1e-6 * t),
            time,
        }
    }

    #[test]
    fn a_long_curve_is_thinned_without_losing_its_extremes() {
        let time: Vec<f64> = (0..100_000).map(f64::from).collect();
        let mut values: Vec<f64> = time.iter().map(|t| (t * 0.37).sin()).collect();
        (values[31_415], values[77_777]) = (9.0, -8.0);
        let thinned = thin(&time, &values);
        assert_eq!(thinned.len(), 1);
        assert!(thinned[0].len() <= POINTS && thinned[0].contains(&(31_415.0, 9.0)) && thinned[0].contains(&(77_777.0, -8.0)));
        assert!(thinned[0].windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_curve_has_holes_where_it_is_not_finite() {
        let thinned = thin(&[0.0, 1.0, 2.0, 3.0], &[1.0, f64::NAN, 2.0, 3.0]);
        assert_eq!(thinned, [vec![(0.0, 1.0)], vec![(2.0, 2.0), (3.0, 3.0)]]);
    }

    #[test]
    fn units_follow_the_size_of_the_values() {
        assert_eq!(Panel::linear("P", "m", vec![Curve::new("p", vec![0.0, 2.5e-6])]).title, "P (µm)");
        assert_eq!(Panel::linear("E", "J", vec![Curve::new("e", vec![-4e4, f64::NAN])]).title, "E (kJ)");
        assert_eq!(Panel::linear("E", "J", vec![Curve::new("e", vec![])]).title, "E (J)");
        let tiny = Panel::linear("P", "m", vec![Curve::new("p", vec![0.0, 4.2e-22])]);
        assert_eq!((tiny.title.as_str(), tiny.label(2e-4), tiny.label(0.0)), ("P (am)", "0.0002".to_owned(), "0".to_owned()));
    }

    #[test]
    fn every_history_is_drawn_even_an_empty_or_spoilt_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/h.svg");
        let mut spoilt = history(20);
        spoilt.residual.fill(f64::NAN);
        spoilt.tolerance = 0.0;
        spoilt.penetration.fill(f64::INFINITY);
        for history in [history(500), history(1), history(0), History::default(), spoilt] {
            write_history(&path, &history).unwrap();
            let svg = std::fs::read_to_string(&path).unwrap();
            assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN") && !svg.contains("<test>"));
        }
        let mut short = history(20);
        short.penetration.pop();
        let error = write_history(&path, &short).unwrap_err().to_string();
        assert!(error.ends_with("curve \"penetration\" has 19 values for 20 times"), "{error}");
    }
}
