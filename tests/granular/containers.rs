//! Round vessels hold balls exactly: gaps against closed forms and brute force, rest and motion against mechanics.

use drystone::algebra::random::Sequence;
use drystone::geometry::{ContactPoint, Scratch, contact_points};
use drystone::io::scene::Scene;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::prelude::*;
use drystone::scenes::{build, run};
use glam::DVec2;

fn vessel(profile: &[[f64; 2]], thickness: f64) -> Shape {
    Shape::vessel(&profile.iter().map(|&p| DVec2::from(p)).collect::<Vec<_>>(), thickness).expect("a vessel")
}

fn touch(radius: f64, at: DVec3, shape: &Shape, reach: f64) -> Vec<ContactPoint> {
    let (ball, mut points) = (Shape::ball(radius).expect("r"), Vec::new());
    contact_points(&ball, &Pose::at(at), shape, &Pose::IDENTITY, reach, &mut Scratch::default(), &mut points);
    points
}

#[test]
fn a_tube_and_a_cone_have_the_gaps_of_their_formulas() {
    let (tube, cone) = (vessel(&[[0.2, 0.0], [0.2, 1.0]], 0.02), vessel(&[[0.1, 0.0], [0.5, 0.3]], 0.02));
    let mut random = Sequence::new(4);
    for _ in 0..500 {
        let [x, y, z] = [(); 3].map(|()| random.next_between(-0.1, 0.1));
        let rho = x.hypot(y);
        let found = touch(0.03, DVec3::new(x, y, 0.5 + z), &tube, 0.08);
        let gap = 0.2 - rho - 0.03;
        if gap <= 0.08 {
            let nearest = found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).expect("a point");
            assert!((nearest.gap - gap).abs() < 1e-15 && (nearest.normal + DVec3::new(x, y, 0.0) / rho).length() < 1e-14);
            assert!((nearest.point1 - nearest.point2 - nearest.gap * nearest.normal).length() < 1e-15);
        } else {
            assert!(found.is_empty(), "{rho}");
        }
        // the wall of the cone: 0.3 (ρ − 0.1) = 0.4 z, unit normal (−0.6, 0.8) in its half-plane
        let c = DVec3::new(x, y, 0.25 + 0.5 * z);
        let gap = -0.6 * (rho - 0.1) + 0.8 * c.z - 0.03;
        let found = touch(0.03, c, &cone, 1.0);
        let wall = found.iter().filter(|p| (p.normal.z - 0.8).abs() < 1e-12).min_by(|a, b| a.gap.total_cmp(&b.gap)).expect("a wall");
        assert!((wall.gap - gap).abs() < 1e-15, "{} {gap}", wall.gap);
    }
}

#[test]
fn distances_are_those_of_a_dense_cloud_on_the_surface() {
    for (profile, closed) in [
        (vec![[0.04, -0.02], [0.04, 0.0], [0.2, 0.0], [0.2, 0.5]], false),
        (vec![[0.05, 0.0], [0.2, 0.2], [0.2, 0.5], [0.15, 0.6]], false),
        (vec![[0.0, 0.0], [0.1, 0.1], [0.3, 0.1], [0.3, 0.3]], true),
    ] {
        let shape = vessel(&profile, 0.05);
        let mut outline = profile.clone();
        let (top, widest) = (profile[profile.len() - 1][1], profile.iter().map(|p| p[0]).fold(0.0, f64::max) + 0.05);
        let bottom = profile[0][1] - if closed { 0.05 } else { 0.0 };
        outline.extend([[widest, top], [widest, bottom]]);
        outline.push(if closed { [0.0, bottom] } else { profile[0] });
        let cloud: Vec<DVec2> =
            outline.windows(2).flat_map(|w| (0..=4000).map(|k| DVec2::from(w[0]).lerp(DVec2::from(w[1]), f64::from(k) / 4000.0))).collect();
        let mut random = Sequence::new(9);
        let mut looked = 0;
        for _ in 0..400 {
            let c = DVec3::new(random.next_between(-0.4, 0.4), random.next_between(-0.4, 0.4), random.next_between(-0.2, 0.7));
            let p = DVec2::new(c.x.hypot(c.y), c.z);
            let nearest = cloud.iter().map(|q| q.distance(p)).fold(f64::INFINITY, f64::min);
            let found = touch(0.01, c, &shape, 2.0);
            let best = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            // in the solid the way out is the shortest, too
            let distance = if best < -0.01 { -nearest } else { nearest };
            assert!((best + 0.01 - distance).abs() < 2e-4, "{c}: {best} {distance}");
            looked += usize::from(best > 0.0);
        }
        assert!(looked > 100);
    }
}

