//! Small linear complementarity problems of whole numbers, with an exact enumeration of all their vertices beside the solvers.

use super::assemblies::Random;
use drystone::algebra::matrix::Matrix;
use drystone::numerics::Status;
use drystone::numerics::lcp::Lcp;
use drystone::numerics::mlcp::Mlcp;
use drystone::numerics::relay::Relay;
use drystone::numerics::solvers::{Problem, Settings, Solution, State, all};

/// M and q in whole numbers.
struct Whole {
    m: Vec<i64>,
    q: Vec<i64>,
}

/// Determinant by cofactors: exact.
fn determinant(a: &[i64], n: usize) -> i64 {
    if n == 0 {
        return 1;
    }
    let minor = |column: usize| -> Vec<i64> {
        (1..n).flat_map(|i| (0..n).filter(move |j| *j != column).map(move |j| (i, j))).map(|(i, j)| a[i * n + j]).collect()
    };
    (0..n).filter(|&j| a[j] != 0).map(|j| if j % 2 == 0 { 1 } else { -1 } * a[j] * determinant(&minor(j), n - 1)).sum()
}

fn subsets(n: usize, size: usize) -> impl Iterator<Item = Vec<usize>> {
    (0u32..1 << n).filter(move |bits| bits.count_ones() as usize == size).map(move |bits| (0..n).filter(|i| bits >> i & 1 != 0).collect())
}

impl Whole {
    fn draw(random: &mut Random) -> Self {
        let n = 2 + random.below(3);
        let top = 1 + random.below(4) as i64;
        let whole = |random: &mut Random| random.below(2 * top as usize + 1) as i64 - top;
        let mut m: Vec<i64> = (0..n * n).map(|_| whole(random)).collect();
        match random.below(4) {
            // a row twice: singular
            0 => (0..n).for_each(|j| m[j] = m[n + j]),
            // a Gram matrix: positive semidefinite
            1 => {
                let a = m.clone();
                let rank = 1 + random.below(n);
                (0..n * n).for_each(|k| m[k] = (0..rank).map(|l| a[l * n + k / n] * a[l * n + k % n]).sum());
            }
            _ => {}
        }
        let q = (0..n).map(|_| whole(random)).collect();
        Self { m, q }
    }

    /// Whether some vertex of some face solves the problem: every solution's support holds one.
    fn is_solvable(&self) -> bool {
        let n = self.q.len();
        (0..=n).any(|size| {
            subsets(n, size).any(|columns| {
                subsets(n, size).any(|rows| {
                    let entry = |i: usize, j: usize| self.m[i * n + j];
                    let a: Vec<i64> = rows.iter().flat_map(|&i| columns.iter().map(move |&j| entry(i, j))).collect();
                    let det = determinant(&a, size);
                    if det == 0 {
                        return false;
                    }
                    // Cramer: det z
                    let z: Vec<i64> = (0..size)
                        .map(|k| {
                            let mut b = a.clone();
                            rows.iter().enumerate().for_each(|(i, &row)| b[i * size + k] = -self.q[row]);
                            determinant(&b, size) * det.signum()
                        })
                        .collect();
                    let det = det.abs();
                    let w = |i: usize| self.q[i] * det + columns.iter().zip(&z).map(|(&j, z)| entry(i, j) * z).sum::<i64>();
                    z.iter().all(|z| *z >= 0) && (0..n).all(|i| w(i) >= 0) && columns.iter().zip(&z).all(|(&i, z)| *z == 0 || w(i) == 0)
                })
            })
        })
    }

    fn lcp(&self, m_unit: f64, q_unit: f64) -> Lcp {
        let n = self.q.len();
        let m = self.m.iter().map(|x| m_unit * *x as f64).collect();
        Lcp { m: Matrix::dense(n, n, m), q: self.q.iter().map(|x| q_unit * *x as f64).collect() }
    }
}

fn solve(solver: &str, p: &Lcp, tolerance: f64) -> (Status, Vec<f64>, Vec<f64>) {
    let answer = p.solve(&Settings { tolerance, ..Settings::with_solver(solver).expect("a solver") }).expect("a legal problem");
    (answer.status(), answer.solution.r, answer.solution.u)
}

