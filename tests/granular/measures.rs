//! Measures against closed forms and brute force.

use drystone::algebra::random::Sequence;
use drystone::diagnostics::fields::coarse_grain;
use drystone::diagnostics::grains::{COLUMNS, Grain, Link, Packing, ball_in_box, row};
use drystone::io::scene::Scene;
use drystone::model::flow::Region;
use drystone::model::grid::Grid;
use drystone::model::periodic::{Cell, Shear};
use drystone::prelude::*;
use drystone::scenes::{load, run};

#[test]
fn a_ball_in_a_box_has_the_volumes_of_caps_wedges_and_corners() {
    let (r, pi, far) = (0.7f64, std::f64::consts::PI, 9.0);
    let whole = 4.0 / 3.0 * pi * r.powi(3);
    let open = DVec3::splat(far);
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for h in [0.01, 0.3, 0.7, 1.1, 1.39] {
            let cap = pi * h * h * (3.0 * r - h) / 3.0;
            let low = -open + axis * (far - r + (2.0 * r - h));
            let found = ball_in_box(DVec3::ZERO, r, low, open);
            assert!((found - cap).abs() < 1e-8 * whole, "{axis} {h}: {found} {cap}");
        }
    }
    let centre = DVec3::new(0.2, -0.3, 5.0);
    let quarter = ball_in_box(centre, r, DVec3::new(0.2, -0.3, -far), open);
    assert!((quarter - whole / 4.0).abs() < 1e-8 * whole);
    // boxes that fill space share out the ball
    let mut random = Sequence::new(1);
    for _ in 0..50 {
        // on the grid of the brute force below
        let [x, y, z] = [(); 3].map(|()| (random.next_between(-0.6, 0.6) / (r / 30.0)).round() * (r / 30.0));
        let cut = DVec3::new(x, y, z);
        let part = |k: u32| {
            let low = DVec3::select(glam::BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), cut, -open);
            let high = DVec3::select(glam::BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), open, cut);
            ball_in_box(DVec3::ZERO, r, low, high)
        };
        let sum: f64 = (0..8).map(part).sum();
        assert!((sum - whole).abs() < 1e-8 * whole, "{cut}: {sum} {whole}");
        // brute force on a grid
        let n = 60;
        let at = |k: usize| -r + 2.0 * r * (k as f64 + 0.5) / n as f64;
        let mut counted = 0;
        for (i, j, k) in (0..n).flat_map(|i| (0..n).flat_map(move |j| (0..n).map(move |k| (i, j, k)))) {
            let p = DVec3::new(at(i), at(j), at(k));
            counted += usize::from(p.length() < r && p.cmpge(cut).all());
        }
        let grid = counted as f64 * (2.0 * r / n as f64).powi(3);
        assert!((grid - part(7)).abs() < 5e-3 * whole, "{cut}: {grid} {}", part(7));
    }
}

fn grains(n: usize, seed: u64) -> Vec<Grain> {
    let mut random = Sequence::new(seed);
    let mut vector = || DVec3::from_array([(); 3].map(|()| random.next_between(-1.0, 1.0)));
    (0..n)
        .map(|_| Grain { position: vector(), velocity: vector(), mass: 2.0, volume: 1.0, radius: Some(0.1), ..Grain::default() })
        .collect()
}