#[test]
fn a_corner_of_floor_and_wall_has_a_point_on_each() {
    let silo = vessel(&[[0.04, -0.02], [0.04, 0.0], [0.2, 0.0], [0.2, 0.5]], 0.02);
    let found = touch(0.02, DVec3::new(0.18, 0.0, 0.02), &silo, 1e-3);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|p| p.gap.abs() < 1e-15));
    assert!(found.iter().any(|p| p.normal == DVec3::Z) && found.iter().any(|p| (p.normal + DVec3::X).length() < 1e-15));
    assert_ne!(found[0].feature, found[1].feature);
}

fn scene(bodies: &str, end: f64, step: &str) -> Scene {
    let head = format!("time = {{ step = \"{step}\", end = {end} }}\nsolver = {{ tolerance = 1e-8 }}\ncontact = {{ mu = 0 }}\n");
    Scene::from_toml(&(head + bodies), "t").unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn balls_come_to_rest_in_cones_and_on_rims_where_geometry_says() {
    // half angle 30°: the centre rests at r / sin 30° above the apex
    let cone = r#"
        [[bodies]]
        motion = "static"
        shape = { kind = "cone", radius = [0, 0.288675134594813], height = 0.5 }
        [[bodies]]
        name = "ball"
        shape = { kind = "ball", radius = 0.05 }
        position = [0.01, 0.005, 0.15]
    "#;
    // an orifice smaller than the ball: it sits on the rim at √(r² − R²)
    let plug = r#"
        [[bodies]]
        motion = "static"
        shape = { kind = "hopper", orifice = 0.03, radius = 0.2, height = 0.3 }
        [[bodies]]
        name = "ball"
        shape = { kind = "ball", radius = 0.05 }
        position = [0.01, 0.005, 0.06]
    "#;
    for (text, height) in [(cone, 0.1), (plug, 0.04)] {
        for step in ["0.5 ms", "1 ms", "4 ms"] {
            let (built, summary) = run(&scene(text, 4.0, step)).expect("runs");
            let (pose, v) =
                (built.simulation.world().get::<BodyPose>(built.entities[1]), built.simulation.world().get::<Velocity>(built.entities[1]));
            let (x, v) = (pose.expect("alive").0.position, v.expect("alive").linear);
            assert!((x.z - height).abs() < 1e-5 && x.x.hypot(x.y) < 1e-3 && v.length() < 1e-3, "{step}: {x} {v}");
            assert_eq!(summary.unconverged_steps, 0);
        }
    }
}

#[test]
fn a_ball_swings_in_a_lying_tube_as_a_pendulum() {
    let text = r#"
        [[bodies]]
        motion = "static"
        shape = { kind = "tube", radius = 1, height = 2 }
        rotation = { axis = [0, 1, 0], angle = "90 deg" }
        [[bodies]]
        name = "ball"
        shape = { kind = "ball", radius = 0.1 }
        position = [1, 0.045, -0.898874296]
    "#;
    let mut built = build(&scene(text, 10.0, "0.5 ms")).expect("builds");
    let sim = &mut built.simulation;
    let y = |sim: &Simulation| sim.world().get::<BodyPose>(built.entities[1]).expect("alive").0.position.y;
    // five zeros after the first
    let (mut zeros, mut last) = (Vec::new(), y(sim));
    while zeros.len() < 6 {
        sim.step().expect("a step");
        let now = y(sim);
        if last * now < 0.0 {
            zeros.push(sim.time() - 5e-4 * now / (now - last));
        }
        last = now;
    }
    // half a period each; small swings of amplitude 0.05 rad are longer by its square / 16
    let period = std::f64::consts::TAU * (0.9f64 / 9.81).sqrt() * (1.0 + 0.05 * 0.05 / 16.0);
    assert!(((zeros[5] - zeros[0]) / 2.5 / period - 1.0).abs() < 2e-3, "{} {period}", (zeros[5] - zeros[0]) / 2.5);
}

#[test]
fn small_balls_pass_an_orifice_and_other_shapes_stay_inside() {
    let text = r#"
        [[bodies]]
        motion = "static"
        shape = { kind = "hopper", orifice = 0.03, radius = 0.2, height = 0.5, angle = "30 deg" }
        [[bodies]]
        name = "grain"
        shape = { kind = "ball", radius = 0.02 }
        position = [0.1, 0.02, 0.5]
        [[bodies]]
        name = "block"
        shape = { kind = "cuboid", size = [0.1, 0.1, 0.1] }
        position = [-0.05, 0, 0.6]
        [[outlet]]
        plane = { point = [0, 0, -0.1] }
    "#;
    let (built, summary) = run(&scene(text, 3.0, "1 ms")).expect("runs");
    assert_eq!(summary.outlets["outlet"].count, 1, "the grain has left");
    let x = built.simulation.world().get::<BodyPose>(built.entities[2]).expect("the block stays").0.position;
    assert!(x.z > 0.05 && x.x.hypot(x.y) < 0.1, "{x}");
    assert!(summary.penetration_run_max_m < 1e-3, "{}", summary.penetration_run_max_m);
}

#[test]
fn a_wedge_hopper_is_tight_but_for_its_slot() {
    let text = r#"
        [[bodies]]
        name = "wedge"
        motion = "static"
        shape = { kind = "wedge_hopper", width = [0.4, 0.2], slot = 0.06, height = 0.3, angle = "40 deg" }
    "#;
    let scene = scene(text, 1.0, "1 ms");
    let shape = scene.bodies[0].shape.build().expect("a shape");
    let slope = 0.17 / 40f64.to_radians().tan();
    let mut random = Sequence::new(2);
    for _ in 0..300 {
        let at = DVec3::new(random.next_between(-0.18, 0.18), random.next_between(-0.08, 0.08), random.next_between(slope, slope + 0.25));
        let nearest = touch(0.01, at, &shape, 1.0).iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        let inclined = (at.z - (at.x.abs() - 0.03) / 40f64.to_radians().tan()) * 40f64.to_radians().sin();
        let exact = (0.2 - at.x.abs()).min(0.1 - at.y.abs()).min(inclined) - 0.01;
        assert!((nearest - exact).abs() < 1e-12, "{at}: {nearest} {exact}");
    }
}

#[test]
fn vessels_that_cannot_be_are_named() {
    let head = "time = { step = 1e-3, end = 1 }\n[[bodies]]\nmotion = \"static\"\n";
    for (shape, found) in [
        ("kind = \"tube\", radius = -1, height = 1", "greater than 0"),
        ("kind = \"hopper\", orifice = 0.3, radius = 0.2, height = 1", "smaller than `radius`"),
        ("kind = \"hopper\", orifice = 0.1, radius = 0.2, height = 1, angle = \"100 deg\"", "between 0 and 90 deg"),
        ("kind = \"cone\", radius = [0.2, 0.2], height = 1", "two different lengths"),
        ("kind = \"vessel\", profile = [[0.1, 0], [0.1, -1]]", "from the bottom to the top"),
        ("kind = \"vessel\", profile = [[0.1, 0]]", "at least 2"),
        ("kind = \"vessel\", profile = [[0.1, 0], [0, 1]]", "reaches the axis"),
        ("kind = \"wedge_hopper\", width = [0.1, 0.1], slot = 0.2, height = 1", "larger than `slot`"),
        ("kind = \"funnel\"", "unknown shape"),
    ] {
        let error = Scene::from_toml(&format!("{head}shape = {{ {shape} }}"), "t.toml").expect_err(shape).to_string();
        assert!(error.contains(found) && error.contains("t.toml"), "{shape}: {error}");
    }
    let error = Scene::from_toml("time = { step = 1e-3, end = 1 }\n[[bodies]]\nshape = { kind = \"tube\", radius = 1, height = 1 }", "t")
        .expect_err("static");
    assert!(error.to_string().contains("motion = \"static\""), "{error}");
}

#[test]
fn a_ball_pairs_with_a_wall_that_is_near_and_with_no_other() -> Result<(), Box<dyn std::error::Error>> {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0));
    let walls = [
        Shape::half_space(DVec3::Z)?,
        Shape::mesh(&corners, &[[0, 1, 2], [0, 2, 3]])?,
        Shape::height_field(&[0.0; 9], 3, 1.0, 1.0)?,
        vessel(&[[1.0, 0.0], [1.0, 0.5]], 0.02),
    ];
    for wall in walls {
        let kind = wall.kind();
        let beside = if kind == "vessel" { DVec3::X * 0.95 } else { DVec3::ZERO };
        for (height, pairs) in [(0.05, 1), (3.0, 0)] {
            let mut sim = Simulation::default();
            sim.spawn_body(Body::new(wall.clone()).fixed())?;
            sim.spawn_body(Body::new(Shape::ball(0.05)?).at(beside + DVec3::Z * height))?;
            sim.step()?;
            let found = sim.world().resource::<drystone::geometry::systems::Proximity>().pair_count();
            assert_eq!(found, pairs, "{kind}, a ball at {height} m");
        }
    }
    Ok(())
}
