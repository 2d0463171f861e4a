//! Restitution in gap-aware scenes: bodies come to touch, part in the next step, and rest without overlap.

use super::common::{Fallible, G, GAP_AWARE, position, restitution, scene, space, velocity};
use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::model::contact::Manifold;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::simulation::{Body, Simulation, StepReport};
use glam::{DQuat, DVec3};

/// Energy that an impact takes comes back in the next step at most; impacts that follow each other at once hand it on.
#[derive(Default)]
struct Ledger {
    last: Vec<f64>,
}

impl Ledger {
    fn enter(&mut self, report: &StepReport, slack: f64) {
        let balance = report.balance;
        let (now, scale) = (balance.energy.total() - balance.work.overlap, balance.kinetic_max);
        let most = self.last.iter().rev().take(10).copied().fold(f64::NEG_INFINITY, f64::max);
        // what feeds overlap back is an entry of its own
        assert!(self.last.len() < 2 || now - most <= slack * scale, "step {}: {most} J becomes {now} J of {scale} J", report.step);
        assert!(balance.error() < 1e-10, "{report:?}");
        self.last.push(now);
    }
}

fn deepest(sim: &mut Simulation) -> f64 {
    sim.detect();
    sim.world_mut().query::<&Manifold>().iter(sim.world()).flat_map(|m| m.points.iter().map(|t| -t.gap)).fold(0.0, f64::max)
}

#[test]
fn the_first_bounce_reaches_e_squared_of_the_height_to_first_order_in_the_step() -> Fallible {
    for radius in [0.005, 0.1] {
        for e in [0.3, 0.8, 1.0] {
            for h in [1e-3, 2.5e-4] {
                let mut sim = scene(h, GAP_AWARE, restitution(e), 1e-12)?;
                let ball = sim.spawn_body(Body::new(Shape::ball(radius)?).at(DVec3::Z * (1.0 + radius)))?;
                let (mut top, mut impact) = (0f64, false);
                loop {
                    let report = sim.step()?;
                    let v = velocity(&sim, ball).linear.z;
                    impact |= v > 0.0;
                    top = if impact { top.max(position(&sim, ball).z - radius) } else { top };
                    if impact && v < 0.0 || report.time > 2.0 {
                        break;
                    }
                }
                let fall = (2.0 * G).sqrt();
                assert!((top - e * e).abs() < 3.0 * h * fall * e, "e = {e}, h = {h}: {top}");
            }
        }
    }
    Ok(())
}

#[test]
fn below_its_speed_restitution_falls_with_the_speed_of_approach() -> Fallible {
    let law = CoulombImpact { e_n_speed: 2.0, ..restitution(0.8) };
    let h = 1e-4;
    let mut sim = scene(h, GAP_AWARE, law, 1e-12)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.01)?).at(DVec3::Z * 1.01))?;
    let (mut tops, mut rising) = (vec![1.0], false);
    while sim.time() < 4.0 {
        sim.step()?;
        let v = velocity(&sim, ball).linear.z;
        if rising && v < 0.0 {
            tops.push(position(&sim, ball).z - 0.01);
        }
        rising = v > 0.0;
    }
    let speeds: Vec<f64> = tops.iter().map(|top| (2.0 * G * top).sqrt()).collect();
    let slow = speeds.iter().filter(|w| **w < 2.0).count();
    assert!(speeds.len() > 6 && slow > 3 && speeds.len() - slow > 3, "{speeds:?}");
    for pair in speeds.windows(2).filter(|pair| pair[0] > 0.05) {
        let (e, expected) = (pair[1] / pair[0], 0.8 * (pair[0] / 2.0).min(1.0));
        assert!((e - expected).abs() < 10.0 * h * G / pair[0], "{e} instead of {expected} at {} m/s", pair[0]);
    }
    Ok(())
}

#[test]
fn a_bouncing_body_loses_energy_alone_and_comes_to_rest_touching() -> Fallible {
    let shapes = [Shape::ball(0.01)?, Shape::cuboid(DVec3::new(0.01, 0.02, 0.015))?, Shape::capsule(0.03, 0.01)?];
    for shape in shapes {
        for (mu, e) in [(0.0, 0.9), (0.7, 0.9), (0.4, 0.5), (1.5, 1.0)] {
            let mut sim = scene(1e-3, GAP_AWARE, CoulombImpact { mu, e_n: e, ..CoulombImpact::default() }, 1e-10)?;
            let turned = DQuat::from_rotation_y(0.4) * DQuat::from_rotation_x(0.3);
            let start = Body::new(shape.clone()).at(DVec3::Z * 0.3).turned(turned).moving(DVec3::X * 0.5);
            let body = sim.spawn_body(start)?;
            let mut ledger = Ledger::default();
            for _ in 0..8000 {
                ledger.enter(&sim.step()?, 1e-6);
            }
            assert!(deepest(&mut sim) < 1e-4, "{}: {}", shape.kind(), deepest(&mut sim));
            assert!(e == 1.0 || velocity(&sim, body).linear.z.abs() < 1e-6, "{} mu {mu} e {e}: {:?}", shape.kind(), velocity(&sim, body));
        }
    }
    Ok(())
}

