//! Laws of contact detection, over all kinds of shapes.

mod compounds;
mod cylinders;
mod steady;
mod surfaces;
mod swap;

use glam::{DQuat, DVec3};

use super::{ContactPoint, Scratch, Shape, contact_points};
use crate::algebra::spatial::Pose;

/// A small reproducible generator (splitmix64): the same poses on every machine.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
    pub(super) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }
    pub(super) fn rotation(&mut self) -> DQuat {
        loop {
            let (v, w) = (self.vector(), 2.0 * self.unit() - 1.0);
            let q = DQuat::from_xyzw(v.x, v.y, v.z, w);
            if q.length() > 0.1 && q.length() < 1.0 {
                return q.normalize();
            }
        }
    }
    pub(super) fn pose(&mut self, spread: f64) -> Pose {
        Pose::new(self.vector() * spread, self.rotation())
    }
}

pub(super) fn points(s1: &Shape, p1: &Pose, s2: &Shape, p2: &Pose, reach: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    contact_points(s1, p1, s2, p2, reach, &mut Scratch::default(), &mut out);
    out
}

fn cube(half: f64) -> Shape {
    Shape::cuboid(DVec3::splat(half)).unwrap()
}

fn block(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).unwrap()
}

/// The same box as a hull, and so through the general kernels.
fn as_hull(cuboid: &Shape) -> Shape {
    let Shape::Cuboid { half_extents } = cuboid else { panic!("a cuboid is needed") };
    Shape::hull(&super::polyhedron::Polyhedron::cuboid(*half_extents).vertices).unwrap()
}

/// A body of 30 corners without any symmetry.
fn boulder() -> Shape {
    let mut dice = Dice(11);
    let cloud: Vec<DVec3> = (0..30).map(|_| dice.vector().normalize() * DVec3::new(0.5, 0.4, 0.6)).collect();
    Shape::hull(&cloud).unwrap()
}

fn wedge() -> Shape {
    let x = DVec3::X * 0.4;
    Shape::hull(&[x, -x, x + DVec3::Y, -x + DVec3::Y * 0.9, x + DVec3::Z * 0.7, -x + DVec3::Z * 0.6]).unwrap()
}

fn convex_solids() -> Vec<Shape> {
    vec![
        Shape::ball(0.4).unwrap(),
        Shape::capsule(0.3, 0.2).unwrap(),
        Shape::cylinder(0.3, 0.35).unwrap(),
        block(0.5, 0.3, 0.4),
        boulder(),
        wedge(),
    ]
}

fn parry(shape: &Shape) -> parry3d::shape::SharedShape {
    use parry3d::shape::SharedShape;
    match shape {
        Shape::Ball { radius } => SharedShape::ball(*radius),
        Shape::Cuboid { half_extents: h } => SharedShape::cuboid(h.x, h.y, h.z),
        Shape::Capsule { half_height, radius } => SharedShape::capsule_z(*half_height, *radius),
        Shape::Hull(hull) => SharedShape::convex_hull(&hull.vertices).unwrap(),
        _ => panic!("no counterpart"),
    }
}

fn distance(s1: &Shape, p1: &Pose, s2: &Shape, p2: &Pose) -> f64 {
    if matches!(s2, Shape::Capsule { .. }) && !matches!(s1, Shape::Capsule { .. }) {
        return distance(s2, p2, s1, p1);
    }
    if let Shape::Capsule { half_height, radius } = s1 {
        // parry errs by 1e-5 on some segments; the distance of a point to a convex shape is convex along a segment
        let dot = Shape::ball(1e-9).unwrap();
        let from = |z: f64| match s2 {
            Shape::Capsule { half_height: h2, radius: r2 } => {
                let local = p2.local_point(p1.point(DVec3::Z * z));
                (local - DVec3::Z * local.z.clamp(-h2, *h2)).length() - r2
            }
            _ => distance(&dot, &Pose::at(p1.point(DVec3::Z * z)), s2, p2) + 1e-9,
        };
        let (mut low, mut high) = (-half_height, *half_height);
        for _ in 0..60 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if from(a) < from(b) { high = b } else { low = a }
        }
        return from(0.5 * (low + high)) - radius;
    }
    let pose = |p: &Pose| parry3d::math::Pose::from_parts(p.position, p.rotation);
    parry3d::query::distance(&pose(p1), &*parry(s1), &pose(p2), &*parry(s2)).unwrap().distance
}

