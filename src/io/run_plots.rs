//! Panels of what a run or a sweep has left in its directory.
//!
//! ```text
//! TABLE, TABLE.COLUMN   columns of TABLE.csv against time, one panel for each unit; rows with names give a line for each name
//! energy, residual      of steps.csv; of energies and works every one that is not zero throughout
//! TABLE.COLUMN          of a [[field]]: a profile, or a map in colours; of pair correlations: against the distance
//! chains                forces of a slice, as lines between centres
//! forces                distribution of the normal forces: log₁₀ P(F/⟨F⟩)
//! rose                  directions of the normals in a vertical plane, by number and by force: n and −n count as one
//!                       all three at the end (contacts_end.csv), or at an instant, from its frames
//! ```

use super::chain_plots::chains;
use super::chart::{Line, Panel};
use super::error::OutputError;
use super::field_plots::{self, View};
use super::picture::legend::digits;
use super::scene::error::did_you_mean;
use super::scene::units::{number_length, scales};
use super::vtk::StoredFrame;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

/// Most lines of a panel, as many as there are colours; of more, those with the largest values are shown.
const LINES: usize = 7;
/// Width of a bin of forces, in mean forces.
const BIN: f64 = 0.25;
/// What the rows of a table are cells of: a grid, or a profile.
const AXES: [&[&str]; 4] = [&["x", "y", "z"], &["distance"], &["force_over_mean"], &["angle"]];
/// Bins of half a turn.
const ROSE: usize = 18;

/// Columns of energies and works in `steps.csv`, and what a legend calls them.
pub(crate) const ENERGIES: [(&str, &str); 16] = [
    ("kinetic", "kinetic"),
    ("potential", "potential"),
    ("normal_work", "work of normal impulses"),
    ("friction_work", "work of friction"),
    ("rolling_work", "work against rolling"),
    ("overlap_work", "correction of overlaps"),
    ("joint_work", "work of joints"),
    ("motor_work", "work of motors, springs"),
    ("crushing_work", "work of crushing"),
    ("bond_work", "work of mortar"),
    ("drive_work", "work of driven bodies"),
    ("load_work", "work of loads"),
    ("adhesion_work", "work of adhesion"),
    ("scheme_work", "work of the scheme"),
    ("outlet_energy", "taken by outlets"),
    ("inlet_energy", "brought by inlets"),
];
/// Part of the largest energy of a run below which an entry is zero throughout.
const ZERO: f64 = 1e-9;

/// Which of these series of energies are not zero throughout; the first two, kinetic and potential, are shown always.
pub(crate) fn shown(energies: &[&[f64]]) -> Vec<bool> {
    let size = |values: &&[f64]| values.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let sizes: Vec<f64> = energies.iter().map(size).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    sizes.iter().enumerate().map(|(k, size)| k < 2 || *size > ZERO * largest).collect()
}

/// Why there is nothing to draw.
///
/// ```
/// let error = drystone::io::run_plots::panels("no such directory".as_ref(), &["energy".to_owned()], &Default::default()).err();
/// assert!(error.is_some_and(|e| e.to_string().contains("steps.csv")));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] OutputError),
    /// It has nothing of that name, or nothing to show.
    #[error("{0}")]
    Nothing(String),
}

/// A table with names in some of its columns.
pub(super) struct Named {
    pub(super) path: String,
    /// Header, unit and values of each column of numbers; an empty field is not a number.
    columns: Vec<(String, String, Vec<f64>)>,
    /// Names of each row, joined.
    labels: Vec<String>,
    header: Vec<String>,
    /// As they stand in the file.
    rows: Vec<csv::StringRecord>,
}

