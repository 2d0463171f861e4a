//! Springs, dampers and servos: implicit, on coordinates of joints, between points, and as the law of any relation.

use super::Fallible;
use super::ties::{moreau_jean, weightless};
use drystone::geometry::Shape;
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::interaction::Interaction;
use drystone::model::joint::{JointKind, JointSpec};
use drystone::model::law::{ContactLaws, CoulombImpact, Law};
use drystone::model::newton_euler::BodyPose;
use drystone::model::relation::LagrangianLinear;
use drystone::model::scheme::Treatment;
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};

const MIDPOINT: Treatment = Treatment::Forecast { theta: 0.5 };

/// Angle (rad) by which the midpoint rule turns the phase of an oscillator of frequency ω (rad/s) in a step.
fn phase(omega: f64, h: f64) -> f64 {
    2.0 * (0.5 * omega * h).atan()
}

fn x(sim: &Simulation, body: bevy_ecs::entity::Entity) -> Fallible<f64> {
    Ok(sim.world().get::<BodyPose>(body).ok_or("gone")?.0.position.x)
}

#[test]
fn a_spring_on_a_slide_swings_as_the_midpoint_rule_says_and_keeps_its_energy() -> Fallible {
    // from soft to far beyond what a step resolves
    for (stiffness, h) in [(50.0, 1e-3), (5e4, 1e-3), (5e9, 1e-2)] {
        let mut sim = weightless(MIDPOINT, h)?;
        let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(2.0).at(DVec3::X * 0.3))?;
        let slide = JointSpec::new(JointKind::Prismatic).axis(DVec3::X).spring(stiffness, 0.0).rest(-0.3);
        sim.add_joint(ball, None, &slide)?;
        let step = phase((stiffness / 2.0f64).sqrt(), h);
        let mut worst: f64 = 0.0;
        for n in 1..=500 {
            assert!(sim.step()?.converged);
            worst = worst.max((x(&sim, ball)? - 0.3 * (f64::from(n) * step).cos()).abs());
        }
        assert!(worst < 1e-9, "k = {stiffness} N/m: {worst:e} m");
        assert!(sim.balance().error() < 1e-10, "k = {stiffness} N/m: {}", sim.balance().error());
    }
    Ok(())
}

#[test]
fn a_spring_of_a_gap_aware_scene_swings_for_ever_where_steps_can_follow_it() -> Fallible {
    for (stiffness, h) in [(50.0, 1e-3), (5e4, 1e-3), (7e6, 1e-3)] {
        let mut sim = weightless(Treatment::default(), h)?;
        let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(2.0).at(DVec3::X * 0.3))?;
        sim.add_joint(ball, None, &JointSpec::new(JointKind::Prismatic).axis(DVec3::X).spring(stiffness, 0.0).rest(-0.3))?;
        // Newmark's mean acceleration turns the phase as the midpoint rule does; the ball stands still half a step before the start
        let step = phase((stiffness / 2.0f64).sqrt(), h);
        let mut worst: f64 = 0.0;
        for n in 1..=2000 {
            assert!(sim.step()?.converged);
            worst = worst.max((x(&sim, ball)? - 0.3 * ((f64::from(n) + 0.5) * step).cos() / (0.5 * step).cos()).abs());
        }
        assert!(worst < 1e-9, "k = {stiffness} N/m: {worst:e} m");
    }
    // one that would flip at each step comes to rest
    let mut sim = weightless(Treatment::default(), 1e-3)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(2.0).at(DVec3::X * 0.3))?;
    sim.add_joint(ball, None, &JointSpec::new(JointKind::Prismatic).axis(DVec3::X).spring(5e9, 0.0).rest(-0.3))?;
    (0..5).try_for_each(|_| sim.step().map(|_| ()))?;
    assert!(x(&sim, ball)?.abs() < 1e-3, "{}", x(&sim, ball)?);
    Ok(())
}

#[test]
fn dry_friction_stops_an_oscillator_where_it_does_after_five_halves_of_a_swing() -> Fallible {
    // k = 100 N/m, μ m g = 0.981 N: each half of a swing ends 2 μ m g/k nearer, 0.1 m - 10 μ m g/k = 1.9 mm beyond the rest
    for (h, close) in [(1e-3, 2e-6), (1e-4, 2e-8)] {
        let mut sim = Simulation::with_time_step(h)?;
        sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.1, ..CoulombImpact::default() }))?;
        sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
        let cube = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.05))?).mass(1.0).at(DVec3::new(0.1, 0.0, 0.05)))?;
        let spring = JointSpec::rod(DVec3::new(0.1, 0.0, 0.05), DVec3::new(-2.0, 0.0, 0.05)).spring(100.0, 0.0);
        sim.add_joint(cube, None, &JointSpec { kind: JointKind::Distance(2.0), ..spring })?;
        (0..(2.0 / h) as usize).try_for_each(|_| sim.step().map(|_| ()))?;
        let end = x(&sim, cube)?;
        assert!((end + 0.0019).abs() < close, "h = {h}: {end}");
    }
    Ok(())
}

