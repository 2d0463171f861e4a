//! Relations between bodies and Lagrangian systems: against the same mechanism stated as one system.

use super::Fallible;
use drystone::geometry::Shape;
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianLinear;
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
fn carried_ball(treatment: Treatment, cart: Lagrangian) -> Fallible<(Simulation, [bevy_ecs::entity::Entity; 3])> {
    let mut sim = weightless(treatment, 1e-3)?;
    let q = cart.q[0];
    let cart = sim.spawn_system(cart, moreau_jean(treatment.theta()))?;
    let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(3.0).at(DVec3::X * q))?;
    let relation = LagrangianLinear::new([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]);
    let tie = sim.spawn_interaction(Interaction::new([cart, ball], relation, Law::Equality));
    Ok((sim, [cart, ball, tie]))
}

#[test]
fn a_cart_with_a_ball_oscillates_as_one_mass() -> Fallible {
    for treatment in [Treatment::Forecast { theta: 0.5 }, Treatment::GapAware { beta: 0.1 }] {
        let cart = || Lagrangian::new([2.0], [0.5], [0.0]).with_stiffness([400.0]).with_damping([3.0]);
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
