//! Laws of the complementarity solvers: hidden solutions are found, proofs hold, classes that are hard for pivoting are solved.

use drystone::algebra::matrix::Matrix;
use drystone::numerics::lcp::Lcp;
use drystone::numerics::mlcp::Mlcp;
use drystone::numerics::relay::Relay;
use drystone::numerics::solvers::{Problem, Settings, Solution, Solver};
use drystone::numerics::{Report, Status};
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;

/// A solver by name, with a parameter behind a blank: `murty patience=none`.
fn solve(solver: &str, p: impl Into<Problem>) -> (Report, Vec<f64>, Vec<f64>) {
    let (name, parameters) = solver.split_once(' ').unwrap_or((solver, ""));
    let solver = parameters.split_whitespace().fold(Solver::named(name).expect("a solver"), |solver, set| {
        let (name, value) = set.split_once('=').expect("name=value");
        solver.with(name, value).expect("a parameter")
    });
    let answer = p.into().solve(&Settings { solver: Some(solver), ..Settings::default() }).expect("a legal problem");
    (answer.report, answer.solution.r, answer.solution.u)
}

/// `AᵀA/n + skew + shift`: positive definite, hence P, and not symmetric.
fn definite(n: usize, seed: &[f64], shift: f64) -> Vec<f64> {
    let at = |i: usize, j: usize| seed[i * n + j];
    let entry = |i: usize, j: usize| {
        let gram = (0..n).map(|k| at(k, i) * at(k, j)).sum::<f64>() / n as f64;
        gram + 0.3 * (at(i, j) - at(j, i)) + if i == j { shift } else { 0.0 }
    };
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

/// The `q = w − M z` of which z and w are a solution.
fn hide(m: &[f64], z: &[f64], w: &[f64]) -> Vec<f64> {
    let n = z.len();
    (0..n).map(|i| w[i] - (0..n).map(|j| m[i * n + j] * z[j]).sum::<f64>()).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn all_solvers_find_the_one_solution_of_a_definite_lcp(
        n in 1..9usize, seed in prop::collection::vec(-1.0..1.0f64, 81), s in prop::collection::vec(-1.0..1.0f64, 9),
    ) {
        let m = definite(n, &seed, 0.2);
        let z: Vec<f64> = s[..n].iter().map(|s| s.max(0.0)).collect();
        let w: Vec<f64> = s[..n].iter().map(|s| (-s).max(0.0)).collect();
        let p = Lcp { q: hide(&m, &z, &w), m: Matrix::dense(n, n, m) };
        let solvers = ["auto", "lemke", "murty", "murty patience=none", "newton_fb", "newton_min", "interior_point", "enumeration"];
        for solver in solvers {
            let (report, found, _) = solve(solver, p.clone());
            prop_assert!(report.converged() && close(&found, &z, 1e-6), "{solver}: {report:?} {found:?} {z:?}");
        }
    }

    #[test]
    fn relaxation_solves_diagonally_dominant_problems(
        n in 1..9usize, seed in prop::collection::vec(-1.0..1.0f64, 81), s in prop::collection::vec(-1.0..1.0f64, 9),
    ) {
        let m: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { 1.2 * n as f64 } else { seed[k] }).collect();
        let z: Vec<f64> = s[..n].iter().map(|s| s.max(0.0)).collect();
        let w: Vec<f64> = s[..n].iter().map(|s| (-s).max(0.0)).collect();
        let p = Lcp { q: hide(&m, &z, &w), m: Matrix::dense(n, n, m) };
        let solvers = ["pgs", "pgs relaxation=0.9", "pgs regularisation=0.5", "block block=3"];
        for solver in solvers {
            let (report, found, _) = solve(solver, p.clone());
            prop_assert!(report.converged() && close(&found, &z, 1e-6), "{solver}: {report:?} {found:?} {z:?}");
        }
    }

    #[test]
    fn relays_with_any_bounds_are_solved(
        n in 1..8usize, seed in prop::collection::vec(-1.0..1.0f64, 64), s in prop::collection::vec(0.0..1.0f64, 8),
        kind in prop::collection::vec(0..6u8, 8),
    ) {
        let m = definite(n, &seed, 0.2);
        let (mut z, mut w, mut lower, mut upper) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let x = 2.0 * s[i] - 1.0;
            (z[i], w[i], lower[i], upper[i]) = match kind[i] {
                0 => (-1.0, s[i], -1.0, 1.0),
                1 => (1.0, -s[i], -1.0, 1.0),
                2 => (x, 0.0, -1.0, 1.0),
                3 => (x, 0.0, -INF, INF),
                4 => (x, -s[i], -INF, x),
                _ => (x, x, x, x),
            };
        }
        let p = Relay { q: hide(&m, &z, &w), m: Matrix::dense(n, n, m), lower, upper };
        let solvers = ["auto", "lemke", "murty", "newton_fb", "newton_min", "enumeration"];
        for solver in solvers {
            let (report, found, _) = solve(solver, p.clone());
            prop_assert!(report.converged() && close(&found, &z, 1e-6), "{solver}: {report:?} {found:?} {z:?}");
        }
    }

    #[test]
    fn monotone_mixed_problems_are_solved_whatever_the_order_of_their_rows(
        seed in prop::collection::vec(-1.0..1.0f64, 49), s in prop::collection::vec(-1.0..1.0f64, 7), rank in 3..7usize, turn in 0..7usize,
    ) {
        let n = 7;
        // semidefinite of the given rank plus skew; equations are rows 0, 1, 2
        let thin: Vec<f64> = seed.iter().enumerate().map(|(k, x)| if k / n < rank { *x } else { 0.0 }).collect();
        let mut m = definite(n, &thin, 0.0);
        for i in 0..n {
            for j in 0..n {
                m[i * n + j] += 0.3 * (seed[i * n + j] - seed[j * n + i] - thin[i * n + j] + thin[j * n + i]);
            }
        }
        let z: Vec<f64> = (0..n).map(|i| if i < 3 { s[i] } else { s[i].max(0.0) }).collect();
        let w: Vec<f64> = (0..n).map(|i| if i < 3 { 0.0 } else { (-s[i]).max(0.0) }).collect();
        let q = hide(&m, &z, &w);
        // rows and columns in turned orders: equations no longer face their unknowns
        let row = |i: usize| (i + turn) % n;
        let turned: Vec<f64> = (0..n * n).map(|k| m[row(k / n) * n + k % n]).collect();
        let p = Mlcp {
            m: Matrix::dense(n, n, turned),
            q: (0..n).map(|i| q[row(i)]).collect(),
            equality: (0..n).map(|i| row(i) < 3).collect(),
            free: (0..n).map(|j| j < 3).collect(),
        };
        // a turn may also change which bounded unknown faces which row: only turns that keep their order are the same problem
        let order: Vec<usize> = (0..n).map(row).filter(|i| *i >= 3).collect();
        prop_assume!(order.is_sorted());
        for solver in ["auto", "lemke"] {
            let (report, ..) = solve(solver, p.clone());
            prop_assert!(report.converged(), "{solver}: {report:?}");
        }
    }

    #[test]
    fn inconsistent_problems_are_proved_so_and_consistent_ones_never(
        n in 1..7usize, seed in prop::collection::vec(-1.0..1.0f64, 49), y in prop::collection::vec(0.05..1.0f64, 7), shift in -0.5..0.5f64,
    ) {
        // rows that cancel: yᵀM ≤ 0 in every column, yᵀq = shift
        let mut m = seed[..n * n].to_vec();
        for j in 0..n {
            let above: f64 = (0..n - 1).map(|i| y[i] * m[i * n + j]).sum();
            m[(n - 1) * n + j] = -above / y[n - 1] - 0.1 * y[j];
        }
        let mut q = seed[42..42 + n].to_vec();
        q[n - 1] = (shift - (0..n - 1).map(|i| y[i] * q[i]).sum::<f64>()) / y[n - 1];
        let p = Lcp { m: Matrix::dense(n, n, m), q };
        let proof = Problem::from(p.clone()).infeasibility();
        if shift < -1e-3 {
            prop_assert!(proof.is_some());
            prop_assert_eq!(solve("auto", p.clone()).0.status, Status::Inconsistent);
        }
        if solve("enumeration", p).0.converged() {
            prop_assert!(proof.is_none());
        }
    }
}

