//! General systems: the shortcuts of the engine change no result, work is accounted for, runs can be taken up again.

use drystone::cluster::Signal;
use drystone::model::dynamical_system::{FirstOrder, Frame, Lagrangian, NewtonEuler, Prescribed};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::newton_euler::BodyPose;
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, FirstOrderNonlinear, LagrangianLinear, LagrangianNonlinear};
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Event, Simulation, SimulationError};
use glam::DVec3;

type Fallible = Result<(), SimulationError>;

/// Runs, and returns the rows of the first trace.
fn rows(sim: &mut Simulation, steps: u64) -> Result<Vec<Vec<f64>>, SimulationError> {
    let report = sim.advance(steps)?;
    assert!(report.converged, "{report:?}");
    Ok(sim.trace(0).expect("a trace").rows().map(<[f64]>::to_vec).collect())
}

fn largest_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().flatten().zip(b.iter().flatten()).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}

/// An elastic bar of n masses that hits a wall; its far end may be moved.
fn bar(n: usize, sparse: bool, integrator: Integrator, moved: bool) -> Result<Vec<Vec<f64>>, SimulationError> {
    let (mass, k) = (0.02, 4e4);
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, if i == 0 || i + 1 == n { k } else { 2.0 * k }));
        if i > 0 {
            entries.extend([(i, i - 1, -k), (i - 1, i, -k)]);
        }
    }
    let dense = |entries: &[(usize, usize, f64)]| {
        let mut a = vec![0.0; n * n];
        entries.iter().for_each(|&(i, j, x)| a[i * n + j] += x);
        a
    };
    let damping: Vec<_> = entries.iter().map(|&(i, j, x)| (i, j, 1e-5 * x)).collect();
    let masses: Vec<_> = (0..n).map(|i| (i, i, mass)).collect();
    let form = |entries: &Vec<_>| if sparse { Operator::Sparse(entries.clone()) } else { Operator::Constant(dense(entries)) };
    let mut bar =
        Lagrangian::new(form(&masses)).at(vec![1e-3; n]).moving(vec![-1.0; n]).with_stiffness(form(&entries)).with_damping(form(&damping));
    bar = bar.with_force(Operator::function(|at, f| f.iter_mut().for_each(|f| *f = (300.0 * at.t).sin())));
    if moved {
        bar = bar.with_prescribed(n - 1, Prescribed::Harmonic { a: 0.0, b: -1.0, omega: 200.0, phi: 0.0 });
    }
    let mut sim = Simulation::with_time_step(2e-5)?;
    let bar = sim.spawn_system(bar, integrator)?;
    let mut h = vec![0.0; n];
    h[0] = 1.0;
    let wall = sim.spawn_interaction(Interaction::new([bar], LagrangianLinear::new(h, [0.0]), Law::NewtonImpact { e: 0.0 }))?;
    let mut signals = vec![Signal::State(bar, 0), Signal::Velocity(bar, n / 2), Signal::Multiplier(wall, 0)];
    if moved {
        signals.push(Signal::Reaction(bar, 0));
    }
    sim.record(1, signals);
    rows(&mut sim, 400)
}

#[test]
fn a_large_sparse_system_moves_as_its_full_matrices_say() -> Fallible {
    for theta in [0.5, 1.0] {
        for moved in [false, true] {
            let integrator = Integrator::MoreauJean { theta, gamma: 0.5, projection: Projection::None };
            let (full, sparse) = (bar(90, false, integrator, moved)?, bar(90, true, integrator, moved)?);
            assert!(full.iter().any(|row| row[2] > 1e-4), "the bar never touches the wall");
            let worst = largest_difference(&full, &sparse);
            assert!(worst < 1e-11, "theta {theta}, moved {moved}: {worst:e}");
        }
    }
    Ok(())
}