#[test]
fn temperature_fabric_and_coordination_are_those_of_brute_force() {
    let packing = Packing { grains: grains(40, 3), ..Packing::default() };
    // (1/6N²) Σ |v_i − v_j|², which needs no mean
    let v: Vec<DVec3> = packing.grains.iter().map(|g| g.velocity).collect();
    let pairs: f64 = v.iter().flat_map(|a| v.iter().map(move |b| (*a - *b).length_squared())).sum();
    assert!((packing.temperature() - pairs / (6.0 * 1600.0)).abs() < 1e-14);
    // grains 0–1–2 in a triangle, 3 hangs on 0, 4 is alone; 0 also touches a wall, the pair 1–2 at two points
    let link = |a: usize, b: Option<usize>, normal: DVec3| {
        let slots = [a as u32, b.map_or(9, |b| b as u32)];
        Link { grains: [Some(a), b], slots, normal, force: normal, ..Link::default() }
    };
    let links = vec![
        link(0, Some(1), DVec3::X),
        link(0, Some(2), DVec3::Y),
        link(1, Some(2), DVec3::Z),
        link(1, Some(2), DVec3::Z),
        link(0, Some(3), DVec3::X),
        link(0, None, DVec3::Z),
    ];
    let packing = Packing { grains: grains(5, 3), links, ..Packing::default() };
    let z = packing.coordination();
    // neighbours 4, 2, 2, 1, 0
    assert_eq!((z.mean, z.rattlers), (9.0 / 5.0, 2));
    assert!((z.mechanical - 8.0 / 3.0).abs() < 1e-15);
    let fabric = packing.fabric();
    assert!((fabric.x_axis.x - 2.0 / 6.0).abs() < 1e-15 && (fabric.y_axis.y - 1.0 / 6.0).abs() < 1e-15);
    assert!((fabric.x_axis.x + fabric.y_axis.y + fabric.z_axis.z - 1.0).abs() < 1e-15);
}

#[test]
fn a_column_of_balls_has_its_stress_and_balance() {
    let n = 6;
    let (mut sim, r, m) = (Simulation::default(), 0.1, 2.0);
    sim.solver_mut().tolerance = 1e-12;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z).expect("n")).fixed()).expect("a floor");
    for k in 0..n {
        let at = DVec3::Z * (r + 2.0 * r * f64::from(k));
        sim.spawn_body(Body::new(Shape::ball(r).expect("r")).mass(m).at(at)).expect("a ball");
    }
    sim.run_until(0.05).expect("rests");
    let packing = Packing::of(&sim, None);
    // Σ f l over contacts: r m g n for the floor, 2 r m g (n − k) for the k-th pair: r m g n²
    let exact = r * m * 9.81 * f64::from(n * n);
    let stress = packing.stress(1.0);
    assert!((stress.z_axis.z / exact - 1.0).abs() < 1e-8 && stress.x_axis.length() < 1e-8 * exact, "{stress}");
    assert!(packing.unbalanced() < 1e-8);
    assert!((packing.coordination().mean - (2.0 * f64::from(n) - 1.0) / f64::from(n)).abs() < 1e-15);
    // a ball in a cube of its own diameter
    assert!(
        (packing.solid_fraction(DVec3::new(-r, -r, 0.0), DVec3::new(r, r, 2.0 * r * f64::from(n))) - std::f64::consts::PI / 6.0).abs()
            < 1e-6
    );
    // the lower half alone: the cut contact counts with the half branch of its grain
    let lower = drystone::model::flow::Region::Box { low: DVec3::splat(-1.0), high: DVec3::new(1.0, 1.0, 0.6) };
    let half = Packing::of(&sim, Some(&lower));
    let exact = r * m * 9.81 * (6.0 + 2.0 * (5.0 + 4.0) + 3.0);
    assert_eq!(half.grains.len(), 3);
    assert!((half.stress(1.0).z_axis.z / exact - 1.0).abs() < 1e-8);
}

/// A chain of balls on rods has no contact: forces of its joints stand where those of contacts would.
#[test]
fn what_hangs_in_joints_alone_has_an_unbalanced_force() {
    let (mut sim, m) = (Simulation::default(), 2.0);
    let spawn =
        |sim: &mut Simulation, k: f64| sim.spawn_body(Body::new(Shape::ball(0.1).expect("r")).mass(m).at(-k * DVec3::Z)).expect("a ball");
    let (upper, lower) = (spawn(&mut sim, 1.0), spawn(&mut sim, 2.0));
    let joint = |at: f64| JointSpec::new(JointKind::Spherical).at(-at * DVec3::Z);
    sim.add_joint(upper, None, &joint(0.0)).expect("a joint");
    sim.add_joint(upper, Some(lower), &joint(1.0)).expect("a joint");
    sim.run_until(0.1).expect("hangs");
    let packing = Packing::of(&sim, None);
    let borne: Vec<f64> = packing.joints.iter().map(|joint| joint.1 / (m * 9.81)).collect();
    assert!(packing.links.is_empty() && borne.len() == 2 && (borne.iter().sum::<f64>() - 3.0).abs() < 1e-9, "{borne:?}");
    assert!(packing.unbalanced() < 1e-8, "{}", packing.unbalanced());
    // the upper ball alone holds both joints
    let region = drystone::model::flow::Region::Box { low: DVec3::new(-1.0, -1.0, -1.5), high: DVec3::ONE };
    assert_eq!(packing.within(&region).joints.iter().map(|joint| joint.0).collect::<Vec<_>>(), [[Some(0), None]; 2]);
    // thrown, the mean resultant is that of the mean force
    sim.world_mut().get_mut::<Velocity>(lower).expect("there").linear = DVec3::X;
    sim.run_until(0.2).expect("swings");
    let packing = Packing::of(&sim, None);
    let mean = packing.grains.iter().map(|g| g.resultant.length()).sum::<f64>() / packing.joints.iter().map(|j| j.1).sum::<f64>();
    assert!(packing.unbalanced() > 0.01 && (packing.unbalanced() / mean - 1.0).abs() < 1e-12, "{} {mean}", packing.unbalanced());
}

