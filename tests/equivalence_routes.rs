//! Every route of [`Router`] gives the answer of the general solver: the same u, and the same r where W is definite.

use drystone::algebra::blocks::BlockRows;
use drystone::algebra::matrix::Matrix;
use drystone::numerics::Status;
use drystone::numerics::admissible::AdmissibleSet::{self, Coulomb, Free, Interval, NonNegative, Rolling, SecondOrder};
use drystone::numerics::local::LocalProblem;
use drystone::numerics::relay::Relay;
use drystone::numerics::route::{Route, RoutedProblem, Router};
use drystone::numerics::solvers::Settings;

/// splitmix64
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// What W is like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Definite,
    /// positive definite with a skew part
    Skew,
    /// symmetric of half rank
    Semidefinite,
}

fn matrix(random: &mut Random, n: usize, kind: Kind) -> Vec<f64> {
    let rank = if kind == Kind::Semidefinite { n.div_ceil(2) } else { n + 2 };
    let h = random.vector(n * rank);
    let mut w = vec![0.0; n * n];
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        w[i * n + j] = (0..rank).map(|k| h[i * rank + k] * h[j * rank + k]).sum::<f64>() / rank as f64;
        w[i * n + j] += if kind != Kind::Semidefinite && i == j { 0.2 } else { 0.0 };
    }
    if kind == Kind::Skew {
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let x = 0.3 * random.next();
            w[i * n + j] += x;
            w[j * n + i] -= x;
        }
    }
    w
}

fn rows(set: AdmissibleSet, k: usize) -> usize {
    match set {
        Coulomb { .. } | SecondOrder { .. } => 2 + k % 2,
        Rolling { .. } => 3 + 2 * (k % 2),
        _ => 1 + usize::from(k % 5 == 4),
    }
}

/// A problem of blocks of these sets in turn; q lies in the range of W, so that there is a solution.
fn problem(random: &mut Random, sets: &[AdmissibleSet], blocks: usize, kind: Kind, parity: usize) -> RoutedProblem {
    let sets: Vec<AdmissibleSet> = (0..blocks).map(|k| sets[k % sets.len()]).collect();
    let mut offsets = vec![0];
    for (k, &set) in sets.iter().enumerate() {
        let k = if matches!(set, Coulomb { .. } | Rolling { .. } | SecondOrder { .. }) { parity } else { k };
        offsets.push(offsets[offsets.len() - 1] + rows(set, k));
    }
    let n = offsets[blocks];
    let w = matrix(random, n, kind);
    let mut p = dense(&offsets, w, vec![0.0; n], sets);
    load(random, &mut p);
    p
}

/// A problem with all blocks active and stored.
fn dense(offsets: &[usize], w: Vec<f64>, q: Vec<f64>, sets: Vec<AdmissibleSet>) -> RoutedProblem {
    let mut blocks = BlockRows::full(offsets.to_vec(), vec![0.0; w.len()]);
    blocks.assign_dense(&w);
    RoutedProblem::from(LocalProblem { w: blocks, q, sets })
}

