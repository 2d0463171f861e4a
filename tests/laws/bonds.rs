//! Mortar: strength in tension, shear and bending, the energy that it takes, and what a saved run remembers of it.

use super::common::{Fallible, G, GAP_AWARE, space};
use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::model::bond::{Cohesion, Softening};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::AppliedForce;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const SIZE: DVec3 = DVec3::new(0.5, 0.4, 0.2);
const AREA: f64 = 0.2;
const WEIGHT: f64 = 80.0 * G;
const MORTAR: Cohesion =
    Cohesion { tension: 1e5, cohesion: 1.5e5, stiffness: [1e10, 1e10], energy: [5.0, 20.0], softening: Softening::Linear, neck: 0.0 };

/// No body, and materials that this law binds.
fn mortared(h: f64, gravity: f64, mu: f64, law: Cohesion) -> Fallible<Simulation> {
    let mut sim = space(h, GAP_AWARE, gravity, 1e-9)?;
    let mut laws = ContactLaws::uniform(CoulombImpact { mu, ..Default::default() });
    laws.set_default_bond(Some(law));
    sim.set_laws(laws)?;
    Ok(sim)
}

/// A ball on top of one that stands, which a neck is to bind.
fn on_a_neck(radius: f64, law: Cohesion) -> Fallible<(Simulation, Entity)> {
    let mut sim = mortared(2e-4, 0.0, 0.0, law)?;
    sim.spawn_body(Body::new(Shape::ball(radius)?).fixed())?;
    let ball = sim.spawn_body(Body::new(Shape::ball(radius)?).at(DVec3::Z * 2.0 * radius).density(2000.0))?;
    Ok((sim, ball))
}

/// A block of 80 kg on `pieces`² static ones that make up its face, bound to them.
fn bound(h: f64, pieces: u32, law: Cohesion) -> Fallible<(Simulation, Entity)> {
    let mut sim = mortared(h, G, 0.6, law)?;
    let part = DVec3::new(SIZE.x / f64::from(pieces), SIZE.y / f64::from(pieces), SIZE.z);
    for (i, j) in (0..pieces).flat_map(|i| (0..pieces).map(move |j| (f64::from(i), f64::from(j)))) {
        let at = DVec3::new((i + 0.5) * part.x - 0.5 * SIZE.x, (j + 0.5) * part.y - 0.5 * SIZE.y, -0.5 * SIZE.z);
        sim.spawn_body(Body::new(Shape::cuboid(0.5 * part)?).at(at).fixed())?;
    }
    let block = sim.spawn_body(Body::new(Shape::cuboid(0.5 * SIZE)?).at(DVec3::Z * 0.5 * SIZE.z).density(2000.0))?;
    assert_eq!(sim.bond_touching(), (pieces * pieces) as usize);
    Ok((sim, block))
}

/// Raises a force along `direction`, beside a constant one, that acts at `arm` from the centre, until the joint is broken: to 0.85 of what is
/// `expected` (N) within 0.2 s, then by as much in 10 s.
fn breaks_at(mut sim: Simulation, block: Entity, (constant, direction, arm): (DVec3, DVec3, DVec3), expected: f64) -> Fallible<f64> {
    let ramp = move |t: f64| 0.85 * expected * (5.0 * t).min(1.0 + 0.1 * (t - 0.2));
    sim.add_force(block, move |t, _, _| {
        let force = ramp(t) * direction;
        AppliedForce { force: force + constant, torque: arm.cross(force) }
    })?;
    for _ in 0..20_000 {
        let force = ramp(sim.time());
        let report = sim.step()?;
        assert!(report.converged, "at {force} N: {:?} {:?}", report.report, sim.bond_state());
        if sim.bond_state().broken > 0 {
            let error = sim.balance().error();
            assert!(error < 1e-6, "energy {error}");
            return Ok(force);
        }
    }
    Err("it never broke".into())
}

#[test]
fn a_joint_fails_at_its_strength_in_tension_and_at_cohesion_and_friction_in_shear() -> Fallible {
    let tension = MORTAR.tension * AREA + WEIGHT;
    for softening in [Softening::Brittle, Softening::Linear, Softening::Exponential] {
        let law = Cohesion { softening, ..MORTAR };
        let (sim, block) = bound(1e-3, 1, law)?;
        let found = breaks_at(sim, block, (DVec3::ZERO, DVec3::Z, DVec3::ZERO), tension)?;
        // once the strength is reached nothing but inertia holds the block back
        assert!((0.999..1.02).contains(&(found / tension)), "{softening:?}: {found} of {tension} N");
        // pressed by 5 kN, pushed at the height of the joint so that nothing turns
        let (sim, block) = bound(1e-3, 1, law)?;
        let shear = MORTAR.cohesion * AREA + 0.6 * (5000.0 + WEIGHT);
        let found = breaks_at(sim, block, (5000.0 * DVec3::NEG_Z, DVec3::X, -0.5 * SIZE.z * DVec3::Z), shear)?;
        assert!((0.999..1.02).contains(&(found / shear)), "{softening:?}: {found} of {shear} N");
    }
    Ok(())
}

