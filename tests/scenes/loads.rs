//! `[[load]]`, supports on a path and shaken water against closed forms.

use super::outside::Run;
use drystone::diagnostics::collapse::trial;
use drystone::diagnostics::equilibrium::{Structure, admissible, is_steady};
use drystone::io::scene::Scene;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::signal::{BodyQuantity, TotalQuantity};
use drystone::scenes::{build, load};
use drystone::simulation::{Signal, Simulation};
use glam::DVec3;

const G: f64 = 9.81;

fn scene(text: &str) -> Scene {
    Scene::from_toml(text, "t.toml").unwrap_or_else(|e| panic!("{text}{e}"))
}

fn stands(scene: &Scene) -> Option<bool> {
    admissible(&Structure::of(scene, scene.time.end).unwrap().solve())
}

/// A body without weight, 2 kg, a metre long; as many steps as reach the end.
fn pushed(load: &str, step: f64) -> Simulation {
    let scene = scene(&format!(
        "gravity = [0, 0, 0]\n[time]\nstep = {step}\nend = 0.6\n[[bodies]]\nname = \"rod\"\nmass = 2\n\
         shape = {{ kind = \"cuboid\", size = [1, 0.1, 0.1] }}\nposition = [3, 0, 0]\n[[load]]\nbodies = [\"rod\"]\n{load}\n"
    ));
    let mut sim = build(&scene).unwrap().simulation;
    while sim.time() < 0.6 - 1e-9 {
        sim.step().unwrap();
    }
    sim
}

fn only<T: bevy_ecs::component::Component + Copy>(sim: &mut Simulation) -> T {
    let world = sim.world_mut();
    *world.query::<&T>().iter(world).next().unwrap()
}

#[test]
fn a_load_gives_the_integral_of_its_factor_at_any_step() {
    // 3 N times a table with a jump: areas of two trapezia and a rectangle
    let table = "force = [3, 0, 0]\nfactor = [[0, 0], [0.31, 2], [0.5, -1], [0.5, 4]]";
    let exact = 3.0 / 2.0 * (0.31 + 0.5 * 0.19 + 4.0 * 0.1);
    for step in [0.6 / 7.0, 1e-2, 3e-3] {
        let mut sim = pushed(table, step);
        let v = only::<Velocity>(&mut sim).linear.x;
        let time = sim.time();
        let exact = exact + 1.5 * 4.0 * (time - 0.6);
        assert!((v - exact).abs() < 1e-12, "{step}: {v} {exact}");
    }
    let ramp = only::<Velocity>(&mut pushed("force = [3, 0, 0]\nramp = \"0.2 s\"\nstart = 0.1", 7e-3 / 7.0)).linear.x;
    assert!((ramp - 1.5 * (0.1 + 0.3)).abs() < 1e-12, "{ramp}");
}

#[test]
fn a_following_load_turns_with_its_body_and_a_dead_one_does_the_work_of_its_point() {
    // 4 N across at the end of the rod: I = m (l² + w²)/12 about z
    let inertia = 2.0 * 1.01 / 12.0;
    let following = only::<Velocity>(&mut pushed("force = [0, 4, 0]\nat = [3.5, 0, 0]\nfollows = true", 1e-3));
    assert!((following.angular.z - 4.0 * 0.5 / inertia * 0.6).abs() < 1e-9, "{following:?}");
    // the same of a rod that is turned at the start
    let rolled = "force = [0, 4, 0]\nat = [3.5, 0, 0]\nfollows = true\n[[bodies]]\nname = \"other\"\nmass = 2\nrotation = { axis = [0, 0, 1], angle = 1.1 }\n\
                  shape = { kind = \"cuboid\", size = [1, 0.1, 0.1] }\nposition = [30, 0, 0]\n[[load]]\nbodies = [\"other\"]\nforce = [0.5, 4, 0]\n\
                  at = [30.2, 0.1, 0]\nfollows = true";
    let mut sim = pushed(rolled, 1e-3);
    let world = sim.world_mut();
    let spins: Vec<f64> = world.query::<&Velocity>().iter(world).map(|v| v.angular.z).collect();
    // s × F = 0.2 · 4 − 0.1 · 0.5
    assert!(spins.iter().any(|w| (w - 0.75 / inertia * 0.6).abs() < 1e-9), "{spins:?}");
    let mut sim = pushed("force = [0, 4, 0]\nat = [3.5, 0, 0]", 1e-4);
    let (v, pose) = (only::<Velocity>(&mut sim), only::<BodyPose>(&mut sim).0);
    let kinetic = v.linear.length_squared() + 0.5 * inertia * v.angular.z * v.angular.z;
    let way = pose.point(DVec3::X * 0.5).y;
    assert!((kinetic / (4.0 * way) - 1.0).abs() < 1e-3, "{kinetic} J, {} J", 4.0 * way);
    assert!(v.linear.x.abs() < 1e-12 && following.linear.x < -0.1);
}

