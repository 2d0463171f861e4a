//! Time steps chosen on the way: bounded by speeds and sizes, in step with what has to be met, the same after a resumption.

use bevy_ecs::entity::Entity;
use drystone::diagnostics::summary::{Meter, Summary};
use drystone::geometry::Shape;
use drystone::io::scene::Scene;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::scenes::checkpoint::Checkpoint;
use drystone::scenes::{Built, build, run};
use drystone::simulation::{AutoStep, Body, JointState, Simulation};
use glam::DVec3;
use std::sync::Arc;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A slow ball on a floor, a fast one that comes to hit it, a blow, a birth and a change of gravity at odd times.
const SCENE: &str = r#"
time = { step = "auto", end = 0.5 }
gravity = [{ acceleration = [0, 0, -9.81] }, { from = 0.3137, acceleration = [1, 0, -9.81] }]
[solver]
tolerance = 1e-10
[[bodies]]
name = "floor"
shape = { kind = "half_space" }
motion = "static"
[[bodies]]
name = "slow"
shape = { kind = "ball", radius = 0.1 }
position = [0, 0, 0.1]
impulses = [{ time = 0.0503, linear = [0, 40, 0] }]
[[bodies]]
name = "fast"
shape = { kind = "ball", radius = 0.02 }
position = [-3, 0.01, 0.2]
velocity = [30, 0, 0]
death = 0.2203
[[bodies]]
name = "late"
shape = { kind = "cuboid", size = [0.1, 0.2, 0.05] }
position = [0, 2, 0.3]
angular_velocity = [1, 20, 3]
birth = 0.1217
[[recorders]]
what = "steps"
every = "4 ms"
"#;

fn scene() -> Fallible<Scene> {
    Ok(Scene::from_toml(SCENE, "auto")?)
}

/// Steps to `end`; the times of all steps and the longest way of a body in one, in parts of its smallest length.
fn steps(built: &mut Built, meter: &mut Meter, end: f64) -> Fallible<Vec<f64>> {
    let mut times = Vec::new();
    while built.simulation.time() < end - 1e-12 {
        let report = built.simulation.step()?;
        assert!((report.time - times.last().unwrap_or(&(report.time - report.step_size)) - report.step_size).abs() < 1e-12);
        times.push(report.time);
        meter.observe(&report, &built.simulation);
    }
    Ok(times)
}

#[test]
fn all_that_has_to_be_met_is_met_exactly_and_speeds_bound_the_step() -> Fallible {
    let scene = scene()?;
    let mut built = build(&scene)?;
    let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
    let times = steps(&mut built, &mut meter, 0.5)?;
    for instant in [0.0503, 0.1217, 0.2203, 0.3137, 0.5] {
        assert!(times.contains(&instant), "{instant} s is missed");
    }
    let records = (1..=125).map(|k| f64::from(k) * 4e-3);
    assert!(records.into_iter().all(|t| times.iter().any(|s| (s - t).abs() < 1e-12)));
    let summary = meter.summary(&mut built.simulation);
    let (low, high) = (summary.step_size_min.unwrap(), summary.step_size_max.unwrap());
    // 30 m/s may move a ball of 4 cm by 2 mm, 9.5 m/s one of 20 cm by 10 mm
    assert!(low < 0.002 / 30.0 && high <= 4e-3 && high > 4e-4 && summary.step_size > low && summary.step_size < high, "{low} {high}");
    assert!(summary.unconverged_steps == 0 && summary.energy.balance_error < 1e-6);
    Ok(())
}

