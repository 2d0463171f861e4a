//! Run-out of a column of balls in a channel of rough ground.
//!
//! ```text
//! (L∞ − L₀)/L₀ = 1.2 a (a < 2.3), 1.9 a^(2/3) above      H∞/L₀ ∝ a^(2/5)        Lube et al. 2005, Lajeunesse et al. 2005
//! ```

use super::{line, scene};
use drystone::diagnostics::{grains::Packing, piles::Pile};
use drystone::scenes::{self, build};

const LENGTH: f64 = 0.1;
const RADIUS: f64 = 0.0025;
const WIDTH: f64 = 0.015;

/// What a collapse leaves behind.
struct Deposit {
    grains: usize,
    /// Aspect ratio when the gate goes.
    a: f64,
    /// (L − L₀)/L₀ to the first bin of two grains whose solid part is less than half a grain thick.
    run_out: f64,
    /// Height at the back wall over L₀.
    height: f64,
    /// Time (s) from the gate to the last 5 % of the run-out.
    duration: f64,
    /// Root mean square speed at the end (m/s).
    speed: f64,
    /// Of the energy balance.
    defect: f64,
    lost: f64,
}

/// End of the connected deposit (m).
fn front(packing: &Packing) -> f64 {
    let bin = 4.0 * RADIUS;
    let mut solid = vec![0.0; 400];
    for grain in &packing.grains {
        let at = (grain.position.x / bin) as usize;
        if at < solid.len() && grain.position.z > -2.0 * RADIUS {
            solid[at] += grain.volume;
        }
    }
    bin * solid.iter().take_while(|volume| **volume / (WIDTH * bin) >= RADIUS).count() as f64
}

/// Height (m) of the solid over the first four grains, at the solid fraction of a loose bed.
fn height(packing: &Packing) -> f64 {
    let mut tops: Vec<f64> = packing.grains.iter().filter(|g| g.position.x < 8.0 * RADIUS).map(|g| g.position.z + RADIUS).collect();
    tops.sort_by(f64::total_cmp);
    tops[tops.len() * 95 / 100]
}

fn collapse(layers: usize, seed: u64, set: &[(&str, &str)]) -> Deposit {
    let (count, seed) = (format!("[17, 2, {layers}]"), seed.to_string());
    let mut all = vec![("generate.lattice.1.count", count.as_str()), ("generate.lattice.1.seed", seed.as_str())];
    all.extend_from_slice(set);
    let scene = scene("docs/studies/column_collapse.toml", &all);
    let open = scene.bodies.iter().find_map(|b| b.death).unwrap();
    let mut built = build(&scene).unwrap();
    built.simulation.run_until(open).unwrap();
    let start = Packing::of(&built.simulation, None);
    let a = height(&start) / LENGTH;
    let (mut fronts, mut defect) = (Vec::new(), 0f64);
    while built.simulation.time() < scene.time.end - 1e-9 {
        let report = built.simulation.step().unwrap();
        defect = defect.max(report.balance.error());
        fronts.push((built.simulation.time() - open, front(&Packing::of(&built.simulation, None))));
    }
    let end = Packing::of(&built.simulation, None);
    let last = front(&end);
    let late = fronts.iter().rev().find(|f| f.1 < LENGTH + 0.95 * (last - LENGTH)).map_or(0.0, |f| f.0);
    Deposit {
        grains: end.grains.len(),
        a,
        run_out: last / LENGTH - 1.0,
        height: height(&end) / LENGTH,
        duration: late,
        speed: (end.grains.iter().map(|g| g.velocity.length_squared()).sum::<f64>() / end.grains.len() as f64).sqrt(),
        defect,
        lost: end.grains.iter().filter(|g| g.position.z < -2.0 * RADIUS).count() as f64,
    }
}

fn law(a: f64) -> f64 {
    if a < 2.3 { 1.2 * a } else { 1.9 * a.powf(2.0 / 3.0) }
}

#[test]
fn a_low_column_runs_out_as_the_law_of_channels_says() {
    let found = collapse(14, 1, &[("time.end", "0.9")]);
    println!("a {:.2} run-out {:.2} law {:.2} height {:.2}", found.a, found.run_out, law(found.a), found.height);
    assert!((found.run_out / law(found.a) - 1.0).abs() < 0.3, "{} at a = {}", found.run_out, found.a);
    assert!(found.defect < 1e-9 && found.lost == 0.0);
}

