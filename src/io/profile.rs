//! Performance profiles of Dolan and Moré (Benchmarking optimization software with performance profiles, 2002).
//!
//! ```text
//! t_ps   time of solver s on problem p, ∞ where it does not reach the tolerance
//! ρ_s(τ) = share of the problems with t_ps ≤ τ min_s t_ps          ρ_s(1): how often the fastest, ρ_s(∞): how many solved
//! ```

use super::error::{OutputError, replace_file};
use super::plot::{COLOURS, DrawResult, INK};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const PANEL: (u32, u32) = (860, 400);
const LEGEND: i32 = 230;
/// Ratios beyond this are off the picture.
const FURTHEST: f64 = 1e4;

/// Times of several solvers on the same problems.
///
/// ```
/// use drystone::io::profile::Panel;
/// // the second solver is twice as slow on one problem and fails on the other
/// let panel = Panel { title: "two problems".into(), solvers: vec!["a".into(), "b".into()], times: vec![vec![1.0, 1.0], vec![2.0, f64::INFINITY]] };
/// assert_eq!((panel.share(0, 1.0), panel.share(1, 1.0), panel.share(1, 2.0)), (1.0, 0.0, 0.5));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading.
    pub title: String,
    /// Names.
    pub solvers: Vec<String>,
    /// Per solver the time of each problem (s), infinite where it failed.
    pub times: Vec<Vec<f64>>,
}

impl Panel {
    /// Per problem, the least time of all solvers.
    fn best(&self) -> Vec<f64> {
        let problems = self.times.first().map_or(0, Vec::len);
        (0..problems).map(|p| self.times.iter().map(|t| t[p]).fold(f64::INFINITY, f64::min)).collect()
    }

