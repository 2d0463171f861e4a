//! Random rigid assemblies with and without a solution.

use super::assemblies::{Assembly, Random};
use drystone::numerics::Status;
use drystone::numerics::local::{LocalProblem, LocalSolver, auto::Auto};

/// Largest velocity by which a contact misses its law, over the largest of q: written here once more, from the law alone.
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
        // bodies that approach, reactions that pull or leave the cone, work of the normal and of friction
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

#[test]
fn trial_run() {
    let get = |name: &str, default: u64| std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default);
    let mut missed = 0;
    let (from, to) = (get("FROM", 0), get("TO", 100));
    let start = std::time::Instant::now();
    for seed in from..to {
        let (assembly, mut random) = draw(seed);
        let (p, planted) = assembly.planted(&mut random);
        assert!(worst(&p, &planted) < 1e-12, "{seed} {}", worst(&p, &planted));
        let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
        let time = std::time::Instant::now();
        let report = Auto { max_rounds: get("ROUNDS", 8) as usize, ..Auto::default() }.solve(&p, &mut r, &mut u);
        let t = time.elapsed().as_secs_f64();
        if !report.converged() || worst(&p, &r) > 1e-6 || t > 0.3 {
            println!(
                "{seed}: nc {} mu {:.2} dofs {} {:?} it {} rel {:.1e} misfit {:.1e} worst {:.1e} {t:.3} s",
                p.sets.len(), assembly.mu[0], assembly.dofs, report.status, report.iterations, report.rel, report.misfit, worst(&p, &r)
            );
            missed += usize::from(report.status != Status::Converged);
        }
    }
    println!("missed {missed} of {} in {:?}", to - from, start.elapsed());
}