#[test]
fn the_smallest_gap_of_separated_convex_shapes_is_their_distance() {
    let mut dice = Dice(3);
    let shapes: Vec<Shape> = convex_solids().into_iter().filter(|s| !matches!(s, Shape::Cylinder { .. })).collect();
    for s1 in &shapes {
        for s2 in &shapes {
            let mut compared = 0;
            for _ in 0..600 {
                let (p1, p2) = (dice.pose(0.9), dice.pose(0.9));
                let d = distance(s1, &p1, s2, &p2);
                if d < 1e-3 {
                    continue;
                }
                let found = points(s1, &p1, s2, &p2, 0.3);
                let smallest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
                if d < 0.3 - 1e-9 {
                    // parry's GJK stops at about 1e-8 where the closest features are faces; flat contacts measure along the face normal
                    assert!((smallest - d).abs() < 1e-7 + 2e-5 * d, "{} {}: {smallest} {d} {found:?}", s1.kind(), s2.kind());
                    compared += 1;
                } else {
                    assert!(smallest >= d - 1e-7, "{} {}: {smallest} {d}", s1.kind(), s2.kind());
                }
            }
            assert!(compared > 30, "{} {}: {compared}", s1.kind(), s2.kind());
        }
    }
}

#[test]
fn what_a_pair_of_far_edges_separates_does_not_touch() {
    let mut dice = Dice(5);
    let corners = [DVec3::ONE, DVec3::new(1.0, -1.0, -1.0), DVec3::new(-1.0, 1.0, -1.0), DVec3::new(-1.0, -1.0, 1.0)];
    let mut apart = 0;
    for _ in 0..20_000 {
        let shapes = [(); 2].map(|()| Shape::hull(&corners.map(|c| 0.5 * c + 0.2 * dice.vector())).unwrap());
        let (p1, p2) = (dice.pose(0.6), dice.pose(0.6));
        let found = points(&shapes[0], &p1, &shapes[1], &p2, 1e-3);
        if found.iter().any(|p| p.gap < -1e-3) {
            assert!(distance(&shapes[0], &p1, &shapes[1], &p2) < 1e-3, "{found:?}");
        } else {
            apart += 1;
        }
    }
    assert!(apart > 1000, "{apart}");
}

