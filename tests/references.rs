//! Trajectories that other programs computed, and our own record of them.
//!
//! The tables of other programs lie in `../shared/reference` beside the repository and need not be there; thinned tables that
//! this program wrote after agreeing with them lie in `assets/reference`.

use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::model::interaction::ConstantInteraction;
use drystone::model::lagrangian::{ConstantLagrangian, Coordinates};
use drystone::model::law::{ConstantLaw, ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use glam::DVec3;
use std::path::{Path, PathBuf};

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

const G: f64 = 9.81;

/// One Lagrangian system on one interaction.
struct Run {
    system: ConstantLagrangian,
    start: Coordinates,
    rows: Vec<f64>,
    offset: Vec<f64>,
    law: ConstantLaw,
    /// Columns before the time.
    label: Vec<f64>,
}

/// A case of the table: where it is, how it is built, which numbers of a step make a row.
struct Case {
    name: &'static str,
    tolerance: f64,
    h: f64,
    steps: usize,
    /// Steps per row of the reference.
    every: usize,
    /// Steps per row of our own record.
    record_every: usize,
    runs: fn() -> Vec<Run>,
    columns: &'static str,
    row: fn(&Coordinates, &[f64]) -> Vec<f64>,
}

const CASES: &[Case] = &[
    Case {
        name: "bouncing-ball-moreau-jean",
        tolerance: 1e-10,
        h: 0.005,
        steps: 2000,
        every: 1,
        record_every: 20,
        runs: || {
            vec![Run {
                system: ConstantLagrangian::diagonal(&[1.0, 1.0, 0.4 * 0.01], &[-G, 0.0, 0.0]),
                start: Coordinates { q: vec![1.0, 0.0, 0.0], v: vec![0.0; 3] },
                rows: vec![1.0, 0.0, 0.0],
                offset: vec![0.0],
                law: ConstantLaw::NewtonImpact { e: 0.9 },
                label: vec![],
            }]
        },
        columns: "t,z,vz,p1_z,lambda1",
        row: |state, p| vec![state.q[0], state.v[0], p[0], p[0]],
    },
    Case {
        name: "incline-stick-slip",
        tolerance: 1e-10,
        h: 1e-3,
        steps: 2000,
        every: 1,
        record_every: 25,
        runs: || {
            let slope = 25f64.to_radians();
            let on_plane = |mu| Run {
                system: ConstantLagrangian::diagonal(&[2.0, 2.0], &[2.0 * G * slope.sin(), -2.0 * G * slope.cos()]),
                start: Coordinates { q: vec![0.0, 0.0], v: vec![1.2, 0.0] },
                rows: vec![0.0, 1.0, 1.0, 0.0],
                offset: vec![0.0, 0.0],
                law: ConstantLaw::CoulombImpact(CoulombImpact { mu, e_n: 0.0, e_t: 0.0 }),
                label: vec![mu],
            };
            vec![on_plane(0.6), on_plane(0.3)]
        },
        columns: "mu,t,s,n,vs,vn,p_n,p_t",
        row: |state, p| [&state.q[..], &state.v, p].concat(),
    },
    Case {
        name: "spinning-sphere-fc3d",
        tolerance: 1e-9,
        h: 1e-3,
        steps: 4000,
        every: 2,
        record_every: 20,
        runs: || vec![spinning_sphere()],
        columns: "t,x,y,z,a1,a2,a3,vx,vy,vz,w1,w2,w3,p_n,p_t1,p_t2",
        row: |state, p| [&state.q[..], &state.v, p].concat(),
    },
];

const RADIUS: f64 = 0.3;
const MASS: f64 = 1.7;
const ROUGH: CoulombImpact = CoulombImpact { mu: 0.25, e_n: 0.6, e_t: 0.0 };

fn spinning_sphere() -> Run {
    let (m, r) = (MASS, RADIUS);
    let i = 0.4 * m * r * r;
    #[rustfmt::skip]
    let rows = vec![
        0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
        1.0, 0.0, 0.0, 0.0, -r, 0.0,
        0.0, 1.0, 0.0, r, 0.0, 0.0,
    ];
    Run {
        system: ConstantLagrangian::diagonal(&[m, m, m, i, i, i], &[0.0, 0.0, -m * G, 0.0, 0.0, 0.0]),
        start: Coordinates { q: vec![0.0, 0.0, 0.8, 0.0, 0.0, 0.0], v: vec![2.0, -0.5, 0.0, 3.0, -10.0, 4.0] },
        rows,
        offset: vec![-r, 0.0, 0.0],
        law: ConstantLaw::CoulombImpact(ROUGH),
        label: vec![],
    }
}

fn moreau_jean(h: f64) -> Fallible<Simulation> {
    let treatment = Treatment::Forecast { theta: 0.5 };
    let mut sim = Simulation::new(Scheme { time_step: h, treatment, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-14;
    Ok(sim)
}

fn start(run: &Run, h: f64) -> Fallible<(Simulation, Entity, Entity)> {
    let mut sim = moreau_jean(h)?;
    let system = sim.spawn_system(run.system.clone(), run.start.clone())?;
    let link = ConstantInteraction::new([Some(system), None], [run.rows.clone(), vec![]], run.offset.clone(), run.law);
    let link = sim.spawn_interaction(link)?;
    Ok((sim, system, link))
}

/// The table of a case, one row every `every` steps.
fn table(case: &Case, every: usize) -> Fallible<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    for run in (case.runs)() {
        let (mut sim, system, link) = start(&run, case.h)?;
        for step in 0..=case.steps {
            if step > 0 {
                let report = sim.step()?;
                assert!(report.converged, "{} step {step}: {:?}", case.name, report.report);
            }
            if step % every == 0 {
                let state = sim.world().get::<Coordinates>(system).ok_or("the system is gone")?;
                let p = &sim.world().get::<ConstantInteraction>(link).ok_or("the interaction is gone")?.reaction;
                let mut row = run.label.clone();
                row.push(sim.time());
                row.extend((case.row)(state, p));
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

fn read(path: &Path) -> Fallible<(String, Vec<Vec<f64>>)> {
    let mut reader = csv::Reader::from_path(path)?;
    let header = reader.headers()?.iter().collect::<Vec<_>>().join(",");
    let mut rows = Vec::new();
    for record in reader.records() {
        rows.push(record?.iter().map(str::parse).collect::<Result<Vec<f64>, _>>()?);
    }
    Ok((header, rows))
}

/// Largest absolute deviation per column.
fn deviations(ours: &[Vec<f64>], theirs: &[Vec<f64>]) -> Vec<f64> {
    assert_eq!(ours.len(), theirs.len(), "number of rows");
    let mut worst = vec![0f64; ours[0].len()];
    for (a, b) in ours.iter().zip(theirs) {
        assert_eq!(a.len(), b.len(), "number of columns");
        worst.iter_mut().zip(a.iter().zip(b)).for_each(|(w, (a, b))| *w = w.max((a - b).abs()));
    }
    worst
}

fn compare(case: &Case, path: &Path, every: usize) -> Fallible<f64> {
    let (header, theirs) = read(path)?;
    assert_eq!(header, case.columns);
    let worst = deviations(&table(case, every)?, &theirs);
    let (column, &largest) = worst.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).ok_or("no columns")?;
    let name = case.columns.split(',').nth(column).unwrap_or_default();
    println!("{:28} {:6} rows, largest deviation {largest:.2e} in {name:7} tolerance {:.0e}", case.name, theirs.len(), case.tolerance);
    Ok(largest)
}

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/reference")
}

#[test]
fn the_steps_agree_with_reference_tables_of_other_programs() -> Fallible {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference");
    if !folder.is_dir() {
        eprintln!("SKIPPED: no folder ../shared/reference; only our own record in assets/reference is compared");
        return Ok(());
    }
    for case in CASES {
        let largest = compare(case, &folder.join(case.name).join("reference.csv"), case.every)?;
        assert!(largest <= case.tolerance, "{}: {largest:e}", case.name);
    }
    Ok(())
}

#[test]
fn the_steps_agree_with_our_own_record_of_them() -> Fallible {
    for case in CASES {
        let largest = compare(case, &own_folder().join(case.name).with_extension("csv"), case.record_every)?;
        assert!(largest <= case.tolerance, "{}: {largest:e}", case.name);
    }
    Ok(())
}

#[test]
#[ignore = "writes assets/reference; run it when the comparison with the original tables holds"]
fn write_our_own_record() -> Fallible {
    for case in CASES {
        let mut text = String::from(case.columns) + "\n";
        for row in table(case, case.record_every)? {
            let cells: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
            text += &(cells.join(",") + "\n");
        }
        std::fs::write(own_folder().join(case.name).with_extension("csv"), text)?;
    }
    Ok(())
}

/// Position and velocity of the sphere as a rigid body after `steps` steps of length `h`, sampled every `every` steps.
fn rigid_sphere(h: f64, steps: usize, every: usize) -> Fallible<Vec<[DVec3; 2]>> {
    let mut sim = moreau_jean(h)?;
    sim.solver_mut().tolerance = 1e-12; // the lever arms are rounded sums: 1e-14 is below their last digits
    sim.set_laws(ContactLaws::uniform(ROUGH));
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    let ball = Body::new(Shape::ball(RADIUS)?).mass(MASS).at(DVec3::Z * 0.8);
    let ball = sim.spawn_body(ball.moving(DVec3::new(2.0, -0.5, 0.0), DVec3::new(3.0, -10.0, 4.0)))?;
    let mut states = Vec::new();
    for step in 1..=steps {
        assert!(sim.step()?.converged);
        if step % every == 0 {
            let x = sim.world().get::<BodyPose>(ball).ok_or("gone")?.0.position;
            states.push([x, sim.world().get::<Velocity>(ball).ok_or("gone")?.linear]);
        }
    }
    Ok(states)
}

/// The same of the linear system.
fn linear_sphere(h: f64, steps: usize, every: usize) -> Fallible<Vec<[DVec3; 2]>> {
    let (mut sim, system, _) = start(&spinning_sphere(), h)?;
    let mut states = Vec::new();
    for step in 1..=steps {
        sim.step()?;
        if step % every == 0 {
            let state = sim.world().get::<Coordinates>(system).ok_or("gone")?;
            states.push([DVec3::from_slice(&state.q), DVec3::from_slice(&state.v)]);
        }
    }
    Ok(states)
}

/// Lever arms of the rigid ball end in the middle between ball and floor, up to h |v_n| / 4 from the pole of the ball at an
/// impact. Where in a step an impact falls is erratic, so the order is the slope through several halvings.
#[test]
fn the_spinning_sphere_as_a_rigid_body_converges_to_the_reference_with_first_order() -> Fallible {
    let mut points = Vec::new();
    for halving in 0..6 {
        let factor = 1usize << halving;
        let h = 1e-3 / factor as f64;
        let (rigid, linear) = (rigid_sphere(h, 4000 * factor, factor)?, linear_sphere(h, 4000 * factor, factor)?);
        let distance = |k: usize| rigid.iter().zip(&linear).map(|(a, b)| (a[k] - b[k]).length()).fold(0.0, f64::max);
        let (x, v) = (distance(0), distance(1));
        println!("h {h:.3e}: largest distance {x:.3e} m = {:.2} h, {v:.3e} m/s = {:.2} h", x / h, v / h);
        assert!(x < 15.0 * h && v < 5.0 * h);
        points.push((h.ln(), x.ln()));
    }
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / points.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    println!("order {slope:.3}");
    assert!((slope - 1.0).abs() < 0.15, "{slope}");
    Ok(())
}
