//! A step that is stopped while it is solved has not been.

use drystone::geometry::Shape;
use drystone::io::scene::{Scene, SceneSource};
use drystone::model::contact::Manifold;
use drystone::model::scheme::Scheme;
use drystone::scenes::{Built, build};
use drystone::simulation::{Body, Simulation, SimulationError};
use glam::DVec3;
use std::sync::atomic::{AtomicBool, Ordering};

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn scene(name: &str, set: &[(&str, &str)], end: f64) -> Fallible<Scene> {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut scene = Scene::load(&SceneSource::new(name), &set)?;
    scene.time.end = end;
    Ok(scene)
}

/// Where a step meets the flag.
#[derive(Clone, Copy, PartialEq)]
enum Heard {
    /// In detection: it is set before the step.
    Early,
    /// In the solver: a load sets it.
    Late,
}

/// Steps to the end; with a flag each step is tried with the flag set first. The hash, and how many steps were stopped.
fn run(scene: &Scene, flag: Option<(&'static AtomicBool, Heard)>) -> Fallible<(u64, u64)> {
    static ARMED: AtomicBool = AtomicBool::new(false);
    let Built { mut simulation, .. } = build(scene)?;
    let mut stopped = 0;
    if let Some((flag, heard)) = flag {
        simulation.set_stop(flag);
        if heard == Heard::Late {
            simulation.add_load(|_, _| {
                if ARMED.load(Ordering::Relaxed) {
                    flag.store(true, Ordering::Relaxed);
                }
            });
        }
    }
    while simulation.time() < scene.time.end - 1e-9 {
        if let Some((flag, heard)) = flag {
            let (hash, steps) = (simulation.state_hash(), simulation.steps());
            if heard == Heard::Early { flag } else { &ARMED }.store(true, Ordering::Relaxed);
            let tried = simulation.step();
            ARMED.store(false, Ordering::Relaxed);
            flag.store(false, Ordering::Relaxed);
            match tried {
                Err(SimulationError::Stopped { .. }) => {
                    stopped += 1;
                    assert_eq!((simulation.state_hash(), simulation.steps()), (hash, steps), "{}", scene.name);
                }
                found => {
                    found?;
                    continue;
                }
            }
        }
        simulation.step()?;
    }
    Ok((simulation.state_hash(), stopped))
}

/// Friction, restitution over two steps, rolling, walls that are polished, joints, driven bodies, bonds, servos, sheared cells: the run goes on
/// with the same bits.
#[test]
fn a_step_that_is_stopped_leaves_no_trace() -> Fallible {
    static FLAG: AtomicBool = AtomicBool::new(false);
    for (name, set, end, least) in [
        ("bead_pour", &[("n", "5")][..], 0.3, 100),
        ("bead_pour", &[("n", "4"), ("contact.e_n", "0.5"), ("contact.mu_r", "0.1")], 0.3, 100),
        ("block_wall", &[("columns", "4"), ("rows", "5")], 0.3, 100),
        ("door", &[("torque", "60")], 0.5, 100),
        ("granular_gas", &[], 0.05, 0),
        ("drum", &[], 0.05, 10),
        ("vibrated_bed", &[], 0.05, 10),
        ("cohesive_wall", &[], 0.1, 10),
        ("triaxial", &[], 0.03, 10),
        ("simple_shear", &[], 0.03, 10),
    ] {
        let scene = scene(name, set, end)?;
        let (straight, _) = run(&scene, None)?;
        for heard in [Heard::Early, Heard::Late] {
            let (broken, stopped) = run(&scene, Some((&FLAG, heard)))?;
            assert!(stopped >= least, "{name}: {stopped} steps were stopped");
            assert_eq!(broken, straight, "{name} {set:?}, {stopped} steps stopped");
        }
    }
    Ok(())
}

#[test]
fn detection_looks_at_no_pair_more_once_the_flag_is_set() -> Fallible {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let mut sim = Simulation::new(Scheme::default())?;
    sim.set_stop(&FLAG);
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::Z * 0.102).moving(DVec3::NEG_Z))?;
    let gaps = |sim: &mut Simulation| -> Vec<f64> {
        sim.world_mut().query::<&Manifold>().iter(sim.world()).flat_map(|m| m.points.iter().map(|p| p.gap)).collect()
    };
    sim.step()?;
    let seen = gaps(&mut sim);
    FLAG.store(true, Ordering::Relaxed);
    assert!(matches!(sim.step(), Err(SimulationError::Stopped { .. })));
    assert_eq!(gaps(&mut sim), seen, "the ball has fallen since");
    FLAG.store(false, Ordering::Relaxed);
    sim.step()?;
    assert!(seen.len() == 1 && gaps(&mut sim)[0] < seen[0] - 5e-4, "{seen:?}");
    Ok(())
}
