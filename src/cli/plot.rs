//! `drystone plot`.

use super::source::instant;
use super::{DONE, Failure, USAGE, say, tell};
use crate::io::chart::{write_chart, write_planes};
use crate::io::field_plots::View;
use crate::io::run_plots::{WORDS, columns, panels, sweep_panels, tables};
use std::path::{Path, PathBuf};

/// Lines of at most 80 columns: a narrow terminal breaks longer ones in the middle of a row.
const EXAMPLES: &str = "\
What can be drawn of a run:
  energy, residual  from steps.csv
  forces            how the normal forces at the end, or --at an instant, are
                    distributed
  rose              in which directions contacts press at the end, seen along y;
                    --at an instant where contacts of [output] hold normal
  TABLE             all columns of DIR/TABLE.csv against time: flow, joints,
                    a [[record]], a [[measure]]
  TABLE.COLUMN      one of them: steps.contacts, joint_forces.normal
  FIELD.COLUMN      of a [[field]]: a profile where the grid has one row of
                    cells, else a map in colours, at the last instant, those of
                    --at, or the mean --from one on; --along z makes a profile
                    of any grid
  chains            lines between the centres of what presses at the end, as
                    wide as the force, in a layer of the middle seen along y, or
                    in a --slice; --at an instant, if the run had
                    --set output.branches=true
Of a sweep: any column of its results.csv, against the first key of numbers that
it varies (or --x), such as piles.heap.slope_deg or measures.bed.solid_fraction
of a [[pile]] and a [[measure]] at the end of each run.

Examples:
  drystone plot out energy --out energy.svg
  drystone plot hopper flow --out discharge.svg
  drystone plot pour rose forces --out contacts.svg
  drystone plot wall joint_forces.stress_max --out joints.svg
  drystone plot pushed push_over.left.contact_x --x left.x --out curve.svg
  drystone plot shear bed.velocity_x bed.solid_fraction --from 2 --out profile.png
  drystone plot hopper bed.stress_zz --at 0.5,1 --out maps.png
  drystone plot pour chains --slice y=-0.02..0.02 --out chains.png
  drystone plot pour forces chains --at 0.2,0.5 --out chains.png
  drystone plot arches displacement_max_m --out arches.svg
  drystone plot repose piles.heap.slope_deg --out repose.svg";

/// Arguments of `drystone plot`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What `drystone run --out DIR` or `drystone sweep --out DIR` has written
    directory: PathBuf,
    /// What to draw, each in a panel of its own; without any, what there is is listed
    what: Vec<String>,
    /// The file to write, as its name ends
    #[arg(long, value_name = "FILE.svg|FILE.png", default_value = "plot.svg")]
    out: PathBuf,
    /// Of fields, forces, rose and chains: the instants, each a line or a panel of its own
    #[arg(long, value_name = "T,…", value_delimiter = ',', conflicts_with = "from", value_parser = instant)]
    at: Vec<f64>,
    /// Of fields: the mean over all instants from this one on
    #[arg(long, value_name = "T", value_parser = instant)]
    from: Option<f64>,
    /// Of fields: a profile along this axis, mean over the others
    #[arg(long, value_name = "x|y|z", value_parser = axis)]
    along: Option<usize>,
    /// Of chains: which contacts, and the axis along which they are seen
    #[arg(long, value_name = "y=FROM..TO", value_parser = slice)]
    slice: Option<(usize, [f64; 2])>,
    /// The column along x: of a sweep a key that it varies, of a run any column of the table [time]
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
}

fn axis(text: &str) -> Result<usize, String> {
    ["x", "y", "z"].iter().position(|axis| *axis == text).ok_or_else(|| "write x, y or z".to_owned())
}

fn slice(text: &str) -> Result<(usize, [f64; 2]), String> {
    let parts = text.split_once('=').and_then(|(name, range)| {
        let (low, high) = range.split_once("..")?;
        Some((axis(name).ok()?, [low.parse::<f64>().ok()?, high.parse::<f64>().ok()?]))
    });
    parts.filter(|(_, [low, high])| low < high).ok_or_else(|| "write an axis and two rising places in m, such as y=-0.1..0.1".to_owned())
}

/// Says what there is to draw.
fn list(directory: &Path, tables: &[String], sweep: bool) -> Result<u8, Failure> {
    let columns = |table: &str| columns(directory, table).map_err(Failure::input);
    say(&format!("WHAT `drystone plot {} WHAT… --out FILE.svg` can draw:", directory.display()));
    if sweep {
        rows("", &columns("results")?);
        return Ok(DONE);
    }
    rows("", &WORDS.map(str::to_owned));
    let tables: Vec<(&String, Vec<String>)> = tables.iter().map(|table| Ok((table, columns(table)?))).collect::<Result<_, Failure>>()?;
    let (timed, timeless): (Vec<_>, Vec<_>) = tables.iter().partition(|(_, columns)| columns.iter().any(|column| column == "time"));
    for (words, tables) in [
        ("a table against time, or as TABLE.COLUMN one of its columns:", timed),
        ("with --x COLUMN, as TABLE.COLUMN a column of what has no times:", timeless),
    ] {
        if !tables.is_empty() {
            say(words);
        }
        tables.iter().for_each(|(table, columns)| rows(table, columns));
    }
    Ok(DONE)
}

/// Words behind a head, in lines of at most 80 columns.
fn rows(head: &str, words: &[String]) {
    let begin = if head.is_empty() { "  ".to_owned() } else { format!("  {head:<16}  ") };
    let (mut line, indent) = (begin.clone(), begin.chars().count());
    for (i, word) in words.iter().enumerate() {
        let comma = if i + 1 < words.len() { ", " } else { "" };
        if line.chars().count() > indent && line.chars().count() + word.chars().count() + comma.trim().len() > 80 {
            say(line.trim_end());
            line = " ".repeat(indent);
        }
        line += word;
        line += comma;
    }
    say(line.trim_end());
}

pub(super) fn plot(arguments: &Arguments) -> Result<u8, Failure> {
    let Arguments { directory, what, out, x, at, from, along, slice } = arguments;
    if !out.extension().is_some_and(|e| ["svg", "png"].iter().any(|known| e.eq_ignore_ascii_case(known))) {
        let message = format!("--out {}: plots are written as SVG or PNG; give a name that ends in .svg or .png", out.display());
        return Err(Failure::new(USAGE, message));
    }
    let view = View { at: at.clone(), from: *from, along: *along, slice: *slice, x: x.clone() };
    let there = tables(directory).map_err(Failure::input)?;
    let sweep = there.iter().any(|name| name == "results");
    if there.is_empty() {
        let message = format!("{}: it holds no tables; give a directory that `drystone run --out` has written", directory.display());
        return Err(Failure::new(USAGE, message));
    }
    if what.is_empty() {
        return list(directory, &there, sweep);
    }
    let found = if sweep { sweep_panels(directory, what, x.as_deref()) } else { panels(directory, what, &view) }.map_err(Failure::input)?;
    // what has one scale along both axes does not fill a wide panel
    let result = if found.iter().any(|panel| panel.equal) {
        write_planes(out, &found, 2)
    } else {
        let title = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        write_chart(out, &title, &found)
    };
    result.map_err(Failure::input)?;
    tell(&format!("written: {}", out.display()));
    Ok(DONE)
}
