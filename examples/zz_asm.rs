#![allow(warnings)]
#[path = "/work/wt/library/tests/verdicts/assemblies.rs"] mod assemblies;
use assemblies::{Assembly, Random};
use drystone::numerics::Status;
use drystone::numerics::local::{LocalProblem, LocalSolver, auto::Auto};
fn worst(p: &LocalProblem, r: &[f64]) -> f64 {
    let mut u = vec![0.0; r.len()];
    p.w.multiply(r, &mut u);
    u.iter_mut().zip(&p.q).for_each(|(u, q)| *u += q);
    let q = p.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
    let mut worst = 0.0f64;
    for (a, set) in p.sets.iter().enumerate() {
        let drystone::numerics::admissible::AdmissibleSet::Coulomb { mu } = *set else { panic!("{set:?}") };
        let w = p.w.block(a, a).expect("a diagonal");
        let d = (w[0] + w[4] + w[8]) / 3.0;
        let (r, u) = (&r[3 * a..3 * a + 3], &u[3 * a..3 * a + 3]);
        let slip = u[1].hypot(u[2]);
        let (n, t) = (r[0], r[1].hypot(r[2]));
        worst = worst.max(-u[0]).max(-n * d).max((t - mu * n) * d);
        worst = worst.max(u[0].min(n * d));
        let power = u[1] * r[1] + u[2] * r[2] + mu * n * slip;
        worst = worst.max(if slip > 0.0 && n > 0.0 { (power / (mu * n).max(1e-300)).min(d * power / slip) } else { 0.0 });
    }
    worst / q
}
fn draw(seed: u64) -> (Assembly, Random) {
    let mut random = Random(seed);
    let contacts = (2.0 * 50f64.powf(random.unit())) as usize;
    let redundancy = 1.0 + 4.0 * random.unit();
    let top = [0.0, 0.3, 1.0, 2.0, 3.0, 5.0][random.below(6)];
    let mixed = random.unit() < 0.3;
    let assembly = Assembly::random(&mut random, contacts.max(2), redundancy, |random| if mixed { top * random.unit() } else { top });
    (assembly, random)
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (from, to): (u64, u64) = (a[1].parse().unwrap(), a[2].parse().unwrap());
    let only: Vec<u64> = a[3..].iter().map(|s| s.parse().unwrap()).collect();
    let seeds: Vec<u64> = if only.is_empty() { (from..to).collect() } else { only };
    let (mut solved, mut total) = (0, 0.0);
    let n = seeds.len();
    for seed in seeds {
        let (assembly, mut random) = draw(seed);
        let (p, planted) = assembly.planted(&mut random);
        let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
        let t = cpu_time::ProcessTime::now();
        let report = Auto::default().solve(&p, &mut r, &mut u);
        let t = t.elapsed().as_secs_f64();
        total += t;
        let w = worst(&p, &r);
        if report.converged() { solved += 1; assert!(w < 1e-5, "{seed} WRONG {w}"); }
        if report.status == Status::Inconsistent { println!("{seed} WRONG-I"); }
        if !report.converged() || t > 0.3 { println!("{seed} nc {} nb {} mu {:.2}..: {:?} {t:.2}s it {} f {} es {:.1e} misfit {:.1e}", p.sets.len(), assembly.dofs/6, assembly.mu.iter().fold(0.0f64, |m,x| m.max(*x)), report.status, report.iterations, report.factorisations, report.e_s, report.misfit); }
    }
    println!("{solved} of {n}, {total:.1} s");
}
