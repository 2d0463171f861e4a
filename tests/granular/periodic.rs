//! Periodic cells: neighbours through the faces, the same physics wherever the cell is cut, momentum, resumption.

use drystone::geometry::systems::Proximity;
use drystone::io::scene::Scene;
use drystone::io::view::Window;
use drystone::model::contact::Manifold;
use drystone::model::newton_euler::{BodyPose, Inertia, Velocity};
use drystone::prelude::*;
use drystone::scenes::{Built, build};

fn built(text: &str) -> Built {
    build(&Scene::from_toml(text, "t").expect("a scene")).expect("builds")
}

fn momentum(built: &Built) -> DVec3 {
    let world = built.simulation.world();
    let of = |e: &Entity| Some(world.get::<Inertia>(*e)?.mass * world.get::<Velocity>(*e)?.linear);
    built.entities.iter().filter_map(of).sum()
}

#[test]
fn a_ball_that_crosses_a_face_meets_who_is_beyond() {
    for (axis, x, z) in [("x", 1.0, 0.0), ("z", 0.0, 1.0)] {
        let text = format!(
            "gravity = [0, 0, 0]\ntime = {{ step = \"1 ms\", end = 1 }}\nsolver = {{ tolerance = 1e-10 }}\ncontact = {{ e_n = 1.0, mu = 0.0 }}\n\
             periodic = {{ {axis} = [-0.5, 0.5] }}\n\
             [[bodies]]\nname = \"a\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [{}, 0, {}]\nvelocity = [{x}, 0, {z}]\n\
             [[bodies]]\nname = \"b\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [{}, 0, {}]\n",
            0.3 * x,
            0.3 * z,
            -0.3 * x,
            -0.3 * z
        );
        let mut built = built(&text);
        let axis = DVec3::new(x, 0.0, z);
        // they are 0.2 apart through the face
        (0..400).for_each(|_| {
            built.simulation.step().expect("a step");
        });
        let world = built.simulation.world();
        let at = |k: usize| world.get::<BodyPose>(built.entities[k]).expect("a body").0.position.dot(axis);
        let speed = |k: usize| world.get::<Velocity>(built.entities[k]).expect("a body").linear.dot(axis);
        assert!(speed(0).abs() < 1e-9 && (speed(1) - 1.0).abs() < 1e-9, "{} {}", speed(0), speed(1));
        // places go on through the face; the ball that was hit is drawn in the cell
        assert!((at(0) - 0.5).abs() < 2e-3 && (at(1) + 0.1).abs() < 2e-3, "{} {}", at(0), at(1));
        (0..1500).for_each(|_| {
            built.simulation.step().expect("a step");
        });
        let mut window = Window::new(built.entities.clone());
        let view = window.look(&built.simulation);
        for body in view.bodies {
            let (drawn, image) = (body.pose.position.dot(axis), body.image.as_dvec3().dot(axis));
            assert!((-0.5..0.5).contains(&drawn) && (drawn + image - body.position.dot(axis)).abs() < 1e-12);
        }
        assert!(view.bodies.iter().any(|b| b.image.as_dvec3().dot(axis) == 1.0));
    }
}

#[test]
fn what_lies_on_a_floor_touches_it_where_it_is_drawn() {
    // the floor is named first, or last
    for first in [true, false] {
        let floor = "[[bodies]]\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n";
        let ball = "[[bodies]]\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [1.7, 0, 0.1]\n";
        let [one, two] = if first { [floor, ball] } else { [ball, floor] };
        let mut built = built(&format!("time = {{ step = \"1 ms\", end = 1 }}\nperiodic = {{ x = [-0.5, 0.5] }}\n{one}{two}"));
        built.simulation.step().expect("a step");
        let mut window = Window::new(built.entities.clone());
        let view = window.look(&built.simulation);
        let [contact] = view.contacts else { panic!("{} contacts", view.contacts.len()) };
        assert!((contact.middle() + 0.3 * DVec3::X).length() < 1e-9, "{}", contact.middle());
        assert!(view.branch(contact).all(|end| (end.x + 0.3).abs() < 1e-9));
    }
}

