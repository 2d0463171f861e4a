//! Mechanisms of bodies with shapes: closed loops with redundant joints, clearance.

use super::Fallible;
use super::ties::weightless;
use bevy_ecs::entity::Entity;
use drystone::geometry::Shape;
use drystone::model::joint::{JointKind, JointSpec};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};

/// Slider-crank of Flores, Leine and Glocker, *Multibody Syst. Dyn.* 23 (2010) 165, table 1: lengths (m), masses (kg), moments (kg m²).
const L: [f64; 2] = [0.153, 0.306];
const MASS: [f64; 3] = [0.038, 0.038, 0.076];
const MOMENT: [f64; 3] = [7.4e-5, 5.9e-4, 2.7e-6];

const SIZES: [DVec3; 3] = [DVec3::new(0.5 * L[0], 0.005, 0.005), DVec3::new(0.5 * L[1], 0.005, 0.005), DVec3::new(0.05, 0.025, 0.01)];

/// Crank, rod and slider at full stretch along x, the crank at 150 rad/s about z; pins between them, and a rail unless there is clearance.
fn slider_crank(sim: &mut Simulation, rail: bool) -> Fallible<[Entity; 3]> {
    let (omega, tip) = (150.0, 150.0 * L[0]);
    let places = [0.5 * L[0], L[0] + 0.5 * L[1], L[0] + L[1]];
    let speeds = [(0.5 * tip, omega), (0.5 * tip, -tip / L[1]), (0.0, 0.0)];
    let mut bodies = Vec::new();
    for k in 0..3 {
        let (v, w) = speeds[k];
        // what turns about other axes is held by the pins
        let inertia = DVec3::splat(MOMENT[k]);
        let body = Body { shape: Some(Shape::cuboid(SIZES[k])?), ..Body::point(MASS[k], inertia) };
        // the bars pass beside the guide
        let body = if rail || k == 2 { body } else { Body::point(MASS[k], inertia) };
        bodies.push(sim.spawn_body(body.at(DVec3::X * places[k]).moving(DVec3::Y * v).spinning(DVec3::Z * w))?);
    }
    let pin = |x: f64| JointSpec::new(JointKind::Revolute).at(DVec3::X * x).axis(DVec3::Z);
    sim.add_joint(bodies[0], None, &pin(0.0))?;
    sim.add_joint(bodies[1], Some(bodies[0]), &pin(L[0]))?;
    sim.add_joint(bodies[2], Some(bodies[1]), &pin(places[2]))?;
    if rail {
        // one freedom is left and three constraints are too many
        sim.add_joint(bodies[2], None, &JointSpec::new(JointKind::Prismatic).at(DVec3::X * places[2]).axis(DVec3::X))?;
    }
    Ok([bodies[0], bodies[1], bodies[2]])
}

/// Angle (rad, −π to π) and speed of the crank.
fn crank(sim: &Simulation, body: Entity) -> Fallible<(f64, f64)> {
    let x = sim.world().get::<BodyPose>(body).ok_or("gone")?.0.rotation * DVec3::X;
    Ok((x.y.atan2(x.x), sim.world().get::<Velocity>(body).ok_or("gone")?.angular.z))
}