#[test]
fn a_torsion_spring_with_damper_decays_as_its_discrete_equation() -> Fallible {
    let (k, c, inertia, h) = (8.0, 0.3, 0.05, 2e-3);
    let mut sim = weightless(MIDPOINT, h)?;
    let wheel = Body::point(1.0, DVec3::new(inertia, 2.0 * inertia, inertia)).turned(DQuat::from_rotation_y(0.4));
    let wheel = sim.spawn_body(wheel)?;
    sim.add_joint(wheel, None, &JointSpec::new(JointKind::Revolute).axis(DVec3::Z).spring(k, c).rest(0.7))?;
    // the axis is world z, which is oblique in the axes of the body: I = I_z cos² + I_x sin², both equal here
    let (mut angle, mut omega) = (0.0, 0.0f64);
    for _ in 0..600 {
        assert!(sim.step()?.converged);
        // I (ω⁺ − ω)/h = −k (θ̄ − rest) − c ω̄,  θ̄ = θ + h ω̄/2
        let (left, right) =
            (inertia / h + 0.5 * c + 0.25 * h * k, inertia / h * omega - 0.5 * c * omega - k * (angle - 0.7 + 0.25 * h * omega));
        let new = right / left;
        // the Cayley map, which goes with the midpoint rule, turns by a little less than h ω̄
        angle += 2.0 * (0.25 * h * (omega + new)).atan();
        omega = new;
    }
    let found = sim.world().get::<BodyPose>(wheel).ok_or("gone")?.0.rotation;
    let found = 2.0 * (found * DQuat::from_rotation_y(0.4).inverse()).z.asin();
    assert!((found - angle).abs() < 1e-10, "{found} and {angle} rad");
    Ok(())
}

#[test]
fn a_stiff_servo_holds_a_weight_and_gives_no_more_than_its_limit() -> Fallible {
    for (limit, holds) in [(60.0, true), (8.0, false)] {
        let mut sim = Simulation::with_time_step(1e-3)?;
        // 2 kg at half a metre: 9.81 N m when level
        let arm = Body::point(2.0, DVec3::splat(0.02)).at(DVec3::X * 0.5);
        let arm = sim.spawn_body(arm)?;
        let shoulder = JointSpec::new(JointKind::Revolute).at(DVec3::ZERO).axis(-DVec3::Y).servo(0.5, 1e5, 2e3, limit);
        let parts = sim.add_joint(arm, None, &shoulder)?;
        let mut hardest: f64 = 0.0;
        for _ in 0..3000 {
            assert!(sim.step()?.converged);
            hardest = hardest.max(sim.world().get::<Interaction>(parts[1]).ok_or("gone")?.lambda[0].abs() / 1e-3);
        }
        assert!(hardest <= limit * (1.0 + 1e-9), "{hardest} N m");
        let servo = sim.world().get::<Interaction>(parts[1]).ok_or("gone")?;
        let weight = 9.81 * (0.5 + servo.y[0]).cos();
        let torque = servo.lambda[0] / 1e-3;
        assert_eq!((torque - weight).abs() < 1e-6, holds, "limit {limit}: {torque} N m hold {weight} N m");
        if holds {
            assert!((servo.y[0] + torque / 1e5).abs() < 1e-9, "{} rad", servo.y[0]);
        }
    }
    Ok(())
}