/// A new q.
fn load(random: &mut Random, p: &mut RoutedProblem) {
    let x: Vec<f64> = random.vector(p.order()).iter().map(|x| 2.0 * x).collect();
    p.problem.w.multiply(&x, &mut p.problem.q);
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().chain(b).fold(1.0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

fn general_router(tolerance: f64) -> Router {
    let mut router = Router::default();
    (router.general, router.tolerance) = (true, tolerance);
    router
}

/// The general solver of bounds, with inactive rows as rows held at 0; false where there are cones.
fn by_complementarity(p: &RoutedProblem, r: &mut [f64], u: &mut [f64]) -> bool {
    let (n, offsets) = (p.order(), p.problem.w.offsets());
    let (mut lower, mut upper) = (vec![0.0; n], vec![0.0; n]);
    for k in (0..p.active.len()).filter(|&k| p.active[k]) {
        let (l, h) = match p.problem.sets[k] {
            Free => (f64::NEG_INFINITY, f64::INFINITY),
            NonNegative => (0.0, f64::INFINITY),
            Interval { lower, upper } => (lower, upper),
            _ => return false,
        };
        lower[offsets[k]..offsets[k + 1]].fill(l);
        upper[offsets[k]..offsets[k + 1]].fill(h);
    }
    let statement = Relay { m: Matrix::dense(n, n, p.problem.w.to_dense()), q: p.problem.q.clone(), lower, upper };
    let answer = statement.solve(&Settings { tolerance: 1e-12, ..Settings::default() }).expect("a legal problem");
    r.copy_from_slice(&answer.solution.r);
    u.copy_from_slice(&answer.solution.u);
    answer.converged()
}

/// Runs a sequence of loads through both and compares; returns how many the general solver could answer.
fn compare(random: &mut Random, p: &mut RoutedProblem, kind: Kind, expected: Option<Route>) -> usize {
    let n = p.order();
    let (mut router, mut general) = (Router::default(), general_router(1e-12));
    let (mut r, mut u, mut r2, mut u2) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut compared = 0;
    for step in 0..12 {
        if step == 7 {
            (0..p.active.len()).for_each(|k| p.active[k] = k % 3 != 1);
        }
        let report = router.solve(p, &mut r, &mut u);
        assert!(report.converged() && report.rel <= 1e-12, "{kind:?} {:?} step {step}: {report:?}\n{p:?}", router.route());
        if step < 7 {
            assert!(expected.is_none_or(|e| e == router.route()), "{:?}", router.route());
        }
        let mut own = vec![0.0; n];
        p.problem.w.multiply(&r, &mut own);
        own.iter_mut().zip(&p.problem.q).for_each(|(u, q)| *u += q);
        let pushed = r.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        assert!(far(&own, &u) < 1e-14 * pushed, "u is W r + q");
        for k in (0..p.active.len()).filter(|&k| !p.active[k]) {
            assert!(r[p.problem.w.range(k)].iter().all(|r| *r == 0.0), "inactive blocks carry nothing");
        }
        r2.fill(0.0);
        // a residual of 1e-12 leaves 1e-6 in u where W is only semidefinite: bases alone are sharp enough there
        let sharp = kind != Kind::Semidefinite && general.solve(p, &mut r2, &mut u2).converged();
        if sharp || by_complementarity(p, &mut r2, &mut u2) {
            compared += 1;
            assert!(far(&u, &u2) <= 1e-9, "{kind:?} {:?} step {step}: u is off by {:e}", router.route(), far(&u, &u2));
            if kind != Kind::Semidefinite {
                assert!(far(&r, &r2) <= 1e-9, "{kind:?} {:?} step {step}: r is off by {:e}", router.route(), far(&r, &r2));
            }
        }
        load(random, p);
    }
    compared
}

#[test]
fn bounds_of_every_kind_have_the_general_answer() {
    let relay = Interval { lower: -0.4, upper: 1.0 };
    let one_sided = Interval { lower: f64::NEG_INFINITY, upper: 0.3 };
    let mut random = Random(1);
    for (sets, route) in [
        (vec![Free], Route::Equality),
        (vec![NonNegative], Route::Lcp),
        (vec![Free, NonNegative, NonNegative], Route::Mlcp),
        (vec![relay], Route::Relay),
        (vec![relay, NonNegative, one_sided, Free], Route::Relay),
    ] {
        for kind in [Kind::Definite, Kind::Skew, Kind::Semidefinite] {
            for blocks in [1, 2, 3, 4, 7, 12, 25, 48] {
                let mut p = problem(&mut random, &sets, blocks, kind, 0);
                let route = (p.order() > 1).then_some(route).filter(|_| blocks >= sets.len());
                let compared = compare(&mut random, &mut p, kind, route);
                assert!(kind == Kind::Semidefinite || compared >= 10, "{compared} of 12 compared: {sets:?} {kind:?} {blocks}");
            }
        }
    }
}

#[test]
fn cones_of_every_kind_have_the_general_answer() {
    let mut random = Random(2);
    let (coulomb, rolling, cone) = (Coulomb { mu: 0.4 }, Rolling { mu: 0.5, mu_r: 0.2 }, SecondOrder { mu: 0.6 });
    for (sets, parity, route) in [
        (vec![coulomb], 0, Route::Friction2),
        (vec![coulomb], 1, Route::Friction3),
        (vec![rolling], 0, Route::Rolling),
        (vec![rolling], 1, Route::Rolling),
        (vec![cone], 1, Route::SecondOrder),
        (vec![coulomb, Free, NonNegative], 0, Route::Mixed),
        (vec![coulomb, Interval { lower: -0.3, upper: 0.3 }, rolling, cone, Free], 1, Route::Mixed),
    ] {
        for blocks in [1, 2, 3, 6, 10] {
            let mut p = problem(&mut random, &sets, blocks, Kind::Definite, parity);
            // contacts weakly coupled, as contacts of a chain are: the answer is unique
            let (mut w, n) = (p.problem.w.to_dense(), p.order());
            (0..n).for_each(|i| w[i * n + i] += 1.0);
            p.problem.w.assign_dense(&w);
            let route = (blocks >= sets.len()).then_some(route);
            assert!(compare(&mut random, &mut p, Kind::Definite, route) >= 10, "{sets:?} {blocks}");
        }
    }
}

/// `tridiag(−1, 2, −1) / m`, first row 1: a column of beads on the ground.
fn column(n: usize, m: f64, sparse: bool) -> RoutedProblem {
    let entries =
        (0..n).flat_map(|i| [(i, i, if i == 0 { 1.0 } else { 2.0 } / m), (i, i.saturating_sub(1), -1.0 / m), (i, i + 1, -1.0 / m)]);
    let entries = entries.enumerate().filter(|(k, (i, j, _))| k % 3 == 0 || j < &n && i != j).map(|(_, e)| e);
    let w = BlockRows::from_triplets(&(0..=n).collect::<Vec<_>>(), entries);
    let w = if sparse { w } else { BlockRows::full((0..=n).collect(), w.to_dense()) };
    RoutedProblem::from(LocalProblem { w, q: vec![0.0; n], sets: vec![NonNegative; n] })
}

#[test]
fn a_column_of_beads_falls_as_its_dense_matrix_says() {
    let mut random = Random(3);
    for n in [10, 100] {
        let (mut sparse, mut dense) = (column(n, 0.1, true), column(n, 0.1, false));
        let (mut a, mut b) = (Router::default(), Router::default());
        let (mut r, mut u, mut r2, mut u2) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for step in 0..20 {
            sparse.problem.q = random.vector(n);
            dense.problem.q.clone_from(&sparse.problem.q);
            if step % 4 == 3 {
                (0..n).for_each(|k| sparse.active[k] = random.next() > -0.5);
                dense.active.clone_from(&sparse.active);
            }
            let report = a.solve(&sparse, &mut r, &mut u);
            assert!(report.converged() && b.solve(&dense, &mut r2, &mut u2).converged(), "{n} {report:?}");
            assert!(far(&r, &r2) < 1e-9 && far(&u, &u2) < 1e-9);
        }
    }
}

#[test]
fn an_impact_on_a_thousand_beads_closes_every_contact() {
    let n = 1000;
    let mut p = column(n, 0.1, true);
    p.problem.q[0] = -(1.0 + 0.9) * 3.0;
    let (mut r, mut u) = (vec![0.0; n], vec![0.0; n]);
    let report = Router::default().solve(&p, &mut r, &mut u);
    assert!(report.converged(), "{report:?}");
    // the impulse of the ground stops n beads
    assert!((r[0] - 0.1 * n as f64 * 5.7).abs() < 1e-8 * r[0], "{}", r[0]);
    assert!(u.iter().all(|u| u.abs() < 1e-10));
}

#[test]
fn a_diode_bridge_whose_bases_are_singular_is_solved_at_every_load() {
    // four diodes, voltages and currents mixed: zero diagonal blocks, skew coupling, W + Wᵀ of rank one
    let w = vec![0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.01, -0.01, 0.0, 1.0, -0.01, 0.01];
    let p = dense(&(0..=4).collect::<Vec<_>>(), w, vec![0.0; 4], vec![NonNegative; 4]);
    let mut p = p;
    let (mut router, mut general) = (Router::default(), general_router(1e-10));
    let (mut r, mut u) = ([0.0; 4], [0.0; 4]);
    let mut compared = 0;
    for step in 0..400 {
        let (sin, cos) = (0.1 * f64::from(step)).sin_cos();
        p.problem.q = vec![0.2 + 0.1 * cos, 0.2 - 0.1 * cos, sin, -sin];
        let report = router.solve(&p, &mut r, &mut u);
        assert!(report.converged(), "{step}: {report:?}");
        let (mut r2, mut u2) = ([0.0; 4], [0.0; 4]);
        if step % 40 == 0 && general.solve(&p, &mut r2, &mut u2).converged() {
            compared += 1;
            assert!(far(&u, &u2) < 1e-8, "{u:?} {u2:?}");
        }
    }
    println!("{compared} of 10 compared");
}

#[test]
fn the_guess_decides_between_multipliers_that_all_solve() {
    // two supports of one rigid foot: only their sum is known
    let p = dense(&[0, 1, 2], vec![1.0; 4], vec![-1.0; 2], vec![NonNegative; 2]);
    let mut router = Router::default();
    for share in [0.3, 0.5, 1.0] {
        let (mut r, mut u) = ([share, 1.0 - share], [0.0; 2]);
        assert!(router.solve(&p, &mut r, &mut u).converged());
        assert!((r[0] - share).abs() < 1e-15 && u.iter().all(|u| u.abs() < 1e-15), "{r:?}");
    }
}

#[test]
fn three_plane_contacts_of_a_toy_with_three_freedoms_are_solved_to_rounding() {
    // two rows a contact on one body and a spring-held second: six rows of rank three, as of a woodpecker and its sleeve
    let mut random = Random(11);
    for case in 0..40 {
        let h = random.vector(18);
        let w = (0..36).map(|k| (0..3).map(|d| h[k / 6 * 3 + d] * h[k % 6 * 3 + d]).sum()).collect();
        let mut p = dense(&[0, 2, 4, 6], w, vec![0.0; 6], vec![Coulomb { mu: 0.3 }; 3]);
        let (mut router, mut r, mut u) = (Router::default(), [0.0; 6], [0.0; 6]);
        for step in 0..20 {
            load(&mut random, &mut p);
            p.active[step % 3] = step % 4 != 0;
            let report = router.solve(&p, &mut r, &mut u);
            assert!(report.converged() && report.rel <= 1e-12, "case {case}, step {step}: {report:?}");
        }
    }
}

#[test]
fn many_equations_with_zeros_on_the_diagonal_are_factorised_once() {
    // [A Bᵀ; −B 0]: currents and voltages
    let (n, mut random) = (60, Random(12));
    let a = matrix(&mut random, n, Kind::Definite);
    let b = random.vector(20 * 40);
    let entry = |i: usize, j: usize| match (i < 40, j < 40) {
        (true, true) => a[i * n + j],
        (true, false) => b[(j - 40) * 40 + i],
        (false, true) => -b[(i - 40) * 40 + j],
        _ => 0.0,
    };
    let w = (0..n * n).map(|k| entry(k / n, k % n)).collect();
    let mut p = dense(&(0..=n).collect::<Vec<_>>(), w, vec![0.0; n], vec![Free; n]);
    let (mut router, mut r, mut u, mut factorisations) = (Router::default(), vec![0.0; n], vec![0.0; n], 0);
    for _ in 0..10 {
        let truth = random.vector(n);
        p.problem.w.multiply(&truth, &mut p.problem.q);
        p.problem.q.iter_mut().for_each(|q| *q = -*q);
        let report = router.solve(&p, &mut r, &mut u);
        assert!(report.converged() && far(&r, &truth) < 1e-10, "{report:?}");
        factorisations += report.factorisations;
    }
    assert_eq!(factorisations, 1);
}

#[test]
fn a_guess_that_is_far_too_large_does_not_pass_for_a_solution() {
    // W r = 0 along (1, 1), so that a residual is nothing beside the guess
    let p = dense(&[0, 1, 2], vec![1.0, -1.0, -1.0, 1.0], vec![-1.0, 2.0], vec![NonNegative; 2]);
    let (mut r, mut u) = ([1e15, 1e15], [0.0; 2]);
    let report = Router::default().solve(&p, &mut r, &mut u);
    assert!(report.converged() && report.rel_q < 1e-12, "{report:?}");
    assert!((u[0]).abs() < 1e-12 && (u[1] - 1.0).abs() < 1e-12, "{u:?}");
}

#[test]
fn painleve_is_solved_where_there_is_a_solution_and_owned_up_to_where_there_is_none() {
    // W_nn − μ W_nt < 0: sliding this way, the normal would have to pull
    let mut p = dense(&[0, 2], vec![1.0, 2.0, 2.0, 5.0], vec![-1.0, 3.0], vec![Coulomb { mu: 0.8 }]);
    let (mut router, mut r, mut u) = (Router::default(), [0.0; 2], [0.0; 2]);
    let mut open = 0;
    for k in 0..60 {
        let angle = 0.1 * f64::from(k);
        p.problem.q = vec![angle.sin(), 4.0 * angle.cos()];
        let report = router.solve(&p, &mut r, &mut u);
        if report.converged() {
            assert!(report.rel <= 1e-12 && r[0] >= 0.0 && r[1].abs() <= 0.8 * r[0] + 1e-12 && u[0] >= -1e-12);
        } else {
            open += 1;
        }
    }
    assert_eq!(open, 0, "this W is definite: there is always a solution");
    // no tangential stiffness to stick with and a normal that is pulled down by friction: none
    p = RoutedProblem { revision: 2, ..dense(&[0, 2], vec![1.0, 2.0, 0.0, 0.0], vec![-1.0, 1.0], vec![Coulomb { mu: 0.8 }]) };
    let report = router.solve(&p, &mut r, &mut u);
    assert!(!report.converged() && report.rel > 1e-6, "{report:?}");
    // a block that cannot be pushed by its own reaction, but by that of a joint
    let (w, sets) = (vec![0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0], vec![Coulomb { mu: 0.8 }, NonNegative]);
    p = RoutedProblem { revision: 3, ..dense(&[0, 2, 3], w, vec![1.0, 0.5, 0.2], sets) };
    let (mut r, mut u) = ([0.0; 3], [0.0; 3]);
    let report = router.solve(&p, &mut r, &mut u);
    assert!(report.converged() && report.rel <= 1e-12, "{report:?}");
}

#[test]
fn numbers_that_are_not_finite_and_sizes_that_do_not_fit_are_refused() {
    for blocks in [1, 4, 60] {
        for set in [NonNegative, Coulomb { mu: 0.5 }] {
            for spoil in 0..4 {
                let mut p = problem(&mut Random(5), &[set], blocks, Kind::Definite, 0);
                match spoil {
                    0 => p.problem.q[0] = f64::NAN,
                    1 => p.problem.w.values_mut()[0] = f64::INFINITY,
                    2 => p.problem.sets.truncate(blocks - 1),
                    _ => p.active.truncate(0),
                }
                let n = p.order();
                let (mut r, mut u) = (vec![0.0; n], vec![0.0; n]);
                let report = Router::default().solve(&p, &mut r, &mut u);
                assert_eq!((report.status, report.rel), (Status::Stalled, f64::INFINITY), "{spoil}");
                assert!(p.validate().is_err());
            }
        }
    }
}

#[test]
fn a_new_revision_is_seen_and_an_inactive_system_is_free() {
    let mut p = problem(&mut Random(6), &[NonNegative], 4, Kind::Definite, 0);
    let (mut router, mut r, mut u) = (Router::default(), [0.0; 4], [0.0; 4]);
    for revision in 2..20 {
        let sets = [vec![NonNegative], vec![Free], vec![Interval { lower: -0.1, upper: 0.1 }]];
        p = problem(&mut Random(revision), &sets[revision as usize % 3], 4, Kind::Skew, 0);
        p.revision = revision;
        let (mut r2, mut u2) = ([0.0; 4], [0.0; 4]);
        assert!(router.solve(&p, &mut r, &mut u).converged());
        assert!(Router::default().solve(&p, &mut r2, &mut u2).converged());
        assert!(far(&r, &r2) < 1e-12);
    }
    p.active.fill(false);
    assert!(router.solve(&p, &mut r, &mut u).converged());
    assert_eq!((router.route(), &r[..], &u[..]), (Route::Nothing, &[0.0; 4][..], &p.problem.q[..]));
}

#[test]
fn equations_that_repeat_each_other_are_solved_and_contradictions_are_not() {
    for n in [3, 60] {
        // every equation twice over, of an invertible half
        let mut random = Random(7);
        let half = matrix(&mut random, n, Kind::Definite);
        let w: Vec<f64> = (0..4 * n * n).map(|k| half[(k / (2 * n)) % n * n + k % (2 * n) % n]).collect();
        let b = random.vector(n);
        let q: Vec<f64> = b.iter().chain(&b).copied().collect();
        let mut p = dense(&[0, n, 2 * n], w, q, vec![Free; 2]);
        let (mut router, mut r, mut u) = (Router::default(), vec![0.0; 2 * n], vec![0.0; 2 * n]);
        let report = router.solve(&p, &mut r, &mut u);
        assert!(report.converged(), "{n}: {report:?}");
        p.problem.q[0] += 1.0;
        assert!(!router.solve(&p, &mut r, &mut u).converged());
    }
}