impl Named {
    fn read(path: &Path) -> Result<Self, PlotError> {
        let failed = |e: csv::Error| OutputError::data(path, e.to_string());
        let mut reader = csv::Reader::from_path(path).map_err(failed)?;
        let header: Vec<String> = reader.headers().map_err(failed)?.iter().map(str::to_owned).collect();
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().map_err(failed)?;
        let number = |text: &str| if text.is_empty() { Some(f64::NAN) } else { text.trim().parse::<f64>().ok() };
        let (mut columns, mut labels) = (Vec::new(), vec![String::new(); rows.len()]);
        for (k, head) in header.iter().enumerate() {
            let values: Option<Vec<f64>> = rows.iter().map(|row| number(row.get(k).unwrap_or_default())).collect();
            match values {
                Some(values) => {
                    let (name, unit) = head.split_once(" [").map_or((head.as_str(), ""), |(name, unit)| (name, unit.trim_end_matches(']')));
                    columns.push((name.to_owned(), unit.to_owned(), values));
                }
                None => labels.iter_mut().zip(&rows).for_each(|(label, row)| {
                    let joint = if label.is_empty() { "" } else { " – " };
                    *label += &format!("{joint}{}", row.get(k).unwrap_or_default());
                }),
            }
        }
        Ok(Self { path: path.display().to_string(), columns, labels, header, rows })
    }

    /// Name, unit and values of a column.
    pub(super) fn column(&self, name: &str) -> Result<&(String, String, Vec<f64>), PlotError> {
        self.columns.iter().find(|c| c.0 == name).ok_or_else(|| {
            let known = did_you_mean(name, self.columns.iter().map(|c| c.0.as_str()));
            PlotError::Nothing(format!("{}: found no column \"{name}\"\n  {known}", self.path))
        })
    }

    /// Unit and values of a column of numbers, or of texts that are numbers with units of one kind (`1 ms`, `0.002 s`): in the first of these.
    fn places(&self, name: &str) -> Option<(String, Vec<f64>)> {
        let column = self.header.iter().position(|head| head == name)?;
        let split = |row: &csv::StringRecord| {
            let text = row.get(column)?.trim().to_owned();
            let (number, unit) = text.split_at(number_length(&text));
            Some((number.parse::<f64>().ok()?, unit.trim().to_owned()))
        };
        let found = self.rows.iter().map(split).collect::<Option<Vec<(f64, String)>>>()?;
        let units: Vec<&str> = found.iter().map(|(_, unit)| unit.as_str()).collect();
        let first = units.iter().copied().find(|unit| !unit.is_empty()).unwrap_or_default();
        let values = if units.iter().all(|unit| *unit == first) {
            found.iter().map(|(number, _)| *number).collect()
        } else {
            let scales = scales(&units)?;
            let of_first = units.iter().zip(&scales).find(|(unit, _)| **unit == first).map_or(1.0, |(_, scale)| *scale);
            found.iter().zip(&scales).map(|((number, _), scale)| number * scale / of_first).collect()
        };
        Some((first.to_owned(), values))
    }

    /// Axes of the grid whose cells its rows are, or the one of a profile; none for any other table.
    pub(super) fn axes(&self) -> Option<&'static [&'static str]> {
        let begins =
            |axes: &[&str]| self.columns.iter().map(|c| c.0.as_str()).take(1 + axes.len()).eq(["time"].iter().chain(axes).copied());
        AXES.into_iter().find(|axes| begins(axes))
    }

    /// Lines of a column against another, one for each label.
    fn lines(&self, x: &[f64], (name, _, y): &(String, String, Vec<f64>), single: bool) -> Vec<Line> {
        let mut by_label: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for ((label, x), y) in self.labels.iter().zip(x).zip(y) {
            by_label.entry(label).or_default().push((*x, *y));
        }
        let name = |label: &str| match (label.is_empty(), single) {
            (true, _) => name.clone(),
            (false, true) => label.to_owned(),
            (false, false) => format!("{label} {name}"),
        };
        by_label.into_iter().map(|(label, points)| Line::new(&name(label), points)).collect()
    }
}

/// What is drawn of a run beside tables.
pub const WORDS: [&str; 5] = ["energy", "residual", "forces", "rose", "chains"];