#[test]
fn two_thousand_small_lcps_get_the_verdict_of_exact_enumeration_at_every_scale() {
    let mut random = Random(7);
    let mut left = [1000, 1000];
    let (mut solved, mut proved, mut undecided) = (0, 0, Vec::new());
    while left != [0, 0] {
        let p = Whole::draw(&mut random);
        let solvable = p.is_solvable();
        let quota = &mut left[usize::from(solvable)];
        if *quota == 0 {
            continue;
        }
        *quota -= 1;
        let mut verdicts = Vec::new();
        for (m_unit, q_unit) in [(1.0, 1.0), (1e12, 1.0), (1e-12, 1.0), (1.0, 1e12), (1.0, 1e-12), (1.0, 1e-170), (1.0, 1e300)] {
            let lcp = p.lcp(m_unit, q_unit);
            let (status, z, w) = solve("auto", &lcp, 1e-8);
            assert!(status != Status::Inconsistent || !solvable, "{:?} {:?} at {m_unit:e} {q_unit:e} has a solution", p.m, p.q);
            if status == Status::Converged {
                assert!(solvable, "{:?} {:?} at {m_unit:e} {q_unit:e} has none, but z = {z:?}", p.m, p.q);
                // in whole units the law holds to what the tolerance of 1e-8 leaves to a row: 1e-6 of q
                let worst = z.iter().zip(&w).map(|(z, w)| (z / q_unit * m_unit).min(w / q_unit).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-5, "{:?} {:?} at {m_unit:e} {q_unit:e}: z = {z:?}, w = {w:?}", p.m, p.q);
            }
            verdicts.push(status);
        }
        assert!(verdicts.iter().all(|v| *v == verdicts[0]), "{:?} {:?}: {verdicts:?}", p.m, p.q);
        match verdicts[0] {
            Status::Converged => solved += 1,
            Status::Inconsistent => proved += 1,
            _ => undecided.push((p.m.clone(), p.q.clone())),
        }
        // none is near enough to a solution for a loose tolerance either
        let (status, ..) = solve("auto", &p.lcp(1.0, 1.0), 1e-4);
        assert_eq!(status, if solvable { Status::Converged } else { Status::Inconsistent }, "{:?} {:?} at 1e-4", p.m, p.q);
        // a solver with less to try may fail, but not lie
        let (status, ..) = solve("lemke", &p.lcp(1.0, 1.0), 1e-8);
        assert!(if solvable { status != Status::Inconsistent } else { status != Status::Converged }, "{:?} {:?}: {status:?}", p.m, p.q);
    }
    println!("{solved} of 1000 solved, {proved} of 1000 proved, undecided {undecided:?}");
    assert!(solved == 1000 && proved >= 990, "{undecided:?}");
}