/// Murty's matrix: upper triangular, 1 on the diagonal and 2 above.
fn murty(n: usize) -> Lcp {
    let m = (0..n * n)
        .map(|k| {
            if k % n == k / n {
                1.0
            } else if k % n > k / n {
                2.0
            } else {
                0.0
            }
        })
        .collect();
    Lcp { m: Matrix::dense(n, n, m), q: vec![-1.0; n] }
}

#[test]
fn exponential_examples_are_solved() {
    let n = 12;
    let l = |i: usize, j: usize| {
        if i == j {
            1.0
        } else if j < i {
            2.0
        } else {
            0.0
        }
    };
    let m = (0..n * n).map(|k| (0..n).map(|j| l(k / n, j) * l(k % n, j)).sum()).collect();
    let fathi = Lcp { m: Matrix::dense(n, n, m), q: vec![-1.0; n] };
    for p in [murty(n), fathi] {
        for solver in ["auto", "lemke", "murty patience=none"] {
            let (report, ..) = solve(solver, p.clone());
            println!("{report:?}");
            assert!(report.converged(), "{report:?}");
        }
    }
    // both make Lemke's and the one-index method long; blocks are short
    assert!(solve("murty", murty(n)).0.iterations < 40);
}

/// Costs of a game of two players, integers from 1 to 9: many ties.
fn game(m: usize, n: usize, seed: usize) -> Lcp {
    let mut state = seed as u32 + 1;
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(1 + (state >> 16) % 9)
    };
    let size = m + n;
    let mut matrix = vec![0.0; size * size];
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        matrix[i * size + m + j] = draw();
        matrix[(m + j) * size + i] = draw();
    }
    Lcp { m: Matrix::dense(size, size, matrix), q: vec![-1.0; size] }
}

