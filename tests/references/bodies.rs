//! Bodies with shapes, whose contacts are detected.

use super::table::{Case, Fallible, Table, within};
use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};

const STEP: f64 = 2e-3;
const COLUMNS: [&str; 13] = ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "w1", "w2", "w3"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            model: "sphere rolling down a 15° incline, detected contact",
            source: "run of Siconos 4.4.0 with Bullet",
            every: 2,
            own: 1e-6,
            ..Case::new(
                "sphere-rolling-incline-bullet",
                rolling_sphere,
                [within(1e-4, "x_0 y_0 z_0").since(0.0079), within(1e-4, "vx_0 vy_0 vz_0 w1_0 w2_0 w3_0").since(0.0079)],
            )
        },
        Case {
            model: "stack of four staggered boxes coming to rest: by criteria, its contact points come from Bullet",
            source: "run of Siconos 4.4.0 with Bullet",
            every: 4,
            also: |ours, _| stands(ours),
            // gaps are 0 to rounding at the start: it decides whether a box falls for a step, h² g = 4e-5 m, or rests
            own: 1e-4,
            ..Case::new("box-stack-bullet", box_stack, [within(f64::INFINITY, "x_0 z_0 x_1 z_1 x_2 z_2 x_3 z_3")])
        },
    ]
}

fn world(gravity: DVec3, mu: f64) -> Fallible<Simulation> {
    let treatment = Treatment::Forecast { theta: 0.50001 };
    let mut sim = Simulation::new(Scheme { time_step: STEP, treatment, gravity, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-10;
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu, ..CoulombImpact::default() }))?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    Ok(sim)
}

fn row(sim: &Simulation, bodies: &[Entity]) -> Fallible<Vec<f64>> {
    let mut row = vec![sim.time()];
    for &body in bodies {
        let pose = sim.world().get::<BodyPose>(body).ok_or("a body is gone")?.0;
        let v = sim.world().get::<Velocity>(body).ok_or("a body is gone")?;
        let q = pose.rotation;
        row.extend(pose.position.to_array());
        row.extend([q.w, q.x, q.y, q.z]);
        row.extend(v.linear.to_array());
        row.extend(v.angular.to_array());
    }
    Ok(row)
}

fn run(mut sim: Simulation, bodies: &[Entity], steps: usize) -> Fallible<Table> {
    let mut table = Table { names: vec!["t".into()], ..Table::default() };
    table.names.extend((0..bodies.len()).flat_map(|k| COLUMNS.iter().map(move |c| format!("{c}_{k}"))));
    table.rows.push(row(&sim, bodies)?);
    for _ in 0..steps {
        let report = sim.step()?;
        table.report.unconverged += u64::from(!report.converged);
        table.report.rel = table.report.rel.max(report.report.rel);
        table.rows.push(row(&sim, bodies)?);
    }
    Ok(table)
}

fn rolling_sphere() -> Fallible<Table> {
    let (slope, m, r) = (15f64.to_radians(), 2.0, 0.5);
    let mut sim = world(9.81 * DVec3::new(slope.sin(), 0.0, -slope.cos()), 0.4)?;
    let ball = sim.spawn_body(Body::new(Shape::ball(r)?).mass(m).at(DVec3::Z * r))?;
    run(sim, &[ball], 500)
}

fn box_stack() -> Fallible<Table> {
    let mut sim = world(DVec3::new(0.0, 0.0, -9.81), 0.5)?;
    let mut bodies = Vec::new();
    for i in 0..4 {
        let x = if i % 2 == 0 { 0.05 } else { -0.05 };
        let stone = Body::new(Shape::cuboid(DVec3::new(0.5, 0.5, 0.25))?).mass(0.5);
        bodies.push(sim.spawn_body(stone.at(DVec3::new(x, 0.0, 0.25 + 0.5 * f64::from(i))))?);
    }
    run(sim, &bodies, 400)
}

/// The stack stands in the end.
fn stands(ours: &Table) -> Fallible {
    let last = ours.rows.last().ok_or("no rows")?;
    for (i, body) in last[1..].chunks_exact(COLUMNS.len()).enumerate() {
        let x = if i % 2 == 0 { 0.05 } else { -0.05 };
        let speed = DVec3::new(body[7], body[8], body[9]).length();
        let tilt = DQuat::from_xyzw(body[4], body[5], body[6], body[3]).angle_between(DQuat::IDENTITY);
        let sinking = (body[2] - 0.25 - 0.5 * i as f64).abs();
        let drift = (body[0] - x).abs();
        if !(speed < 1e-2 && sinking < 5e-3 && drift < 1e-2 && tilt < 0.02) {
            return Err(format!("box {i}: speed {speed:e}, z off by {sinking:e}, x by {drift:e}, tilt {tilt:e}").into());
        }
    }
    Ok(())
}
