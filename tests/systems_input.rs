//! Bad input to general systems: every message names the thing, what was found and what would do; nothing panics, and a simulation
//! goes on once the cause is gone.

use bevy_ecs::name::Name;
use bevy_ecs::prelude::Entity;
use drystone::cluster::systems::Traces;
use drystone::cluster::{NewtonLoop, Signal};
use drystone::model::dynamical_system::{DynamicalSystem, FirstOrder, Lagrangian, NewtonEuler, Prescribed};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::joint::{JointKind, JointSpec};
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, LagrangianLinear, LagrangianNonlinear, Relation};
use drystone::simulation::{Body, Simulation, SimulationError};
use glam::{DQuat, DVec3};

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

const MJ: Integrator = Integrator::MOREAU_JEAN;
const EM: Integrator = Integrator::EULER_MOREAU;
const IMPACT: Law = Law::NewtonImpact { e: 0.5 };

fn simulation() -> Simulation {
    Simulation::with_time_step(0.01).expect("a time step")
}

fn ball() -> Lagrangian {
    Lagrangian::new([1.0]).at([1.0]).with_force([-9.81])
}

fn decay() -> FirstOrder {
    FirstOrder::linear([-1.0], [1.0])
}

/// The message of a system that cannot be made.
fn refused(system: impl Into<DynamicalSystem>, integrator: Integrator) -> String {
    simulation().spawn_system(system, integrator).expect_err("the system is wrong").to_string()
}

/// The message of the first step.
fn step_error(sim: &mut Simulation) -> String {
    sim.advance(1).expect_err("the step cannot be done").to_string()
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

#[test]
fn systems_of_the_wrong_size_are_refused_by_name() {
    says(&refused(FirstOrder::linear([1.0, 2.0], [0.0, 0.0]), EM), &["A holds 2 values", "2 × 2 = 4"]);
    says(&refused(decay().with_input([1.0, 2.0]), EM), &["b holds 2 values", "1 are needed"]);
    says(&refused(decay().with_mass(Operator::Diagonal(vec![1.0, 1.0])), EM), &["M is a diagonal of 2 values", "1 × 1"]);
    says(&refused(FirstOrder::linear([1.0], []), EM), &["A holds 1 values", "0 × 0 = 0"]);
    says(&refused(Lagrangian::new([1.0]).at([1.0]).moving([0.0, 0.0]), MJ), &["v holds 2 values", "1 are needed"]);
    says(&refused(Lagrangian::new([1.0, 2.0]).at([1.0]), MJ), &["M holds 2 values", "1 are needed"]);
    says(&refused(ball().with_stiffness([1.0, 2.0]), MJ), &["K holds 2 values"]);
    says(&refused(ball().with_damping(Operator::function(|_, _| {})), MJ), &["C is a function", "F_int"]);
    says(&refused(ball().with_force(Operator::Sparse(vec![(1, 0, 1.0)])), MJ), &["F_ext has an entry at row 1", "outside 1 × 1"]);
    says(&refused(ball().with_force([f64::NAN]), MJ), &["F_ext holds NaN", "finite"]);
    says(&refused(Lagrangian::new([1.0]).at([f64::INFINITY]), MJ), &["q holds inf", "finite"]);
    says(&refused(ball().with_prescribed(3, Prescribed::Fixed), MJ), &["degree of freedom 3", "there are 1"]);
    says(&refused(NewtonEuler::new(0.0, DVec3::ONE), MJ), &["mass is 0", "positive"]);
    says(&refused(NewtonEuler::new(1.0, DVec3::new(1.0, 0.0, 1.0)), MJ), &["inertia is not symmetric positive definite"]);
    says(&refused(NewtonEuler::new(1.0, DVec3::ONE).turned(DQuat::from_xyzw(1.0, 0.0, 0.0, 1.0)), MJ), &["quaternion", "1 is needed"]);
}

#[test]
fn a_singular_mass_is_refused() {
    says(&refused(Lagrangian::new([1.0, 1.0, 1.0, 1.0]).at([0.0; 2]), MJ), &["mass matrix M", "singular"]);
    says(&refused(Lagrangian::new(Operator::Zero).at([0.0]), MJ), &["mass matrix M", "missing"]);
}

#[test]
fn a_mass_that_becomes_singular_is_named_with_its_time() -> Fallible {
    let mut sim = simulation();
    let mass = Operator::function(|at, m| m[0] = if at.t > 0.025 { 0.0 } else { 1.0 });
    let s = sim.spawn_system(Lagrangian::new(mass).at([1.0]).with_force([1.0]), MJ)?;
    sim.set_name(s, "rocket");
    let message = sim.advance(5).expect_err("M is 0").to_string();
    says(&message, &["step 3", "rocket", "singular", "t = 0.03", "regular"]);
    assert_eq!(sim.steps(), 2);
    Ok(())
}

#[test]
fn integrators_fit_their_systems_and_their_ranges() {
    says(&refused(decay(), MJ), &["MoreauJean", "first order", "Euler–Moreau"]);
    says(&refused(ball(), EM), &["EulerMoreau", "second order", "Moreau–Jean"]);
    says(&refused(ball(), Integrator::ZeroOrderHold), &["ZeroOrderHold", "second order"]);
    says(&refused(decay(), Integrator::EulerMoreau { theta: 1.5, gamma: 1.0 }), &["theta is 1.5", "0 to 1"]);
    says(&refused(decay(), Integrator::EulerMoreau { theta: f64::NAN, gamma: 1.0 }), &["theta is NaN"]);
    let theta = Integrator::MoreauJean { theta: -0.1, gamma: 0.5, projection: Projection::None };
    says(&refused(ball(), theta), &["theta is -0.1", "0 to 1"]);
}

#[test]
fn a_time_step_of_zero_is_refused() {
    for h in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        says(&Simulation::with_time_step(h).expect_err("no step").to_string(), &["time_step", "positive"]);
    }
}