/// A block 0.5 m wide and 1 m high on a floor, with a load.
fn block(load: &str) -> Scene {
    scene(&format!(
        "[time]\nstep = 1e-3\nend = 2\n[contact]\nmu = 0.8\n[[materials]]\nname = \"stone\"\ndensity = 2000\n\
         [[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n\
         [[bodies]]\nname = \"block\"\nshape = {{ kind = \"cuboid\", size = [0.5, 0.4, 1] }}\nposition = [0, 0, 0.5]\n{load}\n"
    ))
}

const WEIGHT: f64 = 2000.0 * 0.2 * G;

#[test]
fn a_block_tips_under_a_load_at_its_top_and_under_pressure_on_its_face_as_by_hand() {
    let at_top = |f: f64| block(&format!("[[load]]\nbodies = [\"block\"]\nforce = [{f}, 0, 0]\nat = [-0.25, 0, 1]\nramp = 0.5"));
    let on_face = |p: f64| block(&format!("[[load]]\nbodies = [\"block\"]\npressure = {p}\nface = [-1, 0, 0]\nramp = 0.5"));
    let tips = WEIGHT * 0.25;
    for (what, limit, scene) in [
        ("top", tips, &at_top as &dyn Fn(f64) -> Scene),
        // p A h/2
        ("face", tips / (0.4 * 0.5), &on_face),
    ] {
        let statics = [0.9999, 1.0001].map(|factor| stands(&scene(factor * limit)));
        assert_eq!(statics, [Some(true), Some(false)], "{what}");
        assert!(is_steady(&scene(limit)), "a ramp is judged by its end");
        for (factor, expected) in [(0.99, true), (1.02, false)] {
            let found = trial(&scene(factor * limit), factor).unwrap();
            assert_eq!(found.stands, expected, "{what} at {factor}: {found:?}");
        }
    }
    let face = on_face(1000.0).loads[0].clone();
    assert!((face.force - DVec3::X * 400.0).length() < 1e-9 && (face.at.unwrap() - DVec3::new(-0.25, 0.0, 0.5)).length() < 1e-12);
}

/// The lower edge of a jack without friction, at the height z, pushes the side of the block. With the block turned by φ about its foot it meets it at
/// `s = (z − b sin φ)/cos φ` from its lower edge, by `N = W (b cos φ − h sin φ)/2s`, when it has gone by `u = b − b cos φ + s sin φ`.
#[test]
fn the_curve_of_a_push_over_is_that_of_a_rocking_block_there_and_back() {
    let jack = "[[bodies]]\nname = \"jack\"\nmotion = \"static\"\nshape = { kind = \"cuboid\", size = [0.1, 0.2, 1] }\nposition = [-0.3, 0, 1.02]\n\
                material = \"steel\"\n[[support]]\nbodies = [\"jack\"]\ndisplacement = [0.2, 0, 0]\npath = [[0, 0], [16, 1], [28, 0.25]]\n\
                [[contact.pairs]]\nmaterials = [\"stone\", \"steel\"]\nmu = 0\n[[materials]]\nname = \"steel\"\ndensity = 8000\n";
    let mut scene = block(jack);
    scene.time.step = 2e-3; // slow, as the curve has no inertia
    let built = build(&scene).unwrap();
    let (mut sim, jack) = (built.simulation, built.entities[2]);
    let signals = [Signal::Body(jack, BodyQuantity::X), Signal::Body(jack, BodyQuantity::ContactX)];
    let record = sim.record(20, signals);
    while sim.time() < 28.0 {
        sim.step().unwrap();
    }
    let table = sim.trace(record).unwrap();
    let (x, f) = (table.column(0), table.column(1));
    let (b, h, z) = (0.5, 1.0, 0.52);
    let (mut compared, mut largest, mut worst) = (0, 0.0f64, 0.0f64);
    for (x, f) in x.iter().zip(f) {
        let u = x + 0.3;
        largest = largest.max(u);
        if u < 0.01 {
            continue; // the first touch is by a face, and sets the block going
        }
        let s = |phi: f64| (z - b * phi.sin()) / phi.cos();
        let [mut low, mut high] = [0.0, 0.5];
        for _ in 0..60 {
            let phi: f64 = 0.5 * (low + high);
            if b - b * phi.cos() + s(phi) * phi.sin() < u { low = phi } else { high = phi }
        }
        let exact = WEIGHT * (b * low.cos() - h * low.sin()) / (2.0 * s(low)) * low.cos();
        worst = worst.max((-f - exact).abs() / (WEIGHT * b / (2.0 * z)));
        compared += 1;
    }
    assert!(compared > 500 && (largest - 0.2).abs() < 1e-6, "{compared} rows, up to {largest} m");
    println!("push-over: the force misses the curve by {worst:.4} of its largest value");
    assert!(worst < 0.01, "{worst}");
    let end = x.last().unwrap() + 0.3;
    assert!((end - 0.05).abs() < 1e-6, "{end}");
}