#[test]
fn a_spring_between_two_balls_is_the_oscillator_of_their_reduced_mass() -> Fallible {
    let h = 1e-3;
    let mut sim = weightless(MIDPOINT, h)?;
    let ball = |mass: f64, x: f64| -> Fallible<Body> { Ok(Body::new(Shape::ball(0.05)?).mass(mass).at(DVec3::X * x)) };
    let (one, two) = (sim.spawn_body(ball(1.0, 0.0)?)?, sim.spawn_body(ball(3.0, 1.0)?)?);
    let spring = JointSpec::rod(DVec3::ZERO, DVec3::X).spring(200.0, 0.0);
    let spring = JointSpec { kind: JointKind::Distance(0.9), ..spring };
    assert_eq!(sim.add_joint(one, Some(two), &spring)?.len(), 1, "no rod");
    let step = phase((200.0f64 / 0.75).sqrt(), h);
    for n in 1..=1000 {
        assert!(sim.step()?.converged);
        let stretch = x(&sim, two)? - x(&sim, one)? - 0.9;
        assert!((stretch - 0.1 * (f64::from(n) * step).cos()).abs() < 1e-9, "step {n}: {stretch}");
    }
    assert!(sim.balance().error() < 1e-11, "{}", sim.balance().error());
    Ok(())
}

#[test]
fn the_law_of_a_spring_is_the_stiffness_of_a_system() -> Fallible {
    // alone in a cluster, and as a tie between a cart and a ball that stands still
    for with_ball in [false, true] {
        for theta in [0.5, 1.0] {
            let treatment = if theta == 0.5 { MIDPOINT } else { Treatment::GapAware { beta: 0.1 } };
            let mut sim = weightless(treatment, 1e-3)?;
            let cart = || Lagrangian::new([2.0]).at([0.2]).moving([1.0]);
            let own = sim.spawn_system(cart().with_stiffness([500.0]).with_damping([4.0]), moreau_jean(theta))?;
            let tied = sim.spawn_system(cart(), moreau_jean(theta))?;
            let law = Law::Spring { stiffness: 500.0, damping: 4.0, limit: f64::INFINITY };
            let tie = if with_ball {
                let wall = sim.spawn_body(Body::new(Shape::ball(0.1)?).fixed())?;
                let h = LagrangianLinear::new([1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]);
                sim.spawn_interaction(Interaction::new([tied, wall], h, law))?
            } else {
                sim.spawn_interaction(Interaction::new([tied], LagrangianLinear::new([1.0], [0.0]), law))?
            };
            for _ in 0..800 {
                sim.step()?;
                let [a, b] = [own, tied].map(|e| sim.world().get::<Lagrangian>(e).map(|s| (s.q[0], s.v[0])));
                let (a, b) = (a.ok_or("gone")?, b.ok_or("gone")?);
                assert!((a.0 - b.0).abs() < 1e-10 && (a.1 - b.1).abs() < 1e-9, "ball {with_ball}, θ = {theta}: {a:?} and {b:?}");
            }
            assert!(sim.world().get::<Interaction>(tie).ok_or("gone")?.active);
        }
    }
    Ok(())
}

#[test]
fn springs_that_cannot_be_are_refused_by_name() {
    let slide = JointSpec::new(JointKind::Prismatic);
    let wrong = [
        (JointSpec::new(JointKind::Spherical).spring(1.0, 0.0), "one coordinate"),
        (slide.spring(-1.0, 0.0), "stiffness -1"),
        (slide.spring(0.0, 0.0), "stiffness 0"),
        (slide.servo(0.0, 1.0, 0.0, 0.0), "limit 0"),
        (slide.spring(1.0, 0.0).rest(f64::NAN), "rest at NaN"),
    ];
    for (spec, needle) in wrong {
        let error = spec.validate().expect_err("refused");
        assert!(error.contains(needle), "{error}");
    }
}

#[test]
fn what_hangs_from_the_world_by_joints_and_springs_loads_its_supports() -> Fallible {
    // 3 kg on a spring, 2 kg on a hinge, one of them beside a shelf that carries 1 kg
    let mut sim = Simulation::with_time_step(1e-3)?;
    let hung = sim.spawn_body(Body::new(Shape::ball(0.05)?).mass(3.0))?;
    sim.add_joint(hung, None, &JointSpec::rod(DVec3::ZERO, DVec3::Z).spring(1000.0, 100.0))?;
    let hinged = sim.spawn_body(Body::point(2.0, DVec3::splat(0.1)).at(DVec3::new(2.0, 0.0, -0.5)))?;
    sim.add_joint(hinged, None, &JointSpec::new(JointKind::Revolute).at(DVec3::X * 2.0).axis(DVec3::Y))?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).at(DVec3::Z * -5.0).fixed())?;
    sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(1.0).at(DVec3::new(4.0, 0.0, -4.9)))?;
    let mut force = DVec3::ZERO;
    for _ in 0..4000 {
        force = sim.step()?.support_force;
    }
    assert!((force - DVec3::Z * -6.0 * 9.81).length() < 1e-6, "{force} N");
    Ok(())
}
