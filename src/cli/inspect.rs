//! `drystone inspect`.

use super::solve::{SKIPPED, is_something_else, kind};
use super::{DONE, Failure, INPUT, say, tell};
use crate::diagnostics::problem::Facts;
use crate::io::problem::read;
use crate::numerics::solvers::Kind;
use std::path::PathBuf;

/// Arguments of `drystone inspect`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Problems: FCLIB HDF5, text or JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Kind of text files that fit several: fc, gfc, rfc, grfc, lcp, mlcp, relay, gmp
    #[arg(long, value_parser = kind)]
    kind: Option<Kind>,
    /// One line of JSON per file
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  drystone inspect tower.hdf5
  drystone inspect *.hdf5 --json | jq '{file, rank, rows, condition}'

A rank below the number of rows means that reactions are not unique (hyperstatic); velocities are.
The condition number is that of the nonzero singular values. Both are of W, which a global problem
is reduced to, and are left out beyond 2500 rows.";

#[derive(serde::Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    facts: &'a Facts,
}

pub(super) fn inspect(arguments: &Arguments) -> Result<u8, Failure> {
    let mut code = DONE;
    for path in &arguments.files {
        let file = path.display().to_string();
        let facts = match read(path, arguments.kind) {
            Ok(problem) => Facts::of(&problem),
            Err(error) => {
                let skipped = arguments.files.len() > 1 && is_something_else(path);
                code = if skipped { code } else { INPUT };
                if arguments.json {
                    say(&serde_json::json!({ "file": file, "message": error.to_string() }).to_string());
                } else {
                    tell(&format!("{}: {error}", if skipped { SKIPPED } else { "error" }));
                }
                continue;
            }
        };
        if arguments.json {
            say(&serde_json::to_string(&Line { file: &file, facts: &facts }).map_err(Failure::input)?);
        } else {
            say(&format!("{file}\n{}", table(&facts)));
        }
    }
    Ok(code)
}

fn table(f: &Facts) -> String {
    let range = |name: &str, range: Option<[f64; 2]>| {
        range.map(|[low, high]| (name.to_owned(), if low == high { format!("{low}") } else { format!("{low} to {high}") }))
    };
    let plain = |name: &str, value: String| Some((name.to_owned(), value));
    let size = if f.velocities > 0 { format!("{} rows, {} velocities", f.rows, f.velocities) } else { format!("{} rows", f.rows) };
    let matrix = if f.velocities > 0 { "M and H" } else { "the matrix" };
    let lines = [
        plain("kind", f.kind.to_owned()),
        plain("size", if f.columns == f.rows { size } else { format!("{size}, {} unknowns", f.columns) }),
        (f.blocks > 0).then(|| ("blocks".to_owned(), format!("{}, {} of them contacts with friction", f.blocks, f.contacts))),
        plain("filling", format!("{} nonzeros in {matrix}, {:.3} %", f.nonzeros, 100.0 * f.density)),
        f.rank.map(|rank| ("rank".to_owned(), format!("{rank} of {}", f.rows.min(f.columns)))),
        f.condition.map(|x| ("condition".to_owned(), format!("{x:.2e} over the nonzero spectrum"))),
        f.asymmetry.map(|x| ("asymmetry".to_owned(), format!("{x:.1e}"))),
        range("friction", f.mu),
        range("rolling", f.mu_r),
        plain("|q|", format!("{:.4e}", f.q_norm)),
        f.components.zip(f.largest_degree).map(|(parts, degree)| {
            ("graph".to_owned(), format!("{parts} component{}, at most {degree} neighbours", if parts == 1 { "" } else { "s" }))
        }),
    ];
    let remarks = f.remarks.iter().map(|text| ("remark".to_owned(), text.clone()));
    let lines: Vec<String> = lines.into_iter().flatten().chain(remarks).map(|(name, value)| format!("  {name:<10} {value}")).collect();
    lines.join("\n")
}
