//! Sampled control on a simulation, against trajectories that Siconos computed (`../shared/reference`).

use bevy_ecs::entity::Entity;
use drystone::control::{ControlError, ControlLaw, LinearModel, Luenberger, Pid, Sampling, Sensor, SlidingMode, install};
use drystone::model::dynamical_system::{FirstOrder, Lagrangian};
use drystone::model::integrator::Integrator;
use drystone::model::operator::Operator;
use drystone::simulation::Simulation;
use std::sync::{Arc, Mutex};

/// Rows of a reference, without the heading; `None`, said loudly, where the folder is absent.
fn reference(case: &str) -> Option<Vec<Vec<f64>>> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference").join(case).join("reference.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: {case}: ../shared/reference is not there");
        return None;
    };
    Some(text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect()).collect())
}

/// Rows (t, x…, z…) after the controllers have acted, at every time step.
type Rows = Arc<Mutex<Vec<Vec<f64>>>>;

fn record(sim: &mut Simulation, plant: Entity) -> Result<Rows, ControlError> {
    let rows = Rows::default();
    let (mine, h) = (rows.clone(), sim.time_step());
    sim.every(h, move |t, world| {
        let plant = world.get::<FirstOrder>(plant).expect("spawned");
        let row = std::iter::once(t).chain(plant.x.iter().copied()).chain(plant.z.iter().copied()).collect();
        mine.lock().expect("one thread").push(row);
    })?;
    Ok(rows)
}

fn deviation(rows: &Rows, reference: &[Vec<f64>]) -> f64 {
    let rows = rows.lock().expect("one thread");
    assert_eq!(rows.len(), reference.len());
    rows.iter().flatten().zip(reference.iter().flatten()).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// ẋ = b(t) + B u with b = (sin 50t, −sin 50t), B = (0, 2), the law sampled every 100 steps.
fn sliding(sampling: Sampling) -> Result<Rows, ControlError> {
    let mut sim = Simulation::with_time_step(1e-4)?;
    let plant = FirstOrder::linear([0.0; 4], [1.0, -1.0])
        .with_input(Operator::function(|at, b| {
            b[0] = (50.0 * at.t).sin();
            b[1] = -b[0] + 2.0 * at.z[0];
        }))
        .with_parameters([0.0]);
    let plant = sim.spawn_system(plant, Integrator::ZeroOrderHold)?;
    let model = LinearModel::new([0.0; 4], [0.0, 2.0], 2)?;
    let state = install::sensor(&mut sim, plant, 1e-2, Sensor::full(2))?;
    let law = SlidingMode::new(&model, [0.0, 1.0], 1.0, 1e-2, sampling)?;
    install::law(&mut sim, state, plant, 1e-2, law)?;
    let rows = record(&mut sim, plant)?;
    sim.advance(10_000)?;
    // the last row: sampled before a step that is not compared
    sim.advance(1)?;
    Ok(rows)
}

#[test]
fn sliding_mode_agrees_with_siconos_explicit_and_implicit() {
    for (case, sampling) in [("smc-explicit", Sampling::Explicit), ("smc-implicit", Sampling::Implicit)] {
        let Some(reference) = reference(case) else { continue };
        let largest = deviation(&sliding(sampling).unwrap(), &reference);
        println!("{case}: largest deviation {largest:.1e}");
        assert!(largest < 1e-10, "{case}: {largest:e}");
    }
}

#[test]
fn pid_on_a_double_integrator_agrees_with_siconos() {
    let Some(reference) = reference("pid-double-integrator") else { return };
    let h = 0.05;
    let mut sim = Simulation::with_time_step(h).unwrap();
    let plant =
        FirstOrder::linear([0.0, 1.0, 0.0, 0.0], [10.0, 0.0]).with_input(Operator::function(|at, b| b[1] = at.z[0])).with_parameters([0.0]);
    let plant = sim.spawn_system(plant, Integrator::ZeroOrderHold).unwrap();
    let position = install::sensor(&mut sim, plant, h, Sensor::new([1.0, 0.0], 2).unwrap()).unwrap();
    install::law(&mut sim, position, plant, h, Pid::new(0.25, 0.125, 2.0, h).unwrap()).unwrap();
    let rows = record(&mut sim, plant).unwrap();
    sim.advance(2001).unwrap();
    let largest = deviation(&rows, &reference);
    println!("pid-double-integrator: largest deviation {largest:.1e}");
    assert!(largest < 1e-9, "{largest:e}");
}

#[test]
fn an_estimated_state_serves_a_law_as_well_as_a_measured_one() {
    let (h, period) = (1e-3, 1e-2);
    let mut sim = Simulation::with_time_step(h).unwrap();
    let pendulum =
        Lagrangian::new([1.0]).at([0.0]).moving([2.21]).with_force(Operator::function(|at, f| f[0] = at.z[0])).with_parameters([0.0]);
    let plant = sim.spawn_system(pendulum, Integrator::MOREAU_JEAN).unwrap();
    let model = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2).unwrap();
    let position = install::sensor(&mut sim, plant, h, Sensor::new([1.0, 0.0], 2).unwrap()).unwrap();
    let observer = Luenberger::new(&model, [1.0, 0.0], [20.0, 100.0], [0.0, 0.0], h).unwrap();
    let estimate = install::observer(&mut sim, position, plant, h, observer).unwrap();
    let law = SlidingMode::new(&model, [1.0, 1.0], 1.0, period, Sampling::Implicit).unwrap();
    let law = install::law(&mut sim, estimate, plant, period, law).unwrap();
    sim.advance(15_000).unwrap();
    let plant = sim.world().get::<Lagrangian>(plant).unwrap();
    assert!(plant.q[0].abs() < 1e-3 && plant.v[0].abs() < 1e-3, "{} {}", plant.q[0], plant.v[0]);
    assert_eq!(sim.world().get::<install::Output>(law).unwrap().unsolved, 0);
}