#[test]
fn a_slider_crank_with_redundant_joints_keeps_time_and_energy() -> Fallible {
    let h = 5e-5;
    let mut sim = weightless(Treatment::Forecast { theta: 0.5 }, h)?;
    let bodies = slider_crank(&mut sim, true)?;
    let (mut last, mut quarter, mut half, mut revolution) = ((0.0, 150.0), None, None, None);
    while revolution.is_none() {
        let report = sim.step()?;
        assert!(report.converged, "{report:?}");
        let now = crank(&sim, bodies[0])?;
        // linear between two steps: when, and how fast
        let at = |angle: f64| (angle - last.0) / (now.0 - last.0);
        if last.0 < std::f64::consts::FRAC_PI_2 && now.0 >= std::f64::consts::FRAC_PI_2 {
            quarter = Some(last.1 + at(std::f64::consts::FRAC_PI_2) * (now.1 - last.1));
        }
        if last.0 > 0.0 && now.0 < 0.0 {
            half = Some(now.1);
        }
        if last.0 < 0.0 && now.0 >= 0.0 {
            revolution = Some(sim.time() - h + at(0.0) * h);
        }
        last = now;
        let slider = sim.world().get::<BodyPose>(bodies[2]).ok_or("gone")?.0.position;
        let (s, c) = now.0.sin_cos();
        let exact = L[0] * c + (L[1] * L[1] - (L[0] * s).powi(2)).sqrt();
        assert!((slider.x - exact).abs() < 1e-5 && slider.y.abs() < 1e-9 && slider.z.abs() < 1e-12, "{slider} and {exact}");
    }
    let close = |found: Option<f64>, exact: f64| found.is_some_and(|x| (x / exact - 1.0).abs() < 1e-3);
    assert!(close(quarter, 71.10555) && close(half, 150.0) && close(revolution, 0.0678863), "{quarter:?} {half:?} {revolution:?}");
    let energy = sim.balance().energy.kinetic;
    assert!((energy / 7.495549 - 1.0).abs() < 5e-5, "{energy} J");
    assert!(sim.balance().error() < 1e-10);
    Ok(())
}

#[test]
fn a_slider_with_clearance_stays_in_its_guide_and_gains_nothing() -> Fallible {
    let h = 1e-5;
    let gravity = DVec3::Y * -9.81;
    let mut sim = Simulation::new(Scheme { time_step: h, gravity, ..Scheme::default() })?;
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.01, e_n: 0.4, ..CoulombImpact::default() }))?;
    sim.solver_mut().tolerance = 1e-8;
    let bodies = slider_crank(&mut sim, false)?;
    for side in [1.0, -1.0] {
        let wall = Body::new(Shape::half_space(DVec3::Y * side)?).at(DVec3::Y * (-0.026 * side)).fixed();
        sim.spawn_body(wall)?;
    }
    // without what gravity gains and loses within a step
    let energy = |sim: &Simulation| sim.balance().energy.total() - sim.balance().work.scheme;
    sim.step()?;
    let (start, mut last, mut hits) = (energy(&sim), energy(&sim), 0);
    let (mut worst, mut earlier) = ([0.0f64; 2], last);
    while sim.time() < 0.08 {
        let report = sim.step()?;
        assert!(report.converged, "{report:?}");
        let pose = sim.world().get::<BodyPose>(bodies[2]).ok_or("gone")?.0;
        for corner in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let place = pose.position + pose.rotation * DVec3::new(0.05 * corner.0, 0.025 * corner.1, 0.0);
            worst = [worst[0].max(place.y.abs() - 0.026), worst[1].max(place.z.abs())];
        }
        hits += u32::from(energy(&sim) < last - 1e-5 * start);
        // a rebound gives back of what the step before has taken
        assert!(energy(&sim) < last.max(earlier) + 1e-9 * start, "t = {}: {} J after {last}", sim.time(), energy(&sim));
        (earlier, last) = (last, energy(&sim));
    }
    assert!(worst[0] < 1e-6 && worst[1] < 0.0101, "{worst:?} m");
    assert!(hits > 3 && last < 0.999 * start, "{hits} impacts, {last} of {start} J");
    assert!(sim.balance().error() < 1e-9);
    Ok(())
}

