//! Measures against closed forms and brute force.

use drystone::algebra::random::Sequence;
use drystone::diagnostics::grains::{COLUMNS, Grain, Link, Packing, ball_in_box, row};
use drystone::io::scene::Scene;
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
    (0..n).map(|_| Grain { position: vector(), velocity: vector(), mass: 2.0, volume: 1.0, radius: Some(0.1) }).collect()
}

#[test]
fn temperature_fabric_and_coordination_are_those_of_brute_force() {
    let packing = Packing { grains: grains(40, 3), ..Packing::default() };
    // (1/6N²) Σ |v_i − v_j|², which needs no mean
    let v: Vec<DVec3> = packing.grains.iter().map(|g| g.velocity).collect();
    let pairs: f64 = v.iter().flat_map(|a| v.iter().map(move |b| (*a - *b).length_squared())).sum();
    assert!((packing.temperature() - pairs / (6.0 * 1600.0)).abs() < 1e-14);
    // grains 0–1–2 in a triangle, 3 hangs on 0, 4 is alone; 0 also touches a wall, the pair 1–2 at two points
    let link = |a: usize, b: Option<usize>, normal: DVec3| Link {
        grains: [Some(a), b],
        point: DVec3::ZERO,
        shift: DVec3::ZERO,
        normal,
        force: normal,
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
            [Some(_), None] => outside -= outer(link.force, link.point),
            [None, Some(_)] => outside += outer(link.force, link.point),
            _ => {}
        }
    }
    for grain in &packing.grains {
        outside -= outer(grain.mass * packing.gravity, grain.position);
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
