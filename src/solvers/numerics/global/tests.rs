use super::*;
use crate::numerics::{Status, local::admm::Admm};
use sprs::TriMat;

/// `nc` contacts between `bodies` point-like bodies of six velocities, dense pseudo-random rows, M in blocks of six.
pub(super) fn random(bodies: usize, nc: usize, mu: f64, twist: f64, seed: u64) -> GlobalProblem {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    let n = 6 * bodies;
    let mut mass = TriMat::new((n, n));
    for b in 0..bodies {
        for i in 0..6 {
            mass.add_triplet(6 * b + i, 6 * b + i, 3.0 + uniform());
            for j in 0..i {
                let (x, skew) = (0.3 * uniform(), twist * uniform());
                mass.add_triplet(6 * b + i, 6 * b + j, x + skew);
                mass.add_triplet(6 * b + j, 6 * b + i, x - skew);
            }
        }
    }
    let mut h = TriMat::new((n, 3 * nc));
    for c in 0..nc {
        for body in [c % bodies, (c * 7 + 3) % bodies] {
            for row in 0..3 {
                for k in 0..6 {
                    h.add_triplet(6 * body + k, 3 * c + row, uniform());
                }
            }
        }
    }
    let h: CsMat<f64> = h.to_csr();
    // w = −Hᵀ v₀ + e_n: the velocity −v₀ … opens every contact, so a solution exists
    let v: Vec<f64> = (0..n).map(|_| uniform()).collect();
    let mut w = vec![0.0; 3 * nc];
    h.iter().for_each(|(x, (k, row))| w[row] += x * v[k]);
    (0..nc).for_each(|c| w[3 * c] += 0.1);
    let f = (0..n).map(|_| 2.0 * uniform()).collect();
    GlobalProblem {
        mass: mass.to_csr(),
        h,
        f,
        w,
        offsets: (0..=nc).map(|c| 3 * c).collect(),
        sets: vec![AdmissibleSet::Coulomb { mu }; nc],
    }
}

#[test]
fn reduction_is_h_transposed_inverse_mass_h() {
    let p = random(3, 5, 0.4, 0.2, 1);
    let local = p.reduce().expect("legal");
    let (dofs, rows) = (p.f.len(), p.w.len());
    // u of r = e_j by way of the velocities is column j of W plus q
    for j in 0..rows {
        let (mut r, mut v, mut u, mut image) = (vec![0.0; rows], vec![0.0; dofs], vec![0.0; rows], vec![0.0; rows]);
        r[j] = 1.0;
        p.velocity(&r, &mut v).expect("invertible");
        u.copy_from_slice(&p.w);
        p.h.iter().for_each(|(x, (k, row))| u[row] += x * v[k]);
        local.residual(&r, &mut image);
        assert!(u.iter().zip(&image).all(|(a, b)| (a - b).abs() < 1e-12));
    }
    let prepared = Prepared::new(&p).expect("legal");
    let weights = local.weights();
    assert!(prepared.weights().iter().zip(&weights).all(|(a, b)| (a - b).abs() < 1e-13));
    assert!(local.w.asymmetry() > 1e-3, "M is not symmetric, so W is not");
}

#[test]
fn residuals_of_both_forms_agree() {
    let p = random(4, 6, 0.7, 0.0, 5);
    let local = p.reduce().expect("legal");
    let r: Vec<f64> = (0..18).map(|i| if i % 3 == 0 { 1.0 } else { 0.2 }).collect();
    let (mut v, mut u, mut u_local) = (vec![0.0; 24], vec![0.0; 18], vec![0.0; 18]);
    let (global, reduced) = (p.residual(&r, &mut v, &mut u).expect("legal"), local.residual(&r, &mut u_local));
    assert!(u.iter().zip(&u_local).all(|(a, b)| (a - b).abs() < 1e-13));
    assert!((global.rel_q - reduced.rel_q).abs() < 1e-12 && (global.e_s - reduced.e_s).abs() < 1e-12);
    let map = reduced.rel * norm(&r).max(norm(&u)).max(norm(&local.q));
    assert!((global.rel - map / norm(&r).max(norm(&u))).abs() < 1e-12);
}

