//! `drystone solve` and `drystone solvers`.

use super::source::{positive, span, tolerance};
use super::{DONE, Failure, INPUT, USAGE, say, tell};
use crate::io::problem::{answer, read};
use crate::numerics::solvers::{Answer, BlockState, Entry, Kind, Parameter, Problem, ROUNDING, Settings, Solver, all, find};
use crate::numerics::{Measure, ProblemError, Progress, Status};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

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
    #[arg(long, allow_hyphen_values = true, value_name = "E", default_value = "1e-8", value_parser = tolerance)]
    tol: f64,
    /// Which error: over max(|q|, |r|, |u|), over |q|, or unit-free
    #[arg(long, default_value = "rel", value_parser = measure)]
    measure: Measure,
    /// Stop after so many seconds, with the best answer so far; until then `auto` goes on where it would give up a problem with friction
    #[arg(long, allow_hyphen_values = true, value_name = "S", value_parser = span)]
    time_limit: Option<f64>,
    /// Solve so many times and report the best time
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// One line of JSON per file
    #[arg(long)]
    json: bool,
    /// Start from this: an answer as --solution writes it, or a problem file with a solution, such as FILE itself (the word `stored`); with
    /// several FILEs `stored`, or a folder with FILE.json of each
    #[arg(long, value_name = "FILE")]
    guess: Option<PathBuf>,
    /// Lagged friction: the slip of the guess (without one, that without reactions) is a known shift, and the problem convex; `defect`
    /// tells what its answer misses of Coulomb's law
    #[arg(long)]
    lagged: bool,
    /// A parameter of the solver (`drystone solvers NAME` lists them), as often as needed
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// Budget instead of the solver's own, in what it counts: iterations, outer steps, bases; for friction by default rounds, which end no
    /// method before its turn is over; 0 gives the guess with its errors
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = budget)]
    max_iterations: Option<usize>,
    /// Largest dense matrix, or W, that may be formed
    #[arg(long, allow_hyphen_values = true, value_name = "GB", default_value = "4", value_parser = positive)]
    memory_limit: f64,
    /// Print iteration, error and time while solving, to stderr; ever fewer lines as iterations grow
    #[arg(long)]
    log: bool,
    /// What every contact (or other block of rows) does: open, stick, slip, …, and by how much it misses its law
    #[arg(long)]
    contacts: bool,
    /// Write the answer: r, u (v) or z, w, as .json or .hdf5; with several FILEs a folder, which gets FILE.json of each
    #[arg(long, value_name = "FILE")]
    solution: Option<PathBuf>,
    /// Write iteration, error and time of every look at the residual (of most solvers one an iteration) as a table
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  drystone solve tower.hdf5                                     the default solver to 1e-8
  drystone solve *.hdf5 --tol 1e-4 --time-limit 10 --json       one line of JSON per file
  drystone solve circuit.dat --kind relay --solution z.json     z and w, to recompute the residual
  drystone solve tower.hdf5 --solver nsgs --set relaxation=0.8 --set acceleration=none --log
  drystone solve tower.hdf5 --guess tower_before.json --contacts
  drystone solve pour.hdf5 --guess stored --lagged --json