/// Names of the tables of a directory, without `.csv`.
///
/// # Errors
/// The directory cannot be listed.
pub fn tables(directory: &Path) -> Result<Vec<String>, OutputError> {
    if !directory.exists() {
        return Err(OutputError::data(directory, "there is no such folder; name one that `drystone run --out` has written"));
    }
    let files = std::fs::read_dir(directory).map_err(OutputError::file(directory, "listed"))?;
    let name = |path: PathBuf| (path.extension()? == "csv").then(|| Some(path.file_stem()?.to_str()?.to_owned()))?;
    let mut found: Vec<String> = files.filter_map(|file| name(file.ok()?.path())).collect();
    found.sort_unstable();
    Ok(found)
}

/// Names of the columns of one of these tables, without their units.
///
/// # Errors
/// The table cannot be read.
pub fn columns(directory: &Path, table: &str) -> Result<Vec<String>, OutputError> {
    let path = directory.join(format!("{table}.csv"));
    let failed = |e: csv::Error| OutputError::data(&path, e.to_string());
    let mut reader = csv::Reader::from_path(&path).map_err(failed)?;
    let bare = |head: &str| head.split_once(" [").map_or(head, |(name, _)| name).to_owned();
    Ok(reader.headers().map_err(failed)?.iter().map(bare).collect())
}

/// The table of that name.
fn named(directory: &Path, name: &str) -> Result<Named, PlotError> {
    let path = directory.join(format!("{name}.csv"));
    if !path.exists() {
        let there = tables(directory)?;
        let known = did_you_mean(name, WORDS.into_iter().chain(there.iter().map(String::as_str)));
        return Err(PlotError::Nothing(format!("{}: found no table \"{name}\"\n  {known}", path.display())));
    }
    Named::read(&path)
}

/// The panels of what is named; `what` is not empty. Tables are drawn against time, or against their column `x`.
///
/// # Errors
/// A table is missing or spoilt, or has no such column.
pub fn panels(directory: &Path, what: &[String], view: &View) -> Result<Vec<Panel>, PlotError> {
    let (mut panels, x) = (Vec::new(), view.x.as_deref());
    // what of the view has something to say
    let (mut instants, mut slices) = (false, false);
    for what in what {
        match what.as_str() {
            "energy" => {
                let steps = Named::read(&directory.join("steps.csv"))?;
                let there: Vec<&str> = ENERGIES.iter().map(|e| e.0).filter(|name| steps.column(name).is_ok()).collect();
                let values = there.iter().map(|name| steps.column(name).map(|c| &c.2[..])).collect::<Result<Vec<_>, _>>()?;
                let kept: Vec<&str> = there.iter().zip(shown(&values)).filter(|(_, shown)| *shown).map(|(name, _)| *name).collect();
                panels.extend(series(&steps, Some(&kept), "J", x)?);
            }
            "residual" => panels.push(residual(directory)?),
            "forces" => {
                panels.push(forces(directory, &view.at)?);
                instants = true;
            }
            word @ ("rose" | "chains") => {
                let draw = |at| if word == "rose" { rose(directory, at) } else { chains(directory, view, at) };
                let at: Vec<Option<f64>> = if view.at.is_empty() { vec![None] } else { view.at.iter().copied().map(Some).collect() };
                for at in at {
                    panels.push(draw(at)?);
                }
                (instants, slices) = (true, slices || word == "chains");
            }
            other => match other.split_once('.') {
                Some((name, column)) => {
                    let table = named(directory, name)?;
                    if table.axes().is_some() {
                        instants = true;
                        panels.extend(field_plots::field(&table, column, view)?);
                    } else {
                        panels.extend(series(&table, Some(&[column]), "", x)?);
                    }
                }
                None => {
                    let table = named(directory, other)?;
                    let own: Vec<&str> = table.columns.iter().map(|c| c.0.as_str()).skip(1 + table.axes().map_or(0, <[_]>::len)).collect();
                    match (table.axes(), &own[..]) {
                        (None, _) => panels.extend(series(&table, None, "", x)?),
                        (Some(axes), columns) if axes.len() == 1 || columns.len() == 1 => {
                            instants = true;
                            for column in columns {
                                panels.extend(field_plots::field(&table, column, view)?);
                            }
                        }
                        (Some(_), several) => {
                            let several = several.join(", ");
                            let message = format!("{}: a table of fields; name one as {other}.COLUMN, of {several}", table.path);
                            return Err(PlotError::Nothing(message));
                        }
                    }
                }
            },
        }
    }
    let unused = [
        (!view.at.is_empty() && !instants, "--at: instants are those of fields, pair correlations, forces, rose and chains"),
        (view.slice.is_some() && !slices, "--slice: a slice is one of chains"),
    ];
    match unused.into_iter().find(|(unused, _)| *unused) {
        Some((_, why)) => Err(PlotError::Nothing(format!("{why}; none of them is drawn here"))),
        None => Ok(panels),
    }
}

