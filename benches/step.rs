//! What a second of physics costs: CPU seconds on one thread, best of three runs, beside a fixed kernel in the same process, so that
//! ratios survive a machine that others use too.
//!
//! `cargo bench --bench step` runs everything, `cargo bench --bench step -- wall` what holds this word.

use cpu_time::ProcessTime;
use drystone::numerics::{mixed::*, sweep::*};
use drystone::scenes::{load, run};
use glam::{DMat3, DVec3};

/// Name, built-in scene, its settings and the CPU seconds per simulated second that it may cost.
const CASES: [(&str, &str, &[(&str, &str)], f64); 5] = [
    ("S4 arch of 17", "arch", &[("thickness_ratio", "0.106")], 0.26),
    ("S3 wall of 105", "block_wall", &[], 0.4),
    ("S3 wall of 615", "block_wall", &[("columns", "20"), ("rows", "30")], 3.0),
    ("S1 pour of 1000", "bead_pour", &[("n", "10")], f64::NAN),
    ("S1 pour of 8000", "bead_pour", &[("n", "20")], 15.0),
];

const RUNS: usize = 3;
const SWEEPS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    // cargo passes --bench to every bench
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("| case | CPU s per simulated s | limit | steps | sweeps per step | contacts | in kernels |");
    println!("|---|---|---|---|---|---|---|");
    let problem = packing(19)?;
    for (name, scene, settings, limit) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let scene = load(scene, settings)?;
        let (mut best, mut kernel, mut last) = (f64::INFINITY, f64::INFINITY, None);
        for _ in 0..RUNS {
            kernel = kernel.min(sweeps(&problem));
            let clock = ProcessTime::now();
            let (_, summary) = run(&scene)?;
            best = best.min(clock.elapsed().as_secs_f64() / summary.time);
            last = Some(summary);
        }
        let Some(summary) = last else { continue };
        let limit = if limit.is_nan() { "–".to_owned() } else { limit.to_string() };
        println!(
            "| {name} | {best:.3} | {limit} | {} | {:.1} | {} | {:.2} |",
            summary.steps,
            summary.iterations_mean,
            summary.contacts,
            best / kernel
        );
        if summary.unconverged_steps > 0 {
            println!("{} steps did not converge: the time does not count", summary.unconverged_steps);
        }
    }
    let kernel = (0..RUNS).map(|_| sweeps(&problem)).fold(f64::INFINITY, f64::min);
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
