//! Locked axes: joints and contacts along them have rows that nothing can move, and run all the same.
#![cfg(feature = "simulation")]
#![allow(clippy::unwrap_used, reason = "a scene that cannot be built has failed")]

use drystone::assembly::problem::StepProblem;
use drystone::diagnostics::summary::Summary;
use drystone::io::scene::{Scene, SceneSource};
use drystone::scenes::{Built, run};
use glam::DVec3;

fn probe(name: &str) -> Scene {
    let path = format!("{}/tests/probes/scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    Scene::load(&SceneSource::new(&path), &[]).unwrap()
}

fn written(text: &str) -> (Built, Summary) {
    run(&Scene::from_toml(text, "t").unwrap()).unwrap()
}

fn position(built: &Built, body: usize) -> DVec3 {
    let pose = built.simulation.world().get::<drystone::model::newton_euler::BodyPose>(built.entities[body]);
    pose.unwrap().0.position
}

#[test]
fn a_joint_along_a_locked_axis_is_a_pendulum_in_its_plane() {
    let (built, summary) = run(&probe("joint_locked")).unwrap();
    assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0));
    let x = position(&built, 0);
    assert!((x.length() - 1.0).abs() < 1e-6 && x.y == 0.0, "{x}");
    // a ball on a rod of 1 m that starts level: ½ I ω² = m g z
    let speed = summary.speed_max;
    let inertia = 1.0 + 0.4 * 0.01;
    // the implicit step is half a step ahead
    let z = -x.z - 0.5 * 1e-3 * speed;
    assert!((0.5 * inertia * speed * speed - 9.81 * z).abs() < 1e-4, "{z} {speed}");
}

#[test]
fn joints_whose_rows_follow_from_each_other_keep_the_motion_that_is_left() {
    for (locks, rests) in
        [("locked_translation=[\"x\",\"y\",\"z\"]\nlocked_rotation=[\"x\",\"z\"]", true), ("locked_rotation=[\"x\",\"y\",\"z\"]", true)]
    {
        let text = format!(
            "time={{step=\"1 ms\",end=0.2}}\n[[bodies]]\nname=\"b\"\nshape={{kind=\"ball\",radius=0.1}}\n{locks}\n[[joints]]\nbody1=\"b\"\nanchor=[0.3,0,0.4]\n"
        );
        let (built, summary) = written(&text);
        assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0), "{locks}");
        assert!(!rests || position(&built, 0).length() < 1e-9, "{locks}: {}", position(&built, 0));
    }
}

#[test]
fn a_wall_along_a_locked_axis_carries_nothing_and_the_floor_everything() {
    for mu in [0.0, 0.3, 1.0] {
        let mut scene = probe("contact_locked");
        scene.pair_laws.clear();
        scene.default_law.mu = mu;
        let (built, summary) = run(&scene).unwrap();
        assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0));
        assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
        assert!((position(&built, 1) - DVec3::Z * 0.1).length() < 1e-9);
        let weight = 4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 2000.0 * 9.81;
        assert!((summary.support_force_N / weight - 1.0).abs() < 1e-9, "mu {mu}: {}", summary.support_force_N);
    }
}

/// A block that can move along x and z only, on a floor that moves along both tangents.
#[test]
fn friction_works_in_the_direction_that_is_free() {
    let text = "time={step=\"1 ms\",end=0.5}\n[contact]\nmu=0.2\n[[bodies]]\nname=\"belt\"\nshape={kind=\"cuboid\",size=[9,9,0.2]}\nposition=[0,0,-0.1]\n\
                motion={kind=\"constant\",velocity=[1,1,0]}\n[[bodies]]\nname=\"s\"\nshape={kind=\"cuboid\",size=[0.2,0.2,0.2]}\nposition=[0,0,0.1]\n\
                locked_translation=[\"y\"]\nlocked_rotation=[\"x\",\"y\",\"z\"]\n";
    let (built, summary) = written(text);
    assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0));
    // friction points along the slip (1 − v, 1): its x part is less than μ g
    let (mut v, mut x, h) = (0.0f64, 0.0, 1e-3);
    for _ in 0..500 {
        // implicit step: v⁺ = v + h μ g (1 − v⁺)/|(1 − v⁺, 1)|
        let mut next = v;
        for _ in 0..50 {
            next = v + h * 0.2 * 9.81 * (1.0 - next) / (1.0 - next).hypot(1.0);
        }
        v = next;
        x += h * v;
    }
    assert!((summary.speed_max - v).abs() < 1e-5 && (position(&built, 1).x - x).abs() < 1e-5, "{} {v}", summary.speed_max);
}