/// Depth of overlap by trying every axis, without any of the shortcuts of the kernels.
fn depth_by_brute_force(s1: &Shape, p1: &Pose, s2: &Shape, p2: &Pose) -> f64 {
    let world = |s: &Shape, p: &Pose| {
        let hull = match s {
            Shape::Hull(hull) => (**hull).clone(),
            Shape::Cuboid { half_extents } => super::polyhedron::Polyhedron::cuboid(*half_extents),
            _ => panic!("no polyhedron"),
        };
        hull.moved(p)
    };
    let (a, b) = (world(s1, p1), world(s2, p2));
    let along = |p: &super::polyhedron::Polyhedron, e: usize| {
        let [i, j] = p.edges[e].vertices;
        (p.vertices[j as usize] - p.vertices[i as usize]).normalize()
    };
    let mut axes: Vec<DVec3> = a.faces.iter().chain(&b.faces).map(|f| f.normal).collect();
    for i in 0..a.edges.len() {
        for j in 0..b.edges.len() {
            let n = along(&a, i).cross(along(&b, j));
            if n.length() > 1e-6 {
                axes.push(n.normalize());
            }
        }
    }
    let separation = |n: DVec3| {
        let low = b.vertices.iter().map(|v| n.dot(*v)).fold(f64::INFINITY, f64::min);
        low - a.vertices.iter().map(|v| n.dot(*v)).fold(f64::NEG_INFINITY, f64::max)
    };
    axes.into_iter().map(|n| separation(n).max(separation(-n))).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn the_depth_of_overlapping_polyhedra_is_that_of_the_best_axis() {
    let mut dice = Dice(4);
    let solids = [block(0.5, 0.3, 0.4), boulder(), wedge(), as_hull(&cube(0.3))];
    for s1 in &solids {
        for s2 in &solids {
            for _ in 0..300 {
                let (p1, p2) = (dice.pose(0.5), dice.pose(0.5));
                let exact = depth_by_brute_force(s1, &p1, s2, &p2);
                if exact > -1e-6 {
                    continue;
                }
                let found = points(s1, &p1, s2, &p2, 0.0);
                let deepest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
                // a face patch may stop short of a corner that hangs over its rim; it is never deeper than the overlap
                assert!(!found.is_empty() && deepest >= exact - 1e-12 - 2e-5 * exact.abs(), "{deepest} {exact}");
                let n = found[0].normal;
                let at = found.iter().find(|p| p.gap == deepest).unwrap();
                assert!((at.normal - n).length() < 1e-15);
            }
        }
    }
}

#[test]
fn a_hull_of_a_box_behaves_as_the_cuboid() {
    let mut dice = Dice(5);
    let (a, b) = (block(0.5, 0.3, 0.4), block(0.2, 0.6, 0.3));
    for _ in 0..3000 {
        let (p1, p2) = (dice.pose(0.7), dice.pose(0.7));
        let mut cuboids = points(&a, &p1, &b, &p2, 0.05);
        let mut hulls = points(&as_hull(&a), &p1, &as_hull(&b), &p2, 0.05);
        let by_place = |x: &ContactPoint, y: &ContactPoint| x.point1.x.total_cmp(&y.point1.x);
        cuboids.sort_by(by_place);
        hulls.sort_by(by_place);
        assert_eq!(cuboids.len(), hulls.len());
        for (x, y) in cuboids.iter().zip(&hulls) {
            assert!((x.gap - y.gap).abs() < 1e-13 && (x.normal - y.normal).length() < 1e-12, "{x:?} {y:?}");
            assert!((x.point1 - y.point1).length() < 1e-12);
        }
    }
}

#[test]
fn normals_of_resting_polyhedra_stay_exact_through_gap_zero() {
    let mut dice = Dice(6);
    let shapes = [block(0.5, 0.3, 0.4), as_hull(&block(0.5, 0.3, 0.4))];
    for gap in [1e-3, 1e-6, 1e-9, 3e-9, 1e-12, 0.0, -1e-12, -1e-9, -1e-6] {
        for _ in 0..300 {
            let world = dice.pose(3.0);
            let spin = DQuat::from_rotation_z(6.3 * dice.unit());
            let shift = dice.vector() * 0.3;
            for lower in &shapes {
                for upper in &shapes {
                    // face on face
                    let p2 = world.compose(&Pose::new(DVec3::new(shift.x, shift.y, 0.8 + gap), spin));
                    let found = points(upper, &p2, lower, &world, 1e-2);
                    assert!(found.len() >= 3);
                    for p in found {
                        assert!((p.normal - world.vector(DVec3::Z)).length() < 1e-12, "{gap:e}");
                        assert!((p.gap - gap).abs() < 3e-15);
                    }
                }
            }
            // edge across edge
            let tilt = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
            let across = DQuat::from_rotation_z(0.3 + dice.unit()) * DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
            let cubes = [cube(0.4), as_hull(&cube(0.4))];
            let height = 2.0 * 0.4 * std::f64::consts::SQRT_2 + gap;
            let p1 = world.compose(&Pose::new(DVec3::new(0.1 * shift.x, 0.1 * shift.y, height), across));
            let p2 = world.compose(&Pose::new(DVec3::ZERO, tilt));
            for one in &cubes {
                for two in &cubes {
                    let found = points(one, &p1, two, &p2, 1e-2);
                    assert_eq!(found.len(), 1);
                    assert!((found[0].normal - world.vector(DVec3::Z)).length() < 1e-12, "{gap:e}");
                    assert!((found[0].gap - gap).abs() < 3e-15, "{gap:e} {:e}", found[0].gap);
                }
            }
        }
    }
}

#[test]
fn a_face_on_a_face_gives_the_exact_corners_of_the_overlap() {
    let (slab, brick) = (block(1.0, 0.5, 0.1), block(0.4, 0.2, 0.1));
    let sorted = |mut v: Vec<DVec3>| {
        v.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        v
    };
    // hangs over one side by 0.2
    let found = points(&brick, &Pose::at(DVec3::new(0.8, 0.1, 0.2)), &slab, &Pose::IDENTITY, 1e-3);
    let corners = sorted(found.iter().map(|p| p.point1).collect());
    let expected = [(0.4, -0.1), (0.4, 0.3), (1.0, -0.1), (1.0, 0.3)].map(|(x, y)| DVec3::new(x, y, 0.1));
    assert_eq!(corners.len(), 4);
    for (c, e) in corners.iter().zip(expected) {
        assert!((*c - e).length() < 1e-15, "{c} {e}");
    }
    // equal squares, one turned by 45°: a regular octagon
    let (a, b) = (cube(0.5), cube(0.5));
    let turned = Pose::new(DVec3::Z, DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4));
    let found = points(&b, &turned, &a, &Pose::IDENTITY, 1e-3);
    assert_eq!(found.len(), 8);
    for p in found {
        let r = 0.5 / (std::f64::consts::PI / 8.0).cos();
        assert!((p.point2.truncate().length() - r).abs() < 1e-14);
    }
    // exactly aligned, then turned by rounding and by a solver's residual: four corners, always the same four
    let aligned = points(&b, &Pose::at(DVec3::Z), &a, &Pose::IDENTITY, 1e-3);
    for angle in [0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7] {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let found = points(&b, &Pose::new(DVec3::Z, DQuat::from_axis_angle(axis, angle)), &a, &Pose::IDENTITY, 1e-3);
            assert_eq!(found.len(), 4, "{angle:e} {axis}");
            assert!(found.iter().all(|p| aligned.iter().any(|q| (p.point2 - q.point2).length() < 2e-7)));
            if angle.abs() < 1e-10 {
                assert!(found.iter().all(|p| aligned.iter().any(|q| q.feature == p.feature)), "{angle:e} {axis}");
            }
        }
    }
}

