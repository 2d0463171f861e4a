//! The command line: `drystone run`, `sweep`, `check`, `balance`, `collapse`, `converge`, `scenes`, `picture`, `film`, `plot`, `report`, `solve`,
//! `solvers`, `inspect`, `profile`, `corpus`, `bench`.
//!
//! ```text
//! exit codes   0 done   1 check found faults   2 usage   3 input or scene   4 a step that cannot be done   5 part of a sweep failed   130 interrupted
//! ```

#[cfg(feature = "lens")]
mod balance;
mod bench;
mod breakages;
mod check;
#[cfg(feature = "lens")]
mod collapse;
mod converge;
mod corpus;
mod export;
mod fields;
mod film;
mod forecast;
mod inspect;
mod interrupt;
mod joints;
mod machine;
mod measures;
mod model;
mod output;
mod picture;
mod plot;
mod postmortem;
mod profile;
mod progress;
mod report;
mod run;
mod scenes;
mod solve;
mod source;
mod sweep;

use clap::{Parser, Subcommand};
use source::on_threads;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The command did what was asked.
const DONE: u8 = 0;
/// `check` found faults.
const FAULTS: u8 = 1;
/// The command was called wrongly.
const USAGE: u8 = 2;
/// A scene, or a file, is at fault.
const INPUT: u8 = 3;
/// The run stopped on a step that cannot be done: a state that is not finite, a crowd, a step of absurd length.
const NOT_FINITE: u8 = 4;
/// Some runs of a `sweep` failed, others did not.
const PARTLY: u8 = 5;
/// A defect of the program itself (EX_SOFTWARE of sysexits).
const DEFECT: u8 = 70;
/// The run was interrupted.
const INTERRUPTED: u8 = 130;

/// Why a command ends early: its exit code and what to tell.
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn new(code: u8, message: impl std::fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }

    /// For `map_err`: a scene or a file is at fault.
    fn input(message: impl std::fmt::Display) -> Self {
        Self::new(INPUT, message)
    }
}

/// Nonsmooth dynamics: rigid bodies, grains and stone blocks with exact contact and Coulomb friction.
///
/// A scene is a built-in name (`drystone scenes`) or a TOML file; every run ends with a certificate: residuals, penetration, balance
/// of energy.
#[derive(Debug, Parser)]
#[command(name = "drystone", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  drystone scenes                                     what is built in, and its parameters
  drystone run arch --set thickness_ratio=0.104       does this arch stand?
  drystone run block_dam --set uplift=linear --json   one line of JSON for scripts
  drystone run my_wall.toml --out results             tables, VTK files for ParaView, a plot
  drystone sweep arch --set thickness_ratio=0.10..0.12:5 --out arches
  drystone check my_wall.toml                         faults of a scene before the run
  drystone balance arch --intervals                   joint forces of a vault, least and most
  drystone collapse arch --vary thickness --between 0.09 0.12
  drystone converge bouncing_ball --measure height_mean_m
  drystone picture bead_stack --at 0.6 --out beads.png
  drystone plot results energy rose --out plot.svg    curves of what a run has written
  drystone solve tower.hdf5 --json                    a friction problem of one step from a file

Exit codes: 0 done, 1 check found faults, 2 usage, 3 input or scene, 4 stopped on a step that
cannot be done, 5 part of a sweep failed, 130 interrupted";

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scene and print its certificate
    Run(run::Arguments),
    /// Run a scene over a grid of values, into one table of results
    Sweep(sweep::Arguments),
    /// Look for faults in a scene without running it
    Check(check::Arguments),
    /// Can forces in the joints carry the loads? Statics, without time
    #[cfg(feature = "lens")]
    Balance(balance::Arguments),
    /// Find the value at which a structure falls, by dynamics and by statics
    #[cfg(feature = "lens")]
    Collapse(collapse::Arguments),
    /// Write the blocks of a scene as a model: OBJ or a table of corners
    Export(model::Arguments),
    /// Halve the time step and tell whether a figure of the run converges
    Converge(converge::Arguments),
    /// List the built-in scenes and their parameters, or print one as a scene file
    Scenes(scenes::Arguments),
    /// Render a scene at some instant as a PNG picture
    Picture(picture::Arguments),
    /// Render a scene as numbered frames of a film
    Film(film::Arguments),
    /// Write a run that has been saved into a directory as one page
    Report(report::Arguments),
    /// Draw tables of a run or a sweep as an SVG plot
    Plot(plot::Arguments),
    /// Solve complementarity and friction problems from files
    Solve(solve::Arguments),
    /// Tell size, rank, condition, symmetry and friction of problems from files
    Inspect(inspect::Arguments),
    /// Write steps of scenes as problems, from a list
    Corpus(corpus::Arguments),
    /// Run solvers on a folder of problems and draw performance profiles
    Profile(profile::Arguments),
    /// Time the phases of a step on benchmark scenes
    Bench(bench::Arguments),
    /// List the solvers and what each is good for, or the parameters of one
    Solvers(solve::ListArguments),
}

