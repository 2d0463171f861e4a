//! The command line.

mod run;

use clap::{Parser, Subcommand};

/// Nonsmooth dynamics: rigid bodies, grains and stone blocks with exact contact and Coulomb friction.
#[derive(Debug, Parser)]
#[command(name = "drystone", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scene.
    Run(run::RunArguments),
}

/// Runs the program with the arguments of the process; the result is its exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // a reader that closed the pipe early is no fault of the user
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match cli.command {
        Command::Run(arguments) => run::run(&arguments),
    }
}
