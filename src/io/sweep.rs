//! A sweep: one scene over a grid of values, in a folder from which it can go on after a kill.
//!
//! ```text
//! DIR/sweep.json         what is varied (Plan)
//! DIR/points/0003.json   what run 3 left: its summary, or why there is none (Outcome)
//! DIR/results.csv        one row a run: the varied keys, the columns of `run --json`, failure
//! ```

use super::error::{OutputError, replace_file};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Most points of a sweep.
pub const MAX_POINTS: usize = 1_000_000;

/// A key of `--set` and the values that it takes.
///
/// ```
/// use drystone::io::sweep::Axis;
/// assert_eq!(Axis::parse("mu=0.1,0.3")?.values, ["0.1", "0.3"]);
/// assert_eq!(Axis::parse("seed=1..4")?.values, ["1", "2", "3", "4"]);
/// assert_eq!(Axis::parse("h=0..1:5")?.values, ["0", "0.25", "0.5", "0.75", "1"]);
/// assert_eq!(Axis::parse("bodies.0.position=[0,0,1],[0,0,2]")?.values, ["[0,0,1]", "[0,0,2]"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What `--set` changes.
    pub key: String,
    /// At least one.
    pub values: Vec<String>,
}

impl Axis {
    /// Reads `KEY=A,B,C`, `KEY=FIRST..LAST` (whole numbers) or `KEY=FIRST..LAST:COUNT` (evenly spaced), and any mixture with commas.
    ///
    /// # Errors
    /// What was found and what would do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, list) = text.split_once('=').ok_or_else(|| format!("{text}: found no `=`; write key=value, key=a,b,c or key=1..5"))?;
        let mut values = Vec::new();
        for item in split(list) {
            values.extend(range(item).map_err(|wrong| format!("{text}: {wrong}"))?);
            if values.len() > MAX_POINTS {
                return Err(format!("{text}: more than {MAX_POINTS} values"));
            }
        }
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(format!("{text}: found nothing where a key or a value should stand; write key=a,b,c or key=1..5"));
        }
        Ok(Self { key: key.trim().to_owned(), values })
    }
}

/// Parts between commas that stand in no bracket and no quotation marks.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0usize, false);
    for (at, c) in list.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' | '(' if !quoted => depth += 1,
            ']' | '}' | ')' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts
}

/// A number and the unit behind it, with the blanks between.
fn measured(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    if text.parse::<f64>().is_ok() {
        return Some((text, ""));
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    let ends = text.char_indices().map(|(i, c)| i + c.len_utf8()).rev();
    let end = ends.into_iter().find(|&i| text[..i].parse::<f64>().is_ok())?;
    Some(text.split_at(end))
}

/// The values of `1..5`, `0..1:11` or `4mm..8mm:3`; anything else is a value itself.
fn range(item: &str) -> Result<Vec<String>, String> {
    let same = || Ok(vec![item.to_owned()]);
    let Some((first, rest)) = item.split_once("..") else { return same() };
    let (last, count) = rest.split_once(':').map_or((rest, None), |(last, count)| (last, Some(count)));
    let (Some((first, one)), Some((last, unit))) = (measured(first), measured(last)) else { return same() };
    match count {
        Some(_) if one.trim() != unit.trim() => {
            return Err(format!("`{item}` has a unit at one end, or two of them; write {first}{unit}..{last}{unit}:N"));
        }
        None if one.trim() != unit.trim() => return same(),
        _ => {}
    }
    let (Ok(a), Ok(b)) = (first.parse::<f64>(), last.parse::<f64>()) else { return same() };
    if !(a.is_finite() && b.is_finite()) {
        return Err(format!("`{item}` has no finite numbers at its ends; write {first}..{last}:N with two of them"));
    }
    match count {
        Some(count) => {
            let n: usize =
                count.trim().parse().ok().filter(|n| (2..=MAX_POINTS).contains(n)).ok_or_else(|| {
                    format!("found `{count}` as the number of values; write {first}..{last}:N with N from 2 to {MAX_POINTS}")
                })?;
            // the decimal fraction that is meant, not the nearest bits of the sum
            let value = |k: usize| if k + 1 == n { b } else { a + (b - a) * k as f64 / (n - 1) as f64 };
            Ok((0..n).map(|k| format!("{}{unit}", format!("{:.12e}", value(k)).parse::<f64>().unwrap_or(f64::NAN))).collect())
        }
        None => {
            let (Ok(a), Ok(b)) = (first.parse::<i64>(), last.parse::<i64>()) else {
                return Err(format!("`{item}` has no whole numbers at its ends; write {item}:N for N evenly spaced values"));
            };
            if a > b || b.abs_diff(a) >= MAX_POINTS as u64 {
                return Err(format!("`{item}` has to grow and hold at most {MAX_POINTS} values"));
            }
            Ok((a..=b).map(|k| format!("{k}{unit}")).collect())
        }
    }
}

/// What is varied, and what all runs share.
///
/// ```
/// use drystone::io::sweep::{Axis, Plan};
/// let axes = vec![Axis::parse("mu=0.1,0.3")?, Axis::parse("seed=1..3")?];
/// let plan = Plan { scene: "bead_pour".into(), axes, options: vec![], outputs: false };
/// assert_eq!(plan.points(), 6);
/// assert_eq!(plan.values(4), ["0.3", "2"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of a built-in scene, or path.
    pub scene: String,
    /// The last one varies fastest.
    pub axes: Vec<Axis>,
    /// Further arguments of every `drystone run`.
    pub options: Vec<String>,
    /// Whether each run writes its tables and VTK files.
    pub outputs: bool,
}