/// A dense gas over a floor or in free space, moved as a whole.
fn gas(by: [f64; 3], extra: &str, grain: &str) -> String {
    format!(
        "time = {{ step = \"1 ms\", end = 1 }}\nsolver = {{ tolerance = 1e-9 }}\ncontact = {{ e_n = 0.3, mu = 0.4 }}\n\
         [[generate.lattice]]\ncount = [4, 4, 3]\nradius = {{ kind = \"uniform\", min = 0.008, max = 0.01 }}\npitch = 2.02\nlayer = 2.02\n\
         jitter = 0\nseed = 5\nwalls = false\nground = false\nposition = {by:?}\n{grain}{extra}"
    )
}

/// 4 × 2.02 radii of 1 cm.
const EDGE: f64 = 0.0808;

fn gaps(built: &Built) -> Vec<(u32, u32, f64)> {
    let world = built.simulation.world();
    let pairs = world.resource::<Proximity>().pairs();
    let gap =
        |&(i, j, e): &(u32, u32, Entity)| world.get::<Manifold>(e).map(|m| m.points.iter().map(move |t| (i, j, t.gap)).collect::<Vec<_>>());
    pairs.iter().filter_map(gap).flatten().collect()
}

fn stir(built: &mut Built) {
    for (k, &e) in built.entities.iter().enumerate() {
        let mut random = drystone::algebra::random::Sequence::new(k as u64);
        let v = DVec3::from_array(std::array::from_fn(|_| random.next_between(-0.5, 0.5)));
        if let Some(mut velocity) = built.simulation.world_mut().get_mut::<Velocity>(e) {
            velocity.linear = v;
        }
    }
}

