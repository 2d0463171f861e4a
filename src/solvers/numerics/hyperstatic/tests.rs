use super::*;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::local::{LocalSolver, auto::Auto};
use glam::DVec3;
use sprs::{CsMat, TriMat};

/// One unit cube of unit mass and inertia under the impulse `load` at its centre, held at points `(arm, normal, tangent)`.
fn held(points: &[(DVec3, DVec3, DVec3)], mu: f64, load: DVec3) -> GlobalProblem {
    let mut h = TriMat::new((6, 3 * points.len()));
    for (c, &(arm, normal, tangent)) in points.iter().enumerate() {
        for (row, axis) in [normal, tangent, normal.cross(tangent)].into_iter().enumerate() {
            for (k, x) in axis.to_array().into_iter().chain(arm.cross(axis).to_array()).enumerate() {
                h.add_triplet(k, 3 * c + row, x);
            }
        }
    }
    let n = points.len();
    GlobalProblem {
        mass: CsMat::eye(6),
        h: h.to_csc(),
        f: load.to_array().into_iter().chain([0.0; 3]).collect(),
        w: vec![0.0; 3 * n],
        offsets: (0..=n).map(|c| 3 * c).collect(),
        sets: vec![AdmissibleSet::Coulomb { mu }; n],
    }
}

fn solved(p: &GlobalProblem) -> (LocalProblem, Vec<f64>, Vec<f64>) {
    let local = p.reduce().expect("legal");
    let (mut r, mut u) = (vec![0.0; local.order()], vec![0.0; local.order()]);
    let report = Auto { tolerance: 1e-10, ..Auto::default() }.solve(&local, &mut r, &mut u);
    assert!(report.converged(), "{report:?}");
    (local, r, u)
}

fn feet(half: f64) -> Vec<(DVec3, DVec3, DVec3)> {
    let corners = [(half, half), (-half, half), (-half, -half), (half, -half)];
    corners.map(|(x, y)| (DVec3::new(x, y, -0.5), DVec3::Z, DVec3::X)).to_vec()
}

/// Members of the set of solutions: the same velocities and the law.
fn solves(p: &LocalProblem, r: &[f64]) -> bool {
    p.residual(r, &mut vec![0.0; r.len()]).rel < 1e-7
}

#[test]
fn each_leg_of_a_table_carries_between_nothing_and_half_of_it() {
    let (p, r, u) = solved(&held(&feet(0.5), 0.0, DVec3::new(0.0, 0.0, -8.0)));
    let lens = Lens::new(&p, &r, &u, 1e-6).expect("a lens");
    assert_eq!((lens.rank, lens.nullity, lens.unknowns), (3, 1, 4));
    for leg in 0..4 {
        let range = lens.interval(3 * leg);
        assert!(range.min.abs() < 1e-6 && (range.max - 4.0).abs() < 1e-6, "{range:?}");
        assert!(range.gap < 1e-6, "{range:?}");
        assert!((lens.least_norm()[3 * leg] - 2.0).abs() < 1e-6);
    }
}

#[test]
fn legs_that_give_way_carry_no_more_than_that() {
    let mut table = held(&feet(0.5), 0.0, DVec3::new(0.0, 0.0, -8.0));
    table.sets.fill(AdmissibleSet::Crushing { mu: 0.0, most: 3.0 });
    let (p, r, u) = solved(&table);
    let lens = Lens::new(&p, &r, &u, 1e-6).expect("a lens");
    let range = lens.interval(3);
    assert!((range.min - 1.0).abs() < 1e-6 && (range.max - 3.0).abs() < 1e-6, "{range:?}");
    // under more than they bear each gives way with all that it has
    table.f[2] = -13.0;
    let (p, r, u) = solved(&table);
    let range = Lens::new(&p, &r, &u, 1e-6).expect("a lens").interval(6);
    assert!(u[6] < -0.9 && (range.min - 3.0).abs() < 1e-6 && (range.max - 3.0).abs() < 1e-6, "{range:?} {u:?}");
}