/// Columns of a table against time or another column, grouped by unit; `unit` is that of columns without one.
fn series(table: &Named, columns: Option<&[&str]>, unit: &str, x: Option<&str>) -> Result<Vec<Panel>, PlotError> {
    let timeless = || PlotError::Nothing(format!("{}: it has no times\n  name a column with --x, to which others belong", table.path));
    let along = table.column(x.unwrap_or("time")).map_err(|error| if x.is_none() { timeless() } else { error })?;
    let below = match (x, along.1.as_str()) {
        (None, _) => "time (s)".to_owned(),
        (Some(x), "") => x.to_owned(),
        (Some(x), unit) => format!("{x} ({unit})"),
    };
    let wanted: Vec<&(String, String, Vec<f64>)> = match columns {
        Some(names) => names.iter().map(|name| table.column(name)).collect::<Result<_, _>>()?,
        None => table.columns.iter().filter(|c| c.0 != "time" && c.0 != along.0).collect(),
    };
    let mut panels: Vec<Panel> = Vec::new();
    for column in &wanted {
        let unit = if column.1.is_empty() { unit } else { &column.1 };
        // one column names its axis, several share their unit
        let axis = match (wanted.len(), unit) {
            (1, "") => column.0.clone(),
            (1, unit) => format!("{} ({unit})", column.0),
            (_, "") => "–".to_owned(),
            (_, unit) => unit.to_owned(),
        };
        let lines = table.lines(&along.2, column, wanted.len() == 1);
        match panels.iter_mut().find(|p| p.y == axis) {
            Some(panel) => panel.lines.extend(lines),
            None => panels.push(Panel::new(&below, &axis, lines)),
        }
    }
    for panel in &mut panels {
        if let [line] = &panel.lines[..]
            && wanted.len() > 1
        {
            panel.y = if panel.y == "–" { line.name.clone() } else { format!("{} ({})", line.name, panel.y) };
        }
        largest(panel);
    }
    Ok(panels)
}

/// Leaves the lines with the largest values, in their order, where there are too many.
fn largest(panel: &mut Panel) {
    let size = |line: &Line| line.points.iter().map(|p| p.1.abs()).filter(|y| y.is_finite()).fold(0.0, f64::max);
    let mut sizes: Vec<f64> = panel.lines.iter().map(size).collect();
    if sizes.len() > LINES {
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes[LINES - 1];
        let all = panel.lines.len();
        panel.lines.retain(|line| size(line) >= least);
        panel.lines.truncate(LINES);
        panel.title = format!("the {LINES} largest of {all}");
    }
}

fn residual(directory: &Path) -> Result<Panel, PlotError> {
    let steps = Named::read(&directory.join("steps.csv"))?;
    let (time, e_s) = (&steps.column("time")?.2, &steps.column("e_s")?.2);
    let points = time.iter().zip(e_s).map(|(t, e)| (*t, if *e > 0.0 { libm::log10(*e) } else { f64::NAN }));
    Ok(Panel::new("time (s)", "log10 of the residual e_s", vec![Line::new("e_s", points)]))
}