#[test]
fn shaken_water_takes_its_part_of_the_acceleration_that_a_dam_bears() {
    // V14 with Westergaard's 7/12 ρ H²: μ W − ½ ρ g H² = a (W/g + 7/12 ρ H²) for a dam that slides
    let set = |a: f64, more: &[(&str, &str)]| {
        let mut all = vec![("water_level", "5")];
        all.extend(more);
        let mut dam = load("block_dam", &all).unwrap();
        dam.base = Some(drystone::io::scene::loads::BaseMotion::of_accelerations(vec![0.0], vec![-a * G * DVec3::X]));
        dam
    };
    let plain = set(0.0, &[]);
    let (mu, mass) = (plain.default_law.mu, 3.0 * 6.0 * plain.materials[0].density);
    let still = (mu * mass * G - 0.5 * 1000.0 * G * 25.0) / (mass * G);
    let shaken = (mu * mass * G - 0.5 * 1000.0 * G * 25.0) / ((mass + 7.0 / 12.0 * 1000.0 * 25.0) * G);
    for (limit, more) in [(still, &[][..]), (shaken, &[("water.0.added_mass", "westergaard")])] {
        let found = [0.999, 1.001].map(|factor| stands(&set(factor * limit, more)));
        assert_eq!(found, [Some(true), Some(false)], "{limit}");
    }
}

#[test]
fn loads_that_cannot_be_meant_say_what_would_do() {
    for (load, wanted) in [
        ("bodies = [\"block\"]", "found no force"),
        ("bodies = [\"floor\"]\nforce = [1, 0, 0]", "found floor, which no load can move"),
        ("bodies = [\"blok\"]\nforce = [1, 0, 0]", "did you mean"),
        ("bodies = [\"block\"]\npressure = 3", "found `pressure` without `face`"),
        ("bodies = [\"block\"]\npressure = 3\nface = [1, 0, 1]", "block has more than one face that looks along"),
        ("bodies = [\"block\"]\nforce = [1, 0, 0]\nface = [0, 0, 1]", "found `face` without `pressure`"),
        ("bodies = [\"block\"]\npressure = 3\nface = [0, 0, 1]\nat = [0, 0, 0]", "found `at` of a load"),
        ("bodies = [\"block\"]\nforce = [1, 0, 0]\nramp = 1\nfactor = [[0, 1]]", "found `ramp` beside `factor`"),
        ("bodies = [\"block\"]\nforce = [1, 0, 0]\nfactor = [[1, 0], [0, 1]]", "does not rise"),
        ("bodies = [\"block\"]\nforce = [\"1 m\", 0, 0]", "force"),
    ] {
        let text = block("").to_toml() + "\n[[load]]\n" + load + "\n";
        let error = Scene::from_toml(&text, "t.toml").unwrap_err().to_string();
        assert!(error.contains(wanted) && error.starts_with("t.toml:"), "{load}: {error}");
    }
    for (support, wanted) in
        [("path = [[0, 1], [1, 2]]", "does not begin at part 0"), ("path = [[0, 0], [1, 2]]\nduration = 1", "beside `path`")]
    {
        let text = block("").to_toml() + "\n[[support]]\nbodies = [\"floor\"]\ndisplacement = [0, 0, 1]\n" + support + "\n";
        let error = Scene::from_toml(&text, "t.toml").unwrap_err().to_string();
        assert!(error.contains(wanted), "{support}: {error}");
    }
}