#[test]
fn a_parallelogram_of_four_bars_swings_as_a_pendulum() -> Fallible {
    // two equal cranks and a coupler that never turns: a planar loop in space, with three constraints too many; equation of a compound
    // pendulum (m_c + 2/3 m) l² θ̈ = −(m_c + m) g l sin θ
    let (l, m, m_c, h) = (0.4, 0.5, 1.5, 1e-3);
    let treatment = Treatment::Forecast { theta: 0.5 };
    let mut sim = Simulation::new(Scheme { time_step: h, treatment, ..Scheme::default() })?;
    let start = 0.8f64;
    let down = DVec3::new(start.sin(), 0.0, -start.cos());
    let turned = DQuat::from_rotation_arc(-DVec3::Z, down);
    let mut cranks = Vec::new();
    for x in [0.0, 0.6] {
        let bar = Body::new(Shape::cuboid(DVec3::new(0.01, 0.01, 0.5 * l))?).mass(m).at(DVec3::X * x + 0.5 * l * down).turned(turned);
        let slender = DVec3::new(m * l * l / 12.0, m * l * l / 12.0, 1e-4);
        cranks.push(sim.spawn_body(Body { inertia: Some(slender), ..bar })?);
    }
    let coupler = Body::new(Shape::cuboid(DVec3::new(0.3, 0.01, 0.01))?).mass(m_c).at(DVec3::X * 0.3 + l * down);
    let coupler = sim.spawn_body(coupler)?;
    let pin = |at: DVec3| JointSpec::new(JointKind::Revolute).at(at).axis(DVec3::Y);
    for (k, x) in [0.0, 0.6].into_iter().enumerate() {
        sim.add_joint(cranks[k], None, &pin(DVec3::X * x))?;
        sim.add_joint(coupler, Some(cranks[k]), &pin(DVec3::X * x + l * down))?;
    }
    let factor = (m_c + m) * 9.81 / ((m_c + 2.0 / 3.0 * m) * l);
    let (mut angle, mut omega) = (start, 0.0f64);
    let (mut worst, mut turned): (f64, f64) = (0.0, 0.0);
    for _ in 0..3000 {
        let report = sim.step()?;
        assert!(report.converged, "{report:?}");
        // velocity Verlet in small steps
        for _ in 0..20 {
            omega -= 0.5 * h / 20.0 * factor * angle.sin();
            angle += h / 20.0 * omega;
            omega -= 0.5 * h / 20.0 * factor * angle.sin();
        }
        let pose = sim.world().get::<BodyPose>(coupler).ok_or("gone")?.0;
        let place = DVec3::new(0.3 + l * angle.sin(), 0.0, -l * angle.cos());
        worst = worst.max(pose.position.distance(place));
        turned = turned.max(pose.rotation.xyz().length());
    }
    assert!(worst < 1e-4 && turned < 1e-9, "{worst} m, turned by {turned}");
    assert!(sim.balance().error() < 1e-10, "{}", sim.balance().error());
    Ok(())
}

#[test]
fn a_pendulum_swings_alike_as_a_body_and_as_a_system() -> Fallible {
    use drystone::model::dynamical_system::{Frame, NewtonEuler};
    use drystone::model::integrator::Integrator;
    use drystone::model::interaction::Interaction;
    use drystone::model::joint::Joint;
    use drystone::model::law::Law;
    use drystone::model::scheme::Gyroscopic;
    let (h, mass, inertia) = (1e-3, 1.5, DVec3::new(0.2, 0.3, 0.25));
    let place = DVec3::new(0.6, 0.0, -0.3);
    let treatment = Treatment::Forecast { theta: 0.5 };
    // the θ-rule for bodies, as systems have it
    let scheme = Scheme { time_step: h, treatment, gyroscopic: Gyroscopic::ThetaRule, joint_feedback: 0.0, ..Scheme::default() };
    let mut sim = Simulation::new(scheme)?;
    sim.set_newton(drystone::cluster::NewtonLoop { tolerance: 1e-13, ..Default::default() });
    sim.solver_mut().tolerance = 1e-12;
    let mut bodies = Vec::new();
    for shape in [None, Some(Shape::ball(0.1)?)] {
        let body = Body { shape, ..Body::point(mass, inertia) }.at(place);
        let body = sim.spawn_body(body)?;
        sim.add_joint(body, None, &JointSpec::new(JointKind::Spherical))?;
        bodies.push(body);
    }
    let system = NewtonEuler::new(mass, inertia).at(place).with_force([0.0, 0.0, -9.81 * mass], Frame::Inertial);
    let system = sim.spawn_system(system, Integrator::MOREAU_JEAN)?;
    let pivot =
        Joint::at(JointKind::Spherical, [&drystone::algebra::spatial::Pose::at(place), &Default::default()], DVec3::ZERO, DVec3::Z, None);
    sim.spawn_interaction(Interaction::new([system], pivot, Law::Equality))?;
    let mut worst: f64 = 0.0;
    for _ in 0..2000 {
        assert!(sim.step()?.converged);
        let [a, b] = [bodies[0], bodies[1]].map(|e| sim.world().get::<BodyPose>(e).map(|p| p.0));
        let (a, b) = (a.ok_or("gone")?, b.ok_or("gone")?);
        let c = sim.world().get::<BodyPose>(system).ok_or("gone")?.0;
        assert_eq!(a, b, "the shape changes nothing");
        worst = worst.max(a.position.distance(c.position));
    }
    assert!(worst < 1e-9, "{worst:e} m apart");
    Ok(())
}