#[test]
fn a_large_first_order_system_moves_as_its_full_matrices_say() -> Fallible {
    let n = 80;
    let run = |sparse: bool| {
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, -2.0));
            if i > 0 {
                entries.extend([(i, i - 1, 1.3), (i - 1, i, 0.7)]);
            }
        }
        let mut full = vec![0.0; n * n];
        entries.iter().for_each(|&(i, j, x): &(usize, usize, f64)| full[i * n + j] += x);
        let a = if sparse { Operator::Sparse(entries) } else { Operator::Constant(full) };
        let mut sim = Simulation::with_time_step(0.02)?;
        let heat = FirstOrder::linear(a, vec![0.3; n]).with_input(Operator::function(|at, b| b[0] = at.t.cos()));
        let heat = sim.spawn_system(heat, Integrator::EulerMoreau { theta: 0.5, gamma: 0.7 })?;
        let (mut c, mut b) = (vec![0.0; n], vec![0.0; n]);
        (c[5], b[5]) = (1.0, 3.0);
        let relay =
            sim.spawn_interaction(Interaction::new([heat], FirstOrderLinear::new(1, c, b), Law::Relay { lower: -1.0, upper: 1.0 }))?;
        sim.record(1, [Signal::State(heat, 4), Signal::State(heat, 70), Signal::Multiplier(relay, 0)]);
        rows(&mut sim, 300)
    };
    let worst = largest_difference(&run(false)?, &run(true)?);
    assert!(worst < 1e-11, "{worst:e}");
    Ok(())
}

/// Two masses on springs between walls, rough and smooth; with functions in the place of constants the Newton loop runs.
fn oscillators(as_functions: bool, theta: f64) -> Result<Vec<Vec<f64>>, SimulationError> {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let integrator = Integrator::MoreauJean { theta, gamma: 0.5, projection: Projection::None };
    let (m, c, k) = ([2.0, 0.3, 0.3, 1.0], [0.4, 0.1, 0.1, 0.2], [50.0, -3.0, -3.0, 30.0]);
    let mut first =
        Lagrangian::new(m).at([0.1, 0.05]).moving([1.0, -0.5]).with_force(Operator::function(|at, f| f[0] = (7.0 * at.t).sin()));
    if as_functions {
        let spring = move |at: &drystone::model::operator::At, f: &mut [f64]| {
            (0..2).for_each(|i| f[i] = (0..2).map(|j| c[2 * i + j] * at.v[j] + k[2 * i + j] * at.q[j]).sum());
        };
        first.mass = Operator::function(move |_, out| out.copy_from_slice(&m));
        first = first.with_internal(Operator::function(spring));
    } else {
        first = first.with_damping(c).with_stiffness(k);
    }
    let first = sim.spawn_system(first, integrator)?;
    let second = sim.spawn_system(Lagrangian::new([1.5]).at([0.3]).moving([-0.2]).with_stiffness([20.0]), integrator)?;
    let link = |sim: &mut Simulation, systems: &[_], h: Vec<f64>, e: Vec<f64>, law: Law| {
        if !as_functions {
            return sim.spawn_interaction(Interaction::new(systems, LagrangianLinear::new(h, e), law));
        }
        let rows = e.len();
        let n = h.len() / rows;
        let output =
            Operator::function(move |at, y| (0..rows).for_each(|i| y[i] = e[i] + (0..n).map(|j| h[i * n + j] * at.q[j]).sum::<f64>()));
        sim.spawn_interaction(Interaction::new(systems, LagrangianNonlinear::new(rows, output), law))
    };
    let rough = Law::CoulombImpact(CoulombImpact { mu: 0.4, e_n: 0.5, e_t: 0.1, ..CoulombImpact::default() });
    let wall = link(&mut sim, &[first], vec![1.0, 0.0, 0.0, 1.0], vec![0.05, 0.0], rough)?;
    let meet = link(&mut sim, &[first, second], vec![0.0, -1.0, 1.0], vec![-0.1], Law::NewtonImpact { e: 0.8 })?;
    sim.record(
        1,
        [
            Signal::State(first, 0),
            Signal::State(first, 1),
            Signal::State(second, 0),
            Signal::Multiplier(wall, 0),
            Signal::Multiplier(meet, 0),
        ],
    );
    rows(&mut sim, 3000)
}