/// Lemke's covering vectors all end on a ray: the path has to miss a pair instead.
#[test]
fn games_of_two_players_have_an_equilibrium() {
    for (seed, (m, n)) in [(2, 3), (7, 4), (25, 21), (40, 50), (9, 50), (60, 11), (33, 33), (1, 5)].into_iter().enumerate() {
        let p = game(m, n, seed);
        for solver in ["auto", "lemke"] {
            let (report, z, w) = solve(solver, p.clone());
            assert_eq!(report.status, Status::Converged, "{solver} {m} × {n}: {report:?}");
            // no pure strategy costs a player less than the mixed one does
            assert!(z.iter().chain(&w).all(|x| *x >= -1e-9) && z.iter().zip(&w).all(|(z, w)| z * w <= 1e-9), "{solver} {m} × {n}");
            assert!(z[..m].iter().sum::<f64>() > 0.0 && z[m..].iter().sum::<f64>() > 0.0, "{solver} {m} × {n}");
        }
    }
}

#[test]
fn an_example_that_makes_naive_pivoting_cycle_is_solved() {
    let p = Lcp { m: Matrix::dense(3, 3, vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0]), q: vec![-1.0; 3] };
    for solver in ["auto", "lemke", "murty"] {
        let (report, z, _) = solve(solver, p.clone());
        assert!(report.converged() && close(&z, &[1.0 / 3.0; 3], 1e-12), "{report:?} {z:?}");
    }
}

#[test]
fn small_and_trivial_problems_have_their_answers() {
    let solvers = ["auto", "lemke", "murty", "newton_fb", "interior_point", "enumeration"];
    for solver in solvers {
        assert_eq!(solve(solver, Lcp::default()).0, Report::default());
        // q ≥ 0: z = 0, whatever M
        let p = Lcp { m: Matrix::dense(2, 2, vec![-1.0, 3.0, 0.0, -2.0]), q: vec![1.0, 0.0] };
        let (report, z, w) = solve(solver, p.clone());
        assert!(report.converged() && z == [0.0, 0.0] && w == p.q);
        let p = Lcp { m: Matrix::dense(1, 1, vec![4.0]), q: vec![-2.0] };
        let (report, z, _) = solve(solver, p);
        assert!(report.converged() && (z[0] - 0.5).abs() < 1e-8);
    }
}

