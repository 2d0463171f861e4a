//! Blocks fill what they should, once.

use super::arch::{Arch, Form};
use super::bond::{Bond, BondedWall, Opening, Plan};
use super::*;

fn wall(plan: Plan, bond: Bond, leaves: usize) -> BondedWall {
    BondedWall { plan, bond, block: DVec3::new(0.4, 0.2, 0.1), leaves, courses: 6, gap: 0.0, openings: Vec::new() }
}

fn volume(blocks: &[Block]) -> f64 {
    blocks.iter().map(|b| 8.0 * b.half_extents.x * b.half_extents.y * b.half_extents.z).sum()
}

/// No two blocks share a volume, all have one.
fn apart(blocks: &[Block]) {
    for (i, a) in blocks.iter().enumerate() {
        assert!(a.half_extents.min_element() > 0.01, "block {i} is {a:?}");
        for (j, b) in blocks[..i].iter().enumerate() {
            let gap = (a.centre - b.centre).abs() - a.half_extents - b.half_extents;
            assert!(gap.max_element() > -1e-12, "blocks {j} and {i} overlap by {}", -gap.max_element());
        }
    }
}

const BONDS: [(Bond, usize); 8] = [
    (Bond::Running, 1),
    (Bond::Running, 3),
    (Bond::Stretcher, 1),
    (Bond::Stretcher, 3),
    (Bond::English, 2),
    (Bond::English, 3),
    (Bond::English, 4),
    (Bond::Flemish, 2),
];

#[test]
fn every_bond_fills_straight_walls_corners_and_towers_without_overlap() {
    for (bond, leaves) in BONDS {
        let (t, height) = (0.2 * leaves as f64, 0.6);
        for stretchers in [3, 5] {
            let a = bond.length(stretchers, 0.4);
            let straight = wall(Plan::Straight(a), bond, leaves).blocks().unwrap();
            apart(&straight);
            assert!((volume(&straight) - a * t * height).abs() < 1e-12, "{bond:?} {leaves}");
            for (plan, ground) in
                [(Plan::Corner(a + 1.0, a + 0.9), (2.0 * a + 1.9 - t) * t), (Plan::Ring([a + 2.0, 2.4]), (2.0 * (a + 4.4) - 4.0 * t) * t)]
            {
                let blocks = wall(plan, bond, leaves).blocks().unwrap();
                apart(&blocks);
                assert!((volume(&blocks) - ground * height).abs() < 1e-12, "{bond:?} {leaves} {plan:?}");
            }
        }
    }
}

#[test]
fn head_joints_of_two_courses_never_meet_but_at_the_ends() {
    for (bond, leaves) in BONDS {
        let blocks = wall(Plan::Straight(bond.length(5, 0.4)), bond, leaves).blocks().unwrap();
        let end = bond.length(5, 0.4);
        // front leaf
        let joints = |course: usize| {
            let z = (course as f64 + 0.5) * 0.1;
            let front =
                blocks.iter().filter(move |b| (b.centre.z - z).abs() < 1e-9 && b.centre.y - b.half_extents.y < -0.1 * leaves as f64 + 1e-9);
            front.map(|b| b.centre.x + b.half_extents.x).filter(|x| *x < end - 1e-9).collect::<Vec<_>>()
        };
        for course in 0..5 {
            for x in joints(course) {
                let lap = joints(course + 1).iter().map(|y| (x - y).abs()).fold(f64::INFINITY, f64::min);
                assert!(lap > 0.0999, "{bond:?}: a lap of {lap} m at {x} m above course {course}");
            }
        }
    }
}

