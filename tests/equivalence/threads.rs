//! The same bits on any number of threads, by way of the path that several threads share: a test that never enters it proves nothing.

use super::cubes;
use super::scene::Fallible;
use drystone::algebra::pieces::{Part, shares};
use drystone::assembly::problem::Solver;
use drystone::geometry::Shape;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::scheme::Scheme;
use drystone::numerics::mixed::*;
use drystone::numerics::{residual, sweep::*};
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

/// Cubes in a row that is pushed together: two colours of thousands of contacts.
fn row_of_cubes(n: usize) -> MixedProblem {
    cubes::column(n, |i| {
        let jitter = (i as f64 * 0.618_033_988_749).fract() - 0.5;
        Twist { linear: DVec3::new(jitter, 0.3 * jitter, 0.2 * jitter - 0.05), angular: DVec3::Y * jitter }
    })
}

/// Balls in a row: the kernel of contacts whose arms lie along the normals.
fn row_of_balls(n: usize) -> MixedProblem {
    let mut p = row_of_cubes(n);
    let cubes = std::mem::take(&mut p.contacts);
    p.clear_rows();
    for (k, contact) in cubes.iter().step_by(4).enumerate() {
        let (arm1, arm2) = (-0.5 * DVec3::Z, 0.5 * DVec3::Z);
        p.push_group([Contact { arm1, arm2, ..*contact }]);
        if k + 1 == n.div_ceil(2) {
            p.close_colour();
        }
    }
    p.close_colour();
    p.prepare().expect("a legal problem");
    p
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

#[test]
fn shared_sweeps_and_sums_give_the_bits_of_one_thread() {
    let rough = |mut p: MixedProblem| {
        p.contacts.iter_mut().for_each(|c| c.mu = 10.0);
        p.prepare().expect("a legal problem");
        p
    };
    let (cubes, balls) = (row_of_cubes(3000), row_of_balls(6000));
    for (name, p) in [("rough cubes", rough(cubes.clone())), ("rough balls", rough(balls.clone())), ("cubes", cubes), ("balls", balls)] {
        let solve = |threads: usize| {
            on(threads, || {
                let (mut answer, mut work) = (Answer::default(), Workspace::default());
                answer.reactions.contacts.resize(p.contacts.len(), DVec3::ZERO);
                let report = GaussSeidel { tolerance: 1e-12, max_sweeps: 40, ..GaussSeidel::default() }.solve(&p, &mut answer, &mut work);
                let sweeps = if threads == 1 { 0 } else { report.iterations as u64 };
                assert_eq!(work.parallel_sweeps(), sweeps, "{name}: sweeps that {threads} threads shared");
                assert_eq!(residual::is_parallel(&p), threads > 1, "{name}: the sums of {threads} threads");
                (answer.reactions, answer.velocities, report.e_s.to_bits(), report.rel.to_bits())
            })
        };
        let one = solve(1);
        assert!(one.0.contacts.iter().filter(|r| r.x > 0.0).count() > 1000, "{name}");
        for threads in [2, 8] {
            assert!(one == solve(threads), "{name}: {threads} threads differ from one");
        }
    }
}

/// How often each part of a step has been shared on this thread.
fn shared() -> [u64; Part::ALL.len()] {
    Part::ALL.map(shares)
}

/// Hash after some steps, how many sweeps were shared, and each part of the step.
type Found = (u64, u64, [u64; Part::ALL.len()]);

fn run(mut sim: Simulation, steps: usize) -> Result<Found, String> {
    let before = shared();
    for _ in 0..steps {
        sim.step().map_err(|e| e.to_string())?;
    }
    let sweeps = sim.world().resource::<Solver>().workspace.parallel_sweeps();
    let after = shared();
    Ok((sim.state_hash(), sweeps, std::array::from_fn(|k| after[k] - before[k])))
}

/// A block of balls that presses on a floor, or falls onto it from so high (m) and bounces.
fn block_of_balls(threads: usize, (e_n, drop): (f64, f64), steps: usize) -> Fallible<Found> {
    on(threads, || -> Result<_, String> {
        let text = |e: drystone::simulation::SimulationError| e.to_string();
        let mut sim = Simulation::new(Scheme { time_step: 2e-3, ..Scheme::default() }).map_err(text)?;
        sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.3, e_n, ..CoulombImpact::default() })).map_err(text)?;
        sim.solver_mut().tolerance = 1e-3;
        let floor = Shape::half_space(DVec3::Z).map_err(|e| e.to_string())?;
        sim.spawn_body(Body::new(floor).fixed()).map_err(text)?;
        for k in 0..17 * 17 * 17 {
            let cell = DVec3::new((k % 17) as f64, (k / 17 % 17) as f64, (k / 289) as f64);
            let ball = Shape::ball(0.05).map_err(|e| e.to_string())?;
            let shift = DVec3::new(1e-4 * ((k * 7) % 5) as f64, 1e-4 * ((k * 3) % 4) as f64, 0.05 + drop);
            sim.spawn_body(Body::new(ball).at(0.0999 * cell + shift)).map_err(text)?;
        }
        run(sim, steps)
    })
    .map_err(Into::into)
}

/// A wall of 615 blocks: contacts of faces, many to a pair.
fn wall(threads: usize) -> Fallible<Found> {
    on(threads, || -> Result<_, String> {
        let scene = drystone::scenes::load("block_wall", &[("columns", "20"), ("rows", "30")]).map_err(|e| e.to_string())?;
        run(drystone::scenes::build(&scene).map_err(|e| e.to_string())?.simulation, 6)
    })
    .map_err(Into::into)
}

#[test]
fn a_simulation_that_shares_every_part_of_a_step_has_one_hash() -> Fallible {
    let still = |threads| block_of_balls(threads, (0.0, 0.0), 4);
    let (one, sweeps, alone) = still(1)?;
    assert_eq!((sweeps, alone), (0, [0; Part::ALL.len()]), "one thread has nobody to share with");
    for threads in [2, 8] {
        let (hash, sweeps, parts) = still(threads)?;
        assert!(sweeps > 10, "{threads} threads shared {sweeps} sweeps");
        for (part, count) in Part::ALL.iter().zip(parts) {
            assert!(count >= 3, "{threads} threads shared {part:?} {count} times");
        }
        assert_eq!(hash, one, "{threads} threads");
    }
    Ok(())
}

#[test]
fn rebounds_and_patches_have_one_hash_too() -> Fallible {
    let balls = |threads| block_of_balls(threads, (0.5, 1e-3), 12);
    let scenes: [(&str, &dyn Fn(usize) -> Fallible<Found>); 2] = [("balls that bounce", &balls), ("a wall", &wall)];
    for (name, scene) in scenes {
        let (one, ..) = scene(1)?;
        for threads in [2, 8] {
            let (hash, _, parts) = scene(threads)?;
            let assembled = Part::ALL.iter().zip(parts).find(|(part, _)| **part == Part::Assemble);
            assert!(assembled.is_some_and(|(_, count)| count >= 6), "{name}: {threads} threads shared {assembled:?}");
            assert_eq!(hash, one, "{name}, {threads} threads");
        }
    }
    Ok(())
}
