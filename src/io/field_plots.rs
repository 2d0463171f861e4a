//! Panels of coarse-grained fields: profiles along an axis and maps of a plane.

use super::chart::{Line, Panel};
use super::map::Map;
use super::run_plots::{Named, PlotError};
use super::vtk::nearest_instant;

/// Which part of a run is drawn, and from where.
///
/// ```
/// use drystone::io::field_plots::View;
/// assert!(View { along: Some(2), ..View::default() }.at.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Instants of fields, forces, roses and chains (s), the nearest that are there; none: the last.
    pub at: Vec<f64>,
    /// Mean over all instants from this one on (s), in place of `at`.
    pub from: Option<f64>,
    /// Axis of profiles; none: the only one with several cells, or a map.
    pub along: Option<usize>,
    /// Axis and places (m) between which contacts belong to a slice of chains; none: a layer of the middle, seen along y.
    pub slice: Option<(usize, [f64; 2])>,
    /// Column of tables along x; none: the time.
    pub x: Option<String>,
}

/// A table of fields: cells of a grid at several instants.
struct Cells<'a> {
    values: &'a [f64],
    times: Vec<f64>,
    /// Names of the axes, and the centres of the cells along each of three.
    names: &'static [&'static str],
    places: [Vec<f64>; 3],
}

impl<'a> Cells<'a> {
    fn of(table: &'a Named, values: &'a [f64]) -> Result<Self, PlotError> {
        let time = &table.column("time")?.2;
        let mut times = time.clone();
        times.dedup();
        let count = if times.is_empty() { 0 } else { time.len() / times.len() };
        if count == 0 || count * times.len() != time.len() {
            return Err(PlotError::Nothing(format!("{}: its rows are not those of whole grids", table.path)));
        }
        let axis = |name: &str| -> Result<Vec<f64>, PlotError> {
            let mut places = table.column(name)?.2[..count].to_vec();
            places.sort_by(f64::total_cmp);
            places.dedup();
            Ok(places)
        };
        let names = table.axes().unwrap_or_default();
        let mut places = [0, 1, 2].map(|_| vec![0.0]);
        for (places, name) in places.iter_mut().zip(names) {
            *places = axis(name)?;
        }
        if places.iter().map(Vec::len).product::<usize>() != count {
            return Err(PlotError::Nothing(format!("{}: its rows are not those of whole grids", table.path)));
        }
        Ok(Self { values, times, names, places })
    }

    fn count(&self) -> usize {
        self.values.len() / self.times.len()
    }

    /// What is to be drawn: a label and a value for each cell.
    fn instants(&self, view: &View) -> Result<Vec<(String, Vec<f64>)>, String> {
        let n = self.count();
        let of = |k: usize| &self.values[k * n..(k + 1) * n];
        if let Some(from) = view.from {
            let wanted: Vec<usize> = (0..self.times.len()).filter(|&k| self.times[k] >= from).collect();
            let cells = (0..n).map(|cell| mean(wanted.iter().map(|&k| of(k)[cell]))).collect();
            return Ok(vec![(format!("mean of {} instants from {from} s", wanted.len()), cells)]);
        }
        let last = self.times.last().copied();
        let wanted: Vec<f64> = if view.at.is_empty() { last.into_iter().collect() } else { view.at.clone() };
        let drawn = |t: f64| {
            let k = nearest_instant(&self.times, t)?.unwrap_or(0);
            Ok((format!("t = {} s", trim(self.times[k])), of(k).to_vec()))
        };
        wanted.into_iter().map(drawn).collect()
    }

    /// Means over the cells that share their places along some axes, the first of these fastest.
    fn over(&self, values: &[f64], axes: &[usize]) -> Vec<f64> {
        let counts = [0, 1, 2].map(|a| self.places[a].len());
        let at = |cell: usize| [cell % counts[0], cell / counts[0] % counts[1], cell / counts[0] / counts[1]];
        let slot = |cell: usize| axes.iter().rev().fold(0, |slot, &a| slot * counts[a] + at(cell)[a]);
        let mut groups = vec![Vec::new(); axes.iter().map(|&a| counts[a]).product()];
        values.iter().enumerate().for_each(|(cell, value)| groups[slot(cell)].push(*value));
        groups.into_iter().map(|group| mean(group.into_iter())).collect()
    }

    /// From face to face along an axis.
    fn range(&self, axis: usize) -> [f64; 2] {
        let places = &self.places[axis];
        let (first, last) = (places[0], places[places.len() - 1]);
        let half = 0.5 * (last - first) / (places.len() - 1).max(1) as f64;
        [first - half, last + half]
    }
}

/// As few digits as tell an instant.
pub(super) fn trim(t: f64) -> String {
    let text = format!("{t:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Of those that are finite; not a number without any.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.filter(|v| v.is_finite()).fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    sum / count
}

/// The panels of a column of a table of fields.
pub(super) fn field(table: &Named, column: &str, view: &View) -> Result<Vec<Panel>, PlotError> {
    let (name, unit, values) = table.column(column)?;
    let cells = Cells::of(table, values)?;
    let name = if unit.is_empty() { name.clone() } else { format!("{name} ({unit})") };
    let mut seen: Vec<usize> = (0..3).filter(|&a| cells.places[a].len() > 1).collect();
    let instants = cells.instants(view).map_err(|cause| PlotError::Nothing(format!("{}: {cause}", table.path)))?;
    if let Some(from) = view.from.filter(|from| cells.times.iter().all(|t| t < from)) {
        let last = cells.times.last().copied().unwrap_or(0.0);
        return Err(PlotError::Nothing(format!("{}: no instant from {from} s on; the last is {last} s", table.path)));
    }
    let along = view.along.or(if seen.len() == 1 { Some(seen[0]) } else { None });
    if let Some(axis) = along {
        let Some(name_of) = cells.names.get(axis) else {
            return Err(PlotError::Nothing(format!("{}: has one axis, {}", table.path, cells.names.join(", "))));
        };
        let place = match table.column(name_of)?.1.as_str() {
            "" => (*name_of).to_owned(),
            unit => format!("{name_of} ({unit})"),
        };
        let line = |(label, values): (String, Vec<f64>)| {
            let points = cells.places[axis].iter().copied().zip(cells.over(&values, &[axis]));
            // heights stand upright
            let points: Vec<(f64, f64)> = if axis == 2 { points.map(|(z, v)| (v, z)).collect() } else { points.collect() };
            Line::new(&label, points).with_points()
        };
        let lines = instants.into_iter().map(line).collect();
        return Ok(vec![if axis == 2 { Panel::new(&name, &place, lines) } else { Panel::new(&place, &name, lines) }]);
    }
    if seen.is_empty() {
        return Err(PlotError::Nothing(format!("{}: a grid of one cell has neither profile nor map", table.path)));
    }
    let mut over = String::new();
    if seen.len() == 3 {
        let few = (0..3).min_by_key(|&a| cells.places[a].len()).unwrap_or(1);
        seen.retain(|a| *a != few);
        over = format!(", mean over {}", cells.names[few]);
    }
    let map = |(label, values): (String, Vec<f64>)| {
        let values = cells.over(&values, &seen);
        let [x, y] = [seen[0], seen[1]];
        let map = Map { x: cells.range(x), y: cells.range(y), columns: cells.places[x].len(), values, name: name.clone() };
        let panel = Panel::new(&format!("{} (m)", cells.names[x]), &format!("{} (m)", cells.names[y]), Vec::new());
        Panel { map: Some(map), ..panel.titled(&(label + &over)).equal() }
    };
    Ok(instants.into_iter().map(map).collect())
}
