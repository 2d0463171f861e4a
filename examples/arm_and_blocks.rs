//! A robot arm among stones: two links in generalized coordinates, whose hand is a body with a shape, push the top block off a stack.
//!
//! The arm has no shape and no body: it is a Lagrangian system of two angles. Its hand is a body as the blocks are, tied to the end of
//! the arm by a relation, so that arm, hand, blocks and floor stand in one problem with friction.
//!
//! ```text
//! M(q) q̈ + F_gyr + F_int = Gᵀ λ          F_int = g(q) − g(q_d) + k_p (q − q_d(t)) + k_d q̇
//! y(q, x) = x − end of the arm = 0       and the hand does not turn
//! ```

use drystone::algebra::spatial::Pose;
use drystone::geometry::Shape;
use drystone::io::picture::Picture;
use drystone::io::snapshot::{BodyView, Snapshot, Surface};
use drystone::io::view::Window;
use drystone::model::dynamical_system::Lagrangian;
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{ContactLaws, CoulombImpact, Law};
use drystone::model::newton_euler::BodyPose;
use drystone::model::operator::Operator;
use drystone::model::relation::LagrangianNonlinear;
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};

/// Lengths (m) and masses (kg) of two slender rods, and the height of the shoulder.
const L: [f64; 2] = [0.5, 0.45];
const M: [f64; 2] = [4.0, 3.0];
const SHOULDER: f64 = 0.75;

/// Moments of the weight; angles from the horizontal, upwards.
fn weight(q: &[f64]) -> [f64; 2] {
    let lower = M[1] * 9.81 * 0.5 * L[1] * (q[0] + q[1]).cos();
    [(0.5 * M[0] + M[1]) * 9.81 * L[0] * q[0].cos() + lower, lower]
}

/// Elbow and end of the arm.
fn places(q: &[f64]) -> [DVec3; 2] {
    let along = |angle: f64, length: f64| DVec3::new(angle.cos(), 0.0, angle.sin()) * length;
    let elbow = DVec3::Z * SHOULDER + along(q[0], L[0]);
    [elbow, elbow + along(q[0] + q[1], L[1])]
}

/// Angles at which the hand is at a place (elbow up).
fn reach(x: f64, z: f64) -> [f64; 2] {
    let z = z - SHOULDER;
    let bend = ((x * x + z * z - L[0] * L[0] - L[1] * L[1]) / (2.0 * L[0] * L[1])).clamp(-1.0, 1.0).acos();
    [z.atan2(x) + (L[1] * bend.sin()).atan2(L[0] + L[1] * bend.cos()), -bend]
}

