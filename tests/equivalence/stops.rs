//! A step that is stopped while it is solved has not been.

use bevy_ecs::prelude::{Entity, With};
use drystone::geometry::Shape;
use drystone::io::scene::{Scene, SceneSource};
use drystone::model::contact::Manifold;
use drystone::model::scheme::Scheme;
use drystone::scenes::{Built, build};
use drystone::simulation::{Body, Simulation, SimulationError};
use drystone::topology::bodies::Slot;
use glam::DVec3;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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
    /// In the solver: a load sets it when it is asked so many times in the step; more than once it is where the step is solved in parts.
    Late(u32),
}

/// Steps to the end; with a flag each step is tried with the flag set first. The hash, and how many steps were stopped.
fn run(scene: &Scene, flag: Option<(&'static AtomicBool, Heard)>) -> Fallible<(u64, u64)> {
    let armed = Arc::new(AtomicU32::new(0));
    let start = || -> Fallible<Built> {
        let mut built = build(scene)?;
        let Some((flag, heard)) = flag else { return Ok(built) };
        built.simulation.set_stop(flag);
        if heard != Heard::Early {
            let armed = armed.clone();
            built.simulation.add_load(move |_, _| {
                let left = armed.load(Ordering::Relaxed);
                armed.store(left.saturating_sub(1), Ordering::Relaxed);
                if left == 1 {
                    flag.store(true, Ordering::Relaxed);
                }
            });
        }
        Ok(built)
    };
    let Built { mut simulation, mut entities, .. } = start()?;
    let mut stopped = 0;
    while simulation.time() < scene.time.end - 1e-9 {
        if let Some((flag, heard)) = flag {
            let (hash, steps, bodies) = (simulation.state_hash(), simulation.steps(), bodies_of(&mut simulation));
            match heard {
                Heard::Early => flag.store(true, Ordering::Relaxed),
                Heard::Late(times) => armed.store(times, Ordering::Relaxed),
            }
            let tried = simulation.step();
            armed.store(0, Ordering::Relaxed);
            flag.store(false, Ordering::Relaxed);
            match tried {
                Err(SimulationError::Stopped { .. }) => {
                    stopped += 1;
                    assert_eq!(simulation.steps(), steps, "{}", scene.name);
                    let moved = bodies_of(&mut simulation) != bodies;
                    assert!(moved || simulation.state_hash() == hash, "{}", scene.name);
                    // also as a saved state, where bodies have come or gone
                    if moved || stopped % 16 == 1 {
                        let saved = simulation.save(&entities);
                        Built { simulation, entities, .. } = start()?;
                        simulation.restore(&saved, &entities)?;
                    }
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

/// The bodies that there are.
fn bodies_of(simulation: &mut Simulation) -> Vec<Entity> {
    let world = simulation.world_mut();
    world.query_filtered::<Entity, With<Slot>>().iter(world).collect()
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
        for heard in [Heard::Early, Heard::Late(1)] {
            let (broken, stopped) = run(&scene, Some((&FLAG, heard)))?;
            assert!(stopped >= least, "{name}: {stopped} steps were stopped");
            assert_eq!(broken, straight, "{name} {set:?}, {stopped} steps stopped");
        }
    }
    Ok(())
}

/// Blows, changes of gravity, bodies that come and go, steps that choose their length and steps in parts were finished, however long they took.
#[test]
fn every_step_of_a_scene_can_be_stopped() -> Fallible {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let events = "gravity = [{ from = 0, acceleration = [0, 0, -9.81] }, { from = 0.02, acceleration = [3, 0, -9] }]
        time = { step = \"1 ms\", end = 0.05 }
        [[bodies]]
        name = \"floor\"
        shape = { kind = \"half_space\" }
        motion = \"static\"
        [[bodies]]
        name = \"ball\"
        shape = { kind = \"ball\", radius = 0.05 }
        position = [0, 0, 0.05]
        impulses = [{ time = 0, linear = [1, 0, 0.1] }, { time = 0.01, linear = [0, 1, 0.2] }]
        [[bodies]]
        name = \"late\"
        shape = { kind = \"ball\", radius = 0.05 }
        position = [0, 0, 0.2]
        birth = 0.015
        death = 0.04
        [[inlet]]
        box = [[-0.1, -0.1, 0.3], [0.1, 0.1, 0.5]]
        rate = \"20 kg/s\"
        count = 50
        radius = [0.01, 0.02]
        velocity = [0, 0, -5]
        [[outlet]]
        plane = { point = [0, 0, 0.15] }
        ";
    let mut chain = "time = { step = \"1 ms\", end = 0.03 }\n".to_owned();
    for i in 0..4 {
        let (at, blow) = (0.4 * i as f64, if i == 3 { "impulses = [{ time = 0, linear = [0, 0, 400] }]\n" } else { "" });
        chain += &format!(
            "[[bodies]]\nname = \"link{i}\"\nshape = {{ kind = \"cuboid\", size = [0.3, 0.1, 0.1] }}\nposition = [{at}, 0, 0]\n{blow}"
        );
    }
    for i in 0..3 {
        let (at, next) = (0.4 * i as f64 + 0.2, i + 1);
        chain += &format!("[[joints]]\nbody1 = \"link{i}\"\nbody2 = \"link{next}\"\nanchor = [{at}, 0, 0]\n");
    }
    let auto = events.replace("\"1 ms\"", "\"auto\"");
    for (name, text, once, parts) in [("events", events, 50, 0), ("auto", &auto, 50, 0), ("chain", &chain, 30, 10)] {
        let scene = Scene::from_toml(text, name)?;
        let (straight, _) = run(&scene, None)?;
        for (heard, least) in [(Heard::Early, once), (Heard::Late(1), once), (Heard::Late(2), parts), (Heard::Late(3), parts)] {
            let (broken, stopped) = run(&scene, Some((&FLAG, heard)))?;
            assert!(stopped >= least, "{name}: {stopped} steps were stopped");
            assert_eq!(broken, straight, "{name}, {stopped} steps stopped");
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
