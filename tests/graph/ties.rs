//! Relations between bodies and Lagrangian systems: against the same mechanism stated as one system.

use super::Fallible;
use bevy_ecs::entity::Entity;
use drystone::geometry::Shape;
use drystone::model::dynamical_system::{FirstOrder, Lagrangian, Prescribed};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::operator::Operator;
use drystone::model::relation::{LagrangianLinear, LagrangianNonlinear};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

/// Moreau–Jean with θ and the rule of contacts between systems.
pub(crate) fn moreau_jean(theta: f64) -> Integrator {
    Integrator::MoreauJean { theta, gamma: 0.5, projection: Projection::None }
}

/// A world without gravity.
pub(crate) fn weightless(treatment: Treatment, h: f64) -> Fallible<Simulation> {
    Ok(Simulation::new(Scheme { time_step: h, treatment, gravity: DVec3::ZERO, ..Scheme::default() })?)
}

/// A cart on a spring that carries a ball: `y = x_ball − q_cart`.
fn carried_ball(treatment: Treatment, cart: Lagrangian) -> Fallible<(Simulation, [Entity; 3])> {
    let mut sim = weightless(treatment, 1e-3)?;
    let q = cart.q[0];
    let cart = sim.spawn_system(cart, moreau_jean(treatment.theta()))?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(3.0).at(DVec3::X * q))?;
    let relation = LagrangianLinear::new([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]);
    let tie = sim.spawn_interaction(Interaction::new([cart, ball], relation, Law::Equality))?;
    Ok((sim, [cart, ball, tie]))
}

#[test]
fn a_cart_with_a_ball_oscillates_as_one_mass() -> Fallible {
    for treatment in [Treatment::Forecast { theta: 0.5 }, Treatment::GapAware { beta: 0.1 }] {
        let cart = || Lagrangian::new([2.0]).at([0.5]).with_stiffness([400.0]).with_damping([3.0]);
        let (mut sim, [cart_entity, ball, tie]) = carried_ball(treatment, cart())?;
        let mut alone = weightless(treatment, 1e-3)?;
        let one = Lagrangian { mass: Operator::from([5.0]), ..cart() };
        let one = alone.spawn_system(one, moreau_jean(treatment.theta()))?;
        let (mut worst, mut largest): (f64, f64) = (0.0, 0.0);
        for _ in 0..700 {
            let report = sim.step()?;
            assert!(report.converged, "{report:?}");
            alone.step()?;
            let whole = alone.world().get::<Lagrangian>(one).ok_or("gone")?;
            let mine = sim.world().get::<Lagrangian>(cart_entity).ok_or("gone")?;
            let x = sim.world().get::<BodyPose>(ball).ok_or("gone")?.0.position.x;
            let v = sim.world().get::<Velocity>(ball).ok_or("gone")?.linear.x;
            worst = worst.max((whole.q[0] - mine.q[0]).abs()).max((whole.q[0] - x).abs()).max((whole.v[0] - v).abs());
            // what the tie gives the ball is its change of momentum
            largest = largest.max(sim.world().get::<Interaction>(tie).ok_or("gone")?.lambda[0].abs());
            assert!(report.balance.error() < 1e-12, "{}", report.balance.error());
        }
        assert!(worst < 1e-11, "{treatment:?}: {worst:e}");
        assert!(largest > 1e-2);
    }
    Ok(())
}

/// What a run of a mixed world gives: state hash, balance error, all converged.
fn arm_world(threads: usize, stop: Option<u64>) -> Fallible<(u64, f64, bool)> {
    let build = || -> Fallible<(Simulation, Vec<Entity>)> {
        let mut sim = Simulation::with_time_step(1e-3)?;
        sim.solver_mut().tolerance = 1e-8;
        let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
        let block = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::new(0.45, 0.0, 0.1)))?;
        let fist = sim.spawn_body(Body::new(Shape::ball(0.05)?).mass(1.0).at(DVec3::new(0.25, 0.0, 0.12)))?;
        // a ram on a soft spring, driven by a force, with the fist on its end by three rows of which one is compliant
        let ram = Lagrangian::new([3.0])
            .at([0.25])
            .with_internal(Operator::function(|at, f| f[0] = 200.0 * (at.q[0] - 0.25) + 40.0 * at.v[0]))
            .with_force(Operator::function(|at, f| f[0] = 150.0 * (6.0 * at.t).sin()));
        let ram = sim.spawn_system(ram, moreau_jean(1.0))?;
        let rod = LagrangianNonlinear::new(3, Operator::function(|at, y| y.copy_from_slice(&[at.q[1] - at.q[0], at.q[2], at.q[3] - 0.12])));
        sim.spawn_interaction(Interaction::new([ram, fist], rod, Law::Equality))?;
        // the ram has a stop of its own, and a circuit lives beside
        sim.spawn_interaction(Interaction::new([ram], LagrangianLinear::new([-1.0], [0.6]), Law::NewtonImpact { e: 0.5 }))?;
        sim.spawn_system(FirstOrder::linear([0.0, -1.0, 1.0, 0.0], [1.0, 0.0]), Integrator::EULER_MOREAU)?;
        Ok((sim, vec![floor, block, fist]))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let run = || -> Fallible<(u64, f64, bool)> {
        let (mut sim, mut bodies) = build()?;
        let mut converged = true;
        for step in 0..1500 {
            if stop == Some(step) {
                let saved = sim.save(&bodies);
                (sim, bodies) = build()?;
                sim.restore(&saved, &bodies)?;
            }
            converged &= sim.step()?.converged;
        }
        Ok((sim.state_hash(), sim.balance().error(), converged))
    };
    pool.install(|| run().map_err(|e| e.to_string())).map_err(Into::into)
}

