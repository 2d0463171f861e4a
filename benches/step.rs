//! What a second of physics costs, scene by size by number of threads: wall and CPU seconds, best of three runs, beside a fixed kernel in the
//! same process, so that ratios survive a machine that others use too.
//!
//! `cargo bench --bench step` runs everything but the largest, `cargo bench --bench step -- wall` what holds this word; `-- 64000` the largest
//! pour. Threads are 1 and as many as there are processors.

use cpu_time::ProcessTime;
use drystone::numerics::{mixed::*, sweep::*};
use drystone::scenes::{load, run};
use glam::{DMat3, DVec3};
use std::time::Instant;

/// Name, built-in scene, its settings, and whether it has to be asked for.
const CASES: [(&str, &str, &[(&str, &str)], bool); 9] = [
    ("S4 arch of 17", "arch", &[("thickness_ratio", "0.107")], false),
    ("S3 wall of 105", "block_wall", &[], false),
    ("S3 wall of 615", "block_wall", &[("columns", "20"), ("rows", "30")], false),
    ("S3 wall of 2430", "block_wall", &[("columns", "40"), ("rows", "60"), ("until", "0.5")], false),
    ("S1 pour of 216", "bead_pour", &[("n", "6")], false),
    ("S1 pour of 1000", "bead_pour", &[("n", "10")], false),
    ("S1 pour of 8000", "bead_pour", &[("n", "20")], false),
    ("S1 pour of 27000", "bead_pour", &[("n", "30"), ("until", "0.25")], true),
    ("S1 pour of 64000", "bead_pour", &[("n", "40"), ("until", "0.25")], true),
];

const RUNS: usize = 3;
const SWEEPS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // cargo passes --bench to every bench
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, all) = (pool(1)?, pool(0)?);
    let mut pools = vec![&one];
    if all.current_num_threads() > 1 {
        pools.push(&all);
    }
    println!("| case | threads | wall s per simulated s | speed-up | CPU s | end s | steps | sweeps per step | contacts | in kernels |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let problem = packing(19)?;
    for (name, scene, settings, asked) in CASES {
        if !wanted.iter().any(|w| name.contains(w.as_str())) && (asked || !wanted.is_empty()) {
            continue;
        }
        let until = settings.iter().find(|(key, _)| *key == "until").map(|(_, end)| end.parse()).transpose()?;
        let settings: Vec<_> = settings.iter().copied().filter(|(key, _)| *key != "until").collect();
        let mut scene = load(scene, &settings)?;
        scene.time.end = until.unwrap_or(scene.time.end);
        let mut best = vec![[f64::INFINITY; 2]; pools.len()];
        let (mut kernel, mut last) = (f64::INFINITY, Vec::new());
        // in turn, so that a disturbance meets all
        for _ in 0..RUNS {
            kernel = kernel.min(one.install(|| sweeps(&problem)));
            last.clear();
            for (pool, best) in pools.iter().zip(&mut best) {
                let (clock, processor) = (Instant::now(), ProcessTime::now());
                let (_, summary) = pool.install(|| run(&scene))?;
                best[0] = best[0].min(clock.elapsed().as_secs_f64() / summary.time);
                best[1] = best[1].min(processor.elapsed().as_secs_f64() / summary.time);
                last.push(summary);
            }
        }
        let first = best[0][0];
        for ((pool, best), summary) in pools.iter().zip(&best).zip(&last) {
            assert_eq!(summary.state_hash, last[0].state_hash, "{name}: the same bits on any number of threads");
            println!(
                "| {name} | {} | {:.3} | {:.2} | {:.3} | {} | {} | {:.1} | {} | {:.2} |",
                pool.current_num_threads(),
                best[0],
                first / best[0],
                best[1],
                summary.time,
                summary.steps,
                summary.iterations_mean,
                summary.contacts,
                best[0] / kernel
            );
            if summary.unconverged_steps > 0 {
                println!("{} steps did not converge: the time does not count", summary.unconverged_steps);
            }
        }
    }
    let kernel = (0..RUNS).map(|_| one.install(|| sweeps(&problem))).fold(f64::INFINITY, f64::min);
    let contacts = problem.contacts.len();
    let each = kernel / (SWEEPS * contacts) as f64 * 1e9;
    println!("\nkernel: {SWEEPS} sweeps over {contacts} contacts, {kernel:.3} CPU s, {each:.1} ns per contact and sweep");
    Ok(())
}

/// CPU seconds of the kernel.
fn sweeps(problem: &MixedProblem) -> f64 {
    let mut answer = Answer::for_problem(problem);
    let solver = GaussSeidel { tolerance: 0.0, max_sweeps: SWEEPS, accelerate: false, ..GaussSeidel::default() };
    let clock = ProcessTime::now();
    let report = solver.solve(problem, &mut answer, &mut Workspace::default());
    assert_eq!(report.iterations, SWEEPS, "a kernel that stops early measures nothing");
    clock.elapsed().as_secs_f64()
}

/// `n³` balls on a jittered lattice above a floor, each in contact with its neighbours, pressed down; always the same.
fn packing(n: usize) -> Result<MixedProblem, drystone::numerics::ProblemError> {
    let mut p = MixedProblem::default();
    let jitter = |k: usize| ((k as f64 * 0.618_033_988_749).fract() - 0.5) * 0.2;
    let place = |i: usize| DVec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
    let centre = |i: usize| place(i) + DVec3::new(jitter(3 * i), jitter(3 * i + 1), jitter(3 * i + 2));
    for i in 0..n * n * n {
        p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 10.0) });
        p.free.rigid.push(Twist { linear: DVec3::new(jitter(i), jitter(i + 7), -1.0), angular: DVec3::ZERO });
    }
    let contact = |body1: usize, body2: u32, towards: DVec3| {
        let normal = -towards.normalize();
        let arms = (-0.5 * normal, 0.5 * normal);
        Contact {
            normal,
            tangent: normal.any_orthonormal_vector(),
            arm1: arms.0,
            arm2: arms.1,
            mu: 0.5,
            body1: body1 as u32,
            body2,
            ..Contact::default()
        }
    };
    // every second pair along an axis: no ball twice in a colour
    for (axis, stride) in [1, n, n * n].into_iter().enumerate() {
        for parity in [0, 1] {
            for i in (0..n * n * n).filter(|&i| place(i)[axis] as usize % 2 == parity && (place(i)[axis] as usize) < n - 1) {
                p.push_group([contact(i + stride, i as u32, centre(i) - centre(i + stride))]);
            }
            p.close_colour();
        }
    }
    for i in 0..n * n {
        p.push_group([contact(i, IMMOBILE, DVec3::NEG_Z)]);
    }
    p.close_colour();
    p.prepare()?;
    Ok(p)
}
