//! Joints that crush: the closed form of their stress block in statics and in runs, what crushing takes, states that go on.

use drystone::diagnostics::collapse::{bisect, trial};
use drystone::diagnostics::equilibrium::{Kind, Structure, admissible};
use drystone::io::scene::Scene;
use glam::DVec3;

const STRENGTH: f64 = 1e6;
const WIDTH: f64 = 0.5;
const DEPTH: f64 = 0.4;

/// A block without weight on a static one, their joint divided like this.
fn block(divisions: u32) -> Scene {
    let text = format!(
        "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 0.1\n[[materials]]\nname = \"stone\"\ndensity = 2000\n\
         [contact]\nmu = 0.6\ncrushing = {{ strength = \"1 MPa\", divisions = {divisions} }}\n\
         [[bodies]]\nname = \"below\"\nshape = {{ kind = \"cuboid\", size = [{WIDTH}, {DEPTH}, 0.2] }}\nposition = [0, 0, -0.1]\nmotion = \"static\"\n\
         [[bodies]]\nname = \"block\"\nshape = {{ kind = \"cuboid\", size = [{WIDTH}, {DEPTH}, 0.2] }}\nposition = [0, 0, 0.1]\n"
    );
    Scene::from_toml(&text, "t.toml").unwrap_or_else(|e| panic!("{text}{e}"))
}

/// Pressed down by a force at this eccentricity along x, and pushed along y by a part of it that the joint bears.
fn pressed(divisions: u32, force: f64, eccentricity: f64, push: f64) -> Scene {
    let mut scene = block(divisions);
    scene.bodies[1].force = DVec3::new(0.0, push * force, -force);
    scene.bodies[1].torque = DVec3::new(eccentricity, 0.0, -0.1).cross(scene.bodies[1].force);
    scene
}

/// The largest force by statics.
fn limit(divisions: u32, eccentricity: f64, push: f64) -> f64 {
    let stands = |force: f64| -> Result<Option<bool>, String> {
        Ok(admissible(&Structure::of(&pressed(divisions, force, eccentricity, push), 0.0).map_err(|e| e.to_string())?.solve()))
    };
    let whole = STRENGTH * WIDTH * DEPTH;
    bisect([1e-3 * whole, 1.1 * whole], 2e-4, 1, stands).unwrap().expect("stands at one end alone").standing()
}

#[test]
fn a_joint_under_an_eccentric_load_bears_its_stress_block_whatever_its_points() {
    for eccentricity in [0.0, 0.06, 0.125] {
        let exact = STRENGTH * DEPTH * (WIDTH - 2.0 * eccentricity);
        let found = [8, 11, 16].map(|divisions| limit(divisions, eccentricity, 0.3) / exact);
        assert!(found.iter().all(|x| (x - 1.0).abs() < 0.01), "{eccentricity}: {found:?} of {exact} N");
        assert!((found[2] - 1.0).abs() < 0.0035, "{found:?}");
        // corners alone would bear half of the strength, whatever the eccentricity
        assert!(eccentricity == 0.0 || limit(1, eccentricity, 0.0) / exact > 1.02);
    }
}

#[test]
fn a_mechanism_of_a_joint_that_gives_way_as_a_whole_crushes() {
    let structure = Structure::of(&pressed(4, 1.05 * STRENGTH * WIDTH * DEPTH, 0.0, 0.0), 0.0).unwrap();
    let answer = structure.solve();
    assert_eq!(admissible(&answer), Some(false));
    assert!(answer.work > 0.0 && answer.error < 1e-6, "{answer:?}");
    assert_eq!(structure.mechanism(&answer).iter().map(|m| m.kind).collect::<Vec<_>>(), [Kind::Crushes]);
}

#[test]
fn runs_end_where_the_stress_block_says() {
    for (eccentricity, push) in [(0.125, 0.3), (0.2, 0.0)] {
        let least = limit(8, eccentricity, push);
        let found = [0.98, 1.02].map(|part| trial(&pressed(8, part * least, eccentricity, push), part).unwrap());
        let ways = found.map(|t| t.way);
        assert!(ways[0] < 1e-4 && ways[1] > 5e-3, "{eccentricity}: {ways:?}");
    }
}