/// Energy now is energy at the start plus all works, also where gravity changes, and by a run that was broken in between.
#[test]
fn a_change_of_gravity_is_work_of_loads() {
    let text = "gravity = [{ from = 0, acceleration = [0, 0, -9.81] }, { from = 0.1, acceleration = [1, 0, -2] }, { from = 0.2, acceleration = [0, 0, -5] }]\n\
                [time]\nstep = 1e-3\nend = 0.3\n[[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nmass = 2\nposition = [3, 0, 0.3]\n\
                [[bodies]]\nname = \"block\"\nshape = { kind = \"cuboid\", size = [0.2, 0.2, 0.2] }\nposition = [1, 0, 0.1]\n\
                [[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n";
    let scene = scene(text);
    let mut built = build(&scene).unwrap();
    let energy = |sim: &Simulation| {
        let of = |q| sim.value(Signal::Total(q)).unwrap();
        of(TotalQuantity::Kinetic) + of(TotalQuantity::Potential)
    };
    let start = energy(&built.simulation);
    built.simulation.run_until(0.15).unwrap();
    let saved = built.simulation.save(&built.entities);
    built.simulation.run_until(0.3).unwrap();
    let mut again = build(&scene).unwrap();
    again.simulation.restore(&saved, &again.entities).unwrap();
    again.simulation.run_until(0.3).unwrap();
    for sim in [&built.simulation, &again.simulation] {
        let (gained, work) = (energy(sim) - start, sim.balance().work);
        assert!((gained - work.total()).abs() < 1e-9 * start.abs(), "{gained} J by {work:?}");
        assert!(work.loads.abs() > 1.0 && sim.balance().error() < 1e-9, "{work:?}, {}", sim.balance().error());
    }
    assert_eq!(again.simulation.balance(), built.simulation.balance());
}

#[test]
fn stops_and_ropes_that_do_not_hold_yet_bear_nothing() {
    // a beam hinged at its end falls towards a stop; a block hangs from a rope between points 0.9 m apart
    let block = "gravity = [0, 0, -9.81]\n[time]\nstep = 1e-3\nend = 0.1\n[[bodies]]\nname = \"b\"\nmass = 10\nposition = [0, 0, 1]\n\
                 shape = { kind = \"cuboid\", size = [0.2, 0.2, 0.2] }\n[[joints]]\nname = \"j\"\nbody1 = \"b\"\n";
    let hinge = |limits: &str| format!("{block}kind = \"revolute\"\nanchor = [0.1, 0, 1]\naxis = [0, 1, 0]\nlimits = {limits}\n");
    let rope = |length: f64| format!("{block}kind = \"rope\"\nanchor = [0, 0, 1.1]\nanchor2 = [0, 0, 2]\nlength = {length}\n");
    for (text, expected) in
        [(hinge("[-1, 0]"), false), (hinge("[0, 1]"), true), (hinge("[-1e-3, 1]"), false), (rope(1.2), false), (rope(0.9), true)]
    {
        assert_eq!(stands(&scene(&text)), Some(expected), "{text}");
    }
}

#[test]
fn what_a_driven_body_lifts_by_a_joint_is_work_of_the_drive() {
    // 1 kg at 1 m/s for 1 s: m g h, and what brings it to that speed from rest
    let mut sim = build(&scene(
        "gravity = [0, 0, -9.81]\n[time]\nstep = 1e-3\nend = 1\n[solver]\ntolerance = 1e-8\n\
         [[bodies]]\nname = \"hook\"\nshape = { kind = \"cuboid\", size = [0.2, 0.2, 0.2] }\nposition = [0, 0, 1]\n\
         motion = { kind = \"constant\", velocity = [0, 0, 1], angular_velocity = [0, 0, 0] }\n\
         [[bodies]]\nname = \"b\"\nshape = { kind = \"cuboid\", size = [0.2, 0.2, 0.2] }\nmass = 1\nposition = [0, 0, 0]\n\
         [[joints]]\nname = \"p\"\nkind = \"fixed\"\nbody1 = \"b\"\nbody2 = \"hook\"\nanchor = [0, 0, 0.5]\n",
    ))
    .unwrap()
    .simulation;
    sim.run_until(1.0).unwrap();
    let work = sim.balance().work;
    assert!((work.drives - (G + 1.0)).abs() < 0.02, "{work:?}");
    // the jerk at the start takes half of what the drive gives
    assert!((work.joints + 0.5).abs() < 0.02, "{work:?}");
}

