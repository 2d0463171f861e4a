//! Free rocking of a rectangular block (Housner): e = 0 at velocity level on the corner points.

use super::common::{FORECAST, Fallible, GAP_AWARE, friction, pose, scene, velocity};
use drystone::geometry::Shape;
use drystone::model::scheme::Treatment;
use drystone::simulation::Body;
use glam::{DQuat, DVec3};

/// Half-width and half-height, start in parts of α, and what follows: time and speed of the first impact, speed after, next peak.
struct Row {
    half: [f64; 2],
    start: f64,
    quarter: f64,
    before: f64,
    after: f64,
    peak: f64,
}

#[rustfmt::skip]
const TABLE: [Row; 4] = [
    Row { half: [0.25, 1.0], start: 0.5, quarter: 0.493803, before: 0.565045, after: 0.515188, peak: 0.386714 },
    Row { half: [0.25, 1.0], start: 0.8, quarter: 0.858640, before: 0.639612, after: 0.583176, peak: 0.551345 },
    Row { half: [0.10, 0.5], start: 0.5, quarter: 0.347094, before: 0.648049, after: 0.610662, peak: 0.422194 },
    Row { half: [0.50, 1.0], start: 0.5, quarter: 0.516630, before: 1.018535, after: 0.712974, peak: 0.206301 },
];

/// Swings a block free in space from its tilt to the next peak on the other side and compares with `row`.
fn rock(row: &Row, treatment: Treatment, heading: f64, h: f64) -> Fallible<f64> {
    let [b, tall] = row.half;
    let alpha = (b / tall).atan();
    let depth = 0.3;
    let mut sim = scene(h, treatment, friction(0.8), 1e-10)?;
    let (turn, tilt) = (DQuat::from_rotation_z(heading), DQuat::from_rotation_y(row.start * alpha));
    // about the edge at (b, ·, 0)
    let centre = turn * (DVec3::X * b + tilt * DVec3::new(-b, 0.0, tall));
    let stone = Body::new(Shape::cuboid(DVec3::new(b, depth, tall))?).density(2400.0).at(centre).turned(turn * tilt);
    let stone = sim.spawn_body(stone)?;
    let edge = turn * DVec3::Y;
    // rotation vector of the pose against the upright one
    let lean = |sim: &_| (pose(sim, stone).rotation * turn.conjugate()).to_scaled_axis();
    let spin = |sim: &_| (pose(sim, stone).rotation * velocity(sim, stone).angular).dot(edge);
    let (mut fastest, mut impact, mut after, mut yaw, mut unconverged) = (0f64, None, 0.0, 0f64, 0);
    loop {
        let before = lean(&sim).dot(edge);
        let report = sim.step()?;
        unconverged += usize::from(!report.converged);
        let (now, speed) = (lean(&sim).dot(edge), spin(&sim));
        yaw = yaw.max(lean(&sim).reject_from(edge).length());
        match impact {
            None => {
                fastest = fastest.max(-speed);
                // the corners land together: the last step before may stop the block short of zero
                if now < 1e-7 {
                    let share = if before > now { before / (before - now) } else { 1.0 };
                    impact = Some(sim.time() - sim.time_step() * (1.0 - share.min(1.0)));
                }
            }
            Some(time) => {
                if sim.time() - time < 3.0 * h {
                    after = -speed;
                }
                if speed > 0.0 {
                    let peak = -now / alpha;
                    // the corner that now carries was at (−b, ·, 0) of the upright block
                    let corner = pose(&sim, stone).point(DVec3::new(-b, 0.0, -tall)) + turn * (DVec3::X * b);
                    let (creep, walk) = (corner.dot(turn * DVec3::X).abs(), corner.dot(edge).abs());
                    println!("{treatment:?} b {b} H {tall} start {} h {h}:", row.start);
                    println!("  quarter {time:.6} ({}), speed {fastest:.6} ({}) to {after:.6} ({}),", row.quarter, row.before, row.after);
                    println!("  peak {peak:.6} ({}), yaw {yaw:.1e}, walk {walk:.1e}, creep of the corner {creep:.1e}", row.peak);
                    let close = |found: f64, exact: f64, tolerance: f64| (found / exact - 1.0).abs() < tolerance;
                    assert!(close(time, row.quarter, 5e-3), "quarter period {time}");
                    assert!(close(after / fastest, row.after / row.before, 5e-3), "ratio {}", after / fastest);
                    assert!(close(peak, row.peak, 1e-2), "peak {peak}");
                    assert!(yaw < 1e-6, "yaws by {yaw}");
                    assert!(walk < 1e-6, "walks by {walk}");
                    assert_eq!(unconverged, 0);
                    return Ok(creep);
                }
            }
        }
        assert!(sim.time() < 3.0, "the block does not come back");
    }
}

#[test]
fn a_rocking_block_swings_and_loses_speed_as_housner_says() -> Fallible {
    for row in &TABLE {
        rock(row, GAP_AWARE, 0.0, 1e-4)?;
    }
    Ok(())
}

#[test]
fn a_rocking_block_does_so_in_the_forecast_treatment_and_in_any_direction() -> Fallible {
    rock(&TABLE[0], FORECAST, 0.0, 1e-4)?;
    rock(&TABLE[3], FORECAST, 0.0, 1e-4)?;
    rock(&TABLE[0], GAP_AWARE, 0.6, 1e-4)?;
    Ok(())
}

/// Rows are taken at the start of a step, so a corner creeps along the ground by (h/2) ∫ ω² b dt in a swing.
#[test]
fn the_corner_that_carries_a_rocking_block_stays_where_it_is() -> Fallible {
    let row = &TABLE[3];
    let (coarse, fine) = (rock(row, GAP_AWARE, 0.0, 1e-4)?, rock(row, GAP_AWARE, 0.0, 2.5e-5)?);
    assert!((coarse / fine / 4.0 - 1.0).abs() < 0.1, "first order in h: {coarse} and {fine}");
    assert!(fine < 1e-6 && rock(&TABLE[0], GAP_AWARE, 0.0, 1e-4)? < 1e-6, "{fine}");
    Ok(())
}