#[test]
fn without_contacts_the_velocity_is_free() {
    let mut p = random(2, 1, 0.0, 0.0, 3);
    p.h = CsMat::zero((12, 0));
    (p.w, p.offsets, p.sets) = (Vec::new(), vec![0], Vec::new());
    let mut v = vec![0.0; 12];
    assert_eq!(p.residual(&[], &mut v, &mut []).expect("legal").rel_q, 0.0);
    let mut product = [0.0; 12];
    p.mass.iter().for_each(|(m, (i, j))| product[i] += m * v[j]);
    assert!(product.iter().zip(&p.f).all(|(a, b)| (a - b).abs() < 1e-14));
    assert_eq!(p.reduce().expect("legal").order(), 0);
}

#[test]
fn a_block_that_nothing_moves_is_idle_or_refused() {
    let mut p = random(2, 2, 0.5, 0.0, 3);
    let keep: CsMat<f64> = {
        let mut h = TriMat::new((12, 6));
        p.h.iter().filter(|(_, (_, row))| *row < 3).for_each(|(x, (k, row))| h.add_triplet(k, row, *x));
        h.to_csc()
    };
    p.h = keep;
    p.w[3] = 0.5;
    let local = p.reduce().expect("it opens by itself");
    assert_eq!(local.w.columns(1), [1]);
    p.w[3] = -0.5;
    let error = p.reduce().expect_err("it closes and nothing can stop it").to_string();
    assert!(error.contains("block 1 has no velocity"), "{error}");
}

#[test]
fn a_block_that_nothing_moves_bears_its_bound() {
    use crate::numerics::solvers::{Problem, Settings};
    let bounded = AdmissibleSet::Interval { lower: -1.0, upper: 2.0 };
    let crushing = AdmissibleSet::Crushing { mu: 0.5, most: 2.0 };
    for (set, w, expected) in [
        (bounded, vec![0.5], vec![-1.0]),
        (bounded, vec![-0.5], vec![2.0]),
        (bounded, vec![0.0], vec![0.0]),
        (AdmissibleSet::Interval { lower: 0.0, upper: f64::INFINITY }, vec![0.5], vec![0.0]),
        (crushing, vec![-0.5, 0.2], vec![2.0, -1.0]),
        (crushing, vec![0.5, 0.2], vec![0.0, 0.0]),
    ] {
        let rows = w.len();
        let p = Problem::Global(GlobalProblem {
            mass: CsMat::eye(1),
            h: TriMat::from_triplets((1, 1 + rows), vec![0], vec![0], vec![1.0]).to_csc(),
            f: vec![-1.0],
            w: [vec![0.0], w.clone()].concat(),
            offsets: vec![0, 1, 1 + rows],
            sets: vec![AdmissibleSet::Free, set],
        });
        let answer = p.solve(&Settings::default()).expect("its law holds at the bound");
        let (r, u) = (&answer.solution.r, &answer.solution.u);
        assert!(answer.converged() && u[1..] == w, "{set:?}: {answer:?}");
        assert!((r[0] - 1.0).abs() < 1e-7 && r[1..].iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-7), "{set:?}: {r:?}");
    }
    // nothing bears what closes without an end
    let open = AdmissibleSet::Interval { lower: 0.0, upper: f64::INFINITY };
    let mut p = random(2, 1, 0.5, 0.0, 3);
    (p.h, p.w, p.offsets, p.sets) = (CsMat::zero((12, 1)), vec![-0.5], vec![0, 1], vec![open]);
    assert!(p.reduce().expect_err("no bound above").to_string().contains("block 0 has no velocity"));
}

#[test]
fn bad_data_is_named() {
    let good = random(2, 2, 0.5, 0.0, 3);
    let text = |p: &GlobalProblem| p.validate().expect_err("an error").to_string();
    assert!(text(&GlobalProblem { w: vec![0.0; 5], ..good.clone() }).contains("a row of H holds 6 values, but 5"));
    assert!(text(&GlobalProblem { f: vec![0.0; 5], ..good.clone() }).contains("M holds 12 values, but 5"));
    assert!(text(&GlobalProblem { f: vec![f64::NAN; 12], ..good.clone() }).contains("value 0 of f is not finite"));
    assert!(text(&GlobalProblem { offsets: vec![0, 7, 6], ..good.clone() }).contains("grow"));
    assert!(text(&GlobalProblem { sets: good.sets[..1].to_vec(), ..good }).contains("1 values, but 2"));
}