#[test]
fn what_does_not_fit_is_refused_when_it_is_installed() {
    let mut sim = Simulation::with_time_step(0.1).unwrap();
    let plant = sim.spawn_system(FirstOrder::linear([0.0; 4], [1.0, 0.0]), Integrator::ZeroOrderHold).unwrap();
    let pid = || Pid::new(1.0, 0.0, 0.0, 0.1).unwrap();
    let state = install::sensor(&mut sim, plant, 0.1, Sensor::full(2)).unwrap();
    let position = install::sensor(&mut sim, plant, 0.1, Sensor::new([1.0, 0.0], 2).unwrap()).unwrap();
    let message = |r: Result<Entity, ControlError>| r.unwrap_err().to_string();
    assert_eq!(message(install::law(&mut sim, state, plant, 0.1, pid())), "the output of the source holds 2 values, but 1 are needed");
    let unheard = message(install::law(&mut sim, position, plant, 0.1, pid()));
    assert_eq!(unheard, "z of the plant holds 0 values, but at least 1, one for each input, are needed");
    assert_eq!(message(install::law(&mut sim, plant, plant, 0.1, pid())), "the source is no sensor or observer of the simulation");
    let often = message(install::sensor(&mut sim, plant, 0.05, Sensor::full(2)));
    assert!(often.contains("a multiple of the time step"), "{often}");
    assert!(message(install::sensor(&mut sim, plant, 0.1, Sensor::full(3))).starts_with("the state of the plant holds 2 values"));
    let endless = message(install::sensor(&mut sim, plant, 0.1, Sensor::full(2).with_delay(usize::MAX)));
    assert!(endless.contains("the delay of the sensor") && endless.contains("at most 10000000 are needed"), "{endless}");
    assert!(pid().sample(0.0, &[1.0], &mut [0.0]));
}

#[test]
fn what_was_made_for_one_period_is_not_sampled_with_another() -> Result<(), ControlError> {
    let mut sim = Simulation::with_time_step(0.01)?;
    let plant = FirstOrder::linear([0.0, 1.0, 0.0, 0.0], [1.0, 0.0]).with_parameters([0.0]);
    let plant = sim.spawn_system(plant, Integrator::ZeroOrderHold)?;
    let position = install::sensor(&mut sim, plant, 0.05, Sensor::new([1.0, 0.0], 2)?)?;
    let refused = install::law(&mut sim, position, plant, 0.05, Pid::new(1.0, 0.1, 0.5, 0.02)?).expect_err("0.02 s and 0.05 s");
    let said = "the law was made for a sampling period of 0.02 s, but is sampled every 0.05 s; both have to be the same";
    assert_eq!(refused.to_string(), said);
    let model = LinearModel::new([0.0, 1.0, 0.0, 0.0], [0.0, 1.0], 2)?;
    let observer = Luenberger::new(&model, [1.0, 0.0], [4.0, 4.0], [0.0; 2], 0.02)?;
    assert!(
        install::observer(&mut sim, position, plant, 0.05, observer).is_err_and(|e| e.to_string().starts_with("the observer was made"))
    );
    let sliding = |sampling| SlidingMode::new(&model, [1.0, 1.0], 1.0, 0.02, sampling);
    let state = install::sensor(&mut sim, plant, 0.05, Sensor::full(2))?;
    assert!(matches!(install::law(&mut sim, state, plant, 0.05, sliding(Sampling::Implicit)?), Err(ControlError::Period { .. })));
    // signs at the sampling instant know no period
    install::law(&mut sim, state, plant, 0.05, sliding(Sampling::Explicit)?)?;
    install::law(&mut sim, position, plant, 0.02, Pid::new(1.0, 0.1, 0.5, 0.02)?)?;
    // e^{800} within a period is no number
    assert!(LinearModel::new([800.0], [1.0], 1)?.sampled(1.0).is_err());
    Ok(())
}