#[test]
fn crushing_takes_its_strength_times_the_way_and_a_saved_run_goes_on_with_the_same_bits() {
    let (whole, more) = (STRENGTH * WIDTH * DEPTH, 1.1);
    let scene = pressed(4, more * whole, 0.0, 0.0);
    let build = || drystone::scenes::build(&scene).unwrap();
    let mut one = build();
    one.simulation.run_until(0.01).unwrap();
    let saved = one.simulation.save(&one.entities);
    one.simulation.run_until(0.02).unwrap();
    // 80 kg under a tenth of the strength: sinks by a t²/2
    let state = one.simulation.crushing_state();
    let sunk = 0.5 * (more - 1.0) * whole / (0.2 * WIDTH * DEPTH * 2000.0) * 0.02 * 0.02;
    assert!((state.deepest / sunk - 1.0).abs() < 0.06 && state.crushed == 1, "first order in the step: {state:?}, {sunk} m");
    assert!((state.lost / (WIDTH * DEPTH) - 1.0).abs() < 1e-12);
    let balance = one.simulation.balance();
    // the way of a step is that of its last velocity, its work that of the mean
    assert!((-balance.work.crushing / (whole * state.deepest) - 1.0).abs() < 0.06, "{:?}", balance.work);
    assert!(balance.error() < 1e-12 && balance.work.normal == 0.0, "{balance:?}");
    let mut two = build();
    two.simulation.restore(&saved, &two.entities).unwrap();
    two.simulation.run_until(0.02).unwrap();
    assert_eq!(two.simulation.state_hash(), one.simulation.state_hash());
    // what has given way gives nothing back: it rests there under less than its strength
    let mut released = scene.clone();
    released.bodies[1].force.z = -0.5 * whole;
    let mut three = drystone::scenes::build(&released).unwrap();
    three.simulation.restore(&saved, &three.entities).unwrap();
    three.simulation.run_until(0.1).unwrap();
    let rests = three.simulation.crushing_state().deepest;
    three.simulation.run_until(0.2).unwrap();
    assert!(rests > 0.2 * sunk && three.simulation.crushing_state().deepest - rests < 1e-10, "{rests} {sunk}");
    assert!(three.simulation.balance().energy.kinetic < 1e-12);
}

#[test]
fn a_joint_that_is_crushed_right_through_is_told() {
    // 2 MN on 0.2 m2 of 1 MPa: ten times what it bears, and half of that
    let told = |force: f64| {
        let summary = drystone::scenes::run(&pressed(2, force, 0.0, 0.0)).unwrap().1;
        let crushed = summary.crushing.unwrap();
        (crushed.deepest_size, summary.warnings.iter().any(|w| w.contains("of its size")))
    };
    let (through, holds) = (told(2e6), told(1e5));
    assert!(through.0 > 1.0 && through.1, "{through:?}");
    assert!(holds.0 < 1e-9 && !holds.1, "{holds:?}");
}

#[test]
fn steps_of_a_shaken_pier_whose_joints_give_way_are_solved() {
    let pier = |tolerance: f64, friction: &str| {
        let text = format!(
            "solver = {{ tolerance = {tolerance:e}, friction = \"{friction}\" }}\ntime = {{ step = \"2 ms\", end = 0.6 }}\n\
             [[materials]]\nname = \"soft\"\ndensity = 1800\n\
             [contact]\nmu = 0.5\ncrushing = {{ strength = \"60 kPa\", divisions = 4 }}\n\
             [[generate.pier]]\nname = \"p\"\nmaterial = \"soft\"\nsize = [0.3, 0.3]\ncourses = 3\nheight = 0.9\n\
             [base]\nsamples = [[0, 0, 0, 0], [0.1, 4, 1, 0], [0.3, -6, 0, 2], [0.5, 5, 0, 0], [0.6, 0, 0, 0]]\n\
             [[load]]\nbodies = [\"p.2\"]\nforce = [0, 0, -2000]\nramp = 0.3\n"
        );
        drystone::scenes::run(&Scene::from_toml(&text, "t.toml").unwrap()).unwrap().1
    };
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let [exact, lagged] = ["exact", "lagged"].map(|friction| pier(tolerance, friction));
        assert!(exact.energy.crushing_work_J < -1.0, "{exact}");
        assert_eq!((exact.steps, exact.unconverged_steps, exact.lagged_steps), (300, 0, 0), "{tolerance:e}: {exact}");
        assert_eq!((lagged.steps, lagged.unconverged_steps), (300, 0), "{tolerance:e}: {lagged}");
        let ratio = lagged.energy.crushing_work_J / exact.energy.crushing_work_J;
        assert!((ratio - 1.0).abs() < 0.02, "{tolerance:e}: {ratio}");
    }
}
