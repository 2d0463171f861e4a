//! Periodic cells whose images move past each other (Lees and Edwards): momentum, energy, the same physics wherever the cell is cut.

use drystone::assembly::problem::StepProblem;
use drystone::diagnostics::postmortem::last_step;
use drystone::geometry::systems::Proximity;
use drystone::io::scene::Scene;
use drystone::model::contact::{ContactPair, Manifold};
use drystone::model::newton_euler::{BodyPose, Inertia, Velocity};
use drystone::prelude::*;
use drystone::scenes::{Built, build};

fn built(text: &str) -> Built {
    build(&Scene::from_toml(text, "sheared").unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"))
}

fn of_bodies<T>(built: &Built, of: impl Fn(DVec3, DVec3, f64) -> T) -> Vec<T> {
    let world = built.simulation.world();
    let parts =
        |e: &Entity| Some((world.get::<BodyPose>(*e)?.0.position, world.get::<Velocity>(*e)?.linear, world.get::<Inertia>(*e)?.mass));
    built.entities.iter().filter_map(parts).map(|(x, v, m)| of(x, v, m)).collect()
}

/// A dense assembly of grains without weight that is sheared by 20/s, all of it moved by `by`.
fn flow(by: [f64; 3], cut: [f64; 3], extra: &str) -> String {
    let faces = |a: usize| format!("[{}, {}]", cut[a], cut[a] + 0.08);
    format!(
        "gravity = [0, 0, 0]\ntime = {{ step = \"0.5 ms\", end = 1 }}\nsolver = {{ tolerance = 1e-9 }}\ncontact = {{ e_n = 0.3, mu = 0.4 }}\n\
         [periodic]\nx = {}\ny = {}\nz = {}\nshear = {{ across = \"z\", along = \"x\", rate = 20 }}\n\
         [[generate.pack]]\nradius = [0.008, 0.01]\nsolid_fraction = 0.55\nseed = 3\nposition = {by:?}\n{extra}",
        faces(0),
        faces(1),
        faces(2)
    )
}

#[test]
fn momentum_is_kept_and_the_energy_that_comes_in_is_the_work_of_the_images() {
    let mut built = built(&flow([0.0; 3], [-0.04; 3], ""));
    let momentum = |built: &Built| of_bodies(built, |_, v, m| m * v).into_iter().sum::<DVec3>();
    let scale: f64 = of_bodies(&built, |_, v, m| m * v.length()).into_iter().sum();
    let start = momentum(&built);
    let (mut last, mut through) = (StepReport::default(), 0);
    for _ in 0..100 {
        last = built.simulation.step().expect("a step");
        assert!(last.converged && last.balance.error() < 1e-10, "{}", last.balance.error());
        assert!((momentum(&built) - start).length() < 1e-12 * scale, "{}", (momentum(&built) - start).length() / scale);
        let world = built.simulation.world();
        let crossing = |(.., e): &(u32, u32, Entity)| {
            let (pair, points) = (world.get::<ContactPair>(*e), world.get::<Manifold>(*e));
            pair.zip(points).is_some_and(|(pair, m)| pair.shift.z != 0.0 && m.points.iter().any(|t| t.reaction != DVec3::ZERO))
        };
        through += world.resource::<Proximity>().pairs().iter().filter(|pair| crossing(pair)).count();
    }
    assert!(through > 100, "{through} contacts through the moving faces");
    let work = last.balance.work;
    // no other source: what the images put in has been dissipated or is in the motion
    assert!(work.drives > 0.0 && work.normal < 0.0 && work.friction < 0.0 && work.loads == 0.0, "{work:?}");
}

#[test]
fn grains_of_any_shape_begin_with_the_flow_at_their_centre_of_mass() {
    let grain = "grain = { kind = \"clump\", balls = [[0, 0, 0, 1], [1, 0.3, 0, 0.5]] }";
    let text = format!(
        "gravity = [0, 0, 0]\ntime = {{ step = \"1 ms\", end = 1 }}\n[periodic]\nx = [-0.3, 0.3]\ny = [-0.3, 0.3]\nz = [-0.3, 0.3]\n\
         shear = {{ rate = 5 }}\n[[generate.lattice]]\ncount = [4, 4, 4]\nradius = 0.02\nposition = [0, 0, -0.25]\nground = false\n\
         walls = false\n{grain}\n\
         [[inlet]]\nbox = [[-0.2, -0.2, 0.1], [0.2, 0.2, 0.29]]\nrate = 1000\ncount = 5\nradius = 0.02\n{grain}\n"
    );
    let mut built = built(&text);
    built.simulation.step().expect("a step");
    let missed = of_bodies(&built, |x, v, _| (v - DVec3::X * (5.0 * x.z)).length());
    assert!(missed.len() == 65 && missed.iter().all(|v| *v < 1e-12), "{missed:?}");
}

#[test]
fn a_single_grain_meets_the_image_that_the_shear_brings() {
    // two balls of 0.1 at rest, 0.3 apart through the face; the image of the lower one passes above at γ̇ L = 1 m/s and touches the upper one
    let text = |flow: bool| {
        format!(
            "gravity = [0, 0, 0]\ntime = {{ step = \"1 ms\", end = 1 }}\nsolver = {{ tolerance = 1e-12 }}\ncontact = {{ e_n = 1, mu = 0 }}\n\
             [periodic]\nx = [-0.5, 0.5]\nz = [-0.5, 0.5]\nshear = {{ across = \"z\", along = \"x\", rate = 1, flow = {flow} }}\n\
             [[bodies]]\nname = \"up\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [0.3, 0, 0.5]\n\
             [[bodies]]\nname = \"low\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [0, 0, -0.5]\n"
        )
    };
    let mut built_ = built(&text(false));
    let mut met = None;
    for k in 0..300 {
        built_.simulation.step().expect("a step");
        let v = of_bodies(&built_, |_, v, _| v.x);
        if v[0] != 0.0 && met.is_none() {
            met = Some(f64::from(k) * 1e-3);
        }
    }
    // it comes at 1 m/s from the left: they exchange their velocities, as its own sees them
    let v = of_bodies(&built_, |_, v, _| v);
    assert!(met.is_some_and(|t| (t - 0.1).abs() < 2.1e-3), "{met:?}");
    assert!((v[0].x - 1.0).abs() < 1e-9 && (v[1].x + 1.0).abs() < 1e-9, "{v:?}");
    // with the flow both stand still against each other: one height, the one the image of the other
    let mut built_ = built(&text(true));
    assert_eq!(of_bodies(&built_, |_, v, _| v.x), [0.5, -0.5]);
    (0..300).for_each(|_| {
        assert_eq!(built_.simulation.step().expect("a step").contacts, 0);
    });
}

#[test]
fn attraction_to_an_image_that_moves_takes_the_work_that_the_shear_puts_in() {
    // two heavy balls at rest; the image of the lower one moves away from above the upper one at 1 m/s
    let text = "gravity = [0, 0, 0]\ntime = { step = \"0.5 ms\", end = 1 }\nsolver = { tolerance = 1e-10 }\n\
                contact = { adhesion = 1e-3, adhesion_range = 0.05 }\n\
                [periodic]\nx = [-0.5, 0.5]\nz = [-0.5, 0.5]\nshear = { across = \"z\", along = \"x\", rate = 1, flow = false }\n\
                [[bodies]]\nname = \"up\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.4]\n\
                [[bodies]]\nname = \"low\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, -0.39]\n";
    let mut built = built(text);
    built.simulation.run_until(0.05).expect("runs");
    let (work, way) = (built.simulation.balance().work, 0.21f64.hypot(0.05) - 0.21);
    assert!((work.adhesion / (-1e-3 * way) - 1.0).abs() < 0.03 && (work.drives / (1e-3 * way) - 1.0).abs() < 0.03, "{work:?} {way}");
    assert!(built.simulation.balance().error() < 1e-9, "{}", built.simulation.balance().error());
}

#[test]
fn physics_is_the_same_wherever_a_sheared_cell_is_cut() {
    let run = |by: [f64; 3], cut: [f64; 3]| {
        let mut built = built(&flow(by, cut, ""));
        let mut found = Vec::new();
        for _ in 0..40 {
            let report = built.simulation.step().expect("a step");
            assert!(report.converged, "{report:?}");
            // against the flow, which another cut moves as a whole
            let flow = |x: DVec3| DVec3::X * 20.0 * (x.z - by[2] - cut[2] - 0.04);
            let own: f64 = of_bodies(&built, |x, v, m| m * (v - flow(x)).length_squared()).into_iter().sum();
            found.push((own, report.contacts));
        }
        found
    };
    // what is packed lies in the cell of its own cut: moved back there
    let first = run([0.0; 3], [-0.04; 3]);
    for cut in [[0.0, -0.04, -0.04], [-0.04, 0.013, -0.04]] {
        let moved = std::array::from_fn(|a| -0.04 - cut[a]);
        let second = run(moved, cut);
        for (step, (a, b)) in first.iter().zip(&second).enumerate() {
            assert!((a.0 / b.0 - 1.0).abs() < 1e-7 && a.1 == b.1, "cut at {cut:?}, step {step}: {a:?} {b:?}");
        }
    }
    // across the shear a cut moves the flow by a constant velocity
    let mut one = built(&flow([0.0; 3], [-0.04; 3], ""));
    let mut two = built(&flow([0.0, 0.0, -0.03], [-0.04, -0.04, -0.01], ""));
    for step in 0..40 {
        let [a, b] = [&mut one, &mut two].map(|built| built.simulation.step().expect("a step").contacts);
        assert_eq!(a, b, "step {step}");
    }
    let [one, two] = [&one, &two].map(|built| of_bodies(built, |x, v, _| v - DVec3::X * 20.0 * x.z));
    let away = one[0] - two[0];
    for (a, b) in one.iter().zip(&two) {
        assert!((a - b - away).length() < 1e-6, "{a} {b} {away}");
    }
}

#[test]
fn contacts_of_grains_that_fly_together_are_judged_as_those_of_grains_at_rest() {
    let run = |speed: DVec3| {
        let mut built = built(&flow([0.0; 3], [-0.04; 3], "").replace("1e-9", "1e-3"));
        for e in built.entities.clone() {
            if let Some(mut v) = built.simulation.world_mut().get_mut::<Velocity>(e) {
                v.linear += speed;
            }
        }
        let steps: Vec<_> = (0..20).map(|_| built.simulation.step().expect("a step").report.iterations).collect();
        let contacts = &built.simulation.world().resource::<StepProblem>().problem.contacts;
        (steps, contacts.iter().map(|c| c.scale).collect::<Vec<_>>())
    };
    let (steps, rest) = run(DVec3::ZERO);
    let (same, moved) = run(DVec3::new(0.0, 30.0, -20.0));
    assert_eq!(steps, same);
    assert!(rest.len() > 200 && rest.len() == moved.len(), "{} {}", rest.len(), moved.len());
    for (a, b) in rest.iter().zip(&moved) {
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn a_step_alone_has_the_images_and_velocities_of_its_run() {
    let text = flow([0.0; 3], [-0.04; 3], "").replace("e_n = 0.3, ", "");
    let scene = Scene::from_toml(&text, "sheared").unwrap_or_else(|e| panic!("{e}"));
    let mut run = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    let places = |built: &Built| of_bodies(built, |x, v, _| (x, v));
    for steps in [1, 60, 100] {
        while run.simulation.steps() + 1 < steps {
            run.simulation.step().expect("a step");
        }
        let before = places(&run);
        run.simulation.step().expect("a step");
        let alone = last_step(&scene, &run.entities, &run.simulation).expect("grains touch").to_toml();
        let alone = Scene::from_toml(&alone, "alone").unwrap_or_else(|e| panic!("{e}"));
        let names: Vec<&str> = alone.bodies.iter().map(|b| b.name.as_str()).collect();
        let mut alone = build(&alone).unwrap_or_else(|e| panic!("{e}"));
        for (name, (x, v)) in names.iter().zip(places(&alone)) {
            let k = scene.bodies.iter().position(|b| b.name == *name).expect("a grain of the scene");
            assert!(x.distance(before[k].0) < 1e-12 && v.distance(before[k].1) < 1e-12, "step {steps}, {name}: {v} for {}", before[k].1);
        }
        // grains that touch through the faces meet the images that they met
        let report = alone.simulation.step().expect("a step");
        assert!(report.converged && report.penetration < 1e-6, "step {steps}: {}", report.penetration);
    }
}

#[test]
fn walls_and_bonds_in_a_sheared_cell_and_shears_without_a_cell_are_told() {
    let text =
        |text: &str| Scene::from_toml(text, "t").map_err(|e| e.to_string()).and_then(|s| build(&s).map(|_| ()).map_err(|e| e.to_string()));
    let floor = "[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\nposition = [0, 0, -1]\n";
    assert!(text(&flow([0.0; 3], [-0.04; 3], floor)).unwrap_err().contains("no walls"));
    let bond = flow([0.0; 3], [-0.04; 3], "").replace("mu = 0.4 }", "mu = 0.4, bond = { tension = 1e5 } }");
    assert!(text(&bond).unwrap_err().contains("bonds do not follow"));
    let open = flow([0.0; 3], [-0.04; 3], "").replace("across = \"z\"", "across = \"x\"");
    assert!(text(&open).unwrap_err().contains("two different axes"));
    let grid = "[[field]]\nbox = [[\"-inf\", \"-inf\", \"-inf\"], [\"inf\", \"inf\", \"inf\"]]\ncells = [4, 1, 4]\n";
    assert!(text(&flow([0.0; 3], [-0.04; 3], grid)).unwrap_err().contains("single cell along x"));
}