#[test]
fn a_resumed_run_chooses_the_steps_of_the_straight_one() -> Fallible {
    let scene = scene()?;
    let mut straight = build(&scene)?;
    let mut meter = Meter::new(&scene, &straight.entities, &straight.simulation);
    for stop in [0.031, 0.0503, 0.11, 0.2, 0.32, 0.41] {
        while straight.simulation.time() < stop {
            let report = straight.simulation.step()?;
            meter.observe(&report, &straight.simulation);
        }
        let (mut resumed, mut second) = Checkpoint::of(&scene, &mut straight, &meter).resume()?;
        let times = steps(&mut resumed, &mut second, 0.5)?;
        let (mut again, mut third) = Checkpoint::of(&scene, &mut straight, &meter).resume()?;
        assert_eq!(times, steps(&mut again, &mut third, 0.5)?);
        let whole = run(&scene)?.1;
        let found: Summary = second.summary(&mut resumed.simulation);
        assert_eq!(found, whole, "stopped at {stop} s");
    }
    Ok(())
}

#[test]
fn a_pile_at_rest_keeps_one_step_and_its_solution() -> Fallible {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes/arch.toml"))?;
    let scene = Scene::from_toml(&text.replace("step = \"2 ms\"", "step = \"auto\""), "arch")?;
    assert!(scene.time.accuracy.is_some(), "the arch has another step now");
    let mut built = build(&Scene { time: drystone::io::scene::model::TimeStepping { end: 0.4, ..scene.time }, ..scene.clone() })?;
    let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
    steps(&mut built, &mut meter, 0.4)?;
    let summary = meter.summary(&mut built.simulation);
    assert_eq!(summary.step_size_min, summary.step_size_max);
    assert!(summary.displacement_max_m < 1e-6 && summary.speed_max < 1e-6, "{} {}", summary.displacement_max_m, summary.speed_max);
    Ok(())
}

#[test]
fn a_finer_accuracy_comes_closer_to_the_parabola() -> Fallible {
    let height = |accuracy: &str| -> Fallible<f64> {
        let text = format!(
            "[time]\nstep = \"auto\"\naccuracy = {accuracy}\nend = 0.3\n[[bodies]]\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [0, 0, 1]\n"
        );
        Ok(run(&Scene::from_toml(&text, "fall")?)?.1.height_mean_m)
    };
    let exact = 1.0 - 0.5 * 9.81 * 0.09;
    let (coarse, fine) = ((height("0.1")? - exact).abs(), (height("0.01")? - exact).abs());
    assert!(fine < 0.3 * coarse && fine < 3e-3, "{coarse} {fine}");
    Ok(())
}

#[test]
fn settings_that_do_not_fit_are_named() -> Fallible {
    let body = "[[bodies]]\nshape = { kind = \"ball\", radius = 0.1 }\n";
    let cases = [
        ("step = \"auto\"\naccuracy = 2\nend = 1", "time.accuracy", "to 1"),
        ("step = \"auto\"\nstep_max = 0\nend = 1", "time.step_max", "greater than 0"),
        ("step = \"auto\"\nstep_max = 1e-12\nend = 1", "time.step", "larger step"),
        ("step = 1e-3\naccuracy = 0.1\nend = 1", "accuracy", "unknown key"),
        ("step = \"often\"\nend = 1", "time.step", "a time"),
    ];
    for (time, place, what) in cases {
        let Err(error) = Scene::from_toml(&format!("[time]\n{time}\n{body}"), "wrong") else { return Err(time.into()) };
        assert!(error.to_string().contains(place) && error.to_string().contains(what), "{error}");
    }
    let mut built = build(&scene()?)?;
    assert!(built.simulation.every(0.01, |_, _| {}).is_err_and(|e| e.to_string().contains("constant time step")));
    let fixed = Scene { time: drystone::io::scene::model::TimeStepping { accuracy: None, ..scene()?.time }, ..scene()? };
    let mut built = build(&fixed)?;
    built.simulation.every(0.01, |_, _| {})?;
    assert!(built.simulation.set_auto_step(AutoStep::default()).is_err());
    let wrong = AutoStep { accuracy: f64::NAN, ..AutoStep::default() };
    assert!(build(&fixed)?.simulation.set_auto_step(wrong).is_err_and(|e| e.to_string().contains("accuracy")));
    Ok(())
}

