//! `drystone solve` and `drystone solvers`.

use super::source::positive;
use super::{DONE, Failure, INPUT, USAGE, say, tell};
use crate::io::problem::{answer, read};
use crate::numerics::solvers::{Entry, Kind, Problem, Request, Solution, all, default_for, find};
use crate::numerics::{Measure, ProblemError, Progress, Report, Status};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Arguments of `drystone solve`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Problems: FCLIB HDF5, text (.dat, also packed as .gz) or JSON; the content decides, not the name
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Kind of text files that fit several: fc, gfc, rfc, grfc, lcp, mlcp, relay, gmp
    #[arg(long, value_parser = kind)]
    kind: Option<Kind>,
    /// Solver by name (`drystone solvers`) instead of the default of the kind
    #[arg(long, value_name = "NAME", value_parser = solver)]
    solver: Option<&'static Entry>,
    /// Largest admissible error
    #[arg(long, allow_hyphen_values = true, value_name = "E", default_value = "1e-8", value_parser = positive)]
    tol: f64,
    /// Which error: over max(|q|, |r|, |u|), over |q|, or unit-free
    #[arg(long, default_value = "rel", value_parser = measure)]
    measure: Measure,
    /// Stop after so many seconds, with the best answer so far
    #[arg(long, allow_hyphen_values = true, value_name = "S", value_parser = positive)]
    time_limit: Option<f64>,
    /// Solve so many times and report the best time
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// One line of JSON per file
    #[arg(long)]
    json: bool,
    /// Write the answer: r, u (v) or z, w, as .json or .hdf5; with several FILEs a folder, which gets FILE.json of each
    #[arg(long, value_name = "FILE")]
    solution: Option<PathBuf>,
    /// Write iteration and error as a table
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  drystone solve tower.hdf5                                     the default solver to 1e-8
  drystone solve *.hdf5 --tol 1e-4 --time-limit 10 --json       one line of JSON per file
  drystone solve circuit.dat --kind relay --solution z.json     z and w, to recompute the residual

Lines of JSON: file, kind, contacts, rows, solver, status, iterations, factorisations, rel, rel_q,
e_s, violation (the largest velocity by which a block misses its law, m/s for contacts), misfit
(the largest over the scale of its own block), time_s (processor time of the solve alone), and with
Inconsistent the certificate: rows (from 0) and multipliers y with yᵀ(W r + q) < 0 for every
admissible r.
Status: Converged, Stalled, BudgetSpent, Inconsistent, or error with a message; skipped for a file
that is no problem and does not look like one, such as a README among several FILEs.
Exit codes: 0 every file has its status, 2 usage, 3 some file could not be read or has no solver";

pub(super) fn kind(text: &str) -> Result<Kind, String> {
    Kind::from_name(text).ok_or_else(|| format!("write one of {}", Kind::ALL.map(Kind::name).join(", ")))
}

pub(super) fn solver(text: &str) -> Result<&'static Entry, String> {
    find(text).ok_or_else(|| {
        let near = all().iter().map(|e| (strsim::jaro_winkler(text, e.name), e.name)).max_by(|a, b| a.0.total_cmp(&b.0));
        let hint = near.filter(|(score, _)| *score > 0.7).map(|(_, name)| format!("did you mean `{name}`? ")).unwrap_or_default();
        format!("{hint}`drystone solvers` lists them")
    })
}

pub(super) fn measure(text: &str) -> Result<Measure, String> {
    match text {
        "rel" => Ok(Measure::Rel),
        "rel_q" => Ok(Measure::RelQ),
        "e_s" => Ok(Measure::Es),
        _ => Err("write rel, rel_q or e_s".to_owned()),
    }
}