#[test]
fn what_is_multiplied_out_moves_as_the_newton_loop_says() -> Fallible {
    for theta in [0.5, 0.8] {
        let (linear, newton) = (oscillators(false, theta)?, oscillators(true, theta)?);
        assert!(linear.iter().any(|row| row[3] > 1e-3) && linear.iter().any(|row| row[4] > 1e-3), "nothing touches");
        let worst = largest_difference(&linear, &newton);
        assert!(worst < 1e-8, "theta {theta}: {worst:e}");
    }
    let circuit = |as_functions: bool| {
        let mut sim = Simulation::with_time_step(1e-3)?;
        let a = [-1.0, 2.0, -3.0, -0.5];
        let plant = if as_functions {
            FirstOrder::nonlinear(
                Operator::function(move |at, f| (0..2).for_each(|i| f[i] = a[2 * i] * at.x[0] + a[2 * i + 1] * at.x[1])),
                [1.0, 0.5],
            )
        } else {
            FirstOrder::linear(a, [1.0, 0.5])
        };
        let plant = sim.spawn_system(plant, Integrator::EulerMoreau { theta: 0.6, gamma: 0.8 })?;
        let law = Law::MixedComplementarity { equalities: 1 };
        let link = if as_functions {
            let h = Operator::function(|at, y| (y[0], y[1]) = (at.x[0] + at.lambda[0] - at.lambda[1], at.x[1] + 0.2 + 0.5 * at.lambda[1]));
            let g = Operator::function(|at, r| (r[0], r[1]) = (-at.lambda[0], 2.0 * at.lambda[1]));
            Interaction::new([plant], FirstOrderNonlinear::new(2, h, g), law)
        } else {
            let relation = FirstOrderLinear::new(2, [1.0, 0.0, 0.0, 1.0], [-1.0, 0.0, 0.0, 2.0]);
            Interaction::new([plant], relation.with_d([1.0, -1.0, 0.0, 0.5]).with_e([0.0, 0.2]), law)
        };
        let link = sim.spawn_interaction(link)?;
        sim.record(
            1,
            [
                Signal::State(plant, 0),
                Signal::State(plant, 1),
                Signal::Multiplier(link, 0),
                Signal::Multiplier(link, 1),
                Signal::Output(link, 1),
            ],
        );
        rows(&mut sim, 4000)
    };
    let (linear, newton) = (circuit(false)?, circuit(true)?);
    assert!(linear.iter().any(|row| row[3] > 0.01), "the complementarity never acts");
    let worst = largest_difference(&linear, &newton);
    assert!(worst < 1e-8, "{worst:e}");
    Ok(())
}

#[test]
fn impacts_take_the_work_that_the_energy_loses() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let ball = sim.spawn_system(Lagrangian::new([2.0]).at([1.0]).with_force([-19.62]), Integrator::MOREAU_JEAN)?;
    sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.6 }))?;
    let energy = |sim: &Simulation| {
        let ball = sim.world().get::<Lagrangian>(ball).expect("alive");
        ball.v[0] * ball.v[0] + 19.62 * ball.q[0]
    };
    let before = energy(&sim);
    let report = sim.advance(1500)?;
    let lost = energy(&sim) - before;
    assert!(lost < -10.0 && (lost - report.systems.contact_work).abs() < 1e-11, "{lost} against {}", report.systems.contact_work);
    Ok(())
}