/// What a system, or two, linked by this relation and law say at the first step.
fn linked(systems: Vec<(DynamicalSystem, Integrator)>, relation: impl Into<Relation>, law: Law) -> String {
    let mut sim = simulation();
    let systems: Vec<Entity> = systems.into_iter().map(|(s, i)| sim.spawn_system(s, i).expect("a good system")).collect();
    let interaction = Interaction::new(systems, relation, law);
    match sim.spawn_interaction(interaction.clone()) {
        Ok(link) => assert!(sim.set_name(link, "valve")),
        Err(error) => {
            // what is wrong at once is wrong at the step too, where a plain command has made it
            says(&error.to_string(), &["an interaction cannot be made"]);
            sim.world_mut().spawn((interaction, Name::new("valve")));
        }
    }
    let message = step_error(&mut sim);
    says(&message, &["step 1"]);
    message
}

fn on_decay(relation: FirstOrderLinear, law: Law) -> String {
    linked(vec![(decay().into(), EM)], relation, law)
}

fn on_ball(relation: impl Into<Relation>, law: Law) -> String {
    linked(vec![(ball().into(), MJ)], relation, law)
}

#[test]
fn relations_of_the_wrong_size_are_named() {
    let good = || FirstOrderLinear::new(1, [1.0], [1.0]);
    says(&on_decay(FirstOrderLinear::new(1, [1.0, 2.0], [1.0]), Law::Complementarity), &["valve", "C holds 2 values", "needed"]);
    says(&on_decay(FirstOrderLinear::new(1, [1.0], [1.0, 2.0]), Law::Complementarity), &["valve", "B holds 2 values"]);
    says(&on_decay(good().with_d([1.0, 0.0]), Law::Complementarity), &["valve", "D holds 2 values", "needed"]);
    let two = FirstOrderLinear::new(2, [1.0, 1.0], [1.0, 1.0]).with_d([1.0, 0.0, 0.0]);
    says(&on_decay(two, Law::Complementarity), &["valve", "D holds 3 values", "2 × 2 = 4"]);
    says(&on_decay(good().with_e([1.0, 2.0]), Law::Complementarity), &["valve", "e holds 2 values"]);
    says(&on_decay(good().with_f([1.0]), Law::Complementarity), &["valve", "F holds 1 values"]);
    says(&on_decay(FirstOrderLinear::default(), Law::Complementarity), &["valve", "no rows", "at least one"]);
    says(&on_ball(LagrangianLinear::new([1.0, 2.0], [0.0]), IMPACT), &["valve", "H holds 2 values"]);
    let rows = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0]));
    says(&on_ball(rows.clone().with_jacobian([1.0, 2.0]), IMPACT), &["valve", "G holds 2 values"]);
    says(&on_ball(rows.with_compliance([1.0, 2.0]), IMPACT), &["valve", "∂h/∂λ holds 2 values"]);
}

