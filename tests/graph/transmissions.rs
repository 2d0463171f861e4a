//! Gears, rack and pinion, screws under constant torque or weight, over many turns: velocities grow as they have to, to rounding where
//! bodies turn by h ω in a step, to (h ω)²/12 where the Cayley map of the midpoint rule turns them by 2 atan(h ω/2).

use super::Fallible;
use bevy_ecs::entity::Entity;
use drystone::model::dynamical_system::Frame;
use drystone::model::interaction::Interaction;
use drystone::model::joint::{JointKind, JointSpec, TransmissionSpec};
use drystone::model::newton_euler::{AppliedForce, BodyPose, Velocity};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const G: f64 = 9.81;

const TREATMENTS: [Treatment; 2] = [Treatment::GapAware { beta: 0.1 }, Treatment::Forecast { theta: 0.5 }];

/// What the rotation of a step may miss, relative.
fn missing(treatment: Treatment, omega: f64) -> f64 {
    if treatment.theta() == 1.0 { 1e-9 } else { (1e-3 * omega).powi(2) / 6.0 }
}

fn world(treatment: Treatment) -> Fallible<Simulation> {
    Ok(Simulation::new(Scheme { time_step: 1e-3, treatment, ..Scheme::default() })?)
}

fn angular(sim: &Simulation, body: Entity) -> Fallible<DVec3> {
    Ok(sim.world().get::<Velocity>(body).ok_or("gone")?.angular)
}

#[test]
fn a_gear_train_shares_a_torque_by_its_ratio() -> Fallible {
    // wheels on crossed axes, as a bevel or worm gear has: θ₁ = −2.5 θ₂
    for treatment in TREATMENTS {
        let mut sim = world(treatment)?;
        let (i1, i2, torque, ratio) = (0.02, 0.3, 1.5, -2.5);
        let one = sim.spawn_body(Body::point(1.0, DVec3::splat(i1)))?;
        let two = sim.spawn_body(Body::point(4.0, DVec3::splat(i2)).at(DVec3::X))?;
        sim.add_joint(one, None, &JointSpec::new(JointKind::Revolute).axis(DVec3::Z))?;
        sim.add_joint(two, None, &JointSpec::new(JointKind::Revolute).at(DVec3::X).axis(DVec3::Y))?;
        let gear = sim.add_transmission(one, Some(two), &TransmissionSpec::Gear { axes: [DVec3::Z, DVec3::Y], ratio })?;
        sim.add_force_in(Frame::Inertial, one, move |_, _, _| AppliedForce { torque: DVec3::Z * torque, ..AppliedForce::default() })?;
        let alpha = torque / (i1 + i2 / (ratio * ratio));
        let mut worst: f64 = 0.0;
        for _ in 0..3000 {
            let report = sim.step()?;
            assert!(report.converged, "{report:?}");
            worst = worst.max(sim.world().get::<Interaction>(gear).ok_or("gone")?.y[0].abs());
        }
        let (w1, w2) = (angular(&sim, one)?.z, angular(&sim, two)?.y);
        let bound = w1 * missing(treatment, w1);
        assert!((w1 - 3.0 * alpha).abs() < bound && (w1 - ratio * w2).abs() < bound, "{w1} and {w2} rad/s");
        // counted over turns, the wheels have not slipped
        let z = &sim.world().get::<Interaction>(gear).ok_or("gone")?.z;
        assert!(z[0] > 80.0 && (z[0] - ratio * z[1]).abs() < 1e-3 && worst < bound, "{z:?}, {worst} rad");
        // the small wheel drives the large one by I₂ α₂
        let reaction = sim.world().get::<Interaction>(gear).ok_or("gone")?.lambda[0] / 1e-3;
        assert!((reaction - (i1 * alpha - torque)).abs() < 1e-3, "{reaction} N m");
        assert!(sim.balance().error() < 1e-10, "{}", sim.balance().error());
    }
    Ok(())
}

#[test]
fn a_falling_rack_turns_its_pinion() -> Fallible {
    for treatment in TREATMENTS {
        let mut sim = world(treatment)?;
        let (inertia, m, r) = (0.05, 2.0, 0.08);
        let pinion = sim.spawn_body(Body::point(3.0, DVec3::splat(inertia)))?;
        let rack = sim.spawn_body(Body::point(m, DVec3::splat(0.1)).at(DVec3::X * r))?;
        sim.add_joint(pinion, None, &JointSpec::new(JointKind::Revolute).axis(DVec3::Y))?;
        sim.add_joint(rack, None, &JointSpec::new(JointKind::Prismatic).at(DVec3::X * r).axis(DVec3::Z))?;
        let spec = TransmissionSpec::Rack { axis: DVec3::Y, direction: -DVec3::Z, radius: r };
        sim.add_transmission(pinion, Some(rack), &spec)?;
        for _ in 0..2000 {
            assert!(sim.step()?.converged);
        }
        let speed = m * G / (m + inertia / (r * r)) * 2.0;
        let bound = speed * missing(treatment, speed / r);
        let v = sim.world().get::<Velocity>(rack).ok_or("gone")?.linear.z;
        let w = angular(&sim, pinion)?.y;
        assert!((v + speed).abs() < bound && (w * r - speed).abs() < bound, "{v} m/s, {w} rad/s, {speed} m/s");
        assert!(sim.balance().error() < 1e-11);
    }
    Ok(())
}

