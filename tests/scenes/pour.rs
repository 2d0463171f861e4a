//! S1: spheres poured into a box, `r = 1 cm`, box of edge `W = 2.2 r n`.

use super::outside::{Row, Run};

const R: f64 = 0.01;

/// Overlaps of all pairs and with the walls (m).
fn overlaps(beads: &[Row], n: usize) -> Vec<f64> {
    let half = 1.1 * R * n as f64;
    let walls = |b: &Row| [b.x.z, half - b.x.x, half + b.x.x, half - b.x.y, half + b.x.y].map(|d| R - d);
    let mut depths: Vec<f64> = beads.iter().flat_map(walls).collect();
    for (i, a) in beads.iter().enumerate() {
        depths.extend(beads[..i].iter().map(|b| 2.0 * R - a.x.distance(b.x)));
    }
    depths.retain(|&d| d > 0.0);
    depths
}

fn pour(n: usize, heights: std::ops::Range<f64>) {
    let run = Run::of("grain", &["bead_pour", "--set", &format!("n={n}")]);
    assert_eq!((run.end.len(), run.number("time")), (n * n * n, 1.0));
    run.certified(1e-2);
    assert!(run.number("residual_median") <= 1e-3, "median residual {}", run.number("residual_median"));
    let depths = overlaps(&run.end, n);
    let (deepest, mean) = (depths.iter().copied().fold(0.0, f64::max), depths.iter().sum::<f64>() / depths.len() as f64);
    assert!(deepest < 0.01 * R && mean < 0.001 * R, "penetration {deepest:e} m, mean {mean:e} m");
    for (name, outside) in [("penetration_max_m", deepest), ("penetration_mean_m", mean)] {
        assert!((run.number(name) - outside).abs() < 1e-3 * outside, "{name}: {} told, {outside} found", run.number(name));
    }
    let height = run.end.iter().map(|b| b.x.z).sum::<f64>() / run.end.len() as f64;
    assert!(heights.contains(&height), "mean height {height} m: the pile sank or hovers");
    assert!(run.balance_error() < 1e-10, "balance of energy {}", run.balance_error());
}

#[test]
fn a_thousand_beads_come_to_lie_in_their_box() {
    pour(10, 0.0820..0.0840);
}

/// Errors of the tolerance must not pass from step to step: with the sweeps that the tolerance asks for alone, half of the beads move at 0.3 mm/s for ever.
#[test]
fn a_thousand_beads_at_a_loose_tolerance_come_to_rest() {
    let run = Run::of("grain", &["bead_pour", "--until", "1.5"]);
    assert!(run.number("tolerance") >= 1e-3);
    let mut speeds: Vec<f64> = run.end.iter().map(|b| b.v.length()).collect();
    speeds.sort_by(f64::total_cmp);
    let median = speeds[speeds.len() / 2];
    assert!(median < 5e-5, "half of the beads are faster than {median:e} m/s");
}

#[test]
#[ignore = "about a minute; cargo test --release --test scenes -- --ignored"]
fn eight_thousand_beads_come_to_lie_in_their_box() {
    pour(20, 0.155..0.159);
}