/// Equal balls in a row; the first arrives with 1 m/s.
fn row(n: usize, e: f64, space_between: f64) -> Fallible<(Simulation, Vec<Entity>)> {
    let mut sim = space(1e-3, GAP_AWARE, 0.0, 1e-14)?;
    sim.set_laws(ContactLaws::uniform(restitution(e))).expect("legal");
    let mut balls = Vec::new();
    for i in 0..n {
        let place = DVec3::X * (0.2 + space_between) * i as f64;
        let speed = if i == 0 { DVec3::X } else { DVec3::ZERO };
        balls.push(sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(1.0).at(place).moving(speed))?);
    }
    Ok((sim, balls))
}

#[test]
fn a_row_of_balls_that_touch_obeys_newtons_law_and_one_with_gaps_hands_the_speed_on() -> Fallible {
    for n in [2usize, 3, 5] {
        for e in [0.0, 0.5, 1.0] {
            let (mut sim, balls) = row(n, e, 0.0)?;
            sim.step()?;
            sim.step()?;
            let count = n as f64;
            for (i, ball) in balls.iter().enumerate() {
                let start = if i == 0 { 1.0 } else { 0.0 };
                let exact = (1.0 + e) / count - e * start;
                let v = velocity(&sim, *ball).linear.x;
                assert!((v - exact).abs() < 1e-10, "touching, n = {n}, e = {e}: ball {i} has {v}, not {exact}");
            }
        }
        let (mut sim, balls) = row(n, 1.0, 0.0035)?;
        sim.run_until(0.1)?;
        for (i, ball) in balls.iter().enumerate() {
            let v = velocity(&sim, *ball).linear.x;
            let exact = if i + 1 == n { 1.0 } else { 0.0 };
            assert!((v - exact).abs() < 1e-10, "apart, n = {n}: ball {i} has {v}, not {exact}");
        }
    }
    Ok(())
}

/// Gaps smaller than what a ball moves in a step: impacts that follow each other fall into one step.
#[test]
fn impacts_that_a_step_cannot_tell_apart_gain_no_energy() -> Fallible {
    for gap in [1e-7, 1e-5, 3e-4, 0.9e-3] {
        for e in [0.5, 0.9, 1.0] {
            let (mut sim, _) = row(5, e, gap)?;
            let mut kinetic = 0.5f64;
            for _ in 0..60 {
                let report = sim.step()?;
                kinetic = kinetic.max(report.balance.energy.kinetic);
            }
            assert!(kinetic <= 0.5 * (1.0 + 1e-6), "gap {gap}, e {e}: {kinetic} J");
        }
    }
    Ok(())
}

/// A light ball bounces between a wall and a slow heavy block: a rebound must not lift the block at any price.
#[test]
fn a_rebound_gives_back_no_more_than_the_impact_took() -> Fallible {
    for clearance in [1e-6, 1e-3, 5e-3] {
        let mut sim = scene(1e-3, GAP_AWARE, restitution(0.9), 1e-10)?;
        sim.spawn_body(Body::new(Shape::ball(0.05)?).mass(1e-2).at(DVec3::Z * 0.055).moving(-10.0 * DVec3::Z))?;
        let block = Body::new(Shape::cuboid(DVec3::splat(0.2))?).mass(1e4).at(DVec3::Z * (0.305 + clearance));
        let block = sim.spawn_body(block.moving(-1e-3 * DVec3::Z))?;
        let start = 1e4 * G * position(&sim, block).z;
        let mut most = f64::NEG_INFINITY;
        for _ in 0..200 {
            most = most.max(sim.step()?.balance.energy.total());
        }
        // 0.5 J of the ball, of 3e4 J
        assert!(most <= start + 0.6, "{clearance}: {} J gained", most - start);
    }
    Ok(())
}

#[test]
fn a_lively_pile_comes_to_rest_without_overlap() -> Fallible {
    let radius = 0.01;
    for (e, h) in [(0.5, 1e-3), (0.9, 1e-3), (0.9, 2e-3)] {
        let mut sim = scene(h, GAP_AWARE, CoulombImpact { mu: 0.5, e_n: e, ..CoulombImpact::default() }, 1e-4)?;
        for side in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y] {
            sim.spawn_body(Body::new(Shape::half_space(side)?).fixed().at(-0.04 * side))?;
        }
        for i in 0..96 {
            let (x, y, z) = (i % 4, i / 4 % 4, i / 16);
            let shift = 0.001 * f64::from(z % 3) - 0.001;
            let place = DVec3::new(
                0.02 * f64::from(x) - 0.03 + shift * 0.3,
                0.02 * f64::from(y) - 0.03 - shift * 0.2,
                0.012 + 0.022 * f64::from(z),
            );
            sim.spawn_body(Body::new(Shape::ball(radius - 2e-4 * f64::from(i % 5))?).density(2500.0).at(place))?;
        }
        let mut ledger = Ledger::default();
        while sim.time() < 2.0 - 1e-9 {
            // the solver's own tolerance
            ledger.enter(&sim.step()?, 1e-4);
        }
        let depth = deepest(&mut sim);
        assert!(depth < 0.01 * radius, "e = {e}, h = {h}: {depth} m deep");
        assert!(sim.balance().energy.kinetic < 1e-3 * sim.balance().kinetic_max, "e = {e}, h = {h}: {:?}", sim.balance());
    }
    Ok(())
}