#[test]
fn the_same_bits_on_any_threads_and_after_a_pause() -> Fallible {
    let (hash, error, converged) = arm_world(1, None)?;
    assert!(converged && error < 1e-10, "{error}");
    for (threads, stop) in [(2, None), (8, None), (1, Some(1)), (2, Some(700))] {
        assert_eq!(arm_world(threads, stop)?.0, hash, "{threads} threads, paused at {stop:?}");
    }
    Ok(())
}

#[test]
fn a_system_bounces_off_a_body_as_off_a_wall() -> Fallible {
    // gap y = q − x_ball; the ball stands for a wall that is fixed, or is free and as heavy as the carriage
    for (treatment, e) in [(Treatment::Forecast { theta: 0.5 }, 0.7), (Treatment::GapAware { beta: 0.1 }, 0.7)] {
        for fixed in [true, false] {
            let mut sim = weightless(treatment, 1e-3)?;
            let carriage = sim.spawn_system(Lagrangian::new([2.0]).at([1.0]).moving([-3.0]), moreau_jean(treatment.theta()))?;
            let ball = Body::new(Shape::ball(0.1)?).mass(2.0);
            let ball = sim.spawn_body(if fixed { ball.fixed() } else { ball })?;
            let gap = LagrangianLinear::new([1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]);
            let gap = sim.spawn_interaction(Interaction::new([carriage, ball], gap, Law::NewtonImpact { e }))?;
            for _ in 0..600 {
                assert!(sim.step()?.converged);
                let y = sim.world().get::<Interaction>(gap).ok_or("gone")?.y[0];
                assert!(y > -3.1e-3, "{treatment:?}: overlap of {y} m");
            }
            let v = sim.world().get::<Lagrangian>(carriage).ok_or("gone")?.v[0];
            let w = sim.world().get::<Velocity>(ball).ok_or("gone")?.linear.x;
            // e = (v − w)/3, and what both have together stays
            let (exact_v, exact_w) = if fixed { (3.0 * e, 0.0) } else { (-1.5 * (1.0 - e), -1.5 * (1.0 + e)) };
            assert!((v - exact_v).abs() < 1e-9 && (w - exact_w).abs() < 1e-9, "{treatment:?}, fixed {fixed}: {v} and {w} m/s");
            let lost = 9.0 * (1.0 - e * e) * if fixed { 1.0 } else { 0.5 };
            assert!((sim.balance().work.motors + lost).abs() < 1e-9 && sim.balance().error() < 1e-12, "{:?}", sim.balance().work);
        }
    }
    Ok(())
}

