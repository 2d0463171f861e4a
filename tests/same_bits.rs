//! The same bits on every processor: no function of the platform's library, no contraction, no sum whose order the processor chooses.
#![cfg(all(feature = "cli", feature = "hdf5"))]

use drystone::algebra::{lanes::Lanes, random::Sequence, spatial::tangents};
use drystone::io::problem::read;
use drystone::numerics::mixed::{Answer, Contact, IMMOBILE, MixedProblem, RigidMass, Twist};
use drystone::numerics::residual::certify;
use drystone::numerics::solvers::{Settings, all};
use drystone::numerics::sweep::{GaussSeidel, Workspace};
use glam::{DMat3, DVec3};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files that print, draw or look, and never give a number back to a simulation or an answer.
const OUTPUTS: &[&str] = &["cli/", "io/picture/", "io/plot.rs", "io/chart.rs", "io/profile.rs"];

/// Elementary functions that come from the platform's library, whose last digit changes with the processor, and methods of glam
/// that call them. `libm` has the first; `algebra::spatial` what is needed of the second.
const FORBIDDEN: &[&str] = &[
    "sin",
    "cos",
    "tan",
    "sin_cos",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "ln_1p",
    "log",
    "log2",
    "log10",
    "powf",
    "cbrt",
    "hypot",
    "gamma",
    "ln_gamma",
    "mul_add",
    // glam
    "from_axis_angle",
    "from_scaled_axis",
    "from_rotation_x",
    "from_rotation_y",
    "from_rotation_z",
    "from_euler",
    "from_angle",
    "to_axis_angle",
    "to_scaled_axis",
    "to_euler",
    "to_angle",
    "angle_between",
    "angle_to",
    "slerp",
    "rotate_x",
    "rotate_y",
    "rotate_z",
    "rotate_axis",
    "rotate_towards",
    "looking_to",
    "looking_at",
];

/// Crates whose kernels choose their arithmetic at run time, and the files that may name them.
const DISPATCHED: &[(&str, &[&str])] = &[("pulp", &["solvers/algebra/lanes.rs"]), ("std::arch", &[]), ("core::arch", &[])];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("readable").path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// The lines that are compiled into the library: neither comments nor tests.
fn code(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let test = |k: usize| lines[k].trim() == "#[cfg(test)]" && lines.get(k + 1).is_some_and(|next| next.trim_end().ends_with('{'));
    let end = (0..lines.len()).find(|&k| test(k)).unwrap_or(lines.len());
    (0..end).map(|k| (k + 1, lines[k].split("//").next().unwrap_or_default())).collect()
}

/// `name(` as a method or a path, not as the end of a longer word nor as a function of `libm`.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = &line[..at];
        let after = &line[at + name.len()..];
        let path = before.ends_with("::") && !before.ends_with("libm::") && after.starts_with(['(', ')', ',', ';']);
        path || (before.ends_with('.') && after.starts_with('('))
    })
}

fn faults(name: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in code(text) {
        let said = |what: &str| format!("src/{name}:{number}: {what}: {}", line.trim());
        wrong.extend(FORBIDDEN.iter().filter(|f| calls(line, f)).map(|f| said(f)));
        let powers = line.match_indices(".powi(").any(|(at, call)| !["2)", "3)"].iter().any(|n| line[at + call.len()..].starts_with(n)));
        if powers {
            wrong.push(said("powi with another exponent than 2 or 3"));
        }
        let named = DISPATCHED.iter().filter(|(word, allowed)| line.contains(&format!("{word}::")) && !allowed.contains(&name));
        wrong.extend(named.map(|(word, _)| said(word)));
    }
    wrong
}