#[test]
fn features_last_while_a_box_rocks_on_a_box() {
    let (slab, brick) = (block(1.0, 1.0, 0.1), block(0.4, 0.2, 0.1));
    let mut dice = Dice(8);
    let keys = |pose: &Pose| {
        let mut keys: Vec<u64> = points(&brick, pose, &slab, &Pose::IDENTITY, 1e-2).iter().map(|p| p.feature).collect();
        keys.sort_unstable();
        keys
    };
    let rest = keys(&Pose::at(DVec3::new(0.8, 0.1, 0.2)));
    assert_eq!(rest.len(), 4);
    for _ in 0..500 {
        let jolt = Pose::new(DVec3::new(0.8, 0.1, 0.2) + dice.vector() * 1e-3, DQuat::from_scaled_axis(dice.vector() * 1e-3));
        assert_eq!(keys(&jolt), rest);
    }
}

#[test]
fn a_slowly_turning_box_is_seen_as_it_is_now() {
    let (slab, brick) = (block(1.0, 1.0, 0.1), block(0.4, 0.2, 0.1));
    let mut scratch = Scratch::default();
    for k in 0..50 {
        // 0.2° a step about a horizontal axis, on the lower edge
        let turn = DQuat::from_rotation_y(f64::from(k) * 0.2f64.to_radians());
        let pose = Pose::new(turn * DVec3::new(0.4, 0.0, 0.1) + DVec3::Z * 0.1, turn);
        let mut reused = Vec::new();
        contact_points(&brick, &pose, &slab, &Pose::IDENTITY, 1e-3, &mut scratch, &mut reused);
        assert_eq!(reused, points(&brick, &pose, &slab, &Pose::IDENTITY, 1e-3));
        assert!(!reused.is_empty());
        for p in &reused {
            let exact = (pose.local_point(p.point1) - DVec3::new(0.0, 0.0, -0.1)).z.abs();
            assert!(exact < 1e-3 && p.gap <= 1e-3);
        }
    }
}