#[test]
fn the_stress_of_a_settled_pile_is_that_of_its_weight_and_walls() {
    let (built, _) = run(&load("bead_pour", &[("n", "5"), ("solver.tolerance", "1e-5")]).expect("a scene")).expect("runs");
    let packing = Packing::of(&built.simulation, None);
    let stress = packing.stress(1.0);
    // in rest Σ_contacts f ⊗ branch = Σ_walls f ⊗ (−p) − Σ m g ⊗ x: only what acts from outside, and where
    let mut outside = DMat3::ZERO;
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    for link in packing.links.iter() {
        match link.grains {
            [Some(_), None] => outside -= outer(link.force, packing.place(link)),
            [None, Some(_)] => outside += outer(link.force, packing.place(link)),
            _ => {}
        }
    }
    for grain in &packing.grains {
        outside -= outer(grain.mass * -9.81 * DVec3::Z, grain.position);
    }
    let miss = (stress - outside).to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = stress.z_axis.z;
    assert!(miss < 0.05 * scale && packing.unbalanced() < 0.05, "{miss} of {scale}, unbalanced {}", packing.unbalanced());
    assert!(stress.x_axis.x > 0.0 && stress.y_axis.y > 0.0, "walls press");
    let z = packing.coordination();
    assert!(z.mean > 3.0 && z.mechanical >= z.mean && z.mechanical < 9.0, "{z:?}");
}

#[test]
fn a_table_of_measures_has_these_values() {
    let scene = Scene::from_toml(
        "time = { step = 1e-3, end = 0.1 }\n[[generate.lattice]]\ncount = [3, 3, 3]\nradius = 0.1\nlayer = 2.2\njitter = 0\n[[measure]]\nbox = [[-1, -1, 0], [1, 1, 1]]",
        "t",
    )
    .expect("a scene");
    assert_eq!(scene.measures[0].name, "measure");
    let (built, _) = run(&scene).expect("runs");
    let row = row(built.simulation.time(), &Packing::of(&built.simulation, None), scene.measures[0].bounds);
    let of = |name: &str| row[COLUMNS.iter().position(|c| *c == name).expect("a column")];
    assert_eq!((of("time [s]"), of("grains")), (built.simulation.time(), 27.0));
    assert!((of("solid_fraction") - 27.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3 / 4.0).abs() < 1e-12);
    let places = built.entities.iter().filter(|e| built.simulation.world().get::<Inertia>(**e).is_some());
    let heights = places.filter_map(|e| built.simulation.world().get::<BodyPose>(*e)).map(|pose| pose.0.position.z);
    assert!((of("centre_z [m]") - heights.sum::<f64>() / 27.0).abs() < 1e-12 && of("centre_x [m]").abs() < 1e-12);
    for (text, found) in [("box = [[0, 0, 0], [1, 1, \"inf\"]]", "is open"), ("name = \"steps\"", "cannot be that of its file")] {
        let head = "time = { step = 1e-3, end = 1 }\n[[generate.pyramid]]\nbase = 2\nradius = 0.1\n[[measure]]\n";
        let error = Scene::from_toml(&format!("{head}{text}"), "t.toml").expect_err(text).to_string();
        assert!(error.contains(found) && error.contains("t.toml"), "{text}: {error}");
    }
}