Lines of JSON: file, kind, contacts, rows, solver, status, iterations, factorisations, rel, rel_q,
e_s, violation (the largest velocity by which a block misses its law, m/s for contacts), misfit
(the largest over the scale of its own block), defect (with --lagged: e_s of Coulomb's law),
time_s (processor time of the solve alone), states (how many blocks are open, stick, slip, …),
with --contacts also blocks (per contact or unknown: row, state, normal, tangent, opening, slip,
violation, misfit), and with Inconsistent, unless all possibilities were tried instead, the
certificate: rows (from 0) and multipliers y with
yᵀ(W r + q) < 0 for every admissible r.
Status: Converged, Stalled, BudgetSpent, Inconsistent, or error with a message; skipped for a file
that is no problem and does not look like one, such as a README among several FILEs.
Exit codes: 0 every file has its status, 2 usage, 3 some file could not be read or has no solver";

fn budget(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| "write a whole number, such as 1000".to_owned())
}

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
    /// e_s of Coulomb's law, where the friction is lagged
    #[serde(skip_serializing_if = "Option::is_none")]
    defect: Option<f64>,
    time_s: Option<f64>,
    /// how many blocks are in each state
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    states: std::collections::BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<BlockState>,
    /// rows and multipliers of the proof that there is no solution
    #[serde(skip_serializing_if = "Vec::is_empty")]
    certificate: Vec<(usize, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as relaxation=0.8")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// One solve and its processor time in seconds.
pub(super) struct Timed {
    pub(super) answer: Answer,
    pub(super) seconds: f64,
}

/// Seconds of short solves from one look at the clock to the next.
const SHARED: f64 = 5e-5;

/// Solves `repeat` times from the guess of the settings; the best time counts. `look` sees every iteration of the first, and ends it
/// where it is false.
pub(super) fn timed(
    problem: &Problem,
    settings: &Settings,
    repeat: u32,
    mut look: impl FnMut(Progress) -> bool,
) -> Result<Timed, ProblemError> {
    let again = Settings { log: false, ..settings.clone() };
    let start = cpu_time::ProcessTime::now();
    let answer = problem.solve_watched(settings, &mut look)?;
    let mut best = Timed { answer, seconds: start.elapsed().as_secs_f64() };
    let mut left = repeat.saturating_sub(1);
    while left > 0 {
        // reading the clock takes a quarter of a microsecond: short solves share it
        let few = ((SHARED / best.seconds.max(1e-9)) as u32).clamp(1, left);
        left -= few;
        let start = cpu_time::ProcessTime::now();
        for _ in 0..few {
            problem.solve(&again)?;
        }
        best.seconds = best.seconds.min(start.elapsed().as_secs_f64() / f64::from(few));
    }
    // once more from the answer alone, whatever the solver said
    let found = problem.residual(&mut best.answer.solution)?;
    let report = &mut best.answer.report;
    let reached = settings.measure.of(&found) <= settings.tolerance;
    let status = if report.converged() && !reached { Status::Stalled } else { report.status };
    *report = crate::numerics::Report { status, ..*report }.with(&found);
    Ok(best)
}

pub(super) fn solve(arguments: &Arguments) -> Result<u8, Failure> {
    let several = arguments.files.len() > 1;
    // without --solver the first that takes a problem solves it, which is `auto` for every kind that files hold
    if let Some(entry) = arguments.solver.or_else(|| all().first()) {
        let set = arguments.set.iter().try_fold(Solver::from(entry), |solver, (name, value)| solver.with(name, value));
        set.map_err(|error| Failure::new(USAGE, format!("--set: {error}")))?;
    }
    if let Some(path) = arguments.solution.as_deref().filter(|_| several) {
        let twice = arguments
            .files
            .iter()
            .enumerate()
            .find(|(k, f)| arguments.files[..*k].iter().any(|before| before != *f && name(before) == name(f)));
        if let Some((_, file)) = twice {
            let (folder, file) = (path.display(), name(file));
            return Err(Failure::new(
                USAGE,
                format!("--solution {folder}: two FILEs are called {file}, and would have one answer; solve them apart"),
            ));
        }
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
    let mut trace = String::from("file,iteration,error,seconds\n");
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
            if arguments.contacts && line.status != "error" {
                say(&contacts(&line.blocks));
            }
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
        defect: None,
        time_s: None,
        states: Default::default(),
        blocks: Vec::new(),
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
    let settings = match settings(arguments, path, several, &problem) {
        Ok(settings) => settings,
        Err(message) => return Line { message: Some(message), ..line },
    };
    let (stated, problem) = match if arguments.lagged { lagged(problem, &settings) } else { Ok((None, problem)) } {
        Ok(problems) => problems,
        Err(error) => return Line { message: Some(format!("{file}: {error}")), ..line },
    };
    let (start, mut next) = (Instant::now(), 0);
    let solved = timed(&problem, &settings, arguments.repeat, |look| {
        if arguments.log && look.iteration >= next {
            next = look.iteration + 1 + look.iteration / 20;
            tell(&format!("{file}  {:>8}  {:.3e}  {:.3} s", look.iteration, look.error, start.elapsed().as_secs_f64()));
        }
        true
    });
    let Timed { answer, seconds } = match solved {
        Ok(solved) => solved,
        Err(error) => return Line { message: Some(format!("{file}: {error}")), ..line },
    };
    let quoted = csv_field(&file);
    for look in &answer.log {
        let _ = writeln!(trace, "{quoted},{},{:e},{:.6}", look.iteration, look.error, look.seconds);
    }
    let report = answer.report;
    let error = settings.measure.of(&report.errors());
    if report.status == Status::Stalled && error <= ROUNDING {
        tell(&format!(
            "note: {file}: an error of {error:.1e} is about the rounding of its numbers, and iterations no longer lower it; {:e} is too much to ask",
            settings.tolerance
        ));
    }
    line.solver = Some(answer.solver);
    line.status = format!("{:?}", report.status);
    (line.iterations, line.factorisations) = (report.iterations, report.factorisations);
    (line.rel, line.rel_q, line.e_s) = (Some(report.rel), Some(report.rel_q), Some(report.e_s));
    (line.violation, line.misfit) = (Some(report.violation), Some(report.misfit));
    if let Some(stated) = stated {
        let mut solution = answer.solution.clone();
        line.defect = stated.residual(&mut solution).ok().map(|found| found.e_s);
    }
    line.certificate = answer.certificate.iter().copied().enumerate().filter(|(_, y)| *y != 0.0).collect();
    line.time_s = Some(seconds);
    // problems with more equations than unknowns have no states
    if let Ok(blocks) = problem.blocks_at(&answer.solution) {
        for block in &blocks {
            *line.states.entry(block.state.name()).or_default() += 1;
        }
        line.blocks = if arguments.contacts { blocks } else { Vec::new() };
    }
    if let Some(target) = &arguments.solution {
        let target = if several { target.join(format!("{}.json", name(path))) } else { target.clone() };
        line.message = answer::write(&target, &problem, &answer).err().map(|e| e.to_string());
    }
    line
}

/// The problem as it is stated, and with the shift of the guess.
fn lagged(problem: Problem, settings: &Settings) -> Result<(Option<Problem>, Problem), ProblemError> {
    let lagged = match &settings.guess {
        Some(guess) => problem.lagged(guess)?,
        None => problem.lagged(&problem.zero())?,
    };
    Ok((Some(problem), lagged))
}

/// What the arguments ask of the solve of one file; a text says what is wrong with them.
fn settings(arguments: &Arguments, path: &Path, several: bool, problem: &Problem) -> Result<Settings, String> {
    let wrong = |error: ProblemError| format!("{}: {error}", path.display());
    let guess = match &arguments.guess {
        None => None,
        Some(from) => {
            let from = match (from.as_os_str() == "stored", several) {
                (true, _) => path.to_owned(),
                (false, true) => from.join(format!("{}.json", name(path))),
                (false, false) => from.clone(),
            };
            Some(answer::read(&from, problem).map_err(|e| e.to_string())?)
        }
    };
    let mut solver = arguments.solver.map(Solver::from);
    if solver.is_none() && !arguments.set.is_empty() {
        solver = all().iter().find(|entry| entry.claims(problem)).map(Solver::from);
    }
    for (name, value) in &arguments.set {
        solver = solver.map(|solver| solver.with(name, value)).transpose().map_err(wrong)?;
    }
    Ok(Settings {
        tolerance: arguments.tol,
        measure: arguments.measure,
        time_limit: arguments.time_limit,
        max_iterations: arguments.max_iterations,
        memory_limit: (1e9 * arguments.memory_limit) as u64,
        guess,
        log: arguments.trace.is_some(),
        solver,
    })
}

/// The blocks as a table.
fn contacts(blocks: &[BlockState]) -> String {
    let mut text = format!(
        "  {:>8} {:<9} {:>11} {:>11} {:>11} {:>11} {:>9} {:>9}",
        "row", "state", "normal", "tangent", "opening", "slip", "violation", "misfit"
    );
    for b in blocks {
        let _ = write!(
            text,
            "\n  {:>8} {:<9} {:>11.3e} {:>11.3e} {:>11.3e} {:>11.3e} {:>9.1e} {:>9.1e}",
            b.row,
            b.state.name(),
            b.normal,
            b.tangent,
            b.opening,
            b.slip,
            b.violation,
            b.misfit
        );
    }
    text
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

/// Arguments of `drystone solvers`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ListArguments {
    /// Tell the parameters of this solver, for `solve --set`
    #[arg(value_name = "NAME", value_parser = solver)]
    name: Option<&'static Entry>,
}

/// `drystone solvers`
pub(super) fn list(arguments: &ListArguments) -> u8 {
    let families = |entry: &Entry| entry.families.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
    if let Some(entry) = arguments.name {
        say(&format!("{}: {}", entry.name, entry.about));
        let mut told: Vec<(Vec<&str>, Vec<Parameter>)> = Vec::new();
        for &family in entry.families {
            let parameters = entry.parameters(family);
            match told.iter_mut().find(|(_, other)| *other == parameters) {
                Some((families, _)) => families.push(family.name()),
                None => told.push((vec![family.name()], parameters)),
            }
        }
        for (families, parameters) in told {
            say(&format!("\nparameters for problems of type {}, with their defaults", families.join(", ")));
            parameters.iter().for_each(|p| say(&format!("  {:<24} {}", format!("{}={}", p.name, p.default), p.needed)));
        }
        return DONE;
    }
    let width = all().iter().map(|e| e.name.len()).max().unwrap_or(0);
    let wide = all().iter().map(|e| families(e).len()).max().unwrap_or(0);
    let (compared, used): (Vec<&Entry>, Vec<&Entry>) = all().iter().partition(|entry| entry.is_for_comparison());
    let row = |entry: &Entry| say(&format!("{:<width$}  {:<wide$}  {}", entry.name, families(entry), entry.about));
    used.into_iter().for_each(row);
    say("\nto compare with, called by no other:");
    compared.into_iter().for_each(row);
    say("\nThe first that takes a problem is its default; choose one with `drystone solve FILE --solver NAME`, change its parameters with");
    say("--set NAME=VALUE (`drystone solvers NAME` lists them).");
    say(
        "local: fc, rfc and gmp (W, q); global: gfc and grfc (M, H, f, w); lcp, mlcp and relay: M, q. vi, qp and operator: in Rust programs.",
    );
    DONE
}