impl Plan {
    /// Number of runs; [`usize::MAX`] where it is more than that.
    pub fn points(&self) -> usize {
        self.axes.iter().fold(1, |n, axis| n.saturating_mul(axis.values.len()))
    }

    /// The values of the axes in run `point`, from 0.
    pub fn values(&self, point: usize) -> Vec<&str> {
        let mut rest = point;
        let mut values: Vec<&str> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            values.push(&axis.values[rest % axis.values.len()]);
            rest /= axis.values.len();
        }
        values.reverse();
        values
    }

    /// `KEY=VALUE` of run `point`, one for each axis.
    pub fn settings(&self, point: usize) -> Vec<(String, String)> {
        self.axes.iter().zip(self.values(point)).map(|(axis, value)| (axis.key.clone(), value.to_owned())).collect()
    }

    /// The plan of a folder; none where there is no file of it.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read(folder: &Path) -> Result<Option<Self>, OutputError> {
        let path = folder.join("sweep.json");
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(OutputError::file(&path, "read")(error)),
            Ok(bytes) => {
                let plan: Self = serde_json::from_slice(&bytes).map_err(|e| OutputError::data(&path, format!("holds no sweep: {e}")))?;
                if plan.points() == 0 || plan.points() > MAX_POINTS {
                    return Err(OutputError::data(&path, format!("holds a sweep of no point, or of more than {MAX_POINTS}")));
                }
                Ok(Some(plan))
            }
        }
    }

    /// Writes the plan into a folder, which is made where it is missing.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), OutputError> {
        let points = folder.join("points");
        std::fs::create_dir_all(&points).map_err(OutputError::file(&points, "created"))?;
        let path = folder.join("sweep.json");
        let text = serde_json::to_string_pretty(self).map_err(|e| OutputError::data(&path, e.to_string()))?;
        replace_file(&path, format!("{text}\n").as_bytes())
    }
}

/// Where a run of a sweep leaves something: `DIR/points/0003` and an ending.
pub fn place(folder: &Path, point: usize, ending: &str) -> PathBuf {
    folder.join("points").join(format!("{point:04}{ending}"))
}

/// What a run left.
///
/// ```
/// let none = drystone::io::sweep::Outcome::default();
/// assert!(none.summary.is_none() && none.failure.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of the scene with all its values: another one is another run.
    pub scene_hash: String,
    /// What `run --json` printed; also a run that stopped on a state that is not finite has one.
    pub summary: Option<Map<String, Value>>,
    /// Why the run is not good; none for one that reached its end.
    pub failure: Option<String>,
}

impl Outcome {
    /// What a run has left in a folder; none where it has not ended.
    ///
    /// # Errors
    /// The file is there, and cannot be read or holds something else.
    pub fn read(folder: &Path, point: usize) -> Result<Option<Self>, OutputError> {
        let path = place(folder, point, ".json");
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(OutputError::file(&path, "read")(error)),
            Ok(bytes) => {
                let wrong = |e| OutputError::data(&path, format!("holds no run of a sweep: {e}; remove it, and the point is run again"));
                serde_json::from_slice(&bytes).map(Some).map_err(wrong)
            }
        }
    }

    /// Writes it into the folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: &Path, point: usize) -> Result<(), OutputError> {
        let path = place(folder, point, ".json");
        let text = serde_json::to_string(self).map_err(|e| OutputError::data(&path, e.to_string()))?;
        replace_file(&path, format!("{text}\n").as_bytes())
    }
}

