//! drystone beside rapier on the benchmark scenes S1, S3 and S4: the two run in turn, each as a process of its own, and the best of several
//! rounds counts.

mod rapier;
mod scenes;

use clap::Parser;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

#[derive(Parser)]
struct Arguments {
    /// The drystone to compare with
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/drystone"))]
    drystone: PathBuf,
    /// Scenes: s1-N (N³ balls), s3-COLUMNSxROWS (wall), s4-RATIO (arch)
    #[arg(long, value_delimiter = ',', default_value = "s1-10,s3-10x10,s3-20x30,s4-0.107,s4-0.11")]
    scenes: Vec<String>,
    /// Rounds; the fastest of each counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Threads of both (more than one: build with --features parallel)
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Damping ratio of contacts of rapier
    #[arg(long, default_value_t = 1.0)]
    damping: f64,
    /// Let rapier find the contacts of every pair anew at every step
    #[arg(long)]
    no_recycling: bool,
    /// Run this scene in rapier, here and now, and print one line of JSON
    #[arg(long, hide = true)]
    alone: Option<String>,
}

type Fault = Box<dyn std::error::Error>;

/// The line of JSON that a program prints.
fn line(command: &mut Command) -> Result<Value, Fault> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// By how much the first bodies of drystone stand elsewhere than those of the scene here (m).
fn difference(drystone: &PathBuf, scene: &scenes::Scene) -> Result<f64, Fault> {
    let out = std::env::temp_dir().join(format!("drystone-peers-{}", std::process::id()));
    line(Command::new(drystone).arg("run").args(&scene.drystone).args(["--until", "1e-3", "--json", "--out"]).arg(&out))?;
    let text = std::fs::read_to_string(out.join("bodies_start.csv"))?;
    std::fs::remove_dir_all(&out)?;
    let rows = text.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>()).filter(|row| row[1] != "half-space");
    let places: Vec<[f64; 3]> = rows.map(|row| [2, 3, 4].map(|k| row[k].parse().unwrap_or(f64::NAN))).collect();
    if places.len() != scene.bodies.len() {
        return Err(format!("{} bodies in drystone, {} here", places.len(), scene.bodies.len()).into());
    }
    let apart = |(a, b): (&[f64; 3], &scenes::Body)| (0..3).map(|k| (a[k] - b.position[k]).abs()).fold(0.0, f64::max);
    Ok(places.iter().zip(&scene.bodies).map(apart).fold(0.0, |worst: f64, x| if x.is_nan() { x } else { worst.max(x) }))
}

fn accuracy(scene: &scenes::Scene, row: &Value) -> String {
    let get = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    match scene.bodies.first().map(|b| &b.shape) {
        Some(scenes::Shape::Ball(r)) => {
            let share = |key: &str| 100.0 * get(key) / r;
            format!("{:.2} / {:.3} % r, z {:.4} m", share("penetration_max_m"), share("penetration_mean_m"), get("height_mean_m"))
        }
        _ if get("displacement_max_m") > 0.05 => format!("fallen ({:.2} m)", get("displacement_max_m")),
        _ => format!("{:.2e} m", get("displacement_max_m")),
    }
}

fn main() -> Result<(), Fault> {
    let arguments = Arguments::parse();
    let scene = |name: &str| scenes::find(name).ok_or_else(|| format!("{name}: no scene; write s1-N, s3-COLUMNSxROWS or s4-RATIO"));
    if let Some(name) = &arguments.alone {
        println!("{}", rapier::run(&scene(name)?, arguments.threads, arguments.damping, !arguments.no_recycling)?);
        return Ok(());
    }
    println!(
        "| scene | drystone, wall (CPU) s per s | rapier 0.36 | drystone ÷ rapier | ÷ Box3D, estimated | drystone: overlap or drift | rapier |"
    );
    println!("|---|---|---|---|---|---|---|");
    for name in &arguments.scenes {
        let scene = scene(name)?;
        let apart = difference(&arguments.drystone, &scene)?;
        if apart.is_nan() || apart > 1e-12 {
            return Err(format!("{name}: the scenes differ by {apart:e} m").into());
        }
        let mut best = [[f64::INFINITY; 2]; 2];
        let mut seen = [Value::Null, Value::Null];
        let threads = arguments.threads.to_string();
        for _ in 0..arguments.rounds {
            let mut ours = Command::new(&arguments.drystone);
            ours.arg("run").args(&scene.drystone).args(["--json", "--threads", &threads]);
            let mut theirs = Command::new(std::env::current_exe()?);
            theirs.args(["--alone", name, "--threads", &threads, "--damping", &arguments.damping.to_string()]);
            if arguments.no_recycling {
                theirs.arg("--no-recycling");
            }
            for (k, command) in [ours, theirs].iter_mut().enumerate() {
                seen[k] = line(command)?;
                for (best, key) in best[k].iter_mut().zip(["wall_s", "cpu_s"]) {
                    *best = best.min(seen[k][key].as_f64().unwrap_or(f64::NAN) / scene.end);
                }
            }
        }
        let [ours, theirs] = best;
        let missed = seen[0]["unconverged_steps"].as_u64().unwrap_or(0);
        let remark = if missed > 0 { format!(", {missed} steps missed the tolerance") } else { String::new() };
        let estimate = if scene.box3d.is_nan() { "–".to_owned() } else { format!("{:.2}", ours[0] / theirs[0] / scene.box3d) };
        println!(
            "| {name} | {:.3} ({:.3}) | {:.3} ({:.3}) | {:.2} | {estimate} | {}{remark} | {} |",
            ours[0],
            ours[1],
            theirs[0],
            theirs[1],
            ours[0] / theirs[0],
            accuracy(&scene, &seen[0]),
            accuracy(&scene, &seen[1])
        );
    }
    Ok(())
}
