//! The studies of `docs/studies`: a small version of each, and under `--ignored` the tables of the pages.
//!
//! ```text
//! cargo test --release --test studies                                  the small versions
//! cargo test --release --test studies NAME -- --ignored --nocapture    the table of a page
//! ```
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a study that cannot be run has failed")]

mod chute;
mod column;
mod columns;
mod gas;
mod isotropic;
mod packing;
mod pier;
mod repose;
mod rocking;
mod shear;
mod silo;
mod triaxial;
mod wallet;

use drystone::io::scene::{Scene, SceneSource};

/// A scene of `docs/studies` or `assets/scenes` with values at dotted paths.
fn scene(file: &str, set: &[(&str, &str)]) -> Scene {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let set: Vec<(String, String)> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scene::load(&SceneSource::new(&path), &set).unwrap_or_else(|e| panic!("{e}"))
}

/// A line of least squares.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: f64,
    at_zero: f64,
    r2: f64,
}

fn line(points: impl Iterator<Item = (f64, f64)>) -> Line {
    let points: Vec<(f64, f64)> = points.collect();
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|a, _| a * a), sum(&|a, b| a * b), sum(&|_, b| b * b));
    let slope = xy / xx;
    Line { slope, at_zero: y - slope * x, r2: xy * xy / (xx * yy) }
}

/// A verdict of the equations beside that of a run: `#` falls, `.` stands, `e` falls by the equations alone, `d` by drystone alone.
fn mark(equation: bool, run: bool) -> char {
    match (equation, run) {
        (true, true) => '#',
        (false, false) => '.',
        (true, false) => 'e',
        (false, true) => 'd',
    }
}
