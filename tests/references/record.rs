//! Our own record of the cases: thinned tables in `assets/reference`.

use super::table::{Case, Fallible, Table};
use std::path::Path;

/// Numbers per file, so that all files together stay small.
const NUMBERS: usize = 2400;

/// The columns that are compared, with t first.
fn columns(case: &Case) -> Vec<&'static str> {
    let mut names = vec!["t"];
    for name in case.checks.iter().flat_map(|c| c.columns.split(' ')) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The thinned rows of a run and the number of steps between two of them.
fn thinned(case: &Case, ours: &Table) -> Fallible<(Table, usize)> {
    let names = columns(case);
    let places = names.iter().map(|n| ours.at(n)).collect::<Fallible<Vec<usize>>>()?;
    let aligned = case.aligned(ours, None);
    let thin = (aligned.rows.len() * names.len()).div_ceil(NUMBERS).max(1);
    let rows = aligned.rows.iter().step_by(thin).map(|row| places.iter().map(|&p| row[p]).collect()).collect();
    Ok((Table { names: names.into_iter().map(str::to_string).collect(), rows, report: ours.report }, thin * case.every))
}

/// Writes the record of a case and returns its line of the summary.
pub(crate) fn write_record(case: &Case, ours: &Table, worst: &[(&'static str, f64, f64)], folder: &Path) -> Fallible<String> {
    let (table, every) = thinned(case, ours)?;
    let mut text = format!("# {}: written by drystone, every {every} steps\n{}\n", case.name, table.names.join(","));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
        text += &(cells.join(",") + "\n");
    }
    std::fs::write(folder.join(case.name).with_extension("csv"), text)?;
    let deviations: Vec<String> = worst.iter().map(|(c, d, t)| format!("{c} {d:.1e} ({t:.0e})")).collect();
    let deviations = if deviations.is_empty() { "by criteria".to_string() } else { deviations.join(", ") };
    Ok(format!("| {} | {} | {} | every {every} | {deviations} |", case.name, case.model, case.source))
}

/// Puts the table into `README.md`, between its marks.
pub(crate) fn write_summary(lines: &[String], folder: &Path) -> Fallible {
    let path = folder.join("README.md");
    let text = std::fs::read_to_string(&path)?;
    let (before, rest) = text.split_once("<!-- table -->\n").ok_or("README.md has no mark <!-- table -->")?;
    let (_, after) = rest.split_once("<!-- end -->").ok_or("README.md has no mark <!-- end -->")?;
    let head = "| case | model | source | steps per row | largest deviation from the source by kind of column (tolerance) |\n|---|---|---|---|---|";
    std::fs::write(path, format!("{before}<!-- table -->\n{head}\n{}\n<!-- end -->{after}", lines.join("\n")))?;
    Ok(())
}

/// Largest deviation of a run from its record, relative to the largest value of the column (at least 1); an error beyond what
/// the case allows.
pub(crate) fn compare_with_record(case: &Case, ours: &Table, folder: &Path) -> Fallible<f64> {
    let record = Table::read(&folder.join(case.name).with_extension("csv"))?;
    let (table, _) = thinned(case, ours)?;
    if table.names != record.names || table.rows.len() != record.rows.len() {
        let (a, b) = (table.rows.len(), record.rows.len());
        return Err(format!("the record holds {b} rows of {:?}, the run {a} rows of {:?}", record.names, table.names).into());
    }
    let mut worst = (0f64, "");
    for (k, name) in record.names.iter().enumerate() {
        let size = record.rows.iter().fold(1f64, |m, row| m.max(row[k].abs()));
        for (a, b) in table.rows.iter().zip(&record.rows) {
            let d = (a[k] - b[k]).abs() / size;
            worst = if d <= worst.0 { worst } else { (if d.is_nan() { f64::INFINITY } else { d }, name) };
        }
    }
    if worst.0 > case.own {
        return Err(format!("{} is off by {:.2e} from our own record, tolerance {:.0e}", worst.1, worst.0, case.own).into());
    }
    Ok(worst.0)
}