/// A scene that has run, and what its grains are then.
fn measured(text: &str) -> Packing {
    let (built, _) = run(&Scene::from_toml(text, "t").expect(text)).expect(text);
    let packing = Packing::of(&built.simulation, None);
    assert!(!packing.links.is_empty(), "{text}");
    packing
}

/// One value of the row of all grains.
fn of(packing: &Packing, name: &str) -> f64 {
    row(0.0, packing, None)[COLUMNS.iter().position(|c| *c == name).expect("a column")]
}

const FLOOR: &str = "[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n";

/// A ball in a groove of two planes without friction, at this speed (m/s).
fn groove(speed: f64) -> String {
    let mut text = "time = { step = \"1 ms\", end = 0.05 }\nsolver = { tolerance = 1e-12 }\n[contact]\nmu = 0\n".to_owned();
    for x in [-1, 1] {
        let shape = format!("shape = {{ kind = \"half_space\", normal = [{x}, 0, 1] }}");
        text += &format!("[[bodies]]\n{shape}\nmotion = {{ kind = \"constant\", velocity = [{speed}, 0, 0] }}\n");
    }
    let z = 0.1 * std::f64::consts::SQRT_2;
    text + &format!("[[bodies]]\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [0, 0, {z}]\nvelocity = [{speed}, 0, 0]\n")
}

#[test]
fn the_stress_is_the_same_in_a_frame_that_moves_on() {
    // what slides without friction bears no shear stress
    let slides = "[contact]\nmu = 0\n[[bodies]]\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\nvelocity = [5, 0, 0]\n";
    let packing = measured(&format!("time = {{ step = \"2 ms\", end = 0.1 }}\n{slides}{FLOOR}"));
    let (shear, pressure) = (of(&packing, "stress_zx [Pa]"), of(&packing, "stress_zz [Pa]"));
    assert!(pressure > 100.0 && shear.abs() < 1e-9 * pressure, "{shear} of {pressure} Pa");
    let grid = Grid { low: DVec3::new(0.0, -1.0, -1.0), high: DVec3::ONE, ..Grid::default() };
    let field = coarse_grain(&grid, &packing)[0];
    let (x, z) = (field.stress.row(2).x, field.stress.row(2).z);
    assert!(z > 0.0 && x.abs() < 1e-9 * z, "{x} of {z} Pa");
    let [rests, moves] = [0.0, 3.0].map(|speed| measured(&groove(speed)).stress(1.0));
    let miss = (rests - moves).to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(miss < 1e-6 * rests.z_axis.z, "{rests}\n{moves}");
}

#[test]
fn bonds_bear_stress_and_join_neighbours() {
    let mut text = "time = { step = \"1 ms\", end = 0.2 }\nsolver = { tolerance = 1e-10 }\n[contact]\n\
                    bond = { tension = \"1 MPa\", cohesion = \"1 MPa\", softening = \"brittle\", neck = 0.5 }\n\
                    [[bodies]]\nshape = { kind = \"ball\", radius = 0.02 }\nmotion = \"static\"\n"
        .to_owned();
    for k in 1..=3 {
        text += &format!(
            "[[bodies]]\nname = \"b{k}\"\nshape = {{ kind = \"ball\", radius = 0.02 }}\nposition = [0, 0, {}]\n",
            -0.04 * f64::from(k)
        );
    }
    text += "[[load]]\nbodies = [\"b3\"]\nforce = [0, 0, -10]\n";
    let (built, _) = run(&Scene::from_toml(&text, "t").expect("a scene")).expect("runs");
    let packing = Packing::of(&built.simulation, None);
    let z = packing.coordination();
    assert_eq!((z.rattlers, of(&packing, "contacts")), (1, 3.0), "the last one of the chain; a neck counts once");
    assert!((z.mean - 5.0 / 3.0).abs() < 1e-15 && packing.unbalanced() < 1e-3, "{z:?}, unbalanced {}", packing.unbalanced());
    let (weight, r) = (9.81 * packing.grains[0].mass, 0.02);
    // the support bears half of a branch
    let exact = -((3.0 * weight + 10.0) * r + (2.0 * weight + 10.0) * 2.0 * r + (weight + 10.0) * 2.0 * r);
    let found = packing.stress(1.0);
    assert!((found.z_axis.z / exact - 1.0).abs() < 1e-3 && (found.x_axis.length() / exact).abs() < 1e-3, "{found} {exact}");
    // by all of its normals the chain is along z
    assert!((packing.fabric().z_axis.z - 1.0).abs() < 1e-6);
    // a joint whose mortar bears nothing, as its corners press, is one contact all the same
    let brick = "[[bodies]]\nshape = { kind = \"cuboid\", size = [0.2, 0.2, 0.2] }\nposition = [0, 0, 0.1]\n";
    let mortar = "[contact]\nbond = { tension = \"1 MPa\" }\n";
    let count = |contact: &str| of(&measured(&format!("time = {{ step = \"1 ms\", end = 0.05 }}\n{contact}{FLOOR}{brick}")), "contacts");
    assert_eq!([count(""), count(mortar)], [4.0, 1.0]);
}