fn answer(solver: &dyn GlobalSolver, p: &GlobalProblem) -> (Report, Vec<f64>, Vec<f64>) {
    let (mut r, mut v, mut u) = (vec![0.0; p.w.len()], vec![0.0; p.f.len()], vec![0.0; p.w.len()]);
    let report = solver.solve_watched(p, [&mut r, &mut v, &mut u], &mut |_| true).expect("legal");
    (report, r, v)
}

#[test]
fn body_space_and_reduction_find_the_same_velocities() {
    let nsgs = Reduced {
        tolerance: 1e-11,
        measure: Measure::default(),
        solver: |tolerance| crate::numerics::local::nsgs::Nsgs { tolerance, ..Default::default() },
    };
    let admm = Admm { tolerance: 1e-9, ..admm::IN_BODY_SPACE };
    let newton = proximal::BodyNewton { tolerance: 1e-9, ..Default::default() };
    let auto = auto::GlobalAuto { tolerance: 1e-10, ..Default::default() };
    let redundant = auto::GlobalAuto { redundancy: 0.0, ..auto };
    for seed in 0..12 {
        // small friction: the answer is unique; Newton in body space minimises, so it wants a symmetric M
        let symmetric = seed % 2 == 0;
        let p = random(6, 4 + 2 * seed as usize, 0.1, if symmetric { 0.0 } else { 0.1 }, seed + 1);
        let (report, _, v) = answer(&nsgs, &p);
        assert!(report.converged(), "seed {seed}: {report:?}");
        let solvers = [("admm", &admm as &dyn GlobalSolver), ("auto", &auto), ("auto in body space", &redundant), ("newton", &newton)];
        for (name, solver) in &solvers[..if symmetric { 4 } else { 3 }] {
            let (found, _, w) = answer(*solver, &p);
            assert!(found.converged(), "{name}, seed {seed}: {found:?}");
            let apart = v.iter().zip(&w).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(apart <= 1e-5 * norm(&v), "{name}, seed {seed}: velocities {apart:e} apart");
        }
    }
}

/// A solver on W costs several times as much there; beyond the redundancy, and with a shift, other ways come first.
#[test]
fn redundant_problems_without_a_shift_are_solved_in_body_space() {
    let auto = auto::GlobalAuto::default();
    let newton = proximal::BodyNewton { tolerance: auto.tolerance, ..Default::default() };
    for seed in 0..12 {
        let mut p = random(4, 20 + seed as usize, 0.5, 0.0, seed + 1);
        let shifted = answer(&auto, &p).1;
        p.sets.fill(AdmissibleSet::SecondOrder { mu: 0.5 });
        let (report, r, _) = answer(&auto, &p);
        assert!(report.converged() && report.iterations == report.factorisations, "seed {seed}: {report:?}");
        assert!(r == answer(&newton, &p).1 && r != shifted, "seed {seed}");
        let alone = auto::GlobalAuto { redundancy: 1e3, ..auto };
        assert_ne!(answer(&alone, &p).1, r, "seed {seed}");
    }
}

#[test]
fn the_watch_ends_a_solve_and_the_best_point_is_kept() {
    let p = random(6, 20, 0.6, 0.0, 4);
    let [admm, newton, auto]: [&dyn GlobalSolver; 3] =
        [&admm::IN_BODY_SPACE, &proximal::BodyNewton::default(), &auto::GlobalAuto::default()];
    for solver in [admm, newton, auto] {
        let (mut r, mut v, mut u) = (vec![0.0; 60], vec![0.0; 36], vec![0.0; 60]);
        let start = p.residual(&r, &mut v, &mut u).expect("legal").rel;
        let mut looks = 0;
        let mut watch = |_| {
            looks += 1;
            looks < 2
        };
        let report = solver.solve_watched(&p, [&mut r, &mut v, &mut u], &mut watch).expect("legal");
        assert_eq!(report.status, Status::BudgetSpent);
        assert!(report.rel <= start && report.rel == p.residual(&r, &mut v, &mut u).expect("legal").rel);
    }
}