#[test]
fn a_rectangular_problem_is_solved_where_its_equations_agree_and_refused_where_they_do_not() {
    let m = |x: f64| Matrix::dense(3, 2, vec![1.0, -1.0, x, -x, -1.0, 2.0]);
    // z₀ = z₁ twice, and w = z₁ − 1
    let good = Mlcp::new(m(2.0), vec![0.0, 0.0, -1.0], 1).expect("legal");
    let (report, z, _) = solve("auto", good);
    assert!(report.converged() && close(&z, &[1.0, 1.0], 1e-12), "{report:?} {z:?}");
    let bad = Mlcp::new(m(1.0), vec![0.0, 1.0, -1.0], 1).expect("legal");
    assert_eq!(solve("auto", bad).0.status, Status::Inconsistent);
}

#[test]
fn storage_does_not_matter() {
    let n = 6;
    let seed: Vec<f64> = (0..n * n).map(|k| ((k * k + 1) as f64).cos()).collect();
    let dense = Matrix::dense(n, n, definite(n, &seed, 0.3));
    let q: Vec<f64> = (0..n).map(|i| (i as f64).sin() - 0.5).collect();
    let mut triplets = sprs::TriMat::new((n, n));
    dense.to_dense().iter().enumerate().for_each(|(k, x)| triplets.add_triplet(k / n, k % n, *x));
    let blocks = drystone::algebra::blocks::BlockRows::from_dense(&[0, 2, 6], &dense.to_dense());
    let truth = solve("auto", Lcp { m: dense, q: q.clone() });
    for m in [Matrix::Sparse(triplets.to_csc()), Matrix::Blocks(blocks)] {
        assert_eq!(solve("auto", Lcp { m, q: q.clone() }).1, truth.1);
    }
}

#[test]
fn bad_data_is_named() {
    let text = |p: Problem| p.solve(&Settings::default()).expect_err("an error").to_string();
    assert!(text(Lcp { m: Matrix::dense(2, 1, vec![1.0; 2]), q: vec![0.0; 2] }.into()).contains("M's columns"));
    let relay = |lower: f64| Relay { m: Matrix::dense(1, 1, vec![1.0]), q: vec![0.0], lower: vec![lower], upper: vec![1.0] };
    assert!(text(relay(2.0).into()).contains("lower bound 0"));
    assert!(text(relay(f64::NAN).into()).contains("lower bound 0"));
    let mixed = Mlcp { m: Matrix::dense(1, 1, vec![1.0]), q: vec![0.0], equality: vec![true], free: vec![false] };
    assert!(text(mixed.into()).contains("rows without equality"));
}

#[test]
fn feasible_problems_without_solution_are_proved_so_by_all_their_bases() {
    // w₁ = 1 keeps z₁ = 0, and then w₀ = −1 although z₁ = 1 is feasible
    let p = Lcp { m: Matrix::dense(2, 2, vec![0.0, 1.0, 0.0, 0.0]), q: vec![-1.0, 1.0] };
    assert_eq!(Problem::from(p.clone()).infeasibility(), None);
    for solver in ["enumeration", "auto"] {
        let (report, z, w) = solve(solver, p.clone());
        assert_eq!(report.status, Status::Inconsistent, "{report:?} {z:?} {w:?}");
    }
    // the sign of w alone decides: −z₀ − 1 ≥ 0 has no basis, regular or not
    let p = Lcp { m: Matrix::dense(2, 2, vec![-1.0, 0.0, 1.0, 0.0]), q: vec![-1.0, 0.0] };
    assert_eq!(solve("auto", p).0.status, Status::Inconsistent);
}

