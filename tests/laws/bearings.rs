//! Coulomb's friction of joints under the force that they carry themselves.

use super::common::{FORECAST, Fallible, G, GAP_AWARE, position, space, velocity};
use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::io::scene::Scene;
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::joint::{Bearing, Coordinate, Freedom, Joint, JointKind, JointSpec};
use drystone::model::law::Law;
use drystone::model::newton_euler::Inertia;
use drystone::model::relation::Relation;
use drystone::prelude::NewtonEuler;
use drystone::simulation::{Body, JointState, Simulation};
use glam::{DQuat, DVec3};

const MU: f64 = 0.15;
const R: f64 = 0.02;
const MASS: f64 = 3.0;

/// A wheel about `axis`, at 8 rad/s, on a bearing of the world.
fn wheel(sim: &mut Simulation, axis: DVec3) -> Fallible<(Entity, Entity)> {
    let turn = DQuat::from_rotation_arc(DVec3::Y, axis);
    let disc = Shape::cuboid(DVec3::new(0.2, 0.05, 0.2))?;
    let wheel = sim.spawn_body(Body::new(disc).mass(MASS).at(DVec3::X).turned(turn).spinning(8.0 * DVec3::Y))?;
    let parts = sim.add_joint(wheel, None, &JointSpec::new(JointKind::Revolute).at(DVec3::X).axis(axis).bearing(MU, R))?;
    Ok((wheel, parts[0]))
}

#[test]
fn a_wheel_runs_down_under_its_weight_as_the_formula_says_and_stands() -> Fallible {
    for treatment in [FORECAST, GAP_AWARE] {
        // an axis that leans carries part of the weight as thrust, which rubs on nothing
        for lean in [0.0f64, 0.7] {
            let mut sim = space(1e-3, treatment, G, 1e-10)?;
            let (wheel, joint) = wheel(&mut sim, DVec3::new(0.0, lean.cos(), lean.sin()))?;
            let inertia = sim.world().get::<Inertia>(wheel).ok_or("no inertia")?.principal.y;
            let torque = MU * R * MASS * G * lean.cos();
            let slows = torque / inertia;
            for end in [0.001, 0.5, 2.0] {
                sim.run_until(end)?;
                let spin = velocity(&sim, wheel).angular.y;
                assert!((spin - (8.0 - slows * end)).abs() < 1e-9, "{treatment:?} {lean} {end}: {spin}");
                let state = JointState::of(sim.world(), joint).ok_or("no joint")?;
                assert!((state.friction + torque).abs() < 1e-9, "{} against {torque}", state.friction);
            }
            let lost = sim.balance().work.motors + 0.5 * inertia * (64.0 - velocity(&sim, wheel).angular.y.powi(2));
            assert!(lost.abs() < 1e-9, "friction of joints is an entry of the balance: {lost}");
            sim.run_until(8.0 / slows + 0.1)?;
            assert!(velocity(&sim, wheel).angular.length() < 1e-12);
            assert!(sim.balance().error() < 1e-10, "{:?}", sim.balance());
        }
    }
    Ok(())
}

#[test]
fn what_presses_on_nothing_does_not_rub() -> Fallible {
    for (gravity, axis) in [(0.0, DVec3::Y), (G, DVec3::Z)] {
        let mut sim = space(1e-3, FORECAST, gravity, 1e-10)?;
        let (wheel, joint) = wheel(&mut sim, axis)?;
        sim.run_until(1.0)?;
        let spin = velocity(&sim, wheel).angular.length();
        // a thousand steps round
        assert!((spin - 8.0).abs() < 1e-11, "{gravity}: {spin}");
        assert!(JointState::of(sim.world(), joint).ok_or("no joint")?.friction.abs() < 1e-12);
    }
    Ok(())
}