#[test]
fn laws_that_do_not_fit_are_named() {
    let one = || FirstOrderLinear::new(1, [1.0], [1.0]);
    let floor = || LagrangianLinear::new([1.0], [0.0]);
    says(&on_decay(one(), IMPACT), &["valve", "law of impact", "second order"]);
    says(&on_decay(one(), Law::Relay { lower: 1.0, upper: -1.0 }), &["valve", "1 and -1", "lower must not exceed"]);
    says(&on_decay(one(), Law::NormalCone { h: vec![1.0, 1.0], k: vec![0.0] }), &["valve", "normal cone holds 2", "need 1"]);
    says(&on_decay(one(), Law::NormalCone { h: vec![f64::NAN], k: vec![0.0] }), &["valve", "normal cone", "not finite"]);
    says(&on_decay(one(), Law::MixedComplementarity { equalities: 2 }), &["valve", "2 rows of equality", "1 rows"]);
    says(&on_ball(floor(), Law::CoulombImpact(CoulombImpact::default())), &["valve", "1 rows", "2 or 3"]);
    says(&on_ball(floor(), Law::NewtonImpact { e: 1.5 }), &["valve", "e_n is 1.5", "0 to 1"]);
    says(&on_ball(one(), Law::Complementarity), &["valve", "first-order", "second order"]);
    says(&linked(vec![(decay().into(), EM)], floor(), Law::Equality), &["valve", "second-order", "first order"]);
}

#[test]
fn systems_that_cannot_meet_are_named() {
    let pair = || LagrangianLinear::new([-1.0, 1.0], [0.0]);
    let mixed = vec![(ball().into(), MJ), (decay().into(), EM)];
    says(&linked(mixed, pair(), IMPACT), &["valve", "first order", "second order", "one order"]);
    let levels = vec![(ball().into(), MJ), (ball().into(), Integrator::SchatzmanPaoli { theta: 0.5 })];
    says(&linked(levels, pair(), IMPACT), &["the velocity", "the position", "one level"]);
    let three = vec![(ball().into(), MJ), (ball().into(), MJ), (ball().into(), MJ)];
    says(&linked(three, pair(), IMPACT), &["valve", "3 systems", "one or two"]);
    says(&linked(vec![], pair(), IMPACT), &["valve", "0 systems", "one or two"]);
    let mut sim = simulation();
    let b = sim.spawn_system(ball(), MJ).expect("a ball");
    let itself = Interaction::new([b, b], pair(), IMPACT);
    says(&sim.spawn_interaction(itself.clone()).expect_err("one system twice").to_string(), &["itself", "two different"]);
    sim.world_mut().spawn(itself);
    says(&step_error(&mut sim), &["interaction 0", "itself"]);
    let (mut sim, two) = (simulation(), LagrangianLinear::new([1.0, 1.0], [0.0]));
    let b = sim.spawn_system(ball(), MJ).expect("a ball");
    let wrong = |sim: &mut Simulation, systems: Vec<Entity>| {
        sim.spawn_interaction(Interaction::new(systems, two.clone(), IMPACT)).expect_err("it does not fit").to_string()
    };
    says(&wrong(&mut sim, vec![b]), &["H holds 2 values", "needed"]);
    let gone = sim.spawn_system(ball(), MJ).expect("a ball");
    sim.world_mut().despawn(gone);
    says(&wrong(&mut sim, vec![b, gone]), &["does not exist", "living"]);
    let other = sim.world_mut().spawn(Name::new("lamp")).id();
    says(&wrong(&mut sim, vec![b, other]), &["\"lamp\"", "neither a dynamical system nor a body"]);
    // of what is reserved nothing is known yet
    let later = sim.reserve();
    assert!(sim.spawn_interaction(Interaction::new([b, later], two.clone(), IMPACT)).is_ok());
}

#[test]
fn an_interaction_that_lost_its_system_is_named_and_the_rest_goes_on_without_it() -> Fallible {
    let mut sim = simulation();
    let (a, b) = (sim.spawn_system(ball(), MJ)?, sim.spawn_system(ball(), MJ)?);
    let link = sim.spawn_interaction(Interaction::new([a, b], LagrangianLinear::new([-1.0, 1.0], [0.0]), IMPACT))?;
    sim.set_name(link, "rope");
    sim.advance(3)?;
    sim.world_mut().despawn(b);
    for _ in 0..2 {
        says(&step_error(&mut sim), &["step 4", "rope", "does not exist", "living"]);
    }
    sim.world_mut().despawn(link);
    sim.advance(3)?;
    assert_eq!(sim.steps(), 6);
    Ok(())
}