#[test]
fn a_neighbour_counts_once_also_where_it_touches_at_points_that_look_different_ways() {
    let pair = "parts = [{ shape = { kind = \"ball\", radius = 0.1 }, position = [-0.1, 0, 0] }, { shape = { kind = \"ball\", radius = 0.1 }, position = [0.1, 0, 0] }]";
    let ball = "[[bodies]]\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.27320508]\n";
    for motion in ["static", "dynamic"] {
        let text = format!(
            "time = {{ step = \"1 ms\", end = 0.05 }}\n{FLOOR}[[bodies]]\nmotion = \"{motion}\"\nposition = [0, 0, 0.1]\n\
             shape = {{ kind = \"compound\", {pair} }}\n{ball}"
        );
        let above = Region::Box { low: DVec3::Z * 0.2 - DVec3::ONE.with_z(0.0), high: DVec3::ONE };
        let upper = measured(&text).within(&above);
        assert_eq!((upper.grains.len(), upper.links.len(), upper.coordination().mean), (1, 2, 1.0), "{motion}");
    }
}

#[test]
fn what_rests_is_balanced_whatever_acts_on_it() {
    let ball = "[[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.1]\n";
    let head = format!("time = {{ step = \"1 ms\", end = 0.2 }}\nsolver = {{ tolerance = 1e-10 }}\n[contact]\nmu = 0.8\n{FLOOR}{ball}");
    for more in [
        "[[load]]\nbodies = [\"ball\"]\nforce = [0, 0, -50]\n",
        "force = [0, 0, -50]\n",
        "locked_rotation = [\"x\", \"y\", \"z\"]\n[base]\nsamples = [[0, 2, 0, 0], [1, 2, 0, 0]]\n",
        "locked_translation = [\"x\"]\nforce = [30, 0, 0]\n",
        "[[joints]]\nkind = \"prismatic\"\nbody1 = \"ball\"\nanchor = [0, 0, 0.1]\naxis = [0, 0, 1]\n[[load]]\nbodies = [\"ball\"]\nforce = [40, 0, 0]\n",
    ] {
        let packing = measured(&format!("{head}{more}"));
        assert_eq!(packing.grains.len(), 1, "{more}");
        assert!(packing.unbalanced() < 1e-6, "{more}: {}", packing.unbalanced());
    }
    // one that falls is not
    let falls = format!("{head}[[bodies]]\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [1, 0, 1]\n");
    assert!((measured(&falls).unbalanced() - 0.5).abs() < 1e-6);
    // and a run that waits for balance ends
    let text = format!("{head}[[load]]\nbodies = [\"ball\"]\nforce = [0, 0, -50]\n[stop]\nunbalanced = 1e-3\nhold = 0.05\n");
    let (_, summary) = run(&Scene::from_toml(&text, "t").expect("a scene")).expect("runs");
    assert!(summary.ended_early.is_some_and(|why| why.contains("unbalanced")) && summary.time < 0.1);
    assert_eq!(summary.verdict, None, "grains may move before they balance");
}