#[test]
fn a_slider_sticks_below_the_angle_of_friction_and_slides_above_it() -> Fallible {
    let mu = 0.4f64;
    for (treatment, kind) in [(FORECAST, JointKind::Prismatic), (GAP_AWARE, JointKind::Prismatic), (GAP_AWARE, JointKind::Cylindrical)] {
        for share in [0.99, 1.01, 1.5] {
            let angle = share * mu.atan();
            let mut sim = space(1e-3, treatment, G, 1e-10)?;
            let block = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.05))?).mass(1.5).at(DVec3::Y))?;
            let down = DVec3::new(angle.cos(), 0.0, -angle.sin());
            sim.add_joint(block, None, &JointSpec::new(kind).at(DVec3::Y).axis(down).bearing(mu, 0.0))?;
            sim.run_until(1.0)?;
            let speed = velocity(&sim, block).linear.dot(down);
            let expected = (G * (angle.sin() - mu * angle.cos())).max(0.0);
            assert!((speed - expected).abs() < 1e-8, "{treatment:?} {kind:?} {share}: {speed} against {expected}");
            if share < 1.0 {
                assert!((position(&sim, block) - DVec3::Y).length() < 1e-12);
            }
            assert!(sim.balance().error() < 1e-10, "{:?}", sim.balance());
        }
    }
    Ok(())
}

/// Two bars, each on a bearing at the end of the one before; the first hangs from the world.
fn double_pendulum(h: f64) -> Fallible<(Simulation, Vec<Entity>, Vec<Entity>)> {
    let mut sim = space(h, FORECAST, G, 1e-12)?;
    let (mut bars, mut joints) = (Vec::new(), Vec::new());
    for k in 0..2 {
        let start = DVec3::X * (0.6 * k as f64);
        let bar = sim.spawn_body(Body::new(Shape::cuboid(DVec3::new(0.3, 0.02, 0.02))?).mass(2.0).at(start + 0.3 * DVec3::X))?;
        let spec = JointSpec::new(JointKind::Revolute).at(start).axis(DVec3::Y).bearing(0.3, 0.05);
        joints.push(sim.add_joint(bar, bars.last().copied(), &spec)?[0]);
        bars.push(bar);
    }
    Ok((sim, bars, joints))
}

#[test]
fn friction_follows_the_force_of_the_same_step() -> Fallible {
    let (mut sim, _, joints) = double_pendulum(1e-3)?;
    let (mut slipped, mut least, mut most) = (0, f64::INFINITY, 0.0f64);
    for _ in 0..1500 {
        let report = sim.step()?;
        assert!(report.converged);
        for &joint in &joints {
            let state = JointState::of(sim.world(), joint).ok_or("no joint")?;
            let force = state.force_vector.reject_from(DVec3::Y).length();
            let bound = 0.3 * 0.05 * force;
            assert!(state.friction.abs() <= bound * (1.0 + 1e-9) + 1e-12, "{} against {bound}", state.friction);
            if state.speed.abs() > 0.05 {
                slipped += 1;
                (least, most) = (least.min(bound), most.max(bound));
                let law = -state.speed.signum() * bound;
                assert!((state.friction - law).abs() < 1e-9 * bound + 1e-12, "{} against {law}", state.friction);
            }
        }
    }
    assert!(slipped > 1000 && most > 2.0 * least, "{slipped} {least} {most}");
    assert!(sim.balance().error() < 1e-10, "{:?}", sim.balance());
    Ok(())
}

#[test]
fn a_run_with_bearings_goes_on_from_its_saved_state_bit_by_bit() -> Fallible {
    let (mut straight, bars, _) = double_pendulum(2e-3)?;
    straight.run_until(0.5)?;
    let saved = straight.save(&bars);
    straight.run_until(1.2)?;
    let (mut resumed, bars, _) = double_pendulum(2e-3)?;
    resumed.restore(&saved, &bars)?;
    resumed.run_until(1.2)?;
    assert_eq!(straight.state_hash(), resumed.state_hash());
    Ok(())
}

