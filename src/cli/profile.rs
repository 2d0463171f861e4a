//! `drystone profile`.

use super::solve::{Timed, csv_field, duration, kind, measure, solver, timed};
use super::source::{span, tolerance};
use super::{DONE, Failure, say, tell};
use crate::io::problem::read;
use crate::io::profile::{Panel, write_profiles};
use crate::numerics::Measure;
use crate::numerics::solvers::{Entry, Family, Kind, Problem, Settings, all};
use cpu_time::ProcessTime;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Arguments of `drystone profile`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder of problems, searched with its subfolders
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Tolerances, separated by commas
    #[arg(long, allow_hyphen_values = true, value_name = "E,…", value_delimiter = ',', default_value = "1e-4,1e-8", value_parser = tolerance)]
    tol: Vec<f64>,
    /// Solvers, separated by commas, instead of all
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = solver)]
    solvers: Vec<&'static Entry>,
    /// Which error: rel, rel_q or e_s
    #[arg(long, default_value = "rel", value_parser = measure)]
    measure: Measure,
    /// Kind of text files that fit several
    #[arg(long, value_parser = kind)]
    kind: Option<Kind>,
    /// Longest time of one solve in seconds of the processor
    #[arg(long, allow_hyphen_values = true, value_name = "S", default_value = "10", value_parser = span)]
    time_limit: f64,
    /// Repeat short solves so many times; the best time counts
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: u32,
    /// Folder for profile.svg and profile.csv
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  drystone profile problems --out profile
  drystone profile problems --tol 1e-6 --solvers auto,nsgs,admm --time-limit 2 --out profile

A solve counts when its error, recomputed from the answer, is at most the tolerance. Times are
processor seconds of the solve alone. profile.svg: share of the problems that a solver solves
within τ times the time of the fastest, a panel per family and tolerance.";

/// Solves that take longer than this are not repeated (s).
const SHORT: f64 = 0.05;

struct Row {
    file: String,
    problem: usize,
    solver: &'static Entry,
    tolerance: f64,
    found: Result<Timed, String>,
}

impl Row {
    /// Infinite where the tolerance is missed.
    fn time(&self, measure: Measure) -> f64 {
        let reached = |t: &Timed| {
            let found = t.answer.report.errors();
            measure.of(&found) <= self.tolerance
        };
        self.found.as_ref().ok().filter(|t| reached(t)).map_or(f64::INFINITY, |t| t.seconds)
    }
}

pub(super) fn profile(arguments: &Arguments) -> Result<u8, Failure> {
    let mut files = Vec::new();
    collect(&arguments.folder, &mut files)?;
    let mut problems: Vec<(String, Problem)> = Vec::new();
    for path in files {
        let short = path.strip_prefix(&arguments.folder).unwrap_or(&path).display().to_string();
        match read(&path, arguments.kind) {
            Ok(problem) => problems.push((short, problem)),
            Err(error) => tell(&format!("skipped: {error}")),
        }
    }
    if problems.is_empty() {
        let message =
            format!("{}: holds no problem that can be read; .hdf5, .dat, .dat.gz and .json are looked at", arguments.folder.display());
        return Err(Failure::input(message));
    }
    let solvers: Vec<&'static Entry> = if arguments.solvers.is_empty() { all().iter().collect() } else { arguments.solvers.clone() };
    std::fs::create_dir_all(&arguments.out).map_err(|e| Failure::input(format!("{}: cannot be created: {e}", arguments.out.display())))?;
    let rows = run(arguments, &problems, &solvers);
    let panels = panels(arguments, &problems, &rows);
    for panel in &panels {
        say(&summary(panel));
    }
    let (picture, table) = (arguments.out.join("profile.svg"), arguments.out.join("profile.csv"));
    write_profiles(&picture, &panels).map_err(Failure::input)?;
    std::fs::write(&table, csv(&problems, &rows)).map_err(|e| Failure::input(format!("{}: cannot be written: {e}", table.display())))?;
    say(&format!("{} and {}", picture.display(), table.display()));
    Ok(DONE)
}

/// Every file below the folder that may be a problem, in order.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let wrong = |e: std::io::Error| Failure::input(format!("{}: cannot be read: {e}", folder.display()));
    let mut entries =
        std::fs::read_dir(folder).map_err(wrong)?.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    entries.sort();
    for path in entries {
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, found)?;
        } else if [".hdf5", ".h5", ".dat", ".dat.gz", ".json"].iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
    Ok(())
}