#[test]
fn physics_is_the_same_wherever_the_cell_is_cut() {
    let faces = format!("[periodic]\nx = [{}, {}]\ny = [{}, {}]\n", -0.5 * EDGE, 0.5 * EDGE, -0.5 * EDGE, 0.5 * EDGE);
    let floor = "[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\nposition = [0, 0, -0.002]\n";
    // rocks reach steps of more than one solution sooner, where rounding decides
    for (grain, steps) in [("", 60), ("grain = { kind = \"rock\", corners = 12 }\n", 30)] {
        let run = |by: [f64; 3]| {
            let mut built = built(&gas(by, &format!("{faces}{floor}"), grain));
            stir(&mut built);
            let mut found = Vec::new();
            for _ in 0..steps {
                let report = built.simulation.step().expect("a step");
                assert!(report.converged && report.balance.error() < 1e-9, "{}", report.balance.error());
                found.push((report.balance.energy.kinetic, report.contacts));
            }
            (found, gaps(&built))
        };
        let (first, gaps1) = run([0.0; 3]);
        for by in [[0.031, 0.0, 0.0], [-0.4, 0.0173, 0.0], [7.0, -3.0, 0.0]] {
            let (second, gaps2) = run(by);
            for (step, (a, b)) in first.iter().zip(&second).enumerate() {
                assert!((a.0 / b.0 - 1.0).abs() < 1e-9 && a.1 == b.1, "moved by {by:?}, step {step}: {a:?} {b:?}");
            }
            assert_eq!(gaps1.len(), gaps2.len());
            for (a, b) in gaps1.iter().zip(&gaps2) {
                assert!((a.0, a.1) == (b.0, b.1) && (a.2 - b.2).abs() < 1e-11, "moved by {by:?}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn where_the_cell_is_cut_changes_no_bit() {
    // faces on a grid of powers of two: the edges are the same to the bit
    let run = |cut: [f64; 2], grain: &str| {
        let [x, y] = cut;
        let faces = format!("[periodic]\nx = [{}, {}]\ny = [{}, {}]\n", x, x + 0.125, y, y + 0.125);
        let floor = "[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\nposition = [0, 0, -0.002]\n";
        let text =
            gas([0.0; 3], &format!("{faces}{floor}"), grain).replace("count = [4, 4, 3]", "count = [6, 6, 2]").replace("1e-9", "1e-6");
        let mut built = built(&text);
        stir(&mut built);
        let contacts: usize = (0..60).map(|_| built.simulation.step().expect("a step").contacts).sum();
        let world = built.simulation.world();
        let state = |e: &Entity| Some((world.get::<BodyPose>(*e)?.0.position.to_array(), world.get::<Velocity>(*e)?.angular.to_array()));
        (built.entities.iter().filter_map(state).collect::<Vec<_>>(), contacts)
    };
    for grain in ["", "grain = { kind = \"rock\", corners = 12 }\n"] {
        let first = run([-0.0625; 2], grain);
        assert!(first.1 > 1000, "{} contacts", first.1);
        for cut in [[-0.03125, -0.0625], [0.010_742_187_5, -0.1], [3.0, -2.0]].map(|[x, y]| [x, (y * 1024.0f64).round() / 1024.0]) {
            assert!(run(cut, grain) == first, "cut at {cut:?}");
        }
    }
}

#[test]
fn momentum_stays_in_a_cell_without_walls_and_a_resumed_run_is_the_straight_one() {
    let faces = format!("[periodic]\nx = [0, {EDGE}]\ny = [0, {EDGE}]\nz = [0, {}]\n", 0.75 * EDGE);
    let text = format!("gravity = [0, 0, 0]\n{}", gas([0.0; 3], &faces, ""));
    let mut straight = built(&text);
    stir(&mut straight);
    let start = momentum(&straight);
    let mut impulses = 0;
    for _ in 0..40 {
        impulses += straight.simulation.step().expect("a step").contacts;
    }
    let saved = straight.simulation.save(&straight.entities);
    let size: f64 =
        straight.entities.iter().filter_map(|&e| straight.simulation.world().get::<Inertia>(e)).map(|i| i.mass).sum::<f64>() * 0.5;
    assert!((momentum(&straight) - start).length() < 1e-12 * size && impulses > 100, "{impulses} contacts");
    let mut resumed = built(&text);
    resumed.simulation.restore(&saved, &resumed.entities).expect("restores");
    for _ in 0..40 {
        straight.simulation.step().expect("a step");
        resumed.simulation.step().expect("a step");
    }
    assert_eq!(straight.simulation.state_hash(), resumed.simulation.state_hash());
}

#[test]
fn a_box_of_grains_through_the_faces_has_the_measures_of_an_endless_one() {
    // a simple cubic lattice of touching balls: every grain has six neighbours, and solid fraction π/6
    let mut built = built(
        "gravity = [0, 0, 0]\ntime = { step = \"1 ms\", end = 1 }\nsolver = { tolerance = 1e-9 }\n\
         periodic = { x = [0, 0.08], y = [0, 0.08], z = [0, 0.08] }\n\
         [[generate.lattice]]\ncount = [4, 4, 4]\nradius = 0.01\npitch = 2\nlayer = 2\njitter = 0\nwalls = false\nground = false\n",
    );
    let report = built.simulation.step().expect("a step");
    assert_eq!(report.contacts, 3 * 64);
    let packing = drystone::diagnostics::grains::Packing::of(&built.simulation, None);
    let (low, high) = packing.bounds();
    assert!((packing.solid_fraction(low, high) - std::f64::consts::PI / 6.0).abs() < 1e-9);
}

#[test]
fn what_does_not_fit_a_cell_is_refused_by_name() {
    let head = "time = { step = \"1 ms\", end = 1 }\n";
    let body = |shape: &str, motion: &str| format!("[[bodies]]\nname = \"rod\"\nmotion = \"{motion}\"\nshape = {shape}\n");
    let ball = "{ kind = \"ball\", radius = 0.3 }";
    for (shape, motion, word) in [
        (ball, "dynamic", "more than half of the periodic cell of 1 m"),
        ("{ kind = \"cuboid\", size = [0.9, 0.1, 0.1] }", "static", "let it reach through both faces"),
        ("{ kind = \"half_space\", normal = [1, 0, 0] }", "static", "across the axis x"),
    ] {
        let scene = Scene::from_toml(&format!("{head}periodic = {{ x = [0, 1] }}\n{}", body(shape, motion)), "t").expect("a scene");
        let error = build(&scene).expect_err(shape).to_string();
        assert!(error.contains("\"rod\"") && error.contains(word), "{error}");
        // the same body in an open scene is fine
        build(&Scene { periodic: Default::default(), ..scene }).expect("builds");
    }
    for (cell, word) in [("{ x = [1, 0] }", "along x"), ("{ }", "no axis"), ("{ w = [0, 1] }", "no axis")] {
        let error = Scene::from_toml(&format!("{head}periodic = {cell}\n{}", body(ball, "dynamic")), "t").expect_err(cell).to_string();
        assert!(error.contains(word), "{error}");
    }
    let scene = Scene::from_toml(
        &format!("{head}periodic = {{ x = [0.1, 0.7], z = [0, 3] }}\n{}", body("{ kind = \"ball\", radius = 0.1 }", "dynamic")),
        "t",
    );
    let scene = scene.expect("a scene");
    assert_eq!(Scene::from_toml(&scene.to_toml(), "t").expect("reads back"), scene);
}
