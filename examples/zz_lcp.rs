#![allow(warnings)]
#[path = "../tests/verdicts/assemblies.rs"]
mod assemblies;
#[path = "../tests/verdicts/small.rs"]
mod small;
use drystone::numerics::Status;
use drystone::numerics::complementarity::{Auto, ComplementaritySolver, Lemke};
fn main() {
    let total: usize = std::env::args().nth(1).map_or(1000, |s| s.parse().unwrap());
    let seed: u64 = std::env::args().nth(2).map_or(7, |s| s.parse().unwrap());
    let mut random = assemblies::Random(seed);
    let mut left = [total, total];
    let mut bad = 0;
    let mut count = std::collections::BTreeMap::new();
    while left != [0, 0] {
        let p = small::Whole::draw(&mut random);
        let solvable = p.is_solvable();
        let quota = &mut left[usize::from(solvable)];
        if *quota == 0 {
            continue;
        }
        *quota -= 1;
        let mut v = String::new();
        for (m_unit, q_unit) in [(1.0, 1.0), (1e12, 1.0), (1e-12, 1.0), (1.0, 1e12), (1.0, 1e-12), (1.0, 1e-170), (1.0, 1e300)] {
            let lcp = p.lcp(m_unit, q_unit);
            let (status, z, w) = small::solve(&Auto::default(), &lcp);
            let worst = z.iter().zip(&w).map(|(z, w)| (z / q_unit * m_unit).min(w / q_unit).abs()).fold(0.0, f64::max);
            v.push(match status {
                Status::Converged if solvable && worst < 1e-5 => 'C',
                Status::Converged => 'X',
                Status::Inconsistent if !solvable => 'I',
                Status::Inconsistent => 'Y',
                Status::Stalled => 'S',
                Status::BudgetSpent => 'B',
                _ => '?',
            });
        }
        *count.entry((solvable, v.clone())).or_insert(0) += 1;
        let want = if solvable { "CCCCCCC" } else { "IIIIIII" };
        if v != want {
            bad += 1;
            if bad < 40 {
                println!("{solvable} {v} {:?} {:?}", p.m, p.q);
            }
        }
    }
    println!("{count:?}");
}