#[test]
fn a_bearing_that_cannot_be_is_refused_with_words() -> Fallible {
    let says = |result: Result<String, String>, word: &str| {
        let error = result.expect_err(word);
        assert!(error.contains(word), "{error:?} has no {word:?}");
    };
    let revolute = JointSpec::new(JointKind::Revolute);
    let valid = |spec: JointSpec| spec.validate().map(|()| "made".to_owned());
    says(valid(revolute.bearing(0.2, 0.0)), "a positive number");
    says(valid(revolute.bearing(-0.2, 0.1)), "mu is -0.2");
    says(valid(revolute.bearing(0.2, f64::NAN)), "not below 0");
    says(valid(JointSpec::new(JointKind::Prismatic).bearing(0.2, 0.1)), "slides");
    says(valid(JointSpec::new(JointKind::Spherical).bearing(0.2, 0.1)), "one coordinate");

    let mut sim = space(1e-3, FORECAST, G, 1e-8)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(1.0))?;
    let frames = [drystone::algebra::spatial::Pose::default(); 2];
    let loose = |freedom| Interaction::new([ball], Coordinate::new(freedom, frames), Law::Bearing { mu: 0.1, radius: 0.1 });
    says(sim.spawn_interaction(loose(Freedom::Distance)).map(|_| String::new()).map_err(|e| e.to_string()), "a distance is not");
    let late = sim.spawn_interaction(loose(Freedom::Angle)).and_then(|_| sim.step());
    says(late.map(|_| String::new()).map_err(|e| e.to_string()), "none of the same bodies");

    let mut sim = space(1e-3, FORECAST, G, 1e-8)?;
    let integrator = Integrator::MoreauJean { theta: 0.5, gamma: 0.5, projection: Projection::None };
    let system = sim.spawn_system(NewtonEuler::new(1.0, DVec3::ONE).with_gravity(), integrator)?;
    let part = |relation: Relation, law| Interaction::new([system], relation, law);
    let joint = Joint::new(JointKind::Revolute, frames[0], frames[1]);
    sim.spawn_interaction(part(joint.into(), Law::Equality))?;
    let rubs = part(Coordinate::new(Freedom::Angle, frames).into(), Law::Bearing { mu: 0.2, radius: 0.1 });
    let stepped = sim.spawn_interaction(rubs).and_then(|_| sim.step());
    says(stepped.map(|_| String::new()).map_err(|e| e.to_string()), "does not go with systems of a cluster");
    Ok(())
}

#[test]
fn a_scene_file_says_what_rubs_and_reads_back() -> Fallible {
    let text = |joint: &str| {
        format!(
            "[time]\nstep = 1e-3\nend = \"0.5 s\"\n[[bodies]]\nname = \"wheel\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\n\
             [[joints]]\nbody1 = \"wheel\"\nanchor = [0, 0, 0]\n{joint}\n"
        )
    };
    let read = |joint: &str| Scene::from_toml(&text(joint), "t");
    for (joint, bearing) in [
        ("kind = \"revolute\"\nbearing = { mu = 0.2, radius = \"1 cm\" }", Bearing { mu: 0.2, radius: 0.01 }),
        ("kind = \"prismatic\"\nbearing = { mu = 0.2 }", Bearing { mu: 0.2, radius: 0.0 }),
    ] {
        let scene = read(joint)?;
        assert_eq!(scene.joints[0].spec.bearing, Some(bearing));
        assert_eq!(Scene::from_toml(&scene.to_toml(), "t")?, scene);
    }
    for (joint, word) in [
        ("kind = \"revolute\"\nbearing = { mu = 0.2 }", "radius"),
        ("kind = \"prismatic\"\nbearing = { mu = 0.2, radius = 1 }", "radius"),
        ("kind = \"spherical\"\nbearing = { mu = 0.2 }", "bearing"),
    ] {
        let error = read(joint).expect_err(word).to_string();
        assert!(error.contains(word), "{error:?} has no {word:?}");
    }
    Ok(())
}
