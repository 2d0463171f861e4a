//! S3: a dry wall in running bond stands still for 2 s, and is not frozen.

use super::outside::Run;

/// Weight (N) of a wall whose number of rows is even: half its rows have `columns` blocks of 0.4 m, half have one block less and
/// two pieces of 0.1995 m.
fn weight(columns: f64, rows: f64) -> f64 {
    let length = rows / 2.0 * (columns * 0.4 + (columns - 1.0) * 0.4 + 2.0 * 0.1995);
    length * 0.2 * 0.2 * 2000.0 * 9.81
}

fn stands(columns: u32, rows: u32, blocks: usize, drift: f64) {
    let run = Run::of("block", &["block_wall", "--set", &format!("columns={columns}"), "--set", &format!("rows={rows}")]);
    assert_eq!((run.end.len(), run.number("time")), (blocks, 2.0));
    run.certified(1e-4);
    run.carries(weight(columns.into(), rows.into()));
    assert!(run.drift() <= drift, "drift {} m", run.drift());
    assert!(run.number("penetration_max_m") <= drift);
}

#[test]
fn a_wall_of_105_blocks_stands() {
    stands(10, 10, 105, 4e-5);
}

#[test]
#[ignore = "some seconds; cargo test --release --test scenes -- --ignored"]
fn a_wall_of_615_blocks_stands() {
    stands(20, 30, 615, 2e-4);
}

#[test]
fn a_blow_moves_the_block_that_it_hits() {
    let run = Run::of("block", &["block_wall", "--set", "kick=1"]);
    run.certified(1e-4);
    run.carries(weight(10.0, 10.0));
    let (hit, way) = run.start.iter().zip(&run.end).map(|(a, b)| (a, b.x - a.x)).max_by(|a, b| a.1.y.total_cmp(&b.1.y)).unwrap();
    assert!((hit.x.z - 1.9).abs() < 1e-12 && (hit.x.x - 2.0).abs() < 0.3, "the block in the middle of the top row");
    // v = 1 N s / 32 kg is braked by μ g: a way of v²/(2 μ g) = 83 µm
    let exact = (1.0f64 / 32.0).powi(2) / (2.0 * 0.6 * 9.81);
    assert!((0.3 * exact..1.7 * exact).contains(&way.y), "{} m of {exact} m", way.y);
}

#[test]
fn a_wall_of_two_leaves_stays_at_rest_once_it_is() {
    // what stops a creep throws the wall back, and leaves that are flush lose corners by nanometres: both cost 60 factorisations a step
    let flemish = ["wall_with_opening", "--set", "bond=flemish", "--set", "leaves=2", "--until", "0.5"];
    for tolerance in ["1e-5", "1e-7"] {
        let run = Run::of("", &[&flemish[..], &["--tol", tolerance]].concat());
        assert!(run.number("factorisations_mean") < 1.0 && run.number("iterations_mean") < 2.0, "{tolerance}: steps at rest are not calm");
        assert!(run.drift() < 1e-8, "{tolerance}: drift {} m", run.drift());
    }
}

#[test]
fn drums_with_more_corners_than_a_patch_stay_at_rest_once_they_are() {
    // which of the corners of a drum stay hung on rounding, so that reactions were no guess: 11 to 24 factorisations in every step
    let still = ["column", "--set", "base.pulses.0.acceleration=[0,0,0]", "--until", "0.3"];
    for sides in [8, 10, 12, 16, 20] {
        let run = Run::of("", &[&still[..], &["--set", &format!("generate.column.0.sides={sides}")]].concat());
        assert!(run.number("factorisations_mean") < 1.0 && run.number("iterations_mean") < 2.0, "{sides}: steps at rest are not calm");
        assert!(run.drift() < 1e-8, "{sides}: drift {} m", run.drift());
    }
}

#[test]
fn a_wall_with_more_rows_than_piles_may_have_for_newton_is_at_rest_from_its_first_step_on() {
    let run = Run::of("block", &["block_wall", "--set", "columns=40", "--set", "rows=50", "--until", "0.025"]);
    assert!(3.0 * run.number("contacts") > 60_000.0, "the bound is beyond this wall");
    run.certified(1e-8);
    // sweeps alone take thousands for the first step, and leave it creeping
    assert!(run.number("iterations_mean") < 30.0 && run.number("factorisations_mean") > 1.0, "it was not solved by factorisations");
    assert!(run.drift() < 1e-8, "drift {} m", run.drift());
}

#[test]
fn a_fractured_block_is_at_rest_from_its_first_step_on() {
    // from what sweeps had left, the method of multipliers stopped at 1.3e-6, and the tries after it took 460 factorisations
    let run = Run::of("", &["tests/probes/scenes/fractured.toml"]);
    assert!(run.number("factorisations_mean") <= 3.0, "{} factorisations a step", run.number("factorisations_mean"));
    run.certified(1e-8);
    assert!(run.number("speed_max") < 1e-9, "{} m/s", run.number("speed_max"));
}

#[test]
fn what_stops_a_wall_does_not_throw_it_back() {
    // the reactions that stopped what the first step had left pushed it by 1e-6 m/s² in all others: 5e-7 m/s and 6e-8 m after 100 steps
    let run = Run::of("block", &["block_wall", "--set", "columns=10", "--set", "rows=50", "--until", "0.25"]);
    run.certified(1e-8);
    assert!(run.number("speed_max") < 2e-8, "{} m/s", run.number("speed_max"));
    assert!(run.drift() < 4e-9, "drift {} m", run.drift());
}

#[test]
fn a_shaken_wall_at_rest_is_held_by_equilibria_that_are_kept() {
    // without them each step takes five factorisations, as contacts open and close in other places
    let wall = ["docs/studies/shaken_wall.toml", "--set", "generate.wall.0.columns=10", "--set", "generate.wall.0.rows=20", "--until", "2"];
    let run = Run::of("wall", &wall);
    run.certified(1e-7);
    assert!(run.number("factorisations_mean") < 0.6, "{} factorisations a step", run.number("factorisations_mean"));
    assert!(run.ended_by("equilibria") > 700.0, "{} of 800 steps", run.ended_by("equilibria"));
    assert!(run.drift() < 1e-8, "drift {} m", run.drift());
}

#[test]
#[ignore = "minutes: cargo test --release --test scenes -- --ignored a_wall_of_5000"]
fn a_wall_of_5000_blocks_stands_for_ten_seconds() {
    let run = Run::of("block", &["block_wall", "--set", "columns=100", "--set", "rows=50", "--until", "10"]);
    run.certified(1e-4);
    run.carries(weight(100.0, 50.0));
    assert!(run.drift() <= 1e-6, "drift {} m", run.drift());
    assert!(run.number("iterations_mean") < 2.0 && run.number("factorisations_mean") < 1.0, "steps at rest are not calm");
}
