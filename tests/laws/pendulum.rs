//! Spherical joints: the heavy top and the double pendulum.

use super::common::{FORECAST, Fallible, G, pose, position, space, velocity};
use bevy_ecs::prelude::{Entity, With};
use drystone::model::interaction::{Interaction, OfBodies};
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

const LENGTH: f64 = 0.1;

/// A top on a spherical joint: I₁ = 0.012 about the pivot, I₃ = 0.002; precession about the vertical given.
fn top(h: f64, tilt: f64, spin: f64, precession: f64) -> Fallible<(Simulation, Entity)> {
    let mut sim = space(h, FORECAST, G, 1e-12)?;
    let turn = DQuat::from_rotation_y(tilt);
    let axis = turn * DVec3::Z;
    let omega = precession * DVec3::Z + (spin - precession * tilt.cos()) * axis;
    let linear = omega.cross(LENGTH * axis);
    // 0.012 about the pivot is 0.002 about the centre
    let body = Body::point(1.0, DVec3::splat(0.002)).at(LENGTH * axis).turned(turn).moving(linear).spinning(turn.conjugate() * omega);
    let body = sim.spawn_body(body)?;
    sim.spawn_joint(body, None, DVec3::ZERO)?;
    Ok((sim, body))
}

fn tilt(sim: &Simulation, body: Entity) -> f64 {
    let axis = pose(sim, body).rotation * DVec3::Z;
    axis.truncate().length().atan2(axis.z)
}

#[test]
fn a_heavy_top_precesses_steadily_slow_and_fast() -> Fallible {
    for (h, exact) in [(1e-4, 3.759650), (5e-5, 25.107864)] {
        let theta = 30f64.to_radians();
        let (mut sim, body) = top(h, theta, 150.0, exact)?;
        let (mut angle, mut before, mut worst, mut gap) = (0.0, 0.0, 0f64, 0f64);
        while angle < 10.0 * TAU {
            let report = sim.step()?;
            assert!(report.converged, "{report:?}");
            let x = position(&sim, body);
            let now = x.y.atan2(x.x);
            angle += (now - before + PI).rem_euclid(TAU) - PI;
            before = now;
            worst = worst.max((tilt(&sim, body) - theta).abs());
            gap = gap.max((x - pose(&sim, body).vector(DVec3::Z * LENGTH)).length());
        }
        let rate = angle / sim.time();
        println!("h {h}: precession {rate:.6} (exact {exact}), tilt within {worst:.1e} rad, joint gap {gap:.1e} m");
        assert!((rate / exact - 1.0).abs() < 1e-4, "{rate} against {exact}");
        assert!(worst < 1e-5, "tilt moves by {worst}");
        assert!(gap < 1e-6, "{gap}");
    }
    Ok(())
}

#[test]
fn a_sleeping_top_stands_above_its_critical_spin_and_falls_below() -> Fallible {
    let peak = |spin: f64, until: f64| -> Fallible<(f64, f64)> {
        let (mut sim, body) = top(2.5e-4, 1e-3, spin, 0.0)?;
        let (mut highest, mut when) = (0.0, 0.0);
        while sim.time() < until {
            assert!(sim.step()?.converged);
            let now = tilt(&sim, body).to_degrees();
            if now > highest {
                (highest, when) = (now, sim.time());
            }
        }
        Ok((highest, when))
    };
    let (awake, when) = peak(100.0, 3.0)?;
    let (asleep, _) = peak(115.0, 6.0)?;
    println!("spin 100: {awake:.3}° at {when:.3} s; spin 115: {asleep:.4}°");
    assert!(asleep <= 0.18, "{asleep}");
    assert!((awake - 45.66).abs() < 0.05 && (when - 2.02).abs() < 0.01, "{awake}° at {when} s");
    Ok(())
}

/// Two bodies of 1 kg and 1e-6 kg m², 1 m apart, hanging at angles from the vertical in the plane xz.
fn double_pendulum(h: f64, angles: [f64; 2]) -> Fallible<(Simulation, [Entity; 2])> {
    let mut sim = space(h, FORECAST, G, 1e-12)?;
    let along = angles.map(|a| DVec3::new(a.sin(), 0.0, -a.cos()));
    let bob = |at: DVec3| Body::point(1.0, DVec3::splat(1e-6)).at(at);
    let (first, second) = (sim.spawn_body(bob(along[0]))?, sim.spawn_body(bob(along[0] + along[1]))?);
    sim.spawn_joint(first, None, DVec3::ZERO)?;
    sim.spawn_joint(second, Some(first), along[0])?;
    Ok((sim, [first, second]))
}