/// `M = B Bᵀ + S` with `M y = Mᵀ y = 0` for a y ≥ 0 on every third row, and `qᵀ y < 0`: no z ≥ 0 has w ≥ 0. Rows and columns in units
/// of 10^−decades to 10^decades.
fn contradicting(n: usize, rank: usize, decades: f64) -> Lcp {
    let noise = |k: usize| libm::sin((k * k + 7 * k) as f64);
    let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 + 0.5 * noise(i) } else { 0.0 }).collect();
    let square: f64 = y.iter().map(|y| y * y).sum();
    // orthogonal to y
    let cleared = |mut a: Vec<f64>| {
        let along: f64 = a.iter().zip(&y).map(|(a, y)| a * y).sum::<f64>() / square;
        a.iter_mut().zip(&y).for_each(|(a, y)| *a -= along * y);
        a
    };
    let columns: Vec<Vec<f64>> = (0..rank + 12).map(|k| cleared((0..n).map(|i| noise(1000 + k * n + i)).collect())).collect();
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let gram: f64 = columns[..rank].iter().map(|b| b[i] * b[j]).sum();
            let skew: f64 = columns[rank..].chunks(2).map(|c| c[0][i] * c[1][j] - c[1][i] * c[0][j]).sum();
            m[i * n + j] = gram + skew;
        }
    }
    let mut q: Vec<f64> = cleared((0..n).map(|i| noise(i + 9)).collect());
    q.iter_mut().zip(&y).for_each(|(q, y)| *q -= 0.05 * y);
    let unit = |k: usize| libm::pow(10.0, (decades * noise(3 * k + 5)).round());
    for i in 0..n {
        q[i] *= unit(i);
        (0..n).for_each(|j| m[i * n + j] *= unit(i) * unit(n + j));
    }
    Lcp { m: Matrix::dense(n, n, m), q }
}

#[test]
fn contradictions_are_proved_early_and_in_any_units() {
    for (n, rank) in [(9, 2), (20, 8), (80, 25), (80, 60)] {
        for decades in [0.0, 2.0, 8.0] {
            let p = contradicting(n, rank, decades);
            let answer = Problem::from(p.clone()).solve(&Settings::default()).expect("a legal problem");
            let told = format!("{n} {rank} {decades}: {:?}", answer.report);
            assert_eq!(answer.report.status, Status::Inconsistent, "{told}");
            // a short path at most, not those of the later methods
            assert!(answer.report.iterations < 10 * n + 200, "{told}");
            let y = &answer.certificate;
            let value: f64 = y.iter().zip(&p.q).map(|(y, q)| y * q).sum();
            assert!(y.len() == n && y.iter().all(|y| *y >= 0.0) && value < 0.0, "{told}");
            let m = p.m.to_dense();
            for j in 0..n {
                let terms = || (0..n).map(|i| y[i] * m[i * n + j]);
                assert!(terms().sum::<f64>() <= 1e-11 * terms().map(f64::abs).sum::<f64>(), "{told}");
            }
        }
    }
}

#[test]
fn singular_equations_that_contradict_a_bound_have_a_certificate() {
    // z₁ = −1 is asked for where z₁ ≥ 0, and nothing depends on the free unknown
    let p =
        Mlcp { m: Matrix::dense(2, 2, vec![0.0, 1.0, 0.0, 0.0]), q: vec![1.0, 0.0], equality: vec![true, false], free: vec![true, false] };
    let proof = Problem::from(p).infeasibility().expect("a proof");
    assert!(proof.multipliers[0] == -1.0 && proof.value < 0.0, "{proof:?}");
}

#[test]
fn no_method_ends_where_a_row_misses_its_own_scale_before_its_budget_is_spent() {
    let m = || Matrix::dense(2, 2, vec![3.0, 1.0, 1.0, 2.0]);
    let cases: [(f64, Problem); 3] = [
        // within the tolerance of the norm at z = 0, as the second row alone is seen there
        (1e-4, Lcp { m: m(), q: vec![-1e-4, 10.8] }.into()),
        (1e-4, Relay { m: m(), q: vec![310.0, -531.4], lower: vec![-22.1, -0.2], upper: vec![0.4, 1.5] }.into()),
        (
            1e-8,
            Relay {
                m: Matrix::dense(2, 2, vec![2.0, 0.0, 0.0, 1.0]),
                q: vec![-209.1, -2.9],
                lower: vec![-0.8, -1.8],
                upper: vec![15.6, 17.0],
            }
            .into(),
        ),
    ];
    for (tolerance, p) in cases {
        for name in ["auto", "newton_fb", "newton_min", "interior_point", "lemke", "murty", "enumeration", "pgs", "psor", "block"] {
            let settings = Settings { tolerance, ..Settings::with_solver(name).expect("a solver") };
            let report = p.solve(&settings).expect("a legal problem").report;
            assert!(report.converged(), "{name}: {report:?}");
        }
    }
}

