//! `drystone plot`.

use super::{DONE, Failure, USAGE, tell};
use crate::io::chart::{write_chart, write_planes};
use crate::io::run_plots::{panels, sweep_panels};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
What can be drawn of a run:
  energy, residual      from steps.csv
  forces                how the normal forces at the end are distributed
  rose                  in which directions contacts press at the end, seen along y
  TABLE                 all columns of DIR/TABLE.csv against time: flow, joints, a [[record]], a [[measure]]
  TABLE.COLUMN          one of them, such as steps.contacts or joint_forces.normal
Of a sweep: any column of its results.csv, against the first key that it varies (or --x).

Examples:
  drystone plot out energy --out energy.svg
  drystone plot hopper flow --out discharge.svg
  drystone plot pour rose forces --out contacts.svg
  drystone plot wall joint_forces.stress_max --out joints.svg
  drystone plot pushed push_over.left.contact_x --x left.x --out curve.svg
  drystone plot arches displacement_max_m --out arches.svg";

/// Arguments of `drystone plot`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What `drystone run --out DIR` or `drystone sweep --out DIR` has written
    directory: PathBuf,
    /// What to draw, each in a panel of its own; without any, what there is is listed
    what: Vec<String>,
    /// The SVG file to write
    #[arg(long, value_name = "FILE.svg", default_value = "plot.svg")]
    out: PathBuf,
    /// The column along x: of a sweep a key that it varies, of a run any column of the table [time]
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
}

/// Names of the tables of a directory, without `.csv`.
fn tables(directory: &Path) -> Result<Vec<String>, Failure> {
    let files = std::fs::read_dir(directory).map_err(|e| Failure::input(format!("{}: cannot be listed: {e}", directory.display())))?;
    let name = |path: PathBuf| (path.extension()? == "csv").then(|| Some(path.file_stem()?.to_str()?.to_owned()))?;
    let mut found: Vec<String> = files.filter_map(|file| name(file.ok()?.path())).collect();
    found.sort_unstable();
    Ok(found)
}

pub(super) fn plot(arguments: &Arguments) -> Result<u8, Failure> {
    let Arguments { directory, what, out, x } = arguments;
    if !out.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg")) {
        let message = format!("--out {}: plots are written as SVG; give a name that ends in .svg", out.display());
        return Err(Failure::new(USAGE, message));
    }
    let there = tables(directory)?;
    let sweep = there.iter().any(|name| name == "results");
    if what.is_empty() || there.is_empty() {
        let message = format!(
            "name what to draw of {}: {}",
            directory.display(),
            match (there.is_empty(), sweep) {
                (true, _) => "it holds no tables; give a directory that `drystone run --out` has written".to_owned(),
                (_, true) => "a column of results.csv, such as displacement_max_m".to_owned(),
                _ => format!("energy, residual, forces, rose, or one of its tables: {}", there.join(", ")),
            }
        );
        return Err(Failure::new(USAGE, message));
    }
    let found =
        if sweep { sweep_panels(directory, what, x.as_deref()) } else { panels(directory, what, x.as_deref()) }.map_err(Failure::input)?;
    // a rose is round, and a wide panel is not
    let result = if !sweep && what.iter().any(|w| w == "rose") {
        write_planes(out, &found, 2)
    } else {
        let title = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        write_chart(out, &title, &found)
    };
    result.map_err(Failure::input)?;
    tell(&format!("written: {}", out.display()));
    Ok(DONE)
}
