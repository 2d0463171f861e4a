//! A batch of steps gives the bits of its steps done one by one, recording changes nothing, and a run goes on from a saved state.

use bevy_ecs::prelude::Entity;
use drystone::cluster::Signal;
use drystone::model::dynamical_system::{FirstOrder, Lagrangian};
use drystone::model::integrator::Integrator;
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, LagrangianLinear, LagrangianNonlinear};
use drystone::simulation::Simulation;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;
type Built = (Simulation, Vec<Entity>, Vec<Entity>);

fn circuit() -> Fallible<Built> {
    let mut sim = Simulation::with_time_step(1e-5)?;
    let x = sim.spawn_system(FirstOrder::linear([0.0, -1e6, 1e2, 0.0], [10.0, 0.0]), Integrator::EULER_MOREAU)?;
    let diode = FirstOrderLinear::new(1, [-1.0, 0.0], [-1e6, 0.0]).with_d([1e3]);
    let d = sim.spawn_interaction(Interaction::new([x], diode, Law::Complementarity))?;
    Ok((sim, vec![x], vec![d]))
}

fn beads() -> Fallible<Built> {
    let mut sim = Simulation::with_time_step(5e-4)?;
    let (mut beads, mut links): (Vec<Entity>, Vec<Entity>) = (Vec::new(), Vec::new());
    for i in 0..10 {
        let bead = Lagrangian::new([1.0]).at([0.3 + 0.25 * f64::from(i)]).with_force([-9.81]);
        let bead = sim.spawn_system(bead, Integrator::MOREAU_JEAN)?;
        let law = Law::NewtonImpact { e: 0.9 };
        let link = match beads.last() {
            None => Interaction::new([bead], LagrangianLinear::new([1.0], [-0.1]), law),
            Some(&below) => Interaction::new([below, bead], LagrangianLinear::new([-1.0, 1.0], [-0.2]), law),
        };
        links.push(sim.spawn_interaction(link)?);
        beads.push(bead);
    }
    Ok((sim, beads, links))
}

fn pendulum() -> Fallible<Built> {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let mass = Operator::function(|at, m| {
        let c = (at.q[0] - at.q[1]).cos();
        m.copy_from_slice(&[2.0, c, c, 1.0]);
    });
    let pendulum = Lagrangian::new(mass)
        .at([0.1, 0.2])
        .with_internal(Operator::function(|at, f| f.copy_from_slice(&[20.0 * at.q[0].sin(), 10.0 * at.q[1].sin()])));
    let p = sim.spawn_system(pendulum, Integrator::MOREAU_JEAN)?;
    let wall = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0].sin()));
    let w = sim.spawn_interaction(Interaction::new([p], wall, Law::NewtonImpact { e: 0.8 }))?;
    Ok((sim, vec![p], vec![w]))
}

fn ball(integrator: Integrator, law: Law, rows: usize) -> Fallible<Built> {
    let mut sim = Simulation::with_time_step(5e-3)?;
    let ball =
        Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0, 0.1])).at([1.0, 0.0, 0.0]).moving([0.0, 0.3, 2.0]).with_force([-9.81, 0.0, 0.0]);
    let b = sim.spawn_system(ball, integrator)?;
    let jacobian = [[1.0, 0.0, 0.0], [0.0, 1.0, -0.5]].concat();
    let f = sim.spawn_interaction(Interaction::new([b], LagrangianLinear::new(&jacobian[..3 * rows], vec![0.0; rows]), law))?;
    Ok((sim, vec![b], vec![f]))
}

fn held() -> Fallible<Built> {
    let mut sim = Simulation::with_time_step(1e-2)?;
    let input = Operator::function(|at, b| b[1] = at.z[0] + at.t.sin());
    let plant = FirstOrder::linear([0.0, 1.0, -4.0, -0.5], [1.0, 0.0]).with_input(input).with_parameters([0.0]);
    let x = sim.spawn_system(plant, Integrator::ZeroOrderHold)?;
    sim.every(0.05, move |_, world| {
        if let Some(mut plant) = world.get_mut::<FirstOrder>(x) {
            plant.z[0] = -plant.x[1];
        }
    })?;
    Ok((sim, vec![x], vec![]))
}