/// Discs that fall into a groove of two planes, in the plane normal to each axis; frames of contacts lie in the plane but for their rounding.
#[test]
fn discs_that_resist_rolling_stay_in_their_plane_to_the_last_bit_and_miss_no_step() {
    for (a, name) in ["x", "y", "z"].into_iter().enumerate() {
        let [b, c] = [(a + 1) % 3, (a + 2) % 3];
        let at = |x: [f64; 3]| {
            let mut v = [0.0; 3];
            (v[a], v[b], v[c]) = (x[0], x[1], x[2]);
            format!("{v:?}")
        };
        let others = ["x", "y", "z"].into_iter().filter(|other| *other != name).collect::<Vec<_>>();
        let mut text = format!(
            "gravity={}\ntime={{step=\"2 ms\",end=0.3}}\nsolver={{tolerance=1e-5}}\n[contact]\nmu=0.5\nmu_r=0.1\nmu_t=0.1\n",
            at([0.0, 0.0, -9.81])
        );
        for side in [-1.0, 1.0] {
            let normal = at([0.0, side, 1.0]);
            text += &format!("[[bodies]]\nname=\"side{side}\"\nshape={{kind=\"half_space\",normal={normal}}}\nmotion=\"static\"\n");
        }
        for k in 0..24 {
            let (row, column) = (f64::from(k / 4), f64::from(k % 4) - 1.5);
            let place = at([0.3, 0.022 * column + 0.001 * row, 0.06 + 0.022 * row]);
            text += &format!(
                "[[bodies]]\nname=\"d{k}\"\nshape={{kind=\"ball\",radius={}}}\nposition={place}\nlocked_translation=[\"{name}\"]\nlocked_rotation={others:?}\n",
                0.009 + 0.0001 * f64::from(k % 7)
            );
        }
        let (built, summary) = written(&text);
        assert_eq!((summary.unconverged_steps, summary.lagged_steps, summary.infeasible_steps), (0, 0, 0), "{name}");
        assert!((2..26).all(|body| position(&built, body)[a] == 0.3), "{name}");
        assert!(summary.contacts > 30, "{}", summary.contacts);
        // a file of the step has them as they were solved
        let (global, _) = built.simulation.world().resource::<StepProblem>().global_with_moments();
        let mass: Vec<f64> = global.mass.diag_iter().map(|m| m.copied().unwrap_or(0.0)).collect();
        assert!(
            mass.chunks_exact(6).all(|m| (m[a] - m[b]).abs() < 1e-12 * m[b] && (m[3 + a] - m[3 + b]).abs() < 1e-12 * m[3 + a]),
            "{mass:?}"
        );
    }
}

#[test]
fn what_locks_hold_against_the_law_is_counted_and_named() {
    // a wall driven into a body that cannot give way; a joint pulled along a locked axis
    let wall = "time={step=\"1 ms\",end=0.1}\ngravity=[0,0,0]\n[[bodies]]\nname=\"stone\"\nshape={kind=\"ball\",radius=0.1}\n\
                locked_translation=[\"y\"]\n[[bodies]]\nname=\"press\"\nshape={kind=\"cuboid\",size=[1,0.1,1]}\nposition=[0,-0.16,0]\n\
                motion={kind=\"constant\",velocity=[0,0.2,0]}\n";
    let pull = "time={step=\"1 ms\",end=0.1}\ngravity=[0,0,0]\n[[bodies]]\nname=\"stone\"\nshape={kind=\"ball\",radius=0.1}\n\
                locked_translation=[\"y\"]\nlocked_rotation=[\"x\",\"y\",\"z\"]\n[[bodies]]\nname=\"press\"\n\
                shape={kind=\"cuboid\",size=[1,0.1,1]}\nposition=[0,0.5,0]\nmotion={kind=\"constant\",velocity=[0,0.2,0]}\n[[joints]]\nbody1=\"stone\"\nbody2=\"press\"\nanchor=[0,0.1,0]\n";
    for (text, from) in [(wall, 50), (pull, 100)] {
        let (built, summary) = written(text);
        assert!(summary.infeasible_steps.abs_diff(from) <= 2, "{}", summary.infeasible_steps);
        let said = summary.warnings.join("\n");
        assert!(said.contains("stone") && said.contains("press") && said.contains("y axis"), "{said}");
        assert_eq!(position(&built, 0).y, 0.0);
    }
}

#[test]
fn the_loop_of_joints_follows_the_tolerance() {
    for name in ["hinge", "rodj"] {
        for tolerance in [1e-3, 1e-4, 1e-6, 1e-8] {
            let mut scene = probe(name);
            scene.solver.tolerance = tolerance;
            let (_, summary) = run(&scene).unwrap();
            assert_eq!(summary.unconverged_steps, 0, "{name} at {tolerance:e}");
        }
    }
}

/// Without contacts the loop goes on to rounding, however loose the tolerance.
#[test]
fn a_pendulum_is_as_exact_at_a_loose_tolerance() {
    let swing = |tolerance: f64| {
        let text = format!(
            "time={{step=\"2 ms\",end=2.0}}\nsolver={{tolerance={tolerance:e}}}\n[[bodies]]\nname=\"b\"\nshape={{kind=\"ball\",radius=0.1}}\n\
             position=[1,0,0]\n[[joints]]\nbody1=\"b\"\nanchor=[0,0,0]\n"
        );
        let (built, summary) = written(&text);
        assert_eq!(summary.unconverged_steps, 0);
        position(&built, 0)
    };
    assert!((swing(1e-3) - swing(1e-12)).length() < 1e-9);
}
