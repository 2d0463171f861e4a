//! Units are the user's: a system of micrograms or nanocoulombs moves as the same one of kilograms and coulombs does.
#![cfg(feature = "simulation")]

use drystone::model::dynamical_system::{FirstOrder, Lagrangian};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::Law;
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, LagrangianLinear, LagrangianNonlinear};
use drystone::simulation::Simulation;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Masses (kg) and lengths (m).
const UNITS: [[f64; 2]; 7] = [[1.0, 1.0], [1e-6, 1.0], [1e-9, 1e-6], [1e-15, 1e-9], [1e-12, 1.0], [1e9, 1.0], [1.0, 1e-6]];

/// What comes out of a run in units of m and l is that of the first of [`UNITS`].
fn alike(run: impl Fn(f64, f64) -> Fallible<Vec<f64>>) -> Fallible {
    let mut first: Option<Vec<f64>> = None;
    for [m, l] in UNITS {
        let found = run(m, l)?;
        let wanted = first.get_or_insert_with(|| found.clone());
        for (a, b) in found.iter().zip(wanted.iter()) {
            assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{m:e} kg, {l:e} m: {found:?} where kilograms and metres give {wanted:?}");
        }
    }
    Ok(())
}

/// A mass on a spring that stiffens, with a stop; coordinate and velocity in lengths l.
fn stiffening_spring(integrator: Integrator, m: f64, l: f64) -> Fallible<Vec<f64>> {
    let mut sim = Simulation::with_time_step(0.02)?;
    let force = move |q: f64, v: f64| m * l * (50.0 * q.powi(3) + 0.3 * v);
    let mass = Lagrangian::new([m]).at([2.0 * l]).with_internal(Operator::function(move |at, f| f[0] = force(at.q[0] / l, at.v[0] / l)));
    let mass = sim.spawn_system(mass, integrator)?;
    sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [l]), Law::NewtonImpact { e: 0.8 }))?;
    let report = sim.advance(200)?;
    assert!(report.converged, "{m:e} kg, {l:e} m: {:?}", report.systems);
    let mass = sim.world().get::<Lagrangian>(mass).ok_or("spawned above")?;
    Ok(vec![mass.q[0] / l, mass.v[0] / l])
}

#[test]
fn stiffening_springs_of_any_size_swing_alike() -> Fallible {
    for integrator in [Integrator::MOREAU_JEAN, Integrator::Midpoint { gamma: 0.5 }] {
        alike(|m, l| stiffening_spring(integrator, m, l))?;
    }
    Ok(())
}

#[test]
fn pendulums_of_any_size_swing_alike() -> Fallible {
    let theta = |theta| Integrator::MoreauJean { theta, gamma: 0.5, projection: Projection::None };
    for (integrator, rows) in
        [(theta(0.5), true), (theta(0.5), false), (theta(1.0), true), (Integrator::SchatzmanPaoli { theta: 0.5 }, true)]
    {
        alike(|m, l| {
            let mut sim = Simulation::with_time_step(0.01)?;
            let mass = Lagrangian::new([m, 0.0, 0.0, m]).at([l, 0.0]).with_force([0.0, -9.81 * m * l]);
            let mass = sim.spawn_system(mass, integrator)?;
            let mut rod = LagrangianNonlinear::new(1, Operator::function(move |at, y| y[0] = at.q[0].hypot(at.q[1]) - l));
            if rows {
                rod = rod.with_jacobian(Operator::function(|at, g| {
                    let r = at.q[0].hypot(at.q[1]);
                    (g[0], g[1]) = (at.q[0] / r, at.q[1] / r);
                }));
            }
            sim.spawn_interaction(Interaction::new([mass], rod, Law::Equality))?;
            let report = sim.advance(200)?;
            assert!(report.converged, "{m:e} kg, {l:e} m: {:?}", report.systems);
            let mass = sim.world().get::<Lagrangian>(mass).ok_or("spawned above")?;
            Ok(mass.q.iter().map(|q| q / l).collect())
        })?;
    }
    Ok(())
}

#[test]
fn first_order_systems_of_any_size_decay_alike() -> Fallible {
    for jacobian in [false, true] {
        alike(|_, l| {
            let mut sim = Simulation::with_time_step(0.1)?;
            // ẋ = −5 x³ − x down to a stop at 0.2
            let flow = Operator::function(move |at, f| f[0] = -l * (5.0 * (at.x[0] / l).powi(3) + at.x[0] / l));
            let mut system = FirstOrder::nonlinear(flow, [3.0 * l]);
            if jacobian {
                system = system.with_jacobian(Operator::function(move |at, d| d[0] = -15.0 * (at.x[0] / l).powi(2) - 1.0));
            }
            let system = sim.spawn_system(system, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
            let stop = FirstOrderLinear::new(1, [1.0], [1.0]).with_e([-0.2 * l]);
            sim.spawn_interaction(Interaction::new([system], stop, Law::Complementarity))?;
            let mut course = Vec::new();
            for steps in [1, 1, 3, 30] {
                let report = sim.advance(steps)?;
                assert!(report.converged, "{l:e}: {:?}", report.systems);
                course.push(sim.world().get::<FirstOrder>(system).ok_or("spawned above")?.x[0] / l);
            }
            Ok(course)
        })?;
    }
    Ok(())
}

#[test]
fn wrong_jacobians_are_found_in_any_units() -> Fallible {
    for l in [1e6, 1.0, 1e-6, 1e-12] {
        for (slope, wrong) in [(-3.0, false), (-2.0, true)] {
            let mut sim = Simulation::with_time_step(1e-2)?;
            let cubic = FirstOrder::nonlinear(Operator::function(move |at, f| f[0] = -l * at.x[0].powi(3)), [2.0]);
            let system = cubic.with_jacobian(Operator::function(move |at, d| d[0] = slope * l * at.x[0].powi(2)));
            sim.spawn_system(system, Integrator::EULER_MOREAU)?;
            let checks = sim.check_jacobians()?;
            assert!(if wrong { checks[0].error > 0.3 } else { checks[0].error < 1e-8 }, "{l:e}: {checks:?}");
        }
    }
    // nothing where there is nothing
    let mut sim = Simulation::with_time_step(1e-2)?;
    sim.spawn_system(FirstOrder::nonlinear(Operator::function(|_, f| f[0] = 0.0), [2.0]).with_jacobian([0.0]), Integrator::EULER_MOREAU)?;
    assert_eq!(sim.check_jacobians()?[0].error, 0.0);
    Ok(())
}
