//! Impacts: Newton's law on a floor, in a row of balls, beside dead contacts, with and without friction.

use super::common::{FORECAST, Fallible, G, GAP_AWARE, position, restitution, scene, space, velocity};
use bevy_ecs::prelude::Entity;
use drystone::diagnostics::summary::{Meter, Summary};
use drystone::geometry::Shape;
use drystone::io::scene::Scene;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::scheme::Treatment;
use drystone::scenes::{build, run};
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const RADIUS: f64 = 0.1;

fn dropped(h: f64, treatment: Treatment, e: f64) -> Fallible<(Simulation, Entity)> {
    let mut sim = scene(h, treatment, restitution(e), 1e-12)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(RADIUS)?).mass(2.0).at(DVec3::Z * (1.0 + RADIUS)))?;
    Ok((sim, ball))
}

#[test]
fn a_dropped_ball_bounces_ever_lower_and_rests_after_infinitely_many_bounces() -> Fallible {
    let (h, e, m) = (1e-4, 0.8, 2.0);
    let v0 = (2.0 * G).sqrt();
    let t1 = (2.0 / G).sqrt();
    let ends = t1 + 2.0 * v0 / G * e / (1.0 - e);
    for treatment in [FORECAST, GAP_AWARE] {
        let (mut sim, ball) = dropped(h, treatment, e)?;
        let (mut first, mut last, mut peaks, mut top, mut deepest) = (None, 0.0, Vec::new(), 0f64, 0f64);
        while sim.time() < 4.5 {
            let before = velocity(&sim, ball).linear.z;
            let report = sim.step()?;
            assert!(report.converged, "{report:?}");
            let (v, gap) = (velocity(&sim, ball).linear.z, position(&sim, ball).z - RADIUS);
            deepest = deepest.max(-gap);
            top = top.max(gap);
            if before < 0.0 && v > 0.0 {
                if first.is_some() {
                    peaks.push(top);
                }
                first.get_or_insert(sim.time());
                top = 0.0;
            }
            if v.abs() > 1e-9 {
                last = sim.time();
            } else if last > 0.0 && sim.time() > ends * 1.01 {
                let force = report.support_force.z;
                assert!((force + m * G).abs() < 1e-9 * m * G, "rests on {force} N");
            }
        }
        let first = first.ok_or("no impact")?;
        println!("{treatment:?}: first impact {first}, {} bounces, rest from {last} (exact {ends}), deepest {deepest:.1e}", peaks.len());
        assert!((first - t1).abs() <= h + 1e-12, "first impact {first}");
        for (n, peak) in (1..).zip(&peaks).take(8) {
            let exact = e.powi(2 * n);
            assert!((peak / exact - 1.0).abs() < 0.01, "peak {n}: {peak} against {exact}");
        }
        assert!((last / ends - 1.0).abs() < 0.01, "rests from {last}");
        assert!(deepest <= v0 * h, "{deepest}");
    }
    Ok(())
}

#[test]
fn a_ball_without_restitution_sticks_at_its_first_impact() -> Fallible {
    for treatment in [FORECAST, GAP_AWARE] {
        let (mut sim, ball) = dropped(1e-4, treatment, 0.0)?;
        sim.run_until(0.46)?;
        let resting = position(&sim, ball).z;
        sim.run_until(1.0)?;
        assert!(velocity(&sim, ball).linear.length() < 1e-12);
        assert!((position(&sim, ball).z - resting).abs() < 1e-12);
        assert!((resting - RADIUS).abs() <= (2.0 * G).sqrt() * 1e-4, "{resting}");
        if treatment == GAP_AWARE {
            assert!((resting - RADIUS).abs() < 1e-12, "rests touching: {resting}");
        }
    }
    Ok(())
}

#[test]
fn a_perfect_bounce_keeps_the_energy() -> Fallible {
    let (mut sim, ball) = dropped(1e-4, FORECAST, 1.0)?;
    let start = 2.0 * G * position(&sim, ball).z;
    let last = sim.run_until(10.0)?;
    let drift = last.balance.energy.total() / start - 1.0;
    println!("energy drift over 10 s: {drift:.1e}");
    assert!(drift.abs() < 1e-10, "{drift}");
    Ok(())
}