/// Normals and forces of the contacts that press.
struct Pressing {
    /// Where they were found, and the instant (s) if it is not the end.
    source: String,
    time: Option<f64>,
    normals: Vec<[f64; 3]>,
    forces: Vec<f64>,
}

impl Pressing {
    /// At the end, or in the frame that is nearest to an instant; normals where they are `wanted`.
    fn of(directory: &Path, at: Option<f64>, wanted: bool) -> Result<Self, PlotError> {
        let (path, time, normals, forces) = match at {
            None => {
                let path = directory.join("contacts_end.csv");
                let table = Named::read(&path)?;
                let column = |name: &str| table.column(name).map(|c| c.2.clone());
                let (x, y, z) = (column("normal_x")?, column("normal_y")?, column("normal_z")?);
                let normals: Vec<[f64; 3]> = x.into_iter().zip(y).zip(z).map(|((x, y), z)| [x, y, z]).collect();
                (path, None, normals, column("normal_force")?)
            }
            Some(time) => {
                let frame = StoredFrame::nearest(directory, "contacts", time)?;
                let normals = if wanted { frame.vectors("PointData", "normal")? } else { Vec::new() };
                let normals = normals.iter().map(|n| n.to_array()).collect();
                (directory.join("contacts.pvd"), Some(frame.time), normals, frame.array("PointData", "normal_force")?)
            }
        };
        let kept: Vec<usize> = (0..forces.len()).filter(|&k| forces[k] > 0.0).collect();
        if kept.is_empty() {
            let when = time.map_or("at the end of this run".to_owned(), |t| format!("at {t} s"));
            return Err(PlotError::Nothing(format!("{}: no contact presses {when}", path.display())));
        }
        let normals = kept.iter().filter_map(|&k| normals.get(k).copied()).collect();
        Ok(Self { source: path.display().to_string(), time, normals, forces: kept.iter().map(|&k| forces[k]).collect() })
    }
}

/// ` at t s`; nothing at the end.
pub(super) fn instant(time: Option<f64>) -> String {
    time.map_or(String::new(), |t| format!(" at {} s", field_plots::trim(t)))
}

/// Probability density of forces over their mean, a line for each instant.
fn forces(directory: &Path, at: &[f64]) -> Result<Panel, PlotError> {
    let at: Vec<Option<f64>> = if at.is_empty() { vec![None] } else { at.iter().copied().map(Some).collect() };
    let (mut lines, mut title) = (Vec::new(), Vec::new());
    for at in at {
        let pressing = Pressing::of(directory, at, false)?;
        let (line, mean) = density(&pressing);
        lines.push(line);
        title.push(format!("{} N{}", digits(mean), instant(pressing.time)));
    }
    Ok(Panel::new("F / mean F", "log10 of the density", lines).titled(&format!("mean normal force {}", title.join(", "))))
}

fn density(pressing: &Pressing) -> (Line, f64) {
    let forces = &pressing.forces;
    let found = crate::model::forces::density(forces, BIN);
    let points = found.iter().filter(|bin| bin[1] > 0.0).map(|[force, density]| (*force, libm::log10(*density)));
    let mean = forces.iter().sum::<f64>() / forces.len() as f64;
    (Line::new(&format!("{} contacts{}", forces.len(), instant(pressing.time)), points).with_points(), mean)
}