#[test]
fn in_bending_the_number_of_points_changes_the_peak_by_less_than_a_hundredth() -> Fallible {
    // a pull outside of the face, ductile mortar
    let arm = DVec3::X * 0.4;
    let law = Cohesion { energy: [50.0, 50.0], ..MORTAR };
    // about the edge that is pressed: the whole face at its strength
    let plastic = (MORTAR.tension * AREA + WEIGHT) * 0.5 * SIZE.x / (0.4 + 0.5 * SIZE.x);
    let peak = |pieces: u32| -> Fallible<f64> {
        let (sim, block) = bound(1e-3, pieces, law)?;
        breaks_at(sim, block, (DVec3::ZERO, DVec3::Z, arm), plastic)
    };
    let [coarse, fine] = [peak(1)?, peak(2)?];
    assert!((coarse / fine - 1.0).abs() < 0.01, "{coarse} N with 4 points, {fine} N with 16");
    assert!((0.9..1.02).contains(&(coarse / plastic)), "{coarse} of {plastic} N");
    Ok(())
}

#[test]
fn a_break_takes_the_fracture_energy_to_the_first_order_of_the_step() -> Fallible {
    let spent = |h: f64| -> Fallible<[f64; 2]> {
        let (mut sim, block) = bound(h, 1, MORTAR)?;
        sim.add_force(block, |_, _, _| AppliedForce { force: DVec3::Z * (1.05 * 1e5 * AREA + WEIGHT), torque: DVec3::ZERO })?;
        sim.run_until(0.05)?;
        let state = sim.bond_state();
        assert_eq!((state.joints, state.broken), (1, 1));
        Ok([-sim.balance().work.bonds, state.released])
    };
    let exact = 5.0 * AREA;
    let [coarse, fine] = [spent(1e-3)?, spent(1.25e-4)?];
    assert!((coarse[1] / exact - 1.0).abs() < 1e-6 && (fine[1] / exact - 1.0).abs() < 1e-6, "released {coarse:?} {fine:?}");
    let [rough, near] = [coarse[0] / exact - 1.0, fine[0] / exact - 1.0];
    println!("work of a break above the fracture energy: {rough:.3} at 1 ms, {near:.3} at 0.125 ms");
    assert!(near > 0.0 && near < 0.08 && rough > 4.0 * near, "work {coarse:?} {fine:?}");
    Ok(())
}

#[test]
fn a_run_that_is_saved_goes_on_with_its_damage_and_the_same_bits() -> Fallible {
    let load =
        |sim: &mut Simulation, block| sim.add_force(block, |t, _, _| AppliedForce { force: DVec3::Z * 4e5 * t, torque: DVec3::ZERO });
    let (mut first, block) = bound(1e-3, 2, MORTAR)?;
    load(&mut first, block)?;
    while first.bond_state().damaged == 0 {
        first.step()?;
    }
    // entities in the order in which they were made
    let entities = |sim: &mut Simulation| {
        let world = sim.world_mut();
        let mut all: Vec<(drystone::topology::bodies::Slot, Entity)> =
            world.query::<(&drystone::topology::bodies::Slot, Entity)>().iter(world).map(|(s, e)| (*s, e)).collect();
        all.sort();
        all.into_iter().map(|(_, e)| e).collect::<Vec<_>>()
    };
    let here = entities(&mut first);
    let saved = first.save(&here);
    let (mut second, block) = bound(1e-3, 2, MORTAR)?;
    load(&mut second, block)?;
    let there = entities(&mut second);
    second.restore(&saved, &there)?;
    assert_eq!(second.bond_state(), first.bond_state());
    for sim in [&mut first, &mut second] {
        sim.run_until(saved.time() + 0.02)?;
    }
    assert_eq!(second.state_hash(), first.state_hash());
    assert!(first.bond_state().broken > 0);
    Ok(())
}

#[test]
fn balls_bound_by_a_neck_break_at_its_strength_in_tension_and_in_shear() -> Fallible {
    let (radius, neck) = (0.1, 0.5);
    let area = std::f64::consts::PI * (neck * radius) * (neck * radius);
    let law = Cohesion { neck, softening: Softening::Brittle, stiffness: [1e11; 2], ..MORTAR };
    for (direction, strength) in [(DVec3::Z, law.tension), (DVec3::X, law.cohesion)] {
        let (mut sim, ball) = on_a_neck(radius, law)?;
        // one that touches nothing is not bound
        sim.spawn_body(Body::new(Shape::ball(radius)?).at(DVec3::X).density(2000.0))?;
        assert_eq!(sim.bond_touching(), 1);
        assert!((sim.bond_state().area / area - 1.0).abs() < 1e-12);
        // through the neck, so that nothing bends it
        let found = breaks_at(sim, ball, (DVec3::ZERO, direction, DVec3::NEG_Z * radius), strength * area)?;
        assert!((found / (strength * area) - 1.0).abs() < 0.02, "{direction}: {found} {}", strength * area);
    }
    Ok(())
}