/// `n` equal balls in a row, 1e-9 m inside each other; the first arrives with 1 m/s.
fn cradle(n: usize, e: f64) -> Fallible<(Vec<f64>, f64)> {
    let mut sim = space(1e-3, FORECAST, 0.0, 1e-14)?;
    sim.set_laws(ContactLaws::uniform(restitution(e)))?;
    let mut balls = Vec::new();
    for i in 0..n {
        let place = DVec3::X * (2.0 * RADIUS - 1e-9) * i as f64;
        let speed = if i == 0 { DVec3::X } else { DVec3::ZERO };
        balls.push(sim.spawn_body(Body::new(Shape::ball(RADIUS)?).mass(1.0).at(place).moving(speed))?);
    }
    let report = sim.step()?;
    assert!(report.converged && report.contacts == n - 1, "{report:?}");
    let kinetic = report.balance.energy.kinetic;
    Ok((balls.iter().map(|b| velocity(&sim, *b).linear.x).collect(), kinetic))
}

#[test]
fn newtons_law_sends_the_first_ball_of_a_cradle_back_and_all_others_on_together() -> Fallible {
    for n in [3, 5] {
        let count = n as f64;
        let (elastic, kinetic) = cradle(n, 1.0)?;
        let (dead, _) = cradle(n, 0.0)?;
        for (i, (v, w)) in elastic.iter().zip(&dead).enumerate() {
            let exact = if i == 0 { (2.0 - count) / count } else { 2.0 / count };
            assert!((v - exact).abs() < 1e-12, "e = 1, n = {n}: {elastic:?}");
            assert!((w - 1.0 / count).abs() < 1e-12, "e = 0, n = {n}: {dead:?}");
        }
        assert!((elastic.iter().sum::<f64>() - 1.0).abs() < 1e-12 && (dead.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((kinetic - 0.5).abs() < 1e-12, "{kinetic}");
    }
    Ok(())
}

#[test]
fn lively_and_dead_pairs_share_a_scene() -> Fallible {
    let mut sim = scene(1e-4, GAP_AWARE, restitution(0.0), 1e-12)?;
    let mut laws = ContactLaws::uniform(restitution(0.0));
    laws.set(0, 1, restitution(0.8));
    sim.set_laws(laws)?;
    let ball = |x: f64, material| -> Fallible<Body> {
        Ok(Body::new(Shape::ball(RADIUS)?).at(DVec3::new(x, 0.0, 1.0 + RADIUS)).material(material))
    };
    let (lively, dead) = (sim.spawn_body(ball(0.0, 1)?)?, sim.spawn_body(ball(1.0, 0)?)?);
    let mut apex = 0f64;
    while sim.time() < 1.17 {
        assert!(sim.step()?.converged);
        if sim.time() > 0.46 {
            apex = apex.max(position(&sim, lively).z - RADIUS);
            assert!(velocity(&sim, dead).linear.length() < 1e-12);
            assert!((position(&sim, dead).z - RADIUS).abs() < 1e-12);
        }
    }
    assert!((apex / 0.64 - 1.0).abs() < 0.01, "{apex}");
    Ok(())
}

#[test]
fn without_friction_nothing_slows_or_turns_a_sliding_ball() -> Fallible {
    for treatment in [FORECAST, GAP_AWARE] {
        let mut sim = scene(1e-3, treatment, restitution(0.0), 1e-13)?;
        let along = DVec3::new(1.2, -0.7, 0.0);
        let ball = sim.spawn_body(Body::new(Shape::ball(RADIUS)?).at(DVec3::Z * (RADIUS - 1e-9)).moving(along))?;
        sim.run_until(1.0)?;
        let v = velocity(&sim, ball);
        assert!((v.linear - along).length() < 1e-9 && v.angular.length() < 1e-12, "{v:?}");
    }
    Ok(())
}

/// Point of contact: `u_t⁺ = −e_t u_t`, mobility 7/2 of a translation, hence `v⁺ = v − (2/7)(1 + e_t) v`.
#[test]
fn tangential_restitution_turns_the_sliding_of_a_gripping_ball_round() -> Fallible {
    for (treatment, e_n) in [(FORECAST, 0.5), (GAP_AWARE, 0.5), (FORECAST, 0.0), (GAP_AWARE, 0.0)] {
        for e_t in [-0.5, 0.0, 0.6] {
            let mut sim = scene(1e-3, treatment, CoulombImpact { mu: 10.0, e_n, e_t, ..CoulombImpact::default() }, 1e-13)?;
            let start = Body::new(Shape::ball(RADIUS)?).at(DVec3::Z * (RADIUS - 1e-9));
            let ball = sim.spawn_body(start.moving(DVec3::new(0.7, 0.0, -2.0)))?;
            assert!(sim.step()?.converged);
            let v = velocity(&sim, ball);
            let exact = 0.7 * (1.0 - 2.0 / 7.0 * (1.0 + e_t));
            assert!((v.linear.x - exact).abs() < 1e-7, "e_t {e_t}: {v:?} against {exact}");
            assert!((v.linear.x - RADIUS * v.angular.y + e_t * 0.7).abs() < 1e-7, "e_t {e_t}: {v:?}");
        }
    }
    Ok(())
}

/// Five balls a tenth of a millimetre apart, of which the first comes at 1 m/s.
fn spaced_cradle(h: f64, e: f64) -> Fallible<Scene> {
    let mut text =
        format!("gravity = [0, 0, 0]\n[time]\nstep = {h}\nend = 0.12\n[solver]\ntolerance = 1e-8\n[contact]\nmu = 0.0\ne_n = {e}\n");
    for (k, (x, v)) in [(-0.1, 1.0), (0.0, 0.0), (0.0501, 0.0), (0.1002, 0.0), (0.1503, 0.0)].into_iter().enumerate() {
        text +=
            &format!("[[bodies]]\nname = \"b{k}\"\nshape = {{ kind = \"ball\", radius = 0.025 }}\nmass = 0.5\nposition = [{x}, 0, 0]\n");
        text += &format!("velocity = [{v}, 0, 0]\n");
    }
    Ok(Scene::from_toml(&text, "cradle")?)
}

#[test]
fn what_impacts_take_that_should_take_nothing_is_said_and_where_they_do_not_nothing_is() -> Fallible {
    let told = |summary: &Summary| summary.warnings.iter().filter(|w| w.contains("although e_n = 1")).count();
    // the wave passes three gaps in a step
    let coarse = run(&spaced_cradle(4e-4, 1.0)?)?.1;
    let lost = coarse.energy.restitution_loss_J.ok_or("all laws are elastic")?;
    assert!((lost - (0.25 - coarse.energy.kinetic_J)).abs() < 1e-9 && lost > 0.005 * 0.25, "{lost}");
    assert!(told(&coarse) == 1 && coarse.warnings[0].contains("a smaller time step"), "{:?}", coarse.warnings);
    // in every state of the way, also between the two steps of an impact, nothing is lost
    let scene = spaced_cradle(5e-5, 1.0)?;
    let mut built = build(&scene)?;
    let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
    let mut least = f64::INFINITY;
    while built.simulation.time() < 0.06 {
        let report = built.simulation.step()?;
        meter.observe(&report, &built.simulation);
        let summary = meter.summary(&mut built.simulation);
        least = least.min(summary.energy.kinetic_J);
        assert!(summary.energy.restitution_loss_J.is_some_and(|lost| lost.abs() < 1e-9) && summary.warnings.is_empty(), "{summary:?}");
    }
    assert!(least < 0.2, "no state within an impact was seen: {least}");
    // a law that takes most of it has no such entry
    assert_eq!(run(&spaced_cradle(4e-4, 0.4)?)?.1.energy.restitution_loss_J, None);
    Ok(())
}

/// A ball that falls 1 m, or a gas of smooth balls.
#[test]
fn what_impacts_take_beyond_their_restitution_is_said_where_it_is_much() -> Fallible {
    let told = |summary: &Summary| summary.warnings.iter().any(|w| w.contains("that e_n says"));
    let ball = |e: f64, step: f64, treatment: &str| -> Fallible<Summary> {
        let text = format!(
            "[time]\nstep = {step}\nend = 3\ntreatment = \"{treatment}\"\n[contact]\nmu = 0.0\ne_n = {e}\n\
             [[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n\
             [[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.02 }}\nmass = 0.1\nposition = [0, 0, 0.27]\n"
        );
        Ok(run(&Scene::from_toml(&text, "ball")?)?.1)
    };
    for (e, step, much) in [(0.99, 2e-3, true), (0.99, 1e-4, false), (0.8, 2e-3, false), (0.999, 2e-4, true)] {
        let s = ball(e, step, "gap_aware")?;
        let (beyond, lawful) = (s.energy.restitution_loss_J.ok_or("a lively law")?, s.energy.impact_loss_J);
        println!("e {e}, {step} s: {beyond:.2e} J beyond {lawful:.2e} J, {:?}", s.warnings);
        assert_eq!(told(&s), much, "e {e}, {step} s: {beyond} {lawful}");
        // impacts take one or the other
        assert!(
            ((beyond + lawful) / -s.energy.normal_work_J - 1.0).abs() < 0.02,
            "e {e}, {step} s: {beyond} {lawful} {}",
            s.energy.normal_work_J
        );
    }
    assert!(ball(0.99, 2e-3, "forecast")?.energy.restitution_loss_J.is_none());
    Ok(())
}