#[test]
fn a_slider_crank_moves_alike_as_bodies_and_as_systems() -> Fallible {
    use drystone::model::dynamical_system::NewtonEuler;
    use drystone::model::integrator::Integrator;
    use drystone::model::interaction::Interaction;
    use drystone::model::law::Law;
    use drystone::model::relation::LagrangianLinear;
    use drystone::model::scheme::Gyroscopic;
    let treatment = Treatment::Forecast { theta: 0.5 };
    let scheme = Scheme {
        time_step: 5e-5,
        treatment,
        gravity: DVec3::ZERO,
        gyroscopic: Gyroscopic::ThetaRule,
        joint_feedback: 0.0,
        ..Scheme::default()
    };
    let mut sim = Simulation::new(scheme)?;
    sim.set_newton(drystone::cluster::NewtonLoop { tolerance: 1e-14, ..Default::default() });
    sim.solver_mut().tolerance = 1e-12;
    // a guide of one row, by a relation of the user: nothing is redundant
    let bodies = slider_crank(&mut sim, false)?;
    let guide = LagrangianLinear::new([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]);
    sim.spawn_interaction(Interaction::new([bodies[2]], guide, Law::Equality))?;
    let mut systems = Vec::new();
    for (k, &body) in bodies.iter().enumerate() {
        let (pose, v) = (sim.world().get::<BodyPose>(body).ok_or("gone")?.0, *sim.world().get::<Velocity>(body).ok_or("gone")?);
        let system = NewtonEuler::new(MASS[k], DVec3::splat(MOMENT[k])).at(pose.position).moving(v.linear).spinning(v.angular);
        systems.push(sim.spawn_system(system, Integrator::MOREAU_JEAN)?);
    }
    // the joints of the bodies, between the systems
    let mut joints = sim.world_mut().query::<&Interaction>();
    let of_bodies: Vec<Interaction> = joints.iter(sim.world()).cloned().collect();
    for joint in of_bodies {
        let ends: Vec<Entity> = joint.systems.iter().filter_map(|e| bodies.iter().position(|b| b == e).map(|k| systems[k])).collect();
        sim.spawn_interaction(Interaction::new(ends, joint.relation, joint.law))?;
    }
    let mut worst: f64 = 0.0;
    for _ in 0..1400 {
        let report = sim.step()?;
        assert!(report.converged && report.systems.unconverged == 0, "{report:?}");
        for (&body, &system) in bodies.iter().zip(&systems) {
            let place = sim.world().get::<BodyPose>(body).ok_or("gone")?.0.position;
            let other = sim.world().get::<BodyPose>(system).ok_or("gone")?.0.position;
            worst = worst.max(place.distance(other));
        }
    }
    assert!(worst < 1e-9, "{worst:e} m apart");
    Ok(())
}