#[test]
fn three_legs_are_isostatic() {
    let (p, r, u) = solved(&held(&feet(0.5)[..3], 0.0, DVec3::new(-0.5, 0.5, -6.0)));
    // the load is inside the triangle, the free sideways motion does not matter without friction
    let lens = Lens::new(&p, &r, &u, 1e-6).expect("a lens");
    assert_eq!((lens.rank, lens.nullity), (3, 0));
    for (row, own) in r.iter().enumerate() {
        let range = lens.interval(row);
        assert!(range.width() == 0.0 && range.gap == 0.0 && (range.min - own).abs() < 1e-9);
    }
}

#[test]
fn a_block_jammed_between_two_walls_can_be_jammed_at_will() {
    // friction on both sides holds the weight; the thrust has a least value and no largest
    let walls = [(-0.5, DVec3::X), (0.5, -DVec3::X)];
    let points: Vec<_> = walls.into_iter().flat_map(|(x, n)| [-0.5, 0.5].map(|y| (DVec3::new(x, y, 0.0), n, DVec3::Z))).collect();
    let problem = held(&points, 0.5, DVec3::new(0.0, 0.0, -4.0));
    let p = problem.reduce().expect("legal");
    // thrust 3 on each of the four points, a quarter of the weight each
    let r: Vec<f64> = points.iter().flat_map(|(_, _, t)| [3.0, t.z, 0.0]).collect();
    let mut u = vec![0.0; 12];
    assert!(p.residual(&r, &mut u).rel < 1e-12);
    let lens = Lens::new(&p, &r, &u, 1e-6).expect("a lens");
    assert_eq!((lens.rank, lens.nullity), (6, 6));
    let thrust = lens.interval(0);
    assert_eq!(thrust.max, f64::INFINITY);
    // one point of a wall may carry nothing when the other carries it all
    assert!(thrust.min.abs() < 1e-6 && thrust.gap < 1e-6, "{thrust:?}");
    // smallest of all: friction fully used, μ r_n = 1 at each
    let least = lens.least_norm();
    assert!(least.chunks_exact(3).all(|c| (c[0] - 2.0).abs() < 1e-5), "{least:?}");
    assert!(solves(&p, &least));
}

#[test]
fn a_sliding_contact_stays_on_its_law() {
    // dragged so hard that it slides: four sizes, three balances
    let (p, r, u) = solved(&held(&feet(0.5), 0.1, DVec3::new(3.0, 0.0, -8.0)));
    let lens = Lens::new(&p, &r, &u, 1e-6).expect("a lens");
    assert_eq!(lens.unknowns, lens.rank + lens.nullity);
    for (row, own) in r.iter().enumerate() {
        let range = lens.interval(row);
        assert!(range.min <= own + 1e-7 && *own <= range.max + 1e-7, "{row}: {range:?} without {own}");
    }
    assert!(solves(&p, &lens.least_norm()) && solves(&p, lens.reactions()));
}

#[test]
fn the_joint_of_a_wall_carries_its_load_within_the_kern_of_its_edges() {
    // a stone on a bed joint of two edges, pushed by a thrust: each normal force between what rocking allows
    let (p, r, u) = solved(&held(&feet(0.5), 0.7, DVec3::new(1.0, 0.0, -8.0)));
    assert!(u.iter().all(|u| u.abs() < 1e-7), "it stands");
    let lens = Lens::new(&p, &r, &u, 1e-6).expect("a lens");
    assert_eq!((lens.rank, lens.nullity), (6, 6));
    // the thrust acts at half height: moment 0.5 about y, so the edge x = 0.5 carries 4.5, the other 3.5
    for (foot, edge) in [(0, 4.5), (3, 4.5), (1, 3.5), (2, 3.5)] {
        let range = lens.interval(3 * foot);
        assert!(range.min >= -1e-6 && range.max <= edge + 1e-6, "{foot}: {range:?}");
        assert!(range.width() > 1.0 && range.gap < 1e-5, "{foot}: {range:?}");
    }
    // the least norm does not depend on which solution one came from
    let far = Lens::new(&p, &lens.least_norm(), &u, 1e-6).expect("a lens");
    let apart = far.least_norm().iter().zip(lens.least_norm()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(apart < 1e-6, "{apart:e}");
}