#[test]
fn edges_side_by_side_touch_in_two_points() {
    // a bar lying on its edge along the top edge of another, side by side
    let bar = block(0.5, 0.1, 0.1);
    let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
    let half_diagonal = 0.1 * std::f64::consts::SQRT_2;
    let p1 = Pose::new(DVec3::new(0.2, 0.0, 2.0 * half_diagonal + 1e-4), turn);
    let found = points(&bar, &p1, &bar, &Pose::new(DVec3::ZERO, turn), 1e-3);
    assert_eq!(found.len(), 2);
    for p in &found {
        assert!((p.gap - 1e-4).abs() < 1e-15 && (p.normal - DVec3::Z).length() < 1e-12);
    }
    assert!(((found[0].point1 - found[1].point1).length() - 0.8).abs() < 1e-12);
}

#[test]
fn a_box_on_a_plane_stands_on_four_corners() {
    let (brick, floor) = (block(0.4, 0.2, 0.1), Shape::half_space(DVec3::Z).unwrap());
    let found = points(&brick, &Pose::at(DVec3::Z * 0.1), &floor, &Pose::IDENTITY, 1e-3);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|p| p.gap == 0.0 && p.normal == DVec3::Z));
}

#[test]
fn a_ball_inside_a_box_leaves_through_the_nearest_face() {
    let (ball, brick) = (Shape::ball(0.1).unwrap(), block(0.4, 0.2, 0.3));
    let found = points(&ball, &Pose::at(DVec3::new(0.1, -0.15, 0.2)), &brick, &Pose::IDENTITY, 0.0);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].normal, DVec3::NEG_Y);
    assert!((found[0].gap + 0.15).abs() < 1e-15);
    // and continuously so: just inside and just outside agree
    for y in [0.2 - 1e-12, 0.2, 0.2 + 1e-12] {
        let p = points(&ball, &Pose::at(DVec3::new(0.1, y, 0.2)), &brick, &Pose::IDENTITY, 0.0)[0];
        assert!((p.normal - DVec3::Y).length() < 1e-15 && (p.gap - (y - 0.3)).abs() < 1e-15);
    }
}

#[test]
fn capsules_lying_on_things_rest_on_two_points() {
    let (pill, floor) = (Shape::capsule(0.3, 0.1).unwrap(), Shape::half_space(DVec3::Z).unwrap());
    let lying = Pose::new(DVec3::Z * 0.1, DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2));
    let on_floor = points(&pill, &lying, &floor, &Pose::IDENTITY, 1e-3);
    let on_box = points(&pill, &lying, &block(1.0, 1.0, 0.5), &Pose::at(DVec3::Z * -0.5), 1e-3);
    let above = Pose::new(DVec3::new(0.1, 0.0, 0.3), lying.rotation);
    let on_pill = points(&pill, &above, &pill, &lying, 1e-3);
    for (found, length) in [(on_floor, 0.6), (on_box, 0.6), (on_pill, 0.5)] {
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|p| p.gap.abs() < 1e-15 && (p.normal - DVec3::Z).length() < 1e-15));
        assert!(((found[0].point1 - found[1].point1).length() - length).abs() < 1e-12);
    }
}