const CASES: &[(&str, u64, fn() -> Fallible<Built>)] = &[
    ("circuit", 400, circuit),
    ("column of beads", 2000, beads),
    ("double pendulum", 1500, pendulum),
    ("Moreau–Jean with friction", 1500, || {
        ball(Integrator::MOREAU_JEAN, Law::CoulombImpact(CoulombImpact { mu: 0.1, e_n: 0.9, ..CoulombImpact::default() }), 2)
    }),
    ("Schatzman–Paoli", 1500, || ball(Integrator::SchatzmanPaoli { theta: 0.5 }, Law::NewtonImpact { e: 0.9 }, 1)),
    ("D1-minus", 1500, || ball(Integrator::D1Minus { tolerance: 1e-8 }, Law::NewtonImpact { e: 0.9 }, 1)),
    ("modal", 1500, || ball(Integrator::Modal { gamma: 0.5 }, Law::NewtonImpact { e: 0.9 }, 1)),
    ("zero-order hold with a controller", 500, held),
];

/// The bits of all states and multipliers.
fn bits((sim, systems, links): &Built) -> Vec<u64> {
    let world = sim.world();
    let mut numbers = vec![sim.time()];
    for &s in systems {
        if let Some(s) = world.get::<FirstOrder>(s) {
            numbers.extend(s.x.iter().chain(&s.r));
        } else if let Some(s) = world.get::<Lagrangian>(s) {
            numbers.extend(s.q.iter().chain(&s.v).chain(&s.p));
        }
    }
    for &l in links {
        if let Some(i) = world.get::<Interaction>(l) {
            numbers.extend(i.y.iter().chain(&i.y_dot).chain(&i.lambda));
        }
    }
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn one_batch_many_batches_and_single_steps_give_the_same_bits() -> Fallible {
    for &(name, steps, build) in CASES {
        let mut whole = build()?;
        whole.0.advance(steps)?;
        let mut parts = build()?;
        let mut left = steps;
        for n in [1, 7, 100].into_iter().cycle() {
            if left == 0 {
                break;
            }
            parts.0.advance(n.min(left))?;
            left -= n.min(left);
        }
        let mut single = build()?;
        for _ in 0..steps {
            single.0.step()?;
        }
        assert_eq!(bits(&whole), bits(&parts), "{name}: batches");
        assert_eq!(bits(&whole), bits(&single), "{name}: single steps");
        assert!(bits(&whole) != bits(&build()?), "{name} does not move");
    }
    Ok(())
}

#[test]
fn a_recording_run_gives_the_bits_of_one_that_does_not_record() -> Fallible {
    for &(name, steps, build) in CASES {
        let mut silent = build()?;
        silent.0.advance(steps)?;
        let mut recorded = build()?;
        let mut signals = vec![Signal::Time];
        signals.extend(recorded.1.iter().flat_map(|&s| [Signal::State(s, 0), Signal::Input(s, 0)]));
        signals.extend(recorded.2.iter().flat_map(|&l| [Signal::Output(l, 0), Signal::Multiplier(l, 0)]));
        let every = recorded.0.record(3, signals);
        recorded.0.advance(steps / 2)?;
        // a second record in the middle builds the clusters anew
        let late = recorded.0.record(1, [Signal::Time]);
        recorded.0.advance(steps - steps / 2)?;
        assert_eq!(bits(&silent), bits(&recorded), "{name}");
        let rows = |k| recorded.0.trace(k).map(|t| t.rows().len() as u64);
        assert_eq!((rows(every), rows(late)), (Some(1 + steps / 3), Some(1 + steps - steps / 2)), "{name}");
    }
    Ok(())
}

#[test]
fn a_resumed_run_gives_the_bits_of_one_that_was_not_stopped() -> Fallible {
    for &(name, steps, build) in CASES {
        let mut straight = build()?;
        straight.0.advance(steps)?;
        for stop in [1, steps / 3, steps / 2 + 1] {
            let mut first = build()?;
            first.0.advance(stop)?;
            let saved = first.0.save(&[]);
            let mut second = build()?;
            second.0.restore(&saved, &[])?;
            second.0.advance(steps - stop)?;
            assert_eq!(bits(&second), bits(&straight), "{name}, stopped after {stop} steps");
        }
    }
    Ok(())
}