#[test]
fn violations_are_those_of_the_rows_that_unknowns_complement() {
    // z₀ complements row 1, and z₁ is the free unknown of row 0: the answer is z = (1, 2) with w = 0, and at z = (0, 1) w = (−1, −4)
    let p = Problem::from(Mlcp {
        m: Matrix::dense(2, 2, vec![0.0, 1.0, 3.0, 1.0]),
        q: vec![-2.0, -5.0],
        equality: vec![true, false],
        free: vec![false, true],
    });
    let mut off = Solution { r: vec![0.0, 1.0], ..p.zero() };
    assert_eq!((p.residual(&mut off).expect("residuals").violation, &off.u[..]), (4.0, &[-1.0, -4.0][..]));
    // z₀ = 0 with w = (0, 40)
    let open = Problem::from(Mlcp {
        m: Matrix::dense(2, 2, vec![0.0, 1.0, 3.0, 1.0]),
        q: vec![-2.0, 38.0],
        equality: vec![true, false],
        free: vec![false, true],
    });
    for p in [&p, &open] {
        let answer = p.solve(&Settings::default()).expect("a legal problem");
        let rows = p.blocks_at(&answer.solution).expect("rows").iter().fold(0.0f64, |m, row| m.max(row.violation));
        assert!(answer.converged() && answer.report.violation < 1e-12 && rows < 1e-12, "{:?}", answer.report);
        let again = p.solve(&Settings { guess: Some(answer.solution), ..Settings::default() }).expect("a legal problem");
        assert_eq!(again.report.iterations, 0, "{:?}", again.report);
    }
}

#[test]
fn unknowns_whose_bounds_meet_do_not_stop_the_interior_point() {
    let p = Relay {
        m: Matrix::dense(3, 3, vec![2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0]),
        q: vec![-1.0, 3.0, -5.0],
        lower: vec![-1.0, 0.5, -INF],
        upper: vec![1.0, 0.5, 4.0],
    };
    let (report, z, _) = solve("interior_point", p);
    assert!(report.converged(), "{report:?}");
    // w = (2 z₀ − ½, z₀ + z₂ + 4, 2 z₂ − 4½)
    assert!((z[0] - 0.25).abs() < 1e-8 && z[1] == 0.5 && (z[2] - 2.25).abs() < 1e-8, "{z:?}");
    let all = Relay { m: Matrix::dense(1, 1, vec![1.0]), q: vec![2.0], lower: vec![3.0], upper: vec![3.0] };
    assert_eq!(solve("interior_point", all).1, [3.0]);
}

#[test]
fn certificates_have_the_rows_of_the_statement_where_equations_and_free_unknowns_stand_apart() {
    // z₀ = −1 is asked for by row 0, where z₀ ≥ 0; z₁ is free, and the complementarity of z₀ is row 1
    let p =
        Mlcp { m: Matrix::dense(2, 2, vec![1.0, 0.0, 0.0, 0.0]), q: vec![1.0, 0.0], equality: vec![true, false], free: vec![false, true] };
    let proof = Problem::from(p.clone()).infeasibility().expect("a proof");
    assert!(proof.multipliers == [-1.0, 0.0] && proof.value < 0.0, "{proof:?}");
    for solver in ["auto", "lemke", "interior_point"] {
        let answer = Problem::from(p.clone()).solve(&Settings::with_solver(solver).expect("a solver")).expect("a legal problem");
        assert_eq!((answer.status(), &answer.certificate[..]), (Status::Inconsistent, &[-1.0, 0.0][..]), "{solver}");
    }
}