#[test]
fn openings_are_cut_out_and_lintels_lie_above_them() {
    let opening = |at, sill, width, height| Opening { wing: 0, at, sill, width, height, lintel: true, bearing: 0.2 };
    for (bond, leaves) in BONDS {
        let (a, t) = (bond.length(6, 0.4), 0.2 * leaves as f64);
        let mut wall = wall(Plan::Straight(a), bond, leaves);
        wall.openings = vec![opening(0.33, 0.0, 0.4, 0.3), opening(1.21, 0.2, 0.47, 0.2)];
        let blocks = wall.blocks().unwrap();
        apart(&blocks);
        assert!((volume(&blocks) - (a * 0.6 - 0.4 * 0.3 - 0.47 * 0.2) * t).abs() < 1e-12, "{bond:?} {leaves}");
        let lintels: Vec<&Block> = blocks.iter().filter(|b| b.half_extents.y == 0.5 * t && b.half_extents.x > 0.39).collect();
        assert!(lintels.iter().any(|b| (b.centre.x - 0.53).abs() < 1e-12 && (b.half_extents.x - 0.4).abs() < 1e-12), "{bond:?}");
        // the opening stays open
        let inside = |b: &Block| {
            (b.centre.x - 1.445).abs() < 0.235 + b.half_extents.x - 1e-9 && (b.centre.z - 0.3).abs() < 0.1 + b.half_extents.z - 1e-9
        };
        assert!(!blocks.iter().any(inside), "{bond:?}");
    }
    let refused = |openings: Vec<Opening>| {
        let wall = BondedWall { openings, ..wall(Plan::Straight(2.4), Bond::Running, 1) };
        let error = wall.blocks().unwrap_err();
        (error.opening, error.found)
    };
    for (openings, number, words) in [
        (vec![opening(2.2, 0.0, 0.4, 0.3)], 0, "outside of the wall"),
        (vec![opening(1.0, 0.2, 0.4, 0.5)], 0, "outside of the wall"),
        (vec![opening(1.0, 0.05, 0.4, 0.2)], 0, "inside of a course"),
        (vec![opening(0.1, 0.0, 0.4, 0.2)], 0, "its lintel would lie from -0.1"),
        (vec![opening(0.3, 0.0, 0.4, 0.2), opening(0.9, 0.0, 0.4, 0.2)], 1, "meets opening 0"),
        (vec![Opening { wing: 1, ..opening(0.3, 0.0, 0.4, 0.2) }], 0, "wing 1, but the wall has 1"),
    ] {
        let found = refused(openings);
        assert!(found.0 == number && found.1.contains(words), "{found:?}, wanted {words}");
    }
}

/// Every form, with straight voussoirs and with curved ones.
fn arches() -> Vec<Arch> {
    let forms = [
        Form::SEMICIRCLE,
        Form::Circular { radius: 2.0, angle: 2.0 },
        Form::Pointed { radius: 2.0, span: 2.0 },
        Form::Pointed { radius: 1.5, span: 2.5 },
        Form::Flat { span: 2.0, skew: 0.4 },
    ];
    let of =
        |form| [(10, 1), (11, 1), (7, 4), (8, 3)].map(|(voussoirs, faces)| Arch { form, voussoirs, thickness: 0.3, faces, depth: 0.8 });
    forms.into_iter().flat_map(of).collect()
}

#[test]
fn voussoirs_share_the_corners_of_their_joints_and_feet_stand_on_the_abutments() {
    for arch in arches() {
        let stones = arch.stones();
        for pair in stones.windows(2) {
            let (last, first) = (pair[0].parts.last().unwrap(), &pair[1].parts[0]);
            for corner in [0, 2, 4, 6] {
                assert_eq!(last[corner + 1], first[corner], "{arch:?}");
            }
        }
        let (joints, [right, left]) = (arch.joints(), arch.abutments());
        let mirrored = |p: DVec2| DVec2::new(-p.x, p.y);
        for (a, b) in joints.iter().zip(joints.iter().rev()) {
            assert!(a.inner.distance(mirrored(b.inner)) < 1e-14 && a.outer.distance(mirrored(b.outer)) < 1e-14, "{arch:?}");
        }
        assert!(joints[0].inner.y.abs() < 1e-15);
        for (stone, joint) in [(right, joints[0]), (left, joints[joints.len() - 1])] {
            assert!([joint.inner, joint.outer].iter().all(|j| stone.parts[0].iter().any(|p| p.x == j.x && p.z == j.y)));
        }
    }
}

#[test]
fn columns_taper_along_straight_edges() {
    let column = column::Column { foot: column::regular(5, 0.5), top: column::regular(5, 0.3), height: 2.0, courses: 4 };
    for pair in column.stones().windows(2) {
        assert_eq!(pair[0].parts[0][5..], pair[1].parts[0][..5]);
    }
    assert!((column.stones()[3].parts[0][5].truncate().length() - 0.3).abs() < 1e-15);
}