/// Writes one row for each run that has ended: the keys with more than one value, the columns of `run --json` (tables inside it by dotted
/// names, lists joined by `; `), and why a run failed.
///
/// # Errors
/// The file cannot be written.
pub fn write_results(path: &Path, plan: &Plan, outcomes: &[(usize, Outcome)]) -> Result<(), OutputError> {
    let rows: Vec<Vec<(String, String)>> = outcomes.iter().map(|(_, outcome)| columns(outcome)).collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        // a column that only some runs have stands where these have it
        let mut after = 0;
        for (name, _) in row {
            match names.iter().position(|known| known == name) {
                Some(at) => after = at + 1,
                None => {
                    names.insert(after, name);
                    after += 1;
                }
            }
        }
    }
    let failed = |error: csv::Error| OutputError::data(path, error.to_string());
    let mut table = csv::Writer::from_writer(Vec::new());
    let varied: Vec<usize> = (0..plan.axes.len()).filter(|&k| plan.axes[k].values.len() > 1).collect();
    let keys = varied.iter().map(|&k| plan.axes[k].key.as_str());
    table.write_record(keys.chain(names.iter().copied()).chain(["failure"])).map_err(failed)?;
    for ((point, outcome), row) in outcomes.iter().zip(&rows) {
        let values = plan.values(*point);
        let keys = varied.iter().map(|&k| values[k]);
        let found = names.iter().map(|name| row.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value));
        // a row is a line, also for what does not read quotes
        let failure = outcome.failure.iter().flat_map(|text| text.lines()).map(str::trim).collect::<Vec<_>>().join("; ");
        table.write_record(keys.chain(found).chain([failure.as_str()])).map_err(failed)?;
    }
    let bytes = table.into_inner().map_err(|error| OutputError::data(path, error.to_string()))?;
    replace_file(path, &bytes)
}

/// Its columns, but for what was foreseen of the run.
fn columns(outcome: &Outcome) -> Vec<(String, String)> {
    let mut found = Vec::new();
    flatten("", outcome.summary.as_ref(), &mut found);
    found.retain(|(name, _)| !name.starts_with("forecast."));
    found
}

fn flatten(prefix: &str, table: Option<&Map<String, Value>>, found: &mut Vec<(String, String)>) {
    for (name, value) in table.into_iter().flatten() {
        let name = format!("{prefix}{name}");
        match value {
            Value::Object(inner) => flatten(&format!("{name}."), Some(inner), found),
            Value::Array(list) => found.push((name, list.iter().map(plain).collect::<Vec<_>>().join("; "))),
            value => found.push((name, plain(value))),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_and_brackets_are_told_apart() {
        let values = |text: &str| Axis::parse(text).unwrap_or_else(|e| panic!("{e}")).values;
        assert_eq!(values("a=1..3,7"), ["1", "2", "3", "7"]);
        assert_eq!(values("a=-2..0"), ["-2", "-1", "0"]);
        assert_eq!(values("a=0.1..0.4:4"), ["0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(values("a=\"x, y\",z"), ["\"x, y\"", "z"]);
        assert_eq!(values("a=4mm..8mm:3"), ["4mm", "6mm", "8mm"]);
        assert_eq!(values("a=1 g/cm3..3 g/cm3"), ["1 g/cm3", "2 g/cm3", "3 g/cm3"]);
        assert_eq!(values("a=1..2.csv"), ["1..2.csv"]);
        assert_eq!(values("a=../mesh.stl"), ["../mesh.stl"]);
        assert_eq!(values("a=3 mm, 5 mm"), ["3 mm", "5 mm"]);
        for (text, cure) in [("a", "found no `=`"), ("a=", "found nothing"), ("a=1,,2", "found nothing"), ("=1", "found nothing")] {
            assert!(Axis::parse(text).is_err_and(|e| e.contains(cure)), "{text}");
        }
        for (text, cure) in [
            ("a=5..1", "grow"),
            ("a=0.1..0.5", "0.1..0.5:N"),
            ("a=0..1:1", "N from 2"),
            ("a=1..99999999", "at most"),
            ("a=1..5mm:3", "1mm..5mm"),
        ] {
            assert!(Axis::parse(text).is_err_and(|e| e.contains(cure)), "{text}");
        }
    }

    #[test]
    fn a_table_has_keys_columns_in_their_order_and_failures() {
        let axes = ["mu=0.1,0.3", "n=4"].map(|a| Axis::parse(a).unwrap_or_else(|e| panic!("{e}"))).to_vec();
        let plan = Plan { scene: "s".into(), axes, options: vec![], outputs: false };
        let done = |text: &str| Outcome { summary: serde_json::from_str(text).ok(), ..Outcome::default() };
        let failed = Outcome { failure: Some("no, nothing\n  write a number".into()), ..Outcome::default() };
        let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = folder.path().join("results.csv");
        let good = done(r#"{"zeta":1.5,"energy":{"kinetic_J":2.0},"forecast":{"wall_s":3.0},"warnings":["a","b"],"alpha":null}"#);
        write_results(&path, &plan, &[(0, good), (1, failed)]).unwrap_or_else(|e| panic!("{e}"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(text, "mu,zeta,energy.kinetic_J,warnings,alpha,failure\n0.1,1.5,2.0,a; b,,\n0.3,,,,,\"no, nothing; write a number\"\n");
    }
}
