//! Tables that a run before has left in the folder in which another one begins: none of them may pass for one of its own.

use super::error::OutputError;
use std::path::Path;

/// Tables whose names a scene does not choose.
const FIXED: [&str; 6] = ["bodies_start", "breakages", "block_stress", "flow", "joint_forces", "joints"];
/// Sections whose tables have the name that is given there, what the first and what others are called without one, and what further tables end in.
const NAMED: [(&str, &str, &[&str]); 4] =
    [("record", "record0", &[]), ("measure", "measure", &["_pairs", "_forces", "_rose"]), ("pile", "pile", &[]), ("field", "field", &[])];

/// Removes the tables that the scene of the run before, in this file of the folder, names. In a folder without it nothing is touched.
pub fn remove_tables(directory: &Path, scene_of_run: &str) -> Result<(), OutputError> {
    let Ok(scene) = std::fs::read_to_string(directory.join(scene_of_run)) else { return Ok(()) };
    let scene: toml::Table = toml::from_str(&scene).unwrap_or_default();
    let mut names: Vec<String> = FIXED.map(str::to_owned).into();
    for (section, first, ends) in NAMED {
        let tables = scene.get(section).and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
        for (k, table) in tables.iter().enumerate() {
            let default = || if k == 0 { first.to_owned() } else { format!("{section}{k}") };
            let name = table.get("name").and_then(toml::Value::as_str).map_or_else(default, str::to_owned);
            names.extend(ends.iter().map(|end| format!("{name}{end}")));
            names.push(name);
        }
    }
    for name in names.iter().filter(|name| !name.contains(['/', '\\'])) {
        let path = directory.join(format!("{name}.csv"));
        if path.is_file() {
            std::fs::remove_file(&path).map_err(OutputError::file(&path, "removed"))?;
        }
    }
    Ok(())
}
