//! Sampled control: the controller is a function that is called between steps and writes the inputs z of its plant.

use super::table::{Case, Fallible, Table, within};
use bevy_ecs::prelude::Entity;
use drystone::cluster::Signal::{Parameter, State, Time};
use drystone::model::dynamical_system::FirstOrder;
use drystone::model::integrator::Integrator;
use drystone::model::operator::Operator;
use drystone::simulation::Simulation;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            model: "sliding mode control, explicit: chattering",
            ..Case::new("smc-explicit", || sliding_mode(|x1| -sign(x1)), [within(1e-10, "t x0 x1 u")])
        },
        Case {
            model: "sliding mode control, implicit: no chattering",
            ..Case::new("smc-implicit", || sliding_mode(|x1| (-x1 / (2.0 * SAMPLING)).clamp(-1.0, 1.0)), [within(1e-9, "t x0 x1 u")])
        },
        Case {
            model: "incremental PID on a double integrator, zero-order hold",
            ..Case::new("pid-double-integrator", pid, [within(1e-9, "t x v u")])
        },
    ]
}

/// Sampling period of the sliding-mode controllers (s).
const SAMPLING: f64 = 1e-2;

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// Calls `control` with the state of a plant every so often; its answer is the input z of the plant.
fn controlled(
    sim: &mut Simulation,
    plant: Entity,
    period: f64,
    mut control: impl FnMut(&[f64]) -> f64 + Send + Sync + 'static,
) -> Fallible {
    sim.every(period, move |_, world| {
        if let Some(mut plant) = world.get_mut::<FirstOrder>(plant) {
            let u = control(&plant.x);
            plant.z[0] = u;
        }
    })?;
    Ok(())
}

fn sliding_mode(control: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Fallible<Table> {
    let mut sim = Simulation::with_time_step(1e-4)?;
    let input = Operator::function(|at, b| {
        let disturbance = (50.0 * at.t).sin();
        b.copy_from_slice(&[disturbance, -disturbance + 2.0 * at.z[0]]);
    });
    let plant = FirstOrder::linear([0.0; 4], [1.0, -1.0]).with_input(input).with_parameters([0.0]);
    let x = sim.spawn_system(plant, Integrator::ZeroOrderHold)?;
    controlled(&mut sim, x, SAMPLING, move |x| control(x[1]))?;
    Table::run(&mut sim, &[("t", Time), ("x0", State(x, 0)), ("x1", State(x, 1)), ("u", Parameter(x, 0))], 10_001)?.earlier("u")
}

fn pid() -> Fallible<Table> {
    let h = 0.05;
    let mut sim = Simulation::with_time_step(h)?;
    let input = Operator::function(|at, b| b[1] = at.z[0]);
    let plant = FirstOrder::linear([0.0, 1.0, 0.0, 0.0], [10.0, 0.0]).with_input(input).with_parameters([0.0]);
    let x = sim.spawn_system(plant, Integrator::ZeroOrderHold)?;
    let (kp, ki, kd) = (0.25, 0.125, 2.0);
    let (mut u, mut e1, mut e2) = (0.0, 0.0, 0.0);
    controlled(&mut sim, x, h, move |x| {
        let e = -x[0];
        u += (kp + kd / h + ki * h) * e + (-kp - 2.0 * kd / h) * e1 + kd / h * e2;
        (e1, e2) = (e, e1);
        u
    })?;
    Table::run(&mut sim, &[("t", Time), ("x", State(x, 0)), ("v", State(x, 1)), ("u", Parameter(x, 0))], 2001)?.earlier("u")
}