#[test]
fn rows_in_large_units_hide_no_other_row() {
    // z₂ is at its upper bound and z₁ at its lower one, so that w₀ is 0.297, and z₀ has no lower bound: there is no solution
    let relay = |unit: f64| Relay {
        m: Matrix::dense(3, 3, vec![0.0, -0.8, 0.88, 0.0, 0.0, 0.58, 0.0, 0.0, 0.0]),
        q: vec![-1.0, 2.0, -2.0 * unit],
        lower: vec![-INF, -0.965, -0.82],
        upper: vec![0.819, 0.365, 0.597],
    };
    // free unknowns and equations 0 and 2; no complementary basis is a solution
    let (rows, columns) = ([10.0, 1e6, 0.01, 1.0, 1e4], [0.01, 1e5, 0.1, 1.0, 0.01]);
    let m = [
        0.0, 1.0, 1.0, 0.0, 0.0, -2.0, 0.0, 2.0, 2.0, 0.0, 0.0, -2.0, 1.0, -2.0, 0.0, -2.0, -2.0, 1.0, 1.0, -1.0, 0.0, 0.0, -1.0, 1.0, 1.0,
    ];
    let equations = [true, false, true, false, false];
    let mixed = Mlcp {
        m: Matrix::dense(5, 5, (0..25).map(|k| m[k] * rows[k / 5] * columns[k % 5]).collect()),
        q: [-0.6316, -1.1459, -1.3999, -0.6651, 1.4801].iter().zip(rows).map(|(q, r)| q * r).collect(),
        equality: equations.to_vec(),
        free: equations.to_vec(),
    };
    for tolerance in [1e-3, 1e-5, 1e-8] {
        let settings = Settings { tolerance, ..Settings::default() };
        for unit in [1.0, 1e3, 1e5, 1e9] {
            let report = Problem::from(relay(unit)).solve(&settings).expect("a problem").report;
            assert!(!report.converged(), "{unit:e}, {tolerance:e}: {report:?}");
        }
        if tolerance < 1e-5 {
            let report = Problem::from(mixed.clone()).solve(&settings).expect("a problem").report;
            assert!(!report.converged(), "{tolerance:e}: {report:?}");
        }
    }
}

#[test]
fn a_basis_that_small_rows_do_not_show_takes_no_solution_away() {
    // z₃ = 1e7/3 alone is the solution; beside it the units of row 0, an equation, are nothing
    let m = [[5e-6, 2e-5, 2e-2, 0.0], [0.0, 3e-4, 0.2, 0.0], [2e-2, 0.0, 3e2, 2e-6], [1e-10, 1e-9, 2e-6, 3e-14]];
    let equality = vec![true, false, false, false];
    let p = Mlcp { m: Matrix::dense(4, 4, m.concat()), q: vec![0.0, 1e-2, 90.0, -1e-7], free: equality.clone(), equality };
    let (report, z, _) = solve("auto", p);
    assert!(report.converged() && z[..3] == [0.0; 3] && (z[3] - 1e7 / 3.0).abs() < 1e-3, "{report:?} {z:?}");
}

#[test]
fn rows_that_nothing_asks_of_are_solved_to_rounding_and_prove_nothing() {
    // lower triangular: z0 = z1 = 0 exactly, and what rounding leaves of it beside the others is no violation
    let m = [
        [0.6059876606931613, 0.0, 0.0, 0.0, 0.0],
        [1.7604376616816948, 0.8255946611245922, 0.0, 0.0, 0.0],
        [-2.1494323773242425, -4.668226123528985, 1.4930889895994068, 0.0, 0.0],
        [-0.6700323543442052, 6.1672637238509855, -3.0897291524603765, 0.46022971262909296, 0.0],
        [0.20049913560028548, -2.0914486350853103, 2.1437625457270157, -0.17284606327142651, 1.731762217593843],
    ];
    let p = Relay {
        m: Matrix::dense(5, 5, m.concat()),
        q: vec![0.0, 0.0, 2.0, -1.0, 0.0],
        lower: vec![-INF, -INF, -1.4056209609925179, -0.6566694915218731, -0.2420783924518859],
        upper: vec![1.31751816606539, INF, 1.2959004648883168, 0.3138718590975387, INF],
    };
    for solver in ["auto", "lemke", "enumeration", "newton_fb"] {
        let (report, z, _) = solve(solver, p.clone());
        assert_eq!(report.status, Status::Converged, "{solver}: {report:?}");
        assert!(z[0].abs() < 1e-8 && z[1].abs() < 1e-8 && (z[2] + 2.0 / 1.4930889895994068).abs() < 1e-8, "{solver}: {z:?}");
    }
}