#[test]
fn a_run_that_is_taken_up_again_ends_with_the_same_bits() -> Fallible {
    let build = || {
        let mut sim = Simulation::with_time_step(1e-3)?;
        for integrator in [
            Integrator::MOREAU_JEAN,
            Integrator::SchatzmanPaoli { theta: 0.5 },
            Integrator::Modal { gamma: 0.5 },
            Integrator::D1Minus { tolerance: 1e-8 },
        ] {
            let ball = Lagrangian::new([1.0]).at([0.2]).with_force([-9.81]).with_stiffness([3.0]);
            let ball = sim.spawn_system(ball, integrator)?;
            sim.spawn_interaction(Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.7 }))?;
        }
        let swing = Operator::function(|at, f| f[0] = 9.81 * at.q[0].sin());
        sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_internal(swing), Integrator::MOREAU_JEAN)?;
        let lc =
            sim.spawn_system(FirstOrder::linear([0.0, -10.0, 10.0, 0.0], [1.0, 0.0]), Integrator::EulerMoreau { theta: 0.5, gamma: 0.6 })?;
        sim.spawn_interaction(Interaction::new(
            [lc],
            FirstOrderLinear::new(1, [-1.0, 0.0], [-3.0, 0.0]).with_d([0.5]),
            Law::Complementarity,
        ))?;
        Ok::<_, SimulationError>(sim)
    };
    let mut straight = build()?;
    straight.advance(700)?;
    let saved = straight.save(&[]);
    straight.advance(800)?;
    let mut again = build()?;
    again.restore(&saved, &[])?;
    again.advance(800)?;
    assert_eq!(again.state_hash(), straight.state_hash());
    let mut stepped = build()?;
    for _ in 0..1500 {
        stepped.step()?;
    }
    assert_eq!(stepped.state_hash(), straight.state_hash());
    Ok(())
}

#[test]
fn a_body_that_is_born_among_systems_falls() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    sim.spawn_system(Lagrangian::new([1.0]).at([0.0]).moving([1.0]), Integrator::MOREAU_JEAN)?;
    let body = sim.reserve();
    sim.at(0.5, Event::Appear(body, Box::new(Body::point(1.0, glam::DVec3::ONE))))?;
    sim.run_until(1.0)?;
    let z = sim.world().get::<BodyPose>(body).expect("born").0.position.z;
    assert!((z + 0.5 * 9.81 * 0.25).abs() < 5e-3, "{z}");
    Ok(())
}

#[test]
fn modes_of_any_damping_follow_their_exact_solution() -> Fallible {
    let (h, steps) = (1e-3, 500);
    // stiff, soft, overdamped, strongly so, without stiffness, free
    for (c, k) in [(0.1, 4e4), (0.0, 0.01), (300.0, 100.0), (1e4, 5.0), (2.0, 0.0), (0.0, 0.0)] {
        let mut sim = Simulation::with_time_step(h)?;
        let mode = Lagrangian::new([1.0]).at([0.2]).moving([1.0]).with_damping([c]).with_stiffness([k]).with_force([3.0]);
        let mode = sim.spawn_system(mode, Integrator::Modal { gamma: 0.5 })?;
        sim.advance(steps)?;
        let q = sim.world().get::<Lagrangian>(mode).expect("alive").q[0];
        let (e, psi) = drystone::algebra::exponential::held(&[0.0, 1.0, -k, -c], 2, h * steps as f64);
        let exact = e[0] * 0.2 + e[1] + psi[1] * 3.0;
        assert!((q - exact).abs() < 1e-9 * (1.0 + exact.abs()), "c = {c}, k = {k}: {q} against {exact}");
    }
    let mut sim = Simulation::with_time_step(h)?;
    sim.spawn_system(Lagrangian::new([1.0]).at([0.0]).moving([1.0]).with_damping([1e5]), Integrator::Modal { gamma: 0.5 })?;
    let message = sim.step().map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("a shorter time step is needed"), "{message}");
    Ok(())
}

#[test]
fn a_mass_that_rests_on_an_accelerated_table_weighs_more() -> Fallible {
    // y = q − ½ a t² under D1-minus: λ = m (g + a)
    let mut sim = Simulation::with_time_step(1e-3)?;
    let mass = sim.spawn_system(Lagrangian::new([2.0]).at([0.0]).with_force([-19.62]), Integrator::D1Minus { tolerance: 1e-8 })?;
    let table = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0] - 1.5 * at.t * at.t))
        .with_jacobian([1.0])
        .with_rate(Operator::function(|at, rate| rate[0] = -3.0 * at.t));
    let table = sim.spawn_interaction(Interaction::new([mass], table, Law::NewtonImpact { e: 0.0 }))?;
    sim.advance(400)?;
    let force = sim.world().get::<Interaction>(table).expect("alive").force[0];
    assert!((force - 2.0 * (9.81 + 3.0)).abs() < 1e-6, "{force}");
    let q = sim.world().get::<Lagrangian>(mass).expect("alive").q[0];
    assert!((q - 1.5 * 0.16).abs() < 1e-6, "{q}");
    Ok(())
}