fn angles(sim: &Simulation, [a, b]: [Entity; 2]) -> [f64; 2] {
    let (x, y) = (position(sim, a), position(sim, b));
    [x, y - x].map(|d| d.x.atan2(-d.z))
}

#[test]
fn a_double_pendulum_follows_its_trajectory_with_second_order() -> Fallible {
    let table = [(0.5, [0.570472, 1.203875]), (1.0, [-0.625088, -1.034585]), (2.0, [-0.482972, -1.324049])];
    let run = |h: f64| -> Fallible<Vec<[f64; 2]>> {
        let (mut sim, bobs) = double_pendulum(h, [PI / 2.0; 2])?;
        let mut found = Vec::new();
        for (t, _) in table {
            let last = sim.run_until(t)?;
            assert!(last.converged, "{last:?}");
            found.push(angles(&sim, bobs));
        }
        Ok(found)
    };
    for (found, (t, exact)) in run(1e-4)?.iter().zip(table) {
        println!("t {t}: {found:.6?} against {exact:?}");
        for (a, b) in found.iter().zip(exact) {
            assert!((a - b).abs() < 1e-3, "t {t}: {found:?} against {exact:?}");
        }
    }
    let [a, b, c] = [run(1e-3)?, run(5e-4)?, run(2.5e-4)?];
    let distance =
        |a: &[[f64; 2]], b: &[[f64; 2]]| a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("{a:?} {b:?} {c:?}");
    let order = (distance(&a, &b) / distance(&b, &c)).log2();
    println!("order {order:.3}, differences {:.2e} {:.2e}", distance(&a, &b), distance(&b, &c));
    assert!((order - 2.0).abs() < 0.2, "{order}");
    Ok(())
}

#[test]
fn a_double_pendulum_swings_in_its_two_modes() -> Fallible {
    for (ratio, period) in [(2f64.sqrt(), 2.621052), (-2f64.sqrt(), 1.085675)] {
        let (mut sim, bobs) = double_pendulum(1e-3, [1e-3, 1e-3 * ratio])?;
        let (mut crossings, mut before) = (Vec::new(), 1e-3);
        while crossings.len() < 9 {
            let report = sim.step()?;
            assert!(report.converged, "{report:?}");
            let now = angles(&sim, bobs)[0];
            if now * before < 0.0 {
                crossings.push(sim.time() - sim.time_step() * now / (now - before));
            }
            before = now;
        }
        let found = (crossings[8] - crossings[0]) / 4.0;
        println!("period {found:.6} against {period}");
        assert!((found / period - 1.0).abs() < 1e-4, "{found} against {period}");
    }
    Ok(())
}

#[test]
fn a_double_pendulum_keeps_its_joints_and_its_energy_for_a_minute() -> Fallible {
    let (mut sim, bobs) = double_pendulum(5e-4, [PI / 2.0; 2])?;
    let start = 0.0; // both bobs at the height of the pivot, at rest
    let joints: Vec<Entity> = sim.world_mut().query_filtered::<Entity, With<OfBodies>>().iter(sim.world()).collect();
    let (mut gap, mut drift, mut kinetic) = (0f64, 0f64, 0f64);
    while sim.time() < 60.0 {
        let report = sim.step()?;
        assert!(report.converged, "{report:?}");
        for joint in &joints {
            let y = &sim.world().get::<Interaction>(*joint).ok_or("gone")?.y;
            gap = gap.max(y.iter().map(|g| g * g).sum::<f64>().sqrt());
        }
        drift = drift.max((report.balance.energy.total() - start).abs());
        kinetic = report.balance.kinetic_max;
    }
    let spin = bobs.map(|b| velocity(&sim, b).angular.length());
    println!("60 s: joint gap at most {gap:.1e} m, energy drift {drift:.2e} J of {kinetic:.1} J, balance {:.1e}", sim.balance().error());
    assert!(spin.iter().all(|w| w.is_finite()));
    assert!(gap < 1e-6, "{gap}");
    assert!(sim.balance().error() < 1e-9, "{:?}", sim.balance());
    assert!(drift < 1e-2 * kinetic, "{drift} of {kinetic}");
    Ok(())
}