/// Where the controller wants the hand: it waits, then goes 0.34 m in 1.5 s, at the height of the top block.
fn wanted(t: f64) -> [f64; 2] {
    let s = ((t - 0.2) / 1.5).clamp(0.0, 1.0);
    reach(0.42 + 0.34 * s * s * (3.0 - 2.0 * s), 0.52)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sim = Simulation::new(Scheme { time_step: 1e-3, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-8;
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.25, ..CoulombImpact::default() }))?;
    let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed().named("floor"))?;
    let stone = Shape::cuboid(DVec3::splat(0.1))?;
    let mut shown = vec![floor];
    for height in [0.1, 0.3, 0.5] {
        shown.push(sim.spawn_body(Body::new(stone.clone()).density(2200.0).at(DVec3::new(0.6, 0.0, height)))?);
    }
    let start = wanted(0.0);
    let hand = Body::new(Shape::ball(0.05)?).mass(1.0).at(places(&start)[1]).named("hand");
    let hand = sim.spawn_body(hand)?;
    shown.push(hand);

    let mass = Operator::function(|at, m| {
        let (c, tip) = (at.q[1].cos(), M[1] * L[1] * L[1] / 3.0);
        let bend = 0.5 * M[1] * L[0] * L[1] * c;
        m.copy_from_slice(&[(M[0] / 3.0 + M[1]) * L[0] * L[0] + tip + 2.0 * bend, tip + bend, tip + bend, tip]);
    });
    let gyroscopic = Operator::function(|at, f| {
        let k = 0.5 * M[1] * L[0] * L[1] * at.q[1].sin();
        f[0] = -k * at.v[1] * (2.0 * at.v[0] + at.v[1]);
        f[1] = k * at.v[0] * at.v[0];
    });
    // the controller is as stiff as it likes: it is part of the implicit forces, evaluated in every pass of the step
    let (kp, kd) = (2000.0, 60.0);
    let forces = Operator::function(move |at, f| {
        let aim = wanted(at.t);
        let (pulls, carried) = (weight(at.q), weight(&aim));
        for i in 0..2 {
            f[i] = pulls[i] - carried[i] + kp * (at.q[i] - aim[i]) + kd * at.v[i];
        }
    });
    let arm = Lagrangian::new(mass).at(start).with_gyroscopic(gyroscopic).with_internal(forces);
    let arm = sim.spawn_system(arm, Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Projection::None })?;
    // coordinates: two angles, then place and quaternion (scalar first) of the hand
    let end = LagrangianNonlinear::new(
        6,
        Operator::function(|at, y| {
            let tip = places(&at.q[..2])[1];
            (0..3).for_each(|i| y[i] = at.q[2 + i] - tip[i]);
            (0..3).for_each(|i| y[3 + i] = 2.0 * at.q[6 + i]);
        }),
    );
    let tie = sim.spawn_interaction(Interaction::new([arm, hand], end, Law::Equality))?;
    sim.set_name(tie, "wrist");

    let (mut unconverged, mut widest, mut hardest): (u32, f64, f64) = (0, 0.0, 0.0);
    let mut views = Vec::new();
    while sim.time() < 2.4 - 1e-9 {
        let report = sim.step()?;
        unconverged += u32::from(!report.converged);
        let wrist = sim.world().get::<Interaction>(tie).ok_or("the wrist lives")?;
        widest = wrist.y[..3].iter().fold(widest, |w, y| w.max(y.abs()));
        hardest = hardest.max(wrist.lambda[0].abs() / sim.time_step());
        if report.step == 1250 {
            let arm = sim.world().get::<Lagrangian>(arm).ok_or("the arm lives")?;
            let [elbow, tip] = places(&arm.q);
            let link = |id: u32, from: DVec3, to: DVec3| {
                let pose = Pose::new(0.5 * (from + to), DQuat::from_rotation_arc(DVec3::X, (to - from).normalize()));
                let surface = Surface::cuboid(DVec3::new(0.5 * (to - from).length(), 0.025, 0.025));
                BodyView { material: 2, ..BodyView::new(id, "link", "cuboid", pose, surface.into()) }
            };
            let mut window = Window::new(shown.clone());
            let now = window.look(&sim);
            views = now.bodies.to_vec();
            let shoulder = DVec3::Z * SHOULDER;
            views.extend([link(10, shoulder, elbow), link(11, elbow, tip)]);
        }
    }
    let path = std::env::args().nth(1).unwrap_or("target/arm_and_blocks.png".into());
    let snapshot = Snapshot { step: 1250, time: 1.25, step_size: 1e-3, bodies: &views, contacts: &[] };
    let path = std::path::Path::new(&path);
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    Picture::default().write(path, &snapshot)?;
    println!("picture: {}", path.display());

    let place = |k: usize| sim.world().get::<BodyPose>(shown[k]).map(|p| p.0.position).ok_or("the block lives");
    let (below, top) = (place(2)?, place(3)?);
    println!(
        "the top block lies {:.2} m further at a height of {:.2} m, the one below it moved by {:.3} m",
        top.x - 0.6,
        top.z,
        below.x - 0.6
    );
    println!("the wrist gave at most {hardest:.0} N and opened by {widest:.1e} m");
    println!("{:.1e} of the energy that moved is not accounted for", sim.balance().error());
    assert_eq!(unconverged, 0);
    assert!(top.z < 0.15 && below.z > 0.29, "the top block alone has fallen");
    assert!(widest < 1e-4 && hardest > 50.0);
    assert!(sim.balance().error() < 1e-10, "every joule is accounted for");
    Ok(())
}