#[test]
fn a_law_on_y_holds_at_the_end_of_the_step_even_where_y_is_curved() -> Fallible {
    let mut sim = Simulation::with_time_step(0.1)?;
    let mass =
        sim.spawn_system(Lagrangian::new(Operator::Diagonal(vec![1.0; 2])).at([0.0, 0.0]).moving([10.0, 3.0]), Integrator::MOREAU_JEAN)?;
    let cage = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = 1.0 - at.q[0] * at.q[0] - at.q[1] * at.q[1]));
    let cage = sim.spawn_interaction(Interaction::new([mass], cage, Law::Complementarity))?;
    for _ in 0..20 {
        let report = sim.step()?;
        assert!(report.converged, "{report:?}");
        let y = sim.world().get::<Interaction>(cage).expect("alive").y[0];
        assert!(y > -1e-9, "{y}");
    }
    Ok(())
}

#[test]
fn a_stiff_spring_on_a_rigid_body_converges() -> Fallible {
    let mut sim = Simulation::with_time_step(2e-3)?;
    let spring = Operator::function(|at, f| (0..3).for_each(|i| f[i] = -1e6 * at.q[i]));
    let body = NewtonEuler::new(1.0, DVec3::splat(0.1)).at(DVec3::X * 0.01).with_force(spring, Frame::Inertial);
    let integrator = Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Projection::None };
    let body = sim.spawn_system(body, integrator)?;
    let report = sim.advance(200)?;
    assert!(report.converged && report.systems.newton_iterations <= 5, "{report:?}");
    assert!(sim.world().get::<BodyPose>(body).expect("alive").0.position.x.abs() < 1e-6);
    Ok(())
}

#[test]
fn a_system_may_be_moved_and_relinked_between_steps() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let scheme = Integrator::SchatzmanPaoli { theta: 0.5 };
    let ball = |sim: &mut Simulation| sim.spawn_system(Lagrangian::new([1.0]).at([1.0]).with_force([-9.81]), scheme);
    let (first, second) = (ball(&mut sim)?, ball(&mut sim)?);
    let floor = sim.spawn_interaction(Interaction::new([first], LagrangianLinear::new([1.0], [-0.5]), Law::NewtonImpact { e: 0.0 }))?;
    sim.advance(100)?;
    // put back, at rest: it must not be thrown by the jump
    let mut system = sim.world_mut().get_mut::<Lagrangian>(first).expect("alive");
    (system.q[0], system.v[0]) = (2.0, 0.0);
    sim.advance(1)?;
    assert!((sim.world().get::<Lagrangian>(first).expect("alive").q[0] - 2.0).abs() < 1e-4);
    // the floor now holds the other ball, and its multiplier is lost
    let mut link = sim.world_mut().get_mut::<Interaction>(floor).expect("alive");
    link.systems = vec![second];
    link.lambda.clear();
    sim.advance(2000)?;
    let height = |e| sim.world().get::<Lagrangian>(e).expect("alive").q[0];
    assert!((height(second) - 0.5).abs() < 1e-3 && height(first) < -1.0, "{} {}", height(second), height(first));
    Ok(())
}

#[test]
fn sampled_actions_keep_their_period_when_the_step_changes() -> Fallible {
    let mut sim = Simulation::with_time_step(1e-3)?;
    let times = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = times.clone();
    sim.every(0.01, move |t, _| kept.lock().expect("alone").push(t))?;
    sim.advance(15)?;
    sim.set_scheme(Scheme { time_step: 5e-4, ..*sim.scheme() })?;
    sim.advance(40)?;
    let times = times.lock().expect("alone").clone();
    assert!(times.iter().zip([0.0, 0.01, 0.02, 0.03]).all(|(a, b)| (a - b).abs() < 1e-12) && times.len() == 4, "{times:?}");
    assert!(sim.set_scheme(Scheme { time_step: 3e-3, ..*sim.scheme() }).is_err());
    Ok(())
}