#[test]
fn a_run_does_not_end_balanced_before_the_last_load_has_come() {
    let tower = |rest: &str| {
        format!(
            "stop = {{ unbalanced = 0.01, hold = 0.02 }}\n[time]\nstep = 1e-3\nend = 0.5\n[[bodies]]\nname = \"floor\"\nmotion = \"static\"\n\
             shape = {{ kind = \"half_space\" }}\n[[bodies]]\nname = \"a\"\nshape = {{ kind = \"cuboid\", size = [0.1, 0.1, 0.2] }}\nposition = [0, 0, 0.1]\n\
             [[bodies]]\nname = \"b\"\nshape = {{ kind = \"cuboid\", size = [0.1, 0.1, 0.2] }}\nposition = [0, 0, 0.3]\n{rest}"
        )
    };
    let end = |rest: &str| {
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        std::fs::write(file.path(), tower(rest)).unwrap();
        Run::of("", &[file.path().to_str().unwrap()]).number("time")
    };
    assert!(end("") < 0.05);
    // what comes and stays is waited for; a pulse of the ground until it is over
    for (rest, from) in [
        ("[[load]]\nbodies = [\"b\"]\nforce = [0, 0, -1]\nstart = 0.2\n", 0.2),
        ("[base]\npulses = [{ kind = \"square\", acceleration = [0.1, 0, 0], start = 0.1, duration = 0.15 }]\n", 0.25),
        ("[[bodies]]\nname = \"c\"\nshape = { kind = \"cuboid\", size = [0.1, 0.1, 0.1] }\nposition = [0, 0, 0.45]\nbirth = 0.3\n", 0.3),
    ] {
        let end = end(rest);
        assert!((from..from + 0.05).contains(&end), "{rest}: {end}");
    }
}

#[test]
fn a_light_stone_under_a_heavy_load_off_its_middle_stays_where_it_is() {
    // alone, the load would turn the stone by up to nine radians within a step
    for (size, load, at, step) in [
        ([0.3, 0.25, 0.1], 5e5, [0.06, 0.03], 2e-3),
        ([0.4, 0.6, 0.5], 2e6, [0.14, 0.08], 1e-2),
        ([0.002, 0.03, 0.003], 5.0, [0.0007, 0.004], 1e-3),
    ] {
        let text = format!(
            "[time]\nstep = {step}\nend = {}\n[solver]\ntolerance = 1e-8\n[contact]\nmu = 0.5\n[[materials]]\nname = \"stone\"\ndensity = 2000\n\
             [[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\" }}\n\
             [[bodies]]\nname = \"stone\"\nshape = {{ kind = \"cuboid\", size = [{}, {}, {}] }}\nposition = [0, 0, {}]\n\
             [[load]]\nbodies = [\"stone\"]\nforce = [0, 0, {}]\nat = [{}, {}, {}]\n",
            20.0 * step,
            size[0],
            size[1],
            size[2],
            0.5 * size[2],
            -load,
            at[0],
            at[1],
            size[2]
        );
        let mut built = build(&scene(&text)).unwrap();
        let entity = built.entities[1];
        let start = built.simulation.world().get::<BodyPose>(entity).unwrap().0;
        for _ in 0..20 {
            assert!(built.simulation.step().unwrap().converged);
        }
        let now = built.simulation.world().get::<BodyPose>(entity).unwrap().0;
        let turn = (start.rotation.conjugate() * now.rotation).xyz().length();
        assert!(turn < 1e-6 && now.position.distance(start.position) < 1e-6 * size[0], "{size:?}: {now:?}");
    }
}