#[test]
fn a_compliant_tie_holds_a_weight_by_its_stretch() -> Fallible {
    // y = z_ball − q + D λ = 0: at rest the ball hangs m g D below the ceiling's carriage, which is driven up
    let mut sim = Simulation::with_time_step(1e-3)?;
    let rise = Prescribed::Harmonic { a: 0.2, b: 0.0, omega: 0.0, phi: 0.0 };
    let lift = Lagrangian::new([5.0]).at([1.0]).moving([0.2]).with_prescribed(0, rise);
    let lift = sim.spawn_system(lift, moreau_jean(1.0))?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(3.0).at(DVec3::Z).moving(DVec3::Z * 0.2))?;
    let tie = LagrangianLinear::new([-1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0]).with_d([1e-4]);
    let tie = sim.spawn_interaction(Interaction::new([lift, ball], tie, Law::Equality))?;
    for _ in 0..6000 {
        assert!(sim.step()?.converged);
    }
    let z = sim.world().get::<BodyPose>(ball).ok_or("gone")?.0.position.z;
    let q = sim.world().get::<Lagrangian>(lift).ok_or("gone")?;
    assert!((q.q[0] - 2.2).abs() < 1e-9, "{}", q.q[0]);
    assert!((z - q.q[0] + 3.0 * 9.81e-4).abs() < 1e-6, "stretched by {} m", q.q[0] - z);
    assert!((sim.world().get::<Interaction>(tie).ok_or("gone")?.lambda[0] - 29.43).abs() < 1e-2, "a force, as the law is about y");
    // the lift carries the ball, and nothing else on it
    assert!((q.prescribed[0].reaction / 1e-3 - 29.43).abs() < 1e-2, "{} N", q.prescribed[0].reaction / 1e-3);
    assert!(sim.balance().error() < 1e-10, "{:?}", sim.balance());
    Ok(())
}

#[test]
fn what_cannot_meet_a_body_is_refused_by_name() -> Fallible {
    let row = || LagrangianLinear::new([1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]);
    let system = || Lagrangian::new([1.0]).at([0.0]);
    let refusal = |make: &dyn Fn(&mut Simulation, Entity) -> Fallible<Entity>| -> Fallible<String> {
        let mut sim = Simulation::with_time_step(1e-3)?;
        let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?))?;
        let tie = match make(&mut sim, ball) {
            Ok(tie) => tie,
            Err(error) => return Ok(error.to_string()),
        };
        sim.set_name(tie, "rod");
        let error = sim.step().err().ok_or("it went through")?.to_string();
        assert!(sim.time() == 0.0, "nothing has moved");
        Ok(error)
    };
    let theta = refusal(&|sim, ball| {
        let cart = sim.spawn_system(system(), moreau_jean(0.5))?;
        sim.set_name(cart, "cart");
        Ok(sim.spawn_interaction(Interaction::new([cart, ball], row(), Law::Equality))?)
    })?;
    assert!(theta.contains("\"cart\"") && theta.contains("theta = 1"), "{theta}");
    let cone = refusal(&|sim, ball| {
        let cart = sim.spawn_system(system(), moreau_jean(1.0))?;
        Ok(sim.spawn_interaction(Interaction::new([cart, ball], row(), Law::NormalCone { h: vec![1.0], k: vec![0.0] }))?)
    })?;
    assert!(cone.contains("\"rod\"") && cone.contains("normal cone"), "{cone}");
    let circuit = refusal(&|sim, ball| {
        let circuit = sim.spawn_system(FirstOrder::linear([-1.0], [1.0]), Integrator::EULER_MOREAU)?;
        Ok(sim.spawn_interaction(Interaction::new([circuit, ball], row(), Law::Equality))?)
    })?;
    assert!(circuit.contains("inputs z"), "{circuit}");
    let sizes = refusal(&|sim, ball| {
        let cart = sim.spawn_system(system(), moreau_jean(1.0))?;
        Ok(sim.spawn_interaction(Interaction::new([cart, ball], LagrangianLinear::new([1.0, -1.0], [0.0]), Law::Equality))?)
    })?;
    assert!(sizes.contains("H holds 2 values"), "{sizes}");
    Ok(())
}

#[test]
fn a_system_goes_back_to_its_own_when_its_body_dies() -> Fallible {
    let cart = || Lagrangian::new([2.0]).at([0.5]).with_stiffness([400.0]);
    let (mut sim, [cart_entity, ball, _]) = carried_ball(Treatment::Forecast { theta: 0.5 }, cart())?;
    for _ in 0..100 {
        sim.step()?;
    }
    assert!(sim.despawn_body(ball));
    let (q, v) = sim.world().get::<Lagrangian>(cart_entity).map(|s| (s.q[0], s.v[0])).ok_or("gone")?;
    let mut alone = weightless(Treatment::Forecast { theta: 0.5 }, 1e-3)?;
    let one = alone.spawn_system(Lagrangian { q: vec![q], v: vec![v], ..cart() }, moreau_jean(0.5))?;
    for _ in 0..100 {
        sim.step()?;
        alone.step()?;
    }
    let [a, b] = [sim.world().get::<Lagrangian>(cart_entity), alone.world().get::<Lagrangian>(one)].map(|s| s.map(|s| (s.q[0], s.v[0])));
    assert!(a.is_some() && a == b, "{a:?} and {b:?}");
    Ok(())
}
