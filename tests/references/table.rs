//! Tables of numbers with named columns, and how two of them are compared.

use drystone::cluster::{Signal, SystemsReport};
use drystone::simulation::Simulation;
use std::path::Path;

pub(crate) type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Rows of numbers: of a run of ours every step, from the state at the start on.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) report: SystemsReport,
}

impl Table {
    /// Runs a simulation and keeps these signals of every step.
    pub(crate) fn run(sim: &mut Simulation, columns: &[(&str, Signal)], steps: u64) -> Fallible<Self> {
        let signals: Vec<Signal> = columns.iter().map(|c| c.1).collect();
        let number = sim.record(1, signals);
        let report = sim.advance(steps)?.systems;
        let trace = sim.trace(number).ok_or("no trace")?;
        let names = columns.iter().map(|c| c.0.to_string()).collect();
        Ok(Self { names, rows: trace.rows().map(<[f64]>::to_vec).collect(), report })
    }

    /// Place of a column.
    pub(crate) fn at(&self, name: &str) -> Fallible<usize> {
        self.names.iter().position(|n| n == name).ok_or_else(|| format!("there is no column {name:?} in {:?}", self.names).into())
    }

    /// Adds a column that follows from the others; `f` gets the row.
    pub(crate) fn with(mut self, name: &str, f: impl Fn(&[f64]) -> f64) -> Self {
        self.rows.iter_mut().for_each(|row| {
            let x = f(row);
            row.push(x);
        });
        self.names.push(name.into());
        self
    }

    /// A held input is written into the row in which it was computed, not into the next: moves a column up by one row; the last
    /// row goes.
    pub(crate) fn earlier(mut self, name: &str) -> Fallible<Self> {
        let at = self.at(name)?;
        for k in 1..self.rows.len() {
            self.rows[k - 1][at] = self.rows[k][at];
        }
        self.rows.pop();
        Ok(self)
    }

    /// Reads a file of numbers with a header; lines that begin with # are comments.
    pub(crate) fn read(path: &Path) -> Fallible<Self> {
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_path(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let names = reader.headers()?.iter().map(str::to_string).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            rows.push(record?.iter().map(str::parse).collect::<Result<Vec<f64>, _>>()?);
        }
        Ok(Self { names, rows, ..Self::default() })
    }
}

/// Columns that are compared, in which rows, and how far they may be apart.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    /// Names, with blanks between them.
    pub(crate) columns: &'static str,
    pub(crate) tolerance: f64,
    /// of the value itself
    pub(crate) relative: bool,
    /// first row
    pub(crate) row: usize,
    /// s
    pub(crate) from: f64,
    /// s, not included
    pub(crate) until: f64,
}

/// Absolute deviations of these columns in all rows.
pub(crate) fn within(tolerance: f64, columns: &'static str) -> Check {
    Check { columns, tolerance, relative: false, row: 0, from: f64::NEG_INFINITY, until: f64::INFINITY }
}

impl Check {
    /// In rows with `from ≤ t`.
    pub(crate) fn from(self, from: f64) -> Self {
        Self { from, ..self }
    }

    /// In rows with `t < until`.
    pub(crate) fn until(self, until: f64) -> Self {
        Self { until, ..self }
    }

    /// From this row on, counted from 0.
    pub(crate) fn after_row(self, row: usize) -> Self {
        Self { row, ..self }
    }

    /// Relative to each value.
    pub(crate) fn relative(self) -> Self {
        Self { relative: true, ..self }
    }

    /// Largest deviation in each column.
    pub(crate) fn deviations(&self, ours: &Table, theirs: &Table) -> Fallible<Vec<(&'static str, f64)>> {
        let time = theirs.at("t")?;
        let mut out = Vec::new();
        for column in self.columns.split(' ') {
            let (a, b) = (ours.at(column)?, theirs.at(column)?);
            let mut worst = 0f64;
            for (x, y) in ours.rows.iter().zip(&theirs.rows).skip(self.row) {
                if y[time] >= self.from && y[time] < self.until {
                    let scale = if self.relative && y[b] != 0.0 { y[b].abs() } else { 1.0 };
                    let d = (x[a] - y[b]).abs() / scale;
                    // NaN counts as infinitely far
                    worst = if d <= worst {
                        worst
                    } else if d.is_nan() {
                        f64::INFINITY
                    } else {
                        d
                    };
                }
            }
            out.push((column, worst));
        }
        Ok(out)
    }
}

/// One case: how it is built, and what its README asks of it.
pub(crate) struct Case {
    /// Folder in `../shared/reference`.
    pub(crate) name: &'static str,
    /// One line about the model.
    pub(crate) model: &'static str,
    /// Where the reference comes from.
    pub(crate) source: &'static str,
    /// Our row that belongs to their first one.
    pub(crate) first: usize,
    /// Steps per row of the reference; its last row is our last.
    pub(crate) every: usize,
    pub(crate) table: fn() -> Fallible<Table>,
    pub(crate) checks: Vec<Check>,
    /// What else has to hold: of our own rows (all of them), and of theirs where they are there.
    pub(crate) also: fn(&Table, Option<&Table>) -> Fallible,
    /// Deviation from our own record that another machine may show, relative to the largest value of a column.
    pub(crate) own: f64,
}

impl Case {
    /// A case in which every row is compared and nothing else is asked.
    pub(crate) fn new<const N: usize>(name: &'static str, table: fn() -> Fallible<Table>, checks: [Check; N]) -> Self {
        let checks = checks.to_vec();
        Self { name, model: "", source: "Siconos tutorials", first: 0, every: 1, table, checks, also: |_, _| Ok(()), own: 1e-9 }
    }

    /// Our rows that stand beside the `count` rows of the reference.
    pub(crate) fn aligned(&self, table: &Table, count: Option<usize>) -> Table {
        let last = table.rows.len() - 1;
        let all = (last - self.first).div_ceil(self.every) + 1;
        let rows = (0..count.unwrap_or(all)).map(|k| table.rows[(self.first + k * self.every).min(last)].clone()).collect();
        Table { names: table.names.clone(), rows, report: table.report }
    }
}
