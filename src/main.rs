//! The `drystone` command.

fn main() -> std::process::ExitCode {
    drystone::cli::main().into()
}