/// A shaft of 1 kg along z with a motor and one that leans by 30°, on bearings of their own, with a universal joint between them: three rows too many; at rest.
fn cardan_shaft(motor: &str) -> Result<drystone::io::scene::Scene, Box<dyn std::error::Error>> {
    let lean: f64 = 30f64.to_radians();
    let (x, z) = (lean.sin(), lean.cos());
    let shaft = "shape = { kind = \"cylinder\", half_height = 0.2, radius = 0.05 }\nmass = 1";
    let text = format!(
        "gravity = [0, 0, 0]\ntime = {{ step = 1e-3, end = 1 }}\n\
         [[bodies]]\nname = \"in\"\n{shaft}\nposition = [0, 0, -0.2]\n\
         [[bodies]]\nname = \"out\"\n{shaft}\nposition = [{:?}, 0, {:?}]\nrotation = {{ axis = [0, 1, 0], angle = {lean:?} }}\n\
         [[joints]]\nname = \"first\"\nkind = \"revolute\"\nbody1 = \"in\"\nanchor = [0, 0, -0.4]\nmotor = {motor}\n\
         [[joints]]\nname = \"second\"\nkind = \"revolute\"\nbody1 = \"out\"\nanchor = [{:?}, 0, {:?}]\naxis = [{x:?}, 0, {z:?}]\n\
         [[joints]]\nname = \"cross\"\nkind = \"universal\"\nbody1 = \"in\"\nbody2 = \"out\"\nanchor = [0, 0, 0]\naxis = [1, 0, 0]\n\
         across = [0, 1, 0]\n",
        0.2 * x,
        0.2 * z,
        0.4 * x,
        0.4 * z
    );
    Ok(drystone::io::scene::Scene::from_toml(&text, "cardan")?)
}

/// Force (N) and moment (N m) that the interactions of bodies give, the largest of all.
fn largest_reaction(sim: &mut Simulation) -> f64 {
    let h = sim.time_step();
    let mut all = sim.world_mut().query::<&drystone::model::interaction::Interaction>();
    all.iter(sim.world()).flat_map(|i| i.lambda.clone()).map(|l| l.abs() / h).fold(0.0, f64::max)
}

#[test]
fn a_motor_turns_weightless_shafts_from_rest_as_a_universal_joint_does() -> Fallible {
    for motor in ["{ speed = 6, limit = 1 }", "{ speed = 6, limit = 1e6 }"] {
        let mut built = drystone::scenes::build(&cardan_shaft(motor)?)?;
        let (mut turned, lean): (f64, f64) = (0.0, 30f64.to_radians());
        for step in 0..1000 {
            let report = built.simulation.step()?;
            assert!(report.converged && report.report.iterations < 2000, "{motor}, step {step}: {report:?}");
            let spin = |k: usize| built.simulation.world().get::<Velocity>(built.entities[k]).map_or(0.0, |v| v.angular.z);
            let (driving, driven) = (spin(0), spin(1));
            // at the middle of the step, as the rows are; the arm of the driving shaft begins at right angles to the plane of both
            let middle = turned + 0.5e-3 * driving;
            turned += 1e-3 * driving;
            let ratio = lean.cos() / (1.0 - (lean.sin() * middle.cos()).powi(2));
            assert!((driven - ratio * driving).abs() < 1e-4 * driving, "{motor}, step {step}: {driven} for {driving} at {middle}");
            assert!(step < 20 || (driving - 6.0).abs() < 1e-6, "{motor}, step {step}: {driving}");
            // moments of inertia of 1.25e-3 and 1.4e-2 kg m² at 6 rad/s, arms of 0.4 m
            let largest = largest_reaction(&mut built.simulation);
            assert!(step < 20 || largest < 0.1, "{motor}, step {step}: {largest} N");
        }
    }
    Ok(())
}