    /// Finite ratios to the best time of one solver, ascending.
    pub fn ratios(&self, solver: usize) -> Vec<f64> {
        let pairs = self.times[solver].iter().zip(self.best());
        let mut ratios: Vec<f64> = pairs.filter(|(t, _)| t.is_finite()).map(|(t, best)| t / best.max(1e-9)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    /// `ρ_s(τ)`
    pub fn share(&self, solver: usize, tau: f64) -> f64 {
        let within = self.ratios(solver).partition_point(|&ratio| ratio <= tau);
        within as f64 / self.times[solver].len().max(1) as f64
    }
}

/// Draws the panels below each other as an SVG.
///
/// ```
/// use drystone::io::profile::{Panel, write_profiles};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("profile.svg");
/// let panel = Panel { title: "local, 1e-8".into(), solvers: vec!["nsgs".into()], times: vec![vec![0.1, 0.2]] };
/// write_profiles(&path, &[panel])?;
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
pub fn write_profiles(path: &Path, panels: &[Panel]) -> Result<(), OutputError> {
    for panel in panels {
        let (found, names) = (panel.times.len(), panel.solvers.len());
        if found != names || panel.times.iter().any(|t| t.len() != panel.times[0].len()) {
            return Err(OutputError::data(path, format!("panel {:?} has times of {found} solvers for {names} names", panel.title)));
        }
    }
    let mut svg = String::new();
    draw(&mut svg, panels).map_err(|error| OutputError::data(path, format!("the profiles cannot be drawn: {error}")))?;
    replace_file(path, svg.as_bytes())
}

fn draw(svg: &mut String, panels: &[Panel]) -> DrawResult {
    let size = (PANEL.0, PANEL.1 * panels.len().max(1) as u32);
    let page = SVGBackend::with_string(svg, size).into_drawing_area();
    page.fill(&WHITE)?;
    for (panel, area) in panels.iter().zip(page.split_evenly((panels.len().max(1), 1))) {
        draw_panel(&area, panel)?;
    }
    page.present()
}

fn draw_panel(area: &DrawingArea<SVGBackend, Shift>, panel: &Panel) -> DrawResult {
    let width = PANEL.0 as i32;
    let furthest = (0..panel.solvers.len()).filter_map(|s| panel.ratios(s).last().copied()).fold(2.0, f64::max).min(FURTHEST);
    let right = furthest.log10() * 1.04;
    let text = ("sans-serif", 14).into_font().color(&INK);
    let mut chart = ChartBuilder::on(area)
        .margin_top(34)
        .margin_right(LEGEND)
        .margin_left(14)
        .margin_bottom(6)
        .x_label_area_size(46)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..right, 0.0..1.02)?;
    // a picture of less than two decades needs steps between the powers of ten
    let label = |x: f64| {
        let tau = 10f64.powf(x);
        if right > 2.0 && (x - x.round()).abs() > 1e-6 {
            String::new()
        } else {
            format!("{tau:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    chart
        .configure_mesh()
        .x_desc("time over the best time, τ")
        .y_desc("share solved within τ")
        .x_label_formatter(&|x| label(*x))
        .y_label_formatter(&|y| format!("{:.0} %", 100.0 * y))
        .x_labels(if right > 2.0 { 5 } else { 9 })
        .y_labels(6)
        .label_style(text.clone())
        .axis_style(INK.mix(0.5))
        .bold_line_style(INK.mix(0.13))
        .light_line_style(TRANSPARENT)
        .draw()?;
    let problems = panel.times.first().map_or(0, Vec::len);
    let title = format!("{}: {problems} problem{}", panel.title, if problems == 1 { "" } else { "s" });
    area.draw(&Text::new(title, (64, 8), ("sans-serif", 17).into_font().style(FontStyle::Bold).color(&INK)))?;

    // the best curve on top of the legend and drawn last
    let mut order: Vec<usize> = (0..panel.solvers.len()).collect();
    let area_below = |s: usize| {
        let solved = panel.ratios(s);
        solved.iter().map(|ratio| right - ratio.log10().min(right)).sum::<f64>()
    };
    order.sort_by(|&a, &b| area_below(b).total_cmp(&area_below(a)));
    let legend_style = text.pos(Pos::new(HPos::Left, VPos::Center));
    for (row, &s) in order.iter().enumerate().rev() {
        let line = COLOURS[s % COLOURS.len()].stroke_width(2);
        // colours repeat with dashes
        let (dash, gap) = [(1000, 0), (9, 4), (2, 4)][(s / COLOURS.len()).min(2)];
        let mut curve = vec![(0.0, 0.0)];
        for (k, ratio) in panel.ratios(s).iter().enumerate() {
            let x = ratio.log10();
            if x > right {
                break;
            }
            curve.extend([(x, k as f64 / problems as f64), (x, (k + 1) as f64 / problems as f64)]);
        }
        curve.push((right, curve[curve.len() - 1].1));
        let (x, y) = (width - LEGEND + 14, 44 + 21 * row as i32);
        if gap == 0 {
            chart.draw_series([PathElement::new(curve, line)])?;
            area.draw(&PathElement::new([(x, y), (x + 26, y)], line))?;
        } else {
            chart.draw_series(DashedLineSeries::new(curve, dash, gap, line))?;
            for from in (x..x + 26).step_by((dash + gap) as usize) {
                area.draw(&PathElement::new([(from, y), ((from + dash).min(x + 26), y)], line))?;
            }
        }
        let name = format!("{}  {:.0} %", panel.solvers[s], 100.0 * panel.share(s, f64::INFINITY));
        area.draw(&Text::new(name, (x + 34, y), legend_style.clone()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_count_problems_that_nobody_solves() {
        let inf = f64::INFINITY;
        let panel = Panel {
            title: "t".into(),
            solvers: vec!["a".into(), "b".into()],
            times: vec![vec![1.0, inf, 4.0, inf], vec![3.0, 5.0, 2.0, inf]],
        };
        assert_eq!((panel.ratios(0), panel.ratios(1)), (vec![1.0, 2.0], vec![1.0, 1.0, 3.0]));
        let shares = |s| [1.0, 2.0, 3.0, inf].map(|tau| panel.share(s, tau));
        assert_eq!((shares(0), shares(1)), ([0.25, 0.5, 0.5, 0.5], [0.5, 0.5, 0.75, 0.75]));
    }

    #[test]
    fn every_panel_is_drawn_even_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.svg");
        let many = |n: usize| Panel {
            title: "many <solvers>".into(),
            solvers: (0..n).map(|s| format!("s{s}")).collect(),
            times: (0..n)
                .map(|s| (0..5).map(|p| if (s + p) % 4 == 0 { f64::INFINITY } else { 1e-6 * (1 + s * p) as f64 }).collect())
                .collect(),
        };
        for panels in [vec![], vec![Panel::default()], vec![many(1), many(20)]] {
            write_profiles(&path, &panels).unwrap();
            let svg = std::fs::read_to_string(&path).unwrap();
            assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN") && !svg.contains("<solvers>"));
        }
        let error = write_profiles(&path, &[Panel { solvers: vec!["a".into()], ..Panel::default() }]).unwrap_err().to_string();
        assert!(error.contains("times of 0 solvers for 1 names"), "{error}");
    }
}
