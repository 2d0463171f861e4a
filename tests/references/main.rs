//! Trajectories that other programs computed, and our own record of them.
//!
//! The tables of other programs lie in `../shared/reference` beside the repository and need not be there. Tables that this
//! program wrote after agreeing with them lie in `assets/reference`; `DRYSTONE_WRITE_REFERENCE=1` rewrites them.
//! `DRYSTONE_REFERENCE_CASE=name` runs the cases whose names contain it.

mod balls;
mod bars;
mod bodies;
mod circuits;
mod control;
mod friction;
mod joints;
mod record;
mod rigid_sphere;
mod table;

use record::{compare_with_record, write_record};
use std::path::{Path, PathBuf};
use table::{Case, Fallible, Table};

fn cases() -> Vec<Case> {
    [balls::cases(), bars::cases(), friction::cases(), circuits::cases(), control::cases(), bodies::cases(), joints::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// What a case shows beside its reference.
struct Outcome {
    rows: usize,
    /// column, deviation, tolerance: of every check the worst
    worst: Vec<(&'static str, f64, f64)>,
    misses: Vec<String>,
}

fn compare(case: &Case, ours: &Table, folder: Option<&Path>) -> Fallible<Outcome> {
    let mut out = Outcome { rows: 0, worst: Vec::new(), misses: Vec::new() };
    let theirs = folder.map(|f| Table::read(&f.join(case.name).join("reference.csv"))).transpose()?;
    if let Err(reason) = (case.also)(ours, theirs.as_ref()) {
        out.misses.push(format!("{}: {reason}", case.name));
    }
    let Some(theirs) = theirs else { return Ok(out) };
    out.rows = theirs.rows.len();
    if case.first + (out.rows - 1) * case.every >= ours.rows.len() + case.every {
        return Err(format!("{}: the run has {} rows, too few for {} of the reference", case.name, ours.rows.len(), out.rows).into());
    }
    let ours = case.aligned(ours, Some(out.rows));
    for check in &case.checks {
        let deviations = check.deviations(&ours, &theirs)?;
        for (column, d) in deviations.iter().filter(|d| d.1 > check.tolerance) {
            out.misses.push(format!("{}: {column} is off by {d:.2e}, tolerance {:.0e}", case.name, check.tolerance));
        }
        let (column, d) = deviations.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).ok_or("a check without columns")?;
        // columns without a tolerance are for our own record alone
        if check.tolerance.is_finite() {
            out.worst.push((column, d, check.tolerance));
        }
    }
    Ok(out)
}

#[test]
fn every_case_agrees_with_its_reference_and_with_our_own_record() -> Fallible {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = root.join("../shared/reference");
    let folder = shared.is_dir().then_some(shared.as_path());
    if folder.is_none() {
        eprintln!("SKIPPED: no folder ../shared/reference; only our own record in assets/reference is compared");
    }
    let own: PathBuf = root.join("assets/reference");
    let write = std::env::var_os("DRYSTONE_WRITE_REFERENCE").is_some();
    let only = std::env::var("DRYSTONE_REFERENCE_CASE").ok();
    let (mut misses, mut lines) = (Vec::new(), Vec::new());
    println!(
        "{:34} {:>6}  {:30} {:>9} {:>6}  {:>8} {:>6}",
        "case", "rows", "largest deviations (tolerance)", "record", "", "rel", "unconv"
    );
    for case in cases().iter().filter(|c| only.as_ref().is_none_or(|name| c.name.contains(name))) {
        let ours = match (case.table)() {
            Ok(table) => table,
            Err(error) => {
                misses.push(format!("{}: {error}", case.name));
                continue;
            }
        };
        let outcome = compare(case, &ours, folder)?;
        let words: Vec<String> = outcome.worst.iter().map(|(c, d, t)| format!("{c} {d:.1e} ({t:.0e})")).collect();
        let report = ours.report;
        if write && folder.is_some() && outcome.misses.is_empty() {
            lines.push(write_record(case, &ours, &outcome.worst, &own)?);
        }
        let record = compare_with_record(case, &ours, &own);
        let drift = record.as_ref().map_or(f64::NAN, |d| *d);
        println!(
            "{:34} {:6}  {:50} record {drift:7.1e}  rel {:7.1e}  {}",
            case.name,
            outcome.rows,
            words.join(", "),
            report.rel,
            report.unconverged
        );
        misses.extend(outcome.misses);
        misses.extend(record.err().map(|e| format!("{}: {e}", case.name)));
        if report.unconverged > 0 {
            misses.push(format!("{}: {} steps did not converge", case.name, report.unconverged));
        }
    }
    if write && only.is_none() && misses.is_empty() {
        record::write_summary(&lines, &own)?;
    }
    assert!(misses.is_empty(), "{} misses:\n{}", misses.len(), misses.join("\n"));
    Ok(())
}
