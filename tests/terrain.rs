//! Solids of concave shape on ground of triangles.

use drystone::algebra::spatial::Pose;
use drystone::geometry::{DecompositionSettings, Shape};
use drystone::granular::terrain::hills;
use drystone::model::contact::Manifold;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::Velocity;
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};

/// A closed prism over an L of 0.2 m × 0.3 m, 0.1 m high.
fn angle() -> Shape {
    let outline = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)];
    let corner = |z: f64| outline.map(|(x, y)| 0.1 * DVec3::new(x - 0.7, y - 1.2, z));
    let vertices = [corner(0.0), corner(1.0)].concat();
    let mut triangles = Vec::new();
    for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
        triangles.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
    }
    for k in 0..6 {
        let next = (k + 1) % 6;
        triangles.extend([[k, next, next + 6], [k, next + 6, k + 6]]);
    }
    let mesh = Shape::mesh(&vertices, &triangles).expect("a closed mesh");
    mesh.decompose(&DecompositionSettings::default()).expect("convex parts")
}

#[test]
fn an_angle_of_mesh_comes_to_rest_on_a_terrain_of_mesh() {
    let mut sim = Simulation::default();
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.7, ..CoulombImpact::default() })).expect("legal laws");
    let (vertices, triangles) = hills(2.4, 24);
    let ground = Shape::mesh(&vertices, &triangles).expect("a mesh");
    sim.spawn_body(Body::new(ground).fixed()).expect("ground");
    let tilt = DQuat::from_rotation_x(0.5) * DQuat::from_rotation_y(0.3);
    let body = sim.spawn_body(Body::new(angle()).density(2400.0).at(DVec3::new(0.05, 0.1, 0.35)).turned(tilt)).expect("the angle");
    let mut deepest = 0.0_f64;
    for _ in 0..2500 {
        let report = sim.step().expect("a step");
        deepest = deepest.max(report.penetration);
    }
    let velocity = *sim.world().get::<Velocity>(body).expect("alive");
    let mut manifolds = sim.world_mut().query::<&Manifold>();
    let touching = manifolds.iter(sim.world()).flat_map(|m| &m.points).filter(|p| p.gap < 1e-6).count();
    assert!(velocity.linear.length() < 1e-6 && velocity.angular.length() < 1e-5, "{velocity:?}");
    assert!(touching >= 3 && deepest < 5e-4, "{touching} points, {deepest:e}");
}

/// A sheet has no inside: what comes from behind passes through. As ground it may be open, whatever mass it is given.
#[test]
fn an_open_mesh_stands_still_and_is_no_body_that_moves() {
    let sheet = Shape::mesh(&[DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).expect("a triangle");
    let part = Shape::compound(vec![(Pose::IDENTITY, sheet.clone())]).ok();
    let mut sim = Simulation::default();
    for shape in [Some(sheet.clone()), part].into_iter().flatten() {
        let body = || Body { inertia: Some(DVec3::ONE), centre: Some(DVec3::ZERO), ..Body::new(shape.clone()).mass(1.0) };
        let error = sim.spawn_body(body()).expect_err("it is open").to_string();
        assert!(error.contains("the mesh is not closed"), "{error}");
        sim.spawn_body(body().fixed()).expect("ground");
        sim.spawn_body(body().driven(std::sync::Arc::new(|_| (DVec3::X, DVec3::ZERO)))).expect("moved as told");
    }
}