/// `w = M z + q` on a box, M dense.
struct Form {
    m: Vec<f64>,
    q: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Form {
    /// `|z − P(z − w)|`
    fn natural_map(&self, z: &[f64]) -> f64 {
        let n = z.len();
        let w = |i: usize| self.q[i] + (0..n).map(|j| self.m[i * n + j] * z[j]).sum::<f64>();
        (0..n).map(|i| (z[i] - (z[i] - w(i)).max(self.lower[i]).min(self.upper[i])).powi(2)).sum::<f64>().sqrt()
    }
}

/// An LCP, MLCP or relay problem with a planted solution: in units in which its numbers are near one, and in others.
struct Planted {
    form: Form,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Planted {
    /// Rows and columns in units from `10^-decades` to `10^decades`.
    fn draw(random: &mut Random, decades: f64) -> (Self, Problem) {
        let n = 2 + random.below(7);
        let family = random.below(3);
        let mut m: Vec<f64> = (0..n * n).map(|_| random.sign()).collect();
        match random.below(4) {
            // positive semidefinite of any rank, dominated by its diagonal, or neither
            0 | 1 => {
                let (a, rank) = (m.clone(), 1 + random.below(n));
                (0..n * n).for_each(|k| m[k] = (0..rank).map(|l| a[k / n * n + l] * a[k % n * n + l]).sum());
            }
            2 => (0..n).for_each(|i| m[i * n + i] += n as f64 / 2.0),
            _ => {}
        }
        if random.unit() < 0.3 {
            let weak = 10f64.powi(-(random.below(4) as i32));
            (0..n * n).filter(|k| k % (n + 1) != 0).for_each(|k| m[k] *= weak);
        }
        let (mut z, mut w, mut free) = (vec![0.0; n], vec![0.0; n], vec![false; n]);
        let (mut lower, mut upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
        for i in 0..n {
            free[i] = family > 0 && random.unit() < [0.0, 0.5, 0.2][family];
            if free[i] {
                (lower[i], z[i]) = (f64::NEG_INFINITY, 3.0 * random.sign());
                continue;
            }
            if family == 2 && random.unit() < 0.7 {
                (lower[i], upper[i]) = (-1.0 - random.unit(), 1.0 + random.unit());
            }
            match random.below(3) {
                0 => (z[i], w[i]) = (lower[i], random.unit()),
                1 if upper[i].is_finite() => (z[i], w[i]) = (upper[i], -random.unit()),
                _ if upper[i].is_finite() => z[i] = lower[i] + (upper[i] - lower[i]) * random.unit(),
                _ => z[i] = 2.0 * random.unit(),
            }
        }
        let q = (0..n).map(|i| w[i] - (0..n).map(|j| m[i * n + j] * z[j]).sum::<f64>()).collect();
        let [rows, columns] = [0; 2].map(|_| (0..n).map(|_| 10f64.powf(decades * random.sign())).collect::<Vec<f64>>());
        let planted = Self { form: Form { m, q, lower, upper }, rows, columns };
        let problem = planted.in_units(family, free);
        (planted, problem)
    }

    fn in_units(&self, family: usize, free: Vec<bool>) -> Problem {
        let Self { form, rows, columns } = self;
        let n = rows.len();
        let m = Matrix::dense(n, n, (0..n * n).map(|k| rows[k / n] * form.m[k] * columns[k % n]).collect());
        let q = form.q.iter().zip(rows).map(|(q, r)| q * r).collect();
        let bound = |b: &[f64]| b.iter().zip(columns).map(|(b, c)| b / c).collect();
        match family {
            0 => Problem::Lcp(Lcp { m, q }),
            1 => Problem::Mlcp(Mlcp { m, q, equality: free.clone(), free }),
            _ => Problem::Relay(Relay { m, q, lower: bound(&form.lower), upper: bound(&form.upper) }),
        }
    }

    /// How far z, in units of the columns, misses the law in units near one.
    fn missed(&self, z: &[f64]) -> f64 {
        let z: Vec<f64> = z.iter().zip(&self.columns).map(|(z, c)| z * c).collect();
        let largest = z.iter().fold(1.0f64, |m, z| m.max(z.abs()));
        self.form.natural_map(&z) / largest
    }
}

#[test]
fn rows_and_columns_in_any_units_are_solved_and_never_by_a_wrong_answer() {
    for (decades, least) in [(2.0, 1.0), (12.0, 0.99)] {
        let (mut random, mut solved, count) = (Random(11), 0, 3000);
        for case in 0..count {
            let (planted, problem) = Planted::draw(&mut random, decades);
            for name in ["auto", "lemke", "newton_fb", "murty"] {
                let answer = problem.solve(&Settings::with_solver(name).expect("a solver")).expect("a legal problem");
                let report = answer.report;
                assert!(report.status != Status::Inconsistent, "case {case} of {decades} decades, {name}, has a solution");
                let missed = planted.missed(&answer.solution.r);
                assert!(!report.converged() || missed < 1e-4, "case {case} of {decades} decades, {name}: {missed:e}, {report:?}");
                solved += usize::from(name == "auto" && report.converged());
            }
        }
        println!("{decades} decades: {solved} of {count} solved");
        assert!(solved as f64 >= least * f64::from(count), "{solved} of {count}");
    }
}

/// The demand of the first row, 1e3, reaches the second by 2e-12/1e-9 alone: z₁ = 0 with w₁ = −1 is no solution.
#[test]
fn a_neighbour_in_small_units_hides_no_violation() {
    let m = Matrix::dense(2, 2, vec![1e-9, 0.0, -2e-12, 1.0]);
    let q = vec![-1e3, 1.0];
    let relay = Relay { m: m.clone(), q: q.clone(), lower: vec![f64::NEG_INFINITY, 0.0], upper: vec![f64::INFINITY; 2] };
    let mlcp = Mlcp { m, q, equality: vec![true, false], free: vec![true, false] };
    for problem in [Problem::Relay(relay), Problem::Mlcp(mlcp)] {
        let found = |z: [f64; 2]| problem.residual(&mut Solution { r: z.to_vec(), ..problem.zero() }).expect("residuals");
        let (wrong, right) = (found([1e12, 0.0]), found([1e12, 1.0]));
        assert!(wrong.misfit > 0.3 && right.misfit < 1e-12, "{wrong:?} {right:?}");
        for solver in all().iter().filter(|solver| solver.claims(&problem)) {
            let answer = problem.solve(&Settings { solver: Some(solver.into()), ..Settings::default() }).expect("an answer");
            let report = answer.report;
            assert!(!report.converged() || (answer.solution.r[1] - 1.0).abs() < 1e-4, "{}: {answer:?}", solver.name);
            assert!(report.status != Status::Inconsistent, "{}", solver.name);
            assert!(solver.name != "auto" || report.converged(), "{report:?}");
        }
    }
}

#[test]
fn an_lcp_of_1e5_unknowns_is_solved_without_a_dense_matrix() {
    let n = 100_000;
    let mut m = sprs::TriMat::new((n, n));
    for i in 0..n {
        m.add_triplet(i, i, 2.0);
        if i > 0 {
            m.add_triplet(i, i - 1, -1.0);
            m.add_triplet(i - 1, i, -1.0);
        }
    }
    let q = (0..n).map(|i| if i % 7 < 3 { -1.0 } else { 2.0 }).collect();
    let p = Problem::Lcp(Lcp { m: Matrix::Sparse(m.to_csr()), q });
    let answer = p.solve(&Settings::default()).expect("an answer");
    assert!(answer.converged(), "{:?}", answer.report);
    let mut solution = answer.solution;
    let found = p.residual(&mut solution).expect("residuals");
    assert!(found.rel < 1e-8 && solution.r.iter().zip(&solution.u).all(|(z, w)| z.min(*w).abs() < 1e-4), "{found:?}");
    let states = p.blocks_at(&solution).expect("one per unknown");
    assert!(states.iter().all(|b| b.misfit < 1e-3 && (b.state == State::Open || b.normal > 0.0)));
    // who holds M densely says how much it would take
    let error = p.solve(&Settings::with_solver("lemke").expect("a solver")).expect_err("too large").to_string();
    assert!(error.contains("100000 × 100000") && error.contains("needs 240.000 GB, and 4.295 GB are allowed"), "{error}");
}

/// Contact over long stretches: sweeps creep, and dense matrices would take minutes.
#[test]
fn sparse_lcps_between_the_sizes_are_solved_without_a_dense_matrix() {
    for n in [500, 3000, 9000, 100_000] {
        let mut m = sprs::TriMat::new((n, n));
        for i in 0..n {
            m.add_triplet(i, i, 2.0);
            if i > 0 {
                m.add_triplet(i, i - 1, -1.0);
                m.add_triplet(i - 1, i, -1.0);
            }
        }
        let q = (0..n).map(|i| if i / 50 % 4 == 1 { -0.8 } else { 0.4 + 0.1 * (i % 3) as f64 }).collect();
        let p = Problem::Lcp(Lcp { m: Matrix::Sparse(m.to_csr()), q });
        let answer = p.solve(&Settings::default()).expect("an answer");
        let (report, mut solution) = (answer.report, answer.solution);
        let found = p.residual(&mut solution).expect("residuals");
        assert!(report.converged() && found.rel <= 1e-8, "{n}: {report:?}, {found:?}");
        assert!(solution.r.iter().zip(&solution.u).all(|(z, w)| z.min(*w).abs() < 1e-4), "{n}");
    }
}

/// Loads of any sign on a string: the condition is 10¹⁰, contact comes in fronts that one active set moves by a single row.
#[test]
fn a_string_under_random_loads_is_solved_within_its_time() {
    let n = 100_000;
    let mut state = 5u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let q: Vec<f64> = (0..n).map(|_| 2.0 * random() - 1.0).collect();
    for (below, above) in [(-1.0, -1.0), (-1.5, -0.4)] {
        let mut m = sprs::TriMat::new((n, n));
        for i in 0..n {
            m.add_triplet(i, i, 2.0);
            if i > 0 {
                m.add_triplet(i, i - 1, below);
                m.add_triplet(i - 1, i, above);
            }
        }
        let p = Problem::Lcp(Lcp { m: Matrix::Sparse(m.to_csr()), q: q.clone() });
        let answer = p.solve(&Settings { time_limit: Some(20.0), ..Settings::default() }).expect("an answer");
        let (report, solution) = (answer.report, answer.solution);
        assert!(report.converged(), "{report:?}");
        assert!(solution.r.iter().zip(&solution.u).all(|(z, w)| z.min(*w).abs() < 1e-4));
    }
}