#[test]
fn a_round_column_of_ten_grains_runs_out_less_far_than_the_law_of_large_ones_says() {
    let tube = 10.0 * RADIUS;
    let small = [
        ("n", "450"),
        ("open", "0.4"),
        ("time.step", "0.002"),
        ("bodies.0.shape.radius", "0.025"),
        ("generate.pour.0.width", "[0.034, 0.034]"),
        ("generate.lattice.0.count", "[40, 40, 1]"),
    ];
    let scene = scenes::load("round_column", &small).unwrap();
    let mut built = build(&scene).unwrap();
    let rules = &scene.piles[0].rules;
    built.simulation.run_until(0.4).unwrap();
    let before = Pile::of(&Packing::of(&built.simulation, None), rules);
    let a = before.height / tube;
    assert!((before.front / tube - 1.0).abs() < 0.01 && (1.0..1.3).contains(&a), "{before:?}");
    let mut defect = 0f64;
    while built.simulation.time() < 0.9 - 1e-9 {
        defect = defect.max(built.simulation.step().unwrap().balance.error());
    }
    let end = Packing::of(&built.simulation, None);
    let run_out = Pile::of(&end, rules).front / tube - 1.0;
    println!("a {a:.2} run-out {run_out:.2} law {:.2}", 1.24 * a);
    assert!((0.45..0.6).contains(&(run_out / (1.24 * a))), "{run_out} at a = {a}");
    assert!(defect < 1e-9 && end.grains.iter().all(|g| g.position.z > -2.0 * RADIUS));
}

/// 280 discs, a twentieth of those of the study: columns of 17 grains fall short of the law of large ones.
#[test]
fn a_small_column_of_discs_falls_short_of_the_law_of_large_ones() {
    let small = [
        ("time.end", "1.6"),
        ("bodies.1.death", "0.6"),
        ("bodies.1.position", "[0.2214, 0, 4]"),
        ("generate.lattice.0.count", "[120, 1, 1]"),
        ("generate.lattice.0.position", "[0.6, 0, -0.01]"),
        ("generate.lattice.1.count", "[14, 1, 20]"),
        ("generate.lattice.1.position", "[0.0857, 0, 0]"),
    ];
    let scene = scene("docs/studies/column_discs.toml", &small);
    let mut built = build(&scene).unwrap();
    let (rules, length) = (&scene.piles[0].rules, 0.1714);
    built.simulation.run_until(0.6).unwrap();
    let a = Pile::of(&Packing::of(&built.simulation, None), rules).height / length;
    let mut defect = 0f64;
    while built.simulation.time() < 1.6 - 1e-9 {
        let report = built.simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        defect = defect.max(report.balance.error());
    }
    let end = Packing::of(&built.simulation, None);
    let run_out = Pile::of(&end, rules).front / length - 1.0;
    println!("a {a:.2} run-out {run_out:.2} law {:.2}", 2.5 * a);
    assert!((1.0..1.1).contains(&a) && (0.5..0.75).contains(&(run_out / (2.5 * a))), "{run_out} at a = {a}");
    assert!(defect < 1e-9 && end.grains.iter().all(|g| g.position.y.abs() < 1e-12 && g.position.z > 0.0));
}

#[test]
#[ignore = "twenty minutes: cargo test --release --test studies column -- --ignored --nocapture"]
fn run_out_of_columns_in_a_channel() {
    println!("| layers | seed | grains | a | run-out | law | run-out/law | height | 95 % after | of √(2 H₀/g) | speed at the end |");
    let mut rows = Vec::new();
    for layers in [20, 40, 80, 120, 160] {
        for seed in 1..=if layers > 80 { 1 } else { 3 } {
            let f = collapse(layers, seed, &[]);
            let fall = (2.0 * f.a * LENGTH / 9.81).sqrt();
            println!(
                "| {layers} | {seed} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} s | {:.1} | {:.3} m/s |",
                f.grains,
                f.a,
                f.run_out,
                law(f.a),
                f.run_out / law(f.a),
                f.height,
                f.duration,
                f.duration / fall,
                f.speed
            );
            assert!(f.defect < 1e-9, "{}", f.defect);
            rows.push(f);
        }
    }
    let power = |pick: &dyn Fn(&&Deposit) -> bool, of: fn(&Deposit) -> f64| line(rows.iter().filter(pick).map(|f| (f.a.ln(), of(f).ln())));
    let low = power(&|f| f.a < 2.3, |f| f.run_out);
    let high = power(&|f| f.a > 1.7, |f| f.run_out);
    let tall = power(&|f| f.a > 0.8, |f| f.height);
    println!("run-out: {:.2} a^{:.2} for a < 2.3, {:.2} a^{:.2} above 1.7", low.at_zero.exp(), low.slope, high.at_zero.exp(), high.slope);
    println!("height: {:.2} a^{:.2} for a > 0.8", tall.at_zero.exp(), tall.slope);
}