#[test]
fn a_nut_runs_down_its_spindle() -> Fallible {
    // against the world, and against a body that stands still
    for (standing, treatment) in [(false, TREATMENTS[0]), (true, TREATMENTS[0]), (true, TREATMENTS[1])] {
        let mut sim = world(treatment)?;
        let (inertia, m, lead) = (2e-3, 1.5, 0.1);
        let nut = sim.spawn_body(Body::point(m, DVec3::splat(inertia)))?;
        let spindle = if standing { Some(sim.spawn_body(Body::point(1.0, DVec3::ONE).fixed())?) } else { None };
        sim.add_joint(nut, spindle, &JointSpec::new(JointKind::Cylindrical).axis(DVec3::Z))?;
        let screw = sim.add_transmission(nut, spindle, &TransmissionSpec::Screw { axis: DVec3::Z, lead })?;
        for _ in 0..3000 {
            assert!(sim.step()?.converged);
        }
        let pitch = lead / std::f64::consts::TAU;
        let exact = -m * G / (m + inertia / (pitch * pitch)) * 3.0;
        let z = sim.world().get::<BodyPose>(nut).ok_or("gone")?.0.position.z;
        let v = sim.world().get::<Velocity>(nut).ok_or("gone")?.linear.z;
        assert!((v - exact).abs() < -exact * missing(treatment, exact / pitch), "{v} and {exact} m/s");
        let turns = sim.world().get::<Interaction>(screw).ok_or("gone")?.z[1] / std::f64::consts::TAU;
        assert!((turns / z * lead - 1.0).abs() < missing(treatment, exact / pitch).max(1e-6) && turns < -50.0, "{turns} turns");
    }
    Ok(())
}

#[test]
fn a_gear_that_starts_from_rest_is_judged_by_what_a_fall_would_turn() -> Fallible {
    use drystone::io::scene::model::Scene;
    // rows about angles of bodies at rest know no speed of their own: without a scale, rounding counts as missed
    let text = r#"
        time = { step = 1e-4, end = 1.0 }
        bodies = [
            { name = "drum", mass = 20, shape = { kind = "cuboid", size = [0.6, 0.4, 0.6] } },
            { name = "pinion", mass = 1, shape = { kind = "cylinder", half_height = 0.02, radius = 0.05 }, position = [1, 0, 0],
              rotation = { axis = [1, 0, 0], angle = "90 deg" } },
        ]
        joints = [
            { name = "axle", kind = "revolute", body1 = "drum", anchor = [0, 0, 0], axis = [0, 1, 0], friction = 0.5 },
            { name = "shaft", kind = "revolute", body1 = "pinion", anchor = [1, 0, 0], axis = [0, 1, 0], motor = { speed = 20, limit = 30 } },
        ]
        transmissions = [{ kind = "gear", body1 = "pinion", body2 = "drum", axis = [0, 1, 0], ratio = -4 }]
    "#;
    for h in [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 3e-3] {
        let mut scene = Scene::from_toml(text, "t")?;
        scene.time.step = h;
        let mut sim = drystone::scenes::build(&scene)?.simulation;
        for _ in 0..4 {
            let report = sim.step()?;
            assert!(report.converged && report.report.iterations < 10_000, "h = {h}: {report:?}");
        }
    }
    Ok(())
}

#[test]
fn transmissions_of_a_scene_file_and_their_faults() -> Fallible {
    use drystone::io::scene::model::Scene;
    let scene = |transmission: &str| {
        let text = format!(
            "[time]\nstep = 1e-3\nend = \"0.5 s\"\ntreatment = \"forecast\"\n[[bodies]]\nname = \"pinion\"\nshape = {{ kind = \"cylinder\", half_height = 0.02, radius = 0.1 }}\n\
             [[bodies]]\nname = \"rack\"\nshape = {{ kind = \"cuboid\", size = [0.02, 0.02, 1.0] }}\nposition = [0.11, 0, 0]\n\
             [[joints]]\nkind = \"revolute\"\nbody1 = \"pinion\"\nanchor = [0, 0, 0]\naxis = [0, 1, 0]\n\
             [[joints]]\nkind = \"prismatic\"\nbody1 = \"rack\"\nanchor = [0.11, 0, 0]\naxis = [0, 0, 1]\n[[transmissions]]\n{transmission}"
        );
        Scene::from_toml(&text, "t")
    };
    let good =
        scene("kind = \"rack\"\nbody1 = \"pinion\"\nbody2 = \"rack\"\naxis = [0, 1, 0]\ndirection = [0, 0, -1]\nradius = \"100 mm\"")?;
    assert_eq!(Scene::from_toml(&good.to_toml(), "t")?, good);
    let mut built = drystone::scenes::build(&good)?;
    built.simulation.run_until(0.5)?;
    let v = |k: usize| built.simulation.world().get::<Velocity>(built.entities[k]).copied();
    let (pinion, rack) = (v(0).ok_or("gone")?, v(1).ok_or("gone")?);
    assert!(rack.linear.z < -0.1 && (rack.linear.z + 0.1 * pinion.angular.y).abs() < 1e-3, "{rack:?} {pinion:?}");
    let wrong = [
        ("kind = \"rack\"\nbody1 = \"pinion\"\naxis = [0, 1, 0]\ndirection = [0, 0, -1]\nradius = 0.1", "need two bodies"),
        ("kind = \"gear\"\nbody1 = \"pinion\"\nbody2 = \"rack\"\nratio = 0", "ratio is 0"),
        ("kind = \"cog\"\nbody1 = \"pinion\"", "gear"),
        ("kind = \"screw\"\nbody1 = \"pinion\"\nbody2 = \"pinion\"\nlead = 0.1", "two bodies"),
        ("kind = \"screw\"\nbody1 = \"pinion\"\nlead = \"3 kg\"", "length"),
    ];
    for (text, needle) in wrong {
        let error = scene(text).err().ok_or("accepted")?.to_string();
        assert!(error.contains(needle), "{error:?} has no {needle:?}");
    }
    Ok(())
}