/// Directions of normals in the plane of x and z.
fn rose(directory: &Path, at: Option<f64>) -> Result<Panel, PlotError> {
    let pressing = Pressing::of(directory, at, true)?;
    let contacts = pressing.normals.iter().zip(pressing.forces.iter().copied());
    let Some(found) = crate::model::forces::rose(contacts, [0, 2], ROSE) else {
        return Err(PlotError::Nothing(format!("{}: all contacts press along y, across the plane of the rose", pressing.source)));
    };
    let outline = |bins: &[f64]| {
        let point = |k: usize, at: usize| {
            let (s, c) = libm::sincos(TAU * (at as f64 - 0.5) / (2 * ROSE) as f64);
            // an even rose has the radius 1
            let radius = bins[k % ROSE];
            (radius * c, radius * s)
        };
        let mut points: Vec<(f64, f64)> = (0..2 * ROSE).flat_map(|k| [point(k, k), point(k, k + 1)]).collect();
        points.extend(points.first().copied());
        points
    };
    let lines = vec![Line::new("by number", outline(&found[0])), Line::new("by force", outline(&found[1]))];
    Ok(Panel::new("x", "z", lines).titled(&format!("directions of contact normals{}", instant(pressing.time))).equal())
}

/// Figures of a sweep against one of its keys, a line for each combination of the others; without `x` against the first of numbers.
///
/// # Errors
/// `results.csv` is missing or spoilt, or has no such column.
pub fn sweep_panels(directory: &Path, what: &[String], x: Option<&str>) -> Result<Vec<Panel>, PlotError> {
    let path = directory.join("results.csv");
    let table = Named::read(&path)?;
    // the varied keys stand before what a run tells; their values may be texts, which part lines as numbers do
    let told = table.header.iter().position(|h| ["scene", "time", "failure"].contains(&h.as_str())).unwrap_or(table.header.len());
    let first = || table.header[..told].iter().map(String::as_str).find(|key| table.places(key).is_some());
    let x =
        x.or_else(first).ok_or_else(|| PlotError::Nothing(format!("{}: no key with numbers; name a column with --x", path.display())))?;
    let (unit, places) = match table.places(x) {
        Some(found) => found,
        None if table.header[..told].iter().any(|key| key == x) => {
            let message = "its values are no numbers with units of one kind: such a key parts the lines, each with a name of its own";
            return Err(PlotError::Nothing(format!("{}: nothing can stand against \"{x}\"\n  {message}", path.display())));
        }
        None => table.column(x).map(|(_, unit, places)| (unit.clone(), places.clone()))?,
    };
    let others: Vec<usize> = (0..told).filter(|&k| table.header[k] != x).collect();
    let mut panels = Vec::new();
    for what in what {
        if table.header.contains(what) && table.columns.iter().all(|column| column.0 != *what) {
            return Err(PlotError::Nothing(format!("{}: \"{what}\" holds texts, which cannot be drawn", path.display())));
        }
        let (name, _, values) = table.column(what)?;
        if !values.iter().zip(&places).any(|(y, x)| y.is_finite() && x.is_finite()) {
            return Err(PlotError::Nothing(format!("{}: no run has a number of \"{what}\", so there is nothing to draw", path.display())));
        }
        // in the order of the sweep, which is the one of its command
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for ((row, x), y) in table.rows.iter().zip(&places).zip(values) {
            let label = others.iter().map(|&k| format!("{} = {}", table.header[k], &row[k])).collect::<Vec<_>>().join(", ");
            match lines.iter_mut().find(|line| line.0 == label) {
                Some((_, points)) => points.push((*x, *y)),
                None => lines.push((label, vec![(*x, *y)])),
            }
        }
        let line = |(label, mut points): (String, Vec<(f64, f64)>)| {
            points.retain(|p| p.0.is_finite() && p.1.is_finite());
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line::new(if label.is_empty() { name } else { &label }, points).with_points()
        };
        let x = if unit.is_empty() { x.to_owned() } else { format!("{x} ({unit})") };
        panels.push(Panel::new(&x, name, lines.into_iter().map(line).collect()));
    }
    Ok(panels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(dir.path().join(name), text).unwrap());
        dir
    }

    fn draw(dir: &tempfile::TempDir, what: &[&str]) -> Result<Vec<Panel>, PlotError> {
        panels(dir.path(), &what.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>(), &View::default())
    }

    #[test]
    fn columns_of_one_unit_share_a_panel_and_names_give_lines() {
        let flow = "time [s],drain.mass [kg],drain.count,tap.mass [kg]\n0,0,0,1\n1,2,5,3\n";
        let loads = "time [s],body1,body2,normal [N]\n0,a,b,1\n0,b,c,2\n1,a,b,3\n1,b,c,\n";
        let dir = folder(&[("flow.csv", flow), ("joint_forces.csv", loads)]);
        let found = draw(&dir, &["flow"]).unwrap();
        let names = |p: &Panel| p.lines.iter().map(|l| l.name.clone()).collect::<Vec<_>>();
        assert_eq!((found.len(), names(&found[0])), (2, vec!["drain.mass".to_owned(), "tap.mass".to_owned()]));
        assert_eq!(found[0].lines[0].points, [(0.0, 0.0), (1.0, 2.0)]);
        let joints = draw(&dir, &["joint_forces.normal"]).unwrap();
        assert_eq!((joints[0].y.as_str(), names(&joints[0])), ("normal (N)", vec!["a – b".to_owned(), "b – c".to_owned()]));
        assert_eq!(joints[0].lines[0].points, [(0.0, 1.0), (1.0, 3.0)]);
        let error = draw(&dir, &["flow.drain.mas"]).unwrap_err().to_string();
        assert!(error.contains("flow.csv") && error.contains("drain.mass"), "{error}");
        assert!(draw(&dir, &["energy"]).unwrap_err().to_string().contains("steps.csv"));
    }

    #[test]
    fn densities_of_forces_and_directions_sum_to_one() {
        let mut text = "body1,body2,normal_x,normal_y,normal_z,normal_force [N]\n".to_owned();
        for k in 0..400 {
            let (s, c) = (f64::from(k) * 0.37).sin_cos();
            text += &format!("a,b,{c},0,{s},{}\n", 1.0 + f64::from(k % 7));
        }
        let dir = folder(&[("contacts_end.csv", &text)]);
        let found = draw(&dir, &["forces", "rose"]).unwrap();
        let total: f64 = found[0].lines[0].points.iter().map(|p| 10f64.powf(p.1) * BIN).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        for line in &found[1].lines {
            // every bin stands there twice, each with two corners
            let radii: f64 = line.points[..4 * ROSE].iter().map(|p| p.0.hypot(p.1)).sum();
            assert!((radii / (4.0 * ROSE as f64) - 1.0).abs() < 1e-12, "{radii}");
        }
        let none = folder(&[("contacts_end.csv", "body1,body2,normal_x,normal_y,normal_z,normal_force [N]\n")]);
        assert!(draw(&none, &["rose"]).unwrap_err().to_string().contains("no contact presses"));
    }

    #[test]
    fn a_sweep_has_a_line_for_each_value_of_the_other_keys() {
        let text = "mu,seed,scene,time,way,failure\n0.3,1,a,1,5,\n0.1,1,a,1,4,\n0.1,2,a,1,6,\n0.3,2,a,,,broken\n";
        let dir = folder(&[("results.csv", text)]);
        let found = sweep_panels(dir.path(), &["way".to_owned()], None).unwrap();
        assert_eq!(found[0].x, "mu");
        let lines: Vec<_> = found[0].lines.iter().map(|l| (l.name.as_str(), l.points.clone())).collect();
        assert_eq!(lines, [("seed = 1", vec![(0.1, 4.0), (0.3, 5.0)]), ("seed = 2", vec![(0.1, 6.0)])]);
        assert!(sweep_panels(dir.path(), &["weigh".to_owned()], None).unwrap_err().to_string().contains("results.csv"));
    }

    #[test]
    fn keys_of_texts_part_the_lines_of_a_sweep_and_those_with_one_unit_are_drawn_against() {
        let text = "step,impact,n,scene,time,way\n1 ms,newton,20,a,1,1\n1 ms,newton,100,a,1,2\n1 ms,fremond,20,a,1,3\n1 ms,fremond,100,a,1,4\n\
                    2ms,newton,20,a,1,5\n2ms,newton,100,a,1,6\n2ms,fremond,20,a,1,7\n2ms,fremond,100,a,1,8\n";
        let dir = folder(&[("results.csv", text)]);
        let lines = |x: Option<&str>| {
            let found = sweep_panels(dir.path(), &["way".to_owned()], x).unwrap();
            let lines: Vec<_> = found[0].lines.iter().map(|l| (l.name.clone(), l.points.clone())).collect();
            (found[0].x.clone(), lines)
        };
        let (x, of_step) = lines(None);
        assert_eq!(x, "step (ms)");
        assert_eq!(of_step[1], ("impact = newton, n = 100".to_owned(), vec![(1.0, 2.0), (2.0, 6.0)]));
        let names = |lines: &[(String, Vec<(f64, f64)>)]| lines.iter().map(|l| l.0.clone()).collect::<Vec<_>>();
        assert_eq!(
            names(&of_step),
            ["impact = newton, n = 20", "impact = newton, n = 100", "impact = fremond, n = 20", "impact = fremond, n = 100"]
        );
        let (_, of_n) = lines(Some("n"));
        assert_eq!(of_n[3], ("step = 2ms, impact = fremond".to_owned(), vec![(20.0, 7.0), (100.0, 8.0)]));
        let error = sweep_panels(dir.path(), &["way".to_owned()], Some("impact")).unwrap_err().to_string();
        assert!(error.contains("\"impact\"") && error.contains("parts the lines"), "{error}");
    }

    #[test]
    fn units_of_one_kind_are_converted_and_what_is_no_number_is_told() {
        let text = "step,pull,size,mass,scene,time,way,warnings,state_hash\n1 ms,0.2 g,1 m,1 g,a,1,1,,x\n0.002 s,9.80665 m/s2,1 s,2,a,1,2,,y\n0.5ms,0.5 g,2 m,3,a,1,3,,z\n";
        let dir = folder(&[("results.csv", text)]);
        let draw = |what: &str, x: &str| sweep_panels(dir.path(), &[what.to_owned()], Some(x));
        let along = |x: &str| {
            let found = draw("way", x).unwrap();
            let mut places: Vec<f64> = found[0].lines.iter().flat_map(|l| l.points.iter().map(|p| p.0)).collect();
            places.sort_by(f64::total_cmp);
            (found[0].x.clone(), places)
        };
        assert_eq!(along("step"), ("step (ms)".to_owned(), vec![0.5, 1.0, 2.0]));
        assert_eq!(along("pull"), ("pull (g)".to_owned(), vec![0.2, 0.5, 1.0]), "g beside an acceleration is that of the earth");
        for (what, x, told) in [
            ("way", "size", "parts the lines"),
            ("way", "mass", "parts the lines"), // a plain number may be a mass or an acceleration beside g
            ("warnings", "step", "no run has a number of \"warnings\""),
            ("state_hash", "step", "holds texts"),
        ] {
            let error = draw(what, x).unwrap_err().to_string();
            assert!(error.contains(told), "{what} {x}: {error}");
        }
    }

    #[test]
    fn of_many_lines_the_largest_are_shown() {
        let head: Vec<String> = (0..30).map(|k| format!("c{k} [m]")).collect();
        let row: Vec<String> = (0..30).map(|k| format!("{}", (k * 7) % 30)).collect();
        let dir = folder(&[("t.csv", &format!("time,{}\n0,{}\n", head.join(","), row.join(",")))]);
        let found = draw(&dir, &["t"]).unwrap();
        assert_eq!((found[0].lines.len(), found[0].title.as_str()), (LINES, "the 7 largest of 30"));
        assert!(found[0].lines.iter().all(|l| l.points[0].1 >= 23.0));
    }
}