/// The steps that are chosen for the forecast treatment keep the overlap of what meets below what a run warns of.
#[test]
fn chosen_steps_of_a_forecast_scene_need_no_warning() -> Fallible {
    for e_n in ["0", "0.5", "0.9"] {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes/bouncing_ball.toml"))?;
        let text = text.replace("step = \"5 ms\"", "step = \"auto\"").replace("e_n = 0.9", &format!("e_n = {e_n}"));
        let summary = run(&Scene::from_toml(&text, "ball")?)?.1;
        assert!(summary.step_size_min.is_some() && summary.penetration_size_max > 1e-3, "the ball meets the floor in the midst of a step");
        assert!(summary.warnings.is_empty(), "e_n = {e_n}: {:?}", summary.warnings);
        if e_n != "0.9" {
            continue;
        }
        let coarse = run(&Scene::from_toml(&text.replace("step = \"auto\"", "step = \"auto\"\naccuracy = 0.05"), "ball")?)?.1;
        assert!(coarse.warnings.iter().any(|w| w.contains("a smaller `accuracy`")), "{:?}", coarse.warnings);
    }
    Ok(())
}

/// Of a gap-aware scene, whose velocities are those of the middle of steps, it is said what steps that change their length take.
#[test]
fn what_changes_of_the_step_take_is_told() -> Fallible {
    let bar = "[[bodies]]\nname = \"bar\"\nshape = { kind = \"cuboid\", size = [1, 0.1, 0.1] }\nmass = 1\nposition = [0.5, 0, 0]\n";
    let spring = format!(
        "gravity = [0, 0, 0]\n{bar}velocity = [0, 0, 1]\n[[joints]]\nkind = \"prismatic\"\nbody1 = \"bar\"\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\n\
         spring = {{ stiffness = 100, damping = 0 }}\n"
    );
    let pendulum = format!("{bar}[[joints]]\nkind = \"revolute\"\nbody1 = \"bar\"\nanchor = [0, 0, 0]\naxis = [0, 1, 0]\n");
    for (text, accuracy, stiffness, moved) in [(&spring, 0.05, 100.0, 0.5), (&pendulum, 0.2, 0.0, 0.5 * 9.81)] {
        let left = |time: &str| -> Fallible<(f64, Summary)> {
            let scene = Scene::from_toml(&format!("time = {{ {time}, end = 4 }}\n{text}"), "t")?;
            let (built, summary) = run(&scene)?;
            let joint = JointState::of(built.simulation.world(), built.joints[0][0]).ok_or("no joint")?;
            let energy = built.simulation.balance().energy.total() + 0.5 * stiffness * joint.coordinate.ok_or("free")?.powi(2);
            Ok((energy, summary))
        };
        let start = if stiffness > 0.0 { moved } else { 0.0 };
        let auto = format!("step = \"auto\", accuracy = {accuracy}");
        let (energy, summary) = left(&auto)?;
        let (lost, told) = (start - energy, summary.energy.step_change_loss_J);
        assert!(lost > 0.02 * moved && (told / lost - 1.0).abs() < 0.2, "{lost} J are lost, {told} J told");
        assert!(
            summary.warnings.len() == 1 && summary.warnings[0].contains("steps that change their length took"),
            "{:?}",
            summary.warnings
        );
        for time in ["step = 4e-3".to_owned(), format!("{auto}, treatment = \"forecast\"")] {
            let (energy, summary) = left(&time)?;
            assert!(summary.warnings.is_empty() && summary.energy.step_change_loss_J == 0.0, "{time}: {:?}", summary.warnings);
            assert!((start - energy).abs() < 0.03 * moved, "{time}: {}", start - energy);
        }
    }
    Ok(())
}