/// Scene, changes and end of the command of a run, given as its words; none of any other command.
fn arguments_of_run(words: &[String]) -> Option<(Option<String>, source::Changes, Option<f64>)> {
    match Cli::try_parse_from(words).ok()?.command {
        Command::Run(arguments) => Some(arguments.asked()),
        _ => None,
    }
}

/// Runs the program with the arguments of the process; the result is its exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            note_unprinted(error.print());
            return printed(u8::try_from(error.exit_code()).unwrap_or(USAGE));
        }
    };
    let result = catch_unwind(AssertUnwindSafe(|| match cli.command {
        Command::Run(arguments) => on_threads(arguments.threads, || run::run(&arguments)),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Export(arguments) => model::export(&arguments),
        #[cfg(feature = "lens")]
        Command::Balance(arguments) => balance::balance(&arguments),
        #[cfg(feature = "lens")]
        // runs stand side by side, so the kernels of each stay on one thread; the answers are the same
        Command::Collapse(arguments) => on_threads(Some(1_u16), || collapse::collapse(&arguments)),
        Command::Converge(arguments) => on_threads(arguments.threads, || converge::converge(&arguments)),
        Command::Scenes(arguments) => scenes::scenes(&arguments),
        Command::Picture(arguments) => on_threads(arguments.threads, || picture::picture(&arguments)),
        Command::Film(arguments) => on_threads(arguments.threads, || film::film(&arguments)),
        Command::Report(arguments) => report::report(&arguments),
        Command::Plot(arguments) => plot::plot(&arguments),
        Command::Solve(arguments) => solve::solve(&arguments),
        Command::Inspect(arguments) => inspect::inspect(&arguments),
        Command::Corpus(arguments) => on_threads(arguments.threads, || corpus::corpus(&arguments)),
        Command::Profile(arguments) => profile::profile(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Solvers(arguments) => Ok(solve::list(&arguments)),
    }));
    match result {
        Ok(Ok(code)) => printed(code),
        Ok(Err(failure)) => {
            tell(&format!("error: {}", failure.message));
            failure.code
        }
        Err(_) => {
            tell("error: this is a defect of drystone, not of the scene; please report it with the command and the message above");
            DEFECT
        }
    }
}

/// The first line that could not be printed; the command goes on, since its files may still be worth having.
static UNPRINTED: OnceLock<String> = OnceLock::new();

/// Prints a line to stdout; a reader that has gone is ignored, a full disk is not.
fn say(text: &str) {
    note_unprinted(writeln!(std::io::stdout().lock(), "{text}"));
}

fn note_unprinted(result: std::io::Result<()>) {
    if let Err(error) = result.and_then(|()| std::io::stdout().flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = UNPRINTED.set(error.to_string());
    }
}

/// The exit code, once everything that was said has been printed.
fn printed(code: u8) -> u8 {
    match UNPRINTED.get() {
        Some(error) => {
            tell(&format!("error: standard output: cannot be written: {error}"));
            if code == DONE { INPUT } else { code }
        }
        None => code,
    }
}

/// Prints a line to stderr; a reader that has gone is ignored.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// A hundred columns are the most to which clap fills a line; it breaks a longer one in its midst, rows of two columns with it.
    #[test]
    fn no_line_of_a_help_is_broken() {
        let all = Cli::command();
        for command in std::iter::once(&all).chain(all.get_subcommands()) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 100).collect();
            assert!(long.is_empty(), "{}: {long:?}", command.get_name());
        }
    }
}
