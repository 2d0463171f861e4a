//! `drystone export`.

use super::source::Changes;
use super::{DONE, Failure, USAGE, say};
use crate::io::blocks_out::text;
use crate::io::scene::model::{Motion, ShapeSpec};
use std::path::PathBuf;

/// Arguments of `drystone export`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Name of a built-in scene, or path of a scene file (with a separator or ending in .toml)
    scene: String,
    #[command(flatten)]
    changes: Changes,
    /// The file to write: .obj with a group for each block, or a table .csv of corners
    #[arg(long, value_name = "FILE.obj|FILE.csv")]
    out: PathBuf,
}

const HELP: &str = "\
Cuboids, hulls, meshes and compounds of them are blocks, where the scene puts them, in m, z up; a
compound is a group of several closed surfaces, in an .obj alone. Half-spaces stay behind.
What reads the model again is printed: an [[import]] with the blocks that are fixed. Materials, laws
and loads belong to the scene. A model that is imported and exported gives the same bits again.

Examples:
  drystone export arch --out arch.obj
  drystone export my_wall.toml --out corners.csv";

pub(super) fn export(arguments: &Arguments) -> Result<u8, Failure> {
    let out = &arguments.out;
    let ending = out.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let obj = match ending.as_str() {
        "obj" => true,
        "csv" | "txt" => false,
        _ => return Err(Failure::new(USAGE, format!("--out {}: models are written as .obj, .csv or .txt", out.display()))),
    };
    let scene = arguments.changes.load(&arguments.scene)?;
    let (model, _) = text(&scene, obj).map_err(|e| Failure::input(format!("{}: {e}", arguments.scene)))?;
    std::fs::write(out, model).map_err(|e| Failure::input(format!("{}: cannot be written: {e}", out.display())))?;
    let fixed = scene.bodies.iter().filter(|b| b.motion != Motion::Dynamic && !matches!(b.shape, ShapeSpec::HalfSpace { .. }));
    let fixed: Vec<String> = fixed.map(|b| format!("{:?}", b.name)).collect();
    let file = out.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
    say(&format!(
        "[[import]]\nfile = {file:?}{}",
        if fixed.is_empty() { String::new() } else { format!("\nfixed = [{}]", fixed.join(", ")) }
    ));
    Ok(DONE)
}
