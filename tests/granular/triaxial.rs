//! A triaxial test: walls at right angles that press with a given force each, and a ram.

use drystone::geometry::systems::Proximity;
use drystone::io::scene::Scene;
use drystone::model::contact::{ContactPair, Manifold};
use drystone::prelude::*;
use drystone::scenes::{Built, build};

/// The contact force on a body (N).
fn force(built: &Built, name: &str, scene: &Scene) -> DVec3 {
    let world = built.simulation.world();
    let body = built.entities[scene.bodies.iter().position(|b| b.name == name).expect("a wall")];
    let of = |(.., e): &(u32, u32, Entity)| {
        let (pair, points) = (world.get::<ContactPair>(*e)?, world.get::<Manifold>(*e)?);
        let sign = f64::from(u8::from(pair.bodies[0] == body)) - f64::from(u8::from(pair.bodies[1] == body));
        Some(sign * points.points.iter().map(|t| t.reaction).sum::<DVec3>())
    };
    world.resource::<Proximity>().pairs().iter().filter_map(of).sum::<DVec3>() / built.simulation.time_step()
}

#[test]
fn walls_at_right_angles_hold_their_forces_and_a_ram_finds_the_strength() {
    let text = drystone::io::scene::builtin::find("triaxial").expect("a scene").toml;
    let coarse = text.replace("step = \"0.5 ms\"", "step = \"1 ms\"").replace("[\"4 mm\", \"5 mm\"]", "[\"6 mm\", \"7 mm\"]");
    assert!(coarse != text && coarse.contains("1 ms") && coarse.contains("7 mm"));
    let scene = Scene::from_toml(&coarse, "triaxial").unwrap_or_else(|e| panic!("{e}"));
    let mut built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    while built.simulation.time() < 0.2999 {
        built.simulation.step().expect("a step");
    }
    // p A on each face; the opposite ones see the same
    let held = ["lid", "left", "right", "front", "back", "base"].map(|name| force(&built, name, &scene));
    let expected = [DVec3::Z, -DVec3::X, DVec3::X, -DVec3::Y, DVec3::Y, -DVec3::Z].map(|n| 64.0 * n);
    println!("{held:?}");
    for (found, expected) in held.iter().zip(&expected) {
        assert!((*found - *expected).length() < 0.02 * 64.0, "{found} instead of {expected}");
    }
    let mut most = 0.0_f64;
    while built.simulation.time() < 0.5 {
        let report = built.simulation.step().expect("a step");
        assert!(report.converged, "{report:?}");
        most = most.max(-force(&built, "base", &scene).z / 64.0);
    }
    println!("strength {most}");
    // balls of μ = 0.5: friction angles of 20 to 30 degrees
    assert!((2.0..3.5).contains(&most), "{most}");
}
