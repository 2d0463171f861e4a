//! The router asks for no memory once it has seen a problem of each size; its times are printed by an ignored test.

use super::REQUESTS;
use std::hint::black_box;
use std::time::Instant;

use drystone::algebra::blocks::BlockRows;
use drystone::numerics::admissible::AdmissibleSet::{self, Coulomb, Free, Interval, NonNegative, Rolling};
use drystone::numerics::local::LocalProblem;
use drystone::numerics::route::{RoutedProblem, Router};

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
}

/// A chain of equal beads, the first on the ground.
fn column(n: usize) -> RoutedProblem {
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, if i == 0 { 1.0 } else { 2.0 }));
        if i > 0 {
            entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
        }
    }
    let w = BlockRows::from_triplets(&(0..=n).collect::<Vec<_>>(), entries);
    RoutedProblem::from(LocalProblem { w, q: vec![0.0; n], sets: vec![NonNegative; n] })
}

/// Blocks of one set, their W positive definite and weakly coupled.
fn blocks(set: AdmissibleSet, rows: usize, count: usize) -> RoutedProblem {
    let n = rows * count;
    let mut random = Random(rows as u64);
    let h: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
    let product = |i: usize, j: usize| (0..n).map(|k| h[i * n + k] * h[j * n + k]).sum::<f64>() / n as f64;
    let w: Vec<f64> = (0..n * n).map(|k| product(k / n, k % n) + if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let w = BlockRows::from_dense(&(0..=count).map(|k| k * rows).collect::<Vec<_>>(), &w);
    RoutedProblem::from(LocalProblem { w, q: vec![0.0; n], sets: vec![set; count] })
}

fn cases() -> Vec<(&'static str, RoutedProblem)> {
    let relay = Interval { lower: -0.2, upper: 0.2 };
    let mut idle = blocks(NonNegative, 1, 4);
    idle.active.fill(false);
    vec![
        ("nothing active", idle),
        ("one row", blocks(relay, 1, 1)),
        ("LCP of 4", blocks(NonNegative, 1, 4)),
        ("relay of 12", blocks(relay, 1, 12)),
        ("equations, 6", blocks(Free, 3, 2)),
        ("beads, 10", column(10)),
        ("beads, 100", column(100)),
        ("beads, 1000", column(1000)),
        ("plane friction, 3", blocks(Coulomb { mu: 0.3 }, 2, 3)),
        ("friction, 4", blocks(Coulomb { mu: 0.3 }, 3, 4)),
        ("rolling, 2", blocks(Rolling { mu: 0.3, mu_r: 0.1 }, 5, 2)),
    ]
}

/// Nanoseconds and factorisations a solve, over `loads` in turn.
fn measure(p: &mut RoutedProblem, router: &mut Router, loads: &[Vec<f64>]) -> (f64, f64) {
    let n = p.order();
    let (mut r, mut u) = (vec![0.0; n], vec![0.0; n]);
    let (mut factorisations, mut count) = (0, 0);
    p.problem.q.copy_from_slice(&loads[0]);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 0.3 {
        for _ in 0..100_000 / (n * n).clamp(20, 50_000) {
            for q in loads {
                if loads.len() > 1 {
                    p.problem.q.copy_from_slice(q);
                }
                let report = router.solve(black_box(p), &mut r, &mut u);
                assert!(report.converged(), "{report:?}");
                factorisations += report.factorisations;
                count += 1;
            }
        }
    }
    (start.elapsed().as_secs_f64() * 1e9 / f64::from(count), factorisations as f64 / f64::from(count))
}

#[test]
fn the_router_asks_for_no_memory_after_warm_up() {
    for (name, mut p) in cases() {
        let (mut random, n) = (Random(9), p.order());
        let (mut router, mut r, mut u) = (Router::default(), vec![0.0; n], vec![0.0; n]);
        let mut run = |steps: usize, p: &mut RoutedProblem| {
            for _ in 0..steps {
                p.problem.q.iter_mut().for_each(|q| *q = random.next());
                let report = router.solve(p, &mut r, &mut u);
                assert!(report.converged(), "{name}: {report:?}");
            }
        };
        run(2, &mut p);
        let before = REQUESTS.get();
        run(100, &mut p);
        assert_eq!(REQUESTS.get() - before, 0, "{name}");
    }
}

#[test]
#[ignore = "prints times: cargo test --release --test allocation times -- --ignored --nocapture"]
fn times() {
    println!("{:20} {:>14} {:>14} {:>10}", "", "same load, ns", "new loads, ns", "LU a solve");
    for (name, mut p) in cases() {
        let (mut random, n) = (Random(9), p.order());
        let mut fresh = |count: usize| (0..count).map(|_| (0..n).map(|_| random.next()).collect()).collect::<Vec<Vec<f64>>>();
        let (same, _) = measure(&mut p, &mut Router::default(), &fresh(1));
        let (other, lu) = measure(&mut p, &mut Router::default(), &fresh(256));
        println!("{name:20} {same:14.1} {other:14.1} {lu:10.2}");
    }
    for n in [10, 100, 1000] {
        let mut p = column(n);
        let load = |e: f64| (0..n).map(|i| if i == 0 { -(1.0 + e) } else { 0.0 }).collect();
        let loads: Vec<Vec<f64>> = vec![load(0.9), vec![1e-3; n], load(0.5), vec![-1e-3; n]];
        let (ns, lu) = measure(&mut p, &mut Router::default(), &loads);
        println!("impacts on {n:4} beads {ns:14.1} ns, {lu:.2} LU a solve");
    }
}