/// A row of balls, gaps that are any part of what a ball moves in a step: rebounds and new impacts fall into one step.
#[test]
fn elastic_impacts_keep_their_energy_whatever_the_step() -> Fallible {
    for (n, masses) in [(6, [1.0, 1.0]), (4, [1.0, 3.0]), (5, [1.0, 0.3])] {
        for e in [1.0, 0.8] {
            for part in [0.1, 0.25, 0.37, 0.5, 0.75, 1.0, 1.3, 2.0, 3.1, 8.0] {
                let (gap, v) = (5e-4, 2.0);
                // v h = gap / part
                let h = gap / v / part;
                let mut sim = space(h, GAP_AWARE, 0.0, 1e-10)?;
                sim.set_laws(ContactLaws::uniform(restitution(e)))?;
                for i in 0..n {
                    let (place, speed) = (DVec3::X * (0.1 + gap) * f64::from(i), if i == 0 { v } else { 0.0 });
                    let mass = masses[i as usize % 2];
                    sim.spawn_body(Body::new(Shape::ball(0.05)?).mass(mass).at(place).moving(DVec3::X * speed))?;
                }
                let (start, mut most) = (0.5 * masses[0] * v * v, 0f64);
                while sim.time() < 0.02 {
                    most = most.max(sim.step()?.balance.energy.kinetic);
                }
                let end = sim.balance().energy.kinetic;
                // several impacts of one ball within a step lose a little at most
                let least = if e < 1.0 {
                    0.3
                } else if part >= 1.0 {
                    0.99
                } else {
                    0.85
                };
                assert!(end >= least * start, "n {n} masses {masses:?} e {e} part {part}: {} is left", end / start);
                assert!(most <= start * (1.0 + 1e-6), "energy gained: {}", most / start);
            }
        }
    }
    Ok(())
}

/// A block that tumbles onto a floor, which is spawned before or after it: its velocities after 0.2 s, and the part of the energy that is left.
fn tumbled(turn: DQuat, spin: DVec3, floor_first: bool) -> Fallible<([DVec3; 2], f64)> {
    let mut sim = space(2e-3, GAP_AWARE, G, 1e-8)?;
    sim.set_laws(ContactLaws::uniform(restitution(1.0)))?;
    let floor = Body::new(Shape::half_space(DVec3::Z)?).fixed();
    let block = Body::new(Shape::cuboid(DVec3::new(0.05, 0.08, 0.06))?).at(DVec3::Z * 0.35).turned(turn);
    let block = block.moving(DVec3::new(1.0, 0.5, -2.0)).spinning(spin);
    let block = if floor_first {
        sim.spawn_body(floor)?;
        sim.spawn_body(block)?
    } else {
        let block = sim.spawn_body(block)?;
        sim.spawn_body(floor)?;
        block
    };
    let before = sim.step()?.balance.energy.total();
    sim.run_until(0.2)?;
    // between the two steps of an impact what it took is nowhere
    let mut after = 0.0f64;
    for _ in 0..5 {
        after = after.max(sim.step()?.balance.energy.total());
    }
    let twist = velocity(&sim, block);
    Ok(([twist.linear, twist.angular], after / before))
}

#[test]
fn what_tumbles_rebounds_alike_whichever_of_the_two_is_named_first() -> Fallible {
    for k in (0..12).map(f64::from) {
        let axis = DVec3::new((3.0 * k).sin(), (5.0 * k).cos(), 0.3).normalize();
        let spin = 14.0 * DVec3::new((2.0 * k).cos(), (4.0 * k + 1.0).sin(), (7.0 * k).cos());
        let turn = DQuat::from_axis_angle(axis, 0.7 + k);
        let [first, last] = [tumbled(turn, spin, true)?, tumbled(turn, spin, false)?];
        println!("{k:2}: {:.4} and {:.4} of the energy left", first.1, last.1);
        let apart = (first.0[0] - last.0[0]).length() + 0.1 * (first.0[1] - last.0[1]).length();
        assert!(apart < 1e-6, "{k}: by the order velocities differ by {apart} m/s");
        assert!(first.1 < 1.0 + 1e-6, "{k}: {}", first.1);
    }
    Ok(())
}

#[test]
fn what_spins_and_grazes_the_floor_at_the_end_of_a_step_rebounds_in_the_next_but_one() -> Fallible {
    // it has little to give back when it first rebounds, and its spin turns the velocity that the impulse of the rebound meets
    let turn = DQuat::from_xyzw(0.7787970703471347, 0.5379668765220773, 0.304076587830191, -0.10772275394431871);
    let (_, left) = tumbled(turn, DVec3::new(-12.82999176883938, -14.668908987603, -6.484491123036941), true)?;
    assert!(left > 0.98 && left < 1.0 + 1e-6, "{left} of the energy is left");
    Ok(())
}