/// What the line of a file tells.
#[derive(Debug, serde::Serialize)]
struct Line {
    file: String,
    kind: Option<&'static str>,
    contacts: usize,
    rows: usize,
    solver: Option<&'static str>,
    status: String,
    iterations: usize,
    factorisations: usize,
    rel: Option<f64>,
    rel_q: Option<f64>,
    e_s: Option<f64>,
    violation: Option<f64>,
    misfit: Option<f64>,
    time_s: Option<f64>,
    /// rows and multipliers of the proof that there is no solution
    #[serde(skip_serializing_if = "Vec::is_empty")]
    certificate: Vec<(usize, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// One solve and its processor time in seconds.
pub(super) struct Timed {
    pub(super) answer: Solution,
    pub(super) report: Report,
    pub(super) seconds: f64,
}

/// Solves `repeat` times from zero, each for at most `limit` seconds; the best time counts.
pub(super) fn timed(
    problem: &Problem,
    entry: &Entry,
    request: &Request,
    limit: Option<f64>,
    repeat: u32,
    mut trace: impl FnMut(Progress),
) -> Result<Timed, ProblemError> {
    let limit = limit.and_then(|s| Duration::try_from_secs_f64(s).ok());
    let mut best: Option<Timed> = None;
    for round in 0..repeat {
        let (wall, cpu) = (Instant::now(), cpu_time::ProcessTime::now());
        let (answer, report) = (entry.run)(problem, request, None, &mut |progress| {
            if round == 0 {
                trace(progress);
            }
            limit.is_none_or(|limit| wall.elapsed() < limit)
        })?;
        let seconds = cpu.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|b| seconds < b.seconds) {
            best = Some(Timed { answer, report, seconds });
        }
    }
    let mut best = best.unwrap_or_else(|| Timed { answer: problem.zero(), report: Report::default(), seconds: 0.0 });
    // once more from the answer alone, whatever the solver said
    let found = problem.residual(&mut best.answer)?;
    let reached = request.measure.of(&found) <= request.tolerance;
    let status = if best.report.converged() && !reached { Status::Stalled } else { best.report.status };
    best.report = Report { status, ..best.report }.with(&found);
    Ok(best)
}

pub(super) fn solve(arguments: &Arguments) -> Result<u8, Failure> {
    let several = arguments.files.len() > 1;
    if let Some(path) = arguments.solution.as_deref().filter(|_| several) {
        std::fs::create_dir_all(path).map_err(|e| Failure::input(format!("{}: cannot be created: {e}", path.display())))?;
    }
    let known = ["json", "hdf5", "h5"];
    let extension = |path: &Path| path.extension().and_then(|e| e.to_str()).map(str::to_owned);
    if let Some(path) = arguments.solution.as_deref().filter(|p| !several && !extension(p).is_some_and(|e| known.contains(&e.as_str()))) {
        return Err(Failure::new(USAGE, format!("--solution {}: has to end in .json, .hdf5 or .h5", path.display())));
    }
    let width = arguments.files.iter().map(|f| name(f).chars().count()).max().unwrap_or(4).max(4);
    if !arguments.json {
        say(&format!(
            "{:<width$}  {:<5} {:>8}  {:<20} {:<12} {:>10} {:>9} {:>9} {:>9} {:>9} {:>10}",
            "file", "kind", "contacts", "solver", "status", "iterations", "rel", "rel_q", "e_s", "violation", "time"
        ));
    }
    let mut trace = String::from("file,iteration,error\n");
    let mut code = DONE;
    for path in &arguments.files {
        let line = one(arguments, path, several, &mut trace);
        if line.message.is_some() && line.status != SKIPPED {
            code = INPUT;
        }
        if arguments.json {
            say(&serde_json::to_string(&line).map_err(Failure::input)?);
        } else {
            say(&line.row(width));
            let word = if line.status == SKIPPED { SKIPPED } else { "error" };
            line.message.iter().for_each(|message| tell(&format!("{word}: {message}")));
        }
    }
    if let Some(path) = &arguments.trace {
        std::fs::write(path, trace).map_err(|e| Failure::input(format!("{}: cannot be written: {e}", path.display())))?;
    }
    Ok(code)
}

/// Status of a file among others that is no problem and does not look like one.
pub(super) const SKIPPED: &str = "skipped";

/// True for a file whose name promises no problem, such as the README.md beside them; it was asked for by a `*`.
pub(super) fn is_something_else(path: &Path) -> bool {
    let name = name(path).to_lowercase();
    path.is_file() && ![".hdf5", ".h5", ".dat", ".dat.gz", ".gz", ".json"].iter().any(|end| name.ends_with(end))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn one(arguments: &Arguments, path: &Path, several: bool, trace: &mut String) -> Line {
    let file = path.display().to_string();
    let mut line = Line {
        file: file.clone(),
        kind: None,
        contacts: 0,
        rows: 0,
        solver: None,
        status: "error".to_owned(),
        iterations: 0,
        factorisations: 0,
        rel: None,
        rel_q: None,
        e_s: None,
        violation: None,
        misfit: None,
        time_s: None,
        certificate: Vec::new(),
        message: None,
    };
    let problem = match read(path, arguments.kind) {
        Ok(problem) => problem,
        Err(error) if several && is_something_else(path) => {
            return Line { status: SKIPPED.to_owned(), message: Some(error.to_string()), ..line };
        }
        Err(error) => return Line { message: Some(error.to_string()), ..line },
    };
    line.kind = Some(arguments.kind.unwrap_or(problem.kind()).name());
    (line.contacts, line.rows) = (problem.contacts(), problem.sizes()[1]);
    let Some(entry) = arguments.solver.or_else(|| default_for(&problem)).filter(|entry| entry.claims(&problem)) else {
        let family = problem.family().name();
        let message = match arguments.solver {
            Some(entry) if entry.families.contains(&problem.family()) => {
                format!("{file}: solver {} does not take every set of this problem; see `drystone inspect`", entry.name)
            }
            Some(entry) => format!("{file}: solver {} takes no {family} problems; see `drystone solvers`", entry.name),
            None => format!("{file}: no solver takes {family} problems"),
        };
        return Line { message: Some(message), ..line };
    };
    let request = Request { tolerance: arguments.tol, measure: arguments.measure, max_iterations: None };
    let quoted = csv_field(&file);
    let recording = arguments.trace.is_some();
    let solved = timed(&problem, entry, &request, arguments.time_limit, arguments.repeat, |p| {
        if recording {
            let _ = writeln!(trace, "{quoted},{},{:e}", p.iteration, p.error);
        }
    });
    let solved = match solved {
        Ok(solved) => solved,
        Err(error) => return Line { message: Some(format!("{file}: {error}")), ..line },
    };
    let report = solved.report;
    line.solver = Some(entry.name);
    line.status = format!("{:?}", report.status);
    (line.iterations, line.factorisations) = (report.iterations, report.factorisations);
    (line.rel, line.rel_q, line.e_s) = (Some(report.rel), Some(report.rel_q), Some(report.e_s));
    (line.violation, line.misfit) = (Some(report.violation), Some(report.misfit));
    if report.status == Status::Inconsistent {
        line.certificate = solved.answer.certificate.iter().copied().enumerate().filter(|(_, y)| *y != 0.0).collect();
    }
    line.time_s = Some(solved.seconds);
    if let Some(target) = &arguments.solution {
        let target = if several { target.join(format!("{}.json", name(path))) } else { target.clone() };
        line.message = answer::write(&target, &problem, &solved.answer).err().map(|e| e.to_string());
    }
    line
}

/// Quoted where a comma or a quote asks for it.
pub(super) fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

impl Line {
    fn row(&self, width: usize) -> String {
        let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.1e}"));
        let (name, time) = (name(self.file.as_ref()), self.time_s.map_or_else(|| "–".to_owned(), duration));
        format!(
            "{name:<width$}  {:<5} {:>8}  {:<20} {:<12} {:>10} {:>9} {:>9} {:>9} {:>9} {time:>10}",
            self.kind.unwrap_or("–"),
            self.contacts,
            self.solver.unwrap_or("–"),
            self.status,
            self.iterations,
            number(self.rel),
            number(self.rel_q),
            number(self.e_s),
            number(self.violation),
        )
    }
}

/// Seconds with the unit that keeps three digits.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.3} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.3} ms", 1e3 * s),
        s => format!("{s:.3} s"),
    }
}

/// `drystone solvers`
pub(super) fn list() -> u8 {
    let width = all().iter().map(|e| e.name.len()).max().unwrap_or(0);
    for entry in all() {
        let families: Vec<&str> = entry.families.iter().map(|f| f.name()).collect();
        say(&format!("{:<width$}  {:<22} {}", entry.name, families.join(", "), entry.about));
    }
    say("\nThe first that takes a problem is its default; choose one with `drystone solve FILE --solver NAME`.");
    say("local: fc, rfc and gmp (W, q); global: gfc and grfc (M, H, f, w); lcp, mlcp and relay: M, q.");
    DONE
}