fn run(arguments: &Arguments, problems: &[(String, Problem)], solvers: &[&'static Entry]) -> Vec<Row> {
    let claimed = |problem: &Problem| solvers.iter().filter(|s| s.claims(problem)).count();
    let total = problems.iter().map(|(_, p)| claimed(p)).sum::<usize>() * arguments.tol.len();
    let visible = std::io::stderr().is_terminal();
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar:.blue} {pos}/{len}  {eta} left  {msg}") {
        bar.set_style(style);
    }
    let mut rows = Vec::with_capacity(total);
    for (index, (file, problem)) in problems.iter().enumerate() {
        for &tolerance in &arguments.tol {
            for &solver in solvers.iter().filter(|s| s.claims(problem)) {
                bar.set_message(format!("{} on {file}", solver.name));
                let settings = Settings { tolerance, measure: arguments.measure, solver: Some(solver.into()), ..Settings::default() };
                let solve = |repeat| {
                    let (wall, cpu) = (Instant::now(), ProcessTime::now());
                    // the processor's clock is the dearer one to read, and no faster than the other on one thread
                    let within = |s: f64| s < arguments.time_limit;
                    timed(problem, &settings, repeat, |_| within(wall.elapsed().as_secs_f64()) || within(cpu.elapsed().as_secs_f64()))
                };
                let mut found = solve(1).map_err(|e| e.to_string());
                if let Ok(first) = &mut found
                    && first.seconds < SHORT
                    && arguments.repeat > 1
                    && let Ok(again) = solve(arguments.repeat - 1)
                {
                    first.seconds = first.seconds.min(again.seconds);
                }
                rows.push(Row { file: file.clone(), problem: index, solver, tolerance, found });
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    rows
}

/// One panel per family and tolerance that has problems.
fn panels(arguments: &Arguments, problems: &[(String, Problem)], rows: &[Row]) -> Vec<Panel> {
    let mut panels = Vec::new();
    for family in [Family::Local, Family::Global, Family::Lcp, Family::Mlcp, Family::Relay] {
        for &tolerance in &arguments.tol {
            // every solver gets a time for every problem: those that it does not claim it does not solve
            let mut asked: Vec<usize> = Vec::new();
            let here: Vec<&Row> = rows.iter().filter(|r| r.tolerance == tolerance && problems[r.problem].1.family() == family).collect();
            asked.extend(here.iter().map(|r| r.problem));
            asked.dedup();
            let mut panel = Panel { title: format!("{} to {tolerance:e}", family.name()), ..Panel::default() };
            for row in &here {
                if !panel.solvers.iter().any(|name| name == row.solver.name) {
                    panel.solvers.push(row.solver.name.to_owned());
                    let time = |p: &usize| {
                        let found = here.iter().find(|r| r.problem == *p && r.solver.name == row.solver.name);
                        found.map_or(f64::INFINITY, |r| r.time(arguments.measure))
                    };
                    panel.times.push(asked.iter().map(time).collect());
                }
            }
            if !panel.solvers.is_empty() {
                panels.push(panel);
            }
        }
    }
    panels
}

fn summary(panel: &Panel) -> String {
    let problems = panel.times[0].len();
    let mut text = format!("{}\n  {:<20} {:>9} {:>9} {:>16}", panel.title, "solver", "solved", "fastest", "mean time / best");
    for (s, name) in panel.solvers.iter().enumerate() {
        let ratios = panel.ratios(s);
        let fastest = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let mean = if ratios.is_empty() { "–".to_owned() } else { format!("{mean:.2}") };
        let _ = write!(text, "\n  {name:<20} {:>9} {fastest:>9} {mean:>16}", format!("{}/{problems}", ratios.len()));
    }
    let slowest = panel.times.iter().flatten().copied().filter(|t| t.is_finite()).fold(0.0, f64::max);
    let _ = write!(text, "\n  longest solve {}", duration(slowest));
    text
}

fn csv(problems: &[(String, Problem)], rows: &[Row]) -> String {
    let mut text = String::from("file,kind,contacts,rows,solver,tolerance,status,iterations,rel,rel_q,e_s,time_s\n");
    for row in rows {
        let problem = &problems[row.problem].1;
        let (kind, contacts, size) = (problem.kind().name(), problem.contacts(), problem.sizes()[1]);
        let _ = write!(text, "{},{kind},{contacts},{size},{},{:e},", csv_field(&row.file), row.solver.name, row.tolerance);
        let _ = match &row.found {
            Ok(t) => {
                let r = &t.answer.report;
                writeln!(text, "{:?},{},{:e},{:e},{:e},{:e}", r.status, r.iterations, r.rel, r.rel_q, r.e_s, t.seconds)
            }
            Err(error) => writeln!(text, "{},0,,,,", csv_field(error)),
        };
    }
    text
}
