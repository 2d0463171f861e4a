//! How steep a heap lies that a lifted tube has left on rough ground, and what resistance to rolling does to it.

use super::scene;
use drystone::diagnostics::{grains::Packing, piles::Pile};
use drystone::scenes::build;

/// The angle (degrees) of the heap at the end, from its rim to its top.
fn heap(count: usize, mu_r: f64, seed: u64) -> f64 {
    let set =
        [("contact.mu_r", mu_r.to_string()), ("generate.pour.0.count", count.to_string()), ("generate.pour.0.seed", seed.to_string())];
    let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let scene = scene("docs/studies/repose.toml", &set);
    let mut built = build(&scene).unwrap();
    built.simulation.run_until(scene.time.end).unwrap();
    let packing = Packing::of(&built.simulation, None);
    let Pile { height, front, .. } = Pile::of(&packing, &scene.piles[0].rules);
    libm::atan2(height, front).to_degrees()
}

#[test]
fn a_heap_of_balls_that_resist_rolling_lies_steeper() {
    // so few balls have hardly three rings of a surface
    let mean = |mu_r: f64| [1, 2].map(|seed| heap(400, mu_r, seed)).iter().sum::<f64>() / 2.0;
    let (free, held) = (mean(0.0), mean(0.3));
    assert!((18.0..28.0).contains(&free) && held > free + 5.0, "{free:.1} {held:.1}");
}