#[test]
fn the_box_of_grains_that_are_no_balls_holds_their_shapes() {
    let mut text = format!("time = {{ step = \"1 ms\", end = 0.01 }}\n{FLOOR}");
    for k in 0..8 {
        let [x, y, z] = [k & 1, k >> 1 & 1, k >> 2].map(|n| 0.02 * f64::from(n));
        text += &format!("[[bodies]]\nshape = {{ kind = \"cuboid\", size = [0.02, 0.02, 0.02] }}\nposition = [{x}, {y}, {}]\n", z + 0.01);
    }
    let packing = measured(&text);
    assert!((of(&packing, "solid_fraction") - 1.0).abs() < 1e-6, "{}", of(&packing, "solid_fraction"));
    // two layers, the lower one under both: m g (3 × half an edge + 1 × half an edge) of each column, over the volume of its two cubes
    let exact = 9.81 * packing.grains[0].mass * 0.02 * (0.5 * 2.0 + 1.0) / (2.0 * 8e-6);
    assert!((of(&packing, "stress_zz [Pa]") / exact - 1.0).abs() < 1e-3, "{} {exact}", of(&packing, "stress_zz [Pa]"));
    // points have no box
    let point = Packing { grains: vec![Grain::default()], ..Packing::default() };
    assert!(of(&point, "solid_fraction").is_nan() && of(&point, "stress_zz [Pa]").is_nan());
}

#[test]
fn a_chain_on_a_line_is_of_grains_and_a_servo_wall_is_none() {
    let chain = "[[generate.lattice]]\ncount = [1, 1, 6]\nradius = 0.01\npitch = 2\nlayer = 2\njitter = 0\nground = false\nwalls = false\n\
                 locked_translation = [\"x\", \"y\"]\nlocked_rotation = [\"x\", \"y\", \"z\"]\n";
    let lid = "[[bodies]]\nname = \"lid\"\nshape = { kind = \"cuboid\", size = [0.05, 0.05, 0.01] }\nposition = [0, 0, 0.2]\n\
               servo = { axis = \"z\", force = -1 }\n";
    let packing = measured(&format!("time = {{ step = \"1 ms\", end = 0.1 }}\nsolver = {{ tolerance = 1e-8 }}\n{FLOOR}{chain}{lid}"));
    assert_eq!(packing.grains.len(), 6);
    assert!(packing.coordination().mean >= 11.0 / 6.0);
}

#[test]
fn the_temperature_of_a_sheared_cell_is_that_against_its_flow() {
    let cell = Cell::new([Some([0.0, 1.0]); 3]).expect("a cell").sheared(Shear { across: 2, along: 0, rate: 25.0 }).expect("sheared");
    let flow = |g: Grain| Grain { velocity: cell.flow(g.position), ..g };
    let packing = Packing { grains: grains(40, 5).into_iter().map(flow).collect(), cell, ..Packing::default() };
    assert!(packing.temperature() < 1e-24, "{}", packing.temperature());
    let open = Packing { cell: Cell::default(), ..packing };
    assert!(open.temperature() > 1.0);
}

#[test]
fn discs_in_a_plane_have_an_area_fraction() {
    // a square lattice of discs: π/4, cut by a box through the middles of the outer ones, and of all of them
    let text = "gravity = [0, 0, 0]\ntime = { step = \"1 ms\", end = 0.001 }\n[[generate.lattice]]\ncount = [5, 1, 5]\nradius = 0.1\npitch = 2\n\
                layer = 2\njitter = 0\nground = false\nwalls = false\nlocked_translation = [\"y\"]\n[[measure]]\n[[measure]]\nbox = [[-0.4, -1, 0.1], [0.4, 1, 0.9]]\n";
    let scene = Scene::from_toml(text, "t").expect("a scene");
    let (_, summary) = run(&scene).expect("runs");
    for measure in &scene.measures {
        let found = summary.measures[&measure.name].get("area_fraction").expect("a column");
        assert!((found - std::f64::consts::PI / 4.0).abs() < 1e-9, "{}: {found}", measure.name);
    }
    let free = Scene::from_toml(&text.replace("locked_translation = [\"y\"]\n", ""), "t").expect("a scene");
    assert_eq!(free.measures[0].discs, None);
}