#[test]
fn two_hinges_share_a_door_before_and_after_a_blow() -> Fallible {
    let mut sim = Simulation::new(Scheme { time_step: 1e-3, ..Scheme::default() })?;
    let door = Body { shape: Some(Shape::cuboid(DVec3::new(0.4, 0.02, 1.0))?), ..Body::point(20.0, DVec3::new(6.7, 7.7, 1.1)) };
    let door = sim.spawn_body(door.at(DVec3::new(0.4, 0.0, 1.0)))?;
    let hinge = |z: f64| JointSpec::new(JointKind::Revolute).at(DVec3::Z * z).axis(DVec3::Z).friction(3.0);
    let hinges = [sim.add_joint(door, None, &hinge(0.2))?, sim.add_joint(door, None, &hinge(1.8))?];
    let forces = |sim: &Simulation| -> Fallible<[f64; 2]> {
        let along = |k: usize| sim.world().get::<drystone::model::interaction::Interaction>(hinges[k][0]).map(|i| 1e3 * i.lambda[2].abs());
        Ok([along(0).ok_or("gone")?, along(1).ok_or("gone")?])
    };
    for step in 0..2000 {
        if step == 100 {
            let mut velocity = sim.world_mut().get_mut::<Velocity>(door).ok_or("gone")?;
            (velocity.linear, velocity.angular) = (DVec3::new(0.3, 1.0, 2.0), DVec3::new(1.0, 2.0, 2.5));
        }
        assert!(sim.step()?.converged);
        let [lower, upper] = forces(&sim)?;
        // the blow lifts it, in that step
        assert!(step == 100 || (lower - upper).abs() < 1e-6 && (lower + upper - 196.2).abs() < 0.1, "step {step}: {lower} N, {upper} N");
    }
    Ok(())
}

#[test]
fn hinges_share_a_door_on_a_sledge_that_swinging_links_hang_from() -> Fallible {
    let mut sim = Simulation::new(Scheme { time_step: 1e-3, ..Scheme::default() })?;
    let sledge = sim.spawn_body(Body::point(50.0, DVec3::splat(2.0)).at(DVec3::Z))?;
    sim.add_joint(sledge, None, &JointSpec::new(JointKind::Prismatic).axis(DVec3::X))?;
    let door = Body { shape: Some(Shape::cuboid(DVec3::new(0.4, 0.02, 1.0))?), ..Body::point(20.0, DVec3::new(6.7, 7.7, 1.1)) };
    let door = sim.spawn_body(door.at(DVec3::new(0.4, 0.0, 1.0)))?;
    let hinge = |z: f64| JointSpec::new(JointKind::Revolute).at(DVec3::Z * z).axis(DVec3::Z);
    let hinges = [sim.add_joint(door, Some(sledge), &hinge(0.2))?, sim.add_joint(door, Some(sledge), &hinge(1.8))?];
    let mut above = sledge;
    for k in 0..4 {
        let link = sim.spawn_body(Body::point(1.0, DVec3::splat(0.01)).at(DVec3::new(-0.2 * f64::from(k) - 0.1, 0.0, 0.0)))?;
        sim.add_joint(link, Some(above), &JointSpec::new(JointKind::Spherical).at(DVec3::new(-0.2 * f64::from(k), 0.0, 0.0)))?;
        above = link;
    }
    for step in 0..600 {
        if step == 100 {
            let mut velocity = sim.world_mut().get_mut::<Velocity>(door).ok_or("gone")?;
            (velocity.linear, velocity.angular) = (DVec3::new(0.3, 1.0, 2.0), DVec3::new(1.0, 2.0, 2.5));
        }
        assert!(sim.step()?.converged);
        let along = |k: usize| sim.world().get::<drystone::model::interaction::Interaction>(hinges[k][0]).map(|i| 1e3 * i.lambda[2]);
        let [lower, upper] = [along(0).ok_or("gone")?, along(1).ok_or("gone")?];
        assert!(step == 100 || (lower - upper).abs() < 1e-3, "step {step}: {lower} N, {upper} N");
    }
    Ok(())
}
