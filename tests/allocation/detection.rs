//! Detection asks for no memory once its buffers have grown.

use super::requests;
use std::hint::black_box;

use drystone::algebra::spatial::Pose;
use drystone::geometry::{Scratch, Shape, contact_points};
use drystone::granular::terrain::hills;
use glam::{DQuat, DVec3};

fn shapes() -> Vec<Shape> {
    let brick = Shape::cuboid(DVec3::new(0.2, 0.1, 0.15)).expect("a box");
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE].map(|x| 0.3 * x);
    let (vertices, triangles) = hills(2.0, 12);
    vec![
        Shape::ball(0.1).expect("a ball"),
        Shape::capsule(0.1, 0.1).expect("a capsule"),
        Shape::cylinder(0.1, 0.15).expect("a cylinder"),
        brick.clone(),
        Shape::hull(&corners).expect("a hull"),
        Shape::compound(vec![(Pose::at(0.2 * DVec3::X), brick.clone()), (Pose::at(-0.2 * DVec3::X), brick)]).expect("two boxes"),
        Shape::half_space(DVec3::Z).expect("a plane"),
        Shape::mesh(&vertices, &triangles).expect("a mesh"),
    ]
}

#[test]
fn detection_asks_for_no_memory_after_warm_up() {
    let shapes = shapes();
    let (mut scratch, mut points) = (Scratch::default(), Vec::new());
    let mut sweep = |first: &Shape, second: &Shape| {
        let mut found = 0;
        for k in 0..60 {
            let phase = f64::from(k);
            let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.7 * phase, 0.3 * phase, 1.1 * phase);
            let pose = Pose::new(DVec3::new(0.05 * phase.sin(), 0.05 * phase.cos(), 0.3 - 0.004 * phase), turn);
            points.clear();
            contact_points(first, &pose, second, &Pose::IDENTITY, 0.05, &mut scratch, &mut points);
            found += points.len();
        }
        found
    };
    for (i, first) in shapes.iter().enumerate() {
        for second in &shapes[i..] {
            black_box(sweep(first, second));
            let again = requests(|| {
                black_box(sweep(first, second));
            });
            assert_eq!(again, 0, "{} on {}", first.kind(), second.kind());
        }
    }
}