/// How far (m) a driven plate is from where its drive ends, which shakes two balls: a 5 Hz sinusoid of 16 mm after ten periods, or a support that goes
/// 0.1 m by a table.
fn drift(motion: &str, step: &str) -> Fallible<f64> {
    let ball = |x: f64| {
        format!(
            "[[bodies]]\nname = \"b{x}\"\nshape = {{ kind = \"ball\", radius = 0.03 }}\nposition = [{x}, 0, {}]\n\
             locked_translation = [\"x\", \"y\"]\nlocked_rotation = [\"x\", \"y\", \"z\"]\n",
            0.1 + 0.3 * x
        )
    };
    let text = format!(
        "[time]\n{step}\nend = 2\n[contact]\ne_n = 0.7\n[[bodies]]\nname = \"plate\"\nshape = {{ kind = \"cuboid\", size = [1, 1, 0.2] }}\n\
         position = [0, 0, -0.1]\nmotion = {{ {motion} }}\n{}{}",
        ball(0.1),
        ball(0.3)
    );
    let scene = Scene::from_toml(&text, "t.toml")?;
    let Built { mut simulation, entities, .. } = build(&scene)?;
    simulation.run_until(2.0)?;
    Ok(simulation.world().get::<BodyPose>(entities[0]).ok_or("alive")?.0.position.z + 0.1)
}

#[test]
fn what_is_driven_goes_its_way_whatever_steps_are_chosen() -> Fallible {
    // with the velocity of the start of each step it sank by 0.6 mm a second
    let sinusoid = "kind = \"sinusoid\", velocity = [0, 0, 0.5], frequency = 5";
    for step in ["step = \"auto\"\nstep_max = 2e-3", "step = \"auto\"", "step = \"auto\"\nstep_max = 0.01"] {
        let drift = drift(sinusoid, step)?;
        assert!(drift.abs() < 1e-5, "{step}: {drift}");
    }
    let table = "kind = \"table\", times = [0, 0.5, 1.5, 2], velocity = [[0, 0, 0], [0, 0, 0.1], [0, 0, 0], [0, 0, 0]]";
    let way = drift(table, "step = \"auto\"")?;
    assert!((way - 0.075).abs() < 1e-4, "{way}");
    // a blow of 0.7 ms that a step would pass over, and one with jumps: steps end at the corners
    for (table, exact) in [
        ("times = [0.50013, 0.50048, 0.50083], velocity = [[0, 0, 0], [0, 0, 10], [0, 0, 0]]", 3.5e-3),
        ("times = [0.50013, 0.50013, 0.50048, 0.50048], velocity = [[0, 0, 0], [0, 0, 10], [0, 0, 10], [0, 0, 0]]", 3.5e-3),
    ] {
        let way = drift(&format!("kind = \"table\", {table}"), "step = \"auto\"\nstep_max = 0.01")?;
        assert!((way - exact).abs() < 1e-9, "{table}: {way}");
    }
    Ok(())
}

#[test]
fn whether_steps_are_chosen_is_of_the_simulation_that_goes_on() -> Fallible {
    // a state that was saved under chosen steps goes on with given ones, and the reverse: the drive is asked where the new rule asks it
    let build = |chosen: bool| -> Fallible<(Simulation, Entity)> {
        let mut sim = Simulation::with_time_step(1e-3)?;
        let drive = |t: f64| (DVec3::X * t, DVec3::ZERO);
        let plate = sim.spawn_body(Body::new(Shape::ball(0.1)?).driven(Arc::new(drive)))?;
        if chosen {
            sim.set_auto_step(AutoStep { largest: 1e-3, ..AutoStep::default() })?;
        }
        Ok((sim, plate))
    };
    for (before, after) in [(true, false), (false, true)] {
        let (mut first, plate) = build(before)?;
        first.run_until(0.01)?;
        let saved = first.save(&[plate]);
        let (mut second, plate) = build(after)?;
        second.restore(&saved, &[plate])?;
        second.step()?;
        let speed = second.world().get::<Velocity>(plate).ok_or("alive")?.linear.x;
        let asked = 0.01 + if after { 0.5e-3 } else { 0.0 };
        assert!((speed - asked).abs() < 1e-12, "{before} {after}: {speed}");
    }
    Ok(())
}