#[test]
fn two_balls_on_a_neck_break_when_they_spin_too_fast_for_it_and_not_before() -> Fallible {
    let (radius, neck) = (0.02, 0.5);
    let area = std::f64::consts::PI * (neck * radius) * (neck * radius);
    let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
    // the load of a ball that goes round the neck
    let limit = (1e5 * area / (mass * radius)).sqrt();
    for h in [1e-4, 2e-4, 5e-4] {
        // a load that comes at once is up to twice itself in a spring
        for (part, holds) in [(0.3, true), (0.7, true), (1.06, false)] {
            let spin = part * limit;
            // chords open it by far more than the 1 µm of its strength
            let law = Cohesion { neck, softening: Softening::Brittle, tension: 1e5, cohesion: 1e5, stiffness: [1e11; 2], ..MORTAR };
            let mut sim = mortared(h, 0.0, 0.5, law)?;
            for side in [-1.0, 1.0] {
                let ball = Body::new(Shape::ball(radius)?).at(DVec3::X * side * radius).density(2500.0);
                sim.spawn_body(ball.moving(DVec3::Y * side * radius * spin).spinning(DVec3::Z * spin))?;
            }
            assert_eq!(sim.bond_touching(), 1);
            let mut start = None;
            for _ in 0..(0.05 / h) as usize {
                let report = sim.step()?;
                assert!(report.converged);
                start.get_or_insert(report.balance.kinetic_max);
            }
            let kept = sim.balance().energy.kinetic / start.ok_or("no step")?;
            println!("{h} s, {part} of {limit:.1} rad/s: {:?}, {kept} of the energy", sim.bond_state());
            assert_eq!(sim.bond_state().broken == 0, holds, "{h} s, {part}");
            assert!(!holds || (0.998..1.0 + 1e-9).contains(&kept), "{h} s, {part}: {kept}");
        }
    }
    Ok(())
}

#[test]
fn a_neck_breaks_as_a_round_section_does_in_bending_whichever_way_and_in_twist() -> Fallible {
    let (radius, neck) = (0.05, 0.4);
    let r = neck * radius;
    let [bends, twists] = [MORTAR.tension * 0.25, MORTAR.cohesion * 0.5].map(|x| x * std::f64::consts::PI * r * r * r);
    let law = Cohesion { neck, softening: Softening::Brittle, stiffness: [1e11; 2], ..MORTAR };
    for (axis, expected) in [(DVec3::X, bends), (DVec3::Y, bends), (DVec3::new(0.6, 0.8, 0.0), bends), (DVec3::Z, twists)] {
        let (mut sim, ball) = on_a_neck(radius, law)?;
        assert_eq!(sim.bond_touching(), 1);
        let ramp = move |t: f64| 2.0 * expected * t;
        sim.add_force(ball, move |t, _, _| AppliedForce { force: DVec3::ZERO, torque: ramp(t) * axis })?;
        let found = loop {
            assert!(sim.time() < 1.0 && sim.step()?.converged);
            let state = sim.bond_state();
            assert_eq!(state.damaged, state.broken, "it breaks once, and as a whole");
            if state.broken > 0 {
                break ramp(sim.time());
            }
        };
        println!("{axis}: {found} of {expected} N m");
        assert!((found / expected - 1.0).abs() < 0.01, "{axis}: {found} of {expected} N m");
        // the energy of a round section whose outermost fibre is at its strength: ∫ (s/r)² dA is a quarter of the area in bending, half in twist
        let (strength, part) = if axis == DVec3::Z { (MORTAR.cohesion, 0.5) } else { (MORTAR.tension, 0.25) };
        let energy = part * 0.5 * strength * strength / 1e11 * std::f64::consts::PI * r * r;
        let released = sim.bond_state().released;
        assert!((released / energy - 1.0).abs() < 0.02, "{axis}: released {released} J of {energy} J");
    }
    Ok(())
}

#[test]
fn faces_a_little_apart_are_told_of_and_edges_that_come_near_are_not() -> Fallible {
    // a cube, and the place of the next one: face to face half a percent apart, and past each other by an edge
    for (next, near) in [(DVec3::new(1.005, 0.0, 0.0), 1), (DVec3::new(1.001, 1.001, 0.0), 0), (DVec3::new(1.00005, 0.0, 0.0), 0)] {
        let mut sim = mortared(1e-3, 0.0, 0.6, MORTAR)?;
        for at in [DVec3::ZERO, next] {
            sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.5))?).at(at).density(2000.0))?;
        }
        let bound = sim.bond_touching();
        assert_eq!(sim.nearly_bound().map_or(0, |(count, ..)| count), near, "{next}: {:?}, {bound} bound", sim.nearly_bound());
    }
    Ok(())
}