#[test]
fn nothing_that_feeds_a_simulation_or_an_answer_calls_the_platform() {
    let (source, mut all) = (root().join("src"), Vec::new());
    files(&source, &mut all);
    let mut wrong = Vec::new();
    let mut read = 0;
    for path in all {
        let name = path.strip_prefix(&source).expect("below src").to_string_lossy().replace('\\', "/");
        if name.ends_with(".rs") && !name.contains("tests") && !OUTPUTS.iter().any(|o| name.starts_with(o)) {
            wrong.extend(faults(&name, &std::fs::read_to_string(&path).expect("readable")));
            read += 1;
        }
    }
    assert!(read > 150, "read {read} files");
    assert!(wrong.is_empty(), "{} faults; use the crate libm, or algebra::spatial:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_call_of_the_platform_is_seen() {
    for text in [
        "let y = x.sin();",
        "let y = (a + b).hypot(c);",
        "values.map(f64::exp)",
        "let q = DQuat::from_rotation_y(0.3);",
        "let y = a.mul_add(b, c);",
        "let y = x.powi(n);",
        "let a = pulp::Arch::new();",
        "#[cfg(test)]\nmod tests;\nfn f(x: f64) -> f64 { x.exp() }",
    ] {
        assert_eq!(faults("numerics/sweep.rs", text).len(), 1, "{text}");
    }
    for text in [
        "let y = libm::sin(x);",
        "// x.sin()",
        "let y = x.powi(2).sqrt();",
        "let s = cos * sin(a);",
        "#[cfg(test)]\nmod tests {\n1.0f64.sin()",
    ] {
        assert_eq!(faults("numerics/sweep.rs", text), Vec::<String>::new(), "{text}");
    }
}

/// Scenes with balls, blocks, cylinders, hulls and turning bodies; `block_wall` and `arch` go through the factorisation.
const SCENES: &[(&str, &[(&str, &str)], f64)] = &[
    ("bead_stack", &[], 0.05),
    ("block_wall", &[], 0.05),
    // in cells
    ("block_wall", &[("columns", "20"), ("rows", "24")], 0.005),
    ("arch", &[], 0.1),
    ("spinning_top", &[], 0.05),
    ("incline", &[], 0.1),
    ("terrain_mesh", &[], 0.02),
    ("bead_pour", &[("n", "5"), ("contact.mu_r", "0.05"), ("contact.mu_t", "0.02")], 0.3),
    ("bead_pour", &[("n", "5"), ("contact.mu_r", "0.05"), ("contact.patch", "0.2")], 0.3),
];

/// Bodies of all kinds in pairs of one to six contacts, some smooth, some that give way, some with what does not move; colours of any size.
fn mixed_crowd(seed: u64, lagged: bool) -> MixedProblem {
    let (mut p, mut random) = (MixedProblem::default(), Sequence::new(seed));
    let vector =
        |random: &mut Sequence| DVec3::new(random.next_between(-1.0, 1.0), random.next_between(-1.0, 1.0), random.next_between(-1.0, 1.0));
    for k in 0..61 {
        let axes = DVec3::new(1.0, 1.5, 2.5) * random.next_between(0.5, 2.0);
        let (t1, t2) = tangents(vector(&mut random).normalize());
        let frame = DMat3::from_cols(t1.cross(t2), t1, t2);
        let inertia = if k % 3 == 0 { DMat3::IDENTITY } else { frame * DMat3::from_diagonal(axes) * frame.transpose() };
        let inverse_mass = DVec3::splat(random.next_between(0.2, 2.0));
        p.rigid.push(RigidMass { inverse_mass, inverse_inertia: RigidMass::pack(inertia) });
        p.free.rigid.push(Twist { linear: vector(&mut random), angular: vector(&mut random) });
    }
    for _ in 0..5 {
        let mut bodies: Vec<u32> = (0..p.rigid.len() as u32).collect();
        while bodies.len() > 1 {
            let mut take = || bodies.swap_remove((random.next_uniform() * bodies.len() as f64) as usize);
            let (body1, body2) = (take(), take());
            let alone = random.next_uniform() < 0.2;
            let points = [1, 1, 1, 2, 3, 4, 4, 6][(random.next_uniform() * 8.0) as usize];
            let contacts: Vec<Contact> = (0..points)
                .map(|_| {
                    let normal = vector(&mut random).normalize();
                    Contact {
                        body1,
                        body2: if alone { IMMOBILE } else { body2 },
                        normal,
                        tangent: tangents(normal).0,
                        arm1: vector(&mut random),
                        arm2: vector(&mut random),
                        b: 0.3 * vector(&mut random),
                        mu: [0.0, 0.2, 0.6, 1.5][(random.next_uniform() * 4.0) as usize],
                        most: [0.0, 0.0, 0.0, 0.05][(random.next_uniform() * 4.0) as usize],
                        scale: 0.1,
                        size: 0.1,
                        ..Contact::default()
                    }
                })
                .collect();
            p.push_group(contacts);
        }
        p.close_colour();
    }
    if lagged {
        p.lagged = p.contacts.iter().map(|c| c.mu * random.next_uniform()).collect();
    }
    p.prepare().expect("every contact moves something");
    p
}

#[test]
fn contacts_that_stand_side_by_side_have_the_bits_that_they_have_alone() {
    let run = |lanes: Lanes| {
        lanes.force();
        let mut bits: Vec<u64> = Vec::new();
        for (seed, lagged) in (0..20).flat_map(|seed| [(seed, false), (seed, true)]) {
            let p = mixed_crowd(seed, lagged);
            let mut answer = Answer::for_problem(&p);
            let sweeps = GaussSeidel { tolerance: 1e-15, max_sweeps: 7, ..GaussSeidel::default() };
            let report = sweeps.solve(&p, &mut answer, &mut Workspace::default());
            let found = certify(&p, &mut answer);
            let twists = answer.velocities.rigid.iter().flat_map(|t| [t.linear, t.angular]);
            let vectors = twists.chain(answer.reactions.contacts.iter().copied()).flat_map(|x| x.to_array());
            let scalars = [p.q_scaled, p.q_norm, p.asked, report.e_s, found.rel, found.violation, found.misfit, found.carried];
            bits.extend(vectors.chain(scalars).map(f64::to_bits));
            p.contacts.iter().for_each(|c| bits.extend([c.local.nn, c.local.nt[1], c.local.tt[1]].map(f64::to_bits)));
        }
        Lanes::Widest.force();
        bits
    };
    let wide = run(Lanes::Widest);
    assert!(wide.len() > 50_000 && wide.iter().all(|x| f64::from_bits(*x).is_finite()), "compared {}", wide.len());
    for narrow in [Lanes::Baseline, Lanes::Four] {
        let bits = run(narrow);
        assert!(bits.len() == wide.len());
        assert_eq!(bits.iter().zip(&wide).position(|(a, b)| a != b), None, "{narrow:?}");
    }
}

#[test]
fn every_kernel_gives_the_same_bits() {
    let problems: Vec<PathBuf> = {
        let mut found = Vec::new();
        files(&root().join("assets/problems"), &mut found);
        // dense steps take some solvers their whole budget
        found.retain(|path| !path.to_string_lossy().contains("step_"));
        found.into_iter().filter(|p| p.extension().is_some_and(|e| e == "json" || e == "hdf5")).collect()
    };
    let run = |lanes: Lanes| {
        lanes.force();
        let mut found = Vec::new();
        for (name, parameters, end) in SCENES {
            let scene = drystone::scenes::load(name, parameters).expect("a built-in scene");
            let mut built = drystone::scenes::build(&scene).expect("it builds");
            built.simulation.run_until(*end).expect("it runs");
            found.push((format!("{name} to {end} s"), format!("{:016x}", built.simulation.state_hash())));
        }
        for path in &problems {
            let problem = read(path, None).expect("a problem");
            for solver in all().iter().filter(|solver| solver.claims(&problem)) {
                let settings = Settings { solver: Some(solver.into()), ..Settings::default() };
                let answer = problem.solve(&settings).expect("a solution");
                let (bits, report): (Vec<u64>, _) = (answer.solution.r.iter().map(|r| r.to_bits()).collect(), answer.report);
                found.push((format!("{} on {}", solver.name, path.display()), format!("{:?} {bits:x?}", report.iterations)));
            }
        }
        Lanes::Widest.force();
        found
    };
    println!("comparing {}", Lanes::ALL.map(Lanes::name).join(", "));
    let wide = run(Lanes::Widest);
    for narrow in [Lanes::Baseline, Lanes::Four].map(run) {
        assert!(narrow.len() > 50, "compared {}", narrow.len());
        for (a, b) in narrow.iter().zip(&wide) {
            assert_eq!(a, b);
        }
    }
}

/// What the command prints, without the numbers that are times.
fn printed(emulator: &[&str], arguments: &[String]) -> Result<String, String> {
    let binary = env!("CARGO_BIN_EXE_drystone");
    let mut words = emulator.iter().copied().chain([binary]);
    let mut command = Command::new(words.next().expect("a program"));
    let out = command.args(words).args(arguments).output().map_err(|e| e.to_string())?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let timed = |part: &&str| ["_s\":", "seconds\":", "time\":"].iter().any(|name| part.contains(name));
    Ok(text.split(',').filter(|part| !timed(part)).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn an_emulated_old_processor_gives_the_same_bits() {
    let emulators: &[&[&str]] = &[&["qemu-x86_64", "-cpu", "Nehalem"], &["qemu-x86_64", "-cpu", "qemu64"]];
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) || Command::new("qemu-x86_64").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no qemu-x86_64 (apt-get install qemu-user): bits were not compared with an old processor");
        return;
    }
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let mut commands: Vec<Vec<String>> = SCENES
        .iter()
        .map(|(name, parameters, end)| {
            let mut command = words(&["run", name, "--threads", "1", "--json", "--until"]);
            command.push(end.to_string());
            parameters.iter().for_each(|(key, value)| command.extend([words(&["--set"]), vec![format!("{key}={value}")]].concat()));
            command
        })
        .collect();
    for problem in ["tower_3d.json", "joint_gmp.json", "wall_2d.hdf5", "rolling_3d.hdf5", "tower_3d_global.hdf5"] {
        let path = root().join("assets/problems").join(problem);
        commands.push([words(&["solve", "--json"]), vec![path.to_string_lossy().into_owned()]].concat());
    }
    for command in commands {
        let native = printed(&[], &command).unwrap_or_else(|e| panic!("{command:?}: {e}"));
        assert!(native.contains("state_hash") || native.contains("e_s") || native.contains("rel"), "{native}");
        for emulator in emulators {
            let old = printed(emulator, &command).unwrap_or_else(|e| panic!("{emulator:?} {command:?}: {e}"));
            assert_eq!(native, old, "{command:?} on {emulator:?}");
        }
    }
}