#[test]
fn a_singular_iteration_matrix_is_named() -> Fallible {
    // I − hθA = 0
    let mut sim = simulation();
    let growth = FirstOrder::linear([100.0], [1.0]);
    let s = sim.spawn_system(growth, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
    sim.set_name(s, "growth");
    says(&step_error(&mut sim), &["M − hθA", "growth", "singular", "regular"]);
    let mut sim = simulation();
    let f = Operator::function(|at, f| f[0] = 100.0 * at.x[0]);
    let growth = FirstOrder::nonlinear(f, [1.0]).with_jacobian([100.0]);
    sim.spawn_system(growth, Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
    says(&step_error(&mut sim), &["M − hθ ∂F/∂x", "system 0", "singular"]);
    let mut sim = simulation();
    let exploding = ball().with_stiffness([-4e4]);
    sim.spawn_system(exploding, MJ)?;
    says(&step_error(&mut sim), &["M + hθC + h²θ²K", "system 0", "singular"]);
    Ok(())
}

#[test]
fn a_newton_loop_that_does_not_converge_is_counted() -> Fallible {
    let mut sim = Simulation::with_time_step(0.2)?;
    sim.set_newton(NewtonLoop { tolerance: 1e-12, max_iterations: 2, ..NewtonLoop::default() });
    let pendulum = Lagrangian::new([1.0]).at([3.0]).moving([4.0]).with_internal(Operator::function(|at, f| f[0] = 50.0 * at.q[0].sin()));
    sim.spawn_system(pendulum, MJ)?;
    let report = sim.advance(10)?;
    assert!(!report.converged && report.systems.unconverged > 0, "{report:?}");
    assert_eq!(report.systems.newton_iterations, 2);
    sim.set_newton(NewtonLoop::default());
    let report = sim.advance(10)?;
    assert!(report.converged && report.systems.unconverged == 0, "{report:?}");
    // no iteration at all is taken as one
    sim.set_newton(NewtonLoop { tolerance: 0.0, max_iterations: 0, ..NewtonLoop::default() });
    assert_eq!(sim.advance(1)?.systems.newton_iterations, 1);
    Ok(())
}

#[test]
fn sampled_actions_and_records_that_cannot_be_are_named() -> Fallible {
    let mut sim = simulation();
    says(&sim.every(0.015, |_, _| {}).expect_err("1.5 steps").to_string(), &["0.015 s", "multiple", "0.01 s"]);
    says(&sim.every(0.0, |_, _| {}).expect_err("no period").to_string(), &["0 s", "multiple"]);
    let b = sim.spawn_system(ball(), MJ)?;
    let d = sim.spawn_system(decay(), EM)?;
    for wrong in [Signal::State(b, 1), Signal::Velocity(d, 0), Signal::Output(b, 0), Signal::Parameter(b, 0), Signal::Reaction(b, 0)] {
        sim.record(1, [Signal::Time, wrong]);
        // as long as it is asked for
        for _ in 0..2 {
            says(&step_error(&mut sim), &[&format!("{wrong:?}"), "recorded", "no such"]);
        }
        sim.world_mut().resource_mut::<Traces>().0.pop();
    }
    let good = sim.record(1, [Signal::State(b, 0)]);
    sim.advance(2)?;
    assert_eq!(sim.trace(good).ok_or("no trace")?.rows().len(), 3);
    Ok(())
}

#[test]
fn an_action_that_is_due_after_all_steps_is_due_at_none() -> Fallible {
    let mut sim = simulation();
    let d = sim.spawn_system(decay(), EM)?;
    sim.advance(1)?;
    sim.every(1e300, move |_, world| world.get_mut::<FirstOrder>(d).expect("alive").x[0] = 1.0)?;
    sim.advance(1)?;
    let x = state(&sim, d)[0];
    assert!(x > 0.99, "once at its start: {x}");
    sim.advance(3)?;
    assert!(sim.steps() == 5 && state(&sim, d)[0] < x);
    Ok(())
}

#[test]
fn components_spoilt_between_steps_are_refused_and_may_be_mended() -> Fallible {
    let mut sim = simulation();
    let b = sim.spawn_system(ball(), MJ)?;
    sim.set_name(b, "ball");
    sim.advance(2)?;
    let set = |sim: &mut Simulation, mass: Vec<f64>| {
        sim.world_mut().get_mut::<Lagrangian>(b).expect("alive").mass = Operator::Constant(mass);
    };
    set(&mut sim, vec![1.0, 0.0]);
    says(&step_error(&mut sim), &["ball", "M holds 2 values"]);
    set(&mut sim, vec![0.0]);
    says(&step_error(&mut sim), &["ball", "singular"]);
    set(&mut sim, vec![2.0]);
    sim.advance(1)?;
    *sim.world_mut().get_mut::<Integrator>(b).expect("alive") = EM;
    says(&step_error(&mut sim), &["ball", "second order"]);
    *sim.world_mut().get_mut::<Integrator>(b).expect("alive") = MJ;
    sim.advance(1)?;
    assert_eq!(sim.steps(), 4);
    Ok(())
}

#[test]
fn parameters_of_interactions_that_are_no_numbers_are_refused_and_may_be_mended() -> Fallible {
    let needed = "every value has to be finite";
    let spoilt = |mut sim: Simulation, link: Entity| -> Fallible {
        sim.advance(2)?;
        let good = sim.world().get::<Interaction>(link).expect("alive").z.clone();
        for bad in [f64::NAN, f64::INFINITY] {
            sim.world_mut().get_mut::<Interaction>(link).expect("alive").z[0] = bad;
            says(&step_error(&mut sim), &["\"link\"", &format!("z holds {bad}"), needed]);
            says(&step_error(&mut sim), &["step 3", needed]);
            assert_eq!(sim.steps(), 2);
            sim.world_mut().get_mut::<Interaction>(link).expect("alive").z.clone_from(&good);
        }
        sim.advance(1)?;
        Ok(())
    };
    // F z of a system, parameters that nothing reads, a system tied to a body, the turns of a hinge
    let mut sim = simulation();
    let tank = sim.spawn_system(decay(), EM)?;
    let valve = FirstOrderLinear::new(1, [1.0], [1.0]).with_f([1.0]);
    let refused = Interaction::new([tank], valve.clone(), Law::Complementarity).with_parameters([f64::NAN]);
    says(&sim.spawn_interaction(refused).expect_err("no number").to_string(), &["z holds NaN", needed]);
    let link = sim.spawn_interaction(Interaction::new([tank], valve, Law::Complementarity).with_parameters([1.0]))?;
    sim.set_name(link, "link");
    spoilt(sim, link)?;
    for with_body in [false, true] {
        let mut sim = simulation();
        let cart = sim.spawn_system(ball(), Integrator::MoreauJean { theta: 1.0, gamma: 1.0, projection: Projection::None })?;
        let body = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
        let (parties, rows) = if with_body { (vec![cart, body], vec![1.0; 8]) } else { (vec![cart], vec![1.0]) };
        let link = Interaction::new(parties, LagrangianLinear::new(rows, [5.0]), IMPACT).with_parameters([1.0]);
        let link = sim.spawn_interaction(link)?;
        sim.set_name(link, "link");
        spoilt(sim, link)?;
    }
    let mut sim = simulation();
    let door = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
    let hinge = sim.add_joint(door, None, &JointSpec::new(JointKind::Revolute).at(DVec3::X).axis(DVec3::Z))?[0];
    sim.set_name(hinge, "link");
    spoilt(sim, hinge)
}

/// Every kind of machine, with a force or input that fails from 0.05 s on unless z says otherwise.
fn failing() -> Vec<(&'static str, &'static str, DynamicalSystem, Integrator)> {
    let broken = |t: f64, z: f64| if t > 0.055 && z < 0.5 { f64::NAN } else { -1.0 };
    let force = || Operator::function(move |at, f| f[0] = broken(at.t, at.z[0]));
    let linear = || Lagrangian::new([1.0]).at([1.0]).moving([0.5]).with_force(force()).with_parameters([0.0]);
    let nonlinear = || Lagrangian::new([1.0]).at([1.0]).moving([0.5]).with_internal(force()).with_parameters([0.0]);
    let state = || Operator::function(move |at, f| f[0] = broken(at.t, at.z[0]) * at.x[0]);
    vec![
        ("b", "linear first order", decay().with_input(force()).with_parameters([0.0]).into(), EM),
        ("b", "zero-order hold", decay().with_input(force()).with_parameters([0.0]).into(), Integrator::ZeroOrderHold),
        ("f", "nonlinear first order", FirstOrder::nonlinear(state(), [1.0]).with_parameters([0.0]).into(), EM),
        ("F_ext", "Moreau–Jean", linear().into(), MJ),
        ("F_int", "Newton loop", nonlinear().into(), MJ),
        ("F_ext", "Schatzman–Paoli", linear().into(), Integrator::SchatzmanPaoli { theta: 0.5 }),
        ("F_ext", "D1-minus", linear().into(), Integrator::D1Minus { tolerance: 1e-8 }),
        ("F_ext", "modal", linear().into(), Integrator::Modal { gamma: 0.5 }),
    ]
}

/// x or (q, v) of the component.
fn state(sim: &Simulation, system: Entity) -> Vec<f64> {
    let world = sim.world();
    let first = world.get::<FirstOrder>(system).map(|s| s.x.clone());
    first.or_else(|| world.get::<Lagrangian>(system).map(|s| [&s.q[..], &s.v].concat())).expect("alive")
}

fn set_parameter(sim: &mut Simulation, system: Entity, z: f64) {
    if let Some(mut s) = sim.world_mut().get_mut::<FirstOrder>(system) {
        s.z[0] = z;
    } else if let Some(mut s) = sim.world_mut().get_mut::<Lagrangian>(system) {
        s.z[0] = z;
    }
}

#[test]
fn a_function_that_is_not_finite_is_named_and_the_last_good_state_stays_and_goes_on() -> Fallible {
    for (operator, kind, system, integrator) in failing() {
        let build = || -> Fallible<(Simulation, Entity, Entity)> {
            let mut sim = simulation();
            // a bystander in a cluster of its own, before and after in the order of clusters
            let other = sim.spawn_system(ball(), MJ)?;
            let s = sim.spawn_system(system.clone(), integrator)?;
            sim.set_name(s, "culprit");
            Ok((sim, s, other))
        };
        let (mut sim, s, other) = build()?;
        let trace = sim.record(1, [Signal::Time, Signal::State(s, 0), Signal::State(other, 0)]);
        let error = sim.advance(20).expect_err(kind);
        let message = error.to_string();
        says(&message, &[operator, "culprit", "not finite", "kept"]);
        assert!(matches!(error, SimulationError::System { step, .. } if step == sim.steps() + 1), "{kind}: {message}");
        let done = sim.steps();
        assert!((5..=6).contains(&done), "{kind}: {done} steps");
        assert_eq!(sim.trace(trace).ok_or("no trace")?.rows().len() as u64, done + 1, "{kind}");

        // a run that ends before the error has the same bits
        let (mut twin, s2, other2) = build()?;
        twin.advance(done)?;
        assert_eq!(state(&sim, s), state(&twin, s2), "{kind}");
        assert_eq!(state(&sim, other), state(&twin, other2), "{kind}");
        assert_eq!(sim.time(), twin.time());

        // the error stays as long as its cause, and so does the state
        assert_eq!(sim.advance(1).expect_err(kind).to_string(), message, "{kind}");
        assert_eq!(state(&sim, s), state(&twin, s2), "{kind}");

        // and it goes on when it is gone, as the twin that never failed
        set_parameter(&mut sim, s, 1.0);
        set_parameter(&mut twin, s2, 1.0);
        let (a, b) = (sim.advance(14)?, twin.advance(14)?);
        assert!(a.converged && a.step == done + 14 && a.step == b.step, "{kind}");
        for (x, y) in state(&sim, s).iter().zip(&state(&twin, s2)) {
            assert!((x - y).abs() <= 1e-14, "{kind}: {x} and {y}");
        }
        assert_eq!(state(&sim, other), state(&twin, other2), "{kind}");
    }
    Ok(())
}

#[test]
fn relations_of_the_user_that_are_not_finite_are_named() -> Fallible {
    let mut sim = simulation();
    let b = sim.spawn_system(ball(), MJ)?;
    let h = Operator::function(|at, y| y[0] = if at.t > 0.05 { f64::NAN } else { at.q[0] });
    let link = sim.spawn_interaction(Interaction::new([b], LagrangianNonlinear::new(1, h).with_jacobian([1.0]), IMPACT))?;
    sim.set_name(link, "hinge");
    says(&sim.advance(20).expect_err("h is NaN").to_string(), &["h of", "hinge", "not finite", "t = 0.0"]);
    let q = state(&sim, b);
    assert!(q.iter().all(|x| x.is_finite()), "{q:?}");
    Ok(())
}

#[test]
fn a_state_that_overflows_is_an_error_and_not_a_state() -> Fallible {
    let mut sim = simulation();
    let s = sim.spawn_system(FirstOrder::linear([150.0], [1e300]), EM)?;
    sim.set_name(s, "runaway");
    says(&sim.advance(1000).expect_err("it overflows").to_string(), &["state of", "runaway", "not finite"]);
    assert!(state(&sim, s)[0].is_finite());
    Ok(())
}
